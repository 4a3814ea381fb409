"""What tables of k parents are worth under noise, from public facts: ratios and sentences."""

import math
from fractions import Fraction

import numpy as np

from ..domain.schema import Schema
from ..privacy.unit import ONE_REPLACED

NOISE_DOMINATES = 1.0  # noise as large as the mean cell: a table tells most about the noise
USEFUL = 4.0  # θ of TODS 2017: a mean cell of at least four noise scales


def typical_cells(schema: Schema, k: int) -> float:
    """Cells of a table of k+1 attributes of typical size, the geometric mean of the sizes."""
    return math.exp(float(np.mean(np.log(schema.sizes)))) ** (k + 1)


def noise_to_cell(
    schema: Schema, n: int, epsilon: Fraction, k: int, share_structure: Fraction = Fraction(3, 10)
) -> float:
    """Noise scale of a typical table over its mean cell, both in records.

    d−k tables share (1−β)ε, or all of ε for k = 0.
    """
    rest = epsilon * (1 - share_structure) if k else epsilon
    scale = float(ONE_REPLACED.scale(rest, tables=len(schema) - k))
    return scale * typical_cells(schema, k) / n


def describe_facts(schema: Schema, n: int, epsilon: Fraction) -> str:
    """Rows, columns and ε in words."""
    return f"{n:,} rows × {len(schema)} columns at ε = {float(epsilon):g}: "


def expect(ratio: list[float], k: int) -> str:
    """What tables of 0, 1, … parents are worth at these ratios of noise to mean cell."""
    lost = [degree for degree, value in enumerate(ratio) if value > NOISE_DOMINATES]
    if 1 in lost and 0 in lost:
        return (
            "every two-way table is noise, and so is every single column: it takes more "
            "records, coarser bins or a larger ε."
        )
    if 1 in lost:
        return (
            "every two-way table is noise; release single columns, or use fewer of them, or "
            "coarser bins."
        )
    if k == 0:
        return (
            "two-way tables are as much noise as signal: k = 'auto' will keep only the "
            "smallest; coarser bins would help."
        )
    useful = (
        f"up to k = {k} parent{'s' * (k > 1)} a typical table is useful (mean cell of at "
        f"least {USEFUL:g} noise scales)."
    )
    if not lost:
        return useful
    return f"{useful} From k = {lost[0]} on a typical table has more noise than records in a cell."


def noise_dominates(schema: Schema, n: int, epsilon: Fraction, k: int) -> str | None:
    """A warning where a typical table of this degree is more noise than signal, else None."""
    ratio, cells = noise_to_cell(schema, n, epsilon, k), typical_cells(schema, k)
    if ratio <= NOISE_DOMINATES:
        return None
    return describe_facts(schema, n, epsilon) + (
        f"with k = {k} a typical table has {cells:,.0f} cells of {n / cells:.2g} records, under "
        f"noise of {ratio * n / cells:.2g} records in every cell; k='auto' chooses what n and ε "
        "can bear (see pds.plan)"
    )
