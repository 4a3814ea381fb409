"""The lessons behind other doors: Voilà, JupyterLab over the folder, an exported page. No picture
is broken, and panels show themselves."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from browser_tools import CHROMIUM, ROOT, jupyterlab, served

LESSONS = ("01_dp_mechanisms", "16_auditing")  # 16 has a picture of another folder, too
PICTURES = (
    "() => [...document.images].map(i => [i.getAttribute('src').slice(0, 60), i.naturalWidth])"
)

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The folder of notebooks alone, as a hub mounts it: nothing of the project lies above."""
    folder = tmp_path_factory.mktemp("doors") / "notebooks"
    shutil.copytree(
        ROOT / "notebooks", folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints", "src")
    )
    return folder


def visit(browser, address, path):
    """A page that reaches nothing but this server."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.route(
        lambda url: not url.startswith((address, "data:", "blob:")), lambda route: route.abort()
    )
    page.set_default_timeout(240_000)
    page.goto(f"{address}/{path}", wait_until="domcontentloaded")
    return page


def whole(page, least):
    """Every picture arrives; there are at least so many."""
    try:
        page.wait_for_function(
            "least => document.images.length >= least"
            " && [...document.images].every(image => image.complete && image.naturalWidth)",
            arg=least,
            timeout=30_000,
        )
    except playwright.TimeoutError:
        pytest.fail(f"broken, of {least} or more: {page.evaluate(PICTURES)}")


def test_voila_over_the_folder_shows_a_lesson_its_pictures_and_its_panel(browser, home):
    words = ["voila", ".", "--no-browser", "--port={port}", "--Voila.ip=127.0.0.1"]
    with served(home, home.parent, *words, path="/static/") as address:
        page = visit(browser, address, f"voila/render/{LESSONS[0]}.ipynb")
        page.locator(".pdsynth-live .main-svg").first.wait_for()
        whole(page, 1)
        assert page.locator("h1").first.text_content().startswith(LESSONS[0][:2])
        page.close()


def put_in_front(page, opens, path):
    """Opens the notebook, and again where a launcher that came late lies over it."""
    title = page.locator(".jp-NotebookPanel:visible .jp-RenderedMarkdown h1").first
    for last in (False, False, False, True):
        page.evaluate(opens, path)
        try:
            return title.wait_for(timeout=60_000)
        except playwright.TimeoutError:
            if last:
                raise


def test_jupyterlab_over_the_folder_shows_pictures_of_lessons_and_solutions(browser, home):
    opens = """async path => {
      const { commands, restored } = window.jupyterapp; await restored;
      await commands.execute('docmanager:open', {path}); }"""
    lessons = [f"{LESSONS[1]}.ipynb", f"solutions/{LESSONS[1]}.ipynb"]
    with served(home, home.parent, *jupyterlab(home)) as address:
        # The first stands in the address: an empty window gets a launcher.
        page = visit(browser, address, f"lab/tree/{lessons[0]}?token=t&reset")
        page.wait_for_function("window.jupyterapp")
        front = page.locator(".jp-NotebookPanel:visible")
        for path in lessons:
            put_in_front(page, opens, path)
            last = front.locator(".jp-RenderedMarkdown img:visible").first
            for _ in range(60):  # cells outside the window are rendered when they come near
                if last.count():
                    break
                page.mouse.move(700, 600)
                page.mouse.wheel(0, 700)
                page.wait_for_timeout(300)
            last.scroll_into_view_if_needed()
            whole(page, 1)
        page.close()


def test_an_exported_page_shows_pictures_and_the_panel_as_a_drawing(browser, home):
    command = re.search(r"`jupyter (nbconvert [^`]*)07_hpprivbayes.ipynb`",
                        (home / "README.md").read_text("utf-8"))[1].split()  # fmt: skip
    path = home / f"{LESSONS[0]}.ipynb"
    run = subprocess.run(
        [sys.executable, "-m", "jupyter", *command, path.name],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    html = path.with_suffix(".html")
    assert "LivePanel(children" not in html.read_text("utf-8")
    assert 'src="pictures/' not in html.read_text("utf-8"), "the page is whole in any folder"
    page = visit(browser, home.as_uri(), html.name)
    assert page.locator(".pdsynth-still > svg").count() == 1
    assert page.locator(".pdsynth-still > p").first.text_content().strip()
    whole(page, 1)
    page.close()
