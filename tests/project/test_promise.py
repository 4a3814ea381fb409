"""The promise page, sentence by sentence: each names the tests that hold it, or promises nothing.

A sentence is found by words of it. What is asked of the reader, or says what is not protected, is
advice: there is nothing that a test could hold.
"""

import ast
import re

import pytest
from contract_cases import CASES
from project.test_privacy_page import TITLE
from project.test_trust import find

from pdsynth import audit

HELD = {
    "satisfies pure ε-differential privacy for replacing": """
        synthesizers/test_contract.py::TestLedger::test_closes_at_exactly_epsilon
        audit/test_replays.py::test_every_strict_algorithm_keeps_every_line
        project/test_privacy_page.py::test_what_the_page_promises
        test_model_files.py::TestReproducible::test_it_is_not_private""",
    "synthetic table with its column types, the network": """
        synthesizers/test_types.py::test_the_types_of_a_frame
        synthesizers/test_interference.py::test_a_strict_run_shows_nothing
        audit/test_replays.py::test_twin_a_planted_defect""",
    "`published` and `none` promise nothing": """
        privacy/test_one_door.py::test_broken_published
        privacy/test_ledger.py::
        project/test_privacy_page.py::test_what_the_page_promises""",
    "With `records_per_person=m` the same ε": """
        synthesizers/test_units.py::TestRecordsPerPerson::test_replacing_two_records
        synthesizers/test_units.py::TestAddRemove::test_who_offers_it
        synthesizers/test_units.py::TestAddRemove::test_a_record_more_never
        synthesizers/test_units.py::TestAddRemove::test_the_ledger_by_hand""",
    "Raw records have one door": """
        privacy/test_one_door.py::test_strict_fits
        privacy/test_ledger.py::TestRules::test_a_broken_rule
        test_model_files.py::TestForged::test_a_forged_file""",
    "Column types are those that the schema declares": """
        synthesizers/test_types.py::test_every_family""",
    "Noise is integer and exact": """
        privacy/test_noise.py::TestIntegers::test_noise_is_whole_numbers
        privacy/test_noise.py::TestSource::test_without_a_seed
        privacy/test_noise.py::TestFit::test_exact_noise
        privacy/test_every_noise.py::test_every_source""",
    "Tests enumerate sensitivities": """
        privacy/test_every_sensitivity.py::
        privacy/test_sensitivity.py::
        synthesizers/test_composition.py::TestNetworks::
        audit/test_replays.py::test_every_strict
        project/test_trust.py::test_all_are_there""",
    "computes what each step of a fit loses": """
        audit/test_replays.py::test_losses_by_hand
        project/test_promise.py::test_the_catalogue_attacks""",
    "say what one attribute, or one value of it, loses": """
        audit/test_replays.py::TestClaims::test_an_attribute_s_claim
        audit/test_replays.py::TestClaims::test_a_value_s_claim
        audit/test_replays.py::TestClaims::test_twin_a_loss_that_is_not_known""",
    "in that attribute *alone*": """
        synthesizers/test_interference.py::test_a_change_of_one_attribute""",
    "goes with it tells it, too": """
        synthesizers/test_personal.py::TestTogether::test_twin""",
    "counts what goes together": """
        synthesizers/test_personal.py::TestTogether::test_a_set_loses""",
    "means a lemma in its docstring": """
        project/test_privacy_docs.py::""",
    "`Schema.infer`, or a look": """
        privacy/test_one_door.py::test_a_strict_fit_with_an_inferred""",
    "ε adds up over fits": """
        synthesizers/test_interrupts.py::TestSpent::test_every_fit""",
    "keeps the account of many": """
        privacy/test_session.py::TestFits::test_a_fit_is_charged
        privacy/test_session.py::TestFits::test_the_charge_is_on_disk""",
    "m times the loss": """
        synthesizers/test_units.py::TestRecordsPerPerson::test_twin_a_fit_for_one_record""",
    "number of records n is published": """
        synthesizers/test_units.py::TestAddRemove::test_twin_where_n_is_public""",
    "n tells, but where": """
        synthesizers/test_units.py::TestAddRemove::test_nothing_but_answers""",
    "is in `spent_` and `unfinished_`": """
        synthesizers/test_interrupts.py::test_a_fit_that_is_stopped
        privacy/test_session.py::TestKilled::""",
    "makes noise that others can draw": """
        privacy/test_noise.py::TestDeterminism::test_known_draws""",
    "then say NOT PRIVATE: reproducible": """
        test_model_files.py::TestReproducible::test_it_is_not_private""",
    "its ledger covers its tables": """
        test_model_files.py::TestForged::test_every_line
        synthesizers/test_contract.py::TestFile::test_mutated_files""",
    "no file shows": """
        test_model_files.py::TestForged::test_a_model_made_by_hand
        test_model_files.py::TestForged::test_what_was_known""",
    "an audit that finds nothing is no proof": """
        audit/test_power.py::TestPower::
        papers/test_courtroom.py::test_the_committed_catalogue""",
}
HELD |= {
    "So is its disk": """
        counting/test_blocks.py::TestSpool::test_the_file_has_no_name
        counting/test_blocks.py::TestSpool::test_it_is_closed""",
    "With Dask the workers": """
        counting/test_workers.py::TestWhatLeavesAWorker::
        counting/test_workers.py::test_every_strict""",
}
# The table of mechanisms: what holds the cells of a row that don't begin with "no". A cell "yes" in
# the first column is held by a lemma, "whole fits" by the catalogue of audits.
STATUS = {
    "discrete Laplace on counts": """
        privacy/test_every_sensitivity.py::test_a_neighbour
        privacy/test_sensitivity.py::TestCounts::""",
    "one-way histograms, sketches": """
        privacy/test_every_sensitivity.py::test_a_neighbour
        privacy/test_sensitivity.py::TestAssociation::""",
    "scores R, I, F": """
        privacy/test_sensitivity.py::TestMutualInformation::
        privacy/test_sensitivity.py::TestScoreF::
        synthesizers/test_composition.py::TestNetworks::""",
    "on the residual, with STOP": """
        privacy/test_every_sensitivity.py::test_a_neighbour
        synthesizers/test_consistent.py::test_a_replaced_record_moves""",
    "permute-and-flip": """
        privacy/test_mechanisms.py::TestSelecting::test_the_privacy_loss
        synthesizers/test_composition.py::TestOneSelection::test_permute_and_flip""",
    "samplers, exact": "privacy/test_noise.py::TestFit::",
    'samplers, `noise="opendp"`': "privacy/test_every_noise.py::test_every_source",
    "composition and post-processing": """
        synthesizers/test_replay.py::test_a_strict_fit_never_loses
        synthesizers/test_interference.py::test_a_strict_run_shows_nothing""",
    "personal losses": "synthesizers/test_personal.py::",
    "model files, rule L11": """
        test_model_files.py::TestForged::test_a_forged_file
        synthesizers/test_contract.py::TestFile::test_mutated_files""",
}
ADVICE = (
    "Encrypt the network",
    "The adversary knows this code",
    "its random bits are trusted",
    "Try to break it yourself:",
    "**Known limits.**",
    "must come from public knowledge",
    "A seed repeats a fit on one kind of processor",
    "Fitting again until the table looks right",
    "outside every ledger:",
    "`pds.evaluate`, `compare`, the live panels",
    "Keep their results",
    "A traceback may show",
    "So may the saved outputs",
    "What others' records say",
    "are not protected; run it",
    "and no proof for others",
    "nobody outside the project",
)


