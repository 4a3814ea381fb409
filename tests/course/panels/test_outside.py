"""The world outside: conversions against oracles, and the crossing that the panel shows."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from pdsynth.course.panels import outside


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.7, 0.5), (1.0, 0.0), (2.0, 1.0), (4.0, 0.2)])
def test_delta_is_the_mass_beyond_e_to_the_epsilon(sigma, epsilon):
    """δ(ε) is the integral of max(0, p − e^ε q), for p and q one apart."""
    middle = epsilon * sigma**2 + 0.5  # from here on p is the larger by more than e^ε

    def beyond(x):
        p, q = norm.pdf(x, 1, sigma), norm.pdf(x, 0, sigma)
        return p - math.exp(epsilon) * q

    found = quad(beyond, middle, middle + 40 * sigma)[0]
    assert outside.gaussian_delta(sigma, epsilon) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-12])
def test_sigma_and_rho_give_what_they_promise_and_no_more(epsilon, delta):
    sigma, rho = outside.gaussian_sigma(epsilon, delta), outside.zcdp_rho(epsilon, delta)
    assert outside.gaussian_delta(sigma, epsilon) == pytest.approx(delta, rel=1e-3)
    assert outside.zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=2e-5)
    assert sigma < math.sqrt(2 * math.log(1.25 / delta)) / epsilon or epsilon > 1
    assert 1 / math.sqrt(2 * rho) > sigma, "a detour can't need less noise than the exact way"


def test_twin_a_label_by_the_textbook_formula_is_no_bound_above_one():
    """√(2 ln(1.25/δ))/ε is proved for ε below 1; far above it, it promises too much."""
    epsilon, delta = 40.0, 1e-3
    textbook = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert outside.gaussian_delta(textbook, epsilon) > delta


@pytest.mark.parametrize("rho", [0.001, 0.1, 2.56])
def test_the_conversion_is_a_minimum_below_the_older_bound(rho):
    delta = 1e-9
    orders = 1 + np.geomspace(1e-3, 1e6, 20_000)
    more = orders - 1
    grid = rho * orders + (-np.log(orders * delta) + more * np.log1p(-1 / orders)) / more
    found = outside.zcdp_epsilon(rho, delta)
    assert found == pytest.approx(grid.min(), rel=1e-4)
    assert found < rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_pure_epsilon_costs_at_most_half_its_square_in_zcdp():
    """Randomised response, the worst ε-private mechanism, at several orders λ."""
    epsilon = 1.3
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    for order in (1.5, 2.0, 5.0, 30.0):
        divergence = math.log(p**order * (1 - p) ** (1 - order)
                              + (1 - p) ** order * p ** (1 - order)) / (order - 1)  # fmt: skip
        assert divergence <= order * epsilon**2 / 2


def test_the_spread_of_local_answers_is_that_of_a_simulation():
    rng, n, epsilon = np.random.default_rng(0), 5_000, 0.8
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    said = rng.binomial(n // 4, truth, 4_000) + rng.binomial(n - n // 4, 1 - truth, 4_000)
    spread = ((said - n * (1 - truth)) / (2 * truth - 1)).std()
    assert outside.response_deviation(epsilon, n) == pytest.approx(spread, rel=0.05)


def test_one_count_is_laplace_s_and_a_hundred_are_gauss_s():
    one, many = outside.view(questions=1), outside.view(questions=100)
    assert one.finding.startswith("For one count, Gaussian noise is ")
    assert many.finding == "For 100 counts, Laplace noise is 2.6 times Gaussian noise."
    assert outside.deviations(100, 1.0, 1e-9)["pure ε, Laplace"] == pytest.approx(141.42, abs=0.01)


def test_the_picture_says_at_which_promise_and_of_how_many_people():
    view = outside.view(epsilon=0.5, digits=6, questions=1)
    assert view.figure.layout.title.text == "ε = 0.5, δ = 10⁻⁶: one count of 45,222 people"


def test_the_curve_of_pure_epsilon_is_named_by_what_it_bounds():
    """Laplace noise on one count needs 1 − exp((x − ε)/2): less than the worst mechanism does."""
    figure = outside.view(questions=1).figure
    drawn = [trace for trace in figure.data if trace.xaxis == "x2"][1]
    p = math.e / (1 + math.e)
    assert drawn.y[0] == pytest.approx(2 * p - 1)  # randomised response at the bound 0
    assert drawn.y[0] > 1.1 * (1 - math.exp(-1 / 2))
    names = {note.text for note in figure.layout.annotations if note.xref == "x2"}
    assert {"pure ε, at worst", "Gaussian"} <= names and "Laplace" not in names


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1.7, 4.0])
def test_laplace_noise_needs_no_delta_from_its_epsilon_on(epsilon):
    """Drawn at ε itself: a line from a point before it to one behind it would show a δ there."""
    curves = [trace for trace in outside.view(epsilon=epsilon).figure.data if trace.xaxis == "x2"]
    bounds, deltas = np.array(curves[1].x), np.array(curves[1].y)
    assert deltas[np.isclose(bounds, epsilon)] == pytest.approx([1e-15])
    assert (deltas[bounds < epsilon - 1e-9] > 1e-3 * (1 - math.exp(-epsilon))).all()
