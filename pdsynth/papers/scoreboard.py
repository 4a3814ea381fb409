"""All verdicts of a paper from its committed trials, and the page that shows them at a glance."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from unicodedata import normalize

import pandas as pd

from .engine import PAPERS, Paper, find, stem
from .grids import NUMBERS, read
from .judging import Ask, judge_together
from .readings import Reading
from .results import TRIAL, VERDICTS, Key, Result, Verdict


def slug(name: str) -> str:
    """A reading's name as a part of a file's.

    >>> slug("bits, η = 0.3"), slug("L₁ = 0.1")
    ('bits_eta_0.3', 'L1_0.1')
    """
    plain = normalize("NFKD", name.replace("η", "eta").replace("σ", "sigma"))
    return "_".join(re.findall(r"[\w.]+", plain))


@dataclass(frozen=True)
class Committed:
    """The committed trials of a paper, in ``folder``/NAME: figures, tables, and their readings."""

    paper: Paper
    folder: Path

    def file(self, key: Key, end: str, reading: str | None = None) -> Path:
        """A committed file: ``file(3, "_trials.csv")``; those of a reading lie in readings/."""
        base = self.folder / self.paper.name
        if reading is None:
            return base / (stem(key) + end)
        return base / "readings" / f"{stem(key)}_{slug(reading)}{end}"

    @property
    def keys(self) -> list[Key]:
        """What has been run and committed."""
        return [key for key in self.paper.titles if self.file(key, "_trials.csv").exists()]

    @cached_property
    def results(self) -> dict[Key, Result]:
        """Every figure and table, from its trials and the parameters beside them."""
        return {key: self.assemble(key) for key in self.keys}

    def assemble(self, key: Key) -> Result:
        """One figure or table, without verdicts: those are judged together."""
        parameters = json.loads(self.file(key, ".json").read_text(encoding="utf-8"))
        return self.paper.assemble(
            key, read(self.file(key, "_trials.csv")), parameters, judged=False
        )

    def readings(self, key: Key) -> list[Reading]:
        """The readings other than its own that a figure can be judged under."""
        named = {n for c in self.paper.file["claim"] for n in c.get("readings", [])}
        known = [r for n, r in self.paper.readings(key).items() if n in named]
        return [r for r in known if not r.runs or self.file(key, "_trials.csv", r.name).exists()]

    @cached_property
    def asked(self) -> list[tuple[Key, Ask]]:
        """Every claim under every reading, to be judged."""
        asked = []
        for key, result in self.results.items():
            settings = self.paper.read_settings(result.parameters)
            asked += [(key, ask) for ask in self.paper.ask(key, result.data, settings)]
            for reading in self.readings(key):
                own = {
                    n: read(file)
                    for n in (reading.name, reading.over)
                    if (file := self.file(key, "_trials.csv", n)).exists()
                }
                data, options = self.paper.under(key, result, reading.name, own)
                asked += [
                    (key, ask)
                    for ask in self.paper.ask(key, data, options, reading.name, own_base=False)
                ]
        return asked

    @cached_property
    def verdicts(self) -> dict[Key, list[Verdict]]:
        """The verdicts on every claim, under every reading; all of a paper's hold together."""
        found = judge_together([ask for _, ask in self.asked])
        out: dict[Key, list[Verdict]] = {key: [] for key in self.results}
        for (key, _), verdict in zip(self.asked, found, strict=True):
            if verdict is not None:
                out[key].append(verdict)
        return out


def all_trials(boards: Sequence[Committed]) -> pd.DataFrame:
    """All committed trials in one tidy table: one row per trial and metric.

    ``paper``, ``figure`` ("fig3", "table2") and ``reading`` ("" for the figure's own curves) come
    first; a column that a figure doesn't have is "" there.
    """
    parts = []
    for board in boards:
        for key in board.keys:
            for name in ("", *board.paper.readings(key)):
                if (file := board.file(key, "_trials.csv", name or None)).exists():
                    at = {"paper": board.paper.name, "figure": stem(key), "reading": name}
                    trials = read(file)
                    parts.append(pd.concat([pd.DataFrame(at, trials.index), trials], axis=1))
    every = pd.concat(parts, ignore_index=True)
    text = [name for name in every.columns if name not in NUMBERS]
    every[text] = every[text].fillna("")
    rest = [name for name in every.columns if name not in TRIAL]
    return every[[*rest, *TRIAL]]


@cache
def read_boards(folder: Path) -> tuple[Committed, ...]:
    """All papers, read once: whoever adds trials makes his own :class:`Committed`."""
    return tuple(Committed(find(name), folder) for name in PAPERS)


def write(boards: Sequence[Committed]) -> str:
    """The page: counts, then one line for each claim. Markdown, all from committed trials."""
    parts, counts = [], Counter[str]()
    for board in boards:
        if lines := claim_lines(board):
            counts += count_verdicts(lines)
            parts += [f"\n## [{title(board)}]({board.paper.name}/README.md)\n", HEAD]
            parts += [f"|{'|'.join(line)}|" for line in lines]
    top = INTRODUCTION.format(counts=say_counts(counts), number=sum(counts.values()))
    parts += [EARLIER, *(f"* {line}" for board in boards for line in earlier_lines(board))]
    return top + "\n".join(parts) + "\n"


