"""The map of the course and its clock: ``python notebooks/course_map.py`` prints both.

Minutes of a lesson: its words at 200 a minute, its measured run time, and an allowance for every
code cell, guess, panel, exercise and displayed formula; all of them stand in ``map.toml``. What is
folded as "more" isn't counted. ``--measure`` runs the solutions notebooks and writes their seconds.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
import tomllib
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLUE, ORANGE = "#0072b2", "#d55e00"
Cell = tuple[str, str, str]


def load() -> dict:
    """``map.toml``: allowances, and the lessons by number."""
    data = tomllib.loads((HERE / "map.toml").read_text(encoding="utf-8"))
    return data | {"lessons": {lesson["number"]: lesson for lesson in data["lesson"]}}


def unfolded(cells: list[Cell]) -> list[Cell]:
    """Cells without those that stand below a heading marked "more", which is shown folded."""
    kept, depth = [], 0
    for kind, text, mark in cells:
        heading = re.match(r"(#+) ", text) if kind == "markdown" else None
        if depth and heading and len(heading[1]) <= depth:
            depth = 0
        if mark == "more" and heading:
            depth = len(heading[1])
        if not depth:
            kept.append((kind, text, mark))
    return kept


def words(text: str) -> int:
    """Words of a markdown text: neither formulas nor pictures nor tables' rules."""
    text = re.sub(r"\$\$.*?\$\$|!\[[^\]]*\]\([^)]*\)|\|[-:|]+\|", " ", text, flags=re.DOTALL)
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def seconds_of(cells: list[Cell], lesson: dict, allowed: dict) -> dict[str, float]:
    """Minutes of one lesson by what they are for."""
    cells = unfolded(cells)
    code = [text for kind, text, mark in cells if kind == "code" and mark != "solution"]
    prose = "\n".join(text for kind, text, _ in cells if kind == "markdown")
    checks = sum(bool(re.search(r"^(ex\.)?q\d+\.check\(", text, re.MULTILINE)) for text in code)
    panels = sum("panel(" in text for text in code)
    guesses = sum(bool(re.search(r"^guess\(", text, re.MULTILINE)) for text in code)
    return {
        "reading": words(prose) / allowed["words_a_minute"],
        "formulas": prose.count("$$") / 2 * allowed["formula"],
        "running": lesson["seconds"] / 60,
        "guesses": guesses * allowed["guess"],
        "code": (len(code) - 3 * checks - panels) * allowed["cell"],
        "panel": panels * allowed["panel"],
        "exercises": checks * allowed["exercise"],
    }


def minutes(cells: list[Cell], number: str) -> int:
    """Minutes of a lesson, to the next five."""
    data = load()
    spent = sum(seconds_of(cells, data["lessons"][number], data["allowance"]).values())
    return 5 * round(spent / 5 + 0.499)


def table(times: dict[str, int], files: dict[str, str]) -> str:
    """Three tables in Markdown: the core path, the case files, and what to end with."""
    core = [number for number in path(load()["lessons"]) if load()["lessons"][number].get("core")]
    data = {number: lesson for number, lesson in load()["lessons"].items() if number in files}
    link = {n: f"[{n} {data[n]['title']}]({files[n]}.ipynb)" for n in data}
    total = sum(times[n] for n in core)
    lines = [f"| the core path, {total / 60:.0f} hours | minutes |", "|---|---|"]
    lines += [f"| {link[n]} | {times[n]} |" for n in core]
    lines += ["", "| case file | the error | minutes |", "|---|---|---|"]
    lines += [f"| {link[n]} | {d['error']} | {times[n]} |" for n, d in data.items() if "error" in d]
    lines += ["", "| to end with | minutes |", "|---|---|"]
    rest = [n for n, d in data.items() if not d.get("core") and "error" not in d]
    lines += [f"| {link[n]} | {times[n]} |" for n in rest]
    return "\n".join(lines)


def path(lessons: dict) -> list[str]:
    """Lessons in an order in which each comes after what it needs; ties in the order of numbers."""
    done: list[str] = []
    while len(done) < len(lessons):
        ready = [n for n, d in lessons.items() if n not in done and set(d["needs"]) <= set(done)]
        if not ready:
            raise ValueError(f"the needs in map.toml form a circle beyond {done}")
        done.append(ready[0])
    return done


