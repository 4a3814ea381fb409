"""What ``pds.plan`` advises, held against the methods it could have named: on eight tables, on four
of few records, and on two whose columns are drawn independently, the worst case of all but one.

python benchmarks/advice.py [TABLE ...] [--repeats 3] [--most 8] [--delta 1e-9]

Two-way distance of rows, each drawn by itself, at ε = .1 … 2 (few records: 1 … 10), every table
advised under the prior of the others. Balanced rows, which ``sample`` deals out, come nearer: of one
table of all columns, whose forecast is theirs, several times (iris, 4 bins, ε = 10). Tables of few records are scikit-learn's, their numbers in 4 or 8 equal bins.
Rivals: Independent, JTree, PrivBayes with k = 0 … 3; those foretold to take more than ``--most``
seconds are left out. Noise and rows of repeat i come from seed i. Appends to
figures/advice_trials.csv what it hasn't yet (remove it after a change of the plan or of a method),
and writes figures/advice.csv: one row per table and ε (`figures/make.py scoreboard` shows it). Five
tables need $PDSYNTH_DATA. All of it takes a quarter of an hour. ``--delta`` writes no file: it prints what is
foretold of ConsistentBayes with that δ, and what comes of it.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from sklearn import datasets  # noqa: E402

import pdsynth as pds  # noqa: E402
from pdsynth.core.records import Records  # noqa: E402
from pdsynth.evaluation.marginals import marginal_distance  # noqa: E402
from pdsynth.papers.yardsticks import LOADERS  # noqa: E402
from pdsynth.planning import SINGLE, forecasts, prior  # noqa: E402

FIGURES = HERE.parent / "figures"
TRIALS, FILE = FIGURES / "advice_trials.csv", FIGURES / "advice.csv"
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
MADE_UP = {  # independent columns: rows, columns, values of each
    "independent, 20 × 5": (50_000, 20, 5),
    "independent, 30 × 2": (20_000, 30, 2),
}
FEW = {  # few records: who reads it, and how many bins its numbers have
    f"{name}, {bins} bins": (reader, bins)
    for name, reader in (
        ("iris", datasets.load_iris),
        ("wine", datasets.load_wine),
        ("breast cancer", datasets.load_breast_cancer),
        ("diabetes", datasets.load_diabetes),
    )
    for bins in (4, 8)
}
EPSILONS_FEW = (1.0, 2.0, 5.0, 10.0)
TABLES = (*LOADERS, *FEW, *MADE_UP)
KEY = ["table", "epsilon", "method"]


def judged(table: str) -> list[str]:
    """The tables that the prior leaves out where this one is judged: its other codings, too."""
    return [name for name in LOADERS if name.split(",")[0] == table.split(",")[0]]


def methods(
    schema: pds.Schema, n: int, epsilon: float, table: str, most: float
) -> dict[str, tuple[Callable[..., Any], bool]]:
    """By name: how it is made, and whether it is what the plan names."""
    found = forecasts(schema, n, epsilon, prior(*judged(table)))
    made = {
        f.name: (f.make, f is found[0])
        for f in found
        if f is found[0] or (f.seconds <= most and not f.name.startswith("ConsistentBayes"))
    }
    made["PrivBayes(k=0)"] = partial(pds.PrivBayes, k=0), False
    return made


def load(table: str) -> Records:
    """A table of the yardsticks, or one whose columns are drawn independently."""
    if table in LOADERS:
        data = LOADERS[table]()
        return Records(data.schema.encode(data.frame), data.schema)
    if table in FEW:
        reader, bins = FEW[table]
        return few(reader(as_frame=True).frame, bins)
    n, d, size = MADE_UP[table]
    schema = pds.Schema(
        tuple(pds.Attribute.categorical(f"x{j}", list(range(size))) for j in range(d))
    )
    weights = 1 / np.arange(1, size + 1)
    codes = np.random.default_rng(0).choice(size, (n, d), p=weights / weights.sum())
    return Records(codes.astype(np.uint8), schema)


def few(frame: pd.DataFrame, bins: int) -> Records:
    """Numbers between their ends in equal bins; what has few values keeps them.

    Of a column that is given as mean, error and worst, the mean.
    """
    if "mean radius" in frame:
        frame = frame[[name for name in frame if name.startswith("mean ") or name == "target"]]
    attributes = [
        pds.Attribute.categorical(name, sorted(column.unique()))
        if column.nunique() < bins
        else pds.Attribute.numeric(name, float(column.min()), float(column.max()), bins=bins)
        for name, column in frame.items()
    ]
    schema = pds.Schema(attributes)
    return Records(schema.encode(frame), schema)


def with_delta(table: str, repeats: int, delta: str) -> Iterator[str]:
    """A line per ε: the forecast of ConsistentBayes with a δ, its distance, and the ratio."""
    records, others = load(table), prior(*judged(table))
    for epsilon in points(table):
        found = forecasts(records.schema, records.n, epsilon, others, delta=Fraction(delta))
        said = next(f for f in found if f.delta is not None)
        fits = [distance_of(said.make, records, epsilon, repeat) for repeat in range(repeats)]
        mean = float(np.mean(fits))
        yield f"{table}, ε = {epsilon:g}: {said.distance:.4f} {mean:.4f} {mean / said.distance:.2f}"


def distance_of(make: Callable[..., Any], records: Records, epsilon: float, repeat: int) -> float:
    """The two-way distance of as many rows as there are records."""
    model = make(epsilon=epsilon).set_params(noise="common", random_state=repeat)
    rng = np.random.default_rng([repeat, 1])
    codes = model.fit(records).model_.sample_codes(records.n, rng)
    return float(marginal_distance(records, codes, records.schema, 2))


def points(table: str) -> tuple[float, ...]:
    """The ε at which a table is judged."""
    return EPSILONS_FEW if table in FEW else EPSILONS


def trials(table: str, repeats: int, most: float, done: set[tuple[Any, ...]]) -> Iterator[Any]:
    """What isn't done yet: table, ε, method, whether it is advised, repeat, distance."""
    records = load(table)
    for repeat in range(repeats):
        for epsilon in points(table):
            wanted = methods(records.schema, records.n, epsilon, table, most)
            for name, (make, advised) in wanted.items():
                if (table, epsilon, name, repeat) in done:
                    continue
                distance = distance_of(make, records, epsilon, repeat)
                yield table, epsilon, name, advised, repeat, distance


