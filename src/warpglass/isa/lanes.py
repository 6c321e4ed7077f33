"""The vocabulary in which the meaning of every instruction is written: operations on lanes that run together.

These are the 32 of a warp or, where no thread can tell, those of several warps. A value is of one LLVM scalar
type in all of them. Meanings say what happens to each lane and nothing about how: an implementation may
compute all lanes as a vector (codegen/lanes/reference.py), find that a scalar stands for all of them (fast.py
there), or only ask what is known (codegen/values/facts.py). Arithmetic is two's complement and wraps, as LLVM
defines it; division by zero and its remainder give all ones, as ptxas makes them on NVIDIA's hardware; shift
amounts must be smaller than the width.

What is abstract here is left to implementations; everything else is made of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .types import bits, integer_of, is_float

V = TypeVar("V")

# Where the block's rank plus one stands in addresses of shared memory, in kernels that name other blocks of
# their cluster.
RANK_SHIFT = 24


@dataclass(frozen=True, slots=True)
class Update:
    """What an atomic operation makes of an element: `make(lanes, old, *given)`, all integers of one type.

    `name` tells it from all others: code for it is made once a kernel. One that does not write leaves the
    element as it is. Of the same operands `usual` makes the same in short, and says whether that holds.
    """

    name: str
    make: Callable[..., Any]
    writes: bool = True
    usual: Callable[..., tuple[Any, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """A meaning with long code: `make(lanes, *operands)` gives values of the types `results`.

    It depends neither on which lanes are active nor on memory. `name` tells it from all others: code for it
    is made once a kernel. If it is `lanewise`, each lane's results follow from that lane's operands.
    """

    name: str
    results: tuple[str, ...]
    make: Callable[..., Sequence[Any]]
    lanewise: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Constants of one LLVM scalar type, i32 or double, as bit patterns. `name` tells it from all others."""

    name: str
    type: str
    patterns: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Fetch:
    """What a lane asks of the texture or surface object at a handle: `make(unit, *operands)`.

    It gives values of the types `results`, for one lane at a time; `unit` is an ObjectLane. `texels` are
    the most that a lane reads, or writes if it `writes`. `name` tells it from all others: code for it is made
    once a kernel.
    """

    name: str
    results: tuple[str, ...]
    make: Callable[..., Sequence[Any]] = field(repr=False)
    texels: int
    writes: bool = False


