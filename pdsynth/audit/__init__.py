"""The courtroom: what a release loses in truth, measured in front of the reader.

``replay`` computes what a fit loses between two tables, step by step and exactly. ``run`` audits
one step of the catalogue by name, ``catalogue`` lists them, ``black_box`` takes anybody's
synthesizer. A bound above the claim refutes it with 95 % confidence; a bound below proves nothing,
and each audit says how large a violation it would have seen.
"""

from collections.abc import Iterator
from dataclasses import replace
from zlib import crc32

import pandas as pd

from ..core import BudgetError, is_one_of, positive, show, to_list, wanted
from ..core import progress as bars
from ..evaluation.parallel import run_each
from .attacks import Sampled, Samples, Sampling, black_box
from .case import NOT_REFUTED, VIOLATED, Case, Effort, Progress, Result
from .cases import CASES
from .detectors import Seed
from .estimator import Bound, ceiling, lower_bound, quantise
from .floating import Exhibit, exhibit
from .pairs import Pair, zeros_to_ones
from .replays import Replay, replay
from .transcripts import Transcripts

__all__ = [
    "CASES",
    "DEEP",
    "NOT_REFUTED",
    "VIOLATED",
    "Bound",
    "Case",
    "Exhibit",
    "Pair",
    "Replay",
    "Result",
    "Sampled",
    "Transcripts",
    "black_box",
    "case",
    "catalogue",
    "ceiling",
    "exhibit",
    "lower_bound",
    "quantise",
    "replay",
    "run",
    "run_all",
    "samples",
    "zeros_to_ones",
]

DEEP = 400_000


def seed_of(seed: Seed, name: str, epsilon: float | None, runs: int) -> int | None:
    """The seed of one audit of many, from everything that decides it; None stays None."""
    return None if seed is None else crc32(f"{seed}|{name}|{epsilon}|{runs}".encode())


def case(which: str | Case, epsilon: float | None = None) -> Case:
    """A case by name, with another claimed ε if given; BudgetError with the names that exist."""
    if not isinstance(which, Case) and not is_one_of(which, CASES):
        raise BudgetError(f"no audit case {show(which)}; there are {', '.join(CASES)}")
    base = CASES[which] if isinstance(which, str) else which
    return base if epsilon is None else replace(base, claimed=positive("epsilon", epsilon))


def run(
    which: str | Case,
    runs: int = 20_000,
    *,
    epsilon: float | None = None,
    seed: Seed = None,
    progress: Progress = True,
    audits: int = 1,
) -> Result:
    """Audit one case: the ε that it loses for certain, against the ε that it claims.

    Parameters
    ----------
    which : a name of :func:`catalogue`, or a :class:`Case`. ``epsilon``: another claimed ε.
    runs : releases of each table; 20,000 take seconds, 400,000 show more; exact detectors: none.
    seed : None draws from the operating system; a number repeats the audit bit by bit.
    progress : False shows no bar; a function gets (done, total).
    audits : how many audits are read together (Bonferroni).

    >>> run("privabn-conditional-noise", runs=2000, seed=1).verdict
    'violated'
    """
    return case(which, epsilon).run(Effort(runs, seed, progress, audits))


def run_all(
    runs: int = 20_000,
    *,
    names: list[str] | None = None,
    seed: Seed = None,
    progress: Progress = True,
    jobs: int = -1,
) -> Iterator[Result]:
    """All cases, one result after the other; they share the error of 5 % (Bonferroni).

    ``jobs``: processes (−1: all cores; 1: none extra), or workers of the ``distributed.Client``
    that is in use. A seed gives the same results wherever a case runs, each its own stream.
    ``progress``: False shows no bar; a function gets (done, total), in cases.
    """
    listed = list(CASES) if names is None else to_list("names", names, BudgetError)
    for which in listed:
        case(which)  # refused before anything is started
    Effort(runs, seed)
    items = [
        (which, Effort(runs, seed_of(seed, case(which).name, None, runs), False, len(listed)))
        for which in listed
    ]
    results = run_each(_run_alone, items, 1 if len(items) < 2 else jobs, in_order=True)
    with wanted(bool(progress) and not callable(progress)):
        stream = bars(results, "audits", len(items), "case")
    for done, result in enumerate(stream, 1):
        if callable(progress):
            progress(done, len(items))
        yield result


def _run_alone(which: str | Case, effort: Effort) -> Result:
    """A case, perhaps in a process of its own."""
    return case(which).run(effort)


def samples(
    which: str | Case, runs: int = 20_000, *, epsilon: float | None = None, seed: Seed = None
) -> Samples:
    """The integer statistics of both worlds, for pictures: two int64 arrays.

    TypeError for cases with an exact detector.
    """
    chosen = case(which, epsilon)
    if not isinstance(chosen.attack, Sampling):
        raise TypeError(
            f"{chosen.name!r} is computed exactly ({chosen.attack.method}): "
            "there is nothing to sample"
        )
    return chosen.attack.samples(chosen, Effort(runs, seed))


def catalogue() -> pd.DataFrame:
    """All cases: what is broken and where, its claim, its true cost, what an audit should say."""
    return pd.DataFrame(
        [
            {
                "case": c.name,
                "about": c.about,
                "source": c.source,
                "claimed": float(c.claimed),
                "theory": c.theory(c.claimed),
                "expected": c.expect,
                "method": c.attack.method,
                "tier": c.tier,
                "twin": c.twin,
            }
            for c in CASES.values()
        ]
    )
