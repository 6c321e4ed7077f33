"""What each row of the instruction table computes, written a second time: exact integers and fractions.

An oracle takes the modifiers' values and the sources of one lane. Integer sources are Python integers, read
as signed if their PTX type is; predicates are bools; floating sources are bit patterns (floats.py). It
returns the destination in the same terms (any integer congruent to it), or a tuple for `p|q`.

Where PTX leaves a result undefined, the oracle says what NVIDIA's hardware does and what the engine
promises (`UNDEFINED_IN_PTX` lists them): division by zero, the least integer divided by -1, its absolute
value. NaN results are compared as "some NaN": PTX promises no payload.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from . import floats
from .floats import FORMATS, Format

Values = Mapping[str, str]
Oracle = Callable[..., Any]

ORACLES: dict[str, Oracle] = {}
UNDEFINED_IN_PTX = ("div.type  d, a, b", "rem.type  d, a, b", "abs.type  d, a")


def oracle(*notations: str) -> Callable[[Oracle], Oracle]:
    """Register an oracle for rows, by their notation."""

    def register(function: Oracle) -> Oracle:
        ORACLES.update({" ".join(notation.split()): function for notation in notations})
        return function

    return register


def width(type_: str) -> int:
    """Bits of a PTX type."""
    return 1 if type_ == "pred" else int(type_[1:])


def wrap(type_: str, value: int) -> int:
    """A value reduced to a type's width, read as its sign says."""
    bits = width(type_)
    value &= (1 << bits) - 1
    return value - (1 << bits) if type_[0] == "s" and value >> (bits - 1) else value


# ---------------------------------------------------------------------------------------- integers
@oracle("add.type  d, a, b")
def add(v: Values, a: int, b: int) -> int:
    return a + b


@oracle("sub.type  d, a, b")
def sub(v: Values, a: int, b: int) -> int:
    return a - b


@oracle("mul.lo.type  d, a, b", "mul.wide.type  d:wide, a, b")
def mul(v: Values, a: int, b: int) -> int:
    return a * b


@oracle("mul.hi.type  d, a, b")
def mul_hi(v: Values, a: int, b: int) -> int:
    return (a * b) >> width(v["type"])


@oracle("mad.lo.type  d, a, b, c", "mad.wide.type  d:wide, a, b, c:wide")
def mad(v: Values, a: int, b: int, c: int) -> int:
    return a * b + c


@oracle("mad.hi.type  d, a, b, c")
def mad_hi(v: Values, a: int, b: int, c: int) -> int:
    return ((a * b) >> width(v["type"])) + c


