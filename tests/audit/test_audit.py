"""pds.audit: the estimator, the exact detectors, the catalogue, black boxes and the command; each
with a twin that must fail."""

import io
import math
import re
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest
from fit_tools import zero_sum_law
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

import pdsynth as pds
from pdsynth import BudgetError, audit
from pdsynth import __main__ as command
from pdsynth.audit import estimator, floating, pairs, table_steps
from pdsynth.audit.attacks import Sampled, Sampling, bound_samples, likelihood_ratio
from pdsynth.audit.case import NOT_REFUTED, VIOLATED, Case, Effort
from pdsynth.audit.cases import CASES
from pdsynth.audit.detectors import BatchedNoise, RecordedNoise, law, selection_law
from pdsynth.audit.pairs import Pair, curator_of, one_step_pair, zeros_to_ones
from pdsynth.audit.transcripts import Transcripts
from pdsynth.core.measures import entropy_sensitivity, mutual_information_sensitivity
from pdsynth.core.noise import ExactNoise
from pdsynth.core.rules import COUNTING
from pdsynth.core.unit import TableBudget
from pdsynth.papers import courtroom
from pdsynth.published import ConditionalNoise

BROKEN = [name for name, case in CASES.items() if case.expect == VIOLATED]
SOUND = [name for name, case in CASES.items() if case.expect == NOT_REFUTED]
UNSEEN = [name for name, case in CASES.items() if case.expect == "unseen"]


def sound(name, pair, release, claimed):
    return Case(name, "", "", pair, Sampled(release), claimed, expect=NOT_REFUTED)


def find(case, runs, seed, audits=1):
    """What an audit finds; how strong it is isn't asked, which takes longer than the audit."""
    effort = Effort(runs, seed, audits=audits)
    if isinstance(case.attack, Sampling):
        return bound_samples(case.attack.samples(case, effort), effort)
    return case.attack.measure(case, effort)


def without_whole_fits(names):
    """Whole fits take seconds each: ``test_recorded_audits`` runs all; here is one of them."""
    first = "strict-independent"
    return [n for n in names if n == first or not isinstance(CASES[n].attack, Transcripts)]


