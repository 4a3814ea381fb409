"""What a live panel leaves in a saved, exported or printed notebook: picture, words, short tables.

A website without a kernel finds the panel by ``data-panel`` and moves it through states that were
computed beforehand (:mod:`.states`).
"""

import re
from html import escape
from typing import Any

from .still import svg
from .view import View

FOLDED = re.compile(r"<details\b(?:(?!<details\b).)*?</details>", re.DOTALL)


def unfolded(text: str) -> str:
    """HTML without the parts that only open on a click."""
    shorter = FOLDED.sub("", text)
    return shorter if shorter == text else unfolded(shorter)


def words(panel: Any) -> str:
    """The panel in one line of plain text."""
    status = panel.view.status if panel.view else f"No figure yet. {panel.error}"
    return f"Live panel at {panel.state}: {status}"


def page(panel: Any) -> str:
    """The panel as HTML that needs no script, no style sheet and no network."""
    if panel.view is None:
        return f"<p>{escape(words(panel))}</p>"
    tables = "".join(
        f"<div style='overflow-x:auto'>{unfolded(table_text(table))}</div>"
        for table in panel.view.tables
    )
    return (
        f"<div class='pdsynth-still' data-panel='{escape(panel.topic)}'>"
        f"{svg(panel.view.still, panel.view.alt or words(panel))}"
        f"<p>{escape(panel.view.status)}</p>{tables}</div>"
    )


def bundle(panel: Any, made: Any) -> dict[str, Any]:
    """A widget's mime bundle with words and a page for readers without a kernel."""
    data = made[0] if isinstance(made, tuple) else made
    return {**(data or {}), "text/plain": words(panel), "text/html": page(panel)}


def details(view: View) -> str:
    """What is folded below a figure: the rest of the status, and all tables."""
    rest = view.status.removeprefix(view.finding).strip()
    paragraph = f"<p>{escape(rest)}</p>" if rest else ""
    tables = "".join(table_box(table, number) for number, table in enumerate(view.tables, 1))
    if not paragraph + tables:
        return ""
    return f"<details><summary>Details</summary>{paragraph}{tables}</details>"


def table_box(table: Any, number: int) -> str:
    """A table of a panel, a text or an object that shows itself, in a box that can be scrolled."""
    return (
        f"<div class='pdsynth-table' role='group' aria-label='Table {number}' tabindex='0'>"
        f"{table_text(table)}</div>"
    )


def table_text(table: Any) -> str:
    """A table as HTML."""
    if isinstance(table, str):
        return table
    show = getattr(table, "_repr_html_", lambda: f"<pre>{escape(str(table))}</pre>")
    return str(show())
