"""T3 by registry: every source of noise, for every mechanism, against its exact law on a small
support. A source or a mechanism without its row fails."""

from collections import Counter
from fractions import Fraction as Q

import numpy as np
import pytest
from fit_tools import PASS, chi_square, p_value, zero_sum_law
from privacy_tools import permute_and_flip_law
from scipy import stats

from pdsynth.answers.laws import exponential_probabilities
from pdsynth.core.noise import (
    ExactNoise,
    Noise,
    Quantity,
    exponential_mechanism,
    laplace_mechanism,
    zero_sum_mechanism,
)
from pdsynth.core.rules import MECHANISMS
from pdsynth.published.noise import CommonNoise, NoNoise
from pdsynth.secure import OpenDPNoise


class AskedOnce(CommonNoise):
    """A panel's numbers, which are the same when a stream is asked again: once is enough."""

    asked = False

    def _once(self):
        assert not self.asked, "a mechanism asks a stream once: noise.child(…) has other numbers"
        self.asked = True

    def _draws(self, kind, size):
        self._once()
        return super()._draws(kind, size)

    def below(self, bound):
        self._once()
        return super().below(bound)


SCORES, SENSITIVITY, EPSILON = np.array([5, 3, 3, 0]), 2, Q(3, 2)
SCALES = Q(1, 2), Q(7, 3)
DRAWS, CHOICES = 40_000, 4_000
# How each source is made. Seeded where that is possible: then a pass is a pass for ever.
SOURCES = {
    ExactNoise: lambda: ExactNoise(20),
    OpenDPNoise: OpenDPNoise,
    CommonNoise: lambda: AskedOnce(20),
}
SILENT = {NoNoise: NoNoise}  # they take the best and add nothing


def sources_of(noise=Noise):
    """Every source of the library, those that only audits use left out."""
    for kind in noise.__subclasses__():
        if kind.__module__.startswith(("pdsynth.core.", "pdsynth.published.", "pdsynth.secure")):
            yield kind
        yield from sources_of(kind)


def weights():
    return exponential_probabilities(SCORES, SENSITIVITY, float(EPSILON))


def flips():
    return permute_and_flip_law(np.exp(float(EPSILON) * (SCORES - 5) / (2 * SENSITIVITY)))


def choices(source, permute=False, factor=1):
    noise = source()
    ask = Quantity(SCORES, "u"), Quantity(SENSITIVITY, "u"), EPSILON * factor
    drawn = [
        exponential_mechanism(*ask, noise.child("s"), permute_and_flip=permute)
        for _ in range(CHOICES)
    ]
    return np.bincount(drawn, minlength=len(SCORES))


def fit(found, law):
    return stats.chisquare(found, law * found.sum()).pvalue


def noises(source, scale):
    return laplace_mechanism(np.zeros(DRAWS, dtype=np.int64), scale, source().child("t"))


def laplace_fits(source):
    for scale in SCALES:
        drawn = noises(source, scale)
        assert drawn.dtype == np.int64
        assert p_value(drawn, scale) > PASS
        assert p_value(drawn, scale * Q(17, 16)) < PASS, "failing twin: another scale"
        assert p_value(drawn + 1, scale) < PASS, "failing twin: a shift"


def zero_sum_fits(source):
    """Tables of three cells, against the enumerated law."""
    noise = source()
    # fresh numbers would let the finer twin pass once in fifty runs
    other = Q(5, 4) if source is SOURCES[OpenDPNoise] else Q(9, 8)
    if not noise.zero_sum:
        return  # the curator asks for Laplace noise instead
    for scale in SCALES:
        drawn = [
            zero_sum_mechanism(np.zeros(3, dtype=np.int64), scale, noise.child("t")).tolist()
            for _ in range(CHOICES)
        ]
        seen = Counter(map(tuple, drawn))
        p = {factor: chi_square(seen, zero_sum_law(3, scale * factor)) for factor in (1, other)}
        assert p[1] > PASS
        assert p[other] < PASS, "failing twin: another scale"


def selection_fits(source):
    found = choices(source)
    assert fit(found, weights()) > PASS
    assert fit(found, weights() ** 2 / (weights() ** 2).sum()) < PASS, "failing twin: twice the ε"


def flip_fits(source):
    found = choices(source, permute=True)
    common = source is SOURCES[CommonNoise]  # panels show the exponential mechanism alone
    laws = [flips(), weights()]
    assert fit(found, laws[common]) > PASS
    assert fit(found, laws[not common]) < PASS, "failing twin: the other mechanism"


def draws_nothing(source):
    """Budget that was announced and not needed: no source is asked."""


LAWS = {
    "discrete_laplace": laplace_fits,
    "zero_sum_laplace": zero_sum_fits,
    "exponential": selection_fits,
    "permute_and_flip": flip_fits,
    "forfeited": draws_nothing,
}


@pytest.mark.parametrize("source", SOURCES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("mechanism", LAWS)
def test_every_source_has_the_law_of_every_mechanism(source, mechanism):
    LAWS[mechanism](SOURCES[source])


@pytest.mark.parametrize("source", SILENT, ids=lambda kind: kind.__name__)
def test_a_silent_source_takes_the_best_and_says_that_it_is_no_noise(source):
    made = SILENT[source]
    assert not made().private
    assert choices(made)[0] == choices(made, permute=True)[0] == CHOICES
    assert not noises(made, Q(7, 3)).any()


def test_every_source_and_every_mechanism_has_its_row():
    assert {*sources_of()} == {*SOURCES, *SILENT}
    assert {*MECHANISMS} == {*LAWS}


def test_twin_a_mechanism_that_draws_again_is_stopped():
    """Common numbers never change: a loop that draws until one suits would never end."""
    noise = AskedOnce(20).child("s")
    drawn = noise.discrete_laplace(Q(1), (5,))
    with pytest.raises(AssertionError, match="asks a stream once"):
        noise.below(2)
    common = CommonNoise(20).child("s")
    again = [common.discrete_laplace(Q(1), (5,)).tolist() for _ in range(2)]
    assert again == [drawn.tolist()] * 2


def test_twin_a_source_that_forgets_a_part_of_the_law_is_seen():
    class Halved(ExactNoise):
        """Half of the scale that it is asked for, and twice the ε of a choice."""

        def _stream(self, label):
            return Halved(super()._stream(label)._entropy)

        def discrete_laplace(self, scale, shape):
            return super().discrete_laplace(np.asarray(scale, dtype=object) / 2, shape)

        def zero_sum_laplace(self, scale, shape):
            return super().zero_sum_laplace(scale / 2, shape)

        def select(self, numerators, denominator, *, permute):
            return super().select(2 * numerators, denominator, permute=permute)

    for law in (laplace_fits, zero_sum_fits, selection_fits, flip_fits):
        with pytest.raises(AssertionError):
            law(lambda: Halved(20))
