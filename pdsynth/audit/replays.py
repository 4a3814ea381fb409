"""Exact replay: the answers of one table's fit are forced on its neighbour's, and compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..binning import refine
from ..concentrated import renyi_losses
from ..core import BudgetError, Entry, Ledger, Noise, Schema, SchemaError, positive
from ..files import as_text, decimal
from ..files.pages import render
from ..persons import LEVEL, People, choose_levels
from .case import format_epsilon
from .tape import Asked, Explorer, Fits, Loss, Walk, compare, differences, log_ratios, walk

ROUNDING = 1e-9
BESIDES = "what the fit shows besides"


@dataclass(frozen=True)
class Step:
    """One line: what it may lose between these tables by the ledger, and what it loses at most."""

    step: str
    mechanism: str
    claimed: Fraction | float
    log_ratio: Fraction | float
    why: str = ""
    as_written: bool = True

    @property
    def ok(self) -> bool:
        """Whether no answer tells more than the line says, and the noise is the line's."""
        return self.as_written and (
            self.log_ratio <= self.claimed
            or bool(
                math.isfinite(self.log_ratio)
                and float(self.log_ratio) <= float(self.claimed) * (1 + ROUNDING) + 1e-12
            )
        )


@dataclass(frozen=True)
class Replay:
    """What a fit loses between two neighbouring tables, step by step, exactly.

    ``steps``: those of the worst walk, then every step of another walk that breaks its line;
    ``epsilon``: what the ledger says of the whole fit; ``log_ratio``: max |ln p/p'| of the worst
    walk's transcript; ``change``: how the tables differ; ``walks``: forced runs; ``moved``: noisy
    answers whose counts differ on the worst walk; ``sign``: "ρ" where the ledger counts ρ, and so
    do claims and losses here.
    """

    name: str
    steps: tuple[Step, ...]
    epsilon: Fraction | float
    log_ratio: float
    change: str
    walks: int
    moved: int
    sign: str = "ε"

    @property
    def claimed(self) -> Fraction | float:
        """What this change may lose by the ledger: the lines that depend on what changes."""
        return sum((s.claimed for s in self.steps), Fraction(0))

    @property
    def violations(self) -> tuple[Step, ...]:
        """Steps that lose more than their lines say."""
        return tuple(s for s in self.steps if not s.ok)

    @property
    def ok(self) -> bool:
        """Whether the ledger holds for these tables; one that says "infinite" always does."""
        return not self.violations or self.epsilon == math.inf

    @property
    def table(self) -> pd.DataFrame:
        """One row per step: claimed, exact log-ratio, whether it holds, and why not."""
        names = ["step", "mechanism", "claimed", "log_ratio", "ok", "why"]
        return pd.DataFrame([[getattr(s, n) for n in names] for s in self.steps], columns=names)

    def __str__(self) -> str:
        word = "HOLDS" if self.ok else "BROKEN"
        if self.epsilon == math.inf:
            word = "NOT PRIVATE, as its ledger says"
        lines = [
            f"{self.name}: {word}. {self.change}; {self.walks} walks. "
            f"Lost {format_epsilon(self.log_ratio, 4)} of "
            f"{decimal(self.claimed)}{' (ρ)' * (self.sign == 'ρ')} that the ledger "
            "allows this change "
            f"(ε = {decimal(self.epsilon)} in all).",
            f"{'step':<44} {'mechanism':<18} {'claimed':>9} {'lost':>9}",
        ]
        for s in self.steps:
            mark = "  " if s.ok else "!!"
            lines.append(
                f"{s.step:<44.44} {s.mechanism:<18.18} {decimal(s.claimed):>9} "
                f"{float(s.log_ratio):>9.4g} {mark} {s.why}".rstrip()
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render(
            __package__,
            "replay.html",
            head=str(self).split("\n")[0],
            steps=self.steps,
            show=format_epsilon,
            written=decimal,
        )


def replay(
    synthesizer: Any,
    frame: pd.DataFrame,
    neighbour: pd.DataFrame,
    schema: Schema,
    *,
    walks: int = 8,
    seed: int = 0,
    person_epsilon: Any = None,
) -> Replay:
    """What a synthesizer loses between two neighbouring tables, each step against its ledger line.

    Every answer of the first table's fit (candidate, noisy counts) is forced on the fit of its
    neighbour. So both fits go the same way, and the loss of each step is known exactly: the largest
    |ln p/p'| over all answers that it could give there. What isn't a mechanism's answer must be the
    same in both fits: candidates, scales, shapes, fitted attributes, types, warnings.

    Parameters
    ----------
    synthesizer : not fitted; it stays as it is. Both fits enter through ``fit(frame, schema)``.
    frame, neighbour : tables that differ in one record (or in ``records_per_person``), or in how
        they are written only, such as another dtype.
    walks : how many different answers are forced. The first has no noise; others follow the laws,
        or go where few go.
    seed : of the forced answers, which are no noise.
    person_epsilon : as in ``fit``, a column of both frames or a rule. The record that comes or goes
        may lose its own part of each line, and one that is replaced both parts.

    A step that doesn't depend on what changes may lose nothing, so this tests
    ``attribute_epsilon``; where values have their own scales it tests ``value_epsilon``, too, and
    claims that are "known before the run" must be alike on all walks.

    Related: Re:cord-play (arXiv 2602.17454) runs an instrumented algorithm on neighbouring tables
    with the same randomness, and holds declared sensitivities against measured distances. Added
    here: the exact law of every answer in place of a distance, whole fits on forced walks, and the
    losses of single attributes, values and persons.

    **Privacy:** none: use made-up tables, the result tells what is in them.

    Returns a :class:`Replay`. Raises SchemaError if the tables aren't neighbours, BudgetError for
    ``guarantee="none"``, and what both fits raise.

    >>> import pandas as pd, pdsynth as pds
    >>> schema = pds.Schema(tuple(pds.Attribute.categorical(x, ["n", "y"]) for x in "ab"))
    >>> before, after = (pd.DataFrame({"a": list("nn"), "b": list(x)}) for x in ("nn", "ny"))
    >>> replay(pds.baselines.Independent(epsilon=1), before, after, schema).log_ratio
    0.5
    """
    if synthesizer.guarantee == "none":
        raise BudgetError(
            "guarantee='none' has no mechanism to replay: use 'strict' or 'published'"
        )
    cells = refine(schema) if schema.private else schema  # what a fit sees before it cuts bins
    options = {} if person_epsilon is None else {"person_epsilon": person_epsilon}
    if options:
        people = [choose_levels(synthesizer, x, schema, person_epsilon) for x in (frame, neighbour)]
        change = Change.of_persons(cells, people)
    else:
        most = getattr(synthesizer, "records_per_person", 1)
        change = Change.between(cells, frame, neighbour, most)
    change = replace(change, cut=tuple(a.name for a in schema.attributes if a.private))
    kind = type(synthesizer).__name__
    if change.carried:
        coding = Step("coding of the records", "none", Fraction(0), math.inf, change.carried)
        epsilon = positive("epsilon", synthesizer.epsilon)
        return Replay(kind, (coding,), epsilon, math.inf, str(change), 0, 0)

    def fit(data: pd.DataFrame, noise: Noise) -> Any:
        return synthesizer.clone().fit(data, schema=schema, noise=noise, **options)

    return replay_fits(
        (partial(fit, frame), partial(fit, neighbour)),
        change,
        name=kind,
        walks=walks,
        seed=seed,
    )


@dataclass(frozen=True)
class Change:
    """How two tables differ: the attributes in which a record changes, and its codes before/after.

    ``codes`` is None where several records change, or one comes or goes. ``carried``: in words, if
    records that are the same in both frames get other codes. ``part``: of a line's cost, for a
    record with an ε of its own. ``cut``: attributes whose bins the fit chooses; their codes are
    those of cells.
    """

    attributes: tuple[str, ...]
    codes: dict[str, tuple[int, int]] | None
    added: bool = False
    carried: str = ""
    part: Fraction = Fraction(1)
    cut: tuple[str, ...] = ()

    @classmethod
    def of_persons(cls, schema: Schema, people: Sequence[tuple[pd.DataFrame, People]]) -> Change:
        """The change between two frames whose records have an ε of their own.

        **Privacy:** none: made-up tables are compared.
        """
        (one, here), (other, there) = people
        if here.levels != there.levels:
            raise SchemaError(
                f"the levels {here.levels} and {there.levels} differ: they are public, so offer "
                "the same ones in both tables, as categories"
            )
        change = cls.between(schema, one, other, 1)
        rows = [
            [
                (level, *row)
                for level, row in zip(
                    p.of.tolist(), schema.encode(x, empty=True).tolist(), strict=True
                )
            ]
            for x, p in ((one, here), (other, there))
        ]
        gone, came = differing(*rows)
        if len(gone) > 1 or len(came) > 1:
            raise SchemaError("the tables differ in the preferences of several records")
        parts = [here.levels[row[0]] / here.levels[-1] for row in (*gone, *came)]
        change = replace(change, codes=None)
        if len({*parts}) > 1 or len(parts) == 1:  # as one record less, or one less and one more
            everything = (LEVEL, *schema.names)
            return replace(change, attributes=everything, added=True, part=sum(parts, Fraction(0)))
        return replace(change, part=parts[0]) if parts else change

    @classmethod
    def between(
        cls, schema: Schema, frame: pd.DataFrame, neighbour: pd.DataFrame, most: int
    ) -> Change:
        """The change between two frames; SchemaError if more than ``most`` records differ.

        Records are compared as they stand in the frames, by the texts of their cells; tables whose
        records have the same codes may be written in other ways, too.

        **Privacy:** none: made-up tables are compared.
        """
        before, after = differing(
            *(schema.encode(x, empty=True).tolist() for x in (frame, neighbour))
        )
        moved = max(len(before), len(after))
        changed = max(map(len, differing(*(texts(x, schema) for x in (frame, neighbour)))))
        if moved and changed > most:
            raise SchemaError(
                f"the tables differ in {changed} records, neighbours in at most {most}"
            )
        if moved > changed:
            why = f"{moved} records get other codes where {changed} were changed"
            return cls(schema.names, None, len(before) != len(after), why)
        if len(before) == len(after) == 1:
            both = zip(schema.names, before[0], after[0], strict=True)
            codes = {name: (u, v) for name, u, v in both if u != v}
            return cls(tuple(codes), codes)
        return cls(schema.names if before or after else (), None, len(before) != len(after))

    def __str__(self) -> str:
        if self.codes:
            return f"one record changes in {', '.join(self.attributes)}"
        if self.added:
            return "one record more"
        return "several records change" if self.attributes else "the same records"

    def claim(self, entry: Entry, power: int = 1) -> Fraction | float:
        """What a ledger line allows this change to lose, exactly.

        ``power``: of the ledger's unit; a removal and an addition cost 2^power times as much.
        """
        return self.part * self._claim(entry, power)

    def _claim(self, entry: Entry, power: int) -> Fraction | float:
        if self.added and entry.kind == "mechanism":
            return entry.epsilon if entry.relation == "add_remove" else Fraction(0)
        if not set(entry.attributes) & set(self.attributes):
            return Fraction(0)
        if entry.kind == "unaccounted_access":
            return math.inf
        own = entry.attributes[0]
        known = own not in self.cut and self.codes and own in self.codes
        if isinstance(entry.scale, tuple) and self.codes and known:
            u, v = self.codes[own]
            return 1 / entry.scale[u] + 1 / entry.scale[v]
        return entry.epsilon * (2**power if entry.relation == "add_remove" else 1)


def texts(frame: pd.DataFrame, schema: Schema) -> list[list[str | None]]:
    """The records of a frame as texts, None for a missing cell, whatever types the columns have.

    **Privacy:** none: made-up tables are compared.
    """
    columns = [
        [None if gone else as_text(cell) for cell, gone in zip(column, column.isna(), strict=True)]
        for column in (frame[name] for name in schema.names)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def differing(rows: list[Any], others: list[Any]) -> tuple[list[Any], list[Any]]:
    """Records of one table that aren't in the other one, and the other way round.

    **Privacy:** none: made-up tables are compared.
    """
    here, there = (Counter(map(tuple, each)) for each in (rows, others))
    return [*(here - there).elements()], [*(there - here).elements()]


def replay_fits(fits: Fits, change: Change, *, name: str, walks: int, seed: int) -> Replay:
    """The worst of some walks over two fits."""
    replays: list[Replay] = []
    promised: list[dict[str, Any]] = []
    for number in range(walks):
        walked = walk(fits, Explorer(number, seed), number)
        ledger = next((f[0].ledger_ for f in walked.fitted if f), Ledger(Fraction(1)))
        of_choice = renyi_losses if ledger.unit.power == 2 else log_ratios
        losses = [compare(*pair, of_choice) for pair in walked.pairs]
        steps = tuple(list_steps(walked, losses, ledger, change))
        total = float(add_up(losses))
        besides = sum(float(s.log_ratio) for s in steps if s.mechanism == "none")
        moved = sum(s.kind == "table" and s.forward > 0 for s in losses)
        replays.append(
            Replay(
                name, steps, ledger.epsilon, total + besides, str(change), walks, moved, ledger.sign
            )
        )
        sure, lost = ledger.guaranteed_ex_ante, ledger.attribute_epsilon().to_dict()
        promised.append(lost if sure is True else {name: lost[name] for name in sure or ()})
    worst = max(replays, key=lambda r: (not r.ok, r.log_ratio))
    broken = [s for r in replays if r is not worst for s in r.violations]
    new = [s for s in dict.fromkeys(broken) if s not in worst.steps]
    steps = (*worst.steps, *new, *changed_promises(promised))
    return replace(worst, steps=steps)


def add_up(losses: Iterable[Loss]) -> Fraction | float:
    """The loss of some answers together: the larger of both directions."""
    both = [(s.forward, s.backward) for s in losses]
    return max(sum((one[way] for one in both), Fraction(0)) for way in (0, 1))


def list_steps(walked: Walk, losses: list[Loss], ledger: Ledger, change: Change) -> Iterator[Step]:
    """One line per mechanism of the ledger, per question without one, and for all the rest."""
    lines: dict[str, Entry | None] = {}
    for entry in ledger.entries:
        if entry.kind == "mechanism" and entry.inputs:
            again = sum(key.split("\0")[0] == entry.step for key in lines)
            lines[entry.step + (f"\0{again}" if again else "")] = entry
    labels = [loss.label[0] if loss.label else "" for loss in losses]
    for key in {*labels}:
        lines.setdefault(key)
    for key, line in lines.items():
        mine = [loss for step, loss in zip(labels, losses, strict=True) if step == key]
        lost = add_up(mine)
        why = next((loss.why for loss in mine if loss.why), "")
        if line is None:
            if lost:
                yield Step(key.split("\0")[0], "not in the ledger", Fraction(0), lost, why)
            continue
        if not mine and not walked.parted:
            lost, why = math.inf, "nothing was drawn for this line"
        less = (
            ""
            if why
            else next(
                filter(
                    None,
                    (
                        less_noise(line, first)
                        for first, _ in walked.pairs
                        if first.label[:1] == (key,)
                    ),
                ),
                "",
            )
        )
        claimed = change.claim(line, ledger.unit.power)
        yield Step(line.step, line.mechanism, claimed, lost, why or less, not less)
    why = walked.parted or differences(walked)
    raw = any(change.claim(e) == math.inf for e in ledger.entries)
    yield Step(
        BESIDES, "none", math.inf if raw else Fraction(0), math.inf if why else Fraction(0), why
    )


def less_noise(line: Entry, question: Asked) -> str:
    """In what the noise that is drawn falls short of what its line says; "" if it doesn't."""
    if question.kind == "table" and question.zero_sum != (line.mechanism == "zero_sum_laplace"):
        return f"noise of another law than {line.mechanism}"
    if question.kind == "table" and isinstance(line.scale, Fraction):
        least = min(question.law.ravel())
        return (
            f"noise of scale {float(least):.4g}, its line says {float(line.scale):.4g}"
            if least < line.scale
            else ""
        )
    if question.kind == "law" and isinstance(line.scale, Fraction):
        variance, scale = question.law.variance, line.scale
        least = f"noise of variance {float(variance):.4g}, its line says {float(scale):.4g}"
        return least if variance < scale else ""
    if question.kind == "choice" and line.sensitivity and np.any(question.data):
        exponent = line.scale if isinstance(line.scale, Fraction) else Fraction(line.epsilon)
        times = Fraction(*question.law[:2]) * 2 * line.sensitivity / exponent
        return f"an exponent {float(times):.4g} times its line's" if times > 1 else ""
    return ""


def changed_promises(promised: list[dict[str, Any]]) -> Iterator[Step]:
    """Claims that were known before the run, and yet differ between walks."""
    for name in promised[0]:
        values = {p.get(name, math.inf) for p in promised}
        if len(values) > 1:
            yield Step(
                f"attribute_epsilon: {name}",
                "known before",
                min(values),
                max(values),
                "not the same on all walks",
            )
