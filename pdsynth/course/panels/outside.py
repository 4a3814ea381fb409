"""Lesson 20: the noise of many counts in pure ε, in (ε, δ), in zCDP, and without a curator."""

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from ...concentrated import epsilon_of, rho_of
from ...core import as_fraction
from ..widgets.controls import slider
from ..widgets.view import Try, View
from .drawing import Board
from .panel import live_panel

PEOPLE = 45_222  # as many as complete Adult has; no record is read here
QUESTIONS = np.unique(np.round(np.geomspace(1, 1000, 40)).astype(int))


def gaussian_delta(sigma: float, epsilon: float) -> float:
    """The smallest δ of Gaussian noise at ε and Euclidean sensitivity 1.

    Balle and Wang, ICML 2018, Theorem 8: Φ(1/2σ − εσ) − e^ε Φ(−1/2σ − εσ).

    >>> round(gaussian_delta(1.0, 0.0), 4)  # the variation distance of N(0, 1) and N(1, 1)
    0.3829
    """
    half, shift = 1 / (2 * sigma), epsilon * sigma
    return float(norm.cdf(half - shift) - np.exp(epsilon + norm.logcdf(-half - shift)))


@cache
def gaussian_sigma(epsilon: float, delta: float) -> float:
    """The smallest σ that gives (ε, δ) at sensitivity 1; σ grows in proportion to it."""

    def gap(log: float) -> float:
        return math.log(max(gaussian_delta(math.exp(log), epsilon), 1e-300) / delta)

    return math.exp(brentq(gap, -7, 14))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The ε that ρ-zCDP gives at δ, as the ledger of ``delta=`` computes it, rounded up.

    Canonne, Kamath and Steinke, 2020, section 2.3: the least
    ρλ + (ln(1/(λδ)) + (λ−1) ln(1−1/λ))/(λ−1) over all orders λ > 1.

    >>> zcdp_epsilon(0.5, 1e-6) < 0.5 + 2 * math.sqrt(0.5 * math.log(1e6))  # the older bound
    True
    """
    return float(epsilon_of(as_fraction(rho), as_fraction(delta)))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest ρ that gives (ε, δ), rounded down."""
    return float(rho_of(as_fraction(epsilon), as_fraction(delta)))


def response_deviation(epsilon: float, people: int) -> float:
    """Standard deviation of a count of yes, estimated from randomised responses at ε, in people.

    Truth with probability e^ε/(1+e^ε); where the answers are rare or common it is no smaller.
    """
    return math.sqrt(people) * math.exp(epsilon / 2) / math.expm1(epsilon)


def deviations(questions: int, epsilon: float, delta: float) -> dict[str, float]:
    """Standard deviation of each of so many counts of the same people, in people, by the promise.

    A replaced record may change every count by 1: the sensitivity is ℓ in sum, √ℓ Euclidean.
    """
    root = math.sqrt(questions)
    return {
        "pure ε, Laplace": math.sqrt(2) * questions / epsilon,
        "(ε, δ), Gaussian": root * gaussian_sigma(epsilon, delta),
        "(ε, δ) by zCDP": root / math.sqrt(2 * zcdp_rho(epsilon, delta)),
        "local, pure ε": response_deviation(epsilon / questions, PEOPLE),
    }


COLOURS = {
    "pure ε, Laplace": "private",
    "(ε, δ), Gaussian": "none",
    "(ε, δ) by zCDP": "#56B4E9",
    "local, pure ε": "real",
}
LARGE = ("pure ε, Laplace", "(ε, δ), Gaussian")  # what the verdict compares
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
DASHES = {"(ε, δ) by zCDP": "dot", "local, pure ε": "dash"}


@live_panel(
    spends=False,
    tries=(
        Try(
            "one count",
            {"questions": 1},
            "Laplace noise is {now.ratio:.2g} times Gaussian noise, and promises more.",
            lambda was, now: now.ratio < 1,
        ),
        Try(
            "a thousand counts",
            {"questions": 1000},
            "Laplace noise is {now.ratio:.2g} times Gaussian noise; for a hundred it was "
            "{was.ratio:.2g} times.",
            lambda was, now: now.ratio > was.ratio > 1,
        ),
        Try(
            "a larger ε",
            {"epsilon": 4.0, "questions": 1},
            "a local count has a spread of {now.local:,.0f} people; a curator's is still far less.",
            lambda was, now: now.local < was.local,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    questions=slider("ℓ", 100, 1, 1000, 1, tooltip="ℓ, number of counts of the same people"),
    digits=slider("zeros of δ", 9, 3, 12, 1, tooltip="chance of failure, 10 to the minus this"),
)
def view(epsilon: float, digits: int, questions: int) -> View:
    """Noise of each count by the number of counts, and the δ that goes with each ε."""
    delta = 10.0**-digits
    rows = [deviations(int(q), epsilon, delta) for q in QUESTIONS]
    here = deviations(questions, epsilon, delta)
    ratio = here["pure ε, Laplace"] / here["(ε, δ), Gaussian"]
    smaller, factor = ("Gaussian", ratio) if ratio > 1 else ("Laplace", 1 / ratio)
    larger = "Laplace" if ratio > 1 else "Gaussian"
    counts = "one count" if questions == 1 else f"{questions:,} counts"
    promise = f"ε = {epsilon:g}, δ = 10⁻{str(digits).translate(RAISED)}"
    plot = Board("outside", f"{promise}: {counts} of {PEOPLE:,} people")
    for name, colour in COLOURS.items():
        values, compared = [row[name] for row in rows], name in LARGE
        plot.line(QUESTIONS, values, colour, name=name, dash=DASHES.get(name),
                  width=3 if compared else 1)  # fmt: skip
        if compared:
            plot.dots([questions], [here[name]], colour, size=14)
    low, high = sorted((here["pure ε, Laplace"], here["(ε, δ), Gaussian"]))
    plot.mark((questions, questions), (low, high), "look", 1, 6, None)
    plot.note(f"<b>{factor:.2g} times</b>", math.log10(questions), math.log10(low) - 0.15,
              1, "look", 20, xanchor="center" if questions > 50 else "left",
              yanchor="top")  # fmt: skip
    bounds = np.linspace(0, 3 * epsilon, 121)  # ε is one of them
    sigma = here["(ε, δ), Gaussian"] / math.sqrt(questions)
    tail = [max(gaussian_delta(sigma, float(x)), 1e-15) for x in bounds]
    plot.line(bounds, tail, "none", 2)
    worst = (math.exp(epsilon) - np.exp(bounds)) / (1 + math.exp(epsilon))
    plot.line(bounds, np.maximum(worst, 1e-15), "private", 2)
    plot.limit([0, 3 * epsilon], [delta, delta], 2)
    low = float(bounds[np.argmax(np.array(tail) < delta / 100)])
    for name, x, y, colour in (
        ("pure ε, at worst", epsilon, -1.0, "private"),
        ("Gaussian", low, math.log10(delta) - 2, "none"),
    ):
        plot.note(name, x + 0.06 * epsilon, y, 2, colour, 13, xanchor="left")
    status = (
        f"For {counts}, {larger} noise is {factor:.2g} times {smaller} noise. At "
        f"{promise}. Standard deviations in people: "
        + ", ".join(f"{name} {value:,.1f}" for name, value in here.items())
        + "."
    )
    return View(plot.figure, status, facts={"ratio": ratio, "local": here["local, pure ε"]})


panel = view.panel
