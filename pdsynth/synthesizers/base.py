"""What every algorithm is: parts that a paper combines, and one way in for all of them."""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from ..budgets import positive, share
from ..counting.sources import Source, find_source, open_records
from ..counting.tables import Records
from ..domain.encoding import BinaryEncoding
from ..domain.facts import Facts
from ..domain.schema import Schema, check_schema
from ..errors import BudgetError, PrivacyError, show, to_names
from ..model import Model
from ..privacy.curator import Curator
from ..privacy.ledger import Ledger
from ..privacy.mechanisms import WORD, Noise
from ..privacy.session import Session
from ..reconcile import choose_reconcile
from ..structure.learner import Shares
from ..structure.parent_rules import check_parents
from .combine import Parts, Released
from .habits import Habits, join_target
from .old_names import refuse_old_names
from .options import (
    COUNT_SHARE,
    check_frame,
    check_options,
    check_records,
    check_unit,
    choose_noise,
)
from .spending import Spending
from .usefulness import noise_dominates

HOOKS = "_parts", "_check", "_epsilon2", "_split"  # of a subclass
FINAL = "fit", "public_facts"  # what no subclass may override


@dataclass(eq=False, repr=False)
class Recipe(Spending, Habits):
    """What all synthesizers share: parameters as in scikit-learn, refusals, fit and sample.

    ``guarantee``: ``"strict"``, ``"published"`` or ``"none"``. ``noise``: ``"exact"``;
    ``"opendp"``: the same laws from OpenDP's hardened samplers, for release; ``"common"``: seeded,
    for simulations. ``random_state``: None draws from the operating system; a seed, as common
    noise, makes noise that others could draw, too: such a fit is NOT PRIVATE, and says so.
    ``records_per_person``: a public bound m; ε covers all m records of a person, and all noise is m
    times larger. ``relation``: ``"replace_one"``, n public; or, where a synthesizer offers it,
    ``"add_remove"``: who is in the table is protected, too, and n is a noisy count for ε/20.
    ``reconcile``: what is done to the noisy tables, ``Agree()`` or ``AsMeasured()`` of
    ``pds.parts``; None: what the recipe says.

    Attributes
    ----------
    ledger_, network_, model_, schema_, n_ : what the run cost, what it learnt, what is released,
        and the public facts of the table.
    degree_rule_ : how many parents a node could have, in words.
    learnt_ : :class:`~pdsynth.structure.learner.StructureResult`.
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

    relations: ClassVar[tuple[str, ...]] = ("replace_one",)
    takes_records: ClassVar[bool] = True
    over_bits: ClassVar[bool] = False  # the network stands over bits where a column has more values
    k_counts_parents: ClassVar[bool] = True  # and not clusters, or bits

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in FINAL:
            if name in vars(cls):
                raise TypeError(
                    f"{cls.__name__} overrides {name}, which refuses what can't be "
                    f"private: override {', '.join(HOOKS)}"
                )

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Say what an old name of a parameter is called now."""
        refuse_old_names(cls.__name__, set(params) - set(cls._parameter_names()))
        return super().__new__(cls)

    def __getattr__(self, name: str) -> Any:
        """A fitted attribute that isn't there yet says what to do."""
        fitted = name.endswith("_") and name[0] != "_"
        hint = ": call fit(frame, schema=schema) first" if fitted else ""
        raise AttributeError(f"this {type(self).__name__} has no {name!r}{hint}")

    def fit(
        self,
        data: Any,
        y: Any = None,
        schema: Schema | None = None,
        *,
        noise: Noise | None = None,
        session: Session | None = None,
    ) -> Self:
        """Learn a model of a table over its public schema; returns self.

        ``fit(frame, schema)``, or as scikit-learn calls it, ``fit(X, y, schema=schema)``: a ``y``
        with a name becomes a column. ``data``: a pandas DataFrame; a pyarrow Table or Dataset, or
        the path of a Parquet file or folder, which are coded and counted in blocks; a Dask
        DataFrame; or :class:`Records` that are coded already (live panels, ``compare``). While a
        ``distributed.Client`` is open, files and Dask DataFrames are counted by its workers. The
        same seed gives the same model, whichever of them holds the table. ``noise``: a random
        source in place of the one that the parameters name. ``session``: the account that all of ε
        is charged to before noise is drawn. A fit that is refused, fails or is interrupted leaves
        an earlier one untouched; what it had spent stands in ``spent_``. Raises SchemaError,
        BudgetError or PrivacyError before any budget is spent.

        **Privacy:** as the class says, for replacing one record; n and the schema are public. Every
        fit spends ε again.
        """
        if session is not None and not isinstance(session, Session):
            raise BudgetError(f"session must be a pds.Session(epsilon, path), got {show(session)}")
        if isinstance(data, Records):
            facts, schema = self.public_facts(data.schema, data.n), data.schema
        else:
            data, schema = join_target(data, y, schema)
            data = find_source(data) or data
            schema, n = check_frame(data, schema, empty=self.relation == "add_remove")
            facts = self.public_facts(schema, n)
            self._refuse_blocks(data, facts)
            self._warn_of_noise(schema, facts)
        source = choose_noise(self.guarantee, self.noise, self.random_state, noise)
        ledger = Ledger(
            positive("epsilon", self.epsilon),
            self.guarantee,
            relation=self.relation,
            records_per_person=self.records_per_person,
        )
        with open_records(data, schema) as records:
            curator = Curator(records, ledger, source)
            if session is not None:
                session.charge_fit(ledger, source, repr(self.clone()))
            run = self._start(ledger)
            run._run(curator, facts)
        self._replace_whole(run, ledger)
        return self

    def public_facts(self, schema: Schema, n: int) -> Facts:
        """Schema of the network's nodes, n, ε and guarantee; every refusal happens here, once.

        Checks run from the base class down, so that a subclass adds to them and takes none away.
        """
        check_options(self.guarantee, self.noise, self.random_state)
        check_schema(schema)
        check_unit(self.guarantee, self.relation, self.relations, self.records_per_person)
        epsilon = positive("epsilon", self.epsilon) / self.records_per_person
        if self.relation == "add_remove":
            n, epsilon = 1, epsilon * (1 - COUNT_SHARE)
        check_records(n)
        n = int(n)  # whatever integer was given: numpy's wrap
        if self.guarantee == "strict" and schema.source != "public":  # a promise, so a refusal
            raise PrivacyError(
                "this schema was inferred from the data, so its domains would leak; write a public "
                "one, or say schema.declare_public() if you knew these domains without looking"
            )
        nodes = BinaryEncoding(schema).schema if self._uses_bits(schema) else schema
        facts = Facts(nodes, n, epsilon, self.guarantee, self._epsilon2(epsilon), self.relation)
        self._check_names(schema)
        for cls in reversed(type(self).__mro__):
            if "_check" in vars(cls):
                vars(cls)["_check"](self, facts)
        parts = self._all_parts(facts)
        parts.check(facts)
        largest = max(self._largest_scale(facts), 1 / epsilon / COUNT_SHARE)
        if self.guarantee != "none" and largest >= WORD:  # else no noise is drawn
            raise BudgetError(
                f"epsilon = {self.epsilon} asks for noise of scale {float(largest):.3g} on a table "
                f"of n = {n:,} records, and exact sampling ends at {WORD:.3g}: choose a larger "
                "epsilon"
            )
        return facts

    def _all_parts(self, facts: Facts) -> Parts:
        """The recipe's parts, with the ``reconcile`` that the user asks for."""
        parts = self._parts(facts)
        return parts._replace(reconcile=choose_reconcile(self.reconcile, parts.reconcile))

    def _check_names(self, schema: Schema) -> None:
        """What every recipe with such a parameter refuses, whatever its parts say."""
        for parameter in ("target", "sensitive"):
            for name in to_names(parameter, getattr(self, parameter, None)):
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
        return self._all_parts(facts).split(facts)

    # --- the recipe ------------------------------------------------------------------------------

    def _largest_scale(self, facts: Facts) -> Fraction:
        """A public bound of all noise scales: in records or, for sketches, in records²."""
        return self._all_parts(facts).largest_scale(facts, self._split(facts))

    def _recipe(self, curator: Curator, facts: Facts, shares: Shares) -> Released:
        """What the parts learn and measure, over bits where the recipe says so.

        **Privacy:** the sum of what the parts say.
        """
        curator = curator.binary() if self._uses_bits(curator.schema) else curator
        return self._all_parts(facts).release(curator, facts, shares)

    def _refuse_blocks(self, data: Any, facts: Facts) -> None:
        reads_rows = getattr(self._all_parts(facts).structure, "reads_rows", lambda _: False)
        if isinstance(data, Source) and reads_rows(facts):
            raise BudgetError(
                f"guarantee={facts.guarantee!r} works on the distinct rows of the whole table, and "
                "a table in blocks gives counts only: read it into memory, or use "
                "guarantee='strict'"
            )

    def _warn_of_noise(self, schema: Schema, facts: Facts) -> None:
        structure = self._parts(facts).structure
        if said := getattr(structure, "preselection", lambda _: "")(facts):
            warnings.warn(said, stacklevel=3)
        k = getattr(self, "k", getattr(getattr(self, "structure", None), "k", None))
        k = k if isinstance(k, int) and self.k_counts_parents else 0
        if k and facts.guarantee != "none":  # else no noise is drawn
            doubt = noise_dominates(schema, facts.n, facts.epsilon, k)
            if doubt and self.relation == "replace_one":
                m = self.records_per_person
                shared = f" (ε here is for one of a person's {m} records)" if m > 1 else ""
                warnings.warn(doubt + shared, stacklevel=3)

    def _uses_bits(self, schema: Schema) -> bool:
        return self.over_bits and max(schema.sizes) > 2

    def _run(self, curator: Curator, facts: Facts) -> None:
        if self.relation == "add_remove":
            count = facts.epsilon * COUNT_SHARE / (1 - COUNT_SHARE)
            facts = replace(facts, n=curator.count_records(count))
        released = self._recipe(curator, facts, self._split(facts))
        self.__dict__.update(released.shown)
        shown = {k: v for k, v in self.get_params().items() if k != "random_state"}
        self.ledger_, self.network_ = curator.ledger, released.network
        self.schema_, self.n_, self._sampled = curator.schema, curator.n, 0
        self.model_ = Model(
            curator.schema,
            released.network,
            released.tables,
            curator.ledger,
            curator.n,
            type(self).__name__,
            shown,
            released.sources,
        )
