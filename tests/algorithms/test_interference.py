"""Nothing observable depends on the records but through the mechanisms: with forced answers, all
tables give the same run.

A tape stands in for the random source and forces the same answers, whatever the records say. Then
strict fits on tables that have nothing in common but n and the schema must agree in everything that
anybody can see: candidates and scales asked for, ledger, network, tables, fitted attributes, types,
warnings. A raw order, a shape, a scale, a warning or a refusal read off the records would show.
"""

from fractions import Fraction as Q

import numpy as np
import pytest
from algorithms.test_replay import BINARY, LATE, SIZES, STRICT, N, losses, replay
from late import late
from privacy_tools import as_measured, fits_of, frames_of, interference

from pdsynth import PPBA, GeneticBayes, HMPrivBayes, HPPrivBayes, PrivABN, Synthesizer
from pdsynth import __main__ as command
from pdsynth.algorithms import parts
from pdsynth.audit.tape import Explorer, Player, Tape
from pdsynth.baselines.relatives import (
    CSAPrivBayes,
    ELPrivBayes,
    PrivSCBN,
    SAPrivBayes,
    WeightedPrivBayes,
)
from pdsynth.core.curator import Curator
from pdsynth.core.network import Restriction
from pdsynth.core.recipe import Recipe

POLICY = Restriction("x1", ("x2", "x4"), forced=(("x1", "x0"),), forbidden=(("x3", "x0"),))
QUICK = {"generations": 4, "population": 12, "elite": 4}
MORE = {
    "GA": (GeneticBayes(epsilon=60, k=2, **QUICK), SIZES),
    "GA auto": (GeneticBayes(epsilon=500, **QUICK), SIZES),
    "GA custom": (GeneticBayes(epsilon=40, k=2, target="x1", sensitive="x2", **QUICK), SIZES),
    "GA hill": (GeneticBayes(epsilon=40, k=2, restriction=POLICY, search="hill"), SIZES),
    "GA exact": (GeneticBayes(epsilon=40, k=1, search="exact"), SIZES),
    "GA alone": (GeneticBayes(epsilon=0.1, target="x1", sensitive="x2", **QUICK), SIZES),
    "HP policy": (HPPrivBayes(k=2, sensitive="x3", restriction=POLICY), SIZES),
    "PPBA": (PPBA(epsilon=100, q=1.3), SIZES),
    "CSA": (CSAPrivBayes(k=1, sensitive="x0"), SIZES),
    "EL": (ELPrivBayes(k=2), SIZES),
    "SA": (SAPrivBayes(k=2), SIZES),
    "weighted": (WeightedPrivBayes(k=2), SIZES),
    "entropies, policy, risk": (
        Synthesizer(
            structure=parts.Ordered(1, by="entropy", restriction=POLICY), budget=parts.RiskEntropy()
        ),
        SIZES,
    ),
    "pairwise, policy, ranks": (
        Synthesizer(
            structure=parts.PairwiseSums(2, restriction=POLICY), budget=parts.Geometric(1.5)
        ),
        SIZES,
    ),
    "tree, policy": (Synthesizer(structure=parts.SpanningTree(2, restriction=POLICY)), SIZES),
    "adaptive, policy": (Synthesizer(20, structure=parts.Adaptive(2, restriction=POLICY)), BINARY),
}
ALL = STRICT | MORE


def interfere(synthesizer, one, other, sizes, number):
    """What two tables of codes show differently; "" if nothing."""
    return interference(fits_of(synthesizer, *frames_of((one, other), sizes)), number)


def strange_tables(sizes, seed):
    rng = np.random.default_rng(seed)
    twice = np.repeat(rng.integers(0, sizes, size=(2, len(sizes))), N // 2, axis=0)
    return [
        rng.integers(0, sizes, size=(N, len(sizes))),
        np.zeros((N, len(sizes)), int),
        np.tile(np.array(sizes) - 1, (N, 1)),
        twice,
    ]


@pytest.mark.parametrize("name", late(ALL, LATE.__contains__))
def test_a_strict_run_shows_nothing_but_answers_of_mechanisms(name):
    synthesizer, sizes = ALL[name]
    first, *others = strange_tables(sizes, 1)
    for number, other in zip((2, 1, 2), others, strict=True):  # answers far out, and by the law
        assert interfere(synthesizer, first, other, sizes, number) == ""


@pytest.mark.parametrize(
    "twin",
    [
        HMPrivBayes(k=2, l=1, guarantee="published"),
        PrivABN(guarantee="published"),
        PrivSCBN(k=1, guarantee="published"),
        HPPrivBayes(k=1, sensitive="x3", theta=0.001, guarantee="published"),
        GeneticBayes(k=1, guarantee="published", **QUICK),
        PPBA(k=1, guarantee="published"),
        ELPrivBayes(k=1, guarantee="published"),
    ],
    ids=lambda s: type(s).__name__,
)
def test_twin_a_published_run_shows_more(twin):
    tables = strange_tables(SIZES, 0)
    assert interfere(twin, tables[0], tables[3], SIZES, 2)


@pytest.mark.parametrize("name", MORE)
def test_what_test_replay_does_not_replay(name):
    synthesizer, sizes = MORE[name]
    epsilon = float(Q(str(synthesizer.epsilon)))
    found = losses(as_measured(synthesizer), sizes, count=4)
    assert 0.4 * epsilon <= max(found) <= epsilon * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "GA custom",
        "GA alone",
        "adaptive, policy",
        "HM private clusters",
        "PrivABN stops",
        "JTree dense",
        "PriView views",
    ],
)
def test_a_change_of_one_attribute_loses_no_more_than_its_line(name):
    """``attribute_epsilon`` holds for records that differ in this attribute alone, on bits and
    under policies, too."""
    synthesizer, sizes = as_measured(ALL[name][0]), ALL[name][1]
    rng, used = np.random.default_rng(7), 0.0
    for j in range(len(sizes)):
        for table in (
            np.zeros((N, len(sizes)), int),
            rng.integers(0, sizes, size=(N, len(sizes))),
        ):
            after = table.copy()
            after[-1, j] = (after[-1, j] + 1) % sizes[j]
            found = replay(synthesizer, table, after, sizes, seed=j)
            assert found.ok, found
            assert found.change == f"one record changes in x{j}"
            used = max(used, found.log_ratio / float(found.claimed))
    assert used > 0.3, "the line is used, not only kept"


