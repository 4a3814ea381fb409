"""HPPrivBayes: what a strict run pays for, what the printed one leaves out, and per-value noise
worked out exactly."""

import itertools
import math
from dataclasses import fields
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from contract_cases import spending, total
from privacy_tools import neighbourhoods

from pdsynth import Attribute, BudgetError, ConsistentBayes, HPPrivBayes, Schema
from pdsynth.algorithms import value_weights
from pdsynth.algorithms.hpprivbayes import SensitivityGroups
from pdsynth.answers.laws import discrete_laplace_pmf
from pdsynth.baselines import WeightedPrivBayes
from pdsynth.core.errors import BudgetDegenerate, as_fraction
from pdsynth.core.network import Restriction
from pdsynth.core.unit import histogram_cost, tight_scales
from pdsynth.published.budgets import printed_scales, sensitivity_weights

NAMES = tuple(f"x{j}" for j in range(5))


def table(n: int = 60, seed: int = 0, groups=None) -> tuple[pd.DataFrame, Schema]:
    """S = x0; x1 copies it, x2 half follows it, x3 and x4 don't; three or four values each, one of
    them rare."""
    rng = np.random.default_rng(seed)
    s = rng.choice(3, n, p=[0.5, 0.4, 0.1])
    loose = np.where(rng.random(n) < 0.6, s, rng.integers(0, 3, n))
    columns = [s, s, loose, rng.choice(4, n, p=[0.7, 0.2, 0.05, 0.05]), rng.integers(0, 3, n)]
    attributes = tuple(
        Attribute.categorical(x, range(size))
        for x, size in zip(NAMES, (3, 3, 3, 4, 3), strict=True)
    )
    schema = Schema(attributes, groups=groups or {})
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True))), schema


def hp(epsilon=1.0, **params) -> HPPrivBayes:
    own = {
        name: params.pop(name)
        for name in [f.name for f in fields(SensitivityGroups)]
        if name in params
    }
    return HPPrivBayes(
        epsilon,
        **{"sensitive": "x0", "random_state": 7, "personal": SensitivityGroups(**own), **params},
    )


def broken(ledger) -> set[str]:
    """Codes of the broken rules; a seed alone breaks L10."""
    return {v.split()[0] for v in ledger.check()} - {"L10"}


def of(ledger, words: str):
    return [e for e in ledger.entries if words in e.step]


def group_cost(fitted, group: str) -> Q:
    return sum((of(fitted.ledger_, f"table({x}")[0].epsilon for x in fitted.groups_[group]), Q(0))


POLICIES = {
    "sketch": None,
    "policy": {"A": ["x0", "x2"], "B": ["x1", "x3", "x4"]},
    "all in A": {"A": list(NAMES), "B": []},
    "all but S in B": {"B": list(NAMES[1:])},
}


