"""The own-data panel (lesson 19): a declaration to edit, one line a column, and what n, ε and k can bear under it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import ipywidgets as W
import plotly.graph_objects as go

from ...budgets import positive
from ...datasets import load_adult, outline, read_csv
from ...datasets.declaration import FORM, Declared, declare, propose
from ...domain.schema import Schema
from ...errors import SchemaError
from ...plots import PALETTE, figure
from ...synthesizers.degrees import check_degree
from ...synthesizers.plan import DROWNED, USEFUL, Plan, hopeless, noise_to_cell, plan, typical_cells
from ..widgets import LivePanel, View, choice, live, slider

ORIGINS = {"public": "public", "data": "exploring"}
ROWS = 24  # columns that the figure has room for
LOW, HIGH = 1e-4, 1e4  # ends of both axes of noise ÷ mean cell
CODEBOOK = """id: drop
fnlwgt: drop
age: 17 to 90
education: Preschool | 1st-4th | 5th-6th | 7th-8th | 9th | 10th | 11th | 12th | HS-grad | Some-college | Assoc-voc | Assoc-acdm | \
Bachelors | Masters | Prof-school | Doctorate
marital-status: Never-married | Married-civ-spouse | Married-AF-spouse | Married-spouse-absent | Separated | Divorced | Widowed
occupation: Adm-clerical | Armed-Forces | Craft-repair | Exec-managerial | Farming-fishing | Handlers-cleaners | Machine-op-inspct | \
Other-service | Priv-house-serv | Prof-specialty | Protective-serv | Sales | Tech-support | Transport-moving + missing
sex: Female | Male
hours-per-week: 1 to 99
capital-gain: edges 0, 1, 5000, 10000, 20000, 99999
native-country: ?
salary: <=50K | >50K"""
TOLD = (
    "Of a file this panel reads the column names and the number of records, nothing else; the plan follows from them and from your "
    "declaration, and costs nothing. <i>Exploring</i> reads every value of the records: what it proposes isn't public, and the notebook "
    "then shows it. The file itself is forgotten by the page as soon as it is read. Large file: "
    "<code>panels.own_data.panel('my_data.csv')</code>."
)


@dataclass(frozen=True)
class File:
    """A table before its schema: name, column names, n; ``content`` is the file for exploring, ``codebook`` a public declaration."""

    name: str
    names: tuple[str, ...]
    n: int
    content: bytes | None = None
    codebook: str = ""

    @classmethod
    def of(cls, name: str, content: bytes) -> File:
        """A file from its bytes; SchemaError for what isn't a table."""
        return cls(name, *outline(content), content)

    def propose(self, source: str) -> str:
        """A first declaration: ``"public"`` from the codebook, else from column names alone; ``"data"`` from the records, to explore."""
        if source == "public":
            return self.codebook or propose(self.names)
        return propose(self.names, example() if self.content is None else read_csv(self.content))


EXAMPLE = File("my_data.csv", tuple(line.split(":")[0] for line in CODEBOOK.splitlines()), 32_561, None, CODEBOOK)


def example() -> Any:
    """The records behind the example: the training rows of Adult with an id, and "?" as an empty cell. Adult is public."""
    rows = load_adult().train.replace("?", None).reset_index(drop=True)
    return rows.assign(id=range(1, len(rows) + 1))[list(EXAMPLE.names)]


# --- the figure -----------------------------------------------------------------------------------------------------------


def ratios(schema: Schema, n: int, epsilon: float, k: int) -> dict[str, float]:
    """Noise ÷ mean cell of each attribute's own table, with k parents of typical size."""
    share = noise_to_cell(schema, n, positive("epsilon", epsilon), k) / typical_cells(schema, 0)
    return {a.name: share * a.size for a in schema.attributes}


def _word(ratio: float) -> str:
    return "drowned" if ratio > DROWNED else "useful" if ratio * USEFUL <= 1 else "weak"


