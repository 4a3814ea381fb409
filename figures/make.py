"""Draw the committed figures and their numbers.

python figures/make.py hpprivbayes [--repeats 20] [--jobs 2] [--store FOLDER] [--redraw]
python figures/make.py main
python figures/make.py lessons [NAME …]

``hpprivbayes`` runs the thesis' figures 3 to 6 and writes picture, points, trials and the index page; ``--store`` keeps
finished trials so that an interrupted run goes on; ``--redraw`` draws the committed trials again and runs nothing. ``main``
draws the README's picture from the trials of figure 5. ``lessons`` draws each panel in its default state, for readers
without a kernel. Needs the extra ``figures`` (kaleido) and a Chromium or Chrome on the system.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import plotly.graph_objects as go  # noqa: E402

from pdsynth import papers  # noqa: E402
from pdsynth.papers import hpprivbayes, hpprivbayes_plots  # noqa: E402
from pdsynth.papers.results import Result  # noqa: E402
from pdsynth.plots import svg  # noqa: E402

PAPER = HERE / "hpprivbayes"
WIDTH = 800


@contextmanager
def browser() -> Iterator[None]:
    """One browser for all pictures (single and server mode differ in a few bytes)."""
    import kaleido

    warnings.filterwarnings("ignore", message="The kopts argument", category=UserWarning)
    kaleido.start_sync_server(silence_warnings=True)
    try:
        yield
    finally:
        kaleido.stop_sync_server(silence_warnings=True)


def save(plot: go.Figure, path: Path, width: int = WIDTH) -> None:
    """Write an SVG whose bytes depend on the figure alone; its white ground keeps it readable on dark pages."""
    plot = go.Figure(plot)
    plot.update_layout(paper_bgcolor="white", plot_bgcolor="white")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg(plot, width=width), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{path.relative_to(HERE.parent)}: {path.stat().st_size:,} bytes\n")


# --- the thesis -----------------------------------------------------------------------------------------------------------


def trials_file(number: int) -> Path:
    """The committed trials of a figure."""
    return PAPER / f"fig{number}_trials.csv"


def redrawn(number: int) -> Result:
    """A figure from its committed trials and the parameters beside them."""
    parameters = json.loads((PAPER / f"fig{number}.json").read_text(encoding="utf-8"))
    known = {k: tuple(v) if isinstance(v, list) else v for k, v in parameters.items() if k in hpprivbayes.Settings.__dataclass_fields__}
    return hpprivbayes.assemble(number, hpprivbayes.read(trials_file(number)), hpprivbayes.Settings(**known), parameters)


def make_paper(options: argparse.Namespace) -> None:
    """Figures 3 to 6: pictures, points, trials, parameters, and the index page."""
    PAPER.mkdir(exist_ok=True)
    for number in options.figure or hpprivbayes.TITLES:
        if not options.redraw:
            # figures 4 and 6 share trials, and so they share a file
            store = None if options.store is None else Path(options.store) / {4: "svm.csv", 6: "svm.csv"}.get(number, f"fig{number}.csv")
            fresh = papers.reproduce("hpprivbayes", number, options.repeats, progress=True, resume=store, jobs=options.jobs)
            fresh.data.to_csv(trials_file(number), index=False, lineterminator="\n", float_format="%.6g")
            words = json.dumps(fresh.parameters, indent=1, ensure_ascii=False)
            (PAPER / f"fig{number}.json").write_text(words + "\n", encoding="utf-8")
        result = redrawn(number)  # from the rounded numbers that are committed, so that a redraw gives the same bytes
        result.summary().to_csv(PAPER / f"fig{number}.csv", index=False, lineterminator="\n", float_format="%.5g")
        save(result.figure, PAPER / f"fig{number}.svg")
    write_index()


def make_main(options: argparse.Namespace) -> None:
    """The README's picture."""
    result = redrawn(5)
    settings = {k: tuple(v) if isinstance(v, list) else v for k, v in result.parameters.items()}
    known = {k: v for k, v in settings.items() if k in hpprivbayes.Settings.__dataclass_fields__}
    save(hpprivbayes_plots.main_picture(result.data, hpprivbayes.Settings(**known)), HERE / "main.svg")
    shown = result.summary()
    hidden = (shown["metric"] != "2-way distance") | ((shown["guarantee"] == "published") & (shown["k"] != "4"))
    shown = shown[~(hidden | ((shown["guarantee"] == "strict") & (shown["k"] != "auto")))]
    shown.to_csv(HERE / "main.csv", index=False, lineterminator="\n", float_format="%.5g")


# --- lessons --------------------------------------------------------------------------------------------------------------


def make_lessons(options: argparse.Namespace) -> None:
    """Each panel in its default state, on the real table."""
    from pdsynth.panels import LESSONS

    for name, picture in LESSONS.items():
        if not options.names or picture in options.names or name in options.names:
            path = HERE / "lessons" / f"{picture}.svg"
            path.write_text(svg(importlib.import_module(f"pdsynth.panels.{name}").static()), encoding="utf-8", newline="\n")
            sys.stdout.write(f"{path.relative_to(HERE.parent)}\n")
    write_index()


# --- the index page -------------------------------------------------------------------------------------------------------


def write_index() -> None:
    """Write figures/README.md."""
    (HERE / "README.md").write_text(index(), encoding="utf-8", newline="\n")


