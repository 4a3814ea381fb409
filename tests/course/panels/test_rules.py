"""Rules in lesson 00: without one some rows can't be, with it none, from the same noisy tables."""

import pytest

from pdsynth.course.panels import rules


@pytest.mark.parametrize("rule", rules.RULES)
def test_no_row_is_left_at_any_budget(rule):
    for epsilon in (0.05, 0.2, 2.0):
        view = rules.view(epsilon=epsilon, rule=rule)
        assert view.facts["given"] == 0 and "0 rows of 20,000" in view.status
        assert list(view.figure.data[0].y) == [view.facts["without"], 0]
    assert rules.view(epsilon=0.05, rule=rule).facts["without"] > 0.1


def test_a_rule_that_says_more_finds_more():
    first, second = (rules.view(rule=rule).facts["without"] for rule in rules.RULES)
    assert second > first > 0
