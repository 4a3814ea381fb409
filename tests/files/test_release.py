"""A release on disk and its card: whole or not at all, and every number on it is the ledger's."""

import errno
import itertools
import json
import math
import os
import re
import signal
import tempfile
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from browser_tools import CHROMIUM

import pdsynth as pds
from pdsynth.files import card, release
from pdsynth.files import documents as model_room
from pdsynth.files.release import (
    FILES,
    as_released,
    check_folder,
    check_model,
    draft_folder,
    fill,
    make_card,
    most_rows,
    publish,
    rehearse,
    write_release,
)

A = pds.Attribute
SCHEMA = pds.Schema(
    (
        A.numeric("age", 18, 98, bins=4, integer=True),
        A.categorical("smoker", ["yes", "no"]),
        A.categorical("ward", ["north", "south"], missing=True),
    )
)


@pytest.fixture(scope="module")
def frame():
    codes = np.random.default_rng(0).integers(0, [4, 2, 3], (400, 3))
    return SCHEMA.decode(codes.astype(np.uint8), np.full(codes.shape, 0.5))


@pytest.fixture(scope="module")
def fitted(frame):
    return pds.PrivBayes(1.0, k=1).fit(frame, SCHEMA)


def card_of(model, **how):
    return make_card(model, **{"title": "t", "table": "synthetic.csv", "rows": 400} | how)


def table(text, title):
    """Rows of cells of the table under a title."""
    part = text[text.index(f"## {title}\n") :].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.mark.parametrize(
    ("spreads", "where"),
    [
        (["uniform"], "stands anywhere, evenly, wherever"),
        (["middle"], "stands in the middle, wherever"),
        (["lower", "lower"], "stands at the lower edge, wherever"),
        (
            ["atoms"],
            "stands anywhere, evenly, and in a narrow one at its shortest number, wherever",
        ),
        (["middle", "uniform"], "stands in the middle (x0); anywhere, evenly (x1), wherever"),
        ([], ""),
    ],
)
def test_a_card_says_where_in_a_bin_a_number_stands(spreads, where):
    """As the schema spreads it; a bin of one whole number leaves nothing to say."""
    numbers = [
        pds.Attribute.numeric(f"x{i}", 0, 100, bins=10, spread=s) for i, s in enumerate(spreads)
    ]
    ages = pds.Attribute.numeric("k", 0, 9, bins=10, integer=True)
    schema = pds.Schema((*numbers, ages, pds.Attribute.categorical("y", [1, 2, 3])))
    frame = pd.DataFrame({name: [1, 2, 3] for name in schema.names})
    text = card_of(pds.baselines.Independent(2).fit(frame, schema).model_).markdown
    assert (where in text) if where else "Inside its bin" not in text


class TestNumbers:
    def test_the_ledger_in_short_adds_up_and_leaves_no_answer_out(self, fitted):
        *lines, total = table(card_of(fitted.model_).markdown, "What it cost")
        answers = [e for e in fitted.ledger_.entries if e.kind == "mechanism"]
        assert sum(int(line[1]) for line in lines) == int(total[1]) == len(answers)
        assert sum(Fraction(line[2]) for line in lines) == Fraction(total[2]) == 1

    def test_its_lines_are_the_ledger_s_story(self, fitted):
        *lines, _ = table(card_of(fitted.model_).markdown, "What it cost")
        assert [(step, int(often)) for step, often, _ in lines] == [
            (line.step, line.often) for line in fitted.ledger_.story()
        ]

    def test_losses_per_attribute_are_the_ledger_s_rounded_up(self, fitted):
        exact = fitted.ledger_.attribute_epsilon()
        lines = table(card_of(fitted.model_).markdown, "Loss per attribute")
        assert [line[0] for line in lines] == ["age", "smoker", "ward"]
        assert [int(line[1]) for line in lines] == [4, 2, 3]
        for name, _, epsilon, guess in lines:
            assert 0 <= Fraction(epsilon) - exact[name] < Fraction(1, 1000)
            chance = 100 / (1 + math.exp(-exact[name]))
            assert 0 <= float(guess.split()[0]) - chance < 0.1

    @pytest.mark.parametrize(
        ("epsilon", "times", "percent"),
        [
            (1, "2.72", "73.2 %"),
            ("1/2", "1.65", "62.3 %"),
            (3, "20.09", "95.3 %"),
            (40, "2.4 · 10^17", "100 %"),
        ],
    )
    def test_what_epsilon_means_by_hand(self, frame, epsilon, times, percent):
        """e = 2.718…, e/(1+e) = .73106; √e = 1.6487, .62246; e³ = 20.0855, .95257; e⁴⁰ ≈ 2·10¹⁷."""
        said = card_of(pds.baselines.Independent(epsilon).fit(frame, SCHEMA).model_).markdown
        assert f"at most {times} times" in said and f"at most {percent} of cases" in said
        assert ("weak promise" in said) == (float(Fraction(epsilon)) >= 3)

    def test_the_best_guess_is_reached_by_a_two_valued_law(self):
        """Randomised response with odds e^ε reaches the bound: no smaller number would be true."""
        epsilon = math.log(3)
        law = np.array([[3, 1], [1, 3]]) / 4
        assert math.log(law[0, 0] / law[1, 0]) == pytest.approx(epsilon)
        assert np.max(law, axis=0).sum() / 2 == pytest.approx(1 / (1 + math.exp(-epsilon)))


