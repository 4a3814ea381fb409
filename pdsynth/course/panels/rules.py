"""Lesson 00: rows that can't be, from one noisy model without a rule and given the rule."""

from dataclasses import replace

import numpy as np

from ...algorithms import PrivBayes
from ...constraints import Rule
from ...core import Model, plural
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .first_table import NEVER, WED
from .panel import live_panel
from .table import TeachingTable, adult
from .words import percent

SINGLE = [NEVER, "Divorced", "Separated", "Widowed", "Married-spouse-absent"]
RULES = {
    words: (
        Rule.impossible({"relationship": [*WED], "marital-status": status}, on_violation="keep"),
    )
    for words, status in (("wed people have married", NEVER), ("wed people are married", SINGLE))
}
ROWS = 20_000


def bad_rows(table: TeachingTable, model: Model, rule: str) -> tuple[int, int]:
    """Of 20,000 rows, how many break a rule: of the model as it is, and of it given the rule."""
    over = replace(table.schema, rules=RULES[rule])
    conditional = replace(model, schema=over)  # the same noisy tables: post-processing
    tables = (m.sample_codes(ROWS, np.random.default_rng(7)) for m in (model, conditional))
    first, second = (int(over.break_rules(codes).sum()) for codes in tables)
    return first, second


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "hardly any budget",
            {"epsilon": 0.05},
            "{now.without:.1%} of the rows are impossible, {was.without:.1%} before; with the rule "
            "none.",
            lambda was, now: now.without > was.without and not now.given,
        ),
        Try(
            "a rule that says more",
            {"rule": "wed people are married"},
            "it finds {now.without:.1%} of the rows instead of {was.without:.1%}, and leaves none.",
            lambda was, now: now.without > was.without and not now.given,
        ),
    ),
    epsilon=slider("ε", 0.2, 0.05, 4.0, 0.05, tooltip="ε, privacy budget"),
    rule=choice("rule", [*RULES], tooltip="what is known without any record"),
)
def view(table: TeachingTable, epsilon: float, rule: str) -> View:
    """Impossible rows of one model, without the rule and with it."""
    model = table.run(PrivBayes(epsilon)).model_
    counts = bad_rows(table, model, rule)
    without, rest = (count / ROWS for count in counts)
    plot = Board("rules", f"{rule}: ε = {epsilon:g}")
    plot.bars(
        ["without the rule", "with the rule"],
        [without, rest],
        ["attack", "private"],
        labels=[f"<b>{percent(without)}</b>", f"<b>{rest:.0%}</b>"],
        textfont={"size": 18},
    )
    plot.set(y={"range": [0, max(0.05, 1.25 * without)]})
    status = (
        f"{percent(without)} of the synthetic rows are impossible. With the rule "
        f"{plural(counts[1], 'row')} of {ROWS:,}. The rule is public, so it costs no ε."
    )
    return View(plot.figure, status, facts={"without": without, "given": rest})


panel = view.panel
