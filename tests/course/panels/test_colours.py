"""What lessons say of their panels' looks: what a section calls orange is orange in the figure, and
a picture's text names the position that the panel opens at."""

import re

import pytest
from panel_tools import first_panel

from pdsynth.course.panels import LESSONS
from pdsynth.course.panels.drawing import INKS
from pdsynth.course.widgets.plot import LivePlot

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


SWAPS = LivePlot().dark_colours
PAGES = {"light": "#ffffff", "dark": "#1f1f1f"}  # as liveplot.js has them
NAMED = {"white": (255.0, 255.0, 255.0), "black": (0.0, 0.0, 0.0)}


def mixed(colour, page):
    """Red, green and blue of a colour on a page, from 0 to 255."""
    if colour in NAMED:
        return NAMED[colour]
    if colour.startswith("#"):
        return tuple(float(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    *rgb, alpha = [float(part) for part in re.findall(r"[\d.]+", colour + ",1")][:4]
    return tuple(alpha * a + (1 - alpha) * b for a, b in zip(rgb, mixed(page, page), strict=True))


def contrast(one, two):
    """WCAG's contrast of two colours, from 1 to 21."""
    lights = []
    for rgb in (one, two):
        linear = [(c / 255 / 12.92 if c < 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in rgb]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return max(lights) / min(lights)


@pytest.mark.parametrize("topic", sorted(LESSONS))
def test_bars_differ_and_hold_their_texts_on_both_pages(topic):
    """On a dark page structure and tables of lesson 02 had one blue, and white digits on it."""
    traces = first_panel(topic).view.figure.to_dict()["data"]
    bars = [t for t in traces if t["type"] == "bar" and isinstance(t["marker"]["color"], str)]
    for theme, page in PAGES.items():
        swap = SWAPS if theme == "dark" else {}
        seen = {
            t["marker"]["color"]: swap.get(t["marker"]["color"], t["marker"]["color"]) for t in bars
        }
        assert len(set(seen.values())) == len(seen), (theme, seen)
        for trace in bars:
            text = trace.get("textfont", {}).get("color")
            if text and trace.get("textposition") == "inside":
                fill = mixed(seen[trace["marker"]["color"]], page)
                assert contrast(mixed(text, page), fill) >= 3, (theme, trace.get("name"))


@pytest.mark.parametrize("page", sorted(PAGES))
def test_what_is_allowed_is_seen_on_both_pages(page):
    """The band was 1.1 times as bright as a dark page, beside 1.3 on a light one."""
    traces = first_panel("mechanisms").view.figure.to_dict()["data"]
    (colour,) = {t["marker"]["color"] for t in traces if t.get("name") == "allowed"}
    shown = SWAPS.get(colour, colour) if page == "dark" else colour
    assert contrast(mixed(shown, PAGES[page]), mixed(PAGES[page], PAGES[page])) >= 1.25


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
