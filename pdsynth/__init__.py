"""Personalised differentially private data publishing with Bayesian networks: teach it, analyse it, release with it."""

from importlib import import_module
from typing import Any

from .errors import BudgetDegenerate, BudgetError, PrivacyError, SchemaError
from .ledger import Ledger
from .model import Model
from .network import Network
from .schema import Attribute, Schema
from .synthesizers import PPBA, GeneticBayes, HMPrivBayes, HPPrivBayes, PrivABN, PrivBayes, Synthesizer, plan, price

__version__ = "0.1.0"

_ROOMS = {room: room for room in ("audit", "datasets", "lessons", "panels", "papers", "parts", "plan", "plots", "price", "widgets")}
_ROOMS |= {"evaluate": "evaluation", "baselines": "synthesizers.baselines", "parts": "synthesizers.parts"}

__all__ = [
    "Attribute", "BudgetDegenerate", "BudgetError", "GeneticBayes", "HMPrivBayes", "HPPrivBayes", "Ledger", "Model", "Network", "PPBA",
    "PrivABN", "PrivBayes", "PrivacyError", "Schema", "SchemaError", "Synthesizer", "audit", "baselines", "datasets", "evaluate",
    "papers", "parts", "plan", "plots", "price", "widgets",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Rooms that need more than numpy and pandas are opened when first used."""
    if name in _ROOMS:
        room = import_module(f".{_ROOMS[name]}", __name__)
        globals()[name] = room
        return room
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
