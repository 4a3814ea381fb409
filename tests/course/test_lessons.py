"""Exercises: friendly, never an exception, never fooled by nonsense; hints and solutions are there.

The answers stand beside the exercises: the likely mistakes of a value in the lesson's TOML file,
those of a function in its judge; ``passes`` and ``fails`` in the TOML file are answers as Python
source, which is evaluated here and nowhere else.
"""

import importlib
import math
import re
import string
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.audit import bugs, ceiling
from pdsynth.course.exercises import lesson, lesson_11, lesson_15
from pdsynth.course.exercises.exercise import Exercise, Message
from pdsynth.course.exercises.judges import Computation, Each, Number, Word
from pdsynth.domain.schema import Attribute, Schema
from pdsynth.evaluation import marginal_distance, split
from pdsynth.measures import mutual_information
from pdsynth.privacy.mechanisms import exponential_probabilities
from pdsynth.structure.adaptive import ParentChoice
from pdsynth.structure.clustering import affinity

LESSONS = [f"lesson_{i:02d}" for i in range(21)]
NONSENSE = [
    "",
    "text",
    -(10**9),
    1e300,
    float("nan"),
    [],
    {},
    [None],
    object(),
    lambda *a, **k: None,
    lambda: 1,
    int,
    np.zeros((2, 3)),
]


def divide(counts):
    """Each column by its sum, 0/0 included."""
    with np.errstate(invalid="ignore"):
        return counts / counts.sum(axis=0)


def laplace(rng, scale, size):
    return rng.laplace(scale=scale, size=size)


def shares(table, columns):
    return table[columns].value_counts(normalize=True)


def test_on(classify, learnt, asked):
    return (classify(learnt, asked) == asked["salary"]).mean()


test_on.__test__ = False
SMOKER = Attribute.categorical("smoker", ["yes", "no"], missing=True)
ADULT = SimpleNamespace(
    frame=pd.DataFrame({"sex": ["f", "m"] * 9, "smoker": ["yes", "no", "yes"] * 6}),
    schema=Schema((Attribute.categorical("sex", ["f", "m"]), SMOKER)),
)
NAMES = {
    "math": math,
    "np": np,
    "pd": pd,
    "pds": pds,
    "Q": Fraction,
    "Fraction": Fraction,
    "comb": math.comb,
    "LN2": math.log(2),
    "bugs": bugs,
    "split": split,
    "affinity": affinity,
    "ceiling": ceiling,
    "mutual_information": mutual_information,
    "exponential_probabilities": exponential_probabilities,
    "divide": divide,
    "laplace": laplace,
    "shares": shares,
    "test_on": test_on,
    "Schema": Schema,
    "Attribute": Attribute,
    "SMOKER": SMOKER,
    "adult": ADULT,
    "AGE": Attribute.numeric("age", 0, 120, bins=12, integer=True),
    "WARD": Attribute.categorical("ward", range(1, 6)),
}


class Question:
    """An exercise with the answers that stand beside it.

    ``right`` in the source of an answer is the function of the printed solution.
    """

    def __init__(self, name, key):
        self.name = f"{name}-{key}"
        module = importlib.import_module(f"pdsynth.course.exercises.{name}")
        self.exercise, self.data = getattr(module, key), lesson.read(name)[key]
        self.judge = self.exercise.examine
        self.names = {**vars(module), **NAMES}
        if (solution := self.exercise.solution_text).startswith("def "):
            scope = dict(self.names)
            exec(solution, scope)
            self.names["right"] = scope[re.match(r"def (\w+)", solution).group(1)]

    def __str__(self):
        return self.name

    def answers(self, source):
        """What stands in a lesson's file as Python source: a tuple has an answer for each part."""
        value = eval(source, self.names)
        return value if isinstance(value, tuple) else (value,)

    def right(self):
        """Right answers."""
        yield from map(self.answers, self.data.get("passes", []))
        if "right" in self.names:
            yield (self.names["right"],)
        if isinstance(self.judge, Each):
            yield tuple(next(right_values(part)) for part in self.judge.judges)
        yield from ((value,) for value in right_values(self.judge))

    def wrong(self):
        """Wrong answers, each with the words that its message must have."""
        for words, sources in self.data.get("fails", {}).items():
            for source in sources if isinstance(sources, list) else [sources]:
                yield self.answers(source), words
        if isinstance(self.judge, Each):
            rights = [next(right_values(part)) for part in self.judge.judges]
            for i, part in enumerate(self.judge.judges):
                for value, words in wrong_values(part):
                    yield (*rights[:i], value, *rights[i + 1 :]), words
        yield from (((value,), words) for value, words in wrong_values(self.judge))


