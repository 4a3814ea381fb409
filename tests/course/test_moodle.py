"""The question bank as Moodle imports it.

The rules are those of Moodle's own importer (question/format.php, question/format/xml/format.php,
and the classes of its question types); no Moodle runs here.
"""

import copy
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pdsynth.course.exercises.answers import questions
from pdsynth.course.exercises.judges import Each, Number, Several

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "notebooks" / "teaching"))
import workshop  # noqa: E402, I001 - it knows where the lessons are
import bank  # noqa: E402

KINDS = {"multichoice", "numerical", "essay"}
# Shares of a question's points that Moodle offers; an import with any other share stops.
SHARES = (1, 0.9, 5 / 6, 0.8, 0.75, 0.7, 2 / 3, 0.6, 0.5, 0.4, 1 / 3, 0.3, 0.25, 0.2, 1 / 6, 1 / 7,
          0.125, 1 / 9, 0.1, 0.05, 0)  # fmt: skip
NAME = 255  # characters that Moodle keeps
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
EMPTY = {"br", "hr", "img"}


class Tags(HTMLParser):
    """What is wrong with a piece of HTML that stands on a page of Moodle."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found = [], []
        self.feed(text)
        self.close()
        self.found += [f"<{tag}> isn't closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.open += [tag] * (tag not in EMPTY)
        for name, link in attrs:
            if name in ("href", "src") and not re.match(r"https?://", link or ""):
                self.found.append(f"leads nowhere in Moodle: {link}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.found.append(f"</{tag}> closes nothing")


def text_faults(node):
    """What is wrong with one text: its format, its HTML, its formulas, Markdown left over."""
    text, kind = node.findtext("text"), node.get("format")
    if text is None or kind not in ("html", None):
        return [f"{node.tag}: no text, or of an unknown format {kind!r}"]
    if kind is None:
        return []
    found = Tags(text).found
    shown = re.sub(r"<(pre|code)\b.*?</\1>", "", text, flags=re.DOTALL)
    if shown.count(r"\(") != shown.count(r"\)") or "$" in shown:
        found.append("a formula isn't between \\( and \\)")
    if "`" in shown or "**" in shown:
        found.append("Markdown shows")
    return [f"{node.tag}: {what}: {shown[:60]!r}" for what in found]


def answer_faults(question):
    """What is wrong with the answers of one question, by its kind."""
    kind, answers = question.get("type"), question.findall("answer")
    shares = [float(answer.get("fraction")) / 100 for answer in answers]
    found = [f"{share} is no share" for share in shares
             if min(abs(abs(share) - one) for one in SHARES) >= 1e-5]  # fmt: skip
    if kind == "multichoice":
        whole = sum(share for share in shares if share > 0)
        several = question.findtext("single") == "false"
        if round(whole if several else max(shares), 2) != 1 or len(answers) < 2:
            found.append(f"right answers give {whole}")
    elif kind == "numerical":
        if max(shares, default=0) != 1 or min(shares, default=0) < 0:
            found.append("no answer gives all points, or one takes some away")
        for answer in answers:
            value, within = answer.findtext("text"), answer.findtext("tolerance")
            if not (value == "*" or NUMBER.fullmatch(value)) or not NUMBER.fullmatch(within or ""):
                found.append(f"no number: {value} ± {within}")
    elif answers:
        found.append("an essay has no answers")
    return found


def faults(tree):
    """Everything for which Moodle would refuse or spoil this file."""
    found, names = [], set()
    if tree.tag != "quiz" or tree[0].get("type") != "category":
        found.append("a quiz begins with its category")
    for question in tree:
        if question.get("type") == "category":
            path = question.findtext("category/text") or ""
            found += [f"no category: {path}"] * (not re.fullmatch(r"\$course\$/top(/[^/]+)+", path))
            continue
        name = question.findtext("name/text") or ""
        wrong = [] if question.get("type") in KINDS else ["of no kind"]
        wrong += ["no name of its own"] * (not 0 < len(name) <= NAME or name in names)
        names.add(name)
        wrong += ["asks nothing"] * (not (question.findtext("questiontext/text") or "").strip())
        texts = [node for node in question.iter() if node.find("text") is not None]
        plain = ("name",) if question.get("type") == "multichoice" else ("name", "answer")
        wrong += [what for node in texts if node.tag not in plain for what in text_faults(node)]
        mark = question.findtext("defaultgrade") or ""
        wrong += [f"no mark: {mark!r}"] * (not NUMBER.fullmatch(mark) or float(mark) <= 0)
        wrong += answer_faults(question) if not wrong else []
        found += [f"{name}: {what}" for what in wrong]
    return found


@pytest.fixture(scope="module")
def written():
    """The whole question bank, as ``kit.py`` writes it."""
    return bank.write_quiz(workshop.read_sources())


@pytest.fixture(scope="module")
def tree(written):
    return ElementTree.fromstring(written.encode("utf-8"))


def test_moodle_s_importer_takes_the_whole_bank(tree):
    assert len(tree.findall("question")) > 80
    assert faults(tree) == []


def test_formulas_come_letter_by_letter():
    """Markdown would take backslashes off, and make marks of _ and *."""
    for formula in (r"e^x=73.1\,\%", r"\{0,1\}", "a_1*b_{2}*c_3", "0<x", r"\alpha_{x}_y"):
        written = formula.replace("<", "&lt;")
        assert bank.to_html(f"So ${formula}$ is.") == rf"<p>So \({written}\) is.</p>"


def test_boxes_to_tick_have_their_statements_and_nobody_asks_for_letters(tree):
    """Moodle letters and shuffles the boxes itself, unless it is told not to."""
    for question in tree.findall("question[@type='multichoice']"):
        assert question.findtext("answernumbering") == "none"
        assert "Answer with a set" not in question.findtext("questiontext/text")
        shown = [re.sub("<[^>]+>", "", one.findtext("text")) for one in question.findall("answer")]
        assert min(map(len, shown)) > 1, shown
        said = [
            node.findtext("text") for node in question.iter() if node.tag in ("feedback", "hint")
        ]
        assert not [text for text in said if re.search(r"\([a-f]\)", text)]


def test_whoever_is_to_repair_code_sees_it(tree):
    """In a notebook it stands in the student's own cell, which the bank leaves out otherwise."""
    asked = {one.findtext("name/text"): one.findtext("questiontext/text") for one in tree}
    repairs = [text for text in asked.values() if re.search("[Rr]epair", text or "")]
    assert len(repairs) > 5 and all("<pre><code" in text for text in repairs)
    assert "fake = make(real)" in asked["15 q3"] and "counts &gt; 0" in asked["16 q3"]
    assert not [name for name, text in asked.items() if "= None" in (text or "")]


