"""What stands side by side: every algorithm, every mixture of parts, and the ε at which they meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..datasets import Dataset
from ..synthesizers import (
    PPBA,
    GeneticBayes,
    HMPrivBayes,
    HPPrivBayes,
    PrivABN,
    PrivBayes,
    Synthesizer,
    baselines,
)
from ..synthesizers import parts as p
from ..synthesizers.groups import SensitivityGroups, TwoGroups
from . import engine
from .yardstick import GUARANTEE, OpenDPTable

SEED = 2026
DISTANCE, REST, LOSS, SECONDS = "2-way distance", "2-way distance without it", "ε of the sensitive attribute", "processor seconds"
TITLES: Mapping[engine.Key, str] = {
    1: "Figure 1: all algorithms at the same ε",
    2: "Figure 2: structure × budget × place of the noise",
    3: "Figure 3: at the same guarantee for the sensitive attribute, who serves the rest best?",
}
POLICY, GROUPED = "CSAPrivBayes, policy", "custom network, policy"
PERSONAL = ("HPPrivBayes", "HMPrivBayes", "PPBA", "CSAPrivBayes", POLICY, GROUPED, "SAPrivBayes")
SLOW = ("HMPrivBayes", "PrivABN", "PrivSCBN", "PriView")  # seconds a fit: figure 1 only
BASE, YARDSTICK = "PrivBayes", GUARANTEE
STRUCTURES: dict[str, Any] = {
    "Greedy (PrivBayes)": p.Greedy(), "Greedy, largest root (CSA)": p.Greedy(root="largest"), "Ordered (thesis)": p.Ordered(),
    "Ordered by entropy": p.Ordered(by="entropy"), "PairwiseSums (EL)": p.PairwiseSums(), "SpanningTree (PPBA)": p.SpanningTree(),
}  # fmt: skip
PLACES = ("joint", "conditional")


@dataclass(frozen=True)
class Settings:
    """``epsilons``: figure 1; ``epsilon``: figure 2; ``fine``: figure 3; ``promises``: losses of the sensitive attribute to meet at.

    ``r``: budget of the sensitive attribute's table against all others where groups are policy; ``q``: PPBA's ratios in figure 2.
    ``yardsticks``: OpenDP's algorithms, run ``yardstick_repeats`` times at the largest ε of figure 1.
    """

    epsilons: tuple[float, ...] = (0.2, 1.0)
    epsilon: float = 1.0
    fine: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
    promises: tuple[float, ...] = (0.02, 0.05, 0.1, 0.3)
    r: str = "1/26"
    q: tuple[float, ...] = (0.9, 1.1)
    degree: int = 2
    yardsticks: tuple[str, ...] = ("MST",)
    yardstick_repeats: int = 3
    delta: float = 1e-9


def algorithms(dataset: Dataset, settings: Settings) -> dict[str, Callable[..., Any]]:
    """Every algorithm by name: a function of (ε-free) keywords, the papers' defaults otherwise, k = "auto" where it has a k."""
    s = dataset.sensitive
    policy, r = SensitivityGroups(groups={"A": [s]}, rare_values="same_noise"), float(Fraction(settings.r))
    drawn = p.Greedy(restriction=p.Restriction(dataset.target, s))
    return {
        BASE: PrivBayes,
        "HPPrivBayes": lambda **o: HPPrivBayes(sensitive=s, **o),
        "HMPrivBayes": HMPrivBayes,
        "PPBA": PPBA,
        "CSAPrivBayes": lambda **o: baselines.CSAPrivBayes(sensitive=s, **o),
        POLICY: lambda **o: baselines.CSAPrivBayes(r=r, personal=policy, **o),
        GROUPED: lambda **o: Synthesizer(structure=drawn, budget=p.Groups(TwoGroups(r=r, personal=policy)), **o),
        "ELPrivBayes": baselines.ELPrivBayes,
        "SAPrivBayes": baselines.SAPrivBayes,
        "WeightedPrivBayes": baselines.WeightedPrivBayes,
        "GeneticBayes": GeneticBayes,
        "PrivABN": PrivABN,
        "PrivSCBN": baselines.PrivSCBN,
        "JTree": baselines.JTree,
        "PriView": baselines.PriView,
        "Independent": baselines.Independent,
    }


def compared(guarantee: str, dataset: Dataset, settings: Settings, slow: bool = True) -> dict[engine.Curve, Any]:
    """Curves of all algorithms under one guarantee, each with its unfitted synthesizer."""
    named = algorithms(dataset, settings).items()
    # simulation noise: fast, and nothing here is released
    return {engine.Curve(name, guarantee): make(guarantee=guarantee, noise="common") for name, make in named if slow or name not in SLOW}


def yardsticks(settings: Settings) -> dict[engine.Curve, Any]:
    """OpenDP's algorithms."""
    return {engine.Curve(f"OpenDP {name}", YARDSTICK): OpenDPTable(name, settings.delta) for name in settings.yardsticks}


@dataclass(frozen=True)
class Mixture(engine.Curve):
    """One mixture of parts: ``method`` is the structure."""

    budget: str = ""
    place: str = "joint"


def mixtures(guarantee: str, dataset: Dataset, settings: Settings, bits: bool = False) -> dict[Mixture, Any]:
    """All structures × budgets; on a table of ``bits`` also × places of the noise, where k is fixed and there are no groups."""
    budgets: dict[str, Any] = {"Uniform": p.Uniform(), "Groups": p.Groups(TwoGroups(dataset.sensitive, personal=SensitivityGroups(rare_values="same_noise"))),
                               "RiskEntropy": p.RiskEntropy(), **{f"Geometric {q:g}": p.Geometric(q) for q in settings.q}}  # fmt: skip
    out: dict[Mixture, Any] = {}
    for name, structure in STRUCTURES.items():
        k: int | str = settings.degree if bits else "auto"
        structure = type(structure)(**{**vars(structure), "k": k})
        for budget, part in budgets.items():
            for place in PLACES[: 1 + (bits and guarantee == "published")] if budget != "Groups" or not bits else ():
                this = Mixture(name, guarantee, str(k), budget, place)
                out[this] = Synthesizer(structure=structure, budget=part, conditionals=place, guarantee=guarantee, noise="common")
    return out
