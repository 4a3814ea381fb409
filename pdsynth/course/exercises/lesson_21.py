"""Exercises of lesson 21, your ε is your own."""

import math
from collections.abc import Sequence
from fractions import Fraction

from .judges import Computation
from .lesson import exercises

Levels = Sequence[Fraction]


def count_copies(levels: Levels) -> list[int]:
    """How often a record of each level counts."""
    whole = in_wholes(levels)
    return [number // math.gcd(*whole) for number in whole]


def in_wholes(levels: Levels) -> list[int]:
    """Levels times their common denominator."""
    common = math.lcm(*(level.denominator for level in levels))
    return [int(level * common) for level in levels]


CASES = [
    ([Fraction(number) for number in levels.split()],)
    for levels in ("1/10 1/2 1", "1/4 2/5 1", "1/2 3/5 1", "2 4 6", "1/3")
]
copies_of = Computation(
    count_copies,
    cases=CASES,
    mistakes={
        "copies_of divides by the least level. 2/5 is no whole multiple of 1/4: find a unit that divides all.": (
            lambda levels: [level / min(levels) for level in levels]
        ),
        "copies_of rounds up: whoever is rounded up loses more than she allowed.": lambda levels: [
            math.ceil(level / min(levels)) for level in levels
        ],
        "copies_of rounds down: nobody is cheated, but part of what was given is wasted. A smaller unit fits exactly.": (
            lambda levels: [level // min(levels) for level in levels]
        ),
        "copies_of rounds to the nearest: half of the time somebody loses more than she allowed.": (
            lambda levels: [round(level / min(levels)) for level in levels]
        ),
        "copies_of stops at whole numbers. 2, 4 and 6 are whole, and a larger unit divides them.": (
            in_wholes
        ),
        "copies_of multiplies all denominators. The counts are whole and larger than need be: divide by what they share.": (
            lambda levels: [
                level * math.prod(other.denominator for other in levels) for level in levels
            ]
        ),
        "copies_of counts everybody once: that is everybody at the unit.": lambda levels: [
            1 for _ in levels
        ],
        "copies_of gives the levels back. A record can't count 0.1 times.": lambda levels: [
            *levels
        ],
        "copies_of gives the most careful the most copies: turn it round.": lambda levels: (
            count_copies(levels)[::-1]
        ),
        "copies_of gives the place of each level, 1, 2, 3. How many units are in it?": (
            lambda levels: [place + 1 for place in range(len(levels))]
        ),
        "copies_of is the unit. How often does it go into each level?": lambda levels: [
            level / number for level, number in zip(levels, count_copies(levels), strict=True)
        ],
        "copies_of counts one copy too many.": lambda levels: [
            number + 1 for number in count_copies(levels)
        ],
    },
    otherwise="copies_of{case} = {got}, but the counts are {wanted}.",
)

q1, q2, q3, q4 = exercises("lesson_21", q2=copies_of)
