"""Tools of the privacy tests: the library's own, and all small tables with all their neighbours."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from pdsynth import ConsistentBayes, Schema
from pdsynth.audit.detectors import RecordedNoise, law, log_ratio, permute_and_flip_law
from pdsynth.audit.pairs import cells_of, curator_of, records_of, schema_of
from pdsynth.audit.tape import Explorer, compare, differences, walk
from pdsynth.audit.transcripts import Transcripts
from pdsynth.baselines.priview import PriView
from pdsynth.core import curator as curator_room
from pdsynth.core.agreement import Agree
from pdsynth.core.budgets import AsMeasured

__all__ = [
    "RecordedNoise",
    "Silent",
    "as_measured",
    "cells_of",
    "curator_of",
    "fits_of",
    "frames_of",
    "interference",
    "largest_change",
    "law",
    "log_ratio",
    "multisets",
    "neighbourhoods",
    "permute_and_flip_law",
    "quick_case",
    "records_of",
    "schema_of",
    "weaken",
]


class Silent(RecordedNoise):
    """No noise, and a ledger that takes it for fresh: to see the rules of a line alone."""

    reproducible = False


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


def frames_of(tables: Sequence[Any], sizes: Sequence[int]) -> tuple[tuple[Any, ...], Schema]:
    """Tables of codes as frames, with their schema."""
    schema = schema_of(sizes)
    rows = (np.asarray(table).astype(np.uint8).reshape(-1, len(sizes)) for table in tables)
    return tuple(map(schema.decode, rows)), schema


def fits_of(synthesizer: Any, frames: Sequence[Any], schema: Schema) -> Any:
    """One fit per frame, through the public door: each a function of a random source."""

    def fit(frame, noise):
        return synthesizer.clone().fit(frame, schema=schema, noise=noise)

    return tuple(partial(fit, frame) for frame in frames)


def as_measured(synthesizer: Any) -> Any:
    """The same synthesizer; its tables stay as measured, or agree but roughly where they must.

    Making tables agree asks nothing of a mechanism: a replay without it sees the same, and sooner.
    """
    if isinstance(synthesizer, PriView):  # its views agree in its own way
        return synthesizer
    rough = isinstance(synthesizer, ConsistentBayes)
    how = Agree(tolerance=1) if rough else AsMeasured()
    return synthesizer.clone().set_params(reconcile=how)


def quick_case(case: Any) -> Any:
    """A case of the catalogue, whose whole fit is such a one: an audit sees the same of it."""
    if not isinstance(case.attack, Transcripts):
        return case
    fit = case.attack.release
    quick = replace(fit, make=lambda epsilon: as_measured(fit.make(epsilon)))
    return replace(case, attack=replace(case.attack, release=quick))


def interference(fits: Any, number: int) -> str:
    """What two fits show differently though their mechanisms answer alike; "" if nothing."""
    walked = walk(fits, Explorer(number, 5), number)
    asked = [compare(*pair).why for pair in walked.pairs]
    return walked.parted or next(filter(None, asked), "") or differences(walked)


def weaken(patch, factor, room=curator_room) -> None:
    """Plants noise whose scales are divided by a factor, behind a ledger that says otherwise."""
    laplace, zero_sum = room.laplace_mechanism, room.zero_sum_mechanism

    def less(counts, scale, noise):
        if isinstance(scale, tuple):
            return laplace(counts, tuple(s / factor for s in scale), noise)
        return laplace(counts, scale / factor, noise)

    patch.setattr(room, "laplace_mechanism", less)
    patch.setattr(
        room,
        "zero_sum_mechanism",
        lambda counts, scale, noise: zero_sum(counts, scale / factor, noise),
    )
