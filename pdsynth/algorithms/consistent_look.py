"""What a run of ConsistentBayes asks first: which part of ε single columns and pairs should have.

The look asks how strongly pairs are tied on average. Where that is too weak for tables of pairs,
the gate asks how strong the strongest tie is, and for its name where it is clear, so that one pair
among many is kept. Where the gate notices ties as faint as the look does, it is asked first: if the
strongest tie isn't clear, no mean tie can be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..core.curator import Pairs
from ..core.factors import Columns
from ..core.measures import (
    association_moved,
    association_noise,
    mean_association_noise,
    mean_association_sensitivity,
)
from ..core.network import Candidates
from ..core.schema import Facts
from ..core.structure import Shares
from ..core.unit import ONE_REPLACED, TableBudget, Unit
from .consistent_policy import LARGEST_SET, MOST_OF_PAIR, SET_CELLS, TABLE
from .consistent_run import Run

Ties = tuple[tuple[Columns, TableBudget], ...]  # pairs to measure, and for what
LOOK_STEP = "mean association"
LOOK = Fraction(1, 20)  # of ε at most, for the look
EFFECTIVE = 16  # values of a column that occur often enough to make chance ties
ALONE = Fraction(2, 3)  # single columns that should have more than this have all
BESIDE = 2  # times their noise, which pairs' tables inherit, counts beside these
# What independent columns leave out where n is secret, so that nobody may ask: .05, the median of
# six tables, twice, as noise is half of that of a replaced record.
TYPICAL = 0.1
MOST_MEAN = 0.2  # nobody looks where a mean tie, besides chance, must be larger to be seen
STRENGTH_STEP, NAME_STEP = "strength of the strongest tie", "strongest tie"
# SEEN: the noise scale, a distance, that is wanted of an answer about the strongest tie. Its price,
# a part of ε: of the first answer from ASK_LEAST, which is that of later ones, to ASK, and up to
# DEARER times as much where it replaces the look.
SEEN = 0.03
ASK_LEAST, ASK = Fraction(1, 80), Fraction(1, 32)
DEARER = 2
# Which pair it is: asked of a tie that is so many noise scales above chance; with such odds against
# all other pairs; for so much of ε at most, the first and a further one; not at all where a STRONG
# tie, a distance, would cost more.
NAMED, STRONG = 3, 0.75
TWICE = 6  # noise scales: so clear that, where pairs are too dear, others are asked about anew
SURE = 20.0
MOST_OF_NAME, MOST_AGAIN = Fraction(1, 8), Fraction(1, 20)
FURTHER = 10  # a further tie counts as much as so many pairs, against what its name adds to all
CLEAR = 2  # what is so many noise scales above chance isn't noise
NEED = 4  # the noise of a pair's table is at most this part of its tie: a quarter
WORTH = 2  # a tie is worth a table where it is so many times the noise of single columns
MOST_OF_TIES = Fraction(1, 2)  # of ε, for asking and all tables of clear ties
LESS = Fraction(2)  # times the noise that a table should have, where no more is left: half its tie


@dataclass(frozen=True)
class Look:
    """What single columns get besides their own ε, what pairs have, what clear ties may cost."""

    columns: Fraction
    tables: Fraction
    ties: Ties = ()


def look(run: Run, shares: Shares, rounds: bool) -> Look:
    """How ε is shared, by how strongly pairs are tied on average and, where that is weak, at most.

    ``rounds``: whether tables are chosen one by one, as many as pay: see :func:`share_beside`.
    Where n is secret, nobody asks: rounds take ties to be :data:`TYPICAL`, a forest keeps the
    shares.

    Tables of independent columns are wasted, and noise hides theirs where n ε is small. So single
    columns get :func:`share_of_columns` or, beside tables, :func:`share_beside`, and all of ε in
    place of more than two thirds. The constants were chosen by looking at eight real tables (Adult,
    NLTCS, ACS, CMC, national2019, credit default, Retail, Big5) and made ones.

    **Privacy:** costs the share of the look and what :class:`Gate` asks; what follows is a function
    of these releases.
    """
    epsilon, columns, tables = shares[LOOK_STEP], shares["single columns"], shares["pairs"]
    if not run.facts.unit.n_is_public:
        if not rounds:
            return Look(Fraction(0), tables)
        return give_columns(run, columns, tables, TYPICAL, rounds)
    if not (pairs := run.policy.pairs()):
        return Look(epsilon + tables, Fraction(0))
    n, sizes = run.facts.n, run.policy.sizes
    gate, tied, mass = Gate(run, tables), 0.0, mass_of(run.facts)
    if gate.sees_means and not gate.ask():
        return Look(epsilon + tables - gate.spent, Fraction(0))
    if epsilon:
        tied = run.curator.mean_association(pairs, epsilon, step=LOOK_STEP, source="shares of ε")
    sure = [sure_ties(tied, n, seen_by_look(run.facts), sizes, x) for x in (1, CLEAR)]
    parts = [share_of_columns(ties_left, mass, sizes) for ties_left in sure]
    ties: Ties = ()
    if parts[1] > ALONE and not run.policy.forced and not run.policy.label:
        ties = gate.strong_ties()
        if parts[0] > ALONE or not gate.clear:
            return Look(tables - gate.spent, Fraction(0), ties)
    return give_columns(run, columns, tables - gate.spent, sure[0], rounds, ties)


def give_columns(
    run: Run, columns: Fraction, tables: Fraction, left: float, rounds: bool, ties: Ties = ()
) -> Look:
    """``columns``, or more of what both have where pairs are tied weakly for their noise.

    ``left``: what independent columns leave out. **Privacy:** a function of releases.
    """
    unit, sizes, mass = run.facts.unit, run.policy.sizes, mass_of(run.facts)
    part = share_of_columns(left, mass, sizes) ** unit.power
    if rounds:
        part = max(part, share_beside(left, mass, sizes, unit.power))
    epsilon = max(run.policy.shorten(min(Fraction(part), ALONE) * (columns + tables)), columns)
    return Look(epsilon - columns, columns + tables - epsilon, ties)


def share_of_look(sizes: Sequence[int]) -> Fraction:
    """The part of ε that the look costs: with more than this its noise is below v/2."""
    return min(LOOK, Fraction(mean_association_sensitivity(sizes), sum(sizes)))


def worth_looking(facts: Facts) -> bool:
    """Whether the look would see a mean tie of :data:`MOST_MEAN`; few real tables have more.

    All of it is public.
    """
    n, sizes, seen = facts.n, facts.schema.sizes, seen_by_look(facts)
    ties = sure_ties(MOST_MEAN + hidden_chance(n, seen, sizes), n, seen, sizes)
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


def least_tie(mass: float, sizes: Sequence[int]) -> float:
    """The D for which :func:`share_of_columns` is :data:`ALONE`."""
    return float((1 - ALONE) / ALONE) * 2 * sum(sizes) / mass


def share_beside(left: float, mass: float, sizes: Sequence[int], power: int = 1) -> float:
    """The part s of ε for columns beside tables that minimises v / s + D / (1 − s).

    v: :data:`BESIDE` times the noise of columns as in :func:`share_of_columns`, but of values
    beyond two, as pairs tell two as well. D, ``left``: what independent columns leave out.
    ``power`` 2: both fall with √s. A forest, which measures all its pairs, gains nothing from this.
    """
    noise = BESIDE * 2 * sum(size - 2 for size in sizes if size > 2) / mass
    if noise == 0:
        return 0.0
    odds = (max(left, 0.0) / noise) ** (power / (power + 1))
    return 1 / (1 + odds)


def sure_ties(tied: float, n: int, epsilon: float, sizes: Sequence[int], doubts: int = 1) -> float:
    """What of the noisy mean R of pairs is above hidden chance and ``doubts`` noise scales."""
    doubt = mean_association_noise(n, sizes, float(share_of_look(sizes)) * epsilon)
    return min(tied, 1.0) - hidden_chance(n, epsilon, sizes) - doubts * doubt


def mean_chance(n: int, sizes: Sequence[int]) -> float:
    """The mean R that n independent records show: √|X||Y| / √(2πn) at most. Public."""
    root = float(np.sqrt(np.minimum(sizes, EFFECTIVE)).mean())
    return root**2 / math.sqrt(2 * math.pi * n)


def hidden_chance(n: int, epsilon: float, sizes: Sequence[int]) -> float:
    """What of chance no table tells: of pairs in none all, of others the noise. Public."""
    tables, mean = BESIDE * len(sizes), float(np.mean(sizes))
    others = max(1, sum(mean**m <= SET_CELLS for m in range(2, LARGEST_SET + 1)))  # in a set
    told = min(1.0, 2 * BESIDE * others / max(len(sizes) - 1, 1))  # of the pairs
    chance = mean_chance(n, sizes)
    return chance - told * max(chance - tables * mean**2 / (epsilon * n), 0.0)


def chance_of_columns(facts: Facts, ties: float) -> float:
    """How likely the look finds ties too weak for tables, where their mean is so much. Public."""
    n, seen, sizes = facts.n, seen_by_look(facts), facts.schema.sizes
    scale = mean_association_noise(n, sizes, float(share_of_look(sizes)) * seen)
    gap = (sure_ties(ties, n, seen, sizes, CLEAR) - least_tie(mass_of(facts), sizes)) / scale
    return 0.5 * math.exp(-gap) if gap > 0 else 1 - 0.5 * math.exp(gap)


class Gate:
    """How strong the strongest tie is; where that is clear, which pair it is; then the next.

    Nobody asks where policy names pairs itself, where ε is too little to name a :data:`STRONG`
    pair, nor about pairs whose table is too dear however strongly they are tied. Where the first
    answer says that more pairs are, it is asked again without them: they may hide a cheaper tie.

    ``epsilon``: what there is. ``spent``: what of it is; ``clear``: whether any tie was;
    ``sees_means``: whether a clear tie may be as faint as a mean tie that the look would see.

    **Privacy:** everything but the curator's answers is public. Whether there is a further
    question, and what a name and a table cost, follows from the answers.
    """

    def __init__(self, run: Run, epsilon: Fraction) -> None:
        self.run, self.policy, self.n = run, run.policy, run.facts.n
        self.sizes, self.unit = run.policy.sizes, run.facts.unit
        self.whole, self.most = run.facts.epsilon, min(epsilon, MOST_OF_TIES * run.facts.epsilon)
        self.spent, self.tie, self.clear = Fraction(0), 0.0, False
        self.told = 2 * sum(self.sizes) / mass_of(run.facts)  # v of :func:`share_of_columns`
        self.asked, self.pairs, self.sees_means = list[str](), self._pairs(), False
        if self.pairs:
            seen, means = map(self._part, (SEEN, least_mean(run.facts) / CLEAR))
            part = min(max(seen, ASK_LEAST), ASK)
            self.sees_means = part > ASK_LEAST and means <= DEARER * part
            hidden = sum(self.policy.implied.values())
            self.sees_means &= hidden <= len(self.policy.pairs()) * least_mean(run.facts)
            part = max(part, means) if self.sees_means else part
            first = self.policy.shorten(part * self.whole)
            self.price, self.again = first, self.policy.shorten(ASK_LEAST * self.whole)
            self.noise = self._noise(self.price)
            if self.price > self.most:
                self.pairs, self.sees_means = [], False

    def _pairs(self) -> list[tuple[int, int]]:
        """The pairs to ask about; none where the name of a strong one would cost too much."""
        if self.policy.forced or self.policy.label:
            return []
        pairs = [p for p in self.policy.pairs() if not self.policy.apart[p]]
        pairs = [p for p in pairs if self._need(p, strongest_tie(p, self.sizes))]
        strongest = max((strongest_tie(p, self.sizes) for p in pairs), default=0.0)
        dear = not pairs or self._price_of_name(pairs, min(STRONG, strongest)) > MOST_OF_NAME
        return [] if dear else pairs

    def _noise(self, price: Fraction) -> float:
        """The scale of the noise of an answer of this price, a distance."""
        return association_noise(self.n, self.sizes, self.pairs, self.unit.as_pure(price))

    def _part(self, noise: float) -> Fraction:
        """The part of ε for which an answer's noise has this scale."""
        least = association_noise(self.n, self.sizes, self.pairs, self.unit.as_pure(self.whole, 1))
        return Fraction((least / noise) ** self.unit.power)

    def _need(self, pair: tuple[int, int], tie: float) -> Fraction:
        """ε of the table of a pair that is tied so much; 0 where it can't pay."""
        cells = self.policy.possible(pair)
        return self.whole * need_of_tie(tie, cells, self.n, self.whole, self.told, self.unit)

    def _price_of_name(self, pairs: Pairs, tie: float) -> Fraction:
        """The part of ε for which a choice names a pair that is tied so much: is :data:`SURE`."""
        exponent = float(self.run.curator.exponent(self.whole))
        least = least_named(pairs, self.sizes, self.n, exponent, SURE)
        return Fraction((least / tie) ** self.unit.power)

    def _offsets(self) -> np.ndarray:
        """Less what chance and rules make of each R, as K. Public."""
        implied = [round(2 * self.n**2 * self.policy.implied.get(p, 0.0)) for p in self.pairs]
        return -chance_ties(self.pairs, self.sizes, self.n) - np.array(implied)

    def ask(self) -> bool:
        """Whether the strongest tie is clear: then ``tie`` is what chance and rules leave of its R.

        **Privacy:** discrete Laplace noise on the largest R less public :meth:`_offsets`.
        """
        tie, entry = self.run.curator.strongest_association(
            self.pairs,
            self.price,
            step=f"{STRENGTH_STEP} {len(self.asked) + 1}",
            source="gate",
            offsets=self._offsets(),
        )
        self.asked.append(entry)
        self.spent += self.price
        self.tie = tie if tie > CLEAR * self.noise else 0.0
        self.clear = self.clear or self.tie > 0
        return self.tie > 0

    def ask_again(self) -> bool:
        """Whether the next tie is clear. **Privacy:** as :meth:`ask`."""
        self.price, self.noise = self.again, self._noise(self.again)
        return self.spent + self.price <= self.most and self.ask()

    def name(self, epsilon: Fraction) -> tuple[int, int]:
        """The pair that is tied most, which nobody asks about again.

        **Privacy:** an exponential mechanism on R less public :meth:`_offsets`.
        """
        children, parents = np.array(self.pairs, dtype=np.int64).T
        child, (parent,) = self.run.curator.select(
            Candidates(((children, parents[:, None]),)),
            "R",
            epsilon,
            step=f"{NAME_STEP} {len(self.asked)}",
            source="gate",
            offsets=self._offsets(),
        )
        self.spent += epsilon
        self.pairs.remove((child, parent))
        return child, parent

    def _pays(self) -> bool:
        """Whether a table of some pair pays, if it is tied as strongly as the answer says."""
        return any(self._need(pair, self.tie) for pair in self.pairs)

    def _leave_out_dear(self) -> bool:
        """Leave out pairs whose table can't pay, as no tie is stronger than the answer; any?"""
        pairs, sizes = self.pairs, self.sizes
        self.pairs = [p for p in pairs if self._need(p, min(self.tie, strongest_tie(p, sizes)))]
        return len(self.pairs) < len(pairs)

    def strong_ties(self) -> Ties:
        """Clearly tied pairs with their budgets, until a tie isn't clear, or costs too much.

        Each has what its table needs, or nearly (:data:`LESS`); what is left gives what is best.

        **Privacy:** what :meth:`ask` and :meth:`name` cost.
        """
        found = list[tuple[tuple[int, int], Fraction]]()
        asked = bool(self.pairs) and (self.tie > 0 or self.ask())
        while asked and self.tie >= NAMED * self.noise and self._pays():
            if self.tie >= TWICE * self.noise and self._leave_out_dear():
                asked = bool(self.pairs) and self.spent + self.price <= self.most and self.ask()
                continue
            part = self._price_of_name(self.pairs, self.tie - self.noise)
            price = max(self.policy.shorten(part * self.whole), self.policy.unit)
            if part > (MOST_AGAIN if found else MOST_OF_NAME) or self.spent + price > self.most:
                break
            if found and FURTHER * self.tie < part * self.told * len(self.policy.pairs()):
                break
            pair = self.name(price)
            need, left = self._need(pair, self.tie), self.most - self.spent
            if need > LESS**self.unit.power * left:
                break
            if need := min(need, left):
                found.append((pair, need))
                self.spent += need
            asked = bool(self.pairs) and self.ask_again()
        ties = list[tuple[tuple[int, int], TableBudget]]()
        for pair, need in found:
            fair = self.whole * fair_part(self.policy.possible(pair), self.sizes, self.unit)
            cost = self.policy.shorten(min(max(need, fair), need + self.most - self.spent))
            self.spent += cost - need
            ties.append((pair, TableBudget(cost, depends_on=tuple(self.asked), source=TABLE)))
        return tuple(ties)


