"""The catalogue and the zoo say what they always said: every row, a short seeded audit of each."""

import json
import sys
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import pytest
from privacy_tools import quick_case

from pdsynth.audit import NOT_REFUTED, run, transcripts
from pdsynth.audit.cases import CASES, read_case
from pdsynth.audit.transcripts import Transcripts
from pdsynth.audit.zoo import ZOO, check

RECORDED = Path(__file__).with_name("recorded_audits.json")
RUNS, FITS, SEED = 1000, 30, 11  # of a step, and of each table by a whole method: fits take long
PATHS = 6  # fits of each table from which the power of an audit is simulated
FLOATING = "textbook-laplace-on-doubles"  # which doubles it can give depends on the processor


def observe_case(name: str) -> dict:
    """One row of the catalogue, and what a short audit of it says."""
    case = CASES[name]
    runs = FITS if isinstance(case.attack, Transcripts) else RUNS
    with patch.object(transcripts, "PATHS", PATHS):
        found = run(quick_case(case), runs, seed=SEED)
    return {
        "about": case.about,
        "source": case.source,
        "claimed": str(case.claimed),
        "expect": case.expect,
        "twin": case.twin,
        "tier": case.tier,
        "guarantee": case.guarantee,
        "method": found.method,
        "theory": found.theory,
        "bound": found.bound,
        "ceiling": found.ceiling,
        "detectable": found.detectable,
        "moves": found.moves,
        "runs": found.runs,
        "verdict": found.verdict,
        "witness": found.witness,
    }


def observe_bug(bug) -> dict:
    """One inmate of the zoo, and the verdicts on its wrong and its right copy."""
    wrong, right = (check(f, bug.kind, runs=RUNS, seed=SEED) for f in (bug.wrong, bug.right))
    return {
        "found": bug.found,
        "kind": bug.kind,
        "code": wrong.code,
        "words": wrong.words,
        "wrong": bug.wrong.__name__,
        "right": bug.right.__name__,
        "bound": wrong.bound,
        "right code": right.code,
    }


def recorded(kind: str) -> dict:
    return json.loads(RECORDED.read_text(encoding="utf-8"))[kind]


def agree(seen: dict, expected: dict, rel: float = 1e-9) -> bool:
    numbers = {key for key, value in expected.items() if isinstance(value, float)}
    if seen.keys() != expected.keys():
        return False
    words = all(seen[key] == expected[key] for key in expected.keys() - numbers)
    return words and all(seen[key] == pytest.approx(expected[key], rel=rel) for key in numbers)


def test_the_catalogue_has_the_same_rows_in_the_same_order():
    assert list(CASES) == list(recorded("cases"))
    assert [b.name for b in ZOO] == list(recorded("bugs"))


def whole_fits_late(names):
    """Whole fits take seconds each; one of them is never late."""
    late = {n for n in names if isinstance(CASES[n].attack, Transcripts)} - {"strict-independent"}
    return [pytest.param(n, marks=pytest.mark.slow) if n in late else n for n in names]


@pytest.mark.parametrize("name", whole_fits_late(CASES))
def test_a_case_says_what_it_said(name):
    seen, expected = observe_case(name), recorded("cases")[name]
    if name == FLOATING:
        seen["witness"] = expected["witness"]
    assert agree(seen, expected, 0.05 if name == FLOATING else 1e-9), (seen, expected)
    if isinstance(CASES[name].attack, Transcripts) and expected["expect"] == NOT_REFUTED:
        assert expected["verdict"] == NOT_REFUTED
        assert 0 <= seen["bound"] <= Fraction(seen["claimed"])


@pytest.mark.parametrize("bug", ZOO, ids=lambda b: b.name)
def test_a_bug_is_found_as_it_was(bug):
    seen, expected = observe_bug(bug), recorded("bugs")[bug.name]
    assert agree(seen, expected), (seen, expected)


def test_twin_another_number_is_seen():
    expected = recorded("cases")["privabn-units"]
    other = expected | {"bound": expected["bound"] * 1.0001}
    assert agree(expected, expected) and not agree(other, expected)
    assert not agree(expected | {"witness": "another"}, expected)


def test_a_row_can_name_nothing_but_the_audit_s_own_functions():
    row = {"release": ["one_way_tables"], "pair": ["one_more"], "attack": "Sampled", "claimed": "1"}
    assert read_case("own", row | {"about": "", "source": ""}).tables.sizes == (2, 2)
    for key, name in (("pair", ["partial"]), ("release", ["exec"]), ("attack", "Any")):
        with pytest.raises(KeyError):
            read_case("strange", row | {key: name})


if __name__ == "__main__":  # PYTHONPATH=.:tests python tests/audit/test_recorded_audits.py write
    if sys.argv[1:] == ["write"]:
        rows = {
            "cases": {name: observe_case(name) for name in CASES},
            "bugs": {bug.name: observe_bug(bug) for bug in ZOO},
        }
        text = json.dumps(rows, ensure_ascii=False, indent=1)
        RECORDED.write_text(text + "\n", encoding="utf-8")
