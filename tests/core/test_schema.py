"""Public domains: codes round trip, and everything outside the declaration is refused with its
numbers and the remedy."""

import json
import traceback
from dataclasses import asdict
from datetime import date, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth.core.attribute import Attribute
from pdsynth.core.errors import SchemaError
from pdsynth.core.schema import Schema

SEX = Attribute.categorical("sex", ["Female", "Male"])
AGE = Attribute.numeric("age", 0, 100, bins=4, integer=True)
PAY = Attribute.numeric("pay", 0.0, 1.0, bins=3)
SCHEMA = Schema((SEX, AGE, PAY))
FRAME = pd.DataFrame(
    {"sex": ["Male", "Female", "Male"], "age": [0, 99, 100], "pay": [0.0, 0.5, 1.0]}
)


def attribute(draw, name):
    """Any attribute: listed texts, numbers or truth values, equal-width or given bins, with or
    without missing values."""
    missing = draw(st.booleans())
    kind = draw(
        st.sampled_from(["text", "whole", "truth", "equal", "equal whole", "edges", "whole edges"])
    )
    if kind == "text":
        return Attribute.categorical(
            name,
            draw(st.lists(st.text(max_size=3), min_size=2, max_size=6, unique=True)),
            missing=missing,
        )
    if kind == "whole":
        return Attribute.categorical(
            name,
            draw(st.lists(st.integers(-9, 9), min_size=2, max_size=6, unique=True)),
            missing=missing,
        )
    if kind == "truth":
        return Attribute.categorical(name, [False, True], missing=missing)
    spread = draw(st.sampled_from(["uniform", "lower", "middle"]))
    if kind.startswith("equal"):
        low, width, bins = (
            draw(st.integers(-50, 50)),
            draw(st.integers(2, 300)),
            draw(st.integers(2, 20)),
        )
        return Attribute.numeric(
            name,
            low,
            low + width,
            bins=bins,
            integer="whole" in kind,
            missing=missing,
            spread=spread,
        )
    whole = "whole" in kind
    numbers = st.integers(-40, 40) if whole else st.floats(-40, 40).map(lambda x: round(x, 3))
    edges = sorted(draw(st.lists(numbers, min_size=3, max_size=7, unique=True)))
    return Attribute.binned(name, edges, integer=whole, missing=missing, spread=spread)


@st.composite
def coded(draw):
    """A schema with codes of its domain and uniforms, the extreme ones included."""
    schema = Schema(tuple(attribute(draw, f"a{j}") for j in range(draw(st.integers(2, 4)))))
    n = draw(st.integers(1, 6))
    codes = np.array(
        [[draw(st.integers(0, size - 1)) for size in schema.sizes] for _ in range(n)],
        dtype=np.uint8,
        order="F",
    )
    unit = st.floats(0, 1, exclude_max=True) | st.just(1 - 2**-53)
    uniforms = np.array([[draw(unit) for _ in schema.sizes] for _ in range(n)])
    return schema, codes, uniforms


