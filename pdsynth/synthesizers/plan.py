"""Before you spend: what to expect of a table, a degree or an edge, from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ..budgets import SensitivityGroups
from ..domain.schema import Schema, check_columns, check_schema
from ..errors import SchemaError, is_one_of, show
from ..measures import mutual_information
from ..network import Network, check_edge
from ..privacy.ledger import as_fraction
from ..privacy.numbers import positive, share
from ..structure.parent_rules import (
    MAX_CELLS,
    NOISE_DOMINATES,
    USEFUL,
    describe_facts,
    noise_to_cell,
    typical_cells,
)
from .prediction import Forecast, explain, forecasts
from .recipe import Recipe, check_records


@dataclass(frozen=True)
class Plan:
    """What can be expected; ``str(plan)`` is the plain sentence, in Jupyter it shows its table."""

    n: int
    epsilon: Fraction
    schema: Schema
    k: int
    sentence: str
    table: pd.DataFrame
    forecasts: tuple[Forecast, ...]

    @property
    def method(self) -> str:
        """The method that is expected to come nearest, as it is written."""
        return self.forecasts[0].name

    @property
    def methods(self) -> pd.DataFrame:
        """Every candidate: expected two-way distance, seconds of one core, MiB; nearest first."""
        found = self.forecasts
        return pd.DataFrame(
            {
                "method": [f.name for f in found],
                "expected 2-way distance": [f.distance for f in found],
                "seconds": [f.seconds for f in found],
                "MiB": [f.megabytes for f in found],
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
        asked = options.get("relation", "replace_one")
        hidden = is_one_of(asked, ("replace_one",))
        offer = (f for f in self.forecasts if hidden or f.make().counts_only(self.schema, self.n))
        best = next(offer, self.forecasts[0])  # which then refuses an unknown relation
        if self.schema.groups and best.name.startswith("ConsistentBayes"):
            options = {"personal": SensitivityGroups(rare_values="same_noise")} | options
        return best.make(**{"epsilon": epsilon} | options)

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
            asked = schema.select([*family, parent])
            check_columns(reference)
            there = [name for name in asked.names if name in reference]
            codes = asked.encode(reference[there]).astype(np.int64)
            cells = np.ravel_multi_index(tuple(codes.T), asked.sizes)
            table = np.bincount(cells, minlength=after).reshape(asked.sizes)
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
            f"<p>{escape(self.sentence)}</p><p>Recommended: <code>{escape(self.method)}"
            f"</code></p>{_bars(self.forecasts)}"
            f"<details><summary>All numbers</summary>{numbers}</details>"
        )


def _bars(found: tuple[Forecast, ...]) -> str:
    """The expected distance of every candidate, as bars; the nearest stands first, in bold."""
    left = " style='text-align:left'"
    bold, top = " style='font-weight:600'", max(f.distance for f in found) or 1.0
    rows = "".join(
        f"<tr{bold if f is found[0] else ''}><td{left}>{escape(f.name)}"
        f"</td><td style='width:200px;min-width:120px'><div style='background:#e69f00;height:.8em;"
        f"width:{f.distance / top:.1%}'></div></td><td>{f.distance:.3f}</td></tr>"
        for f in found
    )
    return (
        f"<table><tr><th{left}>method</th><th{left} colspan='2'>expected 2-way distance, "
        f"smaller is nearer</th></tr>{rows}</table>"
    )


def plan(schema: Schema, n: int, epsilon: float, *, share_structure: float = 0.3) -> Plan:
    """What n records over a public schema can bear at ε, and the method to run, with its forecast.

    ``plan(…).methods`` lists every candidate with the two-way distance, the seconds and the memory
    that are expected (:mod:`~pdsynth.synthesizers.prediction` says how), ``plan(…).synthesizer()``
    is the best of them, unfitted. ``plan(…).table`` has one row per degree k: cells of a typical
    table, its mean cell and noise scale in records, their ratio, and the total variation distance
    that noise alone adds to such a table. With m records a person, plan for ε/m. Raises
    BudgetError for ε ≤ 0 and SchemaError for n < 1.

    **Privacy:** a function of n, ε and the schema, which are public (neighbours replace one record,
    so n is the same): costs nothing. Where records are added or removed, n is secret: give a public
    guess of it.
    """
    if len(check_schema(schema)) < 2:
        raise SchemaError(
            f"the schema has {len(schema)} attribute(s); at least 2 are needed for a network"
        )
    check_records(n)
    budget, beta = positive("epsilon", epsilon), share("share_structure", share_structure)
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
            "distance from noise alone": (ratio / 2).clip(upper=1.0),
        }
    )
    best = max(k[ratio * USEFUL <= 1], default=0)
    found = tuple(forecasts(schema, int(n), float(budget)))
    sentence = (
        describe_facts(schema, n, budget)
        + expect(ratio.tolist(), best)
        + " "
        + explain(found, len(schema))
    )
    return Plan(int(n), budget, schema, best, sentence, table, found)


@dataclass(frozen=True)
class EdgePrice:
    """What one more edge brings and costs.

    ``noise_before``, ``noise_after``: total variation distance that noise alone adds to the child's
    table; ``epsilon_before``, ``epsilon_after``: loss of the new parent if only it changes, at
    equal shares for all d tables. ``information`` in bits, None without a public reference.
    """

    edge: tuple[str, str]
    cells_before: int
    cells_after: int
    noise_before: float
    noise_after: float
    epsilon_before: Fraction
    epsilon_after: Fraction
    information: float | None = None

    def __str__(self) -> str:
        parent, child = self.edge
        gained = (
            "" if self.information is None else f"gains {self.information:.4f} bit of information; "
        )
        return (
            f"{parent} → {child}: {gained}the table grows from {self.cells_before:,} to "
            f"{self.cells_after:,} cells, noise alone moves it by {self.noise_after:.3g} "
            f"instead of {self.noise_before:.3g}; a change of {parent} then costs ε = "
            f"{float(self.epsilon_after):.3g} instead of {float(self.epsilon_before):.3g}"
        )


def expect(ratio: list[float], k: int) -> str:
    """What tables of 0, 1, … parents are worth at these ratios of noise to mean cell."""
    lost = [degree for degree, value in enumerate(ratio) if value > NOISE_DOMINATES]
    if 1 in lost and 0 in lost:
        return (
            "every two-way table is noise, and so is every single column: it takes more "
            "records, coarser bins or a larger ε."
        )
    if 1 in lost:
        return (
            "every two-way table is noise; release single columns, or use fewer of them, or "
            "coarser bins."
        )
    if k == 0:
        return (
            "two-way tables are as much noise as signal: k = 'auto' will keep only the "
            "smallest; coarser bins would help."
        )
    useful = (
        f"up to k = {k} parent{'s' * (k > 1)} a typical table is useful (mean cell of at "
        f"least {USEFUL:g} noise scales)."
    )
    if not lost:
        return useful
    return f"{useful} From k = {lost[0]} on a typical table has more noise than records in a cell."
