"""T25: the code of a record is a function of that record and of the declaration.

``encode(frame) == vstack(encode(row) for each row)`` for frames, and ``read_csv(file) ==
concat(read_csv(header + line))`` for files. A few examples of each here; ``python tests/fuzz.py
--minutes 10`` draws new ones for as long. Each property has a twin: the defect, planted again.
"""

import codecs
import datetime
import pickle
import pkgutil
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from core.test_properties import OURS, few
from hypothesis import given
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth.files import as_text, recoding
from pdsynth.files import columns as room
from pdsynth.files.file_format import FileFormat
from pdsynth.files.reading import read_csv
from pdsynth.files.taking import take_cells
from pdsynth.scale.sources import find_source

A = pds.Attribute
pytestmark = pytest.mark.filterwarnings("ignore")
BIG = 2**53
PAIR = A.categorical("y", ["a", "b"])
NEXT = np.longdouble(1) + np.longdouble(2) ** -60  # 1 as a float, where there are longer ones
CELLS = [
    *(True, 1, 1.0, np.bool_(True), "1", "True", "1.0", " 1", "01", "+1", Decimal("1")),
    *(0, False, -0.0, "0", 0.5, "0.5", "0.50", Decimal("0.5"), Decimal("0.50"), "1,5", "1.5"),
    *(9, "9", "?", "", "rest", "a", "A", np.str_("a"), "ä", "\ufffd", None, np.nan, pd.NA, pd.NaT),
    *(BIG - 1, BIG, BIG + 1, str(BIG + 1), float(BIG), 2**63, -(2**63), 10**25, np.inf),
    *("2020-01-31", "31.01.2020", "2020-01-31T00:00:00.123456789", "1500-01-01", "now"),
    *(datetime.date(2020, 1, 31), datetime.datetime(1999, 12, 31, 23), np.datetime64("2020-01-31")),
    pd.Timestamp("2020-01-01T23:00-05:00"),
    pd.Timestamp("2020-01-02T04:00+00:00"),
    "2020-01-01T23:00-05:00",
    *(
        complex(1, 0.0),
        complex(1, -0.0),
        np.longdouble(1),
        np.longdouble(1) + np.longdouble(2) ** -60,
    ),
    *(pd.Interval(0.0, 1.0), pd.Interval(-0.0, 1.0), pd.Interval(0, 1), [1], ["a", "b"]),
    *(datetime.timedelta(days=1), pd.Timedelta(1), np.timedelta64(1, "D"), datetime.time(7, 5)),
    *(pd.Period("2020-01", "M"), pd.Period("2020-01-31", "D"), Fraction(1, 2), Fraction(2, 2)),
    *(b"a", "\udcff", np.float32(0.1), 0.1, 5e-324, Decimal("-0"), Decimal("NaN"), "nan", "<NA>"),
    *("7:05", "1:05:33", "1 h 5 min", "90 s", "2026-W05", "E11.9", "E11", "94103"),
]
ATTRIBUTES = [
    A.categorical("x", [0, 1, 9], other=9),
    A.categorical("x", ["0.5", "1", "rest"], other="rest"),
    A.categorical("x", [True, False], mapping={"1": True}, other=False),
    A.categorical("x", [0, 1], missing=True),
    A.categorical("x", [True, False], missing=True),
    A.categorical("x", ["a", "b"], mapping={"A": "a", 1: "b"}, na_values=["?"], missing=True),
    A.categorical("x", [str(BIG), str(BIG + 1), "rest"], other="rest", missing=True),
    A.categorical("x", [0.5, 1.5], na_values=["?"], missing=True),
    A.categorical("x", ["a", "b"], mapping={"1j": "a", "(0, 1]": "a"}, other="b"),
    A.numeric("x", 0, 10, bins=5, missing=True),
    A.numeric("x", 0, 10, bins=5, clip=True, number="1.234,5", missing=True),
    A.numeric("x", 0, BIG, bins=4, integer=True, clip=True, na_values=["?"], missing=True),
    A.numeric("x", 1500, 2030, bins=9, integer=True, date="year", clip=True, missing=True),
    A.numeric("x", 0, 99, integer=True, date="age", on="2026-12-31", clip=True, missing=True),
    A.numeric("x", 1, 12, bins=12, integer=True, date="month", format="%d.%m.%Y", missing=True),
    A.numeric("x", 1, 7, bins=7, integer=True, date="weekday", missing=True),
    A.numeric("x", 1, 53, bins=53, integer=True, date="week", missing=True),
    A.numeric("x", 0, 24, bins=24, date="hour", clip=True, missing=True),
    A.numeric("x", 0, 600, bins=9, integer=True, number="h:min", clip=True, missing=True),
    A.numeric("x", 0, 60, bins=9, number="min:s", missing=True),
    A.categorical("x", ["E", "E11", 4], prefix=1, other=4),
    A.categorical("x", [1, 2, 9], prefix=1, missing=True),
    A.categorical("x", ["1 days 00:00:00", "2020-01", "1/2", "b'a'", "rest"], other="rest"),
    A.categorical("x", ["a", "b", "9"], dtype="ordered", other="9", missing=True),
]
DTYPES = [
    object, None, "str", "string", "category", "bool", "boolean", "int64", "Int64", "UInt64",
    "float64", "float32", "Float64", "datetime64[ns]", "datetime64[s]", "datetime64[us, UTC]",
    "int64[pyarrow]", "string[pyarrow]", "float64[pyarrow]", "timestamp[ns][pyarrow]",
    "complex128", "interval", "longdouble", "Sparse[complex128]", "Sparse[float64]", "Float32",
    "UInt8", "timedelta64[s]", "timedelta64[ns]", "period[M]", "bool[pyarrow]", "date32[pyarrow]",
    "duration[ns][pyarrow]", "binary[pyarrow]", "time64[us][pyarrow]", "float32[pyarrow]",
    pd.CategoricalDtype(["b", "a"], ordered=True), pd.CategoricalDtype([1, 0, 9]),
]  # fmt: skip


