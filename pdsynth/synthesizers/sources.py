"""Where the tables of a model come from: the ledger's lines that they are tied to (rule L11)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..conditionals import Sources, Table
from ..domain.facts import Facts
from ..network import Network
from ..privacy.curator import Curator
from ..structure.learner import Measurement


class Released(NamedTuple):
    """What a recipe gives: a network, one table per pair, and the ledger entries behind each.

    Without ``sources`` the tables count as made from everything that was measured.
    """

    network: Network
    tables: tuple[Table, ...]
    sources: Sources = ()


def reconciled(
    reconcile: Any, found: Sequence[Measurement], network: Network, facts: Facts
) -> Released:
    """The tables of a network from what was measured; a part without ``sources`` used all of it.

    **Privacy:** post-processing of releases.
    """
    name = getattr(reconcile, "sources", None)
    sources = name(found, network) if name and all(m.entry for m in found) else ()
    return Released(network, reconcile.reconcile(found, network, facts), sources)


def tie(curator: Curator, released: Released) -> Sources:
    """The sources of every table; where none are said, all noisy answers of the run, or raw reads.

    Under ``strict`` what no step asked for is charged first, so that each ledger closes at its ε
    and a line that is cut out of a file leaves a gap.

    **Privacy:** reads nothing; charges what is left.
    """
    ledger = curator.ledger
    if ledger.guarantee == "strict" and ledger.claimed > ledger.finite:
        rest = (ledger.claimed - ledger.finite) / ledger.records_per_person
        curator.charge_unused(rest, "unused", "what no step asked for")
    if released.sources:
        return released.sources
    if ledger.guarantee == "none":
        return ((ledger.last,),) * len(released.tables)
    measured = tuple(e.id for e in ledger.entries if e.kind == "unaccounted_access"
                     or e.mechanism == "discrete_laplace")
    return (measured,) * len(released.tables)
