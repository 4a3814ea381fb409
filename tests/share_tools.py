"""Pólya numbers by summing: an oracle for shares of noise."""

import numpy as np


def polya_law(shape, ratio, size):
    """P(k) of a Pólya number, k = 0 … size − 1."""
    k = np.arange(1, size)
    weights = np.concatenate([[1.0], np.cumprod((k - 1 + float(shape)) / k * ratio)])
    return weights * (1 - ratio) ** float(shape)
