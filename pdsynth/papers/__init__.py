"""The papers' experiments: their parameters, their figures, and claim by claim what replicates."""

from __future__ import annotations

import os
from typing import Any

from ..datasets import Dataset
from .engine import PAPERS, Key, Run, find
from .results import Result, Verdict

__all__ = ["PAPERS", "Result", "Verdict", "reproduce"]


def reproduce(
    paper: str,
    figure: int | None = None,
    repeats: int | None = None,
    *,
    table: int | None = None,
    progress: bool = False,
    resume: str | os.PathLike[str] | None = None,
    data: Dataset | None = None,
    jobs: int = -1,
    **options: Any,
) -> Result:
    """Run one experiment of a paper with the paper's parameters.

    ``paper="hpprivbayes"``: the thesis' figures 3 to 6 on Adult in its own coding. ``"hmprivbayes"``: figures 4 to 6 on Adult
    and Big5. ``"privabn"``: figures 1 to 3 on NLTCS, ACS and Retail, and table 2. ``"genetic"``: figures and tables of the GA paper.
    ``"sidebyside"``: figures 1 to 3, all algorithms at the same ε, all mixtures of parts, and the same promise to one attribute.

    ``figure`` or ``table``: which one (without either, the paper's first). ``repeats``: independent fits a point (None: the
    paper's own number, which can take hours). ``data``: another table in place of the paper's; its ``target`` and ``sensitive``
    are used. ``resume``: a CSV that holds finished trials; they are not run again, new ones are added as they finish.
    ``jobs``: processes (−1: all cores). ``options``: any parameter of the paper's ``Settings``, for a quick look or for other
    values than the paper's.

    Returns a :class:`Result`: ``data`` (one row a trial and metric), ``figure`` (Plotly), ``verdicts`` and ``deviation``.
    Raises BudgetError for a paper, figure or option that doesn't exist.

    **Privacy:** an experiment on raw records, repeated many times; use public tables.
    """
    chosen = find(paper)
    key: Key = f"table {table}" if table is not None else next(iter(chosen.titles)) if figure is None else figure
    run = Run(chosen.repeats if repeats is None else repeats, chosen.seed, data, progress, resume, jobs)
    return chosen.run(key, run, options)
