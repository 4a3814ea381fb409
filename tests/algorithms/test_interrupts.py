"""T19: an estimator is replaced whole or not at all, also when somebody presses the stop button;
what was spent is kept."""

import contextlib
import inspect
import itertools
import sys
import threading
from copy import copy
from fractions import Fraction as Q

import pytest
from contract_cases import ALGORITHMS, binary, make

import pdsynth as pds
from pdsynth.core import curator as curator_room
from pdsynth.core import recipe as room
from pdsynth.core.curator import Curator
from pdsynth.core.noise import ExactNoise
from pdsynth.core.recipe import Recipe

QUESTIONS = [
    name
    for name, _ in inspect.getmembers(Curator, inspect.isfunction)
    if not name.startswith("_") and name != "expect"  # it answers nothing
]
algorithms = pytest.mark.parametrize("name", ALGORITHMS)
KINDS = "PrivBayes", "HMPrivBayes", "GeneticBayes", "PriView", "ConsistentBayes rounds"
# Whatever is raised: what catches it stands in the recipe, which all algorithms share.
STOPS = [
    *((name, KeyboardInterrupt) for name in ALGORITHMS),
    *(pytest.param(name, MemoryError, marks=pytest.mark.slow) for name in KINDS),
]
pytestmark = pytest.mark.filterwarnings("ignore")


class Stop:
    """Raises at one moment of a fit: before or after a question to the curator, or where noise was
    charged and isn't drawn yet."""

    def __init__(self, monkeypatch, error=KeyboardInterrupt):
        self.moments, self.at, self.error, self.raised = 0, None, error, False
        for name in QUESTIONS:
            monkeypatch.setattr(Curator, name, self.around(getattr(Curator, name)))
        for name in ("laplace_mechanism", "zero_sum_mechanism", "exponential_mechanism"):
            monkeypatch.setattr(curator_room, name, self.around(getattr(curator_room, name)))

    def around(self, function):
        def watched(*args, **kwargs):
            self.moment()
            answer = function(*args, **kwargs)
            self.moment()
            return answer

        return watched

    def moment(self):
        if self.moments == self.at:
            self.raised = True
            raise self.error
        self.moments += 1

    @contextlib.contextmanager
    def at_moment(self, at):
        self.moments, self.at, self.raised = 0, at, False
        with contextlib.suppress(self.error):
            yield
        self.at = None


def state(synth):
    """What an estimator shows, by identity: a released table that was written over shows, too."""
    return {name: id(value) for name, value in vars(synth).items() if name != "_unfinished"}


def faults(synth, before, spent):
    """What a failed fit has left that it shouldn't."""
    found = [] if state(synth) == before else ["something new is left"]
    partial = synth.unfinished_[-1] if synth.unfinished_ else None
    if partial is not None and synth.spent_ != spent + partial.epsilon:
        found.append("spent_ isn't the sum")
    return found


def interrupted(name, guarantee, error, monkeypatch):
    """For every moment of a second fit: faults, and what the partial ledger says was spent; ends
    with the fit that has no such moment any more. Seeded: every fit asks the same questions."""
    frame, schema = binary()
    options = {"epsilon": 9, "k": 1, "guarantee": guarantee, "random_state": 5}
    synth = make(name, schema, **options).fit(frame, schema)
    model = synth.model_
    with monkeypatch.context() as patch:
        stop = Stop(patch, error)
        for at in itertools.count():
            before, spent, failed = state(synth), synth.spent_, len(synth.unfinished_)
            with stop.at_moment(at):
                synth.fit(frame, schema)
            if not stop.raised:
                break
            assert synth.model_ is model
            more = len(synth.unfinished_) - failed
            yield faults(synth, before, spent), synth.unfinished_[-1].epsilon if more else Q(0)
    assert synth.model_ is not model
    assert synth.spent_ == spent + synth.ledger_.epsilon


@pytest.mark.parametrize(("name", "error"), STOPS)
def test_a_fit_that_is_stopped_anywhere_leaves_the_earlier_one(name, error, monkeypatch):
    seen = list(interrupted(name, "strict", error, monkeypatch))
    assert not any(found for found, _ in seen)
    spent = [epsilon for _, epsilon in seen]
    assert spent[0] == 0, "stopped before the first question"
    assert spent[-1] <= 9
    assert max(spent) == 9, "stopped when all was drawn"
    assert len(set(spent)) > 2 or name == "PriView", "one view, all at once"


@pytest.mark.slow
@algorithms
def test_a_published_fit_too(name, monkeypatch):
    seen = list(interrupted(name, "published", KeyboardInterrupt, monkeypatch))
    assert seen
    assert not any(found for found, _ in seen)


def test_twin_an_estimator_that_fits_in_place_is_found(monkeypatch):

    def in_place(self, ledger):
        del self.model_
        self._unfinished = (*self.unfinished_, ledger)
        return self

    frame, schema = binary()
    synth = make("HMPrivBayes", schema, epsilon=9).fit(frame, schema)
    monkeypatch.setattr(Recipe, "_copy", in_place)
    with monkeypatch.context() as patch:
        stop, before, spent = Stop(patch), state(synth), synth.spent_
        with stop.at_moment(12):
            synth.fit(frame, schema)
    assert stop.raised
    assert "something new is left" in faults(synth, before, spent)


class Lines:
    """Raises KeyboardInterrupt at the n-th line that runs in the modules that fit."""

    FILES = {room.__file__}

    def __init__(self, at):
        self.left = at

    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename not in self.FILES:
            return None
        if event == "line":
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
        return self


def whole(synth):
    """Whether what stands on an estimator comes from one fit."""
    model = synth.model_
    return (
        synth.ledger_ is model.ledger
        and synth.network_ is model.network
        and synth.n_ == model.n
        and synth.schema_ is model.schema
    )


