"""Runs one notebook in an IPython shell in this process: ``python run_notebook.py PATH``.

It exits 1 with what went wrong. With ``--student`` unanswered exercises are fine, with
``--panels=any`` any number of panels. A display that fails counts as an error, as does a live panel
that shows one. Where a lesson asks for a guess, no cell before it, and no text up to the next
heading, may show the answer; then a guess is committed. ``PATH SOLUTIONS``: first as a student who
answers nothing, then the answers, and every cell that an answer changes, in the same shell.
Noise is seeded below the library, so that no run shows an answer's digits by chance.
"""

import ast
import contextlib
import io
import json
import os
import random
import re
import secrets
import sys
import tempfile

_dice = random.Random(7)
os.urandom, secrets.randbits = _dice.randbytes, _dice.getrandbits  # before NumPy takes them
os.environ["IPYTHONDIR"] = tempfile.mkdtemp()  # no history in the user's home
os.environ["PLOTLY_RENDERER"] = "plotly_mimetype"  # outside a kernel Plotly would open a browser

from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from ipywidgets.widgets import widget  # noqa: E402

from pdsynth.course.exercises.exercise import Message  # noqa: E402
from pdsynth.course.guess import Guess  # noqa: E402
from pdsynth.course.widgets.live import LivePanel  # noqa: E402


def plain(html):
    """What a reader sees of HTML, in one line."""
    return " ".join(re.sub("<[^>]*>", " ", html).split())


def spoiled(guess, seen):
    """The answer of a committed guess, if a reader could have read it in ``seen``."""
    if isinstance(guess.answer, str):
        detail = plain(guess.detail.value)
        return detail if detail and detail in plain(seen) else None
    words = guess.write(guess.answer)
    number = words.split()[0]
    digits = re.findall(r"\d", number.lstrip("0."))
    short = len(digits) < 3 or number in guess.question + guess.unit
    told = words if short else number
    return told if re.search(rf"(?<![\d.,]){re.escape(told)}(?![.,]?\d)", seen) else None


def below(cells):
    """The text below a guess up to the next heading."""
    texts = []
    for kind, source in cells:
        text = re.split(r"^#+ ", source, maxsplit=1, flags=re.MULTILINE)
        texts.append(text[0] if kind == "markdown" else "")
        if kind == "markdown" and len(text) > 1:
            break
    return "\n".join(texts)


def faces(shell, value):
    """How the result of a cell shows itself."""
    if value is None or isinstance(value, Guess):
        return ""
    data = shell.display_formatter.format(value)[0]
    return "\n".join(data[kind] for kind in ("text/plain", "text/html") if kind in data)


def ask(guess, seen):
    """Commit a guess; the problem with it, or None."""
    guess.commit(guess.options[0] if guess.options else "1")
    told = spoiled(guess, seen)
    return told and f"{told!r} can be read before the guess {guess.question!r}"


def answers(student, solved):
    """The solved cells that differ from the student's, and those that use a name of theirs."""
    asked, moved, found = {source for _, source in student}, set(), []
    for kind, source in solved:
        if kind == "markdown":
            continue
        names = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
        defined = {node.name for node in ast.walk(ast.parse(source)) if hasattr(node, "name")}
        if source not in asked or moved & {name.id for name in names}:
            found.append((kind, source))
            moved |= defined | {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return found


def run(cells, student, any_panels=False):
    """The first problem of the notebook as text, or None."""
    shell = InteractiveShell.instance()
    failed = []
    # also called for a broken repr
    shell._showtraceback = lambda kind, value, trace: failed.append("\n".join(trace))
    seen = ""
    for place, (kind, source) in enumerate(cells):
        seen += f"\n{source}"
        if kind == "markdown":
            continue
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            shown = shell.run_cell(source).result
        if failed:
            return f"failed cell:\n{source}\n{failed[0]}"
        if isinstance(shown, Guess):
            problem = ask(shown, seen + below(cells[place + 1 :]))
            if problem:
                return problem
        seen += f"\n{printed.getvalue()}\n{faces(shell, shown)}"
        asked = isinstance(shown, Message) and ".check(" in source
        if asked and not (shown.right or student):
            return f"an exercise of this notebook doesn't pass: {shown.text}\n{source}"
    panels = [w for w in widget._instances.values() if isinstance(w, LivePanel)]
    broken = [panel.error for panel in panels if panel.error is not None]
    if (len(panels) != 1 and not any_panels) or broken:
        return f"expected one live panel without an error, found {len(panels)}; errors: {broken!r}"
    return None


def read(path):
    """Kinds and texts of a notebook's cells."""
    with open(path, encoding="utf-8") as file:
        return [(c["cell_type"], "".join(c["source"])) for c in json.load(file)["cells"]]


if __name__ == "__main__":
    paths = [word for word in sys.argv[1:] if not word.startswith("--")]
    first, *rest = map(read, paths)
    any_panels = "--panels=any" in sys.argv
    problem = run(first, "--student" in sys.argv or rest, any_panels)
    if rest and problem is None:
        problem = run(answers(first, rest[0]), False, any_panels)
    sys.exit(problem)
