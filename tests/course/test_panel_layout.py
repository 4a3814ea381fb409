"""In a real browser: no panel has a scroll bar it doesn't need, a text that is cut, or two texts
that overlap, at four sizes; its controls and its first chart are seen at once; its texts stand out
in both themes. ``measure.js`` does the measuring. With ``PDSYNTH_PICTURES=folder`` it keeps a
picture of each panel where it was measured, to look at."""

import os
from pathlib import Path

import pytest
from bench_tools import ALONE, BENCH, panel_in, run_panel
from browser_tools import CHROMIUM, CLEAR, RUN_ALL, STILL

from pdsynth.course.panels import LESSONS
from pdsynth.course.panels.drawing import ink

pytest.importorskip("playwright.sync_api")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]
MEASURE = Path(__file__).with_name("measure.js").read_text(encoding="utf-8")
SIZES = ((1440, 900), (1024, 768), (390, 844))
PROJECTOR, SMALLEST = (1280, 720), 18  # pixels of a screen in a lecture room, and of its texts
DRAWN = """count => { const panels = [...document.querySelectorAll('.pdsynth-live')];
  return panels.length === count && panels.every(panel => panel.querySelector('.main-svg')); }"""
# Every chart on show of every panel writes along its axes in this ink.
INKED = """ink => [...document.querySelectorAll(
    '.pdsynth-chart:not([hidden]) ' +
    ':is([class^=x][class$=tick], [class^=y][class$=tick], .cbaxis) text')]
  .every(text => getComputedStyle(text).fill === ink)"""
# What the measure finds, pixels below the screen, and which of the charts is on show.
SCREEN = f"""panel => ({{ ...({MEASURE})(panel),
  below: panel.querySelector('.pdsynth-plot').getBoundingClientRect().bottom - innerHeight,
  charts: [...panel.querySelectorAll('.pdsynth-chart')].map(chart => !chart.hidden) }})"""
# Back to the first chart and out of projector mode; the cell is hidden, so that nothing is drawn.
LEAVE = """panel => new Promise(done => {
  if (document.fullscreenElement) document.addEventListener('fullscreenchange', done, {once: true});
  else done();
  for (const name of ['next chart', 'projector mode: large text'])
    panel.querySelector(`[aria-label="${name}"]`).click();
  panel.closest('.jp-Cell').style.display = 'none'; }).then(() => null)"""
WORDS, MOST_WORDS = Path(__file__).with_name("words.js").read_text(encoding="utf-8"), 80
DESK, PHONE = ((1440, 900), (1280, 720)), (390, 844)
HIGHEST, FIRST = 1.3, 420  # windows of a panel on a desk; pixels above the first chart on a phone
# Pixels of a panel: its height, its first chart from the top, and the end of its controls.
PLACES = """panel => { const top = panel.getBoundingClientRect().top;
  const box = (name) => [...panel.querySelectorAll(name)].find(n => n.offsetWidth)
    .getBoundingClientRect();
  const chart = box('.pdsynth-canvas'), controls = box('.pdsynth-controls');
  return { height: panel.offsetHeight, chart: chart.top - top, end: chart.bottom - top,
    controls: controls.bottom - top }; }"""
# The controls' top in the window after the page is scrolled until the chart ends at its foot.
IN_REACH = """panel => new Promise(done => {
  const chart = [...panel.querySelectorAll('.pdsynth-canvas')].find(n => n.offsetWidth);
  chart.scrollIntoView({block: 'end'});
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const box = panel.querySelector('.pdsynth-controls').getBoundingClientRect();
    done(box.top >= 0 && box.bottom <= innerHeight); })); })"""
LOOK = f"""async panel => ({{ ...({PLACES})(panel), words: ({WORDS})(panel),
  reached: await ({IN_REACH})(panel) }})"""
CONTRAST = 3.0  # of texts with the page: WCAG's least for large ones
FAINT = Path(__file__).with_name("faint.js").read_text(encoding="utf-8")
ONE = "hpprivbayes"


@pytest.fixture(scope="module")
def one(bench):
    for name in (ONE, "slow"):
        run_panel(bench, name)
    bench.evaluate(STILL)
    return bench


