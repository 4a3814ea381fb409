"""ConsistentBayes: what to run on a table of one's own. What its ε buys, in the order of a run:

look       at most 1/20        how strongly pairs of columns are tied on average: one number
gate       1/80 to 1/20 where  how strong the strongest tie is; where it is clear, for 1/8 at most,
           ties are weak       which pair it is, whose table gets what it needs, at most 1/4; again
columns    1/20 for each of    a noisy table of every single column, ε in proportion to √values;
           a column's values,  more beside tables of weak ties, and all of ε where these are lost
           at most 3/10        in noise; then rare values whose counts are mostly noise stand as
                               one in all tables of several columns
rounds     the rest            in each, 1/5 for a choice, of the pair, or the small set of three or
                               four columns, whose counts are farthest from what the fitted model
                               expects, and 4/5 for its noisy table; then a new fit
agreement  nothing             all tables become the closest distribution on a junction tree

What a run asks and keeps stands in :mod:`.consistent_run`, policy (sensitive attributes, groups,
forced pairs) in :mod:`.consistent_policy`. Many columns get a forest in one go in place of rounds,
columns of few cells one table of all and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..core.agreement import Agree
from ..core.budgets import Parts
from ..core.curator import Curator
from ..core.errors import BudgetError, bar, door, is_one_of, is_whole, progress, share, show
from ..core.factors import Columns
from ..core.network import Restriction
from ..core.recipe import Recipe
from ..core.schema import Facts
from ..core.structure import Shares, Structure, StructureResult, check_width
from ..core.unit import TableBudget
from .consistent_look import LOOK_STEP, Look, look, share_of_look, worth_looking
from .consistent_policy import SELECT, TABLE, Policy, PolicyOptions, fair_weight
from .consistent_run import Run, reserve
from .personal import SensitivityGroups

COLUMNS_RHO = Fraction(3, 20)  # of ρ, with delta: its noise falls with the root alone
EACH = Fraction(4)  # tables that a column is planned to stand in
LEAST = 64  # of 65,536 parts of ε: a round's; below it what is left goes to the columns
UP, SAME, DOWN = Fraction(2), Fraction(1), Fraction(7, 10)  # times a round's ε or ρ, by change
CLEAR = 8  # a change of so many times the expected noise was measured too well
STOPS = 2  # in a row end the rounds: the first may be chance, and doubles the next round's ε
FIRST_STOPS = 4  # as long as there is no table: a pair may pay at eight times a round's ε
WARM = 40  # steps of a fit between rounds
OPTIONS = "sensitive", "restriction", "target"  # which tables there are
MANY = 64  # columns beyond which rounds, each of which judges all pairs anew, would take hours
SPENT = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


@dataclass(eq=False, repr=False, kw_only=True)
class ConsistentBayes(Recipe):
    """Single columns, then pairs and small sets chosen by what is still wrong, all made to agree.

    Before, one noisy number says how strongly pairs are tied on average. Where ties are weaker
    than noise, single columns get all of ε, besides the pairs that are clearly tied when asked for
    the strongest. Where all columns have few cells, one table of all is measured, and nothing else.

    In pure ε: the steps of MST (McKenna, Miklau, Sheldon 2021), the rounds of AIM (McKenna,
    Mullins, Sheldon, Miklau 2022), Private-PGM with squares for the agreement (McKenna, Sheldon,
    Miklau 2019), each with the exponential mechanism and discrete Laplace noise.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in every synthesizer, see
        :class:`~pdsynth.core.recipe.Recipe`.
    delta : None: pure ε. A small chance, as 1e-9: the same steps with Gaussian noise, (ε, δ)-DP and
        NOT pure. Nearer where many tables are measured; with few columns Laplace noise is smaller.
    rounds : how many rounds ε is planned for; ``"auto"``: as many as let each attribute stand in
        four tables (two per attribute, where these are pairs), and a forest beyond 64 attributes.
        0: a forest of pairs in one go, faster and about as good where n ε is small.
    sensitive : an attribute that stands in one table besides its own column. What it loses is
        bounded before the run: its column's ε and ``share_sensitive``.
    target : the attribute that a classifier will predict: its pairs are measured first, for
        three fifths of the pairs' ε, whatever the look finds.
    restriction, personal, r, share_sensitive : as in :class:`PolicyOptions`; else schema.groups.
    share_one_way : as in :class:`Residual`.
    reconcile : ``Agree()``, also where None.

    Attributes
    ----------
    measured_ : the attributes of every table that was measured, in order.

    **Privacy:** strict: pure ε-DP under replacing one record: discrete Laplace noise on the mean
    association of pairs (at most ε/20), on the largest R less what chance and rules make (public),
    an exponential mechanism on these R, each of which moves by at most 3/n, a discrete Laplace
    table per column and per clear tie, per round an exponential mechanism on the residual
    (sensitivity 2, see :class:`Residual`) and a discrete Laplace table, all sequentially and ε in
    all; tables of at most 32 cells have zero-sum noise. Agreement is post-processing, and so is the
    merging of rare values, a function of the released columns. Whether one table of all columns is
    measured, for all of ε, is public, or follows from a released n. A value that goes with an
    attribute that isn't sensitive (a drug with its diagnosis) is told by that one: see
    ``ledger_.attribute_epsilon``. With ``delta``:
    (ε, δ)-DP through zCDP, every step as :class:`~pdsynth.concentrated.ConcentratedCurator` says.
    """

    rounds: int | str = "auto"
    sensitive: str | None = None
    restriction: Restriction | None = None
    personal: Any = None
    r: float = 1 / 3
    share_one_way: float | str = "auto"
    share_sensitive: float = 0.1
    target: str | None = None

    def _parts(self, facts: Facts) -> Parts:
        options = {f.name: getattr(self, f.name) for f in fields(Residual)}
        if facts.schema.groups and self.personal is None:
            options["personal"] = SensitivityGroups(rare_values="same_noise")
        auto = is_one_of(self.rounds, ("auto",))
        if (auto and len(facts.schema) > MANY) or is_whole(self.rounds, 0, 0):
            return Parts(ResidualForest(**options), reconcile=Agree())
        return Parts(ResidualRounds(**options, rounds=self.rounds), reconcile=Agree())


@dataclass(frozen=True)
class Residual(PolicyOptions, Structure):
    """The steps of a run: the look, single columns, and tables chosen by their residual.

    ``share_one_way``: ε of the single columns; ``"auto"``: .05 of ε per value of a mean column, at
    most .3, as the sums of a large table tell little about its columns, and more of the pairs' the
    weaker these are tied for their noise: up to all.

    **Privacy:** the score of a set of columns S is Q = Σ |c_S − m_S| − p_S, in whole records.
    m_S, what the fitted model expects, is a function of earlier releases; the penalty p_S is
    public; both are rounded before Q is computed. One replaced record moves c_S by one in two
    cells, so it moves Q by at most 2 (where membership is protected, by 1). STOP has the constant
    score 0, so the exponential mechanism has sensitivity 2 (lemma:residual).
    """

    share_one_way: float | str = "auto"

    measures: ClassVar[bool] = True
    counts_only: ClassVar[bool] = True
    plans_in_rho: ClassVar[bool] = True
    in_rounds: ClassVar[bool] = False
    grow: ClassVar[Any]  # choose and measure, for ε; what is left of it

    def check(self, facts: Facts) -> None:
        """Refuse shares, groups and policies that don't fit the schema."""
        check_width(len({*facts.schema.names} - {door("persons").LEVEL}), "ConsistentBayes")
        self.check_policy(facts)
        if self.asks(facts)["pairs"] <= 0:
            raise BudgetError("share_one_way and share_sensitive must leave something for pairs")

    def asks(self, facts: Facts) -> Shares:
        """The look, single columns, the sensitive attributes' tables, all other pairs: 1 in all."""
        sizes, auto = facts.schema.sizes, is_one_of(self.share_one_way, ("auto",))
        looks = self.may_share(facts) and facts.unit.n_is_public and worth_looking(facts)
        look_part = share_of_look(sizes) if looks else Fraction(0)
        one_way = min(Fraction(3, 10), Fraction(sum(sizes), 20 * len(sizes)))
        one_way = one_way if facts.unit.power == 1 else COLUMNS_RHO
        if not auto:
            one_way = share("share_one_way", self.share_one_way)  # type: ignore[arg-type]
        hidden = self.share_of_sensitive()
        rest = 1 - look_part - one_way - hidden
        return {LOOK_STEP: look_part, "single columns": one_way, "sensitive": hidden, "pairs": rest}

    def may_share(self, facts: Facts) -> bool:
        """Whether the run may decide which part of ε its single columns have."""
        even = self.personal is None or Policy(self, facts).even
        return even and is_one_of(self.share_one_way, ("auto",))

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """A network over everything that was measured, with all its tables.

        **Privacy:** all of ε: a look at how strongly columns are tied, single columns, the one
        table of each sensitive attribute, pairs; what STOP leaves, columns that aren't sensitive.
        """
        run = Run(Policy(self, facts), curator, facts)
        unseen = Look(Fraction(0), shares["pairs"])
        looked = look(run, shares, self.in_rounds) if self.may_share(facts) else unseen
        run.measure_columns(shares["single columns"], looked.columns)
        if looked.tables:
            run.merge_rare_values()
        for pair, budget in looked.ties:
            run.measure(pair, budget)
        rest = looked.tables + reserve(run, shares["sensitive"])
        rest = self.grow(run, rest) if looked.tables else rest
        if rest >= run.policy.unit:
            run.measure_columns(rest, again=True)
        elif rest:
            curator.charge_unused(rest, "unused", "too little to measure anything with")
        return self.found(run)

    def found(self, run: Run) -> StructureResult:
        """A network over everything that a run has measured. **Privacy:** post-processing."""
        measured = tuple(run.model.measurements)
        if run.policy.all_careful:
            door("persons").warn_of_all(run.facts, run.facts.schema.names)
        return StructureResult(
            run.model.network(last=run.policy.hidden),
            known=self.sensitive_names(),
            rule=run.model.describe(),
            measurements=measured,
            attributes={"measured_": tuple(m.attributes for m in measured)},
        )