class TestEstimator:
    def test_clopper_pearson_by_hand(self):
        assert estimator.upper_limit(0, 10, 0.025) == pytest.approx(1 - 0.025**0.1)
        assert estimator.lower_limit(10, 10, 0.025) == pytest.approx(0.025**0.1)
        assert (estimator.lower_limit(0, 10, 0.025), estimator.upper_limit(10, 10, 0.025)) == (0, 1)

    @pytest.mark.slow
    @given(st.integers(1, 400), st.data())
    @settings(max_examples=60)
    def test_the_limits_are_those_of_the_textbook(self, runs, data):
        hits = data.draw(st.integers(0, runs))
        low, high = (
            estimator.lower_limit(hits, runs, 0.025),
            estimator.upper_limit(hits, runs, 0.025),
        )
        assert low == pytest.approx(
            beta.ppf(0.025, hits, runs - hits + 1) if hits else 0, abs=1e-12
        )
        assert high == pytest.approx(
            beta.ppf(0.975, hits + 1, runs - hits) if hits < runs else 1, abs=1e-12
        )
        if (
            0 < hits
        ):  # the defining equation: so many hits or more have probability α under the lower limit
            assert binom.sf(hits - 1, runs, low) == pytest.approx(0.025, rel=1e-6)

    @pytest.mark.parametrize(("runs", "words"), [(20_000, 7.9), (200_000, 10.2), (400_000, 10.9)])
    def test_ceilings(self, runs, words):
        assert audit.ceiling(runs) == pytest.approx(words, abs=0.03)
        assert audit.ceiling(runs) == pytest.approx(math.log(runs / 2 / 3.69), abs=0.01)
        assert audit.ceiling(runs, audits=50) < audit.ceiling(runs) - 0.5

    def test_a_perfect_attack_reaches_the_ceiling(self):
        found = audit.lower_bound(np.zeros(2000, dtype=int), np.ones(2000, dtype=int))
        assert found.epsilon == pytest.approx(audit.ceiling(2000))
        assert "1000 of 1000" in found.event

    def test_only_integers_are_judged(self):
        with pytest.raises(TypeError, match="quantise"):
            audit.lower_bound(np.zeros(10), np.zeros(10))
        with pytest.raises(ValueError, match="four runs"):
            audit.lower_bound(np.array([1]), np.array([2]))
        assert audit.quantise([np.inf, -np.inf, np.nan, 0.3], 0.1).tolist() == [
            2**62,
            -(2**62),
            0,
            3,
        ]

    @pytest.mark.slow
    def test_it_keeps_its_confidence(self):
        """Worlds that are the same, 300 times: more than 0 about one time in twenty at most,
        whatever event is chosen."""
        rng = np.random.default_rng(5)
        found = [
            audit.lower_bound(*rng.integers(0, 1000, (2, 300))).epsilon > 0 for _ in range(300)
        ]
        assert sum(found) <= 300 * 0.05 + 3 * math.sqrt(300 * 0.05)

    @pytest.mark.slow
    def test_twin_without_separate_halves_it_claims_too_much(self):
        """The event chosen and measured on the same runs: nothing to find, and yet more than one
        time in twenty something is found."""
        rng = np.random.default_rng(5)

        def on_the_same_runs(p, q):
            chosen, sign, t = estimator._best_event([p, q], 0.025)
            hits, misses = (int((sign * x >= sign * t).sum()) for x in ((p, q), (q, p))[chosen])
            return math.log(
                float(estimator.lower_limit(hits, len(p), 0.025))
                / float(estimator.upper_limit(misses, len(p), 0.025))
            )

        found = [on_the_same_runs(*rng.integers(0, 1000, (2, 300))) > 0 for _ in range(300)]
        assert sum(found) > 300 * 0.05 + 3 * math.sqrt(300 * 0.05)

    def test_bonferroni_asks_for_more(self):
        p, q = audit.samples("strict-joint-counts", 4000, seed=1)
        assert audit.lower_bound(p, q, audits=50).epsilon < audit.lower_bound(p, q).epsilon <= 2

    def test_it_approaches_the_truth(self):
        """Randomised response at ε = 1: with many runs the bound is close below 1."""
        rng = np.random.default_rng(0)
        yes = math.e / (1 + math.e)
        found = audit.lower_bound(
            (rng.random(200_000) < yes).astype(int), (rng.random(200_000) < 1 - yes).astype(int)
        )
        assert 0.95 < found.epsilon < 1


