"""Lesson 05: raw and noisy order of the attributes, and one person who flips a small table's."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...core import GRID, SCORES, Attribute, Lattice, Noise, Records, Schema, as_fraction
from ...published.noise import CommonNoise
from ..widgets.controls import slider, toggle
from ..widgets.view import Try, View
from .drawing import Board, friendly, ticks
from .panel import live_panel
from .table import TeachingTable, adult
from .words import attribute_choice, percent

QUESTIONS = ("smoker", "asthma", "dog")
SMALL = Schema(tuple(Attribute.categorical(name, ["no", "yes"]) for name in QUESTIONS))
COLUMNS = ("mutual<br>information", "R without<br>noise", "R with noise,<br>parents bought")


def small_table(moved: bool = False) -> pd.DataFrame:
    """Eight people: seven say the same to all three questions, the eighth smokes.

    The eighth has asthma or, if ``moved``, a dog.
    """
    eighth = ["yes", "no", "yes"] if moved else ["yes", "yes", "no"]
    return pd.DataFrame([["no"] * 3] * 4 + [["yes"] * 3] * 3 + [eighth], columns=list(SMALL.names))


def order_sensitivity(n: int, sizes: tuple[int, ...]) -> int:
    """L1 sensitivity of all sums Σ_j K(i,j): every pair counts twice, 4(n−1) or 6(n−1) each."""
    return 2 * sum(SCORES["R"].sensitivity(n, a, b) for a, b in combinations(sizes, 2))


def captured(lattice: Lattice, order: list[int], k: int = 2, bought: Bought | None = None) -> float:
    """Bits that each attribute's parents among those before it tell: the best, or ``bought`` ones.

    These are chosen by the exponential mechanism, each with the same part of ε.
    """
    total = 0.0
    for place, child in enumerate(order[1:], start=1):
        sets = list(combinations(sorted(order[:place]), min(k, place)))
        parents = np.array(sets, dtype=np.int64)
        bits = lattice.information(np.full(len(parents), child), parents)
        chosen = int(bits.argmax()) if bought is None else bought.choose(bits, child, parents)
        total += float(bits[chosen])
    return total


class Bought(NamedTuple):
    """Parents for ε₁ in all, on a table of n records."""

    epsilon1: Fraction
    n: int
    sizes: tuple[int, ...]
    noise: Noise

    def choose(self, bits: np.ndarray, child: int, parents: np.ndarray) -> int:
        """The place of one parent set: P(i) ∝ exp(ε₁ I / (2 (d−1) Δ)), Δ the largest."""
        cells = {math.prod(self.sizes[j] for j in row) for row in parents.tolist()}
        moves = max(SCORES["I"].sensitivity(self.n, self.sizes[child], size) for size in cells)
        price = self.epsilon1 / (len(self.sizes) - 1) / (2 * moves)
        gaps = np.rint((bits.max() - bits) * GRID).astype(np.int64)
        noise = self.noise.child(f"parents of {child}")
        return noise.choose(gaps, price.numerator, price.denominator, permute=False)


def difference_tail(t: int, scale: float) -> float:
    """P(Z − Z' ≥ t) of two independent discrete Laplace numbers of one scale (closed form)."""
    if t <= 0:
        return 1 - difference_tail(1 - t, scale)
    p = np.exp(-1 / scale)
    c = (1 + p * p) / (1 - p * p)
    return float(((1 - p) / (1 + p)) ** 2 * p**t * ((t + c) / (1 - p) + p / (1 - p) ** 2))


def asthma_first(moved: bool, epsilon: Fraction | None) -> float:
    """Probability that asthma enters before dog on the small table; raw if ``epsilon`` is None."""
    records = Records(SMALL.encode(small_table(moved)), SMALL)
    sums = records.pairwise("K").sum(axis=1)
    gap = int(sums[1] - sums[2])  # a tie goes to asthma, which stands first
    if epsilon is None:
        return float(gap >= 0)
    return difference_tail(-gap, float(order_sensitivity(records.n, SMALL.sizes) / epsilon))


def compute(
    table: TeachingTable,
    epsilon0: Fraction,
    draw: int,
    k: int = 2,
    epsilon1: Fraction = Fraction(0),
) -> dict[str, Any]:
    """Three orders of the attributes, what they are computed from, and the bits of their networks.

    ``epsilon1``: pays for the parents on the noisy order.
    """
    records, d = table.records, len(table.schema)
    ties = records.pairwise("K")
    scale = Fraction(order_sensitivity(records.n, records.schema.sizes)) / epsilon0
    common = CommonNoise(draw)
    noise = common.child("AMI order").discrete_laplace(np.array(scale), (d,))
    unit = 2.0 * records.n**2 * (d - 1)
    values = [
        table.information.sum(axis=1) / (d - 1),
        ties.sum(axis=1) / unit,
        (ties.sum(axis=1) + noise) / unit,
    ]
    orders = [np.argsort(-v, kind="stable").tolist() for v in values]  # ties by column
    bought = Bought(epsilon1, records.n, records.schema.sizes, common)
    return {
        "values": values,
        "orders": orders,
        "scale": float(scale) / unit,
        "bits": [captured(records.lattice, order, k) for order in orders],
        "bought": captured(records.lattice, orders[2], k, bought),
    }


def draw_orders(
    plot: Board,
    state: dict[str, Any],
    names: tuple[str, ...],
    odds: dict[str, list[float]],
    moved: bool,
    secret: int,
) -> None:
    """One line per attribute through its three ranks, and the odds of the small table.

    Attributes that noise moves far are marked, and the secret one.
    """
    ranks = np.array([np.argsort(order) + 1 for order in state["orders"]])
    kind = np.where(abs(ranks[2] - ranks[1]) >= 3, 1, 0)
    kind[secret] = 2
    kinds = (
        ("moves less than 3 ranks", "real", "circle"),
        ("moves 3 ranks or more", "look", "diamond"),
        (f"secret: {friendly(names[secret])}", "private", "square"),
    )
    for moves, (label, colour, symbol) in enumerate(kinds):
        chosen = [j for j in range(len(names)) if kind[j] == moves]
        words = [
            text
            for j in chosen
            for text in (*(f"{names[j]}: {v[j]:.4f}" for v in state["values"]), None)
        ]
        heights = [y for j in chosen for y in (*ranks[:, j].tolist(), None)]
        plot.line(
            [0, 1, 2, None] * len(chosen),
            heights,
            colour,
            mode="lines+markers",
            name=label,
            width=2 + moves,
            marker={"size": 8, "symbol": symbol},
            text=words,
            hover="%{text}",
        )
    chances = [pair[moved] for pair in odds.values()]
    plot.bars(
        ["order without noise", "noisy order"],
        chances,
        ["attack", "private"],
        2,
        labels=[f"<b>{percent(p)}</b>" for p in chances],
        textfont={"size": 18},
        width=0.5,
    )
    plot.note(f"the eighth person has {'a dog' if moved else 'asthma'}", 0.5, 1.2, 2, "look", 15)
    plot.line([None], [None], None, (1, 3), mode=None)  # the right axis needs a trace of its own
    left, right = (
        ticks([friendly(names[j]) for j in state["orders"][column]], 1) for column in (0, 2)
    )
    span = {"range": [len(names) + 0.5, 0.5]}
    bits = [*state["bits"][:2], state["bought"]]
    below = [f"{column}<br>{value:.2f} bits" for column, value in zip(COLUMNS, bits, strict=True)]
    plot.set(x=ticks(below), y=left | span, y3=right | span)


def paid(wanted: Fraction, left: Fraction) -> str:
    """What pays for the parents: L₁ · ε, or what the order leaves of it.

    >>> paid(Fraction(12, 5), Fraction(0))
    'that are drawn blindly: of L₁ · ε = 2.4 the order leaves nothing'
    """
    if left == wanted:
        return f"that L₁ · ε = {float(wanted):.4g} pays for"
    if not left:
        return f"that are drawn blindly: of L₁ · ε = {float(wanted):.4g} the order leaves nothing"
    return (
        f"that {float(left):.4g} pays for: the order leaves no more of L₁ · ε = {float(wanted):.4g}"
    )


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "move the eighth person",
            {"moved": True},
            "without noise asthma's lead goes from {was.raw:.0%} to {now.raw:.0%}; with noise from "
            "{was.noisy:.2%} to {now.noisy:.2%}.",
            lambda was, now: now.raw < was.raw and abs(now.noisy - was.noisy) < 0.1,
        ),
        Try(
            "all of ε = 8 for the order",
            {"epsilon": 8.0, "share": 1.0},
            "{now.changed} of {now.of} attributes change their rank, {was.changed} with the "
            "default. The order becomes right when nothing is left for anything else.",
            lambda was, now: now.changed < was.changed,
        ),
        Try(
            "other random numbers",
            {"draw": 2},
            "another noisy order captures {now.bits:.2f} bits, the first one {was.bits:.2f}, the "
            "raw one {now.best:.2f}: the order matters little.",
            lambda was, now: abs(now.bits - was.bits) < 0.1,
        ),
    ),
    moved=toggle("eighth person has a dog", tooltip="in place of asthma"),
    epsilon=slider("ε", 1.0, 0.1, 8.0, 0.1, tooltip="ε, privacy budget"),
    k=slider("k", 2, 1, 3, 1, tooltip="k, parents of a column, for the bits"),
    share=slider("share", 0.02, 0.01, 1.0, 0.01, tooltip="share of ε that pays for the order"),
    l1=slider("L₁", 0.3, 0.05, 0.75, 0.05, tooltip="L₁, share of ε for the parents"),
    sensitive=attribute_choice("secret S"),
    draw=slider("draw", 1, 1, 20, 1, tooltip="draw, which random numbers"),
)
def view(
    table: TeachingTable,
    moved: bool,
    epsilon: float,
    k: int,
    share: float,
    draw: int,
    l1: float,
    sensitive: str,
) -> View:
    """The odds of the small table, and ranks in three columns.

    ε₀ = share · ε pays for the order, L₁ · ε for the parents, at most what the order leaves.
    """
    exact, part, most = (as_fraction(round(number, 4)) for number in (epsilon, share, l1))
    epsilon0, epsilon1 = exact * part, exact * min(most, 1 - part)
    names, state = table.schema.names, compute(table, epsilon0, draw, k, epsilon1)
    odds = {
        "raw order": [asthma_first(moved, None) for moved in (False, True)],
        "noisy order": [asthma_first(moved, epsilon0) for moved in (False, True)],
    }
    title = (
        f"Order of the attributes: ε = {epsilon:g}, k = {k}, share = {share:g}, draw = {draw}, "
        f"L₁ = {l1:g}, S = {sensitive}"
    )
    plot = Board("ordering", title)
    secret = names.index(sensitive)
    draw_orders(plot, state, names, odds, moved, secret)
    ranks = [np.argsort(order) for order in state["orders"]]
    with_asthma, with_dog = odds["noisy order"]
    changed = int((ranks[2] != ranks[1]).sum())
    facts = {
        "changed": changed,
        "of": len(names),
        "bits": state["bits"][2],
        "best": state["bits"][0],
        "raw": odds["raw order"][moved],
        "noisy": odds["noisy order"][moved],
    }
    parents = "parent" if k == 1 else f"{k} parents"
    status = (
        f"Asthma comes first: {percent(facts['raw'])} without noise, {percent(facts['noisy'])} "
        f"with noise. {changed} of {len(names)} attributes change their rank: at "
        f"ε₀ = {float(epsilon0):.4g} "
        f"the noise has scale {state['scale']:.4f}, and the average R is at most "
        f"{state['values'][1].max():.4f}. With the best {parents} the raw order captures "
        f"{state['bits'][0]:.2f} bits, this noisy one {state['bits'][2]:.2f}, and "
        f"{state['bought']:.2f} with parents {paid(exact * most, epsilon1)}. "
        f"{friendly(sensitive).capitalize()} has rank {ranks[1][secret] + 1} without noise and "
        f"{ranks[2][secret] + 1} with it. Small table: the raw "
        f"order tells the two worlds apart for sure; the noisy one is {with_asthma / with_dog:.4f} "
        f"times as likely in one as in the other (e^ε₀ = {np.exp(float(epsilon0)):.4f})."
    )
    return View(plot.figure, status, facts=facts)


panel = view.panel
