"""Teaching tables: public records with warm counts and common random numbers."""

import sys
import warnings
from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from ...algorithms import PPBA, GeneticBayes, HMPrivBayes, HPPrivBayes, symmetric_matrix
from ...core import Agree, Recipe, Records
from ...datasets.adult import load_adult
from ...datasets.loaders import load_acs, load_nltcs, load_retail
from ...datasets.tables import Dataset
from ...evaluation.marginals import Marginals
from ...published.noise import CommonNoise
from ..widgets.controls import choice

Fitted = TypeVar("Fitted", bound=Recipe)
AGREEING = HPPrivBayes, HMPrivBayes, PPBA, GeneticBayes
# Ends earlier than a fit's own does, with hardly another distance (tests/course/panels).
COARSE = Agree(tolerance=0.2)
remember = lru_cache(maxsize=128)  # keeps the latest results of a slow function of (table, …)

TABLES: dict[str, Callable[[], Dataset]] = {
    "adult": load_adult,
    "complete": lambda: load_adult(complete=True),  # as HMPrivBayes uses it
    "thesis": lambda: load_adult(coding="thesis"),
    "Adult, yes–no": lambda: load_adult(coding="yes-no"),
    "NLTCS": load_nltcs,
    "ACS": load_acs,
    "Retail, top 20": lambda: load_retail(items=20),  # all 50 items take seconds per move
}


@cache
def _threads(loaded: bool) -> Any:
    """The thread pools of the libraries; scikit-learn brings some of its own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> Any:
    """Within it, BLAS and OpenMP take one thread: on small tables several wait for each other."""
    return _threads("sklearn.cluster" in sys.modules).limit(limits=1)


class TeachingTable:
    """One public table: what a live panel keeps between two moves of a slider."""

    def __init__(self, dataset: Dataset, seed: int = 7) -> None:
        self.dataset, self.schema = dataset, dataset.schema
        self.noise = CommonNoise(seed)
        self.records = Records(self.schema.encode(dataset.frame), self.schema)

    @cached_property
    def real(self) -> Marginals:
        """The real side of all two-way distances."""
        return Marginals(self.records.codes, self.schema, 2)

    @cached_property
    def information(self) -> np.ndarray:
        """Raw mutual information of all pairs of attributes in bits: float array (d, d)."""
        return self.records.pairwise("I")

    def run(self, synthesizer: Fitted) -> Fitted:
        """The synthesizer, fitted with the same underlying random numbers every time.

        Where its tables agree by default they do so by :data:`COARSE`.
        """
        if isinstance(synthesizer, AGREEING) and synthesizer.guarantee == "strict":
            synthesizer.reconcile = synthesizer.reconcile or COARSE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a panel shows what ε can't bear
            return synthesizer.fit(self.records, noise=self.noise.fresh())

    def sample(self, synthesizer: Recipe, seed: int = 11) -> np.ndarray:
        """Codes of a synthetic table of the original size, from a fixed stream."""
        return synthesizer.model_.sample_codes(self.records.n, np.random.default_rng(seed))

    def distances(self, codes: np.ndarray) -> np.ndarray:
        """Symmetric (d, d) matrix of two-way total variation distances, NaN on the diagonal."""
        return symmetric(self.real.distances(codes), len(self.schema))

    def counts(self, attribute: str, codes: np.ndarray | None = None) -> np.ndarray:
        """Number of records with each value of an attribute: int64 array (|X|,)."""
        j = self.schema.index(attribute)
        rows = self.records.codes if codes is None else codes
        return np.bincount(rows[:, j], minlength=self.schema.sizes[j])


def teaching_table(name: str = "thesis", seed: int = 7, kind: type = TeachingTable) -> Any:
    """A table of :data:`TABLES`, kept; FileNotFoundError says where to get one that isn't there."""
    return _open(name, seed, kind)


@lru_cache(maxsize=16)
def _open(name: str, seed: int, kind: type) -> Any:
    return kind(TABLES[name](), seed)


def adult(name: str = "thesis", seed: int = 7, kind: type = TeachingTable) -> Callable[..., Any]:
    """A source of a panel: Adult in one of its codings, unless a dataset is given."""
    return lambda *dataset: kind(*dataset, seed) if dataset else teaching_table(name, seed, kind)


def pair_controls(*usual: str) -> dict[str, Any]:
    """Controls x and y for two attributes of a table: the ``usual`` ones, else the strongest."""

    def first(table: TeachingTable) -> tuple[str, ...]:
        names = table.schema.names
        strongest = max(combinations(range(len(names)), 2), key=table.information.__getitem__)
        return usual if set(usual) <= set(names) else tuple(names[j] for j in strongest)

    return {
        "x": lambda table: choice("attribute X", table.schema.names, first(table)[0]),
        "y": lambda table: choice("attribute Y", table.schema.names, first(table)[1]),
    }


def mean_without(distances: np.ndarray, attribute: int) -> float:
    """Mean distance of the pairs in which one attribute doesn't stand."""
    return float(np.nanmean(np.delete(np.delete(distances, attribute, 0), attribute, 1)))


def symmetric(values: np.ndarray, d: int) -> np.ndarray:
    """One number per pair, in the order of ``combinations``, as (d, d); NaN on the diagonal."""
    matrix = symmetric_matrix(d, list(combinations(range(d), 2)), values)
    np.fill_diagonal(matrix, np.nan)
    return matrix
