"""Holders who don't show each other their records: one fit, as if a curator had all of them.

Each holder counts its own records, and adds its share of the noise to what it hands on. Only sums
over all holders become known. The shares sum to the noise that one curator would draw, exactly: see
:mod:`.shares`. So a fit costs what its ledger says, and is as near as a curator's.

Threat model. What is assumed: a secure computation that takes integers of all holders and shows
nothing but its result, and holders who follow the protocol, though some may put together what they
know (``honest``). Of tables and histograms the result is a sum. Of a choice, and of a sketch of
associations, it is a function of sums: scores, and the number of the largest. A recipe whose
network and groups are public asks for sums alone. Not covered: a holder who lies about its records
or leaves out its noise, and how the secure computation is done. Nothing here encrypts anything.

    fitted = holders.fit(pds.HPPrivBayes(1, sensitive="occupation"), [ours, theirs], schema)

``pds.plan(schema, n, 1, noise=holders.SharedNoise(2))`` foretells what such a fit would be worth.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..core import (
    BudgetError,
    Codes,
    Counter,
    Encoding,
    Noise,
    Recipe,
    Records,
    Schema,
    SchemaError,
    Split,
    check_schema,
    show,
)
from .collusion import losses
from .shares import SharedNoise, check_holders, draw_share

__all__ = ["SharedNoise", "Together", "draw_share", "fit", "losses", "together"]


class Together:
    """Sums over holders of what each counts, as :class:`~pdsynth.core.Counter`.

    **Privacy:** raw counts, for the door alone; a holder is asked for tables and for nothing else.
    """

    def __init__(self, holders: Sequence[Counter]) -> None:
        self._holders, self.sizes = holders, holders[0].sizes
        self.n = sum(holder.n for holder in holders)
        self.at_once = sum(holder.at_once for holder in holders)

    def tables(self, sets: Iterable[Split]) -> Iterator[np.ndarray]:
        """As :meth:`~pdsynth.core.Counter.tables`."""
        questions = list(sets)
        for parts in zip(*(holder.tables(questions) for holder in self._holders), strict=True):
            yield np.sum(parts, axis=0)

    def cells(self, sets: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """As :meth:`~pdsynth.core.Counter.cells`."""
        for parts in zip(*(holder.cells(sets) for holder in self._holders), strict=True):
            yield parts[0][0], np.sum([table for _, table in parts], axis=0)

    def encoded(self, encoding: Encoding) -> "Together":
        """As :meth:`~pdsynth.core.Counter.encoded`."""
        return Together([holder.encoded(encoding) for holder in self._holders])


def together(tables: Sequence[pd.DataFrame], schema: Schema) -> Records:
    """The records of some holders as a door asks them: by sums over all holders.

    ``tables``: the holders' DataFrames, one or more. SchemaError names the holder whose table
    doesn't fit.

    **Privacy:** raw records in, raw sums out; for a door alone.
    """
    check_schema(schema)
    holders = list[Codes]()
    for number, frame in enumerate(tables, 1):
        try:
            schema.check(frame, empty=True)
            codes = np.asfortranarray(schema.encode(frame, empty=True))
        except SchemaError as problem:
            raise SchemaError(f"holder {number}: {problem}") from problem
        holders.append(Codes(codes, schema.sizes))
    if not holders:
        raise SchemaError("tables must be a list, a DataFrame for each holder; it is empty")
    return Records(Together(holders), schema)


def fit(
    synthesizer: Any,
    tables: Sequence[pd.DataFrame],
    schema: Schema,
    *,
    honest: int | None = None,
    noise: Noise | None = None,
    session: Any = None,
    person_epsilon: None = None,
) -> Any:
    """A synthesizer, fitted on the records of several holders; returns it.

    ``tables``: one DataFrame for each of at least two holders. ``honest``: how many of them, at
    least, keep what they know to themselves; None: all. With fewer honest holders all add more
    noise, and the others can put together all that they know. ``noise``: a source in place of
    :class:`SharedNoise`, for a replay. ``session``: the account that is charged, as in ``fit``.
    ``random_state`` seeds all shares: NOT PRIVATE. SchemaError for private bins: their edges are
    chosen by records in one place. ``person_epsilon`` is refused with BudgetError: all persons have
    one ε here.

    **Privacy:** as ``synthesizer.fit`` on all records at once, for whoever sees the release, and
    for up to ``len(tables) − honest`` holders together. :func:`losses` says what more of them
    would learn. A person in the tables of m holders has m records: say ``records_per_person``.
    Selections are by permute-and-flip and tables have no zero-sum noise: those laws
    have shares. n, the number of all records, is public where a record is replaced.

    >>> import pandas as pd, pdsynth as pds
    >>> schema = pds.Schema(tuple(pds.Attribute.categorical(x, ["n", "y"]) for x in "ab"))
    >>> clinics = [pd.DataFrame({"a": list(x), "b": list(x)}) for x in ("nny", "ny")]
    >>> fit(pds.baselines.Independent(epsilon=1), clinics, schema).n_
    5
    """
    if person_epsilon is not None:
        raise BudgetError(
            "several holders fit with one ε for all persons: leave out person_epsilon, or fit in "
            "one place"
        )
    if not isinstance(synthesizer, Recipe):
        raise BudgetError(
            f"{show(synthesizer)} is no synthesizer: give an instance, as in PrivBayes(epsilon=1)"
        )
    if not isinstance(tables, Sequence):
        raise SchemaError(f"tables must be a list, a DataFrame for each holder; got {show(tables)}")
    needed = check_holders(len(tables), honest)
    if check_schema(schema).private:
        raise SchemaError(
            "several holders can't choose private bins together: declare their edges, from public "
            "knowledge"
        )
    if synthesizer.guarantee != "strict" or synthesizer.delta is not None:
        raise BudgetError(
            "several holders can fit with guarantee='strict' and pure ε only: what a paper reads "
            "raw, and Gaussian noise, has no shares here"
        )
    if synthesizer.noise != "exact":
        raise BudgetError(
            f"noise={synthesizer.noise!r} has no shares: several holders fit with noise='exact'"
        )
    source = noise
    if noise is None:
        source = SharedNoise(len(tables), honest, synthesizer.random_state)
    elif isinstance(noise, SharedNoise) and (noise.holders, noise.honest) != (len(tables), needed):
        raise BudgetError(
            f"noise= is shared by {noise.holders} holders, {noise.honest} of them honest, but this "
            f"fit has {len(tables)}, {needed} of them honest: leave it out"
        )
    failed = len(synthesizer.unfinished_)
    try:
        synthesizer.fit(together(tables, schema), noise=source, session=session)
        synthesizer.ledger_.holders = len(tables), needed
    finally:  # what a fit spent before it failed was drawn in shares, too
        for ledger in synthesizer.unfinished_[failed:]:
            ledger.holders = len(tables), needed
    return synthesizer
