"""Claims that counting alone decides: pairs of attribute and parent set in a search."""

from math import comb

from .results import decide
from .rules import Answer, Question, rule

ATTRIBUTES = {"CMC": 10, "Adult": 15, "credit": 31}  # of the genetic paper's tables


def greedy_pairs(m: int, k: int) -> int:
    """Pairs that a greedy search over m attributes looks at, step by step.

    With j attributes placed, each of the m − j others may have any min(j, k) of them as parents.

    >>> greedy_pairs(50, 5)
    115775290
    """
    return sum((m - j) * comb(j, min(j, k)) for j in range(1, m))


def formula_8(m: int, k: int) -> int:
    """PrivABN's formula (8), as printed: (2m − k − 2)(k − 1)/2 + C(m + 1, k + 2).

    >>> greedy_pairs(50, 5) - formula_8(50, 5)
    4
    """
    return (2 * m - k - 2) * (k - 1) // 2 + comb(m + 1, k + 2)


@rule("equal to the pairs counted step by step, at every k of the table", tested=False)
def counted(q: Question) -> Answer:
    """Whether the printed formula counts what the printed algorithm enumerates."""
    m = q.settings.attributes
    both = {k: (formula_8(m, k), greedy_pairs(m, k)) for k in map(int, q.settings.degrees)}
    right = [printed == count for printed, count in both.values()]
    numbers = "; ".join(f"k = {k}: {a:,} printed, {b:,} counted" for k, (a, b) in both.items())
    size = f"{max(b - a for a, b in both.values())} too few at most"
    return decide(all(right), not any(right), any(right)), {"found": numbers, "size": size}


@rule(
    "the pairs counted step by step are at most d·C(d + 1, k + 1), on every table at every k",
    tested=False,
)
def bounded(q: Question) -> Answer:
    """Whether the printed bound of a greedy search's combinations is one."""
    counts = {
        (name, k): (greedy_pairs(d, k), d * comb(d + 1, k + 1))
        for name, d in ATTRIBUTES.items()
        for k in map(int, q.settings.degrees)
    }
    holds = [pairs <= bound for pairs, bound in counts.values()]
    numbers = "; ".join(
        f"{name}, k = {k}: {pairs:,} of {bound:,}" for (name, k), (pairs, bound) in counts.items()
    )
    size = f"{max(pairs / bound for pairs, bound in counts.values()):.0%} of it at most"
    return decide(all(holds), not any(holds), any(holds)), {"found": numbers, "size": size}
