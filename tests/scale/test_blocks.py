"""Records in blocks: the same counts, models and refusals as in memory, and nothing left behind."""

import gc
import itertools
import os
import stat
import tempfile
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from contract_cases import CASES, TABLES, document, make, spending
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import schema_of

from pdsynth import (
    Attribute,
    BudgetError,
    PrivABN,
    PrivacyError,
    PrivBayes,
    Schema,
    SchemaError,
    Synthesizer,
    baselines,
    parts,
)
from pdsynth.core.records import Codes, Lattice, Records
from pdsynth.core.views import BinaryEncoding, Merging
from pdsynth.published.partitions import count_both
from pdsynth.scale import blocks
from pdsynth.scale.blocks import Blocks
from pdsynth.scale.sources import find_source, read_frames


@pytest.fixture
def small(monkeypatch):
    """Blocks of a few records, several passes a step, and a file from the first byte on."""
    monkeypatch.setattr(blocks, "ROWS", 16)
    monkeypatch.setattr(blocks, "MEMORY", 1)
    monkeypatch.setattr(blocks.InBlocks, "pass_cells", 64)


def in_blocks(codes, sizes, rows):
    held = Blocks(sizes)
    for start in range(0, len(codes), rows):
        held.append(codes[start : start + rows])
    held.at_once, held.pass_cells = min(rows, len(codes)), 50
    return held


@st.composite
def coded(draw):
    """Sizes and codes of a random table, two-valued columns among others."""
    sizes = draw(st.lists(st.sampled_from([2, 2, 3, 5]), min_size=2, max_size=5))
    n, seed = draw(st.integers(1, 90)), draw(st.integers(0, 2**32 - 1))
    codes = np.random.Generator(np.random.PCG64(seed)).integers(0, sizes, size=(n, len(sizes)))
    return tuple(sizes), np.asfortranarray(codes.astype(np.uint8))


class TestCounts:
    @given(coded(), st.integers(1, 40), st.randoms(use_true_random=False))
    @settings(max_examples=60)
    def test_tables_of_any_heads_and_tails_equal_counting_by_hand(self, case, rows, rng):
        sizes, codes = case
        columns = range(len(sizes))
        asked = [rng.sample(columns, rng.randint(0, len(sizes))) for _ in range(6)]
        cuts = [rng.randint(0, len(members)) for members in asked]
        sets = [(tuple(m[:c]), tuple(m[c:])) for m, c in zip(asked, cuts, strict=True)]
        by_hand = [np.zeros([sizes[j] for j in members], dtype=int) for members in asked]
        for row, (members, table) in itertools.product(codes, zip(asked, by_hand, strict=True)):
            table[tuple(row[members])] += 1
        for counter in (Codes(codes, sizes), in_blocks(codes, sizes, rows)):
            found = [table.copy() for table in counter.tables(sets)]
            assert [t.tolist() for t in found] == [t.ravel().tolist() for t in by_hand]

    @given(coded(), st.integers(1, 40), st.sampled_from("HK"))
    @settings(max_examples=40)
    def test_a_lattice_over_blocks_is_the_same_bit_by_bit(self, case, rows, kind):
        sizes, codes = case
        whole = Lattice(Codes(codes, sizes)).build(3, kind=kind)
        parts = Lattice(in_blocks(codes, sizes, rows)).build(3, kind=kind)
        for size in range(1, len(sizes) + 1):
            sets = np.array(list(itertools.combinations(range(len(sizes)), size)))
            assert np.array_equal(whole._look_up(kind, sets), parts._look_up(kind, sets))

    @given(coded(), st.integers(1, 40))
    @settings(max_examples=20)
    def test_bits_and_distances_of_bits(self, case, rows):
        sizes, codes = case
        schema = schema_of(sizes)
        whole = Records(codes, schema).binary()
        parts = Records(in_blocks(codes, sizes, rows), schema).binary()
        assert np.array_equal(count_both(whole), count_both(parts))
        assert np.array_equal(whole.pairwise("I"), parts.pairwise("I"))

    def test_a_step_takes_one_pass(self, monkeypatch):
        """All expected tables are counted when the first is asked for; a full step takes two."""
        sizes, passes = (3, 3, 3), []
        held = Blocks(sizes)
        held.append(np.zeros((4, 3), dtype=np.uint8))
        monkeypatch.setattr(Blocks, "__iter__", lambda self: passes.append(1) or iter([]))
        records = Records(held, schema_of(sizes))
        sets = [(0,), (1,), (0, 1), (2, 0)]
        records.expect(sets)
        for columns in sets:
            records.table(columns)
        assert len(passes) == 1
        held.pass_cells = 9
        records.expect([(1, 0), (0, 2)])
        records.table((0, 2))
        assert len(passes) == 3


