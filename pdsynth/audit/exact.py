"""Exact audits: laws of selections, noise scales, and outcomes that noise should change."""

# ruff: noqa: D102 (what ``measure`` does stands in Attack, and beside each class)
import math
from functools import partial

import numpy as np

from ..privacy.mechanisms import ExactNoise
from .case import Attack, Case, Effort, Finding, format_epsilon
from .detectors import RecordedNoise, compare_selections, law, log_ratio

TRIES = 12  # runs that show whether anything changes with the noise
# What these tests see has no finite ε: of a finite loss they see nothing.
_all_or_nothing = partial(Finding, detectable=math.inf)


class OneSelection(Attack):
    """The exact law of the only selection of a step, for both tables: one list, however long."""

    method = "exact law"

    def measure(self, case: Case, effort: Effort) -> Finding:
        tapes = RecordedNoise(), RecordedNoise()
        for world, tape in enumerate(tapes):
            case.publish(world, tape)
        asked = [tape.find("select") for tape in tapes]
        gap, at, (p, q) = compare_selections(asked)
        [(numerators, _)] = asked[0]
        event = f"candidate {at + 1} of {len(numerators):,} has probability {p:.3g} and {q:.3g}"
        return Finding(gap, event)


class WholeLaw(Attack):
    """The exact law of all that is selected, along every path of choices: also the support test."""

    method = "exact law"

    def measure(self, case: Case, effort: Effort) -> Finding:
        p, q = (law(partial(case.publish, world)) for world in (0, 1))
        for side, alone in (("D", set(p) - set(q)), ("D'", set(q) - set(p))):
            if alone:
                first = join_lines(min(alone, key=str))
                return Finding(math.inf, f"support: {first} is possible in {side} only")
        worst = max(p, key=lambda o: abs(math.log(p[o] / q[o])))
        event = f"{join_lines(worst)} has probability {p[worst]:.3g} and {q[worst]:.3g}"
        return Finding(log_ratio(p, q), event)


class ScaleTest(Attack):
    """Noise scales of both tables, read off ledgers of runs without noise.

    A scale that differs must come from an earlier release, which its ledger entry names: else rule
    L5 is broken, and no ε covers it.
    """

    method = "scale test"

    def measure(self, case: Case, effort: Effort) -> Finding:
        ledger, other = case.ledger(0), case.ledger(1)
        paid = {e.id for e in ledger.entries if e.kind == "mechanism"}
        for a, b in zip(ledger.entries, other.entries, strict=True):
            explained = a.scale_depends_on and set(a.scale_depends_on) <= paid
            if a.scale != b.scale and not explained:
                first, second = (format_epsilon(float(np.max(np.asarray(e.scale)))) for e in (a, b))
                return _all_or_nothing(
                    math.inf, f"rule L5: the noise of {a.step} goes from {first} to {second}, "
                              "and no release explains it")
        return _all_or_nothing(0.0, "every noise scale is public, or comes from an earlier release")


class SameTwice(Attack):
    """The determinism test: does what the ledger says is noised ever change on one table?"""

    method = "determinism test"

    def measure(self, case: Case, effort: Effort) -> Finding:
        seen = [{case.publish(world, ExactNoise([3, i])) for i in range(TRIES)} for world in (0, 1)]
        if max(map(len, seen)) > 1:
            return _all_or_nothing(0.0, "the outcome changes with the noise")
        if seen[0] == seen[1]:
            return _all_or_nothing(0.0, "both tables give the same")
        first, second = (join_lines(*outcome) for outcome in seen)
        return _all_or_nothing(
            math.inf, f"whatever the noise, D gives {first} and D' gives {second}")


def join_lines(outcome: object) -> str:
    """An outcome for a sentence: a network's pairs side by side."""
    return ", ".join(str(outcome).split("\n"))
