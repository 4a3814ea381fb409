"""A file of your own: its outline, its records over a schema, and declarations; every bad input is
a SchemaError that says what to do."""

import io
import math
import sys
import warnings
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth.course.declaration import declare, propose
from pdsynth.datasets.loaders import find
from pdsynth.files.outlining import explore, outline
from pdsynth.files.reading import read_chunks, read_csv, read_header
from pdsynth.files.schema_file import read_schema

A = pds.Attribute
SCHEMA = pds.Schema(
    (
        A.numeric("age", 0, 99, bins=4, integer=True),
        A.categorical("zone", ["01", "02", "NA"]),
        A.categorical("c", [1, 2], missing=True),
    )
)
GOOD = b"id,age,zone,c\n1,34,01,1\n2,61,NA,\n"
BAD_FILES = {
    "empty": (b"", "empty.*column names"),
    "blank": (b" \n\n", "empty"),
    "no rows": (b"a,b\n", "no rows"),
    "one column": (b"a\n1\n", "one column; at least 2.*delimiter="),
    "utf-16 without mark": ("a,b\n1,2\n".encode("utf-16-le"), "zero bytes.*encoding="),
    "spreadsheet": (b"PK\x03\x04...", "looks like an Excel spreadsheet.*save the table as CSV"),
    "parquet": (b"PAR1....", "looks like a Parquet file.*save the table as CSV"),
    "broken gzip": (b"\x1f\x8b....", "can't be unpacked"),
    "short row": (b"a,b\n1,2\n3\n", "line 3 has 1 cell, the first line 2"),
    "long row": (b"a,b\n1,2,3\n", "line 2 has 3 cells"),
    "huge cell": (b"a,b\n" + b"x" * 200_000 + b",1\n", "line 2 isn't CSV"),
    "a title": (b"# form B\n34,f\n61,m\n", "first line has 1 cell, the next 2.*skip=1"),
    "titles": (b"Form B\n(c) us\n\nage,sex\n34,f\n", "2 lines have 1 cell, the next 2.*skip=LINES"),
    "a title of a sheet": (
        b"form B,,\n,,\na,b,c\n1,2,3\n",
        "looks like a record.*title, say skip=",
    ),
    "names in two lines": (
        b"Group,Score,\n,Before,After\nA,1,2\nB,3,4\nA,5,6\n",
        r"looks like a record.*two lines name the columns, say skip=2 and say names=",
    ),
    "no header": (b"34,f\n61,m\n34,f\n", r"looks like a record.*names=\[…\].*2 columns"),
    "no header, twins": (b"no,no\nyes,no\nno,yes\n", "looks like a record"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_a_bad_file_is_refused_kindly_by_both_readers(what):
    content, words = BAD_FILES[what]
    for reader in (read_header, read_csv):
        with pytest.raises(pds.SchemaError, match=words):
            reader(content)


def test_names_for_a_file_that_has_a_header_are_refused():
    content = b"age,sex,income\n34,f,20\n61,m,30\n34,f,25\n"
    for reader in (read_header, read_csv, outline):
        with pytest.raises(pds.SchemaError, match="looks like column names.*leave out names="):
            reader(content, names=["a", "b", "c"])
    assert read_header(content, names=["a", "b", "c"], header=False).n == 4, "the owner's word"
    missing_first = b"34,f,n\n61,m,30\n34,f,25\n"
    assert read_header(missing_first, names=["a", "b", "c"]).n == 3, "one column can be a code"
    schema = pds.Schema(
        [pds.Attribute.categorical(name, ["0", "1"]) for name in ("a", "b", "c")],
        columns=("a", "b", "c"),
    )
    assert read_header(content, schema).n == 4, "what is declared isn't guessed at"


def test_a_header_has_names_and_n_and_no_value(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n") + b"\r\n")
    assert read_header(path)[:2] == (("id", "age", "zone", "c"), 2) == read_header(str(path))[:2]
    shuffled = b"id,age,zone,c\nx,y,z,w\n,,,\n"
    assert read_header(shuffled)[:2] == read_header(path)[:2], "cells change nothing"
    assert read_header(b'a;b\n"x;\ny";2\n', delimiter=";")[:2] == (("a", "b"), 1)


SECRET = b"zorro,zorro,4711\nhermine,zorro,4712\nzorro,hermine,4713\n"


@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_a_file_without_a_header_is_neither_printed_nor_eaten(schema):
    with pytest.raises(pds.SchemaError) as refusal:
        read_csv(SECRET, schema)
    assert "zorro" not in str(refusal.value) and "4711" not in str(refusal.value)
    frame = read_csv(SECRET, names=["a", "b", "c"])
    assert frame["c"].tolist() == [4711, 4712, 4713]
    assert len(read_csv(SECRET, header=True)) == 2, "the owner's word counts"
    with pytest.raises(pds.SchemaError, match=r"names of its 3 columns"):
        read_csv(SECRET, header=False)


@pytest.mark.parametrize(
    "top", ["age,sex", "self,index", "2010,2011", "0,1", "x,", '"a, b",c', "größe,naïve", "f,F"]
)
def test_a_header_of_any_names_is_one(top):
    body = "34,f\n61,m\n34,m\n"
    names = read_header(f"{top}\n{body}".encode(), header=True).names
    frame = read_csv(f"{top}\n{body}".encode(), header=True)
    assert tuple(frame) == names and frame.iloc[:, 0].tolist() == [34, 61, 34]
    assert len(set(names)) == 2 and all(names)


def test_a_header_that_counts_is_one():
    assert read_header(b"0,1,2\n4,5,6\n")[:2] == (("0", "1", "2"), 1)
    assert read_header(b"2010,2011,2012\n4,5,6\n").n == 1


def test_names_beside_a_header_are_refused():
    with pytest.raises(pds.SchemaError, match="leave out names="):
        read_csv(b"a,b\n1,2\n", names=["a", "b"])
    with pytest.raises(pds.SchemaError, match="two columns have the name a: rename"):
        read_csv(b"1,2\n", names=["a", "a"])
    with pytest.raises(pds.SchemaError, match="line 1 has 2 cells, the list of names 3"):
        read_csv(b"1,2\n", names=["a", "b", "c"])


GUESTS = "Anreise;Nächte;Preis;Rabatt;Land;Storno;Notiz\n" + (
    "12.05.2021;3;450,50;5 %; n/a;nein;spät\n02.05.2022;7;1.450,50;10 %; DE;ja;spät\n" * 200
)  # few letters among many digits


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a;b\n1,5;x\n2,5;y\n", "semicolons"),
        (b"a\tb\n1\t2\n", "tabs"),
        (b"a|b\n1|2\n", "bars"),
        (b"a  b \nx  2 \ny 3\n", "blanks"),
        ("straße,größe\nMüller,2\nJäger,3\n".encode("cp1252"), "cp1252, which is a guess"),
        (GUESTS.encode("cp1252"), "cp1252, which is a"),
        ("姓名,城市\n张三,北京\n李四,上海\n王五,广州\n".encode("gb18030"), "gb18030, which is a"),
        ("имя,город\nИван,Москва\nОльга,Казань\n".encode("cp1251"), "cp1251, which is a guess"),
    ],
)
def test_what_was_found_out_is_said(content, words):
    with pytest.warns(UserWarning, match=words):
        read_header(content)


@pytest.mark.parametrize(
    "words", ["Größe Straße", "né élève d’été", "città è", "mænd Århus ø år", "mies äiti työ"]
)
@pytest.mark.parametrize("sign", ["", " €", " °C", " –"])
def test_words_of_western_europe_are_in_cp1252(words, sign):
    """Not in an encoding of old Macintoshes, which the guess by letters' frequencies takes."""
    rows = [f"{word};{at},50{sign}\n" for at in range(100) for word in words.split()]
    with pytest.warns(UserWarning, match="in cp1252, which is a guess"):
        assert read_csv(f"a;b\n{''.join(rows)}".encode("cp1252"))["a"][0] == words.split()[0]


def test_an_ordinary_file_is_read_in_silence(recwarn):
    read_csv(GOOD)
    read_csv("a,b\n1,2\n".encode("utf-16"))
    assert not list(recwarn)


def kinds(frame, folder):
    """The same table in every kind of file that one can read here."""
    for name, write in {
        "t.csv": lambda path: frame.to_csv(path, index=False),
        "t.csv.gz": lambda path: frame.to_csv(path, index=False),
        "t.parquet": frame.to_parquet,
        "t.feather": frame.to_feather,
        "t.xlsx": lambda path: frame.to_excel(path, index=False),
    }.items():
        write(folder / name)
        yield folder / name


def test_every_kind_of_file_is_the_same_table(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"id": [1, 2], "age": [34, 61], "zone": ["01", "NA"], "c": [1, None]})
    for path in kinds(frame, tmp_path):
        found = read_csv(path, SCHEMA)
        assert SCHEMA.encode(found).tolist() == [[1, 0, 0], [2, 2, 2]], path.name
        assert read_header(path)[:2] == (("id", "age", "zone", "c"), 2)
        with path.open("rb") as stream:
            pd.testing.assert_frame_equal(read_csv(stream, SCHEMA), found)


