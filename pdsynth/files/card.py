"""The card of a release: one page for whoever must answer for it."""

import math
import platform
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from typing import Any, NamedTuple

from .. import __version__
from ..concentrated import pair
from ..core import (
    Attribute,
    BudgetError,
    Ledger,
    Model,
    Schema,
    SchemaError,
    name_some,
    needed_for,
    show,
)
from .pages import render, style
from .schemas import meanings
from .session import Session
from .story import find_pairs, say_counted, short
from .writing import quote

RAW = (
    "This part reads the real records exactly. It is NOT covered by ε: for those who may see "
    "the records. Take it off before the card leaves the house."
)
SAMPLERS = {
    "exact": "exact, from the operating system's random numbers",
    "opendp": "OpenDP's samplers, from the operating system's random numbers",
}
# What the owner says of a release, and the question that it answers on the card.
ABOUT = {
    "responsible": "Who is responsible?",
    "purpose": "For what purpose?",
    "recipients": "Who gets it?",
    "basis": "On which legal basis?",
    "epsilon": "Who chose ε, and why?",
}
LONGEST = 500  # signs of one of these answers
LISTED = 40  # pairs that the card names
WEAK = 3  # from here on a guess may be right in 95 of 100 cases
FAMILY = 4
# Where a number of a release stands in its bin, by how the schema spreads it.
INSIDE = {
    "uniform": "anywhere, evenly",
    "atoms": "anywhere, evenly, and in a narrow one at its shortest number",
    "lower": "at the lower edge",
    "middle": "in the middle",
}


def check_about(about: Any) -> dict[str, str]:
    """What the owner says of a release; SchemaError for an unknown key or an impossible text."""
    if about is None:
        return {}
    if not isinstance(about, Mapping) or (unknown := sorted(set(map(str, about)) - set(ABOUT))):
        what = show(about) if not isinstance(about, Mapping) else unknown[0]
        raise SchemaError(f"about has no {what}: it answers {', '.join(ABOUT)}")
    for key, text in about.items():
        signs = set(map(unicodedata.category, text)) if isinstance(text, str) else {"Cc"}
        if signs & {"Cc", "Cs"} or len(text) > LONGEST:
            raise SchemaError(
                f"about, {key}: a text of one line and of at most {LONGEST} signs, got {show(text)}"
            )
    return {key: text.strip() for key, text in about.items()}


class Card(NamedTuple):
    """A release card as text, and the same as a page that needs no other file."""

    markdown: str
    html: str


def make_card(
    model: Model,
    *,
    title: str,
    table: str,
    rows: int,
    session: Session | None = None,
    report: Any = None,
    about: Mapping[str, str] | None = None,
    stored: bool = True,
) -> Card:
    """The card of a model and of a table of so many rows drawn from it, in the file ``table``.

    ``about``: what the owner answers, by the keys of :data:`ABOUT`; a question without an answer
    has a line to write on. ``stored``: whether the model's file is beside it. ``session``: the
    account that the fit was charged to. ``report``: what ``evaluate.report`` found; it stands
    apart, under a warning.

    **Privacy:** post-processing of the release. A ``report`` isn't: it reads records exactly.
    """
    with needed_for("a release card"):
        import mistune

    facts = _facts(model, session) | {
        "title": title,
        "table": table,
        "formulas": _formulas(model.schema),
        "inside": _say_inside([a for a in model.schema.attributes if a.name not in model.hidden]),
        "sheets": [table] * table.endswith(".csv") + ["measured.csv"] * bool(model.measured),
        "rows": rows,
        "stored": stored,
        "measured": len(model.measured),
        "bits": model.encoding is not None,
        "answers": {question: (about or {}).get(key, "") for key, question in ABOUT.items()},
        "raw": report is not None,
    }
    written = render(__package__, "card.md", **facts)
    page = mistune.create_markdown(escape=True, plugins=["table"])
    html = render(
        __package__,
        "card.html",
        title=title,
        style=style(),
        body=page(written),
        warning=RAW,
        report="" if report is None else report._repr_html_(),
    )
    if report is not None:
        lines = "\n".join(f"    {line}" for line in str(report).splitlines())
        written += f"\n\n## Comparison with the real records\n\n**{RAW}**\n\n{lines}\n"
    return Card(written.rstrip("\n") + "\n", html)


def _facts(model: Model, session: Session | None) -> dict[str, Any]:
    """What the card is made of; every word follows from the released model and the account."""
    ledger = model.ledger
    epsilon, noise = ledger.epsilon, str(model.parameters.get("noise", "exact"))
    added = ledger.relation == "add_remove"
    levels = [short(level) for level in ledger.levels]
    columns = [a for a in model.schema.attributes if a.name not in model.hidden]
    delta = getattr(ledger, "delta", None)
    used = ["numpy", "pandas", *["opendp"] * (noise == "opendp")]
    versions = [f"pdsynth {__version__}", *(f"{name} {version(name)}" for name in used)]
    versions.append(f"Python {platform.python_version()}")
    return {
        "model": model,
        "ledger": ledger,
        "schema": model.schema,
        "meanings": meanings(model.schema),
        "account": None if session is None else _standing(session, ledger),
        "epsilon": epsilon,
        "delta": delta,
        "promise": f"ε = {short(epsilon)}" if delta is None else pair(epsilon, delta),
        "m": 1 if levels else ledger.records_per_person,
        "levels": levels,
        "decides": ledger.level_attribute,
        "holders": ledger.holders,
        "learn": _learn(ledger) if ledger.holders else (),
        "columns": columns,
        "added": added,
        "moved": epsilon * (2 if added else 1),  # another record in its place
        "losses": ledger.attribute_epsilon(),
        "lines": ledger.story(),
        "pairs": [
            f"{a} – {b}" for a, b in (find_pairs(ledger.entries, ledger.hidden) or ((), 0))[0]
        ],
        "listed": LISTED,
        "method": _method(model),
        "sampler": SAMPLERS.get(noise, noise),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "versions": ", ".join(versions),
        "times": _times(float(epsilon)),
        "weak": WEAK,
        "family": FAMILY,
        "short": short,
        "percent": _percent,
        "at_most": _at_most,
    }


