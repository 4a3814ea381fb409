"""One account over many fits and releases: exact, written down before noise is drawn."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pandas as pd
from filelock import FileLock, Timeout

from ..core import BudgetError, Ledger, Noise, PrivacyError, check_path, plural, positive, show
from .documents import DENOMINATOR_BITS
from .story import say_counted, short
from .writing import lock_itself

FORMAT = "pdsynth-session-2"
FORMAT_RHO = "pdsynth-session-rho-1"  # with δ: a version that knows pure ε alone refuses it
MALFORMED = ValueError, TypeError, LookupError, AttributeError, RecursionError
FRACTION = re.compile(r"[0-9]{1,1000}(/0*[1-9][0-9]{0,999})?")
PATIENCE = 60.0  # seconds that another process may hold the lock
MOST_BYTES, MOST_CHARGES = 2**24, 10_000  # of one account
LONGEST = 1_000  # letters of a fit's parameters that stand in its charge
LEVEL = "those with ε = "  # begins the name of a group with an ε of its own
Known = tuple[int, str]  # how many charges an account held, and the hash of the last of them
DAMAGED = "the account is damaged, so nothing can be charged to it; restore it from a copy"


class Charge(NamedTuple):
    """One reservation: exact ε, what for, which group of people (none: everybody), when (UTC)."""

    epsilon: Fraction
    step: str
    people: str
    when: str


class Account(NamedTuple):
    """What an account holds: its charges, the hash of its last line, and the bytes of all lines."""

    charges: Sequence[Charge] = ()
    last: str = ""
    content: bytes = b""


class Session:
    """One account of ε over many fits and releases about the same people.

    ``epsilon`` : what a person may lose in all. ``path`` : a file, one JSON line per charge, that
    every later ``Session`` with the same ε and path continues; it appears with the first charge.
    None keeps the account in memory, for one process: a copy in another one is another account.

    ``synth.fit(frame, schema, session=session)`` charges the whole ε of a fit. The charge is on
    disk before any noise is drawn, and is never given back, whatever becomes of the fit: a crash
    may leave a charge without a release, never a release without its charge. A last line that a
    crash cut short belongs to a charge that nobody relied on, and is dropped. Another process waits
    for the file's lock (``<path>.lock``). Anything else that isn't as written here raises
    BudgetError: a damaged account is nobody's permission to spend.

    Every line holds a hash of itself and of the line before it, and ``<path>.last`` the number of
    charges and the last hash. So a line that was changed, removed, exchanged or doubled is found,
    and where ``<path>.last`` is there, so are lines that were cut off the end, an older copy that
    was put back, and a file that is gone. What only a session that is still open finds: an older
    copy of both files together, and lines that somebody wrote anew with all their hashes. Keep the
    files where only those may write who may spend.

    Charges add up, over all tables (sequential composition). People who are in no other group may
    be declared: ``session.group("clinic A")`` is the same account, and what is charged there counts
    for that group only; a person loses what was charged to everybody, and what was charged to her
    own group. That groups are disjoint is the owner's word; no software can check it. So is that
    people keep their level, where fits give them an ε of their own: those of one list of levels are
    disjoint groups, and where lists differ, the dearest level of each counts for everybody. Where
    the value of an attribute decides the level, another record of a person may have another one, so
    the dearest is charged to all.

    ``delta`` : None, or the account is one of (ε, δ): its charges are ρ of zCDP, and together they
    cost at most the ρ that (ε, δ) allows, so δ is spent once over all of them. A fit with
    ``delta=`` is charged its own ρ, whatever its own δ is; a pure one ε²/2. Without ``delta`` no
    such fit is charged: pure ε can't hold it.

    The account is for replaced records (or all records of a person, ``records_per_person``); a fit
    with ``relation="add_remove"`` is charged twice its ε (four times its ρ), since a replacement is
    a removal and an addition. An account holds at most 10,000 charges, whose common denominator has
    at most 4,096 bits.

    >>> session = Session(1)
    >>> session.reserve("1/3", "histogram for the press").epsilon
    Fraction(1, 3)
    >>> session
    Session(ε = 1/3 of 1 spent, 1 charge)
    """

    def __init__(
        self,
        epsilon: float | int | str | Fraction,
        path: str | os.PathLike[str] | None = None,
        *,
        delta: float | str | Fraction | None = None,
    ) -> None:
        self._epsilon = positive("epsilon", epsilon)
        self._delta: Fraction | None = None
        self._budget = self._epsilon
        if delta is not None:
            from ..concentrated import check_delta, rho_of  # noqa: PLC0415 - where δ is given

            self._delta = check_delta(delta)
            self._budget = rho_of(self._epsilon, self._delta)
        _text(self._epsilon)
        if path is not None:
            check_path(path)
        self._people, self._memory = "", list[Charge]()
        self._seen: Known = 0, ""
        self._path = None if path is None else Path(path).resolve()  # one account, one lock
        self._thread_lock = threading.Lock()
        if self._path is not None and not self._path.parent.is_dir():
            raise BudgetError(
                f"the folder of the account {self._path.name} isn't there: make it, or correct "
                "the path"
            )
        self._account()  # refuses what is no account

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Session:
        """The account in a file, with its own ε; BudgetError where there is none."""
        check_path(path)
        first = _read_bytes(Path(path)).partition(b"\n")[0]
        try:
            header = json.loads(first)
            epsilon, delta = header["epsilon"], header.get("delta")
        except MALFORMED as problem:
            raise BudgetError(
                f"{Path(path).name} is no account: open a new one with Session(epsilon, path)"
            ) from problem
        return cls(epsilon, path, delta=delta)

    @property
    def epsilon(self) -> Fraction:
        """What a person may lose in all."""
        return self._epsilon

    @property
    def delta(self) -> Fraction | None:
        """The chance that a person loses more; None: none, the account is of pure ε."""
        return self._delta

    def group(self, people: str) -> Session:
        """The same account, charging one declared group of people, who are in no other group."""
        if not isinstance(people, str) or not people:
            raise BudgetError(f"a group of people needs a name, got {show(people)}")
        if self._people:
            raise BudgetError(f"this is the account of {self._people!r}: ask the whole session")
        own = object.__new__(Session)  # the same lock, the same charges
        own.__dict__ |= vars(self) | {"_people": people}
        return own

    def __reduce__(self) -> NoReturn:
        raise BudgetError(
            "an account isn't copied or pickled, since both could spend the same ε: hand on the "
            "path of its file, and open that there: Session.open(path)"
        )

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All charges, those of other processes too, in the order they were written."""
        return tuple(self._account().charges)

    @property
    def spent(self) -> Fraction:
        """What the person who lost most has lost; of a group, what its people have lost.

        In ε, or in an account with δ in ρ.
        """
        return _spent(self.charges, self._people)

    @property
    def remaining(self) -> Fraction:
        """What may still be charged: ε, or in an account with δ ρ."""
        return self._budget - self.spent

    def reserve(self, epsilon: float | int | str | Fraction, step: str) -> Charge:
        """Charge ε for a step of your own, before you draw anything for it; never refunded.

        Raises BudgetError, and writes nothing, where a person would lose more than the session's ε,
        or where the account would hold more than can be read again.

        **Privacy:** reads and releases nothing; costs ``epsilon``, or ε²/2 of an account's ρ.
        """
        cost = positive("epsilon", epsilon)
        return self._charge({self._people: cost if self._delta is None else cost**2 / 2}, step)

    def _charge(self, costs: Mapping[str, Fraction], step: str, why: str = "") -> Charge:
        """Charge groups of people what is counted, ε or ρ: all or none; a refusal adds ``why``."""
        if not isinstance(step, str):
            raise BudgetError(f"step must be a text that says what for, got {show(step)}")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        charges = [Charge(cost, step, people, now) for people, cost in costs.items()]
        self._next_lines(charges, why)  # a refusal leaves no file behind, not even a lock
        with self._locked():
            account, lines, last = self._next_lines(charges, why)
            if self._path is None:
                self._memory += charges
            else:
                _append(self._path, account.content, lines)
                self._seen = len(account.charges) + len(charges), last
                _write_last(self._path, *self._seen)
        return charges[0]

    def _account(self) -> Account:
        """What was charged until now."""
        if self._path is None:
            return Account(self._memory)
        # what was seen before the file is read: another thread may be continuing both
        account = _read(self._path, self._epsilon, self._delta, self._seen)
        self._seen = max(self._seen, (len(account.charges), account.last))
        return account

    def _next_lines(self, more: Sequence[Charge], why: str) -> tuple[Account, bytes, str]:
        """The account, the lines that charges add to its file, and the last hash then.

        Raises BudgetError for charges that the account can't bear.
        """
        account = self._account()
        charges = [*account.charges, *more]
        _check_size(charges)
        for charge in more:
            total = _spent(charges, charge.people)
            if total > self._budget:
                raise BudgetError(
                    f"overdraft: {charge.step} asks for {self.sign} = {charge.epsilon}, which "
                    f"would bring the session to {total} of {self._budget}; nothing was drawn for "
                    f"it{why}"
                )
        lines, last = b"", account.last
        if not account.content:
            lines, last = _header(self._epsilon, self._delta)
        for number, charge in enumerate(more, len(account.charges) + 1):
            facts = charge._asdict() | {"epsilon": _text(charge.epsilon)}
            line, last = _line({"charge": number} | facts, last)
            lines += line
        if len(account.content + lines) > MOST_BYTES:
            raise BudgetError(
                f"with this charge the account would have more than {MOST_BYTES:,} bytes, the most "
                "that is read: say in fewer words what it is for; nothing was charged"
            )
        return account, lines, last

    def charge_fit(self, ledger: Ledger, noise: Noise, step: str) -> Charge:
        """Charge all that a fit may spend; what no finite ε covers is refused.

        **Privacy:** reads and releases nothing; costs what :meth:`price` says.
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
        step, why = step[:LONGEST], say_counted(ledger)
        if not ledger.levels or ledger.level_attribute:
            return self._charge({self._people: self.price(ledger)}, step, why)
        if self._people:
            raise BudgetError(f"this is the account of {self._people!r}: ask the whole session")
        every = ", ".join(map(str, ledger.levels))
        costs = {
            f"{LEVEL}{level} of {every}": self.price(ledger, level)
            for level in reversed(ledger.levels)  # the largest is what the fit is said to cost
        }
        return self._charge(costs, step, why)

    def price(self, ledger: Ledger, level: Fraction | None = None) -> Fraction:
        """What a fit with this ledger is charged: ε, or in an account with δ ρ.

        ``level``: for persons with an ε of their own, that of a group.

        A replacement is a removal and an addition: twice the ε, or 2² times the ρ. Pure ε-DP is
        (ε²/2)-zCDP (Bun, Steinke 2016). BudgetError for a fit with δ where the account has none.

        **Privacy:** reads nothing, costs nothing.
        """
        power = ledger.unit.power
        cost = ledger.claimed if level is None else level
        cost *= 2**power if ledger.relation == "add_remove" else 1
        if power == 2 and self._delta is None:
            raise BudgetError(
                "this account is one of pure ε, which a fit with delta= doesn't keep: open "
                "Session(epsilon, path, delta=1e-9), or leave delta= out"
            )
        return cost if power == 2 or self._delta is None else cost**2 / 2

    def check_paid(self, ledger: Ledger) -> None:
        """BudgetError where no charge is as large as a fit with this ledger.

        An account that can't be read any more takes nobody's release away.
        """
        due = self.price(ledger)
        try:
            charges = self.charges
        except (BudgetError, OSError):
            return
        if all(charge.epsilon < due for charge in charges):
            raise BudgetError(
                f"no charge of this account paid for the model, whose fit is charged {self.sign} = "
                f"{due}: give the account that it was charged to, or session=None"
            )

    @property
    def sign(self) -> str:
        """What charges are counted in: "ε", or in an account with δ "ρ"."""
        return "ε" if self._delta is None else "ρ"

    def standing(self) -> str:
        """How much of what is spent, in words."""
        if self._delta is None:
            return f"ε = {self.spent} of {self._epsilon} spent"
        from ..concentrated import pair  # noqa: PLC0415

        spent = f"ρ = {short(self.spent)} of {short(self._budget)} spent"
        return f"{pair(self._epsilon, self._delta)}, not pure; {spent}"

    def to_frame(self) -> pd.DataFrame:
        """One row per charge: step, people, ε (with δ: ρ), when."""
        name = "epsilon" if self._delta is None else "rho"
        rows = [(c.step, c.people or "everybody", c.epsilon, c.when) for c in self.charges]
        return pd.DataFrame(rows, columns=["step", "people", name, "when"])

    def __repr__(self) -> str:
        number, place = len(self.charges), "" if self._path is None else f", {self._path.name}"
        people = f" by {self._people}" if self._people else ""
        return f"Session({self.standing()}{people}, {number} charge{'s' * (number != 1)}{place})"

    def _repr_html_(self) -> str:
        table = self.to_frame().to_html(index=False, border=0)
        return f"<div class='mathjax_ignore'><p>{escape(repr(self))}</p>{table}</div>"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone among threads and processes; the system unlocks for a process that dies."""
        if self._path is None:
            with self._thread_lock:
                yield
            return
        try:
            with FileLock(f"{self._path}.lock").acquire(timeout=PATIENCE):
                yield
        except Timeout as late:
            raise BudgetError(
                f"{self._path.name}.lock was held by another process, or couldn't be made, for "
                f"{PATIENCE:g} seconds; nothing was charged"
            ) from late
        except OSError as problem:
            raise BudgetError(
                f"{self._path.name} couldn't be written ({problem.strerror}): nothing was drawn; "
                "the charge counts if Session.open shows it"
            ) from problem


