"""Names that the panel of lesson 18 imports."""

from .sidebyside import BASE, PAPER, SLOW, algorithms

__all__ = ["BASE", "SLOW", "Settings", "algorithms"]

Settings = PAPER.settings  # until the panel uses sidebyside.PAPER.settings
