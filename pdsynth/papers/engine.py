"""One engine for every paper: settings, grids of trials, tidy frames, results.

A paper is a data file, ``NAME.toml``, and a module ``NAME.py`` for what is truly its own. The file
holds its settings, what is run and drawn at each figure and table, what the paper claims, by which
rule (see :mod:`.rules`) that is judged, and what differs. The module offers ``PAPER``, made by
:func:`load`. Its ``trials`` runs the experiment behind one figure or table and returns one tidy
frame: one row per trial and metric with the columns ``metric``, then whatever says which point it
is (``dataset``, ``method``, ``guarantee``, ``k``, ``epsilon``, …), then ``repeat``, ``seed``,
``value``, ``note``. Figures and verdicts come from that frame and the settings alone, so that a
committed CSV gives the same again. Figures are keyed by their number, tables by "table N". Add the
name to ``PAPERS``: ``reproduce``, ``figures/make.py`` and the index page then know it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields, make_dataclass
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..counting.tables import Records
from ..errors import BudgetError
from ..evaluation import compare
from .results import Result, Verdict
from .selectors import expand, fill, name_ends

PAPERS = ("hpprivbayes", "hmprivbayes", "privabn", "genetic", "frontier", "sidebyside", "courtroom")
NO_NOISE = float("inf")  # the ε of a run without noise
NUMBERS = {"epsilon": float, "repeat": int, "seed": int, "value": float}  # all others are text

Key = int | str
Words = Mapping[str, Any]


# --- what is run ----------------------------------------------------------------------------------


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

    ``tables`` (name → rows) and ``facts`` are filled while it runs and go into the result.
    """

    repeats: int
    seed: int
    data: Any = None
    progress: bool = False
    resume: str | os.PathLike[str] | None = None
    jobs: int = -1
    tables: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def store(self) -> Path | None:
        """The file of finished trials."""
        return None if self.resume is None else Path(self.resume)

    def measure(self, *grids: Grid, repeats: int | None = None) -> pd.DataFrame:
        """Run grids one after the other. ``repeats``: fewer than the figure's, for a slow part."""
        found = [self._measure(grid, repeats or self.repeats) for grid in grids if grid.curves]
        return pd.concat(found, ignore_index=True)

    def _measure(self, grid: Grid, repeats: int) -> pd.DataFrame:
        self.tables[grid.dataset.name] = len(grid.dataset.frame)
        rows = compare({c.name: s for c, s in grid.curves.items()}, grid.dataset,
                       tuple(grid.epsilons) or (1.0,), repeats, tuple(grid.measures),
                       seed=self.seed, jobs=self.jobs, progress=self.progress, resume=self.store,
                       **grid.options)
        return tidy(rows if grid.epsilons else rows.assign(epsilon=NO_NOISE), grid)

    def each(self, work: Callable[..., Any], items: Sequence[tuple[Any, ...]],
             words: str) -> Iterator[tuple[int, Any]]:
        """``work(*item)`` for every item, in processes; number and result of each as it ends."""
        from joblib import Parallel, delayed
        from tqdm.auto import tqdm

        calls = (delayed(_number)(at, work, item) for at, item in enumerate(items))
        done = Parallel(n_jobs=self.jobs, return_as="generator_unordered")(calls)
        yield from tqdm(done, total=len(items), desc=words, unit="fit", disable=not self.progress)


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


