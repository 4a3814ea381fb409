"""PrivABN: parent sets of two-valued attributes that grow by one attribute at a time (ABN)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..core.budgets import Parts, Uniform
from ..core.curator import Curator
from ..core.errors import BudgetError, plural, positive, progress
from ..core.network import Network, Restriction, permit
from ..core.recipe import Recipe
from ..core.schema import Facts, Schema
from ..core.structure import (
    AUTO_CELLS,
    MaxCells,
    Pair,
    Restricted,
    Shares,
    StructureResult,
    check_cells,
    check_parents,
    check_width,
    join_pairs,
    name_origin,
)
from ..core.unit import ONE_REPLACED

SELECTION, SDG = "PrivABN Alg 2 line 6", "PrivABN Alg 4 line 5"


@dataclass(frozen=True)
class Adaptive(Restricted):
    """PrivABN: parent sets of two-valued attributes grow until noise outweighs them.

    ``k``: largest number of parents; ``"auto"``: the largest θ-useful number.
    """

    k: int | str = "auto"
    theta_usefulness: float = 4
    restriction: Restriction | None = None

    def check(self, facts: Facts) -> None:
        """Refuse impossible degrees and restrictions, and attributes of more than two values."""
        check_parents(self.k, len(facts.schema))
        self.check_tables(facts.schema)
        check_width(len(facts.schema), "an adaptive network", "two-valued columns")
        super().check(facts)
        if max(facts.schema.sizes) > 2:
            raise BudgetError(
                "Adaptive() needs two-valued attributes: use PrivABN, which takes "
                "every table through its bits"
            )

    def check_tables(self, schema: Schema) -> None:
        """Refuse tables beyond memory."""
        check_cells(self.k, schema)

    def asks(self, facts: Facts) -> Shares:
        """All of it, unless no edge is worth its noise or policy settles all."""
        nothing = self.largest(facts) == 0 or not self.permitted(facts).searchable
        return {} if nothing else {"selections": Fraction(1)}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """ABN by nested selections.

        **Privacy:** as :func:`abn_strict`; ε₁, of which what STOP leaves over is charged all the
        same.
        """
        if not shares.get("selections"):
            return self.policy_alone(facts)
        pairs, rule = self.grow(curator, shares["selections"], facts)
        network = Network.of_columns(pairs, facts.schema.names)
        result = StructureResult(network, known=self.known(facts), rule=rule)
        return name_origin(result, curator)

    def grow(self, curator: Curator, epsilon: Fraction, facts: Facts) -> tuple[list[Pair], str]:
        """The pairs, parents before children, and how many parents there may be, in words.

        **Privacy:** ``epsilon``.
        """
        most, m = self.largest(facts), len(facts.schema)
        total = count_selections(m, most)
        pairs, used = abn_strict(
            curator,
            epsilon / total,
            most=most,
            tables=m,
            epsilon2=facts.epsilon2,
            restriction=self.restriction,
        )
        curator.charge_unused(
            epsilon * (total - used) / total, "selections that STOP left over", "algorithms §6.4"
        )
        return pairs, f"at most {plural(most, 'parent')}"

    def largest(self, facts: Facts) -> int:
        """Largest in-degree: k, or for ``"auto"`` with 2^(k+1) θ-useful cells."""
        if not isinstance(self.k, str):
            return int(self.k)
        m, theta = len(facts.schema), positive("theta_usefulness", self.theta_usefulness)
        useful = min(MaxCells.of(facts.n, m, facts.epsilon2, theta).cells, Fraction(AUTO_CELLS))
        return min(max(math.floor(useful).bit_length() - 2, 0), m - 1)


def count_selections(d: int, most: int) -> int:
    """Selections that :func:`abn_strict` may need for d attributes: Σ min(most, i−1)."""
    return sum(min(most, i - 1) for i in range(2, d + 1))


def growth_penalty(size: int, n: int, tables: int, epsilon2: Fraction) -> int:
    """What a set of ``size`` parents pays for one more, in K: 2n² (pen(size+1) − pen(size)).

    pen(j) = 2^(j+1) m / (n ε₂) is the expected distance that the noise of a table with j parents
    adds; it depends on public numbers only. Beyond 2^60 it stays there, so that scores fit 64 bits.
    """
    scale = ONE_REPLACED.scale(epsilon2, tables)
    return min(math.floor(n * 2 ** (size + 1) * scale), 2**60)


def abn_strict(
    curator: Curator,
    each: Fraction,
    *,
    most: int,
    tables: int,
    epsilon2: Fraction,
    columns: Sequence[int] | None = None,
    label: str = "",
    restriction: Restriction | None = None,
) -> tuple[list[Pair], int]:
    """ABN by nested exponential mechanisms of ``each``, and how many it used.

    For every node: one selection over (S, {p}), p placed before; then up to ``most`` − 1 further
    ones over the remaining placed attributes and STOP, with score R less the public penalty of
    :func:`growth_penalty` for ``tables`` tables that share ``epsilon2``. STOP is the set as it
    stands. A node without placed attributes left to add stops by itself. What a ``restriction``
    settles stands first; forced parents are in a set from the beginning.

    **Privacy:** every selection costs ``each``: its candidates are all placed attributes that
    policy permits, its penalty is public, its score R of a two-valued child has sensitivity 4(n−1)
    in units of K. At most :func:`count_selections` of them.
    """
    columns = list(range(len(curator.schema)) if columns is None else columns)
    permitted = permit(restriction, curator.schema.names)
    roots = permitted.ready(columns, permitted.fixed_order)
    pairs: list[Pair] = list(permitted.fixed_pairs) or [
        (roots[curator.noise.child(f"root{label}").below(len(roots))], ())
    ]
    used = 0
    for _ in progress(range(len(pairs), len(columns)), f"network{label}", unit="attribute"):
        placed = [child for child, _ in pairs]
        where = f"{len(placed) + 1} of {len(columns)}{label}"
        ready = permitted.ready([c for c in columns if c not in placed], placed)
        first = [(c, *permitted.parents(c, placed)) for c in ready]
        offered = [
            (c, (*forced, p)) for c, forced, free in first if len(forced) < most for p in free
        ]
        offered += [(c, forced) for c, forced, free in first if len(forced) >= most or not free]
        child, parents = curator.select(
            join_pairs(offered), "R", each, step=f"pair {where}", source=SELECTION
        )
        used += 1
        free = permitted.parents(child, placed)[1]
        while len(parents) < most and set(free) - set(parents):
            more = [(child, (*parents, p)) for p in free if p not in parents]
            penalty = growth_penalty(len(parents), curator.n, tables, epsilon2)
            offsets = np.array([0, *[-penalty] * len(more)], dtype=np.int64)  # STOP comes first
            _, larger = curator.select(
                join_pairs([(child, parents), *more]),
                "R",
                each,
                offsets=offsets,
                source=SELECTION,
                step=f"parent {len(parents) + 1} of {where}",
            )
            used += 1
            if larger == parents:
                break
            parents = larger
        pairs.append((child, parents))
    return pairs, used


@dataclass(eq=False, repr=False, kw_only=True)
class PrivABN(Recipe):
    """PrivABN: parent sets without a largest in-degree (ABN), noise on conditionals (SDG).

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in PrivBayes.
    k : largest number of parents. ``"auto"``: the largest number whose tables are θ-useful, from
        public facts.
    share_structure : β, share of ε for the structure; the paper has 1/2.
    theta_usefulness : θ of ``k="auto"``: a table's mean cell must be at least this many times its
        noise scale.
    reading : ``"printed"``; strict refuses all others. ``"ascending"``: GParentSet to the letter, j
        counts upwards in place. ``"undivided"``: every selection has the whole of ε₁.
        ``"exact"``: the best candidate is taken.

    Tables with attributes of more than two values are fitted through their binary encoding; then k
    counts bits. Where the paper noises conditionals, joint counts are noised here, and candidates
    are drawn by :func:`abn_strict`, where the paper's are argmaxes over the records.

    **Privacy:** strict: pure ε-DP under replacing one record: exponential mechanisms with score R
    over all placed attributes, βε; what STOP leaves over is charged all the same; one discrete
    Laplace table per bit, ε₂/m each.
    """

    k: int | str = "auto"
    share_structure: float = 0.5
    theta_usefulness: float = 4
    reading: str = "printed"

    over_bits: ClassVar[bool] = True
    k_counts_parents: ClassVar[bool] = False
    readings: ClassVar[tuple[str, ...]] = ("printed", "ascending", "undivided", "exact")

    def _parts(self, facts: Facts) -> Parts:
        return Parts(Adaptive(self.k, self.theta_usefulness), Uniform(f"{SDG}, on joint counts"))
