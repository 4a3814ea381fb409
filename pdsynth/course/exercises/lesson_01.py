"""Exercises of lesson 01, DP mechanisms."""

import math

import numpy as np

from ...answers.laws import exponential_probabilities
from .games import Guessing
from .judges import Computation
from .lesson import exercises


def weigh(powers: np.ndarray) -> np.ndarray:
    """Probabilities proportional to e to these powers."""
    weights = np.exp(powers - powers.max())
    return weights / weights.sum()


choose: Computation = Computation(
    lambda scores, delta, epsilon: exponential_probabilities(np.array(scores), delta, epsilon),
    cases=[
        (np.array([3, 1, 0]), 1, 1.0),
        (np.array([10, 10, 4]), 2, 0.5),
        (np.array([90_000, 89_990]), 1, 0.2),
    ],
    faults={
        "choose overflows for scores in the thousands: subtract scores.max() first, the probabilities stay the same.": (
            lambda got, *case: not np.isfinite(got).all()
        ),
        "the probabilities of choose add up to {total:.4g}: divide by their sum.": (
            lambda got, *case: not math.isclose(got.sum(), 1)
        ),
    },
    mistakes={
        "choose forgets the 2 in e^(εu/2Δ): that spends 2ε.": lambda scores, delta, epsilon: (
            choose.right(scores, delta / 2, epsilon)
        ),
        "choose ignores the sensitivity: a score that one person moves by 2 must count half.": (
            lambda scores, delta, epsilon: choose.right(scores, 1, epsilon)
        ),
        "choose multiplies by the sensitivity: divide.": lambda scores, delta, epsilon: (
            choose.right(scores, 1 / delta, epsilon)
        ),
        "choose ignores epsilon: how sharp the choice is must depend on it.": (
            lambda scores, delta, epsilon: choose.right(scores, delta, 1.0)
        ),
        "choose prefers low scores: the sign is turned round.": lambda scores, delta, epsilon: (
            weigh(-np.array(scores) * epsilon / (2 * delta))
        ),
        "choose gives every candidate the same: private, but it never looks at the scores.": (
            lambda scores, delta, epsilon: np.full(len(scores), 1 / len(scores))
        ),
        "choose always takes the best: no noise, no privacy.": lambda scores, delta, epsilon: weigh(
            np.array(scores) * 1e9
        ),
        "choose is proportional to the scores themselves. No finite ε bounds that: a score of 0 would never be drawn.": (
            lambda scores, delta, epsilon: np.array(scores) / sum(scores)
        ),
        "choose has 2 in the place of e.": lambda scores, delta, epsilon: weigh(
            np.array(scores) * epsilon / (2 * delta) * math.log(2)
        ),
        "choose divides by ε: a larger budget must make the choice sharper.": (
            lambda scores, delta, epsilon: choose.right(scores, delta, 1 / epsilon)
        ),
    },
    otherwise="choose{case} gives {got}: compare with e^(εu/2Δ).",
)

NOISE = np.array([3.21, -0.87, 12.4, 0.05])
exact = Computation(
    lambda town, work: town - work,
    cases=[
        (np.array([40, 7, 0, 12]) + NOISE, np.array([31, 9, 0, 5]) + NOISE),
        (np.array([5, 1]) + NOISE[:2], np.array([2, 1]) + NOISE[:2]),
    ],
    mistakes={
        "exact adds the tables: that holds the noise twice.": lambda town, work: town + work,
        "exact takes the mean: that is as noisy as one of them, since both noises are the same.": (
            lambda town, work: (town + work) / 2
        ),
        "exact is right but for its sign: town minus work.": lambda town, work: work - town,
        "exact loses the sign: more people at work than in town is a fact, too.": (
            lambda town, work: abs(town - work)
        ),
        "exact gives back the first table, with all of its noise.": lambda town, work: town,
        "exact gives back the second table, with all of its noise.": lambda town, work: work,
        "exact halves the difference. Nothing has to be averaged here.": lambda town, work: (
            (town - work) / 2
        ),
        "exact rounds one table: its noise is several people large.": lambda town, work: np.round(
            town
        ),
        "exact divides: a ratio still holds the noise above and below the line.": (
            lambda town, work: town / work
        ),
        "exact multiplies: the noise is in both factors.": lambda town, work: town * work,
        "exact takes the larger table value by value: its noise is still there.": (
            lambda town, work: np.maximum(town, work)
        ),
    },
    otherwise=(
        "exact gives {got}. Both tables hold the very same numbers as noise: which "
        "combination holds none of it?"
    ),
)

attack = Guessing(
    {
        "attack always says yes: that is right for every other Eve, with or without the release.": (
            lambda released, others: 1
        ),
        "attack always says no: that is right for every other Eve, with or without the release.": (
            lambda released, others: 0
        ),
        "attack is turned round: Eve's yes makes the total *larger*.": lambda released, others: (
            released <= others
        ),
        "attack starts one too low: at `others` her no is e times as likely as her yes.": (
            lambda released, others: released >= others
        ),
        "attack starts one too high: at `others` + 1 her yes is e times as likely as her no.": (
            lambda released, others: released >= others + 2
        ),
        "attack says yes at one number only. Above it her yes is just as much the likelier answer.": lambda released, others: (
            released == others + 1
        ),
        "attack says no at one number only. Below it her no is just as much the likelier answer.": (
            lambda released, others: released != others
        ),
        "attack looks at odd and even. The noise is symmetric: parity says nearly nothing.": (
            lambda released, others: released % 2
        ),
        "attack wants to be certain and waits for a large total. Nothing is ever certain here: say what is likelier.": (
            lambda released, others: released >= others + 6
        ),
        "attack is turned round, and starts one too high.": lambda released, others: (
            released <= others + 1
        ),
        "attack says yes near the total. How far the noise went says nothing; its direction does.": lambda released, others: (
            abs(released - others) <= 1
        ),
    }
)

q1, q2, q3, q4, q5 = exercises("lesson_01", q2=choose, q4=exact, q5=attack)
