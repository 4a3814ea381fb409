"""T8: the ledger in exact fractions; overdrafts before any noise; every rule L1–L10 has a ledger
that keeps it and one that breaks it."""

import json
import math
import re
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import Silent, curator_of

from pdsynth.core.curator import Measured
from pdsynth.core.errors import BudgetError, PrivacyError, as_fraction
from pdsynth.core.ledger import Ledger
from pdsynth.core.network import Candidates
from pdsynth.core.rules import KINDS
from pdsynth.core.unit import Entry, TableBudget, histogram_cost
from pdsynth.files.story import beside, decimal, short
from pdsynth.published.budgets import PrintedBudget

ROWS, SIZES = [[0, 0, 0], [1, 1, 1], [1, 0, 2], [0, 1, 1]], (2, 2, 3)


def ledger(*entries, claimed=Q(1), guarantee="published", **options):
    """A ledger with exactly these lines, as a checker would meet it: nothing was refused while it
    was written."""
    made = Ledger(Q(claimed), guarantee, **options)
    made._entries = [replace(e, id=e.id or f"s{i:02d}") for i, e in enumerate(entries, 1)]
    return made


def laplace(**changes):
    fields = {
        "id": "",
        "kind": "mechanism",
        "step": "table",
        "mechanism": "discrete_laplace",
        "attributes": ("a",),
        "inputs": ("raw:D",),
        "sensitivity": Q(2),
        "scale": Q(20),
        "epsilon": Q(1, 10),
        "claimed": Q(1, 10),
        "lemma": "lemma:joint_counts",
        "domain_sizes": (2, 3),
        "n_records": 9,
    }
    return Entry(**{**fields, **changes})


def selection(**changes):
    fields = {
        "id": "",
        "kind": "mechanism",
        "step": "pair",
        "mechanism": "exponential",
        "attributes": ("a", "b"),
        "inputs": ("raw:D",),
        "sensitivity": Q(48),
        "epsilon": Q(1, 10),
        "claimed": Q(1, 10),
        "score_unit": "records^2",
        "sensitivity_unit": "records^2",
        "lemma": "lemma:association",
        "domain_sizes": (3, 3),
        "n_records": 9,
    }
    return Entry(**{**fields, **changes})


def peek(**changes):
    fields = {
        "id": "",
        "kind": "unaccounted_access",
        "step": "order",
        "inputs": ("raw:D",),
        "source": "thesis Alg 3 line 2",
    }
    fields["epsilon"] = math.inf
    return Entry(**{**fields, **changes})


def derived(**changes):
    return Entry(
        **{"id": "", "kind": "post_processing", "step": "sampling", "inputs": ("s01",), **changes}
    )


def group(**changes):
    return Entry(**{"id": "g", "kind": "group", "step": "parts", "compose": "parallel", **changes})


def part(values, epsilon=Q(1, 10), **changes):
    return laplace(
        parent="g",
        record_filter=f"records:sex in {{{values}}}",
        epsilon=epsilon,
        scale=2 / epsilon,
        **changes,
    )


def codes(found):
    return [v.split()[0] for v in found.check()]


