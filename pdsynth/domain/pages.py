"""Pages: how things show themselves in a notebook, from templates that escape every text."""

from functools import cache
from importlib import resources
from typing import Any


@cache
def _template(package: str, name: str) -> Any:
    from jinja2 import Environment, StrictUndefined

    how = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True,
                      lstrip_blocks=True)
    place = resources.files(package) / f"{name}.html.jinja"
    return how.from_string(place.read_text(encoding="utf-8"))


def render(package: str, name: str, **facts: Any) -> str:
    """The page ``name.html.jinja`` of a package, filled in."""
    return str(_template(package, name).render(facts))