@dataclass(frozen=True)
class ResidualRounds(Residual):
    """Rounds: a set of columns by its residual against the fitted model, its table, a new fit.

    ``rounds``: how many ε is planned for; ``"auto"``: four tables of each attribute, or fewer in
    proportion where single columns take of the pairs' ε. A table that changed the model by no more
    than its noise doubles the next round's ε or ρ, one that changed it by more than eight times
    that lowers it, as AIM's annealing. A table with noise of less than a record isn't measured
    again. What tables of the group with less ε spare goes to the other's, then to single columns.
    """

    rounds: int | str = "auto"

    in_rounds: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse numbers of rounds that aren't whole."""
        super().check(facts)
        if not is_one_of(self.rounds, ("auto",)) and not is_whole(self.rounds, 1, 2**20):
            raise BudgetError(f"rounds must be 'auto', 1, 2, … or 2^20, got {show(self.rounds)}")

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """As :class:`Residual`; or the table of all columns, where that tells most (``planning``).

        **Privacy:** one noisy table, or that. Which of the two is a function of the schema, ε and
        n, which is public or released.
        """
        named = any(getattr(self, name) is not None for name in OPTIONS)
        free = self.may_share(facts) and not named and is_one_of(self.rounds, ("auto",))
        if not free or not door("planning").tells_most(facts):
            return super().learn(curator, shares, facts)
        run, every = Run(Policy(self, facts), curator, facts), tuple(range(len(facts.schema)))
        epsilon = sum(shares.values(), Fraction(0))
        run.measure(every, TableBudget(epsilon, source="table of all columns"))
        return replace(self.found(run), known=facts.unit.n_is_public)

    def grow(self, run: Run, epsilon: Fraction) -> Fraction:
        """Rounds until ε is spent, or STOP.

        **Privacy:** an exponential mechanism for a fifth of each round's ε, a table for the rest.
        What a round may cost depends on releases, and all rounds together cost ε.
        """
        policy, usual = run.policy, self.asks(run.facts)["pairs"] * run.facts.epsilon
        for pair, budget in policy.share_label(epsilon).items():
            epsilon -= run.spend(pair, budget)
        candidates = policy.candidates()
        members = EACH * len(policy.sizes) / int(np.median([len(s) for s in candidates] or [2]))
        tables = math.ceil(members * min(epsilon / usual, Fraction(1)))
        planned = tables if self.rounds == "auto" else int(self.rounds)
        least = min(LEAST * policy.unit, epsilon / (len(policy.forced) + 1))
        each = max(policy.shorten(epsilon / max(planned, len(policy.forced) + 1)), least)
        rest, stops, number = epsilon, 0, 0
        for pair in policy.forced:
            rest -= run.spend(pair, policy.budget(pair, each))
        fit, measured = run.model.fit(), False
        usual_cells = policy.usual_cells(candidates)
        with bar(float(epsilon), "rounds", unit="ε", bar_format=SPENT) as shown:
            while rest >= least and stops < (STOPS if measured else FIRST_STOPS):
                expected = run.expected_in(
                    fit, run.model.permitted(candidates, policy.most_cells, policy.apart)
                )
                if not expected:
                    break
                number += 1
                each = rest if rest < 2 * each else each
                choosing = policy.shorten(each * SELECT)
                rest -= choosing
                budget_of = policy.round_budgets(each - choosing, rest, usual_cells, run.spared)
                chosen = run.choose(expected, choosing, budget_of, step=f"round {number}")
                factor = UP
                if chosen is not None:
                    measured = True
                    budget = budget_of(chosen)
                    rest -= run.spend(chosen, budget, run.spared / rest)
                    if rest:
                        fit = run.model.fit(fit, WARM)
                        change = float(np.abs(fit.margin(chosen) - expected[chosen]).sum())
                        noise = run.noise_in(chosen, budget.epsilon)
                        factor = UP if change <= noise else DOWN if change > CLEAR * noise else SAME
                        if noise < 1:  # less than a record: it is known
                            candidates = [columns for columns in candidates if columns != chosen]
                shown.update(float(epsilon - rest) - shown.n)
                stops = stops + 1 if chosen is None else 0
                each = max(policy.shorten(each * factor), least)
        return rest + run.spared


