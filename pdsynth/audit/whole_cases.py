"""Cases of whole algorithms under ``guarantee="strict"``, network and tables together, one fit after the other."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction as Q
from functools import partial
from typing import Any

import numpy as np

from ..curator import Curator
from ..ledger import Ledger
from ..mechanisms import Noise
from ..network import Network
from ..synthesizers import PPBA, GeneticBayes, HMPrivBayes, HPPrivBayes, PrivABN, PrivBayes, Synthesizer, baselines
from .case import Case, OneByOne, sound
from .tables import Pair, zeros_to_ones

SLOW = 40  # a fit takes as long as so many releases of one table
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
    """Log-likelihood ratio of the noisy cells that the pair changes, in 32nds.

    Where a table was worked on afterwards, the share of its cell of ones stands in.

    **Privacy:** post-processing of a release.
    """
    network, tables, ledger = fitted
    scales = {e.attributes: e.scale for e in ledger.entries if e.step.startswith("table(")}
    total = 0.0
    for (child, parents), noisy in zip(network.pairs, tables, strict=True):
        scale = scales.get((child, *parents))
        if scale is None:
            total += max(float(noisy.flat[-1]), 0.0) / max(float(np.maximum(noisy, 0).sum()), 1.0)
            continue
        columns = tuple(int(a[1:]) for a in (child, *parents))
        before, after = (r.table(columns) for r in pair.records)
        moved = before != after
        b = np.broadcast_to(np.array(scale, dtype=object).astype(float).reshape(-1, *[1] * (noisy.ndim - 1)), noisy.shape)
        total += float(((np.abs(noisy - after) - np.abs(noisy - before)) / b)[moved].sum())
    return round(32 * total)


CASES: list[Case] = [
    sound(f"strict-{name}", "the whole algorithm: structure and tables", "strict", lambda: zeros_to_ones(3),
          OneByOne(partial(fit, make), evidence, slow=SLOW), Q(2)) for name, make in WHOLE.items()
]  # fmt: skip
