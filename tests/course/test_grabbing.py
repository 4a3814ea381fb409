"""In a real browser: what is grabbed on a chart moves the panel, by mouse, touch and keyboard; the
releases rain, and stand still where the reader wants no motion."""

import pytest
from bench_tools import panel_in, run_panel
from browser_tools import CHROMIUM, STILL

pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]
GRABBED = ("mechanisms", "worlds", "sensitivity", "genetic")
# Presses the button; the most points that fall at once, over so many frames.
FALLING = """async button => {
  const panel = button.closest('.pdsynth-live'), falling = () =>
    [...panel.querySelectorAll('.pdsynth-canvas .point')]
      .filter(point => point.getAnimations().length).length;
  button.click();
  let most = 0;
  for (let frame = 0; frame < 30; frame++) {
    await new Promise(requestAnimationFrame);
    most = Math.max(most, falling());
  }
  return most; }"""


@pytest.fixture(scope="module")
def page(bench):
    bench.set_viewport_size({"width": 1280, "height": 900})
    for topic in GRABBED:
        run_panel(bench, topic)
    bench.evaluate(STILL)
    return bench


def panel_at(page, topic):
    panel = panel_in(page, topic)
    panel.scroll_into_view_if_needed()
    return panel


def stands(person, place):
    """Wait until a person stands in a bar."""
    person.and_(person.page.locator(f"[aria-valuenow='{place}']")).wait_for()


def drag(page, person, bar):
    """Drag a person into a bar by mouse."""
    start, end = person.bounding_box(), bar.bounding_box()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=5)
    page.mouse.up()


@pytest.mark.parametrize("topic", ["mechanisms", "worlds"])
def test_a_person_is_dragged_into_another_bar_and_walks_by_arrow_keys(page, topic):
    panel = panel_at(page, topic)
    who, home, key = {"mechanisms": (0, 0, "ArrowRight"), "worlds": (4, 6, "ArrowLeft")}[topic]
    person, verdict = panel.locator(f"[data-who='{who}']"), panel.locator(".pdsynth-status")
    before = verdict.text_content()
    drag(page, person, panel.locator(".pdsynth-bin").nth(home))
    stands(person, home)
    page.wait_for_function(
        "([node, old]) => node.textContent !== old", arg=[verdict.element_handle(), before]
    )
    verdict.filter(has_text="1.00 times").wait_for()  # who stays where he was changes nothing
    person.press(key)
    stands(person, home + (1 if key == "ArrowRight" else -1))
    assert person.evaluate("node => document.activeElement === node"), "it keeps the focus"


def test_a_touch_moves_a_person(page):
    panel = panel_at(page, "mechanisms")
    person, bar = panel.locator(".pdsynth-person"), panel.locator(".pdsynth-bin").nth(3)
    person.scroll_into_view_if_needed()
    start, end = person.bounding_box(), bar.bounding_box()
    client = page.context.new_cdp_session(page)
    points = [
        {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        for box in (start, end)
    ]
    client.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": points[:1]})
    client.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": points[1:]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    stands(person, 3)


def test_bars_stand_on_one_line_also_above_a_name_of_two_lines(page):
    panel = panel_at(page, "mechanisms")
    size = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 900})
    page.evaluate(STILL)
    names = panel.locator(".pdsynth-bin-name").evaluate_all(
        "all => all.map(n => { const range = document.createRange(); range.selectNodeContents(n);"
        " return [n.getBoundingClientRect().top, range.getClientRects().length]; })"
    )
    page.set_viewport_size(size)
    page.evaluate(STILL)
    assert {lines for _, lines in names} == {1, 2}, "names of one line and of two"
    assert len({round(top) for top, _ in names}) == 1


@pytest.mark.parametrize("topic", ["mechanisms", "worlds"])
def test_releases_rain_unless_the_reader_wants_no_motion(page, topic):
    panel = panel_at(page, topic)
    button = panel.get_by_role("button", name="let 200 releases rain")
    for wish, falling in (("no-preference", True), ("reduce", False)):
        page.emulate_media(reduced_motion=wish)
        assert (button.evaluate(FALLING) > 50) == falling
        page.wait_for_function(
            "node => !node.getAnimations({subtree: true}).length", arg=panel.element_handle()
        )
    page.emulate_media(reduced_motion="no-preference")


def center(knob):
    box = knob.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_threshold_is_dragged_on_the_chart(page):
    panel = panel_at(page, "sensitivity")
    knob = panel.locator(".pdsynth-knob")
    first, _ = center(knob)
    knob.press("ArrowRight")
    knob.and_(page.locator("[aria-valuenow='0.11']")).wait_for()  # the chart is drawn
    x, y = center(knob)
    step = x - first
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 11.45 * step, y, steps=4)
    knob.and_(page.locator("[aria-valuenow='0.22']")).wait_for()
    assert center(knob)[0] == pytest.approx(x + 11.45 * step, abs=1), "an answer leaves it in hand"
    page.mouse.up()
    page.wait_for_function(
        "([node, x]) => { const box = node.getBoundingClientRect();"
        " return Math.abs(box.x + box.width / 2 - x) < 1; }",
        arg=[knob.element_handle(), x + 11 * step],
    )
    field = panel.locator(".pdsynth-c-theta input[type=number]")
    assert field.input_value() == "0.22"
    for key, value in (("Home", "0"), ("End", "0.5")):  # as every other slider of the panel
        knob.press(key)
        knob.and_(page.locator(f"[aria-valuenow='{value}']")).wait_for()
        assert float(field.input_value()) == float(value)


def test_a_search_is_played(page):
    panel = panel_at(page, "genetic")
    field = panel.locator(".pdsynth-c-generation input[type=number]")
    play = panel.get_by_role("button", name="play")
    play.press("Enter")
    page.wait_for_function("node => +node.value > 60", arg=field.element_handle())
    play.press("Enter")
    assert not page.problems, page.problems
