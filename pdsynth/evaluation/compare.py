"""Grids of experiments: several synthesizers × ε × repeats × measures, in parallel, and resumable."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..counting.tables import Records
from ..domain.schema import Schema
from ..errors import BudgetError, SchemaError
from .disclosure import leak_probability
from .marginals import Marginals, attribute_sets, marginal_distance, marginal_distances
from .queries import QueryErrors, query_errors, sum_mutual_information
from .store import COLUMNS, Store
from .utility import split_mask, utility

TRAINED = re.compile(r"svm|svm_linear|leak_advantage(?:_[1-9][0-9]*)?")  # needs held-out rows, so fitted on the training rows only
WHOLE = re.compile(
    r"sum_mi|cpu|svm_self|leak_(?:gcap|exact)(?:_[1-9][0-9]*)?|(?:avd|l1_|l2_)(?P<alpha>[1-9][0-9]*)(?:_[1-9][0-9]*)?"
    r"|(?:loss|avd2_without)_(?P<attribute>.+)"
)


@dataclass
class Bench:
    """A table with all that its experiments share; one copy a worker process keeps its counts warm."""

    codes: np.ndarray
    schema: Schema
    target: str
    public_test: np.ndarray | None
    share: float | None
    options: Mapping[str, Any]
    seed: int
    fingerprint: str = field(default="")
    _parts: dict[int, tuple[Records, np.ndarray]] = field(default_factory=dict, repr=False)
    _known: dict[tuple[int, int | None], Marginals] = field(default_factory=dict, repr=False)
    _last: tuple[Any, int, int, QueryErrors] | None = field(default=None, repr=False)

    @cached_property
    def records(self) -> Records:
        """The whole table."""
        return Records(self.codes, self.schema)

    def part(self, repeat: int) -> tuple[Records, np.ndarray]:
        """Training records and test codes: the public split if there is one, else one random split for each repeat."""
        at = -1 if self.public_test is not None else repeat
        if at not in self._parts:
            tested = self.public_test
            if tested is None:
                tested = split_mask(len(self.codes), self.share or 1 / 3, [self.seed, repeat])
            self._parts = {at: (Records(self.codes[~tested], self.schema), self.codes[tested])}
        return self._parts[at]

    def kept(self, alpha: int, sets: int | None) -> Marginals | None:
        """Real marginals, all or a public random sample; None where they are too many to keep."""
        if (alpha, sets) not in self._known:
            try:
                self._known[alpha, sets] = Marginals(self.codes, self.schema, sets=attribute_sets(len(self.schema), alpha, sets))
            except BudgetError:
                return None
        return self._known[alpha, sets]

    def errors(self, fake: Any, alpha: int, queries: int) -> QueryErrors:
        """L1 and L2 errors of a table or of a method that answers: two measures of one count."""
        if self._last is None or self._last[0] is not fake or self._last[1:3] != (alpha, queries):
            found = query_errors(self.kept(alpha, queries) or self.codes, fake, self.schema, alpha, queries)
            self._last = (fake, alpha, queries, found)
        return self._last[3]


@dataclass(frozen=True)
class Task:
    """One fit, and what is measured on its table; everything that decides its result is in ``key``."""

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
        """Seed of the fit and of its sample, from the key alone: order and parallelism can't change a result."""
        return int.from_bytes(hashlib.sha256(self.key.encode()).digest()[:4], "big")


