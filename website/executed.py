"""Lessons with the outputs of their cells, each run in a kernel of its own."""

from __future__ import annotations

import tomllib
from pathlib import Path

LIMIT = 600  # seconds of one cell


def outputs(path: str) -> bytes:
    """The notebook at ``path`` with its outputs; the first cell that fails stops the build."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(Path(path).parent)}}
    NotebookClient(notebook, timeout=LIMIT, resources=place, store_widget_state=False).execute()
    return nbformat.writes(notebook).encode()


def longest_first(paths: list[Path], course_map: Path) -> list[Path]:
    """Lessons in the order of the seconds that ``map.toml`` holds: two kernels end together."""
    lessons = tomllib.loads(course_map.read_text(encoding="utf-8"))["lesson"]
    seconds = {lesson["number"]: lesson["seconds"] for lesson in lessons}
    return sorted(paths, key=lambda path: -seconds.get(path.stem[:2], 0))
