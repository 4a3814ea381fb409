"""Independent, JTree and PriView: exact ledgers, exact answers without noise, what is printed and
what it truly costs, bad input."""

import itertools
import math
from fractions import Fraction as Q
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from contract_cases import binary, mixed, spending, total
from privacy_tools import curator_of, records_of, schema_of

from pdsynth import Attribute, BudgetError, PrivacyError, Schema, SchemaError
from pdsynth.baselines.priview import PriView
from pdsynth.baselines.relatives import Independent, JTree
from pdsynth.core.factors import marginalise as margin
from pdsynth.core.model import conditional
from pdsynth.core.noise import ExactNoise
from pdsynth.evaluation.compare import compare
from pdsynth.evaluation.queries import query_errors
from pdsynth.published.doors import raw_door
from pdsynth.published.noise import NoNoise

JOINED = {
    "phi": 0,
    "theta_usefulness": 0.001,
}  # every pair is an edge, every clique is small enough


def joint(model) -> np.ndarray:
    """The distribution that a model samples from, over all its attributes in the order of its
    schema."""
    names = model.domain.names
    p = np.ones([a.size for a in model.domain.attributes])
    for (child, parents), table in zip(model.network.pairs, model.tables, strict=True):
        axes = [names.index(a) for a in (child, *parents)]
        wide = conditional(table).reshape(table.shape).transpose(np.argsort(axes))
        p = p * wide.reshape([n if i in axes else 1 for i, n in enumerate(p.shape)])
    return p


def raw(frame, schema) -> np.ndarray:
    """Counts over all attributes."""
    codes = schema.encode(frame).astype(int)
    return np.bincount(
        np.ravel_multi_index(codes.T, schema.sizes), minlength=math.prod(schema.sizes)
    ).reshape(schema.sizes)


class TestIndependent:
    @pytest.mark.parametrize("guarantee", ["strict", "published"])
    def test_d_histograms_at_2d_over_epsilon(self, guarantee):
        frame, schema = mixed()
        fitted = Independent(0.7, guarantee=guarantee).fit(frame, schema)
        assert [(e.scale, e.epsilon, e.claimed) for e in fitted.ledger_.entries] == [
            (16 / Q(7, 10), Q(7, 80), Q(7, 80))
        ] * 8
        assert fitted.ledger_.epsilon == total(fitted.ledger_) == Q(7, 10)
        assert fitted.ledger_.check() == []
        assert fitted.network_.edges == ()

    def test_without_noise_the_tables_are_the_histograms(self):
        frame, schema = mixed()
        fitted = Independent(guarantee="none").fit(frame, schema)
        whole = raw(frame, schema)
        for j, table in enumerate(fitted.model_.tables):
            assert np.array_equal(table, whole.sum(axis=tuple(i for i in range(8) if i != j)))


