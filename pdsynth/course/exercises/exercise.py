"""One exercise: check, hint, solution, in friendly text. A wrong answer is never an exception."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from html import escape
from inspect import signature
from typing import Any

from ...core import show

Judge = Callable[..., str | None]
COLOURS = {"right": "#009e73", "wrong": "#d55e00", "open": "#767676", "text": "#0072b2"}


@dataclass(frozen=True)
class Message:
    """A text that shows itself in a notebook and in a terminal."""

    text: str
    kind: str = "text"

    @property
    def right(self) -> bool:
        """Whether this is the verdict on a correct answer."""
        return self.kind == "right"

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        style = f"border-left:4px solid {COLOURS[self.kind]};padding:.3em .8em;white-space:pre-wrap"
        code = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(self.text))
        body = code.replace("\n", "<br>")
        return f"<div style='{style}'>{body}</div>"


class NothingReturned(Exception):
    """The student's function returns nothing yet."""


def name_of(answer: Any) -> str:
    """What a student's function is called."""
    return getattr(answer, "__name__", "the function")


def insist(answer: Any, returned: list[Any]) -> Any:
    """The answer; a function raises where it would return None.

    ``returned`` holds the function and what its last call gave, and nothing while it runs.
    """
    if not callable(answer):
        return answer

    @wraps(answer)
    def function(*args: Any, **options: Any) -> Any:
        returned.clear()
        value = answer(*args, **options)
        if value is None:
            raise NothingReturned(f"{name_of(answer)} returns nothing yet.")
        returned.extend((answer, value))
        return value

    return function


@dataclass(frozen=True, repr=False)
class Exercise:
    """``examine(*answer)`` is None when the answer is right, else words that name the mistake.

    ``hints`` go from a nudge to nearly the answer. ``numbers`` says which numbers are the student's
    own. Of an ``open`` exercise the model answer shows only after a text of so many words. ``log``
    is told every verdict.
    """

    examine: Judge
    hints: Sequence[str]
    solution_text: str
    name: str = "this exercise"
    praise: str = "Correct."
    numbers: str = ""
    open: int = 0
    log: Callable[[str, Message], None] | None = None

    def __repr__(self) -> str:
        return f"{self.name}{f', with {self.numbers}' if self.numbers else ''}: `.check(answer)`"

    def _repr_html_(self) -> str:
        return Message(repr(self))._repr_html_()

    def check(self, *answer: Any) -> Message:
        """Judge an answer. None, Ellipsis and a function that returns None are no answer yet."""
        message = self._judge(*answer)
        if self.log is not None:
            self.log(self.name, message)
        return message

    def _judge(self, *answer: Any) -> Message:
        if not answer or any(a is None or a is ... for a in answer):
            return Message(f"{self.name} isn't answered yet. `.hint()` helps.", "open")
        try:
            signature(self.examine).bind(*answer)
        except TypeError:
            return Message(f"{self.name}: one answer, please: `.check(answer)`.", "wrong")
        returned: list[Any] = []
        try:
            mistake = self.examine(*(insist(part, returned) for part in answer))
        except NothingReturned as nothing:
            return Message(f"{self.name}: {nothing}", "open")
        except Exception as problem:  # the student's code failed: say so, don't stop the notebook
            if isinstance(problem, TypeError) and "is not callable" in str(problem):
                if not any(map(callable, answer)):
                    words = "answer with the function itself, not with what it returns."
                    return Message(f"{self.name}: {words}", "wrong")
            if returned:  # the judge stumbled over what came back
                words = f"{name_of(returned[0])} returns {show(returned[1])}, which isn't what is"
                return Message(f"{self.name}: {words} asked for: {problem}", "wrong")
            raised = f"{type(problem).__name__}: {problem}"
            return Message(f"{self.name}: your answer raised {raised}", "wrong")
        if mistake is None:
            return Message(f"{self.name}: {self.praise}", "right")
        return Message(f"{self.name}: {mistake}", "wrong")

    def hint(self, level: int = 1) -> Message:
        """A nudge; higher levels say more."""
        if not hasattr(level, "__index__"):
            return Message("Say which hint by a whole number: `.hint(2)`.")
        level = min(max(level, 1), len(self.hints))
        more = f" (`.hint({level + 1})` says more.)" if level < len(self.hints) else ""
        return Message(f"Hint {level} of {len(self.hints)}. {self.hints[level - 1]}{more}")

    def solution(self, text: str = "") -> Message:
        """One right answer; that of an open exercise is shown to whoever has written a ``text``."""
        if len(str(text).split()) < self.open:
            return Message("Write your own first: `.solution(text)` shows ours beside it.", "open")
        return Message(f"Solution. {self.solution_text}")