class TestWords:
    def test_whom_it_protects(self, frame, fitted):
        three = pds.PrivBayes(1.0, k=1, records_per_person=3).fit(frame, SCHEMA)
        loose = pds.baselines.Independent(1.0, relation="add_remove").fit(frame, SCHEMA)
        one, many, added = (card_of(f.model_).markdown for f in (fitted, three, loose))
        assert "Every person with one record" in one and "one person with 4 records" in one
        assert "isn't hidden" in one and "The number of records, 400." in one
        assert "at most 3 records" in many and "one person with 4 records" not in many
        assert "whether it is in the table" in added and "isn't hidden" not in added
        assert "The number of records is noisy" in added

    def test_pairs_of_bits_are_no_whole_pairs(self, frame, fitted):
        bits = pds.PrivABN(1.0).fit(frame, SCHEMA)
        assert "or some bits of both, stand together" in card_of(bits.model_).markdown
        assert "some bits" not in card_of(fitted.model_).markdown

    def test_textbook_intervals_of_rows_are_not_advised(self, fitted):
        """They don't know the noise, and of independent rows they are no better."""
        said = card_of(fitted.model_).markdown
        assert "too sure" in said and 'method="independent"' not in said
        assert "about the records, not about a population" in said

    def test_what_was_read_off_the_network_is_no_promise(self, frame, fitted):
        assert "is no promise" in card_of(fitted.model_).markdown
        known = pds.PrivBayes(1.0, k=1, restriction=pds.Restriction("smoker", "ward"))
        ledger = known.fit(frame, SCHEMA).ledger_
        said = card_of(known.model_).markdown
        assert ("is promised" in said) == bool(ledger.guaranteed_ex_ante)

    def test_its_version_is_the_package_s_own_also_where_nothing_is_installed(
        self, fitted, monkeypatch
    ):
        monkeypatch.setattr(card, "version", {"numpy": "7.0", "pandas": "8.0"}.__getitem__)
        versions = f"pdsynth {pds.__version__}, numpy 7.0, pandas 8.0, Python"
        assert versions in card_of(fitted.model_).markdown

    def test_names_can_t_write_on_the_card(self, frame):
        evil = ["<script>alert(1)</script>", "a|b*c*", "[x](http://x) `y`"]
        gone = {"&lt;": "#\n# <b>"}
        schema = pds.Schema(tuple(A.categorical(n, [0, 1]) for n in evil), left_out=gone)
        model = (
            pds.baselines.Independent(1.0)
            .fit(
                pd.DataFrame(np.random.default_rng(0).integers(0, 2, (50, 3)), columns=evil), schema
            )
            .model_
        )
        card = card_of(model, title="<i>**t**")
        for tag in ("<script", "<b>", "<i>", "href", "<em>", "<h1>#"):
            assert tag not in card.html
        assert card.html.count("<h1>") == 1
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in card.html and "a|b*c*" in card.html
        assert "&amp;lt;" in card.html and "<h1>Release card: &lt;i&gt;**t**</h1>" in card.html

    def test_a_page_needs_no_other_file_and_fits_a_phone(self, fitted):
        html = card_of(fitted.model_).html
        assert not re.search(r"src=|<link|@import|url\(", html)
        assert "width=device-width" in html and "@page" in html and 'lang="en"' in html
        assert "main td { overflow-wrap: anywhere; }" in html  # or a line of dots is too wide

    @pytest.mark.browser
    @pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine")
    def test_a_phone_breaks_no_name_of_a_column(self, browser):
        """It showed "temperatur" and, in the next line, "e"."""
        names = ["temperature", "sex", "age", "precipitation", "transportation"]
        schema = pds.Schema(tuple(A.categorical(name, [0, 1]) for name in names))
        made = pds.baselines.Independent(1.0).fit(pd.DataFrame(0, range(50), names), schema)
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.set_content(card_of(made.model_).html)
        lines = "all => all.map(td => [td.textContent, td.clientHeight])"
        rows = page.locator("td:first-child:nth-last-child(4)").evaluate_all(lines)
        page.close()
        assert [name for name, _ in rows] == names and len({high for _, high in rows}) == 1

    def test_account(self, fitted):
        assert "None: whoever releases again" in card_of(fitted.model_).markdown
        session = pds.Session(2)
        session.reserve("1/3", "this")
        said = card_of(fitted.model_, session=session).markdown
        assert "One of ε = 2. Spent, this release included: 1/3; left: 5/3." in said


