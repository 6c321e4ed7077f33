"""The texture unit: from coordinates to texels, and from texels to what an instruction gives.

CUDA C++ Programming Guide, "Texture Fetching", says which texels are read and how they are mixed, with
weights of eight bits. What it leaves open was measured on an H100 (tests/textures):

* A fraction is cut to 21 bits, or to as many more as an extent needs for 256 places a texel, before it is
  multiplied by the extent. Places are rounded to the nearest 256th of a texel, halves up.
* Products of weights are rounded to eight bits so that all of them sum to one.
* Floats are cut to 28 bits (halves to 15) counted from the largest texel's first, and their sum is rounded,
  halves away from zero. Smaller formats are mixed as fractions of 16 bits.

Belongs here: axes and filters. Everything is for one lane at an object (lanes.py, `ObjectLane`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .lanes import AnyObjectLane, Outline
from .texels import gives_halves, is_field, mixed_texel, mixes_fractions, present
from .texture_object import BORDER, MIRROR, SIGNED, WRAP

V = Any  # a value of the lane's
Texel = tuple[V, ...]  # four words

_AXES = ("x", "y", "z")
_EXTENTS = {"x": "width", "y": "height", "z": "depth"}
_FRACTION = 21  # bits of a fraction, at least
_LARGEST = 2.0**30  # coordinates beyond are that


@dataclass(frozen=True, slots=True)
class Place:
    """Where a coordinate falls on an axis: two neighbouring texels, -1 for the border, and the weight of the
    second in 256ths."""

    first: V
    second: V
    weight: V


def single(unit: AnyObjectLane, value: float) -> V:
    """A float."""
    return unit.convert("fptrunc", double(unit, value), "float")


def double(unit: AnyObjectLane, value: float) -> V:
    """A double."""
    return unit.constant("double", int.from_bytes(struct.pack("<d", value), "little"))


# ---------------------------------------------------------------------------------------- coordinates
def extent_of(unit: AnyObjectLane, level: V, axis: str) -> V:
    """Texels along an axis of a level."""
    return unit.level_field(level, _EXTENTS[axis])


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A coordinate in 512ths of a texel, an i64, and whether it was mirrored an odd number of times."""

    value: V
    mirrored: V


def _fixed(unit: AnyObjectLane, x: V, axis: str, extent: V) -> _Fixed:
    least = unit.bitcast(unit.constant("i32", 1 << 23), "float")
    known = unit.compare("oge", unit.apply("llvm.fabs", x), least)  # neither NaN nor subnormal
    exact = unit.convert("fpext", unit.select(known, x, single(unit, 0.0)), "double")
    exact = unit.apply("llvm.maxnum", exact, double(unit, -_LARGEST))
    exact = unit.apply("llvm.minnum", exact, double(unit, _LARGEST))
    found = unit.either(
        is_field(unit, "normalized"),
        lambda: _fixed_fraction(unit, exact, axis, extent),
        lambda: (_floor(unit, unit.mul(exact, double(unit, 512.0))), unit.constant("i1", 0)),
    )
    return _Fixed(*found)


def _floor(unit: AnyObjectLane, exact: V) -> V:
    return unit.convert("llvm.fptosi.sat", unit.apply("llvm.floor", exact), "i64")


def _fixed_fraction(unit: AnyObjectLane, exact: V, axis: str, extent: V) -> tuple[V, V]:
    k = lambda value: unit.constant("i64", value)  # noqa: E731
    wide = unit.extend(extent, "i64", signed=False)
    places = unit.sub(k(64 + 8), unit.apply("llvm.ctlz", unit.sub(wide, k(1))))
    places = unit.apply("llvm.smax", places, k(_FRACTION))
    one = unit.apply("shl", k(1), places)
    number = _floor(unit, unit.mul(exact, unit.convert("sitofp", one, "double")))
    twice = unit.and_(number, unit.sub(unit.add(one, one), k(1)))
    odd = unit.and_(is_field(unit, f"mode_{axis}", MIRROR), unit.compare("uge", twice, one))
    folded = unit.select(is_field(unit, f"mode_{axis}", WRAP), unit.and_(number, unit.sub(one, k(1))), number)
    folded = unit.select(is_field(unit, f"mode_{axis}", MIRROR), twice, folded)
    folded = unit.select(odd, unit.sub(unit.add(one, one), twice), folded)
    return unit.apply("ashr", unit.mul(folded, wide), unit.sub(places, k(9))), odd


def _texel_number(unit: AnyObjectLane, fixed: V, shift: int) -> V:
    """A place in 2**-shift texels as the number of a texel that an i32 holds."""
    whole = unit.apply("ashr", fixed, unit.constant("i64", shift))
    low, high = unit.constant("i64", -(1 << 30)), unit.constant("i64", 1 << 30)
    return unit.extend(unit.apply("llvm.smin", unit.apply("llvm.smax", whole, low), high), "i32", signed=True)


