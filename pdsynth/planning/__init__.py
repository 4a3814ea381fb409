"""``pds.plan``: what a fit would be worth and cost, foretold from public facts alone.

Seconds and memory follow from the machine's speed; ``benchmarks/forecast.py`` holds each forecast
against fits, and its constants come from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ..algorithms import ConsistentBayes, SensitivityGroups, chance_of_columns
from ..binning import check_rules, say_edges, share_of_edges
from ..core import (
    ALL_PAIRS,
    MAX_CELLS,
    NOISE_DOMINATES,
    USEFUL,
    BudgetError,
    Network,
    Noise,
    Recipe,
    Schema,
    SchemaError,
    Unit,
    as_fraction,
    check_columns,
    check_edge,
    check_records,
    check_schema,
    describe_facts,
    is_one_of,
    mutual_information,
    positive,
    share,
    show,
    typical_cells,
)
from ..files import decimal
from .cells import expected_noise, free_cells, say_rules
from .forecasting import (
    SINGLE,
    Forecast,
    Outlook,
    Prior,
    as_replaced,
    forecasts,
    left,
    prior,
)
from .one_table import tells_most
from .prices import EdgePrice
from .sentences import (
    expect,
    likely,
    say_delta,
    say_groups,
    say_secret,
    say_too_fine,
    say_whole,
)
from .way_back import least_epsilon

__all__ = [
    "Forecast",
    "Plan",
    "Prior",
    "explain",
    "forecasts",
    "plan",
    "prior",
    "tells_most",
]


def explain(candidates: Sequence[Forecast], d: int = 2, ratio: float = 0.0) -> str:
    """The best method in a sentence, with its margin over the next and over single columns.

    ``d``: columns of the schema; where they are many, a second sentence says what is compared.
    ``ratio``: noise over the mean cell of a single column, of the method that is best.
    """
    drowned = ratio > NOISE_DOMINATES
    return (_say_drowned(candidates[0], d, ratio) if drowned else _explain_best(candidates)) + (
        f" These distances are means over the pairs of {ALL_PAIRS} columns, which stand evenly "
        f"among all {d:,} when they are sorted by size."
        if d > ALL_PAIRS
        else ""
    )


def _say_alone(best: Forecast, outlook: Outlook) -> str:
    """How often ConsistentBayes would find ties too weak on average; nothing below one in twenty.

    A forecast: it holds where pairs are tied as in the tables behind the prior. With groups, or
    where n is secret, nobody asks how strong ties are.
    """
    if not best.adapts or not (outlook.looks or outlook.whole):
        return ""
    if outlook.whole:
        near = " if the number that is released is near the guess," * outlook.hidden
        return f" It measures one table of all columns here,{near} so no tie is left out."
    part = chance_of_columns(outlook.facts, outlook.prior.dependence)
    if part < 1 / 20:
        return ""
    often = "most fits" if part > 1 / 2 else f"about one fit in {round(1 / part)}"
    half = "ε: then every column has about twice the noise of Independent."
    if best.delta is not None:
        half = "ρ: then every column has about 1.4 times the noise that it has without them."
    return (
        f" In {often} ties may look too weak on average for tables of pairs; then single columns "
        f"are published here, and only pairs that stand out are kept. These may take half of {half}"
    )


def _say_drowned(best: Forecast, d: int, ratio: float) -> str:
    """Not to publish where single columns are noise, and how few columns would not be."""
    power = 1 if best.delta is None else 2  # noise grows with the columns, with a δ with their root
    few = int(d / (ratio * USEFUL) ** power)
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
        if nearer or not best.adapts
        else "as single columns, which is what it measures unless it finds strong ties"
    )
    low, high = likely(best.distance)
    between = f" (likely {low:.3f} to {high:.3f})" if best.adapts else ""
    return (
        f"Use {best.name}: expected two-way distance {best.distance:.3f}{between}, {than}; about "
        f"{_seconds(best.seconds)} and {best.megabytes:,.0f} MiB."
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


@dataclass(frozen=True)
class Plan:
    """What can be expected; as text it is the plain sentence, in Jupyter it shows its table.

    ``too_fine``: the columns whose values have more expected noise than their mean count where
    three tenths of ε measure single columns. ``noise``: the source that the fit will take, None for
    a curator's. ``drowned``: whether a typical single column, with all of ε for these, is more
    noise than signal: its noise scale, with the δ that is named of noise as large, is above its
    mean cell. Evenly drawn values are often nearer, also where zero-sum noise halves the error.
    """

    n: int
    epsilon: Fraction
    schema: Schema
    k: int
    sentence: str
    table: pd.DataFrame
    forecasts: tuple[Forecast, ...]
    too_fine: tuple[str, ...] = ()
    relation: str = "replace_one"
    noise: Noise | None = None
    drowned: bool = False

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

        A schema with groups gives ConsistentBayes those groups. The relation is the plan's; here,
        ``relation="add_remove"`` takes the nearest of the methods that offer it, by forecasts for
        the other relation. The number of records is secret then, and the choice is a function of
        the plan's ``n``: that must have been a public guess, as the size of the town, and never
        ``len(frame)``.
        """
        if self.relation != "replace_one":
            options = {"relation": self.relation} | options
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
    def advice(self) -> str:
        """What the method is that comes nearest."""
        return "Nearest, not recommended" if self.drowned else "Recommended"

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        """In a console as in print: the sentence, which a dump of all fields would hide."""
        return self.sentence

    def price(
        self, network: Network, edge: tuple[str, str], *, reference: pd.DataFrame | None = None
    ) -> EdgePrice:
        """The price of an edge (parent, child), where the tables share all of ε evenly.

        In pure ε also where the plan names a δ, which no network of one's own takes.
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
        edges, moved = share_of_edges(schema), Unit(self.relation).moved
        each = self.epsilon * (1 - edges) * left(self.relation) / len(schema)
        network.with_edge(parent, child)
        family = (child, *network.parents(child))
        before, after = schema.cells(family), schema.cells((*family, parent))
        hidden = not Unit(self.relation).n_is_public
        free = free_cells(np.array([before, after], dtype=float), self.noise, hidden)
        noise, more_noise = np.minimum(free * float(moved / (2 * each * self.n)), 1.0).tolist()
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
        lost = as_replaced(each, Unit(self.relation))  # a change is one record less and one more
        bins = Fraction(0)
        if schema[parent].private:
            bins = edges / sum(bool(a.private) for a in schema.attributes)
            bins = as_replaced(self.epsilon * bins, Unit(self.relation))
        was, then = (bins + times * lost for times in (touched, touched + 1))
        return EdgePrice(edge, before, after, noise, more_noise, was, then, gain)

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


def _by_degree(schema: Schema, n: int, outlook: Outlook, beta: Fraction) -> pd.DataFrame:
    """One row per degree k: a typical table, its mean cell and its noise.

    d − k tables share the budget, but for the part β for choices where k > 0.
    """
    k = pd.Series(range(min(len(schema), 6)))
    cells = k.map(lambda k: typical_cells(schema, k))
    scales = k.map(lambda k: outlook.noise_scale(1 - beta if k else Fraction(1), len(schema) - k))
    ratio = scales * cells / n
    alone = ratio / 2 * expected_noise(cells.round(), *outlook.noise)
    return pd.DataFrame(
        {
            "k": k,
            "tables": len(schema) - k,
            "cells of a typical table": cells.map(round),
            "mean cell, records": n / cells,
            "noise scale, records": scales,
            "noise ÷ mean cell": ratio,
            "distance from noise alone": alone.clip(upper=1),
        }
    )


def plan(
    schema: Schema,
    n: int,
    epsilon: float | None = None,
    *,
    distance: float | None = None,
    share_structure: float = 0.3,
    noise: Noise | None = None,
    relation: str = "replace_one",
    delta: float | str | Fraction | None = None,
) -> Plan:
    """What n records over a public schema can bear at ε, and the method to run, with its forecast.

    ``distance`` in place of ``epsilon`` asks the way back: the plan is that of the least ε of two
    digits, from 0.001 to 10, whose forecast (``plan(…).distance``) is at most that.

    ``plan(…).methods`` lists every candidate with the two-way distance, the seconds and the memory
    that are expected (:mod:`~pdsynth.planning.forecasting` says how), ``plan(…).synthesizer()``
    is the best of them, unfitted. Four of five distances of ConsistentBayes came between the two
    that the sentence calls likely. ``plan(…).table`` has one row per degree k: cells of a typical
    table, its mean cell and noise scale in records, their ratio, and the total variation distance
    that noise alone adds to such a table, in pure ε. With m records a person, plan for ε/m.
    ``noise``: the source that the fit will take, as ``holders.SharedNoise(3)``, whose small tables
    are noisier; None for a curator's; nothing is drawn. ``relation``: the one that the fit will
    take; with ``"add_remove"`` all this is for the methods that offer it, and ``synthesizer()`` has
    it. ``delta``: a small chance, as 1e-9, that you could accept: ConsistentBayes with it is a
    candidate more, which is named where it is expected to be clearly nearer than what is pure.

    Raises BudgetError for ε ≤ 0, or too small for a fit, for a distance that isn't between 0 and 1
    or that no ε up to 10 reaches, for both or neither, for a ``noise`` that is no source, for an
    unknown relation, for a ``delta`` that ConsistentBayes would refuse or beside ``noise``;
    SchemaError for n < 1.

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
    if noise is not None and not isinstance(noise, Noise):
        raise BudgetError(f"noise must be a source, as holders.SharedNoise(3), got {show(noise)}")
    if noise is not None and delta is not None:
        raise BudgetError("noise of a source's own has no δ: leave noise= or delta= out")
    chance = None if delta is None else _accept(delta, schema, int(n), relation)
    foretell = partial(forecasts, schema, int(n), noise=noise, relation=relation, delta=chance)
    budget = _choose(foretell, epsilon, distance)
    beta = share("share_structure", share_structure)
    candidates = tuple(foretell(epsilon=float(budget)))
    given = chance if candidates[0].delta else None
    seen = partial(Outlook, schema, int(n), float(budget), None, noise, relation)
    outlook, table = seen(given), _by_degree(schema, n, seen(), beta)  # of networks: pure
    k, ratio = table["k"], table["noise ÷ mean cell"]
    best = max(k[ratio * USEFUL <= 1], default=0)
    alone = outlook.noise_scale(Fraction(1), len(schema)) * typical_cells(schema, 0) / n
    drowned = bool(alone > NOISE_DOMINATES)
    fine = [schema.attributes[j] for j in np.flatnonzero(outlook.too_fine())]
    part = "three tenths of ε" if given is None else "three twentieths of ρ"
    told = "in pure ε " * (given is not None) + expect(ratio.tolist(), best)
    if outlook.whole and not best and not drowned:
        told = say_whole(outlook.whole, int(n), 2 * n / outlook.mass)
    sentence = (
        describe_facts(schema, n, decimal(budget))
        + told
        + " "
        + explain(candidates, len(schema), alone)
        + _say_alone(candidates[0], outlook)
        + say_delta(candidates, chance)
        + say_too_fine([a.name for a in fine], [a.size for a in fine], len(schema), drowned, part)
        + say_rules(schema)
        + say_edges(schema, int(n), float(budget))
        + say_secret(int(n), outlook.hidden)
        + say_groups(schema.groups, len(schema), candidates)
    )
    if distance is not None:
        sentence += (
            f" ε = {float(budget):g} is the least, of two digits, whose forecast is at most "
            f"{float(distance):g}."
        )
    names = tuple(a.name for a in fine)
    facts = int(n), budget, schema, best, sentence, table, candidates, names, relation, noise
    found = Plan(*facts, drowned)
    found.synthesizer().prepare(schema.declare_public(), found.n)  # refuses what a fit would
    return found


def _accept(delta: Any, schema: Schema, n: int, relation: str) -> Fraction:
    """A chance δ that a fit of ConsistentBayes would take; else refused as there."""
    from ..concentrated import check_delta  # noqa: PLC0415 - a pure fit never loads it

    chance: Fraction = check_delta(delta)
    ConsistentBayes(1, delta=chance, relation=relation).prepare(schema.declare_public(), n)
    return chance


def _choose(foretell: Callable[..., list[Forecast]], epsilon: Any, distance: Any) -> Fraction:
    """The ε that is given, or the least whose forecast reaches a distance."""
    if (epsilon is None) == (distance is None):
        raise BudgetError(
            f"plan takes one of epsilon and distance, got epsilon={show(epsilon)} and "
            f"distance={show(distance)}"
        )
    if distance is None:
        return positive("epsilon", epsilon)
    return least_epsilon(distance, lambda e: [f.distance for f in foretell(epsilon=e)])
