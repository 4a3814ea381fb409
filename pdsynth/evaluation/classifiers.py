"""The protocol of Hittmeir, Mayer and Ekelhart (2022): five classifiers."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..core import Attribute, Schema, SchemaError, check_schema, is_whole, needed_for, show
from .inputs import Table, check_choice, check_choices, check_most, sample_rows, seeded, to_codes
from .utility import feature_columns, majority_share, one_hot, support_vectors

CLASSIFIERS = ("NB", "SV", "KN", "RF", "LR")
"""Gaussian naive Bayes, support vectors (RBF), k nearest neighbours, random forest, logistic
regression."""
ENCODINGS = ("label", "one-hot")


def five_classifiers(
    synthetic: Table,
    real_test: Table,
    schema: Schema,
    target: str,
    *,
    encoding: str = "label",
    positive: Any = None,
    drop: Iterable[str] = (),
    classifiers: Sequence[str] = CLASSIFIERS,
    max_rows: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Train scikit-learn's defaults on ``synthetic``, test on held-out real rows (paper, §V-A).

    ``encoding="label"``: one number per attribute (texts in alphabetical order); ``"one-hot"``: a
    column for each value of a categorical one. Numbers stay numbers (a DataFrame's own; the middle
    of the bin where codes are given). All are scaled to mean 0 and variance 1 of the training rows.
    ``positive``: the value of ``target`` that is to be found; without it the second of two.
    ``max_rows``: at most so many training rows, drawn with ``seed``.

    Returns one row per classifier: ``classifier``, ``accuracy``, ``majority`` (of the tested rows),
    ``f2`` (NaN for more than two classes without ``positive``) and ``confusion`` (int64 array
    (c, c), true class by row, predicted by column).

    Raises SchemaError for unknown names, and where all tested rows have the same class; a synthetic
    table of one class is an answer, and gets what always saying that class gets.

    **Privacy:** reads the real test rows exactly; no guarantee covers it.
    """
    check_choices("classifiers", classifiers, CLASSIFIERS)
    check_most("max_rows", max_rows)
    seeded(seed)
    code, aim = _positive(check_schema(schema)[target], positive), schema.index(target)
    columns = [schema.names[j] for j in feature_columns(schema, target, drop)]
    taught, truth = (to_codes(table, schema) for table in (synthetic, real_test))
    if max_rows is not None and len(taught) > max_rows:
        sample = sample_rows(len(taught), max_rows, seed)
        taught = taught[sample]
        synthetic = synthetic.iloc[sample] if isinstance(synthetic, pd.DataFrame) else taught
    train, test = design(synthetic, real_test, schema, columns, encoding)
    learnt, truth = (codes[:, aim].astype(np.int64) for codes in (taught, truth))
    majority = majority_share(truth)
    if majority == 1:
        raise SchemaError(
            f"every tested record has the same {target!r}: there is nothing to "
            "predict; choose another target, or more rows"
        )
    classes = schema[target].size
    rows = []
    for name in classifiers:
        guessed = predict(name, train, learnt, test, seed)
        confusion = np.bincount(truth * classes + guessed, minlength=classes**2)
        confusion = confusion.reshape(classes, classes)
        score = float("nan") if code is None else f2(confusion, code)
        rows.append((name, float((guessed == truth).mean()), majority, score, confusion))
    names = ["classifier", "accuracy", "majority", "f2", "confusion"]
    return pd.DataFrame(rows, columns=names)


def _positive(attribute: Attribute, positive: Any) -> int | None:
    """Code of the positive class; None where there is none."""
    if positive is None:
        return 1 if attribute.size == 2 else None
    if str(positive) not in attribute.labels:
        raise SchemaError(
            f"positive must be a value of {attribute.name!r}, "
            f"{list(attribute.labels)}, got {show(positive)}"
        )
    return attribute.labels.index(str(positive))


