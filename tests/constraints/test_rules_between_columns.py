"""Rules between columns: their masks by hand, their sentences, and samples that never break one."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import pdsynth as pds
from pdsynth import Attribute, Network, Rule, Schema, SchemaError
from pdsynth.constraints import conditions, keep_rules, possible_cells, possible_in
from pdsynth.constraints.conditions import Given, check_rules
from pdsynth.constraints.rules import MISSING, code_of
from pdsynth.core.factors import NEVER, CliqueTree, junction_tree
from pdsynth.core.ledger import Ledger
from pdsynth.core.model import Model
from pdsynth.core.views import BinaryEncoding
from pdsynth.files.card import make_card

ROLE = Attribute.categorical("role", ["Husband", "Wife", "Child"])
MARRIED = Attribute.categorical("married", ["yes", "no"], missing=True)
YEARS = Attribute.categorical("years", [8, 12, 16])
HOURS = Attribute.binned("hours", [0, 10, 20, 40], integer=True)
PART = Attribute.binned("part", [0, 5, 20, 40], integer=True, missing=True)
PLAIN = (ROLE, MARRIED, YEARS, HOURS, PART)


def masks(*rules):
    return dict(Schema(PLAIN, rules=rules).masks)


class TestMasks:
    def test_impossible_by_hand(self):
        mask = masks(Rule.impossible({"married": ["no", None], "role": ["Husband", "Wife"]}))[0, 1]
        assert mask.tolist() == [[True, False, False], [True, False, False], [True, True, True]]

    def test_determines_by_hand(self):
        rule = Rule.determines("years", "role", {8: "Child", 16: ["Husband", "Wife"]})
        assert masks(rule)[0, 2].T.tolist() == [
            [False, False, True],  # 8
            [True, True, True],  # 12 isn't named, so it is free
            [True, True, False],  # 16
        ]

    def test_a_table_has_its_columns_in_any_order(self):
        """Cell by cell: where a record can be is where :func:`keep_rules` keeps it."""
        rules = Rule.impossible({"role": "Wife", "years": [8, 16]}), Rule.at_most("part", "hours")
        schema = Schema(PLAIN, rules=rules)
        for columns in itertools.permutations([0, 2, 3, 4]):
            cells = possible_in(schema.masks, schema.sizes, columns)
            for cell in np.ndindex(cells.shape):
                codes = np.zeros((1, len(PLAIN)), dtype=np.int64)
                codes[0, list(columns)] = cell
                assert cells[cell] == keep_rules(schema.masks, codes)[0], (columns, cell)

    def test_determines_reads_a_public_table(self):
        table = pd.DataFrame({"years": [8, 8, 12, 16], "role": ["Child", "Child", "Wife", "Wife"]})
        listed = Rule.determines("years", "role", {8: "Child", 12: "Wife", 16: "Wife"})
        said = Rule.determines("years", "role", table)
        assert said == listed

    def test_at_most_of_bins_is_impossible_where_no_numbers_agree(self):
        """Against every pair of whole numbers, with a twin that looks at lower ends only."""
        mask = masks(Rule.at_most("part", "hours"))[3, 4].T
        part = [range(5), range(5, 20), range(20, 41)]
        hours = [range(10), range(10, 20), range(20, 41)]
        brute = [[any(a <= b for a in p for b in h) for h in hours] for p in part]
        assert mask[:3].tolist() == brute
        assert mask[3].all(), "a missing number is at most anything"
        lower = [[min(p) <= min(h) for h in hours] for p in part]
        assert lower != brute

    def test_bins_of_fractions_do_not_reach_their_right_edge(self):
        low, high = Attribute.binned("low", [1, 2, 3]), Attribute.binned("high", [0, 1, 2])
        ((_, mask),) = Schema((low, high), rules=[Rule.at_most("low", "high")]).masks
        # high: [0, 1) and [1, 2]; 1 isn't in the first, 2 is in the last
        assert mask.tolist() == [[False, True], [False, True]]

    def test_rules_over_the_same_columns_are_one_mask(self):
        found = masks(
            Rule.impossible({"role": "Child", "married": "yes"}),
            Rule.impossible({"married": "no", "role": "Wife"}),
        )
        assert [*found] == [(0, 1)]
        assert (~found[0, 1]).sum() == 2

    def test_values_are_named_by_labels_and_by_numbers_inside(self):
        assert [code_of(HOURS, v) for v in ("10–19", 12, 40)] == [1, 1, 2]
        assert [code_of(PART, v) for v in (None, math.nan, MISSING)] == [3, 3, 3]

    def test_cells_that_can_occur_are_counted(self):
        schema = Schema(PLAIN, rules=[Rule.impossible({"role": "Child", "years": [8, 12]})])
        count = lambda *columns: possible_cells(schema.masks, schema.sizes, columns)  # noqa: E731
        assert (count(0, 2), count(2, 0), count(0, 1), count(2, 1, 0)) == (7, 7, 9, 21)


class TestWords:
    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: Rule.impossible({"role": "Wife"}), "two columns or more"),
            (lambda: Rule.impossible(["role"]), "takes {column: value"),
            (lambda: Rule.impossible({"role": [], "married": "yes"}), "lists no value"),
            (lambda: Rule.impossible({"role": [{}], "married": "yes"}), "texts and numbers"),
            (lambda: Rule.determines("role", "role", {"Wife": "Wife"}), r"names the column.*twice"),
            (lambda: Rule.determines("role", "years", {}), "takes {value: value}"),
            (
                lambda: Rule.determines("role", "years", pd.DataFrame({"role": []})),
                "no column 'years'",
            ),
            (lambda: Rule.at_most("a", 3), "columns of a rule"),
            (lambda: Rule.at_most("a", "b", on_violation="drop"), "on_violation must be one of"),
            (lambda: Rule("sometimes", ("a", "b")), "must be one of impossible"),
        ],
    )
    def test_a_rule_by_itself(self, make, words):
        with pytest.raises(SchemaError, match=words):
            make()

    @pytest.mark.parametrize(
        ("rules", "words"),
        [
            ([Rule.at_most("part", "age")], r"names 'age', which the schema doesn't declare"),
            ([Rule.at_most("role", "hours")], r"'role' declares 'Husband', which is no number"),
            (
                [Rule.impossible({"role": "Aunt", "years": 8})],
                r"'role' has no value 'Aunt'; it has",
            ),
            ([Rule.determines("hours", "years", {99: 8})], r"'hours' has no value 99"),
            ([Rule.impossible({"role": "Wife", "years": "8"})], "8 is no text: leave out its"),
            ([Rule.impossible({"role": ROLE.values, "years": YEARS.values})], "leaves no"),
            (
                [
                    Rule.determines("role", "years", dict.fromkeys(ROLE.values, 8)),
                    Rule.determines("role", "years", dict.fromkeys(ROLE.values, 12)),
                ],
                "leaves no values of its columns at all",
            ),
            (
                [
                    Rule.determines("role", "years", dict.fromkeys(ROLE.values, 8)),
                    Rule.determines("years", "married", {8: "no"}),
                    Rule.impossible({"married": ["no"], "role": list(ROLE.values)}),
                ],
                r"contradict each other: 'role'",
            ),
            ([Rule.at_most("part", "hours")] * 1001, "1,001 rules"),
            (["part <= hours"], "rules must be Rules"),
        ],
    )
    def test_beside_a_schema(self, rules, words):
        with pytest.raises(SchemaError, match=words):
            Schema(PLAIN, rules=rules)

    def test_too_many_cells(self):
        wide = [Attribute.numeric(x, 0, 10**6, bins=1100) for x in "ab"]
        with pytest.raises(SchemaError, match="has 1,210,000 cells.*coarser bins"):
            Schema(wide, rules=[Rule.at_most("a", "b")])


class TestRecords:
    SCHEMA = Schema(
        (ROLE, MARRIED),
        rules=[
            Rule.impossible({"role": ["Husband", "Wife"], "married": "no"}),
            Rule.impossible({"role": "Child", "married": "yes"}, on_violation="keep"),
        ],
    )

    def test_records_that_break_a_rule_are_refused_as_values_outside_the_domain_are(self):
        frame = pd.DataFrame({"role": ["Wife", "Child", "Wife"], "married": ["yes", "no", "no"]})
        with pytest.raises(SchemaError, match=r"rule «impossible: role.*1 row\(s\) break it"):
            self.SCHEMA.encode(frame)
        (problem,) = self.SCHEMA.problems(frame)
        assert (problem.column, problem.records) == ("role, married", 1)

    def test_a_rule_may_keep_them(self):
        frame = pd.DataFrame({"role": ["Wife", "Child"], "married": ["yes", "yes"]})
        codes = self.SCHEMA.encode(frame)
        assert codes.tolist() == [[1, 0], [2, 0]]
        assert self.SCHEMA.break_rules(codes).tolist() == [False, True]
        assert not self.SCHEMA.problems(frame)

    def test_who_keeps_them_is_told_that_other_cells_hold_them(self):
        """In the remedy, on the card and in the report; the twin: where none is kept, nobody is."""
        refusing = replace(self.SCHEMA, rules=self.SCHEMA.rules[:1])
        keeping = replace(refusing, rules=[replace(refusing.rules[0], on_violation="keep")])
        wrong = pd.DataFrame({"role": ["Wife", "Husband"] * 50, "married": ["yes", "no"] * 50})
        (problem,) = refusing.problems(wrong)
        assert "other cells then hold them" in problem.remedy
        for schema, frame, broken in (
            (keeping, wrong, "50, which other cells hold here."),
            (refusing, wrong.assign(married="yes"), "0."),
        ):
            model = pds.baselines.Independent(2).fit(frame, schema).model_
            card = make_card(model, title="t", table="t.csv", rows=9).markdown
            assert ("; records that break it were counted, and other cells" in card) == (
                schema is keeping
            )
            said = " ".join(pds.evaluate.report(frame, model.sample(), schema, repeats=1).verdict)
            assert f"of the 100 real records {broken}" in said

    def test_a_code_is_a_function_of_its_own_record(self):
        """Another row's violation, kept or not, changes no code."""
        rules = [replace(rule, on_violation="keep") for rule in self.SCHEMA.rules]
        kept = replace(self.SCHEMA, rules=rules)
        one = pd.DataFrame({"role": ["Wife", "Husband"], "married": ["yes", "yes"]})
        other = one.copy()
        other.loc[1, "married"] = "no"
        assert kept.encode(one)[0].tolist() == kept.encode(other)[0].tolist()

    def test_problems_of_other_columns_do_not_hide_rules(self):
        frame = pd.DataFrame({"role": ["Wife", "Aunt"], "married": ["no", "no"]})
        assert [p.records for p in self.SCHEMA.problems(frame)] == [1, 1]

    def test_fewer_columns_keep_the_rules_among_them(self):
        schema = Schema(PLAIN, rules=[Rule.at_most("part", "hours")])
        assert schema.select(["hours", "part"]).rules == schema.rules
        assert schema.select(["hours", "role"]).rules == ()


