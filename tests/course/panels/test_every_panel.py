"""Every panel of the course: its view as a pure function, then the live widget from end to end."""

import importlib
import re

import plotly.graph_objects as go
import pytest
from panel_tools import first_panel, ranges

from pdsynth.course import panels
from pdsynth.course.panels import LESSONS, mechanisms
from pdsynth.course.widgets.live import LivePanel
from pdsynth.datasets.loaders import load_cmc

NOTHING_TO_SPEND = {
    "auditing",
    "genetic",
    "outside",
    "own_data",
    "private_bins",
    "way_back",
    "worlds",
}  # made-up people, a stored search, public facts
ONE_TABLE = {
    "auditing",
    "custom",
    "evaluating",
    "hmprivbayes",
    "outside",
    "own_data",
    "persons",
    "privabn",
    "private_bins",
    "rules",
    "way_back",
    "worlds",
}  # and no other fits
NO_TABLES = {
    "answers",
    "genetic",
    "ordering",
    "outside",
    "persons",
    "private_bins",
    "rules",
    "way_back",
}


@pytest.fixture
def module(request):
    return importlib.import_module(f"pdsynth.course.panels.{request.param}")


def every(names=LESSONS):
    return pytest.mark.parametrize("module", sorted(names), indirect=True)


def test_every_lesson_has_its_panel_and_an_unknown_one_is_refused():
    assert LESSONS["information"] == "03_bayesian_networks"
    assert set(LESSONS) <= set(dir(panels))
    assert panels.mechanisms is mechanisms
    with pytest.raises(AttributeError, match="nonsense"):
        panels.nonsense  # noqa: B018


def topic_of(module):
    return module.__name__.split(".")[-1]


@every()
def test_a_view_says_in_words_what_it_shows_and_is_the_same_every_time(module):
    first, again = first_panel(topic_of(module)).view, module.view()
    assert (
        first.status and first.status in first.alt and first.figure.layout.title.text in first.alt
    )
    assert bool(first.tables) == (topic_of(module) not in NO_TABLES)
    assert first.figure.to_json() == again.figure.to_json()


@every()
def test_a_headline_begins_as_a_sentence_and_no_title_has_a_name_of_the_code(module):
    view = first_panel(topic_of(module)).view
    assert not re.match("[a-z]", view.finding)
    assert not re.search(r"\w_\w+ =|_noise", view.figure.layout.title.text)


@every()
def test_a_panel_warns_that_moving_spends(module):
    panel = first_panel(topic_of(module))
    warned = any("real moves spend ε" in str(getattr(w, "value", "")) for w in panel.children)
    assert warned == (topic_of(module) not in NOTHING_TO_SPEND)


@every(set(LESSONS) - ONE_TABLE)
def test_a_panel_takes_another_public_table(module):
    assert module.panel(load_cmc()).error is None


def bars_on_logs(figure):
    """Bars whose length is read on a log axis: it has no zero to start from."""
    layout = figure.to_dict()["layout"]
    ends = [(bar.xaxis if bar.orientation == "h" else bar.yaxis) or "xy"[bar.orientation != "h"]
            for bar in figure.data if bar.type == "bar"]  # fmt: skip
    return [end for end in ends
            if layout.get(f"{end[0]}axis{end[1:]}", {}).get("type") == "log"]  # fmt: skip


@every()
def test_every_chart_has_its_title_and_no_bar_stands_on_a_log_axis(module):
    figure = first_panel(topic_of(module)).view.figure
    charts = figure.layout.meta["charts"]
    assert charts and all(chart["title"] for chart in charts.values())
    assert bars_on_logs(figure) == []


def test_twin_a_bar_on_a_log_axis_is_found():
    figure = go.Figure().add_bar(x=[1, 10], y=["a", "b"], orientation="h", xaxis="x2")
    assert bars_on_logs(figure) == []
    assert bars_on_logs(figure.update_layout(xaxis2={"type": "log"})) == ["x2"]


@every(["ppba", "privabn", "side_by_side"])
def test_axes_stay_where_they_are_while_sliders_move(module):
    a, b = module.view(epsilon=1.0), module.view(epsilon=0.2)
    assert ranges(a.figure) == ranges(b.figure)
    assert a.status != b.status


