"""Private spectral clustering: planted blocks, the printed sign error, isolated rows, one and d
clusters, and when noise drowns it all."""

import itertools
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import SpectralClustering

from pdsynth.algorithms.hmprivbayes import (
    affinity,
    embedding,
    in_order,
    noise_to_signal,
    spectral_clusters,
)
from pdsynth.core.errors import BudgetError


def blocks(*sizes, inside=0.4, outside=0.02):
    """A similarity matrix with planted clusters of these sizes, in order."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    s = np.where(owner[:, None] == owner, inside, outside)
    np.fill_diagonal(s, 0)
    return s, in_order([np.flatnonzero(owner == c) for c in range(len(sizes))])


similarities = st.integers(2, 8).flatmap(
    lambda d: st.lists(st.floats(-0.5, 1.5, width=16), min_size=d * d, max_size=d * d).map(
        lambda v: np.triu(np.array(v).reshape(d, d), 1) + np.triu(np.array(v).reshape(d, d), 1).T
    )
)


class TestAffinity:
    def test_similarities_are_weights(self):
        s = np.array([[9.0, 0.3, -0.2], [0.3, 9.0, 1.7], [-0.2, 1.7, 9.0]])
        assert affinity(s).tolist() == [[0, 0.3, 0], [0.3, 0, 1], [0, 1, 0]]
        assert s[0, 0] == 9, "the argument is left alone"

    def test_as_printed_the_closest_pair_gets_the_smallest_weight(self):
        s = np.array([[0, 0.5, 0.0], [0.5, 0, 1.0], [0.0, 1.0, 0]])
        w = affinity(s, sigma=0.5, reading="printed")  # exp(−2 s)
        assert w == pytest.approx(np.exp(-2 * s))
        assert w[1, 2] < w[0, 1] < w[0, 2]
        assert np.isfinite(affinity(s * -1e6, sigma=0.1, reading="printed")).all()

    def test_other_readings_are_refused(self):
        with pytest.raises(BudgetError, match="reading must be one of.*'mine'"):
            affinity(np.zeros((2, 2)), reading="mine")


class TestEmbedding:
    def test_two_cliques_by_hand(self):
        """Two unconnected pairs: eigenvalue 0 twice, and the rows of a pair point the same way, at
        a right angle to the other's."""
        s, _ = blocks(2, 2, inside=1, outside=0)
        rows = embedding(affinity(s), 2)
        assert rows @ rows.T == pytest.approx(
            np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]), abs=1e-12
        )

    @given(similarities)
    @settings(max_examples=60, deadline=None)
    def test_the_first_eigenvector_is_that_of_eigenvalue_zero(self, s):
        w = affinity(s)
        b = w.sum(axis=1)
        assert (embedding(w, 2)[b == 0] == 0).all()
        if (b > 0).all():
            laplacian = np.diag(b**-0.5) @ (np.diag(b) - w) @ np.diag(b**-0.5)
            values, vectors = np.linalg.eigh(laplacian)
            assert values[0] == pytest.approx(0, abs=1e-9)
            projector = (
                vectors[:, :2] @ vectors[:, :2].T
            )  # signs and rotations don't matter, the plane does
            rows = embedding(w, 2)
            length = np.linalg.norm(vectors[:, :2], axis=1)
            if len(w) == 2 or values[2] - values[1] > 1e-3:
                assert (rows @ rows.T) * length * length[:, None] == pytest.approx(
                    projector, abs=1e-6
                )


