"""Whatever touches data says in its docstring what it releases and what that costs (T14)."""

import importlib
import inspect
import pkgutil
import re

import pytest
from contract_cases import ALGORITHMS

import pdsynth
from pdsynth import PrivBayes, Schema, Synthesizer
from pdsynth.algorithms.privbayes import greedy
from pdsynth.core.budgets import AsMeasured
from pdsynth.core.curator import Curator
from pdsynth.core.measures import SCORES
from pdsynth.core.noise import laplace_mechanism
from pdsynth.core.records import Records
from pdsynth.core.rules import LEMMAS
from pdsynth.published import PRINTED

# What a parameter of that name holds: records, exact counts of them, or the curator who guards
# them. The wings and plots show what they are given; `codes` and `table` above the curator may be
# synthetic or noisy.
RAW = {"frame", "records", "curator", "real", "dataset"}
LOW = RAW | {"codes", "counts", "table", "parts", "column", "matrix"}
LOW_ROOMS = {
    "scale",
    "files.columns",
    "files.recoding",
    "files.problems",
    *(f"core.{room}" for room in "attribute schema measures records".split()),
    *(f"core.{room}" for room in "noise rules ledger curator".split()),
}
SHOWN = {"plots", "papers", "course", "__main__"}
# Codes of a synthetic table become a table, or columns of a file.
POST_PROCESSING = {
    "core.attribute.Attribute.decode",
    "core.schema.Schema.decode",
    "scale.writing.to_arrow",
}


def modules():
    for module in pkgutil.walk_packages(pdsynth.__path__, "pdsynth."):
        name = module.name.removeprefix("pdsynth.")
        if name.split(".")[0] not in SHOWN and not name.split(".")[-1].startswith("_"):
            yield name


def members(name):
    """(qualified name, object) of the public functions, classes and methods of a module."""
    module = importlib.import_module(f"pdsynth.{name}")
    for label, thing in vars(module).items():
        own = getattr(thing, "__module__", None) == module.__name__ and callable(thing)
        error = inspect.isclass(thing) and issubclass(thing, Exception)
        if label.startswith("_") or not own or error:
            continue
        yield f"{name}.{label}", thing
        if inspect.isclass(thing):
            for attribute, value in vars(thing).items():
                value = getattr(value, "__func__", value)
                if not attribute.startswith("_") and inspect.isfunction(value):
                    yield f"{name}.{label}.{attribute}", value


def touches_data(name, thing):
    parts = name.split(".")
    raw = LOW if {parts[0], ".".join(parts[:2])} & LOW_ROOMS else RAW
    return name not in POST_PROCESSING and bool(raw & set(inspect.signature(thing).parameters))


def silent(name, thing):
    """Whether something touches data without a word about privacy."""
    said = re.search(r"\*\*Privacy:\*\* \S", inspect.getdoc(thing) or "")
    return touches_data(name, thing) and not said


FOUND = [pair for module in modules() for pair in members(module)]
TOUCHING = [name for name, thing in FOUND if touches_data(name, thing)]


def test_the_walk_finds_what_matters():
    seen = {(name.split(".")[0], thing) for name, thing in FOUND}
    for what in (
        ("algorithms", PrivBayes),
        ("core", Synthesizer.fit),
        ("core", Curator),
        ("core", laplace_mechanism),
        ("core", Records),
        ("algorithms", greedy),
        ("core", Schema.infer.__func__),
    ):
        assert what in seen, what
    assert len(TOUCHING) >= 30


@pytest.mark.parametrize("name", TOUCHING)
def test_what_touches_data_has_a_privacy_section(name):
    assert not silent(name, dict(FOUND)[name])


def test_twin_a_silent_function_is_found():
    def quiet(frame):
        """Counts a table. Privacy is fine, trust me."""

    def said(frame):
        """Counts a table.

        **Privacy:** raw.
        """

    assert silent("evaluation.quiet", quiet)
    assert silent("core.records.quiet", lambda codes: codes)
    assert silent("scale.blocks.quiet", lambda codes: codes)
    assert not silent("evaluation.said", said)


QUESTIONS = [
    name for name, _ in inspect.getmembers(Curator, inspect.isfunction) if not name.startswith("_")
]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_to_the_curator_names_its_cost(name):
    text = inspect.getdoc(getattr(Curator, name)) or ""
    section = text[text.index("**Privacy:**") :]
    assert re.search(r"cost|ε|none\.", section)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_synthesizer_says_what_strict_means(name):
    section = inspect.getdoc(ALGORITHMS[name]).split("**Privacy:**")[1]
    assert re.search("strict", section, re.IGNORECASE)


@pytest.mark.parametrize("made", sorted({*PRINTED.values()}, key=lambda made: made.__qualname__))
def test_every_printed_part_says_what_it_costs(made):
    """Strict stands at the algorithm, what other guarantees do and cost in ``published``."""
    assert made.__module__.startswith("pdsynth.published.") or made is AsMeasured
    section = inspect.getdoc(made).split("**Privacy:**")[1]
    assert re.search(r"none|ε|claims|costs|unaccounted", section)


def test_every_score_names_a_lemma_that_the_ledger_can_recompute():
    for score in SCORES.values():
        assert score.lemma in LEMMAS
        for domain in ((2, 2), (2, 9), (3, 3)):
            assert LEMMAS[score.lemma](9, *domain) == score.sensitivity(9, *domain)


def test_no_two_lemmas_are_mixed_up():
    assert LEMMAS["lemma:joint_counts"](9, 3, 3) == 2
    assert LEMMAS["lemma:association"](9, 3, 3) == 48
    assert LEMMAS["lemma:association"](9, 2, 3) == 32
    assert LEMMAS["lemma:score_f"](9, 2, 3) == 2