def draw(declared: Declared, known: Plan, k: int, title: str) -> go.Figure:
    """Left: noise ÷ mean cell of each column's table at this k. Right: of a typical table, by k."""
    colours = {"drowned": PALETTE["attack"], "weak": PALETTE["none"], "useful": PALETTE["private"]}
    found = ratios(declared.schema, known.n, float(known.epsilon), k)
    most = sorted(found, key=lambda name: -found[name])[:ROWS]
    shown = [name for name in found if name in most]
    plot = figure(title=title, height=max(400, 170 + 26 * len(shown)), **_layout(k))
    plot.update_layout(title={"x": 0.01, "xref": "container"})  # a long title fits a narrow page
    labels = [f"{n if len(n) < 22 else n[:20] + '…'} · {declared.schema[n].size:,}" for n in shown]
    plot.add_bar(x=[min(max(found[n], LOW), HIGH) for n in shown], y=labels, orientation="h", showlegend=False,
                 marker_color=[colours[_word(found[n])] for n in shown], customdata=[[found[n], _word(found[n])] for n in shown],
                 hovertemplate="%{y} values: %{customdata[0]:.3g}, %{customdata[1]}<extra></extra>")  # fmt: skip
    rows = known.table
    typical = rows["noise ÷ mean cell"].tolist()
    plot.add_bar(x=rows["k"], y=[min(max(r, LOW), HIGH) for r in typical], xaxis="x2", yaxis="y2", showlegend=False, customdata=typical,
                 marker={"color": [colours[_word(r)] for r in typical],
                         "line": {"width": [3 * (degree == k) for degree in rows["k"]], "color": PALETTE["real"]}},
                 hovertemplate="k = %{x}: %{customdata:.3g}<extra></extra>")  # fmt: skip
    return plot


def _layout(k: int) -> dict[str, Any]:
    ticks = {"type": "log", "range": [math.log10(LOW), math.log10(HIGH)], "tickvals": [1e-4, 0.01, 0.25, 1, 100, 1e4],
             "ticktext": ["0.0001", "0.01", "¼", "1", "100", "10⁴"]}  # fmt: skip
    lines = []
    for level, colour, dash in ((DROWNED, "attack", "dash"), (1 / USEFUL, "real", "dot")):
        line = {"type": "line", "line": {"color": PALETTE[colour], "dash": dash, "width": 1.5}}
        lines += [{**line, "xref": "x", "yref": "y domain", "x0": level, "x1": level, "y0": 0, "y1": 1},
                  {**line, "xref": "x2", "yref": "y2", "x0": -0.6, "x1": 5.6, "y0": level, "y1": level}]  # fmt: skip
    words = []
    for level, text, side, colour in ((1 / USEFUL, "useful ←", "right", "real"), (DROWNED, "→ more noise than records", "left", "attack")):
        words.append({"x": math.log10(level), "y": 1, "yref": "y domain", "text": text, "showarrow": False, "xanchor": side,
                      "yanchor": "bottom", "font": {"color": PALETTE[colour], "size": 11}})  # fmt: skip
    return {
        "xaxis": {"domain": [0, 0.56], "title": {"text": f"noise ÷ mean cell: a column's table at k = {k}"}, **ticks},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "xaxis2": {"domain": [0.68, 1], "anchor": "y2", "range": [-0.6, 5.6], "tickvals": list(range(6)),
                   "title": {"text": "a typical table, by k"}},
        "yaxis2": {"anchor": "x2", **ticks},
        "margin": {"l": 150, "r": 16, "t": 64, "b": 56}, "bargap": 0.3, "shapes": lines, "annotations": words,
    }  # fmt: skip


def view(
    epsilon: float = 1.0, k: int | str = "auto", bins: int = 16, persons: int = 1, proposal: str = "public",
    file: File = EXAMPLE, text: str | None = None,
) -> View:  # fmt: skip
    """Everything for one position: a function of the declaration ``text``, the column names, n and the parameters; no record is read.

    ``persons``: records of one person, at most; each fit then gets ε ÷ ``persons``. Raises SchemaError for a declaration that says
    nothing, BudgetError for a k that the schema can't have.
    """
    declared = declare(file.propose(proposal) if text is None else text, file.names, int(bins), proposal)
    share = positive("epsilon", epsilon) / int(persons)
    check_degree(k, declared.schema)
    known = plan(declared.schema, file.n, share)  # type: ignore[arg-type]
    degree = known.k if isinstance(k, str) else int(k)
    doubt = None if isinstance(k, str) or k == 0 else hopeless(declared.schema, file.n, share, k)
    drowned = noise_to_cell(declared.schema, file.n, share, degree)
    name = file.name if len(file.name) < 22 else f"{file.name[:20]}…"
    title = f"{name}: ε = {epsilon:g}, k = {k}, bins = {bins}, records = {persons}, domains = {ORIGINS[proposal]}"
    parts = [
        "" if persons == 1 else f"A person with {persons} records would lose {persons} times ε, so a fit may spend {float(share):.3g}.",
        str(known),
        "" if doubt is None else f"At the k of your choice a typical cell has {drowned:,.3g} times more noise than records.",
        f"Not declared yet, and not in the plan: {', '.join(declared.open)}." if declared.open else "",
        "" if proposal == "public" else "These domains come from the records: a strict fit refuses them (PrivacyError), and so should you.",
    ]
    status = " ".join(part for part in parts if part)
    own = f"<b>Your schema in Python</b>, to copy and to edit:<pre>{escape(declared.code)}</pre>"
    plot = draw(declared, known, degree, title)
    return View(plot, status=status, tables=[f"<b>Before you spend.</b> {known._repr_html_()}", own], alt=f"{title}. {status}")