def foretold(table: str) -> dict[tuple[str, float], float]:
    """The forecast of the method that is advised on a table, by table and ε."""
    records, others = load(table), prior(*judged(table))
    return {
        (table, e): forecasts(records.schema, records.n, e, others)[0].distance
        for e in points(table)
    }


def summary(found: pd.DataFrame, said: dict[tuple[str, float], float]) -> pd.DataFrame:
    """One row per table and ε: the advised method, its forecast, the nearest rival, and ratios.

    ``said``: the forecasts by table and ε.
    """
    rows = []
    points = found.groupby([*KEY, "advised"], sort=False)["distance"].agg(["mean", "count"])
    for (table, epsilon), part in points.reset_index().groupby(KEY[:2], sort=False):
        means = part.set_index("method")
        mine = means[means["advised"]]
        if mine.empty or SINGLE not in means.index:
            continue
        mine, alone = mine.iloc[0], means.loc[SINGLE, "mean"]
        rivals = means[~means.index.str.startswith("ConsistentBayes")]["mean"]
        rows.append(
            {
                "table": table,
                "epsilon": epsilon,
                "advised": mine.name,
                "foretold": said[table, epsilon],
                "distance": mine["mean"],
                "nearest rival": rivals.idxmin(),
                "its distance": rivals.min(),
                "÷ rival": mine["mean"] / rivals.min(),
                "÷ Independent": mine["mean"] / alone,
                "repeats": int(mine["count"]),
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Read the command line, run what is missing, and write both files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", choices=(*TABLES, []), help="all if none is named")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=float, default=8.0, help="seconds of a rival's fit")
    parser.add_argument("--delta", metavar="δ", help="print forecasts with it, and distances")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the notes on noise that the plan is about
    if options.delta:
        for table in options.tables or TABLES:
            for line in with_delta(table, options.repeats, options.delta):
                print(line, flush=True)
        return
    columns = [*KEY, "advised", "repeat", "distance"]
    for table in options.tables or TABLES:
        old = pd.read_csv(TRIALS) if TRIALS.exists() else pd.DataFrame(columns=columns)
        done = {*old[[*KEY, "repeat"]].itertuples(index=False, name=None)}
        for row in trials(table, options.repeats, options.most, done):
            one = pd.DataFrame([row], columns=columns)
            one.to_csv(
                TRIALS,
                mode="a",
                header=not TRIALS.exists(),
                index=False,
                lineterminator="\n",
                float_format="%.6g",
            )
    if TRIALS.exists():
        found, said = pd.read_csv(TRIALS), {}
        for table in found["table"].unique():
            said |= foretold(table)
        made = summary(found, said)
        made.to_csv(FILE, index=False, lineterminator="\n", float_format="%.4g")
        sys.stdout.write(made.to_string(index=False) + "\n")


if __name__ == "__main__":
    main()
