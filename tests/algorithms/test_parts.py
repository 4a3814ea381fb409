"""Mix and match: every structure with every budget closes, the tree and the ratio by hand, what
published recipes really cost."""

import itertools
import math
import re
import warnings
from dataclasses import dataclass, field, replace
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from contract_cases import BUDGETS, DRAWN, RECONCILIATIONS, STRUCTURES, binary, make, mixed
from hypothesis import given
from hypothesis import strategies as st
from privacy_tools import curator_of

from pdsynth import (
    PPBA,
    Attribute,
    BudgetError,
    Network,
    PrivacyError,
    PrivBayes,
    Schema,
    SchemaError,
    Synthesizer,
    baselines,
)
from pdsynth.algorithms import Geometric, RiskEntropy
from pdsynth.algorithms.genetic import GeneticSearch
from pdsynth.algorithms.hpprivbayes import Ordered
from pdsynth.algorithms.personal import Groups, SensitivityGroups
from pdsynth.algorithms.ppba import SpanningTree, geometric
from pdsynth.algorithms.privbayes import Greedy
from pdsynth.core.budgets import AsMeasured, JointCounts
from pdsynth.core.factors import maximum_spanning_tree
from pdsynth.core.network import Restriction
from pdsynth.core.noise import ExactNoise
from pdsynth.core.schema import Facts
from pdsynth.core.structure import Fixed, MaxParents
from pdsynth.published import print_part
from pdsynth.published.hpprivbayes import PrintedOrdered
from pdsynth.published.privabn import ConditionalNoise
from pdsynth.published.sums import PrintedSums


def measures(structure):
    """Whether a structure releases tables while it learns, so that no other budget is asked."""
    return getattr(STRUCTURES[structure], "measures", False)


@pytest.mark.parametrize(
    ("structure", "budget"),
    [c for c in itertools.product(STRUCTURES, BUDGETS) if not measures(c[0]) or c[1] == "uniform"],
)
def test_every_combination_closes_at_exactly_epsilon(structure, budget):
    for reconcile in RECONCILIATIONS:
        closes_at_exactly_epsilon(structure, budget, reconcile)


def closes_at_exactly_epsilon(structure, budget, reconcile):
    frame, schema = binary(5, 200)
    mixture = Synthesizer(
        0.7,
        structure=STRUCTURES[structure],
        budget=BUDGETS[budget],
        reconcile=RECONCILIATIONS[reconcile],
    )
    if measures(structure) and reconcile == "as measured":
        with pytest.raises(BudgetError, match="must be made to agree"):
            mixture.fit(frame, schema)
        return
    ledger = mixture.fit(frame, schema).ledger_
    assert ledger.epsilon == Q(7, 10)
    assert ledger.check() == [] and ledger.unaccounted == []
    assert len(mixture.sample(50)) == 50
    turn = [*STRUCTURES].index(structure) + [*BUDGETS].index(budget)
    guarantee = ("published", "none")[turn % 2]  # by turns: each part meets both
    other = mixture.clone().set_params(guarantee=guarantee).fit(frame, schema)
    assert other.ledger_.epsilon == math.inf or guarantee == "published"
    assert other.sample(5).shape == (5, 5)


@pytest.mark.parametrize("structure", ["greedy", "tree", "sums", "drawn"])
def test_noise_on_conditionals_is_published_only_and_costs_n_times_its_claim(structure):
    frame, schema = binary(5, 200)
    mixture = Synthesizer(
        1, structure=STRUCTURES[structure], conditionals=ConditionalNoise(), guarantee="published"
    ).fit(frame, schema)
    true = sum(
        e.cost
        for e in mixture.ledger_.entries
        if e.step.startswith("conditional(") and "|" in e.step
    )
    claimed = sum(
        e.claimed
        for e in mixture.ledger_.entries
        if e.step.startswith("conditional(") and "|" in e.step
    )
    assert true == 200 * claimed > 0
    with pytest.raises(PrivacyError, match="n times"):
        mixture.clone().set_params(guarantee="strict").fit(frame, schema)
    with pytest.raises(BudgetError, match="two-valued"):
        mixture.clone().set_params(budget=BUDGETS["groups"]).fit(frame, schema)


