"""No regular expression that reads what strangers write backtracks: its steps grow as its text."""

import ast
import re

import pytest
from growth_tools import LINEAR, regex_growth

from pdsynth.files.domains import RANGE

FOLDERS = ("core", "files", "datasets")
WAYS = {"match": "match", "fullmatch": "fullmatch", "search": "search", "contains": "search"}
BLANKS, DIGITS = " ", "1"
# What is repeated, before a sign that matches nothing: each alone, and beside every other.
PARTS = (BLANKS, DIGITS, "a", ",", ".", "-", "+", ":", "?", "_", "1,", "1.", "1 ", "a ", "1,234")
HEADS = ("", "drop", "1", "a to b", "a to b in 1", "?", "=", "id", "$1")


def expressions(root):
    """(file, pattern, way) of every literal expression in the folders that read files."""
    found = set()
    for folder in FOLDERS:
        for file in sorted((root / "pdsynth" / folder).glob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            found |= {(file.name, *each) for each in _literals(tree)}
    return sorted(found)


def _literals(tree):
    names = {  # NAME = re.compile("…")
        node.targets[0].id: node.value.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_call(node.value, "compile")
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        called, on = node.func.attr, node.func.value
        if isinstance(on, ast.Name) and on.id in names:
            yield names[on.id], WAYS.get(called, "sub")
        elif _is_text(node) and (
            _is_re(on) or (isinstance(on, ast.Attribute) and on.attr == "str")
        ):
            if called != "compile" and called not in ("replace", "split", "join"):
                yield node.args[0].value, WAYS.get(called, "sub")


def _is_re(node):
    return isinstance(node, ast.Name) and node.id == "re"


def _is_text(call):
    return bool(call.args) and isinstance(getattr(call.args[0], "value", None), (str, bytes))


def _is_call(node, name):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and _is_re(node.func.value)
        and _is_text(node)
    )


def worst(pattern, how):
    """The fastest growth over all texts of a head, a repeated part, and a sign that stops it."""
    if isinstance(pattern, bytes):
        pattern = pattern.decode("latin-1")
    return max(
        regex_growth(pattern, lambda size, h=head, p=part: f"{h}{p * size}\x00", how, re.DOTALL)
        for head in HEADS
        for part in PARTS
    )


def test_the_expressions_are_found(root):
    found = expressions(root)
    assert {"domains.py", "schema_file.py", "sniffing.py", "opening.py"} <= {f for f, *_ in found}
    assert ("domains.py", RANGE.pattern, "fullmatch") in found


def test_steps_grow_as_the_text(root):
    slow = [each for each in expressions(root) if worst(*each[1:]) > LINEAR]
    assert slow == []


@pytest.mark.parametrize(
    ("pattern", "how"),
    [
        (r"\s*\+\s*missing$", "search"),  # of a rule, before
        (r"\d*\.?\d+", "fullmatch"),  # of a number
        (r"\s*-?\s*\d+\s*", "fullmatch"),
    ],
)
def test_twin_backtracking_is_seen(pattern, how):
    assert worst(pattern, how) > 1.8
