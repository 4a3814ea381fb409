"""The built website in a real browser, from a plain file server: no kernel, no other address."""

import hashlib
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser_tools import CHROMIUM, STILL
from filelock import FileLock
from script_tools import load
from site_tools import Server, broken, leaks, of_this_machine

from pdsynth.course.guess import guess
from pdsynth.course.typed import read_typed

PHONE = {"width": 360, "height": 780}
SIZES = (PHONE, {"width": 1024, "height": 768}, {"width": 1440, "height": 900})
PROJECTOR, SMALLEST = {"width": 1280, "height": 720}, 18
# What sticks out of the page and can't be scrolled to in a box of its own.
CUT = """() => [...document.querySelectorAll('.bd-article *')].filter(node => {
  const box = node.getBoundingClientRect();
  if (!box.width || box.right <= innerWidth + 1) return false;
  for (let up = node.parentElement; up; up = up.parentElement)
    if (['auto', 'scroll'].includes(getComputedStyle(up).overflowX)) return false;
  return !node.closest('svg, mjx-container, .visually-hidden, .sr-only');
}).slice(0, 5).map(node => `${node.tagName}.${node.className}: ${node.textContent.slice(0, 60)}`)"""
# Boxes whose content is wider than they are, as paper would cut it.
SCROLLS = """() => [...document.querySelectorAll('article *')].filter(node =>
  node.clientWidth && node.scrollWidth > node.clientWidth + 1 &&
  ['auto', 'scroll'].includes(getComputedStyle(node).overflowX)).map(node => node.className)"""
# Words of tables that are broken in two, unless at a hyphen of theirs; Chinese may break anywhere.
BROKEN = r"""() => {
  const found = new Set(), walker = document.createTreeWalker(
    document.querySelector('article'), NodeFilter.SHOW_TEXT);
  const range = document.createRange();  // one: whatever changes on the page is told to each
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const within = (tags) => node.parentElement.closest(tags);
    if (!within('td, th') || within('pre, svg')) continue;
    for (const word of node.data.matchAll(/[\p{Script=Latin}\p{Script=Greek}\p{N}.,_]+/gu)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const tops = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (tops.size > 1) found.add(word[0]);
    }
  }
  return [...found].slice(0, 5); }"""
# Leaves one of several spans of code that have the same classes and styles, up to the article.
ONE_OF_A_KIND = """() => {
  const look = (node, top) => node === top ? '' :
    `${look(node.parentElement, top)}/${node.className} ${node.style.cssText}`;
  const seen = new Set(), article = document.querySelector('article');
  for (const pre of article.querySelectorAll('pre')) {
    const copy = pre.cloneNode(true), where = look(pre, article);
    for (const span of copy.querySelectorAll('span')) {
      const kind = where + look(span, copy);
      if (seen.has(kind)) span.replaceWith(...span.childNodes);
      seen.add(kind);
    }
    pre.replaceWith(copy);
  } }"""
# A picture without words; a word of code, the second of its kind, that can't be read; and a word
# that can't for what is behind it alone, after one that can.
SHUT = """document.querySelector('article').insertAdjacentHTML('beforeend',
  '<div id=twin><img src="data:,"><pre>' +
  '<span style="color: #888; background: #777">faint</span>'.repeat(2) + '</pre>' +
  ['', 'gray'].map(ground => `<p style="background: ${ground}"><b>seen</b></p>`).join('') +
  '</div>')"""
MARKS = (
    "() => [...document.querySelectorAll('.pdsynth-live .cartesianlayer path')]"
    ".map(path => path.getAttribute('d') + path.getAttribute('transform')).join()"
)

MEASURE, FAINT, LOOKS = (
    (Path(__file__).parents[1] / name).read_text("utf-8")
    for name in ("course/measure.js", "course/faint.js", "website/looks.js")
)

pytest.importorskip("playwright.sync_api")
pytest.importorskip("myst_nb")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine"),
]


