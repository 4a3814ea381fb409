"""Rules that the GA paper's claims need besides the common ones."""

from dataclasses import replace
from typing import Any

import numpy as np

from . import (
    arithmetic,  # noqa: F401 - its rules
    results,
)
from . import genetic_tables as tables
from .genetic_tables import part
from .results import WIDE, Difference, average, decide, difference, select, stretched
from .rules import ONE_TIME, Answer, Gaps, Question, rule, times_apart

# --- utility --------------------------------------------------------------------------------------


@rule(
    "at least 95 % of the cells within two of the paper's standard deviations, partly at least "
    "half; does not below that",
    tolerant=True,
    tested=False,
)
def printed_cells(q: Question) -> Answer:
    """How many printed cells lie within two of the paper's standard deviations."""
    frame = tables.beside(q.key, q.data, q.settings)
    if frame is None or not len(frame := frame[(frame["paper_sd"] > 0) & frame["here"].notna()]):
        return None
    gaps = frame["here"] - frame["paper"]
    apart = (gaps / frame["paper_sd"]).abs()
    inside, cells, worst = int((apart <= stretched(2)).sum()), len(frame), frame.loc[apart.idxmax()]
    words = {
        "inside": inside,
        "cells": cells,
        "size": f"{inside} of {cells} cells",
        "sd": apart.max(),
        "mean": gaps.mean(),
        "degenerate": _degenerate(q),
        **worst[["row", "column", "paper", "here"]],
    }
    return decide(inside >= 0.95 * cells, inside < 0.5 * cells, True), words


def _degenerate(q: Question) -> str:
    """Says where Gaussian naive Bayes broke down."""
    least = 0.5 * part(q.key).get("zero_rule", 0) / 100
    low = int(((q.data["metric"] == "NB") & (q.data["value"] < least)).sum())
    if not low:
        return ""
    return (
        f" In {low} synthetic tables naive Bayes has less than half of the zero rule: where no "
        "row of the rarest class (44 of 1,473) shows the rarer religion, its Gaussian for that "
        "class is a spike, and it calls nearly everybody so."
    )


@rule(
    "a significant drop of more than {bar:g} point at k = 3 or 4; does not if both 95 % "
    "intervals lie below that",
    tolerant=True,
)
def drops(q: Question) -> Answer:
    """Whether the larger k are worse."""
    gaps, bar = q.gaps(), q.tolerance
    verdict = decide(any(g > max(h, bar) for g, h in gaps), all(g + h < bar for g, h in gaps))
    return verdict, {"found": gaps}


# --- disclosure -----------------------------------------------------------------------------------


def cut(gaps: list[Difference]) -> list[Difference]:
    """For a claim about one side: differences cut at 0."""
    return [(max(gap, 0.0), half) for gap, half in gaps]


def excess(q: Question, method: str, metric: str = "Avg", guarantee: str = "none") -> Difference:
    """Points above the zero rule, which is known."""
    runs = q.values(metric=metric, method=method, guarantee=guarantee)
    return difference(runs, np.repeat(average(q.values(metric="zero rule")), 2))


@rule(
    "the 95 % intervals of both averages more than {bar:g} point above the zero rule; partly if "
    "one",
    tolerant=True,
)
def exceed_the_zero_rule(q: Question) -> Answer:
    """Whether attackers gain from the original and from the ordinary table."""
    original, ordinary = (excess(q, "original")[0], 0.0), excess(q, "GA")  # the original is known
    both = Gaps([original, ordinary], ["original", "ordinary (GA)"], 1)
    words = {
        "zero": average(q.values(metric="zero rule")),
        "found": both,
        "strict": excess(q, "GA", guarantee="strict")[0],
        "size": ", ".join(f"{gap:+.1f}" for gap, _ in both) + " points",
    }
    over = sum(gap - half > q.tolerance for gap, half in both)
    under = sum(gap + half <= q.tolerance for gap, half in both)
    return decide(over == 2, under == 2, over == 1), words


@rule("{how}", tolerant=True)
def near_the_zero_rule(q: Question) -> Answer:
    """Whether each of the ``attackers`` gains little from the custom table."""
    every = {a: excess(q, "DSc", a) for a in q["attackers"]}
    best = max(every, key=lambda a: every[a])
    verdict = results.equivalence_verdict(cut(list(every.values())), q.tolerance)
    words = {"best": best, "strict": excess(q, "DSc", guarantee="strict")[0]}
    words["size"] = f"{every[best][0]:+.1f} points"
    return verdict, words | {"found": Gaps([every[best]], [""], q["digits"])}


# --- figure 1 -------------------------------------------------------------------------------------


def correlations(q: Question, pick: str) -> dict[str, Any]:
    """Mean r of each table, over the pairs of the sensitive attribute ("tied", "kept" or all).

    Empty where the table hasn't that attribute.
    """
    mean = q.data.groupby(["method", "guarantee", "metric"], sort=False)["value"].mean().unstack()
    sensitive, target = "relationship", "salary"
    pairs = {m: set(m.split(" × ")) for m in mean.columns}
    tied = [m for m, pair in pairs.items() if sensitive in pair and target not in pair]
    targets = [m for m, pair in pairs.items() if pair == {sensitive, target}]
    if not tied or not targets:
        return {}
    mean = mean[{"tied": tied, "kept": targets}.get(pick, list(mean.columns))]
    curves = {
        "original": ("original", "none"),
        "ordinary": ("GA", "none"),
        "custom": ("DSc", "none"),
        "strict": ("DSc", "strict"),
    }
    return {name: mean.loc[at] for name, at in curves.items()}


