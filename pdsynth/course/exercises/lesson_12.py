"""Exercises of lesson 12, PPBA."""

from fractions import Fraction

from ...core import Network
from .judges import Computation
from .lesson import exercises

NETWORK = Network((("a", ()), ("b", ("a",)), ("c", ("a",)), ("d", ("c", "a")), ("e", ("b",))))
BUDGETS = {name: Fraction(parts, 20) for name, parts in zip("abcde", (2, 6, 8, 4, 3), strict=True)}


def descendants(network: Network, name: str) -> set[str]:
    """The attribute, its children, their children and so on: a network lists parents first."""
    found = {name}
    for child, parents in network.pairs:
        found |= {child} if found & set(parents) else set()
    return found


loss: Computation = Computation(
    lambda network, budgets, name: sum(
        budgets[child] for child, parents in network.pairs if name in (child, *parents)
    ),
    cases=[(NETWORK, BUDGETS, name) for name in BUDGETS],
    mistakes={
        "loss gives {got:g} for {case[2]!r}, the budget of its own table. It also stands in the tables of its children.": lambda network, budgets, name: (
            budgets[name]
        ),
        "loss gives {got:g} for {case[2]!r}: its own table is missing.": (
            lambda network, budgets, name: loss.right(network, budgets, name) - budgets[name]
        ),
        "loss gives {got:g} for {case[2]!r}: that is the budget of all tables. Only those count in which the attribute stands.": lambda network, budgets, name: (
            sum(budgets.values())
        ),
        "loss gives {got:g} for {case[2]!r}: that counts the tables of its *parents*. It isn't in those; it is in those of its children.": lambda network, budgets, name: (
            budgets[name] + sum(budgets[p] for p in network.parents(name))
        ),
        "loss gives {got:g} for {case[2]!r}: the tables of its children's children are counted, too. Its column stands in its own table and in those of its children.": lambda network, budgets, name: (
            sum(budgets[child] for child in descendants(network, name))
        ),
        "loss gives {got:g} for {case[2]!r}, the dearest of its tables. They add up.": (
            lambda network, budgets, name: max(
                budgets[child] for child, parents in network.pairs if name in (child, *parents)
            )
        ),
        "loss gives {got:g} for {case[2]!r}: it counts tables. Add their budgets.": (
            lambda network, budgets, name: sum(
                name in (child, *parents) for child, parents in network.pairs
            )
        ),
        "loss gives {got:g} for {case[2]!r}: that is the budget of the tables *without* it.": (
            lambda network, budgets, name: (
                sum(budgets.values()) - loss.right(network, budgets, name)
            )
        ),
        "loss gives {got:g} for {case[2]!r}, the mean of its tables. They add up.": (
            lambda network, budgets, name: (
                loss.right(network, budgets, name)
                / sum(name in (child, *parents) for child, parents in network.pairs)
            )
        ),
        "loss gives {got:g} for {case[2]!r}: doubled. Both cells are in the sensitivity already.": (
            lambda network, budgets, name: 2 * loss.right(network, budgets, name)
        ),
        "loss gives {got:g} for {case[2]!r}: only the first parent is looked at.": (
            lambda network, budgets, name: sum(
                budgets[child] for child, parents in network.pairs if name in (child, *parents[:1])
            )
        ),
        "loss gives {got:g} for {case[2]!r}: a child's budget is shared with its other parents. Each of them loses all of it.": lambda network, budgets, name: (
            sum(
                budgets[child] / len((child, *parents))
                for child, parents in network.pairs
                if name in (child, *parents)
            )
        ),
    },
    otherwise=(
        "loss gives {got:g} for {case[2]!r}; the tables that it stands in have {wanted:g} together."
    ),
)

q1, q2, q3 = exercises("lesson_12", q2=loss)
