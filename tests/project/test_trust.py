"""The tests of trust, T1 to T24: each has its test, and a twin that must fail."""

import ast

import pytest

# What passes when: the tests and their twins, as ``folder/file::Class::test`` or
# ``folder/file::test``; the beginning of a name may stand for several.
TRUST = {
    "T1 declared sensitivities, against all tables and all their neighbours": (
        """
        core/test_sensitivity.py::TestMutualInformation::test_largest_change
        core/test_sensitivity.py::TestAssociation::test_two_valued
        core/test_sensitivity.py::TestScoreF::test_the_change
        core/test_sensitivity.py::TestEntropy::test_the_declared
        core/test_sensitivity.py::TestCounts::test_a_table_with_a_scale
        core/test_every_sensitivity.py::test_a_replaced_record
        core/test_every_sensitivity.py::test_a_neighbour
        core/test_every_sensitivity.py::test_every_question
    """,
        """
        core/test_sensitivity.py::TestMutualInformation::test_twin
        core/test_sensitivity.py::TestAssociation::test_twin
        core/test_every_sensitivity.py::test_twin
        core/test_residual.py::test_against_what_the_records_themselves_expect
    """,
    ),
    "T2 exact law of the network, for all tiny tables": (
        """
        algorithms/test_composition.py::TestNetworks::test_greedy_on_all
        algorithms/test_composition.py::TestNetworks::test_ordered_on_all
    """,
        """
        algorithms/test_composition.py::TestNetworks::test_twin
        algorithms/test_composition.py::TestOneSelection::test_twin
    """,
    ),
    "T3 noise fits its law": (
        """
        core/test_noise.py::TestFit::test_exact_noise
        core/test_opendp.py::
    """,
        """
        core/test_noise.py::TestFit::test_a_million_draws_accept_the_law_and_reject_its_twins
    """,
    ),
    "T4 events at ε = log 3": (
        """
        core/test_noise.py::TestEvent::test_selections_at_log_three
    """,
        """
        core/test_noise.py::TestEvent::test_noise_of_scale_one_over_epsilon_passes_and_its_twin_does_not
    """,
    ),
    "T5 end-to-end audits": (
        """
        papers/test_courtroom.py::test_the_committed_grid
        papers/test_courtroom.py::test_the_committed_fits
        audit/test_audit.py::TestStrictAtEveryEpsilon::test_tables
        audit/test_end_to_end_audit.py::TestStrict::
    """,
        """
        papers/test_courtroom.py::test_twin_half
        audit/test_end_to_end_audit.py::TestTwins::
        audit/test_audit.py::TestTwins::
    """,
    ),
    "T6 the bug zoo": (
        """
        audit/test_zoo.py::test_every_defect_is_caught
        audit/test_zoo.py::test_no_false_alarm_in_any_seed
    """,
        """
        audit/test_zoo.py::test_the_right_functions_use_their_budget_up
    """,
    ),
    "T7 one door": (
        """
        core/test_one_door.py::test_strict_fits
        core/test_one_door.py::test_broken_published
        core/test_one_door.py::test_only_the_curator
    """,
        """
        core/test_one_door.py::test_twin_a_recipe_that_reads_past
        core/test_one_door.py::test_twin_an_answer_that_is_not_paid
    """,
    ),
    "T8 the ledger in exact fractions": (
        """
        core/test_ledger.py::TestArithmetic::test_the_sum_is_exact
        algorithms/test_contract.py::TestLedger::test_closes_at_exactly_epsilon
        core/test_ledger.py::TestOverdraft::test_it_raises_before_any_noise
        core/test_ledger.py::TestArithmetic::test_parallel_parts
    """,
        """
        core/test_ledger.py::TestRules::test_a_broken_rule
        core/test_ledger.py::TestArithmetic::test_parts_that_are_not_disjoint
    """,
    ),
    "T9 the domain is the declared one": (
        """
        algorithms/test_contract.py::TestDomain::test_constant_columns
        algorithms/test_contract.py::TestDomain::test_neighbours_release
    """,
        """
        algorithms/test_contract.py::TestDomain::test_twin
    """,
    ),
    "T10 randomness": (
        """
        core/test_noise.py::TestSource::test_a_run_never
        core/test_noise.py::TestSource::test_child_streams
        core/test_noise.py::TestSource::test_seeded_runs
    """,
        """
        core/test_noise.py::TestSource::test_twin
        core/test_noise.py::TestSource::test_without_a_seed
    """,
    ),
    "T11 floating point": (
        """
        core/test_noise.py::TestIntegers::test_neighbours_reach
    """,
        """
        core/test_noise.py::TestIntegers::test_twin_doubles
        audit/test_audit.py::TestFloatingPoint::test_the_textbook
    """,
    ),
    "T12 the same seed, the same bytes": (
        """
        core/test_noise.py::TestDeterminism::test_known_draws
        algorithms/test_contract.py::TestSeeds::test_same_seed_same_bytes
    """,
        """
        core/test_noise.py::TestDeterminism::test_another_seed
        algorithms/test_contract.py::TestSeeds::test_no_seed_differs
    """,
    ),
    "T13 utility": (
        """
        algorithms/test_contract.py::TestUtility::test_at_a_million
        algorithms/test_contract.py::TestUtility::test_error_falls
    """,
        """
        algorithms/test_contract.py::TestUtility::test_twin
    """,
    ),
    "T14 every mechanism says its lemma": (
        """
        project/test_privacy_docs.py::test_what_touches_data
        project/test_privacy_docs.py::test_every_score
    """,
        """
        project/test_privacy_docs.py::test_twin
    """,
    ),
    "T15 the privacy page": (
        """
        project/test_promise.py::test_the_page_is_there
    """,
        """
        project/test_promise.py::test_twin
    """,
    ),
    "T16 10,000 mutated files": (
        """
        algorithms/test_contract.py::TestFile::test_mutated_files
    """,
        """
        algorithms/test_contract.py::TestFile::test_twin
    """,
    ),
    "T17 released types are the declared ones": (
        """
        algorithms/test_types.py::test_the_types_of_a_frame
        algorithms/test_types.py::test_every_family
        algorithms/test_types.py::test_a_cell_that_changes
    """,
        """
        algorithms/test_types.py::test_twin
    """,
    ),
    "T18 reproducible noise is not private": (
        """
        core/test_model_files.py::TestReproducible::test_it_is_not_private
        core/test_model_files.py::TestReproducible::test_fresh_noise
        core/test_model_files.py::TestReproducible::test_a_source
    """,
        """
        core/test_model_files.py::TestReproducible::test_twin
    """,
    ),
    "T19 interrupts: whole or not at all, and what was spent is kept": (
        """
        algorithms/test_interrupts.py::test_a_fit_that_is_stopped_anywhere
        algorithms/test_interrupts.py::test_stopped_at_every_line
        files/test_session.py::TestFits::test_the_charge_is_on_disk
        files/test_session.py::TestKilled::
    """,
        """
        algorithms/test_interrupts.py::test_twin
        files/test_session.py::TestFits::test_twin
        files/test_session.py::TestKilled::test_twin
    """,
    ),
    "T20 every released table is tied to its ledger": (
        """
        core/test_model_files.py::TestForged::test_a_forged_file
        core/test_model_files.py::TestForged::test_every_line
        audit/test_zoo.py::test_every_defect_is_caught
    """,
        """
        core/test_model_files.py::TestForged::test_twin
    """,
    ),
    "T21 hostile files": (
        """
        core/test_model_files.py::TestHostile::test_a_trap
        core/test_model_files.py::TestHostile::test_an_exponent
        core/test_model_files.py::TestHostile::test_no_table_is_built
    """,
        """
        core/test_model_files.py::TestHostile::test_twin
    """,
    ),
    "T22 exact replay": (
        """
        audit/test_replays.py::test_every_strict_algorithm_keeps_every_line
        audit/test_replays.py::test_mixes_and_restrictions
        audit/test_replays.py::TestClaims::test_a
        audit/test_replays.py::test_every_algorithm_has_the_defects
        algorithms/test_replay.py::test_a_strict_fit
        persons/test_persons.py::test_every_level_loses_at_most_its_own
    """,
        """
        persons/test_persons.py::test_a_wrong_weight_is_seen
        audit/test_replays.py::test_twin_a_planted_defect_is_caught
        audit/test_replays.py::test_twin_the_same_where_a_record_is_added
        audit/test_replays.py::TestClaims::test_twin
    """,
    ),
    "T23 audits with power": (
        """
        audit/test_power.py::test_the_pair_of_a_whole_fit
        audit/test_power.py::TestPower::test_moving_tables_as_simulated
        audit/test_power.py::TestOdds::test_it_is_a_likelihood_ratio
        audit/test_power.py::TestApart::test_every_fit
        audit/test_power.py::TestApart::test_a_batch
        papers/test_courtroom.py::test_where_few_answers_move
    """,
        """
        audit/test_power.py::TestApart::test_twin
        audit/test_power.py::TestPlanted::test_a_factor_above
        audit/test_power.py::TestPower::test_a_perfect_attack
    """,
    ),
    "T24 OpenDP end to end": (
        """
        core/test_opendp.py::test_the_scale_of_a_selection_is_public
        core/test_opendp.py::test_end_to_end
    """,
        """
        core/test_opendp.py::test_twin
    """,
    ),
}

