"""Builds the teacher's kit from the lessons' sources, the exercises' files and ``kit.toml``.

``python notebooks/teaching/kit.py`` writes workshop, run sheet, evaluation form and plan beside this
file, ``--check`` names stale ones. ``--out FOLDER`` writes the rest: ``slides.html``,
``class_guesses.ipynb``, ``notes.md`` (times and misconceptions), ``quiz.xml`` (a Moodle question
bank), ``handouts.md``, the solved workshop, and ``course/`` for nbgrader; with ``--site HTML`` also
``site.zip``, the built website for those who can't install anything.
``--measure`` runs the solved workshop and writes its seconds into ``kit.toml``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import assignments  # noqa: E402
import bank  # noqa: E402
import stage  # noqa: E402
import workshop  # noqa: E402


def write_plan() -> str:
    """Twelve weeks as a table."""
    links = {path.stem[:2]: path.stem for path in (HERE.parent / "src").glob("*.py")}
    rows = [
        f"| {week} | "
        + " ".join(f"[{n}](../{links[n]}.ipynb)" for n in one["lessons"])
        + f" | {one['meeting']} | {one['homework']} |"
        for week, one in enumerate(workshop.KIT["week"], 1)
    ]
    return "\n".join(
        [
            "# Twelve weeks",
            "",
            "Two hours a week. Lessons are read before the meeting; "
            "panels and attacks belong into it. Made from `kit.toml`. Text: CC BY 4.0.",
            "",
            "| week | lessons | in the meeting | homework |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def wanted() -> dict[Path, str]:
    """What stands in the repository: the student's workshop and the plan."""
    return {
        HERE / "workshop.ipynb": workshop.make_notebook(solutions=False),
        HERE / "plan.md": write_plan(),
        HERE / "facilitator.md": stage.write_facilitator(),
        HERE / "evaluation.md": stage.write_evaluation(),
    }


def stale() -> list[Path]:
    """Committed files that differ from what is built."""
    return [
        path
        for path, text in wanted().items()
        if not path.exists() or path.read_text("utf-8") != text
    ]


def write_kit(folder: Path, noted: Sequence[str] = ()) -> None:
    """Everything that holds solutions, and what is long: not in the repository.

    ``noted``: the lessons of the notes, which ask every exercise for what it says to wrong answers;
    all of them if empty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sources = workshop.read_sources()
    files = {
        "notes.md": bank.write_notes({number: sources[number] for number in noted or sources}),
        "quiz.xml": bank.write_quiz(sources),
        "handouts.md": bank.write_handouts(sources),
        "workshop_solved.ipynb": workshop.make_notebook(solutions=True),
        "slides.html": stage.write_slides(),
        "class_guesses.ipynb": stage.write_guesses(),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    assignments.write_course(folder / "course")


def measure() -> float:
    """Seconds of the solved workshop in a fresh process, the imports included."""
    runner = HERE.parents[1] / "tests" / "course" / "run_notebook.py"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workshop.ipynb"
        path.write_text(workshop.make_notebook(solutions=True), encoding="utf-8")
        started = time.monotonic()
        subprocess.run([sys.executable, str(runner), str(path), "--panels=any"], check=True)
        return time.monotonic() - started


def main(words: list[str]) -> int:
    """Build, check, export or measure."""
    if "--check" in words:
        for path in stale():
            print(f"stale: {path.name}; run python notebooks/teaching/kit.py")
        return 1 if stale() else 0
    if "--measure" in words:
        path, seconds = HERE / "kit.toml", round(measure())
        text = re.sub(
            r"^seconds = \d+", f"seconds = {seconds}", path.read_text("utf-8"), flags=re.M
        )
        path.write_text(text, encoding="utf-8")
        print(f"{seconds} seconds")
        return 0
    for path, text in wanted().items():
        path.write_text(text, encoding="utf-8", newline="\n")
    if "--out" in words:
        folder = Path(words[words.index("--out") + 1])
        write_kit(folder)
        print(f"the kit is in {folder}; it holds solutions: keep it from students")
        if "--site" in words:
            stage.zip_site(Path(words[words.index("--site") + 1]), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
