"""What every algorithm is: parts that a paper combines, and one way in for all of them.

The hooks of a subclass are ``_parts``, ``_split``, ``_check``, ``_largest_scale`` and ``_recipe``.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd

from ..budgets import Uniform, positive, share
from ..conditionals import AsMeasured, JointCounts, Table
from ..counting.tables import Records
from ..domain.encoding import BinaryEncoding
from ..domain.facts import Facts
from ..domain.schema import Schema
from ..errors import BudgetError, PrivacyError, SchemaError
from ..model import Model
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import Ledger
from ..privacy.mechanisms import WORD, Noise
from ..structure.learner import Shares
from ..structure.parent_rules import check_parents
from .old_names import refuse_old_names
from .options import check_options, choose_noise
from .plan import noise_dominates

FINAL = ("fit", "public_facts")


class Parts(NamedTuple):
    """What a synthesizer is made of."""

    structure: Any
    budget: Any = Uniform()
    conditionals: Any = JointCounts()
    reconcile: Any = AsMeasured()


@dataclass(eq=False, repr=False)
class Recipe:
    """What all synthesizers share: parameters as in scikit-learn, refusals, fit and sample.

    ``guarantee``: ``"strict"``, ``"published"`` or ``"none"``. ``noise``: ``"exact"``;
    ``"opendp"``: the same laws from OpenDP's hardened samplers, for release; ``"common"``: seeded,
    for simulations. ``random_state``: None draws from the operating system; a seed makes noise that
    others could draw, too, and the ledger says so.

    Attributes
    ----------
    ledger_, network_, model_, schema_, n_ : what the run cost, what it learnt, what is released,
        and the public facts of the table.
    degree_rule_ : how many parents a node could have, in words.
    learnt_ : :class:`~pdsynth.structure.learner.StructureResult`, where the recipe is made of
        parts.

    **Privacy:** what the subclass says.
    """

    epsilon: float = 1.0
    _: KW_ONLY
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    takes_records: ClassVar[bool] = True
    over_bits: ClassVar[bool] = False  # the network stands over bits where a column has more values
    k_counts_parents: ClassVar[bool] = True  # and not clusters, or bits

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in FINAL:
            if name in vars(cls):
                raise TypeError(f"{cls.__name__} overrides {name}, which refuses what can't be "
                                "private: override _parts, _split, _check, _largest_scale, _recipe")

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Say what an old name of a parameter is called now."""
        refuse_old_names(cls.__name__, set(params) - set(cls._parameter_names()))
        return super().__new__(cls)

    def __getattr__(self, name: str) -> Any:
        """A fitted attribute that isn't there yet says what to do."""
        hint = ": call fit(frame, schema=schema) first" if name.endswith("_") else ""
        raise AttributeError(f"this {type(self).__name__} has no {name!r}{hint}")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor keywords and their values, as scikit-learn does."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor keywords; an unknown one raises BudgetError."""
        for name, value in params.items():
            if name not in self._parameter_names():
                raise BudgetError(f"{type(self).__name__} has no parameter {name!r}; it has "
                                  f"{', '.join(self._parameter_names())}")
            setattr(self, name, value)
        return self

    def clone(self) -> Self:
        """An unfitted copy with the same parameters."""
        return type(self)(**self.get_params())

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def fit(
        self, data: pd.DataFrame | Records, schema: Schema | None = None, *,
        noise: Noise | None = None,
    ) -> Self:
        """Learn a model of a table over its public schema; returns self.

        ``data``: a frame with its ``schema``, or :class:`Records` that are coded already (live
        panels, ``compare``). ``noise``: a random source in place of the one that the parameters
        name. A fit that is refused leaves an earlier one untouched. Raises SchemaError, BudgetError
        or PrivacyError before any budget is spent.

        **Privacy:** as the class says, for replacing one record; n and the schema are public. Every
        fit spends ε again.
        """
        if isinstance(data, Records):
            facts, records = self.public_facts(data.schema, data.n), data
        else:
            schema = _check_frame(data, schema)
            facts = self.public_facts(schema, len(data))
            self._warn_of_noise(schema, facts)
            records = Records(schema.encode(data), schema.like(data))
        before = dict(self.__dict__)
        try:
            self._run(records, facts, noise)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def public_facts(self, schema: Schema, n: int) -> Facts:
        """Schema of the network's nodes, n, ε and guarantee; every refusal happens here, once.

        Checks run from the base class down, so that a subclass adds to them and takes none away.
        """
        check_options(self.guarantee, self.noise, self.random_state)
        epsilon = positive("epsilon", self.epsilon)
        if self.guarantee == "strict" and schema.source != "public":
            raise PrivacyError(
                "this schema was inferred from the data, so its domains would leak; write a public "
                "one, or say schema.declare_public() if you knew these domains without looking")
        nodes = BinaryEncoding(schema).schema if self._uses_bits(schema) else schema
        facts = Facts(nodes, n, epsilon, self.guarantee, self._epsilon2(epsilon))
        self._check_names(schema)
        for cls in reversed(type(self).__mro__):
            if "_check" in vars(cls):
                vars(cls)["_check"](self, facts)
        parts = self._parts(facts)
        for part in parts[:2]:
            part.check(facts)
        parts.conditionals.check(facts, parts.budget)
        largest = self._largest_scale(facts)
        if self.guarantee != "none" and largest >= WORD:
            raise BudgetError(
                f"epsilon = {self.epsilon} asks for noise of scale {float(largest):.3g} on a table "
                f"of n = {n:,} records, and exact sampling ends at {WORD:.3g}: choose a larger "
                "epsilon")
        return facts

    def _check_names(self, schema: Schema) -> None:
        """What every recipe with such a parameter refuses, whatever its parts say."""
        for given in (getattr(self, "target", None), getattr(self, "sensitive", None)):
            for name in [given] if isinstance(given, str) else given or ():
                schema.index(name)
        if hasattr(self, "k") and (self.k_counts_parents or self.over_bits):
            check_parents(self.k, len(schema))

    # --- hooks -----------------------------------------------------------------------------------

    def _check(self, facts: Facts) -> None:
        """Refuse, from public facts alone, what can't be fitted; base classes' checks run, too."""

    def _parts(self, facts: Facts) -> Parts:
        """What the paper combines."""
        raise NotImplementedError

    def _epsilon2(self, epsilon: Fraction) -> Fraction:
        """What the tables have if a structure is learnt."""
        given = getattr(self, "share_structure", 0.3)
        return epsilon * (1 - share("share_structure", given))

    def _split(self, facts: Facts) -> dict[str, Fraction]:
        """ε of every step: what the structure asks for, then what the budget rule asks for."""
        parts = self._parts(facts)
        learns = parts.structure.asks(facts)
        epsilon1 = facts.epsilon - facts.epsilon2 if learns else Fraction(0)
        rest = facts.epsilon - epsilon1
        shares = {step: rest * part for step, part in parts.budget.asks(facts).items()}
        tables = rest - sum(shares.values())
        learning = {step: epsilon1 * part for step, part in learns.items()}
        return learning | shares | {"tables": tables}

    def _largest_scale(self, facts: Facts) -> Fraction:
        """A public bound of all noise scales, in records or, for sketches, in records²."""
        return Fraction(600 * facts.n * len(facts.schema) ** 2) / facts.epsilon

    def _recipe(
        self, curator: Curator, facts: Facts, shares: Shares
    ) -> tuple[Network, tuple[Table, ...]]:
        """Learn, split, measure, reconcile.

        **Privacy:** the sum of what the parts say.
        """
        structure, budget, conditionals, reconcile = self._parts(facts)
        curator = curator.binary() if self._uses_bits(curator.schema) else curator
        foreseen = budget.foresee(curator, shares, facts)
        learnt = structure.learn(curator, shares, facts)
        derived = learnt.derived if conditionals.derives else 0
        learnt = replace(learnt, foreseen=foreseen, derived=derived)
        tables: Mapping[str, Any] = budget.allocate(curator, learnt, shares, facts)
        shown = {"degree_rule_": learnt.rule, "learnt_": learnt, **learnt.attributes}
        self.__dict__.update(shown | getattr(tables, "attributes", {}))
        if not any(b.scale_depends_on for b in tables.values()):  # read off this run's sketches
            curator.ledger.guaranteed_ex_ante = learnt.known
        found = conditionals.measure(curator, learnt, tables)
        return learnt.network, reconcile.reconcile(found, learnt.network)

    def _warn_of_noise(self, schema: Schema, facts: Facts) -> None:
        k = getattr(self, "k", getattr(getattr(self, "structure", None), "k", None))
        if isinstance(k, int) and k and self.k_counts_parents and facts.guarantee != "none":
            doubt = noise_dominates(schema, facts.n, facts.epsilon, k)
            if doubt:
                warnings.warn(doubt, stacklevel=3)

    def _uses_bits(self, schema: Schema) -> bool:
        return self.over_bits and max(schema.sizes) > 2

    def _run(self, records: Records, facts: Facts, noise: Noise | None) -> None:
        ledger = Ledger(facts.epsilon, self.guarantee)
        source = choose_noise(self.guarantee, self.noise, self.random_state, noise)
        curator = Curator(records, ledger, source)
        network, tables = self._recipe(curator, facts, self._split(facts))
        self.ledger_, self.network_ = ledger, network
        self.schema_, self.n_, self._sampled = records.schema, records.n, 0
        self.model_ = Model(records.schema, network, tables, ledger, records.n, type(self).__name__,
                            self.get_params())

    def sample(self, n: int | None = None) -> pd.DataFrame:
        """A synthetic table of n rows (None: as many as were fitted); costs nothing.

        A seeded synthesizer gives the same tables in the same order after each fit.
        """
        if "model_" not in self.__dict__:
            raise BudgetError(f"this {type(self).__name__} is not fitted yet: call "
                              "fit(frame, schema=schema) first")
        self._sampled += 1
        if self.random_state is None:
            return self.model_.sample(n)
        seeds = [*np.atleast_1d(self.random_state).tolist(), 7919, self._sampled]
        seed = np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0]
        return self.model_.sample(n, int(seed))

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self).__init__).parameters
        given = {name: value for name, value in self.get_params().items()
                 if name not in ("epsilon", "guarantee") and value != parameters[name].default}
        given = {"epsilon": self.epsilon, **given, "guarantee": self.guarantee}
        word = {"published": " as published: see ledger_", "none": " NOT DIFFERENTIALLY PRIVATE"}
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return f"{type(self).__name__}({shown}){word.get(self.guarantee, '')}"


def _check_frame(data: Any, schema: Schema | None) -> Schema:
    """The schema of a frame that it fits."""
    if schema is None:
        raise SchemaError("fit needs the public schema of the table: fit(frame, schema=schema); "
                          "Schema.infer(frame) only to explore")
    if not isinstance(schema, Schema):
        raise SchemaError(f"schema must be a Schema, got {type(schema).__name__}")
    schema.check(data)
    return schema
