"""Texture instructions (PTX manual, "tex", "tld4", "txq"), with the handle of a texture object in a register.

What the texture unit makes of coordinates and texels stands in texture_unit.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .lanes import AnyObjectLane, Fetch, Lanes
from .levels import Sample, gradient_level, sample
from .table import Match, add_row
from .texels import is_field, texel
from .texture_unit import between, extent_of

V = TypeVar("V")

# Geometry: coordinates as PTX counts them, axes, and whether the first is a layer.
GEOMETRIES = {
    "1d": (1, 1, False),
    "2d": (2, 2, False),
    "3d": (4, 3, False),
    "a1d": (2, 1, True),
    "a2d": (4, 2, True),
    "cube": (4, 3, False),
    "acube": (4, 3, True),
}
_AXES = ("x", "y", "z")


def _layer(unit: AnyObjectLane, number: Any) -> Any:
    """A layer's number, which has no sign, brought within the texture: the z of its texels."""
    return unit.apply("llvm.umin", number, unit.sub(unit.field("layers"), unit.constant("i32", 1)))


def _take_apart(
    unit: AnyObjectLane, geometry: str, operands: Sequence[Any]
) -> tuple[list[Any], Any, Sequence[Any]]:
    """Coordinates along the axes, the layer (zero if there is none), and what follows."""
    count, axes, layered = GEOMETRIES[geometry]
    coordinates = operands[:count]
    layer = _layer(unit, coordinates[0]) if layered else unit.constant("i32", 0)
    return list(coordinates[layered : layered + axes]), layer, operands[count:]


def _tex(geometry: str, level: str, of: str) -> Fetch:
    """Texels at floating coordinates, or whole ones."""

    def make(unit: AnyObjectLane, *operands: Any) -> Sequence[Any]:
        coordinates, layer, more = _take_apart(unit, geometry, operands)
        if of == "s32":
            chosen = more[0] if level == "level" else unit.constant("i32", 0)
            number = operands[0] if GEOMETRIES[geometry][2] else layer
            return _whole(unit, coordinates, number, chosen)
        return sample(unit, Sample(geometry, tuple(coordinates), layer, _lod(unit, geometry, level, more)))

    axes = max(2, GEOMETRIES[geometry][1] - ("cube" in geometry))
    texels = 1 if of == "s32" else 2**axes * (2 if level else 1)
    return Fetch(f"tex_{level or 'base'}_{geometry}_{of}", ("i32",) * 4, make, texels)


def _lod(unit: AnyObjectLane, geometry: str, level: str, more: Sequence[Any]) -> Any:
    """The level of detail that an instruction names, a float; None for the first level."""
    if level == "level":
        return unit.bitcast(more[0], "float")
    if level == "grad":
        axes = GEOMETRIES[geometry][1]
        half = len(more) // 2
        return gradient_level(
            unit, [unit.bitcast(one, "float") for one in (*more[:axes], *more[half:][:axes])]
        )
    return None


def _whole(unit: AnyObjectLane, coordinates: Sequence[Any], layer: Any, level: Any) -> Sequence[Any]:
    """The texel of whole coordinates; outside there are zeros, and in arrays of one dimension too."""
    zero = unit.constant("i32", 0)
    level = unit.apply("llvm.umin", level, unit.sub(unit.field("levels"), unit.constant("i32", 1)))
    places = [*coordinates, *(zero, layer)[len(coordinates) - 1 :]]
    inside = unit.constant("i1", 1)
    for place, axis in zip(coordinates, _AXES, strict=False):
        inside = unit.and_(inside, unit.compare("ult", place, extent_of(unit, level, axis)))
    layered = is_field(unit, "layered")
    known = unit.compare("ult", layer, unit.field("layers"))
    inside = unit.and_(inside, unit.or_(unit.not_(layered), known))
    if len(coordinates) == 1:
        inside = unit.and_(inside, unit.or_(is_field(unit, "in_memory"), layered))
    return unit.either(inside, lambda: texel(unit, places, level, zero), lambda: [zero] * 4)


def _tld4(geometry: str, component: int) -> Fetch:
    """One component of the four texels that a filter would mix, counterclockwise from the lower left."""

    def make(unit: AnyObjectLane, *operands: Any) -> Sequence[Any]:
        (x, y), layer, _ = _take_apart(unit, geometry, operands)
        level = unit.constant("i32", 0)
        x, y = (
            between(unit, unit.bitcast(one, "float"), axis, level, inside=False)
            for one, axis in ((x, "x"), (y, "y"))
        )
        corners = ((x.first, y.second), (x.second, y.second), (x.second, y.first), (x.first, y.first))
        return [
            texel(unit, (*corner, layer), level, unit.constant("i32", k))[component]
            for k, corner in enumerate(corners)
        ]

    return Fetch(f"tld4_{'rgba'[component]}_{geometry}", ("i32",) * 4, make, 4)


_QUERIES = ("width", "height", "depth")  # what hardware answers of a handle


def query(word: str) -> Fetch:
    """An extent of an object's first level."""
    return Fetch(f"query_{word}", ("i32",), lambda unit: (unit.field(f"query_{word}"),), 0)


def _meaning(fetch: Callable[[Match], Fetch]) -> Callable[..., Any]:
    """What a row does: operands behind the address are words too, or vectors of them."""

    def meaning(lanes: Lanes[V], m: Match, address: tuple[V, ...], *more: V | tuple[V, ...]) -> tuple[V, ...]:
        flat: list[Any] = [word for one in more for word in (one if isinstance(one, tuple) else (one,))]
        found = lanes.fetch(fetch(m), address[0], (*address[1:], *(lanes.fit(word, "i32") for word in flat)))
        return found[:2] if m.vec == "v2" else tuple(lanes.bitcast(one, _register(m)) for one in found)

    return meaning


def _register(m: Match) -> str:
    return "float" if m.type == "f32" else "i32"


_TYPES = "u32 s32 f32"
for _geometry, (_count, _axes, _) in GEOMETRIES.items():
    for _level, _operand in {
        "": "",
        ".level": ", b:of",
        ".grad": f", b*{_axes + (_axes == 3)}:f32, c*{_axes + (_axes == 3)}:f32",
    }.items():
        for _of in ("f32",) if "cube" in _geometry or _level == ".grad" else ("f32", "s32"):
            _fetch = _tex(_geometry, _level[1:], _of)
            add_row(
                f"tex{_level}.{_geometry}.v4.type.of  d*4:type, [a,c*{_count}]{_operand}",
                unit="memory",
                meaning=_meaning(lambda m, fetch=_fetch: fetch),
                access="texture",
                type=_TYPES,
                of=_of,
            )
for _component, _letter in enumerate("rgba"):
    for _geometry in ("2d", "a2d"):
        _fetch = _tld4(_geometry, _component)
        add_row(
            f"tld4.{_letter}.{_geometry}.v4.type.of  d*4:type, [a,c*{GEOMETRIES[_geometry][0]}]",
            unit="memory",
            meaning=_meaning(lambda m, fetch=_fetch: fetch),
            access="texture",
            type=_TYPES,
            of="f32",
        )


def txq(lanes: Lanes[V], m: Match, a: V) -> V:
    """An extent of the object."""
    assert m.query is not None
    return lanes.fetch(query(m.query), a, ())[0]


add_row(
    "txq.query.b32  d:b32, [a,c*0]", unit="memory", meaning=txq, access="texture", query=" ".join(_QUERIES)
)
