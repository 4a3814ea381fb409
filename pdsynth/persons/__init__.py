"""Budgets of persons: each record has a public ε of its own, and loses no more than that.

*Personalised differential privacy* (Jorgensen, Yu, Cormode 2015): adding or removing record i moves
the law of everything that is released by at most e^ε_i. Here by *copies*: with a common unit of all
ε_i, record i counts c_i = ε_i / unit times in every table, and every question costs what it costs
where as many records of one person come or go as the largest c_i (``records_per_person``). Group
privacy gives record i exactly c_i · unit = ε_i. No sampling noise is paid, and every mechanism that
asks for counts alone works unchanged.

Weighted counts lean towards those who give more. So the level stands in the table as a column like
any other, measured tables tie it to whatever it goes with, and :func:`undo` divides the counts of
each level by its copies in the model. Where there are a few levels, the number of records is asked
level by level, at the same cost, as a record has one level: :func:`sharpen`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations
from math import floor, gcd, lcm, log10
from typing import Any

import numpy as np
import pandas as pd

from ..core import (
    NEVER,
    Attribute,
    BudgetError,
    CliqueTree,
    Codes,
    Distribution,
    Encoding,
    Ledger,
    Measured,
    Measurement,
    Model,
    Network,
    Records,
    Schema,
    SchemaError,
    Split,
    Unit,
    check_schema,
    integer_weights,
    is_one_of,
    junction_tree,
    keep_measured,
    marginalise,
    positive,
    show,
    tell,
)
from .losses import (
    LEVEL,
    attribute_losses,
    losses,
    neighbours,
    unused_groups,
    value_losses,
    warn_of_all,
    warn_of_loss,
)

MOST_LEVELS, MOST_COPIES = 32, 1_000
__all__ = [
    "LEVEL",
    "People",
    "attribute_losses",
    "check",
    "choose_levels",
    "count_all",
    "losses",
    "neighbours",
    "sharpen",
    "undo",
    "unused_groups",
    "value_losses",
    "warn_of_all",
    "warn_of_loss",
]


@dataclass(frozen=True)
class People:
    """The levels of ε that were offered, rising, and the level of each record.

    ``levels``: exact fractions. ``of``: int64 (n,), the number of each record's level.
    ``attribute``: the one whose value decides it, "" where each person has said it.

    **Privacy:** levels and preferences are public, as in Jorgensen, Yu and Cormode 2015. What a
    preference itself tells isn't covered, and neither is a level that was chosen after looking at
    the other records.
    """

    levels: tuple[Fraction, ...]
    of: np.ndarray
    attribute: str = ""

    def __post_init__(self) -> None:
        if len(self.levels) > MOST_LEVELS or max(self.copies) > MOST_COPIES:
            raise BudgetError(
                f"the ε of persons have {len(self.levels):,} levels, whole multiples of "
                f"{show(float(self.unit))} up to {max(self.copies):,} times: at most "
                f"{MOST_LEVELS} levels and {MOST_COPIES:,} times are counted; round each ε down "
                "to one of a few levels, as 0.1, 0.5 and 1"
            )

    @property
    def unit(self) -> Fraction:
        """The largest ε of which every level is a whole multiple."""
        common = lcm(*(level.denominator for level in self.levels))
        return Fraction(gcd(*(int(level * common) for level in self.levels)), common)

    @property
    def copies(self) -> tuple[int, ...]:
        """How often a record of each level counts.

        >>> People((Fraction(1, 10), Fraction(1, 2), Fraction(1)), np.zeros(0, int)).copies
        (1, 5, 10)
        """
        return tuple(int(level / self.unit) for level in self.levels)

    @property
    def promise(self) -> tuple[Fraction, Unit]:
        """The largest ε, and what a neighbour may change: as many copies, added or removed."""
        return self.levels[-1], Unit("add_remove", max(self.copies))

    def open(self, frame: pd.DataFrame, schema: Schema) -> AbstractContextManager[Records]:
        """Coded records with their level as first column, each as often as its copies.

        **Privacy:** raw records in, raw records out.
        """
        own = schema.encode(frame, empty=True)
        codes = np.asfortranarray(np.column_stack([self.of.astype(own.dtype), own]))
        schema = self.extend(schema)
        weights = np.array(self.copies, dtype=np.int64)[self.of]
        return nullcontext(Records(WeightedCodes(codes, schema.sizes, weights), schema))

    def extend(self, schema: Schema) -> Schema:
        """The schema with the level as its first attribute."""
        level = Attribute.categorical(LEVEL, [float(level) for level in self.levels])
        return replace(schema, attributes=(level, *schema.attributes))


class WeightedCodes:
    """Coded records in memory that count several times, as :class:`~pdsynth.core.Counter`.

    ``weights``: int64 (n_records,), public. ``n`` is their sum. What asks for more than counts of
    single tables isn't answered, so nothing can forget the weights.

    **Privacy:** raw counts; one record moves one cell by its weight.
    """

    def __init__(self, codes: np.ndarray, sizes: Sequence[int], weights: np.ndarray) -> None:
        self._codes, self._weights = Codes(codes, sizes), weights
        self.sizes, self.n, self.at_once = self._codes.sizes, int(weights.sum()), len(codes)

    def tables(self, sets: Iterable[Split]) -> Iterator[np.ndarray]:
        """As :meth:`~pdsynth.core.Counter.tables`; sums below 2^53 are exact in a float."""
        for cells, key in self._codes.keys(sets):
            yield np.bincount(key, self._weights, cells).astype(np.int64)

    def cells(self, sets: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Nothing that is counted in bits has weights."""
        raise BudgetError("records with weights give counts of single tables only")

    def encoded(self, encoding: Encoding) -> "WeightedCodes":
        """As :meth:`~pdsynth.core.Counter.encoded`; each record keeps its weight."""
        codes = encoding.encode(self._codes.codes)
        return WeightedCodes(codes, encoding.schema.sizes, self._weights)


