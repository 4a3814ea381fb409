"""T22, exact replay: every algorithm on every kind of table, what is planted, and its claims."""

import math
import re
from dataclasses import replace
from fractions import Fraction as Q
from functools import cache, reduce

import numpy as np
import pandas as pd
import pytest
from contract_cases import CASES, TABLES, make
from privacy_tools import as_measured, frames_of, weaken

import pdsynth as pds
from pdsynth import audit
from pdsynth.algorithms.consistent_run import Run
from pdsynth.algorithms.hpprivbayes import Groups
from pdsynth.audit.pairs import straddle_in_order
from pdsynth.audit.replays import Step
from pdsynth.audit.tape import Asked, Parted, Player, compare, first_difference, plain
from pdsynth.core import curator as curator_room
from pdsynth.core.curator import Curator
from pdsynth.core.errors import BudgetError, SchemaError
from pdsynth.core.ledger import Ledger
from pdsynth.core.measures import SCORES
from pdsynth.core.network import Candidates
from pdsynth.core.recipe import Recipe
from pdsynth.core.rules import COUNTING

CHAIN = pds.Network((("x0", ()), ("x1", ("x0",)), ("x2", ("x1",)), ("x3", ("x1",))))
POLICY = pds.Restriction("x1", ("x2",), forced=(("x1", "x0"),), forbidden=(("x3", "x0"),))
MIXES = {
    "order, risk, policy": pds.Synthesizer(
        structure=pds.parts.Ordered(1, by="entropy", restriction=POLICY),
        budget=pds.parts.RiskEntropy(),
    ),
    "sums, ranks, policy": pds.Synthesizer(
        structure=pds.parts.PairwiseSums(1, restriction=POLICY), budget=pds.parts.Geometric(1.5)
    ),
    "tree, policy": pds.Synthesizer(structure=pds.parts.SpanningTree(1, restriction=POLICY)),
    "greedy, values": pds.HPPrivBayes(
        k=1,
        restriction=POLICY,
        personal=pds.parts.SensitivityGroups(
            groups={"A": ["x0"], "B": ["x1", "x2", "x3"]},
            rare_values="same_noise",
            weights={"x1": [1, 0.5, 0.25]},
        ),
    ),
    "drawn by hand": pds.Synthesizer(structure=CHAIN),
}
SIZES = (2, 3, 2, 2)


def frames(before, after, sizes=SIZES):
    """Two tables of codes as frames, with their schema."""
    both, schema = frames_of((before, after), sizes)
    return (*both, schema)


def one_changes(sizes=SIZES, n=12, seed=0, columns=None):
    """A table, and the same with another last record, which differs in some columns (or all)."""
    before = np.random.default_rng(seed).integers(0, sizes, (n, len(sizes)))
    after = before.copy()
    for j in range(len(sizes)) if columns is None else columns:
        after[-1, j] = (after[-1, j] + 1) % sizes[j]
    return frames(before, after, sizes)


def neighbours(kind):
    """A contract table, and the same with one row that has become a copy of another."""
    frame, schema = TABLES[kind]()
    other = frame.copy()
    other.iloc[3] = frame.iloc[7]
    return frame, other, schema


@cache
def straddling():
    """One record decides which of two attributes goes better with a third: raw orders flip."""
    pair = straddle_in_order()
    return frames(pair.before, pair.after, pair.sizes)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", CASES)
def test_every_strict_algorithm_keeps_every_line(name, kind):
    frame, other, schema = neighbours(kind)
    found = audit.replay(make(name, schema, epsilon=2), frame, other, schema, walks=3)
    assert found.ok, found
    assert 0.1 < found.log_ratio <= float(found.claimed) * (1 + 1e-9) <= 2 * (1 + 1e-9)


@pytest.mark.parametrize("name", MIXES)
def test_mixes_and_restrictions(name):
    for seed in range(3):
        found = audit.replay(MIXES[name], *one_changes(seed=seed), walks=4, seed=seed)
        assert found.ok, found
        assert found.log_ratio > 0.3