class TestRoundTrip:
    @given(coded())
    @settings(max_examples=100)
    def test_codes_survive_decoding_and_encoding(self, case):
        schema, codes, uniforms = case
        for u in (uniforms, None):
            frame = schema.decode(codes, u)
            assert list(frame) == list(schema.names)
            again = schema.encode(frame)
            assert again.tolist() == codes.tolist()
            assert again.dtype == np.uint8
            assert again.flags.f_contiguous

    @given(coded())
    @settings(max_examples=40)
    def test_a_schema_survives_json(self, case):
        schema, codes, uniforms = case
        again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
        assert again == schema
        pd.testing.assert_frame_equal(again.decode(codes, uniforms), schema.decode(codes, uniforms))

    @given(coded())
    @settings(max_examples=40)
    def test_types_are_public_and_do_not_depend_on_the_records(self, case):
        schema, codes, uniforms = case
        first = schema.decode(codes, uniforms)
        constant = np.zeros_like(codes)
        second = schema.decode(constant)
        for name, a in zip(schema.names, schema.attributes, strict=True):
            assert str(first[name].dtype) == str(second[name].dtype) == a.column_type, (
                "with and without missing values, from the declaration alone"
            )
        assert schema.encode(schema.decode(constant)).tolist() == constant.tolist(), (
            "a constant column is fine"
        )

    def test_bins_by_hand(self):
        assert AGE.edges == (0, 26, 51, 76, 100)
        assert AGE.labels == ("0–25", "26–50", "51–75", "76–100")
        column = pd.Series([0, 25, 26, 50, 51, 75, 76, 100])
        assert AGE.encode(column).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
        assert PAY.encode(pd.Series([0.0, 0.34, 2 / 3, 1.0])).tolist() == [0, 1, 2, 2]
        assert Attribute.binned("g", [0, 1, 5001, 99999], integer=True).labels == (
            "0",
            "1–5000",
            "5001–99999",
        )
        assert Attribute.numeric("n", 1, 4, bins=16, integer=True).labels == ("1", "2", "3", "4"), (
            "no more bins than whole numbers"
        )

    def test_numbers_land_inside_their_bins(self):
        codes = np.repeat(np.arange(4), 250)
        numbers = AGE.decode(codes, np.random.Generator(np.random.PCG64(1)).random(1000))
        assert numbers.dtype == np.int64
        assert (numbers.groupby(codes).min().tolist(), numbers.groupby(codes).max().tolist()) == (
            [0, 26, 51, 76],
            [25, 50, 75, 100],
        )
        assert PAY.decode(np.array([0, 2])).tolist() == pytest.approx([1 / 6, 5 / 6])

    def test_narrow_bins_far_from_zero_are_different_values(self):
        a = Attribute.numeric("stamp", 1_700_000_000.0, 1_700_000_001.0, bins=4)
        assert a.size == 4
        assert len(set(a.labels)) == 4

    def test_large_domains_take_two_bytes(self):
        schema = Schema((Attribute.categorical("zip", range(300)), SEX))
        frame = pd.DataFrame({"zip": [299, 0], "sex": ["Male", "Female"]})
        assert schema.encode(frame).dtype == np.uint16
        assert schema.encode(frame).tolist() == [[299, 1], [0, 0]]

    def test_missing_values_have_the_last_code(self):
        a = Attribute.categorical("sex", ["Female", "Male"], missing=True)
        assert (a.size, a.labels) == (3, ("Female", "Male", "(missing)"))
        assert a.encode(pd.Series(["Male", None, np.nan])).tolist() == [1, 2, 2]
        assert a.decode(np.array([1, 2])).isna().tolist() == [False, True]
        b = Attribute.numeric("age", 0, 9, bins=2, integer=True, missing=True)
        assert b.encode(pd.Series([0, np.nan, 9])).tolist() == [0, 2, 1]
        assert b.decode(np.array([0, 2, 1])).isna().tolist() == [False, True, False]

    @pytest.mark.parametrize(
        "values", [[0, 1, 1], [False, True, True], ["x", "y", "y"], [0.5, 1.5, 1.5]]
    )
    @pytest.mark.parametrize("numeric", [False, True])
    def test_nothing_public_tells_whether_a_value_was_missing(self, values, numeric):
        """A single missing value turns a column of pandas from int64 to float64: types and metadata
        must not follow."""
        if numeric and isinstance(values[0], (bool, str)):
            return
        a = Attribute.categorical("x", values[:2], missing=True)
        if numeric:
            a = Attribute.numeric(
                "x", 0, 9, bins=2, integer=isinstance(values[0], int), missing=True
            )
        schema = Schema((a, SEX))
        full = pd.DataFrame({"x": values, "sex": "Male"})
        gap = pd.DataFrame({"x": [None, *values[1:]], "sex": "Male"})
        first, second = (schema.decode(schema.encode(frame)) for frame in (full, gap))
        assert str(first["x"].dtype) == str(second["x"].dtype) == a.column_type

    def test_categorical_columns_of_pandas(self):
        frame = FRAME.assign(sex=FRAME["sex"].astype("category"))
        assert SCHEMA.encode(frame).tolist() == SCHEMA.encode(FRAME).tolist()
        for kind in ("category", "ordered"):
            sex = Attribute.categorical("sex", ["Female", "Male"], dtype=kind)
            fake = sex.decode(np.zeros(2, dtype=np.int64))
            assert fake.cat.categories.tolist() == ["Female", "Male"], (
                "declared categories, also those without records"
            )
            assert fake.cat.ordered == (kind == "ordered")

    @pytest.mark.parametrize(
        ("values", "dtype", "types"),
        [
            ([3, -1], "integer", ("int64", "Int64")),
            ([0, 0.5], "float", ("float64", "float64")),
            ([0.5, 1.5], "float", ("float64", "float64")),
            ([True, False], "boolean", ("bool", "boolean")),
            (["a", "b"], "text", ("str", "str")),
            (["a", 1], "category", ("category", "category")),
            ([True, 2], "category", ("category", "category")),
            ([0.5, 2**53 - 1], "float", ("float64", "float64")),
        ],
    )
    def test_the_type_follows_from_the_declaration(self, values, dtype, types):
        for missing, kind in enumerate(types):
            a = Attribute.categorical("x", values, missing=bool(missing))
            assert (a.dtype, a.column_type) == (dtype, kind)
            column = a.decode(np.arange(a.size))
            assert str(column.dtype) == kind
            assert column.dropna().tolist() == values
            assert Attribute(**asdict(a)) == a
        b = Attribute.numeric("x", 0, 9, bins=3, integer=True)
        assert (b.dtype, b.column_type) == ("integer", "int64")
        assert Attribute.numeric("x", 0, 9, bins=3, missing=True).column_type == "float64"

    def test_column_order_of_the_table_does_not_matter(self):
        assert SCHEMA.encode(FRAME[["pay", "sex", "age"]]).tolist() == SCHEMA.encode(FRAME).tolist()