@pytest.mark.parametrize("place", [1, 3, 7])
@pytest.mark.filterwarnings("ignore:empty rows of the sheet")
def test_an_empty_row_of_a_sheet_is_no_record_wherever_it_stands(tmp_path, place):
    """At the end a workbook doesn't keep it, so that n told who had nothing in any cell."""
    openpyxl = pytest.importorskip("openpyxl")
    schema = pds.Schema(tuple(A.categorical(x, ["no", "x"], empty="no") for x in ("flu", "hiv")))
    rows = [["flu", "hiv"], *[["x", None], [None, "x"]] * 3]
    rows.insert(place, [None, None])
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert len(read_csv(tmp_path / "t.xlsx", schema)) == 6
    assert read_header(tmp_path / "t.xlsx", schema).n == 6
    assert read_header(tmp_path / "t.xlsx").n == 6
    lines = "".join(",".join(cell or "" for cell in row) + "\n" for row in rows)
    assert len(read_csv(lines.encode(), schema)) == 7, "a line of a CSV is one"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_a_schema_does_not_name_are_told(tmp_path, kind):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"], "more": [1, 2], "known": [3, 4]})
    path = tmp_path / f"t.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    values = tuple(A.categorical(name, ["x", "y"]) for name in "ab")
    with pytest.warns(UserWarning, match="doesn't name aren't read: more$") as told:
        assert list(read_csv(path, pds.Schema(values, left_out={"known": "a key"}))) == ["a", "b"]
    assert [one.filename for one in told] == [__file__], "the line that read, and none of ours"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_csv(path, pds.Schema(values, left_out={"known": "", "more": ""}))


def test_a_reader_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"a Parquet file needs pyarrow: .*pdsynth\[scale\]"):
        read_csv(b"PAR1....PAR1")


def test_an_old_spreadsheet_is_refused_in_words():
    """No package that reads it belongs to an extra."""
    for read in (read_csv, read_header):
        with pytest.raises(pds.SchemaError, match=r"\.xls.*save it as \.xlsx, or as CSV"):
            read(b"\xd0\xcf\x11\xe0 and the rest of an old workbook")


def test_blanks_signs_and_thousands():
    schema = pds.Schema(
        (
            A.categorical("sex", ["f", "m"]),
            A.numeric("pay", 0, 9999, bins=4),
            A.numeric("share", 0, 100, bins=4, integer=True, missing=True),
        )
    )
    frame = read_csv(b'sex, pay, share\n f ,"$1,234.5", 12 %\n m, 17 ,  \n', schema)
    assert frame["pay"].tolist() == [1234.5, 17] and frame["sex"].tolist() == ["f", "m"]
    assert schema.encode(frame).tolist() == [[0, 0, 0], [1, 0, 4]]
    content = b"sex;pay;share\nf;1.234,5;12\nm;17;\n"
    with pytest.raises(pds.SchemaError, match='3 where semicolons do: write delimiter = ";"'):
        read_csv(content, schema, number="1.234,5")
    german = pds.Schema(schema.attributes, file={"delimiter": ";", "number": "1.234,5"})
    assert read_csv(content, german)["pay"].tolist() == [1234.5, 17]
    doubtful = read_csv(b"sex;pay;share\nf;1,234;12\nm;17;\n", schema, delimiter=";")
    with pytest.raises(pds.SchemaError, match="'pay' is declared numeric"):
        schema.encode(doubtful)


def test_blanks_between_cells_and_lines_above_the_table():
    content = b"Form B\n\nA11  6 \nA12 12\n"
    with pytest.warns(UserWarning, match="blanks"):
        frame = read_csv(content, names=["status", "months"], skip=1)
    assert frame.to_dict("list") == {"status": ["A11", "A12"], "months": [6, 12]}


