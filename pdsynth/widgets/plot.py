"""A thin anywidget around plotly.js, which is sent once a page as a binary message and never stored in a notebook."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import anywidget
import plotly.graph_objects as go
import traitlets
from plotly.offline import get_plotlyjs


@lru_cache(maxsize=1)
def _plotlyjs() -> bytes:
    return get_plotlyjs().encode()


class LivePlot(anywidget.AnyWidget):
    """One Plotly figure, updated in place; ``figure`` is its JSON, ``alt`` its text alternative."""

    _esm = Path(__file__).with_name("liveplot.js")
    figure = traitlets.Unicode('{"data":[],"layout":{}}').tag(sync=True)
    alt = traitlets.Unicode("").tag(sync=True)

    def __init__(self, figure: go.Figure, alt: str = "", **options: Any) -> None:
        super().__init__(figure=figure.to_json(), alt=alt, **options)
        self.on_msg(self._answer)

    def _answer(self, _: Any, content: Any, buffers: Any) -> None:
        if content.get("type") == "need":
            self.send({"type": "plotlyjs"}, buffers=[_plotlyjs()])

    def show(self, figure: go.Figure, alt: str = "") -> None:
        """Draw another figure in the same place."""
        with self.hold_sync():
            self.figure, self.alt = figure.to_json(), alt


class LivePlotBox:
    """The anywidget back-end of a live panel."""

    def __init__(self, figure: go.Figure, alt: str) -> None:
        self.widget = LivePlot(figure, alt)
        self.figure = figure

    def show(self, figure: go.Figure, alt: str) -> None:
        """Draw another figure in the same place."""
        self.figure = figure
        self.widget.show(figure, alt)