def build(root, *options):
    run = subprocess.run(
        [sys.executable, str(root / "website" / "build.py"), *options],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-5000:]
    assert "[docutils]" not in run.stderr, "a docstring isn't written as its marks are read"
    return run


def once(root, shared, name, *options):
    """A site that all workers share: the first one builds it, from what lessons were seen to show.

    ``test_notebooks.py`` leaves that in the same cache.
    """
    folder = shared / name
    with FileLock(f"{folder}.lock"):
        if not (folder / "built").exists():
            build(root, *options, "--out", str(folder), "--cache", str(shared / "cache"))
            (folder / "built").touch()
    return folder / "html"


def built(root, shared, name, *options):
    """The site in ``PDSYNTH_SITE``, all of it, if that is set, as before it is published."""
    if whole := os.environ.get("PDSYNTH_SITE"):
        return (root / whole).resolve()
    return once(root, shared, name, *options)


@pytest.fixture(scope="module")
def one(root, shared):
    """The site of lesson 00 alone."""
    return once(root, shared, "one", "--lessons", "00", "--brief", "--few")


@pytest.fixture(scope="module")
def site(root, shared):
    """All pages and lessons; one control of each panel moves, which is built sooner."""
    return built(root, shared, "site", "--few")


@pytest.fixture
def visit(browser):
    """Opens pages that collect their errors and whatever they ask of another server."""
    opened = []

    def visit(address, path, **options):
        page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
        page.requests, page.problems = [], []
        page.on("request", lambda r: page.requests.append(r.url))
        page.on("response", lambda r: page.problems.append(r.url) if r.status >= 400 else None)
        page.on("pageerror", lambda e: page.problems.append(str(e)))
        page.on("console", lambda m: page.problems.append(m.text) if m.type == "error" else None)
        page.set_default_timeout(60_000)
        opened.append(page)
        page.goto(f"{address}/{path}")
        return page

    yield visit
    for page in opened:
        page.close()


def go(page, url, size):
    """Another page in the same window: scripts that both have are compiled once."""
    page.set_viewport_size(size)
    page.requests.clear()
    page.problems.clear()
    page.goto(url)


def live(page):
    """The first panel, drawn; it starts when it comes near."""
    page.evaluate("document.querySelector('.pdsynth-still, .pdsynth-live').scrollIntoView()")
    page.locator(".pdsynth-live .main-svg").first.wait_for()
    return page.locator(".pdsynth-live").first


def parts(page):
    """What the panel shows: its words, its first table, and what is drawn."""
    panel = page.locator(".pdsynth-live").first
    panel.locator(".pdsynth-plot[aria-busy=false]").wait_for()
    return (
        panel.locator(".pdsynth-status").text_content(),
        panel.locator(".pdsynth-tables").text_content(),
        page.evaluate(MARKS),
    )


def press(page, name, key, times=1):
    handle = page.get_by_role("slider", name=name).first
    handle.focus()
    for _ in range(times):
        handle.press(key)


def darken(page):
    """The dark theme, once the panel is drawn in its ink and no colour is on its way any more."""
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    ink = "getComputedStyle(document.querySelector('.pdsynth-live [class$=tick] text')).fill"
    moving = "document.getAnimations().some(one => one.playState === 'running')"
    page.wait_for_function(f"() => {ink} === 'rgb(224, 224, 224)' && !({moving})")


def outside(page):
    """Requests that left the server."""
    own = ("/".join(page.url.split("/")[:3]) + "/", "data:", "blob:")
    return [url for url in page.requests if not url.startswith(own)]


def clean(page):
    assert outside(page) == []
    assert page.problems == []


