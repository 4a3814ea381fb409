"""PrivABN: binary data by an adaptive network (Lan, Hong, Chen, Cai, Wang, WCMC 2021)."""

from dataclasses import dataclass
from typing import ClassVar

from ..budgets import Uniform
from ..domain.facts import Facts
from ..structure.adaptive import Adaptive
from .recipe import Parts, Recipe

SDG = "PrivABN Alg 4 line 5"


@dataclass(eq=False, repr=False, kw_only=True)
class PrivABN(Recipe):
    """PrivABN: parent sets without a largest in-degree (ABN), noise on conditionals (SDG).

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in PrivBayes.
    k : largest number of parents. ``"auto"``: the largest number whose tables are θ-useful, from
        public facts.
    share_structure : β, share of ε for the structure; the paper has 1/2.
    theta_usefulness : θ of ``k="auto"``: a table's mean cell must be at least this many times its
        noise scale.

    Tables with attributes of more than two values are fitted through their binary encoding; then k
    counts bits.

    Ambiguities and how they are resolved (`algorithms` §6.2)
    ---------------------------------------------------------
    1. "Conditional entropy" is mutual information, and R here. 2. The structure is drawn by
       :func:`structure.adaptive.abn_strict`, where the paper's candidates are argmaxes over the
       records. 3. Joint counts are noised, so that the penalty of a larger table answers the
       paper's worry about small cells. 4. Selections number Σ min(k, i−1), not (m−1)k: nodes near
       the root can't use more. 5. The even split is kept, although formula (13) drops the ln n
       that would favour ε₁.

    **Privacy:** strict: pure ε-DP under replacing one record: exponential mechanisms with score R
    over all placed attributes, βε; what STOP leaves over is charged all the same; one discrete
    Laplace table per bit, ε₂/m each.

    >>> PrivABN(epsilon=0.5)
    PrivABN(epsilon=0.5, guarantee='strict')
    """

    k: int | str = "auto"
    share_structure: float = 0.5
    theta_usefulness: float = 4

    over_bits: ClassVar[bool] = True
    k_counts_parents: ClassVar[bool] = False

    def _parts(self, facts: Facts) -> Parts:
        return Parts(Adaptive(self.k, self.theta_usefulness), Uniform(f"{SDG}, on joint counts"))
