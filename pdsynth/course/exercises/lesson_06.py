"""Exercises of lesson 06, sensitivity groups and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .exercise import Exercise, number, word


def _scales(function: Callable[[Sequence[float], float], Sequence[float] | None]) -> str | None:
    for w, epsilon in (([0.2, 0.4, 0.4], 1.0), ([0.1, 0.6, 0.3], 0.5), ([0.25] * 4, 0.1)):
        got = function(w, epsilon)
        if got is None:
            return "row_scales returns nothing yet."
        b = [float(x) for x in got]
        if len(b) != len(w):
            return f"row_scales returns {len(b)} numbers for {len(w)} values."
        if any(abs(x * y - b[0] * w[0]) > 1e-9 * abs(b[0] * w[0]) for x, y in zip(b, w, strict=True)):
            return "row_scales: the scales aren't proportional to 1/w: a value with twice the weight gets half the scale."
        true = 2 / min(b)
        if abs(true - epsilon) > 1e-9:
            if abs(true - max(w) * epsilon) < 1e-9:
                return f"row_scales(…, {epsilon}) are the printed ones: the table truly costs max w · ε = {true:.3g}. Divide w by max w."
            if abs(true - 2 * epsilon) < 1e-9:
                return f"row_scales(…, {epsilon}) cost {true:.3g}, twice too much: two cells change, so the numerator is 2."
            return f"row_scales(…, {epsilon}) cost 2/min(scale) = {true:.4g}, not {epsilon}."
    return None


q1 = Exercise(
    number(
        0.005,
        {
            0.08: "cost: that is what the thesis claims, the sum over all values. A record moves between two cells only.",
            0.0025: "cost counts one cell; the record leaves one and enters another, maybe in the same row: twice w ε₃/2l.",
            0.01: "cost is doubled: 2/b is already the loss of both cells.",
            1.28: "cost multiplies by 16; it is divided, since each w is 1/16.",
        },
        "cost = {value:g} is not max w · ε₃/l. What is w here?",
        within=1e-4,
    ),
    "All weights are 1/16, so all scales are 16 · 2l/ε₃, and the worst move costs 2/scale.",
    "max w · ε₃/l = 0.08/16 = 0.005: sixteen times more noise than was paid for.",
    "Question 1",
    "Correct: a sixteenth. The rest of the budget buys noise that protects nobody.",
)
q2 = Exercise(
    _scales,
    "The smallest scale belongs to the largest weight and must be 2/ε.",
    "def row_scales(w, epsilon):\n    return [2 * max(w) / (x * epsilon) for x in w]",
    "Question 2",
    "Correct: the row of the largest weight has scale 2/ε, the others more.",
)
q3 = Exercise(
    word(
        "frame",
        {
            "max": "bug: dividing by the largest surprise is the repair, v = w / max w.",
            "noisy": "bug: the noisy histogram has been paid for. Look again at what it is used for: its index only.",
        },
        "bug: answer 'frame', 'max' or 'noisy'.",
    ),
    "Which of its inputs has not been paid for?",
    "'frame': the shares come from the raw column, so the scales depend on the records. "
    "Use noisy, clipped to at least one half and normalised.",
    "Question 3",
    "Correct. The paid-for histogram lies beside it, and only its index is used.",
)