RULES = {
    # rule: (ledgers that keep it, ledgers that break it)
    "L1": (
        [ledger(laplace(), derived())],
        [ledger(Entry("s01", "public", "n", inputs=("raw:D",))), ledger(group(inputs=("raw:D",)))],
    ),
    "L2": (
        [ledger(laplace(), derived(inputs=("s01", "public:schema")))],
        [ledger(derived(inputs=("raw:D",)))],
    ),
    "L3": (
        [
            ledger(laplace()),
            ledger(laplace(scale=(Q(20), Q(40)), columns=3)),
            ledger(laplace(scale=(Q(20), Q(40)), columns=1, epsilon=Q(3, 40))),
        ],
        [
            ledger(laplace(scale=Q(10))),  # half of the noise that its budget needs
            ledger(laplace(sensitivity=Q(1))),  # sensitivity 1 under replacing a record
            ledger(laplace(sensitivity=Q(1), scale=Q(10))),
            ledger(laplace(scale=None)),
            ledger(laplace(sensitivity=None)),
            ledger(
                laplace(scale=(Q(20), Q(40)), columns=1)
            ),  # one column: a record can't stay in its row
            ledger(laplace(scale=(Q(20), Q(10)), columns=3)),  # the smallest scale counts
            ledger(
                laplace(
                    lemma="lemma:association", domain_sizes=(3, 3), sensitivity=Q(32), scale=Q(320)
                )
            ),
        ],
    ),
    "L4": (
        [
            ledger(selection()),
            ledger(selection(domain_sizes=(2, 9), sensitivity=Q(32))),
            ledger(laplace(), selection(candidates="s01")),
            ledger(selection(mechanism="permute_and_flip")),
        ],
        [
            ledger(selection(candidates="raw mutual information")),
            ledger(selection(candidates="s02"), laplace()),  # a later entry
            ledger(selection(sensitivity_unit="nat")),
            ledger(selection(sensitivity=Q(32))),  # the binary sensitivity on a larger domain
            ledger(selection(sensitivity=Q(32), mechanism="permute_and_flip")),
        ],
    ),
    "L5": (
        [ledger(laplace(), laplace(scale_depends_on=("s01", "public:policy")))],
        [
            ledger(laplace(scale_depends_on=("raw frequencies",))),
            ledger(laplace(scale_depends_on=("s02",)), laplace()),
        ],
    ),
    "L6": (
        [
            ledger(group(), part("f"), part("m, x")),
            ledger(group(compose="sequential"), laplace(parent="g"), laplace(parent="g")),
        ],
        [
            ledger(
                group(),
                *(laplace(parent="g", record_filter=f"attributes:{name}") for name in "abc"),
            ),  # over columns
            ledger(group(), laplace(parent="g")),
            ledger(group(), part("f, m"), part("m"), part("x")),
            ledger(
                group(),
                part("f"),
                part("m"),
                laplace(parent="g", record_filter="records:age in {young}"),
            ),
            ledger(group(compose="somehow"), laplace(parent="g")),
        ],
    ),
    "L7": (
        [ledger(laplace(relation="add_remove", sensitivity=Q(2)), claimed=Q(1, 5))],
        [],  # a conversion, not a violation: see test_an_add_remove_cost_counts_twice
    ),
    "L8": (
        [ledger(laplace())],
        [
            ledger(peek()),
            ledger(*[laplace()] * 11),
            ledger(laplace(relation="add_remove"), claimed=Q(1, 10)),
        ],
    ),
    "L9": (
        [ledger(laplace(domain="public:policy")), ledger(laplace(), laplace(domain="s01"))],
        [ledger(laplace(domain="raw:inferred from the records")), ledger(laplace(domain="s07"))],
    ),
    "L10": (
        [ledger(laplace(), notes=["drawn from the operating system"])],
        [ledger(notes=["noise is reproducible: do not release"])],
    ),
}


class TestRules:
    @pytest.mark.parametrize("rule", RULES)
    def test_ledgers_that_keep_the_rules_have_no_violation(self, rule):
        for good in RULES[rule][0]:
            assert good.check() == []

    @pytest.mark.parametrize(
        ("rule", "bad"), [(r, b) for r, (_, broken) in RULES.items() for b in broken]
    )
    def test_a_broken_rule_names_itself_and_its_entry(self, rule, bad):
        assert rule in codes(bad)
        named = next(v for v in bad.check() if v.startswith(rule))
        if rule not in ("L8", "L10"):
            culprits = [e for e in bad.entries if f"{rule} {e.id} {e.step}: " in named]
            assert culprits

    def test_all_ten_rules_are_there(self):
        assert list(RULES) == [f"L{i}" for i in range(1, 11)]
        assert all(good for good, _ in RULES.values())
        assert all(bad for rule, (_, bad) in RULES.items() if rule != "L7")

    def test_rule_three_recomputes_per_value_scales_itself(self):
        found = ledger(laplace(scale=(Q(20), Q(10)), columns=3)).check()
        assert found == ["L3 s01 table: charged ε = 1/10, but sensitivity ÷ scale gives 1/5"]

    def test_an_infinite_total_shows_the_claim_beside_it(self):
        assert (
            "L8 claimed 1, truly infinite (not DP): 1 unaccounted access(es)"
            in ledger(peek()).check()
        )


