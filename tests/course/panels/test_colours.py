"""What lessons say of their panels' looks: what a section calls orange is orange in the figure, and
a picture's text names the position that the panel opens at."""

import re

import pytest
from panel_tools import first_panel

from pdsynth.course.panels import LESSONS
from pdsynth.course.panels.drawing import INKS

WORDS = {"real": "grey", "private": "blue", "look": "orange", "attack": "red", "none": "green"}
COLOURS = {INKS[ink].lower(): word for ink, word in WORDS.items()}
COLOUR = re.compile(rf"\b({'|'.join(WORDS.values())})\b", re.IGNORECASE)


def drawn(part):
    """Words of the inks in a part of a figure; shades of blue are blue."""
    if isinstance(part, dict):
        return {
            word
            for key, value in part.items()
            if key not in ("template", "colorway")
            for word in drawn(value)
        }
    if isinstance(part, list | tuple):
        return {word for value in part for word in drawn(value)}
    return {COLOURS[part.lower()]} if isinstance(part, str) and part.lower() in COLOURS else set()


def sections(root):
    """A lesson's panel, and what the lesson says of it: the cells before and behind its cell."""
    for source in sorted((root / "notebooks" / "src").glob("*.py")):
        cells = re.split(r"^# %%", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for before, cell, behind in zip(cells, cells[1:], cells[2:], strict=False):
            if found := re.search(r"^panels\.(\w+)\.panel\(\)", cell, re.MULTILINE):
                last = re.split(r"^# #+ ", before, flags=re.MULTILINE)[-1]
                yield found[1], f"{last}\n{behind.split('# ## ')[0]}"


def wrong(text, figure):
    """Colour words of a text that aren't in the figure, and those of another of its traces."""
    inks, found = drawn(figure), []
    for word in COLOUR.findall(text):
        if word.lower() not in inks:
            found.append(word.lower())
    for trace in figure["data"]:
        name = re.sub("<[^>]*>", "", trace.get("name") or "")
        said = re.findall(rf"(?i:{re.escape(name)})\*? \((\w+)", text) if name else []
        found += [f"{name} ({word})" for word in said
                  if COLOUR.fullmatch(word) and word not in drawn(trace)]  # fmt: skip
    return found


@pytest.fixture(scope="module")
def said(root):
    return dict(sections(root))


@pytest.mark.parametrize("topic", sorted(LESSONS))
def test_a_lesson_names_colours_that_its_panel_draws(topic, said):
    if topic in said:
        assert wrong(said[topic], first_panel(topic).view.figure.to_dict()) == []


def positions(text):
    """Values of controls that a picture's text names."""
    pictures = re.findall(r"!\[([^\]]*)\]", text)
    return [pair for alt in pictures for pair in re.findall(r"[^\s,·]+ = [^\s,·:]+", alt)]


@pytest.mark.parametrize("topic", sorted(LESSONS))
def test_a_picture_s_text_names_the_position_that_the_panel_opens_at(topic, said):
    state = first_panel(topic).state.split(" · ")
    for pair in positions(said.get(topic, "")):
        assert any(f"{part} ".startswith(f"{pair} ") for part in state), (pair, state)


def test_most_panels_stand_in_a_lesson_and_colours_are_named(said):
    assert len(said) >= 20
    assert sum(bool(COLOUR.search(text)) for text in said.values()) >= 12
    assert sum(bool(positions(text)) for text in said.values()) >= 5


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Orange is the real table, blue its neighbour.", ["blue"]),
        ("The neighbour (grey) stands beside *real table D* (orange).", ["real table D (orange)"]),
        ("*Real table D* (grey), neighbour (orange). A reddish thing, and colour (12).", []),
    ],
)
def test_twin_words_of_an_old_palette_are_found(text, found):
    figure = {
        "data": [
            {"name": "<b>real table D</b>", "marker": {"color": INKS["real"]}},
            {"name": None, "marker": {"color": [INKS["look"]]}},
        ]
    }
    assert wrong(text, figure) == found
