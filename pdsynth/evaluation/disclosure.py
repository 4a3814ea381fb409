"""What a synthetic table gives away about one attribute of a person whose others are known.

Hittmeir, Mayer and Ekelhart (2022), §II and §V-B.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from ..core import Schema, SchemaError, check_schema, is_one_of, is_whole, progress, show, to_list
from .classifiers import CLASSIFIERS, design, predict
from .inputs import Table, check_choice, check_choices, check_whole, record_keys, seeded, to_codes
from .utility import majority_share

ATTACKERS = ("GCAP", *CLASSIFIERS)
DEFINITIONS = ("gcap", "advantage", "exact")
CHUNK = 2**23  # cells (distinct key × class) counted at once: 64 MiB
BLOCK = 2**18  # pairs of keys compared at once, one byte each: stays in the cache
SUBSET_COST = 1000  # pairs of values compared in the time of one look-up on a subset; measured


@dataclass(frozen=True, eq=False)
class Attribution:
    """What :func:`gcap` found for each record of the original table; int64 or float64 (n,) each.

    ``distance``: Hamming distance ρ to the nearest synthetic keys. ``share``: GCAP_j, the fraction
    of the synthetic rows there whose target is the record's own. ``guess``: code of the most
    frequent target there, the smallest on a tie. ``truth``: the record's own code.
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
        """Accuracy of the guess: what the paper's tables call GCAP (Table IX fits nothing else)."""
        return float((self.guess == self.truth).mean())

    @property
    def matched(self) -> float:
        """Fraction of records whose key occurs in the synthetic table."""
        return float((self.distance == 0).mean())

    @property
    def cap(self) -> float:
        """CAP: mean share of the records whose key occurs; NaN where none does."""
        there = self.share[self.distance == 0]
        return float(there.mean()) if len(there) else float("nan")

    @property
    def exact(self) -> float:
        """Fraction of all records whose key occurs and whose guess is right."""
        return float(((self.distance == 0) & (self.guess == self.truth)).mean())


