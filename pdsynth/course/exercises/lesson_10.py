"""Exercises of lesson 10, HMPrivBayes."""

from fractions import Fraction

import numpy as np

from .judges import Computation, in_any_order
from .lesson import exercises


def spend(d: int, k: int, pairs: int | Fraction, clusters: int, a3: int = 1) -> Fraction:
    """ε₁ for each of the pairs of a round, ε₂ + ε₃ for each of the clusters that see a record."""
    a1, a2 = Fraction(d - 1), Fraction(2 * d, k)
    return (pairs * a1 + clusters * (1 + a3) * a2) / (a1 + 2 * a2)


true_cost = Computation(
    lambda d, k: spend(d, k, d // 2, k),
    cases=[(9, 3), (6, 3), (52, 3), (175, 3), (9, 2)],
    mistakes={
        "true_cost returns what is claimed, 1. Multiply ε₁ by ⌊d/2⌋, and ε₂ + ε₃ by k.": (
            lambda d, k: 1
        ),
        "true_cost forgets the clusters: each of the k spends ε₂ + ε₃ on the same records.": (
            lambda d, k: spend(d, k, d // 2, 1)
        ),
        "true_cost forgets DPSC: one record is in all pairs, ⌊d/2⌋ times what is paid.": (
            lambda d, k: spend(d, k, 1, k)
        ),
        "true_cost{case}: an odd number of columns has ⌊d/2⌋ disjoint pairs; use d // 2.": (
            lambda d, k: spend(d, k, Fraction(d, 2), k)
        ),
        "true_cost multiplies ε₁ by d − 1. The rounds are paid for; the pairs of a round aren't.": lambda d, k: (
            spend(d, k, d - 1, k)
        ),
        "true_cost multiplies ε₁ by d. A round has ⌊d/2⌋ pairs.": lambda d, k: spend(d, k, d, k),
        "true_cost multiplies ε₁ by all pairs. The rounds are paid one by one.": (
            lambda d, k: spend(d, k, d * (d - 1) // 2, k)
        ),
        "true_cost forgets ε₃: networks *and* tables are paid once and spent in k clusters.": (
            lambda d, k: spend(d, k, d // 2, k, a3=0)
        ),
        "true_cost is the worse of the two. Both see the same records: they add up.": lambda d, k: (
            max(spend(d, k, d // 2, 0), spend(d, k, 0, k))
        ),
        "true_cost adds a1, a2, a3 without dividing by their sum: they are weights.": lambda d, k: (
            d // 2 * (d - 1) + 4 * d
        ),
        "true_cost multiplies all of ε by ⌊d/2⌋. Only ε₁ is spent on pairs.": lambda d, k: d // 2,
        "true_cost multiplies all of ε by k. Only ε₂ and ε₃ are spent in clusters.": lambda d, k: k,
    },
    otherwise=(
        "true_cost{case} = {got:.4g}, not {wanted:.4g}. "
        "Start from a1, a2, a3 and divide by their sum."
    ),
)

NOISY = np.array(
    [
        [0.0, 0.9, 0.31, 0.5, 0.12],
        [0.9, 0.0, 0.2, 0.7, 0.4],
        [0.31, 0.2, 0.0, 0.6, 0.05],
        [0.5, 0.7, 0.6, 0.0, 0.38],
        [0.12, 0.4, 0.05, 0.38, 0.0],
    ]
)


def bar(child: int, p: int, noisy: np.ndarray, eta: float) -> float:
    """What a similarity must exceed: η times the strongest one of either side, formula (9)."""
    return float(eta * max(noisy[child].max(), noisy[p].max()))


possible_parents = Computation(
    lambda child, placed, noisy, eta: [
        p for p in placed if noisy[child, p] > bar(child, p, noisy, eta)
    ],
    cases=[
        (0, [2, 3, 4], NOISY, 0.4),
        (2, [0, 1, 4], NOISY, 0.5),
        (4, [3, 0], NOISY, 0.5),
        (3, [0, 1, 4], NOISY, 0.5),
        (0, [1, 2, 3], NOISY, 0.5),
        (0, [1, 2], NOISY, 1.0),
    ],
    mistakes={
        "possible_parents takes the *weak* ones: a parent must be more than η times the strongest.": lambda child, placed, noisy, eta: [
            p for p in placed if noisy[child, p] <= bar(child, p, noisy, eta)
        ],
        "possible_parents lets in a similarity that equals the bar. A parent must be above it.": (
            lambda child, placed, noisy, eta: [
                p for p in placed if noisy[child, p] >= bar(child, p, noisy, eta)
            ]
        ),
        "possible_parents takes the lower of the two bars. Formula (9) asks for both: the higher one.": (
            lambda child, placed, noisy, eta: [
                p for p in placed if noisy[child, p] > eta * min(noisy[child].max(), noisy[p].max())
            ]
        ),
        "possible_parents leaves everybody in: where is η?": lambda child, placed, noisy, eta: (
            placed
        ),
        "possible_parents lets nobody in.": lambda child, placed, noisy, eta: [],
        "possible_parents compares with η itself. The bar is η times the strongest similarity of either side.": lambda child, placed, noisy, eta: [
            p for p in placed if noisy[child, p] > eta
        ],
        "possible_parents takes the strongest of the whole matrix. The bar is that of child and parent.": (
            lambda child, placed, noisy, eta: [
                p for p in placed if noisy[child, p] > eta * noisy.max()
            ]
        ),
        "possible_parents takes the strongest among the placed. Formula (9) takes it over all.": (
            lambda child, placed, noisy, eta: [
                p
                for p in placed
                if noisy[child, p]
                > eta * max(noisy[child, placed].max(), noisy[p, [*placed, child]].max())
            ]
        ),
        "possible_parents compares with the mean. The bar is η times the strongest.": (
            lambda child, placed, noisy, eta: [
                p for p in placed if noisy[child, p] > eta * noisy[child].mean()
            ]
        ),
        "possible_parents asks the child's strongest similarity alone. Formula (9) asks either side's.": (
            lambda child, placed, noisy, eta: [
                p for p in placed if noisy[child, p] > eta * noisy[child].max()
            ]
        ),
        "possible_parents asks each parent's own strongest similarity alone. Formula (9) asks either side's.": (
            lambda child, placed, noisy, eta: [
                p for p in placed if noisy[child, p] > eta * noisy[p].max()
            ]
        ),
        "possible_parents offers attributes that aren't placed: the network may get a circle.": (
            lambda child, placed, noisy, eta: [
                p for p in range(len(noisy)) if noisy[child, p] > bar(child, p, noisy, eta)
            ]
        ),
        "possible_parents gives places in the list. Give the attributes themselves.": (
            lambda child, placed, noisy, eta: [
                i for i, p in enumerate(placed) if noisy[child, p] > bar(child, p, noisy, eta)
            ]
        ),
        "possible_parents keeps only the strongest. All above the bar are candidates.": (
            lambda child, placed, noisy, eta: [max(placed, key=lambda p: noisy[child, p])]
        ),
    },
    otherwise="possible_parents({case[0]}, {case[1]}, noisy, {case[3]}) gives {got}, not {wanted}.",
    read=in_any_order,
)

q1, q2, q3 = exercises("lesson_10", q2=true_cost, q3=possible_parents)
