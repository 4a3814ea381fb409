"""From claims to verdicts: several claims at once, and tolerances that must not decide."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from ..core import BudgetError
from .results import LEVEL, OPEN, Key, Verdict, judged_at
from .rules import RULES, TOLERANT, Gaps, Question
from .selectors import expand, fill, fill_all

TEXTS = ("says", "source", "numbers", "why", "untestable")  # of a claim
Ask = Callable[[], Verdict | None]  # a claim's verdict at the level that is in force


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
    """
    out: list[Ask] = []
    for each, block in groupby(claims, key=lambda c: c.get("each", [{}])):
        together = list(block)
        turns = each if isinstance(each, list) else expand(each, settings, data)
        for claim in ({**c, **turn} for turn in turns for c in together):
            own = fill_all(
                {n: v for n, v in claim.items() if n not in TEXTS}, {**vocabulary, **claim}
            )
            if claim["rule"] not in RULES:
                raise BudgetError(f"no rule {claim['rule']!r}; there are {', '.join(RULES)}")
            out.append(
                partial(
                    _answer,
                    claim,
                    Question(key, data, settings, own),
                    vocabulary,
                    reading or claim.get("base", "printed"),
                )
            )
    return out


def judge(asked: Sequence[Ask]) -> list[Verdict]:
    """The verdicts of claims that hold together, those that can't be judged left out."""
    return [verdict for verdict in judge_together(asked) if verdict is not None]


def judge_together(asked: Sequence[Ask]) -> list[Verdict | None]:
    """Verdicts of which all hold together with 95 % confidence (Holm 1979); None: not judged here.

    Of m claims the one whose verdict bears the strictest level comes first: it must bear 0.05/m,
    the next one 0.05/(m − 1), and so on. From the first that doesn't on, verdicts are those at the
    level where it stopped; ``held`` says what each would be alone.
    """
    found = [ask() for ask in asked]
    judged = {i: verdict for i, verdict in enumerate(found) if verdict is not None}
    m = len(judged)
    bears = {i: _bears(asked[i], verdict, m) for i, verdict in judged.items()}
    order = sorted(judged, key=lambda i: -bears[i])
    stop = next((at for at, i in enumerate(order) if bears[i] < m - at), m)
    for i in order[stop:]:
        with judged_at(LEVEL / (m - stop)):
            strict = asked[i]()
        if strict is not None and strict.verdict != judged[i].verdict:
            held = [judged[i].held, f"alone, without Holm's correction: {judged[i].verdict}"]
            found[i] = replace(
                judged[i], verdict=strict.verdict, held="; ".join(filter(None, held))
            )
    return found


def _bears(ask: Ask, verdict: Verdict, m: int) -> int:
    """The largest j up to m such that the verdict is the same at level 0.05/j; 0: none to bear."""
    if verdict.verdict == OPEN:
        return 0

    def same(j: int) -> bool:
        with judged_at(LEVEL / j):
            found = ask()
        return found is not None and found.verdict == verdict.verdict

    if same(m):
        return m
    low, high = 1, m
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if same(middle) else (low, middle)
    return low


def _answer(
    claim: Mapping[str, Any], question: Question, vocabulary: Mapping[str, Any], reading: str
) -> Verdict | None:
    """One claim's verdict, its texts filled with what its rule found."""
    decide_claim, text = RULES[claim["rule"]]
    answer = decide_claim(question)
    if answer is None:
        return None
    verdict, found = answer
    words = {"where": "each ε", "which": "both", "x": "ε", **vocabulary, **question.claim, **found}
    says, source, numbers, why, untestable = (fill(claim.get(n, ""), words) for n in TEXTS)
    rule = fill(text, words)
    if untestable:
        verdict, rule = OPEN, f"not judged: {untestable}"
    elif _once(found.get("found")):
        verdict, rule = OPEN, "not judged: no verdict of quality rests on one run"
    held = _tries(question, verdict) if claim["rule"] in TOLERANT and verdict != OPEN else ""
    brief, part = (str(question.claim.get(n, "")) for n in ("brief", "part"))
    return Verdict(says, source, verdict, numbers, why, rule, reading, held, brief, part)


def _once(found: Any) -> bool:
    """Whether a difference rests on a single run of one side."""
    return isinstance(found, Gaps) and any(np.isinf(half) for _, half in found)


def _tries(question: Question, verdict: str) -> str:
    """The verdicts at half and double the tolerance, where they differ."""
    said = []
    for word, stretch in (("half", 0.5), ("double", 2.0)):
        with judged_at(stretch=stretch):
            answer = RULES[question["rule"]][0](question)
        if answer is not None and answer[0] != verdict:
            said.append(f"at {word} the tolerance: {answer[0]}")
    return "; ".join(said)
