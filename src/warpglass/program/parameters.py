"""Where the parameters and results of device functions stand: in registers or in local memory.

A `.param` variable is a register if it is a scalar that is only ever accessed as a whole, from its first byte
on; anything else (structures, arrays, variables whose address is taken) lies in local memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..isa.calls import rewriting
from ..isa.types import BITS, LLVM_TYPE
from ..ptx import tree
from .layout import element_size, symbols_in, variable_size


@dataclass(frozen=True, slots=True)
class InRegister:
    """A parameter in a register of a type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class InMemory:
    """A parameter in local memory."""

    base: tree.Register | tree.Symbol
    offset: int
    variable: tree.Variable

    def address(self, offset: int = 0) -> tree.Address:
        """The operand that accesses it."""
        return tree.Address(self.base, self.offset + offset)


ParameterLocation = InRegister | InMemory


def parameters_of(function: tree.Function) -> tuple[tree.Variable, ...]:
    """The `.param` variables of a function's calls and, unless it is a kernel, its own."""
    inner = tuple(variable for variable in function.variables if variable.space == "param")
    return inner if function.entry else (*function.parameters, *function.results, *inner)


def find_scalars(function: tree.Function) -> frozenset[str]:
    """The parameters that can be registers."""
    width = {v.name: element_size(v) for v in parameters_of(function) if not v.shape and v.vector == 1}
    found = set(width)
    for item in function.body or ():
        if not isinstance(item, tree.Instruction) or rewriting(item) == "call":
            continue
        whole = _whole(item, width) if rewriting(item) == "parameter" else None
        found -= {name for name in symbols_in(item) if name != whole}
    return frozenset(found)


def _whole(item: tree.Instruction, width: dict[str, int]) -> str | None:
    """The parameter that an access moves from its first byte on, and not beyond it."""
    for operand in item.operands:
        match operand:
            case tree.Address(tree.Symbol(name), 0) if name in width:
                type_ = item.modifiers[-1]
                scalar = not any(isinstance(other, tree.Vector) for other in item.operands)
                return name if scalar and BITS[LLVM_TYPE[type_]] // 8 <= width[name] else None
            case _:
                pass
    return None


def move(
    target: ParameterLocation | tree.Register, source: ParameterLocation | tree.Operand, made: Instructions
) -> Iterator[tree.Instruction]:
    """The instructions that copy a parameter from one place to another."""
    if isinstance(target, tree.Register | InRegister):
        register = tree.Register(target.name)
        match source:
            case InMemory():
                type_ = (
                    target.type
                    if isinstance(target, InRegister)
                    else f"b{8 * variable_size(source.variable)}"
                )
                yield made.make("ld.local." + type_, register, source.address())
            case InRegister(name, type_):
                yield made.make("_param." + type_, register, tree.Register(name))
            case _:
                assert isinstance(target, InRegister), "a register gets its value from a parameter"
                yield made.make("_param." + target.type, register, source)
    elif isinstance(source, InMemory):
        yield from _copy(target, source, made)
    else:
        value = tree.Register(source.name) if isinstance(source, InRegister) else source
        type_ = f"b{8 * variable_size(target.variable)}"
        yield made.make("st.local." + type_, target.address(), value)


def _copy(target: InMemory, source: InMemory, made: Instructions) -> Iterator[tree.Instruction]:
    """Copy memory in the largest pieces that both alignments allow."""
    size = min(variable_size(target.variable), variable_size(source.variable))
    align = min(8, *(v.align or element_size(v) for v in (target.variable, source.variable)))
    done = 0
    while done < size:
        piece = align
        while done + piece > size:
            piece //= 2
        register = made.temporary(f"b{max(16, 8 * piece)}")
        yield made.make(f"ld.local.b{8 * piece}", register, source.address(done))
        yield made.make(f"st.local.b{8 * piece}", target.address(done), register)
        done += piece


class Instructions:
    """Makes instructions that stand for a part of one written by the author, and registers for them."""

    def __init__(self, registers: dict[str, str]):
        self.registers = registers
        self.origin = tree.Instruction("", (), ())
        self._count = 0

    def make(
        self, written: str, *operands: tree.Operand, guard: tree.Guard | None = None
    ) -> tree.Instruction:
        """An instruction at the author's line; `written` is its opcode with the modifiers."""
        opcode, *modifiers = written.split(".")
        return tree.Instruction(
            opcode, tuple(modifiers), operands, guard, self.origin.line, self.origin.source
        )

    def register(self, name: str, type_: str) -> tree.Register:
        """A register by name."""
        self.registers[name] = type_
        return tree.Register(name)

    def temporary(self, type_: str) -> tree.Register:
        """A new register."""
        self._count += 1
        return self.register(f"%t:{self._count}", type_)

    def label(self) -> tree.Label:
        """A new label."""
        self._count += 1
        return tree.Label(f"@{self._count}", self.origin.line)
