"""Networks over named attributes, and which edges one may have by public policy.

:class:`Network` holds attribute–parent pairs in sampling order. :class:`Restriction` is a policy
(Hittmeir et al. 2022, section IV), :class:`Permitted` the same over the columns of a schema.
:class:`Candidates` are the pairs that a structure may choose from. Nothing here knows a record.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from .errors import (
    BudgetError,
    SchemaError,
    check_known,
    door,
    is_one_of,
    plural,
    show,
    to_items,
    to_list,
    to_names,
)
from .measures import Score
from .schema import Schema

Edge = tuple[str, str]


@dataclass(frozen=True)
class Network:
    """Attribute–parent pairs ``(child, parents)`` in sampling order: parents before children.

    >>> Network((("age", ()), ("pay", ("age",)))).degree
    1
    """

    pairs: tuple[tuple[str, tuple[str, ...]], ...]

    def __post_init__(self) -> None:
        pairs = tuple(_pair(pair) for pair in to_items("pairs", self.pairs))
        object.__setattr__(self, "pairs", pairs)
        names: set[str] = set()
        for child, parents in pairs:
            if child in names:
                raise SchemaError(f"attribute {child!r} stands twice in the network")
            late = [p for p in parents if p not in names]
            if late:
                raise SchemaError(
                    f"parent(s) {late} of {child!r} don't come before it: the pairs "
                    "must be in sampling order"
                )
            if len(set(parents)) != len(parents):
                raise SchemaError(f"a parent of {child!r} stands twice: {parents}")
            names.add(child)

    @classmethod
    def from_edges(cls, names: Iterable[str], edges: Iterable[tuple[str, str]]) -> Network:
        """A network from (parent, child) edges in any order; a cycle raises SchemaError."""
        waiting = list(to_names("names", to_items("names", names)))
        edges = [check_edge(edge) for edge in to_items("edges", edges)]
        strange = sorted({name for edge in edges for name in edge} - set(waiting))
        if strange:
            raise SchemaError(f"edge(s) to unknown attributes: {strange}")
        parents = {name: tuple(p for p, c in edges if c == name) for name in waiting}
        order: list[str] = []
        while waiting:
            ready = next((name for name in waiting if set(parents[name]) <= set(order)), None)
            if ready is None:
                raise SchemaError(f"the edges form a cycle among {waiting}")
            waiting.remove(ready)
            order.append(ready)
        return cls(tuple((name, parents[name]) for name in order))

    def with_edge(self, parent: str, child: str) -> Network:
        """The network with one more edge, reordered where needed; a cycle raises SchemaError.

        >>> print(Network((("a", ()), ("b", ()))).with_edge("b", "a"))
        b ← ∅
        a ← b
        """
        if is_one_of(parent, self.parents(child)):
            raise SchemaError(f"{parent!r} is a parent of {child!r} already")
        return Network.from_edges(self.order, [*self.edges, (parent, child)])

    @classmethod
    def of_columns(
        cls, pairs: Iterable[tuple[int, tuple[int, ...]]], names: Sequence[str]
    ) -> Network:
        """A network from (child, parents) column numbers.

        >>> Network.of_columns([(1, ()), (0, (1,))], ["pay", "age"]).pairs
        (('age', ()), ('pay', ('age',)))
        """
        return cls(tuple((names[c], tuple(names[p] for p in parents)) for c, parents in pairs))

    @property
    def order(self) -> tuple[str, ...]:
        """Attributes in sampling order."""
        return tuple(child for child, _ in self.pairs)

    @property
    def degree(self) -> int:
        """Largest number of parents."""
        return max((len(parents) for _, parents in self.pairs), default=0)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(parent, child) pairs."""
        return tuple((p, child) for child, parents in self.pairs for p in parents)

    def parents(self, name: str) -> tuple[str, ...]:
        """Parents of an attribute."""
        check_known([name], self.order, "the network")
        return dict(self.pairs)[name]

    def __len__(self) -> int:
        return len(self.pairs)

    def levels(self) -> dict[str, int]:
        """Depth of every attribute: roots are 0, a child lies one below its deepest parent."""
        depth: dict[str, int] = {}
        for child, parents in self.pairs:
            depth[child] = 1 + max((depth[p] for p in parents), default=-1)
        return depth

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain data for JSON."""
        return [{"child": child, "parents": list(parents)} for child, parents in self.pairs]

    @classmethod
    def from_dict(cls, data: Iterable[Mapping[str, Any]]) -> Network:
        """The inverse of :meth:`to_dict`."""
        try:
            return cls(tuple((pair["child"], tuple(pair["parents"])) for pair in data))
        except (LookupError, TypeError) as problem:
            raise SchemaError(f"not a network document: {problem!r}") from problem

    def __str__(self) -> str:
        return "\n".join(f"{c} ← {', '.join(parents) or '∅'}" for c, parents in self.pairs)

    def _repr_html_(self) -> str:
        return str(door("files").show_network(self))


def _pair(pair: Any) -> tuple[str, tuple[str, ...]]:
    """A child and its parents as given by a user."""
    items = to_list("a pair (child, parents)", pair)
    if len(items) != 2 or not isinstance(items[0], str):
        raise SchemaError(
            "a pair is (child, parents): the name of an attribute and a tuple of "
            f"names, got {show(pair)}"
        )
    return items[0], to_names(f"parents of {items[0]!r}", to_list("parents", items[1]))


def check_edge(edge: Any) -> tuple[str, str]:
    """An edge (parent, child) between two attributes, as given by a user."""
    pair = tuple(edge) if isinstance(edge, (list, tuple)) else ()
    if len(pair) != 2 or not all(isinstance(a, str) for a in pair) or pair[0] == pair[1]:
        raise SchemaError(f"an edge is a pair (parent, child) of two attributes, got {show(edge)}")
    return pair[0], pair[1]


@dataclass(frozen=True)
class Restriction:
    """What every structure learner must respect; public, so it costs nothing.

    ``target`` is the root. Each ``sensitive`` attribute, one name or several, has the target as its
    only parent and is nobody's parent (Hittmeir et al. 2022, Fig. 2, for one attribute). ``forced``
    and ``forbidden`` are (parent, child) edges. A contradiction raises SchemaError.

    It protects the attribute that it names, not what this means: another attribute of the same
    record that goes with it tells it, too. Name both, and read the loss of both together off
    ``ledger_.attribute_epsilon([…])``.

    >>> Restriction("income", "occupation").sensitive
    ('occupation',)
    """

    target: str | None = None
    sensitive: str | tuple[str, ...] = ()
    forced: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        target, hidden = self.target, to_names("sensitive", self.sensitive)
        forced, forbidden = (
            tuple(map(check_edge, to_list(name, getattr(self, name))))
            for name in ("forced", "forbidden")
        )
        both = sorted({*forced} & {*forbidden})

        def refuse(wrong: object, message: str) -> None:
            if wrong:
                raise SchemaError(message)

        refuse(
            target is not None and not isinstance(target, str),
            f"target must be the name of one attribute, or None, got {show(target)}",
        )
        refuse(len({*hidden}) != len(hidden), f"a sensitive attribute stands twice: {hidden}")
        refuse(
            hidden and target is None,
            f"the sensitive attribute(s) {hidden} may have the target "
            "as their only parent: name it (target=…)",
        )
        refuse(
            target in hidden, f"{show(target)} can't be both the target and a sensitive attribute"
        )
        refuse(both, f"edge(s) both forced and forbidden: {both}")
        for p, c in forced:
            refuse(
                c == target, f"{p!r} is forced to be a parent of {c!r}, but the target is the root"
            )
            refuse(
                p in hidden or (c in hidden and p != target),
                f"the edge {p!r} → {c!r} is forced, but a sensitive attribute has only the "
                "target as parent and is nobody's parent",
            )
        for p, c in forbidden:
            refuse(
                p == target and c in hidden,
                f"the edge {p!r} → {c!r} is forbidden, but the "
                "target is the only parent it may have",
            )
        ends = dict.fromkeys(a for e in forced for a in e)
        Network.from_edges(list(ends), list(dict.fromkeys(forced)))
        for field, value in (("sensitive", hidden), ("forced", forced), ("forbidden", forbidden)):
            object.__setattr__(self, field, value)

    def on(self, names: Sequence[str]) -> Permitted:
        """The same policy over the columns of a schema; a strange attribute raises SchemaError."""
        first_names = [name for name in (self.target, *self.sensitive) if name is not None]
        edges = *self.forced, *self.forbidden
        check_known([*first_names, *itertools.chain(*edges)], names, "the schema")
        allowed, column = ~np.eye(len(names), dtype=bool), names.index
        forced = np.zeros_like(allowed)
        first = [*map(column, first_names)]
        for parent, child in self.forced:
            forced[column(child), column(parent)] = True
        for parent, child in self.forbidden:
            allowed[column(child), column(parent)] = False
        target, hidden = first[:1], first[1:]
        allowed[:, hidden] = allowed[first] = forced[hidden] = False
        allowed[hidden, target] = forced[hidden, target] = True
        return Permitted(allowed, forced, tuple(first))


@dataclass(frozen=True)
class Permitted:
    """A restriction over columns: ``allowed`` and ``forced`` are bool (d, d), [child, parent].

    ``fixed_order``: target and sensitive attributes, which open every order.
    """

    allowed: np.ndarray
    forced: np.ndarray
    fixed_order: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.allowed)

    @cached_property
    def searchable(self) -> tuple[int, ...]:
        """The columns whose parents are searched: all but ``fixed_order``."""
        return tuple(j for j in range(len(self)) if j not in self.fixed_order)

    @cached_property
    def fixed_pairs(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The pairs (child, parents) that policy alone decides: those of ``fixed_order``."""
        target = self.fixed_order[:1]
        return tuple((j, target if i else ()) for i, j in enumerate(self.fixed_order))

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Unordered pairs that policy neither decides nor forbids both ways."""
        usable = self.allowed & ~self.forced & ~self.forced.T
        usable[list(self.fixed_order)] = False
        return tuple((i, j) for i, j in np.argwhere(np.triu(usable | usable.T)).tolist())

    def forced_network(self, names: Sequence[str]) -> Network:
        """The network of the forced edges alone."""
        order = [names[j] for j in (*self.fixed_order, *self.searchable)]
        edges = [(names[p], names[c]) for c, p in np.argwhere(self.forced)]
        return Network.from_edges(order, edges)

    def check(self, k: int) -> None:
        """Refuse more forced parents than a node may have."""
        most = int(self.forced.sum(axis=1).max(initial=0))
        if most > k:
            raise BudgetError(
                f"k = {k}, but the restriction forces {plural(most, 'parent')} on "
                f"one attribute: choose k of at least {most}"
            )

    @cached_property
    def is_open(self) -> bool:
        """Whether policy says nothing: every attribute may be every other's parent."""
        return bool((self.allowed | np.eye(len(self), dtype=bool)).all()) and not self.forced.any()

    def parents(self, child: int, placed: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Forced and free parents of a child among the columns that stand before it."""
        if self.is_open:
            return (), tuple(placed)
        columns = np.fromiter(placed, dtype=np.int64)
        parents = columns[self.allowed[child, columns]]
        forced = self.forced[child, parents]
        return tuple(parents[forced].tolist()), tuple(parents[~forced].tolist())

    def ready(self, children: Iterable[int], placed: Iterable[int]) -> list[int]:
        """The children whose forced parents all stand already."""
        if self.is_open:
            return list(children)
        stands = np.zeros(len(self), dtype=bool)
        stands[list(placed)] = True
        columns = np.fromiter(children, dtype=np.int64)
        return columns[~(self.forced[columns] & ~stands).any(axis=1)].tolist()

    def reorder(self, order: Sequence[int]) -> list[int]:
        """The order with ``fixed_order`` first and forced parents before their children."""
        placed = list(self.fixed_order)
        rest = [j for j in order if j not in placed]
        while rest:
            placed.append(self.ready(rest, placed)[0])
            rest.remove(placed[-1])
        return placed

    def objective(self, weights: np.ndarray) -> np.ndarray:
        """Weights (d, d), [child, parent], 0 where forbidden, with a bonus where forced."""
        w = np.where(self.allowed, np.maximum(weights, 0.0), 0.0)
        return w + self.forced * (1.0 + w.sum())


@lru_cache(maxsize=256)  # a fit asks often
def permit(restriction: Restriction | None, names: tuple[str, ...]) -> Permitted:
    """A restriction, or none, over the columns of a schema."""
    return (restriction or Restriction()).on(names)


def check_restriction(restriction: Restriction | None, k: int | str, schema: Schema) -> Permitted:
    """A restriction over the columns of a schema, refused if it needs more than k parents."""
    if restriction is not None and not isinstance(restriction, Restriction):
        raise BudgetError(f"restriction must be a Restriction, got {type(restriction).__name__}")
    permitted = permit(restriction, schema.names)
    if not isinstance(k, str):
        permitted.check(k)
    return permitted


def subsets(members: Sequence[int], size: int) -> np.ndarray:
    """All subsets of ``size`` members in lexicographic order: int64 (m, size)."""
    flat = itertools.chain.from_iterable(itertools.combinations(sorted(members), size))
    many = math.comb(len(members), size)
    return np.fromiter(flat, dtype=np.int64, count=many * size).reshape(many, size)


@dataclass(frozen=True)
class Candidates:
    """Attribute–parent pairs to choose from, by their number of parents.

    ``by_size``: for each number s of parents the columns of children (m,) and of their parents (m,
    s). ``depends_on``: ``"public"``, or the ledger entry that the candidates are computed from.
    """

    by_size: tuple[tuple[np.ndarray, np.ndarray], ...]
    depends_on: str = "public"

    def __len__(self) -> int:
        return sum(len(children) for children, _ in self.by_size)

    def __getitem__(self, index: int) -> tuple[int, tuple[int, ...]]:
        for children, parents in self.by_size:
            if index < len(children):
                return int(children[index]), tuple(int(p) for p in parents[index])
            index -= len(children)
        raise IndexError(index)

    def columns(self, d: int) -> list[int]:
        """The columns, of ``d``, that occur in any pair, rising."""
        counts = sum(np.bincount(c.ravel(), minlength=d) for pair in self.by_size for c in pair)
        return np.flatnonzero(counts).tolist()

    def single(self) -> Candidates:
        """The pairs (child, one parent) that a pairwise score adds up."""
        alone = ((np.repeat(c, p.shape[1]), p.reshape(-1, 1)) for c, p in self.by_size)
        return Candidates(tuple(alone), self.depends_on)

    def add_up(self, found: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of the pairs from those of :meth:`single`, in their order: (len(self),)."""
        scored = zip(found, self.by_size, strict=True)
        return np.concatenate([f.reshape(parents.shape).sum(axis=1) for f, (_, parents) in scored])

    def sensitivity(
        self, measure: Score, n: int, sizes: Sequence[int]
    ) -> tuple[int, tuple[int, int]]:
        """The largest sensitivity of the scores of ``n`` records, and domain sizes that attain it.

        Only whether child and parents have 1, 2 or more declared values matters.
        """
        size, worst = np.array(sizes), (0, (1, 1))
        for children, parents in self.by_size:
            x = np.minimum(size[children], 3)
            pi = np.minimum(size[parents].astype(float).prod(axis=1), 3).astype(np.int64)
            for kind in np.flatnonzero(np.bincount(4 * x + pi)).tolist():
                domain = divmod(kind, 4)
                worst = max(worst, (measure.sensitivity(n, *domain), domain))
            if measure.name == "F" and (x != 2).any():
                raise BudgetError(
                    "score 'F' needs children with two values: use score='R', or a binary table"
                )
        return worst
