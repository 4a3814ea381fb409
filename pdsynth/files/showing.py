"""How networks, ledgers and synthesizers show themselves in Jupyter."""

import inspect
import math
from fractions import Fraction
from html import escape
from typing import Any

import pandas as pd

from ..core import Ledger, Network, plural, show
from .pages import render
from .story import beside, share, short

COLUMNS = (
    "step source mechanism released attributes sensitivity scale claimed epsilon total kind".split()
)
# what a synthesizer says of itself where it promises nothing
NOT_STRICT = {"published": "as published: see ledger_", "none": "NOT DIFFERENTIALLY PRIVATE"}
HEAD = (
    "<defs><marker id='pd-arrow' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
    "markerHeight='7' orient='auto'>"
    "<path d='M0 0L8 4L0 8z' fill='currentColor' fill-opacity='.5'/></marker></defs>"
)


def show_network(network: Network) -> str:
    """A drawing in layers, as SVG; filled boxes cover the edges that pass behind them."""
    rows: dict[int, list[str]] = {}
    for name, level in network.levels().items():
        rows.setdefault(level, []).append(name)
    widest = max(map(len, rows.values()), default=1)
    at = {
        name: (int(130 * (i + 0.5 + (widest - len(row)) / 2)), 30 + 64 * level)
        for level, row in rows.items()
        for i, name in enumerate(row)
    }
    lines = "".join(
        f"<line x1='{at[p][0]}' y1='{at[p][1] + 12}' x2='{at[c][0]}' y2='{at[c][1] - 14}' "
        "stroke='currentColor' stroke-opacity='.4' marker-end='url(#pd-arrow)'/>"
        for p, c in network.edges
    )
    boxes = "".join(
        f"<g><title>{escape(name)}</title><rect x='{x - 60}' y='{y - 12}' width='120' "
        f"height='24' rx='6' fill='#e3eef7' stroke='#0072b2'/><text x='{x}' y='{y + 4}' "
        f"text-anchor='middle' font-size='12' fill='#1a1a1a'>{escape(shorten(name))}</text></g>"
        for name, (x, y) in at.items()
    )
    title = (
        f"Bayesian network with {plural(len(network), 'attribute')} and "
        f"{plural(len(network.edges), 'edge')}"
    )
    width, height = 130 * widest, 64 * len(rows)
    return (
        "<svg xmlns='http://www.w3.org/2000/svg' class='mathjax_ignore' role='img' "
        f"aria-label='{title}' width='{width}' height='{height}' viewBox='0 0 {width} {height}' "
        "style='max-width:100%;height:auto'>"
        f"<title>{title}</title>{HEAD}{lines}{boxes}</svg>"
    )


def shorten(name: str, most: int = 17) -> str:
    """A name of at most so many characters; what is cut leaves a sign."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def frame_ledger(ledger: Ledger) -> pd.DataFrame:
    """One row per entry with the running total, infinite after the first unaccounted access."""
    rows: list[dict[str, Any]] = []
    total: Fraction | float = Fraction(0)
    for e in ledger.entries:
        epsilon = math.inf if e.kind == "unaccounted_access" else ledger.cost_of(e)
        total += epsilon if e.kind == "mechanism" or epsilon == math.inf else 0
        shown = {"attributes": ", ".join(e.attributes), "epsilon": epsilon, "total": total}
        shown["mechanism"] = e.mechanism or e.kind.replace("_", " ")
        if isinstance(e.scale, tuple):
            shown["scale"] = f"{float(min(e.scale)):.4g} … {float(max(e.scale)):.4g}"
        rows.append(vars(e) | shown)
    return pd.DataFrame(rows, columns=COLUMNS)


def show_ledger(ledger: Ledger) -> str:
    """A ledger: its verdict, its story, what each attribute may lose, and all entries."""
    losses = ledger.attribute_epsilon()
    return render(
        "pdsynth.files",
        "ledger.html",
        ledger=ledger,
        losses=losses,
        top=max((x for x in losses if x != math.inf), default=0) or 1,
        endless=math.inf,
        lines=list(ledger.to_frame().itertuples()),
        share=share,
        beside=beside,
        short=short,
    )


def describe_recipe(recipe: Any) -> str:
    """A synthesizer as a call, with a word where it isn't private."""
    parameters = inspect.signature(type(recipe).__init__).parameters
    options = {
        name: value
        for name, value in recipe.get_params().items()
        if name not in ("epsilon", "guarantee") and value != parameters[name].default
    }
    options = {"epsilon": recipe.epsilon, **options, "guarantee": recipe.guarantee}
    word = {guarantee: f" {note}" for guarantee, note in NOT_STRICT.items()}
    fitted = vars(recipe).get("model_")
    if recipe.random_state is not None or recipe.noise == "common":
        word["strict"] = " NOT PRIVATE: reproducible"
    elif fitted is not None and not fitted.private:  # whatever was set since
        word["strict"] = f", fitted: {fitted.verdict().split('.')[0]}"
    elif recipe.delta is not None:
        word["strict"] = " (ε, δ), not pure"
    shown = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"{type(recipe).__name__}({shown}){word.get(recipe.guarantee, '')}"


def show_recipe(recipe: Any) -> str:
    """A synthesizer for Jupyter: its parameters; once fitted also what it cost and learnt."""
    model, drawing = vars(recipe).get("model_"), ""
    rows = {}
    if model is not None:
        rows = {
            "ε": short(model.ledger.epsilon),
            "verdict": model.ledger.verdict(),
            "kept": model.ledger.pairs_kept(bool(model.schema.rules)),
            "network": f"{plural(len(model.network.edges), 'edge')}, at most "
            f"{plural(model.network.degree, 'parent')}",
            "learnt from": f"{plural(model.n, 'record')}, {plural(len(model.schema), 'attribute')}",
        }
        drawing = f"<div style='max-width:520px'>{model.network._repr_html_()}</div>"
    else:
        rows = {"not fitted yet": "call fit(frame, schema=schema)"}
    if recipe.guarantee in NOT_STRICT:
        rows["guarantee"] = NOT_STRICT[recipe.guarantee]
    shown = {name: show(value) for name, value in recipe.get_params().items()}
    left = "style='text-align:left'"

    def table(facts: dict[str, Any]) -> str:
        return "".join(
            f"<tr><th {left}>{escape(str(key))}</th><td {left}>{escape(str(value))}</td></tr>"
            for key, value in facts.items()
        )

    opened = "" if model is not None else " open"
    return (
        f"<div class='pdsynth-recipe mathjax_ignore'><p><b>{escape(type(recipe).__name__)}</b></p>"
        f"<table>{table(rows)}</table>{drawing}<details{opened}><summary>Parameters</summary>"
        f"<table>{table(shown)}</table></details></div>"
    )
