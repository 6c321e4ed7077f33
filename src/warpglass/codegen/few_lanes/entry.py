"""Where a warp's code leaves a region to the code for few lanes, and goes on behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..builder import Builder
from ..control.block_code import MACHINE
from ..probes import WorkerWords
from ..version import Version
from .find import ONE, FewRegion, Form
from .function import BACK, BEHIND, ENDED, FAULTED, LEFT, NOWHERE, FewFunction, fair_headers
from .kept_changes import KeptChanges, helper
from .one_by_one import HELPERS, STATE_WORDS, OneByOne

if TYPE_CHECKING:
    from ..control.warp import WarpFunction


class FewLanesCode:
    """Emits calls of the functions of one program's regions."""

    def __init__(self, version: Version, warp: WarpFunction, words: WorkerWords):
        self._version = version
        self.regions = version.few_lanes
        self._warp = warp
        self._size = 0
        self._state = {  # of regions whose lanes may go apart: where it begins, in words
            header: words.take(STATE_WORDS) for header, region in version.few_lanes.items() if region.apart
        }
        self._functions: list[str] = [HELPERS] if self._state else []
        self._helpers: dict[str, str] = {}  # by name

    @property
    def functions(self) -> list[str]:
        """The functions that the warp's calls."""
        return [*self._functions, *self._helpers.values()]

    def declare(self) -> list[str]:
        """The stack slots, at the function's start."""
        slots = [f"  %few = alloca [{self._size} x i8], align 64"] if self._size else []
        return slots + [line for header in self._state for line in OneByOne.declare(header)]

    def attempt(self, index: int) -> None:
        """At the start of a region's header: leave the region to few lanes; else what follows runs."""
        for header, state in self._state.items():
            if index in self._version.few_lanes[header].exits:
                OneByOne.end(self._warp.builder, header, state)
        region = self._version.few_lanes.get(index)
        if region is None:
            return
        functions = {form: FewFunction(self._version, region, form, self._warp) for form in region.forms}
        self._functions += [function.emit(self._warp.builder.lanes) for function in functions.values()]
        call = Call(self._warp, region, functions, self._helpers)
        self._size = max(self._size, call.exchange.size)
        if region.apart:
            OneByOne(call, self._state[index]).emit()
        if region.few is not None:
            call.emit(region.few)

    def end(self) -> None:
        """Where the warp leaves its function: what regions have taken that nothing follows."""
        for header, state in self._state.items():
            if not self._version.few_lanes[header].exits:
                OneByOne.end(self._warp.builder, header, state)


