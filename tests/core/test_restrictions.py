"""Public policy on edges: what contradicts itself is refused, every learner keeps it, and a
sensitive attribute has one table."""

import itertools
import json
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import Silent, curator_of, records_of, schema_of

from pdsynth import (
    BudgetError,
    GeneticBayes,
    HPPrivBayes,
    Network,
    PrivBayes,
    SchemaError,
    Synthesizer,
)
from pdsynth.algorithms import parts
from pdsynth.algorithms.hpprivbayes import SensitivityGroups, ordered
from pdsynth.algorithms.privbayes import greedy
from pdsynth.baselines import Parameters, exact_search, genetic_search, hill
from pdsynth.core.budgets import AsMeasured
from pdsynth.core.ledger import Ledger
from pdsynth.core.network import Restriction
from pdsynth.core.noise import ExactNoise
from pdsynth.core.structure import MaxCells, MaxParents, list_candidates
from pdsynth.published.noise import CommonNoise

NAMES = ("t", "z", "a", "b", "c")
POLICY = Restriction("t", "z", forced=(("a", "b"),), forbidden=(("b", "c"),))


def broken(network: Network, policy: Restriction) -> list[str]:
    """What a network does against a policy, read off its edges alone."""
    edges, found = set(network.edges), []
    found += [f"forced {e} is missing" for e in policy.forced if e not in edges]
    found += [f"forbidden {e} is there" for e in policy.forbidden if e in edges]
    if policy.target is not None and (
        network.order[0] != policy.target or network.parents(policy.target)
    ):
        found.append("the target is not the root")
    for z in policy.sensitive:
        found += [f"{z} has parents {network.parents(z)}"] * (
            network.parents(z) != (policy.target,)
        )
        found += [f"{z} is a parent of {c}" for p, c in edges if p == z]
    return found


class TestContradictions:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"target": "t", "sensitive": "t"}, "both the target and a sensitive"),
            ({"target": "t", "sensitive": ("z", "t")}, "both the target and a sensitive"),
            ({"target": "t", "sensitive": ("z", "z")}, "stands twice"),
            ({"sensitive": "z"}, r"name it \(target"),
            ({"forced": (("a", "b"), ("b", "a"))}, "cycle"),
            ({"forced": (("a", "b"), ("b", "c"), ("c", "a"))}, "cycle"),
            ({"forced": (("a", "a"),)}, "pair .parent, child. of two"),
            ({"forced": ("ab",)}, "pair .parent, child. of two"),
            ({"forbidden": (("a", "b", "c"),)}, "pair .parent, child. of two"),
            (
                {"forced": (("a", "b"),), "forbidden": (("a", "b"),)},
                "both forced and forbidden.*'a', 'b'",
            ),
            ({"target": "t", "forced": (("a", "t"),)}, "the target is the root"),
            (
                {"target": "t", "sensitive": "z", "forced": (("a", "z"),)},
                "only the target as parent",
            ),
            ({"target": "t", "sensitive": "z", "forced": (("z", "a"),)}, "nobody's parent"),
            (
                {"target": "t", "sensitive": "z", "forbidden": (("t", "z"),)},
                "the only parent it may have",
            ),
        ],
    )
    def test_are_refused(self, given, words):
        with pytest.raises(SchemaError, match=words):
            Restriction(**given)

    @pytest.mark.parametrize(
        "given",
        [
            {"target": "x"},
            {"target": "t", "sensitive": "x"},
            {"forced": (("a", "x"),)},
            {"forbidden": (("x", "a"),)},
        ],
    )
    def test_strangers_are_named_with_what_there_is(self, given):
        with pytest.raises(SchemaError, match="no attribute 'x'.*t, z, a, b, c"):
            Restriction(**given).on(NAMES)

    def test_too_many_forced_parents_for_k(self):
        permitted = Restriction(forced=(("a", "c"), ("b", "c"))).on(NAMES)
        permitted.check(2)
        with pytest.raises(BudgetError, match="k = 1.*forces 2 parent"):
            permitted.check(1)

    def test_one_name_or_several(self):
        assert Restriction("t", "z") == Restriction("t", ("z",)) == Restriction("t", ["z"])
        assert hash(Restriction("t", "z", forced=[["a", "b"]])) == hash(
            Restriction("t", "z", forced=(("a", "b"),))
        )


