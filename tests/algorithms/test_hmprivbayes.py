"""HMPrivBayes: what strict pays for, the printed overruns in exact fractions, IBayes' candidates,
bad input, decoding."""

import itertools
import math
import sys
import warnings
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from contract_cases import spending
from privacy_tools import curator_of, records_of, schema_of

from pdsynth import Attribute, BudgetError, HMPrivBayes, Schema, SchemaError
from pdsynth.algorithms import risk_entropy_weights
from pdsynth.algorithms.hmprivbayes import (
    NOISE_DOMINATES,
    STEP_PAIRS,
    ParentFilter,
    _Search,
    ibayes,
    most_parents,
    noise_to_signal,
    spread_over_bits,
)
from pdsynth.algorithms.personal import bit_entropies, columns_over_bits
from pdsynth.core.curator import Measured
from pdsynth.core.measures import normalised_risk_entropy
from pdsynth.core.noise import ExactNoise
from pdsynth.core.records import Records
from pdsynth.core.views import BinaryEncoding
from pdsynth.published.budgets import printed_thirds
from pdsynth.published.noise import NoNoise

SIZES = (3, 2, 5, 2, 4, 2)
N = 400


def rows(n=N, sizes=SIZES, seed=0):
    """Three pairs of attributes: each second one leans on the first of its pair."""
    rng = np.random.default_rng(seed)
    out = rng.integers(0, sizes, (n, len(sizes)))
    for j in range(1, len(sizes), 2):
        out[:, j] = np.where(rng.random(n) < 0.9, out[:, j - 1] % sizes[j], out[:, j])
    return out


def hm(epsilon=1.0, **params):
    return HMPrivBayes(epsilon, **{"random_state": 5, "k": 2, "l": 2, **params})


def fit(synthesizer, table=None, sizes=SIZES):
    return synthesizer.fit(records_of(rows(sizes=sizes) if table is None else table, sizes))


def of(ledger, start):
    return [e for e in ledger.entries if e.kind == "mechanism" and e.step.startswith(start)]


def cost(entries):
    return sum((e.epsilon for e in entries), Q(0))


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


