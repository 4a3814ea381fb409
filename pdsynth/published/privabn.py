"""PrivABN as it prints: candidates are argmaxes over the records, noise is on conditionals.

``guarantee="none"`` is the paper's NoPrivABN. Readings: "conditional entropy" is mutual information
in bits, while formula (10) is in nats, so the ledger shows 1.44 times the claim. GParentSet is
called with k = i−1; j descends. A parent configuration without records gets the uniform
distribution, plus its noise. The "optimal substructure" isn't one. Table 2's "=250" is 2,500, and
the pairs that ABN scores are (m³−m)/6 = 20,825 at m = 50. Mutual information grows with the parent
set, so in-degrees drift upwards until each configuration holds one record: without noise the
network memorises the table, which is why NoPrivABN looks excellent. Strict noises joint counts, so
that the penalty of a larger table answers the paper's worry about small cells; its selections
number Σ min(k, i−1), not (m−1)k: nodes close to the root can't use more. The even split is kept,
although formula (13) drops the ln n that would favour ε₁.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..algorithms import SELECTION, Adaptive, Groups
from ..core import (
    GRID,
    SCORES,
    BudgetError,
    Candidates,
    Conditionals,
    Curator,
    Facts,
    Measurement,
    Network,
    Noise,
    Pair,
    PrivacyError,
    Schema,
    Shares,
    StructureResult,
    TableBudget,
    plural,
    progress,
)
from .doors import raw_door
from .sparse import DENSE, SparseTable

MAX_PARENTS = 63  # two-valued parents whose configuration is one 64-bit word
CANDIDATES = "PrivABN Alg 2 line 5 and Alg 3"
RAW = (
    "'no other operations involve … the original dataset', but dp[S, j] is an argmax over it: "
    "neighbours offer different candidates"
)


# --- the structure --------------------------------------------------------------------------------


def draw_pair(
    curator: Curator,
    candidates: Candidates,
    scores: np.ndarray,
    epsilon: Fraction,
    selections: int,
    step: str,
) -> Pair:
    """The exponential mechanism of one selection as printed: ε/(d−1), and formula (10).

    ``scores``: raw mutual information in units of 2^-30 bit. ``epsilon``: of all selections.

    **Privacy:** none worth the name: scores in bits against a sensitivity in nats, and raw
    candidates.
    """
    return raw_door(curator).select(
        candidates,
        "I",
        epsilon / selections,
        source=SELECTION,
        step=step,
        raw_scores=scores,
        printed_sensitivity=printed_sensitivity(curator.n),
    )


class ParentChoice:
    """dp[S, j]: for each child S the best set of each size j that the rule met (Algorithm 3).

    ``sizes`` are parent numbers 1 … k; sets and scores (2^-30 bit) are indexed by child, then by
    j − 1. dp[S, 0] is empty.
    """

    def __init__(self, children: Sequence[int]) -> None:
        self.sets: dict[int, list[tuple[int, ...]]] = {child: [] for child in children}
        self.scores: dict[int, list[int]] = {child: [] for child in children}

    def offer(self, f: int, grown: np.ndarray) -> np.ndarray:
        """Take Π' = dp[S, j−1] ∪ {f} where I(S, Π') ≥ I(S, dp[S, j]) or dp[S, j] is undefined.

        ``grown``: I(S, Π') in integers, (children, columns). Every j is compared with the sets as
        they were before, as a descending j does: ascending ones would put f into Π' twice. Returns
        where it was taken, bool of the same shape.
        """
        taken = np.zeros(grown.shape, dtype=bool)
        for row, (child, values) in enumerate(zip(self.sets, grown.tolist(), strict=True)):
            old, scores = self.sets[child], self.scores[child]
            before = [(), *old]
            for j in reversed(range(len(values))):
                if j == len(old) or values[j] >= scores[j]:
                    old[j : j + 1], scores[j : j + 1] = [(*before[j], f)], [values[j]]
                    taken[row, j] = True
        return taken

    def update(self, store: Any, f: int) -> None:
        """Line 5 of Algorithm 2: offer every child the sets that a newly placed f makes.

        ``store``: what :meth:`~pdsynth.published.curator.RawCurator.parent_sets` hands out.
        """
        store.keep(self.offer(f, np.rint(store.grow(f) * GRID).astype(np.int64)))

    def candidates(self) -> tuple[Candidates, np.ndarray]:
        """All (S, dp[S, j]) grouped by equal j, and their scores: line 5 of Algorithm 2."""
        children = list(self.sets)
        widest = range(len(self.sets[children[0]]))
        by_size = tuple(
            (
                np.array(children, dtype=np.int64),
                np.array([self.sets[c][j] for c in children], dtype=np.int64),
            )
            for j in widest
        )
        scores = [self.scores[c][j] for j in widest for c in children]
        return Candidates(by_size), np.array(scores, dtype=np.int64)

    def drop(self, child: int) -> None:
        """Forget a child that has entered the network."""
        del self.sets[child], self.scores[child]


@dataclass(frozen=True)
class PrintedAdaptive(Adaptive):
    """ABN with raw candidates, and with no cap under ``k="auto"``; it takes no restriction.

    **Privacy:** none worth the name, see :func:`abn_published`.
    """

    reads_rows: ClassVar[bool] = True
    draw: ClassVar[Callable[..., Pair]] = staticmethod(draw_pair)
    choice: ClassVar[type[ParentChoice]] = ParentChoice

    def check(self, facts: Facts) -> None:
        """Refuse restrictions, too: the printed programme has no place for one."""
        super().check(facts)
        if self.restriction is not None:
            raise BudgetError(
                "Adaptive() takes a restriction under guarantee='strict' only, "
                f"not under {facts.guarantee!r}"
            )

    def check_tables(self, schema: Schema) -> None:
        """Refuse in-degrees whose configurations, of two-valued parents, don't fit 64 bits."""
        m = len(schema)
        widest = m - 1 if isinstance(self.k, str) else min(int(self.k), m - 1)
        if widest > MAX_PARENTS:
            raise BudgetError(
                f"without a cap a table of {m} bits can have {widest} parents a node; their "
                "configurations are kept in 64 bits: cap the in-degree with "
                f"k = {MAX_PARENTS} or less"
            )

    def asks(self, facts: Facts) -> Shares:
        """All of it."""
        return {"selections": Fraction(1)}

    def grow(self, curator: Curator, epsilon: Fraction, facts: Facts) -> tuple[list[Pair], str]:
        """The pairs as printed.

        **Privacy:** none, as :func:`abn_published`.
        """
        most = None if isinstance(self.k, str) else int(self.k)
        pairs = abn_published(
            curator, epsilon, curator.noise, most=most, draw=self.draw, choice=self.choice
        )
        return pairs, "adaptive" if most is None else f"at most {plural(most, 'parent')}"


def printed_sensitivity(n: int) -> int:
    """Formula (10), in nats, taken for a sensitivity in bits: 2^-30 bit, at least 1."""
    return max(math.floor(SCORES["I"].sensitivity(n, 2, 2) * math.log(2)), 1)


def abn_published(
    curator: Curator,
    epsilon: Fraction,
    noise: Noise,
    *,
    most: int | None = None,
    columns: Sequence[int] | None = None,
    label: str = "",
    draw: Callable[..., Pair] = draw_pair,
    choice: type[ParentChoice] = ParentChoice,
) -> list[Pair]:
    """A network of binary attributes as ABN prints it (PrivABN, Algorithms 2 and 3).

    Root uniform; then d−1 times: the newly placed attribute updates dp[S, ·] of all others, and the
    exponential mechanism draws one of all (S, dp[S, j]). ``most`` caps j (None: no cap, as
    printed); ``columns`` restricts the network to some attributes; ``label`` tells several networks
    apart.

    Readings: "conditional entropy" is mutual information, in bits; GParentSet is called with k =
    i−1; j descends; an undefined dp[S, j] takes Π'. The programme isn't optimal, though the paper
    says so: of an exclusive or it sees neither parent.

    **Privacy:** none worth the name. The candidates are argmaxes over the records: one unaccounted
    access. The score is in bits and the printed sensitivity in nats, so each selection truly costs
    1.4427 times the ε/(d−1) it claims. Raises PrivacyError under ``strict``: use
    :func:`~pdsynth.algorithms.privabn.abn_strict`.
    """
    columns = list(range(len(curator.schema)) if columns is None else columns)
    f = columns[noise.child(f"root{label}").below(len(columns))]
    pairs: list[Pair] = [(f, ())]
    others = [c for c in columns if c != f]
    if not others or most == 0:
        return pairs + [(c, ()) for c in others]
    store = raw_door(curator).parent_sets(
        others, most, step=f"parent sets{label}", source=CANDIDATES, why=RAW
    )
    chosen, selections = choice(others), len(columns) - 1
    for i in progress(range(2, len(columns) + 1), f"network{label}", unit="attribute"):
        chosen.update(store, f)  # line 5
        candidates, scores = chosen.candidates()
        step = f"pair {i} of {len(columns)}{label}"
        pairs.append(draw(curator, candidates, scores, epsilon, selections, step))  # line 6
        f = pairs[-1][0]
        store.drop(f)
        chosen.drop(f)
    return pairs


# --- noise on conditionals ------------------------------------------------------------------------


@dataclass(frozen=True)
class ConditionalNoise(Conditionals):
    """Laplace noise on the conditional probabilities, as PrivABN prints it: isn't private."""

    def check(self, facts: Facts, budget: Any) -> None:
        """Refuse strict, attributes of more than two values, and scales per value."""
        if facts.guarantee == "strict":  # a refusal
            raise PrivacyError(
                "noise on conditionals costs n times what it claims (PrivABN): use "
                "conditionals=JointCounts(), or guarantee='published'"
            )
        if max(facts.schema.sizes) > 2 or isinstance(budget, Groups):
            raise BudgetError(
                "noise on conditionals is for two-valued attributes and one scale "
                "per table: use conditionals=JointCounts()"
            )

    def measure(
        self, curator: Curator, learnt: StructureResult, budget: Mapping[str, TableBudget]
    ) -> list[Measurement]:
        """One table per pair.

        **Privacy:** as :func:`noisy_conditionals`.
        """
        return noisy_conditionals(curator, learnt.network, budget)


def noisy_conditionals(
    curator: Curator, network: Network, budget: Mapping[str, TableBudget]
) -> list[Measurement]:
    """Noisy P(X | Π) of every pair of a binary network, in steps of 2^-30 (PrivABN, Alg. 4, 3–6).

    Tables of more than ``DENSE`` cells are sparse. A column that the noise leaves without mass
    becomes uniform; the print doesn't say. Without noise the weights are raw counts.

    **Privacy:** one release per pair; each truly costs n times its ε, see
    :meth:`~pdsynth.published.RawCurator.conditionals`.
    """
    schema, out = curator.schema, list[Measurement]()
    for child, parents in network.pairs:
        if len(parents) > MAX_PARENTS:
            raise BudgetError(
                f"{child!r} has {len(parents)} parents; their configuration is kept "
                f"in 64 bits, so at most {MAX_PARENTS}"
            )
        b, columns = budget[child], tuple(schema.index(name) for name in (child, *parents))
        shape = tuple(schema.sizes[j] for j in columns)
        keys, (table, scale, _) = raw_door(curator).conditionals(
            columns,
            b,
            sparse=math.prod(shape) > DENSE,
            step=f"conditional({child}{' | ' + ', '.join(parents) if parents else ''})",
        )
        assert isinstance(scale, Fraction)
        noisy = curator.noise.private  # else raw counts
        table = np.where((table > 0).any(axis=0), table, 1) if noisy else table
        whole: np.ndarray | SparseTable = (
            table.reshape(shape) if keys is None else SparseTable(shape, keys, table)
        )
        if keys is not None and noisy:
            seed = curator.noise.child(f"unseen {child}").below(2**62)
            whole = SparseTable(shape, keys, table, float(scale), seed)
        out.append(Measurement((child, *parents), whole, scale, counts=not noisy))
    return out
