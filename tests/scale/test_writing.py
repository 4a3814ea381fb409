"""Files of any length: the same rows for a seed, the declared types, whole or not there."""

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.core.errors import SchemaError
from pdsynth.scale import threads, writing

A = pds.Attribute
SCHEMA = pds.Schema(
    (
        A.categorical("text", ["a", 'b, "c"', ""]),
        A.categorical("whole", [3, 1, 2], missing=True),
        A.categorical("truth", [True, False]),
        A.categorical("maybe", [True, False], missing=True),
        A.categorical("kind", ["u", "v"], dtype="category", missing=True),
        A.categorical("rank", ["low", "high"], dtype="ordered"),
        A.numeric("age", 0, 99, bins=4, integer=True, missing=True),
        A.numeric("pay", 0.0, 1.0, bins=3, missing=True),
    )
)


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, size, 300) for size in SCHEMA.sizes], axis=1)
    frame = SCHEMA.decode(codes)
    return pds.baselines.Independent(5, random_state=1).fit(frame, SCHEMA).model_


@pytest.fixture
def small(monkeypatch):
    """Units of 100 rows, so that small files have many."""
    monkeypatch.setattr(writing, "UNIT", 100)


def test_parquet_holds_the_declared_types_and_every_value_fits_the_schema(model, tmp_path, small):
    model.sample_to(tmp_path / "t.parquet", 950, random_state=3)
    found = pd.read_parquet(tmp_path / "t.parquet")
    assert len(found) == 950
    assert found.dtypes.equals(model.sample(5).dtypes)
    assert found["rank"].cat.ordered and not found["kind"].cat.ordered
    codes = SCHEMA.encode(found)
    assert all(len(np.unique(codes[:, j])) == size for j, size in enumerate(SCHEMA.sizes))


def test_csv_and_parquet_of_a_seed_are_the_same_rows(model, tmp_path, small):
    model.sample_to(tmp_path / "t.parquet", 250, random_state=3)
    model.sample_to(tmp_path / "t.csv", 250, random_state=3)
    written = pd.read_csv(tmp_path / "t.csv", keep_default_na=False, na_values={})
    parquet = pd.read_parquet(tmp_path / "t.parquet")
    assert list(written.columns) == list(SCHEMA.names)
    assert written["text"].tolist() == parquet["text"].tolist()
    for name in ("whole", "age", "pay"):
        numbers = pd.to_numeric(written[name], errors="coerce")
        assert np.array_equal(numbers, parquet[name].astype(float), equal_nan=True)
    assert written["truth"].astype(str).tolist() == parquet["truth"].astype(str).tolist()


def test_rows_depend_on_the_seed_alone(model, tmp_path, small, monkeypatch):
    for name, workers in (("one", 1), ("four", 4)):
        monkeypatch.setattr(threads, "WORKERS", workers)
        model.sample_to(tmp_path / f"{name}.csv", 550, random_state=3)
    model.sample_to(tmp_path / "longer.csv", 700, random_state=3)
    model.sample_to(tmp_path / "other.csv", 550, random_state=4)
    one, four, longer, other = (
        (tmp_path / f"{name}.csv").read_text().splitlines()
        for name in ("one", "four", "longer", "other")
    )
    assert one == four != other
    assert longer[:501] == one[:501]  # whole units
    assert len({*one[1:101]} & {*one[101:201]}) < 50  # units have streams of their own


def test_a_seeded_synthesizer_writes_the_same_file_after_each_fit(tmp_path, adult):
    names = []
    for i in range(2):
        made = pds.baselines.Independent(random_state=5).fit(adult.frame[:500], adult.schema)
        made.sample_to(tmp_path / f"{i}.csv", 300)
        names.append((tmp_path / f"{i}.csv").read_bytes())
        made.sample_to(tmp_path / "next.csv", 300)
        assert (tmp_path / "next.csv").read_bytes() != names[-1]
    assert names[0] == names[1]


