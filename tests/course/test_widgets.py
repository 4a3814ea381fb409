"""Live panels as Python objects: controls, figure, status, tables, errors, both back-ends."""

import json
import re
import subprocess
import sys

import ipywidgets as W
import pandas as pd
import plotly.graph_objects as go
import pytest

from pdsynth.course.panels.panel import live_panel
from pdsynth.course.widgets.controls import choice, slider, toggle
from pdsynth.course.widgets.live import live
from pdsynth.course.widgets.plot import LivePlot
from pdsynth.course.widgets.view import View

BACKENDS = ("anywidget", "output")


def draw(epsilon, k=1):
    if k > 3:
        raise ValueError(f"k = {k} is more than the 3 attributes that could be parents; take k ≤ 3")
    if k == 0:
        raise ZeroDivisionError("scale")
    figure = go.Figure(layout={"title": {"text": "Noise"}}).add_scatter(y=[1 / epsilon, k])
    table = pd.DataFrame({"ε": [epsilon], "k": [k]})
    return View(
        figure,
        f"The scale is {1 / epsilon:g}.",
        [f"<p>ε is {epsilon:g}</p>", table][: 1 + (k > 1)],
        "A line.",
    )


def panel(**options):
    epsilon = slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget")
    return live(draw, epsilon=epsilon, k=slider("k", 1, 0, 5, 1, unit="parents"), **options)


