"""Exercises of lesson 17, personal budgets."""

from __future__ import annotations

from fractions import Fraction

from .judges import Computation
from .lesson import exercises

QUARTER = Fraction(1, 4)
TABLES = [(("job",), QUARTER), (("sex", "job"), QUARTER), (("age", "sex"), Fraction(1, 2))]

loss = Computation(
    lambda tables, name: sum(cost for names, cost in tables if name in names),
    cases=[(TABLES, "job"), (TABLES, "age"), (TABLES, "nobody"), ([], "job")],
    mistakes={
        "loss counts the attribute's own table only. As a parent it changes other tables, too.":
            lambda tables, name: sum(cost for names, cost in tables if names[0] == name),
        "loss adds up everything: that is the loss of a whole record.":
            lambda tables, name: sum(cost for _, cost in tables),
    },
    otherwise="loss(…, {case[1]!r}) gives {got:.4g}: add the cost of every table in which the "
              "attribute stands, as child or parent.",
)

q1, q2, q3 = exercises("lesson_17", q2=loss)
