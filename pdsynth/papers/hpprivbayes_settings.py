"""What the thesis' figures 3 to 6 compare: its parameters, the choices that it leaves open, and the curves of each figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import engine

METHODS = ("PrivBayes", "HPPrivBayes")
SEED = 2025  # of the random splits; each fit has a seed of its own, derived from everything that decides its result
MEASURES: Mapping[engine.Key, Mapping[str, str]] = {  # measures of the grid, and the names they have here
    3: {"sum_mi": "sum of mutual information"},
    4: {"svm": "accuracy"},
    5: {"avd2": "2-way distance", "avd3": "3-way distance"},
    6: {"svm": "accuracy"},
}
TITLES: Mapping[engine.Key, str] = {
    3: "Figure 3: sum of mutual information of the network",
    4: "Figure 4: SVM accuracy on held-out real rows",
    5: "Figure 5: average variation distance of all 2-way and 3-way marginals",
    6: "Figure 6: SVM accuracy of HPPrivBayes by budget ratio r",
}


@dataclass(frozen=True)
class Settings:
    """Parameters of the thesis' §4 (first line) and what it doesn't print (the others).

    ``epsilons``, ``ratios``, ``degrees``, ``k``, ``theta``, ``r``: as printed. ``L1``: share of the structure, HPPrivBayes;
    ``beta``: the same for PrivBayes, equal so that both spend ε₁ alike. ``train``: share of rows to fit on for the SVM.
    ``svm_rows``: at most so many synthetic rows train an SVM, for all methods alike (an RBF kernel on 30,000 takes a minute).
    """

    epsilons: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)  # §4.2
    ratios: tuple[str, ...] = ("1/6", "1/5", "1/4", "1/3", "1/2")  # §4.2.4
    degrees: tuple[str, ...] = ("1", "2", "3", "4")  # §4.2.1
    k: str = "4"
    theta: float = 0.1
    r: str = "1/3"
    L1: float = 0.3
    beta: float = 0.3
    train: float = 2 / 3
    svm_rows: int = 3_000


# --- the fits of each figure -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curve(engine.Curve):
    """One method with its parameters; ``r`` is empty for PrivBayes."""

    r: str = ""


def curve(method: str, guarantee: str, k: str, r: str) -> Curve:
    """A curve; PrivBayes has no r."""
    return Curve(method, guarantee, k, r if method == "HPPrivBayes" else "")


def compared(settings: Settings) -> list[Curve]:
    """Every private curve of figures 4 and 5."""
    k = settings.k
    return [curve(m, g, d, settings.r) for g, d in (("published", k), ("strict", k), ("strict", "auto")) for m in METHODS]


def noiseless(figure: engine.Key, settings: Settings) -> list[Curve]:
    """The curves without privacy of a figure."""
    degrees = settings.degrees if figure == 3 else (settings.k,)
    curves = [curve(m, "none", k, settings.r) for k in degrees for m in METHODS] if figure != 6 else []
    return curves + [Curve("real data", "none", "")] * (figure in (4, 6))


def private(figure: engine.Key, settings: Settings) -> list[Curve]:
    """The curves against ε of a figure."""
    if figure == 3:
        return [curve(m, g, k, settings.r) for g in ("published", "strict") for k in settings.degrees for m in METHODS]
    if figure == 6:
        return [Curve("HPPrivBayes", g, k, r) for g, k in (("published", settings.k), ("strict", "auto")) for r in settings.ratios]
    # figure 5 repeats its comparison at smaller k, to see what k = 4 does to it
    smaller = [k for k in settings.degrees if k != settings.k] if figure == 5 else []
    return compared(settings) + [curve(m, "published", k, settings.r) for k in smaller for m in METHODS]
