"""``figures/make.py --only``: some curves run anew, every other committed trial stays."""

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from script_tools import load

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def make():
    return load(ROOT / "figures" / "make.py")


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


def test_fresh_trials_of_other_curves_are_left_out(make):
    """A paper whose experiment can't leave curves out runs them all."""
    old = trials("AB", 2)
    found = make.replaced(old, trials("ABC", 2, level=10.0), {"method": "B"})
    assert found["method"].tolist() == list("ABAB") and found["value"].tolist() == [0, 10, 1, 11]


@pytest.mark.parametrize(
    ("name", "only"),
    [("persons", {"method": "sample"}), ("holders", {"method": "one curator"})],
)
def test_papers_without_grids_run_the_chosen_curves_alone(make, name, only, tiny):
    paper = make.find(name)
    settings = {"persons": {"records": (200,) * 3}, "holders": {}}[name]  # the first needs Adult
    run = make.Run(1, 1, data=None if settings else tiny, jobs=1, only=only)
    found = paper.trials(1, paper.check(1, 1, settings), run)
    assert set(found["method"]) == {only["method"]}


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
    board = make.Committed(paper, tmp_path)
    make.write_trials(board, 3, first.data, first.parameters)
    run = make.Run(2, 1, data=tiny, jobs=1)
    monkeypatch.setattr(make, "start", lambda *_: run)
    given = type("Given", (), {"only": [("method", "Independent")], "set": None})
    make.rerun(board, 3, given)
    make.rerun(board, 3, given)
    back = make.read(board.file(3, "_trials.csv"))
    assert set(back["epsilon"]) == {0.5} and len(back) == len(first.data)
    (again,) = json.loads(board.file(3, ".json").read_text("utf-8"))["again"]
    assert again["only"] == {"method": "Independent"}, "its trials were replaced, so is their line"


# --- the command under a figure


def settings_of(make, command):
    """What the tool is told by a command, as a shell gives it; and the figure or table."""
    words = [*pairwise(shlex.split(command))]
    ((kind, number),) = [at for at in words if at[0] in ("--figure", "--table")]
    told = dict(make.setting(word) for option, word in words if option == "--set")
    return {"--figure": "fig", "--table": "table"}[kind] + number, told


def test_a_shell_gives_the_command_of_every_page_its_committed_settings(make):
    several = 0
    for page in ROOT.glob("figures/*/README.md"):
        for command in re.findall(r"\* Command: `(python [^`]+)`", page.read_text("utf-8")):
            name, told = settings_of(make, command)
            facts = json.loads((page.parent / f"{name}.json").read_text("utf-8"))
            assert {n: facts[n] for n in told} == told, command
            several += sum(isinstance(value, list) for value in told.values())
    assert several >= 3


def test_twin_a_list_without_quotes_is_another_setting(make):
    bare = 'python figures/make.py p --figure 3 --set same_peers=["MST"]'
    assert settings_of(make, bare) == ("fig3", {"same_peers": "[MST]"})


# --- what is committed stays


def given(**options):
    names = ("figure", "table", "set", "repeats", "only", "reading", "store", "redraw", "out")
    return type("Given", (), dict.fromkeys(names) | {"jobs": 1} | options)


@pytest.fixture
def board(make, tmp_path, tiny):
    """Three repeats of the thesis' figure 3 on a small table, as if they were committed."""
    made = make.Committed(make.find("hpprivbayes"), tmp_path)
    quick = {"degrees": ("1",), "epsilons": (1.0,)}
    result = made.paper.run(3, make.Run(3, 1, data=tiny, jobs=1), quick)
    make.write_trials(made, 3, result.data, result.parameters)
    return made


def refused(make, board, repeats, settings, only=()):
    with pytest.raises(SystemExit) as said:
        make.keep_evidence(board, 3, repeats, settings, dict(only))
    assert "--out FOLDER" in str(said.value)
    return str(said.value)


def test_fewer_repeats_or_other_settings_never_replace_committed_trials(make, board):
    assert "holds 3 repeats, and 2 would replace them" in refused(make, board, 2, {})
    assert "3 repeats" in refused(make, board, 2, {}, {"method": "HPPrivBayes"})
    assert "another theta" in refused(make, board, 3, {"theta": 0.3})
    make.keep_evidence(board, 3, 3, {"theta": 0.1, "degrees": ("1",)}, {})
    make.keep_evidence(board, 3, 2, {}, {"method": "JTree"})  # a curve that isn't there
    make.keep_evidence(board, 4, 1, {}, {})  # a figure that isn't there


def test_everything_is_refused_before_anything_runs(make, monkeypatch, tmp_path):
    """The command that README led to: two repeats of all figures."""
    monkeypatch.setattr(make.Paper, "run", lambda *_: pytest.fail("it ran"))
    committed = make.Committed(make.find("hpprivbayes"), make.HERE)
    with pytest.raises(SystemExit, match="20 repeats, and 2 would replace"):
        make.make_figures(committed, given(repeats=2))
    with pytest.raises(SystemExit, match="20 repeats, and 1 would replace"):
        make.make_readings(committed, given(repeats=1, reading="at most k", figure=[3]))
    with pytest.raises(make.pds.BudgetError, match="doesn't use ratios"):
        make.make_figures(committed, given(repeats=20, figure=[3], set=[("ratios", ["1/2"])]))


def test_what_is_committed_is_run_on_all_its_tables(make, board):
    there = make.Committed(board.paper, make.HERE)
    assert make.start(there, given()).whole and not make.start(board, given()).whole


def test_a_figure_that_ran_once_has_no_error_bars_and_says_so(make):
    assert make.say_bars(make.find("holders"), 1) == "none; one run each."
    assert "Student" in make.say_bars(make.find("holders"), 15)
    assert "Clopper" in make.say_bars(make.find("courtroom"), 1)


def test_a_reading_with_several_verdicts_of_a_claim_names_their_figures(make):
    boards = {
        name: make.Committed(make.find(name), ROOT / "figures") for name in ("persons", "holders")
    }
    names = {
        name: [make.say_readings(board, v) for v in make.scoreboard.grouped(board).values()]
        for name, board in boards.items()
    }
    assert names["persons"] == [["ours, Figure 1", "ours, Figure 2"]] * 2
    assert {*map(tuple, names["holders"])} == {("ours",)}
