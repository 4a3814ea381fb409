"""Lesson 19: a declaration to edit, one line per column, and what n, ε and k can bear under it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import ipywidgets as W

from ...core import (
    NOISE_DOMINATES,
    USEFUL,
    Schema,
    SchemaError,
    check_degree,
    noise_dominates,
    noise_to_cell,
    plural,
    positive,
    typical_cells,
)
from ...datasets.adult import load_adult
from ...files.domains import FORM
from ...files.file_format import FileFormat
from ...files.reading import read_csv, read_header
from ...files.showing import shorten
from ...planning import Plan, plan
from ..declaration import Declared, declare, propose
from ..widgets.controls import choice, slider
from ..widgets.live import LivePanel
from ..widgets.view import Try, View
from .drawing import Board, ink
from .panel import live_panel

ORIGINS = {"public": "public", "exploring": "data"}
ROWS, WIDE = 24, 21  # columns that the figure has space for, and characters of a name
LOW, HIGH = 1e-4, 1e4  # ends of both axes of noise ÷ mean cell
KINDS = {
    "useful": ("private", "circle", "useful"),
    "weak": ("none", "square", "weak"),
    "drowned": ("attack", "x", "lost in noise"),
}
LIMITS = (
    (NOISE_DOMINATES, "attack", "dash", "from here: more noise than people"),
    (1 / USEFUL, "real", "dot", "up to here: useful"),
)
NOTE = """Of a file this panel reads the column names and the number of records, nothing else; \
the plan follows from them and from your declaration, and costs nothing. <i>Exploring</i> reads \
every value of the records: what it proposes isn't public, and the notebook then shows it. \
The file itself is forgotten by the page as soon as it is read. Large file: \
<code>panels.own_data.panel('my_data.csv')</code>. No header? Write the column names before you \
choose the file."""


@dataclass(frozen=True)
class File:
    """A table before its schema: ``content`` is for exploring, ``codebook`` a declaration."""

    name: str
    names: tuple[str, ...]
    n: int
    content: bytes | None = None
    codebook: str = ""
    header: bool = True
    written: FileFormat | None = None

    @classmethod
    def of(cls, name: str, content: bytes, names: str = "") -> File:
        """A file from its bytes, and column names if it has none; SchemaError for no table."""
        columns = names.replace(",", " ").split() or None
        header = read_header(content, names=columns)
        text = header.encoding and FileFormat(header.encoding, header.delimiter, header.first)
        return cls(name, header.names, header.n, content, header=header.first, written=text or None)

    def read(self, schema: Schema | None = None) -> Any:
        """The records, over a schema or as they are."""
        if self.content is None:
            return example() if schema is None else example()[list(schema.names)]
        return read_csv(self.content, schema, names=None if self.header else self.names)

    def propose(self, source: str) -> str:
        """A first declaration.

        ``"public"``: from the codebook, else from column names alone; ``"data"``: from the records.
        """
        if source == "public":
            return self.codebook or propose(self.names)
        return propose(self.names, self.read())


CODEBOOK = Path(__file__).with_name("codebook.txt").read_text(encoding="utf-8").rstrip("\n")
COLUMNS = tuple(line.split(":")[0] for line in CODEBOOK.splitlines())
EXAMPLE = File("my_data.csv", COLUMNS, 32_561, None, CODEBOOK)


def example() -> Any:
    """The training rows of Adult, which is public, with an id, and "?" as an empty cell."""
    rows = load_adult().train.replace("?", None).reset_index(drop=True)
    return rows.assign(id=range(1, len(rows) + 1))[list(EXAMPLE.names)]


def ratios(schema: Schema, n: int, epsilon: float, k: int) -> dict[str, float]:
    """Noise ÷ mean cell of each attribute's own table, with k parents of typical size."""
    share = noise_to_cell(schema, n, positive("epsilon", epsilon), k) / typical_cells(schema, 0)
    return {a.name: share * a.size for a in schema.attributes}


def judge(ratio: float) -> str:
    """A table's noise in one word."""
    return "drowned" if ratio > NOISE_DOMINATES else "useful" if ratio * USEFUL <= 1 else "weak"


def clip(values: list[float]) -> list[float]:
    """Values within the axes."""
    return [min(max(value, LOW), HIGH) for value in values]


