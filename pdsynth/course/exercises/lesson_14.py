"""Exercises of lesson 14, custom networks and disclosure risk."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from .judges import Computation
from .lesson import exercises

Key = tuple[str, ...]
Rows = Sequence[tuple[Key, str]]


def distances(key: Key, rows: Rows) -> list[int]:
    """In how many places each row's key differs."""
    return [sum(a != b for a, b in zip(key, other, strict=True)) for other, _ in rows]


def nearest_targets(key: Key, rows: Rows) -> list[str]:
    """The targets of the rows whose key differs from ``key`` in the fewest places."""
    gaps = distances(key, rows)
    return [target for (_, target), gap in zip(rows, gaps, strict=True) if gap == min(gaps)]


def guess(key: Key, rows: Rows) -> str:
    """The most frequent of the nearest targets, of equally frequent ones the first by name."""
    targets = nearest_targets(key, rows)
    return max(sorted(set(targets)), key=targets.count)


def draw_cases() -> list[tuple[Any, ...]]:
    """Two cases by hand, and six drawn ones without a row of the same key."""
    rng = random.Random(14)
    cases: list[tuple[Any, ...]] = [
        (
            ("young", "f"),
            "single",
            [(("young", "f"), "single"), (("young", "f"), "married"), (("old", "m"), "single")],
        ),
        (
            ("old", "f"),
            "married",
            [(("young", "m"), "single"), (("old", "m"), "married"), (("young", "f"), "single")],
        ),
    ]
    for _ in range(6):
        rows = [
            ((rng.choice("ab"), rng.choice("cd"), rng.choice("ef")), rng.choice("xyz"))
            for _ in range(9)
        ]
        cases.append(((rng.choice("ab"), rng.choice("cd"), "g"), rng.choice("xyz"), rows))
    return cases


def gcap(key: Key, target: str, rows: Rows) -> float:
    """GCAP of one record: the share of the nearest rows that have its target."""
    targets = nearest_targets(key, rows)
    return targets.count(target) / len(targets)


def gcap_at(key: Key, target: str, rows: Rows, choose: Callable[[list[int]], int]) -> float:
    """The share of the target among the rows at the chosen distance."""
    gaps = distances(key, rows)
    targets = [t for (_, t), gap in zip(rows, gaps, strict=True) if gap == choose(gaps)]
    return targets.count(target) / len(targets)


q1, q2, q3 = exercises(
    "lesson_14",
    q2=Computation(
        gcap,
        cases=draw_cases(),
        faults={
            "gcap divides by no rows where the key doesn't occur. It takes the nearest keys then.": (
                lambda got, *case: not math.isfinite(got)
            ),
        },
        mistakes={
            "gcap gives 0 where the key doesn't occur. That is CAP with a hole: GCAP takes the nearest keys instead.": lambda key, target, rows: (
                gcap(key, target, rows) if key in dict(rows) else 0
            ),
            "gcap returns whether the most frequent target is right. That is the classifier; GCAP is the share of the right target.": lambda key, target, rows: (
                guess(key, rows) == target
            ),
            "gcap divides by all rows. Divide by the rows at the smallest distance.": (
                lambda key, target, rows: nearest_targets(key, rows).count(target) / len(rows)
            ),
            "gcap counts the nearest rows with the target. It is their share.": (
                lambda key, target, rows: nearest_targets(key, rows).count(target)
            ),
            "gcap is the share of the *other* targets.": lambda key, target, rows: (
                1 - gcap(key, target, rows)
            ),
            "gcap says whether one of the nearest rows has the target. It is the share of them.": (
                lambda key, target, rows: float(target in nearest_targets(key, rows))
            ),
            "gcap takes the share over all rows, near or far: that is the zero rule.": (
                lambda key, target, rows: sum(t == target for _, t in rows) / len(rows)
            ),
            "gcap takes the *farthest* rows.": lambda key, target, rows: gcap_at(
                key, target, rows, max
            ),
            "gcap takes one nearest row. All rows at the smallest distance count.": (
                lambda key, target, rows: float(
                    rows[distances(key, rows).index(min(distances(key, rows)))][1] == target
                )
            ),
            "gcap compares the first place of the key only.": lambda key, target, rows: gcap(
                key[:1], target, [(k[:1], t) for k, t in rows]
            ),
            "gcap counts different targets once. Each row counts.": lambda key, target, rows: (
                (target in nearest_targets(key, rows)) / len(set(nearest_targets(key, rows)))
            ),
        },
        otherwise=(
            "gcap({case[0]}, {case[1]!r}, …) gives {got:g}, but {wanted:.3g} of the nearest rows "
            "have that target."
        ),
    ),
)
