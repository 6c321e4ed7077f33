"""Known low bits: how many low bits of a value are known, and what they are.

Of a scalar mostly those that are zero, as those of blockIdx.x * blockDim.x + threadIdx.x: then operations on
bits act on the scalar and on the lanes' offsets apart. Rules give the low bits of a result from those of the
operands, as a count and a residue, and the width; operations.py says whose rule each is.
"""

from __future__ import annotations

from collections.abc import Callable

from ...isa.types import BITS, is_float
from .affine import line_of
from .value import Offsets, Value, one_value

LowBits = tuple[int, int]  # how many are known, and what they are
Rule = Callable[[LowBits, LowBits, int], LowBits]


def zeros_of(a: Value) -> int:
    """How many low bits are zero for certain: of a value's scalar, or of every lane of a general vector."""
    if is_float(a.type):
        return 0
    width, line = BITS[a.type], line_of(a)
    return a.zeros if line is None else min(trailing_zeros(part, width) for part in line)


def lane_zeros(a: Value) -> int:
    """How many low bits are zero in all lanes for certain."""
    zeros, width = zeros_of(a), BITS[a.type]
    if a.offsets is None or one_value(a.offsets):
        return zeros
    return min(zeros, *(trailing_zeros(offset, width) for offset in set(a.offsets)))


def trailing_zeros(number: int, width: int) -> int:
    """How many low bits of a number of so many bits are zero."""
    number &= (1 << width) - 1
    return (number & -number).bit_length() - 1 if number else width


def result_zeros(rule: Rule | None, a: Value, b: Value, zeros: Callable[[Value], int]) -> int:
    """How many low bits of a result are zero, given how many of the operands' are."""
    if rule is None:
        return 0
    width = BITS[a.type]
    one, two = ((width, v.constant) if v.constant is not None else (zeros(v), 0) for v in (a, b))
    count, residue = rule(one, two, width)
    return min(trailing_zeros(residue, width), count)


# ------------------------------------------------------------------------------------ rules
def of_both(combine: Callable[[int, int], int]) -> Rule:
    """Of operations whose low bits follow from as many of the operands'."""
    return lambda a, b, width: (min(a[0], b[0]), combine(a[1], b[1]))


def product(a: LowBits, b: LowBits, width: int) -> LowBits:
    """Of mul."""
    return min(a[0] + _zeros(b), b[0] + _zeros(a), width), a[1] * b[1]


def conjunction(a: LowBits, b: LowBits, width: int) -> LowBits:
    """Of and."""
    return max((min(a[0], b[0]), a[1] & b[1]), (_zeros(a), 0), (_zeros(b), 0))


def shifted_left(a: LowBits, b: LowBits, width: int) -> LowBits:
    """Of shl, by a number that is known."""
    if b[0] < width or b[1] >= width:
        return 0, 0
    return min(a[0] + b[1], width), a[1] << b[1]


def shifted_right(a: LowBits, b: LowBits, width: int) -> LowBits:
    """Of lshr and ashr, by a number that is known."""
    if b[0] < width or b[1] >= a[0]:
        return 0, 0
    return a[0] - b[1], a[1] >> b[1]


def _zeros(a: LowBits) -> int:
    """The number of low bits that are known to be zero."""
    count, residue = a
    return (residue & -residue).bit_length() - 1 if residue else count


# ------------------------------------------------------------------------------------ bits apart
def clears_zeros(a: Value, mask: Value) -> bool:
    """Whether a constant mask clears none but low bits that are zero in all lanes."""
    return mask.constant is not None and (~mask.constant & ((1 << BITS[a.type]) - 1)) >> lane_zeros(a) == 0


def fills_zeros(a: Value, b: Value) -> bool:
    """Whether a scalar is one of low bits that are zero in all lanes of a value with a form."""
    if a.offsets is None or not one_value(b.offsets) or b.low is None or b.high is None:
        return False
    return b.low >= 0 and b.high >> lane_zeros(a) == 0


def divide_bits(act: Callable[[int, int, int], int], a: Value, b: Value) -> tuple[int, Offsets] | None:
    """How `and`, `or` or `xor`, as constants fold, acts on scalars and offsets apart, if it may.

    Returns the number of low bits that the offsets have to themselves, and the result's offsets. The scalar
    of a constant has the bits above those.
    """
    if a.offsets is None or b.offsets is None:
        return None
    ends = [_low_bits(value) for value in (a, b)]
    bits, room = max(least for least, _ in ends), min(most for _, most in ends)
    if bits > room:
        return None
    below = (1 << bits) - 1
    one, two = (
        offsets if value.constant is None else (value.constant & below,) * len(offsets)
        for value, offsets in ((a, a.offsets), (b, b.offsets))
    )
    return bits, tuple(act(x, y, BITS[a.type]) for x, y in zip(one, two, strict=True))


def shifted_offsets(a: Value, b: Value) -> Offsets | None:
    """The offsets that `lshr` or `ashr` by a constant leaves, if none of their bits is a scalar's.

    So it is where a thread's number is divided by a power of two, as for the word of a bit mask that is its
    warp's, or its row. It is also so where a shift takes back what another one has done, as compilers extend
    signs: no lane loses a bit, and as none is negative, none wraps.
    """
    if a.offsets is None or b.constant is None or b.constant >= BITS[a.type]:
        return None
    least, room = _low_bits(a)
    whole = a.low is not None and a.low >= 0 and 0 in a.offsets and lane_zeros(a) >= b.constant
    return None if least > room and not whole else tuple(offset >> b.constant for offset in a.offsets)


def whole_multiples(a: Value, divisor: int) -> int | None:
    """How many low bits a value's offsets have to themselves, if `divisor` is a multiple of what those count.

    Then all lanes have one quotient, and what they leave are the same offsets.
    """
    if a.offsets is None:
        return None
    least, room = _low_bits(a)
    return None if least > room or divisor % (1 << least) else least


def _low_bits(a: Value) -> tuple[int, int]:
    """How many low bits a value's offsets take at least, and how many its scalar leaves to them."""
    if a.constant is not None:
        return 0, BITS[a.type]
    assert a.offsets is not None
    if min(a.offsets) < 0:
        return BITS[a.type] + 1, 0
    return max(a.offsets).bit_length(), zeros_of(a)
