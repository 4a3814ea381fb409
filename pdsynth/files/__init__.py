"""Raw files and pages: how tables, schemas, ledgers and releases are read, written and shown."""

from .columns import Reader, as_text
from .declared import equal_edges, read_bins, settle_attribute
from .documents import load_model, read_ledger, read_model, save_model, write_ledger, write_model
from .file_format import FileFormat
from .pages import render
from .problems import find_problems, say_outside
from .recoding import Recode
from .schemas import infer_schema, open_schema, read_schema_document, save_schema, schema_document
from .session import Session
from .showing import describe_recipe, frame_ledger, show_ledger, show_network, show_recipe
from .story import count_pairs, decimal, in_words, say_pairs, short, story, verdict
from .taking import find_columns, settle_file, take_columns
from .target import join_target
