"""The workshop: cells of the lessons that ``kit.toml`` names, and the clock that they must keep."""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import build as lessons  # noqa: E402
import course_map  # noqa: E402

Piece = tuple[str, str, str, str]  # section, kind, text, mark
RESERVE = "### Reserve: drop first\n\nOnly if there is time left."
KIT = tomllib.loads((HERE / "kit.toml").read_text(encoding="utf-8"))
LIMIT = 75  # minutes of the core
LIVE = "cells", "exercises", "running"  # what is done live takes ``live`` times as long


def read_sources() -> dict[str, str]:
    """The lessons' sources by number, filled in."""
    paths = sorted((HERE.parent / "src").glob("*.py"))
    filled = lessons.fill({path.stem: path.read_text(encoding="utf-8") for path in paths})
    return {name[:2]: text for name, text in filled.items()}


def split_pieces(source: str) -> list[Piece]:
    """Cells with the section (## heading) that they stand in; a text is split at headings."""
    found, section = [], ""
    for kind, text, mark in lessons.cells(source):
        parts = re.split(r"^(?=## )", text, flags=re.MULTILINE) if kind == "markdown" else [text]
        for part in filter(str.strip, parts):
            heading = re.match(r"## (.+)", part) if kind == "markdown" else None
            section = heading[1] if heading else section
            found.append((section, kind, part.strip("\n"), mark))
    return found


def get_section(pieces: list[Piece], start: str) -> list[lessons.Cell]:
    """The cells of the one section whose heading begins so; what is folded stays away."""
    names = {section for section, *_ in pieces if section.startswith(start)}
    names = names & {start} or names  # one that is named in full
    if len(names) != 1:
        raise KeyError(f"{len(names)} sections begin with {start!r}; kit.toml needs one")
    cells = [(kind, text, mark) for section, kind, text, mark in pieces if section in names]
    return course_map.unfolded(cells)


def get_exercise(pieces: list[Piece], number: int) -> list[lessons.Cell]:
    """The cells of one exercise: from its bold title to its check."""
    title, check = f"**{number} · ", f"ex.q{number}.check("
    start = next(
        i for i, (_, kind, text, _) in enumerate(pieces) if kind == "markdown" and title in text
    )
    end = next(i for i, (_, _, text, _) in enumerate(pieces) if i > start and check in text)
    _, _, text, mark = pieces[start]
    first = ("markdown", text[text.index(title) :], mark)
    return [first, *(piece[1:] for piece in pieces[start + 1 : end + 1])]


def part_cells(part: dict, sources: dict[str, str]) -> list[lessons.Cell]:
    """One part of the workshop: sections, exercises, a discussion."""
    pieces = split_pieces(sources[part["lesson"]])
    cells = [cell for start in part["sections"] for cell in get_section(pieces, start)]
    if "bridge" in part:  # what the chosen sections leave out and the exercises need
        cells.append(("markdown", part["bridge"].strip(), ""))
    for number in part["exercises"]:
        cells += get_exercise(pieces, number)
    talk = part["discussion"]
    cells.append(("markdown", f"### Discuss, {talk['minutes']} minutes\n\n{talk['text']}", ""))
    return cells


def get_title(lesson: str) -> str:
    """What the map calls a lesson."""
    return next(one["title"] for one in course_map.load()["lesson"] if one["number"] == lesson)


def reserve_cells(part: dict, sources: dict[str, str]) -> list[lessons.Cell]:
    """The exercises of a part that are dropped first."""
    pieces = split_pieces(sources[part["lesson"]])
    cells = [cell for number in part.get("reserve", []) for cell in get_exercise(pieces, number)]
    return [("markdown", RESERVE, ""), *cells] if cells else []


def live_minutes(minutes: dict[str, float]) -> float:
    """The sum of minutes by what they are for; what is done live takes longer."""
    return sum(
        value * (KIT["workshop"]["live"] if name in LIVE else 1) for name, value in minutes.items()
    )


def count_minutes(cells: list[lessons.Cell]) -> dict[str, float]:
    """Minutes by what they are for; discussions are counted by the caller."""
    allowed = KIT["allowance"]
    code = [text for kind, text, mark in cells if kind == "code" and mark != "solution"]
    prose = "\n".join(text for kind, text, _ in cells if kind == "markdown")
    kinds = [
        found[1]
        for kind, text, _ in cells
        if kind == "markdown"
        for found in [re.match(r"\*\*\d+ · ([\w ]+)\.\*\*", text)]
        if found
    ]
    guesses = sum(bool(re.search(r"^guess\(", text, re.MULTILINE)) for text in code)
    return {
        "reading": course_map.words(prose) / 200,
        "exercises": sum(allowed[kind] for kind in kinds),
        "guesses": guesses * allowed["guess"],
        "panels": sum("panel(" in text for text in code) * allowed["panel"],
        "cells": (len(code) - 2 * len(kinds)) * allowed["cell"],
    }


