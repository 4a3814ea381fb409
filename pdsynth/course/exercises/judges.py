"""Judges of answers: None for a right one, else words that name the likely mistake."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .exercise import Judge


@dataclass(frozen=True)
class Number:
    """One of the numbers ``right``, up to the relative error ``within``.

    >>> Number([4], {0: "did you take 2 - 2?"}, "{value:g} is not 2 + 2.")(5)
    '5 is not 2 + 2.'
    """

    right: Collection[float]
    mistakes: Mapping[float, str]
    otherwise: str
    within: float = 1e-6

    def __call__(self, answer: Any) -> str | None:
        """The words for this answer."""
        value = float(answer)

        def near(number: float, error: float) -> bool:
            return math.isclose(value, number, rel_tol=error, abs_tol=1e-9)

        if any(near(number, self.within) for number in self.right):
            return None
        loose = max(self.within, 1e-3)
        found = (words for number, words in self.mistakes.items() if near(number, loose))
        return next(found, self.otherwise).format(value=value)


@dataclass(frozen=True)
class Word:
    """One of the words ``right``, whatever its case; ``inside`` a longer answer is enough.

    >>> Word(["scale"], {"seed": "what does {said} change?"}, "neither")("Seed ")
    'what does seed change?'
    """

    right: Collection[str]
    mistakes: Mapping[str, str]
    otherwise: str
    inside: bool = False

    def __call__(self, answer: Any) -> str | None:
        """The words for this answer."""
        said = str(answer).strip().lower()

        def matches(word: str) -> bool:
            return word in said if self.inside else word == said

        if any(map(matches, self.right)):
            return None
        found = (words for word, words in self.mistakes.items() if matches(word))
        return next(found, self.otherwise).format(said=said)


@dataclass(frozen=True)
class Each:
    """Several answers, one after the other, each with its judge."""

    judges: Sequence[Judge]

    def __call__(self, *answers: Any) -> str | None:
        """The words for the first wrong answer."""
        verdicts = (judge(answer) for judge, answer in zip(self.judges, answers, strict=True))
        return next(filter(None, verdicts), None)


@dataclass(frozen=True)
class Computation:
    """A function that gives what ``right`` gives for each of ``cases``: numbers or arrays.

    Where it doesn't, the words of the first ``faults`` whose test of (got, *case) holds are said,
    else those of the first ``mistakes`` whose function gives what the answer gives, else
    ``otherwise``. Words may show {case[0]}, {got}, {wanted} and {total}, the sum of what it gave.
    """

    right: Callable[..., Any]
    cases: Sequence[tuple[Any, ...]]
    otherwise: str
    mistakes: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    faults: Mapping[str, Callable[..., bool]] = field(default_factory=dict)

    def __call__(self, function: Callable[..., Any]) -> str | None:
        """The words for this function."""
        for case in self.cases:
            got = np.asarray(function(*deepcopy(case)), dtype=float)
            wanted = np.asarray(self.right(*case), dtype=float)
            if got.shape != wanted.shape:
                return (f"{function.__name__} returns an array of shape {got.shape}, not "
                        f"{wanted.shape or 'a single number'}.")
            if not same(got, wanted):
                words = next(self._explain(case, got, wanted))
                return words.format(case=tuple(map(display, case)), got=display(got),
                                    wanted=display(wanted), total=got.sum())
        return None

    def _explain(self, case: tuple[Any, ...], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
        yield from (words for words, holds in self.faults.items() if holds(got, *case))
        yield from (words for words, wrong in self.mistakes.items() if same(got, wrong(*case)))
        yield self.otherwise


def same(got: Any, wanted: Any) -> bool:
    """Whether two numbers or arrays have one shape and, up to rounding, the same values."""
    return np.shape(got) == np.shape(wanted) and np.allclose(
        np.asarray(got, dtype=float), np.asarray(wanted, dtype=float), rtol=1e-9, atol=1e-9)


def display(value: Any) -> Any:
    """As a message shows it: an array as a list of four digits, anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    return value.round(4).tolist() if value.ndim else value.item()
