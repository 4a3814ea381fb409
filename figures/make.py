"""Draw the committed figures and their numbers.

    python figures/make.py PAPER [--figure N …] [--table N …] [--repeats 20] [--set NAME=JSON …]
                                 [--jobs 2] [--store FOLDER] [--reading NAME] [--redraw]
                                 [--only NAME=JSON …]
    python figures/make.py main
    python figures/make.py scoreboard
    python figures/make.py parquet
    python figures/make.py lessons [NAME …]

``PAPER`` (hpprivbayes, …) runs a paper's experiments and writes picture, points and trials to
figures/PAPER, and the pages; ``--store`` keeps finished trials so that an interrupted run goes
on; ``--only`` (method="ConsistentBayes", guarantee="strict", …) runs some curves with the committed
settings and puts them in the place of their committed trials, all others stay; ``--reading`` runs what a declared reading changes, into figures/PAPER/readings; ``--redraw``
draws the committed trials again and runs nothing. ``main`` draws the index' main picture from the
trials of the yardsticks' figure 1. ``scoreboard`` writes the pages again. ``parquet`` writes all
committed trials to figures/trials.parquet, one tidy table (needs the extra ``scale``). ``lessons`` draws each
panel in its default state, for readers without a kernel. Needs the extra ``figures`` (kaleido) and
a Chromium or Chrome on the system.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pandas as pd  # noqa: E402
import plotly.graph_objects as go  # noqa: E402

import pdsynth as pds  # noqa: E402
from pdsynth.course.panels import LESSONS  # noqa: E402
from pdsynth.papers import effects, repeats, scoreboard, yardsticks  # noqa: E402
from pdsynth.papers.engine import (  # noqa: E402
    PAPERS,  # noqa: E402
    Paper,
    find,
    stem,
)
from pdsynth.papers.grids import Run, matches, read  # noqa: E402
from pdsynth.papers.readings import Reading  # noqa: E402
from pdsynth.papers.results import (  # noqa: E402
    Key,  # noqa: E402
    Result,
    Verdict,
    markdown,
    point,
    summarise,
)
from pdsynth.papers.scoreboard import Committed  # noqa: E402
from pdsynth.plots import svg  # noqa: E402

PICTURES = HERE.parent / "notebooks" / "pictures"  # beside the lessons that show them
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


def on_white(plot: go.Figure) -> go.Figure:
    """A copy on white ground, which keeps it readable on dark pages."""
    return go.Figure(plot).update_layout(paper_bgcolor="white", plot_bgcolor="white")


def save(plot: go.Figure, path: Path, width: int = WIDTH) -> None:
    """Write an SVG whose bytes depend on the figure alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg(on_white(plot), width=width), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{path.relative_to(HERE.parent)}: {path.stat().st_size:,} bytes\n")


# --- papers


def file(paper: Paper, key: Key, end: str, reading: str | None = None) -> Path:
    """A committed file of a figure or table, for example ``file(paper, 3, "_trials.csv")``."""
    return Committed(paper, HERE).file(key, end, reading)


def drawn(paper: Paper) -> list[Key]:
    """What has been run and committed."""
    return Committed(paper, HERE).keys


def redrawn(paper: Paper, key: Key) -> Result:
    """A figure from its committed trials and the parameters beside them."""
    return Committed(paper, HERE).assemble(key)


def write_trials(paper: Paper, key: Key, data: Any, facts: Any, reading: str | None = None) -> None:
    """All trials, and the parameters that they were made with."""
    target = file(paper, key, "_trials.csv", reading)
    target.parent.mkdir(parents=True, exist_ok=True)
    data.to_csv(target, index=False, lineterminator="\n", float_format="%.6g")
    words = json.dumps(facts, indent=1, ensure_ascii=False)
    file(paper, key, ".json", reading).write_text(words + "\n", encoding="utf-8")


