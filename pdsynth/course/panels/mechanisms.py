"""The mechanism explorer (lesson 01): two neighbouring tables, one noisy count, one noisy choice, and the band that ε allows."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset, load_adult
from ...plots import PALETTE, figure
from ...privacy.mechanisms import CommonNoise, discrete_laplace_pmf, exponential_probabilities
from ..widgets import View, choice, live, slider
from .drawing import powers

REACH = 15  # shown outputs lie this many records around the real count
FLOOR = 1e-4


@lru_cache(maxsize=1)
def histograms() -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Labels and codes of the categorical attributes of the public teaching table."""
    return _columns(load_adult(complete=True))


def _columns(dataset: Dataset) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    codes = dataset.schema.encode(dataset.frame)
    shown = [a for a in dataset.schema.attributes if not a.numeric_bins and 2 < a.size <= 16]
    return {a.name: (a.labels, codes[:, dataset.schema.index(a.name)]) for a in shown}


def neighbours(codes: np.ndarray, size: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of the first n records, and of a neighbour in which one record leaves the commonest value for the second."""
    counts = np.bincount(codes[:n], minlength=size)
    first, second = np.argsort(-counts, kind="stable")[:2]
    moved = counts.copy()
    moved[first] -= 1
    moved[second] += 1
    return counts, moved


def worst_ratio(p: np.ndarray, q: np.ndarray) -> float:
    """The largest |ln p/q| over all outputs: the ε that really holds for this pair of neighbours."""
    seen = (p > 1e-300) & (q > 1e-300)  # what underflows can't be compared, and can't happen either
    return float(np.abs(np.log(p[seen]) - np.log(q[seen])).max())


def compute(counts: np.ndarray, moved: np.ndarray, epsilon: float, share: float) -> dict[str, Any]:
    """Output laws of both mechanisms on both neighbours. ``share`` scales the noise: 1 is right, below 1 is too little."""
    top = int(counts.argmax())
    z = np.arange(counts[top] - REACH, counts[top] + REACH + 1)
    laplace = [discrete_laplace_pmf(z - c[top], share / epsilon) for c in (counts, moved)]
    choices = [exponential_probabilities(c, 1.0, epsilon / share) for c in (counts, moved)]
    return {"top": top, "z": z, "laplace": laplace, "choices": choices}


def _band(plot: go.Figure, x: Any, p: np.ndarray, epsilon: float, axis: str) -> None:
    """Everything within e^±ε of the law on the real table."""
    line = {"width": 0, "shape": "hvh"}
    for y, fill in ((p * np.exp(-epsilon), None), (p * np.exp(epsilon), "tonexty")):
        plot.add_scatter(x=x, y=np.maximum(y, FLOOR / 10), mode="lines", line=line, fill=fill, fillcolor="rgba(230,159,0,.22)",
                         hoverinfo="skip", xaxis=f"x{axis}", yaxis=f"y{axis}", name="allowed: within e^±ε",
                         showlegend=axis == "" and fill is not None)  # fmt: skip


def draw(state: dict[str, Any], labels: tuple[str, ...], epsilon: float, title: str) -> go.Figure:
    """Left: law of a noisy count; right: probability that each value is named the commonest. Logarithmic, fixed ranges."""
    plot = figure(title=title, subtitle="two neighbouring tables, and the band that ε allows", height=470)
    order = np.argsort(-state["choices"][0], kind="stable")
    names = [labels[i] for i in order]
    for axis, x, laws in (("", state["z"], state["laplace"]), ("2", names, [p[order] for p in state["choices"]])):
        _band(plot, x, laws[0], epsilon, axis)
        outside = np.abs(np.log(np.maximum(laws[1], 1e-300)) - np.log(np.maximum(laws[0], 1e-300))) > epsilon * (1 + 1e-9)
        worlds = (("real table D", laws[0], PALETTE["private"], "circle"), ("neighbour D′", laws[1], PALETTE["none"], "diamond-open"))
        for label, p, colour, symbol in worlds:
            plot.add_scatter(x=x, y=p, mode="markers", name=label, marker={"color": colour, "symbol": symbol, "size": 8}, xaxis=f"x{axis}",
                             yaxis=f"y{axis}", showlegend=axis == "", hovertemplate="%{x}: %{y:.3g}<extra></extra>")  # fmt: skip
        plot.add_scatter(x=np.array(x)[outside], y=laws[1][outside], mode="markers", name="outside: gives away more than ε",
                         xaxis=f"x{axis}", yaxis=f"y{axis}", showlegend=axis == "",
                         marker={"color": PALETTE["attack"], "symbol": "x", "size": 9})  # fmt: skip
    return plot.update_layout(
        xaxis={"domain": [0, 0.47], "range": [state["z"][0], state["z"][-1]], "title": "released count, in people"},
        xaxis2={"domain": [0.58, 1], "anchor": "y2", "tickangle": -50, "title": "value named the commonest", "type": "category"},
        yaxis=powers(np.log10(FLOOR), 0.1, "probability"),
        yaxis2={"anchor": "x2", **powers(np.log10(FLOOR), 0.1, "probability")},
        margin={"t": 92, "b": 110},
    )


def view(epsilon: float = 1.0, attribute: str = "occupation", n: int = 1000, share: float = 1.0, columns: dict | None = None) -> View:
    """Both mechanisms on the first n records of Adult and on a neighbour."""
    labels, codes = (columns or histograms())[attribute]
    counts, moved = neighbours(codes, len(labels), int(n))
    state = compute(counts, moved, epsilon, share)
    truth = max(worst_ratio(*state["laplace"]), worst_ratio(*state["choices"]))
    top = state["top"]
    title = f"{attribute}, first {min(int(n), len(codes)):,} people: ε = {epsilon:g}, noise × {share:g}"
    kept = truth <= epsilon * (1 + 1e-9)
    verdict = "as promised" if kept else f"more than the promised {epsilon:g}: not {epsilon:g}-differentially private"
    status = (
        f"Real count of {labels[top]}: {counts[top]:,}; the noise moves it by about {share / epsilon:.3g}. "
        f"{labels[top]} is named the commonest with probability {state['choices'][0][top]:.3g}. "
        f"Over all outputs the two tables differ by a factor of at most e^{truth:.3g}, {verdict}."
    )
    noise = CommonNoise(3).discrete_laplace(np.asarray(share / epsilon), (6,))
    draws = ", ".join(f"{c:,}" for c in counts[top] + noise)
    table = f"<b>Six releases of the count of {labels[top]}</b>, each of which would cost ε again: {draws}"
    return View.told(draw(state, labels, epsilon, title), status, [table])


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; the complete rows of Adult unless another public teaching table is given."""
    columns = histograms() if dataset is None else _columns(dataset)
    return live(
        lambda **controls: view(columns=columns, **controls),
        epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, the privacy budget of one release"),
        share=slider("noise", 1.0, 0.25, 2.0, 0.05, unit="× right scale", tooltip="noise scale as a multiple of sensitivity over ε"),
        n=choice("people asked", [100, 1000, 10000, 45222], 1000),
        attribute=choice("attribute", list(columns), "occupation" if "occupation" in columns else None),
        spends=True,
    )
