"""What a model answers without sampling: marginals and linear queries, with an interval.

An answer is exact under the model. Its interval is one of two, and says which:

``noise``      for what a measured table holds: the noisy count as it was measured, plus and minus
               what its noise exceeds with the asked chance. The law is that of the ledger's line
               (discrete Laplace, zero-sum, discrete Gaussian), so it holds the true count in at
               least so many fits. It stands around the *measured* number and not around the
               model's, which agreement has moved, and which often lies nearer to the truth. Of
               everybody, where n is secret, it stands around the model's n: the count and all
               tables told that together.
``bootstrap``  for everything else: the model plays the table, the same steps learn from it again,
               and the spread of their answers is put around the model's. It holds the noise and
               the chance of drawing rows, and **not the model's own error**: what the records have
               and the model can't express isn't seen by it.

What follows from the schema and a public n is neither: ``exact``. So is a cell that a rule forbids
whose violations are refused, and the sum of all cells, which is n.

Where a rule forbids a cell and records that break it were kept, the model has none and a bootstrap
can't see them: ``low`` and ``high`` are NaN there, unless a measured table says more.

Both are about the records that were fitted. A population that these were drawn from may differ by
the chance of that draw, too, which no interval here holds.

**Privacy:** all of it is post-processing of a release, and costs nothing. :func:`count_held` alone
reads records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..core import (
    NOISES,
    Attribute,
    Measurement,
    Model,
    SchemaError,
    is_one_of,
    is_whole,
    marginalise,
    plural,
    show,
    to_names,
    warn,
)
from ..files.story import find_pairs
from .bootstrap import spread_of
from .exact import joint
from .laws import half_of_mean, half_width

MOST_REPEATS = 1000
MOST_MEASURED = 2**20  # cells of measured tables in one file
MIDDLE, EXACT = "middle", "exact"
__all__ = ["count_held", "expectation", "marginal", "measured_cells", "noisy_tables"]


class Noisy(NamedTuple):
    """What a measured table says of some cells: the noisy counts, and how far they may be off.

    NaN where merged values hide a cell. Both float arrays, in records.
    """

    counts: Any
    half: Any
    line: str


def marginal(
    model: Model, names: Any, interval: Any = None, repeats: Any = 20, random_state: Any = None
) -> pd.Series | pd.DataFrame:
    """Expected counts of some attributes, as :meth:`.Model.marginal` says."""
    attributes = _check_names(model, names)
    level = _check_level(interval, repeats)
    p, exact = joint(model, attributes)
    index = _index(model, attributes)
    counts = pd.Series(p.ravel() * model.n, index=index, name="count")
    counts.attrs["exact"] = exact
    if level is None:
        return counts
    noisy = best_measured(model, attributes, level)
    mask, known = np.zeros(p.size, dtype=bool), ~_possible(model, attributes).ravel()
    low, high, middle = np.zeros(p.size), np.zeros(p.size), np.full(p.size, np.nan)
    if noisy is not None:
        middle = noisy.counts.ravel()
        mask = ~np.isnan(middle)
        low, high = middle - noisy.half.ravel(), middle + noisy.half.ravel()
    if not (mask | known).all():
        _warn_of_apart(model, attributes)
        spread = spread_of(model, lambda m: joint(m, attributes)[0].ravel(), repeats, random_state)
        wide = _student(level, repeats) * spread
        hidden = _hidden(model, attributes).ravel() & ~mask
        _warn_of_hidden(hidden)
        low = np.where(mask, low, np.where(hidden, np.nan, counts.to_numpy() - wide))
        high = np.where(mask, high, np.where(hidden, np.nan, counts.to_numpy() + wide))
    low, high = np.where(known, 0.0, low), np.where(known, 0.0, high)
    answer = counts.to_frame()
    answer["low"], answer["high"] = _within(model, low), _within(model, high)
    answer["kind"] = np.where(known, EXACT, np.where(mask, "noise", "bootstrap"))
    answer["measured"] = np.where(mask, middle, np.nan)
    answer.attrs |= {"exact": exact, "said": _say(level, answer["kind"], noisy)}
    return answer


def expectation(
    model: Model, weights: Any, interval: Any = None, repeats: Any = 20, random_state: Any = None
) -> float | pd.Series:
    """The expected sum of a product of weights, as :meth:`.Model.expectation` says."""
    vectors = {name: _vector(model, name, w) for name, w in _check_weights(weights).items()}
    attributes, level = _check_names(model, list(vectors)), _check_level(interval, repeats)
    query = np.ones(())
    for name in attributes:
        query = np.multiply.outer(query, vectors[name])
    p, _ = joint(model, attributes)
    value = float(model.n * (p * query).sum())
    if level is None:
        return value
    if _is_public(model, attributes, query):
        answer = pd.Series({"value": value, "low": value, "high": value, "kind": EXACT})
        answer["measured"] = math.nan
        answer.attrs["said"] = _say(level, [EXACT], None)
        return answer
    counting = bool(np.isin(query, (0, 1)).all())
    noisy = _best_sum(model, attributes, query > 0, level) if counting else None
    if noisy is not None:
        low, high = noisy.counts - noisy.half, noisy.counts + noisy.half
        low, high = _within(model, low), _within(model, high)
    else:
        _warn_of_apart(model, attributes)
        spread = spread_of(
            model, lambda m: (joint(m, attributes)[0] * query).sum()[None], repeats, random_state
        )
        wide = _student(level, repeats) * float(spread[0])
        hidden = _hidden(model, attributes)[query != 0]
        _warn_of_hidden(hidden)
        wide = math.nan if hidden.size and hidden.all() else wide
        low, high = value - wide, value + wide
    kind, middle = ("bootstrap", math.nan) if noisy is None else ("noise", float(noisy.counts))
    ends = {"low": float(low), "high": float(high)}
    answer = pd.Series({"value": value, **ends, "kind": kind, "measured": middle})
    answer.attrs["said"] = _say(level, [kind], noisy)
    _warn_of_middles(model, weights, vectors, p)
    return answer


def _warn_of_apart(model: Model, names: Sequence[str]) -> None:
    """Say which attributes a bootstrap takes to be tied as the model guesses, if at all.

    A level of ε that an answer is weighted by is such an attribute, too. Of a network over bits
    these are bits, also those of one attribute.
    """
    if model.encoding is None:
        nodes, (kept, _) = [*model.hidden, *names], find_pairs(model.ledger.entries) or ((), 0)
    else:
        tables = (sorted((child, *parents)) for child, parents in model.network.pairs)
        nodes, kept = _nodes(model, names), [p for t in tables for p in combinations(t, 2)]
    apart = [pair for pair in combinations(nodes, 2) if tuple(sorted(pair)) not in kept]
    if apart:
        more = f" (and {plural(len(apart) - 1, 'more pair')})" if len(apart) > 1 else ""
        first = ["persons' own ε" if name in model.hidden else name for name in apart[0]]
        warn(
            f"{' and '.join(first)} stand in no released table together{more}: the interval "
            "says how the model's answer varies, and not how far the records are from it"
        )


def _possible(model: Model, names: Sequence[str], kept: bool = True) -> np.ndarray:
    """Cells of some attributes in which records may be: bool. None where a rule refuses them.

    ``kept``: whether records are told from those that break a rule whose violations are kept, too.
    """
    domain = model.schema.select([*names])
    codes = np.indices(domain.sizes).reshape(len(names), -1).T
    rules = tuple(r for r in domain.rules if r.on_violation == "refuse" or not kept)
    return ~np.asarray(replace(domain, rules=rules).break_rules(codes).reshape(domain.sizes))


def _hidden(model: Model, names: Sequence[str]) -> np.ndarray:
    """Cells of some attributes that the model leaves empty and the records may not: bool.

    Those that a rule forbids whose violations were kept. One that refuses them knows that 0.
    """
    return np.asarray(_possible(model, names) & ~_possible(model, names, kept=False))


def _is_public(model: Model, names: Sequence[str], query: np.ndarray) -> bool:
    """Whether a sum follows from rules and n: the same weight for every record, or none."""
    weights = np.unique(query[_possible(model, names)])
    return len(weights) < 2 and (model.ledger.unit.n_is_public or not weights.any())


def _warn_of_hidden(hidden: np.ndarray) -> None:
    """Say that records may be where a rule leaves the model none."""
    if hidden.any():
        warn(
            f"a rule leaves the model nothing in {plural(int(hidden.sum()), 'cell')} of what is "
            "asked, and records that break it were kept (on_violation='keep'): no bootstrap says "
            "how many these are, and other cells hold them instead"
        )


def _warn_of_middles(
    model: Model, weights: Mapping[str, Any], vectors: Mapping[str, np.ndarray], p: np.ndarray
) -> None:
    """Say how far a sum may be off because its numbers lie elsewhere in their bins."""
    least = most = np.ones(())
    for name, vector in vectors.items():
        half = np.zeros(len(vector))
        if is_one_of(weights[name], (MIDDLE,)):
            ends = _ends(model.shown[name])
            half[: ends.shape[1]] = (ends[1] - ends[0]) / 2
        least = np.multiply.outer(least, np.abs(vector))
        most = np.multiply.outer(most, np.abs(vector) + half)
    off = float(model.n * (p * (most - least)).sum())
    if off > 0:
        warn(
            "a number counts as the middle of its bin: where in it the records lie may move the "
            f"answer by up to {off:.3g} more, which no interval holds"
        )


# --- what was measured ---------------------------------------------------------------------------


def noisy_tables(model: Model) -> Iterator[tuple[Measurement, Any]]:
    """The measured tables of a model, each with its line of the ledger."""
    lines = {e.id: e for e in model.ledger.entries if e.mechanism in NOISES}
    for measured in model.measured:
        if measured.entry in lines:
            yield measured, lines[measured.entry]


def best_measured(model: Model, names: Sequence[str], level: float) -> Noisy | None:
    """What the measured table with the least noise says of some attributes; None where none does.

    Counts over ``names``, one axis each; sums of a larger table, whose noise adds up.
    """
    readings = [_read(model, *each, names, level) for each in noisy_tables(model)]
    candidates = [one for one in readings if one is not None]
    return min(candidates, key=lambda one: float(np.nanmean(one.half)), default=None)


def shares_of(model: Model) -> Fraction:
    """How much noise is in a cell, as a multiple of the whole: more where holders may collude."""
    return Fraction(*(model.ledger.holders or (1, 1)))


def _nodes(model: Model, names: Sequence[str]) -> list[str]:
    """The nodes of the network that some attributes are: themselves, or their bits."""
    bits = model.encoding
    if bits is None:
        return [*names]
    return [bits.schema.names[j] for name in names for j in bits.bits(name)]


def _read(
    model: Model, measured: Measurement, line: Any, names: Sequence[str], level: float
) -> Noisy | None:
    """Counts and half widths of ``names`` from one measured table that holds them."""
    nodes = _nodes(model, names)
    if not {*nodes} <= {*measured.attributes}:
        return None
    table = marginalise(measured.table, measured.attributes, nodes).astype(float)
    of = measured.table.size
    summed = of // table.size
    child = measured.attributes[0]
    scales = _scales_of(line.scale, child in nodes, summed)
    half = np.array(
        [half_width(line.mechanism, s, summed, of, level, shares_of(model)) for s in scales],
        dtype=float,
    )
    if len(half) > 1:  # one scale for each value of the child
        at = nodes.index(child)
        half = half.reshape([-1 if axis == at else 1 for axis in range(table.ndim)])
    half = np.broadcast_to(half if half.ndim == table.ndim else half[0], table.shape).copy()
    table, half = _whole_values(model, measured, names, table, half)
    return None if np.isnan(table).all() else Noisy(table, half, measured.entry)


def _scales_of(scale: Any, by_value: bool, summed: int) -> list[Any]:
    """The scales behind each cell of a sum: one answer, or one for each value of the child."""
    if not isinstance(scale, tuple):
        return [scale]
    if by_value:
        return [(b,) * summed for b in scale]
    return [tuple(b for b in scale for _ in range(summed // len(scale)))]


def _whole_values(
    model: Model, measured: Measurement, names: Sequence[str], table: np.ndarray, half: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Over declared values: of bits what spells one, of merged values those that stand alone."""
    if model.encoding is not None:
        shape = [2 ** len(model.encoding.bits(name)) for name in names]
        slices = tuple(slice(model.schema[name].size) for name in names)
        return table.reshape(shape)[slices], half.reshape(shape)[slices]
    if measured.merging is not None:
        for axis, name in enumerate(names):
            codes = measured.merging.codes[model.schema.index(name)]
            alone = np.bincount(codes)[codes] == 1
            table, half = (np.take(t, codes, axis=axis).astype(float) for t in (table, half))
            gone = [slice(None)] * table.ndim
            gone[axis] = ~alone  # type: ignore[call-overload]
            table[tuple(gone)] = np.nan
    return table, half


