"""All that is wrong between a table and its declaration, at once."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..core import Attribute, Schema, SchemaError, is_whole, show, type_of
from .cells import STRANGE, is_number, read_number
from .columns import as_text, find_distinct, is_rounded
from .number_forms import COMMA
from .recoding import Recode

SAY_ENCODING = 'read the file again and say its encoding, as encoding="cp1252"'
DECODE = 'make texts of them: column.map(bytes.decode, na_action="ignore")'
STRIP = "strip them, column.str.strip(), and declare values without such blanks"
NO_ROWS = "read the table again; a fit with relation='add_remove' takes it as it is"
BELOW = f'write number = "{COMMA}" below [file] in the schema file, or make numbers of them'
TEXTS = 'make texts of all its cells, column.map(str, na_action="ignore")'
MIDNIGHT = " 00:00:00"
DAY = 'make texts of them, column.dt.strftime("%Y-%m-%d")'
ALONE = 100  # different cells of a column that are also looked up alone


class Problem(NamedTuple):
    """One thing that is wrong: its column, in how many records, what it is and what to do.

    **Privacy:** counts and examples are raw: for the records' owner.
    """

    column: str
    records: int
    problem: str
    remedy: str
    examples: str = ""


@dataclass(frozen=True)
class Problems(Sequence[Problem]):
    """Problems of a table, worst known first; empty and false where ``fit`` would take it."""

    found: tuple[Problem, ...]

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return self.found[place]

    def __len__(self) -> int:
        return len(self.found)

    @property
    def table(self) -> pd.DataFrame:
        """One row per problem."""
        shown = pd.DataFrame(self.found, columns=Problem._fields)
        return shown if any(p.examples for p in self.found) else shown.drop(columns="examples")

    def __repr__(self) -> str:
        return self.table.to_string(index=False) if self.found else "no problems"

    def _repr_html_(self) -> str:
        return (
            self.table.to_html(index=False, classes="mathjax_ignore")
            if self.found
            else f"<p>{escape(repr(self))}: the table fits its schema</p>"
        )


def find_problems(schema: Schema, frame: pd.DataFrame, examples: int = 0) -> Problems:
    """What ``Schema.encode`` would refuse, column by column.

    **Privacy:** raw records; counts, and values if asked for, are for their owner.
    """
    if not is_whole(examples, 0):
        raise SchemaError(f"examples must be a whole number of at least 0, got {show(examples)}")
    if not isinstance(frame, pd.DataFrame):
        raise SchemaError(f"expected a pandas DataFrame, got {type_of(frame)}")
    frame = schema.take(frame)
    problems, columns, declared = [], list(frame.columns), list(schema.attributes)
    names, times = {a.name for a in declared}, Counter(columns)
    if not len(frame):
        problems.append(Problem("", 0, "no rows", NO_ROWS))
    for attribute in declared:
        if times[attribute.name] != 1:
            problems.append(
                Problem(
                    attribute.name,
                    len(frame),
                    *(
                        ("missing column", "rename a column, or leave the attribute out")
                        if not times[attribute.name]
                        else (
                            f"{times[attribute.name]} columns of this name",
                            "rename or drop them",
                        )
                    ),
                )
            )
            continue
        problems += _of_column(attribute, frame[attribute.name], examples)
    problems += _of_rules(schema, frame)
    problems += [
        Problem(str(name), len(frame), "undeclared column", "declare it, or leave it out: drop")
        for name in dict.fromkeys(columns)
        if name not in names and name not in schema.left_out
    ]
    problems += [
        Problem(name, len(frame), why, "decide: declare a domain, or drop")
        for name, why in schema.left_out.items()
        if why.startswith("?")
    ]
    return Problems(tuple(problems))


def _of_rules(schema: Schema, frame: pd.DataFrame) -> list[Problem]:
    """Rules that records break, among those whose cells of its columns have codes."""
    problems = []
    for rule, columns, mask in schema.refusing:
        attributes = [schema.attributes[j] for j in columns]
        if not all([*frame.columns].count(name) == 1 for name in rule.columns):
            continue
        try:
            codes = np.stack([a.look_up(frame[a.name])[0] for a in attributes])
        except SchemaError:  # said of that column
            continue
        inside = (codes >= 0).all(axis=0) & (codes < [[a.size] for a in attributes]).all(axis=0)
        if broken := int((~mask[tuple(codes[:, inside])]).sum()):
            what = f"break rule «{rule}»"
            remedy = "correct or drop them, or on_violation = 'keep': other cells then hold them"
            problems.append(Problem(", ".join(rule.columns), broken, what, remedy))
    return problems


def _of_column(attribute: Attribute, column: pd.Series, examples: int) -> list[Problem]:
    """Problems of one column: empty cells, and cells outside the domain."""
    name, edges = attribute.name, attribute.edges
    try:
        codes, gone = attribute.look_up(column)
        bad, carried = codes < 0, _count_carried(attribute, column)
    except SchemaError as problem:
        missing, texts, carried = _find_gone(column), _write(column), 0
        if edges is None or missing is None or texts is None:
            return [Problem(name, len(column), str(problem), "recode them as texts or numbers")]
        gone = missing
        strange = {text for text in set(texts) if read_number(text) is None}
        bad = np.array([text in strange for text in texts], dtype=bool) & ~gone
        if not bad.any():
            return [
                Problem(
                    name,
                    len(column),
                    "numbers written as texts",
                    'say how they are written: number = "1,234.5"',
                )
            ]
    problems = []
    if carried:
        problems.append(
            Problem(
                name,
                carried,
                "code depends on other records",
                "don't fit: this is an error of pdsynth; convert the column to texts and report it",
            )
        )
    if gone.any() and not attribute.missing:
        problems.append(
            Problem(
                name,
                int(gone.sum()),
                "missing value, none declared",
                "declare missing, or drop or fill those rows",
            )
        )
    if bad.any():
        what, remedy = _outside(attribute, column[bad], bool((~bad & ~gone).any()))
        shown = ", ".join(map(repr, _different(column[bad])[:examples]))
        problems.append(Problem(name, int(bad.sum()), what, remedy, shown))
    return problems


def _find_gone(column: pd.Series) -> np.ndarray | None:
    """Which cells are missing; None where pandas can't say, as of a signalling NaN."""
    try:
        return column.isna().to_numpy()
    except ArithmeticError:
        return None


