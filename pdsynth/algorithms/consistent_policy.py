"""What public policy asks of ConsistentBayes: sensitive attributes, groups, forced pairs.

Without options it asks for nothing: all columns are open, all tables cost the same.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations

import numpy as np

from ..core.agreement import Agree, GrowingModel, link
from ..core.budgets import proportional
from ..core.errors import BudgetError, as_fraction, door, share
from ..core.factors import Columns, within_bounds
from ..core.network import Restriction, check_restriction
from ..core.schema import Facts
from ..core.structure import Measurement
from ..core.unit import TableBudget
from .personal import SensitivityGroups, check_personal, value_weights

SELECT = Fraction(1, 5)  # of the ε of a choice and its table, for the choice
UNIT = 2**16  # shares of ε are rounded down to this part of it
SET_CELLS = 64  # sets of three or four columns with larger tables are left to their pairs
LARGEST_SET = 4  # columns of a set
MOST_CANDIDATES = 2**14  # with such sets; else smaller ones alone
LABEL = Fraction(3, 5)  # of the ε of pairs, for those of the target
MOST_OF_PAIR = Fraction(1, 4)  # of ε, for one table
MOST_CELLS = 2**14  # of a clique where n ε is at most MASS; in proportion above that
MASS = 10**5
COLUMN, TABLE = "one-way table", "two- or three-way table"


def fair_weight(cells: int, power: int) -> int:
    """Relative ε of a table that makes the sum of all noise least: √cells.

    With δ noise falls with the root of ρ alone (``power`` 2): cells^(2/3).
    """
    return math.isqrt(cells) if power == 1 else round(cells ** (power / (power + 1)))


@dataclass(frozen=True)
class PolicyOptions:
    """The options that policy decides.

    Parameters
    ----------
    sensitive : an attribute that stands in one table besides its own column, paid from a share
        that is fixed before the run.
    restriction : a public policy. Tables have no direction: a ``forced`` pair is measured, a
        ``forbidden`` one never stands in one table, whichever way it is written. Its ``target`` is
        the root, its ``sensitive`` attributes stand in one table with the target each.
    personal : :class:`SensitivityGroups` with groups by policy. A table that touches group A gets
        r times the ε. Choices among tables, about a fifth of the tables' ε, cost all attributes
        the same, whatever r is. Weights of values hold for the columns of group B.
    r : ε of group A's tables against the others'. Where it is above 1, group B has less: a table
        that touches it gets 1/r. Where all are alike (all in A, or r = 1) it is as without groups.
    share_sensitive : ε of the tables that may hold sensitive attributes, whatever r is.
    target : the attribute that a classifier will predict. Its pairs with all others, besides
        sensitive ones and those that policy forbids, are measured first, for three fifths of the
        ε of pairs, in proportion to √cells.
    """

    sensitive: str | None = None
    restriction: Restriction | None = None
    personal: SensitivityGroups | None = None
    r: float = 1 / 3
    share_sensitive: float = 0.1
    target: str | None = None

    def sensitive_names(self) -> tuple[str, ...]:
        """The sensitive attributes, whichever option names them."""
        names = tuple(self.restriction.sensitive) if self.restriction is not None else ()
        return names or ((self.sensitive,) if self.sensitive is not None else ())

    def share_of_sensitive(self) -> Fraction:
        """The part of ε for the tables that may hold sensitive attributes."""
        part = share("share_sensitive", self.share_sensitive)
        return part if self.sensitive_names() else Fraction(0)

    def check_policy(self, facts: Facts) -> None:
        """Refuse policies that contradict themselves or don't fit the schema."""
        check_restriction(self.restriction, "auto", facts.schema)
        if self.sensitive is not None:
            facts.schema.index(self.sensitive)
        if self.target is not None and self.target in self.sensitive_names():
            raise BudgetError(
                f"{self.target!r} is sensitive and stands in one table besides its column, so its "
                "pairs with all others can't be measured: name another target, or no target"
            )
        self.share_of_sensitive()
        check_personal(SensitivityGroups() if self.personal is None else self.personal, self.r)
        if self.sensitive is not None and self.restriction and self.restriction.sensitive:
            raise BudgetError("name the sensitive attribute once: here, or in the restriction")
        if self.personal is not None and not self.personal.policy(facts.schema, self.sensitive):
            raise BudgetError(
                "personal= needs groups by policy: "
                "SensitivityGroups(groups={'A': [...], 'B': [...]})"
            )
        Policy(self, facts).check_forced()


