"""Runs one notebook in a kernel, as the website does: ``python run_notebook.py PATH``.

It exits 1 with what went wrong. With ``--student`` unanswered exercises are fine, with
``--panels=any`` any number of panels. A display that fails counts as an error, as does a live panel
that shows one. Where a lesson asks for a guess, no cell before it, and no text up to the next
heading, may show the answer; after the last cell all guesses are committed. ``PATH SOLUTIONS``:
first as a student who answers nothing, then the answers, and every cell that an answer changes, in
the same kernel. ``--keep=CACHE`` keeps what the cells of ``PATH`` show where the website looks.
An answer that the page showed isn't computed again for the commit, unless a name that it reads has
another value by then.
Noise is seeded below the library, so that no run shows an answer's digits by chance.
"""

import ast
import contextlib
import dis
import io
import json
import os
import re
import sys
import tempfile
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "website"))
import executed  # noqa: E402

DICE = """\
def prepare():
    import os, random, secrets
    dice = getattr(os.urandom, "__self__", None)
    if not isinstance(dice, random.Random):
        dice = random.Random()
        os.urandom, secrets.randbits = dice.randbytes, dice.getrandbits  # before NumPy takes them
    dice.seed(7)

prepare()
del prepare
"""
# What the kernel is asked, without a name that a cell could use.
REMEMBER, LISTEN, REPORT = (
    ("code", f"__import__('sys').path.append({str(HERE)!r}); __import__('run_notebook').{what}()")
    for what in ("remember", "listen", "report")
)
WRONG = []  # what exercises said in this kernel


def plain(html):
    """What a reader sees of HTML, in one line."""
    return " ".join(re.sub("<[^>]*>", " ", html).split())


# In the kernel.


def reads(function, found=None):
    """Every value that a function of a lesson reads by a name, itself or through another."""
    found, codes = {} if found is None else found, [function.__code__]
    for code in codes:
        codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]
        asked = {step.argval for step in dis.get_instructions(code) if "GLOBAL" in step.opname}
        for name in asked & set(function.__globals__) - set(found):
            found[name] = value = function.__globals__[name]
            if getattr(value, "__globals__", None) is function.__globals__:
                reads(value, found)
    return found


def remember():
    """From now on a guess keeps its answer for as long as all that its function reads is the same.

    The commit computes it again where a name means something else by then; what was changed in
    place isn't noticed.
    """
    from pdsynth.course.guess import Guess

    compute, kept = Guess._answer, {}

    def answer(guess):
        now = reads(guess._reveal)
        before, told = kept.get(guess, ({}, None))
        if told is None or before.keys() != now.keys() or any(before[n] is not now[n] for n in now):
            told = compute(guess)
        kept[guess] = now, told
        return told

    Guess._answer = answer


def listen():
    """From now on remember the exercises that say that an answer isn't right."""
    from IPython import get_ipython

    from pdsynth.course.exercises.exercise import Message

    def hear(ran):
        asked = isinstance(ran.result, Message) and ".check(" in ran.info.raw_cell
        if asked and not ran.result.right:
            WRONG.append(f"an exercise of this notebook doesn't pass: {ran.result.text}")

    get_ipython().events.register("post_run_cell", hear)


def report():
    """Commit all guesses; print them, errors of live panels, and exercises not passed, as JSON."""
    from ipywidgets.widgets import widget

    from pdsynth.course.guess import Guess
    from pdsynth.course.widgets.live import LivePanel

    held = list(widget._instances.values())
    with contextlib.redirect_stdout(io.StringIO()):
        guesses = [facts(one) for one in held if isinstance(one, Guess)]
    panels = [repr(one.error) for one in held if isinstance(one, LivePanel)]
    print(json.dumps({"guesses": guesses, "panels": panels, "wrong": WRONG}))


def facts(guess):
    """A guess once it is committed: what it asks, its answer, and what stands below the answer."""
    guess.commit(guess.options[0] if guess.options else "1")
    return {
        "question": guess.question,
        "unit": guess.unit,
        "answer": guess.write(guess.answer),
        "chosen": isinstance(guess.answer, str),
        "detail": plain(guess.detail.value),
    }


# Beside it.


def spoiled(guess, seen):
    """The answer of a committed guess, if a reader could have read it in ``seen``."""
    if guess["chosen"]:
        return guess["detail"] if guess["detail"] and guess["detail"] in plain(seen) else None
    number = guess["answer"].split()[0]
    digits = re.findall(r"\d", number.lstrip("0."))
    short = len(digits) < 3 or number in guess["question"] + guess["unit"]
    told = guess["answer"] if short else number
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


