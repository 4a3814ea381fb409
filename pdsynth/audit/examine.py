"""How the keeper of the bug zoo examines a function on one pair of neighbouring tables.

Cheapest first: outputs of another shape (domain), noise scales or candidates that differ, numbers
without noise or the same whatever the noise (seed), exact laws of selections, and samples.
"""

import math
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

from ..concentrated import epsilon_of, renyi_losses
from ..core import COUNTING, ExactNoise, Model, Noise, SchemaError
from ..files import decimal
from . import detectors
from .attacks import TRIES
from .detectors import PrefetchedNoise, RecordedNoise, extend_seed
from .estimator import Bound, lower_bound, quantise
from .pairs import Pair
from .tape import Explorer, Player, Tape, compare

AUDITS = 1000  # audits that share the error of 5 %: a correct function is blamed in one of 20,000
ROUNDING = 1 + 1e-9  # what doubles may add to an exact law
WALK = 64  # of so many candidates every path is walked: who they are is seen, not just how many
DATA = tomllib.loads(files(__package__).joinpath("zoo.toml").read_text(encoding="utf-8"))
LEMMAS: dict[str, str] = DATA["rules"]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Diagnosis:
    """What was found: the broken rule (``code``, or ""), the least ε lost, and the witness."""

    code: str = ""
    words: str = ""
    pair: Pair | None = None
    bound: float = 0.0
    claimed: float = 1.0

    @property
    def sound(self) -> bool:
        """Nothing was found, which proves nothing."""
        return not self.code

    @property
    def lemma(self) -> str:
        """The violated rule or lemma, in words."""
        return LEMMAS.get(self.code, "")

    def __str__(self) -> str:
        if self.sound:
            return f"Not refuted at ε = {decimal(self.claimed)}. That is no proof."
        lost = (
            "no finite ε holds"
            if self.bound == math.inf
            else f"at least ε = {decimal(self.bound, up=False)} is lost, "
            f"{decimal(self.claimed)} is claimed"
        )
        return f"{self.lemma}.\n  Here: {self.words}; {lost}.\n  Witness: {self.pair}"

    __repr__ = __str__


SOUND = Diagnosis()


@dataclass(frozen=True)
class Trial:
    """One function on one pair of tables at ε = 1; ``code``: the rule that a larger loss breaks."""

    function: Function
    code: str
    pair: Pair
    arguments: tuple[Any, ...]
    runs: int
    seed: list[int] | None
    epsilon: Fraction = Fraction(1)

    def run(self, world: int, noise: Noise) -> Any:
        """What it publishes of table 0 or 1."""
        codes = (self.pair.before, self.pair.after)[world].copy()
        return self.function(codes, self.pair.sizes, *self.arguments, self.epsilon, noise)

    def ask(self, world: int, *kinds: str) -> list[tuple[Any, Any]]:
        """What it asks a random source for."""
        tape = RecordedNoise()
        self.run(world, tape)
        return tape.find(*kinds)

    def repeat(self, world: int) -> list[Any]:
        """Some runs, each with its own noise."""
        return [self.run(world, ExactNoise(extend_seed(self.seed, world, i))) for i in range(TRIES)]

    def sample(self, runs: int, label: int) -> list[list[Any]]:
        """Many runs of both worlds."""
        noise = [PrefetchedNoise(extend_seed(self.seed, label, world)) for world in (0, 1)]
        return [[self.run(world, noise[world]) for _ in range(runs)] for world in (0, 1)]

    def blame(self, code: str, words: str, bound: float = math.inf) -> Diagnosis:
        """A finding."""
        return Diagnosis(code, words, self.pair, bound, float(self.epsilon))

    def judge(
        self, words: str, bound: float | Fraction, code: str = "", rounding: float = 1
    ) -> Diagnosis:
        """A finding if more than ε is lost."""
        lost = bound > self.epsilon * rounding
        return self.blame(code or self.code, words, float(bound)) if lost else SOUND


# --- functions that promise (ε, δ) ------------------------------------------------


def examine_with_delta(trial: Trial) -> Diagnosis:
    """The exact ρ of every answer, forced on the other table; what they come to at δ = 1e-9."""
    recorder = Explorer(0, 0)
    trial.run(0, Tape(recorder))
    player = Player(recorder.asked)
    trial.run(1, Tape(player))
    losses = [compare(*pair, renyi_losses) for pair in player.pairs]
    lost = max(sum(loss.forward for loss in losses), sum(loss.backward for loss in losses))
    rho = Fraction(lost).limit_denominator(10**12)
    bound = epsilon_of(rho, Fraction(1, 10**9))
    return trial.judge(f"all answers together cost ρ = {float(rho):.4g}", bound)


# --- functions that publish numbers ---------------------------------------------


