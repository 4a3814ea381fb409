"""What is released: a network with noisy tables, its ledger, and samples drawn from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .budgets import Sources, Table
from .errors import SchemaError, check_seed, check_word, door, is_one_of, is_whole, show, to_list
from .ledger import Ledger
from .network import Network
from .rules import NOISES, Release, check_coverage
from .schema import Schema
from .structure import Measurement
from .views import BinaryEncoding


def conditional(table: np.ndarray) -> np.ndarray:
    """P*(X | Π), (|X|, cells of Π), of a noisy table: negative counts to 0, columns sum to 1.

    A column without mass gets the marginal of X from the same table, a table without mass the
    uniform distribution: both are post-processing of the release.
    """
    t = np.maximum(table.reshape(len(table), -1), 0).astype(float)
    column, row = t.sum(axis=0), t.sum(axis=1)
    rest = row / row.sum() if row.sum() > 0 else np.full(len(t), 1 / len(t))
    with np.errstate(invalid="ignore"):
        return np.where(column > 0, t / np.where(column > 0, column, 1), rest[:, None])


MOST_ROWS = 10**9  # of one sample; sample_to writes more
MOST_UNSAID = 10**7  # of them where only the model says how many
METHODS = "independent", "balanced"


def deal(key: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """One number per record, float (n,), by systematic sampling.

    The m records of one key get one number in each of m equal parts of [0, 1), in random order.
    """
    order = generator.permutation(len(key))
    order = order[np.argsort(key[order], kind="stable")]
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    rows = np.diff(first, append=len(key))
    rank = np.arange(len(key)) - np.repeat(first - generator.random(len(rows)), rows)
    u = np.empty(len(key))
    u[order] = rank / np.repeat(rows, rows)
    return np.minimum(u, np.nextafter(1, 0))  # m − 1 + .999… may round to m


def draw(p: np.ndarray, key: np.ndarray, u: np.ndarray) -> np.ndarray:
    """One value per record from P(X | key), where a uniform number u falls."""
    cumulative = np.cumsum(p[:-1], axis=0)
    if len(p) > 48:  # binary search beats one pass per value
        steps = (cumulative / np.maximum(cumulative[-1:], 1)).T
        flat = (steps + np.arange(len(steps))[:, None]).ravel()
        codes = np.searchsorted(flat, key + u, side="right") - key * steps.shape[1]
        return np.clip(codes, 0, len(p) - 1)
    out = np.zeros(len(u), dtype=np.uint8)
    bound, above = np.empty(len(u)), np.empty(len(u), dtype=bool)
    for row in cumulative:
        np.take(row, key, out=bound, mode="clip")  # keys are in range: clipping skips the check
        out += np.greater_equal(u, bound, out=above).view(np.uint8)
    return out


@dataclass(frozen=True, eq=False)
class Model:
    """A released network with noisy counts; safe to show exactly as far as its ledger says.

    ``tables``: one int64 array per pair, child first, of counts or integer weights (or
    :class:`Sparse`). ``n``: the public number of records. ``sources``: for each table the ids of
    the ledger entries that it comes from. The network stands over the attributes, or over their
    bits. ``measured``: the noisy tables as measured, each with its line, for intervals of
    :meth:`marginal`.
    """

    schema: Schema
    network: Network
    tables: tuple[Table, ...]
    ledger: Ledger
    n: int
    algorithm: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sources: Sources = ()
    measured: tuple[Measurement, ...] = ()

    def __post_init__(self) -> None:
        for name, kind, words in (
            ("schema", Schema, "of a model must be a Schema"),
            ("network", Network, "of a model must be a Network"),
            ("ledger", Ledger, "of a model must be a Ledger"),
            ("algorithm", str, "must be a text"),
            ("parameters", Mapping, "must be a mapping"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise SchemaError(f"{name} {words}, got {show(getattr(self, name))}")
        if not is_whole(self.n, 1):
            raise SchemaError(f"n of a model must be a positive integer, got {show(self.n)}")
        if {*self.network.order} != {*self.domain.names}:
            raise SchemaError("the network's attributes are not those of the schema")
        shapes = shapes_of(self.domain, self.network)
        tables = to_list("tables of a model", self.tables)
        if len(tables) != len(shapes):
            raise SchemaError(
                f"the network has {len(shapes)} pairs, but the number of tables is {len(tables)}"
            )
        for child, shape, table in zip(self.network.order, shapes, tables, strict=True):
            if not isinstance(table, Table):
                raise SchemaError(
                    f"table of {child!r} must be an array of integers, got {show(table)}"
                )
            if table.shape != shape:
                raise SchemaError(
                    f"table of {child!r} has shape {table.shape}, its declared domain {shape}"
                )

    @cached_property
    def encoding(self) -> BinaryEncoding | None:
        """How bits become values; None where the network stands over the attributes."""
        return encoding_of(self.schema, self.network)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The column of levels, where the ledger has any: whose ε is how large."""
        return self.ledger.hidden

    @property
    def domain(self) -> Schema:
        """The schema of the network's nodes: the attributes, or their bits."""
        return self.schema if self.encoding is None else self.encoding.schema

    @cached_property
    def conditionals(self) -> dict[str, np.ndarray]:
        """P*(X | Π) of every attribute: float (|X|, cells of Π), or the columns that are kept."""
        tables = [t if isinstance(t, np.ndarray) else t.weights for t in self.tables]
        return {c: conditional(t) for c, t in zip(self.network.order, tables, strict=True)}

    def sample_codes(
        self, n: int, generator: np.random.Generator, method: str = "independent"
    ) -> np.ndarray:
        """Codes of n synthetic records: uint8/uint16 (n, d), by column.

        ``method`` as in :meth:`sample`. No record breaks a rule of the schema.
        """
        if self.ruled is not None:
            return np.asarray(self.ruled.sample_codes(n, generator, method))
        return self.draw_codes(n, generator, method)

    @cached_property
    def ruled(self) -> Any:
        """The model given the rules of its schema, as ``where`` conditions it; None without rules.

        Its ``exact`` is a model whose network and ``conditionals`` keep the rules, or None where
        records are drawn again until they do.
        """
        return door("constraints").given(self, None) if self.schema.masks else None

    def draw_codes(
        self, n: int, generator: np.random.Generator, method: str = "independent"
    ) -> np.ndarray:
        """As :meth:`sample_codes` by ancestral sampling from the tables, whatever the rules say.

        What bits can spell but the schema doesn't declare is drawn again.
        """
        check_word("method", method, METHODS, SchemaError)
        schema, sizes = self.domain, self.domain.sizes
        dtype = np.uint8 if max(sizes) <= 256 else np.uint16
        codes = np.empty((n, len(sizes)), dtype=dtype, order="F")
        for (child, parents), table in zip(self.network.pairs, self.tables, strict=True):
            p, key = self.conditionals[child], np.zeros(n, dtype=np.int64)
            for j in map(schema.index, parents):
                key *= sizes[j]
                key += codes[:, j]
            if not isinstance(table, np.ndarray):
                p, key = table.look_up(p, key)
            u = generator.random(n) if method == "independent" else deal(key, generator)
            codes[:, schema.index(child)] = draw(p, key, u)
        return codes if self.encoding is None else self.encoding.decode(codes, generator)

    def sample(
        self,
        n: int | None = None,
        random_state: int | None = None,
        *,
        method: str | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:
        """A synthetic table of n rows, the public number of records if None, as the schema says.

        Where that number is above ten million ``n`` must be said, as a file may be of anybody's
        making.

        ``method="balanced"``, the default: the rows of each parent configuration are dealt out to
        the values in proportion to P(X | Π), what is left over by systematic sampling, so each
        count is within one of its share: the table to release. ``"independent"``: every row is
        drawn by itself. In both every row alone follows the model, and textbook intervals of rows
        don't hold the noise of the fit: :meth:`marginal` has some that do. Balanced rows depend on
        each other, and a part of the table isn't balanced. Where a condition can only be met by
        drawing again, the default is ``"independent"``, and ``"balanced"`` is refused.

        ``where={"sex": "F"}``: all rows meet the condition, and the rest follows the model given
        that, see :class:`~pdsynth.constraints.Given`. Raises SchemaError for what isn't declared or
        can't be met.

        **Privacy:** post-processing of the release; both methods, and conditions, cost nothing.
        """
        if n is None and self.n > MOST_UNSAID:
            raise SchemaError(
                f"the model says that there were {self.n:,} records, and sample() gives no more "
                f"than {MOST_UNSAID:,} rows unasked: say sample(n), or write a file with "
                "sample_to(path, n)"
            )
        n = self.n if n is None else n
        if not is_whole(n, 1, MOST_ROWS):
            raise SchemaError(
                f"sample needs a whole number of rows from 1 to {MOST_ROWS:,}, got n={show(n)}"
            )
        check_seed(random_state)
        generator = np.random.Generator(np.random.PCG64(random_state))
        source = self._source(where)
        if method is None:
            again = where is not None and source.exact is None
            method = "independent" if again else "balanced"
        schema, codes = self.shown, self._show(source.sample_codes(n, generator, method))
        binned = any(a.numeric_bins for a in schema.attributes)
        table = schema.decode(codes, generator.random(codes.shape) if binned else None)
        return table if where is None else source.place(table)

    def sample_to(
        self,
        path: Any,
        n: int | None = None,
        random_state: int | None = None,
        *,
        method: str = "independent",
        where: Mapping[str, Any] | None = None,
    ) -> None:
        """Write n synthetic rows to a ``.csv`` file, or one of columns, in bounded memory.

        Columns have the types that the schema declares; CSV is UTF-8, a missing value an empty
        cell. The file appears when it is whole. Each unit of 65,536 rows has a stream of its own,
        so a seed gives the same rows on every machine, other ones than :meth:`sample`. ``where`` as
        there. Rows are independent: a balanced table can only be dealt out as a whole.

        **Privacy:** post-processing of the release; costs nothing.
        """
        if not is_one_of(method, ("independent",)):
            raise SchemaError(
                "sample_to draws rows independently, part by part: a balanced "
                "table is dealt out as a whole, so take sample(n, method='balanced')"
            )
        source = self._source(where)
        door("scale").write_sample(
            lambda rows, generator: self._show(source.sample_codes(rows, generator)),
            self.shown,
            path,
            self.n if n is None else n,
            random_state,
            None if where is None else source.place,
        )

    @property
    def shown(self) -> Schema:
        """The schema of the tables that it gives: without what is hidden."""
        attributes = (a for a in self.schema.attributes if a.name not in self.hidden)
        return replace(self.schema, attributes=tuple(attributes)) if self.hidden else self.schema

    def _show(self, codes: np.ndarray) -> np.ndarray:
        """Codes without the columns that are hidden."""
        if not self.hidden:
            return codes
        return codes[:, [name not in self.hidden for name in self.schema.names]]

    def _source(self, where: Mapping[str, Any] | None) -> Any:
        """The model, or the model given ``where`` and the rules of its schema."""
        return self if where is None else door("constraints").given(self, where)

    def marginal(
        self,
        names: Any,
        *,
        interval: float | None = None,
        repeats: int = 20,
        random_state: int | None = None,
    ) -> pd.Series | pd.DataFrame:
        """Expected counts of one attribute or of several together, without sampling.

        ``names``: a name or a list. A Series of expected counts in records, by declared labels (a
        MultiIndex where there are several), exact under the model; ``attrs["exact"]`` is False
        where that would take tables of more than 2^24 cells, and 2^19 drawn rows stand in.

        ``interval=0.9`` gives a DataFrame with ``count``, ``low`` and ``high`` in records, the
        ``kind`` of each interval, and the ``measured`` noisy count. ``"noise"``: around the
        measured count, exact. ``"bootstrap"``, for what wasn't measured: around ``count``, from
        ``repeats`` fits to tables that this model draws (seeded by ``random_state``), **without the
        model's own error**, and NaN where a rule leaves the model none and kept records may be.
        ``"exact"``: n and the rules tell it, see :mod:`pdsynth.answers`. Raises SchemaError for
        unknown names, an interval outside (0, 1), and tables of more than 2^20 cells.

        **Privacy:** post-processing of the release; costs nothing.
        """
        return door("answers").marginal(self, names, interval, repeats, random_state)

    def expectation(
        self,
        weights: Mapping[str, Any],
        *,
        interval: float | None = None,
        repeats: int = 20,
        random_state: int | None = None,
    ) -> float | pd.Series:
        """The expected sum over all records of a product of weights: a linear query.

        ``weights``: for each attribute ``{value: weight}`` (others 0), a number for each code, or
        ``"middle"``, the middle of each bin: ``{"sex": {"F": 1}, "age": "middle"}`` adds up the
        ages of women, a missing one as 0. In records times the weights' unit, exact under the
        model. ``interval`` as in :meth:`marginal`, a Series with ``value``, ``low``, ``high``,
        ``kind`` and ``measured``: a number where all weights are 0 or 1 and a table holds them.
        Raises SchemaError as :meth:`marginal`.

        **Privacy:** post-processing of the release; costs nothing.
        """
        return door("answers").expectation(self, weights, interval, repeats, random_state)

    def check(self) -> list[str]:
        """Violated rules L1–L11, each with its code; empty if none.

        L11: every table comes from lines of the ledger that measured its attributes and charged it.
        """
        violations = self.ledger.check()
        if self.schema.source != "public":
            violations.append("L9 schema: its domains were inferred from the records")
        return violations + self.uncovered()

    def uncovered(self) -> list[str]:
        """Tables that no line of the ledger pays for (rule L11), in words; empty if none."""
        bits = self.encoding
        owner = {} if bits is None else dict(zip(bits.schema.names, bits.owners, strict=True))

        def release(name: str, nodes: Sequence[str], cells: int, ids: tuple[str, ...]) -> Release:
            return Release(name, tuple(owner.get(node, node) for node in nodes), cells, ids)

        sources = self.sources or ((),) * len(self.tables)
        tables = zip(self.network.pairs, self.tables, sources, strict=True)
        found = [release(c, (c, *ps), math.prod(t.shape), ids) for (c, ps), t, ids in tables]
        for m in self.measured:
            name = f"{' × '.join(m.attributes)}, measured"
            found.append(release(name, m.attributes, m.table.size, (m.entry,)))
        return check_coverage(found, self.ledger.entries)

    @property
    def private(self) -> bool:
        """Whether a finite ε within the claim is proved for all tables, with secret noise."""
        return self.ledger.private and not self.check()

    def verdict(self) -> str:
        """One sentence that can't be mistaken for a guarantee that isn't there."""
        broken = self.check() if self.ledger.private else []
        return f"NOT PROVED: {broken[0]}." if broken else self.ledger.verdict()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; says in its first lines whether it is private."""
        return dict(door("files").write_model(self))

    def to_json(self, path: str | Path, allow_reproducible: bool = False) -> None:
        """Write the model to a file.

        A model whose noise others can draw raises PrivacyError unless it is allowed by name; the
        file then says that it isn't private, and never holds the seed.
        """
        door("files").save_model(self, path, allow_reproducible)

    @classmethod
    def from_json(cls, path: str | Path) -> Model:
        """Read a model; nothing in the file is run.

        SchemaError for a file that is malformed or too large, whose tables its ledger doesn't cover
        (rule L11), or that contradicts itself; sizes are checked before anything is built. What it
        says of its noise can't be checked by reading.
        """
        return cls.from_dict(door("files").load_model(path))

    @classmethod
    def from_dict(cls, data: Any) -> Model:
        """The inverse of :meth:`to_dict`; refuses what :meth:`from_json` refuses."""
        return door("files").read_model(data)

    def __eq__(self, other: object) -> bool:
        """Whether both write the same file."""
        return isinstance(other, Model) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        word = "" if self.private else "NOT PRIVATE, "
        return (
            f"Model({word}{self.algorithm}, {len(self.schema)} attributes, "
            f"degree {self.network.degree}: {self.verdict()})"
        )


def encoding_of(schema: Schema, network: Network) -> BinaryEncoding | None:
    """How bits become values; None where the network stands over the attributes."""
    return None if {*network.order} == {*schema.names} else BinaryEncoding(schema)


def shapes_of(domain: Schema, network: Network) -> list[tuple[int, ...]]:
    """The declared shape of each pair's table, child first."""
    return [
        tuple(domain[name].size for name in (child, *parents)) for child, parents in network.pairs
    ]


def keep_measured(found: Sequence[Measurement], ledger: Ledger) -> tuple[Measurement, ...]:
    """The noisy tables that a ledger's lines paid for as they are, none raw and none derived.

    **Privacy:** releases, as the lines say.
    """
    lines = {e.id: e for e in ledger.entries if e.mechanism in NOISES and e.domain_sizes}
    whole = (m for m in found if m.counts and isinstance(m.table, np.ndarray) and m.entry in lines)
    return tuple(
        m
        for m in whole
        if m.table.dtype.kind == "i" and math.prod(lines[m.entry].domain_sizes) == m.table.size  # type: ignore[arg-type]
    )
