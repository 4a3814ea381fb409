"""One bar for whatever takes longer than two seconds, in notebooks and terminals.

A bar counts steps whose number is public: attributes, rounds, fits, rows that are drawn.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Item = TypeVar("Item")
DELAY = 2.0  # seconds before a bar shows itself
OFF = "PDSYNTH_PROGRESS"  # set to 0 in the environment: no bars
_wanted: ContextVar[bool] = ContextVar("wanted", default=True)


def shown() -> bool:
    """Whether bars are wanted here: not under ``progress=False``, nor ``PDSYNTH_PROGRESS=0``."""
    return _wanted.get() and os.environ.get(OFF, "1") != "0"


def progress(
    items: Iterable[Item],
    what: str,
    total: int | None = None,
    unit: str = "step",
    *,
    done: int = 0,
) -> Iterable[Item]:
    """The same items under a bar with a forecast, where bars are wanted.

    ``total``: how many, where ``items`` doesn't know; ``done``: how many were finished before.

    **Privacy:** shows public numbers only: how many steps there are, and the time.
    """
    if not shown():
        return items
    from tqdm.auto import tqdm  # noqa: PLC0415 - heavy, and only where a bar may be seen

    return tqdm(items, desc=what, total=total, unit=unit, initial=done, delay=DELAY, leave=False)


@contextmanager
def bar(total: float | None, what: str, **options: Any) -> Iterator[Any]:
    """A bar to be moved by hand with its ``update``.

    **Privacy:** as :func:`progress`.
    """
    from tqdm.auto import tqdm  # noqa: PLC0415

    with tqdm(
        total=total, desc=what, delay=DELAY, leave=False, disable=not shown(), **options
    ) as made:
        yield made


@contextmanager
def wanted(yes: bool) -> Iterator[None]:
    """Bars within this ``with`` only if ``yes``."""
    token = _wanted.set(_wanted.get() and yes)
    try:
        yield
    finally:
        _wanted.reset(token)
