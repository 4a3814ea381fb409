"""A ledger in a few lines, by the kind of step, and how its numbers are written."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from ..core import Entry, Ledger, plural
from ..persons import neighbours

DIGITS, WRITTEN = 4, 10  # of a number that is rounded; of a decimal that is written out


@dataclass(frozen=True)
class Line:
    """Entries of one kind: ``claimed`` and ``true`` are their sums in ε, ``raw`` a raw read."""

    step: str
    often: int
    claimed: Fraction
    true: Fraction | float
    raw: bool = False

    @property
    def words(self) -> str:
        """The true cost for a reader."""
        return "∞, read raw" if self.raw else beside(self.true)

    @property
    def wrong(self) -> bool:
        """Whether it costs more than it claims."""
        return self.true > self.claimed


def story(entries: Sequence[Entry], cost_of: Callable[[Entry], Fraction | float]) -> list[Line]:
    """One line per kind of step, in the order of their first entries, however many columns.

    What a paper composes in parallel is claimed once, at its dearest part's price; the true cost is
    the sum. Steps without a price (post-processing, public facts) are left out.
    """
    kinds: dict[tuple[str, bool], list[Entry]] = {}
    for entry in entries:
        if entry.kind in ("mechanism", "unaccounted_access"):
            raw = entry.kind == "unaccounted_access"
            kinds.setdefault((step_name(entry), raw), []).append(entry)
    return [_line(step, raw, some, cost_of) for (step, raw), some in kinds.items()]


def _line(
    step: str, raw: bool, entries: list[Entry], cost_of: Callable[[Entry], Fraction | float]
) -> Line:
    parts: dict[str | None, Fraction] = {}
    for entry in entries:
        parts[entry.record_filter] = parts.get(entry.record_filter, Fraction(0)) + entry.claimed
    true = math.inf if raw else sum((cost_of(entry) for entry in entries), Fraction(0))
    return Line(step, len(entries), max(parts.values()), true, raw)


def step_name(entry: Entry) -> str:
    """The kind of an entry's step, in words.

    >>> step_name(Entry("s01", "mechanism", "pair 2 of 14"))
    'choosing parents'
    """
    step = entry.step
    if step.startswith("column("):
        return "counting single columns"
    if step.startswith("table("):
        return "counting single columns" if entry.source == "one-way table" else "noisy tables"
    if step.startswith(("view ", "conditional(")):
        return "noisy views" if step.startswith("view ") else "noisy conditionals"
    if step.startswith("support of "):
        return "which columns occur"
    if step.startswith("parent sets"):
        return "candidates for parents"
    if step.startswith(("parents of", "parent ", "pair ", "root in ")):
        return "choosing parents"
    if step.startswith(("edge ", "round ")):
        return "choosing pairs" if step.startswith("edge ") else "choosing pairs and small sets"
    if step.startswith(("strongest tie ", "strength of the strongest tie ")):
        return "asking for the strongest ties"
    if step.startswith("edges("):
        return "choosing edges of private bins"
    if step.startswith("partner of "):
        return "choosing partners of sensitive attributes"
    if step == "mean association":
        return "how strongly pairs are tied"
    return step


def find_pairs(
    entries: Sequence[Entry], hidden: Iterable[str] = ()
) -> tuple[list[tuple[str, str]], int] | None:
    """Pairs of attributes that stand together in a released table, and how many there are at all.

    All attributes are those that stand in any table, without ``hidden`` ones; None without tables.
    """
    tables = [
        {*entry.attributes}.difference(hidden)
        for entry in entries
        if entry.kind in ("mechanism", "unaccounted_access")
        and entry.step.startswith(("table(", "view ", "conditional("))
    ]
    names = set().union(*tables)
    pairs = {pair for table in tables for pair in combinations(sorted(table), 2)}
    return (sorted(pairs), math.comb(len(names), 2)) if len(names) > 1 else None


def count_pairs(entries: Sequence[Entry], hidden: Iterable[str] = ()) -> tuple[int, int] | None:
    """How many pairs :func:`find_pairs` finds, and how many there are; None without tables."""
    result = find_pairs(entries, hidden)
    return None if result is None else (len(result[0]), result[1])


def say_pairs(pairs: tuple[int, int] | None, ruled: bool | None = False) -> str:
    """How many pairs a release keeps, in words; nothing where no table was released.

    ``ruled``: whether rules between columns hold besides; None: something else may tie them.

    >>> say_pairs((3, 45)), say_pairs((0, 3)), say_pairs(None)
    ('Pairs kept: 3 of 45', 'Pairs kept: 0 of 3: in this table everything is independent', '')
    """
    if pairs is None:
        return ""
    number, of = pairs
    but = " but for what its rules say" if ruled else ""
    alone = "" if number or ruled is None else f": in this table everything is independent{but}"
    return f"Pairs kept: {number:,} of {of:,}{alone}"


def in_words(
    story: Sequence[Line],
    verdict: str,
    notes: Iterable[str],
    count: int,
    pairs: str = "",
    sign: str = "ε",
) -> str:
    """A verdict and its story for a terminal; ``sign``: of what lines cost."""
    lines = [verdict, *(f"note: {note}" for note in notes), *filter(None, [pairs])]
    if story:
        claimed, true = f"claimed {sign}", f"true {sign}"
        wide = max(
            16, *(len(text) for line in story for text in (beside(line.claimed), line.words))
        )
        lines.append(f"   {clip('step', 44)} {'times':>5}  {claimed:>{wide}}  {true:>{wide}}")
    for line in story:
        lines.append(
            f"{'!!' if line.wrong else '  '} {clip(line.step, 44)} {line.often:>5}  "
            f"{beside(line.claimed):>{wide}}  {line.words:>{wide}}"
        )
    return "\n".join([*lines, f"(the whole ledger, {plural(count, 'line')}: to_frame())"])


def share(part: Fraction | float, whole: Fraction | float) -> float:
    """How much of the whole a bar shows; all of it for what is infinite."""
    return 1.0 if part == math.inf else min(1.0, float(part / whole))


def beside(value: Any) -> str:
    """As :func:`short`; a fraction with its decimal beside it, which is never less, either.

    >>> beside(Fraction(1, 30)), beside(Fraction(2)), beside(Fraction(1527, 65536))
    ('1/30 ≈ 0.03334', '2', '0.02331')
    """
    text = short(value)
    if not isinstance(value, Fraction) or "/" not in text:
        return text
    written = decimal(value)
    return f"{text} {'=' if Fraction(written) == value else '≈'} {written}"


def clip(text: str, width: int) -> str:
    """A text of exactly this width; what is cut off leaves a sign.

    >>> clip("marital-status", 8), clip("sex", 5)
    ('marital…', 'sex  ')
    """
    return f"{text[: width - 1]}…" if len(text) > width else text.ljust(width)


def verdict(ledger: Ledger) -> str:
    """As :meth:`.Ledger.verdict`."""
    if ledger.guarantee == "none":
        return "NOT PRIVATE: no noise was added (guarantee='none')."
    if raw := len(ledger.unaccounted):
        made = plural(raw, "unaccounted access makes", "unaccounted accesses make")
        return (
            f"NOT DIFFERENTIALLY PRIVATE: claimed ε = {short(ledger.claimed)}, {made} it "
            f"infinite; the accounted part alone truly costs {short(ledger.finite)}."
        )
    if ledger.finite > ledger.claimed or ledger.epsilon == math.inf:
        claimed, true = short(ledger.claimed), short(ledger.finite)
        return f"OVERSPENT: claimed {ledger.sign} = {claimed}, true {ledger.sign} = {true}."
    unit = f"{ledger.unit}" if not ledger.levels else neighbours(ledger)
    if ledger.reproducible:
        return (
            "NOT PRIVATE: reproducible. Others can draw its noise, too, and take it off; "
            f"with fresh noise: {ledger.spent_words()} ({unit})."
        )
    if broken := ledger.check():
        return f"NOT PROVED: {len(broken)} broken rule(s), first {broken[0]}."
    return f"{ledger.promise} ({unit}): {ledger.spent_words()}."


def say_counted(ledger: Ledger) -> str:
    """Why an account counts a fit as more than it says; nothing where it doesn't."""
    if ledger.relation == "replace_one":
        return ""
    times = f"{ledger.sign} {'twice' if ledger.unit.power == 1 else 'four times'}"
    words = "since another record in place of one is one less and one more"
    return f"; an account counts its {times}, {words}"