def _index(unit: AnyObjectLane, number: V, axis: str, extent: V) -> V:
    """A texel's number brought within an axis as its address mode says; -1 is the border."""
    zero, last = unit.constant("i32", 0), unit.sub(extent, unit.constant("i32", 1))
    below, above = unit.compare("slt", number, zero), unit.compare("sgt", number, last)
    clamped = unit.apply("llvm.smin", unit.apply("llvm.smax", number, zero), last)
    around = unit.select(below, last, unit.select(above, zero, number))
    outside = unit.and_(unit.or_(below, above), is_field(unit, f"mode_{axis}", BORDER))
    return unit.select(outside, unit.constant("i32", -1), unit.select(_wraps(unit, axis), around, clamped))


def _wraps(unit: AnyObjectLane, axis: str) -> V:
    """Whether the last texel of an axis is next to the first: fractions only wrap."""
    return unit.and_(is_field(unit, "normalized"), is_field(unit, f"mode_{axis}", WRAP))


def _repeats(unit: AnyObjectLane, axis: str) -> V:
    """Whether an axis begins again where it ends, or turns round."""
    mirrors = unit.and_(is_field(unit, "normalized"), is_field(unit, f"mode_{axis}", MIRROR))
    return unit.or_(_wraps(unit, axis), mirrors)


def nearest(unit: AnyObjectLane, x: V, axis: str, level: V) -> V:
    """The texel in which a coordinate falls."""
    extent = extent_of(unit, level, axis)
    return _index(unit, _texel_number(unit, _fixed(unit, x, axis, extent).value, 9), axis, extent)


def between(unit: AnyObjectLane, x: V, axis: str, level: V, *, inside: bool = True) -> Place:
    """The texels between whose centres a coordinate falls; `inside` keeps them from edges."""
    extent = extent_of(unit, level, axis)
    k = lambda value: unit.constant("i64", value)  # noqa: E731
    fixed = _fixed(unit, x, axis, extent)
    fine = unit.sub(unit.apply("ashr", unit.add(fixed.value, k(1)), k(1)), k(128))
    # Between an edge and the nearest centre there is nothing to mix, unless texels go on behind it.
    last = unit.apply("shl", unit.sub(unit.extend(extent, "i64", signed=False), k(1)), k(8))
    inner = unit.apply("llvm.smin", unit.apply("llvm.smax", fine, k(0)), last)
    goes_on = unit.or_(is_field(unit, f"mode_{axis}", BORDER), _repeats(unit, axis))
    fine = unit.select(goes_on, fine, inner) if inside else fine
    # What is mirrored is looked at from the other side: the neighbours change places.
    fine = unit.select(fixed.mirrored, unit.neg(fine), fine)
    first = _texel_number(unit, fine, 8)
    weight = unit.extend(unit.and_(fine, k(255)), "i32", signed=False)
    numbers = (first, unit.add(first, unit.constant("i32", 1)))
    first, second = (
        _index(unit, unit.select(fixed.mirrored, unit.neg(one), one), axis, extent) for one in numbers
    )
    return Place(first, second, weight)


# ---------------------------------------------------------------------------------------- filters
Corner = tuple[int, ...]  # 0 or 1 along each axis


def nearby(
    unit: AnyObjectLane, places: Sequence[Place], rest: Sequence[V], level: V, first: V, share: V
) -> list[tuple[Texel, V]]:
    """The texels around a point with their weights in 256ths, `share` in all; `rest` are places along further
    axes, `first` numbers the texels."""
    found: list[tuple[Texel, V]] = []
    for number, (corner, weight) in enumerate(_weights(unit, places, share).items()):
        where = [(p.second if side else p.first) for p, side in zip(places, corner, strict=True)]
        index = unit.add(first, unit.constant("i32", number))
        found.append((mixed_texel(unit, (*where, *rest), level, index), weight))
    return found


def _weights(unit: AnyObjectLane, places: Sequence[Place], share: V) -> dict[Corner, V]:
    """The weight of each corner: a share is parted along z, then x, then y, each time rounded."""
    x, *others = (place.weight for place in places)
    z = others[1] if len(others) > 1 else None
    slices = {0: share} if z is None else _parted(unit, share, z)
    found: dict[Corner, V] = {}
    for depth, slice_ in slices.items():
        for side, column in _parted(unit, slice_, x).items():
            rows = {0: column} if not others else _parted(unit, column, others[0], from_below=side == 0)
            for row, weight in rows.items():
                found[(side, row, depth)[: len(places)]] = weight
    return found


def _parted(unit: AnyObjectLane, share: V, weight: V, *, from_below: bool = False) -> dict[int, V]:
    """A share in two: the upper part is rounded and the lower is the rest, or, from below, the other way."""
    part = unit.sub(unit.constant("i32", 256), weight) if from_below else weight
    product = unit.add(unit.mul(share, part), unit.constant("i32", 128))
    rounded = unit.apply("lshr", product, unit.constant("i32", 8))
    rest = unit.sub(share, rounded)
    return {0: rounded, 1: rest} if from_below else {0: rest, 1: rounded}


