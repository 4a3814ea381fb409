"""What does a synthetic table give away about one attribute of a person of whom others are known? GCAP, six attackers, leaks.

Sources: Hittmeir, Mayer and Ekelhart (2022), §II and §V-B; `algorithms` §5.1, §12.6, §12.8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from ..domain.schema import Schema
from ..errors import SchemaError
from . import sparse
from .classifiers import CLASSIFIERS, design, predict
from .marginals import Table, coded

ATTACKERS = ("GCAP", *CLASSIFIERS)
DEFINITIONS = ("gcap", "advantage", "exact")
CHUNK = 2**23  # cells (distinct key × class) counted at once: 64 MiB
BLOCK = 2**18  # pairs of keys compared at once, one byte each: stays in the cache
SUBSET_COST = 1000  # looking a key up on one subset of attributes costs as much as comparing so many pairs of values; measured


@dataclass(frozen=True, eq=False)
class Attribution:
    """What :func:`gcap` found, record by record of the original table.

    ``distance``: int64 (n,), Hamming distance ρ to the nearest synthetic keys. ``share``: float64 (n,), GCAP_j, the fraction of
    the synthetic rows there whose target is the record's own. ``guess``: int64 (n,), code of the most frequent target there,
    the smallest code on a tie. ``truth``: int64 (n,), the record's own code.
    """

    distance: np.ndarray
    share: np.ndarray
    guess: np.ndarray
    truth: np.ndarray

    @property
    def score(self) -> float:
        """GCAP: the mean share."""
        return float(self.share.mean())

    @property
    def accuracy(self) -> float:
        """Accuracy of the guess. The tables of the paper hold this number under "GCAP": its Table IX fits no other reading."""
        return float((self.guess == self.truth).mean())

    @property
    def matched(self) -> float:
        """Fraction of records whose key occurs in the synthetic table."""
        return float((self.distance == 0).mean())

    @property
    def cap(self) -> float:
        """CAP: mean share of the records whose key occurs in the synthetic table (ρ = 0); NaN where none does."""
        there = self.distance == 0
        return float(self.share[there].mean()) if there.any() else float("nan")

    @property
    def exact(self) -> float:
        """Fraction of all records whose key occurs and whose guess is right."""
        return float(((self.distance == 0) & (self.guess == self.truth)).mean())


def gcap(real: Table, synthetic: Table, schema: Schema, key: Sequence[str], target: str) -> Attribution:
    """Generalised correct attribution probability of ``target``, given the attributes of ``key``.

    For each real record: the synthetic rows whose key is nearest to its own in Hamming distance, and the share of them with
    its own target. ``real`` (n, d) and ``synthetic`` (m, d): DataFrames, codes or Records over ``schema``.

    Equal to the definition, but counted over distinct keys: near keys by looking them up on every subset of ℓ − ρ attributes,
    ρ = 0, 1, …, the few far ones by comparing them with all. Raises SchemaError for an unknown, repeated or empty key, or one
    that holds the target.

    **Privacy:** reads the real records exactly; an evaluation for those who may see them, outside every guarantee.
    """
    _check_key(schema, key, target)
    ours, theirs = coded(real, schema), coded(synthetic, schema)
    columns, aim = [schema.index(name) for name in key], schema.index(target)
    sizes, classes = [schema.sizes[j] for j in columns], schema.sizes[aim]
    both = np.vstack([ours[:, columns], theirs[:, columns]])
    label = sparse.keys(both, sizes, range(len(columns)))
    _, first, inverse = np.unique(label[: len(ours)], return_index=True, return_inverse=True)
    asked, truth = ours[first][:, columns], ours[:, aim].astype(np.int64)
    known, answers, weights = _distinct(label[len(ours) :], theirs[:, columns], theirs[:, aim].astype(np.int64), classes)
    distance, guess = np.empty(len(asked), dtype=np.int64), np.empty(len(asked), dtype=np.int64)
    share = np.empty(len(ours))
    order = np.argsort(inverse, kind="stable")
    step = max(CHUNK // classes, 1)
    for start in range(0, len(asked), step):
        stop = min(start + step, len(asked))
        distance[start:stop], counts = _nearest(asked[start:stop], known, answers, weights, sizes, classes)
        guess[start:stop] = counts.argmax(axis=1)
        low, high = np.searchsorted(inverse[order], [start, stop])
        mine = order[low:high]
        at = inverse[mine] - start
        share[mine] = counts[at, truth[mine]] / counts.sum(axis=1)[at]
    return Attribution(distance[inverse], share, guess[inverse], truth)


def _check_key(schema: Schema, key: Sequence[str], target: str) -> None:
    if isinstance(key, str):  # its letters would be taken for names
        raise SchemaError(f"the key must be a list of attribute names, got {key!r}: write [{key!r}]")
    listed, aim = list(key), schema.index(target)
    if not listed or len(set(listed)) != len(listed):
        raise SchemaError(f"the key must name at least one attribute, each of them once, got {listed}")
    if aim in [schema.index(name) for name in listed]:
        raise SchemaError(f"the target {target!r} is part of the key {listed}: an attacker who knows it has nothing to find out")


def _distinct(labels: np.ndarray, keys: np.ndarray, answers: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Different synthetic (key, target) rows: keys (s, ℓ), targets (s,), and how many rows each stands for (s,)."""
    _, dense = np.unique(labels, return_inverse=True)
    _, first, weights = np.unique(dense * classes + answers, return_index=True, return_counts=True)
    return keys[first], answers[first], weights


