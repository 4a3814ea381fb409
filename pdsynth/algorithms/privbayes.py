"""PrivBayes: a greedy network (GreedyBayes), then one noisy table per attribute."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..core.budgets import Parts, Uniform
from ..core.curator import Curator
from ..core.errors import BudgetError, is_one_of, progress
from ..core.network import Network, Restriction, permit
from ..core.recipe import Recipe
from ..core.schema import Facts
from ..core.structure import Learner, ParentRule, Shares, StructureResult, list_candidates

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
        """GreedyBayes. **Privacy:** as :func:`greedy`, ε₁."""
        schema = facts.schema
        first = {None: None, "largest": int(np.argmax(schema.sizes))}.get(self.root, -1)
        if first == -1:
            first = schema.index(str(self.root))
        network = greedy(
            curator,
            rule,
            shares["selections"],
            self.measure,
            first=first,
            restriction=self.restriction,
        )
        return StructureResult(network, derived=self.derived(rule, facts))


def greedy(
    curator: Curator,
    rule: ParentRule,
    epsilon: Fraction,
    score: str,
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
    permitted = permit(restriction, schema.names)
    pairs = list(permitted.fixed_pairs)  # lines 1–2
    if not pairs:
        if first is None:
            roots = permitted.ready(range(d), ())
            first = roots[curator.noise.child("root").below(len(roots))]
        pairs = [(first, ())]
    share = epsilon / max(d - len(pairs), 1)
    for _ in progress(range(len(pairs), d), "network", unit="attribute"):
        placed = tuple(child for child, _ in pairs)
        rest = [j for j in range(d) if j not in placed]
        candidates = list_candidates(rule, placed, rest, schema.sizes, permitted)  # lines 4–5
        step = f"pair {len(pairs) + 1} of {d}"  # lines 6–7
        pairs.append(curator.select(candidates, score, share, source=SOURCE, step=step))
    return Network.of_columns(pairs, schema.names)


@dataclass(eq=False, repr=False, kw_only=True)
class Preset(Recipe):
    """A network learnt with a share of ε, then one noisy table per attribute.

    ``k``: largest number of parents; ``"auto"`` chooses from public facts. ``share_structure``: β,
    the share of ε for the structure (TODS recommends 0.3, the thesis has 1/2).
    ``theta_usefulness``: θ of TODS: a table's mean cell must be at least this many times its noise
    scale.

    **Privacy:** what the subclass says.
    """

    k: int | str = "auto"
    share_structure: float = 0.3
    theta_usefulness: float = 4


@dataclass(eq=False, repr=False, kw_only=True)
class PrivBayes(Preset):
    """PrivBayes: a greedy network by the exponential mechanism (thesis, Algorithms 1 and 2).

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in every synthesizer, see
        :class:`~pdsynth.core.recipe.Recipe`.
    k, share_structure, theta_usefulness : as :class:`Preset` says.
    score : ``"I"`` mutual information, ``"R"`` distance from independence, ``"F"`` (binary tables);
        ``"auto"``: R under strict.
    reading : ``"tods"``; strict refuses all others. ``"thesis"``: Algorithm 2 to the letter (half
        the noise, 1.5 ε in all). ``"at most k"``: parent sets of fewer than k attributes compete,
        too, and all d tables are paid for. ``"bits"``: on the binary encoding; k counts bits.
    restriction : edges that the network must or may not have, by public policy; then all d tables
        are measured.

    |Π| ≤ k is read as exactly min(k, i−1), without which the first k conditionals can't be derived;
    general domains under ``k="auto"`` use maximal sets and pay for all d tables.

    **Privacy:** strict: pure ε-DP under replacing one record: d−1 exponential mechanisms of
    ε₁/(d−1) and d−k (or d) noisy tables, sequentially.

    >>> PrivBayes(epsilon=0.5, k=2)
    PrivBayes(epsilon=0.5, k=2, guarantee='strict')
    """

    score: str = "auto"
    reading: str = "tods"
    restriction: Restriction | None = None

    readings: ClassVar[tuple[str, ...]] = ("tods", "thesis", "at most k", "bits")

    def _parts(self, facts: Facts) -> Parts:
        structure = Greedy(self.k, self.theta_usefulness, self.score, self.restriction)
        return Parts(structure, Uniform("thesis Alg 2 line 4"))
