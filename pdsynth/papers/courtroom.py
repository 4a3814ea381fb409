"""The courtroom: whole strict fits under attack at every ε, and the whole catalogue of audits."""

import math
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from .. import audit
from ..plots import PALETTE, figure
from .drawing import legend_below, log_ticks, small_print
from .engine import load
from .grids import Run, matches, read
from .results import Key, decide, select
from .rules import Answer, Question, rule

METRICS = ("bound", "ceiling", "theory", "detectable", "moves")
COLOURS = ("#56B4E9", "#0072B2", "#009E73", "#000000")


# --- the audits -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Audit:
    """One audit of a figure.

    ``epsilon`` None: the case's own claim; ``runs``: releases of each table; ``together``: how many
    audits share the error of 5 %.
    """

    case: str
    epsilon: float | None
    runs: int
    together: int = 1

    def seed(self, start: int) -> int | None:
        """Its seed: figure 2's audits are those of ``python -m pdsynth audit --all --deep``."""
        return audit.seed_of(start, self.case, self.epsilon, self.runs)

    def prepare(self) -> audit.Case:
        """The case to run."""
        case = audit.case(self.case, self.epsilon)
        if self.epsilon is None:
            return case
        attack = replace(case.attack, slow=1, most=self.runs)  # type: ignore[call-arg]
        return replace(case, attack=attack)


def fits_whole(name: str) -> bool:
    """Whether a case fits a whole algorithm."""
    return isinstance(audit.CASES[name].attack, audit.Transcripts)


def audits(key: Key, settings: Any) -> list[Audit]:
    """All audits of a figure."""
    names = settings.cases or tuple(audit.CASES)
    if key == 2:
        return [Audit(name, None, settings.runs, len(names)) for name in names]
    return [
        Audit(name, epsilon, settings.fits)
        for name in filter(fits_whole, names)
        for epsilon in settings.epsilons
    ]


def measure(one: Audit, start: int) -> list[dict[str, Any]]:
    """One audit: its bound, its ceiling, what theory says, and what it could have seen."""
    seed = one.seed(start)
    result = audit.run(one.prepare(), one.runs, seed=seed, audits=one.together)
    row = {
        "case": one.case,
        "expected": result.expect,
        "method": result.method,
        "epsilon": result.claimed,
        "runs": str(one.runs),
        "repeat": 0,
        "seed": seed,
    }
    return [
        {
            "metric": metric,
            **row,
            "value": getattr(result, metric),
            "note": result.witness if metric == "bound" else "",
        }
        for metric in METRICS
    ]


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """Every audit once: it is itself thousands of runs. ``run.resume`` keeps finished ones.

    ``run.only``: of some cases, by their names.
    """
    path, empty = run.store, pd.DataFrame({"seed": []})
    cache = read(path) if path is not None and path.exists() else empty
    every = [one for one in audits(key, settings) if matches({"case": one.case}, run.only)]
    jobs = {one.seed(run.seed): one for one in every}
    todo = [(one, run.seed) for seed, one in jobs.items() if seed not in set(cache["seed"])]
    frames = [cache[cache["seed"].isin(list(jobs))]]
    for _, rows in run.each(measure, todo, "audits"):
        frames.append(pd.DataFrame(rows))
        if path is not None:
            frames[-1].to_csv(path, mode="a", header=not path.exists(), index=False)
    table = pd.concat([f for f in frames if len(f)], ignore_index=True)
    order = {seed: at for at, seed in enumerate(jobs)}
    return table.sort_values("seed", key=lambda s: s.map(order), kind="stable", ignore_index=True)


# --- figures --------------------------------------------------------------------------------------


def widen(data: pd.DataFrame) -> pd.DataFrame:
    """One row per audit: its numbers, and the bound as a share of the claim."""
    at = ["case", "expected", "method", "epsilon", "runs"]
    table = data.pivot(index=at, columns="metric", values="value")
    order = pd.MultiIndex.from_frame(select(data, metric="bound")[at])
    return table.loc[order].reset_index().assign(share=lambda t: t["bound"] / t["epsilon"])


