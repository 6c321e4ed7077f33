"""The lanes that go through a loop of known rounds: in which order, how far, and from where in host memory.

What each needs for that is found for all of them in front of the loop (preparation.py), and kept in buffers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..builder import Builder, widened
from .preparation import Plan
from .rounds import Rounds, Walk
from .stores import Meeting

# Lanes that go, and that are left to the loop for all lanes.
_MASKS = ("able", "others")
# Where a warp's lanes load one behind the other, over no more than so many bytes, the next warp's mostly go
# on there; which lane loads what is not known that well, so some bytes are added. Else it is a later lane's
# walk that is asked for.
_NEAR, _MORE, LATER = 1 << 16, 512, 8


@dataclass(frozen=True, slots=True)
class Entered:
    """How many rounds a lane has, and where its walks start in host memory."""

    last: str
    starts: tuple[str, ...]


class LaneRounds:
    """The code of one loop's rounds, lane by lane; `name` is what the names of its labels begin with.

    `slots` takes stack slots that it needs. `%{name}.rest` has the lanes that are to go through the loop. If
    they are `ordered`, those of fewest rounds go first. A round may have a number of parts (repeats.py).
    Mates have the `shared` walks in common (teams.py).
    """

    def __init__(
        self,
        b: Builder,
        name: str,
        rounds: Rounds,
        slots: list[str],
        *,
        ordered: bool,
        times: int,
        shared: frozenset[int] = frozenset(),
    ):
        self.b = b
        self._name = name
        self.rounds = rounds
        self.ordered = ordered
        self._times = times
        # Walks at known distances from each other are known to be: where the first of them begins is kept.
        places = [(walk.array, walk.first.moved) for walk in rounds.walks]
        self._leads = [places.index(place) for place in places]
        self._buffers = {-1: f"%{name}.last", **{k: f"%{name}.start{k}" for k in self._leads}}
        self._shared = {self._leads[k] for k in shared}
        # Where later walks begin, to be asked for.
        self._soon = [f"%{name}.soon{k}" for k in range(len(rounds.walks))]
        whole = b.vector("i64")
        buffers = (*self._buffers.values(), *self._soon)
        slots += [f"  {buffer} = alloca {whole}, align 64" for buffer in buffers]
        slots += [f"  %{name}.round = alloca i64"]
        if ordered:
            slots += [f"  %{name}.{slot} = alloca i64" for slot in ("turn", "turns")]
            slots += [f"  %{name}.order = alloca [{2 * b.width} x i8]"]
        masks = (*_MASKS, "mates") if shared else _MASKS
        slots += [f"  %{name}.{mask} = alloca {b.lanes}" for mask in masks]

    def begin(self, mask: str) -> None:
        """None of a mask's lanes has gone through the loop yet, nor is left to the loop for all lanes."""
        for masks in _MASKS:
            self.b.store(self.b.lanes, mask if masks == "able" else "0", f"%{self._name}.{masks}")

    def prepare(self, plan: Plan, mask: str, several: str) -> None:
        """Let the lanes go that can, and leave those of a mask that cannot to the loop for all lanes.

        `several` is an i1: some may go at once.
        """
        b = self.b
        others = self._look(plan, mask)
        b.store(b.lanes, others, f"%{self._name}.others")
        b.jump(self._on)
        self._go(plan, several)

    def prepare_all(self, plan: Plan, mask: str, several: str, meeting: Meeting) -> None:
        """Let the lanes of a mask go if all of them can, and nothing that one stores meets another's."""
        b, beside = self.b, f"{self._name}_beside"
        self._look(plan, mask)
        b.jump(beside)
        b.place(self._on)
        self._on = b.label("go")
        b.branch(meeting.emit(), beside, self._on)
        self._go(plan, several)

    def _look(self, plan: Plan, mask: str) -> str:
        """Go to `_on` if all lanes of a mask can go; else those that cannot have no range to look for."""
        b, name = self.b, self._name
        self._plan = plan
        for k, buffer in self._buffers.items():
            b.store(b.vector("i64"), plan.starts[k] if k >= 0 else plan.rounds, buffer, ", align 64")
        for buffer, start in zip(self._soon, plan.starts, strict=False):
            self._look_out(buffer, start)
        here = b.value(f"and {b.lanes} {plan.able}, {mask}")
        others = b.value(f"xor {b.lanes} {mask}, {here}")
        some, near, self._on = b.label("some"), b.label("near"), b.label("go")
        b.branch(b.someone(others), some, self._on)
        b.place(some)
        b.branch(b.someone(b.value(f"and {b.lanes} {plan.strays()}, {mask}")), f"{name}_stray", near)
        b.place(near)
        return others

    def _go(self, plan: Plan, several: str) -> None:
        """Let the lanes begin that can."""
        b, name = self.b, self._name
        b.place(self._on)
        for masks in ("rest", "able"):
            b.store(b.lanes, plan.able, f"%{name}.{masks}")
        some = b.label("some")
        b.branch(b.someone(plan.able), some, f"{name}_leave")
        b.place(some)
        if self._shared:
            b.store(b.lanes, self._find_mates(plan), f"%{name}.mates")
        if self.ordered:
            rounds, order = self._buffers[-1], f"%{name}.order"
            args = [("ptr", rounds), (b.lanes, plan.able), ("i1", several), ("ptr", order)]
            b.call("void", "wg_order_lanes", args)
            b.store("i64", "0", b.offset(order, b.width))  # behind the last one no later lane is asked for
            b.store("i64", "0", f"%{name}.turn")
            turns = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, plan.able)])
            turns = b.value(f"select i1 {several}, i64 {b.value(widened(turns, b.width))}, i64 0")
            b.store("i64", turns, f"%{name}.turns")  # of lanes that go at once

    def _look_out(self, buffer: str, start: str) -> None:
        """Note for each lane of a walk where it begins, or one of the next warp, to be asked for early."""
        b, whole = self.b, self.b.vector("i64")
        ends = [b.value(f"extractelement {whole} {start}, i32 {k}") for k in (0, b.width - 1)]
        reach = b.value(f"sub i64 {ends[1]}, {ends[0]}")
        near = b.value(f"icmp ult i64 {reach}, {_NEAR}")
        following = b.value(f"add {whole} {start}, {b.splat('i64', b.value(f'add i64 {reach}, {_MORE}'))}")
        chosen = b.value(f"select i1 {near}, {whole} {following}, {whole} {start}")
        b.store(whole, chosen, buffer, ", align 64")

    def _find_mates(self, plan: Plan) -> str:
        """The lanes that walk as the next one does, and end as that: a mask."""
        b, whole = self.b, self.b.vector("i64")
        following = [*range(1, b.width), b.width - 1]
        mates = b.value(f"and {b.lanes} {plan.able}, {b.value(f'lshr {b.lanes} {plan.able}, 1')}")
        for one in (plan.rounds, *(plan.starts[k] for k in sorted(self._shared))):
            next_ = b.shuffle("i64", b.width, one, following)
            same = b.mask_bits(b.value(f"icmp eq {whole} {one}, {next_}"))
            mates = b.value(f"and {b.lanes} {mates}, {same}")
        return mates

    def mates(self, lane: str) -> str:
        """A mask: bit n says whether the n-th lane behind a lane, an i64, is a mate of the next one."""
        return self.b.from_lane(self.b.load(self.b.lanes, f"%{self._name}.mates"), lane)

    def next_lane(self) -> str:
        """The lane whose turn it is, an i64."""
        b, turn = self.b, f"%{self._name}.turn"
        if not self.ordered:
            lane = b.first_lane(b.load(b.lanes, f"%{self._name}.rest"))
            self.later = b.value(f"and i64 {b.value(f'add i64 {lane}, {LATER}')}, {b.width - 1}")
            return lane
        now = b.load("i64", turn)
        b.store("i64", b.value(f"add i64 {now}, 1"), turn)
        self.later = self.in_order(now, LATER)
        return self.in_order(now)

    def in_order(self, turn: str, away: int = 0) -> str:
        """The lane that has a turn, or one so many turns later, an i64."""
        b = self.b
        place = b.offset(b.offset(f"%{self._name}.order", turn), away)
        return b.value(f"zext i8 {b.load('i8', place)} to i64")

    def enter(self, lane: str, mate: Entered | None = None) -> Entered:
        """What a lane needs that begins, of which some may be what one of its mates needs."""
        b = self.b
        found = {
            k: b.load("i64", b.value(f"getelementptr i64, ptr {buffer}, i64 {lane}"))
            for k, buffer in self._buffers.items()
        }
        last, walks = found.pop(-1), self.rounds.walks
        if self._times > 1:
            last = b.value(f"mul i64 {last}, {self._times}")
        starts = {k: b.value(f"inttoptr i64 {start} to ptr") for k, start in found.items()}
        places = [
            b.offset(starts[lead], walk.first.number - walks[lead].first.number)
            for walk, lead in zip(walks, self._leads, strict=True)
        ]
        if mate is None:
            return Entered(last, tuple(places))
        own = enumerate(zip(places, mate.starts, strict=True))
        return Entered(mate.last, tuple(b if self._leads[k] in self._shared else a for k, (a, b) in own))

    def look_ahead(self, later: str) -> None:
        """As a lane has its turn, ask for what a later one will load."""
        b = self.b
        for buffer in self._soon:
            place = b.load("ptr", b.value(f"getelementptr i64, ptr {buffer}, i64 {later}"))
            b.call("void", "llvm.prefetch.p0", [("ptr", place), ("i32", "0"), ("i32", "3"), ("i32", "1")])

    def set_round(self, number: str) -> None:
        """The next round is the one of a number."""
        self.b.store("i64", number, f"%{self._name}.round")

    def round(self) -> str:
        """The number of this round."""
        return self.b.load("i64", f"%{self._name}.round")

    def places(self, entered: Entered, number: str) -> dict[int, str]:
        """Where a lane's walks load in the round of a number, in host memory, by step."""
        b = self.b
        found: dict[int, str] = {}
        for walk, start in zip(self.rounds.walks, entered.starts, strict=True):
            pace = walk.pace // self._times
            place = b.offset(start, b.value(f"mul i64 {number}, {pace}")) if pace else start
            found |= {step: b.offset(place, distance) for step, distance in walk.steps.items()}
        return found

    def over(self, number: str, last: str) -> str:
        """At the end of a round: an i1 that holds if there are no more."""
        b = self.b
        following = b.value(f"add i64 {number}, 1")
        self.set_round(following)
        return b.value(f"icmp eq i64 {following}, {last}")

    def first_strays(self) -> list[tuple[Walk, str]]:
        """Where the walks of the first lane begin that is in another range than a site remembers."""
        b, plan = self.b, self._plan
        lane = b.value(f"and i64 {b.first_lane(plan.strays())}, {b.width - 1}")
        starts = [
            b.value(f"extractelement {b.vector('i64')} {address}, i64 {lane}") for address in plan.addresses
        ]
        return list(zip(self.rounds.walks, starts, strict=True))

    def done(self) -> str:
        """The lanes that have gone through the loop."""
        return self._combined("xor", "able", "rest")

    def not_done(self) -> str:
        """The lanes that have not gone through the loop."""
        return self._combined("or", "rest", "others")

    def _combined(self, operation: str, *masks: str) -> str:
        b = self.b
        one, other = (b.load(b.lanes, f"%{self._name}.{each}") for each in masks)
        return b.value(f"{operation} {b.lanes} {one}, {other}")

    def leave_others(self, mask: str, abreast: str) -> None:
        """Go on with the lanes that are left to the loop for all lanes, if there are any."""
        b = self.b
        others = b.load(b.lanes, f"%{self._name}.others")
        some, none = b.label("others"), b.label("all")
        b.branch(b.someone(others), some, none, unlikely=True)
        b.place(some)
        b.store(b.lanes, others, mask)
        b.jump(abreast)
        b.place(none)
