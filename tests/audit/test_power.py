"""T23: whole fits under attack by their answers' likelihood ratio, on the worst pair."""

import json
import math
from dataclasses import replace
from fractions import Fraction as Q
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from privacy_tools import quick_case

from pdsynth import audit
from pdsynth.audit import estimator, pairs, power
from pdsynth.audit.attacks import Sampled, bound_samples, find_cells, listen
from pdsynth.audit.case import Effort
from pdsynth.audit.detectors import BatchedNoise, PrefetchedNoise
from pdsynth.audit.pairs import one_step_pair, replace_last, zeros_to_ones
from pdsynth.audit.replays import Change, replay_fits
from pdsynth.audit.tape import Asked, Recorder, plain
from pdsynth.audit.transcripts import Transcripts, odds, one_walk, template
from pdsynth.core.errors import BudgetError, SchemaError
from pdsynth.core.noise import ExactNoise

WHOLE = [name for name, case in audit.CASES.items() if isinstance(case.attack, Transcripts)]
RECORDED = json.loads(Path(__file__).with_name("recorded_audits.json").read_text(encoding="utf-8"))
SOUND = {name: row for name, row in RECORDED["cases"].items() if row["expect"] == audit.NOT_REFUTED}
FEW = [name for name, row in SOUND.items() if row["moves"] in (1, 2)]
STEPS = [
    name
    for name in SOUND
    if isinstance(attack := audit.CASES[name].attack, Sampled) and attack.statistic is None
]


