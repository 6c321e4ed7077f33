"""Matrix products that Hopper has no instruction for, as ptxas makes them of others.

Bytes (e4m3, e5m2) become halves; the products of four small matrices by m8n8k4 are ordinary arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from .half import pack, unpack
from .lanes import AnyLanes, Lanes, Outline
from .matrix import add_product, multiply, tile
from .matrix_layouts import octet_left, octet_product, octet_right
from .matrix_sums import Chains, Floats
from .rounding import F16, F32, FORMATS, Format, settle, widen
from .table import Match, Meaning

V = TypeVar("V")

_HEAD = "mma.sync.aligned"


# ---------------------------------------------------------------------------------------- bytes
# ptxas makes halves of the lower and the upper two bytes of each register, multiplies one after the other,
# and then adds C.
def _halves_of_bytes(f: Format) -> Outline:
    def make(lanes: AnyLanes, word: Any) -> tuple[Any, ...]:
        halves = [
            pack(lanes, lanes.convert("fptrunc", widen(lanes, byte, f), "float"), F16)
            for byte in lanes.split(word, 4)
        ]
        return lanes.join(halves[:2]), lanes.join(halves[2:])

    return Outline(f"halves_of_e{f.exponent}m{f.fraction}", ("i32", "i32"), make)


def _bytes(shape: str, sums: Format) -> Meaning:
    def meaning(lanes: Lanes[V], m: Match, a: Sequence[V], b: Sequence[V], c: Sequence[V]) -> tuple[V, ...]:
        kind = Floats(F16, sums)
        left, right = (
            list(
                zip(
                    *(lanes.outline(_halves_of_bytes(FORMATS[m.values[type_]]), (word,)) for word in words),
                    strict=True,
                )
            )
            for words, type_ in ((a, "atype"), (b, "btype"))
        )
        total: Sequence[V] = (lanes.constant("i32", 0),) * len(c)
        for x, y in zip(left, right, strict=True):
            total = tile(lanes, kind, shape, x, y, total)
        return tuple(_add_words(lanes, x, y, sums) for x, y in zip(c, total, strict=True))

    return meaning


def _add_words(lanes: Lanes[V], a: V, b: V, f: Format) -> V:
    """The sum of singles, or of the halves in a register."""
    if f is F32:
        total = lanes.add(lanes.bitcast(a, "float"), lanes.bitcast(b, "float"))
        return lanes.bitcast(settle(lanes, total), "i32")
    pairs = zip(lanes.split(a, 2), lanes.split(b, 2), strict=True)
    sums = [lanes.add(unpack(lanes, x, F16), unpack(lanes, y, F16)) for x, y in pairs]
    return lanes.join([pack(lanes, total, F16) for total in sums])


_BYTES = "e4m3 e5m2"
for _shape, _as_halves, _registers in (("m16n8k16", "m16n8k8", (2, 1)), ("m16n8k32", "m16n8k16", (4, 2))):
    for _sums, _count in (("f16", 2), ("f32", 4)):
        _notation = f"{_HEAD}.{_shape}.row.col.{_sums}.atype.btype.{_sums}"
        _meaning = _bytes(_as_halves, FORMATS[_sums])
        add_product(_notation, (_count, *_registers, _count), _meaning, atype=_BYTES, btype=_BYTES)


# ---------------------------------------------------------------------------------------- m8n8k4 of halves
def _in_octets(c_format: Format, d_format: Format) -> Meaning:
    """Four products of one warp, each of eight lanes."""

    def meaning(lanes: Lanes[V], m: Match, a: Sequence[V], b: Sequence[V], c: Sequence[V]) -> tuple[V, ...]:
        label = f"m8n8k4_{m.alayout}_{m.blayout}"
        layouts = (
            octet_left(m.alayout == "row"),
            octet_right(m.blayout == "row"),
            octet_product(c_format.width),
            octet_product(d_format.width),
        )
        return multiply(lanes, Chains(c_format, d_format), label, layouts, a, b, c)

    return meaning


for _c, _d in (("f16", "f16"), ("f16", "f32"), ("f32", "f32")):
    add_product(
        f"{_HEAD}.m8n8k4.alayout.blayout.{_d}.f16.f16.{_c}",
        (octet_product(FORMATS[_d].width).registers, 2, 2, octet_product(FORMATS[_c].width).registers),
        _in_octets(FORMATS[_c], FORMATS[_d]),
        alayout="row col",
        blayout="row col",
    )
