"""A panel is one function of its controls, with a still picture and a live widget.

>>> from pdsynth.course.panels import hpprivbayes
>>> hpprivbayes.view(epsilon=2.0).figure.layout.title.text
'HPPrivBayes strict: ε = 2, k = 2, r = 0.33, θ = 0.1 bit'
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...datasets.tables import Dataset
from ..widgets.controls import Control
from ..widgets.live import LivePanel, live
from ..widgets.view import Try, View
from .table import TeachingTable, one_thread

Made = Control | Callable[[Any], Control]
Source = Callable[..., Any] | None


@dataclass(frozen=True)
class Panel:
    """A function of a teaching table and the controls' values, with its controls."""

    function: Callable[..., View]
    made: Mapping[str, Made]
    source: Source
    spends: bool
    tries: Sequence[Try] = ()

    def __call__(self, table: TeachingTable | None = None, /, **moved: Any) -> View:
        """What the panel shows; controls that ``moved`` doesn't name stand at their first value."""
        table = table or self.table()
        at = {name: control.default for name, control in self.controls(table).items()} | moved
        return self._show(table, at)

    def panel(self, dataset: Dataset | None = None) -> LivePanel:
        """The live widget, on another public teaching table if one is given."""
        table = self.table(*([] if dataset is None else [dataset]))
        tries = self.tries if dataset is None else ()  # they name the teaching table's attributes
        widget = self.live(lambda **at: self._show(table, at), table, tries)
        widget.topic = self.function.__module__.rpartition(".")[2] if dataset is None else ""
        return widget

    def live(
        self,
        show: Callable[..., View],
        table: TeachingTable | None = None,
        tries: Sequence[Try] = (),
    ) -> LivePanel:
        """The controls above what ``show`` makes of their values."""
        controls: dict[str, Any] = self.controls(table)
        return live(show, spends=self.spends, tries=tries, **controls)

    def table(self, *dataset: Dataset) -> TeachingTable | None:
        """The teaching table; None for a panel of made-up people."""
        return self.source(*dataset) if self.source else None

    def controls(self, table: TeachingTable | None) -> dict[str, Control]:
        """Controls with widgets of their own; some depend on the table's attributes."""
        return {
            name: replace(control) if isinstance(control, Control) else control(table)
            for name, control in self.made.items()
        }

    def _show(self, table: TeachingTable | None, at: dict[str, Any]) -> View:
        with one_thread():
            view = self.function(*([table] if table else []), **at)
        return replace(view, alt=view.alt or f"{view.figure.layout.title.text}. {view.status}")


def live_panel(
    source: Source = None, *, spends: bool = True, tries: Sequence[Try] = (), **controls: Made
) -> Callable[[Callable[..., View]], Panel]:
    """Make a panel of a function (table, one argument per control) → View.

    ``source``: makes the teaching table, of a dataset if one is given. ``spends``: whether the
    panel says that moving it on real records would spend the budget. ``tries``: its buttons. A
    control that depends on the table is a function of it.
    """
    return lambda function: Panel(function, controls, source, spends, tries)
