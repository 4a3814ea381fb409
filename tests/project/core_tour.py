"""What works with the hard dependencies alone; run it in any environment: ``python core_tour.py``.

``tests/project/test_core.py`` runs it where every other package is blocked.
"""

import contextlib
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import pdsynth as pds


def make_table():
    """A schema by hand, and 200 made-up records."""
    attribute = pds.Attribute
    schema = pds.Schema(
        (
            attribute.categorical("sex", ["f", "m"]),
            attribute.categorical("job", ["care", "crafts", "trade"], missing=True),
            attribute.numeric("age", 18, 90, bins=6, integer=True),
            attribute.categorical("town", ["north", "south"]),
        )
    )
    codes = np.random.default_rng(7).integers(0, schema.sizes, size=(200, len(schema)))
    return schema, schema.decode(codes)


def main():
    """Every step of a first private table; an exception where one doesn't work."""
    schema, frame = make_table()
    schema.write("schema.toml")
    assert pds.Schema.read("schema.toml") == schema and schema._repr_html_()
    plan = pds.plan(schema, len(frame), 3)
    assert "ConsistentBayes" in str(plan) and plan._repr_html_()
    account = pds.Session(9, path="account.jsonl")
    methods = (pds.PrivBayes(1, k=1), pds.HPPrivBayes(1, k=1, sensitive="job"), plan.synthesizer())
    for method in methods:
        fitted = method.fit(frame, schema, session=account)
        fake = fitted.sample(50)
        assert list(fake) == list(frame) and len(fake) == 50
        assert str(float(fitted.ledger_.epsilon).__round__()) in str(fitted.ledger_)
        assert "<table" in fitted.ledger_._repr_html_() and "<svg" in fitted._repr_html_()
        fitted.model_.to_json("model.json")
        again = pds.Model.from_json("model.json")
        pd.testing.assert_frame_equal(
            again.sample(20, random_state=3), fitted.model_.sample(20, random_state=3)
        )
    assert account.spent == 5 and "5" in account._repr_html_()
    assert pds.Session.open("account.jsonl").spent == 5
    distance = pds.evaluate.marginal_distance(frame, fake, schema, 2)
    assert 0 <= float(np.mean(distance)) <= 1
    assert len(pds.datasets.load_adult().frame) == 48_842
    Path("table.csv").write_text(frame.to_csv(index=False), encoding="utf-8")
    assert len(pds.datasets.read_csv("table.csv", schema)) == 200


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        main()
    print("all of it works")
