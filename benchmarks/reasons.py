"""Small experiments behind reasons that the pages of figures/ give: what a sentence of its column
"why" rests on.

python benchmarks/reasons.py [sketch] [f2] [affinity] [first] [tolerance] [clusters] [--repeats N]

Rewrites the rows of those experiments (all if none is named) in reasons.csv: mean, standard
deviation and number of repeats. The noise of repeat i comes from seed i, and where rows are split,
so does the split. ``sketch`` and ``f2`` need UCI's credit card defaults in $PDSYNTH_DATA; ``f2``
takes some minutes, the others a minute each.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pdsynth as pds  # noqa: E402
from pdsynth.core.network import Restriction  # noqa: E402
from pdsynth.core.records import Records  # noqa: E402
from pdsynth.core.views import BinaryEncoding  # noqa: E402
from pdsynth.datasets.adult import load_adult  # noqa: E402
from pdsynth.datasets.loaders import DEFAULT_TARGET  # noqa: E402
from pdsynth.evaluation.classifiers import five_classifiers  # noqa: E402
from pdsynth.evaluation.marginals import marginal_distance, marginal_distances  # noqa: E402
from pdsynth.papers import genetic, hmprivbayes, hpprivbayes  # noqa: E402

FILE = HERE / "reasons.csv"
searching = import_module("pdsynth.algorithms.genetic")
clustering = import_module("pdsynth.algorithms.hmprivbayes")
COLUMNS = ("reason", "what", "epsilon", "measure")
Row = tuple[str, float, str, float]  # what, ε, measure, value


def fitted(synthesizer: Any, records: Records, seed: int) -> tuple[Any, np.ndarray]:
    """A fit and the codes of a table as long; simulation noise, since nothing here is released."""
    synthesizer.set_params(noise="common", random_state=seed).fit(records)
    return synthesizer, synthesizer.model_.sample_codes(records.n, np.random.default_rng([seed, 1]))


def credit(
    repeat: int, epsilons: Sequence[float]
) -> Iterator[tuple[str, float, Any, Records, np.ndarray, pd.DataFrame]]:
    """Strict fits on the defaults: what, ε, the synthesizer, its records, the codes of its table,
    the test rows."""
    data = genetic.table("credit", genetic.PAPER.settings())
    train, test = genetic.training(data, repeat)
    records = Records(data.schema.encode(train), data.schema)
    edge = Restriction(forced=(("PAY_0", data.target),))
    for epsilon in epsilons:
        rivals: dict[str, tuple[Any, float]] = {
            "GeneticBayes": (pds.GeneticBayes(epsilon), searching.STRONG),
            "GeneticBayes, whatever the noise of its sketch": (pds.GeneticBayes(epsilon), math.inf),
            "GeneticBayes, PAY_0 → target by policy": (
                pds.GeneticBayes(epsilon, restriction=edge),
                searching.STRONG,
            ),
            "PrivBayes": (pds.PrivBayes(epsilon), searching.STRONG),
        }
        for what, (synthesizer, strong) in rivals.items():
            with patch.object(searching, "STRONG", strong):
                made, codes = fitted(synthesizer, records, repeat)
            yield what, epsilon, made, records, codes, test


def sketch(repeats: int = 10) -> Iterator[Row]:
    """Table VII: why strict GeneticBayes with k = "auto" learns no network of the credit card
    defaults at ε = 1, and what that is worth."""
    for repeat in range(repeats):
        for what, epsilon, made, records, codes, _ in credit(repeat, (1.0, 2.0, 3.0)):
            edges = made.network_.edges
            yield what, epsilon, "edges", float(len(edges))
            yield (
                what,
                epsilon,
                "share of fits with an edge at the target",
                float(any(DEFAULT_TARGET in e for e in edges)),
            )
            yield (
                what,
                epsilon,
                "2-way distance",
                marginal_distance(records, codes, records.schema, 2),
            )


def f2(repeats: int = 5) -> Iterator[Row]:
    """Table VII: F2 of the fits of ``sketch`` at ε = 1, from 6,000 synthetic rows: a support vector
    machine on 24,000 takes a minute."""
    for repeat in range(repeats):
        for what, epsilon, made, _, _, test in credit(repeat, (1.0,)):
            found = five_classifiers(
                made.sample(6_000),
                test,
                made.schema_,
                DEFAULT_TARGET,
                encoding="label",
                seed=repeat,
            )
            yield what, epsilon, "F2, mean of five classifiers", float(found["f2"].mean())


def affinity(repeats: int = 20) -> Iterator[Row]:
    """HMPrivBayes' figure 5: its printed affinity, which takes similarities for distances, and the
    other reading."""
    data = load_adult(complete=True)
    records = Records(data.schema.encode(data.frame), data.schema)
    for repeat in range(repeats):
        for reading in ("printed", "similarity"):
            for epsilon in (*hmprivbayes.PAPER.settings().epsilons, math.inf):
                kind: dict[str, Any] = (
                    {"guarantee": "none"}
                    if epsilon == math.inf
                    else {"guarantee": "published", "epsilon": epsilon}
                )
                _, codes = fitted(pds.HMPrivBayes(affinity=reading, **kind), records, repeat)
                yield (
                    reading,
                    epsilon,
                    "2-way distance",
                    marginal_distance(records, codes, data.schema, 2),
                )


def first(repeats: int = 20) -> Iterator[Row]:
    """HPPrivBayes' figure 5: what k = 4 does to the first five attributes, four of which PrivBayes
    derives from one table."""
    data, s = load_adult(coding="thesis"), hpprivbayes.PAPER.settings()
    records, k, epsilon = (
        Records(data.schema.encode(data.frame), data.schema),
        int(s.k),
        s.epsilons[-1],
    )
    d, shared = len(data.schema), {"k": k, "guarantee": "published"}
    for repeat in range(repeats):
        greedy, codes = fitted(
            pds.PrivBayes(epsilon, share_structure=s.beta, **shared), records, repeat
        )
        # the same network and the same noise, with tables of their own for the first k attributes:
        # d tables at the price of d − k
        whole = pds.Synthesizer(
            epsilon * (1 - s.beta) * d / (d - k), structure=greedy.network_, guarantee="published"
        )
        ours = pds.HPPrivBayes(
            epsilon,
            sensitive=data.sensitive,
            theta=s.theta,
            r=1 / 3,
            share_structure=s.L1,
            **shared,
        )
        for what, (model, made) in {
            "PrivBayes": (greedy, codes),
            "PrivBayes, first tables measured and unpaid": fitted(whole, records, repeat),
            "HPPrivBayes": fitted(ours, records, repeat),
        }.items():
            one = marginal_distances(records, made, data.schema, 1)
            one.index = [name for (name,) in one.index]
            order = model.network_.order
            yield (
                what,
                epsilon,
                "1-way distance, first five attributes",
                float(one[list(order[: k + 1])].mean()),
            )
            yield (
                what,
                epsilon,
                "1-way distance, the others",
                float(one[list(order[k + 1 :])].mean()),
            )
            yield what, epsilon, "2-way distance", marginal_distance(records, made, data.schema, 2)


def tolerance(repeats: int = 5) -> Iterator[Row]:
    """ConsistentBayes: a fit of its tables nearer to the least loss than its default asks."""
    tables = {
        "Adult, thesis coding": pds.datasets.load_adult(coding="thesis"),
        "NLTCS": pds.datasets.load_nltcs(),
        "CMC": pds.datasets.load_cmc(),
        "credit default": pds.datasets.load_credit_default(),
    }
    for name, data in tables.items():
        records = Records(data.schema.encode(data.frame), data.schema)
        for epsilon in (0.2, 1.0):
            for part in (0.01, 0.002, 0.0002):
                agree = pds.parts.Agree(tolerance=part)
                for repeat in range(repeats):
                    ours = pds.ConsistentBayes(epsilon, reconcile=agree)
                    _, codes = fitted(ours, records, repeat)
                    distance = marginal_distance(records, codes, data.schema, 2)
                    yield f"{name}, tolerance {part:g}", epsilon, "2-way distance", distance


def clusters(repeats: int = 1) -> Iterator[Row]:
    """HMPrivBayes' figure 5: where k-means++ ends without noise, from 10 starts as it is and from
    500. Clusters are a function of the table, so one run says all but the sampling of rows."""
    data = load_adult(complete=True)
    records = Records(data.schema.encode(data.frame), data.schema)
    printed, _ = fitted(pds.HMPrivBayes(guarantee="none"), records, 0)
    place = {bit: c for c, members in enumerate(printed.clusters_) for bit in members}
    rows = clustering.embedding(clustering.affinity(printed.similarity_, 1.0, "printed"), 3)
    for starts in (10, 500):
        found = KMeans(3, init="k-means++", n_init=starts, random_state=0).fit(rows)
        yield f"{starts} starts", math.inf, "inertia", float(found.inertia_)
        parts = clustering.in_order([np.flatnonzero(found.labels_ == c).tolist() for c in range(3)])
        if starts == 10:
            bits = BinaryEncoding(data.schema).schema.names
            labels = [[place[bits[j]] for j in part] for part in parts]
            assert all(len({*part}) == 1 for part in labels), "10 starts are those of the fit"
        for repeat in range(repeats):
            with patch.object(clustering, "spectral_clusters", lambda *_, p=parts, **__: p):
                _, codes = fitted(pds.HMPrivBayes(guarantee="none"), records, repeat)
            distance = marginal_distance(records, codes, data.schema, 2)
            yield f"{starts} starts", math.inf, "2-way distance", distance


REASONS: dict[str, Callable[..., Iterator[Row]]] = {
    "sketch": sketch,
    "f2": f2,
    "affinity": affinity,
    "first": first,
    "tolerance": tolerance,
    "clusters": clusters,
}


def main() -> None:
    """Read the command line, run, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("reasons", nargs="*", choices=(*REASONS, []), help="all if none is named")
    parser.add_argument("--repeats", type=int, help="default: what the committed rows have")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the notes on noise that a reason is about
    named = options.reasons or list(REASONS)
    given = {} if options.repeats is None else {"repeats": options.repeats}
    rows = [(name, *row) for name in named for row in REASONS[name](**given)]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "value"])
    found = (
        frame.groupby(list(COLUMNS), sort=False)["value"]
        .agg(["mean", "std", "count"])
        .reset_index()
    )
    found.columns = [*COLUMNS, "mean", "sd", "repeats"]
    old = pd.read_csv(FILE) if FILE.exists() else found.head(0)
    both = pd.concat([part for part in (old[~old["reason"].isin(named)], found) if len(part)])
    both = both.sort_values("reason", key=lambda c: c.map(list(REASONS).index), kind="stable")
    both.to_csv(FILE, index=False, lineterminator="\n", float_format="%.5g")
    sys.stdout.write(found.to_string(index=False) + "\n")


if __name__ == "__main__":
    main()
