"""Half-precision arithmetic: f16, bf16 and their packed pairs (PTX manual, "Half Precision Floating Point").

Registers hold patterns. An operation is done in single precision, whose 24 bits are more than twice the 11 of
f16 plus two, so sums and products rounded there and then again are rounded as if once; the fused operation is
rounded to odd on the way. `.ftz` flushes subnormal halves, `.relu` makes negative results and -0 zero, `.sat`
clamps to [0, 1].
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

from . import multifunction
from .floating import extreme
from .lanes import Lanes
from .rounding import BF16, F16, FORMATS, Format, is_nan, narrow, odd_single, saturate, to_odd, two_sum, widen
from .table import Match, add_row

V = TypeVar("V")

# Works on values of type float; gives a value of type float that is rounded to the format once.
Work = Callable[..., V]


def unpack(lanes: Lanes[V], pattern: V, f: Format) -> V:
    """A half's pattern as a float."""
    if f is F16 and not lanes.converts_half:
        return lanes.convert("fptrunc", widen(lanes, pattern, F16), "float")
    if f is F16:
        return lanes.convert("fpext", lanes.bitcast(pattern, "half"), "float")
    high = lanes.apply("shl", lanes.extend(pattern, "i32", signed=False), lanes.constant("i32", 16))
    return lanes.bitcast(high, "float")


def pack(lanes: Lanes[V], a: V, f: Format) -> V:
    """A float rounded to the nearest half, as its pattern."""
    if f is F16 and not lanes.converts_half:
        return narrow(lanes, lanes.convert("fpext", a, "double"), F16)
    if f is F16:
        near = lanes.bitcast(lanes.convert("fptrunc", a, "half"), "i16")
    else:
        # Not LLVM's fptrunc: the instruction that some processors have for it flushes subnormal numbers.
        whole = lanes.bitcast(a, "i32")
        odd = lanes.and_(lanes.apply("lshr", whole, lanes.constant("i32", 16)), lanes.constant("i32", 1))
        raised = lanes.add(lanes.add(whole, lanes.constant("i32", 0x7FFF)), odd)
        near = lanes.extend(lanes.apply("lshr", raised, lanes.constant("i32", 16)), "i16", signed=False)
    return lanes.select(is_nan(lanes, a), lanes.constant("i16", f.nan), near)


def flush_half(lanes: Lanes[V], pattern: V, f: Format) -> V:
    """Subnormal halves as zeros of the same sign."""
    size = lanes.and_(pattern, lanes.constant("i16", f.sign - 1))
    tiny = lanes.compare("ult", size, lanes.constant("i16", 1 << f.fraction))
    return lanes.select(tiny, lanes.and_(pattern, lanes.constant("i16", f.sign)), pattern)


def _flush_result(lanes: Lanes[V], a: V, f: Format) -> V:
    """Floats as zero that are subnormal in the format after rounding to a normal number's place."""
    least = 2.0 ** (1 - f.bias) * (1 - 2.0 ** -(f.fraction + 2))
    bound = lanes.constant("float", int.from_bytes(struct.pack(">f", least), "big"))
    tiny = lanes.compare("olt", lanes.apply("llvm.fabs", a), bound)
    return lanes.select(tiny, lanes.apply("llvm.copysign", lanes.constant("float", 0), a), a)


def relu(lanes: Lanes[V], pattern: V) -> V:
    """Negative numbers of any narrow format as zero; the NaN of results is positive and stays."""
    zero = lanes.constant(lanes.type_of(pattern), 0)
    return lanes.select(lanes.compare("slt", pattern, zero), zero, pattern)


def by_halves(one: Callable[..., V]) -> Callable[..., V]:
    """A meaning for halves made one for pairs as well, by the row's type; `one` also takes the format."""

    def meaning(lanes: Lanes[V], m: Match, *operands: V) -> V:
        name = m.values["type"]
        f = FORMATS[name.removesuffix("x2")]
        if not name.endswith("x2"):
            return one(lanes, m, f, *operands)
        halves = zip(*(lanes.split(operand, 2) for operand in operands), strict=True)
        return lanes.join(tuple(one(lanes, m, f, *half) for half in halves))

    return meaning


def _arithmetic(work: Work[V]) -> Callable[..., V]:
    """Modifiers around an operation on floats."""

    def one(lanes: Lanes[V], m: Match, f: Format, *operands: V) -> V:
        if m.ftz:
            operands = tuple(flush_half(lanes, operand, f) for operand in operands)
        result = work(lanes, m, *(unpack(lanes, operand, f) for operand in operands))
        if m.sat:
            result = saturate(lanes, result)
        if m.ftz:
            result = _flush_result(lanes, result, f)
        pattern = pack(lanes, result, f)
        return relu(lanes, pattern) if m.relu else pattern

    return by_halves(one)