class Call:
    """The code of one region's calls."""

    def __init__(
        self,
        warp: WarpFunction,
        region: FewRegion,
        functions: Mapping[Form, FewFunction],
        helpers: dict[str, str],
    ):
        self.warp = warp
        self.b: Builder = warp.builder
        self.region = region
        self.functions = functions
        self.exchange = next(iter(functions.values())).exchange
        self._helpers = helpers
        self._waiting = warp.pending.sets[region.header]

    def emit(self, form: Form) -> None:
        """Leave the region to the lanes at its header if they are few, as many as a form is for."""
        b, region = self.b, self.region
        few, many = b.label("few"), b.label("many")
        mask = b.load(b.lanes, f"%lanes_{region.header}")
        count = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, mask)])
        b.branch(b.value(f"icmp ule {b.lanes} {count}, {form.most}"), few, many, unlikely=True)
        b.place(few)
        if region.alone and self._waiting:
            on = b.label("few")
            b.branch(b.someone(self._lanes_at(sorted(self._waiting))), many, on)
            b.place(on)
        self.give()
        b.store(b.lanes, "0", f"%lanes_{region.header}")
        if region.apart:
            b.store("i64", "0", b.offset("%few", self.exchange.rounds))
        ahead = self._ahead()
        here, one, some, on = b.label("here"), b.label("one"), b.label("some"), b.label("done")
        b.jump(here)
        b.place(here)
        b.branch(b.value(f"icmp eq {b.lanes} {count}, 1"), one, some)
        b.place(some)
        code = self.run(form, mask, ahead)
        last, ended = b.label("last"), b.label("ended")
        b.branch(b.value(f"icmp eq i32 {code}, {LEFT}"), last, ended)
        b.place(last)
        self._send_all()
        left = b.load(b.lanes, b.offset("%few", self.exchange.left))
        b.jump(one)
        b.place(one)
        lanes = b.phi(b.lanes, (mask, here), (left, last))
        codes = [(code, ended), (self.run(ONE, lanes, ahead), one)]
        b.jump(on)
        b.place(ended)
        b.jump(on)
        b.place(on)
        self._go_on(b.phi("i32", *codes))
        b.place(many)

    def run(self, form: Form, lanes: str, ahead: str = str(NOWHERE)) -> str:
        """Call the function of a form for some lanes; returns how it has ended."""
        names = [one.rsplit(" ", 1) for one in f"ptr %context, i32 %warp, {MACHINE}".split(", ")]
        more = [(self.b.lanes, lanes), ("i32", ahead), ("ptr", "%turns"), ("ptr", "%few")]
        return self.b.call(
            "i32", self.functions[form].name, [*((type_, name) for type_, name in names), *more]
        )

    def do_kept(self, kept: KeptChanges) -> None:
        """Do the changes that lanes apart have kept."""
        if kept.kind is not None:
            name, function = helper(*kept.kind, self.b.declarations)
            self._helpers[name] = function
            self.b.call(
                "void", name, [("ptr", "%context"), ("ptr", self.b.offset("%few", self.exchange.kept))]
            )

    def _lanes_at(self, blocks: Iterable[int]) -> str:
        """All lanes that stand in front of some blocks."""
        b, found = self.b, "0"
        for block in blocks:
            found = b.value(f"or {b.lanes} {found}, {b.load(b.lanes, f'%lanes_{block}')}")
        return found

    def _ahead(self) -> str:
        """The first block of the region at which lanes wait."""
        b, found = self.b, str(NOWHERE)
        for block in sorted(self.region.waits, reverse=True):
            someone = b.someone(b.load(b.lanes, f"%lanes_{block}"))
            found = b.value(f"select i1 {someone}, i32 {block}, i32 {found}")
        return found

    def give(self) -> list[tuple[str, str, str, str]]:
        """Put the registers of all lanes where the function takes those of its own.

        Returns those that are one scalar and come back: their names, types, values and places.
        """
        b, registers, lanes = self.b, self.warp.registers, self.warp.steps.lanes
        registers.enter(frozenset())
        shared: list[tuple[str, str, str, str]] = []
        for name in self.region.taken:
            place, value = b.offset("%few", self.exchange.registers[name]), registers.read(name)
            if value.uniform:
                b.store(value.type, value.ir, place)
                if name in self.region.kept:
                    shared.append((name, value.type, value.ir, place))
                continue
            text = lanes.as_vector(value).ir
            if value.type == "i1":
                b.store(b.lanes, b.mask_bits(text), place)
            else:
                b.store_for_lanes(value.type, text, place)
        return shared

    def take(self) -> None:
        """Take back the registers that the function has changed."""
        b, registers = self.b, self.warp.registers
        for name in self.region.kept:
            part = (name, "")
            found = b.load(
                registers.storage(part), b.offset("%few", self.exchange.registers[name]), ", align 8"
            )
            b.store(registers.storage(part), found, registers.home(part))

    def send(self, block: int, own: str) -> None:
        """Put lanes that the function has left in front of a block beside those that wait there."""
        b = self.b
        others = b.load(b.lanes, f"%lanes_{block}")
        b.store(b.lanes, b.value(f"or {b.lanes} {own}, {others}"), f"%lanes_{block}")

    def _send_all(self) -> None:
        """Put lanes in front of the blocks where the function has left them."""
        for block, place in self.exchange.masks.items():
            self.send(block, self.b.load(self.b.lanes, self.b.offset("%few", place)))

    def resume(self) -> None:
        """Run the lowest of the blocks where lanes may stand now."""
        self.warp.dispatch.resume({*self.region.leaves, *self._waiting}, self.region.header)

    def _go_on(self, code: str) -> None:
        """Take back what the function leaves, and choose what runs next."""
        b, region = self.b, self.region
        back = fair_headers(region, self.warp.pending.fair)
        ends = {FAULTED: "fault", ENDED: "stopped"}
        on = b.label("left")
        cases = " ".join(f"i32 {number}, label %{label}" for number, label in ends.items())
        b.emit(f"switch i32 {code}, label %{on} [ {cases} ]")
        b.place(on)
        if region.apart:
            rounds, own = f"%rounds_{region.header}", b.load("i64", b.offset("%few", self.exchange.rounds))
            b.store("i64", b.value(f"add i64 {b.load('i64', rounds)}, {own}"), rounds)
        self.take()
        self._send_all()
        dispatch = self.warp.dispatch
        labels = {BACK + k: dispatch.back(header) for k, header in enumerate(back)}
        behind, lowest = b.label("behind"), b.label("lowest")
        if region.alone:
            labels[BEHIND] = behind
        cases = " ".join(f"i32 {number}, label %{label}" for number, label in labels.items())
        b.emit(f"switch i32 {code}, label %{lowest} [ {cases} ]")
        if region.alone:
            b.place(behind)
            dispatch.resume([block for block in region.exits if block > region.last], region.last)
        b.place(lowest)
        self.resume()
