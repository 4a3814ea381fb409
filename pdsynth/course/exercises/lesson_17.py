"""Exercises of lesson 17, personal budgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from .exercise import Exercise, number, word

Tables = Sequence[tuple[Sequence[str], Fraction]]


def _loss(function: Callable[..., Any]) -> str | None:
    whole = [(("job",), Fraction(1, 4)), (("sex", "job"), Fraction(1, 4)), (("age", "sex"), Fraction(1, 2))]
    if function(whole, "job") is None:
        return "loss returns nothing yet."
    for tables, name in ((whole, "job"), (whole, "age"), (whole, "nobody"), ([], "job")):
        right = sum((cost for names, cost in tables if name in names), Fraction(0))
        got = function(tables, name)
        if math.isclose(float(got), float(right)):
            continue
        own = sum((cost for names, cost in tables if names[0] == name), Fraction(0))
        if math.isclose(float(got), float(own)):
            return "loss counts the attribute's own table only. As a parent it changes other tables, too."
        if math.isclose(float(got), float(sum((cost for _, cost in tables), Fraction(0)))):
            return "loss adds up everything: that is the loss of a whole record."
        return f"loss(…, {name!r}) gives {float(got):.4g}: add the cost of every table in which the attribute stands, as child or parent."
    return None


q1 = Exercise(
    word(
        ("restriction", "custom", "custom network"),
        dict.fromkeys(
            ("theta", "θ", "r", "groups"),
            "{said!r} moves the tables' budgets. In which tables your attribute stands is decided by the network that the run draws.",
        )
        | dict.fromkeys(
            ("ledger", "ex post", "attribute_epsilon"),
            "{said!r} tells it afterwards. A promise must be made before the records are touched.",
        ),
        "{said!r}: which of the levers decides in public in which tables the attribute stands?",
    ),
    "Groups, r and θ decide how much a table gets. Who decides in how many tables the attribute stands?",
    "'restriction': target and sensitive attribute by public policy. Then the secret is in one table and in no selection.",
    "Question 1",
    "Correct. Structure decides who is in which table; only a public structure can promise anything beforehand.",
)
q2 = Exercise(
    _loss,
    "In which tables does the attribute stand, as child or as parent?",
    "def loss(tables, name):\n    return sum((cost for names, cost in tables if name in names), Fraction(0))",
    "Question 2",
    "Correct: this is what attribute_epsilon() does over the ledger's entries.",
)
q3 = Exercise(
    number(
        1 / 24 + 1 / 6,
        {
            2 / 24: "row = 1/12 is a move inside the rare row, but when the illness changes the record goes to another row.",
            2 / 6: "row = 1/3 counts two cells of the common row. One of the two cells lies in the rare one.",
            1 / 24: "row = 1/24 counts one cell. A replaced record leaves one cell and enters another.",
            2 / 15: "row = 2/15 divides by the mean of the scales. Costs add up, scales don't.",
        },
        "row = {value:.4g}: one over each of the two scales, added.",
        within=2e-2,
    ),
    "The record leaves one cell of the row 'rare' (scale 24) and enters one of the row 'common' (scale 6).",
    "1/24 + 1/6 = 5/24 = 0.208.",
    "Question 3",
    "Correct. Two people of the common illness who differ in something else lose 2/6: the guarantee depends on the value.",
)
