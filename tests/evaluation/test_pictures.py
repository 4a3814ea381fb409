"""The pictures of a report: numbers by hand, and a page that needs no other file."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from browser_tools import CHROMIUM

import pdsynth as pds
from pdsynth.evaluation.pictures import (
    BARS,
    SHOWN,
    Column,
    Pair,
    advise,
    compare_columns,
    compare_pairs,
    count_kept,
    draw_page,
    measure_tie,
    merge,
    open_pair,
)

A = pds.Attribute


def yes_no(*names):
    return pds.Schema(tuple(A.categorical(name, ["no", "yes"]) for name in names))


def many(table, times=1000):
    return np.repeat(np.array(table), times, axis=0)


def test_columns_and_pairs_by_hand():
    """a is equal in both; the tie of a and b, R = ½, is gone, and half of the people move."""
    schema = yes_no("a", "b")
    real = many([[0, 0], [0, 0], [1, 1], [1, 1]])
    fake = many([[0, 0], [0, 1], [1, 0], [1, 1]])
    columns = compare_columns(real, fake, schema)
    assert [(c.name, c.real, c.off) for c in columns] == [
        ("a", (0.5, 0.5), 0), ("b", (0.5, 0.5), 0)]  # fmt: skip
    (pair,) = compare_pairs(real, fake, schema)
    assert pair.off == 0.5 and pair.real == pytest.approx(0.5, abs=0.02) and pair.fake == 0
    assert pair.lost == pair.real
    opened = open_pair(pair, real, fake, schema)
    assert opened["tables"] == [[[50, 0], [0, 50]], [[25, 25], [25, 25]]]
    assert count_kept([pair]).startswith("0 of 1 tie ")


@pytest.mark.parametrize("turned", [0, 1, 2, 3])
def test_a_tie_of_other_cells_is_not_kept(turned):
    """b is a, or a moved on by one: as strong a tie, and another one."""
    schema = pds.Schema(tuple(A.categorical(name, [0, 1, 2, 3]) for name in "ab"))
    real = many([[i, i] for i in range(4)])
    (pair,) = compare_pairs(real, many([[i, (i + turned) % 4] for i in range(4)]), schema)
    assert pair.fake == pair.real > 0.7
    assert pair.kept == pytest.approx(0 if turned else pair.real, abs=0.02)
    assert count_kept([pair]).startswith("0 of 1" if turned else "1 of 1")


def test_half_a_tie_is_half_kept_and_chance_keeps_nothing():
    """20 × 20 cells, 4,000 rows: chance makes R = .12, of which nothing counts as kept."""
    rng = np.random.default_rng(4)
    schema = pds.Schema(tuple(A.categorical(name, [*range(20)]) for name in "ab"))
    a, b = rng.integers(0, 20, (2, 4000))
    tied = [np.stack([a, np.where(rng.random(4000) < s, a, b)], axis=1) for s in (0.6, 0.6, 0.3)]
    pairs = [compare_pairs(tied[0], fake, schema)[0] for fake in tied[1:]]
    assert [pair.kept for pair in pairs] == pytest.approx([p.fake for p in pairs], abs=0.01)
    assert pairs[1].kept == pytest.approx(pairs[0].kept / 2, abs=0.05)
    assert compare_pairs(tied[0], np.stack([a, b], axis=1), schema)[0].kept == 0


def test_the_worst_column_comes_first_and_off_is_the_share_that_must_move():
    schema = yes_no("a", "b")
    real, fake = many([[0, 0], [1, 0]]), many([[0, 0], [0, 1]])
    assert [(c.name, c.off) for c in compare_columns(real, fake, schema)] == [
        ("a", 0.5),
        ("b", 0.5),
    ]
    fake = many([[0, 0], [1, 0], [1, 0], [1, 0]])
    assert [(c.name, c.off) for c in compare_columns(real, fake, schema)] == [
        ("a", 0.25), ("b", 0)]  # fmt: skip


def test_chance_makes_no_tie():
    """400 cells and 4,000 records: R of independent columns is 0.12 by chance alone."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 20, (4000, 2))
    law = np.zeros((20, 20))
    np.add.at(law, tuple(codes.T), 1 / len(codes))
    plain = np.abs(law - np.outer(law.sum(1), law.sum(0))).sum() / 2
    assert plain > 0.1 and measure_tie(law, len(codes)) < 0.01


