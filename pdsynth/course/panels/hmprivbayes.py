"""Lesson 10: ε, k, l and η move clusters, networks, noise, ledger, distances and a preview."""

from html import escape
from typing import Any

import numpy as np

from ...algorithms import HMPrivBayes
from ...datasets.tables import Dataset
from ...plots import BOXES
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, Curve, Mark, half_circles
from .panel import live_panel
from .table import TeachingTable, remember, teaching_table
from .words import GUARANTEE, GUARANTEES, fold, html_table, ledger_summary, percent, preview, sum_up

AFFINITIES = {"the guarantee's own": "auto", "similarity": "similarity", "as printed": "printed"}
TOGETHER, APART = "pairs in one cluster", "pairs cut apart"
Piece = tuple[int, str]  # number of a cluster, and an attribute with at least one bit in it


def source(dataset: Dataset | None = None) -> TeachingTable:
    """The table as the paper uses it, with sets of up to three bits counted in one pass."""
    table: TeachingTable = TeachingTable(dataset) if dataset else teaching_table("complete")
    table.records.binary().lattice.build(3, kind="H").build(3, kind="K")
    return table


def pieces(fitted: HMPrivBayes, owners: dict[str, str]) -> dict[Piece, list[str]]:
    """The bits of every attribute in every cluster, in sampling order."""
    cluster = {bit: i for i, bits in enumerate(fitted.clusters_) for bit in bits}
    parts: dict[Piece, list[str]] = {}
    for bit in sorted(fitted.network_.order, key=cluster.__getitem__):
        parts.setdefault((cluster[bit], owners[bit]), []).append(bit)
    return parts


def edges(fitted: HMPrivBayes, places: dict[str, int]) -> Curve:
    """Half circles between pieces that hold a parent and its child."""
    pairs = {(places[parent], places[child]) for parent, child in fitted.network_.edges}
    return half_circles(sorted((a, b) for a, b in pairs if a != b))


def cluster_marks(
    parts: dict[tuple[int, str], list[str]], words: list[str], noise: dict[str, float]
) -> list[Mark]:
    """Of each cluster its attributes in the network, and one dot for each bit's table."""
    marks, members = [], list(parts.values())
    for number in sorted({cluster for cluster, _ in parts}):
        at = [i for i, (cluster, _) in enumerate(parts) if cluster == number]
        fill, _, _, symbol = BOXES[number % len(BOXES)]
        named = f"C{number + 1}"
        marks.append(Mark(at, [words[i] for i in at], fill, symbol, named, size=11))
        tables = [(i, bit) for i in at for bit in members[i]]
        places, bits = [i for i, _ in tables], [bit for _, bit in tables]
        marks.append(Mark(places, bits, fill, symbol, named, [noise[bit] for bit in bits], 0))
    return marks


def draw(
    table: TeachingTable,
    fitted: HMPrivBayes,
    distances: np.ndarray,
    noise: dict[str, float],
    title: str,
) -> Board:
    """Networks of the clusters as arcs between attributes over their noise; distances beside."""
    binary = table.records.binary()
    owners = dict(zip(binary.schema.names, binary.owners, strict=True))
    parts = pieces(fitted, owners)
    all_bits = [binary.owners.count(name) for _, name in parts]
    labels = [
        f"{name} ({len(bits)} of {n})" if len(bits) < n else name
        for ((_, name), bits), n in zip(parts.items(), all_bits, strict=True)
    ]
    words = [
        f"{label}: {', '.join(bits)}" for label, bits in zip(labels, parts.values(), strict=True)
    ]
    plot, marks = Board("hmprivbayes", title), cluster_marks(parts, words, noise)
    curve = edges(fitted, {bit: i for i, bits in enumerate(parts.values()) for bit in bits})
    plot.network(curve, labels, marks, max(6, *(len(mark.at) for mark in marks if mark.size)))
    plot.set(x={"tickfont": {"size": 12 if len(labels) <= 18 else 9}})
    for trace in plot.traces:
        trace["showlegend"] = bool(trace.get("name"))  # also of one cluster
    order = list(dict.fromkeys(name for _, name in parts))
    index = [table.schema.index(name) for name in order]
    plot.distances(distances[np.ix_(index, index)], order, 0.4, {"len": 0.6, "y": 0.68})
    if not any(noise.values()):
        plot.entitle("x2y", "No table has noise, so none has a dot")
    whole = [len({owners[b] for b in bits}) for bits in fitted.clusters_]
    if sum(whole) == len(table.schema):  # no attribute is torn: frame each cluster's own distances
        plot.boxes(whole, 3, 3)
    off = cut_apart(table, parts, distances)
    bars = list(off)[::-1]
    plot.set(x4={"range": [0, max(0.4, 1.3 * max(off.values()))]})  # room for the numbers
    plot.bars(
        [off[kind] for kind in bars],
        bars,
        ["look" if kind == APART else "private" for kind in bars],
        4,
        across=True,
        labels=[f"<b>{percent(off[kind])}</b>" for kind in bars],
        textfont={"size": 18},
    )
    return plot


