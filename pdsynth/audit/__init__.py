"""The courtroom: what a release loses in truth, measured in front of the reader.

``run`` audits one step of the catalogue by name, ``catalogue`` lists them, ``black_box`` takes anybody's synthesizer. A bound
above the claim refutes it with 95 % confidence; a bound below proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from ..budgets import positive
from . import floating, structure_cases, tables_cases, whole_cases
from .case import (
    NOT_REFUTED,
    VIOLATED,
    Case,
    OneByOne,
    OneSelection,
    Progress,
    Result,
    SameTwice,
    Sampled,
    ScaleTest,
    Seed,
    WholeLaw,
    audit,
    black_box,
)
from .detectors import (
    Many,
    Script,
    Silent,
    law,
    log_ratio,
    noise_scales,
    same_structure,
    selection_law,
)
from .estimator import Bound, ceiling, lower_bound, quantise
from .floating import Exhibit, exhibit
from .tables import Pair, zeros_to_ones

__all__ = [
    "NOT_REFUTED", "VIOLATED", "Bound", "Case", "Exhibit", "Many", "OneByOne", "OneSelection", "Pair", "Result", "SameTwice", "Sampled",
    "ScaleTest", "Script", "Silent", "WholeLaw", "black_box", "case", "catalogue", "ceiling", "exhibit", "law", "log_ratio", "lower_bound",
    "noise_scales", "quantise", "run", "run_all", "same_structure", "samples", "selection_law", "zeros_to_ones",
]  # fmt: skip

CASES: dict[str, Case] = {c.name: c for c in [*tables_cases.CASES, *structure_cases.CASES, *floating.CASES, *whole_cases.CASES]}
DEEP = 400_000


def case(name: str, epsilon: float | None = None) -> Case:
    """A case of the catalogue, with another claimed ε if given; KeyError with the names that exist."""
    if name not in CASES:
        raise KeyError(f"no audit case {name!r}; there are {', '.join(CASES)}")
    return CASES[name] if epsilon is None else replace(CASES[name], claimed=positive("epsilon", epsilon))


def run(
    which: str | Case, runs: int = 20_000, *, epsilon: float | None = None, seed: Seed = None, progress: Progress = False, audits: int = 1
) -> Result:
    """Audit one case: the ε that it loses for certain, against the ε that it claims.

    Parameters
    ----------
    which : a name of :func:`catalogue`, or a :class:`Case`.
    runs : releases of each of the two tables; 20,000 take seconds, 400,000 show more. Exact detectors need none.
    epsilon : another claimed ε than the case's own.
    seed : None draws from the operating system; a number repeats the audit bit by bit.
    progress : True prints a line; a function gets (done, total).
    audits : how many audits are read together (Bonferroni).

    >>> run("privabn-conditional-noise", runs=2000, seed=1).verdict
    'violated'
    """
    chosen = case(which, epsilon) if isinstance(which, str) else which
    return audit(chosen, runs, seed=seed, progress=progress, audits=audits)


def run_all(runs: int = 20_000, *, names: list[str] | None = None, seed: Seed = None, progress: Progress = False) -> Iterator[Result]:
    """All cases, one result after the other; the error of 5 % is shared by all of them (Bonferroni)."""
    chosen = [case(name) for name in (names or CASES)]
    for one in chosen:
        yield audit(one, runs, seed=seed, progress=progress, audits=len(chosen))


def samples(which: str | Case, runs: int = 20_000, *, epsilon: float | None = None, seed: Seed = None) -> tuple:
    """The integer statistics of both worlds, for pictures: two int64 arrays. TypeError for cases with an exact detector."""
    chosen = case(which, epsilon) if isinstance(which, str) else which
    if not isinstance(chosen.attack, (Sampled, OneByOne)):
        raise TypeError(f"{chosen.name!r} is computed exactly ({chosen.attack.method}): there is nothing to sample")
    return chosen.attack.samples(chosen, runs, seed)


def catalogue() -> pd.DataFrame:
    """All cases: what is broken, where it stands, what it claims and what it truly costs, and what is expected of the audit."""
    rows = [{"case": c.name, "about": c.about, "source": c.source, "claimed": float(c.claimed), "theory": c.theory(c.claimed),
             "expected": c.expect, "method": c.attack.method, "tier": c.tier, "twin": c.twin} for c in CASES.values()]  # fmt: skip
    return pd.DataFrame(rows)
