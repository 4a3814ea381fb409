"""How a file writes its numbers: every column reads them so, unless it says how itself."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import pdsynth as pds
from pdsynth.course.declaration import declare
from pdsynth.files import FileFormat
from pdsynth.files.command_line import commands
from pdsynth.files.reading import read_csv
from pdsynth.scale.blocks import code_frames
from pdsynth.scale.sources import find_source, read_frames

A = pds.Attribute
GERMAN = {"delimiter": ";", "number": "1.234,5"}
SEX = 'g = "m | w"'


def schema_of(tmp_path, *lines, number='number = "1.234,5"', delimiter=";"):
    """A schema as a person writes it, of the lines and one column more."""
    path = tmp_path / "schema.toml"
    top = f'[file]\ndelimiter = "{delimiter}"\n{number}\n[attributes]\n'
    path.write_text(top + "\n".join([*lines, SEX]), encoding="utf-8")
    return pds.Schema.read(path)


def table(column, *cells):
    """A file of semicolons with these cells beside another column."""
    return "\n".join([f"{column};g", *(f"{cell};m" for cell in cells)]).encode()


@pytest.mark.parametrize(
    ("options", "cells", "codes"),
    [
        ("", ["1.500", "1.200,5", "250", "999,5"], [3, 2, 0, 1]),
        ('na_values = ["k. A."]', ["1.500", "1.200,5", "250", "k. A."], [3, 2, 0, 4]),
        ("clip = true", ["1.500", "2.500", "-3", ""], [3, 3, 0, 4]),
        ('unit = "kg"', ["1.500 kg", "999,5 kg", "250", ""], [3, 1, 0, 4]),
        ('mapping = {"keine" = 0, "1.500" = 600}', ["1.500", "keine", "1.200", ""], [1, 0, 2, 4]),
        ('number = "1,234.5"', ["1.500", "1,200", "250", ""], [0, 2, 0, 4]),
        ('number = "1.234,5"', ["1.500", "1.200", "250", ""], [3, 2, 0, 4]),
        ('column = "pay"', ["1.500", "1.200", "250", ""], [3, 2, 0, 4]),
        ('column = "pay", between = "/", part = 2', ["9/1.500", "9/1.200", "9", ""], [3, 2, 4, 4]),
    ],
)
def test_a_column_reads_its_numbers_as_its_file_writes_them(tmp_path, options, cells, codes):
    line = f'{{domain = "0.0 to 2000.0 in 4 bins + missing"{", " * bool(options)}{options}}}'
    schema = schema_of(tmp_path, f"Betrag = {line}")
    frame = read_csv(table("pay" if "column" in options else "Betrag", *cells), schema)
    assert schema.encode(frame)[:, 0].tolist() == codes and not schema.problems(frame)
    blocks = np.concatenate([*code_frames(iter([frame.iloc[:2], frame.iloc[2:]]), schema)])
    assert blocks[:, 0].tolist() == codes
    if "column" not in options:
        texts = pd.DataFrame({"Betrag": [cell or None for cell in cells], "g": "m"})
        if options:  # as for a frame that wasn't read by read_csv; plain columns must be numbers
            assert schema.encode(texts)[:, 0].tolist() == codes
            assert schema["Betrag"].encode(texts["Betrag"]).tolist() == codes
        else:
            with pytest.raises(pds.SchemaError, match="say how its numbers are written"):
                schema.encode(texts)


def test_a_file_without_thousands_says_so_to_every_column(tmp_path):
    """Semicolons alone: 1,500 may be one and a half, so that it is no number."""
    line = 'Betrag = {domain = "0.0 to 2000.0 in 4 bins + missing", na_values = ["?"]}'
    schema = schema_of(tmp_path, line, number="")
    frame = read_csv(table("Betrag", "1500", "1,500", "?"), schema)
    (problem,) = schema.problems(frame, examples=1)
    assert problem[:3] == ("Betrag", 1, "not a number") and problem.examples == "'1,500'"
    assert schema.encode(frame.drop(index=1))[:, 0].tolist() == [3, 4]
    commas = schema_of(tmp_path, line, number="", delimiter=",")
    frame = read_csv(b'Betrag,g\n1500,m\n"1,500",m\n?,m\n', commas)
    assert commas.encode(frame)[:, 0].tolist() == [3, 3, 4]


def test_listed_numbers_are_read_as_the_file_writes_them(tmp_path):
    """Without na_values 1.000 was a thousand, and with them it was one."""
    plain = schema_of(tmp_path, 'Stufe = "1 | 1000"')
    recoded = schema_of(tmp_path, 'Stufe = {domain = "1 | 1000 + missing", na_values = ["?"]}')
    for schema in (plain, recoded):
        frame = read_csv(table("Stufe", "1.000", "1", "1,0", "1000"), schema)
        assert schema.encode(frame)[:, 0].tolist() == [1, 0, 0, 1]
    assert recoded.problems(read_csv(table("Stufe", "1.0", "1"), recoded))
    typed = pd.DataFrame({"Stufe": [1.0, 1000.0, None], "g": "m"})
    assert recoded.encode(typed)[:, 0].tolist() == [0, 1, 2]
    exact = pd.Series([Decimal("1.000"), Decimal("1000.0"), None], dtype=object)
    assert recoded.encode(typed.assign(Stufe=exact))[:, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("number", [float, Decimal, np.float64])
def test_cells_that_are_numbers_by_their_type_stay_what_they_are(tmp_path, number):
    """A synthetic table, or one of Parquet, has them: 1.234 is hardly more than one."""
    line = 'Betrag = {domain = "0.0 to 2000.0 in 4 bins + missing", na_values = ["?"]}'
    schema = schema_of(tmp_path, line)
    cells = pd.Series([number("1.234"), number("1500.5"), "1.234"], dtype=object)
    assert schema.encode(pd.DataFrame({"Betrag": cells, "g": "m"}))[:, 0].tolist() == [0, 3, 2]
    fake = schema.decode(np.array([[3, 0], [1, 1], [4, 0]]))
    assert schema.encode(fake).tolist() == [[3, 0], [1, 1], [4, 0]]


@pytest.mark.parametrize("options", [", na_values = ['?']", ""])
def test_texts_of_a_parquet_file_are_read_so_too(tmp_path, options):
    line = f'Betrag = {{domain = "0.0 to 2000.0 in 4 bins + missing"{options}}}'
    schema = schema_of(tmp_path, line)
    frame = pd.DataFrame({"Betrag": ["1.500", "1.200,5", "250", None], "g": "m"})
    frame.to_parquet(tmp_path / "raw.parquet")
    read = read_csv(tmp_path / "raw.parquet", schema)
    assert schema.encode(read)[:, 0].tolist() == [3, 2, 0, 4]
    if options:  # block by block, as a fit of a file that is beyond memory
        rows = find_source(tmp_path / "raw.parquet").dataset
        (codes,) = code_frames(read_frames(rows, schema), schema)
        assert codes[:, 0].tolist() == [3, 2, 0, 4]


def test_what_is_written_back_says_it_once(tmp_path):
    lines = ['Betrag = {domain = "0.0 to 2000.0 in 4 bins + missing", na_values = ["?"]}']
    schema = schema_of(tmp_path, *lines)
    schema.write(tmp_path / "again.toml")
    text = (tmp_path / "again.toml").read_text(encoding="utf-8")
    assert text.count("1.234,5") == 1 and lines[0] in text
    for same in (pds.Schema.read(tmp_path / "again.toml"), pds.Schema.from_dict(schema.to_dict())):
        assert same == schema and "file_number" not in str(same.to_dict())
        assert same.encode(read_csv(table("Betrag", "1.500"), same))[:, 0].tolist() == [3]
    assert schema.select(["Betrag", "g"]) == schema
    cells = pd.DataFrame({"Betrag": ["1.500"], "g": ["m"]})
    english = replace(schema, file=FileFormat(delimiter=";", number="1,234.5"))
    assert english.encode(cells)[:, 0].tolist() == [0]
    assert replace(english, file=schema.file).encode(cells)[:, 0].tolist() == [3]
    assert replace(schema, file=None).encode(cells)[:, 0].tolist() == [0]


def test_another_form_for_one_file_is_refused_where_the_schema_alone_recodes(tmp_path):
    """Else the plain columns would be read in one form, and the others in another."""
    line = 'Betrag = {domain = "0.0 to 2000.0 in 4 bins + missing", na_values = ["?"]}'
    schema = schema_of(tmp_path, line, number='number = "1,234.5"')
    with pytest.raises(pds.SchemaError, match=r'1\.234,5 in Betrag.*write number = "1\.234,5" be'):
        read_csv(table("Betrag", "1.500"), schema, number="1.234,5")
    own = schema_of(tmp_path, line.replace("na_values", 'number = "1.234,5", na_values'))
    for number in ("1.234,5", "1 234,5"):
        frame = read_csv(table("Betrag", "1.500"), own, number=number)
        assert own.encode(frame)[:, 0].tolist() == [3]


def test_lesson_19_declares_for_a_file(tmp_path):
    text = 'Betrag: {domain = "0.0 to 2000.0 in 4 bins + missing", na_values = ["?"]}\ng: m | w'
    made = declare(text, ["Betrag", "g"], file=FileFormat(**GERMAN))
    frame = read_csv(table("Betrag", "1.500", "250", "?"), made.schema)
    assert made.schema.encode(frame)[:, 0].tolist() == [3, 0, 4]
    assert made.file.count("1.234,5") == 1


def test_from_the_command_line_to_the_release(tmp_path):
    """All records are in one bin; the released numbers are in it, and read as they stand there."""
    line = 'Betrag = {domain = "edges 0.0, 1.5, 2000.0", na_values = ["?"], missing = true}'
    schema_of(tmp_path, line)
    raw, out = tmp_path / "raw.csv", tmp_path / "out"
    raw.write_bytes(table("Betrag", *["1.500", "1.200"] * 500))
    words = ["release", str(raw), str(tmp_path / "schema.toml"), "--epsilon", "9", "--out"]
    run = CliRunner().invoke(commands, [*words, str(out)])
    assert run.exit_code == 0, run.output
    fake = read_csv(out / "synthetic.csv", released := pds.Schema.read(out / "schema.toml"))
    assert released.file is None and not released.problems(fake)
    assert (fake["Betrag"] > 1.5).mean() > 0.95
    plain = (out / "schema.toml").read_text(encoding="utf-8")
    assert "1.234,5" not in plain and 'Betrag = "edges 0.0, 1.5, 2000.0 + missing"' in plain
    run = CliRunner().invoke(
        commands, ["report", str(raw), str(out), "--out", str(tmp_path / "report.html")]
    )
    assert run.exit_code == 0, run.output


def amounts(low, high, form="{:.3f}", rows=40):
    """Texts of different amounts from low to high."""
    return [form.format(x) for x in np.linspace(low, high, rows)]


def drafted(columns, path, delimiter=";", **how):
    """The draft of a file of these columns, as lines by name; and what a schema makes of it."""
    frame = pd.DataFrame(columns).assign(g=["m", "w"] * (len([*columns.values()][0]) // 2))
    content = frame.to_csv(index=False, sep=delimiter).encode()
    text = pds.datasets.outline(content, path, **how)
    lines = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    schema = pds.Schema.read(path)
    read = read_csv(content, schema)
    assert not [p for p in schema.problems(read) if p.problem != "undeclared column"]
    return lines, schema, schema.encode(read)


PRICES = [f"1.{at:03d},50" for at in range(40)]


@pytest.mark.parametrize(
    ("delimiter", "cells", "ends", "number"),
    [
        (";", amounts(1.016, 19.728), (1000, 20_000), ""),
        (
            ";",
            [*amounts(1.016, 19.728)[:-3], "19.728", "k. A.", "k. A."],
            (1000, 20_000),
            "1.234,5",
        ),
        (";", [f"{cell} kg" for cell in amounts(1.016, 19.728)], (1000, 20_000), "1.234,5"),
        (",", [cell.replace(".", ",") for cell in amounts(1.016, 19.728)], (1.0, 20.0), ""),
    ],
)
def test_a_column_with_one_reading_tells_the_others_theirs(
    tmp_path, delimiter, cells, ends, number
):
    """1.234,56 beside 4.012: these are four thousand and twelve, in the draft and when read."""
    lines, schema, codes = drafted({"a": PRICES, "b": cells}, tmp_path / "s.toml", delimiter)
    b = schema["b"]
    assert b.edges[0] == ends[0] and b.edges[-1] == ends[1] and schema["a"].edges[-1] == 1040
    assert f'number = "{number}"' in lines["b"] if number else "number" not in lines["b"]
    assert lines["number"] == '"1.234,5"' and "is read as" not in lines["b"]
    assert codes[:, 1][[0, 20]].tolist() == [0, 8]  # 1.016 and 10.612
    alone, _, _ = drafted({"b": cells}, tmp_path / "alone.toml", delimiter)
    dot = cells[0].removesuffix(" kg")
    read, other = (1.016, 1016) if "." in dot else (1016, 1.016)
    assert f'{dot} is read as {read}: is it {other}? Then say number = "1.234,5"' in alone["b"]


@pytest.mark.parametrize(
    ("others", "asked"),
    [
        ({"a": amounts(1.5, 9.5, "{:.2f}")}, False),  # a point before the fraction
        ({"a": [f"1,2{at:02d}.5" for at in range(40)]}, False),
        ({"a": amounts(0.123, 0.999)}, False),  # no thousands begin with 0
        ({"a": amounts(1.5, 9.5, "{:.2f}"), "c": PRICES}, True),  # the one and the other
        ({"a": [1000 + at * at for at in range(40)]}, True),  # whole in both
        ({"a": [f"{1 + at % 28:02d}.03.2026" for at in range(40)]}, True),  # days are no numbers
        ({"a": [f"A{at % 9}.5" for at in range(40)]}, True),
    ],
)
def test_the_draft_asks_where_nothing_tells(tmp_path, others, asked):
    """And says no word where a column tells that points stand before fractions, as ever."""
    columns = {**others, "b": amounts(1.016, 19.728)}
    lines, schema, _ = drafted(columns, tmp_path / "s.toml")
    assert schema["b"].edges[-1] == 20 and lines["number"] == '"1234.5"'
    assert ("1.016 is read as 1.016: is it 1016?" in lines["b"]) == asked


def test_the_owner_s_word_goes_before_what_the_columns_tell(tmp_path):
    lines, schema, _ = drafted({"b": amounts(1.016, 19.728)}, tmp_path / "s.toml", number="1.234,5")
    assert schema["b"].edges[-1] == 20_000 and "is read as" not in lines["b"]
    raw = pd.DataFrame({"b": amounts(1.016, 19.728), "a": PRICES})
    raw.to_parquet(tmp_path / "raw.parquet")  # says nothing of a form: so its columns do
    pds.datasets.outline(tmp_path / "raw.parquet", tmp_path / "parquet.toml")
    schema = pds.Schema.read(tmp_path / "parquet.toml")
    read = read_csv(tmp_path / "raw.parquet", schema)
    assert schema["b"].edges[-1] == 20_000 and not schema.problems(read)


@pytest.mark.parametrize("options", ["", ', na_values = ["?"]'])
def test_a_spreadsheet_s_own_numbers_stay_what_they_are(tmp_path, options):
    """Beside texts as the file says: 1.234 by its type is a little more than one."""
    pytest.importorskip("openpyxl")
    line = f'Betrag = {{domain = "0.0 to 2000.0 in 4 bins + missing"{options}}}'
    schema = schema_of(tmp_path, line, delimiter=",")
    cells = [1.234, 1500.5, 1200, "1.234", "999,5", None]
    pd.DataFrame({"Betrag": cells, "g": "m"}).to_excel(tmp_path / "raw.xlsx", index=False)
    frame = read_csv(tmp_path / "raw.xlsx", schema)
    assert schema.encode(frame)[:, 0].tolist() == [0, 3, 2, 2, 1, 4]
