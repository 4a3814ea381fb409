"""Raw cells become declared values one by one, and declared values stay what they are."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth.core.views import BinaryEncoding
from pdsynth.files.cells import read_number, read_numbers
from pdsynth.files.columns import as_text, find_distinct
from pdsynth.files.file_format import FileFormat
from pdsynth.files.recoding import Recode

A = pds.Attribute


def codes(attribute, cells):
    return attribute.encode(pd.Series(cells)).tolist()


def test_open_lists_mappings_and_words_for_an_empty_cell_by_hand():
    home = A.categorical(
        "home",
        ["US", "elsewhere"],
        mapping={"USA": "US", "U.S.": "US"},
        other="elsewhere",
        na_values=["?", "-9"],
        missing=True,
    )
    cells = ["USA", "US", "Fiji", "?", None, " U.S. ", "-9", "usa"]
    assert codes(home, cells) == [0, 0, 1, 2, 2, 0, 2, 1]
    smoker = A.categorical("smoker", ["yes", "no"], mapping={1: "yes", 2: "no"})
    assert codes(smoker, [1, 2, 1]) == codes(smoker, ["1", "2", "1"]) == [0, 1, 0]
    assert codes(smoker, [1.0, 2.0, 1.0]) == [0, 1, 0]
    with pytest.raises(pds.SchemaError, match="1 value.s. outside its 2 declared"):
        codes(smoker, [1, 2, 3])


def test_dates_by_year_month_and_age_by_hand():
    days = ["29.02.2000", "31.12.1999", "01.01.2001"]
    how = {"integer": True, "format": "%d.%m.%Y"}
    year = A.numeric("born", 1999, 2001, bins=3, date="year", **how)
    month = A.numeric("born", 1, 12, bins=12, date="month", **how)
    age = A.numeric("born", 0, 30, bins=31, date="age", on="2026-02-28", **how)
    assert codes(year, days) == [1, 0, 2]
    assert codes(month, days) == [1, 11, 0]
    assert codes(age, days) == [25, 26, 25], "whose birthday is the 29th isn't 26 on the 28th"
    stamps = pd.to_datetime(days, format="%d.%m.%Y")
    assert codes(year, stamps) == codes(year, [2000, 1999, 2001]) == [1, 0, 2]
    iso = A.numeric("born", 1999, 2001, bins=3, integer=True, date="year")
    assert codes(iso, [datetime.date(2000, 2, 29), "1999-12-31", "2001-01-01T12:00"]) == [1, 0, 2]
    for wrong in ("30.02.2000", "soon", "2000-02-29"):
        with pytest.raises(pds.SchemaError, match="1 value.s. outside"):
            codes(year, [*days, wrong])


def test_weekdays_and_hours_by_hand():
    weekday = A.numeric("seen", 1, 7, bins=7, integer=True, date="weekday")
    assert codes(weekday, ["2026-11-23", "2026-11-29", datetime.date(2026, 11, 27)]) == [0, 6, 4]
    hour = A.numeric("seen", 0, 24, bins=48, date="hour")
    clock = datetime.time(10, 30)
    cells = ["10:30", "10:29:59", "2026-11-27T23:59", "2026-11-27 00:00:00.5", clock, 10.5]
    assert codes(hour, cells) == [21, 20, 47, 0, 21, 21]
    assert codes(hour, pd.to_datetime(["2026-11-27 18:15", "2026-11-27 00:00"])) == [36, 0]
    noon = A.numeric("seen", 0, 24, bins=24, date="hour", format="%d.%m.%y %I:%M %p")
    assert codes(noon, ["27.11.26 12:01 AM", "27.11.26 12:01 PM"]) == [0, 12]
    for wrong in ("24:00", "10:60", "2026-11-27", "soon 10:30", datetime.date(2026, 11, 27)):
        with pytest.raises(pds.SchemaError, match="1 value.s. outside"):
            codes(hour, ["10:30", wrong])


def test_iso_weeks_by_hand():
    """A week alone is its Thursday, which is in the year that the week belongs to."""
    week = A.numeric("seen", 1, 53, bins=53, integer=True, date="week")
    year = A.numeric("seen", 2020, 2026, bins=7, integer=True, date="year")
    cells = ["2020-W53", "2025-W01", "2026W05", "2024-W05-1", "2021-01-03", "2024-12-30"]
    assert codes(week, cells) == [52, 0, 4, 4, 52, 0]
    assert codes(year, ["2020-W53", "2025-W01"]) == [0, 5]
    for wrong in ("2021-W53", "2026-W00", "2026-W5", "W05"):
        with pytest.raises(pds.SchemaError, match="1 value.s. outside"):
            codes(week, [*cells, wrong])


def test_times_that_something_took_by_hand():
    waited = A.numeric("waited", 0, 600, bins=601, integer=True, number="h:min")
    cells = ["7:05", "7 h 5 min", "1:05:00", "1h 20m", "2 hours", "120 s", "26", 26, "0:59"]
    assert codes(waited, cells) == [425, 425, 65, 80, 120, 2, 26, 26, 59]
    pace = A.numeric("pace", 0, 600, bins=600, number="min:s")
    assert codes(pace, ["5:16", "5 min 16 s", "1:05:33", 5.9, "316s"]) == [5, 5, 65, 5, 5]
    days = A.numeric("stayed", 0, 10_000, bins=10_001, integer=True, number="h:min")
    assert codes(days, ["2 days 3 h", "1 d", "26:00"]) == [3060, 1440, 1560]
    for wrong in ("7:60", "7:5", "5 min 3 h", "5 h 5 h", "3 kg", "h", "-5:00", "7:05 h"):
        with pytest.raises(pds.SchemaError, match="1 value.s. outside"):
            codes(waited, [*cells, wrong])
    with pytest.raises(pds.SchemaError, match="leave out unit"):
        A.numeric("waited", 0, 600, number="h:min", unit="min")
    with pytest.raises(pds.SchemaError, match="number must be one of"):
        FileFormat(number="h:min")


@given(st.integers(0, 9999), st.integers(0, 59))
def test_a_time_reads_alike_however_it_is_written(minutes, seconds):
    hours, rest = divmod(minutes, 60)
    texts = [
        f"{hours}:{rest:02d}:{seconds:02d}",
        f"{hours} h {rest} min {seconds} s",
        f"{minutes} minutes {seconds} seconds",
        f"{60 * minutes + seconds}s",
    ]
    for form in ("h:min", "min:s"):
        assert {read_number(text, form) for text in texts} == {(60 * minutes + seconds) / 60}
    assert read_number(f"{minutes}:{seconds:02d}", "min:s") == (60 * minutes + seconds) / 60
    assert read_number(f"{hours}:{rest:02d}", "h:min") == minutes


def test_the_first_signs_of_a_code_by_hand():
    ill = A.categorical(
        "ill", ["E", "I", "I10", "other"], prefix=1, other="other", mapping={"X9": "E"}
    )
    assert codes(ill, ["E11.9", "I25.10", "I10", "J44", "X9", "X99", "E", "I101", "other"]) == [
        0, 1, 2, 3, 0, 3, 0, 1, 3,
    ]  # fmt: skip
    area = A.categorical("area", [0, 1, 9], prefix=1, na_values=["?"], missing=True)
    assert codes(area, ["02139", 94103, "1", 1, "?", None]) == [0, 2, 1, 1, 3, 3]
    assert codes(area, ["001", "009", 1.0]) == [0, 0, 1], "a code is no number"
    with pytest.raises(pds.SchemaError, match="1 value.s. outside"):
        codes(area, ["02139", "60601"])
    with pytest.raises(pds.SchemaError, match="so does prefix"):
        A.numeric("age", 0, 99, prefix=1)
    for wrong in (-1, 1.5, True, "1", 10**6):
        with pytest.raises(pds.SchemaError, match="prefix must be a whole number"):
            A.categorical("ill", ["E", "I"], prefix=wrong)


@given(
    st.dates(datetime.date(1900, 1, 1), datetime.date(2030, 12, 31)),
    st.dates(datetime.date(1900, 1, 1), datetime.date(2030, 12, 31)),
)
def test_an_age_is_the_number_of_birthdays(born, on):
    """Brute force: birthdays after the day of birth; the 29th of February has one in leap years."""
    age = A.numeric("x", -200, 200, bins=401, integer=True, date="age", on=on.isoformat())
    (code,) = codes(age, [born.isoformat()])
    if on >= born:
        tops = [(year, born.month, born.day) for year in range(born.year + 1, on.year + 1)]
        assert code - 200 == sum(day <= (on.year, on.month, on.day) for day in tops)


@pytest.mark.parametrize(
    ("form", "cell", "number"),
    [
        ("1,234.5", "$1,234", 1234),
        ("1,234.5", "-1,234,567.25 €", -1234567.25),
        ("1,234.5", "12 %", 12),
        ("1,234.5", "−3", -3),
        ("1,234.5", ".5", 0.5),
        ("1,234.5", "5.", 5),
        ("1,234.5", "1e3", 1000),
        ("1,234.5", "1,2", None),
        ("1,234.5", "12,34,567", None),
        ("1,234.5", "12 kg", None),
        ("1,234.5", "", None),
        ("1,234.5", "1.2.3", None),
        ("1.234,5", "1.234,5", 1234.5),
        ("1.234,5", "1,5", 1.5),
        ("1.234,5", "1.5", None),
        ("1 234,5", "1 234,5 €", 1234.5),
        ("1 234,5", "1\u202f234", 1234),
        ("1'234.5", "1’234.5", 1234.5),
    ],
)
def test_numbers_as_people_write_them(form, cell, number):
    (found,) = read_numbers(pd.Series([cell]), form)
    assert found == number or (number is None and np.isnan(found))


def test_money_with_public_edges():
    pay = A.binned("pay", [0, 1000, 5000], number="1,234.5", clip=True, mapping={"none": 0})
    assert codes(pay, ["$999", "none", "$99,999", "-5"]) == [0, 0, 1, 0]
    with pytest.raises(pds.SchemaError, match="1 value.s. outside"):
        codes(pay, ["$999", "a lot"])
    with pytest.raises(pds.SchemaError, match="1 value.s. outside"):
        codes(pay, ["$999", "inf"])


def test_units_beside_numbers_by_hand():
    weight = A.numeric("weight", 0, 199, bins=200, integer=True, unit="kg")
    assert codes(weight, ["75 kg", "75kg", "kg 75", "75", 75, " 75 kg "]) == [75] * 6
    for wrong in ("75 lb", "75 kg kg", "75 Kg", "kg", "75 k g", "7 5 kg"):
        with pytest.raises(pds.SchemaError, match="1 value.s. outside"):
            codes(weight, ["75 kg", wrong])
    days = A.numeric("days", 0, 30, bins=31, integer=True, unit=["Tag", "Tage"])
    assert codes(days, ["1 Tag", "2 Tage", "30 Tage"]) == [1, 2, 30]
    pay = A.numeric("pay", -5000, 5000, bins=10, number="1.234,5", unit="CHF")
    assert codes(pay, ["CHF 1.234,50", "-1.234,50 CHF", "CHF -1"]) == [6, 3, 4]
    for wrong in ("", "5", ".", "-", "2 days", " kg", 3):
        with pytest.raises(pds.SchemaError, match="begins as no number does"):
            A.numeric("x", 0, 9, unit=[wrong])
    with pytest.raises(pds.SchemaError, match="a date has no unit"):
        A.numeric("x", 0, 9, unit="h", date="year")
    with pytest.raises(pds.SchemaError, match="unit and clip belong to numbers"):
        A.categorical("x", ["1 kg", "2 kg"], unit="kg")


@given(st.floats(-1e6, 1e6, allow_nan=False), st.sampled_from(["kg", "m²", "€/h", "Tag", "x5"]))
def test_a_unit_never_changes_the_number(number, unit):
    for form in ("1,234.5", "1234.5"):
        bare, beside = read_numbers(pd.Series([repr(number), f"{number!r} {unit}"]), form, [unit])
        assert bare == number == beside


@given(st.data())
def test_a_synthetic_table_encodes_like_a_raw_one(data):
    """Recoding leaves declared values alone, so decoded codes come back as they were."""
    some = data.draw(
        st.sampled_from(
            [
                A.categorical("x", ["a", "b"], mapping={"A": "a", 3: "b"}, other="b"),
                A.categorical("x", [1, 2], na_values=["?"], missing=True),
                A.categorical("x", [False, True], mapping={"no": False, "yes": True}),
                A.categorical("x", ["1", 1], dtype="category"),
                A.numeric("x", 1900, 2000, bins=7, integer=True, date="year"),
                A.numeric("x", 0, 9.5, bins=3, number="1.234,5", clip=True, missing=True),
                A.numeric("x", 0, 9.5, bins=3, number="min:s"),
                A.categorical("x", ["E", "E11", 4], prefix=1),
            ]
        )
    )
    n = data.draw(st.integers(1, 5))
    given_codes = np.array(
        data.draw(st.lists(st.integers(0, some.size - 1), min_size=n, max_size=n))
    )
    assert some.encode(some.decode(given_codes)).tolist() == given_codes.tolist()


@given(st.lists(st.sampled_from(["USA", "Fiji", "?", "US", None]), min_size=2, max_size=9))
def test_one_record_changes_one_row(cells):
    home = A.categorical(
        "home", ["US", "elsewhere"], mapping={"USA": "US"}, other="elsewhere", missing=True
    )
    alone = [codes(home, [cell])[0] for cell in cells]
    assert codes(home, cells) == alone


def test_twin_folding_rare_values_by_counts_changes_other_rows():
    def fold(cells):
        column = pd.Series(cells)
        return column.where(column.map(column.value_counts()) > 1, "elsewhere").tolist()

    assert fold(["a", "b", "a"])[0] != fold(["a", "b", "b"])[0]


def test_whole_numbers_and_texts_are_the_same_cell():
    assert [as_text(x) for x in (1, 1.0, np.float64(1), " 1 ", True, 1.5)] == [
        "1", "1", "1", "1", "True", "1.5",
    ]  # fmt: skip
    assert Recode.of() is None and Recode.of(mapping={}, na_values=[]) is None


def test_cells_that_hold_more_than_plain_values_are_refused():
    with pytest.raises(pds.SchemaError, match="'x' holds more than plain values"):
        codes(A.categorical("x", ["a", "b"], other="b"), [["a"], "b"])


@pytest.mark.parametrize(("listed", "cell"), [("Male", " Male"), (" Male", "Male"), ("a", "a\xa0")])
@pytest.mark.parametrize("dtype", ["str", object, "category"])
def test_texts_that_differ_in_blanks_at_an_end_are_named_as_such(listed, cell, dtype):
    schema = pds.Schema((A.categorical("x", [listed, "b"]), A.categorical("y", ["a", "b"])))
    frame = pd.DataFrame({"x": pd.Series([cell, "b"], dtype=dtype), "y": ["a", "b"]})
    (problem,) = schema.problems(frame)
    assert problem.problem == "declared but for blanks at an end"
    with pytest.raises(pds.SchemaError, match=r"blanks at an end: strip them, column.str.strip"):
        schema.encode(frame)
    with pytest.raises(pds.SchemaError, match="widen the declared domain"):
        schema.encode(frame.assign(x="c"))


class Unwritten:
    """A cell that can't be written as a text."""

    def __str__(self):
        raise RuntimeError("Zaphod")


