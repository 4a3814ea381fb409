"""What zero-sum noise is worth where columns have two values: ``python benchmarks/zero_sum.py``.

NLTCS and ACS, whose columns all have two values, at ε = 0.1, strict, one record replaced: the mean
distance of all columns and of all pairs of sampled rows, over the fits of a cell (fit i has seed i,
its rows too), and its ratio to the same method with discrete Laplace noise and tables as measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pdsynth as pds  # noqa: E402
from pdsynth.core.curator import Curator  # noqa: E402

EPSILON, FITS = 0.1, 20
TABLES = {"NLTCS": pds.datasets.load_nltcs, "ACS": pds.datasets.load_acs}
METHODS: dict[str, Callable[..., Any]] = {
    "Independent": pds.baselines.Independent,
    "PrivBayes, k = 1": partial(pds.PrivBayes, k=1),
    "PrivBayes, k = 2": partial(pds.PrivBayes, k=2),
}
AGREE = {"reconcile": pds.parts.Agree()}
WAYS = {  # whether small tables get zero-sum noise, and the options of the method
    "discrete Laplace": (False, {}),
    "zero-sum": (True, {}),
    "zero-sum, tables agree": (True, AGREE),
}


def distances(make: Callable[..., Any], table: Any, seed: int) -> list[float]:
    """Mean distance of columns and of pairs of one fit's rows."""
    fitted = make(EPSILON, random_state=seed).fit(table.frame, table.schema)
    real, rows = table.frame, fitted.sample(random_state=seed)
    return [
        float(pds.evaluate.marginal_distances(real, rows, table.schema, ways).mean())
        for ways in (1, 2)
    ]


def cell(name: str, way: str, table: Any, fits: int) -> np.ndarray:
    """Both distances of each fit: float (fits, 2)."""
    zero_sum, options = WAYS[way]
    make = partial(METHODS[name], **options)
    with patch.object(Curator, "zero_sum", zero_sum):
        return np.array([distances(make, table, seed) for seed in range(fits)])


def main(arguments: list[str] | None = None) -> None:
    """Print a row for each table, method and way."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--fits", type=int, default=FITS)
    fits = parser.parse_args(arguments).fits
    print(f"| table | method | noise | columns | ratio | pairs | ratio |  ({fits} fits)")
    print("|---|---|---|---|---|---|---|")
    for table_name, load in TABLES.items():
        table = load()
        for name in METHODS:
            before = None
            for way, (_, options) in WAYS.items():
                if options and name == "Independent":
                    continue  # it has no tables that could disagree
                found = cell(name, way, table, fits)
                mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / fits**0.5
                before = mean if before is None else before
                shown = [
                    f"{m:.4f} ± {e:.4f} | {m / b:.2f}"
                    for m, e, b in zip(mean, error, before, strict=True)
                ]
                print(f"| {table_name} | {name} | {way} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
