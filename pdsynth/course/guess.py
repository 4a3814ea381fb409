"""Guess, commit, reveal: a question that shows its answer only after a guess was given.

``guess("How many of 100?", count, unit="of 100")`` in a notebook; ``count()`` runs when the guess
is committed, never before, so "Run All" gives nothing away. Without a kernel the page shows the
question, and the answer below a line that opens (:func:`Guess.static`).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as W

from .typed import read_typed
from .widgets.controls import unit_of

BLUE, ORANGE = "#0072b2", "#d55e00"
STATIC = "PDSYNTH_STATIC"  # set where pages are made that have no kernel: they hold the answer
SHARES = ("%", "of 100")  # units in which a guess may be typed with its %


class Guess(W.VBox):
    """A question, a field for the guess, a button, and a place for the answer beside it.

    ``reveal()`` gives the answer, a number or one of ``options``, or a pair (answer, detail); a
    detail shows itself below it. ``unit`` stands behind numbers, ``digits`` are kept of them.
    ``committed`` is the guess, None before; ``answer`` the answer, once it was revealed.
    """

    def __init__(
        self,
        question: str,
        reveal: Callable[[], Any],
        *,
        unit: str = "",
        options: Sequence[str] = (),
        digits: int = 3,
    ) -> None:
        if not callable(reveal):
            raise TypeError("reveal must be a function: it runs when the guess is committed")
        self.question, self.unit, self.options, self.digits = question, unit, options, digits
        self._reveal = reveal
        self.committed: Any = None
        self.answer: Any = None
        wide = W.Layout(width="auto", max_width="100%")
        face = {"description": "Your guess", "tooltip": f"Your guess: {question}", "layout": wide}
        self.field = (
            W.Dropdown(options=[("choose …", None), *((o, o) for o in options)], **face)
            if options
            else W.Text(placeholder=unit or "a number", **face)
        )
        self.button = W.Button(
            description="Commit and see",
            button_style="primary",
            tooltip=f"Commit the guess: {question}",
        )
        self.button.on_click(lambda _: self.commit(self.field.value))
        self.field.on_msg(self._hear)
        self.said, self.detail = W.HTML(), W.HTML(layout=W.Layout(width="auto", min_width="0"))
        head = W.HTML(f"<b>Guess first.</b> {escape(question)}")
        row = W.HBox(
            [self.field, self.button, self.said],
            layout=W.Layout(flex_flow="row wrap", align_items="center"),
        )
        super().__init__(
            [head, row, self.detail],
            layout=W.Layout(
                width="auto",
                overflow="visible",
                border_left=f"4px solid {BLUE}",
                padding="2px 10px",
            ),
        )
        self.add_class("pdsynth-guess")

    def commit(self, said: Any) -> Guess:
        """Take a guess and show the answer beside it; a guess can't be changed afterwards.

        Where the answer fails or is interrupted, the field is open again, and the error is raised.
        """
        if self.committed is not None:
            return self
        try:
            self.committed = self._read(said)
        except ValueError as problem:
            self.said.value = f"<span role='alert' style='color:{ORANGE}'>{problem}</span>"
            return self
        self.field.disabled = self.button.disabled = True
        self.said.value = "<span role='status'>computing …</span>"
        try:
            text, detail = self._answer()
        except BaseException as problem:
            self.committed = self.answer = None
            self.field.disabled = self.button.disabled = False
            kind = type(problem).__name__
            words = "interrupted" if kind == "KeyboardInterrupt" else f"{kind}: {problem}"
            self.said.value = (
                f"<span role='alert' style='color:{ORANGE}'>There is no answer yet "
                f"({escape(words)}). When the cells above have run, commit again.</span>"
            )
            raise
        yours = escape(self.write(self.committed))
        self.said.value = (
            f"<span role='status'>You: <b>{yours}</b> · Answer: <b>{escape(text)}</b></span>"
        )
        self.detail.value = detail
        return self

    def _hear(self, _: Any, content: Any, buffers: Any) -> None:
        """Enter in the field commits, as the button does."""
        if content.get("event") == "submit":
            self.commit(self.field.value)

    def write(self, value: Any) -> str:
        """A guess or an answer as the page shows it."""
        if isinstance(value, str):
            return value
        number = float(value)
        if math.isfinite(number):
            places = max(0, self.digits - 1 - math.floor(math.log10(abs(number) or 1)))
            rounded = round(number, places)
            text = f"{rounded:,.{places}f}".rstrip("0").rstrip(".") if places else f"{rounded:,.0f}"
        else:
            text = "∞" if number > 0 else "−∞"
        return f"{text} {unit_of(number, self.unit)}".rstrip()

    def static(self) -> str:
        """HTML for a page without a kernel: the question, the answer folded below it.

        A script of the page may ask for the guess with what ``data-guess`` says (the website does).
        """
        text, detail = self._answer()
        how = {"unit": self.unit, "one": unit_of(1, self.unit), "digits": self.digits}
        facts = escape(json.dumps(how | {"options": list(self.options)}))
        return (
            f"<div class='pdsynth-guess' data-guess=\"{facts}\" style='border-left:4px solid "
            f"{BLUE};padding:2px 10px'><b>Guess first.</b> <span>{escape(self.question)}</span>"
            "<details><summary>I have a guess: show the answer</summary>"
            f"<p>Answer: <b>{escape(text)}</b></p>{detail}</details></div>"
        )

    def _answer(self) -> tuple[str, str]:
        """The answer in words, and what stands below it as HTML."""
        answer = self._reveal()
        self.answer, detail = answer if isinstance(answer, tuple) else (answer, None)
        return self.write(self.answer), "" if detail is None else _html(detail)

    def _read(self, said: Any) -> Any:
        if said is None or not str(said).strip():
            raise ValueError("Give a guess first: a wrong one teaches more than none.")
        if self.options:
            if said not in self.options:
                raise ValueError(f"Choose one of: {', '.join(self.options)}.")
            return said
        if "%" in str(said) and self.unit not in SHARES:  # 200 % of a factor is 2, not 200
            raise ValueError("Without %, please: a number, such as 12 or 0.5.")
        try:
            return read_typed(str(said))
        except ValueError:
            raise ValueError("A number, please, such as 12 or 0.5.") from None

    def __repr__(self) -> str:
        state = "" if self.committed is None else f" You: {self.write(self.committed)}."
        return f"Guess first. {self.question}{state}"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget; its text and HTML for pages without a kernel."""
        bundle = super()._repr_mimebundle_(**options)
        data = dict(bundle[0] if isinstance(bundle, tuple) else bundle)
        data["text/plain"] = repr(self)
        data["text/html"] = (
            self.static()
            if os.environ.get(STATIC)
            else (
                f"<p><b>Guess first.</b> {escape(self.question)} <i>(The answer shows when this"
                " cell is run and a guess is given.)</i></p>"
            )
        )
        return data


def guess(
    question: str,
    reveal: Callable[[], Any],
    *,
    unit: str = "",
    options: Sequence[str] = (),
    digits: int = 3,
) -> Guess:
    """Ask for a guess; ``reveal()`` computes the answer once it is given.

    >>> asked = guess("How many legs have two cats?", lambda: 2 * 4, unit="legs")
    >>> asked.answer is None
    True
    >>> asked.commit("10").write(asked.answer)
    '8 legs'
    """
    return Guess(question, reveal, unit=unit, options=options, digits=digits)


def _html(detail: Any) -> str:
    show = getattr(detail, "_repr_html_", None)
    markup = show() if show else None
    return f"<div style='overflow-x:auto'>{markup or f'<pre>{escape(str(detail))}</pre>'}</div>"