class TestWhoAnswers:
    def test_what_its_owner_says_stands_on_it_and_the_rest_is_left_to_write(self, fitted):
        said = {"responsible": "Dr. A. <Lee>", "epsilon": "The board: as in 2020"}
        shown = card_of(fitted.model_, about=said)
        rows = dict(table(shown.markdown, "Who answers for it"))
        assert list(rows) == [*card.ABOUT.values(), "Signed, on which day?"]
        assert "A. \\<Lee\\>" in rows["Who is responsible?"] and "&lt;Lee&gt;" in shown.html
        open_ones = [question for question, answer in rows.items() if set(answer) == {"…"}]
        left = ("purpose", "recipients", "basis")
        assert open_ones == [*(card.ABOUT[key] for key in left), "Signed, on which day?"]

    @pytest.mark.parametrize(
        "about", [{"why": "x"}, "text", {"purpose": 3}, {"purpose": "a\nb"}, {"purpose": "x" * 501}]
    )
    def test_impossible_answers_are_refused_before_anything_is_written(
        self, fitted, tmp_path, about
    ):
        with pytest.raises(pds.SchemaError, match="about"):
            write_release(fitted.model_, tmp_path / "out", about=about)
        assert not any(tmp_path.iterdir())

    def test_the_pairs_that_it_holds_are_named(self, fitted, frame):
        network = fitted.model_.network
        kept = {frozenset((p, c)) for p, c in network.edges}
        said = card_of(fitted.model_).markdown
        for pair in itertools.combinations(SCHEMA.names, 2):
            assert (" – ".join(sorted(pair)) in said) == (frozenset(pair) in kept)
        alone = card_of(pds.baselines.Independent(1.0).fit(frame, SCHEMA).model_).markdown
        assert "Pairs kept: 0 of 3: in this table everything is independent" in alone
        assert "but for what its rules say" not in alone

    def test_three_questions_are_answered_by_epsilon(self, frame):
        for epsilon, percent, times in ((1, "73.2 %", "2.72"), (3, "95.3 %", "20.09")):
            fitted = pds.baselines.Independent(epsilon).fit(frame, SCHEMA)
            rows = dict(
                table(card_of(fitted.model_).markdown, "Three questions about anonymous data")
            )
            single, link, infer = rows.values()
            assert percent in single and "isn't hidden" in link and f"more than {times}" in infer
        loose = pds.baselines.Independent(1.0, relation="add_remove").fit(frame, SCHEMA)
        assert (
            "in the table at all is found out in at most 73.2 %" in card_of(loose.model_).markdown
        )

    def test_it_says_what_the_privacy_label_asks(self, fitted, root):
        """Its entries, as GUIDE.md lists them beside the card's; arXiv 2507.15997."""
        guide = (root / "GUIDE.md").read_text(encoding="utf-8")
        part = guide[guide.index("| the label asks |") :].split("\n\n")[0]
        rows = [[c.strip() for c in line.split("|")[1:-1]] for line in part.splitlines()[2:]]
        assert len(rows) >= 8
        said = card_of(fitted.model_).markdown
        for _, place in rows:
            assert place.strip("*`") in said, place


