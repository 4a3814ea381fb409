"""The guesses of a class as a picture: dots on a line, and the answer once it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

import ipywidgets as W
import numpy as np

from .typed import read_typed

BLUE, ORANGE = "#0072b2", "#b34700"
WIDE, TALL, DOT = 640, 180, 7  # of the picture and of a dot, in pixels
PLACES = 40  # where dots can stand


def read_guesses(text: str) -> tuple[list[float], float | None]:
    """Guesses from a text, and the answer behind ``=``; ValueError for what is no number.

    >>> read_guesses("12 30; 55,5 = 55.4")
    ([12.0, 30.0, 55.5], 55.4)
    """
    numbers, _, answer = text.partition("=")
    words = numbers.replace(";", " ").split()
    return [read_typed(word) for word in words], read_typed(answer) if answer.strip() else None


def draw(guesses: Sequence[float], answer: float | None = None, unit: str = "") -> str:
    """SVG: a dot for each guess, those that are near each other piled up; the answer as a line."""
    shown = [*guesses, *([] if answer is None else [answer])]
    if not shown:
        return ""
    low, high = min(0.0, *shown), max(shown)
    width = (high - low) or 1.0

    def at(value: float) -> float:
        return 20 + (WIDE - 40) * (value - low) / width

    piles: Counter[int] = Counter()
    dots = []
    for value in sorted(guesses):
        place = round(PLACES * (value - low) / width)
        piles[place] += 1
        x, y = 20 + (WIDE - 40) * place / PLACES, TALL - 30 - (2 * piles[place] - 1) * DOT
        dots.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{DOT - 1}' fill='{BLUE}'/>")
    line = ""
    if answer is not None:
        x = at(answer)
        end = "end" if x > WIDE / 2 else "start"
        line = (
            f"<line x1='{x:.1f}' x2='{x:.1f}' y1='18' y2='{TALL - 30}' stroke='{ORANGE}' "
            f"stroke-width='3'/><text x='{x:.1f}' y='13' text-anchor='{end}' font-size='14' "
            f"fill='currentColor'>the answer, {answer:g} {escape(unit)}</text>"
        )
    summary = f"{len(guesses)} guesses from {min(shown):g} to {max(shown):g}"
    if guesses:
        summary += f", half of them at most {np.median(guesses):g}"
    if answer is not None:
        summary += f"; the answer is {answer:g}"
    ends = "".join(
        f"<text x='{at(value):.1f}' y='{TALL - 10}' text-anchor='{anchor}' font-size='14' "
        f"fill='currentColor'>{value:g} {escape(unit) if anchor == 'end' else ''}</text>"
        for value, anchor in ((low, "start"), (high, "end"))
    )
    return (
        f"<svg viewBox='0 0 {WIDE} {TALL}' width='100%' style='max-width:{WIDE}px' role='img' "
        f"aria-label='{summary}'><line x1='20' x2='{WIDE - 20}' y1='{TALL - 30}' y2='{TALL - 30}' "
        f"stroke='currentColor'/>{''.join(dots)}{line}{ends}</svg><p>{summary}.</p>"
    )


class Crowd(W.VBox):
    """A field for the guesses of a class, and their picture; nothing of it leaves the page.

    ``guesses`` are those that were typed so far, ``answer`` the one behind ``=``, else None.
    """

    def __init__(self, question: str, unit: str = "") -> None:
        self.unit = unit
        self.guesses: list[float] = []
        self.answer: float | None = None
        self.field = W.Text(
            description="Guesses",
            placeholder="12 30 55,5, and at last = the answer",
            tooltip=f"guesses of the class: {question}",
            layout=W.Layout(width="auto", max_width="36em"),
        )
        self.field.on_msg(self._hear)
        self.picture, self.said = W.HTML(), W.HTML()
        super().__init__(
            [W.HTML(f"<b>{escape(question)}</b>"), self.field, self.said, self.picture]
        )

    def _hear(self, _: Any, content: Any, buffers: Any) -> None:
        if content.get("event") == "submit":
            self.add(self.field.value)

    def add(self, text: str) -> Crowd:
        """Add what was typed; a text that holds anything else is kept in the field, and told."""
        try:
            guesses, answer = read_guesses(text)
        except ValueError:
            self.said.value = "<span role='alert'>Numbers, please: 12 30 55,5 = 55.4</span>"
            return self
        self.guesses += guesses
        self.answer = self.answer if answer is None else answer
        self.field.value = self.said.value = ""
        self.picture.value = draw(self.guesses, self.answer, self.unit)
        return self


def crowd(question: str, unit: str = "") -> Crowd:
    """Collect the guesses of a class.

    >>> crowd("How many legs?").add("8 10 6").add("= 8").answer
    8.0
    """
    return Crowd(question, unit)