def _fused(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    if m.values["type"].startswith("f16"):  # products of halves are exact in single precision
        return to_odd(lanes, *two_sum(lanes, lanes.mul(a, b), c))
    x, y, z = (lanes.convert("fpext", operand, "double") for operand in (a, b, c))
    return odd_single(lanes, to_odd(lanes, *two_sum(lanes, lanes.mul(x, y), z)))


def _least(opcode: str) -> Work[V]:
    def work(lanes: Lanes[V], m: Match, *operands: V) -> V:
        sizes = [lanes.apply("llvm.fabs", x) for x in operands] if m.abs else list(operands)
        result = sizes[0]
        for other in sizes[1:]:
            result = extreme(lanes, opcode, m.NaN is not None, result, other)
        if m.values.get("xorsign"):
            signs = (lanes.bitcast(x, "i32") for x in operands)
            return lanes.apply("llvm.copysign", result, lanes.bitcast(lanes.xor(*signs), "float"))
        return result

    return work


def _plain(operation: str) -> Work[V]:
    return lambda lanes, m, *operands: lanes.apply(operation, *operands)


def _cut(function: Callable[[Lanes[V], V], V]) -> Work[V]:
    """A function of the multifunction unit whose result is cut to the format, subnormal ones too."""

    def work(lanes: Lanes[V], m: Match, a: V) -> V:
        f = FORMATS[m.values["type"].removesuffix("x2")]
        result = function(lanes, a)
        kept = lanes.constant("i32", -1 << (23 - f.fraction))
        normal = lanes.bitcast(lanes.and_(lanes.bitcast(result, "i32"), kept), "float")
        if f is BF16:
            return normal
        up, down = (lanes.constant("float", (127 + e) << 23) for e in (24, -24))
        small = lanes.mul(lanes.apply("llvm.trunc", lanes.mul(result, up)), down)
        least = lanes.constant("float", (127 + 1 - f.bias) << 23)
        return lanes.select(lanes.compare("olt", lanes.apply("llvm.fabs", result), least), small, normal)

    return work


_F16, _BF16, _BOTH = "f16 f16x2", "bf16 bf16x2", "f16 f16x2 bf16 bf16x2"
_ROWS: tuple[tuple[str, str, str, Work, int], ...] = (
    ("add{.rnd}{.ftz}{.sat}.type  d, a, b", _F16, "rn", _plain("fadd"), 1),
    ("add{.rnd}.type  d, a, b", _BF16, "rn", _plain("fadd"), 1),
    ("sub{.rnd}{.ftz}{.sat}.type  d, a, b", _F16, "rn", _plain("fsub"), 1),
    ("sub{.rnd}.type  d, a, b", _BF16, "rn", _plain("fsub"), 1),
    ("mul{.rnd}{.ftz}{.sat}.type  d, a, b", _F16, "rn", _plain("fmul"), 1),
    ("mul{.rnd}.type  d, a, b", _BF16, "rn", _plain("fmul"), 1),
    ("fma.rnd{.ftz}{.sat}.type  d, a, b, c", _F16, "rn", _fused, 2),
    ("fma.rnd{.ftz}.relu.type  d, a, b, c", _F16, "rn", _fused, 2),
    ("fma.rnd{.relu}.type  d, a, b, c", _BF16, "rn", _fused, 2),
    ("neg{.ftz}.type  d, a", _BOTH, "", _plain("fneg"), 0),
    ("abs{.ftz}.type  d, a", _BOTH, "", _plain("llvm.fabs"), 0),
    ("min{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b", _BOTH, "", _least("min"), 0),
    ("max{.ftz}{.NaN}{.xorsign}{.abs}.type  d, a, b", _BOTH, "", _least("max"), 0),
    ("ex2.approx{.ftz}.type  d, a", _F16, "", _cut(multifunction.exp2), 0),
    ("ex2.approx.ftz.type  d, a", _BF16, "", _cut(multifunction.exp2), 0),
    ("tanh.approx.type  d, a", _BOTH, "", _cut(multifunction.tanh), 0),
)
for _notation, _types, _modes, _work, _flops in _ROWS:
    add_row(_notation, unit="fp16", flops=_flops, meaning=_arithmetic(_work), type=_types, rnd=_modes)
