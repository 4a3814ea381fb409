"""Bayesian networks: ordered attribute–parent pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .errors import SchemaError


@dataclass(frozen=True)
class Network:
    """Attribute–parent pairs ``(child, parents)`` in sampling order: every parent comes before its child.

    >>> Network((("age", ()), ("pay", ("age",)))).degree
    1
    """

    pairs: tuple[tuple[str, tuple[str, ...]], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple((str(c), tuple(map(str, p))) for c, p in self.pairs))
        seen: set[str] = set()
        for child, parents in self.pairs:
            if child in seen:
                raise SchemaError(f"attribute {child!r} stands twice in the network")
            late = [p for p in parents if p not in seen]
            if late:
                raise SchemaError(f"parent(s) {late} of {child!r} don't come before it: the pairs must be in sampling order")
            if len(set(parents)) != len(parents):
                raise SchemaError(f"a parent of {child!r} stands twice: {parents}")
            seen.add(child)

    @classmethod
    def from_edges(cls, names: Iterable[str], edges: Iterable[tuple[str, str]]) -> Network:
        """A network from (parent, child) edges in any order; a cycle raises SchemaError."""
        names, edges = list(names), list(edges)
        parents = {name: [p for p, c in edges if c == name] for name in names}
        strange = sorted({x for e in edges for x in e} - set(names))
        if strange:
            raise SchemaError(f"edge(s) to unknown attributes: {strange}")
        pairs: list[tuple[str, tuple[str, ...]]] = []
        while len(pairs) < len(names):
            placed = {c for c, _ in pairs}
            ready = [n for n in names if n not in placed and set(parents[n]) <= placed]
            if not ready:
                raise SchemaError(f"the edges form a cycle among {[n for n in names if n not in placed]}")
            pairs.append((ready[0], tuple(parents[ready[0]])))
        return cls(tuple(pairs))

    def with_edge(self, parent: str, child: str) -> Network:
        """The network with one more edge, reordered where the parent stood after its child; a cycle raises SchemaError.

        >>> print(Network((("a", ()), ("b", ()))).with_edge("b", "a"))
        b ← ∅
        a ← b
        """
        if parent in self.parents(child):
            raise SchemaError(f"{parent!r} is a parent of {child!r} already")
        return Network.from_edges(self.order, [*self.edges, (parent, child)])

    def without_edge(self, parent: str, child: str) -> Network:
        """The network with one edge less; SchemaError if it isn't there."""
        if parent not in self.parents(child):
            raise SchemaError(f"{parent!r} is no parent of {child!r}: its parents are {self.parents(child)}")
        return Network(tuple((c, tuple(p for p in ps if (p, c) != (parent, child))) for c, ps in self.pairs))

    @classmethod
    def of_columns(cls, pairs: Iterable[tuple[int, tuple[int, ...]]], names: Sequence[str]) -> Network:
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
        return max((len(p) for _, p in self.pairs), default=0)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(parent, child) pairs."""
        return tuple((p, child) for child, parents in self.pairs for p in parents)

    def parents(self, name: str) -> tuple[str, ...]:
        """Parents of an attribute."""
        for child, parents in self.pairs:
            if child == name:
                return parents
        raise SchemaError(f"no attribute {name!r} in the network; it has {', '.join(self.order)}")

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
        return [{"child": c, "parents": list(p)} for c, p in self.pairs]

    @classmethod
    def from_dict(cls, data: Iterable[Mapping[str, Any]]) -> Network:
        """The inverse of :meth:`to_dict`."""
        try:
            return cls(tuple((d["child"], tuple(d["parents"])) for d in data))
        except (KeyError, TypeError) as problem:
            raise SchemaError(f"not a network document: {problem!r}") from problem

    def __str__(self) -> str:
        return "\n".join(f"{c} ← {', '.join(p) or '∅'}" for c, p in self.pairs)

    def _repr_html_(self) -> str:
        """A drawing in layers, as SVG that follows the page's text colour."""
        depth = self.levels()
        rows: dict[int, list[str]] = {}
        for name, level in depth.items():
            rows.setdefault(level, []).append(name)
        widest = max(map(len, rows.values()), default=1)
        at = {n: (int(130 * (i + 0.5 + (widest - len(r)) / 2)), 30 + 64 * y) for y, r in rows.items() for i, n in enumerate(r)}
        lines = "".join(
            f"<line x1='{at[p][0]}' y1='{at[p][1] + 12}' x2='{at[c][0]}' y2='{at[c][1] - 14}' stroke='currentColor' stroke-opacity='.4' "
            "marker-end='url(#pd-arrow)'/>"
            for p, c in self.edges
        )
        boxes = "".join(
            f"<rect x='{x - 60}' y='{y - 12}' width='120' height='24' rx='6' fill='none' stroke='#0072b2'/>"
            f"<text x='{x}' y='{y + 4}' text-anchor='middle' font-size='12' fill='currentColor'>{escape(n[:17])}</text>"
            for n, (x, y) in at.items()
        )
        arrow = (
            "<defs><marker id='pd-arrow' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' orient='auto'>"
            "<path d='M0 0L8 4L0 8z' fill='currentColor' fill-opacity='.5'/></marker></defs>"
        )
        title = f"Bayesian network with {len(self)} attributes and {len(self.edges)} edges"
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-label='{title}' width='{130 * widest}' height='{64 * len(rows)}'>"
            f"<title>{title}</title>{arrow}{lines}{boxes}</svg>"
        )