@pytest.fixture(scope="module")
def every(bench):
    bench.evaluate(CLEAR)
    bench.evaluate(RUN_ALL)
    bench.wait_for_function(DRAWN, arg=len(BENCH), timeout=300_000, polling=250)
    bench.evaluate(STILL)
    return bench


def turn(page, theme):
    """JupyterLab in one of its themes."""
    page.evaluate(
        "theme => { window.jupyterapp.commands.execute('apputils:change-theme', {theme}); }",
        f"JupyterLab {theme}",
    )
    page.wait_for_function(
        "light => document.body.dataset.jpThemeLight === light",
        arg=str(theme == "Light").lower(),
        polling=100,
    )
    ink = {"Light": "rgb(51, 51, 51)", "Dark": "rgb(224, 224, 224)"}[theme]
    page.wait_for_function(INKED, arg=ink, polling=100)
    page.evaluate(STILL)


def keep(page, panel, *words):
    """A picture of a panel, named by its words, theme and width."""
    if folder := os.environ.get("PDSYNTH_PICTURES"):
        light = page.evaluate("document.body.dataset.jpThemeLight") == "true"
        name = "-".join([*words, "light" if light else "dark", str(page.viewport_size["width"])])
        panel.screenshot(path=Path(folder) / f"{name}.png")


def keep_all(page, names):
    """Pictures of all panels, each of them whole: in a window as high as the highest."""
    if "PDSYNTH_PICTURES" in os.environ:
        size = page.viewport_size
        page.set_viewport_size({**size, "height": 5000})
        page.evaluate(STILL)
        for name in names:
            page.evaluate(ALONE, list(BENCH).index(name))
            keep(page, panel_in(page, name), name)
        page.evaluate(ALONE, None)
        page.set_viewport_size(size)


def wrong(page, names, width, height):
    """What is wrong with the panels at a size."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(STILL)
    found = {name: panel_in(page, name).evaluate(MEASURE) for name in names}
    assert min(one["texts"] for one in found.values()) > 10, "nothing was measured"
    keep_all(page, names)
    return [f"{name}: {what}" for name, one in found.items() for what in one["found"]]


def unfit(page, names, width, height):
    """Panels whose controls and first chart aren't seen at once at a size, or that are too high."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(STILL)
    desk, problems = (width, height) in DESK, []
    for name in names:
        at = panel_in(page, name).evaluate(LOOK)
        if desk and max(at["end"], at["controls"]) > height:
            ends = f"controls end at {at['controls']}, the chart at {at['end']}"
            problems.append(f"{name}, {width} px: {ends}")
        if desk and at["height"] > HIGHEST * height:
            problems.append(f"{name}, {width} px: {at['height']} px high")
        if at["chart"] > FIRST:
            problems.append(f"{name}, {width} px: the first chart begins at {at['chart']:.0f}")
        if len(words := at["words"]) > MOST_WORDS:
            problems.append(f"{name}, {width} px: {len(words)} words: {' '.join(words)}")
        if not at["reached"]:
            problems.append(f"{name}, {width} px: the controls are out of reach of the chart")
    return problems


def project(page, panel):
    """Projector mode, as soon as the browser has given it the screen."""
    panel.get_by_role("button", name="projector mode").press("Enter")
    page.wait_for_function("document.fullscreenElement !== null")
    page.evaluate(STILL)


def wrong_on_a_projector(page, names):
    """The same in projector mode, chart by chart, and texts that are too small."""
    page.set_viewport_size(dict(zip(("width", "height"), PROJECTOR, strict=True)))
    problems = []
    for name in names:
        page.evaluate(ALONE, list(BENCH).index(name))
        panel = panel_in(page, name)
        project(page, panel)
        found = panel.evaluate(SCREEN)
        for chart in range(len(found["charts"])):
            if chart:
                panel.get_by_role("button", name="next chart").press("Enter")
                page.evaluate(STILL)
                found = panel.evaluate(SCREEN)
            assert [place for place, on in enumerate(found["charts"]) if on] == [chart]
            keep(page, panel, name, f"chart {chart + 1}")
            problems += [f"{name}, chart {chart + 1}: {what}" for what in found["found"]]
            if found["smallest"] < SMALLEST:
                problems.append(f"{name}, chart {chart + 1}: text of {found['smallest']} px")
            if (below := found["below"]) > 0:
                problems.append(f"{name}, chart {chart + 1}: {below:.0f} px below the screen")
        panel.evaluate(LEAVE)
    page.evaluate(ALONE, None)
    page.evaluate(STILL)
    return problems


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_one_panel_at_every_size(one, size):
    assert wrong(one, [ONE], *size) == []
    assert not one.problems, one.problems


