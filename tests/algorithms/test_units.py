"""Who is protected: all records of a person (``records_per_person``), and whether somebody is in
the table at all (``relation="add_remove"``)."""

import itertools
import json
import math
from copy import copy
from dataclasses import replace
from fractions import Fraction as Q
from functools import partial

import numpy as np
import pandas as pd
import pytest
from algorithms.test_composition import BINARY, Laws
from algorithms.test_interference import ALL
from algorithms.test_replay import SIZES, neighbours
from contract_cases import ALGORITHMS, binary, make
from late import late
from privacy_tools import (
    RecordedNoise,
    as_measured,
    cells_of,
    fits_of,
    frames_of,
    interference,
    law,
    log_ratio,
    multisets,
    neighbourhoods,
    records_of,
)

import pdsynth as pds
from pdsynth import audit, holders
from pdsynth.algorithms.privbayes import greedy
from pdsynth.audit.replays import Change, replay_fits
from pdsynth.baselines.relatives import Independent
from pdsynth.core.curator import Curator
from pdsynth.core.errors import BudgetError, PrivacyError
from pdsynth.core.ledger import Ledger
from pdsynth.core.network import Candidates
from pdsynth.core.noise import ExactNoise
from pdsynth.core.structure import MaxParents
from pdsynth.core.unit import TableBudget

algorithms = pytest.mark.parametrize("name", ALGORITHMS)
FEW = ("Independent", "JTree", "PriView", "PrivBayes k=2", "CSA", "PPBA", "HP k=2", "GA",
       "HM public clusters", "PrivABN k=1", "forest", "rounds")  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore")


def far(before, m, sizes):
    """The table with its last m records replaced by ones that differ everywhere."""
    after = before.copy()
    after[-m:] = (after[-m:] + 1) % np.array(sizes)
    return after


def loss(synthesizer, before, after, sizes, walks=1, seed=0):
    """The exact loss between two tables of codes, however many records they differ in."""
    frames, schema = frames_of((before, after), sizes)
    change = Change(schema.names, None, len(before) != len(after))
    fits = fits_of(synthesizer, frames, schema)
    return replay_fits(fits, change, name="", walks=walks, seed=seed).log_ratio


def person_losses(synthesizer, sizes, m, count=3):
    """Losses of replays where m records of random, and of constant, tables are replaced."""
    for seed, (before, _) in enumerate(neighbours(sizes, count)):
        yield loss(synthesizer, before, far(before, m, sizes), sizes, walks=2, seed=seed)


