"""The page of the deep audits, DEEP.md, from the courtroom's committed trials.

    python benchmarks/deep.py

`python -m pdsynth audit --all --deep --seed 7` prints the same numbers; `python figures/make.py
courtroom --figure 2 --store FOLDER` runs the same audits, goes on where it was cut, and writes the
trials that are read here.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pandas as pd  # noqa: E402

from pdsynth import audit  # noqa: E402
from pdsynth.audit.case import Effort, format_epsilon  # noqa: E402
from pdsynth.papers.courtroom import fits_whole, widen  # noqa: E402
from pdsynth.papers.grids import read  # noqa: E402

COURTROOM = HERE.parent / "figures" / "courtroom"
FEW, BAR = 2, 1.5  # answers that a pair moves; what an audit of so few should see
HEAD = "| case | claimed | lost, at least | a perfect attack | sees | moves | verdict |\n"
LINE = "|---|---|---|---|---|---|---|\n"


def sampled(table: pd.DataFrame) -> pd.DataFrame:
    """Sound cases that were sampled, those that see most first."""
    sound = table[(table["expected"] == audit.NOT_REFUTED) & (table["method"] == "sampling")]
    return sound.sort_values(["moves", "detectable", "case"])


def rows(table: pd.DataFrame) -> str:
    """One line per case."""

    def line(r: pd.Series) -> str:
        verdict = audit.VIOLATED if r["bound"] > r["epsilon"] * (1 + 1e-9) else audit.NOT_REFUTED
        numbers = map(format_epsilon, r[["epsilon", "bound", "ceiling", "detectable"]])
        moves = f"{r['moves']:.0f}" if r["moves"] else ""
        return "| " + " | ".join([r["case"], *numbers, moves, verdict]) + " |\n"

    return HEAD + LINE + "".join(map(line, (r for _, r in table.iterrows())))


def reach(table: pd.DataFrame) -> str:
    """What the cases of one kind see, in words."""
    few = table[table["moves"].between(1, FEW)]["detectable"]
    more = table[table["moves"] > FEW]["detectable"]
    return (
        f"where the pair moves at most two answers ({len(few)} cases) {few.min():.2f} to "
        f"{few.max():.2f} times the claim, elsewhere ({len(more)}) {more.min():.2f} to "
        f"{more.max():.2f} times"
    )


def page(table: pd.DataFrame, parameters: dict, day: str) -> str:
    """The whole page."""
    whole = table["case"].map(fits_whole)
    broken = table[table["expected"] == audit.VIOLATED]
    left = [n for n in audit.CASES if n not in set(table["case"])]
    runs, seed = parameters["runs"], parameters["seed"]
    many, few = (
        audit.CASES[f"strict-{name}"].attack.runs(Effort(runs)) for name in ("independent", "ppba")
    )
    return f"""# The deep audits: what sampling sees

`python -m pdsynth audit --all --deep --seed {seed}` prints these numbers, bit by bit; without a
seed it draws from the operating system. `python figures/make.py courtroom --figure 2 --store
FOLDER` runs the same audits and goes on where it was cut. This page was written on {day} by `python benchmarks/deep.py` from [its trials](../figures/courtroom/fig2_trials.csv).

{len(table)} cases, {runs:,} releases of each table. Whole algorithms are fitted {few:,} times; where
every fit asks for the same tables, whatever was answered, noise for {many:,} fits is drawn in one batch
by the laws that a fit asked for (a test holds it against whole fits). {len(broken)} broken steps,
{(broken["bound"] > broken["epsilon"]).sum()} caught. All bounds together hold with 95 %
confidence. "Sees": the smallest violation, as a multiple of the claim, that half of such audits
catch (simulated: all noise divided by a factor). "Moves": answers of mechanisms that the pair of
tables changes, empty where it isn't counted. Cases that are judged exactly, not by sampling, count
above and aren't listed below.{f" Not run: {', '.join(left)}." * bool(left)}

Whole fits see {reach(sampled(table[whole]))}. Single steps see {reach(sampled(table[~whole]))}.
Many small losses are hard to see by sampling; exact replay (`pds.audit.replay`) sees them all.

## Whole fits

{rows(sampled(table[whole]))}
## Single sound steps

{rows(sampled(table[~whole]))}
## Broken steps

{rows(broken[broken["method"] == "sampling"].sort_values("case"))}"""


def main() -> None:
    """Write the page."""
    table = widen(read(COURTROOM / "fig2_trials.csv"))
    parameters = json.loads((COURTROOM / "fig2.json").read_text(encoding="utf-8"))
    (HERE / "DEEP.md").write_text(
        page(table, parameters, date.today().isoformat()), encoding="utf-8", newline="\n"
    )


if __name__ == "__main__":
    main()