def column_of(cells, dtype):
    """A column of that type, None where it doesn't take the cells."""
    try:
        made = pd.Series(cells, dtype=object)
        return made if dtype is object else pd.Series(cells, dtype=dtype)
    except Exception:  # pandas and Arrow have many
        return None


def codes(attribute, column):
    """Codes and missing cells, a row each; of a refusal the words."""
    try:
        return np.transpose(attribute.look_up(column)).tolist()
    except OURS:
        return None


def carried(attribute, column):
    """Rows whose code isn't the one that they have alone; a refusal of one row refuses all."""
    together = codes(attribute, column)
    alone = [codes(attribute, column.iloc[[row]]) for row in range(len(column))]
    if None in alone:
        return [] if together is None else [row for row, code in enumerate(alone) if code is None]
    if together is None:
        return list(range(len(column)))
    return [row for row, code in enumerate(alone) if code[0] != together[row]]


@few
@given(
    st.sampled_from(ATTRIBUTES),
    st.lists(st.sampled_from(CELLS), min_size=1, max_size=8),
    st.sampled_from(DTYPES),
)
def test_a_row_of_a_frame_is_coded_as_it_is_alone(attribute, cells, dtype):
    column = column_of(cells, dtype)
    if column is not None:
        assert carried(attribute, column) == []


@few
@given(
    st.sampled_from(ATTRIBUTES),
    st.lists(st.integers(0, len(CELLS) - 1), min_size=2, max_size=8),
    st.integers(0, len(CELLS) - 1),
)
def test_one_cell_that_changes_moves_one_code(attribute, places, other):
    """pandas makes the columns from the cells, so their types may differ, too.

    A number that a type blurs is refused: code -1, which no fit takes.
    """
    cells = [CELLS[i] for i in places]
    for dtype in (object, None):
        before, after = (
            column_of([first, *cells[1:]], dtype) for first in (cells[0], CELLS[other])
        )
        if before is None or after is None:
            continue
        one, two = codes(attribute, before), codes(attribute, after)
        for own, same in zip((one or [])[1:], (two or [])[1:], strict=False):
            assert own == same or -1 in (own[0], same[0])
            assert own == same or dtype is None


def merged(self, column):
    """The defect: pandas merges what is equal, and the first spelling seen stands for all."""
    places, seen = pd.factorize(column, use_na_sentinel=True)
    return places, list(seen)