def sentences(text):
    """The page's sentences, without its table."""
    found = re.search(rf"^## {re.escape(TITLE)}\n(.*?)(?=^## |^MIT licence)", text, re.M | re.S)
    prose = re.sub(r"^\|.*$", "", found[1], flags=re.M)
    for part in re.split(r"\n\n|\n(?=\* )", prose):
        words = " ".join(part.removeprefix("* ").split())
        yield from filter(None, re.split(r"(?<=[.:])\s+(?=[A-Z`\"*])", words))


def unheld(text):
    """Sentences that nobody holds, and words that stand in no sentence."""
    page = list(sentences(text))
    known = (*HELD, *ADVICE)
    return [s for s in page if not any(k in s for k in known)] + [
        k for k in known if not any(k in s for s in page)
    ]


def unheld_rows(text):
    """Rows of the table of mechanisms that nobody holds, and rows that are gone."""
    table = text.partition("| mechanism |")[2].partition("\n\n")[0]
    rows = [row.split("|")[1].strip() for row in table.splitlines()[2:]]
    return [r for r in rows if not any(known in r for known in STATUS)] + [
        known for known in STATUS if not any(known in r for r in rows)
    ]


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


def test_every_sentence_of_the_promise_is_held_by_a_test(readme):
    assert unheld(readme) == []
    assert unheld_rows(readme) == []


def test_every_test_that_holds_a_sentence_is_there(root):
    tests = root / "tests"
    named = {name for held in (*HELD.values(), *STATUS.values()) for name in held.split()}
    known = {
        f"{file}::{name}"
        for file in {name.split("::")[0] for name in named}
        for name, _ in find(ast.parse((tests / file).read_text(encoding="utf-8")))
    }
    assert [name for name in named if not any(k.startswith(name) for k in known)] == []


def test_twin_a_sentence_that_nobody_holds_is_found(readme):
    more = readme.replace("**Known limits.**", "It protects the weather, too.\n\n**Known limits.**")
    assert unheld(more) == ["It protects the weather, too."]
    row = readme.replace("| permute-and-flip |", "| permute-and-flop |")
    assert unheld_rows(row) == ["permute-and-flop", "permute-and-flip"]
    gone = readme.replace("Column types are those that the schema declares.", "")
    assert unheld(gone) == ["Column types are those that the schema declares"]


def test_the_catalogue_attacks_every_strict_algorithm():
    """A whole fit of each; ``Synthesizer`` is made of their parts."""
    whole = {n for n, case in audit.CASES.items() if isinstance(case.attack, audit.Transcripts)}
    algorithms = {case.cls.__name__.lower() for case in CASES.values()} - {"synthesizer"}
    assert {f"strict-{name}" for name in algorithms} <= whole
