"""One engine for every paper: settings, grids of trials, tidy frames, results.

A paper is a data file, ``NAME.toml``, and a module ``NAME.py`` for what is truly its own. The file
holds its settings, what is run and drawn at each figure and table, what the paper claims, by which
rule (see :mod:`.rules`) that is judged, and what differs. The module offers ``PAPER``, made by
:func:`load`. Its ``trials`` runs the experiment behind one figure or table and returns one tidy
frame: one row per trial and metric with the columns ``metric``, then whatever says which point it
is (``dataset``, ``method``, ``guarantee``, ``k``, ``epsilon``, …), then ``repeat``, ``seed``,
``value``, ``note``. Figures and verdicts come from that frame and the settings alone, so that a
committed CSV gives the same again. Figures are keyed by their number, tables by "table N". Add the
name to ``PAPERS``: ``reproduce``, ``figures/make.py`` and the pages then know it.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, make_dataclass
from importlib import import_module, resources
from itertools import product
from numbers import Real
from typing import Any

import pandas as pd

from ..core import BudgetError, show
from .grids import NO_NOISE, Curve, Grid, RealData, Run, read, rows_that_match
from .judging import Ask, ask_all, judge
from .readings import Reading
from .results import Key, Result, Verdict
from .selectors import expand, fill, name_ends

__all__ = [
    "NO_NOISE",
    "PAPERS",
    "Curve",
    "Grid",
    "Key",
    "Paper",
    "RealData",
    "Run",
    "find",
    "load",
    "read",
    "stem",
]

PAPERS = (
    "yardsticks",
    "hpprivbayes",
    "hmprivbayes",
    "privabn",
    "ppba",
    "genetic",
    "frontier",
    "persons",
    "holders",
    "sidebyside",
    "courtroom",
    "ablations",
)


@dataclass(frozen=True)
class Paper:
    """A paper's experiments; see the module's docstring and any of the data files.

    From the data file come ``heading`` and ``reading`` (Markdown: title and introduction of its
    own page), ``repeats`` (the paper's own), ``bars`` (what the error bars are),
    ``seeds`` (what starts from ``{seed}``), ``notes`` (the words above its notes), ``settings`` (a
    frozen dataclass of parameters with defaults) and ``experiments`` (the file's part about each
    figure and table). ``draw``: figures for which the file has no ``panels``. ``words``: what texts
    may name in braces besides settings; a note that ``needs`` an empty word is left out.
    ``appendix``: Markdown that follows a figure on its page. ``beside``: the paper's printed
    numbers beside ours (see :class:`Result`), or None. ``curve``: the kind of its curves.
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
    words: Callable[[Key, Any, Any], Mapping[str, Any]] = lambda key, settings, data: {}
    appendix: Callable[[Key, Result], str] = lambda key, result: ""
    beside: Callable[..., pd.DataFrame | None] = lambda key, data, settings: None
    curve: Callable[..., Curve] = Curve

    @property
    def titles(self) -> dict[Key, str]:
        """The title of every figure and table."""
        return {key: part["title"] for key, part in self.experiments.items()}

    def readings(self, key: Key | None = None) -> dict[str, Reading]:
        """The declared readings, by name, or those of one figure or table; the base ones first."""
        listed = {"printed": PRINTED, **self.file["readings"]}
        every = {name: Reading(name, **part) for name, part in listed.items()}
        return {n: r for n, r in every.items() if key is None or not r.of or key in r.of}

    def find_reading(self, key: Key, name: str) -> Reading:
        """One reading of a figure or table; BudgetError for one that isn't declared there."""
        if name not in (readings := self.readings(key)):
            raise BudgetError(
                f"{stem(key)} has no reading {name!r}; there are {', '.join(readings)}"
            )
        return readings[name]

    def curves(self, key: Key, settings: Any, **only: str) -> list[Any]:
        """The curves that the data file names at a figure, in its order, each once."""
        base, run = self.file.get("curves", {}), self.experiments[key]["run"]
        specs = [spec | {n: v for n, v in base.items() if n not in spec} for spec in run]
        curves = dict.fromkeys(self.curve(**at) for spec in specs for at in expand(spec, settings))
        return [c for c in curves if all(getattr(c, name) == v for name, v in only.items())]

    def grids(
        self,
        key: Key,
        settings: Any,
        dataset: Any,
        make: Callable[[Any], Any],
        epsilons: Sequence[float],
        **more: Any,
    ) -> list[Grid]:
        """A figure on one table: the curves without noise once, the others at each ε."""
        synthesizers = {c: make(c) for c in self.curves(key, settings)}
        measures = more.pop("measures", None) or self.experiments[key]["measures"]
        return [
            Grid(
                dataset,
                {c: s for c, s in synthesizers.items() if (c.guarantee == "none") == free},
                measures,
                at,
                **more,
            )
            for free, at in ((True, ()), (False, tuple(epsilons)))
        ]

    def check(self, key: Key, repeats: int, options: Mapping[str, Any]) -> Any:
        """Settings from options; BudgetError for what doesn't exist: figure, repeats, option."""
        if key not in self.experiments:
            offered = ", ".join(stem(k) for k in self.experiments)
            raise BudgetError(f"the experiments of {self.name} are {offered}, not {stem(key)}")
        if repeats < 1:
            raise BudgetError(f"repeats must be at least 1, got {repeats}")
        defaults = {f.name: f.default for f in fields(self.settings)}
        used = self.used(key)
        if unknown := sorted(set(options) - set(defaults)):
            raise BudgetError(f"no option {', '.join(unknown)}; there are {', '.join(used)}")
        if idle := [name for name in options if name not in used]:
            raise BudgetError(
                f"{stem(key)} of {self.name} doesn't use {', '.join(idle)}: leave it out, "
                f"or choose among {', '.join(used)}"
            )
        return self.settings(**{n: like(n, v, defaults[n]) for n, v in options.items()})

    def used(self, key: Key) -> list[str]:
        """The settings that count at a figure or table."""
        every = [f.name for f in fields(self.settings)]
        return [name for name in every if key in self.file["used"].get(name, [key])]

    def read_settings(self, parameters: Mapping[str, Any]) -> Any:
        """The settings among the parameters of an experiment."""
        names = {f.name for f in fields(self.settings)}
        return self.settings(**{n: _freeze(v) for n, v in parameters.items() if n in names})

    def run(
        self, key: Key, run: Run, options: Mapping[str, Any], reading: str | None = None
    ) -> Result:
        """Run one experiment under a reading (None: the figure's own), draw and judge it."""
        if reading is not None:
            chosen = self.find_reading(key, reading)
            run.only = dict(chosen.keep)
            options = {**chosen.options, **options}
        settings = self.check(key, run.repeats, options)
        frame = self.trials(key, settings, run)
        facts = {"tables": run.tables, "repeats": run.repeats, "seed": run.seed, **run.facts}
        if run.missing:
            facts["left out"] = run.missing
        return self.assemble(key, frame, facts | asdict(settings), reading)

    def assemble(
        self,
        key: Key,
        frame: pd.DataFrame,
        parameters: Mapping[str, Any],
        reading: str | None = None,
        judged: bool = True,
    ) -> Result:
        """Figure and verdicts from finished trials and the parameters beside them."""
        settings = self.read_settings(parameters)
        asks = self.ask(key, frame, settings, reading) if judged else []
        return Result(
            self.titles[key],
            frame,
            self.picture(key, frame, settings),
            tuple(judge(asks)),
            (
                *self.deviations(key, settings, frame),
                *(f"Left out: {why}." for why in parameters.get("left out", {}).values()),
            ),
            parameters,
            self.beside(key, frame, settings),
        )

    def under(
        self, key: Key, base: Result, name: str, own: Mapping[str, pd.DataFrame]
    ) -> tuple[pd.DataFrame, Any]:
        """A figure's trials and settings under a reading: the figure's own, and those run anew.

        ``own``: the trials of this reading and of the one that it stands on, by name.
        """
        chosen = self.find_reading(key, name)
        data = self.under(key, base, chosen.over, own)[0] if chosen.over else base.data
        parameters = {**base.parameters, **chosen.options}
        return chosen.combine(data, own.get(name)), self.read_settings(parameters)

    def picture(self, key: Key, data: pd.DataFrame, settings: Any) -> Any:
        """The figure of one key."""
        from .drawing import draw_grid

        if key in self.draw:
            return self.draw[key](key, data, settings)
        return draw_grid(data, settings, self.experiments[key]["panels"])

    def view(self, key: Key, data: pd.DataFrame, settings: Any) -> Any:
        """The figure as the paper draws it: its own series and ranges; None where none is named."""
        from .drawing import limit_to_paper

        if (spec := self.experiments[key].get("view")) is None:
            return None
        rows = rows_that_match(data, spec.get("keep", {}))
        return limit_to_paper(self.picture(key, rows, settings), spec, rows)

    def judge(self, key: Key, data: pd.DataFrame, settings: Any) -> list[Verdict]:
        """Every claim about a figure, by its rule, all together."""
        return judge(self.ask(key, data, settings))

    def ask(
        self,
        key: Key,
        data: pd.DataFrame,
        settings: Any,
        reading: str | None = None,
        own_base: bool = True,
    ) -> list[Ask]:
        """The claims about a figure that a reading is declared for (None: each under its base).

        ``own_base``: whether those whose base it is are among them.
        """
        shared = {"numbers": "{found}", "base": "printed", **self.file.get("claims", {})}
        shared |= {n: v for n, v in self.experiments[key].items() if n in ("source", "paired")}
        claims = [shared | c for c in self.file["claim"] if key in _of(c, self.experiments)]
        claims = [c | {"counts": self.counts(key, c)} for c in claims]
        chosen = [
            c
            for c in claims
            if reading is None
            or reading in c.get("readings", [])
            or own_base
            and reading == c["base"]
        ]
        words = self.vocabulary(key, settings, data)
        return ask_all(chosen, key, data, settings, words, reading)

    def counts(self, key: Key, claim: Mapping[str, Any]) -> str:
        """The reading by which a claim counts: the first ``primary`` one of its figure, or base."""
        readings = self.readings(key)
        return next((r for r in claim.get("primary", ()) if r in readings), claim["base"])

    def vocabulary(self, key: Key, settings: Any, data: Any = None) -> dict[str, Any]:
        """What texts of the data file may name: settings, their ends, ``short``, own words."""
        words, short = asdict(settings), self.titles[key].split(":")[0]  # short: "Table V"
        return {**words, **name_ends(words), "short": short, **self.words(key, settings, data)}

    def deviations(self, key: Key, settings: Any, data: Any = None) -> tuple[str, ...]:
        """How the experiment differs from what the paper prints, and what it doesn't print."""
        words = self.vocabulary(key, settings, data)
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
    "readings": {},
    "earlier": [],
    "used": {},
}
PRINTED = {"says": "as printed, with the settings of its figure", "whose": "print"}


