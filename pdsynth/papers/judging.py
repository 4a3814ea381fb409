"""From claims to verdicts: a paper's claims together, other readings beside, tolerances that must
not decide.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from ..core import BudgetError
from .results import LEVEL, OPEN, RECONSTRUCTED, UNDEFINED, WIDE, Key, Verdict, judged_at
from .rules import EXACT, RULES, TOLERANT, Gaps, Question
from .selectors import expand, fill, fill_all

# texts of a claim; the last two say why it isn't judged
TEXTS = ("says", "quote", "source", "numbers", "why", "size", "undefined", "reconstruction")
NOT_JUDGED = {"undefined": UNDEFINED, "reconstruction": RECONSTRUCTED}
Judge = Callable[[], Verdict | None]  # a claim's verdict at the level that is in force


@dataclass(frozen=True)
class Ask:
    """One claim of a data file before the trials of its figure, under one reading."""

    claim: Mapping[str, Any]
    question: Question
    vocabulary: Mapping[str, Any]
    reading: str
    primary: bool

    def __call__(self) -> Verdict | None:
        """Its verdict at the level that is in force, its texts filled with what its rule found."""
        claim, question = self.claim, self.question
        decide_claim, text = RULES[claim["rule"]]
        answer = decide_claim(question)
        if answer is None:
            return None
        verdict, facts = answer
        words = {"where": "each ε", "which": "both", "x": "ε", "interval": question.interval}
        words |= {"size": "" if "size" in facts else _say_size(question, facts.get("found"))}
        words |= {**self.vocabulary, **question.claim, **facts}
        texts = {n: fill(claim[n], words) for n in TEXTS if n in claim}
        rule, tested, runs = fill(text, words), claim["rule"] not in EXACT, question.runs
        if (name := next((n for n in NOT_JUDGED if n in claim), None)) is not None:
            verdict, rule, tested = NOT_JUDGED[name], f"not judged: {texts[name]}", False
        elif (few := _too_few(facts.get("found"))) is not None:
            runs, reason = few
            verdict, rule, tested = WIDE, f"not judged: {reason}", False
        judged = verdict not in OPEN
        tries = _tries(question, verdict) if claim["rule"] in TOLERANT and judged else ""
        return Verdict(
            texts["says"],
            texts["source"],
            verdict,
            texts["numbers"],
            texts["why"],
            rule,
            self.reading,
            tries,
            str(question.claim.get("brief", "")),
            str(question.claim.get("part", "")),
            texts.get("quote", ""),
            texts.get("size", words["size"]),
            self.primary,
            tested,
            runs,
        )


def _say_size(question: Question, found: Any) -> str:
    """The ratio at the middle ε; where there is none, the median difference, and the range."""
    if size := question.size():
        return size
    gaps = [gap for gap, _ in found if np.isfinite(gap)] if isinstance(found, Gaps) else []
    if not gaps:
        return ""
    text, *ends = (f"{gap:+.3g}" for gap in (np.median(gaps), min(gaps), max(gaps)))
    return text if len(set(ends)) == 1 else f"{text} ({' … '.join(ends)})"


def ask_all(
    claims: Sequence[Mapping[str, Any]],
    key: Key,
    data: pd.DataFrame,
    settings: Any,
    vocabulary: Mapping[str, Any],
    reading: str | None = None,
) -> list[Ask]:
    """The claims about one figure, to be judged at any level; reading None: each under its base.

    Claims that follow each other with the same ``each`` are judged in turn for each of its values.
    A claim counts under its first ``primary`` reading that it can be judged under; without one,
    under its base.
    """
    out: list[Ask] = []
    series: dict[Any, pd.Series] = {}
    rows: dict[tuple[str, Any], np.ndarray] = {}
    for each, block in groupby(claims, key=lambda c: c.get("each", [{}])):
        together = list(block)
        turns = each if isinstance(each, list) else expand(each, settings, data)
        for claim in ({**c, **turn} for turn in turns for c in together):
            own = fill_all(
                {n: v for n, v in claim.items() if n not in TEXTS}, {**vocabulary, **claim}
            )
            if claim["rule"] not in RULES:
                raise BudgetError(f"no rule {claim['rule']!r}; there are {', '.join(RULES)}")
            base = claim.get("base", "printed")
            mine, primary = reading or base, claim.get("counts", base)
            question = Question(key, data, settings, own, series, rows)
            out.append(
                Ask(claim, question, vocabulary, mine, mine == primary and "aside" not in claim)
            )
    return out


def judge(asked: Sequence[Judge]) -> list[Verdict]:
    """The verdicts of claims that hold together, those that can't be judged left out."""
    return [verdict for verdict in judge_together(asked) if verdict is not None]


def judge_together(asked: Sequence[Judge]) -> list[Verdict | None]:
    """Verdicts of which the primary ones hold together with 95 % confidence (Holm 1979).

    The family is the paper's claims under one reading each, as far as an interval decides them.
    Of its m members the one whose verdict bears the strictest level comes first: it must bear
    0.05/m, the next one 0.05/(m − 1), and so on. From the first that doesn't on, verdicts are those
    at the level where it stopped; ``held`` says what each would be alone. Other readings stand
    beside, each at its own 95 %. None: not judged here.
    """
    verdicts = [ask() for ask in asked]
    family = {i: v for i, v in enumerate(verdicts) if v is not None and v.primary and v.tested}
    m = len(family)
    bears = {i: _bears(asked[i], verdict, m) for i, verdict in family.items()}
    order = sorted(family, key=lambda i: -bears[i])
    stop = next((at for at, i in enumerate(order) if bears[i] < m - at), m)
    for i in order[stop:]:
        with judged_at(LEVEL / (m - stop)):
            strict = asked[i]()
        if strict is not None and strict.verdict != family[i].verdict:
            notes = [family[i].held, f"alone, without Holm's correction: {family[i].said}"]
            verdicts[i] = replace(
                family[i], verdict=strict.verdict, held="; ".join(filter(None, notes))
            )
    return verdicts


def _bears(ask: Judge, verdict: Verdict, m: int) -> int:
    """The largest j up to m such that the verdict is the same at level 0.05/j; 0: none to bear."""
    if verdict.verdict in OPEN:
        return 0

    def same(j: int) -> bool:
        with judged_at(LEVEL / j):
            outcome = ask()
        return outcome is not None and outcome.verdict == verdict.verdict

    if same(m):
        return m
    low, high = 1, m
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if same(middle) else (low, middle)
    return low


def _too_few(found: Any) -> tuple[int, str] | None:
    """The runs of a difference that rests on one run of a side, or on none, and what follows."""
    if not isinstance(found, Gaps) or not any(np.isinf(half) for _, half in found):
        return None
    if any(np.isnan(gap) for gap, _ in found):
        return 0, "a method refused to run at some of the points (the trials' notes say why)"
    return 1, "no verdict of quality rests on one run"


def _tries(question: Question, verdict: str) -> str:
    """The verdicts at half and double the tolerance, where they differ."""
    changes = []
    for word, stretch in (("half", 0.5), ("double", 2.0)):
        with judged_at(stretch=stretch):
            answer = RULES[question["rule"]][0](question)
        if answer is not None and answer[0] != verdict:
            changes.append(f"at {word} the tolerance: {answer[0]}")
    return "; ".join(changes)
