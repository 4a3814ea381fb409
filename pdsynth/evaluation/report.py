"""Is a release worth having? Its distances beside single columns and the limits, on one page."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..counting.tables import Records
from ..datasets.dataset import Dataset
from ..domain.progress import progress
from ..domain.schema import Schema
from ..errors import SchemaError
from ..privacy.numbers import positive
from ..synthesizers.baselines import Independent
from .disclosure import gcap
from .inputs import Table, as_dataset, check_whole, sample_rows, to_codes
from .intervals import COLUMNS, LIMITS, RELEASE, Level, measure_level
from .report_page import Report
from .utility import majority_share, split_mask, utility

ALPHAS = (1, 2, 3)
ATTACKED = 1000  # real records that the attacker tries
FREE = "Independent without noise"
SEE = "see pds.plan(schema, n, epsilon)."


def report(
    real: Any, fake: Table | Sequence[Table], schema: Schema | None = None, *,
    epsilon: float | None = None, target: str | None = None, sensitive: str | None = None,
    test: Table | None = None, repeats: int = 5, seed: int = 0,
    utility_options: Mapping[str, Any] | None = None,
) -> Report:
    """One page on a synthetic table: is it nearer to the real one than single columns would be?

    ``real``: a table with its ``schema``, or a Dataset, which brings its own schema, target and
    sensitive attribute. ``fake``: the release, or a list of tables, each from a fit of its own.
    ``epsilon``: what the release cost; ``Independent`` is then simulated at the same ε on the real
    table, ``repeats`` times. ``target``: what a classifier predicts, ``sensitive``: what an
    attacker finds out who knows all else (without it, an attribute that the schema declares in
    group A). ``test``: real rows that the fit didn't see. ``utility_options`` go to
    :func:`utility`, whose kernel is "linear" here.

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
    data = _unite(real, schema)
    schema, codes = data.schema, to_codes(data.frame, data.schema)
    tables = [to_codes(each, schema) for each in _listed(fake)]
    held = None if test is None else to_codes(test, schema)
    target = target or getattr(data, "target", "") or None
    declared = next((name for name, group in schema.groups.items() if group == "A"), None)
    sensitive = sensitive or getattr(data, "sensitive", "") or declared
    for name in filter(None, (target, sensitive)):
        schema.index(name)
    check_whole("repeats", repeats, 1000, "fits of the simulation")
    budget = None if epsilon is None else float(positive("epsilon", epsilon))
    others = _simulate(codes, schema, budget, repeats, len(tables[0]), seed)
    found = {alpha: measure_level(codes, tables, others, schema, alpha, seed)
             for alpha in progress(ALPHAS, "distances", unit="level") if alpha <= len(schema)}
    table = pd.DataFrame([row for level in found.values() for row in level.rows], columns=COLUMNS)
    worth = None if target is None else _utility(
        codes, tables[0], held, schema, target, seed, dict(utility_options or {}))
    risk = None if sensitive is None else _risk(codes, tables[0], held, schema, sensitive, seed)
    title = (f"{len(tables[0]):,} synthetic rows beside {len(codes):,} real ones, "
             f"{len(schema)} attributes")
    notes = (*_about_distances(found, len(tables), budget, repeats),
             *_about_attacks(held, worth, risk))
    drawn = LIMITS if budget is None else repeats
    verdict = *_judge(table, budget, drawn), *_judge_use(worth, risk)
    return Report(title, verdict, table, found[1].worst(schema),
                  found[2].worst(schema), worth, risk, notes)


def _unite(real: Any, schema: Schema | None) -> Any:
    """The real table as a Dataset."""
    if schema is None and isinstance(real, Records):
        schema = real.schema
    if schema is None or isinstance(real, Dataset):
        return as_dataset(real)
    return as_dataset((real, schema))


