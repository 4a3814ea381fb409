"""Publish descriptions with DataSynthesizer, one per line of standard input.

Runs where benchmarks/requirements.txt is installed. Each line is ``{"rows": [[…], …], "epsilon": ε,
"seed": s}``; the answer is the part of the description that is made from records. The correlated
attribute mode runs as released, but for its process pool, which only saves time: a loop stands in.
"""

import contextlib
import io
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.lib import PrivBayes


class Loop:
    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return False

    map = staticmethod(lambda function, tasks: list(map(function, tasks)))


def description(rows, epsilon, seed, folder):
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
        "histograms": {
            name: list(map(float, described["distribution_probabilities"]))
            for name, described in found["attribute_description"].items()
        },
        "network": found["bayesian_network"],
        "tables": found["conditional_probabilities"],
    }


def main():
    PrivBayes.Pool = Loop
    print(json.dumps({"version": version("DataSynthesizer")}), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            asked = json.loads(line)
            answer = description(asked["rows"], asked["epsilon"], asked["seed"], Path(folder))
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
