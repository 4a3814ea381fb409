"""Columns that hold several things, or have another name: taken out cell by cell, drafted, told."""

import itertools
import tomllib

import numpy as np
import pandas as pd
import pytest
from core.test_properties import few
from hypothesis import given
from hypothesis import strategies as st
from test_row_properties import CELLS, DTYPES, column_of

import pdsynth as pds
from pdsynth.files.outlining import outline
from pdsynth.files.reading import read_csv, read_header
from pdsynth.files.schemas import meanings
from pdsynth.files.taking import take_cells

A = pds.Attribute
TICKED = {"column": "tools", "between": ","}
PRESSURE = {"column": "pressure", "between": "/", "integer": True}


def ticked(name, tool, **more):
    return A.categorical(name, [False, True], holds=tool, **TICKED, **more)


SCHEMA = pds.Schema(
    (
        ticked("R", "R", empty=False),
        ticked("R, Studio", "R, Studio", empty=False),
        A.numeric("upper", 60, 239, bins=18, part=1, missing=True, na_values=["-"], **PRESSURE),
        A.numeric("lower", 40, 139, bins=10, part=2, missing=True, na_values=["-"], **PRESSURE),
        A.categorical("sure", ["no", "yes"], column="Do you feel sure?"),
        A.categorical("group", ["a", "b"]),
    )
)
RAW = pd.DataFrame(
    {
        "tools": ["R", "SPSS,R , Studio", None, "r", "R,Studio,R", "Rust"],
        "pressure": ["122/65", " 99 / 61", "-", None, "120", "-/70"],
        "Do you feel sure?": ["yes", "no", "no", "yes", "no", "yes"],
        "group": [*"abbaab"],
    }
)
CODES = [
    [1, 0, 6, 2, 1, 0],
    [1, 1, 3, 2, 0, 1],
    [0, 0, 18, 10, 0, 1],
    [0, 0, 18, 10, 1, 0],
    [1, 1, 6, 10, 0, 0],
    [0, 0, 18, 3, 1, 1],
]


def test_answers_parts_and_other_names_by_hand(tmp_path):
    """From a frame, from a text file, from Parquet: the same codes."""
    assert SCHEMA.encode(RAW).tolist() == CODES
    assert SCHEMA.encode(RAW.iloc[::-1, ::-1]).tolist() == CODES[::-1]
    csv, parquet = tmp_path / "raw.csv", tmp_path / "raw.parquet"
    RAW.to_csv(csv, index=False)
    RAW.to_parquet(parquet)
    for file in (csv, parquet):
        read = read_csv(file, SCHEMA)
        assert tuple(read.columns) == SCHEMA.names
        assert SCHEMA.encode(read).tolist() == CODES
        assert read_header(file, SCHEMA).names == tuple(RAW.columns)


def test_a_synthetic_table_is_read_by_its_own_names(tmp_path):
    """Even beside the raw columns, and one that a raw one is called like."""
    fake = SCHEMA.decode(np.array(CODES))
    assert SCHEMA.encode(fake).tolist() == CODES
    file = tmp_path / "fake.csv"
    fake.to_csv(file, index=False)
    assert SCHEMA.encode(read_csv(file, SCHEMA)).tolist() == CODES
    both = pds.Schema(
        (A.categorical("tools", ["R", "r", "Rust"], other="r"), *SCHEMA.attributes[:2])
    )
    raw = RAW.fillna({"tools": "r"})
    assert both.encode(raw[["tools"]])[:, 1:].tolist() == [row[:2] for row in CODES]
    assert both.encode(raw[["tools"]])[:, 0].tolist() == [0, 1, 1, 1, 1, 2]
    plain = pds.Schema(
        (A.categorical("tools", ["R", "r"]), A.categorical("r", [*"Rr"], column="tools"))
    )
    assert plain.encode(pd.DataFrame({"tools": ["r", "R"]})).tolist() == [[1, 1], [0, 0]]
    other = np.array([[2, 1, 0], [0, 0, 1]])
    assert both.encode(both.decode(other)).tolist() == other.tolist(), "own names come first"


