"""What every synthesizer is: one recipe for all papers, and the face that scikit-learn expects.

plan    = self.prepare(schema, n)              every refusal, and every share of ε; reads nothing
curator = Curator(records, ledger, noise)      the one door to the records
learnt  = structure.learn(curator, shares)     a network, and what it measured on the way
budget  = budget.allocate(curator, learnt)     the noise of every other table
found   = conditionals.measure(…)              noisy tables
model   = reconcile(found)                     post-processing
"""

import inspect
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from .budgets import Parts, Plan, allocate, choose_reconcile
from .curator import Curator
from .errors import (
    BudgetError,
    PrivacyError,
    SchemaError,
    check_seed,
    check_word,
    door,
    is_whole,
    positive,
    share,
    show,
    to_names,
    warn,
)
from .ledger import GUARANTEES, Ledger, check_reading
from .model import Model, keep_measured
from .noise import WORD, ExactNoise, Noise
from .records import Records
from .rules import NOISES
from .schema import Facts, Schema, check_schema, join_target
from .structure import Measurement, check_parents, noise_dominates, released_columns
from .unit import Unit
from .views import BinaryEncoding


class Habits:
    """Parameters and samples of an estimator, how it shows itself, what scikit-learn asks it."""

    epsilon: Any
    guarantee: str
    noise: str
    random_state: Any
    delta: Any
    model_: Model
    _sampled: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor keywords and their values, as scikit-learn does."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor keywords; an unknown one raises BudgetError."""
        for name, value in params.items():
            if name not in self._parameter_names():
                raise BudgetError(
                    f"{type(self).__name__} has no parameter {name!r}; it has "
                    f"{', '.join(self._parameter_names())}"
                )
            setattr(self, name, value)
        return self

    def clone(self) -> Self:
        """An unfitted copy with the same parameters."""
        return type(self)(**self.get_params())

    @classmethod
    @cache  # a fit asks often
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def sample(
        self,
        n: int | None = None,
        random_state: Any = None,
        *,
        method: str | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:
        """A synthetic table of n rows (None: as many as were fitted), as :meth:`.Model.sample`.

        A seeded synthesizer gives the same tables in the same order after each fit;
        ``random_state`` seeds this sample alone.

        **Privacy:** post-processing of the release.
        """
        seed = self._next_seed(random_state)
        return self.model_.sample(n, seed, method=method, where=where)

    def sample_to(
        self,
        path: Any,
        n: int | None = None,
        random_state: Any = None,
        *,
        method: str = "independent",
        where: Mapping[str, Any] | None = None,
    ) -> None:
        """Write n synthetic rows to a file in bounded memory, as :meth:`.Model.sample_to`.

        **Privacy:** post-processing of the release.
        """
        seed = self._next_seed(random_state)
        self.model_.sample_to(path, n, seed, method=method, where=where)

    def _next_seed(self, seed: Any) -> Any:
        """The seed of the next sample: the one given, else drawn from that of the fit, if any."""
        if "model_" not in vars(self):
            raise BudgetError(
                f"this {type(self).__name__} is not fitted yet: call "
                "fit(frame, schema=schema) first"
            )
        if seed is None:
            self._sampled += 1
        if seed is None and self.random_state is not None:
            seeds = [*np.atleast_1d(self.random_state).tolist(), 7919, self._sampled]
            seed = int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0])
        return seed

    def __repr__(self) -> str:
        return str(door("files").describe_recipe(self))

    def _repr_html_(self) -> str:
        return str(door("files").show_recipe(self))

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # noqa: PLC0415 - asked by scikit-learn alone

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


SHARE_STRUCTURE = 0.3  # of ε for a structure, where a recipe has no such parameter (TODS)
COUNT_SHARE = Fraction(1, 20)  # of ε, for the number of records where it is secret
LARGEST_WEIGHT = 10**6  # one step's share against another's, by policy
MOST_RECORDS = 10**9  # an association K = 2n²R, at most 2·10^18, and its noise fit 64 bits
HOOKS = "_parts", "_check", "_split"  # of a subclass
FINAL = "fit", "prepare"  # what no subclass may override