def test_nobody_is_asked_for_fractions_that_moodle_refuses(tree):
    for question in tree.findall("question[@type='numerical']"):
        assert not re.search(
            "Give a.{,9}Fraction|A fraction", question.findtext("questiontext/text")
        )


def test_a_question_knows_nothing_of_another_and_of_no_notebook(tree):
    """Each number of a pair is a question of its own, and only a notebook runs `ex.…`."""
    for question in tree.findall("question"):
        asked = question.findtext("questiontext/text") or ""
        assert "<code>ex." not in asked and "A list checks" not in asked, asked
        for answer in question.findall("answer"):
            assert not re.match(r"<p>\w+ is right\.", answer.findtext("feedback/text"))


def loose(written):
    """What is wrong with the file itself: its encoding, its characters, texts outside CDATA."""
    found = []
    if not written.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<quiz>'):
        found.append("doesn't say that it is UTF-8")
    if strange := re.findall("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", written):
        found.append(f"XML has no {strange[0]!r}")
    kept = r"<text><!\[CDATA\[(?:(?!\]\]>).)*\]\]></text>"
    rest = re.sub(kept, "", written, flags=re.DOTALL)
    return found + ["a text isn't in CDATA"] * ("<text>" in rest)


def test_the_file_is_utf_8_with_its_texts_in_cdata(written):
    assert loose(written) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [("UTF-8", "latin-1", "UTF-8"), ("ε", "\x0b", "XML has no"), ("]]>", "]]>]]>", "CDATA")],
)
def test_twin_a_file_that_isn_t_whole_is_found(written, old, new, says):
    assert any(says in what for what in loose(written.replace(old, new, 1)))


