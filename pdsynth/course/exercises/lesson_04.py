"""Exercises of lesson 04, PrivBayes."""

from math import comb, perm

from .judges import Computation
from .lesson import exercises

pairs = Computation(
    lambda i, d, k: (d - i + 1) * comb(i - 1, min(k, i - 1)),
    cases=[(7, 14, 2), (2, 14, 2), (3, 14, 2), (14, 14, 4), (2, 3, 1)],
    mistakes={
        "pairs{case} gives {got:g}: while fewer than k attributes are placed, all are parents: min(k, i − 1).": (
            lambda i, d, k: (d - i + 1) * comb(i - 1, k)
        ),
        "pairs{case} gives {got:g}: i − 1 attributes are placed, so d − (i − 1) children are left, not d − i.": (
            lambda i, d, k: (d - i) * comb(i - 1, min(k, i - 1))
        ),
        "pairs{case} gives {got:g}: that counts all |Π| ≤ k; take exactly min(k, i − 1) parents.": (
            lambda i, d, k: (d - i + 1) * sum(comb(i - 1, size) for size in range(k + 1))
        ),
        "pairs{case} gives {got:g}, the number of parent sets. Each may go with any child that isn't placed.": lambda i, d, k: (
            comb(i - 1, min(k, i - 1))
        ),
        "pairs{case} gives {got:g}, the number of children. Each may have any of the parent sets.": lambda i, d, k: (
            d - i + 1
        ),
        "pairs{case} gives {got:g}: that lets all d attributes be children; those that are placed have their parents already.": (
            lambda i, d, k: d * comb(i - 1, min(k, i - 1))
        ),
        "pairs{case} gives {got:g}: that draws parents from all other attributes. Only the placed ones may be parents, or the network gets a circle.": lambda i, d, k: (
            (d - i + 1) * comb(d - 1, min(k, i - 1))
        ),
        "pairs{case} gives {got:g}: that counts parents in every order. A set has none.": (
            lambda i, d, k: (d - i + 1) * perm(i - 1, min(k, i - 1))
        ),
        "pairs{case} gives {got:g}: that takes one parent k times. A set holds each once.": (
            lambda i, d, k: (d - i + 1) * (i - 1) ** min(k, i - 1)
        ),
        "pairs{case} gives {got:g}: children *times* parent sets, not plus.": lambda i, d, k: (
            d - i + 1 + comb(i - 1, min(k, i - 1))
        ),
        "pairs{case} gives {got:g}: at step i there are i − 1 attributes placed, not i.": (
            lambda i, d, k: (d - i + 1) * comb(i, min(k, i))
        ),
    },
    otherwise=(
        "pairs{case} gives {got:g}, not {wanted:g}. Count the children that are left, "
        "times the parent sets among i − 1."
    ),
)

q1, q2, q3 = exercises("lesson_04", q2=pairs)
