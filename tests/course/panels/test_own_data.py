"""The panel of lesson 19: a pure view of declaration, n and parameters; then the widget."""

import json
import re
from fractions import Fraction
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.course.declaration import declare
from pdsynth.course.panels import own_data
from pdsynth.course.panels.drawing import INKS
from pdsynth.course.panels.own_data import EXAMPLE, File, view

ROOT = Path(__file__).resolve().parents[3]
MINE = b"person_id,age,smoker,ward\n" + b"".join(
    b"%d,%d,%s,%d\n" % (i, 20 + i % 60, [b"yes", b"no"][i % 2], i % 5) for i in range(4000)
)
TEXT = (
    "person_id: drop\nage: 18 to 99 in 9 bins\nsmoker: yes | no + missing\nward: 0 | 1 | 2 | 3 | 4"
)


def uploaded(panel, name, content):
    """What the browser sends when a student chooses a file."""
    now = pd.Timestamp("2026-01-01").to_pydatetime()
    sent = {
        "name": name,
        "type": "text/csv",
        "size": len(content),
        "content": memoryview(content),
        "last_modified": now,
    }
    panel.form.upload.value = (sent,)


def test_a_view_says_in_words_what_it_shows_and_is_the_same_every_time():
    first, again = view(), view()
    assert (
        first.status and first.status in first.alt and first.figure.layout.title.text in first.alt
    )
    assert first.figure.to_json() == again.figure.to_json()
    assert "Before you spend" in first.tables[0] and "[attributes]" in first.tables[1]


def test_both_charts_say_what_their_noise_is_measured_in():
    layout = view().figure.layout
    assert layout.xaxis.title.text == layout.yaxis2.title.text == "noise ÷ people in a cell"


def test_the_chart_by_k_names_its_limits_in_a_legend():
    """The dotted line at 1/4 had no name."""
    lines = [t for t in view().figure.data if t.xaxis == "x2" and t.mode == "lines"]
    named = [t.name for t in lines if t.showlegend is not False]
    assert named == ["from here: more noise than people", "up to here: useful"]


def test_axes_stay_where_they_are_while_sliders_move():
    a, b = (
        view(epsilon=e, k=k).figure.to_plotly_json()["layout"] for e, k in ((1.0, "auto"), (0.1, 4))
    )
    assert all(a[name]["range"] == b[name]["range"] for name in ("xaxis", "xaxis2", "yaxis2"))


def test_the_example_is_adult_and_its_codebook_fits():
    frame = own_data.example()
    assert tuple(frame) == EXAMPLE.names and len(frame) == EXAMPLE.n
    schema = declare(EXAMPLE.codebook.replace("country: ?", "country: drop"), EXAMPLE.names).schema
    assert schema.encode(frame[list(schema.names)]).shape == (EXAMPLE.n, len(schema))


def test_the_plan_is_the_library_s_and_the_personal_share_is_exact():
    schema = declare(EXAMPLE.codebook, EXAMPLE.names).schema
    assert str(pds.plan(schema, EXAMPLE.n, 1.0)) in view().status
    assert str(pds.plan(schema, EXAMPLE.n, Fraction(1, 3))) in view(persons=3).status
    assert "so a fit may spend 0.333." in view(persons=3).status
    assert "lose 3 times ε" in view(persons=3).status and "times ε" not in view().status


def test_the_left_bars_are_noise_over_mean_cell_of_each_column_s_table():
    """By hand: eight columns share ε = 1 at k = 0, so scale 16; sex has two cells."""
    schema = declare(EXAMPLE.codebook, EXAMPLE.names).schema
    assert own_data.ratios(schema, EXAMPLE.n, 1.0, 0)["sex"] == pytest.approx(16 * 2 / EXAMPLE.n)
    bars = view(k=0).figure.data[0]
    shown = dict(zip(bars.y, bars.x, strict=True))
    assert shown["sex · 2"] == pytest.approx(16 * 2 / EXAMPLE.n)
    assert shown["age · 16"] == pytest.approx(8 * shown["sex · 2"])
    coarse = dict(zip(*(view(k=0, bins=4).figure.data[0][a] for a in "yx"), strict=True))
    assert coarse["age · 4"] == pytest.approx(shown["age · 16"] / 4)


