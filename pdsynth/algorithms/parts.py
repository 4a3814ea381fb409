"""Parts of different papers, mixed by hand."""

from dataclasses import dataclass
from typing import Any

from ..core.agreement import Agree
from ..core.budgets import AsMeasured, JointCounts, Parts, Uniform
from ..core.errors import BudgetError, door, show
from ..core.network import Network, Restriction
from ..core.recipe import Recipe
from ..core.schema import Facts
from ..core.structure import Fixed
from .consistent import ResidualForest, ResidualRounds
from .genetic import GeneticSearch
from .hpprivbayes import Ordered
from .personal import Groups, RiskEntropy, SensitivityGroups
from .ppba import Geometric, SpanningTree
from .privabn import Adaptive
from .privbayes import Greedy

BASELINES = "ByTies", "PairwiseSums"  # parts that stand there
__all__ = [
    *BASELINES,
    "Adaptive",
    "Agree",
    "AsMeasured",
    "Fixed",
    "GeneticSearch",
    "Geometric",
    "Greedy",
    "Groups",
    "JointCounts",
    "Ordered",
    "ResidualForest",
    "ResidualRounds",
    "Restriction",
    "RiskEntropy",
    "SensitivityGroups",
    "SpanningTree",
    "Uniform",
]


@dataclass(eq=False, repr=False, kw_only=True)
class Synthesizer(Recipe):
    """Parts of different papers, mixed by hand; the papers' classes are presets of it.

    Parameters
    ----------
    epsilon : total budget ε.
    structure : a part of ``pds.parts``, for example ``Greedy`` or ``ResidualRounds``, or a
        :class:`Network`, which is public and costs nothing. None: ``Greedy()``. A ``restriction``
        of a part forces and forbids edges.
    budget : ``Uniform``, ``Groups``, ``ByTies``, ``RiskEntropy`` or ``Geometric``. None:
        ``Uniform()``.
    conditionals : where the noise goes. None: ``JointCounts()``. PrivABN's ``ConditionalNoise()``
        isn't private and so is refused under strict.
    reconcile : what is done to the noisy tables afterwards. None: ``Agree()`` for structures that
        measure, else ``AsMeasured()``.
    share_structure : β, share of ε for the structure; what a structure doesn't need goes to the
        tables.
    guarantee, noise, random_state : as in every synthesizer, see :class:`Recipe`.

    **Privacy:** strict: pure ε-DP under replacing one record, the sum of what the parts say.

    >>> import pdsynth as pds
    >>> pds.Synthesizer(structure=pds.parts.Greedy(k=1), budget=pds.parts.Geometric(q=1.2)).budget.q
    1.2
    """

    structure: Any = None
    budget: Any = None
    conditionals: Any = None
    share_structure: float = 0.3

    def _parts(self, facts: Facts) -> Parts:
        structure = Fixed(self.structure) if isinstance(self.structure, Network) else self.structure
        chosen = Parts(
            Greedy() if structure is None else structure,
            Uniform() if self.budget is None else self.budget,
            JointCounts() if self.conditionals is None else self.conditionals,
            Agree() if getattr(structure, "measures", False) else AsMeasured(),
        )
        verbs = ("learn", "allocate", "measure")
        for name, part, verb in zip(Parts._fields, chosen, verbs, strict=False):
            if not hasattr(part, verb) or isinstance(part, type):
                raise BudgetError(
                    f"{name} must be a part of pds.parts such as Greedy() or "
                    f"Uniform(), got {show(part)}"
                )
        return chosen


def __getattr__(name: str) -> Any:
    """A part of the baselines, which are a house next door."""
    if name in BASELINES:
        return getattr(door("baselines"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
