"""Notation and glossary, English and Chinese, as a notebook: from ``glossary.toml``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load() -> dict:
    """Symbols, control names and terms."""
    return tomllib.loads((HERE / "glossary.toml").read_text(encoding="utf-8"))


def cell(text: str) -> str:
    """A text for a table's cell: its bars would end the cell."""
    parts = text.split("$")
    parts[1::2] = [re.sub(r"\|([^|]*)\|", r"\\lvert \1\\rvert ", part) for part in parts[1::2]]
    parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
    return "$".join(parts)


def markdown() -> list[str]:
    """The page in three parts: what it is, notation, glossary."""
    data = load()
    symbols = [
        "## Notation",
        "",
        "| symbol | meaning | in papers | in the library |",
        "|---|---|---|---|",
    ]
    for symbol in data["symbol"]:
        cells = (cell(symbol.get(key, "")) for key in ("says", "papers", "code"))
        symbols.append(f"| ${symbol['tex']}$ | {' | '.join(cells)} |")
    terms = ["## Glossary", "", "| term | 中文 | meaning |", "|---|---|---|"]
    terms += [f"| **{t['en']}** | {t['zh']} | {t['says']} |" for t in
              sorted(data["term"], key=lambda t: t["en"].lower())]  # fmt: skip
    controls = [
        "## Controls of the panels",
        "",
        "A control that is a symbol means the symbol. The others:",
        "",
    ]
    controls += [f"* **{name}**: {says}" for name, says in data["controls"].items()]
    head = (
        "# Notation and glossary · 符号与术语\n\nOne symbol has one meaning in all lessons. Where a "
        "paper uses another letter, it stands beside."
    )
    return [head, "\n".join(symbols), "\n".join(controls), "\n".join(terms)]


def source() -> str:
    """The same as a py:percent script."""
    return "".join(
        "# %% [markdown]\n" + "\n".join(f"# {line}".rstrip() for line in part.split("\n")) + "\n\n"
        for part in markdown()
    )
