"""The bug zoo's keeper: audits a function that somebody wrote, names the lemma that it breaks, and shows a pair of tables that proves it.

A function gets codes (n, d), public sizes, ε and a random source, and returns what it publishes. What is checked, cheapest first:
which pairs of neighbouring tables give outputs of another shape (domain), numbers without noise, the same numbers whatever the noise
(seed), noise scales or candidates that differ between neighbours, exact laws of selections, and samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..privacy.mechanisms import ExactNoise, Noise
from . import structure_cases as structures
from .detectors import Silent, Stock, law, log_ratio, noise_scales, selection_law
from .estimator import lower_bound, quantise
from .tables import Pair, zeros_to_ones

Function = Callable[..., Any]
AUDITS = 1000  # the error of 5 % is shared by so many audits: a correct function is blamed in one of 20,000
LEMMAS = {
    "L1": "L1, no output without a mechanism: a number or a choice depends on the records, and no noise is on it",
    "L3": "L3, scale and sensitivity (lemma:joint_counts): a replaced record moves two cells by one, so one table costs 2 ÷ scale",
    "L3 conditional": "L3, scale and sensitivity (lemma:conditional): one record can turn (0, 1) into (1, 0), however large n is",
    "L3 independent": "L3, independent noise: every cell needs a draw of its own, or differences of cells show the counts",
    "L4": "L4, the exponential mechanism: candidates are public, and the sensitivity is the score's own, in its unit and for its domain",
    "L5": "L5, public scales: a noise scale that is computed from raw records tells about them",
    "L6": "L6 and L8, composition: every record is in every table, so the costs of all that is published add up",
    "L9": "L9, public domain: shape, or a cell that stays without noise, tells which values occur",
    "L10": "L10, randomness: noise must be drawn fresh from the source that is given, never from a seed that others know or that repeats",
}


@dataclass(frozen=True)
class Diagnosis:
    """What the keeper found. ``code``: the rule that is broken, empty if none; ``bound``: ε lost for certain; ``pair``: the witness."""

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
        lost = "no finite ε holds" if self.bound == math.inf else f"at least ε = {self.bound:.3g} is lost, {self.claimed:g} is claimed"
        return f"{self.lemma}.\n  Here: {self.words}; {lost}.\n  Witness: {self.pair}"

    __repr__ = __str__


# --- kinds of functions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What a function must publish, the pairs of tables it is tried on, and the rule that a loss beyond ε breaks.

    ``call``: how it is called and what it returns; ``options(pair)``: further arguments; ``exact``: it only selects.
    """

    call: str
    pairs: Callable[[], tuple[Pair, ...]]
    code: str
    options: Callable[[Pair], tuple[Any, ...]] = lambda pair: ()
    epsilon: Fraction = Fraction(1)


def one_moves(
    before: Sequence[int], after: Sequence[int], sizes: tuple[int, ...], words: str, others: Sequence[Sequence[int]] = ()
) -> Pair:
    """Some records that stay, and one that is replaced."""
    rest = list(others) or [[0] * len(sizes)] * 11
    return Pair(np.array([*rest, before], dtype=np.uint8), np.array([*rest, after], dtype=np.uint8), sizes, words)