def draw_fits(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """One row per algorithm, one mark per audit: the bound as a share of the claimed ε."""
    table = widen(data)
    rows = list(dict.fromkeys(table["case"]))
    words = f"{settings.fits:,} fits of each table and audit; bounds with 95 % confidence each"
    plot = figure(
        title=small_print("Whole strict fits under attack", words),
        x="ε that the audit is sure of, as a share of ε claimed",
    )
    for at, (epsilon, part) in enumerate(table.groupby("epsilon")):
        plot.add_scatter(
            x=part["share"],
            y=[-rows.index(c) + 0.24 - 0.16 * at for c in part["case"]],
            mode="markers",
            name=f"ε = {epsilon:g}",
            customdata=part[["case", "bound", "ceiling", "detectable"]],
            marker={"color": COLOURS[at % len(COLOURS)], "size": 8},
            hovertemplate="%{customdata[0]}<br>%{customdata[1]:.3g}; a perfect attack: "
            "%{customdata[2]:.3g}; it sees %{customdata[3]:.3g} times the claim",
        )
    plot.add_vline(
        x=1,
        line={"color": PALETTE["attack"], "width": 2},
        annotation_text="claim",
        annotation_position="top left",
    )
    plot.update_yaxes(
        tickvals=[-i for i in range(len(rows))],
        zeroline=False,
        ticktext=[name.removeprefix("strict-") for name in rows],
    )
    plot.update_xaxes(range=[-0.02, 1.1])
    return legend_below(plot, 640)


def draw_catalogue(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """One row per case: the claim, theory, and what the audit is sure of; ∞ at the right edge."""
    table = widen(data)
    values = table[["epsilon", "bound", "theory"]].to_numpy().ravel()
    finite = [v for v in values if 0 < v < math.inf]
    least, edge, rows = min(finite) / 2, max(finite) * 3, [-i for i in range(len(table))]
    words = (
        f"{settings.runs:,} releases of each table where an audit samples; bounds with 95 % "
        "confidence over all; left: zero"
    )
    plot = figure(title=small_print(f"The courtroom: {len(table)} cases", words))
    over = table["bound"] > table["epsilon"]
    caught = over.map({True: PALETTE["attack"], False: "#009E73"})
    for name, column, symbol, colour, size in (
        ("claimed", "epsilon", "line-ns-open", PALETTE["none"], 12),
        ("in theory", "theory", "circle-open", PALETTE["real"], 10),
        ("sure of (vermilion: more than claimed)", "bound", "circle", caught, 7),
    ):
        marker = {"symbol": symbol, "color": colour, "size": size}
        if symbol.endswith("open"):
            marker["line"] = {"width": 2}
        plot.add_scatter(
            x=table[column].clip(least, edge),
            y=rows,
            mode="markers",
            name=name,
            marker=marker,
            customdata=table["case"],
            hovertemplate="%{customdata}: %{x:.3g}<extra>" + name + "</extra>",
        )
    ticks = [v for v in (0.01, 0.1, 1, 10) if least < v < edge / 2]
    plot.update_xaxes(title_text="ε", **log_ticks([*ticks, edge], "∞"))
    plot.update_yaxes(
        tickvals=rows,
        ticktext=list(table["case"]),
        tickfont={"size": 10},
        zeroline=False,
        range=[0.2 - len(table), 0.8],
    )
    return legend_below(plot, 17 * len(table) + 200)


# --- rules ----------------------------------------------------------------------------------------


@rule("every bound at most ε", tested=False)
def none_over(q: Question) -> Answer:
    """Whether any audit is sure of more than a strict case claims."""
    strict = select(widen(q.data), expected=audit.NOT_REFUTED)
    over = int((strict["bound"] > strict["epsilon"] * (1 + 1e-9)).sum())
    top = strict.loc[strict["share"].idxmax()]
    words = {
        "audits": len(strict),
        "over": over,
        "size": f"{over} of {len(strict)} over",
        "closest": f"{top['case']}, {top['bound']:.3g} of {top['epsilon']:g}",
    }
    return decide(not over, bool(over)), words


@rule("somewhere at least {bar} ε", tested=False)
def bites(q: Question) -> Answer:
    """Whether the attack is strong enough."""
    strict = select(widen(q.data), expected=audit.NOT_REFUTED)
    best = strict.groupby("epsilon")["share"].max()
    numbers = "; ".join(f"ε = {e:g}: {share:.2f}" for e, share in best.items())
    return decide(best.max() >= q["bar"], best.max() < q["bar"]), {
        "found": numbers,
        "size": f"{best.max():.2f} ε",
    }


@rule(
    "a violation of {bar} times the claim is seen where the pair moves {answers} answers",
    tested=False,
)
def sees(q: Question) -> Answer:
    """Whether whole fits with few moving answers are watched closely; and what others reach."""
    strict = select(widen(q.data), expected=audit.NOT_REFUTED)
    strict = strict[strict["case"].map(fits_whole)]
    few = strict[strict["moves"] <= q["answers"]]
    if not len(few):
        return None
    worst, rest = few["detectable"].max(), strict.drop(few.index)["detectable"]
    words = {
        "few": len(few),
        "size": f"{worst:.2f} times the claim",
        "worst": f"{worst:.2f}",
        "rest": len(rest),
        "others": f"{rest.min():.2f} to {rest.max():.2f}" if len(rest) else "none",
    }
    return decide(worst <= q["bar"], worst > q["bar"]), words


@rule("every bound above the claim", tested=False)
def all_caught(q: Question) -> Answer:
    """Whether every broken step is caught that is expected to be; the others are named."""
    table = widen(q.data)
    broken = select(table, expected=audit.VIOLATED)
    if not len(broken):
        return None
    judged = table["expected"].isin([audit.VIOLATED, audit.NOT_REFUTED])
    hidden = table.loc[~judged & (table["theory"] > table["epsilon"]), "case"]
    missed = broken.loc[broken["bound"] <= broken["epsilon"], "case"]
    words = {
        "caught": len(broken) - len(missed),
        "broken": len(broken),
        "size": f"{len(broken) - len(missed)} of {len(broken)}",
        "missed": f"; not: {', '.join(missed)}" if len(missed) else "",
        "unseen": f"; broken, and only in the ledger: {', '.join(hidden)}" if len(hidden) else "",
    }
    return decide(missed.empty, len(missed) > 0), words


def words(key: Key, settings: Any, data: Any) -> dict[str, Any]:
    """The algorithms under attack in a figure, and those whose audits were not run for it."""
    run = set() if data is None else set(data["case"])
    whole = [n for n in audit.CASES if fits_whole(n)]
    return {
        word: ", ".join(n.removeprefix("strict-") for n in whole if (n in run) == there)
        for word, there in (("attacked", True), ("left_out", False))
    }


PAPER = load("courtroom", trials, words=words, draw={1: draw_fits, 2: draw_catalogue})
