"""Coded records that stay with the workers of a Dask cluster: only tables of counts come back."""

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..core import Encoding, Schema, SchemaError
from .blocks import Add, Blocks, InBlocks, as_block, check_number, code_frames, refuse_raw

ATTEMPTS = 10  # at one pass, while workers die or lose their blocks
PATIENCE = 2.0  # seconds between two looks at which workers are there
UNCOMPUTED = "Dask can't compute a part of the table: frame.partitions[i].compute() shows why"
FAN_IN = 8  # tables that are added in one task
ODD = np.uint64(0x9E3779B97F4A7C15)  # of 64 bits, half of them ones: what a hash multiplies by
CHANGED = (
    "a part of the table held other records when it was read again: write the table to a file, "
    "which gives the same rows each time, and hand in that"
)


class Held:
    """A coded part of the table on the worker that coded it; whoever unpickles one gets it empty.

    So records can't leave their worker, whatever the scheduler moves or spills. ``n``: records;
    ``problem``: why the part doesn't fit the schema, in words without values; ``mark``: a hash of
    the records, in whatever order, by which a part that is coded again is known.

    **Privacy:** raw records.
    """

    def __init__(
        self, blocks: Blocks | None = None, n: int = 0, problem: str = "", mark: bytes = b""
    ) -> None:
        self.blocks, self.n, self.problem, self.mark = blocks, n, problem, mark

    def __reduce__(self) -> tuple[Any, ...]:
        return Held, (None, self.n, self.problem, self.mark)

    def __sizeof__(self) -> int:
        return 256 + (self.blocks.nbytes if self.blocks else 0)


class Question(NamedTuple):
    """What is counted in every block: public."""

    add: Add
    sets: Any
    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    encodings: tuple[Encoding, ...]


def hold(frames: Iterable[pd.DataFrame] | pd.DataFrame, schema: Schema, attempt: str = "") -> Held:
    """Code some frames where they are; what doesn't fit or fails is said and not raised.

    Raised, the worker's log would show the records: the task's arguments and the error's text.
    ``attempt`` makes the task another one.

    **Privacy:** raw records in, raw records held. Of an error that isn't ours its type alone is
    said.
    """
    blocks, mark = Blocks(schema.sizes), 0
    try:
        listed = [frames] if isinstance(frames, pd.DataFrame) else frames
        for codes in code_frames(iter(listed), schema):
            blocks.append(codes)
            mark = (mark + hash_records(codes)) % 2**64
    except SchemaError as problem:
        words = str(problem)
    except Exception as problem:
        words = f"{type(problem).__name__} while the records were coded"
    else:
        return Held(blocks, blocks.n, "", mark.to_bytes(8))
    blocks.close()
    return Held(None, 0, words)


def hash_records(codes: np.ndarray) -> int:
    """The sum of a number of 64 bits for each record, which most other records don't have.

    **Privacy:** raw records in; of one record it tells as much as the record.
    """
    numbers = np.ones(len(codes), dtype=np.uint64)  # of a record of first values, too
    for column in codes.T:
        numbers += column
        numbers *= ODD
        numbers ^= numbers >> np.uint64(29)
    return int(numbers.sum())


def describe(part: Held) -> tuple[int, str, bytes]:
    """Number of records of a part, why it doesn't fit, and its mark.

    **Privacy:** a count, words and a hash, for the client alone.
    """
    return part.n, part.problem, part.mark


def count(question: Question, marks: Sequence[bytes], *parts: Held) -> np.ndarray | str | None:
    """The tables of some parts, added: int64; None if a part has lost its records.

    In words that a part can't be coded again, or isn't the one of before, by their ``marks``.

    **Privacy:** raw counts, whose size follows from public domains.
    """
    total = np.zeros(question.shape, dtype=np.int64)
    for part, mark in zip(parts, marks, strict=True):
        if part.problem or part.mark != mark:
            return part.problem or CHANGED
        if part.blocks is None:
            return None
        for codes in part.blocks:
            question.add(as_block(codes, question.sizes, question.encodings), question.sets, total)
    return total


def add_up(*totals: np.ndarray | str | None) -> np.ndarray | str | None:
    """The sum of some tables; words or None if one of them is.

    **Privacy:** raw counts in, raw counts out.
    """
    tables = [total for total in totals if isinstance(total, np.ndarray)]
    if len(tables) < len(totals):
        return next((total for total in totals if isinstance(total, str)), None)
    return sum(tables[1:], tables[0])


