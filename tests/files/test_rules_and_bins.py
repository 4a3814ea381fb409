"""Rules between columns and private bins by the command line: a stranger's table to its report."""

import shlex

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth import __main__ as command

N = 600
ATTRIBUTES = """
[attributes]
age = "edges 0, 15, 25, 45, 65, 100"
work = "none | part | full"
hours = "0 to 60 in 6 bins"
overtime = "0 to 60 in 6 bins"
pay = "0 to 90000 in 8 private bins"
"""
CHILDREN = '[[rules]]\nimpossible = {age = "0–14", work = ["part", "full"]}\n'
LESS = '[[rules]]\nat_most = ["overtime", "hours"]\n'


def table():
    """Children don't work, nobody works more hours over than in all, and many have no pay."""
    rng = np.random.default_rng(5)
    age = rng.integers(0, 95, N)
    work = np.where(age < 15, "none", rng.choice(["none", "part", "full"], N))
    hours = np.select([work == "full", work == "part"], [40, rng.integers(5, 35, N)], 0)
    pay = np.where(work == "none", 0, rng.integers(5_000, 80_000, N))
    over = np.minimum(hours, rng.integers(0, 12, N))
    columns = {"age": age, "work": work, "hours": hours, "overtime": over, "pay": pay}
    return pd.DataFrame(columns)


@pytest.fixture
def speak(tmp_path, monkeypatch, capsys):
    """Status, standard output and error of a command in a folder with the table."""
    monkeypatch.chdir(tmp_path)
    table().to_csv("people.csv", index=False)

    def run(words, schema=ATTRIBUTES + CHILDREN + LESS):
        (tmp_path / "people.toml").write_text(schema, encoding="utf-8")
        status = command.main(shlex.split(words))
        return status, *capsys.readouterr()

    return run


def test_from_the_table_to_the_report(speak, tmp_path):
    words = "release people.csv people.toml --epsilon 2 --out out --with-report"
    status, said, note = speak(words)
    assert status == 0 and "ε = 2 of 2" in said and "no comparison" not in note
    out = tmp_path / "out"
    assert "two-way distance" in (out / "card.md").read_text(encoding="utf-8")

    schema = pds.Schema.read(out / "schema.toml")
    assert not schema.private and schema["pay"].size == 8 and len(schema.rules) == 2
    rows = pd.read_csv(out / "synthetic.csv", keep_default_na=False)
    assert not ((rows["age"] < 15) & (rows["work"] != "none")).any()
    assert (rows["overtime"] <= rows["hours"]).all()

    measured = pd.read_csv(out / "measured.csv")
    assert [*measured.columns] == ["line", "attributes", "values", "measured", "low", "high"]
    shown = measured["measured"].clip(0, N)
    assert (measured["low"] <= shown).all() and (shown <= measured["high"]).all()

    status, said, _ = speak("report people.csv out")
    assert status == 0
    assert "0 of its 600 rows break one of the 2 rules between columns; of the 600 real" in said
    assert f"Of {len(measured)} measured counts, the 90 % intervals of" in said

    status, _, refused = speak("report people.csv out/synthetic.csv people.toml")
    assert status == 1 and "none for pay: give that of the release, which is schema.toml" in refused


def declared(old="", new="", rules=""):
    """The schema file with one line in other words, and other rules."""
    return ATTRIBUTES.replace(old, new) + rules


MISTAKES = {
    "rules that contradict each other": (
        declared(
            rules='[[rules]]\ndetermines = ["work", "hours"]\n'
            'mapping = {none = "0–10", part = "0–10", full = "0–10"}\n'
            '[[rules]]\nimpossible = {work = ["none", "part"], hours = "0–10"}\n'
            '[[rules]]\ndetermines = ["work", "age"]\nmapping = {full = "0–14"}\n' + CHILDREN
        ),
        "contradict each other",
    ),
    "a rule that empties a column": (
        declared(
            rules='[[rules]]\nimpossible = {age = ["0–14", "15–24", "25–44", "45–64", "65–100"], '
            'work = ["none", "part", "full"]}\n'
        ),
        "leaves no",
    ),
    "an unknown column": (declared(rules='[[rules]]\nat_most = ["wage", "pay"]\n'), "'wage'"),
    "an unknown value": (
        declared(rules='[[rules]]\nimpossible = {age = "0–14", work = "much"}\n'),
        "'work' has no value 'much'",
    ),
    "a rule about edges that a fit chooses": (
        declared(rules='[[rules]]\nat_most = ["hours", "pay"]\n'),
        "rules name pay, whose bins are chosen by each fit",
    ),
    "a number outside the range": (declared("90000", "1000"), "pay"),
    "more bins than places for edges": (
        declared("90000 in 8", "5 in 16"),
        "leave no edge to choose",
    ),
    "private bins without a range": (
        declared("0 to 90000 in 8", "8"),
        "write `18 to 90 in 8 bins`",
    ),
    "private bins without their number": (
        declared("in 8 private bins", "in private bins"),
        "(or `in 8 private bins`)",
    ),
    "records that break a rule": (
        declared(rules='[[rules]]\nimpossible = {age = "15–24", work = "none"}\n'),
        "people.toml",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_costs_nothing_and_leaves_nothing(speak, tmp_path, mistake):
    schema, words = MISTAKES[mistake]
    account = "--session a.jsonl --session-epsilon 3"
    release = f"release people.csv people.toml --epsilon 1 --out out {account}"
    status, said, refused = speak(release, schema)
    assert (status, said) == (1, "") and refused.startswith("refused: ")
    assert words in refused, refused
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "people.toml"]


def test_a_distance_that_no_epsilon_reaches(speak):
    status, said, refused = speak("plan people.csv people.toml --distance 0.0001")
    assert (status, said) == (1, "") and "no ε up to 10" in refused
