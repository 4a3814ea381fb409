"""One page of JupyterLab for tests of panels: a cell for each panel of the course, and a slow one.

Cells are run by those who need their panels; a page of which little is run and shown is quick.
"""

from browser_tools import still

from pdsynth.course.panels import LESSONS

RUN_CELL = """async place => {
  const { shell, commands } = window.jupyterapp;
  shell.currentWidget.content.activeCellIndex = place;
  await commands.execute('notebook:clear-cell-output');  // of before
  await commands.execute('notebook:run-cell'); }"""
# A page of one cell is laid out much faster than one of all of them.
ALONE = """alone => document.querySelectorAll('.jp-Notebook .jp-Cell').forEach((cell, place) => {
  cell.style.display = alone === null || place === alone ? '' : 'none'; })"""

# A panel that takes its time, and has a button.
SLOW = """\
import time
import plotly.graph_objects as go
from pdsynth.course.widgets import Try, View, live, slider

def draw(x):
    time.sleep(1.2 if x == 3 else 0)
    return View(go.Figure().add_scatter(y=[x]), f"It is {x}. And so on.", facts={"x": x})

live(draw, x=slider("x", 1, 0, 5, 1),
     tries=[Try("make it three", {"x": 3}, "{now.x} after {was.x}.", lambda was, now: True)])"""


def panel_of(topic):
    """The cell that shows a panel of the course."""
    return f"from pdsynth.course.panels import {topic}\n{topic}.panel()"


BENCH = {topic: panel_of(topic) for topic in LESSONS} | {"slow": SLOW}  # its cells, by name


def panel_in(bench, name):
    """The panel of one cell of the bench."""
    cell = bench.locator(".jp-Notebook .jp-Cell").nth(list(BENCH).index(name))
    return cell.locator(".pdsynth-live")


def run_panel(bench, name):
    """That panel as it starts."""
    bench.evaluate(RUN_CELL, list(BENCH).index(name))
    panel = panel_in(bench, name)
    panel.locator(".main-svg").first.wait_for()
    still(panel)
    return panel
