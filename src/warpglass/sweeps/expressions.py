"""Templates of a sweep's specification: `"f8[{n}]:rand"`, `"{ceil(n / block)}"`, with a cell's axes as names.

Belongs here: arithmetic on the axes, evaluated without Python's eval. A template that is nothing but one
expression has its value (a number stays a number), any other is text.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ArgumentError
from ..records.spelling import did_you_mean

Value = int | float | str | bool

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "min": min,
    "max": max,
    "log2": math.log2,
    "int": int,
}
_LARGEST_POWER = 1 << 16  # bits: 2**2**40 must not be computed
_HOLE = re.compile(r"\{([^{}]*)\}")


def evaluate(text: str, names: Mapping[str, Value]) -> Any:
    """The value of an expression; raises ArgumentError that quotes it."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except ArgumentError as problem:
        raise ArgumentError(f"{text!r}: {problem}") from None
    except (SyntaxError, ValueError):
        raise ArgumentError(f"{text!r} is no expression such as n / block") from None
    except (TypeError, ArithmeticError, RecursionError) as problem:
        raise ArgumentError(f"{text!r} with {_shown(names)}: {problem}") from None


def fill(template: Any, names: Mapping[str, Value]) -> Any:
    """A template with the values of its expressions; lists and tables by element, all else as it is."""
    match template:
        case str():
            if (alone := _HOLE.fullmatch(template)) is not None:
                return evaluate(alone[1], names)
            return _HOLE.sub(lambda hole: str(as_whole(evaluate(hole[1], names))), template)
        case list():
            return [fill(part, names) for part in template]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {key: fill(part, names) for key, part in template.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return template


def names_in(template: Any) -> set[str]:
    """The axes that a template's expressions name."""
    match template:
        case str():
            return {name for hole in _HOLE.findall(template) for name in names_of(hole)}
        case list():
            return {name for part in template for name in names_in(part)}  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {name for part in template.values() for name in names_in(part)}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return set()


def names_of(text: str) -> set[str]:
    """The axes that one expression names; none if it is no expression, which evaluating it will say."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - _FUNCTIONS.keys()


def _value(node: ast.expr, names: Mapping[str, Value]) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() as constant):
            return constant
        case ast.Name(id=name):
            if name not in names:
                raise ArgumentError(f"there is no axis {name!r}{did_you_mean(name, list(names))}")
            return names[name]
        case ast.BinOp(op=ast.Pow()):
            return _power(_value(node.left, names), _value(node.right, names))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
        case ast.UnaryOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](_value(node.operand, names))
        case ast.BoolOp(op=ast.And()):
            return all(_value(part, names) for part in node.values)
        case ast.BoolOp():
            return any(_value(part, names) for part in node.values)
        case ast.Compare(ops=[one], comparators=[right]) if type(one) in _OPERATORS:
            return _OPERATORS[type(one)](_value(node.left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, names) for argument in node.args))
        case _:
            raise ArgumentError(
                "write numbers, axes, + - * / // % **, comparisons, and, or, not, " + ", ".join(_FUNCTIONS)
            )


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and exponent * base.bit_length() > _LARGEST_POWER:
        raise ArgumentError(f"{base}**{exponent} is too large")
    return base**exponent


def as_whole(value: Any) -> Any:
    """A float that is a whole number as an integer: n / 2 is to be a size."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shown(names: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={value}" for name, value in names.items()) or "no axes"