def test_a_draft_leaves_out_columns_of_the_same_name():
    content = io.StringIO("id,score,score,sex\n1,3,3,f\n2,4,4,m\n3,3,3,m\n")
    text = outline(content)
    assert text.count("? several columns of this name") == 2
    assert "sex" in read_csv(content), "a buffer is read from its start"


def test_columns_there_twice_matter_only_where_they_are_declared():
    content = b"id,id,age,zone,c\n1,1,34,01,1\n"
    assert list(read_csv(content)) == ["id", "id.2", "age", "zone", "c"]
    assert read_csv(content, SCHEMA).shape == (1, 3)
    with pytest.raises(pds.SchemaError, match=r"duplicate column\(s\): \['age'\]"):
        read_csv(b"age,age,zone,c\n1,1,01,1\n", SCHEMA)


@given(
    st.lists(
        st.lists(
            st.text(st.characters(exclude_categories=["C"]), max_size=4), min_size=3, max_size=3
        ),
        min_size=1,
        max_size=8,
    )
)
def test_texts_survive_the_file(rows):
    """Whatever quotes, signs and blanks stand in them: only blanks around a cell go."""
    names = ("a", "b", "c")
    content = pd.DataFrame([names, *rows]).to_csv(index=False, header=False, quoting=1)
    schema = pds.Schema(tuple(A.categorical(name, ["x", "y"]) for name in names))
    frame = read_csv(content.encode(), schema, delimiter=",")
    wanted = [[cell.strip() or None for cell in row] for row in rows]
    assert frame.astype(object).where(frame.notna(), None).to_numpy().tolist() == wanted


@given(
    st.text("ab1,;|\"' \t\n\r.%$?", max_size=60).map(str.encode) | st.binary(max_size=40),
    st.sampled_from([None, True, "names"]),
)
@example(b'a,b\n"1,2\n', None)
@example(b"a,b\r1,2\r", None)
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_table_or_a_clear_sentence(content, how):
    options = {"names": ["x", "y"]} if how == "names" else {"header": how}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            found, frame = read_header(content, **options), read_csv(content, **options)
        except pds.SchemaError:
            return
    assert len(frame) == found.n > 0 and frame.shape[1] == len(found.names)


@pytest.mark.parametrize("name", ["self", "index", "columns", "0", "a b", "größe", "None", "n"])
def test_any_name_can_be_fitted(name):
    content = f"{name},other\n".encode() + b"1,x\n2,y\n" * 20
    schema = pds.Schema((A.categorical(name, [1, 2]), A.categorical("other", ["x", "y"])))
    frame = read_csv(content, schema)
    for synth in (pds.PrivBayes(1.0, k=1), pds.HPPrivBayes(1.0, k=1, sensitive="other")):
        assert list(synth.fit(frame, schema).sample()) == [name, "other"]


def test_chunks_are_the_table(monkeypatch):
    rows = "".join(f"{i % 100},0{1 + i % 2},{1 + i % 2}\n" for i in range(100))
    content = f"age,zone,c\n{rows}".encode()
    whole = read_csv(content, SCHEMA)
    monkeypatch.setattr("pdsynth.files.reading.CELLS", 21)
    parts = list(read_chunks(content, SCHEMA))
    assert [len(part) for part in parts][:2] == [7, 7]
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)
    pd.testing.assert_frame_equal(read_csv(content, SCHEMA), whole)
    late = content + b"x,01,1\n"
    assert read_csv(late)["age"].tolist()[:2] == ["0", "1"], "one late text makes all texts"


def test_records_over_a_schema_are_its_columns_and_texts_stay_texts():
    frame = read_csv(GOOD, SCHEMA)
    assert list(frame) == list(SCHEMA.names)
    assert frame["zone"].tolist() == ["01", "NA"], "a zero in front and the text NA survive"
    assert frame["c"].isna().tolist() == [False, True], "only an empty cell is missing"
    assert SCHEMA.encode(frame).tolist() == [[1, 0, 0], [2, 2, 2]]
    assert read_csv(GOOD)["zone"].tolist() == ["01", "NA"]
    with pytest.raises(pds.SchemaError, match=r"missing column.*zone.*the file has id, age, c"):
        read_csv(b"id,age,c\n1,2,3\n", SCHEMA)


def test_no_cell_turns_the_type_of_a_released_column():
    """One "34.0", or one empty cell where that is declared, must not be seen in a sample."""
    rows = [b"34,01,1\n", b"61,02,\n"] * 20
    files = [
        b"age,zone,c\n" + b"".join(r)
        for r in (rows, [b"34.0,01,1.0\n", *rows[1:]], [b"34,01,2\n"] * 40)
    ]
    kinds = {
        tuple(
            map(
                str, pds.PrivBayes(1.0, k=0).fit(read_csv(f, SCHEMA), schema=SCHEMA).sample().dtypes
            )
        )
        for f in files
    }
    assert len(kinds) == 1
    plain = pd.Series([34.0, 61.0])  # the twin: pandas by itself
    assert (
        SCHEMA["age"].encode(plain).tolist() == [1, 2]
        and plain.dtype != read_csv(files[1], SCHEMA)["age"].dtype
    )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("120,01,1", r"'age'.*1 value.s. outside.*\[0, 99\]"),
        ("34.5,01,1", "whole numbers"),
        ("1e300,01,1", "outside"),
        ("inf,01,1", "1 of its cells are no numbers"),
        ("12 kg,01,1", "'age' is declared numeric.*convert"),
        (",01,1", r"'age'.*missing value.*missing=True"),
        ("34,Paris,1", r"'zone'.*outside its 3 declared values"),
        ("34,01,7", r"'c'.*outside"),
    ],
)
def test_values_outside_the_declaration_are_refused_by_fit(row, words):
    frame = read_csv(f"age,zone,c\n{row}\n34,01,1\n".encode(), SCHEMA)
    with pytest.raises(pds.SchemaError, match=words):
        pds.PrivBayes(1.0).fit(frame, schema=SCHEMA)


def test_a_constant_column_and_an_unseen_value_of_the_domain_are_fine():
    frame = read_csv(b"age,zone,c\n" + b"34,01,1\n" * 50, SCHEMA)
    assert pds.PrivBayes(1.0, k=0).fit(frame, schema=SCHEMA).ledger_.epsilon == 1


# --- declarations

TEXT = """
age: 18 to 90 in 8 bins

bmi: 10.0 to 60.0 + missing
gain: edges 0, 1, 5000, 99999
stage: 1 | 2 | 3
zone: 01 | 02 + missing
time of day: 12:00 | 18:00
id: drop
note: ?
"""
NAMES = ("id", "age", "bmi", "gain", "stage", "zone", "time of day", "note", "unmentioned")


