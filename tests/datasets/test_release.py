"""A release on disk and its card: whole or not at all, and every number on it is the ledger's."""

import math
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.datasets.release import as_released, check_model, make_card, write_release

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
            (40, "10^17", "100 %"),
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

    def test_what_was_read_off_the_network_is_no_promise(self, frame, fitted):
        assert "is no promise" in card_of(fitted.model_).markdown
        known = pds.PrivBayes(1.0, k=1, restriction=pds.Restriction("smoker", "ward"))
        ledger = known.fit(frame, SCHEMA).ledger_
        said = card_of(known.model_).markdown
        assert ("is promised" in said) == bool(ledger.guaranteed_ex_ante)

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

    def test_account(self, fitted):
        assert "None: whoever releases again" in card_of(fitted.model_).markdown
        session = pds.Session(2)
        session.reserve("1/3", "this")
        said = card_of(fitted.model_, session=session).markdown
        assert "One of ε = 2. Spent, this release included: 1/3; left: 5/3." in said


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
