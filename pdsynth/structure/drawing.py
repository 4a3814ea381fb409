"""Values of many records from their distributions, each by one uniform number."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..errors import SchemaError, check_seed, door, is_one_of, is_whole, show

MOST_ROWS = 10**9  # of one sample; sample_to writes more
MOST_UNSAID = 10**7  # of them where only the model says how many
METHODS = "independent", "balanced"


def deal(key: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """One uniform number per record such that of the m records with one key each m-th of [0, 1)
    has one (systematic sampling): float (n,). Who gets which is a random order, so rows stay mixed.
    """
    order = generator.permutation(len(key))
    order = order[np.argsort(key[order], kind="stable")]
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    rows = np.diff(first, append=len(key))
    rank = np.arange(len(key)) - np.repeat(first - generator.random(len(rows)), rows)
    u = np.empty(len(key))
    u[order] = rank / np.repeat(rows, rows)
    return np.minimum(u, np.nextafter(1, 0))  # m − 1 + .999… may round to m


def draw(p: np.ndarray, key: np.ndarray, u: np.ndarray) -> np.ndarray:
    """One value per record from P(X | key), where a uniform number u falls."""
    cumulative = np.cumsum(p[:-1], axis=0)
    if len(p) > 48:  # binary search beats one pass per value
        steps = (cumulative / np.maximum(cumulative[-1:], 1)).T
        flat = (steps + np.arange(len(steps))[:, None]).ravel()
        found = np.searchsorted(flat, key + u, side="right") - key * steps.shape[1]
        return np.clip(found, 0, len(p) - 1)
    out = np.zeros(len(u), dtype=np.uint8)
    bound, above = np.empty(len(u)), np.empty(len(u), dtype=bool)
    for row in cumulative:
        np.take(row, key, out=bound, mode="clip")  # keys are in range: clipping skips the check
        out += np.greater_equal(u, bound, out=above).view(np.uint8)
    return out


class Sampling:
    """How a model gives tables: at once, or as a file."""

    schema: Any
    n: int

    def sample_codes(
        self, n: int, generator: np.random.Generator, method: str = "independent"
    ) -> np.ndarray:
        """Codes of n records: uint8/uint16 (n, d)."""
        raise NotImplementedError

    def sample(
        self,
        n: int | None = None,
        random_state: int | None = None,
        *,
        method: str = "independent",
        where: Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:
        """A synthetic table of n rows, the public number of records if None, as the schema says.

        Where that number is above ten million, a file says it that may be of anybody's making, so
        ``n`` must be said, too.

        ``method="independent"``: every row is drawn by itself, as textbooks' tests and intervals
        assume; any part of the table is such a table, too. ``"balanced"``: the rows of each parent
        configuration are dealt out to the values in proportion to P(X | Π), what is left over by
        systematic sampling, so each count is within one of its share and the table is closer to the
        model: the one to release. In both every row alone follows the model, in any place. Balanced
        rows depend on each other: for counts within one table of the network they are worth far
        more than n independent ones, for attributes that share no table about as many; intervals
        that take them for independent are too long, and a part of the table is no balanced one.

        ``where={"sex": "F"}``: all rows meet the condition, and the rest follows the model given
        that, see :class:`~pdsynth.structure.given.Given`. Raises SchemaError for what isn't
        declared or can't be met.

        **Privacy:** post-processing of the release; both methods, and conditions, cost nothing.
        """
        if n is None and self.n > MOST_UNSAID:
            raise SchemaError(
                f"the model says that there were {self.n:,} records, and sample() gives no more "
                f"than {MOST_UNSAID:,} rows unasked: say sample(n), or write a file with "
                "sample_to(path, n)"
            )
        n = self.n if n is None else n
        if not is_whole(n, 1, MOST_ROWS):
            raise SchemaError(
                "sample needs a whole number of rows, at least one and at most "
                f"{MOST_ROWS:,}, got n={show(n)}"
            )
        check_seed(random_state)
        generator = np.random.Generator(np.random.PCG64(random_state))
        source = self._source(where)
        codes = source.sample_codes(n, generator, method)
        binned = any(a.numeric_bins for a in self.schema.attributes)
        table = self.schema.decode(codes, generator.random(codes.shape) if binned else None)
        return table if where is None else source.place(table)

    def sample_to(
        self,
        path: Any,
        n: int | None = None,
        random_state: int | None = None,
        *,
        method: str = "independent",
        where: Mapping[str, Any] | None = None,
    ) -> None:
        """Write n synthetic rows to a ``.csv`` file, or one of columns, in bounded memory.

        Columns have the types that the schema declares; CSV is UTF-8, a missing value an empty
        cell. The file appears when it is whole. Rows come in units of 65,536, each with a stream of
        its own, so a seed gives the same rows on every machine, and the first n of a longer file
        are those of a shorter one up to whole units; they aren't those of :meth:`sample`. ``where``
        as there; ``method="balanced"`` is refused, since it deals out a whole table at once.

        **Privacy:** post-processing of the release; costs nothing.
        """
        if not is_one_of(method, ("independent",)):
            raise SchemaError(
                "sample_to draws rows independently, part by part: a balanced "
                "table is dealt out as a whole, so take sample(n, method='balanced')"
            )
        source = self._source(where)
        door("scale").write_sample(
            source.sample_codes,
            self.schema,
            path,
            self.n if n is None else n,
            random_state,
            None if where is None else source.place,
        )

    def _source(self, where: Mapping[str, Any] | None) -> Any:
        if where is None:
            return self
        from .given import Given  # noqa: PLC0415 - conditions are asked for rarely

        return Given(self, where)
