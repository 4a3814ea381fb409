"""Controls of a live panel: a description of each, and the ipywidgets that stand for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as W

LABEL = {"description_width": "150px"}
WIDE, NARROW = W.Layout(width="470px"), W.Layout(width="90px")


@dataclass(frozen=True)
class Control:
    """One control: ``kind`` is slider, choice or toggle."""

    kind: str
    label: str
    value: Any
    minimum: float = 0
    maximum: float = 1
    step: float = 0.1
    options: tuple[Any, ...] = ()
    tooltip: str = ""

    def build(self) -> tuple[W.Widget, W.Widget]:
        """The widget that holds the value, and the row that is shown."""
        tip = self.tooltip or self.label
        if self.kind == "choice":
            menu = W.Dropdown(
                options=list(self.options),
                value=self.value,
                description=self.label,
                tooltip=tip,
                style=LABEL,
                layout=W.Layout(width="380px"),
            )
            return menu, menu
        if self.kind == "toggle":
            box = W.Checkbox(value=bool(self.value), description=self.label, tooltip=tip, style=LABEL)
            return box, box
        whole = all(float(v).is_integer() for v in (self.value, self.minimum, self.maximum, self.step))
        kinds = (W.IntSlider, W.BoundedIntText) if whole else (W.FloatSlider, W.BoundedFloatText)
        number = int if whole else float
        bounds = {"min": number(self.minimum), "max": number(self.maximum), "step": number(self.step), "value": number(self.value)}
        bar = kinds[0](**bounds, description=self.label, tooltip=tip, style=LABEL, layout=WIDE, readout=False, continuous_update=True)
        box = kinds[1](**bounds, tooltip=f"{tip}, as a number", layout=NARROW)
        W.link((bar, "value"), (box, "value"))
        return bar, W.HBox([bar, box], layout=W.Layout(align_items="center"))


def slider(label: str, value: float, minimum: float, maximum: float, step: float, *, unit: str = "", tooltip: str = "") -> Control:
    """A slider with a linked number box; whole numbers throughout make an integer slider."""
    return Control("slider", f"{label} ({unit})" if unit else label, value, minimum, maximum, step, tooltip=tooltip)


def choice(label: str, options: Sequence[Any], value: Any = None, *, tooltip: str = "") -> Control:
    """A drop-down list."""
    return Control("choice", label, options[0] if value is None else value, options=tuple(options), tooltip=tooltip)


def toggle(label: str, value: bool = False, *, tooltip: str = "") -> Control:
    """A check box."""
    return Control("toggle", label, value, tooltip=tooltip)
