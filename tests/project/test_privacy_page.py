"""T15: promise, threat model and known limits are written down, linked, and what the code does."""

import math
import re

import numpy as np
import pytest

import pdsynth as pds

TITLE = "Privacy promise, threat model, known limits"
PARTS = (
    "Promise",
    "Threat model",
    "How it is kept",
    "Personal guarantees",
    "Status",
    "Known limits",
)
MUST = (
    "pure ε-differential privacy",
    "replacing one",
    "code of a record is a function of that record and of the declaration",
    "number of records",
    "random_state",
    "`ledger_.check()` is empty",
    "opendp",
    "`published` and `none` promise nothing",
    "`Schema.infer`",
    "ε adds up",
    "do not release",
    "no proof",
    "attribute_epsilon([",
    "in that attribute *alone*",
    "`model_.private` is true",
    "NOT PRIVATE: reproducible",
    "allow_reproducible=True",
    "`pds.evaluate`, `compare`, the live panels",
    "A traceback may show values",
    "until the table looks right spends ε each time",
    "one record that is *replaced*",
    "nobody yet",
)
STATUS = ("proved", "enumerated", "audited", "reviewed by")


def page(text):
    """The section, its line breaks as spaces."""
    found = re.search(rf"^## {re.escape(TITLE)}\n(.*?)(?=^## |^MIT licence)", text, re.M | re.S)
    return " ".join(found[1].split()) if found else ""


def faults(text):
    """What is missing of the page."""
    said = page(text)
    out = [part for part in PARTS if f"**{part}.**" not in said]
    out += [word for word in MUST if word not in said]
    head = re.search(r"\| mechanism \|(.*?)\|---", said)
    out += [word for word in STATUS if not head or word not in head[1]]
    anchor = re.sub(r"[^a-z -]", "", TITLE.lower()).replace(" ", "-")
    return out + ([] if f"](#{anchor})" in text else ["link"])


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


def test_the_page_is_there_complete_and_linked(readme):
    assert faults(readme) == []


HOLES = (
    f"## {TITLE}",
    "**Threat model.**",
    "**Known limits.**",
    "](#privacy-promise",
    "ε adds up",
    "*alone*",
    "A traceback may",
    "`compare`, the live panels",
    "| reviewed by ",
)


@pytest.mark.parametrize("cut", HOLES)
def test_twin_a_page_with_a_hole_is_noticed(readme, cut):
    assert faults(readme.replace(cut, ""))


def test_every_test_that_the_page_names_is_there(readme, root):
    named = re.findall(r"\]\((tests/[^)#]+)\)", readme)
    assert len(named) > 6
    assert [path for path in named if not (root / path).exists()] == []


def test_what_the_page_promises_is_what_a_default_fit_does():
    schema = pds.Schema(tuple(pds.Attribute.categorical(f"x{j}", range(2)) for j in range(3)))
    codes = np.random.default_rng(0).integers(0, 2, (200, 3)).astype(np.uint8)
    frame = schema.decode(codes)
    ledger = pds.PrivBayes(1.0).fit(frame, schema=schema).ledger_
    assert (ledger.guarantee, ledger.epsilon) == ("strict", 1)
    assert ledger.check() == ledger.notes == []
    seeded = pds.PrivBayes(1.0, random_state=1).fit(frame, schema=schema).ledger_
    assert "noise is reproducible: do not release" in seeded.notes
    assert not seeded.private
    assert "NOT PRIVATE: reproducible" in seeded.verdict()
    noiseless = pds.PrivBayes(1.0, guarantee="none").fit(frame, schema=schema).ledger_
    assert noiseless.epsilon == math.inf
    with pytest.raises(pds.PrivacyError):
        pds.PrivBayes(1.0).fit(frame, schema=pds.Schema.infer(frame))
