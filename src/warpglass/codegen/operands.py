"""What steps read and write, for any implementation of the vocabulary: operands and results as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..errors import UnsupportedError
from ..isa import Lanes, Match
from ..isa.lanes import RANK_SHIFT
from ..isa.types import BITS, LLVM_TYPE, convert_float
from ..program import Step
from ..ptx import tree
from .values.bounds import clipped
from .values.value import Value


@dataclass(frozen=True, slots=True)
class Symbols:
    """What a symbol stands for: byte offsets of parameters, addresses within their space of variables.

    To those that are `ranked`, variables in shared memory, the block's rank in its cluster is added.
    """

    parameters: Mapping[str, int]
    variables: Mapping[str, int]
    ranked: frozenset[str] = frozenset()


class ReadRegisters(Protocol):
    """Registers as far as steps read them."""

    @property
    def types(self) -> Mapping[str, str]:
        """The LLVM types of all."""
        ...

    def read(self, name: str) -> Value:
        """The current value of one."""
        ...


class Operands:
    """What steps read and what becomes of results, in any implementation of the vocabulary."""

    def __init__(self, lanes: Lanes[Value], registers: ReadRegisters, symbols: Symbols):
        self.lanes = lanes
        self.registers = registers
        self.symbols = symbols

    def predicate(self, guard: tree.Guard) -> Value:
        """The predicate under which an instruction runs, in the form that it has."""
        value = self.registers.read(guard.register)
        value = self.lanes.constant("i1", value.constant) if value.constant is not None else value
        return self.lanes.not_(value) if guard.negated else value

    def sources(self, step: Step) -> list[Value | tuple[Value, ...]]:
        """What a step reads."""
        return [
            self.operand(operand, type_)
            for form, operand, type_ in step.match.forms()
            if not form.destination
        ]

    def operand(self, operand: tree.Operand, type_: str) -> Value | tuple[Value, ...]:
        """A source operand as a value of a PTX type."""
        lanes, want = self.lanes, LLVM_TYPE.get(type_, "i64")
        match operand:
            case tree.Register(name):
                value = self._read(name)
                return value if type_ == "any" else lanes.fit(value, want)
            case tree.Negated(inner):
                return lanes.not_(self._read(inner.name))
            case tree.Integer(value):
                return lanes.constant(want, _pattern(value, want))
            case tree.Float(pattern, width):
                return lanes.constant(want, convert_float(pattern, width, BITS[want]))
            case tree.Special(name):
                return self._special(name, want)
            case tree.Symbol(name):
                return self._symbol(name, 0, want)
            case tree.Displaced(tree.Symbol(name), offset):
                return self._symbol(name, offset, want)
            case tree.Address():
                return self._address(operand)
            case tree.Vector(elements):
                return tuple(self._single(self.operand(element, type_)) for element in elements)
            case tree.AddressList((handle, tree.Vector(coordinates))):
                parts = (self.operand(handle, "b64"), *(self.operand(one, "b32") for one in coordinates))
                return tuple(map(self._single, parts))
            case tree.AddressList((handle, coordinate)):
                return self._single(self.operand(handle, "b64")), self._single(
                    self.operand(coordinate, "b32")
                )
            case _:
                raise AssertionError(f"{operand} is no source operand")

    def _symbol(self, name: str, offset: int, want: str) -> Value:
        """A place in a variable; labels and functions have no address that the engine could give."""
        address, lanes = self.symbols.variables.get(name), self.lanes
        if address is None:
            raise UnsupportedError(f"{name} is used as an address, which the engine does not support")
        place = lanes.constant(want, address + offset)
        if name not in self.symbols.ranked:
            return place
        number = lanes.add(lanes.special("cluster_ctarank"), lanes.constant("i32", 1))
        rank = lanes.apply("shl", number, lanes.constant("i32", RANK_SHIFT))
        return lanes.add(place, lanes.fit(rank, want))

    def _read(self, name: str) -> Value:
        value = self.registers.read(name)
        return self.lanes.constant(value.type, value.constant) if value.constant is not None else value

    @staticmethod
    def _single(value: Value | tuple[Value, ...]) -> Value:
        assert isinstance(value, Value)
        return value

    def _special(self, name: str, want: str) -> Value:
        if name == "WARP_SZ":
            return self.lanes.constant(want, 32)
        return self.lanes.fit(self.lanes.special(name.removeprefix("%")), want)

    def _address(self, operand: tree.Address) -> Value:
        lanes = self.lanes
        match operand.base:
            case tree.Symbol(name):
                known = self.symbols.parameters.get(name)
                if known is None:
                    return self._symbol(name, operand.offset, "i64")
                return lanes.constant("i64", known + operand.offset)
            case tree.Integer(value):
                return lanes.constant("i64", value + operand.offset)
            case tree.Register(name):
                base = self._read(name)
            case tree.Special(name):
                base = self._special(name, "i64")
        # The sum wraps at the register's width: 32-bit shared addresses may be negative before the offset.
        offset = lanes.constant(base.type, operand.offset)
        return lanes.fit(lanes.add(base, offset) if operand.offset else base, "i64")

    def fitted(self, step: Step, name: str, value: Value, signed: bool) -> Value:
        """What a step writes to a register that its instruction names."""
        bounds = step.bounds.get(name)
        fitted = self.lanes.fit(value, self.registers.types[name], signed)
        if bounds is not None and bounds[0] == bounds[1]:
            return self.lanes.constant(fitted.type, bounds[0])
        return clipped(fitted, bounds)

    def results(self, step: Step) -> list[tuple[tree.Operand, bool, Value]]:
        """Run a step's meaning: what it makes for each destination, and whether that is signed."""
        result = step.match.compute(self.lanes, self.sources(step))
        values: Sequence[Value] = result if isinstance(result, tuple) else (result,)
        return [(*target, value) for target, value in zip(targets_of(step.match), values, strict=True)]


def targets_of(match: Match) -> list[tuple[tree.Operand, bool]]:
    """The single destinations of an instruction, of a vector or a pair each, and whether they are signed."""
    found: list[tuple[tree.Operand, bool]] = []
    for form, operand, type_ in match.forms():
        if form.destination:
            found += [(single, type_[0] == "s") for single in _singles(operand)]
    return found


def _singles(operand: tree.Operand) -> tuple[tree.Operand, ...]:
    if isinstance(operand, tree.Vector):
        return operand.elements
    if isinstance(operand, tree.Pair):
        return (operand.first, operand.second)
    return (operand,)


def _pattern(value: int, type_: str) -> int:
    return value & ((1 << BITS[type_]) - 1)