def test_a_policy_holds_whatever_learns():
    frame, schema = binary(5, 200)
    for name in ("custom", "domain", "filtered", "custom tree"):
        network = Synthesizer(5, structure=STRUCTURES[name]).fit(frame, schema).network_
        assert network.order[0] == "b0" and network.parents("b1") == ("b0",)
        assert all("b1" not in parents for _, parents in network.pairs)
        assert "b2" in network.parents("b3") and "b0" not in network.parents("b4")


def test_a_drawn_network_is_free_and_known_before_the_run():
    frame, schema = binary(5, 200)
    fitted = Synthesizer(1, structure=DRAWN).fit(frame, schema)
    assert fitted.network_ == DRAWN
    assert {e.mechanism for e in fitted.ledger_.entries} == {"zero_sum_laplace"}
    losses = fitted.ledger_.attribute_epsilon()
    assert losses.attrs["known"] == "before the run"
    assert losses.to_dict() == {
        "b0": Q(1, 5),
        "b1": Q(2, 5),
        "b2": Q(1, 5),
        "b3": Q(2, 5),
        "b4": Q(3, 5),
    }


def test_presets_are_their_parts():
    """PrivBayes and the mixture of its parts draw the same tables from the same noise."""
    frame, schema = mixed(300)
    for k in (0, 1, 2, "auto"):
        one = PrivBayes(2, k=k, random_state=5).fit(frame, schema)
        two = Synthesizer(2, structure=Greedy(k=k), random_state=5).fit(frame, schema)
        assert one.network_ == two.network_
        assert all(
            np.array_equal(a, b) for a, b in zip(one.model_.tables, two.model_.tables, strict=True)
        )


# --- the spanning tree


@pytest.mark.slow
@given(st.integers(2, 6), st.integers(0, 2**32))
def test_the_tree_is_the_heaviest_of_all_trees(d, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(0, 4, (d, d)), 1)  # small numbers: many ties
    matrix = upper + upper.T
    found = maximum_spanning_tree(matrix)
    edges = list(itertools.combinations(range(d), 2))

    def spans(chosen):
        return len(component(chosen)) == d

    def component(chosen):
        seen = {0}
        while grown := {b for a, b in [*chosen, *[(b, a) for a, b in chosen]] if a in seen} - seen:
            seen |= grown
        return seen

    best = max(
        sum(matrix[e] for e in chosen)
        for chosen in itertools.combinations(edges, d - 1)
        if spans(chosen)
    )
    assert spans(found) and len(found) == d - 1
    assert sum(matrix[e] for e in found) == best


@pytest.mark.parametrize("matrix", [np.zeros((4, 4)), np.full((4, 4), 0.3)])
def test_no_association_and_ties_go_by_index(matrix):
    assert maximum_spanning_tree(matrix) == ((0, 1), (0, 2), (0, 3))


@dataclass(frozen=True)
class Along(SpanningTree):
    """A spanning tree of a matrix that is given and not asked for."""

    matrix: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def sketch(self, curator, pairs, epsilon):
        return np.array([self.matrix[pair] for pair in pairs]), "public"


def grow_along(door, matrix, k):
    facts = Facts(door.schema, door.n, Q(1), "strict", Q(1))
    shares = {"associations": Q(0), "selections": Q(1)}
    found = Along(matrix=matrix).grow(door, shares, MaxParents(k), facts)
    return found.network, found.weights


