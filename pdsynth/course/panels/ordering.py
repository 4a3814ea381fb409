"""The AMI order panel (lesson 05): raw and noisy order of the attributes, and one person who flips the order of a small table."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ...counting.tables import Lattice, Records
from ...datasets import Dataset
from ...domain.schema import Attribute, Schema
from ...measures import SCORES
from ...plots import PALETTE, figure
from ...privacy.ledger import as_fraction
from ...privacy.mechanisms import CommonNoise
from ..widgets import View, live, slider
from .drawing import ticks
from .studio import Studio, pairwise, studio

SMALL = Schema(tuple(Attribute.categorical(name, ["no", "yes"]) for name in ("smoker", "asthma", "dog")))
COLUMNS = ("raw mutual information", "R without noise", "R with noise")


def small_table(moved: bool = False) -> pd.DataFrame:
    """Eight people: seven say the same to all three questions; the eighth smokes and has asthma or, if ``moved``, a dog."""
    eighth = ["yes", "no", "yes"] if moved else ["yes", "yes", "no"]
    return pd.DataFrame([["no"] * 3] * 4 + [["yes"] * 3] * 3 + [eighth], columns=list(SMALL.names))


def order_sensitivity(n: int, sizes: tuple[int, ...]) -> int:
    """L1 sensitivity of the vector of sums Σ_j K(i,j): every pair is counted twice, 4(n−1) or 6(n−1) each."""
    return 2 * sum(SCORES["R"].sensitivity(n, a, b) for a, b in combinations(sizes, 2))


def descending(values: np.ndarray) -> list[int]:
    """Attributes from the largest value to the smallest; ties by column, as the library does."""
    return np.argsort(-np.asarray(values), kind="stable").tolist()


def captured(lattice: Lattice, order: list[int], k: int = 2) -> float:
    """Sum of mutual information in bits when each attribute takes its best parents from those before it, without noise."""
    total = 0.0
    for place, child in enumerate(order[1:], start=1):
        parents = np.array(list(combinations(sorted(order[:place]), min(k, place))), dtype=np.int64)
        total += float(lattice.information(np.full(len(parents), child), parents).max())
    return total


def difference_tail(t: int, scale: float) -> float:
    """P(Z − Z' ≥ t) for two independent discrete Laplace numbers of one scale (closed form)."""
    if t <= 0:
        return 1 - difference_tail(1 - t, scale)
    p = np.exp(-1 / scale)
    c = (1 + p * p) / (1 - p * p)
    return float(((1 - p) / (1 + p)) ** 2 * p**t * ((t + c) / (1 - p) + p / (1 - p) ** 2))


def asthma_first(moved: bool, epsilon: Fraction | None) -> float:
    """Probability that asthma enters before dog on the small table: raw order if ``epsilon`` is None, else the noisy one."""
    records = Records(SMALL.encode(small_table(moved)), SMALL)
    sums = pairwise(records.lattice, "K").sum(axis=1)
    gap = int(sums[1] - sums[2])  # a tie goes to asthma, which stands first
    if epsilon is None:
        return float(gap >= 0)
    return difference_tail(-gap, float(order_sensitivity(records.n, SMALL.sizes) / epsilon))


def compute(room: Studio, epsilon0: Fraction, draw: int) -> dict[str, Any]:
    """Three orders of the attributes and what they are computed from."""
    records, d = room.records, len(room.schema)
    information, k = pairwise(records.lattice, "I"), pairwise(records.lattice, "K")
    scale = Fraction(order_sensitivity(records.n, records.schema.sizes)) / epsilon0
    noisy = k.sum(axis=1) + CommonNoise(draw).child("AMI order").discrete_laplace(np.array(scale), (d,))
    unit = 2.0 * records.n**2 * (d - 1)
    values = [information.sum(axis=1) / (d - 1), k.sum(axis=1) / unit, noisy / unit]
    orders = [descending(v) for v in values]
    return {"values": values, "orders": orders, "scale": float(scale) / unit, "bits": [captured(records.lattice, o) for o in orders]}


def draw_orders(state: dict[str, Any], names: tuple[str, ...], odds: dict[str, tuple[float, float]], title: str) -> go.Figure:
    """Ranks in three columns, one line an attribute; beside them how likely each order of the small table is in both worlds."""
    plot = figure(title=title, height=520, margin={"l": 110, "r": 24, "t": 84, "b": 60}, barmode="group", bargap=0.35)
    _ranks(plot, state, names)
    for world, (words, opacity, shape) in enumerate((("eighth person has asthma", 1.0, ""), ("eighth person has a dog", 1 - 0.55, "/"))):
        chances = [pair[world] for pair in odds.values()]
        plot.add_bar(x=list(odds), y=chances, name=words, xaxis="x2", yaxis="y2", text=[f"{p:.3g}" for p in chances], cliponaxis=False,
                     marker={"color": [PALETTE["attack"], PALETTE["private"]], "opacity": opacity, "pattern": {"shape": shape}},
                     textposition="outside")  # fmt: skip
    plot.add_scatter(x=[None], y=[None], yaxis="y3", xaxis="x", showlegend=False)
    sides = [{"range": [len(names) + 0.5, 0.5], "anchor": "x", **ticks([names[j] for j in state["orders"][c]], first=1)} for c in (0, 2)]
    return plot.update_layout(
        xaxis={"domain": [0, 0.5], "range": [-0.05, 2.05], **ticks(COLUMNS)},
        yaxis=sides[0],
        yaxis3={**sides[1], "overlaying": "y", "side": "right"},
        xaxis2={"domain": [0.74, 1], "anchor": "y2", "showgrid": False, "title": "P(asthma enters before dog)"},
        yaxis2={"domain": [0, 0.94], "range": [0, 1.08], "anchor": "x2"},
    )


def _ranks(plot: go.Figure, state: dict[str, Any], names: tuple[str, ...]) -> None:
    """One line an attribute through its three ranks; those that the noise moves far are marked."""
    ranks = np.array([np.argsort(order) + 1 for order in state["orders"]])
    for moves, colour, label in ((False, PALETTE["real"], "moves less than 3 ranks"), (True, PALETTE["private"], "moves 3 ranks or more")):
        chosen = [j for j in range(len(names)) if (abs(ranks[2, j] - ranks[1, j]) >= 3) == moves]
        hover = [v for j in chosen for v in (*(f"{names[j]}: {a[j]:.4f}" for a in state["values"]), None)]
        plot.add_scatter(x=[0, 1, 2, None] * len(chosen), y=[v for j in chosen for v in (*ranks[:, j].tolist(), None)], text=hover,
                         mode="lines+markers", name=label, hovertemplate="%{text}<extra></extra>",
                         line={"color": colour, "width": 2 + moves},
                         marker={"size": 8, "symbol": "diamond" if moves else "circle"})  # fmt: skip


def view(epsilon: float = 1.0, share: float = 0.02, draw: int = 1, room: Studio | None = None) -> View:
    """Everything for one position of the sliders; the order is paid with ``share · epsilon``."""
    room = room or studio()
    epsilon0 = as_fraction(round(epsilon, 4)) * as_fraction(round(share, 4))
    names, state = room.schema.names, compute(room, epsilon0, int(draw))
    odds = {
        "raw order": (asthma_first(False, None), asthma_first(True, None)),
        "noisy order": (asthma_first(False, epsilon0), asthma_first(True, epsilon0)),
    }
    title = f"Order of the attributes: ε = {epsilon:g}, share = {share:g}, draw = {int(draw)}"
    ranks = [np.argsort(order) for order in state["orders"]]
    moved = int((ranks[2] != ranks[1]).sum())
    ratio = odds["noisy order"][0] / odds["noisy order"][1]
    status = (
        f"ε₀ = {float(epsilon0):.4g}: noise scale {state['scale']:.4f} on an average R of at most {state['values'][1].max():.4f}: "
        f"{moved} of {len(names)} attributes "
        f"change their rank. With the best two parents the raw order captures {state['bits'][0]:.2f} bits, "
        f"this noisy one {state['bits'][2]:.2f}. "
        f"Small table: the raw order tells the two worlds apart for sure; the noisy one is {ratio:.4f} times as likely "
        f"in one as in the other (e^ε₀ = {np.exp(float(epsilon0)):.4f})."
    )
    return View.told(draw_orders(state, names, odds, title), status)


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(room=room, **controls),
        epsilon=slider("ε", 1.0, 0.1, 8.0, 0.1, tooltip="ε, total privacy budget"),
        share=slider("share", 0.02, 0.01, 1.0, 0.01, tooltip="share of ε that pays for the order"),
        draw=slider("draw", 1, 1, 20, 1, tooltip="draw, which random numbers"),
        spends=True,
    )