class TestNumbersInOrder:
    """Numbers of overlapping bins are placed so that the rule holds, each in its own bin."""

    SCHEMA = Schema(
        (
            Attribute.binned("a", [0, 5, 20, 40], integer=True, missing=True),
            Attribute.binned("b", [0, 10, 20, 40], integer=True),
            Attribute.binned("c", [0.0, 4.5, 40.0]),
            Attribute.categorical("d", [3, 7, 40]),
        ),
        rules=[Rule.at_most(*pair) for pair in itertools.combinations("abcd", 2)],
    )

    def test_every_possible_record(self):
        sizes = self.SCHEMA.sizes
        codes = np.array([*itertools.product(*map(range, sizes))])
        codes = np.repeat(codes[~self.SCHEMA.break_rules(codes)], 50, axis=0)
        rng = np.random.default_rng(0)
        frame = self.SCHEMA.decode(codes, rng.random(codes.shape))
        for a, b in itertools.combinations("abcd", 2):
            both = frame[a].notna() & frame[b].notna()
            assert (frame[a][both] <= frame[b][both]).all()
        assert self.SCHEMA.encode(frame).tolist() == codes.tolist(), "bins stay"
        free = replace(self.SCHEMA, rules=()).decode(codes, rng.random(codes.shape))
        assert (free["a"] > free["b"]).any(), "the twin without rules breaks it"

    @given(
        st.lists(st.tuples(st.booleans(), st.integers(2, 9)), min_size=2, max_size=4),
        st.integers(1, 40),
        st.integers(0, 2**32 - 1),
    )
    @settings(max_examples=80)
    def test_whole_and_real_numbers_in_any_order(self, kinds, top, seed):
        """Whole and real columns in any chain, with bins of any widths: a ≤ b ≤ c holds."""
        names = "abcd"[: len(kinds)]
        columns = tuple(
            Attribute.numeric(x, 0, top + bins, bins=bins, integer=whole)
            for x, (whole, bins) in zip(names, kinds, strict=True)
        )
        rules = tuple(Rule.at_most(a, b) for a, b in itertools.pairwise(names))
        schema = Schema(columns, rules=rules)
        codes = np.array([*itertools.product(*map(range, schema.sizes))])
        codes = codes[~schema.break_rules(codes)]
        rng = np.random.default_rng(seed)
        codes = codes[rng.integers(0, len(codes), 400)]
        frame = schema.decode(codes, rng.random(codes.shape))
        for a, b in itertools.pairwise(names):
            assert (frame[a] <= frame[b]).all()
        if len(names) == 2:  # three bins may leave no number, though each two do
            assert schema.encode(frame).tolist() == codes.tolist(), "bins stay"

    def test_where_asks_for_exactly_one_number(self):
        names = self.SCHEMA.names
        tables = tuple(np.ones(size, dtype=np.int64) for size in self.SCHEMA.sizes)
        model = model_of(self.SCHEMA, tuple((name, ()) for name in names), tables)
        frame = model.sample(500, 0, where={"b": 8})
        assert (frame["b"] == 8).all()
        assert (frame["a"].dropna() <= 8).all()
        assert ((frame["c"] >= 8) & (frame["d"] >= 8)).all()


