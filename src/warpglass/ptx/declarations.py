"""Variable, parameter and register declarations, with their initialisers.

Belongs here: everything that starts with a state space, `.reg` included. What differs between places (a
module, a parameter list, a body) is decided by the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from .constants import CONSTANT_STARTS, parse_constant, parse_integer
from .lexer import Mistake, Tokens, shorten
from .literals import parse_number
from .names import MAXIMUM_REGISTERS, Names
from .operands import is_word
from .tree import Address, Float, Integer, Masked, Operand, Symbol, Variable

SPACES = frozenset((".reg", ".shared", ".local", ".const", ".global", ".param"))
TYPES = frozenset(
    "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 f32 f64 bf16 bf16x2 tf32 e4m3 e5m2 "
    "texref samplerref surfref".split()
)
_OPAQUE = frozenset(("texref", "samplerref", "surfref"))
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_POINTER_SPACES = frozenset((".global", ".const", ".shared", ".local", ".param"))
_MAXIMUM_FILL = 1 << 24  # elements that short rows of an initialiser may add

# An opaque declaration such as `.samplerref s = { addr_mode_0 = wrap };` keeps no initialiser.


@dataclass(frozen=True, slots=True)
class _Prefix:
    """What stands in front of the names: `.shared .align 16 .v4 .f32`."""

    space: str
    type: str
    align: int
    vector: int
    pointer_space: str | None
    pointer_align: int
    managed: bool


def parse_variables(
    tokens: Tokens, index: int, linkage: str, reference: Callable[[int], Symbol]
) -> tuple[list[tuple[int, Variable]], int]:
    """The variables declared from a state space up to the `;`, each with the token of its name.

    `reference` turns the name at a token of an initialiser into a Symbol.
    """
    prefix, index = _parse_prefix(tokens, index)
    found: list[tuple[int, Variable]] = []
    while True:
        at = index
        variable, index = _parse_declarator(tokens, index, prefix, linkage)
        if variable.type == "pred":
            raise Mistake(
                at, f"variable {shorten(variable.name)} is .pred, of which there are registers only"
            )
        if tokens.texts[index] == "=":
            initial, index = _Initialiser(tokens, variable, reference).parse(index + 1)
            variable = _initialise(variable, initial)
        found.append((at, variable))
        if tokens.texts[index] == ";":
            return found, index + 1
        if tokens.texts[index] != ",":
            raise tokens.expected(index, f"',' or ';' after variable {shorten(variable.name)}")
        index += 1


def parse_parameters(tokens: Tokens, index: int) -> tuple[list[tuple[int, Variable]], int]:
    """A parameter list from its `(` on: each parameter with its first token, and the index behind the `)`.

    A broken parameter is reported and left out.
    """
    texts = tokens.texts
    found: list[tuple[int, Variable]] = []
    index += 1
    if texts[index] == ")":
        return found, index + 1
    while True:
        at = index
        try:
            if texts[index] not in (".param", ".reg"):
                raise tokens.unexpected(index, "'.param' or '.reg'")
            prefix, index = _parse_prefix(tokens, index)
            variable, index = _parse_declarator(tokens, index, prefix, "")
            found.append((at, variable))
            if texts[index] not in (",", ")"):
                raise tokens.expected(index, f"',' or ')' after parameter {shorten(variable.name)}")
        except Mistake as mistake:
            tokens.report(mistake)
            index = mistake.index
            while texts[index] not in (",", ")", ";", "{", "}", ""):
                index += 1
            tokens.lose(at, index)
        if texts[index] == ")":
            return found, index + 1
        if texts[index] != ",":
            raise tokens.expected(index, "')' of the parameter list")
        index += 1


def parse_registers(tokens: Tokens, index: int, names: Names) -> int:
    """`.reg .b32 %r<12>, %x;`: declare the registers and return the index behind the `;`."""
    texts = tokens.texts
    start = index
    prefix, index = _parse_prefix(tokens, index)
    if prefix.vector > 4 or (prefix.vector > 1 and prefix.type == "pred"):
        raise Mistake(start, "a vector register has two or four parts (.v2, .v4), none of them predicates")
    while True:
        at = index
        name = _parse_name(tokens, index)
        index += 1
        if texts[index] == "<":
            number = parse_number(texts[index + 1]) if texts[index + 2] == ">" else None
            if isinstance(number, Integer):
                count, index = number.value, index + 2
            else:
                count, index = parse_integer(tokens, index + 1, "the number of registers")
            if texts[index] != ">":
                raise tokens.expected(index, f"'>' after '{shorten(name)}<{count}'")
            if not 0 <= count <= MAXIMUM_REGISTERS:
                raise Mistake(at, f"{count} registers {shorten(name)}; 0 to {MAXIMUM_REGISTERS} are possible")
            names.declare_range(at, name, count, prefix.type, prefix.vector)
            index += 1
        else:
            names.declare_register(at, name, prefix.type, prefix.vector)
        if texts[index] == ";":
            return index + 1
        if texts[index] != ",":
            raise tokens.expected(index, f"',' or ';' after register {shorten(name)}")
        index += 1


def skip_parentheses(tokens: Tokens, index: int) -> int:
    """The index behind the `)` that closes the `(` at a token."""
    depth = 0
    for at in range(index, tokens.count):
        depth += (tokens.texts[at] == "(") - (tokens.texts[at] == ")")
        if depth <= 0:
            return at + 1
    raise Mistake(index, "this '(' is never closed")


def _parse_prefix(tokens: Tokens, index: int) -> tuple[_Prefix, int]:
    texts = tokens.texts
    space, type_, align, vector = texts[index][1:], "", 0, 1
    pointer: tuple[str | None, int] = (None, 0)
    managed = False
    index += 1
    while texts[index][:1] == ".":
        word = texts[index]
        index += 1
        if word == ".align":
            align, index = _parse_alignment(tokens, index)
        elif word in _VECTORS:
            vector = _VECTORS[word]
        elif word == ".ptr":
            pointer, index = _parse_pointer(tokens, index)
        elif word == ".attribute":
            behind = skip_parentheses(tokens, index)
            managed = managed or ".managed" in texts[index:behind]
            index = behind
        elif word[1:] in TYPES and not type_:
            type_ = word[1:]
        else:
            raise Mistake(
                index - 1, f"expected a type such as .b32, .align or .v2, .v4, found {shorten(word)!r}"
            )
    if not type_:
        raise tokens.expected(index, f"a type such as .b32 for this .{space} declaration")
    return _Prefix(space, type_, align, vector, *pointer, managed), index


def _parse_alignment(tokens: Tokens, index: int) -> tuple[int, int]:
    align, behind = parse_integer(tokens, index, "an alignment in bytes")
    if align <= 0 or align & (align - 1):
        raise Mistake(index, f"an alignment is a power of two; found {align}")
    return align, behind


def _parse_pointer(tokens: Tokens, index: int) -> tuple[tuple[str, int], int]:
    space, align = "generic", 0
    if tokens.texts[index] in _POINTER_SPACES:
        space, index = tokens.texts[index][1:], index + 1
    if tokens.texts[index] == ".align":
        align, index = _parse_alignment(tokens, index + 1)
    return (space, align), index


def _parse_name(tokens: Tokens, index: int) -> str:
    name = tokens.texts[index]
    if not is_word(name) or "." in name:
        raise tokens.expected(index, "a name")
    return name


def _parse_declarator(tokens: Tokens, index: int, prefix: _Prefix, linkage: str) -> tuple[Variable, int]:
    texts = tokens.texts
    at = index
    name = _parse_name(tokens, index)
    index += 1
    shape: list[int] = []
    while texts[index] == "[":
        if texts[index + 1] == "]":
            size, behind = 0, index + 1
        else:
            size, behind = parse_integer(tokens, index + 1, "an array size")
        if not 0 <= size < 1 << 48:
            raise Mistake(index + 1, f"{size} is no array size")
        if texts[behind] != "]":
            raise tokens.expected(behind, "']' after the array size")
        shape.append(size)
        index = behind + 1
    variable = Variable(
        name=name,
        space=prefix.space,
        type=prefix.type,
        align=prefix.align,
        shape=tuple(shape),
        vector=prefix.vector,
        linkage=linkage,
        pointer_space=prefix.pointer_space,
        line=tokens.line(at),
        pointer_align=prefix.pointer_align,
        managed=prefix.managed,
    )
    return variable, index


def _initialise(variable: Variable, initial: tuple[Operand, ...] | None) -> Variable:
    shape = variable.shape
    if initial is not None and shape and shape[0] == 0:
        row = prod(shape[1:]) * variable.vector or 1
        shape = (-(-len(initial) // row), *shape[1:])
    return replace(variable, shape=shape, initial=initial)


def _check_kind(variable: Variable, value: Integer | Float, index: int) -> None:
    """Raise Mistake for an initial value that is not of a variable's kind; bits take all."""
    type_, wanted = variable.type, ""
    if type_ in ("f32", "f64") and isinstance(value, Integer):
        wanted = "floating constants, such as 3.0 or 0f40400000"
    elif type_[0] in "us" and isinstance(value, Float):
        wanted = "integers"
    elif type_ in ("f16", "f16x2"):
        wanted = "no initial values"
    if wanted:
        raise Mistake(index, f"variable {shorten(variable.name)} is .{type_}, which takes {wanted}")


