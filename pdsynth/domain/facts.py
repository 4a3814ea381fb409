"""What is public of a fit before it starts: every refusal and every share of ε follows from it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..privacy.unit import Unit
from .schema import Schema


@dataclass(frozen=True)
class Facts:
    """The schema of the network's nodes (attributes, or their bits), n, ε and the guarantee.

    ``unit``: what neighbours differ in; where n isn't public, it is 1 until the noisy n is paid
    for. ``epsilon`` is what the recipe may spend on one record. ``epsilon2``: what the tables have
    if a structure is learnt, from which ``k="auto"`` chooses.
    """

    schema: Schema
    n: int
    epsilon: Fraction
    guarantee: str
    epsilon2: Fraction
    unit: Unit = Unit()

    def choose(self, strict: Any, printed: Any) -> Any:
        """What a run uses: the first under ``strict``, else what the papers print."""
        return strict if self.guarantee == "strict" else printed

    def pay(self, share: Fraction) -> Fraction:
        """What a sketch costs: its share under ``strict``, nothing where it is read raw."""
        return self.choose(share, Fraction(0))

    @property
    def score(self) -> str:
        """The score of parent sets: R under ``strict``, the papers' I otherwise."""
        return self.choose("R", "I")
