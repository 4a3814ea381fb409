"""Samples of a model in which some attributes hold what is asked: exactly, or by rejection."""

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import pandas as pd

from .attribute import Attribute
from .errors import SchemaError, show
from .factors import Impossible, condition
from .network import Network
from .schema import Schema

DRAWS = 1000  # records that rejection draws for each one asked for, and


LEAST_DRAWS = 100_000


CHUNK = 2**18


class Given:
    """A model under a condition: every record that it draws meets it.

    ``where``: ``{attribute: value or list of values}``; None asks for a missing value. Of a numeric
    attribute a bin's label asks for that bin, one number for exactly that number, whose bin decides
    about the other attributes. Networks over attributes are conditioned exactly; where that takes
    tables of more than 2^22 cells, or the network stands over bits, records that don't meet the
    condition are drawn again: at most 1,000 for each one asked for (and 100,000 in all).

    Raises SchemaError for attributes and values that aren't declared, for a condition without any
    mass in the model, and where rejection finds too few.

    **Privacy:** post-processing of the release; costs nothing.
    """

    def __init__(self, model: Any, where: Any) -> None:
        self.model, self.schema = model, model.schema
        self.evidence, self.numbers = read_where(model.schema, where)
        self.words = f"where={show(where)}"
        self.exact = None if model.encoding is not None else self._condition()

    def _condition(self) -> Any:
        """The model with the conditioned network in place of its own, or None."""
        schema, pairs = self.schema, self.model.network.pairs
        index = schema.index
        tables = [
            self.model.conditionals[child] if isinstance(table, np.ndarray) else None
            for (child, _), table in zip(pairs, self.model.tables, strict=True)
        ]
        columns = [(index(child), tuple(map(index, parents))) for child, parents in pairs]
        evidence = {index(name): mask for name, mask in self.evidence.items()}
        try:
            families = condition(columns, tables, schema.sizes, evidence)
        except Impossible:
            raise SchemaError(
                f"{self.words}: the model gives this no mass, so no record can have "
                "it: loosen the condition"
            ) from None
        if families is None:
            return None
        own = dict(zip(self.model.network.order, self.model.tables, strict=True))
        network = Network.of_columns([family[:2] for family in families], schema.names)
        conditioned = copy(self.model)
        conditioned.__dict__.update(
            network=network,
            conditionals=self.model.conditionals
            | {schema.names[family.child]: family.p for family in families if family.p is not None},
            tables=tuple(
                own[name] if family.p is None else family.p
                for name, family in zip(network.order, families, strict=True)
            ),
        )
        return conditioned

    def meets(self, codes: np.ndarray) -> np.ndarray:
        """Which records (n, d) meet the condition: bool (n,)."""
        met = np.ones(len(codes), dtype=bool)
        for name, mask in self.evidence.items():
            met &= mask[codes[:, self.schema.index(name)]]
        return met

    def sample_codes(self, n: int, generator: np.random.Generator, *method: str) -> np.ndarray:
        """Codes of n records that meet the condition: uint8/uint16 (n, d), by column."""
        source = self.model if self.exact is None else self.exact
        if self.exact is None and "balanced" in method:
            raise SchemaError(
                f"{self.words} is met by drawing again here, which keeps no balance: "
                "use method='independent'"
            )
        kept, rest, drawn, most = [], n, 0, max(DRAWS * n, LEAST_DRAWS)
        while rest and drawn < most:  # once if exact, but for what rounding might let through
            size = rest if self.exact is not None else min(max(4 * rest, 4096), CHUNK, most - drawn)
            codes = source.sample_codes(size, generator, *method)
            kept.append(codes[self.meets(codes)][:rest])
            rest, drawn = rest - len(kept[-1]), drawn + size
        if rest:
            raise SchemaError(
                f"{self.words}: of {drawn:,} records only {n - rest:,} met the condition, {n:,} "
                "are asked for: loosen the condition, or take fewer rows"
            )
        return np.asfortranarray(np.concatenate(kept)) if len(kept) > 1 else kept[0]

    def place(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The table with the numbers that were asked for.

        **Privacy:** post-processing of a synthetic table.
        """
        for name, number in self.numbers.items():
            frame[name] = pd.Series(number, index=frame.index).astype(frame[name].dtype)
        return frame


def read_where(schema: Schema, where: Any) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Marked values (bool (|X|,)) by attribute, and the numbers asked for."""
    if not isinstance(where, Mapping) or not where:
        raise SchemaError(
            "where must be {attribute: value or list of values} with at least one "
            f"attribute, got {show(where)}"
        )
    evidence, numbers = dict[str, np.ndarray](), dict[str, float]()
    for name, asked in where.items():
        attribute = schema[name]
        several = isinstance(asked, (list, tuple, set, frozenset)) or getattr(asked, "ndim", 0) == 1
        values = list(asked) if several else [asked]
        if not values:
            raise SchemaError(f"where asks for no value of {name!r}: name at least one")
        mask = np.zeros(attribute.size, dtype=bool)
        for value in values:
            mask[_code(attribute, value)] = True
        evidence[name] = mask
        exact = [
            v
            for v in values
            if attribute.numeric_bins and not (isinstance(v, str) or _is_missing(v))
        ]
        if exact and len(values) > 1:
            raise SchemaError(
                f"where asks for several numbers of {name!r}: name its bins, such as "
                f"{attribute.labels[0]!r}, or one number"
            )
        if exact:
            numbers[name] = exact[0]
    return evidence, numbers


def _is_missing(value: Any) -> bool:
    return value is None or (
        not getattr(value, "ndim", 0) and pd.api.types.is_scalar(value) and bool(pd.isna(value))
    )


def _code(attribute: Attribute, value: Any) -> int:
    """Code of a value that a user names."""
    if _is_missing(value) and attribute.missing:
        return attribute.size - 1
    if attribute.numeric_bins and value in attribute.labels[: len(attribute.values)]:
        return attribute.labels.index(value)
    try:
        if not pd.api.types.is_scalar(value) or (
            attribute.numeric_bins and isinstance(value, (str, bool, np.bool_))
        ):
            raise SchemaError("no such value")
        return int(attribute.encode(pd.Series([value]))[0])
    except SchemaError:
        labels = ", ".join(attribute.labels[:8]) + (", …" if attribute.size > 8 else "")
        raise SchemaError(
            f"where: {attribute.name!r} has no value {show(value)}; it has {labels}"
        ) from None
