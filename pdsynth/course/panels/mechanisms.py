"""Lesson 01: a noisy count and a noisy choice on two neighbouring tables, within e^±ε or not."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...answers.laws import discrete_laplace_pmf, exponential_probabilities
from ...published.noise import CommonNoise
from ..widgets.controls import Control, choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .panel import live_panel
from .table import TeachingTable, adult

REACH = 15  # outputs on show lie this many records around the real count
SHOWN, RELEASES = 5, 200  # bars that the person can move to; releases that rain


def attributes(table: TeachingTable) -> Control:
    """The categorical attributes with a few values."""
    names = [a.name for a in table.schema.attributes if not a.numeric_bins and 2 < a.size <= 16]
    return choice("attribute", names, "occupation" if "occupation" in names else None)


def neighbours(
    codes: np.ndarray, size: int, n: int, becomes: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of the first n records, and of a neighbour of theirs.

    There one record leaves the commonest value for the one at place ``becomes``, from 0.
    """
    counts = np.bincount(codes[:n], minlength=size)
    places = np.argsort(-counts, kind="stable")
    moved = counts.copy()
    moved[places[0]] -= 1
    moved[places[min(becomes, size - 1)]] += 1
    return counts, moved


def rain(draws: np.ndarray, low: int, high: int) -> tuple[list[int], list[float]]:
    """Releases as dots, one on another: at each output as high as its share of all of them."""
    counts: dict[int, int] = {}
    x, y = [], []
    for draw in draws.tolist():
        if low <= draw <= high:
            counts[draw] = counts.get(draw, 0) + 1
            x.append(draw)
            y.append((counts[draw] - 0.5) / len(draws))
    return x, y


def worst_ratio(p: np.ndarray, q: np.ndarray) -> float:
    """The largest |ln p/q| over all outputs: the ε that really holds for these neighbours."""
    mask = (p > 1e-300) & (q > 1e-300)  # what underflows can't be compared, and can't happen either
    return float(np.abs(np.log(p[mask]) - np.log(q[mask])).max())


def laws(counts: np.ndarray, moved: np.ndarray, epsilon: float, share: float) -> dict[str, Any]:
    """Output laws of both mechanisms on both neighbours.

    ``share`` scales the noise: 1 is right, below 1 is too little.
    """
    top = int(counts.argmax())
    z = np.arange(counts[top] - REACH, counts[top] + REACH + 1)
    return {
        "top": top,
        "z": z,
        "laplace": [discrete_laplace_pmf(z - c[top], share / epsilon) for c in (counts, moved)],
        "choices": [exponential_probabilities(c, 1.0, epsilon / share) for c in (counts, moved)],
    }


def draw_laws(plot: Board, at: Any, both: list[np.ndarray], epsilon: float, cell: int) -> None:
    """Both laws, and everything within e^±ε of the law on the real table; choices lie."""
    (real, other), across = both, cell == 2

    def place(values: Any, places: Any) -> dict[str, Any]:
        return {"x": values, "y": places} if across else {"x": places, "y": values}

    least, most = real * np.exp(-epsilon), np.minimum(real * np.exp(epsilon), 1)
    plot.bars(
        **place(most - least, at),
        colour="rgba(0,114,178,.18)",
        cell=cell,
        across=across,
        base=least,
        width=0.9,
        name="allowed",
        hover=False,
    )
    ratio = np.log(np.maximum(other, 1e-300)) - np.log(np.maximum(real, 1e-300))
    outside = np.abs(ratio) > epsilon * (1 + 1e-9)
    for name, law, mask, colour, symbol in (
        ("real table D", real, real > 0, "real", "circle"),
        ("neighbour D′", other, ~outside, "look", "diamond-open"),
        ("more than allowed", other, outside, "attack", "x"),
    ):
        plot.dots(
            **place(law[mask], np.array(at)[mask].tolist()),
            colour=colour,
            cell=cell,
            symbol=symbol,
            size=9,
            name=name,
            hover="%{y}: %{x:.3g}" if across else "%{x}: %{y:.3g}",
        )


def grab(labels: Sequence[str], counts: np.ndarray, becomes: int) -> dict[str, Any]:
    """The bars of the commonest values, and on which of them the person stands who is dragged."""
    places = np.argsort(-counts, kind="stable")[:SHOWN]
    return {
        "bars": [labels[j] for j in places],
        "heights": counts[places].tolist(),
        "people": [min(becomes, len(places) - 1)],
        "bar": "becomes",
        "first": 0,
    }


def times(factor: float) -> str:
    """How many times as likely, short enough for a phone: ``"2.72"``, ``"8,886,111"``."""
    return f"{factor:,.2f}" if factor < 1000 else f"{factor:,.0f}"


