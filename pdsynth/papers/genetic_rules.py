"""Rules that the GA paper's claims need besides the common ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from . import genetic_tables as tables
from .genetic_tables import ATTACKERS, part
from .results import average, decide, difference, interval
from .rules import Answer, Question, rule

# --- utility --------------------------------------------------------------------------------------


@rule("at least 95 % of the cells within two of the paper's standard deviations; does not below "
      "half")
def printed_cells(q: Question) -> Answer:
    """How many printed cells lie within two of the paper's standard deviations."""
    found = tables.beside(q.key, q.data, q.settings)
    if found is None or not len(found := found[(found["paper_sd"] > 0) & found["here"].notna()]):
        return None
    gaps = found["here"] - found["paper"]
    apart = (gaps / found["paper_sd"]).abs()
    inside, cells, worst = int((apart <= 2).sum()), len(found), found.loc[apart.idxmax()]
    words = {"inside": inside, "cells": cells, "sd": apart.max(), "mean": gaps.mean(),
             "degenerate": _degenerate(q), **worst[["row", "column", "paper", "here"]]}
    return decide(inside >= 0.95 * cells, inside < 0.5 * cells), words


def _degenerate(q: Question) -> str:
    """Says where Gaussian naive Bayes broke down."""
    least = 0.5 * part(q.key).get("zero_rule", 0) / 100
    low = int(((q.data["metric"] == "NB") & (q.data["value"] < least)).sum())
    if not low:
        return ""
    return (f" In {low} synthetic tables naive Bayes has less than half of the zero rule: where no "
            "row of the rarest class (44 of 1,473) shows the rarer religion, its Gaussian for that "
            "class is a spike, and it calls nearly everybody so.")


@rule("at most {bar:g} point at every k named; does not if Welch's 95 % interval lies beyond that "
      "at more than half of them")
def near(q: Question) -> Answer:
    """Whether a is close to b."""
    gaps, bar = q.gaps(), q["bar"]
    inside = bool(gaps) and all(abs(gap) <= bar for gap, _ in gaps)
    beyond = sum(abs(gap) - half > bar for gap, half in gaps)
    return decide(inside, beyond * 2 > len(gaps)), q.words() | {"found": gaps}


@rule("a significant drop of more than {bar:g} point at k = 3 or 4; does not if both are smaller")
def drops(q: Question) -> Answer:
    """Whether the larger k are worse."""
    gaps, bar = q.gaps(), q["bar"]
    verdict = decide(any(g > max(h, bar) for g, h in gaps), all(g < bar for g, _ in gaps))
    return verdict, {"found": gaps}


@rule("a loss of at most {bar:g} points; does not if Welch's 95 % interval lies above")
def costs_little(q: Question) -> Answer:
    """Whether b loses little against a."""
    gaps, bar = q.gaps(), q["bar"]
    ((gap, half),) = gaps
    return decide(gap <= bar, gap - half > bar), q.words() | {"found": gaps}


# --- disclosure -----------------------------------------------------------------------------------


def excess(q: Question, method: str, metric: str = "Avg", guarantee: str = "none") -> float:
    """Points above the zero rule."""
    found = q.values(metric=metric, method=method, guarantee=guarantee)
    return average(found) - average(q.values(metric="zero rule"))


@rule("both averages more than {bar:g} point above the zero rule")
def exceed_the_zero_rule(q: Question) -> Answer:
    """Whether attackers gain from the original and from the ordinary table."""
    original, ordinary = excess(q, "original"), excess(q, "GA")
    words = {"zero": average(q.values(metric="zero rule")), "original": original,
             "ordinary": ordinary, "strict": excess(q, "GA", guarantee="strict")}
    least, most = min(original, ordinary), max(original, ordinary)
    return decide(least > q["bar"], most <= q["bar"]), words


@rule("at most {bar:g} points above the zero rule")
def near_the_zero_rule(q: Question) -> Answer:
    """Whether the average attacker gains little from the custom table."""
    custom = excess(q, "DSc")
    words = {"custom": custom, "strict": excess(q, "DSc", guarantee="strict")}
    return decide(custom <= q["bar"], True), words


@rule("the best of six at most {bar:g} points above the zero rule (the paper's own: NB on Adult, "
      "+3.0); does not if significantly more")
def no_attacker_exceeds(q: Question) -> Answer:
    """Whether the best attacker gains little from the custom table."""
    best, zero = max(ATTACKERS, key=lambda a: excess(q, "DSc", a)), q.values(metric="zero rule")
    found = q.values(metric=best, method="DSc", guarantee="none")
    top, half = difference(found, np.repeat(average(zero), 2))
    return (decide(top <= q["bar"], top - half > q["bar"]),
            {"best": best, "found": interval(top, half)})


