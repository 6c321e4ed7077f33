"""Matrix products of a warp: mma (PTX manual, "Warp-level Matrix Multiply-Accumulate Instructions").

matrix_layouts.py says which lane holds which element, matrix_sums.py what is computed of them. A product's
code is long, so that each is a function of its own in the kernel (`lanes.outline`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from .lanes import AnyLanes, Lanes, Outline
from .matrix_layouts import LANES, Entry, Layout, fragment, register_bits
from .matrix_sums import Arithmetic, Bits, Doubles, Floats, Integers
from .rounding import FORMATS
from .table import Match, Meaning, add_row
from .types import is_signed

V = TypeVar("V")

Layouts = Sequence[Layout]  # of A, B, C and D


# ---------------------------------------------------------------------------------------- the product
class _Matrix(Generic[V]):
    """A matrix that lies in a warp's registers; an element is a tuple of lane values."""

    def __init__(
        self,
        lanes: Lanes[V],
        layout: Layout,
        elements: Sequence[tuple[V, ...]],
        prepare: Callable[[Lanes[V], tuple[V, ...]], tuple[V, ...]],
    ):
        self.lanes = lanes
        self.layout = layout
        self.elements = elements
        self.prepare = prepare
        self._known: dict[tuple[Entry, ...], tuple[V, ...]] = {}

    def at(self, places: tuple[Entry, ...]) -> tuple[V, ...]:
        """The element that each lane names."""
        if places not in self._known:
            self._known[places] = self.prepare(self.lanes, self._gather(places))
        return self._known[places]

    def _gather(self, places: tuple[Entry, ...]) -> tuple[V, ...]:
        found = [self.layout.where[place] for place in places]
        sources = tuple(lane for _, lane in found)
        first, *others = dict.fromkeys(element for element, _ in found)
        result = self._moved(first, sources)
        for other in others:
            chosen = self.lanes.lane_constants("i1", tuple(int(element == other) for element, _ in found))
            moved = self._moved(other, sources)
            result = tuple(self.lanes.select(chosen, x, y) for x, y in zip(moved, result, strict=True))
        return result

    def _moved(self, element: int, sources: tuple[int, ...]) -> tuple[V, ...]:
        if sources == tuple(range(LANES)):
            return self.elements[element]
        return tuple(self.lanes.permute(part, sources) for part in self.elements[element])


def _product(kind: Arithmetic, layouts: Layouts) -> Callable[..., tuple[Any, ...]]:
    """What an outline makes: the registers of D from those of A, B and C."""
    count = [layout.registers for layout in layouts[:3]]

    def make(lanes: AnyLanes, *registers: Any) -> tuple[Any, ...]:
        depth = 1 + max(column for _, column in layouts[0].where)
        words = iter(registers)
        a, b, c = ([next(words) for _ in range(n)] for n in count)
        left, right = (
            _Matrix(lanes, layout, [e for word in part for e in kind.unpack(lanes, word, name)], kind.prepare)
            for layout, part, name in zip(layouts, (a, b), "ab", strict=False)
        )
        parts = [(part,) for word in c for part in _parts(lanes, word, kind.sum_width)]
        sums = _Matrix(lanes, layouts[2], parts, lambda lanes, element: element)
        results: list[Any] = []
        for places in layouts[3].places:
            row = [left.at(tuple((i, k) for i, _ in places)) for k in range(depth)]
            column = [right.at(tuple((k, j) for _, j in places)) for k in range(depth)]
            results.append(kind.dot(lanes, list(zip(row, column, strict=True)), sums.at(places)[0]))
        return _words(lanes, results, kind.result_width)

    return make