def gcap(
    real: Table, synthetic: Table, schema: Schema, key: Sequence[str], target: str
) -> Attribution:
    """Generalised correct attribution probability of ``target``, given the attributes of ``key``.

    For each real record: the synthetic rows whose key is nearest to its own in Hamming distance,
    and the share of them with its own target. ``real`` (n, d) and ``synthetic`` (m, d): DataFrames,
    codes or Records over ``schema``.

    Counted over distinct keys: near keys by looking them up on every subset of ℓ − ρ attributes,
    ρ = 0, 1, …, the few far ones by comparing them with all. Raises SchemaError for an unknown,
    repeated or empty key, or one that holds the target.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    _check_key(schema, key, target)
    columns, aim = [schema.index(name) for name in key], schema.index(target)
    ours, theirs = (to_codes(table, schema) for table in (real, synthetic))
    label = record_keys(theirs, schema.sizes, [*columns, aim])
    _, first, weights = np.unique(label, return_index=True, return_counts=True)
    pool = SyntheticRows(
        theirs[first][:, columns],
        theirs[first, aim].astype(np.int64),
        weights,
        [schema.sizes[j] for j in columns],
        schema.sizes[aim],
    )
    step, parts = max(CHUNK // pool.classes, 1), []
    for part in progress(np.split(ours, range(step, len(ours), step)), "attack"):
        label = record_keys(part, schema.sizes, columns)
        _, first, person = np.unique(label, return_index=True, return_inverse=True)
        distance, counts = _find_nearest(part[first][:, columns], pool)
        near, truth = counts[person], part[:, aim].astype(np.int64)
        share = near[np.arange(len(truth)), truth] / near.sum(axis=1)
        parts.append((distance[person], share, near.argmax(axis=1), truth))
    return Attribution(*map(np.concatenate, zip(*parts, strict=True)))


def _check_key(schema: Schema, key: Sequence[str], target: str) -> None:
    listed = to_list("the key", key, SchemaError, "a list of attribute names")
    columns = {check_schema(schema).index(name) for name in listed}
    if not listed or len(columns) != len(listed):
        raise SchemaError(
            f"the key must name at least one attribute, each of them once, got {listed}"
        )
    if schema.index(target) in columns:
        raise SchemaError(
            f"the target {target!r} is part of the key {listed}: an attacker who "
            "knows it has nothing to find out"
        )


@dataclass(frozen=True, eq=False)
class SyntheticRows:
    """Different synthetic rows: keys (s, ℓ), targets (s,), how many rows each stands for (s,)."""

    keys: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    sizes: list[int]
    classes: int

    def count(self, rows: np.ndarray, chosen: np.ndarray, n: int) -> np.ndarray:
        """Targets of the chosen keys, which belong to ``rows`` 0 … n−1: int64 counts (n, c)."""
        cells = rows * self.classes + self.targets[chosen]
        counts = np.bincount(cells, self.weights[chosen], minlength=n * self.classes)
        return counts.astype(np.int64).reshape(n, self.classes)


def _find_nearest(keys: np.ndarray, pool: SyntheticRows) -> tuple[np.ndarray, np.ndarray]:
    """Distance (u,) of keys (u, ℓ) to the nearest ones of the pool, and counts (u, c) there."""
    width, rest = len(pool.sizes), np.arange(len(keys))
    distance = np.zeros(len(keys), dtype=np.int64)
    counts = np.zeros((len(keys), pool.classes), dtype=np.int64)
    for rho in range(width + 1):
        look_ups = math.comb(width, rho) * (len(rest) + len(pool.keys))
        if look_ups * SUBSET_COST > len(rest) * len(pool.keys) * width:
            distance[rest], counts[rest] = _compare(keys[rest], pool)
            break
        # two keys at distance exactly ρ agree on exactly one subset of ℓ − ρ attributes,
        # so nothing is counted twice
        for subset in combinations(range(width), width - rho):
            counts[rest] += _look_up(keys[rest], pool, subset)
        mask = counts[rest].any(axis=1)
        distance[rest[mask]] = rho
        rest = rest[~mask]
        if not len(rest):
            break
    return distance, counts


def _look_up(keys: np.ndarray, pool: SyntheticRows, subset: Sequence[int]) -> np.ndarray:
    """Targets of the pool's keys that agree with each key on some attributes: (u, c)."""
    label = record_keys(np.vstack([keys, pool.keys]), pool.sizes, subset)
    theirs = label[len(keys) :]
    mine, inverse = np.unique(label[: len(keys)], return_inverse=True)
    place = np.minimum(np.searchsorted(mine, theirs), len(mine) - 1)
    hit = np.flatnonzero(mine[place] == theirs)
    return pool.count(place[hit], hit, len(mine))[inverse]


