"""What goes in and out of a region's code for few lanes: registers and masks, by memory.

The warp's code puts the registers of all its lanes where the region's takes those of its own; it gives the
changed ones back there, and for each block the lanes that it has left in front of it. An element behind those
of the lanes takes what nobody needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...isa.types import BITS
from ..builder import Builder
from ..registers import Registers
from .find import FewRegion, Form
from .kept_changes import SIZE
from .permutation import Permutation

_LINE = 64


@dataclass(frozen=True, slots=True)
class Exchange:
    """Where the registers and masks of one region lie, in bytes from the start of the memory.

    `left` has the mask of the lane that is left when others have gone. At `rounds` a region whose lanes may
    go apart counts them, an i64; local memory is copied to `local`, and changes of memory are kept at `kept`.
    """

    registers: Mapping[str, int]
    masks: Mapping[int, int]
    left: int
    rounds: int
    local: int
    kept: int
    size: int


def lay_out(region: FewRegion, registers: Registers, local: int) -> Exchange:
    """A place for each register that goes in, and for the mask of each block where lanes may end.

    `local` is the size of the warp's local memory in bytes.
    """
    width, end = registers.builder.width, 0
    places: dict[str, int] = {}
    for name in region.taken:
        places[name] = end
        end += -(-_bytes(registers.types[name]) * (width + 1) // _LINE) * _LINE
    masks = {block: end + 16 * k for k, block in enumerate(region.leaves)}
    left = end + 16 * len(masks)
    rounds = left + 16
    copy = -(-(rounds + 8) // _LINE) * _LINE
    kept = copy + (-(-local // _LINE) * _LINE if region.stores else 0)
    return Exchange(places, masks, left, rounds, copy, kept, kept + (SIZE if region.keeps else 0))


def _bytes(type_: str) -> int:
    return -(-BITS[type_] // 8)


class Movement:
    """Moves registers between that memory and the code for few lanes, `everyone` in the warp's mask."""

    def __init__(self, b: Builder, registers: Registers, warp: Registers, exchange: Exchange, form: Form):
        self.b = b
        self.form = form
        self.registers = registers
        self.exchange = exchange
        self.all_of = warp
        self.warp = warp.builder  # of which only types are asked for
        self._permutation: Permutation | None = None

    def begin(self) -> None:
        """Find the lanes: their numbers, their bits in the warp's masks, and the mask of those there are."""
        b, wide, form = self.b, self.warp.lanes, self.form
        if form.alone:
            for numbers in ("%few_from", "%few_to"):
                b.store("i64", self._number("%everyone"), numbers)
            self.bits, self.present = "%everyone", "1"
            return
        if Permutation.is_possible(form, self.warp.width):
            self._permutation = found = Permutation(b, self.warp.width)
            b.store(b.vector("i64"), found.to, "%few_to", ", align 64")
            b.store(b.vector("i64"), found.numbers("i64"), "%few_from", ", align 64")
            self.present = found.present
            return
        rest, bits, first = "%everyone", "poison", ""
        for lane in range(form.most):
            number = self._number(rest)
            first = first or number
            fewer = b.value(f"and {wide} {rest}, {b.value(f'sub {wide} {rest}, 1')}")
            bit = b.value(f"xor {wide} {rest}, {fewer}")
            bits = b.value(f"insertelement {b.vector(wide)} {bits}, {wide} {bit}, i32 {lane}")
            there = b.value(f"icmp ne {wide} {rest}, 0")
            known = b.value(f"select i1 {there}, i64 {number}, i64 {first}")
            b.store("i64", number, b.offset("%few_to", 8 * lane))
            b.store("i64", known, b.offset("%few_from", 8 * lane))
            rest = fewer
        self.bits = bits
        self.present = b.mask_bits(b.value(f"icmp ne {b.vector(wide)} {bits}, zeroinitializer"))

    def _number(self, mask: str) -> str:
        """The lowest lane of a warp's mask as an i64; the number of its lanes if it has none."""
        b, wide = self.b, self.warp.lanes
        lane = b.call(wide, f"llvm.cttz.{wide}", [(wide, mask), ("i1", "false")])
        if self.warp.width == 64:
            return lane
        return b.value(f"{'zext' if self.warp.width < 64 else 'trunc'} {wide} {lane} to i64")

    def widen(self, mask: str) -> str:
        """A mask of few lanes as one of the warp's."""
        b, wide = self.b, self.warp.lanes
        if self.form.alone:
            return b.value(f"select i1 {b.someone(mask)}, {wide} {self.bits}, {wide} 0")
        if self._permutation is not None:
            return self._permutation.spread_bits(mask)
        whole = b.vector(wide)
        lanes = f"{b.vector('i1')} {b.mask_vector(mask)}"
        chosen = b.value(f"select {lanes}, {whole} {self.bits}, {whole} zeroinitializer")
        return b.call(wide, f"llvm.vector.reduce.or.{b.suffix(wide)}", [(whole, chosen)])

    # ------------------------------------------------------------------------------------ registers
    def take(self, names: Sequence[str]) -> None:
        """Let registers hold what the lanes come with."""
        for name in names:
            self.registers.put_whole(name, self._taken(name))

    def _taken(self, name: str) -> str:
        b, type_ = self.b, self.registers.types[name]
        place = b.offset("%few", self.exchange.registers[name])
        if self._shared(name):
            return b.load(type_, place)
        if type_ == "i1":
            return self._taken_bits(place)
        if self.form.alone:
            return b.load(type_, self._element(place, type_, "%few_from", 0))
        if self._permutation is not None and self._permutation.moves(type_):
            return self._permutation.taken(place, type_)
        found = "poison"
        for lane in range(self.form.most):
            one = b.load(type_, self._element(place, type_, "%few_from", lane))
            found = b.value(f"insertelement {b.vector(type_)} {found}, {type_} {one}, i32 {lane}")
        return found

    def _taken_bits(self, place: str) -> str:
        b, wide = self.b, self.warp.lanes
        word = b.load(wide, place)
        if self.form.alone:
            return b.value(f"icmp ne {wide} {b.value(f'and {wide} {word}, {self.bits}')}, 0")
        if self._permutation is not None:
            return b.mask_vector(self._permutation.packed_bits(word))
        whole = b.vector(wide)
        common = b.value(f"and {whole} {b.splat(wide, word)}, {self.bits}")
        return b.value(f"icmp ne {whole} {common}, zeroinitializer")

    def _shared(self, name: str) -> bool:
        """Whether one scalar is the register of all the warp's lanes."""
        return self.all_of.kind(name).uniform

    def _element(self, place: str, type_: str, numbers: str, lane: int) -> str:
        """Where one of the lanes has its element of a register."""
        number = self.b.load("i64", self.b.offset(numbers, 8 * lane))
        return self.b.value(f"getelementptr {type_}, ptr {place}, i64 {number}")

    def give(self, names: Sequence[str]) -> None:
        """Put what the lanes have made of registers where the warp's code takes it."""
        for name in names:
            self._give(name, self.b.offset("%few", self.exchange.registers[name]))

    def _give(self, name: str, place: str) -> None:
        b, type_ = self.b, self.registers.types[name]
        text = self.registers.read_whole(name)
        if self._shared(name):
            b.store(type_, text, place)
        elif type_ == "i1":
            self._give_bits(text, place)
        elif self.form.alone:
            b.store(type_, text, self._element(place, type_, "%few_to", 0))
        elif self._permutation is not None and self._permutation.moves(type_):
            self._permutation.give(place, type_, text)
        else:
            for lane in range(self.form.most):
                one = b.value(f"extractelement {b.vector(type_)} {text}, i32 {lane}")
                b.store(type_, one, self._element(place, type_, "%few_to", lane))

    def _give_bits(self, predicate: str, place: str) -> None:
        b, wide = self.b, self.warp.lanes
        others = b.value(f"and {wide} {b.load(wide, place)}, {b.value(f'xor {wide} %everyone, -1')}")
        if self.form.alone:
            own = b.value(f"select i1 {predicate}, {wide} {self.bits}, {wide} 0")
        else:
            own = self.widen(b.mask_bits(predicate))
        b.store(wide, b.value(f"or {wide} {others}, {own}"), place)