class TestCatalogue:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", BROKEN)
    def test_every_broken_step_is_caught(self, name):
        case = CASES[name]
        plain = case.theory(Q(1)) >= 5  # fewer runs are enough
        found = find(case, 3000 if plain else 20_000, seed=3, audits=len(CASES))
        assert found.bound <= min(case.theory(case.claimed), found.ceiling) * (1 + 1e-9)
        assert found.bound > float(case.claimed) * (1 + 1e-9)

    @pytest.mark.parametrize("name", without_whole_fits(SOUND))
    def test_every_sound_step_is_left_alone(self, name):
        found = find(CASES[name], 4000, seed=4)
        assert 0 <= found.bound <= float(CASES[name].claimed)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", UNSEEN)
    def test_what_sampling_cannot_see_the_ledger_does(self, name):
        found = find(CASES[name], 20_000, seed=5)
        assert found.bound <= float(CASES[name].claimed)
        ledger = CASES[name].ledger()
        assert ledger.epsilon > ledger.claimed

    def test_raw_columns_stand_outside_the_account(self):
        """The ledger can't price what was read raw, here 2ε: it says so with ∞ and the step."""
        case = CASES["residual-against-raw-columns"]
        ledger = case.ledger()
        assert case.theory(case.claimed) == 2 and ledger.epsilon == math.inf
        assert {entry.step for entry in ledger.unaccounted} == {"what is expected"}

    @pytest.mark.parametrize(
        "name",
        [
            n
            for n in BROKEN + SOUND
            if not n.startswith("binary-")
            and n
            not in (
                "privabn-units",
                "sum-of-2-scores",
                "sum-of-4-scores",
                "hpprivbayes-shared-row-noise",
                "textbook-laplace-on-doubles",
                "residual-against-raw-columns",  # raw columns are outside any account: ledger, inf
                "median-of-one-record-more",  # so are raw counts of records left and right
            )
        ],
    )
    def test_theory_is_what_the_ledger_says(self, name):
        """The true ε of a case is computed by the ledger, too: the audit and the account are told
        apart by nothing but the runs."""
        case = CASES[name]
        ledger = case.ledger()
        if case.expect == NOT_REFUTED:
            assert ledger.epsilon <= case.claimed
            assert [v for v in ledger.check() if not v.startswith("L10")] == []
        elif case.theory(case.claimed) == math.inf:
            assert ledger.epsilon == math.inf
            assert all(e.source for e in ledger.unaccounted)
        elif name.startswith("privabn-"):
            lone = next(e for e in ledger.entries if e.step == "conditional(x1 | x0)")
            assert float(lone.epsilon) == pytest.approx(case.theory(case.claimed))
        else:
            assert float(ledger.epsilon) == pytest.approx(case.theory(case.claimed))

    def test_the_numbers_of_the_specification(self):
        """Exact ones to three digits; sampled ones are bounds of the same size with fewer runs."""
        exact = {
            "privabn-units": 1.375,
            "binary-sensitivity-on-three-values": 1.72,
            "binary-sensitivity-in-nats": 2.48,
        }
        for name, value in exact.items():
            assert audit.run(name).bound == pytest.approx(value, abs=0.005)
        assert audit.run("strict-selection").bound == pytest.approx(0.949, abs=0.001)
        assert audit.run("sum-of-2-scores").bound > 1.8
        assert audit.run("sum-of-4-scores").bound > 3.5

    def test_factors_of_sensitivities_are_their_formulas(self):
        general = mutual_information_sensitivity(2001, 3, 3) / entropy_sensitivity(2001)
        formulas = {
            "privabn-units": 1 / math.log(2),
            "binary-sensitivity-on-three-values": general,
            "binary-sensitivity-in-nats": general / math.log(2),
            "privabn-conditional-noise": pairs.NLTCS / 2 / table_steps.NLTCS_BITS,
            "hmprivbayes-dpsc-small-share": 52 // 2,
        }
        assert {name: CASES[name].factor for name in formulas} == pytest.approx(formulas, rel=1e-12)

    def test_names_twins_and_sources(self):
        frame = audit.catalogue()
        assert len(frame) == len(CASES) >= 50
        assert set(frame.columns) >= {
            "case",
            "about",
            "source",
            "claimed",
            "theory",
            "expected",
            "method",
            "tier",
            "twin",
        }
        assert set(frame["twin"]) - {""} <= set(SOUND)
        assert (frame["source"] != "").all() and (frame["about"] != "").all()
        assert set(frame["tier"]) == {"T0", "T1"}
        with pytest.raises(BudgetError, match="no audit case 'nonsense'.*privabn-units"):
            audit.run("nonsense")

    def test_the_same_seed_gives_the_same_audit(self):
        a, b = (audit.run("datasynthesizer-double-spending", 3000, seed=9) for _ in range(2))
        assert (a.bound, a.witness) == (b.bound, b.witness)
        assert audit.run("datasynthesizer-double-spending", 3000, seed=10).witness != a.witness

    def test_without_a_seed_it_draws_from_the_system(self):
        a, b = (audit.samples("strict-value-weights", 2000)[0] for _ in range(2))
        assert not np.array_equal(a, b)

    def test_another_epsilon(self):
        found = audit.run("datasynthesizer-double-spending", 20_000, epsilon=2, seed=1)
        assert (found.claimed, found.theory) == (2, 4)
        assert 2 < found.bound <= 4

    def test_progress(self):
        seen = []
        audit.run("jtree-sparse-vector", 4000, seed=1, progress=lambda *done: seen.append(done))
        assert seen[-1] == (4000, 4000)
        assert sorted(seen) == seen

    def test_a_result_shows_itself(self):
        found = audit.run("privabn-units")
        assert (
            "VIOLATED" in str(found) and "1.38" in str(found) and "computed exactly" in str(found)
        )
        assert "violated" in found._repr_html_() and "<table>" in found._repr_html_()
        other = audit.run("strict-value-weights", 2000, seed=1)
        assert (
            "NOT REFUTED" in str(other)
            and "prove" not in str(other)
            and "a perfect attack would show" in str(other)
        )
        with pytest.raises(AttributeError):
            other.bound = 0.0
        with pytest.raises(TypeError, match="nothing to sample"):
            audit.samples("privabn-units")

    def test_run_all_goes_through_the_names(self):
        seen, names = [], ["privabn-units", "strict-selection"]
        found = list(
            audit.run_all(1000, names=names, jobs=1, progress=lambda *done: seen.append(done))
        )
        assert [r.verdict for r in found] == [VIOLATED, NOT_REFUTED]
        assert seen == [(1, 2), (2, 2)]

    @pytest.mark.slow
    def test_run_all_in_processes_gives_the_same_in_the_same_order(self):
        names = ["strict-value-weights", "privabn-units", "strict-selection"]
        alone, together = (
            [r.row() | {"seconds": 0} for r in audit.run_all(300, names=names, seed=3, jobs=jobs)]
            for jobs in (1, 2)
        )
        assert [row["case"] for row in together] == names
        assert str(together) == str(alone)  # nan isn't equal to itself

    def test_run_all_refuses_before_it_starts(self):
        with pytest.raises(BudgetError, match="no audit case 'nothing'"):
            next(audit.run_all(1000, names=["strict-views", "nothing"], jobs=2))
        with pytest.raises(BudgetError):
            next(audit.run_all(-1, names=["strict-views"]))

    def test_an_audit_shows_one_bar_and_its_fits_none(self, monkeypatch, cmc):
        import tqdm.auto

        made, real = [], tqdm.auto.tqdm
        monkeypatch.setenv("PDSYNTH_PROGRESS", "1")
        monkeypatch.setattr(
            tqdm.auto,
            "tqdm",
            lambda *a, **o: (
                made.append((o["desc"], o["total"], o.get("disable", False)))
                or real(*a, **o | {"disable": True})
            ),
        )
        tables = cmc.frame[:50], cmc.frame[1:51]
        audit.black_box(
            lambda t: pds.PrivBayes(k=1).fit(t, cmc.schema), tables, lambda _: 0, 1, runs=4
        )
        assert [m for m in made if not m[2]] == [("audit", 4, False)]


