"""The courtroom (lesson 16): a step, an ε and a number of runs; the lower bound climbs past the claim, or doesn't."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ... import audit
from ...audit.case import Case, shown
from ...plots import PALETTE, figure
from ..widgets import View, choice, live, slider

STEPS = (
    "datasynthesizer-double-spending", "hpprivbayes-raw-weights", "hpprivbayes-count-of-tables", "hpprivbayes-shared-row-noise",
    "hmprivbayes-clusters", "privabn-conditional-noise", "strict-joint-tables", "strict-value-weights", "datasynthesizer-one-record-more",
)  # fmt: skip
TOP, FEWEST, SEED = 8.0, 200, 16
BARS, TICKS = 40, [300, 1000, 3000, 10_000, 30_000]
WORLDS = ("D", "D'")
COLOURS = {"D": PALETTE["none"], "D'": PALETTE["private"]}


@lru_cache(maxsize=24)
def drawn(step: str, epsilon: float, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Statistics of both made-up tables, from a fixed stream: int64 (runs,) each."""
    return audit.samples(step, runs, epsilon=epsilon, seed=SEED)


def climb(samples: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, list[audit.Bound]]:
    """The bound after 200, … all runs."""
    runs = len(samples[0])
    sizes = np.unique(np.geomspace(min(FEWEST, runs), runs, 14).astype(int))
    return sizes, [audit.lower_bound(*(x[:size] for x in samples)) for size in sizes]


def draw(case: Case, samples: tuple[np.ndarray, np.ndarray], title: str) -> go.Figure:
    """Left: bound, claim, ceiling and theory against the number of runs. Right: what the adversary sees in the two worlds."""
    sizes, bounds = climb(samples)
    plot = figure(title=title, height=460)
    found = [max(b.epsilon, 0) for b in bounds]
    over = found[-1] > float(case.claimed)
    plot.add_scatter(x=sizes, y=found, mode="lines+markers", name="lost, at least (95 %)",
                     line={"color": PALETTE["attack" if over else "private"], "width": 2.5})  # fmt: skip
    plot.add_scatter(x=sizes, y=[audit.ceiling(int(n)) for n in sizes], mode="lines", name="a perfect attack would show",
                     line={"color": PALETTE["real"], "dash": "dot", "width": 1.5})  # fmt: skip
    line = {"color": PALETTE["none"], "dash": "dash", "width": 2}
    plot.add_scatter(x=sizes, y=[float(case.claimed)] * len(sizes), mode="lines", name="claimed ε", line=line)
    _histograms(plot, samples, bounds[-1].threshold)
    return plot.update_layout(
        xaxis={"domain": [0, 0.46], "type": "log", "title": "runs of each world", "tickvals": TICKS,
               "ticktext": [f"{n:,}" for n in TICKS]},
        yaxis={"range": [0, TOP], "title": "ε"},
        xaxis2={"domain": [0.58, 1], "anchor": "y2", "title": "statistic T"},
        yaxis2={"anchor": "x2", "title": "share of runs", "rangemode": "tozero"},
        barmode="overlay", bargap=0.05, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin={"t": 110},
    )  # fmt: skip


def _histograms(plot: go.Figure, samples: tuple[np.ndarray, np.ndarray], threshold: int) -> None:
    """Both worlds on the same bars; what lies beyond the middle 98 % is put into the outermost ones."""
    low, high = np.percentile(np.concatenate(samples), [1, 99])
    high = max(high, low + 1)
    edges = np.linspace(low, high, min(BARS, max(2, int(high - low) + 1)) + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    for name, world, pattern in zip(WORLDS, samples, ("", "/"), strict=True):
        share = np.histogram(np.clip(world, low, high), edges)[0] / len(world)
        plot.add_bar(x=middle, y=share, name=f"world {name}", xaxis="x2", yaxis="y2", opacity=0.65,
                     marker={"color": COLOURS[name], "pattern": {"shape": pattern, "fillmode": "overlay", "size": 6}})  # fmt: skip
    at = float(np.clip(threshold, low, high))
    plot.add_shape(type="line", xref="x2", yref="y2 domain", x0=at, x1=at, y0=0, y1=1,
                   line={"color": PALETTE["attack"], "dash": "dash", "width": 1.5})  # fmt: skip


def view(step: str = STEPS[0], epsilon: float = 1.0, runs: int = 10) -> View:
    """One audit; ``runs`` in thousands."""
    case, count = audit.case(step, epsilon), int(runs) * 1000
    samples = drawn(step, float(epsilon), count)
    bound = audit.lower_bound(*samples)
    lost = max(bound.epsilon, 0.0)
    verdict = audit.VIOLATED if lost > epsilon else audit.NOT_REFUTED
    title = f"{step}: ε = {epsilon:g}, {len(samples[0]):,} runs"
    status = (
        f"{verdict.capitalize()}. Claimed ε = {epsilon:g}, lost at least {shown(lost)} with 95 % confidence, in theory "
        f"{shown(case.theory(case.claimed))}; a perfect attack would show {shown(audit.ceiling(len(samples[0])))}."
    )
    words = (
        f"<p><b>What is tested.</b> {case.about} ({case.source}).<br><b>Pair of tables.</b> {case.tables}<br>"
        f"<b>Event.</b> {bound.event}</p><p><b>The ledger says.</b> {case.ledger().verdict()}</p>"
    )
    return View.told(draw(case, samples, title), status, [words])


def panel() -> Any:
    """The live panel; its tables are made up, so it spends nothing."""
    return live(
        view,
        step=choice("step", list(STEPS)),
        epsilon=slider("ε", 1.0, 0.1, 3.0, 0.1, tooltip="ε, what the step claims"),
        runs=slider("runs", 10, 1, 40, 1, unit="thousand", tooltip="runs of each world, in thousands"),
    )
