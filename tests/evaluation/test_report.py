"""The page that answers "is this release worth having?": every number against another way to it,
every answer on a release of which it is known."""

from dataclasses import replace
from html.parser import HTMLParser
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from pdsynth import Attribute, BudgetError, PrivBayes, Schema, SchemaError
from pdsynth.baselines.relatives import Independent
from pdsynth.core.records import Records
from pdsynth.evaluation import intervals
from pdsynth.evaluation.disclosure import disclosure_risk
from pdsynth.evaluation.marginals import Marginals, marginal_distance, marginal_distances
from pdsynth.evaluation.report import _judge, report
from pdsynth.evaluation.utility import utility
from pdsynth.plots import PALETTE

YES_NO = Schema(tuple(Attribute.categorical(name, ["n", "y"]) for name in "ab"))


@pytest.fixture(scope="module")
def fitted(cmc):
    return PrivBayes(epsilon=20, k=1, random_state=0).fit(cmc.frame, schema=cmc.schema)


@pytest.fixture(scope="module")
def fake(fitted):
    return fitted.sample(1000)


@pytest.fixture(scope="module")
def page(cmc, fake):
    return report(
        cmc.frame, fake, cmc.schema, epsilon=2, target=cmc.target, sensitive="wife_religion"
    )


def distance(page, alpha, word):
    rows = page.table[page.table["alpha"].eq(alpha) & page.table["table"].str.contains(word)]
    return rows["distance"].item()


def test_two_columns_by_hand():
    """Real: nn nn yy yy; fake: nn ny. a is .5 away, b none; the pair: (½ − ½, ½, ½)/2 = .5."""
    real, fake = np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), np.array([[0, 0], [0, 1]])
    page = report(real, fake, YES_NO)
    assert page.attributes["distance"].to_dict() == {"a": 0.5, "b": 0.0}
    assert page.attributes.index.tolist() == ["a", "b"], "worst first"
    assert page.pairs["distance"].to_dict() == {"a + b": 0.5}
    assert distance(page, 1, "release") == 0.25
    assert set(page.table["alpha"]) == {1, 2}, "there are no three columns"
    assert page.table.query("table == 'this release'")["low"].isna().all(), "two rows tell nothing"


