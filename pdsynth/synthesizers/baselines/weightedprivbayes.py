"""Weighted PrivBayes (Wang 2016; as other papers describe it)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..base import Synthesizer
from ..parts import Ordered, Uniform


@dataclass(eq=False, repr=False)
class WeightedPrivBayes(Synthesizer):
    """Weighted PrivBayes, a reconstruction: attributes enter by weight, important ones first; the weight is the entropy (diversity).

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    share_sketch : share of βε for the noisy histograms that the weights come from (strict).

    **Privacy:** strict: pure ε-DP under replacing one record: d noisy histograms, d−1 exponential mechanisms, discrete Laplace
    tables. Published: the order is raw, so no finite ε holds.

    >>> WeightedPrivBayes(k=2)
    WeightedPrivBayes(epsilon=1.0, k=2, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int | str = "auto"
    share_structure: float = 0.3
    share_sketch: float = 0.15
    theta_usefulness: float = 4
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _parts(self) -> tuple[Any, Any]:
        return Ordered(self.k, self.theta_usefulness, by="entropy", share_sketch=self.share_sketch), Uniform()