def merging(monkeypatch):
    monkeypatch.setattr(room, "find_distinct", lambda column: merged(None, column))


P1 = {
    "truth values": (A.categorical("x", [0, 1, 9], other=9), True, 1),
    "fractions": (
        A.categorical("x", ["0.5", "1", "rest"], other="rest"),
        Fraction(1, 2),
        Decimal("0.5"),
    ),
    "days in other time zones": (
        A.numeric("x", 1, 31, bins=31, integer=True, date="month"),
        pd.Timestamp("2020-01-31T23:00-05:00"),
        pd.Timestamp("2020-02-01T04:00+00:00"),
    ),
}


def two_worlds(attribute, odd, usual):
    """1,000 records, the first of which is spelt in another way in the second world."""
    schema = pds.Schema((attribute, PAIR))
    rest = [{"x": usual, "y": "b"}] * 999
    return schema, *(pd.DataFrame([{"x": first, "y": "a"}, *rest]) for first in (usual, odd))


@pytest.mark.parametrize("case", P1)
def test_p1_one_cell_moves_one_code_of_a_thousand(case, monkeypatch):
    schema, before, after = two_worlds(*P1[case])
    assert (schema.encode(before) != schema.encode(after)).any(1).sum() <= 1
    merging(monkeypatch)  # the twin
    assert (schema.encode(before) != schema.encode(after)).any(1).sum() == 1000


@pytest.mark.parametrize(
    ("dtype", "odd", "usual"),
    [
        (object, np.nextafter(np.longdouble(1), 2), np.longdouble(1)),
        ("interval", pd.Interval(-0.0, 1.0), pd.Interval(0.0, 1.0)),
        ("complex64", complex(1, -0.0), complex(1, 0.0)),
    ],
)
def test_cells_that_are_equal_or_have_one_text_but_not_both_are_read_apart(dtype, odd, usual):
    for cells in ([odd, usual], [usual, odd]):
        column = pd.Series(cells, dtype=dtype)
        places, found = room.find_distinct(column)
        assert places.tolist() == [0, 1] and [*map(repr, found)] == [*map(repr, column.tolist())]


RETYPED = {  # a cell, and one beside which pandas makes the same column of another type
    "durations": (datetime.timedelta(days=1), "soon"),
    "numpy's durations": (np.timedelta64(1, "D"), "soon"),
    "numpy's days": (np.datetime64("2020-01-31"), "soon"),
    "intervals": (pd.Interval(0, 1), pd.Interval(0.5, 1)),
    "complex numbers": (1, 1j),
}


@pytest.mark.parametrize("case", RETYPED)
def test_p1_a_column_of_another_type_moves_no_other_code(case, monkeypatch):
    """The type of a column is a function of all its cells; the text of a cell isn't."""
    cell, other = RETYPED[case]
    attribute = A.categorical("x", [as_text(cell), "rest"], other="rest")
    schema, before, after = two_worlds(attribute, other, cell)
    assert before["x"].dtype != after["x"].dtype
    assert (schema.encode(before) != schema.encode(after)).any(1).sum() == 1
    plainly(monkeypatch)  # the twin
    attribute = A.categorical("x", [str(before["x"].iloc[0]), "rest"], other="rest")
    schema = pds.Schema((attribute, PAIR))
    assert (schema.encode(before) != schema.encode(after)).any(1).sum() == 1000


BLURRED = {  # what is named, a cell that it names, and one beside which pandas blurs that cell
    "complex numbers": ({"mapping": {str(BIG): 1}}, BIG, 1j),
    "longer floating point numbers": ({"mapping": {str(BIG): 1}}, BIG, NEXT),
    "intervals": ({"mapping": {f"(0, {BIG}]": 1}}, pd.Interval(0, BIG), pd.Interval(0.5, 1)),
    "a sentinel of a range": ({"na_values": [BIG], "missing": True, "clip": True}, BIG, 0.5),
    "a renamed number of a range": ({"mapping": {BIG: 1}, "clip": True}, BIG, 0.5),
    "a part of it": (
        {"column": "x", "between": "/", "part": 2, "missing": True, "clip": True},
        BIG,
        0.5,
    ),
}


