"""A real browser opens JupyterLab, runs a lesson, moves its sliders by keyboard and looks at what
changed."""

import json
import re

import pytest
from bench_tools import panel_of
from browser_tools import CHROMIUM, CLEAR, READY, ROOT, RUN_ALL, SMALL, opened, send, watched

Late = pytest.importorskip("playwright.sync_api").TimeoutError
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]


# Run the cell that holds ``source``, or all of those as far as it, or all below it.
RUN_PART = """async ([part, source]) => {
  const { shell, commands } = window.jupyterapp, notebook = shell.currentWidget.content;
  const found = notebook.widgets.findIndex(c => c.model.sharedModel.getSource().includes(source));
  if (found < 0) throw new Error(`no cell holds ${source}`);
  notebook.activeCellIndex = part === "cell" ? found : found + 1;
  commands.execute(`notebook:run-${part}`); }"""


@pytest.fixture(scope="module")
def window(browser, lab):
    """A window for all tests: JupyterLab's scripts are compiled once."""
    page = watched(browser, lab)
    page.on("dialog", lambda asked: asked.accept())  # the last notebook may be left unsaved
    yield page
    page.close()


@pytest.fixture
def page(window):
    window.problems.clear()
    return window


def open_and_run(page, lab, notebook, topic=None, part="all-above"):
    """Open a lesson and run it as far as the panel of this topic; without a topic, all of it."""
    page.goto(f"{lab}/lab/tree/notebooks/{notebook}?token=t&reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_selector(
        ".jp-Notebook-ExecutionIndicator[data-status=idle]"
    )  # kernel ready: without this it is flaky
    page.evaluate(READY)
    run(page, topic, part)


def run(page, topic=None, part=None):
    """Run an open lesson; its first panel is drawn, with all of its controls on show."""
    if topic:
        page.evaluate(RUN_PART, [part, f"panels.{topic}.panel()"])
    else:
        page.evaluate(RUN_ALL)
    page.locator(".pdsynth-live .pdsynth-state").first.wait_for(timeout=150_000)
    page.locator(".pdsynth-live .main-svg").first.wait_for()
    for button in page.get_by_role("button", name="More settings").all():
        button.press("Enter")
    page.locator(".pdsynth-live").first.scroll_into_view_if_needed()


@pytest.fixture
def small(page, lab):
    """The small notebook as it starts. The window keeps it open from test to test."""
    if "/small.ipynb" in page.url:
        page.evaluate(CLEAR)
        page.locator(".pdsynth-live").first.wait_for(state="detached")
        run(page)
    else:
        open_and_run(page, lab, "small.ipynb")
    return page


def press(page, name, key, times=1, title=None):
    """Move a slider by keyboard; wait until the figure's title contains ``title``, or has changed."""
    before = page.locator(".pdsynth-live .pdsynth-state").first.text_content()
    handle = page.get_by_role("slider", name=name).first
    handle.focus()
    for _ in range(times):
        handle.press(key)
    title_now = "document.querySelector('.pdsynth-live .pdsynth-state').textContent"
    page.wait_for_function(
        f"([old, now]) => now ? {title_now}.includes(now) : {title_now} !== old",
        arg=[before, title],
    )


def table(page, words="", unlike=""):
    """The text of the panel's first table, once it holds ``words`` and isn't ``unlike`` any more.

    Table and figure are two widgets: a slow page may show one a moment before the other.
    """
    text = "document.querySelector('.pdsynth-live .pdsynth-table').textContent"
    shown = f"([words, unlike]) => {text}.includes(words) && {text} !== unlike"
    try:
        page.wait_for_function(shown, arg=[words, unlike])
    except Late as late:
        state = page.locator(".pdsynth-live .pdsynth-state").first.text_content()
        raise AssertionError(f"at {state}, without {words!r}: {page.evaluate(text)}") from late
    return page.evaluate(text)


def title_is(page, text):
    page.wait_for_function(
        "t => document.querySelector('.pdsynth-live .pdsynth-state')?.textContent === t", arg=text
    )


