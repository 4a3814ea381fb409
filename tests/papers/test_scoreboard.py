"""The scoreboard: one page, counted by code; no verdict changes without a line that says why."""

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from paper_tools import BOARDS

from pdsynth.papers.engine import PAPERS, find, stem
from pdsynth.papers.results import VERDICTS
from pdsynth.papers.selectors import expand, fill

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "figures" / "SCOREBOARD.md"


@cache
def judge():
    """Every verdict by figure, claim and reading, judged when it is first asked for."""
    return {
        (f"{board.paper.name} {stem(key)}", v.claim, v.reading): v
        for board in BOARDS
        for key in board.keys
        for v in board.verdicts[key]
    }


def briefs(name):
    """Every claim of a paper, as the page names it."""
    claims = find(name).file["claim"]
    listed = [(c["brief"], c["each"]) if "{" in c["brief"] else (c["brief"], {}) for c in claims]
    turns = [
        (brief, each if isinstance(each, list) else expand(each, None)) for brief, each in listed
    ]
    return {fill(brief, at) for brief, each in turns for at in each}


def rows():
    """Its lines, one per claim, as lists of cells: the papers' have seven, ours six."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [
        [c.strip() for c in line.strip("|").split(" | ")] for line in lines if "[numbers]" in line
    ]
    return cells


def test_every_claim_has_one_line_and_each_paper_fits_a_screen():
    text = PAGE.read_text(encoding="utf-8")
    assert len(rows()) == sum(len(briefs(board.paper.name)) for board in BOARDS if board.keys), (
        "a claim has no line, or two"
    )
    assert "SCOREBOARD.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    parts = text.split("\n## ")[1:]
    for part in parts:
        lines = part.count("[numbers]")
        if part.startswith("Found otherwise"):
            continue
        assert lines <= 24 and len(part.split()) <= 60 + 55 * lines, part.splitlines()[0]


def test_a_line_says_whose_words_where_how_large_and_at_what_true_price():
    text = PAGE.read_text(encoding="utf-8")
    for cells in rows():
        assert all(cells), cells
        assert len(cells) == (7 if cells[0].startswith("*") else 6), cells
    sections = {part.splitlines()[0]: part for part in text.split("\n## ")[1:]}
    for heading, part in sections.items():
        if "*" in part and "Readings: " in part:
            explained = part.split("Readings: ")[1]
            named = set(re.findall(r"\(([^()]+), (?:print|ours)\) \|", part))
            assert all(f"**{name}**" in explained for name in named), heading


def test_it_says_untestable_nowhere():
    assert "untestable" not in PAGE.read_text(encoding="utf-8").lower()
    for path in (ROOT / "pdsynth" / "papers").iterdir():
        if path.suffix in (".py", ".toml"):
            assert "untestable" not in path.read_text(encoding="utf-8"), path


def test_anchors_of_the_numbers_are_there():
    for cells in rows():
        page, anchor = re.search(r"\((\S+)#(claim-\d+)\)", cells[-1]).groups()
        assert f'<a id="{anchor}"></a>' in (ROOT / "figures" / page).read_text(encoding="utf-8")


@pytest.mark.slow
def test_no_claim_is_judged_twice_under_one_reading():
    judged = [v for board in BOARDS for found in board.verdicts.values() for v in found]
    assert len(judged) == len(judge())


def count(lines, at):
    kinds = [re.split(r"[:†(]", cells[at])[0].strip() for cells in lines]
    return Counter(kinds)


def test_its_counts_are_those_of_its_lines():
    text = PAGE.read_text(encoding="utf-8")
    theirs = [c for c in rows() if len(c) == 7]
    own = [c for c in rows() if len(c) == 6]
    first = next(line for line in text.splitlines()[1:] if line)
    assert first.startswith(f"{len(theirs)} claims of the papers: "), "their claims come first"
    for said, lines, at in (
        (first.split("papers: ")[1].split(".")[0], theirs, 2),
        (first.split("below: ")[1].split(".")[0], own, 2),
    ):
        counts = {words.split(" ", 1)[1]: int(words.split(" ")[0]) for words in said.split(", ")}
        assert set(counts) <= {*VERDICTS, "mixed"} and counts == count(lines, at)


def replay(changes):
    """The verdicts before readings were an axis, and every change since, one after the other."""
    before = pd.read_csv(Path(__file__).with_name("verdicts_before.csv"), keep_default_na=False)
    found = {(r.figure, r.claim, r.reading): r.verdict for r in before.itertuples()}
    for r in changes.itertuples():
        assert r.why and r.why.strip(), r
        at = (r.figure, r.claim, r.reading)
        assert found.get(at, "") == r.before, r
        found.pop(at, None)
        if r.to:
            found[at] = r.to
    return found


def changes():
    table = pd.read_csv(ROOT / "figures" / "changes.csv", keep_default_na=False)
    return table.rename(columns={"from": "before"})


@pytest.mark.slow
def test_no_verdict_changed_without_a_line_that_says_why():
    now = {at: v.verdict for at, v in judge().items()}
    assert replay(changes()) == now
    assert replay(changes().iloc[:-1]) != now, "twin: a change without a line is noticed"


def test_a_verdict_that_moves_has_its_rule():
    moved = changes()
    since = moved.index[moved["rule"] != ""][0]
    assert (moved.loc[since:, "rule"] != "").all() and set(moved.loc[since:, "to"]) <= {
        *VERDICTS,
        "",
    }


@pytest.mark.slow
def test_one_reading_counts_for_each_claim_and_the_print_s_where_it_runs():
    for board in BOARDS:
        known = board.paper.readings()
        for key, found in board.verdicts.items():
            for claim in {v.claim for v in found}:
                mine = [v for v in found if v.claim == claim]
                counts = [v.reading for v in mine if v.primary]
                aside = not counts  # another definition of a measure that isn't defined
                assert len(counts) == 1 or aside and key == 4, (key, claim)
                ran = {v.reading for v in mine if known[v.reading].whose == "print"}
                ran -= {"ascending"}  # no other reading of the same lines is nearer to the print
                assert aside or not ran or known[counts[0]].whose == "print", (key, claim, ran)


@pytest.mark.slow
def test_no_verdict_of_quality_rests_on_one_run():
    once = [v for v in judge().values() if "(one run)" in v.numbers.split("Strict")[0]]
    assert all(v.said == "our intervals too wide (n = 1)" for v in once)


@pytest.mark.parametrize("paper", ["hpprivbayes", "hmprivbayes", "privabn", "genetic", "ppba"])
def test_every_sentence_has_its_claims_or_says_why_not(paper):
    with Path(__file__).with_name("sentences.toml").open("rb") as file:
        sentences = tomllib.load(file)[paper]
    named = []
    for each in sentences:
        assert each["says"] and ("claims" in each) != ("not_judged" in each), each
        named += each.get("claims", [])
    known = {n: briefs(n) for n in PAPERS}
    for brief in named:
        name, _, rest = brief.partition(": ")
        assert rest in known[name] if name in PAPERS else brief in known[paper], brief
    if paper in PAPERS:
        assert known[paper] <= set(named), "a claim that no sentence of the paper makes"
