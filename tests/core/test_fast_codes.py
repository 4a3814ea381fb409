"""Cells are looked up once per distinct cell: the same as each of them alone, in any column."""

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
    ["1", "True", "a"],
]
KINDS = [object, None, "str", "string", "category", "Int64", "float64", "int64", "bool", "boolean"]


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


def by_hand(attribute, cell):
    """The code of one cell: the place of the declared value that equals it, or a decimal's text."""
    if pd.isna(cell) is True:
        return len(attribute.values)
    same = {cell, str(cell)} if isinstance(cell, decimal.Decimal) else [cell]
    equal = [code for code, value in enumerate(attribute.values) if value in same]
    return equal[0] if equal else -1


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(DOMAINS),
    st.booleans(),
    st.lists(st.integers(0, len(CELLS) - 1), max_size=6),
)
@pytest.mark.filterwarnings("ignore")
def test_a_cell_s_code_is_the_place_of_its_equal(domain, missing, places):
    attribute = Attribute.categorical("x", domain, missing=missing)
    for column in columns([CELLS[i] for i in places]):
        codes, gone = attribute.look_up(column)
        assert codes.tolist() == [by_hand(attribute, cell) for cell in column]
        assert gone.tolist() == column.isna().tolist()


@pytest.mark.parametrize("kind", ["str", object, "category"])
def test_an_error_counts_cells_not_distinct_values(kind):
    column = pd.Series(["a", "z", "z", "y"], dtype=kind)
    with pytest.raises(SchemaError, match="3 value"):
        Attribute.categorical("x", ["a", "b"]).encode(column)