class TestLookingUp:
    def test_names_sizes_cells(self):
        assert (SCHEMA.names, SCHEMA.sizes, len(SCHEMA)) == (("sex", "age", "pay"), (2, 4, 3), 3)
        assert SCHEMA["age"] is AGE
        assert SCHEMA.cells(["sex", "pay"]) == 6
        assert SCHEMA.cells([]) == 1
        assert SCHEMA.select(["pay", "sex"]).names == ("pay", "sex")

    def test_an_unknown_name_lists_the_known_ones(self):
        with pytest.raises(SchemaError, match="no attribute 'income'.*sex, age, pay"):
            SCHEMA.index("income")

    def test_selecting_keeps_the_groups_of_what_is_left(self):
        schema = Schema((SEX, AGE, PAY), groups={"sex": "A", "pay": "B"})
        assert schema.select(["age", "pay"]).groups == {"pay": "B"}

    def test_values_are_frozen(self):
        with pytest.raises(AttributeError):
            SEX.name = "gender"
        with pytest.raises(AttributeError):
            SCHEMA.source = "data"


class TestInferring:
    def test_an_inferred_schema_says_so_until_the_user_declares_it_public(self):
        schema = Schema.infer(FRAME)
        assert schema.source == "data"
        assert schema.declare_public().source == "public"
        assert schema.encode(FRAME).shape == (3, 3)

    def test_inferring_reads_kinds(self):
        frame = pd.DataFrame(
            {
                "few": [1, 2, 1] * 20,
                "many": np.arange(60),
                "real": np.linspace(0, 1, 60),
                "word": ["a", "b", None] * 20,
            }
        )
        few, many, real, word = Schema.infer(frame, bins=8).attributes
        assert few.values == (1, 2)
        assert (many.size, many.integer, real.integer) == (8, True, False)
        assert (word.values, word.missing) == (("a", "b"), True)

    @pytest.mark.parametrize(
        "cells",
        [[1j, 2j], [Decimal("sNaN"), Decimal(1)], [[1], [2]], [{"a": 1}, {}], [np.ones(2)] * 2],
        ids=str,
    )
    def test_inferring_goes_on_past_cells_that_are_no_plain_values(self, cells):
        schema = Schema.infer(pd.DataFrame({"x": cells, "y": [1, 2]}))
        assert schema.names == ("y",)
        assert "column 'x' holds more than plain values" in schema.left_out["x"]

    def test_inferring_goes_on_past_a_column_that_declares_nothing_and_marks_it(self):
        frame = FRAME.assign(sex="Male", odd=[[1], [2], [1]])
        schema = Schema.infer(frame)
        assert schema.names == ("age", "pay")
        assert "holds 1 value(s): drop it, or declare" in schema.left_out["sex"]
        assert all(why.startswith("?") for why in schema.left_out.values())
        assert schema.encode(frame).shape == (3, 2)


