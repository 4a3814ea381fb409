"""Numbers without public bins: range and number of bins are public, and each fit chooses the edges.

``Attribute.numeric("income", 0, 1_000_000, bins="private", number=16)`` cuts the range into equal
cells, one for each whole number where these are at most 2^14, else 2^14. A fit chooses the edges
between cells (:func:`~pdsynth.binning.edges.private_edges`): cells that many records share stand
alone, half of the bins are cut at medians of medians, the rest at equal widths. The edges are
released with the schema of the model.

**Privacy:** one line of the ledger for each column, before all other steps; together
:func:`share_of_edges` of ε. Everything else is post-processing of these lines.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from ..core import (
    Attribute,
    BudgetError,
    Curator,
    Facts,
    Merging,
    Schema,
    SchemaError,
    is_whole,
    name_some,
    show,
)
from .edges import least_alone, private_edges

CELLS = 2**14  # of a range, at most
EACH, MOST = Fraction(1, 50), Fraction(1, 10)  # of ε for one column's edges, and for all at most
MOST_BINS = 2**10
FEW = 500  # times ε, records for each bin: with fewer, chosen edges are mostly noise
ATOM = 2**-13  # of a range: with spread "atoms" a narrower bin is one value, its shortest
STEP = "edges({})"
SOURCE = "medians of medians (Kaplan, Schnapp, Stemmer 2022)"
__all__ = [
    "check",
    "cut",
    "declare",
    "place_atoms",
    "private_edges",
    "refine",
    "refuse_codes",
    "say_edges",
    "share_of_edges",
]


def declare(name: Any, low: Any, high: Any, number: Any, **options: Any) -> Attribute:
    """A numeric attribute whose edges each fit chooses; equal widths stand in until then.

    Raises SchemaError for what isn't a range, and for a ``number`` of bins below 2, above 1,024, or
    not below the number of values.
    """
    if not is_whole(number, 2, MOST_BINS):
        raise SchemaError(
            f"attribute {show(name)}: number must be a whole number from 2 to {MOST_BINS:,}, the "
            f"bins of a column with private edges, got {show(number)}"
        )
    plain = Attribute.numeric(name, low, high, bins=int(number), **options)
    assert plain.edges is not None
    values = plain.edges[-1] - plain.edges[0] + 1 if plain.integer else math.inf
    if values <= number:
        raise SchemaError(
            f"attribute {show(name)}: {number} private bins of {values:,} whole numbers leave no "
            "edge to choose: declare the values, or fewer bins"
        )
    cells = int(min(values, CELLS))
    spread = "atoms" if plain.spread == "uniform" and values > CELLS else plain.spread
    return replace(plain, private=cells, spread=spread)


def place_atoms(
    numbers: np.ndarray, bins: np.ndarray, cuts: np.ndarray, integer: bool
) -> np.ndarray:
    """Numbers inside their bins; those of a narrow bin are its shortest number."""
    narrow = np.diff(cuts) < ATOM * (cuts[-1] - cuts[0])
    return np.where(narrow[bins], shortest(cuts[:-1], cuts[1:], integer)[bins], numbers)


def shortest(low: np.ndarray, high: np.ndarray, integer: bool = False) -> np.ndarray:
    """The number of the fewest digits in each interval [low, high): 0 where it lies in it.

    >>> shortest(np.array([-4.88, 11_992.2, 0.31]), np.array([26.9, 12_022.7, 0.34]))
    array([0.0e+00, 1.2e+04, 3.1e-01])
    """
    best = np.array(low, dtype=float)
    for digits in range(0 if integer else 15, -19, -1):  # behind the point; below 0: before it
        step = 10.0 ** abs(digits)
        number = np.ceil(low * step) / step if digits > 0 else np.ceil(low / step) * step
        best = np.where((low <= number) & (number < high), number, best)
    return best + 0.0  # no -0


def share_of_edges(schema: Schema) -> Fraction:
    """The part of ε that chooses edges: 1/50 for each column, at most 1/10. Public."""
    return min(MOST, EACH * len(columns(schema)))


def say_edges(schema: Schema, n: int, epsilon: float) -> str:
    """What a plan says of private bins; empty where there are none.

    ``FEW``: from ``benchmarks/EDGES.md``, where with fewer equal widths came nearer on percentiles.
    """
    names = columns(schema)
    if not names:
        return ""
    few = [x for x in names if epsilon * n < FEW * len(schema[x].values)]
    doubt = (
        f" For so few records and so little ε the bins of {name_some(few)} may be no nearer than "
        "equal widths."
    )
    each = Fraction(epsilon) * share_of_edges(schema) / len(names)
    alone: dict[tuple[int, bool], list[str]] = {}  # columns by from how many records a value
    for name in names:  # stands alone, and whether others share its cell
        a = schema[name]
        least = least_alone(n, len(a.values), a.private, each)
        alone.setdefault((least, least < n and not _cell_a_value(a)), []).append(name)
    return (doubt if few else "") + (
        f" {float(share_of_edges(schema)):.0%} of ε chooses the private edges of "
        f"{name_some(names)}; the rest of this forecast takes their bins as given."
        + "".join(_say_alone(name_some(alike), *key, n) for key, alike in alone.items())
    )


def _cell_a_value(attribute: Attribute) -> bool:
    """Whether each cell of a range is one whole number."""
    assert attribute.edges is not None
    values = attribute.edges[-1] - attribute.edges[0] + 1
    return attribute.integer and values <= attribute.private


def _say_alone(names: str, least: int, wide: bool, n: int) -> str:
    """From how many records on a value has a bin of its own, in one sentence or two.

    ``wide``: a cell holds other values, too. Of several heavy values one is found so surely: the
    first choice has the most of ε.
    """
    if least == n:
        return f" No value of {names} is sure of a bin of its own, however many share it."
    shared = f" A value of {names} that {least:,} records share"
    near = f" The bin holds what lies in the same {CELLS:,}th of the range, too." if wide else ""
    return f"{shared} has a bin of its own in 19 of 20 fits; of several such values one has.{near}"


def columns(schema: Schema) -> list[str]:
    """The attributes whose edges a fit chooses."""
    return [a.name for a in schema.attributes if a.private]


def check(synthesizer: Any, schema: Schema) -> None:
    """Refuse, from public facts, what private bins aren't made for."""
    if synthesizer.delta is not None:
        raise BudgetError(
            f"private bins ({name_some(columns(schema))}) are for pure ε: leave delta out, or "
            "declare bins"
        )
    check_rules(schema)


