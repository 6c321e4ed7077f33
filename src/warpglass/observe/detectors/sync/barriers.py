"""barrier-divergence: threads that do not come together to a barrier of their block.

A barrier of the block is for all of its threads that have not ended. Lanes of a warp that come to it must
come in one turn of the loops around it, and lanes that go elsewhere must have returned (missing.py,
departures.py). Warps that come to different barriers, or that take a way to none, are let pass by hardware,
since it only counts the warps that are left; the programming guide forbids a condition that is not the same
for the block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from ....codegen import Emission, WorkerWords
from ....codegen.values.value import Value
from ....program import Barrier, Block, Program, Step
from ....program.blocks import loops_of
from .. import layout
from ..detector import Detector
from ..diagnostics.recorded import WARNING, Recorded, Words
from ..emit import of_warp, where
from . import cluster_arrivals, missing
from .barrier_code import meet_at_gate
from .cluster_absence import absence
from .departures import alternatives, block_barriers, departed, find_departures

_LANES_OF_WARPS = layout.WARPS * layout.LANES
_MOST_LOOPS = 16  # whose turns are counted
_MIX = 0x9E3779B1
# The programming guide on __syncthreads().
_GUIDE = (
    "a barrier is allowed in conditional code, but only if the condition is the same across the entire block"
)


def _words(found: Recorded) -> Words:
    if found.variant in cluster_arrivals.VARIANTS:
        return absence(found)
    assert found.other is not None, "a barrier is missed by somebody"
    comes = f"{found.one} of warp {found.one.warp} comes to the barrier {found.one.where}"
    elsewhere, lanes = found.other.where.removeprefix("at "), f"{found.lanes} of its warp"
    warp = f"warp {found.other.warp} of its block"
    same = found.one.source == found.other.source
    match found.variant:
        case missing.PARTED if same:
            return Words(f"{comes} while {lanes} come to it in another turn of the loop around it")
        case missing.PARTED:
            return Words(f"{comes} while {lanes} take another way ({elsewhere})")
        case missing.OTHER_BARRIER if same:
            return Words(f"{comes} while {warp} waits there in another turn of the loop around it")
        case missing.OTHER_BARRIER:
            return Words(f"{comes} while {warp} waits at another ({elsewhere})")
        case missing.PASSED_BY:
            return Words(f"{comes} without {lanes}, which take a way past it ({elsewhere})")
        case _:
            return Words(
                f"{comes} without {warp}, which takes a way past it ({elsewhere}): {_GUIDE}", "", WARNING
            )


class BarrierDivergence(Detector):
    """Barriers of the block that not all of its threads come to."""

    kinds: ClassVar = {"barrier-divergence": _words}

    def prepare(self, program: Program, words: WorkerWords) -> None:
        blocks = program.blocks
        self._gates = alternatives(blocks)
        self._departures = find_departures(blocks, block_barriers(blocks))
        self._turning = _turns_that_tell(blocks)  # by barrier's step, the loops around it
        headers = sorted({header for loops in self._turning.values() for header in loops})
        self._turns = {header: words.take(_LANES_OF_WARPS) for header in headers}
        self._loops = loops_of(blocks)

    # ------------------------------------------------------------------------------------ events
    def go(self, at: Emission, source: int, target: int, read: Callable[[str], Value]) -> None:
        if target in self._turns:
            self._turn(at, target, begins=source not in self._loops[target])
        departure = self._departures.get((source, target))
        if departure is None:
            return
        b, code = at.builder, self.code
        gone = departed(at, departure, read)
        with where(b, b.value(f"icmp ne i32 {gone}, 0")):
            place = str(code.place_of(departure.step))
            code.call(at, missing.depart, code.warp(at), code.wide(at, gone), place)

    def barrier(self, at: Emission, end: Barrier, others: Mapping[int, str]) -> None:
        code = self.code
        first = self._gates[end.step.number]
        place, gate = str(code.place_of(end.step)), code.place_of(first, f"gate {first.number}")
        contexts = self._contexts(at, end.step)
        if others or contexts != "0":
            code.call(at, missing.come, *code.who(at), str(gate), place, contexts)
        if self._departures:
            self._look_for_departed(at, place)
        if not code.uncounted:
            return
        if contexts != "0":
            code.call(at, missing.gather, *code.who(at), str(gate), contexts)
        elif len({step.number for step in self._gates.values()}) > 1:
            state, warp = code.pointer(at), code.warp(at)
            arguments = (*code.who(at), str(gate), "0")
            meet_at_gate(at.builder, state, warp, gate, lambda: code.call(at, missing.gather, *arguments))

    def resume(self, at: Emission) -> None:
        b, code = at.builder, self.code
        state, warp = code.pointer(at), code.warp(at)
        b.store("i64", "0", of_warp(b, state, warp, layout.WAITING))
        if self._departures and code.uncounted:
            first = b.load("i64", b.offset(state, 8 * layout.FIRST_DEPARTED))
            with where(b, b.value(f"icmp ult i64 {first}, {code.resumed}"), unlikely=True):
                code.call(at, missing.look_around, warp)

    # ------------------------------------------------------------------------------------ emission
    def _look_for_departed(self, at: Emission, place: str) -> None:
        """Note that the warp comes to a barrier, and tell of those of its lanes that will not."""
        b, code = at.builder, self.code
        state, warp = code.pointer(at), code.warp(at)
        lane = at.builder.first_lane(at.mask)
        b.store(
            "i64", b.value(f"or i64 {lane}, {int(place) << 8}"), of_warp(b, state, warp, layout.BARRIER_AT)
        )
        departed = b.load("i64", of_warp(b, state, warp, layout.DEPARTED))
        with where(b, b.value(f"icmp ne i64 {departed}, 0"), unlikely=True):
            code.call(at, missing.miss, *code.who(at), place)

    def _turn(self, at: Emission, header: int, *, begins: bool) -> None:
        """Lanes begin a loop, or a further turn of it."""
        b = at.builder
        counts = self._counts(at, header)
        before = b.load("<32 x i64>", counts, ", align 8")
        now = "zeroinitializer" if begins else b.value(f"add <32 x i64> {before}, splat (i64 1)")
        chosen = f"select <32 x i1> {b.mask_vector(at.mask)}, <32 x i64> {now}, <32 x i64> {before}"
        b.store("<32 x i64>", b.value(chosen), counts, ", align 8")

    def _counts(self, at: Emission, header: int) -> str:
        """Where the turns of a loop are that the lanes of the warp have begun."""
        first = at.builder.value(f"mul i64 {self.code.warp(at)}, {layout.LANES}")
        return at.builder.value(f"getelementptr i64, ptr {self.place(at, self._turns[header])}, i64 {first}")

    def _contexts(self, at: Emission, step: Step) -> str:
        """The address of a word for each lane that says which turns of loops it is in, "0" if known."""
        b, mixed = at.builder, ""
        for header in self._turning.get(step.number, ()):
            turns = b.load("<32 x i64>", self._counts(at, header), ", align 8")
            if mixed:
                turns = b.value(
                    f"add <32 x i64> {b.value(f'mul <32 x i64> {mixed}, splat (i64 {_MIX})')}, {turns}"
                )
            mixed = turns
        return self.code.keep(at, self.code.values, mixed) if mixed else "0"


def _turns_that_tell(blocks: Sequence[Block]) -> dict[int, tuple[int, ...]]:
    """By barrier's step, the headers of the loops around it that have turns without that barrier.

    In other loops threads that come to it have been round as often as they have come to it before.
    """
    found: dict[int, tuple[int, ...]] = {}
    loops = loops_of(blocks)
    for index, block in enumerate(blocks):
        if isinstance(block.end, Barrier):
            around = [header for header in sorted(loops) if _passes(blocks, header, loops[header], index)]
            found[block.end.step.number] = tuple(around[:_MOST_LOOPS])
    return found


def _passes(blocks: Sequence[Block], header: int, body: set[int], barrier: int) -> bool:
    """Whether there is a way round a loop that a barrier is in without that barrier."""
    if barrier not in body or header in (0, barrier):
        return False
    seen, work = {header}, [header]
    while work:
        targets = set(blocks[work.pop()].successors) & body
        if header in targets:
            return True
        work += targets - seen - {barrier}
        seen |= targets
    return False