@pytest.mark.parametrize("kind", ["parquet", "arrow", "dask"])
def test_a_table_in_blocks_is_coded_alike(kind, tmp_path):
    pytest.importorskip("pyarrow")
    many = pd.concat([RAW] * 40, ignore_index=True)
    if kind == "dask":
        source = pytest.importorskip("dask.dataframe").from_pandas(many, npartitions=3)
    elif kind == "arrow":
        import pyarrow

        source = pyarrow.Table.from_pandas(many)
    else:
        source = tmp_path / "raw.parquet"
        many.to_parquet(source, row_group_size=50)
    how = {"k": 1, "random_state": 1}
    by_blocks = pds.PrivBayes(1.0, **how).fit(source, SCHEMA)
    assert (
        by_blocks.model_.to_dict() == pds.PrivBayes(1.0, **how).fit(many, SCHEMA).model_.to_dict()
    )


def test_people_may_have_levels_by_a_column_of_another_name():
    many = pd.concat([RAW] * 40, ignore_index=True)
    rule = {"sure": {"no": 0.5, "yes": 1.0}}
    synth = pds.ConsistentBayes(1.0, relation="add_remove", random_state=1)
    by_rule = synth.fit(many, SCHEMA, person_epsilon=rule).model_.to_dict()
    own = SCHEMA.decode(SCHEMA.encode(many).astype(int))
    assert by_rule == synth.fit(own, SCHEMA, person_epsilon=rule).model_.to_dict()


@few
@given(
    st.sampled_from([{"part": 1}, {"part": 2}, {"holds": "1"}, {"holds": "a"}]),
    st.sampled_from([",", "-", ":", "."]),
    st.lists(st.sampled_from([*CELLS, "1,a", "a-1-a", "1:2"]), min_size=1, max_size=8),
    st.sampled_from(DTYPES),
)
def test_a_cell_is_taken_apart_as_it_is_alone(what, sign, cells, dtype):
    values = ["True", "False"] if "holds" in what else ["1", "a"]
    attribute = A.categorical("x", values, other=values[0], column="y", between=sign, **what)
    column = column_of(cells, dtype)
    if column is None:
        return
    together = take_cells(attribute, column)
    alone = [take_cells(attribute, column.iloc[[row]]).iloc[0] for row in range(len(column))]
    assert together.index.equals(column.index) and together.name == "x"
    assert [repr(cell) for cell in together] == [repr(cell) for cell in alone]


def test_twin_answers_told_apart_by_the_first_cell_change_other_rows():
    def spoiled(cells):
        sign = ";" if ";" in cells[0] else ","
        return ["R" in cell.split(sign) for cell in cells]

    assert spoiled(["R;S", "R,S"])[1] != spoiled(["R,S", "R,S"])[1]


def test_what_is_missing_or_there_twice_is_named_as_in_the_raw_table():
    with pytest.raises(pds.SchemaError, match=r"missing column\(s\): \['Do you feel sure\?'\]"):
        SCHEMA.encode(RAW.rename(columns={"Do you feel sure?": "sure?"}))
    with pytest.raises(pds.SchemaError, match=r"undeclared column\(s\): \['more'\]"):
        SCHEMA.encode(RAW.assign(more=1))
    twice = pd.concat([RAW, RAW[["tools"]]], axis=1)
    with pytest.raises(pds.SchemaError, match=r"duplicate column\(s\): \['tools'\]"):
        SCHEMA.encode(twice)
    with pytest.raises(pds.SchemaError, match="missing column"):
        read_csv(RAW.drop(columns="tools").to_csv(index=False).encode(), SCHEMA)
    assert not SCHEMA.problems(RAW)
    bad = SCHEMA.problems(RAW.assign(pressure="122/300").drop(columns="tools"))
    assert [p.column for p in bad] == ["R", "R, Studio", "lower"]
    columns = ("tools", "pressure", "Do you feel sure?", "group")
    assert pds.Schema(SCHEMA.attributes, columns=columns).columns == columns
    with pytest.raises(pds.SchemaError, match=r"don't name the attribute\(s\) \['pressure', 'pr"):
        pds.Schema(SCHEMA.attributes, columns=("tools", "sure", "group"))


