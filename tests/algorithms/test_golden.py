"""What every synthesizer gave before the house was rebuilt, by digest: networks, tables, ledgers
and drawn rows.

All synthesizers × three guarantees × four small real tables × three seeds. ``python
tests/algorithms/test_golden.py`` adds what isn't held yet; with ``anew`` it writes all of
``golden.json`` anew. Either belongs into a commit of its own, which says why a digest may change.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from dataclasses import astuple
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pdsynth as pds
from pdsynth import baselines, parts
from pdsynth.published import ConditionalNoise

STORE = Path(__file__).with_name("golden.json")
GUARANTEES = ("strict", "published", "none")
SEEDS = (1, 2, 3)
ROWS = 400
KEPT = {
    "adult": ("age", "workclass", "education", "occupation", "sex", "hours-per-week"),
    "cmc": ("wife_age", "wife_education", "husband_education", "media", "method"),
    "nltcs": ("outside", "money", "bathing", "dressing", "eating", "toileting", "heavy", "light"),
    "acs": ("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"),
}

AGREEING = (  # strict tables are made to agree, in floating point
    pds.HPPrivBayes,
    pds.HMPrivBayes,
    pds.PPBA,
    pds.GeneticBayes,
    baselines.PrivSCBN,
    baselines.CSAPrivBayes,
)


@cache
def table(name: str):
    """Four hundred rows of a few columns, with their schema, the name of a sensitive column and of
    another one."""
    if name in ("nltcs", "acs") and not os.environ.get("PDSYNTH_DATA"):
        pytest.skip("PDSYNTH_DATA isn't set to a folder of tables")
    data = pds.datasets
    dataset = {
        "adult": lambda: data.load_adult(coding="thesis"),
        "cmc": data.load_cmc,
        "nltcs": data.load_nltcs,
        "acs": data.load_acs,
    }[name]()
    names = [c for c in dataset.schema.names if c in KEPT[name]]
    if len(names) < 5:
        names = list(dataset.schema.names[:8])
    frame = (
        dataset.frame[names].iloc[:: len(dataset.frame) // ROWS].head(ROWS).reset_index(drop=True)
    )
    return frame, pds.Schema(tuple(dataset.schema[c] for c in names)), names[1], names[2]


def recipes(s: str, t: str, schema) -> dict:
    """Every synthesizer with the parameters that open its branches; ``s`` is sensitive, ``t`` a
    target."""
    policy = {"A": [s], "B": [name for name in schema.names if name != s]}
    weights = {t: [1 + j for j in range(schema[t].size)]}
    small = {"generations": 8, "population": 20}
    halves = [list(schema.names[:3]), list(schema.names[3:])]
    restricted = parts.Restriction(t, (s,))
    mixed = {
        "ordered by entropy, groups": (parts.Ordered(k=1, by="entropy"), parts.Groups(s)),
        "ordered by association, risk": (parts.Ordered(k=2), parts.RiskEntropy()),
        "tree, geometric": (parts.SpanningTree(k=2, score="R"), parts.Geometric(0.8)),
        "sums kept, classes": (parts.PairwiseSums(k=2, keep=0.5), parts.Geometric(1.3, classes=2)),
        "greedy from a root": (parts.Greedy(k=1, root=t, score="I"), parts.Uniform()),
        "greedy with a policy": (parts.Greedy(k=2, restriction=restricted), parts.Uniform()),
        "fixed, risk": (
            pds.Network(tuple((c, schema.names[:i][-1:]) for i, c in enumerate(schema.names))),
            parts.RiskEntropy(),
        ),
        "searched, uniform": (parts.GeneticSearch(k=2, search="hill"), parts.Uniform()),
        "adaptive, uniform": (parts.Adaptive(k=2), parts.Uniform()),
    }
    return (
        {
            "PrivBayes": pds.PrivBayes(20),
            "PrivBayes k=2": pds.PrivBayes(2, k=2),
            "PrivBayes k=1 score=I": pds.PrivBayes(2, k=1, score="I", share_structure=0.5),
            "PrivBayes score=F": pds.PrivBayes(2, k=2, score="F"),
            "PrivBayes thesis": pds.PrivBayes(2, k=2, reading="thesis"),
            "PrivBayes restricted": pds.PrivBayes(20, k=2, restriction=restricted),
            "HPPrivBayes": pds.HPPrivBayes(20, sensitive=s),
            "HPPrivBayes k=1": pds.HPPrivBayes(2, k=1, sensitive=s, theta=0.02, r=0.5),
            "HPPrivBayes policy": pds.HPPrivBayes(
                2,
                k=1,
                personal=pds.parts.SensitivityGroups(
                    groups=policy, weights=weights, rare_values="more_noise"
                ),
            ),
            "HPPrivBayes flat": pds.HPPrivBayes(
                2,
                k=2,
                sensitive=s,
                theta=0,
                restriction=restricted,
                personal=pds.parts.SensitivityGroups(rare_values="same_noise"),
            ),
            "HMPrivBayes": pds.HMPrivBayes(50, k=2, l=2),
            "HMPrivBayes public": pds.HMPrivBayes(2, clusters=halves, eta=0, l=2),
            "PrivABN": pds.PrivABN(20),
            "PrivABN k=2": pds.PrivABN(2, k=2),
            "PPBA": pds.PPBA(20),
            "PPBA k=2": pds.PPBA(2, k=2, q=1.3),
            "GeneticBayes": pds.GeneticBayes(20, **small),
            "GeneticBayes k=2": pds.GeneticBayes(50, k=2, **small),
            "GeneticBayes custom": pds.GeneticBayes(20, k=2, target=t, sensitive=s, search="exact"),
            "Independent": baselines.Independent(2),
            "JTree": baselines.JTree(20, theta_usefulness=0.5),
            "PriView": baselines.PriView(5, size=6),
            "PrivSCBN": baselines.PrivSCBN(50, k=2, l=2),
            "PrivSCBN public": baselines.PrivSCBN(2, clusters=halves, l=2),
            "CSAPrivBayes": baselines.CSAPrivBayes(5, k=1, sensitive=s),
            "CSAPrivBayes policy": baselines.CSAPrivBayes(
                5, k=1, personal=pds.parts.SensitivityGroups(groups=policy)
            ),
            "ELPrivBayes": baselines.ELPrivBayes(20, k=2),
            "SAPrivBayes": baselines.SAPrivBayes(20, k=2),
            "WeightedPrivBayes": baselines.WeightedPrivBayes(5, k=1),
        }
        | {
            f"mixed: {name}": pds.Synthesizer(10, structure=structure, budget=budget)
            for name, (structure, budget) in mixed.items()
        }
        | {
            "mixed: noise on conditionals": pds.Synthesizer(
                10, structure=parts.Greedy(k=2), conditionals=ConditionalNoise()
            ),
            "ConsistentBayes": pds.ConsistentBayes(20),
            "ConsistentBayes rounds=0": pds.ConsistentBayes(2, rounds=0),
        }
    )


def names_of(table_name: str) -> list[str]:
    """The recipes that are tried on a table."""
    return list(recipes("s", "t", _AnyNames()))


class _AnyNames:
    """Stands for a schema where only the recipes' names are wanted."""

    names = ("s", "t", "u", "v", "w")

    def __getitem__(self, name: str):
        return type("Two", (), {"size": 2})


