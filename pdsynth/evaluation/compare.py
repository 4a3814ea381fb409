"""Grids of experiments: several synthesizers × ε × repeats × measures, in parallel, resumable."""

import csv
import hashlib
import json
import os
import re
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..core import BudgetError, Records, SchemaError, is_whole, positive, show, to_items
from ..core import progress as show_bar
from ..core import wanted as bars
from ..files.pages import render
from .inputs import as_dataset, to_codes
from .parallel import run_each
from .trial import NEEDS_TEST, Bench, Trial, check_grid, check_measures, find_measure

COLUMNS = (
    "method",
    "guarantee",
    "epsilon",
    "repeat",
    "seed",
    "measure",
    "value",
    "seconds",
    "note",
    "parameters",
    "dataset",
    "key",
)
OWN_EPSILON = re.compile(r"(?<=\()epsilon=(?:Fraction\([^)]*\)|[^,()]*)(?:, )?")
KINDS = {"epsilon": float, "repeat": int, "seed": int, "value": float, "seconds": float}
MOST = 40  # lines that are shown; a larger grid shows its first ones and says how many there are


class Trials(pd.DataFrame):  # type: ignore[misc]
    """The tidy table of :func:`compare`; whatever is taken from it is a plain DataFrame."""

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def summary(self) -> pd.DataFrame:
        """Mean, standard deviation and number of trials by measure, ε and method."""
        keys = ["measure", "epsilon", "method"]
        groups = pd.DataFrame(self).groupby(keys)["value"]
        return groups.agg(["mean", "std", "count"]).reset_index()

    def _repr_html_(self) -> str:
        table = self.summary()
        top = table.groupby("measure")["mean"].transform(lambda m: m.abs().max()).replace(0, 1)
        rows = list(zip(table.head(MOST).itertuples(), top, strict=False))
        return render(
            __package__,
            "trials.html",
            rows=rows,
            more=len(table) - MOST,
            number=len(self),
            whole=pd.DataFrame(self).drop(columns=["key"]).head(200),
        )


