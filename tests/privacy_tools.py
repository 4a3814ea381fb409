"""Tools of the privacy tests; they live in the library, where audits and lessons use them, too."""

from pdsynth.audit.detectors import Script, Silent, law, log_ratio, permute_and_flip_law
from pdsynth.audit.tables import (
    cells_of,
    curator_of,
    largest_change,
    multisets,
    neighbourhoods,
    records_of,
    schema_of,
)

__all__ = [
    "Script", "Silent", "cells_of", "curator_of", "largest_change", "law", "log_ratio", "multisets", "neighbourhoods",
    "permute_and_flip_law", "records_of", "schema_of",
]  # fmt: skip