class TestFolder:
    def test_nothing_is_overwritten_and_names_of_kinds_are_known(self, fitted, tmp_path):
        place = write_release(fitted.model_, tmp_path / "out")
        before = {path.name: path.read_bytes() for path in place.iterdir()}
        with pytest.raises(pds.SchemaError, match="never overwritten"):
            write_release(fitted.model_, place)
        assert before == {path.name: path.read_bytes() for path in place.iterdir()}
        for how in ({"kind": "xls"}, {"rows": 0}, {"rows": 1.5}):
            with pytest.raises(pds.SchemaError):
                write_release(fitted.model_, tmp_path / "other", **how)
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    @pytest.mark.parametrize(
        ("how", "words"),
        [
            ({"guarantee": "published"}, "promises nothing"),
            ({"guarantee": "none"}, "promises nothing"),
            ({"random_state": 1}, "reproducible"),
            ({"noise": "common"}, "reproducible"),
        ],
    )
    def test_what_no_epsilon_covers_is_refused(self, frame, tmp_path, how, words):
        model = pds.PrivABN(1.0, **how).fit(frame, SCHEMA).model_
        with pytest.raises(pds.PrivacyError, match=words):
            write_release(model, tmp_path / "out")
        assert not any(tmp_path.iterdir())
        check_model(pds.PrivABN(1.0).fit(frame, SCHEMA).model_)

    def test_unaccounted_reads_are_named(self, frame):
        model = pds.PrivABN(1.0, guarantee="published").fit(frame, SCHEMA)
        with pytest.raises(pds.PrivacyError, match="unaccounted: .*PrivABN Alg"):
            check_model(model.model_)

    def test_the_schema_is_that_of_the_synthetic_table(self, tmp_path):
        schema = pds.Schema.read(pds.datasets.find("survey.toml"))
        raw = pds.datasets.read_csv(pds.datasets.find("survey.csv"), schema)
        model = pds.baselines.Independent(1.0).fit(raw, schema).model_
        place = write_release(model, tmp_path / "out", rows=500)
        written = pds.Schema.read(place / "schema.toml")
        assert written == as_released(schema) and written.names == schema.names
        back = pds.datasets.read_csv(place / "synthetic.csv", written)
        assert not written.problems(back) and len(back) == 500
        assert (schema.encode(back) == written.encode(back)).all()


PAIR = A.categorical("pair", ["a", "b"])


def try_out(folder, schema, kind="csv", *, rows=10, **how):
    """A rehearsal in a folder of its own."""
    said = {"algorithm": "PrivBayes", "parameters": {}, "title": "t"} | how
    ledger = pds.Ledger(Fraction(1), public_attributes=schema.names)
    with draft_folder(check_folder(folder / "out", kind)) as draft:
        rehearse(draft, schema, ledger=ledger, rows=rows, kind=kind, **said)


