"""Controls of a live panel: sliders with a number box, choices and check boxes."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from numbers import Real
from typing import Any

import ipywidgets as W

LETTER = 3  # a symbol with fewer characters is a letter: ε, k, ε₁
SAFE = ("more private", "more exact")  # what the ends of a slider of ε or ρ are good for


@dataclass(frozen=True)
class Control:
    """One parameter, with a text label and an accessible ``name``.

    ``symbol`` names it in a figure's title; ``default`` is its first value. Its widgets are made
    when they are first asked for: ``widget`` holds the value, ``box`` is what the page shows.
    """

    build: Callable[[], Sequence[W.Widget]]  # the widget that holds the value last
    default: Any
    symbol: str
    name: str
    unit: str = ""
    ends: tuple[str, ...] = ()  # what the smallest and the largest value mean, below a slider

    @cached_property
    def box(self) -> W.VBox:
        """What the page shows."""
        layout = W.Layout(min_width="0", overflow="visible", justify_content="center")
        ends = "".join(f"<span>{escape(end)}</span>" for end in self.ends)
        below = [W.HTML(f"<div class='pdsynth-ends'>{ends}</div>")] if ends else []
        cell = W.VBox([*self.build(), *below], layout=layout)
        cell.add_class("pdsynth-control")
        return cell

    @property
    def widget(self) -> W.Widget:
        """The widget that holds the value."""
        return self.box.children[-2 if self.ends else -1]

    @property
    def value(self) -> Any:
        """The present value; floats lose the dust of their steps (0.30000000000000004 is 0.3)."""
        return _clean(self.widget.value)

    @property
    def state(self) -> str:
        """The present value as a title shows it: ``"θ = 0.1 bit"``."""
        return self.said(self.value)

    def problem(self, value: Any) -> str:
        """Why it can't stand at a value, in words; "" where it can. Beyond an end it goes there."""
        if isinstance(self.widget, W.Dropdown):
            listed = [other for _, other in self.widget.options]
            fine, remedy = value in listed, f"choose among {', '.join(map(repr, listed))}"
        elif isinstance(self.widget, W.Checkbox):
            fine, remedy = isinstance(value, bool), "say True or False"
        else:
            real: Any = value if isinstance(value, Real) else math.nan
            fine = -math.inf < real < math.inf
            remedy = f"say a number from {self.widget.min:g} to {self.widget.max:g}"
        return "" if fine else f"{self.symbol} can't be {value!r}: {remedy}"

    def said(self, value: Any) -> str:
        """A value as a title shows it."""
        if isinstance(self.widget, W.Checkbox):
            return f"{self.symbol} = {'yes' if value else 'no'}"
        if isinstance(self.widget, W.Dropdown):
            text = next((label for label, other in self.widget.options if other == value), "")
        else:
            text = f"{value:g}"
        return f"{self.symbol} = {text} {unit_of(value, self.unit)}".rstrip()


def unit_of(number: Any, unit: str) -> str:
    """A unit behind a number: ``"parents"``, and ``"parent"`` behind 1."""
    one = {"people": "person"}.get(unit, unit.removesuffix("s"))
    return one if number == 1 else unit


def slider(
    label: str,
    value: float,
    minimum: float,
    maximum: float,
    step: float,
    *,
    unit: str = "",
    tooltip: str = "",
) -> Control:
    """A slider with a linked number box; whole numbers throughout make an integer slider.

    ``label`` is a symbol ("ε") or a symbol and words ("ε, privacy budget"); ``tooltip`` gives the
    words if the label doesn't, and is the accessible name. Arrow keys move by ``step``, PageUp and
    PageDown by more, Home and End to the ends. A value between two steps goes to the nearer one.

    >>> slider("θ", 0.1, 0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of group A").state
    'θ = 0.1 bit'
    """
    if not (minimum <= value <= maximum and step > 0):
        raise ValueError(
            f"slider {label!r}: value={value} must lie in [{minimum}, {maximum}], "
            f"and step={step} must be positive"
        )
    if not math.isclose(value, nearest(value, minimum, maximum, step), abs_tol=step * 1e-6):
        raise ValueError(f"slider {label!r}: value={value} must be a step of {step} from {minimum}")
    symbol, words, html = _words(label, tooltip, unit)
    whole = all(float(v).is_integer() for v in (value, minimum, maximum, step))
    number = int if whole else float

    def build() -> list[W.Widget]:
        kinds = (W.BoundedIntText, W.IntSlider) if whole else (W.BoundedFloatText, W.FloatSlider)
        bounds = {
            "min": number(minimum),
            "max": number(maximum),
            "step": number(step),
            "value": number(value),
        }
        box = kinds[0](**bounds, **_face(words, html))
        bar = kinds[1](**bounds, **_face(words, ""), readout=False)
        box.add_class("pdsynth-number")
        _join(bar, box)
        return [box, bar]

    return Control(build, number(value), symbol, words, unit, SAFE if symbol[0] in "ερ" else ())


