"""Publish descriptions with DataSynthesizer, one per line of standard input.

Runs where benchmarks/requirements.txt is installed. Each line is ``{"rows": [[…], …], "epsilon": ε,
"seed": s}``; the answer is the part of the description that is made from records. With ``"sample":
n`` the answer has n synthetic rows, too. The correlated attribute mode runs as released, but for
what only saves time: a loop stands in for its process pool, and mutual information is counted on
whole numbers, not on texts that are sorted anew for every candidate.
"""

import contextlib
import io
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator
from DataSynthesizer.lib import PrivBayes
from sklearn.metrics import mutual_info_score


class Loop:
    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return False

    map = staticmethod(lambda function, tasks: list(map(function, tasks)))


def information(child, parents):
    """Its mutual information of a column and a DataFrame, in nats."""
    x, y = pd.factorize(child)[0], 0
    for name in parents:
        codes = pd.factorize(parents[name])[0]
        y = y * (codes.max() + 1) + codes
    table = np.bincount(x * (y.max() + 1) + y, minlength=(x.max() + 1) * (y.max() + 1))
    return mutual_info_score(None, None, contingency=table.reshape(x.max() + 1, -1))


def description(rows, epsilon, seed, folder, sample=0):
    names = [f"x{j}" for j in range(len(rows[0]))]
    pd.DataFrame(rows, columns=names).to_csv(folder / "table.csv", index=False)
    describer = DataDescriber()
    with contextlib.redirect_stdout(io.StringIO()):
        describer.describe_dataset_in_correlated_attribute_mode(
            str(folder / "table.csv"),
            k=1,
            epsilon=epsilon,
            seed=seed,
            attribute_to_is_categorical=dict.fromkeys(names, True),
            attribute_to_is_candidate_key=dict.fromkeys(names, False),
        )
    found = describer.data_description
    return {
        **({"sample": synthetic(found, names, sample)} if sample else {}),
        "histograms": {
            name: list(map(float, described["distribution_probabilities"]))
            for name, described in found["attribute_description"].items()
        },
        "network": found["bayesian_network"],
        "tables": found["conditional_probabilities"],
    }


def synthetic(found, names, n):
    """Rows of whole numbers, drawn by its generator, which goes on with its random numbers."""
    drawn = DataGenerator.generate_encoded_dataset(n, found)
    bins = {
        name: np.array(found["attribute_description"][name]["distribution_bins"]) for name in names
    }
    columns = [bins[name][drawn[name].to_numpy()].astype(int) for name in names]
    return np.column_stack(columns).tolist()


def main():
    PrivBayes.Pool, PrivBayes.mutual_information = Loop, information
    print(json.dumps({"version": version("DataSynthesizer")}), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            asked = json.loads(line)
            answer = description(**asked, folder=Path(folder))
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
