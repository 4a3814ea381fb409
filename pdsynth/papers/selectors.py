"""How a paper's data file names points: lists are alternatives, and all alternatives are combined.

>>> from types import SimpleNamespace
>>> expand({"guarantee": ["published", "strict"], "k": "$k"}, SimpleNamespace(k=4))
[{'guarantee': 'published', 'k': '4'}, {'guarantee': 'strict', 'k': '4'}]
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from .results import distinct

Point = dict[str, Any]
ENDS = {"first": 0, "last": -1}


def choices(value: Any, settings: Any) -> list[Any]:
    """What a value stands for: its elements, or a setting's.

    "$epsilons": all of that setting; "$epsilons.last": one end; "$degrees but $k": all the others.
    """
    if isinstance(value, str) and " but " in value:
        every, others = (choices(part, settings) for part in value.split(" but "))
        return [v for v in every if v not in others]
    if isinstance(value, str) and value.startswith("$"):
        name, _, end = value[1:].partition(".")
        value = getattr(settings, name)
        value = value[ENDS[end]] if end else value
    return list(value) if isinstance(value, (list, tuple)) else [value]


def expand(spec: Mapping[str, Any], settings: Any, data: pd.DataFrame | None = None) -> list[Point]:
    """All points of a selector, the last column running fastest.

    ``"*"`` stands for every value of that column in ``data``. A table of values depends on the
    point's method: ``k = {PrivBayes = "auto"}``; a method that it doesn't name has "". Everything
    but ε is text, as in a CSV.
    """

    def listed(column: str, value: Any) -> list[Any]:
        if isinstance(value, str) and value == "*":
            return distinct(data, column) if data is not None else []
        return [float(v) if column == "epsilon" else str(v) for v in choices(value, settings)]

    free = {name: listed(name, v) for name, v in spec.items() if not isinstance(v, Mapping)}
    bound = {name: v for name, v in spec.items() if isinstance(v, Mapping)}
    points = [dict(zip(free, at, strict=True)) for at in product(*free.values())]
    return [
        at | {name: listed(name, v.get(at.get("method"), ""))[0] for name, v in bound.items()}
        for at in points
    ]


def name_ends(settings: Mapping[str, Any]) -> dict[str, Any]:
    """First and last value of every setting that is a list: ``epsilons_last``."""
    return {
        f"{name}_{end}": value[at]
        for name, value in settings.items()
        if isinstance(value, tuple) and value
        for end, at in ENDS.items()
    }


def fill(text: str, words: Mapping[str, Any]) -> str:
    """A text of the data file on one line, its words in braces replaced."""
    return " ".join(text.split()).format_map(words)


def fill_all(value: Any, words: Mapping[str, Any]) -> Any:
    """The same for every text in lists and tables, but for a ``point``: that names columns."""
    if isinstance(value, Mapping):
        return {n: v if n == "point" else fill_all(v, words) for n, v in value.items()}
    if isinstance(value, list):
        return [fill_all(v, words) for v in value]
    return fill(value, words) if isinstance(value, str) else value
