"""Independent pieces of work in processes, or on the workers of the Dask client that is in use."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..core import needed_for
from ..scale.workers import active_client


def run_each(
    work: Callable[..., Any], items: Iterable[tuple[Any, ...]], jobs: int, *, in_order: bool = False
) -> Iterator[Any]:
    """``work(*item)`` for every item, each result as it ends, or in the order of the items.

    ``jobs``: processes (−1: all cores, or all workers of an active ``distributed.Client``; 1: none
    but this one).
    """
    if jobs == 1:
        yield from (work(*item) for item in items)
        return
    with needed_for("work in several processes", "say jobs=1"):
        from joblib import Parallel, delayed, parallel_config

    backend = "dask" if active_client() is not None else "loky"
    with parallel_config(backend=backend):
        run = Parallel(n_jobs=jobs, return_as="generator" if in_order else "generator_unordered")
    yield from run(delayed(work)(*item) for item in items)