def make_readings(paper: Paper, options: argparse.Namespace) -> None:
    """The trials of one reading, or of all that are declared: only the curves that differ."""
    for key in options.figure or drawn(paper):
        named = [r for r in paper.readings(key).values() if r.runs and key in r.of]
        for reading in (
            named if options.reading == "all" else [paper.find_reading(key, options.reading)]
        ):
            run = start(paper, options)
            run.only = reading.runs
            settings = paper.check(key, run.repeats, reading.options)
            data = paper.trials(key, settings, run)
            facts = {"tables": run.tables, "repeats": run.repeats, "seed": run.seed}
            write_trials(paper, key, data, facts | reading.options, reading.name)
    write_pages()


def start(paper: Paper, options: argparse.Namespace) -> Run:
    """How the command line wants an experiment run."""
    # one file for all: figures share trials, and a trial's key says everything that decides it
    store = None if options.store is None else Path(options.store) / f"{paper.name}.csv"
    return Run(options.repeats or paper.repeats, paper.seed, progress=True, resume=store,
               jobs=options.jobs)  # fmt: skip


def write_points(paper: Paper, key: Key, result: Result) -> None:
    """Mean, standard deviation and interval of every point."""
    result.summary().to_csv(
        file(paper, key, ".csv"), index=False, lineterminator="\n", float_format="%.5g"
    )


def make_paper(options: argparse.Namespace) -> None:
    """Figures and tables of one paper: pictures, points, trials, parameters, and the pages."""
    paper = find(options.what)
    if options.reading:
        return make_readings(paper, options)
    wanted: list[Key] = [*(options.figure or ()), *(f"table {n}" for n in options.table or ())]
    for key in wanted or (drawn(paper) if options.redraw else paper.titles):
        if options.only:
            rerun(paper, key, options)
        elif not options.redraw:
            fresh = paper.run(key, start(paper, options), dict(options.set or ()))
            write_trials(paper, key, fresh.data, fresh.parameters)
        result = redrawn(
            paper, key
        )  # from the rounded numbers that are committed, so that a redraw gives the same bytes
        write_points(paper, key, result)
        save(result.figure, file(paper, key, ".svg"))
        view = paper.view(key, result.data, paper.read_settings(result.parameters))
        if view is not None:
            save(view, file(paper, key, "_paper.svg"))
    write_pages()


def rerun(paper: Paper, key: Key, options: argparse.Namespace) -> None:
    """Run some curves anew, with the committed settings, and keep all other committed trials."""
    facts = json.loads(file(paper, key, ".json").read_text(encoding="utf-8"))
    only, run = dict(options.only), start(paper, options)
    run.only = only
    known = {f.name for f in fields(paper.settings)}
    settings = paper.check(
        key, run.repeats, {n: v for n, v in facts.items() if n in known} | dict(options.set or ())
    )
    fresh = paper.trials(key, settings, run)
    if fresh.empty:
        raise SystemExit(f"no curve of {stem(key)} matches {only}")
    old = read(file(paper, key, "_trials.csv"))
    facts["tables"] |= run.tables
    said = {"only": only, "repeats": run.repeats, "version": pds.__version__}
    facts["again"] = [*facts.get("again", []), said | {"on": f"{date.today()}"}]
    write_trials(paper, key, replaced(old, fresh, only), facts)


def replaced(old: pd.DataFrame, fresh: pd.DataFrame, only: dict[str, Any]) -> pd.DataFrame:
    """Old trials, those of some curves replaced by fresh ones.

    A fresh trial stands where the same point and repeat stood, else at the end; all others keep
    their places.
    """
    names = [*point(old), "repeat"]
    rows = {tuple(row[n] for n in names): row for row in fresh.to_dict("records")}
    found = []
    for row in old.to_dict("records"):
        if not matches(row, only):
            found.append(row)
        elif (at := tuple(row[n] for n in names)) in rows:
            found.append(rows.pop(at))
    return pd.DataFrame([*found, *rows.values()], columns=[*old.columns])


def make_main(options: argparse.Namespace) -> None:
    """The main picture of the index."""
    paper = find("yardsticks")
    result = redrawn(paper, 1)
    settings = paper.read_settings(result.parameters)
    same = redrawn(paper, 3).data if 3 in drawn(paper) else None
    save(yardsticks.main_picture(result.data, settings, same), HERE / "main.svg")
    shown = summarise(yardsticks.shown_in_main(result.data))
    if same is not None:  # an empty relation: replace-one, as all of figure 1
        shown = pd.concat([shown, summarise(yardsticks.same_in_main(same))], ignore_index=True)
    shown.to_csv(HERE / "main.csv", index=False, lineterminator="\n", float_format="%.5g")


