"""The papers' experiments: their parameters, their figures, and claim by claim what replicates."""

from __future__ import annotations

import os
from typing import Any

from ..datasets import Dataset
from ..errors import BudgetError
from .results import Result, Verdict

PAPERS = ("hpprivbayes",)

__all__ = ["PAPERS", "Result", "Verdict", "reproduce"]


def reproduce(
    paper: str,
    figure: int,
    repeats: int = 20,
    *,
    progress: bool = False,
    resume: str | os.PathLike[str] | None = None,
    data: Dataset | None = None,
    jobs: int = -1,
    **options: Any,
) -> Result:
    """Run one experiment of a paper with the paper's parameters.

    ``paper="hpprivbayes"``: the thesis' figures 3 to 6 on Adult in its own coding, or on ``data`` (a Dataset; its ``target``
    and ``sensitive`` are used). ``repeats``: independent fits a point (the thesis: 20). ``resume``: a CSV that holds finished
    trials; they are not run again, new ones are added as they finish. ``jobs``: processes (−1: all cores). ``options``: any
    parameter of :class:`pdsynth.papers.hpprivbayes_settings.Settings`, for a quick look or for other values than the paper's.

    Returns a :class:`Result`: ``data`` (one row a trial and metric), ``figure`` (Plotly), ``verdicts`` and ``deviation``.
    Raises BudgetError for a paper, figure or option that doesn't exist.

    **Privacy:** an experiment on raw records, repeated many times; use public tables.
    """
    if paper not in PAPERS:
        raise BudgetError(f"no experiments of {paper!r}; there are those of {', '.join(PAPERS)}")
    from . import hpprivbayes

    return hpprivbayes.run(figure, repeats, data=data, options=options, progress=progress, resume=resume, jobs=jobs)
