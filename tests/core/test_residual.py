"""The residual score as the curator computes it: enumerated over all tiny tables and neighbours."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from privacy_tools import records_of

from pdsynth.core import curator as curator_room
from pdsynth.core.curator import Curator
from pdsynth.core.errors import PrivacyError
from pdsynth.core.ledger import Ledger
from pdsynth.core.network import Candidates
from pdsynth.core.noise import ExactNoise

SIZES, SETS = (2, 3), [(0,), (1,), (0, 1)]
EXPECTED = [np.array([2, 1]), np.array([1, 0, 3]), np.array([[1, 0, 0], [0, 2, 1]])]
PENALTIES = np.array([1, 0, 2])
CELLS = list(itertools.product(*map(range, SIZES)))


def question(rows, monkeypatch, relation="replace_one"):
    """The scores and the sensitivity that reach the exponential mechanism, and the ledger."""
    asked = {}

    def exponential(scores, sensitivity, epsilon, noise, **options):
        asked.update(scores=scores.value.tolist(), sensitivity=sensitivity.value)
        return len(scores.value) - 1

    monkeypatch.setattr(curator_room, "exponential_mechanism", exponential)
    ledger = Ledger(Fraction(1), "strict", relation=relation)
    curator = Curator(records_of(rows, SIZES), ledger, ExactNoise())
    if relation == "add_remove":
        curator.count_records(Fraction(1, 2))
    stop = curator.choose_table(
        SETS, EXPECTED, PENALTIES, Fraction(1, 2), step="round 1", source="test"
    )
    assert stop is None and ledger.check() == []
    return asked["scores"], asked["sensitivity"], ledger.entries[-1]


def tables(n):
    return itertools.combinations_with_replacement(CELLS, n)


def test_against_what_the_records_themselves_expect_it_moves_further(monkeypatch):
    """The twin: products of raw one-way tables follow the record that changes, and 2 isn't
    enough."""

    def raw(rows):
        table = np.zeros(SIZES)
        for row in rows:
            table[row] += 1
        return np.abs(table - np.outer(table.sum(1), table.sum(0)) / len(rows)).sum()

    moved = max(abs(raw(rows) - raw([*rows[:-1], other])) for rows in tables(4) for other in CELLS)
    assert moved > 2


def test_scores_by_hand(monkeypatch):
    scores, *_ = question([(0, 0), (1, 1), (1, 1), (1, 2)], monkeypatch)
    assert scores == [abs(1 - 2) + abs(3 - 1) - 1, 0 + 2 + 2 - 0, 0 - 2, 0]


def test_another_round_scores_against_its_own_expectation(monkeypatch):
    """One door, asked twice: what was computed for the first expectation isn't used again."""
    seen = []

    def exponential(scores, *_, **__):
        seen.append(scores.value.tolist())
        return len(scores.value) - 1

    monkeypatch.setattr(curator_room, "exponential_mechanism", exponential)
    rows = [(0, 0), (1, 1), (1, 1), (1, 2)]
    curator = Curator(records_of(rows, SIZES), Ledger(Fraction(1)), ExactNoise())
    for expected in (EXPECTED, [table + 1 for table in EXPECTED]):
        curator.choose_table(SETS, expected, PENALTIES, Fraction(1, 4), step="round", source="test")
    assert seen[1] == [abs(1 - 3) + abs(3 - 2) - 1, 1 + 1 + 3 - 0, 1 + 1 + 1 + 1 + 1 + 1 - 2, 0]
    assert seen[0] != seen[1], "failing twin: the first round's scores again"


