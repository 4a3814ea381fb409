"""What rules between columns do: rows that break one, and how near the tables come with them.

python benchmarks/rules.py run [--tables NAME …] [--methods NAME …] [--fits N]
python benchmarks/rules.py page

The first writes rules.csv, a row for each fit in the place of those that were there; the second
makes RULES.md of it.

Every fit is strict but for those that say otherwise. Fit i has seed i, with and without rules; rows
are balanced. The rules are public: the codebooks of the tables say them, or arithmetic. Records that
break one are kept (``on_violation="keep"``), so that all fits see the same records. Real tables are
read from $PDSYNTH_DATA.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth import Rule
from pdsynth.core import Records

HERE = Path(__file__).resolve().parent
FOUND, PAGE = HERE / "rules.csv", HERE / "RULES.md"
ROWS = 100_000  # of which none may break a rule
EDUCATION = """Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc
Assoc-acdm Bachelors Masters Prof-school Doctorate""".split()
SINGLE = "Divorced Never-married Separated Widowed Married-spouse-absent".split()
KEEP: Any = {"on_violation": "keep"}
FAST = "Independent", "PrivBayes", "ConsistentBayes"
METHODS: dict[str, Callable[[pds.Schema], Any]] = {
    "Independent": lambda schema: pds.baselines.Independent(),
    "PrivBayes": lambda schema: pds.PrivBayes(),
    "ConsistentBayes": lambda schema: pds.ConsistentBayes(),
    "HPPrivBayes": lambda schema: pds.HPPrivBayes(sensitive=schema.names[1]),
    "HMPrivBayes": lambda schema: pds.HMPrivBayes(),
    "PPBA": lambda schema: pds.PPBA(),
    "PrivABN": lambda schema: pds.PrivABN(),
    "JTree": lambda schema: pds.baselines.JTree(),
    "PriView": lambda schema: pds.baselines.PriView(),
}


def adult_rules(schema: pds.Schema) -> list[Rule]:
    """A degree's number of years; husbands and wives are married, and are men and women."""
    years = {word: year for year, word in enumerate(EDUCATION, 1)}
    return [
        Rule.determines("education", "education-num", years, **KEEP),
        Rule.impossible({"relationship": ["Husband", "Wife"], "marital-status": SINGLE}, **KEEP),
        Rule.impossible({"relationship": "Husband", "sex": "Female"}, **KEEP),
        Rule.impossible({"relationship": "Wife", "sex": "Male"}, **KEEP),
    ]


def national_rules(schema: pds.Schema) -> list[Rule]:
    """What the data dictionary says: N for those too young to be asked; no rent in group quarters.

    Marital status and income from 15 years on, education from 3, service from 17: of the last two
    ages lie inside a bin, which is left free.
    """
    ages = schema["AGEP"].labels
    young, rest = ages[:3], ages[3:]
    asked = {x: [v for v in schema[x].values if v != "N"] for x in ("MSP", "PINCP_DECILE")}
    return [
        *(
            Rule.determines(
                "AGEP", x, dict.fromkeys(young, "N") | dict.fromkeys(rest, some), **KEEP
            )
            for x, some in asked.items()
        ),
        Rule.determines("AGEP", "DVET", dict.fromkeys(young, "N"), **KEEP),
        Rule.impossible({"AGEP": ages[1:], "EDU": "N"}, **KEEP),
        Rule.impossible({"AGEP": ages[:2], "EDU": [str(level) for level in range(8, 13)]}, **KEEP),
        Rule.determines("HOUSING_TYPE", "OWN_RENT", {1: [1, 2], 2: 0, 3: 0}, **KEEP),
    ]


def cmc_rules(schema: pds.Schema) -> list[Rule]:
    """A mild rule: women below 20 have at most four children, women below 25 at most nine."""
    return [
        Rule.impossible({"wife_age": 16, "children": range(5, 21)}, **KEEP),
        Rule.impossible({"wife_age": 20, "children": range(10, 21)}, **KEEP),
    ]


TABLES: dict[str, tuple[Callable[[], Any], Callable[[pds.Schema], list[Rule]]]] = {
    "adult": (pds.datasets.load_adult, adult_rules),
    "national2019": (pds.datasets.load_national2019, national_rules),
    "cmc": (pds.datasets.load_cmc, cmc_rules),
}


