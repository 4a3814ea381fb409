"""A file in another encoding than is said: the refusal names the encoding, and the likely one."""

import warnings

import pandas as pd
import pytest
from click.testing import CliRunner

import pdsynth as pds
from pdsynth.files.command_line import commands
from pdsynth.files.reading import read_csv

A = pds.Attribute
ROWS = "Größe;Ort;g\n" + "1;Köln;m\n2;Zürich;w\n1;Köln;m\n2;Lörrach;w\n" * 20
LATIN, UNICODE = ROWS.encode("cp1252"), ROWS.encode()
SAID = 'say encoding="{}", or write it below'
FILE = {"delimiter": ";"}
TOWNS = ["Köln", "Zürich", "Lörrach"]


def schema_of(*attributes, **options):
    return pds.Schema(attributes, file=FILE, **options)


SIZE, TOWN = A.categorical("Größe", ["1", "2"]), A.categorical("Ort", TOWNS)
SEX = A.categorical("g", ["m", "w"])


@pytest.mark.parametrize(
    ("content", "said", "found"),
    [(LATIN, "utf-8", "cp1252"), (UNICODE, "cp1252", "utf-8"), (UNICODE, "latin-1", "utf-8")],
)
def test_a_name_that_is_absent_may_stand_there_in_another_encoding(content, said, found):
    schema = schema_of(SIZE, TOWN)
    for columns in (["Größe", "g"], ["Größe"]):
        declared = schema_of(SIZE, *([SEX] if "g" in columns else []), left_out={"Ort": ""})
        with pytest.raises(pds.SchemaError) as refusal:
            read_csv(content, declared, encoding=said)
        assert f"it seems to be in {found}: {SAID.format(found)}" in str(refusal.value)
    assert schema.encode(read_csv(content, schema, encoding=found))[:2].tolist() == [[0, 0], [1, 1]]


def test_a_name_that_is_absent_in_every_encoding_is_no_matter_of_it():
    """Latin-1 reads these names as cp1252 does, and UTF-8 plain ones."""
    other = schema_of(A.categorical("Höhe", ["1", "2"]), SEX)
    plain = b"size;place;g\n1;a;m\n2;b;w\n"
    cases = (LATIN, "latin-1"), (UNICODE, "utf-8"), (plain, "utf-8"), (plain, "cp1252")
    for content, said in cases:
        with pytest.raises(pds.SchemaError) as refusal:
            read_csv(content, other, encoding=said)
        assert "missing column(s): ['Höhe']" in str(refusal.value)
        assert "seems" not in str(refusal.value)


def test_cells_that_cannot_be_read_are_told_as_such():
    """Also where they would be one of the others without a word."""
    schema = schema_of(SEX, TOWN, left_out={"Größe": ""})
    with pytest.warns(UserWarning, match="aren't in utf-8; it seems to be in cp1252: say enc"):
        frame = read_csv(LATIN, schema)
    (problem,) = schema.problems(frame)
    assert problem.column == "Ort" and problem.records == 80
    assert "what its encoding doesn't know" in problem.problem
    assert 'say its encoding, as encoding="cp1252"' in problem.remedy
    with pytest.raises(pds.SchemaError, match="80 value.*what the file's encoding doesn't know"):
        schema.encode(frame)
    open_ = schema_of(SEX, A.categorical("Ort", ["Köln", "x"], other="x"), left_out={"Größe": ""})
    with pytest.warns(UserWarning, match="aren't in utf-8"):
        assert not open_.problems(read_csv(LATIN, open_))
    pay = schema_of(SEX, A.numeric("pay", 0, 9999, number="1 234,5"))
    with pytest.warns(UserWarning, match="aren't in utf-8"):
        frame = read_csv("g;pay\nm;1\xa0234\nw;5\n".encode("cp1252"), pay)
    assert "what its encoding doesn't know" in pay.problems(frame)[0].problem


def test_the_sign_itself_is_a_sign_like_others():
    """U+FFFD may stand in a file in UTF-8; no other encoding is told then."""
    schema = schema_of(SEX, A.categorical("Ort", ["a", "b"], other="b"))
    with warnings.catch_warnings(action="error"):
        frame = read_csv("g;Ort\nm;a\nw;K\ufffdln\n".encode(), schema)
    assert schema.encode(frame).tolist() == [[0, 0], [1, 1]]
    with pytest.warns(UserWarning, match="aren't in utf-8; say encoding='…', or save it as CSV"):
        read_csv(b"g;Ort\nm;a\nw;K\0ln\n", schema)


def test_the_command_line_names_the_likely_encoding(tmp_path):
    with pytest.raises(pds.SchemaError, match="isn't in utf-8: it seems to be in cp1252: say enc"):
        pds.datasets.outline(LATIN, encoding="utf-8")
    raw, schema = tmp_path / "raw.csv", tmp_path / "schema.toml"
    raw.write_bytes(LATIN)
    schema_of(SIZE, TOWN, left_out={"g": ""}).write(schema)
    release = ["release", str(raw), str(schema), "--epsilon", "1", "--out", str(tmp_path / "r")]
    plan = ["plan", str(raw), str(schema), "--epsilon", "1"]
    for command, words in (
        (["outline", str(raw), "--encoding", "utf-8"], SAID.format("cp1252")),
        (release, SAID.format("cp1252")),
        (plan, "names aren't in utf-8: say --encoding, as cp1252"),
    ):
        run = CliRunner().invoke(commands, command)
        assert run.exit_code == 1 and words in str(run.exception)
    run = CliRunner().invoke(commands, [*release, "--encoding", "cp1252"])
    assert run.exit_code == 0, run.output


def test_cells_of_any_type_have_their_problem():
    """Lists can't be told apart by their hash."""
    schema = pds.Schema((A.numeric("x", 0, 9), SEX))
    (problem,) = schema.problems(pd.DataFrame({"x": [[1], 2], "g": ["m", "w"]}))
    assert problem.problem == "not a number"