class TestRecordsPerPerson:
    @algorithms
    def test_m_records_with_m_epsilon_are_one_with_epsilon_and_the_ledger_says_m_times(self, name):
        """The same seed, the same noise: every scale is as large as for ε/m, every sensitivity and
        cost is m times a record's."""
        frame, schema = binary()
        one = make(name, schema, epsilon="7/2", random_state=5).fit(frame, schema)
        three = make(name, schema, epsilon="21/2", random_state=5, records_per_person=3)
        three.fit(frame, schema)
        assert three.network_ == one.network_
        assert all(
            np.array_equal(a, b)
            for a, b in zip(three.model_.tables, one.model_.tables, strict=True)
        )
        assert three.ledger_.epsilon == Q(21, 2)
        assert [violation[:3] for violation in three.ledger_.check()] == ["L10"]
        for mine, theirs in zip(three.ledger_.entries, one.ledger_.entries, strict=True):
            grown = {
                "epsilon": 3 * theirs.epsilon,
                "claimed": 3 * theirs.claimed,
                "sensitivity": theirs.sensitivity and 3 * theirs.sensitivity,
            }
            assert mine == replace(theirs, **grown)

    @pytest.mark.parametrize("name", late(ALL, lambda n: n not in FEW))
    def test_replacing_two_records_of_a_person_never_loses_more_than_epsilon(self, name):
        synthesizer, sizes = ALL[name]
        two = as_measured(synthesizer).set_params(records_per_person=2)
        found = list(person_losses(two, sizes, 2))
        assert max(found) <= float(Q(str(two.epsilon))) * (1 + 1e-9)
        assert max(found) > 0

    def test_the_histograms_use_the_bound_up(self):
        two = Independent(records_per_person=2)
        assert max(person_losses(two, SIZES, 2)) == pytest.approx(1)
        assert max(person_losses(two, SIZES, 3)) == pytest.approx(1.5)

    def test_twin_a_fit_for_one_record_loses_twice_epsilon(self):
        assert max(person_losses(Independent(), SIZES, 2)) == pytest.approx(2)

    def test_twin_a_recipe_that_forgets_it_is_stopped_by_the_ledger(self):
        class Forgetful(Independent):
            """Spends what its parameter says, as if a person had one record."""

            def _split(self, facts, parts):
                return {"tables": Q(self.epsilon)}

        frame, schema = binary()
        with pytest.raises(BudgetError, match="overdraft"):
            Forgetful(1, records_per_person=2).fit(frame, schema)

    def test_a_person_with_two_records_against_all_tables(self):
        """T2: the exact law of greedy, for binary tables of 3 records and all that two replacements
        lead to."""

        def learn(curator, noise):
            return greedy(curator, MaxParents(1), Q(1, 2), "R")

        laws = Laws(learn, BINARY, records_per_person=2)
        near = {}
        for around in neighbourhoods(3, 8):
            for table in around:
                near.setdefault(table, set()).update(around)
        worst = 0.0
        for table in list(multisets(3, 8))[::5]:
            reached = set().union(*(near[step] for step in near[table]))
            worst = max(worst, *(log_ratio(laws(table), laws(other)) for other in reached))
        assert 0.15 < worst <= 1 + 1e-12

    @staticmethod
    def two_jump(epsilon, m, score):
        """The exact loss of a selection where two records move one pair's score up and forty
        others' down."""
        pairs = Candidates(((np.array([0] + [2] * 40), np.array([[1]] + [[3]] * 40)),))
        shared = [(*a, *a) for a in [(1, 2)] * 100 + [(2, 1)] * 100]
        tables = [[*shared, move, move] for move in ((2, 2, 0, 0), (0, 0, 2, 2))]

        def run(rows):
            records, ask = records_of(rows, (3,) * 4), {"step": "s", "source": ""}
            return law(
                lambda noise: Curator(records, Ledger(Q(1), records_per_person=m), noise).select(
                    pairs, score, epsilon, **ask
                )
            )

        return log_ratio(*map(run, tables))

    @pytest.mark.parametrize(("score", "used"), [("I", 0.85), ("R", 0.64)])
    def test_a_selection_for_two_records_keeps_its_promise_and_uses_it(self, score, used):
        assert used < self.two_jump(Q(1, 2), 2, score) <= 1

    @pytest.mark.parametrize("score", ["I", "R"])
    def test_twin_a_selection_for_one_record_loses_more(self, score):
        assert self.two_jump(Q(1), 1, score) > 1.25

    def test_declared_sensitivities_against_all_tables(self):
        """T1: of all tables of 4 records over 2 × 2 cells, the counts move by 4 and K by 2 Δ at
        most when two are replaced; the ledger declares exactly that."""
        ledger = Ledger(Q(9), records_per_person=2)
        rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
        door = Curator(records_of(rows, (2, 2)), ledger, RecordedNoise())
        door.table((0, 1), TableBudget(Q(1, 2)), step="t")
        pair = Candidates(((np.array([1]), np.array([[0]])),))
        door.select(pair, "R", Q(1), step="s", source="")
        counts, choice = ledger.entries
        assert (counts.sensitivity, counts.scale, counts.epsilon) == (4, 4, 1)
        assert (choice.sensitivity, choice.epsilon) == (2 * 12, 2)
        tables = {t: np.bincount(t, minlength=4) for t in multisets(4, 4)}
        moved = {
            (a, b): (np.abs(tables[a] - tables[b]).sum(), abs(_k(tables[a]) - _k(tables[b])))
            for a, b in itertools.product(tables, repeat=2)
            if np.abs(tables[a] - tables[b]).sum() <= 4
        }
        assert max(count for count, _ in moved.values()) == counts.sensitivity
        assert max(k for _, k in moved.values()) <= choice.sensitivity

    def test_personal_guarantees_are_those_of_a_person(self):
        frame, schema = binary()
        groups = pds.parts.SensitivityGroups(
            groups={"A": ["b0"], "B": ["b1", "b2", "b3"]}, weights={"b1": [1, 2]}
        )
        ask = {"k": 0, "personal": groups, "random_state": 1}
        one = pds.HPPrivBayes(2, **ask).fit(frame, schema).ledger_
        two = pds.HPPrivBayes(4, records_per_person=2, **ask).fit(frame, schema).ledger_
        assert (two.attribute_epsilon() == 2 * one.attribute_epsilon()).all()
        assert (two.value_epsilon("b1") == 2 * one.value_epsilon("b1")).all(axis=None)
        assert two.check() == one.check()

    def test_the_verdict_and_the_file_name_the_unit(self, tmp_path):
        frame, schema = binary()
        fitted = pds.PrivBayes(records_per_person=4).fit(frame, schema)
        assert "(replace one person's 4 records): ε = 1 of 1" in fitted.ledger_.verdict()
        read = json.loads(json.dumps(fitted.model_.to_dict()))
        assert read["ledger"]["records_per_person"] == 4
        ledger = Ledger.from_dict(read["ledger"])
        assert (ledger.records_per_person, ledger.check()) == (4, [])
        assert ledger.verdict() == fitted.ledger_.verdict()

    def test_twin_a_ledger_that_tells_fewer_records_is_found(self):
        """The costs are those of two records' scales; told one, or three, they don't add up."""
        frame, schema = binary()
        plain = Independent(records_per_person=2).fit(frame, schema).ledger_.to_dict()
        for told in (1, 3):
            codes = {v[:2] for v in Ledger.from_dict(plain | {"records_per_person": told}).check()}
            assert "L3" in codes or told == 1
        ledger = Ledger.from_dict(plain | {"records_per_person": 3})
        assert any("sensitivity 4, but lemma:zero_sum gives 6" in v for v in ledger.check())

    @pytest.mark.slow
    def test_an_audit_of_a_person_with_two_records(self):
        """T5: whole fits; twin: the same pair where a person is told to have one record."""
        rows = np.zeros((6, 2), dtype=np.uint8)
        tables = records_of(rows, (2, 2)), records_of(far(rows, 2, (2, 2)), (2, 2))

        def cells(synth):
            seeds = itertools.count()

            def release(table):
                model = synth.clone().fit(table, noise=ExactNoise(next(seeds))).model_
                return [int(t.ravel()[0] > 5) for t in model.tables]

            return release

        two = Independent(3, records_per_person=2)
        result = audit.black_box(cells(two), tables, sum, 3, runs=400, theory=3)
        assert 0.8 < result.bound <= 3
        result = audit.black_box(cells(Independent(9)), tables, sum, 3, runs=400)
        assert result.verdict == "violated"

    @pytest.mark.parametrize("bad", [0, -1, 1.0, "two", True, None])
    def test_a_bound_that_is_none_is_refused(self, bad):
        frame, schema = binary()
        with pytest.raises(BudgetError, match="records_per_person must be a whole number"):
            pds.PrivBayes(records_per_person=bad).fit(frame, schema)

    def test_the_papers_count_one_record_a_person(self):
        frame, schema = binary()
        with pytest.raises(BudgetError, match="one record a person.*= 2 is for guarantee='strict'"):
            pds.PrivBayes(guarantee="published", records_per_person=2).fit(frame, schema)

    def test_choices_from_public_facts_know_of_the_larger_noise(self):
        """k="auto" and the warning go by what a record may spend."""
        frame, schema = binary(d=6, n=3000)
        assert pds.PrivBayes(1, random_state=1).fit(frame, schema).network_.degree > 0
        many = pds.PrivBayes(1, random_state=1, records_per_person=60).fit(frame, schema)
        assert many.network_.degree == 0
        with pytest.warns(UserWarning, match="for one of a person's 60 records"):
            pds.PrivBayes(1, k=3, records_per_person=60).fit(frame, schema)


