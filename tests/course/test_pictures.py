"""Pictures that stand still: in a real browser no two of their texts overlap and none is cut, and
those of the lessons say what their panels find today. ``measure.js`` does the measuring."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser_tools import CHROMIUM
from panel_tools import first_panel

from pdsynth.course.panels import LESSONS
from pdsynth.course.widgets.still import svg

pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]
ROOT = Path(__file__).resolve().parents[2]
MEASURE = Path(__file__).with_name("measure.js").read_text(encoding="utf-8")
PICTURES = ROOT / "notebooks" / "pictures"
COMMITTED = sorted([*PICTURES.glob("*.svg"), *ROOT.glob("figures/*/*.svg")])


@pytest.fixture(scope="module")
def measure(browser):
    """A function that lists what is wrong with the texts of an SVG."""
    page = browser.new_page(viewport={"width": 1000, "height": 1200})

    def wrong(text):
        if "main-svg" not in text:
            text = text.replace("<svg ", '<svg class="main-svg" ', 1)
        page.set_content(f"<div id='here'>{text}</div>")
        found = page.evaluate(f"({MEASURE})(document.getElementById('here'))")
        assert found["texts"] > 2, "nothing was measured"
        return found["found"]

    yield wrong
    page.close()


def test_a_picture_whose_texts_overlap_is_found(measure):
    words = "".join(f"<text x='9' y='{y}'>words</text>" for y in (20, 26, 60))
    assert measure(f"<svg width='90' height='90'>{words}</svg>") == [
        'texts overlap: "words" and "words"'
    ]


def test_a_dashed_line_through_a_text_is_found(measure):
    drawn = "<text x='9' y='{}'>words</text><path d='M0,20h90' stroke='red' {}/>"
    dashed = "stroke-dasharray='4 4'"
    for y, dash, found in ((24, dashed, True), (40, dashed, False), (24, "", False)):
        more = "".join(f"<text x='9' y='{y}'>more</text>" for y in (60, 80))
        picture = f"<svg width='90' height='90'>{drawn.format(y, dash)}{more}</svg>"
        assert measure(picture) == ['dashed line through "words"'] * found


def test_no_texts_of_a_committed_picture_overlap(measure):
    assert len(COMMITTED) > 40
    wrong = {path.name: measure(path.read_text(encoding="utf-8")) for path in COMMITTED}
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize("topic", LESSONS)
def test_a_saved_panel_has_no_texts_that_overlap_and_its_picture_says_what_it_finds(measure, topic):
    view = first_panel(topic).view
    assert measure(svg(view.still)) == []
    picture = (PICTURES / f"{LESSONS[topic]}.svg").read_text(encoding="utf-8")
    (title,) = (
        "".join(node.itertext())
        for node in ElementTree.fromstring(picture).iter()
        if node.get("class") == "gtitle"
    )
    said = view.still.layout.title.text.replace("<br>", "")
    assert title == said, f"python figures/make.py lessons {LESSONS[topic]} draws it again"