def test_what_a_cell_says_when_it_fails_is_not_told():
    with pytest.raises(pds.SchemaError, match=r"plain values \(RuntimeError\)") as refusal:
        codes(A.categorical("x", ["a", "b"], other="b"), [Unwritten(), "b"])
    assert "Zaphod" not in str(refusal.value) and refusal.value.__suppress_context__


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", "\ud800", "b"], dtype=object),  # as errors="surrogateescape" reads
        pd.Series(pd.arrays.SparseArray([0, 1, 0])),
        pd.Series([[1], [2, 3], [4]]),
        pd.Series([1j, 2j, 3j]),
        pd.Series(pd.arrays.IntervalArray.from_breaks(range(4))),
    ],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("attribute", [A.categorical("x", ["u", "v"]), A.numeric("x", 7, 9)])
@pytest.mark.parametrize("examples", [0, 2])
def test_problems_are_found_in_columns_of_every_kind(attribute, column, examples):
    schema = pds.Schema((attribute, A.categorical("y", ["a", "b"])))
    frame = pd.DataFrame({"x": column, "y": ["a", "b", "a"]})
    assert [found.column for found in schema.problems(frame, examples)] == ["x"]
    with pytest.raises(pds.SchemaError, match="'x'"):
        schema.encode(frame)


