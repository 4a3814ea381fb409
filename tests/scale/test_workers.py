"""Records on the workers of a Dask cluster: the same bytes, tables of counts alone come back, and a
worker may die."""

import os
import pickle
import signal
import sys
import warnings
from contextlib import nullcontext
from itertools import pairwise

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from contract_cases import CASES, TABLES, document, make, spending
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin

from pdsynth import (
    Attribute,
    BudgetError,
    Network,
    PrivacyError,
    PrivBayes,
    Schema,
    SchemaError,
    Synthesizer,
)
from pdsynth.core.records import Lattice
from pdsynth.files import columns
from pdsynth.scale import blocks, sources, workers
from pdsynth.scale.sources import find_source
from pdsynth.scale.workers import Held, add_up, count, describe, hash_records, hold

LARGE = 400  # records, in four row groups


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


def large(table="mixed", n=LARGE):
    return TABLES[table](n=n)


def parquet(frame, path, parts=4):
    frame.to_parquet(path, row_group_size=-(-len(frame) // parts))
    return path


def found(name, data, schema, **params):
    """A model as it stands in its file, or the words that refuse it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = make(name, schema, random_state=5, **params).fit(data, schema)
            return document(fitted.model_)
        except (BudgetError, PrivacyError) as refusal:
            return str(refusal)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_strict_synthesizer_gives_the_same_bytes(name, client, tmp_path):
    """A part for each worker, and few columns: a pass over the workers takes long, whatever it
    asks."""
    frame, schema = large()
    schema = Schema(schema.attributes[2:6])
    frame = frame[[*schema.names]]
    path = parquet(frame, tmp_path / "t", 2)
    assert found(name, path, schema, epsilon=20) == found(name, frame, schema, epsilon=20)


@pytest.mark.slow
def test_dask_dataframes_with_and_without_missing_values(client):
    for table in TABLES:
        frame, schema = large(table)
        lazy = dd.from_pandas(frame, npartitions=3)
        assert found("PrivBayes", lazy, schema) == found("PrivBayes", frame, schema)


def test_a_dask_dataframe_without_a_client_is_read_here(monkeypatch):
    monkeypatch.setattr(sources, "active_client", lambda: None)
    frame, schema = large("gaps")
    lazy = dd.from_pandas(frame, npartitions=3)
    assert find_source(lazy).client is None
    assert found("ConsistentBayes", lazy, schema) == found("ConsistentBayes", frame, schema)
    with pytest.raises(SchemaError, match="'grade'.*in rows"):
        PrivBayes().fit(dd.from_pandas(frame.assign(grade=7), npartitions=3), schema)


@pytest.mark.parametrize("workers", [False, True])
def test_a_dask_dataframe_with_private_bins_is_coded_by_its_cells(workers, request, monkeypatch):
    if workers:
        request.getfixturevalue("client")
    else:
        monkeypatch.setattr(sources, "active_client", lambda: None)
    pay = Attribute.numeric("pay", 0, 1000, bins="private", number=6, integer=True)
    schema = Schema((pay, Attribute.categorical("sex", ["f", "m"])))
    frame = pd.DataFrame({"pay": np.arange(600) * 7 % 1001, "sex": ["f", "m"] * 300})
    lazy = dd.from_pandas(frame, npartitions=3)
    assert found("ConsistentBayes", lazy, schema) == found("ConsistentBayes", frame, schema)


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_loses_nothing(client, tmp_path, monkeypatch):
    frame, schema = large()
    path = parquet(frame, tmp_path / "t")
    passes = []
    ask = workers.DaskBlocks._ask

    def kill(self, question, places):
        passes.append(set(places))
        if len(passes) == 2:  # its tasks wait for a worker that never comes back
            os.kill(self.client.run(os.getpid)[min(places)], signal.SIGKILL)
        return ask(self, question, places)

    monkeypatch.setattr(workers.DaskBlocks, "_ask", kill)
    whole = found("HPPrivBayes", frame, schema, epsilon=20)
    passes.clear()
    assert found("HPPrivBayes", path, schema, epsilon=20) == whole
    assert passes[0] == passes[1]
    assert passes[1] - passes[2] == {min(passes[1])}, "asked again, without the killed one"
    client.wait_for_workers(2)


@pytest.mark.slow
@pytest.mark.parametrize("lazy", [False, True])
def test_a_bad_value_in_the_last_part_is_refused_before_anything_is_spent(
    lazy, client, tmp_path, monkeypatch
):
    frame, schema = large()
    frame.loc[LARGE - 1, "city"] = "Paris"
    data = dd.from_pandas(frame, npartitions=4) if lazy else parquet(frame, tmp_path / "t")
    with (
        spending(monkeypatch) as seen,
        pytest.raises(SchemaError, match=r"'city': 1 value.*of part 4 of 4") as error,
    ):
        PrivBayes(k=1).fit(data, schema)
    assert seen == []
    assert "Paris" not in str(error.value)


# --- what crosses


class Recorder(SchedulerPlugin):
    """Notes every result that a task leaves in a worker's memory: kind of task, type, bytes."""

    name = "recorder"

    def __init__(self):
        self.results = []

    def transition(self, key, start, finish, *args, nbytes=0, typename="", **more):
        if start == "processing" and finish == "memory":
            self.results.append((str(key).split("-")[0], typename, nbytes))


def record(client, work):
    """What ``work`` returns, the results of all tasks meanwhile, and the keys that moved."""
    client.register_plugin(Recorder())
    before = moved(client)
    answer = work()
    results = client.run_on_scheduler(
        lambda dask_scheduler: dask_scheduler.plugins["recorder"].results
    )
    client.unregister_scheduler_plugin("recorder")
    return answer, results, moved(client) - before


def moved(client):
    """Kinds of tasks whose results one worker has had from another, and when."""
    logs = client.run(
        lambda dask_worker: [(x["start"], *x["keys"]) for x in dask_worker.transfer_incoming_log]
    )
    return {(start, key) for log in logs.values() for start, *keys in log for key in keys}


def leaves(results):
    """Results that others may fetch: all but blocks, which pickle as nothing."""
    return sorted(result for result in results if result[1] != f"{Held.__module__}.Held")


@pytest.mark.slow
class TestWhatLeavesAWorker:
    def work(self, path, schema):
        """A fit over a public network, so that both sizes ask the same, and a whole lattice."""
        network = Network(tuple((b, (a,) * bool(a)) for a, b in pairwise(("", *schema.names))))
        Synthesizer(structure=network, epsilon=20, random_state=5).fit(path, schema)
        counter = find_source(path).encode(schema)
        Lattice(counter).build(3, kind="K")
        counter.close()

    def test_only_tables_whose_size_does_not_depend_on_n(self, client, tmp_path, monkeypatch):
        monkeypatch.setattr(blocks, "ROWS", 64)  # how a lattice is planned follows from public n
        seen = []
        for n in (LARGE, 8 * LARGE):
            frame, schema = large(n=n)
            path = parquet(frame, tmp_path / str(n))
            _, results, keys = record(client, lambda p=path, s=schema: self.work(p, s))
            asked = [result for result in leaves(results) if result[0] == "Question"]
            given = [result for result in leaves(results) if result[0] != "Question"]
            assert {kind for kind, *_ in given} == {"describe", "count", "add_up"}
            assert not any(str(key).startswith("hold") for _, key in keys)
            seen.append((given, len(asked), sum(x[2] for x in results if x[0] == "hold")))
        (*few, small), (*many, more) = seen
        assert few == many, "kind, type and bytes of every result, and the number of questions"
        assert more > 4 * small, "the blocks themselves do grow"

    def test_twin_a_task_that_gives_rows_is_seen(self, client, tmp_path, monkeypatch):
        sizes = []
        for n in (LARGE, 8 * LARGE):
            frame, schema = large(n=n)
            path = parquet(frame, tmp_path / str(n))

            def leak(path=path, schema=schema):
                source = find_source(path)
                counter = source.encode(schema)
                rows = [client.submit(give_rows, part, pure=False) for part in counter._parts]
                return sum(map(len, client.gather(rows)))

            answer, results, _ = record(client, leak)
            assert answer == n
            sizes.append(sum(size for kind, _, size in leaves(results) if kind == "give_rows"))
        assert sizes[1] > 4 * sizes[0]

    def test_blocks_that_are_fetched_arrive_empty(self, client, tmp_path):
        frame, schema = large()
        counter = find_source(parquet(frame, tmp_path / "t")).encode(schema)
        fetched = client.gather(counter._parts)
        assert [(part.blocks, part.n) for part in fetched] == [(None, 100)] * 4
        counter.close()

    def test_parts_that_were_spilled_or_moved_are_coded_again(self, client, tmp_path):
        frame, schema = large()
        counter = find_source(parquet(frame, tmp_path / "t")).encode(schema)
        (whole,) = counter.tables([((), (0, 1))])
        assert sum(map(sum, client.run(spill, [part.key for part in counter._parts]).values())) == 4
        (again,) = counter.tables([((), (0, 1))])
        assert again.tolist() == whole.tolist()
        assert whole.sum() == LARGE
        counter.close()


def give_rows(held):
    return np.concatenate(list(held.blocks))


def spill(keys, dask_worker=None):
    """What a worker does that is short of memory: write results out, and read them back."""
    mine = [key for key in keys if key in dask_worker.data]
    for key in mine:
        dask_worker.data[key] = pickle.loads(pickle.dumps(dask_worker.data[key]))
    return [dask_worker.data[key].blocks is None for key in mine]


class Threads:
    """A client with as many threads."""

    def __init__(self, number):
        self.number = number

    def nthreads(self):
        return {"a": self.number}


@pytest.mark.parametrize(("groups", "threads", "parts"), [(100, 2, 9), (100, 50, 100), (4, 1, 4)])
def test_row_groups_side_by_side_are_one_part_and_every_thread_has_some(
    groups, threads, parts, tmp_path
):
    frame, _ = large()
    (file,) = find_source(parquet(frame, tmp_path / "t", groups)).dataset.get_fragments()
    found = list(sources.split_file(file, Threads(threads)))
    assert len(found) == parts
    assert [g.id for part in found for g in part.row_groups] == list(range(groups))


def test_a_part_holds_no_more_than_its_limit_but_one_row_group(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PART", 10)
    frame, _ = large()
    (file,) = find_source(parquet(frame, tmp_path / "t", 100)).dataset.get_fragments()
    rows = [
        sum(g.num_rows for g in part.row_groups) for part in sources.split_file(file, Threads(1))
    ]
    assert set(rows) == {8}


class TestHeld:
    def test_a_pickle_holds_no_record_however_many_there_are(self):
        sizes = set()
        for n in (LARGE, 8 * LARGE):
            frame, schema = large(n=n)
            held = hold(frame, schema)
            raw = pickle.dumps(held)
            assert describe(held)[:2] == (n, "")
            assert len(describe(held)[2]) == 8
            assert pickle.loads(raw).blocks is None
            assert sys.getsizeof(held) > n * len(schema)
            sizes.add(len(raw))
        assert max(sizes) < 200

    def test_a_mark_is_of_all_records_in_whatever_order_and_blocks(self, monkeypatch):
        frame, schema = large()
        mark = describe(hold(frame, schema))[2]
        other = frame.assign(city=[*frame["city"][1:], frame["city"][0]])
        assert describe(hold(other, schema))[2] != mark, "the same counts of single columns"
        monkeypatch.setattr(blocks, "ROWS", 64)
        assert describe(hold(frame[::-1], schema))[2] == mark

    def test_a_record_more_has_another_mark_also_one_of_first_values(self):
        codes = np.zeros((3, 4), dtype=np.uint8)
        assert len({hash_records(codes[:n]) for n in range(4)}) == 4

    def test_counts_of_an_empty_part_are_none_and_so_is_their_sum(self):
        schema = large()[1]
        question = workers.Question(workers.Add, [], (2,), schema.sizes, None)
        assert count(question, [b""], Held()) is None
        assert add_up(np.ones(2), None) is None
        assert add_up(np.ones(2), np.ones(2)).tolist() == [2, 2]
        assert add_up(np.ones(2), None, "words", "more") == "words"

    def test_what_does_not_fit_is_said_and_not_raised(self):
        frame, schema = large()
        held = hold(frame.assign(city="Paris"), schema)
        assert held.blocks is None
        assert "'city': 400 value(s)" in describe(held)[1]
        assert "Paris" not in describe(held)[1]


# --- a part that is read again


ROWS = [["a", "b"], ["a", "b"], ["b", "a"], ["b", "b"]]
READ = []  # the parts that were read so far, by workers in threads of this process


def deal(number):
    """Two of four rows: the other two once both parts have been read."""
    READ.append(number)
    at = number if len(READ) <= 2 else 1 - number
    return pd.DataFrame(ROWS[2 * at : 2 * at + 2], columns=["x", "y"], dtype="str")


def spoil(number):
    return deal(number) if len(READ) < 2 else deal(number).replace("a", SECRET)


class TestReadAgain:
    """A worker that dies, or is short of memory, has parts coded again, from whatever is there."""

    schema = Schema(tuple(Attribute.categorical(name, ["a", "b"]) for name in "xy"))

    def read_twice(self, read, client):
        """The table of both columns, when the parts have been lost in between."""
        READ.clear()
        empty = pd.DataFrame({"x": [], "y": []}, dtype="str")
        source = find_source(dd.from_map(read, [0, 1], meta=empty))
        source.check(self.schema, empty=False)
        (whole,) = source.counter.tables([((), (0, 1))])
        assert whole.tolist() == [0, 2, 1, 1]
        client.run(spill, [part.key for part in source.counter._parts])
        (again,) = source.counter.tables([((), (0, 1))])
        return again.tolist()

    def test_a_part_that_holds_other_records_is_refused(self, here):
        """Else one that moved to a part which wasn't read again would count twice."""
        with pytest.raises(SchemaError, match="held other records when it was read again"):
            self.read_twice(deal, here)

    def test_a_part_that_fits_no_more_is_said(self, here):
        with pytest.raises(SchemaError, match="'[xy]': . value") as error:
            self.read_twice(spoil, here)
        assert SECRET not in str(error.value)

    def test_a_file_that_grew_before_it_was_coded(self, here, tmp_path):
        frame = pd.DataFrame(ROWS, columns=["x", "y"])
        source = find_source(parquet(frame, tmp_path / "t", 1))
        grown = pd.concat([frame, frame])
        source.dataset = find_source(parquet(grown, tmp_path / "u", 1)).dataset
        with pytest.raises(SchemaError, match="had 4 records and has 8 now"):
            source.encode(self.schema)


# --- logs

SECRET = "SECRETCELL"


def with_bytes(path, rows=40):
    """A Parquet file whose last text isn't in UTF-8, and a schema of it."""
    texts = [b"a"] * (rows - 1) + [f"{SECRET}".encode() + b"\xff"]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32).tobytes()
    column = pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts)))
    pa.parquet.write_table(
        pa.table({"x": column, "y": ["a"] * rows}), path, row_group_size=rows // 4
    )
    return Schema(tuple(Attribute.categorical(name, ["a", "b"]) for name in "xy"))