class TestJTree:
    def test_who_pays_for_what(self):
        frame, schema = binary(5, 400)
        fitted = JTree(Q(3, 2), share_structure=0.4, **JOINED).fit(frame, schema)
        sketch, *tables = fitted.ledger_.entries
        cliques = len(fitted.tree_.cliques)
        assert (sketch.sensitivity, sketch.epsilon) == (
            10 * 4 * 399,
            Q(6, 10),
        )  # ten pairs of two-valued attributes
        assert [(e.scale, e.epsilon, e.attributes) for e in tables] == [
            (2 * cliques / Q(9, 10), Q(9, 10) / cliques, tuple(schema.names[j] for j in c))
            for c in fitted.tree_.cliques
        ]
        assert total(fitted.ledger_) == fitted.ledger_.epsilon == Q(3, 2)

    @pytest.mark.parametrize("phi", [0, 0.05, 0.2, 0.6])
    def test_edges_are_the_pairs_above_the_threshold(self, phi):
        frame, schema = mixed(n=300)
        fitted = JTree(guarantee="none", phi=phi, theta_usefulness=1e-6).fit(frame, schema)
        whole, expected = raw(frame, schema), set()
        for i, j in itertools.combinations(range(8), 2):
            p = margin(whole, tuple(range(8)), (i, j)) / 300
            r = np.abs(p - np.outer(p.sum(1), p.sum(0))).sum() / 2
            least = 0.376 * phi * math.sqrt(min(p.shape) - 1)
            expected |= {(schema.names[i], schema.names[j])} if r >= least else set()
        assert {tuple(sorted(e, key=schema.names.index)) for e in fitted.edges_} == expected

    @pytest.mark.parametrize(
        ("table", "params"),
        [
            (binary, JOINED),
            (binary, {"theta_usefulness": 0.01}),
            (mixed, {"theta_usefulness": 0.01}),
        ],
    )
    def test_at_a_million_strict_is_none(self, table, params):
        frame, schema = table(n=600)
        strict, none = (
            JTree(10**6, guarantee=g, random_state=1, **params).fit(frame, schema)
            for g in ("strict", "none")
        )
        assert strict.edges_ == none.edges_
        assert strict.network_ == none.network_
        for a, b in zip(strict.model_.tables, none.model_.tables, strict=True):
            assert np.array_equal(a, b)

    def test_without_noise_cliques_keep_their_margins_and_are_independent_given_separators(
        self,
    ):
        frame, schema = binary(6, 500)
        fitted = JTree(guarantee="none", phi=0.7, theta_usefulness=1e-3).fit(frame, schema)
        tree, every = fitted.tree_, tuple(range(6))
        assert 1 < len(tree.cliques) < 6
        whole, p = raw(frame, schema) / 500, joint(fitted.model_)
        product = np.ones(p.shape)
        for members, sign in [*((c, 1) for c in tree.cliques), *((s, -1) for s in tree.separators)]:
            assert np.allclose(margin(p, every, members), margin(whole, every, members))
            wide = margin(whole, every, members).reshape([2 if j in members else 1 for j in every])
            product = (
                product * np.where(wide > 0, wide, 1) ** sign * ((wide > 0) if sign > 0 else 1)
            )
        assert np.allclose(p, product)

    def test_a_noisy_release_agrees_on_separators(self):
        """Clipping comes after agreeing,
        so only where no cell was negative is the agreement exact.
        """
        frame, schema = binary(6, 200_000)
        fitted = JTree(2.0, phi=0.35, random_state=2).fit(frame, schema)
        by_child = {
            pair[0]: (pair, t)
            for pair, t in zip(fitted.network_.pairs, fitted.model_.tables, strict=True)
        }
        for child, parents in fitted.network_.pairs:
            for other, above in fitted.network_.pairs:
                shared = [a for a in (child, *parents) if a in (other, *above)]
                one, two = (
                    margin(by_child[c][1], (c, *p), tuple(shared))
                    for c, p in ((child, parents), (other, above))
                )
                assert np.abs(one - two).max() <= 2**6, "rounding to 2^-20 record"

    def test_the_bound_is_public_and_kept(self):
        frame, schema = mixed(n=400)
        fitted = JTree(2.0, phi=0).fit(frame, schema)
        assert fitted.cell_bound_ == math.floor(Q(400) * 1 / (2 * 8 * 4))
        assert all(
            len(c) == 1 or math.prod(schema.sizes[j] for j in c) <= fitted.cell_bound_
            for c in fitted.tree_.cliques
        )

    def test_too_large_pairs_are_not_asked_for(self):
        frame, schema = mixed(n=400)
        fitted = JTree(1.6, phi=0).fit(
            frame, schema
        )  # at most five cells: pairs of two-valued attributes only
        assert fitted.cell_bound_ == 5
        assert fitted.ledger_.entries[0].released == "1 values of K"
        assert fitted.ledger_.epsilon == Q(16, 10)

    @pytest.mark.parametrize("guarantee", ["strict", "published"])
    def test_nothing_is_spent_on_a_graph_that_isn_t_there(self, guarantee):
        frame, schema = binary(4, 30)
        ledger = JTree(0.1, guarantee=guarantee).fit(frame, schema).ledger_
        law = "zero_sum_laplace" if guarantee == "strict" else "discrete_laplace"
        assert [(e.mechanism, e.scale) for e in ledger.entries] == [(law, 8 / Q(1, 10))] * 4
        assert ledger.epsilon == Q(1, 10)

    @pytest.mark.parametrize(
        ("params", "cliques"), [(JOINED, 1), ({"phi": 1, "theta_usefulness": 0.001}, 5)]
    )
    def test_one_clique_and_no_edge(self, params, cliques):
        frame, schema = binary(5, 300)
        if cliques > 1:  # independent columns
            rng = np.random.default_rng(1)
            frame = frame.apply(lambda column: rng.permutation(column))
        fitted = JTree(50, random_state=1, **params).fit(frame, schema)
        assert len(fitted.tree_.cliques) == cliques
        assert fitted.ledger_.epsilon == 50
        exact = JTree(guarantee="none", **params).fit(frame, schema)
        whole = raw(frame, schema) / 300
        if cliques == 1:
            assert np.allclose(joint(exact.model_), whole)
        else:
            ones = [margin(whole, tuple(range(5)), (j,)) for j in range(5)]
            assert np.allclose(joint(exact.model_), np.einsum("a,b,c,d,e->abcde", *ones))

    def test_published_claims_epsilon_and_has_no_finite_one(self):
        frame, schema = binary(5, 400)
        fitted = JTree(1.0, guarantee="published", **JOINED).fit(frame, schema)
        test, *tables = fitted.ledger_.entries
        assert (test.kind, test.mechanism, test.claimed, test.epsilon) == (
            "unaccounted_access",
            "sparse_vector",
            Q(1, 2),
            math.inf,
        )
        assert "Algorithm 6 in Lyu, Su, Li" in test.source
        assert "10/2 times" in test.why
        assert fitted.ledger_.epsilon == math.inf
        assert fitted.ledger_.finite == sum(e.epsilon for e in tables) == Q(1, 2)
        assert sum(e.claimed for e in fitted.ledger_.entries) == 1

    def test_published_edges_are_the_paper_s_when_the_noise_is_small(self):
        frame, schema = mixed(n=2000)
        fitted = JTree(10**6, guarantee="published", phi=0.2, theta_usefulness=1e-6).fit(
            frame, schema
        )
        whole, expected = raw(frame, schema) / 2000, set()
        for i, j in itertools.combinations(range(8), 2):
            p = margin(whole, tuple(range(8)), (i, j))
            q = np.outer(p.sum(1), p.sum(0))
            nats = (p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum()
            expected |= (
                {(schema.names[i], schema.names[j])}
                if nats >= 0.5 * (min(p.shape) - 1) * 0.04
                else set()
            )
        assert set(fitted.edges_) == expected
        assert expected


class TestThresholds:
    """The test without a cutoff: harmless for one pair, worse with each further pair."""

    def test_is_refused_under_strict_before_anything_is_read(self, monkeypatch):
        curator = curator_of([[0, 0], [1, 1]], (2, 2), ExactNoise(1))
        monkeypatch.setattr(type(curator), "_pairwise", lambda *a: pytest.fail("read"))
        assert not hasattr(curator, "sparse_vector_test")
        with pytest.raises(PrivacyError, match="a strict door doesn't hand out"):
            raw_door(curator)

    def test_raw_comparisons(self):
        rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]]
        curator = curator_of(rows, (2, 2, 2), NoNoise(), guarantee="none")
        passed = curator.sparse_vector_test(
            [(0, 1), (0, 2), (1, 2)], [1.0, 0.0, 0.01], Q(1), step="test", source="line 1", why=""
        )
        assert passed.tolist() == [True, True, False]

    @staticmethod
    def worst_loss(pairs: int, epsilon: float = 1.0) -> float:
        """ln P(⊤…⊤⊥…⊥ | D)/P(same | D'), every value one Δ lower or higher in D': half of them each
        way; by integration over ρ."""
        b = 2 / epsilon  # in units of Δ, for the threshold and for every value
        rho = np.linspace(-80, 80, 160_001)

        def above(x):  # P(ν ≥ x)
            return np.where(x > 0, 0.5 * np.exp(-np.abs(x) / b), 1 - 0.5 * np.exp(-np.abs(x) / b))

        def probability(up, down):
            return float(
                (
                    np.exp(-np.abs(rho) / b)
                    * above(rho - up) ** pairs
                    * (1 - above(rho - down)) ** pairs
                ).sum()
            )

        return math.log(probability(1, 0) / probability(0, 1))

    def test_twin_the_claim_breaks_with_the_number_of_pairs(self):
        losses = [self.worst_loss(m) for m in (1, 5, 20, 80)]
        assert losses[0] < 1 < losses[1] < losses[2] < losses[3]
        assert losses[3] > 10
        assert all(loss <= 2 * m / 2 for m, loss in zip((1, 5, 20, 80), losses, strict=True)), (
            "2m tests one by one: 2m·ε/2"
        )