# --- models --------------------------------------------------------------------------------------


def model_of(schema, pairs, tables):
    return Model(schema, Network(pairs), tables, Ledger(1), 100)


@st.composite
def ruled_models(draw):
    """A model of up to four attributes, over these or their bits, with any rules."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=4))
    attributes = [Attribute.categorical(f"x{j}", range(size)) for j, size in enumerate(sizes)]
    rules = []
    for _ in range(draw(st.integers(1, 3))):
        places = st.lists(st.sampled_from(range(len(sizes))), min_size=2, max_size=3, unique=True)
        some = {
            f"x{j}": st.lists(st.integers(0, sizes[j] - 1), min_size=1, max_size=2, unique=True)
            for j in draw(places)
        }
        rules.append(Rule.impossible({name: draw(values) for name, values in some.items()}))
    try:
        schema = Schema(attributes, rules=rules)
        check_rules(schema)
    except SchemaError:
        assume(False)
    domain = BinaryEncoding(schema).schema if draw(st.booleans()) else schema
    pairs, tables = [], []
    for place, child in enumerate(domain.names):
        parents = tuple(p for p in domain.names[:place] if draw(st.booleans()))[:3]
        shape = [domain[x].size for x in (child, *parents)]
        cells = st.lists(st.integers(0, 3), min_size=math.prod(shape), max_size=math.prod(shape))
        pairs.append((child, parents))
        tables.append(np.array(draw(cells), dtype=np.int64).reshape(shape))
    return model_of(schema, tuple(pairs), tuple(tables))


def exact_law(model):
    """P of every record by the chain rule, given that it keeps the rules, times the weights that
    give columns their own distributions back. Bits that spell no value are left out, or the rules
    say nothing of them.
    """
    domain, law = model.domain, {}
    for cell in itertools.product(*map(range, domain.sizes)):
        p = 1.0
        for child, parents in model.network.pairs:
            key = 0
            for x in parents:
                key = key * domain[x].size + cell[domain.index(x)]
            p *= model.conditionals[child][cell[domain.index(child)], key]
        for columns, weights in model.ruled.weights:
            p *= weights[tuple(cell[j] for j in columns)]
        codes = np.array([cell])
        if model.encoding is not None:
            bits = [model.encoding.bits(x) for x in model.schema.names]
            codes = np.array([[int("".join(str(cell[b]) for b in place), 2) for place in bits]])
        ruled = {j for columns, _ in model.schema.masks for j in columns}
        spelt = {j for j, size in enumerate(model.schema.sizes) if codes[0, j] < size}
        if not (model.ruled.beside or ruled <= spelt):
            continue
        masks = [mask for mask in model.schema.masks if spelt.issuperset(mask[0])]
        if keep_rules(masks, codes)[0]:
            law[cell] = p
    total = sum(law.values())
    return {cell: p / total for cell, p in law.items()} if total else None


def conditioned_law(model):
    plain, law, domain = model.ruled.exact, {}, model.domain
    for cell in itertools.product(*map(range, domain.sizes)):
        p = 1.0
        for child, parents in plain.network.pairs:
            key = 0
            for x in parents:
                key = key * domain[x].size + cell[domain.index(x)]
            p *= plain.conditionals[child][cell[domain.index(child)], key]
        if p:
            law[cell] = p
    return law


def test_a_rule_does_not_favour_values_to_which_it_leaves_room():
    """Of independent columns, one of which decides the other, both keep their distribution.

    The twin: given the rule alone each value's probability is squared.
    """
    attributes = [Attribute.categorical(x, ["a", "b", "c"]) for x in ("degree", "years")]
    schema = Schema(attributes, rules=[Rule.determines("degree", "years", {x: x for x in "abc"})])
    counts = np.array([60, 30, 10])
    model = model_of(schema, (("degree", ()), ("years", ())), (counts, counts))
    law = conditioned_law(model)
    assert [law[j, j] for j in range(3)] == pytest.approx([0.6, 0.3, 0.1], abs=1e-3)
    model.ruled.weights.clear()
    squares = counts**2 / (counts**2).sum()
    alone = exact_law(model)
    assert [alone[j, j] for j in range(3)] == pytest.approx(squares)
    assert abs(squares[0] - 0.6) > 0.1


def test_columns_that_contradict_each_other_meet_in_the_middle():
    attributes = [Attribute.categorical(x, ["a", "b"]) for x in ("degree", "years")]
    schema = Schema(attributes, rules=[Rule.determines("degree", "years", {x: x for x in "ab"})])
    tables = np.array([70, 30]), np.array([50, 50])
    law = conditioned_law(model_of(schema, (("degree", ()), ("years", ())), tables))
    assert law[0, 0] == pytest.approx(0.6, abs=0.01)


def test_weights_of_any_size_give_columns_back():
    """Adult at ε = 1/30, a seed whose weights reach e^±325: two columns determine each other."""
    words = """Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc
    Assoc-acdm Bachelors Masters Prof-school Doctorate""".split()
    years = {word: year for year, word in enumerate(words, 1)}
    wed = {"relationship": ["Husband", "Wife"], "marital-status": "Never-married"}
    kept = {"on_violation": "keep"}
    rules = [
        Rule.determines("education", "education-num", years, **kept),
        Rule.impossible(wed, **kept),
    ]
    adult = pds.datasets.load_adult()
    names = ["education", "education-num", "marital-status", "relationship", "sex"]
    schema = Schema([adult.schema[x] for x in names], rules=rules)
    fit = pds.baselines.Independent(1 / 30, random_state=8).fit(adult.frame[names], schema)
    rows = fit.sample(random_state=1)
    found = pds.evaluate.marginal_distances(adult.frame[names], rows, schema, 1)
    assert len(fit.model_.ruled.weights) == 4 and found.max() < 0.12


def no_weights_reach_it():
    """Four fits of two columns where "none" decides "open", and noise made P(none) > P(open)."""
    rng = np.random.default_rng(0)
    state = np.where(rng.random(12_000) < 0.85, "closed", "open")
    quarter = rng.choice(["q1", "q2", "q3", "q4"], 12_000)
    frame = pd.DataFrame({"when": np.where(state == "closed", quarter, "none"), "state": state})
    kinds = {"when": ["q1", "q2", "q3", "q4", "none"], "state": ["closed", "open"]}
    schema = Schema(
        [Attribute.categorical(name, values) for name, values in kinds.items()],
        rules=[Rule.impossible({"when": "none", "state": "closed"})],
    )
    fits = [pds.baselines.Independent(1, random_state=i).fit(frame, schema) for i in (20, 22, 29)]
    return [float(fit.model_.marginal(["when"])["none"]) for fit in fits]


def test_columns_meet_where_no_weights_make_the_zeros_that_it_takes():
    """1,764 of 12,000 have none. Weights of a fit's own potentials ran to e^±1500."""
    assert no_weights_reach_it() == pytest.approx([1764] * 3, abs=30)