class TestStrictLedger:
    @pytest.mark.parametrize(
        ("rare_values", "policy"),
        list(itertools.product(["less_noise", "more_noise", "same_noise"], POLICIES)),
    )
    @pytest.mark.parametrize(
        ("k", "r", "epsilon"),
        [(0, 1 / 3, 1), (1, 1 / 6, 0.7), (2, 0.5, 2.345), ("auto", 3, 1 / 3), ("auto", 1, 200)],
    )
    def test_exactly_epsilon_in_every_combination(self, rare_values, policy, k, r, epsilon):
        frame, schema = table()
        fitted = hp(epsilon, k=k, r=r, rare_values=rare_values, groups=POLICIES[policy]).fit(
            frame, schema
        )
        ledger = fitted.ledger_
        assert ledger.epsilon == total(ledger) == as_fraction(epsilon)
        assert ledger.unaccounted == []
        assert broken(ledger) == set()
        if fitted.groups_["B"]:
            a, b = (len(fitted.groups_[group]) for group in "AB")
            ratio = (group_cost(fitted, "A") / a) / (group_cost(fitted, "B") / b)
            assert ratio == as_fraction(r), "of one table against one table"

    @pytest.mark.parametrize(("theta", "in_b"), [(0, {0}), (5.1, set(range(5)))])
    def test_the_sketch_may_put_all_or_nothing_in_b(self, theta, in_b):
        frame, schema = table()
        for seed in range(4):
            fitted = hp(0.7, k=1, theta=theta, random_state=seed).fit(frame, schema)
            assert fitted.ledger_.epsilon == Q(7, 10)
            assert broken(fitted.ledger_) == set()
            assert fitted.groups_["A"]

    def test_the_steps_and_their_shares(self):
        frame, schema = table()
        shares = {"share_histograms": 0.2, "share_sketch": 0.1, "share_structure": 0.3}
        fitted = hp(2, k=1, theta=1.84, groups=None, **shares).fit(frame, schema)
        ledger = fitted.ledger_
        columns = of(ledger, "column(")
        assert sum(e.epsilon for e in columns) == Q(4, 10)
        assert [e.attributes for e in columns] == [(x,) for x in NAMES]
        assert of(ledger, "AMI order")[0].epsilon == Q(2, 10) * Q(1, 5)
        assert of(ledger, "groups by association")[0].epsilon == Q(2, 10) * Q(4, 5)
        chosen = of(ledger, "parents of")  # the second attribute has one candidate
        assert [e.epsilon for e in chosen] == 3 * [Q(6, 10) / 4]
        assert sum(e.epsilon for e in of(ledger, "table(")) == Q(8, 10) + Q(6, 10) / 4
        for group in "AB":
            costs = {of(ledger, f"table({x}")[0].epsilon for x in fitted.groups_[group]}
            assert len(costs) <= 1

    @pytest.mark.parametrize(("k", "choices"), [(1, 3), (2, 2), (4, 0)])
    def test_a_single_candidate_costs_nothing_and_tables_get_what_it_spares(self, k, choices):
        """Where no edge is worth its noise, all that was charged for choices bought nothing."""
        frame, schema = table()
        order = WeightedPrivBayes(2, k=k, share_sketch=0.5)
        for fitted in (hp(2, k=k).fit(frame, schema), order.fit(frame, schema)):
            ledger, tables = fitted.ledger_, of(fitted.ledger_, "table(")
            spent = {e.epsilon for e in of(ledger, "parents of")}
            assert len(of(ledger, "parents of")) == choices and len(spent) <= 1
            assert ledger.epsilon == 2 and broken(ledger) <= {"L10"} and not of(ledger, "unused")
            share = 2 * Q(3, 10) * (1 if "AMI order" in str(ledger) else Q(1, 2))
            least = 2 * (Q(1, 2) if "AMI order" in str(ledger) else Q(7, 10))
            assert sum(e.epsilon for e in tables) == least + share * (4 - choices) / 4
            assert all(e.scale_depends_on for e in tables), "rule L5: the order decides it"

    def test_where_policy_promises_a_loss_nothing_is_spared(self):
        """It would depend on the order: x1's loss, known before the run, is the same whatever."""
        frame, schema = table()
        policy = Restriction("x2", "x1")
        one = hp(2, k=4, restriction=policy, rare_values="same_noise", groups={"A": ["x0"]})
        ledger = one.fit(frame, schema).ledger_
        assert len(of(ledger, "parents of")) == 3 and "x1" in ledger.guaranteed_ex_ante
        assert sum(e.epsilon for e in of(ledger, "table(")) == 2 * Q(1, 2)

    def test_groups_by_policy_cost_nothing(self):
        frame, schema = table()
        fitted = hp(k=1, rare_values="same_noise", groups=POLICIES["policy"]).fit(frame, schema)
        assert not of(fitted.ledger_, "groups")
        assert not of(fitted.ledger_, "weights")
        # what groups would have cost goes to the columns and to the order, 15 : 1
        assert of(fitted.ledger_, "AMI order")[0].epsilon == Q(1, 5) * Q(1, 16)
        assert sum(e.epsilon for e in of(fitted.ledger_, "column(")) == Q(1, 5) * Q(15, 16)
        alone = hp(k=0, rare_values="same_noise", groups=POLICIES["policy"]).fit(frame, schema)
        assert len(alone.ledger_.entries) == 5

    def test_groups_of_the_schema(self):
        frame, schema = table(groups={"x0": "A", "x4": "A", "x2": "B"})
        fitted = HPPrivBayes(k=1).fit(frame, schema)
        assert fitted.groups_ == {"A": ["x0", "x4"], "B": ["x1", "x2", "x3"]}
        with pytest.raises(BudgetError, match="group A is empty"):
            HPPrivBayes(k=1).fit(*table(groups={"x2": "B"}))

    @pytest.mark.parametrize("method", [HPPrivBayes, ConsistentBayes])
    def test_each_remedy_for_an_empty_group_works(self, method):
        """To leave groups out wasn't said, nor that B mustn't name the sensitive attribute."""
        words = "put an attribute in A, name a sensitive attribute that isn't in B, or leave groups"
        for sensitive in (None, "x2"):
            with pytest.raises(BudgetError, match=words if sensitive is None else "take it out"):
                method(sensitive=sensitive).fit(*table(groups={"x2": "B"}))
        assert method().fit(*table(groups={"x2": "B", "x0": "A"})).n_
        assert method(sensitive="x0").fit(*table(groups={"x2": "B"})).n_
        plain = {"sensitive": "x0"} if method is HPPrivBayes else {}
        assert method(**plain).fit(*table()).n_

    def test_order_and_weights_are_named_by_what_follows(self):
        frame, schema = table(2000)
        fitted = hp(20, k=1).fit(frame, schema)
        assert fitted.groups_["B"]
        order = of(fitted.ledger_, "AMI order")[0].id
        assert {e.candidates for e in of(fitted.ledger_, "parents of")} == {order}
        sources = {of(fitted.ledger_, "groups by")[0].id}
        sources |= {of(fitted.ledger_, f"column({x})")[0].id for x in fitted.groups_["B"]}
        sources |= {of(fitted.ledger_, "parents of")[-1].id}  # says what choices spared
        for name in fitted.groups_["B"]:
            assert set(of(fitted.ledger_, f"table({name}")[0].scale_depends_on) == sources