@dataclass(eq=False, repr=False)
class Recipe(Habits):
    """What all synthesizers share: parameters as in scikit-learn, refusals, fit and sample.

    Parameters
    ----------
    epsilon : what a fit may cost, in all.
    guarantee : ``"strict"``, ``"published"`` or ``"none"``; all other docstrings describe strict;
        :mod:`pdsynth.published` describes the prints.
    noise : ``"exact"``, ``"opendp"`` (the same laws, hardened) or ``"common"`` (simulations).
    random_state : None draws from the operating system; with a seed, or common noise, a fit is NOT
        PRIVATE and says so.
    records_per_person : ε covers all m records of a person.
    relation : ``"replace_one"``, n public; or, where all parts ask for counts alone,
        ``"add_remove"``, which protects membership: ε is for one record more or less, n is a noisy
        count, for 1/20 of the ε that private bins leave, and a table may have no rows.
    reconcile : ``Agree()`` or ``AsMeasured()``; None: the recipe's.
    delta : None, or for ConsistentBayes a small chance, far below 1/n: the fit is then (ε, δ)-DP
        and NOT pure, with Gaussian noise and a ledger in ρ: see :mod:`pdsynth.concentrated`.

    Attributes
    ----------
    ledger_, network_, model_, schema_, n_ : what the run cost, what it learnt, what is released,
        and the public facts of the table. ``degree_rule_``: how many parents a node could have.
    learnt_ : :class:`~pdsynth.core.structure.StructureResult`.
    spent_, unfinished_ : ε of all fits of this object, and the ledgers of those that failed.

    **Privacy:** what the subclass says.
    """

    epsilon: float = 1.0
    _: KW_ONLY
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None
    records_per_person: int = 1
    relation: str = "replace_one"
    reconcile: Any = None
    delta: Any = None

    shares: ClassVar[tuple[str, ...]] = ("share_structure",)  # parameters: what tables don't have
    takes_records: ClassVar[bool] = True
    over_bits: ClassVar[bool] = False  # the network stands over bits where a column has more values
    k_counts_parents: ClassVar[bool] = True  # and not clusters, or bits
    readings: ClassVar[tuple[str, ...]] = ()  # values of ``reading``; strict takes the first alone

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if final := [x for x in FINAL if getattr(cls, x) is not getattr(Recipe, x)]:
            raise TypeError(
                f"{cls.__name__} overrides {final[0]}, which refuses what can't be "
                f"private: override {', '.join(HOOKS)}"
            )

    def __getattr__(self, name: str) -> Any:
        """A fitted attribute that isn't there yet says what to do."""
        hint = ": call fit(frame, schema=schema) first" if name.endswith("_") else ""
        raise AttributeError(f"this {type(self).__name__} has no {name!r}{hint}")

    def fit(
        self,
        data: Any,
        y: Any = None,
        schema: Schema | None = None,
        *,
        noise: Noise | None = None,
        session: Any = None,
        person_epsilon: Any = None,
    ) -> Self:
        """Learn a model of a table over its public schema; returns self.

        ``fit(frame, schema)``, or as scikit-learn calls it, ``fit(X, y, schema=schema)``: a ``y``
        with a name becomes a column. ``data``: a pandas DataFrame; a table that needn't fit into
        memory, as :mod:`pdsynth.scale` lists them; or :class:`Records` that are coded already. The
        same seed gives the same model, whichever of them holds the table. ``noise``: a random
        source in place of the named one. ``session``: the account that ε is charged to before noise
        is drawn. ``person_epsilon``: what each record may lose, by its own public preference, see
        :mod:`pdsynth.persons`; ε is then the most that anybody may lose. A fit that fails leaves an
        earlier one untouched; what it had spent stands in ``spent_``. Raises SchemaError,
        BudgetError or PrivacyError before ε is spent.

        **Privacy:** as the class says; n and the schema are public. Every fit spends ε again.
        """
        if session is not None and not isinstance(session, door("files").Session):
            raise BudgetError(f"session must be a pds.Session(epsilon, path), got {show(session)}")
        people, read = None, open_records
        if person_epsilon is not None:
            data, schema = join_target(data, y, schema)
            data, people = door("persons").choose_levels(self, data, schema, person_epsilon)
            read, y = people.open, None
        data, schema, n = self._open(data, y, schema)
        plan = self.prepare(schema, n, isinstance(data, (Records, pd.DataFrame)), people)
        source = self._choose_noise(noise)
        for doubt in self._doubts(schema, plan, getattr(source, "larger", 1.0)):
            warn(doubt)
        ledger = self.open_ledger(people)
        with read(data, door("binning").refine(schema) if schema.private else schema) as records:
            curator = plan.door(records, ledger, source)
            if session is not None:
                session.charge_fit(ledger, source, repr(self.clone()))
            self._replace(self._run(curator, plan, schema))
        return self

    def open_ledger(self, people: Any = None) -> Ledger:
        """An empty account of what a fit promises; ``people``: those with an ε of their own.

        **Privacy:** reads nothing, costs nothing.
        """
        epsilon, unit = self._promise(people)
        if self.delta is not None:
            return door("concentrated").open_ledger(
                epsilon, self.delta, unit.relation, unit.records
            )
        levels, decides = ((), "") if people is None else (people.levels, people.attribute)
        return Ledger(
            epsilon,
            self.guarantee,
            relation=unit.relation,
            records_per_person=unit.records,
            levels=levels,
            level_attribute=decides,
        )

    def prepare(self, schema: Schema, n: int, rows: bool = True, people: Any = None) -> Plan:
        """Facts, parts and shares of a fit; every refusal happens here, from public facts, once.

        ``rows``: whether whole rows can be read, and not counts alone; ``people``: those with an ε
        of their own, or None. Checks run from the base class down, so that a subclass adds to them
        and takes none away.
        """
        self._check_options(check_schema(schema))
        schema = schema if people is None else people.extend(schema)
        facts = self._facts(schema, n, people)
        self._check_names(schema)
        for cls in reversed(type(self).__mro__):
            if "_check" in vars(cls):
                vars(cls)["_check"](self, facts)
        parts, curator = self._parts(facts), Curator
        parts = parts._replace(reconcile=choose_reconcile(self.reconcile, parts.reconcile))
        if self.guarantee != "strict":  # what is printed is a house next door
            published = door("published")  # a strict fit never loads it
            facts, parts = published.printed(self, facts, parts, rows)
            curator = published.RawCurator
        if self.delta is not None:
            facts, curator = door("concentrated").concentrate(self, facts, parts)
        if schema.private:
            door("binning").check(self, schema)
        if not facts.unit.n_is_public and not parts.counts_only:
            raise BudgetError(
                f"relation must be one of ('replace_one',) here, got {show(self.relation)}: "
                "ConsistentBayes and baselines.Independent offer it"
            )
        parts.check(facts)
        plan = Plan(facts, parts, self._split(facts, parts), curator)
        if (most := largest_scale(plan)) >= WORD and self.guarantee != "none":  # that draws none
            raise BudgetError(
                f"epsilon = {self.epsilon} may ask for noise of scale {float(most):.3g} on a "
                f"table of n = {facts.n:,} records, and exact sampling ends at {WORD:.3g}: "
                "choose a larger epsilon"
            )
        return plan

    def _share_tables(self) -> Fraction:
        """The part of ε that the tables have if a structure is learnt."""
        terms = {name: getattr(self, name, SHARE_STRUCTURE) for name in self.shares}
        rest = 1 - sum((share(name, value) for name, value in terms.items()), Fraction(0))
        if rest <= 0:
            raise BudgetError(
                f"{' + '.join(terms)} = {' + '.join(map(str, terms.values()))} leaves nothing for "
                "the tables: they must stay below 1"
            )
        return rest

    def counts_only(self, schema: Schema, n: int) -> bool:
        """Whether all that a fit asks for is counts, so that membership can be protected."""
        return self._parts(self._facts(schema, n)).counts_only

    def _promise(self, people: Any = None) -> tuple[Fraction, Unit]:
        """The ε that nobody's loss exceeds, and what a neighbour may change."""
        unit = Unit(self.relation, self.records_per_person)
        return (positive("epsilon", self.epsilon), unit) if people is None else people.promise

    def _facts(self, schema: Schema, n: int, people: Any = None) -> Facts:
        """What is public of a fit before it starts."""
        epsilon, unit = self._promise(people)
        epsilon /= unit.records
        if not unit.n_is_public:
            n, epsilon = 1, epsilon * (1 - COUNT_SHARE)
        check_records(n)
        n = int(n)  # whatever integer was given: numpy's wrap
        if schema.private:
            epsilon *= 1 - door("binning").share_of_edges(schema)
        nodes = BinaryEncoding(schema).schema if self._uses_bits(schema) else schema
        return Facts(nodes, n, epsilon, self.guarantee, epsilon * self._share_tables(), unit)

    def _check_names(self, schema: Schema) -> None:
        """What every recipe with such a parameter refuses, whatever its parts say."""
        for parameter in ("target", "sensitive"):
            for name in to_names(parameter, getattr(self, parameter, None)):
                schema.index(name)
        if hasattr(self, "k") and (self.k_counts_parents or self.over_bits):
            check_parents(self.k, len(schema))
        check_reading(getattr(self, "reading", ""), self.readings, self.guarantee)

    # --- hooks -----------------------------------------------------------------------------------

    def _check(self, facts: Facts) -> None:
        """Refuse, from public facts alone, what can't be fitted; base classes' checks run, too."""

    def _parts(self, facts: Facts) -> Parts:
        """What the paper combines."""
        raise NotImplementedError

    def _split(self, facts: Facts, parts: Parts) -> dict[str, Fraction]:
        """ε of every step."""
        return parts.split(facts)

    def _told(self) -> dict[str, Any]:
        """The parameters that a model's file tells."""
        hidden = {"random_state", *["delta"] * (self.delta is None)}
        return {k: v for k, v in self.get_params().items() if k not in hidden}

    # --- the recipe ------------------------------------------------------------------------------

    def _run(self, curator: Curator, plan: Plan, schema: Schema) -> Self:
        """A fitted copy: what was spent counts from the first line, the result only when whole."""
        run, (facts, parts, shares, _) = self._copy(curator.ledger), plan
        if not facts.unit.n_is_public:
            count = facts.epsilon * COUNT_SHARE / (1 - COUNT_SHARE)
            facts = replace(facts, n=curator.count_records(count))
        if schema.private:
            curator, facts = door("binning").cut(curator, schema, facts)
        own = curator.binary() if self._uses_bits(curator.schema) else curator
        foreseen = parts.budget.foresee(own, shares, facts)
        learnt = parts.structure.learn(own, shares, facts)
        derived = learnt.derived if parts.conditionals.derives else 0
        learnt = replace(learnt, foreseen=foreseen, derived=derived)
        basis: Sequence[Measurement] = learnt.measurements
        noise = {} if basis else allocate(parts.budget, own, learnt, shares, facts)
        if not any(b.depends_on for b in noise.values()):  # not read off this run's sketches
            curator.ledger.guaranteed_ex_ante = learnt.known
        basis = basis or [*released_columns(own), *parts.conditionals.measure(own, learnt, noise)]
        if curator.ledger.levels:
            basis = door("persons").sharpen(basis, curator.counted)
        n, ledger = curator.n, curator.ledger
        n = n if facts.unit.n_is_public else door("persons").count_all(basis, ledger, n)
        facts = replace(facts, schema=learnt.schema or facts.schema, n=n)
        tables = parts.reconcile.reconcile(basis, learnt.network, facts)
        every = (close(curator),) * len(tables)
        sources = parts.reconcile.sources(basis, learnt.network) or every
        model = Model(
            curator.schema,
            learnt.network,
            tables,
            ledger,
            n,
            type(self).__name__,
            self._told(),
            sources,
            () if ledger.levels else keep_measured(basis, ledger),
        )
        if curator.ledger.levels:  # the counts of those with more ε stand for fewer persons
            model = door("persons").undo(model, basis, curator.counted)
        run.__dict__ |= {
            "degree_rule_": learnt.rule,
            "learnt_": learnt,
            **learnt.attributes,
            **getattr(noise, "attributes", {}),
            "ledger_": curator.ledger,
            "network_": model.network,
            "schema_": model.shown,
            "n_": model.n,
            "model_": model,
            "_sampled": 0,
        }
        return run

    def _open(self, data: Any, y: Any, schema: Schema | None) -> tuple[Any, Schema, int]:
        """The table as it is counted, its schema, and n, which is public."""
        if isinstance(data, Records):
            if data.schema.private:
                door("binning").refuse_codes()
            if schema not in (None, data.schema):  # its rules and values would be ignored
                raise SchemaError("Records have the schema they are coded over: leave schema= out")
            return data, data.schema, data.n
        data, schema = join_target(data, y, schema)
        if schema is None:
            raise SchemaError(
                "fit needs the public schema of the table: fit(frame, "
                "schema=schema); Schema.infer(frame) only to explore"
            )
        empty = self.relation == "add_remove"
        if not isinstance(data, pd.DataFrame):
            source = door("scale").find_source(data)
            if source is not None:
                source.check(check_schema(schema), empty=empty)
                return source, schema, source.n
        check_schema(schema).check(data, empty=empty)
        return data, schema, len(data)

    def _check_options(self, schema: Schema) -> None:
        """Refuse words that mean nothing, and what can't be promised."""
        check_word("guarantee", self.guarantee, GUARANTEES)
        check_word("noise", self.noise, ("exact", "opendp", "common"))
        check_seed(self.random_state)
        m = self.records_per_person
        if not is_whole(m, 1, MOST_RECORDS):
            raise BudgetError(
                "records_per_person must be a whole number from 1 to "
                f"{MOST_RECORDS:,}, got {show(m)}"
            )
        if self.guarantee == "published" and m > 1:  # a refusal
            raise BudgetError(
                f"the papers count one record a person: records_per_person = {m} is for "
                "guarantee='strict'"
            )
        if self.noise == "opendp" and self.random_state is not None:
            raise BudgetError(
                "OpenDP draws from the operating system and takes no seed: use "
                "random_state=None, or noise='exact'"
            )
        if schema.rules:
            door("constraints").check_rules(schema)
        if self.guarantee == "strict" and schema.source != "public":  # a promise, so a refusal
            raise PrivacyError(
                "this schema was inferred from the data, so its domains would leak; write a public "
                "one, or say schema.declare_public() if you knew these domains without looking"
            )

    def _choose_noise(self, given: Noise | None) -> Noise:
        if given is not None and not isinstance(given, Noise):
            raise BudgetError(
                f"noise= of fit takes a random source such as ExactNoise(), got {show(given)}"
            )
        if self.guarantee == "none":  # the source itself changes
            return door("published").NoNoise(self.random_state or 0)
        if given is not None:
            return given
        if self.noise == "opendp":
            return door("secure").OpenDPNoise()
        if self.noise == "common":
            return door("published").CommonNoise(self.random_state or 0)
        return ExactNoise(self.random_state)

    def _doubts(self, schema: Schema, plan: Plan, larger: float) -> list[str]:
        """What is allowed and can't be wise, in sentences; ``larger``: than a curator's noise."""
        k, m = getattr(self, "k", getattr(plan.parts.structure, "k", 0)), self.records_per_person
        doubts = door("persons").unused_groups(schema, plan, self) if schema.groups else []
        counts = isinstance(k, int) and k and self.k_counts_parents and not self._uses_bits(schema)
        if counts and self.guarantee != "none" and self.relation == "replace_one":  # a public n
            doubt = noise_dominates(schema, plan.facts.n, plan.facts.epsilon, k)
            shared = f" (ε here is for one of a person's {m} records)" if m > 1 else ""
            shared += f" (all shares of noise together: {larger:.2f} times as much)" * (larger > 1)
            doubts += [doubt + shared] if doubt else []
        return doubts

    def _uses_bits(self, schema: Schema) -> bool:
        bits = self.over_bits or str(getattr(self, "reading", "")) == "bits"
        return bits and max(schema.sizes) > 2

    # --- what was spent --------------------------------------------------------------------------

    @property
    def spent_(self) -> Fraction | float:
        """ε of all fits of this object together, also of those that failed on their way.

        With ``delta`` every fit adds its δ, too; a session with δ adds ρ and spends δ once. Each
        fit counts in its own relation: a session counts added and removed records twice.
        """
        done: Fraction | float = vars(self).get("_finished", Fraction(0))
        return done + sum(ledger.epsilon for ledger in self.unfinished_)

    @property
    def unfinished_(self) -> tuple[Ledger, ...]:
        """Ledgers of the fits that failed on their way, as far as each came."""
        return tuple(one for one in vars(self).get("_unfinished", ()) if one.entries)

    def _copy(self, ledger: Ledger) -> Self:
        """The same parameters with nothing fitted; from now on the ledger counts."""
        run = copy(self)
        run.__dict__ = {name: x for name, x in vars(self).items() if not name.endswith("_")}
        self._unfinished = (*vars(self).get("_unfinished", ()), ledger)
        return run

    def _replace(self, run: Self) -> None:
        """The copy's attributes are this object's from now on, in one assignment."""
        run.__dict__["_finished"] = vars(self).get("_finished", Fraction(0)) + run.ledger_.epsilon
        run._unfinished = tuple(one for one in self._unfinished if one is not run.ledger_)
        self.__dict__ = run.__dict__


