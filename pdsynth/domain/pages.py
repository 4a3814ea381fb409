"""Pages and sentences: how things show themselves, from templates beside the modules."""

from functools import cache
from importlib import resources
from typing import Any

from ..errors import plural


@cache
def _template(package: str, name: str) -> Any:
    from jinja2 import Environment, StrictUndefined

    how = Environment(undefined=StrictUndefined, autoescape=name.endswith(".html"),
                      trim_blocks=True, lstrip_blocks=True)
    how.globals["plural"] = plural
    place = resources.files(package) / f"{name}.jinja"
    return how.from_string(place.read_text(encoding="utf-8"))


def render(package: str, name: str, **facts: Any) -> str:
    """The template ``name.jinja`` of a package, filled in; of ``.html`` ones texts are escaped."""
    return str(_template(package, name).render(facts))
