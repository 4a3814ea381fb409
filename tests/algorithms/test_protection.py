"""Who is protected: noise of group A against group B, budgets by ties, and what a policy misses.

All ratios are exact fractions.
"""

import warnings
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from privacy_tools import records_of

import pdsynth as pds
from pdsynth.core.noise import ExactNoise
from pdsynth.core.rules import COUNTING

SIZES = (2, 3, 2, 4, 2)
NAMES = tuple(f"x{j}" for j in range(len(SIZES)))
DRAWN = np.random.default_rng(8).integers(0, SIZES, (900, len(SIZES)))
DRAWN[:, 1] = np.where(np.arange(900) % 3, DRAWN[:, 0], DRAWN[:, 1])  # x1 goes with x0
RECORDS = records_of(DRAWN, SIZES)
APART = pds.Network(tuple((name, ()) for name in NAMES))
ALONE = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
FLAT = {"rare_values": "same_noise"}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def table_lines(fitted):
    """The line of each attribute's own table."""
    lines = [e for e in fitted.ledger_.entries if e.step.startswith("table(")]
    return {e.attributes[0]: e for e in lines}


def scales(fitted):
    """The least noise scale of each attribute's table, exact; of zero-sum noise, too."""
    return {n: np.min(np.ravel(e.scale)) for n, e in table_lines(fitted).items()}


def fit(budget, structure=APART, epsilon=1, seed=1):
    made = pds.Synthesizer(epsilon, structure=structure, budget=budget)
    return made.fit(RECORDS, noise=ExactNoise(seed))


class TestRatio:
    @given(
        members=st.sets(st.sampled_from(NAMES), min_size=1, max_size=4),
        r=st.fractions(Q(1, 12), Q(4), max_denominator=12),
    )
    @ALONE
    def test_noise_of_a_is_1_over_r_of_b_for_any_policy(self, members, r):
        b = [n for n in NAMES if n not in members]
        groups = pds.parts.SensitivityGroups(groups={"A": sorted(members), "B": b}, **FLAT)
        fitted = fit(pds.parts.Groups(r=r, personal=groups))
        noise = scales(fitted)
        ratios = {noise[i] / noise[j] for i in members for j in b}
        assert ratios == {1 / r}
        assert fitted.ledger_.epsilon == 1

    @pytest.mark.parametrize("k", [0, 1])
    def test_so_it_is_in_hpprivbayes_and_by_values_at_least_so(self, k):
        for rare_values in ("same_noise", "less_noise"):
            groups = {"A": ["x0"], "B": list(NAMES[1:])}
            personal = pds.parts.SensitivityGroups(groups=groups, rare_values=rare_values)
            fitted = pds.HPPrivBayes(2, k=k, r=1 / 4, personal=personal).fit(RECORDS)
            epsilon = {n: e.epsilon for n, e in table_lines(fitted).items()}
            assert {epsilon[n] / epsilon["x0"] for n in NAMES[1:]} == {Q(4)}

    def test_twin_the_thesis_ratio_of_groups_turns_around_for_a_small_group(self):
        """r = L2/L3 of whole groups: one member of A then has less noise than each of B."""
        groups = {"A": ["x0"], "B": list(NAMES[1:])}
        personal = pds.parts.SensitivityGroups(groups=groups, **FLAT)
        made = pds.Synthesizer(
            1, structure=APART, budget=pds.parts.Groups(r=1 / 3, personal=personal)
        )
        printed = made.clone().set_params(guarantee="published").fit(RECORDS)
        claimed = {n: e.claimed for n, e in table_lines(printed).items()}
        assert claimed["x0"] == Q(1, 4) > claimed["x1"] == Q(3, 16)
        strict = made.fit(RECORDS)
        assert scales(strict)["x0"] == 3 * scales(strict)["x1"]

    @given(low=st.integers(0, 50), more=st.integers(0, 50), seed=st.integers(0, 2**16))
    @ALONE
    def test_raising_theta_never_protects_a_member_of_a_less_than_one_outside(
        self, low, more, seed
    ):
        """With the same noise: whoever stays in A keeps more noise than all who are outside."""
        personal = pds.parts.SensitivityGroups(**FLAT)
        for theta in (low / 100, (low + more) / 100):
            budget = pds.parts.Groups("x0", theta=theta, r=1 / 3, personal=personal)
            fitted = fit(budget, epsilon=20, seed=seed)
            noise = scales(fitted)
            a, b = fitted.groups_["A"], fitted.groups_["B"]
            assert all(noise[i] == 3 * noise[j] for i in a for j in b)