def _write(column: pd.Series) -> list[str] | None:
    """The text of each cell; None where one has none, as a duration of 1,000 years."""
    try:
        return [*map(as_text, column.tolist())]
    except (ValueError, OverflowError):
        return None


def _count_carried(attribute: Attribute, column: pd.Series) -> int:
    """Records whose code beside the others isn't the one that they have alone.

    The first ALONE different cells, by type and text, are looked at: a check, and no proof.
    """
    _, rows = np.unique(find_distinct(column)[0], return_index=True)
    rows = np.sort(rows)[:ALONE]
    together = attribute.look_up(column)[0][rows]
    alone = [attribute.look_up(column.iloc[[row]])[0][0] for row in rows]
    return int((together != alone).sum())


def _outside(attribute: Attribute, cells: pd.Series, some_fit: bool) -> tuple[str, str]:
    """What cells outside a domain are, in words, and the remedy; whether others are inside."""
    edges, recode = attribute.edges, attribute.recode
    if has_strange(cells):
        return f"holds {STRANGE}, what its encoding doesn't know", SAY_ENCODING
    if has_bytes(cells):
        return "bytes, which can't be declared", DECODE
    if edges is None:
        texts = set(map(as_text, attribute.values))
        if has_blanks(attribute, cells):
            return "declared but for blanks at an end", STRIP
        if all(as_text(cell) in texts for cell in _different(cells)):
            if some_fit:  # as 1 and "2": no declaration of one type fits
                return "cells of several types in one column", _mixed(attribute)
            return (
                f"cells of type {cells.dtype}, declared as {attribute.dtype}",
                _retype(attribute, cells),
            )
        if pd.api.types.is_datetime64_any_dtype(cells) and any(
            as_text(cell).removesuffix(MIDNIGHT) in texts for cell in cells
        ):
            return "days with a time, declared without one", DAY
        if has_commas(attribute, cells):
            return "declared numbers, written with commas", BELOW
        return (
            f"not one of the {len(attribute.values)} declared values",
            "list it, map it, or declare other=",
        )
    if isinstance(recode, Recode) and recode.date and not pd.api.types.is_numeric_dtype(cells):
        return (
            "not a date, or outside " + f"{edges[0]} to {edges[-1]}",
            f"say how it is written (format={recode.said().get('format', '')!r} now), or widen "
            "the edges",
        )
    recode = recode if isinstance(recode, Recode) else Recode()
    read = [recode.read(cell, None) for cell in _different(cells)]
    if not pd.api.types.is_numeric_dtype(cells) and any(map(pd.isna, read)):
        return (
            "not a number",
            "map it, list it in na_values, or say how numbers are written (number, unit), or days "
            "(date, format)",
        )
    if attribute.integer and has_decimals(attribute, cells):
        return (say_decimals(attribute), f"write {float(edges[0])} to {float(edges[-1])}")
    return (
        f"outside {edges[0]} to {edges[-1]}",
        "widen the edges, list codes of no answer in na_values, or let clip put them at the ends",
    )


def _mixed(attribute: Attribute) -> str:
    """What to do with a column whose values are declared by their texts, but not by their types."""
    first = json.dumps([as_text(value) for value in attribute.values[:2]], ensure_ascii=False)
    return f"{TEXTS}, and declare texts, in quotes: values = {first}"


