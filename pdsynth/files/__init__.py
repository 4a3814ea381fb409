"""Raw files and pages: how tables, schemas, ledgers and releases are read, written and shown."""

from .documents import load_model, read_ledger, read_model, save_model, write_ledger, write_model
from .file_format import FileFormat
from .pages import render
from .problems import Problems, find_problems
from .recoding import Recode
from .schema_file import read_schema, write_schema
from .session import Session
from .showing import show_ledger, show_network, show_recipe
from .story import in_words, story

__all__ = [
    "write_model",
    "write_ledger",
    "save_model",
    "read_model",
    "read_ledger",
    "load_model",
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