def bad(**columns):
    return FRAME.assign(**columns)


class TestRefusing:
    """Each message has the numbers and the remedy (design, public contract)."""

    @pytest.mark.parametrize(
        ("frame", "message"),
        [
            (
                bad(sex=["Male", "Other", "Other"]),
                r"'sex': 2 value.s. outside its 2 declared values "
                r"\(texts; the column has dtype str\); widen.*or recode",
            ),
            (
                bad(age=[0, 101, -1]),
                r"'age': 2 value.s. outside the whole numbers of \[0, 100\]",
            ),
            (
                bad(age=[0, 25.5, 1]),
                r"'age': 1 value.s. outside the whole numbers of \[0, 100\]",
            ),
            (bad(pay=[0.5, np.inf, -np.inf]), r"'pay': 2 value.s. outside \[0.0, 1.0\]"),
            (
                bad(pay=[0.5, np.nan, 0.1]),
                "'pay': 1 missing value.s., but the schema declares none; declare missing=True",
            ),
            (bad(sex=["Male", None, "Male"]), "'sex': 1 missing"),
            (bad(age=["0", "1", "2"]), "declared numeric, but 3 of its cells are no numbers"),
            (bad(age=["0", "1", "2"]), "convert it first, or say how its numbers are written"),
            (bad(age=[date(2020, 1, day) for day in (1, 2, 3)]), "date='year'"),
            (bad(age=pd.to_datetime(["2020-01-01"] * 3, utc=True)), "date='year'"),
            (bad(age=[time(hour) for hour in (1, 2, 3)]), "date='hour'"),
            (bad(age=pd.to_timedelta([1, 2, 3], "s")), r"as column.dt.total_seconds\(\) does$"),
            (bad(age=[1j, 2j, 3j]), "convert it first$"),
            (bad(age=pd.interval_range(0, 3)), "convert it first$"),
            (FRAME.iloc[:0], "no rows"),
            (
                FRAME.drop(columns="age"),
                r"missing column.s.: \['age'\]; the table has 2 columns, the schema 3",
            ),
            (bad(extra=1), r"undeclared column.s.: \['extra'\]; declare them, or drop"),
            (pd.concat([FRAME, FRAME["age"]], axis=1), r"duplicate column.s.: \['age'\]"),
            (FRAME.to_numpy(), "expected a pandas DataFrame, got ndarray"),
        ],
    )
    def test_a_table_that_does_not_fit(self, frame, message):
        with pytest.raises(SchemaError, match=message):
            SCHEMA.encode(frame)

    def test_a_frame_of_another_library_is_named(self):
        class DataFrame:
            __module__ = "polars.dataframe.frame"

        for ask in (SCHEMA.encode, SCHEMA.problems):
            with pytest.raises(SchemaError, match=r"a pandas DataFrame, got polars\.DataFrame$"):
                ask(DataFrame())

    def test_fewer_than_two_attributes(self):
        with pytest.raises(SchemaError, match="1 attribute.*at least 2"):
            Schema((SEX,)).encode(FRAME[["sex"]])

    @pytest.mark.parametrize(
        ("declare", "message"),
        [
            (lambda: Attribute.categorical("c", ["only"]), "'c' declares 1 value.*at least 2"),
            (lambda: Attribute.categorical("c", []), "declares 0 value"),
            (lambda: Attribute.categorical("c", ["a", "b", "a"]), "declares values twice: a"),
            (
                lambda: Attribute.categorical("c", ["a", None]),
                "'c' lists a missing value.*declare missing=True",
            ),
            (lambda: Attribute.categorical("c", [1.0, np.nan]), "lists a missing value"),
            (
                lambda: Attribute.categorical("c", pd.to_datetime(["2020-01-01", "2020-01-02"])),
                "texts, finite numbers.*dates.*as texts",
            ),
            (lambda: Attribute.categorical("c", [[1], [2]]), r"got \[1\]"),
            (lambda: Attribute.categorical("c", [0.0, float("inf")]), "finite numbers"),
            (
                lambda: Attribute.categorical(7, ["a", "b"]),
                "name must be a text, got 7: rename the column",
            ),
            (lambda: Attribute.categorical("", ["a", "b"]), "name must be a text"),
            (lambda: Schema(("sex", "age")), "made of Attributes, got 'sex'"),
            (lambda: Attribute.numeric("x", 0.5, 3.5, integer=True), "whole numbers"),
            (
                lambda: Attribute.categorical("c", range(2**16 + 1)),
                "65,537 values, at most 65,536.*bin it",
            ),
            (lambda: Attribute.numeric("x", 5, 5), "low=5 must be below high=5"),
            (lambda: Attribute.numeric("x", 0, float("inf")), "both finite"),
            (lambda: Attribute.numeric("x", 0, 1, bins=1), "from 2 to 65,536, got bins=1"),
            (lambda: Attribute.binned("x", [0, 2, 1]), "finite and increasing"),
            (lambda: Attribute.binned("x", [0, float("nan"), 1]), "finite and increasing"),
            (lambda: Attribute.binned("x", [0, 1]), "declares 1 value"),
            (lambda: Attribute.numeric("x", 0, 1, spread="wide"), "spread must be one of"),
            (lambda: Schema((SEX, SEX)), r"declared twice: \['sex'\]"),
            (lambda: Schema((SEX, AGE), groups={"income": "A"}), r"unknown: \['income'\]"),
            (lambda: Schema((SEX, AGE), groups={"sex": "C"}), "'A' or 'B'"),
            (lambda: Schema((SEX, AGE), left_out={"sex": ""}), r"declared and left out: \['sex'\]"),
            (lambda: Schema((SEX, AGE), left_out={"id": 7}), "all of them texts"),
            (lambda: Schema((SEX, AGE), columns=(1, 2)), "all of them texts"),
            (
                lambda: Schema((SEX, AGE), columns=("sex",)),
                r"don't name the attribute\(s\) \['age'\]",
            ),
            (lambda: Schema.from_dict({"attributes": [{"name": "x"}]}), "schema"),
            (lambda: Schema.from_dict({"attributes": "no"}), "schema"),
            (
                lambda: Schema.from_dict({"attributes": [asdict(AGE) | {"edges": []}]}),
                "4 bins need 5 edges, got 0",
            ),
        ],
    )
    def test_an_impossible_declaration(self, declare, message):
        with pytest.raises(SchemaError, match=message):
            declare()

    def test_one_missing_value_declared_makes_two(self):
        assert Attribute.categorical("c", ["only"], missing=True).size == 2

    def test_what_is_refused_depends_on_the_declaration_not_on_statistics(self):
        constant = pd.DataFrame({"sex": ["Male"] * 3, "age": [7] * 3, "pay": [0.1] * 3})
        assert SCHEMA.encode(constant).tolist() == [[1, 0, 0]] * 3