def test_a_declaration_is_the_schema_that_it_says_and_its_file(tmp_path):
    declared = declare(TEXT, NAMES, bins=5)
    assert declared.dropped == ("id",) and declared.open == ("note", "unmentioned")
    wanted = pds.Schema(
        (
            A.numeric("age", 18, 90, bins=8, integer=True),
            A.numeric("bmi", 10, 60, bins=5, missing=True),
            A.binned("gain", [0, 1, 5000, 99999], integer=True),
            A.categorical("stage", [1, 2, 3]),
            A.categorical("zone", ["01", "02"], missing=True),
            A.categorical("time of day", ["12:00", "18:00"]),
        )
    )
    assert declared.schema == wanted
    path = tmp_path / "schema.toml"
    path.write_text(declared.file, encoding="utf-8")
    back = pds.Schema.read(path)
    assert back.attributes == wanted.attributes and back.source == "data", "two are still open"
    assert back.left_out == {"id": "", "note": "?", "unmentioned": "?"}
    path.write_text(declare(TEXT, NAMES, source="data").file, encoding="utf-8")
    assert "public = false" in path.read_text(encoding="utf-8"), "exploring stays marked"


def test_a_line_may_hold_what_a_schema_file_holds(tmp_path):
    text = 'born: {domain = "17 to 90 in 8 bins", date = "age", on = "2020-01-01"}\nsex: f | m'
    declared = declare(text, ("born", "sex"), header=False)
    assert declared.schema["born"].recode.date == "age"
    path = tmp_path / "schema.toml"
    path.write_text(declared.file, encoding="utf-8")
    assert pds.Schema.read(path) == declared.schema and declared.schema.columns == ("born", "sex")
    for line, words in (
        ('{domain = "1 to 5", public = false}', "born: .*delete public = false"),
        ("{domain = }", "born: .*isn't TOML"),
        ("{values = 3}", "born: .*must be lists"),
    ):
        with pytest.raises(pds.SchemaError, match=words):
            declare(f"born: {line}\nsex: f | m", ("born", "sex"))


BAD_LINES = {
    "wage: 1 to 5": "line 1 .*begin with a column.*columns: age, sex",
    "age 1 to 5": "line 1",
    "age: 1 to 5\nage: 1 to 6": "line 2 declares 'age' a second time",
    "age: 90 to 17": r"age: low=90 must be below high=17",
    "age: old to young": "age: 'old' isn't a number: write",
    "age: 1 to 5 in 1 bins": "age: bins must be a whole number from 2 to 65,536, got bins=1",
    "age: 1 to inf": "age: low=1 must be below high=inf, both finite",
    "age: 1 to 99999999 in 99999999 bins": "age: 99,999,999 bins; at most 65,536 are possible",
    "age: edges 0, 5, 3": "age: bin edges must be finite and increasing",
    "age: edges 0, x": "age: 'x' isn't a number",
    "age: edges 5": "age: declares 0 value",
    f"age: 0 to {'9' * 5000}": "age: '999.*9' isn't a number",
    f"age: 0 to 9 in {'9' * 5000} bins": "age: '999.*9' isn't a number",
    f"age: {{values = [{'9' * 5000}]}}": "age: what stands in braces isn't TOML",
    f"age: {'{a = ' + '[' * 5000}": "age: what stands in braces isn't TOML",
    "age: young": "age: 'young' declares no domain: write",
    "age: young | | old": "age: .*declares no domain",
    "age: young | young": "age: declares values twice: young",
    "age: " + " | ".join(f"v{i}" for i in range(70_000)): "age: declares 70,000 values, at most",
    "age: drop\nsex: f | m": "1 column declared, 0 still open; a plan needs at least two",
    "": "0 columns declared, 2 still open",
}


@pytest.mark.parametrize("text", BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_named(text):
    with pytest.raises(pds.SchemaError, match=BAD_LINES[text]):
        declare(text, ("age", "sex"))


def test_the_longest_column_name_wins_and_colons_may_stand_in_names():
    declared = declare("a: 1 | 2\na: b: 3 | 4\n", ("a", "a: b"))
    assert declared.schema.names == ("a", "a: b")


def test_a_proposal_from_names_drops_identifiers_and_reads_nothing():
    names = ("person_id", "Name", "e-mail", "notes", "age", "idea", "identity card")
    text = propose(names)
    assert [line.endswith(": drop") for line in text.splitlines()] == [
        True,
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_a_proposal_has_one_line_a_column_whatever_names_and_values_hold():
    """Heads of sheets often go on below."""
    frame = pd.DataFrame({"Which\ntool?": ["a\nb", "c"] * 50, "x": ["u", "v"] * 50})
    text = propose(tuple(frame), frame)
    assert text.splitlines() == [r'Which tool?: {domain = "a\nb | c"}', "x: u | v"]
    found = declare(text, tuple(frame), source="data").schema
    assert found["Which\ntool?"].values == ("a\nb", "c") and not found.problems(frame)


def test_a_proposal_from_records_reads_back_and_is_what_outline_drafts():
    rng = np.random.default_rng(19)
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 91, 300),
            "sex": rng.choice(["f", "m"], 300),
            "born": rng.choice(["31.12.1980", "01.02.1990"], 300),
            "pay": rng.choice(["1.234,50", "99,90", "10,00"], 300),
            "one": 1,
            "free": [f"patient {i} says" for i in range(300)],
            "zip": rng.choice(["01", "02"], 300),
            "bar": rng.choice(["a|b", "c"], 300),
        }
    )
    frame.loc[3, "sex"] = None
    text = propose(tuple(frame), frame)
    for line in ("one: ? one value only", "free: ? identifier", "sex: f | m + missing"):
        assert line in text
    found = declare(text, tuple(frame), 16, "data").schema
    content = frame.to_csv(index=False, sep=";").encode()
    assert found.attributes == read_schema(outline(content))["attributes"]
    assert {a.recode.date or a.recode.number for a in found.attributes if a.recode} == {
        "year", "1.234,5"}  # fmt: skip


# --- a first draft

