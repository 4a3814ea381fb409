"""Spectral clusters of attributes from released similarities (HMPrivBayes, Algorithms 1 and 3).

k-means++ is scikit-learn's, its seed public: the same release always gives the same clusters.
"""

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import BudgetError, is_whole, needed_for, show
from ..measures import sketch_noise

READINGS = ("similarity", "printed")
CLEAR = 0.1  # R of attributes tied as strongly as those of a census table: a public yardstick

Clusters = tuple[tuple[int, ...], ...]


def affinity(similarity: np.ndarray, sigma: float = 1.0, reading: str = "similarity") -> np.ndarray:
    """Edge weights W of the attribute graph from similarities S (d, d) with a zero diagonal.

    ``"similarity"``: S clipped to [0, 1]. ``"printed"``: exp(−S / 2σ²), Algorithms 1 (step 2) and 3
    read together. Algorithm 1 is made for distances: of similarities it gives the closest
    attributes the *smallest* weight and separates them.

    **Privacy:** post-processing of noisy similarities.
    """
    s = np.array(similarity, dtype=float)
    np.fill_diagonal(s, 0.0)
    if reading == "printed":
        return np.exp(np.clip(-s / max(2 * sigma**2, 1e-300), -500, 500))
    if reading != "similarity":
        raise BudgetError(f"reading must be one of {READINGS}, got {show(reading)}")
    return np.clip(s, 0, 1)


def embedding(weights: np.ndarray, dimensions: int) -> np.ndarray:
    """The smallest eigenvectors of L = B^-½ (B − W) B^-½, float (d, dimensions), rows of length 1.

    B holds the row sums of W (Algorithm 1, steps 3–6; Ng, Jordan, Weiss 2001). A node without any
    weight gets a row of zeros, not a dimension of its own.
    """
    degree = weights.sum(axis=1, keepdims=True)
    tied = degree > 0
    root = np.where(tied, 1 / np.sqrt(np.where(tied, degree, 1)), 0.0)
    laplacian = np.eye(len(weights)) - root * weights * root.T
    rows = np.where(tied, np.linalg.eigh(laplacian)[1][:, :dimensions], 0.0)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 1e-12)


def spectral_clusters(
    similarity: np.ndarray,
    k: int,
    *,
    sigma: float = 1.0,
    reading: str = "similarity",
    dimensions: int | None = None,
) -> Clusters:
    """Clusters of columns from a similarity matrix (d, d): k, or fewer when fewer rows differ.

    ``dimensions`` is k₁ of Algorithm 1, k if None. Raises BudgetError for k outside 1 … d.

    **Privacy:** post-processing of noisy similarities; the seed is public.
    """
    d = len(similarity)
    check_clusters(k, d)
    if k in (1, d):
        return (tuple(range(d)),) if k == 1 else tuple((j,) for j in range(d))
    from sklearn.cluster import KMeans  # noqa: PLC0415 - a second that only clustering needs
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415

    rows = embedding(affinity(similarity, sigma, reading), min(dimensions or k, d))
    with warnings.catch_warnings():  # fewer different rows than clusters: some stay empty
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = KMeans(k, init="k-means++", n_init=10, random_state=0).fit_predict(rows)
    return in_order([np.flatnonzero(labels == c).tolist() for c in range(k)])


def in_order(clusters: Sequence[Sequence[int]]) -> Clusters:
    """Non-empty clusters by their first member, members rising."""
    return tuple(sorted(tuple(sorted(c)) for c in clusters if len(c)))


def check_clusters(k: int, d: int, what: str = "attributes") -> None:
    """Refuse a number of clusters outside 1 … d, from public facts; ImportError where they can't
    be found without scikit-learn.
    """
    if not is_whole(k, 1, d):
        raise BudgetError(
            f"k must be a whole number of clusters from 1 to d = {d} {what}, got {show(k)}"
        )
    if 1 < k < d:
        with needed_for(f"clustering {what}"):
            import sklearn  # noqa: F401, PLC0415


def noise_to_signal(
    n: int, sizes: Sequence[int], epsilon: Fraction, pairs: Sequence[tuple[int, int]] | None = None
) -> float:
    """The noise of released R over what there is to see, from public facts alone.

    A sketch of some ``pairs`` (all if None) adds Laplace noise of scale Σ Δ(K) / (2 n² ε) to each
    R, about 3·pairs/(n ε). Spectral clustering averages over g attributes, so the ratio is that of
    two eigenvalues: the largest of such a noise matrix, 2·√2·scale·√g, and that of a cluster of g/3
    attributes tied with R = 0.1 (:data:`CLEAR`). Above 1, clusters are more noise than signal;
    above 3, hardly anything else.

    >>> census = noise_to_signal(45_222, (16,) * 15, Fraction(1))
    >>> census < 1 < noise_to_signal(19_719, (6,) * 57, Fraction(1, 2))
    True
    """
    g = len(sizes)
    if n < 2 or g < 2:
        return math.inf
    pairs = [(i, j) for i in range(g) for j in range(i)] if pairs is None else pairs
    scale = float(sketch_noise(n, sizes, pairs, epsilon)) / (2 * n**2)
    return 2 * math.sqrt(2) * scale * math.sqrt(g) / (CLEAR * g / 3)
