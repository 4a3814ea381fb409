"""IBayes: HMPrivBayes' structure learner, guided by similarities that are released already."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..domain.progress import progress
from ..errors import BudgetError
from ..privacy.curator import Candidates, Curator
from .candidates import Pair, join_parts
from .parent_rules import subsets
from .restrictions import Permitted, Restriction

SOURCE = "HMPrivBayes Alg 4 line 2", "HMPrivBayes Alg 4 line 3"
STEP_PAIRS = 250_000  # candidates of one step that are worth their time: 62 columns of degree 3
WHOLE = 2_000_000  # sets of a cluster that are counted in one pass
STEP_CELLS = 2**24  # cells of all their tables; larger degrees than 5 get fewer candidates


@dataclass(frozen=True)
class ParentFilter:
    """Which columns may be whose parents, and which come first when not all can be tried.

    ``strength``: float (d, d), symmetric; noisy similarities of the ledger entry ``depends_on``, or
    any public order. Infinite: the columns belong together (bits of one attribute) and are never
    kept apart. ``eta``: η of formula (9).
    """

    strength: np.ndarray
    eta: float = 0.0
    depends_on: str = "public"

    @classmethod
    def by_distance(cls, places: Sequence[int]) -> ParentFilter:
        """The public order: neighbours in the schema come first."""
        away = np.abs(np.subtract.outer(np.asarray(places), np.asarray(places)))
        with np.errstate(divide="ignore"):
            return cls(1.0 / away)

    def permit(self, columns: Sequence[int]) -> np.ndarray:
        """S_i of formula (9) over some columns: bool (m, m).

        S_i(s,c) = 0 where S(s,c) ≤ η·max S(s,·) or S(c,s) ≤ η·max S(c,·); the maxima run over the
        other columns of the cluster. η = 0 switches the filter off: read literally, it would still
        drop every pair whose noise is below zero.
        """
        s = self.strength[np.ix_(columns, columns)]
        if self.eta <= 0:
            return np.ones(s.shape, dtype=bool)
        others = np.where(np.isfinite(s) & ~np.eye(len(s), dtype=bool), s, -np.inf)
        top = np.where(np.isfinite(others).any(axis=1), others.max(axis=1), 0.0)
        dropped = s <= self.eta * top[:, None]
        return ~(dropped | dropped.T)


def ibayes(
    curator: Curator,
    cluster: Sequence[int],
    degree: int,
    epsilon: Fraction,
    score: str,
    ties: ParentFilter,
    *,
    root: int | None = None,
    label: str = "",
    restriction: Permitted | None = None,
) -> list[Pair]:
    """A network over the columns of one cluster, parents before children (HMPrivBayes, Alg. 4).

    ``epsilon`` is spent by every selection. ``root`` is the first column; None draws it by its
    entropy. Each further pair is drawn among all columns left and all sets of exactly min(degree,
    …) of those placed columns that :class:`ParentFilter` leaves to it; a child that has none left
    gets Π = {}. Where a step would have more than ``STEP_PAIRS`` candidates, every child tries its
    strongest placed columns only, as many as :func:`most_parents` says. What a ``restriction``
    settles in this cluster stands first, and forced parents are in every set; the target must lie
    in the cluster of its sensitive attributes.

    **Privacy:** |C| exponential mechanisms of ``epsilon`` (|C|−1 with a given root, fewer where a
    restriction settles pairs), sequential. Candidates are public or computed from the entry
    ``ties.depends_on`` and earlier selections.
    """
    columns, members = sorted(cluster), len(cluster)
    every = most_parents(members, degree) >= members - 1
    if every and math.comb(members, min(degree + 1, members)) <= WHOLE:
        curator.prepare(degree + 1, score, members=cluster)  # what selections look up
    permitted = restriction or Restriction().on(curator.schema.names)
    pairs: list[Pair] = [pair for pair in permitted.fixed_pairs if pair[0] in columns]
    if pairs and permitted.fixed_order[0] not in columns:
        raise BudgetError(
            "the target must lie in the cluster of its sensitive attributes, but it "
            f"is not in {columns}: join the clusters"
        )
    if not pairs and root is None:
        roots = [c for c in columns if not permitted.forced[c, columns].any()]
        alone = Candidates(((np.array(roots), np.zeros((len(roots), 0), dtype=np.int64)),))
        root, _ = curator.select(alone, "H", epsilon, step=f"root{label}", source=SOURCE[0])
    pairs = pairs or [(int(root), ())]  # type: ignore[arg-type]
    search = _Search(columns, ties, degree, permitted)
    for t in progress(range(len(pairs) + 1, len(columns) + 1), f"network{label}", unit="bit"):
        candidates = search.candidates([child for child, _ in pairs])
        pairs.append(
            curator.select(
                candidates,
                score,
                epsilon,
                source=SOURCE[1],
                step=f"pair {t} of {len(columns)}{label}",
            )
        )
    return pairs


def most_parents(members: int, degree: int) -> int:
    """Placed columns that a child may choose among: at most ``STEP_PAIRS`` candidates per step.

    >>> most_parents(58, 3), most_parents(175, 3), most_parents(48, 12)
    (57, 21, 13)
    """
    pairs = min(STEP_PAIRS, STEP_CELLS >> (degree + 1))
    whole = ((members - p) * math.comb(p, min(degree, p)) for p in range(1, members))
    if max(whole, default=0) <= pairs:
        return max(members - 1, 1)
    fits = (q for q in range(degree, members) if members * math.comb(q, degree) <= pairs)
    return max(fits, default=degree)


class _Search:
    """The candidates of every step of one cluster."""

    def __init__(
        self, columns: list[int], ties: ParentFilter, degree: int, permitted: Permitted
    ) -> None:
        self.columns, self.ties, self.degree = np.array(columns), ties, degree
        place = np.ix_(columns, columns)
        self.forced = permitted.forced[place]
        self.usable = permitted.allowed[place] & ~self.forced & ties.permit(columns)
        self.place = {j: i for i, j in enumerate(columns)}
        self.most = most_parents(len(columns), degree)
        # strongest first, then by column
        self.order = np.argsort(-ties.strength[place], axis=1, kind="stable")

    def candidates(self, placed: list[int]) -> Candidates:
        """All pairs of a child that is left and a set of placed parents (Alg. 4, inner loop)."""
        stands = np.zeros(len(self.columns), dtype=bool)
        stands[[self.place[j] for j in placed]] = True
        parts = []
        for child in np.flatnonzero(~stands & (self.forced <= stands).all(axis=1)):
            ranked, forced = self.order[child], np.flatnonzero(self.forced[child])
            free = np.sort(ranked[(stands & self.usable[child])[ranked]][: self.most])
            size = min(max(self.degree - len(forced), 0), len(free))
            sets = free[subsets(tuple(range(len(free))), size)]
            rows = self.columns[np.hstack([np.tile(forced, (len(sets), 1)), sets])]
            parts.append((np.full(len(rows), self.columns[child]), rows))
        return join_parts(parts, self.ties.depends_on)
