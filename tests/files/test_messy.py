"""A messy file of 30 columns, made by ``tests/messy.py``, from its outline to its release."""

import pandas as pd
import pytest
from click.testing import CliRunner
from messy import DRAFTED, NAMES, messy, review

import pdsynth as pds
from pdsynth.files.cells import read_number
from pdsynth.files.command_line import commands
from pdsynth.files.outlining import outline

A = pds.Attribute


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_a_messy_file_of_30_columns_goes_from_its_outline_to_a_release(encoding, tmp_path):
    """With no refusal of form: thousands cut by three kinds of blanks, two forms of dates, words
    for nothing, identifiers, given names; the owner confirms every line and leaves out the rest."""
    raw, draft = tmp_path / "messy.csv", tmp_path / "schema.toml"
    raw.write_bytes(messy(encoding=encoding))
    lines = outline(raw).splitlines()
    told = {line.split(" = ")[0]: line for line in lines if " = " in line}
    assert {name: words for name, words in DRAFTED.items() if words not in told[name]} == {}
    assert f'encoding = "{encoding}"' in lines
    draft.write_text(review("\n".join(lines)), encoding="utf-8")
    schema = pds.Schema.read(draft)
    assert schema.source == "public" and len(schema) + len(schema.left_out) == len(NAMES) == 30
    run = CliRunner().invoke(
        commands, ["release", str(raw), str(draft), "--epsilon", "1", "--out", str(tmp_path / "r")]
    )
    assert run.exit_code == 0, run.output
    fake = pd.read_csv(tmp_path / "r" / "synthetic.csv")
    assert fake.shape == (2000, len(schema))
    for name in ("income", "rent", "price"):  # rounded to the resolution of their bins
        steps = 10 if fake[name].max() < 7000 else 1
        assert ((fake[name] * steps) % 1).abs().max() < 1e-6, name


def test_decimals_in_a_range_of_whole_numbers_are_named():
    schema = pds.Schema((A.numeric("hours", 10, 60, integer=True), A.categorical("x", ["a", "b"])))
    frame = pd.DataFrame({"x": ["a", "b", "a"]})
    number = schema.problems(frame.assign(hours=[10.5, 20, 61])).table
    assert number["problem"].tolist() == ["has decimals, and 10 to 60 means whole numbers"]
    assert number["remedy"].tolist() == ["write 10.0 to 60.0"]
    hours = pds.Schema(
        (A.numeric("h", 0, 60, bins=6, integer=True), A.categorical("s", ["F", "M"]))
    )
    with pytest.raises(pds.SchemaError, match="of .0, 60.; widen the declared domain"):
        hours.encode(pd.DataFrame({"h": [1, 2, 999], "s": list("FMF")}))
    with pytest.raises(pds.SchemaError, match="it has decimals: declare 10.0 to 60.0"):
        schema["hours"].encode(pd.Series([10.5, 20.0]))
    beyond = schema.problems(frame.assign(hours=[10, 20, 61])).table
    assert beyond["problem"].tolist() == ["outside 10 to 60"]


def test_decimals_are_named_in_the_form_in_which_they_are_written():
    pay = A.numeric("pay", 0, 9000, integer=True, number="1.234,5")
    schema = pds.Schema((pay, A.categorical("x", ["a", "b"])))
    frame = pd.DataFrame({"pay": ["4.764,35", "12"], "x": ["a", "b"]})
    assert schema.problems(frame).table["remedy"].tolist() == ["write 0.0 to 9000.0"]
    soon = schema.problems(frame.assign(pay=["soon", "12"])).table
    assert soon["problem"].tolist() == ["not a number"]


@pytest.mark.parametrize(
    ("cells", "drafted"),
    [
        (["2024-03-01", "2025-12-31"], '"2024 to 2025 in 2 bins", date = "year", format'),
        (["01.03.2024", "31.12.2024"], '"1 to 12 in 12 bins", date = "month", format'),
        (["1.3.2024 8:00", "31.12.2023 23:59"], 'date = "year", format = "%d.%m.%Y %H:%M"'),
        (["08:00", "23:59:59"], '"0.0 to 24.0 in 24 bins", date = "hour"'),
        (["08:00 am", "11:59 PM"], 'date = "hour", format = "%I:%M %p"'),
        (["1/31/2025 8:00:01 AM", "12/1/2024 11:59:00 PM"], 'format = "%m/%d/%Y %I:%M:%S %p"'),
        (["08:00", "24:01"], '"08:00 | 24:01"'),
    ],
)
def test_days_and_times_of_day_are_drafted(cells, drafted):
    lines = "".join(f"{cell},{i % 3}\n" for i, cell in enumerate(cells * 30))
    draft = pds.datasets.outline(f"seen,kind\n{lines}".encode())
    assert drafted in draft.split("[attributes]")[1].splitlines()[1]


