"""Edges of bins from noisy choices: heavy cells that stand alone, and medians of medians.

The recursion is that of Kaplan, Schnapp and Stemmer (2022, algorithm 1): one choice halves the
records, the next ones halve each half, so all edges of a level cost what one costs.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..core import Noise, Quantity, exponential_mechanism

# Of ε, for one heavy cell after the other; what they don't need goes to the medians. The first one
# has the most: where half of the records share a value, no median says so.
FOR_ATOMS = Fraction(1, 4), Fraction(1, 12), Fraction(1, 12)
STEPS = 64  # places, evenly in a node, where a median may lie; besides powers of two from its ends


def plan_edges(number: int) -> tuple[int, int]:
    """Levels of the recursion and heavy cells looked for, of so many bins.

    Half of the bins are for medians, two of the others for each heavy cell.

    >>> [plan_edges(number) for number in (2, 4, 8, 16, 32)]
    [(1, 0), (1, 1), (2, 2), (3, 3), (4, 3)]
    """
    depth = max(1, number.bit_length() - 2)
    return depth, min(len(FOR_ATOMS), (number - 2**depth) // 2)


def private_edges(
    counts: np.ndarray, number: int, heavy: int, moved: int, epsilon: Fraction, noise: Noise
) -> list[int]:
    """Exactly ``number`` − 1 edges between a column's cells, rising: edge e stands before cell e.

    ``counts``: int64 (cells,), more cells than bins. ``heavy``: a public number of records; a cell
    that holds clearly more stands alone. ``moved``: in how many cells a neighbour differs, by one
    each. The edges that no choice needs halve the widest bins.

    **Privacy:** ε-DP. Every choice is an exponential mechanism over public cells, or over those
    inside a node, which earlier choices fixed; their exponents add up to ε along a path.

    *Heavy cells*, one choice after the other: the score is moved · counts, and moved · ``heavy``
    for STOP, which stands there as often as there are cells, so that many light cells don't
    outweigh it. A neighbour changes a count by at most 1, so the score by at most ``moved``.

    *Medians*: all nodes of one level share its exponent e. The score of an edge is −|L − R| of the
    records to its left and right within the node, in whole records, and its sensitivity ``moved``:
    a record that is replaced within one node moves L − R by at most 2 = moved, so the choice there
    loses at most e. If it leaves one node and enters another, L − R moves by 1 in each, so each of
    the two choices loses at most e · 1 / moved = e/2, and the level e. A record that comes or goes
    moves one node by 1 = moved. Cells are in one node of a level, or in none. Levels compose
    sequentially. What is counted of heavy cells is 0 from there on for every neighbour.
    """
    depth, most = plan_edges(number)
    counts, size, rest = counts.copy(), len(counts), epsilon
    cuts = {0, size}
    for i in range(most):
        part = epsilon * FOR_ATOMS[i]
        scores = np.concatenate([moved * counts, np.full(size, moved * heavy)])
        among = [*range(size), *["STOP"] * size]
        cell = _choose(scores, moved, part, noise.child(f"heavy {i}"), among)
        rest -= part
        if cell >= size:
            break
        cuts |= {cell, cell + 1}
        counts[cell] = 0
    nodes = [(0, size)]
    for level in range(depth):
        halves = []
        for low, high in nodes:
            places = candidate_edges(low, high)
            if not len(places):
                continue
            before = np.concatenate([[0], np.cumsum(counts[low:high])])
            scores = -np.abs(2 * before[places - low] - before[-1])
            stream = noise.child(f"level {level}, from {low}")
            at = int(places[_choose(scores, moved, rest / depth, stream, places.tolist())])
            cuts.add(at)
            halves += [(low, at), (at, high)]
        nodes = halves
    return _fill(cuts, number)


def least_alone(n: int, number: int, cells: int, epsilon: Fraction) -> int:
    """How many of n records must share a cell for it to stand alone in 19 of 20 fits; n: none does.

    As :func:`private_edges` chooses the first one, against STOPs at n / ``number`` records.

    >>> least_alone(50_000, 16, 2**14, Fraction(1, 50))
    8205
    """
    part = epsilon * FOR_ATOMS[0] if plan_edges(number)[1] else 0
    return min(n, math.ceil(n // number + math.log((20 * cells) ** 2) / part)) if part else n


def _choose(scores: np.ndarray, moved: int, epsilon: Fraction, noise: Noise, among: list) -> int:
    """The number of one candidate by the exponential mechanism. **Privacy:** costs ε."""
    quantity = Quantity(scores.astype(np.int64), "records")
    return exponential_mechanism(quantity, Quantity(moved, "records"), epsilon, noise, among=among)


def candidate_edges(low: int, high: int) -> np.ndarray:
    """Where the median of a node may lie: int64, rising, each once, of its inner edges.

    Each place counts once, so the choice is exact over them; they are a function of the node.

    >>> candidate_edges(0, 5).tolist()
    [1, 2, 3, 4]
    """
    width = high - low
    if width <= STEPS:
        return np.arange(low + 1, high)
    even = low + np.arange(1, STEPS) * width // STEPS
    powers = 2 ** np.arange(width.bit_length() - 1)
    return np.unique(np.concatenate([even, low + powers, high - powers]))


def _fill(cuts: set[int], number: int) -> list[int]:
    """So many bins: the widest are halved, the first of equal ones first.

    **Privacy:** post-processing.
    """
    edges = sorted(cuts)
    while len(edges) <= number:
        widths = np.diff(edges)
        at = int(np.argmax(widths))
        edges.insert(at + 1, edges[at] + int(widths[at]) // 2)
    return edges[1:-1]