def make_parquet() -> None:
    """All committed trials as one tidy table."""
    path = HERE / "trials.parquet"
    everything = scoreboard.all_trials([Committed(find(name), HERE) for name in PAPERS])
    everything.to_parquet(path, index=False)
    sys.stdout.write(f"{path.relative_to(HERE.parent)}: {len(everything):,} measured values\n")


# --- lessons


def make_lessons(options: argparse.Namespace) -> None:
    """Each panel in its default state, on the real table."""
    for name, picture in LESSONS.items():
        if not options.names or picture in options.names or name in options.names:
            path = PICTURES / f"{picture}.svg"
            path.write_text(
                svg(importlib.import_module(f"pdsynth.course.panels.{name}").view().still),
                encoding="utf-8",
                newline="\n",
            )
            sys.stdout.write(f"{path.relative_to(HERE.parent)}\n")
    write_pages()


# --- the pages


def write_pages() -> None:
    """Write every page of figures/, and the effect sizes behind the verdicts."""
    boards = [Committed(find(name), HERE) for name in PAPERS]
    for name, text in pages(boards).items():
        (HERE / name).write_text(text, encoding="utf-8", newline="\n")
    sizes = effects.measure(boards)
    sizes.to_csv(HERE / "effects.csv", index=False, lineterminator="\n", float_format="%.4g")


def pages(boards: Sequence[Committed] | None = None) -> dict[str, str]:
    """All pages from the committed trials, by their place in this folder."""
    boards = boards or [Committed(find(name), HERE) for name in PAPERS]
    found = {
        "README.md": index(boards),
        "SCOREBOARD.md": scoreboard.write(boards),
        "ADVICE.md": advice_page(pd.read_csv(HERE / "advice.csv")),
    }
    return found | {f"{b.paper.name}/README.md": paper_page(b) for b in boards if b.results}


