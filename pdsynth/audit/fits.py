"""Whole fits under audit: strict algorithms, network and tables together, and published structures."""

from __future__ import annotations

import warnings
from fractions import Fraction as Q
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from ..synthesizers import (
    PPBA, GeneticBayes, HMPrivBayes, HPPrivBayes, PrivABN, PrivBayes, Synthesizer, baselines, parts,
)
from .case import Fit
from .table_steps import unlinked
from .tables import Pair

ALGORITHMS: dict[str, partial] = {
    "privbayes": partial(PrivBayes, k=1),
    "hpprivbayes": partial(HPPrivBayes, k=1, sensitive="x0"),
    "hmprivbayes": partial(HMPrivBayes, k=1, l=1, eta=0),
    "privabn": partial(PrivABN, k=1),
    "geneticbayes": partial(GeneticBayes, k=1, search="exact"),
    "ppba": partial(PPBA, k=1),
    "elprivbayes": partial(baselines.ELPrivBayes, k=1),
    "saprivbayes": partial(baselines.SAPrivBayes, k=1),
    "csaprivbayes": partial(baselines.CSAPrivBayes, k=1, sensitive="x0"),
    "weightedprivbayes": partial(baselines.WeightedPrivBayes, k=1),
    "privscbn": partial(baselines.PrivSCBN, clusters=[["x0", "x1"], ["x2"]]),
    "independent": partial(baselines.Independent),
    "jtree": partial(baselines.JTree),
    "priview": partial(baselines.PriView),
}
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


def fit_algorithm(name: str) -> Fit:
    """A strict fit of which everything is seen."""
    return Fit(ALGORITHMS[name], lambda fitted: fitted)


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
