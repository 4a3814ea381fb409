"""Values of many records from their distributions, each by one uniform number."""

from __future__ import annotations

import numpy as np


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