def heights(shown):
    return list(shown.plot.shown["data"][0]["y"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_moved_slider_changes_the_figure_and_all_that_goes_with_it(backend):
    shown = panel(backend=backend)
    assert shown.error is None
    assert heights(shown) == [1, 1]
    shown.controls["epsilon"].value = 2.0
    assert heights(shown) == [0.5, 1]
    assert heights(shown) == list(shown.figure.data[0].y)
    assert shown.status.value == "<div role='status'><b>The scale is 0.5.</b></div>"
    assert "ε is 2" in shown.tables.value


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_bad_combination_shows_its_message_and_keeps_the_figure(backend):
    shown = panel(backend=backend)
    shown.controls["k"].value = 3
    shown.controls["k"].value = 4
    assert isinstance(shown.error, ValueError)
    assert "<span role='alert'>" in shown.alert.value
    assert "take k ≤ 3" in shown.alert.value
    assert "still shows ε = 1 · k = 3 parents" in shown.alert.value
    assert shown.alert.layout.display is None
    assert heights(shown) == [1, 3]
    shown.controls["k"].value = 2
    assert shown.error is None
    assert shown.alert.value == ""
    assert shown.alert.layout.display == "none"
    assert heights(shown) == [1, 2]


def test_an_unexpected_error_is_named_with_its_traceback():
    shown = panel().set(k=0)
    assert isinstance(shown.error, ZeroDivisionError)
    assert "Unexpected ZeroDivisionError: scale" in shown.alert.value
    assert "in draw" in shown.alert.value


def test_an_error_at_the_first_position_leaves_a_panel_that_recovers():
    shown = live(draw, epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1), k=slider("k", 5, 1, 5, 1))
    assert isinstance(shown.error, ValueError)
    assert shown.figure is None
    assert "There is no figure yet" in shown.alert.value
    shown.controls["k"].value = 1
    assert shown.error is None
    assert heights(shown) == [1, 1]


@pytest.mark.parametrize("result", [None, 3, "text", go.Scatter(y=[1])])
def test_a_function_that_returns_no_figure_is_told_so(result):
    shown = live(lambda x: result, x=slider("x", 1, 0, 2, 1))
    assert isinstance(shown.error, TypeError)
    assert "not a Plotly figure" in shown.alert.value


def test_messages_are_text_and_not_html():
    def fail(x):
        raise ValueError("<script>alert(1)</script>")

    assert "<script>" not in live(fail, x=slider("x", 1, 0, 2, 1)).alert.value


@pytest.mark.parametrize(
    ("value", "step", "kind"), [(2, 1, W.BoundedIntText), (0.5, 0.1, W.BoundedFloatText)]
)
def test_the_number_box_and_the_slider_are_one(value, step, kind):
    control = slider("θ", value, 0, 5, step, unit="bit", tooltip="θ, threshold")
    number = next(w for w in control.box.children if isinstance(w, kind))
    number.value = 3
    assert control.value == 3
    control.widget.value = 1
    assert number.value == 1
    assert number.min == 0
    assert number.max == 5
    assert number.step == step


def test_every_control_has_a_visible_label_and_an_accessible_name():
    theta, plain = (
        slider("θ", 0.1, 0, 1, 0.1, unit="bit", tooltip="θ, threshold of group A"),
        choice("score", ["I", "R"]),
    )
    assert theta.name == theta.widget.tooltip == "θ, threshold of group A"
    number = theta.box.children[0]
    assert number.description == "<b>threshold of group A</b> <small>θ</small> <span>(bit)</span>"
    assert plain.widget.description == "<b>score</b>"
    assert slider("noise", 1, 0, 2, 1, tooltip="a multiple").name == "noise, a multiple"


def test_a_slider_of_epsilon_says_which_end_is_safe():
    epsilon, plain = slider("ε₁", 1, 0, 2, 1), slider("k", 1, 0, 2, 1)
    assert "<span>more private</span><span>more exact</span>" in epsilon.box.children[-1].value
    assert epsilon.widget.value == epsilon.value == 1 and len(plain.box.children) == 2


def test_floats_arrive_without_binary_dust():
    seen = []
    shown = live(lambda x: seen.append(x) or go.Figure(), x=slider("x", 0.1, 0.1, 4.0, 0.1))
    shown.controls["x"].value = 0.1 + 0.1 + 0.1
    assert seen[-1] == 0.3
    assert shown.state == "x = 0.3"


def test_choices_and_check_boxes():
    shown = live(
        lambda score, noisy: go.Figure().add_scatter(y=[score, noisy]),
        score=choice("score", {"I, bits": 1, "R": 2}, 2),
        noisy=toggle("noise", True),
    )
    assert shown.values == {"score": 2, "noisy": True}
    assert shown.state == "score = R · noise = yes"
    assert shown.set(score=1, noisy=False).plot.shown["data"][0]["y"] == [1, False]


def test_the_state_of_the_controls_stands_in_the_title():
    title = panel().plot.shown["layout"]["title"]
    assert title["text"] == "Noise"
    assert title["subtitle"]["text"] == "ε = 1 · k = 1 parent"
    own = live(
        lambda x: go.Figure(layout={"title": {"text": f"Mine, x = {x}"}}), x=slider("x", 1, 0, 2, 1)
    )
    assert "subtitle" not in own.plot.shown["layout"]["title"]
    bare = live(lambda x: go.Figure(), x=slider("x", 1, 0, 2, 1))
    assert bare.plot.shown["layout"]["title"]["text"] == "x = 1"


def test_the_figure_of_the_function_is_not_changed():
    kept = go.Figure(layout={"title": {"text": "Kept"}})
    live(lambda x: kept, x=slider("x", 1, 0, 2, 1))
    assert kept.layout.title.subtitle.text is None


def test_set_moves_several_controls_with_one_redraw():
    calls = []
    shown = live(
        lambda a, b: calls.append((a, b)) or go.Figure(),
        a=slider("a", 1, 0, 9, 1),
        b=slider("b", 1, 0, 9, 1),
    )
    shown.set(a=5, b=6)
    assert calls == [(1, 1), (5, 6)]
    with pytest.raises(ValueError, match="no control named c; the panel has a, b"):
        shown.set(c=1)


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        ({"a": float("nan")}, "a can't be nan: say a number from 0 to 9"),
        ({"a": float("inf")}, "a can't be inf"),
        ({"a": "4"}, "a can't be '4'"),
        ({"a": 5, "b": None}, "b can't be None: choose among 'x', 'y'"),
        ({"a": 5, "c": 1}, "c can't be 1: say True or False"),
    ],
)
def test_set_moves_nothing_where_a_value_can_t_be(moves, said):
    shown = live(
        lambda a, b, c: go.Figure(),
        a=slider("a", 1, 0, 9, 1),
        b=choice("b", ["x", "y"]),
        c=toggle("c"),
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        shown.set(**moves)
    assert shown.values == {"a": 1, "b": "x", "c": False} and shown.error is None
    assert shown.set(a=99).values["a"] == 9, "beyond an end is the end"


def test_tables_and_words_below_the_figure_are_folded_and_follow_it():
    shown = panel()
    folded = "<details><summary>Details</summary>"
    assert shown.tables.value.startswith(folded) and shown.tables.value.count("Table ") == 1
    shown.set(k=2)
    assert shown.tables.value.count("Table ") == 2 and "<table" in shown.tables.value
    shown.set(k=1)
    assert shown.tables.value.count("Table ") == 1
    longer = live(lambda x: (go.Figure(), f"It is {x}. And so on."), x=slider("x", 1, 0, 2, 1))
    assert longer.status.value == "<div role='status'><b>It is 1.</b></div>"
    assert longer.tables.value == f"{folded}<p>And so on.</p></details>"
    bare = live(lambda x: go.Figure(), x=slider("x", 1, 0, 2, 1))
    assert bare.tables.value == "" and bare.tables.layout.display == "none"


def test_two_controls_are_seen_at_once_and_the_others_are_folded():
    three = {name: slider(name, 1, 0, 2, 1) for name in "abc"}
    shown = live(lambda **at: go.Figure(), **three)
    levers = {w._dom_classes[0]: w for w in shown.children[2].children}
    assert [len(levers[f"pdsynth-{name}"].children) for name in ("controls", "more")] == [2, 1]


def test_a_function_may_return_a_figure_or_a_tuple():
    for result in (
        go.Figure(),
        (go.Figure(),),
        (go.Figure(), "Done."),
        (go.Figure(), "Done.", ["<p>x</p>"], "Alt."),
    ):
        shown = live(lambda x, result=result: result, x=slider("x", 1, 0, 2, 1))
        assert shown.error is None
        assert shown.view == View.of(result)


def test_a_panel_s_view_describes_itself():
    def show(k):
        return View(
            go.Figure(layout={"title": {"text": "Noise"}}), f"The scale is {k}.", ["<p>x</p>"]
        )

    view = live_panel(k=slider("k", 2, 0, 5, 1))(show)()
    assert (view.alt, view.status, view.tables) == (
        "Noise. The scale is 2.",
        "The scale is 2.",
        ["<p>x</p>"],
    )


def test_the_state_never_holds_plotly_js_and_the_page_gets_it_when_it_asks(monkeypatch):
    shown = panel()
    held = sum(len(json.dumps(w.get_state(), default=str)) for w in _all(shown))
    assert held < 100_000
    sent = []
    monkeypatch.setattr(
        LivePlot, "send", lambda self, content, buffers: sent.append((content, buffers))
    )
    shown.plot._answer(shown.plot, {"type": "need", "gzip": True}, [])
    shown.plot._answer(shown.plot, {"type": "need"}, [])
    shown.plot._answer(shown.plot, {"type": "other"}, [])
    (packed, plain) = sent
    assert packed[0] == {"type": "plotlyjs", "gzip": True}
    assert len(packed[1][0]) < len(plain[1][0]) / 2
    assert b"plotly.js" in plain[1][0][:200]


def _all(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from _all(child)


def test_text_alternative_follows_the_controls():
    assert panel().plot.alt == "A line."
    shown = live(lambda x: (go.Figure(), f"It is {x}."), x=slider("x", 1, 0, 2, 1)).set(x=2)
    assert shown.plot.alt == "x = 2. x = 2. It is 2."


def test_spends_says_so():
    told = [w.value for w in _all(panel(spends=True)) if isinstance(w, W.HTML)]
    said = "NOT PRIVATE: reproducible; real moves spend ε."
    assert told.count(f"<div>{said}</div>") == 1
    assert not any("spend the budget" in w.value for w in _all(panel()) if isinstance(w, W.HTML))


RUN_IN_KERNEL = """
import json, sys, nbclient, nbformat, zmq

class Client(nbclient.NotebookClient):
    # What it sends for an Output widget may hide from it that an answer came: each second it looks.
    async def _async_check_alive(self):
        self.kc.shell_channel.socket.get(zmq.EVENTS)
        await super()._async_check_alive()

cells = [nbformat.v4.new_code_cell(text) for text in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
Client(notebook, timeout=120, kernel_name="python3").execute()
json.dump(notebook, sys.stdout)
"""


@pytest.mark.notebook
@pytest.mark.slow
def test_the_plain_back_end_shows_its_figure_in_a_real_kernel():
    pytest.importorskip("nbclient")
    code = [
        "import plotly.graph_objects as go; from pdsynth.course.widgets import live, slider\n"
        "draw = lambda x: go.Figure().add_scatter(y=[x])\n"
        "panel = live(draw, x=slider('x', 1, 0, 9, 1), backend='output'); panel",
        "panel.set(x=7); panel.error",
    ]
    # in a process of its own: beside joblib's idle workers the client waits for its time limit
    run = subprocess.run(
        [sys.executable, "-c", RUN_IN_KERNEL],
        input=json.dumps(code),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    states = json.loads(run.stdout)["metadata"]["widgets"][
        "application/vnd.jupyter.widget-state+json"
    ]["state"].values()
    (output,) = [w["state"] for w in states if w["model_name"] == "OutputModel"]
    assert [
        o["data"]["application/vnd.plotly.v1+json"]["data"][0]["y"] for o in output["outputs"]
    ] == [[7]]


@pytest.mark.slow
def test_colab_and_a_missing_anywidget_get_the_plain_back_end(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert not isinstance(panel().plot, LivePlot)
    monkeypatch.delitem(sys.modules, "google.colab")
    assert isinstance(panel().plot, LivePlot)
    script = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import plotly.graph_objects as go; from pdsynth.course.widgets import live, slider\n"
        "p = live(lambda x: go.Figure(), x=slider('x', 1, 0, 2, 1))\n"
        "print(type(p.plot).__name__)\n"
        "try: live(lambda x: go.Figure(), x=slider('x', 1, 0, 2, 1), backend='anywidget')\n"
        "except ImportError as missing: print(missing)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    remedy = "pip install 'pdsynth[course]', or take backend='output'"
    needs = f"backend='anywidget' needs anywidget: {remedy}"
    assert run.stdout.splitlines() == ["OutputPlot", needs]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: slider("x", 5, 0, 2, 1),
        lambda: slider("x", 1, 0, 2, 0),
        lambda: panel(backend="flash"),
    ],
)
def test_impossible_controls_are_refused(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_a_bare_number_is_no_control():
    with pytest.raises(TypeError, match=r"k: use slider"):
        live(draw, epsilon=slider("ε", 1, 0.1, 4, 0.1), k=3)


def test_import_of_the_library_loads_no_widgets():
    heavy = ("ipywidgets", "anywidget", "plotly", "sklearn")
    script = f"import sys, pdsynth; print([m for m in {heavy} if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
