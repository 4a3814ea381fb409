"""How many sets of columns a search may count: public limits, functions of schema, n and ε alone.

Every set costs a pass over the n records, so the limits fall with n until 50 sets per column; from
there on a fit's time grows as n does. Nothing here reads a record.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..errors import BudgetError

SETS = 100_000  # counted in one fit under k='auto', so no selection has more candidates
READS = 6 * 10**10  # records × sets of one fit under k='auto': minutes of one core
LEAST = 50  # sets per column that are counted however large n is
ALL_PAIRS = 255  # columns of a method that compares all pairs of them


def most_sets(n: int, d: int) -> int:
    """Sets that a search over d columns of n records may count.

    >>> most_sets(50_000, 15), most_sets(10**6, 100), most_sets(10**9, 15)
    (100000, 60000, 750)
    """
    return max(min(SETS, READS // n), LEAST * d)


@lru_cache(maxsize=256)
def count_sets(sizes: Sequence[int], cells: int, members: int) -> tuple[int, ...]:
    """Sets of 0, 1, … ``members`` of some columns whose joint table has at most ``cells`` cells.

    >>> count_sets((2, 2, 3), 6, 3)
    (1, 3, 3, 0)
    """
    ways: dict[tuple[int, int], int] = {(1, 0): 1}  # by cells and members
    for size, times in sorted(Counter(sizes).items()):
        longer: dict[tuple[int, int], int] = defaultdict(int)
        for (product, taken), number in ways.items():
            for more in range(min(times, members - taken) + 1):
                if product * size**more > cells:
                    break
                longer[product * size**more, taken + more] += number * math.comb(times, more)
        ways = longer
    found = [0] * (members + 1)
    for (_, taken), number in ways.items():
        found[taken] += number
    return tuple(found)


def limit_tables(sizes: Iterable[int], cells: int, most: int, limit: int) -> tuple[int, int]:
    """Parents that every table of ``cells`` may have, and cells of tables with one parent more.

    The largest numbers for which at most ``limit`` sets of two or more columns fit; never fewer
    than one parent. Tables of one more parent get cells / 2, cells / 4, …; 0: there are none.

    >>> limit_tables((2,) * 10, 64, 7, 100_000), limit_tables((2, 3, 4) * 30, 800, 7, 60_000)
    ((7, 0), (1, 12))
    """
    sizes = tuple(sorted(sizes))
    sets = count_sets(sizes, cells, most + 1)
    fits = [m for m in range(1, most + 1) if sum(sets[2 : m + 2]) <= limit]
    parents = max(fits, default=1)
    if parents == most or parents + 2 > len(sizes):
        return parents, 0
    left, fewer = limit - sum(sets[2 : parents + 2]), cells
    while fewer >= 2 and count_sets(sizes, fewer, parents + 2)[parents + 2] > left:
        fewer //= 2
    return parents, fewer if fewer >= math.prod(sizes[: parents + 2]) else 0


def check_width(columns: int, method: str, kind: str = "attributes") -> None:
    """Refuse more columns than a method that compares all pairs of them is made for."""
    if columns > ALL_PAIRS:
        raise BudgetError(
            f"{columns:,} {kind}, but {method} compares all pairs of them, at most {ALL_PAIRS}: "
            "leave columns out that need no ties, declare the ties as a Network, or use "
            "baselines.Independent"
        )
