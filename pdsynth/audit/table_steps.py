"""Steps that release noisy tables: what papers and public code do, and the sound form beside it.

Each is called as ``step(…, door, noise, ε)``; what stands before the door is in ``cases.toml``.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction as Q
from itertools import combinations
from typing import Any

import numpy as np

from ..baselines import covering_design
from ..core import (
    GRID,
    Curator,
    Noise,
    TableBudget,
    laplace_mechanism,
    mutual_information,
)
from ..published.budgets import (
    PrintedBudget,
    one_record_more,
    printed_group_a,
    printed_scales,
    sensitivity_weights,
)
from ..published.doors import raw_door
from .estimator import quantise
from .pairs import Pair, across_theta

PUBLIC = "a public network"
NLTCS_BITS = 16  # attributes of PrivABN's first table


def release(
    door: Curator,
    tables: Iterable[Sequence[int]],
    budget: TableBudget,
) -> list[np.ndarray]:
    """Noisy tables of a child and its parents each. **Privacy:** the budget, for each."""
    out = []
    for child, *parents in tables:
        condition = " | " + ", ".join(f"x{j}" for j in parents) if parents else ""
        answer = door.table((child, *parents), budget, step=f"table(x{child}{condition})")
        out.append(answer.counts)
    return out


# --- noise on conditionals (PrivABN) --------------------------------------------


def printed_conditional(parents: str, door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """Algorithm 4's noisy P(x1 | x0) or P(x0), one of 16: (…, 2, configurations) in 2^-30.

    **Privacy:** none worth the name, as the case shows.
    """
    columns = (1, 0) if parents else (0,)
    m, epsilon2 = NLTCS_BITS, epsilon / 2
    return (
        raw_door(door)
        .conditionals(
            columns,
            TableBudget(epsilon2 / m, source="PrivABN Alg 4 line 5"),
            step=f"conditional(x{columns[0]}{parents})",
        )[1]
        .counts
    )


def joint_of_two(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """The strict form: joint counts of x0, and of x1 with x0, that share ε. **Privacy:** ε."""
    return release(door, [(0,), (1, 0)], TableBudget(epsilon / 2, source=PUBLIC))


def lone_chance(released: np.ndarray, pair: Pair | None) -> np.ndarray:
    """P*[x1 = 1 | x0 = 1], in 2^-20."""
    return estimate_chance(released[..., 1])


def estimate_chance(column: np.ndarray) -> np.ndarray:
    """P*[x = 1] of noisy weights (…, 2) after clipping and normalising, in 2^-20."""
    weights = np.maximum(column, 0).astype(float)
    whole = weights.sum(axis=-1)
    share = weights[..., 1] / np.where(whole > 0, whole, 1)
    return quantise(np.where(whole > 0, share, 0.5), 2.0**-20)


def printed_rows(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """Synthetic rows of :func:`printed_conditional`. **Privacy:** no better, as post-processing."""
    root = printed_conditional("", door, noise, epsilon)[..., 0]
    return draw_rows(root, printed_conditional(" | x0", door, noise, epsilon), door.n, noise)


def strict_rows(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """Synthetic rows of :func:`joint_of_two`. **Privacy:** ε, and post-processing."""
    root, joint = joint_of_two(door, noise, epsilon)
    return draw_rows(root, joint, door.n, noise)


def draw_rows(root: np.ndarray, table: np.ndarray, n: int, noise: Noise) -> np.ndarray:
    """How many of n rows are (1, 0) and (1, 1): (…, 2), from noisy weights of x0 and x1 with x0."""
    rng = noise.child("synthetic rows").generator()
    ones = rng.binomial(n, estimate_chance(root) / 2**20)
    both = rng.binomial(ones, lone_chance(table, None) / 2**20)
    return np.stack([ones - both, both], axis=-1)


def lopsidedness(released: np.ndarray, pair: Pair) -> np.ndarray:
    """(#11 − #10)/√#1., in quarters: by how many deviations rows with x0 = 1 prefer x1 = 1."""
    ten, eleven = released[..., 0], released[..., 1]
    return quantise((eleven - ten) / np.sqrt(np.maximum(ten + eleven, 1)), 0.25)


# --- too little noise on tables -------------------------------------------------


def one_way_tables(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """One table per attribute, that share ε. **Privacy:** ε."""
    d = len(door.schema)
    return release(door, [(j,) for j in range(d)], TableBudget(epsilon / d, source=PUBLIC))


def reprinted_tables(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """Two tables of thesis Algorithm 2, which announces ε/2 (the claim) and divides by ε.

    **Privacy:** 2ε.
    """
    budget = PrintedBudget(epsilon / 2, source="thesis Alg 2 line 4", scale=2 / epsilon)
    return [door.table((0, j), budget, step=f"table(x0, x{j})").counts for j in (1, 2)]


def double_spending(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """DataSynthesizer, correlated: histograms with ε, tables with ε/2 for one record more; k = 1.

    **Privacy:** 2ε under replacing a record, ε under adding one; the network (ε/2) isn't drawn.
    """
    d, source = len(door.schema), "DataSynthesizer@9072285: "
    again = source + "independent mode inside the correlated one"
    free = PrintedBudget(Q(0), source=again, scale=2 * d / epsilon)
    histograms = release(door, [(j,) for j in range(d)], free)
    each, pairs = epsilon / 2 / (d - 1), [(j, 0) for j in range(1, d)]
    return histograms + release(door, pairs, one_record_more(each, source + "noise of tables"))


def views(relation: str, door: Curator, noise: Noise, epsilon: Q) -> Any:
    """PriView's views of 6 bits, 4 at a time, every two together.

    **Privacy:** 2ε for ``add_remove``, ε for ``replace_one``.
    """
    design = covering_design(6, 4, 2)
    kind = one_record_more if relation == "add_remove" else TableBudget
    budget = kind(epsilon / len(design), source="PriView, step 2")
    questions = ((view, budget, f"view {i}") for i, view in enumerate(design, 1))
    return [answer.counts for answer in door.tables(questions)]


# --- HPPrivBayes (d = 14, k = 4) ------------------------------------------------


def printed_count(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """Group A's five tables, with Algorithm 5's noise for d − k − l = 1. **Privacy:** 5ε."""
    scale = printed_group_a(14, 4, 9, epsilon)
    budget = PrintedBudget(epsilon / 5, source="thesis Alg 5 line 4", scale=scale)
    return release(door, [(j,) for j in range(5)], budget)


def weighted_rows(
    tables: int, columns: list[int], door: Curator, noise: Noise, epsilon: Q
) -> np.ndarray:
    """One of several tables of group B as Algorithm 6 noises it, ε₃ = 3ε/5: (…, 2, 4, 4, 2, 2).

    **Privacy:** none: weights from raw frequencies set the noise scales.
    """
    (counts,), _ = raw_door(door).histograms(
        columns[:1], step="sensitivity weights of group B", source="thesis Alg 6 line 5"
    )
    epsilon3 = 3 * epsilon / 5
    scales = printed_scales(sensitivity_weights(counts), tables, epsilon3)
    return release_printed(door, columns, scales, epsilon3 / tables, "thesis Alg 6 line 6")


def release_printed(
    door: Curator, columns: list[int], scale: Any, claimed: Q, source: str
) -> np.ndarray:
    """The table of the first column, with the others for its parents. **Privacy:** by the scale."""
    step = f"table(x{columns[0]} | x{columns[1]} … x{columns[-1]})"
    return door.table(columns, PrintedBudget(claimed, source=source, scale=scale), step=step).counts


def compare_masses(released: np.ndarray, pair: Pair) -> np.ndarray:
    """Ln of the noisy mass of row x0 = 1 over that of row x0 = 0, in hundredths."""
    rows = np.maximum(released, 0).reshape(*released.shape[:-4], -1).sum(axis=-1)
    mass = np.maximum(rows, 0.5)
    return quantise(np.log(mass[..., 1] / mass[..., 0]), 0.01)


def split_table(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """x1's table with 64 parent configurations, with the noise of the group that θ puts it in.

    **Privacy:** none: the group is decided by raw information.
    """
    raw = [mutual_information(records.table((0, 1))) for records in across_theta().records]
    information, _ = raw_door(door).association_with(
        0, step="groups by association with x0", source="thesis Alg 4 lines 3–10"
    )
    a = information >= float(np.mean(raw))  # θ lies between the two tables
    columns, in_a, in_b = [1, 2, 3, 4, 5], int(a.sum()), int((~a).sum())
    if not a[1]:
        return weighted_rows(in_b, columns, door, noise, epsilon)
    scale = printed_group_a(14, 4, in_b, epsilon / 5)
    return release_printed(door, columns, scale, epsilon / 5 / in_a, "thesis Alg 5 line 4")


def measure_distance(released: np.ndarray, pair: Pair) -> np.ndarray:
    """Σ |noisy − true count| over x1's table: what the noise scale was."""
    truth = pair.records[0].table((1, 2, 3, 4, 5))
    return np.abs(released - truth).sum(axis=tuple(range(-truth.ndim, 0)))


def tight_rows(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """One table whose values have the public weights 1 and 1/2, with tight scales.

    **Privacy:** ε: only the worst move of one record counts, here within the row of weight 1.
    """
    budget = TableBudget(epsilon, (Q(1), Q(1, 2)), source="HPPrivBayes, strict")
    return release(door, [(0, 1)], budget)


def shared_row_noise(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """One Laplace number for a whole row, as in the thesis' MATLAB code: (…, 2, 3).

    **Privacy:** none: differences of cells of a row have no noise at all.
    """
    counts = raw_door(door).peek("row noise", "HPPrivBayes@540a366, grouped.m", (0, 1))
    zeros, scale = np.zeros((len(counts), 1), dtype=np.int64), Q(2 * (14 - 4 - 7)) / epsilon
    return counts + laplace_mechanism(zeros, scale, noise.child("rows"))


def first_row_gap(released: np.ndarray, pair: Pair) -> np.ndarray:
    """The difference of the first two cells of a row."""
    return released[..., 0, 0] - released[..., 0, 1]


# --- HMPrivBayes and JTree ------------------------------------------------------


def printed_similarities(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """DPSC's noisy information of all pairs of bits, in 2^-30 bit, ε₁ · 2⌊d/2⌋/(d(d−1)) each.

    **Privacy:** ⌊d/2⌋ times ε₁.
    """
    d = len(door.schema)
    each = epsilon * 2 * (d // 2) / (d * (d - 1))
    matrix, _ = raw_door(door).information_sketch(
        each, claimed=epsilon, step="DPSC", source="HMPrivBayes Alg 3"
    )
    return [np.rint(matrix[..., *np.triu_indices(d, 1)] * GRID).astype(np.int64)]


def noisy_similarities(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """The strict form: noisy K of all pairs. **Privacy:** ε."""
    pairs = list(combinations(range(len(door.schema)), 2))
    values, _ = door.noisy_associations(
        pairs, epsilon, step="similarity of pairs", source="HMPrivBayes, strict"
    )
    return [np.rint(values * 2 * door.n**2).astype(np.int64)]


def cluster_tables(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """One table per attribute, each a cluster that is given all of ε₃. **Privacy:** d ε₃."""
    d, source = len(door.schema), "HMPrivBayes §4.2: parallel composition over attribute sets"
    doors = raw_door(door).parallel("clusters", source, [f"columns:C{i}" for i in range(d)])
    budget = TableBudget(epsilon, source=source)
    return [release(one, [(j,)], budget)[0] for j, one in enumerate(doors)]


def comparisons(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """JTree's answers whether I(x0; xj) reaches θ, j = 1 … 100: bool (…, 100).

    **Privacy:** no finite ε: the sparse vector test has no bound on its positives.
    """
    return raw_door(door).sparse_vector_test(
        [(0, j) for j in range(1, 101)],
        [0.1327] * 100,
        epsilon,
        step="dependency graph",
        source="Lyu, Su, Li 2017, Algorithm 6",
        why="no bound",
    )


def first_less_second(released: np.ndarray, pair: Pair) -> np.ndarray:
    """How many of the first half say yes, less those of the second."""
    return released[..., :50].sum(axis=-1) - released[..., 50:].sum(axis=-1)