@pytest.mark.parametrize(("a", "b", "n"), [(2, 2, 300), (2, 8, 500), (3, 4, 300), (10, 10, 1000)])
def test_chance_is_what_independent_columns_show(a, b, n):
    """With margins taken for known, 2 × 2 of 300 had .040 for .022: a tie of .069 was .031."""
    rng, shown = np.random.default_rng(3), []
    for _ in range(300):
        law = np.zeros((a, b))
        np.add.at(law, (rng.integers(0, a, n), rng.integers(0, b, n)), 1 / n)
        shown.append(np.abs(law - np.outer(law.sum(1), law.sum(0))).sum() / 2)
    side, other = (np.sign(np.arange(size) - (size - 1) / 2) for size in (a, b))
    tie = np.outer(side, other) / a / b  # of even columns
    found = measure_tie(1 / a / b + tie, n)
    assert np.abs(tie).sum() / 2 - found == pytest.approx(np.mean(shown), rel=0.06)


def test_values_are_joined_where_they_are_many():
    ages = A.numeric("age", 0, 99, bins=50, integer=True, missing=True)
    places, names = merge(ages, np.zeros(3, dtype=int), BARS)
    assert len(names) == BARS and names[0] == "0–7" and names[-1] == "(missing)"
    assert (np.diff(places) >= 0).all() and places[-1] == BARS - 1
    months = A.numeric("month", 1, 12, bins=12, integer=True)  # one alone was "3–3"
    assert merge(months, np.zeros(3, dtype=int), 8)[1] == (
        "1–2", "3", "4–5", "6", "7–8", "9", "10–11", "12")  # fmt: skip
    towns = A.categorical("town", [f"t{i}" for i in range(30)])
    places, names = merge(towns, np.array([29] * 5 + [7]), 3)
    assert names == ("t7", "t29", "all others")
    assert places[29] == 1 and places[7] == 0 and set(places[:7]) == {2}


