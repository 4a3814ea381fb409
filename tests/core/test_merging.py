"""Rare values that stand as one: counted, measured, fitted, given back; what they depend on."""

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import records_of

import pdsynth as pds
from pdsynth.algorithms import consistent
from pdsynth.algorithms.hpprivbayes import SensitivityGroups
from pdsynth.core.agreement import (
    RARE,
    NoisyTable,
    merge_columns,
    merge_rare,
    shares_of_members,
)
from pdsynth.core.curator import Curator
from pdsynth.core.ledger import Ledger
from pdsynth.core.network import Restriction
from pdsynth.core.noise import ExactNoise
from pdsynth.core.unit import TableBudget
from pdsynth.core.views import Merging


def schema_of(sizes):
    return pds.Schema(
        tuple(pds.Attribute.categorical(f"x{j}", range(m)) for j, m in enumerate(sizes))
    )


def merged(sizes, *codes):
    return Merging(schema_of(sizes), tuple(map(np.array, codes)))


def skewed(n=3_000, d=4, values=12, seed=0):
    """Columns of few common and many rare values, each tied to the one before."""
    rng = np.random.default_rng(seed)
    p = 2.0 ** -np.arange(values)
    codes = rng.choice(values, (n, d), p=p / p.sum())
    for j in range(1, d):
        codes[:, j] = np.where(rng.random(n) < 0.7, codes[:, j - 1], codes[:, j])
    return pd.DataFrame(codes, columns=[f"x{j}" for j in range(d)]), schema_of([values] * d)


# --- by hand, and against brute force ------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "codes"),
    [
        ([100, 2, 50, 1, -3], [0, 2, 1, 2, 2]),
        ([100, 2, 50, 6], [0, 1, 2, 3]),  # one alone stays; 6 isn't below 3 · 2
        ([1, 2, 3], [0, 1, 2]),  # nothing else: an attribute has two values or more
        ([90, 1, 4, 5], [0, 1, 1, 1]),  # a tenth of the records together
        ([89, 1, 4, 5], [0, 2, 2, 1]),  # 10 of 99 would be more: the rarest two
        ([40, 5, 4, 5], [0, 1, 2, 3]),  # one alone stays
    ],
)
def test_rare_values_by_hand(counts, codes):
    assert merge_rare(np.array(counts), 2.0).tolist() == codes


def test_a_sum_weighs_less_by_hand():
    """Three counts of variance 2·9 each: their sum has three times that, so a third of 1/9."""
    merging = merged((5, 2), [0, 2, 1, 2, 2], [0, 1])
    column = NoisyTable((0,), np.array([100.0, 2, 50, 1, -3]), 1 / 9)
    other = NoisyTable((1,), np.array([3.0, 4]), 1 / 4)
    table, same = merge_columns([column, other], merging)
    assert table.counts.tolist() == [100, 50, 0]
    assert table.weight == pytest.approx([1 / 9, 1 / 9, 1 / 27])
    assert same is other


def test_shares_by_hand():
    """A column measured twice, with variances 2 and 8: weights 1 and 1/4; the least is a tenth of
    the deviation of the average."""
    merging = merged((4,), [0, 1, 1, 1])
    noisy = [
        NoisyTable((0,), np.array([9.0, 3, 0, -5]), 1.0),
        NoisyTable((0,), np.array([9.0, 8, 5, 0]), 0.25),
    ]
    (shares,) = shares_of_members(noisy, merging)
    least = (2 / 1.25) ** 0.5 / 10
    assert shares[0] == 1
    assert shares[1:] == pytest.approx(np.array([4, 1, least]) / (5 + least))


@st.composite
def mergings(draw):
    sizes = draw(st.lists(st.integers(2, 5), min_size=2, max_size=3))
    codes = []
    for size in sizes:
        rare = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        codes.append(merge_rare(np.where(rare, 0.0, 10.0), 1.0))
    return Merging(schema_of(sizes), tuple(codes))


@given(mergings(), st.integers(0, 2**16))
@settings(deadline=None, max_examples=60)
def test_merged_tables_are_sums_of_tables(merging, seed):
    rng, sizes = np.random.default_rng(seed), merging.original.sizes
    rows = [tuple(int(rng.integers(m)) for m in sizes) for _ in range(30)]
    records = records_of(rows, sizes)
    columns = tuple(range(len(sizes)))
    expected = np.zeros(merging.sizes, dtype=int)
    for row in rows:
        expected[tuple(merging.codes[j][v] for j, v in enumerate(row))] += 1
    seen = records.merged(merging).table(columns)
    assert seen.tolist() == expected.tolist()
    assert merging.schema.sizes == merging.sizes == seen.shape


