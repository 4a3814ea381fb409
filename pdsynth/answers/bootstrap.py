"""The parametric bootstrap: the model plays the table, and the same steps learn from it again.

**Privacy:** post-processing of a release: no record is read, and nothing is charged.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from .. import algorithms
from ..baselines import METHODS
from ..core import ExactNoise, Model, Network, Noise, Recipe, Records, SchemaError, progress, show

MOST_RECORDS = 10**7  # of a table that a model plays
NAMED = "target", "sensitive"  # an attribute may be called 2019
FAILS = LookupError, TypeError, ValueError, ArithmeticError, RecursionError  # texts of a stranger


def spread_of(
    model: Model, answer: Callable[[Model], np.ndarray], repeats: int, seed: Any
) -> np.ndarray:
    """Root mean square error of an answer over tables that the model drew, in records.

    ``answer``: probabilities (cells,) of a model; its truth is what the drawn table holds, of which
    n rows are drawn one by one. Where n is secret, each fit has a noisy number of its own.
    **Privacy:** post-processing.
    """
    key = repeats, None if seed is None else int(seed)
    cache = model.__dict__.setdefault("_played", {})  # fits are reused by the next question
    if key not in cache:
        cache.clear()
        cache[key] = play(model, repeats, seed)
    pairs = cache[key]
    squares = [(again.n * answer(again) - model.n * answer(table)) ** 2 for table, again in pairs]
    return np.sqrt(np.mean(squares, axis=0))


class Drawn:
    """A table that a model drew, which answers as a model does: with its counts."""

    def __init__(self, model: Model, codes: np.ndarray) -> None:
        self.model, self.codes = model, codes

    def joint(self, names: list[str]) -> np.ndarray:
        """The shares of the rows, one axis for each name."""
        schema = self.model.schema
        shape = [schema[name].size for name in names]
        columns = [self.codes[:, schema.index(name)].astype(np.int64) for name in names]
        cells = np.bincount(np.ravel_multi_index(columns, shape), minlength=int(np.prod(shape)))
        return cells.reshape(shape) / len(self.codes)


def play(model: Model, repeats: int, seed: Any) -> list[tuple[Any, Model]]:
    """Tables that the model draws, each with the model that the same steps learn from it."""
    if model.n > MOST_RECORDS:
        raise SchemaError(
            f"a bootstrap would draw {model.n:,} records again and again; at most "
            f"{MOST_RECORDS:,} are: ask for what was measured"
        )
    recipe = rebuild(model)
    seeds = np.random.SeedSequence(seed).spawn(repeats)
    fits = []
    for each in progress(seeds, "bootstrap", repeats, "fit"):
        codes = model.sample_codes(model.n, np.random.Generator(np.random.PCG64(each)))
        noise = _noise_like(model, [int(x) for x in each.generate_state(4)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = _fit(recipe, model, codes, noise)
        fits.append((Drawn(model, codes), again))
    return fits


def _noise_like(model: Model, seed: list[int]) -> Noise:
    """A random source as the model's, with as many holders."""
    if model.ledger.holders is None:
        return ExactNoise(seed)
    from ..holders import SharedNoise  # noqa: PLC0415 - of models of several holders alone

    return SharedNoise(*model.ledger.holders, seed)


def _fit(recipe: Recipe, model: Model, codes: np.ndarray, noise: Noise) -> Model:
    """A fresh fit of the same steps to drawn codes, but for edges, which the model has already."""
    recipe, ledger = recipe.clone(), model.ledger
    edges = sum(Fraction(e.epsilon) for e in ledger.entries if e.lemma.startswith("lemma:edges"))
    left = 1 - edges / ledger.claimed  # what the other steps had
    if edges:
        recipe.set_params(epsilon=ledger.claimed * left)
    if not ledger.levels:
        return recipe.fit(Records(codes, model.schema), noise=noise).model_
    shown = model.shown
    frame = shown.decode(codes[:, 1:], None)
    offered = [level * left for level in ledger.levels]
    own = pd.Series(pd.Categorical.from_codes(codes[:, 0], offered))
    plain = replace(shown, attributes=tuple(replace(a, recode=None) for a in shown.attributes))
    return recipe.fit(frame, plain, noise=noise, person_epsilon=own).model_


def rebuild(model: Model) -> Recipe:
    """The unfitted synthesizer of a model, also of one that was read from a file.

    A file says parameters as texts. Numbers, lists and the parts of ``pds.parts`` are read back,
    and nothing is run; SchemaError for what can't be.
    """
    cls = METHODS.get(model.algorithm)
    if cls is None:
        raise SchemaError(
            f"no synthesizer here is called {show(model.algorithm)}, so its steps can't be "
            "repeated: ask for what was measured"
        )
    defaults = cls().get_params()
    parameters = {name: value for name, value in model.parameters.items() if name in defaults}
    names = [name for name in model.schema.names if name != "None"]  # a file says None so
    read = {
        name: value if name in NAMED and value in names else _read(name, value)
        for name, value in parameters.items()
    }
    if read.get("structure") == str(model.network):  # as older files say a network of one's own
        read["structure"] = model.network
    return cls().set_params(**read | {"random_state": None})


def _read(name: str, value: Any) -> Any:
    """A parameter as it was, from itself or from its text."""
    if not isinstance(value, str):
        return value
    try:
        tree = ast.parse(value.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return value
    try:
        return _build(tree)
    except FAILS:
        if isinstance(tree, ast.Call):
            raise SchemaError(
                f"the model's file says {name} = {show(value)}, which can't be read back: the "
                "bootstrap needs the fitted model itself, or ask for what was measured"
            ) from None
        return value


def _divide(top: int, bottom: int) -> Fraction:
    """A fraction as its repr has it; of a text it could be one of billions of digits."""
    if not type(top) is type(bottom) is int:
        raise TypeError("a fraction of other things than whole numbers")
    return Fraction(top, bottom)


def _build(tree: ast.AST) -> Any:
    """Numbers, texts, lists and parts; LookupError for anything else."""
    if isinstance(tree, ast.Constant):
        return tree.value
    if isinstance(tree, (ast.Tuple, ast.List)):
        items = [_build(x) for x in tree.elts]
        return tuple(items) if isinstance(tree, ast.Tuple) else items
    if isinstance(tree, ast.Dict) and None not in tree.keys:
        return {_build(k): _build(v) for k, v in zip(tree.keys, tree.values, strict=True) if k}
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_build(tree.operand)
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div):  # a fraction
        return Fraction(_build(tree.left)) / _build(tree.right)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        words = {k.arg: _build(k.value) for k in tree.keywords if k.arg}
        name = tree.func.id
        makers = {x: getattr(algorithms.parts, x) for x in algorithms.parts.__all__}
        makers |= {"Network": Network, "Fraction": _divide}
        if name in makers:
            return makers[name](*map(_build, tree.args), **words)
    raise LookupError(type(tree).__name__)
