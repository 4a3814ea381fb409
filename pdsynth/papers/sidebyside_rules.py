"""What the side-by-side trials answer, and the tables of the page."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from . import results
from .results import average, decide, difference, distinct, select, stretched, summarise
from .rules import Answer, Question, rule
from .sidebyside_methods import AGREED, BASE, DISTANCE, LOSS, PERSONAL, REST, SECONDS
from .yardstick import GUARANTEE

# --- tables of the page ---------------------------------------------------------------------------


def say_number(at: pd.DataFrame) -> str:
    """Mean and half-width of one point; "∞" where nothing finite holds, "–" where it wasn't run."""
    if not len(at) or not at["repeats"].iloc[0]:
        return "–"
    mean, half = float(at["mean"].iloc[0]), float(at["ci95"].iloc[0])
    return "∞" if mean == np.inf else f"{mean:.4f}" + (f" ± {half:.4f}" if half > 5e-5 else "")


def summarise_losses(data: pd.DataFrame) -> pd.DataFrame:
    """Summary of all points; an infinite loss stays infinite, without a spread."""
    endless = np.isinf(data["value"])
    out = summarise(data.assign(value=data["value"].where(~endless, 1e200)))
    infinite = out["mean"] > 1e190
    return out.assign(
        mean=out["mean"].where(~infinite, np.inf), ci95=out["ci95"].where(~infinite, 0.0)
    )


def rank(data: pd.DataFrame, epsilon: float, metric: str = DISTANCE) -> list[str]:
    """All methods, the smallest strict value first; what has no strict form goes by its own."""
    table = select(summarise(data), metric=metric, epsilon=epsilon)
    table = table[table["guarantee"].isin(("strict", GUARANTEE))]
    return list(table.sort_values("mean")["method"])


def tabulate(data: pd.DataFrame, settings: Any) -> pd.DataFrame:
    """Figure 1 as a table: one row per method, mean ± 95 % half-width."""
    points, top = summarise_losses(data), max(settings.epsilons)

    def say(method: str, metric: str, guarantee: str, epsilon: float) -> str:
        return say_number(
            select(points, method=method, metric=metric, guarantee=guarantee, epsilon=epsilon)
        )

    rows = []
    for name in rank(data, top):
        outside = name.startswith("OpenDP ")
        strict = GUARANTEE if outside else "strict"
        row = {"method": f"{name}, {GUARANTEE}" if outside else name}
        for e in settings.epsilons:
            row[f"strict, ε = {e:g}"] = say(name, DISTANCE, strict, e)
            row[f"as published, ε = {e:g}"] = say(name, DISTANCE, "published", e)
        row[f"ε of the sensitive attribute, strict, ε = {top:g}"] = say(name, LOSS, strict, top)
        row[f"as published, ε = {top:g} claimed"] = say(name, LOSS, "published", top)
        row["processor seconds"] = say(name, SECONDS, strict, top)
        rows.append(row)
    return pd.DataFrame(rows)


def paths(data: pd.DataFrame, method: str) -> list[pd.DataFrame]:
    """The points of each repeat of a method, one column per metric, by rising loss."""
    mine = select(data, method=method)
    mine = mine.pivot_table(index=["repeat", "epsilon"], columns="metric", values="value")
    return [run.sort_values(LOSS) for _, run in mine.groupby(level="repeat")]


def meet(runs: Sequence[pd.DataFrame], promise: float) -> tuple[np.ndarray, float]:
    """Where a change of the sensitive attribute costs ``promise``, from a method's :func:`paths`.

    Gives the distance of the rest, one value per repeat, and the mean loss. Each repeat's points
    are joined in loss and distance (logarithms); a method that never loses so much stands with its
    last point.
    """
    rest, losses = [], []
    for run in runs:
        if run[LOSS].iloc[0] > promise:
            continue
        losses.append(min(promise, float(run[LOSS].iloc[-1])))
        at = np.interp(np.log(losses[-1]), np.log(run[LOSS]), np.log(run[REST]))
        rest.append(float(np.exp(at)))
    return np.array(rest), average(np.array(losses))


def match(data: pd.DataFrame, settings: Any) -> pd.DataFrame:
    """Figure 3 as a table: distance of the rest at each promise, the best methods first."""
    lines = {m: paths(data, m) for m in distinct(data, "method")}
    runs = {m: [meet(line, s)[0] for s in settings.promises] for m, line in lines.items()}
    rows = []
    for name in sorted(runs, key=lambda m: sum(map(average, runs[m]))):
        row = {"method": name}
        for s, mine in zip(settings.promises, runs[name], strict=True):
            _, half = difference(mine, np.repeat(0.0, 2))
            text = f"{average(mine):.4f} ± {half:.4f}" if len(mine) > 1 else "–"
            row[f"rest at loss ≤ {s:g}"] = text
        rows.append(row)
    return pd.DataFrame(rows)


# --- rules ----------------------------------------------------------------------------------------


def say_nearest(gaps: Mapping[str, Sequence[results.Difference]], epsilon: float) -> str:
    """The smallest difference at the last ε, and whose it is.

    >>> say_nearest({"PPBA": [(0.1, 0.0), (0.02, 0.01)], "CSA": [(0.0, 0.0), (0.03, 0.01)]}, 1)
    '+0.0200 at ε = 1: PPBA'
    """
    nearest = min(gaps, key=lambda m: gaps[m][-1][0])
    return f"{gaps[nearest][-1][0]:+.4f} at ε = {epsilon:g}: {nearest}"


