"""What must hold for any file: refused in our words, or read as it was written.

A few examples of each here; ``python tests/fuzz.py --minutes 10`` draws new ones for as long.
"""

import gzip
import io
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from core.test_properties import OURS, check_words, few
from hypothesis import given
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth.files import reading as own
from pdsynth.files.outlining import outline
from pdsynth.files.reading import read_csv, read_header
from pdsynth.files.release import as_released, write_csv

pa = pytest.importorskip("pyarrow")
feather, parquet = (pytest.importorskip(f"pyarrow.{name}") for name in ("feather", "parquet"))
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
NAMES = ["a", "b", "c"]
ODD = """2020-01-01 01.02.2003 31/12/1999 ? 12 % $1,234 1.234,5 now NA 1e400 -0 ∞ " 0x1F 1_000 ٣
True nan 007 9007199254740993 a|b + missing drop public""".split()
letters = st.characters(codec="utf-8")
cells = st.one_of(
    st.text(letters, max_size=4),
    st.sampled_from([*ODD, "", "\x00", "12 %", "+ missing", "1 234,5"]),
    st.integers(-9, 9).map(str),
    st.floats().map(str),
)


# --- files ----------------------------------------------------------------------------------------


def join(lines, sign, quoted, encoding, end):
    """Lines of cells as a file; ``quoted``: which cells stand in quotes."""

    def quote(cell):
        return '"' + cell.replace('"', '""') + '"' if quoted(cell) else cell

    return end.join(sign.join(map(quote, line)) for line in lines).encode(encoding, "replace")


encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "gb18030"])
ends = st.sampled_from(["\n", "\r\n", "\r"])
lines = st.lists(st.lists(cells, max_size=4), max_size=8)
even = st.integers(2, 3).flatmap(
    lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=30)
)
texts = st.builds(
    join,
    st.one_of(lines, even, even),
    st.sampled_from(",;\t| "),
    st.sampled_from([lambda cell: True, lambda cell: False]),
    encodings,
    ends,
)
starts = st.sampled_from([b"", b"PAR1", b"ARROW1\0\0", b"PK\3\4", b"\x1f\x8b", b"\xd0\xcf\x11\xe0"])
junk = st.builds(bytes.__add__, starts, st.binary(max_size=60))
KINDS = {
    "whole": st.integers(-(2**63), 2**63 - 1),
    "small": st.integers(-3, 3),
    "float": st.floats(),
    "truth": st.booleans(),
    "text": cells,
    "bytes": st.binary(max_size=3),
    "day": st.dates(),
    "moment": st.datetimes(),
    "time": st.times(),
    "span": st.timedeltas(timedelta(-9), timedelta(9)),
    "decimal": st.decimals(-99, 99, places=2),
    "list": st.lists(st.integers(0, 3), max_size=2),
    "table": st.fixed_dictionaries({"x": st.integers(0, 3)}),
    "nothing": st.none(),
}


def listed(column):
    """A column as a category, where its type allows that."""
    nested = pa.types.is_nested(column.type) or pa.types.is_null(column.type)
    return column if nested else column.dictionary_encode()


@st.composite
def tables(draw):
    """An arrow table whose columns have any type, some of them categories, some with gaps."""
    n, columns = draw(st.integers(0, 25)), {}
    for name in draw(st.lists(st.sampled_from([*NAMES, "", "a b"]), unique=True, max_size=3)):
        kind = KINDS[draw(st.sampled_from(list(KINDS)))]
        kind = draw(st.sampled_from([kind, st.one_of(kind, st.none())]))
        column = pa.array(draw(st.lists(kind, min_size=n, max_size=n)))
        columns[name] = listed(column) if draw(st.booleans()) else column
    return pa.table(columns)


def store(table, write):
    """The bytes of a table."""
    stream = io.BytesIO()
    write(table, stream)
    return stream.getvalue()


typed = st.builds(store, tables(), st.sampled_from([parquet.write_table, feather.write_feather]))


# --- properties -----------------------------------------------------------------------------------


def read_or_refuse(content, **how):
    """What every reader must do with a file: read it, or say what to do; and agree."""
    try:
        frame = read_csv(content, **how)
    except OURS as problem:
        return check_words(problem)
    header = read_header(content, **{k: v for k, v in how.items() if k != "number"})
    assert header.n == len(frame) and len(header.names) == frame.shape[1]
    assert frame.columns.is_unique
    return frame


