"""Draws the static pictures of the lessons, one a live panel at its first position: ``python figures/lessons/make.py [NAME …]``.

Needs ``pip install -e .[figures]`` and Chromium or Chrome. The same figures give the same bytes; ``--check`` draws nothing new
and names the pictures that differ.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path

from pdsynth.panels import LESSONS
from pdsynth.plots import svg

HERE = Path(__file__).resolve().parent


def main(words: list[str]) -> int:
    """Write the pictures, or compare them; returns the exit code."""
    import kaleido

    check, names = "--check" in words, [w for w in words if w != "--check"] or list(LESSONS)
    stale = []
    warnings.filterwarnings("ignore", message="The kopts argument", category=UserWarning)
    kaleido.start_sync_server(silence_warnings=True)
    try:
        for name in names:
            path = HERE / f"{LESSONS[name]}.svg"
            text = svg(import_module(f"pdsynth.panels.{name}").static())
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path.name)
                if not check:
                    path.write_text(text, encoding="utf-8", newline="\n")
    finally:
        kaleido.stop_sync_server(silence_warnings=True)
    print(f"{'differ' if check else 'written'}: {', '.join(stale) or 'none'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
