"""Arrow tables and Parquet files: a cell's code is its own, and what can't be read is refused in
words without cells."""

import datetime
import decimal
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from contract_cases import spending
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth import Attribute, PrivBayes, Schema, SchemaError
from pdsynth.core.errors import show
from pdsynth.evaluation.inputs import to_codes
from pdsynth.scale import blocks, sources
from pdsynth.scale.arrow import list_columns, to_frame
from pdsynth.scale.sources import find_source, read_frames

BIG = 2**53
OTHER = Attribute.categorical("y", ["a", "b"])
LISTED = Attribute.categorical
LONG = [str(BIG), str(BIG + 1), "rest"]


def days(*texts):
    return [datetime.date.fromisoformat(text) for text in texts]


def moments(*texts):
    return [datetime.datetime.fromisoformat(text) for text in texts]


KINDS = {  # type, cells, and an attribute whose domain some of them are in
    "int64": (pa.int64(), [BIG, BIG + 1, 1, -1], LISTED("x", LONG, other="rest", missing=True)),
    "uint64": (pa.uint64(), [2**64 - 1, BIG + 1], LISTED("x", LONG, other="rest", missing=True)),
    "int8": (pa.int8(), [1, 2, 3], LISTED("x", [1, 2], missing=True)),
    "int64 in bins": (pa.int64(), [1, 7, 30], Attribute.numeric("x", 0, 9, bins=3, missing=True)),
    "float64": (pa.float64(), [0.5, math.nan, 1.0, 7.5], LISTED("x", [0.5, 1.0], missing=True)),
    "float16": (pa.float16(), [np.float16(0.5), np.float16(1)], LISTED("x", [0.5], missing=True)),
    "bool": (pa.bool_(), [True, False], LISTED("x", [True, False], missing=True)),
    "bool as numbers": (pa.bool_(), [True, False], LISTED("x", [0, 1], missing=True)),
    "string": (pa.string(), ["a", "b", "", "nan"], LISTED("x", ["a", "b"], missing=True)),
    "listed texts": (
        pa.dictionary(pa.int32(), pa.string()),
        ["a", "b", "c"],
        LISTED("x", ["a", "b"], missing=True),
    ),
    "listed numbers": (
        pa.dictionary(pa.int8(), pa.int64()),
        [BIG, BIG + 1, 3],
        LISTED("x", LONG, other="rest", missing=True),
    ),
    "decimal128": (
        pa.decimal128(9, 2),
        [decimal.Decimal("1.50"), decimal.Decimal("-2.25")],
        Attribute.numeric("x", -9, 9, bins=3, missing=True),
    ),
    "date32": (
        pa.date32(),
        days("1999-12-31", "2000-01-01", "0001-01-01", "9999-12-31"),
        Attribute.numeric("x", 1900, 2099, bins=2, date="year", missing=True),
    ),
    "timestamp": (
        pa.timestamp("us"),
        moments("1999-12-31T23:59:59", "0001-01-01", "2000-01-01T00:00:01"),
        Attribute.numeric("x", 1900, 2099, bins=2, date="year", missing=True),
    ),
}


def codes_of(frame, attribute):
    """Codes of the column, −1 outside the domain."""
    return attribute.look_up(frame["x"])[0].tolist()


def plain(cell):
    """A cell and its kind, whatever pandas holds it in; None for a missing one."""
    if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell:
        return None
    return str(cell), isinstance(cell, str)


@st.composite
def columns(draw, kind):
    cells = draw(st.lists(st.sampled_from([*KINDS[kind][1], None]), min_size=1, max_size=7))
    return cells, draw(st.integers(1, 4))


def alone(cell, kind):
    return pa.record_batch({"x": pa.array([cell], kind)})


@pytest.mark.parametrize("name", KINDS)
def test_a_cell_has_its_value_and_its_code_whatever_stands_beside_it(name, tmp_path):
    kind, _, attribute = KINDS[name]
    schema = Schema((attribute, OTHER))

    @given(columns(name))
    @settings(max_examples=15)
    def check(case):
        cells, size = case
        rows = [to_frame(alone(cell, kind)) for cell in cells]
        wanted = [code for row in rows for code in codes_of(row, attribute)]
        table = pa.table({"x": pa.array(cells, kind), "y": ["a"] * len(cells)})
        batch = to_frame(table.select(["x"]).to_batches()[0])
        values = [plain(row["x"].tolist()[0]) for row in rows]
        assert [plain(cell) for cell in batch["x"].tolist()] == values
        pa.parquet.write_table(table, tmp_path / "t", row_group_size=size)
        (part,) = find_source(tmp_path / "t").dataset.get_fragments()
        for rows in (table, pa.dataset.dataset(table), part):
            dataset = pa.dataset.dataset(rows) if rows is table else rows
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sources, "READ", size)
                frames = list(read_frames(dataset, schema))
            found = [code for frame in frames for code in codes_of(frame, attribute)]
            assert found == wanted

    check()