@given(mergings(), st.integers(0, 2**16))
@settings(deadline=None, max_examples=60)
def test_what_is_given_back_adds_up_and_follows_the_shares(merging, seed):
    rng = np.random.default_rng(seed)
    table, columns = rng.random(merging.sizes), tuple(range(len(merging.sizes)))
    weights = [rng.random(size) + 0.1 for size in merging.original.sizes]
    shares = [w / np.bincount(c, w)[c] for w, c in zip(weights, merging.codes, strict=True)]
    spread = merging.spread(table, columns, shares)
    back = np.zeros(merging.sizes)
    for cell in itertools.product(*map(range, spread.shape)):
        place = tuple(merging.codes[j][v] for j, v in enumerate(cell))
        part = np.prod([shares[j][v] for j, v in enumerate(cell)])
        assert spread[cell] == pytest.approx(table[place] * part)
        back[place] += spread[cell]
    assert back == pytest.approx(table)


# --- the door ------------------------------------------------------------------------------------


def test_the_line_of_a_merged_table_names_the_releases_behind_it():
    curator = Curator(
        records_of([(0, 0), (2, 1), (1, 1)], (3, 2)), Ledger(Fraction(2)), ExactNoise()
    )
    *_, entry = curator.table((0,), TableBudget(Fraction(1)), step="column")
    door = curator.merged(merged((3, 2), [0, 1, 1], [0, 1]), [entry])
    noisy = door.table((0, 1), TableBudget(Fraction(1)), step="pair")
    one, middle, pair = curator.ledger.entries
    assert noisy.counts.shape == (2, 2)
    assert pair.domain == middle.id and middle.inputs == (one.id,)
    assert middle.kind == "post_processing" and middle.released == "x0: 2 of 3 values"
    assert pair.domain_sizes == (2, 2) and pair.sensitivity == 2
    assert curator.ledger.check() == [] and curator.ledger.epsilon == 2
    forged = replace(pair, domain="s99")
    curator.ledger._entries[-1] = forged
    assert [line[:2] for line in curator.ledger.check()] == ["L9"], "failing twin"


@pytest.mark.parametrize("code", [[0, 1, 1], [0, 1, 2], [1, 0, 1]])
def test_one_record_moves_a_merged_table_by_at_most_two(code):
    """Every neighbour of every table of three records."""
    merging = merged((3, 2), code, [0, 1])
    cells = list(itertools.product(range(3), range(2)))

    @cache
    def table(*rows):
        return records_of(rows, (3, 2)).merged(merging).table((0, 1))

    moved = max(
        np.abs(table(*rows, one) - table(*rows, other)).sum()
        for rows in itertools.combinations_with_replacement(cells, 2)
        for one in cells
        for other in cells
    )
    assert moved == 2


# --- a whole run ---------------------------------------------------------------------------------


def broken(model):
    """Rules that a model violates, besides that a seed makes its noise reproducible."""
    return [line for line in model.check() if not line.startswith("L10")]


def merging_of(fitted):
    """What stood as one in a fit, or None."""
    found = {id(m.merging): m.merging for m in fitted.learnt_.measurements if m.merging}
    assert len(found) <= 1
    return next(iter(found.values()), None)


@pytest.mark.parametrize("rounds", ["auto", 0])
def test_a_fit_merges_and_its_model_stands_over_declared_values(rounds, tmp_path):
    frame, schema = skewed()
    fitted = pds.ConsistentBayes(1, rounds=rounds, random_state=0).fit(frame, schema)
    merging = merging_of(fitted)
    assert merging is not None and max(merging.sizes) < 12
    assert broken(fitted.model_) == [] and fitted.ledger_.epsilon == 1
    merged_line = next(e for e in fitted.ledger_.entries if e.kind == "post_processing")
    several = [e for e in fitted.ledger_.entries if e.columns > 1]
    assert several and {e.domain for e in several} == {merged_line.id}
    for (child, parents), table in zip(fitted.network_.pairs, fitted.model_.tables, strict=True):
        assert table.shape == tuple(schema[name].size for name in (child, *parents))
        for axis, name in enumerate((child, *parents)):  # members go in the same shares everywhere
            code = merging.codes[schema.index(name)]
            group = np.moveaxis(table, axis, 0)[code == code.max()].reshape(
                (code == code.max()).sum(), -1
            )
            sums = group.sum(axis=0)
            part = group[:, sums > 1e7] / sums[sums > 1e7]
            assert not part.size or np.ptp(part, axis=1).max() < 1e-5
    assert set(fitted.sample(random_state=0)["x0"]) > set(range(6)), "rare values come back"
    fitted.model_.to_json(tmp_path / "model.json", allow_reproducible=True)
    assert pds.Model.from_json(tmp_path / "model.json").to_dict() == fitted.model_.to_dict()