def draw(declared: Declared, known: Plan, k: int, title: str) -> Board:
    """Noise ÷ mean cell of each column's table at this k; and of a typical table, by k."""
    quotients = ratios(declared.schema, known.n, float(known.epsilon), k)
    most = sorted(quotients, key=lambda name: -quotients[name])[:ROWS]
    quotients = {name: ratio for name, ratio in quotients.items() if name in most}
    plot, words = Board("own_data", title), {name: judge(v) for name, v in quotients.items()}
    tall = 110 + 24 * len(quotients)
    plot.layout["height"] = max(400, 60 + tall)
    plot.charts["xy"]["height"] = max(340, tall)
    plot.entitle("xy", f"Noise in each column's table, k = {k}")
    rows = {name: f"{shorten(name, WIDE)} · {declared.schema[name].size:,}" for name in quotients}
    degrees = dict(zip(known.table["k"], known.table["noise ÷ mean cell"].tolist(), strict=True))
    for word, (colour, symbol, label) in KINDS.items():
        mine = [name for name in quotients if words[name] == word]
        plot.dots(
            clip([quotients[name] for name in mine]),
            [rows[name] for name in mine],
            colour,
            symbol=symbol,
            name=f"{len(mine)} {label}",
            showlegend=True,
            customdata=[quotients[name] for name in mine],
            hover="%{y} values: %{customdata:.3g}",
        )
        same = {degree: ratio for degree, ratio in degrees.items() if judge(ratio) == word}
        plot.dots(
            list(same),
            clip(list(same.values())),
            colour,
            2,
            symbol=symbol,
            size=13,
            customdata=list(same.values()),
            hover="k = %{x}: %{customdata:.3g}",
            marker={
                "line": {"width": [3 * (degree == k) for degree in same], "color": ink("real")}
            },
        )
    plot.set(y={"categoryorder": "array", "categoryarray": list(rows.values())})
    for level, colour, dash, name in LIMITS:  # on the left the legend's kinds name them
        plot.mark((level, level), (0, 1), colour, dash=dash, xref="x", yref="y domain")
        plot.limit([-0.6, 5.6], [level] * 2, 2, colour, dash=dash, name=name)
    plot.set(x={"title": "noise ÷ people in a cell"})
    return plot


