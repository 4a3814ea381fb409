"""Exercises of lesson 04, PrivBayes."""

from __future__ import annotations

from math import comb

from .judges import Computation
from .lesson import exercises

pairs = Computation(
    lambda i, d, k: (d - i + 1) * comb(i - 1, min(k, i - 1)),
    cases=[(2, 14, 2), (3, 14, 2), (7, 14, 2), (14, 14, 4), (2, 3, 1)],
    mistakes={
        "pairs{case} gives {got:g}: while fewer than k attributes are placed, all are parents: "
        "min(k, i − 1).":
            lambda i, d, k: (d - i + 1) * comb(i - 1, k),
        "pairs{case} gives {got:g}: i − 1 attributes are placed, so d − (i − 1) children are left, "
        "not d − i.":
            lambda i, d, k: (d - i) * comb(i - 1, min(k, i - 1)),
        "pairs{case} gives {got:g}: that counts all |Π| ≤ k; take exactly min(k, i − 1) parents.":
            lambda i, d, k: (d - i + 1) * sum(comb(i - 1, size) for size in range(k + 1)),
    },
    otherwise="pairs{case} gives {got:g}, not {wanted:g}. Count the children that are left, "
              "times the parent sets among i − 1.",
)

q1, q2, q3 = exercises("lesson_04", q2=pairs)
