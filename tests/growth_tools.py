"""How work grows with the size of an input: counted, never timed.

Three measures, each for what the others don't see:

* :func:`growth` counts what the interpreter executes (lines, calls of Python and of C functions)
  and the peak of bytes. One call of a C function is one event, however long it takes.
* :class:`Text` is a str whose comparisons are Python calls, so that :func:`growth` also sees the
  comparisons inside of C functions: ``name in names``, ``names.count(name)``, ``sorted(names)``.
* :func:`regex_growth` counts the steps of a regular expression, whose search is one call of C.

Work inside of other C functions (numpy, big integers) is seen by none of them: bound its inputs.
"""

import math
import re
import sys
import threading
import tracemalloc
from collections.abc import Callable, Sequence
from functools import cache
from re import _constants as op
from re import _parser
from typing import Any

SIZES = (200, 400, 800)
FEW_EVENTS, FEW_BYTES = 100, 2**16  # less is no growth
LINEAR = 1.3  # the exponent of n log n from 200 to 800 is below 1.2, of a square 2


def growth(prepare: Callable[[int], Callable[[], Any]], sizes: Sequence[int] = SIZES) -> float:
    """p of work a + b·size^p: 1 for linear work, 2 for quadratic work; the larger of two measures.

    ``prepare(size)`` makes the input and returns what is measured, a function without arguments:
    ``growth(lambda size: lambda words=["a"] * size: read(words)) < LINEAR``. ``sizes``: three,
    each the same number of times larger than the one before.
    """
    small, middle, large = sizes
    assert small * large == middle * middle, "the sizes must grow by one factor"
    prepare(small)()  # what is imported or kept for the next time
    events = [count_events(prepare(size)) for size in sizes]
    peaks = [count_bytes(prepare(size)) for size in sizes]
    ratio = middle / small
    return max(_exponent(events, ratio, FEW_EVENTS), _exponent(peaks, ratio, FEW_BYTES))


def _exponent(found: Sequence[int], ratio: float, few: int) -> float:
    """The differences of a + b·size^p grow as size^p, whatever a is."""
    first, second = found[1] - found[0], found[2] - found[1]
    return math.log(second / max(first, few / 2), ratio) if second > few else 0.0


def count_events(work: Callable[[], Any]) -> int:
    """Lines that are executed and functions that are called, C functions as well, in any thread."""
    seen = 0

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal seen
        seen += event in ("call", "line")
        return trace

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal seen
        seen += event == "c_call"

    before = sys.gettrace(), sys.getprofile()
    threading.settrace(trace)
    threading.setprofile(profile)
    sys.setprofile(profile)
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
        threading.settrace(before[0])  # type: ignore[arg-type]
        threading.setprofile(before[1])
    return seen