def _compare(keys: np.ndarray, pool: SyntheticRows) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`_find_nearest`, by comparing every key with every one of the pool."""
    columns = [np.ascontiguousarray(column) for column in pool.keys.T]
    kind = np.uint8 if len(columns) < 256 else np.uint16
    step = max(BLOCK // len(pool.keys), 1)
    distances, counts = [], []
    for rows in np.split(keys, range(step, len(keys), step)):
        gap = np.zeros((len(rows), len(pool.keys)), dtype=kind)
        for mine, column in zip(rows.T, columns, strict=True):
            gap += (mine[:, None] != column).view(np.uint8)  # without a cast
        distances.append(gap.min(axis=1))
        row, chosen = np.nonzero(gap == distances[-1][:, None])
        counts.append(pool.count(row, chosen, len(rows)))
    return np.concatenate(distances), np.concatenate(counts)


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
    """How often six attackers, taught on key and target of the synthetic rows, guess the ``target``
    of the real people (paper, §V-B).

    ``keys``: the quasi-identifiers. ``key_length``: how many of them an attacker knows; every
    subset of that length is tried (None: all of them at once). ``attackers``: some of
    :data:`ATTACKERS`; ``encoding`` and scaling as in :func:`five_classifiers`.

    Returns one row per key and attacker: ``attacker``, ``key`` (names joined by " + "),
    ``accuracy``, ``zero_rule`` (accuracy of always saying the most frequent value) and ``score``
    (the mean share of GCAP; NaN otherwise).

    Raises SchemaError for a key longer than the list, a target among the keys, a target of one
    class, unknown names.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    _check_key(schema, keys, target)
    seeded(seed)
    length = len(keys) if key_length is None else key_length
    check_whole("key_length", length, len(keys), "the number of keys given")
    check_choices("attackers", attackers, ATTACKERS)
    ours, theirs = to_codes(real, schema), to_codes(synthetic, schema)
    truth, learnt = (codes[:, schema.index(target)].astype(np.int64) for codes in (ours, theirs))
    zero_rule = majority_share(truth)
    if zero_rule == 1:
        raise SchemaError(
            f"every record has the same {target!r}: there is nothing to find out; "
            "choose another target"
        )
    rows = []
    chosen = list(combinations(keys, int(length)))
    for key in progress(chosen, "attacks", unit="key"):
        train, test = design(synthetic, real, schema, key, encoding)
        for name in attackers:
            if name == "GCAP":
                nearest = gcap(ours, theirs, schema, key, target)
                accuracy, score = nearest.accuracy, nearest.score
            else:
                guess = predict(name, train, learnt, test, seed)
                accuracy, score = float((guess == truth).mean()), float("nan")
            rows.append((name, " + ".join(key), accuracy, zero_rule, score))
    return pd.DataFrame(rows, columns=["attacker", "key", "accuracy", "zero_rule", "score"])


def leak_probability(
    real: Table,
    synthetic: Table,
    schema: Schema,
    target: str,
    definition: str = "gcap",
    *,
    holdout: Table | None = None,
) -> float:
    """The "leak probability" of HMPrivBayes' Figure 4, undefined there, in one of three readings.

    The attacker knows every other attribute and uses :func:`gcap`. ``definition="gcap"``: the mean
    share. ``"exact"``: fraction of records whose key occurs and is guessed right. ``"advantage"``:
    accuracy of the guesses minus that of the same attacker taught on ``holdout``, real records of
    other people from which the synthetic table was not made: what taking part adds to what anybody
    could infer; from −1 to 1.

    PITFALL: it falls with n for another reason than privacy where a table is padded with random
    rows (:func:`padded`).

    Raises SchemaError for another definition, or "advantage" without a holdout.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    check_choice("definition", definition, DEFINITIONS)
    key = [name for name in check_schema(schema).names if not is_one_of(target, (name,))]
    if definition != "advantage":
        attribution = gcap(real, synthetic, schema, key, target)
        return attribution.score if definition == "gcap" else attribution.exact
    if holdout is None:
        raise SchemaError(
            "definition='advantage' compares with an attacker who never saw these "
            "people: pass holdout=, disjoint real records"
        )
    taught, other = (gcap(real, table, schema, key, target) for table in (synthetic, holdout))
    return taught.accuracy - other.accuracy


def padded(real: Table, schema: Schema, rows: int = 100_000, seed: int = 0) -> np.ndarray:
    """A table brought to ``rows`` records by random ones, each value uniform: codes (rows, d).

    HMPrivBayes brings the 45,222 complete rows of Adult to 100,000 so: a leak that falls with n is
    then partly dilution, since random records have no secret to leak. With fewer rows than there
    are, a random subset of them. Raises SchemaError for fewer than one row.

    **Privacy:** raw records in, raw and random records out.
    """
    if not is_whole(rows, 1, 10**9):
        raise SchemaError(
            f"rows must be at least 1 (and at most 1,000,000,000), a whole number, got {show(rows)}"
        )
    codes, rng = to_codes(real, schema), seeded(seed)
    if rows <= len(codes):
        return codes[np.sort(rng.choice(len(codes), rows, replace=False))]
    shape = (rows - len(codes), len(schema))
    return np.vstack([codes, rng.integers(0, schema.sizes, shape).astype(codes.dtype)])