# --- a paper --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paper:
    """A paper's experiments; see the module's docstring and any of the data files.

    ``heading``, ``reading``: title and introduction of its part of the index page (Markdown).
    ``repeats``: the paper's own. ``bars``: what the error bars are; ``seeds``: what starts from
    ``{seed}``; ``notes``: the words above its notes. ``file``: the data file. ``settings``: a frozen dataclass of its parameters with their defaults.
    ``experiments``: the file's part about each figure and table. ``trials(key, settings, run)``.
    ``draw``: ``(key, data, settings) → figure`` where the file has no ``panels``. ``words``: what
    its notes may name in braces besides settings; a note that ``needs`` an empty word is left out.
    ``appendix(key, result)``: Markdown that follows a figure on the index page. ``beside``: the
    paper's printed numbers beside ours (see :class:`Result`), or None. ``curve``: its curves.
    """

    name: str
    heading: str
    reading: str
    repeats: int
    seed: int
    bars: str
    seeds: str
    notes: str
    file: Mapping[str, Any]
    settings: Any
    experiments: Mapping[Key, Mapping[str, Any]]
    trials: Callable[[Key, Any, Run], pd.DataFrame]
    draw: Mapping[Key, Callable[[Key, pd.DataFrame, Any], Any]] = field(default_factory=dict)
    words: Callable[[Key, Any, Any], Words] = lambda key, settings, data: {}
    appendix: Callable[[Key, Result], str] = lambda key, result: ""
    beside: Callable[..., pd.DataFrame | None] = lambda key, data, settings: None
    curve: Callable[..., Curve] = Curve

    @property
    def titles(self) -> dict[Key, str]:
        """The title of every figure and table."""
        return {key: part["title"] for key, part in self.experiments.items()}

    def curves(self, key: Key, settings: Any, **only: str) -> list[Any]:
        """The curves that the data file names at a figure, in its order, each once."""
        base = self.file.get("curves", {})
        specs = [spec | {n: v for n, v in base.items() if n not in spec}
                 for spec in self.experiments[key]["run"]]
        found = dict.fromkeys(self.curve(**at) for spec in specs for at in expand(spec, settings))
        return [c for c in found if all(getattr(c, name) == v for name, v in only.items())]

    def grids(self, key: Key, settings: Any, dataset: Any, make: Callable[[Any], Any],
              epsilons: Sequence[float], **more: Any) -> list[Grid]:
        """A figure on one table: the curves without noise once, the others at each ε."""
        curves = self.curves(key, settings)
        measures = more.pop("measures", None) or self.experiments[key]["measures"]
        parts = [([c for c in curves if (c.guarantee == "none") == free], at)
                 for free, at in ((True, ()), (False, tuple(epsilons)))]
        return [Grid(dataset, {c: make(c) for c in some}, measures, at, **more) for some, at in parts]

    def check(self, key: Key, repeats: int, options: Mapping[str, Any]) -> Any:
        """Settings from options; BudgetError for what doesn't exist: figure, repeats, option."""
        if key not in self.experiments:
            offered = ", ".join(stem(k) for k in self.experiments)
            raise BudgetError(f"the experiments of {self.name} are {offered}, not {stem(key)}")
        if repeats < 1:
            raise BudgetError(f"repeats must be at least 1, got {repeats}")
        known = [f.name for f in fields(self.settings)]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise BudgetError(f"no option {', '.join(unknown)}; there are {', '.join(known)}")
        return self.read_settings(options)

    def read_settings(self, parameters: Mapping[str, Any]) -> Any:
        """The settings among the parameters of an experiment."""
        known = {f.name for f in fields(self.settings)}
        return self.settings(**{n: _freeze(v) for n, v in parameters.items() if n in known})

    def run(self, key: Key, run: Run, options: Mapping[str, Any]) -> Result:
        """Run one experiment, draw and judge it."""
        settings = self.check(key, run.repeats, options)
        frame = self.trials(key, settings, run)
        facts = {"tables": run.tables, "repeats": run.repeats, "seed": run.seed, **run.facts}
        return self.assemble(key, frame, facts | asdict(settings))

    def assemble(self, key: Key, frame: pd.DataFrame, parameters: Mapping[str, Any]) -> Result:
        """Figure and verdicts from finished trials and the parameters beside them."""
        settings = self.read_settings(parameters)
        return Result(self.titles[key], frame, self.picture(key, frame, settings),
                      tuple(self.judge(key, frame, settings)), self.deviations(key, settings),
                      parameters, self.beside(key, frame, settings))

    def picture(self, key: Key, data: pd.DataFrame, settings: Any) -> Any:
        """The figure of one key."""
        from .drawing import draw_grid

        if key in self.draw:
            return self.draw[key](key, data, settings)
        return draw_grid(data, settings, self.experiments[key]["panels"])

    def judge(self, key: Key, data: pd.DataFrame, settings: Any) -> list[Verdict]:
        """Every claim about a figure, by its rule."""
        from .rules import judge

        shared = self.file.get("claims", {})
        claims = [shared | c for c in self.file["claim"] if key in _of(c, self.experiments)]
        return judge(claims, key, data, settings, self.vocabulary(key, settings, data))

    def vocabulary(self, key: Key, settings: Any, data: Any = None) -> dict[str, Any]:
        """What texts of the data file may name: settings, their ends, ``short``, own words."""
        words, short = asdict(settings), self.titles[key].split(":")[0]  # short: "Table V"
        return words | name_ends(words) | {"short": short} | self.words(key, settings, data)

    def deviations(self, key: Key, settings: Any) -> tuple[str, ...]:
        """How the experiment differs from what the paper prints, and what it doesn't print."""
        words = self.vocabulary(key, settings)
        notes = [n for n in self.file["note"] if key in _of(n, self.experiments)]
        return tuple(fill(n["text"], words) for n in notes if "needs" not in n or words[n["needs"]])


def _of(part: Mapping[str, Any], keys: Mapping[Key, Any]) -> Sequence[Key]:
    """The figures and tables that a claim or a note is about; all where it names none."""
    return part.get("of", list(keys))


DEFAULTS = {
    "bars": "95 % confidence interval of the mean (Student's t). Standard deviations are in the "
            "points.",
    "seeds": "the splits from {seed}, each fit from a digest of its method, parameters, ε, repeat "
             "and table",
    "notes": "What differs from the paper, and what it leaves open",
}


def load(name: str, trials: Callable[[Key, Any, Run], pd.DataFrame], **own: Any) -> Paper:
    """A paper from its data file and what its module does."""
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    file = DEFAULTS | tomllib.loads(text)
    options = [(n, Any, field(default=_freeze(v))) for n, v in file["settings"].items()]
    settings = make_dataclass(f"{name.capitalize()}Settings", options, frozen=True)
    experiments: dict[Key, Any] = {int(n): part for n, part in file.get("figure", {}).items()}
    experiments |= {f"table {n}": part for n, part in file.get("table", {}).items()}
    texts = ("heading", "reading", "repeats", "seed", "bars", "seeds", "notes")
    return Paper(name, *(file[n] for n in texts), file, settings, experiments, trials, **own)


def _freeze(value: Any) -> Any:
    """Lists, as TOML and JSON have them, become tuples."""
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


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
    text = {name: str for name in pd.read_csv(path, nrows=0).columns if name not in NUMBERS}
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values={"value": [""]})


class RealData:
    """Stands where a synthesizer stands and hands the training records back."""

    guarantee = "none"
    takes_records = True

    def get_params(self) -> dict[str, Any]:
        """It has no parameters."""
        return {}

    def clone(self) -> RealData:
        """Another one."""
        return RealData()

    def set_params(self, **params: Any) -> RealData:
        """Ignores ε and the seed."""
        return self

    def fit(self, records: Records) -> RealData:
        """Remembers the records."""
        self.model_, self.codes = self, records.codes
        return self

    def sample_codes(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """The records.

        **Privacy:** none at all.
        """
        return self.codes[:n]
