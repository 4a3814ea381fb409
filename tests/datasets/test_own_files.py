"""A file of your own: its outline, its records over a schema, and declarations; every bad input is
a SchemaError that says what to do."""

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.datasets import outline, read_csv
from pdsynth.datasets.declaration import LISTED, declare, propose

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
    "one column": (b"a\n1\n", "one column, 'a'; at least 2"),
    "semicolons": (b"a;b\n1;2\n", r"semicolon.*delimiter=';'"),
    "tabs": (b"a\tb\n1\t2\n", r"a tab.*delimiter='\\t'"),
    "cp1252": (
        "name,größe\n1,2\n".encode("cp1252"),
        r"isn't in UTF-8 \(byte 7 is 0xf6\).*save it as CSV",
    ),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "isn't in UTF-8"),
    "utf-16 without mark": ("a,b\n1,2\n".encode("utf-16-le"), "zero bytes"),
    "spreadsheet": (b"PK\x03\x04...", "spreadsheet"),
    "double names": (b"a,a\n1,2\n", r"duplicate column.*'a'"),
    "no name": (b"a,\n1,2\n", "column 2 has no name"),
    "short row": (b"a,b\n1,2\n3\n", "line 3 has 1 cells, the first line 2"),
    "long row": (b"a,b\n1,2,3\n", "line 2 has 3 cells"),
    "huge cell": (b"a,b\n" + b"x" * 200_000 + b",1\n", "line 2 isn't CSV"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_a_bad_file_is_refused_kindly_by_both_readers(what):
    content, words = BAD_FILES[what]
    for reader in (outline, read_csv):
        with pytest.raises(pds.SchemaError, match=words):
            reader(content)


def test_an_outline_has_names_and_n_and_no_value(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n") + b"\r\n")
    assert outline(path) == (("id", "age", "zone", "c"), 2) == outline(str(path))
    shuffled = b"id,age,zone,c\nx,y,z,w\n,,,\n"
    assert outline(shuffled) == outline(path), "what stands in the cells changes nothing"
    assert outline(b'a;b\n"x;\ny";2\n', ";") == (("a", "b"), 1)


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
    """One "34.0", or one empty cell where that is declared, must not be seen in a synthetic table.
    """
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
        ("120,01,1", r"'age'.*outside.*\[0, 99\].*120"),
        ("34.5,01,1", "whole numbers"),
        ("1e300,01,1", "outside"),
        ("inf,01,1", "outside"),
        ("12 kg,01,1", "'age' is declared numeric.*convert"),
        (",01,1", r"'age'.*missing value.*missing=True"),
        ("34,Paris,1", r"'zone'.*outside its 3 declared values.*Paris"),
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


def test_a_declaration_is_the_schema_that_it_says_and_its_python():
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
    made = {}
    exec(declared.code, {"pds": pds}, made)  # our own text: what the student copies
    assert made["schema"] == wanted
    exec(declare(TEXT, NAMES, source="data").code, {"pds": pds}, made)
    assert made["schema"].source == "data", "exploring stays marked when it is copied"


BAD_LINES = {
    "wage: 1 to 5": "line 1 .*begin with a column.*columns: age, sex",
    "age 1 to 5": "line 1",
    "age: 1 to 5\nage: 1 to 6": "line 2 declares 'age' a second time",
    "age: 90 to 17": r"age: low=90 must be below high=17",
    "age: old to young": "age: 'old' isn't a number: write",
    "age: 1 to 5 in 1 bins": "age: bins=1; at least 2",
    "age: 1 to inf": "age: low=1 must be below high=inf, both finite",
    "age: 1 to 99999999 in 99999999 bins": "age: 99,999,999 bins; at most 65,536 are possible",
    "age: edges 0, 5, 3": "age: bin edges must be finite and increasing",
    "age: edges 0, x": "age: 'x' isn't a number",
    "age: edges 5": "age: declares 0 value",
    "age: young": "age: 'young' declares no domain: write",
    "age: young | | old": "age: .*declares no domain",
    "age: young | young": "age: declares values twice: young",
    "age: " + " | ".join(f"v{i}" for i in range(70_000)): "age: declares 70,000 values, at most",
    "age: drop\nsex: f | m": "1 column.s. declared, 0 still open; a plan needs at least two",
    "": r"0 column.s. declared, 2 still open",
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


def test_a_proposal_from_records_reads_back_and_is_what_infer_says():
    rng = np.random.default_rng(19)
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 91, 300),
            "sex": rng.choice(["f", "m"], 300),
            "bmi": rng.normal(25, 3, 300),
            "one": 1,
            "free": [f"patient {i} says" for i in range(300)],
            "zip": rng.choice(["01", "02"], 300),
            "bar": rng.choice(["a|b", "c"], 300),
        }
    )
    frame.loc[3, "sex"] = None
    text = propose(tuple(frame), frame)
    assert (
        "one: ?" in text
        and "free: drop" in text
        and "bar: ?" in text
        and "sex: f | m + missing" in text
    )
    kept = ["age", "sex", "bmi", "zip"]
    assert (
        declare(text, tuple(frame), 16).schema.attributes
        == pds.Schema.infer(frame[kept]).attributes
    )
    many = pd.DataFrame({"x": [str(i) for i in range(LISTED + 1)], "y": "a"})
    assert propose(("x", "y"), many) == "x: drop\ny: ?"
