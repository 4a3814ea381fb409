"""What becomes of noisy tables that overlap: left as measured, or made to agree.

**Privacy:** all of it is post-processing of releases.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from .consistency import clip_and_scale, integer_weights, make_consistent, margin
from .domain.facts import Facts
from .errors import BudgetError, show
from .network import Network
from .privacy.numbers import positive
from .structure.belief import Geometry, NoisyTable, fit_tables
from .structure.junction import junction_tree
from .structure.learner import Measurement

MOST_CELLS = 2**20  # of a junction tree; beyond it tables agree pairwise


@dataclass(frozen=True)
class AsMeasured:
    """Tables stay as measured; one that wasn't is summed from a larger one (the papers)."""

    def check(self, facts: Facts) -> None:
        """Fits everything."""

    def reconcile(
        self, found: Sequence[Measurement], network: Network, facts: Facts
    ) -> tuple[np.ndarray, ...]:
        """One table per pair of the network, child first.

        **Privacy:** post-processing of releases.
        """
        return as_measured(found, network)

    def sources(
        self, found: Sequence[Measurement], network: Network
    ) -> tuple[tuple[str, ...], ...]:
        """The ledger's line behind each of these tables; none where one has no line of its own."""
        used = [m.entry for m, _ in _match(found, network)]
        return tuple((entry,) for entry in used) if all(used) else ()


@dataclass(frozen=True)
class Agree:
    """All tables at once: the nearest ones that agree where they overlap.

    Non-negative, of sum n, nearest in squares weighted by 1/scale² (Private-PGM with L2 loss,
    McKenna, Sheldon, Miklau 2019), so every attribute profits from every table that holds it.
    Where the junction tree of the network has more than 2^20 cells, tables agree on what any two
    share (:func:`~pdsynth.consistency.make_consistent`), and negative cells are cut afterwards.
    ``tolerance``: the fit ends where its loss falls by less than this part. At 0.01 the loss may
    stay an eighth above the least where weights differ by 10^4 (at 0.002 less than 1 %); two-way
    distances of four tables change by less than 0.5 % between 0.01 and 0.0002
    (``benchmarks/reasons.csv``). Noisy conditionals stay as they are, since they aren't counts; so
    do the exact tables of ``none``, unless a structure has measured others.

    **Privacy:** post-processing: the ledger doesn't change.
    """

    tolerance: float = 0.01

    most_cells: ClassVar[int] = MOST_CELLS

    def check(self, facts: Facts) -> None:
        """Refuse a tolerance that isn't positive."""
        positive("tolerance", self.tolerance)

    def reconcile(
        self, found: Sequence[Measurement], network: Network, facts: Facts
    ) -> tuple[np.ndarray, ...]:
        """One table per pair of the network, child first, in units of 2^-20 record.

        **Privacy:** post-processing of releases.
        """
        pairs = [(child, *parents) for child, parents in network.pairs]
        own = {*pairs} <= {m.attributes for m in found}
        exact = facts.guarantee == "none"  # without noise they agree already
        if own and (exact or not all(m.counts for m in found)):
            return as_measured(found, network)
        columns = {name: j for j, name in enumerate(facts.schema.names)}
        families = [tuple(columns[name] for name in pair) for pair in pairs]
        noisy = [noisy_table(m, columns) for m in found]
        edges = {
            (i, j)
            for family in (*families, *(t.columns for t in noisy))
            for i, j in combinations(sorted(family), 2)
        }
        tree = junction_tree(len(columns), edges)
        cells = sum(math.prod(facts.schema.sizes[j] for j in c) for c in tree.cliques)
        held = all(any({*family} <= {*t.columns} for t in noisy) for family in families)
        if cells <= self.most_cells or not held:
            fitted = fit_tables(
                Geometry(tree, facts.schema.sizes), noisy, facts.n, tolerance=self.tolerance
            )
            return tuple(integer_weights(fitted.margin(family)) for family in families)
        views = [t.columns for t in noisy]
        agreed = [
            clip_and_scale(t, facts.n)
            for t in make_consistent([t.counts for t in noisy], views, facts.n)
        ]
        at = [
            next(i for i, view in enumerate(views) if {*family} <= {*view}) for family in families
        ]
        return tuple(
            integer_weights(margin(agreed[i], views[i], family))
            for i, family in zip(at, families, strict=True)
        )

    def sources(
        self, found: Sequence[Measurement], network: Network
    ) -> tuple[tuple[str, ...], ...]:
        """None named: every table is made from all that was measured."""
        return ()


class AgreeInPairs(Agree):
    """Tables agree on what any two share, whatever their number; then negative cells are cut."""

    most_cells = 0


Reconciling = AsMeasured | Agree


def choose_reconcile(given: object, default: Reconciling) -> Reconciling:
    """The part that a user names, or the recipe's own; where that is ``Agree()`` it must stay."""
    chosen = default if given is None else given
    if not isinstance(chosen, Reconciling):
        raise BudgetError(
            f"reconcile must be Agree() or AsMeasured() of pds.parts, got {show(given)}"
        )
    if isinstance(chosen, AsMeasured) and default == Agree():
        raise BudgetError(
            "this structure measures overlapping tables, which must be made to "
            "agree: use reconcile=Agree()"
        )
    return chosen


def noisy_table(measured: Measurement, columns: dict[str, int]) -> NoisyTable:
    """A measurement over rising columns, each cell weighted by 1/scale²."""
    places = [columns[name] for name in measured.attributes]
    order = np.argsort(places)
    if isinstance(measured.scale, tuple):
        rows = np.array([1 / float(b) ** 2 for b in measured.scale])
        rows = rows.reshape(-1, *[1] * (len(places) - 1))
        weight: float | np.ndarray = np.transpose(
            np.broadcast_to(rows, measured.table.shape), order
        )
    else:
        weight = 1 / float(measured.scale) ** 2
    counts = np.transpose(np.asarray(measured.table, dtype=float), order)
    return NoisyTable(tuple(sorted(places)), counts, weight)


def as_measured(found: Sequence[Measurement], network: Network) -> tuple[np.ndarray, ...]:
    """One table per pair of the network, child first: its own, or summed from a larger one.

    **Privacy:** post-processing of releases.
    """
    return tuple(
        m.table if m.attributes == pair else margin(np.maximum(m.table, 0), m.attributes, pair)
        for m, pair in _match(found, network)
    )


def _match(
    found: Sequence[Measurement], network: Network
) -> Iterator[tuple[Measurement, tuple[str, ...]]]:
    """Every pair of the network with its own measurement, or the first that contains it."""
    own = {m.attributes: m for m in found}
    for child, parents in network.pairs:
        pair = (child, *parents)
        yield (
            own[pair] if pair in own else next(m for m in found if {*pair} <= {*m.attributes}),
            pair,
        )
