"""Five classifiers as scikit-learn has them: the same answers as its own pipeline, the paper's own
arithmetic."""

import itertools

import numpy as np
import pandas as pd
import pytest

from pdsynth import Attribute, Schema, SchemaError
from pdsynth.evaluation.classifiers import CLASSIFIERS, design, f2, five_classifiers, predict
from pdsynth.evaluation.disclosure import disclosure_risk
from pdsynth.evaluation.numbers import compare_numbers

# Table VII of the paper: (TN, FP, FN, TP) of NB, SV, KN, RF and LR, and the average F2 in per cent
# that stands beside them.
TABLE_VII = {
    "Original": (
        "55626 1224 26 86, 56840 10 33 79, 56845 5 25 87, 56848 2 32 80, 56836 14 26 86",
        66.5,
    ),
    "1 DS": (
        "55218 1632 16 96, 56846 4 58 54, 56846 4 55 57, 56828 22 64 48, 56783 67 29 83",
        49.4,
    ),
    "1 GA": (
        "55132 1718 17 95, 56846 4 51 61, 56845 5 53 59, 56830 20 43 69, 56784 66 29 83",
        54.4,
    ),
    "2 DS": ("55298 1552 20 92, 56841 9 42 70, 56842 8 39 73, 56842 8 37 75, 56803 47 30 82", 59.8),
    "2 GA": (
        "55368 1482 24 88, 56844 6 50 62, 56842 8 34 78, 56836 14 33 79, 56770 80 27 85",
        59.4,
    ),
    "3 DS": (
        "55205 1645 23 89, 56850 0 112 0, 56837 13 43 69, 56833 17 58 54, 56774 76 32 80",
        40.7,
    ),
    "3 GA": (
        "55376 1474 25 87, 56846 4 48 64, 56842 8 43 69, 56838 12 42 70, 56821 29 32 80",
        57.4,
    ),
}


@pytest.mark.parametrize("row", TABLE_VII)
def test_f2_gives_the_papers_averages(row):
    text, average = TABLE_VII[row]
    found = [f2(np.array(list(map(int, cells.split()))).reshape(2, 2)) for cells in text.split(",")]
    assert 100 * np.mean(found) == pytest.approx(average, abs=0.06)


def test_f2_of_a_2_x_2_by_hand_and_of_no_counts():
    """TP 4, FN 2, FP 1: 20 / (20 + 8 + 1)."""
    assert f2(np.array([[3, 1], [2, 4]])) == pytest.approx(20 / 29)
    with pytest.raises(SchemaError, match="matrix of counts"):
        f2(np.array([[3, -1], [2, 4]]))


def test_f2_of_the_other_class_and_of_nothing():
    assert f2(np.array([[3, 1], [2, 4]]), 0) == 15 / (15 + 4 * 1 + 2)
    assert f2(np.array([[0, 0], [5, 0]])) == 0
    assert np.isnan(f2(np.array([[5, 0], [0, 0]])))


def test_label_encoding_is_sklearns_and_numbers_stay_numbers(adult):
    from sklearn.preprocessing import LabelEncoder, StandardScaler

    frame = adult.frame.head(3_000)
    columns = ["age", "workclass", "sex", "education-num"]
    ours, _ = design(frame, frame, adult.schema, columns)
    texts = {c: LabelEncoder().fit(list(adult.schema[c].values)) for c in ("workclass", "sex")}
    raw = np.column_stack(
        [texts[c].transform(frame[c]) if c in texts else frame[c] for c in columns]
    ).astype(float)
    np.testing.assert_allclose(ours, StandardScaler().fit_transform(raw))


def test_codes_stand_in_the_middle_of_their_bins(cmc):
    codes = cmc.schema.encode(cmc.frame)
    middle, _ = design(codes, codes, cmc.schema, ["wife_age"])
    exact, _ = design(cmc.frame, cmc.frame, cmc.schema, ["wife_age"])
    assert len(np.unique(middle)) == 7
    assert len(np.unique(exact)) == cmc.frame["wife_age"].nunique()
    assert np.corrcoef(middle[:, 0], exact[:, 0])[0, 1] > 0.97