def test_a_disconnected_graph_still_gives_a_network():
    matrix = np.zeros((4, 4))
    matrix[0, 1] = matrix[1, 0] = matrix[2, 3] = matrix[3, 2] = 1.0
    assert set(maximum_spanning_tree(matrix)) == {(0, 1), (2, 3), (0, 2)}
    door = curator_of([[0, 0, 1, 1], [1, 1, 0, 0]] * 10, (2, 2, 2, 2), ExactNoise(1))
    network, weights = grow_along(door, matrix, 1)
    assert len(network) == 4 and door.ledger.epsilon == 1
    assert sorted(weights.values()) == [0, 0, 1, 1]


def test_only_tree_neighbours_enter_and_their_neighbour_is_a_parent():
    rng = np.random.default_rng(3)
    for seed in range(10):
        upper = np.triu(rng.random((6, 6)), 1)
        matrix = upper + upper.T
        joined = {frozenset(e) for e in maximum_spanning_tree(matrix)}
        door = curator_of(rng.integers(0, 2, (40, 6)).tolist(), (2,) * 6, ExactNoise(seed))
        network, weights = grow_along(door, matrix, 2)
        names = list(door.schema.names)
        assert network.order[0] == names[int(matrix.sum(axis=1).argmax())]
        for child, parents in network.pairs[1:]:
            neighbours = {
                p for p in parents if frozenset((names.index(child), names.index(p))) in joined
            }
            assert len(neighbours) == 1
            assert weights[child] == pytest.approx(
                sum(matrix[names.index(child), names.index(p)] for p in parents)
            )
        assert len(network.pairs[-1][1]) == 2


@pytest.mark.parametrize(
    ("budget", "columns"),
    [
        (None, 4),
        (RiskEntropy(), 5),
        (
            Groups(personal=SensitivityGroups(groups={"A": ["b1"], "B": ["b0", "b2", "b3", "b4"]})),
            5,
        ),
    ],
)
def test_a_search_that_leaves_out_columns_measures_them_where_the_budget_needs_them(
    budget, columns
):
    """Its only edge is drawn by policy, so that b4 stands in no pair that it searches."""
    frame, schema = binary(5, 200)
    search = GeneticSearch(k=1, restriction=Restriction("b0", "b4"), search="exact")
    fitted = Synthesizer(5, structure=search, budget=budget).fit(frame, schema)
    steps = [e.step for e in fitted.ledger_.entries]
    assert sum(step.startswith("column(") for step in steps) == columns
    assert fitted.ledger_.epsilon == 5 and not fitted.ledger_.check()


def test_an_order_by_entropies_comes_from_the_columns_and_not_from_what_was_asked_since():
    frame, schema = binary(5, 200)
    mixed = Synthesizer(5, structure=Ordered(k=1, by="entropy"), budget=Groups(sensitive="b0"))
    entries = {e.id: e.step for e in mixed.fit(frame, schema).ledger_.entries}
    chosen = [e for e in mixed.ledger_.entries if e.mechanism == "exponential"]
    assert chosen and {entries[e.candidates].split("(")[0] for e in chosen} == {"column"}
    asked = any(step.startswith("groups by association") for step in entries.values())
    assert asked, "what came last before the order"


# --- the ratio q


def test_budgets_in_the_ratio_q_by_hand():
    frame, schema = binary(4, 100)
    drawn = Network((("b0", ()), ("b1", ()), ("b2", ()), ("b3", ())))
    shares = [
        e.epsilon
        for e in Synthesizer(15, structure=drawn, budget=Geometric(2))
        .fit(frame, schema)
        .ledger_.entries
    ]
    assert shares == [1, 2, 4, 8]
    halves = geometric(list("abc"), Q(1, 2), 2)  # {a, b} share 1, {c} has 1/2: all the same
    assert set(halves.values()) == {Q(1)}


@given(st.integers(1, 60), st.fractions(Q(1, 3), Q(3)), st.none() | st.integers(1, 5))
def test_ratio_of_neighbouring_classes(tables, q, classes):
    weights = geometric([str(i) for i in range(tables)], q, classes)
    values = [float(w) for w in weights.values()]
    size = 1 if classes is None else math.ceil(tables / classes)
    totals = [sum(values[i : i + size]) for i in range(0, tables, size)]
    for a, b in itertools.pairwise(totals):
        if min(a, b) > 1e-3 * max(totals):
            assert b / a == pytest.approx(float(q), rel=0.01)
    assert all(w > 0 for w in weights.values())