class Lanes(ABC, Generic[V]):
    """Operations on values of type V, an implementation's notion of lanes of one type."""

    @property
    def converts_half(self) -> bool:
        """Whether the host has instructions that convert between float and half.

        Where not, LLVM would call a function that may not be there.
        """
        return True

    @property
    def flushes(self) -> bool:
        """Whether the host computes as `.ftz` asks, which is then asked of all arithmetic (flushing.py)."""
        return False

    # ------------------------------------------------------------------------------------ primitives
    @abstractmethod
    def constant(self, type_: str, pattern: int) -> V:
        """The same bits in every lane (for floating types too, the bit pattern)."""

    @abstractmethod
    def type_of(self, a: V) -> str:
        """The LLVM scalar type of a value."""

    @abstractmethod
    def apply(self, operation: str, *operands: V) -> V:
        """An operation of one result type, lane by lane: LLVM's add, fmul, ...; an intrinsic by its name
        without type suffix (`llvm.fma`, `llvm.ctpop`, ...); or `fneg`."""

    @abstractmethod
    def compare(self, predicate: str, a: V, b: V) -> V:
        """LLVM's icmp (`slt`, `eq`, ...) or fcmp (`olt`, `une`, ...) predicate, by the operands' type."""

    @abstractmethod
    def select(self, condition: V, a: V, b: V) -> V:
        """Lane by lane, a where the condition holds, else b."""

    @abstractmethod
    def convert(self, operation: str, a: V, type_: str) -> V:
        """LLVM's zext, sext, trunc, bitcast, sitofp, uitofp, fpext, fptrunc, or llvm.fpto[su]i.sat."""

    @abstractmethod
    def look_up(self, table: Table, index: V) -> V:
        """Lane by lane, the constant of a table that an i32 numbers, which must be one of them."""

    @abstractmethod
    def unless(self, rare: V, usual: V, other: Callable[[], V]) -> V:
        """Lane by lane, usual unless `rare` holds: then what `other` makes of the same operands.

        The code of `other` is jumped over where no lane needs it.
        """

    @abstractmethod
    def outline(self, outline: Outline, operands: Sequence[V]) -> tuple[V, ...]:
        """What a long meaning makes of operands."""

    def rounded(self, operation: str, mode: str, operands: Sequence[V]) -> V | None:
        """`add`, `mul`, `div`, `sqrt` or `fma` of floats or doubles rounded as `rm`, `rp` or `rz` say, NaN to
        any NaN; None where the host has no instruction for it."""
        return None

    def windows(self, a: V, starts: Sequence[int]) -> V | None:
        """A word of the eight bits of an i32 from each of four places on; None where the host has no
        instruction for it."""
        return None

    # ------------------------------------------------------------------------------------ the machine
    @abstractmethod
    def special(self, name: str) -> V:
        """A special register, as specials.py names it: `tid.x`, `laneid`, `clock64`."""

    @abstractmethod
    def load(self, space: str, address: V, type_: str, count: int, volatile: bool) -> tuple[V, ...]:
        """`count` neighbouring elements from a 64-bit address of a state space."""

    @abstractmethod
    def store(self, space: str, address: V, values: tuple[V, ...], volatile: bool) -> None:
        """Neighbouring elements to a 64-bit address of a state space; of lanes that hit one address the
        highest active one wins."""

    @abstractmethod
    def window(self, space: str) -> V:
        """The generic address at which a state space begins."""

    @abstractmethod
    def atomic(self, space: str, operation: str, address: V, operands: tuple[V, ...]) -> V:
        """The old elements at a 64-bit address; each active lane in turn replaces its own indivisibly.

        `operation` is LLVM's atomicrmw operation, or `cmpxchg` with the operands expected and new.
        """

    @abstractmethod
    def update(self, space: str, change: Update, address: V, given: Sequence[tuple[V, ...]]) -> tuple[V, ...]:
        """As atomic, for any change of neighbouring elements: `given` has the operands of each element.

        Elements are replaced one after another, each indivisibly; the address is one for all of them.
        """

    @abstractmethod
    def fetch(self, fetch: Fetch, handle: V, operands: Sequence[V]) -> tuple[V, ...]:
        """What the texture or surface object at each active lane's handle (i64) makes of its operands."""

    @abstractmethod
    def only(self, condition: V) -> AbstractContextManager[None]:
        """Within, only lanes for which a condition holds act; it is jumped over where there are none.

        So no value that is made within may be used behind it.
        """

    @abstractmethod
    def arrive(self, barrier: V, count: V | None, predicate: V | None, wait: bool) -> None:
        """The warp arrives at a barrier of the block, the same for all lanes, with a predicate to vote on.

        `count` is the number of threads expected, None for all of the block.
        """

    @abstractmethod
    def cluster_phase(self, arrives: bool) -> V:
        """The phase of the barrier of the block's cluster (i32), at which the threads arrive or do not."""

    @abstractmethod
    def barrier_votes(self, barrier: V) -> tuple[V, V]:
        """Of the threads that arrived at a barrier that has opened: for how many the predicate held, and
        how many there were (i32)."""

    @abstractmethod
    def system(self, name: str, result: str, operands: tuple[V, ...]) -> V:
        """A function of the CUDA runtime, called by the active lanes in turn; integers of up to 64 bits."""

    # ------------------------------------------------------------------------------------ across lanes
    @abstractmethod
    def known(self, a: V) -> int | None:
        """The bits that every lane has, if that is known at compile time."""

    @abstractmethod
    def lane_constants(self, type_: str, patterns: tuple[int, ...]) -> V:
        """A bit pattern for each of the 32 lanes."""

    @abstractmethod
    def permute(self, a: V, sources: tuple[int, ...]) -> V:
        """Lane l gets the value of lane `sources[l]`, active or not."""

    @abstractmethod
    def shuffle(self, a: V, source: V) -> V:
        """As permute, with the sources (i32, modulo 32) known at run time; 32-bit values."""

    @abstractmethod
    def active(self) -> V:
        """The mask of the lanes that execute the instruction, an i32 for all lanes."""

    @abstractmethod
    def ballot(self, predicate: V) -> V:
        """The mask of the active lanes for which a predicate holds, an i32 for all lanes."""

    @abstractmethod
    def mask_predicate(self, mask: V) -> V:
        """For each lane, whether its bit is set in a mask that is the same for all lanes."""

    @abstractmethod
    def reduce(self, operation: str, a: V) -> V:
        """LLVM's llvm.vector.reduce operation over all 32 lanes, for all lanes."""

    @abstractmethod
    def equal_lanes(self, a: V) -> V:
        """For each lane, the mask (i32) of the lanes with the same bits, active or not."""

    # ------------------------------------------------------------------------------------ derived
    def one_nan(self, a: V, pattern: int) -> V:
        """The result of an operation, with one pattern for every NaN."""
        return self.select(self.compare("uno", a, a), self.constant(self.type_of(a), pattern), a)

    def add(self, a: V, b: V) -> V:
        """a + b, of the operands' type, integer or floating."""
        return self.apply("fadd" if is_float(self.type_of(a)) else "add", a, b)

    def sub(self, a: V, b: V) -> V:
        """a - b."""
        return self.apply("fsub" if is_float(self.type_of(a)) else "sub", a, b)

    def mul(self, a: V, b: V) -> V:
        """a * b, the low half for integers."""
        return self.apply("fmul" if is_float(self.type_of(a)) else "mul", a, b)

    def and_(self, a: V, b: V) -> V:
        """Bitwise and."""
        return self.apply("and", a, b)

    def or_(self, a: V, b: V) -> V:
        """Bitwise or."""
        return self.apply("or", a, b)

    def xor(self, a: V, b: V) -> V:
        """Bitwise exclusive or."""
        return self.apply("xor", a, b)

    def not_(self, a: V) -> V:
        """Every bit inverted."""
        return self.apply("xor", a, self.constant(self.type_of(a), -1))

    def neg(self, a: V) -> V:
        """0 - a, or the sign bit flipped."""
        if is_float(self.type_of(a)):
            return self.apply("fneg", a)
        return self.apply("sub", self.constant(self.type_of(a), 0), a)

    def absolute(self, a: V) -> V:
        """An integer without its sign; the least one stays as it is."""
        return self.apply("llvm.smax", a, self.neg(a))

    def extend(self, a: V, type_: str, signed: bool) -> V:
        """An integer made as wide as `type_`: extended, cut or unchanged."""
        have, want = bits(self.type_of(a)), bits(type_)
        if have == want:
            return a
        return self.convert("trunc" if want < have else "sext" if signed else "zext", a, type_)

    def bitcast(self, a: V, type_: str) -> V:
        """The same bits as another type of the same width."""
        return a if self.type_of(a) == type_ else self.convert("bitcast", a, type_)

    def fit(self, a: V, type_: str, signed: bool = False) -> V:
        """A value as a register of `type_` takes it: same bits if as wide, else extended or cut."""
        have = self.type_of(a)
        if have == type_:
            return a
        whole = self.bitcast(a, integer_of(have))
        return self.bitcast(self.extend(whole, integer_of(type_), signed), type_)

    def join(self, parts: Sequence[V]) -> V:
        """Integers side by side in one, the first lowest."""
        width = bits(self.type_of(parts[0]))
        whole = f"i{width * len(parts)}"
        joined = self.extend(parts[0], whole, signed=False)
        for position, part in enumerate(parts[1:], start=1):
            distance = self.constant(whole, position * width)
            joined = self.or_(joined, self.apply("shl", self.extend(part, whole, signed=False), distance))
        return joined

    def split(self, a: V, count: int) -> tuple[V, ...]:
        """An integer cut into so many equal ones, the lowest first."""
        type_ = self.type_of(a)
        width = bits(type_) // count
        return tuple(
            self.extend(self.apply("lshr", a, self.constant(type_, k * width)), f"i{width}", signed=False)
            for k in range(count)
        )

    def pick_bytes(self, a: V, b: V, places: Sequence[int]) -> V:
        """A word of bytes of two words: 0 to 3 are those of the first, 4 to 7 those of the second."""
        bytes_ = (*self.split(a, 4), *self.split(b, 4))
        return self.join([bytes_[place] for place in places])

    def dot(self, onto: V, a: V, b: V, a_signed: bool, b_signed: bool) -> V:
        """A word and the products of two words' bytes, added up."""
        for x, y in zip(self.split(a, 4), self.split(b, 4), strict=True):
            wide = self.extend(x, "i32", a_signed), self.extend(y, "i32", b_signed)
            onto = self.add(onto, self.mul(*wide))
        return onto

    def dot_halves(self, onto: V, a: V, b: V) -> V:
        """A word and the products of two words' halves, which have signs, added up."""
        half = self.constant("i32", 16)
        for distance in (half, None):
            x, y = (one if distance is None else self.apply("shl", one, distance) for one in (a, b))
            onto = self.add(onto, self.mul(self.apply("ashr", x, half), self.apply("ashr", y, half)))
        return onto

    def clamp(self, a: V, low: int, high: int, signed: bool) -> V:
        """An integer brought into low..high, which its type can hold."""
        type_, sign = self.type_of(a), "s" if signed else "u"
        above = self.apply(f"llvm.{sign}max", a, self.constant(type_, low))
        return self.apply(f"llvm.{sign}min", above, self.constant(type_, high))

    def multiply_wide(self, a: V, b: V, signed: bool) -> V:
        """The full product, twice as wide as the operands."""
        wide = f"i{2 * bits(self.type_of(a))}"
        return self.mul(self.extend(a, wide, signed), self.extend(b, wide, signed))

    def multiply_high(self, a: V, b: V, signed: bool) -> V:
        """The upper half of the full product."""
        narrow = self.type_of(a)
        if narrow == "i64":
            return self.multiply_high_64(a, b, signed, self.constant("i64", 32))
        product = self.multiply_wide(a, b, signed)
        half = self.constant(self.type_of(product), bits(narrow))
        return self.convert("trunc", self.apply("lshr", product, half), narrow)

    def multiply_high_64(self, a: V, b: V, signed: bool, last_shift: V) -> V:
        """By halves, since 128-bit products of vectors are taken apart lane by lane.

        The last shift's amount is 32, too. LLVM, which sees it, makes a 128-bit product of all this.
        """
        half, low_half = self.constant("i64", 32), self.constant("i64", 0xFFFFFFFF)
        (a_low, a_high), (b_low, b_high) = (
            (self.and_(x, low_half), self.apply("lshr", x, half)) for x in (a, b)
        )
        first, second = self.mul(a_low, b_high), self.mul(a_high, b_low)
        carried = self.apply("lshr", self.mul(a_low, b_low), half)
        middle = self.add(self.add(carried, self.and_(first, low_half)), self.and_(second, low_half))
        high = self.mul(a_high, b_high)
        for part, amount in ((first, half), (second, half), (middle, last_shift)):
            high = self.add(high, self.apply("lshr", part, amount))
        if signed:
            for x, y in ((a, b), (b, a)):
                high = self.sub(high, self.and_(self.apply("ashr", x, self.constant("i64", 63)), y))
        return high

    def shift(self, operation: str, a: V, amount: V) -> V:
        """`shl`, `lshr` or `ashr` by a 32-bit unsigned amount, clamped at the width as PTX says."""
        type_ = self.type_of(a)
        limit = self.constant("i32", bits(type_) - 1)
        inside = self.extend(self.apply("llvm.umin", amount, limit), type_, signed=False)
        shifted = self.apply(operation, a, inside)
        if operation == "ashr":
            return shifted
        return self.select(self.compare("ule", amount, limit), shifted, self.constant(type_, 0))


