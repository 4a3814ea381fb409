"""What an estimator has spent, and how a fit replaces it whole or not at all."""

from copy import copy
from fractions import Fraction
from typing import Self

from ..privacy.ledger import Ledger


class Spending:
    """The account of one estimator: every fit of it, finished or not.

    A fit works on a copy, and one assignment puts the copy's attributes in place: an interrupt
    before it leaves the estimator as it was, an interrupt after it leaves the new one.
    """

    _finished: Fraction | float

    @property
    def spent_(self) -> Fraction | float:
        """ε of all fits of this object together, also of those that failed on their way."""
        finished: Fraction | float = self.__dict__.get("_finished", Fraction(0))
        return finished + sum(ledger.epsilon for ledger in self.unfinished_)

    @property
    def unfinished_(self) -> tuple[Ledger, ...]:
        """Ledgers of the fits that failed on their way, as far as each came."""
        return tuple(ledger for ledger in self.__dict__.get("_unfinished", ()) if ledger.entries)

    def _start(self, ledger: Ledger) -> Self:
        """A copy with the same parameters and nothing fitted; from now on the ledger counts."""
        run = copy(self)
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        run.__dict__ = kept | {"_unfinished": self.unfinished_}
        self._unfinished = (*self.unfinished_, ledger)
        return run

    def _replace_whole(self, run: Self, ledger: Ledger) -> None:
        """The copy's attributes are this object's from now on, in one step."""
        run._finished = self.__dict__.get("_finished", Fraction(0)) + ledger.epsilon
        self.__dict__ = run.__dict__
