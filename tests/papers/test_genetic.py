"""The GA paper's experiments: its printed numbers, the trials' resumption, the rules of verdicts,
small runs of every table."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from paper_tools import board_of, counting

import pdsynth as pds
from pdsynth.papers import genetic, genetic_measures, genetic_peer, genetic_tables
from pdsynth.papers.engine import stem
from pdsynth.papers.genetic_measures import SCENARIOS
from pdsynth.papers.genetic_tables import CELLS, CLASSIFIERS, STAND_IN, compared, printed
from pdsynth.papers.grids import Curve, Run
from pdsynth.papers.results import FAILS, PARTLY, REPLICATES, VERDICTS

PAPER, TITLES, Settings = genetic.PAPER, genetic.PAPER.titles, genetic.PAPER.settings
PRINTED = {key: part["printed"] for key, part in PAPER.experiments.items() if "printed" in part}
VII = PAPER.experiments["table 7"]["matrices"]
QUICK = {
    "degrees": ("1",),
    "credit_degrees": ("1",),
    "custom": "2",
    "population": 20,
    "elite": 3,
    "generations": 5,
    "credit_generations": 5,
    "searches": 2,
}


def run(key, repeats=1, data=None, **options):
    return genetic.PAPER.run(
        key, Run(repeats, 1, data, jobs=1, **options), counting("genetic", key, **QUICK)
    )


@pytest.fixture(scope="module")
def small(cmc):
    """369 rows of CMC under another name, so that no table is found by its own."""
    return replace(cmc, frame=cmc.frame.iloc[::4].reset_index(drop=True), name="small")


@pytest.fixture(scope="module")
def ran(small):
    """Two repeats of a table, run once; its trials are only read."""
    return cache(lambda key: run(key, 2, small))


def test_parameters_are_the_papers():
    s = Settings()
    assert (s.population, s.elite, s.generations, s.credit_generations) == (200, 10, 400, 2000)
    assert (s.degrees, s.credit_degrees, s.custom, genetic.PAPER.repeats) == (
        ("1", "2", "3", "4"),
        ("1", "2", "3"),
        "4",
        10,
    )
    assert SCENARIOS["adult"] == (("age", "workclass", "occupation", "race", "sex"), 5)
    assert list(TITLES) == [1, *(f"table {n}" for n in (2, 3, 4, 5, 6, 7, 9, 10, 11, 12))]


@pytest.mark.parametrize("key", ["table 5", "table 6", "table 10", "table 11"])
def test_printed_averages_are_those_of_their_rows(key):
    for row in PRINTED[key]:
        cells = [printed(key, row, c)[0] for c in genetic_tables.columns(key)[:-1]]
        assert np.mean(cells) == pytest.approx(printed(key, row, "Avg")[0], abs=0.11), row


def test_printed_numbers_are_read_cell_by_cell():
    assert printed("table 5", "GA 1", "LR") == (41.8, 4.9)
    assert printed("table 6", "DS 3", "SV")[0] == 81.0
    assert np.isnan(printed("table 6", "DS 3", "SV")[1])
    assert np.isnan(printed("table 9", "original", "SV")[0])  # not legible
    assert printed("table 9", "DSc 4", "Avg")[0] == 57.9
    assert np.isnan(printed("table 9", "strict GA, ε = 1", "NB")[0])
    averages = [printed("table 7", row, "Avg")[0] for row in VII]
    assert averages == pytest.approx([66.5, 49.4, 54.4, 59.8, 59.4, 40.7, 57.4], abs=0.06)
    tables = {key: set(rows) for key, rows in PRINTED.items()}
    for key, rows in tables.items():
        shown = {label for label, _ in genetic_tables.rows(key, Settings())}
        assert rows <= shown, key  # every printed row has its trials


def test_tables_have_the_papers_columns_and_20_bins():
    adult, cmc = genetic.table("adult", Settings()), genetic.table("cmc", Settings())
    assert len(adult.schema) == 13
    assert not {"fnlwgt", "education"} & set(adult.schema.names)
    assert max(a.size for a in adult.schema.attributes if a.edges) == 20
    assert (adult.sensitive, adult.target, len(adult.train)) == ("relationship", "salary", 32_561)
    assert (adult.train["relationship"] == "Husband").mean() == pytest.approx(
        0.405, abs=0.0005
    )  # the printed zero rule
    fine = genetic_measures.rebin(adult.schema, np.inf)
    assert fine["age"].size == 74
    assert fine["capital-gain"].size == 20  # 100,000 values: left as they are
    assert (cmc.sensitive, cmc.schema["children"].size) == ("husband_education", 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    "key", ["table 5", pytest.param("table 9", marks=pytest.mark.slow), "table 11", "table 2", 1]
)
def test_every_kind_of_table_runs(ran, key):
    result = ran(key)
    assert result.data["value"].notna().all()
    assert result.figure.data
    assert {v.verdict for v in result.verdicts} <= set(VERDICTS)
    assert result.deviation
    curves = {c.name for c, _ in compared(key, Settings(**QUICK))}
    assert {
        Curve(*row).name
        for row in result.data[["method", "guarantee", "k"]].drop_duplicates().to_numpy()
    } == curves
    assert genetic.PAPER.appendix(key, result) or key == 1
    if key == 1:
        assert len(result.data) == 5 * 45 + 45 * (
            2 * len(curves) - 6
        )  # 45 pairs; the original once
    else:
        assert "±" in genetic.PAPER.appendix(key, result)


def test_reproduce_prints_the_paper_beside_us(small):
    result = pds.papers.reproduce(
        "genetic",
        table=11,
        repeats=1,
        data=small,
        jobs=1,
        **counting("genetic", "table 11", **{**QUICK, "custom": "4"}),
    )
    assert result.cells().loc["GA 4", "SV"].startswith("55.1±2.6 → ")
    assert " sd)" in result.cells().loc["GA 4", "SV"]
    assert result.cells().loc["strict GA, ε = 1", "SV"].startswith("– → ")
    assert "55.1±2.6 →" in repr(result)
    assert "55.1±2.6 →" in result._repr_html_()


@pytest.mark.slow
def test_a_stopped_run_goes_on_and_gives_the_same_rows(small, ran, tmp_path):
    store = tmp_path / "deep" / "genetic.csv"
    whole = ran("table 5")
    run("table 5", 1, small, resume=store)
    lines = store.read_text().splitlines(keepends=True)
    store.write_text("".join(lines[:-3]))  # the last trial lost its end: run again as a whole
    again = run("table 5", 2, small, resume=store)
    pd.testing.assert_frame_equal(whole.data, again.data)
    before = store.stat().st_size
    pd.testing.assert_frame_equal(run("table 5", 2, small, resume=store).data, whole.data)
    assert store.stat().st_size == before  # nothing was run


@pytest.mark.slow
def test_seeds_differ_and_settings_matter(small, ran):
    data = ran("table 11").data
    assert data.groupby(["method", "guarantee", "k", "repeat"])["seed"].nunique().eq(1).all()
    assert data["seed"].nunique() == data.groupby(["method", "guarantee", "k", "repeat"]).ngroups
    curve = Curve("GA", "none", "1")
    assert "generations=5" in repr(genetic.synthesizer(curve, small, Settings(**QUICK)))
    custom = genetic.synthesizer(Curve("DSc", "strict", "auto"), small, Settings())
    assert (custom.target, custom.sensitive, custom.guarantee) == (
        "method",
        "husband_education",
        "strict",
    )


def test_strict_twins_close_their_ledgers(small):
    for curve, epsilon in compared("table 11", Settings(**QUICK)):
        if curve.guarantee == "strict":
            made = genetic.synthesizer(curve, small, Settings(**QUICK)).set_params(
                epsilon=epsilon, random_state=1
            )
            ledger = made.fit(small.frame, schema=small.schema).ledger_
            assert [text[:3] for text in ledger.check()] == [
                "L10"
            ]  # simulation noise, and nothing else


def test_the_share_of_the_optimum_is_a_share(ran):
    data = ran("table 2").data
    share = data.loc[data["metric"] == "share of the optimum", "value"]
    assert len(share) == 2
    assert share.between(0.5, 1 + 1e-12).all()


def test_no_peer_no_rows(small, monkeypatch):
    monkeypatch.delenv(genetic_peer.VARIABLE, raising=False)
    assert genetic_peer.python() == ""
    assert "DataSynthesizer" not in set(run("table 2", 1, small).data["method"])


def test_the_peer_is_asked_for_seconds(small, monkeypatch, tmp_path):
    """A stand-in for DataSynthesizer's Python that writes what the script would write."""
    fake = tmp_path / "python"
    fake.write_text(
        "#!/bin/sh\ntest -s table.csv -a -s network.json && "
        'echo \'{"description_seconds": 3, "sampling_seconds": 4}\' > "$5"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv(genetic_peer.VARIABLE, str(fake))
    data = run("table 2", 1, small).data
    found = data[data["method"] == "DataSynthesizer"].set_index("metric")["value"]
    assert found.to_dict() == {"description, s": 3, "generation, s": 4}
    fake.write_text("#!/bin/sh\nsleep 5\n")
    network = pds.Network((("wife_age", ()),))
    assert np.isnan(
        list(genetic_peer.seconds(small.frame, small.schema, network, 1, 0.001).values())
    ).all()


# --- verdicts


def trials(key, level):
    """Trials of a table in which each row's every cell is ``level(curve)`` per cent, with a small
    spread."""
    rows = []
    for curve, epsilon in compared(key, Settings()):
        for column in (*genetic_tables.columns(key), "zero rule", "majority"):
            for i in range(4):
                value = 40.0 if column in ("zero rule", "majority") else level(curve) + i / 100
                rows.append(
                    (
                        genetic_tables.metric(key, column),
                        curve.method,
                        curve.guarantee,
                        curve.k,
                        epsilon,
                        i,
                        0,
                        value / 100,
                        "",
                    )
                )
    return pd.DataFrame(
        rows,
        columns=[
            "metric",
            "method",
            "guarantee",
            "k",
            "epsilon",
            "repeat",
            "seed",
            "value",
            "note",
        ],
    )


def verdicts(key, level):
    judged = PAPER.judge(key, trials(key, level), Settings())
    return [v.verdict for v in judged if v.claim != "The printed cells"]


def test_disclosure_verdicts_follow_the_numbers():
    good = {"original": 60.0, "GA": 55.0, "DSc": 41.0}
    assert verdicts("table 10", lambda c: good[c.method]) == [REPLICATES] * 4
    assert verdicts("table 10", lambda c: {**good, "DSc": 56.0}[c.method]) == [
        REPLICATES,
        FAILS,
        FAILS,
        FAILS,
    ]
    assert (
        verdicts("table 10", lambda c: {**good, "GA": 40.5, "original": 40.5}[c.method])[0] == FAILS
    )


def test_utility_verdicts_follow_the_numbers():
    assert verdicts("table 12", lambda c: {"DSc": 79.0}.get(c.method, 80.0)) == [REPLICATES]
    assert verdicts("table 12", lambda c: {"DSc": 77.0}.get(c.method, 80.0)) == [FAILS]
    falling = {"1": 81.0, "2": 80.0, "3": 79.0, "4": 78.0, "auto": 70.0}  # GA − DS: −1, 0, +1, +2
    found = verdicts("table 6", lambda c: {"GA": 80.0, "DS": falling.get(c.k)}.get(c.method, 80.5))
    assert found == [PARTLY, REPLICATES, REPLICATES]
    swapped = {"GA": "DS", "DS": "GA"}
    higher = {"GA": 80.5, "DS": 80.0, "original": 80.0}  # greedy search drops nowhere
    assert verdicts("table 7", lambda c: higher[c.method]) == [REPLICATES, REPLICATES, FAILS]
    assert verdicts("table 7", lambda c: higher[swapped.get(c.method, c.method)])[0] == FAILS


def test_stand_in_numbers_are_never_put_beside_the_papers():
    data = trials("table 7", lambda c: 50.0)
    assert genetic_tables.beside("table 7", data, Settings())["paper"].notna().any()
    assert (
        genetic_tables.beside("table 7", data.assign(note=STAND_IN), Settings())["paper"]
        .isna()
        .all()
    )


def test_what_could_not_be_run_is_said():
    """The stand-in's page names the paper's numbers apart, and shows our confusion matrices."""
    data = trials("table 7", lambda c: 50.0).assign(note=STAND_IN)
    extra = [
        {**row, "metric": f"{c} {cell}", "value": 7.0}
        for row in data[data["metric"] == "F2 NB"].to_dict("records")
        for c in CLASSIFIERS
        for cell in CELLS
    ]
    result = genetic.PAPER.assemble(
        "table 7", pd.concat([data, pd.DataFrame(extra)], ignore_index=True), {}
    )
    text = genetic_tables.appendix("table 7", result)
    assert "None of the paper's cells could be run" in text
    assert "original 66.5, DS 1 49.4" in text
    assert "| DS none 1 | 7 7 / 7 7 |" in text


def test_cells_far_from_the_papers_are_counted():
    judged = PAPER.judge("table 11", trials("table 11", lambda c: 50.0), Settings())
    assert judged[0].claim == "The printed cells"
    assert judged[0].verdict == PARTLY
    assert "of 10 cells" in judged[0].numbers
    judged = PAPER.judge("table 12", trials("table 12", lambda c: 80.0), Settings())
    assert "The printed cells" not in {v.claim for v in judged}  # one split, no deviations printed


@pytest.mark.parametrize(
    ("key", "repeats", "options"),
    [("table 8", 1, {}), (2, 1, {}), ("table 5", 0, {}), ("table 5", 1, {"epsilons": 1})],
)
def test_what_does_not_exist_is_refused(small, key, repeats, options):
    with pytest.raises(pds.BudgetError):
        genetic.PAPER.run(key, Run(repeats, 1, small, jobs=1), options)


# --- what is committed: the tests of figures look at points, pictures and the index page

FOLDER = Path(__file__).resolve().parents[2] / "figures" / "genetic"


@pytest.mark.parametrize(
    "key", [key for key in TITLES if (FOLDER / f"{stem(key)}_trials.csv").exists()]
)
def test_committed_trials_are_real_and_complete(key):
    result = board_of("genetic").results[key]
    found = set(map(tuple, result.data[["method", "guarantee", "k"]].drop_duplicates().to_numpy()))
    assert {(c.method, c.guarantee, c.k) for c, _ in compared(key, Settings())} <= found
    assert (
        result.parameters["tables"].items()
        <= {"cmc": 1_473, "adult": 48_842, "credit_default": 30_000}.items()
    )


def test_a_committed_trial_can_be_repeated():
    data, dataset, settings = (
        board_of("genetic").results["table 11"].data,
        genetic.table("cmc", Settings()),
        Settings(),
    )
    row = data[
        (data["method"] == "DSc") & (data["guarantee"] == "none") & (data["metric"] == "LR")
    ].iloc[0]
    curve = Curve(row["method"], row["guarantee"], row["k"])
    trial = genetic.Trial("utility", curve, float("inf"), int(row["repeat"]), f"{row['seed']:08x}")
    assert genetic_measures.utility(trial, dataset, settings)["LR"] == pytest.approx(
        row["value"], rel=1e-5
    )