def at_the_limit():
    """A table whose value 3 of x0 isn't rare by its raw count, and a neighbour where it is."""
    frame, schema = skewed(n=600, d=3)
    synthesizer = pds.ConsistentBayes(2, share_one_way=0.3)
    fitted = synthesizer.fit(frame, schema)
    limit = int(RARE * 2**0.5 * float(fitted.learnt_.measurements[0].scale)) + 1
    assert fitted.ledger_.entries[0].attributes == ("x0",) and limit < 300
    frame["x0"] = frame["x0"].replace(3, 4)
    frame.loc[: limit - 1, "x0"] = 3
    neighbour = frame.copy()
    neighbour.loc[0, "x0"] = 0
    return synthesizer, frame, neighbour, schema


def test_replay_holds_where_values_are_merged():
    """The counts are forced, so both fits merge alike; raw counts would part them."""
    synthesizer, frame, neighbour, schema = at_the_limit()
    found = pds.audit.replay(synthesizer, frame, neighbour, schema, walks=4)
    assert found.ok, found
    assert any("x0" in s.step and s.log_ratio > 0 for s in found.steps)


def test_twin_merging_by_raw_counts_is_found(monkeypatch):
    """The same rule on what the records hold: a value that one record lifts over it tells of it."""

    def raw(run):
        tables = [replace(m, table=run.curator._records.table((j,))) for j, m in columns(run)]
        before, run.model.measurements = run.model.measurements, tables
        honest(run)
        run.model.measurements = before

    def columns(run):
        return ((run.facts.schema.index(m.attributes[0]), m) for m in run.model.measurements)

    honest = consistent.Run.merge_rare_values
    monkeypatch.setattr(consistent.Run, "merge_rare_values", raw)
    synthesizer, frame, neighbour, schema = at_the_limit()
    assert not pds.audit.replay(synthesizer, frame, neighbour, schema, walks=4).ok


def test_columns_that_policy_names_keep_their_values():
    frame, schema = skewed(d=6)
    options = {
        "forced": {"restriction": Restriction(forced=(("x0", "x1"),))},
        "target": {"restriction": Restriction("x0", ("x1",))},
        "sensitive": {"sensitive": "x0"},
        "weights": {
            "personal": SensitivityGroups(
                groups={"A": ["x2"], "B": ["x0", "x1"]}, weights={"x0": [1] * 11 + [2]}
            )
        },
    }
    for name, policy in options.items():
        fitted = pds.ConsistentBayes(1, random_state=1, **policy).fit(frame, schema)
        merging = merging_of(fitted)
        assert merging is not None, name
        assert merging.sizes[0] == 12 and min(merging.sizes[2:]) < 12, name
        assert name == "sensitive" or merging.sizes[1] == 12, name
        assert broken(fitted.model_) == [] and fitted.ledger_.epsilon == 1


def test_blocks_are_merged_as_memory_is(tmp_path):
    pytest.importorskip("pyarrow")
    frame, schema = skewed()
    frame.to_parquet(tmp_path / "table.parquet")
    fits = [
        pds.ConsistentBayes(1, random_state=3).fit(data, schema)
        for data in (frame, str(tmp_path / "table.parquet"))
    ]
    assert merging_of(fits[0]) is not None
    one, other = ([t.tolist() for t in fit.model_.tables] for fit in fits)
    assert one == other


def test_without_rare_values_nothing_changes():
    rng = np.random.default_rng(0)
    frame, schema = (
        pd.DataFrame({f"x{j}": rng.integers(0, 3, 2_000) for j in range(3)}),
        schema_of([3] * 3),
    )
    fitted = pds.ConsistentBayes(5, random_state=0).fit(frame, schema)
    assert merging_of(fitted) is None
    assert all(e.domain == "schema:public" for e in fitted.ledger_.entries)
