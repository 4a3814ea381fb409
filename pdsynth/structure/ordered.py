"""Ordered structure learning: the attributes enter in a given order, only their parents are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..curator import Curator
from ..network import Network
from .candidates import Degree, block

SOURCE = "thesis Alg 3 line 7"


def ordered(curator: Curator, order: Sequence[int], degree: Degree, epsilon: Fraction, score: str, *, origin: str = "public") -> Network:
    """A network whose attributes enter as ``order`` says (columns); each parent set is drawn (thesis, Algorithm 3, lines 3–10).

    ``origin`` is the ledger id that the order comes from, or ``"public"``. The pair is added once: line 9 of the print repeats
    line 8.

    **Privacy:** d−1 exponential mechanisms of ε₁/(d−1), ε₁ in all. The order itself must have been paid for before.
    """
    schema, d = curator.schema, len(curator.schema)
    names = schema.names
    pairs: list[tuple[str, tuple[str, ...]]] = [(names[order[0]], ())]  # line 3
    for i in range(1, d):
        candidates = block(degree, tuple(order[:i]), [order[i]], schema.sizes, origin)  # lines 5–6
        step = f"parents of {names[order[i]]}"
        _, parents = curator.select(candidates, score, epsilon / (d - 1), step=step, source=SOURCE)  # lines 7–8
        pairs.append((names[order[i]], tuple(names[p] for p in parents)))
    return Network(tuple(pairs))
