"""The website's own code: states, pages, and the checker of links, without a browser."""

import copy
import gzip
import json
import re
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from script_tools import load
from site_tools import broken, leaks, of_this_machine

from pdsynth.course import panels
from pdsynth.course.panels import LESSONS

PICTURE = re.compile(r"\]\((pictures/[^)]+)\)")


@pytest.fixture(scope="module")
def build(root):
    """website/build.py as a module, with ``states`` beside it."""
    return load(root / "website" / "build.py")


@pytest.fixture(scope="module")
def worlds(build):
    return json.loads(build.states.of("worlds"))


def test_a_figure_of_a_lesson_is_drawn_from_its_numbers(root, monkeypatch):
    """Plotly's own renderers get arrays packed as text: lines went from "dtype" to "bdata"."""
    shown, figure = [], go.Figure(go.Scatter(x=np.array([1.0, 2.0]), y=np.array([3, 1])))
    monkeypatch.setattr("IPython.display.display", shown.append)
    monkeypatch.setattr("warnings.formatwarning", warnings.formatwarning)
    monkeypatch.setattr(go.Figure, "_ipython_display_", go.Figure._ipython_display_)
    exec((root / "website" / "kernel.py").read_text("utf-8"), {})
    figure._ipython_display_()
    assert "<svg" in shown[0].data and "dtype" not in shown[0].data


def test_every_panel_of_a_lesson_has_a_grid_and_every_grid_a_panel(build):
    assert set(build.states.GRIDS) == set(LESSONS)
    for topic, grids in build.states.GRIDS.items():
        names = set(getattr(panels, topic).view.made)
        for grid in grids:
            assert set(grid) <= names, topic
            assert all(values == list(dict.fromkeys(values)) for values in grid.values())


@pytest.mark.parametrize("topic", sorted(LESSONS))
def test_every_value_of_a_grid_is_one_of_its_control(build, topic):
    """Or the whole site can't be built, which only its publisher would see."""
    view = getattr(panels, topic).view
    controls = view.controls(view.table())
    for grid in build.states.GRIDS[topic]:
        for name, values in grid.items():
            widget = controls[name].widget
            assert len(build.states.ordered(widget, values)) == len(values)
            assert all(widget.min <= v <= widget.max for v in values if hasattr(widget, "max"))


def test_no_grid_asks_for_a_table_that_is_not_shipped(build):
    """The site is built where there are no others."""
    grids = [grid for grids in build.states.GRIDS.values() for grid in grids]
    used = {value for grid in grids for values in grid.values() for value in values}
    assert not used & set(panels.privabn.OTHERS)


def test_states_are_what_the_live_panel_shows(build, worlds):
    live = panels.worlds.panel()
    grid = build.states.GRIDS["worlds"][0]
    names = list(live.controls)
    for at in ({"epsilon": grid["epsilon"][0], "person": grid["person"][1]},
               {"epsilon": grid["epsilon"][-1], "person": grid["person"][0]}):  # fmt: skip
        place = [int(p) for p in worlds["start"].split(",")]
        for name, value in at.items():
            texts = worlds["controls"][names.index(name)]["texts"]
            place[names.index(name)] = texts.index(f"{value:g}")
        held = worlds["states"][",".join(map(str, place))]
        live.set(**at)
        assert held["status"] == live.status.value
        assert held["alt"] == live.plot.alt
        assert held["tables"] == live.tables.value
        assert held["figure"] == build.states.plain(json.loads(live.plot.figure))


def test_the_start_the_buttons_and_every_place_of_the_grid_are_held(build, worlds):
    assert worlds["start"] in worlds["states"]
    assert {one["at"] for one in worlds["tries"]} <= set(worlds["states"])
    assert len(worlds["tries"]) == len(panels.worlds.view.tries)
    (grid,) = build.states.GRIDS["worlds"]
    assert len(worlds["states"]) >= len(grid["epsilon"]) * len(grid["person"])
    assert len({json.dumps(state["figure"]) for state in worlds["states"].values()}) > 10


def test_numbers_lose_their_digits_but_not_their_arrays(build):
    packed = {"dtype": "f8", "bdata": "AAAAAAAA8D8AAAAAAAAAQA==", "shape": "1, 2"}
    assert build.states.plain({"z": packed}) == {"z": [[1.0, 2.0]]}
    assert build.states.plain([1 / 3, float("nan"), 7, "x"]) == [0.33333, None, 7, "x"]


def test_a_value_that_the_panel_does_not_have_is_refused(build, monkeypatch):
    monkeypatch.setitem(build.states.GRIDS, "worlds", [{"epsilon": [99.0]}])
    with pytest.raises(ValueError, match="became"):
        build.states.of("worlds")
    monkeypatch.setitem(build.states.GRIDS, "worlds", [{"step": ["none such"]}])
    with pytest.raises(ValueError, match="not among"):
        build.states.of("worlds")


def test_few_states_are_those_where_the_first_control_of_a_grid_is_moved(build, worlds):
    few = json.loads(build.states.of("worlds", few=True))
    start = few["start"].split(",")
    (grid,) = build.states.GRIDS["worlds"]
    first = [control["name"] for control in few["controls"]].index(next(iter(grid)))
    tried = {one["at"] for one in few["tries"]}
    labels = [[one["label"] for one in held["tries"]] for held in (few, worlds)]
    assert labels[0] == labels[1], "and all buttons"
    places = [at.split(",") for at in few["states"]]
    moved = [
        at for at in places if at[:first] + at[first + 1 :] == start[:first] + start[first + 1 :]
    ]
    assert len(moved) == len(few["controls"][first]["texts"]) >= len(grid["epsilon"])
    assert {",".join(at) for at in places if at not in moved} <= tried, "all others stay"
    assert len(few["states"]) < len(worlds["states"])


