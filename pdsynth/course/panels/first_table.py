"""Lesson 00: ε moves the one-way marginals of a synthetic Adult table."""

import numpy as np

from ...measures import total_variation
from ...synthesizers import PrivBayes
from ..widgets import View, choice, slider
from .drawing import Board
from .panel import live_panel
from .table import TeachingTable, adult
from .words import preview

HATCH = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.6)", "size": 6}


@live_panel(
    adult("thesis"),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, the privacy budget"),
    attribute=lambda table: choice("attribute", table.schema.names, table.dataset.sensitive),
)
def view(table: TeachingTable, epsilon: float, attribute: str) -> View:
    """One attribute of the real and of the synthetic table, and the first synthetic rows."""
    fitted = table.run(PrivBayes(epsilon))
    codes = table.sample(fitted, seed=7)
    shares = {name: [table.counts(name, rows) / len(rows) for rows in (table.records.codes, codes)]
              for name in table.schema.names}
    (real, fake), labels = shares[attribute], table.schema[attribute].labels
    plot = Board("first_table", f"{attribute}: ε = {epsilon:g}")
    plot.bars(labels, real, "real", name="real")
    plot.bars(labels, fake, "private", name="synthetic", marker={"pattern": HATCH})
    top = min(1.0, 1.4 * float(real.max()))  # follows the attribute, never ε
    plot.set(y={"range": [0, top]})
    differences = [total_variation(p, q) for p, q in shares.values()]
    status = (
        f"At ε = {epsilon:g} the two charts of {attribute} differ by "
        f"{total_variation(real, fake):.1%} of the people; over all {len(shares)} attributes by "
        f"{np.mean(differences):.1%} on average. "
        f"The network has {len(fitted.network_.edges)} edges."
    )
    return View(plot.figure, status, [preview(table, codes, 4, "First synthetic rows")])


panel = view.panel