@oracle("div.type  d, a, b")
def div(v: Values, a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


@oracle("rem.type  d, a, b")
def rem(v: Values, a: int, b: int) -> int:
    return -1 if b == 0 else a - b * div(v, a, b)


@oracle("neg.type  d, a")
def neg(v: Values, a: int) -> int:
    return -a


@oracle("abs.type  d, a")
def absolute(v: Values, a: int) -> int:
    return abs(a)


@oracle("min.type  d, a, b")
def minimum(v: Values, a: int, b: int) -> int:
    return min(a, b)


@oracle("max.type  d, a, b")
def maximum(v: Values, a: int, b: int) -> int:
    return max(a, b)


@oracle("popc.type  d:u32, a")
def popc(v: Values, a: int) -> int:
    return a.bit_count()


@oracle("clz.type  d:u32, a")
def clz(v: Values, a: int) -> int:
    return width(v["type"]) - a.bit_length()


@oracle("brev.type  d, a")
def brev(v: Values, a: int) -> int:
    return int(f"{a:0{width(v['type'])}b}"[::-1], 2)


# ---------------------------------------------------------------------------------------- logic
@oracle("and.type  d, a, b")
def and_(v: Values, a: int, b: int) -> int:
    return a & b


@oracle("or.type  d, a, b")
def or_(v: Values, a: int, b: int) -> int:
    return a | b


@oracle("xor.type  d, a, b")
def xor(v: Values, a: int, b: int) -> int:
    return a ^ b


@oracle("not.type  d, a")
def not_(v: Values, a: int) -> int:
    return not a if v["type"] == "pred" else ~a


@oracle("shl.type  d, a, b:u32")
def shl(v: Values, a: int, b: int) -> int:
    return a << min(b, width(v["type"]))


@oracle("shr.type  d, a, b:u32")
def shr(v: Values, a: int, b: int) -> int:
    return a >> min(b, width(v["type"]))


@oracle("mov.type  d, a")
def mov(v: Values, a: int) -> int:
    return a


@oracle("selp.type  d, a, b, c:pred")
def selp(v: Values, a: int, b: int, c: bool) -> int:
    return a if c else b


# ---------------------------------------------------------------------------------------- comparison
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_COMPARE |= {"lo": _COMPARE["lt"], "ls": _COMPARE["le"], "hi": _COMPARE["gt"], "hs": _COMPARE["ge"]}


@oracle("setp.cmp.type  p[|q]:pred, a, b")
def setp(v: Values, a: int, b: int) -> tuple[bool, bool]:
    return _both(_COMPARE[v["cmp"]](a, b), v, None)


@oracle("setp.cmp.bool.type  p[|q]:pred, a, b, c:pred")
def setp_combined(v: Values, a: int, b: int, c: bool) -> tuple[bool, bool]:
    return _both(_COMPARE[v["cmp"]](a, b), v, c)


@oracle("setp.cmp{.ftz}.type  p[|q]:pred, a, b")
def setp_float(v: Values, a: int, b: int) -> tuple[bool, bool]:
    return _both(_compare_floats(v, a, b), v, None)


@oracle("setp.cmp.bool{.ftz}.type  p[|q]:pred, a, b, c:pred")
def setp_float_combined(v: Values, a: int, b: int, c: bool) -> tuple[bool, bool]:
    return _both(_compare_floats(v, a, b), v, c)


def _both(compared: bool, v: Values, c: bool | None) -> tuple[bool, bool]:
    if c is None:
        return compared, not compared
    combine = {"and": lambda t: t and c, "or": lambda t: t or c, "xor": lambda t: t != c}[v["bool"]]
    return combine(compared), combine(not compared)


def _compare_floats(v: Values, a: int, b: int) -> bool:
    f = FORMATS[v["type"]]
    if "ftz" in v:
        a, b = f.flush(a), f.flush(b)
    operator = v["cmp"]
    unordered = f.is_nan(a) or f.is_nan(b)
    if operator in ("num", "nan"):
        return unordered == (operator == "nan")
    if unordered:
        return operator.endswith("u")
    return _COMPARE[operator.removesuffix("u")](f.decode(a), f.decode(b))


# ---------------------------------------------------------------------------------------- floating point
def _arithmetic(operation: Callable[..., int], type_: str) -> Oracle:
    f = FORMATS[type_]

    def compute(v: Values, *operands: int) -> int:
        flushed = [f.flush(x) for x in operands] if "ftz" in v else operands
        result = operation(f, *flushed)
        if "ftz" in v and not f.is_nan(result):
            result = f.flush(result)
        return floats.saturate(f, result) if "sat" in v else result

    return compute


def _subtract(f: Format, a: int, b: int) -> int:
    return f.nan if f.is_nan(b) else floats.add(f, a, floats.negate(f, b))


_ARITHMETIC = (
    ("add{.rnd}", "{.ftz}{.sat}", "d, a, b", floats.add),
    ("sub{.rnd}", "{.ftz}{.sat}", "d, a, b", _subtract),
    ("mul{.rnd}", "{.ftz}{.sat}", "d, a, b", floats.multiply),
    ("fma.rnd", "{.ftz}{.sat}", "d, a, b, c", floats.fused),
    ("div.rnd", "{.ftz}", "d, a, b", floats.divide),
    ("sqrt.rnd", "{.ftz}", "d, a", floats.square_root),
    ("neg", "{.ftz}", "d, a", floats.negate),
    ("abs", "{.ftz}", "d, a", lambda f, a: a & ~f.sign),
    ("min", "{.ftz}", "d, a, b", floats.smaller),
    ("max", "{.ftz}", "d, a, b", floats.larger),
)
for _head, _options, _operands, _operation in _ARITHMETIC:
    oracle(f"{_head}{_options}.f32  {_operands}")(_arithmetic(_operation, "f32"))
    oracle(f"{_head}.f64  {_operands}")(_arithmetic(_operation, "f64"))


# ---------------------------------------------------------------------------------------- conversion
@oracle("cvt.dtype.atype  d:dtype, a:atype")
def cvt_integer(v: Values, a: int) -> int:
    return wrap(v["dtype"], a)


@oracle("cvt.rn{.ftz}.dtype.atype  d:dtype, a:atype")
def cvt_to_float(v: Values, a: int) -> int:
    return FORMATS[v["dtype"]].encode(floats.Fraction(a))


_ROUNDED = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@oracle("cvt.rnd.dtype.atype  d:dtype, a:atype")
def cvt_to_integer(v: Values, a: int) -> int:
    """Clamped to the destination's range; the manual fixes what NaN becomes ("cvt", integer notes)."""
    value = FORMATS[v["atype"]].decode(a)
    bits, signed = width(v["dtype"]), v["dtype"][0] == "s"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    if value != value:
        return 1 << (bits - 1) if v["atype"] == "f64" or bits == 64 else 0
    if isinstance(value, float):
        return high if value > 0 else low
    return max(low, min(high, _ROUNDED[v["rnd"]](value)))


@oracle("cvt{.rn}.dtype.atype  d:dtype, a:atype")
def cvt_float(v: Values, a: int) -> int:
    source, target = FORMATS[v["atype"]], FORMATS[v["dtype"]]
    if v["atype"] == v["dtype"]:
        return a
    value = source.decode(a)
    return target.encode(value, negative_zero=bool(a & source.sign))