def test_the_view_is_a_function_of_the_declaration_and_n_alone():
    """Two files with one header and one n have the same view; the twin, exploring, doesn't."""
    one = File.of("x.csv", b"age,smoker\n" + b"34,yes\n61,no\n" * 100)
    other = File.of(
        "x.csv", b"age,smoker\n" + b"".join(b"%d,no%d\n" % (i, i % 3) for i in range(one.n))
    )
    text = "age: 18 to 99\nsmoker: yes | no"
    assert view(file=one, text=text).status == view(file=other, text=text).status
    assert (
        view(file=one, text=text).figure.to_json() == view(file=other, text=text).figure.to_json()
    )
    assert one.propose("public") == other.propose("public") == "age: ?\nsmoker: ?"
    assert one.propose("data") != other.propose("data")


def test_a_hopeless_table_and_a_hopeless_k_are_said():
    small = File("small.csv", EXAMPLE.names, 100, None, EXAMPLE.codebook)
    assert "every two-way table is noise" in view(file=small).status
    assert "times more noise than records" in view(epsilon=0.1, k=4).status
    drawn = view(epsilon=0.1, k=4).figure.data
    dots = [t for t in drawn if t.name and t.mode == "markers" and len(t.x)]
    assert [t.marker.color for t in dots] == [INKS["attack"]], "every column's table"
    assert dots[0].name == "8 lost in noise"
    assert "times more noise" not in view(epsilon=0.1).status


def test_the_verdict_says_with_how_many_parents_tables_are_useful():
    """A smaller ε leaves more tables useful, since they have fewer parents."""
    said = {epsilon: view(epsilon=epsilon).status for epsilon in (1.0, 0.25, 0.05)}
    assert said[1.0].startswith("4 of 8 columns keep a useful table with 2 parents. ")
    assert " a useful table with 1 parent. " in said[0.25]
    assert said[0.05].startswith("8 of 8 columns keep a useful table without parents. ")


def test_open_columns_are_named_and_domains_from_records_are_marked():
    assert "Not declared yet, and not in the plan: native-country." in view().status
    seen = view(proposal="data")
    assert (
        "a strict fit refuses them" in seen.status
        and "domains = exploring" in seen.figure.layout.title.text
    )
    assert "Puerto-Rico" in seen.tables[1] and "public = false" in seen.tables[1]
    assert "Puerto-Rico" not in view().tables[1]
    assert "Holand-Netherlands" not in seen.tables[1], "a draft lists what is frequent"
    lesson = (ROOT / "notebooks" / "src" / "19_your_own_data.py").read_text(encoding="utf-8")
    (bullet,) = re.findall(r"\* \*\*domains\*\*, \*exploring\*: (.+)", lesson)
    assert "countries that many come from" in bullet and "Dutch" not in bullet


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (
            {"k": 3, "text": "age: 1 to 5\nsex: Female | Male"},
            pds.BudgetError,
            "k = 3, but with d = 2",
        ),
        ({"text": "age: 1 to 5"}, pds.SchemaError, "a plan needs at least two"),
        ({"text": "height: 1 to 5"}, pds.SchemaError, "columns: id, fnlwgt"),
        ({"epsilon": 0}, pds.BudgetError, "epsilon must be a positive"),
        (
            {
                "k": 2,
                "text": "".join(f"{n}: 0.0 to 1.0\n" for n in EXAMPLE.names[:4]),
                "bins": 30_000,
            },
            pds.BudgetError,
            "GiB",
        ),
    ],
)
def test_bad_positions_are_the_library_s_own_errors(given, error, words):
    with pytest.raises(error, match=words):
        view(**given)


def test_a_wide_table_shows_its_worst_columns():
    names = tuple(f"a very long column name {j}" for j in range(80))
    wide = File(
        "wide.csv",
        names,
        10_000,
        None,
        "\n".join(f"{n}: {' | '.join('abcdefghij'[: 2 + j % 8])}" for j, n in enumerate(names)),
    )
    bars = view(file=wide).figure.data[0]
    assert len(bars.y) == own_data.ROWS and "· 9" in bars.y[-1] and max(map(len, bars.y)) < 28


def test_no_position_reads_a_record(monkeypatch):
    def never(*_, **__):
        raise AssertionError("the view read a record")

    for name in ("read_csv", "load_adult", "example"):
        monkeypatch.setattr(own_data, name, never)
    assert view(epsilon=0.3).status
    with pytest.raises(AssertionError, match="read a record"):
        view(proposal="data")


# --- the widget ---


@pytest.fixture
def panel():
    return own_data.panel()


def test_the_panel_follows_its_controls(panel):
    assert panel.error is None and panel.form.editor.value == EXAMPLE.codebook
    for name, value, words in (
        ("epsilon", 0.5, "ε = 0.5"),
        ("k", 1, "k = 1"),
        ("proposal", "data", "exploring"),
    ):
        panel.set(**{name: value})
        assert panel.error is None and words in panel.figure.layout.title.text
    assert "Puerto-Rico" in panel.form.editor.value
    panel.set(proposal="public")
    assert panel.form.editor.value == EXAMPLE.codebook, "each keeps its own text"


