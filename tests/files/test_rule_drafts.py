"""Candidates for rules, read off records: what is clear is drafted, chance isn't, all wait."""

import io

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth import Attribute, Rule, Schema
from pdsynth.__main__ import main
from pdsynth.core.errors import PrivacyError
from pdsynth.files.outlining import outline
from pdsynth.files.rule_drafts import EXPECTED, draft_rules

N = 2_000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    degree = rng.choice(["none", "school", "college"], N)
    age = rng.integers(0, 90, N)
    work = np.where(age < 15, "none", rng.choice(["part", "full", "none"], N))
    hours = rng.integers(0, 60, N)
    return pd.DataFrame(
        {
            "degree": degree,
            "years": pd.Series(degree).map({"none": 0, "school": 10, "college": 15}),
            "age": age,
            "work": work,
            "hours": hours,
            "half": (hours * rng.random(N)).astype(int),
            "luck": rng.choice(["a", "b"], N),
        }
    )


def schema_of(frame):
    return Schema(
        (
            Attribute.categorical("degree", ["none", "school", "college"]),
            Attribute.categorical("years", [0, 10, 15]),
            Attribute.binned("age", [0, 15, 45, 99], integer=True),
            Attribute.categorical("work", ["none", "part", "full"]),
            Attribute.numeric("hours", 0, 60, integer=True),
            Attribute.numeric("half", 0, 60, integer=True),
            Attribute.categorical("luck", ["a", "b"]),
        )
    )


def test_what_is_clear_is_drafted_and_nothing_else(frame):
    found = draft_rules(frame, schema_of(frame).attributes)
    assert set(found) == {
        Rule.determines("degree", "years", {"none": 0, "school": 10, "college": 15}),
        Rule.impossible({"age": ["0–14"], "work": ["part", "full"]}),
        Rule.at_most("half", "hours"),
    }


def test_no_record_breaks_a_candidate(frame):
    schema = schema_of(frame)
    ruled = Schema(schema.attributes, rules=draft_rules(frame, schema.attributes))
    assert not ruled.break_rules(ruled.encode(frame)).any()


def test_few_records_tell_nothing(frame):
    few = frame.head(EXPECTED)
    assert not [r for r in draft_rules(few, schema_of(few).attributes) if r.kind != "determines"]


def test_every_candidate_waits_for_its_owner(frame, tmp_path):
    path = tmp_path / "draft.toml"
    text = outline(io.BytesIO(frame.to_csv(index=False).encode()), path)
    drafted = text[text.index("[[rules]]") :]
    assert drafted.count("[[rules]]  # these records keep it") == drafted.count("public = false")
    draft = Schema.read(path)
    assert draft.source == "data" and draft.rules
    with pytest.raises(PrivacyError, match="inferred from the data"):
        pds.PrivBayes(1).prepare(draft, N)
    lines = text.splitlines()
    head = [line.replace(", public = false", "") for line in lines[: lines.index("[attributes]")]]
    assert head  # attributes alone confirmed still leave the rules open
    confirmed = "\n".join(
        line.replace(", public = false", "") if line != "public = false" else line for line in lines
    )
    path.write_text(confirmed, encoding="utf-8")
    assert Schema.read(path).source == "data"
    path.write_text(confirmed.replace("\npublic = false", ""), encoding="utf-8")
    assert Schema.read(path).source == "public"


def test_a_report_counts_rows_that_break_a_rule(frame):
    plain = schema_of(frame)
    schema = Schema(plain.attributes, rules=draft_rules(frame, plain.attributes))
    kept = pds.PrivBayes(1, random_state=0).fit(frame, schema).sample(500, 0)
    broken = pds.PrivBayes(0.1, random_state=0).fit(frame, plain).sample(500, 0)
    said = str(pds.evaluate.report(frame, kept, schema, repeats=1)).replace("\n  ", " ")
    assert "Rules: 0 of its 500 rows break one of the 3 rules between columns" in said
    assert "of the 2,000 real records 0" in said
    twin = str(pds.evaluate.report(frame, broken, schema, repeats=1)).replace("\n  ", " ")
    assert "Rules: 0 of" not in twin and "Rules: " in twin
    assert "Rules: " not in str(pds.evaluate.report(frame, broken, plain, repeats=1))


def test_a_plan_counts_the_cells_that_can_occur(frame):
    plain = schema_of(frame)
    schema = Schema(plain.attributes, rules=draft_rules(frame, plain.attributes)[:2])
    said = str(pds.plan(schema, N, 1.0))
    assert "Rules leave only some cells in which records can be: " in said
    assert "3 of 9 in degree × years" in said
    assert "Rules" not in str(pds.plan(plain, N, 1.0))


def test_a_release_with_rules_is_written_and_read_back(frame, tmp_path):
    """The rehearsal writes every declared value, also those that no record holds together."""
    plain = schema_of(frame)
    schema = Schema(plain.attributes, rules=draft_rules(frame, plain.attributes))
    schema.write(tmp_path / "schema.toml")
    frame.to_csv(tmp_path / "data.csv", index=False)
    words = f"release {tmp_path}/data.csv {tmp_path}/schema.toml --epsilon 1 --out {tmp_path}/out"
    assert main([*words.split(), "--rows", "3000"]) == 0
    released = Schema.read(tmp_path / "out" / "schema.toml")
    assert released.rules == schema.rules
    fake = pds.datasets.read_csv(tmp_path / "out" / "synthetic.csv", released)
    assert not released.break_rules(released.encode(fake)).any()
    assert (fake["half"] <= fake["hours"]).all()
    card = (tmp_path / "out" / "card.md").read_text(encoding="utf-8")
    assert "which no row of the table breaks:\n\n- determines: degree" in card