def least_mean(facts: Facts) -> float:
    """The least mean tie, besides chance, for which the look leaves ε to pairs. Public."""
    sizes, mass, seen = facts.schema.sizes, mass_of(facts), seen_by_look(facts)
    doubt = mean_association_noise(facts.n, sizes, float(share_of_look(sizes)) * seen)
    kept = mean_chance(facts.n, sizes) - hidden_chance(facts.n, seen, sizes)
    return max(least_tie(mass, sizes) + CLEAR * doubt - kept, 1e-9)


def least_named(pairs: Pairs, sizes: Sequence[int], n: int, epsilon: float, odds: float) -> float:
    """The tie of which a choice with exponent ``epsilon`` would name the pair.

    ``odds``: against all other pairs. Those of one of m pairs that is stronger by R are
    exp(ε_s n R / 2Δ) / m, where R moves by Δ / n. All of it is public.
    """
    exponent = epsilon * n / (2 * association_moved(sizes, pairs))  # of a tie of 1
    return math.log(len(pairs) * odds) / exponent


def chance_ties(pairs: Pairs, sizes: Sequence[int], n: int) -> np.ndarray:
    """The K that n independent records show at most: R of √|X||Y| / √(2πn). Public."""
    i, j = np.minimum(sizes, EFFECTIVE)[np.array(pairs, dtype=np.int64)].T
    return np.rint(2 * n * n * np.sqrt(i * j / (2 * math.pi * n))).astype(np.int64)