class TestRehearsal:
    """What a release can fail at is tried before its charge (T27)."""

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_what_can_be_released_passes_and_leaves_nothing(self, tmp_path, kind):
        adult, survey = pds.datasets.load_adult().schema, pds.datasets.find("survey.toml")
        texts = ["01", "1", "1.0", "1e5", "NA", "nan", "None", "true", "a,b", 'a"b', "a\nb", ";"]
        for schema in (
            SCHEMA,
            adult,
            pds.Schema.read(survey),
            pds.Schema((A.categorical("x", texts), PAIR)),
            pds.Schema((A.categorical("x", [0.1, 1e-9, 1e15], missing=True), PAIR)),
            pds.Schema((A.categorical("x", [True, False], missing=True), PAIR)),
            pds.Schema((A.numeric("x", 0, 1, bins=7), A.categorical("drop", ["?", "x | y"]))),
        ):
            try_out(tmp_path, schema, kind)
        assert not any(tmp_path.iterdir())

    CASES = [
        (A.categorical("x", [1, "x"]), "parquet", "values of one type"),
        (A.categorical("x", [1, "x"]), "csv", "values of one kind"),
        (A.categorical("x", ["", "a"]), "csv", "none empty"),
        (A.categorical("x", [" a", "a"]), "csv", "without blanks"),
        (A.categorical(" x", ["b", "a"]), "csv", "missing column"),
    ]

    @pytest.mark.parametrize(("attribute", "kind", "words"), CASES)
    def test_a_domain_that_a_file_doesn_t_give_back(self, tmp_path, attribute, kind, words):
        with pytest.raises(pds.SchemaError, match=words):
            try_out(tmp_path, pds.Schema((attribute, PAIR)), kind)
        assert not any(tmp_path.iterdir())

    @pytest.mark.parametrize(("attribute", "kind", "words"), CASES[1:])
    def test_a_model_that_nobody_rehearsed_is_refused_and_kept(
        self, tmp_path, attribute, kind, words
    ):
        schema = pds.Schema((attribute, PAIR))
        codes = np.array([[0, 0], [1, 1]] * 50)
        model = pds.baselines.Independent(1e6).fit(schema.decode(codes), schema).model_
        with pytest.raises(pds.SchemaError, match=rf"{words}[^$]* Nothing is lost: model\.to_json"):
            write_release(model, tmp_path / "out", kind=kind)
        assert not any(tmp_path.iterdir())
        model.to_json(tmp_path / "m.json")
        assert pds.Model.from_json(tmp_path / "m.json").schema == schema

    @pytest.mark.parametrize("attribute", [case[0] for case in CASES[2:4]])
    def test_twin_its_table_is_read_as_something_else(self, tmp_path, attribute):
        schema = pds.Schema((attribute, PAIR))
        pds.datasets.write_csv(schema.decode(np.array([[0, 0], [1, 1]] * 50)), tmp_path / "x.csv")
        back = pds.datasets.read_csv(tmp_path / "x.csv", schema)
        assert schema.problems(back) or len({*back[attribute.name]}) < 2

    def test_a_schema_that_would_be_read_as_a_draft(self, tmp_path):
        for why in ("? why", " pad "):
            schema = pds.Schema((A.categorical("x", [0, 1]), PAIR), left_out={"z": why})
            with pytest.raises(pds.SchemaError, match="reason why 'z' is left out"):
                try_out(tmp_path, schema)
        good = pds.Schema((A.categorical("x", [0, 1]), PAIR), left_out={"z": "dropped: by law?"})
        try_out(tmp_path, good)

    def test_parameters_that_no_file_can_hold(self, tmp_path):
        with pytest.raises(pds.SchemaError, match="UnicodeEncodeError"):
            try_out(tmp_path, SCHEMA, parameters={"k": "\ud800"})

    def test_a_disk_without_room(self, tmp_path, monkeypatch):
        try_out(tmp_path, SCHEMA, rows=10**7)
        monkeypatch.setattr(release.shutil, "disk_usage", lambda _: _Full)
        with pytest.raises(pds.SchemaError, match=r"10,000,000 rows take about .* free there"):
            try_out(tmp_path, SCHEMA, rows=10**7)

    def test_no_record_is_read_and_no_noise_is_drawn(self, tmp_path, monkeypatch):
        monkeypatch.setattr("pdsynth.core.noise.ExactNoise._words", None)
        monkeypatch.setattr("pdsynth.core.curator.Curator.__init__", None)
        try_out(tmp_path, SCHEMA)


class _Full:
    free = 1_000


