"""Errors of random marginal queries, and the information a network keeps of the real table."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from ..core import MAX_MEMBERS, Network, Records, Schema, SchemaError, check_schema, show
from . import marginals
from .inputs import Table, record_keys, seeded, to_records
from .marginals import DENSE_CELLS, Marginals, Sets, attribute_sets


class QueryErrors(NamedTuple):
    """Mean L1 and L2 errors, in frequencies, over ``queries`` marginal queries."""

    l1: float
    l2: float
    queries: int


@runtime_checkable
class Answering(Protocol):
    """A method that answers marginal queries itself (PriView), or a fitted model."""

    def marginal(self, names: Sequence[str]) -> Any:
        """Counts or frequencies in the order asked: one axis per attribute, or laid end to end."""
        ...


def query_errors(
    real: Table | Marginals,
    fake: Table | Answering,
    schema: Schema,
    alpha: int,
    queries: int = 200,
    seed: int = 0,
) -> QueryErrors:
    """Mean errors of random α-way marginal queries T, in frequencies (PrivABN, section 5).

    L2 = mean ‖T(D) − T(D~)‖₂; L1 = mean ‖T(D) − T(D~)‖₁, twice the total variation distance, in
    [0, 2]. At most ``queries`` α-sets are drawn with the public ``seed``. ``fake``: a synthetic
    table, or a fitted method or model with ``marginal(names)``, which is then judged by its own
    answers, each taken to sum 1. ``real`` may be kept :class:`Marginals`: then its sets are the
    queries.

    FLAG: the paper prints an L1 formula that compares the tables record by record, which means
    nothing where rows don't correspond. Its L2 bars make sense only in frequencies, not in counts.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    sets = (
        real.sets
        if isinstance(real, Marginals)
        else attribute_sets(len(check_schema(schema)), alpha, queries, seed)
    )
    if isinstance(fake, Answering) and not isinstance(fake, pd.DataFrame):
        margins = real if isinstance(real, Marginals) else Marginals(real, schema, sets=sets)
        gaps = []
        for names in ([margins.schema.names[j] for j in members] for members in sets):
            table = margins.table(names)
            answer = np.asarray(fake.marginal(names), dtype=float).reshape(table.shape)
            gaps.append(table / margins.n - answer / answer.sum())
        l1 = np.array([np.abs(gap).sum() for gap in gaps])
        l2 = np.sqrt([(gap * gap).sum() for gap in gaps])
    else:
        l1, l2 = marginals.measure_sets(real, fake, schema, sets, marginals.norms)
    return QueryErrors(float(l1.mean()), float(l2.mean()), len(sets))


def counting_errors(
    real: Table | Marginals,
    fake: Table,
    schema: Schema,
    alpha: int,
    queries: int = 200,
    seed: int = 0,
) -> np.ndarray:
    """Errors |q(D)/n − q(D~)/m| of random queries "how many records have X₁ in S₁, …, X_α in S_α".

    Float array (n_queries,). One query for each of at most ``queries`` α-sets, drawn with the
    public ``seed``. S holds half of an attribute's values: neighbouring bins of a number, any
    values of a category. An error is at most the total variation distance of its marginal, which is
    that of the worst such query: for any set of cells, not only boxes. ``real`` may be kept
    :class:`Marginals`: then its sets are the queries.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    if not isinstance(real, Marginals):
        sets = attribute_sets(len(check_schema(schema)), alpha, queries, seed)
        real = Marginals(real, schema, sets=sets)
    boxes, theirs = random_boxes(schema, real.sets, seed), real.of(fake)
    return np.abs(real.answers(boxes) / real.n - theirs.answers(boxes) / theirs.n)


def random_boxes(schema: Schema, sets: Sets, seed: int = 0) -> np.ndarray:
    """The cells that :func:`counting_errors` counts, all ``sets`` laid end to end: bool array."""
    rng, boxes = seeded(seed), []
    for members in sets:
        box = np.ones(1, dtype=bool)
        for attribute in (schema.attributes[j] for j in members):
            size = attribute.size
            first = int(rng.integers(size - size // 2 + 1))
            values = np.arange(size) if attribute.numeric_bins else rng.permutation(size)
            side = np.zeros(size, dtype=bool)
            side[values[first : first + size // 2]] = True
            box = np.logical_and.outer(box, side).ravel()
        boxes.append(box)
    return np.concatenate(boxes)


def sum_mutual_information(network: Network, records: Table, schema: Schema | None = None) -> float:
    """Σ I(X, Π) of a network in bits, each attribute against its whole parent set, on real records.

    ``schema`` may be left out for Records, whose kept entropies make this a look-up. Compare
    networks of equal degree only: more parents always hold more bits. Of a network over bits
    (PriView, HMPrivBayes) it is the sum over bits, no match for one over attributes.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    if schema is None:
        if not isinstance(records, Records):
            raise SchemaError(
                "sum_mutual_information needs the schema of the table: "
                "sum_mutual_information(network, frame, schema)"
            )
        schema = records.schema
    if not isinstance(network, Network):
        raise SchemaError(f"the network comes first, as a Network, got {show(network)}")
    table = to_records(records, schema)
    if not {*network.order} <= {*schema.names}:
        bits = table.binary()
        if {*network.order} <= {*bits.schema.names}:
            table, schema = bits, bits.schema
    by_degree: dict[int, list[list[int]]] = {}
    for child, parents in network.pairs:
        columns = [schema.index(name) for name in (child, *parents)]
        by_degree.setdefault(len(parents), []).append(columns)
    by_degree.pop(0, None)
    total = 0.0
    for degree, rows in by_degree.items():
        cells = max(math.prod(schema.sizes[j] for j in row) for row in rows)
        if degree < MAX_MEMBERS and cells <= DENSE_CELLS:
            pairs = np.array(rows)
            total += float(table.lattice.information(pairs[:, 0], pairs[:, 1:]).sum())
        else:
            total += sum(_information(table, row) for row in rows)
    return total


def _information(records: Records, row: list[int]) -> float:
    def entropy(columns: list[int]) -> float:
        key = record_keys(records.codes, records.schema.sizes, columns)
        p = np.unique(key, return_counts=True)[1] / records.n
        return float(-(p * np.log2(p)).sum())

    return entropy(row[:1]) + entropy(row[1:]) - entropy(row)