@pytest.mark.parametrize("listed", [["a", "b", "a"], ["a", "b", None]])
def test_a_list_of_values_may_name_one_twice_or_an_empty_cell(listed):
    """pandas has no such categories: the cells are what their places say."""
    cells = [0, 1, 2, None, 0]
    column = pa.DictionaryArray.from_arrays(pa.array(cells, pa.int8()), pa.array(listed))
    table = pa.table({"x": column, "y": ["a"] * 5})
    attributes = LISTED("x", ["a", "b"], missing=True), OTHER
    with find_source(table).open(Schema(attributes)) as records:
        plain = [None if cell is None else listed[cell] for cell in cells]
        codes = attributes[0].encode(pd.Series(plain, dtype=object))
        assert records.table((0,)).tolist() == np.bincount(codes, minlength=3).tolist()


def test_twin_as_pandas_reads_a_batch_empty_cells_change_others():
    kind, cells, attribute = KINDS["int64"]
    batch = pa.record_batch({"x": pa.array([BIG + 1, None], kind)})
    old = pa.Table.from_batches([batch]).to_pandas()
    assert plain(old["x"].tolist()[0]) != plain(BIG + 1)
    assert plain(to_frame(batch)["x"].tolist()[0]) == plain(BIG + 1)


def test_a_column_without_empty_cells_is_as_pandas_reads_it():
    table = pa.table({"i": [1, 2], "f": [0.5, 1], "s": ["a", "b"], "b": [True, False]})
    pd.testing.assert_frame_equal(to_frame(table.to_batches()[0]), table.to_pandas())


# --- what can't be read


def damaged_text(cells=(b"secret\xff", b"a")):
    """A column that says it is of UTF-8 texts and isn't."""
    offsets = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    return pa.StringArray.from_buffers(
        len(cells), pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(cells))
    )


UNREADABLE = {
    "not UTF-8": (damaged_text(), "UTF-8"),
    "a date beyond the year 9999": (pa.array([3_000_000, 1], pa.date32()), "year 10000"),
    "a moment beyond the year 9999": (
        pa.array([253_402_300_800_000 * 2, 0], pa.int64()).view(pa.date64()),
        "year 10000",
    ),
    "an unknown time zone": (pa.array([1, 2], pa.timestamp("ms", "Mars/Base")), "time zones"),
    "lists": (pa.array([[1], [2]]), "Arrow type list"),
    "structs": (pa.array([{"a": 1}, {"a": 2}]), "Arrow type struct"),
    "durations": (pa.array([1, 2], pa.duration("s")), "Arrow type duration"),
    "bytes": (pa.array([b"secret", b"b"]), "Arrow type binary"),
    "listed bytes": (pa.array([b"secret", b"b"]).dictionary_encode(), "Arrow type dictionary"),
    "bytes of one length": (pa.array([b"ab", b"cd"], pa.binary(2)), "Arrow type fixed_size_bin"),
}


def holders(table, tmp_path):
    """A table as all that fit takes."""
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    return table, pa.dataset.dataset(table), tmp_path / "t.parquet"


class TestRefusals:
    @pytest.mark.parametrize("name", UNREADABLE)
    def test_a_sentence_with_the_column_or_the_rows_and_no_cell(self, name, tmp_path, monkeypatch):
        column, words = UNREADABLE[name]
        schema = Schema((LISTED("x", ["a", "b"]), OTHER))
        for data in holders(pa.table({"x": column, "y": ["a", "b"]}), tmp_path):
            with spending(monkeypatch) as seen, pytest.raises(SchemaError, match=words) as error:
                PrivBayes().fit(data, schema)
            assert seen == []
            assert "'x'" in str(error.value) or "rows 1 to 2" in str(error.value)
            assert "secret" not in show_whole(error.value)

    @pytest.mark.parametrize("name", ["not UTF-8", "a date beyond the year 9999"])
    def test_twin_arrow_and_pandas_raise_other_errors_with_the_cell(self, name):
        column, _ = UNREADABLE[name]
        with pytest.raises((ValueError, pa.ArrowException)) as error:
            str(pa.table({"x": column}).to_pandas()["x"].tolist())
        assert not isinstance(error.value, SchemaError)
        assert "secret" in repr(error.value) or "1018" in repr(error.value)

    def test_two_columns_of_one_name(self, tmp_path):
        columns = [pa.array(["a", "b"])] * 3
        table = pa.Table.from_arrays(columns, names=["x", "x", "y"])
        schema = Schema((LISTED("x", ["a", "b"]), OTHER))
        pa.parquet.write_table(table, tmp_path / "t.parquet")
        for data in (table, tmp_path / "t.parquet"):
            with pytest.raises(SchemaError, match="several columns of one name"):
                PrivBayes().fit(data, schema)

    def test_types_that_hold_plain_values_are_read(self, tmp_path):
        read = {
            "float16": (pa.array([np.float16(1), None]), [1, 2]),
            "decimal256": (
                pa.array([decimal.Decimal("1"), None], pa.decimal256(50, 0)),
                Attribute.numeric("x", 0, 9, bins=2, missing=True),
            ),
            "listed numbers": (pa.array([1, None]).dictionary_encode(), [1, 2]),
            "listed twice": (
                pa.DictionaryArray.from_arrays(pa.array([1, 2]), pa.array(["a", "b", None])),
                ["b", "a"],
            ),
            "large texts": (pa.array(["a", None], pa.large_string()), ["a", "b"]),
            "nothing": (pa.nulls(2), ["a", "b"]),
        }
        for column, domain in read.values():
            if isinstance(domain, list):
                domain = LISTED("x", domain, missing=True)
            source = find_source(pa.table({"x": column, "y": ["a", "b"]}))
            schema = Schema((domain, OTHER))
            source.check(schema, empty=False)
            (found,) = source.encode(schema)
            assert found[:, 0].tolist() == [0 if column[0].is_valid else 2, 2]

    def test_a_folder_whose_second_file_lacks_a_column(self, tmp_path):
        pa.parquet.write_table(pa.table({"x": ["a"], "y": ["a"]}), tmp_path / "a.parquet")
        pa.parquet.write_table(pa.table({"x": ["a"]}), tmp_path / "b.parquet")
        with pytest.raises(SchemaError, match=r"b\.parquet can't be read"):
            PrivBayes(k=1).fit(tmp_path, Schema((LISTED("x", ["a", "b"]), OTHER)))

    def test_an_index_of_pandas_is_no_column_and_broken_notes_hide_none(self):
        frame = pd.DataFrame({"x": [1, 2], "y": [3, 4]}, index=pd.Index([7, 9], name="id"))
        table = pa.Table.from_pandas(frame)
        assert table.schema.names == ["x", "y", "id"]
        assert list_columns(table.schema) == ["x", "y"]
        for note in (b"{", b"[]", b"3", b'{"index_columns": [{"kind": "range"}]}'):
            broken = table.schema.with_metadata({b"pandas": note})
            assert list_columns(broken) == ["x", "y", "id"]