class TestBounds:
    @pytest.mark.parametrize("title", ["\ud800", "a\0b", "a\nb", "x" * 201, 3, b"title", "\x85"])
    def test_titles(self, fitted, tmp_path, title):
        with pytest.raises(pds.SchemaError, match="the title"):
            write_release(fitted.model_, tmp_path / "out", title=title)
        assert not any(tmp_path.iterdir())

    def test_a_folder_s_name_that_can_be_no_title(self, fitted, tmp_path):
        with pytest.raises(pds.SchemaError, match="else the folder's name"):
            write_release(fitted.model_, tmp_path / "caf\udce9")
        place = write_release(fitted.model_, tmp_path / "caf\udce9", title="Café")
        assert (place / "card.md").read_text(encoding="utf-8").startswith("# Release card: Café")

    def test_rows(self, fitted, tmp_path):
        for rows in (2 * 10**9, 10**7 + 1, 10**400):
            with pytest.raises(pds.SchemaError, match="with 3 columns, of at most 10,000,000"):
                write_release(fitted.model_, tmp_path / "out", rows=rows)
        wide = pds.Schema([A.categorical(f"x{j}", [0, 1]) for j in range(1000)])
        assert most_rows(wide) == 400_000

    def test_an_enormous_n_is_no_number_of_rows(self, fitted, tmp_path, monkeypatch):
        """The number that the model says, as far as a table can be dealt out."""
        monkeypatch.setattr(release, "MOST_ROWS", 50)
        place = write_release(fitted.model_, tmp_path / "out")
        assert len(pd.read_csv(place / "synthetic.csv")) == 50 < fitted.model_.n

    def test_names_that_can_be_no_folder(self, fitted, tmp_path):
        (tmp_path / "dangling").symlink_to("nowhere")
        for name, words in (("dangling", "exists"), ("a\0b", "NUL"), ("gone/out", "isn't there")):
            with pytest.raises(pds.SchemaError, match=words):
                write_release(fitted.model_, f"{tmp_path}/{name}")


class TestWhole:
    """Nothing that happens after the charge takes a release away, as far as software can help."""

    def test_a_model_too_large_to_be_read_is_left_out_and_the_card_says_so(
        self, fitted, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(model_room, "MAX_BYTES", 1000)
        place = write_release(fitted.model_, tmp_path / "out")
        card = (place / "card.md").read_text(encoding="utf-8")
        assert "too large for a file" in card and "model.json" not in card
        assert {*FILES} - {path.name for path in place.iterdir()} == {"model.json"}

    def test_an_account_that_is_gone_afterwards(self, fitted, tmp_path):
        session = pds.Session(2, tmp_path / "a.jsonl")
        session.reserve(1, "fit")
        (tmp_path / "a.jsonl").unlink()
        place = write_release(fitted.model_, tmp_path / "out", session=session)
        said = (place / "card.md").read_text(encoding="utf-8")
        assert "One of ε = 2, whose file couldn't be read afterwards." in said

    def test_an_account_that_can_t_have_paid_is_refused(self, fitted, tmp_path):
        """Two charges of half of it paid for two other fits; one that is large enough may have."""
        session, due = pds.Session(9), fitted.ledger_.claimed
        for _ in range(2):
            session.reserve(due / 2, "another fit")
            with pytest.raises(pds.BudgetError, match="no charge of this account paid"):
                write_release(fitted.model_, tmp_path / "out", session=session)
        assert [*tmp_path.iterdir()] == []
        session.reserve(due, "this fit")
        write_release(fitted.model_, tmp_path / "out", session=session)

    def test_a_folder_that_appeared_meanwhile_is_not_touched(self, tmp_path):
        (tmp_path / "out").mkdir()
        (tmp_path / "out-2").symlink_to("nowhere")
        (tmp_path / "draft").mkdir()
        (tmp_path / "draft" / "card.md").write_text("whole")
        assert publish(tmp_path / "draft", tmp_path / "out").name == "out-3"
        assert not any((tmp_path / "out").iterdir())

    def test_one_process_at_a_time_writes_a_release(self, fitted, tmp_path):
        with draft_folder(tmp_path / "out"):
            with pytest.raises(pds.SchemaError, match="another process is writing the release out"):
                write_release(fitted.model_, tmp_path / "out")
            write_release(fitted.model_, tmp_path / "other")
        write_release(fitted.model_, tmp_path / "out")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]

    def test_files_of_others_are_left_alone(self, fitted, tmp_path):
        hidden = tmp_path / ".out.unfinished"
        hidden.mkdir()
        (hidden / "thesis.docx").write_text("mine")
        with pytest.raises(pds.SchemaError, match="that no release left there"):
            write_release(fitted.model_, tmp_path / "out")
        assert (hidden / "thesis.docx").read_text() == "mine"

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="a writer is killed in a forked process")
    @pytest.mark.parametrize("named", [True, False])
    def test_what_kills_leave_is_tidied_up(self, fitted, tmp_path, named):
        """Five writers are killed over a whole draft; the twin draws a new name for each."""

        def write_and_die():
            if named:
                with draft_folder(tmp_path / "out") as draft:
                    table = fitted.model_.sample(9)
                    fill(draft, fitted.model_, table, kind="csv", title="t")
                    os.kill(os.getpid(), signal.SIGKILL)
            tempfile.mkdtemp(prefix=".out-", dir=tmp_path)
            os.kill(os.getpid(), signal.SIGKILL)

        for _ in range(5):
            number = os.fork()
            if number == 0:
                write_and_die()
            os.waitpid(number, 0)
        left = [path.name for path in tmp_path.iterdir()]
        assert left == [".out.unfinished"] if named else len(left) == 5
        write_release(fitted.model_, tmp_path / "out")
        assert (sorted(path.name for path in tmp_path.iterdir()) == ["out"]) is named