def short(value: Any, up: bool = True) -> str:
    """A number of the ledger in a few characters: never less than it is; of a rest, never more.

    ``up``: whether what is cut off is rounded up. Decimals of a few digits are written out.

    >>> short(Fraction(10004, 10**4)), short(Fraction(20001, 10**9)), short(Fraction(10**4, 7))
    ('1.0004', '2.0001e-05', '1429')
    >>> short(Fraction(1500, 1021)), short(Fraction(1500, 1021), up=False), short(0.1 + 0.2)
    ('1.47', '1.469', '0.3')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Fraction) and value.denominator <= 999 and value.numerator <= 9999:
        return str(value)
    return decimal(value, up)


def decimal(value: Any, up: bool = True) -> str:
    """The same without fractions: ``up`` as in :func:`short`.

    >>> decimal(Fraction(1, 2)), decimal(Fraction(1, 3)), decimal(1.0004), decimal(12345.6)
    ('0.5', '0.3334', '1.0004', '12,346')
    """
    if value == math.inf:
        return "∞"
    exact = Fraction(value) if isinstance(value, Fraction | int) else Fraction(f"{value:.12g}")
    texts = [f"{float(exact):.{digits}g}" for digits in range(DIGITS, WRITTEN + 1)]
    if value < 10_000 and (written := [text for text in texts if Fraction(text) == exact]):
        return written[0]
    power = 0 if value >= 10_000 else math.floor(math.log10(exact)) - DIGITS + 1
    step = Fraction(10) ** power
    number = (math.ceil(exact / step) if up else math.floor(exact / step)) * step
    return f"{int(number):,}" if number >= 10_000 else f"{float(number):.{DIGITS}g}"