def index(boards: Sequence[Committed]) -> str:
    """The index: the main picture, then one line for each page."""
    rows = []
    for board in boards:
        if board.results:
            counts = scoreboard.count_verdicts(scoreboard.claim_lines(board))
            drawn = ", ".join(board.paper.titles[key].split(":")[0] for key in board.results)
            link = f"[{board.paper.heading}]({board.paper.name}/README.md)"
            rows.append([link, scoreboard.say_counts(counts) or "none", drawn])
    lessons = ", ".join(
        f"[{name}](../notebooks/pictures/{name}.svg)" for name in sorted(LESSONS.values())
    )
    parts = [
        INTRODUCTION,
        markdown(["page", "claims", "what is drawn"], rows),
        ADVICE.format(advised=advice_in_short(pd.read_csv(HERE / "advice.csv"))),
        repeats.page(boards),
        PANELS,
        f"{lessons}.",
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def paper_page(board: Committed) -> str:
    """All of one paper: its claims with verdicts, then each figure and table."""
    paper = board.paper
    parts = [f"# {paper.heading}\n\n{UP}\n\n{paper.reading}\n{claims(board)}"]
    parts += [
        section(paper, key, result) + paper.appendix(key, result)
        for key, result in board.results.items()
    ]
    return "\n".join(parts).rstrip() + "\n"


INTRODUCTION = """# Figures

Every figure here is drawn from real records by a command of this repository, and every number behind it lies beside it.
A verdict follows a rule that is the same for all methods; nothing was tuned to make a claim come true.

* [SCOREBOARD.md](SCOREBOARD.md): every claim in one line.
* [effects.csv](effects.csv): every point at which claims compare two methods, with difference, 95 % interval, ratio and Hedges' g.
* [changes.csv](changes.csv): why a verdict changed.

## The main picture

![Distance of the synthetic table against ε](main.svg)

2-way average variation distance (mean total variation distance over all 91 pairs of attributes) against ε: trials of figures 1 and 3 of
the [yardsticks](yardsticks/README.md). The legend says each promise: pure ε unless it names a δ; ⇄ hides a replaced record, ± an added or
removed one. OpenDP's MST and AIM run in pure ε and with a δ; compare curves of the same promise. Numbers: [main.csv](main.csv).
Command: `python figures/make.py main`.

## One page for each paper and experiment

Each page has the claims with their verdicts, the rules that gave them, what differs from the paper, then every figure and table with its
numbers, parameters, seeds and command. Claims are counted as the scoreboard counts them.
"""
ADVICE = """## What the plan advises

{advised} All cells: [ADVICE.md](ADVICE.md).
"""
PANELS = """
## Panels of the lessons

Each lesson's panel in its default state: `python figures/make.py lessons`.
"""
UP = "[All figures](../README.md) · [every claim in one line](../SCOREBOARD.md)"


def advice_in_short(found: pd.DataFrame) -> str:
    """How far the advised methods were from their rivals, in two sentences."""
    made_up = found.table.str.startswith("independent")
    real, drawn = found[~made_up], found[made_up]
    return (
        "`pds.plan` names a method from public facts alone. That method was farther than 1.05 × the nearest rival in "
        f"{(real['÷ rival'] > 1.05).sum()} of {len(real)} cells of eight tables. It was at most {real['÷ Independent'].max():.3f} times as far as "
        f"Independent there, and at most {drawn['÷ Independent'].max():.3f} times where columns are independent."
    )


def advice_page(found: pd.DataFrame) -> str:
    """What the plan advises on each table at each ε, beside the nearest of its rivals."""
    named = [*found.columns[:4], "rival", "its", "over", "alone", "repeats"]
    rows = [
        [
            each.table,
            f"{each.epsilon:g}",
            f"{short(each.advised)}: {each.distance:.4f}",
            f"{short(each.rival)}: {each.its:.4f}",
            f"{each.over:.2f}",
            f"{each.alone:.2f}",
            str(each.repeats),
        ]
        for each in found.set_axis(named, axis=1).itertuples()
    ]
    columns = ["table", "ε", "advised", "nearest rival", "÷ rival", "÷ Independent", "repeats"]
    return (
        f"# What the plan advises, and what it could have advised\n\n[All figures](README.md)\n\n{advice_in_short(found)}\n\n"
        "Two-way distance of the advised method's sampled rows, beside the nearest of Independent, JTree and "
        "PrivBayes with k = 0 … 3 (picked afterwards). The prior leaves the judged table out. Rivals that are foretold to take more than "
        "eight seconds a fit (one, where columns are independent, and on Retail and Big5 after the first repeat) aren't run.\n\n"
        f"{markdown(columns, rows)}\nNumbers: [points](advice.csv), [all trials](advice_trials.csv); repeat i has seed i. "
        "Command: `python benchmarks/advice.py --repeats 3`.\n"
    )


def short(method: str) -> str:
    """A method's name without its module."""
    return method.removeprefix("baselines.")


def cell(text: str) -> str:
    """Text that may stand in a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def claims(board: Committed) -> str:
    """Claim by claim: verdicts in a table, numbers folded below it; then readings and rules."""
    paper = board.paper
    verdicts = [v for found in board.verdicts.values() for v in found]
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for v in verdicts:
        groups.setdefault((v.claim, v.source), []).append(v)
    rows = [
        [cell(claim), cell(source), "; ".join(f"{v.reading}: **{v.verdict}**" for v in found)]
        for (claim, source), found in groups.items()
    ]
    folded = "".join(fold(found, paper.readings()) for found in groups.values())
    rules = sorted({v.rule for v in verdicts})
    notes = sorted({d for r in board.results.values() for d in r.deviation})
    named = {v.reading for v in verdicts}
    known = [
        [r.name, r.says, r.whose, r.why, r.cost]
        for r in paper.readings().values()
        if r.name in named
    ]
    judged = (
        markdown(["claim", "where", "verdict under each reading"], rows)
        + f"\n{folded}\nReadings, and what each truly costs:\n\n"
        + markdown(["reading", "what is done", "whose", "why", "true ε"], known)
        + "\nHow a verdict is reached, before Holm's correction over all claims of this part:\n\n"
        + "".join(f"* {r}\n" for r in rules)
        + "\n"
    )
    return (judged if rows else "") + f"{paper.notes}:\n\n" + "".join(f"* {n}\n" for n in notes)


def fold(found: list[Verdict], known: dict[str, Reading]) -> str:
    """Numbers of one claim under every reading, and the reason, behind a line to click."""
    lines = [
        f"* {v.reading} ({known[v.reading].whose}): **{v.verdict}**"
        + (f" ({v.held})" if v.held else "")
        + f". {v.numbers}"
        for v in found
    ]
    return (
        f"<details><summary>{found[0].claim} ({found[0].source})</summary>\n\n"
        + "\n".join(lines)
        + f"\n\n{found[0].why}\n\n</details>\n"
    )


def section(paper: Paper, key: Key, result: Result) -> str:
    """One figure: picture, numbers, parameters, repeats, seeds, command."""
    p = result.parameters
    counts = result.data.groupby(point(result.data), dropna=False)["repeat"].count()
    given = ", ".join(
        f"{k} = {v}" for k, v in p.items() if k not in ("tables", "repeats", "seed", "again")
    )
    gaps = int(result.data["value"].isna().sum())
    base = stem(key)
    tables = (
        "; ".join(f"{name}, {rows:,} rows" for name, rows in p["tables"].items())
        or "no records of people"
    )
    option = f"--figure {key}" if isinstance(key, int) else f"--{key}"
    changed = {
        f.name: p[f.name]
        for f in fields(paper.settings)
        if json.dumps(f.default) != json.dumps(p.get(f.name, f.default))
    }
    option += "".join(f" --set {name}={json.dumps(value)}" for name, value in changed.items())
    viewed = ""
    if says := paper.experiments[key].get("view", {}).get("says"):
        viewed = f"\nAs the paper draws it ({says}): [picture]({base}_paper.svg).\n"
    return f"""## {result.title}

![{result.title}]({base}.svg)
{viewed}
* Error bars: {paper.bars}
* Numbers: [points]({base}.csv), [all trials]({base}_trials.csv), each with its seed; gaps: {gaps}.
* Table: {tables}. Repeats: {counts.min()}{"" if counts.min() == counts.max() else f" to {counts.max()}"}.
* Seeds: {paper.seeds.format(seed=p["seed"])}.
* Parameters: {given}.
{again(p)}* Command: `python figures/make.py {paper.name} {option} --repeats {p["repeats"]}`; `--redraw` draws the committed trials.
"""


def again(parameters: Mapping[str, Any]) -> str:
    """Which curves were run again later, with which version and when; all others are older."""
    lines = [
        f"* Run again on {each['on']}, version {each['version']}, {each['repeats']} repeats: "
        + ", ".join(f"{name} = {value}" for name, value in each["only"].items())
        for each in parameters.get("again", ())
    ]
    return "".join(f"{line}. Other curves stay as they were.\n" for line in lines)


def setting(text: str) -> tuple[str, object]:
    """A setting from the command line."""
    name, _, value = text.partition("=")
    return name, json.loads(value)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=(*PAPERS, "main", "lessons", "scoreboard", "parquet"))
    parser.add_argument("names", nargs="*", help="lessons: only these pictures")
    parser.add_argument("--figure", type=int, nargs="*", help="only these figures of the paper")
    parser.add_argument("--table", type=int, nargs="*", help="only these tables of the paper")
    parser.add_argument(
        "--set",
        type=setting,
        action="append",
        help="a setting of the paper other than its default, NAME=JSON",
    )
    parser.add_argument("--repeats", type=int, help="default: the paper's own number")
    parser.add_argument(
        "--only", type=setting, action="append", help="run these curves anew, NAME=JSON"
    )
    parser.add_argument("--reading", help="only what this declared reading runs anew; or all")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--store", help="folder for finished trials")
    parser.add_argument(
        "--redraw", action="store_true", help="draw the committed trials, run nothing"
    )
    options = parser.parse_args()
    if options.what == "scoreboard":
        return write_pages()
    if options.what == "parquet":
        return make_parquet()
    with browser():
        {"main": make_main, "lessons": make_lessons}.get(options.what, make_paper)(options)


if __name__ == "__main__":
    main()
