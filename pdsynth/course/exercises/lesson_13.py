"""Exercises of lesson 13, genetic structure search."""

from __future__ import annotations

import random
from collections.abc import Callable

from .exercise import Exercise, number, word

Rows = list[list[float]]


def _fitness(function: Callable[[list[int], list[set[int]], Rows], float | None]) -> str | None:
    rng = random.Random(13)
    for d, k in ((9, 4), (8, 3), (5, 2)):  # the largest first: there no two mistakes coincide
        order = rng.sample(range(d), d)
        sets = [set(rng.sample([a for a in range(d) if a != j], k)) for j in range(d)]
        weights = [[float(rng.randint(1, 9)) for _ in range(d)] for _ in range(d)]
        place = {a: i for i, a in enumerate(order)}
        right = sum(weights[j][a] for j in range(d) for a in sets[j] if place[a] < place[j])
        got = function(list(order), [set(s) for s in sets], weights)
        if got is None:
            return "fitness returns nothing yet."
        if abs(got - right) < 1e-9:
            continue
        if abs(got - sum(weights[j][a] for j in range(d) for a in sets[j])) < 1e-9:
            return "fitness counts every member. Only those that stand before the attribute in the order are parents."
        if abs(got - sum(weights[j][a] for j in range(d) for a in sets[j] if place[a] > place[j])) < 1e-9:
            return "fitness counts the members that stand behind the attribute: turn the comparison round."
        if abs(got - sum(weights[j][a] for j in range(d) for a in sets[j] if a < j)) < 1e-9:
            return "fitness compares the attributes' numbers. Compare their places in order: order.index(a) < order.index(j)."
        if abs(got - sum(weights[order[j]][a] for j in range(d) for a in sets[j] if place[a] < place[order[j]])) < 1e-9:
            return "fitness takes sets[i] as the set of order[i]. The chromosomes are independent: sets[j] always belongs to attribute j."
        return f"fitness gives {got:g} where the sum over valid parents is {right:g}, for the order {order}."
    return None


q1 = Exercise(
    number(
        2,
        {
            6: "worth = 6 counts all three sets. A member that doesn't stand before its attribute is ignored (footnote 6).",
            4: "worth = 4 counts the two sets whose member stands behind its attribute, and leaves out the one that precedes.",
            3: "worth = 3 counts a set too many: which attributes stand before b?",
            5: "worth = 5 counts a set too many: which attributes stand before a?",
        },
        "worth = {value:g} is not the sum over valid parents. Which of the three sets holds a predecessor?",
    ),
    "Write down who stands before whom: a before b before c. Then read the three sets.",
    "a: nothing stands before it. b: its set {c} stands behind it. c: its set {a} precedes, weight 2. Together 2.",
    "Question 1",
    "Correct: only c's set counts, and b and a wait for a better order.",
)
q2 = Exercise(
    _fitness,
    "For each attribute j and each a in sets[j]: add weights[j][a] if order.index(a) < order.index(j).",
    "def fitness(order, sets, weights):\n    place = {a: i for i, a in enumerate(order)}\n"
    "    return sum(weights[j][a] for j in range(len(order)) for a in sets[j] if place[a] < place[j])",
    "Question 2",
    "Correct: this sum is all that the search ever asks of the data.",
)
q3 = Exercise(
    word(
        "copy",
        {
            "crossover": "bug: without crossover the search is poorer, but its best never gets worse. Here it does.",
            "size": "bug: the loop stops at exactly size individuals. What is in them?",
        },
        "bug: follow one elite individual through the loop. How many names point at it?",
        inside=True,
    ),
    "Elitism promises that the best never gets worse. Does this code keep its elite untouched?",
    "'no copy': child is the elite individual itself, so mutating it changes the elite. Copy first, as the authors' code does.",
    "Question 3",
    "Correct: without a copy the mutation hits the elite itself, and the best of a generation can get worse.",
)
