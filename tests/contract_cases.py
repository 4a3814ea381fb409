"""Every algorithm and a few tiny tables, for the one contract that all of them keep."""

from __future__ import annotations

import json
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pandas as pd

from pdsynth import Attribute, HPPrivBayes, PrivBayes, Schema
from pdsynth.ledger import Ledger
from pdsynth.mechanisms import CommonNoise, ExactNoise

ALGORITHMS = {"PrivBayes": PrivBayes, "HPPrivBayes": HPPrivBayes}
GUARANTEES = ("strict", "published", "none")


def make(name: str, schema: Schema, **params):
    """An algorithm with what it can't do without; θ = 0 keeps d − k − l above zero whatever the table."""
    own = {"sensitive": schema.names[0], "theta": 0} if name == "HPPrivBayes" else {}
    return ALGORITHMS[name](**{**own, **params})


def binary(d: int = 4, n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, Schema]:
    """Yes/no columns, each leaning on the one before it."""
    rng = np.random.default_rng(seed)
    columns = [rng.random(n) < 0.4]
    for _ in range(d - 1):
        columns.append(np.where(rng.random(n) < 0.8, columns[-1], rng.random(n) < 0.5))
    names = [f"b{j}" for j in range(d)]
    schema = Schema(tuple(Attribute.categorical(name, ["no", "yes"]) for name in names))
    return pd.DataFrame({name: np.where(c, "yes", "no") for name, c in zip(names, columns, strict=True)}), schema


def mixed(n: int = 80, seed: int = 0) -> tuple[pd.DataFrame, Schema]:
    """Every kind of column without missing values."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 91, n)
    frame = pd.DataFrame(
        {
            "age": age,
            "wage": np.round(np.clip(age / 10 + rng.normal(0, 2, n), 0, 20), 2),
            "city": rng.choice(["Bern", "Oslo", "Rome"], n),
            "grade": pd.Categorical(rng.choice(["low", "high"], n), categories=["low", "mid", "high"], ordered=True),
            "colour": pd.Categorical(rng.choice(["red", "blue"], n), categories=["red", "green", "blue"]),
            "kids": rng.integers(0, 3, n).astype("int8"),
            "score": rng.integers(0, 2, n).astype("float64"),
            "member": rng.random(n) < 0.5,
        }
    )
    schema = Schema(
        (
            Attribute.numeric("age", 18, 90, bins=4, integer=True),
            Attribute.numeric("wage", 0, 20, bins=3),
            Attribute.categorical("city", ["Bern", "Oslo", "Rome"]),
            Attribute.categorical("grade", ["low", "mid", "high"]),
            Attribute.categorical("colour", ["red", "green", "blue"]),
            Attribute.categorical("kids", [0, 1, 2]),
            Attribute.categorical("score", [0, 1]),
            Attribute.categorical("member", [False, True]),
        )
    )
    return frame, schema


def gaps(n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, Schema]:
    """Columns with declared missing values; one of them holds nothing else."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "answer": rng.choice(["yes", "no", None], n),
            "hours": rng.choice([0.0, 7.0, 40.0, np.nan], n),
            "grade": rng.choice([1.0, 2.0, np.nan], n),
            "nothing": pd.Series([None] * n, dtype="str"),
        }
    )
    schema = Schema(
        (
            Attribute.categorical("answer", ["no", "yes"], missing=True),
            Attribute.numeric("hours", 0, 60, bins=3, integer=True, missing=True),
            Attribute.categorical("grade", [1, 2], missing=True),
            Attribute.categorical("nothing", ["a", "b"], missing=True),
        )
    )
    return frame, schema


TABLES = {"binary": binary, "mixed": mixed, "gaps": gaps}


@contextmanager
def spending(monkeypatch):
    """The list of everything that was drawn or charged while the block ran; empty when nothing was spent."""
    seen: list[str] = []

    def watch(owner, name):
        original = getattr(owner, name)

        def watched(self, *args, **kwargs):
            if name != "write" or args[0] == "mechanism":
                seen.append(f"{owner.__name__}.{name}")
            return original(self, *args, **kwargs)

        patch.setattr(owner, name, watched)

    with monkeypatch.context() as patch:
        for owner, names in ((ExactNoise, ("_words", "select", "discrete_laplace")), (CommonNoise, ("_draws", "select")),
                             (Ledger, ("write",))):  # fmt: skip
            for name in names:
                watch(owner, name)
        yield seen


def document(model) -> dict:
    """A model as it stands in its file."""
    return json.loads(json.dumps(model.to_dict()))


def total(ledger) -> Fraction:
    """Sum of the true costs, added here and not by the library."""
    return sum((e.sensitivity / e.scale if e.mechanism == "discrete_laplace" and not isinstance(e.scale, tuple) else e.epsilon
                for e in ledger.entries if e.kind == "mechanism"), Fraction(0))  # fmt: skip
