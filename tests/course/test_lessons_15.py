"""Exercises of lesson 15: the right answer passes, the likely mistakes are named, an open answer is only open."""

import pandas as pd
import pytest

from pdsynth.course.exercises import lesson_15
from pdsynth.evaluation import marginal_distance, split


def shares(table, columns):
    return table[columns].value_counts(normalize=True)


def distance(real, fake, columns):
    return shares(real, columns).sub(shares(fake, columns), fill_value=0).abs().sum() / 2


def honest(real, make, classify):
    train, test = split(real, 1 / 5)
    return (classify(make(train), test) == test["salary"]).mean()


def as_printed(real, make, classify):
    train, test = split(make(real), 1 / 5)
    return (classify(train, test) == test["salary"]).mean()


def on_the_training_rows(real, make, classify):
    train, _ = split(real, 1 / 5)
    return (classify(make(train), train) == train["salary"]).mean()


def made_of_everybody(real, make, classify):
    _, test = split(real, 1 / 5)
    return (classify(make(real), test) == test["salary"]).mean()


def taught_by_real_rows(real, make, classify):
    train, test = split(real, 1 / 5)
    make(train)
    return (classify(train, test) == test["salary"]).mean()


def errors(real, make, classify):
    return 1 - honest(real, make, classify)


def counts(real, fake, columns):
    return real[columns].value_counts().sub(fake[columns].value_counts(), fill_value=0).abs().sum() / 2


def real_cells(real, fake, columns):
    p = shares(real, columns)
    return p.sub(shares(fake, columns).reindex(p.index, fill_value=0)).abs().sum() / 2


RIGHT = [(lesson_15.q1, -1), (lesson_15.q1, -0.01), (lesson_15.q2, distance), (lesson_15.q3, honest)]
WRONG = [
    (lesson_15.q1, 17, "zero rule"),
    (lesson_15.q1, 57, "only if nobody"),
    (lesson_15.q1, 1, "sign"),
    (lesson_15.q1, 3, "no part in"),
    (lesson_15.q2, lambda *a: 2 * distance(*a), "L1"),
    (lesson_15.q2, lambda r, f, c: shares(r, c).sub(shares(f, c), fill_value=0).abs().max(), "largest difference"),
    (lesson_15.q2, lambda r, f, c: (shares(r, c) - shares(f, c)).abs().sum() / 2, "only one of the two"),
    (lesson_15.q2, real_cells, "only the synthetic"),
    (lesson_15.q2, lambda r, f, c: shares(r, c).sub(shares(f, c), fill_value=0).abs().mean() / 2, "mean over cells"),
    (lesson_15.q2, counts, "compare shares"),
    (lesson_15.q2, lambda *a: 0.3, "½ Σ"),
    (lesson_15.q3, as_printed, "synthetic rows"),
    (lesson_15.q3, on_the_training_rows, "tests on all"),
    (lesson_15.q3, made_of_everybody, "made from"),
    (lesson_15.q3, taught_by_real_rows, "teaches the classifier with real rows"),
    (lesson_15.q3, errors, "classify was right for"),
    (lesson_15.q3, lambda real, make, classify: 0.8, "must make a table"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answer"), RIGHT)
def test_right_answers_pass(question, answer):
    assert question.check(answer).right, question.check(answer)


@pytest.mark.parametrize(("question", "answer", "words"), WRONG)
def test_likely_mistakes_are_named(question, answer, words):
    said = question.check(answer)
    assert not said.right and words in said.text, said


def test_open_answers_are_open_and_help_is_there():
    for question in (lesson_15.q1, lesson_15.q2, lesson_15.q3):
        assert question.check(None).kind == "open"
        assert question.hint().text and question.solution().text
    for question in (lesson_15.q2, lesson_15.q3):
        assert question.check(lambda *a: None).kind == "open"


def test_the_solution_of_the_code_exercise_is_the_library_s_distance():
    from pdsynth import Attribute, Schema

    real, fake = (pd.DataFrame({"a": list(a), "b": list(b)}) for a, b in (("xxyy", "pqpq"), ("xyyyx", "ppqqp")))
    schema = Schema((Attribute.categorical("a", ["x", "y"]), Attribute.categorical("b", ["p", "q"])))
    assert distance(real, fake, ["a", "b"]) == pytest.approx(marginal_distance(real, fake, schema, 2))


def test_the_solution_texts_are_right():
    """Each printed solution, run as it stands."""
    names: dict = {}
    exec(lesson_15.q2.solution_text, names)
    assert lesson_15.q2.check(names["variation_distance"]).right