class TestStrictAtEveryEpsilon:
    """T5 for tables: 20,000 releases a side, ε ∈ {0.5, 1, 2, 4}, three pairs; never above ε, above
    0.6 ε somewhere."""

    PAIRS = {
        "zeros to ones": lambda: zeros_to_ones(2),
        "a move in a row": lambda: one_step_pair(90, (0, 0), (0, 1), (2, 3), "one record moves"),
        "one cell emptied": lambda: one_step_pair(
            4, (1, 1), (0, 0), (2, 2), "the only record of a cell leaves it"
        ),
    }

    @pytest.mark.slow
    @pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
    def test_tables(self, epsilon):
        bounds = []
        for pair in self.PAIRS.values():
            case = sound("tables", pair, table_steps.one_way_tables, Q(str(epsilon)))
            bounds.append(find(case, 20_000, seed=int(10 * epsilon)).bound)
        assert max(bounds) <= epsilon
        assert max(bounds) >= 0.6 * epsilon


def divide_noise(patch, factor):
    """Noise of many runs whose scale is divided by a factor, behind the ledger's back."""
    for name in COUNTING:
        honest = getattr(BatchedNoise, name)
        patch.setattr(
            BatchedNoise,
            name,
            lambda noise, scale, shape, honest=honest: honest(noise, scale / factor, shape),
        )


