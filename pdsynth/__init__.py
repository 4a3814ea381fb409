"""Personalised differentially private data publishing with Bayesian networks.

Teach it, analyse it, release with it.
"""

import sys
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
    "structure.exact": "pdsynth.structure.exact_search",
    "structure.informed": "pdsynth.structure.ibayes",
    "synthesizers.groups": "pdsynth.parts.Groups and pdsynth.parts.SensitivityGroups",
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


class _Moved:
    """Asked last for a module that isn't there: a name of the old house says where it lives now."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        old = name.removeprefix("pdsynth.")
        if old != name and old in _MOVED:
            raise ModuleNotFoundError(f"{name} has moved: use {_MOVED[old]}", name=name)


sys.meta_path.append(_Moved)  # type: ignore[arg-type]


def __getattr__(name: str) -> Any:
    """Load what needs more than numpy and pandas when it is first used."""
    if name in _LAZY:
        module = import_module(f".{_LAZY[name]}", __name__)
        globals()[name] = module
        return module
    if name in _MOVED:
        raise ImportError(f"pdsynth.{name} has moved: use {_MOVED[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
