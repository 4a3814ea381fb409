"""Generates the notebooks: ``python notebooks/build.py`` writes them, ``--check`` names stale ones.

A source is a py:percent script. In a code cell, what follows a line ``# solution`` is the solution:
the student notebook keeps what stands before it. A cell marked ``# %% tags=["solution"]`` stands in
the solutions notebook only. Pictures lie beside the notebooks, so that they show wherever this folder
is opened; ``pictures/PAPER_figN.svg`` is a copy of ``figures/PAPER/figN.svg``, made here.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import course_map  # noqa: E402
import glossary  # noqa: E402

CELL = re.compile(r"^# %%(.*)\n", re.MULTILINE)
COPY = re.compile(r"\]\(pictures/((?P<paper>[a-z]+)_(?P<figure>fig\d+)\.svg)\)")
SOLUTION = re.compile(r"^# solution\n", re.MULTILINE)
HINT = (
    "\n\n*Go cell by cell with **Shift + Enter**. Where you are asked to guess, guess: the answer "
    "shows when you commit; its code is folded until you open it. A panel's cell starts by itself, without the cells above it. "
    "Words and symbols: [glossary](glossary.ipynb).*"
)
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "name": "python"},  # for nbconvert --to script
}
FOLDED = {"jp-MarkdownHeadingCollapsed": True, "tags": ["more"]}
HIDDEN = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"]}  # in Lab, and on the site
GUESS = re.compile(r"^guess\(", re.MULTILINE)
Cell = tuple[str, str, str]  # kind, text, mark: "solution", "more" or nothing


def cells(source: str) -> list[Cell]:
    """Cells of a py:percent script, without what only its formatter reads."""
    found = []
    marks_and_texts = CELL.split(source.replace("  # fmt: skip", ""))[1:]
    for mark, text in zip(marks_and_texts[::2], marks_and_texts[1::2], strict=True):
        kind = "markdown" if "[markdown]" in mark else "code"
        if kind == "markdown":
            text = re.sub(r"^# ?", "", text.strip("\n"), flags=re.MULTILINE).strip()
        if kind == "markdown" or text.strip():
            word = next((word for word in ("solution", "more") if word in mark), "")
            found.append((kind, text.strip("\n").rstrip(), word))
    return found


def cut(text: str, solutions: bool) -> str:
    """One code cell as the student or the solutions notebook shows it."""
    before, *after = SOLUTION.split(text, maxsplit=1)
    if not after:
        return text
    return after[0].strip("\n") if solutions else f"{before.rstrip()}\n# your code here".strip("\n")


def fill(sources: dict[str, str]) -> dict[str, str]:
    """Sources with ``{{minutes}}`` and ``{{map}}`` in their places."""
    times = {name[:2]: course_map.minutes(cells(text), name[:2]) for name, text in sources.items()}
    files, filled = {name[:2]: name for name in sources}, {}
    for name, text in sources.items():
        filled[name] = text.replace("{{minutes}}", str(times[name[:2]]))
        if "{{map}}" in text:
            table = course_map.table(times, files).replace("\n", "\n# ")
            filled[name] = filled[name].replace("{{map}}", table)
    return filled


def metadata(kind: str, text: str, mark: str) -> dict[str, object]:
    """What is folded: text that is marked "more", and code above a guess, which holds its answer."""
    if kind == "code" and GUESS.search(text):
        return HIDDEN
    return FOLDED if mark == "more" else {}


def notebook(name: str, source: str, *, solutions: bool) -> str:
    """JSON of one notebook without outputs; the same source gives the same bytes, cell ids too."""
    out = []
    for i, (kind, text, mark) in enumerate(cells(source)):
        if mark == "solution" and not solutions:
            continue
        if kind == "code":
            text = cut(text, solutions)
        elif i == 0 and name != "glossary":
            text += HINT
        if solutions:
            text = text.replace("](pictures/", "](../pictures/")
            text = text.replace("](glossary.ipynb", "](../glossary.ipynb")
        cell = {
            "cell_type": kind,
            "id": hashlib.sha1(f"{name}:{i}".encode()).hexdigest()[:12],
            "metadata": metadata(kind, text, mark),
            "source": text.splitlines(keepends=True),
        }
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        out.append(dict(sorted(cell.items())))
    document = {"cells": out, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def wanted() -> dict[Path, str]:
    """Every generated file and its text."""
    paths = sorted((HERE / "src").glob("*.py"))
    sources = fill({path.stem: path.read_text(encoding="utf-8") for path in paths})
    files = {
        HERE / "pictures" / "map.svg": course_map.svg(),
        HERE / "glossary.ipynb": notebook("glossary", glossary.source(), solutions=False),
    }
    for name, source in sources.items():
        for folder in (HERE, HERE / "solutions"):
            text = notebook(name, source, solutions=folder != HERE)
            files[folder / f"{name}.ipynb"] = text
        for found in COPY.finditer(source):
            original = HERE.parent / "figures" / found["paper"] / f"{found['figure']}.svg"
            files[HERE / "pictures" / found[1]] = original.read_text(encoding="utf-8")
    return files


def stale() -> list[Path]:
    """Generated files that differ from their source, and those without one."""
    files = wanted()
    present = {path for folder in (HERE, HERE / "solutions") for path in folder.glob("*.ipynb")}
    present |= {*(HERE / "pictures").glob("*_fig*.svg"), *(HERE / "pictures").glob("map.svg")}
    changed = {path for path in present & set(files) if path.read_text("utf-8") != files[path]}
    return sorted(changed | (present ^ set(files)))


def main() -> int:
    """Write the notebooks, or with --check name the stale ones."""
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"stale: {path.relative_to(HERE)}; run python notebooks/build.py")
        return 1 if stale() else 0
    (HERE / "solutions").mkdir(exist_ok=True)
    for path, text in wanted().items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
