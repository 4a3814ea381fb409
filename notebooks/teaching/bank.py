"""What teachers take from the exercises: notes with misconceptions, a question bank, hand-outs."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import course_map
import mistune
from workshop import get_exercise, lessons, split_pieces

from pdsynth.course.exercises.answers import Question, questions
from pdsynth.course.exercises.judges import Each, Number, Several, rounds

Cells = list[lessons.Cell]
# What Moodle shows as boxes to tick, without letters: the statements, and how a notebook is answered.
LISTED = r"^\* \*\*\w\*\* .+\n?|\s*Answer with a set of [^.]+\."
# A notebook takes Python's fractions, Moodle decimal numbers alone: "7/12" is refused there.
TYPED = r"A fraction, please\.|Give a `Fraction` or a number\."
# What a notebook does, and neither Moodle nor paper: a list that checks a text, a function that can be run.
RUN = r"\s*A list checks that [^`]+`ex\.[^`]+`\.|\s*`ex\.[^`]+` runs it\."
SEEDED = (
    r"^\* This page fixes `random_state`.+\n?(?:  .+\n?)*"  # of a lesson's runs: a sheet has none
)


def find_questions(number: str) -> list[Question]:
    """The questions of a lesson."""
    return questions([f"lesson_{number}"])


def ask(source: str, question: Question) -> str:
    """What the lesson asks, in Markdown: text and code up to the student's own cell.

    Where that cell begins with code that is to be repaired, it is asked about, too.
    """
    parts = []
    for kind, text, _ in get_exercise(split_pieces(source), int(question.key[1:])):
        if "\n# solution\n" in text:
            given = text.split("\n# solution\n")[0]
            if "def " in given and "..." not in given:
                parts.append(f"```python\n{given}\n```")
            break
        parts.append(text if kind == "markdown" else f"```python\n{text}\n```")
    return re.sub(r"^\*\*\d+ · ", "**", "\n\n".join(parts))


def section_minutes(source: str, number: str) -> list[tuple[str, int]]:
    """Minutes of every section of a lesson, at least 1."""
    data, by_section = course_map.load(), {}
    for section, *cell in split_pieces(source):
        by_section.setdefault(section, []).append(tuple(cell))
    lesson = data["lessons"][number] | {"seconds": 0}
    return [
        (name, max(1, round(sum(course_map.seconds_of(cells, lesson, data["allowance"]).values()))))
        for name, cells in by_section.items()
        if name
    ]


def write_notes(sources: dict[str, str]) -> str:
    """Instructor notes: each lesson's sections with minutes, its questions' wrong answers."""
    out = [
        "# Instructor notes",
        "",
        "Made by `python notebooks/teaching/kit.py --out`: times from "
        "the lessons' words, misconceptions from the wrong answers that every exercise keeps. "
        "Text under CC BY 4.0.",
        "",
    ]
    for number, source in sources.items():
        title = re.search(r"^# # (.+)$", source, re.MULTILINE)[1]
        out += [f"## {title}", "", "| section | minutes |", "|---|---|"]
        out += [f"| {name} | {minutes} |" for name, minutes in section_minutes(source, number)]
        for question in find_questions(number):
            out += [
                "",
                f"### {title[:2]} · {question.exercise.name}",
                "",
                ask(source, question),
                "",
                "Hints: " + " → ".join(question.exercise.hints),
                "",
                f"Solution: `{question.exercise.solution_text}`"
                if "\n" not in question.exercise.solution_text
                else f"```python\n{question.exercise.solution_text}\n```",
                "",
                "What goes wrong, and what the course says to it:",
                "",
            ]
            said = dict.fromkeys(text for _, text in question.misconceptions())
            out += ["* " + text.replace("\n", " ") for text in said]
        out.append("")
    return "\n".join(out)


def to_html(text: str) -> str:
    """Markdown as HTML; formulas between \\( and \\), as Moodle reads them, letter by letter."""
    formula = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)
    kept = [escape(found[1] or found[2], quote=False) for found in formula.finditer(text)]
    places = iter(range(len(kept)))
    html = str(mistune.html(formula.sub(lambda _: f"\ue000{next(places)}\ue000", text)))
    return re.sub("\ue000(\\d+)\ue000", lambda place: rf"\({kept[int(place[1])]}\)", html).strip()


def node(name: str, text: Any, html: bool = True, **attributes: Any) -> str:
    """One element with its text."""
    kind = ' format="html"' if html else ""
    written = "".join(f' {key}="{escape(str(value))}"' for key, value in attributes.items())
    inner = str(text).replace("]]>", "]]&gt;")
    return f"<{name}{kind}{written}><text><![CDATA[{inner}]]></text></{name}>"


def answer(text: Any, fraction: float, feedback: str, tolerance: float | None = None) -> str:
    """One answer with its share of the points and what is said to it."""
    within = "" if tolerance is None else f"<tolerance>{tolerance:.12g}</tolerance>"
    return (
        f'<answer fraction="{fraction:.7g}" format="html"><text><![CDATA[{text}]]></text>'
        f"{within}{node('feedback', to_html(feedback))}</answer>"
    )


def tolerance(judge: Number, value: float) -> float:
    """How far off a right number may be: as in the course, which takes three digits of it, too."""
    digits = float(f"{value:.3g}")
    rounding = abs(digits - value) * (1 + 1e-6) if rounds(value, digits) else 0
    return max(abs(value) * max(judge.within, 1e-3), rounding, 1e-9)


def numerical(judge: Number, praise: str) -> str:
    """Right numbers for all points, likely mistakes for none and with their words.

    Of several numbers each is a question of its own, so nothing is said of the one before.
    """
    rights = [
        answer(f"{value:.12g}", 100, praise, tolerance(judge, value)) for value in judge.right
    ]
    wrong = [
        answer(
            f"{value:.12g}",
            0,
            re.sub(r"^\w+ is right\. ", "", words).format(value=value, **judge.numbers),
            max(abs(value) * 1e-3, 1e-9),
        )
        for value, words in judge.mistakes.items()
    ]
    return "".join(rights + wrong) + answer("*", 0, "See the hints.", 0)


def unlettered(words: str) -> str:
    """What is said to a statement, which in Moodle has no letter: "(a) holds" becomes "This holds".

    >>> unlettered("(a) is true: it reads the records")
    'This is true: it reads the records'
    """
    return re.sub(r"^\(\w\) ", "This ", words)


def choices(judge: Several, asked: str) -> str:
    """Each name with its statement; a wrong tick costs as much as a right one earns."""

    def statement(name: str) -> str:
        found = re.search(rf"^\* \*\*{re.escape(name)}\*\* (.+)$", asked, re.MULTILINE)
        return found[1] if found else name

    made = [
        answer(to_html(statement(name)), 100 / len(judge.true), unlettered(words))
        for name, words in judge.true.items()
    ]
    made += [
        answer(to_html(statement(name)), -100 / len(judge.false), unlettered(words))
        for name, words in judge.false.items()
    ]
    how = "<single>false</single><shuffleanswers>true</shuffleanswers>"
    return f"{how}<answernumbering>none</answernumbering>{''.join(made)}"


def write_quiz(sources: dict[str, str]) -> str:
    """A question bank in Moodle's XML, one category for each lesson."""
    out = ['<?xml version="1.0" encoding="UTF-8"?>', "<quiz>"]
    for number, source in sources.items():
        path = f"$course$/top/pdsynth/lesson {number}"
        out.append(f'<question type="category">{node("category", path, html=False)}</question>')
        for question in find_questions(number):
            out += list(write_questions(number, question, ask(source, question)))
    return "\n".join([*out, "</quiz>"]) + "\n"


