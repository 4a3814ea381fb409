"""Lesson 11: both readings side by side, and what a person alone in a column loses."""

from typing import Any

import numpy as np

from ...algorithms import PrivABN
from ...core import Model, Schema
from ...datasets.loaders import find
from ...evaluation.marginals import Marginals, attribute_sets
from ...published.sparse import SparseTable
from ..widgets.controls import Control, choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .panel import live_panel
from .table import TeachingTable, adult, remember, teaching_table
from .words import ledger_summary, percent

SHIPPED, OTHERS = "Adult, yes–no", ("NLTCS", "ACS", "Retail, top 20")
QUERIES, RUNS = 200, 4_000
KINDS = {
    "published": ("as published", "attack", "solid"),
    "strict": ("strict", "private", "solid"),
    "none": ("no noise", "none", "dash"),
}
BOTH = ("published", "strict")


def available() -> list[str]:
    """The table that ships, and those that ``PDSYNTH_DATA`` has."""
    return [SHIPPED, *(name for name in OTHERS if _is_there(name.split(",")[0].lower()))]


def _is_there(name: str) -> bool:
    try:
        find(name)
    except FileNotFoundError:
        return False
    return True


@remember
def queries(table: TeachingTable, alpha: int) -> Marginals:
    """The counts of 200 random α-way queries, a public sample."""
    sets = attribute_sets(len(table.schema), alpha, QUERIES)
    return Marginals(table.records, table.schema, sets=sets)


@remember
def fit(table: TeachingTable, epsilon: float, guarantee: str) -> tuple[PrivABN, np.ndarray]:
    """One run with common random numbers, and codes of a synthetic table of the same size."""
    fitted = table.run(PrivABN(epsilon, guarantee=guarantee))
    return fitted, table.sample(fitted)


@remember
def errors_of(table: TeachingTable, epsilon: float, guarantee: str, alpha: int) -> np.ndarray:
    """L2 errors of the queries on the table of :func:`fit`: float (sets,)."""
    return queries(table, alpha).norms(fit(table, epsilon, guarantee)[1])[1]


def columns_of(codes: np.ndarray, schema: Schema, parents: tuple[str, ...]) -> np.ndarray:
    """Number of each record's parent configuration, first parent most significant: int64 (n,)."""
    key = np.zeros(len(codes), dtype=np.int64)
    for parent in parents:
        key = 2 * key + codes[:, schema.index(parent)]
    return key


def released(model: Model, child: str, keys: np.ndarray) -> np.ndarray:
    """P*(child = 1 | configuration) of a released model: float (m,)."""
    counts = dict(zip(model.network.order, model.tables, strict=True))[child]
    p = model.conditionals[child]
    if isinstance(counts, SparseTable):
        p, keys = counts.look_up(p, keys)
    return p[1, keys]


@remember
def lone(table: TeachingTable, epsilon: float) -> dict[str, float]:
    """How many people are alone in a parent configuration of the published network, and how often
    their answers are guessed rightly: a guess is the more probable answer in a released table.
    Published tables hold the person's own; the strict ones, at the same child, their crowd's.
    """
    codes, schema = table.records.codes, table.schema
    fits = {name: fit(table, epsilon, name)[0] for name in BOTH}
    people: set[int] = set()
    right, total = dict.fromkeys(BOTH, 0), 0
    for child, parents in fits["published"].network_.pairs:
        keys = columns_of(codes, schema, parents)
        _, back, counts = np.unique(keys, return_inverse=True, return_counts=True)
        alone = np.flatnonzero(counts[back] == 1)
        people.update(alone.tolist())
        total += len(alone)
        truth = codes[alone, schema.index(child)]
        for name, fitted in fits.items():
            mine = columns_of(codes[alone], schema, fitted.network_.parents(child))
            right[name] += int(((released(fitted.model_, child, mine) > 0.5) == truth).sum())
    return {"people": len(people), **{name: n / max(total, 1) for name, n in right.items()}}


def worlds(n: int, m: int, epsilon: float) -> dict[tuple[str, int], np.ndarray]:
    """P*(S = 1 | π*) as released when the only person in column π* said no (0) or yes (1).

    Sorted, RUNS draws each. Published: noise of scale 2m/(n ε₂) on both probabilities. Strict:
    noise of scale 2m/ε₂ on both counts. Then clipped and normalised, with the same random numbers.
    """
    up, down = np.random.default_rng(11).standard_exponential((2, 2, RUNS))
    draws: dict[tuple[str, int], np.ndarray] = {}
    for name, scale in (("published", 4 * m / (n * epsilon)), ("strict", 4 * m / epsilon)):
        for answer in (0, 1):
            noisy = np.maximum(np.array([[1 - answer], [answer]]) + scale * (up - down), 0)
            total = noisy.sum(axis=0)
            share = np.divide(noisy[1], total, out=np.full(RUNS, 0.5), where=total > 0)
            draws[name, answer] = np.sort(share)
    return draws


def tell_apart(no: np.ndarray, yes: np.ndarray) -> float:
    """How often the best threshold on the released number tells the two worlds apart."""
    values = np.concatenate([no, yes])
    below = [np.searchsorted(world, values, side="right") / len(world) for world in (no, yes)]
    return float((1 + np.abs(below[0] - below[1]).max()) / 2)


def best_cut(no: np.ndarray, yes: np.ndarray) -> float:
    """The released number above which the attacker best says yes."""
    values = np.sort(np.concatenate([no, yes]))
    below = [np.searchsorted(world, values, side="right") / len(world) for world in (no, yes)]
    return float(values[np.argmax(below[0] - below[1])])


