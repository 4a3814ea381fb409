"""All algorithms side by side on Adult: the same ε for all, then every mixture of their parts, then the same promise to one attribute.

Not one paper's experiment but the question behind all of them; lesson 18 reads it.
"""

from __future__ import annotations

import pandas as pd

from ..datasets import Dataset, load_adult
from . import sidebyside_claims, sidebyside_plots
from .engine import Grid, Key, Paper, Run
from .results import Result, markdown
from .sidebyside_settings import (
    DISTANCE,
    LOSS,
    REST,
    SECONDS,
    SEED,
    TITLES,
    YARDSTICK,
    Settings,
    compared,
    mixtures,
    yardsticks,
)

__all__ = ["PAPER", "TITLES", "Settings", "compared", "mixtures", "yardsticks"]


def trials(key: Key, settings: Settings, run: Run) -> pd.DataFrame:
    """Every curve of one figure."""
    dataset = load_adult(coding="thesis") if run.data is None else run.data
    s = dataset.sensitive
    run.facts |= {"sensitive": s, "target": dataset.target}
    measures = {"avd2": DISTANCE, f"avd2_without_{s}": REST, f"loss_{s}": LOSS, "cpu": SECONDS}
    if key == 2:
        return run.measure(*factorial(settings, run, dataset))
    if key == 3:
        return run.measure(Grid(dataset, compared("strict", dataset, settings, slow=False), measures, settings.fine))
    grids = [Grid(dataset, compared(g, dataset, settings), measures, settings.epsilons) for g in ("strict", "published")]
    frame = run.measure(*grids, Grid(dataset, compared("none", dataset, settings), {"avd2": DISTANCE}))
    if not settings.yardsticks:
        return frame
    outside = {name: text for name, text in measures.items() if text != LOSS}  # OpenDP has no ledger by attribute
    few = min(run.repeats, settings.yardstick_repeats)
    beside = run.measure(Grid(dataset, yardsticks(settings), outside, (max(settings.epsilons),)), repeats=few)
    return pd.concat([frame, beside], ignore_index=True)


def factorial(settings: Settings, run: Run, dataset: Dataset) -> list[Grid]:
    """All mixtures on the table, and with both places of the noise on a table of bits."""
    own = {} if run.data is None else {run.data.name: (dataset, False)}
    tables = own or {"Adult": (dataset, False), "yes–no": (load_adult(coding="yes-no"), True)}
    return [Grid(table, mixtures(g, table, settings, bits), {"avd2": DISTANCE}, (settings.epsilon,), {"dataset": name})
            for name, (table, bits) in tables.items() for g in ("strict", "published")]  # fmt: skip


def deviations(key: Key, settings: Settings) -> tuple[str, ...]:
    """What a reader must know before comparing."""
    out = [
        "Every class has its own defaults (k = auto where it has a k); nothing was tuned to this table. CSAPrivBayes, PPBA, SAPrivBayes, "
        "ELPrivBayes, WeightedPrivBayes and PrivSCBN are reconstructions from abstracts and secondary sources.",
        f"“{sidebyside_claims.POLICY}” and “{sidebyside_claims.GROUPED}”: the sensitive attribute alone in group A by public policy, "
        f"r = {settings.r}; the second also keeps it a leaf below the target.",
        "ε of the sensitive attribute: what the ledger says a change of it alone can cost. It is read off the run's network (ex post) "
        "except where a policy fixes it before; the attributes that go with it keep telling about it.",
    ]
    if key == 1:
        out += [
            f"OpenDP's MST is a yardstick of another kind: (ε, δ) with δ = {settings.delta:g}, Gaussian noise, a graphical model. It runs "
            f"where opendp[mbi] is installed, {settings.yardstick_repeats} times, at the largest ε; it has no loss by attribute. "
            "A fit takes a minute of processor time; AIM, which fits again and again, is a setting (`yardsticks`) and wasn't run.",
            "PriView answers queries, its table is an extension. PrivABN, PrivSCBN, HMPrivBayes and PriView take Adult through its bits.",
        ]
    if key == 2:
        out.append(
            f"Noise on conditionals needs two-valued attributes: the yes–no table of lesson 11, k = {settings.degree}. It spends n times "
            "what it claims, so it exists as published only; strict refuses it."
        )
    if key == 3:
        out.append("Methods that take seconds a fit are in figure 1 only. Every run spends at most ε = 1 in all; a method that loses less "
                   "than a promise allows stands with what it has at ε = 1.")  # fmt: skip
    return tuple(out)


def appendix(key: Key, result: Result) -> str:
    """Figures 1 and 3 as tables."""
    if key == 2:
        return ""
    table = sidebyside_claims.table if key == 1 else sidebyside_claims.matched
    frame = table(result.data, PAPER.settled(result.parameters))
    return "\n" + markdown(list(frame.columns), frame.itertuples(index=False))


READING = f"""What a method promises decides what it may be compared with. Strict is pure ε-DP, closed by the ledger; as published means
as printed, whatever that costs; OpenDP's yardstick promises {YARDSTICK}. The levers of each personalised method have a figure of
their own (frontier).
"""

PAPER = Paper(
    name="sidebyside",
    heading="All of them side by side",
    reading=READING,
    titles=TITLES,
    settings=Settings,
    repeats=20,
    seed=SEED,
    trials=trials,
    draw=lambda key, data, settings: sidebyside_plots.DRAW[key](data, settings),
    judge=lambda key, data, settings: sidebyside_claims.JUDGE[key](data, settings),
    deviations=deviations,
    appendix=appendix,
)
