"""What is run: grids of curves × ε, their tidy frames, and trials that don't fit a grid."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import astuple, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from ..core import Records, progress, wanted, warn
from ..evaluation.compare import compare
from ..evaluation.parallel import run_each

NO_NOISE = float("inf")  # the ε of a run without noise
NUMBERS = {"epsilon": float, "repeat": int, "seed": int, "value": float}  # all others are text


@dataclass(frozen=True)
class Curve:
    """One method with its parameters, all as text as in the CSV; a paper may add further ones."""

    method: str
    guarantee: str = "none"
    k: str = ""

    @property
    def name(self) -> str:
        """A unique name for the grid."""
        return "|".join(astuple(self))

    @property
    def degree(self) -> Any:
        """The k that a synthesizer takes: a number where it is one."""
        return int(self.k) if self.k.isdigit() else self.k

    @property
    def keywords(self) -> dict[str, Any]:
        """What every synthesizer takes: guarantee and simulation noise (nothing is released)."""
        return {"guarantee": self.guarantee, "noise": "common"}


@dataclass(frozen=True)
class Grid:
    """Curves × ε on one table, one call of ``compare``.

    ``curves``: each curve with its unfitted synthesizer. ``measures``: measures of ``compare`` with
    the names they have in the figure; the value of "misclassification" is one minus the accuracy.
    ``labels``: further columns, equal in all rows. ``options``: further keywords of ``compare``.
    Without ``epsilons`` the curves have no noise, and an infinite ε.
    """

    dataset: Any
    curves: Mapping[Any, Any]
    measures: Mapping[str, str]
    epsilons: Sequence[Any] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Run:
    """How an experiment is run: repeats, seed, the user's table, file of finished trials.

    ``only``: curves to run, by their parts, the labels of their grid and the metric (empty: all).
    ``whole``: whether a table whose file isn't there stops it; else it is left out, and ``missing``
    says why, as long as another one is there. ``tables`` (name → rows) and ``facts`` are filled
    while it runs and go into the result.
    """

    repeats: int
    seed: int
    data: Any = None
    progress: bool = False
    resume: str | os.PathLike[str] | None = None
    jobs: int = -1
    tables: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    only: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path | None:
        """The file of finished trials."""
        return None if self.resume is None else Path(self.resume)

    def load(self, tables: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """The user's own table in the place of all others, or these, by name."""
        if self.data is not None:
            return {self.data.name: self.data}
        datasets = {}
        for at, (name, make) in enumerate(tables.items(), 1):
            try:
                datasets[name] = make()
            except FileNotFoundError as problem:
                if self.whole or not datasets and at == len(tables):
                    raise
                self.missing[name] = str(problem)
                warn(f"{name} is left out: {problem}")
        return datasets

    def measure(self, *grids: Grid, repeats: int | None = None) -> pd.DataFrame:
        """Run grids one after the other. ``repeats``: fewer than the figure's, for a slow part."""

        def chosen(g: Grid) -> Grid:
            return replace(
                g,
                curves={
                    c: s
                    for c, s in g.curves.items()
                    if matches(vars(c) | dict(g.labels), self.only)
                },
                measures={
                    m: name
                    for m, name in g.measures.items()
                    if matches({"metric": name}, self.only)
                },
            )

        selection = list(map(chosen, grids))
        frames = [self._measure(grid, repeats or self.repeats) for grid in selection if grid.curves]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def _measure(self, grid: Grid, repeats: int) -> pd.DataFrame:
        self.tables[grid.dataset.name] = len(grid.dataset.frame)
        rows = compare(
            {c.name: s for c, s in grid.curves.items()},
            grid.dataset,
            tuple(grid.epsilons) or (1.0,),
            repeats,
            tuple(grid.measures),
            seed=self.seed,
            jobs=self.jobs,
            progress=self.progress,
            resume=self.store,
            **grid.options,
        )
        return tidy(rows if grid.epsilons else rows.assign(epsilon=NO_NOISE), grid)

    def each(
        self, work: Callable[..., Any], items: Sequence[tuple[Any, ...]], words: str
    ) -> Iterator[tuple[int, Any]]:
        """``work(*item)`` for every item, in processes or on Dask: number, result, as it ends."""
        calls = ((at, work, item) for at, item in enumerate(items))
        with wanted(self.progress):
            yield from progress(run_each(_number, calls, self.jobs), words, len(items), "fit")


def matches(point: Mapping[str, Any], only: Mapping[str, Any]) -> bool:
    """Whether a point has the values that ``only`` names; a list names alternatives.

    >>> matches({"method": "JTree", "k": ""}, {"method": ["JTree", "PrivBayes"]})
    True
    """
    return all(
        point[n] in (v if isinstance(v, list) else [v]) for n, v in only.items() if n in point
    )


def rows_that_match(data: pd.DataFrame, only: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of a tidy frame that ``matches`` keeps."""
    mask = np.ones(len(data), dtype=bool)
    for name in only.keys() & {*data.columns}:
        values = only[name] if isinstance(only[name], list) else [only[name]]
        mask &= data[name].isin(values).to_numpy()
    return data[mask]


def _number(at: int, work: Callable[..., Any], item: tuple[Any, ...]) -> tuple[int, Any]:
    return at, work(*item)


def tidy(rows: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """One row per trial and metric, the curve's parts as columns.

    Times are left out, so that a rerun gives the same bytes. Where real rows train the classifier,
    the share of the most frequent class is added as the curve "majority class".
    """
    names = [f.name for f in fields(next(iter(grid.curves)))]
    frame = rows["method"].str.split("|", expand=True).set_axis(names, axis=1)
    for at, (name, text) in enumerate(grid.labels.items()):
        frame.insert(at, name, text)
    frame.insert(0, "metric", rows["measure"].map(dict(grid.measures)))
    note = rows["note"].where(rows["value"].isna(), "")
    frame = frame.assign(**{c: rows[c] for c in NUMBERS}, note=note)
    real = (frame["method"] == "real data") & rows["measure"].str.startswith("svm")
    if real.any():
        share = rows.loc[real, "note"].str.extract(r"majority ([0-9.]+)")[0].astype(float)
        majority = frame[real].assign(method="majority class", value=share)
        frame = pd.concat([frame, majority], ignore_index=True)
    wrong = frame["metric"] == "misclassification"
    frame.loc[wrong, "value"] = 1 - frame.loc[wrong, "value"]
    return frame


def read(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Tidy trials from a CSV written by ``Result.data.to_csv``."""
    text = {name: str for name in pd.read_csv(path, nrows=0).columns if name not in NUMBERS}
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values={"value": [""]})


class Contender:
    """Stands where a synthesizer stands: coded records in, codes of another table out."""

    guarantee = "none"
    takes_records = True

    def get_params(self) -> dict[str, Any]:
        """What decides its result, but ε and the seed."""
        return {}

    def clone(self) -> Self:
        """An unfitted copy."""
        return copy(self)

    def set_params(self, **params: Any) -> Self:
        """Takes ε and the seed where it has them."""
        vars(self).update({name: params[name] for name in params.keys() & vars(self).keys()})
        return self


class RealData(Contender):
    """Hands the training records back."""

    def fit(self, records: Records) -> RealData:
        """Remembers the records."""
        self.model_, self.codes = self, records.codes
        return self

    def sample_codes(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """The records.

        **Privacy:** none at all.
        """
        return self.codes[:n]