def _nearest(
    asked: np.ndarray, known: np.ndarray, answers: np.ndarray, weights: np.ndarray, sizes: list[int], classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Distance (u,) of each asked key (u, ℓ) to the nearest known one, and the targets there: int64 counts (u, classes)."""
    width = len(sizes)
    distance, counts = np.zeros(len(asked), dtype=np.int64), np.zeros((len(asked), classes), dtype=np.int64)
    left = np.arange(len(asked))
    for rho in range(width + 1):
        subsets = math.comb(width, rho)
        if subsets * (len(left) + len(known)) * SUBSET_COST > len(left) * len(known) * width:
            _compare(asked, left, known, answers, weights, distance, counts)
            break
        # two keys at distance exactly ρ agree on exactly one subset of ℓ − ρ attributes, so nothing is counted twice
        for kept in combinations(range(width), width - rho):
            counts[left] += _look_up(asked[left], known, answers, weights, sizes, kept, classes)
        found = counts[left].any(axis=1)
        distance[left[found]] = rho
        left = left[~found]
        if not len(left):
            break
    return distance, counts


def _look_up(
    asked: np.ndarray, known: np.ndarray, answers: np.ndarray, weights: np.ndarray, sizes: list[int], kept: Sequence[int], classes: int
) -> np.ndarray:
    """Targets of the known keys that agree with each asked one on the kept attributes: int64 counts (u, classes)."""
    label = sparse.keys(np.vstack([asked, known]), sizes, kept)
    mine, inverse = np.unique(label[: len(asked)], return_inverse=True)
    place = np.minimum(np.searchsorted(mine, label[len(asked) :]), len(mine) - 1)
    hit = mine[place] == label[len(asked) :]
    cells = np.bincount(place[hit] * classes + answers[hit], weights=weights[hit], minlength=len(mine) * classes)
    return cells.astype(np.int64).reshape(-1, classes)[inverse]


def _compare(
    asked: np.ndarray, left: np.ndarray, known: np.ndarray, answers: np.ndarray, weights: np.ndarray, distance: np.ndarray,
    counts: np.ndarray,
) -> None:  # fmt: skip
    """The same by comparing every asked key in ``left`` with every known one; writes into ``distance`` and ``counts``."""
    columns = [np.ascontiguousarray(known[:, j]) for j in range(known.shape[1])]
    classes, step = counts.shape[1], max(BLOCK // len(known), 1)
    kind = np.uint8 if len(columns) < 256 else np.uint16
    apart, differs = np.empty((step, len(known)), dtype=kind), np.empty((step, len(known)), dtype=bool)
    for start in range(0, len(left), step):
        rows = left[start : start + step]
        gap, differ = apart[: len(rows)], differs[: len(rows)]
        gap.fill(0)
        for j, column in enumerate(columns):
            np.not_equal(asked[rows, j, None], column, out=differ)
            np.add(gap, differ.view(np.uint8), out=gap)  # without a cast
        nearest = gap.min(axis=1)
        row, col = np.nonzero(gap == nearest[:, None])
        cells = np.bincount(row * classes + answers[col], weights=weights[col], minlength=len(rows) * classes)
        distance[rows], counts[rows] = nearest, cells.astype(np.int64).reshape(-1, classes)


def disclosure_risk(
    real: Table,
    synthetic: Table,
    schema: Schema,
    keys: Sequence[str],
    target: str,
    key_length: int | None = None,
    *,
    attackers: Sequence[str] = ATTACKERS,
    encoding: str = "label",
    seed: int = 0,
) -> pd.DataFrame:
    """How often six attackers, taught on the synthetic table, guess the ``target`` of the real people (paper, §V-B).

    ``keys``: the quasi-identifiers. ``key_length``: how many of them an attacker knows; every subset of that length is tried
    (None: all of them at once). Each attacker learns from the synthetic rows, restricted to key and target, and guesses the
    target of every real record. ``encoding`` and scaling as in :func:`five_classifiers`; ``attackers``: some of :data:`ATTACKERS`.

    Returns one row a key and attacker: ``attacker``, ``key`` (names joined by " + "), ``accuracy``, ``zero_rule`` (accuracy of
    always saying the most frequent value) and, for GCAP, ``score`` (its mean share; NaN otherwise).

    Raises SchemaError for a key longer than the list, a target among the keys, a target of one class, unknown names.

    **Privacy:** reads the real records exactly; an evaluation for those who may see them, outside every guarantee.
    """
    _check_key(schema, keys, target)
    length = len(keys) if key_length is None else key_length
    if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or not 1 <= length <= len(keys):
        raise SchemaError(f"key_length must be a whole number from 1 to {len(keys)}, the number of keys given, got {key_length!r}")
    unknown = [a for a in attackers if a not in ATTACKERS]
    if unknown or not attackers:
        raise SchemaError(f"attackers must be some of {ATTACKERS}, got {list(attackers)}")
    ours, theirs = coded(real, schema), coded(synthetic, schema)
    truth, learnt = (codes[:, schema.index(target)].astype(np.int64) for codes in (ours, theirs))
    zero_rule = float(np.bincount(truth).max() / len(truth))
    if zero_rule == 1:
        raise SchemaError(f"every record has the same {target!r}: there is nothing to find out; choose another target")
    rows = []
    for key in combinations(keys, int(length)):
        found: dict[str, tuple[float, float]] = {}
        if "GCAP" in attackers:
            nearest = gcap(ours, theirs, schema, key, target)
            found["GCAP"] = (nearest.accuracy, nearest.score)
        train, test = design(synthetic, real, schema, key, encoding)
        for name in attackers:
            if name != "GCAP":
                found[name] = (float((predict(name, train, learnt, test, seed) == truth).mean()), float("nan"))
            rows.append((name, " + ".join(key), found[name][0], zero_rule, found[name][1]))
    return pd.DataFrame(rows, columns=["attacker", "key", "accuracy", "zero_rule", "score"])


def leak_probability(
    real: Table, synthetic: Table, schema: Schema, target: str, definition: str = "gcap", *, holdout: Table | None = None
) -> float:
    """The "leak probability" of HMPrivBayes' Figure 4, which that paper doesn't define, in one of three readings.

    The attacker knows every other attribute and uses :func:`gcap`. ``definition="gcap"``: the mean share. ``"advantage"``:
    accuracy of the guesses minus that of the same attacker taught on ``holdout``, real records of other people from which
    the synthetic table was not made: what taking part adds to what anybody could infer; from −1 to 1. ``"exact"``: fraction of
    records whose key occurs in the synthetic table and whose most frequent target there is their own.

    PITFALL: it falls with n for another reason than privacy where a table is padded with random rows (:func:`padded`).

    Raises SchemaError for another definition, or "advantage" without a holdout.

    **Privacy:** reads the real records exactly; an evaluation for those who may see them, outside every guarantee.
    """
    if definition not in DEFINITIONS:
        raise SchemaError(f"definition must be one of {DEFINITIONS}, got {definition!r}")
    if definition == "advantage" and holdout is None:
        raise SchemaError(
            "definition='advantage' compares with an attacker who never saw these people: pass holdout=, disjoint real records"
        )
    key = [name for name in schema.names if name != target]
    found = gcap(real, synthetic, schema, key, target)
    if definition == "gcap":
        return found.score
    if definition == "exact" or holdout is None:
        return found.exact
    return found.accuracy - gcap(real, holdout, schema, key, target).accuracy


def padded(real: Table, schema: Schema, rows: int = 100_000, seed: int = 0) -> np.ndarray:
    """A table brought to ``rows`` records by adding random ones, each value uniform on its domain: codes (rows, d).

    HMPrivBayes brings the 45,222 complete rows of Adult to 100,000 so (54,778 random ones): a leak that falls with n is then
    partly dilution, since random records have no secret to leak. With fewer rows than there are, a random subset of them.

    Raises SchemaError for fewer than one row.

    **Privacy:** raw records in, raw and random records out.
    """
    if rows < 1:
        raise SchemaError(f"rows must be at least 1, got {rows}")
    codes, rng = coded(real, schema), np.random.default_rng(seed)
    if rows <= len(codes):
        return codes[np.sort(rng.choice(len(codes), rows, replace=False))]
    random = rng.integers(0, schema.sizes, (rows - len(codes), len(schema))).astype(codes.dtype)
    return np.vstack([codes, random])
