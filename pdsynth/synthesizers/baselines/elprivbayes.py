"""ELPrivBayes (Lu 2023/24; abstract, and the formulas of public code built on it)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..base import Synthesizer
from ..parts import PairwiseSums, Uniform


@dataclass(eq=False, repr=False)
class ELPrivBayes(Synthesizer):
    """ELPrivBayes: one matrix of mutual information gives the order and, as sums over pairs, the score of every parent set.

    Parameters as in PrivBayes. Where the abstract is silent the formulas are those of public code (label: reconstruction).

    **Privacy:** strict: pure ε-DP under replacing one record: one noisy sketch of all pairs (βε), everything else about the
    structure is post-processing; d discrete Laplace tables. Published: the raw matrix orders the attributes, and a sum of k
    terms is given the sensitivity of one, so each selection costs k times its claim.

    >>> ELPrivBayes(epsilon=0.5)
    ELPrivBayes(epsilon=0.5, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int | str = "auto"
    share_structure: float = 0.3
    theta_usefulness: float = 4
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _parts(self) -> tuple[Any, Any]:
        return PairwiseSums(self.k, self.theta_usefulness), Uniform()
