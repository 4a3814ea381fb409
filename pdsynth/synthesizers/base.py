"""What every algorithm shares: scikit-learn parameters, checks before any budget is spent, fit, sample."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
import pandas as pd

from ..budgets import TableBudget, positive, share
from ..conditionals import Table, noisy_conditionals, noisy_tables
from ..counting.tables import Records
from ..domain.schema import Schema
from ..errors import BudgetError, PrivacyError, SchemaError
from ..model import Model
from ..network import Network
from ..privacy.curator import GUARANTEES, Curator
from ..privacy.ledger import Ledger, as_fraction
from ..privacy.mechanisms import CommonNoise, ExactNoise, Noise, NoNoise, OpenDPNoise
from .degrees import MAX_PAIRS, check_degree, check_noise, choose_degree, prepare
from .parts import Fixed, Greedy, Groups, Uniform
from .plan import hopeless

__all__ = ["MAX_PAIRS", "Synthesizer", "check_degree", "check_noise", "choose_degree", "prepare"]


class Synthesizer:
    """Parts of different papers, mixed by hand; the papers' classes are recipes of their own.

    Parameters
    ----------
    epsilon : total budget ε.
    structure : a part of ``pds.parts`` (``Greedy``, ``Ordered``, ``PairwiseSums``, ``SpanningTree``), or a
        :class:`Network`, which is public and costs nothing. None: ``Greedy()``. A ``restriction`` of a part forces and forbids edges.
    budget : ``Uniform``, ``Groups``, ``RiskEntropy`` or ``Geometric``. None: ``Uniform()``.
    conditionals : where the noise goes: ``"joint"`` counts, or ``"conditional"`` probabilities as PrivABN prints it, which isn't
        private and so is refused under strict.
    share_structure : share of ε for the structure; what a structure doesn't need goes to the tables.
    guarantee : ``"strict"``, ``"published"`` or ``"none"``.
    noise : ``"exact"``; ``"opendp"``: the same laws from OpenDP's hardened samplers, for release; ``"common"``: seeded, for simulations.
    random_state : None draws from the operating system; a seed makes noise that others could draw, too, and the ledger says so.

    A fitted synthesizer has ``ledger_``, ``network_``, ``model_`` and ``schema_``. Constructor keywords are stored untouched and
    checked in ``fit``; subclasses write one ``_recipe``.

    **Privacy:** strict: pure ε-DP under replacing one record, the sum of what the parts say. Published: each part as its paper prints it.

    >>> import pdsynth as pds
    >>> pds.Synthesizer(structure=pds.parts.Greedy(k=1), budget=pds.parts.Geometric(q=1.2)).budget
    Geometric(q=1.2, classes=None)
    """

    epsilon: Any
    guarantee: str
    noise: str
    random_state: Any
    share_structure: Any
    conditionals: str = "joint"
    takes_records = True

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        structure: Any = None,
        budget: Any = None,
        conditionals: str = "joint",
        share_structure: float = 0.3,
        guarantee: str = "strict",
        noise: str = "exact",
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.structure, self.budget, self.conditionals, self.share_structure = epsilon, structure, budget, conditionals, share_structure
        self.guarantee, self.noise, self.random_state = guarantee, noise, random_state

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

    def fit(self, data: pd.DataFrame | Records, schema: Schema | None = None, *, noise: Noise | None = None) -> Self:
        """Learn a model of a table over its public schema; returns self.

        ``data``: a frame with its ``schema``, or :class:`Records` already coded over theirs (live panels, ``compare``). ``noise``:
        a random source in place of the one that the parameters name. A fit that is refused leaves an earlier one untouched.
        Raises SchemaError, BudgetError or PrivacyError before any budget is spent.

        **Privacy:** as the class says, for replacing one record; n and the schema are public. Every fit spends ε again.
        """
        self._check_parameters()
        records = self._records(data, schema)
        before = dict(self.__dict__)
        try:
            return self._fit(records, noise)
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _records(self, data: pd.DataFrame | Records, schema: Schema | None) -> Records:
        """The table as coded records, checked."""
        if isinstance(data, Records):
            return data
        if schema is None:
            raise SchemaError("fit needs the public schema of the table: fit(frame, schema=schema); Schema.infer(frame) only to explore")
        if not isinstance(schema, Schema):
            raise SchemaError(f"schema must be a Schema, got {type(schema).__name__}")
        schema.check(data)
        if self.guarantee == "strict" and schema.source != "public":
            raise PrivacyError(
                "this schema was inferred from the data, so its domains would leak; write a public one, or say "
                "schema.declare_public() if you knew these domains without looking"
            )
        self._check_schema(schema, len(data))
        degree = self._asked_degree()
        doubt = hopeless(schema, len(data), positive("epsilon", self.epsilon), degree) if degree and self.guarantee != "none" else None
        if doubt:
            warnings.warn(doubt, stacklevel=3)
        return Records(schema.encode(data), schema.like(data))

    def _fit(self, records: Records, noise: Noise | None) -> Self:
        epsilon = self._check_parameters()
        self._check_schema(records.schema, records.n)
        if self.guarantee == "none":
            source: Noise = NoNoise(self.random_state or 0)
        else:
            source = noise or self._source()
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
        if self.noise not in ("exact", "opendp", "common"):
            raise BudgetError(f"noise must be 'exact', 'opendp' or 'common', got {self.noise!r}")
        seed = self.random_state
        seeds = seed if isinstance(seed, (list, tuple)) and seed else [seed]
        if seed is not None and not all(isinstance(s, (int, np.integer)) and not isinstance(s, bool) and s >= 0 for s in seeds):
            raise BudgetError(f"random_state must be None or a whole number of at least 0, got {seed!r}")
        if self.noise == "opendp" and seed is not None:
            raise BudgetError("OpenDP draws from the operating system and takes no seed: use random_state=None, or noise='exact'")
        return positive("epsilon", self.epsilon)

    def _source(self) -> Noise:
        """The random source that ``noise`` names."""
        if self.noise == "opendp":
            return OpenDPNoise()
        return CommonNoise(self.random_state or 0) if self.noise == "common" else ExactNoise(self.random_state)

    def _check_schema(self, schema: Schema, n: int) -> None:
        """Refuse, from public facts alone, what can't be fitted."""
        if type(self)._recipe is not Synthesizer._recipe:
            return  # a recipe of its own says what it can't do
        structure, budget = self._parts()
        structure.check(schema)
        budget.check(schema)
        share("share_structure", self.share_structure)
        if self.conditionals not in ("joint", "conditional"):
            raise BudgetError(f"conditionals must be 'joint' or 'conditional', got {self.conditionals!r}")
        if self.conditionals == "conditional":
            self._check_conditionals(schema, budget)
        if self.guarantee != "none":
            check_noise(self.epsilon, n, Fraction(6 * n * len(schema) ** 2) * 100 / as_fraction(self.epsilon))

    def _check_conditionals(self, schema: Schema, budget: Any) -> None:
        if self.guarantee == "strict":
            raise PrivacyError(
                "noise on conditionals costs n times what it claims (PrivABN): use conditionals='joint', or guarantee='published'"
            )
        if max(schema.sizes) > 2 or isinstance(budget, Groups):
            raise BudgetError("noise on conditionals is for two-valued attributes and one scale a table: use conditionals='joint'")

    def _asked_degree(self) -> int | None:
        """The number of parents that was asked for, over attributes; None where it is chosen by rule."""
        given = getattr(self, "k", getattr(getattr(self, "structure", None), "k", None))
        return given if isinstance(given, int) else None

    def _parts(self) -> tuple[Any, Any]:
        """Structure and budget, defaults filled in; BudgetError for what is neither."""
        structure = Greedy() if self.structure is None else Fixed(self.structure) if isinstance(self.structure, Network) else self.structure
        budget = Uniform() if self.budget is None else self.budget
        for name, part, method in (("structure", structure, "learn"), ("budget", budget, "split")):
            if not hasattr(part, method) or isinstance(part, type):
                raise BudgetError(f"{name} must be a part of pds.parts such as Greedy() or Uniform(), got {part!r}")
        return structure, budget

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[Table, ...]]:
        structure, budget = self._parts()
        epsilon1 = epsilon * share("share_structure", self.share_structure)
        learnt = structure.learn(curator, noise, epsilon1, epsilon - epsilon1)
        if self.conditionals == "conditional":  # every table is measured, none is derived
            learnt = replace(learnt, derived=0)
        self.learnt_, split = learnt, budget.split(curator, learnt, epsilon - learnt.spent)
        policy = getattr(structure, "restriction", None)
        if any(b.scale_depends_on for b in split.values()):
            curator.ledger.guaranteed_ex_ante = False  # the shares of the tables are read off this run's sketches
        elif policy is not None:
            curator.ledger.guaranteed_ex_ante = policy.sensitive
        if self.conditionals == "joint":
            derived = learnt.derived if len(split) < len(learnt.network) else 0
            return learnt.network, noisy_tables(curator, learnt.network, split, derived=derived)
        printed = {name: TableBudget(b.scale / curator.n, b.claimed, b.scale_depends_on, b.source) for name, b in split.items()}  # type: ignore[operator]
        return learnt.network, noisy_conditionals(curator, learnt.network, printed, noise)

    def __repr__(self) -> str:
        defaults = {n: p.default for n, p in inspect.signature(type(self).__init__).parameters.items()}
        shown = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items() if k in ("epsilon", "guarantee") or v != defaults[k])
        words = {"strict": "", "published": " as published: see ledger_", "none": " NOT DIFFERENTIALLY PRIVATE"}
        word = words.get(self.guarantee, "")
        return f"{type(self).__name__}({shown}){word}"
