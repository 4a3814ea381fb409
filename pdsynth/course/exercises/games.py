"""Judges that play: an attack in 2,000 rounds, against what ε allows at most."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import bdtr

from ...audit.estimator import lower_limit, upper_limit
from ...core import ExactNoise, laplace_mechanism, show
from .formula import make_seed

ROUNDS = 2000
FALSE_REJECT = 1e-6


def least_wins(chance: float, rounds: int = ROUNDS, false_reject: float = FALSE_REJECT) -> int:
    """The most wins that a player of this chance misses with at most ``false_reject``.

    Exact: the largest w with P(Binomial(rounds, chance) < w) ≤ false_reject.
    """
    below = bdtr(np.arange(rounds), rounds, chance)  # P(wins ≤ w)
    return int(np.searchsorted(below, false_reject, side="right"))


def bound_of(hits: int, misses: int) -> float:
    """The ε of which ``ROUNDS`` rounds in each world are sure, at 97.5 % a side; at least 0.

    >>> round(bound_of(72, 0), 2), bound_of(0, 72)
    (2.73, 0.0)
    """
    if not hits:
        return 0.0
    ratio = lower_limit(hits, ROUNDS, 0.025) / upper_limit(misses, ROUNDS, 0.025)
    return max(0.0, float(np.log(ratio)))


@dataclass(frozen=True)
class Guessing:
    """``attack(released, others)`` finds out whether Eve said yes: her answer in ``total + noise``.

    The best guess wins e^ε/(1+e^ε) of all rounds exactly: discrete Laplace noise of scale 1/ε keeps
    its promise with equality. It is refused with probability ≤ ``FALSE_REJECT``; ``seed`` gives a
    student's own rounds. ``mistakes``: words and the guesses that earn them.
    """

    mistakes: Mapping[str, Callable[[int, int], float]]
    epsilon: Fraction = Fraction(1)
    others: int = 41
    seed: int = 0

    def __call__(self, attack: Callable[..., Any]) -> str | None:
        """The words for this attack."""
        probes = range(self.others - 12, self.others + 14)
        replies = [attack(value, self.others) for value in probes]
        for value, word in zip(probes, replies, strict=True):
            if word not in (0, 1):
                return f"attack must say 0 or 1 (no or yes); for {value} it says {show(word)}."
        for words, wrong in self.mistakes.items():
            if replies == [wrong(value, self.others) for value in probes]:
                return words
        answers, released = self.play()
        right = sum(
            attack(int(value), self.others) == answer
            for answer, value in zip(answers, released, strict=True)
        )
        chance = float(np.exp(float(self.epsilon)) / (1 + np.exp(float(self.epsilon))))
        if right < (least := least_wins(chance)):
            return (
                f"attack is right in {right:,} of {ROUNDS:,} rounds; {least:,} are needed. "
                f"The best guess wins {chance:.1%} of all."
            )
        if right > ROUNDS - least_wins(1 - chance):
            return (
                f"attack is right in {right:,} of {ROUNDS:,} rounds, more than ε allows: "
                "it looks at something else than `released`."
            )
        return None

    def play(self) -> tuple[np.ndarray, np.ndarray]:
        """Eve's answers, one a round, and what was released."""
        rng = np.random.default_rng(make_seed("answers", self.seed))
        answers = rng.integers(0, 2, ROUNDS)
        noise = ExactNoise(make_seed("noise", self.seed) % 2**32)
        return answers, laplace_mechanism(self.others + answers, 1 / self.epsilon, noise)


@dataclass(frozen=True)
class Exposing:
    """``event(released)`` proves that a mechanism spends more than the ε that it claims.

    ``release(counts, rng)`` is played so often in each of two worlds, whose counts are ``worlds``.
    The bound that the event earns, at 97.5 % a side, must exceed ``epsilon``. Neighbours are so
    both ways: hits may be the rounds of either world.
    """

    release: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    worlds: tuple[int, int]
    mistakes: Mapping[str, Callable[[int], bool]]
    epsilon: float = 1.0
    seed: int = 0

    def __call__(self, event: Callable[..., Any]) -> str | None:
        """The words for this event."""
        probes = range(min(self.worlds) - 12, max(self.worlds) + 13)
        said = {value: event(value) for value in probes}
        for value, word in said.items():
            if word not in (0, 1):
                return f"event must say True or False; for {value} it says {show(word)}."
        replies = [bool(word) for word in said.values()]
        for words, wrong in self.mistakes.items():
            if replies == [bool(wrong(value)) for value in probes]:
                return words
        first, second = (
            sum(bool(event(int(value))) for value in self.play(world)) for world in self.worlds
        )
        bound = max(bound_of(first, second), bound_of(second, first))
        if bound > self.epsilon:
            return None
        return (
            f"event happens {second:,} times with her and {first:,} times without her in "
            f"{ROUNDS:,} rounds each: that proves ε ≥ {bound:.2f}, and {self.epsilon:g} is claimed."
        )

    def play(self, world: int) -> np.ndarray:
        """What is released in one world, round by round."""
        rng = np.random.default_rng(make_seed(world, self.seed))
        return self.release(np.full(ROUNDS, world), rng)
