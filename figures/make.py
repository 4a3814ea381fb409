"""Draw the committed figures and their numbers.

    python figures/make.py PAPER [--figure N …] [--table N …] [--repeats 20] [--set NAME=JSON …]
                                 [--out FOLDER] [--jobs 2] [--store FOLDER] [--reading NAME]
                                 [--redraw] [--only NAME=JSON …]
    python figures/make.py main
    python figures/make.py scoreboard
    python figures/make.py parquet
    python figures/make.py lessons [NAME …]

``PAPER`` (hpprivbayes, …) runs a paper's experiments and writes picture, points and trials to
figures/PAPER, and the pages. Fewer repeats, or other settings, than those that lie there are refused;
``--out`` writes the same files into a folder of yours, and changes nothing here. ``--store`` keeps finished trials so that an interrupted run goes
on; ``--only`` (method="ConsistentBayes", guarantee="strict", …) runs some curves with the committed
settings and puts them in the place of their committed trials, all others stay; ``--reading`` runs what a declared reading changes, into figures/PAPER/readings; ``--redraw``
draws the committed trials again and runs nothing. ``main`` draws the index' main picture from the
trials of the yardsticks' figures 1 and 3. ``scoreboard`` writes the pages again. ``parquet`` writes all
committed trials to figures/trials.parquet, one tidy table (needs the extra ``scale``). ``lessons`` draws each
panel in its default state, for readers without a kernel. Needs the extras ``figures`` and ``course``, and
a Chromium or Chrome on the system.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
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
from pdsynth.papers.grids import Run, matches, read, rows_that_match  # noqa: E402
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
    sys.stdout.write(f"{shown(path)}: {path.stat().st_size:,} bytes\n")


def shown(path: Path) -> Path:
    """A path as it is said: from the repository where it lies there."""
    return path.relative_to(HERE.parent) if path.is_relative_to(HERE.parent) else path


# --- papers


def redrawn(board: Committed, key: Key) -> Result:
    """A figure from its committed trials and the parameters beside them."""
    return board.assemble(key)


def write_trials(
    board: Committed, key: Key, data: Any, facts: Any, reading: str | None = None
) -> None:
    """All trials, and the parameters that they were made with."""
    target = board.file(key, "_trials.csv", reading)
    target.parent.mkdir(parents=True, exist_ok=True)
    data.to_csv(target, index=False, lineterminator="\n", float_format="%.6g")
    words = json.dumps(facts, indent=1, ensure_ascii=False)
    board.file(key, ".json", reading).write_text(words + "\n", encoding="utf-8")


def write_points(board: Committed, key: Key, result: Result) -> None:
    """Mean, standard deviation and interval of every point."""
    result.summary().to_csv(
        board.file(key, ".csv"), index=False, lineterminator="\n", float_format="%.5g"
    )


def start(board: Committed, options: argparse.Namespace) -> Run:
    """How the command line wants an experiment run; what is committed is run on all its tables."""
    # one file for all: figures share trials, and a trial's key says everything that decides it
    name = board.paper.name
    store = None if options.store is None else Path(options.store) / f"{name}.csv"
    return Run(options.repeats or board.paper.repeats, board.paper.seed, progress=True,
               resume=store, jobs=options.jobs, whole=board.folder == HERE)  # fmt: skip


def keep_evidence(
    board: Committed, key: Key, repeats: int, settings: Mapping[str, Any], only: Mapping[str, Any],
    reading: str | None = None,
) -> None:  # fmt: skip
    """Refuse what would put fewer repeats, or other settings, in the place of trials that lie there.

    ``only``: the curves that would be replaced. Whoever means it takes the old files away first.
    """
    path = board.file(key, "_trials.csv", reading)
    if not path.exists():
        return
    where = path.relative_to(board.folder.parent)
    way = "write elsewhere with --out FOLDER"
    trials = read(path)
    mine = rows_that_match(trials, only)
    has = int(mine.groupby(point(mine), dropna=False)["repeat"].nunique().max()) if len(mine) else 0
    if repeats < has:
        raise SystemExit(
            f"refused: {where} holds {has} repeats, and {repeats} would replace them: {way}, or "
            f"run --repeats {has} or more"
        )
    kept = json.loads(board.file(key, ".json", reading).read_text(encoding="utf-8"))
    other = [n for n, v in settings.items() if n in kept and json.dumps(v) != json.dumps(kept[n])]
    if other:
        raise SystemExit(f"refused: {where} was made with another {', '.join(other)}: {way}")


def make_readings(board: Committed, options: argparse.Namespace) -> None:
    """The trials of one reading, or of all that are declared: only the curves that differ."""
    paper, planned = board.paper, []
    for key in options.figure or board.keys:
        named = [r for r in paper.readings(key).values() if r.runs and key in r.of]
        for reading in (
            named if options.reading == "all" else [paper.find_reading(key, options.reading)]
        ):
            run = start(board, options)
            run.only = reading.runs
            settings = paper.check(key, run.repeats, reading.options)
            keep_evidence(board, key, run.repeats, reading.options, {}, reading.name)
            planned.append((key, reading, run, settings))
    for key, reading, run, settings in planned:
        data = paper.trials(key, settings, run)
        facts = {"tables": run.tables, "repeats": run.repeats, "seed": run.seed}
        write_trials(board, key, data, facts | reading.options, reading.name)


def make_paper(options: argparse.Namespace) -> None:
    """Figures and tables of one paper: pictures, points, trials, parameters, and the pages."""
    paper = find(options.what)
    board = Committed(paper, Path(options.out).resolve() if options.out else HERE)
    if options.reading:
        make_readings(board, options)
    else:
        make_figures(board, options)
    if board.folder == HERE:
        write_pages()
    else:
        page = board.folder / paper.name / "README.md"
        page.write_text(paper_page(Committed(paper, board.folder)), encoding="utf-8", newline="\n")
        sys.stdout.write(f"{shown(page)}\n")


def make_figures(board: Committed, options: argparse.Namespace) -> None:
    """Run, unless they are drawn again, and draw; nothing is run before all may be."""
    paper, chosen = board.paper, dict(options.set or ())
    wanted: list[Key] = [*(options.figure or ()), *(f"table {n}" for n in options.table or ())]
    wanted = wanted or (board.keys if options.redraw else list(paper.titles))
    only = dict(options.only or ())
    if not options.redraw:
        for key in wanted:
            run = start(board, options)
            settings = asdict(paper.check(key, run.repeats, chosen))
            settings = {n: settings[n] for n in (chosen if only else settings)}
            keep_evidence(board, key, run.repeats, settings, only)
    for key in wanted:
        if only:
            rerun(board, key, options)
        elif not options.redraw:
            fresh = paper.run(key, start(board, options), chosen)
            write_trials(board, key, fresh.data, fresh.parameters)
        # from the rounded numbers that are committed, so that a redraw gives the same bytes
        result = redrawn(board, key)
        write_points(board, key, result)
        save(result.figure, board.file(key, ".svg"))
        view = paper.view(key, result.data, paper.read_settings(result.parameters))
        if view is not None:
            save(view, board.file(key, "_paper.svg"))


def rerun(board: Committed, key: Key, options: argparse.Namespace) -> None:
    """Run some curves anew, with the committed settings, and keep all other committed trials."""
    paper = board.paper
    facts = json.loads(board.file(key, ".json").read_text(encoding="utf-8"))
    only, run = dict(options.only), start(board, options)
    run.only = only
    chosen = paper.check(key, run.repeats, dict(options.set or ()))
    new = {n: getattr(chosen, n) for n in dict(options.set or ())}
    fresh = paper.trials(key, paper.read_settings(facts | new), run)
    if fresh.empty:
        raise SystemExit(f"no curve of {stem(key)} matches {only}")
    old = read(board.file(key, "_trials.csv"))
    facts["tables"] |= run.tables
    said = {"only": only, "repeats": run.repeats, "version": pds.__version__}
    before = [each for each in facts.get("again", []) if each["only"] != only]  # else replaced now
    facts["again"] = [*before, said | {"on": f"{date.today()}"}]
    write_trials(board, key, replaced(old, fresh, only), facts)


def replaced(old: pd.DataFrame, fresh: pd.DataFrame, only: dict[str, Any]) -> pd.DataFrame:
    """Old trials, those of some curves replaced by fresh ones.

    A fresh trial stands where the same point and repeat stood, else at the end; all others keep
    their places, also where fresh ones are of other curves.
    """
    names = [*point(old), "repeat"]
    new = [row for row in fresh.to_dict("records") if matches(row, only)]
    rows = {tuple(row[n] for n in names): row for row in new}
    found = []
    for row in old.to_dict("records"):
        if not matches(row, only):
            found.append(row)
        elif (at := tuple(row[n] for n in names)) in rows:
            found.append(rows.pop(at))
    return pd.DataFrame([*found, *rows.values()], columns=[*old.columns])


def make_main(options: argparse.Namespace) -> None:
    """The main picture of the index."""
    board = Committed(find("yardsticks"), HERE)
    result = redrawn(board, 1)
    settings = board.paper.read_settings(result.parameters)
    same = redrawn(board, 3).data if 3 in board.keys else None
    save(yardsticks.main_picture(result.data, settings, same), HERE / "main.svg")
    shown = summarise(yardsticks.shown_in_main(result.data, same))
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
            counts = scoreboard.count_verdicts(scoreboard.claim_rows(board))
            drawn = ", ".join(board.paper.titles[key].split(":")[0] for key in board.results)
            link = f"[{board.paper.heading}]({board.paper.name}/README.md)"
            rows.append([link, scoreboard.say_counts(counts) or "none", drawn])
    lessons = ", ".join(
        f"[{name}](../notebooks/pictures/{name}.svg)" for name in sorted(LESSONS.values())
    )
    same = any(board.paper.name == "yardsticks" and 3 in board.results for board in boards)
    parts = [
        INTRODUCTION.format(drawn="figures 1 and 3" if same else "figure 1"),
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
* [LEFT_OPEN.md](LEFT_OPEN.md): what the papers left open, and what became of it.
* [PROTECTED.md](PROTECTED.md): who was protected by each strict personalised method, and what each attribute lost.

## The main picture

![Distance of the synthetic table against ε](main.svg)

2-way average variation distance (mean total variation distance over all 91 pairs of attributes) against ε: trials of {drawn} of
the [yardsticks](yardsticks/README.md). The legend says each promise: pure ε unless it names a δ; ⇄ hides a replaced record, ± an added or
removed one. Compare curves of the same promise: OpenDP's MST and AIM, and ConsistentBayes, run in pure ε and with a δ ([NIST's score](yardsticks/README.md) of both).
Numbers: [main.csv](main.csv).
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
UP = (
    "[All figures](../README.md) · [every claim in one line](../SCOREBOARD.md) · "
    "[who was protected](../PROTECTED.md)"
)


def advice_in_short(found: pd.DataFrame) -> str:
    """How far the advised methods were from their rivals, and from their forecasts."""
    made_up = found.table.str.startswith("independent")
    real, drawn = found[~made_up], found[made_up]
    worst = real.loc[real["÷ rival"].idxmax()]
    return (
        "`pds.plan` names a method from public facts alone. That method was farther than 1.05 × the nearest rival in "
        f"{(real['÷ rival'] > 1.05).sum()} of {len(real)} cells of {real['table'].nunique()} coded tables, in the worst {worst['÷ rival']:.2f} × "
        f"({worst['table']}, ε = {worst['epsilon']:g}). It was at most {real['÷ Independent'].max():.3f} times as far as "
        f"Independent there, and at most {drawn['÷ Independent'].max():.3f} times where columns are independent. "
        f"{foretold_in_short(real)}"
    )


def foretold_in_short(found: pd.DataFrame) -> str:
    """How near the forecasts of the advised methods were, in a sentence."""
    ratio = found["distance"] / found["foretold"]
    low, high = ratio.quantile([0.1, 0.9])
    return (
        f"Four of five distances were {low:.2f} to {high:.2f} times the forecast; the middle one was "
        f"{ratio.median():.2f} times, the farthest {ratio.max():.2f} times."
    )


def advice_page(found: pd.DataFrame) -> str:
    """What the plan advises on each table at each ε, beside the nearest of its rivals."""
    named = [*found.columns[:5], "rival", "its", "over", "alone", "repeats"]
    rows = [
        [
            each.table,
            f"{each.epsilon:g}",
            f"{short(each.advised)}: {each.distance:.4f}",
            f"{each.foretold:.4f}",
            f"{short(each.rival)}: {each.its:.4f}",
            f"{each.over:.2f}",
            f"{each.alone:.2f}",
            str(each.repeats),
        ]
        for each in found.set_axis(named, axis=1).itertuples()
    ]
    columns = [
        "table",
        "ε",
        "advised",
        "foretold",
        "nearest rival",
        "÷ rival",
        "÷ Independent",
        "repeats",
    ]
    return (
        f"# What the plan advises, and what it could have advised\n\n[All figures](README.md)\n\n{advice_in_short(found)}\n\n"
        "Two-way distance of the advised method's rows, each drawn by itself (balanced ones come nearer), its forecast, and the nearest of Independent, JTree and "
        "PrivBayes with k = 0 … 3 (picked afterwards). The prior leaves the judged table out. Rivals that are foretold to take more than "
        "eight seconds a fit aren't run. "
        "Of the tables with few records, which are scikit-learn's, numbers stand in equal bins.\n\n"
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
    groups = scoreboard.grouped(board)
    rows = [
        [
            cell(claim),
            cell(source),
            "; ".join(
                f"{name}: **{v.said}**"
                for name, v in zip(say_readings(board, found), found, strict=True)
            ),
        ]
        for (claim, source), found in groups.items()
    ]
    folded = "".join(fold(i, board, found) for i, found in enumerate(groups.values(), 1))
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
        + "\nHow a verdict is reached, before Holm's correction over the claims of this part, each under the reading that counts:\n\n"
        + "".join(f"* {r}\n" for r in rules)
        + "\n"
    )
    return (judged if rows else "") + f"{paper.notes}:\n\n" + "".join(f"* {n}\n" for n in notes)


def say_readings(board: Committed, found: list[Verdict]) -> list[str]:
    """The reading of each verdict of a claim; its figure, too, where a reading has several."""
    figure = {
        id(v): board.paper.titles[key].split(":")[0]
        for key, verdicts in board.verdicts.items()
        for v in verdicts
    }
    several = len({v.reading for v in found}) < len(found)
    return [v.reading + (f", {figure[id(v)]}" if several else "") for v in found]


def fold(place: int, board: Committed, found: list[Verdict]) -> str:
    """Numbers of one claim under every reading, and the reason, behind a line to click."""
    known = board.paper.readings()
    lines = [
        f"* {name} ({known[v.reading].whose}{', counts' if v.primary else ''}): **{v.said}**"
        + (f" ({v.held})" if v.held else "")
        + f". {v.numbers}"
        for name, v in zip(say_readings(board, found), found, strict=True)
    ]
    return (
        f'<a id="claim-{place}"></a>\n\n<details><summary>{found[0].claim} ({found[0].source})</summary>\n\n'
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
        "; ".join(
            name if name.endswith(f" {rows:,} rows") else f"{name}, {rows:,} rows"
            for name, rows in p["tables"].items()
        )
        or "no records of people"
    )
    option = f"--figure {key}" if isinstance(key, int) else f"--{key}"
    changed = {
        f.name: p[f.name]
        for f in fields(paper.settings)
        if json.dumps(f.default) != json.dumps(p.get(f.name, f.default))
    }
    words = (shlex.quote(f"{name}={json.dumps(value)}") for name, value in changed.items())
    option += "".join(f" --set {word}" for word in words)
    viewed = ""
    if says := paper.experiments[key].get("view", {}).get("says"):
        viewed = f"\nAs the paper draws it ({says}): [picture]({base}_paper.svg).\n"
    return f"""## {result.title}