class TestProblems:
    SCHEMA = pds.Schema(
        (
            A.numeric("age", 0, 99, bins=4, integer=True),
            A.categorical("home", ["US", "DE"], missing=True),
            A.numeric("born", 1930, 2010, bins=4, integer=True, date="year"),
            A.numeric("pay", 0, 100, bins=4),
            A.categorical("code", ["1", "2"]),
        ),
        left_out={"id": "identifier", "odd": "? one value only"},
    )
    FRAME = pd.DataFrame(
        {
            "age": [3, 120, None, 4.5],
            "home": ["US", "zorro", "zorro", None],
            "born": ["2000-01-01", "zorro", "1800-01-01", "1999-09-09"],
            "pay": ["1", "2 kg", "3", "4"],
            "code": [1, 2, 1, 2],
            "id": 1,
            "more": 1,
        }
    )

    def test_everything_at_once_with_counts_and_the_remedy(self):
        found = self.SCHEMA.problems(self.FRAME)
        assert [(p.column, p.records) for p in found] == [
            ("age", 1), ("age", 2), ("home", 2), ("born", 2), ("pay", 1), ("code", 4),
            ("more", 4), ("odd", 4),
        ]  # fmt: skip
        assert all(p.problem and p.remedy for p in found)
        for shown in (repr(found), found._repr_html_(), found.table.to_string()):
            assert "zorro" not in shown and "120" not in shown
        assert "zorro" in repr(self.SCHEMA.problems(self.FRAME, examples=3))

    def test_a_table_without_problems_is_taken_and_one_with_problems_is_not(self):
        schema = self.SCHEMA.select(["age", "home"])
        good = pd.DataFrame({"age": [3, 4], "home": ["US", None], "id": [1, 2], "odd": 1})
        left = schema.problems(good)
        assert [p.column for p in left] == ["odd"], "a decision is still to be made"
        schema = pds.Schema(schema.attributes, left_out={"id": "identifier", "odd": ""})
        assert not schema.problems(good) and "fits" in schema.problems(good)._repr_html_()
        assert schema.encode(good).shape == (2, 2)
        for bad in (good.drop(columns="age"), good.assign(age=[3, 200]), good.assign(new=1)):
            assert schema.problems(bad)
            with pytest.raises(pds.SchemaError):
                schema.encode(bad)
        twice = pd.concat([good, good[["age"]]], axis=1)
        assert "2 columns of this name" in repr(schema.problems(twice))
        assert "no rows" in repr(schema.problems(good.iloc[:0]))
        assert "relation='add_remove' takes it" in repr(schema.problems(good.iloc[:0]))
        with pytest.raises(pds.SchemaError, match="expected a pandas DataFrame"):
            schema.problems([1, 2])

    @pytest.mark.parametrize("cell", [Decimal("sNaN"), np.timedelta64(1000, "Y")])
    def test_a_cell_without_a_text_or_number_in_a_range_of_numbers_is_a_problem(self, cell):
        odd = pd.DataFrame({"age": pd.Series([1.0, cell], dtype=object), "y": [1, 2]})
        ages = pds.Attribute.numeric("age", 0, 9, bins=3)
        schema = pds.Schema((ages, pds.Attribute.categorical("y", [1, 2])))
        (found,) = schema.problems(odd)
        assert (found.column, found.records) == ("age", 2) and "plain values" in found.problem