def test_a_schema_shows_itself():
    html = Schema((Attribute.categorical("<b>", ["x", "y"]), AGE))._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b></td>" not in html
    assert "inferred from the data" in Schema.infer(FRAME)._repr_html_()
    assert "inferred" not in html
    assert "left out" not in html
    assert "left out: id (running number); &lt;i&gt;" in (
        Schema((SEX, AGE), left_out={"id": "running number", "<i>": ""})._repr_html_()
    )


@given(st.decimals(-99, 99, places=2), st.decimals("0.01", 99, places=2), st.integers(2, 40))
def test_both_ends_of_a_declared_range_are_in_it(low, width, bins):
    """12.02 + (49.54 − 12.02) is below 49.54, so that this highest value was refused."""
    ends = [float(low), float(low + width)]
    declared = Attribute.numeric("x", *ends, bins=bins)
    assert declared.encode(pd.Series(ends)).tolist() == [0, bins - 1]


@pytest.mark.parametrize("high", [2**53, 2**60, 2**64])
def test_bins_of_a_range_of_huge_whole_numbers_rise(high):
    """Steps in whole numbers overflowed: "declares values twice", or an OverflowError."""
    edges = Attribute.numeric("x", 0, high, bins=4096).edges
    assert edges == tuple(high / 4096 * step for step in range(4097))


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ([0.07, 0.19], [Decimal("0.07"), Decimal("0.190")]),
        (["0.07", "0.19"], [Decimal("0.07"), Decimal("0.190")]),
        ([1, "1"], [Decimal(1), "1"]),
        (["2026-01-31", "2026-02-01"], [date(2026, 1, 31), date(2026, 2, 1)]),
        (["07:30:00", "08:00:00"], [time(7, 30), time(8)]),
    ],
)
def test_cells_that_no_declared_value_can_be_are_known_by_their_text(values, cells):
    """ "Declare dates and other objects as texts" led to "declared as text", and back."""
    listed = Attribute.categorical("x", values)
    assert listed.encode(pd.Series(cells, dtype=object)).tolist() == [0, 1]


