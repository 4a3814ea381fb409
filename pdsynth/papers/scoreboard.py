"""All verdicts of a paper from its committed trials, and the page that shows them at a glance."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from unicodedata import normalize

import pandas as pd

from .engine import PAPERS, Paper, find, stem
from .grids import NUMBERS, read
from .judging import Ask, judge_together
from .readings import Reading
from .results import (
    FAILS,
    PARTLY,
    REPLICATES,
    TRIAL,
    VERDICTS,
    Key,
    Result,
    Verdict,
    markdown,
)


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
        names = {n for c in self.paper.file["claim"] for n in c.get("readings", [])}
        readings = [r for n, r in self.paper.readings(key).items() if n in names]
        return [r for r in readings if not r.runs or self.file(key, "_trials.csv", r.name).exists()]

    @cached_property
    def asked(self) -> list[tuple[Key, Ask]]:
        """Every claim under every reading, to be judged."""
        asks = []
        for key, result in self.results.items():
            settings = self.paper.read_settings(result.parameters)
            asks += [(key, ask) for ask in self.paper.ask(key, result.data, settings)]
            for reading in self.readings(key):
                own = {
                    n: read(file)
                    for n in (reading.name, reading.over)
                    if (file := self.file(key, "_trials.csv", n)).exists()
                }
                data, options = self.paper.under(key, result, reading.name, own)
                asks += [
                    (key, ask)
                    for ask in self.paper.ask(key, data, options, reading.name, own_base=False)
                ]
        return asks

    @cached_property
    def verdicts(self) -> dict[Key, list[Verdict]]:
        """The verdicts on every claim, under every reading; all of a paper's hold together."""
        verdicts = judge_together([ask for _, ask in self.asked])
        out: dict[Key, list[Verdict]] = {key: [] for key in self.results}
        for (key, _), verdict in zip(self.asked, verdicts, strict=True):
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


@dataclass(frozen=True)
class Row:
    """One claim on the page: the paper's words, its verdict as printed, the best fair one.

    ``verdict``: under the reading by which the claim counts, ``reading``; ``best``: the best that
    is not forensic, ``best_reading``. ``size``: how large what was found is. ``cost``: the true ε.
    ``place``: the claim's number on its paper's page.
    """

    brief: str
    quote: str
    source: str
    verdict: str
    reading: Reading
    best: str
    best_reading: Reading
    size: str
    place: int

    @property
    def kind(self) -> str:
        """What it is counted as."""
        return re.split(r"[:†(]", self.verdict)[0].strip()

    def cells(self, paper: str) -> list[str]:
        """As the page shows it."""
        printed = self.reading.name in ("printed", "ours")
        own = self.verdict + ("" if printed else f" ({self.reading.name}, {self.reading.whose})")
        same = self.best_reading == self.reading
        best = "the same" if same else f"{self.best} ({self.best_reading.name})"
        link = f"[numbers]({paper}/README.md#claim-{self.place})"
        cells = [self.source, own, best, self.size, self.reading.short_cost, link]
        if paper in SEEDS:
            cells = [f"*{self.quote}*", *cells]
        else:
            cells = [self.brief, *cells[:2], *cells[3:]]
        return [c.replace("|", "\\|") for c in cells]


def write(boards: Sequence[Committed]) -> str:
    """The page: counts, then one line for each claim. Markdown, all from committed trials."""
    parts, theirs, own = [], Counter[str](), Counter[str]()
    for board in boards:
        if rows := claim_rows(board):
            (theirs if board.paper.name in SEEDS else own).update(row.kind for row in rows)
            parts += [f"\n## [{title(board)}]({board.paper.name}/README.md)\n"]
            seed = board.paper.name in SEEDS
            cells = [row.cells(board.paper.name) for row in rows]
            parts += [markdown(HEAD if seed else OWN_HEAD, cells)]
            parts += [f"Readings: {explain(rows)}"] * seed
    top = INTRODUCTION.format(
        counts=say_counts(theirs),
        number=sum(theirs.values()),
        own=say_counts(own),
        number_own=sum(own.values()),
    )
    parts += [EARLIER, *(f"* {line}" for board in boards for line in earlier_lines(board))]
    return top + "\n".join(parts) + "\n"


def explain(rows: Sequence[Row]) -> str:
    """The readings that some rows name, each with what is done."""
    readings = {r.name: r for row in rows for r in (row.reading, row.best_reading)}
    return (
        "; ".join(f"**{name}**: {' '.join(r.says.split())}" for name, r in readings.items()) + "."
    )


def count_verdicts(rows: Sequence[Row]) -> Counter[str]:
    """How many claims have each verdict."""
    return Counter(row.kind for row in rows)


def say_counts(counts: Mapping[str, int]) -> str:
    """Verdicts in a row, those without a claim left out.

    >>> say_counts({"mixed": 1, "partly": 2})
    '2 partly, 1 mixed'
    """
    return ", ".join(f"{counts[v]} {v}" for v in (*VERDICTS, "mixed") if counts.get(v))


