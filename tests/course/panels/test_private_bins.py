"""Private bins in lesson 19: people without a gain stay where they are."""

from pdsynth.course.panels import private_bins


def test_private_bins_come_nearer_where_a_value_is_heavy():
    for column in ("capital-gain", "hours-per-week"):
        facts = private_bins.view(column=column).facts
        assert facts["chosen"] < facts["equal"] / 2


def test_there_are_as_many_bins_as_asked_for_and_the_curves_end_at_everybody():
    figure = private_bins.view(number=8).figure
    drawn = {t.name: t for t in figure.data}
    assert len(drawn["private edges"].x) == 7
    assert all(drawn[f"{kind}"].y[-1] > 0.99 for kind in ("equal bins", "private bins"))


def test_what_is_noise_says_so():
    facts = private_bins.view(epsilon=0.05).facts
    assert facts["chosen"] > 0.5
