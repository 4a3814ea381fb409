"""Teaching tables: kept, shared by panels and lessons, and the same at every move."""

import importlib
import math

import numpy as np
import pytest

import pdsynth as pds
from pdsynth.core.agreement import Problem
from pdsynth.course import panels
from pdsynth.course.panels.table import TeachingTable, _open, mean_without, symmetric


def test_panels_and_lessons_share_one_table():
    table = panels.teaching_table()
    assert panels.hpprivbayes.view.table() is table is panels.ppba.view.table()
    assert panels.teaching_table("thesis", seed=8) is panels.clustering.view.table()
    assert panels.teaching_table(seed=8) is not table


def test_another_dataset_has_a_table_of_its_own(cmc):
    table = panels.hpprivbayes.view.table(cmc)
    assert isinstance(table, TeachingTable) and table.dataset is cmc
    assert table.counts(cmc.sensitive).sum() == table.records.n


def test_one_number_per_pair_becomes_a_symmetric_matrix():
    matrix = symmetric(np.array([1.0, 2.0, 3.0]), 3)
    assert np.isnan(np.diag(matrix)).all()
    assert matrix[0, 1] == matrix[1, 0] == 1 and matrix[1, 2] == 3
    assert mean_without(matrix, 0) == 3


def test_a_coarser_agreement_is_hardly_another_distance():
    """Panels end the fit of their tables early: what they show is what a fit gives, within 3 %."""
    table = panels.teaching_table()
    for make in (pds.HMPrivBayes, pds.PPBA, lambda e: pds.HPPrivBayes(e, sensitive="occupation")):
        for epsilon in (0.3, 1.0):
            own, coarse = (
                np.nanmean(table.distances(table.sample(table.run(synthesizer))))
                for synthesizer in (
                    make(epsilon).set_params(reconcile=pds.parts.Agree()),
                    make(epsilon),
                )
            )
            assert 0 < abs(coarse / own - 1) < 0.03


@pytest.mark.parametrize(
    "name", ["side_by_side", "ppba", "hpprivbayes", "hmprivbayes", "custom", "evaluating"]
)
def test_a_panel_starts_with_few_cells(name, monkeypatch):
    """Cells that fits of tables go through until the first figure: a panel once took 22 seconds."""
    seen, one = [], Problem.distribution

    def counted(self, potentials):
        seen.append(sum(math.prod(shape) for shape in self.tree.shapes))
        return one(self, potentials)

    monkeypatch.setattr(Problem, "distribution", counted)
    _open.cache_clear()
    importlib.import_module(f"pdsynth.course.panels.{name}").view()
    assert 0 < sum(seen) < 2e7