def test_twin_weights_that_ran_away_lose_most_of_a_value(monkeypatch):
    monkeypatch.setattr(conditions, "ASTRAY", math.inf)
    assert max(no_weights_reach_it()) < 400


def nearest_margins(own, allowed):
    """The least squares by which margins of an allowed distribution miss ``own``: oracle (NNLS)."""
    places = np.argwhere(allowed)
    ends = np.cumsum([0, *allowed.shape])
    rows = np.zeros((ends[-1] + 1, len(places)))
    for column, place in enumerate(places):
        rows[ends[:-1] + place, column] = 1
    rows[-1] = 1e4  # so that all probabilities add up to 1
    p, _ = nnls(rows, np.concatenate([*own, [1e4]]))
    return float(((rows[:-1] @ p - np.concatenate(own)) ** 2).sum())


@pytest.mark.parametrize("seed", range(60))
def test_restored_columns_are_as_near_as_any_that_keep_the_rules(seed):
    """Two or three columns, and up to three cells or implications: within 1 % of n of the best."""
    rng = np.random.default_rng(seed)
    sizes = tuple(map(int, rng.integers(2, 6, rng.integers(2, 4))))
    own = [rng.dirichlet(np.full(size, 0.7)) for size in sizes]
    allowed = np.ones(sizes, dtype=bool)
    for _ in range(rng.integers(1, 4)):
        i, j = rng.choice(len(sizes), 2, replace=False)
        at = np.indices(sizes)
        value, other = rng.integers(sizes[i]), rng.integers(sizes[j])
        differs = at[j] != other if rng.random() < 0.5 else at[j] == other
        allowed &= ~((at[i] == value) & differs)
    law = math.prod(np.ix_(*own))
    if (law * allowed).sum() < 1e-6:
        return
    columns = range(len(sizes))
    weights, misfit = conditions.restore_columns(
        [(j, ()) for j in columns],
        [p[:, None] for p in own],
        sizes,
        [(tuple(columns), allowed)],
        [(j,) for j in columns],
        1e4,
    )
    logs = np.log(law) + np.where(allowed, 0.0, NEVER)
    for (j,), weight in weights:
        logs += np.expand_dims(np.log(weight), [k for k in columns if k != j])
    law = np.exp(logs - logs.max())
    law /= law.sum()
    margins = [law.sum(axis=tuple(k for k in columns if k != j)) for j in columns]
    missed = sum(((m - p) ** 2).sum() for m, p in zip(margins, own, strict=True))
    assert missed == pytest.approx(misfit / 1e8, abs=1e-6)
    assert math.sqrt(missed) <= math.sqrt(nearest_margins(own, allowed)) + 0.01