def mixture(unit: AnyObjectLane, parts: Sequence[tuple[Texel, V]]) -> Texel:
    """The weighted mean of texels."""
    weights = [weight for _, weight in parts]
    return tuple(
        present(unit, k, lambda k=k: mean(unit, [texel[k] for texel, _ in parts], weights)) for k in range(4)
    )


def mean(unit: AnyObjectLane, texels: Sequence[V], weights: Sequence[V]) -> V:
    """The mean of a channel of texels, words as filters take them, with weights in 256ths."""
    count = len(texels)
    part = Outline(
        f"mean{count}", ("i32",), lambda unit, *words: (_mean(unit, words[:count], words[count:]),)
    )
    return unit.function(part, (*texels, *weights))[0]


def _mean(unit: AnyObjectLane, texels: Sequence[V], weights: Sequence[V]) -> V:
    return unit.either(
        mixes_fractions(unit),
        lambda: (_mean_of_fractions(unit, texels, weights),),
        lambda: (_mean_of_floats(unit, texels, weights),),
    )[0]


def _mean_of_fractions(unit: AnyObjectLane, texels: Sequence[V], weights: Sequence[V]) -> V:
    total = unit.constant("i32", 128)
    for one, weight in zip(texels, weights, strict=True):
        total = unit.add(total, unit.mul(one, weight))
    rounded = unit.apply("ashr", total, unit.constant("i32", 8))
    signed = is_field(unit, "kind", SIGNED)
    least = unit.select(signed, unit.constant("i32", -0x7FFF), unit.constant("i32", 0))
    rounded = unit.apply("llvm.smax", rounded, least)
    most = unit.select(signed, single(unit, 32767.0), single(unit, 65535.0))
    return unit.bitcast(unit.apply("fdiv", unit.convert("sitofp", rounded, "float"), most), "i32")


def _mean_of_floats(unit: AnyObjectLane, texels: Sequence[V], weights: Sequence[V]) -> V:
    k = lambda value: unit.constant("i64", value)  # noqa: E731
    zero = double(unit, 0.0)
    values = [unit.convert("fpext", unit.bitcast(one, "float"), "double") for one in texels]
    largest = zero
    for value, weight in zip(values, weights, strict=True):
        counts = unit.compare("ne", weight, unit.constant("i32", 0))
        size = unit.select(counts, unit.apply("llvm.fabs", value), zero)
        largest = unit.apply("llvm.maxnum", largest, size)
    exponent = unit.sub(unit.apply("lshr", unit.bitcast(largest, "i64"), k(52)), k(1023))
    exponent = unit.apply("llvm.smax", exponent, k(-200))
    kept = unit.select(gives_halves(unit), k(14), k(27))
    down = unit.bitcast(unit.apply("shl", unit.add(unit.sub(kept, exponent), k(1023)), k(52)), "double")
    up = unit.bitcast(unit.apply("shl", unit.add(unit.sub(exponent, kept), k(1023 - 8)), k(52)), "double")
    total = zero
    for value, weight in zip(values, weights, strict=True):
        cut = unit.apply("llvm.trunc", unit.mul(value, down))
        total = unit.add(total, unit.mul(cut, unit.convert("sitofp", weight, "double")))
    total = unit.mul(total, up)
    return unit.either(
        gives_halves(unit),
        lambda: (unit.bitcast(_as_half(unit, total), "i32"),),
        lambda: (unit.bitcast(_as_single(unit, total), "i32"),),
    )[0]


def _as_single(unit: AnyObjectLane, total: V) -> V:
    """A sum of few bits rounded, halves away from zero: one more in its last place makes them more."""
    above = unit.bitcast(unit.add(unit.bitcast(total, "i64"), unit.constant("i64", 1)), "double")
    return unit.convert("fptrunc", above, "float")


def _as_half(unit: AnyObjectLane, total: V) -> V:
    """A sum rounded to the eleven bits of a half, halves away from zero."""
    k = lambda value: unit.constant("i64", value)  # noqa: E731
    pattern = unit.add(unit.bitcast(total, "i64"), k(1 << 41))
    normal = unit.bitcast(unit.and_(pattern, k(-(1 << 42))), "double")
    grid = unit.mul(unit.apply("llvm.fabs", total), double(unit, 2.0**24))
    near = unit.mul(unit.apply("llvm.floor", unit.add(grid, double(unit, 0.5))), double(unit, 2.0**-24))
    near = unit.select(unit.compare("olt", total, double(unit, 0.0)), unit.apply("fneg", near), near)
    small = unit.compare("olt", unit.apply("llvm.fabs", total), double(unit, 2.0**-14))
    return unit.convert("fptrunc", unit.select(small, near, normal), "float")
