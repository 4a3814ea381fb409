"""What θ decides in the thesis' HPPrivBayes: who is in group A, and which group has more noise.

Arithmetic on raw associations, without a fit: the printed scales of Algorithms 5 and 6.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..core import BudgetDegenerate, marginal, mutual_information
from ..datasets.tables import Dataset
from ..published.budgets import printed_group_a, printed_scales, sensitivity_weights
from .drawing import finish, log_ticks, panels
from .results import Key, select

MEMBERS, SCALE_A, SCALE_B = "attributes in A", "printed scale of A", "printed scale of B, median"


def rows(dataset: Dataset, settings: Any) -> Iterator[tuple[str, float, float, str]]:
    """Metric, θ, value and note, at the largest ε and the thesis' k, L₁ and r."""
    schema = dataset.schema
    codes = schema.encode(dataset.frame)
    d, s, k = len(schema), schema.index(str(dataset.sensitive)), int(settings.k)
    sizes, r = schema.sizes, Fraction(settings.r)
    tied = [
        np.inf if j == s else mutual_information(marginal(codes, sizes, (j, s))) for j in range(d)
    ]
    tables = Fraction(str(settings.epsilons[-1])) * (1 - Fraction(str(settings.L1)))
    epsilon2, epsilon3 = tables * r / (1 + r), tables / (1 + r)
    for theta in settings.theta_range:
        b = [j for j in range(d) if tied[j] < theta]
        yield MEMBERS, theta, float(d - len(b)), ""
        try:
            yield SCALE_A, theta, float(printed_group_a(d, k, len(b), epsilon2)), ""
        except BudgetDegenerate:
            yield SCALE_A, theta, float("nan"), f"d − k − l = {d - k - len(b)}"
        scales = [
            float(scale)
            for j in b
            for scale in printed_scales(
                sensitivity_weights(marginal(codes, sizes, (j,))), len(b), epsilon3
            )
        ]
        yield SCALE_B, theta, float(np.median(scales)) if scales else float("nan"), ""


def trials(dataset: Dataset, settings: Any) -> pd.DataFrame:
    """The rows of :func:`rows` with the columns of all figures."""
    fixed = {"method": "HPPrivBayes", "guarantee": "none", "k": settings.k, "r": settings.r}
    rest = {"epsilon": float(settings.epsilons[-1]), "repeat": 0, "seed": 0}
    return pd.DataFrame(
        [
            {
                "metric": metric,
                **fixed,
                "theta": f"{theta:g}",
                **rest,
                "value": value,
                "note": note,
            }
            for metric, theta, value, note in rows(dataset, settings)
        ]
    )


def draw(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Who is in A, and the printed scales, against θ."""
    plot = panels(2, ["group A", "noise as printed"], horizontal_spacing=0.12)
    looks = {
        MEMBERS: (1, "#767676", "circle"),
        SCALE_A: (2, "#D55E00", "circle"),
        SCALE_B: (2, "#0072B2", "square"),
    }
    for metric, (column, colour, symbol) in looks.items():
        part = select(data, metric=metric)
        plot.add_scatter(
            x=part["theta"].astype(float),
            y=part["value"],
            name=metric,
            mode="lines+markers",
            row=1,
            col=column,
            line={"color": colour},
            marker={"symbol": symbol, "size": 8},
        )
    ticks = [t for t in settings.theta_range if t in (0.01, 0.03, 0.1, 0.3)]
    plot.update_xaxes(type="log", title_text="θ, bits", tickvals=ticks)
    plot.update_yaxes(rangemode="tozero", title_text="attributes", col=1)
    plot.update_yaxes(title_text="scale, records", **log_ticks([30, 100, 300]), col=2)
    subtitle = f"arithmetic; ε = {settings.epsilons[-1]:g}, k = {settings.k}, r = {settings.r}"
    return finish(plot, data, "What θ decides", subtitle, 420)
