"""The binary tables of the PrivABN paper: NLTCS, ACS and Retail. None may be shipped."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ..domain.schema import Attribute, Schema
from .dataset import Dataset
from .files import find, read_table

NLTCS_ROWS, ACS_ROWS, BASKETS, ITEMS = 21_574, 47_461, 88_162, 16_470
NLTCS_COLUMNS = (
    "eating bed_in_out moving_inside dressing bathing toilet heavy_housework light_housework laundry cooking grocery outside "
    "traveling money medicine telephone"
).split()
ACS_COLUMNS = [f"a{j}" for j in range(23)]
NO_TARGET = "The papers name no target and no sensitive attribute for this table; those given here are examples."


def load_nltcs(path: str | os.PathLike[str] | None = None) -> Dataset:
    """The National Long Term Care Survey: 21,574 people, 16 daily activities, 1 where the person can't do it alone.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``. Raises FileNotFoundError, or ValueError for a file that
    isn't this table.

    **Privacy:** raw records; sixteen declared yes–no attributes are all that the schema knows.
    """
    frame = read_table("nltcs", find("nltcs", path), NLTCS_COLUMNS, NLTCS_ROWS)
    source = "Manton, K. G. (2010). National Long-Term Care Survey: 1982–2004. ICPSR 9681"
    return _dataset(frame, "nltcs", ("outside", "money"), source, "data use agreement: keep local", NO_TARGET)


def load_acs(path: str | os.PathLike[str] | None = None) -> Dataset:
    """The extract of the American Community Survey that the PrivBayes paper uses: 47,461 rows, 23 unnamed binary attributes.

    ``path``, errors: as in :func:`load_nltcs`.

    **Privacy:** raw records; twenty-three declared yes–no attributes are all that the schema knows.
    """
    frame = read_table("acs", find("acs", path), ACS_COLUMNS, ACS_ROWS)
    source = "Ruggles, S. et al. (2015). Integrated Public Use Microdata Series 6.0; extract by the authors of PrivBayes"
    return _dataset(frame, "acs", ("a0", "a1"), source, "IPUMS: keep local", f"Columns are unnamed at the source. {NO_TARGET}")


def load_retail(items: int = 50, path: str | os.PathLike[str] | None = None) -> Dataset:
    """FIMI Retail: 88,162 baskets, 1 where a basket holds an item; the ``items`` best-selling ones, most frequent first.

    An item listed twice in a basket counts once; baskets without any of these items stay, as rows of zeros. Ties at the cut go
    to the smaller number. ``path``, errors: as in :func:`load_nltcs`; ``items`` must lie in 2 … 16,470.

    **Privacy:** raw records. *Which* items sell best is read from them: here, as in the paper, the list is taken as public.
    """
    if isinstance(items, bool) or not isinstance(items, (int, np.integer)) or not 2 <= items <= ITEMS:
        raise ValueError(f"items must be a whole number from 2 to {ITEMS:,}, got {items!r}")
    pairs = read_table("retail", find("retail", path), ("basket", "item"), None).drop_duplicates()
    basket, item = pairs["basket"].to_numpy(), pairs["item"].to_numpy()
    if len(pairs) == 0 or basket.min() < 0 or item.min() < 0 or basket.max() != BASKETS - 1 or item.max() != ITEMS - 1:
        raise ValueError(f"this isn't the Retail table: its baskets must be numbered 0 to {BASKETS - 1:,}, its items 0 to {ITEMS - 1:,}")
    top = np.argsort(-np.bincount(item, minlength=ITEMS), kind="stable")[:items]
    place = np.full(ITEMS, -1)
    place[top] = np.arange(items)
    kept = place[item] >= 0
    cells = np.zeros((BASKETS, items), dtype=np.int8, order="F")
    cells[basket[kept], place[item[kept]]] = 1
    frame = pd.DataFrame(cells, columns=[f"item {j}" for j in top.tolist()])
    source = "Brijs, T. et al. (1999). Using association rules for product assortment decisions. KDD; retail.dat of fimi.uantwerpen.be"
    note = f"The {items} best-selling items were found in these very records; as in the paper the list is taken as public. {NO_TARGET}"
    return _dataset(frame, f"retail (top {items})", (frame.columns[0], frame.columns[1]), source, "cite, keep local", note)


def _dataset(frame: pd.DataFrame, name: str, roles: tuple[str, str], source: str, licence: str, note: str) -> Dataset:
    schema = _yes_no(list(frame.columns))
    schema.encode(frame)
    return Dataset(frame, schema, name, *roles, source, licence, note=note)


def _yes_no(names: Sequence[str]) -> Schema:
    return Schema(tuple(Attribute.categorical(name, (0, 1), dtype="int8") for name in names))
