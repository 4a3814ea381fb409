"""The ledger of a run with δ: costs in ρ of zCDP, one conversion, and the rules of its lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import pandas as pd

from ..core import (
    LEMMAS,
    MECHANISMS,
    BudgetError,
    Check,
    Entry,
    Ledger,
    PrivacyError,
    Unit,
    check_selection,
    positive,
)
from ..files.story import short
from .conversion import check_delta, epsilon_of, rho_of
from .gaussian import DiscreteGaussian

GAUSSIAN = "discrete_gaussian"
SQUARES = {"lemma:squared_counts": 2, "lemma:squared_counts_add_remove": 1}


@dataclass(frozen=True)
class ConcentratedUnit(Unit):
    """What neighbours differ in, where costs are ρ: squared Euclidean sensitivities.

    A replaced record moves two cells of a table by one each, so Δ² = 2 and ρ = Δ²/2σ² = 1/σ²; an
    added or removed one moves one cell, so Δ² = 1.

    **Privacy:** public; every sensitivity of a count comes from here.

    >>> ConcentratedUnit().scale(Fraction(1, 100)), ConcentratedUnit("add_remove").cost(50, 7)
    (Fraction(100, 1), Fraction(1, 100))
    """

    power: ClassVar[int] = 2

    def lemma(self, name: str) -> str:
        """The lemma of squared counts; of a choice's score the same as in pure ε."""
        return super().lemma("squared_counts" if name == "joint_counts" else name)

    def scale(self, epsilon: Fraction, tables: int = 1) -> Fraction:
        """σ², in records², of each of some tables that share ρ evenly."""
        return Fraction(self.moved * tables) / (2 * epsilon)

    def cost(self, scale: Any, columns: int) -> Fraction:
        """The ρ of a table with noise of variance ``scale``."""
        return Fraction(self.moved) / (2 * scale)

    def mean_noise(self, epsilon: Fraction) -> float:
        """What a cell of a table that costs ρ is off by on average: σ √(2/π)."""
        return DiscreteGaussian(self.scale(epsilon)).mean_size

    def as_pure(self, epsilon: Fraction, tables: int = 0) -> float:
        """The ε at which Laplace noise of mean size Δ/ε is as large as the Gaussian's σ √(2/π).

        On one number Δ is the same in both laws, and σ = Δ/√2ρ.
        """
        if not tables:
            return math.sqrt(math.pi * epsilon)
        return tables * self.moved / self.mean_noise(epsilon / tables)


def check_gaussian(e: Entry, known: set[str], per_person: int) -> Iterator[tuple[str, str]]:
    """Rule L3 for Gaussian noise: ρ is Δ² ÷ 2σ², and the lemma's Δ² is due."""
    if e.sensitivity is None or not isinstance(e.scale, Fraction) or e.scale <= 0:
        yield "L3", "a noisy release needs its squared sensitivity and its one variance"
        return
    true = e.sensitivity / (2 * e.scale)
    if e.epsilon != true:
        yield "L3", f"charged ρ = {e.epsilon}, but squared sensitivity ÷ 2σ² gives {true}"
    if e.lemma and e.lemma not in SQUARES:
        yield "L3", f"no lemma is called {e.lemma!r}"
    due = SQUARES.get(e.lemma, 1)  # whole numbers move by 1 at least
    if e.sensitivity < due:
        yield "L3", f"squared sensitivity {e.sensitivity}, but {e.lemma or 'a number'} gives {due}"


def check_choice(e: Entry, known: set[str], per_person: int) -> Iterator[tuple[str, str]]:
    """Rule L4; and a choice with exponent ε costs ρ = ε²/8 (Cesar, Rogers 2021)."""
    yield from check_selection(e, known, per_person)
    if e.lemma not in LEMMAS:
        yield "L4", f"no lemma is called {e.lemma!r}"
    if not isinstance(e.scale, Fraction):
        yield "L4", "a choice needs its exponent"
    elif e.epsilon != e.scale**2 / 8:
        yield "L4", f"charged ρ = {e.epsilon}, but ε²/8 gives {e.scale**2 / 8}"