class TestStrict:
    @pytest.mark.parametrize("epsilon", [300, 299.7, "400/3"])
    @pytest.mark.parametrize("k", [1, 2, 3, 6])
    def test_every_step_pays_its_share(self, epsilon, k):
        fitted = fit(hm(epsilon, k=k, share_histograms=0.1, share_sketch=0.5, share_structure=0.2))
        ledger, whole = fitted.ledger_, Q(str(epsilon))
        bits = BinaryEncoding(fitted.schema_)
        assert ledger.epsilon == ledger.claimed == whole
        assert [c for c in ledger.check() if not c.startswith("L10")] == []
        assert cost(of(ledger, "column(")) == whole / 10
        assert cost(of(ledger, "risk entropies")) == 0, "post-processing of the columns"
        assert cost(of(ledger, "similarity")) == whole / 2
        pairs, tables = of(ledger, "pair"), of(ledger, "table")
        assert not of(ledger, "root"), "roots follow from the columns"
        assert len(pairs) == len(bits.schema) - len(fitted.clusters_)
        assert {e.epsilon for e in pairs} == {whole / 5 / len(pairs)}
        assert len(tables) == len(bits.schema) - sum(min(len(c) - 1, 2) for c in fitted.clusters_)
        assert cost(tables) == whole / 5
        weights = risk_entropy_weights(
            {
                c: fitted.risk_entropy_[c]
                for c in (e.step[6:].split(" | ")[0].rstrip(")") for e in tables)
            }
        )
        assert [e.epsilon for e in tables] == [w * whole / 5 for w in weights.values()]
        entry = next(e.id for e in ledger.entries if e.step == "risk entropies")
        assert all(e.scale_depends_on == (entry,) for e in tables)
        assert all(e.candidates == of(ledger, "similarity")[0].id for e in pairs)

    def test_bits_travel_together(self):
        for seed in range(4):
            fitted = fit(hm(200, k=3, random_state=seed))
            owner = dict(
                zip(
                    BinaryEncoding(fitted.schema_).schema.names,
                    BinaryEncoding(fitted.schema_).owners,
                    strict=True,
                )
            )
            homes = [{owner[b] for b in cluster} for cluster in fitted.clusters_]
            assert all(a.isdisjoint(b) for a, b in itertools.combinations(homes, 2))

    def test_planted_pairs_are_clusters_at_a_large_epsilon(self):
        assert fit(hm(1e4, k=3)).clusters_ == (
            ("x0:1", "x0:2", "x1"),
            ("x2:1", "x2:2", "x2:3", "x3"),
            ("x4:1", "x4:2", "x5"),
        )

    def test_a_network_stays_within_its_cluster(self):
        fitted = fit(hm(1e3, k=3))
        where = {b: i for i, c in enumerate(fitted.clusters_) for b in c}
        assert all(where[p] == where[c] for p, c in fitted.network_.edges)
        assert [child for child, parents in fitted.network_.pairs if not parents][
            0
        ] in fitted.clusters_[0]

    def test_public_clusters_without_a_filter_ask_for_no_similarity(self):
        for extra in ({"clusters": [["x5", "x0"], ["x1", "x2", "x3", "x4"]]}, {"k": 1}):
            fitted = fit(hm(eta=0, **extra))
            assert not of(fitted.ledger_, "similarity")
            assert fitted.similarity_ is None
            assert cost(of(fitted.ledger_, "table")) == 1 - Q("0.15") - Q("0.25"), (
                "its share goes to the tables"
            )
            assert {e.candidates for e in of(fitted.ledger_, "pair")} == {"public"}
            assert fitted.ledger_.epsilon == 1

    def test_public_clusters_with_a_filter_ask_for_the_pairs_inside_them_only(self):
        fitted = fit(hm(300, clusters=[["x0", "x1"], ["x2", "x3"], ["x4", "x5"]]))
        (entry,) = of(fitted.ledger_, "similarity")
        assert entry.released == "3 residuals of pairs"
        assert entry.sensitivity == 3 * 2
        assert fitted.similarity_[0, 2] == 0 < fitted.similarity_[0, 1]
        single = fit(hm(clusters=[[f"x{j}"] for j in range(6)]))
        assert not of(single.ledger_, "similarity"), "no pair inside a cluster"
        assert single.ledger_.epsilon == 1

    @pytest.mark.parametrize(
        "extra", [{}, {"clusters": [["x0", "x1", "x2"], ["x3", "x4", "x5"]]}, {"k": 1}]
    )
    def test_a_sketch_that_would_be_noise_is_not_bought(self, extra):
        with pytest.warns(
            UserWarning,
            match=r"noise is .* times what 6 attributes of n = 400 .*0\.15 of ε = 1.*"
            r"too noisy to cluster",
        ):
            fitted = fit(hm(1, **extra))
        assert len(fitted.clusters_) == (2 if "clusters" in extra else 1)
        assert fitted.ledger_.epsilon == 1
        assert not of(fitted.ledger_, "similarity")
        assert cost(of(fitted.ledger_, "table")) == Q("0.6")

    def test_the_warning_depends_on_public_facts_only(self, recwarn):
        constant = np.zeros((N, len(SIZES)), dtype=int)
        for table in (rows(), constant, rows(seed=9)):
            recwarn.clear()
            fit(hm(1), table)
            assert len(recwarn) == 1
            recwarn.clear()
            fit(hm(60), table)
            assert len(recwarn) == 0
        g = len(SIZES)
        assert noise_to_signal(N, g, Q(9)) < NOISE_DOMINATES < noise_to_signal(N, g, Q("0.15"))
        assert all(
            noise_to_signal(19719, 57, e * Q("0.15")) > NOISE_DOMINATES for e in (Q(1, 20), Q(1, 2))
        ), "Big5 at ε up to .5"
        assert noise_to_signal(45222, 15, Q("0.4") * Q("0.15")) < NOISE_DOMINATES, (
            "Adult from ε = 0.4 on"
        )

    def test_roots_have_the_largest_released_entropy(self):
        fitted = fit(hm(1e6, k=2))
        roots = {c: max((fitted.risk_entropy_[b], b) for b in c)[0] for c in fitted.clusters_}
        for cluster in fitted.clusters_:
            first = next(child for child, _ in fitted.network_.pairs if child in cluster)
            assert fitted.risk_entropy_[first] == roots[cluster]

    def test_columns_over_bits(self):
        encoding = BinaryEncoding(schema_of((3, 2)))
        released = {
            0: Measured(np.array([4, 2, -1]), Q(3), "s01"),
            1: Measured(np.array([1, 5]), Q(2), "s02"),
        }
        first, second = columns_over_bits(released, encoding)
        assert first.attributes == ("x0:1", "x0:2") and second.attributes == ("x1",)
        assert first.table.tolist() == [[4, 2], [-1, 0]], "11 stands for no value"
        assert (first.scale, first.entry) == (Q(3), "s01")

    def test_bit_entropies_of_exact_columns(self):
        """Without noise each bit keeps its own entropy: 2 of 8 are 1, and none or all."""
        schema = schema_of((3, 2, 4))
        encoding, counts = BinaryEncoding(schema), ([4, 2, 2], [0, 8], [1, 1, 1, 5])
        released = {j: Measured(np.array(c), Q(0), "s") for j, c in enumerate(counts)}
        found = bit_entropies(columns_over_bits(released, encoding), schema, 8)
        h = normalised_risk_entropy(np.array([6, 2]))
        assert found == pytest.approx({"x0:1": h, "x0:2": h, "x1": 0, "x2:1": h, "x2:2": h})

    def test_bit_entropies_are_nearer_than_a_constant_though_noise_is_large(self):
        """Counts of 1,000 records under noise of scale 150: the known noise is taken off."""
        rng = np.random.default_rng(3)
        sizes, n, scale = (4,) * 20, 1_000, 150
        schema = schema_of(sizes)
        encoding = BinaryEncoding(schema)
        true = rng.dirichlet([0.7] * 4, len(sizes)) * n
        noise = rng.laplace(scale=scale, size=true.shape)

        def entropies(counts, width):
            rounded = {j: Measured(np.rint(c), Q(width), "s") for j, c in enumerate(counts)}
            found = bit_entropies(columns_over_bits(rounded, encoding), schema, n)
            return np.array([*found.values()])

        exact, noisy = entropies(true, 0), entropies(true + noise, scale)
        plain = entropies(true + noise, 0)
        error, constant = np.abs(noisy - exact).mean(), np.abs(exact - exact.mean()).mean()
        assert error < constant
        assert error < np.abs(plain - exact).mean(), "twin: noise that isn't known to be there"