def cut_apart(
    table: TeachingTable, parts: dict[Piece, list[str]], distances: np.ndarray
) -> dict[str, float]:
    """Mean distance of pairs of attributes that share a cluster, and of all others."""
    homes = [{number for number, name in parts if name == one} for one in table.schema.names]
    apart = np.array([[not one & other for other in homes] for one in homes])
    real = ~np.eye(len(homes), dtype=bool)
    masks = {TOGETHER: real & ~apart, APART: real & apart}
    return {kind: float(distances[at].mean()) for kind, at in masks.items() if at.any()}


def compare(off: dict[str, float]) -> str:
    """What :func:`cut_apart` finds, in a sentence."""
    if TOGETHER not in off:
        return f"All pairs are cut apart, and are off by {percent(off[APART])}. "
    if APART not in off:
        return f"All pairs share a cluster, and are off by {percent(off[TOGETHER])}. "
    worse = "worse off" if off[APART] > off[TOGETHER] else "no worse off"
    return (
        f"Pairs cut apart are {worse}: {percent(off[APART])}, "
        f"pairs together {percent(off[TOGETHER])}. "
    )


def shares(fitted: HMPrivBayes) -> str:
    """Risk entropy of every bit, folded."""
    entropy = fitted.risk_entropy_
    rows = [
        (f"C{i}", escape(b), f"{entropy[b]:.3f}")
        for i, bits in enumerate(fitted.clusters_, 1)
        for b in sorted(bits, key=lambda b: -entropy[b])
    ]
    heads = ("cluster", "bit", "OE that sets its noise")
    return fold("Clusters and risk entropies", html_table(heads, rows, 2))


@remember
def fit(table: TeachingTable, guarantee: str, affinity: str, **levers: Any) -> HMPrivBayes:
    """``levers``: keywords of HMPrivBayes."""
    return table.run(HMPrivBayes(guarantee=guarantee, affinity=AFFINITIES[affinity], **levers))


@live_panel(
    source,
    tries=(
        Try(
            "little budget",
            {"epsilon": 0.2},
            "the distance goes from {was.mean:.3f} to {now.mean:.3f}, although {now.noisy} of "
            "{now.tables} tables have more noise than signal.",
            lambda was, now: now.mean > was.mean,
        ),
        Try(
            "one cluster",
            {"k": 1},
            "nothing is spent on clusters, and still the distance is {now.mean:.3f} instead of "
            "{was.mean:.3f}.",
            lambda was, now: now.mean > was.mean,
        ),
        Try(
            "as printed",
            {"guarantee": "published"},
            "ε = {now.claimed:g} is claimed, and the ledger says {now.audited}.",
            lambda was, now: now.audited == "infinite",
        ),
    ),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, privacy budget"),
    k=slider("k", 3, 1, 20, 1, tooltip="k, number of clusters"),
    l=slider("l", 2, 1, 3, 1, unit="parents", tooltip="l, largest number of parents"),
    eta=slider("η", 0.1, 0.0, 0.9, 0.05, tooltip="η, weakest tie against the strongest"),
    guarantee=GUARANTEE,
    affinity=choice("affinity", list(AFFINITIES)),
)
def view(table: TeachingTable, guarantee: str, affinity: str, **levers: Any) -> View:
    """Networks, noise and distances of the clusters; ``levers`` are keywords of HMPrivBayes."""
    fitted = fit(table, guarantee, affinity, **levers)
    ledger, codes = fitted.ledger_, table.sample(fitted)
    distances = table.distances(codes)
    noise, facts, summary = sum_up(fitted, distances)
    noisy = guarantee == "strict" and levers["k"] > 1 and fitted.similarity_ is None
    state = "ε = {epsilon:g}, k = {k}, l = {l}, η = {eta:g}".format(**levers)
    title = f"HMPrivBayes {GUARANTEES[guarantee]}: {state}"
    finite = f" ({float(ledger.finite):.4g} without the raw entropies)"
    plot = draw(table, fitted, distances, noise, title)
    binary = table.records.binary()
    parts = pieces(fitted, dict(zip(binary.schema.names, binary.owners, strict=True)))
    off = cut_apart(table, parts, distances)
    status = compare(off) + (
        f"{'Too noisy to cluster: one cluster instead. ' if noisy else ''}"
        f"{summary}{finite if guarantee == 'published' else ''}; "
        f"clusters of {', '.join(str(len(c)) for c in fitted.clusters_)} bits."
    )
    tables = [ledger_summary(ledger), shares(fitted), preview(table, codes)]
    return View(plot.figure, status, tables, facts=facts)


panel = view.panel
