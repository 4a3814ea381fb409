"""The tests of trust, T1 to T16: each has its test, and a twin that must fail. The index is checked against the files."""

import ast

import pytest

# What passes when, the tests, and their twins, as ``file::Class::test`` or ``file::test`` (a prefix may stand for several).
TRUST = {
    "T1 declared sensitivities, against all tables and all their neighbours": (
        ["test_sensitivity.py::TestMutualInformation::test_largest_change", "test_sensitivity.py::TestAssociation::test_two_valued",
         "test_sensitivity.py::TestScoreF::test_the_change", "test_sensitivity.py::TestEntropy::test_the_declared",
         "test_sensitivity.py::TestCounts::test_joint_counts", "test_sensitivity.py::TestCounts::test_a_table_with_a_scale"],
        ["test_sensitivity.py::TestMutualInformation::test_twin", "test_sensitivity.py::TestAssociation::test_twin",
         "test_sensitivity.py::TestCounts::test_twin"],
    ),
    "T2 exact law of the network, for all tiny tables": (
        ["test_composition.py::TestNetworks::test_greedy_on_all", "test_composition.py::TestNetworks::test_ordered_on_all"],
        ["test_composition.py::TestNetworks::test_twin", "test_composition.py::TestOneSelection::test_twin"],
    ),
    "T3 noise fits its law": (
        ["test_noise.py::TestFit::test_exact_noise", "test_opendp.py::"],
        ["test_noise.py::TestFit::test_a_million_draws_accept_the_law_and_reject_its_twins"],
    ),
    "T4 events at ε = log 3": (
        ["test_noise.py::TestEvent::test_selections_at_log_three"],
        ["test_noise.py::TestEvent::test_noise_of_scale_one_over_epsilon_passes_and_its_twin_does_not"],
    ),
    "T5 end-to-end audits": (
        ["test_courtroom.py::test_the_committed_grid", "test_papers_courtroom.py::test_twenty_thousand",
         "test_audit.py::TestStrictAtEveryEpsilon::test_tables", "test_end_to_end_audit.py::TestStrict::"],
        ["test_courtroom.py::test_twin_half", "test_end_to_end_audit.py::TestTwins::", "test_audit.py::TestTwins::"],
    ),
    "T6 the bug zoo": (
        ["test_zoo.py::test_every_defect_is_caught", "test_zoo.py::test_no_false_alarm_in_twenty_seeds"],
        ["test_zoo.py::test_the_right_functions_use_their_budget_up"],
    ),
    "T7 one door": (
        ["test_one_door.py::test_strict_fits", "test_one_door.py::test_broken_published", "test_one_door.py::test_only_the_curator"],
        ["test_one_door.py::test_twin_a_recipe_that_reads_past", "test_one_door.py::test_twin_an_answer_that_is_not_paid"],
    ),
    "T8 the ledger in exact fractions": (
        ["test_ledger.py::TestArithmetic::test_the_sum_is_exact", "test_contract.py::TestLedger::test_closes_at_exactly_epsilon",
         "test_ledger.py::TestOverdraft::test_it_raises_before_any_noise", "test_ledger.py::TestArithmetic::test_parallel_parts"],
        ["test_ledger.py::TestRules::test_a_broken_rule", "test_ledger.py::TestArithmetic::test_parts_that_are_not_disjoint"],
    ),
    "T9 the domain is the declared one": (
        ["test_contract.py::TestDomain::test_constant_columns", "test_contract.py::TestDomain::test_neighbours_release"],
        ["test_contract.py::TestDomain::test_twin"],
    ),
    "T10 randomness": (
        ["test_noise.py::TestSource::test_a_run_never", "test_noise.py::TestSource::test_child_streams",
         "test_noise.py::TestSource::test_seeded_runs"],
        ["test_noise.py::TestSource::test_twin", "test_noise.py::TestSource::test_without_a_seed"],
    ),
    "T11 floating point": (
        ["test_noise.py::TestIntegers::test_neighbours_reach"],
        ["test_noise.py::TestIntegers::test_twin_doubles", "test_audit.py::TestFloatingPoint::test_the_textbook"],
    ),
    "T12 the same seed, the same bytes": (
        ["test_noise.py::TestDeterminism::test_known_draws", "test_contract.py::TestSeeds::test_same_seed_same_bytes"],
        ["test_noise.py::TestDeterminism::test_another_seed", "test_contract.py::TestSeeds::test_no_seed_differs"],
    ),
    "T13 utility": (
        ["test_contract.py::TestUtility::test_at_a_million", "test_contract.py::TestUtility::test_error_falls"],
        ["test_contract.py::TestUtility::test_twin"],
    ),
    "T14 every mechanism says its lemma": (
        ["test_privacy_docs.py::test_what_touches_data", "test_privacy_docs.py::test_every_score"],
        ["test_privacy_docs.py::test_twin"],
    ),
    "T15 the privacy page": (
        ["test_privacy_page.py::test_the_page_is_there"],
        ["test_privacy_page.py::test_twin"],
    ),
    "T16 10,000 mutated files": (
        ["test_contract.py::TestFile::test_mutated_files"],
        ["test_contract.py::TestFile::test_twin"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def known(root):
    """Every test as ``file::Class::name``."""
    names = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            inner = node.body if isinstance(node, ast.ClassDef) else [node]
            where = f"{path.name}::{node.name}::" if isinstance(node, ast.ClassDef) else f"{path.name}::"
            names += [where + f.name for f in inner if isinstance(f, ast.FunctionDef) and f.name.startswith("test_")]
    return names


def missing(trust, known):
    """Names of the index that no test has, and tests of trust without a test or a twin."""
    holes = [label for label, (tests, twins) in trust.items() if not tests or not twins]
    return holes + [name for pair in trust.values() for part in pair for name in part if not any(k.startswith(name) for k in known)]


def test_all_sixteen_are_there(known):
    assert [label.split()[0] for label in TRUST] == [f"T{i}" for i in range(1, 17)]
    assert missing(TRUST, known) == []


def test_twin_a_test_that_was_renamed_or_lost_its_twin_is_missed(known):
    assert missing({"T1": (["test_sensitivity.py::TestNothing"], ["test_noise.py::"])}, known) == ["test_sensitivity.py::TestNothing"]
    assert missing({"T1": (["test_noise.py::"], [])}, known) == ["T1"]
