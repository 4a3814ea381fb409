"""The courtroom: whole strict fits under attack at every ε, and the whole catalogue of audits, deep.

Figure 1: every algorithm, three pairs of neighbouring tables, thousands of fits a side. Figure 2: each case of ``pds.audit``. A value is
the ε that an audit is sure of (95 %, Clopper–Pearson, the event chosen on a separate half); it refutes a claim or it proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pandas as pd
import plotly.graph_objects as go

from .. import audit
from ..audit.tables import Pair, bond_breaks, one_step_pair, zeros_to_ones
from ..plots import PALETTE, figure
from .drawing import legend_below
from .engine import Key, Paper, Run, read
from .results import Verdict, decided

TITLES: dict[Key, str] = {1: "Figure 1: whole strict fits, what an audit is sure of", 2: "Figure 2: the catalogue of audits, deep"}
PAIRS: dict[str, Pair] = {
    "zeros to ones": zeros_to_ones(3),
    "a bond breaks": bond_breaks(12),
    "a move in a row": one_step_pair(90, (0, 1, 0), (0, 2, 0), (2, 3, 2), "one record takes another value of one attribute"),
}
SYMBOLS = dict(zip(PAIRS, ("circle", "square", "diamond"), strict=True))
COLOURS = ("#56B4E9", "#0072B2", "#009E73", "#000000")
BITES = 0.6  # share of ε that the best audit should be sure of: else the attack is too weak to mean anything


@dataclass(frozen=True)
class Settings:
    """``fits``: whole fits of each table in figure 1. ``runs``: releases of each table in figure 2 (whole fits: a twentieth)."""

    epsilons: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    fits: int = 20_000
    runs: int = audit.DEEP
    cases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Audit:
    """One audit of a figure.

    ``epsilon`` None: the case's own claim; ``pair`` "": its own tables; ``runs``: releases of each table; ``together``: how many audits
    share the error of 5 %.
    """

    case: str
    pair: str
    epsilon: float | None
    runs: int
    together: int = 1

    def seed(self, start: int) -> int:
        """Its seed, from everything that decides it."""
        return crc32(f"{start}|{self.case}|{self.pair}|{self.epsilon}|{self.runs}".encode())

    def prepared(self) -> audit.Case:
        """The case to run."""
        case = audit.case(self.case, self.epsilon)
        if not self.pair:
            return case
        return replace(case, pair=lambda: PAIRS[self.pair], attack=replace(case.attack, slow=1))  # type: ignore[type-var]


def audits(key: Key, settings: Settings) -> list[Audit]:
    """All audits of a figure."""
    names = settings.cases or tuple(audit.CASES)
    if key == 2:
        return [Audit(name, "", None, settings.runs, len(names)) for name in names]
    return [Audit(name, pair, epsilon, settings.fits) for name in filter(_whole, names) for epsilon in settings.epsilons for pair in PAIRS]


def _whole(name: str) -> bool:
    """Whether a case fits a whole algorithm."""
    return isinstance(audit.CASES[name].attack, audit.OneByOne)


def measured(one: Audit, start: int) -> list[dict[str, Any]]:
    """One audit: its bound, its ceiling, and what theory says."""
    seed = one.seed(start)
    found = audit.run(one.prepared(), one.runs, seed=seed, audits=one.together)
    row = {"case": one.case, "pair": one.pair, "expected": found.expect, "method": found.method, "epsilon": found.claimed,
           "runs": str(one.runs), "repeat": 0, "seed": seed}  # fmt: skip
    values = (("bound", found.bound), ("ceiling", found.ceiling), ("theory", found.theory))
    return [{"metric": metric, **row, "value": value, "note": found.witness if metric == "bound" else ""} for metric, value in values]


def trials(key: Key, settings: Settings, run: Run) -> pd.DataFrame:
    """Every audit once: an audit is itself thousands of runs. Finished ones are kept in ``run.resume``."""
    path = None if run.resume is None else Path(run.resume)
    kept = read(path) if path is not None and path.exists() else pd.DataFrame({"seed": []})
    wanted = {one.seed(run.seed): one for one in audits(key, settings)}
    todo = [one for seed, one in wanted.items() if seed not in set(kept["seed"])]
    frames = [kept[kept["seed"].isin(list(wanted))]]
    for _, rows in run.each(measured, [(one, run.seed) for one in todo], "audits"):
        frames.append(pd.DataFrame(rows))
        if path is not None:
            frames[-1].to_csv(path, mode="a", header=not path.exists(), index=False)
    table = pd.concat([f for f in frames if len(f)], ignore_index=True)
    order = {seed: at for at, seed in enumerate(wanted)}
    run.tables.update({name: len(pair.before) for name, pair in PAIRS.items()} if key == 1 else {})
    return table.sort_values("seed", key=lambda s: s.map(order), kind="stable", ignore_index=True)


# --- figures and verdicts -------------------------------------------------------------------------------------------------


def wide(data: pd.DataFrame) -> pd.DataFrame:
    """One row an audit: bound, ceiling and theory side by side, the bound as a share of the claim."""
    at = ["case", "pair", "expected", "method", "epsilon", "runs"]
    table = data.pivot(index=at, columns="metric", values="value")
    order = pd.MultiIndex.from_frame(data.loc[data["metric"] == "bound", at])
    return table.loc[order].reset_index().assign(share=lambda t: t["bound"] / t["epsilon"])


def fits_figure(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """One row an algorithm, one mark an audit: the bound as a share of the claimed ε."""
    table = wide(data)
    rows = list(dict.fromkeys(table["case"]))
    plot = figure(title=f"Whole strict fits under attack<br><span style='font-size:11px'>{settings.fits:,} fits of each table and audit; "
                        "bounds with 95 % confidence each</span>", x="ε that the audit is sure of, as a share of ε claimed")  # fmt: skip
    for at, (epsilon, part) in enumerate(table.groupby("epsilon")):
        for pair, mine in part.groupby("pair", sort=False):
            plot.add_scatter(x=mine["share"], y=[-rows.index(c) + 0.24 - 0.16 * at for c in mine["case"]], mode="markers",
                             name=f"ε = {epsilon:g}, {pair}", customdata=mine[["case", "bound", "ceiling"]],
                             marker={"color": COLOURS[at % len(COLOURS)], "symbol": SYMBOLS[pair], "size": 8},
                             hovertemplate="%{customdata[0]}<br>%{customdata[1]:.3g}; a perfect attack: %{customdata[2]:.3g}")  # fmt: skip
    plot.add_vline(x=1, line={"color": PALETTE["attack"], "width": 2}, annotation_text="claim", annotation_position="top left")
    plot.update_yaxes(tickvals=[-i for i in range(len(rows))], ticktext=[name.removeprefix("strict-") for name in rows], zeroline=False)
    plot.update_xaxes(range=[-0.02, 1.1])
    return legend_below(plot, 640)


def catalogue_figure(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """One row a case: what is claimed, what theory says, what the audit is sure of. Infinite values stand at the right edge."""
    table = wide(data)
    finite = [v for v in table[["epsilon", "bound", "theory"]].to_numpy().ravel() if 0 < v < math.inf]
    least, edge = min(finite) / 2, max(finite) * 3
    rows, at = table["case"], [-i for i in range(len(table))]
    plot = figure(title=f"The courtroom: {len(table)} cases<br><span style='font-size:11px'>{settings.runs:,} releases of each table where "
                        "an audit samples; bounds with 95 % confidence over all; left: zero</span>")  # fmt: skip
    caught = (table["bound"] > table["epsilon"]).map({True: PALETTE["attack"], False: "#009E73"})
    marks = (("claimed", "epsilon", "line-ns-open", PALETTE["none"], 12), ("in theory", "theory", "circle-open", PALETTE["real"], 10),
             ("sure of (vermilion: more than claimed)", "bound", "circle", caught, 7))  # fmt: skip
    for name, column, symbol, colour, size in marks:
        shown = table[column].clip(least, edge)
        plot.add_scatter(x=shown, y=at, mode="markers", name=name, customdata=rows, marker={"symbol": symbol, "color": colour, "size": size,
                         "line": {"width": 2}} if "open" in symbol else {"symbol": symbol, "color": colour, "size": size},
                         hovertemplate="%{customdata}: %{x:.3g}<extra>" + name + "</extra>")  # fmt: skip
    marked = [v for v in (0.01, 0.1, 1, 10) if least < v < edge / 2]
    plot.update_xaxes(type="log", tickvals=[*marked, edge], ticktext=[*(f"{v:g}" for v in marked), "∞"], title_text="ε")
    plot.update_yaxes(tickvals=at, ticktext=list(rows), tickfont={"size": 10}, zeroline=False)
    return legend_below(plot, 19 * len(table) + 200)


def draw(key: Key, data: pd.DataFrame, settings: Settings) -> go.Figure:
    """The figure of one key."""
    return fits_figure(data, settings) if key == 1 else catalogue_figure(data, settings)


def judge(key: Key, data: pd.DataFrame, settings: Settings) -> list[Verdict]:
    """What strict promises, and what an audit must be able to see."""
    table = wide(data)
    strict, broken = (table[table["expected"] == word] for word in (audit.NOT_REFUTED, audit.VIOLATED))
    over = strict[strict["bound"] > strict["epsilon"] * (1 + 1e-9)]
    top = strict.loc[strict["share"].idxmax()]
    held = (f"{len(strict)} audits; over the claim: {len(over)}; closest: {top['case']}{', ' + top['pair'] if top['pair'] else ''}, "
            f"{top['bound']:.3g} of {top['epsilon']:g}")  # fmt: skip
    verdicts = [
        Verdict(f"No strict {'fit' if key == 1 else 'step or algorithm'} loses more than it claims", "the promise of strict",
                decided(over.empty, not over.empty), held,
                "Each is proved in its docstring and by its ledger: an audit can only refute.", "every bound at most ε")
    ]  # fmt: skip
    if key == 1:
        best = strict.groupby("epsilon")["share"].max()
        said = "largest share of ε: " + "; ".join(f"ε = {e:g}: {share:.2f}" for e, share in best.items())
        verdicts.append(
            Verdict("The attack is strong enough to mean something", "an audit that can't bite is worthless",
                    decided(best.max() >= BITES, best.max() < BITES), said,
                    "A small ε needs far more fits: the two worlds then differ by little.", f"somewhere at least {BITES} ε")
        )  # fmt: skip
    elif len(broken):
        missed = broken.loc[broken["bound"] <= broken["epsilon"], "case"]
        said = f"{len(broken) - len(missed)} of {len(broken)}" + (f"; not: {', '.join(missed)}" if len(missed) else "")
        verdicts.append(
            Verdict("Every broken step of the papers is caught", "their own lines: `pds.audit.catalogue()`",
                    decided(missed.empty, len(missed) > 0),
                    said, "The tables are those on which the step loses most.", "every bound above the claim")
        )  # fmt: skip
    return verdicts


def deviations(key: Key, settings: Settings) -> tuple[str, ...]:
    """How the audits are made."""
    shared = "A bound holds with 95 % confidence (Clopper–Pearson); the event is chosen on one half of the runs and measured on the other."
    if key == 2:
        return (shared, "All bounds of figure 2 hold together with 95 % confidence (Bonferroni over the cases that were run).",
                "Whole algorithms are fitted a twentieth as often as steps are released; exact detectors need no runs.")  # fmt: skip
    left = [n.removeprefix("strict-") for n in audit.CASES if _whole(n) and settings.cases and n not in settings.cases]
    return (
        shared,
        *([f"Figure 1 leaves out {', '.join(left)}, whose audits were not run for it; figure 2 has them at ε = 2."] if left else []),
        "Each bound of figure 1 holds on its own: of many audits of a mechanism that uses its ε up one in twenty may exceed it by chance.",
        *(f"{name}: {pair}." for name, pair in PAIRS.items()),
        "The attack sees the network and all noisy tables (tier T1): the log-likelihood ratio of the cells that the pair changes, at the "
        "scales of the ledger. It leaves the choice of the network aside, so a share of ε stays unseen.",
    )


READING = """No paper has these audits. They attack our own strict algorithms and the printed ones alike, on tables made up for it.
A bound below the claim proves nothing; the proofs stand in the docstrings and in the ledger's rules.
"""

PAPER = Paper(
    name="courtroom",
    heading="The courtroom: audits of everything",
    reading=READING,
    titles=TITLES,
    settings=Settings,
    repeats=1,
    seed=7,
    trials=trials,
    draw=draw,
    judge=judge,
    deviations=deviations,
    bars="none; a value is a lower bound with 95 % confidence (Clopper–Pearson).",
    seeds="each audit from a digest of {seed}, case, pair, ε and runs",
    notes="How the audits are made",
)
