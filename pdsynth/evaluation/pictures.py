"""A release beside its records in pictures: every column, all ties, and the worst pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..core import Attribute, Schema, name_some, plural, progress
from ..files.pages import render, style
from .inputs import Table, to_codes
from .report import WARNING, Report

CELLS = 2**18  # of a pair's table; larger ones aren't counted
BARS, SIDE = 16, 8  # values that a column's picture shows, and a pair's on each side
SHOWN, OPENED = 12, 3  # columns that aren't folded, and pairs that are opened
FAR = 0.05  # of the people: a column that is off by more should be checked
LOST = 0.25  # of the people: a column that is off by more tells nothing
TIE, KEPT = 0.05, 0.5  # the least tie worth a word, and how much of it makes it kept


@dataclass(frozen=True)
class Column:
    """Shares of the values of one column, in the records and in the release; ``off``: their TVD.

    **Privacy:** exact statistics of real records.
    """

    name: str
    values: tuple[str, ...]
    real: tuple[float, ...]
    fake: tuple[float, ...]
    off: float


@dataclass(frozen=True)
class Pair:
    """A pair of columns: its tie R in the records and in the release, ``off``: TVD of its tables.

    R is the share of people that would have to move to make the two columns independent, less what
    chance alone makes. ``kept``: how much of the records' tie is in the release, where a tie of
    other cells counts nothing.

    **Privacy:** exact statistics of real records.
    """

    names: tuple[str, str]
    real: float
    fake: float
    kept: float
    off: float

    @property
    def lost(self) -> float:
        """How much of the tie is gone."""
        return max(0.0, self.real - self.kept)


def merge(attribute: Attribute, real: np.ndarray, most: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """A new place for each code, and the names of the places: at most ``most`` of them.

    Bins are joined with their neighbours; of listed values the rarest of the records are joined.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    labels = attribute.labels
    if len(labels) <= most:
        return np.arange(len(labels)), labels
    if attribute.numeric_bins:
        bins = len(attribute.values)
        room = most - attribute.missing
        places = np.append(np.arange(bins) * room // bins, np.full(int(attribute.missing), room))
        ends = [np.flatnonzero(places == place)[[0, -1]] for place in range(room)]
        spans = [
            labels[a] if a == b else f"{labels[a].split('–')[0]}–{labels[b].split('–')[-1]}"
            for a, b in ends
        ]
        return places, (*spans, *labels[bins:])
    often = np.argsort(-np.bincount(real, minlength=len(labels)), kind="stable")[: most - 1]
    places = np.full(len(labels), most - 1)
    places[np.sort(often)] = np.arange(most - 1)
    return places, (*(labels[code] for code in np.sort(often)), "all others")


def compare_columns(real: np.ndarray, fake: np.ndarray, schema: Schema) -> list[Column]:
    """Every column, the worst first.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    columns = []
    for j, attribute in enumerate(schema.attributes):
        sides = [
            np.bincount(table[:, j], minlength=attribute.size) / len(table)
            for table in (real, fake)
        ]
        places, names = merge(attribute, real[:, j], BARS)
        one, two = (tuple(np.bincount(places, side, len(names)).tolist()) for side in sides)
        off = float(np.abs(sides[0] - sides[1]).sum() / 2)
        columns.append(Column(attribute.name, names, one, two, off))
    return sorted(columns, key=lambda column: -column.off)


def _law(table: np.ndarray, a: int, b: int, sizes: Sequence[int]) -> np.ndarray:
    keys = table[:, a].astype(np.int64) * sizes[b] + table[:, b]
    return np.bincount(keys, minlength=sizes[a] * sizes[b]).reshape(sizes[a], sizes[b]) / len(table)


def independent(law: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The law of independent columns, and the variance by chance of each cell's distance from it.

    It has the margins of the n rows, too, so a cell of shares p and q varies by pq(1−p)(1−q)/n.
    """
    rows, columns = law.sum(axis=1), law.sum(axis=0)
    alone = np.outer(rows, columns)
    return alone, alone * np.outer(1 - rows, 1 - columns) / n


def measure_tie(law: np.ndarray, n: int) -> float:
    """R of a law that was counted from n rows, less what chance makes of independent columns.

    Chance: a cell whose distance has variance v lies √(2v/π) away in the mean (normal law).
    """
    alone, spread = independent(law, n)
    chance = np.sqrt(np.maximum(2 * spread / math.pi, 0)).sum()
    return max(0.0, float(np.abs(law - alone).sum() - chance) / 2)


def measure_kept(one: np.ndarray, two: np.ndarray, n: int, m: int) -> float:
    """How much of the tie of a law that was counted from n rows is in that of m rows, too.

    The mean of both ties, less half of how far they are apart: of what cells have more than
    independent columns, or of what they have fewer, whichever keeps less. Where two columns aren't
    tied, chance sets either of these apart by half of what it does to a difference of counts.
    """
    ties, laws = measure_tie(one, n) + measure_tie(two, m), (one, two)
    alone, spread = zip(*map(independent, laws, (n, m)), strict=True)
    chance = float(np.sqrt(np.maximum(sum(spread) / (2 * math.pi), 0)).sum())
    mine, other = (law - q for law, q in zip(laws, alone, strict=True))
    apart = max(
        float(np.abs(np.maximum(s * mine, 0) - np.maximum(s * other, 0)).sum()) for s in (1, -1)
    )
    return max(0.0, ties - max(0.0, apart - chance)) / 2


def compare_pairs(real: np.ndarray, fake: np.ndarray, schema: Schema) -> list[Pair]:
    """Every pair whose table has at most :data:`CELLS` cells, the most distant first.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    result = []
    pairs = list(combinations(range(len(schema)), 2))
    for a, b in progress(pairs, "ties", unit="pair"):
        if schema.sizes[a] * schema.sizes[b] <= CELLS:
            one, two = (_law(table, a, b, schema.sizes) for table in (real, fake))
            names, off = (schema.names[a], schema.names[b]), float(np.abs(one - two).sum() / 2)
            ties = measure_tie(one, len(real)), measure_tie(two, len(fake))
            kept = min(ties[1], measure_kept(one, two, len(real), len(fake)))
            result.append(Pair(names, *ties, kept, off))
    return sorted(result, key=lambda pair: -pair.off)


def open_pair(pair: Pair, real: np.ndarray, fake: np.ndarray, schema: Schema) -> dict[str, Any]:
    """The two tables of a pair in per cent of the people, rare values joined.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    a, b = map(schema.index, pair.names)
    (rows, down), (columns, across) = (
        merge(schema.attributes[j], real[:, j], SIDE) for j in (a, b)
    )
    tables = []
    for table in (real, fake):
        codes = np.stack([rows[table[:, a]], columns[table[:, b]]], axis=1)
        tables.append(100 * _law(codes, 0, 1, (len(down), len(across))))
    return {"pair": pair, "down": down, "across": across, "tables": [t.tolist() for t in tables]}


def advise(
    report: Report, columns: Sequence[Column], pairs: Sequence[Pair], rows: int
) -> list[str]:
    """What to do now, in sentences."""
    gained = report.verdict[0].startswith("Worth having")
    kept = any(pair.real >= TIE and pair.kept >= KEPT * pair.real for pair in pairs)
    gone = 2 * sum(column.off > LOST for column in columns) > len(columns)
    even = any(sentence.startswith("It is no nearer than rows") for sentence in report.verdict)
    use, rest = "single columns only.", "For pairs"
    if kept:
        use = "counts and pictures of single columns and of the pairs that are kept below."
        rest = "For other pairs"
    elif gained and all(pair.off <= FAR for pair in pairs):
        use = "counts and pictures of single columns and of pairs: none is off by more than 5 %."
    if even:
        use, rest = "nothing: rows whose values are drawn evenly are as near.", "Instead"
        if kept:
            use = "the pairs that are kept below alone: in the mean evenly drawn rows are as near."
            rest = "For all else"
    if gone:
        far_off = "most columns alone are off by more than a quarter."
        use, rest = f"nothing: {far_off}", "Instead"
        if gained:
            use = f"nothing: it is nearer than single columns would be, but {far_off}"
        if gained and kept:
            use, rest = f"the pairs that are kept below alone: {far_off}", "For all else"
    remedy = f" {rest} take a larger ε, fewer columns or coarser bins: plan says beforehand "
    advice = [f"Use it for {use}{'' if gained and not gone else remedy + 'what they bear.'}"]
    if lost := sorted((p for p in pairs if p.real >= TIE and p.kept < KEPT * p.real),
                      key=lambda pair: -pair.lost):  # fmt: skip
        names = "; ".join(" with ".join(pair.names) for pair in lost[:OPENED])
        more = f" and {plural(len(lost) - OPENED, 'more pair')}" if len(lost) > OPENED else ""
        advice.append(
            f"Don't read these ties off this table: {names}{more}. They are in the records, and "
            "less than half of them is left here."
        )
    if far := [column for column in columns if column.off > FAR]:
        names = name_some([column.name for column in far], SHOWN)
        advice.append(
            f"Before you report shares of {names}, ask the records: more than 5 % is off."
        )
    advice.append(
        f"Error bars that count {rows:,} rows are too short: the noise of the release comes on top."
    )
    advice.append("Keep this page with the records. To choose between releases by it would cost ε.")
    return advice


def count_kept(pairs: Sequence[Pair]) -> str:
    """How many of the ties of the records the release keeps, in a sentence."""
    ties = [pair for pair in pairs if pair.real >= TIE]
    number = sum(pair.kept >= KEPT * pair.real for pair in ties)
    if not ties:
        return "No two columns of the records are tied by more than 5 % of the people."
    return (
        f"{number} of {plural(len(ties), 'tie')} of the records are kept to at least a half. A tie "
        "counts if 5 % of the people would have to change for its columns to be independent."
    )


def draw_page(report: Report, real: Table, fake: Table, schema: Schema, title: str = "") -> str:
    """The page of a report, with its pictures: HTML that needs no other file.

    ``real``, ``fake``: what :func:`report` compared. Pairs of more than 2^18 cells are left out.

    **Privacy:** exact statistics of real records throughout: not for publishing.
    """
    codes, release = to_codes(real, schema), to_codes(fake, schema)
    columns, pairs = compare_columns(codes, release, schema), compare_pairs(codes, release, schema)
    d = len(schema)
    return render(
        __package__,
        "page.html",
        title=title or "Report",
        style=style(),
        report=report,
        inner=report._repr_html_(),
        warning=WARNING,
        advice=advise(report, columns, pairs, len(release)),
        kept=count_kept(pairs),
        columns=columns,
        shown=SHOWN,
        names=schema.names,
        ties={pair.names: pair for pair in pairs},
        top=max((pair.real for pair in pairs), default=0) or 1,
        cell=max(8, min(22, 420 // d)),
        opened=[open_pair(pair, codes, release, schema) for pair in pairs[:OPENED]],
        percent=_percent,
        clip=_clip,
    )


def _percent(share: float) -> str:
    """A share as per cent of two digits, with its sign: 0.0721 is "7.2 %"."""
    value = 100 * share
    return f"{value:.0f} %" if value >= 10 else f"{value:.1f} %"


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
