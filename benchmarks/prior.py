"""What the forecasts of `pds.plan` assume of a table that nobody has read, measured on eight tables.

python benchmarks/prior.py [TABLE ...]

Rewrites those rows of pdsynth/planning/prior.csv (all if none is named; five need $PDSYNTH_DATA): the mean two-way
distance of a table from its own single columns (`dependence`), and which part of it noise-free
models leave: a forest of pairs, networks of 1, 2, 3 parents. A million balanced rows, seed 0. Reads
records exactly: public tables only. k = 3 on Big5 has 1.7 million candidates, and isn't run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pdsynth as pds  # noqa: E402
from pdsynth.core.records import Records  # noqa: E402
from pdsynth.evaluation.marginals import marginal_distance  # noqa: E402
from pdsynth.papers.yardsticks import LOADERS  # noqa: E402

FILE = HERE.parent / "pdsynth" / "planning" / "prior.csv"
ROWS = 1_000_000
MODELS: dict[str, Callable[[], Any]] = {
    "dependence": lambda: pds.baselines.Independent(guarantee="none"),
    "tree": lambda: pds.ConsistentBayes(1e6, rounds=0),  # weighs noise, so it wants some ε
    "k=1": lambda: pds.PrivBayes(k=1, guarantee="none"),
    "k=2": lambda: pds.PrivBayes(k=2, guarantee="none"),
    "k=3": lambda: pds.PrivBayes(k=3, guarantee="none"),
}


def measure(table: str) -> dict[str, float]:
    """The distance from independence, and the part of it that each model leaves."""
    data = LOADERS[table]()
    records, found = Records(data.schema.encode(data.frame), data.schema), {}
    for name, make in MODELS.items():
        if (table, name) == ("Big5", "k=3"):
            continue
        model = make().set_params(random_state=0).fit(records)
        rows = model.sample(ROWS, random_state=0, method="balanced")
        found[name] = marginal_distance(data.frame, rows, data.schema, 2)
    return {k: v if k == "dependence" else v / found["dependence"] for k, v in found.items()}


def main() -> None:
    """Measure, and write the file."""
    named = sys.argv[1:] or list(LOADERS)
    found = pd.DataFrame({name: measure(name) for name in named}).T.rename_axis("table")
    old = pd.read_csv(FILE, index_col=0) if FILE.exists() else found.head(0)
    both = pd.concat([part for part in (old.drop(named, errors="ignore"), found) if len(part)])
    both = both.loc[[name for name in LOADERS if name in both.index]]
    both.to_csv(FILE, lineterminator="\n", float_format="%.4f")
    sys.stdout.write(both.to_string() + "\n")


if __name__ == "__main__":
    main()