def _k(counts):
    """K of a 2 × 2 table, from its definition."""
    t = counts.reshape(2, 2)
    return int(np.abs(t.sum() * t - np.outer(t.sum(axis=1), t.sum(axis=0))).sum())


def joins(sizes, most):
    """All tables of 0 to ``most`` records, each with one record more."""
    cells = cells_of(sizes)
    for n in range(most + 1):
        for table in itertools.combinations_with_replacement(cells, n):
            for extra in cells:
                yield list(table), [*table, extra]


ADDED = Independent(relation="add_remove")
WEIGHTED = pds.parts.SensitivityGroups(
    groups={"A": ["x0"], "B": ["x1", "x2", "x3"]}, weights={"x1": [1, 0.5, 0.5]}
)
OFFERS = {
    "Independent": ADDED,
    "rounds": pds.ConsistentBayes(20, rounds=4, relation="add_remove"),
    "rounds that stop": pds.ConsistentBayes(0.3, relation="add_remove", sensitive="x3"),
    "forest": pds.ConsistentBayes(3, rounds=0, relation="add_remove"),
    "weighted values": pds.ConsistentBayes(3, rounds=0, relation="add_remove", personal=WEIGHTED),
}
SECRET = {"relation": "add_remove"}
COLUMNS = tuple(pds.Attribute.categorical(f"x{j}", range(m)) for j, m in enumerate((2, 3, 9, 5)))
INCOME = pds.Attribute.numeric("income", 0, 1000, bins="private", number=8)
PLAIN, FEW_CELLS = pds.Schema(COLUMNS), pds.Schema(COLUMNS[:2])
PRIVATE = pds.Schema((*COLUMNS[:2], INCOME))
RULED = pds.Schema(COLUMNS, rules=[pds.Rule.impossible({"x0": 1, "x1": 2}, on_violation="keep")])
GROUPED = pds.Schema(COLUMNS, groups={"x0": "A", "x1": "B", "x2": "B", "x3": "B"})
ROADS = {  # of one promise, that n is secret, as fits come to it
    "one table": (pds.ConsistentBayes(2, **SECRET), FEW_CELLS),
    "one table, δ": (pds.ConsistentBayes(2, delta=1e-9, **SECRET), FEW_CELLS),
    "rounds, δ": (pds.ConsistentBayes(20, delta=1e-9, rounds=3, **SECRET), PLAIN),
    "forest, δ": (pds.ConsistentBayes(20, delta=1e-9, rounds=0, **SECRET), PLAIN),
    "persons of three records": (pds.ConsistentBayes(2, records_per_person=3, **SECRET), PLAIN),
    "target": (pds.ConsistentBayes(5, target="x1", **SECRET), PLAIN),
    "rules": (pds.ConsistentBayes(5, **SECRET), RULED),
    "groups": (pds.ConsistentBayes(5, **SECRET), GROUPED),
    "private bins": (pds.ConsistentBayes(50, **SECRET), PRIVATE),
    "private bins alone": (Independent(50, **SECRET), PRIVATE),
}


