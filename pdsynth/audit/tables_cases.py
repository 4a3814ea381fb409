"""Cases of noisy tables: what papers and public code say about noise on counts, conditionals, rows, groups and clusters."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as Q
from functools import cache
from typing import Any

import numpy as np

from ..budgets import Groups as TwoGroups
from ..budgets import SensitivityGroups, TableBudget, tight_scales, uniform
from ..conditionals import noisy_tables
from ..measures import GRID, mutual_information
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.mechanisms import Noise, laplace_mechanism
from ..structure.covering import covering_design
from ..synthesizers.hmprivbayes import table_budgets
from ..synthesizers.parts import RiskEntropy, StructureResult
from ..synthesizers.privabn import printed_scale
from .case import Case, Release, Sampled, ScaleTest, sound, times
from .estimator import quantise
from .tables import Pair, one_step_pair, zeros_to_ones

NLTCS, NLTCS_BITS = 21_574, 16  # records and attributes of PrivABN's first table
THESIS = 27_504  # records of the thesis' table


def alone(d: int) -> Network:
    """A public network without edges: one table an attribute."""
    return Network(tuple((f"x{j}", ()) for j in range(d)))


def star(d: int) -> Network:
    """A public network in which x0 is the only parent of all others."""
    return Network((("x0", ()), *((f"x{j}", ("x0",)) for j in range(1, d))))


def every(door: Curator, budget: TableBudget) -> dict[str, TableBudget]:
    """The same noise for all attributes."""
    return dict.fromkeys(door.schema.names, budget)


# --- noise on conditionals (PrivABN) -----------------------------------------------------------------------------------------


def lone_record() -> Pair:
    """One record alone in the parent configuration x0 = 1; it changes its x1."""
    return one_step_pair(NLTCS, (1, 1), (1, 0), (2, 2), "the only record with x0 = 1 changes from x1 = 1 to x1 = 0")


def printed_conditional(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """One noisy column of Algorithm 4 as PrivABN would release it among 16: (…, 2, 2) in steps of 2^-30.

    **Privacy:** none worth the name, as the case shows.
    """
    scale = printed_scale(NLTCS_BITS, door.n, epsilon / 2)
    return door.conditionals((1, 0), scale, step="conditional(x1 | x0)", source="PrivABN Alg 4 line 5", claimed=epsilon / 2 / NLTCS_BITS)[1]


def chance_of_one(column: np.ndarray) -> np.ndarray:
    """P*[x = 1] of noisy weights (…, 2) after clipping and normalising, in 2^-20."""
    kept = np.maximum(column, 0).astype(float)
    whole = kept.sum(axis=-1)
    return quantise(np.where(whole > 0, kept[..., 1] / np.where(whole > 0, whole, 1), 0.5), 2.0**-20)


def synthetic_rows(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """PrivABN's synthetic table of two attributes, by its cell counts: (…, 2) numbers of rows (1, 0) and (1, 1).

    **Privacy:** post-processing of what Algorithm 4 releases, which is hardly private.
    """
    scale = printed_scale(NLTCS_BITS, door.n, epsilon / 2)
    root = door.conditionals((0,), scale, step="conditional(x0)", source="PrivABN Alg 4 line 5", claimed=epsilon / 2 / NLTCS_BITS)[1]
    return sampled(root[..., 0], printed_conditional(door, noise, epsilon)[..., 1], door.n, noise)


def strict_rows(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """The same rows from the joint counts of the strict form.

    **Privacy:** ε, and sampling is post-processing.
    """
    root, joint = chain_of_two(door, noise, epsilon)
    return sampled(root, joint[..., 1], door.n, noise)


def sampled(root: np.ndarray, column: np.ndarray, n: int, noise: Noise) -> np.ndarray:
    """N synthetic rows from noisy weights of x0 and of x1 given x0 = 1, both (…, 2): how many are (1, 0) and (1, 1)."""
    rng = noise.child("synthetic rows").generator()
    ones = rng.binomial(n, chance_of_one(root) / 2**20)
    both = rng.binomial(ones, chance_of_one(column) / 2**20)
    return np.stack([ones - both, both], axis=-1)


def lopsided(released: np.ndarray, pair: Pair) -> np.ndarray:
    """(#11 − #10)/√#1., in quarters: in how many standard deviations the synthetic rows with x0 = 1 prefer x1 = 1."""
    ten, eleven = released[..., 0], released[..., 1]
    return quantise((eleven - ten) / np.sqrt(np.maximum(ten + eleven, 1)), 0.25)


def chain_of_two(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """The strict form: joint counts of x0, and of x1 with x0, that share ε.

    **Privacy:** ε.
    """
    return noisy_tables(door, star(2), every(door, uniform(2, epsilon)))


# --- too little noise on tables ------------------------------------------------------------------------------------------------


def one_way_tables(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """One table an attribute, that share ε.

    **Privacy:** ε.
    """
    return noisy_tables(door, alone(len(door.schema)), every(door, uniform(len(door.schema), epsilon)))


def reprinted_tables(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """Two of three tables with the noise of thesis Algorithm 2, which announces ε/2 and divides by ε; here ε/2 is the claim.

    **Privacy:** 2ε.
    """
    announced, used = uniform(2, epsilon), uniform(2, 2 * epsilon)
    budget = TableBudget(used.scale, announced.claimed, source="thesis Alg 2 line 4")
    return [door.table((0, j), budget.scale, step=f"table(x0, x{j})", source=budget.source, claimed=budget.claimed) for j in (1, 2)]


def double_spending(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """DataSynthesizer's correlated mode at k = 1: histograms with the whole ε, and tables with half of it, counted for one record more.

    **Privacy:** 2ε under replacing one record, ε under adding one, and ε/2 more for the network, which isn't drawn here.
    """
    d, source = len(door.schema), "DataSynthesizer@9072285: independent mode inside the correlated one"
    histograms = noisy_tables(door, alone(d), every(door, TableBudget(uniform(d, epsilon).scale, Q(0), source=source)))
    each = epsilon / 2 / (d - 1)
    tables = (door.table((j, 0), 1 / each, step=f"table(x{j} | x0)", source="DataSynthesizer@9072285: noise of tables", claimed=each,
                         relation="add_remove") for j in range(1, d))  # fmt: skip
    return [*histograms, *tables]


def one_more() -> Pair:
    """A record of ones is added to nine of zeros."""
    return Pair(np.zeros((9, 2), dtype=np.uint8), np.array([[0, 0]] * 9 + [[1, 1]], dtype=np.uint8), (2, 2), "a record of ones is added")


def views(relation: str) -> Release:
    """PriView's noisy views of 6 bits, 4 at a time, every two together."""
    design = covering_design(6, 4, 2)

    def release(door: Curator, noise: Noise, epsilon: Q) -> Any:
        scale = (1 if relation == "add_remove" else 2) * len(design) / epsilon
        return [door.table(view, scale, step=f"view {i + 1}", source="PriView, step 2", claimed=epsilon / len(design), relation=relation)
                for i, view in enumerate(design)]  # fmt: skip

    return release


# --- HPPrivBayes -----------------------------------------------------------------------------------------------------------------


def groups_of(a: int, b: int, rare_values: str = "less_noise", **more: Any) -> TwoGroups:
    """x0 … in group A, the next ``b`` attributes in group B."""
    names = [f"x{j}" for j in range(a + b)]
    return TwoGroups(r=1, **more, personal=SensitivityGroups(groups={"A": names[:a], "B": names[a:]}, rare_values=rare_values))


def printed_count(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """Group A's five tables of d = 14, with Algorithm 5's noise for d − k − l = 14 − 4 − 9 of them.

    **Privacy:** 5ε.
    """
    two = groups_of(5, 9, "same_noise")
    groups = two.policy(door.schema) or {}
    budget, _ = two.tables(door, alone(14), groups, dict.fromkeys(groups["B"], np.ones(2)), (epsilon, epsilon), 4)
    return noisy_tables(door, alone(5), budget)


SURVEY = (2, 4, 4, 2, 2, *[2] * 9)  # a rare attribute x0 and four that are its parents: 64 configurations


@cache
def rare_value() -> Pair:
    """x0 = 1 is seen once, then twice."""
    before = np.zeros((THESIS, len(SURVEY)), dtype=np.uint8)
    before[:, 1:] = np.arange(THESIS * (len(SURVEY) - 1)).reshape(THESIS, -1) % np.array(SURVEY[1:])
    before[-1, 0] = 1
    after = before.copy()
    after[-2, 0] = 1
    return Pair(before, after, SURVEY, "a value of x0 that one record has → two records have it")


def weighted_rows(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """x0's table among seven of group B, L3 = 0.6: (…, 2, 64 in four axes), with noise by raw value weights.

    **Privacy:** none: the weights set the noise scales.
    """
    two = TwoGroups(r=1 / 3, personal=SensitivityGroups(groups={"A": [f"x{j}" for j in range(1, 8)], "B": ["x0", *(f"x{j}" for j in range(8, 14))]}))
    groups = two.policy(door.schema) or {}
    histograms, _ = two.histograms(door, groups["B"], Q(0))
    network = Network((*((f"x{j}", ()) for j in range(1, 14)), ("x0", ("x1", "x2", "x3", "x4"))))
    budget = two.tables(door, network, groups, histograms, (epsilon / 5, 3 * epsilon / 5), 4)[0]["x0"]
    return door.table((0, 1, 2, 3, 4), budget.scale, step="table(x0 | x1 … x4)", source=budget.source, claimed=budget.claimed)


def tight_rows(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """One table whose values have the public weights 1 and 1/2, with tight scales.

    **Privacy:** ε: only the worst move of one record counts, here within the row of weight 1.
    """
    scales = tight_scales([Q(1), Q(1, 2)], epsilon, 3)
    return [door.table((0, 1), scales, step="table(x0 | x1)", source="algorithms §3.3.5", claimed=epsilon)]


def mass_ratio(released: np.ndarray, pair: Pair) -> np.ndarray:
    """Ln of the noisy mass of row x0 = 1 over that of row x0 = 0, in hundredths."""
    mass = np.maximum(released, 0).reshape(*released.shape[:-4], -1).sum(axis=-1)
    return quantise(np.log(np.maximum(mass[..., 1], 0.5) / np.maximum(mass[..., 0], 0.5)), 0.01)


def information_with_s(pair_of: np.ndarray) -> float:
    """I(x1; x0) in bits of columns (n, 2) of codes."""
    return mutual_information(np.bincount(pair_of[:, 0] * 2 + pair_of[:, 1], minlength=8).reshape(4, 2))


@cache
def across_theta() -> tuple[Pair, float]:
    """I(x1; S) on both sides of a θ, S = x0; x2 … x7 follow S and stay in A, x8 … x13 are constant and stay in B."""
    s = np.arange(THESIS) % 4
    before = np.zeros((THESIS, 14), dtype=np.uint8)
    before[:, 0] = s
    before[:, 1] = (np.arange(THESIS) % 40 < 4) & (s < 2)
    before[:, [2, 3, 6, 7]], before[:, [4, 5]] = s[:, None], s[:, None] // 2
    after = before.copy()
    after[int(np.flatnonzero((s == 3) & (before[:, 1] == 0))[0]), 1] = 1
    values = [information_with_s(t[:, :2].astype(np.int64)) for t in (before, after)]
    sizes = (4, 2, 4, 4, 2, 2, 4, 4, *[2] * 6)
    return Pair(before, after, sizes, "I(x1; x0) is just above θ → just below"), float(np.mean(values))


def split_table(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """x1's table with 64 parent configurations, with the noise of whatever group it falls into: (…, 2, 64); k = 4.

    **Privacy:** none: the group is decided by raw information.
    """
    two = TwoGroups(sensitive="x0", theta=across_theta()[1], r=1 / 3)
    groups, _, _ = two.split(door, Q(0))
    network = Network((*((f"x{j}", ()) for j in (0, *range(2, 14))), ("x1", ("x2", "x3", "x4", "x5"))))
    histograms, _ = two.histograms(door, groups["B"], Q(0))
    budget = two.tables(door, network, groups, histograms, (epsilon / 5, 3 * epsilon / 5), 4)[0]["x1"]
    return door.table((1, 2, 3, 4, 5), budget.scale, step="table(x1 | x2 … x5)", source=budget.source, claimed=budget.claimed)


def distance(released: np.ndarray, pair: Pair) -> np.ndarray:
    """Σ |noisy − true count| over x1's table: what the noise scale was."""
    truth = pair.records[0].table((1, 2, 3, 4, 5))
    return np.abs(released - truth).sum(axis=tuple(range(-truth.ndim, 0)))


def shared_row_noise(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """Group A's table of x0 with x1 as committed in the thesis' MATLAB code: one Laplace number is added to a whole row: (…, 2, 3).

    **Privacy:** none: differences of cells of a row have no noise at all.
    """
    counts = door.peek("row noise", "HPPrivBayes@540a366, grouped.m", (0, 1))
    scale = Q(2 * (14 - 4 - 7)) / epsilon
    return counts + laplace_mechanism(np.zeros((len(counts), 1), dtype=np.int64), scale, noise.child("rows"))


# --- HMPrivBayes -----------------------------------------------------------------------------------------------------------------


def similarities(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """DPSC's noisy mutual information of all d(d−1)/2 pairs of bits, in 2^-30 bit, with ε₁ · 2⌊d/2⌋/(d(d−1)) each.

    **Privacy:** ⌊d/2⌋ times ε₁.
    """
    d = len(door.schema)
    each = epsilon * 2 * (d // 2) / (d * (d - 1))
    matrix, _ = door.information_sketch(each, claimed=epsilon, step="DPSC", source="HMPrivBayes Alg 3")
    return [np.rint(matrix[..., *np.triu_indices(d, 1)] * GRID).astype(np.int64)]


def sketched_pairs(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """The strict form: noisy K of all pairs.

    **Privacy:** ε.
    """
    pairs = list(itertools.combinations(range(len(door.schema)), 2))
    values, _ = door.noisy_associations(pairs, epsilon, step="similarity of pairs", source="algorithms §4.4")
    return [np.rint(values * 2 * door.n**2).astype(np.int64)]


def clusters(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """One table an attribute, each attribute a cluster of its own that is given all of ε₃.

    **Privacy:** as many times ε₃ as there are clusters.
    """
    names, source = door.schema.names, "HMPrivBayes §4.2: parallel composition over attribute sets"
    doors = door.parallel("clusters", source, [f"columns:C{i}" for i in range(len(names))])
    return [t for one, name in zip(doors, names, strict=True)
            for t in noisy_tables(one, Network(((name, ()),)), table_budgets({name: 0.5}, epsilon, "none"))]  # fmt: skip


def first_deviates() -> Pair:
    """Three constant attributes; one record deviates in the first."""
    return one_step_pair(9, (0, 0, 0), (1, 0, 0), (2, 2, 2), "x0 is constant → one record deviates")


def risk_entropy(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """Noise scales of three tables from the risk entropies of their attributes.

    **Privacy:** strict: ε, with noisy histograms. Published: the entropies are raw.
    """
    network = alone(len(door.schema))
    return noisy_tables(door, network, RiskEntropy().split(door, StructureResult(network), epsilon))


# --- JTree -------------------------------------------------------------------------------------------------------------------------


@cache
def many_comparisons() -> Pair:
    """x1 … x50 follow a rare x0 in one record more, x51 … x100 in one less: half of the comparisons rise, half fall."""
    before = np.repeat((np.arange(1000) >= 980)[:, None], 101, axis=1).astype(np.uint8)
    after = before.copy()
    before[-1, 1:51], after[-1, 51:] = 0, 0
    return Pair(before, after, (2,) * 101, "x1 … x50 agree with x0 in one record more, x51 … x100 in one less")


def comparisons(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """JTree's answers whether I(x0; xj) reaches θ, j = 1 … 100: bool (…, 100).

    **Privacy:** no finite ε: the sparse vector test has no bound on its positives.
    """
    pairs = [(0, j) for j in range(1, 101)]
    return door.sparse_vector_test(pairs, [0.1327] * 100, epsilon, step="dependency graph", source="Lyu, Su, Li 2017, Algorithm 6", why="no bound")


def first_less_second(released: np.ndarray, pair: Pair) -> np.ndarray:
    """How many of the first half say yes, less those of the second."""
    return released[..., :50].sum(axis=-1) - released[..., 50:].sum(axis=-1)


def rows_move() -> Pair:
    """One record moves to another column of the same row."""
    return one_step_pair(90, (0, 0), (0, 1), (2, 3), "one record moves from column 0 to column 1 of row 0")


def per_node(e: Q) -> float:
    """N ε₂/m, what one conditional of PrivABN loses on the table of the case."""
    return NLTCS * float(e) / 2 / NLTCS_BITS


CASES = [
    Case("privabn-conditional-noise", "Laplace noise of 2m/(n ε₂) on a conditional distribution, which a lone record changes by 2, not 2/n",
         "PrivABN Alg 4 line 5", lone_record, Sampled(printed_conditional, lambda t, pair: chance_of_one(t[..., 1])), Q(1, 20), per_node,
         twin="strict-joint-counts"),
    Case("privabn-black-box", "the same on a fixed network, seen through synthetic rows alone", "PrivABN Alg 4", lone_record,
         Sampled(synthetic_rows, lopsided), Q(1, 20), per_node, tier="T0", twin="strict-black-box"),
    sound("strict-black-box", "synthetic rows from joint counts: the same attack on the same fixed network", "algorithms §6.4", lone_record,
          Sampled(strict_rows, lopsided), Q(1, 20), tier="T0"),
    sound("strict-joint-counts", "joint counts of the same pair, conditioned afterwards", "algorithms §6.4", lone_record,
          Sampled(chain_of_two), Q(2)),
    Case("thesis-reprint-of-privbayes", "the tables' share is announced as ε/2, the noise divides by ε", "thesis Alg 2 line 4",
         lambda: zeros_to_ones(3), Sampled(reprinted_tables), Q(1), times(2), twin="strict-joint-tables"),
    Case("datasynthesizer-double-spending", "histograms take ε, tables ε/2 for one record more; both are published",
         "DataSynthesizer@9072285", lambda: zeros_to_ones(2), Sampled(double_spending), Q(1), times(2), twin="strict-joint-tables"),
    Case("datasynthesizer-one-record-more", "the same for adding a record: histograms and tables alone use ε up, the network comes on top",
         "DataSynthesizer@9072285", one_more, Sampled(double_spending), Q(1), float, "unseen"),
    Case("priview-views", "noise w/ε for one record more or less, where one is replaced", "PriView, step 2", lambda: zeros_to_ones(6),
         Sampled(views("add_remove")), Q(1), times(2), twin="strict-views"),
    sound("strict-views", "the same views with noise 2w/ε", "algorithms §8.1", lambda: zeros_to_ones(6),
          Sampled(views("replace_one")), Q(1)),
    sound("strict-joint-tables", "seven tables that share ε", "PrivBayes Alg 2 line 4", lambda: zeros_to_ones(7), Sampled(one_way_tables),
          Q(1)),
    Case("hpprivbayes-theta-split", "groups by raw information: one record decides a table's noise", "thesis Alg 4 lines 3–10",
         lambda: across_theta()[0], Sampled(split_table, distance), Q(1), times(math.inf), twin="strict-hpprivbayes"),
    Case("hpprivbayes-raw-weights", "value weights from raw frequencies: they set the noise scales", "thesis Alg 6 line 5", rare_value,
         Sampled(weighted_rows, mass_ratio), Q(1), times(math.inf), twin="strict-value-weights"),
    sound("strict-value-weights", "public value weights with tight scales", "algorithms §3.3.5", rows_move, Sampled(tight_rows), Q(1)),
    Case("hpprivbayes-count-of-tables", "noise for d−k−l tables of group A, but d−l are released (d = 14, k = 4, l = 9)",
         "thesis Alg 5 line 4", lambda: zeros_to_ones(14), Sampled(printed_count), Q(1), times(5), twin="strict-joint-tables"),
    Case("hpprivbayes-shared-row-noise", "one noise number for a whole row (code as committed)", "HPPrivBayes@540a366, grouped.m",
         rows_move, Sampled(shared_row_noise, lambda t, pair: t[..., 0, 0] - t[..., 0, 1]), Q(17, 1000), times(math.inf),
         twin="strict-joint-tables"),
    Case("hmprivbayes-dpsc", "ε₁ composed in parallel over pairs of attributes: every record is in all of them (d = 6)",
         "HMPrivBayes Alg 3", lambda: zeros_to_ones(6, 1000), Sampled(similarities), Q(2), times(3), twin="strict-sketch"),
    Case("hmprivbayes-dpsc-small-share", "the same at the paper's own share of ε = 0.2, d = 52: many tiny losses that sampling can't see",
         "HMPrivBayes Alg 3, §4.1", lambda: zeros_to_ones(52, 1000), Sampled(similarities, slow=20), Q(85, 1000), times(26), "unseen",
         twin="strict-sketch"),
    sound("strict-sketch", "noisy K of all pairs, d = 6", "algorithms §4.4", lambda: zeros_to_ones(6, 1000), Sampled(sketched_pairs), Q(1)),
    Case("hmprivbayes-clusters", "ε₃ is given to each of five clusters of attributes", "HMPrivBayes §4.2", lambda: zeros_to_ones(5),
         Sampled(clusters), Q(1), times(5), twin="strict-joint-tables"),
    Case("hmprivbayes-risk-entropy", "noise scales from raw risk entropies", "HMPrivBayes Alg 5 line 2", first_deviates,
         ScaleTest(risk_entropy), Q(1), times(math.inf), twin="strict-risk-entropy"),
    sound("strict-risk-entropy", "the same from noisy histograms", "algorithms §4.4", first_deviates, ScaleTest(risk_entropy), Q(1)),
    Case("jtree-sparse-vector", "the sparse vector test without a bound on its positives", "Lyu, Su, Li 2017, Algorithm 6",
         many_comparisons, Sampled(comparisons, first_less_second), Q(1), times(math.inf), twin="strict-sketch"),
]  # fmt: skip
