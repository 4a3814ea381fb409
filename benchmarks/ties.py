"""Whether one strong pair among weakly tied columns is kept, beside a network of one parent.

python benchmarks/ties.py FILE [--records N …] [--columns D …] [--copied C …] [--epsilons E …]
                               [--seeds S] [--pairs P]

One row per table, ε, seed and method: how far the pair is from independence in the table, how far
its release is from the table, and whether it is *kept*: less than half as far. Seed i makes table,
fit and rows. The table printed shows, for each ε and number of columns, in how many fits each
method keeps the pair, and in what part of the fits in which PrivBayes(k=1) keeps it
ConsistentBayes does. The whole grid is 5,400 fits, about a quarter of an hour. With ``--pairs`` there
are several tied pairs, each copied .7 times as often as the one before, and the last is asked for.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, os.environ.get("PDSYNTH_TREE", str(HERE.parent)))

import pdsynth as pds  # noqa: E402

RECORDS = (2_000, 8_000, 50_000)
COLUMNS = (10, 20, 30)
COPIED = (0.25, 0.5, 0.9)  # ties of about .21, .42 and .75
EPSILONS = (0.5, 1.0, 2.0, 4.0, 10.0)
FAINTER = 0.7  # as often as the pair before is one of several pairs copied
METHODS: dict[str, Callable[..., pds.Recipe]] = {
    "ConsistentBayes": pds.ConsistentBayes,
    "PrivBayes": lambda epsilon, **o: pds.PrivBayes(epsilon, k=1, **o),
}


def one_tie(
    n: int, d: int, copied: float, seed: int, pairs: int = 1
) -> tuple[pd.DataFrame, pds.Schema]:
    """A pair of six values each, the second copied with probability ``copied``, and weak columns.

    The others have two to eight values, and a class of three ties them a little. Of several pairs,
    the first columns, each is copied :data:`FAINTER` times as often as the one before.
    """
    rng = np.random.default_rng(seed)
    sizes = [6, 6] * pairs + (2 + np.arange(d - 2 * pairs) % 7).tolist()
    kind, codes = rng.integers(0, 3, n), np.empty((n, d), dtype=int)
    for j, m in enumerate(sizes):
        shares = rng.dirichlet(np.full(m, 2.0), 3)
        shares = 0.8 * shares.mean(axis=0) + 0.2 * shares
        codes[:, j] = (rng.random(n)[:, None] > shares.cumsum(axis=1)[kind]).sum(axis=1)
    for i in range(0, 2 * pairs, 2):
        codes[:, i], codes[:, i + 1] = rng.integers(0, 6, (2, n))
        part = copied * FAINTER ** (i // 2)
        codes[:, i + 1] = np.where(rng.random(n) < part, codes[:, i], codes[:, i + 1])
    frame = pd.DataFrame(
        np.minimum(codes, np.array(sizes) - 1), columns=[f"c{j}" for j in range(d)]
    )
    kinds = zip(frame, sizes, strict=True)
    return frame, pds.Schema(tuple(pds.Attribute.categorical(c, range(m)) for c, m in kinds))


def distances(frame: pd.DataFrame, rows: pd.DataFrame, pairs: int = 1) -> tuple[float, float]:
    """The last pair's distance from independence, and of its release from the table."""
    first, second = f"c{2 * pairs - 2}", f"c{2 * pairs - 1}"

    def shares(table: pd.DataFrame) -> np.ndarray:
        cells = np.bincount(6 * table[first] + table[second], minlength=36)
        return cells.reshape(6, 6) / len(table)

    true = shares(frame)
    alone = np.outer(true.sum(axis=1), true.sum(axis=0))
    return 0.5 * np.abs(true - alone).sum(), 0.5 * np.abs(true - shares(rows.astype(int))).sum()


def measure(
    n: int,
    d: int,
    copied: float,
    epsilon: float,
    seed: int,
    methods: tuple[str, ...] = (),
    pairs: int = 1,
) -> list[dict]:
    """One row per method."""
    frame, schema = one_tie(n, d, copied, seed, pairs)
    rows = []
    for method in methods or METHODS:
        fitted = METHODS[method](epsilon, random_state=seed).fit(frame, schema)
        tie, left = distances(frame, fitted.sample(random_state=seed), pairs)
        cell = {"records": n, "columns": d, "copied": copied, "epsilon": epsilon, "seed": seed}
        rows.append({**cell, "method": method, "tie": tie, "left": left, "kept": left < tie / 2})
    return rows


def summary(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """In how many fits each method keeps the pair, and ours where PrivBayes does."""
    cell = ["records", "columns", "copied", "epsilon", "seed"]
    kept = rows.pivot(index=cell, columns="method", values="kept").reset_index()
    kept["both"] = kept["PrivBayes"] & kept["ConsistentBayes"]
    found = kept.groupby(by)[["ConsistentBayes", "PrivBayes", "both"]].sum().astype(int)
    found.insert(0, "fits", kept.groupby(by).size())
    return found.assign(part=found["both"] / found["PrivBayes"])


def main(words: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--records", nargs="+", type=int, default=RECORDS)
    parser.add_argument("--columns", nargs="+", type=int, default=COLUMNS)
    parser.add_argument("--copied", nargs="+", type=float, default=COPIED)
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=1)
    asked = parser.parse_args(words)
    rows = list[dict]()
    for cell in product(asked.records, asked.columns, asked.copied, asked.epsilons):
        for seed in range(asked.seeds):
            rows += measure(*cell, seed, pairs=asked.pairs)
        pd.DataFrame(rows).to_csv(asked.file, index=False, float_format="%.6g")
    frame = pd.DataFrame(rows)
    for by in (["epsilon", "columns"], ["copied", "records"]):
        print(summary(frame, by).to_string(float_format="{:.3f}".format), "\n")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