def test_days_that_are_written_as_numbers_are_asked_about():
    days = [f"{year}{month:02}15" for year in range(1990, 2003) for month in (3, 6, 12)]
    content = "".join(f"{line}\n" for line in ("seen,kind", *(f"{day},{day[5]}" for day in days)))
    asked = 'are these days, as 20261231? Then write the years, and date = "year"'
    assert asked in pds.datasets.outline(content.encode())
    assert "are these codes" in pds.datasets.outline(f"{content}19991315,2\n".encode()), "no day"
    seen = A.numeric("seen", 1990, 2002, date="year", integer=True)
    schema = pds.Schema((seen, A.categorical("kind", [2, 3, 6])))
    frame = pds.datasets.read_csv(content.encode(), schema)
    for kind in (str, int, float):  # as a text file, and as Parquet may hold them
        column = frame["seen"].astype(kind)
        assert sorted({*seen.reader.numbers(column)}) == [*range(1990, 2003)], "as it says"


def first_line(cells):
    """What outline drafts for a column that holds these cells, thirty times."""
    lines = "".join(f"{cell};{i % 3}\n" for i, cell in enumerate(list(cells) * 30))
    draft = pds.datasets.outline(f"seen;kind\n{lines}".encode(), delimiter=";")
    return draft.split("[attributes]")[1].splitlines()[1]


@pytest.mark.parametrize(
    ("form", "drafted"),
    [
        ("{} kg", '"10 to 39 in 16 bins", number = "1,234.5", unit = "kg"'),
        ("1,{} m", '"1.1 to 1.39 in 16 bins", number = "1.234,5", unit = "m"'),
        ("CHF {},50", 'number = "1.234,5", unit = "CHF"'),
        ("-{}°", '"-39 to -10 in 16 bins", number = "1,234.5", unit = "°"'),
        ("{} ft 5 in", 'other = "elsewhere"'),
        ("Room {}", 'other = "elsewhere"'),
        ("{}–99 years", 'other = "elsewhere"'),
        ("0{} t", 'other = "elsewhere"'),
    ],
)
def test_numbers_with_a_unit_are_drafted_as_numbers(form, drafted):
    line = first_line(form.format(i) for i in range(10, 40))
    assert drafted in line
    assert ("released rows have no unit" in line) == ("unit" in drafted)


def test_a_unit_may_have_an_ending_and_two_units_are_none():
    days = [f"{i} day{'s' * (i != 1)}" for i in range(30)]
    assert '"0 to 29 in 16 bins", number = "1,234.5", unit = ["day", "days"]' in first_line(days)
    assert "unit" not in first_line(f"{i} {'kg' if i % 2 else 'lb'}" for i in range(30))
    assert "unit" not in first_line(f"{i} {'m' if i % 2 else 'min'}" for i in range(30))


@pytest.mark.parametrize(
    ("form", "asked"),
    [("{0} h {0} min", False), ("{0}h{0}m", False), ("{0} days, 2 hours", False), ("{0}:59", True)],
)
def test_times_that_something_took_are_drafted_as_minutes(form, asked):
    line = first_line(form.format(i) for i in range(10, 40))
    assert 'number = "h:min"' in line and "minutes; released rows have no unit" in line
    assert ('number = "min:s"' in line) == asked
    read = read_number(form.format(10), "h:min")
    assert read == {"{0}h{0}m": 610, "{0} days, 2 hours": 14_520, "{0}:59": 659}.get(form, 610)


def test_codes_are_drafted_by_their_first_signs():
    codes = [f"{letter}{i}.{i % 7}" for letter in "EIJ" for i in range(10, 40)]
    assert '"E1 | E2 | E3 | I1 | I2 | I3 | J1 | J2 | J3", prefix = 2' in first_line(codes)
    assert '"01 | 02 | 03", prefix = 2' in first_line(f"0{i}x" for i in range(100, 400, 13))
    assert "prefix" not in first_line(codes[:20]), "few codes are listed"
    assert "prefix" not in first_line([*codes, "other words"])
    assert "prefix" not in first_line(f"A10{i}" for i in range(10, 40)), "one group is none"


def test_a_few_values_are_listed_by_the_numbers_in_them():
    assert '"0 Tage | 1 Tag | 2 Tage | 10 Tage"' in first_line(
        ["10 Tage", "2 Tage", "0 Tage", "1 Tag"]
    )
    assert '"a | b1 | b02 | b2 | b10"' in first_line(["b10", "b2", "b02", "a", "b1"])
