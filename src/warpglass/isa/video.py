"""Video instructions (PTX manual, "Scalar Video Instructions", "SIMD Video Instructions").

Scalar ones act on bytes, half-words or words that selectors pick of their sources; then they saturate,
combine the result with a third source, or put it into a part of that. SIMD ones act on two half-words or four
bytes at once, each picked of both sources.

No GPU since Maxwell has the scalar ones. ptxas makes other instructions of them, which differ from the manual
where numbers are large; results here are theirs, as read from ptxas 13.0's code for sm_90:

* vmad multiplies words as signed numbers, and adds its third source as one.
* vshl saturates what is left of its result in 34 bits.
* Saturated to an unsigned word, a sum or difference is 0 if negative, but its lower 32 bits if too large.
* `.min` and `.max` compare 64 bits. Of sums, differences and saturated shifts these are the lower 32 with
  their sign before them, also if they are unsigned.

Results put into a part (`d.b1`) are the manual's. An H100's driver makes others of most of them: it clamps as
if unsigned and leaves the upper half where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from .lanes import Lanes
from .table import Match, Meaning, add_row, row
from .types import bits, is_signed

V = TypeVar("V")
Computation = Callable[[Any, Any, Any], Any]

_SIGNS = "u32 s32"
_PARTS = "b0 b1 b2 b3 h0 h1"
_COMPARISONS = "eq ne lt le gt ge"


def _compared(lanes: Lanes[V], comparison: str, x: V, y: V) -> V:
    """1 where signed numbers compare so, else 0, as an i32."""
    predicate = comparison if comparison in ("eq", "ne") else f"s{comparison}"
    return lanes.convert("zext", lanes.compare(predicate, x, y), "i32")


def _difference(lanes: Lanes[V], x: V, y: V) -> V:
    return lanes.apply("llvm.smax", lanes.sub(x, y), lanes.sub(y, x))


def _average(lanes: Lanes[V], x: V, y: V) -> V:
    """Half of the sum; halves are rounded up, negative ones towards zero."""
    total, zero = lanes.add(x, y), lanes.constant("i32", 0)
    up = lanes.convert("zext", lanes.compare("sge", total, zero), "i32")
    return lanes.apply("ashr", lanes.add(total, up), lanes.constant("i32", 1))


_COMPUTE: Mapping[str, Computation] = {
    "vadd": lambda lanes, x, y: lanes.add(x, y),
    "vsub": lambda lanes, x, y: lanes.sub(x, y),
    "vabsdiff": _difference,
    "vmin": lambda lanes, x, y: lanes.apply("llvm.smin", x, y),
    "vmax": lambda lanes, x, y: lanes.apply("llvm.smax", x, y),
}


def _saturate(lanes: Lanes[V], x: V, width: int, signed: bool, *, wraps: bool = False) -> V:
    """A signed number brought into the range of one of `width` bits; `wraps` spares large unsigned ones."""
    if wraps and not signed:
        return lanes.apply("llvm.smax", x, lanes.constant(lanes.type_of(x), 0))
    top = 1 << (width - signed)
    return lanes.clamp(x, -top if signed else 0, top - 1, signed=True)


# ---------------------------------------------------------------------------------------- scalar
def _place(selector: str | None) -> tuple[int, int]:
    """The lowest bit and the width of what a selector names of a register."""
    if selector is None:
        return 0, 32
    width = 8 if selector[0] == "b" else 16
    return int(selector[1]) * width, width


def _pick(lanes: Lanes[V], x: V, selector: str | None, signed: bool, type_: str) -> V:
    """The number that a selector names of a source, as wide as `type_`."""
    low, width = _place(selector)
    part = lanes.apply("lshr", x, lanes.constant("i32", low)) if low else x
    return lanes.extend(lanes.extend(part, f"i{width}", signed), type_, signed)


def _finish(lanes: Lanes[V], m: Match, x: V, c: V | None, *, signed: bool, narrow: bool, wraps: bool) -> V:
    """What becomes of an exact result (i64): saturated, then combined with c or merged into it.

    A narrow one is compared by its lower half alone; one that wraps is saturated to an unsigned word from
    below alone.
    """
    low, width = _place(m.dsel)
    if m.sat:
        x = _saturate(lanes, x, width, signed, wraps=wraps and not m.dsel)
    if narrow:
        x = lanes.extend(lanes.extend(x, "i32", signed), "i64", signed=True)
    if c is not None and m.op2 in ("min", "max"):
        x = lanes.apply(f"llvm.{'s' if signed else 'u'}{m.op2}", x, lanes.extend(c, "i64", signed))
    x = lanes.extend(x, "i32", signed)
    if c is not None and m.op2 == "add":
        return lanes.add(x, c)
    if c is None or not m.dsel:
        return x
    ones = ((1 << width) - 1) << low
    placed = lanes.and_(lanes.apply("shl", x, lanes.constant("i32", low)), lanes.constant("i32", ones))
    return lanes.or_(placed, lanes.and_(c, lanes.constant("i32", ~ones)))


def _scalar(
    compute: Callable[[Any, Match, Any, Any], Any],
    narrow: bool = False,
    narrow_saturated: bool = False,
    wraps: bool = False,
) -> Meaning:
    """A meaning that computes in 64 bits, enough for every result; vset has the signs of its first source."""

    def meaning(lanes: Lanes[V], m: Match, a: V, b: V, c: V | None = None) -> V:
        x = _pick(lanes, a, m.asel, is_signed(m.atype), "i64")
        y = _pick(lanes, b, m.bsel, is_signed(m.btype), "i64")
        lower = narrow_saturated if m.sat else narrow
        exact, signed = compute(lanes, m, x, y), is_signed(m.dtype or m.atype)
        return _finish(lanes, m, exact, c, signed=signed, narrow=lower, wraps=wraps)

    return meaning


def _shift(lanes: Lanes[V], m: Match, x: V, y: V, operation: str) -> V:
    """A shift by an unsigned amount, of 32 at most or modulo 32."""
    k = lambda value: lanes.constant("i64", value)  # noqa: E731
    amount = lanes.and_(y, k(31)) if m.mode == "wrap" else lanes.apply("llvm.umin", y, k(32))
    shifted = lanes.apply(operation, x, amount)
    return lanes.apply("ashr", lanes.apply("shl", shifted, k(30)), k(30)) if m.sat else shifted


def _comparison(lanes: Lanes[V], m: Match, x: V, y: V) -> V:
    return lanes.extend(_compared(lanes, m.values["cmp"], x, y), lanes.type_of(x), signed=False)


def _add_scalar(opcode: str, types: str, meaning: Meaning, **choices: str) -> None:
    """An operation with its three forms: plain, combined with c, merged into c."""
    sources = "a{.asel}:b32, b{.bsel}:b32"
    for tail, operands in (
        ("", f"d:b32, {sources}, {{c:b32}}"),
        (".op2", f"d:b32, {sources}, c:b32"),
        ("", f"d.dsel:b32, {sources}, c:b32"),
    ):
        given = {**choices, "op2": "add min max", "dsel": _PARTS, "asel": _PARTS, "bsel": _PARTS}
        add_row(f"{opcode}{types}{tail}  {operands}", unit="integer", meaning=meaning, **given)


for _opcode, _compute in _COMPUTE.items():
    _sums = _opcode in ("vadd", "vsub")
    _meaning = _scalar(
        lambda lanes, m, x, y, compute=_compute: compute(lanes, x, y), _sums, _sums, wraps=True
    )
    _add_scalar(
        _opcode, ".dtype.atype.btype{.sat}", _meaning, **dict.fromkeys(("dtype", "atype", "btype"), _SIGNS)
    )
for _opcode, _operation in (("vshl", "shl"), ("vshr", "ashr")):
    _add_scalar(
        _opcode,
        ".dtype.atype.u32{.sat}.mode",
        _scalar(partial(_shift, operation=_operation), narrow_saturated=True),
        mode="clamp wrap",
        **dict.fromkeys(("dtype", "atype"), _SIGNS),
    )
_add_scalar("vset", ".atype.btype.cmp", _scalar(_comparison), cmp=_COMPARISONS, atype=_SIGNS, btype=_SIGNS)


def _wrong_signs(values: Mapping[str, str]) -> str | None:
    product = ("-a" in values) != ("-b" in values)
    if product and "-c" in values:
        return "the product or the third source is negated, not both"
    if "po" in values and (product or "-c" in values):
        return ".po adds one and goes with no negation"
    return None


@row(
    "vmad.dtype.atype.btype{.po}{.sat}{.scale}  d:b32, {-}a{.asel}:b32, {-}b{.bsel}:b32, {-}c:b32",
    **dict.fromkeys(("dtype", "atype", "btype"), _SIGNS),
    **dict.fromkeys(("asel", "bsel"), _PARTS),
    scale="shr7 shr15",
    unit="integer",
    excludes=_wrong_signs,
)
def vmad(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    """The result is a signed number if anything in it is signed or negated."""
    negated = ("-a" in m.values) != ("-b" in m.values)
    signed = is_signed(m.atype) or is_signed(m.btype) or negated or "-c" in m.values
    words = (
        _pick(lanes, a, m.asel, is_signed(m.atype), "i32"),
        _pick(lanes, b, m.bsel, is_signed(m.btype), "i32"),
    )
    product = lanes.multiply_wide(*words, signed=True)
    addend = lanes.extend(c, "i64", signed=True)
    if negated:
        total = lanes.sub(addend, product)
    else:
        total = lanes.sub(product, addend) if "-c" in m.values else lanes.add(product, addend)
    if m.po:
        total = lanes.add(total, lanes.constant("i64", 1))
    if m.scale:
        distance = lanes.constant("i64", int(m.scale[3:]))
        total = lanes.apply("ashr" if signed else "lshr", total, distance)
    return lanes.extend(_saturate(lanes, total, 32, signed) if m.sat else total, "i32", signed)


# ---------------------------------------------------------------------------------------- SIMD
def _elements(lanes: Lanes[V], m: Match, a: V, b: V, count: int) -> tuple[list[V], list[V]]:
    """The numbers that act together, lowest first, as i32; those of b are numbered behind those of a."""
    every = (*lanes.split(a, count), *lanes.split(b, count))
    usual = range(2 * count)
    sides: list[list[V]] = []
    for selector, type_, default in ((m.asel, m.atype, usual[:count]), (m.bsel, m.btype, usual[count:])):
        picked = [int(digit) for digit in reversed(selector[1:])] if selector else default
        sides.append([lanes.extend(every[k], "i32", is_signed(type_)) for k in picked])
    return sides[0], sides[1]


def _simd(count: int, compute: Callable[[Any, Match, Any, Any], Any]) -> Meaning:
    """A meaning that computes `count` small results; those that the mask names are added to c or replace
    c's."""

    def meaning(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
        narrow = f"i{32 // count}"
        results = [compute(lanes, m, x, y) for x, y in zip(*_elements(lanes, m, a, b, count), strict=True)]
        if m.sat:
            results = [_saturate(lanes, x, bits(narrow), is_signed(m.dtype)) for x in results]
        named = {int(digit) for digit in m.mask[1:]} if m.mask else set(range(count))
        if m.add:
            for k in named:
                c = lanes.add(c, results[k])
            return c
        kept = lanes.split(c, count)
        return lanes.join(
            [lanes.convert("trunc", x, narrow) if k in named else kept[k] for k, x in enumerate(results)]
        )

    return meaning


def _selectors(letter: str, count: int, numbers: int) -> str:
    """Every selector of `count` elements out of so many."""
    found = [""]
    for _ in range(count):
        found = [f"{one}{digit}" for one in found for digit in range(numbers)]
    return " ".join(letter + one for one in found)


def _masks(letter: str, count: int) -> str:
    """Every mask, the highest element first."""
    named = ([k for k in reversed(range(count)) if mask >> k & 1] for mask in range(1, 1 << count))
    return " ".join(letter + "".join(map(str, one)) for one in named)


def _add_simd(
    opcode: str, types: str, options: tuple[str, ...], compute: Callable[..., Any], **choices: str
) -> None:
    for count, letter in ((2, "h"), (4, "b")):
        selectors = dict.fromkeys(("asel", "bsel"), _selectors(letter, count, 2 * count))
        for option in options:
            add_row(
                f"{opcode}{count}{types}{option}  d{{.mask}}:b32, a{{.asel}}:b32, b{{.bsel}}:b32, c:b32",
                unit="integer",
                meaning=_simd(count, compute),
                mask=_masks(letter, count),
                **selectors,
                **choices,
            )


for _opcode, _compute in (*_COMPUTE.items(), ("vavrg", _average)):
    _add_simd(
        _opcode,
        ".dtype.atype.btype",
        ("{.sat}", ".add"),
        lambda lanes, m, x, y, compute=_compute: compute(lanes, x, y),
        **dict.fromkeys(("dtype", "atype", "btype"), _SIGNS),
    )
_add_simd("vset", ".atype.btype.cmp", ("", ".add"), _comparison, cmp=_COMPARISONS, atype=_SIGNS, btype=_SIGNS)
