"""What :func:`compare` measures on one fit: a pattern of names and a function for each measure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..counting.tables import Records
from ..domain.schema import Schema
from ..errors import BudgetError, SchemaError
from .disclosure import leak_probability
from .marginals import Marginals, attribute_sets, marginal_distance, marginal_distances
from .queries import QueryErrors, query_errors, sum_mutual_information
from .utility import split_mask, utility


@dataclass
class Bench:
    """A table with all that its experiments share; one copy per process keeps its counts warm.

    ``tested``: the public split, or None for a random one with this ``share`` for each repeat.
    """

    codes: np.ndarray
    schema: Schema
    target: str
    tested: np.ndarray | None
    share: float | None
    options: Mapping[str, Any]
    seed: int
    _parts: dict[int, tuple[Records, np.ndarray]] = field(default_factory=dict, repr=False)
    _known: dict[tuple[int, int | None], Marginals] = field(default_factory=dict, repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that decides a result."""
        digest = hashlib.sha256(np.ascontiguousarray(self.codes).tobytes())
        facts = [self.schema.to_dict(), self.target, self.share, self.options, self.seed]
        digest.update(json.dumps(facts, default=str, sort_keys=True).encode())
        digest.update(b"" if self.tested is None else self.tested.tobytes())
        return digest.hexdigest()[:16]

    @cached_property
    def records(self) -> Records:
        """The whole table."""
        return Records(self.codes, self.schema)

    def part(self, repeat: int) -> tuple[Records, np.ndarray]:
        """Training records and test codes; the last split is kept."""
        if self.tested is not None:
            repeat = -1
        if repeat not in self._parts:
            tested = self.tested
            if tested is None:
                tested = split_mask(len(self.codes), self.share or 1 / 3, [self.seed, repeat])
            self._parts = {repeat: (Records(self.codes[~tested], self.schema), self.codes[tested])}
        return self._parts[repeat]

    def marginals(self, alpha: int, sets: int | None) -> Marginals | np.ndarray:
        """Real marginals, all or a public random sample; the codes where they are too many."""
        if (alpha, sets) not in self._known:
            chosen = attribute_sets(len(self.schema), alpha, sets)
            try:
                self._known[alpha, sets] = Marginals(self.codes, self.schema, sets=chosen)
            except BudgetError:
                return self.codes
        return self._known[alpha, sets]


@dataclass
class Trial:
    """One fit: the fitted, the synthetic and the held-out records (None where it saw all)."""

    bench: Bench
    fitted: Any
    codes: np.ndarray
    fake: np.ndarray
    test: np.ndarray | None
    seed: int
    cpu: float
    _errors: dict[tuple[int, int], QueryErrors] = field(default_factory=dict)

    def errors(self, alpha: int, queries: int) -> QueryErrors:
        """L1 and L2 errors of the table, or of a method that answers: two measures of one count."""
        if (alpha, queries) not in self._errors:
            answering, real = hasattr(self.fitted, "marginal"), self.bench.marginals(alpha, queries)
            self._errors[alpha, queries] = query_errors(
                real, self.fitted if answering else self.fake, self.bench.schema, alpha, queries)
        return self._errors[alpha, queries]


Found = tuple[float, str]  # a value and a note
Measure = Callable[[Trial, re.Match[str]], Found]
MEASURES: dict[str, Measure] = {}
NEEDS_TEST = re.compile(r"svm(_linear)?|leak_advantage(_\d+)?")  # so fitted on training rows alone
ALPHA, DRAWN = "(?P<alpha>[1-9][0-9]*)", "(_(?P<drawn>[1-9][0-9]*))?"


def measure(pattern: str) -> Callable[[Measure], Measure]:
    """Register a measure under the names that match."""

    def register(function: Measure) -> Measure:
        MEASURES[pattern] = function
        return function

    return register


def measure_trial(name: str, trial: Trial) -> Found:
    """Value and note of one measure."""
    function, found = _find(name)
    return function(trial, found)


