"""Exercises of lesson 20, the world outside."""

import math

from .judges import Computation
from .lesson import exercises


def bound(rho: float, delta: float) -> float:
    """The older conversion of zCDP (Bun and Steinke, 2016)."""
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


epsilon_of = Computation(
    bound,
    cases=[(0.1, 1e-6), (2.0, 1e-9), (0.01, 1e-5)],
    faults={
        "epsilon_of takes the root of a negative number: ln δ is negative, ln(1/δ) isn't.": (
            lambda got, *case: math.isnan(got)
        ),
    },
    mistakes={
        "epsilon_of takes another logarithm: ln is the natural one, np.log.": lambda rho, delta: (
            rho + 2 * math.sqrt(rho * math.log10(1 / delta))
        ),
        "epsilon_of takes log₂: ln is the natural logarithm, np.log.": lambda rho, delta: (
            rho + 2 * math.sqrt(rho * math.log2(1 / delta))
        ),
        "epsilon_of takes the root of ρ alone: ln(1/δ) stands under it, too.": lambda rho, delta: (
            rho + 2 * math.sqrt(rho) * math.log(1 / delta)
        ),
        "epsilon_of lacks the factor 2 before the root.": lambda rho, delta: (
            rho + math.sqrt(rho * math.log(1 / delta))
        ),
        "epsilon_of lacks ρ itself, the first part of the sum.": lambda rho, delta: (
            2 * math.sqrt(rho * math.log(1 / delta))
        ),
        "epsilon_of takes no root.": lambda rho, delta: rho + 2 * rho * math.log(1 / delta),
        "epsilon_of forgets ρ under the root.": lambda rho, delta: (
            rho + 2 * math.sqrt(math.log(1 / delta))
        ),
        "epsilon_of divides by δ where ln(1/δ) belongs.": lambda rho, delta: (
            rho + 2 * math.sqrt(rho / delta)
        ),
        "epsilon_of gives ρ back: zCDP at ρ is no pure ρ-DP, the tail costs more.": (
            lambda rho, delta: rho
        ),
        "epsilon_of subtracts the root. Add it.": (
            lambda rho, delta: rho - 2 * math.sqrt(rho * math.log(1 / delta))
        ),
        "epsilon_of is 1/δ: δ enters through its logarithm.": lambda rho, delta: 1 / delta,
        "epsilon_of is √(2ρ), which turns ε into ρ the other way: pure ε-DP is ε²/2-zCDP.": (
            lambda rho, delta: math.sqrt(2 * rho)
        ),
    },
    otherwise="epsilon_of{case} gives {got:.4g}; ρ + 2√(ρ ln(1/δ)) is {wanted:.4g}.",
)

q1, q2, q3 = exercises("lesson_20", q2=epsilon_of)
