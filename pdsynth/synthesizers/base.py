"""What every algorithm shares: scikit-learn parameters, checks before any budget is spent, fit, sample."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any, Self

import numpy as np
import pandas as pd

from ..budgets import positive
from ..conditionals import Table
from ..counts import Records
from ..curator import GUARANTEES, Curator
from ..errors import BudgetError, PrivacyError, SchemaError
from ..ledger import Ledger
from ..mechanisms import CommonNoise, ExactNoise, Noise, NoNoise
from ..model import Model
from ..network import Network
from ..schema import Schema
from .degrees import MAX_PAIRS, check_degree, check_noise, choose_degree, prepare

__all__ = ["MAX_PAIRS", "Synthesizer", "check_degree", "check_noise", "choose_degree", "prepare"]


class Synthesizer:
    """A fitted synthesizer has ``ledger_``, ``network_``, ``model_`` and ``schema_``; subclasses write one ``_recipe``.

    Constructor keywords are stored untouched and checked in ``fit``.
    """

    epsilon: Any
    guarantee: str
    noise: str
    random_state: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor keywords and their values, as scikit-learn does."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor keywords; an unknown one raises BudgetError."""
        for name, value in params.items():
            if name not in self._parameter_names():
                raise BudgetError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._parameter_names())}")
            setattr(self, name, value)
        return self

    def clone(self) -> Self:
        """An unfitted copy with the same parameters."""
        return type(self)(**self.get_params())

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def fit(self, frame: pd.DataFrame, schema: Schema | None = None) -> Self:
        """Learn a model of a table over its public schema; returns self.

        Raises SchemaError, BudgetError or PrivacyError before any budget is spent.

        **Privacy:** as the class says, for replacing one record; n and the schema are public.
        """
        if schema is None:
            raise SchemaError("fit needs the public schema of the table: fit(frame, schema=schema); Schema.infer(frame) only to explore")
        if not isinstance(schema, Schema):
            raise SchemaError(f"schema must be a Schema, got {type(schema).__name__}")
        self._check_parameters()
        schema.check(frame)
        if self.guarantee == "strict" and schema.source != "public":
            raise PrivacyError(
                "this schema was inferred from the data, so its domains would leak; write a public one, or say "
                "schema.declare_public() if you knew these domains without looking"
            )
        self._check_schema(schema, len(frame))
        return self.fit_records(Records(schema.encode(frame), schema.like(frame)))

    def fit_records(self, records: Records, noise: Noise | None = None) -> Self:
        """The same fit on encoded records that keep their counts; for live panels and ``compare``.

        A fit that is refused leaves an earlier one untouched.

        **Privacy:** as :meth:`fit`; every fit spends ε again.
        """
        before = dict(self.__dict__)
        try:
            return self._fit(records, noise)
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, records: Records, noise: Noise | None) -> Self:
        epsilon = self._check_parameters()
        self._check_schema(records.schema, records.n)
        if self.guarantee == "none":
            source: Noise = NoNoise(self.random_state or 0)
        else:
            source = noise or (CommonNoise(self.random_state or 0) if self.noise == "common" else ExactNoise(self.random_state))
        ledger = Ledger(epsilon, self.guarantee)
        curator = Curator(records, ledger, source)
        network, tables = self._recipe(curator, source, epsilon)
        self.ledger_, self.network_, self.schema_, self.n_ = ledger, network, records.schema, records.n
        self.model_ = Model(records.schema, network, tables, ledger, records.n, type(self).__name__, self.get_params())
        self._sampled = 0
        return self

    def sample(self, n: int | None = None) -> pd.DataFrame:
        """A synthetic table of n rows (as many as were fitted if None); post-processing, costs nothing.

        A seeded synthesizer gives the same tables in the same order after each fit.
        """
        if not hasattr(self, "model_"):
            raise BudgetError(f"this {type(self).__name__} is not fitted yet: call fit(frame, schema=schema) first")
        self._sampled += 1
        if self.random_state is None:
            return self.model_.sample(n)
        seed = np.random.SeedSequence([*np.atleast_1d(self.random_state).tolist(), 7919, self._sampled])
        return self.model_.sample(n, int(seed.generate_state(1, np.uint64)[0]))

    def _check_parameters(self) -> Fraction:
        if self.guarantee not in GUARANTEES:
            raise BudgetError(f"guarantee must be one of {GUARANTEES}, got {self.guarantee!r}")
        if self.noise not in ("exact", "common"):
            raise BudgetError(f"noise must be 'exact' or 'common', got {self.noise!r}")
        seed = self.random_state
        seeds = seed if isinstance(seed, (list, tuple)) and seed else [seed]
        if seed is not None and not all(isinstance(s, (int, np.integer)) and not isinstance(s, bool) and s >= 0 for s in seeds):
            raise BudgetError(f"random_state must be None or a whole number of at least 0, got {seed!r}")
        return positive("epsilon", self.epsilon)

    def _check_schema(self, schema: Schema, n: int) -> None:
        """Refuse, from public facts alone, what can't be fitted."""

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[Table, ...]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        defaults = {n: p.default for n, p in inspect.signature(type(self).__init__).parameters.items()}
        shown = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items() if k in ("epsilon", "guarantee") or v != defaults[k])
        words = {"strict": "", "published": " as published: see ledger_", "none": " NOT DIFFERENTIALLY PRIVATE"}
        word = words.get(self.guarantee, "")
        return f"{type(self).__name__}({shown}){word}"
