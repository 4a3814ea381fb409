"""The options that all synthesizers share: guarantee, sampler and seed."""

from __future__ import annotations

import math
from typing import Any

from ..errors import BudgetError, is_whole
from ..privacy.curator import GUARANTEES
from ..privacy.mechanisms import CommonNoise, ExactNoise, Noise, NoNoise, OpenDPNoise


def check_options(guarantee: Any, noise: Any, seed: Any) -> None:
    """Refuse words and seeds that mean nothing."""
    if guarantee not in GUARANTEES:
        raise BudgetError(f"guarantee must be one of {GUARANTEES}, got {guarantee!r}")
    if noise not in ("exact", "opendp", "common"):
        raise BudgetError(f"noise must be 'exact', 'opendp' or 'common', got {noise!r}")
    seeds = seed if isinstance(seed, (list, tuple)) and seed else [seed]
    if seed is not None and not all(is_whole(s, 0, math.inf) for s in seeds):
        raise BudgetError("random_state must be None or a whole number of at least 0, "
                          f"got {seed!r}")
    if noise == "opendp" and seed is not None:
        raise BudgetError("OpenDP draws from the operating system and takes no seed: use "
                          "random_state=None, or noise='exact'")


def choose_noise(guarantee: str, noise: str, seed: Any, given: Noise | None) -> Noise:
    """The random source of a run; ``given`` stands in place of what ``noise`` names."""
    if guarantee == "none":
        return NoNoise(seed or 0)
    if given is not None:
        return given
    if noise == "opendp":
        return OpenDPNoise()
    return CommonNoise(seed or 0) if noise == "common" else ExactNoise(seed)
