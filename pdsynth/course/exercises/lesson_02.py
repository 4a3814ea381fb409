"""Exercises of lesson 02, composition and the ledger."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .judges import Computation
from .lesson import exercises

CASES: list[Any] = [
    ([(1, 4), (2, 3), (1, 6)],),
    ([(2, 24)] * 12,),
    ([(Fraction(4, 5), Fraction(8)), (2, Fraction(1, 2))],),
    ([],),
]


def judge_exactness(function: Callable[..., Any]) -> str | None:
    """A sum that doesn't drift."""
    kinds = {type(function(*case)).__name__ for case in CASES} - {"Fraction", "int"}
    if kinds:
        found = f"it is a {kinds.pop()}"
    elif any(function(*case) != true_cost.right(*case) for case in CASES):
        found = "it is a Fraction of floats, which had been rounded"
    else:
        return None
    return (
        f"the value is right, but {found}: start from Fraction(0) and use "
        "Fraction(s) / Fraction(b), so that nothing drifts."
    )


true_cost: Computation = Computation(
    lambda steps: sum(Fraction(s) / Fraction(b) for s, b in steps),
    cases=CASES,
    also=judge_exactness,
    mistakes={
        "true_cost divides scale by sensitivity: more noise must cost less.": lambda steps: sum(
            Fraction(b) / Fraction(s) for s, b in steps
        ),
        "true_cost takes the dearest step. Steps on the same records add up.": lambda steps: max(
            (s / b for s, b in steps), default=0
        ),
        "true_cost takes the mean of the steps. They add up.": lambda steps: (
            true_cost.right(steps) / max(1, len(steps))
        ),
        "true_cost divides the sum of the sensitivities by the sum of the scales. Divide each.": (
            lambda steps: sum(s for s, _ in steps) / max(1, sum(b for _, b in steps))
        ),
        "true_cost counts the first step only.": lambda steps: true_cost.right(steps[:1]),
        "true_cost counts the last step only. What was released before can't be taken back.": (
            lambda steps: true_cost.right(steps[-1:])
        ),
        "true_cost takes every sensitivity for 1.": lambda steps: sum(1 / b for _, b in steps),
        "true_cost multiplies sensitivity and scale: more noise must cost less.": lambda steps: sum(
            s * b for s, b in steps
        ),
        "true_cost adds squares. That is for (ε, δ); pure ε adds plainly.": lambda steps: (
            sum((s / b) ** 2 for s, b in steps) ** 0.5
        ),
        "true_cost doubles: the two cells of a replaced record are already in the sensitivity.": (
            lambda steps: 2 * true_cost.right(steps)
        ),
        "true_cost multiplies the steps. The factors e^ε multiply, so the exponents add.": (
            lambda steps: float(np.prod([s / b for s, b in steps]))
        ),
    },
    otherwise="true_cost({case[0]}) gives {got:.4g}: add sensitivity ÷ scale over all steps.",
)


def share_by(cells: list[int], epsilon: float, power: float) -> np.ndarray:
    """ε in proportion to a power of the number of cells."""
    weights = np.array(cells, dtype=float) ** power
    return epsilon * weights / weights.sum()


def spends_it_as_well(got: np.ndarray, cells: list[int], epsilon: float) -> bool:
    """Whether a split spends no more, and its total expected error is the least up to 10^-6."""
    if got.shape != (len(cells),) or not (got > 0).all() or got.sum() > epsilon * (1 + 1e-9):
        return False
    best = float((np.array(cells) / share_by(cells, epsilon, 0.5)).sum())
    return float((np.array(cells) / got).sum()) <= best * (1 + 1e-6)


split = Computation(  # the split is scored by its exact expected error, on tables that it can't see
    lambda cells, epsilon: share_by(cells, epsilon, 0.5),
    cases=[([2, 14, 300, 41], 1.0), ([9, 9, 16], 0.5), ([4, 400], 2.0)],
    faults={
        "split spends {total:.9g} in all, and epsilon = {case[1]} is there: the shares must add up to that.": (
            lambda got, cells, epsilon: got.sum() > epsilon * (1 + 1e-9)
        ),
        "split leaves ε over: it spends {total:.3g} of {case[1]}.": lambda got, cells, epsilon: (
            got.sum() < epsilon * (1 - 1e-9)
        ),
        "split gives a histogram nothing, or less: its noise would be infinite.": (
            lambda got, cells, epsilon: (got <= 0).any()
        ),
    },
    mistakes={
        "split gives all the same. A histogram with many cells has many errors: it deserves more.": lambda cells, epsilon: (
            share_by(cells, epsilon, 0)
        ),
        "split is proportional to the cells: too much for the largest. Try to move a little back, and compute Σ cells · 2/εⱼ.": lambda cells, epsilon: (
            share_by(cells, epsilon, 1)
        ),
        "split gives the *small* histograms more: each of their cells gets better, but they have few.": lambda cells, epsilon: (
            share_by(cells, epsilon, -1)
        ),
        "split gives more to few cells, by the root: turn it round.": lambda cells, epsilon: (
            share_by(cells, epsilon, -0.5)
        ),
        "split uses the cube root: best for other noise, not for errors that go with 1/εⱼ.": (
            lambda cells, epsilon: share_by(cells, epsilon, 1 / 3)
        ),
        "split uses squares: the small histograms drown.": lambda cells, epsilon: share_by(
            cells, epsilon, 2
        ),
        "split goes by the number of bits, log₂ cells. The error goes with the cells themselves.": (
            lambda cells, epsilon: epsilon * np.log2(cells) / np.log2(cells).sum()
        ),
        "split goes by rank. How many cells there are matters, not who comes first.": (
            lambda cells, epsilon: share_by(
                (np.argsort(np.argsort(cells)) + 1).tolist(), epsilon, 1
            )
        ),
        "split is nearly all for the largest histogram; the error of the others explodes.": (
            lambda cells, epsilon: np.where(
                np.array(cells) == max(cells),
                0.9 * epsilon / cells.count(max(cells)),
                0.1 * epsilon / max(1, len(cells) - cells.count(max(cells))),
            )
        ),
    },
    enough=spends_it_as_well,
    otherwise=(
        "split({case[0]}, {case[1]}) gives {got}: its total expected error Σ cells · 2/εⱼ "
        "can be made smaller. At the best split cells/εⱼ² is the same for all."
    ),
)

q1, q2, q3, q4 = exercises("lesson_02", q2=true_cost, q4=split)
