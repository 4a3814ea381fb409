"""How fast the course answers: ``python benchmarks/course.py [SITE]`` rewrites ``COURSE.md``.

Every panel: each control moved alone through the values of ``website/states.toml``, and what its
try-this buttons set, twice, since some panels remember places; processor time, computed and drawn.
SITE, a built site (default ``build/site/html``): lesson 00 from a plain file server in a fresh
browser profile, five times.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "website"), str(ROOT / "tests")]

import states  # noqa: E402
from browser_tools import CHROMIUM, FLAGS  # noqa: E402
from site_tools import Server  # noqa: E402

from pdsynth.course import panels  # noqa: E402

GOAL = 300  # milliseconds from key to picture
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


def main(words: list[str]) -> None:
    """Measure, and write the page."""
    site = Path(words[0]) if words else ROOT / "build" / "site" / "html"
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
    page = Path(__file__).with_name("COURSE.md")
    page.write_text(text + "\n".join(rows) + "\n", encoding="utf-8")
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
