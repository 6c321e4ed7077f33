"""Matrix products by whole fragments: wmma.load, wmma.mma, wmma.store, as nvcuda::wmma of mma.h uses them.

PTX leaves open where a fragment's elements lie, and ptxas makes these of the instructions of mma: a product
of 16 by 16 is two of 16 by 8, one of 8 by 32 two with A and B exchanged. So fragments lie here as they do on
an H200. Those of halves have 8 registers, whatever the shape, which hold elements more than once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .half import pack, unpack
from .lanes import Lanes
from .matrix import add_product, doubles, integers, single_bits, tile
from .matrix_layouts import Layout, dimensions, fragment, repeated
from .matrix_memory import add_load, add_store
from .matrix_sums import Arithmetic, Floats
from .rounding import F16, F32, FORMATS
from .table import Match, Meaning

V = TypeVar("V")

# Some tiles of a product from A, B and C.
Multiply = Callable[[Lanes[V], Match, Sequence[V], Sequence[V], Sequence[V]], tuple[V, ...]]

_SHAPES = ("m16n16k16", "m32n8k16", "m8n32k16")
_HALF_REGISTERS = 8


# ---------------------------------------------------------------------------------------- memory
def _factor(operand: str, shape: str, type_: str, width: int) -> Layout:
    layout = fragment(operand, shape, width)
    return repeated(layout, _HALF_REGISTERS) if type_ == "f16" else layout


# Shapes, types of A and B with their width, types of C and D with theirs.
_FORMS: tuple[tuple[tuple[str, ...], str, int, tuple[tuple[str, int], ...]], ...] = (
    (_SHAPES, "f16", 16, (("f16", 16), ("f32", 32))),
    (_SHAPES, "bf16", 16, (("f32", 32),)),
    (_SHAPES, "s8 u8", 8, (("s32", 32),)),
    (("m16n16k8",), "tf32", 32, (("f32", 32),)),
    (("m8n8k4",), "f64", 64, (("f64", 64),)),
    (("m8n8k32",), "s4 u4", 4, (("s32", 32),)),
    (("m8n8k128",), "b1", 1, (("s32", 32),)),
)


def _add_memory() -> None:
    sums: dict[tuple[str, int], set[str]] = {}
    for shapes, types, width, results in _FORMS:
        for shape in shapes:
            for operand in "ab":
                add_load(_load(operand, shape), _factor(operand, shape, types, width), types)
            for type_, bits in results:
                sums.setdefault((shape, bits), set()).add(type_)
    for (shape, bits), types in sums.items():
        layout, listed = fragment("c", shape, bits), " ".join(sorted(types))
        add_load(_load("c", shape), layout, listed)
        add_store(f"wmma.store.d.sync.aligned.layout.{shape}{{.space}}.type", layout, listed)


def _load(operand: str, shape: str) -> str:
    return f"wmma.load.{operand}.sync.aligned.layout.{shape}{{.space}}.type"


# ---------------------------------------------------------------------------------------- products
_HEAD = "wmma.mma.sync.aligned.alayout.blayout"


def _in_tiles(
    lanes: Lanes[V], kind: Arithmetic, shape: str, a: Sequence[V], b: Sequence[V], c: Sequence[V]
) -> tuple[V, ...]:
    """A product by those of mma."""
    m, n, k = dimensions(shape)
    if n == 32:  # as the transposed one
        return _in_tiles(lanes, kind.swapped, f"m32n8k{k}", b, a, c)
    if m == n == 8:
        return tile(lanes, kind, shape, a, b, c)
    half = len(c) // 2
    found: tuple[V, ...] = ()
    for own, position in ((c[:half], 0), (c[half:], 1)):
        left, right = (_half(a, position), b) if m == 32 else (a, _half(b, position))
        found += tile(lanes, kind, f"m16n8k{k}", left, right, own)
    return found


def _half(words: Sequence[V], position: int) -> Sequence[V]:
    size = len(words) // 2
    return words[position * size : (position + 1) * size]


def _plain(shape: str, choose: Callable[[Match], Arithmetic]) -> Meaning:
    def meaning(lanes: Lanes[V], m: Match, a: Sequence[V], b: Sequence[V], c: Sequence[V]) -> tuple[V, ...]:
        return _in_tiles(lanes, choose(m), shape, a, b, c)

    return meaning


def _halves(shape: str) -> Meaning:
    """Halves; with C and D of different types the product is one of singles."""
    natural = [fragment(operand, shape, 16).registers for operand in "ab"]

    def meaning(lanes: Lanes[V], m: Match, a: Sequence[V], b: Sequence[V], c: Sequence[V]) -> tuple[V, ...]:
        a, b = a[: natural[0]], b[: natural[1]]
        if m.ctype == m.dtype:
            return _in_tiles(lanes, Floats(F16, FORMATS[m.values["dtype"]]), shape, a, b, c)
        if m.ctype == "f16":
            singles = [unpack(lanes, half, F16) for word in c for half in lanes.split(word, 2)]
            c = [lanes.bitcast(single, "i32") for single in singles]
        found = _in_tiles(lanes, Floats(F16, F32), shape, a, b, c)
        if m.dtype == "f32":
            return found
        halves = [pack(lanes, lanes.bitcast(word, "float"), F16) for word in found]
        return tuple(lanes.join(halves[k : k + 2]) for k in range(0, len(halves), 2))

    return meaning


def _tf32(lanes: Lanes[V], m: Match, a: Sequence[V], b: Sequence[V], c: Sequence[V]) -> tuple[V, ...]:
    """By columns of A in fours, one after the other."""
    kind = Floats(FORMATS["tf32"], F32)
    found: tuple[V, ...] = ()
    for right, own in ((b[:2], c[:4]), (b[2:], c[4:])):
        total = tile(lanes, kind, "m16n8k4", a[:2], right[:1], own)
        found += tile(lanes, kind, "m16n8k4", a[2:], right[1:], total)
    return found


def _add(notation: str, shape: str, width: int, meaning: Meaning, sums: int = 32, **choices: str) -> None:
    layouts = (fragment("c", shape, sums), fragment("a", shape, width), fragment("b", shape, width))
    d, a, b = (layout.registers for layout in layouts)
    add_product(notation, (d, a, b, d), meaning, alayout="row col", blayout="row col", **choices)


def _add_products() -> None:
    for shape in _SHAPES:
        for c in ("f16", "f32"):
            for d in ("f16", "f32"):
                sums = [fragment("c", shape, FORMATS[type_].width).registers for type_ in (d, c)]
                registers = (sums[0], _HALF_REGISTERS, _HALF_REGISTERS, sums[1])
                choices = {"dtype": d, "ctype": c, "alayout": "row col", "blayout": "row col"}
                add_product(f"{_HEAD}.{shape}.dtype.ctype", registers, _halves(shape), **choices)
        kind = Floats(FORMATS["bf16"], F32)
        _add(f"{_HEAD}.{shape}.f32.bf16.bf16.f32", shape, 16, _plain(shape, lambda m, kind=kind: kind))
    _add(f"{_HEAD}.m16n16k8.f32.tf32.tf32.f32", "m16n16k8", 32, _tf32)
    for shape, width in (*((shape, 8) for shape in _SHAPES), ("m8n8k32", 4)):
        notation = f"{_HEAD}.{shape}.s32.atype.btype.s32{{.satfinite}}"
        types = dict.fromkeys(("atype", "btype"), f"s{width} u{width}")
        meaning = _plain(shape, lambda m, width=width: integers(m, width))
        _add(notation, shape, width, meaning, **types)
    head = f"{_HEAD}.m8n8k4.f64.f64.f64.f64{{.rnd}}"
    _add(head, "m8n8k4", 64, _plain("m8n8k4", doubles), 64, rnd="rn rz rm rp")
    add_product(
        "wmma.mma.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
        (2, 1, 1, 2),
        _plain("m8n8k4", single_bits),  # in words of 32 bits
        op="and xor",
    )


_add_memory()
_add_products()
