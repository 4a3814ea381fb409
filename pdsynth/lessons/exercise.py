"""One exercise: check, hint, solution, in friendly text. A wrong answer is never an exception."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

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

    examine: Callable[..., str | None]
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
