"""One thought a sentence: none is longer than 30 words in lessons and 25 in panels' texts.

A sentence ends at a full stop, a question mark, an exclamation mark or a colon. Quotations of
papers and what is listed below may be longer.
"""

import re
from html import unescape
from pathlib import Path

import pytest
from panel_tools import first_panel
from script_tools import load

from pdsynth.course import panels

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSON, PANEL = 30, 25  # words of a sentence
# The beginnings of longer sentences, each with its reason.
LONGER = {
    "Small table: the raw order": "of two worlds, with the odds and their bound",
    "every table gets twice": "of the panel of q: what doubling does, with its two numbers",
}
# What the second look at the course could not read; it must not come back.
RIDDLES = (
    "Leave memory when `plan` foretells",
    "If membership itself is secret, n tells, but where",
    "add/remove counts twice",
    "That is what paying for it means",
    "the reading decides what is done",
    "but for the luck of sampling",
    "isn't an ε",
    "Tables that agree are nearer than any of it",
)
# What isn't so: a panel says the rest of its finding under Details, the chart of OE is its last, …
UNTRUE = (
    "status line",
    "`all_histograms` has a second fault",
    "Laplacian, as many of its smallest eigenvectors as clusters are wanted",
    "The first chart has the OE of the records",
    "scattered over all three clusters",
    "(Strict at the paper's ε = 0.2 takes one cluster",
    '"too noisy to cluster", where strict takes one cluster',
)
END = re.compile(r"(?<=[.!?:])[\"”)’']*\s+(?=[\"“(]?[A-ZÄÖÜ0-9εδθ`*])")
TOPICS = [name for name in dir(panels) if hasattr(getattr(panels, name), "view")]


@pytest.fixture(scope="module")
def build():
    return load(NOTEBOOKS / "build.py")


def plain(text):
    """Markdown as it is read: formulas and code are one word, links their words."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$", " ", text, flags=re.DOTALL)
    text = re.sub(r"\$[^$]*\$|`[^`]*`", "X", text)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def sentences(text):
    """Sentences of a Markdown text that aren't headings, tables or quotations of papers."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )|\n(?=[#|])", plain(text)):
        if not block.strip().startswith(("#", "|", ">")):
            yield from END.split(" ".join(block.replace("*", "").split()))


def too_long(text, most):
    """The sentences of more than so many words that no exception names."""
    counted = ((len(re.findall(r"\S*\w\S*", one)), one) for one in sentences(text))
    return [(n, one) for n, one in counted if n > most and not one.startswith(tuple(LONGER))]


@pytest.mark.parametrize("path", sorted((NOTEBOOKS / "src").glob("*.py")), ids=lambda p: p.stem)
def test_a_lesson_has_one_thought_a_sentence(build, path):
    cells = build.cells(path.read_text(encoding="utf-8"))
    found = [one for kind, text, _ in cells if kind == "markdown" for one in too_long(text, LESSON)]
    assert found == []


@pytest.mark.parametrize("topic", TOPICS)
def test_a_panel_has_one_thought_a_sentence(topic):
    panel = first_panel(topic)
    tries = getattr(getattr(panels, topic).view, "tries", ())
    told = [panel.status.value, *(one.says for one in tries)]
    words = [re.sub(r"\{[^}]*\}", "7", unescape(re.sub("<[^>]*>", " ", text))) for text in told]
    assert [one for text in words for one in too_long(text, PANEL)] == []


def test_riddles_don_t_come_back():
    for path in [*NOTEBOOKS.rglob("src/*.py"), *NOTEBOOKS.parent.glob("*.md")]:
        text = " ".join(re.sub(r"\n# ?", " ", path.read_text(encoding="utf-8")).split())
        assert [one for one in RIDDLES + UNTRUE if one in text] == [], path.name


def test_words_are_counted_by_hand():
    text = "One two three four. Five: Six seven `a b c` [eight nine](x.md)!\n\n> " + "word " * 40
    assert [len(one.split()) for one in sentences(text)] == [4, 1, 5]
    assert too_long("word " * 31 + ".", 30) and not too_long("word " * 30 + ".", 30)