def check_rules(schema: Schema) -> None:
    """Refuse rules between columns some of whose bins aren't there yet."""
    ruled = {name for rule in schema.rules for name in rule.columns} & {*columns(schema)}
    if ruled:
        raise SchemaError(
            f"rules name {name_some(sorted(ruled))}, whose bins are chosen by each fit: declare "
            "bins there, or leave the rules out"
        )


def refuse_codes() -> NoReturn:
    """Coded records have no values between which edges could be chosen."""
    raise SchemaError(
        "records that are coded already have bins, so no edges can be chosen: give the table "
        "itself, or declare the bins"
    )


def refine(schema: Schema) -> Schema:
    """The schema over cells: every column with private bins has all its cells for values."""
    fine = tuple(_cells(a) if a.private else a for a in schema.attributes)
    return replace(schema, attributes=fine, rules=())


def _cells(attribute: Attribute) -> Attribute:
    assert attribute.edges is not None
    low, high = attribute.edges[0], attribute.edges[-1]
    fine = Attribute.numeric(
        attribute.name,
        low,
        high,
        bins=attribute.private,
        integer=attribute.integer,
        missing=attribute.missing,
    )
    return replace(fine, recode=attribute.recode)


def cut(curator: Curator, schema: Schema, facts: Facts) -> tuple[Curator, Facts]:
    """The same door on records in bins whose edges are chosen now, and what is public of the fit.

    ``schema``: as declared; the curator's is that over cells. ``facts``: with ε of all other steps.

    **Privacy:** costs its share of ε, evenly by column; the door that it returns costs nothing.
    """
    ledger, private = curator.ledger, columns(schema)
    each = share_of_edges(schema) * ledger.claimed / ledger.records_per_person / len(private)
    declared = {a.name: a for a in schema.attributes}
    codes, attributes, lines = [], [], []
    for j, fine in enumerate(curator.schema.attributes):
        old = declared.get(fine.name, fine)
        if not old.private:
            codes.append(np.arange(fine.size))
            attributes.append(old)
            continue
        number = len(old.values)
        edges, line = curator.choose_edges(
            j, number, each, step=STEP.format(fine.name), source=SOURCE
        )
        lines.append(line)
        attributes.append(_binned(old, fine, edges))
        own = np.searchsorted(edges, np.arange(len(fine.values)), side="right")
        codes.append(np.append(own, [number] * fine.missing))
    over_bins = replace(
        curator.schema, attributes=tuple(attributes), groups=schema.groups, rules=schema.rules
    )
    merging = Merging(curator.schema, tuple(codes), over_bins)
    if facts.schema.names == over_bins.names:  # else they stand over bits, which are the same
        facts = replace(facts, schema=over_bins)
    return curator.merged(merging, lines, "private bins"), facts


def _binned(old: Attribute, fine: Attribute, edges: list[int]) -> Attribute:
    """The attribute as it is released: with the edges that were chosen."""
    assert fine.edges is not None
    cuts = [fine.edges[0], *(fine.edges[e] for e in edges), fine.edges[-1]]
    attribute = Attribute.binned(
        old.name, cuts, integer=old.integer, missing=old.missing, spread=old.spread
    )
    return replace(attribute, recode=old.recode)