class TestArithmetic:
    def test_an_add_remove_cost_counts_twice(self):
        """L7."""
        mixed = ledger(laplace(), laplace(relation="add_remove"))
        assert mixed.epsilon == Q(3, 10)
        assert ledger(laplace(), laplace()).epsilon == Q(2, 10), "failing twin: not converted"

    def test_parallel_parts_cost_the_two_largest_under_replacing_a_record(self):
        parts = [part("a", Q(1, 10)), part("b", Q(3, 10)), part("c", Q(2, 10))]
        assert ledger(group(), *parts).epsilon == Q(5, 10), (
            "a replaced record leaves one part and enters another"
        )
        assert ledger(group(), *parts, part("b", Q(1, 10))).epsilon == Q(6, 10), (
            "within a part, costs add"
        )
        assert ledger(group(), part("a", Q(1, 10))).epsilon == Q(1, 10)
        assert ledger(group(), *parts, laplace()).epsilon == Q(6, 10)
        assert ledger(group(compose="sequential"), *parts).epsilon == Q(6, 10)

    def test_add_remove_parts_cost_twice_the_largest(self):
        parts = [
            part("a", Q(1, 10), relation="add_remove"),
            part("b", Q(3, 10), relation="add_remove"),
        ]
        assert ledger(group(relation="add_remove"), *parts).epsilon == Q(6, 10)

    def test_the_name_of_a_group_can_t_make_replace_one_parts_cheaper(self):
        parts = [part("a", Q(1, 10)), part("b", Q(3, 10))]
        assert ledger(group(relation="add_remove"), *parts).epsilon == Q(4, 10)

    @pytest.mark.parametrize("bad", RULES["L6"][1][:4])
    def test_parts_that_are_not_disjoint_records_are_added_up(self, bad):
        """Columns never compose in parallel: what breaks L6 must not lower the true ε either."""
        assert bad.epsilon == sum(e.epsilon for e in bad.entries if e.kind == "mechanism")

    @given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=12))
    @settings(max_examples=60)
    def test_the_sum_is_exact(self, shares):
        costs = [Q(a, b) for a, b in shares]
        found = ledger(*(laplace(epsilon=c, scale=2 / c) for c in costs), claimed=sum(costs))
        assert found.epsilon == found.finite == sum(costs)
        assert found.check() == []
        assert found.to_frame()["total"].iloc[-1] == sum(costs)
        assert isinstance(found.epsilon, Q)

    def test_ten_tenths_are_one(self):
        open_ledger = Ledger(as_fraction(1.0))
        for _ in range(10):
            open_ledger.write("mechanism", "t", epsilon=as_fraction(0.1), claimed=as_fraction(0.1))
        assert open_ledger.epsilon == 1
        assert sum([0.1] * 10) != 1, "failing twin: binary floats"
        with pytest.raises(BudgetError):
            open_ledger.write("mechanism", "t", epsilon=Q(1, 10**30), claimed=Q(0))

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            (0.1, Q(1, 10)),
            (1 / 3, Q(1, 3)),
            (0.3, Q(3, 10)),
            (2, Q(2)),
            ("0.05", Q(1, 20)),
            ("1/3", Q(1, 3)),
            (1e-6, Q(1, 10**6)),
            (np.float64(0.7), Q(7, 10)),
            (np.int64(3), Q(3)),
            (0.1 + 0.2, Q("0.30000000000000004")),
            (Q(5, 7), Q(5, 7)),
            (1e6, Q(10**6)),
        ],
    )
    def test_numbers_enter_as_they_are_written(self, written, meant):
        assert as_fraction(written) == meant

    @pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
    def test_not_a_number_is_no_budget(self, bad):
        with pytest.raises(BudgetError, match="must be finite"):
            as_fraction(bad)

    @given(st.lists(st.fractions(Q(1, 10), Q(50)), min_size=2, max_size=6), st.integers(1, 5))
    def test_the_cost_of_a_table_is_its_worst_move(self, scales, columns):
        rows = range(len(scales))
        cells = [(x, j) for x in rows for j in range(columns)]
        moves = [
            1 / scales[x] + 1 / scales[y] for x, i in cells for y, j in cells if (x, i) != (y, j)
        ]
        assert histogram_cost(scales, columns) == max(moves)


