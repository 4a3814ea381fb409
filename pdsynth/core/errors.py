"""The three errors of the library, and the checks that all floors share: of what a user gives, and
of the packages that an extra brings.

Each error says what happened, with the numbers, and what to do.
"""

import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, KeysView, Sequence, Set, ValuesView
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from importlib import import_module
from numbers import Integral
from os import PathLike
from reprlib import Repr
from typing import Any, TypeVar


class _Plain(Repr):
    """Of a table inside a list or dictionary, or of another library, its type alone."""

    def repr_instance(self, x: Any, level: int) -> str:
        plain = not hasattr(x, "__len__") or isinstance(x, bytes)
        return super().repr_instance(x, level) if plain else type_of(x)


_SHORT = _Plain()
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = _SHORT.maxdict = 8
_SHORT.maxstring = _SHORT.maxother = 80
# Packages that the library works without: module, name of the package, extra that brings it.
OPTIONAL = {
    "IPython": ("ipython", "course"),
    "anywidget": ("anywidget", "course"),
    "charset_normalizer": ("charset-normalizer", "files"),
    "click": ("click", "files"),
    "dask": ("dask", "scale"),
    "distributed": ("distributed", "scale"),
    "ipywidgets": ("ipywidgets", "course"),
    "joblib": ("joblib", "learn"),
    "kaleido": ("kaleido", "figures"),
    "mbi": ("mbi", "yardstick"),
    "mistune": ("mistune", "files"),
    "numba": ("numba", "fast"),
    "opendp": ("opendp", "secure"),
    "openpyxl": ("openpyxl", "files"),
    "plotly": ("plotly", "figures"),
    "polars": ("polars", "yardstick"),
    "pyarrow": ("pyarrow", "scale"),
    "scipy": ("scipy", "learn"),
    "sklearn": ("scikit-learn", "learn"),
    "sklearnex": ("scikit-learn-intelex", "fast"),
    "threadpoolctl": ("threadpoolctl", "course"),
    "traitlets": ("traitlets", "course"),
}
# The houses next door that the core may ask, each when it is needed first.
DOORS = (
    "answers baselines binning concentrated constraints files persons planning published "
    "scale secure"
).split()


class SchemaError(ValueError):
    """The table and its declared public domain do not agree, or a declaration is impossible."""


class BudgetError(ValueError):
    """A budget or a parameter of an algorithm is impossible, or would be overdrawn."""


class BudgetDegenerate(BudgetError):
    """A paper's formula divides by zero or fewer tables (thesis, Algorithm 5)."""


class PrivacyError(ValueError):
    """A step would touch raw records outside a mechanism while the guarantee is strict."""


@contextmanager
def needed_for(what: str, instead: str = "") -> Iterator[None]:
    """Around the import of an optional package: where it isn't installed, ImportError with a
    sentence that says what needs it, the extra that brings it, and what to do ``instead``.

    >>> with needed_for("a picture", "save the numbers"):
    ...     raise ModuleNotFoundError(name="plotly.io")
    Traceback (most recent call last):
    ...
    ImportError: a picture needs plotly: pip install 'pdsynth[figures]', or save the numbers
    """
    try:
        yield
    except ImportError as missing:
        module = (missing.name or "").partition(".")[0]
        if module not in OPTIONAL:
            raise
        package, extra = OPTIONAL[module]
        remedy = f"pip install 'pdsynth[{extra}]'" + (f", or {instead}" if instead else "")
        raise ImportError(f"{what} needs {package}: {remedy}", name=missing.name) from missing


def door(name: str) -> Any:
    """A house next door: its package, which is imported now. The core asks no other way."""
    assert name in DOORS
    return import_module(f"pdsynth.{name}")