class TestByTies:
    def test_the_more_tied_the_less(self):
        fitted = fit(pds.parts.ByTies("x0", half=0.1), epsilon=50)
        epsilon, ties = fitted.table_epsilon_, fitted.association_
        assert ties["x0"] == float("inf")
        assert epsilon["x0"] == min(epsilon.values())
        assert ties["x1"] > 0.1 > ties["x3"] and epsilon["x1"] < epsilon["x3"]
        expected = {n: 1 / (1 + min(max(t, 0), 1) / 0.1) for n, t in ties.items()}
        whole = sum(expected.values())
        share = sum(epsilon.values())
        for name in NAMES:
            assert epsilon[name] / share == pytest.approx(expected[name] / whole, rel=2e-2)

    def test_a_policy_is_exact_free_and_known_before(self):
        fitted = fit(pds.parts.ByTies(policy={"x0": "1/3", "x4": 2}))
        lines = table_lines(fitted)
        assert {n: e.epsilon / lines["x1"].epsilon for n, e in lines.items()} == {
            "x0": Q(1, 3),
            "x1": 1,
            "x2": 1,
            "x3": 1,
            "x4": 2,
        }
        assert len(fitted.ledger_.entries) == 5 and fitted.ledger_.epsilon == 1
        assert fitted.ledger_.attribute_epsilon().attrs["known"] == "before the run"

    def test_ties_are_named_by_what_follows(self):
        fitted = fit(pds.parts.ByTies("x2"))
        (line,) = [e for e in fitted.ledger_.entries if e.step.startswith("groups")]
        assert all(e.scale_depends_on == (line.id,) for e in table_lines(fitted).values())
        assert [c for c in fitted.ledger_.check() if not c.startswith("L10")] == []

    def test_structure_and_budget_share_one_set_of_columns(self):
        made = pds.Synthesizer(
            1, structure=pds.parts.Ordered(k=1), budget=pds.parts.ByTies("x0")
        ).fit(RECORDS)
        columns = [e for e in made.ledger_.entries if e.step.startswith("column(")]
        assert [e.attributes for e in columns] == [(n,) for n in NAMES]
        # 3/4 of the structure's sketch, 3/10 of 3/10, and 3/4 of the tables', 2/10 of 7/10
        assert sum(e.epsilon for e in columns) == Q(9, 100) * Q(3, 4) + Q(14, 100) * Q(3, 4)
        assert made.ledger_.epsilon == 1


