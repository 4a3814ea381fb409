"""Teaching tables: kept, shared by panels and lessons, and the same at every move."""

import numpy as np

from pdsynth.course import panels
from pdsynth.course.panels.table import TeachingTable, mean_without, symmetric


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
