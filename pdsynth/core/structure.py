"""Which parent sets a child may have, and what every structure learner shares.

A rule for parent sets (:class:`MaxParents`, :class:`MaxCells`) knows domain, n and ε, never a
record; :func:`parent_rule` chooses it. :func:`list_candidates` lists the pairs that a rule and a
policy leave to one selection. :class:`Structure` is what learns a network, :class:`Fixed` one that
is given, :class:`Learner` the base of those that choose parent sets among such candidates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .curator import Curator
from .errors import BudgetError, SchemaError, is_one_of, is_whole, plural, positive, show
from .network import Candidates, Network, Permitted, Restriction, check_restriction, permit, subsets
from .records import MAX_CELLS
from .schema import Facts, Schema
from .unit import ONE_REPLACED
from .views import Merging

MAX_PAIRS = 1_000_000  # candidates of one selection
AUTO_PAIRS = 100_000  # candidates of one selection that k='auto' ever asks for
AUTO_CELLS = 2**20  # cells of the largest table that k='auto' ever asks for
SEARCH_CELLS = 2**12  # the same where parent sets are searched: more would take too long
SETS = 100_000  # sets of columns that are counted in one fit under k='auto'
READS = 6 * 10**10  # records × sets of one fit under k='auto': minutes of one core
LEAST = 50  # sets per column that are counted however large n is
ALL_PAIRS = 255  # columns of a method that compares all pairs of them
NOISE_DOMINATES = 1.0  # noise as large as the mean cell: a table tells most about the noise
USEFUL = 4.0  # θ of TODS 2017: a mean cell of at least four noise scales

Pair = tuple[int, tuple[int, ...]]
Shares = Mapping[str, Fraction]


# --- rules for parent sets -----------------------------------------------------------------------


@dataclass(frozen=True)
class MaxParents:
    """Exactly min(k, |V|) parents (TODS 2017; with |Π| ≤ k the thesis' Algorithm 2 can't work)."""

    k: int

    def parent_sets(
        self, placed: tuple[int, ...], child_size: int, sizes: Sequence[int]
    ) -> list[np.ndarray]:
        """Arrays (m, s) of parent sets among ``placed``."""
        return [kept_subsets(tuple(sorted(placed)), min(self.k, len(placed)))]

    def after_forcing(self, taken: int) -> MaxParents:
        """The same rule when some parents are forced."""
        return MaxParents(max(self.k - taken, 0))

    def label(self) -> str:
        """For plots and the ledger."""
        return f"k = {self.k}"


@dataclass(frozen=True)
class MaxCells:
    """Every maximal parent set with |X|·|Π| ≤ cells, where n ε₂ / (2 d cells) = θ (TODS 2017).

    ``most`` caps the number of parents; a set that has reached it is maximal, too.
    """

    cells: Fraction
    most: int = 7  # with the child, as many as one kept set of the lattice holds

    @classmethod
    def of(cls, n: int, d: int, epsilon2: Fraction, theta: Fraction) -> MaxCells:
        """The bound τ = n ε₂ / (2 d θ) from public facts."""
        return cls(n / (ONE_REPLACED.scale(epsilon2, tables=d) * theta))

    def parent_sets(
        self, placed: tuple[int, ...], child_size: int, sizes: Sequence[int]
    ) -> list[np.ndarray]:
        """Arrays (m, s), one per parent number, of the sets that no further attribute fits into."""
        bound = max(math.floor(self.cells / child_size), 1)
        by_cells = tuple(sorted(placed, key=lambda j: (sizes[j], j)))
        by_number: dict[int, list[tuple[int, ...]]] = {}
        for parents in _maximal(by_cells, tuple(sizes), bound, self.most):
            by_number.setdefault(len(parents), []).append(parents)
        return [
            np.array(rows, dtype=np.int64).reshape(len(rows), s)
            for s, rows in sorted(by_number.items())
        ]

    def after_forcing(self, taken: int) -> MaxCells:
        """The same rule when some parents are forced."""
        return replace(self, most=self.most - taken)

    def label(self) -> str:
        """For plots and the ledger."""
        words = f"tables of at most {math.floor(self.cells):,} cells"
        return words + f", {plural(self.most, 'parent')}" * (self.most < 7)


ParentRule = MaxParents | MaxCells


def useful_degree(n: int, d: int, epsilon2: float, theta: float) -> int:
    """Largest k with n ε₂ / ((d−k) 2^(k+2)) ≥ θ on binary attributes, 0 if none (TODS 2017, §4.4).

    Average cell mass 1/2^(k+1) against the noise scale 2(d−k)/(n ε₂): public numbers, so k is free.
    """
    fits = [k for k in range(1, d) if n * epsilon2 / ((d - k) * 2 ** (k + 2)) >= theta]
    return max(fits, default=0)


def parent_rule(k: Any, facts: Facts, theta: Fraction) -> ParentRule | None:
    """The rule for parent sets; None where no edge is worth its noise.

    ``k='auto'``: θ-usefulness on binary tables, maximal admissible parent sets on general domains
    (TODS 2017). No table gets more than ``SEARCH_CELLS`` cells and no selection more than
    ``AUTO_PAIRS`` candidates: where the admissible sets are too many to count, parents are fewer.
    """
    if not isinstance(k, str):
        return MaxParents(int(k)) if k > 0 else None
    sizes, d = sorted(facts.schema.sizes), len(facts.schema)
    if sizes[-1] == 2:
        useful = useful_degree(facts.n, d, float(facts.epsilon2), float(theta))
        while useful > 1 and largest_selection(d, useful) > AUTO_PAIRS:
            useful -= 1
        return MaxParents(useful) if useful else None
    cells = min(MaxCells.of(facts.n, d, facts.epsilon2, theta).cells, Fraction(SEARCH_CELLS))
    if sizes[0] * sizes[1] > cells:
        return None
    most = max(min(SETS, READS // facts.n), LEAST * d)
    sets = count_sets(tuple(sizes), math.floor(cells), MaxCells.most + 1)
    fits = [m for m in range(1, MaxCells.most + 1) if sum(sets[2 : m + 2]) <= most]
    return MaxCells(cells, max(fits, default=1))


def largest_selection(d: int, k: int) -> int:
    """Candidates of the largest of d−1 selections of a child together with k parents."""
    return max((d - placed) * math.comb(placed, k) for placed in range(1, d))


def check_parents(k: Any, d: int) -> None:
    """Refuse a largest number of parents that isn't 'auto' or a whole number in 0 … d−1."""
    if isinstance(k, str) and k == "auto":
        return
    if not is_whole(k, 0):
        raise BudgetError(f"k must be 'auto' or a whole number from 0 to {d - 1}, got {show(k)}")
    if k >= d:
        raise BudgetError(
            f"k = {show(k)}, but with d = {d} attributes a node has at most "
            f"{plural(d - 1, 'parent')}: choose k < {d}"
        )