def compare(
    synthesizers: Mapping[str, Any] | Iterable[Any],
    dataset: Any,
    epsilons: Sequence[Any],
    repeats: int,
    measures: Sequence[str] = ("sum_mi", "avd2", "avd3", "svm"),
    *,
    seed: int = 0,
    jobs: int = -1,
    progress: bool = False,
    resume: str | Path | None = None,
    test: float | None = None,
    utility_options: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Run every synthesizer at every ε, ``repeats`` times: a tidy DataFrame, one row a measure.

    Columns: method, guarantee, epsilon, repeat, seed, measure, value, seconds (of fit and sample), note, parameters,
    dataset, key; rows in grid order. A method that can't run at an ε (BudgetError, so BudgetDegenerate too) has NaN and a note.

    ``synthesizers``: estimators, or a mapping of names to them. ``dataset`` has frame, schema, target, split, name.
    ``measures``: ``sum_mi`` (bits), ``avd2``, ``avd3``, … (average variation distance), ``l1_4``, ``l2_4``, … (query errors),
    ``cpu`` (processor seconds of fit and sample) and ``svm_self`` (pitfall) come from a fit on the whole table; ``avd3_200``
    takes 200 random sets, ``l1_4_50`` 50 random queries (else 200), the same ones in every run. ``svm`` and ``svm_linear``
    (accuracy) come from a fit on the training rows alone, tested on the others: the public split, or with ``test`` (or without
    a public split: 1/3) a random one for each repeat, the same for all methods. ``leak_gcap``, ``leak_exact`` (whole table) and
    ``leak_advantage`` (training rows, the others being the attacker's) are :func:`leak_probability` of the target;
    ``leak_gcap_2000`` attacks 2,000 random records. ``loss_age`` is the ledger's ε of a change of age alone, ``avd2_without_age``
    the 2-way distance of the pairs of all other attributes. ``utility_options`` go to :func:`utility`.
    ``resume``: CSV file; rows already there are not run again, each task is written as it ends, so stop at any time.
    ``jobs``: processes (−1: all cores; 1: none extra).

    **Privacy:** measures real records exactly and fits them again and again: for public or permitted tables, never a release.
    """
    bench = _bench(dataset, test, dict(utility_options or {}), seed)
    store = Store(resume)
    tasks = list(_tasks(_named(synthesizers), bench, epsilons, repeats, _checked(measures, bench.schema), dataset.name))
    todo = [_without(t, store) for t in tasks]
    todo = [t for t in todo if t.measures]
    todo.sort(key=lambda t: (t.trained, t.repeat))  # one split after the other, so that its counts stay warm
    done = _run(bench, todo, jobs)
    if progress:
        from tqdm.auto import tqdm

        done = tqdm(done, total=len(tasks), initial=len(tasks) - len(todo), desc="compare", unit="fit")
    for rows in done:
        store.add(dict(row, dataset=dataset.name) for row in rows)
    # a file may know the same fit under another name
    rows = [dict(store.rows[t.key, m], method=t.method) for t in tasks for m in t.measures]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _checked(measures: Sequence[str], schema: Schema) -> tuple[str, ...]:
    d = len(schema)
    for name in measures:
        found = WHOLE.fullmatch(name)
        if not TRAINED.fullmatch(name) and not found:
            raise SchemaError(
                f"unknown measure {name!r}: use sum_mi, cpu, svm, svm_linear, svm_self, loss_<attribute>, avd2_without_<attribute>, "
                "avd<α>, l1_<α>, l2_<α>, leak_gcap, leak_exact or leak_advantage, the last six also with _<number of sets or records>"
            )
        if found and found["attribute"]:
            schema.index(found["attribute"])
        if found and found["alpha"] and int(found["alpha"]) > d:
            raise SchemaError(f"measure {name!r} needs α ≤ {d}, the number of attributes")
    return tuple(dict.fromkeys(measures))


def _named(synthesizers: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    if isinstance(synthesizers, Mapping):
        return dict(synthesizers)
    listed = list(synthesizers)
    kinds = [type(s).__name__ for s in listed]
    names = [kind if kinds.count(kind) == 1 else repr(s) for kind, s in zip(kinds, listed, strict=True)]
    if len(set(names)) != len(names):
        raise SchemaError(f"two synthesizers look the same: {sorted(names)}; give a mapping of names to them")
    return dict(zip(names, listed, strict=True))


def _bench(dataset: Any, test: float | None, options: dict[str, Any], seed: int) -> Bench:
    schema = dataset.schema
    codes = schema.encode(dataset.frame)
    split = getattr(dataset, "split", None) if test is None else None
    public = None if split is None else (split == "test").to_numpy()
    bench = Bench(codes, schema, dataset.target, public, None if public is not None else test or 1 / 3, options, seed)
    digest = hashlib.sha256(np.ascontiguousarray(codes).tobytes())
    digest.update(json.dumps([schema.to_dict(), dataset.target, bench.share, options, seed], default=str, sort_keys=True).encode())
    digest.update(b"" if public is None else public.tobytes())
    bench.fingerprint = digest.hexdigest()[:16]
    return bench


def _tasks(
    named: Mapping[str, Any], bench: Bench, epsilons: Sequence[Any], repeats: int, measures: tuple[str, ...], dataset: str
) -> Iterator[Task]:
    for method, synthesizer in named.items():
        params = {k: v for k, v in synthesizer.get_params().items() if k not in ("epsilon", "random_state")}
        text = json.dumps(params, default=str, sort_keys=True)
        for epsilon in epsilons:
            for repeat in range(repeats):
                for trained in (False, True):
                    mine = tuple(m for m in measures if bool(TRAINED.fullmatch(m)) == trained)
                    place = [type(synthesizer).__name__, text, str(Fraction(str(epsilon))), repeat, trained, bench.fingerprint]
                    key = hashlib.sha256(json.dumps(place).encode()).hexdigest()[:24]
                    if mine:
                        yield Task(method, synthesizer, epsilon, repeat, trained, mine, text, key)


def _without(task: Task, store: Store) -> Task:
    left = tuple(m for m in task.measures if (task.key, m) not in store.rows)
    return Task(**{**task.__dict__, "measures": left})


_warm: dict[str, Bench] = {}


def _run(bench: Bench, tasks: list[Task], jobs: int) -> Iterable[list[dict[str, Any]]]:
    if jobs == 1 or len(tasks) < 2:
        return (_work(bench, task) for task in tasks)
    from joblib import Parallel, delayed

    return Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(_work)(bench, task) for task in tasks)


def _work(bench: Bench, task: Task) -> list[dict[str, Any]]:
    """One task in this process: rows of the result."""
    if bench.fingerprint not in _warm:
        _warm.clear()
        _warm[bench.fingerprint] = bench
    bench = _warm[bench.fingerprint]
    row = {
        "method": task.method, "guarantee": getattr(task.synthesizer, "guarantee", ""), "epsilon": float(task.epsilon),
        "repeat": task.repeat, "seed": task.seed, "parameters": task.parameters, "key": task.key,
    }  # fmt: skip
    records, test = bench.part(task.repeat) if task.trained else (bench.records, None)
    started, worked = time.perf_counter(), time.process_time()
    try:
        fitted, fake = _table(task, records)
    except BudgetError as problem:
        seconds, note = time.perf_counter() - started, f"{type(problem).__name__}: {problem}"
        return [dict(row, measure=m, value=float("nan"), seconds=seconds, note=note) for m in task.measures]
    seconds, cpu = time.perf_counter() - started, time.process_time() - worked
    found = [(m, *((cpu, "") if m == "cpu" else _measure(m, bench, fitted, (records.codes, fake, test), task.seed))) for m in task.measures]
    return [dict(row, measure=m, value=value, seconds=seconds, note=note) for m, value, note in found]


def _table(task: Task, records: Records) -> tuple[Any, np.ndarray]:
    """A fitted copy of the synthesizer and the codes of one table of as many rows."""
    old = task.synthesizer
    fresh = old.clone() if hasattr(old, "clone") else type(old)(**old.get_params())
    fresh.set_params(epsilon=task.epsilon, random_state=task.seed)
    if getattr(fresh, "takes_records", False):  # warm counts; somebody else's synthesizer gets the table itself
        fresh.fit(records)
    else:
        fresh.fit(records.schema.decode(records.codes), schema=records.schema)
    model: Any = getattr(fresh, "model_", None)
    if hasattr(model, "sample_codes"):
        return fresh, model.sample_codes(records.n, np.random.default_rng([task.seed, 1]))
    return fresh, records.schema.encode(fresh.sample(records.n))


def _measure(name: str, bench: Bench, fitted: Any, codes: tuple[np.ndarray, np.ndarray, np.ndarray | None], seed: int) -> tuple[float, str]:
    """Value and note of one measure; ``codes``: the fitted, the synthetic and the held-out records."""
    mine, fake, test = codes
    if name.startswith("svm"):
        options: dict[str, Any] = {"seed": seed, **bench.options, "kernel": "linear" if name == "svm_linear" else "rbf"}
        protocol = "self_test" if name == "svm_self" else "train_synthetic_test_real"
        found = utility(fake, test, bench.schema, bench.target, protocol, **options)
        return found.accuracy, f"majority {found.majority:.4f}; {found.backend}; {found.train_rows} training rows; {found.protocol}"
    if name == "sum_mi":
        network = getattr(fitted, "network_", None)
        if network is None:
            return float("nan"), "no network"
        return sum_mutual_information(network, bench.records), ""
    if name.startswith("loss_"):
        ledger = getattr(fitted, "ledger_", None)
        return (float("nan"), "no ledger") if ledger is None else (float(ledger.attribute_epsilon()[name.removeprefix("loss_")]), "")
    if name.startswith("avd2_without_"):
        pairs = marginal_distances(bench.codes, fake, bench.schema, 2)
        return float(pairs[[name.removeprefix("avd2_without_") not in pair for pair in pairs.index]].mean()), ""
    if name.startswith("leak_"):
        definition, _, drawn = name.removeprefix("leak_").partition("_")
        if drawn and int(drawn) < len(mine):
            mine = mine[np.random.default_rng(bench.seed).choice(len(mine), int(drawn), replace=False)]
        return leak_probability(mine, fake, bench.schema, bench.target, definition, holdout=test), f"{len(mine)} records attacked"
    alpha, _, drawn = re.sub("^(avd|l1_|l2_)", "", name).partition("_")
    sets = int(drawn) if drawn else None
    if name.startswith("avd"):
        return marginal_distance(bench.kept(int(alpha), sets) or bench.codes, fake, bench.schema, int(alpha), sets=sets), ""
    answering = hasattr(fitted, "marginal")
    errors = bench.errors(fitted if answering else fake, int(alpha), sets or 200)
    return getattr(errors, name[:2]), f"{errors.queries} queries{', answered without a table' if answering else ''}"
