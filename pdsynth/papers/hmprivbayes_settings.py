"""What HMPrivBayes' figures 4 to 6 compare: the paper's parameters, and the choices that it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .engine import Curve, Key

EPSILONS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)  # §4.3, ticks of Figure 5
METHODS = ("HMPrivBayes", "PrivSCBN", "PrivBayes", "JTree")
ADULT, BIG5 = "Adult", "Big5"
SEED = 2022
LEAKS = {  # the attacked records are a random sample, the same in every run
    "leak_gcap": "GCAP",
    "leak_exact": "right exact matches",
    "leak_advantage": "attacker's advantage",
}
TITLES: Mapping[Key, str] = {
    4: "Figure 4: how likely an attacker finds the salary, against the number of records",
    5: "Figure 5: marginal distances and misclassification against ε",
    6: "Figure 6: processor time against the largest in-degree",
}
YOUNG = "51"  # Big5's age has 16 bins; the edge nearest to 50 lies between 51 and 52


@dataclass(frozen=True)
class Settings:
    """Parameters of the paper's §4 (first line) and what it doesn't print (the others).

    ``epsilons``, ``clusters``, ``degree`` (largest in-degree l), ``epsilon`` of Figures 4 and 6, ``train`` (8 : 2): as printed.
    ``degrees``: in-degrees of Figure 6, whose axis can't be read. ``sizes``: of Figure 4. ``sets``: 3-way marginals of the
    distance, a public random sample. ``svm_rows``: at most so many rows train an SVM. ``attacked``: records that the attacker of
    Figure 4 looks for. ``big5_repeats``: at most so many repeats on Big5, whose fits take longest (0: as many as on Adult).
    ``timed_repeats``: the same for Figure 6. ``baseline_degrees``: largest in-degree of PrivBayes on the bits of Adult and of
    Big5 in Figure 6: at 3, Big5 has up to 16 million candidates in one step. ``affinity``: of HMPrivBayes' clusters, published and
    without noise (``HMPrivBayes``); strict ones always read similarities.
    """

    epsilons: tuple[float, ...] = EPSILONS
    clusters: int = 3
    degree: int = 3
    epsilon: float = 0.2
    train: float = 0.8
    degrees: tuple[int, ...] = (1, 2, 3, 4)
    sizes: tuple[int, ...] = (20_000, 40_000, 60_000, 80_000, 100_000)  # ticks of Figure 4
    sets: int = 200
    svm_rows: int = 2_000
    attacked: int = 2_000
    big5_repeats: int = 0
    timed_repeats: int = 3
    baseline_degrees: tuple[int, int] = (3, 2)
    affinity: str = "auto"


def compared(settings: Settings) -> list[Curve]:
    """Every private curve of Figure 5: the four methods as published and strict."""
    degree = {"PrivBayes": "auto", "JTree": ""}
    return [Curve(m, g, degree.get(m, str(settings.degree))) for g in ("published", "strict") for m in METHODS]


def leaking(settings: Settings) -> list[Curve]:
    """The private curves of Figure 4."""
    return [c for c in compared(settings) if c.method != "JTree"]


def noiseless(settings: Settings) -> Curve:
    """The paper's NoPrivacy: its own pipeline without noise."""
    return Curve("HMPrivBayes", "none", str(settings.degree))


def timed(settings: Settings, largest: int) -> list[Curve]:
    """The curves of Figure 6; PrivBayes up to an in-degree that can be run."""
    ours = [Curve("HMPrivBayes", g, str(k)) for g in ("published", "strict") for k in settings.degrees]
    return ours + [Curve("PrivBayes", "published", str(k)) for k in settings.degrees if k <= largest]
