"""Ablations and PPBA: what a change changes, and that nothing else moves."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.baselines.searches import Parameters, before, genetic_search, initial, spread
from pdsynth.core.network import Network, Restriction
from pdsynth.core.records import Records
from pdsynth.papers import ablations, effects
from pdsynth.papers.ablations_search import joint_information
from pdsynth.papers.engine import find

SMALL = {
    "epsilons": (1.0,),
    "low": (1.0,),
    "fine": (1.0,),
    "generations": 5,
    "degrees": ("1",),
}


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(0)
    base = rng.random((300, 1)) < 0.4
    frame = pd.DataFrame(base ^ (rng.random((300, 6)) < 0.05), columns=list("abcdef")).astype(int)
    schema = pds.Schema(tuple(pds.Attribute.categorical(n, (0, 1)) for n in frame.columns))
    return pds.datasets.Dataset(frame, schema, "small", "a", "b", "drawn here", "none")


@pytest.mark.parametrize("table", [1, 3, 4, 5])
@pytest.mark.filterwarnings("ignore")
def test_every_change_runs_and_is_told(small, table):
    used = find("ablations").used(f"table {table}")
    options = {name: value for name, value in SMALL.items() if name in used}
    found = pds.papers.reproduce("ablations", table=table, repeats=2, data=small, jobs=1, **options)
    assert found.data["value"].notna().all()
    told = ablations.appendix(f"table {table}", found)
    changes = found.data["change"].unique()
    assert len(changes) >= 4 and all(change in told for change in changes)
    assert found.figure.data


def test_every_change_differs_from_the_algorithm_as_printed(small):
    """By the public repr or the parts; the networks may still agree."""
    part = find("ablations").experiments["table 1"]["run"][0]
    made = [
        ablations.hpprivbayes(change, small, 1, guarantee="published") for change in part["change"]
    ]
    assert len({repr(m) for m in made}) == len(made)


def test_equal_shares_are_equal():
    rng = np.random.default_rng(1)
    codes = rng.random((400, 12)) < np.linspace(0.05, 0.5, 12)
    frame = pd.DataFrame(codes.astype(int), columns=[f"x{i}" for i in range(12)])
    schema = pds.Schema(tuple(pds.Attribute.categorical(n, (0, 1)) for n in frame.columns))
    shared = {"epsilon": 4, "guarantee": "published", "random_state": 1}
    claimed = {}
    for change in ("as printed", "equal shares"):
        fitted = ablations.hmprivbayes(change, None, 1, **shared).fit(frame, schema)
        tables = [e for e in fitted.ledger_.entries if e.step.startswith("table(")]
        of_cluster = Counter(len(c) for c in fitted.clusters_)
        claimed[change] = len({e.claimed for e in tables}), len(of_cluster), len(tables)
    assert claimed["equal shares"][0] <= claimed["equal shares"][1] < claimed["as printed"][0]


def test_an_operator_that_is_left_out_is_missed(small):
    weights = np.abs(np.random.default_rng(1).normal(size=(8, 8)))
    weights = (weights + weights.T) * (1 - np.eye(8))

    def best(*operators, seeds=5):
        one = Parameters(population=30, elite=3, generations=30, operators=operators)
        runs = (
            genetic_search(weights, 2, np.random.default_rng(i), one).fitness for i in range(seeds)
        )
        return np.mean(list(runs))

    whole = best("crossover", "flip", "swap")
    assert whole == best(*Parameters.operators)
    assert best("crossover", "flip") < whole and best("crossover", "swap") < whole
    assert best() < best("swap"), "without any, only the first population"


def test_joint_information_rates_a_population_as_the_measure_does(small):
    """Networks of at most two parents, each against ``sum_mutual_information``."""
    records = Records(small.schema.encode(small.frame), small.schema)
    rng, d = np.random.default_rng(2), len(small.schema)
    rate = joint_information(records)
    orders, sets = initial(20, 2, Restriction().on(small.schema.names), rng)
    masks = sets & before(orders)
    for order, mask, rated in zip(orders, masks, rate(masks), strict=True):
        parents = spread(mask, d)
        pairs = [(int(j), tuple(np.flatnonzero(parents[j]).tolist())) for j in order]
        network = Network.of_columns(pairs, small.schema.names)
        held = pds.evaluate.sum_mutual_information(network, records)
        assert rated == pytest.approx(held, abs=1e-6)
    assert len(np.unique(np.round(rate(masks), 6))) > 5


def test_hedges_by_hand():
    a, b = np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])
    assert effects.hedges(a, b) == pytest.approx(1 * (1 - 3 / 15))
    assert np.isnan(effects.hedges(a, a[:1] * np.nan)) and np.isnan(effects.hedges(a[:1], b[:1]))


def test_ppba_s_tree_is_taken_away_and_nothing_else(small):
    with_tree, without = (
        ablations.ppba(f"{word}, q = 1.25", small, "auto", guarantee="strict")
        for word in ("tree", "no tree")
    )
    assert with_tree.budget == without.budget
    assert type(with_tree.structure).__name__ == "SpanningTree"
    assert type(without.structure).__name__ == "Greedy"


def test_points_that_are_all_alike_have_no_standardised_difference():
    point = {"metric": "m", "dataset": "d", "guarantee": "strict", "k": "1", "epsilon": 1.0}
    rows = [point | {"change": c, "value": 0.0} for c in ("first", "other") for _ in range(3)]
    sizes = [ablations._size(pd.DataFrame(rows), (*point.values(),), c, "first") for c in
             ("first", "other")]  # fmt: skip
    assert sizes == ["", "–"]
