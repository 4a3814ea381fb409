"""Raw files and pages: how tables, schemas, ledgers and releases are read, written and shown."""

from ..domain.file_format import FileFormat
from ..domain.pages import render
from ..domain.problems import Problems, find_problems
from ..domain.recoding import Recode
from ..domain.schema_file import read_schema, write_schema
from ..privacy.ledger_story import in_words, story
from ..privacy.session import Session
from .showing import show_ledger, show_network, show_recipe

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