def count_bytes(work: Callable[[], Any]) -> int:
    """The most bytes that are held at a time, beyond those held before; numpy's count, too."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


class Text(str):
    """A text whose comparisons are calls that :func:`growth` counts."""

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other)

    def __lt__(self, other: str) -> bool:
        return str.__lt__(self, other)

    def __hash__(self) -> int:
        return str.__hash__(self)


# --- regular expressions


def regex_growth(
    pattern: str,
    text: Callable[[int], str],
    how: str = "search",
    flags: int = 0,
    sizes: Sequence[int] = (50, 100, 200),
) -> float:
    """As :func:`growth`, of the steps of a search in ``text(size)``.

    ``how``: ``match``, ``fullmatch`` or ``search``, as the methods of ``re``; ``sub`` for whatever
    finds all matches.
    """
    small, middle, large = sizes
    steps = [Search(pattern, text(size), flags).find(how)[0] for size in sizes]
    return _exponent(steps, middle / small, few=10)


@cache
def parse(pattern: str, flags: int) -> list[Any]:
    """What a pattern consists of, as ``re`` reads it."""
    return list(_parser.parse(pattern, flags))


class Search:
    """The search that ``re`` does, character by character, without its short cuts."""

    def __init__(self, pattern: str, text: str, flags: int = 0) -> None:
        self.nodes, self.text = parse(pattern, flags), text
        self.flags = re.compile(pattern, flags).flags
        self.steps = 0
        self.known: dict[Any, bool] = {}

    def find(self, how: str) -> tuple[int, list[tuple[int, int]]]:
        """Steps, and where the matches begin and end."""
        found, start, end = list[tuple[int, int]](), 0, len(self.text)
        while start <= end:
            ends = list[int]()

            def accept(at: int, ends: list[int] = ends) -> bool:
                ends.append(at)
                return how != "fullmatch" or at == end

            self.steps += 1
            if self._go(self.nodes, 0, start, accept):
                found.append((start, ends[-1]))
                if how != "sub":
                    break
                start = max(ends[-1], start + 1)
            elif how in ("match", "fullmatch"):
                break
            else:
                start += 1
        return self.steps, found

    def _go(self, nodes: Any, i: int, at: int, then: Callable[[int], bool]) -> bool:
        """Whether nodes from number ``i`` on match from ``at`` on, and ``then`` what follows."""
        if i == len(nodes):
            return then(at)
        kind, arg = nodes[i]

        def rest(to: int) -> bool:
            return self._go(nodes, i + 1, to, then)

        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            return self._repeat(kind, *arg, at, rest)
        if kind is op.SUBPATTERN:
            return self._go(arg[-1], 0, at, rest)
        if kind is op.BRANCH:
            return any(self._go(branch, 0, at, rest) for branch in arg[1])
        if kind in (op.ASSERT, op.ASSERT_NOT):
            assert arg[0] == 1, "looks ahead only"
            return self._go(arg[1], 0, at, lambda _: True) == (kind is op.ASSERT) and rest(at)
        if kind is op.AT:
            end = at == len(self.text)
            last = end or (arg is op.AT_END and self.text[at:] == "\n")
            return (at == 0 if arg in (op.AT_BEGINNING, op.AT_BEGINNING_STRING) else last) and rest(
                at
            )
        return self._takes(kind, arg, at) and rest(at + 1)

    def _repeat(
        self, kind: Any, least: int, most: int, body: Any, at: int, rest: Callable[[int], bool]
    ) -> bool:
        if len(body) == 1 and body[0][0] in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            run = 0
            while run < most and self._takes(*body[0], at + run):
                run += 1
            lengths = range(least, run + 1)
            if kind is not op.MIN_REPEAT:
                lengths = lengths[::-1]
            if kind is op.POSSESSIVE_REPEAT:
                lengths = lengths[:1]
            return any(rest(at + length) for length in lengths)
        assert kind is not op.POSSESSIVE_REPEAT, "of single characters only"

        def again(times: int, to: int, before: int) -> bool:
            def more() -> bool:
                return (
                    times < most
                    and to != before
                    and self._go(body, 0, to, lambda end: again(times + 1, end, to))
                )

            if times < least:
                return more()
            return rest(to) or more() if kind is op.MIN_REPEAT else more() or rest(to)

        return again(0, at, -1)

    def _takes(self, kind: Any, arg: Any, at: int) -> bool:
        """Whether one character is what a node asks for."""
        self.steps += 1
        if at >= len(self.text):
            return False
        key = kind, id(arg), self.text[at]
        if key not in self.known:
            self.known[key] = self._allows(kind, arg, self.text[at])
        return self.known[key]

    def _allows(self, kind: Any, arg: Any, sign: str) -> bool:
        if kind is op.ANY:
            return sign != "\n" or bool(self.flags & re.DOTALL)
        if kind is op.IN:
            negated = arg[0][0] is op.NEGATE
            return negated != any(self._is(*item, sign) for item in arg[negated:])
        return self._is(op.LITERAL, arg, sign) == (kind is op.LITERAL)

    def _is(self, kind: Any, arg: Any, sign: str) -> bool:
        if kind is op.CATEGORY:
            name = str(arg).removeprefix("CATEGORY_")
            letter = name.removeprefix("NOT_")[0].lower()  # of digit, space, word
            known = re.match(rf"\{letter}", sign, self.flags & re.ASCII)
            return bool(known) != name.startswith("NOT_")
        both = {sign, sign.swapcase()} if self.flags & re.IGNORECASE else {sign}
        low, high = arg if kind is op.RANGE else (arg, arg)
        return any(low <= ord(each) <= high for each in both)
