"""A panel of the website moves among the places that its page holds: by buttons, by keys, by hand,
and by what is typed. The places are made up."""

import gzip
import json
from itertools import product

import pytest
from browser_tools import CHROMIUM
from script_tools import load
from site_tools import Server

pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]
STEPS, THETAS = ["0", "5", "10", "40"], ["0.1", "0.2", "0.4"]
NAMES = ["Prof-specialty", "Craft-repair", "Exec-managerial", "Sales", "Other-service"]
# How many lines each name of a bar has, and how far the last bar sticks out of the page.
LINES = """() => {
  const names = [...document.querySelectorAll('.pdsynth-bin-name')];
  const high = (node) => parseFloat(getComputedStyle(node).lineHeight);
  const lines = (node) => Math.round(node.clientHeight / high(node));
  return [names.map(lines), names.at(-1).getBoundingClientRect().right - innerWidth]; }"""
PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<link rel="stylesheet" href="live.css">
<article><div class="pdsynth-still" data-panel="{}">a drawing</div></article>
<script type="module" src="site.js"></script>"""


def control(name, texts, least, most, step):
    return {"name": name, "label": name, "ends": [], "words": name, "texts": texts,
            "menu": False, "min": least, "max": most, "step": step}  # fmt: skip


def state(step, theta, **more):
    meta = {
        "charts": {"xy": {"title": "How it goes"}},
        "play": {"control": "step"},
        "more": {"control": "step", "by": 1, "label": "one more"},
        "drag": {"chart": "xy", "control": "theta", "at": float(theta), "step": 0.01, "label": "θ"},
        **more,
    }
    figure = {
        "data": [{"type": "scatter", "x": [0, 0.5], "y": [0, int(step)]}],
        "layout": {"meta": meta, "xaxis": {"range": [0, 0.5]}, "title": {"text": "held"}},
    }
    return {"figure": figure, "alt": "", "status": f"{step} at {theta}", "alert": "", "tables": ""}


@pytest.fixture(scope="module")
def folder(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("held")
    load(root / "website" / "build.py").front_end(folder)
    places = product(enumerate(STEPS), enumerate(THETAS))
    held = {
        "controls": [control("step", STEPS, 0, 40, 1), control("theta", THETAS, 0, 0.5, 0.01)],
        "main": 2, "start": "0,0", "tries": [], "dark": {}, "note": "",
        "states": {f"{i},{j}": state(step, theta) for (i, step), (j, theta) in places},
    }  # fmt: skip
    bars = {"bars": NAMES, "heights": [1] * 5, "people": [0], "bar": "step", "first": 0}
    people = held | {"states": {"0,0": state("0", "0.1", grab=bars)}}
    (folder / "panels").mkdir()
    for name, whole in (("held", held), ("people", people)):
        packed = gzip.compress(json.dumps(whole).encode())
        (folder / "panels" / f"{name}.json.gz").write_bytes(packed)
        (folder / f"{name}.html").write_text(PAGE.replace("{}", name), encoding="utf-8")
    return folder


@pytest.fixture
def panel(browser, folder):
    page = browser.new_page(locale="en-US")
    page.set_default_timeout(20_000)
    with Server(folder) as address:
        page.goto(f"{address}/held.html")
        page.locator(".pdsynth-live .main-svg").first.wait_for()
        yield page.locator(".pdsynth-live")
    page.close()


def says(panel, words):
    panel.locator(".pdsynth-status").filter(has_text=words).wait_for()


def box(panel, name):
    return panel.locator(f".pdsynth-c-{name} input[type=number]")


def put(panel, name, text):
    """What is typed, sign by sign, as a keyboard does."""
    box(panel, name).press("Control+a")
    box(panel, name).press("Delete")
    box(panel, name).press_sequentially(text)
    box(panel, name).press("Enter")


def test_buttons_and_keys_go_on_to_another_place(panel):
    more = panel.get_by_role("button", name="one step more")
    assert more.text_content() == "More", "the next place is not one further"
    more.click()
    says(panel, "5 at 0.1")
    panel.get_by_role("button", name="play").click()
    says(panel, "40 at 0.1")
    panel.locator(".pdsynth-knob").press("ArrowRight")
    says(panel, "40 at 0.2")
    assert panel.locator(".pdsynth-title").text_content() == "Drag the line: how it goes"
    for key, words in (("ArrowDown", "10 at"), ("ArrowUp", "40 at"), ("ArrowUp", "40 at")):
        box(panel, "step").press(key)
        says(panel, words)
    assert panel.get_by_role("alert").filter(has_text="kernel").count() == 0


def test_what_is_typed_is_taken_or_refused_in_words(panel):
    alert = panel.locator(".pdsynth-alert")
    put(panel, "step", "10")
    says(panel, "10 at 0.1")
    put(panel, "step", "7")
    assert "7 needs a kernel" in alert.text_content()
    put(panel, "step", "")
    assert box(panel, "step").input_value() == "10" and not alert.text_content()
    put(panel, "step", "99")
    assert "99 lies beyond 0 to 40." in alert.text_content()
    says(panel, "10 at 0.1")
    put(panel, "theta", "0,2")
    says(panel, "10 at 0.2")


def test_long_names_of_bars_break_at_their_hyphens_on_a_phone(panel):
    page = panel.page
    page.set_viewport_size({"width": 360, "height": 780})
    page.goto(page.url.replace("held", "people"))
    page.locator(".pdsynth-bin-name").first.wait_for()
    lines, beyond = page.evaluate(LINES)
    assert lines == [2, 2, 2, 1, 2] and beyond <= 0
