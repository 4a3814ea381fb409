"""GreedyBayes: the structure learner of PrivBayes."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..domain.facts import Facts
from ..domain.progress import progress
from ..errors import BudgetError, is_one_of
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.mechanisms import Noise
from .candidates import list_candidates
from .learner import Learner, Shares, StructureResult
from .parent_rules import ParentRule
from .restrictions import Restriction

SOURCE = "thesis Alg 1 line 6"


@dataclass(frozen=True)
class Greedy(Learner):
    """PrivBayes: child and parents are chosen together.

    ``root``: an attribute, ``"largest"`` domain, or None for a random one. ``score``: also ``"F"``
    on binary tables.
    """

    root: str | None = None

    scores: ClassVar[tuple[str, ...]] = ("auto", "I", "R", "F")

    def check(self, facts: Facts) -> None:
        """Refuse an unknown root, and F on larger domains, too."""
        super().check(facts)
        if self.root is not None and not is_one_of(self.root, ("largest",)):
            facts.schema.index(self.root)
        if self.score == "F" and max(facts.schema.sizes) > 2:
            raise BudgetError("score 'F' needs a table of two-valued attributes: use score='R'")

    def grow(
        self, curator: Curator, shares: Shares, rule: ParentRule, facts: Facts
    ) -> StructureResult:
        """GreedyBayes.

        **Privacy:** as :func:`greedy`, ε₁.
        """
        schema = facts.schema
        first = {None: None, "largest": int(np.argmax(schema.sizes))}.get(self.root, -1)
        if first == -1:
            first = schema.index(str(self.root))
        network = greedy(
            curator,
            rule,
            shares["selections"],
            self.measure,
            curator.noise,
            first=first,
            restriction=self.restriction,
        )
        return StructureResult(network, derived=self.derived(rule, facts))


def greedy(
    curator: Curator,
    rule: ParentRule,
    epsilon: Fraction,
    score: str,
    noise: Noise,
    *,
    first: int | None = None,
    restriction: Restriction | None = None,
) -> Network:
    """A network grown from a random root (thesis, Algorithm 1; PrivBayes, GreedyBayes).

    ``epsilon`` is ε₁ for all selections; ``first`` fixes the root's column (public), otherwise it
    is uniform. What a ``restriction`` settles (a target, its sensitive attributes) stands first and
    is not selected.

    **Privacy:** the root doesn't depend on the records; d−1 exponential mechanisms of ε₁/(d−1)
    (fewer and larger where a restriction settles pairs), sequential, ε₁ in all. Candidates are
    public: domains, n, ε, and what earlier selections released.
    """
    schema, d = curator.schema, len(curator.schema)
    permitted = (restriction or Restriction()).on(schema.names)
    pairs = list(permitted.fixed_pairs)  # lines 1–2
    if not pairs:
        roots = permitted.ready(range(d), ())
        pairs = [(roots[noise.child("root").below(len(roots))] if first is None else first, ())]
    share = epsilon / max(d - len(pairs), 1)
    for _ in progress(range(len(pairs), d), "network", unit="attribute"):
        placed = tuple(child for child, _ in pairs)
        left = [j for j in range(d) if j not in placed]
        candidates = list_candidates(rule, placed, left, schema.sizes, permitted)  # lines 4–5
        pairs.append(
            curator.select(
                candidates, score, share, source=SOURCE, step=f"pair {len(pairs) + 1} of {d}"
            )
        )  # lines 6–7
    return Network.of_columns(pairs, schema.names)