def nearest(value: float, minimum: float, maximum: float, step: float) -> float:
    """The step of a slider that is nearest to a value; the page's handle can stand at no other.

    >>> nearest(1.04, 0.1, 4.0, 0.1), nearest(99, 1, 5, 1)
    (1.0, 5)
    """
    stepped = minimum + round((value - minimum) / step) * step
    ends = [minimum, maximum] if not minimum <= stepped <= maximum else [stepped, maximum]
    return _clean(min(ends, key=lambda place: abs(place - value)))


def _join(bar: W.Widget, box: W.Widget) -> None:
    """Keep a slider and its number box at one step, whichever of them moves.

    Each asks where the mover stands now, not where it stood when it told: a page's messages come in
    two threads, and whoever moves last leaves both at one value.
    """

    def follow(change: Any) -> None:
        moved = change["owner"]
        step = nearest(moved.value, moved.min, moved.max, moved.step)
        if box.value != step:
            box.value = step
        if _clean(bar.value) != step:  # a page's handle would send its dust again
            bar.value = step

    bar.observe(follow, "value")
    box.observe(follow, "value")


def choice(
    label: str, options: Sequence[Any] | Mapping[str, Any], value: Any = None, *, tooltip: str = ""
) -> Control:
    """A drop-down list of values or of a mapping's texts; the first one if ``value`` is None.

    >>> choice("score", ["I", "F", "R"], "R").state
    'score = R'
    """
    symbol, words, html = _words(label, tooltip)
    values = options if isinstance(options, Mapping) else {str(value): value for value in options}
    chosen = next(iter(values.values())) if value is None else value

    def build() -> list[W.Widget]:
        menu = W.Dropdown(options=list(values.items()), value=chosen, **_face(words, html))
        menu.add_class("pdsynth-choice")
        return [menu]

    return Control(build, chosen, symbol, words)


def toggle(label: str, value: bool = False, *, tooltip: str = "") -> Control:
    """A check box."""
    symbol, words, html = _words(label, tooltip)
    return Control(
        lambda: [W.Checkbox(value=value, indent=False, **_face(words, html))], value, symbol, words
    )


def _words(label: str, tooltip: str, unit: str = "") -> tuple[str, str, str]:
    """The symbol for titles, the accessible name, and the HTML of the visible label.

    A letter is named in words, and stands small behind them.
    """
    symbol = label.split(",")[0].strip()
    known = tooltip.startswith(symbol) or not tooltip
    words = label if not tooltip else tooltip if known else f"{symbol}, {tooltip}"
    text = words if known else label
    rest = text[len(symbol) :].lstrip(", ")
    if len(symbol) < LETTER and rest and text[len(symbol) :].startswith(","):
        html = f"<b>{escape(rest)}</b> <small>{escape(symbol)}</small>"
    else:
        html = f"<b>{escape(symbol)}</b>{escape(text[len(symbol) :])}"
    return symbol, words, f"{html} <span>({escape(unit)})</span>" if unit not in text else html


def _clean(value: Any) -> Any:
    return float(f"{value:.10g}") if isinstance(value, float) else value


def _face(words: str, html: str) -> dict[str, Any]:
    return {
        "tooltip": words,
        "description": html,
        "description_allow_html": True,
        "layout": W.Layout(width="100%", margin="0"),
    }
