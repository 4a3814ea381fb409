"""Walks: two fits that give the same answers, and whatever they show differently."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..privacy.mechanisms import Noise
from .tape import Asked, Parted, Player, Recorder, Tape, first_difference, plain

Fits = tuple[Callable[[Noise], Any], Callable[[Noise], Any]]


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
        words = " and ".join("is fitted" if e is None else f"ends in {type(e).__name__}: {e}"
                             for e in (error, other))
        return Walk(player.pairs, (first, second), f"one table {words} the other")
    left = recorder.asked[len(player.pairs):]
    parted = f"{len(left)} more answers for one table" if left else ""
    return Walk(player.pairs, (first, second), parted)


def _try(fit: Callable[[Noise], Any], tape: Tape) -> tuple[Any, Exception | None]:
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fitted = fit(tape)
        return (fitted, [str(w.message) for w in said]), None
    except Exception as error:
        return None, error


def differences(walked: Walk) -> str:
    """What two fits with the same answers show differently: names, or nothing."""
    (first, said), (second, other) = walked.fitted
    shown = [{**vars(fitted), "model_": fitted.model_.to_dict(), "warnings": words}
             for fitted, words in ((first, said), (second, other))]
    found = first_difference(plain(shown[0]), plain(shown[1]))
    return f"not the same: {'.'.join(found)}" if found else ""
