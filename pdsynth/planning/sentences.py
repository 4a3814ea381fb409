"""What a plan says of noise, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ..core import NOISE_DOMINATES, USEFUL, name_some
from .forecasting import RECIPE, Forecast

# Distance ÷ forecast of ConsistentBayes, each table under the prior of the others: four of five of
# the 72 cells of figures/advice.csv, all but those of made tables, lie between these.
LIKELY = 0.64, 1.70


def likely(forecast: float) -> tuple[float, float]:
    """Between which distances ConsistentBayes came in four of five cells with such a forecast."""
    least, most = LIKELY
    return forecast * least, min(1.0, forecast * most)


def say_too_fine(
    names: Sequence[str], sizes: Sequence[int], d: int, drowned: bool, part: str
) -> str:
    """A sentence on those of d columns whose values are too many for this ε; empty for none.

    Where these are all, no forecast tells whether even rows are farther: how uneven the table is
    isn't public. ``drowned``: that was said already. ``part``: of the budget, for single columns.
    """
    if not names:
        return ""
    shown = [f"{n} ({s} values)" for n, s in zip(names, sizes, strict=True)]
    what, remedy, even = name_some(shown), "fewer values", ""
    if len(names) == d > 1:
        what, remedy = f"all {d:,} columns", "fewer columns"
        if not drowned:
            even = " Rows whose values are drawn evenly, which tell nothing, may be as near."
    return (
        f" Too fine for this ε: {what}. With {part} for single columns, a value's "
        f"expected noise there is larger than its mean count; {remedy} or coarser bins would help."
        f"{even}"
    )


def say_groups(groups: Mapping[str, str], d: int, candidates: Sequence[Forecast]) -> str:
    """What becomes of the groups that the schema of d columns declares, and which method uses them.

    Empty where the best method does, and where all columns are alike.
    """
    best = candidates[0].name
    if not 0 < sum(group == "A" for group in groups.values()) < d or best.startswith(RECIPE):
        return ""
    words = f" The schema declares groups, of which {best} makes no use"
    for other in candidates:
        if other.name.startswith(RECIPE):
            words += f": {other.name}, expected to come to {other.distance:.3f}, gives the tables "
            return words + "of group A less ε."
    return words + "."


def say_secret(n: int, hidden: bool) -> str:
    """What a plan takes for n where that is secret; empty where it is public."""
    return (
        f" The number of records is secret (relation='add_remove'): {n:,} must be a public guess, "
        "and only methods that hide it are compared."
        if hidden
        else ""
    )


def say_delta(candidates: Sequence[Forecast], delta: Fraction | None) -> str:
    """What a chance δ of more loss is expected to buy; empty where none was named."""
    if delta is None:
        return ""
    if candidates[0].delta is not None:
        pure = next(f for f in candidates if f.delta is None)
        return (
            f" With a chance of at most {float(delta):g} the loss may exceed ε. Without it, "
            f"{pure.name} comes nearest: {pure.distance:.3f}."
        )
    expected = next(f.distance for f in candidates if f.delta is not None)
    return f" A δ of {float(delta):g} isn't expected to buy much here: {expected:.3f} with it."


def expect(ratio: list[float], k: int) -> str:
    """What tables of 0, 1, … parents are worth at these ratios of noise to mean cell."""
    lost = [degree for degree, value in enumerate(ratio) if value > NOISE_DOMINATES]
    if 1 in lost and 0 in lost:
        return (
            "every two-way table is noise, and so is every single column: it takes more "
            "records, fewer columns, coarser bins or a larger ε."
        )
    if 1 in lost:
        return (
            "every two-way table is noise; release single columns, or use fewer of them, or "
            "coarser bins."
        )
    if k == 0:
        return (
            f"a typical two-way table isn't useful (mean cell below {USEFUL:g} noise scales): "
            "k = 'auto' will keep only smaller ones; coarser bins would help."
        )
    useful = (
        f"up to k = {k} parent{'s' * (k > 1)} a typical table is useful (mean cell of at "
        f"least {USEFUL:g} noise scales)."
    )
    if not lost:
        return useful
    return f"{useful} From k = {lost[0]} on a typical table's noise scale is above its mean cell."


def say_whole(cells: int, n: int, scale: float) -> str:
    """What the one table of all columns that is measured is worth, where no table of parents is."""
    return (
        f"a table of all columns has {cells} cells, of {n / cells:.3g} records on average, with "
        f"noise of scale {scale:.3g}."
    )
