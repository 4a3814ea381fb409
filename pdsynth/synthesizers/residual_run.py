"""One run of a structure that measures: what it has measured, may choose, and fits."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from ..budgets import TableBudget, proportional, value_weights
from ..domain.facts import Facts
from ..errors import BudgetError, plural
from ..network import Network
from ..privacy.curator import Curator, Measured
from ..privacy.ledger import as_fraction
from ..reconcile import noisy_table
from ..structure.belief import STEPS, Columns, Fitted, Geometry, NoisyTable, fit_tables
from ..structure.junction import (
    JunctionTree,
    eliminate_smallest,
    junction_tree,
    may_join,
    within_bounds,
)
from ..structure.learner import Measurement
from ..structure.margins import margins

MOST_CELLS = 2**14  # of a clique
UNIT = 2**16  # shares of ε are rounded down to this part of it
WIDE = 64  # columns from which rounds, each of which judges all pairs anew, would take hours
COLUMN, TABLE = "one-way table", "two- or three-way table"


class Run:
    """What is measured so far, and the public policy over columns.

    ``open``: columns that aren't sensitive. ``forced``: pairs that policy wants measured.
    **Privacy:** everything but the curator's answers is public.
    """

    def __init__(self, part: Any, curator: Curator, facts: Facts) -> None:
        self.part, self.curator, self.facts = part, curator, facts
        self.names, self.sizes = facts.schema.names, facts.schema.sizes
        self.unit = facts.epsilon / UNIT
        self.found: list[Measurement] = []
        self.noisy: list[NoisyTable] = []
        policy, d = part.restriction, len(self.names)
        index = facts.schema.index
        self.hidden = [index(name) for name in part.hidden()]
        self.open = [j for j in range(d) if j not in self.hidden]
        self.target = index(policy.target) if policy is not None and policy.target else None
        self.linked, self.apart = np.zeros((2, d, d), dtype=bool)
        edges = policy.forbidden if policy is not None else ()
        for p, c in edges:
            self.apart[index(p), index(c)] = self.apart[index(c), index(p)] = True
        edges = policy.forced if policy is not None else ()
        pairs = {tuple(sorted((index(p), index(c)))) for p, c in edges}
        self.forced: list[Columns] = [p for p in sorted(pairs) if not {*p} & {*self.hidden}]
        self.partners = {j: [i for p in pairs if j in p for i in p if i != j] for j in self.hidden}
        groups = part.personal.policy(facts.schema, part.sensitive) if part.personal else None
        self.groups = groups or {"A": [], "B": []}
        r = as_fraction(part.r) if self.groups["A"] else Fraction(1)
        largest = max(r, Fraction(1))
        self.dear, self.plain = r / largest, 1 / largest

    @staticmethod
    def check(part: Any, facts: Facts) -> None:
        """Refuse forced pairs whose cliques are too large or hold a forbidden pair."""
        run = Run(part, None, facts)  # type: ignore[arg-type]
        for j, partners in run.partners.items():
            if len(partners) > 1 or {*partners} & {*run.hidden}:
                raise BudgetError(
                    f"{run.names[j]!r} is sensitive and stands in one table besides "
                    f"its column, with an attribute that isn't sensitive, but "
                    f"{len(partners)} pair(s) that hold it are forced"
                )
        for pair in run.forced:
            run.link(pair)
        if not within_bounds(run.linked[None], run.sizes, MOST_CELLS, run.apart)[0]:
            raise BudgetError(
                "the forced pairs need a table of more than "
                f"{MOST_CELLS:,} cells, or one that holds a forbidden pair"
            )

    # --- shares ----------------------------------------------------------------------------------

    def shorten(self, epsilon: Fraction) -> Fraction:
        """ε rounded down to a short fraction of the whole; a tiny one stays as it is."""
        return math.floor(epsilon / self.unit) * self.unit or epsilon

    def cells(self, columns: Columns) -> int:
        """Declared cells of a table."""
        return math.prod(self.sizes[j] for j in columns)

    def favour(self, columns: Columns) -> Fraction:
        """Relative ε: as r for a table that touches group A, as 1 for others; the largest is 1."""
        return self.dear if any(self.names[j] in self.groups["A"] for j in columns) else self.plain

    def column_weights(self, columns: Sequence[int]) -> dict[str, Fraction]:
        """Relative ε of columns by name: √values."""
        return {
            self.names[j]: math.isqrt(self.sizes[j] * 10**4) * self.favour((j,)) for j in columns
        }

    def noise(self, columns: Columns, epsilon: Fraction) -> float:
        """The expected L1 norm of a table's noise, in records."""
        return self.cells(columns) * float(self.facts.unit.scale(epsilon))

    # --- questions -------------------------------------------------------------------------------

    def measure(self, columns: Columns, epsilon: Fraction) -> Fraction:
        """A table of several columns for ε; returns what it cost.

        **Privacy:** discrete Laplace noise of scale 2/ε.
        """
        self._table(columns, TableBudget(epsilon, source=TABLE))
        self.link(columns)
        return epsilon

    def measure_columns(
        self, epsilon: Fraction, again: bool = False, more: Fraction = Fraction(0)
    ) -> None:
        """Every column, ε in proportion to √values, all of it; ``more`` for those not sensitive.

        **Privacy:** one discrete Laplace table per column, sequentially. Weights of values that
        aren't public come from a first half of the column's ε.
        """
        chosen = self.open if again else range(len(self.sizes))
        exact = dict(proportional(epsilon, self.column_weights(chosen)))
        for name, part in proportional(more, self.column_weights(self.open)).items():
            exact[name] += part
        parts = {name: self.shorten(part) for name, part in exact.items()}
        parts[self.names[self.open[-1]]] += epsilon + more - sum(parts.values())
        halves = {name for name in parts if not again and self._weighs(name)}
        columns: list[Columns] = [(self.names.index(name),) for name in parts]
        first = [self._column_budget(name, part, again) for name, part in parts.items()]
        answers = self.curator.tables(
            (column, budget, self._step(column))
            for column, budget in zip(columns, first, strict=True)
        )
        for name, column, answer in zip(parts, columns, answers, strict=True):
            self._keep(column, answer)
            if name in halves:
                self._table(column, self._second_half(name, parts[name] / 2))

    def _weighs(self, name: str) -> bool:
        """Whether a column's values get weights that a first half of its ε tells."""
        personal = self.part.personal
        if personal is None or name not in self.groups["B"]:
            return False
        return name not in (personal.weights or ()) and personal.rare_values != "same_noise"

    def _column_budget(self, name: str, epsilon: Fraction, again: bool) -> TableBudget:
        """ε of a column's first table: half where that tells weights of values."""
        personal = self.part.personal
        if personal is None or again or name not in self.groups["B"]:
            return TableBudget(epsilon, source=COLUMN)
        if name in (personal.weights or ()):
            weights = personal.public_weights(name, self.facts.schema[name].size)
            return TableBudget(epsilon, weights, source=COLUMN)
        return TableBudget(epsilon / 2 if self._weighs(name) else epsilon, source=COLUMN)

    def _second_half(self, name: str, epsilon: Fraction) -> TableBudget:
        """ε of a column's second table, with the weights of values that the first one tells."""
        personal, first = self.part.personal, self.found[-1]
        weights = value_weights(first.table, personal.rare_values, as_fraction(personal.v_min))
        return TableBudget(epsilon, weights, (first.entry,), COLUMN)

    def _step(self, columns: Columns) -> str:
        names = tuple(self.names[j] for j in columns)
        times = sum(m.attributes == names for m in self.found)
        return f"table({', '.join(names)})" + (f", time {times + 1}" if times else "")

    def _table(self, columns: Columns, budget: TableBudget) -> None:
        self._keep(columns, self.curator.table(columns, budget, step=self._step(columns)))

    def _keep(self, columns: Columns, answer: Measured) -> None:
        self.found.append(Measurement(tuple(self.names[j] for j in columns), *answer))
        places = {name: j for j, name in enumerate(self.names)}
        self.noisy.append(noisy_table(self.found[-1], places))

    def reserve(self, epsilon: Fraction) -> Fraction:
        """The one table of each sensitive attribute; returns what is left of ε.

        **Privacy:** ε/m per attribute: a selection of its partner unless policy names it, and the
        table; after STOP its column once more. Nothing else touches it besides its own column.
        """
        left = epsilon
        for j in self.hidden:
            each = self.shorten(epsilon / len(self.hidden))
            named = list(self.partners[j])
            if self.part.sensitive is None and self.target is not None:
                named = [self.target]
            pairs: list[Columns] = [
                (min(i, j), max(i, j)) for i in named or self.open if not self.apart[i, j]
            ]
            pairs = [p for p in pairs if self.cells(p) <= MOST_CELLS]
            if named and pairs:
                left -= self.measure(pairs[0], each)
            elif pairs:
                choosing = self.shorten(each * as_fraction(self.part.share_select))
                at = self.choose(
                    pairs,
                    self.expect(self.fit(), pairs),
                    choosing,
                    [each - choosing] * len(pairs),
                    source="the one table that holds a sensitive attribute",
                    step=f"partner of {self.names[j]}",
                )
                left -= each
                if at is None:  # its loss is the same, as was known before the run
                    rest = each - choosing
                    self._table((j,), TableBudget(rest, source=COLUMN))
                else:
                    self.measure(pairs[at], each - choosing)
        return left

    def choose(
        self,
        sets: Sequence[Columns],
        expected: Sequence[np.ndarray],
        epsilon: Fraction,
        costs: Sequence[Fraction],
        *,
        step: str,
        source: str,
    ) -> int | None:
        """A set by its residual less its expected noise, by number; None for STOP.

        **Privacy:** costs ε, see :class:`~pdsynth.synthesizers.residual.Residual`.
        """
        unit, different = self.facts.unit, {id(cost): cost for cost in costs}
        scale = {key: float(unit.scale(cost)) for key, cost in different.items()}
        penalties = [self.cells(s) * scale[id(cost)] for s, cost in zip(sets, costs, strict=True)]
        most = 4 * self.facts.n
        whole = np.array([round(min(p, most)) for p in penalties], dtype=np.int64)
        return self.curator.choose_table(sets, expected, whole, epsilon, step=step, source=source)

    # --- the model -------------------------------------------------------------------------------

    def link(self, columns: Columns) -> None:
        """Columns of one table are neighbours in the graph."""
        for i, j in combinations(columns, 2):
            self.linked[i, j] = self.linked[j, i] = True

    def tree(self) -> JunctionTree:
        """The junction tree of what is measured, within the bounds."""
        edges = set[tuple[int, int]]()
        for clique, _ in eliminate_smallest(self.linked[None], np.log(self.sizes)):
            edges |= {*combinations(np.flatnonzero(clique[0]).tolist(), 2)}
        return junction_tree(len(self.sizes), edges, self.target)

    def fit(self, start: Fitted | None = None, most: int = STEPS) -> Fitted:
        """All that was measured, made to agree."""
        potentials = start.potentials if start is not None else ()
        return fit_tables(
            Geometry(self.tree(), self.sizes),
            self.noisy,
            self.facts.n,
            start=potentials,
            tolerance=0.01,
            most=most,
        )

    def fit_columns(self) -> Fitted:
        """Single columns alone, independent of each other."""
        tree = junction_tree(len(self.sizes), set(), self.target)
        alone = [table for table in self.noisy if len(table.columns) == 1]
        return fit_tables(Geometry(tree, self.sizes), alone, self.facts.n, tolerance=0.01)

    def expect(self, fitted: Fitted, sets: Sequence[Columns]) -> list[np.ndarray]:
        """What a fitted model expects of some tables, in whole records."""
        if len(self.sizes) > WIDE and all(len(c) == 1 for c in fitted.geometry.tree.cliques):
            own = [fitted.margin((j,)) / fitted.n**0.5 for j in range(len(self.sizes))]
            return [np.rint(np.outer(own[i], own[j])).astype(np.int64) for i, j in sets]
        return [np.rint(table).astype(np.int64) for table in margins(fitted, sets)]

    def pairs(self) -> list[Columns]:
        """All pairs of columns that aren't sensitive and whose table isn't too large."""
        return [
            (i, j)
            for i, j in combinations(self.open, 2)
            if self.sizes[i] * self.sizes[j] <= MOST_CELLS
        ]

    def not_apart(self, pairs: Sequence[Columns]) -> list[Columns]:
        """Pairs that policy lets stand in one table."""
        return [p for p in pairs if not self.apart[p]]

    def candidates(self, triple_cells: int, most_sets: int) -> list[Columns]:
        """All pairs of columns that aren't sensitive, and small triples where they aren't many."""
        pairs = self.pairs()
        triples: list[Columns] = [
            s for s in combinations(self.open, 3) if self.cells(s) <= triple_cells
        ]
        return pairs + triples if len(pairs) + len(triples) <= most_sets else pairs

    def permitted(self, sets: Sequence[Columns], chosen: Sequence[Columns]) -> list[Columns]:
        """Sets that leave the junction tree of all that is chosen within its bounds."""
        linked = self.linked.copy()
        for i, j in chosen:
            linked[i, j] = linked[j, i] = True
        most = getattr(self.part, "most_cells", MOST_CELLS)
        fine = may_join(linked, sets, self.sizes, most, self.apart)
        return [s for s, good in zip(sets, fine, strict=True) if good]

    def network(self) -> Network:
        """Cliques given separators; the target first, sensitive attributes last."""
        families = self.tree().families(self.target, self.hidden)
        return Network.of_columns([(child, parents) for child, parents, _ in families], self.names)

    def describe(self) -> str:
        """How large the tables became, in words."""
        largest = max(map(len, self.tree().cliques))
        measured = sum(len(m.attributes) > 1 for m in self.found)
        return (
            f"{plural(measured, 'table')} measured, "
            f"cliques of at most {plural(largest, 'attribute')}"
        )
