"""Lanes that go through a region one after the other, where that is found to take less time.

Whether lanes are better off together depends on how many there are and on how far they part, which only
running shows. So both ways are measured: cycles for each round of all lanes, in some entries of a region
together, and of one lane, in others, where some of the lanes go apart. Up to as many lanes as the one takes
longer than the other go apart in many entries more. Only regions come here in which no lane can see what
others do, so results are the same either way. A lane that faults begins again together with the others, so
that the first fault is the same, too. What its lanes change without looking is kept until all are through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..builder import Builder, widened
from ..context import NOWHERE as NO_SITE
from ..context import SITE_WORDS, SLOT
from ..machine.target import time_stamp
from .function import ENDED, LOWEST, count_rounds
from .kept_changes import SIZE

if TYPE_CHECKING:
    from .entry import Call

    Shared = tuple[str, str, str, str]  # a register that is one scalar: name, type, value, place

# Words of a region's state in each worker's memory: entries until both ways are measured anew, entries
# measured so far, the sums, doubles, of their rounds in a cycle, of all lanes together and of one lane apart,
# how many entries these are of, the lanes of those together, for how many entries what was found has held,
# and up to how many lanes go apart.
STATE_WORDS = 9
_RATES, _COUNTS, _LANES, _HELD, _MOST = 2, 4, 6, 7, 8
# What `@wg_choose` says of an entry: how its lanes go, and whether that is measured.
_TOGETHER, _APART, _MEASURED_WAY = 0, 1, 2
# Entries for which what has been found holds, first and at most.
_KEPT, _LONGEST = 64, 4096
# As powers of two: how many entries that are measured go one way before as many go the other, and how often
# that is done, first and once that holds for many. The first of each run does not count: it warms caches and
# what foresees branches. Lanes have rows of unlike lengths, so it takes some; where the processor is taken
# away from one, its rounds in a cycle are few and count little.
_RUN, _RUN_LATER, _LATER = 1, 2, 1024
# Lanes that go apart in an entry that is measured: if that is the worse way, it costs little.
_SOME = 8
# Lanes that go apart in any case, where there is no code for few of them.
_LAST = 4
# What `%since_H` says besides times.
_OUTSIDE, _INSIDE, _FAULTED = 0, 1, 2

HELPERS = f"""
define internal i64 @wg_choose(ptr %state, i64 %lanes) noinline #0 {{
  %left = load i64, ptr %state
  %none = icmp eq i64 %left, 0
  br i1 %none, label %measure, label %known
known:
  %less = sub i64 %left, 1
  store i64 %less, ptr %state
  %most.p = getelementptr i64, ptr %state, i64 {_MOST}
  %most = load i64, ptr %most.p
  %apart = icmp ule i64 %lanes, %most
  %way = zext i1 %apart to i64
  ret i64 %way
measure:
  %count.p = getelementptr i64, ptr %state, i64 1
  %count = load i64, ptr %count.p
  %more = add i64 %count, 1
  store i64 %more, ptr %count.p
  %power = call i64 @wg_run_of_entries(ptr %state)
  %runs = lshr i64 %count, %power
  %turn = and i64 %runs, {_APART}
  %measured = or i64 %turn, {_MEASURED_WAY}
  ret i64 %measured
}}

define internal i64 @wg_run_of_entries(ptr %state) alwaysinline #0 {{
  %held.p = getelementptr i64, ptr %state, i64 {_HELD}
  %held = load i64, ptr %held.p
  %early = icmp ult i64 %held, {_LATER}
  %power = select i1 %early, i64 {_RUN}, i64 {_RUN_LATER}
  ret i64 %power
}}

define internal void @wg_measured(
  ptr %state, i64 %way, i64 %cycles, i64 %rounds, i64 %lanes
) noinline #0 {{
  %power = call i64 @wg_run_of_entries(ptr %state)
  %count.p = getelementptr i64, ptr %state, i64 1
  %count = load i64, ptr %count.p
  %before = sub i64 %count, 1
  %all = shl i64 -1, %power
  %run = xor i64 %all, -1
  %number = and i64 %before, %run
  %warm = icmp ne i64 %number, 0
  br i1 %warm, label %add, label %added
add:
  %cycles.f = uitofp i64 %cycles to double
  %rounds.f = uitofp i64 %rounds to double
  %rate = fdiv double %rounds.f, %cycles.f
  %rates.p = getelementptr i64, ptr %state, i64 {_RATES}
  %rate.p = getelementptr double, ptr %rates.p, i64 %way
  %rates = load double, ptr %rate.p
  %sum = fadd double %rates, %rate
  store double %sum, ptr %rate.p
  %counts.p = getelementptr i64, ptr %state, i64 {_COUNTS}
  %of.p = getelementptr i64, ptr %counts.p, i64 %way
  %of.before = load i64, ptr %of.p
  %of = add i64 %of.before, 1
  store i64 %of, ptr %of.p
  %lanes.p = getelementptr i64, ptr %state, i64 {_LANES}
  %lanes.before = load i64, ptr %lanes.p
  %lanes.now = add i64 %lanes.before, %lanes
  store i64 %lanes.now, ptr %lanes.p
  br label %added
