"""Risk entropies of bits from released tables of single columns, with what is known of their noise.

**Privacy:** all of it is post-processing of releases.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.curator import Measured
from ..core.schema import BinaryEncoding, Schema
from ..core.structure import Measurement

MOST_SPREAD = 1 / 64  # the largest variance that p(1 − p) in [0, 1/4] can have


def columns_over_bits(
    released: Mapping[int, Measured], encoding: BinaryEncoding
) -> tuple[Measurement, ...]:
    """Released tables of attributes as tables of their bits: one axis per bit, its first bit first.

    A configuration that stands for no value has no records, and so the count 0.
    """
    found = []
    for j, answer in released.items():
        columns = encoding.bits(encoding.original.names[j])
        names = tuple(encoding.schema.names[c] for c in columns)
        table = np.pad(answer.counts, (0, 2 ** len(names) - len(answer.counts)))
        shaped = table.reshape((2,) * len(names))
        found.append(Measurement(names, shaped, answer.scale, answer.entry))
    return tuple(found)


def bit_entropies(columns: Sequence[Measurement], schema: Schema, n: int) -> dict[str, float]:
    """Normalised risk entropy of every bit; of two values, so it is the binary entropy of p.

    ``columns``: as :func:`columns_over_bits` gives them, of the attributes of ``schema`` in order.
    p is the noisy part of ones among n records, where what the table lacks of n, or has too much,
    is spread over the values. The noise is known, so p(1 − p) is known without bias, and is shrunk
    to the mean of all bits by the part of its spread that is noise: with much noise all bits get
    nearly the same entropy, with little each keeps its own.
    """
    names, parts, variances = list[str](), list[float](), list[float]()
    for measured, size in zip(columns, schema.sizes, strict=True):
        table = np.asarray(measured.table, dtype=float)
        cell = 2 * float(measured.scale) ** 2  # type: ignore[arg-type] # one for all values
        bits = len(measured.attributes)
        codes = np.arange(size)
        for b, name in enumerate(measured.attributes):
            ones = int((codes >> (bits - 1 - b) & 1).sum())
            over = (table.sum() - n) * ones / size
            names.append(name)
            parts.append((table.take(1, axis=b).sum() - over) / n)
            variances.append(cell * ones * (size - ones) / size / n**2)
    p, noise = np.array(parts), np.array(variances)
    spread = p * (1 - p) + noise  # its mean is the true p(1 − p)
    trust = 1 / (MOST_SPREAD + noise)
    mean = np.clip(np.average(spread, weights=trust), 0, 1 / 4)
    doubt = (1 - 4 * mean) * noise + 2 * noise**2  # the variance of ``spread`` by noise
    true = max(np.average((spread - mean) ** 2 - doubt, weights=trust), 0.0)
    kept = np.divide(true, true + doubt, out=np.ones_like(doubt), where=true + doubt > 0)
    spread = np.clip(mean + kept * (spread - mean), 0, 1 / 4)
    p = np.clip((1 - np.sqrt(1 - 4 * spread)) / 2, 1e-300, 1)
    found = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    return dict(zip(names, np.clip(found, 0, 1).tolist(), strict=True))