def known(curator):
    """The door, with columns that are public: what a residual is taken against."""
    for j, size in enumerate(SIZES):
        curator.released[j] = Measured(np.ones(size, dtype=np.int64), Q(1), "public")
    return curator


class TestOverdraft:
    @pytest.mark.parametrize("epsilon", [Q(1), Q(10) + Q(1, 10**20)])
    def test_it_raises_before_any_noise_is_drawn(self, epsilon):
        noise = Silent()
        curator = curator_of(ROWS, SIZES, noise, epsilon=Q(999, 1000))
        before = curator.ledger.entries
        candidates = Candidates(((np.array([0, 0]), np.array([[1], [2]])),))
        requests = [
            lambda: curator.select(candidates, "R", epsilon, step="s", source=""),
            lambda: curator.table((0, 1), TableBudget(epsilon), step="t"),
            lambda: curator.table((0, 1), TableBudget(epsilon, (Q(1), Q(1, 5))), step="t"),
            lambda: next(curator.tables([((0, 1), TableBudget(epsilon), "t")])),
            lambda: curator.columns(epsilon, [0]),
            lambda: known(curator).residuals([(0, 1)], epsilon, step="g", source=""),
            lambda: curator.noisy_associations([(0, 1)], epsilon, step="k", source=""),
            lambda: curator.mean_association([(0, 1)], epsilon, step="m", source=""),
            lambda: curator.strongest_association(
                [(0, 1)], epsilon, step="x", source="", offsets=np.array([0])
            ),
        ]
        for request in requests:
            with pytest.raises(
                BudgetError, match=r"overdraft: .* of 999/1000; nothing was released"
            ):
                request()
        assert noise.asked == []
        assert curator.ledger.entries == before

    @pytest.mark.parametrize("guarantee", ["strict", "published"])
    @pytest.mark.parametrize("cost", [Q(-1000), -1, math.nan, 0.5, math.inf])
    def test_nothing_gives_epsilon_back(self, cost, guarantee):
        """Below 0 the rest would pay for more; NaN makes a sum that no claim is below."""
        noise = Silent()
        curator = curator_of(ROWS, SIZES, noise, epsilon=Q(1), guarantee=guarantee)
        before = curator.ledger.entries
        for ask in (
            lambda: curator.charge_unused(cost, "refund", ""),
            lambda: curator.ledger.write("mechanism", "refund", epsilon=cost, claimed=cost),
        ):
            with pytest.raises(BudgetError, match="'refund' costs .*: costs are exact fractions"):
                ask()
        with pytest.raises((BudgetError, ValueError, ArithmeticError)):
            curator.table((0, 1), TableBudget(cost), step="refund")
        assert curator.ledger.entries == before
        assert noise.asked == []
        with pytest.raises(BudgetError, match="overdraft"):
            curator.table((0, 1), TableBudget(Q(1000)), step="table")
        curator.charge_unused(Q(0), "nothing", "")

    def test_twin_a_refund_would_leave_a_ledger_that_no_rule_breaks(self, monkeypatch):
        monkeypatch.setattr(Ledger, "_refuse_overdraft", lambda *_: None)
        curator = curator_of(ROWS, SIZES, Silent(), epsilon=Q(1))
        curator.charge_unused(Q(-999), "refund", "")
        curator.table((0, 1), TableBudget(Q(1000)), step="table")
        assert (curator.ledger.epsilon, curator.ledger.check()) == (1, [])

    def test_the_last_drop_is_allowed(self):
        noise = Silent()
        curator = curator_of(ROWS, SIZES, noise, epsilon=Q(1, 3))
        curator.table((0,), TableBudget(Q(1, 4)), step="t")
        curator.table((1,), TableBudget(Q(1, 12)), step="t")
        assert curator.ledger.epsilon == curator.ledger.claimed
        assert len(noise.asked) == 2
        with pytest.raises(BudgetError, match="1/1000000"):
            curator.table((1,), TableBudget(Q(1, 10**6)), step="one more")
        assert len(noise.asked) == 2, "spied: no noise for the refused one"

    def test_published_counts_what_is_claimed_and_shows_what_it_costs(self):
        curator = curator_of(ROWS, SIZES, Silent(), guarantee="published")
        half = PrintedBudget(Q(1), source="thesis Alg 2 line 4", scale=Q(1))
        curator.table((0, 1), half, step="half the noise")
        assert curator.ledger.finite == 2
        assert any(
            v.startswith("L8 claimed 1, the accounted part truly costs 2")
            for v in curator.ledger.check()
        )
        assert curator.ledger.verdict().startswith("OVERSPENT: claimed ε = 1, true ε = 2")
        with pytest.raises(BudgetError, match="overdraft"):
            curator.table((0, 1), PrintedBudget(Q(1, 10), scale=Q(1)), step="again")

    def test_a_raw_read_under_strict_is_refused_and_written_nowhere(self):
        strict = Ledger(Q(1))
        with pytest.raises(
            PrivacyError,
            match=r"'AMI order' would read raw records outside a mechanism \(thesis Alg 3 line 2\)",
        ):
            strict.write(
                "unaccounted_access", "AMI order", source="thesis Alg 3 line 2", epsilon=math.inf
            )
        assert strict.entries == ()
        assert strict.epsilon == 0

    def test_unknown_kinds_are_refused(self):
        with pytest.raises(ValueError, match="kind must be one of"):
            Ledger(Q(1)).write("gift", "t")
        assert len(KINDS) == 5

    def test_earlier_lines_count_with_what_they_truly_cost(self):
        """Not with what they claim, which is less where a paper errs."""
        book = Ledger(Q(3, 4))
        book.write("mechanism", "one", epsilon=Q(1, 2), claimed=Q(1, 10))
        with pytest.raises(BudgetError, match="to 1 of 3/4"):
            book.write("mechanism", "two", epsilon=Q(1, 2), claimed=Q(1, 10))