def test_lesson_00_moves_without_a_kernel_and_without_a_network(one, visit):
    with Server(one) as address:
        page = visit(address, "lessons/00_start_here.html")
        live(page)
        before = parts(page)
        finding = page.locator(".pdsynth-live .pdsynth-status b").first
        assert finding.evaluate("b => getComputedStyle(b).display") == "block", "a title of its own"
        labels = page.locator(".pdsynth-live .pdsynth-control b").all_text_contents()
        assert labels == ["privacy budget", "column"]
        press(page, "ε, ", "ArrowLeft", 2)
        after = parts(page)
        assert before[0] != after[0] and before[2] != after[2]
        box = page.locator(".pdsynth-live input[type=number]").first
        held, edge = box.input_value(), box.bounding_box()
        page.mouse.click(edge["x"] + edge["width"] - 10, edge["y"] + 6)
        assert box.input_value() == held, "no arrow for the mouse leads to what isn't held"
        box.fill("0.15")
        box.press("Enter")
        alert = page.locator(".pdsynth-live span[role=alert]")
        alert.filter(has_text="needs a kernel").wait_for()
        assert parts(page) == after, "the last good state stays"
        press(page, "ε, ", "ArrowRight")
        assert alert.count() == 0
        button = page.locator(".pdsynth-live .pdsynth-tries button").first
        button.click()
        assert page.locator(".pdsynth-live .pdsynth-told").text_content().strip()
        darken(page)
        assert page.locator(".pdsynth-live").first.evaluate(FAINT, 3.0) == []
        clean(page)
        assert page.evaluate(BROKEN) == []
        narrow = "table { table-layout: fixed; width: 60px !important }"
        page.add_style_tag(content=narrow + " td { word-break: break-all }")
        assert page.evaluate(BROKEN), "the failing twin: words in cells of a few pixels"


def test_a_guess_is_typed_and_committed_without_a_kernel(one, visit):
    with Server(one) as address:
        page = visit(address, "lessons/00_start_here.html")
        box = page.locator(".pdsynth-guess").first
        answer = box.locator("details")
        field = box.get_by_label("Your guess")
        assert not answer.is_visible()
        field.fill("many")
        field.press("Enter")
        assert "A number, please" in box.get_by_role("status").text_content()
        assert not answer.is_visible() and field.is_enabled()
        field.fill("1,5")
        field.press("Enter")
        assert box.get_by_role("status").text_content() == "You: 1.5 of 100"
        assert "Answer: " in answer.inner_text() and field.is_disabled()
        hidden = page.locator(".cell.tag_hide-input:has(.pdsynth-guess)").first
        assert hidden.locator("details.hide").get_attribute("open") is None, "its code is folded"
        texts = ["1,5", "0,125", "1,000", "1.000", "1.234,5", "12 %", "−3", "1 000", "1,2,3", "",
                 "x", "1e3", ".5", "5.", "1,234.5", "1,234,567", "--1", "1_000", "+2",
                 "1/3", " 0,5 / 2", "1/0", "1/2/3", "/2", "2/", "-1/4 %", "1/x"]  # fmt: skip
        load = "Promise.all([import('/_static/guesses.js')])"
        read = page.evaluate(f"ts => {load}.then(([m]) => ts.map(m.readTyped))", texts)
        assert read == [typed(text) for text in texts]
        facts = {"unit": "legs", "one": "leg", "digits": 3}
        numbers = [14.84, 0.0123456, 1234567, 0, 2.0, 1]
        written = page.evaluate(
            f"([ns, f]) => {load}.then(([m]) => ns.map(n => m.write(n, f)))", [numbers, facts]
        )
        asked = guess("?", lambda: 1, unit="legs")
        assert written == [asked.write(number) for number in numbers]
        clean(page)


def test_a_lesson_page_loads_at_most_3_mb_and_its_panel_is_alive(one, visit):
    """What crosses the wire from a plain file server: text, styles, formulas, panel, states."""
    with Server(one) as address:
        page = visit(address, "lessons/00_start_here.html")
        sizes = {}
        page.on("response", lambda r: sizes.update({r.url: len(r.body()) if r.ok else 0}))
        page.reload()
        live(page)
        page.wait_for_load_state("networkidle")
        crossed = {url: size for url, size in sizes.items() if not url.startswith("blob:")}
        assert any("plotly" in url for url in crossed) and any("mathjax" in url for url in crossed)
        assert sum(crossed.values()) < 3_000_000, sorted(crossed.items(), key=lambda one: -one[1])
        icons = page.locator(".bd-header svg, .bd-article-container svg.fa-expand, button svg")
        assert icons.count() >= 2, "the icons that are used are drawn"
        clean(page)


