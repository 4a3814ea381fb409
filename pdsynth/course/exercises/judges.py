"""Judges of answers: None for a right one, else words that name the likely mistake."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...core import show
from ..typed import read_typed
from .exercise import Judge


@dataclass(frozen=True)
class Number:
    """One of the numbers ``right``, up to ``within`` or rounded to three significant digits.

    ``within`` is a relative error; a whole number isn't rounded. ``numbers`` are the student's own,
    as the words show them. A text is read as people type numbers (:func:`read_typed`): "1/4" is a
    fraction, "25 %" is 25 or a quarter.

    >>> Number([4], {0: "did you take 2 - 2?"}, "{value:g} is not 2 + 2.")(5)
    '5 is not 2 + 2.'
    """

    right: Collection[float]
    mistakes: Mapping[float, str]
    otherwise: str
    within: float = 1e-6
    numbers: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, answer: Any, *more: Any) -> str | None:
        """The words for this answer."""
        if more:  # check(7,9)
            return _no_number((answer, *more))
        try:
            value = read_typed(answer) if isinstance(answer, str) else float(answer)
        except (TypeError, ValueError):
            return _no_number(answer)
        except OverflowError:  # a number all the same
            value = math.inf if answer > 0 else -math.inf
        meant = [value, value / 100] if str(answer).rstrip().endswith("%") else [value]

        def near(number: float, error: float, value: float = value) -> bool:
            return math.isclose(value, number, rel_tol=error, abs_tol=1e-9)

        for number in self.right:
            if any(near(number, self.within, one) or rounds(number, one) for one in meant):
                return None
        loose = max(self.within, 1e-3)
        remarks = [words for number, words in self.mistakes.items() if near(number, loose)]
        rough = [one for one in meant for number in self.right if rounds(number, one, (2,))]
        if rough and not remarks:
            return f"{rough[0]:g} is rounded too much: give three digits."
        return [*remarks, self.otherwise][0].format(value=value, **self.numbers)

    @property
    def ambiguous(self) -> bool:
        """Whether a likely mistake gives the right number, too."""
        gap = max(self.within, 1e-3)
        return any(
            math.isclose(a, b, rel_tol=gap) or rounds(a, b)
            for a in self.right
            for b in self.mistakes
        )


def rounds(number: float, value: float, digits: Sequence[int] = (3, 4, 5, 6)) -> bool:
    """Whether a value is the number, rounded to so many significant digits.

    >>> rounds(7 / 12, 0.583), rounds(7 / 12, 0.58), rounds(1234, 1230)
    (True, False, False)
    """
    if not math.isfinite(number) or float(number).is_integer():
        return False
    return any(float(f"{number:.{many}g}") == value for many in digits)


def _no_number(answer: Any) -> str:
    """The words for what is no number; 1,1 is a pair in Python."""
    if isinstance(answer, tuple) and [type(part) for part in answer] == [int, int]:
        return (
            f"{answer} is a pair of numbers: Python writes a decimal number with a point, "
            f"{answer[0]}.{answer[1]}, and a fraction with a stroke, {answer[0]}/{answer[1]}."
        )
    return f"{show(answer)} is no number: answer with one, such as 12 or 0.5."


@dataclass(frozen=True)
class Several:
    """The set of those names that hold; each has the words for whoever misjudges it.

    Names may stand in a text, too: "a, c", "a and c"; single letters also as "ac". A mapping says
    of each name whether it holds.

    >>> Several({"a": "but a holds."}, {"b": "b doesn't."})({"b", "a"})
    "that is every one of them: b doesn't."
    """

    true: Mapping[str, str]
    false: Mapping[str, str]

    def __call__(self, answer: Any, *more: Any) -> str | None:
        """The words for this set."""
        answer = [answer, *more] if more else answer
        options = sorted({*self.true, *self.false})
        if not isinstance(answer, str | Iterable):
            return f"{show(answer)} is no set: answer with a set of some of {', '.join(options)}."
        if isinstance(answer, Mapping):
            answer = [name for name, holds in answer.items() if holds]
        names = [answer] if isinstance(answer, str) else answer
        choices = {word for name in names for word in re.findall(r"\w+", str(name).lower())}
        choices -= {"and"} - set(options)
        if all(len(name) == 1 for name in options):
            for word in [word for word in choices if set(word) <= set(options)]:
                choices = choices - {word} | set(word)
        if choices == set(self.true):
            return None
        if strangers := sorted(choices - set(options)):
            return f"{strangers[0]!r} is none of {', '.join(options)}: answer with a set of these."
        if not choices:
            return f"at least one holds: answer with a set of some of {', '.join(options)}."
        errors = [words for name, words in self.false.items() if name in choices]
        gaps = [words for name, words in self.true.items() if name not in choices]
        if choices == set(options):
            return f"that is every one of them: {errors[0]}"
        if choices == set(self.false):
            return f"these are exactly the ones that don't hold: read the question again. {gaps[0]}"
        others = len(errors) + len(gaps) - 1
        return (errors + gaps)[0] + (f" (And {others} more to think about.)" if others else "")


# "not only" denies nothing. A bare "no" isn't one: "no names are in it and nobody can …".
DENIED = (
    r"\b(not(?! only)|never|cannot|neither|nor|nothing|no (release|table|method|noise))\b|n['’]t\b"
)


@dataclass(frozen=True)
class Written:
    """A text of ``least`` to ``most`` words that has every point and none of the ``never``.

    A point is the pattern that shows it and the words for a text without it. What is never said
    may be denied, with a negation before it in the same part of its sentence. Patterns find words,
    not sense: the rubric for the sense is the reader's.

    >>> judge = Written({}, {"safe": "{found!r} promises too much"}, 1, 9)
    >>> judge("It isn't safe."), judge("It isn't wrong, it is safe.")
    (None, "'safe' promises too much")
    """

    points: Mapping[str, str]
    never: Mapping[str, str]
    least: int
    most: int

    def __call__(self, text: Any) -> str | None:
        """The words for what the text lacks or claims."""
        if not isinstance(text, str):
            return f"a text in quotes, please, not {show(text)}."
        count = len(text.split())
        for pattern, words in self.never.items():
            for match in re.finditer(pattern, text, re.IGNORECASE):
                before = re.split(r"[.,;:!?()–—]\s", text[: match.start()])[-1]
                if not re.search(DENIED, before, re.IGNORECASE):
                    return words.format(found=match.group())
        missing = [
            words
            for pattern, words in self.points.items()
            if not re.search(pattern, text, re.IGNORECASE)
        ]
        if count >= self.least and missing:
            return missing[0]
        if not self.least <= count <= self.most:
            return f"{count} words; {self.least} to {self.most}, please."
        return None


@dataclass(frozen=True)
class Each:
    """Several answers, one after the other, each with its judge."""

    judges: Sequence[Judge]

    def __call__(self, *answers: Any) -> str | None:
        """The words for the first wrong answer, or for another number of answers."""
        if len(answers) != len(self.judges):
            many = {2: "two", 3: "three", 4: "four"}.get(len(self.judges), str(len(self.judges)))
            names = ", ".join("abcdefgh"[: len(self.judges)])
            return f"{many} answers, please, with a comma between: `.check({names})`."
        verdicts = (judge(answer) for judge, answer in zip(self.judges, answers, strict=True))
        return next(filter(None, verdicts), None)


# Python raises where NumPy gives NaN or ∞: the root of −1, the logarithm of 0, e^1000, 0/0.
OUTSIDE = r"math (domain|range) error|expected a (nonnegative|positive) input|division by zero"


@dataclass(frozen=True)
class Computation:
    """A function that gives what ``right`` gives for each of ``cases``: numbers or arrays.

    Where it doesn't, the words of the first ``faults`` whose test of (got, *case) holds are said,
    else those of the first ``mistakes`` whose function gives what the answer gives, else
    ``otherwise``. Words may show {case[0]}, {got}, {wanted} and {total}, the sum of what it gave.
    What is not equal passes, too, where ``enough`` of (got, *case) holds.
    ``also`` has words for a function that gives what is right and is wrong all the same. ``read``
    makes an array of what comes back, say of a set whose order doesn't count.
    """

    right: Callable[..., Any]
    cases: Sequence[tuple[Any, ...]]
    otherwise: str
    mistakes: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    faults: Mapping[str, Callable[..., bool]] = field(default_factory=dict)
    also: Callable[[Callable[..., Any]], str | None] = lambda function: None
    enough: Callable[..., bool] = lambda got, *case: False
    read: Callable[[Any], Any] = partial(np.asarray, dtype=float)

    def __call__(self, function: Callable[..., Any]) -> str | None:
        """The words for this function."""
        for case in self.cases:
            right = self.right(*case)
            solution = self.read(right)
            try:
                given = function(*deepcopy(case))
            except (ValueError, ArithmeticError) as problem:
                given = np.full(solution.shape, np.nan)
                known = any(holds(given, *case) for holds in self.faults.values())
                if not (known and re.search(OUTSIDE, str(problem))):
                    raise
            if isinstance(right, pd.Series) and isinstance(given, pd.Series):
                if sorted(map(str, given.index)) == sorted(map(str, right.index)):
                    given = given.reindex(right.index)  # a value stands at its label, not its place
            try:
                got = self.read(given)
            except (TypeError, ValueError):
                kind, wanted = (
                    type(given).__name__,
                    "a list or an array" if solution.ndim else "one",
                )
                return f"the {kind} that comes back can't be read as numbers: return {wanted}."
            if not same(got, solution) and not self.enough(got, *case):
                words = next(self._explain(function, case, got, solution))
                return words.format(
                    case=tuple(map(display, case)),
                    got=display(got),
                    wanted=display(solution),
                    total=got.sum(),
                )
        return self.also(function)

    def _explain(
        self,
        function: Callable[..., Any],
        case: tuple[Any, ...],
        got: np.ndarray,
        wanted: np.ndarray,
    ) -> Iterator[str]:
        """Faults first, then a mistake that explains every case, then one that explains this."""
        if got.shape == wanted.shape:
            yield from (words for words, holds in self.faults.items() if holds(got, *case))
        attempts = [(one, self._attempt(function, one)) for one in self.cases]
        for pairs in (attempts, [(case, got)]):
            for words, wrong in self.mistakes.items():
                if all(same(answer, self._attempt(wrong, one)) for one, answer in pairs):
                    yield words
        if got.shape != wanted.shape:
            yield (
                f"{function.__name__} returns an array of shape {got.shape}, not "
                f"{wanted.shape or 'a single number'}."
            )
        elif np.allclose(got, wanted, rtol=1e-3, atol=0):
            yield f"{function.__name__} is off by less than a thousandth: does it round?"
        if self._rounded([answer for _, answer in attempts]):
            yield f"{function.__name__} gives rounded numbers: leave out the rounding."
        yield self.otherwise

    def _rounded(self, answers: Sequence[Any]) -> bool:
        """Whether these are what is right in every case, rounded to some decimals."""
        rights = [self.read(self.right(*deepcopy(case))) for case in self.cases]
        return any(
            all(same(answer, right.round(n)) for answer, right in zip(answers, rights, strict=True))
            for n in (2, 3, 4)
        )

    def _attempt(self, function: Callable[..., Any], case: tuple[Any, ...]) -> Any:
        """What a function gives, NaN where it fails: a wrong one may not bear every case."""
        try:
            with np.errstate(all="ignore"):
                return self.read(function(*deepcopy(case)))
        except Exception:
            return np.array(np.nan)


def in_any_order(found: Any) -> np.ndarray:
    """A list, a set or an array of numbers, sorted: float (n,).

    >>> in_any_order({3, 1}).tolist()
    [1.0, 3.0]
    """
    return np.sort(np.array([*found], dtype=float))


def same(got: Any, wanted: Any) -> bool:
    """Whether two numbers or arrays have one shape and, up to rounding, the same values."""
    return np.shape(got) == np.shape(wanted) and np.allclose(
        np.asarray(got, dtype=float), np.asarray(wanted, dtype=float), rtol=1e-9, atol=1e-9
    )


def display(value: Any) -> Any:
    """As a message shows it: an array as a list of four digits, anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    return value.round(4).tolist() if value.ndim else value.item()
