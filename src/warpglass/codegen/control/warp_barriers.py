"""Warp barriers in the warp function: lanes that wait for other lanes of their warp.

Lanes that come to a gate, a warp barrier where lanes of their mask may still be elsewhere, go through if none
is. Else they are parked: they stay in front of the gate, in a mask that the warp's frame keeps, beside the
member mask of every lane. Whenever lanes have been parked, and whenever no other lane can run, the gates are
looked at, and lanes go on if all of their masks wait with the same mask: for bar.warp.sync at any other one,
for the instructions that exchange values at the same one.

Which lanes are elsewhere follows from those that have not exited, a word of the frame: to ask all the masks
of a long program at each gate would take code in proportion to its square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from ...program import Pending, Program, WarpBarrier
from ..builder import WIDTH, Builder
from ..probes import Emission
from ..steps import Steps
from ..values.value import Value, literal

# A word of a warp's frame: what for, and the block or lane.
Word = tuple[str, int]


class WarpBarriers:
    """Emits what happens at the gates of one program; `place` gives a pointer to a word of the frame."""

    def __init__(self, program: Program, pending: Pending, steps: Steps, place: Callable[[Word], str]):
        self.gates = pending.gates
        self._pending = pending
        self._steps = steps
        self._builder: Builder = steps.lanes.builder
        self._place = place
        self._ends: dict[int, WarpBarrier] = {}
        self._meeting: dict[object, list[int]] = {}  # gates whose lanes wait for each other
        for gate in self.gates:
            end = program.blocks[gate].end
            assert isinstance(end, WarpBarrier), "gates are warp barriers"
            self._ends[gate] = end
            self._meeting.setdefault(gate if end.step.writes else end.step.match.row, []).append(gate)

    @property
    def words(self) -> list[Word]:
        """The words to keep in the frame, from its highest address down."""
        if not self.gates:
            return []
        members: list[Word] = [("member", lane) for lane in reversed(range(WIDTH))]
        return [*(("parked", gate) for gate in self.gates), ("alive", 0), *members]

    @property
    def ahead(self) -> frozenset[int]:
        """The blocks where lanes may stand that can run, once the gates have been looked at."""
        waiting = [self._pending.sets[gate] for gate in self.gates]
        return frozenset(end.resume for end in self._ends.values()).union(*waiting)

    def begin(self, mask: str) -> None:
        """Note the lanes that a warp begins with."""
        if self.gates:
            self._builder.store("i32", mask, self._place(("alive", 0)))

    def exit(self, mask: str) -> None:
        """Note that lanes exit."""
        if self.gates:
            b, place = self._builder, self._place(("alive", 0))
            b.store(
                "i32", b.value(f"and i32 {b.load('i32', place)}, {b.value(f'xor i32 {mask}, -1')}"), place
            )

    def _alive(self) -> str:
        """The lanes that have not exited."""
        return self._builder.load("i32", self._place(("alive", 0)))

    def arrive(self, gate: int, mask: str) -> None:
        """Emit the test at a gate; what is emitted next runs for lanes that need not wait."""
        b = self._builder
        operand = self._ends[gate].step.match.member_mask
        assert operand is not None, "warp barriers have a member mask"
        members = self._steps.operand(operand, "b32")
        assert isinstance(members, Value)
        parked = self._place(("parked", gate))
        before = b.load("i32", parked)
        others = b.value(f"xor i32 {self._alive()}, {b.value(f'or i32 {mask}, {before}')}")
        wait, through = b.label("wait"), b.label("through")
        # Those who wait here already, with the same mask or another, are seen to by `look`.
        missed = b.value(f"or i32 {self._missed(members, others, mask)}, {before}")
        b.branch(b.value(f"icmp ne i32 {missed}, 0"), wait, through)
        b.place(wait)
        for probe in self._steps.lanes.probes:
            probe.park(Emission(self._steps.lanes, mask), self._ends[gate].step, members, others)
        b.store("i32", b.value(f"or i32 {before}, {mask}"), parked)
        self._note_members(self._steps.lanes.as_vector(members), mask)
        b.jump("look")
        b.place(through)

    def _missed(self, members: Value, others: str, mask: str) -> str:
        """An i32 that is not 0 if any lane of `mask` has one of `others` among its members."""
        b = self._builder
        if members.constant is not None or members.uniform:
            scalar = members.ir if members.constant is None else literal("i32", members.constant, WIDTH)
            return b.value(f"and i32 {others}, {scalar}")
        members = self._steps.lanes.as_vector(members)
        common = b.value(f"and <32 x i32> {members.ir}, {b.splat('i32', others)}")
        missing = b.mask_bits(b.value(f"icmp ne <32 x i32> {common}, zeroinitializer"))
        return b.value(f"and i32 {missing}, {mask}")

    def _parked(self, gates: Iterable[int]) -> str:
        """The lanes that wait at gates."""
        b = self._builder
        masks = [b.load("i32", self._place(("parked", gate))) for gate in gates]
        return reduce(lambda one, more: b.value(f"or i32 {one}, {more}"), masks)

    def _note_members(self, members: Value, mask: str) -> None:
        b = self._builder
        place = self._place(("member", 0))
        old = b.load("<32 x i32>", place, ", align 4")
        chosen = f"select <32 x i1> {b.mask_vector(mask)}, <32 x i32> {members.ir}, <32 x i32> {old}"
        b.store("<32 x i32>", b.value(chosen), place, ", align 4")

    def anyone(self) -> str:
        """An i1: whether lanes are parked."""
        return self._builder.value(f"icmp ne i32 {self._parked(self.gates)}, 0")

    def look(self) -> None:
        """Emit the release of all lanes that have nobody left to wait for."""
        b = self._builder
        members = b.load("<32 x i32>", self._place(("member", 0)), ", align 4")
        agreeing = self._steps.lanes.equal_lanes(Value("i32", members)).ir
        everyone = b.splat("i32", self._alive())
        wanted = b.value(f"and <32 x i32> {members}, {everyone}")
        for gates in self._meeting.values():
            here = b.splat("i32", self._parked(gates))
            met = b.value(f"and <32 x i32> {agreeing}, {here}")
            complete = b.value(f"icmp eq <32 x i32> {b.value(f'and <32 x i32> {wanted}, {met}')}, {wanted}")
            free = b.mask_bits(complete)
            for gate in gates:
                parked, ahead = self._place(("parked", gate)), f"%lanes_{self._ends[gate].resume}"
                waiting = b.load("i32", parked)
                go_on = b.value(f"and i32 {waiting}, {free}")
                b.store("i32", b.value(f"xor i32 {waiting}, {go_on}"), parked)
                b.store("i32", b.value(f"or i32 {b.load('i32', ahead)}, {go_on}"), ahead)
