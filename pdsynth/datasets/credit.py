"""Two credit card tables: Kaggle's frauds (the GA paper's third table) and UCI's defaults, which stand in for it."""

from __future__ import annotations

import os
from functools import cache

from ..domain.schema import Attribute, Schema
from .dataset import Dataset
from .files import find, read_table

FRAUD_SOURCE = "Dal Pozzolo, A. et al. (2015). Credit Card Fraud Detection, kaggle.com/mlg-ulb/creditcardfraud"
FRAUD_LICENCE = "Database Contents License 1.0"
FRAUD_ROWS = 284_807
FRAUD_COLUMNS = ("Time", *(f"V{i}" for i in range(1, 29)), "Amount", "Class")
DEFAULT_SOURCE = "Yeh, I-C. (2009). Default of Credit Card Clients. UCI Machine Learning Repository. doi:10.24432/C55S3H"
DEFAULT_LICENCE = "CC BY 4.0"
DEFAULT_ROWS = 30_000
DEFAULT_TARGET = "default.payment.next.month"
STATUS = ("PAY_0", *(f"PAY_{i}" for i in range(2, 7)))  # the file has no PAY_1
BILLS, PAID = tuple(f"BILL_AMT{i}" for i in range(1, 7)), tuple(f"PAY_AMT{i}" for i in range(1, 7))
DEFAULT_COLUMNS = ("ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", *STATUS, *BILLS, *PAID, DEFAULT_TARGET)

# Public bounds, none of them from the records. The description says two days of transactions and principal components, which
# are centred and have heavy tails: powers of two on both sides, 20 bins, DataSynthesizer's own number. Amounts are in euros.
POWERS = (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128)
COMPONENT = (*(-p for p in reversed(POWERS)), 0, *POWERS)
AMOUNT = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
# New Taiwan dollars; a bin of its own keeps a zero a zero.
BILL = (-2_000_000, -100_000, -10_000, -1_000, 0, 1, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 150_000, 200_000, 300_000,
        500_000, 1_000_000, 2_000_000)  # fmt: skip
PAYMENT = (0, 1, 500, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 20_000, 50_000, 100_000, 2_000_000)
# The codebook has sexes 1–2, educations 1–4, marriages 1–3 and delays −1, 1–9; the table also uses the codes 0, 5, 6 and −2, 0,
# which every user of it meets; they are declared.
CODES = {"SEX": (1, 2), "EDUCATION": range(7), "MARRIAGE": range(4), DEFAULT_TARGET: (0, 1)} | dict.fromkeys(STATUS, range(-2, 10))


def load_credit_fraud(path: str | os.PathLike[str] | None = None) -> Dataset:
    """Kaggle's credit card frauds with a public schema: your own ``creditcard.csv``, or else the part of it that is there.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``, first for creditcard.csv (284,807 rows, 492 frauds), then
    for the part of 14,019 rows, whose ``note`` says what it can't be used for. 31 attributes; the target is ``Class``.

    Raises FileNotFoundError, ValueError for a file that isn't this table, SchemaError for values beyond the public bounds.

    **Privacy:** raw records; the schema was written without looking at them.
    """
    try:
        file = find("credit_fraud", path)
    except FileNotFoundError as problem:
        try:
            file = find("credit_fraud_part", path)
        except FileNotFoundError:
            raise problem from None
    kinds = dict.fromkeys(FRAUD_COLUMNS, "float64") | {"Class": "int64"}
    frame = read_table("credit_fraud", file, FRAUD_COLUMNS, None).astype(kinds)
    _fraud_schema().encode(frame)
    whole = len(frame) == FRAUD_ROWS
    note = "" if whole else (
        f"{len(frame):,} of the {FRAUD_ROWS:,} rows, with {int((frame['Class'] == 1).sum()):,} frauds: not a uniform sample. Good for "
        "trying code out; the paper's Table VII can't be reproduced on it."
    )  # fmt: skip
    name = "credit_fraud" if whole else f"credit_fraud (part: {len(frame):,} rows)"
    return Dataset(frame, _fraud_schema(), name, "Class", "Amount", FRAUD_SOURCE, FRAUD_LICENCE, note=note)


def load_credit_default(path: str | os.PathLike[str] | None = None) -> Dataset:
    """UCI's 30,000 credit card clients of Taiwan, 2005, with a public schema: 24 attributes; the target says who defaulted.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``. The column ID is left out.

    Raises FileNotFoundError, or ValueError for a file that isn't this table.

    **Privacy:** raw records; the schema was written without looking at them.
    """
    frame = read_table("credit_default", find("credit_default", path), DEFAULT_COLUMNS, DEFAULT_ROWS).drop(columns="ID").astype("int64")
    _default_schema().encode(frame)
    return Dataset(frame, _default_schema(), "credit_default", DEFAULT_TARGET, "EDUCATION", DEFAULT_SOURCE, DEFAULT_LICENCE)


@cache
def _fraud_schema() -> Schema:
    def attribute(name: str) -> Attribute:
        if name == "Class":
            return Attribute.categorical(name, [0, 1])
        if name == "Time":
            return Attribute.numeric(name, 0, 172_800, bins=20)  # seconds of two days
        return Attribute.binned(name, AMOUNT if name == "Amount" else COMPONENT)

    return Schema(tuple(attribute(name) for name in FRAUD_COLUMNS))


@cache
def _default_schema() -> Schema:
    def attribute(name: str) -> Attribute:
        if name in CODES:
            return Attribute.categorical(name, CODES[name])
        if name == "AGE":
            return Attribute.numeric(name, 18, 100, bins=20, integer=True)
        if name == "LIMIT_BAL":
            return Attribute.numeric(name, 0, 1_000_000, bins=20, integer=True)
        return Attribute.binned(name, BILL if name in BILLS else PAYMENT, integer=True)

    return Schema(tuple(attribute(name) for name in DEFAULT_COLUMNS if name != "ID"))