class TestGroupsOrderScales:
    @pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
    @pytest.mark.parametrize("theta", [0, 0.05, 5])
    def test_s_is_always_in_a_and_groups_keep_column_order(self, guarantee, theta):
        frame, schema = table()
        for sensitive in NAMES:
            try:
                fitted = hp(k=0, sensitive=sensitive, theta=theta, guarantee=guarantee).fit(
                    frame, schema
                )
            except BudgetDegenerate:
                assert guarantee == "published"
                continue
            a, b = fitted.groups_["A"], fitted.groups_["B"]
            assert sensitive in a
            assert sorted(a + b) == sorted(NAMES)
            assert a == sorted(a)
            assert b == sorted(b)

    def test_s_joins_declared_groups_but_never_b(self):
        frame, schema = table()
        assert hp(k=1, groups={"A": ["x2"], "B": ["x1"]}).fit(frame, schema).groups_ == {
            "A": ["x0", "x2"],
            "B": ["x1", "x3", "x4"],
        }
        with pytest.raises(BudgetError, match="'x0' is always in group A"):
            hp(k=1, groups={"A": ["x2"], "B": ["x0", "x1"]}).fit(frame, schema)

    def test_without_noise_groups_follow_theta_in_bits(self):
        frame, schema = table(400)
        fitted = hp(k=1, theta=0.1, guarantee="none").fit(frame, schema)
        assert fitted.groups_ == {"A": ["x0", "x1", "x2"], "B": ["x3", "x4"]}
        assert fitted.threshold() == 0.1
        assert all((v >= 0.1) == (x in fitted.groups_["A"]) for x, v in fitted.association_.items())

    def test_the_threshold_of_r(self):
        assert hp(theta=0.1).threshold() == pytest.approx(0.14, abs=1e-4)
        assert hp(theta=0.1).threshold() <= math.sqrt(0.1 * math.log(2) / 2)  # Pinsker's cap

    @pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
    def test_at_a_threshold_of_zero_all_are_in_a(self, guarantee):
        rng = np.random.default_rng(4)
        frame = pd.DataFrame(rng.integers(0, 2, (500, 5)), columns=list("abcde"))
        schema = Schema(tuple(Attribute.categorical(n, [0, 1]) for n in frame))
        for seed in range(6):
            made = HPPrivBayes(
                1, sensitive="a", theta=0, k=1, guarantee=guarantee, random_state=seed
            )
            assert made.fit(frame, schema).groups_ == {"A": list("abcde"), "B": []}
        assert guarantee != "strict" or min(made.association_.values()) < 0

    @pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
    def test_attributes_enter_by_falling_average_association(self, guarantee):
        frame, schema = table(300)
        fitted = hp(50, k=1, theta=0, guarantee=guarantee).fit(frame, schema)
        strength = [fitted.average_association_[x] for x in fitted.order_]
        assert strength == sorted(strength, reverse=True)
        assert fitted.network_.order == fitted.order_
        assert [len(p) for _, p in fitted.network_.pairs] == [0, 1, 1, 1, 1]

    @pytest.mark.parametrize("rare_values", ["less_noise", "more_noise", "same_noise"])
    @pytest.mark.parametrize("k", [0, 1, 2])
    def test_scales_are_tight(self, rare_values, k):
        frame, schema = table()
        fitted = hp(k=k, r=0.5, rare_values=rare_values, groups=POLICIES["policy"], v_min=0.25).fit(
            frame, schema
        )
        a, b = fitted.groups_["A"], fitted.groups_["B"]
        for name in a:
            entry = of(fitted.ledger_, f"table({name}")[0]
            assert entry.scale == 2 / entry.epsilon
        for name in b:
            entry = of(fitted.ledger_, f"table({name}")[0]
            weights = fitted.weights_[name]
            assert max(weights) == 1
            assert min(weights) >= 0.25
            assert entry.epsilon == group_cost(fitted, "B") / len(b) == entry.claimed
            if rare_values == "same_noise":  # as any other table
                assert set(weights) == {1.0} and entry.scale == 2 / entry.epsilon
                continue
            assert histogram_cost(entry.scale, entry.columns) == entry.epsilon
            ratio = [float(s) * v for s, v in zip(entry.scale, weights, strict=True)]
            assert ratio == pytest.approx([ratio[0]] * len(ratio))
            if entry.columns > 1:
                assert (
                    min(entry.scale) == 2 / entry.epsilon
                )  # the most protected value has the scale of a plain table

    def test_rare_values_by_direction(self):
        frame, schema = table(4000)
        weights = {
            d: hp(50, k=1, rare_values=d, groups=POLICIES["policy"], v_min=0.01)
            .fit(frame, schema)
            .weights_["x3"]
            for d in ("less_noise", "more_noise")
        }
        assert weights["less_noise"][0] == min(
            weights["less_noise"]
        )  # value 0 has 70 % of the records
        assert weights["more_noise"][0] == 1


