"""How a report shows itself: a page in Jupyter, the same as text in a terminal."""

from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

QUESTION = "Is this release worth having?"
WARNING = ("This page reads the real records exactly. It is NOT PRIVATE: for those who may see the "
           "records, never for publishing.")
# As plots.PALETTE, which would load plotly.
COLOURS = {"real": "#767676", "none": "#0072B2", "private": "#E69F00", "attack": "#D55E00"}
WORST = 5  # attributes and pairs that are shown
WIDTH, TEXT = 160, 100  # of a bar, in pixels, and of a line of text, in letters
LEFT = "style='text-align:left;white-space:nowrap'"


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What :func:`report` found; shows itself in Jupyter, ``str(report)`` is the same as text.

    ``distances`` (``table`` is the same): one row per α and table: ``distance`` (mean total
    variation distance of the α-way marginals), its 95 % interval from ``low`` to ``high``, and what
    the ``interval`` is about. ``attributes``, ``pairs``: one-way and two-way distances, worst
    first, with those of Independent. ``utility``: accuracy of a classifier, by what it was trained
    on; ``risk``: rates of what an attacker finds, by what it looks at; None where no attribute was
    named. ``verdict``: the answer in sentences; ``notes``: how it was measured.

    **Privacy:** exact statistics of real records throughout: not for publishing.
    """

    title: str
    verdict: tuple[str, ...]
    distances: pd.DataFrame
    attributes: pd.DataFrame
    pairs: pd.DataFrame
    utility: pd.DataFrame | None
    risk: pd.DataFrame | None
    notes: tuple[str, ...]

    @property
    def table(self) -> pd.DataFrame:
        """The distances."""
        return self.distances

    def _parts(self) -> dict[str, pd.DataFrame]:
        """The smaller tables under their titles."""
        parts = {"Worst attributes": self.attributes.head(WORST),
                 "Worst pairs": self.pairs.head(WORST), "Utility": self.utility,
                 "Disclosure risk": self.risk}
        return {title: table for title, table in parts.items() if table is not None}

    def __str__(self) -> str:
        said = [fill(f"* {sentence}", TEXT, subsequent_indent="  ") for sentence in self.verdict]
        lines = [f"{QUESTION} {self.title}", fill(WARNING, TEXT), "", *said, "",
                 f"{'over':<10} {'table':<31} distance   95 % interval"]
        lines += [f"{_columns(row.alpha):<10} {row.table:<31} {row.distance:<8.4f}   {_range(row)}"
                  .rstrip()
                  for row in self.distances.itertuples()]
        for title, table in self._parts().items():
            named = table.rename_axis(index=None, columns=table.index.name)
            lines += ["", title, named.to_string(float_format="{:.4f}".format, na_rep="–")]
        return "\n".join([*lines, "", *(fill(note, TEXT) for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        warning = (f"<p style='border-left:4px solid {COLOURS['attack']};padding-left:.6em'>"
                   f"{escape(WARNING)}</p>")
        said = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.verdict)
        said = said.replace("<li>", "<li style='font-weight:bold'>", 1)
        rows = "".join(map(_row, self.distances.itertuples(), _tops(self.distances)))
        head = "".join(f"<th {LEFT}>{name}</th>" for name in
                       ("over", "table", "", "distance", "95 % interval"))
        parts = "".join(
            f"<div><p><b>{title}</b></p>{_cells(table)}</div>"
            for title, table in self._parts().items())
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f"<div class='pdsynth-report'><p><b>{QUESTION}</b> {escape(self.title)}</p>{warning}"
            f"<ul>{said}</ul><div style='overflow-x:auto'><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div>"
            f"<div style='display:flex;flex-wrap:wrap;gap:0 2em'>{parts}</div>"
            f"<details><summary>How it was measured</summary><ul>{notes}</ul></details></div>")


def _columns(alpha: int) -> str:
    return f"{alpha} column{'s' * (alpha > 1)}"


def _range(row: Any) -> str:
    return "" if np.isnan(row.low) else f"{row.low:.4f} to {row.high:.4f} ({row.interval})"


def _tops(distances: pd.DataFrame) -> pd.Series:
    """The length of the longest bar beside each row."""
    ends = distances[["distance", "high"]].max(axis=1)
    return ends.groupby(distances["alpha"]).transform("max")


def _row(row: Any, top: float) -> str:
    first = row.table == "this release"
    name, over = escape(row.table), _columns(row.alpha) if first else ""
    cells = [over, f"<b>{name}</b>" if first else name, _bar(row, top), f"{row.distance:.4f}",
             escape(_range(row))]
    return f"<tr>{''.join(f'<td {LEFT}>{cell}</td>' for cell in cells)}</tr>"


def _bar(row: Any, top: float) -> str:
    """A bar with its interval, as a picture that needs no theme."""
    kinds = {"this": ("private", 1.0), "halves": ("real", 1.0), "Independent,": ("private", 0.5)}
    kind, opacity = next((k for word, k in kinds.items() if row.table.startswith(word)),
                         ("none", 1.0))
    scale = WIDTH / top if top else 0.0
    whisker = "" if np.isnan(row.low) else (
        f"<line x1='{row.low * scale:.1f}' x2='{row.high * scale:.1f}' y1='7' y2='7' "
        "stroke='currentColor' stroke-width='2'/>")
    return (f"<svg width='{WIDTH}' height='14' role='img' aria-label='{row.distance:.4f}'>"
            f"<rect width='{row.distance * scale:.1f}' height='14' fill='{COLOURS[kind]}' "
            f"fill-opacity='{opacity}'/>{whisker}</svg>")


def _cells(table: pd.DataFrame) -> str:
    head = "".join(f"<th {LEFT}>{escape(str(c))}</th>" for c in (table.index.name, *table.columns))
    rows = "".join(
        f"<tr><td {LEFT}>{escape(str(name))}</td>"
        + "".join(f"<td>{'–' if np.isnan(x) else f'{x:.4f}'}</td>" for x in values) + "</tr>"
        for name, values in zip(table.index, table.to_numpy(), strict=True))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