![{result.title}]({base}.svg)
{viewed}
* Error bars: {say_bars(paper, counts.max())}
* Numbers: [points]({base}.csv), [all trials]({base}_trials.csv), each with its seed; gaps: {gaps}.
* Table: {tables}. Repeats: {counts.min()}{"" if counts.min() == counts.max() else f" to {counts.max()}"}.
* Seeds: {paper.seeds.format(seed=p["seed"])}.
* Parameters: {given}.
{again(p)}* Command: `python figures/make.py {paper.name} {option} --repeats {p["repeats"]}`; `--redraw` draws the committed trials.
"""


def say_bars(paper: Paper, repeats: int) -> str:
    """What the error bars of a figure are, as its page says."""
    return paper.bars if repeats > 1 or paper.bars.startswith("none") else "none; one run each."


def again(parameters: Mapping[str, Any]) -> str:
    """Which curves were run again later, with which version and when; all others are older."""
    lines = [
        f"* Run again on {each['on']}, version {each['version']}, {each['repeats']} repeats: "
        + ", ".join(f"{name} = {value}" for name, value in each["only"].items())
        for each in parameters.get("again", ())
    ]
    return "".join(f"{line}. Other curves stay as they were.\n" for line in lines)


def setting(text: str) -> tuple[str, object]:
    """A setting from the command line; what isn't JSON is a text.

    >>> setting("r=1/5"), setting("epsilons=[0.2, 1]")
    (('r', '1/5'), ('epsilons', [0.2, 1]))
    """
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


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
        help="a setting of the paper other than its default: theta=0.3, r=1/5, epsilons=[0.2,1]",
    )
    parser.add_argument("--repeats", type=int, help="default: the paper's own number")
    parser.add_argument("--out", help="a folder in place of figures/; nothing committed changes")
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
    if options.out and options.what not in PAPERS:
        parser.error(f"--out goes with a paper, not with {options.what}")
    if options.what == "scoreboard":
        return write_pages()
    if options.what == "parquet":
        return make_parquet()
    try:
        with browser():
            {"main": make_main, "lessons": make_lessons}.get(options.what, make_paper)(options)
    except pds.BudgetError as refusal:
        sys.exit(f"refused: {refusal}")


if __name__ == "__main__":
    main()
