"""Division of integers in lanes, where hosts lack instructions for it, as x86 does.

One divisor for all lanes is often a power of two, which no compiler could know: one test at run time finds
that. Otherwise 32-bit integers are divided in double precision, which holds both operands exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...isa.types import BITS
from ..builder import suffix
from ..values.value import Value, replace, signed

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic


def divide(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    """Division by divisors that are known not to be 0, nor -1 of signed operations."""
    if a.uniform and b.uniform:
        return replace(lanes.emit(operation, a, b, lanes=1), offsets=lanes.same)
    if b.uniform and b.constant is None:
        return _maybe_by_power(lanes, operation, a, b)
    if b.uniform and _is_power(b):
        return Value(a.type, _by_power(lanes, operation, lanes.as_vector(a), b))
    return _by_any(lanes, operation, a, b)


def _is_power(a: Value) -> bool:
    """Whether a constant is a power of two, and positive."""
    number = signed(a.constant or 0, BITS[a.type])
    return number > 0 and number.bit_count() == 1


def _maybe_by_power(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    """Division by one number for all lanes, which is often a power of two at run time."""
    builder, type_ = lanes.builder, a.type
    numerator = lanes.as_vector(a)
    ones = builder.call(type_, f"llvm.ctpop.{suffix(type_, 1)}", [(type_, b.ir)])
    is_power = builder.value(f"icmp eq {type_} {ones}, 1")
    if operation[0] == "s":  # the least integer has one bit too
        is_power = builder.value(f"and i1 {is_power}, {builder.value(f'icmp sgt {type_} {b.ir}, 0')}")
    power, other, join = builder.label("power"), builder.label("other"), builder.label("divided")
    builder.branch(is_power, power, other)
    builder.place(power)
    quick = _by_power(lanes, operation, numerator, b)
    last = builder.label("powered")
    builder.jump(last)
    builder.place(last)
    builder.jump(join)
    builder.place(other)
    general = _by_any(lanes, operation, numerator, b)
    builder.jump(join)
    builder.place(join)
    return Value(type_, builder.phi(builder.vector(type_), (quick, last), (general.ir, other)))


def _by_power(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> str:
    """The result where the divisor is a power of two, and positive if signed."""
    builder, type_ = lanes.builder, a.type
    below = lanes.as_vector(Value(type_, builder.value(f"sub {type_} {b.ir}, 1"), lanes.same))
    raised, raise_ = a, None
    if operation[0] == "s" and (a.low is None or a.low < 0):
        # Towards zero: negative numerators are first raised by one less than the divisor.
        shift = lanes.as_vector(lanes.constant(type_, BITS[type_] - 1))
        raise_ = lanes.emit("and", lanes.emit("ashr", a, shift), below)
        raised = lanes.emit("add", a, raise_)
    if operation.endswith("div"):
        shift = builder.call(type_, f"llvm.cttz.{suffix(type_, 1)}", [(type_, b.ir), ("i1", "false")])
        amount = lanes.as_vector(Value(type_, shift, lanes.same))
        return lanes.emit("ashr" if operation[0] == "s" else "lshr", raised, amount).ir
    rest = lanes.emit("and", raised, below)
    return rest.ir if raise_ is None else lanes.emit("sub", rest, raise_).ir


def _by_any(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    if a.type != "i32":
        if a.type == "i64" and _is_natural(a) and _is_natural(b):
            a, b = (lanes.convert("trunc", value, "i32") for value in (a, b))
            return lanes.convert("sext", _by_any(lanes, operation, a, b), "i64")
        return lanes.emit(operation, *lanes.vectors(a, b))
    numerator, divisor = lanes.vectors(a, b)
    quotient = _quotient_by_one(lanes, operation, a, b) if b.uniform else _quotient(lanes, operation, a, b)
    if operation.endswith("div"):
        return quotient
    return lanes.emit("sub", numerator, lanes.emit("mul", quotient, divisor))


def _is_natural(a: Value) -> bool:
    """Whether a value is known to be a 32-bit integer that is not negative."""
    return a.low is not None and a.high is not None and a.low >= 0 and a.high < 1 << 31


def _quotient(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    # It is too far from the next integer for rounding to reach it.
    to_double, back = _CONVERSIONS[operation[0]]
    x, y = (lanes.emit(to_double, lanes.as_vector(v), type_="double") for v in (a, b))
    return lanes.emit(back, lanes.emit("fdiv", x, y), type_="i32")


def _quotient_by_one(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    """The same by a multiplication: half is added, so that no error can carry it over an integer."""
    to_double, back = _CONVERSIONS[operation[0]]
    x = lanes.emit(to_double, lanes.as_vector(a), type_="double")
    one, half = (Value("double", text, lanes.same) for text in ("1.0", "0.5"))
    divisor = lanes.emit(to_double, b, type_="double", lanes=1)
    inverse = lanes.emit("fdiv", one, divisor, lanes=1)
    halves = lanes.as_vector(half)
    if operation[0] == "s" and (a.low is None or a.low < 0):
        halves = lanes.emit("llvm.copysign", halves, x)
    by = lanes.as_vector(replace(inverse, offsets=lanes.same))
    product = lanes.emit("fmul", lanes.emit("fadd", x, halves), by)
    return lanes.emit(back, product, type_="i32")


_CONVERSIONS = {"s": ("sitofp", "fptosi"), "u": ("uitofp", "fptoui")}
