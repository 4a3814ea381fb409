"""What one run of ConsistentBayes asks of the curator, and the model that the answers make."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..core.agreement import Fit, GrowingModel, merge_rare
from ..core.curator import Curator
from ..core.errors import door
from ..core.factors import Columns
from ..core.schema import Facts
from ..core.unit import TableBudget
from ..core.views import Merging
from .consistent_policy import COLUMN, SELECT, TABLE, Policy


class Run:
    """What one run has measured so far, over columns, and the model that grows with it.

    **Privacy:** everything but the curator's answers is public.
    """

    def __init__(self, policy: Policy, curator: Curator, facts: Facts) -> None:
        self.policy, self.curator, self.facts = policy, curator, facts
        self.door = curator  # to tables of several columns
        self.model = GrowingModel(facts, policy.target)
        self.spared = Fraction(0)  # by tables that had less than was planned
        self.broken: dict[Columns, np.ndarray] = {}
        self.noises: dict[tuple[int, int, float], float] = {}

    def measure_columns(
        self, epsilon: Fraction, more: Fraction = Fraction(0), again: bool = False
    ) -> None:
        """Every column, ε in proportion to √values; ``more`` for those that aren't sensitive.

        ``again``: only those, a second time.

        **Privacy:** one noisy table per column, sequentially. Weights of values that aren't public
        come from a first half of the column's ε.
        """
        budgets = self.policy.share_columns(epsilon, more, again)
        questions = [((j,), budget, self.model.step((j,))) for j, budget in budgets.items()]
        answers = self.curator.tables(questions)
        for (columns, budget, _), answer in zip(questions, answers, strict=True):
            first = self.model.add(columns, *answer)
            second = None if again else self.policy.second_budget(first, budget.epsilon)
            if second is not None:
                self.measure(columns, second)

    def merge_rare_values(self) -> None:
        """Let rare values whose counts are mostly noise stand as one in tables of several columns.

        Columns that policy names keep their values.

        **Privacy:** post-processing of the releases of columns; costs nothing.
        """
        codes = [np.arange(size) for size in self.policy.sizes]
        for m in self.model.measurements:
            j = self.facts.schema.index(m.attributes[0])
            if not isinstance(m.scale, tuple) and not self.policy.keeps_values(j):
                codes[j] = merge_rare(m.table, math.sqrt(2) * float(m.scale))
        merging = Merging(self.facts.schema, tuple(codes))
        if merging.sizes == self.policy.sizes:
            return
        self.door = self.curator.merged(merging, [m.entry for m in self.model.measurements])
        self.model.merge(merging)
        self.policy.merge(merging.sizes)

    def measure(self, columns: Columns, budget: TableBudget) -> Fraction:
        """A noisy table, which is kept; returns what it cost.

        **Privacy:** costs ``budget.epsilon``.
        """
        door = self.door if len(columns) > 1 else self.curator
        answer = door.table(columns, budget, step=self.model.step(columns))
        self.model.add(columns, *answer)
        self.note_broken(columns, answer.counts)
        return budget.epsilon

    def spend(self, columns: Columns, budget: TableBudget, more: Fraction | int = 0) -> Fraction:
        """:meth:`measure`; returns what was planned. What is spared pays for tables, not choices.

        **Privacy:** costs ``budget.epsilon``.
        """
        cost, share = self.measure(columns, budget), self.policy.weight_of(columns, more)
        planned = cost if share == 1 else self.policy.shorten(cost / share)
        self.spared += planned - cost
        return planned

    def note_broken(self, columns: Columns, counts: np.ndarray) -> None:
        """Remember what a table tells of kept records that break rules, which no model expects.

        **Privacy:** post-processing of a release.
        """
        if any(rule.on_violation == "keep" for rule in self.policy.schema.rules):
            sizes = self.policy.merged_sizes
            possible = door("constraints").possible_in(self.policy.masks, sizes, columns)
            if possible is not None:
                self.broken[columns] = np.where(possible, 0, np.maximum(counts, 0))

    def expected_in(self, fit: Fit, sets: Sequence[Columns]) -> dict[Columns, np.ndarray]:
        """What a fitted model expects of the tables that it can tell, in whole records.

        Where no record can be, what the last table of these columns has told.
        """
        margins = fit.margins(sets).items()
        expected = {columns: np.rint(table).astype(np.int64) for columns, table in margins}
        return expected | {s: expected[s] + self.broken[s] for s in expected.keys() & self.broken}

    def noise_in(self, columns: Columns, epsilon: Fraction) -> float:
        """Expected noise of a table for ε where records can be, in records. **Privacy:** public."""
        cells, possible = self.policy.cells(columns), self.policy.possible(columns)
        kind = cells, possible, float(epsilon)
        if kind not in self.noises:
            expected = float(self.curator.expected_noise(epsilon, cells))
            self.noises[kind] = expected * possible / cells
        return self.noises[kind]

    def choose(
        self,
        expected: Mapping[Columns, np.ndarray],
        epsilon: Fraction,
        budget_of: Callable[[Columns], TableBudget],
        *,
        step: str,
        source: str = "residual against what is released",
    ) -> Columns | None:
        """The columns with the largest residual less their table's expected noise; None for STOP.

        ``budget_of``: what each of these tables would cost.

        **Privacy:** an exponential mechanism, costs ε, see :class:`Residual`.
        """
        sets, tables = [*expected], [*expected.values()]
        noise = [min(self.noise_in(s, budget_of(s).epsilon), 4 * self.facts.n) for s in sets]
        penalties = np.array([*map(round, noise)], dtype=np.int64)
        at = self.door.choose_table(sets, tables, penalties, epsilon, step=step, source=source)
        return None if at is None else sets[at]


def reserve(run: Run, epsilon: Fraction) -> Fraction:
    """Measure the one table of each sensitive attribute; what is left of ε.

    **Privacy:** ε/m per attribute: a selection of its partner unless policy names it, and the
    table; after STOP its column once more. Nothing else touches it besides its own column.
    """
    policy, rest = run.policy, epsilon
    for j in policy.hidden:
        each, pairs = policy.shorten(epsilon / len(policy.hidden)), policy.pairs_with(j)
        if not pairs:
            continue
        rest -= each
        if policy.partners[j]:
            run.measure(pairs[0], TableBudget(each, source=TABLE))
            continue
        choosing = policy.shorten(each * SELECT)
        budget = TableBudget(each - choosing, source=TABLE)
        chosen = run.choose(
            run.expected_in(run.model.fit(), pairs),
            choosing,
            dict.fromkeys(pairs, budget).__getitem__,
            source="the one table that holds a sensitive attribute",
            step=f"partner of {policy.schema.names[j]}",
        )
        if chosen is None:  # its loss is the same, as was known before the run
            chosen, budget = (j,), TableBudget(budget.epsilon, source=COLUMN)
        run.measure(chosen, budget)
    return rest
