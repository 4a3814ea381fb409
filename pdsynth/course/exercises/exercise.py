"""One exercise: check, hint, solution, in friendly text. A wrong answer is never an exception."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

Judge = Callable[..., str | None]
COLOURS = {"right": "#009e73", "wrong": "#d55e00", "open": "#767676", "text": "#0072b2"}


@dataclass(frozen=True)
class Message:
    """A text that shows itself in a notebook and in a terminal; ``right`` tells a test whether an answer passed."""

    text: str
    kind: str = "text"

    @property
    def right(self) -> bool:
        """Whether this is the verdict of a correct answer."""
        return self.kind == "right"

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        body = escape(self.text).replace("\n", "<br>")
        return f"<div style='border-left:4px solid {COLOURS[self.kind]};padding:.3em .8em;white-space:pre-wrap'>{body}</div>"


@dataclass(frozen=True)
class Exercise:
    """``examine(*answer)`` returns None when the answer is right, otherwise what is wrong with it, naming the likely mistake."""

    examine: Judge
    hint_text: str
    solution_text: str
    name: str = "this exercise"
    praise: str = "Correct."

    def check(self, *answer: Any) -> Message:
        """Judge an answer. None, Ellipsis, or a function that returns nothing counts as not yet answered."""
        if not answer or any(a is None or a is ... for a in answer):
            return Message(f"{self.name} isn't answered yet. `.hint()` helps.", "open")
        try:
            wrong = self.examine(*answer)
        except Exception as problem:  # the student's code failed: say where, don't crash the notebook
            return Message(f"{self.name}: your answer raised {type(problem).__name__}: {problem}", "wrong")
        if wrong is None:
            return Message(f"{self.name}: {self.praise}", "right")
        return Message(f"{self.name}: {wrong}", "open" if "returns nothing yet" in wrong else "wrong")

    def hint(self) -> Message:
        """A nudge."""
        return Message(f"Hint. {self.hint_text}")

    def solution(self) -> Message:
        """One right answer."""
        return Message(f"Solution. {self.solution_text}")


def number(right: float, mistakes: Mapping[float, str], otherwise: str, *, within: float = 1e-6) -> Judge:
    """A judge of a number: right up to the relative error ``within``, else what it says of the mistake, or ``otherwise`` of the value.

    >>> number(4, {0: "did you take 2 - 2?"}, "{value:g} is not 2 + 2.")(5)
    '5 is not 2 + 2.'
    """

    def examine(answer: Any) -> str | None:
        value = float(answer)
        if math.isclose(value, right, rel_tol=within, abs_tol=1e-9):
            return None
        known = (words for wrong, words in mistakes.items() if math.isclose(value, wrong, rel_tol=max(within, 1e-3), abs_tol=1e-9))
        return next(known, otherwise).format(value=value)

    return examine


def word(right: str | Collection[str], mistakes: Mapping[str, str], otherwise: str, *, inside: bool = False) -> Judge:
    """A judge of a word, whatever its case: one of ``right``, else what it says of the mistake, or ``otherwise`` of what was said.

    ``inside``: it is enough that the word stands in the answer.
    """

    def examine(answer: Any) -> str | None:
        said = str(answer).strip().lower()
        accepted = (right,) if isinstance(right, str) else right
        same = said.__contains__ if inside else said.__eq__
        if any(map(same, accepted)):
            return None
        return next((words for wrong, words in mistakes.items() if same(wrong)), otherwise).format(said=said)

    return examine


def each(*judges: Judge) -> Judge:
    """A judge of several answers, one after the other."""
    return lambda *answers: next(filter(None, (judge(answer) for judge, answer in zip(judges, answers, strict=True))), None)