def fit_pairs(added):
    """Pairs for exact replay, of which the worst is audited by sampling; or of a record more."""
    if added:
        return pairs.one_more(2), pairs.one_more(3)
    i = np.arange(12)
    tied = np.column_stack([i % 2, i % 2, i // 2 % 2])
    broken = replace_last(tied, tied[-1] ^ [0, 1, 0], (2, 2, 2), "one record breaks x1 = x0")
    row = one_step_pair(90, (0, 1, 0), (0, 2, 0), (2, 3, 2), "one record takes another value")
    alike = zeros_to_ones(2), zeros_to_ones(3)
    return *alike, pairs.tie_moves(), broken, pairs.first_deviates(), row


def loss_of(case):
    """Σ |c − c'|/b over the cells that a pair of tables changes: what it can lose, exactly."""
    cells = find_cells(*listen(case))
    return sum(
        float((np.abs(before - after) / scale).sum()) for _, before, after, scale, _ in cells
    )


def losses_of(case):
    """What replay finds on each of the pairs: (pair, largest loss, moving tables)."""
    added = len(case.tables.before) != len(case.tables.after)
    for pair in fit_pairs(added):
        on = replace(case, pair=lambda pair=pair: pair)
        fits = tuple(partial(case.attack.fit, on, world) for world in (0, 1))
        change = Change(tuple(f"x{j}" for j in range(len(pair.sizes))), None, added)
        try:
            found = replay_fits(fits, change, name=case.name, walks=4, seed=0)
        except (BudgetError, SchemaError):
            continue  # clusters of attributes that this pair hasn't got
        assert found.ok, found
        yield pair, found.log_ratio, found.moved


def refuted(case, runs, seed):
    """Whether an audit sees a violation; how strong it is isn't asked, which takes longer."""
    effort = Effort(runs, seed)
    found = bound_samples(case.attack.samples(case, effort), effort)
    return found.bound > float(case.claimed)


LAWS = "discrete_laplace", "zero_sum_laplace"


def scaled(patch, kind, law, times):
    """Noise of one law is so many times as wide as its line says."""
    honest = getattr(kind, law)
    patch.setattr(kind, law, lambda noise, scale, shape: honest(noise, scale * times, shape))


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_the_pair_of_a_whole_fit_is_the_worst_that_replay_finds(name):
    case = quick_case(audit.CASES[name])
    found = list(losses_of(case))
    (mine,) = [
        (loss, -moved)
        for pair, loss, moved in found
        if (str(pair), pair.sizes) == (str(case.tables), case.tables.sizes)
    ]
    worst = max(loss for _, loss, _ in found)
    fewest = min(moved for _, loss, moved in found if loss > worst * (1 - 1e-9))
    assert mine[0] > worst * (1 - 1e-9) and -mine[1] == fewest
    assert mine[0] > 0.6 * float(case.claimed)


class TestOdds:
    def test_by_hand(self):
        law = np.asarray(2, dtype=object)
        first = Asked(("t",), "table", np.array([5, 0]), law, answer=np.array([7, -1]))
        second = Asked(("t",), "table", np.array([4, 1]), law, answer=first.answer)
        assert odds(first, second) == (3 - 2) / 2 + (2 - 1) / 2
        rows = (1, 2, False)
        choice = Asked(("t",), "choice", np.array([0, 2]), rows, answer=1)
        other = Asked(("t",), "choice", np.array([0, 0]), rows, answer=1)
        assert odds(choice, other) == pytest.approx(math.log(2 / (1 + math.e)))
        wide = replace(second, law=np.asarray(4, dtype=object), data=first.data)
        z = np.array([2, 1])
        logs = [np.log(np.tanh(0.5 / b)) * 2 - z.sum() / b for b in (2, 4)]
        assert odds(first, wide) == pytest.approx(logs[0] - logs[1]), "another scale"

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["strict-privbayes", "strict-elprivbayes"])
    def test_it_is_a_likelihood_ratio(self, name):
        """E[exp(−T)] = 1 over the first table's fits, E[exp(T)] = 1 over the second's."""
        first, second = audit.samples(quick_case(audit.CASES[name]), 20 * 400, seed=3)
        for values in (-first, second):
            ratio = np.exp(values / 256)
            assert abs(ratio.mean() - 1) < 5 * ratio.std() / math.sqrt(len(ratio))

    def test_an_answer_that_one_table_alone_can_give_is_endless(self):
        case = audit.CASES["strict-independent"]
        broken = replace(case, pair=lambda: zeros_to_ones(2))
        fits = broken.attack

        class Leaky(Transcripts):
            def fit(self, case, world, noise):
                noise.child("raw" if world else "other").below(3)
                return fits.fit(case, world, noise)

        leaky = replace(broken, attack=Leaky(fits.release, slow=1))
        found = audit.run(leaky, 200, seed=0)
        assert found.verdict == audit.VIOLATED and found.bound == pytest.approx(found.ceiling)


APART = [name for name in WHOLE if audit.CASES[name].attack.apart]


def questions(case, world, at):
    """What a fit asks about both tables, whatever was answered."""
    walked = one_walk(case, world, Recorder(ExactNoise([5, world, at])), at)
    assert not walked.parted
    return [
        [(asked.label, asked.kind, plain(asked.data), plain(asked.law)) for asked in pair]
        for pair in walked.pairs
    ]


@cache
def whole_fits(name):
    """The statistic of fits of each table, one after the other: 1,000 of the quickest, by which
    the twins are told, and 400 of the others, which walk the same way."""
    case, fits = quick_case(audit.CASES[name]), 1000 if name == "strict-independent" else 400
    return case.attack.samples(case, Effort(20 * fits, 3))


def gap(first, second):
    """The largest difference of the shares of two samples below any value, in standard errors."""
    at = np.unique(first)
    shares = [np.searchsorted(np.sort(x), at, side="right") / len(x) for x in (first, second)]
    p = np.clip(shares[1], 0.01, 0.99)
    return float((np.abs(shares[0] - shares[1]) / np.sqrt(p * (1 - p) / len(first))).max())


class TestApart:
    """Where every fit asks for the same tables, noise in one batch has the law of whole fits."""

    @pytest.mark.slow
    @pytest.mark.parametrize("name", APART)
    def test_every_fit_asks_the_same_whatever_was_answered(self, name):
        case = audit.CASES[name]
        for world in (0, 1):
            first = questions(case, world, 0)
            assert {kind for pair in first for _, kind, *_ in pair} == {"table"}
            assert all(questions(case, world, at) == first for at in range(1, 30))

    @pytest.mark.slow
    @pytest.mark.parametrize("name", APART)
    def test_a_batch_has_the_law_of_whole_fits(self, name):
        case, fits = audit.CASES[name], whole_fits(name)
        batch = case.attack.samples(case, Effort(20 * 30_000, 3))
        assert {len(x) for x in fits} <= {400, 1000} and {len(x) for x in batch} == {30_000}
        assert all(gap(*both) < 4 for both in zip(fits, batch, strict=True))

    @pytest.mark.slow
    def test_twins_other_noise_and_another_world_are_seen(self, monkeypatch):
        case, fits = audit.CASES["strict-independent"], whole_fits("strict-independent")
        batch = case.attack.samples(case, Effort(20 * 30_000, 3))
        assert gap(fits[0], batch[1]) > 8
        for law in LAWS:
            scaled(monkeypatch, ExactNoise, law, Q(3))
        other = case.attack.samples(case, Effort(20 * 30_000, 3))
        assert gap(fits[0], other[0]) > 5

    def test_twin_an_algorithm_that_chooses_is_refused(self):
        case = audit.CASES["strict-privbayes"]
        assert len({str(questions(case, 0, at)) for at in range(20)}) > 1
        chooses = replace(case, attack=replace(case.attack, apart=True))
        with pytest.raises(ValueError, match="more than tables"):
            chooses.run(Effort(audit.DEEP, 1))


class TestPower:
    @pytest.mark.parametrize(("tables", "known"), [(1, 1.1), (2, 1.25), (3, 1.45), (4, 1.7)])
    def test_moving_tables_as_simulated(self, tables, known):
        """ε = 1, 20,000 fits a side."""
        cells = [
            power.Cells(np.ones(2, dtype=bool), np.zeros(2), np.array([1, -1]), np.full(2, scale))
            for scale in [2.0 * tables] * tables
        ]
        worlds = [
            [power.Template(tuple(c._replace(after=sign * c.after) for c in cells))]
            for sign in (1, -1)
        ]
        simulation = power.simulate_templates(worlds)
        assert simulation.moves == tables
        assert 0.85 * known < power.detectable(simulation, 1.0, 1.0, 20_000, 1) < 1.05 * known

    @pytest.mark.slow
    @pytest.mark.parametrize("name", FEW)
    def test_deep_audits_see_a_small_violation_where_two_answers_move(self, name):
        """What ``--deep`` prints: the error is shared by all cases."""
        case = audit.CASES[name]
        simulation, claimed = case.attack.simulate(case), float(case.claimed)
        assert simulation.moves <= 2
        runs = case.attack.runs(Effort(audit.DEEP)) if name in WHOLE else audit.DEEP
        assert power.detectable(simulation, claimed, claimed, runs, len(audit.CASES)) <= 1.5

    def test_they_are_all_such_cases_and_some_fit_whole_algorithms(self):
        fits = {name: audit.CASES[name].attack.runs(Effort(audit.DEEP)) for name in WHOLE}
        assert {*FEW} & {*WHOLE} == {name for name in WHOLE if fits[name] == 20_000}
        assert {"strict-independent", "strict-jtree", "strict-priview"} <= {*FEW}
        assert {*fits.values()} == {1_000, 20_000}
        assert len(FEW) >= 7

    @pytest.mark.parametrize("name", STEPS)
    def test_the_pair_of_a_sound_step_loses_all_that_it_claims(self, name):
        """Else no number of runs could show a small violation."""
        assert loss_of(audit.CASES[name]) == pytest.approx(float(audit.CASES[name].claimed))

    def test_twin_a_pair_that_one_of_two_tables_does_not_notice(self):
        case = audit.CASES["strict-joint-counts"]
        half = replace(case, pair=pairs.lone_record)
        assert loss_of(half) == pytest.approx(loss_of(case) / 2)
        simulation = half.attack.simulate(half)
        assert power.detectable(simulation, 2.0, 2.0, audit.DEEP, len(audit.CASES)) > 2

    def test_a_perfect_attack_sees_everything_and_a_blind_one_nothing(self):
        apart = power.Simulation(lambda f: (np.full(4000, 9.0), np.full(4000, -9.0)))
        alike = power.Simulation(lambda f: (np.arange(4000.0), np.arange(4000.0)))
        assert power.detectable(apart, 1.0, 1.0, 20_000, 1) == pytest.approx(1, abs=0.02)
        assert power.detectable(alike, 1.0, 1.0, 20_000, 1) == math.inf

    def test_the_expected_bound_is_what_audits_find(self):
        rng = np.random.default_rng(0)
        draws = [rng.normal(mean, 1, 60_000) for mean in (0.5, -0.5)]
        found = [
            audit.lower_bound(
                *(audit.quantise(rng.normal(mean, 1, 4000), 0.01) for mean in (0.5, -0.5))
            ).epsilon
            for _ in range(15)
        ]
        assert estimator.best_bound(draws, 2000) == pytest.approx(np.median(found), rel=0.15)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["strict-value-weights", "strict-joint-tables"])
    def test_half_of_the_audits_see_what_is_printed(self, name, monkeypatch):
        """Planted below, at and above the factor: none, some, and nearly all are caught."""
        seen = audit.run(name, 2000, seed=0).detectable

        def caught(factor, tries=9):
            with monkeypatch.context() as patch:
                for law in LAWS:
                    scaled(patch, BatchedNoise, law, 1 / factor.limit_denominator(1000))
                return sum(refuted(audit.CASES[name], 2000, s) for s in range(tries))

        assert caught(Q(1)) == 0
        assert 1 <= caught(Q(seen)) <= 8
        assert caught(Q(1.4 * seen)) >= 7

    def test_what_was_not_measured_is_not_said(self):
        """Where no ε holds, power isn't measured: "violated" stood above "doesn't see noise"."""
        found = audit.run("hpprivbayes-raw-weights", 1000, seed=1)
        assert found.verdict == "violated" and found.theory == found.detectable == math.inf
        assert "of all tries" not in str(found) and "of all tries" not in found._repr_html_()
        missed = audit.run("hmprivbayes-dpsc-small-share", 1000, seed=1)
        assert missed.detectable == math.inf > missed.theory
        assert "escapes an audit like this in more than half of all tries" in str(missed)

    def test_simulated_noise_has_the_law_of_the_library(self):
        rng = np.random.default_rng(1)
        quick = power.draw_laplace(rng, np.array([3.0]), (200_000, 1)).ravel()
        exact = ExactNoise(1).discrete_laplace(np.array(3, dtype=object), (200_000,))
        for value in range(-6, 7):
            assert abs((quick == value).mean() - (exact == value).mean()) < 0.005

    @pytest.mark.slow
    def test_a_template_s_ratio_is_that_of_its_walks(self):
        case = quick_case(audit.CASES["strict-privbayes"])
        templates = [
            template(one_walk(case, 0, Recorder(ExactNoise([7, i])), i)) for i in range(60)
        ]
        rng = np.random.default_rng(0)
        simulated = np.concatenate([t.simulate(1.0, 100, rng) for t in templates])
        real = audit.samples(case, 20 * 300, seed=5)[0] / 256
        assert simulated.mean() == pytest.approx(real.mean(), abs=0.2)
        assert simulated.std() == pytest.approx(real.std(), rel=0.2)


