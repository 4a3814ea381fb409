"""Rules between columns as entries of a schema's file, and of a model's document."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..constraints import Rule
from ..core import SchemaError
from .declared import MAX_VALUES

FORM = (
    "write impossible = {column = [values], other = [values]}, or determines = [column, other] "
    "with mapping = {value = value}, or at_most = [column, other]"
)
FIELDS = "impossible", "determines", "mapping", "at_most", "on_violation", "public"
MOST_VALUES = 4 * MAX_VALUES  # that all rules of a file name


def read_rules(entries: Any, name: str) -> tuple[tuple[Rule, ...], bool]:
    """Rules from the entries below [[rules]], and whether all are confirmed as public.

    ``name``: of the file, for SchemaError, which says the number of the rule.
    """
    if not isinstance(entries, list):
        raise SchemaError(f"{name}: rules stand below lines [[rules]]: {FORM}")
    rules, public, total = [], True, 0
    for number, entry in enumerate(entries, 1):
        try:
            rules.append(read_rule_entry(entry))
            public &= _truth(entry.get("public", True))
            total += sum(map(_count, rules[-1].said))
        except SchemaError as problem:
            raise SchemaError(f"{name}, rule {number}: {problem}") from problem
        if total > MOST_VALUES:
            raise SchemaError(f"{name}: its rules name more than {MOST_VALUES:,} values")
    return tuple(rules), public


def _count(value: Any) -> int:
    return sum(map(_count, value)) if isinstance(value, tuple) else 1


def read_rule_entry(entry: Any) -> Rule:
    """The rule of one entry; SchemaError for anything else."""
    if not isinstance(entry, Mapping) or (unknown := sorted({*entry} - {*FIELDS})):
        strange = f"unknown {', '.join(unknown)}" if isinstance(entry, Mapping) else repr(entry)
        raise SchemaError(f"{strange}: {FORM}")
    kinds = [kind for kind in ("impossible", "determines", "at_most") if kind in entry]
    if len(kinds) != 1 or ("mapping" in entry) != (kinds == ["determines"]):
        raise SchemaError(FORM)
    (kind,), how = kinds, {"on_violation": entry.get("on_violation", "refuse")}
    if kind == "impossible":
        if not isinstance(entry[kind], Mapping):
            raise SchemaError(FORM)
        return Rule.impossible(entry[kind], **how)
    if not isinstance(entry[kind], list) or len(entry[kind]) != 2:
        raise SchemaError(f"{kind} names two columns, as a list: {FORM}")
    a, b = entry[kind]
    if kind == "at_most":
        return Rule.at_most(a, b, **how)
    mapping = entry["mapping"]
    if isinstance(mapping, list):  # of pairs, where values aren't texts
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in mapping):
            raise SchemaError("mapping is a table, or a list of pairs: [[13, 'Bachelors'], …]")
        if any(isinstance(value, (list, Mapping)) for value, _ in mapping):
            raise SchemaError("each pair of a mapping begins with one value")
        mapping = dict(mapping)
    return Rule.determines(a, b, mapping, **how)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise SchemaError("public must be true or false")
    return value


def say_rule(rule: Rule, public: bool = True) -> dict[str, Any]:
    """What :func:`read_rule_entry` reads as this rule."""
    entry: dict[str, Any] = {rule.kind: list(rule.columns)}
    if rule.kind == "impossible":
        values = map(_one_or_list, rule.said)
        entry = {rule.kind: dict(zip(rule.columns, values, strict=True))}
    if rule.kind == "determines":
        pairs = [(value, _one_or_list(others)) for value, others in rule.said]
        texts = all(isinstance(value, str) for value, _ in pairs)
        entry["mapping"] = dict(pairs) if texts else [list(pair) for pair in pairs]
    if rule.on_violation != "refuse":
        entry["on_violation"] = rule.on_violation
    return entry if public else entry | {"public": False}


def _one_or_list(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else list(values)