class TestMany:
    def test_one_pass_is_many_independent_runs(self):
        """The law of the batch is the library's own: compare the histogram of one cell with the
        exact probabilities."""
        runs, scale = 60_000, 2.0
        door = curator_of([[0, 0]] * 3, (2, 2), BatchedNoise(runs, 1), Q(1))
        table = door.table((0, 1), TableBudget(Q(1)), step="t").counts
        assert table.shape == (runs, 2, 2)
        noise = table - np.array([[3, 0], [0, 0]])
        values, law = np.arange(-6, 7), zero_sum_law(4, Q(scale))
        known = np.array([sum(p for v, p in law.items() if v[0] == value) for value in values])
        for cell in noise.reshape(runs, 4).T:
            seen = np.array([(cell == v).mean() for v in values])
            assert np.abs(seen - known).max() < 0.01
        assert abs(np.corrcoef(noise.reshape(runs, 4).T)[0, 1] + 1 / 3) < 0.02
        apart = noise[1:].reshape(runs - 1, 4), noise[:-1].reshape(runs - 1, 4)
        assert abs(np.corrcoef(apart[0][:, 0], apart[1][:, 0])[0, 1]) < 0.02

    def test_steps_have_streams_of_their_own(self):
        noise = BatchedNoise(500, 7)
        a, b = (
            noise.child(s).discrete_laplace(np.array(Q(9), dtype=object), (3,))
            for s in ("one", "two")
        )
        assert a.shape == (500, 3)
        assert not np.array_equal(a, b)
        assert np.array_equal(
            a,
            BatchedNoise(500, 7).child("one").discrete_laplace(np.array(Q(9), dtype=object), (3,)),
        )

    def test_scales_a_row_reach_their_rows(self):
        door = curator_of([[0, 0]], (2, 3), BatchedNoise(4000, 3), Q(10))
        table = door.table((0, 1), TableBudget(Q(2), (Q(1), Q(1, 50))), step="t").counts
        spread = table.std(axis=0).mean(axis=1)
        assert spread[0] < 2 < 40 < spread[1]


class TestLikelihood:
    def test_by_hand(self):
        """Scales 2 and 4; a cell goes from 5 to 4, another from 0 to 1: T is the sum of (|t − c'| −
        |t − c|)/b."""
        asked = [
            [(COUNTING[0], np.array(Q(b), dtype=object), (m,)) for b, m in ((2, 2), (4, 1))]
        ] * 2
        statistic = likelihood_ratio(
            [[np.array([5, 7]), np.array([0])], [np.array([4, 7]), np.array([1])]], asked
        )
        released = [np.array([[5, 99], [4, -3], [9, 0]]), np.array([[0], [1], [1]])]
        step = (1 / 2 + 1 / 4) / 256
        expected = [(1 / 2 + 1 / 4) / step, -(1 / 2 + 1 / 4) / step, (1 / 2 - 1 / 4) / step]
        assert statistic(released, None).tolist() == [round(x) for x in expected]

    def test_scales_that_depend_on_the_records_have_no_likelihood_ratio(self):
        case = replace(
            CASES["hpprivbayes-raw-weights"],
            attack=Sampled(lambda *a: [table_steps.weighted_rows(7, [0, 1, 2, 3, 4], *a)]),
        )
        with pytest.raises(ValueError, match="same scales"):
            audit.run(case, 1000, seed=0)


class TestDetectors:
    def test_the_whole_law_is_a_distribution(self):
        case = CASES["strict-nested-selections"]
        p = law(lambda noise: case.publish(0, noise))
        assert sum(p.values()) == pytest.approx(1)
        assert len(p) > 10

    def test_a_selection_s_law(self):
        assert selection_law(np.array([0, 2]), 2).tolist() == pytest.approx(
            [math.e / (1 + math.e), 1 / (1 + math.e)]
        )

    def test_twin_a_raw_candidate_list_has_another_support(self):
        found = audit.run("privabn-candidates")
        assert found.bound == math.inf
        assert "is possible in D only" in found.witness

    def test_the_scale_test_asks_the_ledger_for_a_reason(self):
        broken, fine = (audit.run(f"{name}-risk-entropy") for name in ("hmprivbayes", "strict"))
        assert (broken.bound, fine.bound) == (math.inf, 0)
        assert "rule L5" in broken.witness

    def test_scales_of_a_function(self):
        case = CASES["hmprivbayes-risk-entropy"]
        tapes = RecordedNoise(), RecordedNoise()
        for world, tape in enumerate(tapes):
            case.publish(world, tape)
        seen = [[float(b) for b, _ in tape.find("discrete_laplace")] for tape in tapes]
        assert seen[0] != seen[1]
        assert [len(s) for s in seen] == [3, 3]

    def test_the_determinism_test_needs_noise_that_shows(self):
        assert "whatever the noise" in audit.run("genetic-raw-search").witness
        assert "changes with the noise" in audit.run("strict-search-on-a-sketch").witness


