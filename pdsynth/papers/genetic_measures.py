"""The GA paper's tables, its synthesizers, and what is measured on one fit."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..algorithms import GeneticBayes, PrivBayes
from ..baselines import MOST_EXACT as MOST
from ..baselines import Parameters, exact_search, genetic_search, hill
from ..core import Attribute, Schema
from ..datasets.adult import load_adult
from ..datasets.loaders import FRAUD_ROWS, load_cmc, load_credit_default, load_credit_fraud
from ..datasets.tables import Dataset
from ..evaluation.classifiers import design, five_classifiers
from ..evaluation.disclosure import disclosure_risk
from ..evaluation.utility import split_mask
from . import genetic_peer
from .engine import find
from .genetic_tables import CELLS
from .grids import NO_NOISE, Curve

DROPPED = {"adult": ("fnlwgt", "education")}  # the authors' adult_complete.csv has the other 13
SENSITIVE = {"adult": "relationship", "cmc": "husband_education"}
PEERS = ("DataSynthesizer", "plain GA")  # run in a Python of their own
SCENARIOS = {  # Table VIII: quasi-identifiers, key length
    "cmc": (("wife_age", "wife_education", "children", "wife_religion", "wife_working"), 4),
    "adult": (("age", "workclass", "occupation", "race", "sex"), 5),
}


# --- tables and synthesizers ----------------------------------------------------------------------


def table(name: str, settings: Any, data: Dataset | None = None) -> Dataset:
    """The table of an experiment: ``adult`` (13 columns), ``cmc`` or ``credit``, in 20 bins.

    ``credit``: the user's own creditcard.csv where it is whole, else the 30,000 defaults that stand
    in for it.
    """
    if data is not None:
        return data
    if name == "credit":
        try:
            own = load_credit_fraud()
        except FileNotFoundError:
            return load_credit_default()
        return own if len(own.frame) == FRAUD_ROWS else load_credit_default()
    whole = load_adult() if name == "adult" else load_cmc()
    frame = whole.frame.drop(columns=list(DROPPED.get(name, ())))
    schema = rebin(whole.schema.select(list(frame.columns)), settings.bins)
    return replace(whole, frame=frame, schema=schema, name=name, sensitive=SENSITIVE[name])


def rebin(schema: Schema, bins: float) -> Schema:
    """The same public ranges in at most so many equal bins.

    ``bins`` infinite: every whole number for itself, where they are few.
    """

    def rebin_one(a: Attribute) -> Attribute:
        if a.edges is None or not a.integer:
            return a
        low, high = a.edges[0], a.edges[-1]
        number = min(bins, high - low + 1)
        if number > 1000:
            return a
        return Attribute.numeric(
            a.name, low, high, bins=int(number), integer=True, missing=a.missing, spread=a.spread
        )

    return replace(schema, attributes=tuple(map(rebin_one, schema.attributes)))


def synthesizer(this: Curve, dataset: Dataset, settings: Any) -> Any:
    """The unfitted synthesizer of a curve; ε and the seed come from the trial."""
    shared = this.keywords | {"k": this.degree}
    if this.method == "DS":
        return PrivBayes(**shared)
    if this.method == "DSc":
        shared |= {"target": dataset.target, "sensitive": dataset.sensitive}
    return GeneticBayes(
        population=settings.population,
        elite=settings.elite,
        generations=generations(dataset, settings),
        **shared,
    )


def generations(dataset: Dataset, settings: Any) -> int:
    """How many generations on a table."""
    credit = dataset.name.startswith("credit")
    return int(settings.credit_generations if credit else settings.generations)


# --- what is measured -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One fit, what is measured on it, and the digest of everything that decides the numbers."""

    kind: str
    curve: Curve
    epsilon: float
    repeat: int
    key: str

    @property
    def seed(self) -> int:
        """Seed of the fit and of its sample."""
        return int(self.key[:8], 16)


