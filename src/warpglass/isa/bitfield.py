"""Bits, bit fields, bytes and funnel shifts (PTX manual, "Integer Arithmetic", "Logic and Shift", "prmt").

Positions and lengths may reach past the width; what happens then is the manual's, never LLVM's poison.
"""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, row
from .types import bits, is_signed

V = TypeVar("V")

_SIZED = "u32 u64 s32 s64"


@row("popc.type  d:u32, a", type="b32 b64", unit="integer")
def popc(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.extend(lanes.apply("llvm.ctpop", a), "i32", signed=False)


@row("clz.type  d:u32, a", type="b32 b64", unit="integer")
def clz(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.extend(lanes.apply("llvm.ctlz", a), "i32", signed=False)


@row("brev.type  d, a", type="b32 b64", unit="integer")
def brev(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.apply("llvm.bitreverse", a)


@row("bfind{.shiftamt}.type  d:u32, a", type=_SIZED, unit="integer")
def bfind(lanes: Lanes[V], m: Match, a: V) -> V:
    width = bits(lanes.type_of(a))
    if is_signed(m.type):
        a = lanes.xor(a, lanes.apply("ashr", a, lanes.constant(lanes.type_of(a), width - 1)))
    zeros = lanes.extend(lanes.apply("llvm.ctlz", a), "i32", signed=False)
    if not m.shiftamt:
        return lanes.sub(lanes.constant("i32", width - 1), zeros)
    found = lanes.compare("ult", zeros, lanes.constant("i32", width))
    return lanes.select(found, zeros, lanes.constant("i32", -1))


@row("fns.b32  d, a, base, n:s32", unit="integer")
def fns(lanes: Lanes[V], m: Match, a: V, base: V, n: V) -> V:
    """Backwards is forwards in the reversed mask; then the n-th bit is found by halving.

    For the least integer, which has no opposite, an H200 gives 0.
    """
    zero, one, last = (lanes.constant("i32", value) for value in (0, 1, 31))
    backwards = lanes.compare("slt", n, zero)
    a = lanes.select(backwards, lanes.apply("llvm.bitreverse", a), a)
    base = lanes.select(backwards, lanes.sub(last, base), base)
    here = lanes.compare("eq", n, zero)
    from_base = lanes.shift("shl", lanes.select(here, one, lanes.constant("i32", -1)), base)
    rest = lanes.and_(a, from_base)
    skip = lanes.sub(lanes.select(here, one, lanes.select(backwards, lanes.neg(n), n)), one)
    found = lanes.compare("ult", skip, lanes.apply("llvm.ctpop", rest))
    position = zero
    for half in (16, 8, 4, 2, 1):
        low = lanes.apply("llvm.ctpop", lanes.and_(rest, lanes.constant("i32", (1 << half) - 1)))
        above = lanes.compare("uge", skip, low)
        step = lanes.select(above, lanes.constant("i32", half), zero)
        skip = lanes.select(above, lanes.sub(skip, low), skip)
        rest = lanes.apply("lshr", rest, step)
        position = lanes.or_(position, step)
    position = lanes.select(backwards, lanes.sub(last, position), position)
    position = lanes.select(found, position, lanes.constant("i32", -1))
    least = lanes.compare("eq", n, lanes.constant("i32", 1 << 31))
    return lanes.select(least, zero, position)


# ---------------------------------------------------------------------------------------- bit fields
def _place(lanes: Lanes[V], type_: str, a: V) -> V:
    """A field's start or length: an H200 looks at the low byte for 32-bit fields, as the manual says, but at
    the whole number for 64-bit ones, where all that is too large means the same."""
    byte = lanes.constant("i32", 0xFF)
    return lanes.and_(a, byte) if bits(type_) == 32 else lanes.apply("llvm.umin", a, byte)


def _low_ones(lanes: Lanes[V], type_: str, count: V) -> V:
    """As many ones as `count` says, from bit 0."""
    return lanes.not_(lanes.shift("shl", lanes.constant(type_, -1), count))


@row("bfe.type  d, a, start:u32, length:u32", type=_SIZED, unit="integer")
def bfe(lanes: Lanes[V], m: Match, a: V, start: V, length: V) -> V:
    """The field is moved to the top, where its sign is the word's, and down again."""
    type_ = lanes.type_of(a)
    width = lanes.constant("i32", bits(type_))
    start, length = _place(lanes, type_, start), _place(lanes, type_, length)
    above = lanes.sub(width, lanes.apply("llvm.umin", lanes.add(start, length), width))
    top = lanes.shift("shl", a, above)
    field = lanes.shift("ashr" if is_signed(m.type) else "lshr", top, lanes.add(above, start))
    empty = lanes.compare("eq", length, lanes.constant("i32", 0))
    return lanes.select(empty, lanes.constant(type_, 0), field)


@row("bfi.type  d, a, b, start:u32, length:u32", type="b32 b64", unit="integer")
def bfi(lanes: Lanes[V], m: Match, a: V, b: V, start: V, length: V) -> V:
    type_ = lanes.type_of(a)
    start, length = _place(lanes, type_, start), _place(lanes, type_, length)
    mask = lanes.shift("shl", _low_ones(lanes, type_, length), start)
    field = lanes.and_(lanes.shift("shl", a, start), mask)
    return lanes.or_(field, lanes.and_(b, lanes.not_(mask)))


def _limited(lanes: Lanes[V], m: Match, a: V) -> V:
    """A position or length: modulo 32 for `.wrap`; for `.clamp` any number above 32 is as good as 32."""
    if m.mode == "wrap":
        return lanes.and_(a, lanes.constant("i32", 31))
    return lanes.apply("llvm.umin", a, lanes.constant("i32", 32))


@row("bmsk.mode.b32  d, start, length", mode="clamp wrap", unit="integer")
def bmsk(lanes: Lanes[V], m: Match, start: V, length: V) -> V:
    ones = _low_ones(lanes, "i32", _limited(lanes, m, length))
    return lanes.shift("shl", ones, _limited(lanes, m, start))


@row("szext.mode.type  d, a, length:u32", mode="clamp wrap", type="u32 s32", unit="integer")
def szext(lanes: Lanes[V], m: Match, a: V, length: V) -> V:
    length = _limited(lanes, m, length)
    above = lanes.sub(lanes.constant("i32", 32), length)
    top = lanes.shift("shl", a, above)
    value = lanes.shift("ashr" if is_signed(m.type) else "lshr", top, above)
    empty = lanes.compare("eq", length, lanes.constant("i32", 0))
    return lanes.select(empty, lanes.constant("i32", 0), value)


# ---------------------------------------------------------------------------------------- logic of three
def _choose(lanes: Lanes[V], bit: V, one: V, zero: V) -> V:
    """Bit by bit, `one` where `bit` is set, else `zero`."""
    return lanes.xor(zero, lanes.and_(bit, lanes.xor(one, zero)))


def _table(lanes: Lanes[V], a: V, b: V, c: V, table: V) -> V:
    """Bit by bit, the entry of an 8-bit truth table at abc."""
    entries = [
        lanes.apply(
            "ashr", lanes.apply("shl", table, lanes.constant("i32", 31 - k)), lanes.constant("i32", 31)
        )
        for k in range(8)
    ]
    for variable in (c, b, a):
        entries = [_choose(lanes, variable, entries[k + 1], entries[k]) for k in range(0, len(entries), 2)]
    return entries[0]


@row("lop3.b32  d, a, b, c, table", unit="integer")
def lop3(lanes: Lanes[V], m: Match, a: V, b: V, c: V, table: V) -> V:
    return _table(lanes, a, b, c, table)


@row("lop3.bool.b32  d[|p], a, b, c, table, q:pred", bool="and or", unit="integer")
def lop3_bool(lanes: Lanes[V], m: Match, a: V, b: V, c: V, table: V, q: V) -> V | tuple[V, V]:
    result = _table(lanes, a, b, c, table)
    some = lanes.compare("ne", result, lanes.constant("i32", 0))
    return (result, lanes.apply(m.values["bool"], some, q)) if m.has_pair else result


# ---------------------------------------------------------------------------------------- funnel shift
@row("shf.l.mode.b32  d, a, b, c", mode="clamp wrap", unit="integer")
def shf_left(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    moved = lanes.apply("llvm.fshl", b, a, _limited(lanes, m, c))
    return moved if m.mode == "wrap" else _past(lanes, c, a, moved)


@row("shf.r.mode.b32  d, a, b, c", mode="clamp wrap", unit="integer")
def shf_right(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    moved = lanes.apply("llvm.fshr", b, a, _limited(lanes, m, c))
    return moved if m.mode == "wrap" else _past(lanes, c, b, moved)


def _past(lanes: Lanes[V], amount: V, whole: V, moved: V) -> V:
    """A clamped shift by 32 gives one source whole; LLVM's funnel shift counts modulo 32."""
    return lanes.select(lanes.compare("ult", amount, lanes.constant("i32", 32)), moved, whole)


# ---------------------------------------------------------------------------------------- bytes
@row("prmt.b32  d, a, b, c", unit="integer")
def prmt(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    """Each nibble of c picks a byte of b:a, or with its high bit set that byte's sign, eight times."""
    selector = lanes.known(c)
    if selector is not None and not selector & 0x8888:
        return lanes.pick_bytes(a, b, [selector >> 4 * place & 7 for place in range(4)])
    picked: list[V] = []
    for place in range(4):
        nibble = lanes.apply("lshr", c, lanes.constant("i32", 4 * place))
        upper = _is_set(lanes, nibble, 4)
        within = lanes.and_(nibble, lanes.constant("i32", 3))
        distance = lanes.apply("shl", within, lanes.constant("i32", 3))
        byte = lanes.convert("trunc", lanes.apply("lshr", lanes.select(upper, b, a), distance), "i8")
        sign = lanes.apply("ashr", byte, lanes.constant("i8", 7))
        picked.append(lanes.select(_is_set(lanes, nibble, 8), sign, byte))
    return lanes.join(picked)


def _is_set(lanes: Lanes[V], a: V, bit: int) -> V:
    return lanes.compare("ne", lanes.and_(a, lanes.constant("i32", bit)), lanes.constant("i32", 0))


# The selectors that each mode stands for, by the lowest two bits of c (manual, "prmt").
_SELECTORS = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


@row("prmt.b32.mode  d:b32, a:b32, b:b32, c:b32", mode=" ".join(_SELECTORS), unit="integer")
def prmt_mode(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    all_four = sum(selector << 16 * k for k, selector in enumerate(_SELECTORS[m.values["mode"]]))
    which = lanes.extend(lanes.and_(c, lanes.constant("i32", 3)), "i64", signed=False)
    distance = lanes.apply("shl", which, lanes.constant("i64", 4))
    selector = lanes.apply("lshr", lanes.constant("i64", all_four), distance)
    return prmt(lanes, m, a, b, lanes.convert("trunc", selector, "i32"))
