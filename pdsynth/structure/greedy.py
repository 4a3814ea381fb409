"""GreedyBayes: the structure learner of PrivBayes."""

from __future__ import annotations

from fractions import Fraction

from ..curator import Curator
from ..mechanisms import Noise
from ..network import Network
from .candidates import Degree, block

SOURCE = "thesis Alg 1 line 6"


def greedy(curator: Curator, degree: Degree, epsilon: Fraction, score: str, noise: Noise, *, first: int | None = None) -> Network:
    """A network grown from a random root, child and parents chosen together (thesis, Algorithm 1; PrivBayes, GreedyBayes).

    ``epsilon`` is ε₁ for all d−1 selections; ``first`` fixes the root's column (public), otherwise it is uniform.

    **Privacy:** the root doesn't depend on the records; d−1 exponential mechanisms of ε₁/(d−1), sequential, ε₁ in all.
    Candidates are public: domains, n, ε, and what earlier selections released.
    """
    schema, d = curator.schema, len(curator.schema)
    root = noise.child("root").below(d) if first is None else first
    placed = [root]
    pairs: list[tuple[int, tuple[int, ...]]] = [(root, ())]  # lines 1–2
    for step in range(2, d + 1):
        left = [j for j in range(d) if j not in placed]
        candidates = block(degree, tuple(placed), left, schema.sizes)  # lines 4–5
        pair = curator.select(candidates, score, epsilon / (d - 1), step=f"pair {step} of {d}", source=SOURCE)  # line 6
        pairs.append(pair)  # line 7
        placed.append(pair[0])
    return Network(tuple((schema.names[c], tuple(schema.names[p] for p in parents)) for c, parents in pairs))