@pytest.mark.parametrize("alpha", [1, 2, 3])
def test_distances_are_those_of_the_other_functions(cmc, fake, page, alpha):
    real, schema = cmc.schema.encode(cmc.frame), cmc.schema
    assert distance(page, alpha, "release") == pytest.approx(
        marginal_distance(cmc.frame, fake, schema, alpha=alpha)
    )
    for epsilon, guarantee, times, word in ((2.0, "strict", 5, "simulated"), (1, "none", 3, "out")):
        drawn = [
            Independent(epsilon, guarantee=guarantee, random_state=[0, i])
            .fit(cmc.frame, schema=schema)
            .model_.sample_codes(1000, np.random.default_rng([0, i]), "balanced")
            for i in range(times)
        ]
        expected = np.mean([marginal_distance(real, codes, schema, alpha=alpha) for codes in drawn])
        assert distance(page, alpha, word) == pytest.approx(expected)
    found = []
    for i in range(3):
        first = np.random.default_rng([0, i]).permutation(len(real))[: len(real) // 2]
        rest = np.delete(real, first, axis=0)
        found.append(marginal_distance(real[first], rest, schema, alpha=alpha))
    assert distance(page, alpha, "halves") == pytest.approx(np.mean(found))


def test_the_worst_pairs_are_named_beside_those_of_independent(cmc, fake, page):
    expected = marginal_distances(cmc.frame, fake, cmc.schema).sort_values(ascending=False)
    assert page.pairs["distance"].tolist() == pytest.approx(expected.tolist())
    assert page.pairs.index[0] == " + ".join(expected.index[0])
    assert page.pairs["Independent"].mean() == pytest.approx(distance(page, 2, "simulated"))
    assert page.attributes["Independent"].mean() == pytest.approx(distance(page, 1, "simulated"))


def test_one_broken_column_is_the_worst_of_all(cmc):
    broken = cmc.schema.encode(cmc.frame).copy(order="K")
    broken[:, 3] = np.random.default_rng(0).permutation(broken[:, 3])
    page = report(cmc.frame, broken, cmc.schema)
    assert page.attributes["distance"].max() == 0, "each column alone is the same"
    name, others = cmc.schema.names[3], len(cmc.schema) - 1
    assert all(name in pair.split(" + ") for pair in page.pairs.index[:others])
    assert page.pairs["distance"].iloc[others:].max() == 0


class TestVerdict:
    def test_worth_having(self, page):
        assert page.verdict[0].startswith("Worth having: its two-way distance is 0.0")
        assert " of single columns at the same ε = 2 (Independent): " in page.verdict[0]
        assert page.verdict[0].endswith("% less.")
        one, three = distance(page, 1, "release"), distance(page, 3, "simulated")
        assert f"one column alone {one:.4f}, against" in page.verdict[1]
        assert page.verdict[1].endswith(f", against {three:.4f}.")

    @pytest.mark.slow
    def test_single_columns_are_no_gain_over_single_columns(self, cmc):
        """Of 25 releases of Independent itself one may be called a gain or a loss by chance."""
        found = []
        for seed in range(100, 125):
            one = Independent(epsilon=2, random_state=seed).fit(cmc.frame, schema=cmc.schema)
            page = report(cmc.frame, one.sample(), cmc.schema, epsilon=2, seed=seed)
            found.append(page.verdict[0].startswith("No clear gain: "))
        assert sum(found) >= 24
        assert "pds.plan(schema, n, epsilon)" in page.verdict[0]

    def test_noise_isn_t_worth_having(self, cmc):
        rng = np.random.default_rng(0)
        noise = np.column_stack([rng.integers(0, s, 1473) for s in cmc.schema.sizes])
        page = report(cmc.frame, noise, cmc.schema, epsilon=2)
        assert page.verdict[0].startswith("Not worth having: ")
        assert "pds.plan(schema, n, epsilon)" in page.verdict[0]

    @pytest.mark.parametrize(("flipped", "worse"), [(0.55, True), (0.45, False)])
    def test_what_is_no_nearer_than_evenly_drawn_values_tells_nothing(self, flipped, worse):
        """Six answers, 80 % yes: evenly drawn ones are as if half of all were turned round."""
        rng = np.random.default_rng(0)
        real = (rng.random((5_000, 6)) < 0.8).astype(int)
        fake = np.where(rng.random((5_000, 6)) < flipped, 1 - real, real)
        schema = Schema(tuple(Attribute.categorical(f"c{j}", [0, 1]) for j in range(6)))
        page = report(real, fake, schema, epsilon=1)
        said = "It is no nearer than rows whose values are drawn evenly, which tell nothing: "
        assert any(line.startswith(said) for line in page.verdict) == worse

    def test_what_evenly_drawn_values_are_expected_to_be_tosses_no_coin(self):
        """The verdict rested on one draw of them: near the tie, two seeds of eight turned it."""
        rng = np.random.default_rng(3)
        schema = Schema(tuple(Attribute.categorical(f"q{i}", list("abcd")) for i in range(5)))
        real = rng.choice(4, (400, 5), p=[0.4, 0.3, 0.2, 0.1])
        fake, said = rng.integers(0, 4, (400, 5)), "It is no nearer than rows"
        pages = [report(real, fake, schema, repeats=2, seed=seed) for seed in range(6)]
        found = {any(line.startswith(said) for line in page.verdict) for page in pages}
        assert len(found) == 1

    @pytest.mark.parametrize(("n", "rows"), [(400, 400), (1, 1), (50, 7), (300, 2000)])
    def test_the_expected_distance_of_evenly_drawn_values(self, n, rows):
        """Against the mean of 1,500 draws, for columns of 2 to 9 values."""
        rng, sizes = np.random.default_rng(n), (2, 4, 9, 3)
        schema = Schema(tuple(Attribute.numeric(f"q{k}", 0, k, bins=k) for k in sizes))
        codes = np.column_stack([np.minimum(rng.geometric(0.4, n) - 1, k - 1) for k in sizes])
        margins = Marginals(codes, schema, 2, sets=intervals.countable_sets(schema, 2))
        draws = [
            margins.distances(np.column_stack([rng.integers(0, k, rows) for k in sizes])).mean()
            for _ in range(1500)
        ]
        error = np.std(draws) / np.sqrt(len(draws))
        assert abs(intervals.expect_even(margins, rows) - np.mean(draws)) < 4 * error

    @pytest.mark.parametrize(("release", "gain"), [(0.054, 1), (0.087, 0), (0.5, -1)])
    def test_one_bad_simulation_hides_no_gain_over_columns_without_noise(self, release, gain):
        """One of five lay at .196, so that their interval reaches from .05 to .17."""
        rows = [(release, release + 0.002), (0.109, 0.169), (0.086, 0.087), (0.06, 0.063)]
        names = ["this release", "Independent, ε = 1", "Independent without noise", "halves"]
        table = pd.DataFrame(rows, columns=["distance", "high"]).assign(alpha=2, table=names)
        assert _judge(table, 5)["gain"] == gain

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"records_per_person": 4}, "(Independent; replace one person's 4 records)"),
            ({"relation": "add_remove"}, "(Independent; add or remove one record)"),
        ],
    )
    def test_single_columns_make_the_promise_of_the_release(self, cmc, options, words):
        """Four records a person cost Independent as much as the release: it isn't nearer."""
        one = Independent(epsilon=1, random_state=3, **options).fit(cmc.frame, cmc.schema)
        page = report(cmc.frame, one.sample(), cmc.schema, epsilon=1, ledger=one.ledger_)
        assert f"of single columns at the same ε = 1 {words}" in page.verdict[0]
        assert page.verdict[0].startswith("No clear gain: ")
        twin = report(cmc.frame, one.sample(), cmc.schema, epsilon=1)  # as if for one record
        ours, theirs = distance(page, 2, "simulated"), distance(twin, 2, "simulated")
        assert ours > 1.5 * theirs if "records_per_person" in options else ours < theirs

    def test_without_epsilon_the_measure_is_single_columns_without_noise(self, cmc, fake):
        page = report(cmc.frame, fake, cmc.schema)
        assert "of single columns without noise: " in page.verdict[0]
        assert page.verdict[-2].startswith("Say epsilon=")
        assert not page.table["table"].str.contains("simulated").any()

    def test_a_table_equal_to_the_real_one_is_no_distance_away(self, cmc):
        page = report(cmc.frame, cmc.frame, cmc.schema, epsilon=1, sensitive="wife_religion")
        assert ": 100% less." in page.verdict[0]
        assert page.risk.loc["finds the whole row", "this release"] == 1