class TestPriView:
    def test_strict_pays_twice_per_view_what_is_printed(self):
        frame, schema = binary(10, 400)
        strict, printed = (
            PriView(0.7, t=2, guarantee=g).fit(frame, schema) for g in ("strict", "published")
        )
        w = len(strict.views_)
        assert w == len(printed.views_) > 1
        assert {
            (e.sensitivity, e.scale, e.epsilon, e.relation) for e in strict.ledger_.entries
        } == {(2, 2 * w / Q(7, 10), Q(7, 10) / w, "replace_one")}
        assert {
            (e.sensitivity, e.scale, e.epsilon, e.claimed, e.relation)
            for e in printed.ledger_.entries
        } == {(1, w / Q(7, 10), Q(7, 10) / w, Q(7, 10) / w, "add_remove")}
        assert strict.ledger_.epsilon == total(strict.ledger_) == Q(7, 10)
        assert strict.ledger_.check() == []
        assert printed.ledger_.epsilon == Q(14, 10)
        assert [v[:2] for v in printed.ledger_.check()] == ["L8"]
        assert not printed.model_.private

    def test_views_cover_the_bits(self):
        frame, schema = mixed()
        fitted = PriView(t=2).fit(frame, schema)
        bits = fitted.model_.domain.names
        assert len(bits) == 14
        assert all(
            any({*pair} <= {*view} for view in fitted.views_)
            for pair in itertools.combinations(bits, 2)
        )

    def test_one_view_answers_everything_exactly_without_noise(self):
        frame, schema = binary(5, 300)
        fitted = PriView(guarantee="none").fit(frame, schema)
        assert len(fitted.views_) == 1
        whole = raw(frame, schema)
        for r in range(1, 6):
            for names in itertools.permutations(schema.names, r):
                columns = tuple(schema.index(n) for n in names)
                assert np.allclose(fitted.marginal(names), margin(whole, tuple(range(5)), columns))

    def test_without_noise_what_a_view_holds_is_exact_and_the_rest_has_the_right_margins(self):
        frame, schema = binary(10, 500)
        fitted = PriView(guarantee="none", size=4, t=2).fit(frame, schema)
        whole, every = raw(frame, schema), tuple(range(10))
        for names in itertools.combinations(schema.names, 2):
            assert np.allclose(
                fitted.marginal(names), margin(whole, every, tuple(map(schema.index, names)))
            )
        query = schema.names[:6]
        answer = fitted.marginal(query)
        assert answer.sum() == pytest.approx(500)
        assert answer.min() >= 0
        for pair in itertools.combinations(range(6), 2):
            assert np.allclose(
                margin(answer, tuple(range(6)), pair),
                margin(whole, every, pair),
                atol=0.05,
            )

    def test_answers_on_values_leave_out_codes_that_nobody_declares(self):
        frame, schema = mixed()
        fitted = PriView(2.0, random_state=1).fit(frame, schema)
        answer = fitted.marginal(["wage", "city"])
        assert answer.shape == (3, 3)
        assert answer.sum() == pytest.approx(80)
        assert np.allclose(fitted.marginal(["city", "wage"]), answer.T)
        assert np.array_equal(
            fitted.marginal("wage"), fitted.marginal(["wage"])
        )  # a name is not a list of letters
        codes = schema.encode(frame).astype(int)
        exact = PriView(guarantee="none").fit(frame, schema).marginal(["wage"])
        assert np.allclose(exact, np.bincount(codes[:, 1], minlength=3))

    def test_noisy_views_agree_apart_from_the_last_clipping(self):
        frame, schema = binary(12, 200_000)
        fitted = PriView(2.0, t=2, random_state=1).fit(frame, schema)
        names = fitted.model_.domain.names
        for (va, a), (vb, b) in itertools.combinations(fitted._tables.items(), 2):
            shared = tuple(sorted(set(va) & set(vb)))
            assert np.abs(margin(a, va, shared) - margin(b, vb, shared)).max() < 0.02 * 200_000 / 4
        assert len(names) == 12

    @pytest.mark.parametrize(
        ("n", "epsilon", "d", "t"), [(2000, 0.01, 10, 2), (10**7, 1.0, 10, 3), (10**5, 1.0, 40, 2)]
    )
    def test_auto_t_by_public_facts(self, n, epsilon, d, t):
        priview = PriView(epsilon)
        facts = priview.prepare(schema_of((2,) * d), n).facts
        assert priview._parts(facts).structure.design(facts)[0] == t

    @pytest.mark.parametrize(
        "params", [{"epsilon": 0.0001}, {"epsilon": 0.01, "t": 3}, {"epsilon": 10**6}]
    )
    def test_tables_of_zeros_constants_and_two_columns(self, params):
        for d in (2, 10):
            frame, schema = binary(d, 50)
            for odd in (frame.assign(**dict.fromkeys(frame.columns, "no")), frame.assign(b1="yes")):
                fitted = PriView(random_state=1, **({"t": min(d, 2)} | params)).fit(odd, schema)
                assert np.isfinite(fitted.marginal(schema.names[:2])).all()
                assert fitted.marginal(schema.names[:2]).sum() == pytest.approx(50)
        assert fitted.sample(30).shape == (30, 10)

    def test_bad_questions(self):
        frame, schema = mixed()
        with pytest.raises(BudgetError, match="not fitted yet"):
            PriView().marginal(["age"])
        fitted = PriView().fit(frame, schema)
        for names in ([], ["age", "age"]):
            with pytest.raises(SchemaError, match="different attributes"):
                fitted.marginal(names)
        with pytest.raises(SchemaError, match="no attribute 'job'"):
            fitted.marginal(["job"])
        wide = Schema(tuple(Attribute.categorical(f"x{j}", range(500)) for j in range(3)))
        table = pd.DataFrame({n: range(20) for n in wide.names})
        with pytest.raises(BudgetError, match=r"2\^27 = 134,217,728 cells"):
            PriView().fit(table, wide).marginal(wide.names)

    def test_a_design_too_large_is_refused_with_its_size_before_anything_is_spent(
        self, monkeypatch
    ):
        schema = schema_of((2,) * 130)
        records = records_of(np.zeros((5, 130)), (2,) * 130)
        with (
            spending(monkeypatch) as seen,
            pytest.raises(BudgetError, match=r"357,760 sets.*use t = 2"),
        ):
            PriView(t=3).fit(records)
        assert seen == []
        assert len(schema) == 130


