"""The live panel: controls, one figure, a status sentence, tables, and a place for errors."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from threading import RLock
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go

from . import saved
from .controls import Control, nearest
from .plot import make
from .view import Try, View

SPENDS = "NOT PRIVATE: reproducible; real moves spend ε."
MAIN = 2  # controls that are seen at once; the others stand under "More settings"
HEAD = 84  # pixels above the plot that hold a title, a subtitle and one row of a legend


class LivePanel(W.VBox):
    """A verdict, controls, and a figure that follows them; made by :func:`live`.

    The first two controls are seen at once, the page folds the others under "More settings".

    ``controls`` maps names to widgets, ``values`` to their values; ``view`` is what is shown,
    ``figure`` its figure; ``error`` is the exception of the present position, or None. ``topic`` is
    its module's name among the course's panels.
    """

    topic = ""

    def __init__(
        self,
        function: Callable[..., Any],
        controls: dict[str, Control],
        *,
        spends: bool,
        backend: str,
        tries: Sequence[Try] = (),
    ) -> None:
        self._function, self._parts, self._shown, self._quiet = function, controls, "", False
        self._moving = RLock()  # a page's messages come in two threads; one draws at a time
        self._at: dict[str, Any] | None = None  # the position that was computed last
        self.controls = {name: control.widget for name, control in controls.items()}
        self.error: Exception | None = None
        self.view: View | None = None
        self.plot, self.alert, self.status = make(backend), _html("alert"), _html("status")
        self.told = _html("told")
        note = _html("note", f"<div>{escape(SPENDS)}</div>" if spends else "")
        wide = W.Layout(width="100%")
        self.tables = _html("tables")
        css = Path(__file__).with_name("live.css").read_text(encoding="utf-8")
        style = W.HTML(f"<style>{css}</style>", layout=W.Layout(display="none"))
        boxes = [control.box for control in controls.values()]
        for name, box in zip(controls, boxes, strict=True):
            box.add_class(f"pdsynth-c-{name}")
        buttons = [self._button(one) for one in tries]
        levers = _column(
            "levers",
            _column("controls", *boxes[:MAIN]),
            _column("tries", *buttons),
            self.told,
            self.alert,
            _column("more", *boxes[MAIN:]),
        )
        super().__init__(
            [style, self.status, levers, self.plot, self.tables, note],
            layout=wide,
        )
        self.add_class("pdsynth-live")
        self.plot.grabbed = self._grab
        for widget in self.controls.values():
            widget.observe(self._move, "value")
        self.refresh()
        self._start = self.values
        self._first: View | None = self.view

    __repr__ = saved.words

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """The widget, and what a reader without a kernel sees in its place."""
        return saved.bundle(self, super()._repr_mimebundle_(**options))

    @property
    def values(self) -> dict[str, Any]:
        """Positions of the controls."""
        return {name: control.value for name, control in self._parts.items()}

    @property
    def state(self) -> str:
        """Positions of the controls in words: ``"ε = 1 · k = 2 parents"``."""
        return self._said(self.values)

    def _said(self, values: dict[str, Any]) -> str:
        return " · ".join(self._parts[name].said(value) for name, value in values.items())

    @property
    def figure(self) -> go.Figure | None:
        """The figure on show: that of the last position without an error."""
        return None if self.view is None else go.Figure(self._titled(self.view.figure, self._shown))

    def set(self, **values: Any) -> LivePanel:
        """Move several controls at once, with one redraw; returns the panel.

        Raises ValueError for a name or a value that no control has; none is moved then.
        """
        unknown = sorted(set(values) - set(self.controls))
        if unknown:
            raise ValueError(
                f"no control named {', '.join(unknown)}; the panel has {', '.join(self.controls)}"
            )
        for name, value in values.items():
            if problem := self._parts[name].problem(value):
                raise ValueError(problem)
        with self._moving:
            self._quiet = True
            try:
                for name, value in values.items():
                    self.controls[name].value = value
            finally:
                self._quiet = False
            self.refresh()
        return self

    def attempt(self, one: Try) -> str:
        """Set the controls as a try says, and say what happened; returns the sentence."""
        with self._moving:
            self.set(**{**self._start, **one.sets})
            words = ""
            if self.error is None and self.view and self._first:
                words = one.tell(self._first, self.view)
            _say(
                self.told,
                words and f"<div role='status'><b>{escape(one.label)}:</b> {escape(words)}</div>",
            )
        return words

    def _button(self, one: Try) -> W.Button:
        at = ", ".join(f"{self._parts[name].symbol} = {value}" for name, value in one.sets.items())
        button = W.Button(
            description=one.label, tooltip=f"sets {at}", layout=W.Layout(width="auto")
        )
        button.on_click(lambda _: self.attempt(one))
        return button

    def refresh(self) -> None:
        """Compute and show the present position.

        An error stands in the panel and in ``error``; the last good figure stays. Where controls
        move while another thread computes, this waits, and computes where they stand then.
        """
        with self._moving:
            self._at = None  # a computation that is interrupted leaves none
            values = self.values
            state = self._said(values)
            self.plot.busy = True
            try:
                view = View.of(self._function(**values))
                self._show(view, state)
            except Exception as problem:  # a callback's exception would be lost in the page's log
                self.error = problem
                _say(self.alert, self._complaint(problem, state))
            else:
                self.error, self.view, self._shown = None, view, state
                _say(self.alert, "")
            finally:
                self.plot.busy = False
            self._at = values

    def _move(self, _: Any) -> None:
        with self._moving:
            if self._quiet or self.values == self._at:
                return  # a page sends a position back, with the dust of its steps
            _say(self.told, "")  # what a try said is no longer what is shown
            self.refresh()

    def _grab(self, values: dict[str, Any]) -> None:
        """Move the controls that a drag on the figure names; what they can't be is left."""
        moves = {name: value for name, value in values.items() if name in self.controls}
        for name, value in moves.items():
            widget = self.controls[name]
            if hasattr(widget, "min"):
                moves[name] = nearest(value, widget.min, widget.max, widget.step)
        with self._moving:
            _say(self.told, "")
            self.set(**moves)

    def _show(self, view: View, state: str) -> None:
        figure = self._titled(view.figure, state)
        title = figure["layout"]["title"].get("text") or "Figure"
        _say(self.status, view.status and f"<div role='status'><b>{escape(view.finding)}</b></div>")
        _say(self.tables, saved.details(view))
        # last: who sees the figure sees its tables
        self.plot.show(figure, view.alt or f"{title}. {state}. {view.status}")

    def _titled(self, figure: Any, state: str) -> dict[str, Any]:
        """A plain copy of the figure; a subtitle says what of the position the title doesn't."""
        plain = figure.to_dict() if isinstance(figure, go.Figure) else dict(figure)
        layout = plain["layout"] = dict(plain.get("layout") or {})
        title = layout.get("title") or {}
        title = {"text": title} if isinstance(title, str) else dict(title)
        text = str(title.get("text") or "")
        missing = " · ".join(
            part for part in state.split(" · ") if part and f"{part.split(' = ')[0]} =" not in text
        )
        if missing and not text:
            title["text"] = missing
        elif missing and "subtitle" not in title:
            title["subtitle"] = {"text": missing, "font": {"size": 12}}
            top = layout.get("margin", {}).get("t", 100)
            if top < HEAD:
                layout |= {
                    "margin": {**layout["margin"], "t": HEAD},
                    "height": layout.get("height", 420) + HEAD - top,
                }
        layout["title"] = {"y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 12}} | title
        return plain

    def _complaint(self, problem: Exception, state: str) -> str:
        last = f"The figure still shows {self._shown}."
        remark = last if self._shown else "There is no figure yet."
        text, details = str(problem) or type(problem).__name__, ""
        if not isinstance(problem, ValueError):
            text = f"Unexpected {type(problem).__name__}: {text}"
            trace = escape("".join(traceback.format_exception(problem)))
            details = (
                f"<details><summary>Details for a bug report</summary><pre>{trace}</pre></details>"
            )
        return (
            f"<span role='alert'><b>{escape(state)}</b>: {escape(text)} {escape(remark)}"
            f"</span>{details}"
        )


def live(
    function: Callable[..., Any],
    *,
    spends: bool = False,
    backend: str = "auto",
    tries: Sequence[Try] = (),
    **controls: Control,
) -> LivePanel:
    """A live panel: ``function(**values)`` runs again whenever a control moves.

    It returns a Plotly figure or a View. ``backend``: ``"anywidget"``, ``"output"``, or ``"auto"``.
    ``spends=True`` adds the line about real records, ``tries`` buttons that set the controls.

    **Privacy:** the panel reads no records and charges nothing. A function that fits on real
    records would spend its budget at every move: give it a public teaching table and common random
    numbers.

    >>> import plotly.graph_objects as go
    >>> from pdsynth.course.widgets import live, slider
    >>> draw = lambda epsilon: go.Figure().add_scatter(y=[1 / epsilon])
    >>> panel = live(draw, epsilon=slider("ε", 1, 0.1, 4, 0.1))
    >>> panel.set(epsilon=2).figure.data[0].y
    (0.5,)
    """
    strange = [name for name, control in controls.items() if not isinstance(control, Control)]
    if strange:
        raise TypeError(
            f"control(s) {', '.join(strange)}: use slider(...), choice(...) or toggle(...)"
        )
    return LivePanel(function, controls, spends=spends, backend=backend, tries=tries)


def _column(name: str, *children: W.Widget) -> W.VBox:
    shown = None if children else "none"
    box = W.VBox(children, layout=W.Layout(width="100%", overflow="visible", display=shown))
    box.add_class(f"pdsynth-{name}")
    return box


def _html(name: str, value: str = "") -> W.HTML:
    box = W.HTML(layout=W.Layout(width="100%"))
    box.add_class(f"pdsynth-{name}")
    _say(box, value)
    return box


def _say(box: W.HTML, text: str) -> None:
    box.layout.display = None if text else "none"
    box.value = text