def write_questions(number: str, question: Question, asked: str) -> list[str]:
    """One question, or one for each part: numerical, several choices, or an essay with a model."""
    exercise, judge = question.exercise, question.judge
    parts = judge.judges if isinstance(judge, Each) else [judge]
    made = []
    for i, part in enumerate(parts, 1):
        which = f" ({i} of {len(parts)})" if len(parts) > 1 else ""
        shown = re.sub(RUN, "", asked)
        if isinstance(part, Number):
            shown = re.sub(TYPED, "Give a decimal number.", shown)
        if isinstance(part, Several):
            shown = re.sub(LISTED, "", asked, flags=re.MULTILINE)
        body = to_html(
            shown + (f"\n\n*Answer {i} of {len(parts)}, in that order.*" if which else "")
        )
        if isinstance(part, Number):
            kind, inner = "numerical", numerical(part, exercise.praise)
        elif isinstance(part, Several):
            kind, inner = "multichoice", choices(part, asked)
        else:
            model = f"{exercise.solution_text}\n\n" + "\n".join(exercise.hints)
            kind, inner = "essay", node("graderinfo", f"<pre>{escape(model)}</pre>")
        hints = "".join(node("hint", to_html(text)) for text in exercise.hints)
        made.append(
            f'<question type="{kind}">{node("name", f"{number} {question.key}{which}", False)}'
            f"{node('questiontext', body)}{node('generalfeedback', '')}"
            f"<defaultgrade>1</defaultgrade>{inner}{hints}</question>"
        )
    return made


def write_handouts(sources: dict[str, str]) -> str:
    """One page for each lesson: what you can do after it, what stays open, what to remember."""
    out = ["# Hand-outs: one page a lesson", "", "Text: CC BY 4.0.", ""]
    for number, source in sources.items():
        title = re.search(r"^# # (.+)$", source, re.MULTILINE)[1]
        able = re.search(r"\*\*You will be able to\*\* \| (.+) \|", source)
        out += [f"## {title}", "", f"*You are able to* {able[1]}." if able else "", ""]
        pieces = split_pieces(source)
        for start, name in (("Summary", "Remember"), ("What is still not private", "Still open")):
            texts = [
                text
                for section, kind, text, mark in pieces
                if kind == "markdown" and section.startswith(start) and mark != "more"
            ]
            body = re.sub(r"^## .+\n+", "", "\n\n".join(texts))
            body = re.sub(SEEDED, "", body, flags=re.MULTILINE)
            out += [
                f"**{name}.**",
                "",
                re.sub(r"\n*\*\*Next:\*\*.*", "", body, flags=re.DOTALL),
                "",
            ]
        first = find_questions(number)[0]
        wrong = list(dict.fromkeys(text for _, text in first.misconceptions()))[:3]
        out += [
            "**Test yourself.** " + re.sub(RUN, "", ask(source, first)).replace("**", ""),
            "",
            "*Often wrong:* " + " · ".join(wrong),
            "",
            '<div style="page-break-after: always"></div>',
            "",
        ]
    return "\n".join(out)