@pytest.mark.parametrize("cls", [Independent, JTree, PriView])
@pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
class TestStrangeTables:
    def test_two_columns_constants_and_zeros(self, cls, guarantee):
        for frame, schema in (binary(2, 40), mixed()):
            for odd in (
                frame,
                frame.assign(**{n: [frame[n].iloc[0]] * len(frame) for n in schema.names}),
            ):
                fitted = cls(5.0, guarantee=guarantee, random_state=1).fit(
                    odd.astype(frame.dtypes.to_dict()), schema
                )
                schema.encode(fitted.sample(20))

    def test_many_values(self, cls, guarantee):
        schema = Schema(tuple(Attribute.categorical(f"x{j}", range(3000)) for j in range(3)))
        frame = pd.DataFrame({n: range(0, 3000, 100) for n in schema.names})
        fitted = cls(1.0, guarantee=guarantee).fit(frame, schema)
        assert len(fitted.sample(10)) == 10
        assert max(t.size for t in fitted.model_.tables) <= 2**20


class TestEvaluation:
    def test_query_errors_of_answers(self):
        frame, schema = binary(4, 100)

        class Liar:
            """Answers every question with the uniform distribution, in counts of its own."""

            def marginal(self, names):
                return np.full((2,) * len(names), 7.0)

        whole = raw(frame, schema) / 100
        l1 = np.mean(
            [
                np.abs(margin(whole, (0, 1, 2, 3), s) - 0.25).sum()
                for s in itertools.combinations(range(4), 2)
            ]
        )
        assert query_errors(frame, Liar(), schema, 2).l1 == pytest.approx(l1)
        exact = query_errors(frame, PriView(guarantee="none").fit(frame, schema), schema, 3)
        assert exact == (pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12), 4)

    def test_a_column_called_marginal_is_no_method(self):
        schema = Schema(
            (Attribute.categorical("marginal", ["a", "b"]), Attribute.categorical("x", ["a", "b"]))
        )
        frame = pd.DataFrame({"marginal": ["a", "b"], "x": ["a", "b"]})
        assert query_errors(frame, frame, schema, 2).l1 == 0

    def test_compare_judges_priview_by_its_answers(self):
        frame, schema = binary(10, 300)
        data = SimpleNamespace(frame=frame, schema=schema, target="b0", name="bits", split=None)
        found = compare(
            [PriView(guarantee="none", t=2), Independent()],
            data,
            [1.0],
            1,
            ["l1_2", "avd2"],
            jobs=1,
        )
        rows = {(r.method, r.measure): r for r in found.itertuples()}
        assert rows["PriView", "l1_2"].value == pytest.approx(0, abs=1e-9)
        assert rows["PriView", "avd2"].value > 0.01, "its table is an extension, and worse"
        assert "answered without a table" in rows["PriView", "l1_2"].note
        assert "answered" not in rows["Independent", "l1_2"].note