added:
  %twice.power = shl i64 %power, 1
  %enough = shl i64 2, %twice.power
  %done = icmp uge i64 %count, %enough
  br i1 %done, label %decide, label %end
decide:
  %sums.p = getelementptr i64, ptr %state, i64 {_RATES}
  %sums = load <2 x double>, ptr %sums.p, align 8
  %ns.p = getelementptr i64, ptr %state, i64 {_COUNTS}
  %ns = load <2 x i64>, ptr %ns.p, align 8
  %ns.f = uitofp <2 x i64> %ns to <2 x double>
  %means = fdiv <2 x double> %sums, %ns.f
  %together = extractelement <2 x double> %means, i64 0
  %apart = extractelement <2 x double> %means, i64 1
  %ratio = fdiv double %apart, %together
  %came.p = getelementptr i64, ptr %state, i64 {_LANES}
  %came = load i64, ptr %came.p
  %came.f = uitofp i64 %came to double
  %entries = extractelement <2 x double> %ns.f, i64 0
  %mean = fdiv double %came.f, %entries
  %best = fmul double %mean, %ratio
  %known = fcmp ogt double %best, 0.0
  %told = select i1 %known, double %best, double 0.0
  %sane = fcmp olt double %told, 1.0e3
  %limited = select i1 %sane, double %told, double 1.0e3
  %most = fptoui double %limited to i64
  %most.p = getelementptr i64, ptr %state, i64 {_MOST}
  store i64 %most, ptr %most.p
  %held.p = getelementptr i64, ptr %state, i64 {_HELD}
  %last = load i64, ptr %held.p
  %twice = shl i64 %last, 1
  %least = call i64 @llvm.umax.i64(i64 %twice, i64 {_KEPT})
  %now = call i64 @llvm.umin.i64(i64 %least, i64 {_LONGEST})
  store i64 %now, ptr %held.p
  store i64 %now, ptr %state
  store i64 0, ptr %count.p
  store <5 x i64> zeroinitializer, ptr %sums.p, align 8
  br label %end