class TestClusters:
    @pytest.mark.parametrize("sizes", [(2, 2), (5, 3, 4), (1, 6), (10, 1, 4), (30, 20, 7)])
    def test_planted_blocks_are_found(self, sizes):
        s, planted = blocks(*sizes)
        assert spectral_clusters(s, len(sizes)) == planted

    @pytest.mark.parametrize("sizes", [(4, 4), (5, 4, 6)])
    def test_scikit_learn_finds_the_same(self, sizes):
        s, planted = blocks(*sizes)
        labels = SpectralClustering(len(sizes), affinity="precomputed", random_state=0).fit_predict(
            affinity(s) + np.eye(len(s))
        )
        assert (
            in_order([np.flatnonzero(labels == c) for c in range(len(sizes))])
            == planted
            == spectral_clusters(s, len(sizes))
        )

    def test_as_printed_related_attributes_are_separated(self):
        """Two pairs of twins, 0–1 and 2–3: read as a distance, similarity 1 keeps the twins apart
        and 0 puts strangers together."""
        s = np.array([[0, 1, 0.3, 0], [1, 0, 0, 0.3], [0.3, 0, 0, 1], [0, 0.3, 1, 0]])
        assert spectral_clusters(s, 2) == ((0, 1), (2, 3))
        assert spectral_clusters(s, 2, reading="printed", sigma=0.3) == ((0, 3), (1, 2))

    def test_one_cluster_and_d_clusters_look_at_nothing(self):
        s, _ = blocks(3, 2)
        assert spectral_clusters(s, 1) == ((0, 1, 2, 3, 4),)
        assert spectral_clusters(s * np.nan, 5) == ((0,), (1,), (2,), (3,), (4,))

    @pytest.mark.parametrize("k", [0, -1, 6, 2.0, True, "3", None])
    def test_other_numbers_of_clusters_are_refused(self, k):
        with pytest.raises(BudgetError, match=r"from 1 to d = 5 attributes, got"):
            spectral_clusters(blocks(3, 2)[0], k)

    def test_isolated_attributes_join_some_cluster(self):
        s, planted = blocks(3, 3, outside=0.0)
        s = np.pad(s, ((0, 2), (0, 2)), constant_values=-0.3)
        found = spectral_clusters(s, 2)
        assert sorted(itertools.chain(*found)) == list(range(8))
        assert [tuple(j for j in c if j < 6) for c in found] == list(planted)

    def test_no_similarity_at_all(self):
        for k in (2, 3):
            found = spectral_clusters(np.zeros((5, 5)), k)
            assert sorted(itertools.chain(*found)) == list(range(5))
            assert 1 <= len(found) <= k

    @given(similarities, st.data())
    @settings(max_examples=60, deadline=None)
    def test_a_partition_whatever_the_noise_and_always_the_same(self, s, data):
        d = len(s)
        k = data.draw(st.integers(1, d))
        for reading in ("similarity", "printed"):
            found = spectral_clusters(s, k, reading=reading)
            assert sorted(itertools.chain(*found)) == list(range(d))
            assert 1 <= len(found) <= k
            assert found == in_order(found)
            assert spectral_clusters(s, k, reading=reading) == found


class TestNoise:
    def test_the_tables_of_the_paper(self):
        assert noise_to_signal(45222, 15, Q(1)) < 0.1
        assert noise_to_signal(45222, 15, Q(1, 40)) > 1
        for epsilon in (Q(1, 20), Q(1, 5), Q(1, 3)):
            assert noise_to_signal(19719, 57, epsilon) > 0.8
        assert noise_to_signal(19719, 57, Q(1)) < 1

    def test_by_hand(self):
        # 3 attributes, n = 10: 3 pairs · 2 records, of R = Q / 2n: scale 0.3; 2√2·0.3·√3/(0.1·3/3)
        assert noise_to_signal(10, 3, Q(1)) == pytest.approx(2 * 2**0.5 * 0.3 * 3**0.5 / 0.1)
        assert noise_to_signal(10, 3, Q(1), 1) == pytest.approx(2 * 2**0.5 * 0.1 * 3**0.5 / 0.1)
        assert noise_to_signal(10, 3, Q(2)) == pytest.approx(2 * 2**0.5 * 0.15 * 3**0.5 / 0.1)

    def test_one_record_or_one_attribute_shows_nothing(self):
        assert noise_to_signal(1, 2, Q(1)) == noise_to_signal(9, 1, Q(1)) == float("inf")
