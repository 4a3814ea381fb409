"""The bug zoo's keeper: audits a function, names the rule that it breaks, and shows a witness.

A function gets codes (n, d), public sizes, ε and a random source, and returns what it publishes. It
is tried on the pairs of neighbouring tables of its kind.
"""

from collections.abc import Callable
from dataclasses import dataclass

from . import bugs, examine, pairs
from .detectors import extend_seed
from .examine import LEMMAS, SOUND, Diagnosis, Function, Trial
from .pairs import Pair
from .structure_steps import list_lone_ones

__all__ = ["KINDS", "LEMMAS", "ZOO", "Bug", "Diagnosis", "Kind", "check"]


@dataclass(frozen=True)
class Kind:
    """How functions of a kind are called, the pairs that try them, and who examines them.

    ``code``: the rule that a loss beyond ε breaks.
    """

    call: str
    pairs: Callable[[], tuple[Pair, ...]]
    code: str
    examine: Callable[[Trial], Diagnosis]


@dataclass(frozen=True)
class Bug:
    """One inmate: its name in `trust`, where it was found, both copies, and the broken rule."""

    name: str
    found: str
    kind: str
    right: Function
    wrong: Function
    code: str


KINDS = {
    name: Kind(
        row["call"],
        getattr(pairs, row["pairs"]),
        row["code"],
        getattr(examine, f"examine_{row['examine']}"),
    )
    for name, row in examine.DATA["kinds"].items()
}
ZOO = [
    Bug(**row | {side: getattr(bugs, row[side]) for side in ("right", "wrong")})
    for row in examine.DATA["bugs"]
]


def check(function: Function, kind: str, *, runs: int = 6000, seed: int | None = None) -> Diagnosis:
    """Audit a function of one of the :data:`KINDS`: the first broken rule, or "not refuted".

    Parameters
    ----------
    function : called as the kind says; its noise must come from the source that it gets.
    kind : "table", "added", "tables", "conditional", "selection", "choice", "file" or "with delta".
    runs : releases of each table where sampling is needed.
    seed : None draws from the operating system.

    Raises KeyError for an unknown kind, TypeError for outputs that aren't numbers, and what the
    function raises.
    """
    if kind not in KINDS:
        raise KeyError(f"no kind {kind!r}; there are {', '.join(KINDS)}")
    chosen = KINDS[kind]
    for number, pair in enumerate(chosen.pairs()):
        arguments = (list_candidates(pair),) if kind == "selection" else ()
        trial = Trial(function, chosen.code, pair, arguments, runs, extend_seed(seed, number))
        diagnosis = chosen.examine(trial)
        if not diagnosis.sound:
            return diagnosis
    return SOUND


def list_candidates(pair: Pair) -> list[tuple[int, tuple[int, ...]]]:
    """Public candidates (child, parents) of each of :func:`pairs.selection_pairs`."""
    if len(pair.sizes) == 3:
        return [(2, (0,)), (2, (1,))]
    if len(pair.before) == 10_001:
        later = range(1, len(pair.sizes))
        return [(0, (a, b)) for a in later for b in later if a < b]
    candidates = list_lone_ones()
    return [candidates[i] for i in range(len(candidates))]
