"""One respondent can't stop the curator: work grows with a file's size and not faster (T28)."""

import gzip
import io

import pandas as pd
import pytest
from growth_tools import LINEAR, Text, growth, regex_growth
from test_row_properties import FILE, LAST, towns

import pdsynth as pds
from pdsynth.files import cells, opening
from pdsynth.files import reading as own
from pdsynth.files.cells import FORMS, read_number
from pdsynth.files.outlining import outline
from pdsynth.files.reading import read_csv, read_header

A = pds.Attribute


def twice(names):
    """The defect: every name is looked up in the list of those before it."""
    found = []
    for name in names:
        times, free = 1, name
        while free in found:
            times += 1
            free = Text(f"{name}.{times}")
        found.append(free)
    return found


@pytest.mark.parametrize("name", ["a", "a.2"])
def test_d2_a_header_of_equal_names_is_made_unique_in_linear_work(name, monkeypatch):
    monkeypatch.setattr(own, "ALIKE", 10**6)

    def prepare(make):
        return lambda size: lambda: make([Text(name)] * (size // 4))

    sizes = (100, 200, 400)
    assert growth(prepare(own._unique), sizes) < LINEAR
    assert growth(prepare(twice), sizes) > 1.8


def test_d2_thousands_of_equal_names_are_refused_at_once():
    content = f"{','.join(['a'] * 3000)}\n{','.join(['1'] * 3000)}\n".encode()
    for reader in (read_csv, outline):
        with pytest.raises(pds.SchemaError, match="3,000 columns have one name"):
            reader(content, header=True)


def test_d2_names_are_unique_and_the_first_keeps_its_own():
    assert own._unique(["a", "a.2", "a", "b", "a"]) == ["a", "a.2", "a.3", "b", "a.4"]
    assert own._unique(["a", "a", "a.2"]) == ["a", "a.2", "a.2.2"]


def test_d2_a_file_of_many_columns_is_read_in_linear_work():
    def prepare(size):
        names = ",".join(f"c{place}" for place in range(size))
        content = f"{names}\n{','.join(['1'] * size)}\n".encode()
        return lambda: read_csv(content, header=True, delimiter=",", encoding="utf-8")

    assert growth(prepare, (50, 100, 200)) < LINEAR


def test_d2_twin_columns_that_are_taken_off_a_frame_one_by_one_are_seen():
    def prepare(size):
        frame = pd.DataFrame({f"c{place}": [1] for place in range(size)})
        return lambda: [frame.pop(name) for name in list(frame)]

    assert growth(prepare, (50, 100, 200)) > 1.6


@pytest.mark.parametrize("form", FORMS)
def test_d1_a_cell_that_is_nearly_a_number_is_read_in_linear_work(form, monkeypatch):
    """A cell of more than 400 signs is no number; up to there the pattern doesn't backtrack far."""
    pattern = cells._PATTERNS[form].pattern
    for text in ("9" * 400 + "x", "1,234" * 80 + "x", "-" + " " * 398 + "x"):
        steps = regex_growth(pattern, lambda size, text=text: text[: size - 1] + "x", "fullmatch")
        assert steps < 2.2, (form, text[:5], steps)
    long = [Text("9" * size + "x") for size in (401, 8000, 10**6)]
    monkeypatch.setattr(cells, "_PATTERNS", {})  # the twin of a bound: nothing is matched
    assert [read_number(text, form) for text in long] == [None] * 3


def test_d6_p6_a_plan_reads_metadata_only(monkeypatch, tmp_path):
    """Neither Parquet's nor Arrow's cells are read, and a sheet's aren't kept."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"town": ["Genf"] * 1000, "sex": ["a"] * 1000})
    files = {"t.parquet": frame.to_parquet, "t.arrow": frame.to_feather}
    for name, write in files.items():
        write(tmp_path / name)

    def never(*_):
        raise AssertionError("cells were read")

    with monkeypatch.context() as patch:
        patch.setattr(opening, "_read_arrow", never)
        for name in files:
            assert read_header(tmp_path / name, FILE)[:2] == (("town", "sex"), 1000)
            with pytest.raises(pds.SchemaError, match="AssertionError"):  # the twin
                read_csv(tmp_path / name, FILE)
    pytest.importorskip("openpyxl")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    monkeypatch.setattr(pd, "read_excel", never)
    assert read_header(tmp_path / "t.xlsx", FILE)[:2] == (("town", "sex"), 1000)


def test_p6_names_and_n_are_those_of_the_table_that_is_read(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"town": ["Genf", "Bern", "x"], "sex": list("aba")})
    indexes = [None, pd.Index([5, 7, 9], name="k"), pd.RangeIndex(1, 4, name="k")]
    for number, index in enumerate([*indexes, pd.Index([5, 7, 9])]):
        path = tmp_path / f"{number}.parquet"
        (frame if index is None else frame.set_index(index)).to_parquet(path)
        found, table = read_header(path), read_csv(path)
        assert found[:2] == (tuple(table.columns), len(table))
        assert list(table) == ["k"] * ("k" in table) + ["town", "sex"]
        if "k" in table:
            assert table["k"].tolist() == index.tolist()


@pytest.mark.parametrize("reader", [read_csv, read_header])
@pytest.mark.parametrize("schema", [None, FILE], ids=["exploring", "declared"])
def test_r2_a_packed_file_that_is_cut_or_damaged_is_said_to_be(reader, schema):
    whole = gzip.compress(towns(b""))
    middle = len(whole) // 2
    damaged = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    for content in (whole[:-20], whole[:20], whole[:8], damaged):
        with pytest.raises(pds.SchemaError, match="cut short or damaged"):
            reader(content, schema)
    assert len(read_csv(whole, FILE)) == 999


def test_r2_twin_a_bare_reader_raises_what_no_user_understands():
    packed = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(towns(b""))[:-20]))
    with pytest.raises(EOFError):
        packed.read()


@pytest.mark.parametrize("last", LAST.values(), ids=LAST)
def test_p2_a_release_of_the_flipped_file_is_the_same_table_or_refused(last, tmp_path):
    """Through the command line, at an ε that leaves no doubt about the counts."""
    from click.testing import CliRunner

    from pdsynth.files.command_line import commands

    FILE.write(tmp_path / "schema.toml")
    shares = []
    for number, content in enumerate((towns(b"Genf,b\n"), towns(last))):
        (tmp_path / "towns.csv").write_bytes(content)
        words = f"release towns.csv schema.toml --epsilon 100 --method Independent --out r{number}"
        words = [
            str(tmp_path / w) if "." in w or w[0] == "r" and w[1:].isdigit() else w
            for w in words.split()
        ]
        ended = CliRunner().invoke(commands, words)
        if ended.exit_code:
            assert number == 1 and ended.exit_code == 1 and not (tmp_path / "r1").exists()
            return
        table = read_csv(tmp_path / f"r{number}" / "synthetic.csv", FILE)
        shares.append((table["town"] == "Zürich").sum() / len(table))
    assert abs(shares[0] - shares[1]) < 0.02 and shares[0] > 0.4
