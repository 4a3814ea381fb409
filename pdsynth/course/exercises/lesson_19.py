"""Exercises of lesson 19, your own data."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from ...core import Attribute, Schema, SchemaError
from .lesson import exercises


def takes(schema: Schema, name: str, values: list[Any]) -> bool:
    """Whether the attribute's domain has all of these values."""
    try:
        schema[name].encode(pd.Series(values))
    except SchemaError:
        return False
    return True


def codes(attribute: Attribute, values: list[Any]) -> set[int]:
    """The attribute's codes of these values."""
    return set(attribute.encode(pd.Series(values)).tolist())


def judge_clinic(clinic: Callable[[], Any]) -> str | None:
    """The codebook's schema: age, smoker and ward, nothing of a person's own."""
    schema = clinic()
    if not isinstance(schema, Schema):
        return f"clinic returns {type(schema).__name__}, not a pds.Schema((…))."
    if personal := [name for name in ("visit", "remark") if name in schema.names]:
        return (
            f"{personal[0]!r} has no finite public domain, and every value of it may belong to "
            "one person: leave it out."
        )
    if gone := [name for name in ("age", "smoker", "ward") if name not in schema.names]:
        return f"the codebook has {', '.join(gone)}, too."
    if strangers := [name for name in schema.names if name not in ("age", "smoker", "ward")]:
        return f"the codebook has no {strangers[0]!r}: a column that nobody declared can't be read."
    if schema.source != "public":
        return "this schema was inferred from records: write it from the codebook."
    return judge_domains(schema)


def judge_domains(schema: Schema) -> str | None:
    """Every value of the codebook and no other, in few enough cells."""
    if not takes(schema, "age", [0, 120]):
        return "age: the codebook says 0 to 120, both included, whoever has come so far."
    if any(takes(schema, "age", [value]) for value in (-1, 121)):
        return (
            "age goes beyond the codebook's 0 to 120: the last bin includes both its edges, and "
            "ages that nobody has cost cells, or make other bins wider, for nothing."
        )
    if schema["age"].size > 30:
        return (
            f"age has {schema['age'].size} values: in a table of all three columns each of "
            f"them costs {schema.cells(['smoker', 'ward'])} cells. Bin it."
        )
    if not schema["smoker"].missing:
        return "smoker may be left empty: missing=True, whether or not somebody did."
    wards = any(takes(schema, "ward", [kind(ward) for ward in range(1, 6)]) for kind in (int, str))
    if not wards or not takes(schema, "smoker", ["yes", "no"]):
        return (
            "smoker is yes or no, ward is 1, 2, 3, 4 or 5: "
            "a ward that nobody visited belongs to the domain as well."
        )
    if len(schema["smoker"].values) > 2:
        return (
            "smoker has a value beside yes and no that the codebook doesn't have: it costs cells, "
            "and nobody can answer it."
        )
    if schema["age"].missing or schema["ward"].missing:
        return (
            "age and ward are always filled in: a code for missing there costs cells for nothing."
        )
    return judge_wards(schema["ward"], int if takes(schema, "ward", [1]) else str)


def judge_wards(ward: Attribute, kind: type) -> str | None:
    """Five wards, each a value of its own."""
    if len(codes(ward, [kind(number) for number in range(1, 6)])) < 5:
        return (
            "ward puts several wards into one value. A ward's number is a code and not an amount: "
            "each of the five is a value of its own."
        )
    if ward.size > 5:
        return (
            f"ward has {ward.size} values, and the codebook 5: a ward that doesn't exist costs "
            "cells in every table with it."
        )
    return None


q1, q2, q3, q4 = exercises("lesson_19", q2=judge_clinic)