@pytest.mark.parametrize("name", ["# Approved", "12. x", "1) y", "- x", "+ x", "---", "a $x$ b"])
def test_a_name_begins_no_heading_or_list_of_the_card(fitted, name):
    schema = replace(SCHEMA, left_out={name: "no use"})
    html = card_of(replace(fitted.model_, schema=schema)).html
    assert f"<li>{name}: no use</li>" in html


class TestFormulas:
    def test_a_bin_below_zero_is_no_formula(self):
        """The column of -10–-8 was said to run in a spreadsheet."""
        schema = pds.Schema((A.numeric("t", -10, 10, bins=10, integer=True), PAIR))
        frame = schema.decode(np.array([[0, 0], [1, 1]] * 50))
        said = card_of(pds.baselines.Independent(1).fit(frame, schema).model_).markdown
        assert schema["t"].values[0].startswith("-10") and "none had to be" in said

    def test_the_card_says_what_a_spreadsheet_would_run(self, fitted, tmp_path):
        assert "none had to be" in card_of(fitted.model_).markdown
        schema = pds.Schema((A.categorical("job", ["＝1+1", "b"]), PAIR))
        frame = schema.decode(np.array([[0, 0], [1, 1]] * 50))
        model = pds.baselines.Independent(1).fit(frame, schema).model_
        said = card_of(model).markdown
        assert "names or values of job begin as a spreadsheet's formula does" in said
        assert "stand in `synthetic.csv` and `measured.csv` as they were declared" in said
        said = card_of(model, table="synthetic.parquet").markdown
        assert "stand in `measured.csv` as they were declared" in said
        alone = replace(model, measured=())
        assert "spreadsheet" not in card_of(alone, table="synthetic.parquet").markdown


def test_a_synthesizer_is_no_model_and_is_told_so(fitted, tmp_path):
    """It was an AttributeError about a ledger."""
    with pytest.raises(pds.SchemaError, match=r"hand in synth\.model_, got"):
        write_release(fitted, tmp_path / "out")
    assert not [*tmp_path.iterdir()]


def test_one_record_and_one_row_are_one(frame):
    one = pds.baselines.Independent(1).fit(frame[:1], SCHEMA)
    card = card_of(one.model_, rows=1).markdown
    assert "1 synthetic row," in card and "1 record of 3 columns" in card


def test_a_release_is_what_its_card_reads(fitted, tmp_path):
    place = write_release(fitted.model_, tmp_path / "out", rows=7)
    assert {*FILES, "synthetic.csv"} == {path.name for path in place.iterdir()}
    assert json.loads((place / "model.json").read_bytes())["private"] is True


