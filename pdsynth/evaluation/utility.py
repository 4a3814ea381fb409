"""How well does a classifier trained on a synthetic table predict held-out real records?"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from ..core import (
    Schema,
    SchemaError,
    check_columns,
    check_schema,
    needed_for,
    number,
    show,
    to_list,
    to_names,
    warn,
)
from .inputs import Table, check_choice, check_most, sample_rows, seeded, to_codes

ACADEMIC_DEGREES = ("Bachelors", "Masters", "Doctorate")
"""Adult's education values that the thesis author's code likely predicts: the complement is .767
of its 27,504 records."""
POST_SECONDARY = (
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    *ACADEMIC_DEGREES[:2],
    "Prof-school",
    "Doctorate",
)
"""Adult's education values above high school: the positive class of the thesis' text."""
PROTOCOLS = ("train_synthetic_test_real", "self_test")
KERNELS = ("rbf", "linear")
BACKENDS = ("auto", "sklearnex", "sklearn")


@dataclass(frozen=True)
class Utility:
    """Rates in [0, 1], and how :func:`utility` measured them.

    ``majority``: accuracy of always saying the most frequent class of the tested rows; below it no
    classifier is of use.
    """

    accuracy: float
    majority: float
    protocol: str
    kernel: str
    backend: str
    train_rows: int
    test_rows: int

    @property
    def misclassification(self) -> float:
        """Share of tested rows that were classified wrongly."""
        return 1 - self.accuracy


def split(
    frame: pd.DataFrame, test: float | Fraction = Fraction(1, 3), seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table cut at random into (train, test), index and order of the rows kept.

    ``test``: the share of test rows; 1/3 in the thesis, 1/5 in Zhang et al. 2017.

    **Privacy:** rows only move; hold the test part back from every fit whose table it is to judge.
    """
    check_columns(frame)
    tested = split_mask(len(frame), test, seed)
    return frame[~tested], frame[tested]


def split_mask(n: int, test: float | Fraction, seed: int | list[int]) -> np.ndarray:
    """Which of n rows are test rows: bool array (n,)."""
    part = number("test", test)
    rows = round(n * part) if 0 < part < 1 else 0
    if not 0 < rows < n:
        raise SchemaError(
            f"test={show(test)} of {n:,} rows leaves {rows:,} to test on; "
            "both parts need at least one row"
        )
    tested = np.zeros(n, dtype=bool)
    tested[seeded(seed).permutation(n)[:rows]] = True
    return tested


def utility(
    synthetic: Table,
    real_test: Table | None,
    schema: Schema,
    target: str,
    protocol: str = "train_synthetic_test_real",
    *,
    positive: Iterable[Any] | None = None,
    drop: Iterable[str] = (),
    kernel: str = "rbf",
    C: float = 1,  # noqa: N803  (scikit-learn's name)
    max_rows: int | None = 10_000,
    seed: int = 0,
    backend: str = "auto",
) -> Utility:
    """Accuracy of a C-SVM on one-hot codes, trained on ``synthetic``, tested on held-out real rows.

    Thesis, Figure 4. ``positive``: the values of ``target`` that make the positive class; None
    takes :data:`POST_SECONDARY` for Adult's education, else every value as a class of its own.
    ``drop``: attributes the classifier may not see (the thesis keeps education-num, which nearly
    gives education away). ``kernel="linear"`` (squared hinge) is the fast stand-in for live panels.
    At most ``max_rows`` training rows are used, drawn with the public ``seed``. ``backend``:
    scikit-learn-intelex where it is installed, else scikit-learn (same accuracy, slower).

    PITFALL ``protocol="self_test"`` (the published code): trains on 4/5 and tests on 1/5 of the
    *synthetic* table, so it can't see a table that is wrong; it warns, and ignores ``real_test``.

    Raises SchemaError for an unknown target, class, protocol or kernel.

    **Privacy:** reads the real test rows exactly; no guarantee covers it.
    """
    check_choice("protocol", protocol, PROTOCOLS)
    check_choice("kernel", kernel, KERNELS)
    check_choice("backend", backend, BACKENDS)
    check_most("max_rows", max_rows)
    seeded(seed)
    if not Fraction(1, 10**6) <= number("C", C) <= 10**6:
        raise SchemaError(f"C must lie between 1e-6 and 1e6, got {show(C)}")
    train = to_codes(synthetic, schema)
    if protocol == "self_test":
        warn("self_test never looks at real records: it can't see that a synthetic table is wrong")
        tested = split_mask(len(train), Fraction(1, 5), seed)
        train, test = train[~tested], train[tested]
    elif real_test is None:
        raise SchemaError(
            "train_synthetic_test_real needs held-out real rows: "
            "utility(synthetic, real_test, schema, target)"
        )
    else:
        test = to_codes(real_test, schema)
    if max_rows is not None and len(train) > max_rows:
        train = train[sample_rows(len(train), max_rows, seed)]
    classes, columns = _classes(schema, target, positive), feature_columns(schema, target, drop)
    learnt, truth = (classes[codes[:, schema.index(target)]] for codes in (train, test))
    features = [one_hot(codes, schema, columns) for codes in (train, test)]
    penalty = float(number("C", C))
    guessed, used = _classify(features[0], learnt, features[1], kernel, penalty, backend)
    accuracy, majority = float((guessed == truth).mean()), majority_share(truth)
    return Utility(accuracy, majority, protocol, kernel, used, len(train), len(test))


