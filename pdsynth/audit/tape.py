"""Tapes and walks: what each mechanism of a fit was asked, forced on another table's fit.

A tape stands in for the random source, so every mechanism that draws from it is heard: counts with
their scales, candidates with their scores, public random numbers. Nothing here knows an algorithm.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from ..core import Noise
from .detectors import permute_and_flip_law

Label = tuple[str, ...]  # the step, then the streams inside it
Fits = tuple[Callable[[Noise], Any], Callable[[Noise], Any]]


class Parted(Exception):
    """The second fit asks another question than the first: nothing of it can be forced any more."""


@dataclass
class Asked:
    """One question to the random source, and its answer.

    ``kind``: "table" (``data``: counts, ``law``: scales that broadcast to them), "choice" (gaps
    below the best score; times, denominator, permute), "law" (counts; what draws the noise),
    "public" (a bound) or "noise" (zeros; scales). ``among``: what the candidates are. ``zero_sum``:
    a table's noise has the sum 0.
    """

    label: Label
    kind: str
    data: Any
    law: Any
    among: Any = None
    answer: Any = None
    zero_sum: bool = False

    def chances(self) -> np.ndarray:
        """Ln P(i) of a choice, (candidates,)."""
        times, denominator, permute = self.law
        logs = -np.asarray(self.data, dtype=float) * (times / denominator)
        if permute:
            return np.log(permute_and_flip_law(np.exp(logs)))
        return logs - math.log(np.exp(logs).sum())


class Tape(Noise):
    """A random source that hands every question to ``answer``, with the labels of its streams."""

    zero_sum = True

    def __init__(self, answer: Callable[[Asked], Any], seed: int = 0, label: Label = ()) -> None:
        super().__init__()
        self._answer, self._seed, self._label = answer, seed, label

    def _stream(self, label: str) -> Tape:
        return Tape(self._answer, self._seed, (*self._label, label))

    def add_to(self, counts: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Counts with noise."""
        scales = np.asarray(scale, dtype=object)
        return np.array(self._answer(Asked(self._label, "table", np.array(counts), scales)))

    def add_law(self, counts: np.ndarray, law: Any) -> np.ndarray:
        """Counts with noise of another law."""
        return np.array(self._answer(Asked(self._label, "law", np.array(counts), law)))

    def add_zero_sum(self, counts: np.ndarray, scale: Fraction) -> np.ndarray:
        """Counts with noise of sum 0."""
        scales = np.asarray(scale, dtype=object)
        question = Asked(self._label, "table", np.array(counts), scales, zero_sum=True)
        return np.array(self._answer(question))

    def choose(
        self, gaps: np.ndarray, times: int, denominator: int, *, permute: bool, among: Any = None
    ) -> int:
        """One of the candidates."""
        law = (times, denominator, permute)
        return int(self._answer(Asked(self._label, "choice", np.array(gaps), law, among)))

    def below(self, bound: int) -> int:
        """A public random number."""
        return int(self._answer(Asked(self._label, "public", bound, None)))

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Noise that is added elsewhere: what it is added to stays unseen."""
        return np.array(
            self._answer(
                Asked(self._label, "noise", np.zeros(shape, int), np.asarray(scale, dtype=object))
            )
        )

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        """One of the candidates, by another way in."""
        return self.choose(np.asarray(numerators), 1, denominator, permute=permute)

    def generator(self) -> np.random.Generator:
        """Public random bits: those of the other fit."""
        return np.random.default_rng([self._seed, zlib.crc32(repr(self._label).encode())])


class Recorder:
    """Answers the first fit and keeps all of it; what is drawn comes from a source of its own."""

    def __init__(self, source: Noise) -> None:
        self.asked: list[Asked] = []
        self.source = source

    def __call__(self, question: Asked) -> Any:
        """The answer."""
        question.answer = self.draw(question)
        self.asked.append(question)
        return question.answer

    def draw(self, question: Asked) -> Any:
        """An answer as the mechanism gives it."""
        if question.kind == "choice":
            times, denominator, permute = question.law
            return self.source.choose(question.data, times, denominator, permute=permute)
        if question.kind == "public":
            return self.source.below(question.data)
        if question.kind == "law":
            return self.source.add_law(question.data, question.law)
        if question.zero_sum:
            return self.source.add_zero_sum(question.data, question.law.item())
        return self.source.add_to(question.data, question.law)


class Explorer(Recorder):
    """Answers as a walk wants them: the first is without noise, later ones go where few go.

    Walks by turns follow the law, or take any candidate and noise far out; a mechanism's loss is
    exact wherever a walk stands.
    """

    def __init__(self, walk: int, seed: int) -> None:
        super().__init__(Noise())
        self.walk, self.rng = walk, np.random.default_rng([seed, walk])

    def draw(self, question: Asked) -> Any:
        """A forced answer."""
        rng, far = self.rng, self.walk % 2 == 0
        if question.kind == "public":
            return int(rng.integers(question.data))
        if question.kind == "choice":
            if not self.walk:
                return int(np.argmin(question.data))
            p = None if far else np.exp(question.chances())
            return int(rng.choice(len(question.data), p=p))
        if not self.walk:
            return question.data
        law = question.law
        size = law.mean_size if question.kind == "law" else law.astype(float)
        width = size * (rng.choice([1, 5, 25]) if far else 1)
        noise = np.rint(rng.laplace(0, 1, question.data.shape) * width).astype(int)
        if question.zero_sum:
            noise.flat[rng.integers(noise.size)] -= noise.sum()
        return question.data + noise


class Player:
    """Forces the recorded answers on the second fit; ``pairs``: both sides of each question."""

    def __init__(self, recorded: list[Asked]) -> None:
        self.recorded, self.pairs = recorded, list[tuple[Asked, Asked]]()

    def __call__(self, question: Asked) -> Any:
        """The recorded answer; Parted where another question was asked."""
        at = len(self.pairs)
        if at == len(self.recorded):
            raise Parted(f"{show(question)} is asked for one table only")
        first = self.recorded[at]
        if (first.label, first.kind, first.zero_sum, np.shape(first.data)) != (
            question.label,
            question.kind,
            question.zero_sum,
            np.shape(question.data),
        ):
            raise Parted(f"{show(first)} for one table, {show(question)} for the other")
        question.answer = first.answer
        if question.kind == "choice" and plain(first.among) != plain(question.among):
            question.answer = find_candidate(first, question)
        self.pairs.append((first, question))
        return question.answer


def find_candidate(first: Asked, second: Asked) -> int:
    """Where the candidate that was chosen for one table stands among the other's."""
    chosen = first.among[first.answer]
    for at in range(len(second.data)):
        if second.among[at] == chosen:
            return at
    raise Parted(f"{show(first)}: {chosen} is a candidate for one table only")