class TestDamage:
    """Every flipped byte of a file, page headers and footer included."""

    def outcomes(self, tmp_path, compression):
        frame = pa.table({"x": ["a", "b"] * 40, "y": [0, 1] * 40})
        path = tmp_path / "t.parquet"
        pa.parquet.write_table(frame, path, compression=compression)
        raw = path.read_bytes()
        schema = Schema((LISTED("x", ["a", "b"]), LISTED("y", [0, 1])))
        for at in range(0, len(raw), 3):
            changed = bytearray(raw)
            changed[at] ^= 0xFF
            path.write_bytes(changed)
            try:
                source = find_source(path)
                source.check(schema, empty=False)
                source.encode(schema).close()
                yield "read"
            except Exception as problem:
                yield type(problem).__name__

    @pytest.mark.parametrize("compression", ["snappy", "none"])
    def test_it_is_read_or_refused(self, compression, tmp_path):
        assert set(self.outcomes(tmp_path, compression)) == {"read", "SchemaError"}

    def test_twin_what_arrow_says_itself(self, tmp_path, monkeypatch):
        for module in (blocks, sources):
            monkeypatch.setattr(module, "refuse_raw", lambda work, *_: work())
        raised = {"OSError", "ArrowInvalid"}
        assert any(outcome in raised for outcome in self.outcomes(tmp_path, "snappy"))


def show_whole(error):
    """An error with all that it was raised from."""
    found = []
    while error is not None:
        found.append(f"{error!r}")
        error = error.__cause__ or error.__context__
    return " ".join(found)


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct([("a", pa.int64())])], ids=str)
@pytest.mark.parametrize("attribute", [LISTED("x", ["u", "v"]), Attribute.numeric("x", 7, 9)])
def test_a_frame_with_columns_of_lists_is_refused_as_a_table_is(kind, attribute):
    cells = [[1], None] if pa.types.is_list(kind) else [{"a": 1}, None]
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=pd.ArrowDtype(kind)), "y": ["a", "b"]})
    schema = Schema((attribute, OTHER))
    with pytest.raises(SchemaError, match="'x' holds more than plain values"):
        schema.encode(frame)
    assert {found.column for found in schema.problems(frame, 2)} == {"x"}
    assert Schema.infer(frame).left_out["x"].startswith("? column 'x' holds more than plain")


def test_messages_show_no_cells_of_a_table():
    frame = pd.DataFrame({"x": ["Zaphod"], "y": ["a"]})
    table = pa.Table.from_pandas(frame)
    for wrong in (table, table["x"], table["x"].chunk(0), {"t": frame}, [frame, 1], (table, "b")):
        assert "Zaphod" not in show(wrong)
    schema = Schema((LISTED("x", ["Zaphod", "b"]), OTHER))
    for wrong in (table["x"], frame.to_dict("list"), frame.to_csv()):
        with pytest.raises(SchemaError, match="expected a DataFrame, Records or codes") as refusal:
            to_codes(wrong, schema)
        assert "Zaphod" not in str(refusal.value)
