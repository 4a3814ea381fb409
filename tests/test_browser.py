"""A real browser opens JupyterLab, runs a lesson, moves its sliders by keyboard and looks at what changed."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
FLAGS = ("--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
         "--disable-sync").split()  # fmt: skip
RUN_ALL = """async () => {
  const app = window.jupyterapp; await app.restored; const panel = app.shell.currentWidget;
  await panel.context.ready; await panel.sessionContext.ready; await panel.sessionContext.session.kernel.info;
  app.commands.execute('notebook:run-all-cells'); }"""

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab server of our own, with settings of our own, over a copy of the notebooks."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", home / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    shutil.copytree(ROOT / "figures" / "lessons", home / "figures" / "lessons", dirs_exist_ok=True)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    own = {f"JUPYTER{name}_DIR": str(home / name) for name in ("_CONFIG", "_DATA", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES")}
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
               "--LabApp.expose_app_in_browser=True", "--IdentityProvider.token=t", f"--ServerApp.root_dir={home}"]  # fmt: skip
    env = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    for _ in range(240):
        try:
            urllib.request.urlopen(f"{url}/api/status?token=t")
            break
        except OSError:
            time.sleep(0.25)
    yield url
    server.terminate()
    server.wait(20)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, lab):
    """A page that collects its errors and reaches nothing but our own server."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.problems = []
    page.on("pageerror", lambda e: page.problems.append(str(e)))
    page.on("console", lambda m: page.problems.append(m.text) if m.type == "error" else None)
    page.route(lambda url: not url.startswith(lab), lambda route: route.abort())
    page.set_default_timeout(60_000)
    yield page
    page.close()


def open_and_run(page, lab, notebook):
    page.goto(f"{lab}/lab/tree/notebooks/{notebook}?token=t&reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")  # kernel ready: without this it is flaky
    page.evaluate(RUN_ALL)
    plot = page.locator(".pdsynth-live .gtitle")
    try:
        plot.first.wait_for(timeout=150_000)
    except Exception:
        page.screenshot(path=str(ROOT / "browser-failure.png"))
        raise
    page.locator(".pdsynth-live").first.scroll_into_view_if_needed()


def state(page):
    """Title of the figure, the drawn marks, and the text of the ledger table."""
    return (
        page.locator(".pdsynth-live .gtitle").first.text_content(),
        page.locator(".pdsynth-live [role=img]").first.get_attribute("aria-label"),
        page.locator(".pdsynth-live .pdsynth-table").first.inner_text(),
    )


def press(page, name, key, times=1):
    """Move a slider by keyboard and wait until the figure's title has changed."""
    before = page.locator(".pdsynth-live .gtitle").first.text_content()
    handle = page.get_by_role("slider", name=name).first
    handle.focus()
    for _ in range(times):
        handle.press(key)
    page.wait_for_function("t => document.querySelector('.pdsynth-live .gtitle').textContent !== t", arg=before)
    page.wait_for_timeout(400)  # the status sentence and the tables follow the figure


def test_hpprivbayes_panel_follows_the_keyboard(page, lab):
    open_and_run(page, lab, "07_hpprivbayes.ipynb")
    seen = [state(page)]
    for name, key, times in (("ε, total privacy budget", "ArrowRight", 3), ("k, largest number of parents", "ArrowRight", 1),
                             ("r = L2/L3", "ArrowLeft", 10), ("θ, threshold", "ArrowRight", 8)):  # fmt: skip
        press(page, name, key, times)
        seen.append(state(page))
    titles, alternatives, ledgers = zip(*seen, strict=True)
    assert len(set(titles)) == 5
    assert len(set(alternatives)) == 5
    assert "ε = 1.3" in titles[1] and "k = 3" in titles[2]
    assert ledgers[0] != ledgers[1], "the ledger follows ε"
    assert ledgers[2] != ledgers[3], "the ledger follows r"
    assert not page.problems, page.problems


def test_published_reading_turns_the_ledger_red(page, lab):
    open_and_run(page, lab, "07_hpprivbayes.ipynb")
    page.locator(".pdsynth-live select").first.select_option("published")
    page.wait_for_function("document.querySelector('.pdsynth-live .gtitle').textContent.includes('as published')")
    page.wait_for_timeout(400)
    text = page.locator(".pdsynth-live .pdsynth-table").first.inner_text()
    assert "NOT DIFFERENTIALLY PRIVATE" in text
    assert text.count("∞, unaccounted") == 3
    assert not page.problems, page.problems


def test_a_bad_combination_shows_its_message_in_the_panel(page, lab):
    open_and_run(page, lab, "07_hpprivbayes.ipynb")
    page.locator(".pdsynth-live select").first.select_option("published")
    page.wait_for_function("document.querySelector('.pdsynth-live .gtitle').textContent.includes('as published')")
    handle = page.get_by_role("slider", name="θ, threshold").first
    handle.focus()
    handle.press("End")  # every attribute but the sensitive one is now in B: d − k − l < 0
    page.locator(".pdsynth-live span[role=alert]").wait_for()
    assert "d − k − l" in page.locator(".pdsynth-live span[role=alert]").inner_text()
    assert not page.problems, page.problems
