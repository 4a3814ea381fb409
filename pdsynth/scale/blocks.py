"""Coded records in blocks, outside memory: what is counted in each block is added up."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import accumulate
from threading import Lock
from typing import Any, Self, TypeVar

import numpy as np
import pandas as pd

from ..core import Codes, Encoding, Schema, SchemaError, Split, count_cells, progress
from . import threads
from .threads import in_order

ROWS = 2**17  # records of a block
SHARE = 4  # a table that others are summed from has at most ROWS/4 cells: measured to be fastest
MEMORY = 2**26  # bytes of codes that are held before they go to a file
PASS_CELLS = 2**23  # 64 MiB of counts, which one pass fills
UNREADABLE = (
    "a cell can't be coded, for example a text that isn't in UTF-8: schema.problems(frame) says "
    "which column it is in; recode or drop it"
)
KNOWN = (SchemaError, MemoryError)  # errors whose texts hold no cells
Result = TypeVar("Result")
Add = Callable[[Codes, Any, np.ndarray], None]  # a block, the sets, a total


def add_tables(block: Codes, sets: Sequence[Split], total: np.ndarray) -> None:
    """Add the tables of a block to flat ``total``, where they lie end to end."""
    start = 0
    for cells, key in block.keys(sets):
        part = total[start : start + cells]
        if cells <= 8 * block.n:
            part += np.bincount(key, minlength=cells)
        else:
            np.add.at(part, key, 1)
        start += cells


def add_cells(block: Codes, sets: np.ndarray, total: np.ndarray) -> None:
    """Add tables of two-valued sets (m, s) of a block to ``total`` (2^s, m)."""
    for rows, table in block.cells(sets):
        total[:, rows] += table


class InBlocks:
    """What counters of blocks share: every question is a sum over blocks of tables of counts.

    **Privacy:** raw counts, inside the curator. A block is asked for tables and for nothing else.
    """

    pass_cells = PASS_CELLS

    def __init__(self, sizes: Sequence[int], n: int) -> None:
        self.sizes, self.n = tuple(int(size) for size in sizes), n
        self.at_once = min(n, ROWS // SHARE)
        self.encodings: tuple[Encoding, ...] = ()  # views of views, the first one first

    def sum_blocks(self, add: Add, sets: Any, shape: tuple[int, ...]) -> np.ndarray:
        """What ``add`` adds to zeros of a shape, over all blocks: int64."""
        raise NotImplementedError

    def tables(self, sets: Iterable[Split]) -> Iterator[np.ndarray]:
        """As :meth:`~pdsynth.core.records.Counter.tables`."""
        step, cells = list[Split](), list[int]()
        for head, tail in sets:
            mine = count_cells([self.sizes[j] for j in (*head, *tail)])
            if step and sum(cells) + mine > self.pass_cells:
                yield from self._pass(step, cells)
                step, cells = [], []
            step.append((head, tail))
            cells.append(mine)
        if step:
            yield from self._pass(step, cells)

    def _pass(self, step: Sequence[Split], cells: Sequence[int]) -> list[np.ndarray]:
        total = self.sum_blocks(add_tables, step, (sum(cells),))
        return np.split(total, list(accumulate(cells[:-1])))

    def cells(self, sets: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """As :meth:`~pdsynth.core.records.Counter.cells`."""
        step = max(self.pass_cells >> sets.shape[1], 1)
        for start in range(0, len(sets), step):
            part = sets[start : start + step]
            shape = 2 ** sets.shape[1], len(part)
            yield slice(start, start + len(part)), self.sum_blocks(add_cells, part, shape)

    def encoded(self, encoding: Encoding) -> Self:
        """As :meth:`~pdsynth.core.records.Counter.encoded`: each block as it comes."""
        twin = copy(self)
        twin.sizes, twin.encodings = encoding.schema.sizes, (*self.encodings, encoding)
        return twin


class Blocks(InBlocks):
    """Blocks of codes in memory while they are small, else in a temporary file.

    The file has no name and mode 0600, and the system removes it as soon as this process closes it
    or dies, however it dies. It holds private records: let ``TMPDIR`` be a disk that may.

    **Privacy:** raw records, on this machine's own disk at most.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__(sizes, 0)
        self._kind = np.uint8 if max(sizes) <= 256 else np.uint16
        self._file = tempfile.SpooledTemporaryFile(max_size=MEMORY)  # noqa: SIM115
        self._lengths: list[int] = []
        self._columns = len(sizes)
        self.nbytes = 0

    def append(self, codes: np.ndarray) -> None:
        """One more block: codes (records, columns).

        **Privacy:** raw records in; they go no farther than this machine's disk.
        """
        raw = np.ascontiguousarray(codes.T, dtype=self._kind).tobytes()
        self._file.write(raw)
        self._lengths.append(len(codes))
        self.nbytes += len(raw)
        self.n += len(codes)
        self.at_once = min(self.n, ROWS // SHARE)

    def __iter__(self) -> Iterator[np.ndarray]:
        self._file.seek(0)
        for rows in self._lengths:
            raw = self._file.read(rows * self._columns * np.dtype(self._kind).itemsize)
            yield np.frombuffer(raw, dtype=self._kind).reshape(self._columns, rows).T

    def close(self) -> None:
        """Remove the codes."""
        self._file.close()

    def sum_blocks(self, add: Add, sets: Any, shape: tuple[int, ...]) -> np.ndarray:
        """One pass over all blocks: each thread takes the next one and has a total of its own."""
        number, turn = len(self._lengths), Lock()
        blocks = iter(progress(self, "counting", number, "block"))

        def add_blocks(_: int) -> np.ndarray:
            total = np.zeros(shape, dtype=np.int64)
            while True:
                with turn:
                    codes = next(blocks, None)
                if codes is None:
                    return total
                add(as_block(codes, self.sizes, self.encodings), sets, total)

        workers = max(min(threads.WORKERS, number), 1)
        totals = list(in_order(add_blocks, ((i,) for i in range(workers)), workers))
        return sum(totals[1:], totals[0])


def code_frames(
    frames: Iterator[pd.DataFrame], schema: Schema, workers: int = 1
) -> Iterator[np.ndarray]:
    """Codes of frames in blocks of ROWS records or a little more; the last may be short.

    SchemaError as of the whole table, with the rows that it is about.

    **Privacy:** raw records in, raw records out; errors name no values.
    """

    def code(done: int, frame: pd.DataFrame) -> np.ndarray:
        try:
            return refuse_raw(lambda: schema.encode(frame, empty=True), UNREADABLE)
        except SchemaError as problem:
            words = f"{problem} [in rows {done + 1:,} to {done + len(frame):,}]"
        raise SchemaError(words)

    waiting, count = list[np.ndarray](), 0
    for codes in in_order(code, _number(frames), workers):
        waiting.append(codes)
        count += len(codes)
        if count >= ROWS:
            yield np.concatenate(waiting)
            waiting, count = [], 0
    if count:
        yield np.concatenate(waiting)


def refuse_raw(
    work: Callable[[], Result], words: str, known: tuple[type[Exception], ...] = KNOWN
) -> Result:
    """What ``work`` returns; for an error that isn't ``known`` SchemaError: words and its type.

    **Privacy:** raw records in, raw records out. Texts of errors of Python, pandas and Arrow may
    hold cells, and so may what an error was raised from: none of it is handed on.
    """
    try:
        return work()
    except known:
        raise
    except Exception as problem:
        kind = type(problem).__name__
    raise SchemaError(f"{words} ({kind})")


def check_number(due: int | None, found: int) -> None:
    """SchemaError where a table has another number of records than it had.

    **Privacy:** reads public numbers.
    """
    if due not in (None, found):
        raise SchemaError(
            f"the table had {due:,} records and has {found:,} now: it changed while it was read"
        )


def _number(frames: Iterable[pd.DataFrame]) -> Iterator[tuple[int, pd.DataFrame]]:
    """Each frame with how many rows came before it."""
    done = 0
    for frame in frames:
        yield done, frame
        done += len(frame)


def as_block(codes: np.ndarray, sizes: Sequence[int], encodings: Sequence[Encoding]) -> Codes:
    """Codes of a block, or another view of them, of domains with these sizes.

    **Privacy:** raw records in, raw records out.
    """
    block = Codes(codes, encodings[0].original.sizes if encodings else sizes)
    for encoding in encodings:
        block = block.encoded(encoding)
    return block