def noisy_count(table, rng, scale):
    return int(round(sum(table) + rng.laplace(0, scale)))


class TestBlackBox:
    def test_somebody_else_s_function(self):
        rng = np.random.default_rng(1)
        pair = ([0, 0, 0], [0, 0, 1])
        fine = audit.black_box(
            lambda t: noisy_count(t, rng, 1.0), pair, int, claimed=1, runs=4000, theory=1
        )
        assert fine.verdict == NOT_REFUTED
        assert fine.bound > 0.5
        broken = audit.black_box(
            lambda t: noisy_count(t, rng, 1 / 3), pair, int, claimed=1, runs=4000
        )
        assert broken.verdict == VIOLATED
        assert math.isnan(broken.theory)

    @pytest.mark.slow
    def test_a_library_synthesizer_by_its_rows(self):
        """Synthetic rows alone, from conditionals with PrivABN's noise at the size of a toy: how
        often x1 = 1 where x0 = 1."""
        schema = pds.Schema(
            (pds.Attribute.categorical("x0", [0, 1]), pds.Attribute.categorical("x1", [0, 1]))
        )
        rows = np.zeros((400, 2), dtype=np.uint8)
        rows[-1] = 1
        tables = [schema.decode(rows), schema.decode(np.vstack([rows[:-1], [[1, 0]]]))]
        network = pds.Network((("x0", ()), ("x1", ("x0",))))
        maker = pds.Synthesizer(
            0.5, structure=network, conditionals=ConditionalNoise(), guarantee="published"
        )

        def released(frame):
            return maker.fit(frame, schema).sample(1000)

        def statistic(frame):
            ones = frame[frame["x0"] == 1]["x1"].astype(int)
            return int(round(4 * (2 * ones.sum() - len(ones)) / math.sqrt(max(len(ones), 1))))

        found = audit.black_box(released, tables, statistic, claimed=0.5, runs=80)
        assert found.verdict == VIOLATED

    def test_twin_a_statistic_that_is_not_quantised_is_refused(self):
        with pytest.raises(TypeError, match="integers"):
            audit.black_box(lambda t: sum(t) + 0.5, ([0], [1]), float, claimed=1, runs=50)

    def test_a_pair_is_handed_on_by_its_rows(self):
        found = audit.black_box(
            lambda rows: int(rows.sum()), zeros_to_ones(2), int, claimed=1, runs=100
        )
        assert "all records are zeros" in found.witness
        assert found.verdict == VIOLATED


class TestFloatingPoint:
    def test_a_naive_audit_breaks_a_mechanism_that_is_right_on_paper(self):
        found = audit.exhibit(0.0625, 20_000, seed=0)
        assert found.naive > 1
        assert found.rounded <= 0.0625
        assert "unrounded" in str(found)

    def test_the_textbook_sampler_gives_its_count_away(self):
        rng = np.random.default_rng(0)
        for scale in (2.0, 4.0, 32.0):
            released = 1 + floating.textbook_laplace(rng.integers(-(2**52) + 1, 2**52, 4000), scale)
            assert floating.reachable(released, 1, scale).all(), "its own outputs are reachable"
            assert floating.reachable(released, 0, scale).mean() < 0.5, (
                "most of them from one count only"
            )

    def test_the_library_s_sampler_has_one_support(self):
        """T11: integers; no output is reachable from one neighbour only."""
        noise = ExactNoise(3).discrete_laplace(np.array(Q(4), dtype=object), (200_000,))
        assert noise.dtype == np.int64
        seen = [set((count + noise).tolist()) for count in (0, 1)]
        inner = set(range(-20, 22))
        assert inner <= seen[0] and inner <= seen[1]

    def test_textbook_noise_has_the_right_law_all_the_same(self):
        z = floating.textbook_laplace(
            np.random.default_rng(1).integers(-(2**52) + 1, 2**52, 200_000), 3.0
        )
        assert np.abs(z).mean() == pytest.approx(3, rel=0.02)