ROWS = "".join(
    f"{1000 + i}, {18 + i % 60}, {'fm?'[i % 3]}, {['Bern', 'Wien', f'Ort {i % 40}'][i % 3]}, "
    f'{1 + i % 28:02}.{1 + i % 12:02}.{1930 + i % 70}, "${i * 37:,}", {"yes" * (i % 2)}, '
    f"said {i}, 7\n"
    for i in range(240)
).encode()
COLUMNS = ["person_id", "age", "sex", "city", "born", "income", "smoker", "words", "wave"]


def test_a_draft_says_what_it_saw_and_is_marked_in_every_line(tmp_path):
    path = tmp_path / "schema.toml"
    text = outline(ROWS, path, names=COLUMNS)
    assert text == path.read_text(encoding="utf-8")
    assert "read off the raw records" in text
    schema = pds.Schema.read(path)
    assert schema.source == "data" and schema.columns == tuple(COLUMNS)
    assert set(schema.left_out) == {"person_id", "words", "wave"}
    assert schema.left_out["person_id"] == "identifier or free text", "known by its name alone"
    assert schema.left_out["words"].startswith("? identifier")
    assert schema.left_out["wave"].startswith("? one value")
    assert schema["sex"].recode.na_values == ("?",) and schema["sex"].missing
    assert schema["city"].values[-1] == schema["city"].recode.other == "elsewhere"
    assert schema["born"].edges[0] == 1930 and schema["born"].recode.date == "year"
    assert schema["income"].edges[::16] == (0, 8900), "ends are round"
    assert schema["smoker"].values == ("yes",) and schema["smoker"].missing
    lines = [line for line in text.splitlines() if " = " in line and "columns" not in line]
    lines = [line for line in lines if not line.startswith("#")]
    file, lines = lines[:6], lines[6:]
    assert file == [
        'encoding = "utf-8"', 'delimiter = ","', "header = false", 'number = "1,234.5"', "skip = 0",
        "public = false",
    ]  # fmt: skip
    assert len(lines) == len(COLUMNS)
    assert all("public = false" in x or '"drop' in x or '"?' in x for x in lines)
    frame = read_csv(ROWS, schema)
    assert [p.column for p in schema.problems(frame)] == ["words", "wave"]
    with pytest.raises(pds.PrivacyError, match="inferred"):
        pds.PrivBayes(1.0).fit(frame, schema)
    with pytest.raises(pds.SchemaError, match="may be reviewed already"):
        outline(ROWS, path, names=COLUMNS)


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["C"]), max_size=3),
            st.integers(-5, 5) | st.floats(-1e6, 1e6) | st.none(),
            st.sampled_from(["2020-01-01", "01.02.2003", "?", "", "12 %", "$1,234"]),
        ),
        min_size=1,
        max_size=30,
    )
)
@example(rows=[("now", None, "2020-01-01"), ("today", 1, "2020-01-01")])
@settings(deadline=None)
def test_a_draft_takes_the_file_that_it_was_drawn_from(tmp_path_factory, rows):
    """Whatever stands in the cells: what the draft declares, the records fit."""
    names = ["a", "b", "c"]
    content = pd.DataFrame(rows, columns=names).to_csv(index=False, quoting=1).encode()
    path = tmp_path_factory.mktemp("draft") / "schema.toml"
    outline(content, path, delimiter=",", header=True)
    schema = pds.Schema.read(path)
    if len(schema):
        frame = read_csv(content, schema, delimiter=",", header=True)
        assert all(p.column in schema.left_out for p in schema.problems(frame))


def in_parquet(**columns):
    stream = io.BytesIO()
    pd.DataFrame(columns).to_parquet(stream)
    return stream.getvalue()


TYPED = {  # the draft's line, or why there is none
    "truth": ([True, False, None], "false | true + missing"),
    "days": ([date(1999, 5, 1), date(2003, 1, 9), None], "1999 to 2003 in 5 bins + missing"),
    "moments": (pd.to_datetime(["1999-05-01"] * 2 + ["2003-01-09"]), "1999 to 2003 in 5 bins"),
    "category": (pd.Categorical(["x", None, "y"]), "x | y + missing"),
    "counts": (pd.Categorical([7, None, 9]), "7 | 9 + missing"),
    "prices": ([Decimal("1.50"), Decimal("2.50"), None], "1.5 to 2.5 in 16 bins + missing"),
    "codes": (["01 ", " 01", "07"], "01 | 07"),
    "blanks": (["x", " ", ""], "x + missing"),
    "nothing": ([None, None, None], "? no cell holds anything"),
    "lists": ([[1], [2], []], "? cells of type mixed, which no domain describes"),
    "bytes": ([b"x", b"y", b"z"], "? cells of type bytes"),
    "spans": (pd.to_timedelta(["1D", "2D", "3D"]), "? cells of type timedelta"),
    "too large": ([1e308, -1e308, 0.0], "? numbers too large for a range"),
    "infinite": ([math.inf, 1.0, 2.0], "? numbers too large for a range"),
    "extreme": ([-(2**63), 0, 1], "-9.3e+18 to 1e+17 in 16 bins"),
    "far apart": ([-(2**63), 0, 2**63 - 1], "-1e+19 to 1e+19 in 16 bins"),
    "long ids": ([2**60, 2**60 + 1, 2**60 + 300], "? numbers that differ in their last digits"),
}


@pytest.mark.parametrize("kind", TYPED)
def test_a_typed_column_is_drafted_by_its_type(kind, tmp_path):
    pytest.importorskip("pyarrow")
    cells, line = TYPED[kind]
    content, path = in_parquet(it=cells, other=[1, 2, 3]), tmp_path / "draft.toml"
    assert line in outline(content, path).replace(
        "values = [false, true], missing = true", "false | true + missing"
    )
    draft = pds.Schema.read(path)
    assert all(p.column in draft.left_out for p in draft.problems(read_csv(content, draft)))


def test_a_few_huge_whole_numbers_are_no_range():
    """Three codes of 2^53 and beyond came back as numbers anywhere up to 1.2e18."""
    codes = [2**53 + 1, 2**60, 10**15] * 20
    table = "\n".join(["code;other", *(f"{code};a" for code in codes)]).encode()
    asked = 'code = "? a few whole numbers of 2^53 and beyond, which bins would blur'
    assert asked in outline(table)
    assert asked not in outline(table.replace(b"9007199254740993", b"9007").replace(b"115", b""))
    amounts = "\n".join(["code;other", *(f"{2**53 + i**9};a" for i in range(99))]).encode()
    assert asked not in outline(amounts)
    schema = pds.Schema(
        [A.categorical("code", [*map(str, codes[:3])]), A.categorical("other", ["a", "b"])]
    )
    assert read_csv(table, schema, delimiter=";")["code"].tolist() == [*map(str, codes)]