def fitted(name, data, schema, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(name, schema, random_state=5, **params).fit(data, schema)


def found(name, data, schema, **params):
    """A model as it stands in its file, or the words that refuse it."""
    try:
        return document(fitted(name, data, schema, **params).model_)
    except (BudgetError, PrivacyError) as refusal:
        return str(refusal)


def parquet(frame, path, rows=20):
    frame.to_parquet(path, row_group_size=rows)
    return path


class TestFits:
    @pytest.mark.parametrize("table", TABLES)
    @pytest.mark.parametrize("name", CASES)
    def test_every_strict_synthesizer_gives_the_same_bytes(self, name, table, tmp_path, small):
        frame, schema = TABLES[table]()
        if table == "mixed":  # its other columns: test_whatever_holds_the_table
            schema = Schema(tuple(schema[c] for c in ("age", "wage", "grade", "score", "member")))
            frame = frame[[*schema.names]]
        data = frame, parquet(frame, tmp_path / "t")
        whole, counted = (found(name, each, schema, epsilon=20) for each in data)
        assert counted == whole

    @pytest.mark.parametrize("name", CASES)
    def test_private_bins_and_what_is_made_of_them_after(self, name, tmp_path, small):
        rng = np.random.default_rng(8)
        age = rng.integers(17, 91, 90)
        columns = {"age": age, "old": age > 60, "kind": rng.integers(0, 3, 90), "sex": age % 2}
        frame = pd.DataFrame(columns)
        private = Attribute.numeric("age", 17, 90, bins="private", number=8, integer=True)
        others = {"old": [False, True], "kind": [0, 1, 2], "sex": [0, 1]}
        schema = Schema((private, *(Attribute.categorical(n, v) for n, v in others.items())))
        data = frame, parquet(frame, tmp_path / "t")
        whole, counted = (found(name, each, schema, epsilon=20) for each in data)
        assert counted == whole

    @given(coded(), st.integers(1, 40))
    @settings(max_examples=20)
    def test_a_view_of_a_view(self, case, rows):
        sizes, codes = case
        schema = schema_of(sizes)
        merging = Merging(schema, tuple(np.arange(s) // (1 + (s > 2)) for s in sizes))
        bits = BinaryEncoding(merging.schema)
        held = Codes(codes, sizes), in_blocks(codes, sizes, rows)
        whole, parts = (h.encoded(merging).encoded(bits) for h in held)
        assert whole.sizes == parts.sizes == (2,) * len(bits.schema)
        for sets in ([((0,), ())], [((1,), (0,)), ((len(whole.sizes) - 1,), ())]):
            pairs = zip(whole.tables(sets), parts.tables(sets), strict=True)
            assert all(np.array_equal(a, b) for a, b in pairs)

    def test_whatever_holds_the_table(self, tmp_path, small):
        frame, schema = TABLES["mixed"](n=100)
        folder = tmp_path / "folder"
        folder.mkdir()
        parquet(frame[:60], folder / "a.parquet")
        parquet(frame[60:], folder / "b.parquet", rows=7)
        arrow = pa.Table.from_pandas(frame, preserve_index=False)
        whole = document(fitted("PrivBayes", frame, schema).model_)
        one = parquet(frame, tmp_path / "one")
        shuffled = frame.set_index(frame.index * 7 % 100)  # an index is no column
        for data in (
            str(one),
            one,
            folder,
            arrow,
            pa.dataset.dataset(arrow),
            pa.dataset.dataset(folder),
            pa.Table.from_pandas(shuffled),
        ):
            assert document(fitted("PrivBayes", data, schema).model_) == whole

    def test_add_remove_and_no_rows(self, tmp_path, small):
        frame, schema = TABLES["binary"](n=40)
        for rows in (frame, frame[:0]):
            data = [rows, parquet(rows, tmp_path / "t")]
            whole, parts = (
                baselines.Independent(relation="add_remove", random_state=1).fit(d, schema)
                for d in data
            )
            assert document(whole.model_) == document(parts.model_)

    def test_columns_that_are_left_out_are_not_read(self, tmp_path, small, monkeypatch):
        frame, schema = TABLES["binary"](n=40)
        wide = Schema(schema.attributes, left_out={"note": "free text"})
        path = parquet(frame.assign(note=[{"any": "thing"}] * 40), tmp_path / "t")
        seen = list(read_frames(find_source(path).dataset, wide))
        assert {tuple(frame.columns) for frame in seen} == {schema.names}
        whole = document(fitted("PrivBayes", frame, schema).model_)["tables"]
        assert document(fitted("PrivBayes", path, wide).model_)["tables"] == whole

    def test_listed_texts_are_read_once_each_and_refused_by_their_own_type(self, tmp_path, small):
        frame, schema = TABLES["mixed"](n=40)
        path = parquet(frame, tmp_path / "t")
        (part,) = find_source(path).dataset.get_fragments()
        kinds = {str(f["city"].dtype) for f in read_frames(part, schema)}
        assert kinds == {"category"}
        numbers = Schema(
            tuple(
                Attribute.categorical("city", [1, 2]) if a.name == "city" else a
                for a in schema.attributes
            )
        )
        with pytest.raises(SchemaError, match="the column has dtype str") as error:
            PrivBayes().fit(path, numbers)
        with pytest.raises(SchemaError, match="the column has dtype str"):
            PrivBayes().fit(frame, numbers)
        assert "[in rows 1 to" in str(error.value)

    def test_the_first_bad_rows_are_named_whatever_thread_comes_first(self, tmp_path, small):
        frame, schema = TABLES["mixed"](n=200)
        frame["city"] = frame["city"].astype(object)
        frame.loc[[37, 190], "city"] = "Paris"
        path = parquet(frame, tmp_path / "t")
        for _ in range(5):
            with pytest.raises(SchemaError, match=r"1 value.*\[in rows 33 to 40\]"):
                PrivBayes().fit(path, schema)


def last(frame, column, value):
    """The frame with one cell of its last row changed."""
    changed = frame.astype({column: object})
    changed.iloc[-1, changed.columns.get_loc(column)] = value
    return changed.infer_objects()


BAD = {
    "outside a domain": (lambda f: last(f, "city", "Paris"), r"'city': 1 value"),
    "outside edges": (lambda f: last(f, "age", 400), r"'age': 1 value"),
    "missing": (lambda f: last(f, "wage", None), r"'wage': 1 missing"),
    "a missing column": (lambda f: f.drop(columns="kids"), r"missing column.*kids"),
    "an undeclared column": (lambda f: f.assign(more=1), r"undeclared column.*more"),
    "no rows": (lambda f: f[:0], r"no rows"),
    "another type": (lambda f: f.assign(kids=f["kids"].astype(str)), r"'kids'"),
}


READ_ROWS = (
    PrivABN(k=2),
    baselines.PrivSCBN(epsilon=900, k=2),
    Synthesizer(structure=parts.Adaptive(k=2)),
)


class TestRefusals:
    @pytest.mark.parametrize("case", BAD)
    def test_what_memory_refuses_blocks_refuse_before_anything_is_spent(
        self, case, tmp_path, small, monkeypatch
    ):
        frame, schema = TABLES["mixed"](n=100)
        spoil, words = BAD[case]
        bad = spoil(frame)
        path = parquet(bad, tmp_path / "t")
        for data in (bad, path):
            with spending(monkeypatch) as seen, pytest.raises(SchemaError, match=words) as error:
                PrivBayes(k=1).fit(data, schema)
            assert seen == []
        row_wise = case not in ("a missing column", "an undeclared column", "no rows")
        assert ("in rows " in str(error.value)) == row_wise
        if case == "outside a domain":
            assert "in rows 97 to 100" in str(error.value)
            assert "Paris" not in str(error.value)

    def test_a_file_that_is_none(self, tmp_path):
        schema = TABLES["binary"]()[1]
        (tmp_path / "t.csv").write_text("a,b\n1,2\n")
        with pytest.raises(SchemaError, match=r"'t.csv' isn't a Parquet file.*read_csv"):
            PrivBayes().fit(tmp_path / "t.csv", schema)
        with pytest.raises(SchemaError, match=r"no file .*gone"):
            PrivBayes().fit(tmp_path / "gone", schema)

    @pytest.mark.parametrize("guarantee", ["published", "none"])
    @pytest.mark.parametrize("made", READ_ROWS, ids=repr)
    def test_what_needs_rows_is_refused_with_a_sentence(
        self, made, guarantee, tmp_path, monkeypatch
    ):
        frame, schema = TABLES["binary"]()
        path = parquet(frame, tmp_path / "t")
        needy = made.clone().set_params(guarantee=guarantee)
        with spending(monkeypatch) as seen, pytest.raises(BudgetError, match="distinct rows"):
            needy.fit(path, schema)
        assert seen == []
        made.clone().fit(path, schema)

    @pytest.mark.parametrize("guarantee", ["published", "none"])
    @pytest.mark.parametrize("name", [n for n in CASES if n not in ("PrivABN", "PrivSCBN")])
    def test_all_others_count(self, name, guarantee, tmp_path):
        """The twin: what isn't refused gives the same as in memory."""
        frame, schema = TABLES["binary"]()
        path = parquet(frame, tmp_path / "t")
        whole, counted = (found(name, d, schema, guarantee=guarantee) for d in (frame, path))
        assert counted == whole

    def test_codes_of_blocks_are_not_handed_out(self):
        held = in_blocks(np.zeros((4, 2), dtype=np.uint8), (2, 2), 2)
        with pytest.raises(BudgetError, match="whole records"):
            Records(held, schema_of((2, 2))).codes  # noqa: B018


class TestSpool:
    def spy(self, monkeypatch):
        made = []

        class Kept(tempfile.SpooledTemporaryFile):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                made.append(self)

        monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Kept)
        return made

    @pytest.mark.skipif(os.name == "nt", reason="files have names there until they are closed")
    def test_the_file_has_no_name_and_nobody_else_may_read_it(self, small, tmp_path, monkeypatch):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        held = in_blocks(np.zeros((40, 2), dtype=np.uint8), (2, 2), 16)
        told = os.fstat(held._file.fileno())
        assert stat.S_IMODE(told.st_mode) == 0o600
        assert told.st_nlink == 0
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("bad", [False, True])
    def test_it_is_closed_after_a_fit_and_after_a_refusal(self, bad, small, tmp_path, monkeypatch):
        made = self.spy(monkeypatch)
        frame, schema = TABLES["mixed"](n=100)
        path = parquet(last(frame, "city", "Paris") if bad else frame, tmp_path / "t")
        try:
            PrivBayes(k=1).fit(path, schema)
        except SchemaError:
            assert bad
        assert [file.closed for file in made] == [True]

    def test_twin_a_file_left_open_is_seen(self, small, monkeypatch):
        made = self.spy(monkeypatch)
        held = in_blocks(np.zeros((40, 2), dtype=np.uint8), (2, 2), 16)
        assert [file.closed for file in made] == [False]
        held.close()
        gc.collect()

    def test_wide_codes(self, small):
        sizes = (300, 2)
        codes = np.array([[299, 1], [256, 0], [0, 1]], dtype=np.uint16)
        held = in_blocks(codes, sizes, 2)
        assert [part.tolist() for part in held] == [codes[:2].tolist(), codes[2:].tolist()]


def test_types_of_blocks_may_differ_from_those_of_the_whole(tmp_path, small):
    """Whole numbers become floats in a block with empty cells, and dates stay dates."""
    n = 64
    days = pd.Series(pd.date_range("2001-01-01", periods=n, freq="30D").date)
    frame = pd.DataFrame(
        {
            "number": pd.array([*range(n - 1), None], dtype="Int64"),
            "yes": pd.Series([True, False] * 16 + [True, None] * 16, dtype=object),
            "born": days,
            "text": ["1", "2.0", " 3 ", "x"] * 16,
        }
    )
    schema = Schema(
        (
            Attribute.numeric("number", 0, n, bins=4, integer=True, missing=True),
            Attribute.categorical("yes", [False, True], missing=True),
            Attribute.numeric("born", 2000, 2010, bins=5, integer=True, date="year"),
            Attribute.categorical("text", [1, 2, 3, 9], other=9),
        )
    )
    path = parquet(frame, tmp_path / "t")
    whole = schema.encode(pd.read_parquet(path))
    assert np.array_equal(np.concatenate(list(find_source(path).encode(schema))), whole)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_file_that_is_another_one_when_it_is_read_is_refused(more, tmp_path):
    """n was told by then, and what is asked was planned for it."""
    schema = Schema(tuple(Attribute.categorical(x, ["a", "b"]) for x in "xy"))
    place, table = tmp_path / "t.parquet", pa.table({"x": ["a"] * 6, "y": ["b"] * 6})
    pa.parquet.write_table(table.slice(0, 5), place)
    source = find_source(place)
    source.check(schema, empty=False)
    pa.parquet.write_table(table.slice(0, 5 + more), place)
    changed = f"had 5 records and has {5 + more} now"
    with pytest.raises(SchemaError, match=changed), source.open(schema):
        pass
