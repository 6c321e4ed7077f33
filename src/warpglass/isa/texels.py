"""Texels: where they lie, and what their channels are to an instruction and to a filter.

An instruction gets a channel as a word: a float, or an integer extended to 32 bits. A filter gets fractions
of 8 and 16 bits as integers of 16 (texture_object.py, `fraction_of_16`), all others as floats. A channel
that a format has not is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .half import unpack
from .lanes import AnyObjectLane, Outline
from .rounding import F16
from .srgb import LIGHT
from .texture_object import FLOAT, SIGNED

V = Any
Texel = tuple[V, ...]
_Reader = Callable[[AnyObjectLane, V, int], V]  # the bits of a channel of 8 or 16 as a word


def is_field(unit: AnyObjectLane, name: str, value: int = 1) -> V:
    """Whether a field has a value."""
    return unit.compare("eq", unit.field(name), unit.constant("i32", value))


def gives_halves(unit: AnyObjectLane) -> V:
    """Whether what is mixed has the precision of halves."""
    halves = unit.and_(is_field(unit, "kind", FLOAT), is_field(unit, "bits", 16))
    return unit.or_(halves, is_field(unit, "srgb"))


def mixes_fractions(unit: AnyObjectLane) -> V:
    """Whether filters mix fractions of 16 bits."""
    return unit.and_(is_field(unit, "as_float"), unit.not_(is_field(unit, "srgb")))


def place_of(unit: AnyObjectLane, places: Sequence[V], level: V) -> V:
    """How many bytes a texel lies from the first."""
    offset = unit.level_field(level, "offset", "i64")
    steps = (unit.field("size", "i64"), *(unit.level_field(level, name, "i64") for name in ("row", "slice")))
    for place, step in zip(places, steps, strict=True):
        offset = unit.add(offset, unit.mul(unit.extend(place, "i64", signed=True), step))
    return offset


def texel(unit: AnyObjectLane, places: Sequence[V], level: V, number: V) -> Texel:
    """The texel at places along three axes, -1 for the border, as an instruction gives it.

    `number` counts the texels that the instruction reads.
    """
    return unit.function(_GIVEN, (*places, level, number))


def mixed_texel(unit: AnyObjectLane, places: Sequence[V], level: V, number: V) -> Texel:
    """The same as filters take it."""
    return unit.function(_MIXED, (*places, level, number))


def _part(name: str, border: str, read: _Reader) -> Outline:
    def make(unit: AnyObjectLane, x: V, y: V, z: V, level: V, number: V) -> Texel:
        outside = unit.compare("slt", unit.or_(unit.or_(x, y), z), unit.constant("i32", 0))
        offset = place_of(unit, (x, y, z), level)
        unit.visit(unit.not_(outside), offset, number)
        return unit.either(
            outside,
            lambda: tuple(present(unit, k, lambda k=k: unit.field(f"{border}_{k}")) for k in range(4)),
            lambda: tuple(
                present(unit, k, lambda k=k: _channel(unit, name, read, offset, k)) for k in range(4)
            ),
        )

    return Outline(name, ("i32",) * 4, make)


def present(unit: AnyObjectLane, number: int, read: Callable[[], V]) -> V:
    """A channel, or zero for one that the format has not."""
    if number == 0:
        return read()
    has = unit.compare("ugt", unit.field("channels"), unit.constant("i32", number))
    return unit.either(has, lambda: (read(),), lambda: (unit.constant("i32", 0),))[0]


def _channel(unit: AnyObjectLane, name: str, read: _Reader, offset: V, number: int) -> V:
    """A channel of the texel at an offset."""
    apart = unit.apply(
        "lshr", unit.mul(unit.field("bits", "i64"), unit.constant("i64", number)), unit.constant("i64", 3)
    )
    alpha = number == 3
    part = Outline(
        f"{name}_{'alpha' if alpha else 'channel'}",
        ("i32",),
        lambda unit, place: _read_channel(unit, place, read, alpha=alpha),
    )
    return unit.function(part, (unit.add(offset, apart),))[0]


def _read_channel(unit: AnyObjectLane, place: V, read: _Reader, *, alpha: bool) -> tuple[V]:
    def short() -> tuple[V]:
        raw = unit.read(place, "i16")
        return unit.either(
            is_field(unit, "kind", FLOAT),
            lambda: (unit.bitcast(unpack(unit, raw, F16), "i32"),),
            lambda: (read(unit, raw, 16),),
        )

    def byte() -> tuple[V]:
        raw = unit.read(place, "i8")
        return unit.either(
            is_field(unit, "srgb"), lambda: (_light(unit, raw, alpha=alpha),), lambda: (read(unit, raw, 8),)
        )

    return unit.either(
        is_field(unit, "bits", 32),
        lambda: (unit.read(place, "i32"),),
        lambda: unit.either(is_field(unit, "bits", 16), short, byte),
    )


def _light(unit: AnyObjectLane, raw: V, *, alpha: bool) -> V:
    """A byte of sRGB as a fraction of the light; the fourth channel is a plain fraction."""
    return _fraction(unit, raw, 8) if alpha else unit.look_up(LIGHT, unit.extend(raw, "i32", signed=False))


def _extended(unit: AnyObjectLane, raw: V) -> V:
    both = (unit.extend(raw, "i32", signed=signed) for signed in (True, False))
    return unit.select(is_field(unit, "kind", SIGNED), *both)


def _given(unit: AnyObjectLane, raw: V, bits: int) -> V:
    """An integer: extended, or as a float."""
    return unit.either(
        is_field(unit, "as_float"), lambda: (_fraction(unit, raw, bits),), lambda: (_extended(unit, raw),)
    )[0]


def _fraction(unit: AnyObjectLane, raw: V, bits: int) -> V:
    """An integer as a fraction of the largest, in the bits of a float."""
    signed = is_field(unit, "kind", SIGNED)
    most = unit.select(signed, *(unit.constant("i32", (1 << one) - 1) for one in (bits - 1, bits)))
    value = unit.apply("llvm.smax", _extended(unit, raw), unit.neg(most))
    parts = (unit.convert("sitofp", one, "float") for one in (value, most))
    return unit.bitcast(unit.apply("fdiv", *parts), "i32")


def _mixed(unit: AnyObjectLane, raw: V, bits: int) -> V:
    """An integer as a fraction in 16 bits."""
    value = _extended(unit, raw)
    k = lambda number: unit.constant("i32", number)  # noqa: E731
    if bits == 16:
        least = unit.select(is_field(unit, "kind", SIGNED), k(-0x7FFF), k(0))
        return unit.apply("llvm.smax", value, least)
    size = unit.apply("llvm.smax", value, unit.neg(value))
    repeated = unit.add(unit.mul(size, k(0x102)), unit.apply("lshr", size, k(6)))
    repeated = unit.select(unit.compare("slt", value, k(0)), unit.neg(repeated), repeated)
    return unit.select(is_field(unit, "kind", SIGNED), repeated, unit.mul(value, k(0x101)))


_GIVEN = _part("texel", "border", _given)
_MIXED = _part("mixed_texel", "mixed_border", _mixed)
