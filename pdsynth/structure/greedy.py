"""GreedyBayes: the structure learner of PrivBayes."""

from __future__ import annotations

from fractions import Fraction

from ..network import Network
from ..privacy.curator import Curator
from ..privacy.mechanisms import Noise
from .candidates import ParentRule, block
from .restrictions import Restriction

SOURCE = "thesis Alg 1 line 6"


def greedy(
    curator: Curator,
    degree: ParentRule,
    epsilon: Fraction,
    score: str,
    noise: Noise,
    *,
    first: int | None = None,
    restriction: Restriction | None = None,
) -> Network:
    """A network grown from a random root, child and parents chosen together (thesis, Algorithm 1; PrivBayes, GreedyBayes).

    ``epsilon`` is ε₁ for all selections; ``first`` fixes the root's column (public), otherwise it is uniform. What a
    ``restriction`` settles (a target, its sensitive attributes) stands first and is not selected.

    **Privacy:** the root doesn't depend on the records; d−1 exponential mechanisms of ε₁/(d−1) (fewer and larger where a
    restriction settles pairs), sequential, ε₁ in all. Candidates are public: domains, n, ε, and what earlier selections released.
    """
    schema, d = curator.schema, len(curator.schema)
    permitted = (restriction or Restriction()).on(schema.names)
    pairs = list(permitted.fixed_pairs)  # lines 1–2
    if not pairs:
        roots = permitted.ready(range(d), ())
        pairs = [(roots[noise.child("root").below(len(roots))] if first is None else first, ())]
    placed = [child for child, _ in pairs]
    share = epsilon / max(d - len(pairs), 1)
    while len(pairs) < d:
        left = [j for j in range(d) if j not in placed]
        candidates = block(degree, tuple(placed), left, schema.sizes, restriction=permitted if restriction else None)  # lines 4–5
        pair = curator.select(candidates, score, share, step=f"pair {len(pairs) + 1} of {d}", source=SOURCE)  # line 6
        pairs.append(pair)  # line 7
        placed.append(pair[0])
    return Network.of_columns(pairs, schema.names)
