"""One bar for all: it changes no result, shows public numbers only, and stays away when told to."""

import sys

import pytest
import tqdm.auto

from pdsynth.core import errors as bars


@pytest.fixture
def seen(monkeypatch):
    """Bars that were made, by description, total and what they counted; the environment wants
    them."""
    made = []

    class Spy:
        def __init__(self, items=(), **options):
            made.append((options["desc"], options["total"], options["disable"]))
            self.items = items

        def __iter__(self):
            return iter(self.items)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(
        tqdm.auto, "tqdm", lambda items=(), **o: Spy(items, **{"disable": False} | o)
    )
    monkeypatch.setenv(bars.OFF, "1")
    return made


def test_items_are_the_same_under_a_bar(seen):
    assert list(bars.progress(range(3), "steps", 3)) == [0, 1, 2]
    assert seen == [("steps", 3, False)]


def test_the_environment_and_the_caller_turn_bars_off(seen, monkeypatch):
    with bars.wanted(False):
        assert list(bars.progress(range(3), "steps", 3)) == [0, 1, 2]
        with bars.wanted(True):  # who called first has said no
            list(bars.progress(range(3), "steps", 3))
    monkeypatch.setenv(bars.OFF, "0")
    list(bars.progress(range(3), "steps", 3))
    assert seen == []
    with bars.bar(1.0, "by hand"):
        assert seen == [("by hand", 1.0, True)]


def test_without_a_stderr_there_are_no_bars(seen, monkeypatch):
    """As under pythonw, or where a service closes it: a bar would end a fit that is paid for."""
    monkeypatch.setattr(sys, "stderr", None)
    assert list(bars.progress(range(3), "steps", 3)) == [0, 1, 2] and seen == []
    with bars.bar(1.0, "by hand"):
        assert seen == [("by hand", 1.0, True)]


def test_twin_a_wanted_bar_is_seen(seen):
    with bars.wanted(True):
        list(bars.progress([], "steps", 0))
    assert len(seen) == 1


def test_the_bars_of_a_fit_count_public_steps_only(seen, adult):
    import pdsynth as pds

    totals = []
    for rows in (slice(0, 500), slice(500, 1000)):  # other records of the same public facts
        seen.clear()
        pds.PrivBayes(k=1, random_state=0).fit(adult.frame.iloc[rows], adult.schema)
        totals.append(list(seen))
    assert totals[0] == totals[1]
    assert {what for what, *_ in totals[0]} == {"network", "tables"}
