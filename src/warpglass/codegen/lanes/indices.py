"""Indices: which 64-bit vectors are a scalar plus a 32-bit number of each lane times a power of two.

So are the addresses of elements that an array of integers numbers. Accesses that know it check and gather by
the indices (memory/indexed.py). Of registers that come from other blocks only the 64-bit vector is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..builder import constant_vector
from ..memory.indexed import Indexed
from ..values.known_bits import lane_zeros, trailing_zeros
from ..values.value import Offsets, Value, signed

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

_MOST = 16  # the greatest power of two: indices of larger elements are as well multiplied


class Indices:
    """The indices that vectors of i64 are made of."""

    def __init__(self, lanes: FastArithmetic):
        self._lanes = lanes
        self._found: dict[str, Indexed] = {}

    def find(self, a: Value) -> Indexed | None:
        """What an address is made of; None if that is unknown."""
        return self._found.get(a.ir)

    def note(self, result: Value, name: str, operands: tuple[Value, ...]) -> None:
        """An instruction on vectors has given a vector of i64."""
        narrow = self._lanes.narrow.lower_half_of(result)
        if narrow is not None:
            self._found[result.ir] = _bounded(Indexed("0", 0, narrow, 0, lane_zeros(result)), result)
        elif name in ("sext", "zext"):
            (a,) = operands
            if a.type == "i32" and a.offsets is None:
                unsigned = name == "zext" and (a.low is None or a.low < 0)
                self._found[result.ir] = _bounded(Indexed("0", 0, a.ir, 0, lane_zeros(a), unsigned), a)
        elif name in ("add", "mul", "shl"):
            one, other = operands
            if name != "shl" and one.ir not in self._found:
                one, other = other, one
            found = self._found.get(one.ir)
            if name == "add" and found is not None and other.ir in self._found:
                found = self._summed(found, self._found[other.ir])
            elif found is None or other.ok is not None or other.offsets is None:
                found = None
            elif name == "add":
                found = self._moved(self._spread(found, other.offsets), other)
            else:
                found = self._scaled(found, name, other) if other.uniform else None
            if found is not None:
                self._found[result.ir] = found

    def _summed(self, a: Indexed, b: Indexed) -> Indexed | None:
        """The sum of two, as of a row's start and a column, if its number for certain fits 32 bits."""
        shift = min(a.shift, b.shift)
        one, other = (self._shifted(found, found.shift - shift) for found in (a, b))
        if one is None or other is None or (a.base != "0" and b.base != "0"):
            return None
        least, most = one.least + other.least, one.most + other.most
        if not _fits(least, most):
            return None
        builder = self._lanes.builder
        numbers = builder.value(f"add {builder.vector('i32')} {one.numbers}, {other.numbers}")
        base = b.base if a.base == "0" else a.base
        zeros = min(one.zeros, other.zeros)
        return Indexed(base, a.distance + b.distance, numbers, shift, zeros, False, least, most)

    def _shifted(self, found: Indexed, by: int) -> Indexed | None:
        """The same with numbers of which each stands for fewer bytes, if they still fit 32 bits."""
        least, most = found.least << by, found.most << by
        if found.unsigned or not _fits(least, most):
            return None
        if not by:
            return found
        b = self._lanes.builder
        numbers = b.value(f"shl {b.vector('i32')} {found.numbers}, splat (i32 {by})")
        zeros, shift = found.zeros + by, found.shift - by
        return replace(found, numbers=numbers, shift=shift, zeros=zeros, least=least, most=most)

    def _spread(self, found: Indexed, offsets: Offsets) -> Indexed | None:
        """The same with what each lane adds, if that is for certain a difference of numbers of 32 bits."""
        if not any(offsets):
            return found
        added = [offset >> found.shift for offset in offsets]
        least, most = found.least + min(added), found.most + max(added)
        if found.unsigned or any(offset % (1 << found.shift) for offset in offsets):
            return None
        if not _fits(least, most):
            return None
        b = self._lanes.builder
        numbers = b.value(f"add {b.vector('i32')} {found.numbers}, {constant_vector('i32', added)}")
        zeros = min(found.zeros, *(trailing_zeros(one, 32) for one in added))
        return replace(found, numbers=numbers, zeros=zeros, least=least, most=most)

    def _moved(self, found: Indexed | None, by: Value) -> Indexed | None:
        if found is None:
            return None
        if by.constant is not None:
            return replace(found, distance=found.distance + signed(by.constant, 64))
        if found.base == "0":
            return replace(found, base=by.ir)
        return replace(found, base=self._lanes.builder.value(f"add i64 {found.base}, {by.ir}"))

    def _scaled(self, found: Indexed, name: str, by: Value) -> Indexed | None:
        if found.base != "0" or by.constant is None:
            return None
        factor = by.constant if name == "mul" else 1 << min(by.constant, 63)
        if factor & (factor - 1) or not 0 < factor << found.shift <= _MOST:
            return None
        return replace(found, distance=found.distance * factor, shift=found.shift + factor.bit_length() - 1)


def _fits(least: int, most: int) -> bool:
    """Whether all numbers between two are signed ones of 32 bits."""
    return least >= -(1 << 31) and most < 1 << 31


def _bounded(indexed: Indexed, numbers: Value) -> Indexed:
    """The same with what is known of numbers that a value has."""
    if numbers.low is None or numbers.high is None:
        return indexed
    return replace(indexed, least=numbers.low, most=numbers.high)
