"""The texture unit: from coordinates to texels, and from texels to what an instruction gives.

CUDA C++ Programming Guide, "Texture Fetching": of a coordinate that is filtered, what lies beyond the texel's
centre is a fraction of eight bits. What the guide leaves open was measured (tests/textures). Belongs here: axes,
formats, filters. Which instruction asks for what stands in textures.py. Everything is for one lane at an object
(lanes.py, `ObjectLane`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from .half import unpack
from .lanes import AnyObjectLane, Outline, Table
from .rounding import F16
from .texture_object import BORDER, FLOAT, MIRROR, SIGNED, WRAP

V = Any  # a value of the lane's
Texel = tuple[V, ...]  # four words

FRACTION = 8  # bits of a weight
_ONE = 0x3F800000  # 1.0
_AXES = ("x", "y", "z")
_EXTENTS = {"x": "width", "y": "height", "z": "depth"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a coordinate falls on an axis: two neighbouring texels, -1 for the border, and the weight of the
    second in 256ths."""

    first: V
    second: V
    weight: V


# ---------------------------------------------------------------------------------------- coordinates
def is_field(unit: AnyObjectLane, name: str, value: int = 1) -> V:
    """Whether a field has a value."""
    return unit.compare("eq", unit.field(name), unit.constant("i32", value))


def extent_of(unit: AnyObjectLane, level: V, axis: str) -> V:
    """Texels along an axis of a level."""
    return unit.level_field(level, _EXTENTS[axis])


def _scaled(unit: AnyObjectLane, x: V, axis: str, extent: V) -> V:
    """A coordinate in texels: a float, after wrapping and mirroring, which only fractions have."""

    def fraction() -> tuple[V]:
        whole = unit.apply("llvm.floor", x)
        rest = unit.sub(x, whole)
        half = unit.mul(whole, _float(unit, 0.5))
        odd = unit.compare("une", unit.apply("llvm.floor", half), half)
        turned = unit.select(odd, unit.sub(_float(unit, 1.0), rest), rest)
        mode = f"mode_{axis}"
        folded = unit.select(is_field(unit, mode, WRAP), rest, x)
        folded = unit.select(is_field(unit, mode, MIRROR), turned, folded)
        return (unit.mul(folded, unit.convert("sitofp", extent, "float")),)

    return unit.either(is_field(unit, "normalized"), fraction, lambda: (x,))[0]


def _float(unit: AnyObjectLane, value: float) -> V:
    return unit.convert("fptrunc", unit.constant("double", _double(value)), "float")