class TestIntervals:
    def test_one_table_varies_by_its_rows_and_a_simulation_by_its_fits(self, page):
        table = page.table.set_index("table")
        assert table["interval"].groupby(level=0).first().to_dict() == {
            "this release": "sampling of rows",
            "Independent, ε = 2, simulated": "between 5 simulations",
            "Independent without noise": "between 3 simulations",
            "halves of the real table": "between 3 random splits",
        }
        assert (table["low"] < table["distance"]).all()
        assert (table["distance"] < table["high"]).all()

    def test_several_tables_vary_between_each_other(self, cmc):
        fits = [
            PrivBayes(epsilon=1, k=1, random_state=i).fit(cmc.frame, schema=cmc.schema)
            for i in range(4)
        ]
        tables = [fit.sample() for fit in fits]
        page = report(cmc.frame, tables, cmc.schema, epsilon=1)
        found = [marginal_distance(cmc.frame, table, cmc.schema) for table in tables]
        row = page.table.query("alpha == 2 and table == 'this release'").iloc[0]
        half = 3.182446 * np.std(found, ddof=1) / 2  # Student's t with three degrees of freedom
        expected = np.mean(found), np.mean(found) - half, np.mean(found) + half
        assert (row.distance, row.low, row.high) == pytest.approx(expected, abs=1e-6)
        assert row.interval == "between 4 tables"
        alone = report(cmc.frame, tables[0], cmc.schema).table.query("alpha == 2").iloc[0]
        assert row.high - row.low > alone.high - alone.low, "one table can't show the fit's noise"

    def test_the_same_seed_gives_the_same_page_and_another_one_another(self, cmc, fake, page):
        asked = {"epsilon": 2, "target": cmc.target, "sensitive": "wife_religion"}
        assert str(report(cmc.frame, fake, cmc.schema, **asked)) == str(page)
        assert str(report(cmc.frame, fake, cmc.schema, seed=1, **asked)) != str(page)