def _standing(session: Session, ledger: Ledger) -> str:
    """How an account stands; a file that can't be read now takes nobody's release away."""
    promise, unit = f"ε = {short(session.epsilon)}", ""
    if session.delta is not None:
        promise, unit = pair(session.epsilon, session.delta), " of ρ"
    try:
        return (
            f"One of {promise}. Spent, this release included: "
            f"{short(session.spent)}{unit}; left: {short(session.remaining, up=False)}{unit}"
            f"{say_counted(ledger)}."
        )
    except (BudgetError, OSError):
        return f"One of {promise}, whose file couldn't be read afterwards."


def _formulas(schema: Schema) -> list[str]:
    """Columns whose name or whose declared texts a spreadsheet would run; -10–-8 is a bin."""
    texts = {a.name: (a.name, *(a.values if a.edges is None else ())) for a in schema.attributes}
    return [name for name, own in texts.items() if any(quote(text) != text for text in own)]


def _say_inside(columns: Sequence[Attribute]) -> str:
    """Where numbers stand in bins that hold several; columns are named if they differ in it."""
    kinds: dict[str, list[str]] = {}
    for a in columns:
        if a.edges and not (a.integer and a.edges[-1] - a.edges[0] < len(a.values)):
            kinds.setdefault(a.spread, []).append(a.name)
    if len(kinds) == 1:
        return INSIDE[next(iter(kinds))]
    return "; ".join(f"{INSIDE[kind]} ({name_some(names)})" for kind, names in kinds.items())


def _method(model: Model) -> str:
    """The algorithm with what its owner chose."""
    hidden = {"epsilon", "guarantee", "noise", "random_state", "records_per_person", "relation"}
    hidden.add("delta")  # stands in the promise
    options = [
        f"{name} = {format(value, '.4g') if isinstance(value, float) else value}"
        for name, value in model.parameters.items()
        if name not in hidden and value not in (None, "None")
    ]
    options += _say_groups(model)
    return f"{model.algorithm} ({', '.join(options)})" if options else model.algorithm


def _say_groups(model: Model) -> list[str]:
    """What the method made of the groups that the schema declares; nothing if it had others."""
    names = [a.name for a in model.schema.attributes if a.name not in model.hidden]
    a = [name for name in names if model.schema.groups.get(name) == "A"]
    own = model.parameters
    told = ", ".join(f"{x}={own[x]})" for x in ("personal", "structure", "budget", "r") if x in own)
    if not a or ("groups=" in told and "groups=None" not in told):
        return []
    if "groups=None" not in told and str(own.get("personal", "")) != "None":
        return ["no use of the groups that the schema declares"]
    if len(a) == len(names):
        return ["all attributes are in group A of the schema, so none has less ε"]
    kind = "less ε" if (r := _ratio(told)) < 1 else "more ε" if r > 1 else "as much ε as others"
    return [f"{kind} for group A of the schema: {name_some(a, len(a))}"]


def _ratio(told: str) -> float:
    """The r that a text of parameters names: a decimal, 1/3, or as Python writes a fraction."""
    found = re.search(r"\br=(?:np\.)?(?:[A-Z]?[a-z]\w+\()?'?([\d.e+-]+)(?:(?:, |/)(\d+))?", told)
    return math.nan if found is None else float(found[1]) / float(found[2] or 1)


def _learn(ledger: Ledger) -> list[float]:
    """The ε of a fit against one of its holders, two of them, … who put together what they know."""
    from ..holders import losses  # noqa: PLC0415 - of models of several holders alone

    return list(losses(ledger).iloc[1:].astype(float))


def _times(epsilon: float) -> str:
    """How many times e^ε is, rounded up: two decimals, or two digits and a power of ten."""
    if epsilon < 9:
        return f"{math.ceil(100 * math.exp(epsilon)) / 100:,.2f}"
    power = math.floor(epsilon / math.log(10))
    return f"{math.ceil(10 * math.exp(epsilon - power * math.log(10))) / 10:g} · 10^{power}"


def _percent(epsilon: Fraction | float) -> str:
    """How often the better of two guesses may be right: 1/(1 + exp(−ε)), rounded up."""
    share = math.ceil(1000 / (1 + math.exp(-min(float(epsilon), 700)))) / 10
    return f"{share:g} %"


def _at_most(epsilon: Fraction | float) -> str:
    """Three digits, rounded up."""
    return f"{math.ceil(epsilon * 1000) / 1000:g}"
