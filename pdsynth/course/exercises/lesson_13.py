"""Exercises of lesson 13, genetic structure search."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .judges import Computation
from .lesson import exercises

Rows = list[list[float]]


def add_members(sets: list[set[int]], weights: Rows, counts: Callable[[int, int], bool]) -> float:
    """The weights of the members a of each attribute j's set that count."""
    return sum(weights[j][a] for j, members in enumerate(sets) for a in members if counts(a, j))


def draw_case(rng: random.Random, d: int, k: int) -> tuple[list[int], list[set[int]], Rows]:
    """An order, a set of k others for each attribute, and weights."""
    order = rng.sample(range(d), d)
    sets = [set(rng.sample([a for a in range(d) if a != j], k)) for j in range(d)]
    return order, sets, [[float(rng.randint(1, 9)) for _ in range(d)] for _ in range(d)]


def draw_cases() -> list[tuple[Any, ...]]:
    """The largest first: there no two mistakes coincide."""
    rng = random.Random(13)
    return [draw_case(rng, d, k) for d, k in ((9, 4), (8, 3), (5, 2))]


fitness = Computation(
    lambda order, sets, weights: add_members(
        sets, weights, lambda a, j: order.index(a) < order.index(j)),
    cases=draw_cases(),
    mistakes={
        "fitness counts every member. "
        "Only those that stand before the attribute in the order are parents.":
            lambda order, sets, weights: add_members(sets, weights, lambda a, j: True),
        "fitness counts the members that stand behind the attribute: turn the comparison round.":
            lambda order, sets, weights: add_members(
                sets, weights, lambda a, j: order.index(a) > order.index(j)),
        "fitness compares the attributes' numbers. "
        "Compare their places in order: order.index(a) < order.index(j).":
            lambda order, sets, weights: add_members(sets, weights, lambda a, j: a < j),
        "fitness takes sets[i] as the set of order[i]. "
        "The chromosomes are independent: sets[j] always belongs to attribute j.":
            lambda order, sets, weights: add_members(
                sets, [weights[j] for j in order], lambda a, i: order.index(a) < i),
    },
    otherwise="fitness gives {got:g} where the sum over valid parents is {wanted:g}, "
              "for the order {case[0]}.",
)

q1, q2, q3 = exercises("lesson_13", q2=fitness)
