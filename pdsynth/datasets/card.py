"""The release card: one page for whoever must answer for a release, in Markdown and in HTML."""

import math
import platform
import re
from datetime import UTC, datetime
from fractions import Fraction
from importlib import resources
from importlib.metadata import version
from typing import Any, NamedTuple

from ..model import Model
from ..privacy.ledger_story import short
from ..privacy.session import Session

RAW = ("This part reads the real records exactly. It is NOT covered by ε: for those who may see "
       "the records. Take it off before the card leaves the house.")
SAMPLERS = {"exact": "exact, from the operating system's random numbers",
            "opendp": "OpenDP's samplers, from the operating system's random numbers"}
WEAK = 3  # from here on a guess may be right in 95 of 100 cases
FAMILY = 4


class Card(NamedTuple):
    """A release card as text, and the same as a page that needs no other file."""

    markdown: str
    html: str


def make_card(model: Model, *, title: str, table: str, rows: int, session: Session | None = None,
              report: Any = None) -> Card:
    """The card of a model and of a table of so many rows drawn from it, in the file ``table``.

    ``session``: the account that the fit was charged to. ``report``: what ``evaluate.report``
    found; it stands apart, under a warning.

    **Privacy:** post-processing of the release. A ``report`` isn't: it reads records exactly.
    """
    import mistune
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    texts = FunctionLoader(lambda name: resources.files(__package__).joinpath(name).read_text(
        encoding="utf-8"))
    how: dict[str, Any] = {"loader": texts, "undefined": StrictUndefined, "trim_blocks": True}
    facts = _facts(model, session) | {"title": title, "table": table, "rows": f"{rows:,}",
                                      "raw": report is not None}
    written = Environment(finalize=_plain, **how).get_template("card.md.jinja").render(facts)
    page = mistune.create_markdown(escape=True, plugins=["table"])
    html = Environment(**how).get_template("card.html.jinja").render(
        title=mistune.escape(title), body=page(written), warning=RAW,
        report="" if report is None else report._repr_html_())
    if report is not None:
        lines = "\n".join(f"    {line}" for line in str(report).splitlines())
        written += f"\n\n## Comparison with the real records\n\n**{RAW}**\n\n{lines}\n"
    return Card(written.rstrip("\n") + "\n", html)


def _plain(value: Any) -> Any:
    """A text in which nothing is Markdown, on one line."""
    if not isinstance(value, str):
        return value
    return re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", " ".join(value.split()))


def _facts(model: Model, session: Session | None) -> dict[str, Any]:
    """What the card is made of; every word follows from the released model and the account."""
    ledger = model.ledger
    epsilon, noise = ledger.finite, str(model.parameters.get("noise", "exact"))
    power = float(epsilon) / math.log(10)
    used = ["pdsynth", "numpy", "pandas", *["opendp"] * (noise == "opendp")]
    python = f"Python {platform.python_version()}"
    versions = [*(f"{name} {version(name)}" for name in used), python]
    return {
        "model": model, "ledger": ledger, "schema": model.schema, "session": session,
        "epsilon": epsilon, "m": ledger.records_per_person,
        "added": ledger.relation == "add_remove", "losses": ledger.attribute_epsilon(),
        "lines": ledger.story(), "method": _method(model),
        "sampler": SAMPLERS.get(noise, noise), "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "versions": ", ".join(versions),
        "times": f"{math.exp(epsilon):,.2f}" if power < 4 else f"10^{power:.0f}",
        "weak": WEAK, "family": FAMILY, "short": short, "percent": _percent, "at_most": _at_most,
    }


def _method(model: Model) -> str:
    """The algorithm with what its owner chose."""
    hidden = {"epsilon", "guarantee", "noise", "random_state", "records_per_person", "relation"}
    given = [f"{name} = {format(value, '.4g') if isinstance(value, float) else value}"
             for name, value in model.parameters.items()
             if name not in hidden and value not in (None, "None")]
    return f"{model.algorithm} ({', '.join(given)})" if given else model.algorithm


def _percent(epsilon: Fraction | float) -> str:
    """How often the better of two guesses may be right: 1/(1 + exp(−ε)), rounded up."""
    share = math.ceil(1000 / (1 + math.exp(-min(float(epsilon), 700)))) / 10
    return f"{share:g} %"


def _at_most(epsilon: Fraction | float) -> str:
    """Three digits, rounded up."""
    return f"{math.ceil(epsilon * 1000) / 1000:g}"
