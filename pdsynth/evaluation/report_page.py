"""How a report shows itself: a page in Jupyter, the same as text in a terminal."""

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from ..domain.pages import render

QUESTION = "Is this release worth having?"
WARNING = ("This page reads the real records exactly. It is NOT PRIVATE: for those who may see the "
           "records, never for publishing.")
# As plots.PALETTE, which would load plotly.
COLOURS = {"real": "#767676", "none": "#0072B2", "private": "#E69F00", "attack": "#D55E00"}
WORST = 5  # attributes and pairs that are shown
# Colour and opacity of a bar, by the first word of its table; of any other, "none" and 1.
KINDS = {"this": ("private", 1.0), "halves": ("real", 1.0), "Independent,": ("private", 0.5)}
WIDTH, TEXT = 160, 100  # of a bar, in pixels, and of a line of text, in letters


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
        ends = self.distances[["distance", "high"]].max(axis=1)
        tops = ends.groupby(self.distances["alpha"]).transform("max")  # of the longest bar
        rows = list(zip(self.distances.itertuples(), tops, strict=True))
        return render(__package__, "report.html", report=self, rows=rows, parts=self._parts(),
                      question=QUESTION, warning=WARNING, colours=COLOURS, kinds=KINDS,
                      width=WIDTH, columns=_columns, span=_range)


def _columns(alpha: int) -> str:
    return f"{alpha} column{'s' * (alpha > 1)}"


def _range(row: Any) -> str:
    return "" if np.isnan(row.low) else f"{row.low:.4f} to {row.high:.4f} ({row.interval})"
