"""Exercises of lesson 00, start here."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from ...core import Ledger
from ...datasets.adult import load_adult
from .judges import Computation
from .lesson import exercises

ASKED = 0.37
COPIES = 2  # rows that may be a person's by chance: of 48,842 synthetic ones none was, in 7 runs
PAIRS = "thesis Alg 1 line 6"  # the line of PrivBayes that chooses a pair


def judge_rows(table: Any) -> str | None:
    """Rows of the declared columns that aren't those of the real people."""
    real = load_adult().frame
    if not isinstance(table, pd.DataFrame):
        return (
            f"the first part is a {type(table).__name__}, not a DataFrame: "
            "call .sample() on the fitted synthesizer."
        )
    if table.empty:
        return "the table has no row: whoever publishes nothing needs no budget. Sample some."
    if list(table.columns) != list(real.columns):
        return (
            f"the table has {table.shape[1]} columns, not the columns of adult.frame: "
            "sample from a fit on all of them."
        )
    if table.equals(real):
        return (
            "this is the real table. A ledger beside it protects nobody: publish what "
            "synth.sample() draws."
        )
    rows, people = (
        pd.util.hash_pandas_object(part.astype(str), index=False) for part in (table, real)
    )
    copied = int(rows.isin(people).sum())
    if copied == len(rows):
        return (
            "these are the real people in another order: shuffling hides nobody."
            if len(rows) == len(real)
            else "each of these rows is a copy of a person."
        )
    if copied > COPIES:
        return (
            f"{copied:,} of these {len(rows):,} rows are a person's. Of what synth.sample() draws "
            "hardly one is: don't mix real rows in."
        )
    return None


def judge_ledger(ledger: Any) -> str | None:
    """The ledger of a strict fit at the ε that was asked for, with noise of its own."""
    if not isinstance(ledger, Ledger):
        return (
            f"the second part is a {type(ledger).__name__}. A number anybody can write down: "
            "return synth.ledger_, which counted it."
        )
    if ledger.guarantee == "none":
        return 'guarantee="none" adds no noise: its ledger says ε = ∞. Leave it out.'
    if not math.isfinite(ledger.epsilon):
        return (
            f"this fit does as the paper prints: nothing pays for {len(ledger.unaccounted)} of "
            'its answers, and the ledger says ε = ∞. guarantee="strict" is the default.'
        )
    if ledger.epsilon == Fraction(str(ASKED)) / 2:
        return "the ledger says half of what was asked for: all of ε may be spent in one fit."
    if ledger.epsilon != Fraction(str(ASKED)):
        return (
            f"first_table({ASKED}) has a ledger that says ε = {ledger.epsilon}: the same ε "
            "whatever is asked for? Pass epsilon on to the synthesizer."
        )
    if not any(entry.source == PAIRS for entry in ledger.entries):
        return (
            "this ledger holds no choice of a pair by PrivBayes: it is of another synthesizer. "
            "Fit pds.PrivBayes."
        )
    if any("reproducible" in note for note in ledger.notes):
        return (
            "with random_state everybody can draw the same noise again, and the ledger says "
            "so: leave it out."
        )
    return None


def judge_first_table(first_table: Callable[[float], Any]) -> str | None:
    """A pair of a synthetic table and the ledger of its fit."""
    answer = first_table(ASKED)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return "first_table should return a pair: the synthetic table, and its ledger."
    return judge_rows(answer[0]) or judge_ledger(answer[1])


def draw_noise(released: np.ndarray, scale: float, seed: int = 0) -> np.ndarray:
    """Noise of a public seed."""
    return np.random.default_rng(seed).laplace(scale=scale, size=len(released))


def publish(counts: list[int], epsilon: float) -> np.ndarray:
    """The tool of the lesson."""
    return np.array(counts) + draw_noise(np.array(counts), 2 / epsilon)


undo = Computation(
    lambda released, epsilon: released - draw_noise(released, 2 / epsilon),
    cases=[(publish([310, 12, 0, 45, 7], 0.5), 0.5), (publish([1, 0, 1, 90], 0.1), 0.1)],
    mistakes={
        "undo adds the noise once more: subtract it.": lambda released, epsilon: (
            released + draw_noise(released, 2 / epsilon)
        ),
        "undo gives back what was published. What does publish add, and who can compute it?": (
            lambda released, epsilon: released
        ),
        "undo rounds. The noise is several people large; rounding removes half a person.": (
            lambda released, epsilon: np.round(released)
        ),
        "undo clips at zero. That hides no count and finds none.": lambda released, epsilon: (
            np.maximum(released, 0)
        ),
        "undo draws the noise of scale 1/ε: the same seed, but half as large as what was added.": (
            lambda released, epsilon: released - draw_noise(released, 1 / epsilon)
        ),
        "undo multiplies the scale by ε. publish divides 2 by it.": lambda released, epsilon: (
            released - draw_noise(released, 2 * epsilon)
        ),
        "undo draws from another seed. Which one is the default of publish?": (
            lambda released, epsilon: released - draw_noise(released, 2 / epsilon, seed=1)
        ),
        "undo subtracts one number from all counts. publish draws one for each.": (
            lambda released, epsilon: released - draw_noise(released[:1], 2 / epsilon)
        ),
        "undo subtracts the scale. That is the size of the noise, not the noise.": (
            lambda released, epsilon: released - 2 / epsilon
        ),
        "undo returns the noise. Subtract it from what was published.": lambda released, epsilon: (
            draw_noise(released, 2 / epsilon)
        ),
        "undo gives each count the mean: that is an estimate, and here the exact numbers are out.": lambda released, epsilon: (
            np.full(len(released), released.mean())
        ),
    },
    otherwise="undo gives {got}: the noise of publish can be drawn again, number by number.",
)

q1, q2, q3 = exercises("lesson_00", q2=judge_first_table, q3=undo)
