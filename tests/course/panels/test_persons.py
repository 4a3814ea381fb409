"""Persons with an ε of their own: the panel's people, and what its methods forget."""

import warnings

import numpy as np
import pytest

from pdsynth.course.panels import persons
from pdsynth.datasets.adult import load_adult
from pdsynth.papers.persons import COPIES, LEAST, OURS


def test_the_few_columns_are_the_first_complete_rows_of_adult():
    table = persons.few_columns()
    assert table.schema.names == persons.COLUMNS and table.records.n == persons.ROWS
    shares = persons.schools(table.records.codes)
    years = table.dataset.frame["education-num"]
    assert shares.sum() == pytest.approx(1) and len(shares) == len(persons.SCHOOLS)
    assert shares[persons.COLLEGE :].sum() == pytest.approx((years >= 12).mean())
    assert shares[0] == pytest.approx((years <= 8).mean())


def test_college_is_said_of_those_who_finished_it():
    """More than one in five went to college and left without a degree: they aren't counted."""
    rows = load_adult(complete=True).frame.iloc[: persons.ROWS]
    counted = rows["education"].isin(
        ["Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]
    )
    assert persons.view().facts["people"] == pytest.approx(counted.mean())
    assert (rows["education"] == "Some-college").mean() > 0.2
    assert "rows finished college, 28% of people" in persons.view().status


def test_copies_without_noise_are_what_the_panel_forgets():
    """The weighted share of college, by hand, is what copies give up to noise."""
    table = persons.few_columns()
    grades = table.records.codes[:, persons.COLUMNS.index("education-num")]
    strength = (grades - grades.mean()) / grades.std()
    rng = np.random.default_rng(persons.SEED)
    of = persons.preferences(strength, 1.0, np.array([0.54, 0.37, 0.09]), rng)
    weights = np.array([1, 5, 10])[of]
    expected = weights[grades >= persons.COLLEGE].sum() / weights.sum()
    view = persons.view(method=COPIES)
    assert view.facts["college"] == pytest.approx(expected, abs=0.03)  # noise
    assert view.facts["people"] - view.facts["college"] > 0.1


@pytest.mark.parametrize("mix", persons.MIXES)
def test_the_level_as_a_column_is_nearer_than_everybody_at_the_least(mix):
    for tie in (0.0, 1.0, 2.0):
        facts = persons.view(mix=mix, tie=tie, method=OURS).facts
        assert facts["off"] == facts["ours"] < facts["least"]
        assert abs(facts["college"] - facts["people"]) < 0.02


def test_everybody_at_the_least_doesn_t_depend_on_preferences():
    one, other = (persons.view(tie=tie, mix=mix, method=LEAST).facts["off"]
                  for tie, mix in ((0.0, persons.MIXES[0]), (2.0, persons.MIXES[2])))  # fmt: skip
    assert one == other


def test_a_panel_without_a_tie_shows_it_and_warns_of_nothing():
    """Tie 0 is what the lesson asks for."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        persons.releases.__wrapped__(persons.few_columns(), persons.MIXES[0], 0.0)
    assert [str(one.message) for one in said] == []