def claim_rows(board: Committed) -> list[Row]:
    """One row for each claim of a paper, in the order of its page."""
    readings = board.paper.readings()
    places = {at: i for i, at in enumerate(grouped(board), 1)}
    groups: dict[str, list[tuple[Key, Verdict]]] = {}
    for key, verdicts in board.verdicts.items():
        for v in verdicts:
            groups.setdefault(v.brief, []).append((key, v))
    out = []
    for brief, pairs in groups.items():
        several = len({k for k, _ in pairs}) > 1
        counted = [v.reading for _, v in pairs if v.primary]
        by = {
            r: [
                (v.part or (board.paper.titles[k].split(":")[0] if several else ""), v)
                for k, v in pairs
                if v.reading == r
            ]
            for r in dict.fromkeys([*counted, *(v.reading for _, v in pairs)])
        }
        mine = [(part, v) for r in dict.fromkeys(counted) for part, v in by[r] if v.reading == r]
        mine = [at for at in mine if at[1].primary] or mine
        fair = [r for r in by if readings[r].whose != "forensic" and len(by[r]) >= len(mine)]
        best = min(fair, key=lambda r: (rank(v for _, v in by[r]), r != counted[0]))
        if rank(v for _, v in mine) <= rank(v for _, v in by[best]):
            best = counted[0]
        first = pairs[0][1]
        out.append(
            Row(
                brief,
                next(v for _, v in pairs if v.primary).quote,
                say_sources(dict.fromkeys(v.source for _, v in mine)),
                say_parts(mine),
                readings[counted[0]],
                say_parts(by[best]),
                readings[best],
                say_sizes(mine),
                places[first.claim, first.source],
            )
        )
    return out


def grouped(board: Committed) -> dict[tuple[str, str], list[Verdict]]:
    """All verdicts of a paper by claim and source, as its own page lists them."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdicts in board.verdicts.values():
        for v in verdicts:
            groups.setdefault((v.claim, v.source), []).append(v)
    return groups


def rank(verdicts: Iterable[Verdict]) -> float:
    """How good verdicts are for the paper, the smaller the better; open ones lie in between."""
    value = {REPLICATES: 0.0, PARTLY: 1.0, FAILS: 3.0}
    ranks = [value.get(v.verdict, 2.0) for v in verdicts]
    return sum(ranks) / len(ranks)


def say_sources(sources: Iterable[str]) -> str:
    """Where a claim stands; a section once.

    >>> say_sources(["§V-A, Table II", "§V-A, Table III"])
    '§V-A, Table II, Table III'
    """
    first, *others = sources
    section = first.split(", ")[0] + ", "
    return ", ".join([first, *(other.removeprefix(section) for other in others)])


def say_sizes(parts: Sequence[tuple[str, Verdict]]) -> str:
    """The size of one verdict, or of each part."""
    if len(parts) == 1:
        return parts[0][1].size
    return "; ".join(f"{part}: {v.size}" if part else v.size for part, v in parts)


def earlier_lines(board: Committed) -> list[str]:
    """Where a few trials had found something else: that, and what the committed trials say."""
    verdicts = [v for group in board.verdicts.values() for v in group]
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
    names: dict[str, list[str]] = {}
    for name, verdict in parts:
        names.setdefault(verdict.said, []).append(name)
    shaky = {verdict.said for _, verdict in parts if "tolerance" in verdict.held}
    order = sorted(names, key=lambda v: [v.startswith(w) for w in VERDICTS].index(True))
    words = {v: v + "†" * (v in shaky) for v in order}
    if len(words) == 1:
        return words[next(iter(words))]
    return "mixed: " + ", ".join(f"{word} ({say_names(names[v])})" for v, word in words.items())


SEEDS = ("hpprivbayes", "hmprivbayes", "privabn", "ppba", "genetic")  # the papers themselves
HEAD = ["the paper's words", "where", "as printed", "best fair reading", "size", "true ε", ""]
OWN_HEAD = ["what we asked", "whose claim it is", "verdict", "size", "true ε", ""]
EARLIER = "\n## Found otherwise by a few trials before\n"
INTRODUCTION = """# Scoreboard

{number} claims of the papers: {counts}. {number_own} on pages of our own, below: {own}.

*As printed*: under the print's reading where it runs, else under the one that is named with its
owner. These hold together, with 95 % for all claims of a paper (Holm). *Best fair reading*: the
best of all that are not forensic, at its own 95 %. *Size*: how many times the named one's mean the
other's is, the median at the middle ε of the claim's points (of two, the larger ε), and in brackets
the range over all of its points; else the median difference and its range, what the rule measures,
or both ends of the middle curve (of two, the one that moves less). *Rests on our reconstruction*:
only an abstract is public. *Our intervals too wide (n = …)*: with so many repeats nothing can be
said. † another verdict at half or double the tolerance. True ε: the ledger's, ∞ where records are
read raw (in brackets: without these reads). Words in square brackets are ours; HMPrivBayes' and
the last of PPBA's are translated. Changes: [changes.csv](changes.csv). Made by
`python figures/make.py scoreboard`.
"""
