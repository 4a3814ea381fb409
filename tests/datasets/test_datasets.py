"""The shipped tables equal their originals, their schemas fit them,
and the finder explains itself.
"""

import subprocess
import sys

import make_tables
import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.datasets.adult import load_adult
from pdsynth.datasets.loaders import find, load_cmc
from pdsynth.datasets.tables import TABLES, Dataset, expand_rules

MAY_BE_UNKNOWN = TABLES["adult"]["unknown"]
THESIS_SIZES = (5, 7, 7, 16, 5, 7, 14, 6, 5, 2, 6, 2, 7, 2)
LOADERS = {
    "adult": load_adult,
    "adult complete": lambda: load_adult(complete=True),
    "adult thesis": lambda: load_adult(coding="thesis"),
    "adult thesis author": lambda: load_adult(coding="thesis-author"),
    "adult yes-no": lambda: load_adult(coding="yes-no"),
    "cmc": load_cmc,
}


@pytest.fixture(params=LOADERS, scope="module")
def dataset(request) -> Dataset:
    return LOADERS[request.param]()


def test_adult_has_uci_s_rows_columns_and_split(adult):
    assert adult.frame.shape == (48_842, 15)
    assert list(adult.frame) == make_tables.ADULT_COLUMNS
    assert adult.split.value_counts().to_dict() == {"train": 32_561, "test": 16_281}
    assert adult.frame["salary"].groupby(adult.split).apply(
        lambda s: (s == ">50K").sum()
    ).to_dict() == {"train": 7_841, "test": 3_846}
    assert {n: int((adult.frame[n] == "?").sum()) for n in MAY_BE_UNKNOWN} == {
        "workclass": 2_799,
        "occupation": 2_809,
        "native-country": 857,
    }
    assert (adult.target, adult.sensitive, adult.licence) == ("salary", "occupation", "CC BY 4.0")


def test_complete_adult_drops_the_rows_and_the_category_of_the_unknown():
    complete = load_adult(complete=True)
    assert complete.frame.shape == (45_222, 15)
    assert complete.split.value_counts().to_dict() == {"train": 30_162, "test": 15_060}
    assert complete.frame.index.equals(complete.split.index)
    assert not any("?" in a.values for a in complete.schema.attributes)
    assert [a.name for a in load_adult().schema.attributes if "?" in a.values] == MAY_BE_UNKNOWN


def test_thesis_coding_is_table_2(thesis):
    assert thesis.schema.sizes == THESIS_SIZES
    assert thesis.frame.shape == (45_222, 14)
    assert "salary" not in thesis.frame
    assert thesis.target == "education"
    assert thesis.schema["age"].labels == ("17–29", "30–40", "41–47", "48–54", "55–90")
    assert thesis.schema["capital-gain"].labels[-1] == "99999"
    assert set(thesis.frame["native-country"]) == {"US", "non-US"}
    assert "27,504" in thesis.note


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("age", 29, 0),
        ("age", 30, 1),
        ("age", 54, 3),
        ("age", 55, 4),
        ("age", 90, 4),
        ("fnlwgt", 77_373, 0),
        ("fnlwgt", 77_374, 1),
        ("fnlwgt", 380_162, 5),
        ("fnlwgt", 1_490_400, 6),
        ("education-num", 8, 0),
        ("education-num", 9, 1),
        ("education-num", 11, 2),
        ("education-num", 14, 3),
        ("education-num", 15, 4),
        ("capital-gain", 1_848, 0),
        ("capital-gain", 2_009, 1),
        ("capital-gain", 5_721, 1),
        ("capital-gain", 6_097, 2),
        ("capital-gain", 11_678, 3),
        ("capital-gain", 18_481, 4),
        ("capital-gain", 41_310, 4),
        ("capital-gain", 99_999, 5),
        ("capital-loss", 880, 0),
        ("capital-loss", 974, 1),
        ("capital-loss", 4_356, 1),
        ("hours-per-week", 21, 0),
        ("hours-per-week", 22, 1),
        ("hours-per-week", 37, 2),
        ("hours-per-week", 38, 3),
        ("hours-per-week", 72, 5),
        ("hours-per-week", 73, 6),
        ("hours-per-week", 99, 6),
    ],
)
def test_thesis_bins_are_those_of_the_specification(thesis, name, value, code):
    assert thesis.schema[name].encode(pd.Series([value], name=name)).tolist() == [code]


def test_thesis_coding_is_always_complete():
    pd.testing.assert_frame_equal(
        load_adult(coding="thesis").frame, load_adult(complete=True, coding="thesis").frame
    )
    with pytest.raises(ValueError, match="'thesis'.*not 'paper'"):
        load_adult(coding="paper")


