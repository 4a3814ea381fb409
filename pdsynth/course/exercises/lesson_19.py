"""Exercises of lesson 19, your own data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd

from ...domain.schema import Schema
from ...errors import SchemaError
from .exercise import Exercise


def _visits(loss: Any, share: Any) -> str | None:
    lost, spent = float(loss), float(share)
    if not math.isclose(lost, 2.0, rel_tol=1e-3):
        mistakes = {0.5: "that is the loss of one record; a person stands in up to four.", 0.125: "records add up, they don't share."}
        return f"loss = {lost:.4g}: " + mistakes.get(lost, "replace her records one after the other: four steps of 0.5 each.")
    if not math.isclose(spent, 0.25, rel_tol=1e-3):
        mistakes = {1.0: "then four records lose 4.", 4.0: "that is the number of records.", 2.0: "that is what she loses at 0.5."}
        return f"share = {spent:.4g}: " + mistakes.get(spent, "four times it must be 1.")
    return None


def _takes(schema: Schema, name: str, values: list[Any]) -> bool:
    try:
        schema[name].encode(pd.Series(values))
    except SchemaError:
        return False
    return True


def _clinic(function: Callable[[], Any]) -> str | None:
    schema = function()
    if schema is None:
        return "clinic returns nothing yet."
    if not isinstance(schema, Schema):
        return f"clinic returns {type(schema).__name__}, not a pds.Schema((…))."
    for name in ("visit", "remark"):
        if name in schema.names:
            return f"{name!r} has no finite public domain, and every value of it may belong to one person: leave it out."
    gone = [name for name in ("age", "smoker", "ward") if name not in schema.names]
    if gone:
        return f"the codebook has {', '.join(gone)}, too."
    if schema.source != "public":
        return "this schema was inferred from records: write it from the codebook."
    if not _takes(schema, "age", [0, 120]):
        return "age: the codebook says 0 to 120, both included, whoever has come so far."
    if schema["age"].size > 30:
        rest = schema.cells(["smoker", "ward"])
        return f"age has {schema['age'].size} values: in a table of all three columns each of them costs {rest} cells. Bin it."
    if not schema["smoker"].missing:
        return "smoker may be left empty: missing=True, whether or not somebody did."
    wards = any(_takes(schema, "ward", [kind(w) for w in range(1, 6)]) for kind in (int, str))
    if not wards or not _takes(schema, "smoker", ["yes", "no"]):
        return "smoker is yes or no, ward is 1, 2, 3, 4 or 5: a ward that nobody visited belongs to the domain as well."
    if schema["age"].missing or schema["ward"].missing:
        return "age and ward are always filled in: a code for missing there costs cells for nothing."
    return None


def _leaks(answer: Any) -> str | None:
    words = {answer.strip().lower()} if isinstance(answer, str) else {str(word).strip().lower() for word in answer}
    harmless = {"drop": "a column is left out for everybody alike.", "clip": "every record is clipped by itself, at public bounds.",
                "fit": "this line pays for what it reads, and its noise has no seed."}  # fmt: skip
    wrong = sorted(words & set(harmless))
    if wrong:
        return f"{wrong[0]}: {harmless[wrong[0]]}"
    if words == {"schema"}:
        return "schema is one of them. Another line decides by exact counts: one person more, and a value appears."
    if words == {"rare"}:
        return "rare is one of them. Another line reads minima, maxima and categories off the records, and says that it didn't."
    return None if words == {"rare", "schema"} else 'leaks: a set of some of "drop", "clip", "rare", "schema", "fit".'


q1 = Exercise(
    _visits,
    "Between her table and the one without her lie four replaced records. Each step is a factor e^0.5 at most.",
    "loss, share = 4 * 0.5, 1 / 4",
    "Question 1",
    "Correct: 4 · 0.5 = 2, and a quarter each so that nobody loses more than 1.",
)
q2 = Exercise(
    _clinic,
    "Three attributes: numeric with about a dozen bins, categorical with missing=True, categorical of 1 … 5.",
    "def clinic():\n"
    "    A = pds.Attribute\n"
    "    return pds.Schema((A.numeric('age', 0, 120, bins=12, integer=True), A.categorical('smoker', ['yes', 'no'], missing=True),\n"
    "                       A.categorical('ward', range(1, 6))))",
    "Question 2",
    "Correct: written from the codebook, so it would be the same whoever came to the clinic.",
)
q3 = Exercise(
    _leaks,
    "Ask of every line: would it do the same to the other records if one person were replaced?",
    "leaks = {'rare', 'schema'}: both depend on the records, exactly and without noise. No ε covers them.",
    "Question 3",
    "Correct: one person lifts a diagnosis over five, or moves a maximum. The ledger says ε all the same: it believed declare_public().",
)
