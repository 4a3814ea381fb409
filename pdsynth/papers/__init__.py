"""The papers' experiments: their parameters, their figures, and claim by claim what replicates."""

import os
from typing import Any

import pandas as pd

from ..core import needed_for
from ..datasets.tables import Dataset
from .engine import PAPERS, find
from .grids import Run
from .results import Key, Result, Verdict

with needed_for("pdsynth.papers"):  # what its modules import without asking
    import plotly  # noqa: F401
    import scipy  # noqa: F401

__all__ = ["PAPERS", "Result", "Verdict", "readings", "reproduce"]


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
    reading: str | None = None,
    **options: Any,
) -> Result:
    """Run one experiment of a paper with the paper's parameters.

    ``paper="hpprivbayes"``: the thesis' figures 3 to 6 on Adult in its own coding.
    ``"hmprivbayes"``: figures 4 to 6 on Adult and Big5. ``"privabn"``: figures 1 to 3 on NLTCS, ACS
    and Retail, and table 2. ``"genetic"``: figures and tables of the GA paper. ``"sidebyside"``:
    figures 1 to 3, all algorithms at the same ε, all mixtures of parts, and the same promise to one
    attribute. ``"frontier"``: figure 1, what an attribute loses against the error on the rest.
    ``"courtroom"``: figures 1 and 2, audits. ``"yardsticks"``: figures 1 to 3 and table 1, our
    methods and their peers. ``"ppba"``: table 1, tree and q. ``"ablations"``: tables 1 to 5, one
    part of each algorithm changed at a time.

    ``figure`` or ``table``: which one (without either, the paper's first). ``repeats``: independent
    fits per point (None: the paper's own number, which can take hours). ``data``: another table in
    place of the paper's; its ``target`` and ``sensitive`` are used. ``resume``: a CSV that holds
    finished trials; they are not run again, new ones are added as they finish. ``jobs``: processes
    (−1: all cores), or workers of the ``distributed.Client`` in use. ``reading``: one of
    :func:`readings`, under which the claims that it is declared for are judged (None: the figure's
    own). ``options``: any of the paper's settings, for a quick look or for other values.

    Returns a :class:`Result`: ``data`` (one row per trial and metric), ``figure`` (Plotly),
    ``verdicts`` and ``deviation``. Raises BudgetError for a paper, figure, reading or option that
    doesn't exist.

    **Privacy:** an experiment on raw records, repeated many times; use public tables.
    """
    chosen = find(paper)
    key: Key = next(iter(chosen.titles)) if figure is None else figure
    if table is not None:
        key = f"table {table}"
    count = chosen.repeats if repeats is None else repeats
    run = Run(count, chosen.seed, data, progress, resume, jobs)
    return chosen.run(key, run, options, reading)


def readings(paper: str) -> pd.DataFrame:
    """The declared readings of a paper, one row each.

    Columns: name, says, whose ("print", "ours" or "forensic"), why, cost (the ε that it truly
    spends), of (figures and tables; empty: all), options (the settings it changes). Raises
    BudgetError for a paper that doesn't exist.
    """
    columns = ["name", "says", "whose", "why", "cost", "of", "options"]
    return pd.DataFrame([vars(r) for r in find(paper).readings().values()])[columns]