@dataclass(repr=False)
class ConcentratedLedger(Ledger):
    """Append-only account of one run with δ: every cost, claimed or true, is in ρ.

    ``promised`` and ``delta`` are (ε, δ); ``claimed`` is the ρ that they allow, which is computed
    here and nowhere else. δ is spent once, when the sum of all lines is converted. ρ that is
    chosen as answers come in adds up like any other (Whitehouse, Ramdas, Rogers, Wu 2023).
    """

    promised: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    sign: ClassVar[str] = "ρ"
    promise: ClassVar[str] = "(ε, δ)-differential privacy"
    mechanisms: ClassVar[Mapping[str, Check]] = {
        GAUSSIAN: check_gaussian,
        "exponential": check_choice,
        "forfeited": MECHANISMS["forfeited"],
    }

    def __post_init__(self) -> None:
        self.claimed = rho_of(self.promised, check_delta(self.delta))
        if self.guarantee != "strict" or self.records_per_person != 1:
            raise BudgetError("an account with delta is strict, and counts one record a person")

    @property
    def unit(self) -> Unit:
        """What neighbouring tables differ in, with squared sensitivities."""
        return ConcentratedUnit(self.relation)

    def write(self, kind: str, step: str, **fields: Any) -> Entry:
        """Append a line; one whose cost isn't known in ρ raises PrivacyError instead."""
        if kind == "mechanism" and fields.get("mechanism") not in self.mechanisms:
            raise PrivacyError(
                f"{step!r} asks for {fields.get('mechanism')!r}, whose cost in ρ isn't worked out: "
                "leave delta= out"
            )
        return super().write(kind, step, **fields)

    @property
    def epsilon(self) -> Fraction | float:
        """The ε that the lines come to at δ: the promised one where all of ρ is spent."""
        spent = self.finite
        return self.promised if spent == self.claimed else epsilon_of(spent, self.delta)

    def loss_together(self, group: set[str]) -> Fraction | float:
        """The ρ of attributes that change together: of a removal and an addition 2²ρ."""
        twice = 1 if self.unit.n_is_public else 2  # the core's cost of a line is doubled already
        return twice * super().loss_together(group)

    def attribute_epsilon(self, together: Sequence[str] | None = None) -> pd.Series:
        """The ε at the same δ that the lines of an attribute come to; else as in pure ε.

        These ε don't add up: add ρ, and convert once, as ``together`` does.
        """
        series = super().attribute_epsilon(together)
        return self._converted(series.map(self._at_delta), series.attrs)

    def value_epsilon(self, attribute: str, values: Sequence[Any] | None = None) -> pd.DataFrame:
        """The same for a move from one value to another; no value has noise of its own here."""
        table = super().value_epsilon(attribute, values)
        twice = 1 if self.unit.n_is_public else 2
        return self._converted(table.map(lambda rho: self._at_delta(twice * rho)), table.attrs)

    def _at_delta(self, rho: Fraction) -> Fraction | float:
        return self.epsilon if rho == self.finite else epsilon_of(Fraction(rho), self.delta)

    def _converted(self, shown: Any, attrs: Mapping[Any, Any]) -> Any:
        shown.attrs |= {**attrs, "delta": self.delta}
        return shown

    def spent_words(self) -> str:
        """What was spent, and what of it is claimed."""
        return (
            f"{pair(self.promised, self.delta)}, not pure; ρ = {short(self.finite)} of "
            f"{short(self.claimed)}"
        )


def pair(epsilon: Fraction | float, delta: Fraction) -> str:
    """(ε, δ) in words.

    >>> pair(Fraction(1), Fraction(1, 10**9))
    '(ε, δ) = (1, 1e-9)'
    """
    return f"(ε, δ) = ({short(epsilon)}, {short(delta).replace('e-0', 'e-')})"


def open_ledger(
    epsilon: Fraction, delta: Any, relation: str = "replace_one", records_per_person: int = 1
) -> ConcentratedLedger:
    """An empty account of a promise of (ε, δ)."""
    return ConcentratedLedger(
        Fraction(0),
        relation=relation,
        records_per_person=records_per_person,
        promised=positive("epsilon", epsilon),
        delta=check_delta(delta),
    )
