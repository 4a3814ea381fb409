"""Personalised differentially private release of data with Bayesian networks.

Teach it, analyse it, release with it.
"""

from importlib import import_module
from typing import Any

from .domain.schema import Attribute, Schema
from .errors import BudgetError, PrivacyError, SchemaError
from .model import Model
from .network import Network
from .privacy.ledger import Ledger
from .privacy.session import Session
from .structure.restrictions import Restriction
from .synthesizers import (
    PPBA,
    ConsistentBayes,
    GeneticBayes,
    HMPrivBayes,
    HPPrivBayes,
    PrivABN,
    PrivBayes,
    Synthesizer,
    plan,
)

__version__ = "0.2.0"

_LAZY = {
    "audit": "audit",
    "baselines": "synthesizers.baselines",
    "datasets": "datasets",
    "evaluate": "evaluation",
    "papers": "papers",
    "parts": "synthesizers.parts",
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
