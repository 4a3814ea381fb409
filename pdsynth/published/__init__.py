"""What the papers print, which is not private: the raw door, and the parts that read through it.

A synthesizer says what it does under ``guarantee="strict"``. For ``"published"`` and ``"none"`` its
parts are replaced here, once, before any record is read: :func:`printed` looks up the class of each
part, and that of the synthesizer, in ``PRINTED``. Without noise (``"none"``) raw statistics are
read where the papers read them, and what follows from ε alone doesn't matter.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

from ..domain.facts import Facts
from ..errors import BudgetError, is_one_of
from ..structure.adaptive import Adaptive
from ..structure.learner import Learner
from ..structure.ordered import Ordered
from ..structure.pairwise import PairwiseSums
from ..structure.searching import GeneticSearch
from ..structure.tree import SpanningTree
from ..synthesizers.baselines.jtree import CliqueTables
from ..synthesizers.baselines.priview import Views
from ..synthesizers.baselines.privscbn import ABNInClusters
from ..synthesizers.genetic import GeneticBayes
from ..synthesizers.hmprivbayes import IBayesInClusters
from ..synthesizers.hpprivbayes import HPPrivBayes
from ..synthesizers.presets import PrivBayes
from ..synthesizers.privabn import PrivABN
from ..synthesizers.recipe import Parts, Recipe
from .clustered import PrintedABN, PrintedIBayes
from .curator import RawCurator
from .doors import open_door, raw_door
from .genetic import PrintedSearch, printed_genetic
from .hpprivbayes import PrintedOrdered, printed_hpprivbayes
from .jtree import PrintedCliques
from .privabn import ConditionalNoise, PrintedAdaptive, printed_privabn
from .privbayes import printed_privbayes
from .priview import PrintedViews
from .sums import PrintedSums, PrintedTree

__all__ = ["ConditionalNoise", "RawCurator", "open_door", "printed", "raw_door"]

PRINTED: dict[type, Callable[..., Any]] = {
    # what a synthesizer does differently: (recipe, facts, parts) → (facts, parts)
    PrivBayes: printed_privbayes,
    HPPrivBayes: printed_hpprivbayes,
    GeneticBayes: printed_genetic,
    PrivABN: printed_privabn,
    # the classes that take the place of strict parts
    Ordered: PrintedOrdered,
    PairwiseSums: PrintedSums,
    SpanningTree: PrintedTree,
    GeneticSearch: PrintedSearch,
    Adaptive: PrintedAdaptive,
    IBayesInClusters: PrintedIBayes,
    ABNInClusters: PrintedABN,
    Views: PrintedViews,
    CliqueTables: PrintedCliques,
}


def printed(recipe: Recipe, facts: Facts, parts: Parts, rows: bool) -> tuple[Facts, Parts]:
    """Facts and parts of a fit that is not strict. ``rows``: whether whole rows can be read.

    **Privacy:** reads nothing; what the parts release, each says.
    """
    if (change := find(type(recipe))) is not None:
        facts, parts = change(recipe, facts, parts)
    parts = Parts(*(print_part(part, facts) for part in parts))
    structure = parts.structure
    if isinstance(structure, Learner) and is_one_of(structure.score, ("auto",)):
        parts = parts._replace(structure=replace(structure, score="I"))
    if not rows and getattr(parts.structure, "reads_rows", False):
        raise BudgetError(
            f"guarantee={recipe.guarantee!r} works on distinct rows of the whole "
            "table: read it into memory, or use guarantee='strict'"
        )
    return facts, parts


def print_part(part: Any, facts: Facts) -> Any:
    """The part with what its printed class does differently; one that is printed already stays."""
    own, cls = type(part), find(type(part))
    if cls is None or isinstance(part, cls):
        return part
    twin = copy(part)
    # a subclass of a strict part keeps what it overrides
    plain = own in PRINTED
    object.__setattr__(twin, "__class__", cls if plain else type(own.__name__, (cls, own), {}))
    return twin


def find(cls: type) -> Any:
    """What the registry says of a class, or of the nearest of its bases; None where nothing."""
    return next((PRINTED[base] for base in cls.__mro__ if base in PRINTED), None)