class Policy:
    """Which tables a run may measure, and what each costs, over columns. All of it is public.

    ``hidden``, ``open``: sensitive columns and all others. ``target``: the root, or None.
    ``forced``: pairs of open columns that are measured. ``predicted``: the column that a classifier
    will predict, ``label``: its pairs, which aren't forced besides. ``partners``: the columns that
    policy puts into a table with each sensitive one. ``apart``: bool (d, d), pairs that no table
    may hold. ``weight``: relative ε of a column of group A (True), or of another; the larger is 1.
    ``careful``: the columns that have less; ``all_careful``: all were to, so none has; ``even``: no
    column and no value has less. ``unit``: the least part of ε. ``neighbours``: what these differ
    in. ``public``, ``asked``: columns of group B whose weights of values are declared, or asked
    for. ``most_cells``: of a clique. ``masks``, ``ruled``: where records can be by the schema's
    rules, and which columns these tie, bool (d, d); their cliques are kept together as forced pairs
    are, and nothing is measured for that. ``merged_sizes``: values of each column in tables of
    several columns, once rare ones are merged.
    """

    def __init__(self, options: PolicyOptions, facts: Facts) -> None:
        restriction, schema = options.restriction or Restriction(), facts.schema
        index, self.schema, self.sizes = schema.index, schema, schema.sizes
        self.merged_sizes = schema.sizes
        self._possible: dict[Columns, int] = {}
        mass = facts.n * Fraction(facts.unit.as_pure(facts.epsilon, 1))
        self.masks = schema.masks
        self.ruled = link((columns for columns, _ in self.masks), len(schema))
        most = clique_limit(mass, len(schema), facts.unit.power)
        self.most_cells = self._room(most) if self.masks else most
        self.told, self.implied = told_by_rules(facts)
        self.unit, self.neighbours = facts.epsilon / UNIT, facts.unit
        self.hidden = [index(name) for name in options.sensitive_names()]
        self.open = [j for j in range(len(schema)) if j not in self.hidden]
        self.target = None if restriction.target is None else index(restriction.target)
        self.apart = link([(index(a), index(b)) for a, b in restriction.forbidden], len(schema))
        edges = [[index(name) for name in edge] for edge in restriction.forced]
        pairs = sorted({(min(edge), max(edge)) for edge in edges})
        self.forced: list[Columns] = [p for p in pairs if not {*p} & {*self.hidden}]
        self.partners = {j: [sum(p) - j for p in pairs if j in p] for j in self.hidden}
        if options.sensitive is None and self.target is not None:
            self.partners = {j: [self.target] for j in self.hidden}
        self.predicted = None if options.target is None else index(options.target)
        self.label = [] if self.predicted is None else self._label(self.predicted)
        personal = options.personal
        groups = (personal and personal.policy(schema, options.sensitive)) or {"A": [], "B": []}
        self.group_a = {index(name) for name in groups["A"]}
        others, level = {*schema.names} - {*groups["A"]}, {door("persons").LEVEL}
        r = as_fraction(options.r) if self.group_a else Fraction(1)
        self.all_careful = r < 1 and others <= level
        r = r if others - level else Fraction(1)
        self.group_a |= {index(name) for name in others & level if r > 1}  # never in what has less
        self.weight = {True: r / max(r, Fraction(1)), False: 1 / max(r, Fraction(1))}
        self.careful = {j for j in range(len(schema)) if self.weight[j in self.group_a] < 1}
        self.values = personal or SensitivityGroups()
        declared, weighs = self.values.weights or {}, self.values.rare_values != "same_noise"
        self.public = {x: self.values.public_weights(x, schema, groups) for x in declared}
        self.asked = [n for n in groups["B"] if weighs and n not in {*declared, *level}]
        self.even = not (self.careful or self.public or self.asked)

    def _label(self, target: int) -> list[Columns]:
        """The pairs of a column with all others that policy and the size of tables allow."""
        linked, pairs = self.ruled | link(self.forced, len(self.sizes)), list[Columns]()
        limits = [(self.sizes, self.most_cells)]
        for pair in self.pairs():
            if target not in pair or pair in self.forced:
                continue
            more = linked | link([pair], len(linked))
            if within_bounds(more[None], limits, self.apart)[0]:
                linked = more
                pairs.append(pair)
        return pairs

    def share_label(self, epsilon: Fraction) -> dict[Columns, TableBudget]:
        """What the label's pairs cost: three fifths of the pairs' ε in proportion to √cells."""
        roots = [fair_weight(self.possible(p) * 10**4, self.neighbours.power) for p in self.label]
        return {
            pair: self.budget(pair, LABEL * epsilon * root / sum(roots))
            for pair, root in zip(self.label, roots, strict=True)
        }

    def check_forced(self) -> None:
        """Refuse forced pairs whose cliques are too large or hold a forbidden pair."""
        for j, partners in self.partners.items():
            if len(partners) > 1 or {*partners} & {*self.hidden}:
                raise BudgetError(
                    f"{self.schema.names[j]!r} is sensitive and stands in one table besides "
                    f"its column, with an attribute that isn't sensitive, but "
                    f"{len(partners)} pair(s) that hold it are forced"
                )
        if (both := np.argwhere(self.ruled & self.apart)).size:
            names = " and ".join(self.schema.names[j] for j in both[0])
            raise BudgetError(
                f"a rule is about {names}, which the restriction never lets stand in one table: "
                "drop one of the two"
            )
        linked = self.ruled | link(self.forced, len(self.sizes))
        if not within_bounds(linked[None], [(self.sizes, self.most_cells)], self.apart)[0]:
            raise BudgetError(
                f"the forced pairs{', with the rules,' * bool(self.masks)} need a table of more "
                f"than {self.most_cells:,} cells, or one that holds a forbidden pair"
            )

    def _room(self, most: int) -> int:
        """The cells that a clique may have, as many as the rules need at the least."""
        tied = np.flatnonzero(self.ruled.any(axis=0))
        graph, sizes = self.ruled[np.ix_(tied, tied)], [self.sizes[j] for j in tied]
        while not within_bounds(graph[None], [(sizes, most)], np.zeros_like(graph))[0]:
            most *= 2
            if most > Agree.most_cells:
                raise BudgetError(
                    f"the rules need a table of more than {Agree.most_cells:,} cells: use coarser "
                    "bins, fewer rules, or another method"
                )
        return most

    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of open columns whose table isn't too large, nor told by the rules."""
        pairs = (pair for pair in combinations(self.open, 2) if pair not in self.told)
        return [pair for pair in pairs if self.cells(pair) <= self.most_cells]

    def keeps_values(self, column: int) -> bool:
        """Whether policy names a column, so that none of its values may be merged."""
        columns = {*self.hidden, *chain(*self.forced, *self.partners.values())}
        weighted = {*map(self.schema.index, (*self.public, *self.asked))}
        ruled = bool(self.ruled[column].any())
        return ruled or column in columns | weighted | {self.target, self.predicted}

    def candidates(self) -> list[Columns]:
        """These pairs, and small sets of three or four open columns where they aren't many.

        The noise of a pair that a table tells grows with the root of the table's cells: four
        two-valued columns tell six pairs for twice the ε of one, as exactly.
        """
        sets: list[Columns] = [*self.pairs()]
        for m in range(3, LARGEST_SET + 1):
            small = [s for s in combinations(self.open, m) if self.cells(s) <= SET_CELLS]
            if len(sets) + len(small) > MOST_CANDIDATES:
                break
            sets += small
        return sets

    def merge(self, sizes: tuple[int, ...]) -> None:
        """Tables of several columns stand over so many values from here on."""
        self.merged_sizes, self._possible = sizes, {}

    def cells(self, columns: Columns) -> int:
        """Cells of a table, of merged values where they are."""
        return math.prod(self.merged_sizes[j] for j in columns)

    def possible(self, columns: Columns) -> int:
        """These, but only where a record can be by the rules."""
        if columns not in self._possible:
            cells = door("constraints").possible_cells(self.masks, self.merged_sizes, columns)
            self._possible[columns] = cells
        return self._possible[columns]

    def pairs_with(self, hidden: int) -> list[Columns]:
        """The pairs of which one may be the one table of a sensitive column."""
        others = self.partners[hidden] or self.open
        pairs = [(min(i, hidden), max(i, hidden)) for i in others if not self.apart[i, hidden]]
        return [pair for pair in pairs if self.cells(pair) <= self.most_cells]

    # --- how much ε ------------------------------------------------------------------------------

    def shorten(self, epsilon: Fraction) -> Fraction:
        """ε rounded down to a short fraction of the whole; a tiny one stays as it is."""
        return math.floor(epsilon / self.unit) * self.unit or epsilon

    def weight_of(self, columns: Columns, more: Fraction | int = 0) -> Fraction:
        """What a table has of the ε planned for it: 1 and ``more`` if it touches none with less."""
        return Fraction(1 + more) if self.careful.isdisjoint(columns) else min(self.weight.values())

    def budget(self, columns: Columns, epsilon: Fraction) -> TableBudget:
        """What a table gets of ε, by its group."""
        return TableBudget(self.shorten(epsilon * self.weight_of(columns)), source=TABLE)

    def usual_cells(self, candidates: Sequence[Columns]) -> int:
        """Possible cells of the median pair, or of the median candidate where that is larger."""
        sets = self.pairs(), candidates
        return max(int(np.median([self.possible(s) for s in some] or [1])) for some in sets)

    def round_budgets(
        self, epsilon: Fraction, left: Fraction, usual: int, spared: Fraction
    ) -> Callable[[Columns], TableBudget]:
        """What each table would cost in a round of ε, where so much is left, by its group.

        In proportion to √cells: ε is the price of a table of ``usual`` cells; a quarter of the
        whole at most, and all that is left in the last round.
        """
        last = epsilon == left
        most = left if last else min(left, self.unit * UNIT * MOST_OF_PAIR)
        budgets = dict[tuple[int, bool], TableBudget]()

        def budget_of(columns: Columns) -> TableBudget:
            kind = cells, _ = self.possible(columns), self.careful.isdisjoint(columns)
            if kind not in budgets:
                share = self.weight_of(columns, spared / left)
                price = Fraction(math.isqrt(16**2 * cells // usual) or 1, 16)
                part = share * (left if last else min(price * epsilon, most))
                part = part if last and share >= 1 else self.shorten(part)
                budgets[kind] = TableBudget(part, source=TABLE)
            return budgets[kind]

        return budget_of

    def column_weights(self, columns: Sequence[int]) -> dict[str, Fraction]:
        """Relative ε of columns by name: √values (or as the unit says), times its group's."""
        roots = {j: fair_weight(self.sizes[j] * 10**4, self.neighbours.power) for j in columns}
        return {
            self.schema.names[j]: root * self.weight[j in self.group_a] for j, root in roots.items()
        }

    def share_columns(
        self, epsilon: Fraction, more: Fraction, again: bool
    ) -> dict[int, TableBudget]:
        """ε of all columns in proportion to √values, and ``more`` of those that aren't sensitive.

        What rounding leaves gets the last one whose group hasn't less. ``again``: only columns that
        aren't sensitive. Else a column of group B has public weights of values, or half of its ε,
        as that tells the weights of the other half.
        """
        names, chosen = self.schema.names, self.open if again else range(len(self.schema))
        parts = proportional(epsilon, self.column_weights(chosen))
        for name, part in proportional(more, self.column_weights(self.open)).items():
            parts[name] += part
        parts = {name: self.shorten(part) for name, part in parts.items()}
        full = [j for j in self.open if j not in self.careful] or self.open
        parts[names[full[-1]]] += epsilon + more - sum(parts.values())
        budgets = dict[int, TableBudget]()
        for j in chosen:
            name, part, weights = names[j], parts[names[j]], None
            if name in self.public and not again:
                weights = self.public[name]
            elif name in self.asked and not again:
                part /= 2
            budgets[j] = TableBudget(part, weights, source=COLUMN)
        return budgets

    def second_budget(self, first: Measurement, epsilon: Fraction) -> TableBudget | None:
        """The second half of a column's ε, with the weights that the first half told, or None.

        **Privacy:** a function of the first half's release.
        """
        if first.attributes[0] not in self.asked:
            return None
        floor = as_fraction(self.values.v_min)
        weights = value_weights(first.table, self.values.rare_values, floor)
        return TableBudget(epsilon, weights, (first.entry,), COLUMN)


def told_by_rules(facts: Facts) -> tuple[set[tuple[int, int]], dict[tuple[int, int], float]]:
    """Pairs that rules tell, also through other columns; how far they tie others, if all is even.

    Told: one column leaves both a single value. What takes long to follow counts as tied fully.
    """
    if not facts.schema.masks:
        return set(), {}
    model, sizes = GrowingModel(facts), facts.schema.sizes
    law, tells = model.fit(most=1), np.eye(len(sizes), dtype=bool)
    tables: dict[Columns, np.ndarray] = {}
    for i, j in np.argwhere(np.triu(model.ruled)).tolist():
        tables[i, j] = table = law.margin((i, j))
        tells[i, j], tells[j, i] = (((table > 0).sum(axis) <= 1).all() for axis in (1, 0))
    tied = tells | model.ruled
    for _ in range(len(sizes).bit_length()):  # each doubles the steps between columns
        tied, tells = tied @ tied, tells @ tells
    told = tells.T @ tells
    left = dict.fromkeys(((i, j) for i, j in np.argwhere(np.triu(tied & ~told)).tolist()), 1.0)
    if sum(sizes) * sum(t.size for t in law.tables) <= 16 * Agree.most_cells:
        tables = law.margins(left)
    for pair in left.keys() & tables.keys():
        table = tables[pair] / tables[pair].sum()
        left[pair] = float(np.abs(table - np.outer(table.sum(1), table.sum(0))).sum()) / 2
    return {(i, j) for i, j in np.argwhere(np.triu(told, 1)).tolist()}, left


def clique_limit(mass: Fraction | float, columns: int, power: int = 1) -> int:
    """Cells that a clique may have, for ``mass`` = n ε: 2^14 · max(1, n ε / 10^5).

    More records or more ε pay for more tables, and cliques must hold these. At most 2^20 over the
    number of columns (but 2^14 always), so that a tree of as many cliques is still fitted at once.
    Where n is secret, it is 1 here. With ρ (``power`` 2) four times as many: its rounds measure
    more tables, and a dear pair that pays late needs room beside them.
    """
    cells = math.floor(MOST_CELLS * 4 ** (power - 1) * max(Fraction(1), mass / MASS))
    return max(MOST_CELLS, min(cells, Agree.most_cells // columns))
