"""Which door to the records a guarantee has."""

from typing import Any

from ..core import Curator, Ledger, Noise, PrivacyError, Records
from .curator import RawCurator


def open_door(records: Records, ledger: Ledger, noise: Noise, **options: Any) -> Curator:
    """The one door to the records: the raw one where the ledger promises nothing.

    **Privacy:** releases nothing; the strict door has no method that hands out raw statistics.
    """
    door = Curator if ledger.guarantee == "strict" else RawCurator
    return door(records, ledger, noise, **options)


def raw_door(curator: Curator) -> RawCurator:
    """The same door, for a step that reads raw statistics; PrivacyError for a strict one.

    **Privacy:** releases nothing.
    """
    if not isinstance(curator, RawCurator):
        raise PrivacyError(
            "this step reads raw statistics, which a strict door doesn't hand out: use "
            "guarantee='published'"
        )
    return curator