class TestPublished:
    @pytest.mark.parametrize(
        ("d", "k", "epsilon"), [(4, 2, Q(1)), (5, 3, Q(7, 10)), (8, 3, Q(1, 3))]
    )
    def test_the_ledger_shows_both_overruns(self, d, k, epsilon):
        fitted = fit(hm(epsilon, k=k, guarantee="published"), sizes=(2,) * d)
        ledger = fitted.ledger_
        e1, e2, e3 = printed_thirds(d, k, epsilon)
        assert ledger.epsilon == math.inf
        assert cost(of(ledger, "DPSC")) == d // 2 * e1
        assert of(ledger, "DPSC")[0].claimed == e1
        clusters = len(fitted.clusters_)
        assert cost([*of(ledger, "root"), *of(ledger, "pair")]) == clusters * e2
        assert cost(of(ledger, "table")) == clusters * e3
        assert ledger.finite == d // 2 * e1 + clusters * (e2 + e3)
        assert [e.step for e in ledger.unaccounted] == ["normalised risk entropies"]
        assert ledger.unaccounted[0].source.startswith("HMPrivBayes Alg 5")
        rules = {v.split()[0] for v in ledger.check()}
        assert {"L6", "L8"} <= rules <= {"L6", "L8", "L10"}
        assert any(
            "only disjoint sets of records compose in parallel, never columns" in v
            for v in ledger.check()
        )

    @pytest.mark.slow
    @pytest.mark.parametrize(("d", "n", "shown"), [(52, 45222, 12.75), (175, 19719, 38.9)])
    def test_the_totals_of_adult_and_big5(self, d, n, shown):
        """From the same ledger, with the paper's numbers of bits and records; planted blocks make
        three clusters."""
        rng = np.random.default_rng(1)
        source = rng.random((200, 3)) < 0.5
        table = np.where(
            rng.random((200, d)) < 0.8, source[:, np.arange(d) * 3 // d], rng.random((200, d)) < 0.5
        )
        fitted = fit(
            hm(1, k=3, l=1, affinity="similarity", eta=0, guarantee="published", noise="common"),
            table,
            (2,) * d,
        )
        assert len(fitted.clusters_) == 3
        e1, e2, e3 = printed_thirds(d, 3, Q(1))
        assert fitted.ledger_.finite == d // 2 * e1 + 3 * (e2 + e3)
        assert float(fitted.ledger_.finite) == pytest.approx(shown, abs=0.05)
        assert sum(printed_thirds(d, 3, Q(1))) == 1 == fitted.ledger_.claimed

    def test_every_selection_and_table_has_the_printed_noise(self):
        d, k = 8, 2
        fitted = fit(hm(1, k=k, guarantee="published"), sizes=(2,) * d)
        _, e2, e3 = printed_thirds(d, k, Q(1))
        for i, cluster in enumerate(fitted.clusters_, 1):
            mine = [
                e
                for e in fitted.ledger_.entries
                if e.kind == "mechanism" and e.record_filter == f"columns:C{i}"
            ]
            selections, tables = (
                [e for e in mine if e.mechanism == "exponential"],
                [e for e in mine if e.step.startswith("table")],
            )
            assert len(selections) == len(cluster)
            assert {e.epsilon for e in selections} == {e2 / len(cluster)}
            assert len(tables) == len(cluster) - min(len(cluster) - 1, 2)
            assert sum(2 / e.scale for e in tables) == e3
            names = [c for c, _ in fitted.network_.pairs if c in cluster][
                min(len(cluster) - 1, 2) :
            ]
            printed = {b: math.exp(-fitted.risk_entropy_[b]) for b in names}
            for e, b in zip(tables, names, strict=True):
                assert float(e.scale) == pytest.approx(
                    2 / float(e3) * sum(printed.values()) / printed[b], rel=3e-3
                )

    def test_the_similarity_is_printed_noise_on_information_in_bits(self):
        d, n = 4, 300
        table = rows(n, (2,) * d)
        fitted = fit(hm(1e7, guarantee="published"), table, (2,) * d)
        lattice = Records(table.astype(np.uint8), schema_of((2,) * d)).lattice
        i, j = np.triu_indices(d, 1)
        assert fitted.similarity_[i, j] == pytest.approx(
            lattice.information(i, j[:, None]), abs=1e-4
        )
        (entry,) = of(fitted.ledger_, "DPSC")
        delta = Q(entry.sensitivity, d * (d - 1) // 2)
        assert entry.scale == delta * d * (d - 1) / (
            printed_thirds(d, 2, Q(10**7))[0] * 2 * (d // 2)
        )

    def test_as_printed_related_bits_are_separated_and_another_reading_keeps_them(self):
        sizes = (2,) * 6
        printed = fit(hm(k=3, sigma=0.3, guarantee="none", eta=0), sizes=sizes)
        related = fit(hm(k=3, guarantee="none", eta=0, affinity="similarity"), sizes=sizes)
        assert related.clusters_ == (("x0", "x1"), ("x2", "x3"), ("x4", "x5"))
        assert not set(printed.clusters_) & set(related.clusters_)

    def test_none_is_the_printed_pipeline_without_noise(self):
        sizes = (2,) * 6
        none = fit(hm(k=2, guarantee="none"), sizes=sizes)
        loud = fit(hm(1e9, k=2, guarantee="published"), sizes=sizes)
        assert none.clusters_ == loud.clusters_
        assert none.ledger_.epsilon == math.inf
        assert (
            none.network_ == fit(hm(k=2, guarantee="none", random_state=99), sizes=sizes).network_
        )
        for (child, parents), table in zip(none.network_.pairs, none.model_.tables, strict=True):
            columns = [int(a[1]) for a in (child, *parents)]
            raw = np.zeros([2] * len(columns), dtype=int)
            np.add.at(raw, tuple(rows(sizes=sizes)[:, columns].T), 1)
            assert (table == raw).all()

    def test_public_clusters_without_a_filter_need_no_dpsc(self):
        fitted = fit(
            hm(guarantee="published", clusters=[["x0", "x1"], ["x2", "x3", "x4", "x5"]], eta=0)
        )
        assert not of(fitted.ledger_, "DPSC")
        assert fitted.ledger_.finite == 2 * sum(
            printed_thirds(len(fitted.risk_entropy_), 2, Q(1))[1:]
        )


class TestInformed:
    """Algorithm 4 on its own: root, filter, candidates."""

    @staticmethod
    def grow(cluster, degree, ties, root=None, table=None, sizes=(2,) * 6):
        curator = curator_of(
            rows(sizes=sizes) if table is None else table, sizes, NoNoise(), guarantee="none"
        )
        return ibayes(curator, cluster, degree, Q(1), "I", ties, root=root)

    def test_without_noise_the_root_is_the_column_of_largest_entropy(self):
        table = np.column_stack([np.arange(100) < m for m in (2, 48, 9, 30)]).astype(int)
        pairs = self.grow(
            (0, 1, 2, 3), 1, ParentFilter(np.zeros((4, 4))), table=table, sizes=(2,) * 4
        )
        assert pairs[0] == (1, ())
        assert {c for c, _ in pairs} == {0, 1, 2, 3}
        assert self.grow((0, 2, 3), 1, ParentFilter(np.zeros((4, 4))), table=table, sizes=(2,) * 4)[
            0
        ] == (3, ())
        assert self.grow(
            (0, 2, 3), 1, ParentFilter(np.zeros((4, 4))), root=2, table=table, sizes=(2,) * 4
        )[0] == (2, ())

    @pytest.mark.parametrize("degree", [1, 2, 3, 9])
    def test_parents_stand_before_and_are_as_many_as_can_be(self, degree):
        pairs = self.grow((0, 2, 3, 4, 5), degree, ParentFilter(np.zeros((6, 6))))
        for t, (child, parents) in enumerate(pairs):
            assert set(parents) <= {c for c, _ in pairs[:t]}
            assert len(parents) == min(degree, t)
            assert child in (0, 2, 3, 4, 5)

    def test_formula_9_by_hand(self):
        s = np.array(
            [[0, 0.5, 0.1, 0.02], [0.5, 0, 0.3, 0.03], [0.1, 0.3, 0, 0.04], [0.02, 0.03, 0.04, 0]]
        )
        # row maxima .5, .5, .3, .04; η = .25 → thresholds .125, .125, .075, .01: 0–2 is dropped by
        # row 0, 3 by every row but its own
        kept = ParentFilter(s, 0.25).permit(range(4))
        assert [(i, j) for i, j in itertools.combinations(range(4), 2) if kept[i, j]] == [
            (0, 1),
            (1, 2),
        ]
        assert (kept == kept.T).all()
        inside = ParentFilter(s, 0.25).permit(
            [0, 2, 3]
        )  # within the cluster {0, 2, 3} the maxima are .1, .1, .04
        assert [(i, j) for i, j in itertools.combinations(range(3), 2) if inside[i, j]] == [
            (0, 1),
            (1, 2),
        ]
        assert ParentFilter(s, 0).permit(range(4)).all(), "no filter"
        assert ParentFilter(-s, 0).permit(range(4)).all(), "no filter, whatever the noise"

    def test_bits_of_one_attribute_are_never_kept_apart(self):
        s = np.array([[np.inf, np.inf, 0.0], [np.inf, np.inf, 0.0], [0.0, 0.0, np.inf]])
        kept = ParentFilter(s, 0.9).permit(range(3))
        assert kept[0, 1] and not kept[0, 2]
        assert ParentFilter(np.full((2, 2), np.inf), 0.5).permit(range(2)).all()

    @pytest.mark.parametrize("strength", [np.zeros((4, 4)), -np.ones((4, 4)), np.eye(4)])
    def test_an_eta_that_empties_every_candidate_set_gives_no_parents(self, strength):
        pairs = self.grow((0, 1, 2, 3), 2, ParentFilter(strength, 0.5), sizes=(2,) * 4)
        assert [parents for _, parents in pairs] == [()] * 4
        assert sorted(c for c, _ in pairs) == [0, 1, 2, 3]

    def test_candidates_are_those_of_algorithm_4(self):
        s = np.where(np.kron(np.eye(2), np.ones((3, 3))), 0.4, 0.02)  # two planted clusters
        columns = [1, 2, 4, 7, 8, 9]
        strength = np.zeros((10, 10))
        strength[np.ix_(columns, columns)] = s
        found = _Search(columns, ParentFilter(strength, 0.3), 2).candidates([1, 7, 2])
        listed = {found[i] for i in range(len(found))}
        assert listed == {(4, (1, 2)), (8, (7,)), (9, (7,))}
        free = _Search(columns, ParentFilter(strength), 2).candidates([1, 7, 2])
        expected = {(c, p) for c in (4, 8, 9) for p in itertools.combinations((1, 2, 7), 2)}
        assert {free[i] for i in range(len(free))} == expected
        assert len(free) == len(expected)

    @pytest.mark.parametrize(
        ("members", "degree"),
        [
            (5, 2),
            (58, 3),
            (62, 3),
            (63, 3),
            (175, 3),
            (175, 1),
            (175, 2),
            (250, 4),
            (30, 12),
            (3, 9),
        ],
    )
    def test_no_step_has_too_many_candidates(self, members, degree):
        most = most_parents(members, degree)
        largest = max(
            (members - p) * math.comb(min(p, most), min(degree, p)) for p in range(1, members)
        )
        assert largest <= max(STEP_PAIRS, members)
        assert most >= min(degree, members - 1)

    def test_the_strongest_parents_are_tried_where_not_all_can_be(self, monkeypatch):
        monkeypatch.setattr(sys.modules["pdsynth.algorithms.hmprivbayes"], "STEP_PAIRS", 8)
        strength = np.array([[0, 1, 2, 3, 4, 5]] * 6, dtype=float)
        strength = np.maximum(strength, strength.T)
        assert most_parents(6, 1) == 1
        found = _Search(list(range(6)), ParentFilter(strength), 1).candidates([0, 1, 2])
        assert {found[i] for i in range(len(found))} == {(3, (0,)), (4, (0,)), (5, (0,))}, (
            "all equal: the first column"
        )
        found = _Search(
            list(range(6)), ParentFilter(ParentFilter.by_distance(range(6)).strength), 1
        ).candidates([0, 1, 5])
        assert {found[i] for i in range(len(found))} == {(2, (1,)), (3, (1,)), (4, (5,))}, (
            "the nearest in the schema"
        )

    def test_selections_are_charged(self):
        curator = curator_of(rows(sizes=(2,) * 6), (2,) * 6, ExactNoise(1), epsilon=Q(5))
        ibayes(
            curator,
            (0, 1, 3, 4),
            2,
            Q(1),
            "R",
            ParentFilter(np.zeros((6, 6)), depends_on="public"),
            root=1,
        )
        assert curator.ledger.epsilon == 3
        ibayes(curator, (2, 5), 2, Q(1), "I", ParentFilter(np.zeros((6, 6)), depends_on="public"))
        assert curator.ledger.epsilon == 5
        assert curator.ledger.entries[3].lemma == "lemma:entropy"
        assert [c for c in curator.ledger.check() if not c.startswith("L10")] == []

    def test_travelling_bits(self):
        assert spread_over_bits(((0, 2), (1,)), BinaryEncoding(schema_of((3, 2, 5)))) == (
            (0, 1, 3, 4, 5),
            (2,),
        )


class TestBadInput:
    @pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
    def test_one_attribute_in_a_cluster(self, guarantee):
        fitted = fit(
            hm(guarantee=guarantee, clusters=[["x1"], ["x3"], ["x0", "x2", "x4", "x5"]], eta=0)
        )
        assert fitted.network_.parents("x1") == fitted.network_.parents("x3") == ()
        assert len(of(fitted.ledger_, "table(x1)")) == (guarantee != "none")
        assert len(fitted.sample(20)) == 20

    def test_every_attribute_alone(self, quiet):
        fitted = fit(hm(k=6, eta=0))
        assert fitted.ledger_.epsilon == 1
        binary = fit(hm(600, k=4), sizes=(2,) * 4)
        assert binary.clusters_ == (("x0",), ("x1",), ("x2",), ("x3",))
        assert not of(binary.ledger_, "pair"), "nothing to select"
        assert binary.ledger_.epsilon == 600

    @pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
    def test_eta_that_empties_every_candidate_set(self, guarantee):
        """Independent columns and η near 1: hardly a pair survives, and l' tables must still be
        derived from one."""
        table = np.random.default_rng(3).integers(0, 2, (N, 8))
        fitted = fit(hm(700, k=1, l=3, eta=0.999, guarantee=guarantee), table, (2,) * 8)
        assert min(len(p) for _, p in fitted.network_.pairs[3:]) < 3
        assert all(
            t.shape == (2,) * (1 + len(p))
            for (_, p), t in zip(fitted.network_.pairs, fitted.model_.tables, strict=True)
        )
        if guarantee == "strict":
            assert fitted.ledger_.epsilon == 700
            steps = [e.step for e in of(fitted.ledger_, "table")]
            assert len(steps) == 5
            assert steps[0].count(",") == 2, "the first measured table holds the first four bits"
        fitted.sample(30)

    @pytest.mark.parametrize(
        ("k", "guarantee", "words"),
        [
            (7, "strict", "d = 6 attributes, got 7"),
            (11, "published", "d = 10 bits, got 11"),
            (11, "none", "d = 10 bits, got 11"),
        ],
    )
    def test_more_clusters_than_columns_are_refused(self, k, guarantee, words, monkeypatch):
        with spending(monkeypatch) as seen, pytest.raises(BudgetError, match=words):
            fit(hm(k=k, guarantee=guarantee))
        assert seen == []

    @pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
    def test_constant_attributes(self, guarantee):
        constant = np.zeros((N, len(SIZES)), dtype=int)
        fitted = fit(hm(500, guarantee=guarantee), constant)
        assert guarantee == "none" or fitted.ledger_.claimed == 500
        assert (fitted.sample(50) == 0).to_numpy().mean() > 0.9
        half = rows()
        half[:, :3] = 0
        fit(hm(500, k=3, guarantee=guarantee), half)

    @pytest.mark.parametrize("epsilon", [0.01, 1, 500])
    @pytest.mark.parametrize("guarantee", ["strict", "published"])
    def test_codes_are_legal_whatever_the_noise(self, epsilon, guarantee, quiet):
        schema = Schema(
            (
                Attribute.categorical("three", list("abc")),
                Attribute.numeric("age", 17, 90, bins=5, integer=True),
                Attribute.categorical("nine", range(9)),
                Attribute.categorical("two", ["no", "yes"]),
            )
        )
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(
            {
                "three": rng.choice(list("abc"), 90),
                "age": rng.integers(17, 91, 90),
                "nine": rng.integers(0, 9, 90),
                "two": rng.choice(["no", "yes"], 90),
            }
        )
        fake = hm(epsilon, guarantee=guarantee).fit(frame, schema).sample(500)
        schema.encode(fake)
        assert set(fake["three"]) <= set("abc")
        assert fake["age"].between(17, 90).all()

    def test_too_many_bits_are_refused_with_their_number(self, monkeypatch):
        sizes = (300,) * 29
        with (
            spending(monkeypatch) as seen,
            pytest.raises(BudgetError, match=r"261 bits, but HMPrivBayes compares all pairs"),
        ):
            hm(eta=0, k=1).fit(Records(np.zeros((20, 29), dtype=np.uint16), schema_of(sizes)))
        assert seen == []

    def test_names_that_bits_would_take_twice_are_refused(self):
        schema = Schema(
            (Attribute.categorical("a", list("xyz")), Attribute.categorical("a:1", list("xy")))
        )
        with pytest.raises(SchemaError, match="rename"):
            hm(k=1, eta=0).fit(pd.DataFrame({"a": list("xyz"), "a:1": list("xyx")}), schema)

    def test_refits_forget_the_similarity_of_before(self, quiet):
        fitted = fit(hm(500))
        assert fitted.similarity_ is not None
        assert fit(fitted.set_params(epsilon=1.0)).similarity_ is None


class TestUtility:
    def test_clusters_keep_what_is_tied_and_lose_the_rest(self):
        table = rows(4000)
        fitted = fit(hm(5000, k=3), table)
        fake = fitted.schema_.encode(fitted.sample(4000)).astype(int)
        for j in range(1, 6, 2):
            follows = (fake[:, j] == fake[:, j - 1] % SIZES[j]).mean()
            assert follows == pytest.approx(
                (table[:, j] == table[:, j - 1] % SIZES[j]).mean(), abs=0.04
            )

    def test_more_risk_more_noise(self):
        """A fair coin beside a loaded one: the fair one tells more, so its table gets the smaller
        share."""
        table = np.column_stack([np.arange(N) % 2, np.arange(N) % 50 == 0]).astype(int)
        fitted = fit(hm(1, clusters=[["x0"], ["x1"]]), table, (2, 2))
        scales = {e.step: e.scale for e in of(fitted.ledger_, "table")}
        assert scales["table(x0)"] > scales["table(x1)"]
        assert float(scales["table(x0)"] / scales["table(x1)"]) == pytest.approx(
            math.exp(fitted.risk_entropy_["x0"] - fitted.risk_entropy_["x1"]), rel=3e-3
        )