def test_what_comes_from_npm_is_what_it_says(root):
    (path,) = (root / "website" / "vendor").glob("*.tgz")
    told = (path.parent / "README.md").read_text("utf-8")
    assert hashlib.sha256(path.read_bytes()).hexdigest() in told and path.name in told
    version = re.search(r"min-([\d.]+)\.tgz", path.name)[1]
    lessons = pytest.importorskip("plotly.offline").get_plotlyjs_version()
    assert version == lessons, "the site draws as the lessons do: npm pack the same version"


def test_home_begins_with_a_question_and_a_live_panel_and_its_map_leads_to_lessons(one, visit):
    with Server(one) as address:
        page = visit(address, "index.html")
        first = page.locator("article p").first.text_content()
        assert "?" in first, first
        live(page)
        before = parts(page)
        page.locator(".pdsynth-live input[type=range]").first.focus()
        page.keyboard.press("Home")
        assert parts(page) != before
        boxes = page.locator("article svg a")
        widths = "all => all.map(t => t.getBBox().width)"
        names = page.locator(".pdsynth-map text[text-anchor=middle]").evaluate_all(widths)
        assert len(names) > 22 and max(names) <= 190, "names stay in their boxes"
        chart = page.locator(".pdsynth-map")
        assert chart.evaluate("one => one.scrollWidth <= one.clientWidth"), "on a desk all is seen"
        assert boxes.count() == 1 and boxes.first.get_attribute("href").endswith("here.html")
        commands, panel = page.locator("#the-library"), page.locator(".pdsynth-live").first
        assert "run.py lab" in commands.inner_text()
        assert panel.bounding_box()["y"] < commands.bounding_box()["y"], "commands stand below"
        clean(page)


def test_helpers_are_folded_and_symbols_are_words(one, root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "website"))
    build = load(root / "website" / "build.py")
    assert build.is_helper("import math\n\ndef f(x):\n    return x\nlimit = 3")
    for shown in ("f(3)", "def f(x):\n    return x\nf(3)", "x = 3", "def g(x):\n    ..."):
        assert not build.is_helper(shown), shown
    monkeypatch.setenv("PDSYNTH_SITE_STATIC", ".")
    conf = importlib.import_module("conf")
    assert conf.plain("L₀, $L_0$ and L_{0}") == "L0, $L0$ and L0"
    listed = ["One line.", "", "Parameters", "----------", "a, b : two of them,", "    alike.", ""]
    below = ["c : the third.", "", "**Privacy:** none.", ""]
    assert conf.spelt([*listed, *below]) == [
        *listed[:4],
        *("a, b", "    two of them,", "    alike.", ""),
        *("c", "    the third.", "", "Notes", "-----", "**Privacy:** none.", ""),
    ]
    assert conf.spelt(below) == below


def test_the_reference_shows_privacy_in_bold_and_each_parameter_with_its_type(site):
    """Napoleon takes what stands below our lists for more of their names."""
    pages = {path.stem: path.read_text("utf-8") for path in (site / "api").glob("*.html")}
    assert [name for name, text in pages.items() if "**Privacy" in text or ":param" in text] == []
    for name in ("ConsistentBayes", "PrivBayes", "audit", "baselines"):
        assert "<strong>Privacy:</strong>" in pages[f"pdsynth.{name}"]
    words = re.sub("<[^>]+>", "", pages["pdsynth.ConsistentBayes"])
    assert "epsilon (float) – as in every synthesizer" in words
    assert "k_counts_parents" not in words, "values that say nothing are left out"
    assert "#pdsynth.core.recipe.Recipe" in pages["pdsynth.ConsistentBayes"], "what all take"
    words = re.sub("<[^>]+>", "", pages["pdsynth.evaluate"])
    assert "GCAP: the mean share." in words, "a property's words before a colon are no type"


