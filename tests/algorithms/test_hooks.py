"""Subclasses written outside the package: whatever hook they override, what can't be is refused
before any budget is spent."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from contract_cases import binary, spending

import pdsynth as pds
from pdsynth import BudgetError, HPPrivBayes, PrivBayes, SchemaError
from pdsynth.algorithms.privbayes import Greedy
from pdsynth.core.budgets import Parts, Uniform
from pdsynth.core.recipe import HOOKS, Recipe


def subclass(base, hook):
    """A subclass of ``base`` that overrides one hook as carelessly as it can."""
    careless = {
        "_parts": lambda self, facts: Parts(Greedy(k=1), Uniform()),
        "_check": lambda self, facts: None,
        "_split": lambda self, facts: {
            "selections": facts.epsilon / 2,
            "tables": facts.epsilon / 2,
        },
    }
    return dataclass(eq=False, repr=False, kw_only=True)(
        type(f"My{hook.title()}", (base,), {hook: careless[hook]})
    )


@dataclass(eq=False, repr=False, kw_only=True)
class Own(Recipe):
    """A recipe from scratch with the usual fields."""

    k: int | str = 1
    sensitive: str | None = None

    def _parts(self, facts):
        return Parts(Greedy(k=1), Uniform())


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("base", [PrivBayes, HPPrivBayes, Own])
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"k": 99}, BudgetError, r"k = 99.*d = 4"),
        ({"k": -1}, BudgetError, r"k must be.*got -1"),
        ({"epsilon": 0}, BudgetError, r"epsilon must be.*got 0"),
        ({"epsilon": float("nan")}, BudgetError, "epsilon"),
        ({"sensitive": "job"}, SchemaError, r"no attribute 'job'"),
        ({"guarantee": "strictly"}, BudgetError, "guarantee"),
    ],
    ids=["k", "k negative", "epsilon zero", "epsilon nan", "sensitive", "guarantee"],
)
def test_a_subclass_still_refuses_before_any_budget_is_spent(
    base, hook, given, error, words, monkeypatch
):
    if "sensitive" in given and base is PrivBayes:
        base = dataclass(eq=False, repr=False, kw_only=True)(
            type(
                "WithSensitive",
                (base,),
                {"__annotations__": {"sensitive": "str"}, "sensitive": None},
            )
        )
    made = subclass(base, hook)(**{**({"sensitive": "b0"} if base is HPPrivBayes else {}), **given})
    frame, schema = binary(4, 60)
    with spending(monkeypatch) as seen, pytest.raises(error, match=words):
        made.fit(frame, schema)
    assert seen == []
    assert not hasattr(made, "ledger_")


@pytest.mark.parametrize("name", ["fit", "prepare"])
@pytest.mark.parametrize("base", [PrivBayes, Recipe])
def test_fit_and_the_public_checks_can_t_be_overridden(base, name):
    with pytest.raises(TypeError, match=rf"overrides {name}.*_parts"):
        type("Sly", (base,), {name: lambda self, *args, **more: None})


@pytest.mark.parametrize("name", ["fit", "prepare"])
def test_nor_by_a_class_that_stands_before_the_base(name):
    """A mixin has no base that could refuse it; the class that takes it in has."""
    mixin = type("Mixin", (), {name: lambda self, *args, **more: None})
    with pytest.raises(TypeError, match=rf"Sly overrides {name}.*_parts"):
        type("Sly", (mixin, PrivBayes), {})
    assert type("Honest", (type("Mixin", (), {}), PrivBayes), {})


def test_checks_of_base_classes_run_besides_those_of_a_subclass():
    class Careful(HPPrivBayes):
        def _check(self, facts):
            raise BudgetError("mine")

    frame, schema = binary(4, 60)
    with pytest.raises(BudgetError, match="leaves nothing"):
        Careful(sensitive="b0", share_sketch=0.5, share_structure=0.5).fit(frame, schema)
    with pytest.raises(BudgetError, match="mine"):
        Careful(sensitive="b0").fit(frame, schema)


def test_a_split_of_more_than_epsilon_is_refused_before_noise(monkeypatch):
    class Greedier(PrivBayes):
        def _split(self, facts, parts):
            return {"selections": 2 * facts.epsilon, "tables": facts.epsilon}

    frame, schema = binary(4, 60)
    with pytest.raises(BudgetError):
        Greedier(k=1).fit(frame, schema)


@pytest.mark.parametrize("part", [Fraction(-999), -0.5, 0, float("nan")])
def test_a_share_that_gives_epsilon_back_is_refused_before_anything_is_spent(part, monkeypatch):
    """1,000 ε for the tables and −999 for choices come to ε, and show the counts as they are."""

    class Refund(PrivBayes):
        def _split(self, facts, parts):
            return {"selections": part, "tables": (1 - part) * facts.epsilon}

    frame, schema = binary(4, 60)
    made = Refund(k=1)
    if part == 0:  # no choice costs nothing, and is none
        made = Refund(k=0).fit(frame, schema)
        assert made.ledger_.epsilon == 1
        return
    with spending(monkeypatch) as seen, pytest.raises(BudgetError, match=f"must be.*{part}"):
        made.fit(frame, schema)
    assert seen == []


@pytest.mark.parametrize("structure", [pds.parts.ResidualForest(), pds.parts.ResidualRounds()])
def test_a_budget_with_nothing_to_split_is_refused_in_a_sentence(structure):
    frame, schema = binary(4, 60)
    for budget in (pds.parts.Groups(sensitive="b0"), pds.parts.RiskEntropy()):
        made = pds.Synthesizer(structure=structure, budget=budget)
        name = type(budget).__name__
        with pytest.raises(BudgetError, match=f"measures its own tables, so {name} has nothing"):
            made.fit(frame, schema)
        assert made.spent_ == 0