def _spent(charges: Sequence[Charge], people: str) -> Fraction:
    """Charges to everybody, to one group, and to the dearest group of every other list of groups.

    Without a name the dearest of every list counts. Groups of one list are disjoint; a person may
    be in one group of each.
    """
    lists: dict[str, dict[str, Fraction]] = {_list_of(people): {people: Fraction(0)}}
    for charge in charges:
        groups = lists.setdefault(_list_of(charge.people), {})
        groups[charge.people] = groups.get(charge.people, Fraction(0)) + charge.epsilon
    own = {_list_of(people): [lists[_list_of(people)][people]]} if people else {}
    return sum((max(own.get(name, groups.values())) for name, groups in lists.items()), Fraction(0))


def _list_of(people: str) -> str:
    """The list that a group stands in: that of its levels, that of declared groups, or everybody's.

    >>> [_list_of(name) for name in ("", "clinic A", "those with ε = 1/2 of 1/2, 1")]
    ['everybody', 'declared', 'of 1/2, 1']
    """
    if not people:
        return "everybody"
    return f"of {people.partition(' of ')[2] or people}" if people.startswith(LEVEL) else "declared"


def _check_size(charges: Sequence[Charge]) -> None:
    """Refuse more charges than are read again, and fractions that would take ever longer to add."""
    if len(charges) > MOST_CHARGES:
        raise BudgetError(
            f"an account holds at most {MOST_CHARGES:,} charges: open a new one with what remains "
            "of this one's ε"
        )
    common = 1
    for charge in charges:
        common = math.lcm(common, charge.epsilon.denominator)
        if common.bit_length() > DENOMINATOR_BITS:
            raise BudgetError(
                f"the common denominator of all charges would have more than {DENOMINATOR_BITS:,} "
                "bits: charge ε in shorter fractions, as 0.1 or 1/3"
            )