def words(shown):
    """What the outputs of a cell say to a reader."""
    said = [output.get("text", "") for output in shown]
    for data in (output.get("data", {}) for output in shown):
        said += [data.get("text/plain", ""), plain("".join(data.get("text/html", "")))]
    return "\n".join("".join(part) for part in said)


def repeated(shown):
    """The first warning that a cell shows more than once."""
    said = [output["text"] for output in shown if output.get("name") == "stderr"]
    lines = [line for line in "".join(said).splitlines() if "Warning: " in line]
    return next((line for line in lines if lines.count(line) > 1), None)


def is_guess(shown):
    """Whether a cell asks for a guess."""
    return any("pdsynth-guess" in "".join(output.get("data", {}).get("text/html", ""))
               for output in shown)  # fmt: skip


def answers(student, solved):
    """The solved cells that differ from the student's, and those that use a name of theirs.

    Of the others the imports: parts of a workshop give one name to several modules.
    """
    asked, moved, found = {source for _, source in student}, set(), []
    for kind, source in solved:
        if kind == "markdown":
            continue
        tree = ast.parse(source)
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        defined = {node.name for node in ast.walk(tree) if hasattr(node, "name")}
        if source not in asked or moved & {name.id for name in names}:
            found.append((kind, source))
            moved |= defined | {name.id for name in names if isinstance(name.ctx, ast.Store)}
        elif imports := [
            node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
        ]:
            found.append((kind, "\n".join(map(ast.unparse, imports))))
    return found


def run(cells):
    """What every code cell shows, run in a kernel with seeded noise; or the error of one."""
    from nbclient.exceptions import CellExecutionError
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    make = {"code": new_code_cell, "markdown": new_markdown_cell}
    notebook = new_notebook(cells=[make[kind](source) for kind, source in cells])
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= executed.kernels(Path(folder))
        (Path(folder) / "profile_default" / "startup" / "00-dice.py").write_text(DICE)
        try:
            shown = json.loads(executed.outputs(notebook, "."))
        except CellExecutionError as error:
            return f"failed cell:\n{error}"
    # a display that fails doesn't stop its cell
    failed = [one for cell in shown for one in cell if one["output_type"] == "error"]
    return "failed cell:\n" + "\n".join(failed[0]["traceback"]) if failed else shown


def reported(shown):
    """What the kernel reported in a cell's outputs."""
    said = [output["text"] for output in shown if output.get("name") == "stdout"]
    return json.loads("".join(said).splitlines()[-1])


def problems(cells, shown, found, any_panels):
    """What is wrong with cells that ran to their end, one sentence each."""
    seen, guesses, outputs = "", iter(found["guesses"]), iter(shown)
    for place, (kind, source) in enumerate(cells):
        seen += f"\n{source}"
        if kind == "markdown":
            continue
        now = next(outputs)
        if again := repeated(now):
            yield f"a cell warns more than once: {again}"
        if not is_guess(now):
            seen += f"\n{words(now)}"
            continue
        guess = next(guesses)
        if told := spoiled(guess, seen + below(cells[place + 1 :])):
            yield f"{told!r} can be read before the guess {guess['question']!r}"
    yield from found["wrong"]
    panels = found["panels"]
    if (len(panels) != 1 and not any_panels) or any(error != "None" for error in panels):
        yield f"expected one live panel without an error, found {len(panels)}; errors: {panels}"


def read(path):
    """Kinds and texts of a notebook's cells."""
    with open(path, encoding="utf-8") as file:
        return [(c["cell_type"], "".join(c["source"])) for c in json.load(file)["cells"]]


def main(paths, student, any_panels, cache):
    """The problems of the notebooks as texts: of a failed cell, or of the first that has any."""
    first, *rest = map(read, paths)
    own = [REMEMBER, *first] if student or rest else [REMEMBER, LISTEN, *first]
    then = [LISTEN, *answers(first, rest[0]), REPORT] if rest else []
    shown = run([*own, REPORT, *then])
    if isinstance(shown, str):
        return [shown]
    count = sum(kind == "code" for kind, _ in own)
    for place in (count, -1):
        if told := list(problems(own, shown, reported(shown[place]), any_panels)):
            return told
    if cache:
        notebook = json.loads(Path(paths[0]).read_bytes())
        held = executed.kept(Path(cache), notebook)
        executed.keep(held, lambda: json.dumps(shown[1:count]).encode())
    return []


if __name__ == "__main__":
    paths = [word for word in sys.argv[1:] if not word.startswith("--")]
    caches = [word.partition("=")[2] for word in sys.argv[1:] if word.startswith("--keep=")]
    flags = "--student" in sys.argv, "--panels=any" in sys.argv
    sys.exit("\n".join(main(paths, *flags, caches[0] if caches else None)) or None)
