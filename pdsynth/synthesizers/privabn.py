"""PrivABN: high-dimensional binary data by an adaptive Bayesian network (Lan, Hong, Chen, Cai, Wang, WCMC 2021)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

from ..budgets import TableBudget, positive, share, uniform
from ..conditionals import MAX_PARENTS, Table, noisy_conditionals, noisy_tables
from ..domain.encoding import BinaryEncoding
from ..domain.schema import Schema
from ..errors import BudgetError
from ..measures import GRID
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..privacy.mechanisms import Noise
from .base import Synthesizer
from .degrees import MAX_CELLS, check_noise, check_parents
from .parts import Adaptive

SDG = "PrivABN Alg 4 line 5"


@dataclass(eq=False, repr=False)
class PrivABN(Synthesizer):
    """PrivABN: parent sets that grow without a largest in-degree (ABN), then noise on conditional distributions (SDG).

    Parameters
    ----------
    epsilon : total budget ε.
    k : largest number of parents. ``"auto"``: no cap (published, none), as printed; under strict the largest number whose tables
        are θ-useful, from public facts.
    share_structure : share of ε for the structure; the paper prints 1/2.
    theta_usefulness : θ of ``k="auto"`` under strict: a table's mean cell must be at least this many times its noise scale.
    guarantee : ``"strict"``, ``"published"`` or ``"none"`` (the paper's NoPrivABN).
    noise, random_state : the sampler and its seed; None draws from the operating system.

    Tables with attributes of more than two values are fitted through their binary encoding; then k counts bits.

    Ambiguities and how they are resolved (`algorithms` §6.2)
    ---------------------------------------------------------
    1. "Conditional entropy" is mutual information. 2. It is in bits, while formula (10) is in nats: published runs the print, and the
    ledger shows 1.44 times the claim. 3. GParentSet is called with k = i−1. 4. j descends. 5. A parent configuration without records
    gets the uniform distribution (plus its noise). 6. The "optimal substructure" isn't one: see :func:`structure.adaptive.abn_published`.
    7. Table 2's "=250" is 2,500, and the pairs that ABN scores are (m³−m)/6 = 20,825 at m = 50. 8. The even split is kept, although
    formula (13) drops the ln n that would favour ε₁. 10. Mutual information grows with the parent set, so in-degrees drift upwards
    until each configuration holds one record: without noise the network memorises the table, which is why NoPrivABN looks excellent.

    Strict draws the structure by :func:`structure.adaptive.abn_strict` and noises joint counts, so that the penalty of a larger table
    answers the paper's worry about small cells. Its selections number Σ min(k, i−1), not (m−1)k: nodes near the root can't use more.

    **Privacy:** strict: pure ε-DP under replacing one record: exponential mechanisms with score R over all placed attributes, βε;
    what STOP leaves over is charged all the same; one discrete Laplace table a bit, ε₂/m each. Published: nearly none. A conditional
    has sensitivity 2 and not 2/n, so m tables cost about n·ε₂, and the candidates are argmaxes over the records. None: raw, and it
    memorises single records.

    >>> PrivABN(epsilon=0.5)
    PrivABN(epsilon=0.5, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int | str = "auto"
    share_structure: float = 0.5
    theta_usefulness: float = 4
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _asked_degree(self) -> int | None:
        return None  # k counts bits

    def _check_parameters(self) -> Fraction:
        share("share_structure", self.share_structure)
        positive("theta_usefulness", self.theta_usefulness)
        return super()._check_parameters()

    def _check_schema(self, schema: Schema, n: int) -> None:
        check_parents(self.k, len(schema))
        m = len(BinaryEncoding(schema).owners)
        check_cells(self.k, m, self.guarantee)
        epsilon2 = as_fraction(self.epsilon) * (1 - as_fraction(self.share_structure))
        if self.guarantee != "none":
            check_noise(self.epsilon, n, printed_scale(m, n, epsilon2) * GRID if self.guarantee == "published" else 2 * m / epsilon2)

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[Table, ...]]:
        bits = curator if max(curator.schema.sizes) == 2 else curator.binary()
        names, m, epsilon1 = bits.schema.names, len(bits.schema), epsilon * share("share_structure", self.share_structure)
        learnt = Adaptive(self.k, self.theta_usefulness).learn(bits, noise, epsilon1, epsilon - epsilon1)  # Algorithm 5, line 2
        epsilon2 = epsilon - learnt.spent
        if self.guarantee == "strict":
            even = uniform(m, epsilon2, source=f"{SDG}, on joint counts")
            return learnt.network, noisy_tables(bits, learnt.network, dict.fromkeys(names, even))
        budget = TableBudget(printed_scale(m, curator.n, epsilon2), epsilon2 / m, source=SDG)
        return learnt.network, noisy_conditionals(bits, learnt.network, dict.fromkeys(names, budget), noise)  # line 3


def printed_scale(m: int, n: int, epsilon2: Fraction) -> Fraction:
    """The printed Lap(2m/(n ε₂)) on each conditional probability (PrivABN, Algorithm 4, line 5)."""
    return Fraction(2 * m) / (n * epsilon2)


def check_cells(k: int | str, m: int, guarantee: str) -> None:
    """Refuse in-degrees whose tables can't be kept: whole ones under strict, 64-bit parent configurations otherwise."""
    if guarantee == "strict":
        if not isinstance(k, str) and 2 ** (int(k) + 1) > MAX_CELLS:
            raise BudgetError(f"k = {k} means tables of {2 ** (int(k) + 1):,} cells; at most {MAX_CELLS:,}: lower k, or use k='auto'")
        return
    widest = m - 1 if isinstance(k, str) else min(int(k), m - 1)
    if widest > MAX_PARENTS:
        raise BudgetError(
            f"without a cap a table of {m} bits can have {widest} parents a node; their configurations are kept in 64 bits: "
            f"cap the in-degree with k = {MAX_PARENTS} or less"
        )
