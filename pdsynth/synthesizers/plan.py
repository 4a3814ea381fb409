"""Before you spend: what to expect of a table, a degree or an edge, from public facts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from html import escape

import numpy as np
import pandas as pd

from ..domain.schema import Schema
from ..errors import SchemaError, is_whole
from ..measures import mutual_information
from ..network import Network
from ..privacy.numbers import positive, share
from ..structure.parent_rules import MAX_CELLS

NOISE_DOMINATES = 1.0  # noise as large as the mean cell: a table tells most about the noise
USEFUL = 4.0  # θ of TODS 2017: a mean cell of at least four noise scales


def typical_cells(schema: Schema, k: int) -> float:
    """Cells of a table of k+1 attributes of typical size, the geometric mean of the sizes."""
    return math.exp(float(np.mean(np.log(schema.sizes)))) ** (k + 1)


def noise_to_cell(schema: Schema, n: int, epsilon: Fraction, k: int,
                  share_structure: Fraction = Fraction(3, 10)) -> float:
    """Noise scale of a typical table over its mean cell, both in records.

    d−k tables share (1−β)ε, or all of ε for k = 0.
    """
    rest = 1 - float(share_structure) if k else 1.0
    scale = 2 * (len(schema) - k) / (float(epsilon) * rest)
    return scale * typical_cells(schema, k) / n


@dataclass(frozen=True)
class Plan:
    """What can be expected; ``str(plan)`` is the plain sentence, in Jupyter it shows its table."""

    n: int
    epsilon: Fraction
    schema: Schema
    k: int
    method: str
    sentence: str
    table: pd.DataFrame

    def __str__(self) -> str:
        return self.sentence

    def price(self, network: Network, edge: tuple[str, str], *,
              reference: pd.DataFrame | None = None) -> EdgePrice:
        """The price of an edge (parent, child), where the tables share all of ε evenly.

        ``reference``: a *public* table over the schema, for the information gained. Raises
        SchemaError for an edge that is there already or closes a cycle.

        **Privacy:** reads no private record: n, ε and the schema are public. A private
        ``reference`` would be read without being paid for, so don't give one.
        """
        (parent, child), schema, each = edge, self.schema, self.epsilon / len(self.schema)
        network.with_edge(parent, child)
        family = (child, *network.parents(child))
        before, after = schema.cells(family), schema.cells((*family, parent))
        noise, more_noise = (min(1.0, float(cells / (each * self.n))) for cells in (before, after))
        touched = sum(parent in (c, *p) for c, p in network.pairs)
        gain = None
        if reference is not None:
            if after > MAX_CELLS:
                raise SchemaError(f"the table of {child!r} would have {after:,} cells; at most "
                                  f"{MAX_CELLS:,} can be counted")
            asked = schema.select([*family, parent])
            codes = asked.encode(reference[list(asked.names)]).astype(np.int64)
            cells = np.ravel_multi_index(tuple(codes.T), asked.sizes)
            table = np.bincount(cells, minlength=after).reshape(asked.sizes)
            gain = mutual_information(table) - mutual_information(table.sum(axis=-1))
            gain = max(gain, 0.0)  # never negative but for rounding
        return EdgePrice(edge, before, after, noise, more_noise, touched * each,
                         (touched + 1) * each, gain)

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, border=0, float_format="{:.3g}".format)
        return (f"<p>{escape(self.sentence)}</p><p>Recommended: <code>{escape(self.method)}"
                f"</code></p>{table}")


def plan(schema: Schema, n: int, epsilon: float, *, share_structure: float = 0.3) -> Plan:
    """What n records over a public schema can bear at ε: the largest useful k, a method, why.

    ``plan(…).table`` has one row per degree: cells of a typical table, its mean cell and noise
    scale in records, their ratio, and the total variation distance that noise alone adds to such a
    table. Raises BudgetError for ε ≤ 0 and SchemaError for n < 1.

    **Privacy:** a function of n, ε and the schema, which are public: costs nothing.
    """
    if not is_whole(n, 1):
        raise SchemaError(f"n must be a whole number of records, at least 1, got {n!r}")
    budget, beta = positive("epsilon", epsilon), share("share_structure", share_structure)
    k = pd.Series(range(min(len(schema), 6)))
    cells = k.map(lambda k: typical_cells(schema, k))
    ratio = k.map(lambda k: noise_to_cell(schema, n, budget, k, beta))
    table = pd.DataFrame({
        "k": k, "tables": len(schema) - k, "cells of a typical table": cells.map(round),
        "mean cell, records": n / cells, "noise scale, records": ratio * n / cells,
        "noise ÷ mean cell": ratio, "distance from noise alone": (ratio / 2).clip(upper=1.0)})
    best = max(k[ratio * USEFUL <= 1], default=0)
    personal = "CSAPrivBayes or HPPrivBayes with the schema's groups, k='auto'"
    method = personal if schema.groups else "PrivBayes(k='auto')"
    if ratio[1] > NOISE_DOMINATES:
        method = "baselines.Independent"
    sentence = _facts(schema, n, budget) + _expect(ratio.tolist(), best)
    return Plan(int(n), budget, schema, best, method, sentence, table)


def _facts(schema: Schema, n: int, epsilon: Fraction) -> str:
    return f"{n:,} rows × {len(schema)} columns at ε = {float(epsilon):g}: "


def _expect(ratio: list[float], k: int) -> str:
    """What tables of 0, 1, … parents are worth at these ratios of noise to mean cell."""
    lost = [degree for degree, value in enumerate(ratio) if value > NOISE_DOMINATES]
    if 1 in lost and 0 in lost:
        return ("every two-way table is noise, and so is every single column: it takes more "
                "records, coarser bins or a larger ε.")
    if 1 in lost:
        return ("every two-way table is noise; publish single columns, or use fewer of them, or "
                "coarser bins.")
    if k == 0:
        return ("two-way tables are as much noise as signal: k = 'auto' will keep only the "
                "smallest; coarser bins would help.")
    useful = (f"up to k = {k} parent{'s' * (k > 1)} a typical table is useful (mean cell of at "
              f"least {USEFUL:g} noise scales).")
    if not lost:
        return useful
    return f"{useful} From k = {lost[0]} on a typical table has more noise than records in a cell."


def noise_dominates(schema: Schema, n: int, epsilon: Fraction, k: int) -> str | None:
    """A warning where a typical table of this degree is more noise than signal, else None."""
    ratio, cells = noise_to_cell(schema, n, epsilon, k), typical_cells(schema, k)
    if ratio <= NOISE_DOMINATES:
        return None
    return _facts(schema, n, epsilon) + (
        f"with k = {k} a typical table has {cells:,.0f} cells of {n / cells:.2g} records, under "
        f"noise of {ratio * n / cells:.2g} records in every cell; k='auto' chooses what n and ε "
        "can bear (see pds.plan)")




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
        gained = ("" if self.information is None else
                  f"gains {self.information:.4f} bit of information; ")
        return (f"{parent} → {child}: {gained}the table grows from {self.cells_before:,} to "
                f"{self.cells_after:,} cells, noise alone moves it by {self.noise_after:.3g} "
                f"instead of {self.noise_before:.3g}; a change of {parent} then costs ε = "
                f"{float(self.epsilon_after):.3g} instead of {float(self.epsilon_before):.3g}")