def test_an_empty_cell_may_stand_for_a_value():
    checked = A.categorical("smoker", ["no", "yes"], mapping={"x": "yes"}, empty="no")
    assert checked.encode(pd.Series(["x", None, "no", np.nan])).tolist() == [1, 0, 0, 0]
    times = A.numeric("times", 0, 9, bins=5, integer=True, empty=0)
    assert times.encode(pd.Series([None, 3.0, np.nan])).tolist() == [0, 1, 0]
    none = A.numeric("times", 0, 9, bins=5, integer=True)
    with pytest.raises(pds.SchemaError, match=r"what an empty cell is \(empty=\)"):
        none.encode(pd.Series([None, 3.0]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"holds": "R"}, "need the sign between"),
        ({"part": 1}, "need the sign between"),
        ({"column": "y", "between": ";"}, "needs what to take"),
        ({"column": "y", "between": ";", "holds": "R", "part": 1}, "needs what to take"),
        ({"between": ";", "holds": "R"}, "a name of its own, and column="),
        ({"column": "x", "between": ";", "holds": "R"}, "a name of its own, and column="),
        ({"column": "y", "between": ";", "holds": "R"}, "declare `False | True`"),
        ({"column": "y", "between": ";", "part": -1}, "part must be a place from 1"),
        ({"column": 3}, "column, between, holds, date, format, on and number must be texts"),
        ({"empty": "c"}, "empty='c' isn't a declared value"),
        ({"empty": ["a"]}, "must be declared values or numbers"),
        ({"empty": "a", "missing": True}, "so missing must be False"),
    ],
)
def test_what_can_not_be_taken_is_refused(options, words):
    with pytest.raises(pds.SchemaError, match=words):
        A.categorical("x", ["a", "b"], **options)
    with pytest.raises(pds.SchemaError, match="isn't a declared value, or a number"):
        A.numeric("x", 0, 9, empty="none")


def test_a_schema_keeps_it_in_its_file_and_says_what_released_rows_hold(tmp_path):
    SCHEMA.write(tmp_path / "s.toml")
    assert pds.Schema.read(tmp_path / "s.toml") == SCHEMA
    assert pds.Schema.from_dict(SCHEMA.to_dict()) == SCHEMA
    assert meanings(SCHEMA) == {
        "R": "whether 'R' is in 'tools'",
        "R, Studio": "whether 'R, Studio' is in 'tools'",
        "upper": "part 1 of 'pressure'",
        "lower": "part 2 of 'pressure'",
        "sure": "'Do you feel sure?'",
    }
    weight = A.numeric("kg", 0, 200, column="size", between="/", part=2, unit="kg")
    assert weight.recode.meaning() == "part 2 of 'size', in 'kg'"


# --- drafts ---------------------------------------------------------------------------------------