def unless_once(q: Question, holds: bool) -> str:
    """The verdict of a condition; not judged with one synthetic table."""
    runs = select(q.data, method="GA", guarantee="none")["repeat"].nunique()
    return decide(holds, True) if runs > 1 else WIDE


ONCE = "; not judged with one synthetic table"


@rule(
    f"mean absolute difference at most 0.05; does not above that{ONCE}", tolerant=True, tested=False
)
def looks_alike(q: Question) -> Answer:
    """Whether the ordinary table's correlations are the original's."""
    if not (r := correlations(q, "all")):
        return None
    apart = float((r["ordinary"] - r["original"]).abs().mean())
    words = {"pairs": len(r["original"]), "apart": apart, "size": f"{apart:.3f} of r"}
    return unless_once(q, apart <= stretched(0.05)), words


@rule(f"less than half of the original's mean |r|{ONCE}", tolerant=True, tested=False)
def ties_cut(q: Question) -> Answer:
    """Whether the sensitive attribute's correlations with all but the target are smaller."""
    if not (r := correlations(q, "tied")):
        return None
    size = {name: float(at.abs().mean()) for name, at in r.items()}
    less = size["custom"] < size["original"] * stretched(0.5)
    words = {"tied": len(r["original"]), "size": f"{size['custom'] / size['original']:.2f} ×"}
    return unless_once(q, less), size | words


@rule(f"within 0.05; does not beyond{ONCE}", tolerant=True, tested=False)
def tie_kept(q: Question) -> Answer:
    """Whether its correlation with the target stays."""
    if not (r := correlations(q, "kept")):
        return None
    ties = {name: float(at.iloc[0]) for name, at in r.items()}
    gap = ties["custom"] - ties["original"]
    return unless_once(q, abs(gap) <= stretched(0.05)), ties | {"size": f"{gap:+.3f} of r"}


# --- run times ------------------------------------------------------------------------------------


def seconds(q: Question, method: str) -> dict[str, np.ndarray]:
    """Seconds of description, or of the claim's ``step``, at each k that was run."""
    step, per_second = q.claim.get("step", "description, s"), replace(q, claim={})
    times = {k: per_second.values(metric=step, method=method, k=k) for k in degrees(q)}
    return {k: runs for k, runs in times.items() if len(runs)}


def degrees(q: Question) -> tuple[str, ...]:
    """Each k at which a table compares both searches."""
    credit = part(q.key)["data"] == "credit"
    grid: tuple[str, ...] = q.settings.credit_degrees if credit else q.settings.degrees
    return grid


@rule(
    f"less time at every k that ran, partly at some; does not if at none and longer at "
    f"one; {ONE_TIME}",
    tolerant=True,
)
def described_sooner(q: Question) -> Answer:
    """Whether the genetic search takes less time (``greedy``, ``genetic``: which two)."""

    def compare(greedy: str, genetic: str) -> dict[str, Difference]:
        slow, fast = seconds(q, greedy), seconds(q, genetic)
        return {k: times_apart(slow[k], fast[k]) for k in slow if k in fast}

    def say(found: dict[str, Difference]) -> str:
        return ", ".join(f"k = {k}: {np.exp(t):.2g}×" for k, (t, _) in found.items()) or "not run"

    judged = compare(*(q.claim.get(n, getattr(q.settings, n)) for n in ("greedy", "genetic")))
    sooner, later = results.count_signs(list(judged.values()))
    pairs = {
        "ours": ("DS", "GA"),
        "peer": ("DataSynthesizer", "GA"),
        "alike": ("DataSynthesizer", "plain GA"),
    }
    words = {name: say(compare(*pair)) for name, pair in pairs.items()}
    times = sorted(float(np.exp(gap)) for gap, _ in judged.values()) or [float("nan")]
    words["size"] = (
        " … ".join(f"{t:,.0f}" if t >= 100 else f"{t:.2g}" for t in (times[0], times[-1])) + " ×"
    )
    return decide(0 < sooner == len(judged), 0 < later and not sooner, sooner > 0), words


@rule(
    f"growth from the smallest to the largest k at most that of k; does not if more; {ONE_TIME}",
    tolerant=True,
)
def grows_linearly(q: Question) -> Answer:
    """Whether its description grows only linearly with k."""
    first, last = degrees(q)[0], degrees(q)[-1]
    (genetic, half), (greedy, _) = (
        times_apart(t[last], t[first]) for t in (seconds(q, "GA"), seconds(q, "DS"))
    )
    excess = genetic - np.log(int(last) / int(first))
    words = {"first": first, "last": last, "genetic": np.exp(genetic), "greedy": np.exp(greedy)}
    words["size"] = f"{np.exp(genetic):.1f} × from k = {first} to {last}"
    return decide(excess + half <= 0, excess > half), words


@rule(
    "the 95 % interval of the mean share begins at or above 99 % at every k, partly at some",
    tolerant=True,
)
def converges(q: Question) -> Answer:
    """Whether the genetic search finds the optimum of its own objective."""
    share = {k: replace(q, claim={}).values(metric="share of the optimum", k=k) for k in degrees(q)}
    short = [difference(1 - runs, np.zeros(2)) for runs in share.values()]
    numbers = "; ".join(f"k = {k}: {_say_spread(runs)}" for k, runs in share.items())
    size = f"{min((average(runs) for runs in share.values()), default=0):.1%} of the optimum"
    return results.equivalence_verdict(short, stretched(0.01)), {"found": numbers, "size": size}


def _say_spread(found: np.ndarray) -> str:
    if not len(found):
        return "not run"
    return (
        f"{found.mean():.4f} (sd {found.std():.4f}, worst {found.min():.4f}, "
        f"optimum in {np.mean(found > 1 - 1e-9):.0%})"
    )
