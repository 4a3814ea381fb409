"""Exercises of lesson 07, HPPrivBayes."""

from __future__ import annotations

from fractions import Fraction

from .judges import Computation
from .lesson import exercises

true_cost = Computation(
    lambda d, k, in_b, epsilon2: Fraction(d - in_b, d - k - in_b) * epsilon2,
    cases=[(14, 4, 7, Fraction(1)), (14, 4, 9, Fraction(1)), (6, 2, 3, Fraction(1, 2))],
    mistakes={
        "true_cost returns what is claimed. Count the tables that are noised: d − l of them, "
        "not d − k − l.":
            lambda d, k, in_b, epsilon2: epsilon2,
    },
    otherwise="true_cost({case[0]}, {case[1]}, {case[2]}, {case[3]}) gives {got:.4g}. "
              "One table costs 2/scale; how many tables are there?",
)

q1, q2, q3 = exercises("lesson_07", q2=true_cost)