def _parts(lanes: Lanes[V], word: V, width: int) -> tuple[V, ...]:
    return (word,) if width >= 32 else lanes.split(word, 32 // width)


def _words(lanes: Lanes[V], parts: Sequence[V], width: int) -> tuple[V, ...]:
    per = register_bits(width) // width
    if per == 1:
        return tuple(parts)
    return tuple(lanes.join(parts[first : first + per]) for first in range(0, len(parts), per))


def multiply(
    lanes: Lanes[V],
    kind: Arithmetic,
    label: str,
    layouts: Layouts,
    a: Sequence[V],
    b: Sequence[V],
    c: Sequence[V],
) -> tuple[V, ...]:
    """The registers of a product, from code that is there once; `label` tells the layouts from others."""
    results = ("double" if kind.result_width == 64 else "i32",) * layouts[3].registers
    outline = Outline(f"mma_{label}_{kind.name}", results, _product(kind, layouts))
    return lanes.outline(outline, (*a, *b, *c))


def tile(
    lanes: Lanes[V], kind: Arithmetic, shape: str, a: Sequence[V], b: Sequence[V], c: Sequence[V]
) -> tuple[V, ...]:
    """The product of a shape of mma."""
    return multiply(lanes, kind, shape, layouts_of(kind, shape), a, b, c)


def layouts_of(kind: Arithmetic, shape: str) -> Layouts:
    """Those of a shape of mma."""
    a, b = (fragment(operand, shape, kind.width) for operand in "ab")
    return a, b, fragment("c", shape, kind.sum_width), fragment("c", shape, kind.result_width)


def add_product(notation: str, registers: Sequence[int], meaning: Meaning, **choices: str) -> None:
    """A row for a product: the numbers of registers are D's, A's, B's and C's."""
    type_ = "f64" if "f64" in notation else "b32"
    operands = ", ".join(f"{name}*{count}:{type_}" for name, count in zip("dabc", registers, strict=True))
    extra: dict[str, Any] = dict(choices)
    add_row(f"{notation}  {operands}", unit="tensor", meaning=meaning, **extra)


# ---------------------------------------------------------------------------------------- mma
def _add(
    notation: str, shape: str, choose: Callable[[Match], Arithmetic], like: Arithmetic, **choices: str
) -> None:
    """Rows whose arithmetic `choose` makes of the modifiers, its elements as wide as those of `like`."""

    def meaning(lanes: Lanes[V], m: Match, a: Sequence[V], b: Sequence[V], c: Sequence[V]) -> tuple[V, ...]:
        return tile(lanes, choose(m), shape, a, b, c)

    a, b, c, _ = (layout.registers for layout in layouts_of(like, shape))
    add_product(notation, (c, a, b, c), meaning, **choices)


def integers(m: Match, width: int) -> Arithmetic:
    """The arithmetic that a form of integers asks for."""
    signs = (is_signed(m.values[name]) for name in ("atype", "btype"))
    return Integers(width, *signs, saturate=m.satfinite is not None)


def single_bits(m: Match) -> Arithmetic:
    """The arithmetic that a form of single bits asks for."""
    return Bits(m.values["op"])


def doubles(m: Match) -> Arithmetic:
    """The arithmetic that a form of double precision asks for."""
    return Doubles(m.rnd or "rn")


_HEAD = "mma.sync.aligned"
_FLOATS = (("m16n8k8", "f16", "f16"), ("m16n8k8", "f16", "f32"), ("m16n8k16", "f16", "f16"))
_FLOATS += (("m16n8k16", "f16", "f32"), ("m16n8k8", "bf16", "f32"), ("m16n8k16", "bf16", "f32"))
_FLOATS += (("m16n8k4", "tf32", "f32"), ("m16n8k8", "tf32", "f32"))
for _shape, _type, _sums in _FLOATS:
    _kind = Floats(FORMATS[_type], FORMATS[_sums])
    _notation = f"{_HEAD}.{_shape}.row.col.{_sums}.{_type}.{_type}.{_sums}"
    _add(_notation, _shape, lambda m, kind=_kind: kind, _kind)

for _width, _shapes in ((8, "m8n8k16 m16n8k16 m16n8k32"), (4, "m8n8k32 m16n8k32 m16n8k64")):
    _types = f"u{_width} s{_width}"
    for _shape in _shapes.split():
        _add(
            f"{_HEAD}.{_shape}.row.col{{.satfinite}}.s32.atype.btype.s32",
            _shape,
            lambda m, width=_width: integers(m, width),
            Integers(_width, True, True, False),
            atype=_types,
            btype=_types,
        )

for _shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
    _notation = f"{_HEAD}.{_shape}.row.col{{.rnd}}.f64.f64.f64.f64"
    _add(_notation, _shape, doubles, Doubles("rn"), rnd="rn rz rm rp")

# Shapes of bits, and the same in words of 32.
for _shape, _in_words in (("m8n8k128", "m8n8k4"), ("m16n8k128", "m16n8k4"), ("m16n8k256", "m16n8k8")):
    _notation = f"{_HEAD}.{_shape}.row.col.s32.b1.b1.s32.op.popc"
    _add(_notation, _in_words, single_bits, Bits("and"), op="and xor")
