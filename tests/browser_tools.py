"""What tests in a real browser share: where it is, and a notebook that runs."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = (
    os.environ.get("BROWSER_PATH")
    or shutil.which("chromium")
    or shutil.which("google-chrome")
    or shutil.which("chromium-browser")
)
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync"
).split()
RUN_ALL = """async () => {
  const app = window.jupyterapp; await app.restored; const panel = app.shell.currentWidget;
  await panel.context.ready; await panel.sessionContext.ready; await panel.sessionContext.session.kernel.info;
  app.commands.execute('notebook:run-all-cells'); }"""

# A panel of its own: what every live panel promises, whatever the lesson.
SMALL = """\
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from pdsynth.course.widgets import View, live, slider

def draw(epsilon, k):
    if k > 3:
        raise ValueError(f"k = {k} is too large: take k ≤ 3")
    plot = make_subplots(1, 2)
    plot.add_scatter(y=[0, 1 / epsilon], row=1, col=1)
    plot.add_bar(y=[k], row=1, col=2)
    plot.update_layout(title_text=f"ε = {epsilon:g}, k = {k}")
    return View(plot, f"The scale is {1 / epsilon:.3g}.", [f"<details><summary>More</summary>ε is {epsilon:g}</details>"])

live(draw, epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"), k=slider("k", 1, 0, 5, 1))"""
ASK = """\
from pdsynth.course.guess import guess
import pandas as pd
guess("How many legs have two cats?", lambda: (8, pd.DataFrame({"cats": [2]})), unit="legs")"""


def small():
    cell = {
        "cell_type": "code",
        "id": "small",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": SMALL,
    }
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [{**cell, "id": i, "source": s} for i, s in (("small", SMALL), ("ask", ASK))]
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def of_jupyterlab(error):
    """JupyterLab's core sometimes removes a node twice when a theme changes: not a line of ours."""
    stack = getattr(error, "stack", None) or ""
    places = [line for line in stack.splitlines() if line.strip().startswith("at ")]
    own = bool(places) and all("jlab_core" in line for line in places)
    return own and "removeChild" in str(error)
