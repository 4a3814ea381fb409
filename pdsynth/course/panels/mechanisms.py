"""Lesson 01: a noisy count and a noisy choice on two neighbouring tables, within e^±ε or not."""

from typing import Any

import numpy as np

from ...core import CommonNoise, discrete_laplace_pmf, exponential_probabilities
from ..widgets.controls import Control, choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .panel import live_panel
from .table import TeachingTable, adult

REACH = 15  # outputs on show lie this many records around the real count
FLOOR = 1e-4


def attributes(table: TeachingTable) -> Control:
    """The categorical attributes with a few values."""
    names = [a.name for a in table.schema.attributes if not a.numeric_bins and 2 < a.size <= 16]
    return choice("attribute", names, "occupation" if "occupation" in names else None)


def neighbours(codes: np.ndarray, size: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of the first n records, and of a neighbour of theirs.

    There one record leaves the commonest value for the second.
    """
    counts = np.bincount(codes[:n], minlength=size)
    first, second = np.argsort(-counts, kind="stable")[:2]
    moved = counts.copy()
    moved[first] -= 1
    moved[second] += 1
    return counts, moved


def worst_ratio(p: np.ndarray, q: np.ndarray) -> float:
    """The largest |ln p/q| over all outputs: the ε that really holds for these neighbours."""
    seen = (p > 1e-300) & (q > 1e-300)  # what underflows can't be compared, and can't happen either
    return float(np.abs(np.log(p[seen]) - np.log(q[seen])).max())


def laws(counts: np.ndarray, moved: np.ndarray, epsilon: float, share: float) -> dict[str, Any]:
    """Output laws of both mechanisms on both neighbours.

    ``share`` scales the noise: 1 is right, below 1 is too little.
    """
    top = int(counts.argmax())
    z = np.arange(counts[top] - REACH, counts[top] + REACH + 1)
    return {
        "top": top,
        "z": z,
        "laplace": [discrete_laplace_pmf(z - c[top], share / epsilon) for c in (counts, moved)],
        "choices": [exponential_probabilities(c, 1.0, epsilon / share) for c in (counts, moved)],
    }


def draw_laws(plot: Board, x: Any, both: list[np.ndarray], epsilon: float, cell: int) -> None:
    """Both laws, and everything within e^±ε of the law on the real table."""
    (real, other), once = both, cell == 1
    upper: dict[str, Any] = {"name": "allowed: within e^±ε", "fill": "tonexty", "showlegend": once}
    for bound, more in ((-epsilon, {}), (epsilon, upper)):
        plot.add(
            "scatter",
            cell,
            hover=False,
            x=x,
            mode="lines",
            fillcolor="rgba(230,159,0,.22)",
            y=np.maximum(real * np.exp(bound), FLOOR / 10),
            line={"width": 0, "shape": "hvh"},
            **more,
        )
    for name, law, colour, symbol in (
        ("real table D", real, "private", "circle"),
        ("neighbour D′", other, "none", "diamond-open"),
    ):
        plot.dots(
            x,
            law,
            colour,
            cell,
            symbol=symbol,
            size=8,
            name=name,
            hover="%{x}: %{y:.3g}",
            showlegend=once,
        )
    ratio = np.log(np.maximum(other, 1e-300)) - np.log(np.maximum(real, 1e-300))
    outside = np.abs(ratio) > epsilon * (1 + 1e-9)
    plot.dots(
        np.array(x)[outside],
        other[outside],
        "attack",
        cell,
        symbol="x",
        size=9,
        name="outside: gives away more than ε",
        showlegend=once,
    )


@live_panel(
    adult("complete"),
    tries=(
        Try(
            "half of the noise",
            {"share": 0.5},
            "the dots leave the band: the two tables differ by up to e^{now.truth:.3g}, and only "
            "e^{now.promised:g} was promised.",
            lambda was, now: now.truth > now.promised,
        ),
        Try(
            "a small ε",
            {"epsilon": 0.1},
            "the noise moves the count by about {now.noise:g} instead of {was.noise:g}, and "
            "{now.top} is named with probability {now.named:.2f} instead of {was.named:.2f}.",
            lambda was, now: now.noise > was.noise and now.named < was.named,
        ),
        Try(
            "ask 45,222 people",
            {"n": 45222},
            "the same noise, about {now.noise:g}, on a count of {now.count:,} instead of "
            "{was.count:,}: privacy is cheap in a large table.",
            lambda was, now: now.count > 10 * was.count and now.noise == was.noise,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, the privacy budget of one release"),
    share=slider(
        "noise",
        1.0,
        0.25,
        2.0,
        0.05,
        unit="× right scale",
        tooltip="noise scale as a multiple of sensitivity over ε",
    ),
    n=choice("people asked", [100, 1000, 10000, 45222], 1000),
    attribute=attributes,
)
def view(table: TeachingTable, epsilon: float, share: float, n: int, attribute: str) -> View:
    """Both mechanisms on the first n records and on a neighbour, on logarithmic, fixed axes."""
    labels, codes = table.schema[attribute].labels, table.records.codes
    column = codes[:, table.schema.index(attribute)]
    counts, moved = neighbours(column, len(labels), n)
    state = laws(counts, moved, epsilon, share)
    top, z, choices = state["top"], state["z"], state["choices"]
    people = min(n, len(codes))
    title = f"{attribute}, first {people:,} people: ε = {epsilon:g}, noise × {share:g}"
    plot = Board("mechanisms", title)
    order = np.argsort(-choices[0], kind="stable")
    draw_laws(plot, z, state["laplace"], epsilon, 1)
    draw_laws(plot, [labels[i] for i in order], [p[order] for p in choices], epsilon, 2)
    plot.set(x={"range": [z[0], z[-1]]})
    truth = max(worst_ratio(*state["laplace"]), worst_ratio(*choices))
    broken = f"more than the promised {epsilon:g}: not {epsilon:g}-differentially private"
    status = (
        f"Over all outputs the two tables differ by a factor of at most e^{truth:.3g}, "
        f"{'as promised' if truth <= epsilon * (1 + 1e-9) else broken}. "
        f"Real count of {labels[top]}: {counts[top]:,}; the noise moves it by about "
        f"{share / epsilon:.3g}. {labels[top]} is named the commonest with probability "
        f"{choices[0][top]:.3g}."
    )
    facts = {
        "truth": truth,
        "promised": epsilon,
        "noise": share / epsilon,
        "top": labels[top],
        "named": float(choices[0][top]),
        "count": int(counts[top]),
    }
    noise = CommonNoise(3).discrete_laplace(np.asarray(share / epsilon), (6,))
    draws = ", ".join(f"{c:,}" for c in counts[top] + noise)
    return View(
        plot.figure,
        status,
        [
            f"<b>Six releases of the count of {labels[top]}</b>, each of "
            f"which would cost ε again: {draws}"
        ],
        facts=facts,
    )


panel = view.panel
