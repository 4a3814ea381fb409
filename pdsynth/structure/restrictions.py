"""Which edges a network may have, by public policy: custom networks (Hittmeir et al. 2022, section IV), forced and forbidden edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..domain.schema import Schema
from ..errors import BudgetError, SchemaError
from ..network import Network

Edge = tuple[str, str]


@dataclass(frozen=True)
class Restriction:
    """What every structure learner must respect; public, so it costs nothing.

    ``target`` is the root. Each attribute of ``sensitive`` (one name or several) has the target as its only parent and is
    nobody's parent (Hittmeir et al. 2022, Fig. 2; two or more are their future work: the same rule for each). ``forced`` and
    ``forbidden`` are (parent, child) edges. A contradiction raises SchemaError.

    >>> Restriction("income", "relationship").sensitive
    ('relationship',)
    """

    target: str | None = None
    sensitive: str | tuple[str, ...] = ()
    forced: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        named = _names(self.sensitive)
        if self.target is not None and not isinstance(self.target, str):
            raise SchemaError(f"target must be the name of one attribute, or None, got {self.target!r}")
        object.__setattr__(self, "sensitive", named)
        for field in ("forced", "forbidden"):
            object.__setattr__(self, field, tuple(map(_edge, getattr(self, field))))
        if len(set(named)) != len(named):
            raise SchemaError(f"a sensitive attribute stands twice: {named}")
        if named and self.target is None:
            raise SchemaError(f"the sensitive attribute(s) {named} may have the target as their only parent: name it (target=…)")
        if self.target in named:
            raise SchemaError(f"{self.target!r} can't be both the target and a sensitive attribute")
        both = sorted(set(self.forced) & set(self.forbidden))
        if both:
            raise SchemaError(f"edge(s) both forced and forbidden: {both}")
        for parent, child in self.forced:
            if child == self.target:
                raise SchemaError(f"{parent!r} is forced to be a parent of {child!r}, but the target is the root")
            if parent in named or (child in named and parent != self.target):
                raise SchemaError(f"the edge {parent!r} → {child!r} is forced, but a sensitive attribute has only the target as parent "
                                  "and is nobody's parent")  # fmt: skip
        cut = [z for z in named if (self.target, z) in self.forbidden]
        if cut:
            raise SchemaError(f"the edge {self.target!r} → {cut[0]!r} is forbidden, but the target is the only parent it may have")
        Network.from_edges(dict.fromkeys(name for edge in self.forced for name in edge), dict.fromkeys(self.forced))  # refuses a cycle

    def on(self, names: Sequence[str]) -> Permitted:
        """The same policy over the columns of a schema; an attribute that isn't there raises SchemaError."""
        used = [
            *([self.target] if self.target is not None else []),
            *self.sensitive,
            *(a for e in (*self.forced, *self.forbidden) for a in e),
        ]
        missing = [name for name in dict.fromkeys(used) if name not in names]
        if missing:
            raise SchemaError(f"no attribute {missing[0]!r} in the schema; it has {', '.join(names)}")
        column, d = {name: j for j, name in enumerate(names)}, len(names)
        allowed, forced = ~np.eye(d, dtype=bool), np.zeros((d, d), dtype=bool)
        for parent, child in self.forbidden:
            allowed[column[child], column[parent]] = False
        for parent, child in self.forced:
            forced[column[child], column[parent]] = True
        first = tuple(column[name] for name in (self.target, *self.sensitive) if name is not None)
        for z in first[1:]:
            allowed[:, z] = False
            allowed[z] = forced[z] = False
            allowed[z, first[0]] = forced[z, first[0]] = True
        if first:
            allowed[first[0]] = False
        return Permitted(allowed, forced, first)


