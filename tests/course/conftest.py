"""A JupyterLab server and a browser for the tests of this folder."""

import json
import shutil

import pytest
from browser_tools import (
    ASK,
    CHROMIUM,
    FLAGS,
    ROOT,
    RUN_CELL,
    SMALL,
    jupyterlab,
    notebook,
    opened,
    panel_of,
    served,
    still,
    watched,
)

from pdsynth.course.panels import LESSONS


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
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def bench(browser, lab):
    """A page with a cell for each panel of the course, none of them run."""
    page = watched(browser, lab, 1440, 900)
    opened(page, lab, "panels.ipynb", *map(panel_of, LESSONS))
    yield page
    page.close()


@pytest.fixture
def fresh(bench):
    """``fresh(topic)``: that panel as it starts. The page had no error when the test is over."""

    def fresh(topic):
        place = list(LESSONS).index(topic)
        bench.evaluate(RUN_CELL, place)
        panel = bench.locator(".jp-Notebook .jp-Cell").nth(place).locator(".pdsynth-live")
        panel.locator(".main-svg").first.wait_for()
        still(panel)
        more = panel.get_by_role("button", name="More settings")
        if more.count():
            more.press("Enter")
        return panel

    bench.problems.clear()
    yield fresh
    assert not bench.problems, bench.problems
