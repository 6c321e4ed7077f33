"""One PTX instruction at a time: operands to lane values, the row's meaning, results to registers."""

from __future__ import annotations

from collections.abc import Sequence

from ..program import Step
from ..ptx import tree
from .lanes.reference import ReferenceLanes
from .operands import Operands, targets_of
from .probes import Emission
from .registers import Registers
from .values.value import EXACT_NAN, Value


class Steps(Operands):
    """Emits straight-line steps under a mask."""

    lanes: ReferenceLanes
    registers: Registers

    narrow: frozenset[str] = frozenset()  # registers that hold nothing but narrower integers, extended
    length = 0  # lines of IR of all steps, where they are not put in

    @property
    def functions(self) -> Sequence[str]:
        """What steps call, as LLVM IR."""
        return ()

    def declare(self) -> list[str]:
        """What steps need at the start of the warp function, as LLVM IR."""
        return []

    def _read(self, name: str) -> Value:
        value = super()._read(name)
        if name in self.narrow:
            self.lanes.note_extended(value)
        return value

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
            members = self.operand(step.match.member_mask, "b32")
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

    def _under(self, mask: str, condition: Value | None) -> str:
        if condition is None:
            return mask
        b = self.lanes.builder
        if condition.uniform:
            return b.value(f"select i1 {condition.ir}, {b.lanes} {mask}, {b.lanes} 0")
        return b.votes(condition.ir, mask)

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
            fitted = lanes.guard_like(fitted, registers.kind(name).ok is not None)
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
