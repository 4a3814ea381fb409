"""The catalogue and the bug zoo say what they have always said: every row, and a short seeded audit of each."""

import json
import sys
from pathlib import Path

import pytest

from pdsynth.audit import CASES, run
from pdsynth.audit.zoo import ZOO, check

RECORDED = Path(__file__).with_name("recorded_audits.json")
RUNS, SEED = 1000, 11


def observe_case(name: str) -> dict:
    """One row of the catalogue, and what a short audit of it says."""
    case, found = CASES[name], run(name, RUNS, seed=SEED)
    return {
        "about": case.about, "source": case.source, "claimed": str(case.claimed), "expect": case.expect,
        "twin": case.twin, "tier": case.tier, "guarantee": case.guarantee, "method": found.method,
        "theory": found.theory, "bound": found.bound, "ceiling": found.ceiling, "runs": found.runs,
        "verdict": found.verdict, "witness": found.witness,
    }  # fmt: skip


def observe_bug(bug) -> dict:
    """One inmate of the zoo, and the verdicts on its wrong and its right copy."""
    wrong, right = (check(f, bug.kind, runs=RUNS, seed=SEED) for f in (bug.wrong, bug.right))
    return {
        "found": bug.found, "kind": bug.kind, "wrong": bug.wrong.__name__, "right": bug.right.__name__,
        "code": wrong.code, "words": wrong.words, "bound": wrong.bound, "right code": right.code,
    }  # fmt: skip


def recorded(kind: str) -> dict:
    return json.loads(RECORDED.read_text(encoding="utf-8"))[kind]


def agree(seen: dict, expected: dict) -> bool:
    numbers = {key for key, value in expected.items() if isinstance(value, float)}
    return {k: v for k, v in seen.items() if k not in numbers} == {
        k: v for k, v in expected.items() if k not in numbers
    } and all(seen[key] == pytest.approx(expected[key], rel=1e-9) for key in numbers)


def test_the_catalogue_has_the_same_rows_in_the_same_order():
    assert list(CASES) == list(recorded("cases"))
    assert [b.name for b in ZOO] == list(recorded("bugs"))


@pytest.mark.parametrize("name", CASES)
def test_a_case_says_what_it_said(name):
    seen, expected = observe_case(name), recorded("cases")[name]
    assert agree(seen, expected), (seen, expected)


@pytest.mark.parametrize("bug", ZOO, ids=lambda b: b.name)
def test_a_bug_is_found_as_it_was(bug):
    seen, expected = observe_bug(bug), recorded("bugs")[bug.name]
    assert agree(seen, expected), (seen, expected)


def test_twin_another_number_is_seen():
    expected = recorded("cases")["privabn-units"]
    assert agree(expected, expected) and not agree(expected | {"bound": expected["bound"] * 1.0001}, expected)


if __name__ == "__main__":  # python tests/audit/test_recorded_audits.py write
    if sys.argv[1:] == ["write"]:
        rows = {"cases": {n: observe_case(n) for n in CASES}, "bugs": {b.name: observe_bug(b) for b in ZOO}}
        RECORDED.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