def check_degree(k: Any, schema: Schema) -> None:
    """:func:`check_parents`; refuse tables beyond memory and choices among too many parent sets."""
    d = len(schema)
    check_parents(k, d)
    check_cells(k, schema)
    pairs = 0 if isinstance(k, str) else largest_selection(d, int(k))
    if pairs > MAX_PAIRS:
        raise BudgetError(
            f"k = {k} with d = {d} attributes means choosing among {pairs:,} attribute–parent "
            f"pairs in one step; at most {MAX_PAIRS:,}: lower k, or use k='auto'"
        )


def check_cells(k: Any, schema: Schema) -> None:
    """Refuse tables beyond memory."""
    if isinstance(k, str):
        return
    cells = math.prod(sorted(schema.sizes)[-(int(k) + 1) :])
    if cells > MAX_CELLS:
        raise BudgetError(
            f"k = {k} can need a table of {cells:,} cells ({cells * 8 / 2**30:,.1f} GiB); "
            f"at most {MAX_CELLS:,}: lower k, or use k='auto'"
        )


def check_width(columns: int, method: str, kind: str = "attributes") -> None:
    """Refuse more columns than a method that compares all pairs of them is made for."""
    if columns > ALL_PAIRS:
        raise BudgetError(
            f"{columns:,} {kind}, but {method} compares all pairs of them, at most {ALL_PAIRS}: "
            "leave columns out that need no ties, declare the ties as a Network, or use "
            "baselines.Independent"
        )


def check_tables(network: Network, schema: Schema) -> None:
    """Refuse a network drawn by policy when a table of it can't fit in memory, with its size."""
    for child, parents in network.pairs:
        cells = schema.cells((child, *parents))
        if cells > MAX_CELLS:
            raise BudgetError(
                f"the table of {child!r} and its {plural(len(parents), 'parent')} has "
                f"{cells:,} cells ({cells * 8 / 2**30:,.1f} GiB); at most "
                f"{MAX_CELLS:,} fit: give {child!r} fewer parents, or coarser bins"
            )


