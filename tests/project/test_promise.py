"""T15: PROMISE.md has its parts and is linked, what it counts is so, and a fit keeps it.

Whether a promise is kept is tested where the code is: ``test_trust.py`` is the index of these.
"""

import math
import re

import numpy as np
import pytest
from contract_cases import CASES
from privacy_tools import schema_of

import pdsynth as pds
from pdsynth import audit

PARTS = (
    "Promise",
    "Threat model",
    "How it is kept",
    "Personal guarantees",
    "Status",
    "Known limits",
)
FIRST = "The code of a record is a function of that record and of the declaration."
COLUMNS = ("mechanism", "proved", "enumerated on all tiny tables", "audited", "reviewed by")
NUMBERS = {"ten": 10, "eleven": 11, "twelve": 12}


def parts(page):
    """Its sections by title."""
    titled = re.split(r"^## (.*)\n", page, flags=re.M)[1:]
    return dict(zip(titled[::2], titled[1::2], strict=True))


def rows(page):
    """The table of mechanisms, cell by cell; first its head."""
    lines = [line for line in parts(page).get("Status", "").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def faults(page, readme):
    """What is missing of the page."""
    found = parts(page)
    out = [part for part in PARTS if not found.get(part, "").strip()]
    out += [f"no link to {p}" for p in PARTS if f"](#{p.lower().replace(' ', '-')})" not in page]
    out += [] if "](PROMISE.md" in readme else ["not linked from the README"]
    out += [] if FIRST in " ".join(found.get("Promise", "").split()) else ["a record's code"]
    head, *further = rows(page) or [[]]
    out += [] if tuple(head) == COLUMNS else ["the columns of the status"]
    out += [row[0] for row in further[1:] if "](tests/" not in row[2]]
    return out


def miscounted(page, rules, offers):
    """Numbers and names of the page that aren't those of the code."""
    (word,) = re.findall(r"(\w+) rules check the sum", page)
    (line,) = [p for p in page.split("\n* ") if p.startswith('With `relation="add_remove"`')]
    named = {name.split(".")[-1] for name in re.findall(r"`([\w.]+)`", line.split("\n\n")[0])}
    return [f"{word} rules"] * (NUMBERS[word] != rules) + sorted(named ^ offers)


@pytest.fixture(scope="module")
def page(root):
    return (root / "PROMISE.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def counted(root):
    """Rules of the ledger, and who offers add/remove, as the code has them."""
    code = "".join(p.read_text(encoding="utf-8") for p in (root / "pdsynth").rglob("*.py"))
    schema = schema_of((2, 2, 2, 2))
    made = (c.cls(**c.own(schema)) for c in CASES.values())
    offers = {type(m).__name__ for m in made if m.counts_only(schema, 1000)}
    return len(set(re.findall(r'"(L[1-9]\d*)[" ]', code))), offers


def test_the_page_is_there_complete_and_linked(page, readme):
    assert faults(page, readme) == []


HOLES = (*(f"## {part}\n" for part in PARTS), "of that record and", "| reviewed by ", "](tests/")


@pytest.mark.parametrize("cut", HOLES)
def test_twin_a_page_with_a_hole_is_noticed(page, readme, cut):
    assert cut in page and faults(page.replace(cut, ""), readme)
    assert faults(page, readme.replace("PROMISE.md", ""))


def test_what_the_page_counts_is_what_the_code_has(page, counted):
    assert miscounted(page, *counted) == []


def test_twin_a_number_or_a_name_that_is_not_the_code_s_is_noticed(page, counted):
    assert miscounted(page.replace("eleven rules", "twelve rules"), *counted) == ["twelve rules"]
    less = page.replace("`baselines.Independent` and `Con", "`Con")
    assert miscounted(less, *counted) == ["Independent"]


def test_every_name_of_the_library_on_the_page_is_there(page):
    named = re.findall(r"\bpds\.([\w.]*\w)", page)
    assert {"audit.replay", "audit.black_box", "evaluate", "Session"} <= set(named)
    for name in named:
        thing = pds
        for part in name.split("."):
            thing = getattr(thing, part)


def test_what_the_page_promises_is_what_a_default_fit_does():
    schema = pds.Schema(tuple(pds.Attribute.categorical(f"x{j}", range(2)) for j in range(3)))
    codes = np.random.default_rng(0).integers(0, 2, (200, 3)).astype(np.uint8)
    frame = schema.decode(codes)
    fitted = pds.PrivBayes(1.0).fit(frame, schema=schema)
    ledger = fitted.ledger_
    assert (ledger.guarantee, ledger.epsilon) == ("strict", 1)
    assert ledger.check() == ledger.notes == []
    assert fitted.model_.private
    seeded = pds.PrivBayes(1.0, random_state=1).fit(frame, schema=schema).ledger_
    assert "noise is reproducible: do not release" in seeded.notes
    assert not seeded.private
    assert "NOT PRIVATE: reproducible" in seeded.verdict()
    noiseless = pds.PrivBayes(1.0, guarantee="none").fit(frame, schema=schema).ledger_
    assert noiseless.epsilon == math.inf
    with pytest.raises(pds.PrivacyError):
        pds.PrivBayes(1.0).fit(frame, schema=pds.Schema.infer(frame))


def test_the_catalogue_attacks_every_strict_algorithm():
    """A whole fit of each; ``Synthesizer`` is made of their parts."""
    whole = {n for n, case in audit.CASES.items() if isinstance(case.attack, audit.Transcripts)}
    algorithms = {case.cls.__name__.lower() for case in CASES.values()} - {"synthesizer"}
    assert {f"strict-{name}" for name in algorithms} <= whole