class TestUseAndRisk:
    def test_utility_on_rows_that_the_fit_did_not_see(self, cmc):
        train, test = cmc.frame.iloc[:1000], cmc.frame.iloc[1000:]
        fake = PrivBayes(epsilon=9, random_state=0).fit(train, schema=cmc.schema).sample()
        page = report(train, fake, cmc.schema, target=cmc.target, test=test)
        for words, taught in (
            ("trained on this release", fake),
            ("trained on real records", train),
        ):
            found = utility(taught, test, cmc.schema, cmc.target, kernel="linear")
            assert page.utility["accuracy"][words] == found.accuracy
        assert page.utility["accuracy"]["always the most frequent class"] == found.majority
        assert not any("may have seen" in note for note in page.notes)

    def test_without_held_out_rows_the_page_says_so(self, page):
        assert any("which the release may have seen" in note for note in page.notes)
        assert page.verdict[3].startswith(f"Use: a classifier {page.utility.index.name} taught on")

    def test_the_attacker_is_that_of_disclosure_risk(self, cmc, fake):
        """Of at most a thousand people half are attacked, so that others are left."""
        real = cmc.frame.iloc[:600]
        page = report(real, fake, cmc.schema, sensitive="wife_religion")
        codes = cmc.schema.encode(real)
        tried = np.sort(np.random.default_rng(0).choice(600, 300, replace=False))
        key = [name for name in cmc.schema.names if name != "wife_religion"]
        others = np.delete(codes, tried, axis=0)
        for words, table in (("this release", fake), ("other real records", others)):
            asked = codes[tried], table, cmc.schema, key, "wife_religion"
            expected = disclosure_risk(*asked, attackers=["GCAP"])
            assert page.risk[words].iloc[0] == expected["accuracy"].item()
        assert page.risk["most frequent value"].iloc[0] == expected["zero_rule"].item()

    def test_nothing_is_predicted_or_attacked_that_nobody_named(self, cmc, fake):
        page = report(cmc.frame, fake, cmc.schema)
        assert page.utility is None and page.risk is None
        assert any("say target=" in note for note in page.notes)
        assert any("say sensitive=" in note for note in page.notes)

    def test_a_dataset_or_the_schema_names_them(self, cmc, fake):
        known = report(cmc, fake)
        assert cmc.target in known.utility.index.name
        assert cmc.sensitive in known.risk.index[0]
        declared = Schema(cmc.schema.attributes, groups={"wife_religion": "A"})
        assert "guesses wife_religion" in report(cmc.frame, fake, declared).risk.index[0]


