"""The README's first table is made by its lines, as they are printed."""

import re

import pytest

import pdsynth as pds


@pytest.mark.slow
def test_the_first_private_table_is_made_as_printed(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S)
    assert len(code.splitlines()) <= 10
    made = {}
    exec(code, made)  # our own text
    assert made["synth"].ledger_.epsilon == 1 and made["synth"].ledger_.check() == []
    assert list(made["fake"]) == list(made["adult"].schema.names)
    assert type(made["synth"]).__name__ == "ConsistentBayes"


def test_four_answers_in_at_most_ten_lines(root):
    """A rule, private bins, the way back, and an interval, after the first table's lines."""
    text = (root / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```py\n(.*?)^```", text, flags=re.M | re.S)
    assert len(code.splitlines()) <= 10
    made = {"pds": pds, "adult": pds.datasets.load_adult()}
    exec(code.rpartition("\n")[0].rpartition("\n")[0], made)  # our own text
    found = made["model"].marginal(["sex", "salary"], interval=0.9)
    assert {*found["kind"]} <= {"noise", "bootstrap"} and made["plan"].distance <= 0.1
    assert not made["model"].schema.private
    codes = made["model"].marginal(["relationship", "sex"])
    assert codes[("Husband", "Female")] < 1e-6 * made["n"]