def test_what_is_ruled_out_has_the_same_logarithm_everywhere():
    tree = CliqueTree(junction_tree(2, [(0, 1)]), (60, 70))
    mask = np.random.default_rng(0).random((60, 70)) < 0.5
    _, logs = tree.weigh((0, 1), mask)
    assert logs.dtype == float
    assert np.array_equal(logs, np.where(mask, 0.0, NEVER))


@given(ruled_models())
def test_the_law_of_samples_is_the_models_given_the_rules(model):
    """Over attributes and over bits, against an enumeration of all records."""
    exact, found = exact_law(model), conditioned_law(model)
    if exact is None:  # no mass: then every record that keeps the rules is as likely as evened out
        assert sum(found.values()) == pytest.approx(1)
    else:
        assert {c: p for c, p in found.items() if p > 1e-9} == pytest.approx(
            {c: p for c, p in exact.items() if p > 1e-9}
        )
    for method in ("independent", "balanced"):
        codes = model.sample_codes(300, np.random.default_rng(0), method)
        assert not model.schema.break_rules(codes).any()


def over_bits(rule, high, other, low=(0, 1)):
    """A model over the bits of two columns of three values each; ``other``: P(bit | first one)."""
    attributes = [Attribute.categorical(x, range(3)) for x in "ab"]
    schema = Schema(attributes, rules=[rule])
    first, second, third, fourth = BinaryEncoding(schema).schema.names
    pairs = (first, ()), (second, ()), (third, (first,)), (fourth, ())
    tables = [np.array(cells, dtype=np.int64) for cells in (high, low, other, low)]
    return model_of(schema, pairs, tuple(tables))