class TestInputs:
    def test_all_ways_to_name_a_table_give_the_same_page(self, cmc, fake):
        schema, codes = cmc.schema, cmc.schema.encode(cmc.frame)
        (page,) = {
            str(report(cmc.frame, fake, schema, epsilon=1)),
            str(report((cmc.frame, schema), fake, epsilon=1)),
        }
        (of_codes,) = {
            str(report(codes, schema.encode(fake), schema, epsilon="1")),
            str(report(Records(codes, schema), [fake], epsilon=1.0)),
        }
        assert {*of_codes.splitlines()} < {*page.splitlines()}, "the same, without numbers"

    def test_an_inferred_schema_is_for_exploring_and_a_report_explores(self, cmc, fake):
        inferred = Schema.infer(pd.concat([cmc.frame, fake]))
        assert report(cmc.frame, fake, inferred, epsilon=1).verdict

    def test_marginals_too_large_to_count_are_left_out_and_the_page_says_so(
        self, cmc, fake, monkeypatch
    ):
        monkeypatch.setattr(intervals, "LARGEST", 60)
        page = report(cmc.frame, fake, cmc.schema)
        assert any("of the 120 of 3 columns, drawn" in note for note in page.notes)

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"schema": None}, "a table needs its public schema"),
            ({"target": "z"}, "no attribute 'z'"),
            ({"sensitive": "z"}, "no attribute 'z'"),
            ({"fake": []}, "fake is an empty list"),
            ({"fake": [[0, 1], [1, 0]]}, "integer codes of shape"),
            ({"fake": np.array([[0, 7]])}, "'b': codes from 7 to 7"),
            ({"fake": pd.DataFrame({"a": ["n"]})}, r"missing column\(s\): \['b'\]"),
            ({"test": pd.DataFrame({"a": ["n"]})}, r"missing column\(s\): \['b'\]"),
            ({"epsilon": 0}, "epsilon must be a positive"),
            ({"epsilon": float("nan")}, "epsilon must be"),
            ({"repeats": 0}, "repeats must be a whole number"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, change, words):
        codes = np.array([[0, 0], [1, 1]] * 20)
        asked = {"real": YES_NO.decode(codes), "fake": codes, "schema": YES_NO}
        with pytest.raises((SchemaError, BudgetError), match=words):
            report(**(asked | change))


