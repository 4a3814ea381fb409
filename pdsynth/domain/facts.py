"""What is public of a fit before it starts: every refusal and every share of ε follows from it."""

from dataclasses import dataclass
from fractions import Fraction

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
