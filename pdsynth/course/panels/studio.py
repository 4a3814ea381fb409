"""What live panels share: a table with warm counts and common random numbers, and a run's noise, ledger and rows in words."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from ...counting.tables import Lattice, Records
from ...datasets import Dataset, load_adult
from ...evaluation.marginals import Marginals
from ...privacy.ledger import Entry, Ledger
from ...privacy.mechanisms import CommonNoise
from ...synthesizers import Synthesizer

Fitted = TypeVar("Fitted", bound=Synthesizer)
WORDS = {"strict": "strict", "published": "as published", "none": "no noise"}


class Studio:
    """One table with warm counts and common random numbers: what a live panel keeps between two moves of a slider."""

    def __init__(self, dataset: Dataset, seed: int = 7) -> None:
        self.dataset, self.schema, self.noise = dataset, dataset.schema, CommonNoise(seed)
        self.records = Records(self.schema.encode(dataset.frame), self.schema)

    @cached_property
    def real(self) -> Marginals:
        """The real side of all two-way distances."""
        return Marginals(self.records.codes, self.schema, 2)

    def run(self, synthesizer: Fitted) -> Fitted:
        """Any synthesizer, fitted with the same underlying random numbers every time."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what a small budget can't bear is what a panel shows
            return synthesizer.fit(self.records, noise=self.noise.fresh())

    def sample(self, synthesizer: Synthesizer, seed: int = 11) -> np.ndarray:
        """Codes of a synthetic table of the original size, from a fixed stream."""
        return synthesizer.model_.sample_codes(self.records.n, np.random.default_rng(seed))

    def distances(self, codes: np.ndarray) -> np.ndarray:
        """Symmetric (d, d) matrix of two-way total variation distances, NaN on the diagonal."""
        return symmetric(self.real.distances(codes), len(self.schema))


def mean_without(distances: np.ndarray, attribute: int) -> float:
    """Mean distance of the pairs in which one attribute doesn't stand."""
    return float(np.nanmean(np.delete(np.delete(distances, attribute, 0), attribute, 1)))


@lru_cache(maxsize=2)
def studio(name: str = "adult") -> Studio:
    """The studio of a public teaching table: Adult in the thesis' coding, or ``"complete"`` with 15 attributes, as HMPrivBayes uses it."""
    return Studio(load_adult(complete=True) if name == "complete" else load_adult(coding="thesis"))


def symmetric(values: np.ndarray, d: int, diagonal: float = np.nan) -> np.ndarray:
    """The (d, d) matrix of one number a pair, pairs in the order of ``combinations``."""
    matrix = np.full((d, d), diagonal, dtype=float if np.isnan(diagonal) else np.asarray(values).dtype)
    i, j = np.triu_indices(d, 1)
    matrix[i, j] = matrix[j, i] = values
    return matrix


def pairwise(lattice: Lattice, measure: str = "I") -> np.ndarray:
    """Matrix (d, d) of I (bits) or K (integers) of all pairs of columns, zero diagonal; raw, for a public table only."""
    d = len(lattice.sizes)
    i, j = np.triu_indices(d, 1)
    return symmetric((lattice.association if measure == "K" else lattice.information)(i, j[:, None]), d, 0)


def noise_to_cell(fitted: Synthesizer) -> dict[str, float]:
    """Noise scale of each table against its mean cell, both in records; 1 means that noise and signal are equal on average."""
    scales: dict[str, float] = {}
    for entry in fitted.ledger_.entries:
        if entry.step.startswith("table(") and entry.scale is not None:
            rows = entry.scale if isinstance(entry.scale, tuple) else (entry.scale,)
            scales[entry.step[6:-1].split(" | ")[0]] = float(np.mean([float(s) for s in rows]))
    cells = {c: t.size for (c, _), t in zip(fitted.network_.pairs, fitted.model_.tables, strict=True)}
    return {name: scales.get(name, 0.0) * cells[name] / fitted.n_ for name in fitted.network_.order}


def audited(ledger: Ledger) -> str:
    """The true ε in words."""
    return "infinite" if ledger.epsilon == math.inf else f"{float(ledger.epsilon):g}"


def ledger_summary(ledger: Ledger) -> str:
    """The ledger's steps as a short HTML table: claimed and true ε, unaccounted accesses in red; the whole ledger folded below.

    What a paper composes in parallel is claimed once, at the dearest part's price; the true cost is the sum.
    """
    claims: dict[str, dict[str | None, Fraction]] = {}
    true: dict[str, Any] = {}
    count: dict[str, int] = {}
    for e in ledger.entries:
        if e.kind == "group":
            continue
        name = _step_name(e)
        parts = claims.setdefault(name, {})
        parts[e.record_filter] = parts.get(e.record_filter, Fraction(0)) + e.claimed
        true[name] = math.inf if e.kind == "unaccounted_access" else true.get(name, Fraction(0)) + e.cost
        count[name] = count.get(name, 0) + 1
    red = " style='color:#d55e00;font-weight:600'"
    lines = "".join(
        f"<tr{red if true[name] > max(parts.values()) else ''}><td style='text-align:left'>{name}</td><td>{count[name]}</td>"
        f"<td>{float(max(parts.values())):.4f}</td>"
        f"<td>{'∞, unaccounted' if true[name] == math.inf else f'{float(true[name]):.4f}'}</td></tr>"
        for name, parts in claims.items()
    )
    head = "<tr><th style='text-align:left'>step</th><th>entries</th><th>claimed ε</th><th>true ε</th></tr>"
    return (
        f"<b>Ledger.</b> {ledger.verdict()}<table>{head}{lines}</table>"
        f"<details><summary>The whole ledger</summary>{ledger._repr_html_()}</details>"
    )


def _step_name(entry: Entry) -> str:
    """Entries of one kind share a line of the summary."""
    step, source = entry.step, entry.source
    if step.startswith("table("):
        step = "noisy tables"
    elif " in C" in step and step.startswith(("root", "pair ")):
        step, source = "roots and parent sets", source.rsplit(" line", 1)[0]
    elif step.startswith("conditional("):
        step = "noisy conditionals"
    elif step.startswith(("parents of", "parent ", "pair ")):
        step = "parent sets"
    return f"{step}{f', {source}' if source else ''}"


def preview(room: Studio, codes: np.ndarray, rows: int = 5, words: str = "Synthetic preview") -> str:
    """The first synthetic rows as an HTML table."""
    return f"<b>{words}.</b> <div style='overflow-x:auto'>{room.schema.decode(codes[:rows]).to_html(index=False, border=0)}</div>"