@pytest.mark.parametrize("case", BLURRED)
def test_p3_a_number_that_a_wider_column_blurs_has_the_same_code_in_a_narrow_one(case, monkeypatch):
    options, cell, other = BLURRED[case]
    whole, blurred = (pd.Series([first, cell], name="x") for first in (cell, other))
    assert whole.dtype != blurred.dtype
    if "clip" in options:
        attribute = A.numeric("y", 0, 9, bins=3, **options)
    else:
        attribute = A.categorical("y", [0, 1], other=0, **options)

    def last(column):
        found = codes(attribute, take_cells(attribute, column))
        return found[-1][0]

    assert last(whole) == last(blurred)
    if "between" in options:  # no part of a number is told
        assert last(whole) == -1
        return
    monkeypatch.setattr(recoding, "is_rounded", lambda cell: False)  # the twin
    assert last(whole) != last(blurred)


@pytest.mark.parametrize("other", ["0.25", "100", None])
def test_p1_a_decimal_has_one_text_whatever_digits_arrow_gives_its_column(other, tmp_path):
    schema = pds.Schema(
        (A.categorical("x", ["0.5", "100", "rest"], other="rest", missing=True), PAIR)
    )
    cells = [None if cell is None else Decimal(cell) for cell in (other, "0.5", "1E+2", "-0.0")]
    pd.DataFrame({"x": cells, "y": list("abab")}).to_parquet(tmp_path / "x.parquet")
    frame = read_csv(tmp_path / "x.parquet", schema)
    assert schema.encode(frame)[1:, 0].tolist() == [0, 1, 2]
    with find_source(tmp_path / "x.parquet").open(schema) as records:
        assert next(iter(records.counter))[1:, 0].tolist() == [0, 1, 2]


def test_a_pickled_schema_does_not_tell_which_cells_it_has_read():
    kept = []
    for cells in ([], [None], ["a"], [float(BIG)]):
        table = pa.table({"x": pd.array(cells, dtype=object), "y": ["a"] * len(cells)})
        attribute = A.categorical("x", ["a", "b"], mapping={"c": "a"}, other="b", missing=True)
        schema = pds.Schema((attribute, PAIR))
        with suppress(pds.SchemaError), find_source(table).open(schema):
            pass
        kept.append(pickle.dumps(schema))
    assert len({*kept}) == 1


def plainly(monkeypatch):
    """The defect: the text of a cell as Python writes it."""
    monkeypatch.setattr(recoding, "as_text", lambda cell: str(cell).strip())


@pytest.mark.parametrize("case", ["truth values", "fractions"])
def test_p1_the_attack_s_two_outcomes_are_within_epsilon(case, monkeypatch):
    """Exact laws: the released count of a value is the count plus noise of the ledger's scale.

    Between the two worlds, the log-ratio of any event is at most what a change of one record
    allows; under the planted defect it was 500 times as much.
    """
    schema, before, after = two_worlds(*P1[case])
    synthesizer = pds.baselines.Independent(epsilon=0.1)
    found = pds.audit.replay(synthesizer, before, after, schema)
    assert found.ok and found.log_ratio <= 0.1
    merging(monkeypatch)
    broken = pds.audit.replay(synthesizer, before, after, schema)
    assert not broken.ok and broken.log_ratio == np.inf


def test_p8_replay_and_problems_say_that_a_coding_moves_more_rows_than_were_changed(monkeypatch):
    schema, before, after = two_worlds(*P1["truth values"])
    assert not schema.problems(before) and not schema.problems(after)
    merging(monkeypatch)
    broken = pds.audit.replay(pds.baselines.Independent(epsilon=0.1), before, after, schema)
    assert "1000 records get other codes where 1 were changed" in str(broken)
    (problem,) = schema.problems(after)
    assert (problem.column, problem.problem) == ("x", "code depends on other records")


@pytest.mark.parametrize("cells", [[1, 2], [True, False]])
def test_p8_a_table_that_is_only_written_in_another_way_is_the_same_table(cells):
    schema = pds.Schema((A.categorical("x", cells), PAIR))
    frame = pd.DataFrame({"x": cells * 3, "y": list("ababab")})
    for other in (frame.astype(object), frame.astype("category"), frame.iloc[::-1]):
        found = pds.audit.replay(pds.baselines.Independent(), frame, other, schema, walks=1)
        assert found.ok and found.log_ratio == 0