def drafted(cells, name="x"):
    """The draft of one column beside a plain one, as TOML, and as a schema that is confirmed."""
    frame = pd.DataFrame({name: cells, "y": ["a", "b"] * (len(cells) // 2)})
    text = outline(frame.to_csv(index=False).encode())
    lines = tomllib.loads(text)["attributes"]
    return {k: v for k, v in lines.items() if k != "y"}, frame, text


def test_answers_are_drafted_one_by_one():
    sets = [c for m in (1, 2, 3) for c in itertools.combinations(["Excel", "R", "SPSS"], m)]
    cells = [", ".join(some) for some in sets * 12]
    lines, frame, text = drafted([*cells, "R, my own", "Excel, abacus"])
    assert list(lines) == ["x: Excel", "x: R", "x: SPSS"], "rare answers in words are left out"
    assert lines["x: R"] == {
        "values": [False, True], "column": "x", "between": ",", "holds": "R", "public": False,
    }  # fmt: skip
    assert "one line for each answer of the form: are all here? Names are free\n" in text
    confirmed = pds.Schema(
        tuple(
            ticked_of(name, {k: v for k, v in line.items() if k not in ("values", "public")})
            for name, line in lines.items()
        )
    )
    codes = confirmed.encode(frame.drop(columns="y"))
    assert codes[:7].tolist() == [[int(t in s) for t in ("Excel", "R", "SPSS")] for s in sets]
    lines, _, text = drafted([*cells, None, None])
    assert lines["x: R"]["empty"] is False and "an empty cell is none of them" in text
    for word in ("n/a", "k. A.", "Keine Angabe", "N.D."):
        lines, _, _ = drafted([*cells, word, None])
        assert lines["x: R"]["missing"] is True and lines["x: R"]["na_values"] == [word]
    for word in ("nothing", "none"):
        lines, _, text = drafted([c if c != "R" else word for c in cells * 9])
        assert list(lines)[2:] == ["x: SPSS", f"x: {word}"] and "missing" not in text
        rules = tomllib.loads(text)["rules"]
        assert {"impossible": {"x: Excel": True, f"x: {word}": True}, "public": False} in rules


def ticked_of(name, options):
    return A.categorical(name, [False, True], **options)


@pytest.mark.parametrize(
    "values",
    [
        ["Married, spouse present", "Married, spouse absent", "Widowed"],
        [f"{a}, {b}" for a in ("Bachelor", "Master", "Doctor") for b in ("full", "half", "part")],
        ["Yes", "No", "Yes, sometimes", "No, never"],
        ["R,R", "R", "S", "R,S", "S,R"],
        ["Springfield, IL", "Boston, MA", "Portland"],
        [f"a sentence, that {i} wrote" for i in range(30)],
    ],
)
def test_labels_with_commas_are_no_answers(values):
    lines, _, _ = drafted(values * 20)
    assert list(lines) == ["x"], lines


def test_numbers_that_stand_together_are_drafted_apart():
    lines, _, text = drafted([f"{100 + i % 58}/{60 + i % 30}" for i in range(60)])
    assert lines["x: 1"]["domain"] == "100 to 157 in 16 bins" and lines["x: 1"]["part"] == 1
    assert lines["x: 2"]["domain"] == "60 to 89 in 16 bins" and lines["x: 2"]["between"] == "/"
    assert "sets; names are free" in text and text.count("names are free") == 1
    screens = drafted([f"{800 + i % 50} x {600 + i % 50}" for i in range(60)])[0]
    assert [screens[n]["between"] for n in ("x: 1", "x: 2")] == ["x", "x"]
    sizes = drafted([f"{i % 50},5 cm x {i % 40},5 cm" for i in range(60)])[0]
    assert sizes["x: 2"]["unit"] == "cm" and sizes["x: 2"]["number"] == "1.234,5"
    gaps = drafted([*(f"{100 + i % 50}/{60 + i % 50}" for i in range(58)), "n/a", None])[0]
    assert gaps["x: 1"]["domain"].endswith("+ missing") and gaps["x: 1"]["na_values"] == ["n/a"]
    assert list(drafted([f"{i}/{i}" if i % 2 else str(i) for i in range(60)])[0]) == ["x"]
    assert "part" not in str(drafted([f"0{1 + i % 9}/{10 + i % 15}/2026" for i in range(60)])[0])
    assert list(drafted([f"{i}/b" for i in range(60)])[0]) == ["x"]


@pytest.mark.parametrize("cells", [[["R"], ["R", "S"]], [{"R"}, {"S"}], [{"R": 1}, {}]], ids=str)
def test_cells_that_are_lists_already_are_refused_in_a_sentence(cells):
    ticked = A.categorical("R", [False, True], column="tools", between=",", holds="R")
    schema = pds.Schema((ticked, A.categorical("y", ["a", "b"])))
    frame = pd.DataFrame({"tools": cells, "y": ["a", "b"]})
    with pytest.raises(pds.SchemaError, match="column 'tools' holds more than plain values"):
        schema.encode(frame)
