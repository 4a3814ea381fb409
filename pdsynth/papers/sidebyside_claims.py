"""What the side-by-side trials answer, each by a rule that knows no method; and the tables of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from .engine import Key
from .results import (
    Verdict,
    average,
    counted,
    decided,
    difference,
    distinct,
    select,
    summarise,
    values,
)
from .sidebyside_settings import (
    BASE,
    DISTANCE,
    GROUPED,
    LOSS,
    PERSONAL,
    POLICY,
    REST,
    SECONDS,
    YARDSTICK,
    Settings,
)

__all__ = ["GROUPED", "JUDGE", "POLICY", "matched", "table"]

NO_WORSE = "the method's mean is at most PrivBayes', or Welch's 95 % interval of the difference contains zero, at every ε"


def number(at: pd.DataFrame) -> str:
    """Mean and half-width of one point; "∞" where nothing finite holds, "–" where it wasn't measured."""
    if not len(at) or not at["repeats"].iloc[0]:
        return "–"
    mean, half = float(at["mean"].iloc[0]), float(at["ci95"].iloc[0])
    return "∞" if mean == np.inf else f"{mean:.4f} ± {half:.4f}" if half > 5e-5 else f"{mean:.4f}"


def finite(data: pd.DataFrame) -> pd.DataFrame:
    """Summary of all points; an infinite loss stays infinite, without a spread."""
    endless = np.isinf(data["value"])
    out = summarise(data.assign(value=data["value"].where(~endless, 1e200)))
    drowned = out["mean"] > 1e190
    return out.assign(mean=out["mean"].where(~drowned, np.inf), ci95=out["ci95"].where(~drowned, 0.0))


def methods(data: pd.DataFrame, epsilon: float, metric: str = DISTANCE) -> list[str]:
    """All methods, the smallest strict distance first; what has no strict form goes by its own guarantee."""
    table = select(summarise(data), metric=metric, epsilon=epsilon)
    return list(table[table["guarantee"].isin(("strict", YARDSTICK))].sort_values("mean")["method"])