def draw_fits(plot: Board, fits: dict[str, Any], errors: dict[str, np.ndarray]) -> None:
    """Numbers of parents, and sorted query errors."""
    for name in BOTH:
        network, (words, colour, _) = fits[name][0].network_, KINDS[name]
        plot.bars(
            list(range(1, len(network) + 1)),
            [len(p) for _, p in network.pairs],
            colour,
            name=words,
            customdata=list(network.order),
            hover="%{customdata}: %{y} parents",
        )
    for name, (words, colour, dash) in KINDS.items():
        plot.line(
            np.linspace(0, 100, len(errors[name])),
            np.sort(errors[name]),
            colour,
            2,
            dash=dash,
            width=2,
            name=words,
            showlegend=True,
            hover="%{y:.4f}",
        )


def draw_attack(
    plot: Board, games: dict[tuple[str, int], np.ndarray], alone: dict[str, float]
) -> None:
    """What is released of a lone person who said no, or yes; and the guesses of an attacker."""
    no, yes = (games["published", answer] for answer in (0, 1))
    edges = np.linspace(0, 1, 21)
    for values, colour, label in ((no, "real", "she said no"), (yes, "look", "she said yes")):
        plot.bars(
            (edges[1:] + edges[:-1]) / 2,
            100 * np.histogram(values, edges)[0] / len(values),
            colour,
            3,
            name=label,
            opacity=0.85,
            hover="%{y:.0f} % of the releases",
        )
    at = best_cut(no, yes)
    plot.mark((at, at), (0, 101), "attack", 3, 2)
    note = f"cut: <b>{percent(tell_apart(no, yes))}</b> guessed rightly"
    plot.note(note, 0.5, 102, 3, "attack", 13, yanchor="bottom")
    for name in BOTH:
        plot.bars(
            [alone[name]],
            [f"{name} tables"],
            KINDS[name][1],
            4,
            across=True,
            hover=False,
            text=[f"{alone[name]:.1%}"],
            textposition="inside",
            insidetextfont={"color": "#FFFFFF"},
        )


def tables(table: TeachingTable) -> Control:
    """Adult as yes–no questions, or any table of the paper that is there; or the one given."""
    usual = table is teaching_table(SHIPPED)
    return choice("table", available() if usual else [table.dataset.name])


@live_panel(
    adult(SHIPPED),
    tries=(
        Try(
            "a large ε",
            {"epsilon": 1.0},
            "the strict error is {now.strict:.4f} instead of {was.strict:.4f}, below the "
            "{was.published:.4f} of as published before, which is {now.published:.4f} now.",
            lambda was, now: now.strict < was.published,
        ),
        Try(
            "a small ε",
            {"epsilon": 0.01},
            "a promise of almost nothing, and as published the lone person's answer is still read "
            "off {now.told:.1%} of the time ({now.allowed:.1%} allowed).",
            lambda was, now: now.told > now.allowed + 0.2,
        ),
        Try(
            "larger questions",
            {"alpha": 6},
            "6-way queries: error {now.strict:.4f} strict, {now.published:.4f} published; 3-way "
            "{was.strict:.4f} and {was.published:.4f}.",
            lambda was, now: now.strict != was.strict,
        ),
    ),
    epsilon=slider("ε", 0.05, 0.01, 1.0, 0.01, tooltip="ε, privacy budget"),
    alpha=lambda table: slider(
        "α", 3, 1, min(8, len(table.schema)), 1, tooltip="α, attributes in a query"
    ),
    data=tables,
)
def view(table: TeachingTable, epsilon: float, alpha: int, data: str) -> View:
    """Both readings and their errors; what the two worlds of a lone person look like."""
    if data in OTHERS:
        table = teaching_table(data)
    n, m, epsilon = table.records.n, len(table.schema), round(epsilon, 4)
    epsilons = {name: 1.0 if name == "none" else epsilon for name in KINDS}
    fits = {name: fit(table, at, name) for name, at in epsilons.items()}
    errors = {name: errors_of(table, at, name, alpha) for name, at in epsilons.items()}
    games, alone = worlds(n, m, epsilon), lone(table, epsilon)
    plot = Board("privabn", f"PrivABN on {table.dataset.name}: ε = {epsilon:g}, α = {alpha}")
    draw_fits(plot, fits, errors)
    draw_attack(plot, games, alone)
    plot.entitle("x2y2", f"L2 errors of {alpha}-way queries, sorted")
    plot.set(x={"range": [0.4, m + 0.6]}, y={"range": [0, m]}, x2={"title": "queries, %"})
    ledgers = {name: fits[name][0].ledger_ for name in BOTH}
    mean = {name: float(e.mean()) for name, e in errors.items()}
    apart = {name: tell_apart(games[name, 0], games[name, 1]) for name in BOTH}
    allowed = float(np.exp(epsilon) / (1 + np.exp(epsilon)))
    facts = {"told": apart["published"], "allowed": allowed, **mean}
    status = (
        f"One lone person's answer is told {percent(apart['published'])} of the time, as "
        f"published. Strict it is {apart['strict']:.1%} (allowed {allowed:.1%}). "
        f"Of all lone people's answers {percent(alone['published'])} are guessed rightly from "
        f"published tables, {alone['strict']:.1%} from strict ones. "
        f"Claimed ε = {epsilon:g}; published truly infinite (the accounted part alone "
        f"{float(ledgers['published'].finite):,.0f}), strict {float(ledgers['strict'].epsilon):g}. "
        f"Mean L2 error {mean['published']:.4f} published, {mean['strict']:.4f} strict, "
        f"{mean['none']:.4f} without noise. {alone['people']:,} of {n:,} people are alone in some "
        f"column of the published network."
    )
    tables = [
        f"<p><b>{KINDS[name][0]}</b></p>{ledger_summary(one)}" for name, one in ledgers.items()
    ]
    return View(plot.figure, status, tables, facts=facts)


panel = view.panel
