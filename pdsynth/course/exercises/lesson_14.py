"""Exercises of lesson 14, custom networks and disclosure risk."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .exercise import Exercise, number, word

Key = tuple[str, ...]
Row = tuple[Key, str]


def _share(key: Key, target: str, rows: Sequence[Row]) -> tuple[float, list[Row]]:
    """GCAP of one record, and the rows at the smallest distance."""
    apart = [sum(a != b for a, b in zip(key, other, strict=True)) for other, _ in rows]
    near = [row for row, gap in zip(rows, apart, strict=True) if gap == min(apart)]
    return sum(t == target for _, t in near) / len(near), near


def _gcap(function: Callable[[Key, str, list[Row]], float | None]) -> str | None:
    rng = random.Random(14)
    cases: list[tuple[Key, str, list[Row]]] = [
        (("young", "f"), "single", [(("young", "f"), "single"), (("young", "f"), "married"), (("old", "m"), "single")]),
        (("old", "f"), "married", [(("young", "m"), "single"), (("old", "m"), "married"), (("young", "f"), "single")]),
    ]
    for _ in range(6):
        rows: list[Row] = [((rng.choice("ab"), rng.choice("cd"), rng.choice("ef")), rng.choice("xyz")) for _ in range(9)]
        cases.append(((rng.choice("ab"), rng.choice("cd"), "g"), rng.choice("xyz"), rows))
    for key, target, rows in cases:
        right, near = _share(key, target, rows)
        got = function(key, target, list(rows))
        if got is None:
            return "gcap returns nothing yet."
        if abs(got - right) < 1e-9:
            continue
        exact = [t for other, t in rows if other == key]
        targets = [t for _, t in near]
        if not exact and abs(got) < 1e-9:
            return "gcap gives 0 where the key doesn't occur. That is CAP with a hole: GCAP takes the nearest keys instead."
        if abs(got - (max(set(targets), key=targets.count) == target)) < 1e-9:
            return "gcap returns whether the most frequent target is right. That is the classifier; GCAP is the share of the right target."
        if abs(got - sum(t == target for _, t in near) / len(rows)) < 1e-9:
            return "gcap divides by all rows. Divide by the rows at the smallest distance."
        return (
            f"gcap{(key, target)} gives {got:g}, but {sum(t == target for t in targets)} of the {len(near)} nearest rows have that target."
        )
    return None


q1 = Exercise(
    number(
        0.7 / 15,
        {
            1 / 15: "loss = 1/15 spreads all of ε over the tables. The sketch takes its 30 % first, from the others' pairs.",
            1: "loss = 1 is what everything about a person costs. Here only the sensitive value changes: which entries see it?",
            0.7: "loss = 0.7 is what all 15 tables cost together. In how many of them does the sensitive attribute stand?",
            0.7 / 15 + 0.3: "loss counts the sketch, but no pair with the sensitive attribute is in it.",
            0.7 * 2 / 15: "loss counts two tables. The attribute is nobody's parent, so it stands in its own table only.",
        },
        "loss = {value:.4g} is not the price of one table: (1 − β)ε shared by d tables.",
        within=1e-2,
    ),
    "β = 0.3 goes to a sketch without any pair of the sensitive attribute; the rest is shared by 15 tables. In how many does it stand?",
    "(1 − 0.3) · 1 / 15 = 7/150 ≈ 0.047, whatever network is found: known before the run.",
    "Question 1",
    "Correct: 7/150 ≈ 0.047, twenty times less than ε, and it was known before anybody looked at the data.",
)
q2 = Exercise(
    _gcap,
    "Count the differing places of each key; keep the rows with the fewest; return the share of them with your target.",
    "def gcap(key, target, rows):\n    apart = [sum(a != b for a, b in zip(key, k)) for k, _ in rows]\n"
    "    near = [t for (_, t), gap in zip(rows, apart) if gap == min(apart)]\n    return near.count(target) / len(near)",
    "Question 2",
    "Correct. The mean of this number over all real records is the score of the paper's equation (1).",
)
q3 = Exercise(
    word(
        ("raw", "count"),
        {"parent": "bug: the parent is the target, as in the paper. Where do the probabilities come from?"},
        "bug: dropping the column first is fine, the network never sees it. What does the last line read?",
        inside=True,
    ),
    "Follow the sensitive column: who reads it, and through which mechanism?",
    "'raw counts': the frequencies of the real records are used as they are. The structure is the custom one, the guarantee is gone.",
    "Question 3",
    "Correct: the table P(Z | T) is raw. A group of one with a rare target has its value printed with probability 1.",
)