@lru_cache(maxsize=256)
def count_sets(sizes: Sequence[int], cells: int, members: int) -> tuple[int, ...]:
    """Sets of 0, 1, … ``members`` of some columns whose joint table has at most ``cells`` cells.

    >>> count_sets((2, 2, 3), 6, 3)
    (1, 3, 3, 0)
    """
    ways = Counter({(1, 0): 1})  # how many sets have so many cells and members
    for size in sizes:
        for (product, count), number in [*ways.items()]:
            if product * size <= cells and count < members:
                ways[product * size, count + 1] += number
    return tuple(
        sum(number for (_, count), number in ways.items() if count == m) for m in range(members + 1)
    )


kept_subsets = lru_cache(maxsize=4096)(subsets)  # children of one step have the same parent sets


@lru_cache(maxsize=4096)
def _maximal(
    placed: tuple[int, ...], sizes: tuple[int, ...], bound: int, most: int
) -> list[tuple[int, ...]]:
    """Maximal subsets of ``placed`` (rising in size): at most ``most`` members, ``bound`` cells."""
    sets: list[tuple[int, ...]] = []

    def grow(start: int, chosen: tuple[int, ...], cells: int, smallest_left_out: int) -> None:
        if len(chosen) == most:
            sets.append(chosen)
            return
        # sizes rise along `placed`: the first attribute left out is the cheapest that might fit
        if start == len(placed) or cells * sizes[placed[start]] > bound:
            least = min([smallest_left_out, *(sizes[j] for j in placed[start:])])
            if cells * least > bound:
                sets.append(chosen)
            return
        size = sizes[placed[start]]
        grow(start + 1, (*chosen, placed[start]), cells * size, smallest_left_out)
        if cells * min(smallest_left_out, size) <= bound:
            grow(start + 1, chosen, cells, min(smallest_left_out, size))

    grow(0, (), 1, bound + 1)
    return [tuple(sorted(s)) for s in sets]


# --- what tables of k parents are worth under noise -----------------------------------------------


def typical_cells(schema: Schema, k: int) -> float:
    """Cells of a table of k+1 attributes of typical size, the geometric mean of the sizes."""
    return math.exp(float(np.mean(np.log(schema.sizes)))) ** (k + 1)


def noise_to_cell(
    schema: Schema, n: int, epsilon: Fraction, k: int, share_structure: Fraction = Fraction(3, 10)
) -> float:
    """Noise scale of a typical table over its mean cell, both in records.

    d−k tables share (1−β)ε, or all of ε for k = 0.
    """
    rest = epsilon * (1 - share_structure) if k else epsilon
    scale = float(ONE_REPLACED.scale(rest, tables=len(schema) - k))
    return scale * typical_cells(schema, k) / n


def describe_facts(schema: Schema, n: int, epsilon: str) -> str:
    """Rows, columns and ε in words."""
    return f"{plural(n, 'row')} × {len(schema)} columns at ε = {epsilon}: "


def noise_dominates(schema: Schema, n: int, epsilon: Fraction, k: int) -> str | None:
    """A warning where a typical table of this degree is more noise than signal, else None."""
    ratio, cells = noise_to_cell(schema, n, epsilon, k), typical_cells(schema, k)
    if ratio <= NOISE_DOMINATES:
        return None
    return describe_facts(schema, n, f"{float(epsilon):.10g}") + (
        f"with k = {k} a typical table has {cells:,.0f} cells of {float(f'{n / cells:.2g}'):,.9g} "
        f"records, under noise of scale {float(f'{ratio * n / cells:.2g}'):,.9g} in every cell; "
        "k='auto' chooses what n and ε can bear (see pds.plan)"
    )


# --- the candidates of one selection -------------------------------------------------------------


def list_candidates(
    rule: ParentRule,
    placed: tuple[int, ...],
    children: Sequence[int],
    sizes: Sequence[int],
    permitted: Permitted,
    depends_on: str = "public",
) -> Candidates:
    """All pairs of some children with parents among ``placed``, as far as policy permits them.

    A child whose forced parents aren't all placed has no candidates yet.
    """
    parts = []
    for child in permitted.ready(children, placed):
        forced, free = permitted.parents(child, placed)
        cells = sizes[child] * math.prod(sizes[p] for p in forced)
        for rows in rule.after_forcing(len(forced)).parent_sets(free, cells, sizes):
            if forced:
                rows = np.hstack([np.tile(np.array(forced, dtype=np.int64), (len(rows), 1)), rows])
            parts.append((np.full(len(rows), child, dtype=np.int64), rows))
    return join_parts(parts, depends_on)


