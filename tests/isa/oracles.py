"""What each row of the instruction table computes, written a second time: exact integers and fractions.

An oracle takes the modifiers' values and the sources of one lane. Integer sources are Python integers, read
as signed if their PTX type is; predicates are bools; floating sources are bit patterns (floats.py). It
returns the destination in the same terms (any integer congruent to it), or a tuple for `p|q`.

Where PTX leaves a result undefined, the oracle says what NVIDIA's hardware does and what the engine
promises (`UNDEFINED_IN_PTX` lists them): division by zero, the least integer divided by -1, its absolute
value. NaN results are compared as "some NaN": PTX promises no payload.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import floats
from .floats import FORMATS, Format

Values = Mapping[str, str]
Oracle = Callable[..., Any]


@dataclass(frozen=True)
class Entry:
    """An oracle, and the words that may stand in the opcode of the forms it knows."""

    words: frozenset[str]
    sources: int
    compute: Oracle


ORACLES: dict[str, list[Entry]] = {}
UNDEFINED_IN_PTX = ("div", "rem", "abs")

INTEGERS = "u16 u32 u64 s16 s32 s64"
BITWISE = "b16 b32 b64"
WHOLE = f"u8 s8 {INTEGERS}"


def oracle(opcodes: str, words: str, sources: int = 0) -> Callable[[Oracle], Oracle]:
    """Register an oracle for all forms of some opcodes whose modifiers are among the words.

    `sources` is the number of source operands, by default what the function takes.
    """

    def register(function: Oracle) -> Oracle:
        count = sources or len(inspect.signature(function).parameters) - 1
        for opcode in opcodes.split():
            ORACLES.setdefault(opcode, []).append(Entry(frozenset(words.split()), count, function))
        return function

    return register


def oracle_for(opcode: str, values: Values, sources: int) -> Oracle | None:
    """The oracle that knows a form of so many sources, None if there is none."""
    for entry in ORACLES.get(opcode, ()):
        if entry.sources == sources and entry.words.issuperset(values.values()):
            return entry.compute
    return None


def width(type_: str) -> int:
    """Bits of a PTX type."""
    return 1 if type_ == "pred" else int(type_[1:])


def wrap(type_: str, value: int) -> int:
    """A value reduced to a type's width, read as its sign says."""
    bits = width(type_)
    value &= (1 << bits) - 1
    return value - (1 << bits) if type_[0] == "s" and value >> (bits - 1) else value


# ---------------------------------------------------------------------------------------- integers
@oracle("add", INTEGERS)
def add(v: Values, a: int, b: int) -> int:
    return a + b


@oracle("sub", INTEGERS)
def sub(v: Values, a: int, b: int) -> int:
    return a - b


@oracle("mul", f"lo wide {INTEGERS}")
def mul(v: Values, a: int, b: int) -> int:
    return a * b


@oracle("mul", f"hi {INTEGERS}")
def mul_hi(v: Values, a: int, b: int) -> int:
    return (a * b) >> width(v["type"])


@oracle("mad", f"lo wide {INTEGERS}")
def mad(v: Values, a: int, b: int, c: int) -> int:
    return a * b + c


@oracle("mad", f"hi {INTEGERS}")
def mad_hi(v: Values, a: int, b: int, c: int) -> int:
    return ((a * b) >> width(v["type"])) + c


