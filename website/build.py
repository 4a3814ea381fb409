"""Builds the website: ``python website/build.py [--lessons 00 07 --brief --few] [--out FOLDER]``.

It goes to FOLDER/html. It gathers the sources of the pages in FOLDER/source (lessons, README,
figures, claims), runs the lessons and computes the states of their panels, two at a time, and
leaves the rest to Sphinx. While the library is the same, lessons that didn't change come from the
cache, and so do states.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import re
import shutil
import sys
import tarfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT)]
for limit in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(limit, "1")  # lessons run side by side

import executed  # noqa: E402
import states  # noqa: E402

LIMIT = 2_000_000  # bytes of the states of one page
BUNDLE = HERE / "vendor" / "plotly.js-cartesian-dist-min-4.1.1.tgz"
INSIDE = "package/plotly-cartesian.min.js"
CORNER = re.compile(r"<th[^>]*>(?:<p></p>|&nbsp;|\s)*</th>")  # a heading without a word
# What opens a part of the theme's list of pages; a reader who sees nothing hears no icon.
TOGGLE = '<summary><span class="toctree-toggle"'
TOGGLE_NAMED = TOGGLE.replace("<summary>", '<summary aria-label="pages below">')
# One icon in the list of Font Awesome's script: its name, its size and its outline.
ICON = re.compile(r'"?([a-z0-9-]+)"?:\[\d+,\d+,\[[^\]]*\],"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?')
FIRST = re.compile(r"!\[[^\]]*\]\(pictures/[^)]+\)\n\n\*The panel's first position[^*]*\*")
PANEL = re.compile(r"^(?:\w+ = )?panels\.(\w+)\.panel\(\)", re.MULTILINE)
# The home page is the README as far as its first table; its links are those of the repository.
HOME_ENDS = "## From a messy file"
# A link, also of a picture, to a file of the repository: its words, the file, the part of the file.
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)")
PAPER_PAGES = "\n```{toctree}\n:hidden:\n:glob:\n\n*/README\nADVICE\n```\n"


def is_helper(code: str) -> bool:
    """Whether a cell only defines functions, beside what they need: not what a student fills in."""
    if "# your code here" in code or "..." in code:
        return False
    body = [
        part for part in ast.parse(code).body if not isinstance(part, ast.Import | ast.ImportFrom)
    ]
    kinds = ast.FunctionDef | ast.ClassDef | ast.Assign
    return any(isinstance(part, ast.FunctionDef) for part in body) and all(
        isinstance(part, kinds) for part in body
    )


def page(notebook: dict) -> dict:
    """A lesson without what makes no sense on a page: how to run it, and the panels' pictures."""
    for number, cell in enumerate(notebook["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            text = FIRST.sub("", text)
            if number == 0:
                parts = re.split(r"\n\n", text)
                text = "\n\n".join(p for p in parts if not re.search(r"Run All|Shift \+", p))
                text = re.sub(r"^\| +\| +\|\n", "| About | this lesson |\n", text, flags=re.M)
            cell["source"] = text.splitlines(keepends=True)
        elif is_helper(text):
            cell["metadata"]["tags"] = ["hide-input"]
    notebook["cells"] = [c for c in notebook["cells"] if "".join(c["source"]).strip()]
    notebook["metadata"]["language_info"]["pygments_lexer"] = "ipython3"
    return notebook


def lessons(source: Path, wanted: list[str]) -> dict[str, list[str]]:
    """Write the lessons' notebooks; returns the panels of each."""
    folder = source / "lessons"
    shutil.copytree(ROOT / "notebooks" / "pictures", folder / "pictures")
    shutil.copy(ROOT / "notebooks" / "README.md", folder)
    found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if wanted and path.stem[:2] not in wanted:
            continue
        text = path.read_text(encoding="utf-8")
        notebook = page(json.loads(text))
        (folder / path.name).write_text(json.dumps(notebook), encoding="utf-8")
        code = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
        found[path.stem] = PANEL.findall("\n".join(code))
    return found


def figures(source: Path) -> str:
    """The pages of figures; returns the scoreboard of claims, from the committed trials."""
    leave = shutil.ignore_patterns("*.py", "__pycache__")
    shutil.copytree(ROOT / "figures", source / "figures", ignore=leave, dirs_exist_ok=True)
    text = (ROOT / "figures" / "README.md").read_text(encoding="utf-8")
    text = text.replace("](../notebooks/pictures/", "](../lessons/pictures/") + PAPER_PAGES
    (source / "figures" / "README.md").write_text(text, encoding="utf-8")
    board = (ROOT / "figures" / "SCOREBOARD.md").read_text(encoding="utf-8").split("\n", 1)[1]
    return board.replace("](", "](figures/")


def as_on_the_site(text: str, source: Path) -> str:
    """A page of the repository with the site's links; what the site doesn't have stays as words."""

    def link(found: re.Match[str]) -> str:
        words, path, part = found[1], found[2], found[3] or ""
        if path == "README.md":
            path, part = "index.md", ""
        path = path.replace("notebooks/", "lessons/")
        return f"[{words}]({path}{part})" if (source / path).exists() else words

    return LINK.sub(link, text)


def gather(source: Path, wanted: list[str], brief: bool) -> dict[str, list[str]]:
    """Write the sources of the site, without its reference if ``brief``; the lessons' panels."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(HERE / "pages", source)
    found = lessons(source, wanted)
    board = "" if brief else figures(source)
    pages = [Path(shutil.copy(ROOT / name, source)) for name in ("GUIDE.md", "PROMISE.md")]
    for path in pages:  # all are there now, so that each may lead to the other
        path.write_text(as_on_the_site(path.read_text("utf-8"), source), encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8").split(HOME_ENDS)[0]
    home = (source / "index.md").read_text(encoding="utf-8")
    names = "\n".join(f"lessons/{name}" for name in found)
    readme = as_on_the_site(readme, source)
    title, readme = readme.split("\n\n![", 1)
    title, intro = title.strip().split("\n\n", 1)
    for mark, words in (("{{title}}", title), ("{{intro}}", intro), ("{{lessons}}", names)):
        home = home.replace(mark, words)
    home = home.replace("{{readme}}", f"![{readme.strip()}".replace("\n## ", "\n### "))
    (source / "index.md").write_text(home, encoding="utf-8")
    claims = source / "scoreboard.md"
    claims.write_text(claims.read_text("utf-8").replace("{{claims}}", board), encoding="utf-8")
    if brief:
        (source / "api.md").unlink()
    return found


def front_page(source: Path, panels: dict[str, list[str]]) -> None:
    """The home page begins with a question and a live panel, and its map leads to the lessons."""
    sys.path.insert(0, str(ROOT / "notebooks"))
    import course_map

    first = [name for name, topics in panels.items() if topics]
    lesson = next((name for name in first if "mechanisms" in panels[name]), first[0])
    notebook = json.loads((source / "lessons" / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    outputs = [output.get("data", {}) for cell in notebook["cells"]
               for output in cell.get("outputs", [])]  # fmt: skip
    shown = ["".join(data.get("text/html", "")) for data in outputs]
    still = next(html for html in shown if re.search(r"data-panel=.\w", html))
    files = {name[:2]: f"lessons/{name}.html" for name in panels}
    home = source / "index.md"
    text = home.read_text(encoding="utf-8")
    drawn = f"<div class='pdsynth-map'>{course_map.svg(files)}</div>"
    for mark, html in (("{{panel}}", still), ("{{map}}", drawn)):
        text = text.replace(mark, f"```{{raw}} html\n{html}\n```")
    home.write_text(text, encoding="utf-8")


def correct_pages(html: Path) -> None:
    """Empty cells at the head of a table head nothing; what opens a part of the list has a name."""
    for path in html.rglob("*.html"):
        text = CORNER.sub("<td></td>", path.read_text(encoding="utf-8"))
        path.write_text(text.replace(TOGGLE, TOGGLE_NAMED), encoding="utf-8")


def trim_icons(html: Path) -> None:
    """Of Font Awesome's 2,000 icons keep those that the pages and their scripts name."""
    script = html / "_static" / "scripts" / "fontawesome.js"
    named = [*html.rglob("*.html"), *(html / "_static").rglob("*theme*.js")]
    words = (re.findall(r"fa-([a-z0-9-]+)", path.read_text(encoding="utf-8")) for path in named)
    used = set().union(*words)
    text = script.read_text(encoding="utf-8")
    kept = ICON.sub(lambda icon: icon[0] if icon[1] in used else "", text)
    script.write_text(kept, encoding="utf-8")


def compute(panels: dict[str, list[str]], folder: Path, cache: Path, few: bool) -> Path:
    """The lessons in ``folder`` get their outputs; returns where the states of the panels are."""
    from joblib import Parallel, delayed

    found = {path: json.loads(path.read_bytes()) for path in folder.glob("*.ipynb")}
    lessons = {path: lesson for path, lesson in found.items() if executed.code_cells(lesson)}
    held = {path: executed.kept(cache, lesson) for path, lesson in lessons.items()}
    places = cache / executed.fingerprint() / ("few" if few else "all")
    ordered = executed.longest_first(list(held), ROOT / "notebooks" / "map.toml")
    jobs = [(held[path], executed.outputs, lessons[path], str(folder)) for path in ordered]
    jobs += [(places / f"{topic}.json.gz", states.packed, topic, few)
             for topics in panels.values() for topic in topics]  # fmt: skip
    Parallel(n_jobs=2, batch_size=1)(
        delayed(executed.keep)(*job) for job in jobs if not job[0].exists()
    )
    for path, lesson in lessons.items():
        shown = json.loads(held[path].read_bytes())
        for cell, outputs in zip(executed.code_cells(lesson), shown, strict=True):
            cell["outputs"] = outputs
        path.write_text(json.dumps(lesson), encoding="utf-8")
    return places


def write_states(panels: dict[str, list[str]], cache: Path, folder: Path) -> None:
    """The states of all panels of these lessons, one packed JSON each; at most LIMIT a page."""
    folder.mkdir(parents=True, exist_ok=True)
    for lesson, found in panels.items():
        sizes = {topic: (cache / f"{topic}.json.gz").stat().st_size for topic in found}
        if sum(sizes.values()) > LIMIT:
            sys.exit(f"{lesson}: {sizes} bytes of states, more than {LIMIT}: shorten its grid")
        for topic in found:
            shutil.copy(cache / f"{topic}.json.gz", folder)


def front_end(folder: Path) -> None:
    """What moves the panels: the course's own front end, its styles, and plotly.js, packed."""
    widgets = ROOT / "pdsynth" / "course" / "widgets"
    for path in (*(HERE / "static").iterdir(), widgets / "liveplot.js", widgets / "live.css"):
        shutil.copy(path, folder)
    with tarfile.open(BUNDLE) as packed, packed.extractfile(INSIDE) as file:  # type: ignore[union-attr]
        (folder / "plotly.min.js.gz").write_bytes(gzip.compress(file.read(), 9, mtime=0))


def main() -> int:
    """Build the site; returns Sphinx's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lessons", nargs="*", default=[], help="these alone: 00 07")
    parser.add_argument("--brief", action="store_true", help="no reference, claims or figures")
    parser.add_argument("--few", action="store_true", help="of each panel, one control moves")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--cache", type=Path, help="default: in the folder of --out")
    options = parser.parse_args()
    out, start = options.out.resolve(), time.perf_counter()
    source, static = out / "source", out / "source" / "_static"
    panels = gather(source, options.lessons, options.brief)
    static.mkdir()
    front_end(static)
    os.environ |= executed.kernels(out / "ipython")
    cache = (options.cache or out / "cache").resolve()
    places = compute(panels, source / "lessons", cache, options.few)
    write_states(panels, places, static / "panels")
    front_page(source, panels)
    print(f"lessons and states: {time.perf_counter() - start:.0f} s", flush=True)
    os.environ["PDSYNTH_SITE_STATIC"] = str(static)
    from sphinx.cmd.build import main as sphinx

    shutil.rmtree(out / "html", ignore_errors=True)
    code = sphinx(["-q", "-j", "2", "-c", str(HERE), "-d", str(out / "trees"), str(source),
                   str(out / "html")])  # fmt: skip
    correct_pages(out / "html")
    trim_icons(out / "html")
    size = sum(p.stat().st_size for p in (out / "html").rglob("*") if p.is_file())
    print(f"{out / 'html'}: {size / 1e6:.0f} MB, {time.perf_counter() - start:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
