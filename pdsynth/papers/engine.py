"""One engine for every paper: settings, grids of trials, tidy frames, results.

What a paper's module must offer: ``PAPER``, a :class:`Paper`. Its ``trials`` runs the experiment behind one figure or table,
usually by handing one or more :class:`Grid` to :meth:`Run.measure`, and returns one tidy frame: one row a trial and metric with
the columns ``metric``, then whatever says which point it is (``dataset``, ``method``, ``guarantee``, ``k``, ``epsilon``, …), then
``repeat``, ``seed``, ``value``, ``note``. A frame measured in any other way will do as well, if it has these columns. ``draw``,
``judge`` and ``deviations`` see that frame and the settings alone, so that a committed CSV gives the same figure and verdicts.
Figures are keyed by their number, tables by "table N". Add the module's name to ``PAPERS``: ``reproduce``, ``figures/make.py``
and the index page then know it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..counting.tables import Records
from ..errors import BudgetError
from ..evaluation import compare
from .results import Result, Verdict

PAPERS = ("hpprivbayes", "hmprivbayes", "privabn", "genetic", "frontier", "sidebyside", "courtroom")
NO_NOISE = float("inf")  # the ε of a run without noise
NUMBERS = {"epsilon": float, "repeat": int, "seed": int, "value": float}  # every other column of a tidy frame is text

Key = int | str


@dataclass(frozen=True)
class Curve:
    """One method with its parameters, all as text as in the CSV; a paper may subclass it with further ones."""

    method: str
    guarantee: str
    k: str = ""

    @property
    def name(self) -> str:
        """A unique name for the grid."""
        return "|".join(astuple(self))


@dataclass(frozen=True)
class Grid:
    """Curves × ε on one table, one call of ``compare``.

    ``curves``: each curve with its unfitted synthesizer. ``measures``: measures of ``compare`` with the names they have in the
    figure; the value of "misclassification" is one minus the accuracy. ``labels``: further columns, equal in all rows.
    ``options``: further keywords of ``compare``. Without ``epsilons`` the curves have no noise, and an infinite ε.
    """

    dataset: Any
    curves: Mapping[Any, Any]
    measures: Mapping[str, str]
    epsilons: Sequence[Any] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Run:
    """How an experiment is run: repeats, seed, the user's table, file of finished trials; ``tables`` and ``facts`` go into the result."""

    repeats: int
    seed: int
    data: Any = None
    progress: bool = False
    resume: str | os.PathLike[str] | None = None
    jobs: int = -1
    tables: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def measure(self, *grids: Grid, repeats: int | None = None) -> pd.DataFrame:
        """Run grids one after the other: their tidy frame. ``repeats``: fewer than the figure's, for a slow part."""
        return pd.concat([self._measured(grid, repeats or self.repeats) for grid in grids if grid.curves], ignore_index=True)

    def _measured(self, grid: Grid, repeats: int) -> pd.DataFrame:
        self.tables[grid.dataset.name] = len(grid.dataset.frame)
        path = None if self.resume is None else Path(self.resume)
        rows = compare({c.name: s for c, s in grid.curves.items()}, grid.dataset, tuple(grid.epsilons) or (1.0,), repeats,
                       tuple(grid.measures), seed=self.seed, jobs=self.jobs, progress=self.progress, resume=path,
                       **grid.options)  # fmt: skip
        if not grid.epsilons:
            rows = rows.assign(epsilon=NO_NOISE)
        return tidy(rows, grid)

    def each(self, work: Callable[..., Any], items: Sequence[tuple[Any, ...]], words: str) -> Iterator[tuple[int, Any]]:
        """What doesn't fit a grid: ``work(*item)`` for every item, in processes; number and result of each as it ends."""
        from joblib import Parallel, delayed
        from tqdm.auto import tqdm

        numbered = (delayed(_numbered)(at, work, item) for at, item in enumerate(items))
        done: Iterator[tuple[int, Any]] = Parallel(n_jobs=self.jobs, return_as="generator_unordered")(numbered)
        yield from tqdm(done, total=len(items), desc=words, unit="fit", disable=not self.progress)


def _numbered(at: int, work: Callable[..., Any], item: tuple[Any, ...]) -> tuple[int, Any]:
    return at, work(*item)


