"""Exercises of lesson 18, all of them side by side."""

from __future__ import annotations

from .judges import Computation
from .lesson import exercises


def find_largest(n: int, d: int, size: int, epsilon: float, limit: float = 0.25) -> int:
    """The largest k whose noise scale is at most ``limit`` mean cells.

    A table of k + 1 attributes has ``size`` ** (k + 1) cells; d − k tables share 0.7 ε, or all of ε
    for k = 0.
    """
    scales = [2 * (d - k) / (epsilon * (0.7 if k else 1)) for k in range(d)]
    return max((k for k in range(d) if scales[k] * size ** (k + 1) / n <= limit), default=0)


WHERE = "largest_k{case} gives {got:g}"
q1, q2, q3 = exercises("lesson_18", q2=Computation(
    find_largest,
    cases=[(30_000, 10, 16, 1.0), (10_000, 10, 4, 1.0), (10_000, 10, 4, 0.1), (176, 80, 5, 1.0),
           (10**6, 5, 3, 1.0)],
    faults={
        WHERE + ", but an attribute has at most d − 1 others to be its parents.":
            lambda got, n, d, size, epsilon: got >= d,
    },
    mistakes={
        WHERE + ": useful means a mean cell of at least *four* noise scales.":
            lambda n, d, size, epsilon: find_largest(n, d, size, epsilon, limit=1),
        WHERE + ": that is the first k that is too large.":
            lambda *case: find_largest(*case) + 1,
    },
    otherwise=WHERE + ", not {wanted:g}.",
))
