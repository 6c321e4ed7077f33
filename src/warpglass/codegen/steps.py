"""One PTX instruction at a time: operands to lane values, the row's meaning, results to registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import UnsupportedError
from ..isa import Match
from ..isa.types import BITS, LLVM_TYPE, convert_float
from ..program import Step
from ..ptx import tree
from .lanes.forms import clipped
from .lanes.values import EXACT_NAN, Value
from .lanes.vector import VectorLanes
from .probes import Emission
from .registers import Registers


@dataclass(frozen=True, slots=True)
class Symbols:
    """What a symbol stands for: byte offsets of parameters, addresses within their space of variables."""

    parameters: Mapping[str, int]
    variables: Mapping[str, int]


class Steps:
    """Emits straight-line steps under a mask, through any implementation of the lanes vocabulary."""

    def __init__(self, lanes: VectorLanes, registers: Registers, symbols: Symbols):
        self.lanes = lanes
        self.registers = registers
        self.symbols = symbols

    def run(self, step: Step, mask: str, blend: frozenset[str]) -> None:
        """Emit a step for the lanes of `mask`; `blend` are the registers whose other lanes must survive."""
        lanes = self.lanes
        guard = step.instruction.guard
        condition = self.guard(guard) if guard else None
        if step.match.row.steers:
            acting = self._under(mask, condition) if lanes.probes else mask
            for probe in lanes.probes:
                probe.fence(Emission(lanes, acting), step)
            return
        lanes.access.step = step.number
        lanes.mask = self._under(mask, condition)
        if condition is not None:
            for probe in lanes.probes:
                probe.guarded(Emission(lanes, lanes.mask), step)
        sources = self.sources(step)
        if step.match.member_mask is not None and lanes.probes:
            members = self.operand(step.match.member_mask, "b32", lanes)
            assert isinstance(members, Value)
            for probe in lanes.probes:
                probe.meet(Emission(lanes, lanes.mask), step, members)
        for probe in lanes.probes:
            probe.step(Emission(lanes, lanes.mask), step, sources)
        result = step.match.compute(lanes, sources)
        if result is not None:
            self._write(step, result, mask, condition, blend)

    def finish(self, mask: str, *, all_written: bool = False) -> None:
        """Make exact what the lanes of `mask` have written to registers that are read after this block.

        `all_written` is for code in this block that takes registers from their homes.
        """
        lanes, registers = self.lanes, self.registers
        late = {
            name: value
            for name, value in registers.written.items()
            if lanes.late(value) and (all_written or registers.lives(name))
        }
        if late:
            lanes.mask = mask
            for name, value in zip(late, lanes.exact_all(list(late.values())), strict=True):
                registers.write(name, value)

    def guard(self, guard: tree.Guard) -> Value:
        """The predicate under which an instruction runs: certainly uniform, or a vector."""
        value = self.predicate(guard)
        return value if value.uniform else self.lanes.as_vector(value)

    def predicate(self, guard: tree.Guard) -> Value:
        """The predicate under which an instruction runs, in the form that it has."""
        value = self.registers.read(guard.register)
        value = self.lanes.constant("i1", value.constant) if value.constant is not None else value
        return self.lanes.not_(value) if guard.negated else value

    def _under(self, mask: str, condition: Value | None) -> str:
        if condition is None:
            return mask
        b = self.lanes.builder
        if condition.uniform:
            return b.value(f"select i1 {condition.ir}, {b.lanes} {mask}, {b.lanes} 0")
        bits = b.mask_bits(condition.ir)
        return bits if mask == "-1" else b.value(f"and {b.lanes} {bits}, {mask}")

    # ------------------------------------------------------------------------------------ operands
    def sources(self, step: Step) -> list[Value | tuple[Value, ...]]:
        """What a step reads."""
        return [
            self.operand(operand, type_, self.lanes)
            for form, operand, type_ in step.match.forms()
            if not form.destination
        ]

    def operand(self, operand: tree.Operand, type_: str, lanes: VectorLanes) -> Value | tuple[Value, ...]:
        """A source operand as a value of a PTX type."""
        want = LLVM_TYPE.get(type_, "i64")
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
                return lanes.constant(want, self._symbol(name))
            case tree.Displaced(tree.Symbol(name), offset):
                return lanes.constant(want, self._symbol(name) + offset)
            case tree.Address():
                return self._address(operand)
            case tree.Vector(elements):
                return tuple(self._single(self.operand(element, type_, lanes)) for element in elements)
            case _:
                raise AssertionError(f"{operand} is no source operand")

    def _symbol(self, name: str) -> int:
        """The address of a variable; labels and functions have none that the engine could give."""
        address = self.symbols.variables.get(name)
        if address is None:
            raise UnsupportedError(f"{name} is used as an address, which the engine does not support")
        return address

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
                base = self._symbol(name) if known is None else known
                return lanes.constant("i64", base + operand.offset)
            case tree.Integer(value):
                return lanes.constant("i64", value + operand.offset)
            case tree.Register(name):
                base = self._read(name)
            case tree.Special(name):
                base = self._special(name, "i64")
        # The sum wraps at the register's width: 32-bit shared addresses may be negative before the offset.
        offset = lanes.constant(base.type, operand.offset)
        return lanes.fit(lanes.add(base, offset) if operand.offset else base, "i64")

    # ------------------------------------------------------------------------------------ results
    def _write(
        self,
        step: Step,
        result: Value | tuple[Value, ...],
        mask: str,
        condition: Value | None,
        blend: frozenset[str],
    ) -> None:
        values = result if isinstance(result, tuple) else (result,)
        for (target, signed), value in zip(targets_of(step.match), values, strict=True):
            if isinstance(target, tree.Register):
                fitted = self.fitted(step, target.name, value, signed)
                self._write_one(target.name, fitted, mask, condition, blend)

    def fitted(self, step: Step, name: str, value: Value, signed: bool) -> Value:
        """What a step writes to a register that its instruction names."""
        bounds = step.bounds.get(name)
        fitted = self.lanes.fit(value, self.registers.types[name], signed)
        if bounds is not None and bounds[0] == bounds[1]:
            return self.lanes.constant(fitted.type, bounds[0])
        return clipped(fitted, bounds)

    def _settle_before(self, name: str, mask: str) -> None:
        """Make exact what some lanes of a register keep while others are written."""
        registers, lanes = self.registers, self.lanes
        before = registers.written.get(name)
        if before is not None and lanes.late(before):
            under, lanes.mask = lanes.mask, mask
            registers.write(name, lanes.exact(before))
            lanes.mask = under

    def _write_one(
        self, name: str, fitted: Value, mask: str, condition: Value | None, blend: frozenset[str]
    ) -> None:
        registers, lanes = self.registers, self.lanes
        whole = condition is None and (name not in blend or mask == "-1")
        if whole and lanes.late(fitted) and registers.kind(name).offsets is None:
            registers.write_late(name, fitted)
            return
        if registers.kind(name).nan == EXACT_NAN:
            fitted = lanes.exact(fitted)
        if not whole:
            self._settle_before(name, mask)
        if registers.kind(name).offsets is not None:
            fitted = lanes.guard_like(fitted, registers.kind(name).guarded)
            if condition is None:
                registers.write(name, fitted)
            else:
                registers.write_if(name, fitted, condition.ir)
            return
        fitted = lanes.as_vector(fitted)
        if condition is not None:
            registers.write(name, fitted, keep=self._under(mask if name in blend else "-1", condition))
        else:
            registers.write(name, fitted, keep=mask if name in blend and mask != "-1" else None)


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
