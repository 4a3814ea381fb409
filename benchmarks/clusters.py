"""How much noise HMPrivBayes' clusters and risk entropies bear, on Adult and Big5.

    python benchmarks/clusters.py [--risks 12] [--clusters 0] [--table adult big5]

Writes CLUSTERS.md and prints it: risk entropies over so many seeds, and clusters over so many, 0
for none. Both steps are the library's own, with its shares of ε. Clusters are held against those
without noise, by the adjusted Rand index (1: the same, 0: chance); seed i makes the noise.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import pdsynth as pds  # noqa: E402
from pdsynth.algorithms import hmprivbayes as hm  # noqa: E402
from pdsynth.algorithms.personal import bit_entropies  # noqa: E402
from pdsynth.core.curator import Curator  # noqa: E402
from pdsynth.core.ledger import Ledger  # noqa: E402
from pdsynth.core.noise import ExactNoise, Noise  # noqa: E402
from pdsynth.core.records import Records  # noqa: E402
from pdsynth.core.views import BinaryEncoding  # noqa: E402
from pdsynth.evaluation.protection import bit_risks  # noqa: E402
from pdsynth.papers.results import markdown  # noqa: E402

TABLES = {"adult": pds.datasets.load_adult, "big5": pds.datasets.load_big5}
RATIOS = 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0  # noise to signal, see noise_to_signal
EPSILONS = "0.05", "0.1", "0.2", "0.4", "0.8", "1"
MUCH = 10**6  # ε whose noise changes nothing
PART = hm.HMPrivBayes().share_sketch  # of ε, for the sketch, and as much for single columns


def cluster(records: Records, epsilon: Fraction, noise: Noise) -> hm.Clustering:
    """The library's clusters for ε, however noisy they are."""
    encoding, curator = BinaryEncoding(records.schema), Curator(records, Ledger(epsilon), noise)
    shares = dict.fromkeys(("share_histograms", "share_sketch"), epsilon * hm.as_fraction(PART))
    with mock.patch.object(hm, "NOISE_DOMINATES", math.inf):
        return hm.AttributeClusters(hm.HMPrivBayes(epsilon)).cluster(curator, encoding, shares)


def labels(plan: hm.Clustering, bits: int) -> np.ndarray:
    """The number of each bit's cluster."""
    found = np.zeros(bits, dtype=int)
    for number, members in enumerate(plan.clusters):
        found[list(members)] = number
    return found


def measure_clusters(name: str, records: Records, seeds: int) -> Iterator[dict]:
    """One row per ratio of noise to signal and seed."""
    encoding = BinaryEncoding(records.schema)
    bits, d = len(encoding.schema), len(records.schema)
    first = [encoding.bits(attribute)[0] for attribute in records.schema.names]
    true = labels(cluster(records, Fraction(MUCH), ExactNoise(0)), bits)[first]
    at_one = hm.noise_to_signal(records.n, d, hm.as_fraction(PART))
    for ratio in RATIOS:
        epsilon = Fraction(at_one / ratio).limit_denominator(10_000)
        for seed in range(seeds):
            found = labels(cluster(records, epsilon, ExactNoise(seed)), bits)[first]
            rand = adjusted_rand_score(true, found)
            yield {"table": name, "ratio": ratio, "epsilon": float(epsilon), "rand": rand}


def measure_risks(name: str, records: Records, seeds: int) -> Iterator[dict]:
    """One row per ε and seed: the mean error of risk entropies, and that of the best constant."""
    exact = bit_risks(records, BinaryEncoding(records.schema))
    values = np.array([*exact.values()])
    constant = np.abs(values - np.median(values)).mean()
    for epsilon in EPSILONS:
        for seed in range(seeds):
            curator = Curator(records, Ledger(Fraction(epsilon)), ExactNoise(seed))
            released = curator.columns(Fraction(epsilon) * hm.as_fraction(PART))
            columns = hm.columns_over_bits(released, BinaryEncoding(records.schema))
            found = bit_entropies(columns, records.schema, records.n)
            error = np.mean([abs(found[bit] - exact[bit]) for bit in exact])
            yield {"table": name, "epsilon": epsilon, "error": error, "constant": constant}


def means(rows: pd.DataFrame, by: list[str], value: str, seeds: int) -> pd.Series:
    """Mean ± half of the 95 % interval, as text."""
    grouped = rows.groupby(by, sort=False)[value]
    half = 2 * grouped.std() / math.sqrt(seeds)
    return grouped.mean().map("{:.3f}".format) + " ± " + half.map("{:.3f}".format)


def page(clusters: pd.DataFrame, risks: pd.DataFrame, asked: argparse.Namespace) -> str:
    """The whole page."""
    text = f"""# How much noise HMPrivBayes' risk entropies and clusters bear

`python benchmarks/clusters.py --risks {asked.risks} --clusters {asked.clusters}`, {date.today().isoformat()}. Strict, the library's shares: {PART:g} of ε
for single columns, {PART:g} for the residuals of all pairs. ε is that of a whole fit.
"""
    if len(risks):
        found = means(risks, ["table", "epsilon", "constant"], "error", asked.risks)
        lines = [[t, e, words, f"{c:.3f}"] for (t, e, c), words in found.items()]
        text += (
            f"\nMean error of the released risk entropies of bits ({asked.risks} seeds, mean and 95 % interval), beside that of "
            "the best\nconstant, which no private method knows:\n\n"
            + markdown(["table", "ε", "error", "of the best constant"], lines)
        )
    if len(clusters):
        found = means(clusters, ["table", "ratio", "epsilon"], "rand", asked.clusters)
        lines = [[t, f"{r:g}", f"{e:.3g}", words] for (t, r, e), words in found.items()]
        text += (
            "\nClusters of attributes (k = 3) against those without noise, by the adjusted Rand index: 1 the same, 0 chance "
            f"({asked.clusters} seeds).\nThe ratio is `noise_to_signal`, which is public; above {hm.NOISE_DOMINATES:g} "
            "HMPrivBayes warns and takes one cluster.\n\n"
            + markdown(["table", "noise to signal", "ε", "adjusted Rand index"], lines)
        )
    return text


def main(words: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--risks", type=int, default=12, help="seeds of risk entropies")
    parser.add_argument("--clusters", type=int, default=0, help="seeds of clusters")
    parser.add_argument("--table", nargs="+", choices=TABLES, default=list(TABLES))
    asked = parser.parse_args(words)
    clusters, risks = list[dict](), list[dict]()
    for name in asked.table:
        data = TABLES[name]()
        records = Records(data.schema.encode(data.frame), data.schema)
        risks += measure_risks(name, records, asked.risks)
        clusters += measure_clusters(name, records, asked.clusters) if asked.clusters else []
    text = page(pd.DataFrame(clusters), pd.DataFrame(risks), asked)
    if asked.table == list(TABLES):
        (HERE / "CLUSTERS.md").write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
