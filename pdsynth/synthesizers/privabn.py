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
    epsilon, guarantee, noise, random_state : as in PrivBayes; ``"none"`` is the paper's NoPrivABN.
    k : largest number of parents. ``"auto"``: no cap (published, none), as printed; under strict
        the largest number whose tables are θ-useful, from public facts.
    share_structure : β, share of ε for the structure; the paper prints 1/2.
    theta_usefulness : θ of ``k="auto"`` under strict: a table's mean cell must be at least this
        many times its noise scale.

    Tables with attributes of more than two values are fitted through their binary encoding; then k
    counts bits.

    Ambiguities and how they are resolved (`algorithms` §6.2)
    ---------------------------------------------------------
    1. "Conditional entropy" is mutual information. 2. It is in bits, while formula (10) is in nats:
       published runs the print, and the ledger shows 1.44 times the claim. 3. GParentSet is called
       with k = i−1. 4. j descends. 5. A parent configuration without records gets the uniform
       distribution (plus its noise). 6. The "optimal substructure" isn't one: see
       :func:`structure.adaptive.abn_published`. 7. Table 2's "=250" is 2,500, and the pairs that
       ABN scores are (m³−m)/6 = 20,825 at m = 50. 8. The even split is kept, although formula (13)
       drops the ln n that would favour ε₁. 10. Mutual information grows with the parent set, so
       in-degrees drift upwards until each configuration holds one record: without noise the network
       memorises the table, which is why NoPrivABN looks excellent.

    Strict draws the structure by :func:`structure.adaptive.abn_strict` and noises joint counts, so
    that the penalty of a larger table answers the paper's worry about small cells. Its selections
    number Σ min(k, i−1), not (m−1)k: nodes near the root can't use more.

    **Privacy:** strict: pure ε-DP under replacing one record: exponential mechanisms with score R
    over all placed attributes, βε; what STOP leaves over is charged all the same; one discrete
    Laplace table per bit, ε₂/m each. Published: nearly none. A conditional has sensitivity 2 and
    not 2/n, so m tables cost about n·ε₂, and the candidates are argmaxes over the records. None:
    raw, and it memorises single records.

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