def _retype(attribute: Attribute, cells: pd.Series) -> str:
    """How to declare values whose texts are those of the cells, and whose type isn't."""
    kind = pd.api.types.infer_dtype(cells)
    first = [as_text(value) for value in attribute.values[:2]]
    if any(map(is_rounded, cells.tolist())):  # as numbers they can't be declared
        return 'make texts of them, column.astype("string")'
    if kind in ("integer", "floating", "mixed-integer-float"):
        return f"declare numbers: values = [{', '.join(first)}]"
    if kind == "string":
        return f"declare texts, in quotes: values = {json.dumps(first, ensure_ascii=False)}"
    return "declare the values by the type of the cells, or convert the column"


def has_strange(cells: pd.Series) -> bool:
    """Whether some cells hold what stands for bytes that a file's encoding doesn't know."""
    return any(isinstance(cell, str) and STRANGE in cell for cell in _different(cells))


def has_commas(attribute: Attribute, cells: pd.Series) -> bool:
    """Whether cells outside a list of numbers are its numbers with commas: 1,5 for 1.5."""
    texts = [cell for cell in _different(cells) if isinstance(cell, str) and "," in cell]
    read = {read_number(text, COMMA) for text in texts}
    return bool(texts) and read <= {*filter(is_number, attribute.values)}


def has_bytes(cells: pd.Series) -> bool:
    """Whether some cells are bytes, as a binary column of Parquet has them: no text, no number."""
    return any(isinstance(cell, bytes) for cell in _different(cells))


def has_blanks(attribute: Attribute, cells: pd.Series) -> bool:
    """Whether some texts would be declared values but for blanks at the ends of either."""
    listed = {value.strip() for value in attribute.values if isinstance(value, str)}
    texts = {cell for cell in _different(cells) if isinstance(cell, str)}
    return any(text.strip() in listed for text in texts.difference(attribute.values))


def _different(cells: pd.Series) -> list[Any]:
    """Cells of each type and text once; also lists and the like, which find_distinct refuses."""
    return list({(type(cell), as_text(cell)): cell for cell in cells.tolist()}.values())


def has_decimals(attribute: Attribute, cells: pd.Series) -> bool:
    """Whether some cells outside a range of whole numbers would be inside but for decimals."""
    edges = list(map(float, attribute.edges or ()))
    wider = replace(attribute, edges=tuple(edges), dtype="float")
    return bool((wider.look_up(cells)[0] >= 0).any())


def say_decimals(attribute: Attribute) -> str:
    """What is wrong with decimals in a range of whole numbers."""
    edges = attribute.edges or (0, 0)
    return f"has decimals, and {edges[0]} to {edges[-1]} means whole numbers"


def say_outside(attribute: Attribute, column: pd.Series, outside: int) -> str:
    """How many cells of a column no code stands for, in words that hold no cell.

    **Privacy:** a raw number, for the sentence of a refusal: whoever holds the table reads it.
    """
    kind: Any = column.dtype  # of a category: of its values
    kind = kind.categories.dtype if isinstance(kind, pd.CategoricalDtype) else kind
    edges, values = attribute.edges, attribute.values
    domain = (
        f"its {len(values)} declared values ({_describe(values)}; the column has dtype {kind})"
        if edges is None
        else f"[{edges[0]}, {edges[-1]}]"
    )
    remedy, whole = "widen the declared domain", ""
    if attribute.integer and edges is not None:
        whole = "the whole numbers of "
        if has_decimals(attribute, column[attribute.look_up(column)[0] < 0]):
            low, high = float(edges[0]), float(edges[-1])
            remedy = f"it has decimals: declare {low} to {high} (integer=False)"
    if edges is None and has_blanks(attribute, column):
        remedy = f"some are declared but for blanks at an end: {STRIP}"
    if edges is None and any(map(is_rounded, column.tolist())):
        remedy = (
            "some are numbers of 2^53 and beyond, where several fall together: make texts of them"
        )
    if has_bytes(column):
        remedy = f"some are bytes, which can't be declared: {DECODE}"
    if has_strange(column):
        remedy = f"some cells hold {STRANGE}, what the file's encoding doesn't know: {SAY_ENCODING}"
    return (
        f": {outside:,} value(s) outside {whole}{domain}; {remedy}, or recode or "
        "drop those rows (schema.problems(frame, examples=3) shows values)"
    )


def _describe(values: Sequence[Any]) -> str:
    """What kind of values are declared, in words."""
    kinds = {type(v).__name__ for v in values}
    words = {"str": "texts", "int": "whole numbers", "float": "numbers", "bool": "truth values"}
    return " and ".join(sorted(words.get(kind, kind) for kind in kinds))
