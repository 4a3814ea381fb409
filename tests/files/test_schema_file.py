"""A schema as a file: every schema survives it, comments stay, and bad files say what to do."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth.core.errors import PrivacyError, SchemaError
from pdsynth.files.cells import FORMS
from pdsynth.files.outlining import outline
from pdsynth.files.reading import read_csv
from pdsynth.files.recoding import DATES
from pdsynth.files.schemas import say_exactly

A = pds.Attribute
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAME = TEXT.filter(bool)
NUMBER = st.floats(-1e9, 1e9, allow_subnormal=False)


@st.composite
def recodings(draw, values, numeric, missing):
    """Keywords of a recoding that fits."""
    listed = {str(value).strip() for value in values}
    raw = draw(st.lists(TEXT.map(str.strip).filter(lambda t: t not in listed), unique=True))
    half = len(raw) // 2
    to = NUMBER if numeric else st.sampled_from(values)
    how = {"mapping": {word: draw(to) for word in raw[:half]}}
    if missing:
        how["na_values"] = raw[half:]
    if not numeric:
        return how | ({"other": draw(st.sampled_from(values))} if draw(st.booleans()) else {})
    how["clip"] = draw(st.booleans())
    how["number"] = draw(st.sampled_from(["", *FORMS]))
    how["date"] = draw(st.sampled_from(["", *DATES]))
    how["unit"] = draw(st.sampled_from([(), "kg", ["day", "days"]])) if not how["date"] else ()
    if how["date"]:
        written = "%d.%m.%Y %H:%M" if how["date"] == "hour" else "%d.%m.%Y"
        how["format"] = draw(st.sampled_from(["", written]))
    return how | ({"on": "2026-12-31"} if how["date"] == "age" else {})


@st.composite
def attributes(draw, name):
    """Any attribute that the makers make, and some that only the class itself makes."""
    missing = draw(st.booleans())
    kind = draw(st.sampled_from(["texts", "whole", "floats", "truth", "mixed", "range", "edges"]))
    lists = {
        "texts": st.lists(TEXT, min_size=2, max_size=5, unique=True),
        "whole": st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=5, unique=True),
        "floats": st.lists(NUMBER, min_size=2, max_size=5, unique=True),
        "truth": st.just([False, True]),
        "mixed": st.just(["1", 2, "x|y", " drop", "?"]),
    }
    if kind in lists:
        values = draw(lists[kind])
        if len({str(value).strip() for value in values}) < len(values):
            return A.categorical(name, values, missing=missing)
        how = draw(recodings(values, False, missing)) if draw(st.booleans()) else {}
        dtype = draw(st.sampled_from([None, "category", "ordered"]))
        return A.categorical(name, values, missing=missing, dtype=dtype, **how)
    whole, spread = draw(st.booleans()), draw(st.sampled_from(["uniform", "lower", "middle"]))
    numbers = st.integers(-(10**6), 10**6) if whole else NUMBER
    edges = sorted(draw(st.lists(numbers, min_size=3, max_size=6, unique=True)))
    how = draw(recodings((), True, missing)) if draw(st.booleans()) else {}
    how |= {"integer": whole, "missing": missing, "spread": spread}
    if kind == "range":
        bins = draw(st.integers(2, 20))
        return A.numeric(name, edges[0], edges[-1], bins=bins, **how)
    found = A.binned(name, edges, **how)
    if draw(st.booleans()):
        found = replace(found, values=tuple(f"bin {i}" for i in range(len(found.values))))
    return replace(found, dtype="float") if draw(st.booleans()) else found


@st.composite
def schemas(draw):
    names = draw(st.lists(NAME, min_size=2, max_size=6, unique=True))
    some = draw(st.integers(1, len(names)))
    found = tuple(draw(attributes(name)) for name in names[:some])
    reasons = st.sampled_from(["", "identifier", "free text: notes", "? open"])
    left_out = {name: draw(reasons) for name in names[some:]}
    open_ = any(why.startswith("?") for why in left_out.values())
    groups = {name: "A" for name in names[:some] if draw(st.booleans())}
    source = "data" if open_ else draw(st.sampled_from(["public", "data"]))
    columns = tuple(draw(st.permutations(names))) if draw(st.booleans()) else ()
    schema = pds.Schema(found, source, groups, left_out, columns)
    return replace(schema, rules=draw(rules(found))) if some > 1 else schema


@st.composite
def rules(draw, found):
    """A few rules of each kind that leave something."""
    first, second = found[:2]
    how = {"on_violation": draw(st.sampled_from(["refuse", "keep"]))}
    value, other = (draw(st.sampled_from(a.values)) for a in (first, second))
    made = [
        pds.Rule.impossible({first.name: [value], second.name: [other]}, **how),
        pds.Rule.determines(first.name, second.name, {value: list(second.values)}, **how),
    ]
    if first.edges and second.edges and first.edges[0] < second.edges[-1]:
        made.append(pds.Rule.at_most(first.name, second.name))
    return tuple(rule for rule in made if draw(st.booleans()))


@pytest.mark.slow
@given(schemas(), schemas())
@settings(max_examples=150, deadline=None)
def test_every_schema_survives_its_file_also_over_another(tmp_path_factory, first, second):
    path = tmp_path_factory.mktemp("schema") / "schema.toml"
    for schema in (first, first, second):
        schema.write(path)
        assert say_exactly(pds.Schema.read(path)) == say_exactly(schema)
    sent = json.loads(json.dumps(first.to_dict()))
    assert say_exactly(pds.Schema.from_dict(sent)) == say_exactly(first)


HAND = """\
# Survey of 2026, form B. Reviewed by the board.
columns = ["id", "age", "home", "born", "income"]

