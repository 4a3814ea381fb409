"""What :func:`compare` measures on one fit: a method for each measure."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from ..core import BudgetError, Records, Schema, SchemaError, number, show, to_list
from .disclosure import leak_probability
from .inputs import seeded
from .marginals import Marginals, attribute_sets, marginal_distance, marginal_distances
from .protection import protection
from .queries import QueryErrors, counting_errors, query_errors, sum_mutual_information
from .utility import split_mask, utility

Found = tuple[float, str]


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
    """One fit: the fitted, the synthetic and the held-out records (None where it saw all).

    Each measure gives a value and a note.
    """

    bench: Bench
    fitted: Any
    codes: np.ndarray
    fake: np.ndarray
    test: np.ndarray | None
    seed: int
    cpu: float
    _errors: dict[tuple[int, int], QueryErrors] = field(default_factory=dict)

    def time(self) -> Found:
        """Processor seconds of fit and sample."""
        return self.cpu, ""

    def accuracy(self, kind: str | None) -> Found:
        """Accuracy of support vectors on the target."""
        kernel = "linear" if kind == "_linear" else "rbf"
        protocol = "self_test" if kind == "_self" else "train_synthetic_test_real"
        options: dict[str, Any] = {"seed": self.seed, **self.bench.options, "kernel": kernel}
        schema, target = self.bench.schema, self.bench.target
        result = utility(self.fake, self.test, schema, target, protocol, **options)
        return result.accuracy, (
            f"majority {result.majority:.4f}; {result.backend}; "
            f"{result.train_rows} training rows; {result.protocol}"
        )

    def information(self) -> Found:
        """Bits that the network holds of the real table."""
        network = getattr(self.fitted, "network_", None)
        if network is None:
            return float("nan"), "no network"
        records = self.bench.records
        over = "" if {*network.order} <= {*records.schema.names} else "a network over bits"
        return sum_mutual_information(network, records), over

    def loss(self, attribute: str) -> Found:
        """The ledger's ε of a change of one attribute alone."""
        ledger = getattr(self.fitted, "ledger_", None)
        if ledger is None:
            return float("nan"), "no ledger"
        return float(ledger.attribute_epsilon()[attribute]), ""

    def misplaced(self) -> Found:
        """How many attributes stand in another group than real associations would give."""
        result = protection(self.fitted, Records(self.codes, self.bench.schema))
        return result.misplaced, "" if result.misplaced == result.misplaced else "no groups"

    def risk_error(self) -> Found:
        """Mean error of the released risk entropies; the note has that of the best constant."""
        result = protection(self.fitted, Records(self.codes, self.bench.schema))
        return result.risk_error, f"a constant: {result.constant_error:.4f}"

    def distance(self, alpha: str, drawn: str | None) -> Found:
        """Average variation distance."""
        sets = int(drawn) if drawn else None
        real, schema = self.bench.marginals(int(alpha), sets), self.bench.schema
        return marginal_distance(real, self.fake, schema, int(alpha), sets=sets), ""

    def farthest(self, alpha: str, drawn: str | None) -> Found:
        """The largest of the distances whose mean is the average variation distance."""
        sets = int(drawn) if drawn else None
        codes, schema = self.bench.codes, self.bench.schema
        return float(marginal_distances(codes, self.fake, schema, int(alpha), sets=sets).max()), ""

    def distance_without(self, attribute: str) -> Found:
        """2-way distance of the pairs of all other attributes."""
        pairs = marginal_distances(self.bench.codes, self.fake, self.bench.schema, 2)
        return float(pairs[[attribute not in pair for pair in pairs.index]].mean()), ""

    def query_error(self, norm: str, alpha: str, drawn: str | None) -> Found:
        """L1 or L2 error of the table, or of a method that answers: two measures of one count."""
        question, answering = (int(alpha), int(drawn or 200)), hasattr(self.fitted, "marginal")
        if question not in self._errors:
            real, fake = self.bench.marginals(*question), self.fitted if answering else self.fake
            self._errors[question] = query_errors(real, fake, self.bench.schema, *question)
        errors = self._errors[question]
        how = ", answered without a table" if answering else ""
        return getattr(errors, norm), f"{errors.queries} queries{how}"

    def counting(self, alpha: str, drawn: str | None) -> Found:
        """Mean error of random counting queries, as a share of the records."""
        question = (int(alpha), int(drawn or 200))
        errors = counting_errors(
            self.bench.marginals(*question), self.fake, self.bench.schema, *question
        )
        return float(errors.mean()), f"{len(errors)} queries"

    def leak(self, definition: str, drawn: str | None) -> Found:
        """Leak probability of the target, of all fitted records or of some drawn at random."""
        attacked, bench = self.codes, self.bench
        if drawn and int(drawn) < len(attacked):
            rng = np.random.default_rng(bench.seed)
            attacked = attacked[rng.choice(len(attacked), int(drawn), replace=False)]
        value = leak_probability(
            attacked, self.fake, bench.schema, bench.target, definition, holdout=self.test
        )
        return value, f"{len(attacked)} records attacked"