class TestReading:
    FULL = ledger(
        selection(),
        laplace(attributes=("a", "b")),
        laplace(attributes=("c",), scale=(Q(20), Q(40)), columns=3),
        derived(),
    )
    BROKEN = ledger(laplace(), peek(attributes=("b",)), claimed=Q(1, 2))

    def test_the_loss_of_one_attribute(self):
        self.FULL.public_attributes = ("a", "b", "c", "d")
        losses = self.FULL.attribute_epsilon()
        assert losses.to_dict() == {"a": Q(1, 5), "b": Q(1, 5), "c": Q(1, 10), "d": 0}
        assert losses.attrs["known"].startswith("ex post")
        assert self.FULL.epsilon == Q(3, 10)
        known = replace(self.FULL, guaranteed_ex_ante=True)
        assert known.attribute_epsilon().attrs["known"] == "before the run"

    def test_a_raw_read_makes_the_loss_of_its_attributes_infinite(self):
        assert self.BROKEN.attribute_epsilon().to_dict() == {"a": Q(1, 10), "b": math.inf}
        everything = ledger(laplace(), peek())
        assert everything.attribute_epsilon().to_dict() == {"a": math.inf}, (
            "a read that names no attribute may have read all"
        )

    def test_the_frame(self):
        frame = self.FULL.to_frame()
        assert list(frame["total"]) == [Q(1, 10), Q(2, 10), Q(3, 10), Q(3, 10)]
        assert frame["scale"].iloc[2] == "20 … 40"
        broken = self.BROKEN.to_frame()
        assert list(broken["total"]) == [Q(1, 10), math.inf]
        assert list(broken["kind"]) == ["mechanism", "unaccounted_access"]
        assert list(Ledger(Q(1)).to_frame().columns) == list(frame.columns)

    def test_the_totals(self):
        assert (self.BROKEN.epsilon, self.BROKEN.finite, self.BROKEN.claimed) == (
            math.inf,
            Q(1, 10),
            Q(1, 2),
        )
        assert [e.source for e in self.BROKEN.unaccounted] == ["thesis Alg 3 line 2"]

    @pytest.mark.parametrize("which", ["FULL", "BROKEN"])
    def test_json_round_trip_without_drift(self, which):
        one = getattr(self, which)
        again = Ledger.from_dict(json.loads(json.dumps(one.to_dict())))
        assert again.entries == one.entries
        assert (again.epsilon, again.claimed, again.guarantee, again.check()) == (
            one.epsilon,
            one.claimed,
            one.guarantee,
            one.check(),
        )
        lines = [json.loads(line) for line in one.to_json().splitlines()]
        assert len(lines) == 1 + len(one.entries)
        assert lines[1]["epsilon"] == "1/10"

    def test_nobody_can_mistake_one_for_the_other(self):
        good, bad = str(self.FULL), str(self.BROKEN)
        assert "Pure ε-differential privacy (replace one record): ε = 3/10 of 1." in good
        assert "NOT DIFFERENTIALLY PRIVATE: claimed ε = 1/2, 1 unaccounted" in bad
        assert "!!" in bad
        assert "!!" not in good
        assert "NOT PRIVATE" in Ledger(Q(1), "none").verdict()

    def test_html_is_escaped_and_red_where_it_must_be(self):
        html = ledger(peek(step="<script>"), laplace())._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert "#d55e00" in html
        assert "thesis Alg 3 line 2" in html
        assert "color:#d55e00" not in self.FULL._repr_html_()

    def test_entries_can_only_be_appended(self):
        assert isinstance(self.FULL.entries, tuple)
        with pytest.raises(AttributeError):
            self.FULL.entries[0].epsilon = Q(0)

    def test_lines_are_numbered_without_a_gap(self):
        """A line that was renamed is another one's number, or one that was cut."""
        plain = ledger(laplace(), laplace()).to_dict()
        assert len(Ledger.from_dict(plain).entries) == 2
        for name in ("s03", "s01", "2"):
            plain["entries"][1]["id"] = name
            with pytest.raises(ValueError, match="isn't called s02"):
                Ledger.from_dict(plain)