class TestAttributeEpsilon:
    @pytest.mark.parametrize("k", [0, 1, 2])
    def test_is_the_sum_over_the_entries_that_touch_it(self, k):
        frame, schema = table()
        ledger = hp(0.7, k=k).fit(frame, schema).ledger_
        losses = ledger.attribute_epsilon()
        for name in NAMES:
            assert losses[name] == sum(e.epsilon for e in ledger.entries if name in e.attributes)
        assert max(losses) <= ledger.epsilon
        assert sum(losses) >= ledger.epsilon
        assert losses.attrs["known"].startswith("ex post")

    def test_without_structure_and_sketches_each_attribute_has_its_own_table(self):
        frame, schema = table()
        losses = (
            hp(k=0, rare_values="same_noise", groups=POLICIES["policy"], r=1 / 3)
            .fit(frame, schema)
            .ledger_.attribute_epsilon()
        )
        assert dict(losses) == {  # as 1 : 3 between a table of A and one of B
            "x0": Q(1, 11),
            "x2": Q(1, 11),
            "x1": Q(3, 11),
            "x3": Q(3, 11),
            "x4": Q(3, 11),
        }
        assert sum(losses) == 1

    def test_published_is_infinite_where_it_was_read_raw(self):
        frame, schema = table()
        losses = hp(k=1, guarantee="published").fit(frame, schema).ledger_.attribute_epsilon()
        assert set(losses) == {math.inf}