def check_measures(names: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """The names, each once; SchemaError for one that isn't known or doesn't fit the schema."""
    for name in names:
        asked = _find(name)[1].groupdict()
        if "attribute" in asked:
            schema.index(asked["attribute"])
        if int(asked.get("alpha", 0)) > len(schema):
            raise SchemaError(f"measure {name!r} needs α ≤ {len(schema)}, the number of attributes")
    return tuple(dict.fromkeys(names))


def _find(name: str) -> tuple[Measure, re.Match[str]]:
    for pattern, function in MEASURES.items():
        found = re.fullmatch(pattern, name)
        if found:
            return function, found
    raise SchemaError(
        f"unknown measure {name!r}: use sum_mi, cpu, svm, svm_linear, svm_self, loss_<attribute>, "
        "avd2_without_<attribute>, avd<α>, l1_<α>, l2_<α>, leak_gcap, leak_exact or "
        "leak_advantage, the last six also with _<number of sets or records>")


@measure("cpu")
def _cpu(trial: Trial, found: re.Match[str]) -> Found:
    return trial.cpu, ""


@measure("svm(?P<kind>_linear|_self)?")
def _svm(trial: Trial, found: re.Match[str]) -> Found:
    bench = trial.bench
    kernel = "linear" if found["kind"] == "_linear" else "rbf"
    protocol = "self_test" if found["kind"] == "_self" else "train_synthetic_test_real"
    options: dict[str, Any] = {"seed": trial.seed, **bench.options, "kernel": kernel}
    result = utility(trial.fake, trial.test, bench.schema, bench.target, protocol, **options)
    note = (f"majority {result.majority:.4f}; {result.backend}; {result.train_rows} training rows; "
            f"{result.protocol}")
    return result.accuracy, note


@measure("sum_mi")
def _sum_mi(trial: Trial, found: re.Match[str]) -> Found:
    network = getattr(trial.fitted, "network_", None)
    if network is None:
        return float("nan"), "no network"
    return sum_mutual_information(network, trial.bench.records), ""


@measure("loss_(?P<attribute>.+)")
def _loss(trial: Trial, found: re.Match[str]) -> Found:
    ledger = getattr(trial.fitted, "ledger_", None)
    if ledger is None:
        return float("nan"), "no ledger"
    return float(ledger.attribute_epsilon()[found["attribute"]]), ""


@measure("avd2_without_(?P<attribute>.+)")
def _rest(trial: Trial, found: re.Match[str]) -> Found:
    pairs = marginal_distances(trial.bench.codes, trial.fake, trial.bench.schema, 2)
    rest = [found["attribute"] not in pair for pair in pairs.index]
    return float(pairs[rest].mean()), ""


@measure(f"leak_(?P<definition>gcap|exact|advantage){DRAWN}")
def _leak(trial: Trial, found: re.Match[str]) -> Found:
    bench, attacked, most = trial.bench, trial.codes, int(found["drawn"] or len(trial.codes))
    if most < len(attacked):
        rng = np.random.default_rng(bench.seed)
        attacked = attacked[rng.choice(len(attacked), most, replace=False)]
    value = leak_probability(attacked, trial.fake, bench.schema, bench.target, found["definition"],
                             holdout=trial.test)
    return value, f"{len(attacked)} records attacked"


@measure(f"avd{ALPHA}{DRAWN}")
def _distance(trial: Trial, found: re.Match[str]) -> Found:
    alpha, sets = int(found["alpha"]), int(found["drawn"]) if found["drawn"] else None
    real, schema = trial.bench.marginals(alpha, sets), trial.bench.schema
    return marginal_distance(real, trial.fake, schema, alpha, sets=sets), ""


@measure(f"(?P<norm>l1|l2)_{ALPHA}{DRAWN}")
def _queries(trial: Trial, found: re.Match[str]) -> Found:
    errors = trial.errors(int(found["alpha"]), int(found["drawn"] or 200))
    how = ", answered without a table" if hasattr(trial.fitted, "marginal") else ""
    return getattr(errors, found["norm"]), f"{errors.queries} queries{how}"
