"""A real browser opens JupyterLab, runs a lesson, moves its sliders by keyboard and looks at what
changed."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]


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
    return {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab server of our own, with settings of our own, over a copy of the notebooks."""
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(
        ROOT / "notebooks", home / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints")
    )
    (home / "notebooks" / "small.ipynb").write_text(json.dumps(small()), encoding="utf-8")
    shutil.copytree(
        ROOT / "figures", home / "figures", ignore=shutil.ignore_patterns("*.csv", "*.json", "*.py")
    )
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    own = {
        f"JUPYTER{name}_DIR": str(home / name)
        for name in ("_CONFIG", "_DATA", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES")
    }
    whole = (
        home / "LAB_SETTINGS" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    )
    whole.parent.mkdir(parents=True)
    whole.write_text('{"windowingMode": "none"}')  # every cell is laid out, also outside the window
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--LabApp.expose_app_in_browser=True",
        "--IdentityProvider.token=t",
        f"--ServerApp.root_dir={home}",
    ]
    env = {**os.environ, **own, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
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


def of_jupyterlab(error):
    """JupyterLab's core sometimes removes a node twice when a theme changes: not a line of ours."""
    stack = getattr(error, "stack", None) or ""
    places = [line for line in stack.splitlines() if line.strip().startswith("at ")]
    own = bool(places) and all("jlab_core" in line for line in places)
    return own and "removeChild" in str(error)


@pytest.fixture
def page(browser, lab):
    """A page that collects its errors and reaches nothing but our own server."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.problems = []
    page.on("pageerror", lambda e: page.problems.extend([] if of_jupyterlab(e) else [str(e)]))
    page.on("console", lambda m: page.problems.append(m.text) if m.type == "error" else None)
    page.route(lambda url: not url.startswith(lab), lambda route: route.abort())
    page.set_default_timeout(60_000)
    yield page
    page.close()


def open_and_run(page, lab, notebook):
    page.goto(f"{lab}/lab/tree/notebooks/{notebook}?token=t&reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_selector(
        ".jp-Notebook-ExecutionIndicator[data-status=idle]"
    )  # kernel ready: without this it is flaky
    page.evaluate(RUN_ALL)
    plot = page.locator(".pdsynth-live .gtitle")
    try:
        plot.first.wait_for(timeout=150_000)
    except Exception:
        page.screenshot(path=str(ROOT / "browser-failure.png"))
        raise
    page.locator(".pdsynth-live").first.scroll_into_view_if_needed()


def press(page, name, key, times=1, title=None):
    """Move a slider by keyboard; wait until the figure's title contains ``title``, or has changed.
    """
    before = page.locator(".pdsynth-live .gtitle").first.text_content()
    handle = page.get_by_role("slider", name=name).first
    handle.focus()
    for _ in range(times):
        handle.press(key)
    title_now = "document.querySelector('.pdsynth-live .gtitle').textContent"
    page.wait_for_function(
        f"([old, now]) => now ? {title_now}.includes(now) : {title_now} !== old",
        arg=[before, title],
    )


def table(page):
    """The text of the panel's first table; it is on the page before its figure is drawn."""
    return page.locator(".pdsynth-live .pdsynth-table").first.text_content()


def title_is(page, text):
    page.wait_for_function(
        "t => document.querySelector('.pdsynth-live .gtitle')?.textContent === t", arg=text
    )


def test_any_panel_by_keyboard_with_its_names_values_and_errors(page, lab):
    open_and_run(page, lab, "small.ipynb")
    title_is(page, "ε = 1, k = 1")
    epsilon, k = (
        page.get_by_role("slider", name="ε, privacy budget"),
        page.get_by_role("slider", name="k", exact=True),
    )
    press(page, "ε, privacy budget", "ArrowRight", 2)
    title_is(page, "ε = 1.2, k = 1")
    assert epsilon.get_attribute("aria-valuetext") == "1.2"
    number = page.get_by_label("ε, privacy budget").and_(page.locator("input"))
    number.fill("2.5")
    number.press("Enter")
    title_is(page, "ε = 2.5, k = 1")
    assert page.get_by_role("status").filter(has_text="The scale is 0.4").count() == 1
    assert "The scale is 0.4" in page.get_by_role("img", name="ε = 2.5").get_attribute("aria-label")
    k.focus()
    k.press("End")
    page.get_by_role("alert").filter(has_text="k = 5 is too large: take k ≤ 3").wait_for()
    title_is(page, "ε = 2.5, k = 1")
    for _ in range(2):
        k.press("ArrowLeft")
    title_is(page, "ε = 2.5, k = 3")
    assert page.get_by_role("alert").filter(has_text="too large").count() == 0
    assert not page.problems, page.problems


@pytest.mark.slow
def test_an_opened_table_stays_open_and_a_dark_page_gets_light_text(page, lab):
    open_and_run(page, lab, "small.ipynb")
    page.locator(".pdsynth-live summary").click()
    press(page, "ε, privacy budget", "ArrowRight")
    page.locator(".pdsynth-live details[open]").filter(has_text="ε is 1.1").wait_for()
    colours = "() => ['.xtick text', '.y2tick text', '.gtitle'].map(s => getComputedStyle(document.querySelector(s)).fill)"
    assert set(page.evaluate(colours)) == {"rgb(51, 51, 51)"}
    page.evaluate(
        "() => { window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'}); }"
    )
    page.wait_for_function(
        "c => eval(c)().every(fill => fill === 'rgb(224, 224, 224)')", arg=colours
    )
    page.evaluate(
        "() => { window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'}); }"
    )
    page.wait_for_function("c => eval(c)().every(fill => fill === 'rgb(51, 51, 51)')", arg=colours)
    assert not page.problems, page.problems


@pytest.mark.slow
def test_a_reloaded_page_shows_the_panel_where_it_was(page, lab):
    open_and_run(page, lab, "small.ipynb")
    press(page, "ε, privacy budget", "ArrowRight", 5)
    title_is(page, "ε = 1.5, k = 1")
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    )
    page.evaluate("async () => { await window.jupyterapp.shell.currentWidget.context.save(); }")
    page.goto(f"{lab}/lab/tree/notebooks/small.ipynb?token=t")
    title_is(page, "ε = 1.5, k = 1")
    press(page, "ε, privacy budget", "ArrowRight")
    title_is(page, "ε = 1.6, k = 1")
    assert not page.problems, page.problems