def test_what_columns_with_several_levels_are_told_to_do_helps():
    levels = pd.MultiIndex.from_tuples([("x", "a"), ("x", "b")])
    frame = pd.DataFrame([["1", "2"], ["2", "1"]], columns=levels)
    schema = Schema([Attribute.categorical(f"('x', '{name}')", ["1", "2"]) for name in "ab"])
    with pytest.raises(SchemaError, match=r"frame.set_axis\(\[\*map\(str, frame\)\], axis=1\)"):
        schema.encode(frame)
    assert len(schema.encode(frame.set_axis([*map(str, frame)], axis=1))) == 2


@pytest.mark.parametrize(
    "declared",
    [
        Attribute.categorical("x", [0.5, 1.5], missing=True),
        Attribute.binned("x", [0, 1, 2], missing=True),
        Attribute.binned("x", [0, 1, 2], missing=True, clip=True),
    ],
)
def test_nan_is_missing_beside_nulls_of_arrow_too(declared):
    """`read_parquet(dtype_backend="pyarrow")` keeps both; nothing could declare such a NaN."""
    arrow = pytest.importorskip("pyarrow")
    cells = arrow.array([0.5, float("nan"), None, 1.5])
    plain, own = (
        pd.Series([0.5, np.nan, None, 1.5]),
        pd.Series(pd.arrays.ArrowExtensionArray(cells)),
    )
    assert declared.encode(own).tolist() == declared.encode(plain).tolist() == [0, 2, 2, 1]


def test_a_schema_is_inferred_of_an_arrow_column_with_nan_as_of_any_other():
    arrow = pytest.importorskip("pyarrow")
    cells = arrow.array([0.5, float("nan"), None, 1.5])
    own = pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(cells)), "y": list("abab")})
    schema = Schema.infer(own)
    assert schema == Schema.infer(own.astype({"x": float}))
    assert schema["x"].values == (0.5, 1.5) and schema["x"].missing and not schema.left_out


@pytest.mark.parametrize("made", [Attribute.binned, lambda name, edges: Attribute(name, (), edges)])
def test_edges_in_a_text_are_told_how_edges_are_written(made):
    """It said "write ['0 1 2']", which was refused, too."""
    with pytest.raises(SchemaError, match=r"a list of numbers, got '0 1 2': write \[0, 1, 2\]$"):
        made("x", "0 1 2")


