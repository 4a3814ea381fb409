"""A file of 30 columns, as messy as real ones: invented people, the same at every call."""

import numpy as np

NAMES = (
    "person_id first last e_mail born visited sex score_text rating income rent tax price weight "
    "height share smoker postcode city region kids cars hours balance temperature notes wave "
    "consent mode weekday"
).split()
HEADS, TAILS = ("An", "Ber", "Cla", "Da", "El", "Fre"), ("a", "to", "ra", "ni", "vin", "is")
GIVEN = [head + tail for head in HEADS for tail in TAILS]
CITIES = [
    a + b
    for a in ("Nord", "Süd", "Ost", "West", "Alt")
    for b in ("heim", "burg", "au", "ach", "tal")
]
SPACES = {"utf-8": "\u00a0\u202f\u2009", "cp1252": "\u00a0\u00a0\u00a0"}  # that cut thousands
EMPTY = ("", "?", "n/a")
# What outline must say of some of them: the beginning of the line, and a part of it.
DRAFTED = {
    "person_id": "drop: identifier",
    "first": "drop: identifier or free text",
    "last": "drop: identifier or free text",
    "e_mail": "drop: identifier",
    "notes": "drop: identifier or free text",
    "wave": "? one value only",
    "score_text": "High | Low | Medium",
    "postcode": "01067 | 01069",
    "born": 'format = "%d.%m.%Y"',
    "visited": 'date = "year"',
    "income": 'number = "1 234,5"',
    "rent": 'number = "1 234,5"',
    "tax": 'number = "1 234,5"',
    "price": 'number = "1.234,5"',
    "city": 'other = "elsewhere"',
    "smoker": "+ missing",
}


def grouped(number, sign, digits=1):
    """1 234,5 with a sign between thousands."""
    whole, _, part = f"{number:,.{digits}f}".partition(".")
    return whole.replace(",", sign) + (f",{part}" if part else "")


def messy(rows=2000, encoding="utf-8"):
    """The bytes of the file: semicolons, decimal commas, dates in two forms, three empty words."""
    rng = np.random.default_rng(31)
    wide, narrow, thin = SPACES[encoding]

    def some(*values):
        return rng.choice(values)

    lines = [";".join(NAMES)]
    for i in range(rows):
        year, month, day = rng.integers(1930, 2006), rng.integers(1, 13), rng.integers(1, 29)
        income = round(float(rng.gamma(2, 1500)), 1)
        cells = [
            f"P{i:05d}", some(*GIVEN), f"{some(*GIVEN)}sen{i % 40}", f"p{i}@mail.example",
            f"{day:02d}.{month:02d}.{year}",
            f"{rng.integers(2019, 2025)}-{month:02d}-{day:02d}",
            some("f", "m", "d"), some("Low", "Medium", "High"), rng.integers(1, 6),
            grouped(income, wide), grouped(income / 3, narrow), grouped(income / 5, thin, 2),
            f"€{grouped(float(rng.uniform(1, 5000)), '.', 2)}",
            grouped(float(rng.normal(75, 12)), ""), rng.integers(150, 200),
            f"{rng.integers(0, 101)} %", some("yes", "no", *EMPTY),
            some("01067", "01069", "04103", "09111"), some(*CITIES), some("N", "S", "E", "W"),
            rng.integers(0, 5), rng.integers(0, 3), rng.integers(1, 81),
            grouped(float(rng.normal(0, 900)), wide, 2), grouped(float(rng.normal(36.8, 0.5)), ""),
            f"said {i}; then went" if i % 3 else "", 1, some("true", "false"),
            some("web", "phone", "paper"), some("Mo", "Di", "Mi", "Do", "Fr"),
        ]  # fmt: skip
        texts = [f'"{cell}"' if ";" in str(cell) else str(cell) for cell in cells]
        lines.append(";".join(texts))
    return "\r\n".join(lines).encode(encoding)


def review(draft):
    """What an owner may do to a draft: confirm every line, and leave out what waits."""
    lines = draft.replace(", public = false", "").replace("\npublic = false", "").splitlines()
    names = [line.split(" = ", 1)[0] for line in lines]
    pairs = zip(names, lines, strict=True)
    return "\n".join(f'{name} = "drop"' if ' = "?' in line else line for name, line in pairs)