@live_panel(
    spends=False,
    tries=(
        Try(
            "three parents",
            {"k": 3},
            "a table of four columns has {now.noise:.3g} times more noise than records in a "
            "typical cell.",
            lambda was, now: now.noise > 1,
        ),
        Try(
            "little budget",
            {"epsilon": 0.05},
            "the plan now says k = {now.k}, at ε = 1 it was {was.k}.",
            lambda was, now: now.k < was.k,
        ),
        Try(
            "coarser ranges",
            {"bins": 4},
            "fewer bins make larger cells: noise ÷ cell {now.noise:.3g} instead of "
            "{was.noise:.3g}.",
            lambda was, now: now.noise < was.noise,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.05, 5.0, 0.05, tooltip="ε, what one person may lose"),
    k=choice("k", ["auto", 0, 1, 2, 3, 4], tooltip="k, largest number of parents"),
    bins=slider("bins", 16, 2, 64, 1, tooltip="bins of a range that doesn't say"),
    persons=slider("records", 1, 1, 20, 1, tooltip="records of one person, at most"),
    proposal=choice("domains", ORIGINS, tooltip="domains, where they come from"),
)
def view(
    epsilon: float,
    k: int | str,
    bins: int,
    persons: int,
    proposal: str,
    file: File = EXAMPLE,
    text: str | None = None,
) -> View:
    """A function of the declaration ``text``, the column names, n and the parameters alone.

    No record is read. ``persons``: records of one person, at most; each fit then gets
    ε ÷ ``persons``. Raises SchemaError for a declaration that says nothing, BudgetError for a k
    that the schema can't have.
    """
    declaration = file.propose(proposal) if text is None else text
    declared = declare(declaration, file.names, bins, proposal, file.header, file.written)
    share, schema = positive("epsilon", epsilon) / persons, declared.schema
    check_degree(k, schema)
    outlook = plan(schema, file.n, share)  # type: ignore[arg-type]
    degree = outlook.k if isinstance(k, str) else k
    quotients = ratios(schema, file.n, float(share), degree).values()
    useful = sum(judge(ratio) == "useful" for ratio in quotients)
    columns = plural(len(quotients), "column")
    verdict = f"{useful} of {columns} {'keeps' if useful == 1 else 'keep'} a useful table"
    company = f"with {plural(degree, 'parent')}" if degree else "without parents"
    parts = [f"{verdict} {company}.", str(outlook)]
    if persons > 1:
        parts.insert(
            2,
            f"A person with {persons} records would lose {persons} times ε, so a fit "
            f"may spend {float(share):.3g}.",
        )
    if not isinstance(k, str) and k > 0 and noise_dominates(schema, file.n, share, k):
        noise = noise_to_cell(schema, file.n, share, k)
        parts.append(
            f"At the k of your choice a typical cell has {noise:,.3g} times more noise "
            "than records."
        )
    if declared.open:
        parts.append(f"Not declared yet, and not in the plan: {', '.join(declared.open)}.")
    if proposal != "public":
        parts.append(
            "These domains come from the records: a strict fit refuses them "
            "(PrivacyError), and so should you."
        )
    domains = {word: name for name, word in ORIGINS.items()}[proposal]
    plot = draw(
        declared,
        outlook,
        degree,
        f"{shorten(file.name, WIDE)}: ε = {epsilon:g}, k = {k}, "
        f"bins = {bins}, records = {persons}, domains = {domains}",
    )
    saved = (
        f"<b>Your schema as a file</b>, to copy and to review:<pre>{escape(declared.file)}</pre>"
    )
    typical = outlook.table.set_index("k")["noise ÷ mean cell"]
    facts = {"k": outlook.k, "noise": float(typical.get(degree, math.nan))}
    return View(
        plot.figure,
        " ".join(parts),
        [f"<b>Before you spend.</b> {outlook._repr_html_()}", saved],
        facts=facts,
    )


def undeclared(file: File, problem: str) -> View:
    """A file whose lines are still open: no figure, plan or schema, least of all another file's."""
    title = f"{shorten(file.name, WIDE)}: not declared yet"
    return View(Board("own_data", title).figure, f"Nothing to plan for {file.name} yet: {problem}.")


class DeclarationForm:
    """The file and its declaration above a live panel: an upload button and a text to edit."""

    def __init__(self, file: File) -> None:
        self.file, self.proposal, self.problem = file, "", None  # type: File, str, Exception | None
        self.declared = False  # whether the panel has shown a plan of this file
        self.texts: dict[str, str] = {}
        self.panel: LivePanel | None = None
        self._quiet = False
        self.editor = W.Textarea(
            description="Declaration",
            continuous_update=False,
            tooltip="declaration, one line a column; leave the box to apply it",
            layout=W.Layout(width="auto", height="190px", margin="2px 8px 2px 0"),
            style={"description_width": "auto"},
        )
        self.editor.add_class("pdsynth-declaration")
        self.upload = W.FileUpload(
            accept=".csv,text/csv",
            multiple=False,
            description="Your CSV file",
            layout=W.Layout(width="auto"),
        )
        self.label = W.HTML()
        self.names = W.Text(
            description="Column names",
            placeholder="of a file without a header",
            style={"description_width": "auto"},
            layout=W.Layout(width="320px"),
        )
        row = W.Layout(align_items="center", flex_flow="row wrap")
        words = re.sub("`([^`]+)`", r"<code>\1</code>", escape(FORM))
        form = W.HTML(
            "<details><summary>How to write a line a column</summary>"
            f"<p>{words}. Leave the box to apply.</p></details>"
        )
        head = W.HBox([self.names, self.upload, self.label], layout=row)
        read = W.HTML(f"<details><summary>What is read of a file</summary><p>{NOTE}</p></details>")
        self.box = W.VBox([head, form, self.editor, read], layout=W.Layout(width="100%"))
        self.box.add_class("pdsynth-form")
        self.editor.observe(self._edit, "value")
        self.upload.observe(self._take, "value")
        self._name()

    def show(self, proposal: str, **controls: Any) -> View:
        """The view of the present file and text; a refused file says so once."""
        problem, self.problem = self.problem, None
        if problem is not None:
            raise problem
        if proposal != self.proposal:
            text = self.texts.get(proposal)
            text = self.file.propose(proposal) if text is None else text
            self.texts[self.proposal], self.proposal = self.editor.value, proposal
            self._quiet = True
            self.editor.value = text
            self._quiet = False
        try:
            shown = view(**controls, proposal=proposal, file=self.file, text=self.editor.value)
        except SchemaError as refusal:
            if self.declared:
                raise
            return undeclared(self.file, str(refusal))
        self.declared = True
        return shown

    def schema(self) -> Schema:
        """What stands in the text, as a public schema; columns without a domain are left out."""
        if self.panel is None or self.proposal != "public":
            raise SchemaError("these domains come from the records: set domains to public first")
        bins = self.panel.values["bins"]
        result = declare(
            self.editor.value,
            self.file.names,
            bins,
            header=self.file.header,
            file=self.file.written,
        )
        why = dict.fromkeys(result.dropped, "") | dict.fromkeys(result.open, "not declared")
        return replace(result.schema, left_out=why)

    def records(self) -> Any:
        """The records of the file over :meth:`schema`.

        **Privacy:** raw records.
        """
        return self.file.read(self.schema())

    def _name(self) -> None:
        self.label.value = (
            f"<b>{escape(self.file.name)}</b>: "
            f"{plural(self.file.n, 'record')}, "
            f"{plural(len(self.file.names), 'column')}"
        )

    def _edit(self, _: Any) -> None:
        if self.panel is not None and not self._quiet:
            self.panel.refresh()

    def _take(self, change: Any) -> None:
        if not change["new"] or self.panel is None:
            return
        sent = change["new"][0]
        name, content = str(sent["name"]), bytes(sent["content"])
        self.upload.value = ()  # a saved notebook must not hold the records
        try:
            self.file = File.of(name, content, self.names.value)
        except SchemaError as problem:
            self.problem = SchemaError(f"{name}: {problem}.")
        else:
            self.proposal, self.texts, self.declared = "", {}, False
            self._name()
        self.panel.set(**({} if self.problem else {"proposal": "public"}))


def panel(path: str | PathLike[str] | None = None) -> LivePanel:
    """The live panel; it starts with the example, or with the CSV file at ``path``.

    **Privacy:** reads the header and the number of records; only *exploring* reads more, and says
    so.
    """
    file = EXAMPLE if path is None else File.of(Path(path).name, Path(path).read_bytes())
    form = DeclarationForm(file)
    live = view.live(form.show, tries=view.tries if path is None else ())
    form.panel = live
    *above, tables, foot = live.children
    live.children = (*above, form.box, tables, foot)
    live.form, live.topic = form, "" if path else "own_data"  # type: ignore[attr-defined]
    return live
