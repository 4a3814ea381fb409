"""What stands side by side: every algorithm and every mixture of parts."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import algorithms as s
from .. import baselines as b
from ..algorithms import Geometric, RiskEntropy
from ..core import Agree, JointCounts, Uniform
from ..datasets.tables import Dataset
from ..published import ConditionalNoise
from . import engine
from .frontier import group_by_policy, restrict
from .yardstick import GUARANTEE, OpenDPTable

DISTANCE, REST = "2-way distance", "2-way distance without it"
LOSS, SECONDS = "ε of the sensitive attribute", "processor seconds"
POLICY, GROUPED = "CSAPrivBayes, policy", "custom network, policy"
CONSISTENT = "ConsistentBayes"
FOREST, ONE_TABLE = f"{CONSISTENT}, forest", f"{CONSISTENT}, forest, sensitive"
PERSONAL = (
    "HPPrivBayes",
    "HMPrivBayes",
    "PPBA",
    "CSAPrivBayes",
    POLICY,
    GROUPED,
    "SAPrivBayes",
    ONE_TABLE,
)
# seconds a fit: figure 1 only
SLOW = ("HMPrivBayes", "PrivABN", "PrivSCBN", "PriView", CONSISTENT)
BASE, AGREED = "PrivBayes", "PrivBayes, tables agree"
STRUCTURES: dict[str, Any] = {
    "Greedy (PrivBayes)": s.Greedy(),
    "Greedy, largest root (CSA)": s.Greedy(root="largest"),
    "Ordered (thesis)": s.Ordered(),
    "Ordered by entropy": s.Ordered(by="entropy"),
    "PairwiseSums (EL)": b.PairwiseSums(),
    "SpanningTree (PPBA)": s.SpanningTree(),
}


def algorithms(dataset: Dataset, settings: Any) -> dict[str, Callable[..., Any]]:
    """Every algorithm by name: a function of keywords, k = "auto" where it has a k."""
    own: dict[str, Any] = {"sensitive": dataset.sensitive}

    def policy(guarantee: str = "strict") -> dict[str, Any]:
        """The print's r compares the groups, one attribute with all others; strict's two tables."""
        r, others = Fraction(settings.r), len(dataset.schema) - 1
        r *= 1 if guarantee == "published" else others
        return {"r": float(r), "personal": group_by_policy(dataset)}

    return {
        BASE: s.PrivBayes,
        AGREED: lambda **o: s.PrivBayes(reconcile=Agree(), **o),
        "HPPrivBayes": lambda **o: s.HPPrivBayes(**own, **o),
        "HMPrivBayes": s.HMPrivBayes,
        "PPBA": s.PPBA,
        "CSAPrivBayes": lambda **o: b.CSAPrivBayes(**own, **o),
        POLICY: lambda **o: b.CSAPrivBayes(**policy(o.get("guarantee", "strict")), **o),
        GROUPED: lambda **o: s.Synthesizer(
            structure=restrict(dataset),
            budget=s.Groups(**policy(o.get("guarantee", "strict"))),
            **o,
        ),
        "ELPrivBayes": b.ELPrivBayes,
        "SAPrivBayes": b.SAPrivBayes,
        "WeightedPrivBayes": b.WeightedPrivBayes,
        "GeneticBayes": s.GeneticBayes,
        "PrivABN": s.PrivABN,
        "PrivSCBN": b.PrivSCBN,
        "JTree": b.JTree,
        "PriView": b.PriView,
        "Independent": b.Independent,
        CONSISTENT: s.ConsistentBayes,
        FOREST: lambda **o: s.ConsistentBayes(rounds=0, **o),
        ONE_TABLE: lambda **o: s.ConsistentBayes(rounds=0, **own, **o),
    }


def compared(
    guarantee: str, dataset: Dataset, settings: Any, slow: bool = True
) -> dict[engine.Curve, Any]:
    """Curves of all algorithms under one guarantee, each with its unfitted synthesizer."""
    # simulation noise: fast, and nothing here is released
    return {
        engine.Curve(name, guarantee): make(guarantee=guarantee, noise="common")
        for name, make in algorithms(dataset, settings).items()
        if slow or name not in SLOW
    }


def yardsticks(settings: Any) -> dict[engine.Curve, Any]:
    """OpenDP's algorithms."""
    return {
        engine.Curve(f"OpenDP {name}", GUARANTEE): OpenDPTable(name, settings.delta)
        for name in settings.yardsticks
    }


@dataclass(frozen=True)
class Mixture(engine.Curve):
    """One mixture of parts: ``method`` is the structure."""

    budget: str = ""
    place: str = "joint"


def mixtures(
    guarantee: str, dataset: Dataset, settings: Any, bits: bool = False
) -> dict[Mixture, Any]:
    """All structures × budgets.

    On a table of ``bits`` also × places of the noise; there k is fixed, and there are no groups.
    """
    budgets: dict[str, Any] = {"Uniform": Uniform()}
    if not bits:
        same = s.SensitivityGroups(rare_values="same_noise")
        budgets["Groups"] = s.Groups(sensitive=dataset.sensitive, personal=same)
    budgets |= {"RiskEntropy": RiskEntropy()}
    budgets |= {f"Geometric {q:g}": Geometric(q) for q in settings.q}
    k: int | str = settings.degree if bits else "auto"
    places: dict[str, Any] = {"joint": JointCounts()}
    if bits and guarantee == "published":
        places["conditional"] = ConditionalNoise()
    out: dict[Mixture, Any] = {}
    for name, structure in STRUCTURES.items():
        structure = type(structure)(**{**vars(structure), "k": k})
        for budget, part in budgets.items():
            for place, noised in places.items():
                out[Mixture(name, guarantee, str(k), budget, place)] = s.Synthesizer(
                    structure=structure,
                    budget=part,
                    conditionals=noised,
                    guarantee=guarantee,
                    noise="common",
                )
    return out