def test_bits_that_spell_no_value_get_one_as_without_rules():
    """Half of the records spell no value of a, and a b that they alone have: it isn't lost.

    The twin leaves them out.
    """
    rule = Rule.impossible({"a": 0, "b": 0})
    model = over_bits(rule, (50, 50), ((100, 0), (0, 100)), low=(10, 90))
    drawn = model.sample_codes(4000, np.random.default_rng(0))
    assert not model.schema.break_rules(drawn).any()
    assert (drawn[:, 1] == 2).mean() > 0.04 and model.marginal("b").attrs["exact"] is False
    twin = Given(model, None, beside=False).sample_codes(4000, np.random.default_rng(0))
    assert not model.schema.break_rules(twin).any()
    assert abs((twin[:, 1] == 1).mean() - (drawn[:, 1] == 1).mean()) > 0.03


def test_bits_of_which_no_drawing_keeps_the_rules_are_left_out(monkeypatch):
    """Where one column is spelt the other never is, and its one value breaks the rule."""
    monkeypatch.setattr(conditions, "LEAST_DRAWS", 5000)
    monkeypatch.setattr(conditions, "DRAWS", 10)
    model = over_bits(Rule.impossible({"a": 1, "b": 1}), (50, 50), ((0, 100), (100, 0)))
    drawn = model.sample_codes(200, np.random.default_rng(0))
    assert len(drawn) == 200 and not model.schema.break_rules(drawn).any()


