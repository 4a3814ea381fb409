"""The first private table (lesson 00): ε moves the one-way marginals of a synthetic Adult table."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset
from ...measures import total_variation
from ...plots import PALETTE, figure
from ...synthesizers import PrivBayes
from ..widgets import View, choice, live, slider
from .studio import Studio, preview, studio

SEED = 7
HATCH = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.6)", "size": 6}


def shares(room: Studio, codes: np.ndarray, attribute: str) -> np.ndarray:
    """Share of the records with each value of an attribute: float array (|X|,)."""
    j = room.schema.index(attribute)
    return np.bincount(codes[:, j], minlength=room.schema.sizes[j]) / len(codes)


def draw(real: np.ndarray, fake: np.ndarray, labels: tuple[str, ...], title: str) -> go.Figure:
    """Real beside synthetic shares, one pair of bars a value."""
    plot = figure(title=title, subtitle="real people and synthetic rows", y="share of the records", height=430, barmode="group")
    plot.add_bar(x=list(labels), y=real, name="real", marker_color=PALETTE["real"])
    plot.add_bar(x=list(labels), y=fake, name="synthetic", marker={"color": PALETTE["private"], "pattern": HATCH})
    plot.update_yaxes(range=[0, min(1.0, 1.4 * float(real.max()))], tickformat=".0%")  # follows the attribute, never ε
    plot.update_xaxes(type="category")
    return plot.update_layout(margin_t=84)


def view(epsilon: float = 1.0, attribute: str = "occupation", room: Studio | None = None) -> View:
    """One attribute of the real and of the synthetic table, and the first synthetic rows."""
    room = room or studio()
    fitted = room.run(PrivBayes(epsilon))
    codes = room.sample(fitted, SEED)
    pairs = {name: (shares(room, room.records.codes, name), shares(room, codes, name)) for name in room.schema.names}
    real, fake = pairs[attribute]
    mean = float(np.mean([total_variation(p, q) for p, q in pairs.values()]))
    title = f"{attribute}: ε = {epsilon:g}"
    status = (
        f"At ε = {epsilon:g} the two charts of {attribute} differ by {total_variation(real, fake):.1%} of the people; "
        f"over all {len(pairs)} attributes by {mean:.1%} on average. The network has {len(fitted.network_.edges)} edges."
    )
    tables = [preview(room, codes, 4, "First synthetic rows")]
    return View.told(draw(real, fake, room.schema[attribute].labels, title), status, tables)


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(room=room, **controls),
        epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, the privacy budget"),
        attribute=choice("attribute", list(room.schema.names), room.dataset.sensitive),
        spends=True,
    )
