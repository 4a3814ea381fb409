"""The planted defects: all apply, and the tests that should see a sample of them do."""

import shutil
import subprocess
from dataclasses import replace

import mutants
import pytest
from mutants import CAUGHT, ROOT, STALE, SURVIVED, judge, read_mutants

KNOWN = read_mutants()


def stale(known):
    """Mutants whose ``find`` isn't in their file as often as they say."""
    texts = {m.file: (ROOT / m.file).read_text("utf-8") for m in known if (ROOT / m.file).exists()}
    return [m.name for m in known if m.planted(texts.get(m.file, "")) is None]


def test_at_least_sixty_half_of_them_by_somebody_who_had_not_read_the_tests():
    blind = [m for m in KNOWN if m.written == "from the source only"]
    assert len({m.name for m in KNOWN}) == len(KNOWN) >= 60
    assert len(blind) >= len(KNOWN) / 2
    assert all(m.why and m.tests for m in KNOWN)


def test_all_apply_and_their_tests_are_there():
    assert stale(KNOWN) == []
    files = {part for m in KNOWN for part in m.tests if part.startswith("tests/")}
    assert [name for name in sorted(files) if not (ROOT / name.split("::")[0]).exists()] == []


def test_twin_a_mutant_that_no_longer_applies_is_named():
    gone = replace(KNOWN[0], name="gone", find="words that stand nowhere")
    twice = replace(KNOWN[0], name="twice", find="return")
    nothing = replace(KNOWN[0], name="nothing", replace=KNOWN[0].find)
    nowhere = replace(KNOWN[0], name="nowhere", file="pdsynth/nowhere.py")
    assert stale([KNOWN[0], gone, twice, nothing, nowhere]) == [
        "gone",
        "twice",
        "nothing",
        "nowhere",
    ]


def commit():
    """The number of the commit that is tested; 0 outside a checkout."""
    if not shutil.which("git"):
        return 0
    said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return int(said.stdout, 16) if said.returncode == 0 else 0


@pytest.mark.slow
def test_a_sample_of_two_is_caught():
    """Another two at every commit, the same at every run of it."""
    assert mutants.main(["--sample", "2", "--seed", str(commit())]) == 0


@pytest.mark.slow
def test_twin_a_change_that_nobody_can_see_survives():
    seen = next(m for m in KNOWN if m.name == "ε of zero")
    harmless = replace(
        seen,
        replace=seen.find + "  # nothing",
        name="a comment",
        tests=("tests/core/test_budgets.py",),
    )
    broken = replace(harmless, name="broken", tests=("tests/nowhere.py",))
    gone = replace(harmless, name="gone", find="words that stand nowhere")
    ends = {m.name: end for m, end in judge([harmless, broken, gone])}
    assert ends == {"a comment": SURVIVED, "broken": "pytest ends with 4", "gone": STALE}
    assert CAUGHT not in ends.values()