def test_p3_whole_numbers_that_fall_together_are_refused_when_they_are_declared():
    for value in (BIG, -BIG, BIG + 1, float(BIG), 10**30):
        with pytest.raises(pds.SchemaError, match="fall together where one cell"):
            A.categorical("x", [0, value])
    largest = A.categorical("x", [BIG - 1, -(BIG - 1)], missing=True)
    for cells in ([BIG - 1] * 3, [None, BIG - 1], [0.5, BIG - 1], [BIG, BIG + 1, BIG - 1]):
        for dtype in (object, None):
            assert codes(largest, pd.Series(cells, dtype=dtype))[-1] == [0, 0]


def test_p3_twin_beyond_2_to_the_53_pandas_makes_two_numbers_one():
    """Why they are refused: the frame itself has lost the difference before it reaches us."""
    alone, beside = (pd.Series([*cells, BIG + 1]) for cells in ([], [None]))
    assert int(alone.iloc[-1]) == BIG + 1 and int(beside.iloc[-1]) == BIG


@pytest.mark.parametrize(
    "attribute",
    [
        A.numeric("x", 0, 10, bins=5, clip=True, na_values=[str(BIG + 2)], missing=True),
        A.numeric("x", 0, 10, bins=5, clip=True, mapping={str(BIG + 2): 0}, missing=True),
        A.categorical("x", [str(BIG + 2), "rest"], other="rest", missing=True),
    ],
)
def test_p3_what_is_said_of_a_number_holds_whatever_stands_in_other_rows(attribute):
    """pandas makes a floating point number of it where another cell is empty or has a fraction."""
    alone = codes(attribute, pd.Series([BIG + 2, 5]))[0]
    assert alone[0] == (-1 if attribute.edges is None else 0 if attribute.recode.mapping else 5)
    for other in (None, 0.5, BIG + 1):
        for dtype in (None, object, "Float64"):
            assert codes(attribute, pd.Series([BIG + 2, other], dtype=dtype))[0] == alone


def test_p3_what_is_taken_out_of_such_a_number_is_refused_in_every_column():
    held = A.categorical("x", [True, False], column="raw", between=",", holds="5", missing=True)
    schema = pds.Schema((held, PAIR))
    for other in (5, None, 0.5):
        frame = pd.DataFrame({"raw": [BIG + 2, other], "y": ["a", "b"]})
        with pytest.raises(pds.SchemaError, match="make texts of them"):
            schema.encode(frame)


def test_p3_a_refusal_says_what_to_make_of_such_numbers():
    town = A.categorical("x", [str(BIG), "rest"], other="rest")
    with pytest.raises(pds.SchemaError, match="make texts of them"):
        town.encode(pd.Series([BIG, 5]))
    assert town.encode(pd.Series([str(BIG), "5"])).tolist() == [0, 1]


# --- files ----------------------------------------------------------------------------------------

TOWNS = A.categorical("town", ["Zürich", "Genf", "elsewhere"], other="elsewhere")
FILE = pds.Schema((TOWNS, A.categorical("sex", ["a", "b"])))
DECLARED = pds.Schema(
    (
        A.categorical("home", ["Zürich", "1", "rest"], other="rest"),
        A.categorical("count", [0, 1, 2], missing=True),
        A.categorical("flag", [True, False], missing=True),
        A.numeric("pay", 0, 9999, bins=4, missing=True),
        A.numeric("age", 0, 99, bins=4, integer=True, missing=True),
        A.numeric("born", 1900, 2030, bins=4, integer=True, date="year", clip=True, missing=True),
    )
)
WORDS = [
    *("", "1", "01", "1.0", "1,5", "1.234,5", "1,234.5", "$7", "true", "FALSE", "x", "Zürich"),
    *("Z\udcfcrich", "\x00", "München", "2020-01-31", "31.01.2020", "1e3", "NA", "9" * 500, " 2 "),
    *("9007199254740993", "2020-01-31T00:00:00.123456789", "1500-01-01", "²", "٣", "inf"),
]


