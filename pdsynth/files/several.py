"""Drafts for columns whose cells hold several things: answers to one question, two numbers."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd

from ..core import Attribute

ANSWERS = ";", "|", ","  # signs between the answers of a cell
NUMBERS = "/", "x", "×"  # between numbers that were taken together, as 122/65 and 1920x1080
MOST_ANSWERS, LEAST_ANSWERS = 20, 10  # that are drafted; records that must give one
COVERED = 0.9  # share of all answers that those are
PARTS = 4  # numbers of a cell
ANSWER = "one line for each answer of the form: are all here? Names are free"
NONE = "; an empty cell is none of them"
NAMES = "; names are free"
Drafts = list[tuple[Attribute | str, str]]


def draft_answers(name: str, texts: pd.Series, how: dict[str, Any]) -> Drafts:
    """An attribute for each answer that cells list; none where they don't list answers.

    They do if their number differs from cell to cell, no cell says one twice, and few answers make
    many different cells. ``texts``: cells that say something. ``how``: keywords of the attributes;
    where cells are missing and no words stand for that, they are drafted as none of the answers.
    """
    none = {"missing": False, "empty": False} if how["missing"] and "na_values" not in how else {}
    times = Counter(texts)
    for sign in ANSWERS:
        lists = {text: [part.strip() for part in text.split(sign)] for text in times}
        totals = Counter[str]()
        for text, answers in lists.items():
            totals.update({answer: times[text] for answer in answers if answer})
        chosen = [a for a, n in totals.most_common(MOST_ANSWERS + 1) if n >= LEAST_ANSWERS]
        if (
            1 < len(chosen) <= MOST_ANSWERS
            and len(chosen) < len(lists)
            and len({*map(len, lists.values())}) > 1
            and all(len({*answers}) == len(answers) for answers in lists.values())
            and sum(totals[answer] for answer in chosen) >= COVERED * sum(totals.values())
        ):
            options = how | none | {"column": name, "between": sign}
            drafts = [
                Attribute.categorical(f"{name}: {answer}", [False, True], holds=answer, **options)
                for answer in sorted(chosen)
            ]
            notes = [ANSWER + NONE * bool(none)] + [""] * (len(drafts) - 1)
            return [*zip(drafts, notes, strict=True)]
    return []


def draft_numbers(
    name: str, texts: pd.Series, how: dict[str, Any], measured: Callable[..., Any]
) -> Drafts:
    """An attribute for each number of cells that all hold as many; else none.

    ``measured``: what drafts one from its name, its texts and keywords, None where these are no
    numbers.
    """
    for sign in NUMBERS:
        parts = texts.str.split(sign, expand=True, regex=False)
        if not 1 < parts.shape[1] <= PARTS or parts.isna().any(axis=None):
            continue
        options = how | {"column": name, "between": sign}
        drafts = [
            measured(f"{name}: {at + 1}", parts[at].str.strip(), options | {"part": at + 1})
            for at in parts
        ]
        if all(drafts):
            return [(found, note + NAMES * (not at)) for at, (found, note) in enumerate(drafts)]
    return []
