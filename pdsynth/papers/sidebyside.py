"""All algorithms side by side: the same ε, every mixture of parts, the same promise (lesson 18)."""

from typing import Any

import pandas as pd

from ..datasets.adult import load_adult
from ..datasets.tables import Dataset
from . import sidebyside_plots
from .engine import load
from .grids import Grid, Run
from .results import Key, Result, markdown
from .sidebyside_methods import (
    BASE,
    DISTANCE,
    LOSS,
    REST,
    SECONDS,
    SLOW,
    algorithms,
    compared,
    mixtures,
    yardsticks,
)
from .sidebyside_rules import match, tabulate

__all__ = ["BASE", "PAPER", "SLOW", "algorithms", "compared", "match", "mixtures", "yardsticks"]


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """Every curve of one figure."""
    dataset = load_adult(coding="thesis") if run.data is None else run.data
    s = dataset.sensitive
    run.facts |= {"sensitive": s, "target": dataset.target}
    if key == 2:
        return run.measure(*mix(settings, run, dataset))
    measures = {"avd2": DISTANCE, f"avd2_without_{s}": REST, f"loss_{s}": LOSS, "cpu": SECONDS}
    if key == 3:
        quick = compared("strict", dataset, settings, slow=False)
        return run.measure(Grid(dataset, quick, measures, settings.fine))
    grids = [
        Grid(dataset, compared(guarantee, dataset, settings), measures, settings.epsilons)
        for guarantee in ("strict", "published")
    ]
    free = Grid(dataset, compared("none", dataset, settings), {"avd2": DISTANCE})
    frame = run.measure(*grids, free)
    if not settings.yardsticks:
        return frame
    # OpenDP has no ledger by attribute
    others = {measure: name for measure, name in measures.items() if name != LOSS}
    outside = Grid(dataset, yardsticks(settings), others, (max(settings.epsilons),))
    beside = run.measure(outside, repeats=min(run.repeats, settings.yardstick_repeats))
    return pd.concat([frame, beside], ignore_index=True)


def mix(settings: Any, run: Run, dataset: Dataset) -> list[Grid]:
    """All mixtures on the table, and with both places of the noise on a table of bits."""
    tables = {"Adult": (dataset, False), "yes–no": (load_adult(coding="yes-no"), True)}
    if run.data is not None:
        tables = {run.data.name: (dataset, False)}
    return [
        Grid(
            table,
            mixtures(guarantee, table, settings, bits),
            {"avd2": DISTANCE},
            (settings.epsilon,),
            {"dataset": name},
        )
        for name, (table, bits) in tables.items()
        for guarantee in ("strict", "published")
    ]


def appendix(key: Key, result: Result) -> str:
    """Figures 1 and 3 as tables."""
    if key == 2:
        return ""
    frame = (tabulate if key == 1 else match)(result.data, PAPER.read_settings(result.parameters))
    return "\n" + markdown(list(frame.columns), frame.itertuples(index=False))


PAPER = load("sidebyside", trials, appendix=appendix, draw=sidebyside_plots.DRAW)
