"""``figures/make.py --only``: some curves run anew, every other committed trial stays."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("figures_make_again", ROOT / "figures/make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trials(methods, repeats, level=0.0):
    rows = [
        {"metric": "d", "method": m, "repeat": i, "seed": i, "value": level + i, "note": ""}
        for i in range(repeats)
        for m in methods
    ]
    return pd.DataFrame(rows)


def test_only_what_was_run_again_changes_and_in_its_place(make):
    old, fresh = trials("AB", 2), trials("B", 2, level=10.0)
    found = make.replaced(old, fresh, {"method": "B"})
    assert found["method"].tolist() == list("ABAB")
    assert found["value"].tolist() == [0, 10, 1, 11]
    assert list(found.columns) == list(old.columns)


def test_fewer_repeats_replace_all_and_new_curves_stand_at_the_end(make):
    old = trials("AB", 3)
    fewer = make.replaced(old, trials("B", 1, level=10.0), {"method": ["B"]})
    assert fewer["method"].tolist() == list("ABAA") and fewer["value"].tolist() == [0, 10, 1, 2]
    more = make.replaced(old, trials("C", 2), {"method": "C"})
    assert more[:6].equals(old) and more["method"].tolist()[6:] == list("CC")


def test_the_page_says_what_was_run_again_and_when(make):
    facts = {"again": [{"only": {"method": "B"}, "repeats": 2, "version": "1", "on": "2026-01-01"}]}
    said = make.again(facts)
    assert said.startswith("* Run again on 2026-01-01, version 1, 2 repeats: method = B.")
    assert make.again({}) == ""


def test_a_rerun_keeps_the_committed_settings(make, monkeypatch, tmp_path, tiny):
    """Trials of one method, run again with the ε of the committed file and not the default's."""
    paper = make.find("yardsticks")
    options = {"same_epsilons": (0.5,), "same_peers": (), "same_on": ("NLTCS",)}
    first = paper.run(3, make.Run(2, 1, data=tiny, jobs=1), options)
    monkeypatch.setattr(
        make, "file", lambda paper, key, end, reading=None: tmp_path / f"fig{key}{end}"
    )
    make.write_trials(paper, 3, first.data, first.parameters)
    run = make.Run(2, 1, data=tiny, jobs=1)
    monkeypatch.setattr(make, "start", lambda *_: run)
    given = type("Given", (), {"only": [("method", "Independent")], "set": None})
    make.rerun(paper, 3, given)
    back = make.read(tmp_path / "fig3_trials.csv")
    assert set(back["epsilon"]) == {0.5} and len(back) == len(first.data)
    assert '"again"' in (tmp_path / "fig3.json").read_text("utf-8")