def test_a_claim_is_never_written_smaller_than_it_is():
    """ε = 1.0004 stood as 1."""
    frame, other, schema = neighbours("binary")
    said = audit.replay(pds.baselines.Independent(1.0004), frame, other, schema, walks=1)
    assert "Lost 0.5002 of 0.5002 that" in str(said) and "(ε = 1.0004 in all)" in str(said)
    last = said.steps[-1]
    written = re.findall(r"<td>([\d.]+)</td><td>[\d.]+</td>", said._repr_html_())[-1]
    assert f" {written} " in str(said) and Q(written) >= last.claimed


def test_wider_units():
    """Two records of one person; a record that leaves, where n is protected, and where not."""
    frame, schema = TABLES["binary"]()
    both = frame.copy()
    both.iloc[:2] = frame.iloc[[20, 21]].to_numpy()
    both.iloc[0] = np.where(frame.iloc[0] == "yes", "no", "yes")
    two = pds.baselines.Independent(records_per_person=2)
    assert audit.replay(two, frame, both, schema, walks=1).ok
    hidden = pds.baselines.Independent(relation="add_remove")
    found = audit.replay(hidden, frame, frame.iloc[:-1], schema, walks=3)
    assert found.ok and found.log_ratio == pytest.approx(1), found
    for synthesizer in (hidden, pds.ConsistentBayes(relation="add_remove")):
        found = audit.replay(synthesizer, frame.head(0), frame.head(1), schema, walks=2)
        assert found.ok and found.change == "one record more", found
    shown = audit.replay(pds.baselines.Independent(), frame, frame.iloc[:-1], schema, walks=1)
    assert not shown.ok, "twin: n is published"


class TestClaims:
    @pytest.mark.parametrize("name", MIXES)
    @pytest.mark.parametrize("j", range(4))
    def test_an_attribute_s_claim_is_the_ledger_s(self, name, j):
        """A record that changes in one attribute: lines without it lose nothing, the others what
        ``attribute_epsilon`` adds up."""
        frame, other, schema = one_changes(columns=[j])
        found = audit.replay(MIXES[name], frame, other, schema, walks=1)
        assert found.ok and found.change == f"one record changes in x{j}"
        free = found.table[found.table["claimed"] == 0]
        assert (free["log_ratio"] == 0).all() and (len(free) > 1 or j == 1)

    def test_the_claim_of_a_network_drawn_by_hand(self):
        frame, other, schema = one_changes(columns=[2])
        found = audit.replay(MIXES["drawn by hand"], frame, other, schema, walks=1)
        assert found.claimed == Q(1, 4) == found.log_ratio

    def test_a_value_s_claim_is_exact(self):
        """Public weights 1, 1/2, 1/4: a move from u to v loses 1/b_u + 1/b_v, exactly."""
        weighted = pds.Synthesizer(
            structure=pds.Network(tuple((f"x{j}", ()) for j in range(4))),
            budget=Groups(
                "x0",
                r=1.0,
                personal=pds.parts.SensitivityGroups(
                    groups={"A": ["x0"], "B": ["x1", "x2", "x3"]},
                    rare_values="same_noise",
                    weights={"x1": [1, 0.5, 0.25]},
                ),
            ),
        )
        before = np.zeros((9, 4), dtype=int)
        for u, v in ((0, 1), (0, 2), (1, 2)):
            pair = [before.copy(), before.copy()]
            pair[0][-1, 1], pair[1][-1, 1] = u, v
            frame, other, schema = frames(*pair)
            found = audit.replay(weighted, frame, other, schema, walks=1)
            ledger = weighted.clone().fit(frame, schema=schema).ledger_
            assert found.claimed == ledger.value_epsilon("x1").loc[u, v]
            assert found.log_ratio == pytest.approx(float(found.claimed)) and found.ok

    def test_twin_a_line_that_forgets_an_attribute(self, monkeypatch):
        """Then ``attribute_epsilon`` promises less than the table loses."""
        honest = Ledger.write

        def forgetful(ledger, kind, step, **fields):
            if step.startswith("table("):
                fields["attributes"] = fields["attributes"][:1]
            return honest(ledger, kind, step, **fields)

        monkeypatch.setattr(Ledger, "write", forgetful)
        frame, other, schema = one_changes(columns=[0])
        found = audit.replay(MIXES["drawn by hand"], frame, other, schema, walks=1)
        assert [s.step for s in found.violations] == ["table(x1 | x0)"]

    def test_twin_a_value_with_too_little_noise(self, monkeypatch):
        honest = curator_room.laplace_mechanism

        def slipped(counts, scale, noise):
            if isinstance(scale, tuple):
                scale = (*scale[:-1], scale[-1] / 2)
            return honest(counts, scale, noise)

        monkeypatch.setattr(curator_room, "laplace_mechanism", slipped)
        before = np.zeros((9, 4), dtype=int)
        after = before.copy()
        after[-1, 1] = 2
        found = audit.replay(MIXES["greedy, values"], *frames(before, after), walks=1)
        assert any(s.step.startswith("table(x1") for s in found.violations)

    def test_twin_a_loss_that_is_not_known_before_the_run(self, monkeypatch):
        """The ledger says "before the run", and the network decides all the same."""
        honest = Curator.select

        def boasting(curator, *args, **more):
            curator.ledger.guaranteed_ex_ante = True
            return honest(curator, *args, **more)

        monkeypatch.setattr(Curator, "select", boasting)
        monkeypatch.setattr(
            Ledger, "__setattr__", lambda self, name, value: _keep_true(self, name, value)
        )
        found = audit.replay(pds.PrivBayes(k=1), *one_changes(), walks=6)
        assert any(s.mechanism == "known before" for s in found.violations), found


