"""The bug zoo's keeper: audits a function, names the rule that it breaks, and shows a witness.

A function gets codes (n, d), public sizes, ε and a random source, and returns what it publishes. It
is tried on pairs of neighbouring tables. What is checked, cheapest first: outputs of another shape
(domain), noise scales or candidates that differ, numbers without noise or the same whatever the noise
(seed), exact laws of selections, and samples.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np

from ..privacy.mechanisms import ExactNoise, Noise
from . import bugs, pairs
from .detectors import (
    PrefetchedNoise, RecordedNoise, Seed, extend_seed, law, log_ratio, noise_scales, selection_law,
)
from .estimator import Bound, lower_bound, quantise
from .structure_steps import list_pairs_of_lone_ones
from .tables import Pair

AUDITS = 1000  # audits that share the error of 5 %: a correct function is blamed in one of 20,000
TRIES = 12  # runs that show whether anything changes with the noise
FACTOR = 1 + 1e-9  # what floating point may add to a loss
DATA = tomllib.loads(files(__package__).joinpath("zoo.toml").read_text(encoding="utf-8"))
LEMMAS: dict[str, str] = DATA["rules"]


@dataclass(frozen=True)
class Diagnosis:
    """What the keeper found.

    ``code``: the rule that is broken, empty if none; ``bound``: ε lost for certain; ``pair``: the
    witness.
    """

    code: str = ""
    words: str = ""
    pair: Pair | None = None
    bound: float = 0.0
    claimed: float = 0.0

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
            return f"Not refuted at ε = {self.claimed:g}. That is no proof."
        lost = ("no finite ε holds" if self.bound == math.inf
                else f"at least ε = {self.bound:.3g} is lost, {self.claimed:g} is claimed")
        return f"{self.lemma}.\n  Here: {self.words}; {lost}.\n  Witness: {self.pair}"

    __repr__ = __str__


SOUND = Diagnosis()


@dataclass(frozen=True)
class Trial:
    """One function on one pair of tables; ``code``: the rule that a loss beyond ε breaks."""

    function: Callable[..., Any]
    code: str
    pair: Pair
    arguments: tuple[Any, ...]
    epsilon: Fraction
    seed: Seed

    def run(self, world: int, noise: Noise) -> Any:
        """What it publishes of table 0 or 1."""
        codes = (self.pair.before, self.pair.after)[world].copy()
        return self.function(codes, self.pair.sizes, *self.arguments, self.epsilon, noise)

    def repeat(self, world: int) -> list[Any]:
        """Some runs, each with its own noise."""
        return [self.run(world, ExactNoise(extend_seed(self.seed, world, i))) for i in range(TRIES)]

    def blame(self, code: str, words: str, bound: float = math.inf) -> Diagnosis:
        """A finding."""
        return Diagnosis(code, words, self.pair, bound, float(self.epsilon))


def check(function: Callable[..., Any], kind: str, *, runs: int = 6000,
          seed: int | None = None) -> Diagnosis:
    """Audit a function of one of the :data:`KINDS`: the first rule that it breaks, or "not refuted".

    Parameters
    ----------
    function : called as the kind says; its noise must come from the source that it gets.
    kind : "table", "tables", "conditional", "selection" or "choice".
    runs : releases of each table where sampling is needed.
    seed : None draws from the operating system.

    Raises KeyError for an unknown kind, TypeError for a function that publishes no numbers. What the
    function raises passes through.
    """
    if kind not in KINDS:
        raise KeyError(f"no kind {kind!r}; there are {', '.join(KINDS)}")
    chosen, epsilon = KINDS[kind], Fraction(1)
    for number, pair in enumerate(chosen.pairs()):
        arguments = (list_candidates(pair),) if kind == "selection" else ()
        trial = Trial(function, chosen.code, pair, arguments, epsilon, extend_seed(seed, number))
        found = chosen.examine(trial, runs)
        if not found.sound:
            return found
    return Diagnosis(claimed=float(epsilon))


def list_candidates(pair: Pair) -> list[tuple[int, tuple[int, ...]]]:
    """Public candidates (child, parents) of each of :func:`pairs.selection_pairs`."""
    if len(pair.sizes) == 3:
        return [(2, (0,)), (2, (1,))]
    if len(pair.before) == 10_001:
        later = range(1, len(pair.sizes))
        return [(0, (a, b)) for a in later for b in later if a < b]
    candidates = list_pairs_of_lone_ones()
    return [candidates[i] for i in range(len(candidates))]


# --- functions that publish numbers -------------------------------------------


def examine_numbers(trial: Trial, runs: int) -> Diagnosis:
    """Shapes, scales, the exact loss where there is one, numbers that don't change, and samples."""
    shapes = [[np.shape(part) for part in as_list(trial.run(w, RecordedNoise()))] for w in (0, 1)]
    if shapes[0] != shapes[1]:
        return trial.blame("L9", f"the output has shapes {shapes[0]} and {shapes[1]}")
    scales = [noise_scales(lambda noise, w=w: trial.run(w, noise)) for w in (0, 1)]  # type: ignore[misc]
    if scales[0] != scales[1]:
        a, b = next((max(x), max(y)) for x, y in zip(*scales, strict=False) if x != y)
        return trial.blame("L5", f"a noise scale is {float(a):.4g} in one world and {float(b):.4g} "
                                 "in the other")
    lost = sum_losses(trial)
    if lost is not None:
        words = ("the changes of all published numbers, each divided by its noise scale, add up to "
                 f"{lost}")
        return trial.blame(trial.code, words, float(lost)) if lost > trial.epsilon else SOUND
    found = find_unmoved(trial)
    for size in (runs // 6, runs):  # what shows in few runs needs no more
        found = sample(trial, size) if found.sound else found
    return found


def as_list(output: Any) -> list[Any]:
    """What a function publishes, part by part."""
    return list(output) if isinstance(output, (list, tuple)) else [output]


def flatten(output: Any) -> np.ndarray:
    """All published numbers in a row; TypeError if there are none, or strange ones."""
    parts = [np.asarray(part, dtype=float).ravel() for part in as_list(output)]
    numbers = np.concatenate(parts or [np.zeros(0)])
    if not len(numbers) or not np.isfinite(numbers).all():
        raise TypeError("the function must publish finite numbers, it returned "
                        f"{str(output)[:60]!r}")
    return numbers


class KnownNoise(RecordedNoise):
    """A tape of numbers that nobody adds by accident; ``drawn`` keeps them with their scales."""

    def __init__(self, drawn: list[tuple[np.ndarray, np.ndarray]]) -> None:
        super().__init__()
        self.drawn = drawn

    def _stream(self, label: str) -> KnownNoise:
        return KnownNoise(self.drawn)

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Whole numbers from a fixed stream, each call further on."""
        numbers = np.random.default_rng([23, len(self.drawn)]).integers(-(10**6), 10**6, shape)
        scales = np.broadcast_to(np.asarray(scale, dtype=object), shape)
        self.drawn.append((numbers.ravel(), scales.ravel()))
        return numbers


def sum_losses(trial: Trial) -> Fraction | None:
    """Σ |change| ÷ scale of outputs that are counts plus one draw for each number; else None."""
    quiet, scales = [], []
    for world in (0, 1):
        drawn: list[tuple[np.ndarray, np.ndarray]] = []
        counts = flatten(trial.run(world, RecordedNoise()))
        noisy = flatten(trial.run(world, KnownNoise(drawn)))
        numbers, scale = (np.concatenate([d[i] for d in drawn] or [np.zeros(0)]) for i in (0, 1))
        same = len(numbers) == len(counts) and np.array_equal(noisy, counts + numbers)
        if not same or (counts % 1).any():
            return None
        quiet.append(counts.astype(int).tolist())
        scales.append(scale.tolist())
    if scales[0] != scales[1]:
        return None
    changes = zip(*quiet, scales[0], strict=True)
    return sum((abs(Fraction(a - b)) / Fraction(c) for a, b, c in changes), Fraction(0))


def find_unmoved(trial: Trial) -> Diagnosis:
    """Numbers that are the same in all tries, although the noise differs."""
    tried = [np.stack([flatten(output) for output in trial.repeat(world)]) for world in (0, 1)]
    still = [(x == x[0]).all(axis=0) for x in tried]
    differ = tried[0][0] != tried[1][0]
    if still[0].all() and still[1].all() and differ.any():
        return trial.blame("L10", "twelve runs with different noise published the same")
    bare = np.flatnonzero(still[0] & still[1] & differ)
    if len(bare):
        values = " or ".join(f"{x[0][bare[0]]:g}" for x in tried)
        return trial.blame("L1", f"number {bare[0] + 1} of {len(differ)} has no noise: it is {values}")
    for at in np.flatnonzero(still[0] != still[1]):
        if max(len(np.unique(x[:, at])) for x in tried) > 3:  # not noise that is hardly ever there
            return trial.blame("L9", f"number {at + 1} of {len(differ)} has noise in one world only")
    return SOUND


def sample(trial: Trial, runs: int) -> Diagnosis:
    """The statistic that tells most in a third of the runs, measured on the others."""
    tape = RecordedNoise()
    quiet = flatten(trial.run(0, tape)), flatten(trial.run(1, RecordedNoise()))
    noise = [PrefetchedNoise(extend_seed(trial.seed, 7, world)) for world in (0, 1)]
    out = [np.stack([flatten(trial.run(w, noise[w])) for _ in range(runs)]) for w in (0, 1)]
    statistics = list_statistics(quiet, np.concatenate([x[: runs // 3] for x in out]))
    found, _ = bound_best([[statistic(x) for x in out] for statistic in statistics])
    if found.epsilon <= float(trial.epsilon):
        return SOUND
    drawn = sum(math.prod(shape) for _, shape in tape.find("discrete_laplace"))
    numbers = len(quiet[0])
    if not tape.asked:
        code, words = "L10", "the noise comes from another source than the one given, and "
    elif drawn < numbers:
        code, words = "L3 independent", f"{drawn} draws for {numbers} numbers, and "
    else:
        code, words = trial.code, ""
    return trial.blame(code, words + found.event, found.epsilon)


def bound_best(values: list[list[np.ndarray]]) -> tuple[Bound, int]:
    """The bound of the statistic that tells most in the first third of the runs, and its number."""
    pilot = len(values[0][0]) // 3
    first = [lower_bound(*(v[:pilot] for v in both)).epsilon for both in values]
    best = int(np.argmax(first))
    return lower_bound(*(v[pilot:] for v in values[best]), audits=AUDITS), best


def list_statistics(quiet: tuple[np.ndarray, np.ndarray],
                    pilot: np.ndarray) -> Iterator[Callable[[np.ndarray], np.ndarray]]:
    """Likelihood ratio under Laplace noise, numbers that move, and their differences; as integers."""
    before, after = quiet
    moved = np.flatnonzero(before != after)
    if not len(moved):  # the quiet outputs are made alike: look at everything
        moved = np.arange(len(before))
    b = np.maximum(np.abs(pilot - np.median(pilot, axis=0)).mean(axis=0), 1e-9)
    step = max(float((np.abs(after - before)[moved] / b[moved]).sum()) / 128, 1e-9)

    def ratio(x: np.ndarray) -> np.ndarray:
        each = (np.abs(x - before) - np.abs(x - after)) / b
        return quantise(each[:, moved].sum(axis=1), step)

    yield ratio
    for i in moved[:6]:
        unit = float(b[i]) / 64
        yield lambda x, i=i, unit=unit: quantise(x[:, i], unit)  # type: ignore[misc]
        for j in range(min(len(before), 12)):
            if j != i:
                yield lambda x, i=i, j=j, unit=unit: quantise(x[:, i] - x[:, j], unit)  # type: ignore[misc]


# --- functions that choose ----------------------------------------------------


def examine_selection(trial: Trial, runs: int) -> Diagnosis:
    """Functions that make one selection, whose law is computed."""
    tapes = RecordedNoise(), RecordedNoise()
    for world, tape in enumerate(tapes):
        trial.run(world, tape)
    asked = [tape.find("select") for tape in tapes]
    if not all(asked):
        return trial.blame("L1", "nothing is selected by a mechanism")
    lengths = [[len(numerators) for numerators, _ in calls] for calls in asked]
    if lengths[0] != lengths[1]:
        return trial.blame("L4", f"there are {lengths[0][0]} candidates in one world and "
                                 f"{lengths[1][0]} in the other")
    if max(lengths[0]) <= 64:  # every path is walked: the candidates are seen, not just their number
        p, q = (law(lambda noise, w=w: trial.run(w, noise)) for w in (0, 1))  # type: ignore[misc]
        lost, alone = log_ratio(p, q), sorted({*p} ^ {*q}, key=str)
        words = (f"{alone[0]} can be chosen in one world only" if alone
                 else "the laws of the choice differ too much")
    else:
        logs = [sum(np.log(selection_law(*call)) for call in calls) for calls in asked]
        gaps = np.abs(logs[0] - logs[1])
        at = int(gaps.argmax())
        lost = float(gaps[at])
        p_at, q_at = (math.exp(x[at]) for x in logs)
        words = f"candidate {at + 1} of {len(gaps)} has probability {p_at:.3g} or {q_at:.3g}"
    return trial.blame("L4", words, lost) if lost > float(trial.epsilon) * FACTOR else SOUND


def examine_choice(trial: Trial, runs: int) -> Diagnosis:
    """Functions that publish an order or a group: the determinism test, then the likeliest outcomes."""
    tried = [trial.repeat(world) for world in (0, 1)]
    first, second = (outcomes[0] for outcomes in tried)
    if all(len(set(outcomes)) == 1 for outcomes in tried) and first != second:
        return trial.blame("L1", f"whatever the noise, the outcome is {first} in one world and "
                                 f"{second} in the other")
    noise = [PrefetchedNoise(extend_seed(trial.seed, 9, world)) for world in (0, 1)]
    drawn = [[trial.run(w, noise[w]) for _ in range(max(90, runs // 6))] for w in (0, 1)]
    pilot = len(drawn[0]) // 3
    names = sorted({*drawn[0][:pilot], *drawn[1][:pilot]}, key=str)
    found, best = bound_best([
        [np.array([outcome == name for outcome in world], dtype=np.int64) for world in drawn]
        for name in names])
    if found.epsilon <= float(trial.epsilon):
        return SOUND
    return trial.blame(trial.code, f"{names[best]} comes out too often in one world", found.epsilon)


# --- the zoo ------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """How functions of a kind are called, the pairs of tables that try them, and who examines them.

    ``code``: the rule that a loss beyond ε breaks.
    """

    call: str
    pairs: Callable[[], tuple[Pair, ...]]
    code: str
    examine: Callable[[Trial, int], Diagnosis]


@dataclass(frozen=True)
class Bug:
    """One inmate: its name in `trust`, where it was found, both copies, and the rule that breaks."""

    name: str
    found: str
    kind: str
    right: Callable[..., Any]
    wrong: Callable[..., Any]
    code: str


EXAMINE = {"numbers": examine_numbers, "selection": examine_selection, "choice": examine_choice}
KINDS = {
    name: Kind(row["call"], getattr(pairs, row["pairs"]), row["code"], EXAMINE[row["examine"]])
    for name, row in DATA["kinds"].items()
}
ZOO = [Bug(**row | {side: getattr(bugs, row[side]) for side in ("right", "wrong")})
       for row in DATA["bugs"]]
