"""The README's first table is made by its lines, as they are printed."""

import re

import pytest


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