def table(data: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Figure 1 as a table: one row a method, mean ± 95 % half-width."""
    points, top = finite(data), max(settings.epsilons)

    def at(method: str, metric: str, guarantee: str, epsilon: float) -> str:
        return number(select(points, method=method, metric=metric, guarantee=guarantee, epsilon=epsilon))

    rows = []
    for name in methods(data, top):
        outside = f"OpenDP {''.join(name.split()[1:])}" == name
        strict = YARDSTICK if outside else "strict"
        row = {"method": f"{name}, {YARDSTICK}" if outside else name}
        for e in settings.epsilons:
            row |= {f"{word}, ε = {e:g}": at(name, DISTANCE, g, e) for word, g in (("strict", strict), ("as published", "published"))}
        row |= {f"ε of the sensitive attribute, strict, ε = {top:g}": at(name, LOSS, strict, top),
                f"as published, ε = {top:g} claimed": at(name, LOSS, "published", top),
                "processor seconds": at(name, SECONDS, strict, top)}  # fmt: skip
        rows.append(row)
    return pd.DataFrame(rows)


# --- the same ε -----------------------------------------------------------------------------------------------------------


def against(data: pd.DataFrame, method: str, epsilons: Sequence[float], metric: str = DISTANCE, guarantee: str = "strict") -> list:
    """A method minus PrivBayes at each ε, with the 95 % half-width."""
    return [difference(*(values(data, metric=metric, method=m, guarantee=guarantee, epsilon=e) for m in (method, BASE))) for e in epsilons]


def same(data: pd.DataFrame, settings: Settings) -> list[Verdict]:
    """At the same ε."""
    es, here = settings.epsilons, [m for m in PERSONAL if m in set(data["method"])]
    gaps = {m: against(data, m, es) for m in here}
    level = [m for m, found in gaps.items() if all(gap <= half for gap, half in found)]
    said = "; ".join(f"{m}: " + ", ".join(f"{g:+.4f} ± {h:.4f}" for g, h in found) for m, found in gaps.items())
    at = " and ".join(f"{e:g}" for e in es)
    first = Verdict(
        "A strict personalised method at k = auto is no farther from the table than PrivBayes at the same ε", "asked here",
        decided(bool(level), not level), f"method − PrivBayes, 2-way distance at ε = {at}: {said}. No worse: {', '.join(level) or 'none'}",
        "Groups by public policy cost nothing, and r = 1/26 takes a twenty-sixth of the others' budget. What must ask the records for "
        "order, groups or weights pays for the answers; value weights put most noise where most people are; bits of one attribute get "
        "separate noise. The custom network is a little farther because pairs with the sensitive attribute rest on one noisy table: "
        "that is the price of its small loss, which the others don't have (see the table).",
        NO_WORSE,
    )  # fmt: skip
    return [first, lu(data, settings), faster(data, settings), honest(data, settings)]


def lu(data: pd.DataFrame, settings: Settings) -> Verdict:
    """ELPrivBayes' abstract."""
    ratios = {
        g: [average(values(data, metric=DISTANCE, method="ELPrivBayes", guarantee=g, epsilon=e))
            / average(values(data, metric=DISTANCE, method=BASE, guarantee=g, epsilon=e)) - 1 for e in settings.epsilons]
        for g in ("published", "strict")
    }  # fmt: skip
    found = ratios["published"]
    words = {g: ", ".join(f"{r:+.0%} at ε = {e:g}" for r, e in zip(rs, settings.epsilons, strict=True)) for g, rs in ratios.items()}
    return Verdict(
        "ELPrivBayes' average variation distance is 32 to 40 % below PrivBayes'", "Lu 2023/24, abstract",
        decided(all(r <= -0.32 for r in found), all(r > -0.32 for r in found)),
        f"as published {words['published']}; strict {words['strict']}",
        "Its PrivBayes had a fixed k. Both have k = auto here, and then the distance is mostly noise of the tables, which both share.",
        "mean at least 32 % lower at every ε; does not if at none",
    )  # fmt: skip


def faster(data: pd.DataFrame, settings: Settings) -> Verdict:
    """PPBA's abstract."""
    found = against(data, "PPBA", settings.epsilons, SECONDS)
    mean = {m: average(values(data, metric=SECONDS, method=m, guarantee="strict", epsilon=max(settings.epsilons))) for m in ("PPBA", BASE)}
    favour, counter = counted([(-g, h) for g, h in found])
    return Verdict(
        "PPBA takes less time than PrivBayes", "Ma et al. 2021, abstract", decided(favour == len(found), counter == len(found)),
        f"fit and sample at ε = {max(settings.epsilons):g}, processor seconds: {mean['PPBA']:.3f} against {mean[BASE]:.3f}",
        "The tree leaves few candidates. Both are so fast here that it decides nothing.",
        "less at every ε beyond Welch's 95 % interval; does not if more at every ε",
    )  # fmt: skip


def honest(data: pd.DataFrame, settings: Settings) -> Verdict:
    """What privacy that is paid for costs."""
    names = [m for m in distinct(data, "method") if m in set(data.loc[data["guarantee"] == "published", "method"])]
    pairs = [(m, e) for m in names for e in settings.epsilons]
    found = [difference(*(values(data, metric=DISTANCE, method=m, guarantee=g, epsilon=e) for g in ("strict", "published")))
             for m, e in pairs]  # fmt: skip
    dear, cheap = counted(found)
    private = [m for m in names if np.isfinite(values(data, metric=LOSS, method=m, guarantee="published")).all()]
    top = "; ".join(f"{m} {gap:+.3f}" for (m, e), (gap, _) in zip(pairs, found, strict=True) if e == max(settings.epsilons))
    return Verdict(
        "Paying for everything costs accuracy: the strict form is farther from the table than the published one", "asked here",
        decided(dear * 2 > len(found), cheap * 2 > len(found)),
        f"strict farther at {dear}, nearer at {cheap} of {len(found)} points (method × ε). strict − published at ε = "
        f"{max(settings.epsilons):g}: {top}. Published forms with a finite loss: {', '.join(private) or 'none'}",
        "A sketch costs about what raw reads would have brought. Published forms of the clustering and weighting methods waste more on "
        "parallel claims, large k and weights than honesty costs.",
        "strict significantly farther at more than half of the points; does not if significantly nearer at more than half",
    )  # fmt: skip


# --- the factorial --------------------------------------------------------------------------------------------------------


def effects(data: pd.DataFrame, factors: Sequence[str]) -> dict[str, float]:
    """Share of the variance of the trials between the levels of each factor (η² of main effects)."""
    total = float(((data["value"] - data["value"].mean()) ** 2).sum())
    out = {}
    for name in factors:
        means = data.groupby(name)["value"].transform("mean")
        out[name] = float(((means - data["value"].mean()) ** 2).sum()) / total if total else 0.0
    return out


def factorial(data: pd.DataFrame, settings: Settings) -> list[Verdict]:
    """Which part matters."""
    tables = distinct(data, "dataset")
    strict = select(data, dataset=tables[0], guarantee="strict")
    share = effects(strict, ("method", "budget"))
    best = strict.groupby(["method", "budget"])["value"].mean()
    first = Verdict(
        "How the tables' budget is split matters more than how the network is found", "asked here",
        decided(share["budget"] > 2 * share["method"], share["method"] > 2 * share["budget"]),
        f"share of the variance of the 2-way distance, strict, ε = {settings.epsilon:g}, {tables[0]}: split {share['budget']:.0%}, "
        f"structure {share['method']:.0%}, the rest is noise and mixture. Best mixture: {' with '.join(best.idxmin())}, {best.min():.4f}; "
        f"worst: {' with '.join(best.idxmax())}, {best.max():.4f}",
        "All structures find the strong pairs. A split that isn't equal takes from most tables what it gives to few, and the distance "
        "counts all pairs alike.",
        "share of variance between the levels of one factor more than twice the other's",
    )  # fmt: skip
    bits = data[(data["place"] == "conditional") | (data["dataset"] != tables[0]) & (data["guarantee"] == "published")]
    if not (bits["place"] == "conditional").any():
        return [first]
    gaps = [difference(*(values(part, place=p) for p in ("joint", "conditional"))) for _, part in bits.groupby(["method", "budget"])]
    honest, printed = counted(gaps)
    mean = bits.groupby("place")["value"].mean()
    second = Verdict(
        "Noise on conditionals, as PrivABN prints it, harms less than noise on joint counts at the same claimed ε", "PrivABN, section 5.2",
        decided(honest == len(gaps), printed == len(gaps)),
        f"yes–no table, as published: better in {honest}, worse in {printed} of {len(gaps)} mixtures; mean 2-way distance "
        f"{mean['conditional']:.4f} against {mean['joint']:.4f}",
        "Its scale is that of joint probabilities, n times too small for conditionals: it hides nobody (lesson 11), so the comparison "
        "isn't one at the same guarantee. Strict refuses it.",
        "significantly nearer in all mixtures; does not if farther in all",
    )  # fmt: skip
    return [first, second]


# --- the same promise -----------------------------------------------------------------------------------------------------


def meeting(data: pd.DataFrame, method: str, promise: float) -> tuple[np.ndarray, float]:
    """Distance of the rest, one value a repeat, and the mean loss, where a change of the sensitive attribute costs ``promise``.

    Each repeat's points are joined in loss and distance (logarithms); a method that never loses so much stands with its last point.
    """
    mine = data[data["method"] == method].pivot_table(index=["repeat", "epsilon"], columns="metric", values="value")
    rest, losses = [], []
    for _, run in mine.groupby(level="repeat"):
        run = run.sort_values(LOSS)
        if run[LOSS].iloc[0] > promise:
            continue
        losses.append(min(promise, float(run[LOSS].iloc[-1])))
        rest.append(float(np.exp(np.interp(np.log(losses[-1]), np.log(run[LOSS]), np.log(run[REST])))))
    return np.array(rest), average(np.array(losses))


def matched(data: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Figure 3 as a table: distance of the rest at each promise, the methods that serve it best first."""
    names = distinct(data, "method")
    found = {m: [meeting(data, m, s)[0] for s in settings.promises] for m in names}
    rows = []
    for name in sorted(names, key=lambda m: sum(map(average, found[m]))):
        row = {"method": name}
        for s, mine in zip(settings.promises, found[name], strict=True):
            _, half = difference(mine, np.repeat(0.0, 2))
            row[f"rest at loss ≤ {s:g}"] = f"{average(mine):.4f} ± {half:.4f}" if len(mine) > 1 else "–"
        rows.append(row)
    return pd.DataFrame(rows)


def promised(data: pd.DataFrame, settings: Settings) -> list[Verdict]:
    """At the same guarantee for the sensitive attribute."""
    names = [m for m in distinct(data, "method") if m != BASE]
    said, wins = [], dict.fromkeys(names, 0)
    for s in settings.promises:
        base, found = meeting(data, BASE, s)[0], {m: meeting(data, m, s)[0] for m in names}
        best = min((m for m in names if len(found[m])), key=lambda m: average(found[m]))
        for m in names:
            gap, half = difference(base, found[m])
            wins[m] += bool(gap > half)
        said.append(f"loss ≤ {s:g}: {best} {average(found[best]):.4f}, PrivBayes {average(base):.4f}")
    better = [m for m in PERSONAL if wins.get(m) == len(settings.promises)]
    return [Verdict(
        "At the same guarantee for the sensitive attribute, a personalised method serves the other attributes better than PrivBayes",
        "asked here", decided(bool(better), not any(wins[m] for m in PERSONAL if m in wins)),
        f"2-way distance of the pairs without it, ε ≤ {max(settings.fine):g} in all; " + "; ".join(said)
        + f". Better than PrivBayes at every promise: {', '.join(better) or 'no personalised method'}",
        "PrivBayes can keep a promise to one attribute only by giving all of them less. A policy that keeps the attribute in one table "
        "and gives that table a small share, spends the rest of ε on the others. Groups and weights that are asked for don't go below the "
        "share that selections and sketches take of everybody.",
        "Welch's 95 % interval of the difference below zero at every promise for one personalised method; does not if for none at any",
    )]  # fmt: skip


JUDGE: dict[Key, Callable[[pd.DataFrame, Settings], list[Verdict]]] = {1: same, 2: factorial, 3: promised}