def with_and_without(schema, m):
    """A table, and the same without its last m records."""
    frame = people(schema, 40)
    return frame, frame.head(40 - m)


def people(schema, n, seed=4):
    """A made table of n records."""
    rng = np.random.default_rng(seed)
    draws = {a.name: rng.integers(0, 1000 if a.private else a.size, n) for a in schema.attributes}
    return pd.DataFrame(draws)


def shown_besides(name, fit=None):
    """What fits of tables of 40, 0, 1 and 300 records show besides answers of mechanisms."""
    synthesizer, schema = ROADS[name]
    if isinstance(synthesizer, pds.ConsistentBayes):
        synthesizer = as_measured(synthesizer)
    frames = [people(schema, n) for n in (40, 0, 1, 300)]
    fits = fits_of(synthesizer, frames, schema)
    if fit is not None:
        fits = tuple(partial(fit, synthesizer, schema, frame) for frame in frames)
    return {interference((fits[0], other), k) for other in fits[1:] for k in (1, 2)}


class TestAddRemove:
    def test_who_offers_it(self):
        frame, schema = binary()
        offers = {n for n in ALGORITHMS if make(n, schema).counts_only(schema, len(frame))}
        assert {type(make(n, schema)).__name__ for n in offers} == {
            "Independent",
            "ConsistentBayes",
        }
        for name in set(ALGORITHMS) - offers:
            words = r"relation must be one of .'replace_one',. here.*Independent offer it"
            with pytest.raises(BudgetError, match=words):
                make(name, schema, relation="add_remove").fit(frame, schema)
        with pytest.raises(BudgetError, match="'add_remove'.*got 'swap'"):
            Independent(relation="swap").fit(frame, schema)

    def test_the_ledger_by_hand(self):
        """ε = 2 and 4 attributes: the count has 1/10 and scale 10, each histogram 19/40 and scale
        40/19."""
        frame, schema = binary()
        ledger = Independent(2, relation="add_remove").fit(frame, schema).ledger_
        count, *tables = ledger.entries
        assert (count.epsilon, count.scale, count.sensitivity) == (Q(1, 10), 10, 1)
        assert (count.attributes, count.released, count.relation) == ((), "n", "add_remove")
        for entry in tables:
            assert (entry.epsilon, entry.scale, entry.sensitivity) == (Q(19, 40), Q(40, 19), 1)
            assert entry.relation == "add_remove"
        assert (ledger.epsilon, ledger.check()) == (2, [])
        assert "(add or remove one record): ε = 2 of 2" in ledger.verdict()
        assert "replace" not in str(ledger)
        assert ledger.to_frame()["total"].iloc[-1] == 2
        drawn = {bar.name: sum(bar.y) for bar in pds.plots.ledger_figure(ledger).data}
        assert drawn["true"] == pytest.approx(2)

    def test_a_changed_attribute_moves_two_cells_of_its_table_and_not_n(self):
        frame, schema = binary()
        ledger = Independent(2, relation="add_remove").fit(frame, schema).ledger_
        assert ledger.attribute_epsilon().to_dict() == dict.fromkeys(schema.names, Q(19, 20))
        assert ledger.value_epsilon("b0", ["no", "yes"]).to_numpy().tolist() == [
            [0, Q(19, 20)],
            [Q(19, 20), 0],
        ]

    def test_a_record_more_loses_exactly_epsilon_in_all_tiny_tables(self):
        """T2; tables without records are tables."""
        found = [loss(ADDED, *pair, (2, 3)) for pair in joins((2, 3), 2)]
        assert max(found) == pytest.approx(1)
        assert all(value <= 1 + 1e-9 for value in found)

    def test_all_records_of_a_person_join_for_epsilon(self):
        three = ADDED.clone().set_params(records_per_person=3)
        rows = [[0, 0]] * 4
        pairs = [(rows, rows + [list(cell)] * m) for m in (1, 2, 3) for cell in cells_of((2, 3))]
        verdict = three.clone().fit(records_of(rows, (2, 3))).ledger_.verdict()
        assert "add or remove one person's 3 records" in verdict
        found = [loss(three, *p, (2, 3)) for p in pairs]
        assert max(found) == pytest.approx(1)

    def test_twin_a_person_with_four_records_loses_more(self):
        three = ADDED.clone().set_params(records_per_person=3)
        found = loss(three, [[0, 0]], [[0, 0]] * 5, (2, 3))
        assert found == pytest.approx(4 / 3)

    def test_twin_where_n_is_public_a_record_more_shows_at_once(self):
        sizes = (2, 2)
        tables = [[[0, 0]] * n for n in (5, 6)]
        plain = [Independent().fit(records_of(rows, sizes)).n_ for rows in tables]
        assert plain == [5, 6]

    def test_the_law_of_the_noisy_number(self):
        """P(n) against the discrete Laplace law, for the two neighbours, exactly."""
        asked = []

        class Asked(ExactNoise):
            def discrete_laplace(self, scale, shape):
                asked.append((np.asarray(scale).item(), shape))
                return np.zeros(shape, dtype=np.int64)

        fits = [ADDED.fit(records_of([[0, 0]] * n, (2, 2)), noise=Asked()).n_ for n in (5, 6)]
        assert fits == [5, 6]
        assert asked[0] == (20, (1,))
        assert [scale for scale, _ in asked[1:3]] == [Q(40, 19)] * 2

    @pytest.mark.parametrize("name", OFFERS)
    def test_a_record_more_never_loses_more_than_its_lines_say(self, name):
        used = 0.0
        for seed, (before, _) in enumerate(neighbours(SIZES, 6)):
            (first, other), schema = frames_of((before, before[:-1]), SIZES)
            found = audit.replay(OFFERS[name], first, other, schema, walks=2, seed=seed)
            assert found.ok, found
            assert found.log_ratio <= float(found.epsilon) * (1 + 1e-9)
            used = max(used, found.log_ratio / float(found.epsilon))
        assert used > 0.4

    def test_a_value_s_loss_is_that_of_a_move_and_is_not_doubled(self):
        """1/b_u + 1/b_v in its own table; other lines cost a replaced record twice their ε."""
        (frame,), schema = frames_of([[[0] * len(SIZES)] * 6], SIZES)
        ledger = OFFERS["weighted values"].clone().fit(frame, schema).ledger_
        lines = [e for e in ledger.entries if "x1" in e.attributes]
        own = [e for e in lines if isinstance(e.scale, tuple)]
        others = sum(2 * e.epsilon for e in lines if e not in own)
        losses = ledger.value_epsilon("x1")
        assert own and all(e.epsilon == 1 / min(e.scale) for e in own)
        for u, v in ((0, 1), (0, 2), (1, 2)):
            moves = sum(1 / e.scale[u] + 1 / e.scale[v] for e in own)
            assert losses.loc[u, v] == others + moves
        assert losses.to_numpy().max() <= ledger.attribute_epsilon()["x1"]

    @pytest.mark.parametrize("name", OFFERS)
    def test_nothing_but_answers_of_mechanisms_shows_whatever_n_is(self, name):
        """Interference: tables of 0, 1, 12 and 40 records, the same forced answers, one run."""
        rng = np.random.default_rng(3)
        tables = [rng.integers(0, SIZES, size=(n, len(SIZES))) for n in (12, 0, 1, 40)]
        frames, schema = frames_of(tables, SIZES)
        first, *others = fits_of(OFFERS[name], frames, schema)
        for number, other in itertools.product((1, 2), others):
            assert interference((first, other), number) == ""

    @pytest.mark.parametrize("name", ROADS)
    def test_nor_on_any_road_that_a_fit_comes_to_it(self, name):
        assert shown_besides(name) == {""}
        synthesizer, schema = ROADS[name]
        m = synthesizer.records_per_person
        found = audit.replay(
            as_measured(synthesizer), *with_and_without(schema, m), schema, walks=2
        )
        assert found.ok, found

    @pytest.mark.parametrize("name", ["one table", "target", "rules", "groups"])
    def test_nor_where_holders_have_other_parts_of_the_records(self, name):
        def fit(synthesizer, schema, frame, noise):
            parts = [frame.head(7), frame.iloc[7:]]
            return holders.fit(synthesizer.clone(), parts, schema, noise=noise, honest=1)

        assert shown_besides(name, fit) == {""}

    def test_twin_edges_that_know_how_many_there_are_show_it(self, monkeypatch):
        honest = Curator.choose_edges

        def planted(curator, *args, **more):
            twin = copy(curator)
            twin._n = max(1, curator._records.n)
            return honest(twin, *args, **more)

        monkeypatch.setattr(Curator, "choose_edges", planted)
        assert shown_besides("private bins alone") != {""}

    def test_twin_the_true_number_would_show(self, monkeypatch):
        honest = Curator.count_records

        def raw(curator, epsilon):
            honest(curator, epsilon)
            curator._n = curator._records.n
            return curator._n

        monkeypatch.setattr(Curator, "count_records", raw)
        frames, schema = frames_of([[[0] * len(SIZES)] * n for n in (5, 6)], SIZES)
        for synthesizer in OFFERS.values():
            assert interference(fits_of(synthesizer, frames, schema), 1)

    def test_a_frame_without_rows_is_a_table(self, tmp_path):
        frame, schema = binary()
        fitted = ADDED.clone().fit(frame.head(0), schema)
        assert fitted.n_ >= 1
        assert len(fitted.sample()) == fitted.n_
        assert list(fitted.sample(5).columns) == list(schema.names)
        with pytest.raises(pds.SchemaError, match="no rows"):
            Independent().fit(frame.head(0), schema)
        fitted.model_.to_json(tmp_path / "model.json")
        again = pds.Model.from_json(tmp_path / "model.json")
        assert (again.ledger.relation, again.ledger.check()) == ("add_remove", [])
        assert again.private

    def test_frames_that_differ_in_one_row_are_fitted_alike(self):
        frame, schema = binary()
        for rows in (frame, frame.head(len(frame) - 1), frame.head(1)):
            fitted = ADDED.clone().fit(rows, schema)
            assert fitted.ledger_.epsilon == 1
            assert fitted.model_.n == fitted.n_

    def test_n_is_secret_until_it_is_paid_for(self):
        door = Curator(
            records_of([[0, 0]], (2, 2)), Ledger(Q(1), relation="add_remove"), RecordedNoise()
        )
        with pytest.raises(PrivacyError, match="number of records is secret"):
            door.n  # noqa: B018
        assert door.count_records(Q(1, 20)) == door.n == door.binary().n == 1

    def test_questions_whose_sensitivity_nobody_worked_out_are_refused(self):
        """Before anything is read or drawn; a table and the count are known."""
        noise = RecordedNoise()
        door = Curator(
            records_of([[0, 0, 0]] * 5, (2, 2, 2)), Ledger(Q(9), relation="add_remove"), noise
        )
        door.count_records(Q(1, 20))
        door.table((0, 1), TableBudget(Q(1)), step="t")
        drawn, ask = len(noise.asked), {"step": "s", "source": ""}
        pair = Candidates(((np.array([1]), np.array([[0]])),))
        for question in (
            lambda: door.select(pair, "R", Q(1), **ask),
            lambda: door.noisy_associations([(0, 1)], Q(1), **ask),
            lambda: door.mean_association([(0, 1)], Q(1), **ask),
            lambda: door.strongest_association([(0, 1)], Q(1), offsets=np.array([0]), **ask),
        ):
            with pytest.raises(PrivacyError, match="replace_one only, this run promises add_remo"):
                question()
        assert len(noise.asked) == drawn
        assert len(door.ledger.entries) == 2

    def test_twin_a_line_for_replaced_records_breaks_rule_l7(self):
        book = Ledger(Q(9), "published", relation="add_remove")
        book.write("mechanism", "t", inputs=("raw:D",), mechanism="discrete_laplace",
                   sensitivity=Q(2), scale=Q(2), epsilon=Q(1), claimed=Q(1))  # fmt: skip
        assert [v[:6] for v in book.check()] == ["L7 s01"]

    def test_an_unknown_relation_in_a_file_is_refused(self):
        plain = ADDED.clone().fit(records_of([[0, 0]], (2, 2))).ledger_.to_dict()
        for wrong in ({"relation": "swap"}, {"relation": 3}, {"records_per_person": 0}):
            with pytest.raises(ValueError, match="unknown neighbouring relation"):
                Ledger.from_dict(plain | wrong)
        old = {k: v for k, v in plain.items() if k not in ("relation", "records_per_person")}
        ledger = Ledger.from_dict(old)  # told to be about replaced records: everything counts twice
        assert (ledger.relation, ledger.epsilon) == ("replace_one", 2)

    def test_a_file_whose_number_of_records_no_line_pays_for_is_refused(self):
        """The count's line becomes a forfeited budget: the sum still closes, n would be raw."""
        frame, schema = binary()
        plain = json.loads(json.dumps(ADDED.clone().fit(frame, schema).model_.to_dict()))
        assert pds.Model.from_dict(plain).ledger.relation == "add_remove"
        line = plain["ledger"]["entries"][0]
        line |= {"released": "nothing", "mechanism": "forfeited", "inputs": []}
        with pytest.raises(pds.SchemaError, match="where the number of records comes from"):
            pds.Model.from_dict(plain)

    def test_the_noise_is_half_of_what_replacing_asks_for(self):
        """What membership costs in utility: nothing, but for the share of n."""
        frame, schema = binary()
        scales = [
            Independent(1, relation=r).fit(frame, schema).ledger_.entries[-1].scale
            for r in ("replace_one", "add_remove")
        ]
        assert scales == [8, Q(80, 19)]

    @pytest.mark.parametrize("guarantee", ["published", "none"])
    def test_the_other_guarantees(self, guarantee):
        frame, schema = binary()
        fitted = Independent(relation="add_remove", guarantee=guarantee).fit(frame, schema)
        assert fitted.ledger_.epsilon == (1 if guarantee == "published" else math.inf)
        assert guarantee == "published" or fitted.n_ == len(frame)

    @pytest.mark.slow
    def test_an_audit_of_membership(self):
        """T5: whole fits with and without one record; its own log-likelihood ratio."""
        rows = np.zeros((6, 2), dtype=np.uint8)
        tables = [records_of(rows[:n], (2, 2)) for n in (5, 6)]

        def released(synth):
            seeds = itertools.count()
            return lambda table: synth.clone().fit(table, noise=ExactNoise(next(seeds)))

        def score(fitted):
            inside = sum(int(t.ravel()[0] > 5) for t in fitted.model_.tables)
            return inside + int(fitted.n_ > 5)

        three = as_measured(ADDED).set_params(epsilon=3)
        result = audit.black_box(released(three), tables, score, 3, runs=400, theory=3)
        assert 1.2 < result.bound <= 3
        twin = three.clone().set_params(epsilon=9)
        result = audit.black_box(released(twin), tables, score, 3, runs=400)
        assert result.verdict == "violated"


def test_a_recipe_offers_it_where_its_parts_ask_for_counts_alone():
    """A part says so; what it asks besides all the same, the door refuses."""

    class Liar(pds.parts.Greedy):
        counts_only = True

    def combine(structure, epsilon=1, **more):
        return pds.Synthesizer(epsilon, structure=structure, relation="add_remove", **more)

    frame, schema = binary()
    for structure in (pds.parts.Fixed(), Liar(k=0)):
        fitted = combine(structure).fit(frame, schema)
        assert (fitted.ledger_.epsilon, fitted.ledger_.check()) == (1, [])
    with pytest.raises(PrivacyError, match="promises add_remove"):
        combine(Liar(k=1), 60).fit(frame, schema)
    for refused in (
        combine(pds.parts.Greedy(k=0)),
        combine(pds.parts.Fixed(), budget=pds.parts.RiskEntropy()),
    ):
        with pytest.raises(BudgetError, match=r"relation must be one of .'replace_one',. here"):
            refused.fit(frame, schema)