def files_of(path: Path) -> tuple[Path, ...]:
    """The files of an account: its charges, its last hash, its lock."""
    own = path.resolve()
    return own, Path(f"{own}.last"), Path(f"{own}.lock")


def _text(value: Fraction) -> str:
    if not FRACTION.fullmatch(str(value)):
        raise BudgetError("ε has more than a thousand digits: write a shorter fraction")
    return str(value)


def _encode(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode(errors="surrogatepass")


def _line(document: dict[str, Any], before: str) -> tuple[bytes, str]:
    """A line of the file with its hash, which covers the hash ``before`` it; and that hash."""
    own = hashlib.sha256(before.encode() + _encode(document)).hexdigest()
    return _encode(document | {"hash": own}) + b"\n", own


def _append(path: Path, content: bytes, lines: bytes) -> None:
    """Add lines after ``content``, on disk when this returns; BudgetError if more stands there."""
    new, kept = not path.exists(), content.removesuffix(b"\n")
    with open(path, "a+b") as file, lock_itself(file) as alone:
        file.seek(0)
        there = file.read()
        if not alone or not there.startswith(kept) or b"\n" in there[len(content) :]:
            meanwhile = f"another process wrote {path.name} under another lock: is {path.name}.lock"
            raise BudgetError(f"{meanwhile} gone, or not shared? Nothing was charged: try again")
        # cuts off what a crash left of a line, and adds an end that a whole last line has lost
        file.truncate(len(kept))
        file.write(b"\n" * bool(content) + lines)
        file.flush()
        os.fsync(file.fileno())
    if new and os.name == "posix":  # the file's name is in its folder, which is flushed apart
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write_last(path: Path, charges: int, last: str) -> None:
    """Say beside the file how far it goes; after a crash before this the file is further."""
    side = files_of(path)[1]
    new = Path(f"{side}.new")
    with open(new, "wb") as file:
        file.write(_encode({"charges": charges, "hash": last}) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, side)


def _read_last(path: Path) -> Known | None:
    """How many charges there must be, and the hash of the last of them; None if nothing says it."""
    side = files_of(path)[1]
    try:
        with open(side, "rb") as file:
            read = json.loads(file.read(1_000))
        charges, last = read["charges"], read["hash"]
        if type(charges) is not int or charges < 1 or not isinstance(last, str):
            raise ValueError("no number of charges")
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, LookupError, RecursionError) as problem:
        raise BudgetError(f"{side.name} is not as a session writes it: {DAMAGED}") from problem
    return charges, last


