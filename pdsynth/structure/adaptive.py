"""ABN: PrivABN's structure learner, whose parent sets grow by one attribute at a time."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..domain.facts import Facts
from ..domain.progress import progress
from ..domain.schema import Schema
from ..errors import BudgetError, plural
from ..measures import GRID, SCORES
from ..network import Network
from ..privacy.curator import Candidates, Curator
from ..privacy.mechanisms import Noise
from ..privacy.numbers import positive
from ..privacy.unit import ONE_REPLACED
from ..published import raw_door
from .candidates import Pair, join_pairs
from .learner import Shares, StructureResult, name_origin
from .limits import check_width
from .parent_rules import AUTO_CELLS, MAX_PARENTS, MaxCells, check_cells, check_parents
from .restrictions import Permitted, Restriction, check_restriction

CANDIDATES = "PrivABN Alg 2 line 5 and Alg 3"
SELECTION = "PrivABN Alg 2 line 6"
RAW = (
    "'no other operations involve … the original dataset', but dp[S, j] is an argmax over it: "
    "neighbours offer different candidates"
)


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
    return curator.select(
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

        ``store``: what :meth:`~pdsynth.privacy.curator.Curator.parent_sets` hands out.
        """
        store.keep(self.offer(f, np.rint(store.grow(f) * GRID).astype(np.int64)))

    def candidates(self) -> tuple[Candidates, np.ndarray]:
        """All (S, dp[S, j]) in blocks of equal j, and their scores: line 5 of Algorithm 2."""
        children = list(self.sets)
        widest = range(len(self.sets[children[0]]))
        blocks = tuple(
            (
                np.array(children, dtype=np.int64),
                np.array([self.sets[c][j] for c in children], dtype=np.int64),
            )
            for j in widest
        )
        scores = [self.scores[c][j] for j in widest for c in children]
        return Candidates(blocks), np.array(scores, dtype=np.int64)

    def drop(self, child: int) -> None:
        """Forget a child that has entered the network."""
        del self.sets[child], self.scores[child]


@dataclass(frozen=True)
class Adaptive:
    """PrivABN: parent sets of two-valued attributes grow; under strict until noise outweighs them.

    ``k``: largest number of parents; ``"auto"``: no cap as printed, the largest θ-useful number
    under strict. A ``restriction`` holds under strict only: the printed programme has no place for
    one.
    """

    k: int | str = "auto"
    theta_usefulness: float = 4
    restriction: Restriction | None = None

    draw: ClassVar[Callable[..., Pair]] = staticmethod(draw_pair)  # of published runs
    choice: ClassVar[type[ParentChoice]] = ParentChoice  # and their GParentSet

    def check(self, facts: Facts) -> None:
        """Refuse impossible degrees and restrictions, and attributes of more than two values."""
        check_parents(self.k, len(facts.schema))
        facts.choose(strict=check_cells, printed=check_configurations)(self.k, facts.schema)
        check_width(len(facts.schema), "an adaptive network", "two-valued columns")
        positive("theta_usefulness", self.theta_usefulness)
        if self.restriction is not None:
            permitted = self.permitted(facts)
            if not isinstance(self.k, str):
                permitted.check(int(self.k))
            if facts.guarantee != "strict":  # the printed programme has no place for one
                raise BudgetError(
                    "Adaptive() takes a restriction under guarantee='strict' only, "
                    f"not under {facts.guarantee!r}"
                )
        if max(facts.schema.sizes) > 2:
            raise BudgetError(
                "Adaptive() needs two-valued attributes: use PrivABN, which takes "
                "every table through its bits"
            )

    def reads_rows(self, facts: Facts) -> bool:
        """Whether it needs the distinct rows of the whole table: the printed programme does."""
        return facts.choose(strict=False, printed=True)

    def asks(self, facts: Facts) -> Shares:
        """All of it, unless under strict no edge is worth its noise or policy settles all."""
        nothing = self.largest(facts) == 0 or not self.permitted(facts).searchable
        return {} if facts.choose(strict=nothing, printed=False) else {"selections": Fraction(1)}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """ABN with raw candidates as printed, nested selections under strict.

        **Privacy:** as :func:`abn_published` and :func:`abn_strict`; ε₁, of which what STOP leaves
        over is charged all the same.
        """
        names, known = facts.schema.names, tuple((self.restriction or Restriction()).sensitive)
        epsilon1 = shares.get("selections", Fraction(0))
        if not epsilon1:
            return StructureResult(self.permitted(facts).forced_network(names), known=known)
        grow = facts.choose(strict=self._nested, printed=self._printed)
        pairs, rule = grow(curator, epsilon1, facts)
        found = StructureResult(Network.of_columns(pairs, names), known=known, rule=rule)
        return name_origin(found, curator)

    def _printed(self, curator: Curator, epsilon: Fraction, facts: Facts) -> tuple[list[Pair], str]:
        most = None if isinstance(self.k, str) else int(self.k)
        pairs = abn_published(
            curator, epsilon, curator.noise, most=most, draw=self.draw, choice=self.choice
        )
        return pairs, "adaptive" if most is None else f"at most {plural(most, 'parent')}"

    def _nested(self, curator: Curator, epsilon: Fraction, facts: Facts) -> tuple[list[Pair], str]:
        most, m = self.largest(facts), len(facts.schema)
        total = count_selections(m, most)
        pairs, used = abn_strict(
            curator,
            epsilon / total,
            curator.noise,
            most=most,
            tables=m,
            epsilon2=facts.epsilon2,
            restriction=self.restriction,
        )
        curator.charge_unused(
            epsilon * (total - used) / total, "selections that STOP left over", "algorithms §6.4"
        )
        return pairs, f"at most {plural(most, 'parent')}"

    def permitted(self, facts: Facts) -> Permitted:
        """The restriction over the columns of the schema."""
        return check_restriction(self.restriction, "auto", facts.schema)

    def largest(self, facts: Facts) -> int:
        """In-degree of a strict network: k, or for ``"auto"`` with 2^(k+1) θ-useful cells."""
        if not isinstance(self.k, str):
            return int(self.k)
        m, theta = len(facts.schema), positive("theta_usefulness", self.theta_usefulness)
        useful = min(MaxCells.of(facts.n, m, facts.epsilon2, theta).cells, Fraction(AUTO_CELLS))
        return min(max(math.floor(useful).bit_length() - 2, 0), m - 1)