def _double(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


def _index(unit: AnyObjectLane, number: V, axis: str, extent: V) -> V:
    """A texel's number brought within an axis as its address mode says; -1 is the border."""
    zero, last = unit.constant("i32", 0), unit.sub(extent, unit.constant("i32", 1))
    below, above = unit.compare("slt", number, zero), unit.compare("sgt", number, last)
    mode = f"mode_{axis}"
    around = unit.select(below, unit.add(number, extent), number)
    around = unit.select(above, unit.sub(number, extent), around)
    wraps = unit.and_(is_field(unit, "normalized"), is_field(unit, mode, WRAP))
    number = unit.select(wraps, around, number)
    clamped = unit.apply("llvm.smin", unit.apply("llvm.smax", number, zero), last)
    outside = unit.and_(unit.or_(below, above), is_field(unit, mode, BORDER))
    return unit.select(outside, unit.constant("i32", -1), clamped)


def nearest(unit: AnyObjectLane, x: V, axis: str, level: V) -> V:
    """The texel in which a coordinate falls."""
    extent = extent_of(unit, level, axis)
    whole = unit.apply("llvm.floor", _scaled(unit, x, axis, extent))
    return _index(unit, unit.convert("llvm.fptosi.sat", whole, "i32"), axis, extent)


def between(unit: AnyObjectLane, x: V, axis: str, level: V) -> Place:
    """The texels between whose centres a coordinate falls."""
    extent = extent_of(unit, level, axis)
    fine = unit.mul(_scaled(unit, x, axis, extent), _float(unit, 256.0))
    rounded = unit.apply("llvm.floor", unit.add(fine, _float(unit, 0.5)))
    fixed = unit.convert("llvm.fptosi.sat", rounded, "i32")
    fixed = unit.apply("llvm.ssub.sat", fixed, unit.constant("i32", 128))
    first = unit.apply("ashr", fixed, unit.constant("i32", FRACTION))
    weight = unit.and_(fixed, unit.constant("i32", 255))
    second = unit.add(first, unit.constant("i32", 1))
    return Place(_index(unit, first, axis, extent), _index(unit, second, axis, extent), weight)


def whole(unit: AnyObjectLane, number: V, axis: str, level: V) -> V:
    """The texel of an integer coordinate."""
    return _index(unit, number, axis, extent_of(unit, level, axis))


# ---------------------------------------------------------------------------------------- texels
def texel(unit: AnyObjectLane, places: Sequence[V], level: V, number: V) -> Texel:
    """The texel at places along three axes, -1 for the border: floats, or integers if they are read as such.

    `number` counts the texels that the instruction reads.
    """
    return unit.function(_TEXEL, (*places, level, number))


def _texel(unit: AnyObjectLane, x: V, y: V, z: V, level: V, number: V) -> Texel:
    zero = unit.constant("i32", 0)
    outside = unit.compare("slt", unit.or_(unit.or_(x, y), z), zero)
    size = unit.mul(unit.field("bits", "i64"), unit.field("channels", "i64"))
    size = unit.apply("lshr", size, unit.constant("i64", 3))
    offset = unit.level_field(level, "offset", "i64")
    for place, step in ((x, size), (y, "row"), (z, "slice")):
        step = unit.level_field(level, step, "i64") if isinstance(step, str) else step
        offset = unit.add(offset, unit.mul(unit.extend(place, "i64", signed=True), step))
    unit.visit(unit.not_(outside), offset, number)
    border = lambda: tuple(_present(unit, k, lambda k=k: unit.field(f"border_{k}")) for k in range(4))  # noqa: E731
    return unit.either(outside, border, lambda: _channels(unit, offset))


_TEXEL = Outline("texel", ("i32",) * 4, _texel)


def _channels(unit: AnyObjectLane, offset: V) -> Texel:
    """The four channels of the texel at an offset."""
    return tuple(_present(unit, k, lambda k=k: _channel(unit, offset, k)) for k in range(4))


def _present(unit: AnyObjectLane, number: int, read: Any) -> V:
    """A channel, or what stands for one that the format has not."""
    if number == 0:
        return read()
    has = unit.compare("ugt", unit.field("channels"), unit.constant("i32", number))
    one = unit.select(gives_floats(unit), unit.constant("i32", _ONE), unit.constant("i32", 1))
    absent = one if number == 3 else unit.constant("i32", 0)
    return unit.either(has, lambda: (read(),), lambda: (absent,))[0]


def gives_floats(unit: AnyObjectLane) -> V:
    """Whether texels are read as floats."""
    return unit.or_(is_field(unit, "kind", FLOAT), is_field(unit, "as_float"))


def _channel(unit: AnyObjectLane, offset: V, number: int) -> V:
    """A channel as a register takes it."""
    bits = unit.field("bits", "i64")
    apart = unit.apply("lshr", unit.mul(bits, unit.constant("i64", number)), unit.constant("i64", 3))
    place = unit.add(offset, apart)
    part = Outline(f"channel{min(number, 3) == 3:d}", ("i32",), _FROM_MEMORY[number == 3])
    return unit.function(part, (place,))[0]


def _read_channel(unit: AnyObjectLane, place: V, *, alpha: bool) -> tuple[V]:
    is_wide, is_short = is_field(unit, "bits", 32), is_field(unit, "bits", 16)

    def wide() -> tuple[V]:
        return (unit.read(place, "i32"),)

    def short() -> tuple[V]:
        raw = unit.read(place, "i16")
        return unit.either(
            is_field(unit, "kind", FLOAT), lambda: (unit.bitcast(unpack(unit, raw, F16), "i32"),), lambda: (_integer(unit, raw, 16),)
        )

    def byte() -> tuple[V]:
        raw = unit.read(place, "i8")
        if alpha:
            return (_integer(unit, raw, 8),)
        return unit.either(
            is_field(unit, "srgb"), lambda: (_linear_light(unit, raw),), lambda: (_integer(unit, raw, 8),)
        )

    return unit.either(is_wide, wide, lambda: unit.either(is_short, short, byte))


_FROM_MEMORY = {
    False: lambda unit, place: _read_channel(unit, place, alpha=False),
    True: lambda unit, place: _read_channel(unit, place, alpha=True),
}


def _integer(unit: AnyObjectLane, raw: V, bits: int) -> V:
    """An integer channel: extended, or as a fraction."""
    signed = is_field(unit, "kind", SIGNED)
    extended = unit.select(signed, unit.extend(raw, "i32", signed=True), unit.extend(raw, "i32", signed=False))

    def fraction() -> tuple[V]:
        most = unit.select(
            signed, unit.constant("i32", (1 << (bits - 1)) - 1), unit.constant("i32", (1 << bits) - 1)
        )
        bounded = unit.apply("llvm.smax", extended, unit.neg(most))
        value = unit.apply(
            "fdiv", unit.convert("sitofp", bounded, "float"), unit.convert("sitofp", most, "float")
        )
        return (unit.bitcast(value, "i32"),)

    return unit.either(is_field(unit, "as_float"), fraction, lambda: (extended,))[0]


def _light(value: int) -> int:
    """sRGB's curve (IEC 61966-2-1) for a byte, as the bits of a float."""
    x = value / 255
    linear = x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4
    return int.from_bytes(struct.pack("<f", linear), "little")


_SRGB = Table("srgb", "i32", tuple(_light(value) for value in range(256)))


def _linear_light(unit: AnyObjectLane, raw: V) -> V:
    """A byte of sRGB as a fraction of the light."""
    return unit.look_up(_SRGB, unit.extend(raw, "i32", signed=False))


# ---------------------------------------------------------------------------------------- filters
def filtered(unit: AnyObjectLane, places: Sequence[Place], rest: Sequence[V], level: V, first: V) -> Texel:
    """The weighted mean of the texels around a point; `rest` are the places along further axes."""
    corners: list[Texel] = []
    weights: list[V] = []
    for number, sides in enumerate(product((0, 1), repeat=len(places))):
        sides = sides[::-1]
        where = [(p.second if side else p.first) for p, side in zip(places, sides, strict=True)]
        corners.append(texel(unit, (*where, *rest), level, unit.add(first, unit.constant("i32", number))))
        weights.append(_weight(unit, places, sides))
    return tuple(_mean(unit, [corner[k] for corner in corners], weights) for k in range(4))


def _weight(unit: AnyObjectLane, places: Sequence[Place], sides: Sequence[int]) -> V:
    """The weight of a corner, a double."""
    total = unit.constant("double", _double(1.0))
    for place, side in zip(places, sides, strict=True):
        own = place.weight if side else unit.sub(unit.constant("i32", 256), place.weight)
        part = unit.mul(unit.convert("sitofp", own, "double"), unit.constant("double", _double(1 / 256)))
        total = unit.mul(total, part)
    return total


def _mean(unit: AnyObjectLane, texels: Sequence[V], weights: Sequence[V]) -> V:
    total = unit.constant("double", 0)
    for one, weight in zip(texels, weights, strict=True):
        value = unit.convert("fpext", unit.bitcast(one, "float"), "double")
        total = unit.add(total, unit.mul(value, weight))
    return unit.bitcast(unit.convert("fptrunc", total, "float"), "i32")