def test_the_panel_says_what_it_reads(panel):
    told = " ".join(getattr(w, "value", "") for w in panel.form.box.children)
    assert "column names and the number of records, nothing else" in told


def test_an_edited_declaration_moves_the_plan_and_a_bad_one_says_so(panel):
    panel.form.editor.value = EXAMPLE.codebook.replace(
        "country: ?", "country: US | elsewhere + missing"
    )
    assert "9 columns" in panel.view.status and "Not declared" not in panel.view.status
    panel.form.editor.value = "age: young"
    assert isinstance(panel.error, pds.SchemaError) and "declares no domain" in panel.alert.value
    assert "still shows" in panel.alert.value and "9 columns" in panel.view.status
    panel.form.editor.value = EXAMPLE.codebook
    assert panel.error is None and "8 columns" in panel.view.status


def test_an_edit_outlives_a_look_at_the_records(panel):
    edited = EXAMPLE.codebook.replace("fnlwgt: drop", "fnlwgt: 0 to 1500000")
    panel.form.editor.value = edited
    panel.set(proposal="data").set(proposal="public")
    assert panel.form.editor.value == edited


def test_a_student_s_own_file(panel):
    panel.set(proposal="data")
    uploaded(panel, "ward.csv", MINE)
    assert panel.values["proposal"] == "public", "a new file starts without a look at its records"
    assert panel.form.editor.value == "person_id: drop\nage: ?\nsmoker: ?\nward: ?"
    assert panel.error is None and "0 columns declared, 3 still open" in panel.view.status
    assert panel.view.tables == () and not panel.figure.data, "nothing of the example is left"
    assert "ward.csv: not declared yet" in panel.figure.layout.title.text
    assert "4,000 records, 4 columns" in panel.form.label.value
    panel.form.editor.value = "age: young"
    assert panel.error is None and "declares no domain" in panel.view.status
    panel.form.editor.value = TEXT
    assert panel.error is None and "4,000 rows × 3 columns" in panel.view.status
    assert "ward.csv" in panel.figure.layout.title.text
    panel.set(proposal="data")
    assert panel.error is None and "age: 20 to 79" in panel.form.editor.value


def reviewed():
    """The shipped file's reviewed schema, as lines of the panel."""
    lines = pds.datasets.find("survey.toml").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" = ", 1) for line in lines[lines.index("[attributes]") + 1 :] if line]
    cut = [(name, rule.split("  # ")[0]) for name, rule in pairs]
    return "\n".join(
        f"{name}: {rule if rule.startswith('{') else rule.strip(chr(34))}" for name, rule in cut
    )


def test_a_messy_file_without_a_header_goes_from_the_panel_to_a_release(panel, tmp_path):
    raw = pds.datasets.find("survey.csv")
    wanted = pds.Schema.read(pds.datasets.find("survey.toml"))
    uploaded(panel, "survey.csv", raw.read_bytes())
    assert isinstance(panel.error, pds.SchemaError) and "names of its 9 columns" in str(panel.error)
    panel.form.names.value = " ".join(wanted.columns)
    uploaded(panel, "survey.csv", raw.read_bytes())
    panel.form.editor.value = reviewed()
    assert panel.error is None and "6,000 rows × 8 columns" in panel.view.status
    schema, frame = panel.form.schema(), panel.form.records()
    assert schema.attributes == wanted.attributes and schema.columns == wanted.columns
    assert schema.left_out == {"person_id": ""} and not schema.problems(frame)
    assert frame.equals(pds.datasets.read_csv(raw, wanted))
    synth = pds.baselines.Independent(1.0).fit(frame, schema)
    place = pds.datasets.write_release(synth.model_, tmp_path / "out")
    assert "6,000 records of 9 columns" in (place / "card.md").read_text(encoding="utf-8")


TICKED = b"id;tools;bp;age\n" + b"".join(
    b"%d;%s;%d/%d;%d\n" % (i, tools, 100 + i % 60, 60 + i % 30, 20 + i % 50)
    for i, tools in enumerate([b"R,SPSS", b"R", b"SPSS", b"", b"R,Stata", b"Stata,SPSS,R"] * 40)
)
APART = """id: drop
tools: R: {values = [false, true], column = "tools", between = ",", holds = "R", empty = false}
upper: {domain = "60 to 239", column = "bp", between = "/", part = 1}
age: 18 to 99 in 9 bins
Stata: {values = [false, true], column = "tools", between = ",", holds = "Stata", empty = false}"""