# --- figure 1 -------------------------------------------------------------------------------------


def correlations(q: Question, pick: str) -> dict[str, Any] | None:
    """Mean r of each table, over the pairs of the sensitive attribute ("tied", "kept" or all)."""
    mean = q.data.groupby(["method", "guarantee", "metric"], sort=False)["value"].mean().unstack()
    sensitive, target = "relationship", "salary"
    pairs = {m: set(m.split(" × ")) for m in mean.columns}
    tied = [m for m, pair in pairs.items() if sensitive in pair and target not in pair]
    kept = [m for m, pair in pairs.items() if pair == {sensitive, target}]
    if not tied or not kept:
        return None
    mean = mean[{"tied": tied, "kept": kept}.get(pick, list(mean.columns))]
    curves = {"original": ("original", "none"), "ordinary": ("GA", "none"),
              "custom": ("DSc", "none"), "strict": ("DSc", "strict")}
    return {name: mean.loc[at] for name, at in curves.items()}


@rule("mean absolute difference at most 0.05; does not above 0.1")
def looks_alike(q: Question) -> Answer:
    """Whether the ordinary table's correlations are the original's."""
    r = correlations(q, "all")
    if r is None:
        return None
    apart = float((r["ordinary"] - r["original"]).abs().mean())
    return decide(apart <= 0.05, apart > 0.1), {"pairs": len(r["original"]), "apart": apart}


@rule("less than half of the original's mean |r|")
def ties_cut(q: Question) -> Answer:
    """Whether the sensitive attribute's correlations with all but the target are smaller."""
    r = correlations(q, "tied")
    if r is None:
        return None
    cut = {name: float(at.abs().mean()) for name, at in r.items()}
    verdict = decide(cut["custom"] < cut["original"] / 2, cut["custom"] >= cut["original"])
    return verdict, cut | {"tied": len(r["original"])}


@rule("within 0.05")
def tie_kept(q: Question) -> Answer:
    """Whether its correlation with the target stays."""
    r = correlations(q, "kept")
    if r is None:
        return None
    kept = {name: float(at.iloc[0]) for name, at in r.items()}
    apart, weaker = abs(kept["custom"] - kept["original"]), abs(kept["custom"])
    return decide(apart <= 0.05, weaker < abs(kept["original"]) / 2), kept


# --- run times ------------------------------------------------------------------------------------


def seconds(q: Question, method: str) -> dict[str, float]:
    """Mean seconds of description at each k."""
    per_second = replace(q, claim={})
    return {k: average(per_second.values(metric="description, s", method=method, k=k))
            for k in degrees(q)}


def degrees(q: Question) -> tuple[str, ...]:
    """Each k at which a table compares both searches."""
    credit = part(q.key)["data"] == "credit"
    found: tuple[str, ...] = q.settings.credit_degrees if credit else q.settings.degrees
    return found


@rule("shorter description at every k; does not if at none")
def described_sooner(q: Question) -> Answer:
    """Whether the genetic search takes less time."""
    ours = seconds(q, "GA")

    def say(other: str) -> str:
        times = {k: t / ours[k] for k, t in seconds(q, other).items() if t > 0}
        return ", ".join(f"k = {k}: {t:.2g}×" for k, t in times.items()) or "not run"

    sooner = [t > ours[k] for k, t in seconds(q, "DS").items()]
    words = {"ours": say("DS"), "peer": say("DataSynthesizer")}
    return decide(all(sooner), not any(sooner)), words


@rule("growth at most that of k")
def grows_linearly(q: Question) -> Answer:
    """Whether its description grows only linearly with k."""
    first, last = degrees(q)[0], degrees(q)[-1]
    genetic, greedy = (times[last] / times[first] for times in (seconds(q, "GA"), seconds(q, "DS")))
    linear = genetic <= int(last) / int(first)
    words = {"first": first, "last": last, "genetic": genetic, "greedy": greedy}
    return decide(linear, not linear), words


@rule("mean share at least 99 % at every k")
def converges(q: Question) -> Answer:
    """Whether the genetic search finds the optimum of its own objective."""
    share = {k: replace(q, claim={}).values(metric="share of the optimum", k=k) for k in degrees(q)}
    means = [average(found) for found in share.values()]
    said = "; ".join(f"k = {k}: {_say_spread(found)}" for k, found in share.items())
    return decide(min(means) >= 0.99, max(means) < 0.99), {"found": said}


def _say_spread(found: np.ndarray) -> str:
    if not len(found):
        return "not run"
    return (f"{found.mean():.4f} (sd {found.std():.4f}, worst {found.min():.4f}, "
            f"optimum in {np.mean(found > 1 - 1e-9):.0%})")
