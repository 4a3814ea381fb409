"""Conditional samples: exact conditioning against a brute force over all cells, and its words."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth import Attribute, Network, Schema, SchemaError
from pdsynth.constraints import conditions as module
from pdsynth.constraints.conditioning import Impossible, condition


def joint(pairs, tables, sizes):
    """P of every cell of the domain, by the chain rule: float (sizes)."""
    whole = np.ones(sizes)
    for cell in itertools.product(*map(range, sizes)):
        for (child, parents), table in zip(pairs, tables, strict=True):
            key = 0
            for parent in parents:
                key = key * sizes[parent] + cell[parent]
            whole[cell] *= table[cell[child], key]
    return whole


def as_masks(marks):
    """Evidence of single nodes as masks."""
    return [((j,), mask) for j, mask in marks.items()]


@st.composite
def networks(draw):
    """A network of up to five nodes with any tables, zeros included, and some evidence."""
    sizes = tuple(draw(st.lists(st.integers(2, 3), min_size=2, max_size=5)))
    order = draw(st.permutations(range(len(sizes))))
    pairs, tables = [], []
    for place, child in enumerate(order):
        parents = tuple(p for p in order[:place] if draw(st.booleans()))
        columns = math.prod(sizes[p] for p in parents)
        weights = st.lists(st.integers(0, 4), min_size=sizes[child], max_size=sizes[child])
        table = np.array([draw(weights.filter(any)) for _ in range(columns)], dtype=float).T
        pairs.append((child, parents))
        tables.append(table / table.sum(axis=0))
    asked = draw(st.sets(st.sampled_from(range(len(sizes))), min_size=1))
    marks = {
        j: np.array(draw(st.lists(st.booleans(), min_size=sizes[j], max_size=sizes[j]).filter(any)))
        for j in asked
    }
    return pairs, tables, sizes, marks


@given(networks())
def test_the_conditioned_network_is_the_conditional_distribution(drawn):
    pairs, tables, sizes, marks = drawn
    whole = joint(pairs, tables, sizes)
    for j, mask in marks.items():
        whole = whole * mask.reshape([-1 if i == j else 1 for i in range(len(sizes))])
    if not whole.any():
        with pytest.raises(Impossible):
            condition(pairs, tables, sizes, as_masks(marks))
        return
    found = condition(pairs, tables, sizes, as_masks(marks))
    placed = []
    for pair in found:
        assert set(pair.parents) <= set(placed), "parents come first"
        placed.append(pair.child)
    new = joint([pair[:2] for pair in found], [pair.p for pair in found], sizes)
    assert np.allclose(new, whole / whole.sum(), atol=1e-12)


def test_by_hand():
    """P(rain) = 1/5; wet with 9/10 if it rains, else 1/10: P(rain | wet) = 18/26."""
    rain, wet = np.array([[0.8], [0.2]]), np.array([[0.9, 0.1], [0.1, 0.9]])
    found = condition([(0, ()), (1, (0,))], [rain, wet], (2, 2), [((1,), np.array([False, True]))])
    p = {pair.child: pair for pair in found}
    together = joint([pair[:2] for pair in found], [pair.p for pair in found], (2, 2))
    assert together[1].sum() == pytest.approx(float(Fraction(18, 26)))
    forward = rain[1, 0]  # the twin: sampling rain first and then setting wet
    assert forward != pytest.approx(18 / 26)
    assert p[1].p[0].max() == 0


def test_a_table_on_the_way_that_is_too_large_is_left_to_rejection():
    pairs = [(j, ()) for j in range(8)] + [(8, tuple(range(8)))]
    tables = [np.full((4, 1), 0.25)] * 8 + [np.full((2, 4**8), 0.5)]
    marks = {8: np.array([True, False])}
    assert condition(pairs, tables, (4,) * 8 + (2,), as_masks(marks), most=4**8) is None
    assert condition(pairs, [*tables[:8], None], (4,) * 8 + (2,), as_masks(marks)) is None
    above = condition(pairs, [*tables[:8], None], (4,) * 8 + (2,), [((0,), np.arange(4) > 0)])
    assert above[-1].p is None, "evidence above a table leaves the table alone"


SCHEMA = Schema(
    (
        Attribute.categorical("sex", ["F", "M"]),
        Attribute.categorical("job", ["farmer", "nurse", "smith"], missing=True),
        Attribute.numeric("age", 0, 99, bins=4, integer=True),
        Attribute.categorical("kids", [0, 1]),
    )
)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(5)
    sex = rng.choice(["F", "M"], 3_000)
    job = np.where(rng.random(3_000) < 0.7, np.where(sex == "F", "nurse", "smith"), "farmer")
    frame = pd.DataFrame({"sex": sex, "job": job, "age": rng.integers(0, 100, 3_000)})
    frame["kids"] = ((frame.age > 30) & (rng.random(3_000) < 0.8)).astype(int)
    frame["job"] = frame.job.astype(object).where(rng.random(3_000) < 0.95, None)
    chain = [("sex", ()), ("job", ("sex",)), ("age", ("job",)), ("kids", ("age", "sex"))]
    structure = Network(tuple(chain))
    return pds.Synthesizer(20, structure=structure, random_state=2).fit(frame, SCHEMA)


@pytest.fixture(scope="module")
def everything(fitted):
    return fitted.model_.sample(400_000, 4)


CONDITIONS = [
    ({"sex": "F"}, lambda t: t.sex == "F"),
    ({"kids": 1}, lambda t: t.kids == 1),
    ({"kids": 0, "job": ["smith"]}, lambda t: (t.kids == 0) & (t.job == "smith")),
    ({"job": None, "sex": "M"}, lambda t: t.job.isna() & (t.sex == "M")),
    ({"age": "25–49"}, lambda t: t.age.between(25, 49)),
    ({"age": ["0–24", "75–99"], "kids": 1}, lambda t: ~t.age.between(25, 74) & (t.kids == 1)),
]


@pytest.mark.parametrize(("where", "meets"), CONDITIONS)
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "rejection"])
def test_conditional_samples_are_those_of_the_model_that_meet_the_condition(
    fitted, everything, where, meets, exact, monkeypatch
):
    if not exact:
        monkeypatch.setattr(module, "condition", lambda *given: None)
    drawn = fitted.model_.sample(40_000, 3, where=where)
    assert meets(drawn).all() and len(drawn) == 40_000
    wanted = everything[meets(everything)]
    assert list(drawn.dtypes) == list(everything.dtypes)
    for name in SCHEMA.names:
        p, q = (
            t[name].astype(object).where(t[name].notna(), "?").value_counts(normalize=True)
            for t in (drawn, wanted)
        )
        room = 5 * math.sqrt(0.25 / len(wanted)) + 5 * math.sqrt(0.25 / 40_000)
        assert (p.subtract(q, fill_value=0)).abs().max() < room, name


def test_one_number_is_that_number_and_its_bin_decides_about_the_rest(fitted):
    exact = fitted.model_.sample(9_000, 1, where={"age": 34})
    assert (exact.age == 34).all() and exact.age.dtype == fitted.model_.sample(2, 1).age.dtype
    binned = fitted.model_.sample(9_000, 1, where={"age": "25–49"})
    assert exact.drop(columns="age").equals(binned.drop(columns="age"))


def test_it_is_seeded_and_moves_nothing_else(fitted):
    one, two = (fitted.model_.sample(50, 7, where={"sex": "F"}) for _ in range(2))
    assert one.equals(two)
    before = fitted.model_.network, fitted.model_.sample(50, 8)
    fitted.sample(50, where={"kids": 1})
    assert fitted.model_.network == before[0]
    assert fitted.model_.sample(50, 8).equals(before[1])


def off_share(codes, model):
    """How far counts of a value, given its parents, lie from their shares: the largest, in rows."""
    sizes, index, worst = model.schema.sizes, model.schema.index, 0.0
    for child, parents in model.network.pairs:
        key = np.zeros(len(codes), dtype=int)
        for parent in map(index, parents):
            key = key * sizes[parent] + codes[:, parent]
        p = model.conditionals[child]
        counts = np.zeros(p.shape)
        np.add.at(counts, (codes[:, index(child)], key), 1)
        worst = max(worst, np.abs(counts - p * counts.sum(axis=0)).max())
    return worst


@pytest.mark.parametrize(("where", "meets"), CONDITIONS)
def test_balance_holds_in_the_conditioned_network(fitted, where, meets):
    drawn = fitted.sample(2_000, 1, method="balanced", where=where)
    assert meets(drawn).all() and len(drawn) == 2_000
    exact = module.Given(fitted.model_, where, True).exact
    codes = {
        how: exact.sample_codes(2_000, np.random.default_rng(2), how)
        for how in ("balanced", "independent")
    }
    assert off_share(codes["balanced"], exact) < 1 + 1e-6
    assert off_share(codes["independent"], exact) > 3, "twin: chance is further off"


def test_rejection_refuses_balance_before_it_draws(fitted, monkeypatch):
    monkeypatch.setattr(module, "condition", lambda *given: None)
    with pytest.raises(SchemaError, match="keeps no balance: use method='independent'"):
        fitted.sample(5, method="balanced", where={"sex": "F"})
    with pytest.raises(SchemaError, match="method must be one of"):
        fitted.sample(5, method="even", where={"sex": "F"})
    drawn = fitted.sample(5, 1, where={"sex": "F"})  # the default: independent rows here
    assert drawn.equals(fitted.sample(5, 1, method="independent", where={"sex": "F"}))


def test_a_model_over_bits_draws_again_and_says_when_that_finds_too_little(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(list("xyz"), 500), "b": rng.choice(["0", "1"], 500)})
    listed = [Attribute.categorical("a", list("xyz")), Attribute.categorical("b", ["0", "1"])]
    fitted = pds.HMPrivBayes(20, k=1, eta=0).fit(frame, Schema(listed))
    drawn = fitted.sample(300, random_state=0, where={"a": "z", "b": "1"})
    assert (drawn.a == "z").all() and (drawn.b == "1").all() and len(drawn) == 300
    monkeypatch.setattr(module, "DRAWS", 1)
    monkeypatch.setattr(module, "LEAST_DRAWS", 10)
    with pytest.raises(SchemaError, match="met the condition, 300 are asked for: loosen"):
        fitted.sample(300, where={"a": "z", "b": "1"})


def test_a_condition_without_mass_is_refused_in_words():
    frame = pd.DataFrame({"a": ["x", "x", "y"] * 9, "b": ["0", "0", "1"] * 9})
    listed = [Attribute.categorical("a", ["x", "y"]), Attribute.categorical("b", ["0", "1"])]
    pair = Network((("a", ()), ("b", ("a",))))
    made = pds.Synthesizer(structure=pair, guarantee="none").fit(frame, Schema(listed))
    with pytest.raises(SchemaError, match="gives this no mass"):
        made.sample(3, where={"a": "x", "b": "1"})