def hold_as_before(frames, schema, attempt=""):
    """A twin: SchemaError alone is caught, and every other error is raised on the worker."""
    held = blocks.Blocks(schema.sizes)
    for frame in [frames] if hasattr(frames, "columns") else frames:
        held.append(schema.encode(frame))
    return Held(held, held.n)


def hold_rows_as_before(rows, schema):
    return hold_as_before(
        (batch.to_pandas() for batch in rows.to_batches(columns=["x", "y"])), schema
    )


def told(client, work):
    """The text of an error and of all that it was raised from, and the logs of all workers."""
    with pytest.raises(Exception) as error:  # noqa: PT011, B017 - the twin raises Arrow's own
        work()
    words, each = "", error.value
    while each is not None:
        words, each = f"{words} {each!r}", each.__cause__ or each.__context__
    return error.value, words, str(client.get_worker_logs())


@pytest.fixture
def here():
    """Workers in threads of this process, so that they see what a test replaces."""
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


class TestLogs:
    @pytest.mark.slow
    def test_neither_a_log_nor_the_client_tells_a_cell(self, client, tmp_path):
        schema = with_bytes(tmp_path / "t")
        error, words, logs = told(client, lambda: PrivBayes(k=1).fit(tmp_path / "t", schema))
        assert isinstance(error, SchemaError)
        assert "'x'" in str(error)
        assert "of part" in str(error)
        assert SECRET not in words
        assert SECRET not in logs

    def test_the_same_with_workers_in_threads(self, here, tmp_path):
        schema = with_bytes(tmp_path / "t")
        error, words, logs = told(here, lambda: PrivBayes(k=1).fit(tmp_path / "t", schema))
        assert isinstance(error, SchemaError)
        assert SECRET not in words + logs

    def test_twin_raised_on_the_worker_both_tell_it(self, here, tmp_path, monkeypatch):
        schema = with_bytes(tmp_path / "t")
        monkeypatch.setattr(sources, "hold_rows", hold_rows_as_before)
        monkeypatch.setattr(workers, "refuse_raw", lambda work, *_: work())
        monkeypatch.setattr(columns, "only_plain", lambda what: nullcontext())
        error, words, logs = told(here, lambda: PrivBayes(k=1).fit(tmp_path / "t", schema))
        assert not isinstance(error, SchemaError)
        assert SECRET in words
        assert SECRET in logs

    @pytest.mark.parametrize("kind", [OverflowError, UnicodeError, RuntimeError, MemoryError])
    def test_whatever_fails_while_a_part_is_coded(self, kind, here, monkeypatch):
        frame, schema = large()

        def fail(self, column):
            raise kind(f"{SECRET} {column}")

        monkeypatch.setattr(Attribute, "encode", fail)
        lazy = dd.from_pandas(frame, npartitions=3)
        error, words, logs = told(here, lambda: PrivBayes(k=1).fit(lazy, schema))
        assert isinstance(error, SchemaError)
        assert kind.__name__ in str(error)
        assert "of part 1 of 3" in str(error)
        assert SECRET not in words + logs

    @pytest.mark.parametrize("local", [False, True])
    def test_steps_of_the_owner_that_fail_are_told_by_their_type(self, local, here, monkeypatch):
        """What Dask computes before us: the client sees no cell; the worker's log is Dask's."""
        frame, schema = large()
        if local:
            monkeypatch.setattr(sources, "active_client", lambda: None)
        broken = dd.from_pandas(frame, npartitions=2).map_partitions(fail_with_a_cell, meta=frame)
        error, words, _ = told(here, lambda: PrivBayes(k=1).fit(broken, schema))
        assert isinstance(error, SchemaError)
        assert "compute" in str(error)
        assert "ArithmeticError" in str(error)
        assert SECRET not in words


def fail_with_a_cell(frame):
    raise ArithmeticError(SECRET)
