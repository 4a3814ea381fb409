"""PrivSCBN, the reconstruction: Jaccard distances, what they and the clusters truly cost, the
strict form."""

import math
import warnings
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from privacy_tools import curator_of, neighbourhoods, records_of, schema_of
from spy_tools import Spy

from pdsynth.algorithms.privabn import count_selections
from pdsynth.baselines.relatives import PrivSCBN
from pdsynth.core.noise import ExactNoise
from pdsynth.published.budgets import printed_thirds
from pdsynth.published.curator import jaccard_distances
from pdsynth.published.noise import NoNoise


def table(n=3_000, d=6, seed=0) -> np.ndarray:
    """Two blocks of columns: each follows one hidden column of its own."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((n, 2)) < 0.5
    return np.column_stack([hidden[:, j % 2] ^ (rng.random(n) < 0.1) for j in range(d)]).astype(
        np.uint8
    )


def distances_of(rows):
    """Jaccard distances of the columns of some rows of bits."""
    return jaccard_distances(rows.T.astype(int) @ rows)


def fitted(rows, **options) -> PrivSCBN:
    return PrivSCBN(random_state=options.pop("random_state", 1), **options).fit(
        records_of(rows, (2,) * np.shape(rows)[1])
    )


class TestJaccard:
    def test_by_hand_and_against_counting(self):
        """Columns 110, 100 share one of two ones; a column of zeros is far from everything, another
        one of zeros included."""
        got = distances_of(np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]))
        assert got.tolist() == [[0, 0.5, 1, 1], [0.5, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]
        rows = table(50)
        slow = [
            [1 - np.sum(a & b) / np.sum(a | b) if i != j else 0 for j, b in enumerate(rows.T)]
            for i, a in enumerate(rows.T)
        ]
        assert np.allclose(distances_of(rows), slow)

    def test_one_record_moves_every_distance_by_one(self):
        """Nobody has a one, then one person has all: all d(d−1)/2 distances go from 1 to 0, so
        ⌊d/2⌋·ε₁ is what the print costs."""
        before, after = np.zeros((9, 6), dtype=int), np.zeros((9, 6), dtype=int)
        after[0] = 1
        change = np.abs(distances_of(before) - distances_of(after))
        assert change[np.triu_indices(6, 1)].tolist() == [1] * 15

    def test_no_pair_moves_by_more(self):
        cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        seen = [
            [distances_of(cells[list(t)])[0, 1] for t in around] for around in neighbourhoods(4, 4)
        ]
        assert max(max(v) - min(v) for v in seen) <= 1

    def test_the_noisy_matrix_is_charged_for_all_pairs(self):
        curator = curator_of(
            table(40), (2,) * 6, ExactNoise(1), epsilon=Q(100), guarantee="published"
        )
        matrix, entry = curator.information_sketch(
            Q(1, 15), claimed=Q(1, 3), step="s", source="x", measure="J"
        )
        line = next(e for e in curator.ledger.entries if e.id == entry)
        assert (line.epsilon, line.claimed, line.sensitivity / 15, line.scale) == (
            1,
            Q(1, 3),
            2**20,
            15 * 2**20,
        )
        assert np.array_equal(matrix, matrix.T)
        assert not np.diag(matrix).any()
        raw, _ = curator_of(table(40), (2,) * 6, NoNoise(), guarantee="none").information_sketch(
            Q(1), claimed=Q(1), step="s", source="x", measure="J"
        )
        assert np.allclose(raw, distances_of(table(40)), atol=2**-20)


class TestPublished:
    def test_claims_are_the_budget_and_the_truth_is_not(self):
        """ε₁ costs ⌊d/2⌋ times; k clusters each claim all of ε₂ + ε₃; conditionals n times
        ε₃·(|C|−1)/|C|, selections 1.4427 ε₂."""
        n, d, k, epsilon = 3_000, 6, 2, Q(1, 2)
        made = fitted(table(), k=k, epsilon=epsilon, guarantee="published")
        ledger = made.ledger_
        e1, e2, e3 = printed_thirds(d, k, epsilon)
        assert (e1 + e2 + e3, ledger.claimed) == (epsilon, epsilon)
        dpsc = next(e for e in ledger.entries if e.step.startswith("DPSC"))
        assert (dpsc.claimed, dpsc.epsilon) == (e1, e1 * (d // 2))
        parts = [[e for e in ledger.entries if e.record_filter == f"columns:C{i}"] for i in (1, 2)]
        assert [sum(e.claimed for e in part) for part in parts] == [e2 + e3] * 2
        sizes = [len(c) for c in made.clusters_]
        true = float(e1) * 3 + sum(
            float(e2) / math.log(2) + n * float(e3) * (c - 1) / c + float(e3) / c for c in sizes
        )
        assert float(ledger.finite) == pytest.approx(true, rel=1e-6)
        assert len(ledger.unaccounted) == 2
        assert ledger.epsilon == math.inf
        assert {v.split()[0] for v in ledger.check()} == {"L6", "L8", "L10"}

    def test_it_says_that_it_is_a_reconstruction(self):
        assert "econstructed from its abstract" in PrivSCBN.__doc__
        for guarantee in ("strict", "published", "none"):
            assert any(
                "reconstruction" in note
                for note in fitted(table(), k=1, guarantee=guarantee).ledger_.notes
            )

    def test_distances_find_the_blocks_without_noise(self):
        made = fitted(table(), k=2, guarantee="none")
        assert made.clusters_ == (("x0", "x2", "x4"), ("x1", "x3", "x5"))
        assert all(set(p) <= set(made.clusters_[int(c[1]) % 2]) for c, p in made.network_.pairs)
        assert made.network_.degree == 2

    def test_the_cap_holds(self):
        rows = table(400, 12)
        for l in (1, 2, 4):  # noqa: E741
            for guarantee in ("strict", "published", "none"):
                assert fitted(rows, k=1, l=l, epsilon=20, guarantee=guarantee).network_.degree <= l


class TestStrict:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"k": 1},
            {"k": 2, "epsilon": 500},
            {"clusters": [["x0", "x1"], ["x2", "x3", "x4", "x5"]]},
            {"clusters": [[f"x{j}"] for j in range(6)]},
        ],
    )
    def test_ledger_closes_exactly(self, options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            made = PrivSCBN(**{"epsilon": 0.7, **options}).fit(records_of(table(), (2,) * 6))
        assert made.ledger_.epsilon == made.ledger_.claimed == Q(str(options.get("epsilon", 0.7)))
        assert made.ledger_.check() == []
        chosen = [e for e in made.ledger_.entries if e.mechanism == "exponential"]
        assert len(chosen) <= sum(count_selections(len(c), 3) for c in made.clusters_)
        assert len({e.epsilon for e in chosen}) <= 1

    def test_clusters_come_from_the_sketch_where_it_can_be_seen(self):
        made = fitted(table(), k=2, epsilon=500)
        steps = [e.step for e in made.ledger_.entries]
        assert steps[6] == "similarity of attribute pairs", "after its six columns"
        assert made.clusters_ == (("x0", "x2", "x4"), ("x1", "x3", "x5"))

    def test_noise_instead_of_clusters_is_said(self):
        with pytest.warns(
            UserWarning,
            match=r"too noisy to cluster. PrivSCBN takes one cluster \(k = 1\), "
            r"and gives that share",
        ):
            made = fitted(table(200), epsilon=0.1)
        assert len(made.clusters_) == 1
        assert sum(e.epsilon for e in made.ledger_.entries if e.step.startswith("table(")) == Q(
            3, 50
        )  # 1 − L2 and the columns' share, of ε = 0.1

    def test_bits_of_an_attribute_travel_together(self):
        schema = schema_of((5, 2, 3))
        frame = schema.decode(
            (np.random.default_rng(0).integers(0, 60, (300, 3)) % [5, 2, 3]).astype(np.uint8)
        )
        made = PrivSCBN(3, clusters=[["x0"], ["x1", "x2"]], random_state=0).fit(frame, schema)
        assert made.clusters_ == (("x0:1", "x0:2", "x0:3"), ("x1", "x2:1", "x2:2"))
        schema.encode(made.sample(500))


@pytest.mark.parametrize("guarantee", ["strict", "published"])
def test_the_spy_sees_no_unpaid_reading(monkeypatch, guarantee):
    spy = Spy(monkeypatch)
    schema = schema_of((2,) * 6)
    PrivSCBN(500, k=2, guarantee=guarantee).fit(schema.decode(table(300)), schema)
    assert spy.readers
    assert spy.outside == spy.unpaid == []


@pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((40, 5), dtype=int),
        np.ones((40, 5), dtype=int),
        np.array([[0, 1]] * 7),
        np.array([[1, 0, 1]]),
    ],
    ids=["zeros", "ones", "d = 2", "one record"],
)
def test_odd_tables_are_handled(rows, guarantee):
    schema = schema_of((2,) * rows.shape[1])
    frame = schema.decode(rows.astype(np.uint8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        made = PrivSCBN(k=2, guarantee=guarantee, random_state=3).fit(frame, schema)
    assert made.sample().shape == frame.shape
    assert isinstance(made.sample(), pd.DataFrame)
    assert guarantee != "strict" or made.ledger_.epsilon == 1