def shut_out(page, place="article", besides=(), **options):
    """Findings of axe-core in a place of the page, ``besides`` what is MathJax's on every page.

    Of the coloured words of code one of each kind stays an element: the others look like it.
    """
    page.evaluate(ONE_OF_A_KIND)
    page.evaluate(pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT)
    page.evaluate(LOOKS)
    context = {"include": [[place]], "exclude": [[name] for name in besides]}
    how = {"resultTypes": ["violations"], "preload": False, **options}  # loads no style sheet again
    run = "([context, how]) => axe.run(context, how).then(found => found.violations)"
    return [(one["id"], [node["html"][:200] for node in one["nodes"]][:4])
            for one in page.evaluate(run, [context, how])]  # fmt: skip


@pytest.mark.parametrize("path", ["index.html", "lessons/00_start_here.html"])
def test_nothing_shuts_a_reader_out(one, visit, path):
    """Findings of axe-core in what is ours: the article, panels and guesses included.

    In the dark theme its rules about colours, which is all that a theme changes.
    """
    with Server(one) as address:
        page = visit(address, path)
        live(page)
        assert page.evaluate("document.documentElement.dataset.theme") != "dark"
        assert shut_out(page) == []
        darken(page)
        colours = {"runOnly": ["color-contrast", "link-in-text-block"]}
        assert shut_out(page, **colours) == []
        page.evaluate(SHUT)
        assert {name for name, _ in shut_out(page, "#twin")} == {"image-alt", "color-contrast"}
        [(rule, texts)] = shut_out(page, "#twin", **colours)
        assert rule == "color-contrast" and len(texts) == 2, "each for its own ground"


def typed(text):
    """What the course reads; None for what is no number."""
    try:
        return read_typed(text)
    except ValueError:
        return None


def test_lesson_00_on_a_phone_cuts_nothing(one, visit):
    with Server(one) as address:
        page = visit(address, "lessons/00_start_here.html", viewport=PHONE)
        live(page)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= PHONE["width"]
        assert page.evaluate(CUT) == []
        widths = "img => [img.width, img.parentElement.clientWidth, img.parentElement.tabIndex]"
        picture = page.locator("article p > img[src$='.svg']").first
        page.wait_for_function("document.querySelector('article p:has(> img)').tabIndex === 0")
        width, box, reached = picture.evaluate(widths)
        assert width >= 700 > PHONE["width"] > box and reached == 0, "read by scrolling its box"
        page.set_viewport_size(SIZES[1])
        width, box, _ = picture.evaluate(widths)
        assert width <= box, "as wide as the text where there is room"
        clean(page)


def test_lesson_00_is_read_without_any_script_and_its_first_number_is_early(one, visit):
    with Server(one) as address:
        page = visit(address, "lessons/00_start_here.html", java_script_enabled=False)
        assert page.locator("article svg, article img").count() >= 1
        assert page.locator(".cell_output table").count() >= 1
        assert "LivePanel(" not in page.content() and "Run All" not in page.content()
    html = (one / "lessons" / "00_start_here.html").read_bytes()
    assert len(html) < 400_000
    assert html.index(b"cell_output") < 200_000, "of text: no script comes before it"


def test_paper_is_white_and_cuts_nothing(one, visit):
    with Server(one) as address:
        page = visit(address, "lessons/00_start_here.html", viewport={"width": 718, "height": 900})
        assert page.evaluate(SCROLLS), "the twin: tables wider than a window of that size"
        page.emulate_media(media="print")
        assert page.evaluate(SCROLLS) == []
        page.emulate_media(media="screen")
        theme = "document.documentElement.dataset.theme"
        page.evaluate(f"{theme} = 'dark'; onbeforeprint = () => window.printed = {theme}")
        page.pdf()
        assert page.evaluate(f"[window.printed, {theme}]") == ["light", "dark"]