class TestWarning:
    CHAIN = pds.Network((("x0", ()), *((n, ("x0",)) for n in NAMES[1:])))

    def grouped(self, r):
        personal = pds.parts.SensitivityGroups(groups={"A": ["x0", "x1"]}, **FLAT)
        return pds.parts.Groups(r=r, personal=personal)

    def test_a_parent_of_the_others_is_told_by_their_tables(self):
        """x0 stands in all five tables, so it loses all that tables cost, as with equal budgets."""
        with pytest.warns(UserWarning, match=r"lose as much ε.*x0 \(1, with equal budgets 1\)"):
            fit(self.grouped(1 / 3), self.CHAIN)

    def test_what_is_lost_is_never_written_smaller(self):
        """1.0004 was 1."""
        with pytest.warns(UserWarning, match=r"x0 \(1.001, with equal budgets 1.001\)"):
            fit(self.grouped(1 / 3), self.CHAIN, epsilon=1.0004)

    def test_no_warning_where_the_policy_holds(self, recwarn):
        warnings.simplefilter("always")
        fitted = fit(self.grouped(1 / 3))
        assert not [w for w in recwarn if "lose as much" in str(w.message)]
        loss = fitted.ledger_.attribute_epsilon()
        assert loss["x0"] == loss["x1"] == Q(1, 11) < loss["x2"] == Q(3, 11)

    def test_r_above_one_protects_group_b(self):
        chain = pds.Network((("x2", ()), *((n, ("x2",)) for n in NAMES if n != "x2")))
        with pytest.warns(UserWarning, match=r"x2 \(1, with equal budgets 1\)"):
            fit(self.grouped(3), chain)

    def test_without_groups_those_with_less_than_the_mean_are_named(self):
        only = r"have more: x0 \(1, with equal budgets 1\)\. Put"
        with pytest.warns(UserWarning, match=only):
            fit(pds.parts.ByTies(policy={"x0": "1/3"}), self.CHAIN)

    def test_equal_budgets_promise_nothing(self, recwarn):
        warnings.simplefilter("always")
        fit(self.grouped(1), self.CHAIN)
        assert not [w for w in recwarn if "lose as much" in str(w.message)]

    def test_where_all_are_to_lose_less_nobody_does(self):
        """No children to put elsewhere: five tables of 1/5 each, as without groups."""
        personal = pds.parts.SensitivityGroups(groups={"A": list(NAMES)}, **FLAT)
        with pytest.warns(UserWarning, match="none loses less than without groups: leave out"):
            fitted = fit(pds.parts.Groups(r=1 / 3, personal=personal), self.CHAIN)
        tables = [e.epsilon for e in fitted.ledger_.entries if e.step.startswith("table(")]
        assert tables == [Q(1, 5)] * 5


class TestResidualSketches:
    """What order, groups, clusters, tree and search are told is paid for, and used again."""

    MADE = {
        "HPPrivBayes": pds.HPPrivBayes(30, k=1, sensitive="x0"),
        "HMPrivBayes": pds.HMPrivBayes(300, k=2, l=1),
        "PPBA": pds.PPBA(30, k=1),
        "GeneticBayes": pds.GeneticBayes(30, k=1, search="hill"),
        "CSAPrivBayes": pds.baselines.CSAPrivBayes(30, k=1, sensitive="x0"),
        "PrivSCBN": pds.baselines.PrivSCBN(300, k=2, l=1),
    }

    @pytest.mark.parametrize("name", MADE)
    def test_columns_come_first_and_residuals_have_sensitivity_2_each(self, name):
        fitted = self.MADE[name].clone().fit(RECORDS)
        ledger = fitted.ledger_
        assert ledger.epsilon == ledger.claimed and ledger.check() == []
        noisy = [e for e in ledger.entries if e.mechanism in COUNTING]
        assert [e.step for e in noisy[:5]] == [f"column({n})" for n in NAMES]
        residuals = [e for e in noisy if e.lemma == "lemma:residuals"]
        assert residuals
        for e in residuals:
            pairs, times = e.domain_sizes
            assert e.sensitivity == 2 * pairs * times

    @pytest.mark.parametrize("name", MADE)
    def test_columns_are_used_again_unless_tables_stay_as_measured(self, name):
        """The agreed table of a column is nearer than the one that was measured with a pair."""
        exact = np.bincount(RECORDS.codes[:, 3], minlength=4) / RECORDS.n
        far = {}
        for reconcile in (None, pds.parts.AsMeasured()):
            gaps = []
            for seed in range(6):
                made = self.MADE[name].clone().set_params(reconcile=reconcile, epsilon=1)
                fitted = made.fit(RECORDS, noise=ExactNoise(seed))
                codes = fitted.model_.sample_codes(4_000, np.random.default_rng(seed), "balanced")
                seen = np.bincount(codes[:, 3], minlength=4) / 4_000
                gaps.append(np.abs(seen - exact).sum())
            far[reconcile is None] = np.mean(gaps)
        assert far[True] <= far[False] * 1.1

    def test_published_and_none_leave_tables_as_they_were_measured(self):
        for guarantee in ("published", "none"):
            made = pds.PPBA(5, k=1, guarantee=guarantee, random_state=2)
            one = made.clone().fit(RECORDS)
            two = made.clone().set_params(reconcile=pds.parts.AsMeasured()).fit(RECORDS)
            pairs = zip(one.model_.tables, two.model_.tables, strict=True)
            assert all((s == t).all() for s, t in pairs)