def test_a_typed_table_is_refused_and_read_like_its_csv():
    pytest.importorskip("pyarrow")
    for content, words in (
        (in_parquet(a=[], b=[]), "the table has no rows"),
        (in_parquet(a=[1, 2]), "one column; at least 2"),
    ):
        for reader in (read_csv, read_header):
            with pytest.raises(pds.SchemaError, match=words):
                reader(content)
    frame = pd.DataFrame({"zone": pd.Categorical([" 01", "NA ", " "]), "c": [1, 2, 3]})
    schema = pds.Schema((A.categorical("zone", ["01", "NA"], missing=True), SCHEMA["c"]))
    typed = read_csv(in_parquet(**frame), schema)
    assert typed["zone"].isna().tolist() == [False, False, True]
    assert typed["zone"].tolist()[:2] == ["01", "NA"]
    stream = io.BytesIO()  # an index is a column, too
    frame.set_index("c").to_parquet(stream)
    assert read_header(stream)[:2] == (("c", "zone"), 3)
    assert read_csv(stream)["c"].tolist() == [1, 2, 3]


def test_listed_numbers_may_be_written_in_any_way():
    """Beside a word for an empty cell, too, where every cell is looked up as a text."""
    content = b"a,b\nx,4.0\ny,-0\nx,+4\ny,NA\n"
    listed = A.categorical("b", [0, 4], na_values=["NA"], missing=True)
    schema = pds.Schema((A.categorical("a", ["x", "y"]), listed))
    assert schema.encode(read_csv(content, schema))[:, 1].tolist() == [1, 0, 1, 2]
    assert 'b = {domain = "0 | 4 + missing", na_values = ["NA"]' in outline(content)


def test_a_word_among_numbers_or_days_is_drafted_as_a_missing_value():
    """One in ten cells at most, and three words; where they're more, they are codes."""

    def drafted(cells):
        text = outline("\n".join(["it;other", *(f"{cell};a" for cell in cells)]).encode())
        return next(line for line in text.splitlines() if line.startswith("it = "))

    ages, days = (
        [*range(20, 65)] * 2,
        [f"{day:02d}.03.{year}" for day in (1, 9) for year in range(1960, 1990)],
    )
    asked = "na_values: do these words mean that nothing is known?"
    assert '"20 to 64 in 16 bins + missing", na_values = ["entf."]' in drafted([*ages, "entf."])
    assert 'na_values = ["?", "NA", "entf."]' in drafted([*ages, "entf.", "NA", "?"])
    assert '"1960 to 1989 in 16 bins + missing"' in (line := drafted([*days, "unbekannt"]))
    assert 'na_values = ["unbekannt"]' in line and asked in line
    assert asked in drafted([*ages, *["entf."] * 10])
    for cells in (
        [*ages, *["entf."] * 11],
        [*ages, "entf.", "nie", "ja", "nein"],
        [*ages, "110 or so"],
        [*ages[:20], "keins"],
        ["a", "b", "c"] * 30,
    ):
        assert "na_values" not in drafted(cells), cells
    assert "? identifier" in drafted([*range(100), "keine"])


def test_a_draft_asks_whom_a_value_names_that_comes_again():
    """Twelve of 300 customers are no list of places: who stands behind records must be said."""

    def drafted(name, cells):
        text = outline("\n".join([f"{name};other", *(f"{cell};a" for cell in cells)]).encode())
        return next(line for line in text.splitlines() if line.startswith(f"{name} = "))

    customers = [f"C{i % 300}" for i in range(900)]
    asked = "release with --records-per-person"
    assert '"? many values, none of them common' in (line := drafted("by", customers))
    assert asked in line
    assert '"drop: identifier' in (line := drafted("person_id", customers)) and asked in line
    coded = [f"C{i % 300:04d}" for i in range(900)]
    assert "prefix = 3" in (line := drafted("customer", coded)) and asked in line
    assert asked not in drafted("person_id", range(900)), "each has one record"
    assert asked not in drafted("order_no", range(3, 6303, 7))
    numbers = [(i % 300) * 29_989 + 1 for i in range(900)]  # of one to seven digits
    assert '"? identifier' in (line := drafted("customer", numbers)) and asked in line
    assert "bins" in drafted("price", numbers)
    assert "list them" in (line := drafted("by", [10**6 + x for x in numbers])) and asked in line
    assert asked in drafted("by", [f"buyer {i % 600}" for i in range(900)]), "two thirds differ"
    assert asked in drafted("customer_no", [(i % 600) * 29_989 + 1 for i in range(900)])
    # the twelve have 219 of 900, a little less than a quarter; with some more they are a list
    towns = ["Bern"] * 190 + [f"Ort {i % 300}" for i in range(710)]
    assert '"? many values' in drafted("town", towns)
    assert 'other = "elsewhere"' in drafted("town", ["Bern"] * 20 + towns)


@pytest.mark.parametrize("top", ["90+", "90 +", ">90", "> 90", ">=90", "≥90"])
def test_where_a_form_stops_counting_is_drafted_as_the_last_number(top, tmp_path):
    cells = [*range(20, 80), top, "k.A."]
    content = "\n".join(["it;other", *(f"{cell};{cell}" for cell in cells)]).encode()
    text = outline(content)
    line = next(line for line in text.splitlines() if line.startswith("it = "))
    assert '"20 to 90 in 16 bins + missing"' in line and f'mapping = {{"{top}" = 90}}' in line
    assert (
        "mapping: is this where the form stops counting?" in line and 'na_values = ["k.A."]' in line
    )
    path = tmp_path / "reviewed.toml"
    path.write_text(
        text.replace(", public = false", "").replace("\npublic = false", ""), encoding="utf-8"
    )
    schema = pds.Schema.read(path)
    codes = schema.encode(read_csv(content, schema))[:, 0]
    assert codes[-2:].tolist() == [15, 16] and codes[0] == 0
    assert "mapping" not in outline(content.replace(top.encode(), b"90"))


@pytest.mark.parametrize(("end", "form"), [("<0.05", "."), ("< 0,05", ","), ("≤0.05", ".")])
def test_a_limit_of_detection_is_drafted_as_a_number(end, form):
    """Half of a laboratory's numbers may be below it; a list of the commonest is no draft."""
    numbers = [f"{1.07**i:.2f}".replace(".", form) for i in range(80)]
    text = outline("\n".join(["it;other", *(f"{x};a" for x in [*numbers, *[end] * 90])]).encode())
    line = next(line for line in text.splitlines() if line.startswith("it = "))
    assert "to 210.0 in 16 bins" in line and f'mapping = {{"{end}" = 0.05}}' in line
    assert "mapping: is this where the form stops counting?" in line