def of_kind(tree, kind):
    return next(one for one in tree if one.get("type") == kind)


TWINS = {
    "no share": lambda t: of_kind(t, "multichoice").find("answer").set("fraction", "37"),
    "right answers give": lambda t: of_kind(t, "multichoice").find("answer").set("fraction", "5"),
    "gives all points": lambda t: of_kind(t, "numerical").find("answer").set("fraction", "50"),
    "no number": lambda t: setattr(of_kind(t, "numerical").find("answer/text"), "text", "two"),
    "no name": lambda t: setattr(of_kind(t, "essay").find("name/text"), "text", "x" * 256),
    "of no kind": lambda t: of_kind(t, "essay").set("type", "poem"),
    "unknown format": lambda t: of_kind(t, "essay").find("questiontext").set("format", "tex"),
    "asks nothing": lambda t: setattr(of_kind(t, "essay").find("questiontext/text"), "text", " "),
    "isn't closed": lambda t: setattr(of_kind(t, "essay").find("hint/text"), "text", "<b>so"),
    "leads nowhere": lambda t: setattr(
        of_kind(t, "essay").find("hint/text"), "text", "<a href='a.ipynb'>a</a>"
    ),
    "formula": lambda t: setattr(of_kind(t, "essay").find("hint/text"), "text", "$x$"),
    "Markdown": lambda t: setattr(of_kind(t, "essay").find("hint/text"), "text", "so `x`"),
    "no mark": lambda t: setattr(of_kind(t, "essay").find("defaultgrade"), "text", "0"),
    "answer: Markdown": lambda t: setattr(
        of_kind(t, "multichoice").find("answer/text"), "text", "so **x**"
    ),
    "no category": lambda t: setattr(t[0].find("category/text"), "text", "lesson 00"),
}


@pytest.mark.parametrize("says", TWINS)
def test_twin_what_moodle_refuses_is_found(tree, says):
    changed = copy.deepcopy(tree)
    TWINS[says](changed)
    assert any(says in what for what in faults(changed)), faults(changed)


def score(question, given):
    """What Moodle gives for a number, or for a set of ticked statements."""
    points = {}
    for answer in question.findall("answer"):
        text = answer.findtext("text")
        points.setdefault(text, (float(answer.get("fraction")), answer))
    if question.get("type") == "multichoice":
        return max(0, sum(points[text][0] for text in given))
    for text, (fraction, answer) in points.items():
        if text == "*" or abs(float(text) - given) <= float(answer.findtext("tolerance")):
            return fraction


def test_moodle_grades_as_the_course_does(tree):
    found = {one.findtext("name/text"): one for one in tree.findall("question")}
    numbers = sorted(workshop.read_sources())
    assert sum(one.get("type") == "category" for one in tree) == len(numbers)
    for question in questions([f"lesson_{number}" for number in numbers]):
        judges = question.judge.judges if isinstance(question.judge, Each) else [question.judge]
        for i, judge in enumerate(judges, 1):
            part = f" ({i} of {len(judges)})" if len(judges) > 1 else ""
            one = found[f"{question.lesson[-2:]} {question.key}{part}"]
            assert one.findtext("questiontext/text").startswith("<p><strong>")
            assert len(one.findall("hint")) == len(question.exercise.hints)
            if isinstance(judge, Number):
                assert [score(one, value) for value in judge.right] == [100] * len(judge.right)
                assert not any(score(one, value) for value in (*judge.mistakes, 12345.6))
                short = [float(f"{value:.3g}") for value in judge.right]
                short = [value for value in short if judge(value) is None]
                assert [score(one, value) for value in short] == [100] * len(short), question
            elif isinstance(judge, Several):
                ticks = [answer.findtext("text") for answer in one.findall("answer")]
                right = ticks[: len(judge.true)]
                assert score(one, right) == pytest.approx(100) and score(one, ticks) < 1e-9
                assert score(one, right[1:]) < 100 and score(one, ticks[len(right) :]) == 0
            else:
                assert one.get("type") == "essay"
                assert question.exercise.solution_text[:20] in one.findtext("graderinfo/text")
