"""CONTRIBUTING's three changes are true: its code runs, keeps the contract, and is as small as it
says."""

import math
import re
from fractions import Fraction

import pytest
from contract_cases import binary, mixed

import pdsynth as pds
from pdsynth.algorithms import relatives as presets
from pdsynth.core import budgets as rules


@pytest.fixture(scope="module")
def blocks(root):
    """The code of each section of CONTRIBUTING.md."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {
        s.splitlines()[0]: re.findall(r"^```python\n(.*?)^```", s, re.MULTILINE | re.DOTALL)
        for s in sections
    }


def made(code, module, **more):
    """The class that a block defines, in the names of the module it would stand in."""
    space = {**vars(module), **more}
    exec(code, space)
    return space[re.search(r"^class (\w+)", code, re.MULTILINE).group(1)]


def test_a_new_budget_rule_is_at_most_25_lines_and_closes_the_ledger(blocks):
    (code,) = blocks["A new budget rule"]
    assert code.count("\n") <= 25
    rule = made(code, rules, math=math)
    frame, schema = mixed()
    fitted = pds.Synthesizer(2, structure=pds.parts.Greedy(k=1), budget=rule()).fit(frame, schema)
    assert fitted.ledger_.epsilon == 2 and fitted.ledger_.check() == []
    tables = [e for e in fitted.ledger_.entries if e.step.startswith("table(")]
    cells = [schema.cells(e.attributes) for e in tables]
    shares = [Fraction(2) / e.scale for e in tables]
    assert (
        len({share / math.isqrt(number) for share, number in zip(shares, cells, strict=True)}) == 1
    )


@pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
@pytest.mark.parametrize("table", [binary, mixed])
def test_a_new_synthesizer_is_at_most_15_lines_and_keeps_the_contract(blocks, guarantee, table):
    (code,) = blocks["A new synthesizer from existing parts"]
    assert code.count("\n") <= 15
    cls = made(code, presets, RiskEntropy=rules.RiskEntropy)
    frame, schema = table()
    fitted = cls(3, k=1, guarantee=guarantee).fit(frame, schema)
    assert fitted.clone().get_params() == fitted.get_params()
    assert fitted.ledger_.epsilon == (3 if guarantee == "strict" else math.inf)
    assert fitted.ledger_.check() == [] or guarantee != "strict"
    assert list(fitted.sample(7).columns) == list(schema.names)
    with pytest.raises(pds.BudgetError, match="k = 99"):
        cls(3, k=99).fit(frame, schema)


def test_a_new_slider_is_one_line_and_the_one_that_is_tested(blocks, root):
    """tests/course/panels/test_a_new_slider.py moves the control that the page shows."""
    (code,) = blocks["A new slider"]
    name, call = re.fullmatch(r"\s*(\w+)=(slider\(.*\)),\n", code).groups()
    test = root / "tests" / "course" / "panels" / "test_a_new_slider.py"
    assert f'{{"{name}": {call}}}' in " ".join(test.read_text(encoding="utf-8").split())


def test_the_hooks_are_those_that_the_tests_know(root):
    """tests/algorithms/test_hooks.py overrides each hook that the page lists."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.search(r"may override these hooks.*?(?=`fit`)", text, re.DOTALL).group()
    tested = (root / "tests" / "synthesizers" / "test_hooks.py").read_text(encoding="utf-8")
    hooks = set(re.findall(r"`(_\w+)`", listed))
    assert hooks == set(re.findall(r'"(_\w+)": lambda self', tested))
