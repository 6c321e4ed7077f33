"""Surface instructions (PTX manual, "suld", "sust", "sured", "suq"), with the handle of a surface object in
a register.

`.b` accesses bytes, which x counts, and leaves them as they are; `.p` stores texels, which x counts, in
their format. What becomes of coordinates outside, the instruction says: `.trap` stops the kernel, `.clamp`
takes the nearest, and `.zero` gives zeros and stores nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .lanes import AnyObjectLane, Fetch, Lanes
from .rounding import F16, narrow
from .table import AccessKind, Match, add_row
from .texels import is_field, place_of
from .texture_object import FLOAT, SIGNED
from .textures import query
from .types import LLVM_TYPE, bits, integer_of

V = TypeVar("V")
_Reach = Callable[[Any, Any], Sequence[Any]]  # makes of whether a place is within, and of it, the results

# Coordinates as PTX counts them, axes, and whether the first is a layer.
_GEOMETRIES = {
    "1d": (1, 1, False),
    "2d": (2, 2, False),
    "3d": (4, 3, False),
    "a1d": (2, 1, True),
    "a2d": (4, 2, True),
}
_CLAMPS = "trap clamp zero"
_COUNT = {None: 1, "v2": 2, "v4": 4}


def _reach(
    unit: AnyObjectLane, geometry: str, clamp: str, size: int | None, operands: Sequence[Any], use: _Reach
) -> Sequence[Any]:
    """Find the place of an access of `size` bytes, or of a texel, and use it."""
    count, axes, layered = _GEOMETRIES[geometry]
    zero, one = unit.constant("i32", 0), unit.constant("i32", 1)
    coordinates = list(operands[:count][layered : layered + axes])
    extents = [unit.level_field(zero, name) for name in ("width", "height", "depth")[:axes]]
    if size is not None:
        shift = unit.constant("i32", size.bit_length() - 1)
        coordinates[0] = unit.apply("ashr", coordinates[0], shift)
        extents[0] = unit.apply("lshr", unit.mul(extents[0], unit.field("size")), shift)
    places = coordinates + [zero] * (2 - axes)
    if layered:
        places.append(unit.apply("llvm.umin", operands[0], unit.constant("i32", 0x7FFFFFFF)))
        extents += [one] * (2 - axes) + [unit.field("layers")]
    places += [zero] * (3 - len(places))
    extents += [one] * (3 - len(extents))
    inside = unit.constant("i1", 1)
    for place, extent in zip(places, extents, strict=True):
        inside = unit.and_(inside, unit.compare("ult", place, extent))
    if clamp == "trap":
        unit.fail(unit.not_(inside))
    lasts = [unit.sub(extent, one) for extent in extents]
    places = [
        unit.apply("llvm.smin", unit.apply("llvm.smax", place, zero), last)
        for place, last in zip(places, lasts, strict=True)
    ]
    if size is not None:  # places along x are accesses
        offset = place_of(unit, (zero, *places[1:]), zero)
        step = unit.mul(unit.extend(places[0], "i64", signed=False), unit.constant("i64", size))
        offset = unit.add(offset, step)
    else:
        offset = place_of(unit, places, zero)
    within = unit.constant("i1", 1) if clamp == "clamp" else inside
    unit.visit(within, offset, zero)
    return use(within, offset)


def _load(geometry: str, clamp: str, type_: str, count: int) -> Fetch:
    element = integer_of(LLVM_TYPE[type_])
    step = bits(element) // 8

    def make(unit: AnyObjectLane, *operands: Any) -> Sequence[Any]:
        def use(within: Any, offset: Any) -> Sequence[Any]:
            nothing = [unit.constant(element, 0)] * count
            places = [unit.add(offset, unit.constant("i64", k * step)) for k in range(count)]
            return unit.either(
                within, lambda: [unit.read(place, element) for place in places], lambda: nothing
            )

        return _reach(unit, geometry, clamp, step * count, operands, use)

    return Fetch(f"suld_{geometry}_{clamp}_{type_}_{count}", (element,) * count, make, 1)


def _store(geometry: str, clamp: str, type_: str, count: int) -> Fetch:
    step = bits(LLVM_TYPE[type_]) // 8

    def make(unit: AnyObjectLane, *operands: Any) -> Sequence[Any]:
        def use(within: Any, offset: Any) -> Sequence[Any]:
            def write() -> Sequence[Any]:
                for k, value in enumerate(operands[-count:]):
                    unit.write(unit.add(offset, unit.constant("i64", k * step)), value)
                return ()

            return unit.either(within, write, tuple)

        return _reach(unit, geometry, clamp, step * count, operands, use)

    return Fetch(f"sust_{geometry}_{clamp}_{type_}_{count}", (), make, 1, writes=True)


def _store_texel(geometry: str, clamp: str, count: int) -> Fetch:
    """Words brought into the range of the format's channels; halves are cut."""

    def make(unit: AnyObjectLane, *operands: Any) -> Sequence[Any]:
        words = [*operands[-count:], *[unit.constant("i32", 0)] * (4 - count)]

        def use(within: Any, offset: Any) -> Sequence[Any]:
            def write() -> Sequence[Any]:
                for k, word in enumerate(words):
                    has = unit.compare("ugt", unit.field("channels"), unit.constant("i32", k))
                    unit.either(has, lambda k=k, word=word: _write_channel(unit, offset, k, word), tuple)
                return ()

            return unit.either(within, write, tuple)

        return _reach(unit, geometry, clamp, None, operands, use)

    return Fetch(f"sust_p_{geometry}_{clamp}_{count}", (), make, 1, writes=True)