def show(question: Asked) -> str:
    """A question in a few words."""
    size = " × ".join(map(str, np.shape(question.data)))
    return f"{' / '.join(question.label) or 'a question'} ({question.kind} {size})"


@dataclass
class Walk:
    """Two fits that gave the same answers: both sides of every question, and how they parted."""

    pairs: list[tuple[Asked, Asked]]
    fitted: tuple[Any, Any]
    parted: str = ""


def walk(fits: Fits, recorder: Recorder, seed: int = 0) -> Walk:
    """The first fit with a recorder's answers, the second with the same ones forced."""
    first, error = _try(fits[0], Tape(recorder, seed))
    player = Player(recorder.asked)
    second, other = _try(fits[1], Tape(player, seed))
    if isinstance(other, Parted):
        return Walk(player.pairs, (first, None), str(other))
    if error is not None or other is not None:
        if repr(error) == repr(other):
            raise error  # type: ignore[misc]
        words = " and ".join(
            "is fitted" if e is None else f"ends in {type(e).__name__}: {e}" for e in (error, other)
        )
        return Walk(player.pairs, (first, second), f"one table {words} the other")
    rest = recorder.asked[len(player.pairs) :]
    parted = f"{len(rest)} more answers for one table" if rest else ""
    return Walk(player.pairs, (first, second), parted)


