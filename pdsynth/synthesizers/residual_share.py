"""How ConsistentBayes shares ε between single columns and tables: by one look at their ties.

Where columns are independent, tables of several are wasted; where n ε is small, their noise hides
what they tell. So a little of ε asks how strongly pairs are tied on average, and single columns get
v / (v + D) of the rest: v, the two-way distance that columns with ε/d each would have from noise;
D, what independent columns would leave out. More than two thirds is all: a table measured with a
third of ε is mostly noise. The constants were chosen by looking at NLTCS, ACS, CMC, Adult and made
independent columns.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..measures import mean_association_noise, mean_association_sensitivity
from ..structure.learner import Shares
from .residual_run import Run

ASKED = "mean association"
LOOK = Fraction(1, 20)  # of ε, at most
ALONE = Fraction(2, 3)  # single columns with more than that get all
EFFECTIVE = 16  # values of a column that occur often enough to make chance ties


def share_of_look(sizes: Sequence[int]) -> Fraction:
    """The part of ε that the look costs: with more than this its noise is below v/2."""
    return min(LOOK, Fraction(mean_association_sensitivity(sizes), sum(sizes)))


def share_of_columns(ties: float, mass: float, sizes: Sequence[int]) -> float:
    """The part v / (v + D) of ε, for ties D and ``mass`` = ε n."""
    noise = 2 * sum(sizes) / mass
    return noise / (noise + max(ties, 0.0))


def sure_ties(tied: float, n: int, epsilon: float, sizes: Sequence[int]) -> float:
    """What of the noisy mean R of pairs is more than chance and the look's own noise together.

    n independent records show √|X||Y| / √(2πn) at most. R itself is below 1.
    """
    root = float(np.sqrt(np.minimum(sizes, EFFECTIVE)).mean())
    chance = root**2 / math.sqrt(2 * math.pi * n)
    doubt = mean_association_noise(n, sizes, float(share_of_look(sizes)) * epsilon)
    return min(tied, 1.0) - chance - doubt


def look(run: Run, shares: Shares) -> tuple[Fraction, Fraction]:
    """What single columns get besides their own share of ε, and what pairs have.

    **Privacy:** costs the share of the look; what follows is a function of its release.
    """
    epsilon, columns, tables = shares[ASKED], shares["single columns"], shares["pairs"]
    if not epsilon:
        return Fraction(0), tables
    if not (pairs := [(i, j) for i, j in run.pairs()]):
        return epsilon + tables, Fraction(0)
    tied = run.curator.mean_association(pairs, epsilon, step=ASKED, source="shares of ε")
    n, whole = run.facts.n, float(run.facts.epsilon)
    part = share_of_columns(sure_ties(tied, n, whole, run.sizes), whole * n, run.sizes)
    if part > ALONE and not run.forced:
        return tables, Fraction(0)
    wanted = run.shorten(min(Fraction(part), ALONE) * (columns + tables))
    more = max(wanted - columns, Fraction(0))
    return more, tables - more
