"""(ε, δ) for ConsistentBayes: the same rounds in zCDP, with Gaussian noise. Off by default.

``ConsistentBayes(1, delta=1e-9)`` promises (ε, δ)-differential privacy, which is less than pure ε:
with a chance of at most δ the loss may exceed ε. What it buys is Gaussian noise. The budget becomes
the largest ρ for which ρ-zCDP implies (ε, δ) (:func:`rho_of`); every step costs ρ, the ledger adds
these fractions exactly, and converts once.

conversion  (ε, δ) ↔ ρ, on the safe side
gaussian    the discrete Gaussian law and its sampler
ledger      lines in ρ, their rules, the verdict
curator     the door to the records that answers for ρ

The core asks this house through :func:`pdsynth.core.errors.door` where ``delta`` is given, and
never otherwise.
"""

from dataclasses import replace

from ..core import BudgetError, Facts, Parts, Recipe, positive
from .conversion import check_delta, epsilon_of, implies, rho_of
from .curator import ConcentratedCurator, round_root
from .gaussian import DiscreteGaussian, discrete_gaussian_pmf, exact_gaussian, renyi_losses
from .ledger import ConcentratedLedger, ConcentratedUnit, open_ledger, pair

__all__ = [
    "ConcentratedCurator",
    "ConcentratedLedger",
    "ConcentratedUnit",
    "DiscreteGaussian",
    "check_delta",
    "concentrate",
    "discrete_gaussian_pmf",
    "epsilon_of",
    "exact_gaussian",
    "implies",
    "open_ledger",
    "pair",
    "renyi_losses",
    "rho_of",
    "round_root",
]

LARGEST = 10**-5  # δ where n is secret, which can't be asked then


def concentrate(
    recipe: Recipe, facts: Facts, parts: Parts
) -> tuple[Facts, type[ConcentratedCurator]]:
    """The facts of a fit in ρ, and the door that takes it; BudgetError for what isn't built.

    **Privacy:** reads public facts alone, and no records.
    """
    delta, name = check_delta(recipe.delta), type(recipe).__name__
    if not getattr(parts.structure, "plans_in_rho", False):
        raise BudgetError(
            f"delta is built for ConsistentBayes, and not for {name}: leave it out, which is pure ε"
        )
    if recipe.guarantee != "strict":
        raise BudgetError(f"delta is for guarantee='strict', got {recipe.guarantee!r}")
    if recipe.records_per_person != 1:
        raise BudgetError(
            "delta counts one record a person: leave it out, or hand in one record of each"
        )
    if getattr(parts.structure, "personal", None) is not None:
        raise BudgetError(
            "r and the weights of personal= are ratios of ε, and delta counts ρ: leave one of them "
            "out (groups that the schema declares stand for personal=)"
        )
    if facts.unit.n_is_public and delta * facts.n >= 1:
        raise BudgetError(
            f"delta = {float(delta):.3g} isn't below 1/n = {1 / facts.n:.3g}: with such a chance "
            "somebody's record may be printed as it is; take 1e-9"
        )
    if delta > LARGEST:
        raise BudgetError(
            f"delta = {float(delta):.3g} is no small chance: take 1e-9, or at most {LARGEST:g}"
        )
    epsilon = positive("epsilon", recipe.epsilon)
    times = rho_of(epsilon, delta) / epsilon
    unit = ConcentratedUnit(facts.unit.relation)
    facts = replace(
        facts, epsilon=facts.epsilon * times, epsilon2=facts.epsilon2 * times, unit=unit
    )
    return facts, ConcentratedCurator
