"""Mipmap levels and cubemaps: which image of a texture object is sampled, and where.

`sample` brings a level of detail to one or two levels; a direction of a cubemap to a face and a place on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import texture_unit as unit_of
from .lanes import AnyObjectLane, Outline
from .multifunction import log2
from .texels import is_field, mixed_texel, texel
from .texture_object import BORDER

V = Any
_AXES = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Sample:
    """What is sampled: coordinates (words), a layer, and a level of detail (a float; None: the first)."""

    geometry: str
    coordinates: tuple[V, ...]
    layer: V
    lod: V | None


def sample(unit: AnyObjectLane, what: Sample) -> Sequence[V]:
    """The four channels that a texture gives."""
    given = (*what.coordinates, what.layer)
    zero, all_ = unit.constant("i32", 0), unit.constant("i32", 256)
    one = _image(what.geometry, levels=1)
    if what.lod is None:
        return unit.function(one, (*given, zero))
    first, second, weight = _levels(unit, what.lod)
    return unit.either(
        unit.compare("eq", weight, zero),
        lambda: unit.function(one, (*given, first)),
        lambda: unit.function(
            _image(what.geometry, levels=2), (*given, first, unit.sub(all_, weight), second, weight)
        ),
    )


def _levels(unit: AnyObjectLane, lod: V) -> tuple[V, V, V]:
    """Two neighbouring levels and the weight of the second in 256ths; it is 0 where levels are not mixed."""
    as_float = lambda name: unit.bitcast(unit.field(name), "float")  # noqa: E731
    lod = unit.add(lod, as_float("level_bias"))
    lod = unit.apply(
        "llvm.minnum", unit.apply("llvm.maxnum", lod, as_float("lowest_level")), as_float("highest_level")
    )
    fine = unit.mul(lod, unit_of.single(unit, 256.0))
    fixed = unit.convert("llvm.fptosi.sat", unit.apply("llvm.floor", fine), "i32")
    most = unit.apply("shl", unit.sub(unit.field("levels"), unit.constant("i32", 1)), unit.constant("i32", 8))
    zero, eight = unit.constant("i32", 0), unit.constant("i32", 8)
    fixed = unit.apply("llvm.smin", unit.apply("llvm.smax", fixed, zero), most)
    near = unit.apply("ashr", unit.add(fixed, unit.constant("i32", 128)), eight)
    below = unit.apply("ashr", fixed, eight)
    mixes = is_field(unit, "linear_levels")
    weight = unit.select(mixes, unit.and_(fixed, unit.constant("i32", 255)), zero)
    above = unit.apply("llvm.smin", unit.add(below, unit.constant("i32", 1)), unit.apply("ashr", most, eight))
    return unit.select(mixes, below, near), above, weight


def gradient_level(unit: AnyObjectLane, slopes: Sequence[V]) -> V:
    """The level of detail of slopes of the coordinates along two directions: the logarithm of the longer."""
    zero = unit.constant("i32", 0)
    axes = len(slopes) // 2
    lengths: list[V] = []
    for first in (0, axes):
        total = unit_of.single(unit, 0.0)
        for axis, slope in zip(_AXES, slopes[first : first + axes], strict=False):
            extent = unit.convert("sitofp", unit_of.extent_of(unit, zero, axis), "float")
            scale = unit.select(is_field(unit, "normalized"), extent, unit_of.single(unit, 1.0))
            texels = unit.mul(slope, scale)
            total = unit.add(total, unit.mul(texels, texels))
        lengths.append(total)
    longest = unit.apply("llvm.maxnum", *lengths)
    return unit.mul(log2(unit, longest), unit_of.single(unit, 0.5))


# ---------------------------------------------------------------------------------------- images
def _image(geometry: str, levels: int) -> Outline:
    """The part that samples a level, or mixes two: coordinates and layer, and of each level its number, with
    its share in 256ths if there are two."""

    def make(unit: AnyObjectLane, *operands: V) -> Sequence[V]:
        coordinates, (layer, *rest) = (
            operands[: -2 if levels == 1 else -5],
            operands[-2 if levels == 1 else -5 :],
        )
        floats = [unit.bitcast(one, "float") for one in coordinates]
        if "cube" in geometry:
            face, *floats = on_face(unit, floats)
            layer = unit.add(unit.mul(layer, unit.constant("i32", 6)), face)
        shares = [(rest[0], unit.constant("i32", 256))] if levels == 1 else [rest[:2], rest[2:]]
        return unit.either(
            is_field(unit, "linear"),
            lambda: _filtered(unit, floats, layer, shares),
            lambda: _nearest(unit, floats, layer, shares),
        )

    return Outline(f"image{levels}_{geometry}", ("i32",) * 4, make)


Shares = Sequence[Sequence[V]]  # levels with their shares


def _nearest(unit: AnyObjectLane, floats: Sequence[V], layer: V, shares: Shares) -> Sequence[V]:
    def places(level: V) -> tuple[V, ...]:
        found = [unit_of.nearest(unit, x, axis, level) for x, axis in zip(floats, _AXES, strict=False)]
        return (*found, *_rest(unit, len(found), layer))

    if len(shares) == 1:
        level = shares[0][0]
        return texel(unit, places(level), level, unit.constant("i32", 0))
    mixed = [
        (mixed_texel(unit, places(level), level, unit.constant("i32", number)), share)
        for number, (level, share) in enumerate(shares)
    ]
    return unit_of.mixture(unit, mixed)


def _filtered(unit: AnyObjectLane, floats: Sequence[V], layer: V, shares: Shares) -> Sequence[V]:
    def around(*edges: unit_of.Place) -> Sequence[V]:
        parts: list[tuple[tuple[V, ...], V]] = []
        for level, share in shares:
            places = [unit_of.between(unit, x, axis, level) for x, axis in zip(floats, _AXES, strict=False)]
            places += edges
            first = unit.constant("i32", len(parts))
            parts += unit_of.nearby(unit, places, _rest(unit, len(places), layer), level, first, share)
        return unit_of.mixture(unit, parts)

    if len(floats) > 1:
        return around()
    # One dimension is a plane of one row, on whose edge the filter lies: half of its border is mixed in.
    edge = unit_of.Place(unit.constant("i32", -1), unit.constant("i32", 0), unit.constant("i32", 128))
    return unit.either(is_field(unit, "mode_y", BORDER), lambda: around(edge), around)


def _rest(unit: AnyObjectLane, axes: int, layer: V) -> tuple[V, ...]:
    """The places along the axes that an image has not."""
    return {1: (unit.constant("i32", 0), layer), 2: (layer,), 3: ()}[axes]


# ---------------------------------------------------------------------------------------- cubemaps
def on_face(unit: AnyObjectLane, direction: Sequence[V]) -> tuple[V, V, V]:
    """The face that a direction meets, and where, as fractions (CUDA C++ Programming Guide, "Cubemap
    Textures")."""
    x, y, z = direction
    magnitudes = [unit.apply("llvm.fabs", one) for one in direction]
    ax, ay, az = magnitudes
    on_x = unit.and_(unit.compare("ogt", ax, ay), unit.compare("ogt", ax, az))
    on_y = unit.compare("ogt", ay, az)
    choose = lambda a, b, c: unit.select(on_x, a, unit.select(on_y, b, c))  # noqa: E731
    zero = unit_of.single(unit, 0.0)
    k = lambda value: unit.constant("i32", value)  # noqa: E731
    main, longest = choose(x, y, z), choose(ax, ay, az)
    negative = unit.compare("olt", main, zero)
    minus = lambda value: unit.apply("fneg", value)  # noqa: E731
    s = choose(unit.select(negative, z, minus(z)), x, unit.select(negative, minus(x), x))
    t = choose(minus(y), unit.select(negative, minus(z), z), minus(y))
    face = unit.add(choose(k(0), k(2), k(4)), unit.extend(negative, "i32", signed=False))
    half = unit_of.single(unit, 0.5)

    nowhere = unit.compare("oeq", longest, zero)

    def fraction(one: V) -> V:
        place = unit.mul(unit.add(unit.apply("fdiv", one, longest), unit_of.single(unit, 1.0)), half)
        return unit.select(nowhere, half, place)

    return face, fraction(s), fraction(t)
