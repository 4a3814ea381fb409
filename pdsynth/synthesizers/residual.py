"""Structures that measure while they learn: a forest, or rounds that choose, measure and fit again.

ConsistentBayes (`algorithms` §18): steps of MST (McKenna, Miklau, Sheldon 2021), and the rounds
and noise penalty of AIM (McKenna, Mullins, Sheldon, Miklau 2022), here in pure ε.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..budgets import SensitivityGroups, check_personal, share
from ..domain.facts import Facts
from ..domain.progress import bar, progress
from ..errors import BudgetError, is_one_of, is_whole, show
from ..privacy.curator import Curator
from ..structure.belief import Columns, Fitted
from ..structure.learner import Shares, StructureResult
from ..structure.limits import check_width
from ..structure.restrictions import Restriction, check_restriction
from .residual_run import MOST_CELLS, Run
from .residual_share import ASKED, look, share_of_look

SELECT = "residual against what is released"
TRIPLE_CELLS = 64  # triples of larger tables are left to their pairs
MOST_SETS = 4_096  # with triples; else pairs alone
UP, DOWN = Fraction(2), Fraction(7, 10)  # a round's ε after a table of noise, or a clear one
CLEAR = 8  # a change of so many times the expected noise was measured too well
LEAST = 64  # of 65,536 parts of ε: a round's; below it what is left goes to the columns
STOPS = 2  # in a row end the rounds: the first may be chance, and doubles the next round's ε
WARM = 40  # steps of a fit between rounds
SPENT = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


@dataclass(frozen=True)
class Residual:
    """What the forest and the rounds share: one-way tables first, then pairs by their residual.

    Parameters
    ----------
    sensitive : an attribute that stands in one table besides its own column, paid from a share
        that is fixed before the run.
    restriction : a public policy. Tables have no direction: a ``forced`` pair is measured, a
        ``forbidden`` one never stands in one table, whichever way it is written. Its ``target`` is
        the root, its ``sensitive`` attributes stand in one table with the target each.
    personal : :class:`SensitivityGroups` with groups by policy. A table that touches group A gets
        r times the ε. Weights of values hold for the columns of group B.
    r : ε of group A's tables against the others'.
    share_one_way : ε of the single columns; ``"auto"``: .05 of ε per value of a mean column, at
        most .3, as the sums of a large table tell little about its columns; and up to all of the
        pairs' where a noisy look finds these tied too weakly (:mod:`.residual_share`).
    share_select : part of a pair's ε that goes into choosing it.
    share_sensitive : ε of the tables that may hold sensitive attributes.

    **Privacy:** the score of a set of columns S is Q = Σ |c_S − m_S| − p_S, in whole records.
    m_S, what the fitted model expects, is a function of earlier releases; the penalty p_S is
    public; both are rounded before Q is computed. One replaced record moves c_S by one in two
    cells, so it moves Q by at most 2 (where membership is protected, by 1). STOP has the constant
    score 0, so the exponential mechanism has sensitivity 2 (lemma:residual).
    """

    sensitive: str | None = None
    restriction: Restriction | None = None
    personal: SensitivityGroups | None = None
    r: float = 1 / 3
    share_one_way: float | str = "auto"
    share_select: float = 0.2
    share_sensitive: float = 0.1

    measures: ClassVar[bool] = True
    counts_only: ClassVar[bool] = True
    grow: ClassVar[Any]  # choose and measure, for ε; what is left of it

    def check(self, facts: Facts) -> None:
        """Refuse shares, groups and policies that don't fit the schema."""
        check_width(len(facts.schema), "ConsistentBayes")
        check_restriction(self.restriction, "auto", facts.schema)
        if self.sensitive is not None:
            facts.schema.index(self.sensitive)
        share("share_select", self.share_select)
        share("share_sensitive", self.share_sensitive)
        check_personal(SensitivityGroups() if self.personal is None else self.personal, self.r)
        if self.asks(facts)["pairs"] <= 0:
            raise BudgetError("share_one_way and share_sensitive must leave something for pairs")
        if self.sensitive is not None and self.restriction is not None:
            if self.restriction.sensitive:
                raise BudgetError("name the sensitive attribute once: here, or in the restriction")
        if self.personal is not None:
            if self.personal.policy(facts.schema, self.sensitive) is None:
                raise BudgetError(
                    "personal= needs groups by policy: "
                    "SensitivityGroups(groups={'A': [...], 'B': [...]})"
                )
        Run.check(self, facts)

    def hidden(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        named = tuple(self.restriction.sensitive) if self.restriction is not None else ()
        return named or ((self.sensitive,) if self.sensitive is not None else ())

    def asks(self, facts: Facts) -> Shares:
        """The look, single columns, the sensitive attributes' tables, all other pairs: 1 in all."""
        sizes, auto = facts.schema.sizes, is_one_of(self.share_one_way, ("auto",))
        looks = auto and self.personal is None and facts.unit.n_is_public
        seen = share_of_look(sizes) if looks else Fraction(0)
        one_way = (
            min(Fraction(3, 10), Fraction(sum(sizes), 20 * len(sizes)))
            if auto
            else share("share_one_way", self.share_one_way)  # type: ignore[arg-type]
        )
        hidden = share("share_sensitive", self.share_sensitive) if self.hidden() else Fraction(0)
        return {
            ASKED: seen,
            "single columns": one_way,
            "sensitive": hidden,
            "pairs": 1 - seen - one_way - hidden,
        }

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """A network over everything that was measured, with all its tables.

        **Privacy:** all of ε: a look at how strongly columns are tied, single columns, the one
        table of each sensitive attribute, pairs; what STOP leaves measures the single columns that
        aren't sensitive once more.
        """
        run = Run(self, curator, facts)
        more, tables = look(run, shares)
        run.measure_columns(shares["single columns"], more=more)
        left = tables + run.reserve(shares["sensitive"])
        left = self.grow(run, left) if tables else left
        if left >= run.unit and run.open:
            run.measure_columns(left, again=True)
        elif left:
            curator.charge_unused(left, "unused", "too little to measure anything with")
        known = self.hidden()
        return StructureResult(
            run.network(),
            known=known,
            rule=run.describe(),
            measurements=tuple(run.found),
            attributes={"measured_": tuple(m.attributes for m in run.found)},
        )


@dataclass(frozen=True)
class ResidualForest(Residual):
    """A forest in one go: d−1 selections, then its tables, ε in proportion to √cells."""

    def grow(self, run: Run, epsilon: Fraction) -> Fraction:
        """Edges that join two trees, by their residual against independence.

        **Privacy:** d−1 exponential mechanisms for ``share_select`` of ε, tables for the rest.
        """
        d, choosing = len(run.sizes), share("share_select", self.share_select) * epsilon
        tables, chosen = epsilon - choosing, list(run.forced)
        each = run.shorten(choosing / max(d - 1, 1))
        pairs = run.pairs()
        expected = dict(zip(pairs, run.expect(run.fit_columns(), pairs), strict=True))
        part, stopped = list(range(d)), False
        for i, j in chosen:
            part = [part[i] if at == part[j] else at for at in part]
        # a pair that joins two trees changes no clique
        pairs = run.permitted(pairs, chosen) if run.linked.any() else run.not_apart(pairs)
        for number in progress(range(d - 1), "edges", unit="edge"):
            sets = [p for p in pairs if part[p[0]] != part[p[1]]]
            if not sets:
                break
            chosen_at = run.choose(
                sets,
                [expected[p] for p in sets],
                each,
                [tables / (d - 1)] * len(sets),
                step=f"edge {number + 1}",
                source=SELECT,
            )
            choosing -= each
            if chosen_at is None:
                stopped = True
                break
            chosen.append(sets[chosen_at])
            i, j = sets[chosen_at]
            part = [part[i] if at == part[j] else at for at in part]
        roots = [Fraction(max(1, math.isqrt(run.cells(p)))) * run.favour(p) for p in chosen]
        costs = [run.shorten(tables * root / sum(roots)) for root in roots]
        left = choosing + tables - sum(costs)
        if costs and not stopped:
            costs[-1], left = costs[-1] + left, Fraction(0)
        for p, cost in zip(chosen, costs, strict=True):
            run.measure(p, cost)
        return left


@dataclass(frozen=True)
class ResidualRounds(Residual):
    """Rounds: a pair or triple by its residual against the fitted model, its table, a new fit.

    ``rounds``: how many ε is planned for; ``"auto"``: two per attribute, or
    fewer in proportion where single columns take of the pairs' ε. A round whose table
    changed the model by no more than its noise doubles the ε of the next one; one whose table
    changed it by more than eight times that lowers it (as AIM's annealing). So ε ends after fewer
    or more rounds. ``most_cells``: of a clique of the junction tree.
    """

    rounds: int | str = "auto"
    most_cells: int = MOST_CELLS

    def grow(self, run: Run, epsilon: Fraction) -> Fraction:
        """Rounds until ε is spent, or STOP.

        **Privacy:** an exponential mechanism for ``share_select`` of each round's ε, a table for
        the rest. What a round may cost depends on releases, and all rounds together cost ε.
        """
        usual = self.asks(run.facts)["pairs"] * run.facts.epsilon
        each_twice = math.ceil(2 * len(run.sizes) * min(epsilon / usual, Fraction(1)))
        planned = each_twice if self.rounds == "auto" else int(self.rounds)
        left, least = epsilon, min(LEAST * run.unit, epsilon / (len(run.forced) + 1))
        each = max(run.shorten(epsilon / max(planned, len(run.forced) + 1)), least)
        for pair in run.forced:
            left -= run.measure(pair, run.shorten(each * run.favour(pair)))
        candidates, number = run.candidates(TRIPLE_CELLS, MOST_SETS), 0
        fitted, stops = run.fit(), 0
        with bar(float(epsilon), "rounds", unit="ε", bar_format=SPENT) as shown:
            while left >= least:  # a table of group A costs less than its round may
                sets = run.permitted(candidates, [])
                if not sets:
                    break
                each = left if left < 2 * each else each
                number += 1
                left, fitted, factor = self._round(run, fitted, sets, each, left, number)
                shown.update(float(epsilon - left) - shown.n)
                stops = stops + 1 if factor is None else 0
                if stops == STOPS:
                    break
                each = max(run.shorten(each * (factor or UP)), least)
        return left

    def _round(
        self,
        run: Run,
        fitted: Fitted,
        sets: Sequence[Columns],
        each: Fraction,
        left: Fraction,
        number: int,
    ) -> tuple[Fraction, Fitted, Fraction | None]:
        """What is left of ε, the new fit, and the factor of the next round's ε; None after STOP."""
        choosing = run.shorten(each * share("share_select", self.share_select))
        price = {f: run.shorten((each - choosing) * f) for f in {run.dear, run.plain}}
        if each == left:  # the last round
            price |= {f: each - choosing for f in price if f == 1}
        costs = [price[run.favour(s)] for s in sets]
        expected = run.expect(fitted, sets)
        at = run.choose(sets, expected, choosing, costs, step=f"round {number}", source=SELECT)
        left -= choosing
        if at is None:
            return left, fitted, None
        left -= run.measure(sets[at], costs[at])
        if not left:
            return left, fitted, Fraction(1)
        fitted = run.fit(fitted, most=WARM)
        moved = float(np.abs(fitted.margin(sets[at]) - expected[at]).sum())
        noise = run.noise(sets[at], costs[at])
        factor = UP if moved <= noise else DOWN if moved > CLEAR * noise else Fraction(1)
        return left, fitted, factor

    def check(self, facts: Facts) -> None:
        """Refuse numbers of rounds and cells that aren't whole."""
        super().check(facts)
        for name, value, least in (("rounds", self.rounds, 1), ("most_cells", self.most_cells, 4)):
            planned = name == "rounds" and is_one_of(value, ("auto",))
            if not planned and not is_whole(value, least, 2**20):
                raise BudgetError(
                    f"{name} must be a whole number of at least {least}, "
                    f"got {show(value)} (the most are 2^20)"
                )