def marks(page):
    """What is drawn: the bars and the lines of the figure."""
    return page.evaluate(
        "() => [...document.querySelectorAll('.pdsynth-live .cartesianlayer path')].map(p => p.getAttribute('d')).join()"
    )


def test_hpprivbayes_panel_follows_the_keyboard(page, lab):
    open_and_run(page, lab, "07_hpprivbayes.ipynb")
    drawn, ledgers = [marks(page)], [table(page)]
    for name, key, times, title in (
        ("ε, total privacy budget", "ArrowRight", 3, "ε = 1.3"),
        ("k, largest number of parents", "ArrowRight", 1, "k = 3"),
        ("r = L2/L3", "ArrowLeft", 10, "r = 0.23"),
        ("θ, threshold", "ArrowRight", 8, "θ = 0.18"),
    ):
        press(page, name, key, times, title)
        drawn.append(marks(page))
        ledgers.append(table(page))
    assert len(set(drawn)) == 5, "network, noise and distances follow every slider"
    start, epsilon, k, r, theta = ledgers
    assert len({start, epsilon, r, theta}) == 4, "the ledger follows ε, r and θ"
    assert "13/10" in epsilon
    assert "ε = 1.3, k = 3, r = 0.23, θ = 0.18" in page.locator(
        ".pdsynth-live [role=img]"
    ).first.get_attribute("aria-label")
    assert not page.problems, page.problems


def choose_published(page):
    page.locator(".pdsynth-live select").first.select_option("published")
    page.wait_for_function(
        "document.querySelector('.pdsynth-live .gtitle').textContent.includes('as published')"
    )


@pytest.mark.slow
def test_published_reading_turns_the_ledger_red(page, lab):
    open_and_run(page, lab, "07_hpprivbayes.ipynb")
    choose_published(page)
    ledger = (
        page.locator(".pdsynth-live .pdsynth-table")
        .filter(has_text="NOT DIFFERENTIALLY PRIVATE")
        .first
    )
    ledger.wait_for()
    # the text, not its layout: JupyterLab doesn't lay out cells outside the window
    assert ledger.text_content().count("∞, unaccounted") == 3
    assert not page.problems, page.problems


