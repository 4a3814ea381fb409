"""What panels say in words: a run's noise, its ledger, its first rows, and small HTML tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...privacy.ledger import Entry, Ledger
from ...synthesizers.base import Recipe
from ..widgets import choice
from .table import TeachingTable

GUARANTEES = {"strict": "strict", "published": "as published", "none": "no noise"}
GUARANTEE = choice("guarantee", list(GUARANTEES))


def html_table(heads: Sequence[str], rows: Iterable[Sequence[Any]], left: int = 1,
               heads_left: int = 0) -> str:
    """An HTML table; the first ``left`` columns and ``heads_left`` heads stand to the left."""

    def cells(kind: str, texts: Sequence[Any], left: int) -> str:
        style = " style='text-align:left'"
        return "".join(f"<{kind}{style if j < left else ''}>{text}</{kind}>"
                       for j, text in enumerate(texts))

    body = "".join(f"<tr>{cells('td', row, left)}</tr>" for row in rows)
    return f"<table><tr>{cells('th', heads, heads_left)}</tr>{body}</table>"


def fold(summary: str, body: str) -> str:
    """A text that opens when its summary is clicked."""
    return f"<details><summary>{summary}</summary>{body}</details>"


def preview(table: TeachingTable, codes: np.ndarray, rows: int = 5,
            title: str = "Synthetic preview") -> str:
    """The first synthetic rows as an HTML table."""
    text = table.schema.decode(codes[:rows]).to_html(index=False, border=0)
    return f"<b>{title}.</b> <div style='overflow-x:auto'>{text}</div>"


def noise_to_cell(fitted: Recipe) -> dict[str, float]:
    """Noise scale of each table over its mean cell; at 1 they are equal on average."""
    scales: dict[str, float] = {}
    for entry in fitted.ledger_.entries:
        if entry.step.startswith("table(") and entry.scale is not None:
            rows = entry.scale if isinstance(entry.scale, tuple) else (entry.scale,)
            scales[child_of(entry)] = float(np.mean([float(s) for s in rows]))
    pairs = zip(fitted.network_.pairs, fitted.model_.tables, strict=True)
    cells = {child: counts.size for (child, _), counts in pairs}
    return {name: scales.get(name, 0.0) * cells[name] / fitted.n_ for name in fitted.network_.order}


def child_of(entry: Entry) -> str:
    """The child of a ledger's step ``"table(child | parents)"``."""
    return entry.step[6:-1].split(" | ")[0]


def audited(ledger: Ledger) -> str:
    """The true ε in words."""
    return "infinite" if ledger.epsilon == math.inf else f"{float(ledger.epsilon):g}"


def ledger_summary(ledger: Ledger) -> str:
    """The ledger's steps as a short HTML table, and the whole ledger folded below.

    It shows claimed and true ε, unaccounted accesses in red. What a paper composes in parallel is
    claimed once, at the dearest part's price; the true cost is the sum.
    """
    steps: dict[str, list[Entry]] = {}
    for entry in ledger.entries:
        if entry.kind != "group":
            steps.setdefault(_step_name(entry), []).append(entry)
    lines = "".join(_summary_line(name, entries) for name, entries in steps.items())
    heads = "<th style='text-align:left'>step</th><th>entries</th><th>claimed ε</th><th>true ε</th>"
    return (f"<b>Ledger.</b> {ledger.verdict()}<table><tr>{heads}</tr>{lines}</table>"
            f"{fold('The whole ledger', ledger._repr_html_())}")


def _summary_line(name: str, entries: list[Entry]) -> str:
    """One step: what its dearest part claims, and what it truly costs."""
    parts: dict[str | None, Fraction] = {}
    for entry in entries:
        parts[entry.record_filter] = parts.get(entry.record_filter, Fraction(0)) + entry.claimed
    claimed = max(parts.values())
    free = any(entry.kind == "unaccounted_access" for entry in entries)
    true = math.inf if free else sum(entry.cost for entry in entries)
    red = " style='color:#d55e00;font-weight:600'" if true > claimed else ""
    words = "∞, unaccounted" if free else f"{float(true):.4f}"
    return (f"<tr{red}><td style='text-align:left'>{name}</td><td>{len(entries)}</td>"
            f"<td>{float(claimed):.4f}</td><td>{words}</td></tr>")


def _step_name(entry: Entry) -> str:
    """Entries of one kind share a line of the summary."""
    step, source = entry.step, entry.source
    if step.startswith("table("):
        step = "noisy tables"
    elif " in C" in step and step.startswith(("root", "pair ")):
        step, source = "roots and parent sets", source.rsplit(" line", 1)[0]
    elif step.startswith("conditional("):
        step = "noisy conditionals"
    elif step.startswith(("parents of", "parent ", "pair ")):
        step = "parent sets"
    return f"{step}{f', {source}' if source else ''}"
