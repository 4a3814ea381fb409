"""The workshop: cells of the lessons that ``kit.toml`` names, and the clock that they must keep."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import build as lessons  # noqa: E402
import course_map  # noqa: E402

Piece = tuple[str, str, str, str]  # section, kind, text, mark
KIT = tomllib.loads((HERE / "kit.toml").read_text(encoding="utf-8"))
LIMIT = 90


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
    kind, text, mark = cells[0]
    title = next(
        one["title"] for one in course_map.load()["lesson"] if one["number"] == part["lesson"]
    )
    return [(kind, f"# Part {part['letter']} · {title}\n\n{text}", mark), *cells[1:]]


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


def make_workshop() -> tuple[list[lessons.Cell], dict[str, dict[str, float]]]:
    """All cells, and the minutes of every part by what they are for."""
    sources, plan = read_sources(), KIT["workshop"]
    cells, minutes = [], {}
    for letter, part in zip("ABCDEFG", plan["part"], strict=False):
        made = part_cells(part | {"letter": letter}, sources)
        talk = part["discussion"]["minutes"]
        minutes[f"part {letter}"] = count_minutes(made) | {"discussion": talk}
        cells += made
    minutes["running"] = {"measured": plan["seconds"] / 60}
    closing = ("markdown", plan["closing"].strip(), "")
    minutes["opening and closing"] = {
        "reading": course_map.words(plan["opening"] + plan["closing"]) / 200
    }
    total = sum(sum(one.values()) for one in minutes.values())
    rows = "\n".join(f"| {name} | {sum(one.values()):.0f} |" for name, one in minutes.items())
    clock = (
        f"| | minutes |\n|---|---|\n{rows}\n| **together** | **{total:.0f}** |\n\n"
        "*Words at 200 a minute, measured run times, "
        + ", ".join(f"{name} {value:g} min" for name, value in KIT["allowance"].items())
        + ", discussions as stated.*"
    )
    head = ("markdown", f"# {plan['title']}\n\n{plan['opening'].strip()}\n\n{clock}", "")
    return [head, *cells, closing], minutes


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