def test_lessons_are_run_the_longest_first(build, root):
    names = [Path(f"{name}.ipynb") for name in ("glossary", "01_dp", "18_side")]
    ordered = build.executed.longest_first(names, root / "notebooks" / "map.toml")
    assert ordered[-1].stem == "glossary" and ordered[0].stem == "18_side"


def lesson(source):
    """A notebook of one code cell."""
    cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "id": "a",
            "source": source.splitlines(keepends=True)}  # fmt: skip
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def test_a_lesson_that_fails_stops_the_build_and_leaves_nothing_in_the_cache(build, tmp_path):
    held = {text: build.executed.kept(tmp_path, lesson(text)) for text in ("1 + 1", "1 / 0")}
    run = build.executed.outputs, lesson("1 + 1"), str(tmp_path)
    build.executed.keep(held["1 + 1"], *run)
    ((shown,),) = json.loads(held["1 + 1"].read_text())
    assert shown["data"]["text/plain"] in ("2", ["2"])
    run = build.executed.outputs, lesson("1 / 0"), str(tmp_path)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        build.executed.keep(held["1 / 0"], *run)
    assert not held["1 / 0"].exists()


def test_what_is_kept_of_a_lesson_is_known_by_its_code_alone(build, tmp_path):
    kept = build.executed.kept
    changed = lesson("1")
    changed["cells"].append({"cell_type": "markdown", "source": "Other words."})
    assert kept(tmp_path, changed) == kept(tmp_path, lesson("1")) != kept(tmp_path, lesson("2"))


def test_states_of_a_page_that_grows_too_large_stop_the_build(build, tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "first_table.json.gz").write_bytes(gzip.compress(b"{}"))
    build.write_states({"00_a": ["first_table"]}, tmp_path / "cache", tmp_path / "out")
    assert gzip.decompress((tmp_path / "out" / "first_table.json.gz").read_bytes()) == b"{}"
    monkeypatch.setattr(build, "LIMIT", 1)
    with pytest.raises(SystemExit, match="more than 1"):
        build.write_states({"00_a": ["first_table"]}, tmp_path / "cache", tmp_path / "out")


def test_a_page_says_nothing_about_running_cells_and_shows_no_panel_twice(build, root):
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        notebook = build.page(json.loads(path.read_text(encoding="utf-8")))
        first = "".join(notebook["cells"][0]["source"])
        assert first.startswith("# ")
        text = "".join("".join(cell["source"]) for cell in notebook["cells"])
        assert "Run All" not in text and "Shift + Enter" not in first
        assert "The panel's first position" not in text
        assert all("".join(cell["source"]).strip() for cell in notebook["cells"])


def test_a_page_leaves_out_as_many_pictures_as_it_has_panels(build, root):
    """Other pictures stay: no panel of the page shows what they show."""
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        written, kept = (
            [name for cell in cells for name in PICTURE.findall("".join(cell["source"]))]
            for cells in (notebook["cells"], build.page(copy.deepcopy(notebook))["cells"])
        )
        code = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
        panels = build.PANEL.findall("\n".join(code))
        assert len(written) - len(kept) == len(panels), (path.stem, set(written) - set(kept))


def test_twin_what_leads_nowhere_or_elsewhere_is_found(tmp_path):
    page = "<a id='here' href='{}'>x</a><img src='{}'>"
    (tmp_path / "a.svg").write_text("<svg/>")
    (tmp_path / "b.html").write_text(page.format("#here", "a.svg"))
    assert broken(tmp_path) == []
    cases = {
        ("c.html", "a.svg"): "no such file",
        ("b.html#there", "a.svg"): "no such place",
        ("https://elsewhere.example", "a.svg"): None,  # leading there is no loading
        ("b.html#here", "https://elsewhere.example/a.svg"): "loaded from elsewhere",
    }
    for (lead, loads), says in cases.items():
        (tmp_path / "d.html").write_text(page.format(lead, loads))
        assert [why for _, _, why in broken(tmp_path)] == ([says] if says else [])


def test_twin_a_path_of_this_machine_is_found(root, tmp_path):
    words = of_this_machine(root)
    (tmp_path / "a.html").write_text("<p>UserWarning: 8 rows; /timely/ is no folder of ours")
    assert leaks(tmp_path, words) == []
    told = [f"{tempfile.gettempdir()}/ipykernel_12/34.py:6: UserWarning", f"see {root}/run.py",
            f'File "{sys.prefix}/lib/x.py"', "lib/site-packages/numpy"]  # fmt: skip
    for number, text in enumerate(told):
        (tmp_path / f"{number}.html").write_text(text)
        (tmp_path / f"{number}.json.gz").write_bytes(gzip.compress(text.encode()))
    assert len({path for path, _ in leaks(tmp_path, words)}) == 2 * len(told)


@pytest.mark.slow
def test_a_warning_of_a_lesson_is_shown_in_its_words_alone(build, tmp_path, monkeypatch):
    for name, value in build.executed.kernels(tmp_path / "ipython").items():
        monkeypatch.setenv(name, value)
    warning = lesson("import warnings\nwarnings.warn('eight rows are few')")
    ((shown,),) = json.loads(build.executed.outputs(warning, str(tmp_path)))
    assert "".join(shown["text"]) == "UserWarning: eight rows are few\n"
