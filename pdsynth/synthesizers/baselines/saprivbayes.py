"""SA-PrivBayes (Future Internet 18(2) 103; abstract and public code)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ..base import Synthesizer
from ..parts import Geometric, PairwiseSums


@dataclass(eq=False, repr=False)
class SAPrivBayes(Synthesizer):
    """SA-PrivBayes: ELPrivBayes with the best share of the candidate sets only, and three classes of tables in the ratio q.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes; the public code has k = 2 and β = 0.3.
    keep : share of the candidate sets that stay before a selection (published). Strict takes the best set of the noisy sketch
        for free, where a filter changes nothing.
    q : budget of a class of tables against the class ranked before it; ranked by the score that chose them.

    **Privacy:** strict: pure ε-DP under replacing one record, as ELPrivBayes; classes come from the noisy sketch. Published:
    filter and classes are raw, sums are given the sensitivity of one pair: no finite ε.

    >>> SAPrivBayes(q=1.2)
    SAPrivBayes(epsilon=1.0, q=1.2, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int | str = "auto"
    q: float = 1.1
    keep: float = 2 / 3
    share_structure: float = 0.3
    theta_usefulness: float = 4
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _parts(self) -> tuple[Any, Any]:
        return PairwiseSums(self.k, self.theta_usefulness, keep=self.keep), Geometric(self.q, classes=3)