class Words(HTMLParser):
    """The text of a page; fails where a tag is closed that isn't open."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("rect", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("rect", "line"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


class TestPage:
    def test_page_and_text_say_the_same_and_that_they_are_not_for_publishing(self, page):
        reader = Words()
        reader.feed(page._repr_html_())
        assert reader.open == []
        shown, text = " ".join(reader.words), " ".join(str(page).split())
        for sentence in (*page.verdict, *page.notes):
            assert sentence in shown
            assert sentence in text
        for words in (shown, text):
            assert "NOT PRIVATE" in words and "never for publishing" in words
            assert page.pairs.index[0] in words
            assert f"{distance(page, 3, 'release'):.4f}" in words
            assert "always the most frequent class" in words
        assert repr(page) == str(page)
        assert max(map(len, str(page).splitlines())) <= 110

    def test_columns_stand_under_their_heads_however_long_epsilon_is(self, page):
        longer = page.distances.replace(
            {"table": {"Independent, ε = 2, simulated": "Independent, ε = 1.00004, simulated"}}
        )
        lines = str(replace(page, distances=longer)).splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("over "))
        start, rows = lines[at].index("distance"), lines[at + 1 : at + 1 + len(longer)]
        assert any("1.00004" in row for row in rows)
        assert all(row[start - 1] == " " and row[start] in "0–" for row in rows)

    def test_names_are_text_and_not_markup(self):
        names = ["<script>", "b&c"]
        schema = Schema(tuple(Attribute.categorical(name, ["n", "y"]) for name in names))
        codes = np.array([[0, 0], [1, 1]] * 20)
        page = report(codes, codes, schema, sensitive="<script>", target="b&c")
        assert "<script>" not in page._repr_html_()
        assert "&lt;script&gt; + b&amp;c" in page._repr_html_()

    def test_its_colours_are_those_of_all_figures(self):
        assert import_module("pdsynth.evaluation.report").COLOURS == PALETTE


def test_means_and_medians_inside_bins_are_told():
    """Nine tenths of the amounts lie low in the first bin, so evenly drawn ones have another
    median: the column is named, though its distance is 0."""
    amounts = np.concatenate([np.full(90, 10.0), np.full(10, 950.0)])
    even = np.concatenate([np.linspace(0, 99, 90), np.full(10, 950.0)])
    cell = Attribute.numeric("amount", 0, 1000, bins=10)
    text = Attribute.numeric("size", 0, 10, bins=10, number="1.234,5")
    kind = Attribute.categorical("kind", ["a", "b"])
    sizes = np.linspace(0.5, 9.5, 100)
    kinds = ["a", "b"] * 50
    written = [f"{number:.3f}".replace(".", ",") for number in sizes]
    real = pd.DataFrame({"amount": amounts, "size": written, "kind": kinds})
    fake = pd.DataFrame({"amount": even, "size": sizes, "kind": kinds})
    schema = Schema((cell, text, kind))
    made = report(real, fake, schema)
    assert list(made.numbers.index) == ["amount", "size"]
    assert made.numbers.loc["amount"].tolist() == pytest.approx(
        [104, even.mean(), 10, np.median(even)]
    )
    means = made.numbers.loc["size"]
    assert means.iloc[1] == pytest.approx(means.iloc[0], abs=1e-3)
    said = str(made)
    named = "Measured by the spread of its records, amount is farthest off"
    assert named in " ".join(said.split()) and "median, release" in said
    assert "its median 55" in " ".join(said.split())
    assert report(schema.encode(real), fake, schema).numbers is None
    alone = Schema((kind, Attribute.categorical("x", ["a", "b"])))
    frame = pd.DataFrame({"kind": kinds, "x": kinds})
    assert report(frame, frame, alone).numbers is None


def test_numbers_that_are_off_are_shown_in_digits_that_tell_it():
    """Years, whose means differ behind the point; the twin: nothing is off, and nothing is said."""
    year = Attribute.numeric("year", 2015, 2024, bins=5, integer=True, date="year")
    schema = Schema((year, Attribute.categorical("kind", ["a", "b"])))
    real = pd.DataFrame({"year": [2019, 2020, 2021, 2022] * 25, "kind": ["a", "b"] * 50})
    said = " ".join(report(real, real.replace({"year": {2019: 2020}}), schema).verdict)
    assert "its mean 2020.75, in the records 2020.5; its median 2020.5, in the records" in said
    assert "farthest off" not in " ".join(report(real, real[::-1], schema).verdict)


def test_a_real_table_of_one_record_has_no_halves():
    schema = Schema(tuple(Attribute.categorical(name, ["n", "y"]) for name in "ab"))
    found = report(np.array([[0, 1]]), np.array([[0, 0], [1, 1]]), schema)
    assert "one record, which has no halves" in " ".join(found.verdict)
    assert "nan" not in str(found) + found._repr_html_()


def test_groups_of_a_schema_are_no_matter_of_the_reference(recwarn):
    """Each simulated Independent would warn that it can't use them."""
    columns = tuple(Attribute.categorical(name, ["a", "b"]) for name in "xy")
    frame = pd.DataFrame({"x": ["a", "b"] * 50, "y": ["a", "b", "b", "a"] * 25})
    tables = [
        report(frame, frame, Schema(columns, groups=groups), epsilon=1.0, repeats=2).table
        for groups in ({}, {"x": "A"})
    ]
    assert tables[0].equals(tables[1])
    assert not [w for w in recwarn if "declares groups" in str(w.message)]
