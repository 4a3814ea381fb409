"""Readings: where a paper can be read in several ways, each is declared, run, and judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ..core import BudgetError
from .grids import rows_that_match
from .results import Key

WHOSE = ("print", "ours", "forensic")


@dataclass(frozen=True)
class Reading:
    """One way to run the experiment behind a claim; from a table ``readings`` of a data file.

    ``says``: what is done; ``why``: what speaks for it; ``whose``: "print", "ours", or "forensic"
    (never private, only to see what the printed numbers need). ``cost``: the ε that it truly
    spends, in words; ``short_cost``: the same in a few. ``of``: its figures and tables.
    ``options``: the settings it changes. ``runs``: the curves that it runs anew, by their columns;
    the others are the figure's own, or those of the reading ``over``. ``keep``: the rows of the
    figure that are judged. In the data file a reading may be ``like`` another, and says what
    differs.
    """

    name: str
    says: str
    whose: str
    why: str = ""
    cost: str = ""
    short_cost: str = "∞"
    of: Sequence[Key] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    runs: Mapping[str, Any] = field(default_factory=dict)
    over: str = ""
    keep: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an owner that doesn't exist."""
        if self.whose not in WHOSE:
            raise BudgetError(f"a reading is {', '.join(WHOSE)}, not {self.whose!r}")

    def combine(self, base: pd.DataFrame, own: pd.DataFrame | None) -> pd.DataFrame:
        """The figure's trials with those of ``runs`` in place of its own, cut to ``keep``."""
        both = base
        if self.runs:
            if own is None:
                raise BudgetError(f"reading {self.name!r} has trials of its own")
            others = base.drop(rows_that_match(base, self.runs).index)
            both = pd.concat([others, own], ignore_index=True)
        return rows_that_match(both, self.keep).reset_index(drop=True)
