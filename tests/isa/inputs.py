"""Operand values that instructions go wrong on, and seeded random ones."""

from __future__ import annotations

import random
from fractions import Fraction

from .floats import FORMATS
from .oracles import width


def edges(type_: str) -> list[int]:
    """Bit patterns at the ends of a type."""
    if type_ == "pred":
        return [0, 1]
    bits = width(type_)
    if type_ in FORMATS:
        f = FORMATS[type_]
        magnitudes = [
            0,
            1,
            (1 << f.fraction) - 1,
            1 << f.fraction,
            f.encode(Fraction(1)),
            f.infinity - 1,
            f.infinity,
        ]
        near = [
            f.encode(Fraction(1) * number / 2) for number in (1, 3, 5, 2**32 - 1, 2**33 - 2, 2**64, 2**65)
        ]
        return [
            *magnitudes,
            *(m | f.sign for m in magnitudes),
            f.nan,
            *near,
            near[0] | f.sign,
            near[2] | f.sign,
        ]
    top = 1 << (bits - 1)
    return [0, 1, (1 << bits) - 1, top, top - 1, top + 1, 2, (1 << bits) - 2, 10, bits - 1, bits]


def shift_edges(bits: int) -> list[int]:
    """Shift amounts up to and past a width."""
    return [0, 1, bits - 1, bits, bits + 1, 31, 32, 33, 64, 255, 256, 0x80000000, 0xFFFFFFFF]


# As an immediate, ptxas 13.0 cuts an amount of 2**31 for a 16-bit shift to 0; the manual says it is clamped.
IMMEDIATE_SHIFTS_SKIPPED = (0x80000000,)


def random_pattern(type_: str, rng: random.Random) -> int:
    """Any bits of a type; half of the integers are small, and floats mostly of ordinary size."""
    if type_ == "pred":
        return rng.getrandbits(1)
    bits = width(type_)
    if type_ in FORMATS:
        f = FORMATS[type_]
        if rng.random() < 0.4:
            return rng.getrandbits(bits)
        exponent = f.bias + rng.randint(-8, 34)
        return rng.getrandbits(1) << (bits - 1) | exponent << f.fraction | rng.getrandbits(f.fraction)
    if rng.random() < 0.5:
        return rng.randint(-20, 20) & ((1 << bits) - 1)
    return rng.getrandbits(bits) >> rng.randrange(bits)


def combinations(
    types: tuple[str, ...], shift: int | None, count: int, rng: random.Random
) -> list[tuple[int, ...]]:
    """Sources of one instruction for `count` lanes: pairs of edges first, then random ones.

    `shift` is the width shifted if the last source is a shift amount.
    """
    choices = [edges(type_) for type_ in types]
    if shift is not None:
        choices[-1] = shift_edges(shift)
    found: list[tuple[int, ...]] = []
    first, second = choices[0], choices[1] if len(choices) > 1 else [0]
    for a in first:
        for b in second:
            rest = [rng.choice(options) for options in choices[2:]]
            found.append((a, b, *rest)[: len(types)])
    rng.shuffle(found)
    while len(found) < count:
        mixed = [
            rng.choice(o) if rng.random() < 0.3 else random_pattern(t, rng)
            for t, o in zip(types, choices, strict=True)
        ]
        found.append(tuple(mixed))
    return found[:count]
