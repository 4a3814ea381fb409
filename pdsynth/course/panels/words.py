"""What panels say in words: a run's noise, its ledger, its first rows, and small HTML tables."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...core import Entry, Ledger, Recipe, plural
from ..widgets.controls import Control, choice
from .drawing import friendly
from .table import TeachingTable


def attribute_choice(label: str = "column", usual: str | None = None) -> Callable[[Any], Control]:
    """A menu of a table's columns in plain words; ``usual`` first, else the sensitive one."""

    def menu(table: TeachingTable) -> Control:
        names = table.schema.names
        chosen = usual if usual in names else table.dataset.sensitive
        return choice(label, {friendly(name): name for name in names}, chosen)

    return menu


GUARANTEES = {"strict": "strict", "published": "as published", "none": "no noise"}
GUARANTEE = choice("guarantee", list(GUARANTEES))


def html_table(heads: Sequence[str], rows: Iterable[Sequence[Any]], left: int = 1) -> str:
    """An HTML table; the first ``left`` columns stand to the left."""

    def cells(kind: str, texts: Sequence[Any]) -> str:
        style = " style='text-align:left'"
        return "".join(
            f"<{kind}{style if j < left else ''}>{text}</{kind}>" for j, text in enumerate(texts)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><tr>{cells('th', heads)}</tr>{body}</table>"


def percent(share: float) -> str:
    """A share in two digits: ``"11%"``, ``"3.4%"``, ``"0.36%"``."""
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.2g}%"


def fold(summary: str, body: str) -> str:
    """A text that opens when its summary is clicked."""
    return f"<details><summary>{summary}</summary>{body}</details>"


def preview(
    table: TeachingTable, codes: np.ndarray, rows: int = 5, title: str = "Synthetic preview"
) -> str:
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


def too_noisy(noise: Mapping[str, float], kind: str = "table") -> tuple[int, str]:
    """How many tables have more noise than signal (:func:`noise_to_cell`), and that in words."""
    many = sum(scale > 1 for scale in noise.values())
    return many, (
        f"{many} of {plural(len(noise), kind)} {'has' if many == 1 else 'have'} more "
        "noise than signal"
    )


def audited(ledger: Ledger) -> str:
    """The true ε in words."""
    return "infinite" if ledger.epsilon == math.inf else f"{float(ledger.epsilon):g}"


def promise(ledger: Ledger) -> str:
    """What a run claims and truly costs, in words; without noise nobody claims anything."""
    if ledger.guarantee == "none":
        return "No noise: not private at all"
    return f"Claimed ε = {float(ledger.claimed):g}, true ε = {audited(ledger)}"


def sum_up(fitted: Recipe, distances: np.ndarray) -> tuple[dict[str, float], dict[str, Any], str]:
    """The noise of a run's tables, and what it comes to in facts and in words."""
    noise, ledger = noise_to_cell(fitted), fitted.ledger_
    noisy, _ = too_noisy(noise)
    mean = float(np.nanmean(distances))
    facts = {
        "noisy": noisy,
        "tables": len(noise),
        "mean": mean,
        "claimed": float(ledger.claimed),
        "audited": audited(ledger),
    }
    return (
        noise,
        facts,
        (
            f"Noise drowns {noisy} of {plural(len(noise), 'table')}. "
            f"Pairs of columns are off by {percent(mean)} of the people. "
            f"{promise(ledger)}"
        ),
    )


def ledger_summary(ledger: Ledger) -> str:
    """The ledger's story, its losses and all its lines folded."""
    return f"<b>Ledger.</b> {ledger._repr_html_()}"