def test_what_opens_a_part_of_the_list_has_a_name(root, tmp_path):
    build = load(root / "website" / "build.py")
    shown = '<summary><span class="toctree-toggle" role="presentation"></span></summary>'
    (tmp_path / "page.html").write_text(shown, encoding="utf-8")
    build.correct_pages(tmp_path)
    assert 'aria-label="pages below"' in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.slow
def test_lesson_07_moves_network_noise_ledger_and_distances(site, visit):
    with Server(site) as address:
        page = visit(address, "lessons/07_hpprivbayes.html")
        panel = live(page)

        def drawings():
            found = []
            for _ in range(panel.locator(".pdsynth-chart").count()):
                panel.locator(".pdsynth-plot[aria-busy=false]").wait_for()
                found.append(
                    panel.locator(".pdsynth-chart:visible").evaluate(
                        "c => [...c.querySelectorAll('.cartesianlayer :is(path, image)')]"
                        ".map(p => ['d', 'transform', 'href', 'xlink:href']"
                        ".map(name => p.getAttribute(name))).join()"
                    )
                )
                panel.get_by_role("button", name="next chart").press("Enter")
            return found

        seen, tables = [drawings()], [panel.locator(".pdsynth-table").first.text_content()]
        for key, times in (("Home", 1), ("ArrowRight", 3), ("End", 1)):
            press(page, "ε, privacy budget", key, times)
            seen.append(drawings())
            tables.append(panel.locator(".pdsynth-table").first.text_content())
        assert len(seen[0]) == 3, "network, noise, distances"
        for name, states in zip(("network", "noise", "distances"), zip(*seen, strict=True),
                                strict=True):  # fmt: skip
            assert len(set(states)) >= 3, f"the {name} follows ε"
        assert len(set(tables)) == 4, "the ledger follows ε"
        clean(page)


def moves(page, panel):
    """What is wrong if none of the panel's controls moves it."""
    seen = {parts(page)}
    for lever in panel.locator(":is(input[type=range], select):enabled").all():
        lever.focus()
        for key in ("End", "Home"):
            page.keyboard.press(key)
            seen.add(parts(page))
        if len(seen) > 1:
            return []
    return ["the panel doesn't move"]


def wrong_at(page, size):
    """What is cut, broken or overlapping on a page of this size."""
    page.set_viewport_size(size)
    page.evaluate(STILL)
    found = [f"cut: {text}" for text in page.evaluate(CUT)]
    found += [f"broken in two: {word}" for word in page.evaluate(BROKEN)]
    for panel in page.locator(".pdsynth-live").all():
        found += panel.evaluate(MEASURE)["found"]
    if page.evaluate("document.scrollingElement.scrollWidth") > size["width"]:
        found.append("wider than the page")
    if folder := os.environ.get("PDSYNTH_PICTURES"):
        name = f"{Path(page.url).stem}-{size['width']}.png"
        page.screenshot(path=Path(folder) / name, full_page=True)
    return [f"{size['width']} px: {what}" for what in found]


def wrong_on_a_projector(page):
    """The same of the panel in projector mode, and texts that are too small for a lecture room."""
    page.set_viewport_size(PROJECTOR)
    panel = page.locator(".pdsynth-live").first
    panel.get_by_role("button", name="projector mode").press("Enter")
    page.wait_for_function("document.fullscreenElement !== null")
    page.evaluate(STILL)
    found = panel.evaluate(MEASURE)
    small = found["smallest"] < SMALLEST
    if folder := os.environ.get("PDSYNTH_PICTURES"):
        page.screenshot(path=Path(folder) / f"{Path(page.url).stem}-projector.png")
    problems = found["found"] + [f"text of {found['smallest']} px"] * small
    return [f"projector: {what}" for what in problems]


