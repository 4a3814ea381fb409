"""Two ways to put a figure on the page: a thin anywidget around plotly.js, or an Output widget."""

import gzip
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go
import traitlets
from plotly.io.json import to_json_plotly
from plotly.offline import get_plotlyjs

from ...core import needed_for
from ...plots import DARK

BAND = {"rgba(0,114,178,.18)": "rgba(86,180,233,.4)"}  # what ε allows
LIGHTER = {"#B34700": "#FF8A4C", "#00795A": "#35C79A"} | BAND  # red and green on a dark page

try:
    from anywidget import AnyWidget

    ANYWIDGET = True
except ImportError:  # LivePlot can be imported, but not shown
    ANYWIDGET = False

    class AnyWidget(W.DOMWidget):  # type: ignore[no-redef]
        """Stands in where anywidget isn't installed."""


@cache
def _plotlyjs(packed: bool) -> bytes:
    source = get_plotlyjs().encode()
    return gzip.compress(source, 5, mtime=0) if packed else source


class LivePlot(AnyWidget):
    """One Plotly figure, replaced in place by :meth:`show`.

    The state is the figure's JSON and its text alternative, and whether the kernel is ``busy`` with
    another one: a page that waits longer than 300 ms says so. The page asks for plotly.js once,
    whatever the number of figures, and gets it as a binary message: it is never part of the state
    or of a saved notebook.
    """

    _esm = Path(__file__).with_name("liveplot.js")
    figure = traitlets.Unicode('{"data": [], "layout": {}}').tag(sync=True)
    alt = traitlets.Unicode("").tag(sync=True)
    busy = traitlets.Bool(False).tag(sync=True)
    dark_colours = traitlets.Dict(DARK | LIGHTER).tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._answer)

    def show(self, figure: Any, alt: str = "") -> None:
        """Draw another figure (a ``go.Figure`` or its plain dict) in the same place."""
        text = _json(figure)
        with self.hold_sync():
            self.figure, self.alt = text, alt

    @property
    def shown(self) -> dict[str, Any]:
        """The figure on the page as plain data: ``{"data": [...], "layout": {...}}``."""
        return json.loads(self.figure)

    grabbed: Callable[[dict[str, Any]], None] | None = None  # what a page's drag does

    def _answer(self, _: Any, content: dict[str, Any], buffers: Any) -> None:
        if content.get("type") == "grab" and self.grabbed:
            self.grabbed(content.get("values") or {})
        if content.get("type") == "need":
            packed = bool(content.get("gzip"))
            self.send({"type": "plotlyjs", "gzip": packed}, buffers=[_plotlyjs(packed)])


class OutputPlot(W.Output):
    """The same over a plain Output widget, for front ends where anywidget can't run."""

    shown: dict[str, Any]
    busy = False
    grabbed: Callable[[dict[str, Any]], None] | None = None  # a plain page has no drag

    def show(self, figure: Any, alt: str = "") -> None:
        """Draw another figure; the text alternative is its plain-text form."""
        whole = go.Figure(figure)
        self.shown = whole.to_dict()
        # whatever this front end's renderer shows
        data = {**whole._repr_mimebundle_(), "text/plain": alt or "Figure"}
        if _kernel() is None:
            self.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)
            return
        from IPython.display import clear_output, display

        with self:
            clear_output(wait=True)
            display(data, raw=True)


def make(backend: str) -> LivePlot | OutputPlot:
    """An empty plot of back-end ``"anywidget"``, ``"output"`` or ``"auto"``.

    ``"auto"`` is output in Google Colab and without anywidget.
    """
    if backend not in ("auto", "anywidget", "output"):
        raise ValueError(f"backend must be 'auto', 'anywidget' or 'output', not {backend!r}")
    if backend == "anywidget" and not ANYWIDGET:
        with needed_for("backend='anywidget'", "take backend='output'"):
            import anywidget  # noqa: F401
    if backend == "auto" and ("google.colab" in sys.modules or not ANYWIDGET):
        backend = "output"
    return OutputPlot() if backend == "output" else LivePlot(layout=W.Layout(width="100%"))


def _json(figure: Any) -> str:
    if isinstance(figure, go.Figure):
        figure = figure.to_dict()
    if not isinstance(figure, dict) or "data" not in figure:
        raise TypeError(
            f"expected a Plotly figure, got {type(figure).__name__}: "
            "the function must return one, or a View of one"
        )
    return to_json_plotly(figure)


def _kernel() -> Any:
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None)
