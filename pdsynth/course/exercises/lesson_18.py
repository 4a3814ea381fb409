"""Exercises of lesson 18, all of them side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .exercise import Exercise, each, number, word


def noise_to_cell(n: int, d: int, size: int, epsilon: float, k: int) -> float:
    """Noise scale over mean cell of a table of k+1 attributes of ``size`` values: d−k tables share 0.7 ε (all of ε for k = 0)."""
    scale = 2 * (d - k) / (epsilon * (0.7 if k else 1))
    return scale * size ** (k + 1) / n


RATIO = noise_to_cell(10_000, 10, 4, 1.0, 2)


def _largest(function: Callable[[int, int, int, float], Any]) -> str | None:
    if function(10_000, 10, 4, 1.0) is None:
        return "largest_k returns nothing yet."
    for n, d, size, epsilon in ((30_000, 10, 16, 1.0), (10_000, 10, 4, 1.0), (10_000, 10, 4, 0.1), (176, 80, 5, 1.0), (10**6, 5, 3, 1.0)):
        useful = [k for k in range(d) if noise_to_cell(n, d, size, epsilon, k) <= 0.25]
        right, got = max(useful, default=0), int(function(n, d, size, epsilon))
        if got == right:
            continue
        where = f"largest_k({n}, {d}, {size}, {epsilon}) gives {got}"
        if got == max((k for k in range(d) if noise_to_cell(n, d, size, epsilon, k) <= 1), default=0):
            return f"{where}: useful means a mean cell of at least *four* noise scales."
        if got == right + 1:
            return f"{where}: that is the first k that is too large."
        if got >= d:
            return f"{where}, but an attribute has at most {d - 1} others to be its parents."
        return f"{where}, not {right}."
    return None


q1 = Exercise(
    number(
        RATIO,
        {
            RATIO / 2: "ratio is half of what is needed: replacing a record moves two cells, so the sensitivity is 2.",
            RATIO * 10 / 8: "ratio counts ten tables: with k = 2 the first two are contained in the third, so eight are measured.",
            RATIO * 0.7: "ratio gives the tables all of ε; the structure has taken 0.3 of it.",
            RATIO / 4: "ratio uses 16 cells. A child and two parents of four values each have 64.",
            1 / RATIO: "ratio is upside down: noise over mean cell.",
            16 / 0.7: "ratio: that is the noise scale, in records. Divide it by the mean cell.",
        },
        "ratio = {value:.4g}: scale ÷ (n ÷ cells).",
        within=5e-3,
    ),
    "Eight tables share 0.7: scale 2 · 8 / 0.7. A table has 4³ cells, so a mean cell has 10,000 / 64 records.",
    "ratio = (2 * 8 / 0.7) / (10_000 / 64) ≈ 0.146.",
    "Question 1",
    "Correct: 0.146, below 1/4. Two parents are useful, just.",
)
q2 = Exercise(
    _largest,
    "for k in range(d): scale = 2 (d − k) / (0.7 ε), all of ε for k = 0. Keep the largest k with scale · size ** (k + 1) / n ≤ 1/4.",
    "def largest_k(n, d, size, epsilon):\n"
    "    ratio = lambda k: 2 * (d - k) / (epsilon * (0.7 if k else 1)) * size ** (k + 1) / n\n"
    "    return max((k for k in range(d) if ratio(k) <= 1 / 4), default=0)",
    "Question 2",
    "Correct: from n, d, the domain sizes and ε alone, so it costs nothing.",
)
q3 = Exercise(
    each(
        number(4, {}, "times: one fit spends ε. How many fits have seen the records?"),
        word(
            "score",
            {
                "tried": "line: each of these fits is strict, and has been counted in `times`.",
                "k": "line: this takes the smallest of some numbers. Where do they come from?",
            },
            'line: "tried", "score" or "k".',
        ),
    ),
    "Four fits see the records. And which line compares something with the records and adds no noise?",
    "times = 4, line = 'score': four fits cost 4ε, and the winner is chosen by an exact function of the records.",
    "Question 3",
    "Correct: 4ε, and on top a choice that no ε covers. Decide k before, from public facts, or on a public table that looks like yours.",
)
