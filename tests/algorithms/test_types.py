"""T17: the whole way in. Whatever types pandas keeps the records in, fits give the same bytes, and
the released types are those that the schema declares."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from contract_cases import ALGORITHMS, make
from privacy_tools import fits_of, interference

from pdsynth import Attribute, Schema, SchemaError
from pdsynth.core.recipe import Recipe

SCHEMA = Schema(
    (
        Attribute.categorical("kids", [0, 1, 2], missing=True),
        Attribute.numeric("age", 0, 99, bins=3, integer=True),
        Attribute.numeric("wage", 0, 9, bins=3, missing=True),
        Attribute.categorical("city", ["Bern", "Oslo"], missing=True),
        Attribute.categorical("member", [False, True]),
    )
)
RELEASED = ["Int64", "int64", "float64", "str", "bool"]
ROWS = [(0, 4, 1.0, "Bern", True), (1, 50, 2.0, "Oslo", False), (2, 77, 8.0, "Oslo", True)] * 8
COLUMNS = dict(zip(SCHEMA.names, map(list, zip(*ROWS, strict=True)), strict=True))
PLAIN = pd.DataFrame(COLUMNS)


def with_types(**types):
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=types.get(name, PLAIN[name].dtype))
            for name, values in COLUMNS.items()
        }
    )


def with_cell(name, value):
    """One cell written differently, and pandas left to infer the type of its column."""
    return pd.DataFrame({**COLUMNS, name: [value, *COLUMNS[name][1:]]})


def arrow(*kinds):
    return dict(zip(SCHEMA.names, map(pd.ArrowDtype, kinds), strict=True))


SAME = {
    "int8 and float32": with_types(kids="int8", age="uint8", wage="float32"),
    "floats": with_types(kids="float64", age="float64"),
    "objects": with_types(**dict.fromkeys(SCHEMA.names, object)),
    "nullable": with_types(
        kids="Int64", age="Int16", wage="Float64", city="string", member="boolean"
    ),
    "categories": with_types(**dict.fromkeys(SCHEMA.names, "category")),
    "arrow": with_types(**arrow(pa.int64(), pa.int16(), pa.float64(), pa.string(), pa.bool_())),
    "arrow, other": with_types(
        **arrow(pa.float64(), pa.decimal128(5, 2), pa.int8(), pa.large_string(), pa.bool_())
    ),
    "one 0.0": with_cell("kids", 0.0),
    "one 4.0": with_cell("age", 4.0),
    "one 1 for True": with_cell("member", 1),
    "one numpy number": with_cell("age", np.float32(4)),
    "whole numbers of floats": with_types(wage="int64"),
}
OTHER = {
    "kids": [None, np.nan, pd.NA, 1.0],
    "age": [98.0, np.int8(7), 60],
    "wage": [None, pd.NA, 3],
    "city": [None, np.nan, pd.NA, "Oslo"],
    "member": [False, 0, np.bool_(False)],
}


def release(name, frame):
    """All bytes that a seeded fit gives away: model file, types, and rows."""
    fitted = make(name, SCHEMA, k=1, epsilon=2, random_state=3).fit(frame, SCHEMA)
    fake = fitted.sample(40)
    return json.dumps(fitted.model_.to_dict()), list(map(str, fake.dtypes)), fake.to_csv()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_types_of_a_frame_leave_no_trace(name):
    first = release(name, PLAIN)
    assert first[1] == RELEASED
    for frame in (SAME["objects"], SAME["nullable"], SAME["arrow"], SAME["one 4.0"]):
        assert release(name, frame) == first


@pytest.mark.parametrize("frame", SAME.values(), ids=SAME)
def test_every_family_of_types_gives_the_same_bytes(frame):
    assert list(frame.dtypes) != list(PLAIN.dtypes) or frame is PLAIN
    assert release("PrivBayes", frame) == release("PrivBayes", PLAIN)


def two_fits(name, *frames):
    return fits_of(make(name, SCHEMA, k=1, epsilon=2), frames, SCHEMA)


@pytest.mark.parametrize(
    "name", ["PrivBayes", "HMPrivBayes", "Independent", "GeneticBayes", "ConsistentBayes"]
)
def test_a_cell_that_changes_what_pandas_infers_does_not_interfere(name):
    for column, values in OTHER.items():
        for value in values:
            fits = two_fits(name, PLAIN, with_cell(column, value))
            assert interference(fits, 1) == "", (column, value)


def test_twin_types_read_off_the_frame_are_seen(monkeypatch):
    """H1 planted again: the model's types follow the frame's."""
    honest = Recipe._open

    def nosy(recipe, data, y, schema):
        kids = "category" if pd.api.types.is_object_dtype(data["kids"]) else "integer"
        first = Attribute.categorical("kids", [0, 1, 2], missing=True, dtype=kids)
        data, checked, n = honest(recipe, data, y, schema)
        return data, Schema((first, *checked.attributes[1:])), n

    monkeypatch.setattr(Recipe, "_open", nosy)
    seen = interference(two_fits("PrivBayes", PLAIN, with_cell("kids", pd.NA)), 1)
    assert "schema" in seen
    assert interference(two_fits("PrivBayes", PLAIN, with_cell("age", 50)), 1) == ""


def test_a_declared_type_that_cannot_hold_its_values_is_refused():
    for values, dtype in (
        (["a", "b"], "integer"),
        ([0, 1], "boolean"),
        ([0, 1], "text"),
        ([0.5, 1], "integer"),
        ([0, 1], "int64"),
    ):
        with pytest.raises(SchemaError, match="can't hold its declared values; the types are"):
            Attribute.categorical("x", values, dtype=dtype)