# --- the widget -----------------------------------------------------------------------------------------------------------


class Desk:
    """The file and its declaration above a live panel: an upload button and a text to edit."""

    def __init__(self, file: File) -> None:
        self.file, self.proposal, self.texts, self.problem = file, "", {}, None  # type: tuple[File, str, dict[str, str], Exception | None]
        self.panel: LivePanel | None = None
        self._quiet = False
        self.editor = W.Textarea(
            description="Declaration", continuous_update=False, tooltip="declaration, one line a column; leave the box to apply it",
            layout=W.Layout(width="auto", height="250px", margin="2px 8px 2px 0"), style={"description_width": "auto"},
        )  # fmt: skip
        self.editor.add_class("pdsynth-declaration")
        self.upload = W.FileUpload(accept=".csv,text/csv", multiple=False, description="Your CSV file", layout=W.Layout(width="auto"))
        self.label = W.HTML()
        head = W.HBox([self.upload, self.label], layout=W.Layout(align_items="center", flex_flow="row wrap"))
        words = re.sub("`([^`]+)`", r"<code>\1</code>", escape(FORM))
        form = W.HTML(f"One line a column: {words}. Leave the box to apply.")
        self.box = W.VBox([head, form, self.editor], layout=W.Layout(width="100%"))
        self.editor.observe(self._edited, "value")
        self.upload.observe(self._uploaded, "value")
        self._name()

    def show(self, proposal: str, **controls: Any) -> View:
        """The view of the present file and text; a refused file says so once."""
        problem, self.problem = self.problem, None
        if problem is not None:
            raise problem
        if proposal != self.proposal:
            text = self.texts.get(proposal)
            text = self.file.propose(proposal) if text is None else text
            self.texts[self.proposal] = self.editor.value
            self.proposal = proposal
            self._write(text)
        return view(**controls, proposal=proposal, file=self.file, text=self.editor.value)

    def _name(self) -> None:
        self.label.value = f"<b>{escape(self.file.name)}</b>: {self.file.n:,} records, {len(self.file.names)} columns"

    def _write(self, text: str) -> None:
        self._quiet = True
        try:
            self.editor.value = text
        finally:
            self._quiet = False

    def _edited(self, _: Any) -> None:
        if self.panel is not None and not self._quiet:
            self.panel.refresh()

    def _uploaded(self, change: Any) -> None:
        if not change["new"] or self.panel is None:
            return
        sent = change["new"][0]
        name, content = str(sent["name"]), bytes(sent["content"])
        self.upload.value = ()  # a saved notebook must not hold the records
        try:
            self.file = File.of(name, content)
        except SchemaError as problem:
            self.problem = SchemaError(f"{name}: {problem}.")
        else:
            self.proposal, self.texts = "", {}
            self._name()
        self.panel.set(**({} if self.problem else {"proposal": "public"}))


def panel(path: str | PathLike[str] | None = None) -> LivePanel:
    """The live panel; it starts with the example, or with the CSV file at ``path``.

    **Privacy:** reads the header and the number of records; only *exploring* reads more, and says so.
    """
    desk = Desk(EXAMPLE if path is None else File.of(Path(path).name, Path(path).read_bytes()))
    shown = live(
        desk.show,
        epsilon=slider("ε", 1.0, 0.05, 5.0, 0.05, tooltip="ε, what one person may lose"),
        k=choice("k", ["auto", 0, 1, 2, 3, 4], tooltip="k, largest number of parents"),
        bins=slider("bins", 16, 2, 64, 1, tooltip="bins of a range that doesn't say"),
        persons=slider("records", 1, 1, 20, 1, tooltip="records of one person, at most"),
        proposal=choice("domains", {words: word for word, words in ORIGINS.items()}, tooltip="domains, where they come from"),
    )
    desk.panel = shown
    note = W.HTML(f"<div>{TOLD}</div>")
    note.add_class("pdsynth-note")
    shown.children = (shown.children[0], desk.box, *shown.children[1:], note)
    shown.desk = desk  # type: ignore[attr-defined]
    return shown
