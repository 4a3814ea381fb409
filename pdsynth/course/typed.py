"""Numbers as people type them: 1.5 and 1,5; 1,000; 1/3; 12 %. The website reads them alike."""

import re

GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")  # 1,234.5; 0,125 isn't grouped
POINTED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+,\d*")  # 1.234,5


def read_typed(text: str) -> float:
    """The number that somebody typed; ValueError for what is none.

    A comma that separates thousands is left out, any other one stands before the fraction.

    >>> [read_typed(text) for text in ("1,5", "0,125", "1,000", "1.234,5", "12 %", "−3", "3 / 8")]
    [1.5, 0.125, 1000.0, 1234.5, 12.0, -3.0, 0.375]
    """
    above, *below = text.split("/", 1)
    if below:
        divisor = read_typed(below[0])
        if "/" in below[0] or not divisor:
            raise ValueError(f"{text!r} is no fraction")
        return read_typed(above) / divisor
    plain = re.sub(r"[\s%_]", "", text).replace("−", "-")
    digits = plain.lstrip("+-")
    if GROUPED.fullmatch(digits):
        plain = plain.replace(",", "")
    elif POINTED.fullmatch(digits):
        plain = plain.replace(".", "").replace(",", ".")
    else:
        plain = plain.replace(",", ".")
    if plain.lower().endswith("nan"):
        raise ValueError("nan is no number")
    return float(plain)
