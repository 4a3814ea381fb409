"""What one more edge of a network brings and costs, from public facts alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..files import decimal


@dataclass(frozen=True)
class EdgePrice:
    """What one more edge brings and costs.

    ``noise_before``, ``noise_after``: expected total variation distance that noise alone adds to
    the child's table; ``epsilon_before``, ``epsilon_after``: loss of the new parent if only it
    changes, at equal shares for all d tables. ``information`` in bits, None without a public
    reference.
    """

    edge: tuple[str, str]
    cells_before: int
    cells_after: int
    noise_before: float
    noise_after: float
    epsilon_before: Fraction
    epsilon_after: Fraction
    information: float | None = None

    def __str__(self) -> str:
        parent, child = self.edge
        gained = (
            "" if self.information is None else f"gains {self.information:.4f} bit of information; "
        )
        return (
            f"{parent} → {child}: {gained}the table grows from {self.cells_before:,} to "
            f"{self.cells_after:,} cells, noise alone moves it by {self.noise_after:.3g} "
            f"instead of {self.noise_before:.3g}; a change of {parent} then costs ε = "
            f"{decimal(self.epsilon_after)} instead of {decimal(self.epsilon_before)}"
        )
