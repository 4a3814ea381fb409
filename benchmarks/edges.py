"""Private bins against equal widths at the same ε: ``python benchmarks/edges.py`` writes EDGES.md.

ConsistentBayes, strict, ε for the edges included. Judged on two grids that neither made: 100 equal
bins of each public range, and 20 percentiles of the real column. The mean two-way distance of all
pairs that hold a number, over the fits of a cell (seeds from 0). ``--quick`` tries Adult at ε = 1.
``--depth``, ``--each``: other numbers of levels and shares of a column, as trials.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pdsynth as pds  # noqa: E402
from pdsynth import binning  # noqa: E402
from pdsynth.core import edges  # noqa: E402

FITS = 8
GRIDS = {"100 equal bins": 100, "20 percentiles": 20}
NUMBERS = ["age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week"]
OTHERS = ["sex", "salary", "marital-status", "education", "occupation"]
PAGE = """# Private bins against equal widths

`python benchmarks/edges.py` measures this again: ConsistentBayes, strict, the edges paid for out of the same ε, {fits} fits a cell (seeds from 0).
Mean two-way distance of all pairs that hold a number, judged on grids that neither made. Smaller is nearer.

{table}

Private bins are nearer in **{nearer} of {cells}** cells.

Not nearer: {others}. With few records and little ε chosen edges are mostly noise; `plan` says so for fewer than
500 / ε records a bin.
"""


def tables() -> Iterator[tuple[str, pd.DataFrame, pds.Schema, list[str]]]:
    """Name, records, schema with equal widths, and the columns that are numbers."""
    adult = pds.datasets.load_adult()
    used = [*NUMBERS, *OTHERS]
    yield "Adult", adult.frame[used], adult.schema.select(used), NUMBERS
    data = pds.datasets.find("survey.csv")
    schema = pds.Schema.read(pds.datasets.find("survey.toml"))
    frame = pds.datasets.read_csv(data, schema)
    numbers = [a.name for a in schema.attributes if a.numeric_bins]
    yield "survey", frame, schema, numbers
    rng = np.random.default_rng(0)
    yield made_salaries(rng)


def made_salaries(rng: np.random.Generator, n: int = 20_000) -> Any:
    """A made table: log-normal income of 0 for a third, ages, and hours with a heavy 40."""
    kind = rng.integers(0, 3, n)
    age = np.clip(rng.normal(30 + 12 * kind, 9), 16, 99).astype(int)
    income = np.exp(rng.normal(10 + 0.4 * kind, 0.8)).round()
    income = np.minimum(np.where(rng.random(n) < 0.5 - 0.15 * kind, 0, income), 999_999).astype(int)
    hours = np.where(rng.random(n) < 0.5, 40, np.clip(rng.normal(36, 9, n), 1, 80)).astype(int)
    frame = pd.DataFrame({"age": age, "income": income, "hours": hours, "kind": kind.astype(str)})
    ranges = {"age": (16, 99), "income": (0, 999_999), "hours": (1, 80)}
    made = [pds.Attribute.numeric(x, *ends, integer=True) for x, ends in ranges.items()]
    schema = pds.Schema((*made, pds.Attribute.categorical("kind", ["0", "1", "2"])))
    return "made salaries", frame, schema, list(ranges)


def declared(schema: pds.Schema, numbers: list[str], bins: int, private: bool) -> pds.Schema:
    """The schema with so many bins for each number."""

    def one(a: pds.Attribute) -> pds.Attribute:
        if a.name not in numbers:
            return a
        said: dict[str, Any] = {"bins": "private", "number": bins} if private else {"bins": bins}
        low, high = a.edges[0], a.edges[-1]
        made = pds.Attribute.numeric(
            a.name, low, high, integer=a.integer, missing=a.missing, **said
        )
        return replace(made, recode=a.recode)

    return replace(schema, attributes=tuple(map(one, schema.attributes)))


def codes_on(grid: str, column: pd.Series, real: pd.Series, a: pds.Attribute) -> np.ndarray:
    """Where each number stands on a grid, missing ones last."""
    numbers, low, high = column.astype(float), a.edges[0], a.edges[-1]
    cuts = (
        np.linspace(low, high, 101)[1:-1]
        if grid.startswith("100")
        else np.unique(np.nanpercentile(real.astype(float), np.arange(5, 100, 5)))
    )
    found = np.searchsorted(cuts, numbers, side="right")
    return np.where(numbers.isna(), len(cuts) + 1, found)


def distance(
    real: pd.DataFrame, fake: pd.DataFrame, schema: pds.Schema, numbers: list[str], grid: str
) -> float:
    """Mean total variation distance of all pairs that hold a number."""
    both = []
    for frame in (real, fake):
        both.append(
            {
                a.name: codes_on(grid, frame[a.name], real[a.name], a)
                if a.name in numbers
                else a.encode(frame[a.name])
                for a in schema.attributes
            }
        )
    found = []
    for i, j in combinations(schema.names, 2):
        if {i, j} & {*numbers}:
            key = [table[i].astype(np.int64) * 1000 + table[j] for table in both]
            shares = [pd.Series(k).value_counts(normalize=True) for k in key]
            found.append(float(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2))
    return float(np.mean(found))


def measure(
    frame: pd.DataFrame, schema: pds.Schema, numbers: list[str], epsilon: float, fits: int
) -> dict[str, float]:
    """The distance on each grid, the mean of so many fits."""
    plain = replace(
        schema, attributes=tuple(replace(a, recode=None, private=0) for a in schema.attributes)
    )
    found: dict[str, list[float]] = {grid: [] for grid in GRIDS}
    clean = clean_frame(frame, schema)
    for seed in range(fits):
        made = pds.ConsistentBayes(epsilon, random_state=seed).fit(frame, schema)
        fake = made.sample(random_state=seed)
        for grid in GRIDS:
            found[grid].append(distance(clean, fake, plain, numbers, grid))
    return {grid: float(np.mean(each)) for grid, each in found.items()}


def clean_frame(frame: pd.DataFrame, schema: pds.Schema) -> pd.DataFrame:
    """The records as their schema reads them: numbers to a part in 2^14 of their range."""
    found = {}
    for a in schema.attributes:
        if a.recode is None:
            found[a.name] = frame[a.name]
        elif a.edges is None:
            found[a.name] = a.decode(a.encode(frame[a.name]))
        else:
            ends = a.edges[0], a.edges[-1]
            own = pds.Attribute.numeric(
                a.name, *ends, bins=2**14, integer=a.integer, missing=a.missing, spread="lower"
            )
            found[a.name] = own.decode(
                replace(own, recode=a.recode).encode(frame[a.name]), np.zeros(len(frame))
            )
    return pd.DataFrame(found)


def main() -> None:
    """Read the command line, measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--depth", type=int)
    parser.add_argument("--each", type=Fraction)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.depth is not None:
        edges.plan_edges = lambda number: (options.depth, 3)  # type: ignore[assignment]
    if options.each is not None:
        binning.EACH, binning.MOST = options.each, options.each * 5  # type: ignore[misc]
    rows = []
    for name, frame, schema, numbers in tables():
        cells = [(1.0, 16)] if options.quick else [(0.5, 16), (1.0, 8), (1.0, 16), (4.0, 16)]
        for epsilon, bins in cells:
            kinds = {
                kind: measure(frame, declared(schema, numbers, bins, kind), numbers, epsilon, FITS)
                for kind in (False, True)
                if kind or options.depth is None
            }
            for grid in GRIDS:
                pair = [kinds[kind][grid] if kind in kinds else np.nan for kind in (False, True)]
                rows.append([name, epsilon, bins, grid, *pair])
                print(*rows[-1], flush=True)
        if options.quick:
            return
    lines = [
        "| table | ε | bins | grid | equal widths | private bins |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {n} | {e:g} | {b} | {g} | {x:.3f} | {'**' * (y < x)}{y:.3f}{'**' * (y < x)} |"
        for n, e, b, g, x, y in rows
    ]
    nearer = sum(y < x for *_, x, y in rows)
    far = [f"{n} at ε = {e:g} with {b} bins on {g}" for n, e, b, g, x, y in rows if y >= x]
    others = "; ".join(far) or "none"
    page = PAGE.format(
        fits=FITS, others=others, table="\n".join(lines), nearer=nearer, cells=len(rows)
    )
    (HERE / "EDGES.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
