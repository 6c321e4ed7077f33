"""barrier-divergence and sync-mask: threads that do not come together where they should.

A barrier of the block is one that not all threads come to together: either some lanes of a warp come to it
while others may yet do so, or warps come to different barriers. The hardware lets the latter pass, since it
only counts the warps; the programming guide does not. A member mask is wrong if it does not say which lanes
execute an instruction of the warp, or if a lane is read that does not take part.

What is found is recorded by the native functions of clocks.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ....codegen import Emission, WorkerWords
from ....codegen.values.value import Value
from ....program import Barrier, Block, Exit, Program, Step, Trap
from .. import layout, native
from ..detector import Detector, Watched
from ..diagnostics.recorded import Recorded, Words
from ..instrumentation import inlining
from . import clocks
from .barrier_code import meet_at_gate

# Instructions that need a value of every lane in their mask. A vote or a warp barrier does without lanes that
# have ended.
_EXCHANGES = ("shuffle", "lane reduction")


def _barrier_divergence(found: Recorded) -> Words:
    arrives = f"{found.one} of warp {found.one.warp} comes to the barrier {found.one.where} while "
    if found.mask == 0 and found.other is not None:
        return Words(f"{arrives}warp {found.other.warp} of its block waits at another ({found.other.source})")
    message = f"{arrives}{found.lanes} of its warp take another way"
    if found.other is not None and found.other.source is not None:
        message += f" ({found.other.source})"
    return Words(message)


def _sync_mask(found: Recorded) -> Words:
    if found.variant == clocks.ABSENT:
        return _absent(found)
    here = f"{found.one} is lane {found.one.lane} of its warp and"
    if found.variant == clocks.OUTSIDER:
        return Words(
            f"{here} executes an instruction {found.one.where} whose mask {found.mask & 0xFFFFFFFF:#010x} "
            "does not name it",
            "add the lane to the mask, or keep it out of the branch",
        )
    return Words(
        f"{here} reads {found.one.where} from lane {found.mask}, which does not take part",
        "let every lane that is read from take part: do not let it return before, give it a neutral value",
    )


def _absent(found: Recorded) -> Words:
    message = (
        f"{found.one} waits {found.one.where} for {found.lanes} of warp {found.one.warp}, which the mask "
        "names and which never come"
    )
    if found.other is not None:
        message += f": they were there when others were still {found.other.where}"
    return Words(
        message,
        "name only the lanes that come here (compute the mask before the branch with __ballot_sync), or take "
        "the instruction out of the branch",
    )


class Synchronisation(Detector):
    """Barriers of the block, and instructions with a member mask."""

    kinds: ClassVar = {"barrier-divergence": _barrier_divergence, "sync-mask": _sync_mask}

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._blocks = program.blocks
        self._leads_to_barrier = _leads_to_barrier(program.blocks)
        barriers = [block.end.step for block in program.blocks if isinstance(block.end, Barrier)]
        self._gates = {_lines_of(step): step for step in reversed(barriers)}  # the first step of each barrier
        self._met: dict[int, str] = {}  # step -> where its member masks are

    def begin(self, watched: Watched) -> None:
        for state in watched.memory.states:
            state[layout.COUNTED] = int(not self.code.uncounted)

    def finish(self, watched: Watched) -> None:
        for state in watched.memory.states:
            native.run(clocks.report_absent, state.ctypes.data)

    def notes(self, watched: Watched) -> list[str]:
        if any(state[layout.OVERRUN] for state in watched.memory.states):
            return ["a thread synchronised more often than can be told apart: races may be missing"]
        return []

    def barrier(self, at: Emission, end: Barrier, others: Mapping[int, str]) -> None:
        b, code = at.builder, self.code
        apart = self._leads_to_barrier - _bound_for(self._blocks, end)
        waiting = {block: mask for block, mask in others.items() if block in apart}
        if waiting:
            everyone, where = "0", "0"
            for block in sorted(waiting, reverse=True):
                everyone = b.value(f"or i32 {everyone}, {waiting[block]}")
                there = b.value(f"icmp ne i32 {waiting[block]}, 0")
                step = next((s for s in self._blocks[block].all_steps if s.instruction.source), None)
                where = b.value(f"select i1 {there}, i64 {code.place_of(step)}, i64 {where}")
            here = str(code.place_of(end.step))
            code.call(at, clocks.diverge, *code.who(at), code.wide(at, everyone), here, where)
        if code.uncounted and len(self._gates) > 1:
            gate = code.place_of(self._gates[_lines_of(end.step)])
            state, warp = code.pointer(at), code.warp(at)
            meet_at_gate(b, state, warp, gate, lambda: code.call(at, clocks.gather, *code.who(at), str(gate)))

    def park(self, at: Emission, step: Step, members: Value, others: str) -> None:
        code = self.code
        place = str(code.place_of(step))
        code.call(at, clocks.park, *code.who(at), code.keep_masks(at, members), code.wide(at, others), place)

    def meet(self, at: Emission, step: Step, members: Value) -> None:
        code = self.code
        self._met[step.number] = masks = code.keep_masks(at, members)
        place, exchanges = str(code.place_of(step)), str(int(step.match.row.operation in _EXCHANGES))
        code.call(at, clocks.meet, *code.who(at), masks, place, exchanges)

    def exchange(self, at: Emission, sources: Value) -> None:
        code = self.code
        step = code.steps[at.lanes.access.step]
        if step.match.row.operation != "shuffle" or step.number not in self._met:
            return
        lanes = at.lanes.as_vector(at.lanes.extend(sources, "i64", False)).ir
        kept = code.keep(at, code.values, lanes)
        chosen, place = "1" if step.match.mode == "idx" else "0", str(code.place_of(step))
        code.call(at, clocks.exchange, *code.who(at), kept, self._met[step.number], place, chosen)


def _lines_of(step: Step) -> tuple[object, ...]:
    """Where a step is in the author's file, and the calls there that it was inlined from.

    Code that a compiler has doubled is told by it to be the same.
    """
    chain = inlining(step)
    if not chain:
        return (step.number,)
    return tuple((one.file, one.line) for one in chain if one.file == chain[-1].file)


def _bound_for(blocks: tuple[Block, ...], barrier: Barrier) -> frozenset[int]:
    """The blocks from which every way leads to a barrier before any other and before an exit."""
    found = {
        index
        for index, block in enumerate(blocks)
        if block.end == barrier or not isinstance(block.end, Barrier | Exit | Trap)
    }
    changed = True
    while changed:
        lost = {
            index
            for index in found
            if blocks[index].end != barrier and not found.issuperset(blocks[index].successors)
        }
        found -= lost
        changed = bool(lost)
    return frozenset(found)


def _leads_to_barrier(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The blocks from which lanes may come to a barrier."""
    found = {index for index, block in enumerate(blocks) if isinstance(block.end, Barrier)}
    changed = True
    while changed:
        more = {index for index, block in enumerate(blocks) if found & set(block.successors)} - found
        found |= more
        changed = bool(more)
    return frozenset(found)