def right_values(judge):
    if isinstance(judge, Number):
        for value in judge.right:
            yield from (value, Fraction(value), value * (1 + judge.within / 2))
    elif isinstance(judge, Word):
        for word in judge.right:
            yield from (word, f" {word.upper()} ", *([f"the {word}s"] * judge.inside))


def wrong_values(judge):
    if isinstance(judge, Number):
        yield from judge.mistakes.items()
        yield 123.456, judge.otherwise
    elif isinstance(judge, Word):
        yield from judge.mistakes.items()
        yield "no idea", judge.otherwise
    elif isinstance(judge, Computation):
        yield from ((function, words) for words, function in judge.mistakes.items())


def says(message, words):
    """Whether a message is made of these words, in which {…} stands for anything."""
    parts = [
        re.escape(text) + ("" if field is None else ".*")
        for text, field, _, _ in string.Formatter().parse(words)
    ]
    return re.search("".join(parts), message.text, re.DOTALL) is not None


def test_words_are_compared_with_their_gaps_filled():
    message = Message("pairs(2, 5) gives 3: too few.")
    assert says(message, "gives {got:g}: too few.") and says(message, "too few")
    assert not says(message, "gives {got:g}: too many.") and not says(message, "{got} pairs")


QUESTIONS = [Question(name, key) for name in LESSONS for key in lesson.read(name)]
every_question = pytest.mark.parametrize("question", QUESTIONS, ids=str)


def _double(value):
    if value == 4:
        return None
    return "answer = 0: did you take 2 - 2?" if value == 0 else f"answer = {value} is not 2 + 2."


SUM = Exercise(_double, "Count on your fingers.", "2 + 2 = 4", "Question 1", "Correct, four.")


def test_right_wrong_and_open():
    assert SUM.check(4).right
    assert repr(SUM.check(4)) == "Question 1: Correct, four."
    assert "did you take 2 - 2?" in repr(SUM.check(0))
    assert not SUM.check(0).right


@pytest.mark.parametrize("answer", [(), (None,), (...,), (4, None)])
def test_an_open_question_is_no_error(answer):
    message = SUM.check(*answer)
    assert message.kind == "open"
    assert "isn't answered yet" in repr(message)


def test_a_failing_answer_is_told_and_not_raised():
    message = Exercise(lambda f: f(), "h", "s").check(lambda: 1 / 0)
    assert message.kind == "wrong"
    assert "ZeroDivisionError: division by zero" in repr(message)


def test_a_function_that_returns_nothing_is_named():
    def choose(): ...

    message = Exercise(lambda f: f(), "h", "s", "Question 2").check(choose)
    assert message.kind == "open"
    assert repr(message) == "Question 2: choose returns nothing yet."


def test_messages_show_themselves_as_text_and_as_html():
    html = Message("a < b\nc", "wrong")._repr_html_()
    assert "a &lt; b<br>c" in html
    assert "#d55e00" in html
    assert repr(SUM.hint()) == "Hint. Count on your fingers."
    assert repr(SUM.solution()) == "Solution. 2 + 2 = 4"


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_its_exercises_and_every_file_is_read(name):
    module = importlib.import_module(f"pdsynth.course.exercises.{name}")
    exercises = [key for key, value in vars(module).items() if isinstance(value, Exercise)]
    assert exercises == list(lesson.read(name))
    assert len(exercises) >= 3, "predict, code, find the bug"


VALUE = {"number", "within", "word", "inside", "otherwise", "mistakes"}
KEYS = {"praise", "hint", "solution", "passes", "fails", "parts"} | VALUE


@every_question
def test_a_misspelt_key_doesn_t_hide_in_the_file(question):
    assert set(question.data) <= KEYS
    assert all(set(part) <= VALUE for part in question.data.get("parts", []))


@every_question
def test_nonsense_is_never_right_and_always_answered(question):
    exercise = question.exercise
    assert exercise.check().kind == "open"
    assert len(exercise.hint_text) > 10 and len(exercise.solution_text) > 5
    assert exercise.name != "this exercise"
    for answer in NONSENSE:
        message = exercise.check(answer)
        assert not message.right, answer
        assert len(message.text) > 20, answer


@every_question
def test_every_question_has_a_right_and_two_wrong_answers(question):
    assert next(question.right())
    assert len(list(question.wrong())) >= 2


@every_question
def test_the_right_answers_pass(question):
    for answer in question.right():
        verdict = question.exercise.check(*answer)
        assert verdict.right, verdict.text
        assert verdict.text.endswith(question.exercise.praise)