def test_infinite_numbers_wait_for_their_owner():
    assert 'b = "? numbers too large for a range' in outline(b"a,b\nx,1\ny,1e400\nz,3\n")


def test_from_the_messy_file_to_a_release_in_a_few_lines(tmp_path):
    raw = find("survey.csv")
    names = pds.Schema.read(find("survey.toml")).columns
    with pytest.raises(pds.SchemaError, match="looks like a record"):
        outline(raw, tmp_path / "draft.toml")
    outline(raw, tmp_path / "draft.toml", names=names)
    draft = pds.Schema.read(tmp_path / "draft.toml")
    assert draft.source == "data" and draft.columns == names
    schema = pds.Schema.read(find("survey.toml"))  # the draft, reviewed
    frame = read_csv(raw, schema)
    assert not schema.problems(frame) and not draft.problems(read_csv(raw, draft))
    fake = pds.PrivBayes(1.0, k=1).fit(frame, schema).sample()
    assert list(fake) == list(schema.names) and fake.shape == (6000, 8)
    assert fake["country"].dropna().unique().tolist() in (
        ["United-States", "elsewhere"],
        ["elsewhere", "United-States"],
    )
    assert fake["born"].between(17, 90).all(), "an age, not a date"
    assert schema.encode(fake).shape == schema.encode(frame).shape


def test_the_guide_s_ten_lines_run_as_printed(root, tmp_path, monkeypatch):
    text = (root / "GUIDE.md").read_text(encoding="utf-8")
    part = text[text.index("## A file of your own") :]
    start = part.index("```python\n") + 10
    lines = part[start : part.index("\n```\n", start)].splitlines()
    assert len(lines) <= 10
    monkeypatch.chdir(tmp_path)
    made = {}
    exec("\n".join(lines), made)  # our own text
    assert not made["schema"].problems(made["frame"])
    assert len(pd.read_csv(tmp_path / "release" / "synthetic.csv")) == 6000
    assert made["synth"].ledger_.epsilon == 1 and made["synth"].ledger_.check() == []


def test_skewed_numbers_and_codes_are_asked_about(tmp_path):
    """More than half of the records in one bin, or five digits each: the draft asks."""
    rng = np.random.default_rng(0)
    columns = {
        "cost": np.exp(rng.normal(7, 2, 500)).round(2),
        "area": 10_000 + 7 * rng.integers(0, 200, 500),
        "age": rng.integers(0, 100, 500),
        "born": rng.integers(1930, 2010, 500),
        "smoked": np.where(rng.random(500) < 0.1, 98, rng.integers(0, 27, 500)),
        "blood": np.where(rng.random(500) < 0.1, -999, rng.gamma(2, 4, 500).round(1)),
        "change": rng.normal(0, 3, 500).round(1),
        "school": rng.choice(["none", "school", "college"], 500),
    }
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    lines = pds.datasets.outline(tmp_path / "t.csv").splitlines()
    asked = {name: next(x for x in lines if x.startswith(name)) for name in columns}
    assert [name for name, line in asked.items() if "more than half stand" in line] == ["cost"]
    assert [name for name, line in asked.items() if "are these codes" in line] == ["area"]
    assert [name for name, line in asked.items() if "there is no answer" in line] == [
        "smoked",
        "blood",
    ]
    assert "does -999 mean" in asked["blood"] and "does 98 mean" in asked["smoked"]
    assert [name for name, line in asked.items() if "is none an answer" in line] == ["school"]


def test_a_draft_asks_which_is_the_month_where_both_ways_are_possible():
    def drafted(days):
        text = outline("\n".join(["on;other", *(f"{day};a" for day in days)]).encode())
        return next(line for line in text.splitlines() if line.startswith("on = "))

    asked = "the other way round, %m/%d/%Y?"
    both = [f"{i % 12 + 1:02d}/{i % 7 + 1:02d}/{1990 + i % 30}" for i in range(200)]
    assert 'format = "%d/%m/%Y"' in (line := drafted(both)) and asked in line
    assert 'format = "%d/%m/%Y"' in (line := drafted([*both, "31/01/2001"]))
    assert "other way round" not in line
    assert "other way round" not in drafted([*both, "01/31/2001"])
    assert "other way round" not in drafted([day.replace("/", "-") for day in ["2001-01-02"] * 9])


class TestSeveralForms:
    """Days in several forms, or with years of two digits, were "identifier or free text"."""

    @pytest.mark.parametrize(
        ("write", "forms", "asked"),
        [
            (["%Y-%m-%d", "%d.%m.%Y"], '["%Y-%m-%d", "%d.%m.%Y"]', "are these all?"),
            (["%Y-%m-%d", "%d %b %Y"], '["%Y-%m-%d", "%d %b %Y"]', "are these all?"),
            (["%d.%m.%Y", "%d.%m.%y"], '["%d.%m.%Y", "%d.%m.%y"]', "69 is read as 1969"),
            (["%d.%m.%y"], '"%d.%m.%y"', "69 is read as 1969"),
            (["%B %d, %Y"], '"%B %d, %Y"', "years that can occur"),
        ],
    )
    def test_they_are_read_where_each_cell_is_one_day(self, write, forms, asked, tmp_path):
        days = pd.date_range("1990-01-01", periods=300, freq="37D")
        cells = [day.strftime(write[i % len(write)]) for i, day in enumerate(days)]
        pd.DataFrame({"sex": ["f", "m"] * 150, "born": cells}).to_csv(
            tmp_path / "a.csv", index=False
        )
        text = outline(tmp_path / "a.csv", tmp_path / "a.toml")
        line = next(line for line in text.splitlines() if line.startswith("born = "))
        assert f"format = {forms}" in line and asked in line
        schema = pds.Schema.read(tmp_path / "a.toml")
        read = schema.attributes[1].reader.numbers(pd.Series(cells))
        assert read.tolist() == days.year.tolist()
        assert schema.attributes[1].recode.said()["format"] == (write if write[1:] else write[0])

    def test_where_a_cell_may_be_two_days_they_are_said_to_be_days(self):
        days = pd.date_range("1990-01-01", periods=300, freq="37D")
        both = [d.strftime(("%d/%m/%Y", "%m/%d/%Y")[i % 2]) for i, d in enumerate(days)]
        line = explore(pd.DataFrame({"born": both}))["born"]
        assert line.startswith("? days in several forms (%d/%m/%Y, %m/%d/%Y), some of which may")
        codes = [f"{i % 3 + 1}.{i % 6 + 1}.{10 + i % 6}" for i in range(300)]
        assert "date" not in explore(pd.DataFrame({"version": codes}))["version"]

    def test_many_versions_that_all_might_be_days_are_asked_about(self, tmp_path):
        """They were called years, and only the century was asked for."""
        versions = [f"{i % 9 + 1}.{i % 12 + 1}.{10 + i % 20}" for i in range(300)]
        pd.DataFrame({"a": ["x", "y"] * 150, "release": versions}).to_csv(
            tmp_path / "a.csv", index=False
        )
        assert "or are these versions or codes, no days?" in outline(tmp_path / "a.csv")

    def test_a_refused_day_shows_the_forms_as_a_schema_file_writes_them(self):
        """It showed format=('%Y-%m-%d', '%d.%m.%Y'), which no TOML file takes."""
        forms = {"date": "year", "format": ["%Y-%m-%d", "%d.%m.%Y"]}
        born = pds.Attribute.numeric("born", 1990, 2030, integer=True, **forms)
        schema = pds.Schema([born, pds.Attribute.categorical("z", [0, 1])])
        found = schema.problems(pd.DataFrame({"born": ["31/12/2020"], "z": [0]}))
        assert "(format=['%Y-%m-%d', '%d.%m.%Y'] now)" in str(found)