@pytest.mark.slow
def test_a_bad_combination_shows_its_message_in_the_panel(page, lab):
    open_and_run(page, lab, "07_hpprivbayes.ipynb")
    choose_published(page)
    handle = page.get_by_role("slider", name="θ, threshold").first
    handle.focus()
    handle.press("End")  # every attribute but the sensitive one is now in B: d − k − l < 0
    alert = page.locator(".pdsynth-live span[role=alert]").filter(has_text="d − k − l")
    alert.wait_for()
    assert "as published" in page.locator(".pdsynth-live .gtitle").first.text_content(), (
        "the last good figure stays"
    )
    assert not page.problems, page.problems


@pytest.mark.slow
def test_custom_network_panel_follows_its_controls(page, lab):
    """Heat maps, disclosure and utility follow ε, k and the sensitive attribute (lesson 14)."""
    open_and_run(page, lab, "14_custom_networks_and_disclosure.ipynb")
    drawn, said = [marks(page)], [page.locator(".pdsynth-live [role=status]").first.text_content()]
    press(
        page,
        "ε, total privacy budget",
        "ArrowRight",
        10,
        "Custom network for relationship: ε = 2, k = auto",
    )
    for place, option, title in (
        (0, "2", "k = 2"),
        (1, "sex", "Custom network for sex"),
        (2, "none (the paper)", "no noise"),
    ):
        drawn.append(marks(page))
        said.append(page.locator(".pdsynth-live [role=status]").first.text_content())
        page.locator(".pdsynth-live select").nth(place).select_option(label=option)
        page.wait_for_function(
            "t => document.querySelector('.pdsynth-live .gtitle').textContent.includes(t)",
            arg=title,
        )
    assert len(set(drawn)) == 4, "the figure follows every control"
    assert len(set(said)) == 4
    assert "7/150 (known before the run)" in said[0]
    assert "7/75 (known before the run)" in said[1]
    final = page.locator(".pdsynth-live [role=status]").filter(has_text="finds sex")
    final.wait_for()
    assert "known before the run" not in final.text_content(), (
        "without noise nothing is known but infinity"
    )
    assert page.locator(".pdsynth-live .pdsynth-table").filter(has_text="NOT PRIVATE").count() >= 1
    assert not page.problems, page.problems


def moved(page, steps):
    """Press the keys of ``steps``: what is drawn, and the first table, before them and after each.
    """
    drawn, ledgers = [marks(page)], [table(page)]
    for name, key, times, title in steps:
        press(page, name, key, times, title)
        drawn.append(marks(page))
        ledgers.append(table(page))
    return drawn, ledgers


def dark(page, on):
    theme = f"JupyterLab {'Dark' if on else 'Light'}"
    page.evaluate(
        "t => { window.jupyterapp.commands.execute('apputils:change-theme', {theme: t}); }", theme
    )
    ink = "rgb(224, 224, 224)" if on else "rgb(51, 51, 51)"
    page.wait_for_function(
        "ink => getComputedStyle(document.querySelector('.pdsynth-live .gtitle')).fill === ink",
        arg=ink,
    )