def texts_of_the_first_chart(figure):
    """What is written in the chart that a panel opens with: at its marks, and as notes."""
    x, y = re.findall(r"[xy]\d*", next(iter(figure.layout.meta["charts"])))
    mine = [t for t in figure.data if ((t.xaxis or "x"), (t.yaxis or "y")) == (x, y)]
    said = [str(text) for t in mine if isinstance(t.text, tuple | str) for text in
            ([t.text] if isinstance(t.text, str) else t.text)]  # fmt: skip
    said += [t.name for t in mine if t.name and t.showlegend is not False]
    notes = [n for n in figure.layout.annotations if not (n.name or "").startswith("title ")]
    said += [n.text for n in notes if n.xref.split()[0] == x]
    return re.findall(r"[\d.,]*\d|∞", re.sub(r"<[^>]*>", "", " ".join(said)))


@every()
def test_a_verdict_has_at_most_twelve_words_and_its_number_is_in_the_first_chart(module):
    """The verdict's number, or one of its two; a number of the settings alone isn't enough."""
    view = first_panel(topic_of(module)).view
    verdict = view.finding
    assert 3 <= len(verdict.split()) <= 12, verdict
    numbers = re.findall(r"[\d.,]*\d|∞", verdict)
    assert set(numbers) & set(texts_of_the_first_chart(view.figure)), (verdict, numbers)


@every()
def test_no_drawing_asks_to_be_dragged(module):
    """What can be grabbed is said by the page that lets it be: no picture does."""
    notes = first_panel(topic_of(module)).view.still.layout.annotations
    assert not [note.text for note in notes if "drag" in note.text.lower()]


def misses_in_its_title(panel):
    """Parts of a panel's state that its figure's title doesn't say."""
    layout = panel.view.figure.layout.title
    if layout.subtitle.text is not None:
        return []  # the panel has words of its own there
    title = panel.figure.layout.title.text + str(panel.figure.layout.title.subtitle.text)
    parts = (part.split(" = ") for part in panel.state.split(" · "))
    said = {symbol: value.split()[0] for symbol, value in parts}
    return [symbol for symbol in ("ε", "ε₁", "k", "l", "η", "α", "s")
            if symbol in said and f"{symbol} = {said[symbol]}" not in title]  # fmt: skip


def end(widget):
    """The right end of a slider; of a menu the last value that isn't chosen; a box the other way.

    None where a menu has one value.
    """
    if hasattr(widget, "min"):
        return widget.max
    if hasattr(widget, "_options_full"):
        others = [value for _, value in widget._options_full if value != widget.value]
        return others[-1] if others else None
    return not widget.value


@pytest.mark.slow
@every()
def test_every_panel_of_the_course_from_end_to_end(module):
    """All sliders one step on, all at their left ends, every control alone at its right end, and
    then all as they were."""
    shown = module.panel()
    assert isinstance(shown, LivePanel)
    assert shown.error is None
    assert shown.view.status
    before = shown.values
    alone = {key: end(widget) for key, widget in shown.controls.items()}
    sliders = {n: w for n, w in shown.controls.items() if hasattr(w, "min")}
    shown.set(**{n: min(w.value + w.step, w.max) for n, w in sliders.items()})
    assert shown.error is None and misses_in_its_title(shown) == []
    left = {n: w.min for n, w in sliders.items()}
    places = [left] + [{key: place} for key, place in alone.items() if place is not None]
    for place in places:
        shown.set(**{**before, **place})
        assert shown.error is None or type(shown.error).__module__ == "pdsynth.core.errors", (
            f"{place}: {shown.error!r}"
        )
        if place is left and shown.error is not None:  # refused together: each alone is to be seen
            places += [{n: end} for n, end in left.items()]
    first = first_panel(topic_of(module)).view
    shown.set(**before)
    assert shown.error is None
    assert shown.view.status == first.status, "where it was before doesn't show"
    assert shown.view.figure.to_json() == first.figure.to_json()