def test_shares_are_those_of_the_model(model, tmp_path):
    model.sample_to(tmp_path / "t.parquet", 200_000, random_state=1)
    found = SCHEMA.encode(pd.read_parquet(tmp_path / "t.parquet"))
    for j, name in enumerate(SCHEMA.names):
        p = model.conditionals[name][:, 0]
        shares = np.bincount(found[:, j], minlength=len(p)) / len(found)
        assert np.abs(shares - p).max() < 0.006  # five standard deviations


def test_a_condition_holds_in_every_row(model, tmp_path, small):
    model.sample_to(tmp_path / "t.parquet", 350, 1, where={"rank": "low", "age": 30})
    found = pd.read_parquet(tmp_path / "t.parquet")
    assert set(found["rank"]) == {"low"} and set(found["age"]) == {30}
    assert found.dtypes.equals(model.sample(5).dtypes)
    model.sample_to(tmp_path / "t.csv", 350, 1, where={"kind": None})
    assert pd.read_csv(tmp_path / "t.csv")["kind"].isna().all()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_keep_the_order_of_their_rule(ending, tmp_path, small):
    rng = np.random.default_rng(2)
    hours = rng.integers(0, 100, 400)
    frame = pd.DataFrame({"part": rng.integers(0, hours + 1), "hours": hours})
    ends = {"bins": 10, "integer": True, "missing": True}
    columns = tuple(A.numeric(name, 0, 99, **ends) for name in frame)
    free, kept = (
        pds.Schema(columns, rules=rules) for rules in ((), (pds.Rule.at_most("part", "hours"),))
    )
    broken = []
    for schema in (free, kept):
        model = pds.PrivBayes(50, k=1, random_state=1).fit(frame, schema).model_
        path = tmp_path / f"t.{ending}"
        model.sample_to(path, 950, random_state=3)
        found = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
        assert found.shape == (950, 2)
        broken.append(int((found["part"] > found["hours"]).sum()))
    assert broken[0] > 20 and broken[1] == 0  # both may stand in one bin


def test_a_file_is_whole_or_not_there(model, tmp_path, small, monkeypatch):
    target = tmp_path / "t.parquet"
    target.write_text("what was there before")
    drawn = type(model).sample_codes

    def breaks(self, n, generator, method="independent"):
        if n < 100:  # the last unit
            raise KeyboardInterrupt
        return drawn(self, n, generator, method)

    monkeypatch.setattr(type(model), "sample_codes", breaks)
    with pytest.raises(KeyboardInterrupt):
        model.sample_to(target, 250, 1)
    assert target.read_text() == "what was there before"
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"path": "t.xlsx"}, "writes .parquet or .csv"),
        ({"n": 0}, "whole number of rows"),
        ({"n": 10**13}, "whole number of rows"),
        ({"method": "balanced"}, "dealt out as a whole"),
        ({"random_state": -1}, "random_state"),
        ({"where": {"nobody": 1}}, "nobody"),
    ],
)
def test_what_cannot_be_written_is_refused_in_a_sentence(model, tmp_path, given, words):
    given = {"path": "t.csv", "n": 10} | given
    given["path"] = tmp_path / given["path"]
    with pytest.raises(ValueError, match=words):
        model.sample_to(**given)
    assert not list(tmp_path.iterdir())


def test_values_of_two_types_go_into_csv_only(tmp_path):
    schema = pds.Schema((A.categorical("x", ["a", 1]), A.categorical("y", [0, 1])))
    frame = schema.decode(np.array([[0, 0], [1, 1], [0, 1]]))
    model = pds.baselines.Independent(5, random_state=1).fit(frame, schema).model_
    model.sample_to(tmp_path / "t.csv", 10)
    with pytest.raises(SchemaError, match="values of one type"):
        model.sample_to(tmp_path / "t.parquet", 10)


def test_without_pyarrow_it_says_what_to_install(model, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"sample_to needs pyarrow: .*pdsynth\[scale\]"):
        model.sample_to(tmp_path / "t.csv", 10)