@every_question
def test_a_wrong_answer_names_the_likely_mistake(question):
    for answer, words in question.wrong():
        verdict = question.exercise.check(*answer)
        assert verdict.kind == "wrong"
        assert says(verdict, words), (words, verdict.text)


@pytest.mark.parametrize(
    "question", [q for q in QUESTIONS if isinstance(q.judge, Computation)], ids=str
)
def test_a_function_earns_every_message_of_its_judge(question):
    messages = [question.exercise.check(*answer) for answer, _ in question.wrong()]
    for words in (*question.judge.faults, question.judge.otherwise):
        assert any(says(message, words) for message in messages), words


@every_question
def test_half_of_a_right_answer_is_not_right(question):
    for answer in question.right():
        if len(answer) > 1:
            for wrong in (answer[:1], answer[1:], (*answer, answer[-1]), answer[::-1]):
                assert not question.exercise.check(*wrong).right, wrong


@every_question
def test_an_open_answer_is_open_and_help_is_there(question):
    exercise = question.exercise
    assert exercise.check(None).kind == exercise.check(...).kind == "open"
    assert exercise.check("no idea").kind == "wrong"
    assert not exercise.check(lambda *anything: 1 / 0).right
    if "def " in exercise.solution_text:
        assert exercise.check(lambda *anything: None).kind == "open", "it returns nothing"
    assert exercise.hint().text.startswith("Hint.")
    assert exercise.solution().text.startswith("Solution.")


def test_judges_of_numbers_and_words():
    near = Number([2], {3: "one too many"}, "{value:g} is wrong", within=0.1)
    exactly = Number([2], {}, "{value:g} is wrong")
    assert near(2.1) is None and exactly(2.1) == "2.1 is wrong" and near("3") == "one too many"
    plain = Word(["a", "b"], {"c": "not {said}"}, "neither")
    assert plain(" B ") is None and plain("C") == "not c" and plain("ab") == "neither"
    assert Word(["a"], {}, "no", inside=True)("cab") is None
    both = Each([plain, exactly])
    assert both("a", 1) == "1 is wrong" and both("a", 2) is None


def test_the_judge_of_functions():
    judge = Computation(
        lambda x: x * x,
        [(1,), (3,)],
        "{case[0]}² is {wanted:g}, not {got:g}",
        {"doubled": lambda x: 2 * x},
        {"negative": lambda got, x: got < 0},
    )
    assert judge(lambda x: x**2) is None
    assert judge(lambda x: 2 * x if x > 1 else 1) == "doubled"
    assert judge(lambda x: -x) == "negative"
    assert judge(lambda x: x) == "3² is 9, not 3"
    assert "an array of shape (1,), not a single number" in judge(lambda x: [x])


def test_the_printed_distance_is_the_library_s():
    real, fake = (
        pd.DataFrame({"a": list(a), "b": list(b)})
        for a, b in (("xxyy", "pqpq"), ("xyyyx", "ppqqp"))
    )
    schema = Schema(
        (Attribute.categorical("a", list("xy")), Attribute.categorical("b", list("pq")))
    )
    printed = Question("lesson_15", "q2").names["right"]
    distance = marginal_distance(real, fake, schema, 2)
    assert printed(real, fake, ["a", "b"]) == pytest.approx(distance)
    assert lesson_15.q2.check(printed).right


XOR = np.array([(a, b, c, a ^ b) for a in (0, 1) for b in (0, 1) for c in (0, 1)])


def test_information_of_rows_by_hand():
    assert lesson_11.information(XOR, 3, (0,)) == 0
    assert lesson_11.information(XOR, 3, (0, 1)) == 1
    assert lesson_11.information(XOR, 3, ()) == 0
    copy = XOR[:, [0, 1, 2, 0]]
    assert lesson_11.information(copy, 3, (0, 2)) == mutual_information(np.eye(2)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_lesson_s_programme_is_the_library_s(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (60, 5))
    rows[:, 4] = rows[:, 0] & rows[:, 2] ^ (rng.random(60) < 0.2)
    choice = ParentChoice([4])
    for f in (1, 3, 0, 2):
        before = [(), *choice.sets[4]]
        grown = [round(lesson_11.information(rows, 4, (*p, f)) * 2**30) for p in before]
        choice.offer(f, np.array([grown]))
    found = lesson_11.gparentset(rows, 4, (1, 3, 0, 2))
    assert [found[j] for j in range(1, 5)] == choice.sets[4]


def test_the_order_of_arrival_decides_what_gparentset_misses():
    assert set(lesson_11.gparentset(XOR, 3, (0, 2, 1))[2]) != {0, 1}
    assert set(lesson_11.gparentset(XOR, 3, (0, 1, 2))[2]) == {0, 1}