ALPHA, DRAWN = "(?P<alpha>[1-9][0-9]*)", "(_(?P<drawn>[1-9][0-9]*))?"
MEASURES: dict[str, Callable[..., Found]] = {
    "cpu": Trial.time,
    "sum_mi": Trial.information,
    "svm(?P<kind>_linear|_self)?": Trial.accuracy,
    "loss_(?P<attribute>.+)": Trial.loss,
    "misplaced": Trial.misplaced,
    "risk_error": Trial.risk_error,
    f"avd{ALPHA}{DRAWN}": Trial.distance,
    f"worst{ALPHA}{DRAWN}": Trial.farthest,
    "avd2_without_(?P<attribute>.+)": Trial.distance_without,
    f"(?P<norm>l1|l2)_{ALPHA}{DRAWN}": Trial.query_error,
    f"count_{ALPHA}{DRAWN}": Trial.counting,
    f"leak_(?P<definition>gcap|exact|advantage){DRAWN}": Trial.leak,
}
NEEDS_TEST = re.compile(f"svm(_linear)?|leak_advantage{DRAWN}")  # so fitted on training rows alone


def find_measure(name: str) -> tuple[Callable[..., Found], dict[str, Any]]:
    """The method of :class:`Trial` that a name means, and its arguments."""
    for pattern, function in MEASURES.items():
        match = re.fullmatch(pattern, name) if isinstance(name, str) else None
        if match:
            return function, match.groupdict()
    raise SchemaError(
        f"unknown measure {show(name)}: use sum_mi, cpu, misplaced, risk_error, svm, "
        "svm_linear, svm_self, loss_<attribute>, avd2_without_<attribute>, avd<α>, worst<α>, "
        "l1_<α>, l2_<α>, count_<α>, "
        "leak_gcap, leak_exact or leak_advantage, the last eight also with _<number of sets or "
        "records>"
    )


def check_measures(
    names: Sequence[str] | None, schema: Schema, target: str = ""
) -> tuple[str, ...]:
    """The names, each once; SchemaError for one that isn't known or doesn't fit the table.

    None: the default measures that fit. ``target``: empty where the table has none.
    """
    if not isinstance(target, str) or target:
        schema.index(target)
    if names is None:
        fits = {"sum_mi": True, "avd2": True, "avd3": len(schema) > 2, "svm": bool(target)}
        return tuple(name for name, there in fits.items() if there)
    for name in to_list("measures", names):
        measure, options = find_measure(name)
        if not target and measure in (Trial.accuracy, Trial.leak):
            raise SchemaError(
                f"measure {name!r} needs an attribute to predict: say target=, "
                f"one of {', '.join(schema.names)}"
            )
        if "attribute" in options:
            schema.index(options["attribute"])
        if int(options.get("alpha", 0)) > len(schema):
            raise SchemaError(f"measure {name!r} needs α ≤ {len(schema)}, the number of attributes")
    return tuple(dict.fromkeys(names))


def check_grid(seed: Any, test: Any, resume: Any, options: Any, progress: Any) -> None:
    """Refuse settings of a grid of experiments that mean nothing."""
    seeded(seed)
    if test is not None and not 0 < number("test", test) < 1:
        raise SchemaError(f"test must be a share between 0 and 1, or None, got {show(test)}")
    if resume is not None and not isinstance(resume, (str, os.PathLike)):
        raise SchemaError(f"resume must be the path of a CSV file, or None, got {show(resume)}")
    if options is not None and not isinstance(options, Mapping):
        raise SchemaError(
            f"utility_options must be a mapping of utility's keywords, got {show(options)}"
        )
    unknown = sorted({str(name) for name in options or ()} - {*signature(utility).parameters})
    if unknown:
        raise SchemaError(f"utility has no option(s) {unknown}")
    if not isinstance(progress, bool):
        raise SchemaError(f"progress must be True or False, got {show(progress)}")
