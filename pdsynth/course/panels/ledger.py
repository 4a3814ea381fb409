"""Lesson 02: what a run claims to cost, what it truly costs, and what nobody paid for."""

import math

from ...algorithms import HPPrivBayes, PrivBayes
from ...core import Ledger, Recipe, plural
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .panel import live_panel
from .table import TeachingTable, adult
from .words import GUARANTEES

ALGORITHMS = ("PrivBayes", "PrivBayes as the thesis reprints it", "HPPrivBayes")
TOP = 3.0  # both ε axes end there, whatever the sliders say
HATCH = {"fillmode": "overlay", "fgcolor": "rgba(255,255,255,.45)", "size": 7}
PARTS = {
    "structure": ("#56B4E9", ""),
    "tables": ("rgb(0,114,178)", "/"),  # on a dark page "private" is the colour of the structure
    "sketches": ("none", "."),
    "unaccounted": ("attack", "x"),
}


def recipe(algorithm: str, guarantee: str, epsilon: float, k: int, sensitive: str) -> Recipe:
    """The synthesizer that the controls name; the library refuses a reading that isn't strict."""
    if algorithm == "HPPrivBayes":
        return HPPrivBayes(epsilon, k=k, sensitive=sensitive, guarantee=guarantee)
    reading = "thesis" if "thesis" in algorithm else "tods"
    return PrivBayes(epsilon, k=k, guarantee=guarantee, reading=reading)


def totals(ledger: Ledger) -> dict[str, tuple[float, float]]:
    """Claimed and true ε of each part; the true cost of an unaccounted part is infinite."""
    sums = dict.fromkeys(PARTS, (0.0, 0.0))
    for e in ledger.entries:
        free = e.kind == "unaccounted_access"
        part = "tables" if e.step.startswith("table(") else "sketches"
        if free or e.mechanism in ("exponential", "permute_and_flip"):
            part = "unaccounted" if free else "structure"
        if free or e.kind == "mechanism":
            claimed, true = sums[part]
            sums[part] = claimed + float(e.claimed), math.inf if free else true + float(e.cost)
    if ledger.guarantee == "none":  # all that is claimed is claimed for a raw read
        sums["unaccounted"] = float(ledger.claimed), math.inf
    return sums


def draw_parts(plot: Board, ledger: Ledger) -> None:
    """Claimed and true ε, stacked by part, red to the end where it is infinite."""
    parts = totals(ledger)
    filled = sum(true for _, true in parts.values() if true != math.inf)
    for name, (claimed, true) in parts.items():
        colour, pattern = PARTS[name]
        endless = true == math.inf
        words = f"{true:.3g}" if 0.15 < true < math.inf else ""  # ∞ stands above the bar
        heights = [claimed, max(TOP - filled, 0.3) if endless else true]
        plot.bars(
            ["claimed", "true"],
            heights,
            colour,
            name=name,
            text=["" if claimed < 0.15 else f"{claimed:.3g}", words],
            textposition="inside",
            insidetextanchor="start",  # apart from the line of what is promised
            textfont={"color": "white" if name == "tables" else "black", "size": 13},
            marker={"pattern": {**HATCH, "shape": pattern}},
        )
    promised = float(ledger.claimed)
    finite = [sum(part[side] for part in parts.values()) for side in (0, 1)]
    for place, total in enumerate(finite):
        words = "∞" if total == math.inf else f"{total:.3g}"
        top = TOP if total == math.inf else total
        plot.note(f"<b>{words}</b>", place, top, 1, "attack" if total > promised * (1 + 1e-9) else
                  "real", 20, yanchor="bottom")  # fmt: skip
    plot.mark((0, 1), (promised, promised), "real", width=2, xref="x domain")


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "HPPrivBayes as printed",
            {"algorithm": "HPPrivBayes", "guarantee": "published"},
            "{now.free} accesses to the records were paid by nobody: ε = {now.claimed:g} is "
            "claimed, and no finite ε holds.",
            lambda was, now: now.free > 0 and now.true == math.inf,
        ),
        Try(
            "the noise that is due",
            {"algorithm": "PrivBayes", "guarantee": "strict"},
            "{now.claimed:g} is claimed and {now.true:.3g} spent, {was.true:.3g} before: the "
            "checker has no objection.",
            lambda was, now: now.true == now.claimed and was.objects and not now.objects,
        ),
        Try(
            "no parents",
            {"k": 0},
            "nothing is chosen, so all of ε goes to the tables: {now.structure:g} for the "
            "structure instead of {was.structure:g}.",
            lambda was, now: now.structure < was.structure,
        ),
    ),
    algorithm=choice("algorithm", ALGORITHMS, ALGORITHMS[1]),
    guarantee=choice("guarantee", list(GUARANTEES), "published"),
    epsilon=slider("ε", 1.0, 0.1, 2.0, 0.1, tooltip="ε, what the run promises to cost"),
    k=slider("k", 2, 0, 3, 1, unit="parents", tooltip="k, largest number of parents"),
)
def view(table: TeachingTable, algorithm: str, guarantee: str, epsilon: float, k: int) -> View:
    """The ledger of one run in full; its parts, and what each attribute loses, as bars."""
    sensitive = table.dataset.sensitive
    ledger = table.run(recipe(algorithm, guarantee, epsilon, k, sensitive)).ledger_
    plot = Board("ledger", f"{algorithm}, {guarantee}: ε = {epsilon:g}, k = {k}")
    draw_parts(plot, ledger)
    losses = ledger.attribute_epsilon()[::-1].astype(float)
    colours = ["attack" if v == math.inf else "private" for v in losses]
    plot.bars(
        losses.replace(math.inf, TOP),
        list(losses.index),
        colours,
        2,
        across=True,
        text=["∞" if v == math.inf else f"{v:.3g}" for v in losses],
        textposition="outside",
    )
    plot.set(y={"range": [0, TOP * 1.12]}, x2={"range": [0, TOP * 1.12]})
    broken = [rule for rule in ledger.check() if not rule.startswith("L10")]
    objection = f"objects: {broken[0]}." if broken else "has no objection to its lines."
    claimed, true = float(ledger.claimed), float(ledger.epsilon)
    free = len(ledger.unaccounted)
    raw = f"truly ∞: {plural(free, 'access', 'accesses')} that nobody paid for"
    truth = raw if free else f"truly {true:.4g}"
    spent = "and no finite ε is true" if free else f"and {true:.3g} is spent"
    status = (
        f"ε = {claimed:g} is claimed, {spent}. In full: claimed {claimed:g}, {truth}. "
        f"{ledger.verdict()} "
        f"Entries: {len(ledger.entries)}. The checker {objection}"
    )
    facts = {
        "claimed": claimed,
        "true": true,
        "free": free,
        "objects": bool(broken),
        "structure": totals(ledger)["structure"][1],
    }
    return View(plot.figure, status, [ledger._repr_html_()], facts=facts)


panel = view.panel