def _best_sum(model: Model, names: Sequence[str], cells: np.ndarray, level: float) -> Noisy | None:
    """What a measured table says of the sum of some cells; None where none holds them whole."""
    candidates = []
    for measured, line in noisy_tables(model):
        if isinstance(line.scale, tuple) or model.encoding is not None:
            continue
        one = _read(model, measured, line, names, level)
        if one is None or np.isnan(one.counts[cells]).any():
            continue
        of = measured.table.size
        behind = of // math.prod(_shape(model, measured, names)) * int(cells.sum())
        facts = line.mechanism, line.scale, behind, of, level, shares_of(model)
        half = half_width(*facts) if behind else 0
        candidates.append(Noisy(one.counts[cells].sum(), np.float64(half), measured.entry))
    if cells.all() and (number := _everybody(model, level)) is not None:
        candidates.append(number)
    return min(candidates, key=lambda one: float(one.half), default=None)


def _everybody(model: Model, level: float) -> Noisy | None:
    """The secret number of records, which the noisy count and all tables told together.

    None where there is no count, and where persons have an ε of their own.
    """
    lines = (e for e in model.ledger.entries if e.released == "n" and e.epsilon > 0)
    count, tables = next(lines, None), [*noisy_tables(model)]
    if count is None or model.ledger.levels or not tables:
        return None
    gaussian, parts = count.mechanism == "discrete_gaussian", []
    for line, size in ((count, 1), *((line, measured.table.size) for measured, line in tables)):
        scales = np.atleast_1d(np.array(line.scale, dtype=float))
        each = float((scales if gaussian else 2 * scales**2).mean())
        parts.append((each, size))
    half = half_of_mean(parts, gaussian, level, shares_of(model))
    return Noisy(np.float64(model.n), np.float64(half), f"{count.id} and all tables together")


