"""Personal guarantees: what one attribute, or one value of it, loses; which of it is known before
the run."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest

import pdsynth as pds
from pdsynth.algorithms.hpprivbayes import Groups
from pdsynth.audit.pairs import records_of
from pdsynth.core.errors import BudgetError
from pdsynth.core.noise import ExactNoise
from pdsynth.core.unit import tight_scales

SIZES = (2, 3, 2, 2)
NAMES = ("x0", "x1", "x2", "x3")
RECORDS = records_of(np.random.default_rng(5).integers(0, SIZES, (400, 4)), SIZES)
POLICY = {"A": ["x0"], "B": ["x1", "x2", "x3"]}
CHAIN = pds.Network((("x0", ()), ("x1", ("x0",)), ("x2", ("x1",)), ("x3", ("x1",))))


def hp(**options):
    return pds.HPPrivBayes(
        1.0,
        k=1,
        share_sketch=0.05,
        share_structure=0.3,
        personal=pds.parts.SensitivityGroups(groups=POLICY, **options),
    ).fit(RECORDS, noise=ExactNoise(3))


def by_hand(budget, structure=CHAIN, **options):
    return pds.Synthesizer(1.0, structure=structure, budget=budget, **options).fit(
        RECORDS, noise=ExactNoise(4)
    )


class TestTogether:
    """H7: attributes of one record that go together change together, and so do their losses."""

    @staticmethod
    def moved(fitted, names):
        """Σ |change of a count| ÷ scale over the tables, where the last record's ``names`` change:
        the exact largest loss of noise that is added to whole numbers."""
        before = RECORDS.codes.astype(int)
        after, total = before.copy(), Q(0)
        for j in map(NAMES.index, names):
            after[-1, j] = (after[-1, j] + 1) % SIZES[j]
        tables = [e for e in fitted.ledger_.entries if e.step.startswith("table(")]
        for entry, (child, parents) in zip(tables, fitted.network_.pairs, strict=True):
            columns = [NAMES.index(name) for name in (child, *parents)]
            counts = [
                np.unique(codes[:, columns], axis=0, return_counts=True)
                for codes in (before, after)
            ]
            cells = [dict(zip(map(tuple, keys), n, strict=True)) for keys, n in counts]
            change = sum(
                abs(int(cells[0].get(c, 0)) - int(cells[1].get(c, 0)))
                for c in {*cells[0], *cells[1]}
            )
            total += change / entry.scale
        return total

    @pytest.mark.parametrize(
        ("names", "quarters"),
        [(["x0"], 2), (["x3"], 1), (["x0", "x3"], 3), (["x1", "x2"], 3), (list(NAMES), 4)],
    )
    def test_a_set_loses_what_is_spent_on_any_of_it(self, names, quarters):
        fitted = by_hand(None)
        loss = fitted.ledger_.attribute_epsilon(names)
        assert loss.to_dict() == {" + ".join(names): Q(quarters, 4)}
        assert self.moved(fitted, names) == Q(quarters, 4)
        assert loss.attrs["known"] == "before the run"

    def test_twin_a_secret_whose_copy_stands_elsewhere_loses_more_than_its_own_line(self):
        """x3 is told by x0: whoever reads the loss of x3 alone is off by a factor of three."""
        fitted = by_hand(None)
        alone = fitted.ledger_.attribute_epsilon()["x3"]
        assert self.moved(fitted, ["x3", "x0"]) == 3 * alone

    def test_policy_for_a_part_is_no_promise_for_the_whole(self):
        ledger = by_hand(None).ledger_
        ledger.guaranteed_ex_ante = ("x0", "x3")
        assert ledger.attribute_epsilon(["x0", "x3"]).attrs["known"] == "before the run"
        assert ledger.attribute_epsilon(["x0", "x1"]).attrs["known"].startswith("ex post")
        assert ledger.attribute_epsilon("x3").to_dict() == {"x3": Q(1, 4)}

    def test_raw_reads_and_unknown_names(self):
        raw = pds.PPBA(1.0, k=1, guarantee="published").fit(RECORDS)
        assert raw.ledger_.attribute_epsilon(["x1", "x2"]).to_dict() == {"x1 + x2": math.inf}
        with pytest.raises(pds.SchemaError, match="no attribute 'drug' in the ledger; it has x0"):
            raw.ledger_.attribute_epsilon(["x0", "drug"])


class TestPublicWeights:
    WEIGHTS = {"x1": [1, 0.5, 0.25]}

    def two(self, **options):
        return Groups(
            "x0",
            r=1.0,
            personal=pds.parts.SensitivityGroups(
                **{"groups": POLICY, "rare_values": "same_noise", "weights": self.WEIGHTS} | options
            ),
        )

    def test_they_set_the_scales_and_cost_nothing(self):
        fitted = hp(weights=self.WEIGHTS, rare_values="same_noise")
        assert fitted.ledger_.epsilon == 1 and not [
            c for c in fitted.ledger_.check() if not c.startswith("L10")
        ]
        assert fitted.weights_["x1"] == (1, 0.5, 0.25)
        own = [e for e in fitted.ledger_.entries if e.step.startswith("table(x1")]
        spares = [e.id for e in fitted.ledger_.entries if e.step.startswith("parents of")][-1]
        assert own[0].scale_depends_on == (spares,)  # the order, for choices without a choice
        assert own[0].scale == tight_scales(
            [Q(1), Q(1, 2), Q(1, 4)], own[0].epsilon, own[0].columns
        )
        assert fitted.learnt_.foreseen[2] == "public", "nothing was asked for"

    def test_weights_of_all_of_b_save_the_histograms(self):
        everyone = self.WEIGHTS | {"x2": [1, 1], "x3": [2, 1]}
        fixed = {"share_structure": 0.3, "k": 0}

        def columns(weights):
            personal = pds.parts.SensitivityGroups(groups=POLICY, weights=weights)
            fitted = pds.HPPrivBayes(1.0, personal=personal, **fixed).fit(RECORDS)
            assert fitted.ledger_.epsilon == 1
            return [e for e in fitted.ledger_.entries if e.step.startswith("column(")]

        assert columns(self.WEIGHTS), "x2 and x3 still ask"
        assert not columns(everyone)

    def test_as_published_and_without_noise(self):
        for guarantee in ("published", "none"):
            fitted = pds.HPPrivBayes(
                1.0,
                k=1,
                guarantee=guarantee,
                personal=pds.parts.SensitivityGroups(
                    groups={"A": ["x0", "x1"], "B": ["x2", "x3"]}, weights={"x3": [1, 4]}
                ),
            )
            assert fitted.fit(RECORDS).weights_["x3"] == (0.25, 1)

    @pytest.mark.parametrize(
        ("weights", "says"),
        [
            ({"x0": [1, 1]}, "'x0' isn't one of them"),
            ({"x1": [1, 1]}, "3 values, but 2 weights"),
            ({"x1": [1, 0, 1]}, "positive"),
            ({"x1": [1, 1, 1e-4]}, "1,000 apart"),
            ({"x1": "abc"}, "one weight per value"),
            ({"x1": 3}, "one weight per value"),
            ({"job": [1]}, "isn't one of them"),
        ],
    )
    def test_bad_weights_are_refused(self, weights, says):
        with pytest.raises(BudgetError, match=says):
            hp(weights=weights)
        with pytest.raises(BudgetError, match="groups="):
            pds.HPPrivBayes(
                1.0, sensitive="x0", personal=pds.parts.SensitivityGroups(weights=self.WEIGHTS)
            ).fit(RECORDS)

    def test_a_value_with_less_budget_loses_less(self):
        fitted = by_hand(self.two())
        losses = fitted.ledger_.value_epsilon("x1", ["a", "b", "c"])
        # ε = 1 for four tables; r = 1: each has 1/4. x1 stands in its own table and, as a parent,
        # in two others. Scales of its rows: 2/(v/4) with v = 1, 1/2, 1/4, so a move from u to v
        # costs (u + v)/8.
        parents = 2 * Q(1, 4)
        ab, ac, bc = parents + Q(3, 16), parents + Q(5, 32), parents + Q(3, 32)
        assert losses.to_numpy().tolist() == [[0, ab, ac], [ab, 0, bc], [ac, bc, 0]]
        assert (
            list(losses.index) == list(losses.columns) == ["a", "b", "c"]
            and losses.attrs["known"] == "before the run"
        )
        assert fitted.ledger_.attribute_epsilon()["x1"] == 3 * Q(1, 4) >= losses.to_numpy().max()
        assert fitted.ledger_.attribute_epsilon().attrs["known"] == "before the run"

    def test_the_statement_is_exact_for_the_table(self):
        """The loss of one move between rows is the sum of the two inverse scales: noise densities
        differ in exactly these two cells."""
        fitted = by_hand(self.two(), structure=pds.Network(tuple((n, ()) for n in NAMES)))
        scale = next(e.scale for e in fitted.ledger_.entries if e.step == "table(x1)")
        losses = fitted.ledger_.value_epsilon("x1")
        assert all(
            losses.loc[u, v] == 1 / scale[u] + 1 / scale[v]
            for u in range(3)
            for v in range(3)
            if u != v
        )
        assert losses.to_numpy().max() == Q(1, 4) == fitted.ledger_.attribute_epsilon()["x1"]

    def test_twin_weights_from_the_records_are_not_known_before(self):
        two = Groups(
            "x0",
            r=1.0,
            personal=pds.parts.SensitivityGroups(groups=POLICY, rare_values="more_noise"),
        )
        ledger = by_hand(two).ledger_
        assert ledger.value_epsilon("x1").attrs["known"].startswith("ex post")
        assert ledger.attribute_epsilon().attrs["known"].startswith("ex post")


class TestKnownBefore:
    def test_a_network_drawn_by_hand_with_public_shares(self):
        ledger = by_hand(pds.parts.Uniform()).ledger_
        assert ledger.attribute_epsilon().attrs["known"] == "before the run"
        assert list(ledger.attribute_epsilon()) == [Q(1, 2), Q(3, 4), Q(1, 4), Q(1, 4)]
        assert ledger.value_epsilon("x1", ["a", "b"]).to_numpy().tolist() == [
            [0, Q(3, 4)],
            [Q(3, 4), 0],
        ]

    def test_shares_that_were_read_off_the_records_are_ex_post(self):
        ledger = by_hand(pds.parts.RiskEntropy()).ledger_
        assert ledger.attribute_epsilon().attrs["known"].startswith("ex post")

    def test_a_restricted_structure_names_the_attributes_it_settles(self):
        policy = pds.parts.Greedy(k=1, restriction=pds.parts.Restriction("x0", ("x3",)))
        ledgers = [
            pds.Synthesizer(1.0, structure=policy).fit(RECORDS, noise=ExactNoise(s)).ledger_
            for s in range(6)
        ]
        assert {ledger.attribute_epsilon()["x3"] for ledger in ledgers} == {Q(7, 40)}, (
            "0.7 for four tables, whatever the network"
        )
        assert all(
            ledger.attribute_epsilon().attrs["known"].startswith("before the run for x3")
            for ledger in ledgers
        )
        assert len({ledger.attribute_epsilon()["x1"] for ledger in ledgers}) > 1, (
            "the others' depends on the network that was drawn"
        )
        assert ledgers[0].value_epsilon("x3").attrs["known"] == "before the run"
        assert ledgers[0].value_epsilon("x1").attrs["known"].startswith("ex post")

    @pytest.mark.parametrize(
        "make",
        [
            lambda: pds.GeneticBayes(1.0, k=1, target="x0", sensitive="x3"),
            lambda: pds.PrivBayes(1.0, k=1, restriction=pds.parts.Restriction("x0", "x3")),
        ],
    )
    def test_custom_networks_promise_the_sensitive_attribute_s_loss(self, make):
        losses = [
            make().fit(RECORDS, noise=ExactNoise(s)).ledger_.attribute_epsilon() for s in range(4)
        ]
        assert len({loss["x3"] for loss in losses}) == 1 and losses[0]["x3"] <= Q(1, 4)
        assert all("x3" in loss.attrs["known"] for loss in losses)


class TestEdges:
    def test_a_raw_read_costs_every_value_everything(self):
        ledger = (
            pds.HPPrivBayes(1.0, k=1, sensitive="x0", guarantee="published", theta=0)
            .fit(RECORDS)
            .ledger_
        )
        assert ledger.value_epsilon("x1", ["a", "b"]).to_numpy().tolist() == [
            [0, math.inf],
            [math.inf, 0],
        ]

    def test_columns_alone_lose_what_is_known_before_the_run(self):
        """No network is drawn, each table's ε is public; the twin: a network that is drawn."""
        lost = pds.baselines.Independent(1).fit(RECORDS).ledger_.attribute_epsilon()
        assert lost.attrs["known"] == "before the run" and set(lost) == {Q(1, 4)}
        drawn = pds.PrivBayes(1, k=1).fit(RECORDS).ledger_.attribute_epsilon()
        assert drawn.attrs["known"].startswith("ex post")

    def test_as_many_labels_as_scales(self):
        ledger = hp(weights={"x1": [1, 0.5, 0.25]}).ledger_
        with pytest.raises(ValueError, match="3 noise scales"):
            ledger.value_epsilon("x1", ["a", "b"])
        any_two = ledger.value_epsilon("x0").to_numpy()
        assert any_two.tolist() == ledger.value_epsilon("x0", ["a", "b"]).to_numpy().tolist()
        assert any_two.max() == ledger.attribute_epsilon()["x0"] > 0

    def test_statements_survive_the_file(self):
        fitted = by_hand(TestPublicWeights().two())
        again = type(fitted.ledger_).from_dict(fitted.ledger_.to_dict())
        assert again.value_epsilon("x1").equals(fitted.ledger_.value_epsilon("x1"))
        assert again.value_epsilon("x1").attrs == fitted.ledger_.value_epsilon("x1").attrs


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_a_value_s_loss_is_that_of_all_records_of_a_person_in_either_relation(relation, records):
    """A move takes a record from one cell to another: its own scales tell it, not twice a loss."""
    weights = {"x1": [1, 2, 4], "x2": [1, 1], "x3": [1, 1]}
    fitted = pds.ConsistentBayes(
        1,
        rounds=0,
        relation=relation,
        records_per_person=records,
        personal=pds.parts.SensitivityGroups(groups=POLICY, weights=weights, v_min=0.2),
    ).fit(RECORDS, noise=ExactNoise(3))
    ledger, table = fitted.ledger_, fitted.ledger_.value_epsilon("x1")
    own = next(e for e in ledger.entries if isinstance(e.scale, tuple) and e.attributes == ("x1",))
    others = sum(e.cost for e in ledger.about({"x1"}) if e is not own)
    for u, v in ((0, 1), (0, 2), (1, 2)):
        moved = records * (1 / own.scale[u] + 1 / own.scale[v])
        assert table.loc[u, v] == table.loc[v, u] == moved + others
