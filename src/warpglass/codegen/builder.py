"""Writes LLVM IR as text: names, labels, instructions and the declarations they need. No meaning here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ..isa.types import BITS

WIDTH = 32  # lanes of a warp

Arg = tuple[str, str]  # LLVM type and value

SUFFIX = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16", "ptr": "p0"}


def vector(type_: str, lanes: int = WIDTH) -> str:
    """The LLVM type of `lanes` lanes of a scalar type; the scalar itself for one lane."""
    return type_ if lanes == 1 else f"<{lanes} x {type_}>"


def suffix(type_: str, lanes: int = WIDTH) -> str:
    """An intrinsic's overload suffix for a scalar or vector type: `i32`, `v32f64`."""
    base = SUFFIX.get(type_, type_)
    return base if lanes == 1 else f"v{lanes}{base}"


def constant_vector(type_: str, values: Iterable[int | str]) -> str:
    """A literal vector."""
    return "<" + ", ".join(f"{type_} {value}" for value in values) + ">"


def widened(value: str, width: int) -> str:
    """The instruction that makes an i64 of an integer of `width` bits."""
    if width == 64:
        return f"add i64 {value}, 0"
    return f"{'zext' if width < 64 else 'trunc'} i{width} {value} to i64"


_FORWARDED = 32  # bytes of a store that loads get from every processor before they are in the cache
_WORD = 32  # bits of a part of a mask at most, of which places test one
# Numbers of metadata that every module has are below this.
_FIRST_NODE = 4