def _keep_true(ledger, name, value):
    object.__setattr__(ledger, name, True if name == "guaranteed_ex_ante" else value)


# --- what is planted --------------------------------------------------------------------------

MEASURED = ("table(", "column(", "conditional(", "view")
COLUMN = re.compile(r"(table|column)\(\w+\)(, time \d+)?")  # of one column
OWN = ["HMPrivBayes, own clusters", "PrivSCBN, own clusters"]
STRICT = (*CASES, *OWN)
CONSISTENT = ["ConsistentBayes rounds", "ConsistentBayes forest"]
USES = {
    "noise": list(STRICT),
    "choices": [
        "PrivBayes",
        "HMPrivBayes",
        "HPPrivBayes",
        "PrivABN",
        "PrivSCBN",
        "Synthesizer",
        "PPBA",
        "CSAPrivBayes",
        "WeightedPrivBayes",
        *CONSISTENT,
    ],
    "sketches": [
        "HPPrivBayes",
        "GeneticBayes",
        "PPBA",
        "CSAPrivBayes",
        "ELPrivBayes",
        "SAPrivBayes",
        "JTree",
        "ConsistentBayes",
        *OWN,
    ],
    "columns": [
        "HMPrivBayes",
        "HPPrivBayes",
        "PrivSCBN",
        "GeneticBayes",
        "PPBA",
        "CSAPrivBayes",
        "WeightedPrivBayes",
        *CONSISTENT,
        *OWN,
    ],
    "residuals": ["HPPrivBayes", "GeneticBayes", "PPBA", "CSAPrivBayes", *CONSISTENT, *OWN],
}


def strict(name, schema):
    """An algorithm whose parts all have something to do, also with one cluster by policy."""
    base_name, _, own = name.partition(", ")
    if own:
        return as_measured(make(base_name, schema, epsilon=900, k=1, clusters=None))
    one = {"clusters": [list(schema.names)]} if "clusters" in CASES[name].own(schema) else {}
    epsilon = Q(3, 10) if name == "ConsistentBayes" else 2  # here its look decides by a little
    return as_measured(make(name, schema, k=1, epsilon=epsilon, **one))


@cache
def forking():
    """x0 and x1 follow x2 but for 99 and 100 others; then but for 100 and 99. No triples here."""
    before = np.tile(np.arange(1001)[:, None] % 2, 3)
    before[:99, 0] ^= 1
    before[100:200, 1] ^= 1
    after = before.copy()
    after[150, :2] ^= 1
    return frames(before, after, (5,) * 3)


@cache
def lone_ones():
    """x0 and x1 gain a joint lone 1, four other columns lose theirs."""
    before = np.zeros((60, 6), dtype=int)
    after = before.copy()
    before[-1, 2:], after[-1, :2] = 1, 1
    return frames(before, after, (2,) * 6)


@cache
def alone_in_all():
    """All records are the same but one, which differs in every attribute and then joins them."""
    before = np.ones((100, 4), dtype=int)
    after = before.copy()
    before[0] = 0
    return frames(before, after, (2,) * 4)


PAIRS = (straddling, forking, lone_ones, alone_in_all)


