"""Two credit card tables: Kaggle's frauds (the GA paper's third table), and UCI's defaults, which
stand in for it.
"""

from .dataset import Dataset
from .files import Location, find, read_table
from .tables import TABLES, describe, expand_rules

FRAUD_ROWS = 284_807
DEFAULT_ROWS: int = TABLES["credit_default"]["rows"]
DEFAULT_TARGET: str = TABLES["credit_default"]["target"]


def load_credit_fraud(path: Location = None) -> Dataset:
    """Kaggle's credit card frauds: your own ``creditcard.csv``, or else the part of it that is
    there.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``, first for creditcard.csv
    (284,807 rows, 492 frauds), then for the part of 14,019 rows, whose ``note`` says what it can't
    be used for. 31 attributes; the target is ``Class``.

    Raises FileNotFoundError, ValueError for a file that isn't this table, SchemaError for values
    beyond the public bounds.

    **Privacy:** raw records; the schema was written without looking at them.
    """
    try:
        file = find("credit_fraud", path)
    except FileNotFoundError as problem:
        try:
            file = find("credit_fraud_part", path)
        except FileNotFoundError:
            raise problem from None
    kinds = dict.fromkeys(expand_rules("credit_fraud"), "float64") | {"Class": "int64"}
    frame = read_table("credit_fraud", file).astype(kinds)
    rows = len(frame)
    if rows == FRAUD_ROWS:
        return describe("credit_fraud", frame)
    note = TABLES["credit_fraud"]["part_note"].format(rows=rows, frauds=(frame["Class"] == 1).sum())
    return describe("credit_fraud", frame, name=f"credit_fraud (part: {rows:,} rows)", note=note)


def load_credit_default(path: Location = None) -> Dataset:
    """UCI's 30,000 credit card clients of Taiwan, 2005: 24 attributes; the target: who defaulted.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``. The column ID is left out.

    Raises FileNotFoundError, or ValueError for a file that isn't this table.

    **Privacy:** raw records; the schema was written without looking at them.
    """
    file, columns = find("credit_default", path), ("ID", *expand_rules("credit_default"))
    frame = read_table("credit_default", file, columns).drop(columns="ID").astype("int64")
    return describe("credit_default", frame)
