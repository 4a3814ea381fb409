"""Grids on the workers of a Dask client: the same rows as in one process, resumable as ever."""

import os

import pytest
from contract_cases import TABLES
from distributed import Client, LocalCluster

from pdsynth import PrivBayes, baselines, papers
from pdsynth.evaluation import parallel
from pdsynth.evaluation.compare import compare
from pdsynth.evaluation.parallel import run_each


@pytest.fixture(scope="module")
def client():
    """Two threads of one worker: they share a process, and must not share what they keep."""
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


def grid(path=None, repeats=4, **options):
    methods = [PrivBayes(k=1), baselines.Independent()]
    frame = compare(
        methods,
        TABLES["binary"](n=300),
        [0.5, 2],
        repeats,
        ["sum_mi", "avd2"],
        resume=path,
        **options,
    )
    return frame.drop(columns="seconds")


def own_pid():
    return os.getpid()


@pytest.mark.slow
def test_pieces_run_on_the_workers_and_without_a_client_in_processes(client, monkeypatch):
    there = set(client.run(os.getpid).values())
    assert set(run_each(own_pid, [()] * 6, -1)) == there
    monkeypatch.setattr(parallel, "active_client", lambda: None)
    assert not set(run_each(own_pid, [()] * 2, 2)) & there


@pytest.mark.slow
def test_compare_gives_the_same_rows_and_resumes(client, tmp_path):
    alone, path = grid(jobs=1), tmp_path / "trials.csv"
    assert grid().equals(alone)
    grid(path, repeats=2)
    before = path.read_text()
    whole = grid(path)
    assert path.read_text().startswith(before), "rows that were there aren't run again"
    assert whole.equals(alone)


@pytest.mark.slow
def test_audits_of_a_paper_run_there_and_resume(client, tmp_path):
    cases, path = ("strict-joint-counts", "hpprivbayes-raw-weights"), tmp_path / "audits.csv"
    papers.reproduce("courtroom", figure=2, cases=cases[:1], runs=400, resume=path)
    before = path.read_text()
    found = papers.reproduce("courtroom", figure=2, cases=cases, runs=400, resume=path).data
    assert set(found["case"]) == set(cases)
    assert path.read_text().startswith(before)
