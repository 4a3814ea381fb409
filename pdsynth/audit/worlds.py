"""Exact micro-worlds: tables so small that the whole law of a structure step is computed.

Every path of choices is walked and its probability multiplied, in fractions; e^−γ is right to 50
digits. So a law sums to exactly 1, and "inside the band" is a statement about numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from ..algorithms import greedy, ordered
from ..core import BudgetError, Curator, MaxParents, Network, Noise
from ..published.doors import raw_door
from .detectors import ScriptedNoise, law
from .detectors import log_ratio as loss
from .pairs import cells_of, curator_of

RECORDS, ATTRIBUTES, VALUES = 6, 3, 4
DIGITS = Context(prec=50)
Law = dict[str, Fraction]
Step = Callable[[Curator, Noise, Fraction], Hashable]


def exp_of_minus(gamma: Fraction) -> Fraction:
    """e^−γ as a fraction, relative error below 10^-49.

    >>> float(exp_of_minus(Fraction(1))) == math.exp(-1)
    True
    """
    gamma = Fraction(gamma)
    power = DIGITS.divide(Decimal(-gamma.numerator), Decimal(gamma.denominator))
    return Fraction(DIGITS.exp(power))


class ExactLawNoise(ScriptedNoise):
    """A script whose probabilities are fractions, of the exponential mechanism only."""

    unit: Any = Fraction(1)

    def law_of(self, numerators: np.ndarray, denominator: int, permute: bool) -> Any:
        """P(i) of one selection."""
        if permute:
            raise ValueError("micro-worlds know the exponential mechanism only")
        weights = [exp_of_minus(Fraction(int(x), denominator)) for x in numerators]
        whole = sum(weights)
        return [w / whole for w in weights]


# --- steps ----------------------------------------------------------------------


def show_pairs(network: Network) -> str:
    """A network in one line: ``x0 · x1←x0``."""
    return " · ".join(
        child + (f"←{','.join(parents)}" if parents else "") for child, parents in network.pairs
    )


def search_greedily(score: str, times: int = 1) -> Step:
    """PrivBayes' search with one parent, rooted in the first attribute by policy.

    ``times`` n: a sensitivity that is divided by n once more, as if counts were probabilities.
    """

    def step(door: Curator, noise: Noise, epsilon: Fraction) -> str:
        share = epsilon * door.n ** (times - 1)
        return show_pairs(greedy(door, MaxParents(1), share, score, first=0))

    return step


def public_order(door: Curator, noise: Noise, epsilon: Fraction) -> str:
    """The parents of a public order. **Privacy:** ε."""
    return show_pairs(ordered(door, range(len(door.schema)), MaxParents(1), epsilon, "R")[0])


def raw_order(door: Curator, noise: Noise, epsilon: Fraction) -> str:
    """The thesis' Algorithm 3: an argsort of raw average mutual informations.

    **Privacy:** none: an order that only one of two neighbours can give away has no finite ε.
    """
    strength, _ = raw_door(door).average_association(step="AMI order", source="thesis Alg 3 line 2")
    order = np.argsort(-strength, kind="stable").tolist()
    return show_pairs(ordered(door, order, MaxParents(1), epsilon, "I")[0])


STEPS: dict[str, Step] = {
    "PrivBayes, score R": search_greedily("R"),
    "PrivBayes, score I": search_greedily("I"),
    "public order, score R": public_order,
    "sensitivity divided by n twice": search_greedily("R", times=2),
    "raw order (HPPrivBayes as printed)": raw_order,
}


# --- worlds ---------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """Up to six records of two or three attributes with up to four values; made up, and public."""

    rows: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...] = (2, 2, 2)

    def __post_init__(self) -> None:
        few = 1 <= len(self.rows) <= RECORDS and 2 <= len(self.sizes) <= ATTRIBUTES
        if not few or not all(2 <= size <= VALUES for size in self.sizes):
            raise BudgetError(
                f"a micro-world has up to {RECORDS} records and 2 to {ATTRIBUTES} "
                f"attributes of 2 to {VALUES} values"
            )
        if not set(self.rows) <= set(self.cells):
            raise BudgetError("a record lies outside the declared values")

    @property
    def cells(self) -> list[tuple[int, ...]]:
        """Everything that a record can be."""
        return cells_of(self.sizes)

    def moved(self, person: int, record: tuple[int, ...]) -> World:
        """The neighbouring world in which one person's record is another."""
        return World((*self.rows[:person], tuple(record), *self.rows[person + 1 :]), self.sizes)

    def neighbours(self, person: int | None = None) -> Iterator[tuple[int, World]]:
        """All worlds in which one person (or the named one) has another record, with who moved."""
        for who in range(len(self.rows)) if person is None else [person]:
            others = (cell for cell in self.cells if cell != self.rows[who])
            yield from ((who, self.moved(who, cell)) for cell in others)

    def law(self, step: Step | str, epsilon: Fraction) -> Law:
        """P(outcome) of a step, in fractions that sum to 1."""
        run = STEPS[step] if isinstance(step, str) else step
        budget = epsilon * RECORDS

        def release(noise: Noise) -> Hashable:
            door = curator_of(self.rows, self.sizes, noise, budget, "published")
            return run(door, noise, epsilon)

        return dict(sorted((str(o), p) for o, p in law(release, ExactLawNoise).items()))


def inside(p: Law, q: Law, epsilon: Fraction) -> bool:
    """Whether e^−ε ≤ p/q ≤ e^ε for every outcome, compared as fractions."""
    band = exp_of_minus(epsilon) * (1 - Fraction(1, 10**40))  # less the digits that aren't sure
    return set(p) == set(q) and all(p[o] >= band * q[o] and q[o] >= band * p[o] for o in p)


def table(p: Law, q: Law) -> pd.DataFrame:
    """Both laws side by side, likeliest outcome first, with ln(p/q), infinite at a zero."""
    outcomes = sorted({*p, *q}, key=lambda o: (-max(p.get(o, 0), q.get(o, 0)), o))
    both = [(p.get(o, Fraction(0)), q.get(o, Fraction(0))) for o in outcomes]
    ratios = [math.log(a / b) if a and b else math.copysign(math.inf, a - b) for a, b in both]
    columns = {"p": [a for a, _ in both], "q": [b for _, b in both], "log_ratio": ratios}
    return pd.DataFrame(columns, index=outcomes)


def worst(
    world: World, step: Step | str, epsilon: Fraction, person: int | None = None
) -> tuple[float, int, World]:
    """The neighbour that tells most: its loss, who moved, and the world."""
    own = world.law(step, epsilon)
    options = (
        (loss(own, other.law(step, epsilon)), who, other) for who, other in world.neighbours(person)
    )
    return max(options, key=lambda losses: losses[0])
