"""A runner of notebooks, and JupyterLab in a browser, for the tests of this folder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bench_tools import ALONE, BENCH, run_panel
from browser_tools import ASK, DESK, ROOT, SMALL, jupyterlab, notebook, opened, served, watched

from pdsynth.course.panels import LESSONS


@pytest.fixture(scope="session")
def run():
    """``run(paths, student=False, any_panels=False, cache=None)``: what is wrong with notebooks.

    All in one process, which forks a kernel for each (warm.py).
    """
    paths = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    runner = subprocess.Popen(
        [sys.executable, "-c", "import warm; warm.serve()"], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip

    def run(paths, student=False, any_panels=False, cache=None):
        asked = [[str(path) for path in paths], student, any_panels, cache and str(cache)]
        runner.stdin.write(json.dumps(asked) + "\n")
        runner.stdin.flush()
        return json.loads(runner.stdout.readline())

    with runner:
        yield run


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A JupyterLab server of our own, with settings of our own, over a copy of the notebooks."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(
        ROOT / "notebooks", home / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints")
    )
    small = json.dumps(notebook(SMALL, ASK))
    (home / "notebooks" / "small.ipynb").write_text(small, encoding="utf-8")
    shutil.copytree(
        ROOT / "figures", home / "figures", ignore=shutil.ignore_patterns("*.csv", "*.json", "*.py")
    )
    whole = (
        home / "LAB_SETTINGS" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    )
    whole.parent.mkdir(parents=True)
    whole.write_text('{"windowingMode": "none"}')  # every cell is laid out, also outside the window
    with served(home, home, *jupyterlab(home)) as address:
        yield address


@pytest.fixture(scope="module")
def bench(browser, lab):
    """A page with a cell for each panel of the course and a slow one. Some may have been run."""

    def make():
        page = watched(browser, lab, 1440, 900)
        opened(page, lab, "panels.ipynb", *BENCH.values())
        return page

    page = DESK.keep("bench", make)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.evaluate(ALONE, None)
    page.problems.clear()
    return page


@pytest.fixture
def fresh(bench):
    """``fresh(topic)``: that panel as it starts. The page had no error when the test is over."""

    def fresh(topic):
        bench.evaluate(ALONE, list(LESSONS).index(topic))
        panel = run_panel(bench, topic)
        more = panel.get_by_role("button", name="More settings")
        if more.count():
            more.press("Enter")
        return panel

    bench.problems.clear()
    yield fresh
    assert not bench.problems, bench.problems