@dataclass(frozen=True)
class Part:
    """One part of the workshop: its cells, and the minutes of its core and of its reserve."""

    letter: str
    title: str
    cells: list[lessons.Cell]
    start: float
    minutes: dict[str, float]  # of the core, by what they are for; empty for a part in reserve
    reserve: dict[str, float]  # of what is dropped first

    @property
    def end(self) -> float:
        """The minute at which its core is over."""
        return self.start + live_minutes(self.minutes)


def make_parts() -> list[Part]:
    """All parts in order; a part of which everything is reserve comes last."""
    sources, plan = read_sources(), KIT["workshop"]
    found, clock = [], course_map.words(plan["opening"]) / 200
    for letter, part in zip("ABCDEFG", plan["part"], strict=False):
        core, extra = part_cells(part, sources), reserve_cells(part, sources)
        spent = count_minutes(core) | {"discussion": part["discussion"]["minutes"]}
        more = count_minutes(extra)
        title = get_title(part["lesson"])
        whole = part.get("all_reserve", False)
        end = clock + live_minutes(spent)
        marks = "reserve: drop first" if whole else f"minutes {clock:.0f} to {end:.0f}"
        kind, text, mark = core[0]
        core[0] = (kind, f"# Part {letter} · {title} ({marks})\n\n{text}", mark)
        made = Part(letter, title, core + extra, clock, {} if whole else spent,
                    spent if whole else more)  # fmt: skip
        found.append(made)
        clock = made.end
    return found


def make_clock(parts: list[Part]) -> tuple[str, float]:
    """The table of minutes, and the minutes of the core."""
    plan = KIT["workshop"]
    words = course_map.words(plan["opening"] + plan["closing"]) / 200
    running = plan["seconds"] / 60 * plan["live"]
    total = sum(live_minutes(part.minutes) for part in parts) + words + running
    rows = [f"| part {p.letter} | {live_minutes(p.minutes):.0f} | {live_minutes(p.reserve):.0f} |"
            for p in parts]  # fmt: skip
    rows += [f"| running | {running:.0f} | |", f"| opening and closing | {words:.0f} | |"]
    more = sum(live_minutes(part.reserve) for part in parts)
    rows.append(f"| **together** | **{total:.0f}** | **{more:.0f}** |")
    named = ", ".join(f"{name} {value:g} min" for name, value in KIT["allowance"].items())
    told = (
        f"*Words at 200 a minute, measured run times, {named}, discussions as stated. What is done "
        f"live (cells, exercises, running) takes {plan['live'] - 1:.0%} more, and is counted so.*"
    )
    head = "| | core, minutes | reserve, minutes |\n|---|---|---|"
    return "\n".join([head, *rows, "", told]), total


def make_workshop() -> tuple[list[lessons.Cell], float]:
    """All cells, and the minutes of the core."""
    plan, parts = KIT["workshop"], make_parts()
    clock, total = make_clock(parts)
    goals = "\n".join(f"* {goal}" for goal in plan["objectives"])
    opening = f"{plan['opening'].strip()}\n\nAfterwards you can\n\n{goals}\n\n{clock}"
    head = ("markdown", f"# {plan['title']}\n\n{opening}", "")
    cells = [cell for part in parts for cell in part.cells]
    return [head, *cells, ("markdown", plan["closing"].strip(), "")], total


def write_source(cells: list[lessons.Cell]) -> str:
    """Cells as a py:percent script, the form that the lessons' builder reads."""
    blocks = []
    for kind, text, mark in cells:
        tags = f' tags=["{mark}"]' if mark else ""
        if kind == "markdown":
            text = "\n".join(f"# {line}".rstrip() for line in text.splitlines())
        blocks.append(f"# %%{' [markdown]' if kind == 'markdown' else ''}{tags}\n{text}\n")
    return "\n".join(blocks)


def make_notebook(*, solutions: bool) -> str:
    """The workshop's notebook; its pictures and links lie one folder up."""
    text = lessons.notebook("glossary", write_source(make_workshop()[0]), solutions=solutions)
    text = text.replace("](pictures/", "](../pictures/").replace(
        "](../../pictures", "](../pictures"
    )
    return re.sub(r"\]\((?=\d\d_\w+\.ipynb)", "](../", text)