def strongest_tie(pair: tuple[int, int], sizes: Sequence[int]) -> float:
    """How far a pair can be from independence: copies of m values that are equally frequent."""
    return 1 - 1 / min(sizes[column] for column in pair)


def need_of_tie(
    tie: float, cells: int, n: int, epsilon: Fraction, told: float, unit: Unit = ONE_REPLACED
) -> Fraction:
    """The part of ε that the table of a pair needs that is tied so much; 0 where it can't pay.

    Nothing pays where ``told``, the noise of single columns, is more than half of the tie. A
    table's own noise, a distance of cells / ε n, should be a quarter of the tie; at the largest
    price half of it, or as large as the tie where ``told`` is a quarter of that: most of so many
    cells are empty, and no count of the model is negative.
    """
    if tie <= 0 or tie < WORTH * told:
        return Fraction(0)
    need = (NEED * cells / (unit.as_pure(epsilon, 1) * n * tie)) ** unit.power
    most = NEED if NEED * told <= tie else 2
    if need > most**unit.power * MOST_OF_PAIR:
        return Fraction(0)
    return min(MOST_OF_PAIR, Fraction(need))


def fair_part(cells: int, sizes: Sequence[int], unit: Unit = ONE_REPLACED) -> Fraction:
    """The part of ε that a table has beside the columns, all in proportion to √cells."""
    root, *roots = (size ** (unit.power / (unit.power + 1)) for size in (cells, *sizes))
    return min(MOST_OF_PAIR, Fraction(root / (root + sum(roots))))
