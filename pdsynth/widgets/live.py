"""The live panel: controls, one figure, a status sentence, tables, and a place for errors."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go

from .controls import Control

SPENDS = (
    "Each move on real records would spend the budget again: this panel uses a public teaching table, and the same random numbers "
    "at every move. A release draws fresh noise, once."
)


@dataclass(frozen=True)
class View:
    """What a panel shows for one position of its controls: a figure, a sentence, HTML tables, and the figure's text alternative."""

    figure: go.Figure
    status: str = ""
    tables: Sequence[str] = field(default_factory=tuple)
    alt: str = ""


class LivePanel(W.VBox):
    """Controls above a figure that follows them. ``controls`` maps names to widgets; ``error`` is the last exception or None."""

    def __init__(self, function: Callable[..., Any], controls: dict[str, Control], *, spends: bool, backend: str) -> None:
        self._function = function
        self.error: Exception | None = None
        self._view: View | None = None
        built = {name: control.build() for name, control in controls.items()}
        self.controls = {name: value for name, (value, _) in built.items()}
        self.status, self.alert, self._tables = W.HTML(), W.HTML(), W.HTML()
        first = self._compute()
        self.plot = _backend(backend)(first.figure if first else go.Figure(), first.alt if first else "")
        self._show(first)
        for widget in self.controls.values():
            widget.observe(self._moved, "value")
        note = [W.HTML(f"<small>{escape(SPENDS)}</small>")] if spends else []
        rows = W.Box([row for _, row in built.values()], layout=W.Layout(flex_flow="row wrap", width="100%"))
        super().__init__([rows, self.alert, self.plot.widget, self.status, self._tables, *note], layout=W.Layout(width="100%"))
        self.add_class("pdsynth-live")

    @property
    def view(self) -> View | None:
        """What is shown now."""
        return self._view

    @property
    def values(self) -> dict[str, Any]:
        """Positions of the controls."""
        return {name: widget.value for name, widget in self.controls.items()}

    def _compute(self) -> View | None:
        try:
            result = self._function(**self.values)
            self.error, self.alert.value = None, ""
        except Exception as problem:  # a panel never leaves a traceback in the page, and never hides one
            self.error = problem
            kind = "" if isinstance(problem, ValueError) else f"{type(problem).__name__}: "
            detail = "" if isinstance(problem, ValueError) else f"<pre>{escape(traceback.format_exc(limit=-3))}</pre>"
            self.alert.value = f"<span role='alert' style='color:#d55e00;font-weight:600'>{escape(kind + str(problem))}</span>{detail}"
            return None
        return result if isinstance(result, View) else View(result)

    def _show(self, view: View | None) -> None:
        if view is None:
            return
        self._view = view
        title = view.figure.layout.title.text or "figure"
        self.plot.show(view.figure, view.alt or f"{title}. {view.status}")
        self.status.value = f"<div role='status' style='line-height:1.4'>{escape(view.status)}</div>"
        self._tables.value = "".join(f"<div class='pdsynth-table' style='line-height:1.4;margin:.5em 0'>{t}</div>" for t in view.tables)

    def _moved(self, change: Any) -> None:
        self._show(self._compute())


class _OutputPlot:
    """Fallback where anywidget can't run: a new figure in an Output at every move."""

    def __init__(self, figure: go.Figure, alt: str) -> None:
        self.widget = W.Output()
        self.figure = figure

    def show(self, figure: go.Figure, alt: str) -> None:
        from IPython.display import display

        self.figure = figure
        with self.widget:
            self.widget.clear_output(wait=True)
            display(figure)


def _backend(name: str) -> Any:
    if name == "auto":
        name = "output" if "google.colab" in sys.modules else "anywidget"
    if name == "output":
        return _OutputPlot
    try:
        from .plot import LivePlotBox
    except ImportError:  # anywidget isn't installed
        return _OutputPlot
    return LivePlotBox


def live(function: Callable[..., Any], *, spends: bool = False, backend: str = "auto", **controls: Control) -> LivePanel:
    """A live panel: ``function(**values)`` returns a Plotly figure or a View, and runs again whenever a control moves.

    ``backend``: ``"anywidget"``, ``"output"`` or ``"auto"``. ``spends=True`` adds the warning about real records.

    >>> panel = live(lambda x: go.Figure(layout_title_text=f"x = {x}"), x=slider("x", 1, 0, 5, 1))  # doctest: +SKIP
    """
    return LivePanel(function, controls, spends=spends, backend=backend)
