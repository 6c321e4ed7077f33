"""Operands of instructions: `%r1`, `[%rd1+8]`, `s[2]`, `{%f1, %f2}`, `%p1|%p2`, `!%p1`, `(param0)`, `0d...`.

Belongs here: everything between an opcode and its `;`. Which operands an instruction takes is isa/'s
business, so they are parsed alike for all. An operand of one token comes from a dictionary (`Names.current`),
which also caches numbers: that is what makes large files fast.
"""

from __future__ import annotations

from .constants import CONSTANT_STARTS, OPERATORS, parse_constant, parse_integer
from .lexer import Mistake, Tokens, shorten
from .literals import LARGEST, SMALLEST, negate, parse_number
from .names import Names
from .tree import (
    Address,
    AddressList,
    Component,
    Displaced,
    Float,
    Group,
    Indexed,
    Integer,
    Minus,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)

_SINK = Sink()
_ENDS = frozenset(",;]}):")
_WORD_STARTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$%")


def is_word(token: str) -> bool:
    """Whether a token may name something."""
    return token[:1] in _WORD_STARTS and token != "%"


def parse_operands(tokens: Tokens, names: Names, index: int) -> tuple[tuple[Operand, ...], int]:
    """The operands from a token up to the `;`, and the index of the `;`."""
    texts = tokens.texts
    current = names.current
    operands: list[Operand] = []
    head = texts[index - 1]
    while True:
        first = texts[index]
        operand = current.get(first)
        follows = texts[index + 1]
        if operand is not None and (follows == "," or follows == ";"):
            index += 1
        elif first == "(" and not head.startswith(("call", ".")):
            operand, index = parse_constant(tokens, index)  # it is only calls that have groups
            follows = texts[index]
        else:
            operand, index = _parse_operand(tokens, names, index)
            follows = texts[index]
        operands.append(operand)
        if follows == ",":
            index += 1
        elif follows == ";":
            return tuple(operands), index
        else:
            raise tokens.expected(index, f"',' or ';' after operand {shorten(texts[index - 1])!r}")


def parse_address(tokens: Tokens, names: Names, index: int) -> tuple[Operand, int]:
    """`[base]`, `[base+offset]` or `[part, part]` from its `[`, and the index behind the `]`."""
    texts = tokens.texts
    base = names.current.get(texts[index + 1])
    if texts[index + 2] == "]" and isinstance(base, Register | Symbol):
        return Address(base), index + 3
    part, behind = _parse_address_part(tokens, names, index + 1)
    if texts[behind] == "]" and isinstance(part, Address):
        return part, behind + 1
    parts = [part]
    while texts[behind] == ",":
        part, behind = _parse_address_part(tokens, names, behind + 1)
        parts.append(part)
    if texts[behind] != "]":
        raise tokens.expected(behind, "']' of the address")
    # A lone name is kept as an Address only where it stands alone in the brackets.
    plain = tuple(part.base if isinstance(part, Address) and not part.offset else part for part in parts)
    return AddressList(plain), behind + 1


def parse_simple(tokens: Tokens, names: Names, index: int) -> tuple[Operand, int]:
    """An operand without punctuation of its own: a name, `_`, a constant, `sym+8`, `%r1+8`, `!%p1`."""
    first = tokens.texts[index]
    if first == "_":
        return _SINK, index + 1
    follows = tokens.texts[index + 1]
    if is_word(first) and not (first in CONSTANT_STARTS and follows in OPERATORS):
        operand = names.current.get(first) or names.resolve(index)
        if isinstance(operand, Symbol | Register) and tokens.texts[index + 1] in ("+", "-"):
            offset, behind = _parse_offset(tokens, index + 1)
            return Displaced(operand, offset), behind
        if isinstance(operand, Symbol) and tokens.texts[index + 1] == "[":
            return _parse_element(tokens, names, operand, index + 2)
        return operand, index + 1
    if first == "-" and is_word(follows) and follows not in CONSTANT_STARTS:
        return _parse_minus(tokens, names, index)
    if first == "!" and is_word(follows) and follows not in CONSTANT_STARTS:
        return _parse_negated(tokens, names, index)
    if first[:1].isdigit() or first[:1] == "." or first in CONSTANT_STARTS:
        return _parse_number(tokens, names, index)
    raise tokens.expected(index, "an operand")


def parse_guard(tokens: Tokens, names: Names, index: int) -> tuple[str, bool, int]:
    """`@%p1` or `@!%p1` from its `@`: the register, whether negated, and the index behind."""
    negated = tokens.texts[index + 1] == "!"
    index += 1 + negated
    operand = (
        (names.current.get(tokens.texts[index]) or names.resolve(index))
        if is_word(tokens.texts[index])
        else None
    )
    if not isinstance(operand, Register):
        raise tokens.expected(index, "a predicate register after '@'")
    type_ = names.registers.get(operand.name, "pred")
    if type_ != "pred":
        raise Mistake(index, f"a guard needs a .pred register; {shorten(operand.name)} is .{type_}")
    return operand.name, negated, index + 1