class TestPublished:
    @pytest.mark.parametrize("epsilon", [1, 0.7, 1 / 3])
    @pytest.mark.parametrize(("k", "theta"), [(0, 0.1), (1, 0.1), (2, 0.1), (1, 0.01)])
    def test_the_finite_part_is_what_the_printed_scales_cost(self, epsilon, k, theta):
        frame, schema = table(300)
        fitted = hp(epsilon, k=k, theta=theta, r=1 / 4, guarantee="published").fit(frame, schema)
        ledger, d, in_b = fitted.ledger_, 5, len(fitted.groups_["B"])
        assert ledger.epsilon == math.inf
        e1 = as_fraction(epsilon) * Q(3, 10) if k else Q(0)
        e2, e3 = ((as_fraction(epsilon) - e1) * share for share in (Q(1, 5), Q(4, 5)))
        assert sum((e.epsilon for e in of(ledger, "parents of")), Q(0)) == e1
        assert group_cost(fitted, "A") == e2 * Q(d - in_b, d - k - in_b)
        worst = Q(0)
        for name in fitted.groups_["B"]:
            w = [Q(x).limit_denominator(10**7) for x in fitted.weights_[name]]
            has_parents = bool(fitted.network_.parents(name))
            top = sorted(w, reverse=True)
            worst += (top[0] if has_parents else (top[0] + top[1]) / 2) * e3 / in_b
        assert group_cost(fitted, "B") == worst <= e3
        assert ledger.finite == e1 + group_cost(fitted, "A") + worst
        unspent = 0 if in_b else e3  # the printed algorithm gives ε₃ to nobody when B is empty
        assert (
            sum((e.claimed for e in ledger.entries if e.kind == "mechanism"), Q(0)) + unspent
            == ledger.claimed
            == as_fraction(epsilon)
        )

    def test_weights_are_those_of_definition_11(self):
        frame, schema = table(300)
        fitted = hp(k=1, guarantee="published").fit(frame, schema)
        for name in fitted.groups_["B"]:
            counts = (
                frame[name]
                .value_counts()
                .reindex(range(schema[name].size), fill_value=0)
                .to_numpy()
            )
            assert fitted.weights_[name] == pytest.approx(sensitivity_weights(counts).tolist())
            assert of(fitted.ledger_, f"table({name}")[0].scale == printed_scales(
                sensitivity_weights(counts), len(fitted.groups_["B"]), Q(7, 10) * Q(3, 4)
            )

    @pytest.mark.parametrize("k", [1, 2])
    def test_order_groups_and_weights_are_unaccounted_each_with_its_line(self, k):
        frame, schema = table(300)
        ledger = hp(k=k, guarantee="published").fit(frame, schema).ledger_
        assert ledger.epsilon == math.inf
        assert {"AMI order", "groups by association with x0", "sensitivity weights of group B"} <= {
            e.step for e in ledger.unaccounted
        }
        assert len(ledger.unaccounted) >= 3
        for entry in ledger.unaccounted:
            assert entry.source.startswith("thesis Alg ")
            assert " line" in entry.source
            assert entry.why
            assert entry.source in ledger._repr_html_()
        assert broken(ledger) == {"L8"}

    def test_policy_groups_and_flat_weights_leave_only_the_order(self):
        frame, schema = table()
        fitted = hp(
            k=1, guarantee="published", rare_values="same_noise", groups={"A": ["x0", "x1", "x2"]}
        ).fit(frame, schema)
        assert [e.step for e in fitted.ledger_.unaccounted] == ["AMI order"]

    @pytest.mark.parametrize(("k", "theta"), [(4, 0.1), (3, 0.1), (1, 5), (2, 5)])
    def test_degenerate_budgets_are_refused_before_any_noise(self, k, theta, monkeypatch):
        frame, schema = table(300)
        with (
            spending(monkeypatch) as seen,
            pytest.raises(BudgetDegenerate, match=r"d − k − l = 5 − .*lower k or θ.*strict"),
        ):
            hp(k=k, theta=theta, guarantee="published").fit(frame, schema)
        assert seen == []
        assert hp(k=k, theta=theta).fit(frame, schema).ledger_.epsilon == 1
        assert hp(k=k, theta=theta, guarantee="none").fit(frame, schema).ledger_.epsilon == math.inf

    def test_none_chooses_what_published_chooses_without_noise(self):
        frame, schema = table(400)
        published = hp(1e6, k=1, guarantee="published").fit(frame, schema)
        none = hp(k=1, guarantee="none").fit(frame, schema)
        assert (none.order_, none.groups_) == (published.order_, published.groups_)
        twins = [
            {(c, *("x0" if p == "x1" else p for p in parents)) for c, parents in f.network_.pairs}
            for f in (none, published)
        ]
        assert twins[0] == twins[1]  # x0 and x1 are copies: either may be drawn

    def test_the_acceptance_pair_on_a_small_table(self):
        frame, schema = table(2000)
        strict = HPPrivBayes(epsilon=1.0, k="auto", sensitive="x0").fit(frame, schema=schema)
        assert strict.ledger_.epsilon == 1
        assert strict.ledger_.unaccounted == []
        published = HPPrivBayes(epsilon=1.0, k="auto", sensitive="x0", guarantee="published").fit(
            frame, schema
        )
        assert published.ledger_.epsilon == math.inf
        assert len(published.ledger_.unaccounted) >= 3


