"""Pieces of work in a few threads: what numpy and Arrow do meanwhile runs side by side."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")
WORKERS = 2


def in_order(
    work: Callable[..., Result], items: Iterable[tuple[Any, ...]], threads: int
) -> Iterator[Result]:
    """``work(*item)`` of every item, in their order; never more than ``threads`` + 1 are held."""
    if threads < 2:
        yield from (work(*item) for item in items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: list[Future[Result]] = []
        for item in items:
            waiting.append(pool.submit(work, *item))
            if len(waiting) > threads:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()