def svg(files: dict[str, str] | None = None) -> str:
    """The map as a picture: the core path down the left side, the others beside what they need.

    ``files``: where the box of a lesson leads, by its number.
    """
    data = load()["lessons"]
    at = {n: (20 + 230 * d["at"][1], 50 + 66 * d["at"][0]) for n, d in data.items()}
    arrows = [_arrow(at[need], at[n]) for n, d in data.items() for need in d["needs"]]
    boxes = [_box(at[n], n, data[n]) for n in data]
    if files:
        boxes = [f"<a href='{files[n]}'>{box}</a>" if n in files else box
                 for n, box in zip(data, boxes, strict=True)]  # fmt: skip
    heads = [
        f"<text x='{x}' y='{y}' font-size='15' font-weight='600' fill='{colour}'>{text}</text>"
        for x, y, text, colour in (
            (20, 32, "The core path", BLUE),
            (250, 98, "Case files, each named after its error", "#b34700"),
            (480, 476, "Three to end with", "#5a5a5a"),
        )
    ]
    role = "group" if files else "img"
    return (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 910 720' width='910' "
        f"font-family='Helvetica, Arial, sans-serif' role='{role}'><title>What needs what: the map "
        "of the course</title><rect width='910' height='720' fill='#ffffff'/><defs><marker "
        "id='a' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' "
        "orient='auto'><path d='M0 0L8 4L0 8z' fill='#767676'/></marker></defs>"
        f"{''.join(heads)}{''.join(arrows)}{''.join(boxes)}</svg>\n"
    )


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    (x, y), (to, down) = start, end
    ends = (x + 95, y + 48, to + 95, down) if x == to else (x + 190, y + 24, to, down + 24)
    return (
        "<line x1='{}' y1='{}' x2='{}' y2='{}' stroke='#767676' stroke-opacity='.7' "
        "marker-end='url(#a)'/>"
    ).format(*ends)


def _box(place: tuple[int, int], number: str, lesson: dict) -> str:
    x, y = place
    colour = BLUE if lesson.get("core") else ORANGE if "error" in lesson else "#767676"
    second = lesson.get("error", "")
    size = 12 if len(lesson["title"]) <= 23 else 10.5  # fits in wide letters, too
    lines = [
        f"<text x='{x + 95}' y='{y + (20 if second else 29)}' text-anchor='middle' "
        f"font-size='{size}' font-weight='600'>{number} {escape(lesson['title'])}</text>"
    ]
    if second:
        size = 11 if len(second) <= 30 else 10
        lines.append(
            f"<text x='{x + 95}' y='{y + 37}' text-anchor='middle' font-size='{size}'>"
            f"{escape(second)}</text>"
        )
    return (
        f"<rect x='{x}' y='{y}' width='190' height='48' rx='8' fill='#f7f9fb' "
        f"stroke='{colour}' stroke-width='2'/>{''.join(lines)}"
    )


def measure() -> None:
    """Run every solutions notebook and write its seconds into ``map.toml``."""
    runner = HERE.parent / "tests" / "course" / "run_notebook.py"
    text = (HERE / "map.toml").read_text(encoding="utf-8")
    for notebook in sorted((HERE / "solutions").glob("[0-9]*.ipynb")):
        start = time.perf_counter()
        subprocess.run([sys.executable, str(runner), str(notebook)], check=True, cwd=HERE)
        spent = round(time.perf_counter() - start)
        print(notebook.stem, spent, flush=True)
        head = rf'(number = "{notebook.stem[:2]}".*?seconds = )\d+'
        text = re.sub(head, rf"\g<1>{spent}", text, count=1, flags=re.DOTALL)
    (HERE / "map.toml").write_text(text, encoding="utf-8")


def main() -> None:
    """Print the minutes of every lesson by what they are for."""
    if "--measure" in sys.argv[1:]:
        measure()
    from build import cells  # noqa: PLC0415 - build imports this module

    data, total = load(), 0
    for source in sorted((HERE / "src").glob("*.py")):
        lesson = source.stem[:2]
        found = cells(source.read_text(encoding="utf-8"))
        parts = seconds_of(found, data["lessons"][lesson], data["allowance"])
        total += minutes(found, lesson)
        shown = ", ".join(f"{name} {value:.1f}" for name, value in parts.items())
        print(f"{source.stem}: {minutes(found, lesson)} minutes ({shown})")
    print(f"together {total} minutes, {total / 60:.1f} hours")


if __name__ == "__main__":
    main()
