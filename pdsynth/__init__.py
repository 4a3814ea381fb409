"""Personalised differentially private data publishing with Bayesian networks.

Teach it, analyse it, release with it.
"""

from importlib import import_module
from typing import Any

from .domain.schema import Attribute, Schema
from .errors import BudgetError, PrivacyError, SchemaError
from .model import Model
from .network import Network
from .privacy.ledger import Ledger
from .structure.restrictions import Restriction
from .synthesizers import (
    PPBA,
    GeneticBayes,
    HMPrivBayes,
    HPPrivBayes,
    PrivABN,
    PrivBayes,
    Synthesizer,
    plan,
)

__version__ = "0.1.0"

_LAZY = {
    "audit": "audit",
    "baselines": "synthesizers.baselines",
    "datasets": "datasets",
    "evaluate": "evaluation",
    "papers": "papers",
    "parts": "synthesizers.parts",
    "plots": "plots",
}
_MOVED = {
    "lessons": "pdsynth.course.exercises",
    "panels": "pdsynth.course.panels",
    "widgets": "pdsynth.course.widgets",
    "price": "plan(schema, n, epsilon).price(network, edge)",
    "BudgetDegenerate": "pdsynth.errors.BudgetDegenerate",
    "attribute": "pdsynth.domain.attribute",
    "bits": "pdsynth.counting.bits",
    "counts": "pdsynth.counting.tables",
    "curator": "pdsynth.privacy.curator",
    "encoding": "pdsynth.domain.encoding",
    "entries": "pdsynth.privacy.entries",
    "lattice": "pdsynth.counting.lattice",
    "ledger": "pdsynth.privacy.ledger",
    "mechanisms": "pdsynth.privacy.mechanisms",
    "noise": "pdsynth.privacy.noise",
    "partition": "pdsynth.structure.clustering",
    "partitions": "pdsynth.counting.equivalence_classes",
    "rules": "pdsynth.privacy.rules",
    "schema": "pdsynth.domain.schema",
}

__all__ = [
    "Attribute",
    "BudgetError",
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
    if name in _MOVED:
        raise AttributeError(f"pdsynth.{name} has moved: use {_MOVED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