def test_default_coding_has_16_bins_for_each_number_and_every_documented_category(adult):
    numbers = [a for a in adult.schema.attributes if a.numeric_bins]
    assert [(a.name, a.size) for a in numbers] == [
        (n, 16)
        for n in (
            "age",
            "fnlwgt",
            "education-num",
            "capital-gain",
            "capital-loss",
            "hours-per-week",
        )
    ]
    for name, rule in expand_rules("adult").items():
        if "|" in rule:
            documented = set(rule.split(" | "))
            assert documented | set(adult.frame[name]) == set(adult.schema[name].values)


def test_cmc_has_uci_s_rows_and_classes(cmc):
    assert cmc.frame.shape == (1_473, 10)
    assert cmc.frame["method"].value_counts().sort_index().tolist() == [629, 333, 511]
    assert cmc.split is None
    with pytest.raises(ValueError, match="no public train/test split"):
        _ = cmc.train


def test_train_and_test_are_the_whole(adult):
    assert len(adult.train) == 32_561
    assert len(adult.test) == 16_281
    assert adult.train.index.union(adult.test.index).equals(adult.frame.index)


def test_schema_is_public_and_fits_the_records(dataset):
    assert dataset.schema.source == "public"
    assert dataset.schema.names == tuple(dataset.frame)
    assert {dataset.target, dataset.sensitive} <= set(dataset.schema.names)
    codes = dataset.schema.encode(dataset.frame)
    assert codes.dtype == np.uint8
    assert codes.flags.f_contiguous
    assert (codes.max(axis=0) < np.array(dataset.schema.sizes)).all()


def test_texts_are_str_numbers_int64_and_answers_int8(dataset):
    for attribute in dataset.schema.attributes:
        text = isinstance(attribute.values[0], str) and not attribute.numeric_bins
        assert dataset.frame[attribute.name].dtype == (
            "str" if text else "int8" if dataset.name.endswith("yes–no") else "int64"
        )


@pytest.mark.parametrize("random", [False, True])
def test_decoding_keeps_columns_dtypes_and_codes(dataset, random):
    schema = dataset.schema
    codes = schema.encode(dataset.frame)
    uniforms = np.random.default_rng(0).random(codes.shape) if random else None
    back = schema.decode(codes, uniforms)
    assert list(back) == list(dataset.frame)
    assert back.dtypes.equals(dataset.frame.dtypes.replace({np.dtype("int8"): np.dtype("int64")}))
    assert np.array_equal(schema.encode(back), codes)
    for attribute in schema.attributes:
        if not attribute.numeric_bins:
            assert back[attribute.name].tolist() == dataset.frame[attribute.name].tolist()


@pytest.mark.parametrize("kind", ["category", "object"])
def test_decoding_follows_the_declaration_and_not_the_frame(adult, kind):
    frame = adult.frame.head(500).astype({"sex": kind, "age": "int32"})
    back = adult.schema.decode(adult.schema.encode(frame))
    assert back.dtypes["sex"] == "str"
    assert back.dtypes["age"] == "int64"
    assert back["sex"].tolist() == frame["sex"].tolist()
    assert back["salary"].dtype == "str"


def test_zero_capital_comes_back_as_zero(adult):
    codes = adult.schema.encode(adult.frame)
    back = adult.schema.decode(codes, np.random.default_rng(1).random(codes.shape))
    for name in ("capital-gain", "capital-loss"):
        assert (back.loc[adult.frame[name] == 0, name] == 0).all()


def test_what_one_caller_changes_the_next_does_not_see():
    first = load_adult()
    first.frame.loc[0, "age"] = 99
    first.frame["sex"] = "Other"
    again = load_adult().frame
    assert again.loc[0, "age"] == 39
    assert again.loc[0, "sex"] == "Male"


def test_a_dataset_shows_itself_and_escapes_its_texts(dataset):
    assert f"{len(dataset.frame):,} rows" in repr(dataset)
    html = dataset._repr_html_()
    assert "CC BY 4.0" in html
    assert "doi:" in html
    assert "<=50K" not in html


def test_the_files_are_small_and_carry_no_time(root):
    files = sorted((root / "pdsynth" / "datasets" / "data").iterdir())
    assert [f.name for f in files] == ["adult.csv.gz", "cmc.csv.gz", "survey.csv", "survey.toml"]
    assert all(f.stat().st_size < 2**20 for f in files)
    assert all(f.read_bytes()[4:8] == b"\0\0\0\0" for f in files if f.suffix == ".gz")


def test_the_messy_file_is_what_its_command_writes(adult):
    assert find("survey.csv").read_bytes() == make_tables.survey(adult.frame)