@pytest.mark.slow
def test_every_lesson_is_whole_at_every_size_and_its_panel_moves(site, visit):
    wrong = {}
    with Server(site) as address:
        page = visit(address, "lessons/README.html", viewport=PHONE)
        for place, path in enumerate(sorted((site / "lessons").glob("[0-9]*.html"))):
            go(page, f"{address}/lessons/{path.name}", PHONE)
            found = moves(page, live(page))
            third = place % 3 == 0  # what fits a narrow window fits a wide one
            for size in SIZES if third else SIZES[:1]:
                found += wrong_at(page, size)
            for what, selector in (("figure", "article :is(svg, img)"), ("table", "article table")):
                found += [f"no {what}"] * (page.locator(selector).count() == 0)
            content = page.content()
            found += [f"{word} shows" for word in ("LivePanel(", "Run All", "Traceback (")
                      if word in content]  # fmt: skip
            # the ink of texts is that of one style sheet, and takes longest to judge
            rules = {} if third else {"rules": {"color-contrast": {"enabled": False}}}
            said = shut_out(page, besides=["mjx-container"], **rules)
            found += [f"axe: {one}" for one in said]
            if third:  # full screen looks alike everywhere: test_panel_layout.py sees every panel
                found += wrong_on_a_projector(page)
            found += [f"left the server: {url}" for url in outside(page)] + page.problems
            if found:
                wrong[path.name] = found
    assert wrong == {}


PAGES = """index lessons/glossary lessons/README api api/pdsynth.plan scoreboard figures/README
    GUIDE PROMISE figures/ADVICE figures/hpprivbayes/README figures/genetic/README
    api/pdsynth.HPPrivBayes genindex"""


@pytest.mark.slow
def test_the_claims_of_a_paper_stand_on_one_screen(site, visit):
    with Server(site) as address:
        page = visit(address, "scoreboard.html", viewport=SIZES[2])
        height = page.evaluate(
            "[...document.querySelectorAll('#scoreboard-of-claims > section')]"
            ".map(paper => [paper.id, paper.getBoundingClientRect().height])"
        )
        header = page.locator(".bd-header").bounding_box()["height"]
        assert len(height) >= 11
        assert {name: h for name, h in height if h > SIZES[2]["height"] - header} == {}


@pytest.mark.slow
def test_the_other_pages_are_whole_at_every_size(site, visit):
    wrong = {}
    with Server(site) as address:
        page = visit(address, "search.html", viewport=PHONE)
        for path in PAGES.split():
            go(page, f"{address}/{path}.html", PHONE)
            found = [what for size in SIZES for what in wrong_at(page, size)]
            found += [f"left the server: {url}" for url in outside(page)] + page.problems
            if found:
                wrong[path] = found
    assert wrong == {}


@pytest.mark.slow
def test_no_link_is_broken_and_nothing_is_loaded_from_elsewhere(site, root):
    """Links to lessons that aren't part of this site lead to notebooks that there are."""
    lessons = {path.stem for path in (root / "notebooks").glob("*.ipynb")}
    lessons -= {path.stem for path in (site / "lessons").glob("*.html")}
    wrong = [(page, link.lstrip("#").split("#")[0], why) for page, link, why in broken(site)]
    assert [found for found in wrong if Path(found[1]).stem not in lessons] == []


def test_lesson_00_says_nothing_of_the_machine_that_built_it(one, root):
    assert leaks(one, of_this_machine(root)) == []


@pytest.mark.slow
def test_no_page_says_anything_of_the_machine_that_built_it(site, root):
    """Nor do states, the index of the search, or pictures."""
    assert leaks(site, of_this_machine(root)) == []


@pytest.mark.slow
def test_home_search_claims_figures_and_reference_are_there(site, visit):
    with Server(site) as address:
        page = visit(address, "lessons/glossary.html")
        for path, words in (
            ("index.html", "Your first private table"),
            ("api.html", "ConsistentBayes"),
            ("api/pdsynth.HPPrivBayes.html", "epsilon"),
            ("scoreboard.html", "verdict"),
            ("figures/README.html", "python figures/make.py"),
            ("figures/privabn/README.html", "--redraw"),
        ):
            page.goto(f"{address}/{path}")
            assert words in page.locator("article").first.text_content()
            clean(page)
        page.goto(f"{address}/search.html?q=exponential+mechanism")
        page.locator(".search li a").first.wait_for()
        clean(page)
