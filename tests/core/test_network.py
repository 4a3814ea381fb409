"""Networks: ordered pairs, what is refused, export."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdsynth.core.errors import SchemaError
from pdsynth.core.network import Network

CHAIN = Network((("a", ()), ("b", ("a",)), ("c", ("a", "b")), ("d", ())))


@st.composite
def networks(draw):
    names = draw(st.permutations("abcdef"))[: draw(st.integers(1, 6))]
    return Network(
        tuple(
            (n, tuple(draw(st.permutations(names[:i]))[: draw(st.integers(0, i))]))
            for i, n in enumerate(names)
        )
    )


def test_what_a_network_knows():
    assert CHAIN.order == ("a", "b", "c", "d")
    assert CHAIN.parents("c") == ("a", "b")
    assert CHAIN.degree == 2
    assert CHAIN.edges == (("a", "b"), ("a", "c"), ("b", "c"))
    assert CHAIN.levels() == {"a": 0, "b": 1, "c": 2, "d": 0}
    assert len(CHAIN) == 4
    assert str(CHAIN).splitlines() == ["a ← ∅", "b ← a", "c ← a, b", "d ← ∅"]
    assert Network(()).degree == 0


def test_it_is_a_frozen_value():
    assert Network([["a", []], ["b", ["a"]]]) == Network((("a", ()), ("b", ("a",))))
    assert hash(CHAIN) == hash(Network(CHAIN.pairs))
    with pytest.raises(AttributeError):
        CHAIN.pairs = ()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ((("a", ()), ("a", ())), "'a' stands twice"),
        ((("b", ("a",)), ("a", ())), r"parent.s. \['a'\] of 'b' don't come before it"),
        ((("a", ("a",)),), "don't come before"),
        ((("a", ()), ("b", ("x",))), r"\['x'\] of 'b'"),
        ((("a", ()), ("b", ("a", "a"))), "parent of 'b' stands twice"),
    ],
)
def test_impossible_pairs(pairs, message):
    with pytest.raises(SchemaError, match=message):
        Network(pairs)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SchemaError, match="no attribute 'z' in the network; it has a, b, c, d"):
        CHAIN.parents("z")


@given(networks())
def test_round_trips(network):
    assert Network.from_dict(json.loads(json.dumps(network.to_dict()))) == network
    again = Network.from_edges(network.order, network.edges)
    assert set(again.edges) == set(network.edges)
    assert all(set(again.parents(n)) == set(network.parents(n)) for n in network.order)


@given(networks(), st.randoms(use_true_random=False))
def test_edges_in_any_order_of_names(network, rng):
    names = list(network.order)
    rng.shuffle(names)
    again = Network.from_edges(names, network.edges)
    place = {n: i for i, n in enumerate(again.order)}
    assert all(place[p] < place[c] for p, c in again.edges)
    assert set(again.edges) == set(network.edges)


def test_cycles_and_strangers_are_refused():
    with pytest.raises(SchemaError, match=r"cycle among \['b', 'c'\]"):
        Network.from_edges(list("abc"), [("b", "c"), ("c", "b"), ("a", "b")])
    with pytest.raises(SchemaError, match=r"unknown attributes: \['x'\]"):
        Network.from_edges(list("ab"), [("a", "x")])


@pytest.mark.parametrize(
    "document",
    [
        [{"child": "a"}],
        ["a"],
        [{"child": "a", "parents": None}],
        None,
        [{"child": "b", "parents": ["a"]}],
    ],
)
def test_a_malformed_document_is_a_schema_error(document):
    with pytest.raises(SchemaError):
        Network.from_dict(document)


def test_it_draws_itself_with_names_escaped():
    html = Network((("<a>", ()), ("b", ("<a>",))))._repr_html_()
    assert "&lt;a&gt;" in html
    assert "<a>" not in html
    assert html.count("<line") == 1
    assert "2 attributes and 1 edge" in html


def test_levels_are_the_longest_path():
    for bits in itertools.product((0, 1), repeat=6):
        edges = [e for e, b in zip(itertools.combinations("abcd", 2), bits, strict=True) if b]
        network = Network.from_edges(list("abcd"), edges)

        def depth(name, edges=edges):
            return max((1 + depth(p) for p, c in edges if c == name), default=0)

        assert network.levels() == {n: depth(n) for n in "abcd"}