@pytest.mark.slow
def test_hmprivbayes_panel_by_keyboard_published_refused_reloaded_and_dark(page, lab):
    open_and_run(page, lab, "10_hmprivbayes.ipynb")
    drawn, ledgers = moved(
        page,
        (
            ("ε, total privacy budget", "ArrowRight", 4, "ε = 1.2"),
            ("k, number of clusters", "ArrowLeft", 1, "k = 2"),
            ("l, largest number of parents", "ArrowLeft", 1, "l = 1"),
            ("η, weakest tie", "ArrowRight", 10, "η = 0.6"),
        ),
    )
    assert len(set(drawn)) == 5, "clusters, networks, noise and distances follow every slider"
    assert "6/5" in ledgers[1]
    assert len(set(ledgers)) >= 4, "the ledger follows ε, k and l"
    page.locator(".pdsynth-live select").first.select_option("published")
    page.wait_for_function(
        "document.querySelector('.pdsynth-live .gtitle').textContent.includes('as published')"
    )
    ledger = (
        page.locator(".pdsynth-live .pdsynth-table")
        .filter(has_text="NOT DIFFERENTIALLY PRIVATE")
        .first
    )
    assert ledger.text_content().count("∞, unaccounted") == 1
    assert (
        "(11.88 without the raw entropies)" in page.get_by_role("status").first.text_content()
    )  # 1.2 · (26·51 + 2·104)/155
    page.locator(".pdsynth-live select").first.select_option("strict")
    page.wait_for_function(
        "document.querySelector('.pdsynth-live .gtitle').textContent.includes('strict')"
    )
    page.get_by_role("slider", name="k, number of clusters").first.press(
        "End"
    )  # 20 clusters of 15 attributes
    page.locator(".pdsynth-live span[role=alert]").filter(has_text="1 to d = 15").wait_for()
    assert "k = 2" in page.locator(".pdsynth-live .gtitle").first.text_content(), (
        "the last good figure stays"
    )
    press(page, "k, number of clusters", "Home", 1, "k = 1")
    dark(page, True)
    dark(page, False)
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    )
    page.evaluate("async () => { await window.jupyterapp.shell.currentWidget.context.save(); }")
    page.goto(f"{lab}/lab/tree/notebooks/10_hmprivbayes.ipynb?token=t")
    page.wait_for_function(
        "document.querySelector('.pdsynth-live .gtitle')?.textContent.includes('ε = 1.2, k = 1, l = 1, η = 0.6')"
    )
    press(page, "ε, total privacy budget", "ArrowRight", 1, "ε = 1.25")
    assert not page.problems, page.problems


@pytest.mark.slow
def test_privabn_panel_by_keyboard_and_dark(page, lab):
    open_and_run(page, lab, "11_privabn.ipynb")
    drawn, ledgers = moved(
        page,
        (
            ("ε, total privacy budget", "ArrowRight", 5, "ε = 0.1"),
            ("α, attributes in a query", "ArrowRight", 2, "α = 5"),
        ),
    )
    assert len(set(drawn)) == 3, "networks, errors and the two worlds follow both sliders"
    assert ledgers[0] != ledgers[1] == ledgers[2], (
        "α is a question about the release, and costs nothing"
    )
    assert "as published" in ledgers[0] and ledgers[0].count("∞, unaccounted") >= 1
    strict = page.locator(".pdsynth-live .pdsynth-table").nth(1).text_content()
    assert "NOT PRIVATE: reproducible" in strict and "1/10" in strict
    said = page.get_by_role("status").first.text_content()
    assert "strict 0.1." in said and "people are alone in some column" in said
    dark(page, True)
    dark(page, False)
    assert not page.problems, page.problems


@pytest.mark.slow
def test_the_audit_s_bound_climbs_past_the_claim(page, lab):
    open_and_run(page, lab, "16_auditing.ipynb")
    status = page.get_by_role("status").filter(has_text="Claimed ε")
    status.filter(has_text="Violated. Claimed ε = 1,").wait_for()
    drawn = [marks(page)]
    press(page, "ε, what the step claims", "ArrowLeft", 7, "ε = 0.3")
    status.filter(has_text="Not refuted. Claimed ε = 0.3").wait_for()
    drawn.append(marks(page))
    press(page, "runs of each world", "Home", 1, "1,000 runs")
    drawn.append(marks(page))
    page.locator(".pdsynth-live select").first.select_option("hpprivbayes-shared-row-noise")
    status.filter(has_text="Violated. Claimed ε = 0.3").wait_for()
    page.wait_for_function(
        "document.querySelector('.pdsynth-live .gtitle').textContent.includes('shared-row-noise: ε = 0.3, 1,000 runs')"
    )
    drawn.append(marks(page))
    assert len(set(drawn)) == 4, "bound and histograms follow every control"
    assert "The ledger says" in table(page)
    assert not page.problems, page.problems