def is_whole(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether a parameter is a whole number from ``low`` to ``high``; ``True`` and 1.0 are none."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and bool(low <= value <= high)


LARGEST, SMALLEST = 10**15, Fraction(1, 10**100)  # of any parameter, unless it is 0
LEAST_SHARE = Fraction(1, 10**6)


def as_fraction(value: float | int | str | Fraction) -> Fraction:
    """A share or ε as written: 0.1 becomes 1/10, never the nearest binary float.

    >>> as_fraction(0.1), as_fraction(1/3)
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise BudgetError(f"a budget or share must be finite, got {value}")
    written = Fraction(str(value))
    near = written.limit_denominator(1000)  # 0.3333333333333333 is how a float writes 1/3
    return near if isinstance(value, float) and float(near) == value else written


def number(name: str, value: float | int | str | Fraction) -> Fraction:
    """A finite number: 0, or from 1e-100 to 1e15 in size."""
    try:
        fraction = Fraction(LARGEST + 1) if _is_long(value) else as_fraction(value)
    except (ValueError, TypeError, ZeroDivisionError) as problem:
        raise BudgetError(f"{name} must be a finite number, got {show(value)}") from problem
    if fraction and not SMALLEST <= abs(fraction) <= LARGEST:
        raise BudgetError(
            f"{name} = {show(value)} is beyond any use: a number must lie between "
            "1e-100 and 1e15 in size"
        )
    return fraction


def _is_long(value: Any) -> bool:
    """Whether a decimal, written out, would be too long to compute with."""
    try:
        return isinstance(value, (str, Decimal)) and abs(Decimal(value).adjusted()) > 1000
    except InvalidOperation:  # 1/3, or no number at all
        return False


def positive(name: str, value: float | int | str | Fraction) -> Fraction:
    """A number above zero."""
    fraction = number(name, value)
    if fraction <= 0:
        raise BudgetError(f"{name} must be a positive finite number, got {show(value)}")
    return fraction


def share(name: str, value: float | Fraction) -> Fraction:
    """A share strictly between 0 and 1, and at least a millionth."""
    fraction = positive(name, value)
    if not LEAST_SHARE <= fraction < 1:
        raise BudgetError(f"{name} must lie between 0 and 1, got {show(value)} (1e-6 is the least)")
    return fraction


def check_seed(seed: Any) -> None:
    """Refuse a random state that is neither None, a whole number of at least 0, nor a list of such.

    Raises BudgetError.
    """
    seeds = seed if isinstance(seed, (list, tuple)) and seed else [seed]
    if seed is not None and not all(is_whole(s, 0, 2**128) for s in seeds):
        raise BudgetError(
            f"random_state must be None or a whole number from 0 to 2^128, got {show(seed)}"
        )


def check_path(path: Any) -> None:
    """Refuse what is no path of a file."""
    if not isinstance(path, (str, PathLike)):
        raise SchemaError(f"a path must be a text or a Path, got {show(path)}")
    if "\0" in str(path):
        raise SchemaError("a path holds the sign NUL, which no file's name can: correct it")


def is_one_of(value: Any, known: Any) -> bool:
    """Whether a parameter is one of the known words."""
    return isinstance(value, str) and value in known


def check_word(
    name: str, value: Any, known: Iterable[str], error: type[ValueError] = BudgetError
) -> None:
    """Refuse a parameter that isn't one of the known words."""
    if not is_one_of(value, known):
        raise error(f"{name} must be one of {tuple(known)}, got {show(value)}")


def check_known(asked: Sequence[Any], known: Sequence[str], where: str) -> None:
    """Refuse a name of an attribute that isn't known, and what is no name."""
    if gone := [name for name in asked if not is_one_of(name, known)]:
        raise SchemaError(f"no attribute {show(gone[0])} in {where}; it has {name_some(known, 40)}")


def show(value: Any) -> str:
    """What was given, for a message: short; of a table or an array its type, never its values."""
    if getattr(value, "ndim", 0) or hasattr(value, "__next__"):
        return type_of(value)
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer of thousands of digits
        return f"a very long {type(value).__name__}"


def type_of(value: Any) -> str:
    """The type of what was given; of a table of another library with the library's name."""
    library = type(value).__module__.partition(".")[0]
    foreign = type(value).__name__ == "DataFrame" and library != "pandas"
    return f"{library}.DataFrame" if foreign else type(value).__name__


def warn(words: str) -> None:
    """Warn, and name the line that called the library, however deep within it that is said."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "pdsynth":
        frame, level = frame.f_back, level + 1
    warnings.warn(words, UserWarning, stacklevel=level)


def tell(words: str) -> None:
    """Warn within a fit that is charged already: where warnings are errors it goes to stderr,
    since an error would lose what was paid for.
    """
    try:
        warn(words)
    except UserWarning:
        print(f"UserWarning: {words}", file=sys.stderr)


def plural(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``"1 line"``, ``"1,200 lines"``; ``many`` where no s makes it."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def name_some(names: Sequence[str], most: int = 5) -> str:
    """The first of some columns, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def to_list(
    what: str, given: Any, error: type[ValueError] = SchemaError, kind: str = "a list"
) -> list[Any]:
    """What was given as a list, in its order: a list, tuple, array of one dimension, or Series.

    Refuses text, whose letters would be taken for items, and sets, whose order changes from one
    process to the next.
    """
    if isinstance(given, (list, tuple, range)):
        return list(given)
    if getattr(given, "ndim", 0) == 1:
        return list(given.tolist())
    why = ""
    if isinstance(given, Set) and not isinstance(given, KeysView):
        why = ": a set has no order, and the result would change from one run of Python to the next"
    elif isinstance(given, str):
        why = f": write [{given[:40]!r}]"
    raise error(f"{what} must be {kind}, got {show(given)}{why}")


def to_items(what: str, given: Any) -> list[Any]:
    """As :func:`to_list`; also iterators and the keys or values of a dictionary, read once."""
    once = isinstance(given, (Iterator, KeysView, ValuesView))
    return list(given) if once else to_list(what, given)


def to_names(what: str, given: Any) -> tuple[str, ...]:
    """One name or a list of names, each a text; None: none."""
    if given is None or isinstance(given, str):
        return () if given is None else (given,)
    kind = "the name of an attribute, or a list of names"
    names = to_list(what, given, kind=kind)
    if not all(isinstance(name, str) for name in names):
        raise SchemaError(f"{what} must be {kind}, got {show(given)}")
    return tuple(names)


Item = TypeVar("Item")
DELAY = 2.0  # seconds before a bar shows itself
OFF = "PDSYNTH_PROGRESS"  # set to 0 in the environment: no bars
_wanted: ContextVar[bool] = ContextVar("wanted", default=True)


def shown() -> bool:
    """Whether bars are wanted here, and there is a stderr: not under ``PDSYNTH_PROGRESS=0``."""
    return _wanted.get() and os.environ.get(OFF, "1") != "0" and sys.stderr is not None


def progress(
    items: Iterable[Item], what: str, total: int | None = None, unit: str = "step", *, done: int = 0
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
    """A bar to be moved by hand with its ``update``. **Privacy:** as :func:`progress`."""
    from tqdm.auto import tqdm  # noqa: PLC0415

    with tqdm(
        total=total, desc=what, delay=DELAY, leave=False, disable=not shown(), **options
    ) as meter:
        yield meter


@contextmanager
def wanted(yes: bool) -> Iterator[None]:
    """Bars within this ``with`` only if ``yes``."""
    token = _wanted.set(_wanted.get() and yes)
    try:
        yield
    finally:
        _wanted.reset(token)
