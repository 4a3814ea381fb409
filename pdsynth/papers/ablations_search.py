"""The genetic search taken apart: its operators, and what it maximises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pandas as pd

from .. import algorithms as s
from ..baselines import ONE, Parameters, exact_search, genetic_search
from ..core import GRID, SCORES, Network, Records
from ..datasets.tables import Dataset
from ..evaluation.marginals import Marginals
from ..evaluation.queries import sum_mutual_information
from .grids import NO_NOISE, Run

OPERATORS = Parameters.operators
COLUMNS = (
    "metric",
    "dataset",
    "method",
    "guarantee",
    "k",
    "change",
    "epsilon",
    "repeat",
    "seed",
    "value",
    "note",
)


def generator(run: Run, repeat: int) -> np.random.Generator:
    """The same for every change of a repeat, so that searches start alike."""
    return np.random.default_rng([run.seed, repeat])


def associations(dataset: Dataset, k: int) -> np.ndarray:
    """Pairwise mutual information, bits (d, d).

    **Privacy:** raw: an experiment.
    """
    quick = s.GeneticBayes(k=k, generations=1, guarantee="none", random_state=0)
    weights: np.ndarray = quick.fit(dataset.frame, schema=dataset.schema).weights_
    return weights


def search(part: Any, settings: Any, run: Run, tables: Mapping[str, Dataset]) -> pd.DataFrame:
    """Share of the best sum of pairwise information that the genetic search reaches.

    **Privacy:** an experiment on raw records.
    """
    rows = []
    for name, dataset in tables.items():
        run.tables[dataset.name] = len(dataset.frame)
        weights = associations(dataset, settings.parents)
        best = exact_search(weights, settings.parents).fitness
        for change in part["searches"]:
            missing = change.removeprefix("no ") if change.startswith("no ") else ""
            one = replace(
                Parameters(generations=settings.generations),
                operators=tuple(o for o in OPERATORS if o != missing),
            )
            if change == "a tenth of the generations":
                one = replace(one, generations=max(settings.generations // 10, 1))
            for repeat in range(run.repeats):
                result = genetic_search(weights, settings.parents, generator(run, repeat), one)
                rows.append(
                    (
                        "share of the optimum",
                        name,
                        "GeneticBayes",
                        "none",
                        str(settings.parents),
                        change,
                        NO_NOISE,
                        repeat,
                        repeat,
                        result.fitness / best,
                        "",
                    )
                )
    return pd.DataFrame(rows, columns=COLUMNS)


# --- what it maximises ----------------------------------------------------------------------------


@dataclass(frozen=True)
class JointInformation:
    """Fitness of a population by Σ I(X, Π), each child with its whole set of at most two parents.

    ``bits`` (d, d + 1, d + 1): of a child with two attributes; the last one stands for none.
    """

    bits: np.ndarray

    def __call__(self, parents: np.ndarray) -> np.ndarray:
        """Of each individual, from masks (P, d) of its parents."""
        none = self.bits.shape[1] - 1
        first = parents & (~parents + ONE)
        both = [
            np.where(mask != 0, np.log2(np.maximum(mask, ONE).astype(float)), none).astype(int)
            for mask in (first, parents ^ first)
        ]
        total: np.ndarray = self.bits[np.arange(none), both[0], both[1]].sum(axis=1)
        return total


def joint_information(records: Records) -> JointInformation:
    """Of every child with every one and two others.

    **Privacy:** raw: an experiment.
    """
    d = len(records.schema)
    bits = np.zeros((d, d + 1, d + 1))
    pairs = np.array(list(combinations_with_replacement(range(d), 2)))
    for j in range(d):
        mine = pairs[(pairs != j).all(axis=1)]
        one = mine[:, 0] == mine[:, 1]
        for chosen, sets in ((one, mine[one][:, :1]), (~one, mine[~one])):
            a, b = mine[chosen].T
            scores = records.scores(SCORES["I"], np.full(len(sets), j), sets) / GRID
            b = np.where(a == b, d, b)
            bits[j, a, b] = bits[j, b, a] = scores
    return JointInformation(bits)


def networks(
    change: str,
    dataset: Dataset,
    settings: Any,
    joint: JointInformation,
    weights: np.ndarray,
    rng: np.random.Generator,
) -> Network | None:
    """The network that one way of searching finds; None: the greedy search of the recipe."""
    k, names = settings.parents, dataset.schema.names
    if change == "greedy, joint information":
        return None
    if change == "exact, pairwise sums":
        return exact_search(weights, k).network(names)
    one = Parameters(generations=settings.generations)
    fitness = joint if change == "genetic, joint information" else None
    return genetic_search(weights, k, rng, one, rate_all=fitness).network(names)


def objectives(part: Any, settings: Any, run: Run, tables: Mapping[str, Dataset]) -> pd.DataFrame:
    """What networks of each objective hold, and how far their noise-free tables are.

    **Privacy:** an experiment on raw records.
    """
    return pd.DataFrame(
        [
            row
            for name, dataset in tables.items()
            for row in _objectives(part, settings, run, name, dataset)
        ],
        columns=COLUMNS,
    )


def _objectives(
    spec: Any, settings: Any, run: Run, name: str, dataset: Dataset
) -> Iterator[tuple[Any, ...]]:
    run.tables[dataset.name] = len(dataset.frame)
    records = Records(dataset.schema.encode(dataset.frame), dataset.schema)
    real, weights = Marginals(records, records.schema, 2), associations(dataset, settings.parents)
    joint = joint_information(records)
    for change in spec["objectives"]:
        for repeat in range(run.repeats):
            rng = generator(run, repeat)
            network = networks(change, dataset, settings, joint, weights, rng)
            structure = s.Greedy(k=settings.parents) if network is None else network
            synthesizer = s.Synthesizer(structure=structure, guarantee="none", random_state=repeat)
            fitted = synthesizer.fit(records)
            codes = fitted.model_.sample_codes(records.n, rng)
            at = name, "GeneticBayes", "none", str(settings.parents), change, NO_NOISE, repeat
            total = sum_mutual_information(fitted.network_, records)
            yield "2-way distance", *at, repeat, real.distance(codes), ""
            yield "sum of mutual information", *at, repeat, total, ""