def _write_channel(unit: AnyObjectLane, offset: Any, number: int, word: Any) -> Sequence[Any]:
    def put(width: int, value: Callable[[], Any]) -> Callable[[], Sequence[Any]]:
        def write() -> Sequence[Any]:
            unit.write(unit.add(offset, unit.constant("i64", number * width // 8)), value())
            return ()

        return write

    def bounded(width: int) -> Any:
        unsigned = unit.apply("llvm.umin", word, unit.constant("i32", (1 << width) - 1))
        signed = unit.clamp(word, -(1 << (width - 1)), (1 << (width - 1)) - 1, signed=True)
        return unit.extend(
            unit.select(is_field(unit, "kind", SIGNED), signed, unsigned), f"i{width}", signed=False
        )

    def short() -> Any:
        exact = unit.convert("fpext", unit.bitcast(word, "float"), "double")
        return unit.select(is_field(unit, "kind", FLOAT), narrow(unit, exact, F16, "rz"), bounded(16))

    return unit.either(
        is_field(unit, "bits", 32),
        put(32, lambda: word),
        lambda: unit.either(is_field(unit, "bits", 16), put(16, short), put(8, lambda: bounded(8))),
    )


def _reduce(geometry: str, clamp: str, operation: str, type_: str, *, texels: bool) -> Fetch:
    """An atomic operation without a result."""
    step = None if texels else bits(LLVM_TYPE[type_]) // 8
    sign = {"u": "u", "s": ""}.get(type_[0], "u")
    named = f"{sign}{operation}" if operation in ("min", "max") else operation

    def make(unit: AnyObjectLane, *operands: Any) -> Sequence[Any]:
        def use(within: Any, offset: Any) -> Sequence[Any]:
            def change() -> Sequence[Any]:
                unit.change(named, offset, operands[-1])
                return ()

            return unit.either(within, change, tuple)

        return _reach(unit, geometry, clamp, step, operands, use)

    name = f"sured_{'p' if texels else 'b'}_{geometry}_{clamp}_{named}_{type_}"
    return Fetch(name, (), make, 1, writes=True)


# ---------------------------------------------------------------------------------------- rows
def _given(lanes: Lanes[V], value: V | tuple[V, ...], type_: str) -> tuple[V, ...]:
    """What is stored, as integers of a type."""
    values: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
    return tuple(lanes.fit(one, integer_of(LLVM_TYPE[type_])) for one in values)


def _clamp(m: Match) -> str:
    return m.clamp or "trap"


for _geometry, (_coordinates, _axes, _layered) in _GEOMETRIES.items():
    _address = f"[a,c*{_coordinates}]"

    def suld(
        lanes: Lanes[V], m: Match, address: tuple[V, ...], geometry: str = _geometry
    ) -> V | tuple[V, ...]:
        """The bytes at a place of a surface."""
        assert m.type is not None
        found = lanes.fetch(_load(geometry, _clamp(m), m.type, _COUNT[m.vec]), address[0], address[1:])
        return found if m.vec else found[0]

    def sust(
        lanes: Lanes[V], m: Match, address: tuple[V, ...], value: V | tuple[V, ...], geometry: str = _geometry
    ) -> None:
        """Write bytes at a place of a surface."""
        assert m.type is not None
        values = _given(lanes, value, m.type)
        lanes.fetch(_store(geometry, _clamp(m), m.type, len(values)), address[0], (*address[1:], *values))

    def sust_p(
        lanes: Lanes[V], m: Match, address: tuple[V, ...], value: V | tuple[V, ...], geometry: str = _geometry
    ) -> None:
        """Write a texel in its format."""
        values = _given(lanes, value, "b32")
        lanes.fetch(_store_texel(geometry, _clamp(m), len(values)), address[0], (*address[1:], *values))

    def sured(lanes: Lanes[V], m: Match, address: tuple[V, ...], value: V, geometry: str = _geometry) -> None:
        """Change an element of a surface indivisibly."""
        assert m.type is not None
        assert m.op is not None
        fetch = _reduce(geometry, _clamp(m), m.op, m.type, texels=m.p is not None)
        lanes.fetch(fetch, address[0], (*address[1:], *_given(lanes, value, m.type)))

    for _vector, _types in (("", "b8 b16 b32 b64"), (".vec", "b8 b16 b32 b64"), (".v4", "b8 b16 b32")):
        _elements = f"{_vector}.type{{.clamp}}" if _vector != ".v4" else ".vec.type{.clamp}"
        _choices = {"type": _types, "clamp": _CLAMPS, "vec": {"": "", ".vec": "v2", ".v4": "v4"}[_vector]}
        _declared: tuple[tuple[str, str, Any, AccessKind], ...] = (
            (f"suld.b.{_geometry}{_elements}", f"d*, {_address}", suld, "surface load"),
            (f"sust.b.{_geometry}{_elements}", f"{_address}, b*", sust, "surface store"),
        )
        for _head, _operands, _meaning, _access in _declared:
            add_row(f"{_head}  {_operands}", unit="memory", meaning=_meaning, access=_access, **_choices)
    add_row(
        f"sust.p.{_geometry}{{.vec}}.type{{.clamp}}  {_address}, b*",
        unit="memory",
        meaning=sust_p,
        access="surface store",
        vec="v2 v4",
        type="b32",
        clamp=_CLAMPS,
    )
    for _form, _op, _type in (
        ("b", "add", "u32 u64 s32"),
        ("b", "min max", "u32 s32"),
        ("b", "and or", "b32"),
        ("p", "add min max and or", "b32"),
    ):
        add_row(
            f"sured.{_form}.op.{_geometry}.type{{.clamp}}  {_address}, b",
            unit="memory",
            meaning=sured,
            access="surface reduction",
            op=_op,
            type=_type,
            clamp=_CLAMPS,
        )


def suq(lanes: Lanes[V], m: Match, a: V) -> V:
    """An extent of the surface."""
    assert m.query is not None
    return lanes.fetch(query(m.query), a, ())[0]


add_row(
    "suq.query.b32  d:b32, [a,c*0]",
    unit="memory",
    meaning=suq,
    access="surface load",
    query="width height depth",
)
