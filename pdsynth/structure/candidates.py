"""The attribute–parent pairs that a selection may choose from."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..privacy.curator import Candidates
from .parent_rules import ParentRule
from .restrictions import Permitted

Pair = tuple[int, tuple[int, ...]]


def list_candidates(
    rule: ParentRule,
    placed: tuple[int, ...],
    children: Sequence[int],
    sizes: Sequence[int],
    permitted: Permitted,
    depends_on: str = "public",
) -> Candidates:
    """All pairs of some children with parents among ``placed``, as far as policy permits them.

    A child whose forced parents aren't all placed has no candidates yet; the others keep their
    forced parents in every set.
    """
    parts = []
    for child in permitted.ready(children, placed):
        forced, free = permitted.parents(child, placed)
        taken = sizes[child] * math.prod(sizes[p] for p in forced)
        for rows in rule.after_forcing(len(forced)).parent_sets(free, taken, sizes):
            if forced:
                rows = np.hstack([np.tile(np.array(forced, dtype=np.int64), (len(rows), 1)), rows])
            parts.append((np.full(len(rows), child, dtype=np.int64), rows))
    return join_parts(parts, depends_on)


def join_pairs(pairs: Iterable[Pair]) -> Candidates:
    """Public candidates from single pairs."""
    alike: dict[int, list[Pair]] = {}
    for pair in pairs:
        alike.setdefault(len(pair[1]), []).append(pair)
    parts = (
        (
            np.array([child for child, _ in same]),
            np.array([parents for _, parents in same], dtype=np.int64).reshape(len(same), number),
        )
        for number, same in alike.items()
    )
    return join_parts(parts, "public")


def join_parts(parts: Iterable[tuple[np.ndarray, np.ndarray]], depends_on: str) -> Candidates:
    """Candidates from pieces (children (m,), parents (m, s)): one pair of arrays per parent number.

    Smaller sets come first, otherwise the order stays.
    """
    alike: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    for children, parents in parts:
        alike.setdefault(parents.shape[1], []).append((children, parents))
    by_size = [
        tuple(np.concatenate(column) for column in zip(*rows, strict=True))
        for _, rows in sorted(alike.items())
    ]
    return Candidates(tuple(by_size), depends_on)  # type: ignore[arg-type]
