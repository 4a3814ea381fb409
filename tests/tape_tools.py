"""The two mechanisms of the curator recorded on one table and replayed on another: the exact loss
of fits on coded records, also where the tables differ in their number of records."""

import numpy as np
from privacy_tools import records_of

from pdsynth.errors import BudgetDegenerate
from pdsynth.privacy import curator as curator_room
from pdsynth.privacy.mechanisms import ExactNoise, exponential_probabilities


class Tape:
    """Stands in for both mechanisms inside the curator; the first run records, the second replays
    and adds up the loss."""

    def __init__(self, seed, quiet):
        self.rng, self.quiet = np.random.Generator(np.random.PCG64(seed)), quiet
        self.recorded, self.at, self.loss, self.differences = [], None, 0.0, []

    def rewind(self):
        self.at = iter(self.recorded)

    def laplace(self, counts, scale, noise):
        counts = np.array(counts)
        scales = np.array([float(s) for s in (scale if isinstance(scale, tuple) else [scale])])
        b = scales.reshape(-1, *[1] * (counts.ndim - 1)) if len(scales) > 1 else scales
        if self.at is None:
            out = (
                counts
                if self.quiet
                else counts + np.rint(self.rng.laplace(0, 1, counts.shape) * b).astype(np.int64)
            )
            self.recorded.append((out, counts, scales))
            return out.copy()
        out, before, same = self._next()
        if out.shape != counts.shape or not np.array_equal(same, scales):
            self._differ("scale")
        self.loss += float(((np.abs(out - counts) - np.abs(out - before)) / b).sum())
        return out.copy()

    def exponential(self, scores, sensitivity, epsilon, noise, **options):
        size = len(scores.value)
        p = (
            exponential_probabilities(scores.value, sensitivity.value, float(epsilon))
            if sensitivity.value
            else np.full(size, 1 / size)
        )
        if self.at is None:
            self.recorded.append((int(self.rng.choice(size, p=p)), p, sensitivity.value))
            return self.recorded[-1][0]
        chosen, before, same = self._next()
        if len(before) != len(p) or same != sensitivity.value:
            self._differ("candidates")
        self.loss += float(np.log(before[chosen] / p[chosen]))
        return chosen

    def _next(self):
        recorded = next(self.at, None)
        return recorded if recorded is not None else self._differ("one more answer")

    def _differ(self, what):
        self.differences.append(what)
        raise Different(what)


class Different(Exception):
    """The neighbour's run asks for something that the first run did not: its supports differ, no ε
    covers it."""


def loss(synthesizer, before, after, sizes, monkeypatch, *, seed, quiet):
    """ln P(outputs | before) / P(outputs | after) of one run; infinite when the neighbour can't
    produce the same outputs."""
    tape = Tape(seed, quiet)
    monkeypatch.setattr(curator_room, "laplace_mechanism", tape.laplace)
    monkeypatch.setattr(curator_room, "exponential_mechanism", tape.exponential)
    try:
        fitted = synthesizer.clone().fit(records_of(before, sizes), noise=ExactNoise(seed))
    except BudgetDegenerate:  # the printed formula has no answer for this table
        return 0.0
    tape.rewind()
    try:
        again = synthesizer.clone().fit(records_of(after, sizes), noise=ExactNoise(seed))
    except (Different, BudgetDegenerate):
        return np.inf
    if again.network_ != fitted.network_ or next(tape.at, None) is not None:
        return np.inf
    return tape.loss
