"""Constant expressions of PTX, folded: `8*4+1`, `-4U >> 1`, `1.0/3.0`.

Belongs here: what a person may write in an offset, an operand or an initial value (compilers print plain
numbers). Integers are of 64 bits and wrap. They are signed, but for literals that end in `U` or exceed
2**63 - 1, and what is computed with one of those; `~` and `%` are unsigned, comparisons and `!` signed.
Floating constants are doubles and do not mix with integers. This is the table in the manual's section on
constant expressions; where it is silent (shifts by 64, the type of `?:`) the rule is ptxas 13.0's.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .lexer import Mistake, Tokens, shorten
from .literals import SMALLEST, negate, parse_number
from .tree import Float, Integer

_MAXIMUM_NESTING = 32
_SIGN = 1 << 63
_MODULUS = 1 << 64


@dataclass(frozen=True, slots=True)
class _Whole:
    """An integer of 64 bits: from -2**63 if it is signed, from 0 if it is unsigned."""

    value: int
    unsigned: bool = False


_Value = _Whole | float
_Kind = Literal["arithmetic", "remainder", "shift", "comparison", "logic"]


def _divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # truncates, as C does


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_BINARY: dict[str, tuple[int, _Kind, Callable[[int, int], int]]] = {
    "||": (1, "logic", lambda a, b: a != 0 or b != 0),
    "&&": (2, "logic", lambda a, b: a != 0 and b != 0),
    "|": (3, "arithmetic", lambda a, b: a | b),
    "^": (4, "arithmetic", lambda a, b: a ^ b),
    "&": (5, "arithmetic", lambda a, b: a & b),
    "==": (6, "comparison", _COMPARISONS["=="]),
    "!=": (6, "comparison", _COMPARISONS["!="]),
    "<": (7, "comparison", _COMPARISONS["<"]),
    ">": (7, "comparison", _COMPARISONS[">"]),
    "<=": (7, "comparison", _COMPARISONS["<="]),
    ">=": (7, "comparison", _COMPARISONS[">="]),
    "<<": (8, "shift", lambda a, b: a << b),
    ">>": (8, "shift", lambda a, b: a >> b),
    "+": (9, "arithmetic", operator.add),
    "-": (9, "arithmetic", operator.sub),
    "*": (10, "arithmetic", operator.mul),
    "/": (10, "arithmetic", _divide),
    "%": (10, "remainder", operator.mod),
}
_FLOATING: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a / b,
}
_UNARY = frozenset("-+~!")
_CASTS = {".s64": False, ".u64": True}  # whether what they give is unsigned
_WARP_SIZE = "WARP_SZ"
OPERATORS = frozenset((*_BINARY, "?"))  # what may follow a constant in an expression
CONSTANT_STARTS = frozenset((*_UNARY, "(", _WARP_SIZE))


def parse_constant(tokens: Tokens, index: int) -> tuple[Integer | Float, int]:
    """The constant at a token, folded, and the index behind it: `-0f3F800000`, `12`, `8*(4+1)`."""
    texts = tokens.texts
    sign = texts[index] in ("-", "+")
    literal = parse_number(texts[index + sign])
    if isinstance(literal, Float) and literal.width == 32:  # these have no part in expressions
        return (negate(literal) if texts[index] == "-" else literal), index + sign + 1
    value, behind = _parse_choice(tokens, index, 0)
    if not isinstance(value, _Whole):
        return Float(int.from_bytes(struct.pack(">d", value)), 64), behind
    return Integer(value.value), behind


def parse_integer(tokens: Tokens, index: int, expected: str) -> tuple[int, int]:
    """The integer constant at a token and the index behind it; `expected` names it in the error."""
    first = tokens.texts[index]
    if not first[:1].isdigit() and first not in CONSTANT_STARTS:
        raise tokens.expected(index, expected)
    value, behind = parse_constant(tokens, index)
    if isinstance(value, Float):
        raise Mistake(index, f"expected {expected}, found the floating literal {shorten(first)!r}")
    return value.value, behind


def _wrapped(value: int, unsigned: bool) -> _Whole:
    return _Whole(value % _MODULUS if unsigned else (value + _SIGN) % _MODULUS - _SIGN, unsigned)


def _parse_choice(tokens: Tokens, index: int, nesting: int) -> tuple[_Value, int]:
    """`condition ? a : b`, or anything that binds tighter."""
    start = index
    value, index = _parse_binary(tokens, index, 1, nesting)
    if tokens.texts[index] != "?":
        return value, index
    first, index = _parse_choice(tokens, index + 1, nesting + 1)
    if tokens.texts[index] != ":":
        raise tokens.expected(index, "':' of the constant expression")
    second, index = _parse_choice(tokens, index + 1, nesting + 1)
    if not all(isinstance(one, _Whole) for one in (first, second)) or not isinstance(value, _Whole):
        raise Mistake(start, "'?:' of a constant expression takes integers only")
    return (first if value.value else second), index


def _parse_binary(tokens: Tokens, index: int, level: int, nesting: int) -> tuple[_Value, int]:
    value, index = _parse_unary(tokens, index, nesting)
    while (entry := _BINARY.get(tokens.texts[index])) is not None and entry[0] >= level:
        at = index
        right, index = _parse_binary(tokens, index + 1, entry[0] + 1, nesting)
        value = _compute(at, tokens.texts[at], value, right)
    return value, index


def _compute(at: int, symbol: str, left: _Value, right: _Value) -> _Value:
    """One operation, whose operator is the token `at`."""
    _, kind, function = _BINARY[symbol]
    if symbol in "/%" and (right.value if isinstance(right, _Whole) else right) == 0:
        raise Mistake(at, "division by zero in a constant expression")
    if not isinstance(left, _Whole) and not isinstance(right, _Whole):
        if symbol in _FLOATING:
            return _FLOATING[symbol](left, right)
        if symbol in _COMPARISONS:
            return _Whole(int(_COMPARISONS[symbol](left, right)))
        raise Mistake(at, f"{symbol!r} of a constant expression takes integers only")
    if not isinstance(left, _Whole) or not isinstance(right, _Whole):
        raise Mistake(at, f"an integer and a floating constant on both sides of {symbol!r}: write 2.0 for 2")
    if kind == "shift":
        return _wrapped(function(left.value, right.value % 64), left.unsigned)
    if kind == "logic":
        return _Whole(int(function(left.value, right.value)))
    unsigned = left.unsigned or right.unsigned or kind == "remainder"
    value = function(_wrapped(left.value, unsigned).value, _wrapped(right.value, unsigned).value)
    return _Whole(int(value)) if kind == "comparison" else _wrapped(value, unsigned)


def _parse_unary(tokens: Tokens, index: int, nesting: int) -> tuple[_Value, int]:
    token = tokens.texts[index]
    if nesting > _MAXIMUM_NESTING:
        raise Mistake(index, "the constant expression is nested too deeply")
    if token in _UNARY:
        value, behind = _parse_unary(tokens, index + 1, nesting + 1)
        return _apply(index, token, value), behind
    if token == "(" and tokens.texts[index + 1] in _CASTS and tokens.texts[index + 2] == ")":
        value, behind = _parse_unary(tokens, index + 3, nesting + 1)
        if not isinstance(value, _Whole):
            raise Mistake(index, f"({tokens.texts[index + 1]}) of a constant expression takes integers only")
        return _wrapped(value.value, _CASTS[tokens.texts[index + 1]]), behind
    if token == _WARP_SIZE:
        return _Whole(32), index + 1
    if token == "(":
        value, behind = _parse_choice(tokens, index + 1, nesting + 1)
        if tokens.texts[behind] != ")":
            raise tokens.expected(behind, "')' of the constant expression")
        return value, behind + 1
    return _parse_literal(tokens, index), index + 1


def _parse_literal(tokens: Tokens, index: int) -> _Value:
    token = tokens.texts[index]
    literal = parse_number(token)
    if isinstance(literal, Integer):
        return _Whole(literal.value, token.endswith("U") or literal.value >= -SMALLEST)
    if isinstance(literal, Float):
        if literal.width == 32:
            raise Mistake(index, f"the literal {token} has no part in expressions: write it in decimal")
        return float(struct.unpack(">d", literal.bits.to_bytes(8))[0])
    if token[:1].isdigit() or token[:1] == ".":
        raise Mistake(index, f"{shorten(token)!r} is not a number of PTX or needs more than 64 bits")
    raise tokens.expected(index, "a constant")


def _apply(at: int, symbol: str, value: _Value) -> _Value:
    """A unary operator, the token `at`."""
    if not isinstance(value, _Whole):
        if symbol in "~!":
            raise Mistake(at, f"{symbol!r} of a constant expression takes integers only")
        return -value if symbol == "-" else value
    if symbol == "!":
        return _Whole(int(value.value == 0))
    if symbol == "~":
        return _wrapped(~value.value, True)
    return _wrapped(-value.value, value.unsigned) if symbol == "-" else value