def draft_and_read(content, **how):
    """A file is drafted in our words, and what the draft declares holds for the file itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draft.toml"
        try:
            outline(content, path, **how)
            schema = pds.Schema.read(path)
        except OURS as problem:
            check_words(problem)
            return None, None
    frame = read_csv(content, schema, **how)
    found = schema.problems(frame)
    assert not [one for one in found if one.column not in schema.left_out]
    return schema, frame


options = st.fixed_dictionaries(
    {},
    optional={
        "names": st.sampled_from([NAMES, NAMES[:2]]),
        "header": st.booleans(),
        "delimiter": st.sampled_from([",", ";", " ", '"', "\n", "a", "\0", "ü"]),
        "number": st.sampled_from(["1,234.5", "1.234,5", "1 234,5", "1'234.5"]),
        "skip": st.integers(0, 2),
        "encoding": st.sampled_from(["utf-8", "cp1252", "utf-16", "ascii", "hex", "rot13"]),
    },
)


@few
@given(st.one_of(texts, texts, junk), options, st.booleans())
def test_any_bytes_are_refused_in_our_words_or_read_and_drafted(content, how, packed):
    content = gzip.compress(content) if packed else content
    read_or_refuse(content, **how)
    draft_and_read(content, **how)


@few
@given(typed)
def test_a_table_of_any_types_is_refused_in_our_words_or_read_and_drafted(content):
    read_or_refuse(content)
    draft_and_read(content)


@few
@given(even, st.sampled_from(",;\t|"), st.booleans(), encodings, ends, st.booleans())
def test_a_written_text_comes_back_cell_by_cell(rows, sign, quoted, encoding, end, pieces):
    names = NAMES[: len(rows[0])]
    rows = [[c.encode(encoding, "replace").decode(encoding) for c in row] for row in rows]
    special = {sign, '"', "\r", "\n"}
    content = join([names, *rows], sign, lambda cell: quoted or special & {*cell}, encoding, end)
    words = [pds.Attribute.categorical(name, ["x", "y"], missing=True) for name in names]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own, "CELLS", 6 if pieces else own.CELLS)
        frame = read_csv(
            content,
            pds.Schema(tuple(words)),
            header=True,
            delimiter=sign,
            encoding=encoding,
        )
    wanted = [[cell.replace("\0", "\ufffd").strip() or None for cell in row] for row in rows]
    assert frame.astype(object).where(frame.notna(), None).to_numpy().tolist() == wanted


PIECES = [
    *("[attributes]\n", "[attributes.a]\n", "[groups]\n", "columns = ", "\n", "\n", "# note\n"),
    *("a = ", "b = ", '"a b" = ', "domain = ", "values = ", "edges = ", "mapping = ", "type = "),
    *("missing = true", "public = false", 'date = "year"', 'date = "age"', 'on = "2020-01-31"'),
    *('number = "1.234,5"', "clip = true", 'na_values = ["?"]', 'other = "x"', 'spread = "lower"'),
    *("{", "}", "[", "]", ", ", ", ", '"', '"""', '"0 to 5"', '"0 to 9.5 in 3 bins + missing"'),
    *('"x | y"', '"01 | 1 | x"', '"edges 0, 1, 1e3"', '"drop: why"', '"?"', '"+ missing"'),
    *("3", "-1.5", "nan", "inf", "1e400", "true", "1979-05-27", '["x", "y"]', "[1, 2, 3]"),
    *("9" * 5000, f'"0 to {"9" * 5000}"', f'"0 to 9 in {"9" * 5000} bins"', "[" * 5000),
]
lines_of_a_schema = st.builds(
    "[attributes]\na = {}\nb = {}\n".format,
    *[st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)] * 2,
)
entries = st.builds(
    '[attributes]\na = {{{}}}\nb = "x | y"\n'.format,
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5, unique=True).map(", ".join),
)


@few
@given(
    st.one_of(
        st.binary(max_size=80),
        st.lists(st.sampled_from(PIECES), max_size=14).map("".join).map(str.encode),
        lines_of_a_schema.map(str.encode),
        entries.map(str.encode),
    )
)
def test_any_schema_file_is_refused_in_our_words_or_comes_back(content):
    with tempfile.TemporaryDirectory() as folder:
        path, again = Path(folder) / "one.toml", Path(folder) / "two.toml"
        path.write_bytes(content)
        try:
            schema = pds.Schema.read(path)
        except OURS as problem:
            return check_words(problem, most=99_999)  # of a file whose names may be long
        schema.write(again)
        assert pds.Schema.read(again) == schema
        schema.write(path)  # over the text that it was read from
        assert pds.Schema.read(path) == schema


def test_a_column_without_a_name_is_found_again():
    schema, frame = draft_and_read(b",:,\n,,2020-01-01\n,,2021-01-01\n")
    assert schema.names == ("column 3",) and len(frame) == 2


@few
@given(st.one_of(texts, typed))
def test_a_reviewed_draft_is_fitted_and_what_is_released_fits_it(content):
    schema, frame = draft_and_read(content)
    if schema is None or len(schema) < 2:
        return
    with tempfile.TemporaryDirectory() as folder:
        path, table = Path(folder) / "draft.toml", Path(folder) / "released.csv"
        replace(schema, source="public", left_out={}).write(path)
        reviewed = pds.Schema.read(path)
        assert reviewed.source == "public" and reviewed.attributes == schema.attributes
        synth = pds.baselines.Independent(5).fit(frame, reviewed)
        fake = synth.sample(random_state=1)
        assert len(fake) == len(frame) and not reviewed.problems(fake)
        write_csv(fake, table)
        released = as_released(reviewed)
        again = read_csv(table, released, header=True, delimiter=",", encoding="utf-8")
        assert (released.encode(again) == reviewed.encode(fake)).all()
