"""What holders who put together their own shares of the noise still can't tell, exactly.

They take their own shares off. Where noise is made up of h shares and g < h are left, what is left
has shape ρ = g/h: less noise than the whole, of another law. Its ε is finite and larger:

* *A sum that moves by s.* The difference D of two Pólya numbers of shape ρ and ratio q has
  characteristic function ((1 − q)²/(1 + q² − 2q cos t))^ρ. As x^−ρ is a mixture of 1/(x + u) over
  u ≥ 0, D is a mixture of discrete Laplace laws of ratios at most q. So P(D = z) is log-convex on
  z ≥ 0, the ratio P(z)/P(z + s) is largest at z = 0, and the loss is ln P(0)/P(s). With ρ = 1 it is
  s/scale.
* *A choice whose scores move by S.* The winner's noise is at least some t for one table and at most
  t + 2S for the other, whatever the others' noise and the ties. A Pólya number with ρ < 1 has a
  falling hazard, so P(R ≥ t)/P(R ≥ t + 2S) is at most 1/P(R ≥ 2S). With ρ = 1 that is e^ε.

In the first a colluding holder costs much: with half of them, P(0) stays near P(1) only as fast as
1/ln(scale) falls, and beyond half never.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pandas as pd

from ..core import Entry, Ledger, PrivacyError, show

SINGLE = 2**12  # terms of a sum that are added one by one; later ones stand together
GROWTH = 1 / 1000  # of a block of terms, relative to where it begins
FAR = 25  # scales, beyond which e^-50 of a sum is left
UP = 1 + 1e-6  # for what doubles, and the two terms of an asymptotic series, leave out


def log_weights(k: np.ndarray, shape: Fraction) -> np.ndarray:
    """Ln C(k + ρ − 1, k) of numbers k ≥ 0, whole ones where they are small: float, as k."""
    rho = float(shape)
    j = np.arange(1, SINGLE)
    small = np.concatenate([[0.0], np.cumsum(np.log((j - 1 + rho) / j))])
    far = np.maximum(k, SINGLE)
    large = (rho - 1) * np.log(far) - math.lgamma(rho) + np.log1p(rho * (rho - 1) / (2 * far))
    return np.where(k < SINGLE, small[np.minimum(k, SINGLE - 1).astype(np.int64)], large)


def bound_sum(log_term: Callable[[np.ndarray], np.ndarray], terms: int, upper: bool) -> float:
    """A bound of the sum of exp(log_term(k)), k = 0 … terms − 1, where that is convex in k.

    A block of terms is at most the mean of its ends, and at least its middle, each times its
    length.
    """
    starts = [*range(min(SINGLE, terms) + 1)]
    while starts[-1] < terms:
        starts.append(min(terms, starts[-1] + int(starts[-1] * GROWTH)))
    at = np.array(starts, dtype=float)
    first, last, length = at[:-1], at[1:] - 1, np.diff(at)
    if upper:
        return float((length * (np.exp(log_term(first)) + np.exp(log_term(last))) / 2).sum())
    return float((length * np.exp(log_term((first + last) / 2))).sum())


def loss_of_sum(scale: Fraction, shape: Fraction, moved: int = 1) -> float:
    """Most that a noisy number tells which moves by ``moved``, where noise of a shape is left.

    Up to a millionth; never too small.

    >>> shapes = [Fraction(1), Fraction(4, 5), Fraction(1, 2), Fraction(1, 5)]
    >>> [round(loss_of_sum(Fraction(20), shape), 4) for shape in shapes]
    [0.05, 0.1329, 0.5002, 1.5192]
    """
    if shape >= 1:
        return float(moved / scale)
    rate, terms = float(1 / scale), math.ceil(FAR * scale) + 50

    def log_term(k: np.ndarray, by: int) -> np.ndarray:
        return log_weights(k, shape) + log_weights(k + by, shape) - rate * 2 * k

    here = bound_sum(lambda k: log_term(k, 0), terms, upper=True)
    there = bound_sum(lambda k: log_term(k, moved), terms, upper=False)
    return (math.log(here / there) + rate * moved) * UP  # e^(−rate·moved) may be too small


def loss_of_choice(epsilon: Fraction, sensitivity: Fraction, shape: Fraction) -> float:
    """Most that a choice for ε tells, where noise of a shape is left: up to a millionth.

    >>> round(loss_of_choice(Fraction(1), Fraction(1000), Fraction(1, 2)), 3)
    1.849
    """
    if shape >= 1 or not sensitivity:
        return float(epsilon)
    rate, far = float(epsilon / (2 * sensitivity)), math.ceil(2 * sensitivity)
    start = float(shape) * math.log(-math.expm1(-rate))  # ln P(0)
    below = bound_sum(lambda k: log_weights(k, shape) - rate * k, far, upper=True) * math.exp(start)
    if below < 1 / 2:
        return -math.log1p(-below) * UP
    terms = math.ceil(FAR / rate) + 50  # else 1 − below has few digits: what is beyond is added up
    rest = bound_sum(lambda k: log_weights(k + far, shape) - rate * k, terms, upper=False)
    return (rate * far - math.log(rest) - start) * UP


def losses(ledger: Ledger) -> pd.Series:
    """The ε of a fit against 0, 1, … of its holders who put together all that they know.

    ``ledger``: of a fit by holders, which says how many there were and how many are honest. 0 is
    whoever is no holder. Up to holders − honest of them the ledger's ε holds: where all are honest,
    not even for one, who takes its own noise off. From there on it is an upper bound, exact for
    tables and histograms line by line. One holder less than all is the most: against all there is
    no noise. PrivacyError for the ledger of one curator.

    **Privacy:** public arithmetic.
    """
    if not isinstance(ledger, Ledger):
        raise PrivacyError(f"losses takes the ledger_ of a fit, got {show(ledger)}")
    if ledger.holders is None:
        raise PrivacyError("this fit was one curator's: its noise was never shared by holders")
    holders, needed = ledger.holders
    lines, m = list(_paid(ledger)), ledger.records_per_person
    shapes = {k: Fraction(min(holders - k, needed), needed) for k in range(holders)}
    exact = float(ledger.finite)  # a sum of floats may fall short of it
    bounds = {
        k: exact if shape >= 1 else max(exact, m * sum(_loss(e, shape, m) for e in lines))
        for k, shape in shapes.items()
    }
    return pd.Series(bounds, name="epsilon").rename_axis("colluding")


def _paid(ledger: Ledger) -> Iterator[Entry]:
    """The lines that cost something; PrivacyError for noise that has no shares."""
    for entry in ledger.entries:
        if entry.kind == "unaccounted_access" or entry.mechanism == "zero_sum_laplace":
            raise PrivacyError(f"{entry.step!r} was never answered by holders: it has no shares")
        if entry.kind == "mechanism":
            yield entry


def _loss(entry: Entry, shape: Fraction, per_person: int) -> float:
    """Most that one line tells of one of a person's records, where noise of a shape is left."""
    epsilon = Fraction(entry.epsilon) / per_person
    if entry.mechanism == "forfeited" or shape >= 1:
        return float(epsilon)
    moved = (entry.sensitivity or Fraction(0)) / per_person  # the ledger's is of all records
    if entry.mechanism == "discrete_laplace":
        return _loss_of_numbers(entry, moved, shape)
    return loss_of_choice(epsilon, moved, shape)


def _loss_of_numbers(entry: Entry, moved: Fraction, shape: Fraction) -> float:
    """Of a table cells move by 1, of a sketch at most d(d − 1)/2 numbers by their sensitivity.

    ``moved``: the sensitivity of one record. A loss is concave in what a number moves by, so many
    equal moves lose most.
    """
    if isinstance(entry.scale, tuple):  # one scale per value: the worst move, as in a ledger
        most = sorted((loss_of_sum(b, shape) for b in entry.scale), reverse=True)
        if moved == 1:  # the record comes or goes
            return most[0]
        return 2 * most[0] if entry.columns > 1 else sum(most[:2])
    assert isinstance(entry.scale, Fraction)
    d = len(entry.attributes)
    if moved <= 2 * max(d, 1):
        return float(moved) * loss_of_sum(entry.scale, shape)
    values = max(1, math.comb(d, 2))
    return values * loss_of_sum(entry.scale, shape, math.ceil(moved / values))
