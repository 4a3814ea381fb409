"""How ε is split over the tables of a network: arithmetic of shares, and the rules made of it."""

from ..privacy.numbers import number, positive, share
from .groups import Groups, SensitivityGroups, check_personal
from .rules import Allocation, BudgetRule, Geometric, RiskEntropy, Uniform
from .shares import (
    RARE_VALUES,
    TableBudget,
    by_weight,
    geometric,
    proportional,
    risk_entropy_weights,
    uniform,
    value_weights,
)

__all__ = [
    "RARE_VALUES",
    "Allocation",
    "BudgetRule",
    "Geometric",
    "Groups",
    "RiskEntropy",
    "SensitivityGroups",
    "TableBudget",
    "Uniform",
    "by_weight",
    "check_personal",
    "geometric",
    "number",
    "positive",
    "proportional",
    "risk_entropy_weights",
    "share",
    "uniform",
    "value_weights",
]
