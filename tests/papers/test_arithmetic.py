"""Counts of pairs, by listing them all on small numbers of attributes."""

from itertools import combinations

import pytest

from pdsynth.papers.arithmetic import ATTRIBUTES, formula_8, greedy_pairs
from pdsynth.papers.engine import find as paper
from pdsynth.papers.rules import RULES, Question


def listed(m, k):
    """Every pair of a child and a parent set that Algorithm 1 of PrivABN lists, in its loops."""
    pairs, placed = 0, [0]
    for _ in range(2, m + 1):
        left = [s for s in range(m) if s not in placed]
        pairs += sum(1 for _ in left for _ in combinations(placed, min(k, len(placed))))
        placed.append(left[0])
    return pairs


@pytest.mark.parametrize("k", range(1, 5))
@pytest.mark.parametrize("m", range(2, 9))
def test_pairs_are_those_that_the_loops_list(m, k):
    assert greedy_pairs(m, k) == listed(m, k)


def test_formula_8_is_k_minus_1_too_small():
    """m = 50, k = 5: 115,775,290, printed …286."""
    assert (formula_8(50, 5), greedy_pairs(50, 5)) == (115_775_286, 115_775_290)
    for m in range(3, 60):
        for k in range(1, m):
            assert greedy_pairs(m, k) - formula_8(m, k) == k - 1


def verdict(name, brief):
    """What a paper's table 2 says of one claim, from its settings alone."""
    own = paper(name)
    claim = next(c for c in own.file["claim"] if c["brief"] == brief)

    settings = own.read_settings({})
    question = Question("table 2", None, settings, claim)
    return RULES[claim["rule"]][0](question)


def test_the_rows():
    said, words = verdict("privabn", "formula (8) counts the pairs")
    assert said == "does not" and "k = 5: 115,775,286 printed, 115,775,290 counted" in str(words)
    said, words = verdict("genetic", "greedy search: at most d·C(d+1, k+1) combinations")
    assert said == "replicates" and "CMC, k = 2: 339 of 1,650" in str(words)


def test_attributes_are_those_of_the_tables():
    from pdsynth.datasets import load_adult, load_cmc

    assert ATTRIBUTES["CMC"] == len(load_cmc().schema)
    assert ATTRIBUTES["Adult"] == len(load_adult().schema)
