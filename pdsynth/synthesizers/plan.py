"""Before you spend: what to expect of a table, a degree or one more edge, from public facts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from html import escape

import numpy as np
import pandas as pd

from ..domain.schema import Schema
from ..errors import SchemaError
from ..measures import mutual_information
from ..network import Network
from ..privacy.numbers import positive, share
from ..structure.parent_rules import MAX_CELLS

DROWNED = 1.0  # noise as large as the mean cell: the table tells more about the noise than about the records
USEFUL = 4.0  # θ of TODS 2017: a mean cell of at least four noise scales


def typical_cells(schema: Schema, k: int) -> float:
    """Cells of a table of a child and k parents of typical size: the geometric mean of the domain sizes to the power k+1."""
    return math.exp(float(np.mean(np.log(schema.sizes)))) ** (k + 1)


def noise_to_cell(schema: Schema, n: int, epsilon: Fraction, k: int, share_structure: Fraction = Fraction(3, 10)) -> float:
    """Noise scale of a typical table over its mean cell, both in records: d−k tables share (1−β)ε (all of ε for k = 0)."""
    d = len(schema)
    scale = 2 * (d - k) / (float(epsilon) * (1 - float(share_structure) if k else 1.0))
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

    def price(self, network: Network, edge: tuple[str, str], *, reference: pd.DataFrame | None = None) -> EdgePrice:
        """The price of an edge (parent, child) before it is bought, where the tables share all of ε evenly.

        ``reference``: a *public* table over the schema, for the information gained. Raises SchemaError for an edge that is there
        already or closes a cycle.

        **Privacy:** reads no private record: n, ε and the schema are public. A private ``reference`` would be read without being
        paid for, so don't give one.
        """
        (parent, child), schema, budget, d = edge, self.schema, self.epsilon, len(self.schema)
        network.with_edge(parent, child)
        parents = network.parents(child)
        before, after = schema.cells((child, *parents)), schema.cells((child, *parents, parent))
        scale = 2 * d / budget
        touched = sum(parent in (c, *p) for c, p in network.pairs)
        gain = None
        if reference is not None:
            if after > MAX_CELLS:
                raise SchemaError(f"the table of {child!r} would have {after:,} cells; at most {MAX_CELLS:,} can be counted")
            codes = schema.encode(reference)
            before_it, with_it = (_information(codes, schema, child, p) for p in (parents, (*parents, parent)))
            gain = max(with_it - before_it, 0.0)  # never negative but for rounding
        noise_before, noise_after = (min(1.0, float(cells * scale / (2 * self.n))) for cells in (before, after))
        return EdgePrice((parent, child), before, after, noise_before, noise_after, touched * budget / d, (touched + 1) * budget / d, gain)

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, border=0, float_format="{:.3g}".format)
        return f"<p>{escape(self.sentence)}</p><p>Recommended: <code>{escape(self.method)}</code></p>{table}"


def plan(schema: Schema, n: int, epsilon: float, *, share_structure: float = 0.3) -> Plan:
    """What n records over a public schema can bear at ε: noise against mean cells, the largest sensible k, a method, a sentence.

    ``plan(…).table`` has one row a degree: cells of a typical table, its mean cell and noise scale in records, their ratio, and
    the total variation distance that the noise alone adds to such a table. No record is read. Raises BudgetError for ε ≤ 0 and
    SchemaError for n < 1.

    **Privacy:** a function of n, ε and the schema, which are public: costs nothing.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise SchemaError(f"n must be a whole number of records, at least 1, got {n!r}")
    budget, part, d = positive("epsilon", epsilon), share("share_structure", share_structure), len(schema)
    rows: list[dict[str, float]] = []
    for k in range(min(d, 6)):
        ratio = noise_to_cell(schema, n, budget, k, part)
        cells = typical_cells(schema, k)
        rows.append({"k": k, "tables": d - k, "cells of a typical table": round(cells), "mean cell, records": n / cells,
                     "noise scale, records": ratio * n / cells, "noise ÷ mean cell": ratio,
                     "distance from noise alone": min(1.0, ratio / 2)})  # fmt: skip
    table = pd.DataFrame(rows)
    useful = [r["k"] for r in rows if r["noise ÷ mean cell"] * USEFUL <= 1]
    k = int(max(useful, default=0))
    return Plan(int(n), budget, schema, k, _method(schema, rows), _sentence(schema, n, budget, k, rows), table)


