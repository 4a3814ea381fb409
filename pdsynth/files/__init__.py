"""Raw files and pages: how tables, schemas, ledgers and releases are read, written and shown."""

from .file_format import FileFormat
from .pages import render
from .problems import Problems, find_problems
from .recoding import Recode
from .schema_file import read_schema, write_schema
from .session import Session
from .showing import show_ledger, show_network, show_recipe
from .story import in_words, story

__all__ = [
    "FileFormat",
    "Problems",
    "Recode",
    "Session",
    "find_problems",
    "in_words",
    "read_schema",
    "render",
    "show_ledger",
    "show_network",
    "show_recipe",
    "story",
    "write_schema",
]