end:
  ret void
}}
"""


class OneByOne:
    """The code by which a warp's lanes go through one region apart, if that is the better way.

    `%since_H` tells whether lanes have come to the region's header H, and when if that is measured;
    `%rounds_H` counts their rounds. The region's state begins at word `state`.
    """

    def __init__(self, call: Call, state: int):
        self.b = call.b
        self._call = call
        self._header = call.region.header
        self._state = state

    @staticmethod
    def declare(header: int) -> list[str]:
        """The stack slots of a region."""
        names = (f"%since_{header}", f"%rounds_{header}", f"%came_{header}")
        return [f"  {name} = alloca i64\n  store i64 0, ptr {name}" for name in names]

    @staticmethod
    def end(b: Builder, header: int, state: int) -> None:
        """At the start of a block behind a region: what it has taken is known if lanes were together."""
        since = b.load("i64", f"%since_{header}")
        measured, on = b.label("measured"), b.label("on")
        b.store("i64", str(_OUTSIDE), f"%since_{header}")
        b.branch(b.value(f"icmp ugt i64 {since}, {_FAULTED}"), measured, on, unlikely=True)
        b.place(measured)
        came = b.load("i64", f"%came_{header}")
        _tell(b, state, _TOGETHER, since, b.load("i64", f"%rounds_{header}"), came)
        b.jump(on)
        b.place(on)

    def emit(self) -> None:
        """At the start of the header: lanes that go apart leave it here."""
        b, header, region = self.b, self._header, self._call.region
        names = ("enter", "inside", "apart", "timed", "together", "stay")
        enter, inside, apart, timed, together, stay = (b.label(name) for name in names)
        since = b.load("i64", f"%since_{header}")
        b.branch(b.value(f"icmp eq i64 {since}, {_OUTSIDE}"), enter, inside)
        b.place(enter)
        count = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, self._mask())])
        came = b.value(widened(count, b.width))
        b.store("i64", came, f"%came_{header}")
        way = b.call("i64", "wg_choose", [("ptr", _place(b, self._state)), ("i64", came)])
        b.store("i64", str(_INSIDE), f"%since_{header}")
        here = b.label("chosen")
        b.branch(b.value(f"trunc i64 {way} to i1"), apart, here)
        b.place(here)
        b.branch(b.value(f"icmp eq i64 {way}, {_MEASURED_WAY | _TOGETHER}"), timed, together, unlikely=True)
        b.place(timed)
        b.store("i64", _now(b), f"%since_{header}")
        b.store("i64", "0", f"%rounds_{header}")
        b.jump(together)
        b.place(inside)
        chosen = [(way, enter)]
        if region.few or region.full:
            b.jump(together)
        else:
            count = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, self._mask())])
            last = b.value(f"icmp ule {b.lanes} {count}, {_LAST}")
            steady = b.value(f"icmp ne i64 {since}, {_FAULTED}")
            b.branch(b.value(f"and i1 {last}, {steady}"), apart, together, unlikely=True)
            chosen.append((str(_APART), inside))
        b.place(apart)
        way = b.phi("i64", *chosen)
        self._go_apart(b.value(f"icmp ne i64 {way}, {_APART}"), stay)
        b.place(together)
        b.jump(stay)
        b.place(stay)
        count_rounds(b, self._mask(), f"%rounds_{header}")

    def _mask(self) -> str:
        """The lanes at the header."""
        return "-1" if self._call.region.full else self.b.load(self.b.lanes, f"%lanes_{self._header}")

    def _go_apart(self, measured: str, stay: str) -> None:
        """Call the function for one lane after the other; for some only if that is measured."""
        b, call, header = self.b, self._call, self._header
        lanes = b.lanes
        mask = self._mask()
        started = self._start(measured)
        shared = call.give()
        rounds = b.offset("%few", call.exchange.rounds)
        b.store("i64", "0", rounds)
        if call.region.stores:
            self._copy_local(back=False)
        if call.region.keeps:
            b.store("i64", "0", b.offset("%few", call.exchange.kept + SIZE - 8))
        self._prefetch(mask)
        # What some have changed could be seen where others fault later.
        some = b.width if call.region.together or call.region.keeps else _SOME
        most = b.value(f"select i1 {measured}, i32 {some}, i32 {b.width}")
        names = ("before", "lane", "following", "other", "undo", "finished")
        before, lane, following, other, undo, finished = (b.label(name) for name in names)
        b.jump(before)
        b.place(before)
        b.jump(lane)
        b.place(lane)
        # What the next round of this loop begins with is named before it is computed.
        fewer, left = b.name("fewer"), b.name("left")
        found = {block: b.name("there") for block in call.exchange.masks}
        rest = b.phi(lanes, (mask, before), (fewer, following))
        more = b.phi("i32", (most, before), (left, following))
        there = {block: b.phi(lanes, ("0", before), (name, following)) for block, name in found.items()}
        left_with = [b.name("with") for _ in shared]
        before_it = [
            b.phi(type_, (value, before), (name, following))
            for name, (_, type_, value, _) in zip(left_with, shared, strict=True)
        ]
        for _, type_, value, place in shared:
            b.store(type_, value, place)
        one = b.value(f"and {lanes} {rest}, {b.value(f'sub {lanes} 0, {rest}')}")
        code = call.run(call.region.one, one)
        b.branch(b.value(f"icmp eq i32 {code}, {LOWEST}"), following, other)
        b.place(following)
        b.emit(f"{fewer} = xor {lanes} {rest}, {one}")
        b.emit(f"{left} = sub i32 {more}, 1")
        gone = {block: b.load(lanes, b.offset("%few", call.exchange.masks[block])) for block in found}
        for block, name in found.items():
            b.emit(f"{name} = or {lanes} {there[block]}, {gone[block]}")
        for name, old, (register, type_, _, place) in zip(left_with, before_it, shared, strict=True):
            b.emit(f"{name} = {self._last(register, gone, type_, place, old)}")
        goes_on = b.value(f"icmp ne i32 {left}, 0")
        b.branch(b.value(f"and i1 {b.someone(fewer)}, {goes_on}"), lane, finished)
        b.place(other)
        b.branch(b.value(f"icmp eq i32 {code}, {ENDED}"), "stopped", undo)
        b.place(undo)
        b.store("i64", str(NO_SITE), b.offset("%context", 8 * SLOT["fault_site"]))
        if call.region.stores:
            self._copy_local(back=True)
        b.store("i64", str(_FAULTED), f"%since_{header}")
        b.store("i64", str(_LONGEST), _place(b, self._state))
        b.store("i64", "0", _place(b, self._state + _MOST))
        b.jump(stay)
        b.place(finished)
        self._finish(measured, started, shared, left_with, fewer, found, stay)

    def _last(self, register: str, gone: Mapping[int, str], type_: str, place: str, old: str) -> str:
        """A shared register's value: the lane's own if it has gone, by block, to where that is read."""
        b, live = self.b, self._call.warp.program.live
        there = "0"
        for block, lane in gone.items():
            if register in live[block]:
                there = b.value(f"or {b.lanes} {there}, {lane}")
        return f"select i1 {b.someone(there)}, {type_} {b.load(type_, place)}, {type_} {old}"

    def _prefetch(self, mask: str) -> None:
        """Ask for what all lanes load first: the end of a lane is not foreseen, and so not the next one."""
        b, call = self.b, self._call
        sites, registers = call.functions[call.region.one].sites, call.exchange.registers
        firsts = [
            (sites[step], registers[name]) for step, name in call.region.firsts.items() if step in sites
        ]
        if not firsts:
            return
        deltas = [b.load("i64", b.offset("%sites", (site * SITE_WORDS + 2) * 8)) for site, _ in firsts]
        before, ask, on = b.label("before"), b.label("ask"), b.label("asked")
        b.jump(before)
        b.place(before)
        b.jump(ask)
        b.place(ask)
        fewer = b.name("fewer")
        rest = b.phi(b.lanes, (mask, before), (fewer, ask))
        lane = b.first_lane(rest)
        for (_, register), delta in zip(firsts, deltas, strict=True):
            address = b.load(
                "i64", b.value(f"getelementptr i64, ptr {b.offset('%few', register)}, i64 {lane}")
            )
            place = b.value(f"inttoptr i64 {b.value(f'add i64 {address}, {delta}')} to ptr")
            b.call("void", "llvm.prefetch.p0", [("ptr", place), ("i32", "0"), ("i32", "3"), ("i32", "1")])
        b.emit(f"{fewer} = and {b.lanes} {rest}, {b.value(f'sub {b.lanes} {rest}, 1')}")
        b.branch(b.someone(fewer), ask, on)
        b.place(on)

    def _start(self, measured: str) -> str:
        """When lanes begin to go apart, if that is measured."""
        b = self.b
        here, timed, on = b.label("here"), b.label("timed"), b.label("start")
        b.jump(here)
        b.place(here)
        b.branch(measured, timed, on, unlikely=True)
        b.place(timed)
        now = _now(b)
        b.jump(on)
        b.place(on)
        return b.phi("i64", ("0", here), (now, timed))

    def _finish(
        self,
        measured: str,
        started: str,
        shared: Sequence[Shared],
        left_with: Sequence[str],
        fewer: str,
        there: Mapping[int, str],
        stay: str,
    ) -> None:
        """Take back what lanes have come to, and go on behind the region, or at `stay` with those left."""
        b, call = self.b, self._call
        told, taken, rest = b.label("told"), b.label("taken"), b.label("rest")
        tell, before = b.label("tell"), f"%rounds_{self._header}"
        rounds = b.load("i64", b.offset("%few", call.exchange.rounds))
        b.store("i64", b.value(f"add i64 {b.load('i64', before)}, {rounds}"), before)
        kept = call.functions[call.region.one].kept
        if kept is not None:
            call.do_kept(kept)
        b.branch(measured, tell, told, unlikely=True)
        b.place(tell)
        _tell(b, self._state, _APART, started, rounds)
        b.jump(told)
        b.place(told)
        b.store(b.lanes, fewer, f"%lanes_{self._header}")
        for block, lanes in there.items():
            call.send(block, lanes)
        b.branch(b.someone(fewer), rest, taken, unlikely=True)
        b.place(rest)
        for _, type_, value, place in shared:  # as those that are left come with it
            b.store(type_, value, place)
        call.take()
        b.jump(stay)
        b.place(taken)
        for value, (_, type_, _, place) in zip(left_with, shared, strict=True):
            b.store(type_, value, place)
        call.take()
        call.resume()

    def _copy_local(self, *, back: bool) -> None:
        """Copy the warp's local memory, or take it back."""
        b, call = self.b, self._call
        size = b.width * call.warp.program.local.size
        source, target = "%local", b.offset("%few", call.exchange.local)
        if back:
            source, target = target, source
        args = [("ptr", target), ("ptr", source), ("i64", str(size)), ("i1", "false")]
        b.call("void", "llvm.memcpy.p0.p0.i64", args)


def _place(b: Builder, state: int) -> str:
    return b.offset("%counters", 8 * state)


def _tell(b: Builder, state: int, way: int, since: str, rounds: str, lanes: str = "0") -> None:
    """Say what an entry has taken that was measured, and how many lanes have gone together in it."""
    taken = b.value(f"sub i64 {_now(b)}, {since}")
    args = [("i64", str(way)), ("i64", taken), ("i64", rounds), ("i64", lanes)]
    b.call("void", "wg_measured", [("ptr", _place(b, state)), *args])


def _now(b: Builder) -> str:
    """The processor's time stamp, an i64."""
    return b.call("i64", time_stamp(), [])
