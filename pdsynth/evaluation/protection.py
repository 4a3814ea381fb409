"""Who was protected by a personalised method: what was meant for each attribute, and what it lost.

Everything here reads real records exactly; no result is covered by a privacy guarantee.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..algorithms import HPPrivBayes
from ..core import (
    BinaryEncoding,
    BudgetError,
    Records,
    normalised_risk_entropy,
    tvd_from_independence,
)
from .inputs import Table, to_records


@dataclass(frozen=True)
class Protection:
    """Who was protected; shows its table.

    ``table``: one row per attribute. ``meant``: ε of its own tables, which groups, risk or policy
    gave it; ``lost``: what a change of it alone loses by the ledger (``attribute_epsilon``), with
    sketches, selections, and the tables in which it is a parent; ``group`` and ``true group``,
    where there are groups by association: that of the release, and that of the real associations.
    ``misplaced``: how many attributes are in the wrong group. ``risk_error``: mean error of the
    released risk entropies of a method over bits, ``constant_error``: that of the best constant;
    NaN where there are none.
    """

    table: pd.DataFrame
    misplaced: float = float("nan")
    risk_error: float = float("nan")
    constant_error: float = float("nan")

    def __str__(self) -> str:
        lines = [self.table.round(4).to_string()]
        if self.misplaced == self.misplaced:
            lines.append(f"misplaced: {self.misplaced:.0f} of {len(self.table) - 1}")
        if self.risk_error == self.risk_error:
            lines.append(
                f"risk entropies: off by {self.risk_error:.3f} on average, "
                f"a constant by {self.constant_error:.3f}"
            )
        return "\n".join(lines)

    __repr__ = __str__


def protection(fitted: Any, real: Table) -> Protection:
    """Who was protected by a fitted synthesizer, for those who may see the real records.

    Parameters
    ----------
    fitted : a fitted synthesizer. One without groups and risk entropies has ``meant`` and ``lost``.
    real : the table that it was fitted on.

    Raises BudgetError for a synthesizer that isn't fitted.

    **Privacy:** reads real records exactly: not covered by any guarantee.
    """
    if not hasattr(fitted, "ledger_"):
        raise BudgetError(
            "this synthesizer is not fitted yet: call fit(frame, schema=schema) first"
        )
    schema, ledger = fitted.schema_, fitted.ledger_
    records, over_bits = to_records(real, schema), BinaryEncoding(schema)
    own = {name: {name} for name in schema.names}  # and its bits
    for bit, name in zip(over_bits.schema.names, over_bits.owners, strict=True):
        own[name].add(bit)
    meant = dict.fromkeys(schema.names, 0.0)
    for entry in ledger.entries:
        name = entry.attributes[0] if entry.attributes else ""
        heads = tuple(f"table({x}{end}" for x in own.get(name, ()) for end in (")", " | "))
        if entry.step.startswith(heads):
            meant[name] += float(entry.epsilon)
    lost = ledger.attribute_epsilon().drop([*ledger.hidden]).astype(float)
    table = pd.DataFrame({"meant": meant, "lost": lost})
    misplaced = risk = constant = float("nan")
    if getattr(fitted, "groups_", None) and getattr(fitted, "association_", None):
        truly = real_groups(fitted, records)
        groups = {n: "A" if n in fitted.groups_["A"] else "B" for n in schema.names}
        table["group"], table["true group"] = groups, truly
        misplaced = float(sum(groups[n] != truly[n] for n in schema.names))
    if released := getattr(fitted, "risk_entropy_", None):
        exact = bit_risks(records, over_bits)
        gaps = [abs(value - exact[bit]) for bit, value in released.items()]
        risk, values = float(np.mean(gaps)), np.array([exact[bit] for bit in released])
        constant = float(np.abs(values - np.median(values)).mean())
    return Protection(table, misplaced, risk, constant)


def real_groups(fitted: Any, records: Records) -> dict[str, str]:
    """The groups that real associations give: of I under published, of R under strict.

    **Privacy:** raw.
    """
    rule = fitted if hasattr(fitted, "sensitive") else fitted.budget  # of a Synthesizer: a Groups
    schema, s = fitted.schema_, fitted.schema_.index(rule.sensitive)
    if fitted.guarantee != "strict":
        bits = records.pairwise("I")[s]
        return {
            n: "A" if j == s or bits[j] >= float(rule.theta) else "B"
            for j, n in enumerate(schema.names)
        }
    least = HPPrivBayes(sensitive=rule.sensitive, theta=rule.theta).threshold()
    far = {
        n: 1.0 if j == s else float(tvd_from_independence(records.table((j, s))))
        for j, n in enumerate(schema.names)
    }
    return {n: "A" if r >= least else "B" for n, r in far.items()}


def bit_risks(records: Records, over_bits: BinaryEncoding) -> dict[str, float]:
    """Real normalised risk entropy of every bit. **Privacy:** raw."""
    ones = records.binary()
    names = over_bits.schema.names
    return {n: normalised_risk_entropy(ones.table((j,))) for j, n in enumerate(names)}
