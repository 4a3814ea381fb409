"""What a run of ConsistentBayes asks first: which part of ε single columns and pairs should have.

The look asks how strongly pairs are tied on average. Where that is too weak for tables of pairs,
the gate asks for the strongest tie by name, so that one pair among many is kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.factors import Columns
from ..core.measures import (
    association_moved,
    association_noise,
    mean_association_noise,
    mean_association_sensitivity,
)
from ..core.network import Candidates
from ..core.noise import ONE_REPLACED, TableBudget, Unit
from ..core.schema import Facts
from ..core.structure import Shares
from .consistent_policy import MOST_OF_PAIR, TABLE

LOOK_STEP = "mean association"
LOOK = Fraction(1, 20)  # of ε at most, for the look
EFFECTIVE = 16  # values of a column that occur often enough to make chance ties
ALONE = Fraction(2, 3)  # single columns that should have more than this have all
BESIDE = 2  # times their noise, which pairs' tables inherit, counts beside these
# What independent columns leave out where n is secret, so that nobody may ask: .05, the median of
# six tables, twice, as noise is half of that of a replaced record.
TYPICAL = 0.1
TIE_STEP, STRENGTH_STEP = "strongest tie", "strength of the tie"
MOST_MEAN = 0.2  # nobody looks where a mean tie must be larger than this to be seen
ASK, AGAIN = Fraction(1, 20), Fraction(1, 80)  # of ε, to ask for the first tie; for others
ASK_ALONE = Fraction(1, 15)  # of ε, for the first where nobody has looked
NAMED = Fraction(3, 4)  # of that, for the name of the pair; the rest for its strength
# Distances from independence; nobody asks where no STRONG pair is found.
FAINT, PLAIN, STRONG = 0.15, 0.3, 0.75
# Of ε for the first question, where that names such a tie with such odds against all other pairs.
USUAL = (PLAIN, math.e)
SURE, MOST_AGAIN = 20.0, Fraction(3, 4)  # odds of a FAINT tie's name; part of the first's share
DEARER = ((Fraction(1, 12), STRONG, 100.0), (Fraction(1, 10), STRONG, math.e**2))
CLEAR = 2  # what is so many noise scales above chance isn't noise
NEED = 4  # the noise of a pair's table is at most this part of its tie: a quarter
MOST_OF_TIES = Fraction(1, 2)  # of ε, for asking and all tables of clear ties

Ties = tuple[tuple[Columns, TableBudget], ...]  # pairs to measure, and for what


@dataclass(frozen=True)
class Look:
    """What single columns get besides their own share of ε, what pairs have, and clear ties.

    ``ties``: pairs to measure and what each may cost, besides ``columns`` and ``tables``.
    """

    columns: Fraction
    tables: Fraction
    ties: Ties = ()


def look(run: Any, shares: Shares, rounds: bool) -> Look:
    """How ε is shared, by how strongly pairs are tied on average and, where that is weak, at most.

    ``rounds``: whether tables are chosen one by one, as many as pay: see :func:`share_beside`.
    Where n is secret, nobody asks: rounds take ties to be :data:`TYPICAL`, a forest keeps the
    shares.

    Where columns are independent, tables of several are wasted; where n ε is small, their noise
    hides what they tell. So single columns get :func:`share_of_columns` or, beside tables,
    :func:`share_beside`, and all of ε instead of more than two thirds: a table measured with a
    third of ε is mostly noise. The constants were chosen by looking at NLTCS, ACS, CMC, Adult,
    national2019, credit default and made independent columns.

    **Privacy:** costs the share of the look and what :func:`strong_ties` asks; what follows is a
    function of these releases.
    """
    epsilon, columns, tables = shares[LOOK_STEP], shares["single columns"], shares["pairs"]
    if not run.facts.unit.n_is_public:
        if not rounds:
            return Look(Fraction(0), tables)
        return give_columns(run, columns, tables, TYPICAL, rounds)
    if not (pairs := run.policy.pairs()):
        return Look(epsilon + tables, Fraction(0))
    n, sizes = run.facts.n, run.policy.sizes
    mass, whole = mass_of(run.facts), seen_by_look(run.facts)
    tied = 0.0
    if epsilon:
        tied = run.curator.mean_association(pairs, epsilon, step=LOOK_STEP, source="shares of ε")
    sure = [sure_ties(tied, n, whole, sizes, doubts) for doubts in (1, CLEAR)]
    parts = [share_of_columns(ties_left, mass, sizes) for ties_left in sure]
    ties: Ties = ()
    spent, clear = Fraction(0), True
    if parts[1] > ALONE and not run.policy.forced and not run.policy.label:
        ties, spent, clear = strong_ties(run, tables, ASK if epsilon else ASK_ALONE)
        if parts[0] > ALONE or not clear:
            return Look(tables - spent, Fraction(0), ties)
    return give_columns(run, columns, tables - spent, sure[0], rounds, ties)


def give_columns(
    run: Any, columns: Fraction, tables: Fraction, left: float, rounds: bool, ties: Ties = ()
) -> Look:
    """``columns``, or more of what both have where pairs are tied weakly for their noise.

    ``left``: what independent columns leave out. **Privacy:** a function of releases.
    """
    unit, sizes = run.facts.unit, run.policy.sizes
    mass = mass_of(run.facts)
    part = share_of_columns(left, mass, sizes) ** unit.power
    if rounds:
        part = max(part, share_beside(left, mass, sizes, unit.power))
    part = min(Fraction(part), ALONE)
    epsilon = max(run.policy.shorten(part * (columns + tables)), columns)
    return Look(epsilon - columns, columns + tables - epsilon, ties)


def share_of_look(sizes: Sequence[int]) -> Fraction:
    """The part of ε that the look costs: with more than this its noise is below v/2."""
    return min(LOOK, Fraction(mean_association_sensitivity(sizes), sum(sizes)))


def worth_looking(facts: Facts) -> bool:
    """Whether the look would see a mean tie of :data:`MOST_MEAN`; few real tables have more.

    All of it is public.
    """
    sizes = facts.schema.sizes
    ties = sure_ties(MOST_MEAN, facts.n, seen_by_look(facts), sizes)
    return share_of_columns(ties, mass_of(facts), sizes) <= ALONE


def mass_of(facts: Facts) -> float:
    """N ε, of Laplace noise as large as that of single columns that share all of ε."""
    return facts.unit.as_pure(facts.epsilon, len(facts.schema)) * facts.n


def seen_by_look(facts: Facts) -> float:
    """The ε of which the look's share has Laplace noise as large as its own."""
    part = share_of_look(facts.schema.sizes)
    return facts.unit.as_pure(part * facts.epsilon) / float(part)


