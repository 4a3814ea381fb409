"""What one person can change, the scale of noise that follows for ε, and lines of the ledger.

Numbers are exact fractions: what is computed here is what a line of the ledger costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from .errors import check_word

NEIGHBOURS = {"replace_one": "replace", "add_remove": "add or remove"}
MOST_ZERO_SUM = 32  # cells; of larger tables zero-sum noise saves below 3 % and takes longer
Scale = Fraction | tuple[Fraction, ...]  # of a table's noise: one, or one per value of the child


@dataclass(frozen=True)
class Unit:
    """What neighbouring tables differ in: all ``records`` of one person.

    ``relation``: ``"replace_one"``: the records are replaced, and n is public; ``"add_remove"``:
    they are added or removed, and n is secret. Sensitivities and costs below are those of one
    record; the ledger multiplies them by ``records``.

    **Privacy:** public; every sensitivity of a count comes from here.

    >>> Unit().scale(Fraction(1, 2)), Unit("add_remove").scale(Fraction(1, 2), tables=3)
    (Fraction(4, 1), Fraction(6, 1))
    """

    relation: str = "replace_one"
    records: int = 1
    power: ClassVar[int] = 1  # half the noise costs 2^power times as much

    def __post_init__(self) -> None:
        check_word("relation", self.relation, NEIGHBOURS)

    def __str__(self) -> str:
        whose = "one record" if self.records == 1 else f"one person's {self.records} records"
        return f"{NEIGHBOURS[self.relation]} {whose}"

    @property
    def moved(self) -> int:
        """L1 sensitivity of a table of counts, in records: 2 for a replaced one, else 1."""
        return 2 if self.n_is_public else 1

    @property
    def n_is_public(self) -> bool:
        """Whether neighbouring tables have the same number of records."""
        return self.relation == "replace_one"

    def lemma(self, name: str) -> str:
        """The lemma that proves how far counts move, as the ledger calls it."""
        return f"lemma:{name}" if self.n_is_public else f"lemma:{name}_add_remove"

    def scale(self, epsilon: Fraction, tables: int = 1) -> Fraction:
        """The noise scale, in records, of each of some tables that share ε evenly."""
        return Fraction(self.moved * tables) / epsilon

    def as_pure(self, epsilon: Fraction, tables: int = 0) -> float:
        """The ε at which Laplace noise is as large as this unit's.

        On one number (``tables`` = 0), or on each of some tables that share the budget.
        """
        return float(epsilon)

    def sums_to_n(self, cells: int) -> bool:
        """Whether a table of so many cells gets zero-sum noise, which leaves its sum n as it is."""
        return self.n_is_public and 2 <= cells <= MOST_ZERO_SUM

    def cost(self, scale: Scale, columns: int) -> Fraction:
        """The ε of a noisy table of so many parent configurations."""
        if isinstance(scale, tuple):
            return histogram_cost(scale, columns, self)
        return self.moved / scale


ONE_REPLACED = Unit()


@dataclass(frozen=True)
class TableBudget:
    """What one noisy table may cost.

    ``epsilon`` of one record. ``weights``: relative budgets of the child's values, or None for the
    same noise in all cells. ``depends_on``: ledger entries that the shares come from. ``source``:
    the line of the paper.
    """

    epsilon: Fraction
    weights: tuple[Fraction, ...] | None = None
    depends_on: tuple[str, ...] = ()
    source: str = ""


def histogram_cost(scales: Sequence[Fraction], columns: int, unit: Unit = ONE_REPLACED) -> Fraction:
    """Loss of a noisy table with one scale per row: the worst move of one record between two cells.

    With two or more columns both cells can lie in the row of the smallest scale; with one column
    they lie in two rows. A record that is added or removed changes one cell.

    >>> histogram_cost([Fraction(2), Fraction(4)], 3), histogram_cost([Fraction(2), Fraction(4)], 1)
    (Fraction(1, 1), Fraction(3, 4))
    """
    inverse = sorted((1 / Fraction(s) for s in scales), reverse=True)
    if not unit.n_is_public:
        return inverse[0]
    if columns >= 2:
        return 2 * inverse[0]
    return inverse[0] + inverse[1] if len(inverse) > 1 else Fraction(0)


def tight_scales(
    weights: Sequence[Fraction], epsilon: Fraction, columns: int, unit: Unit = ONE_REPLACED
) -> tuple[Fraction, ...]:
    """Noise scales b_x ∝ 1/v_x for which the table costs exactly ε.

    A record moves between two cells, so the budgets of values don't add: the worst move counts.

    >>> tight_scales([Fraction(1), Fraction(1, 2)], Fraction(1), 3)
    (Fraction(2, 1), Fraction(4, 1))
    """
    relative = [1 / Fraction(v) for v in weights]
    cost = histogram_cost(relative, columns, unit)
    return tuple(b * cost / epsilon for b in relative)


# --- lines of the ledger ------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    ``sensitivity`` and ``scale`` are in the unit of ``released``; a tuple has one scale per row of
    the table, whose number of cells is ``columns``. ``epsilon`` is the true cost, ``claimed`` the
    advertised one.
    """

    id: str
    kind: str
    step: str
    source: str = ""
    mechanism: str = ""
    released: str = ""
    attributes: tuple[str, ...] = ()
    sensitivity: Fraction | None = None
    scale: Fraction | tuple[Fraction, ...] | None = None
    columns: int = 1
    epsilon: Fraction | float = Fraction(0)
    claimed: Fraction = Fraction(0)
    inputs: tuple[str, ...] = ()
    scale_depends_on: tuple[str, ...] = ()
    candidates: str = "public"
    score_unit: str = ""
    sensitivity_unit: str = ""
    lemma: str = ""
    domain_sizes: tuple[int, int] | None = None
    n_records: int | None = None
    relation: str = "replace_one"
    parent: str | None = None
    compose: str = ""
    record_filter: str | None = None
    domain: str = "schema:public"
    why: str = ""

    @property
    def cost(self) -> Fraction | float:
        """True cost under replacing one record: an add/remove ε counts twice (rule L7)."""
        return 2 * self.epsilon if self.relation == "add_remove" else self.epsilon


def add_up(entries: Iterable[Entry], what: str) -> Fraction | float:
    """Sequential composition: the sum of ``cost`` or ``claimed`` over the mechanisms."""
    return sum((getattr(e, what) for e in entries if e.kind == "mechanism"), Fraction(0))
