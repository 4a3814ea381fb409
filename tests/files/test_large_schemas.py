"""What a schema file may ask for is bounded before anything is built, and read in linear work."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from growth_tools import LINEAR, growth

from pdsynth import Attribute, Model, Schema, SchemaError, baselines
from pdsynth.core import Records
from pdsynth.files import declared
from pdsynth.files import domains as rules
from pdsynth.files.domains import MOST_VALUES, check_total, read_rule
from pdsynth.files.schema_file import read_schema, write_inline

WIDE = "0 to 1000000000 in 65536 bins"


def file_of(lines, rule):
    return "[attributes]\n" + "".join(f"c{i} = {rule}\n" for i in range(lines))


@pytest.fixture
def built(monkeypatch):
    """How many bins have had their labels made, attribute by attribute."""
    made = []
    label = declared.label_bins
    monkeypatch.setattr(
        declared, "label_bins", lambda cuts, whole: made.append(len(cuts)) or label(cuts, whole)
    )
    return made


LARGE = {
    "bins": f'"{WIDE}"',
    "bins in a table": f'{{domain = "{WIDE}", clip = true}}',
    "bins and missing": f'"{WIDE} + missing"',
}


class TestSumOfValues:
    @pytest.mark.parametrize("name", LARGE)
    def test_too_many_are_refused_before_one_label_is_built(self, name, built):
        text = file_of(300, LARGE[name])
        tracemalloc.start()
        with pytest.raises(SchemaError, match=r"own\.toml declares 19,660,800 values in 300") as e:
            read_schema(text, "own.toml")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert f"{MOST_VALUES:,}" in str(e.value)
        assert "fewer bins" in str(e.value)
        assert built == []
        assert peak < 2**22

    def test_twin_without_the_bound_labels_are_built(self, built, monkeypatch):
        monkeypatch.setattr(rules, "MOST_VALUES", 10**9)
        read_schema(file_of(18, LARGE["bins"]), "own.toml")
        assert sum(built) > MOST_VALUES

    def test_as_many_as_are_possible_are_read(self):
        assert len(read_schema(file_of(2, LARGE["bins"]), "own.toml")["attributes"]) == 2
        check_total({f"c{i}": WIDE for i in range(16)}, "own.toml")
        with pytest.raises(SchemaError):
            check_total({f"c{i}": WIDE for i in range(17)}, "own.toml")

    @pytest.mark.parametrize(
        "entry",
        [
            WIDE,
            "0 to 9 in 3 bins + missing",
            "18 to 90",
            "edges 0, 10, 50, 99",
            "yes | no | maybe",
            "a,b | c",
            {"values": [1, 2, 3]},
            {"domain": "18 to 90 in 9 bins"},
            {"edges": [0, 1, 2]},
        ],
    )
    def test_no_fewer_are_counted_than_there_are(self, entry):
        facts = read_schema(Schema_text(entry), "own.toml")
        assert rules._count_values(entry) >= len(facts["attributes"][0].values)

    @pytest.mark.parametrize("entry", [3, None, [1], {"domain": 3}, {"values": 3}, "drop", {}])
    def test_what_declares_nothing_is_left_to_its_own_refusal(self, entry):
        assert rules._count_values(entry) <= 1

    def test_a_number_of_bins_with_thousands_of_digits(self):
        text = file_of(1, f'"0 to 1 in {"9" * 5000} bins"')
        with pytest.raises(SchemaError, match="c0"):
            read_schema(text, "own.toml")


def Schema_text(entry):  # noqa: N802
    return f'[attributes]\nx = {write_inline(entry)}\ny = "a | b"\n'


class TestReading:
    @pytest.mark.parametrize(
        "rule", ['"yes | no"', '"0 to 99 in 9 bins + missing"', '{domain = "a | b", other = "b"}']
    )
    def test_work_grows_as_the_number_of_lines(self, rule):
        def prepare(size):
            text = file_of(size, rule)
            return lambda: Schema(**read_schema(text, "own.toml"))

        assert growth(prepare, (50, 100, 200)) < LINEAR

    @pytest.mark.parametrize("sign", [" ", "+ ", " |", "1", "a ", " +missing", "\t"])
    def test_work_grows_as_the_length_of_a_line(self, sign):
        def read(text):
            try:
                return read_rule("x", text)
            except SchemaError as problem:
                return str(problem)

        def prepare(size):
            return partial(read, f"a | b{sign * size}x")

        assert growth(prepare, (1000, 2000, 4000)) < LINEAR


@pytest.mark.parametrize(
    ("rule", "values", "missing"),
    [
        ("yes | no + missing", ("yes", "no"), True),
        ("yes | no+missing", ("yes", "no"), True),
        ("yes | no  +  missing\n", ("yes", "no"), True),
        ("yes | no missing", ("yes", "no missing"), False),
        ("yes | missing", ("yes", "missing"), False),
        ("yes | no + missing + missing", ("yes", "no + missing"), True),
        ("0 to 2 in 3 bins + missing", ("0", "1", "2"), True),
    ],
)
def test_missing_stands_at_the_end_of_a_rule(rule, values, missing):
    found = read_rule("x", rule)[0]
    assert (found.values, found.missing) == (values, missing)


def test_a_model_of_many_columns_is_read_in_linear_work():
    """Each measured table went through all attributes: 2,000 columns took 26 s."""

    def prepare(columns):
        schema = Schema([Attribute.categorical(f"c{i}", [0, 1]) for i in range(columns)])
        records = Records(np.zeros((50, columns), dtype=np.uint8), schema)
        written = baselines.Independent(1).fit(records).model_.to_dict()
        return lambda: Model.from_dict(written)

    assert growth(prepare, (50, 100, 200)) < LINEAR