class Builder:
    """Collects the lines of one function, and what the module must declare for them.

    `width` lanes run together: the threads of one warp or, where nobody can tell, of several
    (warp_fusion.py).
    """

    def __init__(self, declarations: set[str], width: int = WIDTH):
        self.lines: list[str] = []
        self.declarations = declarations
        self.width = width
        self.lanes = f"i{width}"  # the type of a set of lanes, a bit for each
        self._count = 0
        self.block = "entry"  # the label of the basic block that is being written
        self.region = 0  # counts basic blocks: names of this one can be used up to its end

    def node(self, *parts: str) -> str:
        """The name of a new node of metadata, distinct from all others."""
        number = _FIRST_NODE + sum(line.startswith("!") for line in self.declarations)
        self.declarations.add(f"!{number} = distinct !{{{', '.join((f'!{number}', *parts))}}}")
        return f"!{number}"

    def name(self, hint: str = "v") -> str:
        """A fresh value name."""
        self._count += 1
        return f"%{hint}{self._count}"

    def label(self, hint: str = "L") -> str:
        """A fresh label name (without %)."""
        self._count += 1
        return f"{hint}{self._count}"

    @contextmanager
    def elsewhere(self) -> Iterator[list[str]]:
        """Collect the lines of another function, whose names begin anew."""
        before = self.lines, self._count, self.block
        self.lines, self._count, self.block = [], 0, "entry"
        self.region += 1
        yield self.lines
        self.lines, self._count, self.block = before
        self.region += 1

    def emit(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append("  " + text)

    def value(self, text: str) -> str:
        """An instruction with a result; returns the result's name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def place(self, label: str) -> None:
        """Start a basic block."""
        self.region += 1
        self.block = label
        self.lines.append(f"{label}:")

    def jump(self, label: str) -> None:
        """Branch unconditionally."""
        self.emit(f"br label %{label}")

    def branch(self, condition: str, yes: str, no: str, *, unlikely: bool = False) -> None:
        """Branch on an i1; `unlikely` says that `yes` is the cold side."""
        weight = ", !prof !1" if unlikely else ""
        self.emit(f"br i1 {condition}, label %{yes}, label %{no}{weight}")

    def call(self, result: str, name: str, args: Iterable[Arg], attributes: str = "") -> str:
        """Call an intrinsic or helper, declaring it if it is an intrinsic; returns the result's name."""
        args = tuple(args)
        if name.startswith("llvm."):
            types = ", ".join(["ptr" if type_.startswith("ptr ") else type_ for type_, _ in args])
            self.declarations.add(f"declare {result} @{name}({types})")
        given = ", ".join([f"{type_} {value}" for type_, value in args])
        text = f"call {result} @{name}({given}){attributes}"
        if result == "void":
            self.emit(text)
            return ""
        return self.value(text)

    def intrinsic(self, name: str, type_: str, *operands: str, lanes: int = 1) -> str:
        """Call an intrinsic of LLVM whose operands and result have one type."""
        whole = vector(type_, lanes)
        return self.call(whole, f"llvm.{name}.{suffix(type_, lanes)}", [(whole, one) for one in operands])

    def phi(self, type_: str, *incoming: tuple[str, str]) -> str:
        """Merge values by the label they come from."""
        return self.value(f"phi {type_} " + ", ".join(f"[ {value}, %{label} ]" for value, label in incoming))

    def load(self, type_: str, pointer: str, extra: str = "") -> str:
        """Load through a host pointer."""
        return self.value(f"load {type_}, ptr {pointer}{extra}")

    def store(self, type_: str, value: str, pointer: str, extra: str = "") -> None:
        """Store through a host pointer."""
        self.emit(f"store {type_} {value}, ptr {pointer}{extra}")

    def store_for_lanes(self, type_: str, value: str, pointer: str) -> None:
        """Store a vector of all lanes, at an address aligned for it, for each lane to load its element soon.

        Of a store of 64 bytes, Intel's cores hand on the lower half at once, and loads of the upper one wait
        until it is in the cache. Volatile, as LLVM would join the parts.
        """
        each = min(self.width, 8 * _FORWARDED // (64 if type_ == "ptr" else BITS[type_]))
        for first in range(0, self.width, each):
            picks = range(first, first + each)
            part = value if each == self.width else self.shuffle(type_, self.width, value, picks)
            place = self.offset(pointer, first // each * _FORWARDED)
            self.store(f"volatile {vector(type_, each)}", part, place, f", align {_FORWARDED}")

    def offset(self, pointer: str, bytes_: str | int) -> str:
        """A host pointer moved by a number of bytes."""
        if bytes_ == 0:
            return pointer
        return self.value(f"getelementptr i8, ptr {pointer}, i64 {bytes_}")

    def vector(self, type_: str) -> str:
        """The LLVM type of all lanes of a scalar type."""
        return f"<{self.width} x {type_}>"

    def suffix(self, type_: str) -> str:
        """An intrinsic's overload suffix for all lanes of a scalar type."""
        return suffix(type_, self.width)

    def first_lane(self, mask: str) -> str:
        """The lowest lane of a mask as an i64; the number of lanes if there is none."""
        lane = self.call(self.lanes, f"llvm.cttz.{self.lanes}", [(self.lanes, mask), ("i1", "false")])
        return self.value(widened(lane, self.width))

    def without(self, mask: str, lane: str) -> str:
        """A mask without one of its lanes, an i64."""
        bit = self.value(f"shl {self.lanes} 1, {self._place(lane)}")
        return self.value(f"xor {self.lanes} {mask}, {bit}")

    def from_lane(self, mask: str, lane: str) -> str:
        """A mask of which the first bit is that of a lane, an i64, and each next one the next lane's."""
        return self.value(f"lshr {self.lanes} {mask}, {self._place(lane)}")

    def _place(self, lane: str) -> str:
        """A lane, an i64, as the place of its bit in a mask."""
        if self.width == 64:
            return lane
        return self.value(f"{'trunc' if self.width < 64 else 'zext'} i64 {lane} to {self.lanes}")

    def last_lane(self, mask: str) -> str:
        """The highest lane of a mask, which is not empty, as an i64."""
        above = self.call(self.lanes, f"llvm.ctlz.{self.lanes}", [(self.lanes, mask), ("i1", "true")])
        lane = self.value(f"sub {self.lanes} {self.width - 1}, {above}")
        return self.value(widened(lane, self.width))

    def someone(self, mask: str) -> str:
        """An i1 that holds if a mask has lanes."""
        return self.value(f"icmp ne {self.lanes} {mask}, 0")

    def splat(self, type_: str, value: str, lanes: int = 0) -> str:
        """A vector with one scalar in all lanes."""
        if not value.startswith("%"):
            return f"splat ({type_} {value})"
        lanes = lanes or self.width
        whole = vector(type_, lanes)
        first = self.value(f"insertelement {whole} poison, {type_} {value}, i32 0")
        return self.value(f"shufflevector {whole} {first}, {whole} poison, <{lanes} x i32> zeroinitializer")

    def elements(self, distance: str, size: int, lanes: int = 1) -> str:
        """How many elements of 2^k bytes a distance (i64) is; far too many if it is no multiple of them."""
        if size == 1:
            return distance
        shift = str(size.bit_length() - 1)
        shift = shift if lanes == 1 else self.splat("i64", shift)
        return self.intrinsic("fshr", "i64", distance, distance, shift, lanes=lanes)

    def shuffle(self, type_: str, lanes: int, one: str, picks: Iterable[int], two: str = "poison") -> str:
        """The elements of two vectors of so many lanes, one behind the other, that `picks` numbers."""
        whole, picks = vector(type_, lanes), tuple(picks)
        chosen = f"<{len(picks)} x i32> {constant_vector('i32', picks)}"
        return self.value(f"shufflevector {whole} {one}, {whole} {two}, {chosen}")

    def masked_load(self, type_: str, lanes: int, pointer: str, mask: str) -> str:
        """Neighbouring elements from any address where a vector of i1 holds, zeros elsewhere."""
        whole = vector(type_, lanes)
        args = [("ptr", f"align 1 {pointer}"), (vector("i1", lanes), mask), (whole, "zeroinitializer")]
        return self.call(whole, f"llvm.masked.load.{suffix(type_, lanes)}.p0", args)

    def masked_store(
        self, type_: str, lanes: int, value: str, pointer: str, mask: str, align: int = 1
    ) -> None:
        """Store neighbouring elements where a vector of i1 holds; there may be a vector of one."""
        whole = f"<{lanes} x {type_}>"
        args = [(whole, value), ("ptr", f"align {align} {pointer}"), (f"<{lanes} x i1>", mask)]
        self.call("void", f"llvm.masked.store.v{lanes}{suffix(type_, 1)}.p0", args)

    def joined(self, type_: str, parts: Sequence[str], size: int) -> str:
        """Vectors of `size` lanes, a power of two of them, one behind the other as one vector."""
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self.shuffle(type_, size, one, range(2 * size), two) for one, two in pairs]
            size *= 2
        return parts[0]

    def by_registers(self, type_: str, size: int, name: str, vectors: Sequence[str], *others: Arg) -> str:
        """An instruction on registers of `size` elements, for all lanes, of which there are whole registers.

        `others` are the arguments behind the registers, the same for all.
        """
        whole, parts = vector(type_, size), list[str]()
        for first in range(0, self.width, size):
            own = range(first, first + size)
            args = [(whole, self.shuffle(type_, self.width, text, own)) for text in vectors]
            parts.append(self.call(whole, name, [*args, *others]))
        return self.joined(type_, parts, size)

    def interleaved(self, type_: str, parts: Sequence[str], size: int) -> str:
        """The first elements of vectors of `size` lanes, a power of two of them, then the second ones ..."""
        while len(parts) > 1:
            half = len(parts) // 2
            picks = [k + part * size for k in range(size) for part in (0, 1)]
            parts = [self.shuffle(type_, size, parts[k], picks, parts[k + half]) for k in range(half)]
            size *= 2
        return parts[0]

    def mask_vector(self, mask: str, lanes: int = 0) -> str:
        """An integer of `lanes` bits as a vector of i1."""
        if mask == "-1":
            return "splat (i1 true)"
        lanes = lanes or self.width
        return self.value(f"bitcast i{lanes} {mask} to <{lanes} x i1>")

    def owned(self, mask: str, bits: int, owners: Sequence[int | None]) -> str:
        """Which places act, a vector of i1: those whose lane does; those that no lane owns never do.

        Each place, of so many bits, tests its lane's bit in a part of the mask that is no wider than itself,
        so that a register is one test. Of a shuffle of single bits LLVM makes several instructions for each
        of them, and (22) breaks down on some with zeros.
        """
        part = min(bits, _WORD)
        parts, places = max(1, self.width // part), len(owners)
        all_, whole = f"<{parts} x i{part}>", f"<{places} x i{part}>"
        if self.width < part:
            mask = self.value(f"zext {self.lanes} {mask} to i{part}")
        words = self.value(f"bitcast i{parts * part} {mask} to {all_}")
        lanes = [divmod(lane or 0, part) for lane in owners]
        picks = constant_vector("i32", (word for word, _ in lanes))
        own = self.value(f"shufflevector {all_} {words}, {all_} poison, <{places} x i32> {picks}")
        tests = (0 if lane is None else 1 << bit for lane, (_, bit) in zip(owners, lanes, strict=True))
        tested = self.value(f"and {whole} {own}, {constant_vector(f'i{part}', tests)}")
        return self.value(f"icmp ne {whole} {tested}, zeroinitializer")

    def mask_bits(self, predicate: str, lanes: int = 0) -> str:
        """A vector of i1 as an integer."""
        lanes = lanes or self.width
        return self.value(f"bitcast <{lanes} x i1> {predicate} to i{lanes}")

    def votes(self, predicate: str, mask: str) -> str:
        """The lanes of a mask for which a vector of i1 holds, as a mask."""
        bits = self.mask_bits(predicate)
        return bits if mask == "-1" else self.value(f"and {self.lanes} {bits}, {mask}")

    def foreseen(self, mask: str, guess: str, otherwise: Callable[[], None] = lambda: None) -> str:
        """A mask that is mostly `guess`, which the processor foresees: what follows need not wait for it.

        That they are the same is hidden from LLVM, which would use the one for the other. `otherwise` emits
        what is done where they are not.
        """
        same, differs, on = self.label("same"), self.label("differs"), self.label("foreseen")
        self.branch(self.value(f"icmp eq {self.lanes} {mask}, {guess}"), same, differs)
        self.place(differs)
        otherwise()
        last = self.block
        self.jump(on)
        self.place(same)
        word = guess if self.width >= 32 else self.value(f"zext {self.lanes} {guess} to i32")
        type_ = self.lanes if self.width >= 32 else "i32"
        known = self.value(f'call {type_} asm "", "=r,0"({type_} {word})')
        if self.width < 32:
            known = self.value(f"trunc i32 {known} to {self.lanes}")
        self.jump(on)
        self.place(on)
        return self.phi(self.lanes, (mask, last), (known, same))


class Deferred:
    """A vector that few will ask for: it is emitted where it is needed, once in each basic block.

    `depth` counts the ones that it is made of, one behind the other.
    """

    __slots__ = ("_builder", "_emit", "_name", "_region", "depth")

    def __init__(self, builder: Builder, emit: Callable[[], str], depth: int = 1):
        self._builder = builder
        self._emit = emit
        self.depth = depth
        self._name, self._region = "", -1

    def __call__(self) -> str:
        """The vector's name."""
        if self._region != self._builder.region:
            self._name = self._emit()
            self._region = self._builder.region
        return self._name
