"""Numbers and constant expressions of PTX.

Belongs here: literals of every base, floating literals as bits, and the folding of `8*4+1` as a person may
write it in an offset or an operand (compilers print plain numbers).
"""

from __future__ import annotations

import operator
import re
import struct
from collections.abc import Callable

from .lexer import Mistake, Tokens, shorten
from .tree import Float, Integer

_INTEGER = re.compile(r"(?:0[xX]([0-9a-fA-F]{1,16})|0[bB]([01]{1,64})|0([0-7]{1,22})|(0|[1-9][0-9]{0,19}))U?")
_BITS = re.compile(r"0(?:[fF]([0-9a-fA-F]{8})|[dD]([0-9a-fA-F]{16}))")
_DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d{1,4})?")
_BASES = (16, 2, 8, 10)

LARGEST = 2**64 - 1
SMALLEST = -(2**63)
_MAXIMUM_NESTING = 32

_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda a, b: int(a != 0 or b != 0)),
    "&&": (2, lambda a, b: int(a != 0 and b != 0)),
    "|": (3, lambda a, b: a | b),
    "^": (4, lambda a, b: a ^ b),
    "&": (5, lambda a, b: a & b),
    "==": (6, operator.eq),
    "!=": (6, operator.ne),
    "<": (7, operator.lt),
    ">": (7, operator.gt),
    "<=": (7, operator.le),
    ">=": (7, operator.ge),
    "<<": (8, lambda a, b: a << b),
    ">>": (8, lambda a, b: a >> b),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),  # truncates, as C does
    "%": (10, lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1)),
}
_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": operator.not_,
}
_CASTS: dict[str, Callable[[int], int]] = {
    ".s64": lambda a: (a + (1 << 63)) % (1 << 64) - (1 << 63),
    ".u64": lambda a: a % (1 << 64),
}
_WARP_SIZE = "WARP_SZ"
OPERATORS = frozenset((*_BINARY, "?"))  # what may follow a constant in an expression
CONSTANT_STARTS = frozenset((*_UNARY, "(", _WARP_SIZE))


def parse_number(token: str) -> Integer | Float | None:
    """A literal without sign, or None if the token is none."""
    if match := _INTEGER.fullmatch(token):
        digits = match[match.lastindex or 0]
        value = int(digits, _BASES[(match.lastindex or 1) - 1])
        return Integer(value) if value <= LARGEST else None
    if match := _BITS.fullmatch(token):
        return Float(int(match[1], 16), 32) if match[1] else Float(int(match[2], 16), 64)
    if _DECIMAL.fullmatch(token) and len(token) < 400:
        return Float(int.from_bytes(struct.pack(">d", float(token))), 64)
    return None


def negate(value: Integer | Float) -> Integer | Float:
    """A literal behind a minus sign."""
    if isinstance(value, Integer):
        return Integer(-value.value)
    return Float(value.bits ^ (1 << (value.width - 1)), value.width)


def parse_constant(tokens: Tokens, index: int) -> tuple[Integer | Float, int]:
    """The constant at a token, folded, and the index behind it: `-0f3F800000`, `12`, `8*(4+1)`."""
    texts = tokens.texts
    sign = texts[index] in ("-", "+")
    literal = parse_number(texts[index + sign])
    if isinstance(literal, Float):
        return (negate(literal) if texts[index] == "-" else literal), index + sign + 1
    value, behind = _parse_choice(tokens, index, 0)
    if not SMALLEST <= value <= LARGEST:
        raise Mistake(index, f"the constant {value} does not fit into 64 bits")
    return Integer(value), behind


def parse_integer(tokens: Tokens, index: int, expected: str) -> tuple[int, int]:
    """The integer constant at a token and the index behind it; `expected` names it in the error."""
    first = tokens.texts[index]
    if not first[:1].isdigit() and first not in CONSTANT_STARTS:
        raise tokens.expected(index, expected)
    value, behind = parse_constant(tokens, index)
    if isinstance(value, Float):
        raise Mistake(index, f"expected {expected}, found the floating literal {shorten(first)!r}")
    return value.value, behind


def _parse_choice(tokens: Tokens, index: int, nesting: int) -> tuple[int, int]:
    """`condition ? a : b`, or anything that binds tighter."""
    value, index = _parse_binary(tokens, index, 1, nesting)
    if tokens.texts[index] != "?":
        return value, index
    first, index = _parse_choice(tokens, index + 1, nesting + 1)
    if tokens.texts[index] != ":":
        raise tokens.expected(index, "':' of the constant expression")
    second, index = _parse_choice(tokens, index + 1, nesting + 1)
    return (first if value else second), index


def _parse_binary(tokens: Tokens, index: int, level: int, nesting: int) -> tuple[int, int]:
    value, index = _parse_unary(tokens, index, nesting)
    while (entry := _BINARY.get(tokens.texts[index])) is not None and entry[0] >= level:
        at = index
        right, index = _parse_binary(tokens, index + 1, entry[0] + 1, nesting)
        symbol = tokens.texts[at]
        if symbol in "/%" and right == 0:
            raise Mistake(at, "division by zero in a constant expression")
        if symbol in ("<<", ">>") and not 0 <= right < 64:
            raise Mistake(at, f"shift by {right} in a constant expression; 0 to 63 are possible")
        value = int(entry[1](value, right))
        if not SMALLEST <= value <= LARGEST:
            raise Mistake(at, "the constant expression does not fit into 64 bits")
    return value, index


def _parse_unary(tokens: Tokens, index: int, nesting: int) -> tuple[int, int]:
    token = tokens.texts[index]
    if nesting > _MAXIMUM_NESTING:
        raise Mistake(index, "the constant expression is nested too deeply")
    if token in _UNARY:
        value, behind = _parse_unary(tokens, index + 1, nesting + 1)
        return int(_UNARY[token](value)), behind
    if token == "(" and tokens.texts[index + 1] in _CASTS and tokens.texts[index + 2] == ")":
        value, behind = _parse_unary(tokens, index + 3, nesting + 1)
        return _CASTS[tokens.texts[index + 1]](value), behind
    if token == _WARP_SIZE:
        return 32, index + 1
    if token == "(":
        value, behind = _parse_choice(tokens, index + 1, nesting + 1)
        if tokens.texts[behind] != ")":
            raise tokens.expected(behind, "')' of the constant expression")
        return value, behind + 1
    literal = parse_number(token)
    if isinstance(literal, Integer):
        return literal.value, index + 1
    if token[:1].isdigit() or token[:1] == ".":
        raise Mistake(index, f"{shorten(token)!r} is not a number of PTX or needs more than 64 bits")
    raise tokens.expected(index, "a constant")