def share_of_columns(ties: float, mass: float, sizes: Sequence[int]) -> float:
    """The part v / (v + D) of ε, for ``mass`` = ε n.

    v: the two-way distance that columns with ε/d each would have from noise. D, ``ties``: what
    independent columns would leave out.
    """
    noise = 2 * sum(sizes) / mass
    return noise / (noise + max(ties, 0.0))


def share_beside(left: float, mass: float, sizes: Sequence[int], power: int = 1) -> float:
    """The part s of ε for columns beside tables that minimises v / s + D / (1 − s).

    v: :data:`BESIDE` times the noise of columns as in :func:`share_of_columns`, but of values
    beyond two: two are told nearly as well by the tables of pairs. D, ``left``: what independent
    columns leave out, of which tables keep the less, the less ε they have. ``power`` 2: both fall
    with √s. A forest measures all its pairs, however little each has: it gains nothing from this.
    """
    noise = BESIDE * 2 * sum(size - 2 for size in sizes if size > 2) / mass
    if noise == 0:
        return 0.0
    odds = (max(left, 0.0) / noise) ** (power / (power + 1))
    return 1 / (1 + odds)


def sure_ties(tied: float, n: int, epsilon: float, sizes: Sequence[int], doubts: int = 1) -> float:
    """What of the noisy mean R of pairs is more than chance and the look's own noise together.

    ``doubts``: how many scales of its noise are taken off.

    n independent records show √|X||Y| / √(2πn) at most. R itself is below 1.
    """
    root = float(np.sqrt(np.minimum(sizes, EFFECTIVE)).mean())
    chance = root**2 / math.sqrt(2 * math.pi * n)
    doubt = mean_association_noise(n, sizes, float(share_of_look(sizes)) * epsilon)
    return min(tied, 1.0) - chance - doubts * doubt