class TestTwins:
    """Sound steps with a planted slip: the same audit must see it."""

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["strict-views", "strict-value-weights"])
    def test_half_of_the_noise(self, name, monkeypatch):
        divide_noise(monkeypatch, 2)
        assert find(CASES[name], 10_000, seed=1).bound > float(CASES[name].claimed)

    def test_a_forgotten_table(self):
        def forgetful(door, noise, epsilon):
            door.ledger.claimed = (
                3 * epsilon
            )  # the slip is in the split, the ledger was told otherwise
            return table_steps.release(door, [(0,), (1,), (2,)], TableBudget(epsilon))

        case = sound("forgetful", lambda: zeros_to_ones(3), forgetful, Q(1))
        assert audit.run(case, 20_000, seed=1).verdict == VIOLATED

    def test_noise_that_is_drawn_again_from_one_seed_cancels(self):
        def again(door, noise, epsilon):
            first = door.table((0,), TableBudget(epsilon / 2), step="t").counts
            return first - first + door.peek("again", "a seed used twice", (0,))

        case = replace(
            CASES["strict-joint-counts"],
            expect=VIOLATED,
            pair=lambda: zeros_to_ones(1),
            attack=Sampled(again, lambda t, pair: t[..., 1]),
        )
        assert audit.run(case, 1000, seed=1).bound == pytest.approx(audit.ceiling(1000))


