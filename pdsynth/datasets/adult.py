"""UCI Adult: 48,842 people of the 1994 US census, in the codings that the papers use."""

from functools import cache

import pandas as pd

from ..core import Schema, SchemaError, is_one_of, show
from .loaders import read_shipped
from .tables import TABLES, Dataset, describe, expand_rules, read_rules, yes_no_schema

FACTS = TABLES["adult"]
CODINGS = ("default", "thesis", "thesis-author", "yes-no")


def load_adult(complete: bool = False, coding: str = "default") -> Dataset:
    """The Adult table with its public schema and its train/test split.

    >>> load_adult()
    Dataset(adult: 48,842 rows × 15 attributes, target='salary', sensitive='occupation')
    >>> load_adult(coding="thesis").schema.sizes
    (5, 7, 7, 16, 5, 7, 14, 6, 5, 2, 6, 2, 7, 2)

    ``complete=False``: all 48,842 rows; "?" is an ordinary category of workclass, occupation and
    native-country. ``complete=True``: the 45,222 rows without "?", as in the papers; the category
    is not declared then.

    ``coding="default"``: categories from UCI's documentation, 16 equal-width bins on public bounds
    for the six numbers. ``coding="thesis"``: the 14 attributes of the thesis' Table 2 (no salary;
    target education) on the complete rows, with its bins, and native-country as US or non-US.
    ``coding="thesis-author"``: the table in the thesis' public code, from which its figures were
    drawn: 27,504 complete training rows of people born in the United States, without that column,
    salary last. ``coding="yes-no"``: twenty two-valued attributes on the complete rows, without the
    split. Any other coding raises SchemaError.

    **Privacy:** raw records of a public table; the schema was written without looking at them (but
    see ``note``).
    """
    if not is_one_of(coding, CODINGS):
        raise SchemaError(f"coding must be one of {CODINGS}, not {show(coding)}")
    if not isinstance(complete, bool):
        raise SchemaError(f"complete must be True or False, got {show(complete)}")
    frame = read_shipped("adult")
    if complete or coding != "default":
        frame = frame[(frame[FACTS["unknown"]] != "?").all(axis=1)].reset_index(drop=True)
    split = frame.pop("split")
    if coding == "yes-no":
        return describe(
            "adult",
            _answer(frame),
            _schema(coding),
            name="adult, yes–no",
            target="over $50K",
            sensitive="never married",
        )
    if coding == "thesis-author":
        home = (split == "train") & (frame.pop("native-country") == "United-States")
        return describe(
            "adult",
            frame[home].reset_index(drop=True),
            _schema(coding),
            name="adult (thesis author's table)",
            target="education",
            note=FACTS["thesis_note"],
        )
    if coding == "thesis":
        frame = frame.drop(columns="salary")
        abroad = frame["native-country"] != "United-States"
        frame["native-country"] = abroad.map({False: "US", True: "non-US"}).astype("str")
        return describe(
            "adult",
            frame,
            _schema(coding),
            name="adult (thesis coding)",
            target="education",
            split=split,
            note=FACTS["thesis_note"],
        )
    name, variant = ("adult (complete rows)", "complete") if complete else ("adult", coding)
    return describe("adult", frame, _schema(variant), name=name, split=split)


def _answer(frame: pd.DataFrame) -> pd.DataFrame:
    """The twenty yes–no questions, answered by each row."""
    answers = {}
    for question, (name, *values) in FACTS["questions"].items():
        texts = isinstance(values[0], str)
        yes = frame[name].isin(values) if texts else frame[name].between(*values)
        answers[question] = yes.astype("int8")
    return pd.DataFrame(answers)


@cache
def _schema(variant: str) -> Schema:
    """The schema of a coding, or of the ``"complete"`` rows in the default coding."""
    if variant == "yes-no":
        return yes_no_schema(FACTS["questions"])
    rules = expand_rules("adult")
    if variant in ("thesis", "thesis-author"):
        rules |= FACTS["thesis"]
        del rules["salary" if variant == "thesis" else "native-country"]
    if variant == "default":
        rules |= {name: f"{rules[name]} | ?" for name in FACTS["unknown"]}
    return read_rules("adult", rules)