class TestPermitted:
    def test_by_hand(self):
        permitted = POLICY.on(NAMES)
        assert permitted.fixed_order == (0, 1)
        assert permitted.searchable == (2, 3, 4)
        assert permitted.fixed_pairs == ((0, ()), (1, (0,)))
        assert permitted.allowed.astype(int).tolist() == [
            [0, 0, 0, 0, 0],  # t: the root
            [1, 0, 0, 0, 0],  # z: t only
            [1, 0, 0, 1, 1],  # a
            [1, 0, 1, 0, 1],  # b
            [1, 0, 1, 0, 0],  # c: not b
        ]
        # neither z's pairs nor what is forced; b–c may still be an edge from c to b
        assert permitted.pairs == ((0, 2), (0, 3), (0, 4), (2, 4), (3, 4))
        assert permitted.forced_network(NAMES).edges == (("t", "z"), ("a", "b"))

    def test_no_policy_permits_everything(self):
        permitted = Restriction().on(NAMES)
        assert permitted.pairs == tuple(itertools.combinations(range(5), 2))
        assert permitted.reorder([3, 1, 4, 0, 2]) == [3, 1, 4, 0, 2]
        assert permitted.forced_network(NAMES).edges == ()

    def test_orders_are_mended_as_little_as_possible(self):
        assert POLICY.on(NAMES).reorder([4, 3, 2, 1, 0]) == [0, 1, 4, 2, 3]

    def test_pairs_forbidden_both_ways_are_not_measured(self):
        assert (0, 1) not in Restriction(forbidden=(("t", "z"), ("z", "t"))).on(NAMES).pairs


@st.composite
def policies(draw):
    """A policy without contradictions over x0 … x(d−1)."""
    d = draw(st.integers(3, 6))
    names = [f"x{j}" for j in draw(st.permutations(range(d)))]
    sensitive = names[1 : 1 + draw(st.integers(0, min(2, d - 2)))]
    target = names[0] if sensitive or draw(st.booleans()) else None
    others = [n for n in names if n not in (target, *sensitive)]
    line = [*([target] if target else []), *others]
    pairs = list(itertools.combinations(line, 2))
    forced = draw(st.lists(st.sampled_from(pairs), max_size=3, unique=True)) if pairs else []
    forbidden = (
        [e for e in draw(st.lists(st.sampled_from(pairs), max_size=4)) if e not in forced]
        if pairs
        else []
    )
    return d, Restriction(target, tuple(sensitive), tuple(forced), tuple(forbidden))