def chance_of_columns(dependence: float, n: int, epsilon: float, sizes: Sequence[int]) -> float:
    """How likely the look finds ties too weak for tables, where their mean is ``dependence``.

    The look's noise is Laplace, and :data:`CLEAR` of its scales are taken off. All of it is public.
    """
    scale = mean_association_noise(n, sizes, float(share_of_look(sizes)) * epsilon)
    least = float((1 - ALONE) / ALONE) * 2 * sum(sizes) / (epsilon * n)  # where they get ALONE of ε
    gap = (sure_ties(dependence, n, epsilon, sizes, CLEAR) - least) / scale
    return 0.5 * math.exp(-gap) if gap > 0 else 1 - 0.5 * math.exp(gap)


# --- the gate ------------------------------------------------------------------------------------


def strong_ties(run: Any, epsilon: Fraction, usual: Fraction) -> tuple[Ties, Fraction, bool]:
    """Clearly tied pairs with their budgets; ε of these and of all questions; is any pair clear?

    The first question costs the first of :func:`prices_of_questions`; where its pair isn't clear,
    it is the last, so independent columns pay for one. Further ones cost the second price, and from
    the first unclear pair on the third, until another isn't clear. Each pair is promised what its
    table needs; what is then left gives them what is best, the first one first. ``epsilon``: what
    there is.

    **Privacy:** what :func:`ask_tie` asks, for public shares of ε. Whether there is a further
    question, and which price it has, follows from the answers.
    """
    policy, whole, n, unit = run.policy, run.facts.epsilon, run.facts.n, run.facts.unit
    pairs = [pair for pair in policy.pairs() if not policy.apart[pair]]
    if not (prices := prices_of_questions(run, pairs, usual)):
        return (), Fraction(0), False
    most, spent = min(epsilon, MOST_OF_TIES * whole), Fraction(0)
    found, asked = list[tuple[Columns, Fraction, Fraction]](), list[str]()
    place, clear = 0, False
    while pairs and spent + prices[place] * whole <= most:
        pair, tie, entry, cost = ask_tie(run, pairs, prices[place] * whole, len(asked) + 1)
        asked.append(entry)
        spent, clear = spent + cost, clear or tie > 0
        need, best = cost_of_tie(tie, policy.possible(pair), policy.sizes, n, whole, unit)
        if need and spent + need <= most:
            found.append((pair, need, best))
            spent, place = spent + need, max(place, 1)
            pairs.remove(pair)
        elif not tie and place == 1 and prices[2] > AGAIN:
            place = 2
        else:
            break
    ties = list[tuple[Columns, TableBudget]]()
    for pair, need, best in found:
        cost = policy.shorten(min(best, need + most - spent))
        spent += cost - need
        ties.append((pair, TableBudget(cost, depends_on=tuple(asked), source=TABLE)))
    return tuple(ties), spent, clear


def prices_of_questions(
    run: Any, pairs: Sequence[Columns], usual: Fraction
) -> tuple[Fraction, ...]:
    """Shares of ε: of the first question, of a further one, of one after an unclear pair.

    The first: ``usual``, or the first of :data:`DEARER` that would name a strong tie where that
    would hardly name a :data:`PLAIN` one; nothing where none would. The last: what names a
    :data:`FAINT` tie, at most three quarters of the first. All of it is public.
    """
    policy, n = run.policy, run.facts.n
    for share, tie, odds in ((usual, *USUAL), *DEARER):
        exponent = float(run.curator.exponent(share * NAMED * run.facts.epsilon))
        if worth_asking(pairs, policy.sizes, n, exponent, tie, odds):
            least = least_named(pairs, policy.sizes, n, exponent, SURE)
            part = Fraction((least / FAINT) ** run.facts.unit.power)
            return share, AGAIN, min(part, MOST_AGAIN) * share
    return ()


