"""UCI Contraceptive Method Choice: 1,473 married women of the 1987 Indonesian survey."""

from __future__ import annotations

from functools import cache

from ..domain.schema import Attribute, Schema
from .adult import LICENCE
from .dataset import Dataset
from .files import shipped

SOURCE = "Lim, T.-S. (1997). Contraceptive Method Choice. UCI Machine Learning Repository. doi:10.24432/C59W2D"

# Codes of UCI's cmc.names: education and living standard 1 = low to 4 = high; religion 1 = Islam; working 0 = yes;
# media exposure 0 = good; method 1 = none, 2 = long-term, 3 = short-term.
CODES = {
    "wife_education": (1, 2, 3, 4),
    "husband_education": (1, 2, 3, 4),
    "wife_religion": (0, 1),
    "wife_working": (0, 1),
    "husband_occupation": (1, 2, 3, 4),
    "living_standard": (1, 2, 3, 4),
    "media_exposure": (0, 1),
    "method": (1, 2, 3),
}


def load_cmc() -> Dataset:
    """The CMC table with its public schema; it has no public split.

    >>> load_cmc()
    Dataset(cmc: 1,473 rows × 10 attributes, target='method', sensitive='husband_education')

    Ages are in the survey's seven five-year groups from 15 to 49; the number of children runs from 0 to 20, each its own
    value; the rest are the codes of UCI's documentation.

    **Privacy:** raw records of a public table; the schema was written without looking at them.
    """
    return Dataset(shipped("cmc"), _schema(), "cmc", "method", "husband_education", SOURCE, LICENCE)


@cache
def _schema() -> Schema:
    def attribute(name: str) -> Attribute:
        if name == "wife_age":
            return Attribute.numeric(name, 15, 49, bins=7, integer=True)
        if name == "children":
            return Attribute.numeric(name, 0, 20, bins=21, integer=True)
        return Attribute.categorical(name, CODES[name])

    return Schema(tuple(attribute(name) for name in shipped("cmc").columns))
