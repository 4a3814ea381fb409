"""One account over many fits and releases: exact, written down before noise is drawn."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from filelock import FileLock, Timeout

from ..errors import BudgetError, PrivacyError, check_path, show
from .ledger import Ledger
from .noise import Noise
from .numbers import positive

FORMAT = "pdsynth-session-1"
FRACTION = re.compile(r"[0-9]{1,1000}(/0*[1-9][0-9]{0,999})?")
PATIENCE = 60.0  # seconds that another process may hold the lock


class Charge(NamedTuple):
    """One reservation: exact ε, what for, which group of people (none: everybody), when (UTC)."""

    epsilon: Fraction
    step: str
    people: str
    when: str


class Session:
    """One account of ε over many fits and releases about the same people.

    ``epsilon`` : what a person may lose in all. ``path`` : a file, one JSON line per charge, that
    every later ``Session`` with the same ε and path continues; None keeps the account in memory.

    ``synth.fit(frame, schema, session=session)`` charges the whole ε of a fit. The charge is on
    disk before any noise is drawn, and is never given back, whatever becomes of the fit: a crash
    may leave a charge without a release, never a release without its charge. A last line that a
    crash cut short belongs to a charge that nobody relied on, and is dropped. Another process waits
    for the file's lock (``<path>.lock``). Anything else that isn't as written here raises
    BudgetError: a damaged account is nobody's permission to spend.

    Charges add up, over all tables (sequential composition). People who are in no other group may
    be declared: ``session.group("clinic A")`` is the same account, and what is charged there counts
    for that group only; a person loses what was charged to everybody, and what was charged to her
    own group. That groups are disjoint is the owner's word; no software can check it.

    The account is for replaced records (or all records of a person, ``records_per_person``); a fit
    with ``relation="add_remove"`` is charged twice its ε, since a replacement is a removal and an
    addition.

    >>> session = Session(1)
    >>> session.reserve("1/3", "histogram for the press").epsilon
    Fraction(1, 3)
    >>> session
    Session(ε = 1/3 of 1 spent, 1 charge)
    """

    def __init__(
        self, epsilon: float | int | str | Fraction, path: str | os.PathLike[str] | None = None
    ) -> None:
        self._epsilon = positive("epsilon", epsilon)
        if path is not None:
            check_path(path)
        self._people, self._memory = "", list[Charge]()
        self._path = None if path is None else Path(path).resolve()  # one account, one lock
        self._thread_lock = threading.Lock()
        if self._path is not None:
            with self._locked():
                self._open(self._path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Session:
        """The account in a file, with its own ε; BudgetError where there is none."""
        try:
            with open(path, "rb") as file:
                epsilon = json.loads(file.readline(10_000))["epsilon"]
        except (OSError, ValueError, TypeError, LookupError, RecursionError) as problem:
            raise BudgetError(
                f"{Path(path).name} is no account: open a new one with Session(epsilon, path)"
            ) from problem
        return cls(epsilon, path)

    @property
    def epsilon(self) -> Fraction:
        """What a person may lose in all."""
        return self._epsilon

    def group(self, people: str) -> Session:
        """The same account, charging one declared group of people, who are in no other group."""
        if not isinstance(people, str) or not people:
            raise BudgetError(f"a group of people needs a name, got {show(people)}")
        if self._people:
            raise BudgetError(f"this is the account of {self._people!r}: ask the whole session")
        own = copy(self)  # the same lock, the same charges
        own._people = people
        return own

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All charges, those of other processes too, in the order they were written."""
        return tuple(self._memory if self._path is None else _read(self._path, self._epsilon)[0])

    @property
    def spent(self) -> Fraction:
        """What the person who lost most has lost; of a group, what its people have lost."""
        return _spent(self.charges, self._people)

    @property
    def remaining(self) -> Fraction:
        """What may still be charged."""
        return self._epsilon - self.spent

    def reserve(self, epsilon: float | int | str | Fraction, step: str) -> Charge:
        """Charge ε for a step of your own, before you draw anything for it; never refunded.

        Raises BudgetError, and writes nothing, where a person would lose more than the session's ε.

        **Privacy:** reads and releases nothing; costs ``epsilon``.
        """
        if not isinstance(step, str):
            raise BudgetError(f"step must be a text that says what for, got {show(step)}")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        charge = Charge(positive("epsilon", epsilon), step, self._people, now)
        with self._locked():
            before, end = (
                (self._memory, 0) if self._path is None else _read(self._path, self._epsilon)
            )
            total = _spent([*before, charge], self._people)
            if total > self._epsilon:
                raise BudgetError(
                    f"overdraft: {charge.step} asks for ε = {charge.epsilon}, which would bring "
                    f"the session to {total} of {self._epsilon}; nothing was drawn for it"
                )
            if self._path is None:
                self._memory.append(charge)
            else:
                _append(
                    self._path,
                    end,
                    {
                        "charge": len(before) + 1,
                        "epsilon": _text(charge.epsilon),
                        "step": charge.step,
                        "people": charge.people,
                        "when": charge.when,
                    },
                )
        return charge

    def charge_fit(self, ledger: Ledger, noise: Noise, step: str) -> Charge:
        """Charge all that a fit may spend; what no finite ε covers is refused.

        **Privacy:** reads and releases nothing; costs the ledger's promise, twice where a record is
        added or removed.
        """
        if ledger.guarantee != "strict":
            raise PrivacyError(
                f"guarantee={ledger.guarantee!r} promises nothing, so no account "
                "covers it: fit without a session, or use guarantee='strict'"
            )
        if noise.reproducible:
            raise PrivacyError(
                "reproducible noise can be drawn by others, so no account covers "
                "it: use random_state=None, and noise='exact' or 'opendp'"
            )
        twice = 2 if ledger.relation == "add_remove" else 1
        return self.reserve(twice * ledger.claimed, step)

    def to_frame(self) -> pd.DataFrame:
        """One row per charge: step, people, ε, when."""
        rows = [(c.step, c.people or "everybody", c.epsilon, c.when) for c in self.charges]
        return pd.DataFrame(rows, columns=["step", "people", "epsilon", "when"])

    def __repr__(self) -> str:
        number, place = len(self.charges), "" if self._path is None else f", {self._path.name}"
        people = f" by {self._people}" if self._people else ""
        return (
            f"Session(ε = {self.spent} of {self._epsilon} spent{people}, {number} "
            f"charge{'s' * (number != 1)}{place})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>{self.to_frame().to_html(index=False, border=0)}"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone among threads and processes; the system unlocks for a process that dies."""
        if self._path is None:
            with self._thread_lock:
                yield
            return
        lock = FileLock(f"{self._path}.lock")
        try:
            lock.acquire(timeout=PATIENCE)
        except Timeout as late:
            raise BudgetError(
                f"another process has held {self._path.name}.lock for {PATIENCE:g} "
                "seconds; nothing was charged"
            ) from late
        try:
            yield
        finally:
            lock.release()

    def _open(self, path: Path) -> None:
        """A new account, or the one that is there."""
        head = {"format": FORMAT, "epsilon": _text(self._epsilon)}
        there = path.read_bytes() if path.exists() else b""
        if b"\n" in there:
            _read(path, self._epsilon)
        elif _line(head).startswith(there):  # nothing there, or a header that a crash cut short
            _append(path, 0, head)
            if os.name == "posix":  # the file's name is in its folder, which is flushed apart
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        else:
            raise BudgetError(
                f"{path.name} is no account of ε = {self._epsilon}: choose another path"
            )


def _spent(charges: Sequence[Charge], people: str) -> Fraction:
    """Charges to everybody, and to one group; without a name, to the group that lost most."""
    groups = {"": Fraction(0)} | {c.people: Fraction(0) for c in charges}
    for charge in charges:
        groups[charge.people] += charge.epsilon
    everybody = groups.pop("")
    return everybody + (
        groups.get(people, Fraction(0)) if people else max(groups.values(), default=Fraction(0))
    )


def _text(value: Fraction) -> str:
    if not FRACTION.fullmatch(str(value)):
        raise BudgetError("ε has more than a thousand digits: write a shorter fraction")
    return str(value)


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"


def _append(path: Path, end: int, document: dict[str, Any]) -> None:
    """One line after the first ``end`` bytes, on disk when this returns."""
    with open(path, "ab") as file:
        file.truncate(end)  # cuts off no more than what a crash left of a line
        file.write(_line(document))
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path, epsilon: Fraction) -> tuple[list[Charge], int]:
    """The charges of a file, and where its last whole line ends; BudgetError if it is damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as gone:
        raise BudgetError(
            f"{path.name} is gone: put the account back, or open a new session for new people"
        ) from gone
    end = data.rfind(b"\n") + 1
    charges = list[Charge]()
    for number, line in enumerate(data[:end].splitlines()):
        try:
            read = json.loads(line)
            if not FRACTION.fullmatch(read["epsilon"]):
                raise ValueError("not a fraction")
            each = Fraction(read["epsilon"])
            if number == 0:
                if read["format"] != FORMAT or each != epsilon:
                    raise BudgetError(
                        f"{path.name} is an account of ε = {each} ({read['format']}), not of "
                        f"{epsilon}: open it with its own ε, or choose another path"
                    )
                continue
            words = read["step"], read["people"], read["when"]
            if read["charge"] != number or not all(isinstance(w, str) for w in words) or not each:
                raise ValueError("not the next charge")
            charges.append(Charge(each, *words))
        except BudgetError:
            raise
        except (ValueError, TypeError, LookupError, RecursionError) as problem:
            raise BudgetError(
                f"line {number + 1} of {path.name} is not as a session writes it: "
                "the account is damaged, so nothing can be charged to it; restore "
                "it from a copy"
            ) from problem
    if end == 0:
        raise BudgetError(f"{path.name} is no account: it has no header")
    return charges, end