@rule(
    "one method's mean is at most that of PrivBayes, whose tables agree, at every ε; does not if "
    "every method is significantly farther at some ε"
)
def no_worse(q: Question) -> Answer:
    """Whether one strict personalised method is no farther from the table than PrivBayes."""

    def against(method: str, epsilon: float) -> tuple[float, float]:
        at = {"metric": DISTANCE, "guarantee": "strict", "epsilon": epsilon}
        return difference(*(q.values(method=m, **at) for m in (method, AGREED)))

    last = q.settings.epsilons[-1]
    names = [m for m in PERSONAL if m in set(q.data["method"])]
    gaps = {m: [against(m, e) for e in q.settings.epsilons] for m in names}
    level = [m for m, differences in gaps.items() if all(gap <= 0 for gap, _ in differences)]
    farther = [m for m, differences in gaps.items() if any(gap > half for gap, half in differences)]
    numbers = (f"{m}: " + ", ".join(f"{g:+.4f} ± {h:.4f}" for g, h in gaps[m]) for m in names)
    words = {
        "at": " and ".join(f"{e:g}" for e in q.settings.epsilons),
        "found": "; ".join(numbers),
        "level": ", ".join(level) or "none",
        "size": say_nearest({m: gaps[m] for m in level or gaps}, last) if gaps else "",
    }
    return decide(bool(level), len(farther) == len(names)), words


@rule("mean at least 32 % lower at every ε, partly at one; does not if at none", tested=False)
def third_lower(q: Question) -> Answer:
    """Whether ELPrivBayes is as much nearer than PrivBayes as its abstract says."""

    def ratio(guarantee: str, epsilon: float) -> float:
        at = {"metric": DISTANCE, "guarantee": guarantee, "epsilon": epsilon}
        ours, base = (average(q.values(method=m, **at)) for m in ("ELPrivBayes", BASE))
        return ours / base - 1

    ratios = {g: {e: ratio(g, e) for e in q.settings.epsilons} for g in ("published", "strict")}
    last = list(ratios["published"].items())[-1]
    words = {"size": f"{last[1]:+.0%} at ε = {last[0]:g}, as published"} | {
        g: ", ".join(f"{r:+.0%} at ε = {e:g}" for e, r in at.items()) for g, at in ratios.items()
    }
    lower = [r <= -0.32 for r in ratios["published"].values()]
    return decide(all(lower), not any(lower), True), words


@rule(
    "strict significantly farther at more than half of the points, partly if farther at more "
    "than nearer; does not if not"
)
def costs_accuracy(q: Question) -> Answer:
    """What privacy that is paid for costs."""
    gaps, last = q.gaps(), q.gaps({"epsilon": "$epsilons.last"})
    at = {"metric": LOSS, "guarantee": "published"}
    private = [m for m in last.names if np.isfinite(q.values(method=m, **at)).all()]
    top = (f"{m} {gap:+.3f}" for m, (gap, _) in zip(last.names, last, strict=True))
    words = {"found": gaps, "top": "; ".join(top), "private": ", ".join(private) or "none"}
    return results.direction_verdict(gaps.found, mostly=True), words


def effects(data: pd.DataFrame, factors: Sequence[str]) -> dict[str, float]:
    """Share of the variance of the trials between the levels of each factor (η²)."""
    apart = data["value"] - data["value"].mean()
    total = float((apart**2).sum())
    means = {name: apart.groupby(data[name]).transform("mean") for name in factors}
    return {name: float((m**2).sum()) / total if total else 0.0 for name, m in means.items()}


@rule(
    "share of variance between the levels of one factor more than twice the other's",
    tolerant=True,
    tested=False,
)
def split_matters_more(q: Question) -> Answer:
    """Whether the tables' budget or the network decides."""
    table = distinct(q.data, "dataset")[0]
    strict = select(q.data, dataset=table, guarantee="strict")
    share = effects(strict, ("method", "budget"))
    split, structure = share["budget"], share["method"]
    means = strict.groupby(["method", "budget"])["value"].mean()
    ends = means.idxmin(), means.idxmax()
    best, worst = (f"{' with '.join(at)}, {means[at]:.4f}" for at in ends)
    size = f"{split:.0%} : {structure:.0%}"
    words = {
        "size": size,
        "table": table,
        "split": split,
        "structure": structure,
        "best": best,
        "worst": worst,
    }
    return decide(split > stretched(2) * structure, split <= structure, True), words


@rule(
    "Welch's 95 % interval of the difference below zero at every promise for one personalised "
    "method, partly at some; does not if for none at any"
)
def serves_the_rest(q: Question) -> Answer:
    """Whether a personalised method serves the others better at the same loss."""
    promises, numbers = q.settings.promises, []
    wins = {m: 0 for m in distinct(q.data, "method") if m not in (AGREED, BASE)}
    lines = {m: paths(q.data, m) for m in (AGREED, *wins)}
    for s in promises:
        base, runs = meet(lines[AGREED], s)[0], {m: meet(lines[m], s)[0] for m in wins}
        for m in wins:
            gap, half = difference(base, runs[m])
            wins[m] += bool(gap > half)
        best = min((m for m in wins if len(runs[m])), key=lambda m: average(runs[m]))
        least, theirs = average(runs[best]), average(base)
        numbers.append(f"loss ≤ {s:g}: {best} {least:.4f}, {AGREED} {theirs:.4f}")
    personal = [m for m in PERSONAL if m in wins]
    better = [m for m in personal if wins[m] == len(promises)]
    words = {
        "size": numbers[len(numbers) // 2],
        "found": "; ".join(numbers),
        "better": ", ".join(better) or "no personalised method",
    }
    return decide(bool(better), not any(wins[m] for m in personal), True), words
