"""ABN: the structure learner of PrivABN, whose parent sets grow by one attribute at a time, without a largest in-degree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..measures import GRID, SCORES
from ..privacy.curator import Candidates, Curator
from ..privacy.mechanisms import Noise
from .candidates import joined
from .restrictions import Restriction

Pairs = list[tuple[int, tuple[int, ...]]]

CANDIDATES = "PrivABN Alg 2 line 5 and Alg 3"
SELECTION = "PrivABN Alg 2 line 6"
WHY_RAW = "'no other operations involve … the original dataset', but dp[S, j] is an argmax over it: neighbours offer different candidates"


class ParentChoice:
    """dp[S, j] of GParentSet: for each child S the best parent set of each size j that the greedy rule has met (Algorithm 3).

    ``sizes`` are parent numbers 1 … k; sets and scores (2^-30 bit) are indexed by child, then by j − 1. dp[S, 0] is empty.
    """

    def __init__(self, children: Sequence[int]) -> None:
        self.sets: dict[int, list[tuple[int, ...]]] = {child: [] for child in children}
        self.scores: dict[int, list[int]] = {child: [] for child in children}

    def offer(self, f: int, grown: np.ndarray) -> np.ndarray:
        """Take Π' = dp[S, j−1] ∪ {f} where I(S, Π') ≥ I(S, dp[S, j]), ties too, and where dp[S, j] is undefined.

        ``grown``: I(S, Π') in integers, (children, columns). Every j is compared with the sets as they were before, as a
        descending j does: ascending ones would put f into Π' twice. Returns where it was taken, bool of the same shape.
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

    def candidates(self) -> tuple[Candidates, np.ndarray]:
        """All (S, dp[S, j]) in blocks of equal j, with their scores in the same order: line 5 of Algorithm 2."""
        children = list(self.sets)
        widest = len(self.sets[children[0]])
        blocks = tuple(
            (np.array(children, dtype=np.int64), np.array([self.sets[c][j] for c in children], dtype=np.int64)) for j in range(widest)
        )
        return Candidates(blocks), np.array([self.scores[c][j] for j in range(widest) for c in children], dtype=np.int64)

    def drop(self, child: int) -> None:
        """Forget a child that has entered the network."""
        del self.sets[child], self.scores[child]


def printed_sensitivity(n: int) -> int:
    """Formula (10), whose logarithms are natural, taken for the sensitivity of a score in bits: in steps of 2^-30 bit, at least 1."""
    return max(math.floor(SCORES["I"].sensitivity(n, 2, 2) * math.log(2)), 1)


def abn_published(
    curator: Curator, epsilon: Fraction, noise: Noise, *, most: int | None = None, columns: Sequence[int] | None = None, label: str = ""
) -> Pairs:
    """A network of binary attributes as ABN prints it (PrivABN, Algorithms 2 and 3): (child, parents) column pairs in sampling order.

    Root uniform; then d−1 times: the newly placed attribute updates dp[S, ·] of all others, and the exponential mechanism draws one
    of all (S, dp[S, j]). ``most`` caps j (None: no cap, as printed); ``columns`` restricts the network to some attributes; ``label``
    tells the steps of several networks apart.

    Readings (`algorithms` §6.2): "conditional entropy" is mutual information, in bits; GParentSet is called with k = i−1; j descends;
    an undefined dp[S, j] takes Π'. The programme isn't optimal, though the paper says so: of an exclusive or it sees neither parent.

    **Privacy:** none worth the name. The candidates are argmaxes over the records: one unaccounted access. The score is in bits and
    the printed sensitivity in nats, so each selection truly costs 1.4427 times the ε/(d−1) it claims. Raises PrivacyError under
    ``strict``: use :func:`abn_strict`.
    """
    columns = list(range(len(curator.schema)) if columns is None else columns)
    f = columns[noise.child(f"root{label}").below(len(columns))]
    pairs: Pairs = [(f, ())]
    others = [c for c in columns if c != f]
    if not others or most == 0:
        return pairs + [(c, ()) for c in others]
    store = curator.parent_sets(others, most, step=f"parent sets{label}", source=CANDIDATES, why=WHY_RAW)
    choice, printed = ParentChoice(others), printed_sensitivity(curator.n)
    for i in range(2, len(columns) + 1):
        store.keep(choice.offer(f, np.rint(store.grow(f) * GRID).astype(np.int64)))  # line 5
        candidates, scores = choice.candidates()
        pair = curator.select(candidates, "I", epsilon / (len(columns) - 1), step=f"pair {i} of {len(columns)}{label}", source=SELECTION,
                              printed_sensitivity=printed, raw_scores=scores)  # line 6  # fmt: skip
        pairs.append(pair)
        f = pair[0]
        store.drop(f)
        choice.drop(f)
    return pairs


def selections(d: int, most: int) -> int:
    """How many selections :func:`abn_strict` may need for d attributes: Σ min(most, i−1) over i = 2 … d."""
    return sum(min(most, i - 1) for i in range(2, d + 1))


def growth_penalty(size: int, n: int, tables: int, epsilon2: Fraction) -> int:
    """What a set of ``size`` parents pays for one more, in units of K: 2n² (pen(size+1) − pen(size)), pen(j) = 2^(j+1) m / (n ε₂).

    pen(j) is the expected distance that the noise of a table with j parents adds; it depends on public numbers only. Beyond 2^60
    it stays there, so that scores fit 64 bits.
    """
    return min(math.floor(2 * n * 2 ** (size + 1) * tables / epsilon2), 2**60)


def abn_strict(
    curator: Curator,
    each: Fraction,
    noise: Noise,
    *,
    most: int,
    tables: int,
    epsilon2: Fraction,
    columns: Sequence[int] | None = None,
    label: str = "",
    restriction: Restriction | None = None,
) -> tuple[Pairs, int]:
    """The strict form of ABN (`algorithms` §6.4): a nested exponential mechanism of ``each`` a selection, and how many it used.

    For every node: one selection over (S, {p}), p placed before; then up to ``most`` − 1 further ones over the remaining placed
    attributes and STOP, with score R less the public penalty of :func:`growth_penalty` for ``tables`` tables that share
    ``epsilon2``. STOP is the set as it stands. A node without placed attributes left to add stops by itself. What a
    ``restriction`` settles stands first; forced parents are in a set from the beginning.

    **Privacy:** every selection costs ``each``: its candidates are all placed attributes that policy permits, its penalty is
    public, its score R of a two-valued child has sensitivity 4(n−1) in units of K. At most :func:`selections` of them.
    """
    columns = list(range(len(curator.schema)) if columns is None else columns)
    permitted = (restriction or Restriction()).on(curator.schema.names)
    roots = permitted.ready(columns, permitted.fixed_order)
    pairs: Pairs = list(permitted.fixed_pairs) or [(roots[noise.child(f"root{label}").below(len(roots))], ())]
    used, placed = 0, [child for child, _ in pairs]
    while len(placed) < len(columns):
        where = f"{len(placed) + 1} of {len(columns)}{label}"
        ready = permitted.ready([c for c in columns if c not in placed], placed)
        first = [(c, *permitted.parents(c, placed)) for c in ready]
        offered = [(c, (*forced, p)) for c, forced, free in first if len(forced) < most for p in free]
        offered += [(c, forced) for c, forced, free in first if len(forced) >= most or not free]
        child, parents = curator.select(_together(offered), "R", each, step=f"pair {where}", source=SELECTION)
        used += 1
        free = permitted.parents(child, placed)[1]
        while len(parents) < most and set(free) - set(parents):
            more = [(child, (*parents, p)) for p in free if p not in parents]
            penalty = growth_penalty(len(parents), curator.n, tables, epsilon2)
            offsets = np.array([0, *[-penalty] * len(more)], dtype=np.int64)  # STOP comes first
            _, larger = curator.select(_together([(child, parents), *more]), "R", each, offsets=offsets, source=SELECTION,
                                       step=f"parent {len(parents) + 1} of {where}")  # fmt: skip
            used += 1
            if larger == parents:
                break
            parents = larger
        pairs.append((child, parents))
        placed.append(child)
    return pairs, used


def _together(pairs: Pairs) -> Candidates:
    """Pairs as candidates: blocks of equal parent number, smaller sets first, otherwise in their order."""
    return joined(((np.array([child]), np.array(parents, dtype=np.int64).reshape(1, -1)) for child, parents in pairs), "public")