def stopped_at_every_line(fitted, frame, schema):
    """(what stands there is one fit's, it is the new one's, what was spent meanwhile)."""
    for at in itertools.count():
        synth, model, spent = copy(fitted), fitted.model_, fitted.spent_
        tracing = sys.gettrace()
        sys.settrace(Lines(at))
        try:
            synth.fit(frame, schema)
        except KeyboardInterrupt:
            sys.settrace(tracing)
            yield whole(synth), synth.model_ is not model, synth.spent_ - spent
        else:
            return
        finally:
            sys.settrace(tracing)


def test_stopped_at_every_line_an_estimator_is_the_old_one_or_the_new_one():
    frame, schema = binary()
    synth = pds.baselines.Independent(1).fit(frame, schema)
    seen = list(stopped_at_every_line(synth, frame, schema))
    assert len(seen) > 40
    assert all(one for one, _, _ in seen)
    assert {spent for _, new, spent in seen if new} == {1}
    assert {spent for _, new, spent in seen if not new} == {0, 1}
    first = [spent for _, _, spent in seen].index(1)
    assert all(spent == 1 for _, _, spent in seen[first:]), "what was drawn stays spent"


def test_twin_attributes_that_are_put_in_place_one_by_one_are_found(monkeypatch):
    """An interrupt between two of them leaves a model beside another fit's ledger."""

    def one_by_one(self, run):
        for name, value in vars(run).items():
            setattr(self, name, value)

    one_by_one.__code__ = one_by_one.__code__.replace(co_filename=room.__file__)
    monkeypatch.setattr(Recipe, "_replace", one_by_one)
    frame, schema = binary()
    synth = pds.baselines.Independent(1).fit(frame, schema)
    assert not all(one for one, _, _ in stopped_at_every_line(synth, frame, schema))


class Halting(ExactNoise):
    """Waits with its first numbers until it is set free; ``fails``: is stopped then."""

    def __init__(self, fails=False):
        super().__init__()
        self.drawn, self.free, self.fails = threading.Event(), threading.Event(), fails

    def zero_sum_laplace(self, scale, shape):
        self.drawn.set()
        assert self.free.wait(60)
        if self.fails:
            raise KeyboardInterrupt
        return super().zero_sum_laplace(scale, shape)


def fit_halting(synth, noise):
    frame, schema = binary()
    with contextlib.suppress(KeyboardInterrupt):
        synth.fit(frame, schema, noise=noise)


class TestSpent:
    def test_every_fit_of_an_object_counts(self):
        frame, schema = binary()
        synth = pds.PrivBayes("1/3")
        assert (synth.spent_, synth.unfinished_) == (0, ())
        assert synth.fit(frame, schema).spent_ == Q(1, 3)
        assert synth.set_params(epsilon="1/2").fit(frame, schema).spent_ == Q(5, 6)
        assert synth.ledger_.epsilon == Q(1, 2)
        assert (synth.clone().spent_, synth.unfinished_) == (0, ())

    def test_a_refused_fit_spends_nothing(self):
        frame, schema = binary()
        synth = pds.PrivBayes(1).fit(frame, schema)
        before = dict(vars(synth))
        with pytest.raises(pds.BudgetError):
            synth.set_params(k=9).fit(frame, schema)
        assert vars(synth) == before | {"k": 9}
        assert (synth.spent_, synth.unfinished_) == (1, ())

    def test_half_a_fit_by_hand(self, monkeypatch):
        """Four histograms of 1/4: stopped at the third one's noise, three are charged."""
        frame, schema = binary()
        synth = pds.baselines.Independent(1)
        with monkeypatch.context() as patch:
            stop = Stop(patch)
            # Two moments of all questions, then four a table: its question, its noise, their ends.
            with stop.at_moment(11):
                synth.fit(frame, schema)
        assert synth.spent_ == Q(3, 4)
        assert [e.step for e in synth.unfinished_[0].entries] == [
            "table(b0)",
            "table(b1)",
            "table(b2)",
        ]
        with pytest.raises(AttributeError, match="no 'ledger_'"):
            synth.ledger_  # noqa: B018
        with pytest.raises(pds.BudgetError, match="not fitted yet"):
            synth.sample()
        assert synth.fit(frame, schema).spent_ == Q(7, 4)

    @pytest.mark.parametrize(("fails", "spent"), [(True, Q(5, 4)), (False, 2)])
    def test_a_fit_that_another_thread_has_begun_counts(self, fails, spent):
        """The first one ends while the second one is at its first table of four."""
        synth, first, second = pds.baselines.Independent(1), Halting(), Halting(fails)
        threads = []
        for noise in (first, second):
            threads.append(threading.Thread(target=fit_halting, args=(synth, noise)))
            threads[-1].start()
            assert noise.drawn.wait(60)
        for noise, thread in zip((first, second), threads, strict=True):
            noise.free.set()
            thread.join()
        assert synth.spent_ == spent

    def test_a_raw_read_can_not_be_added_up(self, monkeypatch):
        frame, schema = binary()
        synth = pds.HPPrivBayes(1, k=1, sensitive="b1", theta=0.01, guarantee="published")
        assert synth.fit(frame, schema).spent_ == float("inf")

    def test_a_new_fit_shows_nothing_of_the_one_before(self):
        """HMPrivBayes with public clusters makes no sketch: an earlier one is gone."""
        frame, schema = binary()
        synth = pds.Synthesizer(50, budget=pds.parts.Groups("b0")).fit(frame, schema)
        assert "groups_" in vars(synth)
        synth.set_params(budget=None).fit(frame, schema)
        assert "groups_" not in vars(synth)