def synthesize(trial: Trial, dataset: Dataset, settings: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """A synthetic table as long as ``frame``, or ``frame`` itself.

    **Privacy:** as the curve says; without noise, none.
    """
    if trial.curve.method == "original":
        return frame
    algorithm = synthesizer(trial.curve, dataset, settings).set_params(random_state=trial.seed)
    if trial.epsilon != NO_NOISE:
        algorithm.set_params(epsilon=trial.epsilon)
    return algorithm.fit(frame, schema=dataset.schema).sample(method="independent")


def training(dataset: Dataset, repeat: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows: the public split, or 80/20 at random, the same for all methods."""
    if dataset.split is not None:
        return dataset.train, dataset.test
    tested = split_mask(len(dataset.frame), 1 / 5, [find("genetic").seed, repeat])
    return dataset.frame[~tested], dataset.frame[tested]


def all_rows(dataset: Dataset) -> pd.DataFrame:
    """The rows of an experiment that holds none back: the public training rows, or all."""
    return dataset.frame if dataset.split is None else dataset.train


def utility(trial: Trial, dataset: Dataset, settings: Any) -> dict[str, float]:
    """Accuracy of the five classifiers and its mean; for two classes F2 and confusion matrices.

    **Privacy:** an experiment on raw records.
    """
    train, test = training(dataset, trial.repeat)
    fake = synthesize(trial, dataset, settings, train)
    scores = five_classifiers(
        fake,
        test,
        dataset.schema,
        dataset.target,
        encoding=settings.encoding,
        seed=trial.seed % 2**31,
    )
    rows = list(scores.itertuples())
    out = {row.classifier: float(row.accuracy) for row in rows}
    out |= {"Avg": float(scores["accuracy"].mean()), "majority": float(scores["majority"].iloc[0])}
    if dataset.schema[dataset.target].size == 2:
        out |= {f"F2 {row.classifier}": float(row.f2) for row in rows}
        out |= {"F2 Avg": float(scores["f2"].mean())}
        out |= {
            f"{row.classifier} {name}": float(count)
            for row in rows
            for name, count in zip(CELLS, row.confusion.ravel(), strict=True)
        }
    return out


def scenario(dataset: Dataset) -> tuple[tuple[str, ...], int]:
    """Quasi-identifiers and key length of Table VIII; on another table its first attributes."""
    if dataset.name in SCENARIOS:
        return SCENARIOS[dataset.name]
    aims = (dataset.target, dataset.sensitive)
    others = tuple(n for n in dataset.schema.names if n not in aims)[:5]
    return others, max(len(others) - 1, 1)


def disclosure(trial: Trial, dataset: Dataset, settings: Any) -> dict[str, float]:
    """Accuracy of the six attackers, mean over all keys; the zero rule; GCAP's mean share.

    **Privacy:** an experiment on raw records.
    """
    real, (keys, length) = all_rows(dataset), scenario(dataset)
    fake = synthesize(trial, dataset, settings, real)
    schema = rebin(dataset.schema, math.inf)  # attackers see whole numbers, not a model's bins
    scores = disclosure_risk(
        real,
        fake,
        schema,
        keys,
        dataset.sensitive,
        length,
        encoding=settings.encoding,
        seed=trial.seed % 2**31,
    )
    by_attacker = scores.groupby("attacker", sort=False)["accuracy"]
    mean, spread = by_attacker.mean(), by_attacker.std(ddof=0)
    out = {str(name): float(value) for name, value in mean.items()} | {"Avg": float(mean.mean())}
    out["zero rule"] = float(scores["zero_rule"].iloc[0])
    out["GCAP share"] = float(scores["score"].mean())
    if length < len(keys):
        out |= {f"{name} over keys": float(value) for name, value in spread.items()}
    return out


def correlations(trial: Trial, dataset: Dataset, settings: Any) -> dict[str, float]:
    """Pearson's r of every pair of attributes, texts as their alphabetical rank.

    **Privacy:** an experiment on raw records.
    """
    fake, names = synthesize(trial, dataset, settings, all_rows(dataset)), dataset.schema.names
    numbers, _ = design(fake, fake, dataset.schema, names)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.nan_to_num(np.corrcoef(numbers, rowvar=False))
    return {
        f"{names[i]} × {names[j]}": float(r[i, j])
        for i, j in zip(*np.triu_indices(len(names), 1), strict=True)
    }


def runtime(trial: Trial, dataset: Dataset, settings: Any) -> dict[str, float]:
    """Processor seconds of description and generation.

    **Privacy:** an experiment on raw records.
    """
    train, _ = training(dataset, trial.repeat)
    if trial.curve.method in PEERS:
        greedy = synthesizer(replace(trial.curve, method="DS"), dataset, settings)
        network = greedy.set_params(random_state=0).fit(train, schema=dataset.schema).network_
        k, minutes = int(trial.curve.k), settings.minutes
        searched = generations(dataset, settings) if trial.curve.method == "plain GA" else 0
        return genetic_peer.seconds(train, dataset.schema, network, k, minutes, searched)
    algorithm = synthesizer(trial.curve, dataset, settings).set_params(random_state=trial.seed)
    started = time.process_time()
    algorithm.fit(train, schema=dataset.schema)
    described = time.process_time()
    algorithm.sample(method="independent")
    return {"description, s": described - started, "generation, s": time.process_time() - described}


def share(trial: Trial, dataset: Dataset, settings: Any) -> dict[str, float]:
    """How much of the best sum of pairwise information the genetic search reaches.

    **Privacy:** an experiment on raw records.
    """
    train, _ = training(dataset, 0)
    quick = synthesizer(replace(trial.curve, method="GA"), dataset, settings)
    quick.set_params(generations=1, random_state=0).fit(train, schema=dataset.schema)
    weights, k, rng = quick.weights_, int(trial.curve.k), np.random.default_rng
    size = generations(dataset, settings)
    parameters = Parameters(settings.population, settings.elite, None, size)
    result = genetic_search(weights, k, rng(trial.seed), parameters)
    small = len(weights) <= MOST
    best = exact_search(weights, k) if small else hill(weights, k, rng(0))
    return {"share of the optimum": result.fitness / best.fitness}


MEASURE: Mapping[str, Callable[[Trial, Dataset, Any], dict[str, float]]] = {
    "utility": utility,
    "disclosure": disclosure,
    "correlations": correlations,
    "runtime": runtime,
    "share": share,
}