class TestMicroWorld:
    """All tables of three records over a 2 × 2 or 3 × 1 domain, all neighbours, the exact law of
    the noisy table."""

    REACH = 6

    def loss(self, before, after, scales_before, scales_after, columns) -> float:
        """max over all outputs in a box of ln P(t | D) / P(t | D'); cells are independent, so each
        takes its own worst t."""
        t = np.arange(-self.REACH, self.REACH + 4)
        worst = 0.0
        for cell, (c, e) in enumerate(zip(before, after, strict=True)):
            b, a = float(scales_before[cell // columns]), float(scales_after[cell // columns])
            worst += np.log(discrete_laplace_pmf(t - c, b) / discrete_laplace_pmf(t - e, a)).max()
        return worst

    def worst(self, shape, scales_of) -> float:
        rows, columns = shape
        found = 0.0
        for around in neighbourhoods(3, rows * columns):
            counts = [np.bincount(t, minlength=rows * columns) for t in around]
            for before, after in itertools.permutations(counts, 2):
                scales = [scales_of(c.reshape(shape).sum(axis=1)) for c in (before, after)]
                found = max(found, self.loss(before, after, *scales, columns))
        return found

    @pytest.mark.parametrize("shape", [(2, 2), (3, 1), (2, 3), (3, 2)])
    @pytest.mark.parametrize("weights", [(4, 1, 2), (1, 1, 1), (1, 9, 9)])
    @pytest.mark.parametrize("rare_values", ["less_noise", "more_noise"])
    def test_tight_scales_lose_exactly_their_budget(self, shape, weights, rare_values):
        """Weights from counts that are public by then: the bound is ε₃/|B|, and it is attained."""
        share = Q(4, 5) / 2
        released = np.array(weights[: shape[0]])
        scales = tight_scales(value_weights(released, rare_values, Q(1, 2)), share, shape[1])
        assert self.worst(shape, lambda _: scales) == pytest.approx(float(share), abs=1e-9)

    def test_the_box_attains_what_all_outputs_together_can(self):
        """The cell-wise maximum against all 12⁴ outputs of one pair of neighbours, one by one."""
        scales = tight_scales((Q(1), Q(1, 2)), Q(1, 2), 2)
        before, after = np.array([2, 0, 1, 0]), np.array([1, 1, 1, 0])
        t = np.arange(-5, 7)
        log = [
            np.log(
                discrete_laplace_pmf(t - c, float(scales[i // 2]))
                / discrete_laplace_pmf(t - e, float(scales[i // 2]))
            )
            for i, (c, e) in enumerate(zip(before, after, strict=True))
        ]
        joint = log[0][:, None, None, None] + log[1][:, None, None] + log[2][:, None] + log[3]
        assert (
            joint.max()
            == pytest.approx(self.loss(before, after, scales, scales, 2))
            == pytest.approx(0.5)
        )

    @pytest.mark.parametrize("shape", [(2, 2), (3, 1)])
    def test_twin_scales_from_raw_weights_have_no_such_bound(self, shape):
        """As printed: w_x from the records themselves. The loss exceeds the budget, and grows with
        the output that is looked at."""
        share = Q(4, 5) / 2
        found = []
        for reach in (6, 30, 120):
            self.REACH = reach
            found.append(
                self.worst(
                    shape, lambda counts: printed_scales(sensitivity_weights(counts), 2, Q(4, 5))
                )
            )
        assert found[0] > float(share)
        assert found[0] < found[1] < found[2]
        assert found[2] > 5 * float(share)
