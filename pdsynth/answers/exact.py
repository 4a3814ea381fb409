"""What a model expects of some attributes: by elimination, exactly, or by many rows where it must.

**Privacy:** post-processing of a release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..constraints.conditioning import elimination_tree
from ..core import NEVER, CliqueTree, Model, SchemaError, marginalise

MOST_CELLS = 2**24  # of all tables on the way; a model that needs larger ones is sampled
MOST_ANSWER = 2**20  # cells of one answer
ROWS = 2**19  # that stand in for a model whose tables on the way would be too large


def joint(model: Any, names: Sequence[str]) -> tuple[np.ndarray, bool]:
    """P(names) under a model, one axis each, and whether it is exact; a drawn table has shares."""
    if not isinstance(model, Model):
        return model.joint([*names]), True
    shape = [model.schema[name].size for name in names]
    if math.prod(shape) > MOST_ANSWER:
        raise SchemaError(
            f"the table of {', '.join(names)} has {math.prod(shape):,} cells; at most "
            f"{MOST_ANSWER:,} are given: ask for fewer attributes"
        )
    bits = model.encoding
    nodes = [*names]
    if bits is not None:
        nodes = [bits.schema.names[j] for name in names for j in bits.bits(name)]
    source: Model | None = model
    if model.schema.masks:  # rules between columns are kept
        ruled = model.ruled
        source = ruled.exact if ruled.whole else None
    p = None if source is None else _eliminate(source, nodes)
    if p is None:
        return _sampled(model, names, shape), False
    if bits is not None:
        p = _spell(model, names, p)
    return p / p.sum(), True


def _eliminate(model: Model, nodes: Sequence[str]) -> np.ndarray | None:
    """P(nodes) of the network by elimination of all others; None where tables get too large."""
    domain, above = model.domain, {*nodes}
    for child, parents in reversed(model.network.pairs):
        above.update(parents if child in above else ())
    index, sizes = domain.index, domain.sizes
    columns = tuple(sorted(map(index, nodes)))
    pairs = [(c, p, t) for (c, p), t in zip(model.network.pairs, model.tables, strict=True)]
    scopes = [tuple(map(index, (c, *p))) for c, p, _ in pairs if c in above]
    tree = CliqueTree(elimination_tree([*scopes, columns], sizes), sizes)
    if sum(map(math.prod, tree.shapes)) > MOST_CELLS:
        return None
    factors = []
    for (child, _, table), scope in zip([x for x in pairs if x[0] in above], scopes, strict=True):
        p = model.conditionals[child]
        if not isinstance(table, np.ndarray):
            p, key = table.look_up(p, np.arange(math.prod(table.shape[1:])))
            p = p[:, key]
        log = np.log(p, out=np.full(p.shape, NEVER), where=p > 0)
        log = marginalise(log.reshape([sizes[j] for j in scope]), scope, sorted(scope))
        factors.append((tree.place(tree.home(scope), sorted(scope)), log))
    tables, _ = tree.calibrate(tree.multiply(factors), 1.0)
    at = tree.home(columns)
    return marginalise(tables[at], tree.cliques[at], tuple(map(index, nodes)))


def _spell(model: Model, names: Sequence[str], p: np.ndarray) -> np.ndarray:
    """Values from their bits; what isn't declared has the distribution of the declared ones."""
    schema = model.schema
    out = p.reshape([2 ** len(model.encoding.bits(name)) for name in names])  # type: ignore[union-attr]
    for axis, name in enumerate(names):
        size = schema[name].size
        own = out.sum(axis=tuple(a for a in range(out.ndim) if a != axis))
        legal = own[:size] / own[:size].sum() if own[:size].sum() else np.full(size, 1 / size)
        rows = np.moveaxis(out, axis, -1)
        values = rows[..., :size] + rows[..., size:].sum(axis=-1, keepdims=True) * legal
        out = np.moveaxis(values, -1, axis)
    return out


def _sampled(model: Model, names: Sequence[str], shape: Sequence[int]) -> np.ndarray:
    """P(names) among many rows that the model draws, always the same."""
    codes = model.sample_codes(ROWS, np.random.Generator(np.random.PCG64(0)))
    columns = [codes[:, model.schema.index(name)].astype(np.int64) for name in names]
    cells = np.bincount(np.ravel_multi_index(columns, shape), minlength=math.prod(shape))
    return cells.reshape(shape) / ROWS