def test_one_hot_and_missing_values():
    schema = Schema(
        (
            Attribute.categorical("c", ["b", "a"], missing=True),
            Attribute.numeric("x", 0, 10, bins=5, missing=True),
            Attribute.categorical("y", [0, 1]),
        )
    )
    frame = pd.DataFrame(
        {"c": ["a", "b", None, "a"], "x": [1.0, 9.0, np.nan, 3.0], "y": [0, 1, 1, 0]}
    )
    wide, _ = design(frame, frame, schema, ["c", "x"], "one-hot")
    flat, _ = design(frame, frame, schema, ["c", "x"])
    assert (wide.shape, flat.shape) == ((4, 4), (4, 2))
    assert np.argsort(flat[:, 0]).tolist() == [0, 3, 1, 2]  # a, a, b, missing
    assert np.isfinite(wide).all()
    with pytest.raises(SchemaError, match="encoding"):
        design(frame, frame, schema, ["c"], "binary")


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_the_same_predictions_as_sklearns_own(cmc, classifier):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    theirs = {
        "NB": GaussianNB(),
        "SV": SVC(),
        "KN": KNeighborsClassifier(),
        "RF": RandomForestClassifier(random_state=5),
        "LR": LogisticRegression(),
    }
    columns = ["wife_age", "wife_education", "children"]
    x, z = design(cmc.frame.head(1_000), cmc.frame.tail(473), cmc.schema, columns)
    y = cmc.frame["method"].to_numpy()[:1_000] - 1
    expected = theirs[classifier].fit(x, y).predict(z)
    assert (
        predict(classifier, x, y, z, 5) == expected
    ).mean() > 0.99  # support vectors from weights end within the solver's tolerance


def test_two_classes_take_the_short_way_to_the_same_support_vectors(cmc):
    from sklearn.svm import SVC

    columns = ["wife_age", "wife_education", "children"]
    x, z = design(cmc.frame.head(1_000), cmc.frame.tail(473), cmc.schema, columns)
    y = (cmc.frame["method"].to_numpy()[:1_000] == 1).astype(int)
    assert (predict("SV", x, y, z) == SVC().fit(x, y).predict(z)).mean() > 0.99


def test_the_protocol_reports_each_classifier(cmc):
    train, test = cmc.frame.head(1_178), cmc.frame.tail(295)
    found = five_classifiers(train, test, cmc.schema, "method")
    assert found["classifier"].tolist() == list(CLASSIFIERS)
    for row in found.itertuples():
        assert row.confusion.sum() == 295
        assert np.trace(row.confusion) / 295 == row.accuracy
        assert (
            row.confusion.sum(axis=1).tolist()
            == test["method"].value_counts().sort_index().tolist()
        )
    assert found["f2"].isna().all()  # three classes, none of them asked for
    assert found["majority"].nunique() == 1
    again = five_classifiers(
        train,
        test,
        cmc.schema,
        "method",
        positive=2,
        classifiers=("NB",),
        drop=["media_exposure"],
        encoding="one-hot",
    )
    assert again["f2"].iloc[0] == f2(again["confusion"].iloc[0], 1)
    short = five_classifiers(
        train, test, cmc.schema, "method", classifiers=("LR",), max_rows=100, seed=1
    )
    assert short["accuracy"].iloc[0] != found["accuracy"].iloc[4]


def test_the_second_of_two_classes_is_the_one_to_find():
    schema = Schema((Attribute.categorical("x", [0, 1]), Attribute.categorical("y", ["no", "yes"])))
    train, test = np.array([[0, 0], [1, 1]] * 20), np.array([[0, 0], [1, 1], [0, 1], [0, 0]])
    found = five_classifiers(train, test, schema, "y", classifiers=("LR", "SV"))
    assert found["f2"].tolist() == [5 / 9, 5 / 9]
    blind = five_classifiers(np.array([[0, 0], [1, 0]] * 5), test, schema, "y", classifiers=("SV",))
    assert (
        blind["confusion"].iloc[0][:, 1].sum() == 0
    )  # a table without that class teaches nobody to find it
    assert blind["f2"].iloc[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classifiers": ("XG",)}, "classifiers"),
        ({"classifiers": ()}, "classifiers"),
        ({"positive": 7}, "positive"),
        ({"encoding": "x"}, "encoding"),
        ({"drop": ["q"]}, "no attribute 'q'"),
    ],
)
def test_what_does_not_exist_is_refused(cmc, options, message):
    with pytest.raises(SchemaError, match=message):
        five_classifiers(cmc.frame.head(50), cmc.frame.tail(50), cmc.schema, "method", **options)


