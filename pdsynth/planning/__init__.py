"""``pds.plan``: what a fit would be worth and cost, foretold from public facts alone.

Seconds and memory follow from the machine's speed; ``benchmarks/forecast.py`` holds each forecast
against fits, and its constants come from there.

A forecast of the mean two-way distance D (total variation) of n records over a schema at ε:
D² = (ρ q)² + v² + s². q says how strongly two columns hang together where nothing else is known; ρ,
which part of that a method's tables leave unexplained; v, the expected noise of a two-way table
(zero-sum where it is small), which clipping keeps below 1; s, what n sampled rows add. q and ρ are
the :class:`Prior`: medians over public tables (``prior.csv``, by ``benchmarks/prior.py``). Two
floors hold at any ε: s, and for ConsistentBayes the pairs that no clique of permitted size holds,
of which a network of three parents tells the most that the prior knows. ``DOUBT``, ``AGREED`` and
``ALONE`` were chosen by looking at Adult, NLTCS and CMC. The yardsticks' page holds advice against
what was measured, each table under the prior of the others; ``figures/advice.csv`` does so with few
repeats on all tables, and where columns are independent. There the forecast is wrong, but
ConsistentBayes, which looks before it measures more than single columns, loses little to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..algorithms import ALONE as ALONE_SHARE
from ..algorithms import (
    LARGEST_SET,
    MANY,
    MOST_CANDIDATES,
    SET_CELLS,
    ConsistentBayes,
    PrivBayes,
    SensitivityGroups,
    chance_of_columns,
    clique_limit,
    share_of_columns,
    share_of_look,
)
from ..baselines import Independent, JTree
from ..binning import check_rules, say_edges, share_of_edges
from ..core import (
    ALL_PAIRS,
    MAX_CELLS,
    MAX_PAIRS,
    NOISE_DOMINATES,
    USEFUL,
    BudgetError,
    Network,
    Recipe,
    Schema,
    SchemaError,
    as_fraction,
    check_columns,
    check_edge,
    check_records,
    check_schema,
    describe_facts,
    is_one_of,
    largest_selection,
    mutual_information,
    noise_to_cell,
    positive,
    share,
    show,
    typical_cells,
)
from ..files import decimal
from .cells import cells_of_pairs, expected_noise, free_cells, say_rules
from .costs import Cost
from .prices import EdgePrice
from .sentences import expect, likely, say_too_fine
from .way_back import least_epsilon

WIDEST = 6 * ALL_PAIRS  # numbers of tables that are compared
SINGLE, RECIPE = "baselines.Independent", "ConsistentBayes"
DOUBT = 1.07  # ConsistentBayes stands first unless another method is so many times nearer
AGREED, ALONE = 0.7, 1.4  # noise that agreement leaves, and that a chain of tables adds
UNEVEN = 0.6  # sampling error against that of values that are equally common: median of nine tables
FOR_COLUMNS = 0.3  # of ε, what ConsistentBayes gives single columns of many values


@dataclass(frozen=True)
class Prior:
    """What is assumed of a table that nobody has read.

    ``dependence``: the mean two-way distance from independent columns. What models leave of it:
    ``tree``, a tree of pairs (t tables leave tree^(t / (d − 1))); ``degrees``, networks of k = 1,
    2, … parents.
    """

    dependence: float
    tree: float
    degrees: tuple[float, ...]


@cache
def prior(*without: str) -> Prior:
    """Medians over the public tables in ``prior.csv``, but those that are to be judged."""
    rows = pd.read_csv(Path(__file__).with_name("prior.csv"), index_col="table")
    middle = rows.drop(index=[*without]).median()
    return Prior(middle["dependence"], middle["tree"], (*middle[["k=1", "k=2", "k=3"]],))


@dataclass(frozen=True)
class Forecast:
    """A method with its expected two-way distance, seconds of one core and MiB of memory."""

    name: str
    make: Callable[..., Recipe]
    distance: float
    seconds: float
    megabytes: float


def forecasts(schema: Schema, n: int, epsilon: float, given: Prior | None = None) -> list[Forecast]:
    """Every candidate, the nearest first; ConsistentBayes, which adapts to what it finds, before
    what is hardly nearer, its rounds before a forest of the same forecast, and single columns
    before all where no ties could be strong enough for more.

    **Privacy:** a function of n, ε and the schema, which are public.
    """
    facts = _Facts(schema, n, epsilon, given)
    private = sum(bool(a.private) for a in schema.attributes)
    cost, d = Cost(n, schema.sizes, private), facts.d
    forest = cost.forest(facts.pairs)
    nearest, tables = facts.consistent(6 * d)
    rounds = cost.rounds(facts.sets, max(tables, d / 2), facts.mass) if d <= MANY else forest
    seconds = rounds[0]
    if d <= MANY:  # in the mean over fits that stop after the look and others
        alone = chance_of_columns(facts.prior.dependence, n, float(epsilon), schema.sizes)
        seconds = alone * cost.look(facts.pairs)[0] + (1 - alone) * rounds[0]
    candidates = [Forecast(SINGLE, Independent, facts.independent(), *cost.degree(0))]
    if d <= ALL_PAIRS:  # else it would be refused
        candidates += [
            Forecast("ConsistentBayes", ConsistentBayes, nearest, seconds, rounds[1]),
            Forecast(
                "ConsistentBayes(rounds=0)",
                partial(ConsistentBayes, rounds=0),
                facts.consistent(d - 1)[0],
                *forest,
            ),
        ]
    for k in range(1, min(len(facts.prior.degrees), d - 1) + 1):
        if largest_selection(d, k) <= MAX_PAIRS:  # else it would be refused
            candidates.append(
                Forecast(
                    f"PrivBayes(k={k})", partial(PrivBayes, k=k), facts.degree(k), *cost.degree(k)
                )
            )
    if d <= ALL_PAIRS:
        candidates.append(Forecast("baselines.JTree", JTree, facts.junction(), *cost.degree(1)))
    hopeless = share_of_columns(1.0, facts.mass, schema.sizes) > ALONE_SHARE
    first = SINGLE if hopeless or d == 1 else RECIPE
    candidates.sort(key=lambda f: f.distance * (1 if f.name.startswith(first) else DOUBT))
    return [replace(f, distance=min(f.distance, 1.0)) for f in candidates]  # no distance is larger


class _Facts:
    """Public numbers of a table, and the forecasts made of them.

    ``both``: all pairs of columns; of more than ALL_PAIRS columns, those of so many that stand
    evenly among all when these are sorted by size.
    """

    def __init__(self, schema: Schema, n: int, epsilon: float, given: Prior | None = None) -> None:
        self.prior = given or prior()
        paid = float(1 - share_of_edges(schema))  # what private bins leave of ε
        self.size, self.mass = np.array(schema.sizes, dtype=float), float(epsilon) * n * paid
        self.n, self.d = n, len(schema)
        columns = np.arange(self.d)
        if self.d > ALL_PAIRS:
            even = np.linspace(0, self.d - 1, ALL_PAIRS).round().astype(int)
            columns = np.sort(np.argsort(self.size, kind="stable")[even])
        i, j = np.triu_indices(len(columns), 1)
        self.both = columns[i], columns[j]
        self.table = float(np.median(cells_of_pairs(schema, *self.both)))
        self.pairs = math.comb(self.d, 2)
        self.sets, self.members = self.pairs, 2  # candidates, and the columns of most of them
        for m in range(3, LARGEST_SET + 1):
            sets = self.sets + math.comb(self.d, m)
            if self.d < m or self.size.max() ** m > SET_CELLS or sets > MOST_CANDIDATES:
                break
            self.sets, self.members = sets, m
        self.typical = float(np.exp(np.log(self.size).mean()))
        sizes = [int(s) for s in self.size]
        self.ties = share_of_columns(self.prior.dependence, self.mass, sizes)
        self.one_way = max(min(FOR_COLUMNS, self.size.mean() / 20), self.ties)
        self.tables = 0.8 * (1 - float(share_of_look(sizes)) - self.one_way)

    def sampled(self) -> np.ndarray:
        """What n rows of each pair show by chance: .6 √(|X||Y| / (2πn)), see UNEVEN."""
        i, j = self.both
        return UNEVEN * np.sqrt(self.size[i] * self.size[j] / (2 * math.pi * self.n))

    def too_fine(self) -> np.ndarray:
        """The columns whose values have more expected noise than their mean count, as booleans.

        As ConsistentBayes measures columns beside pairs: .3 of ε for all, ε_j in proportion to
        √|X_j|, noise of scale 2/ε_j on each of |X_j| values, whose mean count is n/|X_j|.
        """
        roots, noise = np.sqrt(self.size), 2 * expected_noise(self.size)
        return noise * roots * roots.sum() > FOR_COLUMNS * self.mass

    def unheld(self) -> float:
        """The part of the pairs that no junction tree of cliques of permitted size can hold.

        Cliques of c typical columns hold at most (d − c)(c − 1) + c(c − 1)/2 of d(d − 1)/2 pairs.
        """
        room = clique_limit(self.mass, self.d)
        c = min(max(math.log(room) / math.log(self.typical), 2.0), float(self.d))
        return 1 - ((self.d - c) * (c - 1) + c * (c - 1) / 2) / max(self.pairs, 1)

    def independent(self) -> float:
        """Columns with ε/d each: v = d (free cells of X_i and X_j) / (ε n)."""
        return self.distance(1.0, self.pair(self.d * free_cells(self.size) / self.mass))

    def consistent(self, most: int) -> tuple[float, int]:
        """The distance at the best number of tables, at most ``most``, and that number, under the
        shares of ConsistentBayes, but for those of columns beside tables: 2 % at most.

        As single columns at worst: that is what it measures where ties are too weak.
        """
        alone = self.independent(), 0
        if self.ties > ALONE_SHARE:
            return alone
        # what tables tell of their columns
        evidence = self.one_way + self.tables / self.size.mean()
        roots = np.sqrt(self.size)
        noise = expected_noise(self.size) * roots * roots.sum()
        columns = self.pair(0.45 * noise / (evidence * self.mass))
        # the sums of a larger table that tell a pair have the noise of √(its cells · the pair's)
        whole, cells = self.table, self.table
        if self.members > 2:
            whole, cells = self.typical**self.members, self.typical ** (self.members / 2 + 1)
        cells *= float(expected_noise(np.array([whole]))[0])
        edges = self.members - 1
        floor = self.unheld() * self.prior.degrees[-1]

        def at(t: int) -> float:
            rest = max(self.prior.tree ** (t * edges / max(self.d - 1, 1)), floor)
            return self.distance(rest, AGREED * cells * t / (self.tables * self.mass), columns)

        return min(alone, *((at(t), t) for t in _numbers(most)))

    def degree(self, k: int) -> float:
        """PrivBayes: d − k tables for .7 of ε, of a pair and k − 1 typical columns.

        One table is no chain.
        """
        tables = self.d - k
        noise = (ALONE if tables > 1 else 1) * tables / (0.7 * self.mass) * self.cells(k + 1)
        return self.distance(self.prior.degrees[k - 1], noise)

    def cells(self, columns: int) -> np.ndarray:
        """Free cells of a table of so many columns that holds a pair: one number for every pair."""
        pairs = self.size[self.both[0]] * self.size[self.both[1]]
        return free_cells(pairs * self.typical ** (columns - 2))

    def junction(self) -> float:
        """At most d clique tables for half of ε, at the best size, or none but columns."""
        alone = self.distance(1.0, self.pair(2 * self.d * free_cells(self.size) / self.mass))
        noise = 2 * ALONE * self.d / self.mass
        return min(
            alone,
            *(
                self.distance(rest, noise * self.cells(k + 1))
                for k, rest in enumerate(self.prior.degrees, 1)
            ),
        )

    def pair(self, columns: np.ndarray) -> np.ndarray:
        """The noise of every pair of columns from the noise of each."""
        return columns[self.both[0]] + columns[self.both[1]]

    def distance(self, rest: float, *noises: float | np.ndarray) -> float:
        """√(ρ² (q² + s²) + Σ v² + s²), each below 1; the mean over pairs.

        Few records look tied by chance, s, too: what leaves out ties leaves out that. And the rows
        that are drawn show as much once more.
        """
        *noise, chance = ((v / (1 + v)) ** 2 for v in (*noises, self.sampled()))
        square = rest**2 * (self.prior.dependence**2 + chance) + sum(noise) + chance
        return float(np.mean(np.sqrt(square)))


def _numbers(most: int) -> list[int]:
    """1, 2, … ``most``; where these are too many, as many as WIDEST, each a little larger."""
    if most <= WIDEST:
        return list(range(1, most + 1))
    return np.unique(np.geomspace(1, most, WIDEST).round().astype(int)).tolist()


def explain(candidates: Sequence[Forecast], d: int = 2, ratio: float = 0.0) -> str:
    """The best method in a sentence, with its margin over the next and over single columns.

    ``d``: columns of the schema; where they are many, a second sentence says what is compared.
    ``ratio``: noise over the mean cell of a single column.
    """
    drowned = ratio > NOISE_DOMINATES
    return (_say_drowned(candidates[0], d, ratio) if drowned else _explain_best(candidates)) + (
        f" These distances are means over the pairs of {ALL_PAIRS} columns, which stand evenly "
        f"among all {d:,} when they are sorted by size."
        if d > ALL_PAIRS
        else ""
    )


def say_alone(best: Forecast, schema: Schema, n: int, epsilon: float) -> str:
    """How often ConsistentBayes would find ties too weak on average; nothing below one in twenty.

    A forecast: it holds where pairs are tied as in the tables behind the prior.
    """
    if best.name != RECIPE or len(schema) < 2:
        return ""
    part = chance_of_columns(prior().dependence, n, epsilon, schema.sizes)
    if part < 1 / 20:
        return ""
    often = "most fits" if part > 1 / 2 else f"about one fit in {round(1 / part)}"
    return (
        f" In {often} ties may look too weak on average for tables of pairs; then single columns "
        "are published here, and only pairs that stand out are kept. These may take half of ε: "
        "then every column has about twice the noise of Independent."
    )


def _say_drowned(best: Forecast, d: int, ratio: float) -> str:
    """Not to publish where single columns are noise, and how few columns would not be."""
    few = int(d / (ratio * USEFUL))  # noise is in proportion to the number of columns
    return (
        f"Publish nothing yet: values that are drawn evenly may be nearer than {best.name}, whose "
        f"expected two-way distance is {best.distance:.3f}."
        + f" With {few:,} columns like these, single columns would be useful."
        * (few > 1)
    )


def _explain_best(candidates: Sequence[Forecast]) -> str:
    best = candidates[0]
    alone = next(f for f in candidates if f.name == SINGLE)
    if best is alone:
        then = "; no other method is made for so many columns."
        if len(candidates) > 1:
            then = f"; the next, {candidates[1].name}, {candidates[1].distance:.3f}."
        return (
            f"Publish single columns: {best.name}, expected two-way distance {best.distance:.3f}"
            + then
        )
    nearer = 1 - best.distance / alone.distance
    than = (
        f"single columns {alone.distance:.3f} ({nearer:.0%} nearer)"
        if nearer or best.name != RECIPE
        else "as single columns, which is what it measures unless it finds strong ties"
    )
    low, high = likely(best.distance)
    between = f" (likely {low:.3f} to {high:.3f})" if best.name == RECIPE else ""
    return (
        f"Use {best.name}: expected two-way distance {best.distance:.3f}{between}, {than}; about "
        f"{_seconds(best.seconds)} and {best.megabytes:,.0f} MiB."
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


@dataclass(frozen=True)
class Plan:
    """What can be expected; ``str(plan)`` is the plain sentence, in Jupyter it shows its table.

    ``too_fine``: the columns whose values have more expected noise than their mean count where
    three tenths of ε measure single columns.
    """

    n: int
    epsilon: Fraction
    schema: Schema
    k: int
    sentence: str
    table: pd.DataFrame
    forecasts: tuple[Forecast, ...]
    too_fine: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """The method that is expected to come nearest, as it is written."""
        return self.forecasts[0].name

    @property
    def distance(self) -> float:
        """The two-way distance that is expected of it: mean total variation, from 0 to 1."""
        return self.forecasts[0].distance

    @property
    def methods(self) -> pd.DataFrame:
        """Every candidate: expected two-way distance, seconds of one core, MiB; nearest first."""
        candidates = self.forecasts
        return pd.DataFrame(
            {
                "method": [f.name for f in candidates],
                "expected 2-way distance": [f.distance for f in candidates],
                "seconds": [f.seconds for f in candidates],
                "MiB": [f.megabytes for f in candidates],
            }
        )

    def synthesizer(self, **options: Any) -> Recipe:
        """The recommended method for this ε, unfitted; ``options`` are further keywords of it.

        A schema with groups gives ConsistentBayes those groups. With ``relation="add_remove"`` it
        is the nearest of the methods that offer it. The number of records is secret then, and the
        choice is a function of the plan's ``n``: that must have been a public guess, as the size of
        the town, and never ``len(frame)``.
        """
        written = float(self.epsilon)
        epsilon = written if as_fraction(written) == self.epsilon else self.epsilon
        relation = options.get("relation", "replace_one")
        hidden = is_one_of(relation, ("replace_one",))
        offer = (f for f in self.forecasts if hidden or f.make().counts_only(self.schema, self.n))
        best = next(offer, self.forecasts[0])  # which then refuses an unknown relation
        if self.schema.groups and best.name.startswith("ConsistentBayes"):
            options = {"personal": SensitivityGroups(rare_values="same_noise")} | options
        return best.make(**{"epsilon": epsilon} | options)

    @property
    def drowned(self) -> bool:
        """Whether a typical single column, with all of ε for these, is more noise than signal."""
        return bool(self.table["noise ÷ mean cell"][0] > NOISE_DOMINATES)

    @property
    def advice(self) -> str:
        """What the method is that comes nearest."""
        return "Nearest, not recommended" if self.drowned else "Recommended"

    def __str__(self) -> str:
        return self.sentence

    def price(
        self, network: Network, edge: tuple[str, str], *, reference: pd.DataFrame | None = None
    ) -> EdgePrice:
        """The price of an edge (parent, child), where the tables share all of ε evenly.

        ``reference``: a *public* table over the schema, for the information gained. Raises
        SchemaError for an edge that is there already or closes a cycle.

        **Privacy:** reads no private record: n, ε and the schema are public. A private
        ``reference`` would be read without being paid for, so don't give one.
        """
        if not isinstance(network, Network) or {*network.order} != {*self.schema.names}:
            raise SchemaError(
                f"price needs a Network over the attributes of the schema, got {show(network)}"
            )
        (parent, child), schema = check_edge(edge), self.schema
        each = self.epsilon / len(schema)
        network.with_edge(parent, child)
        family = (child, *network.parents(child))
        before, after = schema.cells(family), schema.cells((*family, parent))
        noise, more_noise = (min(1.0, float(cells / (each * self.n))) for cells in (before, after))
        touched = sum(parent in (c, *p) for c, p in network.pairs)
        gain = None
        if reference is not None:
            if after > MAX_CELLS:
                raise SchemaError(
                    f"the table of {child!r} would have {after:,} cells; at most "
                    f"{MAX_CELLS:,} can be counted"
                )
            domain = schema.select([*family, parent])
            check_columns(reference)
            reference = domain.take(reference)
            there = [name for name in domain.names if name in reference]
            codes = domain.encode(reference[there]).astype(np.int64)
            cells = np.ravel_multi_index(tuple(codes.T), domain.sizes)
            table = np.bincount(cells, minlength=after).reshape(domain.sizes)
            gain = mutual_information(table) - mutual_information(table.sum(axis=-1))
            gain = max(gain, 0.0)  # never negative but for rounding
        return EdgePrice(
            edge, before, after, noise, more_noise, touched * each, (touched + 1) * each, gain
        )

    def _repr_html_(self) -> str:
        numbers = "".join(
            "<div style='overflow-x:auto'>"
            f"{t.to_html(index=False, border=0, float_format='{:.3g}'.format)}</div>"
            for t in (self.methods, self.table)
        )
        return (
            f"<div class='mathjax_ignore'><p>{escape(self.sentence)}</p><p>{self.advice}: "
            f"<code>{escape(self.method)}</code></p>{_bars(self.forecasts)}"
            f"<details><summary>All numbers</summary>{numbers}</details></div>"
        )


def _bars(candidates: tuple[Forecast, ...]) -> str:
    """The expected distance of every candidate, as bars; the nearest stands first, in bold."""
    left = " style='text-align:left'"
    bold, top = " style='font-weight:600'", max(f.distance for f in candidates) or 1.0
    rows = "".join(
        f"<tr{bold if f is candidates[0] else ''}><td{left}>{escape(f.name)}"
        f"</td><td style='width:200px;min-width:120px'><div style='background:#e69f00;height:.8em;"
        f"width:{f.distance / top:.1%}'></div></td><td>{f.distance:.3f}</td></tr>"
        for f in candidates
    )
    return (
        f"<table><tr><th{left}>method</th><th{left} colspan='2'>expected 2-way distance, "
        f"smaller is nearer</th></tr>{rows}</table>"
    )


def plan(
    schema: Schema,
    n: int,
    epsilon: float | None = None,
    *,
    distance: float | None = None,
    share_structure: float = 0.3,
) -> Plan:
    """What n records over a public schema can bear at ε, and the method to run, with its forecast.

    ``distance`` in place of ``epsilon`` asks the way back: the plan is that of the least ε of two
    digits, from 0.001 to 10, whose forecast (``plan(…).distance``) is at most that.

    ``plan(…).methods`` lists every candidate with the two-way distance, the seconds and the memory
    that are expected (:mod:`~pdsynth.planning` says how), ``plan(…).synthesizer()``
    is the best of them, unfitted. Four of five distances of ConsistentBayes came between the two
    that the sentence calls likely. ``plan(…).table`` has one row per degree k: cells of a typical
    table, its mean cell and noise scale in records, their ratio, and the total variation distance
    that noise alone adds to such a table. With m records a person, plan for ε/m. Raises
    BudgetError for ε ≤ 0, or too small for a fit, for a distance that isn't between 0 and 1 or that
    no ε up to 10 reaches, for both or neither; SchemaError for n < 1.

    **Privacy:** a function of n, ε or the distance, and the schema, which are public (neighbours
    replace one record, so n is the same): costs nothing. Where records are added or removed, n is
    secret: give a public guess of it.
    """
    if len(check_schema(schema)) < 2:
        raise SchemaError(
            f"the schema has {len(schema)} attribute(s); at least 2 are needed for a network"
        )
    check_rules(schema)
    check_records(n)
    budget, beta = _choose(schema, n, epsilon, distance), share("share_structure", share_structure)
    k = pd.Series(range(min(len(schema), 6)))
    cells = k.map(lambda k: typical_cells(schema, k))
    ratio = k.map(lambda k: noise_to_cell(schema, n, budget, k, beta))
    table = pd.DataFrame(
        {
            "k": k,
            "tables": len(schema) - k,
            "cells of a typical table": cells.map(round),
            "mean cell, records": n / cells,
            "noise scale, records": ratio * n / cells,
            "noise ÷ mean cell": ratio,
            "distance from noise alone": (ratio / 2 * expected_noise(cells.round())).clip(upper=1),
        }
    )
    best = max(k[ratio * USEFUL <= 1], default=0)
    candidates = tuple(forecasts(schema, int(n), float(budget)))
    drowned = bool(ratio[0] > NOISE_DOMINATES)
    fine = [
        schema.attributes[j]
        for j in np.flatnonzero(_Facts(schema, int(n), float(budget)).too_fine())
    ]
    sentence = (
        describe_facts(schema, n, decimal(budget))
        + expect(ratio.tolist(), best)
        + " "
        + explain(candidates, len(schema), ratio[0])
        + say_alone(candidates[0], schema, int(n), float(budget))
        + say_too_fine([a.name for a in fine], [a.size for a in fine], len(schema), drowned)
        + say_rules(schema)
        + say_edges(schema, int(n), float(budget))
    )
    if distance is not None:
        sentence += (
            f" ε = {float(budget):g} is the least, of two digits, whose forecast is at most "
            f"{float(distance):g}."
        )
    names = tuple(a.name for a in fine)
    found = Plan(int(n), budget, schema, best, sentence, table, candidates, names)
    found.synthesizer().prepare(schema.declare_public(), found.n)  # refuses what a fit would
    return found


def _choose(schema: Schema, n: int, epsilon: Any, distance: Any) -> Fraction:
    """The ε that is given, or the least whose forecast reaches a distance."""
    if (epsilon is None) == (distance is None):
        raise BudgetError(
            f"plan takes one of epsilon and distance, got epsilon={show(epsilon)} and "
            f"distance={show(distance)}"
        )
    if distance is None:
        return positive("epsilon", epsilon)
    return least_epsilon(distance, lambda e: forecasts(schema, int(n), e)[0].distance)