def open_records(data: Any, schema: Schema) -> AbstractContextManager[Records]:
    """Coded records of a checked table, for as long as they are asked.

    **Privacy:** raw records in, raw records out.
    """
    if isinstance(data, pd.DataFrame):
        data = Records(schema.encode(data, empty=True), schema)
    return nullcontext(data) if isinstance(data, Records) else data.open(schema)


def close(curator: Curator) -> tuple[str, ...]:
    """Charge what no step asked for, so that each strict ledger closes at its ε.

    Returns the ids of all noisy answers, or raw reads. **Privacy:** reads nothing.
    """
    ledger = curator.ledger
    if ledger.guarantee == "strict" and ledger.claimed > ledger.finite:  # else no promise closes
        rest = (ledger.claimed - ledger.finite) / ledger.records_per_person
        curator.charge_unused(rest, "unused", "what no step asked for")
    return tuple(
        e.id for e in ledger.entries if e.kind == "unaccounted_access" or e.mechanism in NOISES
    )


def largest_scale(plan: Plan) -> float:
    """A public bound of all noise scales, with δ of all σ: records or, for sketches, records².

    The smallest share of ε may pay for the largest sensitivity: 4n of one association, times all
    pairs of columns; or that of a table, times how much less than the others a policy gives it.
    """
    smallest = min(filter(None, plan.shares.values()))
    if not smallest > 0:
        raise BudgetError(f"a step's share of ε must be positive, got {show(smallest)}")
    most = 4 * max(plan.facts.n, LARGEST_WEIGHT) * len(plan.facts.schema) ** 2
    return most / smallest ** Fraction(1, plan.facts.unit.power)


def check_records(n: Any) -> None:
    """Refuse what is no number of records."""
    if not is_whole(n, 1, MOST_RECORDS):
        raise SchemaError(
            f"n must be a whole number of records from 1 to {MOST_RECORDS:,}, got {show(n)}"
        )
