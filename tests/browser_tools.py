"""What tests in a real browser share: where it is, and a notebook that runs."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
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
CLEAR = "() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
# The layout stands still for six frames, and no panel on show is being drawn.
STILL = """() => new Promise(done => {
  let before = '', frames = 0;
  const look = () => {
    const boxes = [...document.querySelectorAll('.pdsynth-live, .pdsynth-chart')].map(node => node.getBoundingClientRect());
    const busy = [...document.querySelectorAll('.pdsynth-plot[aria-busy=true]')].some(node => node.offsetWidth);
    const now = boxes.map(b => [b.top, b.left, b.width, b.height].map(Math.round).join()).join(';');
    frames = !busy && now === before ? frames + 1 : 0;
    before = now;
    if (frames < 6) requestAnimationFrame(look); else done();
  };
  look(); })"""
READY = """async () => {
  const app = window.jupyterapp; await app.restored; const panel = app.shell.currentWidget;
  await panel.context.ready; await panel.sessionContext.ready; await panel.sessionContext.session.kernel.info; }"""
RUN_ALL = f"async () => {{ await ({READY})(); window.jupyterapp.commands.execute('notebook:run-all-cells'); }}"

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


class Desk:
    """One browser for all tests of a process that come one after another, and what they share in it.

    While it is open, Playwright's loop runs, and a test can't run one of its own: ``conftest.py``
    closes it before any test that drives no browser.
    """

    def __init__(self):
        self.playwright, self.chromium, self.kept = None, None, {}

    def browser(self):
        if not self.chromium:
            from playwright.sync_api import sync_playwright

            self.playwright = sync_playwright().start()
            self.chromium = self.playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        return self.chromium

    def keep(self, name, make):
        """What was made under this name, for as long as the browser is open."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def close(self):
        if self.chromium:
            self.chromium.close()
            self.playwright.stop()
            self.__init__()


DESK = Desk()


def end(server, seconds=20):
    """End a server of Jupyter's family, as a person does; one that hangs is killed.

    Asked to stop while a kernel starts it may wait for ever. Kernels notice that it is gone.
    """
    server.terminate()
    try:
        server.wait(seconds)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@contextmanager
def served(folder, own, *words, path="/api/status?token=t"):
    """A server of Jupyter's family over a folder, its settings in the folder ``own``; its address.

    ``{port}`` in its words is a free one. It is there once it answers at ``path``, if only that
    there is nothing.
    """
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    names = ("_CONFIG", "_DATA", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES")
    child = subprocess.Popen(
        [sys.executable, "-m", *(word.format(port=port) for word in words)],
        env={**os.environ, **{f"JUPYTER{name}_DIR": str(own / name) for name in names},
             "PYTHONPATH": str(ROOT)},
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(480):
            try:
                urllib.request.urlopen(address + path, timeout=5)
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.25)
        yield address
    finally:
        end(child)


def jupyterlab(folder):
    """What ``served`` needs to serve JupyterLab over a folder; its token is t."""
    return ["jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port={port}",
            "--LabApp.expose_app_in_browser=True", "--IdentityProvider.token=t",
            f"--ServerApp.root_dir={folder}"]  # fmt: skip


def notebook(*sources):
    """A notebook of these code cells."""
    cells = [
        {"cell_type": "code", "id": f"c{place}", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        for place, source in enumerate(sources)
    ]  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def watched(browser, url, width=1280, height=1000):
    """A page that collects its errors and reaches nothing but our own server.

    All have one context: JupyterLab's scripts are loaded and compiled once.
    """
    page = DESK.keep("context", browser.new_context).new_page()
    page.set_viewport_size({"width": width, "height": height})
    page.problems = []
    page.on("pageerror", lambda e: page.problems.extend([] if of_jupyterlab(e) else [str(e)]))
    page.on("console", lambda m: page.problems.append(m.text) if m.type == "error" else None)
    page.route(lambda address: not address.startswith(url), lambda route: route.abort())
    page.set_default_timeout(60_000)
    return page


def opened(page, url, name, *sources):
    """Write a notebook of these cells and open it, with its kernel ready; nothing is run."""
    body = json.dumps({"type": "notebook", "content": notebook(*sources)})
    answer = page.request.put(f"{url}/api/contents/{name}?token=t", data=body)
    assert answer.ok, answer.status_text
    page.goto(f"{url}/doc/tree/{name}?token=t&reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    page.evaluate(READY)


def still(panel):
    """Wait until what was asked for is drawn."""
    panel.locator(".pdsynth-plot[aria-busy=false]").wait_for()


def send(button, name, content):
    """Choose a file by keyboard."""
    with button.page.expect_file_chooser() as chooser:
        button.press("Enter")
    chooser.value.set_files({"name": name, "mimeType": "text/csv", "buffer": content})


def of_jupyterlab(error):
    """JupyterLab's core sometimes removes a node twice when a theme changes: not a line of ours."""
    stack = getattr(error, "stack", None) or ""
    places = [line for line in stack.splitlines() if line.strip().startswith("at ")]
    own = bool(places) and all("jlab_core" in line for line in places)
    return own and "removeChild" in str(error)