@pytest.mark.slow
def test_ppba_panel_by_keyboard_published_and_dark(page, lab):
    open_and_run(page, lab, "12_ppba.ipynb")
    drawn, ledgers = moved(
        page,
        (
            ("ε, total privacy budget", "ArrowRight", 2, "ε = 1.2"),
            ("k, largest number of parents", "ArrowRight", 1, "k = 2"),
            ("q, budget of a table", "End", 1, "q = 2"),
        ),
    )
    assert len(set(drawn)) == 4, "network, budgets, distances and losses follow every slider"
    assert "6/5" in ledgers[1] and ledgers[2] != ledgers[1]
    said = page.get_by_role("status").first.text_content()
    assert "true ε = 1.2;" in said and "the lightest" in said
    page.locator(".pdsynth-live select").first.select_option("published")
    page.wait_for_function(
        "document.querySelector('.pdsynth-live .gtitle').textContent.includes('as published')"
    )
    ledger = (
        page.locator(".pdsynth-live .pdsynth-table")
        .filter(has_text="NOT DIFFERENTIALLY PRIVATE")
        .first
    )
    assert ledger.text_content().count("∞, unaccounted") == 1
    dark(page, True)
    dark(page, False)
    assert not page.problems, page.problems


@pytest.mark.slow
def test_side_by_side_panel_by_keyboard_its_choices_and_dark(page, lab):
    open_and_run(page, lab, "18_side_by_side.ipynb")
    drawn = [marks(page)]
    press(page, "ε, total privacy budget", "ArrowLeft", 2, "ε = 0.9")
    drawn.append(marks(page))
    for place, option, title in (
        (0, "4", "k = 4"),
        (2, "sex", "sensitive: sex"),
        (1, "published", "as published"),
    ):
        page.locator(".pdsynth-live select").nth(place).select_option(label=option)
        page.wait_for_function(
            "t => document.querySelector('.pdsynth-live .gtitle').textContent.includes(t)",
            arg=title,
        )
        drawn.append(marks(page))
    assert len(set(drawn)) == 5, "distances, losses and plan follow every control"
    page.get_by_role("status").filter(has_text="No finite ε holds for").first.wait_for()
    assert "Before you spend." in table(page) and "noise ÷ mean cell" in table(page)
    dark(page, True)
    dark(page, False)
    assert not page.problems, page.problems


@pytest.mark.slow
def test_evaluation_panel_by_keyboard_its_choices_and_dark(page, lab):
    open_and_run(page, lab, "15_evaluating_a_synthetic_table.ipynb")
    drawn, standings = [marks(page)], [table(page)]
    press(page, "ε, total privacy budget", "ArrowLeft", 4, "ε = 0.8")
    drawn.append(marks(page))
    standings.append(table(page))
    for place, option, title in (
        (2, "3-way distance", "measure = 3-way distance"),
        (1, "1", "k = 1"),
        (0, "copy of the records", "table = copy of the records"),
    ):
        page.locator(".pdsynth-live select").nth(place).select_option(label=option)
        page.wait_for_function(
            "t => document.querySelector('.pdsynth-live .gtitle').textContent.includes(t)",
            arg=title,
        )
        drawn.append(marks(page))
        standings.append(table(page))
    assert len(set(drawn)) == 5, "ranks, histogram, worst sets and map follow every control"
    assert len(set(standings[:4])) == 4 and standings[3] == standings[4], (
        "the standings are of all tables"
    )
    page.get_by_role("status").filter(
        has_text="copy of the records: mean variation distance of a triple 0.000"
    ).first.wait_for()
    dark(page, True)
    dark(page, False)
    assert not page.problems, page.problems


def send(page, button, name, content):
    """Choose a file by keyboard."""
    with page.expect_file_chooser() as chooser:
        button.press("Enter")
    chooser.value.set_files({"name": name, "mimeType": "text/csv", "buffer": content})


RUN_BELOW = """async (source) => {
  const app = window.jupyterapp, notebook = app.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.findIndex(c => c.model.sharedModel.getSource().startsWith(source)) + 1;
  await app.commands.execute('notebook:run-all-below'); }"""