def join_pairs(pairs: Iterable[Pair]) -> Candidates:
    """Public candidates from single pairs."""
    alike: dict[int, list[Pair]] = {}
    for pair in pairs:
        alike.setdefault(len(pair[1]), []).append(pair)
    parts = (
        (
            np.array([child for child, _ in same]),
            np.array([parents for _, parents in same], dtype=np.int64).reshape(len(same), number),
        )
        for number, same in alike.items()
    )
    return join_parts(parts, "public")


def join_parts(parts: Iterable[tuple[np.ndarray, np.ndarray]], depends_on: str) -> Candidates:
    """Candidates from pieces (children (m,), parents (m, s)): one pair of arrays per parent number.

    Smaller sets come first, otherwise the order stays.
    """
    alike: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    for children, parents in parts:
        alike.setdefault(parents.shape[1], []).append((children, parents))
    by_size = [
        tuple(np.concatenate(column) for column in zip(*rows, strict=True))
        for _, rows in sorted(alike.items())
    ]
    return Candidates(tuple(by_size), depends_on)  # type: ignore[arg-type]


# --- what learns a network -----------------------------------------------------------------------


@dataclass(frozen=True)
class Measurement:
    """A noisy table: its attributes, child first, what was released, and the scale of its noise.

    ``scale`` in records: one number, or one per value of the child. ``entry``: the ledger's line.
    ``counts``: whether it holds counts, and not conditional probabilities. ``merging``: what its
    values are, where some stand as one.
    """

    attributes: tuple[str, ...]
    table: Any
    scale: Fraction | tuple[Fraction, ...]
    entry: str = ""
    counts: bool = True
    merging: Merging | None = None


def released_columns(curator: Curator) -> list[Measurement]:
    """The single columns that a run has released. **Privacy:** reads releases only."""
    names = curator.schema.names
    return [Measurement((names[j],), *answer) for j, answer in curator.released.items()]


@dataclass(frozen=True)
class StructureResult:
    """A network, and what a budget may use: weights of its nodes, the ledger entry they come from.

    ``derived``: how many first pairs lie inside the next pair's table, so that they aren't
    measured. ``known``: attributes whose loss policy fixed before the run; True: all. ``rule``: how
    many parents, in words. ``foreseen``: the answers that the budget rule got before the network
    was learnt. ``attributes``: what a fitted synthesizer shows besides, by name. ``measurements``:
    tables of a structure that measures. ``schema``: of the nodes, where they aren't those of the
    facts but their bits. ``spared``: ε that no choice needed, by what was released; tables get it.
    """

    network: Network
    weights: Mapping[str, float] = field(default_factory=dict)
    depends_on: str = "public"
    derived: int = 0
    known: bool | tuple[str, ...] = False
    rule: str = "independent"
    foreseen: Any = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    measurements: tuple[Measurement, ...] = ()
    schema: Schema | None = None
    spared: Fraction = Fraction(0)


def name_origin(found: StructureResult, curator: Curator) -> StructureResult:
    """A network that was drawn depends on its last draw, unless it says what it comes from.

    **Privacy:** reads the ledger's last id, and no records.
    """
    entries = curator.ledger.entries
    if found.depends_on != "public" or not entries:
        return found
    return replace(found, depends_on=entries[-1].id)


