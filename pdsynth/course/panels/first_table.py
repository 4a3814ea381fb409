"""Lesson 00: ε moves the one-way marginals of a synthetic Adult table."""

import numpy as np

from ...algorithms import PrivBayes
from ...core import plural, total_variation
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .panel import live_panel
from .table import TeachingTable, adult
from .words import preview

HATCH = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.6)", "size": 6}
WED, NEVER = ("Husband", "Wife"), "Never-married"


def impossible(table: TeachingTable, codes: np.ndarray) -> float | None:
    """Share of husbands and wives who never married; None for a table without such columns."""
    schema = table.schema
    if not {"relationship", "marital-status"} <= set(schema.names):
        return None
    role, status = (codes[:, schema.index(a)] for a in ("relationship", "marital-status"))
    wed = np.isin(role, [schema["relationship"].labels.index(name) for name in WED])
    never = status == schema["marital-status"].labels.index(NEVER)
    return float((wed & never).sum() / max(1, wed.sum()))


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "hardly any budget",
            {"epsilon": 0.05},
            "the bars hardly move, but {now.impossible:.1%} of husbands and wives never married; "
            "at ε = 1 it was {was.impossible:.1%}.",
            lambda was, now: now.impossible > 0.05,
        ),
        Try(
            "a lot of budget",
            {"epsilon": 4.0},
            "the bars differ by {now.differ:.1%} on average ({was.differ:.1%} at ε = 1), and "
            "{now.impossible:.1%} of the families are impossible.",
            lambda was, now: now.differ < was.differ,
        ),
        Try(
            "another attribute",
            {"attribute": "sex"},
            "sex has two values only: its chart is off by {now.here:.1%}, that of occupation "
            "by {was.here:.1%}.",
            lambda was, now: now.here < was.here,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, the privacy budget"),
    attribute=lambda table: choice("attribute", table.schema.names, table.dataset.sensitive),
)
def view(table: TeachingTable, epsilon: float, attribute: str) -> View:
    """One attribute of the real and of the synthetic table, and the first synthetic rows."""
    fitted = table.run(PrivBayes(epsilon))
    codes = table.sample(fitted, seed=7)
    shares = {
        name: [table.counts(name, rows) / len(rows) for rows in (table.records.codes, codes)]
        for name in table.schema.names
    }
    (real, fake), labels = shares[attribute], table.schema[attribute].labels
    families = impossible(table, table.records.codes), impossible(table, codes)
    plot = Board("first_table", f"{attribute}: ε = {epsilon:g}")
    plot.entitle("xy", f"{attribute}: real people and synthetic rows")
    plot.bars(labels, real, "real", name="real")
    plot.bars(labels, fake, "private", name="synthetic", marker={"pattern": HATCH})
    said = ""
    if families[0] is not None and families[1] is not None:
        said = (
            f"{families[1]:.1%} of the synthetic husbands and wives never married, of the real "
            f"ones {families[0]:.1%}. "
        )
        plot.bars(
            ["real", "synthetic"],
            families,
            ["real", "private"],
            2,
            labels=[f"{share:.1%}" for share in families],
        )
    top = min(1.0, 1.4 * float(real.max()))  # follows the attribute, never ε
    plot.set(y={"range": [0, top]})
    differences = [total_variation(p, q) for p, q in shares.values()]
    status = said + (
        f"At ε = {epsilon:g} the two charts of {attribute} differ by "
        f"{total_variation(real, fake):.1%} of the people; over all {len(shares)} attributes by "
        f"{np.mean(differences):.1%} on average. "
        f"The network has {plural(len(fitted.network_.edges), 'edge')}."
    )
    facts = {
        "impossible": families[1],
        "differ": float(np.mean(differences)),
        "here": total_variation(real, fake),
    }
    rows = preview(table, codes, 4, "First synthetic rows")
    return View(plot.figure, status, [rows], facts=facts)


panel = view.panel
