"""What panels say in words."""

from fractions import Fraction as Q

from pdsynth.core.ledger import Ledger
from pdsynth.course.panels import hpprivbayes, ppba
from pdsynth.course.panels.words import ledger_summary


def test_the_summary_is_the_ledger_s_own_story():
    ledger = Ledger(Q(1), "published")
    ledger.write("mechanism", "pair 2 of 3", claimed=Q(1, 4), epsilon=Q(1, 2))
    text = ledger_summary(ledger)
    assert ledger._repr_html_() in text and "choosing parents" in text
    assert "color:#d55e00" in text.split("choosing parents")[0].rsplit("<tr", 1)[1]


def test_a_run_without_noise_claims_nothing_and_has_no_budget():
    for panel in (hpprivbayes, ppba):
        status = panel.view(guarantee="none", k=1).status
        assert "No noise: not private at all" in status
        assert "laimed" not in status and "budget" not in status
