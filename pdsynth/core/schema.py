"""Public domains: what may be known about a table before any record is read.

A schema lists attributes. ``Facts`` is what is public of one fit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from .attribute import Attribute, check_codes, repeated
from .errors import SchemaError, check_known, door, is_one_of, show, to_items, to_list, type_of
from .unit import Unit


def check_columns(frame: Any, declared: Sequence[str] | None = None) -> list[Any]:
    """Names of the columns of a frame; refuses other things, names that are no texts, and names
    (of those declared, if any are) that stand twice.

    **Privacy:** reads column names only.
    """
    if not isinstance(frame, pd.DataFrame):
        raise SchemaError(f"expected a pandas DataFrame, got {type_of(frame)}")
    columns = list(frame.columns)
    strange = [name for name in columns if not isinstance(name, str)]
    if strange:
        raise SchemaError(
            f"column names must be texts, got {show(strange[0])}: rename them, for "
            "example frame.set_axis([*map(str, frame)], axis=1)"
        )
    names = set(columns if declared is None else declared)
    if twice := repeated([c for c in columns if c in names]):
        raise SchemaError(f"duplicate column(s): {show(twice)}; rename or drop them")
    return columns


Mask = tuple[tuple[int, ...], np.ndarray]  # rising columns; where a record can be, one axis each


@dataclass(frozen=True)
class Schema:
    """The public domain of a table: its attributes in column order.

    ``source`` is ``"public"``, or ``"data"`` for a schema inferred from records: a strict fit
    refuses the latter. ``groups`` may declare sensitivity groups by policy: ``{"occupation": "A",
    "race": "B"}`` (A: more sensitive). ``left_out``: columns of the raw table that aren't used, and
    why, in words; a reason that begins with "?" waits for a decision. ``columns``: names of all
    columns of a raw file that has no header, in its order. ``file``: how a raw text file is
    written, a :class:`~pdsynth.files.FileFormat` or its keywords; else UTF-8 with commas.
    ``rules``: what values of several columns can't stand together, each a
    :class:`pdsynth.Rule`.
    """

    attributes: tuple[Attribute, ...]
    source: str = "public"
    groups: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    file: Any = None
    rules: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(to_items("attributes", self.attributes)))
        strange = [a for a in self.attributes if not isinstance(a, Attribute)]
        if strange:
            raise SchemaError(
                f"a schema is made of Attributes, got {show(strange[0])}: "
                "use Attribute.categorical(name, values) or .numeric"
            )
        if twice := repeated(self.names):
            raise SchemaError(f"attributes declared twice: {twice}")
        if not is_one_of(self.source, ("public", "data")):
            raise SchemaError(f"source must be 'public' or 'data', got {show(self.source)}")
        groups = self.groups if isinstance(self.groups, Mapping) else {None: self.groups}
        unknown = [name for name in groups if name not in self._places]
        if unknown or not all(is_one_of(group, ("A", "B")) for group in groups.values()):
            raise SchemaError(
                "groups must map declared attributes to 'A' or 'B'; "
                f"unknown: {show(unknown)}, groups: {show(self.groups)}"
            )
        for name, value in door("files").settle_file(self).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "rules", tuple(to_items("rules", self.rules)))
        self.masks  # noqa: B018 - refuses rules that don't fit, or contradict each other

    @property
    def file_format(self) -> Any:
        """How a raw text file is written: what is declared, else UTF-8 with commas."""
        return self.file or door("files").FileFormat(header=not self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Attribute names in column order."""
        return tuple(a.name for a in self.attributes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Domain sizes |X| in column order."""
        return tuple(a.size for a in self.attributes)

    @property
    def private(self) -> bool:
        """Whether a fit has edges of bins to choose, see :mod:`pdsynth.binning`."""
        return any(a.private for a in self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[self.index(name)]

    def index(self, name: str) -> int:
        """Column number of an attribute; SchemaError with the known names if it isn't there."""
        if name.__class__ is not str or name not in self._places:
            check_known([name], self.names, "the schema")
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        """Column number of every name."""
        return {name: j for j, name in enumerate(self.names)}

    def cells(self, names: Iterable[str]) -> int:
        """Number of cells of the joint table of some attributes."""
        return math.prod(self[n].size for n in to_list("names", names))

    def possible(self, names: Iterable[str]) -> int:
        """Those of these cells that a record can be in, as far as rules among the names say."""
        columns = [*map(self.index, to_list("names", names))]
        return int(door("constraints").possible_cells(self.masks, self.sizes, columns))

    def select(self, names: Sequence[str]) -> Schema:
        """The schema of some of the attributes, in the order given."""
        names = (names,) if isinstance(names, str) else to_list("names", names)
        groups = {n: g for n, g in self.groups.items() if n in names}
        rules = tuple(rule for rule in self.rules if {*rule.columns} <= {*names})
        chosen = tuple(self[n] for n in names)
        return replace(self, attributes=chosen, groups=groups, rules=rules)

    @cached_property
    def masks(self) -> tuple[Mask, ...]:
        """Where records can be by the rules: rising columns and bool, one axis each. Public."""
        if not self.rules:
            return ()
        return door("constraints").combine(self.rules, self.attributes)

    def break_rules(self, codes: np.ndarray) -> np.ndarray:
        """Which records (n, d) break a rule, whatever it does with them: bool (n,).

        **Privacy:** raw where the records are.
        """
        check_codes(codes, len(self))
        return np.asarray(~door("constraints").keep_rules(self.masks, codes))

    def declare_public(self) -> Schema:
        """The same schema, on the user's word that its domains were known without these records."""
        return replace(self, source="public")

    def encode(self, frame: pd.DataFrame, *, empty: bool = False) -> np.ndarray:
        """Codes of a table: uint8 or uint16 array (n_records, n_attributes), stored by column.

        SchemaError for no rows (unless ``empty``), missing, duplicate or undeclared columns, values
        outside their domain, rows that break a rule which doesn't keep them.

        **Privacy:** raw records in, raw records out; what is refused depends on the declaration,
        row by row, never on statistics.
        """
        frame = self.take(frame)
        self.check(frame, empty=empty)
        kind = np.uint8 if max(self.sizes) <= 256 else np.uint16
        codes = np.empty((len(frame), len(self)), dtype=kind, order="F")
        for j, attribute in enumerate(self.attributes):
            codes[:, j] = attribute.encode(frame[attribute.name])
        for rule, columns, mask in self.refusing:
            if broken := int((~mask[tuple(codes[:, columns].T)]).sum()):
                raise SchemaError(
                    f"rule «{rule}»: {broken:,} row(s) break it; correct or drop them, or let the "
                    "rule say on_violation='keep' (schema.problems(frame) counts them)"
                )
        return codes

    @cached_property
    def refusing(self) -> tuple[tuple[Any, list[int], np.ndarray], ...]:
        """Rules whose violation is refused, their columns and masks."""
        return tuple(
            (rule, [*map(self.index, rule.columns)], rule.mask([self[x] for x in rule.columns]))
            for rule in self.rules
            if rule.on_violation == "refuse"
        )

    def check(self, frame: pd.DataFrame, *, empty: bool = False) -> None:
        """Refuse a table whose columns aren't those of the schema, and tables too small to release.

        ``empty``: a table may have no rows.

        **Privacy:** reads column names and the public number of rows only.
        """
        columns = check_columns(self.take(frame), self.names)
        names = set(self.names)
        there = set(columns)
        if gone := [c for c in self.find_columns(there) if c not in there]:
            raise SchemaError(
                f"missing column(s): {show(gone)}; the table has {len(columns)} columns, "
                f"the schema {len(self)}"
            )
        if extra := [c for c in columns if c not in names and c not in self.left_out]:
            raise SchemaError(
                f"undeclared column(s): {show(extra)}; declare them, "
                "or drop them with frame[list(schema.names)]"
            )
        if len(self) < 2:
            raise SchemaError(
                f"the table has {len(self)} attribute(s); at least 2 are needed for a network"
            )
        if len(frame) == 0 and not empty:
            raise SchemaError("the table has no rows")

    def take(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A raw table whose declared columns have their own names, where a Recode says another.

        **Privacy:** raw records in, raw records out, cell by cell.
        """
        if not any(a.recode for a in self.attributes):
            return frame
        return door("files").take_columns(frame, self.attributes)

    def find_columns(self, there: Collection[str]) -> list[str]:
        """The column of a table that each attribute is read from: of its own name, else its raw
        one, see Recode. ``there``: names of the table's columns.
        """
        if not any(a.recode for a in self.attributes):
            return list(self.names)
        return door("files").find_columns(self.attributes, there)

    def decode(self, codes: np.ndarray, uniforms: np.ndarray | None = None) -> pd.DataFrame:
        """A table from codes (n_records, n_attributes).

        ``uniforms`` of the same shape place numbers inside their bins.
        """
        check_codes(codes, len(self))
        if uniforms is not None and np.shape(uniforms) != codes.shape:
            raise SchemaError(f"uniforms must have the shape of the codes, {codes.shape}")
        places = [None] * len(self) if uniforms is None else uniforms.T
        parts = zip(self.attributes, codes.T, places, strict=True)
        columns = {a.name: a.decode(c.astype(np.int64), place) for a, c, place in parts}
        frame = pd.DataFrame(columns)
        return door("constraints").put_in_order(frame, self) if self.rules else frame

    # --- how files hold a schema is the business of ``files`` ------------------------------------

    @classmethod
    def infer(cls, frame: pd.DataFrame, *, bins: int = 16) -> Schema:
        """A schema read off the records, for exploration only.

        **Privacy:** every category, range and missing value comes from the data, so the schema is
        marked ``source="data"``, which a strict fit refuses. What can't be inferred is
        ``left_out``.
        """
        return door("files").infer_schema(frame, bins)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Schema:
        """A schema from a TOML file, written by hand, by :meth:`write` or by ``datasets.outline``.

        ``source`` is "data" while any line says ``public = false`` or begins with "?". Raises
        SchemaError that names the file, the attribute and the remedy.
        """
        return door("files").open_schema(path)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a TOML file that :meth:`read` reads as this schema, in place of one written so.

        SchemaError for a file that was written or edited by hand: its comments would be lost.
        """
        door("files").save_schema(self, path)

    def problems(self, frame: pd.DataFrame, examples: int = 0) -> Any:
        """Everything in a table that :meth:`encode` would refuse: per column, with counts and
        remedy.

        ``examples``: show up to so many offending values of each column.

        **Privacy:** raw records; counts and values are for their owner and stay in the house.
        """
        return door("files").find_problems(self, frame, examples)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(door("files").schema_document(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """The inverse of :meth:`to_dict`; a malformed document raises SchemaError."""
        return door("files").read_schema_document(data)

    def _repr_html_(self) -> str:
        return str(door("files").render("pdsynth.files", "schema.html", schema=self))


def check_schema(given: Any) -> Schema:
    """A schema, or SchemaError that says what was given in its place."""
    if not isinstance(given, Schema):
        raise SchemaError(f"schema must be a Schema, got {type(given).__name__}")
    return given


@dataclass(frozen=True)
class Facts:
    """The schema of the network's nodes (attributes, or their bits), n, ε and the guarantee.

    ``unit``: what neighbours differ in; where n isn't public, it is 1 until the noisy n is paid
    for. ``epsilon`` is what the recipe may spend on one record. ``epsilon2``: what the tables have
    if a structure is learnt, from which ``k="auto"`` chooses.
    """

    schema: Schema
    n: int
    epsilon: Fraction
    guarantee: str
    epsilon2: Fraction
    unit: Unit = Unit()


def join_target(data: Any, y: Any, schema: Any) -> tuple[Any, Any]:
    """The table and its schema from scikit-learn's ``(X, y, schema)``, or from ``(frame, schema)``.

    **Privacy:** raw records in, raw records out.
    """
    if schema is None and not isinstance(y, (pd.Series, pd.DataFrame, np.ndarray, list, tuple)):
        return data, y  # the schema in second place
    return data if y is None else door("files").join_target(data, y, schema), schema