class Store:
    """Rows keyed by (task key, measure); with a path, a CSV that is safe to stop and to resume."""

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        if self.path is not None:
            self._open(self.path)

    def _open(self, path: Path) -> None:
        content = path.read_bytes() if path.exists() else b""
        # a line without its end was being written when the run stopped, perhaps in a sign's midst
        whole = content[: content.rfind(b"\n") + 1]
        text = whole.decode("utf-8", "replace")
        head, *lines = csv.reader(text.splitlines(keepends=True)) if whole else [COLUMNS]
        if tuple(head) != COLUMNS:
            raise SchemaError(
                f"{path} holds other columns than a compare file: give another file name to resume"
            )
        for line in lines:
            if len(line) == len(COLUMNS):
                cells = zip(COLUMNS, line, strict=True)
                try:
                    row = {name: KINDS.get(name, str)(value) for name, value in cells}
                except ValueError as problem:
                    raise SchemaError(f"{path} isn't as compare writes it: {problem}") from problem
                self.rows[row["key"], row["measure"]] = row
        if not whole:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8", newline="\n")
        elif whole != content:
            os.truncate(path, len(whole))

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Keep the rows of one task, and write them through to the disk."""
        fresh = [{name: _one_line(row[name]) for name in COLUMNS} for row in rows]
        self.rows.update({(row["key"], row["measure"]): row for row in fresh})
        if self.path is None:
            return
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(row.values() for row in fresh)
            file.flush()
            os.fsync(file.fileno())


def _one_line(value: Any) -> Any:
    """A text without line breaks: a stopped run could cut a record of several lines."""
    return " ".join(value.split()) if isinstance(value, str) else value


@dataclass(frozen=True)
class Task:
    """One fit, and what is measured on its table; all that decides its result is in ``key``."""

    method: str
    synthesizer: Any
    epsilon: Any
    repeat: int
    trained: bool
    measures: tuple[str, ...]
    parameters: str
    key: str

    @property
    def seed(self) -> int:
        """Seed of the fit and of its sample, from the key alone: no order can change a result."""
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:4], "big")


def compare(
    synthesizers: Mapping[str, Any] | Iterable[Any],
    dataset: Any,
    epsilons: Sequence[Any],
    repeats: int,
    measures: Sequence[str] | None = None,
    *,
    seed: int = 0,
    jobs: int = -1,
    progress: bool = False,
    resume: str | Path | None = None,
    test: float | None = None,
    utility_options: Mapping[str, Any] | None = None,
    target: str | None = None,
) -> pd.DataFrame:
    """Run every synthesizer at every ε, ``repeats`` times: a tidy DataFrame, one row per measure.

    Columns: method, guarantee, epsilon, repeat, seed, measure, value, seconds (of fit and sample),
    note, parameters, dataset, key; rows in grid order. A method that can't run at an ε
    (BudgetError, so BudgetDegenerate too) has NaN and a note. What a fit warns of isn't shown.

    ``synthesizers``: estimators, or a mapping of names to them. ``dataset``: a Dataset, or a pair
    (frame, schema); ``target``: what classifiers predict and leaks find out, in place of the
    dataset's own (a pair has none). ``resume``: CSV file; rows already there are not run again,
    each task is written as it ends, so stop at any time. ``jobs``: processes (−1: all cores; 1:
    none extra), or workers of the ``distributed.Client`` that is in use. ``utility_options`` go to
    :func:`utility`. ``measures``: None takes sum_mi, avd2, and as far as the table has them avd3
    and svm.

    Raises SchemaError for an empty or mistaken grid and for measures that the table doesn't have,
    before any fit.

    Measures of a fit on the whole table: ``sum_mi`` (bits); ``avd2``, ``avd3``, … (average
    variation distance; ``avd3_200`` takes 200 random sets); ``worst2``, ``worst3``, … (the largest
    of these distances); ``avd2_without_age`` (of the pairs of all other attributes); ``l1_4``,
    ``l2_4``, … (errors of 200 random queries, ``l1_4_50`` of 50, the same ones in every run);
    ``count_3`` (mean error of 200 random counting queries, as a share of the records); ``loss_age``
    (the ledger's ε of a change of age alone); ``cpu`` (processor seconds of fit and sample);
    ``svm_self`` (pitfall); ``leak_gcap`` and ``leak_exact`` (:func:`leak_probability` of the
    target; ``leak_gcap_2000`` attacks 2,000 random records).

    Measures of a fit on the training rows alone, tested on the others: ``svm`` and ``svm_linear``
    (accuracy), ``leak_advantage``. The split is the public one, or with ``test`` (or without a
    public split: 1/3) a random one for each repeat, the same for all methods.

    **Privacy:** measures real records exactly and fits them again and again: for public or
    permitted tables, never a release. The workers of a client are sent the whole table.
    """
    dataset, methods = as_dataset(dataset), _name(synthesizers)
    epsilons = to_items("epsilons", epsilons)
    if not epsilons:
        raise SchemaError(f"epsilons must be a list of at least one ε, got {show(epsilons)}")
    for epsilon in epsilons:
        positive("every ε", epsilon)
    target, schema = dataset.target if target is None else target, dataset.schema
    names = check_measures(measures, schema, target)
    if not is_whole(repeats, 1):
        raise SchemaError(f"repeats must be a whole number of at least 1, got {show(repeats)}")
    check_grid(seed, test, resume, utility_options, progress)
    split = None if test is not None else getattr(dataset, "split", None)
    tested = None if split is None else (split == "test").to_numpy()
    bench = Bench(
        to_codes(dataset.frame, schema),
        schema,
        target,
        tested,
        None if tested is not None else test or 1 / 3,
        dict(utility_options or {}),
        seed,
    )
    store = Store(resume)
    tasks = list(_tasks(methods, bench, epsilons, repeats, names))
    todo = []
    for task in tasks:
        rest = tuple(m for m in task.measures if (task.key, m) not in store.rows)
        if rest:
            todo.append(replace(task, measures=rest))
    # one split after the other, so that its counts stay warm
    todo.sort(key=lambda task: (task.trained, task.repeat))
    with bars(bool(progress)):
        done = run_each(_work, ((bench, task) for task in todo), 1 if len(todo) < 2 else jobs)
        finished = len(tasks) - len(todo)
        for rows in show_bar(done, "compare", len(tasks), "fit", done=finished):
            store.add(row | {"dataset": dataset.name} for row in rows)
    # a file may know the same fit under another name
    lines = [
        store.rows[task.key, m] | {"method": task.method} for task in tasks for m in task.measures
    ]
    return Trials(lines, columns=list(COLUMNS))


def _name(synthesizers: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    if isinstance(synthesizers, type) or hasattr(synthesizers, "get_params"):
        raise SchemaError(
            "synthesizers must be a list, or a mapping of names to them: write "
            f"[{getattr(synthesizers, '__name__', type(synthesizers).__name__)}()]"
        )
    listed = (
        list(synthesizers.values())
        if isinstance(synthesizers, Mapping)
        else to_items("synthesizers", synthesizers)
    )
    for each in listed:
        if isinstance(each, type) or not hasattr(each, "get_params"):
            raise SchemaError(
                f"{show(each)} is no synthesizer: give an instance, as in "
                "PrivBayes(k=2), whose ε compare sets"
            )
    if not listed:
        raise SchemaError("there is no synthesizer to compare")
    if isinstance(synthesizers, Mapping):
        return dict(synthesizers)
    kinds = [type(s).__name__ for s in listed]
    names = [  # without an ε of their own, which each trial sets
        kind if kinds.count(kind) == 1 else OWN_EPSILON.sub("", repr(s), count=1)
        for kind, s in zip(kinds, listed, strict=True)
    ]
    if len(set(names)) != len(names):
        raise SchemaError(
            f"two synthesizers look the same: {sorted(names)}; give a mapping of names to them"
        )
    return dict(zip(names, listed, strict=True))


def _tasks(
    methods: Mapping[str, Any],
    bench: Bench,
    epsilons: Sequence[Any],
    repeats: int,
    measures: tuple[str, ...],
) -> Iterator[Task]:
    for method, synthesizer in methods.items():
        parameters = synthesizer.get_params()
        for name in ("epsilon", "random_state"):
            parameters.pop(name, None)
        text = json.dumps(parameters, default=str, sort_keys=True)
        for epsilon, repeat, trained in product(epsilons, range(repeats), (False, True)):
            mine = tuple(m for m in measures if bool(NEEDS_TEST.fullmatch(m)) == trained)
            place = [
                type(synthesizer).__name__,
                text,
                str(Fraction(str(epsilon))),
                repeat,
                trained,
                bench.fingerprint,
            ]
            key = hashlib.sha256(json.dumps(place).encode()).hexdigest()[:24]
            if mine:
                yield Task(method, synthesizer, epsilon, repeat, trained, mine, text, key)


_warm = threading.local()  # a worker may have several threads, and counts are kept for one


def _work(bench: Bench, task: Task) -> list[dict[str, Any]]:
    """One task in this process: rows of the result."""
    if getattr(_warm, "fingerprint", "") != bench.fingerprint:
        _warm.fingerprint, _warm.bench = bench.fingerprint, replace(bench, _parts={}, _known={})
    bench = _warm.bench
    records, test = bench.part(task.repeat) if task.trained else (bench.records, None)
    started, worked = time.perf_counter(), time.process_time()
    values, problem = {m: (float("nan"), "") for m in task.measures}, ""
    try:
        fitted, fake = _fit(task, records)
    except BudgetError as error:
        seconds, problem = time.perf_counter() - started, f"{type(error).__name__}: {error}"
    else:
        seconds, cpu = time.perf_counter() - started, time.process_time() - worked
        trial = Trial(bench, fitted, records.codes, fake, test, task.seed, cpu)
        for name in task.measures:
            measure, options = find_measure(name)
            values[name] = measure(trial, **options)
    row = {
        "method": task.method,
        "guarantee": getattr(task.synthesizer, "guarantee", ""),
        "epsilon": float(Fraction(str(task.epsilon))),
        "repeat": task.repeat,
        "seed": task.seed,
        "seconds": seconds,
        "parameters": task.parameters,
        "key": task.key,
    }
    return [
        row | {"measure": m, "value": value, "note": problem or note}
        for m, (value, note) in values.items()
    ]


def _fit(task: Task, records: Records) -> tuple[Any, np.ndarray]:
    """A fitted copy of the synthesizer and the codes of one table of as many rows."""
    old, schema = task.synthesizer, records.schema
    fresh = old.clone() if hasattr(old, "clone") else type(old)(**old.get_params())
    fresh.set_params(epsilon=task.epsilon, random_state=task.seed)
    with warnings.catch_warnings():  # of what ε can't bear: that is what is measured
        warnings.simplefilter("ignore", UserWarning)
        if getattr(fresh, "takes_records", False):  # warm counts; a stranger's gets the table
            fresh.fit(records)
        else:
            fresh.fit(schema.decode(records.codes), schema=schema)
    model: Any = getattr(fresh, "model_", None)
    if hasattr(model, "sample_codes"):
        return fresh, model.sample_codes(records.n, np.random.default_rng([task.seed, 1]))
    return fresh, schema.encode(fresh.sample(records.n))
