"""What users of scikit-learn expect of an estimator: parameters, sample, face, tags, a target."""

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, Self

import numpy as np
import pandas as pd

from ..domain.schema import Schema
from ..errors import BudgetError, SchemaError, door
from ..model import Model
from ..privacy.ledger import NOT_STRICT


class Habits:
    """Parameters and samples of an estimator, how it shows itself, what scikit-learn asks it."""

    epsilon: Any
    guarantee: str
    noise: str
    random_state: Any
    model_: Model
    _sampled: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Constructor keywords and their values, as scikit-learn does."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor keywords; an unknown one raises BudgetError."""
        for name, value in params.items():
            if name not in self._parameter_names():
                raise BudgetError(
                    f"{type(self).__name__} has no parameter {name!r}; it has "
                    f"{', '.join(self._parameter_names())}"
                )
            setattr(self, name, value)
        return self

    def clone(self) -> Self:
        """An unfitted copy with the same parameters."""
        return type(self)(**self.get_params())

    @classmethod
    @cache  # a fit asks often
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def sample(
        self,
        n: int | None = None,
        random_state: Any = None,
        *,
        method: str = "independent",
        where: Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:
        """A synthetic table of n rows (None: as many as were fitted); costs nothing.

        ``method="balanced"`` takes most of the sampling error off; ``where={"sex": "F"}``: all rows
        meet the condition; see :meth:`.Model.sample`. A seeded synthesizer gives the same tables in
        the same order after each fit; ``random_state`` seeds this sample alone.

        **Privacy:** post-processing of the release.
        """
        seed = self._next_seed(random_state)
        return self.model_.sample(n, seed, method=method, where=where)

    def sample_to(
        self,
        path: Any,
        n: int | None = None,
        random_state: Any = None,
        *,
        method: str = "independent",
        where: Mapping[str, Any] | None = None,
    ) -> None:
        """Write n synthetic rows to a file in bounded memory, as :meth:`.Model.sample_to`.

        **Privacy:** post-processing of the release.
        """
        seed = self._next_seed(random_state)
        self.model_.sample_to(path, n, seed, method=method, where=where)

    def _next_seed(self, seed: Any) -> Any:
        """The seed of the next sample: the one given, else drawn from that of the fit, if any."""
        if "model_" not in vars(self):
            raise BudgetError(
                f"this {type(self).__name__} is not fitted yet: call "
                "fit(frame, schema=schema) first"
            )
        if seed is None:
            self._sampled += 1
        if seed is None and self.random_state is not None:
            seeds = [*np.atleast_1d(self.random_state).tolist(), 7919, self._sampled]
            seed = int(np.random.SeedSequence(seeds).generate_state(1, np.uint64)[0])
        return seed

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self).__init__).parameters
        given = {
            name: value
            for name, value in self.get_params().items()
            if name not in ("epsilon", "guarantee") and value != parameters[name].default
        }
        given = {"epsilon": self.epsilon, **given, "guarantee": self.guarantee}
        word = {guarantee: f" {said}" for guarantee, said in NOT_STRICT.items()}
        fitted = vars(self).get("model_")
        if self.random_state is not None or self.noise == "common":
            word["strict"] = " NOT PRIVATE: reproducible"
        elif fitted is not None and not fitted.private:  # whatever was set since
            word["strict"] = f", fitted: {fitted.verdict().split('.')[0]}"
        shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return f"{type(self).__name__}({shown}){word.get(self.guarantee, '')}"

    def _repr_html_(self) -> str:
        return str(door("files").show_recipe(self))

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # noqa: PLC0415 - asked by scikit-learn alone

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))


def join_target(data: Any, y: Any, schema: Any) -> tuple[Any, Any]:
    """The table and its schema from scikit-learn's ``(X, y, schema)``, or from ``(frame, schema)``.

    ``y`` with a name becomes a column of the table; it is one attribute more. In second place it
    may be the schema.

    **Privacy:** raw records in, raw records out.
    """
    if schema is None and not isinstance(y, (pd.Series, pd.DataFrame, np.ndarray, list, tuple)):
        return data, y  # the schema in second place
    if y is None:
        return data, schema
    columns = y.to_frame() if isinstance(y, pd.Series) else y
    named = isinstance(columns, pd.DataFrame) and not (isinstance(y, pd.Series) and y.name is None)
    if not named:
        raise SchemaError(
            f"y is a {type(y).__name__} without a name, but every column of a "
            "synthetic table needs one: give a Series with the name of its "
            "attribute, or put it into the table and leave y out"
        )
    if not isinstance(data, pd.DataFrame):
        raise SchemaError(f"y stands beside a DataFrame only, got {type(data).__name__}")
    twice = [str(name) for name in columns.columns if name in data.columns]
    if twice:
        raise SchemaError(
            f"y brings column(s) that the table has already: {twice}; leave y out, or drop them"
        )
    if not columns.index.equals(data.index):
        raise SchemaError(
            f"y has {len(columns):,} rows with another index than the table's "
            f"{len(data):,}: take both from the same frame"
        )
    joined = pd.concat([data, columns], axis=1)
    if isinstance(schema, Schema) and {*joined.columns} == {*schema.names}:
        joined = joined[list(schema.names)]
    return joined, schema