# --- who has which ε -----------------------------------------------------------------------------


def choose_levels(
    synthesizer: Any, data: Any, schema: Any, given: Any
) -> tuple[pd.DataFrame, People]:
    """The table without the column of preferences, and what each record was promised.

    ``given``: the name of a column of the table that isn't an attribute of the schema, a Series
    with the table's index, or ``{attribute: {value: ε}}`` for all values of one attribute. A column
    is categorical: its categories are the levels that were offered, whoever chose them.

    **Privacy:** preferences are public; a rule by an attribute promises each record the ε of its
    value. SchemaError or BudgetError for what can't be promised, before ε is spent.
    """
    if not isinstance(data, pd.DataFrame):
        raise BudgetError("person_epsilon needs whole records: read the table into a DataFrame")
    check_schema(schema)
    if LEVEL in schema.names:
        raise SchemaError(
            f"the schema has an attribute {LEVEL!r}, the name of the column of levels: a "
            "preference is public and is no attribute of the records, so leave it out"
        )
    if isinstance(given, Mapping):
        schema.check(data, empty=True)
        return data, check_promise(synthesizer, by_value(data, schema, given))
    if isinstance(given, str):
        if given in schema.names:
            raise SchemaError(
                f"person_epsilon={given!r} is an attribute of the schema: a preference is public "
                "and no attribute of the records, so take it out of the schema; a rule by an "
                f"attribute is person_epsilon={{{given!r}: {{value: ε, …}}}}"
            )
        if times := [*data.columns].count(given) - 1:
            what = "stands twice or more among the columns" if times > 0 else "is no column"
            raise SchemaError(f"person_epsilon={given!r} {what} of the table")
        data, given = data.drop(columns=given), data[given]
    if not isinstance(given, pd.Series):
        raise BudgetError(
            "person_epsilon must be the name of a column, a Series, or "
            f"{{attribute: {{value: ε}}}}, got {show(given)}"
        )
    if not given.index.equals(data.index):
        raise SchemaError(
            f"person_epsilon has {len(given):,} values with another index than the table's "
            f"{len(data):,} rows: take both from the same frame"
        )
    return data, check_promise(synthesizer, by_record(given))


