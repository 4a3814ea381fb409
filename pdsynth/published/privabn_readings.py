"""Readings of PrivABN's selection and of its GParentSet; none is private, as none of PrivABN is."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..algorithms import SDG, SELECTION, PrivABN
from ..core import GRID, Candidates, Curator, Facts, Pair, Parts, Uniform, join_pairs
from .doors import raw_door
from .partitions import ParentSets, Partitions
from .privabn import ConditionalNoise, ParentChoice, PrintedAdaptive

# --- forensic readings of the selection: each says in its ledger that it isn't private -----------


def draw_undivided(
    curator: Curator,
    candidates: Candidates,
    scores: np.ndarray,
    epsilon: Fraction,
    selections: int,
    step: str,
) -> Pair:
    """exp(ε₁ n u / 2): each selection has the whole of ε₁, and sensitivity 1/n as in (13).

    It claims ε₁ / selections as printed: what is left out of the exponent is charged as true cost.

    **Privacy:** none: raw candidates, and each selection truly costs about 1.44 (ln n + 1) ε₁.
    """
    return raw_door(curator).select(
        candidates,
        "I",
        epsilon / selections,
        source=SELECTION,
        step=step,
        raw_scores=scores,
        printed_sensitivity=GRID // (curator.n * selections),
    )


def draw_best(
    curator: Curator,
    candidates: Candidates,
    scores: np.ndarray,
    epsilon: Fraction,
    selections: int,
    step: str,
) -> Pair:
    """The best candidate: ε = ∞.

    **Privacy:** none: the raw scores are one entry of the ledger already, that of the candidates.
    """
    return candidates[int(scores.argmax())]


class Undivided(PrintedAdaptive):
    """ABN whose selections each have the whole of ε₁."""

    draw = staticmethod(draw_undivided)


class Best(PrintedAdaptive):
    """ABN that takes the best candidate."""

    draw = staticmethod(draw_best)


# --- GParentSet with j ascending, in place, to the letter -----------------------------------------


def information(partitions: Partitions, child: int, labels: np.ndarray) -> float:
    """I(child; Π) in bits, where ``labels`` number the configurations of Π in the distinct rows."""
    p, ones = partitions, partitions.columns[child] == 1
    joint = np.array(
        [np.bincount(labels, p.weights * (ones == v), labels.max() + 1) for v in (False, True)]
    ).astype(np.int64)
    terms = (
        int(p.logs.take(counts).sum())
        for counts in (joint, joint.sum(axis=0), joint.sum(axis=1), joint.sum())
    )
    both, parents, own, whole = terms
    return float((both - parents - own + whole) * p.logs.unit / p.n)


class AscendingChoice(ParentChoice):
    """dp[S, j] updated in place from j = 1 on, so that Π' may hold the new attribute already.

    The set of index j may then have fewer than j members.
    """

    def __init__(self, children: Sequence[int]) -> None:
        super().__init__(children)
        self.labels: dict[tuple[int, ...], np.ndarray] = {}  # of sets: see `information`

    def update(self, store: ParentSets, f: int) -> None:
        """Algorithm 3 as its lines stand: Π' = dp[S, j−1] ∪ {f}, dp[S, j−1] being the new one."""
        p = store.partitions
        self.labels.setdefault((), np.zeros(len(p), dtype=np.int64))
        for child, old in self.sets.items():
            scores = self.scores[child]
            before: tuple[int, ...] = ()
            for j in range(len(old) + 1):
                grown = tuple(sorted({*before, f}))
                if grown not in self.labels:
                    split = 2 * self.labels[before] + p.columns[f]
                    self.labels[grown] = (np.cumsum(np.bincount(split) > 0) - 1)[split]
                if grown == before:
                    score = scores[j - 1]
                else:
                    score = round(information(p, child, self.labels[grown]) * GRID)
                if j == len(old) or score >= scores[j]:
                    old[j : j + 1], scores[j : j + 1] = [grown], [score]
                before = old[j]
        parents = {s for sets in self.sets.values() for s in sets}
        self.labels = {s: labels for s, labels in self.labels.items() if s in parents or not s}

    def candidates(self) -> tuple[Candidates, np.ndarray]:
        """All (S, dp[S, j]), each set once, smaller ones first."""
        scored = {
            (child, s): score
            for child, sets in self.sets.items()
            for s, score in zip(sets, self.scores[child], strict=True)
        }
        pairs = sorted(scored, key=lambda pair: len(pair[1]))
        return join_pairs(pairs), np.array([scored[pair] for pair in pairs], dtype=np.int64)


class Ascending(PrintedAdaptive):
    """ABN whose GParentSet counts j upwards."""

    choice = AscendingChoice


READINGS: dict[str, type[PrintedAdaptive]] = {
    "printed": PrintedAdaptive,
    "ascending": Ascending,
    "undivided": Undivided,
    "exact": Best,
}


def printed_privabn(recipe: PrivABN, facts: Facts, parts: Parts) -> tuple[Facts, Parts]:
    """Noise on conditionals, where strict noises joint counts; selections as ``reading`` says.

    **Privacy:** nearly none. A conditional has sensitivity 2 and not 2/n, so m tables cost about
    n·ε₂, and the candidates are argmaxes over the records. Without noise the network memorises
    single records.
    """
    structure = READINGS[recipe.reading](recipe.k, recipe.theta_usefulness)
    return facts, parts._replace(
        structure=structure, budget=Uniform(SDG), conditionals=ConditionalNoise()
    )
