"""The information explorer (lesson 03): heat map of an association, and the contingency table of one pair of attributes."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ...datasets import Dataset, load_adult
from ...measures import association_sensitivity, entropy, mutual_information, tvd_from_independence
from ...plots import PALETTE, figure
from ...privacy.curator import Curator
from ...privacy.ledger import Ledger, as_fraction
from ..widgets import View, choice, live, slider
from .drawing import add_pairs, ticks
from .studio import Studio, symmetric

MEASURES = ("I, bits", "R", "R with noise")
TOPS = {"I, bits": 1.75, "R": 0.65, "R with noise": 0.65}


class Room(Studio):
    """A studio with the raw associations of all pairs."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset, seed=5)
        self.pairs = list(combinations(range(len(self.schema)), 2))
        i, j = np.array(self.pairs).T
        lattice = self.records.lattice
        self.raw = {"I, bits": lattice.information(i, j[:, None]), "R": lattice.association(i, j[:, None]) / (2 * self.records.n**2)}

    def values(self, measure: str, epsilon: Fraction) -> np.ndarray:
        """One number a pair; ``R with noise`` is the curator's sketch of all pairs at cost ε."""
        if measure in self.raw:
            return self.raw[measure]
        curator = Curator(self.records, Ledger(epsilon), self.noise.fresh())
        return curator.noisy_associations(self.pairs, epsilon, step="all pairs", source="sketch of R")[0]

    def noise_scale(self, epsilon: Fraction) -> float:
        """Scale of the noise on each R of the sketch."""
        sizes, n = self.schema.sizes, self.records.n
        return float(sum(association_sensitivity(n, sizes[i], sizes[j]) for i, j in self.pairs) / epsilon) / (2 * n * n)


@lru_cache(maxsize=1)
def room() -> Room:
    """The public teaching table."""
    return Room(load_adult(coding="thesis"))


def draw(here: Room, matrix: np.ndarray, pair: tuple[int, int], measure: str, title: str) -> go.Figure:
    """Left: all pairs, the chosen one framed. Right: share of the records minus what independence would give, a cell."""
    names, table = here.schema.names, here.records.table(pair)
    labels = [list(here.schema.attributes[j].labels) for j in pair]
    plot = figure(title=title, subtitle="all pairs, and the framed pair taken apart", height=640)
    add_pairs(plot, matrix, names, zmin=0, zmax=TOPS[measure], colorscale="Cividis", colorbar=_key(measure, 0.0))
    for i, j in (pair, pair[::-1]):
        plot.add_shape(type="rect", x0=i - 0.5, x1=i + 0.5, y0=j - 0.5, y1=j + 0.5, line={"color": PALETTE["attack"], "width": 3})
    p = table / table.sum()
    gap = p - np.outer(p.sum(1), p.sum(0))
    plot.add_heatmap(z=gap.T, x=labels[0], y=labels[1], xaxis="x2", yaxis="y2", zmid=0, zmin=-0.05, zmax=0.05,
                     colorscale=[[0, PALETTE["none"]], [0.5, "#f3f3f3"], [1, PALETTE["attack"]]], customdata=table.T,
                     hovertemplate="%{x} × %{y}: %{customdata:,} people, P − P·P = %{z:.4f}<extra></extra>",
                     colorbar=_key("P(x,y) − P(x)P(y)", 0.64))  # fmt: skip
    return plot.update_layout(
        xaxis={"domain": [0, 0.4], **ticks(names, -50)},
        yaxis={"autorange": "reversed", **ticks(names)},
        xaxis2={"domain": [0.64, 1], "anchor": "y2", "tickangle": -50, "type": "category"},
        yaxis2={"anchor": "x2", "autorange": "reversed", "type": "category"},
        margin={"t": 72, "b": 180},
    )


def _key(text: str, x: float) -> dict[str, Any]:
    """A horizontal colour bar below a heat map that starts at ``x``: above, plotly.js would push the title out of the figure."""
    place = {"x": x, "xanchor": "left", "y": -0.33, "yanchor": "top"}
    return {"title": {"text": text, "side": "top"}, "orientation": "h", "len": 0.36, "thickness": 10, **place}


def contingency(here: Room, pair: tuple[int, int]) -> str:
    """The counts of one pair as a folded HTML table."""
    x, y = (here.schema.attributes[j] for j in pair)
    counts = pd.DataFrame(here.records.table(pair), index=pd.Index(x.labels, name=x.name), columns=pd.Index(y.labels, name=y.name))
    head = f"<summary>Contingency table of {x.name} and {y.name}</summary>"
    return f"<details>{head}<div style='overflow-x:auto'>{counts.to_html(border=0)}</div></details>"


def view(
    x: str = "relationship", y: str = "marital-status", measure: str = "I, bits", epsilon: float = 1.0, here: Room | None = None
) -> View:
    """The heat map, and one pair's contingency table with its I and R."""
    here = here or room()
    if x == y:
        raise ValueError(f"choose two different attributes: {x} tells everything about itself, I({x}; {x}) is its entropy")
    pair, share = (here.schema.index(x), here.schema.index(y)), as_fraction(epsilon)
    table, matrix = here.records.table(pair), symmetric(here.values(measure, share), len(here.schema))
    noisy = measure == MEASURES[2]
    title = f"{measure}{f', ε = {epsilon:g}' if noisy else ''}: {x} and {y}"
    status = (
        f"I = {mutual_information(table):.3f} bits, of {entropy(table.sum(1)):.3f} bits of {x} and {entropy(table.sum(0)):.3f} of {y}; "
        f"R = {float(tvd_from_independence(table)):.3f}."
    )
    if noisy:
        scale = here.noise_scale(share)
        status += (
            f" The sketch at ε = {epsilon:g} says R = {matrix[pair]:.3f}; its noise has scale {scale:.4f}, "
            f"and {np.mean(here.raw['R'] < scale):.0%} of the pairs lie below that."
        )
    plot = draw(here, matrix, pair, measure, title)
    return View.told(plot, status, [contingency(here, pair)])


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    here = room() if dataset is None else Room(dataset)
    names, first = list(here.schema.names), here.pairs[int(np.argmax(here.raw["I, bits"]))]
    start = ("relationship", "marital-status") if dataset is None else (names[first[0]], names[first[1]])
    return live(
        lambda **controls: view(here=here, **controls),
        x=choice("attribute X", names, start[0]),
        y=choice("attribute Y", names, start[1]),
        measure=choice("measure", list(MEASURES)),
        epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε of the noisy sketch of all pairs"),
        spends=True,
    )
