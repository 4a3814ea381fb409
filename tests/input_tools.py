"""A small table and everything that the malformed inputs of ``malformed.toml`` are written with."""

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth import Attribute, Model, Network, Restriction, Schema
from pdsynth.datasets.tables import Dataset
from pdsynth.published import ConditionalNoise

schema = Schema(
    (
        Attribute.categorical("job", ["farmer", "nurse", "smith"]),
        Attribute.categorical("kids", [0, 1]),
        Attribute.numeric("pay", 0, 10, bins=4),
        Attribute.categorical("sex", ["f", "m"]),
    )
)
rng = np.random.default_rng(0)
frame = pd.DataFrame(
    {
        "job": rng.choice(["farmer", "nurse", "smith"], 400),
        "kids": rng.integers(0, 2, 400),
        "pay": rng.uniform(0, 10, 400),
        "sex": rng.choice(["f", "m"], 400),
    }
)
chain = Network((("sex", ()), ("job", ("sex",)), ("kids", ("job",)), ("pay", ("job",))))
fitted = pds.Synthesizer(10, structure=chain, random_state=1).fit(frame, schema)
model = fitted.model_
MODEL = {name: getattr(model, name) for name in model.__dataclass_fields__}


def fit(synthesizer: Any, data: Any = frame, *more: Any, **named: Any) -> Any:
    """A fit of the small table, or of another one."""
    given = more or (() if "schema" in named else (schema,))
    return synthesizer.fit(data, *given, **named)


def with_part(**parts: Any) -> Any:
    """A fit of a composition."""
    return fit(pds.Synthesizer(**parts))


def measure(function: Any, *given: Any, **named: Any) -> Any:
    """A measure of the small table against itself."""
    tables = given[:2] if len(given) >= 2 else (frame, frame)
    return function(*tables, given[2] if len(given) > 2 else schema, *given[3:], **named)


def compare(**named: Any) -> Any:
    """A small grid of experiments, one setting of which is changed."""
    dataset = Dataset(frame, schema, "small", "sex", "sex", "", "")
    grid = {"synthesizers": [pds.baselines.Independent()], "dataset": dataset, "epsilons": [1]}
    settings = {"repeats": 1, "measures": ["avd2"], "jobs": 1}
    return pds.evaluate.compare(**(grid | settings | named))


def black_box(**named: Any) -> Any:
    """A small audit of somebody's function, one setting of which is changed."""
    audit = {"make_release": lambda table: table[-1], "pair": ([0, 0], [0, 1]), "statistic": int}
    return pds.audit.black_box(**(audit | {"claimed": 1, "runs": 40} | named))


def schema_file(text: str) -> Schema:
    """A schema that is read from a file with this text."""
    Path("schema.toml").write_text(text, encoding="utf-8")
    return Schema.read("schema.toml")


NAMESPACE: dict[str, Any] = {
    **vars(pds),
    **{name: getattr(pds.baselines, name) for name in pds.baselines.__all__},
    **{name: getattr(pds.parts, name) for name in pds.parts.__all__},
    "ConditionalNoise": ConditionalNoise,
    **{name: getattr(pds, name) for name in ("audit", "baselines", "datasets", "evaluate")},
    **{name: value for name, value in globals().items() if name[0] != "_"},
}
TABLE = Path(__file__).with_name("malformed.toml")
__all__ = ["NAMESPACE", "TABLE", "Decimal", "Fraction", "Model", "Restriction", "date", "math"]
