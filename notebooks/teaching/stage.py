"""What a facilitator has in hand: the run sheet, slides, the evaluation form, the class's guesses."""

from __future__ import annotations

import re
import shutil
from html import escape
from pathlib import Path

from workshop import (
    HERE,
    KIT,
    Part,
    count_minutes,
    lessons,
    make_clock,
    make_parts,
    read_sources,
    write_source,
)

PICTURES = HERE.parent / "pictures"
PICTURE = re.compile(r"!\[([^\]]+)\]\(pictures/(\w+)\.svg\)")
QUESTION = re.compile(r'^guess\("((?:[^"\\]|\\.)*)", .*?(?:unit="([^"]*)")?(?:, [^"]*)?\)$', re.M)
SCALE = "1 not at all · 2 · 3 · 4 · 5 fully"
STYLE = """
body { margin: 0; font: 28px/1.35 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
section { box-sizing: border-box; min-height: 100vh; padding: 4vh 6vw; display: flex; flex-direction: column;
  justify-content: center; gap: 2vh; break-after: page; scroll-snap-align: start; }
html { scroll-snap-type: y mandatory; }
h1 { font-size: 1.6em; line-height: 1.15; margin: 0; } p { margin: 0; max-width: 50em; }
svg { width: 100%; height: auto; max-height: 56vh; } footer { font-size: .5em; color: #595959; }
"""
KEYS = """
const pages = [...document.querySelectorAll("section")];
addEventListener("keydown", (event) => {
  const step = {ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1}[event.key];
  if (!step) return;
  event.preventDefault();
  const now = pages.findIndex((page) => page.getBoundingClientRect().bottom > innerHeight / 2);
  pages[Math.min(Math.max(now + step, 0), pages.length - 1)].scrollIntoView();
});
"""


def headings(part: Part) -> list[tuple[float, str]]:
    """Minute and name of every section, exercise and discussion of a part's core."""
    found, clock = [], part.start
    cells = part.cells
    for place, (kind, text, _) in enumerate(cells):
        if kind != "markdown":
            continue
        if text.startswith("### Reserve"):
            break
        name = re.search(r"^(?:##|###) (.+)$|^\*\*(\d · [\w ]+)\.\*\*", text, re.MULTILINE)
        if name:
            found.append((part.start + minutes_before(cells, place, part), name[1] or name[2]))
    return found or [(clock, part.title)]


def minutes_before(cells: list[lessons.Cell], place: int, part: Part) -> float:
    """Minutes of a part's cells before one of them, discussions left out."""
    spent = count_minutes(cells[:place])
    return sum(v * (KIT["workshop"]["live"] if k in ("cells", "exercises") else 1)
               for k, v in spent.items())  # fmt: skip


def write_facilitator() -> str:
    """The run sheet: minute marks, what to say, when to stop, what they ask."""
    parts = make_parts()
    clock, total = make_clock(parts)
    out = [
        "# For whoever stands in front",
        "",
        f"The core takes {total:.0f} minutes by the clock below; what stands in reserve is dropped "
        "first. Made from `kit.toml` by `python notebooks/teaching/kit.py`. Text: CC BY 4.0.",
        "",
        "**The day before.** Run `python3 run.py lab` on every laptop, open the workshop, run its first cell. "
        "For those who can't install anything: `kit.py --out kit --site build/site/html` packs the website; "
        "unpacked, its pages open by themselves (their panels move once any file server serves them). "
        "Print the [evaluation form](evaluation.md). Slides and the sheet for the class's guesses come with "
        "`kit.py --out kit`.",
        "",
        "**Guesses.** Ask, wait, collect five to ten numbers aloud, type them into `class_guesses.ipynb`, then "
        "let them commit. The spread of the guesses is worth more than who was right.",
        "",
        "**What they can do afterwards**",
        "",
        *(f"* {goal}" for goal in KIT["workshop"]["objectives"]),
        "",
        clock,
    ]
    for given, part in zip(KIT["workshop"]["part"], parts, strict=True):
        marks = (
            f"minutes {part.start:.0f} to {part.end:.0f}" if part.minutes else "reserve: drop first"
        )
        out += [
            "",
            f"## Part {part.letter} · {part.title} ({marks})",
            "",
            "| minute | what |",
            "|---|---|",
        ]
        out += [f"| {minute:.0f} | {name} |" for minute, name in headings(part)]
        out += [
            "",
            f"**Say.** {given['say']}",
            "",
            f"**Stop when:** {given['stop']}",
            "",
            "**They ask**",
            "",
        ]
        out += [f"* *{question}* {answer}" for question, answer in given["asked"]]
        if given.get("reserve"):
            numbers = ", ".join(map(str, given["reserve"]))
            out += ["", f"**Reserve, drop first:** exercise {numbers}."]
    return "\n".join([*out, ""])


