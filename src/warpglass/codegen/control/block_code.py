"""The code of basic blocks: their steps, and the branches by which their lanes part.

A block takes its mask and clears it, runs its steps for the lanes of the mask, and at its end sends them to
the masks of its targets. Which block runs next is the dispatch's to choose. Whoever emits a function of
blocks is a BlockCode: that of a warp (warp.py), and those for few lanes of it (few_lanes/function.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...program import Block, Branch, Exit, Jump, Pending, Program, Step, Switch, Trap
from ...ptx import tree
from ..builder import Builder
from ..context import SLOT
from ..probes import Emission, Probe
from ..registers import Registers
from ..steps import Steps
from ..values.value import Value
from .clock import Clock
from .dispatch import Dispatch, record_lane
from .turns import take_turn

# What a function of blocks is given of the block that runs, besides the context and the warp's number.
MACHINE = (
    "i32 %ctaid_x, i32 %ctaid_y, i32 %ctaid_z, i32 %nctaid_x, i32 %nctaid_y, i32 %nctaid_z, "
    "ptr %threads_of_warp, ptr %parameters, ptr %shared, i64 %shared_address, i64 %shared_size, "
    "ptr %frame, ptr %local, ptr %sites, ptr %stop, ptr %counters, ptr %lane_buffer, ptr %lane_addresses"
)


class BlockCode:
    """Emits basic blocks of one program; `traps` lists the step numbers of traps by their fault numbers."""

    program: Program
    pending: Pending
    steps: Steps
    registers: Registers
    builder: Builder
    clock: Clock
    dispatch: Dispatch
    probes: Sequence[Probe]
    traps: list[int]
    blend: Sequence[frozenset[str]]  # what each block must leave to other lanes

    def _live_behind(self, block: Block) -> frozenset[str]:
        """The registers that are read after a block."""
        return frozenset().union(*(self.program.live[after] for after in block.successors))

    def _steps(self, steps: Sequence[Step], mask: str, blend: frozenset[str]) -> None:
        for step in steps:
            self.clock.issue(step)
            if step.number in self.program.ordered:
                if step.number in self.steps.lanes.access.deferred:
                    self.builder.call("i1", "wg_come_to_turn", [("ptr", "%context")])
                else:
                    take_turn(self.builder)
            self.steps.run(step, mask, blend)
        self.steps.finish(mask)

    def _end(self, index: int, block: Block, mask: str) -> None:
        """How a block ends that is no barrier."""
        b = self.builder
        match block.end:
            case Jump(target):
                self._send(index, target, mask)
                self.dispatch.choose((target,), index)
            case Branch():
                self._branch(index, block.end, mask)
            case Switch():
                self._switch(index, block.end, mask)
            case Trap(step):
                self.traps.append(step.number)
                b.store("i64", str(-len(self.traps)), b.offset("%context", 8 * SLOT["fault_site"]))
                record_lane(b, mask)
                b.jump("fault")
            case _:
                assert isinstance(block.end, Exit), "barriers are a warp's"
                self.dispatch.exit(mask)
                self.dispatch.choose((), index)

    def _branch(self, index: int, end: Branch, mask: str) -> None:
        b = self.builder
        guard = end.step.instruction.guard
        assert guard is not None, "a branch terminator is guarded"
        condition = self.steps.predicate(guard)
        if condition.uniform:
            self._uniform_branch(index, end, mask, condition)
            return
        if condition.ok is not None and not self.probes:  # mostly all lanes go one way
            together, apart = b.label("together"), b.label("apart")
            b.branch(b.value(f"xor i1 {condition.ok}, true"), apart, together, unlikely=True)
            b.place(together)
            self._uniform_branch(index, end, mask, condition)
            b.place(apart)
        condition = self.steps.lanes.as_vector(condition)
        bits = b.mask_bits(condition.ir)
        taken = b.value(f"and {b.lanes} {bits}, {mask}")
        if self._stay(index, end.taken):
            taken = b.foreseen(taken, mask)
        other = b.value(f"xor {b.lanes} {taken}, {mask}")
        if self._stay(index, end.other):
            other = b.foreseen(other, mask)
            taken = b.value(f"xor {b.lanes} {other}, {mask}")
        emission = Emission(self.steps.lanes, mask)
        for probe in self.probes:
            probe.branch(emission, end, taken, together=False)
        self._send(index, end.taken, taken)
        self._send(index, end.other, other, add=end.taken == end.other)
        self.dispatch.choose((end.taken, end.other), index)

    def _stay(self, index: int, target: int) -> bool:
        """Whether lanes that part at a block's end mostly all go to a target."""
        return False

    def _uniform_branch(self, index: int, end: Branch, mask: str, condition: Value) -> None:
        b = self.builder
        for probe in self.probes:
            taken = b.value(f"select i1 {condition.ir}, i32 {mask}, i32 0")
            probe.branch(Emission(self.steps.lanes, mask), end, taken, together=True)
        yes, no = b.label("yes"), b.label("no")
        b.branch(condition.ir, yes, no)
        for label, target in ((yes, end.taken), (no, end.other)):
            b.place(label)
            self._send(index, target, mask)
            self.dispatch.choose((target,), index)

    def _send(self, source: int, target: int, lanes: str, add: bool = False) -> None:
        """Put lanes in front of the next block."""
        emission = Emission(self.steps.lanes, lanes)
        for probe in self.probes:
            probe.go(emission, source, target, lambda register: self._value(register, "pred"))
        self.dispatch.send(source, target, lanes, add)

    def _value(self, register: str, type_: str) -> Value:
        """What a register holds, as a value of a PTX type."""
        value = self.steps.operand(tree.Register(register), type_)
        assert isinstance(value, Value)
        return value

    def _switch(self, index: int, end: Switch, mask: str) -> None:
        b = self.builder
        lanes = self.steps.lanes
        chosen = self._value(end.register, "u32")
        if chosen.uniform:
            self._uniform_switch(index, end, mask, chosen.ir)
            return
        numbers = lanes.as_vector(chosen).ir
        sent: set[int] = set()
        for case, target in enumerate(end.targets):
            here = mask
            if case + 1 < len(end.targets):
                equal = b.value(f"icmp eq {b.vector('i32')} {numbers}, splat (i32 {case})")
                here = b.value(f"and {b.lanes} {b.mask_bits(equal)}, {mask}")
                mask = b.value(f"xor {b.lanes} {here}, {mask}")
            self._send(index, target, here, add=target in sent)
            sent.add(target)
        self.dispatch.choose(end.targets, index)

    def _uniform_switch(self, index: int, end: Switch, mask: str, number: str) -> None:
        b = self.builder
        labels = {target: b.label("case") for target in end.targets}
        cases = " ".join(f"i32 {case}, label %{labels[target]}" for case, target in enumerate(end.targets))
        b.emit(f"switch i32 {number}, label %{labels[end.targets[-1]]} [ {cases} ]")
        for target, label in labels.items():
            b.place(label)
            self._send(index, target, mask)
            self.dispatch.choose((target,), index)