class _Initialiser:
    """Flattens what stands behind the `=` of one variable."""

    def __init__(self, tokens: Tokens, variable: Variable, reference: Callable[[int], Symbol]):
        self.tokens = tokens
        self.variable = variable
        self.reference = reference
        self.values: list[Operand] = []

    def parse(self, index: int) -> tuple[tuple[Operand, ...] | None, int]:
        """The values, and the index behind them."""
        if self.variable.type in _OPAQUE:
            return None, self._skip_opaque(index)
        if self.tokens.texts[index] != "{":
            value, index = self._parse_value(index)
            return (value,), index
        index = self._parse_braces(index)
        shape, vector = self.variable.shape, self.variable.vector
        room = prod(shape) * vector
        if room and len(self.values) > room:
            raise Mistake(
                index - 1, f"{len(self.values)} values for the {room} elements of {self.variable.name}"
            )
        return tuple(self.values), index

    def _parse_braces(self, index: int) -> int:
        texts = self.tokens.texts
        extents = [*self.variable.shape, *([self.variable.vector] if self.variable.vector > 1 else [])]
        begins: list[int] = []  # one entry per open brace: how many values stood before it
        cache: dict[str, Integer | Float] = {}
        while True:
            token = texts[index]
            value = cache.get(token)
            if value is not None and texts[index + 1] in (",", "}"):
                self.values.append(value)
                index += 1
            elif token == "{":
                if len(begins) >= max(len(extents), 1):
                    raise Mistake(index, f"more nested braces than {self.variable.name} has dimensions")
                begins.append(len(self.values))
                index += 1
                continue
            elif token == "}":
                index = self._close(begins, extents, index)
                if not begins:
                    return index
            else:
                literal, (parsed, index) = token, self._parse_value(index)
                self.values.append(parsed)
                if (
                    isinstance(parsed, Integer | Float)
                    and literal[:1].isdigit()
                    and texts[index - 1] == literal
                ):
                    cache[literal] = parsed
            if texts[index] == ",":
                index += 1
            elif texts[index] != "}":
                raise self.tokens.expected(index, "',' or '}' in the initialiser")

    def _close(self, begins: list[int], extents: list[int], index: int) -> int:
        begin = begins.pop()
        if begins:  # an inner row: fill it up, as C does
            missing = prod(extents[len(begins) :]) - (len(self.values) - begin)
            if missing < 0:
                raise Mistake(index, f"too many values in this row of {self.variable.name}")
            if missing > _MAXIMUM_FILL:
                raise Mistake(index, f"this row of {self.variable.name} lacks {missing} values")
            zero = Float(0, 64) if self.variable.type in ("f32", "f64") else Integer(0)
            self.values.extend([zero] * missing)
        return index + 1

    def _parse_value(self, index: int) -> tuple[Operand, int]:
        token = self.tokens.texts[index]
        if is_word(token) and token not in CONSTANT_STARTS:
            return self._parse_symbol(index)
        if token[:2] in ("0x", "0X") and self.tokens.texts[index + 1] == "(":
            mask = parse_number(token)
            symbol, behind = self._parse_symbol(index + 2)
            if isinstance(mask, Integer) and self.tokens.texts[behind] == ")":
                return Masked(mask.value, symbol), behind + 1
            raise self.tokens.expected(behind, "')' after the masked name")
        value, behind = parse_constant(self.tokens, index)
        if self.tokens.texts[behind] in (",", ";", "}"):
            _check_kind(self.variable, value, index)
        return value, behind

    def _parse_symbol(self, index: int) -> tuple[Symbol | Address, int]:
        texts = self.tokens.texts
        if texts[index] == "generic" and texts[index + 1] == "(":
            _parse_name(self.tokens, index + 2)
            named = self.reference(index + 2)
            if texts[index + 3] != ")":
                raise self.tokens.expected(index + 3, "')' after generic(name")
            symbol, index = Symbol(named.name, generic=True), index + 4
        else:
            _parse_name(self.tokens, index)
            symbol, index = self.reference(index), index + 1
        if texts[index] not in ("+", "-"):
            return symbol, index
        offset, index = parse_integer(self.tokens, index + (texts[index] == "+"), "an offset")
        return Address(symbol, offset), index

    def _skip_opaque(self, index: int) -> int:
        texts = self.tokens.texts
        if texts[index] != "{":
            raise self.tokens.expected(index, "'{'")
        while index < self.tokens.count and texts[index] not in ("}", ";"):
            index += 1
        if texts[index] != "}":
            raise self.tokens.expected(index, "'}'")
        return index + 1