def count_verdicts(lines: Sequence[Sequence[str]]) -> Counter[str]:
    """How many claims have each verdict, from the lines of :func:`claim_lines`."""
    return Counter(line[1].split(":")[0].rstrip("†") for line in lines)


def say_counts(counts: Mapping[str, int]) -> str:
    """Verdicts in a row, those without a claim left out.

    >>> say_counts({"mixed": 1, "partly": 2})
    '2 partly, 1 mixed'
    """
    return ", ".join(f"{counts[v]} {v}" for v in (*VERDICTS, "mixed") if counts.get(v))


def claim_lines(board: Committed) -> list[list[str]]:
    """One line for each claim of a paper: claim, verdict, its reading, true ε, other readings."""
    known = board.paper.readings()
    groups: dict[str, list[tuple[Key, Verdict]]] = {}
    for key, verdicts in board.verdicts.items():
        for v in verdicts:
            groups.setdefault(v.brief, []).append((key, v))
    out = []
    for brief, found in groups.items():
        several = len({k for k, _ in found}) > 1
        by = {
            r: [
                (v.part or (board.paper.titles[k].split(":")[0] if several else ""), v)
                for k, v in found
                if v.reading == r
            ]
            for r in dict.fromkeys(v.reading for _, v in found)
        }
        base, *others = by
        said = {name: say_parts(parts) for name, parts in by.items()}
        cost = known[base].short_cost
        alike = len(others) > 3 and len(set(said.values())) == 1
        rest = (
            f"all {len(others)}: {said[base]}"
            if alike
            else say_others({name: said[name] for name in others}, known, cost)
        )
        out.append([brief, said[base], base, cost, rest])
    return out


def say_others(said: Mapping[str, str], known: Mapping[str, Reading], cost: str) -> str:
    """Readings by verdict and owner, with their true ε where it isn't ``cost``."""
    groups: dict[str, dict[str, list[str]]] = {}
    for name, verdict in said.items():
        its = known[name].short_cost
        owner = known[name].whose + (f"; {its}" if its != cost else "")
        groups.setdefault(verdict, {}).setdefault(owner, []).append(name)
    return "; ".join(
        ", ".join(f"{say_names(names)} ({owner})" for owner, names in owners.items())
        + f": {verdict}"
        for verdict, owners in groups.items()
    )


def earlier_lines(board: Committed) -> list[str]:
    """Where a few trials had found something else: that, and what the committed trials say."""
    verdicts = [v for found in board.verdicts.values() for v in found]
    out = []
    for e in board.paper.file["earlier"]:
        at = e["brief"], e.get("part", ""), e["reading"]
        for v in verdicts:
            if (v.brief, v.part, v.reading) == at and (now := re.search(e["now"], v.numbers)):
                where = f"{title(board)}, {e['reading']}, {v.part or v.brief}"
                out.append(f"{where}: {e['found']}; now {now.group(now.lastindex or 0)}")
    return out


def title(board: Committed) -> str:
    """A paper's heading without its authors."""
    return board.paper.heading.split(" (")[0].split(":")[0]


def say_names(names: Sequence[str]) -> str:
    """Names in a row; of those that differ in their last word, the others once.

    >>> say_names(["bits, on CMC", "L₁ = 0.1", "L₁ = 0.2"])
    'bits + on CMC, L₁ = 0.1, 0.2'
    """
    parts = [name.replace(", ", " + ").rpartition(" ") for name in names]
    heads = ["", *(head for head, *_ in parts)]
    return ", ".join(
        part[2] if part[0] and part[0] == before else "".join(part)
        for part, before in zip(parts, heads, strict=False)
    )


def say_parts(parts: Sequence[tuple[str, Verdict]]) -> str:
    """One verdict where all parts have it, else each with its parts; † where a tolerance decides.

    >>> a, b = (Verdict("", "", verdict, "", "", "") for verdict in VERDICTS[1:3])
    >>> say_parts([("CMC", a), ("Adult", a)])
    'partly'
    >>> say_parts([("CMC", a), ("Adult", b), ("credit", a)])
    'mixed: partly (CMC, credit), does not (Adult)'
    """
    named: dict[str, list[str]] = {}
    for name, verdict in parts:
        named.setdefault(verdict.verdict, []).append(name)
    shaky = {verdict.verdict for _, verdict in parts if "tolerance" in verdict.held}
    said = {v: v + "†" * (v in shaky) for v in VERDICTS if v in named}
    if len(said) == 1:
        return said[next(iter(said))]
    return "mixed: " + ", ".join(f"{word} ({say_names(named[v])})" for v, word in said.items())


HEAD = "|claim|verdict|reading|true ε|other readings|\n|---|---|---|---|---|"
EARLIER = "\n## Found otherwise by a few trials before\n"
INTRODUCTION = """# Scoreboard

{number} claims: {counts}.

Each verdict holds together with all others on its paper (Holm, 95 %). † another verdict at half
or double the tolerance. Untestable: one run, an undefined measure, a reconstruction,
or intervals too wide. True ε: the ledger's, ∞ where records are read raw (in brackets: without
these reads); another reading's where it differs. Other readings: whose they are, the print's, ours,
or forensic (never private); "bits + …": bits, and that besides. Rules and numbers: behind
each heading, reasons of changes in [changes.csv](changes.csv). Made by
`python figures/make.py scoreboard`.
"""
