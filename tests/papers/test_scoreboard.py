"""The scoreboard: one page, counted by code; no verdict changes without a line that says why."""

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from pdsynth.papers import scoreboard
from pdsynth.papers.engine import PAPERS, find, stem
from pdsynth.papers.results import OPEN, VERDICTS
from pdsynth.papers.selectors import expand, fill

ROOT = Path(__file__).resolve().parents[2]
BOARDS = scoreboard.read_boards(ROOT / "figures")
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
    return {fill(brief, at) for brief, each in listed for at in expand(each, None)}


def rows():
    """Its lines, one per claim, as lists of cells."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    return [c for c in cells if c[0] not in ("claim", "---")]


@pytest.mark.slow
def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == scoreboard.write(BOARDS)


def test_it_is_one_page_with_one_line_a_claim():
    text = PAGE.read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    assert len(rows()) == sum(len(briefs(n)) for n in PAPERS), "a claim has no line, or two"
    assert "SCOREBOARD.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_no_claim_is_judged_twice_under_one_reading():
    judged = [v for board in BOARDS for found in board.verdicts.values() for v in found]
    assert len(judged) == len(judge())


def test_its_counts_are_those_of_its_lines():
    verdicts = Counter(re.split("[:†]", cells[1])[0] for cells in rows())
    said = PAGE.read_text(encoding="utf-8").split("claims: ")[1].split(".")[0]
    counts = {words.split(" ", 1)[1]: int(words.split(" ")[0]) for words in said.split(", ")}
    assert set(counts) == {*VERDICTS, "mixed"}
    assert counts == {v: verdicts[v] for v in counts}


def replay(changes):
    """The verdicts before readings were an axis, and every change since, one after the other."""
    before = pd.read_csv(Path(__file__).with_name("verdicts_before.csv"))
    found = {(r.figure, r.claim): r.verdict for r in before.itertuples()}
    further = {}
    for r in changes.itertuples():
        assert r.why and r.why.strip(), r
        at = (r.figure, r.claim)
        kept = further if r.is_further else found
        name = (*at, r.reading) if r.is_further else at
        assert kept.get(name, "") == r.before, r
        kept.pop(name, None)
        if r.to:
            kept[name] = r.to
    return found, further


def changes():
    table = pd.read_csv(ROOT / "figures" / "changes.csv", keep_default_na=False)
    bases = {at[:2]: at[2] for at in reversed(judge())}  # the first reading of a claim is its base
    own = [
        bases.get((r.figure, r.claim), r.reading) == r.reading or not r.to
        for r in table.itertuples()
    ]
    return table.rename(columns={"from": "before"}).assign(is_further=[not b for b in own])


@pytest.mark.slow
def test_no_verdict_changed_without_a_line_that_says_why():
    found, further = replay(changes())
    bases, rest = {}, {}
    for (at, claim, reading), verdict in judge().items():
        if (at, claim) in bases:
            rest[at, claim, reading] = verdict.verdict
        else:
            bases[at, claim] = verdict.verdict
    assert found == bases
    assert further == rest
    missing = replay(changes().iloc[1:])[0]
    assert missing != bases, "twin: a change without a line is noticed"


@pytest.mark.slow
def test_no_verdict_of_quality_rests_on_one_run():
    once = [v for v in judge().values() if "(one run)" in v.numbers.split("Strict")[0]]
    assert once and all(v.verdict == OPEN for v in once)


@pytest.mark.parametrize("paper", ["hpprivbayes", "hmprivbayes", "privabn", "genetic", "ppba"])
def test_every_sentence_has_its_claims_or_says_why_not(paper):
    with Path(__file__).with_name("sentences.toml").open("rb") as file:
        sentences = tomllib.load(file)[paper]
    named = []
    for each in sentences:
        assert each["says"] and ("claims" in each) != ("untestable" in each), each
        named += each.get("claims", [])
    known = {n: briefs(n) for n in PAPERS}
    for brief in named:
        name, _, rest = brief.partition(": ")
        assert rest in known[name] if name in PAPERS else brief in known[paper], brief
    if paper in PAPERS:
        assert known[paper] <= set(named), "a claim that no sentence of the paper makes"