class Page(HTMLParser):
    """Whatever a page would load, and its words."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.words = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.loads += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.words += data


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 3000)
    frame = pd.DataFrame({"<a>": a, "b": a, "c": rng.integers(0, 3, 3000)})
    schema = pds.Schema((A.categorical("<a>", [0, 1]), A.categorical("b", [0, 1]),
                         A.categorical("c", [0, 1, 2])))  # fmt: skip
    fake = pds.baselines.Independent(0.05).fit(frame, schema).sample()
    return pds.evaluate.report(frame, fake, schema, epsilon=0.05, repeats=2), frame, fake, schema


def test_a_page_says_what_to_do_and_needs_no_other_file(compared):
    page = Page(draw_page(*compared, "t <b>"))
    assert page.loads == []
    lost = "Don't read these ties off this table: <a> with b"
    for words in ("What to do now", "NOT PRIVATE", lost, "0 of 1 tie of the records", "t <b>"):
        assert words in page.words, words
    assert not re.search(r"@import|url\(", draw_page(*compared))


def test_words_of_the_maps_hold_in_both_themes_and_of_one_pair(compared):
    """On a dark page strong ties are the brightest squares, and were called the darkest."""
    report, frame, fake, schema = compared
    page = draw_page(*compared)
    assert "darke" not in page.lower()
    assert "the more its square stands out" in page and "The 3 worst pairs, opened" in page
    two = frame[["<a>", "b"]], fake[["<a>", "b"]], schema.select(["<a>", "b"])
    assert "<h2>The worst pair, opened</h2>" in draw_page(report, *two)


def test_advice_follows_from_what_was_found(compared):
    report = replace(compared[0], verdict=("No clear gain: …",))
    good = Pair(("a", "b"), 0.4, 0.39, 0.39, 0.01)
    lost = Pair(("a", "c"), 0.4, 0.1, 0.1, 0.3)
    assert not any("Don't read" in text for text in advise(report, [], [good], 100))
    assert any("a with c" in text for text in advise(report, [], [good, lost], 100))
    assert "1 of 2 ties" in count_kept([good, lost])
    near, far = (Column("a", ("x",), (1.0,), (1.0,), off) for off in (0.04, 0.3))
    for columns, pairs, words in (
        ([near], [lost], "single columns only. For pairs take"),
        ([near], [good, lost], "of the pairs that are kept below. For other pairs take"),
        ([far, far, near], [good], "nothing: most columns alone are off"),
    ):
        assert words in advise(report, columns, pairs, 100)[0]
    report = replace(report, verdict=("Worth having: …",))
    assert advise(report, [near], [lost], 100)[0] == "Use it for single columns only."
    assert advise(report, [near], [good], 100)[0].endswith("of the pairs that are kept below.")
    faint = Pair(("a", "d"), 0.049, 0.04, 0.04, 0.01)  # no tie worth a word, and told all the same
    assert "and of pairs: none is off by more than 5 %" in advise(report, [near], [faint], 100)[0]
    gone = advise(report, [far, far, near], [lost], 100)[0]
    assert gone.startswith("Use it for nothing: it is nearer than single columns would be, but ")
    assert "most columns alone are off" in gone and "Instead take a larger ε" in gone
    gone = advise(report, [far, far, near], [good], 100)[0]
    assert gone.startswith("Use it for the pairs that are kept below alone: most columns alone are")
    assert "a, a and 1 more, ask" in advise(report, [far] * (SHOWN + 1), [], 100)[1]
    assert count_kept([]).startswith("No two columns")


def test_what_tells_nothing_is_advised_for_nothing():
    """Ten answers of even chances: single columns lay within 6 %, and even rows nearer."""
    rng = np.random.default_rng(0)
    schema, real = yes_no(*"abcdefghij"), rng.integers(0, 2, (4000, 10))
    fake = pds.baselines.Independent(0.05, random_state=1).fit(
        pd.DataFrame(np.array(["no", "yes"])[real], columns=schema.names), schema
    )
    rows = fake.model_.sample_codes(4000, np.random.default_rng(2))
    found = pds.evaluate.report(real, rows, schema, epsilon=0.05, repeats=2)
    columns, pairs = compare_columns(real, rows, schema), compare_pairs(real, rows, schema)
    assert found.verdict[0].startswith("Not worth having: ")
    assert found.verdict[1].startswith("It is no nearer than rows whose values are drawn evenly")
    first = advise(found, columns, pairs, 4000)[0]
    assert first.startswith("Use it for nothing: rows whose values are drawn evenly are as near.")
    kept = advise(found, columns, [Pair(("a", "b"), 0.4, 0.39, 0.39, 0.01)], 4000)[0]
    assert kept.startswith("Use it for the pairs that are kept below alone")


def test_no_gain_over_evenly_drawn_rows_is_none():
    """At ε = .0001 single columns lie farther than a release that is itself no nearer than chance:
    it was "worth having" and told nothing.
    """
    rng = np.random.default_rng(0)
    real = (rng.random((5000, 6)) < 0.8).astype(int)
    rows = np.where(rng.random((5000, 6)) < 0.53, 1 - real, real)
    found = pds.evaluate.report(real, rows, yes_no(*"abcdef"), epsilon=0.0001, repeats=2)
    assert found.verdict[0].startswith("Not worth having: ")


def test_a_hundred_columns_stay_one_page(compared):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, (500, 100))
    page = draw_page(compared[0], codes, codes, yes_no(*(f"column_{i}" for i in range(100))))
    assert "The other 88 columns" in page and len(page) < 1_500_000


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine")
def test_nothing_is_cut_on_paper(browser, tmp_path):
    """A sheet is narrower than tables that a window scrolls: without this their ends were gone."""
    schema = yes_no(*(f"How much do you like what is asked in question {i}?" for i in range(3)))
    codes = np.random.default_rng(3).integers(0, 2, (300, 3))
    report = pds.evaluate.report(codes, codes, schema, repeats=2)
    path = tmp_path / "report.html"
    path.write_text(draw_page(report, codes, codes, schema), encoding="utf-8")
    page = browser.new_page(viewport={"width": 718, "height": 1000})
    page.goto(path.as_uri())
    hidden = """() => [...document.querySelectorAll("body *")].filter(e =>
        e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "auto").length"""
    assert page.evaluate(hidden) > 0
    page.emulate_media(media="print")
    assert page.evaluate(hidden) == 0
    page.close()