def test_scales_say_which_entry_their_ranks_come_from():
    frame, schema = binary(4, 200)
    for structure, named in (
        (Greedy(k=1), True),
        (SpanningTree(k=1), True),
        (Network(tuple((n, ()) for n in schema.names)), False),
    ):
        entries = (
            Synthesizer(2, structure=structure, budget=Geometric(2))
            .fit(frame, schema)
            .ledger_.entries
        )
        assert all(
            bool(e.scale_depends_on) is named for e in entries if e.step.startswith("table(")
        )


def test_q_above_one_gives_the_strongest_table_least():
    frame, schema = mixed(500)
    for q, order in ((1.5, 1), (1 / 1.5, -1)):
        fitted = PPBA(50, q=q, k=1, random_state=1).fit(frame, schema)
        budget = {
            e.attributes[0]: float(e.epsilon)
            for e in fitted.ledger_.entries
            if e.step.startswith("table(")
        }
        ranked = sorted(budget, key=lambda name: -fitted.learnt_.weights[name])
        assert order * np.diff([budget[name] for name in ranked]).min() > 0


# --- what the published readings cost


class Reversed(Ordered):
    """The weakest first."""

    def rank(self, strength):
        return super().rank(strength)[::-1]


def test_a_subclass_of_a_part_keeps_what_it_overrides_where_its_paper_prints_another():
    """Through the bases of its class; a part that isn't in the registry stays itself."""
    frame, schema = binary(4, 200)
    for guarantee in ("published", "none"):
        plain, turned = (
            Synthesizer(1, structure=part(k=1), guarantee=guarantee).fit(frame, schema)
            for part in (Ordered, Reversed)
        )
        assert turned.order_ == plain.order_[::-1] != plain.order_
        printed = print_part(Reversed(k=1), guarantee)
        assert isinstance(printed, PrintedOrdered) and print_part(printed, guarantee) is printed
    for part in (Fixed(), JointCounts(), AsMeasured()):
        assert print_part(part, "published") is part


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_sum_of_k_terms_costs_k_times_the_claim(k):
    """Binary columns: every pair has the sensitivity of the largest, so the overrun is exactly the
    number of parents."""
    door = curator_of([[0] * 5, [1] * 5] * 20, (2,) * 5, ExactNoise(1), Q(4), "published")
    facts = Facts(door.schema, door.n, Q(4), "published", Q(4))
    shares = {"associations": Q(0), "selections": Q(4)}
    PrintedSums(k).grow(door, shares, MaxParents(k), facts)
    drawn = [e for e in door.ledger.entries if e.kind == "mechanism"]
    assert [e.cost / e.claimed for e in drawn] == [min(k, i) for i in range(1, 5)]
    assert [e.source for e in door.ledger.unaccounted] == ["ELPrivBayes: mutual information matrix"]


@pytest.mark.parametrize(
    ("made", "raw"),
    [
        (PPBA(k=1), {"associations"}),
        (baselines.ELPrivBayes(k=1), {"pairwise associations"}),
        (baselines.SAPrivBayes(k=2), {"pairwise associations"}),
        (baselines.WeightedPrivBayes(k=1), {"order by entropy"}),
        (baselines.CSAPrivBayes(k=1, sensitive="b1"), {"groups by association with b1"}),
    ],
)
def test_published_relatives_say_what_they_read_raw(made, raw):
    frame, schema = binary(5, 200)
    ledger = made.clone().set_params(guarantee="published").fit(frame, schema).ledger_
    assert {e.step for e in ledger.unaccounted} == raw and ledger.epsilon == math.inf
    assert made.clone().fit(frame, schema).ledger_.epsilon == 1