@dataclass(frozen=True)
class ResidualForest(Residual):
    """A forest in one go: d−1 selections, then its tables, ε in proportion to √cells.

    Where all of them touch the group with less ε, they get its part of theirs, columns the rest.
    """

    def grow(self, run: Run, epsilon: Fraction) -> Fraction:
        """Edges that join two trees, by their residual against independence; what is left of ε.

        **Privacy:** d−1 exponential mechanisms for a fifth of ε, tables for the rest.
        """
        policy, choosing, tables = run.policy, SELECT * epsilon, (1 - SELECT) * epsilon
        most = max(len(policy.sizes) - 1, 1)
        each = policy.shorten(choosing / most)

        def budget_of(pair: Columns) -> TableBudget:
            return TableBudget(tables / most * policy.weight_of(pair))

        allowed = [p for p in policy.pairs() if not policy.apart[p]]
        expected = run.expected_in(run.model.fit_columns(), allowed)
        pairs, trees = policy.forced + policy.label, [*range(most + 1)]  # the tree of each column

        def join(pair: Columns) -> None:
            i, j = pair
            trees[:] = [trees[i] if tree == trees[j] else tree for tree in trees]

        ruled = {(i, j) for i, j in np.argwhere(policy.ruled).tolist() if i < j}
        for pair in [*ruled, *pairs]:  # the clique of a rule is there already
            join(pair)
        chosen: Columns | None = ()
        for number in progress(range(most), "edges", unit="edge"):
            expected = {
                p: m
                for p, m in expected.items()
                if trees[p[0]] != trees[p[1]] or (p in ruled and p not in pairs)
            }
            if not expected:
                break
            chosen = run.choose(expected, each, budget_of, step=f"edge {number + 1}")
            choosing -= each
            if chosen is None:
                break
            pairs.append(chosen)
            join(chosen)
        roots = [fair_weight(policy.possible(p), policy.neighbours.power) for p in pairs]
        parts = [root * policy.weight_of(p) for root, p in zip(roots, pairs, strict=True)]
        full = [at for at, p in enumerate(pairs) if policy.weight_of(p) == 1]
        whole = sum(parts if full else roots)  # alone, a group that has less leaves the rest
        costs = [policy.shorten(tables * part / whole) for part in parts]
        rest = choosing + tables - sum(costs)
        if full and chosen is not None:  # no STOP: what is left goes to no group that has less ε
            costs[full[-1]], rest = costs[full[-1]] + rest, Fraction(0)
        for pair, cost in zip(pairs, costs, strict=True):
            run.measure(pair, TableBudget(cost, source=TABLE))
        return rest