def run(tables: list[str], methods: list[str], fits: int) -> None:
    """All fits, one row each, added to the file as they come."""
    if FOUND.exists():
        rows = pd.read_csv(FOUND)
        again = rows.table.isin(tables) & rows.method.isin(methods)
        rows[~again].to_csv(FOUND, index=False, float_format="%.5f")
    for name in tables:
        load, declare = TABLES[name]
        dataset = load()
        plain = dataset.schema
        ruled = replace(plain, rules=declare(plain))
        codes = ruled.encode(dataset.frame)
        real = float(ruled.break_rules(codes).mean())
        for method in methods:
            make = METHODS[method]
            for epsilon in (0.1, 1.0, 4.0) if method in FAST else (0.1, 1.0):
                times = fits if method in FAST else max(fits // 2, 1)
                for seed in range(times):
                    for schema in (plain, ruled):
                        row = one_fit(make(plain), codes, schema, ruled, epsilon, seed)
                        write({"table": name, "method": method, "real": real, **row})
        for guarantee in ("published", "none"):
            for method in methods:
                make = METHODS[method]
                if guarantee == "published" and method == "ConsistentBayes":
                    continue  # no paper prints it
                made = make(plain).set_params(guarantee=guarantee)
                row = one_fit(made, codes, ruled, ruled, 1.0, 0)
                write({"table": name, "method": method, "real": real, **row})


def one_fit(
    made: Any, codes: np.ndarray, schema: pds.Schema, ruled: pds.Schema, epsilon: float, seed: int
) -> dict[str, Any]:
    """Distances of as many rows as there are records, and rows that break a rule of many more."""
    start = time.process_time()
    said = {"epsilon": epsilon, "guarantee": made.guarantee, "seed": seed}
    said["rules"] = bool(schema.rules)
    model = made.set_params(epsilon=epsilon, random_state=seed).fit(Records(codes, schema)).model_
    fake = model.sample_codes(len(codes), np.random.default_rng([seed, 1]), "balanced")
    plain = replace(schema, rules=())
    for ways in (1, 2):
        distances = pds.evaluate.marginal_distance(codes, fake, plain, ways)
        said[f"{ways}-way"] = float(np.mean(distances))
    many = model.sample_codes(ROWS, np.random.default_rng([seed, 2]))
    said["broken"] = int(ruled.break_rules(many).sum())
    said["broken where"] = ""
    if schema.rules:
        attribute = ruled[ruled.rules[0].columns[0]]  # asked for: its most common value
        code = int(np.bincount(many[:, ruled.index(attribute.name)]).argmax())
        where = {attribute.name: attribute.values[code]}
        asked = model.sample(ROWS, seed, where=where, method="independent")
        said["broken where"] = int(ruled.break_rules(ruled.encode(asked)).sum())
    return said | {"seconds": round(time.process_time() - start, 2)}


def write(row: dict[str, Any]) -> None:
    """One row more."""
    table = pd.DataFrame([row])
    table.to_csv(FOUND, mode="a", header=not FOUND.exists(), index=False, float_format="%.5f")


def paired(cell: pd.DataFrame) -> tuple[float, float]:
    """How much farther the fits of one cell are with rules, and the standard error of that."""
    by_seed = cell.pivot(index="seed", columns="rules", values="2-way")
    change = by_seed[True] - by_seed[False]
    return float(change.mean()), float(change.sem()) if len(change) > 1 else float("nan")


def page() -> None:
    """The tables of RULES.md."""
    rows = pd.read_csv(FOUND)
    strict = rows[rows.guarantee == "strict"]
    lines = [HEAD]
    for name, mine in strict.groupby("table", sort=False):
        lines += [f"\n## {name}\n", f"Of its records {mine.real.iloc[0]:.2%} break a rule.\n"]
        lines += [
            "| method, ε | fits | 2-way without rules | with | change | 1-way without | with | "
            "rows of 100,000 that break a rule, without | with | with, under `where=` |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for (method, epsilon), cell in mine.groupby(["method", "epsilon"], sort=False):
            before, after = cell[~cell.rules], cell[cell.rules]
            change, error = paired(cell)
            lines.append(
                f"| {method}, {epsilon:g} | {len(after)} | {before['2-way'].mean():.4f} | "
                f"{after['2-way'].mean():.4f} | {change:+.4f} ± {error:.4f} | "
                f"{before['1-way'].mean():.4f} | {after['1-way'].mean():.4f} | "
                f"{before.broken.mean():,.0f} | {after.broken.max()} | "
                f"{after['broken where'].max():.0f} |"
            )
    ruled = rows[rows.rules]
    worst = ruled[["broken", "broken where"]].max().max()
    guarantees = ", ".join(f"{g} {len(c)}" for g, c in ruled.groupby("guarantee", sort=False))
    lines.append(
        f"\nWith rules, in all {len(ruled)} fits ({guarantees}) the most rows of 100,000 that broke "
        f"one were {worst:.0f}."
    )
    farther = []
    for (name, method, epsilon), cell in strict.groupby(["table", "method", "epsilon"], sort=False):
        change, error = paired(cell)
        if change > 0:
            farther.append(f"{name}, {method}, ε = {epsilon:g} ({change:+.4f} ± {error:.4f})")
    lines.append(f"\nFarther with rules than without, on average: {'; '.join(farther) or 'none'}.")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


HEAD = """\
# Rules between columns

`python benchmarks/rules.py run --fits 20`, then `run --tables cmc --methods Independent PrivBayes --fits 120`, whose small changes need more
fits, and `page` make this page again; [rules.csv](rules.csv) has every fit. A distance is a mean
total variation over all columns (1-way) or pairs (2-way), of as many balanced rows as there are records; the fits with and without rules have the same
seeds, and the change is their mean difference with its standard error."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--tables", nargs="+", choices=[*TABLES], default=[*TABLES])
    parser.add_argument("--methods", nargs="+", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--fits", type=int, default=6)
    asked = parser.parse_args()
    with warnings.catch_warnings(action="ignore"):
        run(asked.tables, asked.methods, asked.fits) if asked.what == "run" else page()


if __name__ == "__main__":
    main()