class TestLearners:
    @given(policies(), st.integers(0, 2**31), st.integers(1, 3))
    @settings(max_examples=60, deadline=None)
    def test_every_learner_keeps_the_policy(self, case, seed, k):
        d, policy = case
        names, rng = tuple(f"x{j}" for j in range(d)), np.random.default_rng(seed)
        permitted = policy.on(names)
        k = min(max(k, int(permitted.forced.sum(axis=1).max())), d - 1)
        weights = rng.random((d, d)) * (rng.random((d, d)) < 0.7)
        searches = [
            exact_search(weights, k, permitted),
            hill(weights, k, rng, permitted),
            genetic_search(weights, k, rng, Parameters(12, 3, None, 6), permitted),
        ]
        rows = rng.integers(0, 2, (12, d))
        networks = [found.network(names) for found in searches]
        for degree in (MaxParents(k), MaxCells(Q(8))):
            curator = curator_of(rows, [2] * d, ExactNoise(seed), epsilon=Q(2))
            networks.append(greedy(curator, degree, Q(1), "R", restriction=policy))
            order = rng.permutation(d).tolist()
            network, spared = ordered(curator, order, degree, Q(1), "I", restriction=policy)
            assert spared == 0
            networks.append(network)
            assert curator.ledger.check() in ([], ["L10 noise is reproducible: do not release"])
            assert curator.ledger.epsilon == (2 if d > max(len(permitted.fixed_order), 1) else 0)
        assert [broken(network, policy) for network in networks] == [[]] * 7
        assert all(
            len(p) <= max(k, permitted.forced.sum(axis=1).max())
            for n in networks[:3]
            for _, p in n.pairs
        )

    def test_twin_a_learner_that_ignores_it_is_noticed(self):
        policy = Restriction("x2", "x0", forbidden=(("x1", "x2"),))
        rows = [[0, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1]]
        network = greedy(curator_of(rows, (2, 2, 2), Silent()), MaxParents(1), Q(1), "R", first=0)
        assert len(broken(network, policy)) >= 2

    @given(policies(), st.integers(0, 3), st.randoms())
    @settings(max_examples=60)
    def test_candidates_are_the_permitted_subsets(self, case, k, random):
        d, policy = case
        permitted = policy.on([f"x{j}" for j in range(d)])
        placed = tuple(random.sample(range(d), random.randint(1, d - 1)))
        left = [j for j in permitted.searchable if j not in placed]
        found = list_candidates(MaxParents(k), placed, left, [2] * d, permitted)
        expected = set()
        for c in left:
            forced = set(np.flatnonzero(permitted.forced[c]))
            if forced <= set(placed):
                free = [p for p in placed if permitted.allowed[c, p] and p not in forced]
                take = min(max(k - len(forced), 0), len(free))
                expected |= {
                    (c, tuple(sorted(forced | set(s)))) for s in itertools.combinations(free, take)
                }
        assert {(c, tuple(sorted(p))) for c, p in (found[i] for i in range(len(found)))} == expected
        assert len(found) == len(expected)


ROWS = np.random.default_rng(3).integers(0, 3, (60, 4))
SIZES = (3, 3, 3, 3)
CUSTOM = {
    "PrivBayes": PrivBayes(k=2, restriction=Restriction("x0", "x1")),
    "PrivBayes auto": PrivBayes(epsilon=30, restriction=Restriction("x0", "x1")),
    "GeneticBayes": GeneticBayes(epsilon=30, k=2, target="x0", sensitive="x1", generations=5),
    "GeneticBayes exact": GeneticBayes(epsilon=30, target="x0", sensitive="x1", search="exact"),
    "GeneticBayes two": GeneticBayes(
        epsilon=30, k=2, target="x0", sensitive=("x1", "x3"), search="hill"
    ),
    "GeneticBayes forced": GeneticBayes(
        epsilon=30, k=2, restriction=Restriction("x0", "x1", (("x2", "x3"),)), generations=5
    ),
}