def test_bytes_are_told_to_be_made_texts():
    """They were told "list it, map it": bytes can't be listed."""
    schema = pds.Schema(tuple(pds.Attribute.categorical(x, ["a", "b"]) for x in "cd"))
    frame = pd.DataFrame({"c": [b"a", b"b", b"a"], "d": list("aba")})
    (found,) = schema.problems(frame)
    assert found.problem.startswith("bytes") and "column.map(bytes.decode" in found.remedy
    with pytest.raises(pds.SchemaError, match="some are bytes"):
        schema.encode(frame)
    frame["c"] = frame["c"].map(bytes.decode, na_action="ignore")
    assert not schema.problems(frame)


def test_a_float_that_may_have_been_another_whole_number_is_nothing_declared():
    """Not even ``other``: an empty cell elsewhere has made floats of 2^53 and of 2^53 + 1."""
    town = pds.Attribute.categorical("town", [str(2**53), "rest"], other="rest")
    codes, _ = town.look_up(pd.Series([float(2**53), float(2**53 - 1)]))
    assert codes.tolist() == [-1, 1]


def test_long_texts_with_a_common_beginning_are_two_cells():
    """In a column of mixed cells, too, where each is compared by type and text."""
    texts = [f"{'a' * 60}{last}" for last in "xyx"]
    places, cells = find_distinct(pd.Series([*texts, 1], dtype=object))
    assert places.tolist() == [0, 1, 0, 2] and cells == [*texts[:2], 1]