def test_twin_raw_associations_decide_the_network():
    """Fixing one record turns the strongest pair, and with it the tree: an outcome of one neighbour
    is impossible for the other."""
    rows = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 4
    tied = rows + [[0, 0, 0], [1, 1, 1]] * 10
    seen = []
    for last in ([0, 0, 1], [0, 1, 1]):
        fit = Synthesizer(1, structure=SpanningTree(k=1), guarantee="published", random_state=1)
        frame, schema = binary(3, len(tied) + 1)
        codes = np.array([*tied, last], dtype=np.uint8)
        fit.fit(schema.decode(codes), schema)
        seen.append({frozenset((c, p[0])) for c, p in fit.network_.pairs if p})
    assert seen[0] != seen[1]


def test_bad_parts_are_refused():
    frame, schema = binary(4, 50)
    for part, words in (
        (Restriction("b0", "b9"), "b9"),
        (Restriction(forced=(("b0", "b2"), ("b1", "b2"))), "forces 2"),
    ):
        with pytest.raises((SchemaError, BudgetError), match=words):
            Synthesizer(structure=SpanningTree(k=1, restriction=part)).fit(frame, schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (
            Synthesizer(structure=SpanningTree(k=1), budget=Geometric(3))
            .fit(*binary(2, 10))
            .ledger_.epsilon
            == 1
        )


@pytest.mark.parametrize("q", [Q(1, 2), Q(1), Q(5)])
def test_one_table_gets_all_of_epsilon(q):
    assert geometric(["x"], q) == geometric(["x"], q, 3) == {"x": 1}


@pytest.mark.parametrize("structure", ["greedy", "association", "sums", "tree"])
def test_one_attribute_is_no_network_and_is_refused_with_a_reason(structure):
    schema = Schema((Attribute.categorical("x", range(3)),))
    mixture = Synthesizer(
        1, structure=replace(STRUCTURES[structure], k="auto"), budget=Geometric(2)
    )
    with pytest.raises(SchemaError, match="at least 2 are needed"):
        mixture.fit(pd.DataFrame({"x": [0, 1, 1, 2] * 20}), schema)
    assert not hasattr(mixture, "ledger_")


@pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
@pytest.mark.parametrize("rows", [1, 300])
def test_a_constant_table_has_no_association_and_is_fitted_all_the_same(guarantee, rows):
    """All weights are zero: the tree goes by index, the ranks by sampling order, and with noise
    nothing changes for the ledger."""
    _, schema = binary(4, 10)
    constant = schema.decode(np.zeros((rows, 4), dtype=np.uint8))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = PPBA(1, k=1, q=1.5, guarantee=guarantee).fit(constant, schema)
    assert sorted(fitted.network_.order) == sorted(schema.names) and len(fitted.network_.edges) == 3
    if guarantee == "strict":
        assert fitted.ledger_.epsilon == 1 and fitted.ledger_.check() == []
    else:
        assert (
            fitted.network_.edges == (("b0", "b1"), ("b0", "b2"), ("b0", "b3"))
            or guarantee == "published"
        )


@pytest.mark.parametrize(
    ("name", "words", "options"),
    [
        ("HPPrivBayes", "all attributes were to have more noise", {"epsilon": 2}),
        ("HMPrivBayes", "too noisy to cluster", {"epsilon": 0.01, "clusters": None, "k": 2}),
        ("GeneticBayes", "many edges will be chance", {"epsilon": 0.01, "k": 2}),
    ],
)
def test_a_warning_of_a_fit_names_the_line_that_fitted(name, words, options):
    """And not sys:1, as where its stack level goes beyond the stack."""
    frame, schema = mixed()
    with pytest.warns(UserWarning, match=words) as told:
        make(name, schema, random_state=0, **options).fit(frame, schema)
    places = {one.filename for one in told if re.search(words, str(one.message))}
    assert places == {__file__}
