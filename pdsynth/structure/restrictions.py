"""Which edges a network may have, by public policy (Hittmeir et al. 2022, section IV)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..domain.schema import Schema
from ..errors import BudgetError, SchemaError, plural, show, to_list, to_names
from ..network import Network, check_edge

Edge = tuple[str, str]


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
        problems = [
            (
                target is not None and not isinstance(target, str),
                f"target must be the name of one attribute, or None, got {show(target)}",
            ),
            (len({*hidden}) != len(hidden), f"a sensitive attribute stands twice: {hidden}"),
            (
                hidden and target is None,
                f"the sensitive attribute(s) {hidden} may have the target "
                "as their only parent: name it (target=…)",
            ),
            (
                target in hidden,
                f"{show(target)} can't be both the target and a sensitive attribute",
            ),
            (both, f"edge(s) both forced and forbidden: {both}"),
        ]
        for p, c in forced:
            problems += [
                (
                    c == target,
                    f"{p!r} is forced to be a parent of {c!r}, but the target is the root",
                ),
                (
                    p in hidden or (c in hidden and p != target),
                    f"the edge {p!r} → {c!r} is forced, but a sensitive attribute has only the "
                    "target as parent and is nobody's parent",
                ),
            ]
        problems += [
            (
                p == target and c in hidden,
                f"the edge {p!r} → {c!r} is forbidden, but the "
                "target is the only parent it may have",
            )
            for p, c in forbidden
        ]
        for wrong, message in problems:
            if wrong:
                raise SchemaError(message)
        ends = dict.fromkeys(a for e in forced for a in e)
        Network.from_edges(list(ends), list(dict.fromkeys(forced)))
        for field, value in (("sensitive", hidden), ("forced", forced), ("forbidden", forbidden)):
            object.__setattr__(self, field, value)

    def on(self, names: Sequence[str]) -> Permitted:
        """The same policy over the columns of a schema; a strange attribute raises SchemaError."""

        def column(name: str) -> int:
            if name not in names:
                raise SchemaError(f"no attribute {name!r} in the schema; it has {', '.join(names)}")
            return names.index(name)

        allowed = ~np.eye(len(names), dtype=bool)
        forced = np.zeros_like(allowed)
        first = [column(name) for name in (self.target, *self.sensitive) if name is not None]
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
        known = columns[self.allowed[child, columns]]
        asked = self.forced[child, known]
        return tuple(known[asked].tolist()), tuple(known[~asked].tolist())

    def ready(self, children: Iterable[int], placed: Iterable[int]) -> list[int]:
        """The children whose forced parents all stand already."""
        if self.is_open:
            return list(children)
        stands = np.zeros(len(self), dtype=bool)
        stands[list(placed)] = True
        columns = np.fromiter(children, dtype=np.int64)
        return columns[~(self.forced[columns] & ~stands).any(axis=1)].tolist()

    def reorder(self, order: Sequence[int]) -> list[int]:
        """The nearest order with ``fixed_order`` first and forced parents before children."""
        placed = list(self.fixed_order)
        left = [j for j in order if j not in placed]
        while left:
            placed.append(self.ready(left, placed)[0])
            left.remove(placed[-1])
        return placed

    def objective(self, weights: np.ndarray) -> np.ndarray:
        """Weights (d, d), [child, parent], 0 where forbidden, with a bonus where forced."""
        w = np.where(self.allowed, np.maximum(weights, 0.0), 0.0)
        return w + self.forced * (1.0 + w.sum())


def check_restriction(restriction: Restriction | None, k: int | str, schema: Schema) -> Permitted:
    """A restriction over the columns of a schema, refused if it needs more than k parents."""
    if restriction is not None and not isinstance(restriction, Restriction):
        raise BudgetError(f"restriction must be a Restriction, got {type(restriction).__name__}")
    permitted = (restriction or Restriction()).on(schema.names)
    if not isinstance(k, str):
        permitted.check(k)
    return permitted
