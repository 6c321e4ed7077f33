"""The function that runs one warp from where it stands to its next barrier or its end.

Each basic block has a mask of the lanes that have come to it (`%lanes_B`). A block starts by taking its mask
and clearing it; at its end the lanes are added to their targets' masks and control goes to the lowest
block that may have lanes (program/pending.py). Only blocks that can have lanes are tested, so straight code
and uniform branches compile to plain jumps. At a barrier the live registers go to the warp's frame and the
function returns; the next call resumes behind it. On every backward jump the stop flag is read, so any launch
can be ended from outside.
"""

from __future__ import annotations

from ...program import (
    Barrier,
    Block,
    Jump,
    WarpBarrier,
    read_elsewhere,
)
from ..builder import Builder
from ..context import DEADLOCK, DONE, FAULT, RESUME, SLOT, STOPPED
from ..few_lanes.entry import FewLanesCode
from ..lane_loops.code import LaneCode
from ..memory.interval_checks import IntervalChecks
from ..memory.merged_checks import VersionedRegion
from ..memory.row_store_access import RowStoreAccess, declare_row_stores
from ..memory.tile_loads import declare_tiles, empty_tiles
from ..probes import Emission, WorkerWords
from ..registers import Registers
from ..small.blocks import TabledDispatch
from ..small.steps import SharedSteps
from ..steps import Steps
from ..values.value import Value
from ..version import Version
from .barriers import names_barriers
from .block_code import MACHINE, BlockCode
from .clock import Clock
from .dispatch import TIME_SLICE, Dispatch
from .warp_barriers import WarpBarriers, Word

_WORD = 64  # lanes of a mask that fits into a register
PARAMETERS = f"ptr %context, i32 %warp, i32 %state, {{lanes}} %start_mask, {MACHINE}"


