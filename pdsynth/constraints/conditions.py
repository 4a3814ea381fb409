"""Samples of a model that keep the rules of its schema and hold what is asked: exactly, or by
rejection.
"""

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from ..core import (
    NEVER,
    Attribute,
    BinaryEncoding,
    CliqueTree,
    Columns,
    Distribution,
    Mask,
    Network,
    NoisyTable,
    Place,
    Schema,
    SchemaError,
    fit_tables,
    show,
)
from .conditioning import MOST_CELLS, Family, Impossible, above, condition
from .rules import code_of, is_missing, keep_rules, leave_beside, put_in_order

MOST_RESTORED = 2**20  # cells of a tree on which columns get their distributions back,
PRECISION = 1e-3  # to this part of n
ASTRAY = 1e-2  # of n: weights that miss the nearest distribution by more have run away
SWEEPS = 100  # times that all columns are weighed in turn, at most
ENDS = -700.0, 700.0  # of the logarithm of a weight against that of their median: all of a double
KEPT = 1e-3  # a model that gives the rules all but this part of its mass keeps them anyway
LEAST = 1e-9  # of a probability, where a model gives the rules no mass
DRAWS = 1000  # records that rejection draws for each one asked for, and
LEAST_DRAWS = 100_000  # in all; at once
CHUNK = 2**18
Weights = tuple[Columns, np.ndarray]  # of the values of a column, or of the cells of its bits


