"""The utility protocol of Hittmeir, Mayer and Ekelhart (2022): five classifiers of scikit-learn as they come (`algorithms` §12.5)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..domain.schema import Attribute, Schema
from ..errors import SchemaError
from .marginals import Table, coded
from .utility import _features, _machine, _predict, one_hot

CLASSIFIERS = ("NB", "SV", "KN", "RF", "LR")
"""Gaussian naive Bayes, support vectors (RBF), k nearest neighbours, random forest, logistic regression."""
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
    """Train five classifiers with scikit-learn's defaults on ``synthetic``, test them on held-out real rows (paper, §V-A).

    ``encoding="label"``: one number an attribute (texts in alphabetical order); ``"one-hot"``: a column for each value of a
    categorical one. Numbers stay numbers (a DataFrame's own; the middle of the bin where codes are given). Everything is then
    scaled to mean 0 and variance 1 of the training rows. ``positive``: the value of ``target`` that is to be found; without
    it the second of a two-valued target. ``max_rows``: at most so many training rows, drawn with ``seed``.

    Returns one row a classifier: ``classifier``, ``accuracy``, ``majority`` (of the tested rows), ``f2`` (NaN for more than two
    classes without ``positive``) and ``confusion`` (int64 array (c, c), true class by row, predicted by column).

    Raises SchemaError for unknown names, encodings, classifiers or classes, and where all tested rows have the same class; a
    synthetic table of one class is an answer, and gets what always saying that class gets.

    **Privacy:** reads the real test rows exactly; an evaluation for those who may see them, outside every guarantee.
    """
    unknown = [name for name in classifiers if name not in CLASSIFIERS]
    if unknown or not classifiers:
        raise SchemaError(f"classifiers must be some of {CLASSIFIERS}, got {list(classifiers)}")
    wanted = _positive(schema[target], positive)
    columns = [schema.names[j] for j in _features(schema, target, drop)]
    if max_rows is not None and len(synthetic_codes := coded(synthetic, schema)) > max_rows:
        chosen = np.sort(np.random.default_rng(seed).choice(len(synthetic_codes), max_rows, replace=False))
        synthetic = synthetic.iloc[chosen] if isinstance(synthetic, pd.DataFrame) else synthetic_codes[chosen]
    train, test = design(synthetic, real_test, schema, columns, encoding)
    learnt, truth = (coded(t, schema)[:, schema.index(target)].astype(np.int64) for t in (synthetic, real_test))
    if len(truth) == 0 or (truth == truth[0]).all():
        raise SchemaError(f"every tested record has the same {target!r}: there is nothing to predict; choose another target, or more rows")
    classes = schema[target].size
    rows = []
    for name in classifiers:
        said = predict(name, train, learnt, test, seed)
        confusion = np.bincount(truth * classes + said, minlength=classes**2).reshape(classes, classes)
        score = f2(confusion, wanted) if wanted is not None else float("nan")
        rows.append((name, float((said == truth).mean()), float(np.bincount(truth).max() / len(truth)), score, confusion))
    return pd.DataFrame(rows, columns=["classifier", "accuracy", "majority", "f2", "confusion"])


def _positive(attribute: Attribute, positive: Any) -> int | None:
    """Code of the positive class; None where there is none."""
    if positive is not None:
        if str(positive) not in attribute.labels:
            raise SchemaError(f"positive must be a value of {attribute.name!r}, {list(attribute.labels)}, got {positive!r}")
        return attribute.labels.index(str(positive))
    return 1 if attribute.size == 2 else None


def f2(confusion: np.ndarray, positive: int = 1) -> float:
    """F2 = 5TP / (5TP + 4FN + FP) of a confusion matrix (true by row, predicted by column); NaN where nothing is or was called positive.

    >>> round(100 * f2(np.array([[55626, 1224], [26, 86]])), 1)
    24.5
    """
    hit = int(confusion[positive, positive])
    missed, false = int(confusion[positive].sum()) - hit, int(confusion[:, positive].sum()) - hit
    below = 5 * hit + 4 * missed + false
    return 5 * hit / below if below else float("nan")


def design(train: Table, test: Table, schema: Schema, columns: Sequence[str], encoding: str = "label") -> tuple[np.ndarray, np.ndarray]:
    """What a classifier sees: two float64 arrays (rows, features), scaled to mean 0 and variance 1 of the training rows."""
    if encoding not in ENCODINGS:
        raise SchemaError(f"encoding must be one of {ENCODINGS}, got {encoding!r}")
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    return scaler.fit_transform(_encoded(train, schema, columns, encoding)), scaler.transform(_encoded(test, schema, columns, encoding))


def _encoded(table: Table, schema: Schema, columns: Sequence[str], encoding: str) -> np.ndarray:
    codes, parts = coded(table, schema), []
    for name in columns:
        attribute, j = schema[name], schema.index(name)
        if encoding == "one-hot" and attribute.edges is None:
            parts.append(one_hot(codes, schema, [j]).astype(np.float64))
        else:
            column = table[name] if isinstance(table, pd.DataFrame) else None
            parts.append(_numbers(attribute, codes[:, j].astype(np.int64), column)[:, None])
    return np.concatenate(parts, axis=1)


def _numbers(attribute: Attribute, codes: np.ndarray, column: pd.Series | None) -> np.ndarray:
    """One number a record: its rank among the sorted values, or the number itself."""
    if attribute.edges is None:
        values = attribute.values
        plain = all(isinstance(v, str) for v in values) or not any(isinstance(v, str) for v in values)
        order = sorted(range(len(values)), key=lambda c: values[c] if plain else str(values[c]))
        rank = np.empty(attribute.size)
        rank[order], rank[len(values) :] = np.arange(len(values)), len(values)  # missing is the last value
        return rank[codes]
    numbers = (attribute.decode(codes) if column is None else column).to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isnan(numbers), (attribute.edges[0] + attribute.edges[-1]) / 2, numbers)


def predict(classifier: str, train: np.ndarray, learnt: np.ndarray, test: np.ndarray, seed: int = 0) -> np.ndarray:
    """Classes (t,) that a classifier taught on (s, f) and classes (s,) gives to the tested rows (t, f).

    Every tested row that occurs more than once is looked at once, and support vectors are learnt from different rows with
    weights (by scikit-learn-intelex where it is installed): the same decision up to the solver's tolerance, sooner.
    """
    if len(np.unique(learnt)) == 1:
        return np.full(len(test), learnt[0])
    from sklearn.exceptions import ConvergenceWarning

    asked, inverse = np.unique(test, axis=0, return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the protocol takes the default number of iterations
        if classifier == "SV":
            return _support(train, learnt, asked)[inverse]
        return _classifier(classifier, seed).fit(train, learnt).predict(asked)[inverse]


def _classifier(classifier: str, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier

    if classifier == "RF":
        return RandomForestClassifier(random_state=seed)
    return {"NB": GaussianNB, "KN": KNeighborsClassifier, "LR": LogisticRegression}[classifier]()


def _support(train: np.ndarray, learnt: np.ndarray, test: np.ndarray) -> np.ndarray:
    machine, used = _machine("auto")
    # what gamma="scale" means for the whole table
    spread = train.shape[1] * float(train.var()) or 1.0
    both, weights = np.unique(np.column_stack([train, learnt]), axis=0, return_counts=True)
    model = machine(gamma=1 / spread, cache_size=500).fit(both[:, :-1], both[:, -1].astype(np.int64), sample_weight=weights)
    return _predict(model, test, 1 / spread) if used == "sklearn" and len(model.classes_) == 2 else model.predict(test)