def _listed(fake: Table | Sequence[Table]) -> list[Table]:
    if not isinstance(fake, list | tuple):
        return [fake]
    if not fake:
        raise SchemaError("fake is an empty list: give one synthetic table, or several")
    return list(fake)


def _simulate(codes: np.ndarray, schema: Schema, epsilon: float | None, repeats: int, rows: int,
              seed: int) -> dict[str, list[np.ndarray]]:
    """Tables of so many rows from Independent: at ε, ``repeats`` of them, and without noise."""
    records = Records(codes, schema.declare_public())
    methods = {} if epsilon is None else {
        f"Independent, ε = {epsilon:g}, simulated": (Independent(epsilon), repeats)}
    methods[FREE] = Independent(guarantee="none"), LIMITS
    drawn: dict[str, list[np.ndarray]] = {name: [] for name in methods}
    for name, (method, times) in methods.items():
        for i in progress(range(times), name, unit="fit"):
            fitted = method.clone().set_params(random_state=[seed, i]).fit(records)
            generator = np.random.default_rng([seed, i])
            drawn[name].append(fitted.model_.sample_codes(rows, generator))
    return drawn


def _utility(codes: np.ndarray, fake: np.ndarray, held: np.ndarray | None, schema: Schema,
             target: str, seed: int, options: dict[str, Any]) -> pd.DataFrame:
    """Accuracy on real rows of classifiers trained on the release and on real rows."""
    train, tested = codes, held
    if tested is None:
        chosen = split_mask(len(codes), 1 / 3, seed)
        train, tested = codes[~chosen], codes[chosen]
    asked: dict[str, Any] = {"kernel": "linear", "seed": seed} | options
    found = {name: utility(table, tested, schema, target, **asked)
             for name, table in ((RELEASE, fake), ("real records", train))}
    rows = {f"trained on {name}": use.accuracy for name, use in found.items()}
    rows["always the most frequent class"] = found[RELEASE].majority
    return pd.DataFrame({"accuracy": rows}).rename_axis(f"predicting {target}")


