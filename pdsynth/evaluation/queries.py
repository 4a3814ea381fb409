"""Errors of random marginal queries, and the information a network keeps of the real table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from ..counting.tables import MAX_MEMBERS, Records, marginal
from ..domain.schema import Schema
from ..errors import SchemaError
from ..network import Network
from . import sparse
from .marginals import DENSE_CELLS, Marginals, Table, attribute_sets, coded


class QueryErrors(NamedTuple):
    """Mean L1 and L2 errors, in frequencies, over ``queries`` marginal queries."""

    l1: float
    l2: float
    queries: int


@runtime_checkable
class Answering(Protocol):
    """A method that answers marginal queries itself (PriView)."""

    def marginal(self, names: Sequence[str]) -> np.ndarray:
        """Counts or frequencies, one axis an attribute in the order asked."""
        ...


def query_errors(
    real: Table | Marginals, fake: Table | Answering, schema: Schema, alpha: int, queries: int = 200, seed: int = 0
) -> QueryErrors:
    """Mean L1 and L2 errors of random α-way marginal queries T, in frequencies (PrivABN, section 5).

    L2 = mean ‖T(D) − T(D~)‖₂ and L1 = mean ‖T(D) − T(D~)‖₁ = twice the total variation distance, in [0, 2].
    ``queries`` different α-sets are drawn with the public ``seed``; all of them are asked where there are fewer. ``fake``: a
    synthetic table, or a fitted method with ``marginal(names)``, which is then judged by its own answers, each taken to sum 1.
    ``real`` may be a :class:`Marginals` whose counts are kept: then its sets are the queries.

    FLAG: the paper prints an L1 formula that compares the two tables record by record, which means nothing for tables whose
    rows don't correspond; the L1 here is the one above. Its L2 bars make sense only in frequencies, not in counts.

    **Privacy:** reads the real records exactly; an evaluation for those who may see them, outside every guarantee.
    """
    chosen = real.sets if isinstance(real, Marginals) else attribute_sets(len(schema), alpha, queries, seed)
    if isinstance(fake, Answering) and not isinstance(fake, pd.DataFrame):
        known = real if isinstance(real, Marginals) else Marginals(real, schema, sets=chosen)
        norms = np.array([_answer_norms(known, fake, [schema.names[j] for j in member]) for member in chosen]).T
    elif isinstance(real, Marginals):
        norms = np.array(real.norms(fake))
    else:
        ours, theirs = coded(real, schema), coded(fake, schema)
        gaps = (_gaps(ours, theirs, schema.sizes, member) / (len(ours) * len(theirs)) for member in chosen)
        norms = np.array([(np.abs(gap).sum(), np.sqrt((gap * gap).sum())) for gap in gaps]).T
    return QueryErrors(float(norms[0].mean()), float(norms[1].mean()), len(chosen))


def _answer_norms(known: Marginals, asked: Answering, names: list[str]) -> tuple[float, float]:
    answer = asked.marginal(names)
    gap = known.table(names) / known.n - answer / answer.sum()
    return float(np.abs(gap).sum()), float(np.sqrt((gap * gap).sum()))


def counting_errors(real: Table | Marginals, fake: Table, schema: Schema, alpha: int, queries: int = 200, seed: int = 0) -> np.ndarray:
    """Errors of random counting queries "how many records have X₁ in S₁, …, X_α in S_α": float array (n_queries,), shares of all records.

    One query for each of ``queries`` α-sets, drawn with the public ``seed`` (all of them where there are fewer). S holds half of
    an attribute's values: neighbouring bins of a number, any values of a category. Each error |q(D)/n − q(D~)/m| is at most the
    total variation distance of its marginal, which is the error of the worst such query: for any set of cells, not only boxes.
    ``real`` may be a :class:`Marginals` whose counts are kept: then its sets are the queries.

    **Privacy:** reads the real records exactly; an evaluation for those who may see them, outside every guarantee.
    """
    known = real if isinstance(real, Marginals) else Marginals(real, schema, sets=attribute_sets(len(schema), alpha, queries, seed))
    asked, theirs = random_boxes(schema, known.sets, seed), known.of(fake)
    return np.abs(known.answers(asked) / known.n - theirs.answers(asked) / theirs.n)


def random_boxes(schema: Schema, sets: Sequence[tuple[int, ...]], seed: int = 0) -> np.ndarray:
    """Which cells of the tables of ``sets``, laid end to end, the queries of :func:`counting_errors` count: bool array (n_cells,)."""
    rng, parts = np.random.default_rng(seed), []
    for member in sets:
        box = np.ones(1, dtype=bool)
        for j in member:
            size = schema.sizes[j]
            first = int(rng.integers(size - size // 2 + 1))
            values = np.arange(size) if schema.attributes[j].edges is not None else rng.permutation(size)
            wanted = np.isin(np.arange(size), values[first : first + size // 2])
            box = np.logical_and.outer(box, wanted).ravel()
        parts.append(box)
    return np.concatenate(parts)


def _gaps(ours: np.ndarray, theirs: np.ndarray, sizes: tuple[int, ...], member: tuple[int, ...]) -> np.ndarray:
    if math.prod(sizes[j] for j in member) > DENSE_CELLS:
        return sparse.gaps(ours, theirs, sizes, member)
    return marginal(ours, sizes, member).ravel() * len(theirs) - marginal(theirs, sizes, member).ravel() * len(ours)


def sum_mutual_information(network: Network, records: Table, schema: Schema | None = None) -> float:
    """Σ I(X, Π) of a network in bits, each attribute against its whole parent set, on the *real* records.

    ``records``: DataFrame, code array (n_records, n_attributes) or Records, whose kept entropies make this a look-up.
    ``schema`` may be left out for Records. Compare networks of equal degree only: more parents always hold more bits.

    **Privacy:** reads the real records exactly; an evaluation for those who may see them, outside every guarantee.
    """
    schema = records.schema if schema is None and isinstance(records, Records) else schema
    if schema is None:
        raise SchemaError("sum_mutual_information needs the schema of the table: sum_mutual_information(network, frame, schema)")
    kept = records if isinstance(records, Records) else Records(coded(records, schema), schema)
    by_degree: dict[int, list[list[int]]] = {}
    for child, parents in network.pairs:
        by_degree.setdefault(len(parents), []).append([schema.index(a) for a in (child, *parents)])
    total = 0.0
    for degree, rows in by_degree.items():
        pairs = np.array(rows)
        if 0 < degree < MAX_MEMBERS and _cells(pairs, schema) <= DENSE_CELLS:
            total += float(kept.lattice.information(pairs[:, 0], pairs[:, 1:]).sum())
        elif degree:
            total += sum(_information(kept.codes, schema.sizes, row) for row in rows)
    return total


def _cells(pairs: np.ndarray, schema: Schema) -> int:
    return max(math.prod(schema.sizes[j] for j in row) for row in pairs.tolist())


def _information(codes: np.ndarray, sizes: tuple[int, ...], row: list[int]) -> float:
    def entropy(columns: list[int]) -> float:
        _, counts = np.unique(sparse.keys(codes, sizes, columns), return_counts=True)
        p = counts / len(codes)
        return float(-(p * np.log2(p)).sum())

    return entropy(row[:1]) + entropy(row[1:]) - entropy(row)