def examine_numbers(trial: Trial) -> Diagnosis:
    """Shapes, scales, the exact loss where there is one, numbers that don't change, and samples."""
    first, second = (
        [np.shape(part) for part in as_list(trial.run(world, RecordedNoise()))] for world in (0, 1)
    )
    if first != second:
        return trial.blame("L9", f"the output has shapes {first} and {second}")
    scales = [
        [np.ravel(scale).tolist() for scale, _ in trial.ask(world, *COUNTING)] for world in (0, 1)
    ]
    if scales[0] != scales[1]:
        a, b = next((max(x), max(y)) for x, y in zip(*scales, strict=False) if x != y)
        return trial.blame(
            "L5", f"a noise scale is {float(a):.4g} in one world and {float(b):.4g} in the other"
        )
    lost = add_losses(trial)
    if lost == math.inf:
        return trial.blame("L3 zero-sum", "noise of sum 0 shows the sum, which is not the same")
    if lost is not None:
        words = "the changes of all published numbers, each divided by its noise scale, add up to "
        return trial.judge(f"{words}{lost}", lost)
    diagnosis = find_unmoved(trial)
    for runs in (trial.runs // 6, trial.runs):  # what shows in few runs needs no more
        diagnosis = measure_best(trial, runs) if diagnosis.sound else diagnosis
    return diagnosis


def as_list(output: Any) -> list[Any]:
    """What a function publishes, part by part."""
    return list(output) if isinstance(output, (list, tuple)) else [output]


def flatten(output: Any) -> np.ndarray:
    """All published numbers in a row; TypeError if there are none, or strange ones."""
    parts = [np.asarray(part, dtype=float).ravel() for part in as_list(output)]
    numbers = np.concatenate([*parts, []])
    if not len(numbers) or not np.isfinite(numbers).all():
        raise TypeError(
            f"the function must publish finite numbers, it returned {str(output)[:60]!r}"
        )
    return numbers


class KnownNoise(RecordedNoise):
    """A tape of numbers that nobody adds by accident."""

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Whole numbers from a fixed stream, each call further on."""
        rng = np.random.default_rng([23, len(self.asked)])
        numbers = rng.integers(-(10**6), 10**6, shape)
        self.asked.append(("known", numbers, np.broadcast_to(scale, shape)))
        return numbers

    def zero_sum_laplace(self, scale: Fraction, shape: tuple[int, ...]) -> np.ndarray:
        """The same; the last number is what is missing to 0."""
        numbers = self.discrete_laplace(np.asarray(scale, dtype=object), shape)
        numbers.flat[-1] -= numbers.sum()
        return numbers


def add_losses(trial: Trial) -> Fraction | float | None:
    """Σ |change| ÷ scale of outputs that are counts plus one draw for each number; else None.

    Infinite where noise of sum 0 is on counts whose sum changes.
    """
    quiet = []
    for world in (0, 1):
        tape = KnownNoise()
        counts = flatten(trial.run(world, RecordedNoise()))
        noisy = flatten(trial.run(world, tape))
        draws = [
            (n, s)
            for numbers, scales in tape.find("known")
            for n, s in zip(numbers.flat, scales.flat, strict=True)
        ]
        if noisy.tolist() != [c + n for c, (n, _) in zip(counts, draws, strict=False)]:
            return None
        if (counts % 1).any():
            return None
        quiet.append(counts.astype(int).tolist())
    at = 0
    for numbers, _ in tape.find("known"):
        first, second = (sum(counts[at : at + numbers.size]) for counts in quiet)
        if numbers.sum() == 0 and first != second:
            return math.inf
        at += numbers.size
    changes = zip(*quiet, (scale for _, scale in draws), strict=True)
    return sum((Fraction(abs(a - b)) / Fraction(scale) for a, b, scale in changes), Fraction(0))


def find_unmoved(trial: Trial) -> Diagnosis:
    """Numbers that are the same in all tries, although the noise differs."""
    tried = [np.stack([flatten(output) for output in trial.repeat(world)]) for world in (0, 1)]
    still = [(x == x[0]).all(axis=0) for x in tried]
    differ, of = tried[0][0] != tried[1][0], f"of {tried[0].shape[1]}"
    if still[0].all() and still[1].all() and differ.any():
        return trial.blame("L10", "twelve runs with different noise published the same")
    for at in np.flatnonzero(still[0] & still[1] & differ):
        values = " or ".join(f"{x[0][at]:g}" for x in tried)
        return trial.blame("L1", f"number {at + 1} {of} has no noise: it is {values}")
    for at in np.flatnonzero(still[0] != still[1]):
        if max(len(np.unique(x[:, at])) for x in tried) > 3:  # not noise that is hardly ever there
            return trial.blame("L9", f"number {at + 1} {of} has noise in one world only")
    return SOUND


def measure_best(trial: Trial, runs: int) -> Diagnosis:
    """The statistic that tells most in a third of the runs, measured on the others."""
    before, after = (flatten(trial.run(world, RecordedNoise())) for world in (0, 1))
    out = [np.stack([flatten(output) for output in world]) for world in trial.sample(runs, 7)]
    statistics = list_statistics(before, after, np.concatenate([x[: runs // 3] for x in out]))
    bound, _ = bound_best([[statistic(x) for x in out] for statistic in statistics])
    calls, numbers = trial.ask(0, *COUNTING), len(before)
    count = sum(math.prod(shape) for _, shape in calls)
    code, words = "", bound.event
    if not calls:
        code = "L10"
        words = f"the noise comes from another source than the one given, and {bound.event}"
    elif count < numbers:
        code, words = "L3 independent", f"{count} draws for {numbers} numbers, and {bound.event}"
    return trial.judge(words, bound.epsilon, code)


def bound_best(values: list[list[np.ndarray]]) -> tuple[Bound, int]:
    """The bound of the statistic that tells most in the first third of the runs, and its number."""
    pilot = len(values[0][0]) // 3
    first = [lower_bound(*(v[:pilot] for v in worlds)).epsilon for worlds in values]
    best = int(np.argmax(first))
    return lower_bound(*(v[pilot:] for v in values[best]), audits=AUDITS), best


def list_statistics(
    before: np.ndarray, after: np.ndarray, pilot: np.ndarray
) -> Iterator[Callable[[np.ndarray], np.ndarray]]:
    """Likelihood ratio under Laplace noise, numbers that move, their differences; as integers."""
    moved = np.flatnonzero(before != after)
    if not len(moved):  # the quiet outputs are made alike: look at everything
        moved = np.arange(len(before))
    b = np.maximum(np.abs(pilot - np.median(pilot, axis=0)).mean(axis=0), 1e-9)
    step = max(float((np.abs(after - before)[moved] / b[moved]).sum()) / 128, 1e-9)
    weights = np.eye(len(b))

    def ratio(x: np.ndarray) -> np.ndarray:
        each = (np.abs(x - before) - np.abs(x - after)) / b
        return quantise(each[:, moved].sum(axis=1), step)

    yield ratio
    for i in moved[:6]:
        others = [weights[j] for j in range(min(len(b), 12)) if j != i]
        for weight in (weights[i], *(weights[i] - other for other in others)):
            yield lambda x, w=weight, unit=b[i] / 64: quantise(x @ w, unit)  # type: ignore[misc]


# --- functions that write model files ---------------------------------------------


def examine_file(trial: Trial) -> Diagnosis:
    """The file must load, covered by its ledger; then its tables are numbers like others."""
    try:
        Model.from_dict(trial.run(0, ExactNoise()))
    except SchemaError as problem:
        return trial.blame("L11", f"the file is refused: {problem}")
    tables = replace(
        trial, function=lambda *arguments: trial.function(*arguments)["tables"], code="L6"
    )
    return examine_numbers(tables)


# --- functions that choose ------------------------------------------------------


def examine_selection(trial: Trial) -> Diagnosis:
    """Functions that make one selection, whose law is computed."""
    selections = [trial.ask(world, "select") for world in (0, 1)]
    if not all(selections):
        return trial.blame("L1", "nothing is selected by a mechanism")
    first, second = ([len(numerators) for numerators, _ in calls] for calls in selections)
    if first != second:
        return trial.blame(
            "L4", f"there are {first[0]} candidates in one world and {second[0]} in the other"
        )
    if max(first) <= WALK:
        p, q = (detectors.law(partial(trial.run, world)) for world in (0, 1))
        alone = sorted({*p} ^ {*q}, key=str)
        words = (
            f"{alone[0]} can be chosen in one world only"
            if alone
            else "the laws of the choice differ too much"
        )
        return trial.judge(words, detectors.log_ratio(p, q), rounding=ROUNDING)
    gap, at, both = detectors.compare_selections(selections)
    either = " or ".join(f"{p:.3g}" for p in both)
    words = f"candidate {at + 1} of {len(selections[0][0][0])} has probability {either}"
    return trial.judge(words, gap, rounding=ROUNDING)


def examine_choice(trial: Trial) -> Diagnosis:
    """Functions that publish an order or a group: the determinism test, then samples."""
    tried = [trial.repeat(world) for world in (0, 1)]
    first, second = (outcomes[0] for outcomes in tried)
    if first != second and all(len(set(outcomes)) == 1 for outcomes in tried):
        return trial.blame(
            "L1",
            f"whatever the noise, the outcome is {first} in one world and {second} in the other",
        )
    samples = trial.sample(max(90, trial.runs // 6), 9)
    pilot = len(samples[0]) // 3
    names = sorted({*samples[0][:pilot], *samples[1][:pilot]}, key=str)
    bound, best = bound_best(
        [
            [np.array([int(outcome == name) for outcome in world]) for world in samples]
            for name in names
        ]
    )
    return trial.judge(f"{names[best]} comes out too often in one world", bound.epsilon)