@pytest.mark.slow
def test_any_panel_by_keyboard_with_its_names_values_and_errors(small):
    page = small
    title_is(page, "ε = 1, k = 1")
    epsilon, k = (
        page.get_by_role("slider", name="ε, privacy budget"),
        page.get_by_role("slider", name="k", exact=True),
    )
    press(page, "ε, privacy budget", "ArrowRight", 2)
    title_is(page, "ε = 1.2, k = 1")
    epsilon.and_(page.locator("[aria-valuetext='1.2']")).wait_for()  # a frame after the figure
    number = page.get_by_label("privacy budget ε").and_(page.locator("input"))
    for typed, step in (("2.58", "2.6"), ("2.62", "2.6"), ("2,5", "2.5")):
        number.press("Control+a")
        number.press_sequentially(typed)  # by keys: a comma is a point
        number.press("Enter")
        title_is(page, f"ε = {step}, k = 1")
        page.wait_for_function(  # box and handle: what lies between two steps goes to one of them
            "([box, handle, step]) => box.value === step"
            " && Math.abs(handle.ariaValueNow - step) < 1e-9",
            arg=[number.element_handle(), epsilon.element_handle(), step],
        )
    page.get_by_role("status").filter(has_text="The scale is 0.4").wait_for()
    drawn = page.get_by_role("img", name="ε = 2.5")
    drawn.and_(page.locator("[aria-label*='The scale is 0.4']")).wait_for()
    k.focus()
    k.press("End")
    page.get_by_role("alert").filter(has_text="k = 5 is too large: take k ≤ 3").wait_for()
    title_is(page, "ε = 2.5, k = 1")
    for _ in range(2):
        k.press("ArrowLeft")
    title_is(page, "ε = 2.5, k = 3")
    page.get_by_role("alert").filter(has_text="too large").wait_for(state="detached")
    assert not page.problems, page.problems


@pytest.mark.slow
def test_a_guess_by_keyboard_and_its_answer_beside_it(small):
    page = small
    asked = page.locator(".pdsynth-guess")
    asked.scroll_into_view_if_needed()
    assert "8 legs" not in asked.text_content()
    field = page.get_by_label("Your guess")
    field.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="Give a guess first").wait_for()
    field.fill("10")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Commit and see"
    page.keyboard.press("Enter")
    page.get_by_role("status").filter(has_text="You: 10 legs · Answer: 8 legs").wait_for()
    asked.locator("table").wait_for()  # a message after the answer
    assert field.is_disabled()
    inside = "e => e.scrollWidth <= e.clientWidth + 1"
    assert asked.evaluate(inside), "nothing is cut"
    assert not page.problems, page.problems


@pytest.mark.slow
def test_an_opened_table_stays_open(small):
    page = small
    page.locator(".pdsynth-live summary").first.click()
    page.locator(".pdsynth-live summary").filter(has_text="More").click()
    press(page, "ε, privacy budget", "ArrowRight")
    page.locator(".pdsynth-live details[open]").filter(has_text="ε is 1.1").last.wait_for()
    assert not page.problems, page.problems


@pytest.mark.slow
def test_a_reloaded_page_shows_the_panels_where_they_were(page, lab):
    opened(page, lab, "kept.ipynb", SMALL, panel_of("hmprivbayes"))
    page.evaluate(RUN_ALL)
    small, large = (page.locator(".pdsynth-live").nth(place) for place in (0, 1))
    for panel, name, times in (
        (small, "ε, privacy budget", 2),
        (large, "ε, privacy budget", 1),
    ):
        panel.locator(".main-svg").first.wait_for()
        for _ in range(times):
            panel.get_by_role("slider", name=name).press("ArrowRight")
    small.locator(".pdsynth-state").filter(has_text="ε = 1.2, k = 1").wait_for()
    large.locator(".pdsynth-state").filter(has_text="ε = 1.05").wait_for()
    page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    )
    page.evaluate("async () => { await window.jupyterapp.shell.currentWidget.context.save(); }")
    page.goto(f"{lab}/doc/tree/kept.ipynb?token=t")
    small.locator(".pdsynth-state").filter(has_text="ε = 1.2, k = 1").wait_for()
    large.locator(".pdsynth-state").filter(has_text="ε = 1.05").wait_for()
    press(page, "ε, privacy budget", "ArrowRight")
    title_is(page, "ε = 1.3, k = 1")
    large.get_by_role("slider", name="ε, privacy budget").press("ArrowRight")
    large.locator(".pdsynth-state").filter(has_text="ε = 1.1").wait_for()
    assert not page.problems, page.problems


