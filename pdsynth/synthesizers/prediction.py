"""How near each method is likely to come, before any record is read: public facts and a prior.

A forecast of the mean two-way distance D (total variation) of n records over a schema at ε:
D² = (ρ q)² + v². q says how strongly two columns hang together where nothing else is known; ρ,
which part of that a method's tables leave unexplained; v, the expected noise of a two-way table,
which clipping keeps below 1. q and ρ are the :class:`Prior`: medians over public
tables (``prior.csv``, by ``benchmarks/prior.py``). ``DOUBT``, ``AGREED`` and ``ALONE`` were chosen
by looking at Adult, NLTCS and CMC. The yardsticks' page holds advice against what was measured,
each table under the prior of the others; ``figures/advice.csv`` does so with few repeats on all
tables, and where columns are independent. There the forecast is wrong, but ConsistentBayes, which
looks before it measures more than single columns, loses little to them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from ..domain.schema import Schema
from ..structure.limits import ALL_PAIRS
from ..structure.parent_rules import MAX_PAIRS, largest_selection
from .baselines import Independent, JTree
from .consistent import ALONE as ALONE_SHARE
from .consistent import WIDE, ConsistentBayes, share_of_columns, share_of_look
from .consistent_policy import MOST_SETS, TRIPLE_CELLS
from .cost import Cost
from .presets import PrivBayes
from .recipe import Recipe

WIDEST = 6 * ALL_PAIRS  # numbers of tables that are compared
SINGLE, RECIPE = "baselines.Independent", "ConsistentBayes"
DOUBT = 1.07  # ConsistentBayes stands first unless another method is so many times nearer
AGREED, ALONE = 0.7, 1.4  # noise that agreement leaves, and that a chain of tables adds


@dataclass(frozen=True)
class Prior:
    """What is assumed of a table that nobody has read.

    ``dependence``: the mean two-way distance from independent columns. What models leave of it:
    ``tree``, a tree of pairs (t tables leave tree^(t / (d − 1))); ``degrees``, networks of k = 1,
    2, … parents.
    """

    dependence: float
    tree: float
    degrees: tuple[float, ...]


@cache
def prior(*without: str) -> Prior:
    """Medians over the public tables in ``prior.csv``, but those that are to be judged."""
    rows = pd.read_csv(Path(__file__).with_name("prior.csv"), index_col="table")
    middle = rows.drop(index=[*without]).median()
    return Prior(middle["dependence"], middle["tree"], (*middle[["k=1", "k=2", "k=3"]],))


@dataclass(frozen=True)
class Forecast:
    """A method with its expected two-way distance, seconds of one core and MiB of memory."""

    name: str
    make: Callable[..., Recipe]
    distance: float
    seconds: float
    megabytes: float


def forecasts(schema: Schema, n: int, epsilon: float, given: Prior | None = None) -> list[Forecast]:
    """Every candidate, the nearest first; ConsistentBayes, which adapts to what it finds, before
    what is hardly nearer, its rounds before a forest of the same forecast, and single columns
    before all where no ties could be strong enough for more.

    **Privacy:** a function of n, ε and the schema, which are public.
    """
    facts = _Facts(schema, n, epsilon, given or prior())
    cost, d = Cost(n, schema.sizes), facts.d
    forest = cost.forest(facts.pairs)
    rounds = cost.rounds(facts.sets, 2 * d) if d <= WIDE else forest
    found = [Forecast(SINGLE, Independent, facts.independent(), *cost.degree(0))]
    if d <= ALL_PAIRS:  # else it would be refused
        found += [
            Forecast("ConsistentBayes", ConsistentBayes, facts.consistent(6 * d), *rounds),
            Forecast(
                "ConsistentBayes(rounds=0)",
                lambda **o: ConsistentBayes(rounds=0, **o),
                facts.consistent(d - 1),
                *forest,
            ),
        ]
    for k in range(1, min(len(facts.prior.degrees), d - 1) + 1):
        if largest_selection(d, k) <= MAX_PAIRS:  # else it would be refused
            found.append(
                Forecast(f"PrivBayes(k={k})", _degree(k), facts.degree(k), *cost.degree(k))
            )
    if d <= ALL_PAIRS:
        found.append(Forecast("baselines.JTree", JTree, facts.junction(), *cost.degree(1)))
    hopeless = share_of_columns(1.0, facts.mass, schema.sizes) > ALONE_SHARE
    first = SINGLE if hopeless or d == 1 else RECIPE
    return sorted(found, key=lambda f: f.distance * (1 if f.name.startswith(first) else DOUBT))


def _degree(k: int) -> Callable[..., Recipe]:
    return lambda **options: PrivBayes(k=k, **options)


class _Facts:
    """Public numbers of a table, and the forecasts made of them.

    ``both``: all pairs of columns; of more than ALL_PAIRS columns, those of so many that stand
    evenly among all when these are sorted by size.
    """

    def __init__(self, schema: Schema, n: int, epsilon: float, prior: Prior) -> None:
        self.prior = prior
        self.size, self.mass = np.array(schema.sizes, dtype=float), float(epsilon) * n
        self.n, self.d = n, len(schema)
        columns = np.arange(self.d)
        if self.d > ALL_PAIRS:
            even = np.linspace(0, self.d - 1, ALL_PAIRS).round().astype(int)
            columns = np.sort(np.argsort(self.size, kind="stable")[even])
        i, j = np.triu_indices(len(columns), 1)
        self.both = columns[i], columns[j]
        self.table = float(np.median(np.prod(self.size[[*self.both]], axis=0)))
        self.pairs = math.comb(self.d, 2)
        triples = math.comb(self.d, 3) if self.size.max() ** 3 <= TRIPLE_CELLS else 0
        self.with_triples = 0 < triples <= MOST_SETS - self.pairs
        self.sets = self.pairs + triples * self.with_triples
        self.typical = float(np.exp(np.log(self.size).mean()))

    def independent(self) -> float:
        """Columns with ε/d each: v = d (|X_i| + |X_j|) / (ε n)."""
        return self.distance(1.0, self.pair(self.d * self.size / self.mass))

    def consistent(self, most: int) -> float:
        """The best number of tables, at most ``most``, under the shares of ConsistentBayes.

        As single columns at worst: that is what it measures where ties are too weak.
        """
        sizes = [int(s) for s in self.size]
        shared = share_of_columns(self.prior.dependence, self.mass, sizes)
        if shared > ALONE_SHARE:
            return self.independent()
        one_way = max(min(0.3, self.size.mean() / 20), shared)
        tables = 0.8 * (1 - float(share_of_look(sizes)) - one_way)
        told = one_way + tables / self.size.mean()  # what tables tell of their columns
        roots = np.sqrt(self.size)
        columns = self.pair(0.45 * roots * roots.sum() / (told * self.mass))
        cells, edges = (8.0, 2) if self.with_triples else (self.table, 1)
        return min(
            self.independent(),
            *(
                self.distance(
                    self.prior.tree ** (t * edges / max(self.d - 1, 1)),
                    AGREED * cells * t / (tables * self.mass),
                    columns,
                )
                for t in _numbers(most)
            ),
        )

    def degree(self, k: int) -> float:
        """PrivBayes: d − k tables of k + 1 typical columns for .7 of ε."""
        cells = self.typical ** (k + 1)
        noise = ALONE * cells * (self.d - k) / (0.7 * self.mass)
        return self.distance(self.prior.degrees[k - 1], noise)

    def junction(self) -> float:
        """At most d clique tables for half of ε, at the best size, or none but columns."""
        alone = self.distance(1.0, self.pair(2 * self.d * self.size / self.mass))
        noise = 2 * ALONE * self.d / self.mass
        return min(
            alone,
            *(
                self.distance(left, noise * self.typical ** (k + 1))
                for k, left in enumerate(self.prior.degrees, 1)
            ),
        )

    def pair(self, columns: np.ndarray) -> np.ndarray:
        """The noise of every pair of columns from the noise of each."""
        return columns[self.both[0]] + columns[self.both[1]]

    def distance(self, left: float, *noises: float | np.ndarray) -> float:
        """√((ρ q)² + Σ v²), each v below 1; the mean over pairs where v is an array of them."""
        square = (left * self.prior.dependence) ** 2 + sum((v / (1 + v)) ** 2 for v in noises)
        return float(np.mean(np.sqrt(square)))


def _numbers(most: int) -> list[int]:
    """1, 2, … ``most``; where these are too many, as many as WIDEST, each a little larger."""
    if most <= WIDEST:
        return list(range(1, most + 1))
    return np.unique(np.geomspace(1, most, WIDEST).round().astype(int)).tolist()


def explain(found: Sequence[Forecast], d: int = 2) -> str:
    """The best method in a sentence, with its margin over the next and over single columns.

    ``d``: columns of the schema; where they are many, a second sentence says what is compared.
    """
    return _explain_best(found) + (
        f" These distances are means over the pairs of {ALL_PAIRS} columns, which stand evenly "
        f"among all {d:,} when they are sorted by size."
        if d > ALL_PAIRS
        else ""
    )


def _explain_best(found: Sequence[Forecast]) -> str:
    best = found[0]
    alone = next(f for f in found if f.name == SINGLE)
    if best is alone:
        then = "; no other method is made for so many columns."
        if len(found) > 1:
            then = f"; the next, {found[1].name}, {found[1].distance:.3f}."
        return (
            f"Publish single columns: {best.name}, expected two-way distance {best.distance:.3f}"
            + then
        )
    nearer = 1 - best.distance / alone.distance
    than = (
        f"single columns {alone.distance:.3f} ({nearer:.0%} nearer)"
        if nearer
        else "as single columns, which is what it measures unless it finds strong ties"
    )
    return (
        f"Use {best.name}: expected two-way distance {best.distance:.3f}, {than}; about "
        f"{_seconds(best.seconds)} and {best.megabytes:,.0f} MiB."
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
