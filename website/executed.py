"""Lessons with the outputs of their cells, each run in a kernel of its own.

While the library is the same and the code of a lesson, too, its outputs are kept. The tests of the
lessons keep them as well, so that nothing is computed twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LIMIT = 600  # seconds of one cell
# nbformat would import this checker of web addresses, which no notebook needs: its grammar takes
# two seconds to build, for each lesson anew. Where it is absent, nbformat does without.
sys.modules.setdefault("rfc3987_syntax", None)


@cache
def fingerprint() -> str:
    """Changes whenever outputs may: with the library, its data, and this folder's sources."""
    files = [p for p in sorted((ROOT / "pdsynth").rglob("*")) if "__pycache__" not in p.parts]
    whole = hashlib.sha256(b"".join(p.read_bytes() for p in files if p.is_file()))
    own = [HERE / name for name in ("states.py", "states.toml", "executed.py", "kernel.py")]
    whole.update(b"".join(p.read_bytes() for p in own))
    return whole.hexdigest()[:16]


def kept(folder: Path, notebook: dict[str, Any]) -> Path:
    """Where a cache keeps the outputs of a notebook: words between its cells don't move them."""
    code = json.dumps(["".join(cell["source"]) for cell in code_cells(notebook)])
    return folder / fingerprint() / f"{hashlib.sha256(code.encode()).hexdigest()[:16]}.json"


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells that are run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def kernels(folder: Path) -> dict[str, str]:
    """The environment in which guesses hold their answers and figures show as drawings."""
    startup = folder / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "kernel.py", startup / "00-site.py")
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    # bars are widgets: their states would fill pages
    return {"IPYTHONDIR": str(folder), "PDSYNTH_STATIC": "1", "PYTHONPATH": paths,
            "PDSYNTH_PROGRESS": "0"}  # fmt: skip


def outputs(notebook: dict[str, Any], folder: str) -> bytes:
    """What each code cell shows, a JSON list of lists; the first that fails stops it, an error."""
    import nbformat
    from nbclient import NotebookClient

    run = nbformat.reads(json.dumps(notebook), as_version=4)
    place = {"metadata": {"path": folder}}
    NotebookClient(run, timeout=LIMIT, resources=place, store_widget_state=False).execute()
    return json.dumps([cell["outputs"] for cell in code_cells(run)]).encode()


def keep(path: Path, function: Callable[..., bytes], *arguments: object) -> None:
    """Write what the function gives, all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")  # another process may write the same
    part.write_bytes(function(*arguments))
    part.replace(path)


def longest_first(paths: list[Path], course_map: Path) -> list[Path]:
    """Lessons in the order of the seconds that ``map.toml`` holds: two kernels end together."""
    lessons = tomllib.loads(course_map.read_text(encoding="utf-8"))["lesson"]
    seconds = {lesson["number"]: lesson["seconds"] for lesson in lessons}
    return sorted(paths, key=lambda path: -seconds.get(path.stem[:2], 0))