@pytest.mark.skipif(os.name != "posix", reason="the rights of Unix")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_the_owner_s_mask_says_who_may_open_a_release(fitted, tmp_path, mask):
    before = os.umask(mask)
    try:
        place = write_release(fitted.model_, tmp_path / "out", rows=7)
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o777 & ~mask


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("write_csv", "measured.csv"),
        ("_write_table", "synthetic.csv"),
        ("_write_schema", "schema.toml"),
        ("make_card", "card.html"),
    ],
)
def test_a_full_disk_names_the_file(fitted, tmp_path, monkeypatch, where, name):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(release, "try_values", lambda *_: None)
    if where == "write_csv":
        monkeypatch.setattr(release, "_write_table", lambda *_: None)
    monkeypatch.setattr(release, where, full)
    with pytest.raises(pds.SchemaError, match=rf"^{name} couldn't be written \(No space left"):
        write_release(fitted.model_, tmp_path / "out")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("epsilon", "said"), [(Fraction(1, 3), "58.3 %"), (1, "73.2 %"), (9000, "100 %")]
)
def test_how_often_a_guess_may_be_right_is_rounded_up(epsilon, said):
    assert card._percent(epsilon) == said
    assert float(said.split()[0]) >= 100 / (1 + math.exp(-min(epsilon, 700)))


def test_a_draft_read_off_the_records_is_not_reviewed(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    drafted = pds.Schema.infer(frame)
    drafted.write(tmp_path / "draft.toml")
    drafted.declare_public().write(tmp_path / "own.toml")
    assert release.read_reviewed(tmp_path / "own.toml").names == ("a", "b")
    with pytest.raises(pds.PrivacyError, match="draft.toml is a draft"):
        release.read_reviewed(tmp_path / "draft.toml")


def test_a_wide_draft_names_some_lines_and_counts_the_others(tmp_path):
    frame = pd.DataFrame({f"x{j}": ["x", "y"] for j in range(300)})
    pds.Schema.infer(frame).write(tmp_path / "draft.toml")
    with pytest.raises(pds.PrivacyError, match="x0, x1, x2, x3, x4 and 295 more. Write"):
        release.read_reviewed(tmp_path / "draft.toml")


def test_a_rule_that_nobody_confirmed_is_named(tmp_path):
    a, b = (pds.Attribute.categorical(name, ["x", "y"]) for name in "ab")
    rule = pds.Rule.determines("a", "b", {"x": "x", "y": "y"})
    pds.Schema((a, b), rules=[rule]).write(tmp_path / "s.toml")
    text = (tmp_path / "s.toml").read_text("utf-8")
    (tmp_path / "s.toml").write_text(
        text.replace("[[rules]]", "[[rules]]\npublic = false"), encoding="utf-8"
    )
    with pytest.raises(pds.PrivacyError, match="not reviewed yet: rule 1. Write"):
        release.read_reviewed(tmp_path / "s.toml")


def test_more_digits_than_a_model_can_hold_are_refused_on_trial(tmp_path):
    schema = pds.Schema((pds.Attribute.categorical("a", ["x", "y"]),))
    long = Fraction(10**25 + 1, 10**25)
    facts = {"algorithm": "A", "parameters": {}, "rows": 5, "kind": "csv", "title": "t"}
    with pytest.raises(pds.BudgetError, match="epsilon has 26 digits"):
        release.rehearse(tmp_path / "draft", schema, ledger=pds.Ledger(long), **facts)


def test_a_title_runs_nothing_on_the_page_of_a_card():
    schema = pds.Schema((pds.Attribute.categorical("a", ["x", "y"]),))
    network, counts = pds.Network((("a", ()),)), (np.array([1, 2]),)
    model = pds.Model(schema, network, counts, pds.Ledger(Fraction(1)), 3, "A", {})
    for title in ("<script>alert(1)</script>", "<img src=x onerror=alert(1)>"):
        shown = make_card(model, title=title, table="synthetic.csv", rows=3)
        assert title not in shown.html and "alert(1)" in shown.html