def test_a_button_sets_the_controls_says_what_happened_and_a_slow_panel_says_it_computes(one):
    panel = panel_in(one, "slow")
    panel.get_by_role("button", name="make it three").press("Enter")
    cue = panel.locator(".pdsynth-cue")
    cue.filter(has_text="computing").wait_for()
    panel.get_by_role("status").filter(has_text="3 after 1.").wait_for()
    at_three = one.locator("[aria-valuenow='3'], [aria-valuenow='3.0']")
    panel.get_by_role("slider").and_(at_three).wait_for()
    one.wait_for_function("node => node.textContent === ''", arg=cue.element_handle())
    panel.get_by_role("slider").press("Home")
    panel.get_by_role("status").filter(has_text="It is 0.").wait_for()
    panel.get_by_role("status").filter(has_text="3 after 1.").wait_for(state="detached")


def test_one_panel_on_a_projector_by_keyboard(one):
    assert wrong_on_a_projector(one, [ONE]) == []
    panel = panel_in(one, ONE)
    button = panel.get_by_role("button", name="projector mode")
    for times in (1, 0):
        button.press("Enter")
        one.wait_for_function("on => (document.fullscreenElement !== null) === on", arg=times == 1)
        one.evaluate(STILL)
        assert one.locator(".pdsynth-projector").count() == times
    assert panel.locator(".pdsynth-chart:visible").count() == 1


def test_one_panel_shows_its_controls_and_its_first_chart_at_once(one):
    sizes = (*DESK, PHONE)
    assert [what for size in sizes for what in unfit(one, [ONE], *size)] == []
    chart = panel_in(one, ONE).locator(".pdsynth-canvas").first
    chart.evaluate("chart => { chart.style.marginTop = '900px'; }")
    found = [what for size in sizes for what in unfit(one, [ONE], *size)]
    assert len(found) >= 5, "the failing twin: a chart far below"
    chart.evaluate("chart => { chart.style.marginTop = ''; }")


def second_chart(bench, name):
    """A panel on a desk, turned to its second chart."""
    panel = run_panel(bench, name)
    bench.set_viewport_size({"width": 1440, "height": 900})
    panel.get_by_role("button", name="next chart").press("Enter")
    bench.evaluate(STILL)
    return panel


def test_rows_that_wait_for_show_all_are_not_cut(bench):
    panel = second_chart(bench, "ledger")
    rows = panel.locator(".pdsynth-chart:visible .bartext")
    for shown in (8, 14):
        assert panel.evaluate(MEASURE)["found"] == [], f"{shown} rows are shown"
        assert rows.count() == 14, "all rows are drawn, and some of them clipped"
        panel.get_by_role("button", name="show all").press("Enter")
        bench.evaluate(STILL)


def test_a_projector_names_what_its_chart_draws(one):
    one.set_viewport_size(dict(zip(("width", "height"), PROJECTOR, strict=True)))
    panel = panel_in(one, ONE)
    project(one, panel)
    named = []
    for _ in range(3):
        one.evaluate(STILL)
        title, keys = panel.locator(".pdsynth-title:visible"), panel.locator(".pdsynth-key")
        named.append((title.text_content(), keys.count()))
        panel.get_by_role("button", name="next chart").press("Enter")
    panel.get_by_role("button", name="projector mode").press("Enter")
    one.evaluate(STILL)
    assert [count for _, count in named] == [2, 2, 0], named


def test_a_group_has_its_colour_in_the_legend_whatever_its_first_mark_has(one):
    panel = panel_in(one, ONE)
    for name, value in (("epsilon", "0.1"), ("k", "4")):
        box = panel.locator(f".pdsynth-c-{name} input[type=number]")
        box.fill(value)
        box.press("Enter")
    panel.locator(".pdsynth-status").filter(has_text="drowns 12 of 14").wait_for()
    one.evaluate(STILL)
    fills = panel.locator(".pdsynth-key g").evaluate_all("all => all.map(g => g.style.fill || "
                                                         "g.getAttribute('fill'))")  # fmt: skip
    run_panel(one, ONE)
    assert fills == ["#0072B2", "#56B4E9"]


