"""Codes of listed values are looked up once per distinct value: the same as cell by cell."""

import decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth import Attribute, SchemaError

CELLS = [
    *("a", "b", "1", "True", "", b"a", np.str_("a"), (1, 2), decimal.Decimal(1)),
    *(1, 0, 1.0, 2.5, True, False, 2**60, float(2**60), 10**30),
    *(np.int8(1), np.float32(2.5), np.bool_(True), None, np.nan, pd.NA, pd.NaT),
]
DOMAINS = [
    ["a", "b"],
    ["a", "b", ""],
    [0, 1],
    [True, False],
    [1, 2.5],
    ["a", 1, 2.5],
    [True, 2, "a"],
    [2**60, 1],
    [10**30, 1],
    ["1", "True", "a"],
]
KINDS = [object, None, "str", "string", "category", "Int64", "float64", "int64", "bool", "boolean"]


def slow(attribute, column):
    """The rule without a short way: every cell is looked up."""
    if pd.api.types.is_bool_dtype(column) != (attribute.dtype == "boolean"):
        column = column.astype(object)
    found = attribute._index.get_indexer(pd.Index(column))
    gone = column.isna().to_numpy()
    return np.where(gone, len(attribute.values), found), gone


def columns(cells):
    """The cells as columns of every type that takes them."""
    for kind in KINDS:
        try:
            yield pd.Series(cells, dtype=kind)
        except (TypeError, ValueError, OverflowError, IndexError):
            continue
    try:
        yield pd.Series(cells, dtype=object).astype("category")
    except (TypeError, ValueError, OverflowError, IndexError):
        return


def outcome(function, *given):
    """Codes and missing cells as lists, or the kind of refusal."""
    try:
        return [part.tolist() for part in function(*given)]
    except (SchemaError, TypeError, ArithmeticError):
        return "refused"


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(DOMAINS),
    st.booleans(),
    st.lists(st.integers(0, len(CELLS) - 1), max_size=6),
)
@pytest.mark.filterwarnings("ignore")
def test_distinct_values_give_the_codes_of_all_cells(domain, missing, places):
    attribute = Attribute.categorical("x", domain, missing=missing)
    for column in columns([CELLS[i] for i in places]):
        assert outcome(attribute.look_up, column) == outcome(slow, attribute, column)


def test_twin_truth_values_among_numbers_need_the_slow_way():
    """To pandas True is 1 in a mixed column and unknown in a column of truth values only."""
    attribute = Attribute.categorical("x", [0, 1])
    mixed = pd.Series([1, True], dtype=object)
    alone = pd.Series([True, True], dtype=object)
    assert attribute.look_up(mixed)[0].tolist() == [1, 1]
    assert attribute.look_up(alone)[0].tolist() == slow(attribute, alone)[0].tolist() == [-1, -1]


@pytest.mark.parametrize("kind", ["str", object, "category"])
def test_an_error_counts_cells_not_distinct_values(kind):
    column = pd.Series(["a", "z", "z", "y"], dtype=kind)
    with pytest.raises(SchemaError, match="3 value"):
        Attribute.categorical("x", ["a", "b"]).encode(column)
