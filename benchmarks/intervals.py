"""How often the intervals of ``model.marginal`` hold the truth: ``python benchmarks/intervals.py``.

Measured tables: 200 fits of ConsistentBayes to CMC at ε = 1 (seeds 0 to 199); a cell counts once a
fit. Bootstraps: three tables, six fits each at ε = 1 (seeds 0 to 5) with 10 repeats, all triples of the
first five columns, most of whose tables weren't measured; every other fit has other random rows as
its table, so that the truth isn't always the same. Rows under textbook formulas: 100 fits to other
500 rows of Adult at each ε. Writes ``INTERVALS.md``.
"""

from __future__ import annotations

import sys
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pdsynth as pds  # noqa: E402
from pdsynth.answers import count_held  # noqa: E402

FITS, LEVEL, COLUMNS, REPEATS, ROWS = 200, 0.9, 5, 10, 2000
AGAIN = 6  # fits of each bootstrap's table
EPSILONS, FEW, MANY, TRIES = (0.1, 1.0, 10.0), 500, 10_000, 100
ASKED = {"sex": "Female", "salary": ">50K", "hours-per-week": None}  # shares, and a mean
PAGE = """# How often intervals hold

`python benchmarks/intervals.py` measures this again. ConsistentBayes at ε = 1, intervals of 90 %.

**Measured tables** (CMC, {fits} fits, seeds 0 to {last}): {held:,} of {total:,} intervals hold the true count, **{share:.1%}**;
by fit between {least:.1%} and {most:.1%}. The exact law of the noise gives at least 90 %.

**Everything else** has the bootstrap, which holds noise and chance, and not the model's own error. Cells of all triples of {columns} columns that
no measured table holds, six fits a table, {repeats} repeats:

| table | records | cells judged | held the truth |
|---|---|---|---|
{rows}

What is missing to 90 % is what the label says: ties that the records have and the model doesn't.

**Rows under textbook formulas.** Mean ± 1.96 standard errors, as if the rows were records: how often that holds the share or mean of all of Adult, of which
{few} random records were fitted. {tries} fits at each ε; the share of women, that of large incomes, and the mean of hours.

| ε | the {few} records | {few} balanced rows | {few} independent rows | {many:,} independent rows |
|---|---|---|---|---|
{textbook}

Such formulas don't know the noise of the fit, so the more rows are drawn, the fewer of their intervals hold.
"""


def measured() -> tuple[int, int, list[float]]:
    """Intervals of measured tables that hold, how many there are, and the share of each fit."""
    data = pds.datasets.load_cmc()
    codes, each = data.schema.encode(data.frame), []
    for seed in range(FITS):
        model = pds.ConsistentBayes(1.0, random_state=seed).fit(data.frame, data.schema).model_
        each.append(count_held(model, codes, LEVEL))
    held, total = np.array(each).T
    return int(held.sum()), int(total.sum()), (held / total).tolist()


def bootstrap(data: pds.datasets.Dataset) -> tuple[int, float]:
    """Cells that weren't measured, and the share whose bootstrap interval holds the truth."""
    names = list(data.schema.names[:COLUMNS])
    schema, held, total = data.schema.select(names), 0, 0
    for seed in range(AGAIN):
        rows = min(ROWS, len(data.frame))
        frame = data.frame[names].sample(rows, random_state=seed // 2)
        model = pds.ConsistentBayes(1.0, random_state=seed).fit(frame, schema).model_
        for three in combinations(names, 3):
            found = model.marginal([*three], interval=LEVEL, repeats=REPEATS, random_state=seed)
            own = schema.select([*three])
            key = np.ravel_multi_index(own.encode(frame[[*three]]).astype(int).T, own.sizes)
            true = np.bincount(key, minlength=len(found))
            mine = (found["kind"] == "bootstrap").to_numpy()
            inside = (found["low"] <= true) & (true <= found["high"])
            held, total = held + int(inside[mine].sum()), total + int(mine.sum())
    return total, held / max(total, 1)


def textbook(epsilon: float) -> np.ndarray:
    """How often mean ± 1.96 standard errors hold the truth, by kind of table: (4,)."""
    data = pds.datasets.load_adult()
    names = ["age", "education", *ASKED]
    schema, held = data.schema.select(names), []
    for seed in range(TRIES):
        frame = data.frame[names].sample(FEW, random_state=seed)
        model = pds.ConsistentBayes(epsilon, random_state=seed).fit(frame, schema).model_
        tables = [frame, model.sample(FEW, seed)]
        tables += [model.sample(n, seed, method="independent") for n in (FEW, MANY)]
        for name, value in ASKED.items():
            truth = _numbers(data.frame[name], value).mean()
            columns = [_numbers(table[name], value) for table in tables]
            off = [abs(x.mean() - truth) <= 1.96 * x.std() / np.sqrt(len(x)) for x in columns]
            held.append(off)
    return np.mean(held, axis=0)


def _numbers(column: Any, value: str | None) -> np.ndarray:
    return np.asarray(column if value is None else column == value, dtype=float)


def main() -> None:
    """Measure, and write the page."""
    warnings.simplefilter("ignore")
    held, total, each = measured()
    print(held, total, flush=True)
    tables = {
        "Adult": pds.datasets.load_adult(),
        "NLTCS": pds.datasets.load_nltcs(),
        "CMC": pds.datasets.load_cmc(),
    }
    rows = []
    for name, data in tables.items():
        cells, share = bootstrap(data)
        rows.append(f"| {name} | {min(ROWS, len(data.frame)):,} | {cells:,} | {share:.1%} |")
        print(rows[-1], flush=True)
    lines = []
    for epsilon in EPSILONS:
        cells = " | ".join(f"{share:.0%}" for share in textbook(epsilon))
        lines.append(f"| {epsilon:g} | {cells} |")
        print(lines[-1], flush=True)
    (HERE / "INTERVALS.md").write_text(
        PAGE.format(
            fits=FITS,
            last=FITS - 1,
            held=held,
            total=total,
            share=held / total,
            least=min(each),
            most=max(each),
            columns=COLUMNS,
            repeats=REPEATS,
            rows="\n".join(rows),
            few=FEW,
            many=MANY,
            tries=TRIES,
            textbook="\n".join(lines),
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
