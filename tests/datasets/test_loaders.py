"""The loaders of tables that can't be shipped: exact facts of the real files, and plain errors for
other ones."""

import math
import sys

import numpy as np
import pandas as pd
import pytest

from pdsynth.datasets.loaders import (
    load_acs,
    load_big5,
    load_national2019,
    load_nltcs,
    load_retail,
    read_table,
)
from pdsynth.datasets.tables import TABLES, expand_rules, public_schema

BIG5 = public_schema("big5")
ITEMS = [f"{trait}{i}" for trait in "ENACO" for i in range(1, 11)]


def test_big5_has_the_papers_rows_attributes_and_bits(data_folder):
    table = load_big5(data_folder)
    assert table.frame.shape == (19_719, 57)
    bits = {a.name: math.ceil(math.log2(a.size)) for a in table.schema.attributes}
    assert sum(bits.values()) == 175
    assert {
        n: bits[n]
        for n in ("race", "age", "engnat", "gender", "hand", "source", "country", "E1", "O10")
    } == {
        "race": 4,
        "age": 4,
        "engnat": 2,
        "gender": 2,
        "hand": 2,
        "source": 3,
        "country": 8,
        "E1": 3,
        "O10": 3,
    }
    assert table.schema["age"].size == 16
    assert table.schema.source == "public"
    assert table.schema.encode(table.frame).max(axis=0)[1] == 15


def test_big5_s_odd_values_become_what_the_loader_says(data_folder):
    raw, ours = pd.read_parquet(data_folder / "big5_19719.parquet"), load_big5(data_folder).frame
    assert (raw["age"] > 100).sum() == 83
    assert (ours["age"] == 100).sum() == 83 + (raw["age"] == 100).sum()
    assert ours["age"].where(raw["age"] <= 100).equals(raw["age"].where(raw["age"] <= 100))
    assert (ours["country"] == "NA").sum() == 8
    assert set(raw.loc[ours["country"] == "unknown", "country"]) == {"", "(nu"}
    assert BIG5.names[7:] == tuple(ITEMS)
    assert (ours[ITEMS] == 0).all(axis=1).sum() == 1


def test_big5_s_countries_are_256_public_values():
    values = BIG5["country"].values
    assert len(set(values)) == len(values) == 256
    assert values[-1] == "unknown"


def test_big5_from_csv_reads_namibia(tmp_path):
    ones = np.ones(TABLES["big5"]["rows"], dtype=int)
    raw = pd.DataFrame(dict.fromkeys(BIG5.names, ones))
    raw["age"], raw["country"] = 2_000, "NA"
    raw.to_csv(tmp_path / "mine.csv", index=False)
    frame = load_big5(tmp_path / "mine.csv").frame
    assert set(frame["country"]) == {"NA"}
    assert set(frame["age"]) == {100}


def test_nltcs_and_acs_are_the_papers_tables(data_folder):
    nltcs, acs = load_nltcs(data_folder), load_acs(data_folder)
    assert nltcs.frame.shape == (21_574, 16)
    assert len(nltcs.frame.drop_duplicates()) == 3_152
    assert (nltcs.frame.sum(axis=1) == 0).sum() == 3_853
    assert acs.frame.shape == (47_461, 23)
    assert set(nltcs.schema.sizes) == set(acs.schema.sizes) == {2}