@pytest.mark.slow
def test_a_messy_file_of_one_s_own_from_upload_to_release_card(page, lab):
    """Lesson 19 with the shipped file: no header, blanks, an open list, dates, empty cells."""
    folder = ROOT / "pdsynth" / "datasets" / "data"
    raw, lines = (folder / "survey.csv").read_bytes(), (folder / "survey.toml").read_text("utf-8")
    columns = re.search(r"columns = (\[.*\])", lines)[1]
    rules = re.findall(r"^(\w+) = (?:\"(.*)\"|(\{.*\}))", lines.split("[attributes]")[1], re.M)
    open_and_run(page, lab, "19_your_own_data.ipynb")
    page.get_by_role("textbox", name="Column names").fill(" ".join(json.loads(columns)))
    page.get_by_role("textbox", name="Column names").press("Tab")
    send(page, page.get_by_role("button", name="Your CSV file"), "survey.csv", raw)
    page.locator(".pdsynth-live span[role=alert]").filter(has_text="still open").wait_for()
    text = page.get_by_role("textbox", name="Declaration")
    text.fill("\n".join(f"{name}: {plain or braced}" for name, plain, braced in rules))
    text.press("Tab")
    page.get_by_role("status").filter(has_text="6,000 rows × 8 columns").wait_for()
    page.evaluate(RUN_BELOW, "live = panels.own_data.panel()")
    card = page.locator(".jp-RenderedMarkdown.jp-OutputArea-output").filter(has_text="Release card")
    card.filter(has_text="6,000 records of 9 columns").wait_for(timeout=150_000)
    said = card.text_content()
    for words in ("What ε = 1 means", "person_id", "What is not promised", "One of ε = 2"):
        assert words in said, words
    card.scroll_into_view_if_needed()
    assert not page.problems, page.problems


@pytest.mark.slow
def test_own_data_panel_by_keyboard_its_text_a_file_and_dark(page, lab):
    """Lesson 19: sliders, an edited declaration, a bad and a good file of the student's; the page
    keeps no record of it."""
    open_and_run(page, lab, "19_your_own_data.ipynb")
    drawn = [marks(page)]
    status = page.get_by_role("status").filter(has_text="32,561 rows")
    press(page, "ε, what one person may lose", "ArrowLeft", 4, "ε = 0.8")
    drawn.append(marks(page))
    press(page, "records of one person", "ArrowRight", 3, "records = 4")
    status.filter(has_text="so a fit may spend 0.2.").wait_for()
    press(page, "bins of a range", "ArrowLeft", 12, "bins = 4")
    drawn.append(marks(page))
    text = page.get_by_role("textbox", name="Declaration")
    text.fill(
        text.input_value().replace("native-country: ?", "native-country: US | elsewhere + missing")
    )
    text.press("Tab")
    status.filter(has_text="9 columns").wait_for()
    text.fill("age: young")
    text.press("Tab")
    page.locator(".pdsynth-live span[role=alert]").filter(
        has_text="'young' declares no domain"
    ).wait_for()
    status.filter(has_text="9 columns").wait_for()
    button = page.get_by_role("button", name="Your CSV file")
    bad, good = b"PK\x03\x04", b"id,age,ward\n" + b"7351,34,2\n" * 500
    send(page, button, "bad.csv", bad)
    page.locator(".pdsynth-live span[role=alert]").filter(
        has_text="an Excel spreadsheet"
    ).wait_for()
    send(page, button, "ward.csv", good)
    page.locator(".pdsynth-live span[role=alert]").filter(has_text="2 still open").wait_for()
    assert text.input_value() == "id: drop\nage: ?\nward: ?"
    assert "(0)" in button.text_content(), "the page has forgotten the file"
    text.fill("age: 0 to 120\nward: 1 | 2 | 3")
    text.press("Tab")
    page.get_by_role("status").filter(has_text="500 rows × 2 columns").wait_for()
    page.wait_for_function(
        "document.querySelector('.pdsynth-live .gtitle').textContent.includes('ward.csv')"
    )
    drawn.append(marks(page))
    assert len(set(drawn)) == 4, "the figure follows sliders, text and file"
    code = page.locator(".pdsynth-live .pdsynth-table").nth(1).text_content()
    assert 'age = "0 to 120 in 4 bins"' in code
    dark(page, True)
    dark(page, False)
    assert not page.problems, page.problems