def cut(frame):
    """Cells as plain values, None for a missing one."""
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


def lines_of(rows, sign):
    """Lines of a file; "\\udcfc" stands for a byte that isn't UTF-8."""

    def quote(cell):
        return f'"{cell}"' if sign in cell or cell.strip() != cell else cell

    texts = [sign.join(map(quote, row)) + "\n" for row in rows]
    return [text.encode("utf-8", "surrogateescape") for text in texts]


@few
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=6, max_size=6), min_size=1, max_size=8),
    st.sampled_from(",;\t|"),
    st.sampled_from(["", "1,234.5", "1.234,5"]),
    st.booleans(),
)
def test_a_file_is_read_as_its_lines_are(rows, sign, number, header):
    how = {"delimiter": sign, "number": number, "header": header}
    names = [] if header else list(DECLARED.names)
    schema = pds.Schema(DECLARED.attributes, columns=names, file=how)
    top = lines_of([DECLARED.names], sign)[0] if header else b""
    lines = lines_of(rows, sign)
    whole = read_csv(top + b"".join(lines), schema)
    alone = pd.concat([read_csv(top + line, schema) for line in lines], ignore_index=True)
    assert cut(whole) == cut(alone)
    types = [{type(cell) for cell in row} for row in cut(whole)]
    assert types == [{type(cell) for cell in row} for row in cut(alone)]
    by_line = [
        codes(a, read_csv(top + line, schema)[a.name]) for line in lines for a in schema.attributes
    ]
    by_file = [codes(a, whole[a.name]) for a in schema.attributes]
    if None not in by_line and None not in by_file:
        wide = len(schema)
        assert [c[0] for c in by_line] == [
            by_file[j][i] for i in range(len(lines)) for j in range(wide)
        ]


def towns(last):
    lines = ["Zürich,a\n", "Genf,b\n"] * 499 + ["Zürich,a\n"]
    return b"town,sex\n" + "".join(lines).encode() + last


LAST = {
    "one byte": b"M\xfcnchen,a\n",
    "a lone start": b"M\xc3,a\n",
    "no line end": b"M\xfcnchen,a",
    "a zero byte": b"M\x00nchen,a\n",
    "half a sign at the end": b"Genf,a\xe2\x82",
    "a mark in the middle": b"\xef\xbb\xbfGenf,b\n",
    "two of them": b"\xff\xfe,b\n",
}


@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
def test_p2_a_strange_byte_spoils_its_own_cell_only(last):
    usual, odd = (FILE.encode(read_csv(towns(x), FILE)) for x in (b"Genf,b\n", b"Genf,b\n"))
    assert (usual == odd).all()
    try:
        odd = FILE.encode(read_csv(towns(last), FILE))
    except pds.SchemaError:
        return  # refused before anything is paid for
    assert (usual != odd).any(1).sum() <= 1


def test_p2_twin_a_guessed_encoding_moves_a_thousand_rows():
    """What reading without a schema may still do, to explore: the same two files, guessed."""
    usual, odd = (read_csv(towns(x)) for x in (b"Genf,b\n", LAST["one byte"]))
    assert (FILE.encode(usual) != FILE.encode(odd)).any(1).sum() > 400


def test_p2_the_two_files_give_the_same_law():
    """The replay of a whole fit between the two files: a change of one record."""
    usual, odd = (read_csv(towns(x), FILE) for x in (b"Genf,b\n", LAST["one byte"]))
    found = pds.audit.replay(pds.baselines.Independent(epsilon=0.1), usual, odd, FILE)
    assert found.ok and found.log_ratio <= 0.1


def test_a_file_that_begins_with_another_mark_is_refused():
    content = "town,sex\nGenf,a\n".encode("utf-16")
    with pytest.raises(pds.SchemaError, match='write encoding = "utf-16" below'):
        read_csv(content, FILE)
    schema = pds.Schema(FILE.attributes, file={"encoding": "utf-16"})
    assert read_csv(content, schema)["town"].tolist() == ["Genf"]