class TestCommand:
    def speak(self, *words):
        out = io.StringIO()
        with redirect_stdout(out):
            status = command.main(["audit", *words])
        return status, out.getvalue()

    def test_one_line_a_case(self):
        status, said = self.speak(
            "--case", "privabn-units", "--case", "strict-selection", "--jobs", "1"
        )
        legend, head, first, second, last = said.strip().split("\n")
        assert status == 0 and "multiple of the claim" in legend
        names = ["case", "claimed", "theory", "bound", "ceiling", "sees", "moves", "runs"]
        assert head.split() == [*names, "verdict"]
        numbers = ["1", "1.44", "1.38", "∞", "1", "0", "0"]
        assert first.split() == ["privabn-units", *numbers, "violated"]
        assert second.split()[-2:] == ["not", "refuted"]
        assert last == "2 of 2 as expected"
        assert "bound: lost at least, all bounds together with 95 % confidence" in legend

    @pytest.mark.parametrize("words", [("--runs", "3"), ("--seed", "-1")])
    def test_mistaken_numbers_are_named_as_the_option_is(self, words, capsys):
        """A table's head was printed, and then ``random_state`` was refused, which no option is."""
        status, said = self.speak("--case", "privabn-units", *words)
        assert (status, said) == (2, "") and f"'{words[0]}'" in capsys.readouterr().err

    def test_deep_runs_are_no_others(self, capsys):
        """It went on for hours, whatever --runs said."""
        assert self.speak("--case", "strict-sketch", "--deep", "--runs", "100") == (2, "")
        assert "leave out --runs" in capsys.readouterr().err

    def test_one_case_sees_and_several_see(self):
        good = audit.run("strict-joint-counts", 100, seed=1)
        for times, words in ((1, "1 sound sampled case sees "), (2, "2 sound sampled cases see ")):
            with redirect_stdout(io.StringIO()) as out:
                command.print_audits([good] * times)
            assert words in out.getvalue()

    def test_status_1_when_a_sound_case_is_violated_or_a_broken_one_passes(self):
        good = audit.run("privabn-units")
        for wrong in (replace(good, expect=NOT_REFUTED), replace(good, verdict=NOT_REFUTED)):
            with redirect_stdout(io.StringIO()) as out:
                assert command.print_audits([good, wrong]) == 1
            assert "not: privabn-units" in out.getvalue()
        with redirect_stdout(io.StringIO()):
            assert command.print_audits([good]) == 0

    def test_the_whole_command_ends_with_1_where_a_sound_step_loses_too_much(self, monkeypatch):
        words = "--case strict-joint-counts --jobs 1 --runs 1000 --seed 1".split()
        assert self.speak(*words)[0] == 0
        divide_noise(monkeypatch, 8)
        status, said = self.speak(*words)
        assert status == 1 and "<-- expected: not refuted" in said and "not: strict-joint" in said

    def test_and_where_a_broken_step_is_not_caught(self, monkeypatch):
        name, mended = "privabn-units", CASES["strict-selection"].attack
        words = ["--case", name, "--jobs", "1"]
        assert self.speak(*words)[0] == 0
        monkeypatch.setitem(CASES, name, replace(CASES[name], attack=mended))
        status, said = self.speak(*words)
        assert status == 1 and "<-- expected: violated" in said and f"not: {name}" in said

    def test_a_list_has_the_named_cases_and_a_wrong_name_is_no_success(self):
        status, said = self.speak("--list", "--case", "privabn-units")
        assert status == 0 and said.startswith("privabn-units ") and said.count("\n") == 1
        status, said = self.speak("--list")
        assert status == 0 and said.count("\n") == len(CASES)
        assert self.speak("--list", "--case", "nope")[0] == 2
        assert self.speak("--all", "--case", "privabn-units")[0] == 2

    @pytest.mark.slow
    def test_it_says_what_sampling_sees_where_few_answers_move(self):
        words = ["--case", "strict-joint-counts", "--case", "strict-joint-tables"]
        status, said = self.speak(*words, "--jobs", "1", "--runs", "1000", "--seed", "1")
        found = re.findall(r"^Where (.*) move, 1 sound .* ([\d.]+) times the claim", said, re.M)
        assert status == 0 and [part for part, _ in found] == [
            "at most 2 answers",
            "more answers",
        ]
        assert float(found[0][1]) < float(found[1][1])

    def test_deep_audits_are_those_of_the_courtroom(self, monkeypatch):
        """``--all --deep --seed 7`` asks for what figure 2 of the courtroom has, bit by bit."""
        seen, good = {}, audit.run("privabn-units")
        monkeypatch.setattr(
            audit, "_run_alone", lambda name, effort: seen.setdefault(name, effort) and good
        )
        assert self.speak("--all", "--deep", "--seed", "7", "--jobs", "1")[0] == 0
        paper = courtroom.PAPER
        listed = courtroom.audits(2, paper.settings())
        assert [one.case for one in listed] == list(seen)
        for one in listed:
            asked = seen[one.case].runs, seen[one.case].audits, seen[one.case].seed
            assert asked == (one.runs, one.together, one.seed(paper.seed))
        assert len({effort.seed for effort in seen.values()}) == len(CASES)

    def test_list_and_unknown_names(self):
        status, said = self.speak("--list")
        assert status == 0
        assert len(said.strip().split("\n")) == len(CASES)
        assert self.speak("--case", "nonsense")[0] == 2
        assert self.speak()[0] == 2

    @pytest.mark.slow
    def test_as_a_process_with_two_workers(self):
        words = [
            "audit",
            "--case",
            "privabn-units",
            "--case",
            "strict-value-weights",
            "--runs",
            "1000",
            "--jobs",
            "2",
            "--seed",
            "1",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "pdsynth", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "2 of 2 as expected" in done.stdout


def test_tables_of_a_case_are_neighbours():
    for case in CASES.values():
        pair = case.tables
        if len(pair.before) == len(pair.after):
            assert (np.asarray(pair.before) != np.asarray(pair.after)).any(axis=1).sum() == 1, (
                case.name
            )
        else:
            assert abs(len(pair.before) - len(pair.after)) == 1, case.name


def test_a_pair_in_words():
    assert "n = 9, 1 record replaced" in str(zeros_to_ones(3))
    assert "n = 9 → 10" in str(pairs.one_more())
    swapped = zeros_to_ones(2).swapped()
    assert isinstance(swapped, Pair) and swapped.before[-1].tolist() == [1, 1]


def test_the_quiet_run_writes_the_ledger_of_the_step():
    ledger = CASES["hmprivbayes-clusters"].ledger()
    assert (ledger.claimed, ledger.epsilon) == (1, 5)
    tape = RecordedNoise()
    CASES["strict-joint-counts"].publish(0, tape)
    assert [kind for kind, _, _ in tape.asked] == ["zero_sum_laplace"] * 2
    assert CASES["hmprivbayes-dpsc"].theory(Q(2)) == 6
