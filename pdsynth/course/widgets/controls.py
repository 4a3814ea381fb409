"""Controls of a live panel: sliders with a number box, choices and check boxes, each with a text label and an accessible name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets as W


@dataclass(frozen=True)
class Control:
    """One parameter: ``widget`` holds the value, ``box`` is what the page shows, ``symbol`` names it in a figure's title."""

    widget: W.Widget
    box: W.Widget
    symbol: str
    name: str
    unit: str = ""

    @property
    def value(self) -> Any:
        """The present value; floats lose the binary dust of their steps (0.30000000000000004 is 0.3)."""
        return _clean(self.widget.value)

    @property
    def state(self) -> str:
        """The present value as a title shows it: ``"θ = 0.1 bit"``."""
        if isinstance(self.widget, W.Checkbox):
            return f"{self.symbol} = {'yes' if self.value else 'no'}"
        shown = self.widget.label if isinstance(self.widget, W.Dropdown) else f"{self.value:g}"
        return f"{self.symbol} = {shown}{f' {self.unit}' if self.unit else ''}"


def slider(label: str, value: float, minimum: float, maximum: float, step: float, *, unit: str = "", tooltip: str = "") -> Control:
    """A slider with a linked number box; whole numbers throughout make an integer slider.

    ``label`` is a symbol ("ε") or a symbol and words ("ε, privacy budget"); ``tooltip`` gives the words if the label
    doesn't, and is the accessible name. Arrow keys move by ``step``, PageUp and PageDown by more, Home and End to the ends.

    >>> slider("θ", 0.1, 0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of group A").state
    'θ = 0.1 bit'
    """
    if not (minimum <= value <= maximum and step > 0):
        raise ValueError(f"slider {label!r}: value={value} must lie in [{minimum}, {maximum}], and step={step} must be positive")
    symbol, words, html = _words(label, tooltip, unit)
    whole = all(float(v).is_integer() for v in (value, minimum, maximum, step))
    kinds = (W.IntSlider, W.BoundedIntText) if whole else (W.FloatSlider, W.BoundedFloatText)
    number = int if whole else float
    bounds = {"min": number(minimum), "max": number(maximum), "step": number(step), "value": number(value)}
    bar = kinds[0](**bounds, readout=False, tooltip=words, layout=_wide())
    box = kinds[1](**bounds, description=html, description_allow_html=True, tooltip=words, layout=_wide())
    box.add_class("pdsynth-number")
    W.link((bar, "value"), (box, "value"), transform=(_clean, _clean))
    return Control(bar, _cell(box, bar), symbol, words, unit)


def choice(label: str, options: Sequence[Any] | Mapping[str, Any], value: Any = None, *, tooltip: str = "") -> Control:
    """A drop-down list of values, of (text, value) pairs, or of a mapping's texts; the first is chosen if ``value`` is None.

    >>> choice("score", ["I", "F", "R"], "R").state
    'score = R'
    """
    symbol, words, html = _words(label, tooltip, "")
    listed = list(options.items()) if isinstance(options, Mapping) else list(options)
    chosen = {} if value is None else {"value": value}
    menu = W.Dropdown(options=listed, description=html, description_allow_html=True, tooltip=words, layout=_wide(), **chosen)
    menu.add_class("pdsynth-choice")
    return Control(menu, _cell(menu), symbol, words)


def toggle(label: str, value: bool = False, *, tooltip: str = "") -> Control:
    """A check box."""
    symbol, words, html = _words(label, tooltip, "")
    box = W.Checkbox(value=value, description=html, description_allow_html=True, indent=False, tooltip=words, layout=_wide())
    return Control(box, _cell(box), symbol, words)


def _words(label: str, tooltip: str, unit: str) -> tuple[str, str, str]:
    """The symbol for titles, the accessible name, and the HTML of the visible label."""
    symbol = label.split(",")[0].strip()
    known = tooltip.startswith(symbol) or not tooltip
    words = label if not tooltip else tooltip if known else f"{symbol}, {tooltip}"
    shown = words if known else label
    html = f"<b>{escape(symbol)}</b>{escape(shown[len(symbol) :])}"
    return symbol, words, f"{html} <span>({escape(unit)})</span>" if unit and unit not in shown else html


def _clean(value: Any) -> Any:
    return float(f"{value:.10g}") if isinstance(value, float) else value


def _wide() -> W.Layout:
    return W.Layout(width="100%", margin="0")


def _cell(*parts: W.Widget) -> W.VBox:
    cell = W.VBox(parts, layout=W.Layout(min_width="0", overflow="visible", justify_content="center"))
    cell.add_class("pdsynth-control")
    return cell
