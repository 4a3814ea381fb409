"""What ``--set`` and ``--about`` say on the command line, read."""

from collections.abc import Sequence
from typing import Any

from ..core import SchemaError, needed_for
from .card import ABOUT
from .schema_file import read_toml

with needed_for("the command line"):
    import click

ELSEWHERE = {  # parameters of a method that have an option of their own
    "delta": "--delta",
    "epsilon": "--epsilon",
    "records_per_person": "--records-per-person",
}


def parse_options(texts: Sequence[str], relation: str | None = None) -> dict[str, Any]:
    """Parameters of the method: k=2 and protect=true as in TOML, everything else as text.

    ``relation``: what ``--relation`` says, if it was said.
    """
    parameters: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise click.UsageError(f"--set {text}: say NAME=VALUE, as sensitive=occupation")
        if name in ELSEWHERE:
            raise click.UsageError(f"--set {name}=…: say it by {ELSEWHERE[name]}")
        if name in parameters:
            raise click.UsageError(f"--set {name}=… stands twice: say it once")
        try:
            parameters[name] = read_toml(f"value = {value}", text)["value"]
        except SchemaError:
            parameters[name] = value
    if relation and parameters.setdefault("relation", relation) != relation:
        raise click.UsageError(f"--relation {relation} and --set relation=…: say it once")
    return parameters


def parse_answers(texts: Sequence[str]) -> dict[str, str]:
    """What the owner answers for, by its key."""
    answers: dict[str, str] = {}
    for text in texts:
        key, sign, words = text.partition("=")
        if not sign or key not in ABOUT:
            raise click.UsageError(f"--about {text}: say KEY=TEXT, KEY one of {', '.join(ABOUT)}")
        if key in answers:
            raise click.UsageError(f"--about {key}=… stands twice: say it once")
        answers[key] = words
    return answers
