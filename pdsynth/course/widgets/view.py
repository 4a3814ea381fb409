"""What a panel shows for one position of its controls, and what its buttons say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from textwrap import wrap
from types import SimpleNamespace
from typing import Any, NamedTuple

import plotly.graph_objects as go

LINE = 88  # characters of a line of a title


@dataclass(frozen=True)
class View:
    """What a panel shows for one position of its controls.

    ``status`` says the result in words, the finding in its first sentence; ``tables`` are HTML
    texts or objects that show themselves (a ledger, a DataFrame); ``alt`` describes the figure in
    words; ``facts`` are the numbers that sentences of :class:`Try` use, by name.
    """

    figure: Any
    status: str = ""
    tables: Sequence[Any] = ()
    alt: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def finding(self) -> str:
        """The first sentence of the status, which stands above the figure."""
        first, _, more = self.status.partition(". ")
        return f"{first}." if more else first

    @property
    def still(self) -> go.Figure:
        """The figure for readers without a kernel: the finding is its title, the state below."""
        plot, names = go.Figure(self.figure), set()
        for trace in plot.data:  # charts have names of their own; here each is said once
            if trace.name and trace.name in names:
                trace.showlegend = False
            names.add(trace.name)
        title = wrap(self.finding.removesuffix("."), LINE)
        state = wrap(plot.layout.title.text or "", LINE + 24)
        keys = {trace.name for trace in plot.data if trace.name and trace.showlegend is not False}
        rows = len(keys) / max(1, LINE // (max(map(len, keys), default=0) + 6))
        head = 16 + 20 * len(title) + 18 * len(state)
        top = head + 24 * ceil(rows) + 10 + 16 * _fold_titles(plot)
        height = (plot.layout.height or 420) + top - (plot.layout.margin.t or 100)
        below = {"text": "<br>".join(state), "font": {"size": 12}}
        return plot.update_layout(
            height=height,
            margin={"t": top},
            title={
                "text": "<br>".join(title),
                "subtitle": below,
                "xref": "container",
                "x": 0.012,
                "pad": {"t": 12 + 14 * (len(title) - 1)},
            },  # Plotly puts later lines above the pad
            legend={"yref": "container", "yanchor": "top", "y": 1 - head / height, "x": 0},
        )

    @classmethod
    def of(cls, result: Any) -> View:
        """A View from a View, a figure, or ``(figure, status[, tables[, alt]])``."""
        parts = result if isinstance(result, tuple) else (result,)
        view = result if isinstance(result, View) else cls(*parts)
        if not isinstance(view.figure, (go.Figure, dict)):
            kind = type(view.figure).__name__
            raise TypeError(
                f"the figure function returned {kind}, not a Plotly figure: "
                "does it end with `return figure`?"
            )
        return view


class Try(NamedTuple):
    """A button of a panel that sets its controls and says what happened.

    ``says`` is a text over ``{was.…}`` and ``{now.…}``, the facts of the first view and of this
    one; it is said only where ``true`` of them. Controls that ``sets`` doesn't name go back to
    their first values.
    """

    label: str
    sets: Mapping[str, Any]
    says: str
    true: Callable[[Any, Any], bool]

    def tell(self, was: View, now: View) -> str:
        """What happened, or the finding where ``says`` doesn't hold."""
        a, b = (SimpleNamespace(**view.facts) for view in (was, now))
        return self.says.format(was=a, now=b) if self.true(a, b) else now.finding


def _fold_titles(plot: go.Figure) -> int:
    """Break titles of charts that are wider than the chart; the largest number of lines."""
    lines = [1]
    for note in plot.layout.annotations:
        if (note.name or "").startswith("title "):
            axis = note.name.split("x")[1].split("y")[0]
            start, end = plot.layout[f"xaxis{axis}"].domain or (0, 1)
            text = wrap(
                note.text.removeprefix("<b>").removesuffix("</b>"),
                max(18, int(LINE * (end - start))),
            )
            note.text = f"<b>{'<br>'.join(text)}</b>"
            lines.append(len(text))
    return max(lines)
