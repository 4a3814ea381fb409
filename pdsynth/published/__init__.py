"""What the papers print, which is not private: the raw door, and the parts that read through it.

A synthesizer says what it does under ``guarantee="strict"``. For ``"published"`` and ``"none"`` its
parts are replaced here, once, before any record is read: :func:`printed` looks up the class of the
synthesizer in ``RECIPES`` and that of each part in ``PRINTED``. Without noise (``"none"``) raw
statistics are read where the papers read them, and what follows from ε alone doesn't matter.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from ..algorithms import (
    Adaptive,
    GeneticBayes,
    GeneticSearch,
    Groups,
    HPPrivBayes,
    IBayesInClusters,
    Ordered,
    PrivABN,
    PrivBayes,
    RiskEntropy,
    SpanningTree,
)
from ..baselines import ABNInClusters, AgreeInPairs, CliqueTables, PairwiseSums, Views
from ..core import (
    Agree,
    AgreeByDefault,
    AsMeasured,
    BudgetError,
    Facts,
    Learner,
    Parts,
    Recipe,
    Uniform,
    is_one_of,
)
from .agreement import ExactAgree, ExactAgreeInPairs
from .clustered import (
    PrintedABN,
    PrintedIBayes,
    PrintedRiskEntropy,
    affinity,
    check_affinity,
)
from .curator import RawCurator
from .doors import open_door, raw_door
from .genetic import PrintedSearch, printed_genetic
from .hpprivbayes import PrintedGroups, PrintedOrdered, RawGroups, printed_hpprivbayes
from .jtree import PrintedCliques
from .noise import CommonNoise, NoNoise
from .parallel import check_groups, compose_groups
from .privabn import ConditionalNoise, PrintedAdaptive
from .privabn_readings import printed_privabn
from .privbayes import PrintedUniform, printed_privbayes
from .priview import PrintedViews
from .sparse import SparseTable
from .sums import PrintedSums, PrintedTree

__all__ = [
    "CommonNoise",
    "ConditionalNoise",
    "NoNoise",
    "RawCurator",
    "SparseTable",
    "affinity",
    "check_affinity",
    "check_groups",
    "compose_groups",
    "open_door",
    "printed",
    "raw_door",
]

# What a synthesizer does differently: (recipe, facts, parts) → (facts, parts).
RECIPES: dict[type, Callable[[Any, Facts, Parts], tuple[Facts, Parts]]] = {
    PrivBayes: printed_privbayes,
    HPPrivBayes: printed_hpprivbayes,
    GeneticBayes: printed_genetic,
    PrivABN: printed_privabn,
}
# The class that takes the place of a strict part.
PRINTED: dict[type, type] = {
    Ordered: PrintedOrdered,
    PairwiseSums: PrintedSums,
    SpanningTree: PrintedTree,
    GeneticSearch: PrintedSearch,
    Adaptive: PrintedAdaptive,
    IBayesInClusters: PrintedIBayes,
    ABNInClusters: PrintedABN,
    Views: PrintedViews,
    CliqueTables: PrintedCliques,
    Uniform: PrintedUniform,
    RiskEntropy: PrintedRiskEntropy,
    Groups: PrintedGroups,
    AgreeByDefault: AsMeasured,
}
# Where it is another one without noise.
NOISELESS: dict[type, type] = {
    CliqueTables: CliqueTables,
    Groups: RawGroups,
    Agree: ExactAgree,
    AgreeInPairs: ExactAgreeInPairs,
}


def printed(recipe: Recipe, facts: Facts, parts: Parts, rows: bool) -> tuple[Facts, Parts]:
    """Facts and parts of a fit that is not strict. ``rows``: whether whole rows can be read.

    **Privacy:** reads nothing; what the parts release, each says.
    """
    if (change := find(type(recipe), RECIPES)) is not None:
        facts, parts = change(recipe, facts, parts)
    parts = Parts(*(print_part(part, facts.guarantee) for part in parts))
    structure = parts.structure
    if isinstance(structure, Learner) and is_one_of(structure.score, ("auto",)):
        parts = parts._replace(structure=replace(structure, score="I"))
    if not rows and getattr(structure, "reads_rows", False):
        raise BudgetError(
            f"guarantee={recipe.guarantee!r} works on distinct rows of the whole "
            "table: read it into memory, or use guarantee='strict'"
        )
    return facts, parts


def print_part(part: Any, guarantee: str) -> Any:
    """The part with what its printed class does differently; one that is printed already stays."""
    own = type(part)
    registry = PRINTED if guarantee == "published" else PRINTED | NOISELESS
    cls = find(own, registry)
    if cls is None or isinstance(part, cls):
        return part
    if own not in registry:  # a subclass of a strict part keeps what it overrides
        cls = type(own.__name__, (cls, own), {})
    twin = copy(part)
    object.__setattr__(twin, "__class__", cls)  # parts are frozen
    return twin


def find(cls: type, registry: Mapping[type, Any]) -> Any:
    """What a registry says of a class, or of the nearest of its bases; None where nothing."""
    return next((registry[base] for base in cls.__mro__ if base in registry), None)