def _count_names(descriptor: int) -> int:
    return os.fstat(descriptor).st_nlink


def _read_bytes(path: Path) -> bytes:
    """All bytes of an account; none where there is no file."""
    if path.exists() and not path.is_file():  # a pipe would be waited for, /dev/null keeps nothing
        raise BudgetError(f"{path.name} is no file, so no account: name a file")
    try:
        with open(path, "rb") as file:
            data, names = file.read(MOST_BYTES + 1), _count_names(file.fileno())
    except FileNotFoundError:
        return b""
    if names > 1:
        raise BudgetError(
            f"{path.name} has {names} names (hard links), and each would have a lock of its own, "
            "so two processes could spend the same rest: keep one name of the file"
        )
    if len(data) > MOST_BYTES:
        raise BudgetError(f"{path.name} has more than {MOST_BYTES:,} bytes: it is no account")
    return data


def _read(path: Path, epsilon: Fraction, delta: Fraction | None, seen: Known) -> Account:
    """What a file holds, without what a crash left of a line; BudgetError if it is damaged."""
    last = _read_last(path)  # before the file, which another process may be continuing
    *lines, rest = _read_bytes(path).split(b"\n")
    if _is_whole(rest):  # a line that has lost its end is a charge nevertheless
        lines.append(rest)
    elif not lines and not _header(epsilon, delta)[0].startswith(rest):
        raise BudgetError(f"{path.name} is no account of ε = {epsilon}: choose another path")
    charges, hashes = list[Charge](), list[str]()
    for number, line in enumerate(lines):
        try:
            read = json.loads(line)
            if number == 0:
                _check_header(read, epsilon, delta, path.name)
            else:
                charges.append(_read_charge(read, number))
            del read["hash"]
            again, own = _line(read, hashes[-1] if hashes else "")
            if again != line + b"\n":  # what is spelt otherwise, a key that stands twice, too
                raise ValueError("the hash is that of another line")
            hashes.append(own)
        except BudgetError:
            raise
        except (ValueError, TypeError, LookupError, RecursionError) as problem:
            raise BudgetError(
                f"line {number + 1} of {path.name} is not as a session writes it: {DAMAGED}"
            ) from problem
    _check_size(charges)
    for least, own in filter(None, (last, seen if seen[0] else None)):
        if len(charges) < least:
            raise BudgetError(
                f"{path.name} is gone, cut off or an older copy: it holds "
                f"{plural(len(charges), 'charge')}, and there were {least:,}; put the newest copy "
                "back, or open a new session for new people"
            )
        if hashes[least] != own:
            known = f"what {path.name}.last or this session knows of it"
            raise BudgetError(f"{path.name} and {known} don't belong together: {DAMAGED}")
    content = b"".join(line + b"\n" for line in lines)
    return Account(charges, hashes[-1] if hashes else "", content)


