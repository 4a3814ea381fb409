"""Real tables with their public schemas: shipped ones, and loaders and a finder for the others."""

from ..files.outlining import outline
from ..files.reading import Header, read_chunks, read_csv, read_header
from ..files.release import write_csv, write_release
from .adult import load_adult
from .loaders import (
    find,
    load_acs,
    load_big5,
    load_cmc,
    load_credit_default,
    load_credit_fraud,
    load_national2019,
    load_nltcs,
    load_retail,
)
from .tables import Dataset

__all__ = [
    "Dataset",
    "Header",
    "find",
    "load_acs",
    "load_adult",
    "load_big5",
    "load_cmc",
    "load_credit_default",
    "load_credit_fraud",
    "load_national2019",
    "load_nltcs",
    "load_retail",
    "outline",
    "read_chunks",
    "read_csv",
    "read_header",
    "write_csv",
    "write_release",
]
