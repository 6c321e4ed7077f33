"""What the addresses of memory accesses are computed from: words of parameters, variables, memory.

A register has the bases of all that it may be computed from, whatever the computation: an address is then one
of something that a base points to, or was loaded from memory, or is made up of parts that are no pointers.
Sources narrower than a pointer count as none, for they are indices and sizes, unless some are put together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..isa.calls import system_function
from ..isa.types import LLVM_TYPE, bits
from ..ptx import tree
from .blocks import Block
from .decode import Step, registers_of

if TYPE_CHECKING:
    from . import Program


class Word(NamedTuple):
    """The 64-bit word of a kernel's parameter that begins at a byte."""

    parameter: str
    offset: int


# Other bases: variables of the module; what malloc returns; memory that is the block's, the thread's or the
# grid's own, and parameters; a word from memory, or of unknown parts.
MODULE, HEAP, OWN, MEMORY = "module", "heap", "own", "memory"
Base = Word | str
_POINTERS = ("i64", "i128")  # what can hold one


def bases_of(program: Program) -> Mapping[int, frozenset[Base]]:
    """What `find_bases` says of a whole program."""
    names = frozenset(variable.name for variable in program.variables)
    return find_bases(program.blocks, program.registers, names)


def find_bases(
    blocks: tuple[Block, ...], types: Mapping[str, str], variables: frozenset[str]
) -> Mapping[int, frozenset[Base]]:
    """By step that accesses memory: the bases of its addresses, at least one.

    `types` are the registers', `variables` the names of the module's variables.
    """
    steps = [step for block in blocks for step in block.all_steps]
    bases = _Bases(steps, types, variables)
    found: dict[int, frozenset[Base]] = {}
    for step in steps:
        addresses = _addresses(step)
        if any(isinstance(one, tree.AddressList) for one in step.instruction.operands):
            found[step.number] = frozenset([MEMORY])  # texels are where their object says
        elif addresses:
            here = frozenset(base for one in addresses for base in bases.of_address(one))
            found[step.number] = found.get(step.number, frozenset()) | here
    return found


class _Bases:
    """The bases of registers, to the least fixpoint."""

    def __init__(self, steps: list[Step], types: Mapping[str, str], variables: frozenset[str]):
        self._types = types
        self._variables = variables
        self._registers: dict[str, frozenset[Base]] = {}
        readers: dict[str, list[Step]] = {}
        for step in steps:
            for name in step.reads:
                readers.setdefault(name, []).append(step)
        work = list(reversed(steps))
        while work:
            step = work.pop()
            for name, bases in self._written(step):
                before = self._registers.get(name, frozenset())
                if not bases <= before:
                    self._registers[name] = before | bases
                    work += readers.get(name, ())

    def of_address(self, address: tree.Address) -> frozenset[Base]:
        """The bases of an address; MEMORY where there is none."""
        match address.base:
            case tree.Register(name):
                return self._registers.get(name, frozenset()) or frozenset([MEMORY])
            case tree.Symbol(name):
                return frozenset([self._of_symbol(name)])
            case _:
                return frozenset([MEMORY])

    def _of_symbol(self, name: str) -> Base:
        return MODULE if name in self._variables else OWN

    def _written(self, step: Step) -> Iterator[tuple[str, frozenset[Base]]]:
        """The bases that a step gives to what it writes."""
        if not step.writes:
            return
        if _addresses(step):
            yield from self._loaded(step)
            return
        found = frozenset([HEAP]) if system_function(step.match) == "malloc" else self._computed(step)
        for name in step.writes:
            if self._types[name] != "pred":
                yield name, found

    def _loaded(self, step: Step) -> Iterator[tuple[str, frozenset[Base]]]:
        """What a load or an atomic operation returns: a word of a parameter, or anything."""
        (address, *_), target = _addresses(step), step.instruction.operands[0]
        if _is_narrow(step):
            return
        parts = target.elements if isinstance(target, tree.Vector) else (target,)
        parameter = address.base if step.match.row.access == "parameter" else None
        for number, part in enumerate(parts):
            for name in registers_of(part):
                kind = LLVM_TYPE[self._types[name]]
                if kind not in _POINTERS:
                    continue
                base = MEMORY
                if isinstance(parameter, tree.Symbol) and kind == "i64":
                    base = Word(parameter.name, address.offset + 8 * number)
                yield name, frozenset([base])

    def _computed(self, step: Step) -> frozenset[Base]:
        found: set[Base] = set()
        for name in step.reads:
            if self._types[name] != "pred":
                found |= self._registers.get(name, frozenset())
        for operand in step.instruction.operands:
            match operand:
                case tree.Symbol(name) | tree.Displaced(tree.Symbol(name)):
                    found.add(self._of_symbol(name))
                case tree.Special() | tree.Vector() if any(map(_is_environment, _parts(operand))):
                    found.add(OWN)  # the grid's workspace
                case _:
                    pass
        if not found and _puts_together(step):
            found.add(MEMORY)
        return frozenset(found)


def _puts_together(step: Step) -> bool:
    """Whether an instruction may make a pointer of parts that are none."""
    if step.match.row.operation != "join" or _is_narrow(step):
        return False
    first, *others = step.instruction.operands[1:]
    return isinstance(first, tree.Vector) or all(isinstance(one, tree.Register) for one in (first, *others))


def _is_narrow(step: Step) -> bool:
    """Whether an instruction's type cannot hold a pointer, as wide as the register may be."""
    return bits(LLVM_TYPE.get(step.match.type or "", "i64")) < 64


def _addresses(step: Step) -> list[tree.Address]:
    return [one for one in step.instruction.operands if isinstance(one, tree.Address)]


def _parts(operand: tree.Operand) -> tuple[tree.Operand, ...]:
    return operand.elements if isinstance(operand, tree.Vector) else (operand,)


def _is_environment(operand: tree.Operand) -> bool:
    return isinstance(operand, tree.Special) and operand.name.startswith("%envreg")
