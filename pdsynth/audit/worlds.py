"""Exact micro-worlds: tables so small that the whole output distribution of a structure step is computed, in fractions.

Every path of choices is walked and its probability multiplied; e^−γ is a fraction right to 50 digits, so that a law sums to exactly 1
and "inside the band" is a statement about numbers, not about rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pandas as pd

from ..errors import BudgetError
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import Ledger
from ..privacy.mechanisms import Noise
from ..structure import MaxParents, greedy, ordered
from .detectors import Script, law
from .tables import cells_of, records_of

RECORDS, ATTRIBUTES, VALUES = 6, 3, 4
DIGITS = Context(prec=50)
Law = dict[str, Fraction]
Step = Callable[[Curator, Noise, Fraction], Hashable]


def exp_of_minus(gamma: Fraction) -> Fraction:
    """e^−γ as a fraction, relative error below 10^-49.

    >>> float(exp_of_minus(Fraction(1))) == math.exp(-1)
    True
    """
    return Fraction(DIGITS.exp(DIGITS.divide(Decimal(-gamma.numerator), Decimal(gamma.denominator))))


class Exactly(Script):
    """A script whose probabilities are fractions."""

    def __init__(self, choices: Sequence[int] = ()) -> None:
        super().__init__(choices)
        self.probability = Fraction(1)

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        """The next choice of the script, from the exponential mechanism."""
        if permute:
            raise ValueError("micro-worlds know the exponential mechanism only")
        weights = [exp_of_minus(Fraction(int(x), denominator)) for x in numerators]
        whole = sum(weights)
        return self._take([w / whole for w in weights])

    def below(self, bound: int) -> int:
        """The next choice of the script, uniform."""
        return self._take([Fraction(1, bound)] * bound)


# --- steps ----------------------------------------------------------------------------------------------------------------


def pairs(network: Network) -> str:
    """A network in one line: ``x0 · x1←x0``."""
    return " · ".join(child + (f"←{','.join(parents)}" if parents else "") for child, parents in network.pairs)


def greedy_step(score: str) -> Step:
    """PrivBayes' search with one parent; the root is the first attribute, by policy."""
    return lambda door, noise, epsilon: pairs(greedy(door, MaxParents(1), epsilon, score, noise, first=0))


def ordered_step(door: Curator, noise: Noise, epsilon: Fraction) -> str:
    """The parents of a public order.

    **Privacy:** ε.
    """
    return pairs(ordered(door, range(len(door.schema)), MaxParents(1), epsilon, "R"))


def raw_order_step(door: Curator, noise: Noise, epsilon: Fraction) -> str:
    """The thesis' Algorithm 3: the order is an argsort of raw average mutual informations.

    **Privacy:** none: an order that only one of two neighbours can give away has no finite ε.
    """
    strength, _ = door.average_association(epsilon, step="AMI order", source="thesis Alg 3 line 2")
    order = np.argsort(-strength, kind="stable").tolist()
    return pairs(ordered(door, order, MaxParents(1), epsilon, "I"))


def divided_twice_step(door: Curator, noise: Noise, epsilon: Fraction) -> str:
    """A sensitivity that is divided by n once more, as if counts were probabilities: n times too little noise.

    **Privacy:** up to nε.
    """
    return pairs(greedy(door, MaxParents(1), door.n * epsilon, "R", noise, first=0))


STEPS: dict[str, Step] = {
    "PrivBayes, score R": greedy_step("R"),
    "PrivBayes, score I": greedy_step("I"),
    "public order, score R": ordered_step,
    "sensitivity divided by n twice": divided_twice_step,
    "raw order (HPPrivBayes as printed)": raw_order_step,
}


# --- worlds ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """At most six records of at most three attributes with at most four values; made up, and public."""

    rows: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...] = (2, 2, 2)

    def __post_init__(self) -> None:
        if not (
            1 <= len(self.rows) <= RECORDS and 2 <= len(self.sizes) <= ATTRIBUTES and 2 <= min(self.sizes) <= max(self.sizes) <= VALUES
        ):
            raise BudgetError(f"a micro-world has up to {RECORDS} records and 2 to {ATTRIBUTES} attributes of 2 to {VALUES} values")
        if any(row not in self.cells for row in self.rows):
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
            yield from ((who, self.moved(who, cell)) for cell in self.cells if cell != self.rows[who])

    def law(self, step: Step | str, epsilon: Fraction) -> Law:
        """P(outcome) of a step, in fractions that sum to 1."""
        run = STEPS[step] if isinstance(step, str) else step
        records = records_of(self.rows, self.sizes)
        found = law(lambda noise: run(Curator(records, Ledger(epsilon * RECORDS, "published"), noise), noise, epsilon), Exactly)
        return dict(sorted((str(o), p) for o, p in found.items()))


def loss(p: Law, q: Law) -> float:
    """Max |ln p/q|, infinite where an outcome is possible in one world only."""
    if set(p) != set(q):
        return math.inf
    return max((abs(_log(p[o] / q[o])) for o in p), default=0.0)


def _log(ratio: Fraction) -> float:
    return float(DIGITS.ln(DIGITS.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))))


def inside(p: Law, q: Law, epsilon: Fraction) -> bool:
    """Whether e^−ε ≤ p/q ≤ e^ε for every outcome, compared as fractions."""
    band = exp_of_minus(epsilon) * (1 - Fraction(1, 10**40))  # the digits that e^−ε isn't sure of
    return set(p) == set(q) and all(p[o] >= band * q[o] and q[o] >= band * p[o] for o in p)


def table(p: Law, q: Law) -> pd.DataFrame:
    """Both laws side by side: one row an outcome, with ln(p/q); infinite where only one world can give it."""
    outcomes = sorted({*p, *q}, key=lambda o: (-max(p.get(o, 0), q.get(o, 0)), o))
    rows = [(o, p.get(o, Fraction(0)), q.get(o, Fraction(0))) for o in outcomes]
    ratios = [_log(a / b) if a and b else math.inf if a else -math.inf for _, a, b in rows]
    return pd.DataFrame({"p": [a for _, a, _ in rows], "q": [b for _, _, b in rows], "log_ratio": ratios}, index=outcomes)


def worst(world: World, step: Step | str, epsilon: Fraction, person: int | None = None) -> tuple[float, int, World]:
    """The neighbour that tells most: its loss, who moved, and the world."""
    here = world.law(step, epsilon)
    return max(((loss(here, other.law(step, epsilon)), who, other) for who, other in world.neighbours(person)), key=lambda found: found[0])
