"""Exercises of lesson 18, all of them side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...core import Attribute, Recipe, Schema
from ...evaluation.marginals import marginal_distance
from ...planning import Plan
from .formula import make_seed
from .judges import Computation
from .lesson import exercises, read


def find_largest(n: int, d: int, size: int, epsilon: float, limit: float = 0.25) -> int:
    """The largest k whose noise scale is at most ``limit`` mean cells.

    A table of k + 1 attributes has ``size`` ** (k + 1) cells; d − k tables share 0.7 ε, or all of ε
    for k = 0.
    """
    scales = [2 * (d - k) / (epsilon * (0.7 if k else 1)) for k in range(d)]
    return max((k for k in range(d) if scales[k] * size ** (k + 1) / n <= limit), default=0)


def find(
    n: int,
    d: int,
    size: int,
    epsilon: float,
    *,
    two: float = 2,
    share: float = 0.7,
    derived: bool = True,
    columns: int = 1,
    whole: bool = True,
) -> int:
    """`find_largest` with one part of the rule changed."""

    def useful(k: int) -> bool:
        tables = d - k if derived else d
        part = share if k or not whole else 1
        return two * tables / (epsilon * part) * size ** (k + columns) / n <= 1 / 4

    return max((k for k in range(d) if useful(k)), default=0)


WHERE = "largest_k{case} gives {got:g}"
largest_k = Computation(
    find_largest,
    cases=[
        (31_000, 10, 3, 0.25),
        (30_000, 10, 16, 1.0),
        (10_000, 10, 4, 1.0),
        (10_000, 10, 4, 0.1),
        (176, 80, 5, 1.0),
        (10**6, 5, 3, 1.0),
        (2_950, 9, 4, 0.5),
        (640, 10, 4, 0.5),
        (16_000, 24, 4, 0.9),
        (8_000, 7, 4, 1.0),
        (7_000, 4, 8, 1.0),
    ],
    faults={
        WHERE
        + ", but an attribute has at most d − 1 others to be its parents.": lambda got, n, d, size, epsilon: (
            got >= d
        ),
    },
    mistakes={
        WHERE
        + ": useful means a mean cell of at least *four* noise scales.": lambda n, d, size, epsilon: (
            find_largest(n, d, size, epsilon, limit=1)
        ),
        WHERE + ": that is the first k that is too large.": lambda *case: find_largest(*case) + 1,
        WHERE
        + ": it takes the sensitivity for 1. A replaced record moves two cells.": lambda *case: (
            find(*case, two=1)
        ),
        WHERE + ": it gives the tables all of ε; the structure takes 0.3 of it.": lambda *case: (
            find(*case, share=1)
        ),
        WHERE + ": it pays for d tables. The first k are derived.": lambda *case: find(
            *case, derived=False
        ),
        WHERE + ": a table has k + 1 columns, the child's as well.": lambda *case: find(
            *case, columns=0
        ),
        WHERE + ": one column more than a table has.": lambda *case: find(*case, columns=2),
        WHERE + ": ε belongs into the noise.": lambda n, d, size, epsilon: find_largest(
            n, d, size, 1.0
        ),
        WHERE + ": always 0 is safe, and often wasteful.": lambda *case: 0,
        WHERE + ": always 2, whatever the table?": lambda *case: 2,
        WHERE
        + ": it spends only a tenth: at least four noise scales, not forty.": lambda n, d, size, epsilon: (
            find_largest(n, d, size, epsilon, limit=0.025)
        ),
    },
    otherwise=WHERE + ", not {wanted:g}.",
)

# The hidden table: a made-up town. The method sees its schema and its number of records.
SIZES = {"district": 6, "housing": 4, "income": 5, "transport": 4, "illness": 5, "children": 4}
TOWN = Schema(tuple(Attribute.categorical(name, range(size)) for name, size in SIZES.items()))
RECORDS = 2000
LIMIT = float(read("lesson_18")["q4"]["limit"])


def draw_town(seed: int) -> pd.DataFrame:
    """People of the town, (2000, 6): each column but the first follows another one most times."""
    rng = np.random.default_rng(seed)

    def follow(other: np.ndarray, size: int, share: float) -> np.ndarray:
        return np.where(rng.random(RECORDS) < share, other % size, rng.integers(0, size, RECORDS))

    district = rng.choice(6, RECORDS, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    housing = follow(district, 4, 0.75)
    income = follow(np.minimum(district, 4), 5, 0.7)
    columns = (
        district,
        housing,
        income,
        follow(housing + 1, 4, 0.7),
        follow(income, 5, 0.6),
        follow(housing, 4, 0.6),
    )
    return pd.DataFrame(dict(zip(SIZES, columns, strict=True)))


def measure_method(synthesizer: Recipe, seed: int) -> float:
    """Mean two-way distance on the hidden table of a seed, with noise of that seed.

    OpenDP's sampler takes no seed: exact noise of the same laws stands in for it.

    **Privacy:** a made-up table; the distance reads it exactly.
    """
    people = draw_town(seed)
    fitted = synthesizer.clone().set_params(random_state=seed, noise="exact")
    fitted.fit(people, schema=TOWN)
    return marginal_distance(people, fitted.sample(random_state=seed), TOWN, 2)


@dataclass(frozen=True)
class Design:
    """``method(schema, n, epsilon)`` returns an unfitted synthesizer, judged on hidden people.

    The limit and how often an honest plan misses it stand in the lesson's file (``recorded``).
    """

    seed: int = 0

    def __call__(self, method: Callable[..., Any]) -> str | None:
        """The words for this method."""
        chosen = method(TOWN, RECORDS, 1.0)
        if isinstance(chosen, Plan):
            return "that is the plan itself: the method it names is its .synthesizer()."
        if isinstance(chosen, type):
            return f"that is the class {chosen.__name__}: make one, with its epsilon."
        if not isinstance(chosen, Recipe):
            return f"that is a {type(chosen).__name__}: return a synthesizer."
        return self.judge_promise(chosen) or self.judge_distance(chosen)

    def judge_promise(self, chosen: Recipe) -> str | None:
        """Strict, unfitted, with fresh noise, at exactly ε."""
        options = chosen.get_params()
        if options["guarantee"] == "none":
            return 'guarantee="none" is no noise at all: near, and private to nobody.'
        if options["guarantee"] != "strict":
            return "this does as the paper prints it, and some answers are paid by nothing: strict."
        if hasattr(chosen, "ledger_"):
            return "it is already fitted, to other people: return it unfitted."
        if options["random_state"] is not None:
            return "with random_state everybody can draw its noise again: leave it out."
        if options["noise"] == "common":
            return 'noise="common" is the same for everybody, who can take it off: leave it out.'
        if options.get("delta") is not None:
            return "with delta its promise is (ε, δ), not ε alone: leave it out."
        spent = float(options["epsilon"])
        if spent > 1:
            return f"it spends {spent:g}, more than the ε = 1 that is there: spend epsilon itself."
        if spent < 1:
            return f"it spends {spent:g} of ε = 1 and leaves the rest: more ε, less noise."
        return None

    def judge_distance(self, chosen: Recipe) -> str | None:
        """Near enough to the hidden people."""
        distance = measure_method(chosen, make_seed("town", self.seed) % 2**32)
        if distance <= LIMIT:
            return None
        kind = type(chosen).__name__
        why = (
            "it knows single columns alone, and here the columns hang together"
            if kind == "Independent"
            else "perhaps its tables too large for so few people: more noise than records in a cell"
        )
        return (
            f"{kind} has a distance of {distance:.3f} on the hidden table, more than "
            f"{LIMIT:g}: {why}."
        )


q1, q2, q3, q4 = exercises("lesson_18", q2=largest_k, q4=Design())