class TestPersonalGuarantee:
    """custom + strict: ε-DP for everybody, and a loss of the sensitive attribute that is known
    before the run."""

    @pytest.mark.parametrize("name", CUSTOM)
    def test_a_sensitive_attribute_stands_in_one_table_only(self, name):
        fitted = CUSTOM[name].clone().fit(records_of(ROWS, SIZES))
        ledger = fitted.ledger_
        policy = fitted.restriction or Restriction(fitted.target, fitted.sensitive)
        assert ledger.epsilon == ledger.claimed
        assert ledger.check() == []
        assert broken(fitted.network_, policy) == []
        for z in policy.sensitive:
            touching = [e for e in ledger.entries if z in e.attributes]
            assert [e.step for e in touching] == [f"table({z} | x0)"]
            tables = [e for e in ledger.entries if e.step.startswith("table(")]
            assert len(tables) == 4
            assert (
                ledger.attribute_epsilon()[z]
                == tables[0].epsilon
                == sum(e.epsilon for e in tables) / 4
            )
        assert ledger.guaranteed_ex_ante == policy.sensitive
        assert (
            ledger.attribute_epsilon()
            .attrs["known"]
            .startswith(f"before the run for {', '.join(policy.sensitive)}")
        )

    def test_the_number_itself(self):
        """Adult's case in small: (1−β)ε/d, from the parameters alone."""
        fitted = GeneticBayes(
            epsilon=1, k=2, target="x0", sensitive="x1", share_structure=0.3, generations=2
        ).fit(records_of(ROWS, SIZES))
        assert fitted.ledger_.attribute_epsilon()["x1"] == Q(7, 10) / 4

    @pytest.mark.parametrize("name", CUSTOM)
    def test_changing_the_sensitive_value_moves_its_table_only(self, name):
        """A neighbour that differs in x1 of one record: with the same random numbers, everything
        else that is measured is equal. (Agreement lets all tables profit from each other.)"""
        other = ROWS.copy()
        other[5, 1] = (other[5, 1] + 1) % 3
        made = CUSTOM[name].clone().set_params(reconcile=AsMeasured())
        one, two = (
            made.clone().fit(records_of(r, SIZES), noise=CommonNoise(4)) for r in (ROWS, other)
        )
        assert one.network_ == two.network_
        moved = [
            c
            for (c, _), s, t in zip(
                one.network_.pairs, one.model_.tables, two.model_.tables, strict=True
            )
            if (s != t).any()
        ]
        assert moved == ["x1"]

    def test_twin_without_the_policy_more_moves(self):
        other = ROWS.copy()
        other[:, 1] = other[::-1, 1]
        one, two = (
            GeneticBayes(epsilon=10**6, k=2, generations=20).fit(
                records_of(r, SIZES), noise=CommonNoise(4)
            )
            for r in (ROWS, other)
        )
        assert one.network_ != two.network_
        assert one.ledger_.guaranteed_ex_ante == ()
        assert one.ledger_.attribute_epsilon().attrs["known"].startswith("ex post")

    def test_it_survives_the_file(self):
        ledger = CUSTOM["GeneticBayes two"].clone().fit(records_of(ROWS, SIZES)).ledger_
        back = Ledger.from_dict(json.loads(json.dumps(ledger.to_dict())))
        assert back.guaranteed_ex_ante == ("x1", "x3")
        assert "before the run for x1, x3" in back._repr_html_()

    def test_when_policy_settles_everything_all_of_epsilon_goes_to_the_tables(self):
        schema = schema_of((2, 2))
        rows = np.array([[0, 1], [1, 1], [0, 0]], dtype=np.uint8)
        for made in (
            PrivBayes(k=1, restriction=Restriction("x0", "x1")),
            GeneticBayes(k=1, target="x0", sensitive="x1"),
        ):
            fitted = made.fit(schema.decode(rows), schema)
            assert fitted.network_.pairs == (("x0", ()), ("x1", ("x0",)))
            assert [e.epsilon for e in fitted.ledger_.entries] == [Q(1, 2)] * 2