class WarpFunction(BlockCode):
    """Emits `@warp` for one program."""

    def __init__(self, version: Version, steps: Steps, words: WorkerWords):
        self.program = program = version.program
        self.pending = pending = version.inference.pending
        self.full = version.full
        self.blend = read_elsewhere(pending, program.live)  # what each block must leave to other lanes
        self.steps = steps
        self.probes = version.probes
        self.regions = version.regions
        self.tiles, self.row_stores = version.tiles, version.row_stores
        self.builder: Builder = steps.lanes.builder
        self.clock = Clock(self.builder, program)
        self.registers: Registers = steps.registers
        self.traps: list[int] = []  # step numbers of traps, in the order of their fault numbers
        self.named = names_barriers(program)  # whether arriving at a barrier is counted
        self._gates = WarpBarriers(program, pending, steps, self._kept_word)
        self._kept: list[Word] = [("barrier", block) for block in pending.resumes]
        self._kept += self._gates.words
        if pending.divergent_barrier and self.named:
            self._kept += [("id", block) for block in pending.resumes]
        if isinstance(steps, SharedSteps):
            clocked = bool(self.clock.readers)
            self.dispatch: Dispatch = TabledDispatch(
                program, pending, steps, self._kept_word, self._gates.exit, clocked=clocked
            )
        else:
            self.dispatch = Dispatch(program, pending, steps.registers, self._kept_word, self._gates.exit)
        self._kept += self.dispatch.words
        self.lane_code = LaneCode(program, version.lane_loops, steps, self.dispatch)
        self.few_lanes = FewLanesCode(version, self, words)
        restored = {resume: program.live[resume] for resume in pending.resumes}
        # Whether all lanes of a warp wait at one place, with all registers that it will go on with.
        whole = not (pending.divergent_barrier or self._gates.gates or self.dispatch.yields or version.small)
        if whole:
            self.registers.share_frame(restored)
        # Whether a frame has to be zero where a block begins: it may be read before it is written.
        unwritten = program.live[0] & frozenset[str]().union(*restored.values())
        self.reads_unwritten = not whole or bool(unwritten)

    def emit(self) -> str:
        """The function's IR."""
        b = self.builder
        self._resume_points()
        for index in range(len(self.program.blocks)):
            self._block(index)
        self._ends()
        self.dispatch.finish()
        slots = self.dispatch.masks()
        if self.program.strays:
            place = SLOT["warp_local"]
            slots.append(f"  %warp_local = getelementptr i64, ptr %context, i64 {place}")
            slots.append("  store ptr %local, ptr %warp_local")
        slots.append(f"  %turns = alloca i32\n  store i32 {TIME_SLICE}, ptr %turns")
        parameters = PARAMETERS.format(lanes=b.lanes)
        head = [f"define internal i32 @warp({parameters}) alwaysinline #0 {{", "entry:"]
        slots += [*self.lane_code.declare(), *self.few_lanes.declare()]
        slots += declare_tiles(self.tiles, b.width)
        slots += declare_row_stores(self.row_stores, b.width)
        labels = sum(line.endswith(":") for line in b.lines)
        slots += [*self.registers.declare(labels), *self.steps.declare()]
        return "\n".join([*head, *slots, *b.lines, "}"])

    @property
    def header(self) -> int:
        """Bytes at the start of a warp's frame, whole lines, in which the masks of waiting lanes are kept."""
        kept = self.builder.width // 8 * len(self._kept)
        return -(-kept // 64) * 64

    def waiting_words(self) -> dict[int, int]:
        """Where the frame keeps which lanes wait at a step: its byte, by the step's number."""
        steps = {("parked", gate): self.program.blocks[gate].end for gate in self._gates.gates}
        if self.pending.divergent_barrier:
            ends = [block.end for block in self.program.blocks]
            steps |= {("barrier", end.resume): end for end in ends if isinstance(end, Barrier)}
        return {
            end.step.number: self.header - 4 * (1 + self._kept.index(word))
            for word, end in steps.items()
            if isinstance(end, Barrier | WarpBarrier)
        }

    # ------------------------------------------------------------------------------------ entering
    def _resume_points(self) -> None:
        b = self.builder
        resumes = self.pending.resumes
        labels = ["resume"] if self.pending.divergent_barrier else [f"resume_{r}" for r in resumes]
        labels += ["turn"] * len(self.dispatch.yields)
        cases = " ".join(f"i32 {RESUME + k}, label %{label}" for k, label in enumerate(labels))
        b.emit(f"switch i32 %state, label %begin [ {cases} ]" if cases else "br label %begin")
        if self.pending.divergent_barrier:
            self._resume_together()
        else:
            for resume in resumes:
                b.place(f"resume_{resume}")
                self._tell_resumed()
                self.registers.restore(self.program.live[resume])
                b.store(b.lanes, b.load(b.lanes, self._kept_mask(resume)), f"%lanes_{resume}")
                self.dispatch.enter(resume)
        if self.dispatch.yields:
            b.place("turn")
            self.dispatch.resume_yielded()
        b.place("begin")
        b.store(b.lanes, "%start_mask", "%lanes_0")
        self._gates.begin("%start_mask")
        self.dispatch.enter(0)

    def _resume_together(self) -> None:
        """Lanes may wait at several barriers: take them all back and go on with the lowest."""
        b = self.builder
        b.place("resume")
        self._tell_resumed()
        for resume in self.pending.resumes:
            kept, stay = b.load("i32", self._kept_mask(resume)), "0"
            if self.named:  # those whose barrier has not opened go on waiting
                number = b.load("i32", self._kept_mask(resume, "id"))
                args = [("ptr", "%context"), ("i32", "%warp"), ("i32", number)]
                stay = b.value(f"select i1 {b.call('i1', 'wg_waits_at', args)}, i32 {kept}, i32 0")
            b.store("i32", b.value(f"xor i32 {kept}, {stay}"), f"%lanes_{resume}")
            b.store("i32", stay, self._kept_mask(resume))
        self.registers.restore(self._all_live())
        self.dispatch.choose(self.pending.resumes, source=None)

    def _tell_resumed(self) -> None:
        for probe in self.probes:
            probe.resume(Emission(self.steps.lanes, "-1"))

    def _all_live(self) -> frozenset[str]:
        return frozenset().union(*(self.program.live[r] for r in self.pending.resumes))

    def _kept_mask(self, block: int, why: str = "barrier") -> str:
        """Where the frame keeps the mask of the lanes that wait in front of a block."""
        return self._kept_word((why, block))

    def _kept_word(self, word: Word) -> str:
        return self.builder.offset("%frame", f"{-self.builder.width // 8 * (1 + self._kept.index(word))}")

    # ------------------------------------------------------------------------------------ blocks
    def _block(self, index: int) -> None:
        b = self.builder
        block = self.program.blocks[index]
        if self.dispatch.takes(index, self.blend[index]):
            return
        self.dispatch.begin(index)
        if index in self.tiles.emptied:
            empty_tiles(b, self.tiles)
        if index not in self.row_stores.blocks:
            self._put_rows()
        self.lane_code.attempt(index)
        self.few_lanes.attempt(index)
        live = self._live_behind(block)
        self.registers.enter(live)
        mask = "-1" if self.full[index] else b.load(b.lanes, f"%lanes_{index}")
        b.store(b.lanes, "0", f"%lanes_{index}")
        blend = self.blend[index]
        emission = Emission(self.steps.lanes, mask)
        for probe in self.probes:
            probe.block(emission, index, block)
        region = self.regions.get(index)
        if region is None:
            self._steps(block.steps, mask, blend)
        else:
            self._steps(region.steps[: region.first], mask, blend)
            self._versioned(region, live | block.read_at_end, mask, blend)
            self.registers.enter(live)
            self._steps(region.steps[region.last :], mask, blend)
        self.clock.count(ends=not isinstance(block.end, Jump | WarpBarrier))
        self._end(index, block, mask)

    def _stay(self, index: int, target: int) -> bool:
        """In front of a loop that is run by how many lanes come to it, few find that they have no round."""
        region = self.few_lanes.regions.get(target)
        if region is None or region.few is None:
            return False
        return index < target and self.builder.width <= _WORD

    def _put_rows(self) -> None:
        """Store what is kept of stores along rows: others may look at it."""
        access = self.steps.lanes.access
        if self.row_stores.unit and isinstance(access, RowStoreAccess):
            access.put_rows()

    def _versioned(
        self, region: VersionedRegion, live: frozenset[str], mask: str, blend: frozenset[str]
    ) -> None:
        """Both versions of a region: one for when its merged checks hold, and one for when they do not."""
        access = self.steps.lanes.access
        assert isinstance(access, IntervalChecks)
        self.steps.finish(mask, all_written=True)
        self.registers.settle()
        for _ in access.versions(region.checks, lambda name: self._value(name, "b64")):
            self.registers.enter(live | region.read_behind)
            self._steps(region.steps[region.first : region.last], mask, blend)

    def _end(self, index: int, block: Block, mask: str) -> None:
        match block.end:
            case Barrier():
                self._barrier(index, block.end, mask)
            case WarpBarrier(resume=resume):
                if self.pending.sets[index]:
                    self._gates.arrive(index, mask)
                self._send(index, resume, mask)
                self.dispatch.choose((resume,), index)
            case _:
                super()._end(index, block, mask)

    # ------------------------------------------------------------------------------------ leaving
    def _barrier(self, index: int, end: Barrier, mask: str) -> None:
        b = self.builder
        apart = sorted(self.pending.sets[index]) if self.probes else ()
        others = {block: b.load("i32", f"%lanes_{block}") for block in apart}
        for probe in self.probes:
            probe.barrier(Emission(self.steps.lanes, mask), end, others)
        self.steps.lanes.mask = mask
        if end.step.match.row.steers and self.named:
            self.steps.lanes.arrive(self._barrier_number(end), None, None, wait=True)
        self.steps.run(end.step, mask, frozenset())
        live = self.program.live[end.resume]
        if not self.pending.divergent_barrier:
            self.registers.save(live & self.program.dirty[index])
            b.store(b.lanes, mask, self._kept_mask(end.resume))
            b.emit(f"ret i32 {RESUME + self.pending.resumes.index(end.resume)}")
            return
        if self.named:
            number = self._barrier_number(end)
            b.store("i32", self.steps.lanes.one_of(number), self._kept_mask(end.resume, "id"))
        kept = self._kept_mask(end.resume)
        b.store("i32", b.value(f"or i32 {b.load('i32', kept)}, {mask}"), kept)
        self.registers.save(live, mask)
        self.dispatch.choose((), index)

    def _barrier_number(self, end: Barrier) -> Value:
        """Which of the block's barriers an instruction names."""
        lanes = self.steps.lanes
        operand = end.step.match.operand("a")
        if operand is None:
            return lanes.constant("i32", 0)
        number = self.steps.operand(operand, "u32")
        assert isinstance(number, Value)
        return number

    def _ends(self) -> None:
        b = self.builder
        b.place("leave")
        self._put_rows()
        self.few_lanes.end()
        if self._gates.gates:
            b.branch(self._gates.anyone(), "look", "quit")
            self._look()
            b.place("quit")
        if self.pending.divergent_barrier:
            anyone = "0"
            for resume in self.pending.resumes:
                anyone = b.value(f"or i32 {anyone}, {b.load('i32', self._kept_mask(resume))}")
            waiting = b.value(f"icmp ne i32 {anyone}, 0")
            b.emit(f"ret i32 {b.value(f'select i1 {waiting}, i32 {RESUME}, i32 {DONE}')}")
        else:
            b.emit(f"ret i32 {DONE}")
        b.place("stopped")
        self._put_rows()
        b.emit(f"ret i32 {STOPPED}")
        b.place("fault")
        b.emit(f"ret i32 {FAULT}")

    def _look(self) -> None:
        """Let lanes go on that wait for nobody at a warp barrier; if none can run then, none ever will."""
        b = self.builder
        b.place("look")
        self._gates.look()
        self.dispatch.choose_ahead(self._gates.ahead)
        b.emit(f"ret i32 {DEADLOCK}")
