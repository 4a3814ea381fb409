"""Ordered structure learning: the attributes enter in a given order, only their parents are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..network import Network
from ..privacy.curator import Curator
from .candidates import ParentRule, block
from .restrictions import Restriction

SOURCE = "thesis Alg 3 line 7"


def ordered(
    curator: Curator,
    order: Sequence[int],
    degree: ParentRule,
    epsilon: Fraction,
    score: str,
    *,
    depends_on: str = "public",
    restriction: Restriction | None = None,
) -> Network:
    """A network whose attributes enter as ``order`` says (columns); each parent set is drawn (thesis, Algorithm 3, lines 3–10).

    ``depends_on`` is the ledger id that the order comes from, or ``"public"``. The pair is added once: line 9 of the print repeats
    line 8. A ``restriction`` opens the order with what it settles, and moves no attribute before its forced parents.

    **Privacy:** d−1 exponential mechanisms of ε₁/(d−1) (fewer and larger where a restriction settles pairs), ε₁ in all. The order
    itself must have been paid for before.
    """
    schema, d = curator.schema, len(curator.schema)
    names, permitted = schema.names, (restriction or Restriction()).on(schema.names)
    order = permitted.reorder(order)
    pairs = list(permitted.fixed_pairs) or [(order[0], ())]  # line 3
    share = epsilon / max(d - len(pairs), 1)
    for i in range(len(pairs), d):
        candidates = block(degree, tuple(order[:i]), [order[i]], schema.sizes, depends_on, permitted if restriction else None)  # lines 5–6
        step = f"parents of {names[order[i]]}"
        pairs.append(curator.select(candidates, score, share, step=step, source=SOURCE))  # lines 7–9
    return Network.of_columns(pairs, names)
