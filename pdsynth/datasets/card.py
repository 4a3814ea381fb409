"""The release card: one page for whoever must answer for a release, in Markdown and in HTML."""

import math
import platform
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from importlib import resources
from importlib.metadata import version
from typing import Any, NamedTuple

from ..model import Model
from ..privacy.ledger import Ledger
from ..privacy.ledger_html import short
from ..privacy.session import Session

RAW = ("This part reads the real records exactly. It is NOT covered by ε: for those who may see "
       "the records. Take it off before the card leaves the house.")
SAMPLERS = {"exact": "exact, from the operating system's random numbers",
            "opendp": "OpenDP's samplers, from the operating system's random numbers"}
LINES = 8  # of the ledger in short
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
    if not isinstance(value, str) or isinstance(value, _Markdown):
        return value
    return re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", " ".join(value.split()))


def _facts(model: Model, session: Session | None) -> dict[str, Any]:
    """What the card says, in words; every one follows from the released model."""
    ledger, schema = model.ledger, model.schema
    epsilon, m = ledger.finite, ledger.records_per_person
    noise = model.parameters.get("noise", "exact")
    losses, lines = ledger.attribute_epsilon(), _in_short(ledger)
    added = ledger.relation == "add_remove"
    return {
        "verdict": model.verdict(), "columns": len(schema), "epsilon": short(epsilon),
        "source": f"{'About ' * added}{model.n:,} records of {len(schema) + len(schema.left_out)} "
                  f"columns{', of which some are left out (below)' * bool(schema.left_out)}.",
        "unit": _unit(added, m), "method": _method(model), "meaning": _meaning(epsilon, m),
        "sampler": SAMPLERS.get(str(noise), str(noise)),
        "account": _account(session), "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "versions": _versions("opendp" if noise == "opendp" else ""),
        "number": "The number of records is noisy, and its cost is below." if added else
                  f"The number of records, {model.n:,}.",
        "left_out": "; ".join(f"{name} ({why})" if why else name
                              for name, why in schema.left_out.items()),
        "notes": [note.rstrip(".") for note in ledger.notes],
        "lines": lines, "answers": sum(line["answers"] for line in lines),
        "losses": [{"name": name, "size": schema[name].size, "epsilon": _at_most(loss),
                    "guess": _percent(loss)}
                   for name in schema.names if (loss := losses.get(name)) is not None],
        "known": _known(losses.attrs["known"]),
        "several": f"A family of {FAMILY}" + f", or one person with {FAMILY} records," * (m == 1),
        "group": f"{FAMILY} × {short(epsilon)} = {short(FAMILY * epsilon)}",
        "further": "This release stands in no account, so nobody adds them up." if session is None
                   else "The account adds up what is charged to it, and nothing else.",
    }


def _versions(more: str) -> str:
    names = filter(None, ("pdsynth", "numpy", "pandas", more))
    return ", ".join([*(f"{name} {version(name)}" for name in names),
                      f"Python {platform.python_version()}"])


def _unit(added: bool, m: int) -> str:
    whose = "Every person with one record" if m == 1 else (
        f"Every person with at most {m} records, all of them together")
    what = ("whether it is in the table, and what it says" if m == 1 else
            "whether they are in the table, and what they say") if added else (
            "what it says, against any other record in its place" if m == 1 else
            "what they say, against any others in their place")
    known = "" if added else " That somebody is in the table at all isn't hidden."
    return f"{whose}: {what}.{known}"


def _method(model: Model) -> str:
    """The algorithm with what its owner chose."""
    hidden = {"epsilon", "guarantee", "noise", "random_state", "records_per_person", "relation"}
    given = [f"{name} = {format(value, '.4g') if isinstance(value, float) else value}"
             for name, value in model.parameters.items()
             if name not in hidden and value not in (None, "None")]
    return f"{model.algorithm} ({', '.join(given)})" if given else model.algorithm


class _Markdown(str):
    """A text of our own that holds Markdown."""


def _meaning(epsilon: Fraction, m: int) -> _Markdown:
    """What a bound of ε says to someone who is in the table."""
    whose = "a different record" if m == 1 else "different records"
    power = float(epsilon) / math.log(10)
    times = f"{math.exp(epsilon):,.2f}" if power < 4 else f"10^{power:.0f}"
    weak = (" **This is a weak promise**: it bounds what can be learnt hardly at all."
            if epsilon >= WEAK else "")
    return _Markdown(
        f"Whatever somebody concludes about one person from this release, together with all that "
        f"they know besides, is at most {times} times as likely as it would be if that person had "
        f"handed in {whose}. Somebody who wavers between two possible answers of a "
        f"person, 50:50, can guess right in at most {_percent(epsilon)} of cases after reading "
        f"all of it; without it, in 50 %.{weak}")


def _percent(epsilon: Fraction | float) -> str:
    """How often the better of two guesses may be right: 1/(1 + exp(−ε)), rounded up."""
    share = math.ceil(1000 / (1 + math.exp(-min(float(epsilon), 700)))) / 10
    return f"{share:g} %"


def _at_most(epsilon: Fraction | float) -> str:
    """Three digits, rounded up."""
    return f"{math.ceil(epsilon * 1000) / 1000:g}"


def _account(session: Session | None) -> str:
    if session is None:
        return "None: whoever releases again about these people must add up by hand."
    return (f"One of ε = {short(session.epsilon)}. Spent, this release included: "
            f"{short(session.spent)}; left: {short(session.remaining)}.")


def _known(when: str) -> str:
    """Whether a loss per attribute is a promise."""
    if when.startswith("ex post"):
        return ("The network that this run drew decides it: it describes this release and is no "
                "promise.")
    return f"Known {when}: what was known before is promised."


def _in_short(ledger: Ledger) -> list[Mapping[str, Any]]:
    """The ledger by what was asked: number of answers, ε; steps beyond the eighth in one line."""
    found: dict[str, list[Fraction | float]] = {}
    for entry in ledger.entries:
        if entry.kind == "mechanism":
            found.setdefault(_name_step(entry.step, entry.mechanism), []).append(
                ledger.cost_of(entry))
    names = list(found)
    if len(names) > LINES:
        for name in names[LINES - 1:]:
            found.setdefault("all else", []).extend(found.pop(name))
    return [{"what": name, "answers": len(costs), "epsilon": short(sum(costs))}
            for name, costs in found.items()]


def _name_step(step: str, mechanism: str) -> str:
    """The kind of a step."""
    if step.startswith("table("):
        return "tables of counts, from which all rows are drawn"
    if mechanism == "exponential":
        return "choices of which attributes go together"
    if step == "mean association":
        return "how strongly attributes go together, on average"
    return step