def check_promise(synthesizer: Any, people: People) -> People:
    """Refuse synthesizers that can't keep it, and levels above their ε."""
    settings = synthesizer.guarantee, synthesizer.relation, synthesizer.records_per_person
    if settings != ("strict", "add_remove", 1):
        raise BudgetError(
            "person_epsilon is for guarantee='strict', relation='add_remove' and one record a "
            f"person, as ConsistentBayes and baselines.Independent have them, got {settings}"
        )
    network = getattr(synthesizer, "structure", None)
    if isinstance(network, Network) and LEVEL not in network.order:
        raise BudgetError(
            f"a network of your own must say what goes with the levels: put ({LEVEL!r}, ()) in "
            f"front, and {LEVEL!r} among the parents of such attributes"
        )
    if synthesizer.delta is not None:
        raise BudgetError(
            "person_epsilon is for pure ε: in zCDP ten copies lose a hundred times what one loses, "
            "so leave delta out"
        )
    if people.levels[-1] > positive("epsilon", synthesizer.epsilon):
        raise BudgetError(
            f"epsilon = {synthesizer.epsilon} is the most that anybody may lose, but a person's ε "
            f"is {people.levels[-1]}"
        )
    if len(people.levels) == 1:
        raise BudgetError(
            f"everybody has ε = {people.levels[0]}: make that the epsilon of the fit and leave out "
            "person_epsilon, or name all levels that were offered, as categories"
        )
    return people


def by_record(column: pd.Series) -> People:
    """The level of each record from its own number."""
    if gone := int(column.isna().sum()):
        raise BudgetError(
            f"{gone:,} of {len(column):,} persons have no ε: say one for everybody, or leave out "
            "the records of those who gave none"
        )
    if not isinstance(column.dtype, pd.CategoricalDtype):
        raise BudgetError(
            "person_epsilon needs the levels that were offered, for those that occur tell who is "
            "in the table: column.astype(pd.CategoricalDtype([0.1, 0.5, 1]))"
        )
    listed = column.cat
    exact = [level_of(value) for value in listed.categories]
    levels = tuple(sorted({*exact}))
    if not levels:
        raise BudgetError("person_epsilon has no level at all")
    place = np.array([levels.index(value) for value in exact], dtype=np.int64)
    return People(levels, place[listed.codes.to_numpy()])


def by_value(data: pd.DataFrame, schema: Schema, rules: Mapping[Any, Any]) -> People:
    """The level of each record from the value of one attribute."""
    if len(rules) != 1 or not all(isinstance(rule, Mapping) for rule in rules.values()):
        raise BudgetError(
            "a rule of person_epsilon is {attribute: {value: ε}} with one attribute, got "
            + show(rules)
        )
    ((name, rule),) = rules.items()
    attribute, exact = schema[name], [level_of(value) for value in rule.values()]
    labels = {label: code for code, label in enumerate(attribute.labels)}
    if attribute.edges is not None and all(is_one_of(value, labels) for value in rule):
        codes = np.array([labels[value] for value in rule])
    else:
        try:
            empty = attribute.labels[-1] if attribute.missing else None  # "(missing)"
            values = [None if is_one_of(value, [empty]) else value for value in rule]
            codes = attribute.encode(pd.Series(values, dtype=object))
        except SchemaError as problem:
            raise BudgetError(
                f"the rule of person_epsilon must name values as they stand in the table ({name!r} "
                f"has {', '.join(attribute.labels[:8])}), got {show([*rule])}"
            ) from problem
    if gone := [attribute.labels[code] for code in range(attribute.size) if code not in codes]:
        raise BudgetError(
            f"the rule of person_epsilon must name each value of {name!r}: missing {show(gone)}"
        )
    levels = tuple(sorted({*exact}))
    place = np.zeros(attribute.size, dtype=np.int64)
    place[codes] = own = np.array([levels.index(value) for value in exact])
    if twice := [
        value for value, differs in zip(rule, place[codes] != own, strict=True) if differs
    ]:
        raise BudgetError(
            f"the rule of person_epsilon gives values that stand as one in {name!r} more than one "
            f"ε: {show(twice)} and another; give them the same"
        )
    return People(levels, place[attribute.encode(schema.take(data)[name])], name)