def write_evaluation() -> str:
    """One page: what they know before and after, how sure they are of each objective, free words."""
    out = ["# What was it worth?", "", "No names, please. Text: CC BY 4.0.", ""]
    for when in ("Before", "After"):
        out += [f"## {when}", ""]
        for number, check in enumerate(KIT["check"], 1):
            out += [f"{number}. {check['text']}", *(f"   - [ ] {one}" for one in check["options"])]
        out.append("")
    out += [f"## I can … ({SCALE})", "", "| | 1 | 2 | 3 | 4 | 5 |", "|---|---|---|---|---|---|"]
    out += [f"| {goal.rstrip('.;')} | | | | | |" for goal in KIT["workshop"]["objectives"]]
    out += ["", "## In your words", "", "* What surprised you most?", "* Where did you lose the thread?",
            "* What will you do differently with the next table?"]  # fmt: skip
    return "\n".join([*out, ""])


def write_slides() -> str:
    """Slides as one page without other files: arrow keys turn them, printing makes pages."""
    slides, number = [], len(KIT["slide"])
    told = {name: alt for text in read_sources().values() for alt, name in PICTURE.findall(text)}
    for place, slide in enumerate(KIT["slide"], 1):
        picture = ""
        if "picture" in slide:
            text = (PICTURES / f"{slide['picture']}.svg").read_text(encoding="utf-8")
            names = set(re.findall(r'\bid="([^"]+)"', text))  # unique among all slides
            for name in sorted(names, key=len, reverse=True):
                text = re.sub(
                    rf'(id="|#){re.escape(name)}(?=["\'\)])', rf"\g<1>s{place}-{name}", text
                )
            named = f'<svg role="img" aria-label="{escape(told[slide["picture"]])}"'
            picture = text.replace("<svg", named, 1)
        slides.append(
            f"<section><h1>{escape(slide['title'])}</h1>{picture}<p>{escape(slide['says'])}</p>"
            f"<footer>{place} of {number} · pdsynth · CC BY 4.0</footer></section>"
        )
    return (
        "<!doctype html>\n<html lang='en'><meta charset='utf-8'><meta name='viewport' "
        f"content='width=device-width, initial-scale=1'><title>Private tables: slides</title>"
        f"<style>{STYLE}</style>\n" + "\n".join(slides) + f"\n<script>{KEYS}</script></html>\n"
    )


def find_guesses(parts: list[Part]) -> list[tuple[str, str, str]]:
    """Part, question and unit of every guess of the workshop that asks for a number."""
    return [
        (part.letter, found[1], found[2] or "")
        for part in parts
        for kind, text, _ in part.cells
        if kind == "code"
        for found in QUESTION.finditer(text)
        if "options=" not in found[0]
    ]


def write_guesses() -> str:
    """A notebook in which the class's guesses become a picture, one cell a question."""
    cells: list[lessons.Cell] = [
        ("markdown", "# The class's guesses\n\nType what you hear, several at once: `12 30 55,5`. **Enter** adds "
         "them. When all have committed, type the answer behind a sign of equality: `= 55.4`.", ""),
        ("code", "from pdsynth.course.crowd import crowd", ""),
    ]  # fmt: skip
    for letter, question, unit in find_guesses(make_parts()):
        cells += [
            ("markdown", f"## Part {letter}", ""),
            ("code", f"crowd({question!r}, unit={unit!r})", ""),
        ]
    return lessons.notebook("glossary", write_source(cells), solutions=False)


def zip_site(site: Path, folder: Path) -> Path:
    """The built website as one file, for those who can't install anything."""
    if not (site / "index.html").exists():
        raise SystemExit(
            f"{site} holds no built website: python3 run.py site makes it in build/site/html"
        )
    return Path(shutil.make_archive(str(folder / "site"), "zip", site))
