"""Is a release worth having? Its distances beside single columns and the limits, on one page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from ..baselines import Independent
from ..core import Ledger, Records, Schema, SchemaError, Unit, plural, positive, progress
from ..datasets.tables import Dataset
from ..files.pages import render
from ..files.story import decimal
from .disclosure import gcap
from .inputs import Table, as_dataset, check_edges, check_whole, sample_rows, to_codes
from .intervals import COLUMNS, LIMITS, RELEASE, expect_even, measure_level
from .marginals import Marginals
from .numbers import compare_numbers, show_numbers
from .utility import majority_share, split_mask, utility

ALPHAS = (1, 2, 3)
ATTACKED = 1000  # real records that the attacker tries
FREE = "Independent without noise"
QUESTION = "Is this release worth having?"
WARNING = (
    "This page reads the real records exactly. It is NOT PRIVATE: for those who may see the "
    "records, never for publishing."
)
# As plots.PALETTE, which would load plotly.
COLOURS = {"real": "#767676", "none": "#0072B2", "private": "#E69F00", "attack": "#D55E00"}
WORST = 5  # attributes and pairs that are shown
# Colour and opacity of a bar, by the first word of its table; of any other, "none" and 1.
KINDS = {"this": ("private", 1.0), "halves": ("real", 1.0), "Independent,": ("private", 0.5)}
WIDTH, TEXT = 160, 100  # of a bar, in pixels, and of a line of text, in letters


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What :func:`report` found; shows itself in Jupyter, ``str(report)`` is the same as text.

    ``distances`` (``table`` is the same): one row per α and table: ``distance`` (mean total
    variation distance of the α-way marginals), its 95 % interval from ``low`` to ``high``, and what
    the ``interval`` is about. ``attributes``, ``pairs``: one-way and two-way distances, worst
    first, with those of Independent. ``utility``: accuracy of a classifier, by what it was trained
    on; ``risk``: rates of what an attacker finds, by what it looks at; None where no attribute was
    named. ``numbers``: mean and median of every column with bins, the one first that is farthest
    off by the spread of its records; None without such columns. ``verdict``: the answer in
    sentences; ``notes``: how it was measured.

    **Privacy:** exact statistics of real records throughout: not for publishing.
    """

    title: str
    verdict: tuple[str, ...]
    distances: pd.DataFrame
    attributes: pd.DataFrame
    pairs: pd.DataFrame
    utility: pd.DataFrame | None
    risk: pd.DataFrame | None
    notes: tuple[str, ...]
    numbers: pd.DataFrame | None = None

    @property
    def table(self) -> pd.DataFrame:
        """The distances."""
        return self.distances

    def _parts(self) -> dict[str, pd.DataFrame]:
        """The smaller tables under their titles."""
        numbers = None if self.numbers is None else self.numbers.head(WORST)
        parts = {
            "Worst attributes": self.attributes.head(WORST),
            "Worst pairs": self.pairs.head(WORST),
            "Numbers": numbers if numbers is None else numbers.apply(show_numbers, axis=1),
            "Utility": self.utility,
            "Disclosure risk": self.risk,
        }
        return {title: table for title, table in parts.items() if table is not None}

    def __str__(self) -> str:
        sentences = [
            fill(f"* {sentence}", TEXT, subsequent_indent="  ") for sentence in self.verdict
        ]
        wide = max(31, *map(len, self.distances["table"]))
        lines = [
            f"{QUESTION} {self.title}",
            fill(WARNING, TEXT),
            "",
            *sentences,
            "",
            f"{'over':<10} {'table':<{wide}} distance   95 % interval",
        ]
        lines += [
            f"{_columns(row.alpha):<10} {row.table:<{wide}} {_far(row):<8}   {_range(row)}"
            for row in self.distances.itertuples()
        ]
        lines = [line.rstrip() for line in lines]
        for title, table in self._parts().items():
            frame = table.rename_axis(index=None, columns=table.index.name)
            lines += ["", title, frame.to_string(float_format="{:.4f}".format, na_rep="–")]
        return "\n".join([*lines, "", *(fill(note, TEXT) for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        ends = self.distances[["distance", "high"]].max(axis=1)
        tops = ends.groupby(self.distances["alpha"]).transform("max")  # of the longest bar
        rows = list(zip(self.distances.itertuples(), tops, strict=True))
        return render(
            __package__,
            "report.html",
            report=self,
            rows=rows,
            parts=self._parts(),
            question=QUESTION,
            warning=WARNING,
            colours=COLOURS,
            kinds=KINDS,
            width=WIDTH,
            columns=_columns,
            far=_far,
            span=_range,
        )


def _columns(alpha: int) -> str:
    return plural(alpha, "column")


def _far(row: Any) -> str:
    return "–" if np.isnan(row.distance) else f"{row.distance:.4f}"


def _range(row: Any) -> str:
    return "" if np.isnan(row.low) else f"{row.low:.4f} to {row.high:.4f} ({row.interval})"


def report(
    real: Any,
    fake: Table | Sequence[Table],
    schema: Schema | None = None,
    *,
    epsilon: float | None = None,
    target: str | None = None,
    sensitive: str | None = None,
    test: Table | None = None,
    repeats: int = 5,
    seed: int = 0,
    utility_options: Mapping[str, Any] | None = None,
    ledger: Ledger | None = None,
) -> Report:
    """One page on a synthetic table: is it nearer to the real one than single columns would be?

    ``real``: a table with its ``schema``, or a Dataset, which brings its own schema, target and
    sensitive attribute. ``fake``: the release, or a list of tables, each from a fit of its own.
    ``epsilon``: what the release cost; ``Independent`` is then simulated at the same ε on the real
    table, ``repeats`` times. ``ledger``: of the release; the simulation then makes its promise (the
    records of one person, their relation), and the verdict says how many pairs were kept. Where
    each person has an ε of their own nothing is simulated: a table doesn't tell whose it is.
    ``target``: what a classifier predicts, ``sensitive``: what an attacker finds out who
    knows all else (without it, an attribute that the schema declares in group A). ``test``: real
    rows that the fit didn't see. ``utility_options`` go to :func:`utility`, whose kernel is
    "linear" here.

    Intervals. Of one table: a jackknife over 16 random groups of its rows, for the chance of
    sampling rows from the released model; the noise of the fit is in the distance and can't be
    seen in one table. Of several: Student's t between them, which holds both. A spread over
    attribute sets says nothing about chance and isn't shown as an interval.

    Marginals beyond 2^18 cells are left out, and of more than 2,000 some are drawn (public
    ``seed``); the notes say so. Raises SchemaError for unknown names and tables that don't fit the
    schema, BudgetError for a mistaken ε.

    **Privacy:** reads real records exactly, and fits ``Independent`` to them again and again with
    reproducible noise: no guarantee covers any of it. For those who may see the records; never
    publish it, nor choose between releases by it without paying for that choice.
    """
    data, listed = _read(real, fake, schema)
    schema = check_edges(data.schema)
    codes = _codes("the real table", data.frame, schema)
    tables = [_codes("the synthetic table", each, schema) for each in listed]
    holdout = None if test is None else _codes("test", test, schema)
    target, sensitive = _named(data, schema, target, sensitive)
    check_whole("repeats", repeats, 1000, "fits of the simulation")
    budget = None if epsilon is None else positive("epsilon", epsilon)
    leveled = ledger is not None and bool(ledger.levels)
    unit = Unit() if ledger is None else Unit(ledger.relation, ledger.records_per_person)
    budget = None if leveled else budget
    others = _simulate(codes, schema, budget, unit, repeats, len(tables[0]), seed)
    levels = {
        alpha: measure_level(codes, tables, others, schema, alpha, seed)
        for alpha in progress(ALPHAS, "distances", unit="level")
        if alpha <= len(schema)
    }
    table = pd.DataFrame([row for level in levels.values() for row in level.rows], columns=COLUMNS)
    worth = (
        None
        if target is None
        else _utility(codes, tables[0], holdout, schema, target, seed, dict(utility_options or {}))
    )
    risk = None if sensitive is None else _risk(codes, tables[0], holdout, schema, sensitive, seed)
    numbers = compare_numbers(data.frame, listed[0], schema)
    title = (
        f"{plural(len(tables[0]), 'synthetic row')} beside {plural(len(codes), 'real one')}, "
        f"{len(schema)} attributes"
    )
    facts = {
        "epsilon": None if budget is None else decimal(budget),
        "leveled": leveled,
        "unit": "" if unit == Unit() else f"; {unit}",
        "pairs": "" if ledger is None else ledger.pairs_kept(bool(schema.rules)),
        "numbers": numbers,
        "shown": None if numbers is None else show_numbers(numbers.iloc[0]).tolist(),
        "broken": _broken(schema, codes, tables[0]),
        "worth": worth,
        "risk": risk,
        "held": holdout,
        "levels": levels,
        "tables": len(tables),
        "repeats": repeats,
        "attacked": ATTACKED,
        "even": expect_even(Marginals(codes, schema, 2, sets=levels[2].sets), len(tables[0])),
        **_judge(table, LIMITS if budget is None else repeats),
    }
    verdict, notes = (_written(part, facts) for part in ("verdict", "notes"))
    worst = levels[1].worst(schema), levels[2].worst(schema)
    return Report(title, verdict, table, *worst, worth, risk, notes, numbers)


def _read(real: Any, fake: Any, schema: Schema | None) -> tuple[Dataset, Sequence[Table]]:
    """The real table with its schema, and all releases."""
    if isinstance(real, Records):
        schema = schema or real.schema
    alone = schema is None or isinstance(real, Dataset)
    listed = fake if isinstance(fake, list | tuple) else [fake]
    if not listed:
        raise SchemaError("fake is an empty list: give one synthetic table, or several")
    return as_dataset(real if alone else (real, schema)), listed


def _codes(which: str, table: Table, schema: Schema) -> np.ndarray:
    """Codes of a table; SchemaError that says which of them doesn't fit."""
    try:
        return to_codes(table, schema)
    except SchemaError as problem:
        raise SchemaError(f"{which}: {problem}") from None


def _named(
    data: Dataset, schema: Schema, target: str | None, sensitive: str | None
) -> tuple[str | None, str | None]:
    """What a classifier predicts and what an attacker finds out, where somebody has said it."""
    declared = next((name for name, group in schema.groups.items() if group == "A"), None)
    target = target or getattr(data, "target", "") or None
    sensitive = sensitive or getattr(data, "sensitive", "") or declared
    for name in filter(None, (target, sensitive)):
        schema.index(name)
    return target, sensitive


def _written(part: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentences of a part of the page."""
    return tuple(filter(None, render(__package__, f"{part}.txt", **facts).split("\n")))


def _broken(schema: Schema, codes: np.ndarray, fake: np.ndarray) -> dict[str, int]:
    """How many rows break a rule of the schema, of how many; empty without rules."""
    if not schema.rules:
        return {}
    of = {"fake": int(schema.break_rules(fake).sum()), "real": int(schema.break_rules(codes).sum())}
    return of | {"rules": len(schema.rules), "rows": len(fake), "records": len(codes)}


def _simulate(
    codes: np.ndarray,
    schema: Schema,
    epsilon: Fraction | None,
    unit: Unit,
    repeats: int,
    rows: int,
    seed: int,
) -> dict[str, list[np.ndarray]]:
    """Tables of so many rows from Independent: at ε, ``repeats`` of them, and without noise."""
    plain = replace(schema.declare_public(), groups={})  # which Independent would say it can't use
    records, methods = Records(codes, plain), dict[str, tuple[Independent, int]]()
    if epsilon is not None:
        single = Independent(
            float(epsilon), relation=unit.relation, records_per_person=unit.records
        )
        methods[f"Independent, ε = {decimal(epsilon)}, simulated"] = single, repeats
    methods[FREE] = Independent(guarantee="none"), LIMITS
    tables: dict[str, list[np.ndarray]] = {name: [] for name in methods}
    for name, (method, times) in methods.items():
        for i in progress(range(times), name, unit="fit"):
            fitted = method.clone().set_params(random_state=[seed, i]).fit(records)
            generator = np.random.default_rng([seed, i])
            tables[name].append(fitted.model_.sample_codes(rows, generator, "balanced"))
    return tables


def _utility(
    codes: np.ndarray,
    fake: np.ndarray,
    holdout: np.ndarray | None,
    schema: Schema,
    target: str,
    seed: int,
    options: dict[str, Any],
) -> pd.DataFrame:
    """Accuracy on real rows of classifiers trained on the release and on real rows."""
    train, tested = codes, holdout
    if tested is None:
        chosen = split_mask(len(codes), 1 / 3, seed)
        train, tested = codes[~chosen], codes[chosen]
    settings: dict[str, Any] = {"kernel": "linear", "seed": seed} | options
    results = {
        name: utility(table, tested, schema, target, **settings)
        for name, table in ((RELEASE, fake), ("real records", train))
    }
    rows = {f"trained on {name}": use.accuracy for name, use in results.items()}
    rows["always the most frequent class"] = results[RELEASE].majority
    return pd.DataFrame({"accuracy": rows}).rename_axis(f"predicting {target}")


def _risk(
    codes: np.ndarray,
    fake: np.ndarray,
    holdout: np.ndarray | None,
    schema: Schema,
    sensitive: str,
    seed: int,
) -> pd.DataFrame:
    """Rates over some real records, by what the attacker looks at."""
    tried = sample_rows(len(codes), min(ATTACKED, max(len(codes) // 2, 1)), seed)
    others = np.delete(codes, tried, axis=0) if holdout is None else holdout
    attacked, key = codes[tried], [name for name in schema.names if name != sensitive]
    zero_rule = majority_share(attacked[:, schema.index(sensitive)].astype(np.int64))
    columns = {}
    for name, table in ((RELEASE, fake), ("other real records", others)):
        attribution = gcap(attacked, table, schema, key, sensitive)
        whole = (attribution.distance == 0) & (attribution.share > 0)
        columns[name] = [attribution.accuracy, attribution.matched, float(whole.mean())]
    columns["most frequent value"] = [zero_rule, math.nan, math.nan]
    index = [
        f"guesses {sensitive} from all else",
        "finds a row that agrees in all else",
        "finds the whole row",
    ]
    return pd.DataFrame(columns, pd.Index(index, name="the attacker"))


def _judge(table: pd.DataFrame, runs: int) -> dict[str, Any]:
    """Two-way distances, the others beside them, and whether the release gains (1), loses (−1).

    A gain must be clear of where another single-column release may lie, not only of their mean, of
    which ``runs`` simulations give the interval: prediction is √(runs + 1) times as wide. It is
    clear, too, where single columns are farther without any noise.
    """
    two = table[table["alpha"] == 2].set_index("table")
    release, single, free, halves = two["distance"].iloc[[0, 1, -2, -1]]
    mine, theirs, noiseless = (two["high"] - two["distance"]).fillna(0).iloc[[0, 1, -2]]
    theirs *= math.sqrt(runs + 1)
    clear = max(single - theirs, free - noiseless * math.sqrt(LIMITS + 1))
    gain = int(release + mine < clear) - int(release - mine > single + theirs)
    others = [
        (alpha, *rows.iloc[:2]) for alpha, rows in table.groupby("alpha")["distance"] if alpha != 2
    ]
    return {
        "release": release,
        "single": single,
        "free": free,
        "halves": halves,
        "gain": gain,
        "others": others,
    }
