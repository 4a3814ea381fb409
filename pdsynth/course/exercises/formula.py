"""Formulas of a lesson's file, such as ``2 * (d - k) / epsilon``, with a student's own numbers."""

import ast
import hashlib
import math
import operator
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Value = Fraction | float
OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log2": math.log2,
    "ln": math.log,
    "exp": math.exp,
    "sqrt": math.sqrt,
}


def evaluate(formula: str | float, numbers: Mapping[str, Fraction] | None = None) -> Value:
    """The value of a formula: decimals, names, + - * / // **, and log2, ln, exp, sqrt.

    Fractions stay exact. Raises ValueError for anything else: a file is data and never runs.

    >>> evaluate("2 * (d - k) / 0.5", {"d": Fraction(14), "k": Fraction(2)})
    Fraction(48, 1)
    """

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() as number):
                return Fraction(str(number))
            case ast.Name(id=name) if name in (numbers or {}):
                return (numbers or {})[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=args) if name in FUNCTIONS:
                return FUNCTIONS[name](*map(value, args))
        raise ValueError(f"{formula!r} is more than a formula of {sorted(numbers or {})}")

    return value(ast.parse(str(formula), mode="eval").body)


def show(value: Value) -> str:
    """A number as a text has it: 14, 0.25, 7/12."""
    number = Fraction(value)
    if number.denominator == 1:
        return f"{number.numerator:,}"
    return f"{float(number):g}" if Fraction(f"{float(number):g}") == number else str(number)


def make_seed(*words: object) -> int:
    """The same whole number for the same words, on every machine."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, words)).encode()).digest()[:8], "big")


def draw(choices: Mapping[str, Sequence[str | float]], seed: int | None) -> dict[str, Fraction]:
    """One of the choices of each number; None takes the first ones, those of the lesson."""
    if seed is None:
        return {name: Fraction(evaluate(values[0])) for name, values in choices.items()}
    rng = random.Random(seed)
    return {name: Fraction(evaluate(rng.choice(values))) for name, values in choices.items()}
