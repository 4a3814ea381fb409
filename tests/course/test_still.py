"""Saved panels: the still drawing by hand-worked pixels, and what an exported page shows."""

import re
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest
from panel_tools import first_panel

from pdsynth.course.panels import LESSONS
from pdsynth.course.widgets.controls import slider
from pdsynth.course.widgets.live import live
from pdsynth.course.widgets.saved import unfolded
from pdsynth.course.widgets.still import svg
from pdsynth.course.widgets.view import View

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*traces, **layout):
    return ElementTree.fromstring(svg(go.Figure(data=traces, layout={"height": 420, **layout})))


def found(root, tag, **wanted):
    return [
        {k: float(v) if re.fullmatch(r"-?[\d.]+", v) else v for k, v in node.attrib.items()}
        for node in root.iter(SVG + tag)
        if all(node.get(k) == v for k, v in wanted.items())
    ]


def test_bars_have_lengths_in_proportion_and_stand_on_zero():
    bars = found(
        drawn(go.Bar(x=["a", "b", "c"], y=[1, 2, 4], marker_color="red")), "rect", fill="red"
    )
    one, two, four = (bar["height"] for bar in bars)
    assert two == pytest.approx(2 * one, abs=0.2)
    assert four == pytest.approx(4 * one, abs=0.2)
    assert len({round(bar["y"] + bar["height"], 0) for bar in bars}) == 1
    assert bars[0]["x"] < bars[1]["x"] < bars[2]["x"]


def test_lying_bars_stacked_bars_and_bars_beside_each_other():
    lying = found(
        drawn(go.Bar(y=["a", "b"], x=[1, 3], orientation="h", marker_color="red")),
        "rect",
        fill="red",
    )
    assert lying[1]["width"] == pytest.approx(3 * lying[0]["width"], abs=0.2)
    pair = [go.Bar(x=["a"], y=[height], marker_color=c) for height, c in ((1, "red"), (2, "blue"))]
    below, above = (
        found(drawn(*pair, barmode="stack"), "rect", fill=c)[0] for c in ("red", "blue")
    )
    assert above["y"] + above["height"] == pytest.approx(below["y"], abs=0.2)
    left, right = (found(drawn(*pair), "rect", fill=c)[0] for c in ("red", "blue"))
    assert left["x"] + left["width"] == pytest.approx(right["x"], abs=0.2)


def test_a_log_axis_puts_ten_and_a_hundred_at_equal_steps_and_names_its_powers():
    root = drawn(
        go.Scatter(x=[0, 1, 2], y=[1, 10, 100], mode="markers"),
        yaxis={"type": "log", "range": [0, 2]},
    )
    y = [dot["cy"] for dot in found(root, "circle")]
    assert y[0] - y[1] == pytest.approx(y[1] - y[2], abs=0.2)
    assert {"1", "10", "100"} <= {node.text for node in root.iter(SVG + "text")}


def test_a_gap_breaks_a_curve_and_an_empty_cell_stays_empty():
    root = drawn(go.Scatter(x=[0, 1, 2, 3, 4], y=[0, 1, None, 1, 0], line_color="red"))
    (curve,) = found(root, "path", stroke="red")
    assert curve["d"].count("M") == 2
    cells = drawn(go.Heatmap(z=[[0, None], [1, 0.5]], colorscale=[[0, "#000000"], [1, "#ffffff"]]))
    fills = [r["fill"] for r in found(cells, "rect")]
    assert fills == ["rgb(0,0,0)", "rgb(255,255,255)", "rgb(128,128,128)"]


def test_words_are_escaped_and_nothing_but_the_namespace_has_an_address():
    text = svg(go.Figure(layout_title_text="1 < 2 & <b>bold</b>").add_bar(x=["<script>"], y=[1]))
    root = ElementTree.fromstring(text)
    assert not list(root.iter(SVG + "script"))
    assert text.count("http") == 1
    assert "1 < 2 &" in next(root.iter(SVG + "text")).text