def index() -> str:
    """The index page, from the committed trials."""
    parts = [INTRODUCTION]
    done = [n for n in hpprivbayes.TITLES if trials_file(n).exists()]
    results = {n: redrawn(n) for n in done}
    if results:
        parts.append("## HPPrivBayes (Deng, thesis 2025)\n\n" + READING + claims(results))
    parts += [section(n, result) + (by_degree(result) if n == 5 else "") for n, result in results.items()]
    drawn = sorted((HERE / "lessons").glob("*.svg"))
    if drawn:
        lines = "".join(f"### {p.stem}\n\n![{p.stem}](lessons/{p.name})\n\n" for p in drawn)
        parts.append("## Lessons\n\nEach lesson's panel in its default state: `python figures/make.py lessons`.\n\n" + lines)
    return "\n".join(parts).rstrip() + "\n"


INTRODUCTION = """# Figures

Every figure here is drawn from real records by a command of this repository, and every number behind it lies beside it.
A verdict follows a rule that is the same for both methods; nothing was tuned to make a claim come true.

## The main picture

![Distance of the synthetic table against ε](main.svg)

2-way average variation distance (mean total variation distance over all 91 pairs of attributes) against ε: the same trials as
figure 5 below. Numbers: [main.csv](main.csv). Command: `python figures/make.py main`.
"""


READING = """"Replicates" says that the algorithms as printed, at the thesis' k = 4, behave as the thesis says. It does not say that they
are private: published HPPrivBayes has no finite ε, and at k = 4 both methods are far worse than at a k that the budget can bear.
The numbers of the strict twins, which pay for everything, stand beside each verdict.

"""


def cell(text: str) -> str:
    """Text that may stand in a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def claims(results: dict[int, Result]) -> str:
    """Claim by claim, in one table."""
    lines = ["| claim | where | verdict | measured here | why |", "|---|---|---|---|---|"]
    for result in results.values():
        lines += [f"| {cell(v.claim)} | {cell(v.source)} | **{v.verdict}** | {cell(v.numbers)} | {cell(v.why)} |" for v in result.verdicts]
    rules = sorted({v.rule for r in results.values() for v in r.verdicts})
    notes = sorted({d for r in results.values() for d in r.deviation})
    return (
        "\n".join(lines) + "\n\nHow a verdict is reached:\n\n" + "".join(f"* {r}\n" for r in rules)
        + "\nWhat differs from the thesis, and what it leaves open:\n\n" + "".join(f"* {n}\n" for n in notes)
    )  # fmt: skip


def section(number: int, result: Result) -> str:
    """One figure: picture, numbers, parameters, repeats, seeds, command."""
    p = result.parameters
    counts = result.data.groupby(["metric", "method", "guarantee", "k", "r", "epsilon"], dropna=False)["value"].count()
    given = ", ".join(f"{k} = {v}" for k, v in p.items() if k not in ("dataset", "rows", "repeats", "seed"))
    gaps = int(result.data["value"].isna().sum())
    return f"""### {result.title}

![{result.title}](hpprivbayes/fig{number}.svg)

* Error bars: 95 % confidence interval of the mean (Student's t). Standard deviations are in the points.
* Numbers: [points](hpprivbayes/fig{number}.csv), [all trials](hpprivbayes/fig{number}_trials.csv), each with its seed; gaps: {gaps}.
* Table: {p["dataset"]}, {p["rows"]:,} rows. Repeats: {counts.min()}{"" if counts.min() == counts.max() else f" to {counts.max()}"}.
* Seeds: the splits from {p["seed"]}, each fit from a digest of its method, parameters, ε, repeat and table.
* Parameters: {given}.
* Command: `python figures/make.py hpprivbayes --figure {number} --repeats {p["repeats"]}`; `--redraw` draws the committed trials.
"""


def by_degree(result: Result) -> str:
    """2-way distance of the trials of figure 5 for every k, as a table."""
    points = result.summary()
    points = points[(points["metric"] == "2-way distance") & (points["guarantee"] != "none")]
    epsilons = sorted(points["epsilon"].unique())
    lines = ["| method | k | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " |", "|---|---|" + "---|" * len(epsilons)]
    for (guarantee, k, method), part in points.groupby(["guarantee", "k", "method"], sort=True):
        at = part.set_index("epsilon")
        values = " | ".join(f"{at.loc[e, 'mean']:.3f} ± {at.loc[e, 'ci95']:.3f}" for e in epsilons)
        lines.append(f"| {method}, {'as published' if guarantee == 'published' else guarantee} | {k} | {values} |")
    return "\nThe 2-way distance by k (mean ± 95 % half-width): what k = 4 does to the comparison.\n\n" + "\n".join(lines) + "\n"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("hpprivbayes", "main", "lessons"))
    parser.add_argument("names", nargs="*", help="lessons: only these pictures")
    parser.add_argument("--figure", type=int, nargs="*", help="only these figures of the thesis")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--store", help="folder for finished trials")
    parser.add_argument("--redraw", action="store_true", help="draw the committed trials, run nothing")
    options = parser.parse_args()
    with browser():
        {"hpprivbayes": make_paper, "main": make_main, "lessons": make_lessons}[options.what](options)


if __name__ == "__main__":
    main()