class DaskBlocks(InBlocks):
    """Blocks on the workers of a ``client``; ``start`` submits the tasks that code them.

    Every pass sends each worker the question for the parts that it holds, and the workers' tables
    are added in a tree. If a worker dies, Dask codes its parts again elsewhere, and the pass is
    asked once more. SchemaError where a part then holds other records, as its hash tells: a record
    could count twice, or tables be of two versions. ``n``: how many records there must be, if that
    is known.

    **Privacy:** what leaves a worker is tables of counts, the size and the hash of each part, and
    in words without values why one doesn't fit. Workers and scheduler are trusted as the machine
    that fits. No task of ours raises an error whose text or arguments hold records, so no log shows
    them. What Dask computes before (the reading and the steps of a Dask DataFrame) is its owner's:
    an error there stands in the worker's log as Dask writes it, cells included, and is told here by
    its type alone. A Parquet file that is given by its path is read by us.
    """

    def __init__(
        self,
        client: Any,
        start: Callable[[], Sequence[Any]],
        schema: Schema,
        n: int | None = None,
    ) -> None:
        self.client, self._start = client, start
        self._parts = list(start())
        futures = [client.submit(describe, part, pure=False) for part in self._parts]
        answers = self._compute(lambda: client.gather(futures))
        for number, (_, problem, _) in enumerate(answers, 1):
            if problem:
                self.close()
                raise SchemaError(f"{problem} [of part {number} of {len(answers)}]")
        self._marks = [mark for _, _, mark in answers]
        super().__init__(schema.sizes, sum(own for own, _, _ in answers))
        check_number(n, self.n)

    def _compute(self, work: Callable[[], Any]) -> Any:
        """What Dask has computed; of an error that isn't its own the type alone is said."""
        from distributed.scheduler import KilledWorker

        return refuse_raw(work, UNCOMPUTED, (SchemaError, MemoryError, KilledWorker))

    def close(self) -> None:
        """Let the workers drop their blocks."""
        self._parts = []

    def sum_blocks(self, add: Add, sets: Any, shape: tuple[int, ...]) -> np.ndarray:
        """One pass over all blocks, each on its worker."""
        question = Question(add, sets, shape, self.sizes, self.encodings)
        if not self._parts:
            return np.zeros(shape, dtype=np.int64)
        for _ in range(ATTEMPTS):
            places = self._find_places()
            if places is None:
                time.sleep(PATIENCE / 10)
                continue
            done, total = self._wait(self._ask(question, places), set(places))
            if isinstance(total, str):
                raise SchemaError(total)
            if total is not None:
                return total
            if done:  # a part was moved or spilled, and came back empty
                self._parts = list(self._start())
        raise RuntimeError(
            f"in {ATTEMPTS} attempts the workers lost their blocks again and again: "
            "give them more memory, or fit on one machine"
        )

    def _find_places(self) -> dict[str, list[Any]] | None:
        """The parts of each worker; None while some part is on its way."""
        from distributed import wait

        wait(self._parts)
        owners = self.client.who_has(self._parts)
        places: dict[str, list[Any]] = {}
        for part in self._parts:
            if part.status == "error":
                self._compute(part.result)
            if not owners.get(part.key):
                return None
            places.setdefault(owners[part.key][0], []).append(part)
        return places

    def _ask(self, question: Question, places: dict[str, list[Any]]) -> Any:
        """The future of the sum: one task for each thread of a worker, then a tree of sums."""
        future = self.client.submit(Question, *question, pure=False)
        mark_of = {part.key: mark for part, mark in zip(self._parts, self._marks, strict=True)}
        threads = {worker: max(own, 1) for worker, own in self.client.nthreads().items()}
        shares = [
            (worker, parts[i :: threads.get(worker, 1)])
            for worker, parts in places.items()
            for i in range(min(threads.get(worker, 1), len(parts)))
        ]
        level = [
            self.client.submit(
                count,
                future,
                [mark_of[part.key] for part in mine],
                *mine,
                workers=[worker],
                allow_other_workers=False,
                pure=False,
            )
            for worker, mine in shares
        ]
        while True:
            level = [
                self.client.submit(add_up, *level[i : i + FAN_IN], pure=False)
                for i in range(0, len(level), FAN_IN)
            ]
            if len(level) == 1:
                return level[0]

    def _wait(self, future: Any, workers: set[str]) -> tuple[bool, np.ndarray | str | None]:
        """Whether the sum is done, and the sum; not done: a worker that was asked has gone."""
        while True:
            try:
                return True, future.result(timeout=PATIENCE)
            except TimeoutError:
                if not workers <= set(self.client.nthreads()):
                    return False, None


def active_client() -> Any:
    """The client of Dask that is in use, or None."""
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None
