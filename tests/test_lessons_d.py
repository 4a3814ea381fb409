"""Exercises of lessons 16 and 17: the right answer passes, the likely mistakes are named, an open answer is only open."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest

from pdsynth.audit import bugs
from pdsynth.audit.estimator import lower_limit, upper_limit
from pdsynth.lessons import lesson_16, lesson_17


def bound(hits, misses, runs, alpha=0.025):
    return np.log(lower_limit(hits, runs, alpha) / upper_limit(misses, runs, alpha))


def loss(tables, name):
    return sum((cost for names, cost in tables if name in names), Q(0))


RIGHT = [
    (lesson_16.q1, 7.9), (lesson_16.q1, math.log(10_000 / 3.69)), (lesson_16.q2, bound), (lesson_16.q3, bugs.table),
    (lesson_17.q1, "restriction"), (lesson_17.q1, "Custom network"), (lesson_17.q2, loss), (lesson_17.q3, 5 / 24), (lesson_17.q3, 0.208),
]  # fmt: skip
WRONG = [
    (lesson_16.q1, math.log(20_000), "counts all runs"),
    (lesson_16.q1, math.log(10_000), "as large as 3.69"),
    (lesson_16.q1, math.log(20_000 / 3.69), "only half of the runs"),
    (lesson_16.q1, 3.0, "in all of h runs"),
    (lesson_16.q2, lambda h, m, n: np.log(h / max(m, 1e-9)), "takes the shares"),
    (lesson_16.q2, lambda h, m, n: bound(h, m, n, 0.05), "0.025 each"),
    (lesson_16.q2, lambda h, m, n: np.log(upper_limit(h, n, 0.025) / lower_limit(m, n, 0.025)), "not how bad it is for certain"),
    (lesson_16.q2, lambda h, m, n: 1.0, "lower limit of the hits"),
    (lesson_16.q3, bugs.seen_cells, "noise in one world only"),
    (lesson_16.q3, bugs.add_remove, "lemma:joint_counts"),
    (lesson_16.q3, bugs.default_seed, "L10"),
    (lesson_16.q3, lambda codes, sizes, epsilon, noise: np.zeros(sizes, dtype=int), "still be the table"),
    (lesson_17.q1, "theta", "is decided by the network"),
    (lesson_17.q1, "ledger", "afterwards"),
    (lesson_17.q1, "noise", "which of the levers"),
    (lesson_17.q2, lambda t, n: sum((c for names, c in t if names[0] == n), Q(0)), "As a parent"),
    (lesson_17.q2, lambda t, n: sum((c for _, c in t), Q(0)), "whole record"),
    (lesson_17.q2, lambda t, n: Q(7), "as child or parent"),
    (lesson_17.q3, 1 / 12, "inside the rare row"),
    (lesson_17.q3, 1 / 3, "One of the two cells"),
    (lesson_17.q3, 1 / 24, "one cell"),
    (lesson_17.q3, 2 / 15, "scales don't"),
    (lesson_17.q3, 0.9, "one over each"),
]


@pytest.mark.parametrize(("question", "answer"), RIGHT, ids=range(len(RIGHT)))
def test_right_answers_pass(question, answer):
    message = question.check(answer)
    assert message.right, message.text


@pytest.mark.parametrize(("question", "answer", "says"), WRONG, ids=range(len(WRONG)))
def test_the_likely_mistake_is_named(question, answer, says):
    message = question.check(answer)
    assert message.kind == "wrong" and says in message.text, message.text


@pytest.mark.parametrize("question", [*(getattr(m, f"q{i}") for m in (lesson_16, lesson_17) for i in (1, 2, 3))])
def test_an_open_answer_is_only_open(question):
    assert question.check(None).kind == question.check(...).kind == "open"


@pytest.mark.parametrize("question", [lesson_16.q2, lesson_17.q2])
def test_a_function_that_returns_nothing_is_open(question):
    assert question.check(lambda *_: None).kind == "open"