# What an attack found around the sound mechanisms, each with a test, and a twin that plants it.
HOLES = {
    "H1 types that pandas inferred": TRUST["T17 released types are the declared ones"],
    "H2 a seeded fit called private": TRUST["T18 reproducible noise is not private"],
    "H3 half a fit after the stop button": TRUST[
        "T19 interrupts: whole or not at all, and what was spent is kept"
    ],
    "H4 audits that see nothing": (
        "audit/test_replays.py::test_every_algorithm audit/test_power.py::TestPower::",
        "audit/test_replays.py::test_twin_a_planted audit/test_power.py::TestPlanted::",
    ),
    "H5 a file that hangs the loader": TRUST["T21 hostile files"],
    "H6 a file without its ledger": TRUST["T20 every released table is tied to its ledger"],
    "H7 attributes that go together": (
        """
        algorithms/test_personal.py::TestTogether::test_a_set
    """,
        """
        algorithms/test_personal.py::TestTogether::test_twin
    """,
    ),
}


@pytest.fixture(scope="module")
def known(root):
    """Every test as ``folder/file::Class::name``, and whether it is marked slow as a whole."""
    tests = root / "tests"
    return {
        f"{path.relative_to(tests).as_posix()}::{name}": slow
        for path in sorted(tests.rglob("test_*.py"))
        for name, slow in find(ast.parse(path.read_text(encoding="utf-8")))
    }


