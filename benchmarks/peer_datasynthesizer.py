"""Time DataSynthesizer's structure search and sampling on a coded table; runs where
benchmarks/requirements.txt is installed.

python peer_datasynthesizer.py table.csv k network.json result.json [--whole | --genetic E]

Its search scores every candidate with a pandas group-by, the same work for each: by default a
random sample of its scores is timed and multiplied by their number, and its tables and sampling use
the network given. ``--whole`` runs the search itself (about five minutes at k = 2 on two free
cores). ``--genetic`` puts the plain genetic search of E generations in the place of the greedy one,
with pairwise information from the same library: like for like. Seconds are processor time, so that
a busy machine doesn't count.
"""

import itertools
import json
import math
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from DataSynthesizer import DataDescriber as describer_module
from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator
from DataSynthesizer.lib.utils import mutual_information
from plain_genetic import search as plain_search

SAMPLE = 30


def processor():
    """Processor seconds of this process and of the workers that have ended."""
    return sum(os.times()[:4])


def scores(d, k):
    """How many candidates a greedy search with min(k, placed) parents scores."""
    return sum((d - placed) * math.comb(placed, min(k, placed)) for placed in range(1, d))


def sampled(dataset, k, found):
    """Mean processor seconds of a score times their number."""
    names, rng = list(dataset.columns), random.Random(0)
    total = 0.0
    for _ in range(SAMPLE):
        child, *parents = rng.sample(names, k + 1)
        start = time.process_time()
        mutual_information(dataset[child], dataset[parents])
        total += time.process_time() - start
    found["scores"], found["score_seconds"] = scores(len(names), k), total / SAMPLE
    found["structure_seconds"] = found["scores"] * found["score_seconds"]


def genetic(dataset, k, generations):
    """A network as DataSynthesizer wants it: like its authors' own, the first k + 1 attributes are
    a complete graph, and every other one has a parent."""
    names = list(dataset.columns)
    information = pd.DataFrame(0.0, names, names)
    for a, b in itertools.combinations(names, 2):
        information.loc[a, b] = information.loc[b, a] = mutual_information(dataset[a], dataset[[b]])
    order, sets = plain_search(information, k, generations=generations)[1]
    pairs = []
    for i, j in enumerate(order[1:], 1):
        parents = order[:i] if i <= k else [a for a in sets[j] if a in order[:i]] or order[:1]
        pairs.append((names[j], [names[a] for a in parents]))
    return pairs


def main(table, k, network, out, whole, generations):
    names = list(pd.read_csv(table, nrows=1).columns)
    rows = len(pd.read_csv(table, usecols=[0]))
    found, greedy = {"whole": whole}, describer_module.greedy_bayes

    def search(dataset, degree, epsilon, seed=0):
        begun = processor()
        try:
            return found_by_search(dataset, degree, epsilon, seed)
        finally:
            found["search_seconds"] = processor() - begun

    def found_by_search(dataset, degree, epsilon, seed):
        if generations:
            return genetic(dataset.astype(str), degree, generations)
        if whole:
            start = time.perf_counter()
            result = greedy(dataset, degree, epsilon, seed=seed)
            found["structure_wall"] = time.perf_counter() - start
            return result
        sampled(dataset.astype(str), degree, found)
        return json.loads(Path(network).read_text())

    describer_module.greedy_bayes = search
    describer = DataDescriber(category_threshold=100)
    begun = processor()
    describer.describe_dataset_in_correlated_attribute_mode(
        dataset_file=table,
        epsilon=1,
        k=k,
        attribute_to_is_categorical=dict.fromkeys(names, True),
        attribute_to_is_candidate_key=dict.fromkeys(names, False),
    )
    # a sampled search counts with all its scores
    sampled_search = not (whole or generations)
    found["description_seconds"] = (
        processor()
        - begun
        + (found["structure_seconds"] - found["search_seconds"] if sampled_search else 0)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "description.json"
        describer.save_dataset_description_to_file(str(path))
        description = json.loads(path.read_text())
    start = time.process_time()
    DataGenerator.generate_encoded_dataset(rows, description)
    found["sampling_seconds"] = time.process_time() - start
    Path(out).write_text(json.dumps({"k": k, "rows": rows, "attributes": len(names), **found}))


if __name__ == "__main__":
    given = sys.argv[sys.argv.index("--genetic") + 1] if "--genetic" in sys.argv else 0
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5], "--whole" in sys.argv, int(given))
