"""Synthetic tables as CSV: types survive, and a declared text that a spreadsheet would run doesn't
run where that is asked for."""

import csv

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.files.writing import FORMULA, quote

TRAPS = ["=1+1", "+SUM(A1)", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(A1)", "--1", "-"]
HIDDEN = [
    "＝1+1",
    "＋1+1",
    "－1+1",
    "＠A1",
    " =1",
    "\n=1",
    "\u00a0=1",
    "\u3000＝1",
    "\ufeff=1",
    "\x00=1",
]
PLAIN = ["Bern", "-3", "+4.5", "-.5", "", "a=b", "'=1", "1-2", "–", " -3", "－3", "  ", " Bern"]


@pytest.mark.parametrize("cell", [*TRAPS, *HIDDEN])
def test_a_cell_that_would_run_is_quoted(cell):
    assert quote(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", HIDDEN)
def test_twin_the_first_sign_alone_doesn_t_tell(cell):
    assert not FORMULA.match(cell)


@pytest.mark.parametrize("cell", [*PLAIN, 3, -3, None, 2.5])
def test_other_cells_stay(cell):
    assert quote(cell) == cell


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("kind", ["text", "category"])
def test_a_file_holds_no_formula_where_that_is_asked(tmp_path, asked, kind):
    schema = pds.Schema(
        (
            pds.Attribute.categorical("=job", TRAPS, missing=True, dtype=kind),
            pds.Attribute.numeric("change", -9, 9, bins=3, integer=True, missing=True),
            pds.Attribute.categorical("member", [True, False]),
        )
    )
    frame = schema.decode(np.array([[j, j % 4, j % 2] for j in range(10)]))
    before = frame.copy()
    pds.datasets.write_csv(frame, tmp_path / "t.csv", quote_formulas=asked)
    pd.testing.assert_frame_equal(frame, before)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    runs = [c for row in rows for c in row if quote(c) != c]
    assert bool(runs) is not asked
    assert rows[-1][0] == "", "a missing value is an empty cell"
    assert rows[1][1].startswith("-"), "negative numbers are numbers"
    assert len(rows) == 11
