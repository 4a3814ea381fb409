"""How near ConsistentBayes comes on tables that it was not made for, and what it keeps.

python benchmarks/nearer.py run FILE [--tables NAME …] [--epsilons E …] [--fits N] [--set NAME=VALUE]
python benchmarks/nearer.py compare BEFORE AFTER
python benchmarks/nearer.py pays [--tables NAME …] [--epsilons E …] [--fits N]
python benchmarks/nearer.py label [--epsilons E …] [--fits N]
python benchmarks/nearer.py alone FILE [--epsilons E …] [--fits N]
python benchmarks/nearer.py once FILE [--epsilons E …] [--fits N] [--set NAME=VALUE …]

``run`` writes one row per table, ε and fit: the mean two-way distance of sampled rows, the mean
of the farthest 5 % of pairs, the farthest pair, the distance of the pair that was planted (made
tables only), how many tables of several columns were measured, and seconds. Fit i has seed i, its
rows too; made tables come from seed 0. ``compare`` shows mean over mean for each cell, with its
standard error. ``pays`` asks whether a pair pays at all: the pairs that are tied most, read off the
raw table (so it isn't private), are forced, for a tenth or a quarter of ε, beside what the method
does by itself and beside Independent. ``label`` says what ``target=`` is worth: Adult with its
numbers in 100 bins, a gradient boosting that learns the salary from sampled rows, its AUC on 15,000
real people whom no fit has seen, and the distance. ``alone`` says what independent columns lose to
Independent: the ratio of the distances with its standard error, for 2,000 to 50,000 records of 10
to 30 columns of two and of six values. ``once`` sets one table of all columns against rounds, on
tables of 64 to 8,000 cells, and says in which part of the fits it is chosen. Real tables are read from
$PDSYNTH_DATA. A run of all tables takes about a quarter of an hour.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, os.environ.get("PDSYNTH_TREE", str(HERE.parent)))

import pdsynth as pds  # noqa: E402
from pdsynth import planning  # noqa: E402
from pdsynth.core import Facts, tvd_from_independence  # noqa: E402

EPSILONS = (0.2, 0.5, 1.0, 4.0)
CELL = ["table", "epsilon"]
Made = tuple[pd.DataFrame, pds.Schema]


# --- tables ---------------------------------------------------------------------------------------


def frame_of(codes: np.ndarray, sizes: list[int]) -> Made:
    """A table of codes, and its schema."""
    frame = pd.DataFrame(codes, columns=[f"c{i}" for i in range(codes.shape[1])])
    kinds = zip(frame, sizes, strict=True)
    return frame, pds.Schema(tuple(pds.Attribute.categorical(c, range(m)) for c, m in kinds))


def planted(d: int, n: int = 8_200, values: int = 6, copied: float = 0.5, seed: int = 0) -> Made:
    """Independent columns, but the second copies the first with probability ``copied``."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, values, (n, d))
    codes[:, 1] = np.where(rng.random(n) < copied, codes[:, 0], codes[:, 1])
    return frame_of(codes, [values] * d)


def wide_pair(seed: int = 0) -> Made:
    """7,000 × 38, weakly tied columns of 2 to 8 values, and one pair of 16 × 16, .75 from apart."""
    rng = np.random.default_rng(seed)
    n, sizes = 7_000, [16, 16, *(2 + np.arange(36) % 7).tolist()]
    kind = rng.integers(0, 3, n)  # a latent class that ties the small columns a little
    codes = np.empty((n, 38), dtype=int)
    for j, m in enumerate(sizes):
        shares = rng.dirichlet(np.full(m, 2.0), 3)
        shares = 0.7 * shares.mean(axis=0) + 0.3 * shares
        codes[:, j] = (rng.random(n)[:, None] > shares.cumsum(axis=1)[kind]).sum(axis=1)
    codes[:, 0] = rng.integers(0, 16, n)
    codes[:, 1] = np.where(rng.random(n) < 0.8, 15 - codes[:, 0], rng.integers(0, 16, n))
    return frame_of(np.minimum(codes, np.array(sizes) - 1), sizes)