# --- the folder that may be published -------------------------------------------------------------

DECLARED = """
[attributes]
age = "0 to 99 in 8 bins"
sex = "f | m"
ill = { values = [false, true], missing = true }
"""
HIDDEN = "--set relation=add_remove"
RELEASES = {
    "replaced": "--epsilon 3",
    "of persons": "--epsilon 0.2 --records-per-person 3",
    "by groups": "--epsilon 1 --method HPPrivBayes --set sensitive=ill",
    "added": f"--epsilon 1 --method ConsistentBayes {HIDDEN}",
    "with delta": f"--epsilon 1 --delta 1e-9 --method ConsistentBayes {HIDDEN}",
    "columns": f"--epsilon 1 --method Independent {HIDDEN}",
}


class Fresh(Tape):
    """Forced answers that pass for fresh noise, as a release wants it."""

    reproducible = False

    def _stream(self, label):
        return Fresh(self._answer, self._seed, (*self._label, label))


def release_of(seed, n, folder, words, answer, patch):
    """Every byte of a release of a made-up file, and what its command printed."""
    folder.mkdir()
    rng = np.random.default_rng(seed)
    rows = zip(
        rng.integers(0, 9 * seed, n), rng.choice(list("fmm"), n), rng.choice(3, n), strict=True
    )
    lines = [f"{age},{sex},{('True', 'False', '')[ill]}" for age, sex, ill in rows]
    (folder / "data.csv").write_text("\n".join(["age,sex,ill", *lines, ""]))
    (folder / "schema.toml").write_text(DECLARED)
    bits = np.random.PCG64
    with patch.context() as own:
        own.chdir(folder)
        own.setattr(Recipe, "_choose_noise", lambda self, given: Fresh(answer))
        own.setattr(np.random, "PCG64", lambda seed=None: bits(0 if seed is None else seed))
        status = command.main(["release", "data.csv", "schema.toml", "--out", "new", *words])
    assert status == 0
    return {path.name: path.read_bytes() for path in (folder / "new").iterdir()}


def releases_of_two_tables(words, patch, folder, capfd):
    """Two releases of tables that have nothing in common, not even n where it is secret."""
    explorer, said = Explorer(2, 3), []
    for name, seed, n in (("one", 2, 300), ("other", 11, 7 if HIDDEN in words else 300)):
        answer = explorer if name == "one" else Player(explorer.asked)
        files = release_of(seed, n, folder / name, words.split(), answer, patch)
        said.append(files | {"printed": capfd.readouterr()})
    return said


@pytest.mark.parametrize("name", RELEASES)
def test_a_whole_release_shows_nothing_but_answers_of_mechanisms(
    name, monkeypatch, tmp_path, capfd
):
    """Table, model, ledger, schema, measured counts, card, and what is printed, byte for byte."""
    one, other = releases_of_two_tables(RELEASES[name], monkeypatch, tmp_path, capfd)
    assert len(one) == 8
    assert {file for file in one if one[file] != other.get(file)} == set()


def test_twin_a_release_that_knows_how_many_records_there_are_shows_it(
    monkeypatch, tmp_path, capfd
):
    counted = Curator.count_records

    def count(self, epsilon):
        counted(self, epsilon)
        self._n = self._records.n
        return self._n

    monkeypatch.setattr(Curator, "count_records", count)
    one, other = releases_of_two_tables(RELEASES["columns"], monkeypatch, tmp_path, capfd)
    shown = {file for file in one if one[file] != other[file]}
    assert {"model.json", "card.md", "synthetic.csv"} <= shown
