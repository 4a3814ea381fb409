"""HPPrivBayes: hierarchical personalised PrivBayes (Deng, thesis 2025)."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ..budgets import Groups, SensitivityGroups, proportional
from ..domain.facts import Facts
from ..privacy.ledger import as_fraction
from ..structure.ordered import Ordered
from ..structure.restrictions import Restriction
from .recipe import Parts, Recipe


@dataclass(eq=False, repr=False, kw_only=True)
class HPPrivBayes(Recipe):
    """HPPrivBayes: attributes enter by average mutual information, noise follows two groups.

    Parameters
    ----------
    epsilon, k, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    sensitive : the sensitive attribute S; always in group A.
    theta : threshold of group A in bits of I(X, S). Under strict, where R is compared, it becomes
        ``0.752·sqrt(θ ln 2 / 2)`` (Pinsker's cap scaled so that 0.1 bit gives 0.14).
    r : L2/L3, the budget of group A (more sensitive) against group B.
    personal : :class:`SensitivityGroups`: groups and weights by public policy, and who gets less
        noise. None: as the thesis.
    share_sketch, share_structure : shares of the private sketches (L0) and of the structure (the
        thesis' L1); the rest is split by r.
    restriction : edges that the network must or may not have, by public policy; the order gives
        way.

    Attributes
    ----------
    groups_ : ``{"A": names, "B": names}``. ``association_``: how strongly each attribute is tied to
        S.
    order_ : the attributes by ``average_association_``.
    weights_ : relative budgets of the values of each attribute of group B.

    Ambiguities and how they are resolved (`algorithms` §3.2)
    ---------------------------------------------------------
    1. Algorithm 6 loops over B. 2. Its input is ε₃, each attribute has ε₃/l. 3. A table is
       normalised once. 4. All tables are noised, and the budgets divided by |A| and |B|, not by
       the d−k−l of Algorithm 5. 5. S is in A. 6. Nothing assumes that the first k attributes lie
       in A. 7. θ is in bits. 8. A declared value without records: noisy counts are at least one
       half. 9. w = 0 gets a floor. 10. r = L2/L3; L1 is never given, 0.3 here. 11.
       ``rare_values`` chooses. 12. n is that of the table. 13. A pair is added once.

    **Privacy:** strict: pure ε-DP under replacing one record. Order, groups and weights come from
    three discrete Laplace sketches (share_sketch·ε, split 0.4/0.4/0.2), everything that follows
    from them is post-processing; d−1 exponential mechanisms (share_structure·ε, score R); one noisy
    table per attribute, ε₂/|A| or ε₃/|B| each, with per-value scales whose worst move costs exactly
    that.
    """

    k: int | str = "auto"
    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups | None = None
    share_sketch: float = 0.05
    share_structure: float = 0.3
    theta_usefulness: float = 4
    restriction: Restriction | None = None

    shares: ClassVar[tuple[str, ...]] = ("share_sketch", "share_structure")

    def threshold(self) -> float:
        """The threshold of group A: the R that stands for θ under strict, else θ, bits of I."""
        strict = self.guarantee == "strict"  # the measure itself changes
        return self._groups().threshold() if strict else float(self.theta)

    def _groups(self) -> Groups:
        personal = SensitivityGroups() if self.personal is None else self.personal
        return Groups(self.sensitive, self.theta, self.r, personal, self.share_sketch)

    def _parts(self, facts: Facts) -> Parts:
        structure = Ordered(
            self.k,
            self.theta_usefulness,
            restriction=self.restriction,
            step="AMI order",
        )
        return Parts(structure, self._groups())

    def _split(self, facts: Facts, parts: Parts) -> dict[str, Fraction]:
        """One sketch budget for order, groups and weights (4 : 4 : 2), as far as they are asked."""
        learns, sketched = parts.structure.asks(facts), parts.budget.asks(facts)
        asked = {
            "order": 4 * bool(learns),
            "groups": 4 * bool(sketched.get("groups")),
            "weights": 2 * bool(sketched.get("weights")),
        }
        epsilon1 = facts.epsilon * as_fraction(self.share_structure)
        epsilon0 = facts.epsilon - epsilon1 - facts.epsilon2
        sketches = dict.fromkeys(asked, Fraction(0))
        tables = facts.epsilon2 + (Fraction(0) if learns else epsilon1)
        if any(asked.values()):
            sketches = proportional(epsilon0, asked)
        else:
            tables += epsilon0
        return sketches | ({"selections": epsilon1} if learns else {}) | {"tables": tables}
