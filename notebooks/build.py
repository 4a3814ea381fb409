"""Generates the notebooks from their sources: ``python notebooks/build.py`` writes, ``--check`` compares.

A source is a py:percent script. In a code cell, what follows a line ``# solution`` is the solution: the student notebook keeps what
stands before it. A cell marked ``# %% tags=["solution"]`` stands in the solutions notebook only.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
HINT = "\n\n*New here? Choose **Run ▸ Run All Cells** first: a panel without a running kernel stays empty.*"
Cell = tuple[str, str, bool]  # kind, text, solution only


def cells(source: str) -> list[Cell]:
    """Cells of a py:percent script."""
    found = []
    marks = list(CELL.finditer(source))
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        text = source[mark.end() : after.start() if after else None].strip("\n")
        if "[markdown]" in mark.group(1):
            text = "\n".join(re.sub(r"^# ?", "", line) for line in text.split("\n")).strip()
            found.append(("markdown", text, "solution" in mark.group(1)))
        elif text.strip():
            found.append(("code", text.rstrip(), "solution" in mark.group(1)))
    return found


def cut(text: str, solutions: bool) -> str:
    """One code cell as the student or the solutions notebook shows it."""
    before, mark, after = re.split(r"^(# solution)$", text, maxsplit=1, flags=re.MULTILINE) if re.search(r"^# solution$", text, re.M) else (text, "", "")
    if not mark:
        return text
    return after.strip("\n") if solutions else f"{before.rstrip()}\n# your code here".strip("\n")


def notebook(name: str, source: str, *, solutions: bool) -> str:
    """JSON of one notebook: no outputs, cell ids from name and place, so that the same source gives the same bytes."""
    out = []
    for i, (kind, text, only) in enumerate(cells(source)):
        if only and not solutions:
            continue
        if kind == "markdown" and i == 0:
            text += HINT
        if solutions:
            text = text.replace("](../figures/", "](../../figures/")
        text = cut(text, solutions) if kind == "code" else text
        cell: dict = {"cell_type": kind, "id": hashlib.sha1(f"{name}:{i}".encode()).hexdigest()[:12], "metadata": {}}
        cell |= {"execution_count": None, "outputs": []} if kind == "code" else {}
        out.append(dict(sorted((cell | {"source": text.splitlines(keepends=True)}).items())))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    data = {"cells": out, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def wanted() -> dict[Path, str]:
    """Every generated file and its text."""
    files = {}
    for path in sorted((HERE / "src").glob("*.py")):
        source = path.read_text(encoding="utf-8")
        files[HERE / f"{path.stem}.ipynb"] = notebook(path.stem, source, solutions=False)
        files[HERE / "solutions" / f"{path.stem}.ipynb"] = notebook(path.stem, source, solutions=True)
    return files


def stale() -> list[Path]:
    """Generated files that differ from their source, and notebooks without one."""
    files = wanted()
    present = {p for folder in (HERE, HERE / "solutions") for p in folder.glob("*.ipynb")}
    differing = [p for p, text in files.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    return sorted({*differing, *(present - set(files))})


def main() -> int:
    """Write the notebooks, or with --check name the stale ones."""
    if "--check" in sys.argv[1:]:
        for path in stale():
            print(f"stale: {path.relative_to(HERE)}; run python notebooks/build.py")
        return 1 if stale() else 0
    (HERE / "solutions").mkdir(exist_ok=True)
    for path, text in wanted().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
