"""Independent: one noisy histogram an attribute and nothing else, the floor that every method must beat."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...budgets import uniform
from ...conditionals import noisy_tables
from ...domain.schema import Schema
from ...network import Network
from ...privacy.curator import Curator
from ...privacy.ledger import as_fraction
from ...privacy.mechanisms import Noise
from ..base import Synthesizer
from ..degrees import check_noise


@dataclass(eq=False, repr=False)
class Independent(Synthesizer):
    """Attributes drawn independently, each from its own noisy histogram.

    Parameters
    ----------
    epsilon : total budget ε.
    guarantee, noise, random_state : as in PrivBayes; strict and published are the same method.

    **Privacy:** strict: pure ε-DP under replacing one record: d histograms with discrete Laplace noise of scale 2d/ε,
    sequentially. Published: the same. None: raw.

    >>> Independent(epsilon=0.5)
    Independent(epsilon=0.5, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _check_schema(self, schema: Schema, n: int) -> None:
        if self.guarantee != "none":
            check_noise(self.epsilon, n, Fraction(2 * len(schema)) / as_fraction(self.epsilon))

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[np.ndarray, ...]]:
        names = curator.schema.names
        network = Network(tuple((name, ()) for name in names))
        budget = uniform(len(names), epsilon, source="one-way Laplace histograms (Dwork et al. 2006)")
        return network, noisy_tables(curator, network, dict.fromkeys(names, budget))