def _is_whole(rest: bytes) -> bool:
    """Whether the last line lacks no more than its end: part of an object is never JSON."""
    try:
        json.loads(rest)
    except (ValueError, RecursionError):
        return False
    return True


def _header(epsilon: Fraction, delta: Fraction | None) -> tuple[bytes, str]:
    """The first line of a new account, and its hash."""
    if delta is None:
        return _line({"format": FORMAT, "epsilon": _text(epsilon)}, "")
    return _line({"format": FORMAT_RHO, "epsilon": _text(epsilon), "delta": _text(delta)}, "")


def _check_header(read: Any, epsilon: Fraction, delta: Fraction | None, name: str) -> None:
    """Refuse an account of another ε or δ, or in another format."""
    own, form = _read_fraction(read["epsilon"]), read["format"]
    own_delta = _read_fraction(read["delta"]) if form == FORMAT_RHO else None
    if form in (FORMAT, FORMAT_RHO) and own_delta != delta:
        raise BudgetError(
            f"{name} is an account with δ = {own_delta}, not {delta}: open it with its own δ, or "
            "choose another path"
        )
    if form not in (FORMAT, FORMAT_RHO):
        raise BudgetError(
            f"{name} is an account in the format {show(form)}, and this version reads {FORMAT}: "
            "open a new account, and reserve there what was charged to the old one"
        )
    if own != epsilon:
        raise BudgetError(
            f"{name} is an account of ε = {own}, not of {epsilon}: open it with its own ε, or "
            "choose another path"
        )


def _read_charge(read: Any, number: int) -> Charge:
    """A charge from its line; ValueError, TypeError or LookupError for anything else."""
    words = read["step"], read["people"], read["when"]
    each = _read_fraction(read["epsilon"])
    if read["charge"] != number or not all(isinstance(w, str) for w in words) or not each:
        raise ValueError("not the next charge")
    return Charge(each, *words)


def _read_fraction(text: str) -> Fraction:
    if not FRACTION.fullmatch(text):
        raise ValueError("not a fraction")
    return Fraction(text)
