"""The cases of ``cases.toml``: steps, structures learnt in a fit, and whole strict fits."""

import tomllib
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib.resources import files
from operator import attrgetter
from typing import Any

from ..algorithms import GeneticBayes, Ordered, RiskEntropy, SpanningTree, Synthesizer
from ..baselines import METHODS, PairwiseSums
from ..core import Network
from . import attacks, floating, pairs, structure_steps, table_steps, transcripts
from .case import NOT_REFUTED, VIOLATED, Case, Fit

SLOW = 20  # a whole fit takes as long as so many releases of one table
MOST = 1_000  # whole fits of each table
# What a row may name: the functions and attacks of these modules, and nothing else.
NAMED: dict[str, Callable[..., Any]] = {
    name: value
    for module in (pairs, table_steps, structure_steps, floating, attacks)
    for name, value in vars(module).items()
    if getattr(value, "__module__", "") == module.__name__
}
UNLINKED = Network((("x0", ()), ("x1", ()), ("x2", ())))
STRUCTURES: dict[str, partial] = {
    "order by raw average": partial(Synthesizer, structure=Ordered(k=1)),
    "order by raw sums": partial(Synthesizer, structure=PairwiseSums(k=1)),
    "filter by raw sums": partial(Synthesizer, structure=PairwiseSums(k=1, keep=2 / 3)),
    "raw tree": partial(Synthesizer, structure=SpanningTree(k=1)),
    "search": partial(GeneticBayes, k=1, search="exact"),
    "risk entropy": partial(Synthesizer, structure=UNLINKED, budget=RiskEntropy()),
}


def bind(name: str, *arguments: Any) -> Callable[..., Any]:
    """A named function with its first arguments."""
    return partial(NAMED[name], *arguments)


def read_case(name: str, row: dict[str, Any]) -> Case:
    """A row of the file as a case; of a fit the network is seen."""
    if "fit" in row:
        structure, guarantee = row.pop("fit")
        make = partial(STRUCTURES[structure], guarantee=guarantee)
        release: Any = Fit(make, attrgetter("network_"))
    else:
        release = bind(*row.pop("release"))
    options = {key: row.pop(key) for key in ("slow", "statistic") if key in row}
    if "statistic" in options:
        options["statistic"] = NAMED[options["statistic"]]
    attack = NAMED[row.pop("attack")](release, **options)
    row.setdefault("expect", NOT_REFUTED if name.startswith("strict-") else VIOLATED)
    return Case(
        name,
        pair=bind(*row.pop("pair")),
        attack=attack,
        claimed=Fraction(row.pop("claimed")),
        **row,
    )


def audit_fit(name: str, options: dict[str, Any]) -> Case:
    """A whole strict fit, of which every answer of a mechanism is seen.

    ``name``: a class, maybe with a word for its parameters.
    """
    cls = name.split()[0]
    algorithm = METHODS[cls]
    pair, apart = bind(*options.pop("pair")), options.pop("apart", False)
    fit = Fit(partial(algorithm, **options), lambda fitted: fitted)
    label, attack = "-".join(name.lower().split()), transcripts.Transcripts(fit, SLOW, MOST, apart)
    return Case(
        f"strict-{label}",
        "the whole algorithm: structure, sketches and tables",
        "strict",
        pair,
        attack,
        Fraction(2),
        expect=NOT_REFUTED,
    )


ROWS = tomllib.loads(files(__package__).joinpath("cases.toml").read_text(encoding="utf-8"))
WHOLE = [audit_fit(name, options) for name, options in ROWS.pop("fits").items()]
CASES: dict[str, Case] = {name: read_case(name, row) for name, row in ROWS.items()}
CASES |= {case.name: case for case in WHOLE}