class TestBroken:
    def test_a_ledger_that_breaks_a_rule_is_not_private(self):
        assert ledger(laplace(), guarantee="strict").private
        assert not ledger(laplace(sensitivity=Q(1, 2)), guarantee="strict").private

    def test_a_selection_about_three_records_of_a_person_moves_three_times_as_far(self):
        single, three = selection(), selection(sensitivity=3 * selection().sensitivity)
        assert ledger(single).check() == []
        assert codes(ledger(single, records_per_person=3)) == ["L4"]
        assert ledger(three, records_per_person=3).check() == []


class TestStory:
    """A few lines that add up to the entries, the same in a page and in a terminal."""

    BOOK = ledger(
        peek(step="AMI order"),
        selection(step="pair 2 of 3", claimed=Q(1, 10), epsilon=Q(1, 10)),
        selection(step="pair 3 of 3", claimed=Q(1, 10), epsilon=Q(1, 10)),
        laplace(step="table(a)", claimed=Q(1, 4), epsilon=Q(1, 2)),
        laplace(step="table(b | a)", claimed=Q(1, 4), epsilon=Q(1, 4)),
    )

    def test_lines_by_hand(self):
        lines = [(x.step, x.often, x.claimed, x.true) for x in self.BOOK.story()]
        assert lines == [
            ("AMI order", 1, Q(0), math.inf),
            ("choosing parents", 2, Q(1, 5), Q(1, 5)),
            ("noisy tables", 2, Q(1, 2), Q(3, 4)),
        ]
        assert [x.wrong for x in self.BOOK.story()] == [True, False, True]

    def test_the_edges_of_a_forest_are_one_line(self):
        (line,) = ledger(*(laplace(step=f"edge {number}") for number in range(1, 14))).story()
        assert (line.step, line.often) == ("choosing pairs", 13)

    def test_numbers_of_ten_thousand_and_more_have_no_exponent(self):
        assert short(Q(401_386_000, 1001)) == "400,986" and short(9_999.0) == "9999"
        assert beside(Q(1_074_000, 999)) == "1076" and beside(Q(1527, 65536)) == "0.02331"
        assert short(Q(99_999, 10) + Q(1, 30)) == "10,000"

    @pytest.mark.parametrize("value", [1.0004, 0.10004, 1.0000004, 3.00009, 123.45678, 12345.6])
    def test_a_number_that_was_promised_is_never_written_smaller(self, value):
        """ε = 1.0004 stood as 1 in the verdict, the story and on the card."""
        promised = as_fraction(value)
        one = laplace(epsilon=promised, claimed=promised, scale=2 / promised)
        written = ledger(one, claimed=promised, guarantee="strict")
        for text in re.findall(r"ε = ([\d.,]+) of ([\d.,]+[\d])", written.verdict())[0]:
            assert Q(text.replace(",", "")) >= promised
        assert all(Q(f(promised).replace(",", "")) >= promised for f in (beside, decimal))

    def test_what_is_cut_off_is_rounded_up_and_of_a_rest_down(self):
        long = Q(1_500_007, 1_021_003)  # 1.46915…
        assert (short(long), short(long, up=False)) == ("1.47", "1.469")
        assert (short(Q(1, 3000)), short(Q(1, 3000), up=False)) == ("0.0003334", "0.0003333")
        assert short(0.1 + 0.2) == "0.3" and short(2e-9) == "2e-09"

    def test_parts_that_a_paper_composes_in_parallel_are_claimed_once(self):
        parts = [laplace(step="table(a)", record_filter=f"columns:C{i}") for i in (1, 2, 2)]
        (line,) = ledger(*parts).story()
        assert line.claimed == Q(2, 10) and line.true == Q(3, 10) and line.wrong

    def test_page_and_terminal_say_the_same_with_decimals_beside_fractions(self):
        page, text = self.BOOK._repr_html_(), str(self.BOOK)
        for words in ("choosing parents", "1/5 = 0.2", "3/4 = 0.75", "∞, read raw"):
            assert words in page.split("<details>")[0] and words in text
        assert text.count("!!") == 2
        assert "table(b | a)" in page.split("The whole ledger, 5 lines")[1]

    def test_money_stands_first_in_the_whole_ledger(self):
        whole = self.BOOK._repr_html_().split("The whole ledger")[1]
        heads = re.findall(r"<th [^>]*>([^<]*)", whole)
        assert heads[:3] == ["claimed ε", "true ε", "total"]

    def test_nothing_is_cut_without_a_sign(self):
        name = "groups by association with " + "x" * 40
        text = str(ledger(laplace(step=name)))
        assert name[:43] + "…" in text and name[:44] not in text
        assert name in ledger(laplace(step=name))._repr_html_()

    def test_free_steps_have_no_line(self):
        assert ledger(laplace(kind="post_processing")).story() == []
