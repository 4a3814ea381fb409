"""Zero-sum noise: where n is public, the noise of a small table may leave its sum as it is.

A table of m cells then has m − 1 numbers of noise instead of m, for the same ε. Numbers are drawn
one by one with Python's integers, which is quicker for small tables than arrays are.
"""

import math
from collections.abc import Callable
from fractions import Fraction

Below = Callable[[int], int]  # a uniform integer in [0, bound)


def draw_zero_sum(scale: Fraction, cells: int, below: Below) -> list[int]:
    """Integers v, one per cell, P(v) ∝ exp(−Σ|v|/scale) where Σv = 0.

    All cells but the last are Laplace numbers, and the last is what is missing to 0. A draw is kept
    with probability exp(−|last|/scale), which makes the law that of all cells; else the table is
    drawn again, about 1.7 √cells times. Time doesn't depend on the scale.
    """
    t, s = scale.as_integer_ratio()
    while True:
        free = [_laplace(t, s, below) for _ in range(cells - 1)]
        last = -sum(free)
        if _bernoulli_exp(abs(last) * s, t, below):
            return [*free, last]


def _laplace(t: int, s: int, below: Below) -> int:
    """P(z) ∝ exp(−|z| s/t) (Canonne, Kamath, Steinke 2020, Algorithm 2)."""
    while True:
        remainder = below(t)
        if not _bernoulli_exp(remainder, t, below):
            continue
        multiples = 0
        while _bernoulli_exp(1, 1, below):
            multiples += 1
        size, negative = (remainder + multiples * t) // s, below(2)
        if size or not negative:  # zero has one sign only
            return -size if negative else size


def _bernoulli_exp(numerator: int, denominator: int, below: Below) -> bool:
    """True with probability exp(−numerator/denominator) (the same, Algorithm 1)."""
    while numerator > denominator:
        if not _bernoulli_exp(1, 1, below):
            return False
        numerator -= denominator
    place = 1
    while below(denominator * place) < numerator:
        place += 1
    return place % 2 == 1


def laplace_width(scale: Fraction, cells: int) -> Fraction:
    """The scale of Laplace noise that is as wide as zero-sum noise, once both sum to 0.

    With m cells the zero-sum law has variance scale² (m−1)(2m−1)/(m(m+1)) in each, Laplace noise
    less its mean 2 scale'² (m−1)/m (both in the limit of large scales): so scale' is
    scale · √((2m−1)/(2m+2)), to three digits here. It weighs tables in fits, and nothing else.

    >>> laplace_width(Fraction(10), 2), laplace_width(Fraction(8), 5)
    (Fraction(4080, 577), Fraction(6464, 933))
    """
    return scale * Fraction(math.sqrt((2 * cells - 1) / (2 * cells + 2))).limit_denominator(999)
