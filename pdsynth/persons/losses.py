"""What a change loses by the ledger: of an attribute, of a value, of a record of some level."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf
from typing import Any

import pandas as pd

from ..core import (
    Facts,
    Ledger,
    Network,
    Schema,
    SchemaError,
    TableBudget,
    check_known,
    compose,
    tell,
    to_list,
    to_names,
)

LEVEL = "person_epsilon"  # the column that says which level a record has


def attribute_losses(ledger: Ledger, together: Sequence[str] | None) -> pd.Series:
    """As :meth:`.Ledger.attribute_epsilon`: of each attribute, or of some that change together."""
    names = list(ledger.public_attributes) or sorted(
        {a for e in ledger.entries for a in e.attributes}
    )
    members = to_names("together", together)
    check_known(members, names, "the ledger")
    groups = {" + ".join(members): {*members}} if members else {name: {name} for name in names}
    losses = {label: ledger.loss_together(group) for label, group in groups.items()}
    series = pd.Series(losses, dtype=object, name="epsilon")
    sure = ledger.guaranteed_ex_ante
    if isinstance(sure, tuple) and members:
        sure = {*members} <= {*sure}
    text = "before the run" if sure else "ex post: read off the network that was drawn"
    if isinstance(sure, tuple) and sure:
        text += f" for {', '.join(sure)}; ex post for the others"
    series.attrs["known"] = text
    return series


def losses(ledger: Ledger) -> pd.Series:
    """What a record of each level loses at most: exact fractions, by level.

    Each line costs a record of level ε_g the part ε_g / max ε of what it costs the largest level.
    """
    most = max(ledger.levels, default=Fraction(1))
    bounds = {float(g): ledger.finite * g / most for g in ledger.levels}
    return pd.Series(bounds, dtype=object, name="epsilon").rename_axis(LEVEL)


def value_losses(ledger: Ledger, attribute: str, values: Sequence[Any] | None) -> pd.DataFrame:
    """As :meth:`.Ledger.value_epsilon`: of moves from a value (row) to another (column)."""
    mine = ledger.about({attribute})
    scales = [e.scale if e.attributes[:1] == (attribute,) else None for e in mine]
    alone = attribute not in (ledger.level_attribute, *ledger.hidden)  # else all its copies move
    own = [s if alone and isinstance(s, tuple) else () for s in scales]  # of its own table
    edges = [e for e in mine if e.lemma.startswith("lemma:edges") and attribute in e.attributes]
    inside = edges if alone or not edges else mine  # levels follow other bins than these
    rows = max(map(len, own), default=0) or 1
    labels = list(range(max(rows, 2))) if values is None else to_list("values", values)
    if rows not in (1, len(labels)) or not all(map(pd.api.types.is_scalar, labels)):
        raise SchemaError(
            f"{attribute!r} has {rows} noise scales, one per value, "
            f"but {len(labels)} values are named"
        )
    raw = ledger.attribute_epsilon([attribute]).iloc[0] == inf

    def lost(u: int, v: int) -> Fraction | float:
        """1/b_u + 1/b_v of a replaced record in a table with its own scales b, not doubled."""
        if raw and u != v:
            return inf
        if u == v:  # another number in the same bin, which only the choice of edges sees
            return compose(inside, "cost")
        m = ledger.records_per_person
        moved = [
            replace(e, epsilon=m * (1 / s[u] + 1 / s[v]), relation="replace_one") if s else e
            for e, s in zip(mine, own, strict=True)
        ]
        return compose(moved, "cost")

    places = range(len(labels))
    losses = [[lost(u, v) for v in places] for u in places]
    table = pd.DataFrame(losses, index=labels, columns=labels, dtype=object)
    sure = ledger.guaranteed_ex_ante
    sure = attribute in sure if isinstance(sure, tuple) else sure
    public = all(x.startswith("public:") for e in mine for x in e.scale_depends_on)
    after = "ex post: read off the run's network and scales"
    table.attrs["known"] = "before the run" if sure and public else after
    return table


def neighbours(ledger: Ledger) -> str:
    """What neighbours differ in, and what each level loses, in words."""
    own = ", ".join(f"{value}" for value in losses(ledger))
    return f"add or remove one record; by person: {own}"


def warn_of_all(facts: Facts, careful: Sequence[str]) -> bool:
    """Say it where all attributes were to lose less in tables: then none does.

    **Privacy:** a function of public policy.
    """
    if not careful or {*facts.schema.names} - {*careful, LEVEL}:
        return False
    words = (
        "all attributes were to have more noise, so that all tables have the same ε, and none "
        "loses less than without groups: leave out those that need less protection"
    )
    tell(words)
    return True


def unused_groups(schema: Schema, plan: Any, method: Any) -> list[str]:
    """A sentence where a schema declares groups of which no part of a private fit makes use.

    ``method``: the synthesizer, which is named, as several may be compared.

    **Privacy:** a function of public policy.
    """
    used = any(getattr(part, "personal", None) for part in plan.parts)
    if "A" not in schema.groups.values() or used or plan.facts.guarantee == "none":
        return []
    return [
        f"the schema declares groups, of which {type(method).__name__} makes no use: "
        "ConsistentBayes and HPPrivBayes give the tables of group A less ε"
    ]


def warn_of_loss(
    facts: Facts, network: Network, tables: Mapping[str, TableBudget], careful: Sequence[str]
) -> None:
    """Say which attributes lose as much in the tables as if all tables had the same ε.

    ``careful``: those that were to lose less. An attribute is told by every table that it stands
    in, also by those of its children, which may get more ε than its own.

    **Privacy:** a function of the network and of budgets, which are released.
    """
    if facts.guarantee != "strict":  # a warning: no other guarantee promises an attribute anything
        return
    if warn_of_all(facts, careful):
        return
    each = sum((t.epsilon for t in tables.values()), Fraction(0)) / len(tables)
    cases = []
    for name in careful:
        holding = [child for child, parents in network.pairs if name in (child, *parents)]
        lost = sum(tables[child].epsilon for child in holding)
        if lost >= each * len(holding):
            said, equal = (f"{ceil(1000 * x) / 1000:g}" for x in (lost, each * len(holding)))
            cases.append(f"{name} ({said}, with equal budgets {equal})")
    if cases:
        words = (
            "these attributes were to have more noise, and lose as much ε in tables as without it, "
            f"since they are parents in tables that have more: {', '.join(cases)}. Put the "
            "children into the same group, or forbid these edges (restriction=…)"
        )
        tell(words)
