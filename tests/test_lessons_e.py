"""Exercises of lessons 12 and 18: the right answer passes, the likely mistakes are named, an open answer is only open."""

from fractions import Fraction as Q

import pytest

from pdsynth.lessons import lesson_12, lesson_18


def loss(network, budgets, attribute):
    return sum(budgets[child] for child, parents in network.pairs if attribute in (child, *parents))


def largest(limit):
    def largest_k(n, d, size, epsilon):
        return max((k for k in range(d) if 2 * (d - k) / (epsilon * (0.7 if k else 1)) * size ** (k + 1) / n <= limit), default=0)

    return largest_k


RIGHT = [
    (lesson_12.q1, (Q(1, 20), 40)), (lesson_12.q1, (0.05, 40.0)), (lesson_12.q2, (loss,)), (lesson_12.q3, ("weights",)),
    (lesson_18.q1, ((2 * 8 / 0.7) / (10_000 / 64),)), (lesson_18.q2, (largest(1 / 4),)), (lesson_18.q3, (4, "score")),
]  # fmt: skip
WRONG = [
    (lesson_12.q1, (Q(2, 5), 5), "lightest table"),
    (lesson_12.q1, (Q(1, 15), 30), "its *share*"),
    (lesson_12.q1, (Q(3, 16), 40), "equal share"),
    (lesson_12.q1, (Q(1, 3), 40), "1 : 2 : 4 : 8"),
    (lesson_12.q1, (Q(1, 20), 20), "half of what is needed"),
    (lesson_12.q1, (Q(1, 20), 7), "sensitivity 2 divided"),
    (lesson_12.q2, (lambda network, budgets, a: budgets[a],), "its own table"),
    (lesson_12.q2, (lambda network, budgets, a: loss(network, budgets, a) - budgets[a],), "own table is missing"),
    (lesson_12.q2, (lambda network, budgets, a: Q(1, 3),), "stands in have"),
    (lesson_12.q3, ("matrix",), "noise is paid for"),
    (lesson_12.q3, ("tables",), "what decides"),
    (lesson_12.q3, ("frame",), "left of a line"),
    (lesson_18.q1, (0.0731,), "half"),
    (lesson_18.q1, (0.1829,), "eight are measured"),
    (lesson_18.q1, (0.1024,), "all of ε"),
    (lesson_18.q1, (6.836,), "upside down"),
    (lesson_18.q1, (22.857,), "noise scale"),
    (lesson_18.q1, (3.0,), "scale ÷"),
    (lesson_18.q2, (largest(1),), "four"),
    (lesson_18.q2, (lambda *a: largest(1 / 4)(*a) + 1,), "too large"),
    (lesson_18.q2, (lambda *a: 99,), "at most"),
    (lesson_18.q2, (lambda *a: -1,), "not 1"),
    (lesson_18.q3, (1, "score"), "How many fits"),
    (lesson_18.q3, (4, "tried"), "counted in"),
    (lesson_18.q3, (4, "k"), "smallest"),
    (lesson_18.q3, (4, "return"), '"tried"'),
]


@pytest.mark.parametrize(("question", "answer"), RIGHT)
def test_right_answers_pass(question, answer):
    assert question.check(*answer).right, question.check(*answer)


@pytest.mark.parametrize(("question", "answer", "words"), WRONG)
def test_likely_mistakes_are_named(question, answer, words):
    said = question.check(*answer)
    assert not said.right and words in said.text, said


@pytest.mark.parametrize("lesson", [lesson_12, lesson_18])
def test_open_answers_are_open_and_help_is_there(lesson):
    for question in (lesson.q1, lesson.q2, lesson.q3):
        assert question.check(None).kind == "open"
        assert question.hint().text and question.solution().text
    assert lesson.q2.check(lambda *a: None).kind == "open"
