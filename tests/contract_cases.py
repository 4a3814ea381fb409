"""Every algorithm and a few tiny tables, for the one contract that all of them keep.

A new algorithm is a new line of ``CASES``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from pdsynth import (
    PPBA,
    Attribute,
    ConsistentBayes,
    GeneticBayes,
    HMPrivBayes,
    HPPrivBayes,
    Network,
    PrivABN,
    PrivBayes,
    Schema,
    Synthesizer,
    baselines,
)
from pdsynth.algorithms import parts
from pdsynth.baselines.priview import PriView
from pdsynth.baselines.relatives import Independent, JTree, PrivSCBN
from pdsynth.core.ledger import Ledger
from pdsynth.core.network import Restriction
from pdsynth.core.noise import ExactNoise
from pdsynth.core.rules import COUNTING
from pdsynth.published import ConditionalNoise
from pdsynth.published.noise import CommonNoise

GUARANTEES = ("strict", "published", "none")


@dataclass(frozen=True)
class Case:
    """What the contract suite must know of one algorithm; everything else is the same for all.

    ``degree``: the keyword that bounds the number of parents, ``degrees``: what it accepts among 0,
    1, 2 and "auto" (another one is left at its default). ``sound``: the published reading keeps its
    claim. ``selects``: it draws by an exponential mechanism. ``counts``: without noise its tables
    are the raw joint counts. ``bits``: it fits every table through its bits. ``agree``: how far
    strict at ε = 10⁶ may be from no noise, ``near``: how far from the real table, both in average
    distance; ``falls``: how many times the error shrinks from ε = 0.02 to ε = 40; ``trend``: the
    rank correlation of the two at most; ``ways``: marginals of how many attributes. ``bad``: own
    parameters that are refused, and words of the message.
    """

    cls: type[Synthesizer]
    own: Callable[[Schema], dict[str, Any]] = lambda schema: {}
    degree: str = "k"
    degrees: tuple[int | str, ...] = (0, 1, 2, "auto")
    sound: bool = False
    selects: bool = True
    counts: bool = True
    bits: bool = False
    agree: float = 0.01
    near: float = 0.1
    falls: float = 3
    trend: float = -0.9
    ways: int = 2
    bad: Mapping[str, tuple[dict[str, Any], str]] = field(default_factory=dict)


CASES = {
    "PrivBayes": Case(
        PrivBayes,
        sound=True,  # as TODS prints it
        bad={
            "beta zero": ({"share_structure": 0}, r"share_structure.*got 0"),
            "beta one": (
                {"share_structure": 1},
                r"share_structure must lie between 0 and 1, got 1",
            ),
            "score": ({"score": "MIC"}, r"score.*got 'MIC'"),
            "score F": ({"score": "F"}, r"'F' needs.*two-valued.*score='R'"),
            "reading": ({"reading": "mine"}, r"reading.*'mine'"),
            "thesis reading under strict": ({"reading": "thesis"}, r"guarantee='published'"),
        },
    ),
    "HMPrivBayes": Case(
        HMPrivBayes,
        falls=2,  # its noise is small already at ε = 0.02: small tables have zero-sum noise
        own=lambda schema: {
            "clusters": halves(schema),
            "eta": 0,
        },  # small tables are too noisy for private clusters
        degree="l",
        degrees=(1, 2),
        near=0.25,  # what ties attributes of different clusters is lost
        bad={
            "k > d": ({"k": 9, "clusters": None}, r"k must be.*from 1 to d = 8.*got 9"),
            "k > bits": (
                {"k": 15, "clusters": None, "guarantee": "published"},
                r"from 1 to d = 14 bits, got 15",
            ),
            "k zero": ({"k": 0, "clusters": None}, r"k must be.*got 0"),
            "k a word": ({"k": "auto", "clusters": None}, r"k must be.*got 'auto'"),
            "l zero": ({"l": 0}, r"l must be.*from 1 to 12, got 0"),
            "l a float": ({"l": 2.0}, r"l must be.*got 2.0"),
            "l enormous": ({"l": 40}, r"l must be.*from 1 to 12, got 40"),
            "η one": ({"eta": 1}, r"eta must lie in \[0, 1\), got 1"),
            "η negative": ({"eta": -0.1}, r"eta.*-0.1"),
            "σ zero": ({"sigma": 0}, r"sigma.*got 0"),
            "affinity": ({"affinity": "near"}, r"affinity must be one of.*'near'"),
            "no share of histograms": ({"share_histograms": 0}, r"share_histograms.*got 0"),
            "shares that add up to 1": (
                {"share_histograms": 0.5, "share_sketch": 0.25, "share_structure": 0.25},
                r"0.5 \+ 0.25 \+ 0.25 leaves nothing",
            ),
            "a stranger in a cluster": ({"clusters": [["job"]]}, r"no attribute 'job'"),
            "clusters that overlap": (
                {
                    "clusters": [
                        ["age", "wage", "city", "grade"],
                        ["age", "colour", "kids", "score", "member"],
                    ]
                },
                r"exactly once; see age",
            ),
            "clusters that miss one": (
                {"clusters": [["age", "wage", "city", "grade", "colour", "kids", "score"]]},
                r"once; see member",
            ),
            "an empty cluster": ({"clusters": [[]]}, r"none of them empty"),
            "clusters a word": ({"clusters": "age"}, r"lists of attribute names.*'age'"),
        },
    ),
    "HPPrivBayes": Case(
        HPPrivBayes,
        own=lambda schema: {
            "sensitive": schema.names[0],
            "theta": 0,
        },  # θ = 0 keeps d − k − l above zero whatever the table
        bad={
            "no sensitive attribute": (
                {"sensitive": None},
                r"name the sensitive attribute.*age, wage",
            ),
            "sensitive attribute that isn't there": (
                {"sensitive": "job"},
                r"no attribute 'job'.*age, wage",
            ),
            "θ negative": ({"theta": -0.1}, r"theta.*-0.1"),
            "θ a word": ({"theta": "x"}, r"theta.*'x'"),
            "r zero": ({"r": 0}, r"r must be.*got 0"),
            "r infinite": ({"r": math.inf}, r"r must be.*inf"),
            "shares that add up to 1": (
                {"share_sketch": 0.5, "share_structure": 0.5},
                r"share_sketch \+ share_structure = 0.15 \+ 0.5 \+ 0.5 leaves nothing",
            ),
            "v_min zero": ({"personal": parts.SensitivityGroups(v_min=0)}, r"v_min.*got 0"),
            "v_min a word": ({"personal": parts.SensitivityGroups(v_min="half")}, r"v_min.*'half'"),
            "rare_values": (
                {"personal": parts.SensitivityGroups(rare_values="up")},
                r"less_noise.*got 'up'",
            ),
            "group of strangers": (
                {"personal": parts.SensitivityGroups(groups={"A": ["job"]})},
                r"no attribute 'job'",
            ),
            "group twice": (
                {"personal": parts.SensitivityGroups(groups={"A": ["age"], "B": ["age"]})},
                r"once.*'A' or 'B'",
            ),
            "group C": (
                {"personal": parts.SensitivityGroups(groups={"C": ["age"]})},
                r"'A' or 'B'",
            ),
            "group a word": (
                {"personal": parts.SensitivityGroups(groups={"A": "age"})},
                r"groups must be",
            ),
            "group A empty": (
                {"sensitive": None, "personal": parts.SensitivityGroups(groups={"B": ["age"]})},
                r"group A is empty",
            ),
            "restriction a word": ({"restriction": "age"}, r"must be a Restriction, got str"),
            "a stranger in the restriction": (
                {"restriction": Restriction("job")},
                r"no attribute 'job'",
            ),
            "too many forced parents": (
                {"k": 1, "restriction": Restriction(forced=(("age", "city"), ("wage", "city")))},
                r"k = 1, but the restriction forces 2 parent.*at least 2",
            ),
            "degenerate budget": (
                {
                    "guarantee": "published",
                    "k": 5,
                    "personal": parts.SensitivityGroups(
                        groups={"A": ["age"], "B": ["wage", "city", "kids"]}
                    ),
                },
                r"8 − 5 − 7 = -4.*lower k or θ.*strict",
            ),
        },
    ),
    "PrivABN": Case(
        PrivABN,
        bits=True,
        bad={
            "beta zero": ({"share_structure": 0}, r"share_structure.*got 0"),
            "beta one": (
                {"share_structure": 1},
                r"share_structure must lie between 0 and 1, got 1",
            ),
        },
    ),
    "PrivSCBN": Case(
        PrivSCBN,
        own=lambda schema: {"clusters": halves(schema)},
        degree="l",
        degrees=(1, 2),
        bits=True,
        near=0.25,
        bad={
            "k > d": ({"k": 9, "clusters": None}, r"k must be.*from 1 to d = 8.*got 9"),
            "k > bits": (
                {"k": 15, "clusters": None, "guarantee": "published"},
                r"from 1 to d = 14 bits, got 15",
            ),
            "l zero": ({"l": 0}, r"l must be.*from 1 to 12, got 0"),
            "no share of the sketch": ({"share_sketch": 0}, r"share_sketch.*got 0"),
            "shares that add up to 1": (
                {"share_sketch": 0.5, "share_structure": 0.5},
                r"share_sketch \+ share_structure = 0.15 \+ 0.5 \+ 0.5 leaves nothing",
            ),
            "sigma zero": ({"sigma": 0}, r"sigma.*got 0"),
            "a cluster short": ({"clusters": [["age"]]}, r"each attribute exactly once"),
        },
    ),
    "GeneticBayes": Case(
        GeneticBayes,
        own=lambda schema: {"generations": 20, "population": 30},
        selects=False,
        bad={
            "beta zero": ({"share_structure": 0}, r"share_structure.*got 0"),
            "P < S": ({"population": 5, "elite": 6}, r"population = 5 is smaller than elite = 6"),
            "no population": ({"population": 0}, r"population.*from 1 to 100,000, got 0"),
            "no elite": ({"elite": 0}, r"elite.*from 1 to 100,000, got 0"),
            "e = 0": ({"generations": 0}, r"generations.*from 1 to 100,000, got 0"),
            "e a fraction": ({"generations": 2.5}, r"generations.*whole number.*2.5"),
            "r zero": ({"r": 0}, r"mutation rate, must lie in \(0, 1\].*got 0"),
            "r above one": ({"r": 1.5}, r"\(0, 1\].*got 1.5"),
            "r negative": ({"r": -0.1}, r"\(0, 1\].*got -0.1"),
            "r not a number": ({"r": math.nan}, r"\(0, 1\].*got nan"),
            "r a word": ({"r": "half"}, r"\(0, 1\].*got 'half'"),
            "search": ({"search": "luck"}, r"search must be one of.*got 'luck'"),
            "target is sensitive": (
                {"target": "age", "sensitive": "age"},
                r"'age' can't be both the target and a sensitive",
            ),
            "sensitive twice": ({"target": "age", "sensitive": ("city", "city")}, r"twice.*city"),
            "sensitive without target": ({"sensitive": "age"}, r"only parent: name it \(target"),
            "target that isn't there": ({"target": "job"}, r"no attribute 'job'.*age, wage"),
            "sensitive attribute that isn't there": (
                {"target": "age", "sensitive": ["job"]},
                r"no attribute 'job'.*age, wage",
            ),
            "restriction and target": (
                {"target": "age", "restriction": Restriction("age")},
                r"not both",
            ),
            "restriction a word": ({"restriction": "age"}, r"must be a Restriction, got str"),
            "too many forced parents": (
                {"k": 1, "restriction": Restriction(forced=(("age", "city"), ("wage", "city")))},
                r"k = 1, but the restriction forces 2 parent.*at least 2",
            ),
        },
    ),
}
CASES |= {
    "Synthesizer": Case(
        Synthesizer,
        own=lambda schema: {"structure": parts.Greedy(k=1)},
        degree="",
        sound=True,
        bad={
            "no structure": ({"structure": "greedy"}, r"structure must be a part.*'greedy'"),
            "a class": ({"structure": parts.Greedy}, r"structure must be a part.*Greedy"),
            "no budget": ({"budget": 3}, r"budget must be a part.*3"),
            "noise nowhere": ({"conditionals": "nowhere"}, r"conditionals.*'nowhere'"),
            "noise on conditionals": (
                {"conditionals": ConditionalNoise()},
                r"n times what it claims.*JointCounts",
            ),
            "a strange network": (
                {"structure": Network((("a", ()), ("b", ())))},
                r"same attributes; they differ in .*'a'",
            ),
            "an unknown root": ({"structure": parts.Greedy(root="job")}, r"no attribute 'job'"),
            "degree": ({"structure": parts.SpanningTree(k=8)}, r"k = 8.*d = 8"),
            "order": ({"structure": parts.Ordered(by=["age"])}, r"by must be one of.*\['age'\]"),
            "classes": ({"budget": parts.Geometric(classes=0)}, r"classes.*got 0"),
            "ties of nobody": ({"budget": parts.ByTies()}, r"sensitive=…\) or a policy"),
            "ties and a policy": (
                {"budget": parts.ByTies("age", policy={"age": 1})},
                r"either the sensitive attribute",
            ),
            "ties of a stranger": ({"budget": parts.ByTies("job")}, r"no attribute 'job'"),
            "half zero": ({"budget": parts.ByTies("age", half=0)}, r"half must be.*got 0"),
            "half large": ({"budget": parts.ByTies("age", half=2)}, r"half must lie.*got 2"),
            "a policy in words": ({"budget": parts.ByTies(policy="age")}, r"policy must be.*'age'"),
            "a policy of nothing": ({"budget": parts.ByTies(policy={})}, r"policy must be"),
            "a policy of zero": ({"budget": parts.ByTies(policy={"age": 0})}, r"policy\['age'\]"),
            "a policy of a stranger": (
                {"budget": parts.ByTies(policy={"job": 1})},
                r"no attribute 'job'",
            ),
            "a policy far apart": (
                {"budget": parts.ByTies(policy={"age": 1e-4})},
                r"more than 1,000 apart",
            ),
            "share_structure": ({"share_structure": 1}, r"share_structure.*got 1"),
        },
    ),
    "PPBA": Case(
        PPBA,
        bad={
            "q zero": ({"q": 0}, r"q must be a positive.*got 0"),
            "q negative": ({"q": -1}, r"q must be a positive.*got -1"),
            "sketch": ({"share_sketch": 1}, r"sketch.*got 1"),
        },
    ),
    "CSAPrivBayes": Case(
        baselines.CSAPrivBayes,
        own=lambda schema: {"sensitive": schema.names[0]},
        bad={
            "nobody sensitive": ({"sensitive": None}, r"name the sensitive attribute"),
            "r zero": ({"r": 0}, r"r must be.*got 0"),
            "group C": (
                {"personal": parts.SensitivityGroups(groups={"C": ["age"]})},
                r"'A' or 'B'",
            ),
        },
    ),
    "ELPrivBayes": Case(
        baselines.ELPrivBayes,
        selects=False,
        bad={"share_structure": ({"share_structure": 0}, r"share_structure.*got 0")},
    ),
    "SAPrivBayes": Case(
        baselines.SAPrivBayes,
        selects=False,
        bad={
            "keep nothing": ({"keep": 0}, r"keep.*got 0"),
            "keep too much": ({"keep": 2}, r"keep.*got 2"),
            "q": ({"q": 0}, r"q must be a positive.*got 0"),
        },
    ),
    "WeightedPrivBayes": Case(
        baselines.WeightedPrivBayes, bad={"sketch": ({"share_sketch": 0}, r"sketch.*got 0")}
    ),
}
CASES |= {
    "Independent": Case(Independent, degree="", sound=True, selects=False, ways=1),
    "JTree": Case(
        JTree,
        own=lambda schema: {"theta_usefulness": 0.01},
        degree="",
        selects=False,
        bad={  # tables are too small for edges
            "beta one": (
                {"share_structure": 1},
                r"share_structure must lie between 0 and 1, got 1",
            ),
            "theta_usefulness": ({"theta_usefulness": 0}, r"theta_usefulness.*got 0"),
            "φ negative": ({"phi": -0.1}, r"phi must lie in \[0, 1\], got -0.1"),
            "φ above one": ({"phi": 1.1}, r"phi must lie in \[0, 1\], got 1.1"),
            "φ a word": ({"phi": "x"}, r"phi.*'x'"),
        },
    ),
    "PriView": Case(
        PriView,
        degree="",
        selects=False,
        bits=True,
        bad={
            "one bit a view": ({"size": 1}, r"size.*from 2 to 16, got 1"),
            "wide views": ({"size": 17}, r"size.*from 2 to 16, got 17"),
            "size a float": ({"size": 8.0}, r"size.*got 8.0"),
            "t zero": ({"t": 0}, r"t must be 'auto'.*from 1 to 3, got 0"),
            "t above the view": ({"t": 3, "size": 2}, r"from 1 to 2, got 3"),
            "t four": ({"t": 4}, r"from 1 to 3, got 4"),
            "t true": ({"t": True}, r"t must be.*got True"),
            "t a word": ({"t": "most"}, r"t must be.*'most'"),
        },
    ),
}
CASES |= {
    "ConsistentBayes": Case(
        ConsistentBayes,
        selects=False,  # on so few records its look finds that single columns need all of ε
        counts=False,
        falls=2.5,
        trend=-0.8,  # with one round it is as near as it gets from ε = 1.2 on
        degree="rounds",
        sound=True,
        bad={
            "no rounds": ({"rounds": -1}, r"rounds must be.*got -1"),
            "rounds a float": ({"rounds": 2.0}, r"rounds.*got 2.0"),
            "rounds true": ({"rounds": True}, r"rounds.*got True"),
            "rounds false": ({"rounds": False}, r"rounds.*got False"),
            "rounds a word": ({"rounds": "many"}, r"rounds must be 'auto'.*got 'many'"),
            "single columns take all": ({"share_one_way": 1}, r"share_one_way.*got 1"),
            "no share of the sensitive": ({"share_sensitive": 0}, r"share_sensitive.*got 0"),
            "nothing left for pairs": (
                {"sensitive": "age", "share_one_way": 0.5, "share_sensitive": 0.5},
                r"must leave something for pairs",
            ),
            "r zero": ({"r": 0}, r"r must be.*got 0"),
            "personal a word": ({"personal": "age"}, r"personal must be a Sens.*'age'"),
            "personal without a policy": (
                {"sensitive": "age", "personal": parts.SensitivityGroups()},
                r"needs groups by policy",
            ),
            "restriction a word": ({"restriction": "age"}, r"must be a Restriction, got str"),
            "a stranger in the restriction": (
                {"restriction": Restriction("job")},
                r"no attribute 'job'",
            ),
            "sensitive attribute that isn't there": (
                {"sensitive": "job"},
                r"no attribute 'job'.*age, wage",
            ),
            "sensitive twice": (
                {"sensitive": "age", "restriction": Restriction("city", "age")},
                r"name the sensitive attribute once",
            ),
            "tables left as measured": (
                {"reconcile": parts.AsMeasured()},
                r"must be made to agree.*Agree",
            ),
        },
    ),
    "ConsistentBayes rounds": Case(
        ConsistentBayes,
        counts=False,
        own=lambda schema: {"share_one_way": 0.2},
        falls=2.5,
        degree="rounds",
        sound=True,
    ),
    "ConsistentBayes forest": Case(
        ConsistentBayes,
        counts=False,
        own=lambda schema: {"rounds": 0, "share_one_way": 0.2},
        degree="",
        sound=True,
        bad={"single columns take all": ({"share_one_way": 1}, r"share_one_way.*got 1")},
    ),
}
ALGORITHMS = {name: case.cls for name, case in CASES.items()}


# Parts that are mixed by hand: every public part stands here (tests/project/test_registries.py).
CUSTOM = Restriction("b0", "b1", forced=(("b2", "b3"),), forbidden=(("b0", "b4"),))
DRAWN = Network((("b4", ()), ("b3", ("b4",)), ("b2", ("b4", "b3")), ("b1", ()), ("b0", ("b1",))))
STRUCTURES = {
    "greedy": parts.Greedy(k=2),
    "largest": parts.Greedy(k=1, root="largest"),
    "custom": parts.Greedy(k=2, restriction=CUSTOM),
    "association": parts.Ordered(k=2),
    "entropy": parts.Ordered(k=1, by="entropy"),
    "domain": parts.Ordered(k=2, by="domain", restriction=CUSTOM),
    "sums": parts.PairwiseSums(k=2),
    "filtered": parts.PairwiseSums(k=2, keep=0.5, restriction=CUSTOM),
    "tree": parts.SpanningTree(k=2),
    "custom tree": parts.SpanningTree(k=2, restriction=CUSTOM),
    "auto": parts.SpanningTree(theta_usefulness=0.1),
    "drawn": DRAWN,
    "fixed": parts.Fixed(),
    "alone": parts.Greedy(k=0),
    "adaptive": parts.Adaptive(),
    "search": parts.GeneticSearch(k=2, search="hill"),
    "forest": parts.ResidualForest(),
    "rounds": parts.ResidualRounds(),
}
BUDGETS = {
    "uniform": parts.Uniform(),
    "groups": parts.Groups(sensitive="b1"),
    "policy": parts.Groups(
        r=1 / 4,
        personal=parts.SensitivityGroups(groups={"A": ["b1", "b2"]}, rare_values="same_noise"),
    ),
    "ties": parts.ByTies(sensitive="b1"),
    "ties by policy": parts.ByTies(policy={"b1": 0.2, "b2": 0.5}),
    "risk": parts.RiskEntropy(),
    "security": parts.Geometric(1.2),
    "availability": parts.Geometric(0.5, classes=3),
}
RECONCILIATIONS = {"as measured": parts.AsMeasured(), "agree": parts.Agree()}
CONDITIONALS = {"counts": parts.JointCounts(), "as printed": ConditionalNoise()}


def halves(schema: Schema) -> list[list[str]]:
    """Two public clusters."""
    middle = len(schema) // 2
    return [list(schema.names[:middle]), list(schema.names[middle:])]


def make(name: str, schema: Schema, k: int | str | None = None, **params):
    """An algorithm with what it can't do without; ``k`` bounds its parents where it has such a
    keyword."""
    case = CASES[name]
    bound = {case.degree: k} if k in case.degrees and case.degree else {}
    return case.cls(**{**case.own(schema), **bound, **params})


def binary(d: int = 4, n: int = 60, seed: int = 0) -> tuple[pd.DataFrame, Schema]:
    """Yes/no columns, each leaning on the one before it."""
    rng = np.random.default_rng(seed)
    columns = [rng.random(n) < 0.4]
    for _ in range(d - 1):
        columns.append(np.where(rng.random(n) < 0.8, columns[-1], rng.random(n) < 0.5))
    names = [f"b{j}" for j in range(d)]
    schema = Schema(tuple(Attribute.categorical(name, ["no", "yes"]) for name in names))
    return pd.DataFrame(
        {name: np.where(c, "yes", "no") for name, c in zip(names, columns, strict=True)}
    ), schema


def mixed(n: int = 80, seed: int = 0) -> tuple[pd.DataFrame, Schema]:
    """Every kind of column without missing values."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 91, n)
    frame = pd.DataFrame(
        {
            "age": age,
            "wage": np.round(np.clip(age / 10 + rng.normal(0, 2, n), 0, 20), 2),
            "city": rng.choice(["Bern", "Oslo", "Rome"], n),
            "grade": pd.Categorical(
                rng.choice(["low", "high"], n), categories=["low", "mid", "high"], ordered=True
            ),
            "colour": pd.Categorical(
                rng.choice(["red", "blue"], n), categories=["red", "green", "blue"]
            ),
            "kids": rng.integers(0, 3, n),
            "score": rng.integers(0, 2, n).astype("float64"),
            "member": rng.random(n) < 0.5,
        }
    )
    schema = Schema(
        (
            Attribute.numeric("age", 18, 90, bins=4, integer=True),
            Attribute.numeric("wage", 0, 20, bins=3),
            Attribute.categorical("city", ["Bern", "Oslo", "Rome"]),
            Attribute.categorical("grade", ["low", "mid", "high"], dtype="ordered"),
            Attribute.categorical("colour", ["red", "green", "blue"], dtype="category"),
            Attribute.categorical("kids", [0, 1, 2]),
            Attribute.categorical("score", [0, 1], dtype="float"),
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
            "hours": pd.array(rng.choice([0.0, 7.0, 40.0, np.nan], n), dtype="Int64"),
            "grade": pd.array(rng.choice([1.0, 2.0, np.nan], n), dtype="Int64"),
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
    """The list of everything that was drawn or charged while the block ran; empty when nothing was
    spent."""
    seen: list[str] = []

    def watch(owner, name):
        original = getattr(owner, name)

        def watched(self, *args, **kwargs):
            if name != "write" or args[0] == "mechanism":
                seen.append(f"{owner.__name__}.{name}")
            return original(self, *args, **kwargs)

        patch.setattr(owner, name, watched)

    with monkeypatch.context() as patch:
        for owner, names in (
            (ExactNoise, ("_words", "select", "discrete_laplace", "zero_sum_laplace")),
            (CommonNoise, ("_draws", "select")),
            (Ledger, ("write",)),
        ):
            for name in names:
                watch(owner, name)
        yield seen


def document(model) -> dict:
    """A model as it stands in its file."""
    return json.loads(json.dumps(model.to_dict()))


def total(ledger) -> Fraction:
    """Sum of the true costs, added here and not by the library."""
    return sum(
        (
            e.sensitivity / e.scale
            if e.mechanism in COUNTING and not isinstance(e.scale, tuple)
            else e.epsilon
            for e in ledger.entries
            if e.kind == "mechanism"
        ),
        Fraction(0),
    )
