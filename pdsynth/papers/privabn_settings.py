"""What PrivABN's figures 1 to 3 and its Table 2 compare: the paper's parameters, and the choices that it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .engine import Curve, Key

RIVALS = ("PriView", "PrivBayes", "JTree")
SEED = 2021
BAR = 0.01  # the paper's error bar
FROM = {"NLTCS": 0.4, "ACS": 0.225}  # ε from which L2 is said to lie below it
TITLES: Mapping[Key, str] = {
    1: "Figure 1: L1 and L2 errors on NLTCS and ACS",
    2: "Figure 2: errors of 3-way queries on a fine grid of ε",
    3: "Figure 3: L2 errors on Retail, against PriView, PrivBayes and JTree",
    "table 2": "Table 2: pairs of an attribute and a parent set that are enumerated",
}


@dataclass(frozen=True)
class Settings:
    """Parameters of the paper's §6, all as printed.

    ``epsilons``, ``fine``, ``retail_epsilons``: ε of Figures 1, 2 and 3. ``alphas``, ``retail_alphas``: sizes of the queries.
    ``queries``: how many random ones. ``items``: best-selling items of Retail. ``attributes``, ``degrees``, ``speed`` (pairs a
    second): of Table 2. ``retail_repeats``: at most so many repeats on Retail, whose fits take longest (0: as many as elsewhere).
    ``baseline_degree``: k of PrivBayes on Retail; θ-usefulness alone gives 3 at ε = .1, but 6 at ε = 1, or 10⁸ candidates.
    """

    epsilons: tuple[float, ...] = (0.001, 0.005, 0.01, 0.05, 0.1, 1.0)
    fine: tuple[float, ...] = (*(i / 40 for i in range(2, 21)), 0.6, 0.7, 0.8, 0.9, 1.0)  # .05 to .5 by .025, to 1 by .1
    retail_epsilons: tuple[float, ...] = (0.1, 1.0)
    alphas: tuple[int, ...] = (3, 7, 12)
    retail_alphas: tuple[int, ...] = (4, 6, 8)
    queries: int = 200
    items: int = 50
    attributes: int = 50
    degrees: tuple[int, ...] = (5, 10, 15, 20, 25)
    speed: int = 10_000
    retail_repeats: int = 0
    baseline_degree: int = 3


def large(number: float) -> str:
    """A number of pairs as the paper prints it: 1.158 × 10⁸."""
    if number < 1e6:
        return f"{number:,.0f}"
    digits, power = f"{number:.3e}".split("e")
    return f"{digits} × 10{str(int(power)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


OWN = [Curve("PrivABN", guarantee) for guarantee in ("published", "strict")]
FREE = Curve("PrivABN", "none")  # the paper's NoPrivABN


def compared(settings: Settings) -> list[Curve]:
    """The private curves of Figure 3."""
    rivals = [Curve(m, g, str(settings.baseline_degree) if m == "PrivBayes" else "") for g in ("published", "strict") for m in RIVALS]
    return OWN + rivals