def find(tree):
    """The tests of a module or class, those of a class with its name before them."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}::{name}", slow) for name, slow in find(node))
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name, "pytest.mark.slow" in map(ast.unparse, node.decorator_list)


def missing(trust, known):
    """Names of the index that no test has, and tests of trust without a test or a twin."""
    holes = [label for label, parts in trust.items() if not all(map(str.split, parts))]
    listed = [name for parts in trust.values() for part in parts for name in part.split()]
    return holes + [name for name in listed if not any(k.startswith(name) for k in known)]


def late(trust, known):
    """Tests of trust whose tests or twins are all slow: the short run would not notice."""
    fast = [name for name, slow in known.items() if not slow]
    return [
        label
        for label, parts in trust.items()
        for part in parts
        if not any(name.startswith(start) for start in part.split() for name in fast)
    ]


def test_all_are_there(known):
    numbers = [int(label.split()[0][1:]) for label in TRUST]
    assert numbers == sorted({*numbers} | {*range(1, 25)})
    assert missing(TRUST, known) == []
    assert missing(HOLES, known) == late(HOLES, known) == []
    assert [label.split()[0] for label in HOLES] == [f"H{i}" for i in range(1, 8)]


def test_twin_a_test_that_was_renamed_or_lost_its_twin_is_missed(known):
    gone, there = "core/test_sensitivity.py::TestNothing", "core/test_noise.py::"
    assert missing({"T1": (gone, there)}, known) == [gone]
    assert missing({"T1": (there, "")}, known) == ["T1"]


def test_the_short_run_holds_a_test_and_a_twin_of_each(known):
    assert late(TRUST, known) == []


def test_twin_a_test_that_is_slow_as_a_whole_is_not_in_the_short_run():
    known = dict(find(ast.parse("def test_a(): ...\n@pytest.mark.slow\ndef test_b(): ...\n")))
    assert known == {"test_a": False, "test_b": True}
    assert late({"T1": ("test_a", "test_b"), "T2": ("test_a", "test_")}, known) == ["T1"]