def marks(page):
    """What is drawn: the bars and the lines of the figure."""
    return page.evaluate(
        "() => [...document.querySelectorAll('.pdsynth-live .cartesianlayer path')].map(p => p.getAttribute('d') + p.getAttribute('transform')).join()"
    )


def test_hpprivbayes_panel_follows_the_keyboard(page, lab):
    open_and_run(page, lab, "07_hpprivbayes.ipynb", "hpprivbayes", "cell")
    drawn, ledger = [marks(page)], table(page)
    for name, key, times, title, said in (
        ("ε, privacy budget", "ArrowRight", 1, "ε = 1.1", "ε = 11/10 of 11/10"),
        ("k, parents of a column", "ArrowRight", 1, "k = 3", "× 490"),
        ("r, budget of sensitive columns", "ArrowLeft", 2, "r = 0.31", ""),
        ("θ, threshold of sensitive columns", "ArrowRight", 3, "θ = 0.13", ""),
    ):
        press(page, name, key, times, title)
        drawn.append(marks(page))
        ledger = table(page, said, unlike=ledger)
    assert len(set(drawn)) == 5, "network, noise and distances follow every slider"
    assert "ε = 1.1, k = 3, r = 0.31, θ = 0.13" in page.locator(
        ".pdsynth-live [role=img]"
    ).first.get_attribute("aria-label")
    assert not page.problems, page.problems


@pytest.mark.slow
def test_a_messy_file_of_one_s_own_from_upload_to_release_card(page, lab):
    """Lesson 19 with the shipped file: no header, blanks, an open list, dates, empty cells."""
    folder = ROOT / "pdsynth" / "datasets" / "data"
    raw, lines = (folder / "survey.csv").read_bytes(), (folder / "survey.toml").read_text("utf-8")
    columns = re.search(r"columns = (\[.*\])", lines)[1]
    rules = re.findall(r"^(\w+) = (?:\"(.*)\"|(\{.*\}))", lines.split("[attributes]")[1], re.M)
    open_and_run(page, lab, "19_your_own_data.ipynb", "own_data")
    page.get_by_role("textbox", name="Column names").fill(" ".join(json.loads(columns)))
    page.get_by_role("textbox", name="Column names").press("Tab")
    send(page.get_by_role("button", name="Your CSV file"), "survey.csv", raw)
    page.locator(".pdsynth-live .pdsynth-status").filter(has_text="still open").wait_for()
    text = page.get_by_role("textbox", name="Declaration")
    text.fill("\n".join(f"{name}: {plain or braced}" for name, plain, braced in rules))
    text.press("Tab")
    page.locator(".pdsynth-tables").filter(has_text="6,000 rows × 8 columns").wait_for(
        state="attached"
    )
    page.evaluate(RUN_PART, ["all-below", "panels.own_data.panel()"])
    card = page.locator(".jp-RenderedMarkdown.jp-OutputArea-output").filter(has_text="Release card")
    card.filter(has_text="6,000 records of 9 columns").wait_for(timeout=150_000)
    said = card.text_content()
    for words in ("What ε = 1 means", "person_id", "What is not promised", "One of ε = 2"):
        assert words in said, words
    card.scroll_into_view_if_needed()
    assert not page.problems, page.problems
