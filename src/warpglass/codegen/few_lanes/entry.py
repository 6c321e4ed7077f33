"""Where a warp's code leaves a region to the code for few lanes, and goes on behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..builder import Builder
from ..control.block_code import MACHINE
from ..version import Version
from .find import FEW, ONE, FewRegion
from .function import BACK, BEHIND, ENDED, FAULTED, NOWHERE, FewFunction, fair_headers

if TYPE_CHECKING:
    from ..control.warp import WarpFunction


class FewLanesCode:
    """Emits calls of the functions of one program's regions; `functions` is their IR."""

    def __init__(self, version: Version, warp: WarpFunction):
        self._version = version
        self._warp = warp
        self._size = 0
        self.functions: list[str] = []

    def declare(self) -> list[str]:
        """The stack slots, at the function's start."""
        return [f"  %few = alloca [{self._size} x i8], align 64"] if self._size else []

    def attempt(self, index: int) -> None:
        """At the start of a region's header: leave the region to few lanes; else what follows runs."""
        region = self._version.few_lanes.get(index)
        if region is None:
            return
        functions = [FewFunction(self._version, region, form, self._warp) for form in (ONE, FEW)]
        self.functions += [function.emit(self._warp.builder.lanes) for function in functions]
        self._size = max(self._size, functions[0].exchange.size)
        _Call(self._warp, region, functions).emit()


class _Call:
    """The code of one region's call."""

    def __init__(self, warp: WarpFunction, region: FewRegion, functions: Sequence[FewFunction]):
        self.warp = warp
        self.b: Builder = warp.builder
        self.region = region
        self.functions = functions
        self.exchange = functions[0].exchange
        self.waiting = warp.pending.sets[region.header]

    def emit(self) -> None:
        b, region = self.b, self.region
        few, many = b.label("few"), b.label("many")
        mask = b.load(b.lanes, f"%lanes_{region.header}")
        count = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, mask)])
        b.branch(b.value(f"icmp ule {b.lanes} {count}, {FEW.most}"), few, many, unlikely=True)
        b.place(few)
        if region.alone and self.waiting:
            on = b.label("few")
            b.branch(b.someone(self._lanes_at(sorted(self.waiting))), many, on)
            b.place(on)
        self._give()
        b.store(b.lanes, "0", f"%lanes_{region.header}")
        names = [one.rsplit(" ", 1) for one in f"ptr %context, i32 %warp, {MACHINE}".split(", ")]
        more = [(b.lanes, mask), ("i32", self._ahead()), ("ptr", "%turns"), ("ptr", "%few")]
        given = [*((type_, name) for type_, name in names), *more]
        one, some, on = b.label("one"), b.label("some"), b.label("done")
        b.branch(b.value(f"icmp eq {b.lanes} {count}, 1"), one, some)
        codes: list[tuple[str, str]] = []
        for label, function in zip((one, some), self.functions, strict=True):
            b.place(label)
            codes.append((b.call("i32", function.name, given), label))
            b.jump(on)
        b.place(on)
        self._go_on(b.phi("i32", *codes))
        b.place(many)

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

    def _give(self) -> None:
        """Put the registers of all lanes where the function takes those of its own."""
        b, registers, lanes = self.b, self.warp.registers, self.warp.steps.lanes
        registers.enter(frozenset())
        for name in self.region.taken:
            place, value = b.offset("%few", self.exchange.registers[name]), registers.read(name)
            if value.uniform:
                b.store(value.type, value.ir, place)
                continue
            text = lanes.as_vector(value).ir
            if value.type == "i1":
                b.store(b.lanes, b.mask_bits(text), place)
            else:
                b.store(b.vector(value.type), text, place, ", align 64")

    def _go_on(self, code: str) -> None:
        """Take back what the function leaves, and choose what runs next."""
        b, registers, region = self.b, self.warp.registers, self.region
        back = fair_headers(region, self.warp.pending.fair)
        ends = {FAULTED: "fault", ENDED: "stopped"}
        on = b.label("left")
        cases = " ".join(f"i32 {number}, label %{label}" for number, label in ends.items())
        b.emit(f"switch i32 {code}, label %{on} [ {cases} ]")
        b.place(on)
        exchange = self.exchange
        for name in region.kept:
            part = (name, "")
            found = b.load(registers.storage(part), b.offset("%few", exchange.registers[name]), ", align 8")
            b.store(registers.storage(part), found, registers.home(part))
        for block, place in exchange.masks.items():
            own = b.load(b.lanes, b.offset("%few", place))
            others = b.load(b.lanes, f"%lanes_{block}")
            b.store(b.lanes, b.value(f"or {b.lanes} {own}, {others}"), f"%lanes_{block}")
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
        dispatch.resume({*region.leaves, *self.waiting}, region.header)