def dear_pair(n: int = 2_500, seed: int = 0) -> Made:
    """Twelve columns: a pair of 16 × 16 that is tied most, one of 4 × 4 less, and weak ones."""
    rng = np.random.default_rng(seed)
    sizes = [16, 16, *[4] * 10]
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    for child, copied in ((1, 0.5), (3, 0.34)):
        codes[:, child] = np.where(rng.random(n) < copied, codes[:, child - 1], codes[:, child])
    return frame_of(codes, sizes)


def classes(n: int = 7_214, seed: int = 0) -> Made:
    """Fifteen columns tied by four latent classes, of the size and ties of COMPAS."""
    rng = np.random.default_rng(seed)
    sizes = [2, 6, 3, 2, 10, 5, 10, 3, 2, 2, 8, 3, 10, 4, 9]
    kind = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    codes = np.empty((n, len(sizes)), dtype=int)
    for j, m in enumerate(sizes):
        shares = rng.dirichlet(np.full(m, 0.7), 4)
        shares = 0.45 * shares.mean(axis=0) + 0.55 * shares
        codes[:, j] = (rng.random(n)[:, None] > shares.cumsum(axis=1)[kind]).sum(axis=1)
    return frame_of(np.minimum(codes, np.array(sizes) - 1), sizes)


def scores(seed: int = 0) -> Made:
    """The same, where two columns of ten values stand a second time, cut into three."""
    frame, schema = classes(seed=seed)
    frame["c7"] = np.digitize(frame["c6"], [4, 7])
    frame["c2"] = np.digitize(frame["c4"], [3, 7])
    return frame, schema


def two_alike(n: int = 30_000, seed: int = 0) -> Made:
    """Twelve columns of six values, of which two pairs are as faintly tied: .09 from independent."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, (n, 12))
    for child in (1, 3):
        codes[:, child] = np.where(rng.random(n) < 0.11, codes[:, child - 1], codes[:, child])
    return frame_of(codes, [6] * 12)


def near_a_rule(n: int = 8_000, seed: int = 0) -> Made:
    """Fourteen columns, of which a rule says c0 ≤ c1: in seven of ten records they are equal."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (n, 14))
    may = np.array([*zip(*np.triu_indices(8), strict=True)])
    codes[:, :2] = may[rng.integers(0, len(may), n)]
    codes[:, 1] = np.where(rng.random(n) < 0.7, codes[:, 0], codes[:, 1])
    frame, plain = frame_of(codes, [8, 8, *[4] * 12])
    rules = [pds.Rule.impossible({"c0": [*range(v + 1, 8)], "c1": v}) for v in range(7)]
    return frame, pds.Schema(plain.attributes, rules=rules)


def few_cells(*sizes: int, n: int = 3_200, seed: int = 0) -> Made:
    """Few columns of few values: three of ten records copy the column before."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    for j in range(1, len(sizes)):
        codes[:, j] = np.where(rng.random(n) < 0.3, codes[:, j - 1] % sizes[j], codes[:, j])
    return frame_of(codes, [*sizes])


def iris() -> Made:
    """Few records: 150 flowers, four lengths in 8 bins each and the species."""
    from sklearn.datasets import load_iris

    frame = load_iris(as_frame=True).frame
    *lengths, species = frame
    bins = (pds.Attribute.numeric(c, frame[c].min(), frame[c].max(), bins=8) for c in lengths)
    return frame, pds.Schema((*bins, pds.Attribute.categorical(species, range(3))))


def real(load: Callable[[], Any]) -> Callable[[], Made]:
    """A table of the package's loaders."""

    def read() -> Made:
        dataset = load()
        return dataset.frame, dataset.schema

    return read


TABLES: dict[str, Callable[[], Made]] = {
    "Adult (thesis)": real(lambda: pds.datasets.load_adult(coding="thesis")),
    "NLTCS": real(pds.datasets.load_nltcs),
    "ACS": real(pds.datasets.load_acs),
    "credit default": real(pds.datasets.load_credit_default),
    "CMC": real(pds.datasets.load_cmc),
    "national2019": real(lambda: pds.datasets.load_national2019()),
    "iris, 150 × 5": iris,
    "classes, 7,214 × 15": classes,
    "scores, 7,214 × 15": scores,
    "one tie, 8,200 × 12": lambda: planted(12),
    "one tie, 8,200 × 23": lambda: planted(23),
    "one tie, 8,200 × 30": lambda: planted(30),
    "wide tie, 7,000 × 38": wide_pair,
    "dear tie, 2,500 × 12": dear_pair,
    "tie of two alike, 30,000 × 12": two_alike,
    "tie near a rule, 8,000 × 14": near_a_rule,
    "few cells, 3,200 × 2": lambda: few_cells(2, 5),
    "few cells, 3,200 × 4": lambda: few_cells(2, 3, 4, 5),
    "independent, 8,200 × 8": lambda: planted(8, values=3, copied=0),
    "independent, 8,200 × 16": lambda: planted(16, values=2, copied=0),
    "independent, 8,200 × 23": lambda: planted(23, copied=0),
}