def _method(schema: Schema, rows: list[dict[str, float]]) -> str:
    if rows[1]["noise ÷ mean cell"] > DROWNED:
        return "baselines.Independent"
    return "CSAPrivBayes or HPPrivBayes with the schema's groups, k='auto'" if schema.groups else "PrivBayes(k='auto')"


def _sentence(schema: Schema, n: int, epsilon: Fraction, k: int, rows: list[dict[str, float]]) -> str:
    head = f"{n:,} rows × {len(schema)} columns at ε = {float(epsilon):g}: "
    if rows[1]["noise ÷ mean cell"] > DROWNED:
        if rows[0]["noise ÷ mean cell"] > DROWNED:
            return head + "every two-way table is noise, and so is every single column: it takes more records, coarser bins or a larger ε."
        return head + "every two-way table is noise; publish single columns, or use fewer of them, or coarser bins."
    if k == 0:
        return head + "two-way tables are as much noise as signal: k = 'auto' will keep only the smallest; coarser bins would help."
    later = next((r for r in rows if r["noise ÷ mean cell"] > DROWNED), None)
    drowned = "" if later is None else f" From k = {later['k']} on a typical table has more noise than records in a cell."
    return head + f"up to k = {k} parent{'s' * (k > 1)} a typical table is useful (mean cell of at least {USEFUL:g} noise scales).{drowned}"


def hopeless(schema: Schema, n: int, epsilon: Fraction, k: int) -> str | None:
    """A warning where a typical table of this degree is more noise than signal, else None; from public facts."""
    ratio = noise_to_cell(schema, n, epsilon, k)
    if ratio <= DROWNED:
        return None
    cells = typical_cells(schema, k)
    return (
        f"{n:,} rows × {len(schema)} columns at ε = {float(epsilon):g}: with k = {k} a typical table has {cells:,.0f} cells of "
        f"{n / cells:.2g} records, under noise of {ratio * n / cells:.2g} records in every cell; k='auto' chooses what n and ε can bear "
        "(see pds.plan)"
    )


@dataclass(frozen=True)
class EdgePrice:
    """What one more edge brings and costs. ``information`` in bits, None without a public reference.

    ``noise_before``, ``noise_after``: total variation distance that noise alone adds to the child's table; ``epsilon_before``,
    ``epsilon_after``: loss of the new parent if only it changes, at equal shares for all d tables.
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
        gained = "" if self.information is None else f"gains {self.information:.4f} bit of information; "
        return (
            f"{self.edge[0]} → {self.edge[1]}: {gained}the table grows from {self.cells_before:,} to {self.cells_after:,} cells, noise "
            f"alone moves it by {self.noise_after:.3g} instead of {self.noise_before:.3g}; a change of {self.edge[0]} then costs ε = "
            f"{float(self.epsilon_after):.3g} instead of {float(self.epsilon_before):.3g}"
        )


def _information(codes: np.ndarray, schema: Schema, child: str, parents: tuple[str, ...]) -> float:
    if not parents:
        return 0.0
    columns = [schema.index(name) for name in (child, *parents)]
    shape = tuple(schema.sizes[j] for j in columns)
    key = np.ravel_multi_index(tuple(codes[:, j].astype(np.int64) for j in columns), shape)
    return mutual_information(np.bincount(key, minlength=math.prod(shape)).reshape(shape[0], -1))
