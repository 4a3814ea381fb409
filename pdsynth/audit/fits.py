"""Whole fits under audit: all of strict algorithms, and networks alone."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from ..synthesizers import GeneticBayes, Synthesizer, parts
from .case import Fit
from .table_steps import unlinked
from .tables import Pair

STRUCTURES: dict[str, partial] = {
    "order_by_raw_average": partial(Synthesizer, structure=parts.Ordered(k=1)),
    "order_by_raw_sums": partial(Synthesizer, structure=parts.PairwiseSums(k=1)),
    "filter_by_raw_sums": partial(Synthesizer, structure=parts.PairwiseSums(k=1, keep=2 / 3)),
    "raw_tree": partial(Synthesizer, structure=parts.SpanningTree(k=1)),
    "search": partial(GeneticBayes, k=1, search="exact"),
    "risk_entropy": partial(Synthesizer, structure=unlinked(3), budget=parts.RiskEntropy()),
}


def fit_structure(name: str, guarantee: str) -> Fit:
    """A fit of which the network is seen."""
    return Fit(partial(STRUCTURES[name], guarantee=guarantee), attrgetter("network_"))


def evidence(fitted: Any, pair: Pair) -> int:
    """Log-likelihood ratio of the noisy cells that the pair changes, in 32nds.

    Tables that are derived from those tell no more. Where no table is released as measured (views),
    what each cell gains between the two tables is added up, as a share of all records.

    **Privacy:** post-processing of a release.
    """
    scales = {e.step: e.scale for e in fitted.ledger_.entries}
    total = shares = 0.0
    for (child, parents), noisy in zip(fitted.network_.pairs, fitted.model_.tables, strict=True):
        before, after = pair.counts((child, *parents))
        scale = scales.get(f"table({child}{' | ' if parents else ''}{', '.join(parents)})")
        if scale is None:
            whole = max(float(np.maximum(noisy, 0).sum()), 1.0)
            shares += float((noisy * (after - before)).sum()) / whole
            continue
        b = np.array(scale, dtype=object).astype(float).reshape(-1, *[1] * (noisy.ndim - 1))
        ratio = (np.abs(noisy - after) - np.abs(noisy - before)) / b
        total += float(ratio[before != after].sum())
    return round(-32 * total if any(s.startswith("table(") for s in scales) else 32 * shares)
