"""Exercises of lesson 13, genetic structure search."""

import copy
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


fitness: Computation = Computation(
    lambda order, sets, weights: add_members(
        sets, weights, lambda a, j: order.index(a) < order.index(j)
    ),
    cases=draw_cases(),
    mistakes={
        "fitness counts every member. Only those that stand before the attribute in the order are parents.": lambda order, sets, weights: (
            add_members(sets, weights, lambda a, j: True)
        ),
        "fitness counts the members that stand behind the attribute: turn the comparison round.": (
            lambda order, sets, weights: add_members(
                sets, weights, lambda a, j: order.index(a) > order.index(j)
            )
        ),
        "fitness compares the attributes' numbers. Compare their places in order: order.index(a) < order.index(j).": lambda order, sets, weights: (
            add_members(sets, weights, lambda a, j: a < j)
        ),
        "fitness takes sets[i] as the set of order[i]. The chromosomes are independent: sets[j] always belongs to attribute j.": lambda order, sets, weights: (
            add_members(sets, [weights[j] for j in order], lambda a, i: order.index(a) < i)
        ),
        "fitness counts the parents. Add their weights.": lambda order, sets, weights: add_members(
            sets, [[1.0] * len(order)] * len(order), lambda a, j: order.index(a) < order.index(j)
        ),
        "fitness takes weights[a][j]. The weight of the edge a → j stands in row j.": (
            lambda order, sets, weights: add_members(
                sets,
                [list(column) for column in zip(*weights, strict=True)],
                lambda a, j: order.index(a) < order.index(j),
            )
        ),
        "fitness adds the weights of *all* predecessors. Only those in the set are parents.": (
            lambda order, sets, weights: add_members(
                [set(order) - {j} for j in range(len(order))],
                weights,
                lambda a, j: order.index(a) < order.index(j),
            )
        ),
        "fitness takes the best parent of each attribute. All of them count.": (
            lambda order, sets, weights: sum(
                max(
                    (weights[j][a] for a in sets[j] if order.index(a) < order.index(j)),
                    default=0,
                )
                for j in range(len(order))
            )
        ),
        "fitness takes order[a] for a's place. It is the attribute that stands at place a: use order.index(a).": lambda order, sets, weights: (
            add_members(sets, weights, lambda a, j: order[a] < order[j])
        ),
        "fitness is the mean over attributes. It is the sum.": lambda order, sets, weights: (
            fitness.right(order, sets, weights) / len(order)
        ),
        "fitness punishes the members that stand behind. They are ignored.": (
            lambda order, sets, weights: (
                2 * fitness.right(order, sets, weights)
                - add_members(sets, weights, lambda a, j: True)
            )
        ),
    },
    otherwise=(
        "fitness gives {got:g} where the sum over valid parents is {wanted:g}, "
        "for the order {case[0]}."
    ),
)


Individual = dict[str, list[int]]


def grow(
    elite: list[Individual],
    size: int,
    mutate: Callable[[Individual], None],
    copied: Callable[[Individual], Individual] = copy.deepcopy,
) -> list[Individual]:
    """The elite, and children in turn of each of them."""
    generation = list(elite)
    while len(generation) < size:
        child = copied(elite[len(generation) % len(elite)])
        mutate(child)
        generation.append(child)
    return generation


def judge_next_generation(next_generation: Callable[..., Any]) -> str | None:
    """The elite untouched, and mutated copies of its members up to ``size``."""
    size, elite, parents = 6, [{"bits": [1, 1]}, {"bits": [2, 2]}], set()

    def mutate(child: Individual) -> None:
        parents.add(child["bits"][0])
        child["bits"].append(7)

    for seed in range(20):  # whoever draws parents by chance has drawn both by then
        random.seed(seed)
        argument = copy.deepcopy(elite)
        generation = next_generation(argument, size, mutate)
        if not isinstance(generation, list):
            return (
                f"next_generation returns {type(generation).__name__}, not a list of individuals."
            )
        if words := judge_generation(generation, argument, elite, size):
            return words
    if parents != {1, 2}:
        return "all are children of the best alone: draw a parent anew for each child."
    return None


def judge_generation(
    made: list[Individual], given: list[Individual], elite: list[Individual], size: int
) -> str | None:
    """The words for one generation."""
    if len(given) != len(elite):
        return (
            "next_generation changes how many are in elite, which is the caller's list: "
            "begin with one of your own, such as list(elite)."
        )
    if (
        given != elite
        and len(made) == size
        and any(child is one for child in made[2:] for one in given)
    ):
        return (
            "next_generation changes the elite: child *is* an elite individual, so mutate "
            "hits both. Copy first."
        )
    if given != elite:
        shared = {id(part) for one in given for part in one.values()}
        if any(id(part) in shared for one in made[2:] if one for part in one.values()):
            return (
                "next_generation changes the elite: the copy is flat, and its inner sets and "
                "lists are still shared. Use copy.deepcopy."
            )
        return (
            "next_generation changes the elite: where the copy is made, mutate has changed it "
            "already. Copy first, then mutate the copy."
        )
    if any(one is None for one in made):
        return "mutate changes its argument and returns nothing: append the child itself."
    if made == elite:
        return f"the generation is only the elite; {size} individuals are wanted."
    if len(made) != size:
        return f"the generation has {len(made)} individuals, not {size}."
    if [one for one in elite if one not in made]:
        return "the elite isn't kept: its members belong to the next generation as they are."
    children = [one for one in made if one not in elite]
    if not children:
        return "the children are never mutated: call mutate(child)."
    if any(set(one["bits"][2:]) == {7} and len(one["bits"]) > 3 for one in children):
        return (
            "a child is mutated more than once: draw each parent from elite, and mutate a new "
            "copy of it."
        )
    if any(one["bits"][2:] != [7] for one in children):
        return "the children are changed, but not by `mutate`, once each."
    if len({id(one) for one in made}) < size:
        return "several children are one and the same object: copy for each."
    return None


q1, q2, q3 = exercises("lesson_13", q2=fitness, q3=judge_next_generation)
