"""Exercises of lesson 12, PPBA."""

from __future__ import annotations

from fractions import Fraction

from ...network import Network
from .judges import Computation
from .lesson import exercises

NETWORK = Network((("a", ()), ("b", ("a",)), ("c", ("a",)), ("d", ("c", "a"))))
BUDGETS = {"a": Fraction(2, 5), "b": Fraction(3, 10), "c": Fraction(1, 5), "d": Fraction(1, 10)}

loss: Computation = Computation(
    lambda network, budgets, name: sum(budgets[child] for child, parents in network.pairs
                                       if name in (child, *parents)),
    cases=[(NETWORK, BUDGETS, name) for name in BUDGETS],
    mistakes={
        "loss gives {got:g} for {case[2]!r}, the budget of its own table. "
        "It also stands in the tables of its children.":
            lambda network, budgets, name: budgets[name],
        "loss gives {got:g} for {case[2]!r}: its own table is missing.":
            lambda network, budgets, name: loss.right(network, budgets, name) - budgets[name],
    },
    otherwise="loss gives {got:g} for {case[2]!r}; the tables that it stands in have {wanted:g} "
              "together.",
)

q1, q2, q3 = exercises("lesson_12", q2=loss)
