"""Tools of the privacy tests: the library's own, and all small tables with all their neighbours."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from pdsynth.audit.detectors import RecordedNoise, law, log_ratio, permute_and_flip_law
from pdsynth.audit.tables import cells_of, curator_of, records_of, schema_of

__all__ = [
    "RecordedNoise",
    "Silent",
    "cells_of",
    "curator_of",
    "largest_change",
    "law",
    "log_ratio",
    "multisets",
    "neighbourhoods",
    "permute_and_flip_law",
    "records_of",
    "schema_of",
]

Silent = RecordedNoise  # until the tests of the other floors use the new name


def multisets(n: int, cells: int) -> Iterator[tuple[int, ...]]:
    """All tables of n records over some cells, as sorted tuples of cell numbers."""
    return itertools.combinations_with_replacement(range(cells), n)


def neighbourhoods(n: int, cells: int) -> Iterator[list[tuple[int, ...]]]:
    """All tables that share n−1 records; every pair of neighbours is in one of these lists."""
    for shared in multisets(n - 1, cells):
        yield [tuple(sorted((*shared, extra))) for extra in range(cells)]


def largest_change(score: Callable[[np.ndarray], float], n: int, shape: tuple[int, ...]) -> float:
    """The largest difference of a score of count tables between neighbours, over all tables."""
    cells = math.prod(shape)

    @cache
    def value(records: tuple[int, ...]) -> float:
        return score(np.bincount(records, minlength=cells).reshape(shape))

    around = (list(map(value, tables)) for tables in neighbourhoods(n, cells))
    return max(max(values) - min(values) for values in around)


class Forced:
    """Answers that only depend on a seed and on what is asked; ``asked`` keeps the shapes, scales
    and sensitivities. Stands in the place of the curator's two mechanisms."""

    def __init__(self, seed):
        self.rng, self.asked = np.random.default_rng(seed), []

    def laplace(self, counts, scale, noise):
        self.asked.append(("table", np.shape(counts), scale))
        return self.rng.integers(-2, 30, np.shape(counts)) * 3 ** int(self.rng.integers(4))

    def exponential(self, scores, sensitivity, epsilon, noise, **options):
        self.asked.append(("choice", len(scores.value), sensitivity.value, epsilon))
        return int(self.rng.integers(len(scores.value)))