[attributes]
id = "drop: running number"
age = "18 to 90 in 8 bins"      # question 1
# question 2 and its codes
home = {domain = "DE | AT | elsewhere + missing", other = "elsewhere", na_values = ["?"]} # ISO

born = {domain = "1930 to 2010 in 8 bins", date = "year", format = "%d.%m.%Y"}
income = {domain = "edges 0, 1, 5000, 99999", number = "1,234.5", clip = true, public = false}

[attributes.smoker]  # a table of its own
values = ["yes", "no"]
mapping = {"1" = "yes", "2" = "no"}

[groups]
income = "A"
"""


RULES = """
[[rules]]
impossible = {home = ["DE", "(missing)"], smoker = "yes"}
[[rules]]  # by the codebook
determines = ["smoker", "home"]
mapping = {no = ["DE", "AT"]}
on_violation = "keep"
[[rules]]
determines = ["age", "home"]
mapping = [[18, "DE"], ["28–36", ["DE", "AT"]]]
[[rules]]
at_most = ["age", "income"]
"""


@pytest.fixture
def hand(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(HAND.replace('"income"]', '"income", "smoker"]'), encoding="utf-8")
    return path


def test_a_file_written_by_hand(hand):
    schema = pds.Schema.read(hand)
    assert schema.names == ("age", "home", "born", "income", "smoker")
    assert schema.source == "data" and schema.left_out == {"id": "running number"}
    assert schema["age"] == A.numeric("age", 18, 90, bins=8, integer=True)
    assert schema["smoker"] == A.categorical("smoker", ["yes", "no"], mapping={"1": "yes", 2: "no"})
    assert schema.groups == {"income": "A"} and schema.columns[0] == "id"


def test_rules_by_hand(hand):
    text = hand.read_text(encoding="utf-8")
    hand.write_text(text.replace(", public = false", "") + RULES, encoding="utf-8")
    found = pds.Schema.read(hand)
    assert found.source == "public"
    assert found.rules == (
        pds.Rule.impossible({"home": ["DE", None], "smoker": "yes"}),
        pds.Rule.determines("smoker", "home", {"no": ["DE", "AT"]}, on_violation="keep"),
        pds.Rule.determines("age", "home", {18: "DE", "28–36": ["DE", "AT"]}),
        pds.Rule.at_most("age", "income"),
    )
    hand.write_text(
        text.replace(", public = false", "") + RULES + "public = false\n", encoding="utf-8"
    )
    assert pds.Schema.read(hand).source == "data", "an unconfirmed rule makes a draft"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("impossible = 3", "rule 1: write impossible"),
        ("impossible = {home = 'DE'}", "rule 1: a rule is about two columns"),
        ("at_most = ['age']", "names two columns"),
        ("at_most = ['age', 'income']\nmapping = {a = 1}", "rule 1: write"),
        ("determines = ['age', 'home']", "rule 1: write"),
        ("determines = ['age', 'home']\nmapping = [1]", "list of pairs"),
        ("determines = ['age', 'home']\nmapping = [[[1], 2]]", "begins with one value"),
        ("at_most = ['age', 'income']\npublic = 'no'", "public must be"),
        ("at_most = ['age', 'income']\nelse = 1", "unknown else"),
        ("at_most = ['age', 'income']\non_violation = 'drop'", "on_violation must be"),
        ("at_most = ['age', 'wage']", "names 'wage'"),
    ],
)
def test_a_rule_that_is_none_says_what_to_write(hand, entry, words):
    with hand.open("a", encoding="utf-8") as file:
        file.write(f"\n[[rules]]\n{entry}\n")
    with pytest.raises(SchemaError, match=words):
        pds.Schema.read(hand)


def test_a_file_of_a_hand_is_left_alone(hand):
    text, schema = hand.read_text(encoding="utf-8"), pds.Schema.read(hand)
    with pytest.raises(SchemaError, match="edited by hand.*name another file"):
        schema.write(hand)
    assert hand.read_text(encoding="utf-8") == text
    own = hand.with_name("own.toml")
    schema.write(own)
    schema.declare_public().write(own)
    assert pds.Schema.read(own).source == "public"
    with own.open("a", encoding="utf-8") as file:
        file.write("# reviewed by the board\n")
    with pytest.raises(SchemaError, match="edited by hand"):
        schema.write(own)


def test_a_draft_is_refused_by_a_strict_fit_until_every_line_is_confirmed(hand):
    def draft(text):
        hand.write_text(f"[attributes]\n{text}", encoding="utf-8")
        return pds.Schema.read(hand)

    frame = pd.DataFrame({"a": [1, 2] * 20, "b": ["x", "y"] * 20, "c": 0})
    lines = ['a = {domain = "1 | 2", public = false}', 'b = "x | y"', 'c = "? constant"']
    for left in (lines, [lines[0], lines[1], 'c = "drop"'], [*lines[1:], 'a = "1 | 2"']):
        with pytest.raises(PrivacyError, match="inferred"):
            pds.PrivBayes(1.0, k=0).fit(frame, draft("\n".join(left)))
    done = draft('a = {domain = "1 | 2", public = true}\nb = "x | y"\nc = "drop"')
    assert list(pds.PrivBayes(1.0, k=0).fit(frame, done).sample()) == ["a", "b"]


BAD = {
    "a = \n": "schema.toml isn't TOML.*line 2",
    'Größe = "1 to 2"': "isn't TOML.*line 2.* stands in quotes",
    "": "declares no attributes",
    "age = 7": "'age': 7 is neither a text nor a table",
    'age = "old to young"': "schema.toml, attribute 'age': 'old' isn't a number: write",
    'age = "90 to 17"': "'age': low=90 must be below",
    'age = {range = "1 to 5"}': "'age': unknown option.*range",
    "age = {missing = true}": "'age': a table needs domain, or values, or edges",
    'age = {domain = "1 to 5", edges = [1, 2, 3]}': "'age': a table needs domain, or values",
    "age = {domain = 5}": "'age': domain, type and spread must be texts, not 5",
    'age = {values = "a, b"}': "'age': values and edges must be lists",
    'age = {edges = [1, "x", 3]}': "'age': an edge must be a number, got 'x'",
    "age = {edges = [1, true, 3]}": "'age': an edge must be a number, got True",
    'age = {domain = "1 to 5", missing = "?"}': "missing and public must be true or false",
    'age = {domain = "1 to 5", public = "no"}': "missing and public must be true or false",
    'age = {domain = "1 to 5", type = "int8"}': "'int8' can't hold",
    'age = {domain = "1 to 5", spread = "wide"}': "spread must be one of",
    'age = {domain = "a | b", other = "c"}': "other='c' isn't a declared value: list it",
    'age = {domain = "a | b", mapping = {x = "c"}}': "mapping leads to 'c'",
    'age = {domain = "a | b", mapping = "x"}': "mapping must be a table",
    'age = {domain = "a | b", mapping = {a = "b"}}': r"\['a'\] are declared values",
    'age = {domain = "a | b", na_values = ["?"]}': r"na_values=\['\?'\] need missing=True",
    'age = {domain = "a | b", na_values = 9}': "na_values must be a list",
    'age = {domain = "a | b", date = "year"}': "belong to numbers",
    'age = {domain = "1 to 5", other = 3}': "other= belongs to listed values",
    'age = {domain = "1 to 5", date = "day"}': "date must be one of",
    'age = {domain = "1 to 5", date = "age"}': "needs the day that ages count to",
    'age = {domain = "1 to 5", date = "age", on = "soon"}': "on='soon' isn't a day",
    'age = {domain = "1 to 5", format = "%Y"}': "format= and on= belong to dates",
    'age = {domain = "1 to 5", number = "1e5"}': "number must be one of",
    'age = {domain = "1 to 5", clip = 1}': "clip true or false",
    'age = {domain = "1 to 5", mapping = {x = "y"}}': "'y', which isn't a number",
    'age = "1 | 2"\n[groups]\nage = "C"': "groups must map declared attributes to 'A' or 'B'",
    f"age = {'9' * 5000}": "isn't TOML",
    f"age = {'[' * 5000}": "isn't TOML",
    f'age = "0 to {"9" * 5000}"': "'age': '999.*9' isn't a number",
    'zip = "02101 to 02999 in 9 bins"': "'02101' begins with a zero, .*list what.*prefix = 3",
    'zip = "2101 to 02999"': "'02999' begins with a zero",
    'zip = {domain = "edges 0, 05, 10", clip = true}': "'zip': '05' begins with a zero",
    'zip = "-01.5 to 9"': "'-01.5' begins with a zero",
    'age = "1 | 2"\n[people]\nx = 1': "holds people beside columns, file, attributes, groups",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_file_is_refused_with_its_place_and_a_remedy(text, tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(f"[attributes]\n{text}", encoding="utf-8")
    with pytest.raises(SchemaError, match=BAD[text]):
        pds.Schema.read(path)


def test_the_way_out_of_a_code_s_zeros_keeps_them(tmp_path):
    """Beside it, numbers whose only zero is before the point or alone."""
    path = tmp_path / "schema.toml"
    lines = ['zip = {domain = "021 | 022", prefix = 3}', 'x = "0 to 0.9 in 3 bins"']
    path.write_text("\n".join(["[attributes]", *lines, 'y = "edges 0, 1, 5"']), encoding="utf-8")
    schema = pds.Schema.read(path)
    frame = read_csv(b"zip,x,y\n02101,0.5,0\n02244,0.1,5\n", schema)
    assert schema.encode(frame).tolist() == [[0, 1, 0], [1, 0, 1]]
    fake = schema.decode(np.array([[1, 0, 0]]))
    assert fake["zip"].tolist() == ["022"]


def test_a_file_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes("[attributes]\ngröße = '1 | 2'".encode("cp1252"))
    with pytest.raises(SchemaError, match="schema.toml isn't in UTF-8"):
        pds.Schema.read(path)


@pytest.mark.parametrize(
    ("old", "words"),
    [
        (b"not a schema", "schema.toml.*TOML"),
        (b"[" * 5000, "schema.toml.*TOML"),
        (b"a = " + b"9" * 5000, "schema.toml.*TOML"),
        (b"\xff", "schema.toml isn't in UTF-8"),
    ],
)
def test_a_file_that_is_no_schema_is_not_written_over(old, words, tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes(old)
    schema = pds.Schema([pds.Attribute.categorical("a", [1, 2])])
    with pytest.raises(SchemaError, match=words):
        schema.write(path)
    assert path.read_bytes() == old


HALF = "\ud800"  # half a character, as an undecodable name of a file has


def test_half_a_character_is_refused_and_empties_no_file(tmp_path):
    other = A.categorical("b", ["x", "y"])
    for make in (
        lambda: pds.Schema((A.categorical(HALF, [0, 1]), other)),
        lambda: pds.Schema((A.categorical("a", [HALF, 1]), other)),
        lambda: pds.Schema((A.categorical("a", [0, 1]), other), left_out={HALF: "no"}),
        lambda: pds.Schema((A.categorical("a", [0, 1]), other), columns=("a", "b", HALF)),
    ):
        with pytest.raises(pds.SchemaError, match="is no character that a file can hold"):
            make()
    path = tmp_path / "s.toml"
    pds.Schema((A.categorical("a", [0, 1]), other)).write(path)
    before = path.read_bytes()
    recoded = A.categorical("a", [0, 1], mapping={HALF: 1})
    with pytest.raises(pds.SchemaError, match="is no character that a file can hold"):
        pds.Schema((recoded, other)).write(path)
    assert path.read_bytes() == before


def test_a_draft_with_half_a_character_leaves_no_file(tmp_path):
    """As of ``--names`` in a script that isn't in UTF-8."""
    with pytest.raises(pds.SchemaError, match="is no character that a file can hold"):
        outline(b"1,2\n3,4\n", tmp_path / "draft.toml", names=["a", HALF])
    with pytest.raises(pds.SchemaError, match="is no character that a file can hold"):
        pds.datasets.read_csv(b"1,2\n3,4\n", names=["a", HALF])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["a\nb = 1", "bell\a", "del\x7f", "\udcff", "é"])
def test_a_draft_of_a_file_with_any_name_is_read(name, tmp_path):
    """Its first line is a comment that names the file."""
    path = tmp_path / f"{name}.csv"
    try:
        path.write_bytes(b"sex,age\n" + b"f,34\nm,61\n" * 50)
    except OSError as problem:
        pytest.skip(f"no such name here: {problem}")
    outline(path, tmp_path / "draft.toml", header=True)
    assert pds.Schema.read(tmp_path / "draft.toml").names == ("sex", "age")
