"""How fast the course answers: ``python benchmarks/course.py [SITE]`` rewrites ``COURSE.md``.

Every panel: each control moved alone through the values of ``website/states.toml``, and what its
try-this buttons set, twice, since some panels remember places; processor time, computed and drawn.
SITE, a built site (default ``build/site/html``): lesson 00 from a plain file server in a fresh
browser profile, five times; then every panel's sliders, key by key, from the key to the picture.
``--keys`` measures and prints these keys alone, ``--panels`` the moves of panels.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "website"), str(ROOT / "tests")]

import states  # noqa: E402
from browser_tools import CHROMIUM, FLAGS  # noqa: E402
from site_tools import Server  # noqa: E402

from pdsynth.course import panels  # noqa: E402

GOAL = 300  # milliseconds from key to picture
SOON = 150  # milliseconds for 95 of 100 places
KEYS = 4  # of each slider: half of them to the right, half back
# Milliseconds from a key to the frame in which its figure is drawn, by the page's own clock.
WATCH = """panel => { window.drawn = null;
  const plot = panel.querySelector('.pdsynth-plot');
  addEventListener('keydown', () => { window.pressed = performance.now(); }, {capture: true});
  new MutationObserver(() => { if (plot.getAttribute('aria-busy') === 'false')
    requestAnimationFrame(() => { window.drawn = performance.now() - window.pressed; });
  }).observe(plot, {attributes: true, attributeFilter: ['aria-busy']}); }"""
NUMBER = """() => [...document.querySelectorAll('.cell_output')]
  .some(node => /\\d/.test(node.innerText) && node.getBoundingClientRect().height)"""


def moves(topic: str) -> list[dict]:
    """One control at a time, then what the try-this buttons set."""
    alone = [
        {name: value}
        for grid in states.GRIDS[topic]
        for name, values in grid.items()
        for value in values
    ]
    return alone + [dict(button.sets) for button in getattr(panels, topic).view.tries]


def panel_row(topic: str) -> str:
    """Milliseconds of moves to places that the panel hasn't seen, and to those that it has."""
    view = getattr(panels, topic).view
    table = view.table()
    given = [] if table is None else [table]
    view(*given)
    seconds: dict[str, list[float]] = {"new": [], "seen": []}
    for found in seconds.values():
        for move in moves(topic):
            start = time.process_time()
            try:
                view(*given, **move).figure.to_json()
            except ValueError:  # a refusal is shown in the panel, at once
                continue
            found.append(1e3 * (time.process_time() - start))
    new, late = np.percentile(seconds["new"], [50, 95])
    over = "over" if late > GOAL else ""
    seen = statistics.median(seconds["seen"])
    return f"| {topic} | {len(seconds['new'])} | {new:.0f} | {late:.0f} | {seen:.0f} | {over} |"


def first_number(site: Path) -> tuple[list[float], list[float]]:
    """Seconds until lesson 00 shows a number, and until its panel is drawn."""
    from playwright.sync_api import sync_playwright

    numbers, alive = [], []
    with Server(site) as address, sync_playwright() as p:
        for _ in range(5):
            browser = p.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            page = browser.new_page()
            start = time.perf_counter()
            page.goto(f"{address}/lessons/00_start_here.html", wait_until="commit")
            page.wait_for_function(NUMBER)
            numbers.append(time.perf_counter() - start)
            page.locator(".pdsynth-still, .pdsynth-live").first.scroll_into_view_if_needed()
            page.locator(".pdsynth-live .main-svg").first.wait_for()
            alive.append(time.perf_counter() - start)
            browser.close()
    return numbers, alive


