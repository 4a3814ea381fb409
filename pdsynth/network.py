"""Bayesian networks: ordered attribute–parent pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .errors import SchemaError, is_one_of, is_whole, plural, show, to_items, to_list, to_names

HEAD = (
    "<defs><marker id='pd-head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
    "markerHeight='7' orient='auto'>"
    "<path d='M0 0L8 4L0 8z' fill='currentColor' fill-opacity='.5'/></marker></defs>"
)


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
        seen: set[str] = set()
        for child, parents in pairs:
            if child in seen:
                raise SchemaError(f"attribute {child!r} stands twice in the network")
            late = [p for p in parents if p not in seen]
            if late:
                raise SchemaError(
                    f"parent(s) {late} of {child!r} don't come before it: the pairs "
                    "must be in sampling order"
                )
            if len(set(parents)) != len(parents):
                raise SchemaError(f"a parent of {child!r} stands twice: {parents}")
            seen.add(child)

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

    def without_edge(self, parent: str, child: str) -> Network:
        """The network with one edge less; SchemaError if it isn't there."""
        parents = self.parents(child)
        if not is_one_of(parent, parents):
            raise SchemaError(
                f"{show(parent)} is no parent of {child!r}: its parents are {parents}"
            )
        fewer = tuple(p for p in parents if p != parent)
        return Network(tuple((c, fewer if c == child else ps) for c, ps in self.pairs))

    @classmethod
    def of_columns(
        cls, pairs: Iterable[tuple[int, tuple[int, ...]]], names: Sequence[str]
    ) -> Network:
        """A network from (child, parents) column numbers.

        >>> Network.of_columns([(1, ()), (0, (1,))], ["pay", "age"]).pairs
        (('age', ()), ('pay', ('age',)))
        """
        names, pairs = to_names("names", to_items("names", names)), list(to_items("pairs", pairs))
        last = len(names) - 1
        for pair in pairs:
            if len(to_list("a pair", pair)) != 2 or not all(
                is_whole(j, 0, last) for j in (pair[0], *to_list("parents", pair[1]))
            ):
                raise SchemaError(
                    "a pair is (child, parents), as numbers of columns from 0 to "
                    f"{last}, got {show(pair)}"
                )
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
        known = dict(self.pairs)
        if not is_one_of(name, known):
            raise SchemaError(
                f"no attribute {show(name)} in the network; it has {', '.join(known)}"
            )
        return known[name]

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
        """A drawing in layers, as SVG; filled boxes cover the edges that pass behind them."""
        rows: dict[int, list[str]] = {}
        for name, level in self.levels().items():
            rows.setdefault(level, []).append(name)
        widest = max(map(len, rows.values()), default=1)
        at = {
            name: (int(130 * (i + 0.5 + (widest - len(row)) / 2)), 30 + 64 * level)
            for level, row in rows.items()
            for i, name in enumerate(row)
        }
        lines = "".join(
            f"<line x1='{at[p][0]}' y1='{at[p][1] + 12}' x2='{at[c][0]}' y2='{at[c][1] - 14}' "
            "stroke='currentColor' stroke-opacity='.4' marker-end='url(#pd-head)'/>"
            for p, c in self.edges
        )
        boxes = "".join(
            f"<g><title>{escape(name)}</title><rect x='{x - 60}' y='{y - 12}' width='120' "
            f"height='24' rx='6' fill='#e3eef7' stroke='#0072b2'/><text x='{x}' y='{y + 4}' "
            f"text-anchor='middle' font-size='12' fill='#1a1a1a'>{escape(shorten(name))}</text></g>"
            for name, (x, y) in at.items()
        )
        title = (
            f"Bayesian network with {plural(len(self), 'attribute')} and "
            f"{plural(len(self.edges), 'edge')}"
        )
        width, height = 130 * widest, 64 * len(rows)
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-label='{title}' "
            f"width='{width}' height='{height}' viewBox='0 0 {width} {height}' "
            "style='max-width:100%;height:auto'>"
            f"<title>{title}</title>{HEAD}{lines}{boxes}</svg>"
        )


def shorten(name: str, most: int = 17) -> str:
    """A name of at most so many characters; what is cut leaves a sign."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _pair(pair: Any) -> tuple[str, tuple[str, ...]]:
    """A child and its parents as given by a user."""
    given = to_list("a pair (child, parents)", pair)
    if len(given) != 2 or not isinstance(given[0], str):
        raise SchemaError(
            "a pair is (child, parents): the name of an attribute and a tuple of "
            f"names, got {show(pair)}"
        )
    return given[0], to_names(f"parents of {given[0]!r}", to_list("parents", given[1]))


def check_edge(edge: Any) -> tuple[str, str]:
    """An edge (parent, child) between two attributes, as given by a user."""
    pair = tuple(edge) if isinstance(edge, (list, tuple)) else ()
    if len(pair) != 2 or not all(isinstance(a, str) for a in pair) or pair[0] == pair[1]:
        raise SchemaError(f"an edge is a pair (parent, child) of two attributes, got {show(edge)}")
    return pair[0], pair[1]