def rounded_down(own: np.ndarray, levels: int) -> People:
    """Levels for many different ε: each is rounded down to one of a few, so nobody gives more.

    ``own``: public, float (n,). Of all decimals of two significant digits, those are offered that
    keep most of the sum of ε, since a count's size against its noise goes with that sum. With two
    levels in equal ratios, nearly everybody would be rounded down to the least.

    >>> rounded_down(np.array([0.1, 0.4, 0.5, 1.0]), 2).levels
    (Fraction(1, 10), Fraction(2, 5))
    """
    exact = sorted({floor_to_digits(float(value), 2) for value in np.unique(own)})
    steps, rising = np.array(exact, dtype=float), np.sort(own)
    offered = tuple(
        exact[at] for at in keep_most(steps, len(own) - rising.searchsorted(steps), levels)
    )
    place = np.searchsorted([float(level) for level in offered], own, side="right") - 1
    return People(offered, place.astype(np.int64))


def keep_most(steps: np.ndarray, persons: np.ndarray, levels: int) -> list[int]:
    """The places of at most so many steps, the first among them, with the largest sum of ε.

    ``persons``: how many reach each of the rising steps. A step that follows another adds their
    difference for each person who reaches it, so the best sums are found level by level.
    """
    best = np.where(np.arange(len(steps)) == 0, steps[0] * persons[0], -np.inf)
    before = []
    for _ in range(levels - 1):
        sums = best[:, None] + (steps - steps[:, None]) * persons
        before.append(sums.argmax(axis=0))
        best = sums.max(axis=0)
    chosen = [int(best.argmax())]
    for came_from in reversed(before):
        chosen.append(int(came_from[chosen[-1]]))
    return sorted({*chosen})


def floor_to_digits(value: float, digits: int) -> Fraction:
    """The largest decimal of so many significant digits that isn't above a number."""
    unit = Fraction(10) ** (floor(log10(value)) - digits + 1)
    return floor(Fraction(str(value)) / unit) * unit


def level_of(value: Any) -> Fraction:
    """A person's ε as an exact fraction; BudgetError for what promises nothing."""
    return positive("a person's ε", value)


# --- the model -----------------------------------------------------------------------------------


def count_all(found: Sequence[Measurement], ledger: Ledger, n: int) -> int:
    """The secret number of records: the noisy count and the sums of all noisy tables, as one.

    Each weighs by 1 over its variance: 2 b² for each cell with noise of scale b. A small table with
    much of ε tells the number better than the count does, and the counts of a model should be
    those that its tables have. ``n``: the count, which alone is it where records have levels (see
    :func:`undo`), and where there is no line for it.

    **Privacy:** post-processing of releases.
    """
    tables = keep_measured(found, ledger)
    count = next((e for e in ledger.entries if e.released == "n" and e.epsilon > 0), None)
    if ledger.levels or not tables or count is None:
        return n
    own = np.array(count.scale, dtype=float)  # with δ the variance itself
    told = [(n, 1 / (own if ledger.unit.power > 1 else 2 * own**2))]
    for m in tables:
        scales = np.atleast_1d(np.array(m.scale, dtype=float))
        cells = m.table.size / len(scales)
        told.append((m.table.sum(), 1 / (2 * cells * (scales**2).sum())))
    sums, weights = np.array(told, dtype=float).T
    return max(1, round(float(sums @ weights / weights.sum())))


def sharpen(found: Sequence[Measurement], counted: Measured | None) -> list[Measurement]:
    """Noisy tables, that of the level averaged with ``counted``: the copies of each level.

    The number of persons is a sum over levels of copies by their number, so one of the least level
    counts most, and its column alone has little of ε among many. Both weigh by 1/scale².

    **Privacy:** post-processing of releases.
    """
    tables = list(found)
    at = next((i for i, m in enumerate(tables) if m.attributes == (LEVEL,)), None)
    if at is not None and counted is not None:
        mine = tables[at]
        own, other = (np.array(x.scale, dtype=float) ** -2.0 for x in (mine, counted))
        table = (own * mine.table + other * counted.counts) / (own + other)
        scales = tuple(map(Fraction, np.atleast_1d((own + other) ** -0.5).tolist()))
        scale = scales if isinstance(mine.scale, tuple) else scales[0]
        tables[at] = replace(mine, table=np.rint(table).astype(np.int64), scale=scale)
    return tables