@pytest.mark.parametrize(
    ("lines", "odd"),
    [
        ('Genf,"b"\nGenf,a\n', 'Genf,"a\n'),
        ('"Genf",b\n', '"Genf,a\n'),
        ("Genf,b\n", 'Genf,"a\n'),
    ],
)
def test_p2_a_quote_that_nothing_closes_is_refused_before_it_takes_the_next_records(lines, odd):
    top, usual = "town,sex\nZürich,a\n", "Genf,a\n"
    schema = pds.Schema([TOWNS, A.categorical("sex", ["a", "b", "rest"], other="rest")])
    assert len(read_csv((top + usual + lines).encode(), schema)) == 2 + lines.count("\n")
    with pytest.raises(pds.SchemaError, match="isn't CSV .*is a quote missing"):
        read_csv((top + odd + lines).encode(), schema)
    several = 'town,sex\n"Genf\nor ""Genève""",a\nGenf," b\n"\n'
    assert len(read_csv(several.encode(), schema)) == 2


def encodings():
    import encodings

    return sorted(module.name for module in pkgutil.iter_modules(encodings.__path__))


@pytest.mark.parametrize("name", [n for n in encodings() if n not in ("aliases", "mbcs", "oem")])
def test_an_encoding_that_may_be_declared_reads_each_line_by_itself(name):
    """Brute force over all of Python's: any bytes in one line leave the next line as it is."""
    try:
        FileFormat(encoding=name)
    except pds.SchemaError:
        return
    rng = np.random.default_rng(7)
    unit = len("aa".encode(name)) - len("a".encode(name))
    end, last = "\n".encode(name)[-unit:], "a,b\n".encode(name)[-4 * unit :]
    for _ in range(500):
        noise = rng.integers(0, 256, unit * int(rng.integers(0, 7)), dtype=np.uint8).tobytes()
        pieces = [noise[i : i + unit] for i in range(0, len(noise), unit)]
        noise = b"".join(p for p in pieces if p.decode(name, "replace") not in ("\n", "\r"))
        text = codecs.decode(noise + end + last, name, "replace")
        if "little" not in name and noise[:2] not in (b"\xfe\xff", b"\xff\xfe"):
            assert text.endswith("a,b\n"), (name, noise)


@pytest.mark.parametrize("name", ["euc_kr", "EUC-KR", "korean", "cp949"])
def test_half_a_sign_of_eight_bytes_takes_no_record_with_it(name):
    schema = pds.Schema(
        (PAIR, A.categorical("z", ["a", "rest"], other="rest")), file={"encoding": name}
    )
    frame = read_csv(b"y,z\na,\xa4\xd4\nb,a", schema)  # a filler, and too few bytes for the sign
    assert schema.encode(frame).tolist() == [[0, 1], [1, 0]]
    assert read_csv("y,z\na,한\n".encode(name), schema)["z"].tolist() == ["한"]


@pytest.mark.parametrize(
    "name", ["utf-7", "iso2022_jp", "hz", "punycode", "hex", "no-such", "idna"]
)
def test_an_encoding_in_which_one_line_changes_the_next_is_refused(name):
    with pytest.raises(pds.SchemaError, match="there is no encoding"):
        FileFormat(encoding=name)


def test_d1_a_cell_of_thousands_of_digits_is_no_number():
    frame = pd.DataFrame({"x": ["1", "9" * 8000 + "x", "." * 9000], "y": list("aba")})
    attribute = A.numeric("x", 0, 10, bins=2, number="1,234.5")
    assert codes(attribute, frame["x"]) == [[0, 0], [-1, 0], [-1, 0]]


def test_a_day_beyond_all_years_is_refused_without_its_value():
    column = pd.Series([BIG - 1], dtype="datetime64[s]")
    with pytest.raises(pds.SchemaError, match="more than plain values .ValueError") as refusal:
        A.numeric("x", 1500, 2030, date="year").encode(column)
    assert "285428751" not in str(refusal.value) and refusal.value.__suppress_context__


def test_texts_are_those_that_a_file_would_hold():
    assert [as_text(cell) for cell in (BIG - 1, float(BIG - 1), -0.0, 1e300, np.float32(2))] == [
        str(BIG - 1), str(BIG - 1), "0", "1e+300", "2",
    ]  # fmt: skip
