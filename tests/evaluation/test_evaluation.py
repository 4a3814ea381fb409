"""Distances, query errors, information and utility against hand-worked tables and brute force."""

import math
import subprocess
import sys
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from contract_cases import TABLES
from growth_tools import growth
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth import Attribute, Network, PrivBayes, Schema, SchemaError
from pdsynth.core.records import Records
from pdsynth.evaluation import marginals as marginals_module
from pdsynth.evaluation.marginals import Marginals, marginal_distance, marginal_distances, max_cell
from pdsynth.evaluation.queries import query_errors, sum_mutual_information
from pdsynth.evaluation.utility import split, utility
from pdsynth.scale import blocks


def domain(*sizes: int) -> Schema:
    return Schema(
        tuple(
            Attribute.categorical(f"a{i}", [f"v{v}" for v in range(size)])
            for i, size in enumerate(sizes)
        )
    )


HAND = domain(2, 2, 3)
REAL = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 2]], dtype=np.uint8)
FAKE = np.array([[0, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=np.uint8)


def by_hand(
    real: np.ndarray, fake: np.ndarray, sizes: tuple[int, ...], member: tuple[int, ...]
) -> list[Fraction]:
    """P − Q of every cell in exact fractions, by looking at each cell and record."""
    return [
        Fraction(sum(tuple(r[list(member)]) == cell for r in real), len(real))
        - Fraction(sum(tuple(r[list(member)]) == cell for r in fake), len(fake))
        for cell in product(*(range(sizes[j]) for j in member))
    ]


def test_records_coded_over_another_schema_are_refused():
    """Codes of another order of values gave another number without a word."""
    names = [("v1", "v0"), ("v0", "v1"), ("v0", "v1", "v2")]
    turned = Schema(tuple(Attribute.categorical(f"a{i}", v) for i, v in enumerate(names)))
    for other in (turned, HAND.select(["a2", "a1", "a0"])):
        for real, fake in ((REAL, Records(FAKE, other)), (Records(REAL, other), FAKE)):
            with pytest.raises(SchemaError, match="coded over another schema"):
                marginal_distance(real, fake, HAND)
            with pytest.raises(SchemaError, match="coded over another schema"):
                utility(fake, real, HAND, "a0")
        with pytest.raises(SchemaError, match="leave schema= out"):
            PrivBayes(1.0, k=1).fit(Records(REAL, other), schema=HAND)
    PrivBayes(1.0, k=1).fit(Records(REAL, HAND), schema=HAND)


def test_hand_worked_distances():
    # a0,a1: P = 1/2,0,0,1/2 and Q = 1/3,1/3,0,1/3, so ½Σ|P−Q| = ½(1/6+1/3+0+1/6) = 1/3
    # a0,a2: P = 1/4 at 00,01,11,12 and Q = 1/3 at 00,01,11: ½(3/12+1/4) = 1/4
    # a1,a2: P = 1/4 at 00,01,11,12 and Q = 1/3 at 00, 2/3 at 11: ½(1/12+1/4+5/12+1/4) = 1/2
    found = marginal_distances(REAL, FAKE, HAND, 2)
    assert found.to_numpy() == pytest.approx([1 / 3, 1 / 4, 1 / 2])
    assert found[("a0", "a1")] == pytest.approx(1 / 3)
    assert marginal_distance(REAL, FAKE, HAND, 2) == pytest.approx(float(Fraction(13, 36)))
    assert max_cell(REAL, FAKE, HAND, 2) == pytest.approx(
        float((Fraction(1, 3) + Fraction(1, 4) + Fraction(5, 12)) / 3)
    )


def test_frames_codes_records_and_kept_marginals_agree():
    frames = HAND.decode(REAL), HAND.decode(FAKE)
    expected = marginal_distance(REAL, FAKE, HAND)
    kept = Marginals(REAL, HAND, 2)
    assert (
        marginal_distance(*frames, HAND)
        == marginal_distance(Records(REAL, HAND), FAKE, HAND)
        == expected
    )
    assert marginal_distance(kept, frames[1], HAND) == kept.distance(kept.of(FAKE)) == expected
    assert kept.table(["a2", "a0"]).tolist() == [[1, 1, 0], [0, 1, 1]]
    with pytest.raises(SchemaError, match="alpha=3"):
        marginal_distance(kept, FAKE, HAND, 3)


@st.composite
def two_tables(draw):
    sizes = tuple(draw(st.lists(st.integers(2, 4), min_size=3, max_size=5)))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    real, fake = (
        np.column_stack([rng.integers(0, s, n) for s in sizes]).astype(np.uint8)
        for n in rng.integers(1, 9, 2)
    )
    return sizes, real, fake, draw(st.integers(1, len(sizes)))


@settings(max_examples=60, deadline=None)
@given(
    two_tables(),
    st.sampled_from([1, 8, 4096]),
    st.sampled_from([1, 2**20]),
    st.sampled_from([3, 2**23]),
)
def test_distances_and_queries_equal_brute_force(tables, block, dense, group):
    sizes, real, fake, alpha = tables
    gaps = [by_hand(real, fake, sizes, m) for m in combinations(range(len(sizes)), alpha)]
    distances = [float(sum(map(abs, g)) / 2) for g in gaps]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals_module, "BLOCK_CELLS", block)
        patch.setattr(marginals_module, "DENSE_CELLS", dense)
        patch.setattr(marginals_module, "GROUP_CELLS", group)
        patch.setattr("pdsynth.evaluation.queries.DENSE_CELLS", dense)
        assert marginal_distances(real, fake, domain(*sizes), alpha).to_numpy() == pytest.approx(
            distances, abs=1e-12
        )
        assert max_cell(real, fake, domain(*sizes), alpha) == pytest.approx(
            float(np.mean([max(map(abs, g)) for g in gaps]))
        )
        errors = query_errors(real, fake, domain(*sizes), alpha)
    assert errors.queries == math.comb(len(sizes), alpha)
    assert errors.l1 == pytest.approx(2 * np.mean(distances))
    assert errors.l2 == pytest.approx(np.mean([math.sqrt(sum(x * x for x in g)) for g in gaps]))


def test_a_fitted_model_is_judged_by_its_own_answers():
    model = PrivBayes(5.0, k=1, random_state=1).fit(Records(REAL, HAND)).model_
    l1, l2 = [], []
    for pair in combinations(range(3), 2):
        names, shape = [f"a{j}" for j in pair], [HAND.sizes[j] for j in pair]
        keys = np.ravel_multi_index(REAL[:, pair].T.astype(int), shape)
        shares = np.bincount(keys, minlength=math.prod(shape)) / len(REAL)
        gap = shares - model.marginal(names).to_numpy() / model.n
        l1, l2 = [*l1, np.abs(gap).sum()], [*l2, np.sqrt((gap**2).sum())]
    errors = query_errors(REAL, model, HAND, 2)
    assert errors == pytest.approx((np.mean(l1), np.mean(l2), 3))


def test_huge_domains_are_compared_by_occupied_cells():
    schema = domain(*[2000] * 8)  # 2000^8 cells don't fit in 64 bits: the keys are relabelled
    codes = np.random.default_rng(0).integers(0, 2000, (20, 8)).astype(np.uint16)
    assert marginal_distance(codes, codes, schema, 8) == 0
    assert marginal_distance(codes[:10], codes[10:], schema, 8) == 1
    assert marginal_distance(codes, codes[:15], schema, 8) == pytest.approx(0.25)


def test_sets_are_counted_in_the_order_of_the_schema_whatever_theirs():
    """One out of order failed in numpy, one column twice with StopIteration."""
    schema = Schema((Attribute.categorical("a", [*"ny"]), Attribute.categorical("b", [*"xyz"])))
    frame = pd.DataFrame({"a": list("nnyy"), "b": list("xyzx")})
    found = Marginals(frame, schema, sets=[(1, 0)])
    assert found.sets == ((0, 1),)
    assert found.table(["b", "a"]).tolist() == [[1, 1, 0], [1, 0, 1]]
    with pytest.raises(SchemaError, match="each once"):
        Marginals(frame, schema, sets=[(0, 0)])
    with pytest.raises(SchemaError, match=r"\['a'\] is none of the 1 sets"):
        found.table(["a"])
    with pytest.raises(SchemaError, match="names must be a list"):
        found.table("ab")


def test_sampled_sets_are_public_and_different():
    schema = domain(*[2] * 12)
    codes = np.random.default_rng(1).integers(0, 2, (50, 12)).astype(np.uint8)
    drawn = marginal_distances(codes, codes[:25], schema, 3, sets=40, seed=5)
    assert len(drawn) == len(set(drawn.index)) == 40
    assert drawn.equals(marginal_distances(codes, codes[:25], schema, 3, sets=40, seed=5))
    assert list(drawn.index) != list(
        marginal_distances(codes, codes[:25], schema, 3, sets=40, seed=6).index
    )
    large = marginals_module.attribute_sets(60, 7, 30)  # too many sets to list
    assert len(set(large)) == 30
    assert all(len(set(s)) == 7 for s in large)


@pytest.mark.parametrize(
    ("table", "alpha", "word"),
    [
        (REAL, 0, "alpha"),
        (REAL, 4, "alpha"),
        (REAL[:, :2], 2, "shape"),
        (REAL + 2, 2, "codes from"),
        (REAL[:0], 2, "no rows"),
        (REAL * 1.0, 2, "integer"),
    ],
)
def test_bad_input_is_refused(table, alpha, word):
    with pytest.raises(SchemaError, match=word):
        marginal_distance(REAL, table, HAND, alpha)


def test_sum_of_mutual_information_by_hand():
    network = Network((("a0", ()), ("a1", ("a0",)), ("a2", ("a0", "a1"))))
    # I(a1;a0) = 1 bit; H(a2) = 3/2, H(a2|a0,a1) = 1, so I(a2;a0a1) = 1/2
    assert sum_mutual_information(network, HAND.decode(REAL), HAND) == pytest.approx(1.5)
    assert sum_mutual_information(network, Records(REAL, HAND)) == pytest.approx(1.5)
    with pytest.raises(SchemaError, match="schema"):
        sum_mutual_information(network, REAL)


def test_information_of_many_parents_is_counted_by_occupied_cells():
    schema = domain(*[2] * 10)
    codes = np.random.default_rng(2).integers(0, 2, (64, 10)).astype(np.uint8)
    codes[:, 9] = codes[:, :9].sum(axis=1) % 2
    names = schema.names
    network = Network((*((n, ()) for n in names[:9]), (names[9], names[:9])))
    p = np.bincount(codes[:, 9]) / 64
    assert sum_mutual_information(network, codes, schema) == pytest.approx(-(p * np.log2(p)).sum())


def planted(n: int, seed: int) -> np.ndarray:
    """The target (third attribute) is the parity of the first two: no linear classifier finds it,
    an RBF one does."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, (n, 2))
    return np.column_stack([first, first.sum(axis=1) % 2, rng.integers(0, 3, n)]).astype(np.uint8)


def test_utility_finds_what_is_planted_and_nothing_in_noise():
    schema = domain(2, 2, 2, 3)
    good = utility(planted(300, 0), planted(200, 1), schema, "a2")
    assert good.accuracy == 1
    assert good.misclassification == 0
    assert 0.5 <= good.majority < 0.65
    noise = np.random.default_rng(3).integers(0, 2, (300, 4)).astype(np.uint8)
    assert utility(noise, planted(200, 1), schema, "a2").accuracy < 0.8
    assert utility(planted(300, 0), planted(200, 1), schema, "a2", kernel="linear").accuracy < 0.8
    assert utility(planted(300, 0), planted(200, 1), schema, "a2", drop=["a0"]).accuracy < 0.7


def test_self_test_warns_and_cannot_see_a_wrong_table():
    schema, wrong = domain(2, 2, 2, 3), planted(300, 0)
    wrong[:, 2] = 1 - wrong[:, 2]
    with pytest.warns(UserWarning, match="never looks at real"):
        assert utility(wrong, None, schema, "a2", "self_test").accuracy == 1
    assert utility(wrong, planted(200, 1), schema, "a2").accuracy == 0


def test_utility_corner_cases():
    schema = domain(2, 2, 2, 3)
    constant = planted(50, 0)
    constant[:, 2] = 1
    only = utility(constant, planted(40, 1), schema, "a2")
    assert only.backend == "one class only"
    classes = utility(
        planted(90, 0), planted(40, 1), schema, "a3", positive=["v0", "v2"], max_rows=30
    )
    assert classes.train_rows == 30
    for bad in (
        {"positive": ["v7"]},
        {"positive": []},
        {"kernel": "cubic"},
        {"protocol": "x"},
        {"drop": ["a0", "a1", "a3"]},
    ):
        with pytest.raises(SchemaError):
            utility(planted(50, 0), planted(40, 1), schema, "a2", **bad)
    with pytest.raises(SchemaError, match="held-out"):
        utility(planted(50, 0), None, schema, "a2")


def noisy(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, (n, 5))
    return np.column_stack([x, (x.sum(axis=1) + rng.integers(-3, 4, n)) > 7]).astype(np.uint8)


def test_own_decision_rule_says_what_scikit_learn_says():
    from sklearn.svm import SVC

    from pdsynth.evaluation.utility import one_hot

    schema = domain(4, 4, 4, 4, 4, 2)
    train, test = noisy(400, 0), noisy(700, 1)
    features = [one_hot(t, schema, range(5)) for t in (train, test)]
    plain = SVC(C=1).fit(features[0], train[:, 5]).predict(features[1])
    assert utility(train, test, schema, "a5", backend="sklearn").accuracy == pytest.approx(
        (plain == test[:, 5]).mean(), abs=2 / 700
    )


def test_intel_extension_gives_the_same_accuracy():
    pytest.importorskip(
        "sklearnex", reason="Intel's extension is proprietary in part: not installed"
    )
    schema = domain(4, 4, 4, 4, 4, 2)
    ours, plain = (
        utility(noisy(1500, 0), noisy(1500, 1), schema, "a5", backend=b)
        for b in ("sklearnex", "sklearn")
    )
    assert ours.backend == "sklearnex"
    assert ours.accuracy == pytest.approx(plain.accuracy, abs=0.005)


def test_split_keeps_every_row_once():
    frame = pd.DataFrame({"x": range(10)}, index=list("abcdefghij"))
    train, test = split(frame, 1 / 5, seed=3)
    assert len(test) == 2
    assert sorted([*train.index, *test.index]) == list(frame.index)
    assert split(frame, 1 / 5, seed=3)[1].equals(test)
    with pytest.raises(SchemaError):
        split(frame, 0)


def test_importing_evaluation_loads_nothing_heavy():
    heavy = ("sklearn", "sklearnex", "joblib", "tqdm", "scipy", "plotly")
    check = f"import sys, pdsynth.evaluation; sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


@pytest.mark.parametrize("alpha", [1, 2, 3])
@pytest.mark.parametrize("sides", ["real", "fake", "both"])
def test_distances_in_blocks_are_those_in_memory(alpha, sides, tmp_path, monkeypatch):
    """Counted by the same interface on both sides; a large table is compared cell by cell."""
    monkeypatch.setattr(blocks, "ROWS", 32)
    monkeypatch.setattr(blocks.InBlocks, "pass_cells", 64)
    (real, schema), (fake, _) = TABLES["mixed"](n=90), TABLES["mixed"](n=70, seed=3)
    schema = Schema(schema.attributes[:5])
    real, fake = (frame[[*schema.names]] for frame in (real, fake))
    chosen = []
    for frame, side in ((real, "real"), (fake, "fake")):
        frame.to_parquet(tmp_path / side, row_group_size=25)
        chosen.append(tmp_path / side if sides in (side, "both") else frame)
    for dense in (2**20, 10):
        monkeypatch.setattr(marginals_module, "DENSE_CELLS", dense)
        whole = marginal_distances(real, fake, schema, alpha)
        assert marginal_distances(*chosen, schema, alpha).equals(whole)
    assert marginal_distance(*chosen, schema, alpha) == pytest.approx(whole.mean())
    assert query_errors(*chosen, schema, alpha) == query_errors(real, fake, schema, alpha)
    assert np.array_equal(
        Marginals(chosen[0], schema, alpha).counts, Marginals(real, schema, alpha).counts
    )


def test_information_in_blocks_is_that_in_memory(tmp_path):
    frame, schema = TABLES["mixed"](n=90)
    frame.to_parquet(tmp_path / "t", row_group_size=25)
    pairs = [("age", ()), ("wage", ("age",)), ("city", ("age", "wage"))]
    network = Network((*pairs, *((name, ()) for name in schema.names[3:])))
    found = sum_mutual_information(network, tmp_path / "t", schema)
    assert found == sum_mutual_information(network, frame, schema)


def test_planning_how_pairs_are_counted_looks_at_each_pair_few_times():
    """With d columns and blocks of six, d²/15 blocks: each looks at its columns' pairs, not all."""

    def prepare(d):
        sets = tuple(combinations(range(d), 2))
        return lambda: marginals_module.plan_blocks.__wrapped__((4,) * d, sets, 2**12)

    assert growth(prepare, (10, 20, 40)) < 3.4, "a power of d: 3, and 4 where it looks at all"