def test_tested_rows_of_one_class_are_refused_and_a_synthetic_table_of_one_class_is_an_answer(cmc):
    kept = cmc.frame["method"] == cmc.frame["method"].iloc[0]
    with pytest.raises(
        SchemaError, match="every tested record has the same 'method'.*another target"
    ):
        five_classifiers(
            cmc.frame.head(50), cmc.frame[kept], cmc.schema, "method", classifiers=("NB",)
        )
    found = five_classifiers(
        cmc.frame[kept].head(50), cmc.frame[::20], cmc.schema, "method", classifiers=("NB",)
    )
    assert found["accuracy"].iloc[0] == kept[::20].mean()


def test_a_number_that_has_a_bin_of_its_own_is_nowhere_else_in_it():
    """Its median may jump from 1 to 2 with a few records, and distances see all of that."""
    schema = Schema(
        [
            Attribute.numeric("year", 1, 2, bins=2, integer=True),
            Attribute.numeric("quarter", 1, 4, bins=3, integer=True),
            Attribute.numeric("pay", 0, 9, bins=2),
        ]
    )
    real = pd.DataFrame({"year": [1, 2], "quarter": [1, 4], "pay": [1.0, 5.0]})
    table = compare_numbers(real, real.assign(year=2), schema)
    assert set(table.index) == {"quarter", "pay"}
    assert compare_numbers(real, real, schema.select(["year"])) is None


def test_raw_cells_of_numbers_are_read_as_the_schema_says():
    """Units, dates and codes of no answer, as a file has them; the same numbers give the same."""
    rng = np.random.default_rng(0)
    weight, year, hours = rng.integers(40, 150, 200), rng.integers(1950, 2000, 200), rng.random(200)
    told = np.where(np.arange(200) % 9 == 0, -9.0, hours * 40)
    numeric = Attribute.numeric
    schema = Schema(
        [
            numeric("kg", 30, 200, unit="kg", column="weight in kg"),
            numeric("born", 1940, 2010, date="year", format="%d.%m.%Y"),
            numeric("hours", 0, 80, na_values=["-9"], missing=True),
            numeric("pay", 0, 100, empty=0, clip=True),
            Attribute.categorical("sex", ["f", "m"]),
        ]
    )
    sex = np.where(weight > 80, "m", "f")
    raw = pd.DataFrame(
        {
            "weight in kg": [f"{x} kg" for x in weight],
            "born": [f"01.02.{x}" for x in year],
            "hours": told,
            "pay": np.where(hours < 0.2, np.nan, hours * 200),
            "sex": sex,
        }
    )
    pay = np.where(hours < 0.2, 0, np.minimum(hours * 200, 100))
    read = pd.DataFrame({"kg": weight, "born": year, "hours": told, "pay": pay, "sex": sex})
    read.loc[told < 0, "hours"] = np.nan
    names = ["kg", "born", "hours", "pay"]
    for one, two in itertools.product((raw, read), repeat=2):
        train, test = design(one, two, schema, names)
        assert train == pytest.approx(test) and len(train) == 200
        table = compare_numbers(one, two, schema)
        assert (table["mean, records"] == table["mean, release"]).all()
        assert table.loc["hours", "mean, records"] == pytest.approx(told[told >= 0].mean())
        assert table.loc["pay", "median, records"] == pytest.approx(np.median(pay))
    risk = disclosure_risk(raw, read, schema, names, "sex", attackers=["NB"])
    assert 0.5 < risk["accuracy"].item() <= 1