@pytest.mark.parametrize("shape", [(1000, 2, 3), (1, 2, 3), (3,), (1, 1), (6,)])
def test_what_is_expected_has_the_shape_of_the_table(shape, monkeypatch):
    """Of 1,000 tables of 2 × 3 the sum is 1,000 times as far off, and moves by 2,000."""
    curator = Curator(records_of([(0, 0), (1, 2)], SIZES), Ledger(Fraction(1)), ExactNoise())
    drawn = []
    monkeypatch.setattr(curator_room, "exponential_mechanism", lambda *_, **__: drawn.append(1))
    with pytest.raises(PrivacyError, match=r"columns \(0, 1\).*another shape"):
        curator.choose_table(
            [(0, 1)], [np.zeros(shape, int)], np.array([0]), Fraction(1), step="s", source=""
        )
    assert drawn == []


def test_twin_without_that_a_record_moves_the_score_by_more_than_two():
    first, second = np.array([[2, 0, 0], [0, 0, 0]]), np.array([[1, 0, 0], [0, 0, 1]])
    moved = [np.abs(table - np.zeros((1000, 2, 3))).sum() for table in (first, second)]
    assert moved[0] - moved[1] == 0  # from nothing it doesn't show
    expected = np.zeros((1000, 2, 3)) + first
    assert np.abs(second - expected).sum() - np.abs(first - expected).sum() == 2000


@pytest.mark.parametrize(
    ("expected", "penalty"),
    [
        ([[2**62, 2**62, 0], [0, 0, 0]], 0),  # the sum of what they miss wraps around
        ([[2**40, 0, 0], [0, 0, 0]], 0),
        ([[0, 0, 0], [0, 0, 0]], 2**61),
        ([[0.0, 0.0, np.nan], [0, 0, 0]], 0),
        ([[0, 0, 0], [0, 0, 0]], float("inf")),
    ],
)
def test_no_score_wraps_around(expected, penalty, monkeypatch):
    """Beyond 64 bits one record would turn the largest score into the smallest."""
    curator = Curator(records_of([(0, 0), (1, 2)], SIZES), Ledger(Fraction(1)), ExactNoise())
    drawn = []
    monkeypatch.setattr(curator_room, "exponential_mechanism", lambda *_, **__: drawn.append(1))
    with pytest.raises(PrivacyError, match="added to a score must stay below"):
        curator.choose_table(
            [(0, 1)], [np.array(expected)], np.array([penalty]), Fraction(1), step="s", source=""
        )
    assert drawn == []


@pytest.mark.parametrize("offset", [2**61, -(2**62), np.inf])
def test_neither_do_the_scores_of_ties(offset):
    rows = [(0, 0), (1, 2), (1, 1)]
    curator = Curator(records_of(rows, SIZES), Ledger(Fraction(1)), ExactNoise())
    asked = {"step": "s", "source": "", "offsets": np.array([offset])}
    pair = Candidates(((np.array([1]), np.array([[0]])),))
    with pytest.raises(PrivacyError, match="added to a score must stay below"):
        curator.strongest_association([(0, 1)], Fraction(1, 4), **asked)
    with pytest.raises(PrivacyError, match="added to a score must stay below"):
        curator.select(pair, "R", Fraction(1, 4), **asked)


def test_twin_without_the_bound_a_record_turns_a_score_around(monkeypatch):
    """At the edge of 64 bits: n + 1 records more than expected are as few as can be."""
    monkeypatch.setattr(curator_room, "public", lambda numbers, most=0: np.asarray(numbers))
    scores = []
    monkeypatch.setattr(
        curator_room,
        "exponential_mechanism",
        lambda s, *_, **__: scores.append(int(s.value[0])) or 0,
    )
    expected = np.array([[2**62, 2**62 - 2, 0], [0, 0, 0]])
    for rows in ([(0, 0), (0, 0)], [(0, 0), (1, 2)], [(1, 2), (1, 2)]):
        curator = Curator(records_of(rows, SIZES), Ledger(Fraction(1)), ExactNoise())
        curator.choose_table([(0, 1)], [expected], np.array([0]), Fraction(1), step="s", source="")
    assert max(scores) - min(scores) > 2**62, "one or two records moved it by more than 2"
