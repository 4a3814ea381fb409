"""ConsistentBayes: what to run on a table of one's own."""

from dataclasses import dataclass, fields
from typing import Any

from ..domain.facts import Facts
from ..errors import BudgetError, is_whole, show
from ..reconcile import Agree
from ..structure.restrictions import Restriction
from .recipe import Parts, Recipe
from .residual import Residual, ResidualForest, ResidualRounds
from .residual_run import WIDE


@dataclass(eq=False, repr=False, kw_only=True)
class ConsistentBayes(Recipe):
    """Single columns, then pairs and triples chosen by what is still wrong, all made to agree.

    Before, one noisy number says how strongly pairs are tied on average. Where ties are weaker
    than noise, single columns get all of ε, so that little is lost to Independent.

    `algorithms` §18, in pure ε: the steps of MST (McKenna, Miklau, Sheldon 2021), the rounds of AIM
    (McKenna, Mullins, Sheldon, Miklau 2022), Private-PGM with squares for the agreement (McKenna,
    Sheldon, Miklau 2019), each with the exponential mechanism and discrete Laplace noise.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in every synthesizer; strict and published are the
        same.
    rounds : how many rounds ε is planned for; ``"auto"``: two per attribute, and a forest beyond
        64 attributes. 0: a forest of pairs in one go, faster and nearly as near where n ε is small.
    sensitive : an attribute that stands in one table besides its own column. What it loses is
        bounded before the run: its column's ε and ``share_sensitive``.
    restriction, personal, r, share_one_way, share_select, share_sensitive : as in
        :class:`~pdsynth.synthesizers.residual.Residual`.
    reconcile : ``Agree()``, also where None.

    Attributes
    ----------
    measured_ : the attributes of every table that was measured, in order.

    **Privacy:** strict: pure ε-DP under replacing one record: discrete Laplace noise on the mean
    association of pairs (at most ε/20), a discrete Laplace table per column, per round an
    exponential mechanism on the residual (sensitivity 2, proved in
    :class:`~pdsynth.synthesizers.residual.Residual`) and a discrete Laplace table, all
    sequentially and ε in all; agreement is post-processing. Published: the same. None: raw. A value
    that goes with an attribute that isn't sensitive (a drug with its diagnosis) is told by that
    one: see ``ledger_.attribute_epsilon``.

    >>> ConsistentBayes(epsilon=0.5)
    ConsistentBayes(epsilon=0.5, guarantee='strict')
    """

    rounds: int | str = "auto"
    sensitive: str | None = None
    restriction: Restriction | None = None
    personal: Any = None
    r: float = 1 / 3
    share_one_way: float | str = "auto"
    share_select: float = 0.2
    share_sensitive: float = 0.1

    def _parts(self, facts: Facts) -> Parts:
        policy = {f.name: getattr(self, f.name) for f in fields(Residual)}
        wide = isinstance(self.rounds, str) and len(facts.schema) > WIDE
        if wide or is_whole(self.rounds, 0, 0):
            return Parts(ResidualForest(**policy), reconcile=Agree())
        return Parts(ResidualRounds(**policy, rounds=self.rounds), reconcile=Agree())

    def _check(self, facts: Facts) -> None:
        if isinstance(self.rounds, str) and self.rounds != "auto":
            raise BudgetError(f"rounds must be 'auto' or a whole number, got {show(self.rounds)}")
