"""How a raw file is written: public facts that its owner declares, and that nobody guesses."""

import codecs
from dataclasses import asdict, dataclass
from typing import Any

from ..core import SchemaError, is_one_of, is_whole, show
from .cells import COMMON, FORMS, PLAIN

MOST_SKIPPED = 2**20  # lines
STATEFUL = ("iso2022", "utf_7", "hz", "idna", "punycode", "unicode_escape", "raw_unicode_escape")


@dataclass(frozen=True)
class FileFormat:
    r"""How a text file of records is written.

    ``encoding``: as "utf-8" (a mark at the beginning is left out) or "cp1252"; bytes that it
    doesn't know spoil the cell that they stand in, which then holds "\ufffd". ``delimiter``: the
    sign between cells; several blanks separate like one. ``header``: whether the first line names
    the columns; where it doesn't, ``Schema.columns`` does. ``number``: how numbers are written, one
    of "1,234.5", "1.234,5", "1 234,5", "1'234.5" and "1234.5"; "" says "1,234.5", or "1234.5" where
    semicolons separate cells; a column's own ``number`` goes before.
    ``skip``: lines above the table.

    >>> FileFormat(delimiter=";").number_form
    '1234.5'
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    header: bool = True
    number: str = ""
    skip: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.encoding, str) or not _is_text_encoding(self.encoding):
            raise SchemaError(
                f"there is no encoding {show(self.encoding)}: say 'utf-8' or 'cp1252'"
            )
        if not isinstance(self.delimiter, str) or len(self.delimiter) != 1:
            raise SchemaError(f"delimiter must be one sign, got {show(self.delimiter)}")
        if self.delimiter in '"\r\n\0':
            raise SchemaError(f"cells can't be separated by {self.delimiter!r}")
        if not isinstance(self.header, bool):
            raise SchemaError(f"header must be true or false, got {show(self.header)}")
        if self.number != "" and not is_one_of(self.number, FORMS):
            raise SchemaError(f"number must be one of {tuple(FORMS)}, got {show(self.number)}")
        if not is_whole(self.skip, 0, MOST_SKIPPED):
            raise SchemaError(f"skip must be a whole number of lines, got {show(self.skip)}")

    @classmethod
    def of(cls, said: Any) -> "FileFormat | None":
        """From keywords in a dictionary, or as it is; None where nothing is said."""
        if said is None or isinstance(said, cls):
            return said
        if not isinstance(said, dict):
            raise SchemaError(f"file must be a FileFormat or its keywords, got {show(said)}")
        names = cls.__dataclass_fields__
        if unknown := [key for key in said if key not in names]:
            raise SchemaError(f"a file's format has no {show(unknown[0])}: {', '.join(names)}")
        return cls(**said)

    def said(self) -> dict[str, Any]:
        """What is declared, as keywords."""
        return {key: value for key, value in asdict(self).items() if value != ""}

    @property
    def number_form(self) -> str:
        """How numbers are written: one of the forms, also where nothing is said."""
        return self.number or (PLAIN if self.delimiter == ";" else COMMON)


def _is_text_encoding(name: str) -> bool:
    """Whether an encoding is one of texts, each of whose lines can be read without the others.

    Where a sign changes what the bytes after it mean, as in ISO 2022 or UTF-7, one record would
    change the next ones.
    """
    try:
        codec = codecs.lookup(name).name.replace("-", "_")
        "a,\n".encode(name)
        return not codec.startswith(STATEFUL)
    except (LookupError, ValueError):
        return False
