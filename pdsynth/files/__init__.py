"""Raw files and pages: how tables, schemas, ledgers and releases are read, written and shown."""

from ..domain.file_format import FileFormat
from ..domain.pages import render
from ..domain.problems import Problems, find_problems
from ..domain.recoding import Recode
from ..domain.schema_file import read_schema, write_schema

__all__ = [
    "FileFormat",
    "Problems",
    "Recode",
    "find_problems",
    "read_schema",
    "render",
    "write_schema",
]
