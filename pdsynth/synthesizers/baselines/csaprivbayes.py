"""CSAPrivBayes (Chen 2021; as the thesis and public code describe it)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from ..base import Synthesizer
from ..groups import SensitivityGroups, TwoGroups
from ..parts import Greedy, Groups


@dataclass(eq=False, repr=False)
class CSAPrivBayes(Synthesizer):
    """CSAPrivBayes, a reconstruction: PrivBayes from the attribute with the largest domain, and two groups with budgets of their own.

    The recommended first form of personalisation: HPPrivBayes without its order and its value weights.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    sensitive, theta, r, personal : as in HPPrivBayes, but rare values always get the same noise; groups by policy cost nothing.
    share_sketch : share of the tables' budget for the associations where the groups aren't policy (strict).

    **Privacy:** strict: pure ε-DP under replacing one record: d−1 exponential mechanisms, d−1 noisy associations unless the groups
    are policy, d discrete Laplace tables. Published: the groups are raw, so no finite ε holds; by policy it keeps its claim.

    >>> CSAPrivBayes(sensitive="occupation")
    CSAPrivBayes(epsilon=1.0, sensitive='occupation', guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int | str = "auto"
    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups | None = None
    share_structure: float = 0.3
    share_sketch: float = 0.05
    theta_usefulness: float = 4
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _parts(self) -> tuple[Any, Any]:
        personal = replace(self.personal or SensitivityGroups(), rare_values="same_noise")
        two = TwoGroups(self.sensitive, self.theta, self.r, personal)
        return Greedy(self.k, self.theta_usefulness, root="largest"), Groups(two, self.share_sketch)