def tidy(rows: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """One row a trial and metric, the curve's parts as columns; times are left out, so that a rerun gives the same bytes.

    Where real rows train the classifier, the share of the most frequent class is added as the curve "majority class".
    """
    names = [f.name for f in fields(next(iter(grid.curves)))]
    frame = rows["method"].str.split("|", expand=True).set_axis(names, axis=1)
    for at, (name, text) in enumerate(grid.labels.items()):
        frame.insert(at, name, text)
    frame.insert(0, "metric", rows["measure"].map(dict(grid.measures)))
    note = rows["note"].where(rows["value"].isna(), "")
    frame = frame.assign(**{c: rows[c] for c in ("epsilon", "repeat", "seed", "value")}, note=note)
    judged = (frame["method"] == "real data") & rows["measure"].str.startswith("svm")
    if judged.any():
        share = rows.loc[judged, "note"].str.extract(r"majority ([0-9.]+)")[0].astype(float)
        frame = pd.concat([frame, frame[judged].assign(method="majority class", value=share)], ignore_index=True)
    wrong = frame["metric"] == "misclassification"
    frame.loc[wrong, "value"] = 1 - frame.loc[wrong, "value"]
    return frame


@dataclass(frozen=True)
class Paper:
    """A paper's experiments; see the module's docstring.

    ``heading`` and ``reading``: title and introduction of its part of the index page (Markdown). ``titles``: what it offers.
    ``settings``: a frozen dataclass of parameters, all with defaults. ``repeats``: the paper's own. ``appendix``: Markdown that
    follows a figure on the index page. ``beside``: the paper's printed numbers beside ours (see :class:`Result`), or None.
    ``bars``: what the error bars are; ``seeds``: what starts from ``{seed}``. ``notes``: the words above ``deviations``.
    """

    name: str
    heading: str
    reading: str
    titles: Mapping[Key, str]
    settings: type
    repeats: int
    seed: int
    trials: Callable[[Key, Any, Run], pd.DataFrame]
    draw: Callable[[Key, pd.DataFrame, Any], Any]
    judge: Callable[[Key, pd.DataFrame, Any], Sequence[Verdict]]
    deviations: Callable[[Key, Any], Sequence[str]]
    appendix: Callable[[Key, Result], str] = lambda key, result: ""
    beside: Callable[[Key, pd.DataFrame, Any], pd.DataFrame | None] = lambda key, data, settings: None
    bars: str = "95 % confidence interval of the mean (Student's t). Standard deviations are in the points."
    seeds: str = "the splits from {seed}, each fit from a digest of its method, parameters, ε, repeat and table"
    notes: str = "What differs from the paper, and what it leaves open"

    def checked(self, key: Key, repeats: int, options: Mapping[str, Any]) -> Any:
        """Settings from options; BudgetError for a figure, a number of repeats or an option that doesn't exist."""
        if key not in self.titles:
            offered = ", ".join(stem(k) for k in self.titles)
            raise BudgetError(f"the experiments of {self.name} are {offered}, not {stem(key)}")
        if repeats < 1:
            raise BudgetError(f"repeats must be at least 1, got {repeats}")
        known = [f.name for f in fields(self.settings)]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise BudgetError(f"no option {', '.join(unknown)}; there are {', '.join(known)}")
        return self.settled(options)

    def settled(self, parameters: Mapping[str, Any]) -> Any:
        """The settings among the parameters of an experiment."""
        known = {f.name for f in fields(self.settings)}
        return self.settings(**{name: _frozen(value) for name, value in parameters.items() if name in known})

    def run(self, key: Key, run: Run, options: Mapping[str, Any]) -> Result:
        """Run one experiment, draw and judge it."""
        settings = self.checked(key, run.repeats, options)
        frame = self.trials(key, settings, run)
        parameters = {"tables": run.tables, "repeats": run.repeats, "seed": run.seed, **run.facts, **asdict(settings)}
        return self.assemble(key, frame, parameters)

    def assemble(self, key: Key, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> Result:
        """Figure and verdicts from finished trials and the parameters beside them."""
        settings = self.settled(parameters)
        verdicts = tuple(self.judge(key, frame, settings))
        return Result(self.titles[key], frame, self.draw(key, frame, settings), verdicts, tuple(self.deviations(key, settings)), parameters,
                      self.beside(key, frame, settings))  # fmt: skip


def _frozen(value: Any) -> Any:
    """Lists, as JSON has them, become tuples."""
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


def stem(key: Key) -> str:
    """Name of a figure's or table's files: fig3, table2."""
    return f"fig{key}" if isinstance(key, int) else str(key).replace(" ", "")


def find(name: str) -> Paper:
    """A paper by its name; BudgetError for one that isn't there."""
    if name not in PAPERS:
        raise BudgetError(f"no experiments of {name!r}; there are those of {', '.join(PAPERS)}")
    found: Paper = import_module(f"{__package__}.{name}").PAPER
    return found


def read(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Tidy trials from a CSV written by ``Result.data.to_csv``."""
    columns = pd.read_csv(path, nrows=0).columns
    text = {name: str for name in columns if name not in NUMBERS}
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values={"value": [""]})


class RealData:
    """Stands where a synthesizer stands and hands the training records back: the upper line of an SVM plot."""

    guarantee = "none"

    def get_params(self) -> dict[str, Any]:
        """It has no parameters."""
        return {}

    def clone(self) -> RealData:
        """Another one."""
        return RealData()

    def set_params(self, **params: Any) -> RealData:
        """Ignores ε and the seed."""
        return self

    takes_records = True

    def fit(self, records: Records) -> RealData:
        """Remembers the records."""
        self.model_, self.codes = self, records.codes
        return self

    def sample_codes(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """The records.

        **Privacy:** none at all.
        """
        return self.codes[:n]