def _try(fit: Callable[[Noise], Any], tape: Tape) -> tuple[Any, Exception | None]:
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            fitted = fit(tape)
        return (fitted, [str(w.message) for w in notes]), None
    except Exception as error:
        return None, error


@dataclass(frozen=True)
class Loss:
    """The exact loss of one answer: max ln(p/p') over all answers, and max ln(p'/p).

    Where a ledger counts ρ, the largest Rényi divergence of order α, over α, in both directions.
    """

    label: Label
    kind: str
    forward: Fraction | float
    backward: Fraction | float
    why: str = ""


def log_ratios(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """What a choice loses in ε, in both directions, from the logarithms of both laws."""
    gaps = first - second
    return float(gaps.max()), float(-gaps.min())


def compare(
    first: Asked,
    second: Asked,
    of_choice: Callable[[np.ndarray, np.ndarray], tuple[float, float]] = log_ratios,
) -> Loss:
    """The loss of one question that was asked for both tables; ``of_choice``: of a choice."""

    def endless(why: str) -> Loss:
        return Loss(first.label, first.kind, math.inf, math.inf, why)

    if plain(first.among) != plain(second.among):
        return endless("other candidates for the other table")
    if plain(first.law) != plain(second.law):
        return endless("another noise scale for the other table")
    if first.kind == "public":
        same = first.data == second.data
        return Loss(first.label, "public", 0, 0) if same else endless("another public number")
    if first.kind == "noise":
        return endless("noise is drawn here, and added where nobody sees it")
    if first.zero_sum and first.data.sum() != second.data.sum():
        return endless("zero-sum noise shows the sum, and it isn't the same for both tables")
    if first.kind == "table":  # with zero-sum noise, too, as neighbours' sums are the same
        moved = first.data != second.data
        change = np.abs(first.data[moved].astype(object) - second.data[moved].astype(object))
        scales = np.broadcast_to(first.law, moved.shape)[moved]
        loss = sum((Fraction(c) / s for c, s in zip(change, scales, strict=True)), Fraction(0))
        return Loss(first.label, "table", loss, loss)
    if first.kind == "law":
        loss = first.law.loss(first.data - second.data)
        return Loss(first.label, "table", loss, loss)
    return Loss(first.label, "choice", *of_choice(first.chances(), second.chances()))


def plain(value: Any) -> Any:
    """A value as something that can be compared to the last digit."""
    if isinstance(value, (str, int, Fraction, type(None))):
        return value
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.tolist())
    if isinstance(value, (pd.DataFrame, pd.Series)):
        return (type(value).__name__, plain(value.to_dict()), plain(value.attrs))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return (type(value).__name__, plain(fields))
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    return repr(value)


def first_difference(one: Any, other: Any) -> list[str]:
    """Where two values of :func:`plain` differ first: names and places; [] if they don't."""
    if one == other:
        return []
    keyed = [dict(enumerate(x)) if isinstance(x, (list, tuple)) else x for x in (one, other)]
    if all(isinstance(x, dict) for x in keyed) and keyed[0].keys() == keyed[1].keys():
        for key, value in keyed[0].items():
            if value != keyed[1][key]:
                return [str(key), *first_difference(value, keyed[1][key])]
    if all(isinstance(x, dict) for x in keyed):
        return [
            str(key)
            for key in {**keyed[0], **keyed[1]}
            if key not in keyed[0] or key not in keyed[1]
        ][:1]
    return []


def differences(walked: Walk) -> str:
    """What two fits with the same answers show differently: names, or nothing."""
    (first, notes), (second, other) = walked.fitted
    shown = [
        {**vars(fitted), "model_": fitted.model_.to_dict(), "warnings": words}
        for fitted, words in ((first, notes), (second, other))
    ]
    path = first_difference(plain(shown[0]), plain(shown[1]))
    return f"not the same: {'.'.join(path)}" if path else ""