def majority_share(truth: np.ndarray) -> float:
    """Share of the most frequent class."""
    return float(np.bincount(truth).max() / len(truth))


def feature_columns(schema: Schema, target: str, drop: Iterable[str]) -> list[int]:
    """Columns that a classifier of ``target`` may see; SchemaError where none are left."""
    check_schema(schema)
    hidden = {schema.index(name) for name in (target, *to_names("drop", drop))}
    columns = [j for j in range(len(schema)) if j not in hidden]
    if not columns:
        raise SchemaError(
            f"target {target!r} and drop leave the classifier no attribute to look at"
        )
    return columns


def _classes(schema: Schema, target: str, positive: Iterable[Any] | None) -> np.ndarray:
    """Class of each code of the target: int64 array (|X|,)."""
    labels = schema[target].labels
    if positive is None and target == "education" and set(POST_SECONDARY) <= set(labels):
        positive = POST_SECONDARY
    if positive is None:
        return np.arange(len(labels))
    kind = f"a list of values of {target!r}"
    values = {str(value) for value in to_list("positive", positive, SchemaError, kind)}
    if not values or not values < set(labels):
        raise SchemaError(
            f"positive must be some but not all values of {target!r}; "
            f"got {sorted(values)}, it has {list(labels)}"
        )
    return np.array([label in values for label in labels], dtype=np.int64)


def one_hot(codes: np.ndarray, schema: Schema, columns: Iterable[int]) -> np.ndarray:
    """One 0/1 column for each value of each of the columns: float32 array (n, Σ|X|)."""
    return np.hstack([np.eye(schema.sizes[j], dtype=np.float32)[codes[:, j]] for j in columns])


def _classify(
    train: np.ndarray,
    learnt: np.ndarray,
    test: np.ndarray,
    kernel: str,
    penalty: float,
    backend: str,
) -> tuple[np.ndarray, str]:
    """Classes of the test rows, and what found them."""
    if len(np.unique(learnt)) == 1:
        return np.full(len(test), learnt[0]), "one class only"
    if kernel == "linear":
        with needed_for("a classifier"):
            from sklearn.svm import LinearSVC

        # the primal problem: the dual one with the plain hinge takes minutes on noisy tables
        machine = LinearSVC(C=penalty, dual=False).fit(train, learnt)
        return machine.predict(test), "sklearn linear"
    return support_vectors(train, learnt, test, backend=backend, penalty=penalty)


def support_vectors(
    train: np.ndarray,
    learnt: np.ndarray,
    test: np.ndarray,
    *,
    backend: str = "auto",
    penalty: float = 1,
    distinct: bool = False,
) -> tuple[np.ndarray, str]:
    """Classes that an RBF machine gives to the test rows, and the backend used.

    ``distinct``: learn from different rows with weights, sooner. Two classes are told apart by
    matrix products, about nine times faster than scikit-learn's own predict.
    """
    machine, used = _machine(backend)
    gamma = 1 / (train.shape[1] * float(train.var(dtype=np.float64)) or 1.0)  # gamma="scale"
    weights = None
    if distinct:
        rows = np.column_stack([train, learnt])
        rows, weights = np.unique(rows, axis=0, return_counts=True)
        train, learnt = rows[:, :-1], rows[:, -1].astype(np.int64)
    model = machine(C=penalty, gamma=gamma, cache_size=500)
    model.fit(train, learnt, sample_weight=weights)
    if used == "sklearnex" or len(model.classes_) != 2:
        return model.predict(test), used
    support, side = model.support_vectors_, np.empty(len(test))
    norms = (support * support).sum(axis=1)
    for start in range(0, len(test), 512):
        rows = test[start : start + 512]
        apart = (rows * rows).sum(axis=1)[:, None] + norms - 2 * (rows @ support.T)
        kernel = np.exp(-gamma * apart)
        side[start : start + 512] = kernel @ model.dual_coef_[0] + model.intercept_[0]
    return model.classes_[(side > 0).astype(int)], used


def _machine(backend: str) -> tuple[Any, str]:
    if backend != "sklearn":
        try:
            with needed_for("backend='sklearnex'", "take backend='sklearn'"):
                from sklearnex.svm import SVC
            return SVC, "sklearnex"
        except ImportError:
            if backend == "sklearnex":
                raise
    with needed_for("a classifier"):
        from sklearn.svm import SVC
    return SVC, "sklearn"