def f2(confusion: np.ndarray, positive: int = 1) -> float:
    """F2 = 5TP / (5TP + 4FN + FP) of a confusion matrix (true by row, predicted by column).

    NaN where nothing is or was called positive.

    >>> round(100 * f2(np.array([[55626, 1224], [26, 86]])), 1)
    24.5
    """
    confusion = np.asarray(confusion)
    square = confusion.ndim == 2 and len({*confusion.shape}) == 1 and confusion.dtype.kind in "iuf"
    wrong = not square or not is_whole(positive, 0, len(confusion) - 1)
    if wrong or confusion.min() < 0:
        raise SchemaError(
            "f2 needs a square matrix of counts and the number of one of its rows, "
            f"got shape {confusion.shape} and positive={show(positive)}"
        )
    hit = int(confusion[positive, positive])
    # 5TP + 4FN + FP = TP + FP + 4(TP + FN)
    below = int(confusion[:, positive].sum() + 4 * confusion[positive].sum())
    return 5 * hit / below if below else float("nan")


def design(
    train: Table, test: Table, schema: Schema, columns: Sequence[str], encoding: str = "label"
) -> tuple[np.ndarray, np.ndarray]:
    """What a classifier sees: two float64 arrays (rows, features), scaled by the training rows."""
    check_choice("encoding", encoding, ENCODINGS)
    with needed_for("a classifier"):
        from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    numbers = scaler.fit_transform(_encode(train, schema, columns, encoding))
    return numbers, scaler.transform(_encode(test, schema, columns, encoding))


def _encode(table: Table, schema: Schema, columns: Sequence[str], encoding: str) -> np.ndarray:
    codes, parts = to_codes(table, schema), []
    frame = schema.take(table) if isinstance(table, pd.DataFrame) else None
    for name in columns:
        attribute, j = schema[name], schema.index(name)
        if attribute.edges is not None:
            numbers = (
                attribute.reader.numbers(frame[name])
                if frame is not None
                else attribute.decode(codes[:, j].astype(np.int64)).to_numpy(float, na_value=np.nan)
            )
            middle = (attribute.edges[0] + attribute.edges[-1]) / 2
            parts.append(np.where(np.isnan(numbers), middle, numbers))
        elif encoding == "one-hot":
            parts.append(one_hot(codes, schema, [j]).astype(np.float64))
        else:
            parts.append(_ranks(attribute)[codes[:, j]])
    return np.column_stack(parts)


def _ranks(attribute: Attribute) -> np.ndarray:
    """Rank of each code among the sorted values, a missing one last: float64 array (|X|,)."""
    values: Sequence[Any] = attribute.values
    if len({isinstance(value, str) for value in values}) > 1:
        values = [str(value) for value in values]
    ranks = np.arange(attribute.size, dtype=np.float64)
    ranks[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values))
    return ranks


def predict(
    classifier: str, train: np.ndarray, learnt: np.ndarray, test: np.ndarray, seed: int = 0
) -> np.ndarray:
    """Classes (t,) that a classifier taught on (s, f) and classes (s,) gives to tested rows (t, f).

    Equal tested rows are looked at once, and support vectors are learnt from different rows with
    weights: the same decision up to the solver's tolerance, sooner.
    """
    if len(np.unique(learnt)) == 1:
        return np.full(len(test), learnt[0])
    with needed_for("a classifier"):
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import KNeighborsClassifier

    points, inverse = np.unique(test, axis=0, return_inverse=True)
    if classifier == "SV":
        return support_vectors(train, learnt, points, distinct=True)[0][inverse]
    machine = {
        "NB": GaussianNB(),
        "KN": KNeighborsClassifier(),
        "LR": LogisticRegression(),
        "RF": RandomForestClassifier(random_state=seed),
    }[classifier]
    with warnings.catch_warnings():
        # the protocol takes the default number of iterations
        warnings.simplefilter("ignore", ConvergenceWarning)
        return machine.fit(train, learnt).predict(points)[inverse]
