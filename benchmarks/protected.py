"""Who was protected by each strict personalised method, on Adult and Big5.

    python benchmarks/protected.py [TABLE …] [--repeats R]

Runs what isn't yet in figures/protected_trials.csv (remove it after a change of a method), one row
per fit and attribute, and writes figures/PROTECTED.md. Repeat i has seed i. Methods are those of
figures/sidebyside, k = "auto" where they have a k.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

FIGURES = Path(__file__).resolve().parents[1] / "figures"
sys.path.insert(0, str(FIGURES.parent))

from pdsynth import datasets  # noqa: E402
from pdsynth.core import Records  # noqa: E402
from pdsynth.evaluation import protection  # noqa: E402
from pdsynth.papers import sidebyside  # noqa: E402
from pdsynth.papers.results import markdown  # noqa: E402

TABLES = {"adult": lambda: datasets.load_adult(coding="thesis"), "big5": datasets.load_big5}
METHODS = (
    "PrivBayes",
    "HPPrivBayes",
    "HMPrivBayes",
    "PPBA",
    "CSAPrivBayes",
    "CSAPrivBayes, policy",
    "custom network, policy",
)
EPSILONS = 0.2, 1.0
TRIALS, PAGE = FIGURES / "protected_trials.csv", FIGURES / "PROTECTED.md"
FIT = ["table", "epsilon", "method", "repeat"]
OF_FIT = ["misplaced", "risk_error", "constant"]
COLUMNS = [*FIT, *OF_FIT, "attribute", "sensitive", "meant", "lost"]
HEAD = """# Who was protected

[All figures](README.md) · [every claim in one line](SCOREBOARD.md)

Beside every strict curve of a personalised method belongs who was protected by it. All methods are strict and spend ε on a whole record.
*Meant*: the ε of an attribute's own table, which groups, ranks, risk or policy gave it. *Lost*: what a change of this attribute alone loses by the
ledger, with sketches, selections and all tables in which it is a parent. *Misplaced*: attributes in another group than the real associations give;
a policy misplaces nobody (of 13 on Adult). *Risk entropies*: mean error of those of bits, after that of the best constant, which no private method knows.
"""


def trials(table: str, repeats: int, done: set[tuple]) -> Iterator[list[dict[str, Any]]]:
    """The rows of each fit that isn't done."""
    dataset = TABLES[table]()
    records = Records(dataset.schema.encode(dataset.frame), dataset.schema)
    known = sidebyside.algorithms(dataset, sidebyside.PAPER.settings())
    for repeat in range(repeats):
        for epsilon in EPSILONS:
            for method in METHODS:
                fit = {"table": table, "epsilon": epsilon, "method": method, "repeat": repeat}
                if tuple(fit.values()) in done:
                    continue
                made = known[method](noise="common", random_state=repeat)  # nothing is released
                fitted = made.set_params(epsilon=epsilon).fit(records)
                found = protection(fitted, records)
                errors = found.misplaced, found.risk_error, found.constant_error
                fit |= dict(zip(OF_FIT, errors, strict=True))
                yield [
                    fit | {"attribute": name, "sensitive": name == dataset.sensitive, **own}
                    for name, own in found.table[["meant", "lost"]].to_dict("index").items()
                ]


def said(values: pd.Series, digits: int = 2) -> str:
    """Mean ± standard deviation, or nothing where there are no values."""
    values = values.dropna()
    if values.empty:
        return ""
    spread = f" ± {values.std():.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{spread}"


def overview(rows: pd.DataFrame) -> str:
    """One line per table, ε and method."""
    lines = []
    for (table, epsilon, method), part in rows.groupby(FIT[:3], sort=False):
        fits = part.drop_duplicates("repeat")
        mine, others = part[part["sensitive"]], part[~part["sensitive"]]
        mean = others.groupby("repeat")[["meant", "lost"]].mean()
        risk = said(fits["risk_error"], 3)
        lines.append(
            [
                table,
                f"{epsilon:g}",
                method,
                said(fits["misplaced"], 1),
                f"{risk} (constant {fits['constant'].iloc[0]:.3f})" if risk else "",
                f"{said(mine['meant'], 3)} → {said(mine['lost'], 3)}",
                f"{said(mean['meant'], 3)} → {said(mean['lost'], 3)}",
                len(fits),
            ]
        )
    names = ["table", "ε", "method", "misplaced", "risk entropies off by"]
    names += ["sensitive: meant → lost", "mean of the others: meant → lost", "repeats"]
    return markdown(names, lines)


def by_attribute(rows: pd.DataFrame) -> str:
    """What each attribute was meant to lose and lost: a line per attribute, a column per method."""
    mean = rows.groupby(["attribute", "method"], sort=False)[["meant", "lost"]].mean()
    cells = mean["meant"].map("{:.3f}".format) + " → " + mean["lost"].map("{:.3f}".format)
    wide = cells.unstack()[[m for m in METHODS if m in set(rows["method"])]]
    wide = wide.loc[list(dict.fromkeys(rows["attribute"]))]
    return markdown(["attribute", *wide], wide.reset_index().itertuples(index=False))


def page(rows: pd.DataFrame) -> str:
    """The whole page."""
    names = rows.loc[rows["sensitive"]].groupby("table", sort=False)["attribute"].first()
    which = ", ".join(f"{table}: {name}" for table, name in names.items())
    adult = rows[(rows["table"] == "adult") & (rows["epsilon"] == max(EPSILONS))]
    return (
        f"{HEAD}\nThe sensitive attribute of {which}. Means ± standard deviations over the repeats.\n\n{overview(rows)}\n"
        f"## Every attribute of Adult at ε = {max(EPSILONS):g}: meant → lost, means\n\n{by_attribute(adult)}\n"
        f"Numbers: [all trials](protected_trials.csv); repeat i has seed i. Command: `python benchmarks/protected.py {' '.join(names.index)} --repeats {rows['repeat'].max() + 1}`.\n"
    )


def main() -> None:
    """Read the command line, run what is missing, and write both files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", choices=(*TABLES, []), help="all if none is named")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of budgets that bear little: that is what is measured
    for table in options.tables or TABLES:
        old = pd.read_csv(TRIALS) if TRIALS.exists() else pd.DataFrame(columns=COLUMNS)
        done = {*old[FIT].itertuples(index=False, name=None)}
        for rows in trials(table, options.repeats, done):
            pd.DataFrame(rows, columns=COLUMNS).to_csv(
                TRIALS,
                mode="a",
                header=not TRIALS.exists(),
                index=False,
                lineterminator="\n",
                float_format="%.5g",
            )
    rows = pd.read_csv(TRIALS)
    rows["method"] = pd.Categorical(rows["method"], METHODS)
    rows = rows.sort_values(FIT, kind="stable").astype({"method": str})
    text = page(rows)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
