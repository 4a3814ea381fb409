"""Live panels of the lessons, one module per topic: ``panels.mechanisms.panel()``.

Each module has ``view(**controls) -> View``, a function of the controls and of a public teaching
table (``view().figure`` is the picture for readers without a kernel), and ``panel(dataset=None)``,
the live widget around it. They share ``table`` (records with warm counts and common random
numbers), ``drawing`` (figures; their layouts stand in ``boards.toml``), ``words``, and ``panel``,
which makes a panel of a function: a slider is one line.
"""

from importlib import import_module
from typing import Any

LESSONS = {
    "first_table": "00_start_here",
    "rules": "00_impossible_rows",
    "mechanisms": "01_dp_mechanisms",
    "ledger": "02_composition_and_ledger",
    "information": "03_bayesian_networks",
    "privbayes": "04_privbayes",
    "ordering": "05_ami_ordering",
    "sensitivity": "06_sensitivity_groups_and_weights",
    "hpprivbayes": "07_hpprivbayes",
    "clustering": "08_mic_and_private_clustering",
    "risk_entropy": "09_normalised_risk_entropy",
    "hmprivbayes": "10_hmprivbayes",
    "privabn": "11_privabn",
    "ppba": "12_ppba",
    "genetic": "13_genetic_structure_search",
    "custom": "14_custom_networks_and_disclosure",
    "evaluating": "15_evaluating_a_synthetic_table",
    "answers": "15_an_interval_that_holds",
    "auditing": "16_auditing",
    "worlds": "16_micro_worlds",
    "personal": "17_personal_budgets",
    "side_by_side": "18_side_by_side",
    "forest": "18_forest",
    "own_data": "19_your_own_data",
    "private_bins": "19_private_bins",
    "way_back": "19_the_way_back",
    "outside": "20_the_world_outside",
    "persons": "21_your_epsilon_is_your_own",
}

__all__ = [*sorted(LESSONS), "teaching_table"]


def __getattr__(name: str) -> Any:
    """A panel is loaded when it is first used: each needs Plotly and ipywidgets."""
    if name == "teaching_table":
        return import_module(".table", __name__).teaching_table
    if name in LESSONS:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
