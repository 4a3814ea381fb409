"""From the publishers' files to those that the loaders read: each form, and what is refused."""

import gzip
import zipfile

import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.__main__ import main
from pdsynth.datasets import convert as module
from pdsynth.datasets.convert import LOADERS, convert
from pdsynth.datasets.loaders import find
from pdsynth.datasets.tables import TABLES


@pytest.fixture
def raw(tmp_path):
    """What each publisher offers, made again from the table; skipped where there is none."""

    def make(table):
        try:
            frame = pd.read_parquet(find(table))
        except FileNotFoundError as missing:
            pytest.skip(str(missing))
        file = tmp_path / {"big5": "BIG5.zip", "retail": "retail.dat.gz"}.get(table, f"{table}.csv")
        if table == "big5":
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("BIG5/codebook.txt", "what the columns mean")
                archive.writestr("BIG5/data.csv", frame.to_csv(sep="\t", index=False))
        elif table == "retail":
            lines = frame.groupby("basket")["item"].agg(lambda items: " ".join(map(str, items)))
            file.write_bytes(gzip.compress((" \n".join(lines) + " \n").encode()))
        elif table == "credit_default":
            names = frame.columns.str.replace(".", " ")
            body = frame.set_axis(names, axis=1).to_csv(index=False)
            codes = ",".join(["", *(f"X{i}" for i in range(1, 24)), "Y"])
            file.write_text(codes + "\n" + body, encoding="utf-8")
        elif table == "nltcs":
            frame.to_csv(file, sep=" ", index=False, header=False)
        else:
            frame.to_csv(file, index=False)
        return file

    return make


@pytest.mark.slow
@pytest.mark.parametrize("table", [t for t in LOADERS if t != "credit_fraud"])
def test_a_publishers_file_becomes_the_table_that_is_read(table, raw, tmp_path):
    file = convert(table, raw(table), tmp_path / "data")
    assert file.name == TABLES[table]["file"]
    mine, real = LOADERS[table](file.parent), LOADERS[table](find(table).parent)
    pd.testing.assert_frame_equal(mine.frame, real.frame, check_dtype=False)


def test_what_is_no_such_table_leaves_nothing_behind(tmp_path):
    file = tmp_path / "nltcs.txt"
    file.write_text("0 1\n1 0\n")
    for table, words in (("nltcs", "isn't the table 'nltcs'"), ("mine", "no table 'mine'")):
        with pytest.raises(pds.SchemaError, match=words):
            convert(table, file, tmp_path / "data")
    with pytest.raises(pds.SchemaError, match="there is no file"):
        convert("nltcs", tmp_path / "other", tmp_path / "data")
    assert not list(tmp_path.glob("data/*"))


def test_a_file_that_is_there_is_never_overwritten(tmp_path):
    there = tmp_path / TABLES["acs"]["file"]
    there.write_text("mine")
    with pytest.raises(pds.SchemaError, match="there already"):
        convert("acs", there, tmp_path)
    assert there.read_text() == "mine"


def test_the_command_lists_and_converts(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("PDSYNTH_DATA", raising=False)
    assert main(["data"]) == 0
    told = capsys.readouterr().out
    assert "adult, cmc: ship" in told and "retail.dat" in told
    assert main(["data", "nltcs", "no.txt"]) == 1
    assert "--out FOLDER" in capsys.readouterr().err
    monkeypatch.setitem(module.LOADERS, "nltcs", lambda path: None)
    file = tmp_path / "nltcs.txt"
    file.write_text("\n".join([" ".join("01" * 8)] * 3))
    assert main(["data", "nltcs", str(file), "--out", str(tmp_path / "data")]) == 0
    frame = pd.read_parquet(tmp_path / "data" / TABLES["nltcs"]["file"])
    assert frame.shape == (3, 16) and frame.columns[0] == "eating"