def test_cells_that_hold_several_things_are_taken_apart(panel, tmp_path):
    """Lines of one raw column stand together, in the order of the file's columns."""
    uploaded(panel, "form.csv", TICKED)
    panel.form.editor.value = APART
    assert panel.error is None and "240 rows × 4 columns" in panel.view.status
    assert "Not declared" not in panel.view.status, "tools and bp are read"
    schema, frame = panel.form.schema(), panel.form.records()
    assert schema.names == ("tools: R", "Stata", "upper", "age") and schema.left_out == {"id": ""}
    assert schema.encode(frame)[:4].tolist() == [
        [1, 0, 3, 0],
        [1, 0, 3, 0],
        [0, 0, 3, 0],
        [0, 0, 3, 0],
    ]
    saved = unescape(panel.view.tables[1].partition("<pre>")[2].partition("</pre>")[0])
    (tmp_path / "form.toml").write_text(saved, encoding="utf-8")
    assert pds.Schema.read(tmp_path / "form.toml").attributes == schema.attributes
    panel.form.editor.value = APART.replace('"bp"', '"pressure"')
    assert "'pressure' is no column of the file: id, tools, bp, age" in str(panel.error)


def test_exploring_drafts_a_line_for_each_answer_and_each_number(panel):
    uploaded(panel, "form.csv", TICKED)
    panel.set(proposal="data")
    names = [line.split(": {")[0] for line in panel.form.editor.value.splitlines()]
    assert panel.error is None and "6 columns" in panel.view.status
    assert names[1:6] == ["tools: R", "tools: SPSS", "tools: Stata", "bp: 1", "bp: 2"]


def test_what_is_saved_is_the_declaration_and_never_what_exploring_saw(panel):
    schema = panel.form.schema()
    assert schema.left_out["native-country"] == "not declared" and schema.source == "public"
    assert list(panel.form.records()) == list(schema.names)
    panel.set(proposal="data")
    with pytest.raises(pds.SchemaError, match="come from the records"):
        panel.form.schema()


def test_the_page_forgets_the_file_so_that_a_saved_notebook_holds_no_record(panel):
    uploaded(panel, "ward.csv", MINE)
    panel.form.editor.value = TEXT
    assert panel.form.upload.value == ()
    held = [panel]
    for widget in held:
        held.extend(getattr(widget, "children", ()))
    state = json.dumps([w.get_state() for w in held], default=str)
    assert "3999,59" not in state and "person_id" in state
    kept = own_data.DeclarationForm(
        EXAMPLE
    )  # the twin: without its panel nothing clears the button
    uploaded(type("P", (), {"form": kept}), "ward.csv", MINE)
    assert bytes(kept.upload.value[0]["content"]) == MINE


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"34,f\n61,m\n34,m\n", "names="),
        (b"a\n1\n", "one column"),
        (b"a,b\n", "no rows"),
        (b"PK\x03\x04", "spreadsheet"),
        (b"a,b\n1\n", "line 2"),
    ],
)
def test_a_bad_file_is_refused_gently_and_the_last_one_stays(panel, content, words):
    uploaded(panel, "bad.csv", content)
    assert (
        isinstance(panel.error, pds.SchemaError)
        and words in panel.alert.value
        and "bad.csv" in panel.alert.value
    )
    assert "Traceback" not in panel.alert.value and panel.form.file is EXAMPLE
    panel.set(epsilon=0.7)
    assert panel.error is None and "my_data.csv: ε = 0.7" in panel.figure.layout.title.text


def test_a_constant_column_stays_open_when_exploring(panel):
    uploaded(panel, "x.csv", b"a,b,c\n" + b"1,x,5\n1,y,6\n" * 9)
    panel.set(proposal="data")
    assert (
        panel.form.editor.value
        == "a: ? one value only: what else may stand here?\nb: x | y\nc: 5 | 6"
    )
    assert "Not declared yet, and not in the plan: a." in panel.view.status


def test_a_large_file_comes_by_its_path(tmp_path):
    path = tmp_path / "ward.csv"
    path.write_bytes(MINE)
    panel = own_data.panel(path)
    assert panel.error is None and "still open" in panel.view.status and not panel.figure.data
    panel.form.editor.value = TEXT
    assert panel.error is None and "ward.csv: ε = 1" in panel.figure.layout.title.text
    with pytest.raises(FileNotFoundError):
        own_data.panel(tmp_path / "nowhere.csv")
