"""Binary encoding: what the papers count, the way there and back, illegal codes, and the curator's
and the model's bits."""

from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdsynth import Attribute, Model, Network, Schema, SchemaError
from pdsynth.core.ledger import Ledger
from pdsynth.core.noise import ExactNoise
from pdsynth.core.records import Records
from pdsynth.core.unit import TableBudget
from pdsynth.core.views import BinaryEncoding
from pdsynth.datasets.adult import load_adult
from pdsynth.published.doors import open_door
from pdsynth.published.noise import NoNoise


def schema_of(sizes):
    return Schema(
        tuple(
            Attribute.categorical(f"x{j}", [f"v{v}" for v in range(size)])
            for j, size in enumerate(sizes)
        )
    )


SIX = schema_of((2, 3, 16, 5))


def test_the_complete_adult_table_has_the_paper_s_52_bits():
    assert len(BinaryEncoding(load_adult(complete=True).schema).schema) == 52


def test_bits_by_hand():
    e = BinaryEncoding(SIX)
    assert e.widths == (1, 2, 4, 3)
    assert e.schema.names == (
        "x0",
        "x1:1",
        "x1:2",
        "x2:1",
        "x2:2",
        "x2:3",
        "x2:4",
        "x3:1",
        "x3:2",
        "x3:3",
    )
    assert e.owners == ("x0", "x1", "x1", "x2", "x2", "x2", "x2", "x3", "x3", "x3")
    assert e.bits("x2") == (3, 4, 5, 6)
    assert e.encode(np.array([[1, 2, 11, 4]], dtype=np.uint8)).tolist() == [
        [1, 1, 0, 1, 0, 1, 1, 1, 0, 0]
    ]


@given(st.lists(st.integers(2, 300), min_size=2, max_size=6), st.integers(0, 2**32))
def test_there_and_back(sizes, seed):
    e = BinaryEncoding(schema_of(sizes))
    codes = np.random.default_rng(seed).integers(0, sizes, (30, len(sizes)))
    assert (e.decode(e.encode(codes)) == codes).all()
    assert len(e.schema) == sum(int(np.ceil(np.log2(s))) for s in sizes)


def test_illegal_codes_become_legal_and_legal_ones_stay():
    e = BinaryEncoding(schema_of((2, 5)))
    bits = e.encode(np.array([[0, 1], [1, 3]] * 50))
    bits = np.vstack([bits, [[1, 1, 1, 1]] * 20]).astype(np.uint8)  # code 7 of 5
    codes = e.decode(bits, np.random.default_rng(0))
    assert codes[:100, 1].tolist() == [1, 3] * 50
    assert codes[:, 1].max() < 5
    assert set(codes[100:, 1].tolist()) == {1, 3}, "values that legal records have"


def test_a_column_without_any_legal_code_is_drawn_from_the_domain():
    e = BinaryEncoding(schema_of((2, 5)))
    codes = e.decode(np.ones((200, 4), dtype=np.uint8), np.random.default_rng(0))
    assert set(codes[:, 1].tolist()) == {0, 1, 2, 3, 4}


def test_bad_input_is_refused():
    clash = Schema(
        (Attribute.categorical("a", list("xyz")), Attribute.categorical("a:1", list("xy")))
    )
    with pytest.raises(SchemaError, match="a:1"):
        _ = BinaryEncoding(clash).schema


def curator(guarantee="strict", epsilon=Q(1)):
    codes = np.random.default_rng(0).integers(0, SIX.sizes, (200, 4)).astype(np.uint8)
    return open_door(
        Records(codes, SIX),
        Ledger(epsilon, guarantee),
        NoNoise() if guarantee == "none" else ExactNoise(1),
    )


def test_the_door_on_bits_writes_owners_into_the_same_ledger():
    door = curator()
    bits = door.binary()
    assert bits.schema.names[3] == "x2:1"
    bits.table((3, 4, 0), TableBudget(Q(1, 2)), step="table(x2:1)")
    bits.table((1, 2), TableBudget(Q(1, 2)), step="table(x1:1)")
    assert door.ledger.epsilon == 1
    assert [e.attributes for e in door.ledger.entries] == [("x2", "x0"), ("x1",)]
    assert door.ledger.attribute_epsilon().to_dict() == {
        "x0": Q(1, 2),
        "x1": Q(1, 2),
        "x2": Q(1, 2),
        "x3": 0,
    }
    assert [v[:3] for v in door.ledger.check()] == ["L10"]  # a seeded test


def test_noisy_information_costs_every_pair_it_moves():
    door = curator("published")
    matrix, entry = door.information_sketch(Q(1, 100), claimed=Q(1, 20), step="DPSC", source="test")
    assert (matrix == matrix.T).all() and (np.diag(matrix) == 0).all()
    line = door.ledger.entries[-1]
    assert (line.id, line.claimed, line.epsilon) == (entry, Q(1, 20), Q(6, 100))
    raw, _ = curator("none").information_sketch(
        Q(1, 100), claimed=Q(1, 20), step="DPSC", source="test"
    )
    assert raw.max() == pytest.approx(0.34774639)  # 16 × 5 cells for 200 records
    assert np.abs(matrix - raw).max() > 1


def test_a_raw_sketch_is_written_down_and_refused_under_strict():
    values, _ = curator("published").noisy_associations(
        [(0, 1), (2, 3)], Q(1), step="s", source="line 1", raw_measure="I"
    )
    assert values.shape == (2,)
    door = curator("published")
    door.noisy_associations([(0, 1)], Q(1), step="s", source="line 1", raw_measure="I")
    assert [e.source for e in door.ledger.unaccounted] == ["line 1"]
    door = curator()
    with pytest.raises(TypeError, match="raw_measure"):  # the strict door has no such question
        door.noisy_associations([(0, 1)], Q(1), step="s", source="line 1", raw_measure="I")
    assert not door.ledger.entries


def test_a_model_over_bits_gives_the_original_table_back(tmp_path):
    door = curator("none")
    bits = door.binary()
    network = Network(
        tuple(
            (name, bits.schema.names[max(0, i - 3) : i]) for i, name in enumerate(bits.schema.names)
        )
    )
    tables = tuple(
        bits.table([bits.schema.index(a) for a in (c, *p)], TableBudget(Q(1)), step=c).counts
        for c, p in network.pairs
    )
    sources = (("s01",),) * len(tables)
    model = Model(SIX, network, tables, door.ledger, 200, sources=sources)
    assert model.domain.names == bits.schema.names
    frame = model.sample(500, random_state=3)
    SIX.encode(frame)  # legal
    model.to_json(tmp_path / "m.json")
    assert Model.from_json(tmp_path / "m.json").sample(500, random_state=3).equals(frame)
    with pytest.raises(SchemaError):
        Model(SIX, Network(network.pairs[:-1]), tables[:-1], door.ledger, 200)
