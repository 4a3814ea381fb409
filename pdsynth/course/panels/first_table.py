"""Lesson 00: ε moves the one-way marginals of a synthetic Adult table."""

import numpy as np

from ...algorithms import PrivBayes
from ...core import plural, total_variation
from ..widgets.controls import slider
from ..widgets.view import Try, View
from .drawing import Board, friendly, ink
from .panel import live_panel
from .table import TeachingTable, adult
from .words import attribute_choice, html_table, percent

HATCH = {"shape": "/", "fillmode": "overlay", "fgcolor": "rgba(255,255,255,.6)", "size": 6}
WED, NEVER = ("Husband", "Wife"), "Never-married"


def impossible(table: TeachingTable, codes: np.ndarray) -> float | None:
    """Share of husbands and wives who never married; None for a table without such columns."""
    masks = families(table, codes)
    return None if masks is None else float((masks[0] & masks[1]).sum() / max(1, masks[0].sum()))


def families(table: TeachingTable, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Which rows are husbands or wives, and which never married: two bool arrays (rows,)."""
    schema = table.schema
    if not {"relationship", "marital-status"} <= set(schema.names):
        return None
    role, status = (codes[:, schema.index(a)] for a in ("relationship", "marital-status"))
    wed = np.isin(role, [schema["relationship"].labels.index(name) for name in WED])
    return wed, status == schema["marital-status"].labels.index(NEVER)


def rows_of(table: TeachingTable, codes: np.ndarray, most: int = 4) -> str:
    """The first synthetic rows, impossible ones among them, which are red."""
    masks = families(table, codes)
    broken = np.zeros(len(codes), bool) if masks is None else masks[0] & masks[1]
    shown = [*np.flatnonzero(broken)[:1], *np.flatnonzero(~broken)[: most - 1]]
    frame = table.schema.decode(codes[shown])
    rows = [
        [
            f"<span style='color:{ink('attack')}'><b>{text}</b></span>" if bad else text
            for text in row
        ]
        for bad, row in zip(broken[shown], frame.astype(str).to_numpy(), strict=True)
    ]
    return f"<b>Synthetic rows; an impossible one is red.</b> {html_table(list(frame), rows)}"


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "hardly any budget",
            {"epsilon": 0.05},
            "{now.impossible:.1%} of husbands and wives never married; at ε = 0.2 it was "
            "{was.impossible:.1%}. The bars differ by {now.differ:.1%} on average instead of "
            "{was.differ:.1%}.",
            lambda was, now: now.impossible > 0.05,
        ),
        Try(
            "a lot of budget",
            {"epsilon": 4.0},
            "the bars differ by {now.differ:.1%} on average ({was.differ:.1%} at ε = 0.2), and "
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
    epsilon=slider("ε", 0.2, 0.05, 4.0, 0.05, tooltip="ε, privacy budget"),
    attribute=attribute_choice(),
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
    broken = impossible(table, table.records.codes), impossible(table, codes)
    plot = Board("first_table", f"{attribute}: ε = {epsilon:g}")
    plot.entitle("xy", f"{friendly(attribute).capitalize()}: real people and synthetic rows")
    plot.bars(labels, real, "real", name="real people")
    plot.bars(labels, fake, "private", name="synthetic rows", marker={"pattern": HATCH})
    lead = ""
    if broken[0] is not None and broken[1] is not None:
        lead = (
            f"{percent(broken[1])} of synthetic husbands and wives never married. Of the real "
            f"ones {percent(broken[0])}. "
        )
        plot.bars(
            ["real people", "synthetic rows"],
            broken,
            ["real", "attack"],
            2,
            labels=[f"<b>{percent(share)}</b>" for share in broken if share is not None],
            textfont={"size": 18},
        )
    top = min(1.0, 1.4 * float(real.max()))  # follows the attribute, never ε
    plot.set(y={"range": [0, top]})
    differences = [total_variation(p, q) for p, q in shares.values()]
    status = lead + (
        f"Synthetic {friendly(attribute)} is off by {percent(total_variation(real, fake))} of the "
        f"people. Over all {len(shares)} attributes by {np.mean(differences):.1%} on average. "
        f"The network has {plural(len(fitted.network_.edges), 'edge')}."
    )
    facts = {
        "impossible": broken[1],
        "differ": float(np.mean(differences)),
        "here": total_variation(real, fake),
    }
    return View(plot.figure, status, [rows_of(table, codes)], facts=facts)


panel = view.panel
