"""Pages and sentences: how things show themselves, from templates beside the modules."""

import re
from functools import cache
from importlib import resources
from typing import Any

from ..core import plural


@cache
def _template(package: str, name: str) -> Any:
    from jinja2 import Environment, StrictUndefined

    how = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=name.endswith(".html"),
        finalize=_plain if name.endswith(".md") else None,
    )
    how.globals["plural"] = plural
    place = resources.files(package) / f"{name}.jinja"
    return how.from_string(place.read_text(encoding="utf-8"))


def _plain(value: Any) -> Any:
    """A text in which nothing is Markdown, on one line."""
    if not isinstance(value, str):
        return value
    line = re.sub(r"([\\`*_\[\]<>|~&$]|^[#+=-])", r"\\\1", " ".join(value.split()))
    return re.sub(r"^(\d+)([.)])(?= |$)", r"\1\\\2", line)  # else a list begins


def render(package: str, name: str, **facts: Any) -> str:
    """A template of a package, filled in; in ``.html`` and ``.md`` every text is escaped."""
    return str(_template(package, name).render(facts))


def style() -> str:
    """The type of pages that leave the house: a card's, a report's."""
    return resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
