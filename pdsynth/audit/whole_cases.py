"""Cases of whole algorithms under ``guarantee="strict"``, network and tables together, one fit after the other."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction as Q
from functools import partial
from typing import Any

import numpy as np

from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import Ledger
from ..privacy.mechanisms import Noise
from ..synthesizers import (
    PPBA,
    GeneticBayes,
    HMPrivBayes,
    HPPrivBayes,
    PrivABN,
    PrivBayes,
    Synthesizer,
    baselines,
)
from .case import Case, OneByOne, sound
from .tables import Pair, zeros_to_ones

SLOW = 20  # a fit takes as long as so many releases of one table
Fitted = tuple[Network, tuple[Any, ...], Ledger]

WHOLE: dict[str, Callable[..., Synthesizer]] = {
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
    "independent": baselines.Independent,
    "jtree": baselines.JTree,
    "priview": baselines.PriView,
}


def fit(make: Callable[..., Synthesizer], door: Curator, noise: Noise, epsilon: Q) -> Fitted:
    """Network, tables and ledger of one strict fit.

    **Privacy:** ε, as the algorithm says.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nine records are few: the audit knows
        network, tables = make(epsilon)._recipe(door, noise, epsilon)
    return network, tables, door.ledger


def evidence(fitted: Fitted, pair: Pair) -> int:
    """Log-likelihood ratio of the noisy cells that the pair changes, in 32nds; tables that are derived from those tell no more.

    Where no table is released as measured (views), what each cell gains between the two tables is added up, as a share of all records.

    **Privacy:** post-processing of a release.
    """
    network, tables, ledger = fitted
    scales = {e.step: e.scale for e in ledger.entries}
    total = shares = 0.0
    for (child, parents), noisy in zip(network.pairs, tables, strict=True):
        before, after = pair.counts((child, *parents))
        scale = scales.get(f"table({child}" + (f" | {', '.join(parents)})" if parents else ")"))
        if scale is None:
            shares += float((noisy * (after - before)).sum()) / max(float(np.maximum(noisy, 0).sum()), 1.0)
            continue
        moved = before != after
        b = np.broadcast_to(np.array(scale, dtype=object).astype(float).reshape(-1, *[1] * (noisy.ndim - 1)), noisy.shape)
        total += float(((np.abs(noisy - after) - np.abs(noisy - before)) / b)[moved].sum())
    return round(-32 * total if any(step.startswith("table(") for step in scales) else 32 * shares)


CASES: list[Case] = [
    sound(f"strict-{name}", "the whole algorithm: structure and tables", "strict", lambda: zeros_to_ones(3),
          OneByOne(partial(fit, make), evidence, slow=SLOW), Q(2)) for name, make in WHOLE.items()
]  # fmt: skip
