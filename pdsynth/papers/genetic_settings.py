"""What the GA paper's tables compare: its parameters, its scenarios, and every number it prints that can be read."""

from __future__ import annotations

from dataclasses import dataclass

from .engine import NO_NOISE, Curve, Key

CLASSIFIERS = ("NB", "SV", "KN", "RF", "LR")
ATTACKERS = ("GCAP", *CLASSIFIERS)
CELLS = ("TN", "FP", "FN", "TP")
STAND_IN = "stand-in: 30,000 defaults"  # the note of its trials
SEED = 2022  # of the random splits; each fit has a seed of its own, derived from everything that decides its result
TITLES: dict[Key, str] = {
    1: "Figure 1: correlations on Adult: original, ordinary and custom network",
    "table 2": "Table II: run time, Contraceptive Method Choice",
    "table 3": "Table III: run time, Adult",
    "table 4": "Table IV: run time, credit cards",
    "table 5": "Table V: utility, Contraceptive Method Choice",
    "table 6": "Table VI: utility, Adult",
    "table 7": "Table VII: utility, credit cards, by F2",
    "table 9": "Table IX: disclosure risk, Contraceptive Method Choice",
    "table 10": "Table X: disclosure risk, Adult",
    "table 11": "Table XI: utility of custom networks, Contraceptive Method Choice",
    "table 12": "Table XII: utility of custom networks, Adult",
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The paper's parameters (§III, §V) and what it doesn't print (the last line).

    ``degrees``: k of Tables II, III, V and VI; ``credit_degrees``: of IV and VII; ``custom``: of Figure 1 and Tables IX to XII.
    ``population``, ``elite``, ``generations``: P, S and e (r = 1/d); ``credit_generations``: e on the credit table.
    ``epsilon``: ε of the strict twins, which the paper doesn't have. ``encoding``: of the classifiers. ``bins``: of each number
    in a model, DataSynthesizer's default. ``searches``: seeds for the share of the optimum. ``minutes``: at most so long for one
    run of DataSynthesizer.
    """

    degrees: tuple[str, ...] = ("1", "2", "3", "4")
    credit_degrees: tuple[str, ...] = ("1", "2", "3")
    custom: str = "4"
    population: int = 200
    elite: int = 10
    generations: int = 400
    credit_generations: int = 2000
    epsilon: float = 1.0
    encoding: str = "label"
    bins: int = 20
    searches: int = 20
    minutes: float = 10.0


# Table VIII: quasi-identifiers, key length.
SCENARIOS = {
    "cmc": (("wife_age", "wife_education", "children", "wife_religion", "wife_working"), 4),
    "adult": (("age", "workclass", "occupation", "race", "sex"), 5),
}
ORIGINAL = Curve("original", "none")
TIMED = ("table 2", "table 3", "table 4")
TABLE: dict[Key, str] = {
    "table 2": "cmc", "table 3": "adult", "table 4": "credit", "table 5": "cmc", "table 6": "adult", "table 7": "credit",
    "table 9": "cmc", "table 10": "adult", "table 11": "cmc", "table 12": "adult", 1: "adult",
}  # fmt: skip


def degrees(key: Key, settings: Settings) -> tuple[str, ...]:
    """Each k at which a table compares both searches."""
    return settings.credit_degrees if TABLE[key] == "credit" else settings.degrees


def compared(key: Key, settings: Settings) -> list[tuple[Curve, float]]:
    """Curves of a table or of the figure, each with its ε (infinite without noise)."""
    if key in (*TIMED, "table 5", "table 6", "table 7"):
        methods, ks = ("DS", "GA"), degrees(key, settings)
    else:
        methods, ks = ("GA", "DSc"), (settings.custom,)
    curves = [(Curve(m, "none", k), NO_NOISE) for k in ks for m in methods]
    if key in TIMED:
        return curves
    return [(ORIGINAL, NO_NOISE), *curves, *((Curve(m, "strict", "auto"), settings.epsilon) for m in methods)]


# --- what the paper prints: per cent, (mean, standard deviation) or mean; NaN where the source can't be read -----------------

NAN = float("nan")
V = {
    "original": "44.9±2.7 54.6±2.4 48.2±2.8 50.6±2.6 50.7±1.7 49.8",
    "DS 1": "45.9±3.2 46.3±4.5 39.8±2.8 40.8±2.8 42.2±1.4 43.0", "GA 1": "42.7±3.4 46.5±2.8 41.8±3.0 43.3±2.7 41.8±4.9 43.2",
    "DS 2": "48.5±2.7 51.7±3.6 42.7±1.7 47.5±2.4 49.6±3.4 48.0", "GA 2": "47.5±2.6 53.9±2.7 45.6±2.4 49.0±2.9 50.3±2.5 49.3",
    "DS 3": "47.2±2.0 54.2±2.3 47.7±2.5 51.8±3.5 52.5±2.7 50.7", "GA 3": "47.1±2.5 54.0±3.3 46.3±3.2 49.3±1.3 51.8±1.6 49.7",
    "DS 4": "45.5±1.9 53.8±2.2 45.6±2.8 50.4±2.5 51.4±1.8 49.3", "GA 4": "45.6±3.0 55.1±2.6 46.6±1.7 51.0±1.5 51.2±2.2 49.9",
}  # fmt: skip
VI = {
    "original": "79.7 83.2 81.5 82.2 82.3 81.8",
    "DS 1": "80.2 80.8 77.9 79.0 80.5 79.7", "GA 1": "80.2 80.8 78.6 79.3 80.7 79.9",
    "DS 2": "80.8 82.4 80.3 80.2 81.8 81.1", "GA 2": "80.1 80.9 77.4 79.5 80.6 79.7",
    "DS 3": "80.4 81.0 77.9 78.0 80.1 79.5", "GA 3": "80.2 83.1 80.5 81.0 82.0 81.4",
    "DS 4": "80.0 81.3 78.1 79.8 80.4 79.9", "GA 4": "79.8 83.2 81.3 81.1 81.8 81.4",
}  # fmt: skip
# (TN, FP, FN, TP) of NB, SV, KN, RF, LR; the averages of F2 follow from them (59.8 for DS 2, where one copy of the paper reads 50.9)
VII = {
    "original": "55626 1224 26 86, 56840 10 33 79, 56845 5 25 87, 56848 2 32 80, 56836 14 26 86",
    "DS 1": "55218 1632 16 96, 56846 4 58 54, 56846 4 55 57, 56828 22 64 48, 56783 67 29 83",
    "GA 1": "55132 1718 17 95, 56846 4 51 61, 56845 5 53 59, 56830 20 43 69, 56784 66 29 83",
    "DS 2": "55298 1552 20 92, 56841 9 42 70, 56842 8 39 73, 56842 8 37 75, 56803 47 30 82",
    "GA 2": "55368 1482 24 88, 56844 6 50 62, 56842 8 34 78, 56836 14 33 79, 56770 80 27 85",
    "DS 3": "55205 1645 23 89, 56850 0 112 0, 56837 13 43 69, 56833 17 58 54, 56774 76 32 80",
    "GA 3": "55376 1474 25 87, 56846 4 48 64, 56842 8 43 69, 56838 12 42 70, 56821 29 32 80",
}  # fmt: skip
IX = {
    "original": "? 64.2±1.7 ? ? ? ? 69.6",
    "GA 4": "65.6±4.0 63.9±1.6 64.0±1.4 64.2±4.7 65.7±4.2 64.4±1.5 64.6",
    "DSc 4": "? 61.2±0.2 ? ? ? ? 57.9",
}  # fmt: skip
X = {
    "original": "60.1 45.4 59.8 56.8 60.1 59.3 56.9",
    "GA 4": "59.7 45.4 59.5 54.4 59.7 59.3 56.3",
    "DSc 4": "42.6 43.5 41.3 42.2 42.5 41.3 42.2",
}  # fmt: skip
XI = {
    "GA 4": "45.6±3.0 55.1±2.6 46.6±1.7 51.0±1.5 51.2±2.2 49.9",
    "DSc 4": "46.0±2.7 54.0±1.9 47.2±2.0 51.0±3.0 50.8±2.2 49.8",
}  # fmt: skip
XII = {"GA 4": "79.8 83.2 81.3 81.1 81.8 81.4", "DSc 4": "79.7 ? ? ? ? 80.8"}
ZERO_RULE = {"table 9": 61.0, "table 10": 40.5}
PRINTED: dict[Key, dict[str, str]] = {"table 5": V, "table 6": VI, "table 9": IX, "table 10": X, "table 11": XI, "table 12": XII}


def printed(key: Key, row: str, column: str) -> tuple[float, float]:
    """Mean and standard deviation that the paper prints in a cell, in per cent; NaN where it prints none."""
    if key == "table 7":
        return _score(row, column), NAN
    columns = (*(ATTACKERS if key in ZERO_RULE else CLASSIFIERS), "Avg")
    cell = dict(zip(columns, PRINTED.get(key, {}).get(row, "").split(), strict=False)).get(column, "?")
    mean, _, sd = cell.partition("±")
    return NAN if mean == "?" else float(mean), float(sd) if sd else NAN


def _score(row: str, column: str) -> float:
    """F2 in per cent from a printed confusion matrix, or the average of the row."""
    import numpy as np

    from ..evaluation import f2

    matrices = [np.array(list(map(int, cells.split()))).reshape(2, 2) for cells in VII.get(row, "").split(",") if cells]
    found = dict(zip(CLASSIFIERS, (100 * f2(m) for m in matrices), strict=False))
    return sum(found.values()) / len(found) if column == "Avg" and found else found.get(column, NAN)
