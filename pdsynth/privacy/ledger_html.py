"""How a ledger shows itself in a notebook: unaccounted accesses in red, losses as bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from typing import Any

import pandas as pd

HEADS = ("step", "source", "mechanism", "released", "sensitivity", "scale", "claimed ε", "true ε",
         "total")
RED = "color:#d55e00;font-weight:600"
TOGETHER = ("If this attribute alone changes. One that goes with it tells it, too: "
            "<code>ledger_.attribute_epsilon([…])</code> counts them together.")
BOLD = "font-weight:600"
LEFT = "style='text-align:left'"


def ledger_html(
    lines: pd.DataFrame, losses: pd.Series, verdict: str, notes: Iterable[str], *, style: str
) -> str:
    """The lines (``Ledger.to_frame``) and losses of attributes as a page below the verdict."""
    rows = []
    for r in lines.itertuples():
        mark = f" style='{RED}'" if r.kind == "unaccounted_access" or r.epsilon > r.claimed else ""
        numbers = (short(x) for x in (r.sensitivity, r.scale, r.claimed, r.epsilon, r.total))
        cells = _cells("td", [r.step, r.source, r.mechanism, r.released, *numbers])
        rows.append(f"<tr{mark}>{cells}</tr>")
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f"<div class='pdsynth-ledger'><p style='{style}'>{escape(verdict)}</p>"
        f"<ul>{items}</ul><div style='overflow-x:auto'><table><thead><tr>{_cells('th', HEADS)}</tr>"
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>{_bars(losses)}</div>")


def _cells(tag: str, texts: Sequence[Any]) -> str:
    return "".join(f"<{tag} {LEFT}>{escape(str(text))}</{tag}>" for text in texts)


def _bars(losses: pd.Series) -> str:
    if losses.empty:
        return ""
    top = float(max([x for x in losses if x != math.inf], default=0) or 1)
    lines = []
    for name, loss in losses.items():
        endless = loss == math.inf
        width = 100 if endless else round(100 * float(loss) / top)
        colour = "#d55e00" if endless else "#e69f00"
        lines.append(
            f"<tr><td {LEFT}>{escape(str(name))}</td><td style='width:220px;text-align:left'>"
            f"<div style='background:{colour};height:.8em;width:{width}%'></div></td>"
            f"<td>{short(loss)}</td></tr>")
    known = escape(losses.attrs["known"])
    return (f"<details><summary>Loss per attribute ({known})</summary>"
            f"<p>{TOGETHER}</p><table>{''.join(lines)}</table></details>")


def short(value: Any) -> str:
    """A number of the ledger in a few characters."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if value == math.inf:
        return "∞"
    if isinstance(value, Fraction) and value.denominator <= 999 and value.numerator <= 9999:
        return str(value)
    return f"{float(value):.4g}"
