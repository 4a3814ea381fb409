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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, make_dataclass
from importlib import import_module, resources
from itertools import product
from typing import Any

import pandas as pd

from ..core import BudgetError
from .grids import NO_NOISE, Curve, Grid, RealData, Run, matches, read
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
        if name not in (known := self.readings(key)):
            raise BudgetError(f"{stem(key)} has no reading {name!r}; there are {', '.join(known)}")
        return known[name]

    def curves(self, key: Key, settings: Any, **only: str) -> list[Any]:
        """The curves that the data file names at a figure, in its order, each once."""
        base, run = self.file.get("curves", {}), self.experiments[key]["run"]
        specs = [spec | {n: v for n, v in base.items() if n not in spec} for spec in run]
        found = dict.fromkeys(self.curve(**at) for spec in specs for at in expand(spec, settings))
        return [c for c in found if all(getattr(c, name) == v for name, v in only.items())]

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
        made = {c: make(c) for c in self.curves(key, settings)}
        measures = more.pop("measures", None) or self.experiments[key]["measures"]
        return [
            Grid(
                dataset,
                {c: s for c, s in made.items() if (c.guarantee == "none") == free},
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
        known = [f.name for f in fields(self.settings)]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise BudgetError(f"no option {', '.join(unknown)}; there are {', '.join(known)}")
        return self.read_settings(options)

    def read_settings(self, parameters: Mapping[str, Any]) -> Any:
        """The settings among the parameters of an experiment."""
        known = {f.name for f in fields(self.settings)}
        return self.settings(**{n: _freeze(v) for n, v in parameters.items() if n in known})

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
        asked = self.ask(key, frame, settings, reading) if judged else []
        return Result(
            self.titles[key],
            frame,
            self.picture(key, frame, settings),
            tuple(judge(asked)),
            self.deviations(key, settings, frame),
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
        kept = [matches(row, spec.get("keep", {})) for row in data.to_dict("records")]
        return limit_to_paper(self.picture(key, data[kept], settings), spec, data[kept])

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
        shared |= {n: v for n, v in self.experiments[key].items() if n == "source"}
        claims = [shared | c for c in self.file["claim"] if key in _of(c, self.experiments)]
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
    for reading, said in file["readings"].items():  # one that is like another stands below it
        file["readings"][reading] = file["readings"].get(said.pop("like", ""), {}) | said
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