@oracle("div", INTEGERS)
def div(v: Values, a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


@oracle("rem", INTEGERS)
def rem(v: Values, a: int, b: int) -> int:
    return -1 if b == 0 else a - b * div(v, a, b)


@oracle("neg", INTEGERS)
def neg(v: Values, a: int) -> int:
    return -a


@oracle("abs", INTEGERS)
def absolute(v: Values, a: int) -> int:
    return abs(a)


@oracle("min", INTEGERS)
def minimum(v: Values, a: int, b: int) -> int:
    return min(a, b)


@oracle("max", INTEGERS)
def maximum(v: Values, a: int, b: int) -> int:
    return max(a, b)


@oracle("popc", BITWISE)
def popc(v: Values, a: int) -> int:
    return a.bit_count()


@oracle("clz", BITWISE)
def clz(v: Values, a: int) -> int:
    return width(v["type"]) - a.bit_length()


@oracle("brev", BITWISE)
def brev(v: Values, a: int) -> int:
    return int(f"{a:0{width(v['type'])}b}"[::-1], 2)


# ---------------------------------------------------------------------------------------- logic
@oracle("and", f"pred {BITWISE}")
def and_(v: Values, a: int, b: int) -> int:
    return a & b


@oracle("or", f"pred {BITWISE}")
def or_(v: Values, a: int, b: int) -> int:
    return a | b


@oracle("xor", f"pred {BITWISE}")
def xor(v: Values, a: int, b: int) -> int:
    return a ^ b


@oracle("not", f"pred {BITWISE}")
def not_(v: Values, a: int) -> int:
    return not a if v["type"] == "pred" else ~a


@oracle("shl", BITWISE)
def shl(v: Values, a: int, b: int) -> int:
    return a << min(b, width(v["type"]))


@oracle("shr", f"{BITWISE} {INTEGERS}")
def shr(v: Values, a: int, b: int) -> int:
    return a >> min(b, width(v["type"]))


@oracle("mov", f"pred f32 f64 {BITWISE} {INTEGERS}")
def mov(v: Values, a: int) -> int:
    return a


@oracle("selp", f"f32 f64 {BITWISE} {INTEGERS}")
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
_FLOAT_COMPARISONS = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"
_COMPARE |= {"lo": _COMPARE["lt"], "ls": _COMPARE["le"], "hi": _COMPARE["gt"], "hs": _COMPARE["ge"]}


@oracle("setp", f"eq ne lt le gt ge lo ls hi hs {BITWISE} {INTEGERS}")
def setp(v: Values, a: int, b: int) -> tuple[bool, bool]:
    return _both(_COMPARE[v["cmp"]](a, b), v, None)


@oracle("setp", f"and or xor eq ne lt le gt ge lo ls hi hs {BITWISE} {INTEGERS}")
def setp_combined(v: Values, a: int, b: int, c: bool) -> tuple[bool, bool]:
    return _both(_COMPARE[v["cmp"]](a, b), v, c)


@oracle("setp", f"ftz f32 f64 {_FLOAT_COMPARISONS}")
def setp_float(v: Values, a: int, b: int) -> tuple[bool, bool]:
    return _both(_compare_floats(v, a, b), v, None)


@oracle("setp", f"ftz and or xor f32 f64 {_FLOAT_COMPARISONS}")
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
def _arithmetic(operation: Callable[..., int]) -> Oracle:
    def compute(v: Values, *operands: int) -> int:
        f = FORMATS[v.get("type") or next(word for word in v.values() if word in FORMATS)]
        flushed = [f.flush(x) for x in operands] if "ftz" in v else operands
        rounding = {"mode": v["rnd"]} if "rnd" in v else {}
        result = operation(f.flushing if "ftz" in v else f, *flushed, **rounding)
        if "ftz" in v and not f.is_nan(result):
            result = f.flush(result)
        return floats.saturate(f, result) if "sat" in v else result

    return compute


def _subtract(f: Format, a: int, b: int, mode: str = "rn") -> int:
    return f.nan if f.is_nan(b) else floats.add(f, a, floats.negate(f, b), mode)


_ARITHMETIC: dict[str, tuple[int, Callable[..., int]]] = {
    "add": (2, floats.add),
    "sub": (2, _subtract),
    "mul": (2, floats.multiply),
    "fma": (3, floats.fused),
    "mad": (3, floats.fused),
    "div": (2, floats.divide),
    "sqrt": (1, floats.square_root),
    "neg": (1, floats.negate),
    "abs": (1, lambda f, a: a & ~f.sign),
    "min": (2, floats.smaller),
    "max": (2, floats.larger),
}
for _opcode, (_count, _operation) in _ARITHMETIC.items():
    oracle(_opcode, "rn rz rm rp ftz sat f32 f64", _count)(_arithmetic(_operation))


# ---------------------------------------------------------------------------------------- conversion
@oracle("cvt", f"rn rz rm rp rni rzi rmi rpi ftz sat f32 f64 {WHOLE}")
def cvt(v: Values, a: int) -> int:
    types = [type_ for type_ in v.values() if type_ in (*FORMATS, *WHOLE.split())]
    to, from_ = types[0], types[-1]  # one word stands for both in `.f32.f32`
    if to not in FORMATS and from_ not in FORMATS:
        return max(_low(to), min(_high(to), a)) if "sat" in v else wrap(to, a)
    rounding = v.get("rnd") or v.get("rn") or ""
    if to not in FORMATS:
        return _to_integer(to, from_, rounding, FORMATS[from_].flush(a) if "ftz" in v else a)
    target = FORMATS[to]
    if from_ not in FORMATS:
        result = target.encode(Fraction(a), mode=rounding)
    else:
        result = _to_float(
            to, from_, rounding, FORMATS[from_].flush(a) if "ftz" in v and from_ == "f32" else a, "ftz" in v
        )
    if "ftz" in v and to == "f32" and not target.is_nan(result):
        result = target.flush(result)
    return floats.saturate(target, result) if "sat" in v else result


def _low(type_: str) -> int:
    return -(1 << (width(type_) - 1)) if type_[0] == "s" else 0


def _high(type_: str) -> int:
    return (1 << (width(type_) - (type_[0] == "s"))) - 1


_ROUNDED = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


def _to_integer(to: str, from_: str, rounding: str, a: int) -> int:
    """Clamped to the destination's range; the manual fixes what NaN becomes ("cvt", integer notes)."""
    value = FORMATS[from_].decode(a)
    if value != value:
        return 1 << (width(to) - 1) if from_ == "f64" or width(to) == 64 else 0
    if isinstance(value, float):
        return _high(to) if value > 0 else _low(to)
    return max(_low(to), min(_high(to), _ROUNDED[rounding](value)))


def _to_float(to: str, from_: str, rounding: str, a: int, ftz: bool) -> int:
    source, target = FORMATS[from_], FORMATS[to].flushing if ftz and to == "f32" else FORMATS[to]
    value = source.decode(a)
    if rounding in _ROUNDED and isinstance(value, Fraction):
        return target.encode(Fraction(_ROUNDED[rounding](value)), negative_zero=bool(a & source.sign))
    if to == from_:
        return a
    return target.encode(value, negative_zero=bool(a & source.sign), mode=rounding or "rn")