@cache
def stored() -> dict:
    return json.loads(STORE.read_text())


def digest(*values: object) -> str:
    return hashlib.sha256("\n".join(map(str, values)).encode()).hexdigest()[:16]


def plain(weights) -> str:
    """A table of weights as text, dense or sparse."""
    if isinstance(weights, np.ndarray):
        cells = hashlib.sha256(np.ascontiguousarray(weights).tobytes()).hexdigest()
        return f"{weights.shape} {weights.dtype} {cells}"
    return f"{weights.shape} {json.dumps(weights.to_dict())}"


def rounded(weights: np.ndarray) -> np.ndarray:
    """A table that was fitted in floating point, to millionths: processors round differently."""
    return np.rint(weights / weights.sum() * 10**6).astype(np.int64)


def found(recipe: str, guarantee: str, table_name: str, seed: int) -> dict[str, str]:
    """Digests of one fit, or the error that refuses it."""
    frame, schema, s, t = table(table_name)
    synthesizer = recipes(s, t, schema)[recipe].set_params(guarantee=guarantee, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            synthesizer.fit(frame, schema=schema)
        except (pds.BudgetError, pds.PrivacyError) as refusal:
            return {"refused": type(refusal).__name__}
    ledger = synthesizer.ledger_
    lines = [astuple(entry) for entry in ledger.entries]
    tables = synthesizer.model_.tables
    if isinstance(synthesizer, pds.ConsistentBayes) or (
        guarantee == "strict" and isinstance(synthesizer, AGREEING)
    ):
        tables = tuple(map(rounded, tables))
    loss = ledger.attribute_epsilon()
    return {
        "network": digest(synthesizer.network_.pairs),
        "tables": digest(*map(plain, tables)),
        "ledger": digest(
            *lines,
            ledger.epsilon,
            ledger.claimed,
            *ledger.notes,
            *ledger.check(),
            loss.to_dict(),
            *loss.attrs.values(),
        ),
        "rows": digest(synthesizer.sample(50, method="independent").to_csv()),
    }


def digests(
    recipe: str, table_name: str, seeds: tuple[int, ...] = SEEDS
) -> dict[str, dict[str, str]]:
    """All guarantees and seeds of one recipe on one table."""
    return {f"{g} {seed}": found(recipe, g, table_name, seed) for g in GUARANTEES for seed in seeds}


@pytest.mark.parametrize("seeds", [(1,), pytest.param((2, 3), marks=pytest.mark.slow)])
@pytest.mark.parametrize("table_name", KEPT)
@pytest.mark.parametrize("recipe", names_of("adult"))
def test_a_seeded_fit_is_what_it_was(recipe, table_name, seeds):
    table(table_name)
    held = stored()[table_name][recipe]
    seen = digests(recipe, table_name, seeds)
    assert seen == {key: held[key] for key in seen}


def test_every_recipe_is_held_and_most_fits_are_not_refusals():
    held = stored()
    assert {name: list(of) for name, of in held.items()} == {name: names_of(name) for name in KEPT}
    fits = [fit for of in held.values() for runs in of.values() for fit in runs.values()]
    assert len(fits) == len(names_of("adult")) * 4 * 9
    assert sum("refused" in fit for fit in fits) < len(fits) / 5


if __name__ == "__main__":  # python tests/algorithms/test_golden.py [anew]
    kept = {} if sys.argv[1:] == ["anew"] else json.loads(STORE.read_text())
    held = {t: {r: kept.get(t, {}).get(r) or digests(r, t) for r in names_of(t)} for t in KEPT}
    STORE.write_text(json.dumps(held, indent=0) + "\n")