# --- a run, and two compared ----------------------------------------------------------------------


def measure(name: str, made: Made, epsilon: float, seed: int, options: dict[str, Any]) -> dict:
    """One fit, its rows, and how far they are."""
    frame, schema = made
    start = time.perf_counter()
    synthesizer = pds.ConsistentBayes(epsilon, random_state=seed, **options).fit(frame, schema)
    seconds = time.perf_counter() - start
    rows = synthesizer.sample(random_state=seed)
    pairs = np.sort(pds.evaluate.marginal_distances(frame, rows, schema, 2).to_numpy())
    first = pds.Schema(schema.attributes[:2])
    tie = pds.evaluate.marginal_distance(frame[list(first.names)], rows[list(first.names)], first)
    return {
        "table": name,
        "epsilon": epsilon,
        "seed": seed,
        "mean": pairs.mean(),
        "farthest 5 %": pairs[-max(1, len(pairs) // 20) :].mean(),
        "farthest": pairs[-1],
        "tie": tie if "tie" in name else np.nan,
        "tables": sum(len(m) > 1 for m in synthesizer.measured_),
        "seconds": seconds,
    }


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the fits of each cell."""
    return rows.groupby(CELL, sort=False).mean(numeric_only=True).drop(columns="seed")


def compare(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Mean over mean with its standard error, and what else changed."""

    def ratio(measure: str) -> pd.Series:
        means, errors = [], []
        for rows in (before, after):
            groups = rows.groupby(CELL, sort=False)[measure]
            means.append(groups.mean())
            errors.append(groups.std() / groups.count() ** 0.5 / groups.mean())
        found = means[1] / means[0]
        half = found * (errors[0] ** 2 + errors[1] ** 2) ** 0.5
        shown = found.map("{:.3f}".format) + " ± " + half.map("{:.3f}".format)
        return shown.reindex(found.dropna().index)

    old, new = summary(before), summary(after)
    shown = {m: ratio(m) for m in ("mean", "farthest 5 %", "farthest")}
    for measure in ("mean", "tie", "tables", "seconds"):
        shown[f"{measure} now (before)"] = (
            new[measure].map("{:.4g}".format) + " (" + old[measure].map("{:.4g}".format) + ")"
        )
    return pd.DataFrame(shown).dropna()


def strongest(made: Made, most: int) -> list[tuple[str, str]]:
    """The pairs of columns that are farthest from independent, by raw counts: not private."""
    frame, schema = made
    codes, found = schema.encode(frame), []
    for i, j in itertools.combinations(range(len(schema)), 2):
        counts = pd.crosstab(codes[:, i], codes[:, j]).to_numpy()
        found.append((tvd_from_independence(counts), schema.names[i], schema.names[j]))
    return [(i, j) for _, i, j in sorted(found, reverse=True)[:most]]


def pays(name: str, made: Made, epsilon: float, fits: int) -> pd.DataFrame:
    """Mean two-way distance: the method alone, Independent, and 1, 2, 4 forced pairs."""
    frame, schema = made
    ways: dict[str, Callable[[int], Any]] = {
        "by itself": lambda seed: pds.ConsistentBayes(epsilon, random_state=seed),
        "Independent": lambda seed: pds.baselines.Independent(epsilon, random_state=seed),
    }
    pairs = strongest(made, 4)
    for count, part in itertools.product((1, 2, 4), (0.1, 0.25)):
        options = {
            "restriction": pds.Restriction(forced=pairs[:count]),
            "share_one_way": 1 - part,
            "rounds": count,
        }
        ways[f"{count} forced for {part:g} of ε"] = lambda seed, options=options: (
            pds.ConsistentBayes(epsilon, random_state=seed, **options)
        )
    rows = []
    for way, make in ways.items():
        drawn = (make(q).fit(frame, schema).sample(random_state=q) for q in range(fits))
        means = [pds.evaluate.marginal_distances(frame, t, schema, 2).mean() for t in drawn]
        rows.append({"table": name, "epsilon": epsilon, "way": way, "mean": np.mean(means)})
        rows[-1]["error"] = np.std(means, ddof=1) / fits**0.5
    return pd.DataFrame(rows)


def hundred_bins() -> Made:
    """Adult with each number in 100 bins, or as many as it has whole numbers."""
    dataset = pds.datasets.load_adult()
    attributes = (
        a
        if a.edges is None
        else pds.Attribute.numeric(a.name, a.edges[0], a.edges[-1], bins=100, integer=True)
        for a in dataset.schema.attributes
    )
    return dataset.frame, pds.Schema(tuple(attributes))


def label(epsilon: float, fits: int, tested: int = 15_000) -> pd.DataFrame:
    """AUC of a classifier of the salary, and the distance, with and without ``target=``."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    frame, schema = hundred_bins()
    places = np.random.default_rng(0).permutation(len(frame))
    real, train = (frame.iloc[p].reset_index(drop=True) for p in np.split(places, [tested]))

    def split(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        codes, at = schema.encode(rows), schema.index("salary")
        return np.delete(codes, at, axis=1), codes[:, at]

    def auc(rows: pd.DataFrame) -> float:
        learnt = HistGradientBoostingClassifier(random_state=0).fit(*split(rows))
        known, truth = split(real)
        return float(roc_auc_score(truth, learnt.predict_proba(known)[:, 1]))

    found = [{"rows": "real", "AUC": auc(train)}]
    for target in (None, "salary"):
        for seed in range(fits):
            fitted = pds.ConsistentBayes(epsilon, target=target, random_state=seed)
            rows = fitted.fit(train, schema).sample(random_state=seed)
            distance = pds.evaluate.marginal_distances(train, rows, schema, 2).mean()
            found.append({"rows": f"target={target}", "AUC": auc(rows), "distance": distance})
    return pd.DataFrame(found).groupby("rows", sort=False).agg(["mean", "sem"]).round(4)


def alone(epsilon: float, fits: int) -> pd.DataFrame:
    """How much farther independent columns are than with Independent, one row per kind of table.

    ``asked``: the part of ε that no table had; ``with pairs``: fits that measured any pair.
    """
    rows = []
    for values, n, d in itertools.product((2, 6), (2_000, 8_000, 50_000), (10, 20, 30)):
        frame, schema = planted(d, n, values, copied=0)
        distances, models = [], []
        for make in (pds.ConsistentBayes, pds.baselines.Independent):
            models.append(
                [make(epsilon, random_state=seed).fit(frame, schema) for seed in range(fits)]
            )
            tables = [model.sample(random_state=seed) for seed, model in enumerate(models[-1])]
            each = [pds.evaluate.marginal_distances(frame, t, schema, 2).mean() for t in tables]
            distances.append(pd.Series(each))
        ours, single = distances
        ratio = ours.mean() / single.mean()
        error = ratio * np.hypot(ours.sem() / ours.mean(), single.sem() / single.mean())
        entries = [e for model in models[0] for e in model.ledger_.entries]
        asked = sum(e.epsilon for e in entries if not e.step.startswith("table("))
        paired = sum(any(len(m) > 1 for m in model.measured_) for model in models[0])
        kind = {"values": values, "records": n, "columns": d, "epsilon": epsilon}
        found = {"asked": float(asked) / fits / epsilon, "with pairs": paired}
        rows.append(kind | {"ratio": ratio, "error": error} | found)
    return pd.DataFrame(rows)


def some_bits(load: Callable[[], Any], columns: int) -> Made:
    """The first columns of a table of two-valued ones."""
    frame, schema = real(load)()
    names = list(schema.names[:columns])
    return frame[names], schema.select(names)


SHAPES = (  # of made tables, with their records
    *(((8, 8), 3_200), ((2, 3, 4, 5), 3_200), ((4, 8, 3), 300), ((2, 5, 7), 800)),
    *(((6,) * 4, 3_200), ((6,) * 4, 40_000)),
    *(((16, 14, 7), 40_000), ((20, 20, 20), 40_000), ((5,) * 5, 40_000), ((4,) * 6, 40_000)),
    *(((12, 4, 2, 2, 8), 100_000), ((20, 3, 10, 2, 2), 100_000), ((2, 3, 3, 6, 8, 5), 100_000)),
)


def once(epsilon: float, fits: int, options: dict[str, Any]) -> pd.DataFrame:
    """One table of all columns against rounds, and which of the two ConsistentBayes chooses."""
    made = {f"few cells, {sizes}, {n:,}": few_cells(*sizes, n=n) for sizes, n in SHAPES}
    for name, load in (("NLTCS", pds.datasets.load_nltcs), ("ACS", pds.datasets.load_acs)):
        made |= {f"{name}, {d} columns": some_bits(load, d) for d in (7, 8, 9, 10, 11, 12)}
    rows, really = [], planning.tells_most
    for name, (frame, schema) in made.items():
        row = {"table": name, "epsilon": epsilon, "cells": schema.cells(schema.names)}
        chosen = list[bool]()

        def ask(facts: Facts, chosen: list[bool] = chosen) -> bool:
            chosen.append(really(facts))
            return False

        for way, answer in (("rounds", ask), ("one table", lambda facts: True)):
            with patch.object(planning, "tells_most", answer):
                found = [measure(name, (frame, schema), epsilon, q, options) for q in range(fits)]
            means = pd.DataFrame(found)[["mean", "farthest"]].mean()
            row[way], row[f"farthest, {way}"] = means["mean"], means["farthest"]
        row["chosen"] = np.mean(chosen)
        farthest = row["farthest, one table"] / row["farthest, rounds"]
        rows.append(row | {"ratio": row["one table"] / row["rounds"], "of the farthest": farthest})
    return pd.DataFrame(rows).drop(columns=["farthest, one table", "farthest, rounds"])


def as_value(word: str) -> Any:
    """A number, a list, …; any other word is itself."""
    try:
        return json.loads(word)
    except ValueError:
        return word


def main(words: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    tasks = parser.add_subparsers(dest="task", required=True)
    run = tasks.add_parser("run")
    run.add_argument("file", type=Path)
    ask, learn = tasks.add_parser("pays"), tasks.add_parser("label")
    for task in (run, ask):
        task.add_argument(
            "--tables", nargs="+", default=[*TABLES], choices=[*TABLES], metavar="NAME"
        )
    single, few = tasks.add_parser("alone"), tasks.add_parser("once")
    for task in (single, few):
        task.add_argument("file", type=Path)
    for task in (run, few):
        task.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", dest="options")
    for task in (run, ask, learn, single, few):
        task.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
        task.add_argument("--fits", type=int, default=6)
    both = tasks.add_parser("compare")
    both.add_argument("files", type=Path, nargs=2)
    asked = parser.parse_args(words)
    if asked.task == "compare":
        found = compare(*(pd.read_csv(file) for file in asked.files))
        with pd.option_context("display.width", 200, "display.max_rows", None):
            print(found.to_string())
        return
    if asked.task == "label":
        for epsilon in asked.epsilons:
            print(f"ε = {epsilon:g}", label(epsilon, asked.fits).to_string(), sep="\n", flush=True)
        return
    words_of = (word.partition("=") for word in getattr(asked, "options", []))
    options = {name: as_value(value) for name, _, value in words_of}
    if asked.task in ("alone", "once"):
        rows_of = alone if asked.task == "alone" else partial(once, options=options)
        found = pd.concat([rows_of(epsilon, asked.fits) for epsilon in asked.epsilons])
        found.to_csv(asked.file, index=False, float_format="%.6g")
        print(found.round(4).to_string(index=False))
        return
    if asked.task == "pays":
        for name in asked.tables:
            made = TABLES[name]()
            for epsilon in asked.epsilons:
                found = pays(name, made, epsilon, asked.fits)
                print(found.to_string(index=False, float_format="{:.4f}".format), flush=True)
        return
    rows = []
    for name in asked.tables:
        made = TABLES[name]()
        for epsilon in asked.epsilons:
            rows += [measure(name, made, epsilon, seed, options) for seed in range(asked.fits)]
            pd.DataFrame(rows).to_csv(asked.file, index=False, float_format="%.6g")
            print(
                summary(pd.DataFrame(rows[-asked.fits :]))
                .round(4)
                .to_string(header=len(rows) == asked.fits),
                flush=True,
            )


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