def copies_of_levels(found: Sequence[Measurement], counted: Measured) -> np.ndarray:
    """The copies of each level: its column's, which :func:`sharpen` made; else what all tables say.

    Where one table of all columns is measured, its sums tell them better than ``counted``, which
    has a twentieth of ε. Each weighs by 1 over its variance, 2 b² for each cell of scale b.

    **Privacy:** post-processing of releases.
    """
    if (own := next((m.table for m in found if m.attributes == (LEVEL,)), None)) is not None:
        return own
    weights = np.array(counted.scale, dtype=float) ** -2.0
    total = weights * counted.counts
    for m in found:
        if LEVEL not in m.attributes or not m.counts or isinstance(m.scale, tuple):
            continue
        table = marginalise(m.table, m.attributes, (LEVEL,))
        if len(table) == len(counted.counts):
            weight = len(table) / m.table.size / float(m.scale) ** 2
            total, weights = total + weight * table, weights + weight
    return np.asarray(total / weights)


def undo(model: Model, found: Sequence[Measurement], counted: Measured | None) -> Model:
    """The model of the records themselves: counts of each level are divided by its copies.

    Tables are those of the junction tree of the network, the level's first, so that they agree.
    ``n`` is the number of persons that the copies of the levels tell (:func:`copies_of_levels`), or
    the model, where nothing was counted by level; the level isn't shown in samples.

    **Privacy:** post-processing of the release; levels are public.
    """
    schema, sizes, level = model.schema, model.schema.sizes, model.schema.index(LEVEL)
    copies = People(model.ledger.levels, np.zeros(0)).copies
    families = [(schema.index(c), tuple(map(schema.index, p))) for c, p in model.network.pairs]
    scopes = [tuple(sorted((child, *parents))) for child, parents in families]
    edges = {edge for scope in scopes for edge in combinations(scope, 2)}
    if not any(level in edge for edge in edges):
        tell(
            "no table ties the levels to another column, so that counts lean towards those who "
            "give more: ConsistentBayes measures such ties where n and ε bear them"
        )
    tree = CliqueTree(junction_tree(len(sizes), edges, level), sizes)
    once = -np.log(copies)
    factors = [(tree.place(tree.home((level,)), (level,)), once)]
    for (child, parents), scope in zip(families, scopes, strict=True):
        p = model.conditionals[schema.names[child]]
        log = np.log(p, out=np.full(p.shape, NEVER), where=p > 0)
        log = log.reshape([sizes[j] for j in (child, *parents)])
        log = np.transpose(log, np.argsort((child, *parents)))
        factors.append((tree.place(tree.home(scope), scope), log))
    sources = [*chain(*model.sources)]
    if counted is None:
        _, share = tree.calibrate(tree.multiply(factors), 1.0)
        n = max(1, round(model.n * float(np.exp(share))))
    else:
        levels = copies_of_levels(found, counted)
        n = max(1, round(float((np.maximum(levels, 0) / copies).sum())))
        sources.insert(0, counted.entry)
    tables, _ = tree.calibrate(tree.multiply(factors), float(n))
    fit = Distribution(tree, tables, float(n))
    pairs = [(child, parents) for child, parents, _ in tree.graph.families(level)]
    return replace(
        model,
        network=Network.of_columns(pairs, schema.names),
        tables=tuple(integer_weights(fit.margin((child, *parents))) for child, parents in pairs),
        n=n,
        sources=(tuple(dict.fromkeys(sources)),) * len(pairs),
    )


# --- the ledger ----------------------------------------------------------------------------------


def check(ledger: Ledger) -> None:
    """ValueError for a ledger from a file whose levels contradict it."""
    levels = ledger.levels
    if list(levels) != sorted({*levels}) or levels[0] <= 0 or levels[-1] != ledger.claimed:
        raise ValueError("levels of ε that aren't rising, or not up to what is claimed")
    if ledger.level_attribute not in ("", *ledger.public_attributes):
        raise ValueError("a level that follows from an attribute which isn't there")
    promised = People(levels, np.zeros(0)).promise[1]
    if (ledger.relation, ledger.records_per_person) != (promised.relation, promised.records):
        raise ValueError("levels of ε that aren't whole multiples of what one copy costs")