class TestPlanted:
    """Sampling sees what is planted in whole fits, where the printed power says that it can."""

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["strict-priview", "strict-independent"])
    def test_a_factor_above_what_is_printed(self, name, monkeypatch):
        case = quick_case(audit.CASES[name])
        seen = case.run(Effort(20 * 400, 1)).detectable
        assert 1 < seen < 3
        for law in LAWS:
            scaled(monkeypatch, PrefetchedNoise, law, 1 / Q(1.5 * seen).limit_denominator(100))
        # The tape still hears the ledger's scales: the attack doesn't know what is planted.
        assert all(refuted(case, 20 * 400, s) for s in range(2))

    def test_exact_lines_see_any_violation_and_support_tests_none_but_the_endless(self):
        assert audit.run("privabn-units").detectable == 1
        assert audit.run("hmprivbayes-risk-entropy").detectable == math.inf
        assert audit.run("strict-search-on-a-sketch").detectable == math.inf
        caught = audit.run("hpprivbayes-shared-row-noise", 1000, seed=0)
        assert caught.detectable == math.inf and caught.verdict == audit.VIOLATED
        missed = replace(caught, verdict=audit.NOT_REFUTED, theory=2.0)
        assert "escapes" not in str(caught) and "escapes" in str(missed)
        assert math.isnan(
            audit.black_box(lambda t: t[0], ([0], [1]), int, claimed=1, runs=50).detectable
        )