def press(page: Page, panel: Locator) -> list[float]:
    """Milliseconds of each key on each slider of one panel that gives a new figure."""
    panel.evaluate(WATCH)
    found = []
    for slider in panel.locator("input[type=range]").all():
        if not slider.is_visible():
            continue
        slider.focus()
        for key in ["ArrowRight"] * (KEYS // 2) + ["ArrowLeft"] * (KEYS // 2):
            page.evaluate("window.drawn = null")
            before = slider.input_value()
            page.keyboard.press(key)
            if slider.input_value() == before:  # the end of the slider
                continue
            page.wait_for_timeout(GOAL)
            page.wait_for_function(
                "panel => drawn !== null || panel.querySelector('.pdsynth-alert [role=alert]')",
                arg=panel.element_handle(),
            )
            if (drawn := page.evaluate("drawn")) is not None:  # else it needs a kernel
                found.append(float(drawn))
    return found


def keys(site: Path) -> str:
    """A line for each panel of the site, and one for all keys together."""
    from playwright.sync_api import sync_playwright

    lines, every = [], []
    with Server(site) as address, sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        for path in sorted((site / "lessons").glob("[0-9]*.html")):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{address}/lessons/{path.name}")
            page.evaluate(
                "for (const n of document.querySelectorAll('.pdsynth-still')) n.scrollIntoView()"
            )
            page.locator(".pdsynth-live .main-svg").first.wait_for()
            page.wait_for_timeout(1000)
            for place, panel in enumerate(page.locator(".pdsynth-live").all()):
                found = press(page, panel)
                every += found
                if found:
                    name = path.stem if not place else f"{path.stem}, panel {place + 1}"
                    late, most = np.percentile(found, 95), max(found)
                    lines.append(
                        f"| {name} | {len(found)} | {np.median(found):.0f} | {late:.0f} | {most:.0f} |"
                    )  # noqa: E501
            page.close()
        browser.close()
    soon, in_time = (100 * np.mean(np.array(every) <= goal) for goal in (SOON, GOAL))
    lines.append(
        f"| **all** | {len(every)} | {np.median(every):.0f} | {np.percentile(every, 95):.0f} | {max(every):.0f} |"
    )  # noqa: E501
    head = f"{soon:.1f} % of the keys have their picture within {SOON} ms (goal 95 %), {in_time:.1f} % within {GOAL} ms (goal all)."  # noqa: E501
    table = "| panel | keys | median, ms | 95 of 100 within | slowest |\n|---|---|---|---|---|\n"
    return f"{head}\n\n{table}" + "\n".join(lines) + "\n"


def main(words: list[str]) -> None:
    """Measure, and write the page."""
    alone = {"--keys", "--panels"}.intersection(words)
    words = [word for word in words if word not in alone]
    site = Path(words[0]) if words else ROOT / "build" / "site" / "html"
    if alone:
        print(f"load {os.getloadavg()[0]:.1f}\n")
        print(keys(site) if "--keys" in alone else "\n".join(map(panel_row, states.GRIDS)))
        return
    numbers, alive = first_number(site)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    rows = [panel_row(topic) for topic in states.GRIDS]
    text = f"""# How fast the course answers

`python benchmarks/course.py [SITE]` measures this again. {time.strftime("%Y-%m-%d", time.gmtime())}, {os.cpu_count()} cores, load {load:.1f} at the start.

The site, lesson 00, plain file server, empty cache, five times: its first number after {statistics.median(numbers):.1f} s
(slowest {max(numbers):.1f} s; goal 3 s); its panel can be moved after {statistics.median(alive):.1f} s (slowest {max(alive):.1f} s).

Panels, milliseconds of processor time from a moved control to a drawn figure, for places not seen before and again for the same
ones; goal {GOAL} for 95 of 100 new places:

| panel | places | new: median | 95 of 100 within | seen: median | |
|---|---|---|---|---|---|
"""  # noqa: E501
    pressed = f"""
## From a key to its picture

The site in a browser, 1440 × 900, {KEYS} arrow keys on each slider in reach, from the key to the frame with the new figure; no kernel.
{keys(site)}"""
    page = Path(__file__).with_name("COURSE.md")
    page.write_text(text + "\n".join(rows) + "\n" + pressed, encoding="utf-8")
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