@dataclass(frozen=True)
class Permitted:
    """A restriction over column numbers: ``allowed`` and ``forced`` are bool (d, d), [child, parent]; ``fixed_order`` opens every order."""

    allowed: np.ndarray
    forced: np.ndarray
    fixed_order: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.allowed)

    @cached_property
    def searchable(self) -> tuple[int, ...]:
        """The columns whose parents are searched; those of ``fixed_order`` are settled."""
        return tuple(j for j in range(len(self)) if j not in self.fixed_order)

    @cached_property
    def fixed_pairs(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The pairs (child, parents) that policy alone decides: the target, then every sensitive attribute."""
        return tuple((j, () if j == self.fixed_order[0] else self.fixed_order[:1]) for j in self.fixed_order)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Unordered pairs whose association a search may use: neither settled by policy nor forbidden both ways."""
        usable = self.allowed & ~self.forced & ~self.forced.T
        usable[list(self.fixed_order)] = False
        return tuple((i, j) for i, j in zip(*map(np.ndarray.tolist, np.nonzero(np.triu(usable | usable.T))), strict=True))

    def forced_network(self, names: Sequence[str]) -> Network:
        """The network of the forced edges alone."""
        pairs = zip(*map(np.ndarray.tolist, np.nonzero(self.forced)), strict=True)
        order = [names[j] for j in (*self.fixed_order, *self.searchable)]
        return Network.from_edges(order, [(names[p], names[c]) for c, p in pairs])

    def check(self, k: int) -> None:
        """Refuse more forced parents than a node may have."""
        most = int(self.forced.sum(axis=1).max(initial=0))
        if most > k:
            raise BudgetError(f"k = {k}, but the restriction forces {most} parent(s) on one attribute: choose k of at least {most}")

    def parents(self, child: int, placed: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Forced and free parents of a child among the columns that stand before it."""
        placed = tuple(placed)
        forced = tuple(p for p in placed if self.forced[child, p])
        return forced, tuple(p for p in placed if self.allowed[child, p] and not self.forced[child, p])

    def ready(self, children: Iterable[int], placed: Iterable[int]) -> list[int]:
        """The children whose forced parents all stand already."""
        out = np.ones(len(self), dtype=bool)
        out[list(placed)] = False
        return [c for c in children if not (self.forced[c] & out).any()]

    def reorder(self, order: Sequence[int]) -> list[int]:
        """The order nearest to the given one: ``fixed_order`` opens it, no attribute stands before its forced parents."""
        left, placed = [j for j in order if j not in self.fixed_order], list(self.fixed_order)
        while left:
            following = self.ready(left, placed)[0]
            left.remove(following)
            placed.append(following)
        return placed

    def objective(self, weights: np.ndarray) -> np.ndarray:
        """Weights (d, d), [child, parent], that make every optimum respect the policy: 0 where forbidden, a bonus where forced."""
        w = np.where(self.allowed, np.maximum(weights, 0.0), 0.0)
        return w + self.forced * (1.0 + w.sum())


def check_restriction(restriction: Restriction | None, k: int | str, schema: Schema) -> Permitted:
    """A restriction over the columns of a schema; what isn't one, names a stranger, or needs more than k parents is refused."""
    if restriction is not None and not isinstance(restriction, Restriction):
        raise BudgetError(f"restriction must be a Restriction, got {type(restriction).__name__}")
    permitted = (restriction or Restriction()).on(schema.names)
    if not isinstance(k, str):
        permitted.check(k)
    return permitted


def _names(sensitive: str | Iterable[str] | None) -> tuple[str, ...]:
    listed = () if sensitive is None else [sensitive] if isinstance(sensitive, str) or not isinstance(sensitive, Iterable) else sensitive
    named = tuple(listed)
    if not all(isinstance(name, str) for name in named):
        raise SchemaError(f"sensitive must be the name of an attribute, or a list of names, got {sensitive!r}")
    return named


def _edge(edge: Sequence[str]) -> Edge:
    if isinstance(edge, str) or len(edge) != 2 or edge[0] == edge[1]:
        raise SchemaError(f"an edge is a pair (parent, child) of two attributes, got {edge!r}")
    return str(edge[0]), str(edge[1])