def panel():
    def draw(epsilon):
        plot = go.Figure(layout_title_text=f"ε = {epsilon:g}").add_bar(x=["a"], y=[1 / epsilon])
        fold = "<details><summary>all</summary><details>fold in fold</details>long</details>"
        return View(
            plot, f"The scale is {1 / epsilon:.3g}.", [f"<table><tr><td>short</table>{fold}"]
        )

    return live(draw, epsilon=slider("ε", 1, 0.5, 4, 0.5, tooltip="ε, privacy budget"))


def exported(shown, form="HTML"):
    """What nbconvert writes; its import takes seconds, which only this process should wait."""
    import nbconvert
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    data, _ = (shown, {}) if isinstance(shown, dict) else shown
    cell = new_code_cell("panel()", outputs=[new_output("display_data", data=data)])
    exporter = getattr(nbconvert, f"{form}Exporter")()
    return exporter.from_notebook_node(new_notebook(cells=[cell]))[0]


def test_an_exported_panel_shows_its_present_picture_words_and_short_tables():
    shown = panel().set(epsilon=2)
    html = exported(shown._repr_mimebundle_())
    assert "<svg" in html and "The scale is 0.5." in html and "short" in html
    assert "fold in fold" not in html and "long</details>" not in html
    assert "LivePanel(" not in html
    text = shown._repr_mimebundle_()["text/plain"]
    assert text == "Live panel at ε = 2: The scale is 0.5." == repr(shown)
    markdown = exported(shown._repr_mimebundle_(), "Markdown")
    assert "<svg" in markdown and "LivePanel(" not in markdown


def test_a_panel_that_never_had_a_figure_says_so():
    broken = live(lambda x: 1 / 0, x=slider("x", 1, 0, 2, 1))
    assert "No figure yet" in exported(broken._repr_mimebundle_())


def test_folds_inside_folds_go_together():
    assert unfolded("a<details>b<details>c</details>d</details>e") == "ae"
    assert unfolded("plain") == "plain"


@pytest.mark.parametrize("topic", LESSONS)
def test_every_panel_of_the_course_leaves_a_page(topic):
    shown = first_panel(topic)
    html = shown._repr_mimebundle_()["text/html"]
    drawing = html[html.index("<svg") : html.index("</svg><p>") + 6]
    assert len(list(ElementTree.fromstring(drawing).iter())) > 20
    assert shown.view.status[:20] in html.replace("&#x27;", "'")
    assert f"data-panel='{topic}'" in html
    assert len(html) < 150_000
    assert not re.search(r"='[^']*\b(nan|inf)\b", drawing)


def test_curves_of_one_colour_are_told_apart_by_the_legend():
    """By the dash of their line and the shape of their mark; an area keeps its block of colour."""
    pen = {"color": "green"}
    curves = [
        go.Scatter(x=[0, 1], y=[0, 1], name=name, mode="lines+markers", line=pen | {"dash": dash},
                   marker={"symbol": symbol, "color": "green"})
        for name, dash, symbol in (("published", "dash", "square"), ("strict", "dot", "circle"))
    ]  # fmt: skip
    root = drawn(*curves, go.Bar(x=[0, 1], y=[1, 2], name="people", marker_color="red"))
    keys = [p for p in found(root, "path", stroke="green") if "h22" in str(p["d"])]
    assert [key["stroke-dasharray"] for key in keys] == ["7 4", "2 3"]
    assert len(found(root, "circle", fill="green")) == 2 + 1, "two points, one in the legend"
    assert [block for block in found(root, "rect", fill="red") if block["width"] == 22]


def test_a_line_above_a_filled_area_is_a_line_in_the_legend():
    line = go.Scatter(x=[0, 1], y=[0, 1], name="line", mode="lines", fill="tozeroy",
                      fillcolor="rgba(0,0,0,.05)", line={"color": "green"})  # fmt: skip
    root = drawn(line, go.Bar(x=[0, 1], y=[1, 2], name="people", marker_color="red"))
    assert [p for p in found(root, "path", stroke="green") if "h22" in str(p["d"])]
    assert not found(root, "rect", fill="green")
