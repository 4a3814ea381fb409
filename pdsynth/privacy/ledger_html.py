"""How a ledger shows itself in a notebook: a table with unaccounted accesses in red, and per-attribute losses as bars."""

from __future__ import annotations

import math
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .ledger import Ledger


def ledger_html(ledger: Ledger) -> str:
    """The ledger as an HTML table: unaccounted accesses in red, per-attribute loss as bars."""
    red = "color:#d55e00;font-weight:600"
    good = not ledger.unaccounted and ledger.guarantee != "none" and ledger.epsilon <= ledger.claimed
    rows = []
    for r in ledger.to_frame().itertuples():
        style = f" style='{red}'" if r.kind == "unaccounted_access" or r.epsilon > r.claimed else ""
        cells = [r.step, r.source, r.mechanism, r.released, short(r.sensitivity), short(r.scale), short(r.claimed),
                 short(r.epsilon), short(r.total)]  # fmt: skip
        rows.append(f"<tr{style}>" + "".join(f"<td style='text-align:left'>{escape(str(c))}</td>" for c in cells) + "</tr>")
    heads = ["step", "source", "mechanism", "released", "sensitivity", "scale", "claimed ε", "true ε", "total"]
    head = "".join(f"<th style='text-align:left'>{h}</th>" for h in heads)
    notes = "".join(f"<li>{escape(n)}</li>" for n in ledger.notes)
    return (
        f"<div class='pdsynth-ledger'><p style='{'' if good else red}'>{escape(ledger.verdict())}</p><ul>{notes}</ul>"
        f"<div style='overflow-x:auto'><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f"{_bars(ledger)}</div>"
    )


def _bars(ledger: Ledger) -> str:
    losses = ledger.attribute_epsilon()
    if losses.empty:
        return ""
    top = float(max([x for x in losses if x != math.inf], default=0) or 1)
    lines = []
    for name, loss in losses.items():
        width = 100 if loss == math.inf else round(100 * float(loss) / top)
        colour = "#d55e00" if loss == math.inf else "#e69f00"
        lines.append(
            f"<tr><td style='text-align:left'>{escape(str(name))}</td><td style='width:220px;text-align:left'>"
            f"<div style='background:{colour};height:.8em;width:{width}%'></div></td><td>{short(loss)}</td></tr>"
        )
    return f"<details><summary>Loss per attribute ({escape(losses.attrs['known'])})</summary><table>{''.join(lines)}</table></details>"


def short(value: Any) -> str:
    """A number of the ledger in a few characters."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if value == math.inf:
        return "∞"
    if isinstance(value, Fraction):
        return str(value) if value.denominator <= 999 and value.numerator <= 9999 else f"{float(value):.4g}"
    return f"{value:.4g}"