@cache
def table_pairs() -> tuple[Pair, ...]:
    """Moves along a row, across the table, and into a cell where nobody was; a value that disappears."""
    crowd = [[i % 2, i // 2 % 2] for i in range(11)]
    return (
        one_moves((1, 0), (1, 1), (2, 3), "one record changes its second attribute", crowd),
        one_moves((0, 0), (1, 1), (2, 3), "one record moves across the table", crowd),
        one_moves((0, 0), (1, 2), (2, 3), "one record takes values that nobody has"),
    )


@cache
def list_pairs() -> tuple[Pair, ...]:
    """A record that changes everything, among others that are all alike or mixed, and one that changes a single attribute."""
    mixed = [[i >> j & 1 for j in range(6)] for i in range(0, 60, 7)]
    return (
        one_moves([0] * 6, [1, *[0] * 5], (2,) * 6, "one record changes its first attribute", mixed),
        one_moves([0] * 6, [1] * 6, (2,) * 6, "one record changes every attribute", mixed),
        zeros_to_ones(6, 10),
    )


@cache
def conditional_pairs() -> tuple[Pair, ...]:
    """A record alone in its parent configuration changes the child: (0, 1) becomes (1, 0)."""
    return (one_moves((1, 1), (0, 1), (2, 2), "the only record with parent 1 changes the child", [[i % 2, 0] for i in range(400)]),)


@cache
def selection_pairs() -> tuple[Pair, ...]:
    """The pairs on which exponential mechanisms lose most: lone ones, three values, two parents together, a tie that breaks."""
    return structures.lone_ones(), structures.three_values(), structures.parents_together(2)(), structures.straddle()


def candidates(pair: Pair) -> list[tuple[int, tuple[int, ...]]]:
    """Public candidates (child, parents) of each of :func:`selection_pairs`."""
    if len(pair.sizes) == 3:
        return [(2, (0,)), (2, (1,))]
    if len(pair.before) == 10_001:
        later = range(1, len(pair.sizes))
        return [(0, (a, b)) for a in later for b in later if a < b]
    return [all_pairs[i] for all_pairs in [structures.all_pairs()] for i in range(len(all_pairs))]


@cache
def choice_pairs() -> tuple[Pair, ...]:
    """Records that decide which of two attributes stands first, and whether an association reaches 0.1 bit."""
    return structures.straddle(), structures.straddle().swapped(), across_a_threshold()


def across_a_threshold(bits: float = 0.1, n: int = 1000) -> Pair:
    """x0 follows x2 just so often that one record more brings their mutual information to ``bits``."""
    from ..measures import mutual_information

    def rows(wrong: int) -> np.ndarray:
        out = np.repeat(np.arange(n)[:, None] % 2, 3, axis=1).astype(np.uint8)
        out[:wrong, 0] ^= 1
        out[: n // 2, 1] ^= 1
        return out

    def information(codes: np.ndarray) -> float:
        return mutual_information(np.bincount(codes[:, 2] * 2 + codes[:, 0], minlength=4).reshape(2, 2))

    wrong = next(w for w in range(n // 2) if information(rows(w + 1)) < bits)
    return Pair(rows(wrong), rows(wrong + 1), (2, 2, 2), f"the mutual information of x0 and x2 crosses {bits:g} bit")


KINDS = {
    "table": Kind("f(codes, sizes, epsilon, noise) → noisy joint counts of all attributes, shape sizes", table_pairs, "L3"),
    "tables": Kind("f(codes, sizes, epsilon, noise) → a list of tables or numbers that together cost ε", list_pairs, "L6"),
    "conditional": Kind("f(codes, sizes, epsilon, noise) → noisy P(x0 | x1), shape (2, 2)", conditional_pairs, "L3 conditional"),
    "selection": Kind("f(codes, sizes, candidates, epsilon, noise) → one of the candidates (child, parents)", selection_pairs, "L4",
                      lambda pair: (candidates(pair),)),
    "choice": Kind("f(codes, sizes, epsilon, noise) → an order or a group of attributes, as a tuple", choice_pairs, "L1"),
}  # fmt: skip


# --- the check --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One function on one pair of tables."""

    function: Function
    kind: Kind
    pair: Pair
    epsilon: Fraction

    def run(self, world: int, noise: Noise) -> Any:
        """What it publishes of table 0 or 1."""
        codes = (self.pair.before, self.pair.after)[world].copy()
        return self.function(codes, self.pair.sizes, *self.kind.options(self.pair), self.epsilon, noise)

    def guilty(self, code: str, words: str, bound: float = math.inf) -> Diagnosis:
        """A finding."""
        return Diagnosis(code, words, self.pair, bound, float(self.epsilon))


def check(function: Function, kind: str, *, runs: int = 6000, seed: int | None = None) -> Diagnosis:
    """Audit a function of one of the :data:`KINDS`: the first rule that it breaks with a witness, or "not refuted".

    Parameters
    ----------
    function : called as the kind says; its noise must come from the source that it gets.
    kind : "table", "tables", "conditional", "selection" or "choice".
    runs : releases of each table where sampling is needed.
    seed : None draws from the operating system.

    Raises KeyError for an unknown kind, TypeError for a function that publishes no numbers. What it raises itself passes through.
    """
    if kind not in KINDS:
        raise KeyError(f"no kind {kind!r}; there are {', '.join(KINDS)}")
    chosen = KINDS[kind]
    for number, pair in enumerate(chosen.pairs()):
        trial = Trial(function, chosen, pair, chosen.epsilon)
        look = _selects if kind == "selection" else _chooses if kind == "choice" else _publishes
        found = look(trial, runs, None if seed is None else [seed, number])
        if not found.sound:
            return found
    return Diagnosis(claimed=float(chosen.epsilon))


def _flat(output: Any) -> np.ndarray:
    parts = output if isinstance(output, (list, tuple)) else [output]
    numbers = np.concatenate([np.asarray(p, dtype=float).ravel() for p in parts] or [np.zeros(0)])
    if not len(numbers) or not np.isfinite(numbers).all():
        raise TypeError(f"the function must publish finite numbers, it returned {str(output)[:60]!r}")
    return numbers


def _shape(output: Any) -> list[tuple[int, ...]]:
    return [np.asarray(p).shape for p in (output if isinstance(output, (list, tuple)) else [output])]


class Known(Silent):
    """A tape of numbers that nobody adds by accident; ``drawn`` keeps them with their scales."""

    def __init__(self, asked: list | None = None, drawn: list | None = None) -> None:
        super().__init__(asked)
        self.drawn: list[tuple[np.ndarray, np.ndarray]] = [] if drawn is None else drawn

    def _stream(self, label: str) -> Known:
        return Known(self.asked, self.drawn)

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Whole numbers from a fixed stream, each call further on."""
        super().discrete_laplace(scale, shape)
        numbers = np.random.default_rng([23, len(self.drawn)]).integers(-(10**6), 10**6, shape)
        self.drawn.append((numbers.ravel(), np.broadcast_to(np.asarray(scale, dtype=object), shape).ravel()))
        return numbers


def exact_loss(trial: Trial) -> Fraction | None:
    """Σ |change| ÷ scale, where the output is counts plus one draw for each number; None where it is anything else."""
    quiet, scales = [], []
    for world in (0, 1):
        tape = Known()
        counts, noisy = _flat(trial.run(world, Silent())), _flat(trial.run(world, tape))
        numbers, scale = (np.concatenate([d[i] for d in tape.drawn] or [np.zeros(0)]) for i in (0, 1))
        if len(numbers) != len(counts) or not np.array_equal(noisy, counts + numbers) or (counts % 1).any():
            return None
        quiet.append(counts.astype(int).tolist())
        scales.append(scale.tolist())
    if scales[0] != scales[1]:
        return None
    return sum((abs(Fraction(a - b)) / Fraction(c) for a, b, c in zip(*quiet, scales[0], strict=True)), Fraction(0))


def _publishes(trial: Trial, runs: int, seed: list[int] | None) -> Diagnosis:
    """Functions that publish numbers."""
    shapes = [_shape(trial.run(world, Silent())) for world in (0, 1)]
    if shapes[0] != shapes[1]:
        return trial.guilty("L9", f"the output has shapes {shapes[0]} and {shapes[1]}")
    scales = [noise_scales(lambda noise, w=w: trial.run(w, noise)) for w in (0, 1)]  # type: ignore[misc]
    if scales[0] != scales[1]:
        a, b = next((max(x), max(y)) for x, y in zip(*scales, strict=False) if x != y)
        return trial.guilty("L5", f"a noise scale is {float(a):.4g} in one world and {float(b):.4g} in the other")
    lost = exact_loss(trial)
    if lost is not None:
        said = f"the changes of all published numbers, each divided by its noise scale, add up to {lost}"
        return trial.guilty(trial.kind.code, said, float(lost)) if lost > trial.epsilon else Diagnosis()
    found = _unmoved(trial, seed)
    for size in (runs // 6, runs):  # what shows in few runs needs no more
        found = _sampled(trial, size, seed) if found.sound else found
    return found


def _unmoved(trial: Trial, seed: list[int] | None) -> Diagnosis:
    """Numbers that are the same in twelve runs, although the noise differs."""
    few = [np.stack([_flat(trial.run(w, ExactNoise(None if seed is None else [*seed, w, i]))) for i in range(12)]) for w in (0, 1)]
    still = [(x == x[0]).all(axis=0) for x in few]
    if still[0].all() and still[1].all() and (few[0][0] != few[1][0]).any():
        return trial.guilty("L10", "twelve runs with different noise published the same")
    told = still[0] & still[1] & (few[0][0] != few[1][0])
    if told.any():
        values = " or ".join(f"{x[0][told][0]:g}" for x in few)
        return trial.guilty("L1", f"number {np.flatnonzero(told)[0] + 1} of {len(told)} has no noise: it is {values}")
    for at in np.flatnonzero(still[0] != still[1]):
        if max(len(np.unique(x[:, at])) for x in few) > 3:  # not just noise that is hardly ever there
            return trial.guilty("L9", f"number {at + 1} of {len(told)} has noise in one world only")
    return Diagnosis()


def _sampled(trial: Trial, runs: int, seed: list[int] | None) -> Diagnosis:
    """The statistic that tells most in a third of the runs, measured on the others."""
    tape = Silent()
    quiet = _flat(trial.run(0, tape)), _flat(trial.run(1, Silent()))
    noise = [Stock(None if seed is None else [*seed, 7, world]) for world in (0, 1)]
    out = [np.stack([_flat(trial.run(world, noise[world])) for _ in range(runs)]) for world in (0, 1)]
    pilot = runs // 3
    statistics = list(_statistics(quiet, np.concatenate([x[:pilot] for x in out])))
    values = [[s(x) for x in out] for s in statistics]
    best = max(range(len(values)), key=lambda i: lower_bound(*(v[:pilot] for v in values[i])).epsilon)
    found = lower_bound(*(v[pilot:] for v in values[best]), audits=AUDITS)
    if found.epsilon <= float(trial.epsilon):
        return Diagnosis()
    drawn = sum(int(np.prod(shape)) for what, _, shape in tape.asked if what == "discrete_laplace")
    if not tape.asked:
        return trial.guilty("L10", f"the noise comes from another source than the one given, and {found.event}", found.epsilon)
    if drawn < out[0].shape[1]:
        return trial.guilty("L3 independent", f"{drawn} draws for {out[0].shape[1]} numbers, and {found.event}", found.epsilon)
    return trial.guilty(trial.kind.code, found.event, found.epsilon)


def _statistics(quiet: tuple[np.ndarray, np.ndarray], pilot: np.ndarray) -> Iterator[Callable[[np.ndarray], np.ndarray]]:
    """Likelihood ratio of independent Laplace noise, each number that moves, and its differences with others; as integers."""
    before, after = quiet
    moved = np.flatnonzero(before != after)
    if not len(moved):  # the function sees to it that the quiet outputs are alike: look at everything
        moved = np.arange(len(before))
    b = np.maximum(np.abs(pilot - np.median(pilot, axis=0)).mean(axis=0), 1e-9)
    step = max(float((np.abs(after - before)[moved] / b[moved]).sum()) / 128, 1e-9)
    yield lambda x: quantise(((np.abs(x - before) - np.abs(x - after)) / b)[:, moved].sum(axis=1), step)
    for i in moved[:6]:
        unit = float(b[i]) / 64
        yield lambda x, i=i, unit=unit: quantise(x[:, i], unit)  # type: ignore[misc]
        for j in range(min(len(before), 12)):
            if j != i:
                yield lambda x, i=i, j=j, unit=unit: quantise(x[:, i] - x[:, j], unit)  # type: ignore[misc]


def _selects(trial: Trial, runs: int, seed: list[int] | None) -> Diagnosis:
    """Functions that make one selection, whose law is computed."""
    tapes = Silent(), Silent()
    for world, tape in enumerate(tapes):
        trial.run(world, tape)
    asked = [[a for a in tape.asked if a[0] == "select"] for tape in tapes]
    if not all(asked):
        return trial.guilty("L1", "nothing is selected by a mechanism")
    lengths = [[len(a[1]) for a in found] for found in asked]
    if lengths[0] != lengths[1]:
        return trial.guilty("L4", f"there are {lengths[0][0]} candidates in one world and {lengths[1][0]} in the other")
    if max(lengths[0]) <= 64:  # every path is walked, so that the candidates are seen and not just their number
        p, q = (law(lambda noise, w=w: trial.run(w, noise)) for w in (0, 1))  # type: ignore[misc]
        lost, alone = log_ratio(p, q), sorted({*p} ^ {*q}, key=str)
        said = f"{alone[0]} can be chosen in one world only" if alone else "the laws of the choice differ too much"
    else:
        logs = [sum((np.log(selection_law(a[1], a[2])) for a in found), np.zeros(1)) for found in asked]
        gaps = np.abs(logs[0] - logs[1])
        at = int(gaps.argmax())
        lost = float(gaps[at])
        said = f"candidate {at + 1} of {len(gaps)} has probability {math.exp(logs[0][at]):.3g} or {math.exp(logs[1][at]):.3g}"
    return trial.guilty("L4", said, lost) if lost > float(trial.epsilon) * (1 + 1e-9) else Diagnosis()


def _chooses(trial: Trial, runs: int, seed: list[int] | None) -> Diagnosis:
    """Functions that publish an order or a group: the determinism test, then samples of the likeliest outcomes."""
    outcomes = [[trial.run(w, ExactNoise(None if seed is None else [*seed, w, i])) for i in range(12)] for w in (0, 1)]
    first = [x[0] for x in outcomes]
    if all(len(set(x)) == 1 for x in outcomes) and first[0] != first[1]:
        return trial.guilty("L1", f"whatever the noise, the outcome is {first[0]} in one world and {first[1]} in the other")
    tried = [Stock(None if seed is None else [*seed, 9, w]) for w in (0, 1)]
    drawn = [[trial.run(w, tried[w]) for _ in range(max(90, runs // 6))] for w in (0, 1)]
    pilot = len(drawn[0]) // 3
    names = sorted({*drawn[0][:pilot], *drawn[1][:pilot]}, key=str)
    hits = [[np.array([o == name for o in world], dtype=np.int64) for world in drawn] for name in names]
    best = max(range(len(names)), key=lambda i: lower_bound(*(h[:pilot] for h in hits[i])).epsilon)
    found = lower_bound(*(h[pilot:] for h in hits[best]), audits=AUDITS)
    if found.epsilon <= float(trial.epsilon):
        return Diagnosis()
    return trial.guilty(trial.kind.code, f"{names[best]} comes out too often in one world", found.epsilon)
