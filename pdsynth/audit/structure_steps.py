"""Steps that learn structures: orders, candidate lists, scores and their sensitivities.

Called as ``step(…, door, noise, epsilon)``; arguments before the door stand in the catalogue. Their
laws are finite, so they are exact.
"""

import math
from collections.abc import Callable
from fractions import Fraction as Q
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from ..algorithms import abn_strict
from ..core import (
    GRID,
    SCORES,
    Candidates,
    Curator,
    Measured,
    Network,
    Noise,
    Quantity,
    entropy_sensitivity,
    exponential_mechanism,
)
from ..published.doors import raw_door
from ..published.privabn import abn_published, printed_sensitivity
from .pairs import CHILDREN, ELP_PARENTS, PARENTS


def list_lone_ones() -> Candidates:
    """Every child among A, C₁ … C₉ with every parent among B, D₁ … D₄₀."""
    children = [0, *range(2, 2 + CHILDREN)]
    parents = [1, *range(2 + CHILDREN, 2 + CHILDREN + PARENTS)]
    grid = np.array(list(product(children, parents)))
    return Candidates(((grid[:, 0], grid[:, 1:]),))


# What stands in for the sensitivity of mutual information, by n, in steps of 2^-30 bit. S_bin is
# proved for two values.
SENSITIVITIES = {
    "own": lambda n: None,
    "PrivABN's, in nats": printed_sensitivity,
    "S_bin": lambda n: math.ceil(entropy_sensitivity(n) * GRID),
    "S_bin in nats": lambda n: math.ceil(entropy_sensitivity(n) * math.log(2) * GRID),
}


def one_pair(sensitivity: str, door: Curator, noise: Noise, epsilon: Q) -> Any:
    """An exponential mechanism with mutual information in bits and one of :data:`SENSITIVITIES`.

    **Privacy:** ε with the score's own sensitivity.
    """
    select = selection(door, SENSITIVITIES[sensitivity](door.n))
    return select(list_lone_ones(), "I", epsilon, step="pair", source="exponential mechanism")


def selection(door: Curator, assumed: int | None) -> Callable[..., Any]:
    """The door's selection, or the raw door's, which runs with an assumed sensitivity.

    **Privacy:** as :meth:`Curator.select`.
    """
    if assumed is None:
        return door.select
    return partial(raw_door(door).select, printed_sensitivity=assumed)


def sum_of_pairs(k: int, terms: int, door: Curator, noise: Noise, epsilon: Q) -> Any:
    """x0's k parents by a sum of k mutual informations, with the sensitivity of ``terms`` (1 or k).

    **Privacy:** ε · k / terms.
    """
    sets = np.array(list(combinations(range(1, 1 + k + ELP_PARENTS), k)))
    candidates = Candidates(((np.zeros(len(sets), dtype=np.int64), sets),))
    sensitivity = int(SCORES["I"].sensitivity(door.n, 2, 2)) if terms == 1 else None
    select = selection(door, sensitivity)
    return select(
        candidates, "I", epsilon, step="parents of x0", source="ELPrivBayes", pairwise=True
    )


def farthest_pair(raw: bool, door: Curator, noise: Noise, epsilon: Q) -> Any:
    """A pair of columns by its residual, or STOP; ``raw``: against raw one-way tables.

    The sound form has released ones, taken as given: they say that nobody has a one.

    **Privacy:** ε against releases; raw: 2ε, as the expected counts move with the record.
    """
    candidates = list_lone_ones()
    sets = [(child, *parents) for child, parents in (candidates[i] for i in range(len(candidates)))]
    alone = [
        raw_door(door).peek("what is expected", "raw one-way tables", (j,))
        if raw
        else np.array([door.n, 0])
        for j in range(len(door.schema))
    ]
    expected = [
        np.rint(np.multiply.outer(*(alone[j] for j in s)) / door.n).astype(np.int64) for s in sets
    ]
    return door.choose_table(
        sets, expected, np.zeros(len(sets), dtype=np.int64), epsilon, step="pair", source="residual"
    )


def edges(number: int, door: Curator, noise: Noise, epsilon: Q) -> tuple[int, ...]:
    """All edges of so many bins of x0: heavy values first, then medians. **Privacy:** ε."""
    cuts, _ = door.choose_edges(0, number, epsilon, step="edges(x0)", source="algorithm 1")
    return tuple(cuts)


def median(sensitivity: int, door: Curator, noise: Noise, epsilon: Q) -> int:
    """One edge of x0 by the records left and right of it, −|L − R|, with an assumed sensitivity.

    **Privacy:** 2ε / ``sensitivity``: a replaced record moves L − R by 2.
    """
    counts = raw_door(door).peek("median", "counts of x0 for the scores", (0,))
    scores = Quantity(-np.abs(2 * np.cumsum(counts)[:-1] - door.n), "records")
    return exponential_mechanism(scores, Quantity(sensitivity, "records"), epsilon, noise)


def abn_as_printed(door: Curator, noise: Noise, epsilon: Q) -> Network:
    """ABN's pairs as printed.

    **Privacy:** none: see :func:`pdsynth.published.privabn.abn_published`.
    """
    return Network.of_columns(abn_published(door, epsilon, noise), door.schema.names)


def abn_repaired(door: Curator, noise: Noise, epsilon: Q) -> Network:
    """The strict form of ABN.

    **Privacy:** at most three selections of ε/3.
    """
    pairs, _ = abn_strict(door, epsilon / 3, most=2, tables=3, epsilon2=Q(1))
    return Network.of_columns(pairs, door.schema.names)


def noisy_averages(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """The sums of residuals that order strict HPPrivBayes, as the integers with the noise.

    The columns are taken as public, each value as often as any other.

    **Privacy:** ε.
    """
    for j, size in enumerate(door.schema.sizes):
        counts = np.full(size, door.n // size, dtype=np.int64)
        door.released[j] = Measured(counts, Q(1), "public")
    pairs = list(combinations(range(len(door.schema)), 2))
    sums, _ = door.residuals(pairs, epsilon, step="order", source="order by residuals", sums=True)
    return [np.rint(sums * 2 * door.n).astype(np.int64)]
