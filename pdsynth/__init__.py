"""Personalised differentially private release of data with Bayesian networks.

Teach it, analyse it, release with it.
"""

from importlib import import_module
from typing import Any

from .algorithms import (
    PPBA,
    ConsistentBayes,
    GeneticBayes,
    HMPrivBayes,
    HPPrivBayes,
    PrivABN,
    PrivBayes,
    Synthesizer,
)
from .constraints import Rule
from .core import (
    Attribute,
    BudgetError,
    Ledger,
    Model,
    Network,
    PrivacyError,
    Restriction,
    Schema,
    SchemaError,
)
from .files.session import Session
from .planning import plan

__version__ = "0.2.0"

_LAZY = {
    "audit": "audit",
    "baselines": "baselines",
    "datasets": "datasets",
    "evaluate": "evaluation",
    "papers": "papers",
    "parts": "algorithms.parts",
    "plots": "plots",
}
__all__ = [
    "Attribute",
    "BudgetError",
    "ConsistentBayes",
    "GeneticBayes",
    "HMPrivBayes",
    "HPPrivBayes",
    "Ledger",
    "Model",
    "Network",
    "PPBA",
    "PrivABN",
    "PrivBayes",
    "PrivacyError",
    "Restriction",
    "Rule",
    "Schema",
    "SchemaError",
    "Session",
    "Synthesizer",
    "audit",
    "baselines",
    "datasets",
    "evaluate",
    "papers",
    "parts",
    "plan",
    "plots",
]


def __getattr__(name: str) -> Any:
    """Load what needs more than numpy and pandas when it is first used."""
    if name in _LAZY:
        module = import_module(f".{_LAZY[name]}", __name__)
        globals()[name] = module
        return module
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