def _parse_operand(tokens: Tokens, names: Names, index: int) -> tuple[Operand, int]:
    first = tokens.texts[index]
    if first == "[":
        return parse_address(tokens, names, index)
    if first == "{":
        elements, index = _parse_elements(tokens, names, index, "}")
        return Vector(elements), index
    if first == "(":
        elements, index = _parse_elements(tokens, names, index, ")")
        return Group(elements), index
    operand, behind = parse_simple(tokens, names, index)
    if tokens.texts[behind] == "|":
        second, behind = parse_simple(tokens, names, behind + 1)
        return Pair(operand, second), behind
    return operand, behind


def _parse_elements(tokens: Tokens, names: Names, index: int, close: str) -> tuple[tuple[Operand, ...], int]:
    texts = tokens.texts
    elements: list[Operand] = []
    index += 1
    if texts[index] == close:
        return (), index + 1
    while True:
        element = names.current.get(texts[index])
        if element is not None and texts[index + 1] == ",":
            index += 1
        else:
            element, index = parse_simple(tokens, names, index)
        if isinstance(element, Vector):  # a vector register
            elements += element.elements
        else:
            elements.append(element)
        if texts[index] == ",":
            index += 1
        elif texts[index] == close:
            return tuple(elements), index + 1
        else:
            raise tokens.expected(index, f"',' or {close!r}")


def _parse_number(tokens: Tokens, names: Names, index: int) -> tuple[Integer | Float, int]:
    first = tokens.texts[index]
    if first == "-" and tokens.texts[index + 2] in _ENDS:
        literal = parse_number(tokens.texts[index + 1])
        if literal is not None and (isinstance(literal, Float) or literal.value <= -SMALLEST):
            return negate(literal), index + 2
    elif tokens.texts[index + 1] in _ENDS and (literal := parse_number(first)) is not None:
        names.current[first] = literal
        return literal, index + 1
    return parse_constant(tokens, index)


def _parse_negated(tokens: Tokens, names: Names, index: int) -> tuple[Operand, int]:
    if is_word(tokens.texts[index + 1]):
        operand = names.resolve(index + 1)
        if isinstance(operand, Register):
            return Negated(operand), index + 2
    raise tokens.expected(index + 1, "a predicate register after '!'")


def _parse_minus(tokens: Tokens, names: Names, index: int) -> tuple[Operand, int]:
    operand = names.resolve(index + 1)
    if isinstance(operand, Register | Component):
        return Minus(operand), index + 2
    raise tokens.expected(index + 1, "a register or a number after '-'")


def _parse_address_part(tokens: Tokens, names: Names, index: int) -> tuple[Operand, int]:
    first = tokens.texts[index]
    if first == "{":
        elements, index = _parse_elements(tokens, names, index, "}")
        return Vector(elements), index
    if not is_word(first):
        if first[:1].isdigit() or first in CONSTANT_STARTS:
            value, behind = parse_integer(tokens, index, "an address")
            return Address(Integer(value)), behind
        raise tokens.expected(index, "a register, a name or a number as address")
    base = names.current.get(first) or names.resolve(index)
    if not isinstance(base, Register | Symbol | Special):
        raise Mistake(index, f"{shorten(first)} cannot be the base of an address")
    if tokens.texts[index + 1] not in ("+", "-"):
        return Address(base), index + 1
    offset, behind = _parse_offset(tokens, index + 1)
    return Address(base, offset), behind


def _parse_element(tokens: Tokens, names: Names, array: Symbol, index: int) -> tuple[Indexed, int]:
    """The element of an array from behind its `[`: `2`, `%r1`, `%r1+2`."""
    register = None
    if is_word(tokens.texts[index]) and tokens.texts[index] not in CONSTANT_STARTS:
        found = names.current.get(tokens.texts[index]) or names.resolve(index)
        if not isinstance(found, Register):
            raise tokens.expected(index, "a register or a number as index")
        register, index = found, index + 1
    offset, behind = 0, index
    if register is None:
        offset, behind = parse_integer(tokens, index, "a register or a number as index")
    elif tokens.texts[index] in ("+", "-"):
        offset, behind = _parse_offset(tokens, index)
    if tokens.texts[behind] != "]":
        raise tokens.expected(behind, "']' behind the index")
    return Indexed(array, register, offset), behind + 1


def _parse_offset(tokens: Tokens, index: int) -> tuple[int, int]:
    """The sum behind a base, from its first `+` or `-`: `+8`, `+-8`, `-4`, `+ 4*2 - 1`."""
    texts = tokens.texts
    literal = parse_number(texts[index + 1]) if texts[index + 2] in _ENDS else None
    if isinstance(literal, Integer):
        total, index = (literal.value if texts[index] == "+" else -literal.value), index + 2
    else:
        start = index + (texts[index] == "+")
        total, index = parse_integer(tokens, start, "a constant offset (PTX has no [register+register])")
    if not SMALLEST <= total <= LARGEST:
        raise Mistake(index - 1, f"the offset {total} does not fit into 64 bits")
    return total, index
