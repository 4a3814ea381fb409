"""Exercises of lesson 17, personal budgets."""

import math
from fractions import Fraction

from .judges import Computation
from .lesson import exercises

QUARTER = Fraction(1, 4)
TABLES = [
    (("pay", "job"), Fraction(1, 12)),
    (("job",), QUARTER),
    (("sex", "job"), Fraction(1, 3)),
    (("age", "sex"), Fraction(1, 2)),
]

loss: Computation = Computation(
    lambda tables, name: sum(cost for names, cost in tables if name in names),
    cases=[(TABLES, "job"), (TABLES, "age"), (TABLES, "nobody"), ([], "job")],
    mistakes={
        "loss counts the attribute's own table only. As a parent it changes other tables, too.": (
            lambda tables, name: sum(cost for names, cost in tables if names[0] == name)
        ),
        "loss adds up everything: that is the loss of a whole record.": lambda tables, name: sum(
            cost for _, cost in tables
        ),
        "loss counts the tables in which it is a *parent*. Its own table changes, too.": (
            lambda tables, name: sum(cost for names, cost in tables if name in names[1:])
        ),
        "loss takes the dearest table. They add up.": lambda tables, name: max(
            (cost for names, cost in tables if name in names), default=0
        ),
        "loss takes the first table that has it. All of them count.": lambda tables, name: next(
            (cost for names, cost in tables if name in names), 0
        ),
        "loss counts tables. Add their costs.": lambda tables, name: sum(
            name in names for names, _ in tables
        ),
        "loss takes the mean. They add up.": lambda tables, name: (
            loss.right(tables, name) / max(1, sum(name in names for names, _ in tables))
        ),
        "loss adds the tables *without* it.": lambda tables, name: sum(
            cost for names, cost in tables if name not in names
        ),
        "loss divides a table's cost among its columns. Whoever changes pays all of it.": (
            lambda tables, name: sum(cost / len(names) for names, cost in tables if name in names)
        ),
        "loss is doubled: both cells are in the cost already.": lambda tables, name: (
            2 * loss.right(tables, name)
        ),
        "loss multiplies. Costs add up.": lambda tables, name: math.prod(
            cost for names, cost in tables if name in names
        ),
    },
    otherwise=(
        "loss(…, {case[1]!r}) gives {got:.4g}: add the cost of every table in which the "
        "attribute stands, as child or parent."
    ),
)

q1, q2, q3, q4 = exercises("lesson_17", q2=loss)
