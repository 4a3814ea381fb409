"""How a ledger shows itself: its story in five lines, losses as bars, the whole of it folded."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from typing import Any

import pandas as pd

from ..errors import plural
from .ledger_story import Line

HEADS = ("claimed ε", "true ε", "total", "step", "released", "mechanism", "sensitivity", "scale",
         "source")
RED = "color:#d55e00;font-weight:600"
TOGETHER = ("If this attribute alone changes. One that goes with it tells it, too: "
            "<code>ledger_.attribute_epsilon([…])</code> counts them together.")
BOLD = "font-weight:600"
LEFT = "style='text-align:left'"
WIDE = "style='overflow-x:auto'"


def ledger_html(
    story: Sequence[Line], lines: pd.DataFrame, losses: pd.Series, verdict: str,
    notes: Iterable[str], claimed: Fraction, *, style: str,
) -> str:
    """The verdict and the story; below it, folded, losses and lines (``Ledger.to_frame``)."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f"<div class='pdsynth-ledger'><p style='{style}'>{escape(verdict)}</p>"
        f"{f'<ul>{items}</ul>' if items else ''}<div {WIDE}>{_story(story, claimed)}</div>"
        f"{_bars(losses)}{_whole(lines)}</div>")


def ledger_text(story: Sequence[Line], verdict: str, notes: Iterable[str], count: int) -> str:
    """The same for a terminal."""
    lines = [verdict, *(f"note: {note}" for note in notes)]
    if story:
        lines.append(f"   {clip('step', 44)} {'times':>5}  {'claimed ε':>16}  {'true ε':>16}")
    for line in story:
        true = "∞, read raw" if line.raw else beside(line.true)
        lines.append(f"{'!!' if line.wrong else '  '} {clip(line.step, 44)} {line.often:>5}  "
                     f"{beside(line.claimed):>16}  {true:>16}")
    return "\n".join([*lines, f"(the whole ledger, {plural(count, 'line')}: to_frame())"])


def blame_accesses(number: int) -> str:
    """Why a run with so many unaccounted accesses costs infinitely much."""
    return plural(number, "unaccounted access makes", "unaccounted accesses make") + " it infinite"


def _story(story: Sequence[Line], claimed: Fraction) -> str:
    """Step, how often, claimed, true, and a bar: true ε as a share of all that was claimed."""
    rows = []
    for line in story:
        mark = f" style='{RED}'" if line.wrong else ""
        share = 1.0 if line.true == math.inf else min(1.0, float(line.true / claimed))
        bar = _bar(share, "#d55e00" if line.wrong else "#0072b2")
        true = "∞, read raw" if line.raw else beside(line.true)
        rows.append(f"<tr{mark}><td {LEFT}>{escape(line.step)}</td><td>{line.often}</td>"
                    f"<td>{beside(line.claimed)}</td><td>{true}</td>{bar}</tr>")
    heads = f"<th {LEFT}>step</th><th>how often</th><th>claimed ε</th><th>true ε</th>"
    return (f"<table><thead><tr>{heads}<th {LEFT}>true ε, of {beside(claimed)}</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>")


def _whole(lines: pd.DataFrame) -> str:
    """Every line, the money first."""
    rows = []
    for r in lines.itertuples():
        mark = f" style='{RED}'" if r.kind == "unaccounted_access" or r.epsilon > r.claimed else ""
        money = (beside(x) for x in (r.claimed, r.epsilon, r.total))
        cells = [*money, r.step, r.released, r.mechanism, beside(r.sensitivity), short(r.scale),
                 r.source]
        rows.append(f"<tr{mark}>{_cells('td', cells)}</tr>")
    return (f"<details><summary>The whole ledger, {plural(len(lines), 'line')}</summary>"
            f"<div {WIDE}><table><thead><tr>{_cells('th', HEADS)}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div></details>")


def _cells(tag: str, texts: Sequence[Any]) -> str:
    return "".join(f"<{tag} {LEFT}>{escape(str(text))}</{tag}>" for text in texts)


def _bar(share: float, colour: str) -> str:
    """A cell with a bar of this share of its width; a share above 0 is always seen."""
    least = "min-width:2px;" if share else ""
    return (f"<td style='width:200px;min-width:120px'><div style='background:{colour};"
            f"height:.8em;{least}width:{share:.1%}'></div></td>")


def _bars(losses: pd.Series) -> str:
    if losses.empty:
        return ""
    top = float(max([x for x in losses if x != math.inf], default=0) or 1)
    lines = []
    for name, loss in losses.items():
        endless = loss == math.inf
        bar = _bar(1.0 if endless else float(loss) / top, "#d55e00" if endless else "#e69f00")
        lines.append(f"<tr><td {LEFT}>{escape(str(name))}</td>{bar}<td>{beside(loss)}</td></tr>")
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
    return f"{float(value):,.0f}" if value >= 10_000 else f"{float(value):.4g}"


def beside(value: Any) -> str:
    """A number of the ledger; a fraction with its decimal beside it.

    >>> beside(Fraction(1, 30)), beside(Fraction(2)), beside(Fraction(1527, 65536))
    ('1/30 ≈ 0.0333', '2', '0.0233')
    """
    text = short(value)
    if not isinstance(value, Fraction) or value.denominator == 1:
        return text
    decimal = f"{float(value):.3g}"
    sign = "=" if Fraction(decimal) == value else "≈"
    return f"{text} {sign} {decimal}" if "/" in text else text if value >= 1000 else decimal


def clip(text: str, width: int) -> str:
    """A text of exactly this width; what is cut off leaves a sign.

    >>> clip("marital-status", 8), clip("sex", 5)
    ('marital…', 'sex  ')
    """
    return f"{text[:width - 1]}…" if len(text) > width else text.ljust(width)