def test_a_line_above_a_filled_area_is_a_line_in_the_legend(bench):
    """Its swatch was a block of the area's colour, which is nearly white."""
    key = run_panel(bench, "personal").locator(".pdsynth-key").first
    bench.evaluate(STILL)
    assert key.locator("path").first.get_attribute("stroke") == ink("none"), key.inner_html()
    assert "rgba" not in key.inner_html()


def test_names_of_several_lines_turn_only_where_their_longest_line_has_no_room(bench):
    panel = second_chart(bench, "ordering")
    ticks = panel.locator(".pdsynth-chart:visible .xtick text")
    turned = ticks.evaluate_all("all => all.map(t => /rotate\\(-?[1-9]/.test(t.outerHTML))")
    assert turned == [False] * 3


def test_the_words_of_a_menu_begin_where_it_does(bench):
    panel = run_panel(bench, "first_table")
    bench.set_viewport_size({"width": 1440, "height": 900})
    bench.evaluate(STILL)
    box = panel.locator(".pdsynth-choice").first
    label, menu = (box.locator(part).bounding_box() for part in (".widget-label", "select"))
    assert label["y"] + label["height"] <= menu["y"], "above it"
    assert abs(label["x"] - menu["x"]) <= 4


def test_the_measure_finds_what_is_wrong(one):
    """The failing twin: a label is moved onto another, a text is clipped, a bar appears."""
    panel = panel_in(one, ONE)
    panel.get_by_role("button", name="More settings").press("Enter")
    one.evaluate(STILL)
    assert panel.evaluate(MEASURE)["found"] == []
    for change, words in (
        ("n => { n.querySelectorAll('.ytick text')[1].setAttribute('transform', "
         "n.querySelectorAll('.ytick text')[0].getAttribute('transform')); "
         "n.querySelectorAll('.ytick text')[1].setAttribute('y', "
         "n.querySelectorAll('.ytick text')[0].getAttribute('y')); }", "texts overlap"),
        ("n => { const t = n.querySelector('.pdsynth-title'); t.style.height = '6px'; "
         "t.style.overflow = 'hidden'; }", "text cut by"),
        ("n => { const s = n.querySelector('.pdsynth-status'); s.style.overflowX = 'auto'; "
         "s.querySelector('.widget-html-content').style.minWidth = `${s.clientWidth + 4}px`; }",
         "scroll bar across"),
        ("n => n.querySelector('select').add(new Option('much longer than '.repeat(30)))",
         "in a menu"),
    ):  # fmt: skip
        panel.evaluate(change)
        assert any(words in what for what in panel.evaluate(MEASURE)["found"]), words


@pytest.mark.slow
def test_every_panel_at_four_sizes(every):
    """Whole, and with its controls and its first chart seen at once; the fourth is a projector's.

    In the light theme: no box depends on a colour.
    """
    found, names = [], list(LESSONS)
    for size in (*SIZES, PROJECTOR):
        if size in SIZES:
            # on a phone charts are so narrow that a label can't always stand beside a dashed line
            seen = [w for w in wrong(every, names, *size) if size != PHONE or "dashed" not in w]
            found += [f"{size}: {what}" for what in seen]
        if size in (*DESK, PHONE):
            found += unfit(every, names, *size)
    found += wrong_on_a_projector(every, names)
    assert found == [], "\n".join(found)
    assert not every.problems, every.problems


@pytest.mark.slow
def test_names_along_an_axis_stay_names_on_a_phone(every):
    every.set_viewport_size({"width": 390, "height": 844})
    every.evaluate(STILL)
    chart = panel_in(every, "sensitivity")
    names = chart.locator(".pdsynth-chart").first.locator(".ytick text").all_text_contents()
    assert len(names) == 8 and not any(name.lstrip("−-")[0].isdigit() for name in names), names


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_every_text_stands_out_in_both_themes(every, theme):
    turn(every, theme)
    faint = {name: panel_in(every, name).evaluate(FAINT, CONTRAST) for name in LESSONS}
    assert {name: texts for name, texts in faint.items() if texts} == {}
