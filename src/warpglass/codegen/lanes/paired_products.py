"""Sums of products of 16-bit integers, two at a time: filters of samples and pixels, products of bytes.

AVX-512 multiplies the halves of words and adds both products to a word (`vpdpwssd`), which is one instruction
for what otherwise takes two extensions, two products and two sums of words. A product that is added to a sum
to which another was added just before takes that with it; nobody needs the sum in between, mostly.

Halves of two vectors are put side by side within each 16 bytes of a register, as processors do that at once.
So words are in another order, and only the last sum's are put back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..machine.target import multiplies_bytes
from ..values.bounds import bounds_of
from ..values.value import Value
from .words_of_bytes import WORDS_OF_A_REGISTER, dot_of_ordered_halves

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic
    from .narrow import NarrowVectors

_LEAST, _MOST = -(1 << 15), (1 << 15) - 1
_TOGETHER = 4  # words of 16 bytes


@dataclass(frozen=True, slots=True)
class _Product:
    """Two factors of 16 bits, each the halves of all lanes (an LLVM vector) or one word for all of them."""

    one: str | Value
    other: str | Value


class PairedProducts:
    """The products and sums that vectors of words are known to be."""

    def __init__(self, lanes: FastArithmetic, halves: NarrowVectors):
        self._lanes = lanes
        self._halves = halves
        self._products: dict[str, _Product] = {}
        self._sums: dict[str, tuple[Value, _Product]] = {}  # what was added last, and to what
        self._ordered: dict[str, str] = {}  # sums -> the same words in the order of their registers
        self._multiplies = multiplies_bytes() and lanes.width % (2 * WORDS_OF_A_REGISTER) == 0

    def note(self, name: str, result: Value, operands: tuple[Value, ...]) -> str:
        """The vector of words that an operation on vectors gives, `result` or one that is found sooner."""
        if name == "mul" and self._multiplies:
            one, other = map(self._factor, operands)
            if one is not None and other is not None:
                # One word for all lanes comes second.
                swapped = isinstance(one, Value) and not isinstance(other, Value)
                self._products[result.ir] = _Product(other, one) if swapped else _Product(one, other)
        elif name == "add" and self._products and self._halves.lower_half_of(result) is None:
            for one, onto in (operands, operands[::-1]):
                product = self._products.get(one.ir)
                if product is None:
                    continue
                if onto.ir in self._sums:
                    return self._added(*self._sums[onto.ir], product)
                if onto.ir in self._products:
                    zero = self._lanes.constant("i32", 0)
                    return self._added(zero, self._products[onto.ir], product)
                self._sums[result.ir] = onto, product
        return result.ir

    def _factor(self, a: Value) -> str | Value | None:
        """A factor of 16 bits; None if it is none, or has another form."""
        bounds = bounds_of(a)
        if bounds is None or bounds[0] < _LEAST or bounds[1] > _MOST:
            return None
        return self._halves.lower_half_of(a) if a.offsets is None else a if a.uniform else None

    def _added(self, onto: Value, first: _Product, second: _Product) -> str:
        """Two products added to a sum."""
        b = self._lanes.builder
        order = [lane for start in range(0, b.width, 2 * WORDS_OF_A_REGISTER) for lane in _order(start)]
        whole = self._ordered.get(onto.ir)
        if whole is None:
            whole = self._lanes.as_vector(onto).ir
            whole = whole if onto.uniform else b.shuffle("i32", b.width, whole, order)
        ones, others = self._pair(first.one, second.one, order), self._pair(first.other, second.other, order)
        found = dot_of_ordered_halves(b, whole, ones, others)
        places = {lane: place for place, lane in enumerate(order)}
        result = b.shuffle("i32", b.width, found, (places[lane] for lane in range(b.width)))
        self._ordered[result] = found
        return result

    def _pair(self, low: str | Value, high: str | Value, order: list[int]) -> str:
        """Words whose halves are two factors."""
        b, lanes = self._lanes.builder, self._lanes
        if isinstance(low, Value) and isinstance(high, Value):
            lower = lanes.apply("and", low, lanes.constant("i32", (1 << 16) - 1))
            upper = lanes.apply("shl", high, lanes.constant("i32", 16))
            return lanes.as_vector(lanes.apply("or", lower, upper)).ir
        halves = [
            lanes.as_vector(lanes.convert("trunc", one, "i16")).ir if isinstance(one, Value) else one
            for one in (low, high)
        ]
        picks = (lane + half * b.width for lane in order for half in (0, 1))
        both = b.shuffle("i16", b.width, halves[0], picks, halves[1])
        return b.value(f"bitcast <{2 * b.width} x i16> {both} to {b.vector('i32')}")


def _order(start: int) -> list[int]:
    """The lanes of two registers of words, in the order in which halves of a register come to them."""
    groups = range(start, start + 2 * WORDS_OF_A_REGISTER, _TOGETHER)
    return [group + lane for first in (0, 1) for group in groups[first::2] for lane in range(_TOGETHER)]