def check_configurations(k: Any, schema: Schema) -> None:
    """Refuse in-degrees whose configurations, of two-valued parents, don't fit 64 bits."""
    m = len(schema)
    widest = m - 1 if isinstance(k, str) else min(int(k), m - 1)
    if widest > MAX_PARENTS:
        raise BudgetError(
            f"without a cap a table of {m} bits can have {widest} parents a node; their "
            f"configurations are kept in 64 bits: cap the in-degree with k = {MAX_PARENTS} or less"
        )


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

    Readings (`algorithms` §6.2): "conditional entropy" is mutual information, in bits; GParentSet
    is called with k = i−1; j descends; an undefined dp[S, j] takes Π'. The programme isn't optimal,
    though the paper says so: of an exclusive or it sees neither parent.

    **Privacy:** none worth the name. The candidates are argmaxes over the records: one unaccounted
    access. The score is in bits and the printed sensitivity in nats, so each selection truly costs
    1.4427 times the ε/(d−1) it claims. Raises PrivacyError under ``strict``: use
    :func:`abn_strict`.
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


def count_selections(d: int, most: int) -> int:
    """Selections that :func:`abn_strict` may need for d attributes: Σ min(most, i−1)."""
    return sum(min(most, i - 1) for i in range(2, d + 1))


def growth_penalty(size: int, n: int, tables: int, epsilon2: Fraction) -> int:
    """What a set of ``size`` parents pays for one more, in K: 2n² (pen(size+1) − pen(size)).

    pen(j) = 2^(j+1) m / (n ε₂) is the expected distance that the noise of a table with j parents
    adds; it depends on public numbers only. Beyond 2^60 it stays there, so that scores fit 64 bits.
    """
    scale = ONE_REPLACED.scale(epsilon2, tables)
    return min(math.floor(n * 2 ** (size + 1) * scale), 2**60)


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
) -> tuple[list[Pair], int]:
    """ABN by nested exponential mechanisms of ``each`` (`algorithms` §6.4), and how many it used.

    For every node: one selection over (S, {p}), p placed before; then up to ``most`` − 1 further
    ones over the remaining placed attributes and STOP, with score R less the public penalty of
    :func:`growth_penalty` for ``tables`` tables that share ``epsilon2``. STOP is the set as it
    stands. A node without placed attributes left to add stops by itself. What a ``restriction``
    settles stands first; forced parents are in a set from the beginning.

    **Privacy:** every selection costs ``each``: its candidates are all placed attributes that
    policy permits, its penalty is public, its score R of a two-valued child has sensitivity 4(n−1)
    in units of K. At most :func:`count_selections` of them.
    """
    columns = list(range(len(curator.schema)) if columns is None else columns)
    permitted = (restriction or Restriction()).on(curator.schema.names)
    roots = permitted.ready(columns, permitted.fixed_order)
    pairs: list[Pair] = list(permitted.fixed_pairs) or [
        (roots[noise.child(f"root{label}").below(len(roots))], ())
    ]
    used = 0
    for _ in progress(range(len(pairs), len(columns)), f"network{label}", unit="attribute"):
        placed = [child for child, _ in pairs]
        where = f"{len(placed) + 1} of {len(columns)}{label}"
        ready = permitted.ready([c for c in columns if c not in placed], placed)
        first = [(c, *permitted.parents(c, placed)) for c in ready]
        offered = [
            (c, (*forced, p)) for c, forced, free in first if len(forced) < most for p in free
        ]
        offered += [(c, forced) for c, forced, free in first if len(forced) >= most or not free]
        child, parents = curator.select(
            join_pairs(offered), "R", each, step=f"pair {where}", source=SELECTION
        )
        used += 1
        free = permitted.parents(child, placed)[1]
        while len(parents) < most and set(free) - set(parents):
            more = [(child, (*parents, p)) for p in free if p not in parents]
            penalty = growth_penalty(len(parents), curator.n, tables, epsilon2)
            offsets = np.array([0, *[-penalty] * len(more)], dtype=np.int64)  # STOP comes first
            _, larger = curator.select(
                join_pairs([(child, parents), *more]),
                "R",
                each,
                offsets=offsets,
                source=SELECTION,
                step=f"parent {len(parents) + 1} of {where}",
            )
            used += 1
            if larger == parents:
                break
            parents = larger
        pairs.append((child, parents))
    return pairs, used
