"""The first private table (lesson 00): ε moves the one-way marginals of a synthetic Adult table."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..counts import Records
from ..datasets import Dataset, load_adult
from ..measures import total_variation
from ..mechanisms import CommonNoise
from ..plots import PALETTE, figure
from ..synthesizers import PrivBayes
from ..widgets import View, choice, live, slider

SEED = 7
HATCH = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.6)", "size": 6}


class Room:
    """A table with warm counts and common random numbers, kept between two moves of a slider."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset, self.schema = dataset, dataset.schema
        self.records = Records(dataset.schema.encode(dataset.frame), dataset.schema)
        self.noise = CommonNoise(SEED)

    def fit(self, epsilon: float) -> tuple[PrivBayes, np.ndarray]:
        """A fitted strict PrivBayes and codes (n, d) of a synthetic table of the original size."""
        fitted = PrivBayes(epsilon=epsilon).fit_records(self.records, noise=self.noise.fresh())
        return fitted, fitted.model_.sample_codes(self.records.n, np.random.default_rng(SEED))

    def shares(self, codes: np.ndarray, attribute: str) -> np.ndarray:
        """Share of the records with each value of an attribute: float array (|X|,)."""
        j = self.schema.index(attribute)
        return np.bincount(codes[:, j], minlength=self.schema.sizes[j]) / len(codes)


@lru_cache(maxsize=1)
def room() -> Room:
    """The public teaching table."""
    return Room(load_adult(coding="thesis"))


def draw(real: np.ndarray, fake: np.ndarray, labels: tuple[str, ...], title: str) -> go.Figure:
    """Real beside synthetic shares, one pair of bars a value."""
    plot = figure(title=title, y="share of the records", height=430, barmode="group")
    plot.add_bar(x=list(labels), y=real, name="real", marker_color=PALETTE["real"])
    plot.add_bar(x=list(labels), y=fake, name="synthetic", marker={"color": PALETTE["private"], "pattern": HATCH})
    plot.update_yaxes(range=[0, min(1.0, 1.4 * float(real.max()))], tickformat=".0%")  # follows the attribute, never ε
    plot.update_xaxes(type="category")
    plot.update_layout(title_subtitle={"text": "real people and synthetic rows", "font": {"size": 12}}, margin_t=84)
    return plot


def view(epsilon: float = 1.0, attribute: str = "occupation", here: Room | None = None) -> View:
    """One attribute of the real and of the synthetic table, and the first synthetic rows."""
    here = here or room()
    fitted, codes = here.fit(epsilon)
    pairs = {name: (here.shares(here.records.codes, name), here.shares(codes, name)) for name in here.schema.names}
    real, fake = pairs[attribute]
    mean = float(np.mean([total_variation(p, q) for p, q in pairs.values()]))
    title = f"{attribute}: ε = {epsilon:g}"
    status = (
        f"At ε = {epsilon:g} the two charts of {attribute} differ by {total_variation(real, fake):.1%} of the people; "
        f"over all {len(pairs)} attributes by {mean:.1%} on average. The network has {len(fitted.network_.edges)} edges."
    )
    head = here.schema.decode(codes[:4]).to_html(index=False, border=0)
    rows = f"<b>First synthetic rows.</b> <div style='overflow-x:auto'>{head}</div>"
    return View(draw(real, fake, here.schema[attribute].labels, title), status=status, tables=[rows], alt=f"{title}. {status}")


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    here = room() if dataset is None else Room(dataset)
    return live(
        lambda **controls: view(here=here, **controls),
        epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, the privacy budget"),
        attribute=choice("attribute", list(here.schema.names), here.dataset.sensitive),
        spends=True,
    )


def static() -> go.Figure:
    """The panel's figure at its first position, for readers without a kernel."""
    return view().figure