def test_a_table_without_pairs_says_what_its_rules_still_tie():
    """One column decides another, and a third says nothing of them."""
    codes = pds.Attribute.categorical("code", ["a1", "a2", "b1"])
    area = pds.Attribute.categorical("area", ["a", "b"])
    other = pds.Attribute.categorical("other", ["x", "y"])
    rule = pds.Rule.determines("code", "area", {"a1": "a", "a2": "a", "b1": "b"})
    frame = pd.DataFrame({"code": ["a1", "b1"] * 20, "area": ["a", "b"] * 20, "other": ["x"] * 40})
    schema = pds.Schema((codes, area, other), rules=(rule,))
    model = pds.baselines.Independent(1.0).fit(frame, schema).model_
    assert "everything is independent but for what its rules say" in model.ledger.pairs_kept(True)
    page = pds.baselines.Independent(1.0).fit(frame, schema)._repr_html_()
    assert "independent but for what its rules say" in page
    fake = model.sample(random_state=1)
    said = pds.evaluate.report(frame, fake, schema, ledger=model.ledger)
    assert "independent but for what its rules say" in str(said)


def test_what_rules_tie_is_no_reason_for_tables():
    """Two columns follow from a third, and nothing else hangs together: single columns are best."""
    rng = np.random.default_rng(6)
    code = rng.integers(0, 12, 4000)
    frame = pd.DataFrame(
        {"code": code, "area": code // 3, "half": code // 6, "x": rng.integers(0, 3, 4000)}
    )
    frame["y"] = rng.integers(0, 4, 4000)
    sizes = {"code": 12, "area": 4, "half": 2, "x": 3, "y": 4}
    schema = pds.Schema(
        tuple(pds.Attribute.categorical(name, list(range(v))) for name, v in sizes.items()),
        rules=(
            pds.Rule.determines("code", "area", {c: c // 3 for c in range(12)}),
            pds.Rule.determines("area", "half", {a: a // 2 for a in range(4)}),
        ),
    )
    for seed in range(8):
        fitted = pds.ConsistentBayes(1, random_state=seed).fit(frame, schema)
        kept = fitted.ledger_.pairs_kept(True)
        assert "0 of 10" in kept, kept
        named = [e for e in fitted.ledger_.entries if e.step.startswith("strongest tie")]
        assert not named, "no ε is paid for the name of what a rule says"


def test_a_rule_leaves_other_ties_to_be_found():
    """Beside the columns of a rule two others hang together: their table is bought."""
    rng = np.random.default_rng(6)
    code, x = rng.integers(0, 12, (2, 4000))
    frame = pd.DataFrame({"code": code, "area": code // 3, "x": x % 3})
    frame["y"] = np.where(rng.random(4000) < 0.9, x % 3, rng.integers(0, 3, 4000))
    sizes = {"code": 12, "area": 4, "x": 3, "y": 3}
    rule = pds.Rule.determines("code", "area", {c: c // 3 for c in range(12)})
    schema = pds.Schema(
        tuple(pds.Attribute.categorical(name, list(range(v))) for name, v in sizes.items()),
        rules=(rule,),
    )
    kept = [pds.ConsistentBayes(1, random_state=s).fit(frame, schema).ledger_ for s in range(6)]
    assert all("table(x, y)" in [e.step for e in ledger.entries] for ledger in kept)


def test_a_rule_that_says_little_hides_no_tie():
    """That Celsius is at most Fahrenheit rules out 11 of 256 cells: it tells next to nothing."""
    rng = np.random.default_rng(6)
    celsius, (x, y) = rng.integers(-10, 36, 3000), rng.integers(0, 3, (2, 3000))
    frame = pd.DataFrame({"c": celsius, "f": celsius * 9 / 5 + 32, "x": x, "y": y})
    attributes = (
        pds.Attribute.numeric("c", -10, 35, bins=16, integer=True),
        pds.Attribute.numeric("f", 14, 95, bins=16),
        *(pds.Attribute.categorical(name, [0, 1, 2]) for name in "xy"),
    )
    schema = pds.Schema(attributes, rules=(pds.Rule.at_most("c", "f"),))
    for seed in range(4):
        ledger = pds.ConsistentBayes(1, random_state=seed).fit(frame, schema).ledger_
        tables = [entry.step for entry in ledger.entries if entry.step.startswith("table(")]
        assert any("c, f" in table for table in tables), tables