def load(name: str, trials: Callable[[Key, Any, Run], pd.DataFrame], **own: Any) -> Paper:
    """A paper from its data file and what its module does."""
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    file = DEFAULTS | tomllib.loads(text)
    options = [(n, Any, field(default=_freeze(v))) for n, v in file["settings"].items()]
    settings = make_dataclass(f"{name.capitalize()}Settings", options, frozen=True)
    experiments: dict[Key, Any] = {int(n): part for n, part in file.get("figure", {}).items()}
    experiments |= {f"table {n}": part for n, part in file.get("table", {}).items()}
    for part, kind in product(experiments.values(), ("run", "view")):
        if isinstance(part.get(kind), str):
            part[kind] = file[f"{kind}s"][part[kind]]
    for reading, entry in file["readings"].items():  # one that is like another stands below it
        file["readings"][reading] = file["readings"].get(entry.pop("like", ""), {}) | entry
    names = ("heading", "reading", "repeats", "seed", "bars", "seeds", "notes")
    return Paper(
        name=name,
        file=file,
        settings=settings,
        experiments=experiments,
        trials=trials,
        **{n: file[n] for n in names},
        **own,
    )


def like(name: str, value: Any, default: Any) -> Any:
    """An option in the form of its default: a text, a number, or a tuple of such.

    One value stands for a tuple of one. BudgetError where it can't have that form.

    >>> like("epsilons", 0.2, (1.0, 2.0)), like("r", 0.25, "1/3")
    ((0.2,), '0.25')
    """
    if isinstance(default, tuple):
        several = isinstance(value, Iterable) and not isinstance(value, str)
        items = list(value) if several else [value]
        if len({type(d) for d in default}) > 1 and len(items) == len(default):  # a row of a table
            return tuple(like(name, v, d) for v, d in zip(items, default, strict=True))
        return tuple(like(name, v, default[0]) if default else v for v in map(_freeze, items))
    simple = isinstance(value, (str, Real))
    if isinstance(default, str) and simple and not isinstance(value, bool):
        return str(value)
    if not simple or isinstance(default, bool) != isinstance(value, bool):
        raise BudgetError(f"{name} is one value like {show(default)}, got {show(value)}")
    if isinstance(value, str):
        raise BudgetError(f"{name} is a number like {show(default)}, got {show(value)}")
    return value


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
    paper: Paper = import_module(f"{__package__}.{name}").PAPER
    return paper