def test_of_many_columns_a_refusal_names_a_few():
    """Each of 2,000 questions of 200 letters stood in it: 400,000 letters for one wrong name."""
    names = [f"{'question ' * 20}{i}" for i in range(2_000)]
    schema = Schema([Attribute.categorical(name, ["0", "1"]) for name in names])
    frame = pd.DataFrame("0", index=[0], columns=names)
    for tried in (
        lambda: schema.index("age"),
        lambda: schema.encode(frame[names[:3]]),
        lambda: schema.select(names[:3]).encode(frame),
        lambda: schema.encode(pd.concat([frame, frame], axis=1)),
    ):
        with pytest.raises(SchemaError) as problem:
            tried()
        assert len(str(problem.value)) < 9_000


@pytest.mark.parametrize(
    ("values", "cells", "remedy"),
    [
        (["0.5", "1.5"], pd.Series([0.5, 1.5]), "declare numbers: values = [0.5, 1.5]"),
        (["1", "2"], pd.Series([1, 2]), "declare numbers: values = [1, 2]"),
        ([1, 2], pd.Series(["1", "2"]), 'declare texts, in quotes: values = ["1", "2"]'),
        (
            [str(2**60), str(2**60 + 1)],
            pd.Series([2**60, 2**60 + 1]),
            'make texts of them, column.astype("string")',
        ),
    ],
)
def test_values_of_another_type_are_told_how_to_be_declared(values, cells, remedy):
    """ "Or map them" was refused in its turn: they are declared values."""
    other = Attribute.categorical("y", ["a", "b"])
    frame = pd.DataFrame({"x": cells, "y": ["a", "b"]})
    (problem,) = Schema((Attribute.categorical("x", values), other)).problems(frame)
    assert problem.remedy == remedy
    if remedy.startswith("declare"):
        values = json.loads(remedy.split(" = ")[1])
    else:
        frame["x"] = frame["x"].astype("string")
    assert not Schema((Attribute.categorical("x", values), other)).problems(frame)


@pytest.mark.parametrize("values", [[1, 2], ["1", "2"]])
def test_a_column_of_several_types_is_told_a_way_that_ends(values):
    """Numbers were told to be texts, and texts to be numbers."""
    frame = pd.DataFrame({"x": pd.Series([1, "2", None] * 4, dtype=object), "y": ["a", "b"] * 6})

    def problems(values):
        mine = Attribute.categorical("x", values, missing=True)
        return Schema((mine, Attribute.categorical("y", ["a", "b"]))).problems(frame)

    (problem,) = problems(values)
    assert "several types" in problem.problem and 'column.map(str, na_action="ignore")' in (
        problem.remedy
    )
    frame["x"] = frame["x"].map(str, na_action="ignore")
    assert not problems(json.loads(problem.remedy.split(" = ")[1]))


def test_days_by_their_type_are_told_how_a_domain_of_days_holds_them():
    """A Timestamp of midnight is written with its time; its day alone was "not declared"."""
    days = ["2026-01-31", "2026-02-28"]
    frame = pd.DataFrame({"x": pd.to_datetime(days), "y": ["a", "b"]})
    schema = Schema((Attribute.categorical("x", days), Attribute.categorical("y", ["a", "b"])))
    (problem,) = schema.problems(frame)
    assert problem.remedy == 'make texts of them, column.dt.strftime("%Y-%m-%d")'
    frame["x"] = frame["x"].dt.strftime("%Y-%m-%d")
    assert not schema.problems(frame)


class Secret:
    """A cell that can't be read, and says so with what is in it."""

    def __hash__(self):
        raise RuntimeError("this is cell 4711")


@pytest.mark.parametrize("made", [{}, {"other": "Male"}])
def test_a_refusal_holds_no_cell_nor_does_what_it_was_raised_from(made):
    """Not even where reading a cell failed with words of its own."""
    sex = Attribute.categorical("sex", ["Female", "Male"], **made)
    frame = FRAME.assign(sex=pd.Series(["Male", Secret(), "Female"], dtype=object))
    with pytest.raises(SchemaError, match="holds more than plain values") as raised:
        Schema((sex, AGE, PAY)).encode(frame)
    assert "4711" not in "".join(traceback.format_exception(raised.value))