def test_national2019_is_the_ten_columns_that_nist_scores(data_folder):
    table = load_national2019(data_folder)
    assert table.frame.shape == (27_253, 10)
    assert table.schema.sizes == (20, 2, 7, 9, 3, 3, 13, 11, 7, 2)
    codes = table.schema.encode(table.frame)
    assert (codes[:, 0] == table.frame["AGEP"] // 5).all()  # bins of five years
    back = table.schema.decode(codes)
    assert (back["AGEP"] // 5 == table.frame["AGEP"] // 5).all()
    assert back.drop(columns="AGEP").equals(table.frame.drop(columns="AGEP"))
    assert "government" in table.licence and table.schema.source == "public"


def test_national2019_from_csv_leaves_further_columns_out(tmp_path):
    rows = TABLES["national2019"]["rows"]
    ones = {name: np.ones(rows, dtype=int) for name in expand_rules("national2019")}
    raw = pd.DataFrame({"PUMA": ["01-01301"] * rows, **ones}).assign(MSP="N", PUMA=None)
    raw.to_csv(tmp_path / "mine.csv", index=False)
    frame = load_national2019(tmp_path / "mine.csv").frame
    assert list(frame) == list(expand_rules("national2019"))
    assert set(frame["MSP"]) == {"N"} and set(frame["EDU"]) == {"1"} and set(frame["SEX"]) == {1}
    raw.drop(columns="DEYE").to_csv(tmp_path / "mine.csv", index=False)
    with pytest.raises(ValueError, match=r"missing column\(s\) \['DEYE'\]"):
        load_national2019(tmp_path / "mine.csv")


def test_retail_keeps_the_best_sellers_and_the_empty_baskets(data_folder):
    table = load_retail(path=data_folder)
    assert table.frame.shape == (88_162, 50)
    assert list(table.frame)[:5] == ["item 39", "item 48", "item 38", "item 32", "item 41"]
    sales = table.frame.sum()
    assert sales.iloc[:2].tolist() == [50_675, 42_135]
    assert (np.diff(sales) <= 0).all()
    assert len(table.frame.drop_duplicates()) == 14_495
    assert "public" in table.note
    assert load_retail(3, data_folder).frame.equals(table.frame.iloc[:, :3])


@pytest.mark.parametrize("items", [1, 0, 20_000, 2.5, True])
def test_retail_refuses_an_impossible_number_of_items(items):
    with pytest.raises(ValueError, match="items must be a whole number from 2 to 16,470"):
        load_retail(items)


def _retail(path, pairs):
    pd.DataFrame(pairs, columns=["basket", "item"]).to_csv(path, index=False)
    return path


def test_an_item_listed_twice_counts_once(tmp_path):
    file = _retail(
        tmp_path / "r.csv", [(0, 7), (0, 7), (1, 7), (2, 5), (2, 5), (2, 5), (88_161, 16_469)]
    )
    frame = load_retail(2, file).frame
    assert frame.sum().to_dict() == {"item 7": 2, "item 5": 1}
    assert set(np.unique(frame)) == {0, 1}


@pytest.mark.parametrize("pairs", [[], [(0, 0)], [(-1, 3), (88_161, 16_469)], [(88_161, 20_000)]])
def test_another_basket_table_is_refused(tmp_path, pairs):
    with pytest.raises(ValueError, match="isn't the Retail table"):
        load_retail(2, _retail(tmp_path / "r.csv", pairs))


def test_wrong_columns_rows_values_and_gaps_are_refused_in_plain_words(tmp_path):
    def saved(frame):
        frame.to_csv(tmp_path / "t.csv", index=False)
        return tmp_path / "t.csv"

    good = pd.DataFrame(np.zeros((21_574, 16), dtype=int), columns=list(expand_rules("nltcs")))
    assert load_nltcs(saved(good)).frame.shape == good.shape
    with pytest.raises(
        ValueError, match=r"missing column\(s\) \['eating'\], unknown column\(s\) \['x'\]"
    ):
        load_nltcs(saved(good.rename(columns={"eating": "x"})))
    with pytest.raises(ValueError, match="has 21,573 rows, the table 'nltcs' has 21,574"):
        load_nltcs(saved(good.iloc[1:]))
    with pytest.raises(ValueError, match="eating.*1 value.*outside.*2"):
        load_nltcs(saved(good.assign(eating=[2] + [0] * 21_573)))
    good.assign(eating=[None] + [0] * 21_573).to_parquet(tmp_path / "g.parquet")
    with pytest.raises(ValueError, match="missing values"):
        load_nltcs(tmp_path / "g.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"a Parquet file needs pyarrow: .*pdsynth\[scale\]"):
        read_table("nltcs", tmp_path / "t.parquet")