def _shape(model: Model, measured: Measurement, names: Sequence[str]) -> list[int]:
    """The sizes of some attributes in a measured table."""
    return [measured.table.shape[measured.attributes.index(name)] for name in names]


def measured_cells(model: Model, level: Any = 0.9) -> pd.DataFrame:
    """Every cell of every measured table, with the exact interval of its noise.

    One row a cell: ``line`` of the ledger, ``attributes`` and ``values`` (joined by " × "; values
    that were merged stand as "a | b"; bits as 0 and 1), the ``measured`` noisy count, ``low`` and
    ``high``, which hold the true count in at least ``level`` of all fits. In records. Tables beyond
    2^20 cells in all are left out, the largest first.

    **Privacy:** post-processing of the release.
    """
    chance = _check_level(level, 1)
    pairs, cells = [], 0
    for measured, line in sorted(noisy_tables(model), key=lambda pair: pair[0].table.size):
        cells += measured.table.size
        if cells <= MOST_MEASURED:
            pairs.append((measured, line))
    order = {e.id: at for at, e in enumerate(model.ledger.entries)}
    parts = [
        _cells_of(model, *pair, chance or 0.9)
        for pair in sorted(pairs, key=lambda pair: order[pair[0].entry])
    ]
    columns = ["line", "attributes", "values", "measured", "low", "high"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _cells_of(model: Model, measured: Measurement, line: Any, level: float) -> pd.DataFrame:
    labels = [_labels(model, measured, name) for name in measured.attributes]
    index = pd.MultiIndex.from_product(labels)
    by_value = isinstance(line.scale, tuple)
    half = [
        half_width(line.mechanism, s, 1, measured.table.size, level, shares_of(model))
        for s in ([(b,) for b in line.scale] if by_value else [line.scale])
    ]
    wide = np.repeat(half, measured.table.size // len(half))
    counts = measured.table.ravel()
    return pd.DataFrame(
        {
            "line": measured.entry,
            "attributes": " × ".join(measured.attributes),
            "values": [" × ".join(map(str, cell)) for cell in index],
            "measured": counts,
            "low": _within(model, counts - wide).astype(np.int64),
            "high": _within(model, counts + wide).astype(np.int64),
        }
    )


def _labels(model: Model, measured: Measurement, name: str) -> list[str]:
    """What the values of one axis of a measured table are called."""
    labels = model.domain[name].labels
    if measured.merging is None:
        return list(labels)
    codes = measured.merging.codes[model.domain.index(name)]
    return [
        " | ".join(x for x, code in zip(labels, codes, strict=True) if code == group)
        for group in range(int(codes.max()) + 1)
    ]


def count_held(model: Model, codes: np.ndarray, level: float = 0.9) -> tuple[int, int]:
    """How many intervals of measured cells hold the true counts, and how many there are.

    ``codes``: of the real records, (n_records, d), over the model's schema.

    **Privacy:** reads real records exactly: no guarantee covers it.
    """
    hits = total = 0
    bits = codes if model.encoding is None else model.encoding.encode(codes)
    for measured, line in noisy_tables(model):
        columns = []
        for name in measured.attributes:
            j = model.domain.index(name)
            column = bits[:, j].astype(np.int64)
            columns.append(
                column if measured.merging is None else measured.merging.codes[j][column]
            )
        key = np.ravel_multi_index(columns, measured.table.shape)
        true = np.bincount(key, minlength=measured.table.size)
        cells = _cells_of(model, measured, line, level)
        hits += int(((cells["low"] <= true) & (true <= cells["high"])).sum())
        total += measured.table.size
    return hits, total


# --- what is asked -------------------------------------------------------------------------------


def _check_names(model: Model, names: Any) -> list[str]:
    attributes = list(to_names("names", names))
    if not attributes or len({*attributes}) < len(attributes):
        raise SchemaError(f"names must list attributes, each once, got {show(names)}")
    for name in attributes:
        model.shown.index(name)
    return attributes


def _check_level(interval: Any, repeats: Any) -> float | None:
    if not is_whole(repeats, 1, MOST_REPEATS):
        raise SchemaError(
            f"repeats must be a whole number from 1 to {MOST_REPEATS:,}, got {show(repeats)}"
        )
    if interval is None:
        return None
    fine = isinstance(interval, (int, float, np.number)) and not isinstance(interval, bool)
    if not fine or not 0 < interval < 1:
        raise SchemaError(
            f"interval must lie between 0 and 1, as 0.9, got {show(interval)}: it is the chance "
            "with which an interval holds"
        )
    return float(interval)


def _check_weights(weights: Any) -> Mapping[str, Any]:
    if not isinstance(weights, Mapping) or not weights:
        raise SchemaError(
            "weights must be {attribute: weights of its values} with at least one attribute, got "
            + show(weights)
        )
    return weights


def _vector(model: Model, name: str, weights: Any) -> np.ndarray:
    """One weight for each value of an attribute, float (|X|,)."""
    attribute = model.shown[name]
    if is_one_of(weights, (MIDDLE,)):
        if attribute.edges is None:
            raise SchemaError(f"{name!r} has no bins, so no middles: give a weight for each value")
        return np.append(_ends(attribute).mean(axis=0), [0.0] * attribute.missing)
    if isinstance(weights, Mapping):
        codes = {x: code for code, x in enumerate(attribute.labels)}
        codes |= {x: code for code, x in enumerate(attribute.values)}
        vector = np.zeros(attribute.size)
        for value, weight in weights.items():
            if value not in codes:
                raise SchemaError(
                    f"{name!r} has no value {show(value)}; it has "
                    f"{', '.join(attribute.labels[:8])}{', …' * (attribute.size > 8)}"
                )
            vector[codes[value]] = _number(name, weight)
        return vector
    listed = np.atleast_1d(np.asarray(weights, dtype=object))
    if listed.shape != (attribute.size,):
        raise SchemaError(
            f"weights of {name!r} must be {{value: weight}}, {attribute.size} numbers or "
            f"{MIDDLE!r}, got {show(weights)}"
        )
    return np.array([_number(name, weight) for weight in listed])


def _ends(attribute: Attribute) -> np.ndarray:
    """The least and the largest number of each bin: float (2, bins)."""
    edges = np.asarray(attribute.edges, dtype=float)
    right = edges[1:] - (1.0 if attribute.integer else 0.0)
    right[-1] = edges[-1]
    return np.stack([edges[:-1], right])


def _number(name: str, weight: Any) -> float:
    fine = isinstance(weight, (int, float, np.number)) and math.isfinite(weight)
    if not fine:
        raise SchemaError(f"a weight of {name!r} must be a finite number, got {show(weight)}")
    return float(weight)


def _index(model: Model, names: Sequence[str]) -> pd.Index:
    labels = [model.schema[name].labels for name in names]
    if len(names) == 1:
        return pd.Index(labels[0], name=names[0])
    return pd.MultiIndex.from_product(labels, names=names)


def _within(model: Model, counts: Any) -> Any:
    """Counts cut to what is possible: from 0 to n, where n is public."""
    public = model.ledger.unit.n_is_public
    return np.clip(counts, 0, model.n if public else None)


def _student(level: float, repeats: int) -> float:
    """The quantile of Student's t with so many degrees of freedom, which are few.

    By bisection of its law at the angle arctan(t / √repeats) (Abramowitz, Stegun 1964, 26.7.3–4).
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        total, term = 0.0, math.cos(angle) ** (repeats % 2)
        for power in range(repeats % 2, repeats - 1, 2):
            total += term
            term *= math.cos(angle) ** 2 * (power + 1) / (power + 2)
        within = math.sin(angle) * total
        if repeats % 2:
            within = (within + angle) * 2 / math.pi
        low, high = (angle, high) if within < level else (low, angle)
    return math.sqrt(repeats) * math.tan(high)


def _say(level: float, kinds: Iterable[str], noisy: Noisy | None) -> str:
    """What the intervals hold, in words."""
    parts, kinds = [], {*kinds}
    if EXACT in kinds:
        parts.append("exact: it follows from what is public, so no interval is around it.")
    if noisy is not None and "noise" in kinds:
        parts.append(
            f"noise: around the measured count of line {noisy.line}, it holds the true count in at "
            f"least {level:.0%} of all fits."
        )
    if "bootstrap" in kinds:
        parts.append(
            "bootstrap: around the model's answer, from fits to tables that the model itself drew; "
            "it holds noise and chance, not the model's own error."
        )
    return " ".join(parts)