def _risk(codes: np.ndarray, fake: np.ndarray, held: np.ndarray | None, schema: Schema,
          sensitive: str, seed: int) -> pd.DataFrame:
    """Rates over some real records, by what the attacker looks at."""
    tried = sample_rows(len(codes), min(ATTACKED, max(len(codes) // 2, 1)), seed)
    others = np.delete(codes, tried, axis=0) if held is None else held
    attacked, key = codes[tried], [name for name in schema.names if name != sensitive]
    zero_rule = majority_share(attacked[:, schema.index(sensitive)].astype(np.int64))
    columns = {}
    for name, table in ((RELEASE, fake), ("other real records", others)):
        found = gcap(attacked, table, schema, key, sensitive)
        whole = (found.distance == 0) & (found.share > 0)
        columns[name] = [found.accuracy, found.matched, float(whole.mean())]
    columns["most frequent value"] = [zero_rule, math.nan, math.nan]
    index = [f"guesses {sensitive} from all else", "finds a row that agrees in all else",
             "finds the whole row"]
    return pd.DataFrame(columns, pd.Index(index, name="the attacker"))


def _judge(table: pd.DataFrame, epsilon: float | None, drawn: int) -> tuple[str, ...]:
    """The answer in sentences, from two-way distances.

    A gain must be clear of where another single-column release may lie, not only of their mean, of
    which ``drawn`` simulations give the interval: prediction is √(drawn + 1) times as wide.
    """
    two = table[table["alpha"] == 2].set_index("table")
    release, single, free = two["distance"].iloc[[0, 1, -2]]
    mine, theirs = (two["high"] - two["distance"]).fillna(0).iloc[:2]
    theirs *= math.sqrt(drawn + 1)
    name = "single columns without noise" if epsilon is None else (
        f"single columns at the same ε = {epsilon:g} (Independent)")
    said = f"its two-way distance is {release:.4f}, against {single:.4f} of {name}"
    if release + mine < single - theirs:
        answer = f"Worth having: {said}: {1 - release / single:.0%} less."
    elif release - mine > single + theirs:
        answer = f"Not worth having: {said}, which is nearer; {SEE}"
    else:
        answer = f"No clear gain: {said}; {SEE}"
    others = [f"{'one column alone' if alpha == 1 else f'{alpha} together'} {rows.iloc[0]:.4f}, "
              f"against {rows.iloc[1]:.4f}"
              for alpha, rows in table.groupby("alpha")["distance"] if alpha != 2]
    limit = "" if epsilon is None else f", single columns without noise {free:.4f} away from it"
    limits = f"two halves of the real table are {two['distance'].iloc[-1]:.4f} apart{limit}."
    hint = "Say epsilon= to see single columns with the noise of the same ε."
    return (answer, f"The other distances: {'; '.join(others)}.", f"The limits: {limits}",
            *([hint] if epsilon is None else []))


def _judge_use(worth: pd.DataFrame | None, risk: pd.DataFrame | None) -> list[str]:
    """What classifiers and attackers make of it, in a sentence each."""
    said = []
    if worth is not None:
        release, real, majority = worth["accuracy"]
        said.append(f"Use: a classifier {worth.index.name} taught on it is right for {release:.1%} "
                    f"of real rows; taught on real records {real:.1%}, always saying the most "
                    f"frequent class {majority:.1%}.")
    if risk is not None:
        release, real, frequent = risk.iloc[0]
        said.append(f"Risk: an attacker who looks at it {risk.index[0]} rightly for {release:.1%} "
                    f"of people; from other people's real records {real:.1%}, always saying the "
                    f"most frequent value {frequent:.1%}.")
    return said


def _about_distances(found: Mapping[int, Level], tables: int, epsilon: float | None, repeats: int
                     ) -> list[str]:
    sets = [f"{level.total:,} of {alpha} column{'s' * (alpha > 1)}"
            if level.total == len(level.sets) else
            f"{len(level.sets):,} of the {level.total:,} of {alpha} columns, drawn with a public "
            "seed from those of moderate size" for alpha, level in found.items()]
    chance = (
        "jackknife over groups of its rows: where the distance of another table of as many rows "
        "from the same model lies in the mean. The noise of the fit is in the distance itself; "
        "only several fits, each paid for, show how it varies. Balanced rows vary less."
        if tables == 1 else f"Student's t between the {tables} tables, for their mean. Utility and "
        "risk are those of the first.")
    notes = ["Distances are total variation distances, from 0 to 1, the mean over marginals: "
             f"{'; '.join(sets)}.", f"The release's 95 % interval: {chance}",
             "Two random halves of the real table differ by chance alone, two whole tables of its "
             "size would by 1/√2 of that: nothing needs to be nearer."]
    notes.append("A gain or loss is called clear beyond the release's interval and the range of "
                 "another single-column release (95 % prediction from the simulations).")
    if epsilon is not None:
        notes.append(f"Independent at ε = {epsilon:g} is a simulation: {repeats} fit(s) to the "
                     "real table with reproducible noise, which must never be released.")
    return notes


def _about_attacks(held: np.ndarray | None, worth: pd.DataFrame | None, risk: pd.DataFrame | None
                   ) -> list[str]:
    notes = []
    if worth is None:
        notes.append("No utility: say target= to have a classifier predict it.")
    elif held is None:
        notes.append("Classifiers are tested on a third of the real rows, which the release may "
                     "have seen, and the one taught on real records hasn't: say test=.")
    if risk is None:
        notes.append("No disclosure risk: say sensitive= to have an attribute attacked.")
    else:
        notes.append(f"Up to {ATTACKED:,} real people are attacked through the nearest rows. What "
                     "other real records give away, too, isn't the release's doing. Attacks show "
                     "what one attacker finds; what is promised stands in the ledger.")
    return notes
