"""PriView (Qardaji, Yang, Li, SIGMOD 2014): noisy views of bits that answer any marginal.

First covering designs: few sets of columns that together hold every t of them; then the views,
which are made to agree, and what is read off them.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ..core import (
    BinaryEncoding,
    BudgetError,
    Columns,
    Curator,
    Facts,
    Measurement,
    Network,
    Pair,
    Parts,
    Recipe,
    SchemaError,
    Shares,
    Structure,
    StructureResult,
    TableBudget,
    Unit,
    integer_weights,
    is_whole,
    marginalise,
    mutual_information,
    show,
    spanning_tree,
    to_names,
)
from .pairs import agree_in_pairs, clip_and_scale, make_consistent

MAX_SETS = 250_000  # t-sets that one design keeps track of
TRIES = 16  # random runs of which the best design is kept
NOISE_ERROR = 0.003  # what the paper's rule of thumb tolerates of all triples in place of all pairs
QUERY_BITS = 20  # a marginal of up to a million cells
LARGEST_VIEW = 16  # bits
SOURCE, ROUNDS = "PriView, step 2", 3


@lru_cache(maxsize=64)
def covering_design(d: int, size: int, t: int, seed: int = 0) -> tuple[tuple[int, ...], ...]:
    """Sets of ``size`` of the columns 0 … d−1 such that every t columns lie in one of them.

    Greedy, the best of ``TRIES`` runs with random ties, their seeds public (fewer where there are
    many t-sets); at most two thirds more sets than the designs that the paper takes from a
    repository. BudgetError for more than 250,000 t-sets.

    >>> covering_design(4, 8, 2)
    ((0, 1, 2, 3),)
    """
    if d <= size:
        return (tuple(range(d)),)
    sets = math.comb(d, t)
    if sets > MAX_SETS:
        raise BudgetError(
            f"a covering design of all {t}-sets of d = {d} columns keeps track of "
            f"{sets:,} sets, at most {MAX_SETS:,}: use t = 2"
        )
    tries = range(max(1, min(TRIES, TRIES * 2000 // sets)))
    return min((_greedy(d, size, t, np.random.default_rng([seed, i])) for i in tries), key=len)


def _greedy(d: int, size: int, t: int, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    rest, views = np.ones((d,) * t, dtype=bool), []  # t-sets that aren't covered yet: symmetric
    for one, other in itertools.combinations(np.indices(rest.shape), 2):
        rest &= one != other
    while rest.any():
        view: list[int] = []
        while len(view) < size:
            gain = _gain(rest, view) + rng.random(d) / 2  # gains are whole: ties break at random
            gain[view] = -1
            view.append(int(gain.argmax()))
        rest[np.ix_(*[view] * t)] = False
        views.append(tuple(sorted(view)))
    return tuple(views)


def _gain(rest: np.ndarray, view: list[int]) -> np.ndarray:
    """Open t-sets that each column would close, or leave possible while the view is small."""
    d, t = len(rest), rest.ndim
    closed = rest[tuple(view)] if len(view) < t - 1 else rest[np.ix_(range(d), *[view] * (t - 1))]
    return closed.reshape(d, -1).sum(axis=1)


@dataclass(frozen=True)
class Views(Structure):
    """Noisy views of a covering design, made to agree, and a tree read off them: see PriView."""

    size: int
    t: int | str

    measures: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse designs that can't be."""
        if not is_whole(self.size, 2, LARGEST_VIEW):
            raise BudgetError(
                f"size must be a whole number of bits from 2 to {LARGEST_VIEW}, "
                f"got {show(self.size)}"
            )
        t, most = self.t, min(3, self.size)
        if not is_whole(t, 1, most) and not (isinstance(t, str) and t == "auto"):
            raise BudgetError(f"t must be 'auto' or a whole number from 1 to {most}, got {show(t)}")

    def asks(self, facts: Facts) -> Shares:
        """All for the views."""
        return {"views": Fraction(1)}

    def design(self, facts: Facts) -> tuple[int, tuple[Columns, ...]]:
        """Strength t and the views, from public facts."""
        d, size = len(BinaryEncoding(facts.schema).schema), int(self.size)
        if not isinstance(self.t, str):
            return int(self.t), covering_design(d, size, int(self.t))
        scale = float(self.unit(facts).scale(facts.epsilon))

        def error(views: float) -> float:
            pairs = math.sqrt(views * d * (d - 1) / (size * (size - 1)))
            return 2 ** ((size - 1) / 2) * pairs * scale / facts.n

        fewest = math.comb(d, 3) / math.comb(size, 3) if size >= 3 else math.inf  # of any design
        if error(fewest) <= NOISE_ERROR:
            views = covering_design(d, size, 3)
            if error(len(views)) <= NOISE_ERROR:
                return 3, views
        return 2, covering_design(d, size, 2)

    def unit(self, facts: Facts) -> Unit:
        """What neighbours differ in, from which the noise of a view follows."""
        return facts.unit

    def budget(self, epsilon: Fraction) -> TableBudget:
        """The share of one view."""
        return TableBudget(epsilon, source=SOURCE)

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The views, which agree, and the tree of bits with the most mutual information in them.

        **Privacy:** one noisy table per view, ε in all; all else is post-processing.
        """
        bits, n = curator.binary(), facts.n
        names = bits.schema.names
        t, views = self.design(facts)
        budget = self.budget(shares["views"] / len(views))
        answers = list(
            bits.tables(
                (view, budget, f"view {i} of {len(views)}") for i, view in enumerate(views, 1)
            )
        )
        tables = [answer.counts for answer in answers]
        for _ in range(ROUNDS):
            tables = [ripple(t, 0.01 * n / t.size) for t in make_consistent(tables, views, n)]
        agreed = agree_in_pairs(tables, views, n)
        margins = dict(zip(views, agreed, strict=True))
        pairs = strongest_tree(len(names), margins)
        measurements = tuple(
            Measurement(
                tuple(names[j] for j in (child, *parents)),
                integer_weights(answer(margins, (child, *parents))),
                answers[0].scale,
            )
            for child, parents in pairs
        )
        labels = tuple(tuple(names[j] for j in view) for view in views)
        return StructureResult(
            Network.of_columns(pairs, names),
            rule="a tree read off the views",
            attributes={"t_": t, "views_": labels, "_tables": margins},
            measurements=measurements,
            schema=bits.schema,
        )


def strongest_tree(d: int, views: Mapping[Columns, np.ndarray]) -> list[Pair]:
    """EXTENSION: the tree of bits with the most mutual information in the views.

    Rounded, so that ties stay ties: processors differ in a logarithm's last digit.
    """
    strength = np.full((d, d), -1.0)  # t = 1 leaves pairs that no view holds
    for view, table in views.items():
        for i, j in itertools.combinations(view, 2):
            if strength[i, j] < 0:
                information = mutual_information(marginalise(table, view, (i, j)))
                strength[i, j] = strength[j, i] = max(0.0, round(information, 9))
    return [
        (j, (above,) if above >= 0 and strength[j, above] >= 0 else ())
        for j, above in spanning_tree(strength)
    ]


def answer(views: Mapping[Columns, np.ndarray], bits: Columns) -> np.ndarray:
    """Counts of some bits, axes as asked: of the first view that holds all, or joined."""
    shared: dict[Columns, np.ndarray] = {}
    for view, table in views.items():
        common = tuple(b for b in bits if b in view)
        if common == bits:
            return marginalise(table, view, bits)
        if common and common not in shared:
            shared[common] = marginalise(table, view, common)
    margins = [
        (tuple(bits.index(b) for b in s), table)
        for s, table in shared.items()
        if not any({*s} < {*other} for other in shared)
    ]
    total = next(iter(views.values())).sum()
    return total * maximum_entropy((2,) * len(bits), margins)


def ripple(table: np.ndarray, threshold: float, sweeps: int = 100) -> np.ndarray:
    """A table of two-valued axes without cells below −threshold; the sum stays (Ripple, ibid.).

    Each such cell becomes 0 and its deficit is shared by the cells that differ from it in one axis;
    all at once, at most ``sweeps`` times. A table without a positive sum stays as it is.
    """
    out = np.array(table, dtype=float)
    for _ in range(sweeps if out.ndim and out.sum() > 0 else 0):
        deficit = np.where(out < -threshold, out, 0.0)
        if not deficit.any():
            break
        out += sum(np.flip(deficit, axis) for axis in range(out.ndim)) / out.ndim - deficit
    return out


def maximum_entropy(
    shape: tuple[int, ...],
    margins: Sequence[tuple[Columns, np.ndarray]],
    *,
    tolerance: float = 1e-6,
    sweeps: int = 100,
) -> np.ndarray:
    """The distribution of largest entropy with given margins, by iterative proportional fitting.

    ``margins``: (axes, table) pairs, tables non-negative, of any sum. Stops when no cell moves by
    more than ``tolerance`` in a sweep. Of margins that contradict each other the last one holds.
    """
    cells = math.prod(shape)
    place = np.unravel_index(np.arange(cells), shape)
    targets = [
        (np.ravel_multi_index([place[a] for a in axes], m.shape), clip_and_scale(m, 1.0).ravel())
        for axes, m in margins
    ]
    p = np.full(cells, 1 / cells)
    for _ in range(sweeps):
        before = p
        for cell, target in targets:
            now = np.bincount(cell, p, len(target))
            p = p * np.divide(target, now, out=np.zeros_like(target), where=now > 0)[cell]
        if np.abs(p - before).max() <= tolerance:
            break
    return clip_and_scale(p, 1.0).reshape(shape)


@dataclass(eq=False, repr=False, kw_only=True)
class PriView(Recipe):
    """PriView: views of ``size`` bits that cover every ``t`` of them, made to agree.

    Qardaji, Yang, Li (SIGMOD 2014), from literature. It answers any :meth:`marginal`; judge it by
    that, as ``query_errors`` and ``compare`` do. ``sample`` is an EXTENSION that PriView doesn't
    have: a tree of the strongest pairs, read off the views; the model and its file hold that tree
    only.

    Parameters
    ----------
    size : bits per view, l.
    t : every t bits lie in one view: 1, 2 or 3; ``"auto"``: 3 where the noise error
        2^((l−1)/2)·sqrt(w d(d−1)/(l(l−1)))/(nε), from public facts, stays within .003, else 2.
    epsilon, guarantee, noise, random_state : as in PrivBayes.

    Attributes with more than two values become bits; answers leave undeclared codes out.
    Consistency and Ripple (threshold: 1 % of a mean cell) take turns three times, then consistency
    once more; cells are clipped and views normalised to n. A query takes from each view the margin
    on what they share, the larger of two nested ones.

    Attributes
    ----------
    views_ : tuples of bit names. ``t_``: every so many bits lie in one view.

    **Privacy:** strict: pure ε-DP under replacing one record: w views with noise of scale 2w/ε,
    sequentially, of sum 0 up to 32 cells and else discrete Laplace.
    """

    size: int = 8
    t: int | str = "auto"

    def _check(self, facts: Facts) -> None:
        if self.reconcile is not None:
            raise BudgetError("PriView makes its views agree in its own way: leave reconcile out")

    def _parts(self, facts: Facts) -> Parts:
        return Parts(Views(self.size, self.t))

    def marginal(self, names: Sequence[str]) -> np.ndarray:
        """Estimated counts of some attributes: floats, one axis per attribute as asked, sum n.

        Costs nothing. Read off a view that holds them all, otherwise the distribution of largest
        entropy that agrees with every view on what they share. BudgetError before ``fit`` and for
        more than a million cells, SchemaError for attributes that aren't there or stand twice.
        """
        if not hasattr(self, "model_"):
            raise BudgetError(
                "this PriView is not fitted yet: call fit(frame, schema=schema) first"
            )
        names = to_names("names", names)
        if not names or len({*names}) != len(names):
            raise SchemaError(
                f"a marginal needs one or more different attributes, got {list(names)}"
            )
        groups = [BinaryEncoding(self.schema_).bits(name) for name in names]
        bits = tuple(itertools.chain(*groups))
        if len(bits) > QUERY_BITS:
            raise BudgetError(
                f"a marginal of {len(names)} attributes has 2^{len(bits)} = "
                f"{2 ** len(bits):,} cells; at most 2^{QUERY_BITS}"
            )
        table = answer(self._tables, bits).reshape([2 ** len(group) for group in groups])
        declared = table[tuple(slice(self.schema_[name].size) for name in names)]
        return clip_and_scale(declared, self.n_)
