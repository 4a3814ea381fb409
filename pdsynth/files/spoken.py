"""What a refusal calls a parameter of Python, as an option of a command."""

import re
from collections.abc import Collection
from dataclasses import replace

from ..evaluation.report import Report

CALLS = {  # what is another command, an option of another name, or nothing that a command has
    "see pds.plan(schema, n, epsilon)": "see plan",
    ": say test=.": ".",
    "open Session(epsilon, path, delta=1e-9)": "name a new account, with --session-delta",
    "open a new one with Session(epsilon, path)": "name a new file, with --session-epsilon",
}
NAMES = re.compile(r"(?:say |in )?names=(?:\[…\])?, or ")
COLUMNS = re.compile(r"(names=(?:\[…\])?), or [^;:]*columns[^;:]* the schema file")


def in_options(words: str, options: Collection[str]) -> str:
    """A refusal in words of a command that has these ``options``.

    >>> in_options('say encoding="cp1252", or skip=2', ["encoding", "skip"])
    'say --encoding cp1252, or --skip 2'
    >>> in_options("say names=[…], or write columns = […] into the schema file", ["epsilon"])
    'write columns = […] into the schema file'
    >>> in_options("ConsistentBayes(epsilon=1, delta=0.1)", ["epsilon", "delta"])  # a call stays
    'ConsistentBayes(epsilon=1, delta=0.1)'
    """
    for python, spoken in CALLS.items():
        words = words.replace(python, spoken)
    words = COLUMNS.sub(r"\1", words) if "names" in options else NAMES.sub("", words)
    known = "|".join(map(re.escape, options))
    value = r"\[…\]|'[^']*'|\"[^\"]*\"|\w+|"
    return re.sub(rf"(?<![\w(-])(?<!, )({known})=({value})", _spoken, words) if known else words


def report_in_options(report: Report, options: Collection[str]) -> Report:
    """A comparison in words of a command that has these ``options``."""
    verdict, notes = (
        tuple(in_options(sentence, options) for sentence in part)
        for part in (report.verdict, report.notes)
    )
    return replace(report, verdict=verdict, notes=notes)


def _spoken(said: re.Match[str]) -> str:
    """One parameter, with the value that it has there."""
    name, value = said[1].replace("_", "-"), said[2]
    if value in ("True", "False"):
        return f"--{'no-' * (value == 'False')}{name}"
    value = '"…"' if value == "[…]" else value.strip("'\"")
    return f"--{name} {value}".rstrip()