class TestOrderOfAssociation:
    """HPPrivBayes: attributes enter by association, unless policy says otherwise."""

    @pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
    @pytest.mark.parametrize("k", [1, 2, "auto"])
    def test_the_network_keeps_the_policy_whatever_the_order(self, k, guarantee):
        policy = Restriction("x2", "x0", forced=(("x3", "x1"),))
        made = HPPrivBayes(
            epsilon=60, k=k, sensitive="x1", theta=0, restriction=policy, guarantee=guarantee
        )
        for seed in range(4):
            fitted = made.clone().fit(records_of(ROWS, SIZES), noise=ExactNoise(seed))
            assert broken(fitted.network_, policy) == []
            assert (
                fitted.ledger_.check() in ([], ["L10 noise is reproducible: do not release"])
                or guarantee != "strict"
            )
            assert guarantee != "strict" or fitted.ledger_.epsilon == 60

    def test_twin_without_it_the_order_decides(self):
        policy, free = Restriction("x2", "x0"), HPPrivBayes(epsilon=60, k=1, sensitive="x1")
        networks = [
            free.fit(records_of(ROWS, SIZES), noise=CommonNoise(seed)).network_ for seed in range(4)
        ]
        assert all(broken(network, policy) for network in networks)

    def test_the_loss_of_a_settled_attribute_isn_t_known_before(self):
        """It stands in one table, but its associations are asked for: order, groups and weights."""
        fitted = HPPrivBayes(k=1, sensitive="x1", restriction=Restriction("x2", "x0")).fit(
            records_of(ROWS, SIZES)
        )
        loss = fitted.ledger_.attribute_epsilon()
        assert loss.attrs["known"].startswith("ex post")
        assert loss["x0"] > next(
            e.epsilon for e in fitted.ledger_.entries if e.step == "table(x0 | x2)"
        )

    def test_when_policy_settles_everything_nothing_is_spent_on_structure(self):
        policy, groups = (
            Restriction("x0", ("x1", "x2", "x3")),
            {"A": ["x0", "x1"], "B": ["x2", "x3"]},
        )
        fitted = HPPrivBayes(
            k=1,
            restriction=policy,
            personal=SensitivityGroups(groups=groups, rare_values="same_noise"),
        ).fit(records_of(ROWS, SIZES))
        assert [e.step.split("(")[0] for e in fitted.ledger_.entries] == ["table"] * 4
        assert fitted.ledger_.epsilon == 1 and fitted.order_ == ("x0", "x1", "x2", "x3")

    def test_what_a_table_can_t_hold_is_refused(self):
        policy = Restriction(forced=tuple((f"x{j}", "x7") for j in range(7)))
        with pytest.raises(BudgetError, match="429,981,696 cells"):
            HPPrivBayes(sensitive="x0", restriction=policy).fit(
                records_of(np.zeros((5, 8)), schema_of([12] * 8).sizes)
            )


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"target": ["a"]}, r"target must be the name of one attribute.*\['a'\]"),
        ({"target": "a", "sensitive": 3}, r"or a list of names, got 3"),
        ({"target": "a", "sensitive": ["b", None]}, r"or a list of names, got \['b', None\]"),
    ],
)
def test_what_is_no_name_is_refused_in_words(names, message):
    with pytest.raises(SchemaError, match=message):
        Restriction(**names)


def test_forced_tables_beyond_memory_are_refused_before_anything_is_spent(monkeypatch):
    """Twelve values in each of eight attributes, seven of them forced upon the eighth: 12⁸ cells,
    whatever k is chosen by rule."""
    schema = schema_of([12] * 8)
    policy = Restriction(forced=tuple((f"x{j}", "x7") for j in range(7)))
    whole = Network((*((f"x{j}", ()) for j in range(7)), ("x7", tuple(f"x{j}" for j in range(7)))))
    monkeypatch.setattr(
        Ledger, "write", lambda *args, **fields: pytest.fail("something was charged")
    )
    for structure in (
        whole,
        parts.Greedy(restriction=policy),
        parts.SpanningTree(restriction=policy),
        parts.PairwiseSums(restriction=policy),
    ):
        with pytest.raises(
            BudgetError,
            match="the table of 'x7' and its 7 parents has 429,981,696 cells.*fewer parents",
        ):
            Synthesizer(structure=structure).fit(records_of(np.zeros((5, 8)), schema.sizes))
    with pytest.raises(BudgetError, match="429,981,696 cells"):
        GeneticBayes(restriction=policy).fit(records_of(np.zeros((5, 8)), schema.sizes))