# Facts of the matrix in the thesis' public code: how often each code occurs, column by column.
AUTHOR = {
    "age": "7956 8167 4630 3215 3536",
    "workclass": "20135 2313 991 886 1956 1210 13",
    "fnlwgt": "3470 5162 5652 6218 3391 2339 1272",
    "education": "4618 6260 957 9209 488 939 1233 350 437 331 1484 39 752 314 78 15",
    "education-num": "2959 15469 1233 7041 802",
    "marital-status": "12798 3993 8876 825 758 233 21",
    "occupation": "850 3685 2777 3364 3735 3693 1189 1687 3449 879 1491 90 606 9",
    "relationship": "1251 4186 11415 7130 644 2878",
    "race": "24218 273 271 113 2629",
    "sex": "8932 18572",
    "capital-gain": "25259 941 674 412 79 139",
    "capital-loss": "26205 1299",
    "hours-per-week": "2236 2047 1383 13643 5125 2705 365",
    "salary": "20509 6995",
}


def test_the_thesis_author_s_table_has_his_counts_in_every_column():
    table = load_adult(coding="thesis-author")
    assert table.frame.shape == (27_504, 14) and table.split is None
    codes = table.schema.encode(table.frame)
    counts = {
        name: " ".join(map(str, np.bincount(codes[:, j], minlength=size)))
        for j, (name, size) in enumerate(zip(table.schema.names, table.schema.sizes, strict=True))
    }
    assert counts == AUTHOR and list(counts) == list(AUTHOR)


def test_a_subset_has_some_attributes_and_rows_spread_evenly(adult):
    part = adult.subset(["salary", "age", "occupation"], 5)
    assert list(part.frame) == ["salary", "age", "occupation"] == list(part.schema.names)
    assert part.frame.index.tolist() == [0, 9_768, 19_536, 29_305, 39_073]
    assert part.split.tolist() == ["train"] * 4 + ["test"]
    assert len(adult.subset(adult.schema.names).frame) == 48_842
    small = adult.subset(["sex", "race"], target="sex", sensitive="race")
    assert (small.target, small.sensitive) == ("sex", "race")
    with pytest.raises(ValueError, match="target 'salary' isn't among sex, race: say target="):
        adult.subset(["sex", "race"])
    with pytest.raises(ValueError, match="rows must be a whole number from 1 to 48,842, got 0"):
        adult.subset(adult.schema.names, 0)
    with pytest.raises(pds.SchemaError, match="no attribute 'income'"):
        adult.subset(["sex", "income"])


def test_loading_needs_neither_pyarrow_nor_sklearn(root):
    script = (
        "import sys; sys.modules['pyarrow'] = None; from pdsynth.datasets import load_adult; "
        "f = load_adult().frame; "
        "assert f['sex'].dtype == 'str', f.dtypes; "
        "assert 'sklearn' not in sys.modules; print(len(f))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True)
    assert done.stdout.strip() == "48842", done.stderr


@pytest.mark.parametrize(
    ("complete", "file"),
    [(False, "adult_full_48842.parquet"), (True, "adult_complete_45222.parquet")],
)
def test_adult_equals_the_independent_copy_row_by_row(data_folder, complete, file):
    ours = load_adult(complete=complete)
    copy = pd.read_parquet(data_folder / file).rename(columns={"income": "salary"})
    pd.testing.assert_frame_equal(ours.frame.assign(split=ours.split), copy, check_dtype=False)


def test_cmc_equals_the_independent_copy_row_by_row(data_folder, cmc):
    pd.testing.assert_frame_equal(cmc.frame, pd.read_csv(data_folder / "cmc_1473.csv.gz"))


def test_find_takes_a_folder_a_file_or_the_variable(tmp_path, monkeypatch):
    file = tmp_path / "nltcs_21574.parquet"
    file.touch()
    monkeypatch.delenv("PDSYNTH_DATA", raising=False)
    assert find("nltcs", path=tmp_path) == file
    assert find("nltcs", path=file) == file
    monkeypatch.setenv("PDSYNTH_DATA", str(tmp_path))
    assert find("nltcs") == file
    assert find("nltcs_21574.parquet") == file


def test_find_says_where_to_get_a_table_and_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.delenv("PDSYNTH_DATA", raising=False)
    where = r"neither path= nor \$PDSYNTH_DATA.*National Long Term Care.*nltcs_21574.parquet"
    with pytest.raises(FileNotFoundError, match=where):
        find("nltcs")
    with pytest.raises(
        FileNotFoundError, match=r"isn't at .*big5_19719.parquet.*openpsychometrics"
    ):
        find("big5", path=tmp_path)


def test_every_table_has_its_credits_and_every_one_that_isnt_shipped_says_where_to_get_it(root):
    for name, facts in TABLES.items():
        shipped = (root / "pdsynth" / "datasets" / "data" / f"{name}.csv.gz").exists()
        assert shipped != ({"file", "where"} <= set(facts))
        if not name.endswith("_part"):
            assert facts["source"] and facts["licence"]