@pytest.mark.parametrize("times", [10, 9])
def test_a_few_decimals_that_come_often_are_drafted_as_a_list(times, tmp_path):
    """School marks in half steps: declared in bins they came out as 3.378."""
    steps = [1, 1.5, 2, 2.5]
    (tmp_path / "a.csv").write_text("mark,sex\n" + "1,f\n1.5,m\n2.0,f\n2.50,m\n" * times)
    text = pds.datasets.outline(tmp_path / "a.csv", tmp_path / "a.toml")
    assert ("values = [1.0, 1.5, 2.0, 2.5]" in text) is (times == 10)
    assert 'domain = "1.0 to 2.5 in 16 bins"' in text, "in a comment, or as the line"
    if times == 10:
        schema = pds.Schema.read(tmp_path / "a.toml").declare_public()
        frame = pds.datasets.read_csv(tmp_path / "a.csv", schema)
        synthetic = pds.baselines.Independent(1).fit(frame, schema).sample()
        assert {*synthetic["mark"]} <= {*steps}


def test_a_few_decimals_with_commas_are_told_how_they_are_listed(tmp_path):
    """A list reads them as the file's line says, and no line of its own can."""
    (tmp_path / "a.csv").write_text(
        "mark;sex\n" + "1,0;f\n1,5;m\n2,0;f\n2,5;m\n2,5;f\n1,0;m\n" * 10
    )
    text = pds.datasets.outline(tmp_path / "a.csv")
    (tmp_path / "b.toml").write_text(
        "[attributes]\nmark = {values = [1.0, 1.5, 2.0, 2.5]}\nsex = 'f | m'\n", encoding="utf-8"
    )
    bare = pds.Schema.read(tmp_path / "b.toml")
    (found,) = bare.problems(pds.datasets.read_csv(tmp_path / "a.csv", bare, delimiter=";"))
    assert found.records == 60 and 'number = "1.234,5" below [file]' in found.remedy
    assert '; or these 4 alone? Then values = [1, …, 2.5], and number = "1.234,5" below [' in text
    line = next(line for line in text.splitlines() if line.startswith("mark"))
    listed = text.replace(line, "mark = {values = [1.0, 1.5, 2.0, 2.5]}")
    listed = listed.replace('number = "1234.5"', 'number = "1.234,5"')
    (tmp_path / "a.toml").write_text(listed, encoding="utf-8")
    schema = pds.Schema.read(tmp_path / "a.toml")
    frame = pds.datasets.read_csv(tmp_path / "a.csv", schema)
    assert not schema.problems(frame) and frame["mark"].tolist()[:4] == [1, 1.5, 2, 2.5]


@pytest.mark.parametrize(
    ("numbers", "domain"),
    [
        ([i / 10 for i in range(12)], "0.0 to 1.1"),  # 1.2 by a division of floats
        ([36.1 + i / 10 for i in range(61)], "36.1 to 42.1"),  # 36.0
        ([0.7 + i / 20 for i in range(29)], "0.7 to 2.1"),  # 0.6
        ([0.123 + i / 1000 for i in range(999)], "0.12 to 1.13"),
        ([i * 1e-13 for i in range(10, 40)], "1e-12 to 3.9e-12"),  # 4e-12 left nothing out, but
        ([i * 1e-14 for i in range(10, 35)], "1e-13 to 3.4e-13"),  # "low=0.0 must be below high"
        ([-float(i) for i in range(25)], "-24 to 0"),
    ],
)
def test_ends_of_an_outline_are_those_that_are_written(numbers, domain):
    rows = [f"{number:.10g},{'xy'[i % 2]}" for i, number in enumerate(numbers * 2)]
    assert f'a = {{domain = "{domain} in 16 bins"' in outline("\n".join(["a,b", *rows]).encode())


def test_numbers_that_no_range_holds_are_said_so():
    rows = [f"{i}e300,{'xy'[i % 2]}" for i in range(1, 60)]
    assert 'a = "? numbers too large' in outline("\n".join(["a,b", *rows]).encode())


@pytest.mark.parametrize("cells", [["€5", "6 €", "$7"], ["5%", "6", "£7"], ["€1,000", "$2"]])
def test_numbers_in_several_currencies_are_no_numbers(cells, tmp_path, monkeypatch):
    """They were one column of numbers without a word, in other pieces of a large file, too."""
    content = "\n".join(["it\tother", *(f"{cell}\ta" for cell in cells)]).encode()
    assert 'it = "? numbers in several units (' in outline(content)
    assert read_csv(content)["it"].tolist() == cells
    monkeypatch.setattr("pdsynth.files.reading.CELLS", 2)
    assert read_csv(content)["it"].tolist() == cells
    pd.DataFrame({"it": cells, "other": "a"}).to_parquet(path := tmp_path / "raw.parquet")
    assert 'it = "? numbers in several units (' in outline(path)
    assert read_csv("it\tother\n€5\ta\n6\tb\n7 €\ta".encode())["it"].tolist() == [5, 6, 7]
