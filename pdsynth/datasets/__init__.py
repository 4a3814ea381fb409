"""Real tables with their public schemas: shipped ones, and a finder for those that can't be."""

from .adult import load_adult
from .cmc import load_cmc
from .dataset import Dataset
from .files import find

__all__ = ["Dataset", "find", "load_adult", "load_cmc"]
