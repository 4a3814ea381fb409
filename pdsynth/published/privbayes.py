"""PrivBayes as the thesis reprints Algorithm 2: half the noise, 1.5 ε in all."""

from dataclasses import replace

from ..domain.facts import Facts
from ..errors import is_one_of
from ..synthesizers.presets import PrivBayes
from ..synthesizers.recipe import Parts


def printed_privbayes(recipe: PrivBayes, facts: Facts, parts: Parts) -> tuple[Facts, Parts]:
    """Half of ε for the tables, where the reading is the thesis'; else TODS, with score I.

    **Privacy:** TODS keeps its claim of ε; the thesis' tables have half the noise, 1.5 ε in all.
    """
    if is_one_of(recipe.reading, ("thesis",)):
        facts = replace(facts, epsilon2=facts.epsilon / 2)
    return facts, parts
