"""The PTX tree: what the parser makes and every later stage reads.

Belongs here: frozen dataclasses that mirror the PTX grammar and nothing else. No meaning (isa/ has that),
no text (printer.py), no control flow (program/). Scopes are gone: the parser renames registers, variables
and labels of nested `{ }` blocks so that every name is unique within its function. So are vector registers:
each is a vector of registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A line of the kernel author's file, from `.loc`; `inlined_at` is the call it was inlined from."""

    file: str
    line: int
    column: int = 0
    inlined_at: SourceLocation | None = None

    @property
    def chain(self) -> tuple[SourceLocation, ...]:
        """The line, and where it was inlined into, from the inside out."""
        chain: list[SourceLocation] = [self]
        while (outer := chain[-1].inlined_at) is not None:
            chain.append(outer)
        return tuple(chain)

    @property
    def author(self) -> SourceLocation:
        """The innermost line of the author's file: for code of a header where it was inlined into."""
        chain = self.chain
        return next(place for place in chain if place.file == chain[-1].file)


# ---------------------------------------------------------------------------------------- operands
@dataclass(frozen=True, slots=True)
class Register:
    """A declared register, `%r1`; its type stands in Function.registers."""

    name: str


@dataclass(frozen=True, slots=True)
class Special:
    """A special register: `%tid.x`, `%laneid`, `%clock64`, or the constant `WARP_SZ`."""

    name: str


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer literal as written: negative if it carries a minus sign; any base, `U` dropped."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A floating literal by its bits: `0f3F800000` has width 32, `0d...` and decimal literals 64."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """The name of a variable, function or label; `generic(name)` in an initialiser sets `generic`."""

    name: str
    generic: bool = False


@dataclass(frozen=True, slots=True)
class Negated:
    """`!%p1` as a source operand."""

    operand: Register


@dataclass(frozen=True, slots=True)
class Minus:
    """`-%r1` or `-%r1.h0` as a source operand, of vmad."""

    operand: Register | Component


@dataclass(frozen=True, slots=True)
class Pair:
    """`%p1|%p2`, a destination of setp, shfl, match and others."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Vector:
    """`{%f1, %f2}`."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """`(a, b)`: the results or arguments of a call."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[base]`, `[base+offset]`; a literal address has an Integer base."""

    base: Register | Symbol | Integer | Special
    offset: int = 0


@dataclass(frozen=True, slots=True)
class AddressList:
    """`[tex, {%f1, %f2}]`: an address of several parts (textures, tensor maps)."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Displaced:
    """`sym+8` or `%r1+8` outside brackets, as in `mov.u64 %rd1, sym+8`."""

    base: Symbol | Register
    offset: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """`s[2]`, `s[%r1+2]`: an element of an array; ld, st and mov take its address without more brackets."""

    base: Symbol
    index: Register | None
    offset: int


@dataclass(frozen=True, slots=True)
class Component:
    """`%r1.b0`: a part of a register (video instructions)."""

    base: Register
    selector: str


@dataclass(frozen=True, slots=True)
class Masked:
    """`0xFF00(sym)` in an initialiser: the byte of an address that the mask selects."""

    mask: int
    operand: Symbol | Address


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`: a result that nobody wants."""


Operand = (
    Register
    | Special
    | Integer
    | Float
    | Symbol
    | Negated
    | Minus
    | Pair
    | Vector
    | Group
    | Address
    | AddressList
    | Displaced
    | Indexed
    | Component
    | Masked
    | Sink
)


# ---------------------------------------------------------------------------------------- statements
@dataclass(frozen=True, slots=True)
class Guard:
    """`@%p` or `@!%p` in front of an instruction."""

    register: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: `@%p1 ld.global.f64 %fd1, [%rd2+8];` has opcode "ld", modifiers ("global", "f64").

    `line` is the PTX line (1-based), `source` the kernel author's line if `.loc` gave one. A `.loc` with
    line 0 means "no line of its own": the last known location stays in force.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Guard | None = None
    line: int = 0
    source: SourceLocation | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A branch target."""

    name: str
    line: int = 0


# ---------------------------------------------------------------------------------------- declarations
@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or parameter: `.shared .align 4 .b8 buf[64];` has type "b8" and shape (64,).

    `shape` is () for a scalar; a dimension of 0 is unsized (`[]`). `vector` is 1, 2, 4 or 8 (`.v4`).
    `initial` is a flat tuple of Integer, Float, Symbol (with Address for `sym+4`) or Masked, or None; rows
    that nested braces leave short are filled with Integer(0).
    `linkage` is "visible", "extern", "weak", "common" or "". `.ptr .global .align 16` gives pointer_space
    "global" and pointer_align 16; a `.ptr` without a space gives "generic".
    """

    name: str
    space: str  # reg, shared, global, const, local, param
    type: str  # without the dot: u32, b8, f64, pred
    align: int = 0  # 0: natural
    shape: tuple[int, ...] = ()
    vector: int = 1
    initial: tuple[Operand, ...] | None = None
    linkage: str = ""
    pointer_space: str | None = None
    line: int = 0
    pointer_align: int = 0
    managed: bool = False  # `.attribute(.managed)`: host and device use one address


@dataclass(frozen=True, slots=True)
class Prototype:
    """A `.callprototype`: the signature of an indirect call."""

    results: tuple[Variable, ...] = ()
    parameters: tuple[Variable, ...] = ()
    noreturn: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A `.entry` or `.func`; `body` is None for a declaration. `directives` keeps e.g. ("maxntid", (512,)).

    `branch_targets`, `call_targets` and `prototypes` hold the labelled `.branchtargets`, `.calltargets` and
    `.callprototype` by label.
    """

    name: str
    entry: bool
    parameters: tuple[Variable, ...] = ()
    results: tuple[Variable, ...] = ()
    registers: Mapping[str, str] = field(default_factory=dict[str, str])  # name -> type without the dot
    variables: tuple[Variable, ...] = ()  # .shared, .local, .param, .global, .const declared inside
    body: tuple[Instruction | Label, ...] | None = None
    directives: tuple[tuple[str, tuple[int, ...]], ...] = ()
    branch_targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    linkage: str = ""
    line: int = 0
    call_targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    prototypes: Mapping[str, Prototype] = field(default_factory=dict[str, Prototype])


@dataclass(frozen=True, slots=True)
class Module:
    """One PTX file: no two functions and no two variables of one name, since a definition replaces its
    declarations. `files` maps the numbers of `.file` to paths, `aliases` the names of `.alias` to functions.
    """

    version: tuple[int, int]
    target: tuple[str, ...]
    address_size: int = 64
    variables: tuple[Variable, ...] = ()
    functions: tuple[Function, ...] = ()
    files: Mapping[int, str] = field(default_factory=dict[int, str])
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