def say(facts: dict[str, Any]) -> str:
    """What the panel shows, in words."""
    epsilon, top, named = facts["promised"], facts["top"], facts["named"]
    less = f"less than the promised {epsilon:g}"
    kept = "as promised" if np.isclose(facts["truth"], epsilon) else less
    broken = f"more than the promised {epsilon:g}: not {epsilon:g}-differentially private"
    return (
        f"One person changes an answer's chance {times(facts['factor'])} times; "
        f"{times(facts['allowed'])} is allowed. Over all outputs ε = {facts['truth']:.3g}, "
        f"{kept if facts['kept'] else broken}. "
        f"Real count of {top}: {facts['count']:,}; the noise has scale "
        f"{facts['noise']:.3g}. {top} is named the commonest with probability "
        f"{f'{named:.3g}' if named < 0.9995 else 'above 0.999'}."
    )


@live_panel(
    adult("complete"),
    tries=(
        Try(
            "half of the noise",
            {"share": 0.5},
            "the dots leave the band: a chance changes {now.factor:.3g} times, and only "
            "{now.allowed:.3g} times was promised.",
            lambda was, now: now.truth > now.promised,
        ),
        Try(
            "a small ε",
            {"epsilon": 0.1},
            "the noise of the count has scale {now.noise:g} instead of {was.noise:g}, and "
            "{now.top} is named with probability {now.named:.2f} instead of {was.named:.2f}.",
            lambda was, now: now.noise > was.noise and now.named < was.named,
        ),
        Try(
            "ask 45,222 people",
            {"n": 45222},
            "the same noise, of scale {now.noise:g}, on a count of {now.count:,} instead of "
            "{was.count:,}: privacy is cheap in a large table.",
            lambda was, now: now.count > 10 * was.count and now.noise == was.noise,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    share=slider("noise", 1.0, 0.25, 2.0, 0.05, tooltip="noise, times the right scale"),
    becomes=slider("moves to", 1, 0, SHOWN - 1, 1, tooltip="moves to bar number; 0 is its own"),
    n=choice("people asked", [100, 1000, 10000, 45222], 1000),
    attribute=attributes,
)
def view(
    table: TeachingTable, epsilon: float, share: float, becomes: int, n: int, attribute: str
) -> View:
    """Both mechanisms on the first n records and on a neighbour; the person can be dragged."""
    labels, codes = table.schema[attribute].labels, table.records.codes
    column = codes[:, table.schema.index(attribute)]
    counts, moved = neighbours(column, len(labels), n, becomes)
    state = laws(counts, moved, epsilon, share)
    top, z, choices = state["top"], state["z"], state["choices"]
    people = min(n, len(codes))
    title = f"{attribute}, first {people:,} people: ε = {epsilon:g}, noise × {share:g}"
    plot = Board("mechanisms", title)
    order = np.argsort(-choices[0], kind="stable")
    draw_laws(plot, z, state["laplace"], epsilon, 1)
    draw_laws(plot, [labels[i] for i in order], [p[order] for p in choices], epsilon, 2)
    plot.set(x={"range": [z[0] - 0.5, z[-1] + 0.5]})
    truth = max(worst_ratio(*state["laplace"]), worst_ratio(*choices))
    factor, allowed = float(np.exp(truth)), float(np.exp(epsilon))
    kept = truth <= epsilon * (1 + 1e-9)
    plot.note(f"<b>{times(factor)}</b> times, at most", 0.02, 0.99, 1,
              "look" if kept else "attack", 16, xref="x domain", yref="y domain", xanchor="left",
              yanchor="top")  # fmt: skip
    draws = moved[top] + CommonNoise(3).discrete_laplace(np.asarray(share / epsilon), (RELEASES,))
    x, y = rain(draws, int(z[0]), int(z[-1]))
    plot.dots(x, y, "look", symbol="circle", size=4, hover=False, marker={"opacity": 0.8},
              name="releases")  # fmt: skip
    plot.layout["meta"] |= {"rain": len(plot.traces) - 1, "grab": grab(labels, counts, becomes)}
    facts = {
        "truth": truth,
        "factor": factor,
        "allowed": allowed,
        "promised": epsilon,
        "noise": share / epsilon,
        "top": labels[top],
        "named": float(choices[0][top]),
        "count": int(counts[top]),
        "kept": kept,
    }
    noise = CommonNoise(3).discrete_laplace(np.asarray(share / epsilon), (6,))
    six = ", ".join(f"{c:,}" for c in counts[top] + noise)
    return View(
        plot.figure,
        say(facts),
        [
            f"<b>Six releases of the count of {labels[top]}</b>, each of "
            f"which would cost ε again: {six}"
        ],
        facts=facts,
    )


panel = view.panel
