"""The credit card tables: the user's own file, the part of it, the stand-in; public bounds."""

import numpy as np
import pandas as pd
import pytest

from pdsynth import SchemaError
from pdsynth.datasets.loaders import FRAUD_ROWS, load_credit_default, load_credit_fraud
from pdsynth.datasets.tables import public_schema

FRAUDS = public_schema("credit_fraud")


def frauds(rows, **changed):
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=rows) for name in FRAUDS.names}
    columns["Time"] = rng.integers(0, 172_800, rows).astype(float)
    columns |= {"Amount": rng.random(rows) * 100, "Class": rng.integers(0, 2, rows)}
    return pd.DataFrame(columns | changed)


def test_a_users_own_file_comes_first(tmp_path):
    frauds(40).to_csv(tmp_path / "creditcard.csv", index=False)
    ours = load_credit_fraud(tmp_path)
    assert ours.frame.shape == (40, 31)
    assert (ours.target, ours.schema.source) == ("Class", "public")
    assert f"40 of the {FRAUD_ROWS:,} rows" in ours.note  # whatever isn't whole says so
    assert "can't be reproduced" in ours.note
    assert load_credit_fraud(tmp_path / "creditcard.csv").frame.equals(ours.frame)


def test_what_is_not_the_table_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"creditcard.csv.*Kaggle|Kaggle.*creditcard.csv"):
        load_credit_fraud(tmp_path)
    frauds(5).drop(columns="V3").to_csv(tmp_path / "creditcard.csv", index=False)
    with pytest.raises(ValueError, match=r"missing column.*V3"):
        load_credit_fraud(tmp_path)
    frauds(5, V3=200.0).to_csv(tmp_path / "creditcard.csv", index=False)
    with pytest.raises(SchemaError, match="'V3'"):
        load_credit_fraud(tmp_path)


def test_components_are_cut_symmetrically_into_datasynthesizers_20_bins():
    components = [a.edges for a in FRAUDS.attributes if a.name.startswith("V")]
    assert len(components) == 28
    assert set(components) == {components[0]}
    assert len(components[0]) == 21
    assert tuple(-e for e in reversed(components[0])) == components[0]


def test_the_part_and_the_stand_in(data_folder):
    part, other = load_credit_fraud(data_folder), load_credit_default(data_folder)
    if len(part.frame) != FRAUD_ROWS:
        assert (len(part.frame), int(part.frame["Class"].sum())) == (14_019, 492)
        assert "not a uniform sample" in part.note
    assert other.frame.shape == (30_000, 24)
    assert int(other.frame[other.target].sum()) == 6_636
    for ours in (part, other):
        codes = ours.schema.encode(ours.frame)
        assert all(len(np.unique(codes[:, j])) > 1 for j in range(codes.shape[1]))
    zero = (other.frame["PAY_AMT1"] == 0).to_numpy()
    uniforms = np.random.default_rng(0).random(other.frame.shape)
    back = other.schema.decode(other.schema.encode(other.frame), uniforms)
    assert (back["PAY_AMT1"].to_numpy() == 0).tolist() == zero.tolist()