class ObjectLane(Lanes[V]):
    """One lane at a texture or surface object (texture_object.py): the vocabulary and the object's memory."""

    @abstractmethod
    def field(self, name: str, type_: str = "i32") -> V:
        """A field of the object."""

    @abstractmethod
    def level_field(self, level: V, name: str, type_: str = "i32") -> V:
        """A field of a mipmap level, which an i32 numbers."""

    @abstractmethod
    def read(self, offset: V, type_: str) -> V:
        """The bits of a channel (i8 to i64), so many bytes from the first texel, which the object has."""

    @abstractmethod
    def write(self, offset: V, value: V) -> None:
        """Write the bits of a channel."""

    @abstractmethod
    def change(self, operation: str, offset: V, value: V) -> None:
        """Replace an element indivisibly by LLVM's atomicrmw operation."""

    @abstractmethod
    def visit(self, wanted: V, offset: V, number: V) -> None:
        """Tell observers of a texel that the lane reads or writes if it is wanted: its place, its number."""

    @abstractmethod
    def either(
        self, condition: V, yes: Callable[[], Sequence[V]], no: Callable[[], Sequence[V]]
    ) -> tuple[V, ...]:
        """What one of two branches gives, values of the same types; the other is not run."""

    @abstractmethod
    def fail(self, condition: V) -> None:
        """Stop the kernel if a condition holds: the lane's coordinates are outside."""

    @abstractmethod
    def function(self, part: Outline, operands: Sequence[V]) -> tuple[V, ...]:
        """What a part makes of operands; code for it is made once a kernel, and may use the object."""


AnyLanes = Lanes[Any]
AnyObjectLane = ObjectLane[Any]