def test_bits_that_spell_one_value_too_many_become_a_declared_one():
    schema = pds.Schema((pds.Attribute.categorical("size", ["S", "M", "L"]),))
    bits = np.array([[1, 1], [0, 1], [1, 1]], dtype=np.uint8)
    assert BinaryEncoding(schema).decode(bits, np.random.default_rng(1)).tolist() == [[1]] * 3


@pytest.mark.parametrize("name", ["utf-7", "iso2022_jp", "hz", "unicode_escape"])
def test_encodings_in_which_a_sign_changes_later_bytes_are_refused(name):
    with pytest.raises(pds.SchemaError, match="there is no encoding"):
        FileFormat(encoding=name)


def test_a_release_says_what_its_rows_hold(tmp_path):
    """Of a number its unit, of a date its part: in the schema file and on the card."""
    schema = pds.Schema(
        [
            A.categorical("ill", ["E", "I"], prefix=1),
            A.numeric("weight", 0, 200, unit=["k\ng", "kg"]),
            A.numeric("waited", 0, 90, number="h:min"),
            A.numeric("seen", 1, 12, date="month"),
            A.numeric("born", 0, 99, date="age", on="2026-12-31"),
            A.numeric(
                "cut", 0, 9, clip=True, mapping={"9+": 9}, missing=True, na_values=["97", "-"]
            ),
            A.categorical("kind", ["a", "b"], other="b", empty="a"),
            A.numeric("plain", 0, 9, missing=True, na_values=["-"]),
        ]
    )
    frame = pd.DataFrame({"ill": ["E1", "I2"] * 20, "cut": "9+", "kind": "c"})
    frame = frame.assign(weight=50, waited="0:20", seen="2026-03-01", born="1990-01-01", plain=3)
    place = pds.datasets.write_release(pds.PrivBayes(1.0).fit(frame, schema).model_, tmp_path / "r")
    said = {
        "ill": "the first sign of a code",
        "weight": r"in 'k\ng'",
        "waited": "minutes",
        "seen": "the month of a date",
        "born": "completed years on 2026-12-31",
        "cut": "'9+' is 9; missing is also '97'; numbers beyond an end stand at that end",
        "kind": "'b' is whatever isn't listed; 'a' is an empty cell, too",
    }
    lines = (place / "schema.toml").read_text(encoding="utf-8").splitlines()
    for name, meaning in said.items():
        assert any(line.startswith(name) and line.endswith(f"  # {meaning}") for line in lines)
    assert not any("#" in line for line in lines if line.startswith("plain"))
    told = (place / "card.html").read_text(encoding="utf-8")
    assert (
        "What columns hold:</p>\n<ul>\n<li>ill: the first sign of a code</li>\n<li>weight: in"
        in told
    )
    released = pds.Schema.read(place / "schema.toml")
    table = pd.read_csv(place / "synthetic.csv")
    assert released.encode(table).shape == schema.encode(table).shape, "rows are read by both"