def one_joins():
    """A record that breaks what all others have in common joins them."""
    before = np.tile([0, 1], (60, 3))
    before[::2] = 1 - before[::2]
    return frames(before, [*before.tolist(), [0, 0, 0, 0, 1, 1]], (2,) * 6)


def less_noise(patch):
    weaken(patch, Q(5, 4))


def no_factor_two(patch):
    honest = curator_room.exponential_mechanism
    patch.setattr(
        curator_room,
        "exponential_mechanism",
        lambda scores, sensitivity, epsilon, noise, **more: honest(
            scores, sensitivity, 2 * epsilon, noise, **more
        ),
    )


def raw_filter(patch):
    """Only the better half of the candidates by raw scores takes part."""
    honest, honest_table = Curator.select, Curator.choose_table

    def filtered(curator, candidates, score, epsilon, **more):
        records, kept, at = curator._records, [], 0
        offsets = more.get("offsets")
        chosen = []
        for children, parents in candidates.by_size:
            raw = records.scores(SCORES[score], children, parents)
            best = np.sort(np.argsort(-raw, kind="stable")[: max(1, len(raw) // 2)])
            kept.append((children[best], parents[best]))
            chosen.append(at + best)
            at += len(children)
        if offsets is not None:
            more["offsets"] = offsets[np.concatenate(chosen)]
        return honest(
            curator, Candidates(tuple(kept), candidates.depends_on), score, epsilon, **more
        )

    def filtered_sets(curator, sets, expected, penalties, epsilon, **more):
        counts = [curator._records.table(s) for s in sets]
        raw = [np.abs(c - e).sum() for c, e in zip(counts, expected, strict=True)]
        best = np.sort(np.argsort(-np.array(raw), kind="stable")[: max(1, len(sets) // 2)])
        at = honest_table(
            curator,
            [sets[i] for i in best],
            [expected[i] for i in best],
            penalties[best],
            epsilon,
            **more,
        )
        return None if at is None else int(best[at])

    patch.setattr(Curator, "select", filtered)
    patch.setattr(Curator, "choose_table", filtered_sets)


def raw_choice(patch):
    """The mechanism is asked and paid for, and the largest raw score wins."""
    honest = curator_room.exponential_mechanism

    def best(scores, *args, **more):
        honest(scores, *args, **more)
        return int(np.argmax(scores.value))

    patch.setattr(curator_room, "exponential_mechanism", best)


def raw_order(patch):
    """What a sketch orders by is drawn and paid for, and the raw values decide."""
    honest = Curator._add_noise

    def raw(curator, integers, scale, step, **law):
        noisy = honest(curator, integers, scale, step, **law)
        return noisy if step.startswith(MEASURED) else integers

    patch.setattr(Curator, "_add_noise", raw)


def sketch_without_noise(patch):
    """Behind a line that is charged, nothing is drawn."""
    without_noise(patch, lambda step: not step.startswith(MEASURED))


def columns_without_noise(patch):
    """The same, where choices go by one-way tables."""
    without_noise(patch, COLUMN.fullmatch)


def without_noise(patch, raw):
    honest = Curator._add_noise

    def add_noise(curator, integers, scale, step, **law):
        return integers if raw(step) else honest(curator, integers, scale, step, **law)

    patch.setattr(Curator, "_add_noise", add_noise)


def raw_columns(patch):
    """A residual against raw one-way tables, which go with the record."""

    def expected_in(run, fitted, sets):
        records, n = run.curator._records, run.facts.n
        alone = [records.table((j,)) / n for j in range(len(run.policy.sizes))]
        return {
            s: np.rint(n * reduce(np.multiply.outer, [alone[j] for j in s])).astype(np.int64)
            for s in sets
        }

    def independent(curator, i, j):
        p, q = (curator._records.table((c,)) for c in (i, j))
        return np.rint(np.outer(p, q) / curator.n).astype(np.int64)

    patch.setattr(Run, "expected_in", expected_in)
    patch.setattr(Curator, "_independent", independent)


def raw_attribute(patch):
    honest = Recipe._run

    def shown(synthesizer, curator, *rest):
        run = honest(synthesizer, curator, *rest)
        run.counts_ = curator._records.table((0,))
        return run

    patch.setattr(Recipe, "_run", shown)


PLANTS = {
    "scale ÷ 1.25": (less_noise, USES["noise"]),
    "factor 2 missing": (no_factor_two, USES["choices"]),
    "raw filter": (raw_filter, USES["choices"]),
    "raw choice": (raw_choice, USES["choices"]),
    "raw order": (raw_order, USES["sketches"]),
    "sketch without noise": (sketch_without_noise, USES["sketches"]),
    "columns without noise": (columns_without_noise, USES["columns"]),
    "residual against raw columns": (raw_columns, USES["residuals"]),
    "raw attribute": (raw_attribute, USES["noise"]),
}
TWINS = [(plant, name) for plant, (_, names) in PLANTS.items() for name in names]


def test_every_algorithm_has_the_defects_that_it_could_have():
    """What each asks the door, by its ledger: noise, choices, sketches, columns, residuals."""
    frame, _, schema = straddling()
    used = {kind: [] for kind in USES}
    for name in STRICT:
        seeded = strict(name, schema).set_params(random_state=7)
        lines = seeded.fit(frame, schema).ledger_.entries
        steps = [e.step for e in lines if e.mechanism in COUNTING]
        kinds = {
            "noise": steps,
            "choices": [
                e
                for e in lines
                if e.mechanism == "exponential" and not e.released.startswith("one of 1 ")
            ],
            "sketches": [s for s in steps if not s.startswith(MEASURED)],
            "columns": [s for s in steps if s.startswith("column(")] or name in CONSISTENT,
            "residuals": [e for e in lines if "residual" in (e.lemma or "")],
        }
        if name == "ConsistentBayes":  # after its look it is "ConsistentBayes rounds"
            kinds |= {"choices": [], "residuals": []}
        for kind, found in kinds.items():
            used[kind] += [name] if found else []
    for kind, names in USES.items():
        assert used[kind] == names
    without = {*USES["noise"]} - {*USES["choices"], *USES["sketches"]}
    assert without == {"Independent", "PriView"}, "nothing is learnt there"


@cache
def honest(name, table):
    found = audit.replay(strict(name, table()[-1]), *table(), walks=4)
    assert found.ok, found


@pytest.mark.parametrize(("plant", "name"), TWINS)
def test_twin_a_planted_defect_is_caught(plant, name, monkeypatch):
    """On one of the pairs of tables, on each of which the honest algorithm keeps every line."""
    for table in PAIRS:
        honest(name, table)
    PLANTS[plant][0](monkeypatch)
    tries = ((table(), walks) for walks in (1, 4) for table in PAIRS)  # most show in one walk
    broken = (audit.replay(strict(name, pair[-1]), *pair, walks=walks) for pair, walks in tries)
    assert any(not found.ok for found in broken)


@pytest.mark.parametrize("plant", ["columns without noise", "residual against raw columns"])
@pytest.mark.parametrize("rounds", [0, 2])
def test_twin_the_same_where_a_record_is_added(plant, rounds, monkeypatch):
    frame, other, schema = one_joins()
    synthesizer = pds.ConsistentBayes(2, rounds=rounds, relation="add_remove")
    assert audit.replay(synthesizer, frame, other, schema, walks=4).ok
    PLANTS[plant][0](monkeypatch)
    assert not audit.replay(synthesizer, frame, other, schema, walks=4).ok


# --- the door and the words -------------------------------------------------------------------


def test_other_types_of_the_same_values_are_the_same_records():
    frame, schema = TABLES["mixed"]()
    other = frame.assign(city=frame["city"].astype("category"))
    found = audit.replay(make("Independent", schema), frame, frame.iloc[::-1], schema, walks=1)
    assert found.ok and found.change == "the same records" and found.log_ratio == 0
    assert audit.replay(make("Independent", schema), frame, other, schema, walks=1).log_ratio in (
        0,
        math.inf,  # a released type that follows the frame's is seen
    )


def test_what_is_no_neighbour_is_refused():
    frame, schema = TABLES["mixed"]()
    other = pd.concat([frame.iloc[20:23], frame.iloc[3:]], ignore_index=True)
    with pytest.raises(SchemaError, match=r"differ in [23] records, neighbours in at most 1"):
        audit.replay(make("Independent", schema), frame, other, schema)
    with pytest.raises(BudgetError, match="no mechanism to replay"):
        audit.replay(make("Independent", schema, guarantee="none"), frame, frame, schema)
    with pytest.raises(BudgetError, match="epsilon"):  # what both fits raise
        audit.replay(make("Independent", schema, epsilon=-1), frame, frame, schema)


def test_the_synthesizer_stays_as_it_is_and_the_walks_repeat():
    frame, other, schema = neighbours("binary")
    synthesizer = make("PrivBayes", schema)
    first, again = (audit.replay(synthesizer, frame, other, schema, walks=3) for _ in range(2))
    assert "model_" not in vars(synthesizer) and first == again


def test_a_published_reading_is_as_its_ledger_says():
    frame, other, schema = neighbours("binary")
    found = audit.replay(make("HPPrivBayes", schema, guarantee="published"), frame, other, schema)
    assert found.ok and found.epsilon == math.inf and "NOT PRIVATE" in str(found)


def test_what_is_printed():
    frame, other, schema = neighbours("binary")
    found = audit.replay(make("PrivBayes", schema), frame, other, schema, walks=2)
    assert list(found.table.columns) == [
        "step",
        "mechanism",
        "claimed",
        "log_ratio",
        "ok",
        "why",
    ]
    assert isinstance(found.table, pd.DataFrame) and found.table["ok"].all()
    assert "HOLDS" in str(found) and "PrivBayes" in repr(found)
    html = found._repr_html_()
    assert "<table>" in html and html.count("<tr") == len(found.steps) + 1
    broken = replace(found, steps=(*found.steps, Step("a <b>", "x", Q(0), math.inf, "raw")))
    assert not broken.ok and "BROKEN" in str(broken) and "a &lt;b&gt;" in broken._repr_html_()
    assert 'style="color:#d55e00"' in broken._repr_html_()


# --- the tape ---------------------------------------------------------------------------------


def asked(kind="table", data=(3, 0), law=Q(2), among=None, answer=None):
    return Asked(("t",), kind, np.array(data), np.asarray(law, dtype=object), among, answer)


def test_losses_by_hand():
    moved = compare(asked(), asked(data=(2, 1)))
    assert moved.forward == moved.backward == Q(1, 2) + Q(1, 2)
    assert compare(asked(), asked()).forward == 0
    rows = np.array([[Q(2)], [Q(5)]], dtype=object)
    two = compare(asked(data=[[1, 0], [0, 0]], law=rows), asked(data=[[0, 0], [0, 1]], law=rows))
    assert two.forward == Q(1, 2) + Q(1, 5)
    assert compare(asked(), asked(law=Q(3))).forward == math.inf
    law = (1, 1, False)
    first = Asked(("t",), "choice", np.array([0, 0]), law, ["a", "b"], 1)
    second = Asked(("t",), "choice", np.array([0, 1]), law, ["a", "b"])
    loss = compare(first, second)  # 1/2, 1/2 against e/(1 + e), 1/(1 + e)
    assert loss.forward == pytest.approx(math.log((1 + math.e) / 2))
    assert loss.backward == pytest.approx(math.log(2 * math.e / (1 + math.e)))
    assert compare(first, replace(second, among=["a", "c"])).forward == math.inf


def test_a_chosen_candidate_is_found_among_the_other_table_s():
    law = (1, 1, False)
    first = Asked(("t",), "choice", np.array([0, 0]), law, ["a", "b"], 1)
    assert Player([first])(Asked(("t",), "choice", np.array([0, 0]), law, ["b", "c"])) == 0
    with pytest.raises(Parted, match="candidate for one table only"):
        Player([first])(Asked(("t",), "choice", np.array([0, 0]), law, ["a", "c"]))
    with pytest.raises(Parted, match="for one table"):
        Player([first])(Asked(("u",), "choice", np.array([0, 0]), law, ["a", "b"]))
    with pytest.raises(Parted, match="one table only"):
        Player([])(first)


def test_values_are_compared_to_the_last_digit():
    long = np.zeros(5000)
    other = long.copy()
    other[3000] = 1e-17
    assert plain({"a": long}) != plain({"a": other})
    assert first_difference(plain({"a": [1, {"b": 2}]}), plain({"a": [1, {"b": 3}]})) == [
        "a",
        "1",
        "b",
    ]
    assert plain(pd.Series([1.0])) != plain(pd.Series([1]))