def ask_tie(
    run: Any, pairs: Sequence[Columns], epsilon: Fraction, number: int
) -> tuple[Columns, float, str, Fraction]:
    """The pair that is named, what of its R is clear, the ledger's line of that, and ε of both.

    A pair is named by R less what chance makes of it, so that a wide one isn't named for its
    chance.

    **Privacy:** an exponential mechanism on R less a public :func:`chance_tie` for three quarters
    of ``epsilon``, and discrete Laplace noise on one R for the rest.
    """
    policy, n = run.policy, run.facts.n
    naming, asking = (policy.shorten(part * epsilon) for part in (NAMED, 1 - NAMED))
    children, parents = np.array(pairs, dtype=np.int64).T
    chance = [round(2 * n * n * chance_tie(pair, policy.sizes, n)) for pair in pairs]  # as K
    child, (parent,) = run.curator.select(
        Candidates(((children, parents[:, None]),)),
        "R",
        naming,
        step=f"{TIE_STEP} {number}",
        source="gate",
        offsets=-np.array(chance, dtype=np.int64),
    )
    pair = (child, parent)
    strength, entry = run.curator.noisy_associations(
        [pair], asking, step=f"{STRENGTH_STEP} {number}", source="gate"
    )
    noise = run.facts.unit.as_pure(asking)
    tie = clear_tie(float(strength[0]), pair, policy.sizes, n, noise)
    return pair, tie, entry, naming + asking


def worth_asking(
    pairs: Sequence[Columns],
    sizes: Sequence[int],
    n: int,
    epsilon: float,
    tie: float,
    odds: float,
) -> bool:
    """Whether a choice with exponent ``epsilon`` would name a pair that is tied so much. Public."""
    return bool(pairs) and tie >= least_named(pairs, sizes, n, epsilon, odds)


def least_named(
    pairs: Sequence[Columns], sizes: Sequence[int], n: int, epsilon: float, odds: float
) -> float:
    """The tie of which a choice with exponent ``epsilon`` would name the pair.

    ``odds``: against all other pairs. Those of one of m pairs that is stronger by R are
    exp(ε_s n R / 2Δ) / m, where R moves by Δ / n. All of it is public.
    """
    exponent = epsilon * n / (2 * association_moved(sizes, pairs))  # of a tie of 1
    return math.log(len(pairs) * odds) / exponent


def chance_tie(pair: Columns, sizes: Sequence[int], n: int) -> float:
    """The R that n independent records show at most: √|X||Y| / √(2πn). Public."""
    i, j = (min(sizes[column], EFFECTIVE) for column in pair)
    return math.sqrt(i * j / (2 * math.pi * n))


def clear_tie(
    strength: float, pair: Columns, sizes: Sequence[int], n: int, epsilon: float
) -> float:
    """What of a pair's noisy R, that cost ``epsilon``, is more than chance.

    0 where it is no more than :data:`CLEAR` scales of its noise.
    """
    tie = strength - chance_tie(pair, sizes, n)
    return tie if tie > CLEAR * association_noise(n, sizes, pair, epsilon) else 0.0


def cost_of_tie(
    tie: float,
    cells: int,
    sizes: Sequence[int],
    n: int,
    epsilon: Fraction,
    unit: Unit = ONE_REPLACED,
) -> tuple[Fraction, Fraction]:
    """ε of the table of a pair that is tied so much, at least and at best; 0 where it can't pay.

    Its noise, a distance of cells / ε n, should be a quarter of the tie; with the most that a pair
    may cost it must be half of it at least. At best a table that has enough gets its share beside
    the columns: ε in proportion to √cells.
    """
    if tie <= 0:
        return Fraction(0), Fraction(0)
    need = (NEED * cells / (unit.as_pure(epsilon, 1) * n * tie)) ** unit.power
    if need > 2**unit.power * MOST_OF_PAIR:
        return Fraction(0), Fraction(0)
    root, *roots = (size ** (unit.power / (unit.power + 1)) for size in (cells, *sizes))
    fair = root / (root + sum(roots))
    least, most = (min(MOST_OF_PAIR, Fraction(part)) for part in (need, max(need, fair)))
    return least * epsilon, most * epsilon
