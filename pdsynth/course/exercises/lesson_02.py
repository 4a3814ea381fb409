"""Exercises of lesson 02, composition and the ledger."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .judges import Computation
from .lesson import exercises

true_cost = Computation(
    lambda steps: sum(Fraction(s) / Fraction(b) for s, b in steps),
    cases=[([(1, 2), (1, 3), (1, 6)],), ([(2, 24)] * 12,),
           ([(Fraction(4, 5), Fraction(8)), (2, Fraction(1, 2))],), ([],)],
    mistakes={
        "true_cost divides scale by sensitivity: more noise must cost less.":
            lambda steps: sum(Fraction(b) / Fraction(s) for s, b in steps),
    },
    otherwise="true_cost({case[0]}) gives {got:.4g}: add sensitivity ÷ scale over all steps.",
)


def judge_true_cost(function: Callable[..., Any]) -> str | None:
    """The right sum, and exact."""
    kinds = {type(function(*case)).__name__ for case in true_cost.cases} - {"Fraction", "int"}
    if kinds and true_cost(function) is None:
        return (f"the value is right, but it is a {kinds.pop()}: start from Fraction(0) and use "
                "Fraction(s) / Fraction(b), so that nothing drifts.")
    return true_cost(function)


q1, q2, q3 = exercises("lesson_02", q2=judge_true_cost)