class Structure:
    """What every structure shares; a new one says at least how it learns."""

    measures: ClassVar[bool] = False  # its own tables, so that a budget rule has nothing to split
    counts_only: ClassVar[bool] = False  # whether all that it asks the records for is counts
    plans_in_rho: ClassVar[bool] = False  # whether it runs with delta=, too

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be learnt."""

    def asks(self, facts: Facts) -> Shares:
        """Steps that cost ε, and their parts of the structure's share; none: nothing is learnt."""
        return {}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network, and what was measured on the way.

        **Privacy:** what the structure says; it costs at most what was asked for.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Fixed(Structure):
    """A network drawn by policy or an expert: public, so it costs nothing. None: no edges."""

    network: Network | None = None

    counts_only: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse a network over other attributes, and tables that can't fit in memory."""
        if self.network is None:
            return
        if not isinstance(self.network, Network):
            raise BudgetError(f"a fixed structure is a Network, got {show(self.network)}")
        strange = sorted(set(self.network.order) ^ set(facts.schema.names))
        if strange:
            raise SchemaError(
                "the network and the schema must have the same attributes; "
                f"they differ in {show(strange)}"
            )
        check_tables(self.network, facts.schema)

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network as given; which table holds which attribute is known before the run.

        **Privacy:** reads nothing, costs nothing.
        """
        if self.network is None:
            alone = Network(tuple((name, ()) for name in facts.schema.names))
            return StructureResult(alone, known=True)
        return StructureResult(self.network, known=True, rule="by policy")


class Restricted(Structure):
    """What structures with the fields ``k``, ``theta_usefulness`` and ``restriction`` share.

    ``k``: number of parents, or ``"auto"``. ``theta_usefulness``: θ of TODS for ``"auto"``.
    ``restriction``: edges that the network must or may not have, by public policy.
    """

    k: int | str
    theta_usefulness: float
    restriction: Restriction | None

    def check(self, facts: Facts) -> None:
        """Refuse θ, and restrictions that don't fit the schema or its tables."""
        positive("theta_usefulness", self.theta_usefulness)
        permitted = check_restriction(self.restriction, self.k, facts.schema)
        check_tables(permitted.forced_network(facts.schema.names), facts.schema)

    def permitted(self, facts: Facts) -> Permitted:
        """The restriction over the columns of the schema."""
        return permit(self.restriction, facts.schema.names)

    def known(self, facts: Facts) -> tuple[str, ...]:
        """The attributes whose one table policy names."""
        return tuple(facts.schema.names[j] for j in self.permitted(facts).fixed_order[1:])

    def policy_alone(self, facts: Facts, rule: str = "independent") -> StructureResult:
        """The network of the forced edges, where nothing is learnt."""
        network = self.permitted(facts).forced_network(facts.schema.names)
        return StructureResult(network, known=self.known(facts), rule=rule)


@dataclass(frozen=True)
class Learner(Restricted):
    """What structures share that choose parent sets by a rule and a score.

    ``score``: ``"I"``, ``"R"``, or ``"auto"`` for R. The other fields as in :class:`Restricted`.
    """

    k: int | str = "auto"
    theta_usefulness: float = 4
    score: str = "auto"
    restriction: Restriction | None = None

    scores: ClassVar[tuple[str, ...]] = ("auto", "I", "R")
    grow: ClassVar[Any]  # the network where there is something to choose, within its shares

    def check(self, facts: Facts) -> None:
        """Refuse degrees, scores and restrictions that don't fit the schema."""
        check_degree(self.k, facts.schema)
        super().check(facts)
        if not is_one_of(self.score, self.scores):
            raise BudgetError(
                f"score must be one of {', '.join(map(repr, self.scores))}, got {show(self.score)}"
            )
        if isinstance(self.k, str):
            check_width(len(facts.schema), "k='auto'")

    def asks(self, facts: Facts) -> Shares:
        """The steps of :meth:`grow`, where there is an edge to choose that is worth its noise."""
        learns = self.rule(facts) is not None and self.permitted(facts).pairs
        return self.steps(facts) if learns else {}

    def steps(self, facts: Facts) -> Shares:
        """Parts of the structure's share, by step; they add up to 1."""
        return {"selections": Fraction(1)}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network.

        **Privacy:** what the subclass says; where nothing was asked for, reads nothing.
        """
        rule = self.rule(facts)
        if rule is None:
            return self.policy_alone(facts)
        if not self.permitted(facts).pairs:
            return self.policy_alone(facts, rule.label())
        if isinstance(rule, MaxParents) and len(facts.schema) <= 24:
            curator.prepare(rule.k + 1, self.measure)  # one pass over the records for all
        result = name_origin(self.grow(curator, shares, rule, facts), curator)
        return replace(result, known=self.known(facts), rule=rule.label())

    def rule(self, facts: Facts) -> ParentRule | None:
        """The rule for parent sets, None where no edge is worth its noise."""
        return parent_rule(self.k, facts, positive("theta_usefulness", self.theta_usefulness))

    @property
    def measure(self) -> str:
        """The score that is named, else R, whose sensitivity is the smallest."""
        return "R" if self.score == "auto" else self.score

    def derived(self, rule: ParentRule, facts: Facts) -> int:
        """With exactly min(k, i−1) parents the first k pairs lie in table k+1."""
        return rule.k if isinstance(rule, MaxParents) and self.restriction is None else 0
