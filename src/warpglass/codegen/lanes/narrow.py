"""Narrow integers: those of which half of the bits suffice, so that twice as many fit into a register.

All integers of Python have 64 bits, and C's have 32, sums of bytes among them. Where bounds show that an
operation's operands and its result fit half as many, it is done with those (values/narrow.py). The wide
vector is what they are extended to; LLVM drops that where nothing needs it. Of registers that come from other
blocks only the wide vector is known, and they are not narrowed for it: in a loop that would take longer than
the sum. Of those that only hold narrow elements of memory LLVM sees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...isa.types import BITS
from ...program import Program
from ..values.bounds import bounds_of
from ..values.narrow import MOST_TRIED, Narrowing, short_factor
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

# Addresses take what is made of words, as signed ones.
WORDS, HALVES = Narrowing(32, (1 << 31) - 1), Narrowing(16, (1 << 16) - 1)


def loaded_narrow(program: Program) -> frozenset[str]:
    """The registers of 32 bits that only loads of fewer bits write."""
    narrow, others = set[str](), set[str]()
    for step in (step for block in program.blocks for step in block.all_steps):
        access = step.match.load_or_store
        loads = access is not None and not access.writes and access.size < _WORD and step.match.vec is None
        (narrow if loads else others).update(step.writes)
    return frozenset(name for name in narrow - others if program.registers[name] == "b32")


_WORD = 4  # bytes


class NarrowVectors:
    """The narrow integers that vectors of ones twice as wide are made of."""

    def __init__(self, lanes: FastArithmetic, narrowing: Narrowing):
        self._lanes = lanes
        self._to = narrowing
        self.type, self._type = f"i{2 * narrowing.bits}", f"i{narrowing.bits}"  # the wide one and the narrow
        self._narrow: dict[str, str] = {}  # wide vectors -> those that they are extended from
        self._scalars: dict[str, Value] = {}  # wide vectors -> what they were made of
        self._sources: dict[str, Value] = {}  # wide vectors -> any narrow one that they are extended from

    def note(self, vector: str, a: Value) -> None:
        """A wide vector has been made of a value that has a form for certain."""
        if self._to.has(bounds_of(a)):
            self._scalars[vector] = a

    def cut(self, a: Value) -> None:
        """A wide vector has been extended elsewhere, of which the lower half is known here from now on."""
        if a.type == self.type and a.offsets is None and a.ir not in self._narrow:
            b = self._lanes.builder
            if self._to.has(bounds_of(a)):
                whole = b.vector(self.type)
                self._narrow[a.ir] = b.value(f"trunc {whole} {a.ir} to {b.vector(self._type)}")

    def lower_half_of(self, a: Value) -> str | None:
        """The narrow vector that a wide one is extended from, if it is known."""
        return self._narrow.get(a.ir)

    def _find(self, *operands: Value) -> tuple[Value, ...] | None:
        """All operands as narrow vectors; None if some are none, or all are as cheap when wide."""
        narrow, scalars = self._narrow, self._scalars
        if operands[0].type != self.type or all(one.ir not in narrow for one in operands):
            return None
        for one in operands:
            known = one.offsets is None and (one.ir in narrow or one.ir in scalars)
            if not known or not self._to.has(bounds_of(one)):
                return None
        return tuple([self._lower_half(one) for one in operands])

    def _lower_half(self, a: Value) -> Value:
        if a.ir in self._narrow:
            return Value(self._type, self._narrow[a.ir], None, None, a.low, a.high)
        return self._lanes.as_vector(self._lanes.convert("trunc", self._scalars[a.ir], self._type))

    def emit(self, name: str, operands: tuple[Value, ...], type_: str) -> Value | None:
        """An instruction on wide vectors on narrow ones instead; None if that gives another result."""
        if type_:
            return self._converted(name, operands[0]) if name in ("sext", "zext") else None
        if len(operands) - (name == "select") != 2:
            return None
        *condition, a, b = operands
        if name == "and":
            part = self._masked(a, b) or self._masked(b, a)
            if part is not None:
                return part
        if name.startswith("icmp"):
            predicate = self._to.comparison(name, a, b)
            narrow = self._find(a, b) if predicate is not None else None
            return None if predicate is None or narrow is None else self._lanes.emit(predicate, *narrow)
        if name == "select":
            signed = self._to.choice(a, b)
            found = None if signed is None else (name, signed)
        else:
            found = None if self._shifts(name, a, b) else self._to.operation(name, a, b)
        narrow = self._find(a, b) if found is not None else None
        if found is None or narrow is None:
            return None
        return self._extended(self._lanes.emit(found[0], *condition, *narrow), signed=found[1])

    def _converted(self, name: str, a: Value) -> Value | None:
        """A narrower integer extended."""
        if 1 < BITS[a.type] < self._to.bits:
            return self._extended(self._lanes.emit(name, a, type_=self._type))
        if a.type != self._type:
            return None
        signed = name == "sext" or (a.low is not None and a.low >= 0)
        if signed or self._to.most >> (self._to.bits - 1):
            return self._extended(a, signed=signed)
        wide = self._extend(a, signed=False)
        self._sources[wide] = a
        return Value(self.type, wide)

    def _masked(self, a: Value, mask: Value) -> Value | None:
        """Low bits of what is extended from any narrow integers, as a place in a table is."""
        source, bits = self._sources.get(a.ir), self._scalars.get(mask.ir)
        if source is None or bits is None or bits.constant is None or bits.constant > self._to.most:
            return None
        few = self._lanes.constant(self._type, bits.constant)
        return self._extended(self._lanes.emit("and", source, self._lanes.as_vector(few)))

    def _extended(self, narrow: Value, *, signed: bool = True) -> Value:
        """The wide vector that narrow integers are extended to."""
        name = self._extend(narrow, signed=signed)
        self._narrow[name] = narrow.ir
        return Value(self.type, name, None, None, narrow.low, narrow.high)

    def _extend(self, narrow: Value, *, signed: bool) -> str:
        b, extend = self._lanes.builder, "sext" if signed else "zext"
        return b.value(f"{extend} {b.vector(self._type)} {narrow.ir} to {b.vector(self.type)}")

    def _shifts(self, name: str, a: Value, b: Value) -> bool:
        """Whether it is a shift that is none of narrow integers.

        Addresses are shifted to the left, which have 64 bits in any case. Few processors shift halves by
        other than a constant.
        """
        factors = [self._scalars[one.ir].constant or 0 for one in (a, b) if one.ir in self._scalars]
        if self._to is WORDS:
            return name == "shl" or (name == "mul" and any(one & -one == one for one in factors))
        return name in ("shl", "lshr", "ashr") and b.ir not in self._scalars

    def product_high(self, a: Value, b: Value, signed: bool) -> Value | None:
        """The upper half of a product with a constant `b`, of which a narrow one has all that is needed."""
        if b.constant is None or a.offsets is not None or a.low is None or a.low < 0:
            return None
        negative = signed and b.constant >> (BITS[a.type] - 1)
        narrow = self._narrow.get(a.ir) if a.type == "i64" else a.ir if a.type == "i32" else None
        if narrow is None or a.high is None or a.high >= MOST_TRIED or negative:
            return None
        factor, shift = short_factor(b.constant, BITS[a.type], a.high)
        if factor is None:
            return None
        lanes = self._lanes
        words = Value("i32", narrow, None, None, a.low, a.high)
        product = lanes.apply("mul", words, lanes.constant("i32", factor))
        high = lanes.apply("lshr", product, lanes.constant("i32", shift))
        if high.constant is not None:
            return lanes.constant(a.type, high.constant)
        return high if a.type == "i32" else self._extended(high)