class Given:
    """A model under a condition: every record that it draws meets it.

    ``where``: ``{attribute: value or list of values}``; None asks for a missing value. Of a numeric
    attribute a bin's label asks for that bin, one number for exactly that number, whose bin decides
    about the other attributes. Networks over attributes are conditioned exactly; where that takes
    tables of more than 2^22 cells, or the network stands over bits, records that don't meet the
    condition are drawn again: at most 1,000 for each one asked for (and 100,000 in all).

    Rules of the schema are met in the same way, also without ``where`` (None). Over bits, what
    spells no value is no violation (``beside``): it gets a value as without rules, and is drawn
    again if that breaks one (:attr:`whole` is False then); or it is left out: see :func:`given`.
    So that a rule doesn't favour values to which it leaves much room, ruled columns are weighed
    back to their distributions (:func:`restore_columns`), from which they then are ``misfit``
    apart. A model that gives the rules no mass at all is mixed with 10^-9 of even probabilities.

    Raises SchemaError for attributes and values that aren't declared, for a condition without any
    mass in the model, and where rejection finds too few.

    **Privacy:** post-processing of the release; costs nothing.
    """

    def __init__(self, model: Any, where: Any, beside: bool) -> None:
        self.model, self.schema, self.asked = model, model.schema, where is not None
        self.where, self.beside, self.misfit = where, beside, 0.0
        self.numbers: dict[str, float] = {}
        self.masks: list[Mask] = [*self.schema.masks]
        rules = len(self.masks)
        if self.asked:
            marked, self.numbers = read_where(model.shown, where)
            self.masks += [((self.schema.index(name),), mask) for name, mask in marked.items()]
            self.masks += self._beside_numbers()
        index, bits = model.domain.index, model.encoding
        self.pairs = [(index(c), tuple(map(index, ps))) for c, ps in model.network.pairs]
        self.marked = self.masks
        if bits is not None:
            self.marked = [
                over_bits(m, beside and i < rules, bits) for i, m in enumerate(self.masks)
            ]
        self.words = f"where={show(where)}" if self.asked else "the schema's rules"
        self.tables, self.weights = self._tables_and_weights()
        by_rejection = bits is not None and not self.schema.masks
        self.exact = None if by_rejection else self._condition()
        self.whole = self.exact is not None and (bits is None or self._spells_values_alone(bits))

    def _beside_numbers(self) -> list[Mask]:
        """What ``at_most`` leaves of other columns where exactly one number is asked for."""
        attributes = {a.name: a for a in self.schema.attributes}
        masks = leave_beside(self.schema.rules, attributes, self.numbers)
        return [((self.schema.index(name),), mask) for name, mask in masks]

    def _tables_and_weights(self) -> tuple[Sequence[np.ndarray | None], list[Weights]]:
        """P(X | Π) of every node, None for one that isn't kept whole; and what the rules weigh."""
        model, ruled = self.model, bool(self.schema.masks)
        if self.asked and ruled:
            rules = model.ruled
            if rules.beside != self.beside:
                rules = Given(model, None, self.beside)
            return rules.tables, rules.weights
        tables = [
            _whole(table, model.conditionals[child], ruled)
            for child, table in zip(model.network.order, model.tables, strict=True)
        ]
        if not ruled:
            return tables, []
        try:
            return tables, self._restore(tables)
        except Impossible:
            check_rules(self.schema)  # else they have mass now
            mixed = [None if p is None else np.maximum(p, LEAST) for p in tables]
            weights, self.misfit = self._restore(mixed), math.inf
            return mixed, weights

    def _restore(self, tables: Sequence[np.ndarray | None]) -> list[Weights]:
        """As :func:`restore_columns` of the ruled attributes, or of their bits."""
        bits, names, n = self.model.encoding, self.schema.names, float(self.model.n)
        ruled = sorted({j for columns, _ in self.schema.masks for j in columns})
        scopes = [(j,) if bits is None else bits.bits(names[j]) for j in ruled]
        sizes = self.model.domain.sizes
        weights, self.misfit = restore_columns(self.pairs, tables, sizes, self.marked, scopes, n)
        return weights

    def _spells_values_alone(self, bits: BinaryEncoding) -> bool:
        """Whether ruled columns never have bits without a value."""
        if not self.beside:
            return True
        ruled = {j for columns, _ in self.schema.masks for j in columns}
        names, sizes = self.schema.names, self.schema.sizes
        return all(2 ** len(bits.bits(names[j])) == sizes[j] for j in ruled)

    def _condition(self) -> Any:
        """The model with the conditioned network in place of its own, or None."""
        evidence = [*self.marked, *self.weights]
        try:
            families = condition(self.pairs, self.tables, self.model.domain.sizes, evidence)
        except Impossible:
            beside = ", or none that keeps the rules" * bool(self.schema.masks)
            raise SchemaError(
                f"{self.words}: the model gives this no mass{beside}, so no record can have "
                "it: loosen the condition"
            ) from None
        return None if families is None else self._replaced(families)

    def _replaced(self, families: list[Family]) -> Any:
        """The model with other families."""
        names, model = self.model.domain.names, self.model
        own = dict(zip(model.network.order, model.tables, strict=True))
        network = Network.of_columns([family[:2] for family in families], names)
        conditioned = copy(model)
        conditioned.__dict__.update(
            network=network,
            conditionals=model.conditionals
            | {names[family.child]: family.p for family in families if family.p is not None},
            tables=tuple(
                own[name] if family.p is None else family.p
                for name, family in zip(network.order, families, strict=True)
            ),
        )
        return conditioned

    def meets(self, codes: np.ndarray) -> np.ndarray:
        """Which records (n, d) meet the condition and keep the rules: bool (n,)."""
        return keep_rules(self.masks, codes)

    def sample_codes(self, n: int, generator: np.random.Generator, *method: str) -> np.ndarray:
        """Codes of n records that meet the condition: uint8/uint16 (n, d), by column.

        Rules that are kept by drawing again leave balanced rows less balanced.
        """
        source = self.model if self.exact is None else self.exact
        if self.exact is None and self.asked and "balanced" in method:
            raise SchemaError(
                f"{self.words} is met by drawing again here, which keeps no balance: "
                "use method='independent'"
            )
        parts: list[np.ndarray] = []
        rest, total, most = n, 0, max(DRAWS * n, LEAST_DRAWS)
        while rest and total < most:  # mostly once if exact
            once = self.exact is not None and not parts
            size = rest if once else min(max(4 * rest, 4096), CHUNK, most - total)
            codes = source.draw_codes(size, generator, *method)
            parts.append(codes[self.meets(codes)][:rest])
            rest, total = rest - len(parts[-1]), total + size
        if rest and self.beside and self.exact is not None and not self.whole:
            return Given(self.model, self.where, beside=False).sample_codes(n, generator, *method)
        if rest:
            raise SchemaError(
                f"{self.words}: of {total:,} records only {n - rest:,} met the condition, {n:,} "
                "are asked for: loosen the condition, or take fewer rows"
            )
        return np.asfortranarray(np.concatenate(parts)) if len(parts) > 1 else parts[0]

    def place(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The table with the numbers that were asked for.

        **Privacy:** post-processing of a synthetic table.
        """
        for name, number in self.numbers.items():
            frame[name] = pd.Series(number, index=frame.index).astype(frame[name].dtype)
        return put_in_order(frame, self.schema, self.numbers) if self.numbers else frame


def given(model: Any, where: Any) -> Given:
    """A model under a condition; over bits, rules leave its columns as near to their own as can be.

    To leave out what spells no value takes these records from all columns; to keep it lets mass
    flee to it from values that the rules forbid. What is nearer, in squares, is taken.
    """
    if where is not None:
        return Given(model, where, beside=not model.schema.masks or model.ruled.beside)
    first = Given(model, None, beside=True)
    if model.encoding is None or first.whole:
        return first
    return min(first, Given(model, None, beside=False), key=lambda option: option.misfit)


def check_rules(schema: Schema) -> None:
    """Refuse rules that no record can keep, or whose columns together need too large a table.

    **Privacy:** reads the schema alone.
    """
    ruled = sorted({j for columns, _ in schema.masks for j in columns})
    names = ", ".join(schema.names[j] for j in ruled)
    even = [np.full((schema.sizes[j], 1), 1 / schema.sizes[j]) for j in ruled]
    try:
        families = condition([(j, ()) for j in ruled], even, schema.sizes, schema.masks)
    except Impossible:
        raise SchemaError(
            f"the rules contradict each other: no record can keep all of them ({names}); drop or "
            "correct one"
        ) from None
    if families is None:
        raise SchemaError(
            f"the rules tie so many values of {names} to each other that it takes a table of more "
            f"than {MOST_CELLS:,} cells: use coarser bins, or fewer rules"
        )


def restore_columns(
    pairs: Sequence[tuple[int, Columns]],
    tables: Sequence[np.ndarray | None],
    sizes: Sequence[int],
    masks: Sequence[Mask],
    scopes: Sequence[Columns],
    n: float,
) -> tuple[list[Weights], float]:
    """Weights that give columns their own distributions back where a network is given ``masks``.

    Given a rule, values to which it leaves much room come up too often: of two independent columns,
    one of which decides the other, the squares of their probabilities. The network given the rules
    is weighed value by value so that every column of ``scopes`` (one column, or the bits of one)
    comes as near as the rules allow, in squares, to what it was without them; then the squares that
    are left. Where a rule keeps columns from that, the nearest distribution has zeros that no
    weights make, and a fit's weights run away from each other: columns are weighed in turn then.
    No weights for a network that keeps the rules anyway, or whose tables have more than
    2^20 cells. Raises Impossible where the masks have no mass.
    """
    part = above(pairs, tables, sizes, [columns for columns, _ in masks])
    if part is None or sum(map(math.prod, part[1].shapes)) > MOST_RESTORED:
        return [], math.inf
    _, tree, factors = part
    free, whole = tree.calibrate(tree.multiply(factors), n)
    own = Distribution(tree, free, n)
    fixed = [*factors, *(tree.weigh(*mask) for mask in masks)]
    ruled, mass = tree.calibrate(tree.multiply(fixed), n)
    if mass < NEVER / 2:
        raise Impossible
    if mass > whole - KEPT:
        return [], 0.0
    variance = (PRECISION * n) ** 2
    targets = [NoisyTable(columns, own.margin(columns), 1 / variance) for columns in scopes]
    start = [np.zeros(table.counts.shape) for table in targets]
    fit = fit_tables(tree, targets, n, fixed=fixed, start=start, tolerance=0.01)
    before = _misfit(Distribution(tree, ruled, n), targets)
    weights = [(t.columns, _weigh(p)) for t, p in zip(targets, fit.potentials, strict=True)]
    after = _misfit(_weighed(tree, fixed, weights, n), targets)
    if after > _misfit(fit, targets) + (ASTRAY * n) ** 2:
        near = [replace(t, counts=fit.margin(t.columns)) for t in targets]
        other = weigh_in_turn(tree, fixed, near, n)
        weights, after = min(
            (weights, after),
            (other, _misfit(_weighed(tree, fixed, other, n), targets)),
            key=itemgetter(1),
        )
    return (weights, after) if after < before else ([], before)


def weigh_in_turn(
    tree: CliqueTree,
    fixed: Sequence[tuple[Place, np.ndarray]],
    targets: Sequence[NoisyTable],
    n: float,
) -> list[Weights]:
    """Weights that give columns margins that can be had: iterative proportional fitting.

    :data:`SWEEPS` times at most, until all are met within :data:`PRECISION` of n.
    """
    logs = [np.zeros(table.counts.shape) for table in targets]
    for _ in range(SWEEPS):
        missed = 0.0
        for table, log in zip(targets, logs, strict=True):
            weights = [(t.columns, _weigh(other)) for t, other in zip(targets, logs, strict=True)]
            margin = _weighed(tree, fixed, weights, n).margin(table.columns)
            missed = max(missed, float(np.abs(margin - table.counts).max()))
            log += np.log(np.maximum(table.counts, LEAST * n) / np.maximum(margin, LEAST * n))
        if missed <= PRECISION * n:
            break
    return [(t.columns, _weigh(log)) for t, log in zip(targets, logs, strict=True)]


def _weigh(potential: np.ndarray) -> np.ndarray:
    """Weights of a potential's cells, against their median."""
    return np.exp(np.clip(potential - np.median(potential), *ENDS))


def _weighed(
    tree: CliqueTree,
    fixed: Sequence[tuple[Place, np.ndarray]],
    weights: Sequence[Weights],
    n: float,
) -> Distribution:
    """The distribution of fixed factors and weights."""
    factors = [*fixed, *(tree.weigh(*weight) for weight in weights)]
    return Distribution(tree, tree.calibrate(tree.multiply(factors), n)[0], n)


def _misfit(distribution: Distribution, targets: Sequence[NoisyTable]) -> float:
    """The squares by which columns of a distribution miss their own."""
    return sum(float(((distribution.margin(t.columns) - t.counts) ** 2).sum()) for t in targets)


def over_bits(mask: Mask, beside: bool, bits: BinaryEncoding) -> Mask:
    """A mask over the bits of its columns; ``beside``: it marks what spells no value, too."""
    columns, cells = mask
    names = [bits.original.names[j] for j in columns]
    places = [bits.bits(name) for name in names]
    whole = np.full(tuple(2 ** len(place) for place in places), beside)
    whole[tuple(slice(size) for size in cells.shape)] = cells
    scope = tuple(j for place in places for j in place)
    return scope, whole.reshape((2,) * len(scope))


def _whole(table: Any, p: np.ndarray, needed: bool) -> np.ndarray | None:
    """P(X | Π) of all configurations, also of a table that isn't kept whole if it is ``needed``."""
    if isinstance(table, np.ndarray):
        return p
    if not needed or math.prod(table.shape) > MOST_CELLS:
        return None
    p, at = table.look_up(p, np.arange(math.prod(table.shape[1:])))
    return np.asarray(p[:, at])


def read_where(schema: Schema, where: Any) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Marked values (bool (|X|,)) by attribute, and the numbers asked for."""
    if not isinstance(where, Mapping) or not where:
        raise SchemaError(
            "where must be {attribute: value or list of values} with at least one "
            f"attribute, got {show(where)}"
        )
    evidence, numbers = dict[str, np.ndarray](), dict[str, float]()
    for name, request in where.items():
        attribute = schema[name]
        several = (
            isinstance(request, (list, tuple, set, frozenset)) or getattr(request, "ndim", 0) == 1
        )
        values = list(request) if several else [request]
        if not values:
            raise SchemaError(f"where asks for no value of {name!r}: name at least one")
        mask = np.zeros(attribute.size, dtype=bool)
        for value in values:
            mask[_code(attribute, value)] = True
        evidence[name] = mask
        exact = [
            v
            for v in values
            if attribute.numeric_bins and not (isinstance(v, str) or is_missing(v))
        ]
        if exact and len(values) > 1:
            raise SchemaError(
                f"where asks for several numbers of {name!r}: name its bins, such as "
                f"{attribute.labels[0]!r}, or one number"
            )
        if exact:
            numbers[name] = exact[0]
    return evidence, numbers


def _code(attribute: Attribute, value: Any) -> int:
    try:
        return code_of(attribute, value)
    except SchemaError as problem:
        raise SchemaError(f"where: {problem}") from None
