"""Division of integers in lanes, where hosts lack instructions for it, as x86 does.

One divisor for all lanes is often a power of two, which no compiler could know: one test at run time finds
that. Otherwise integers are multiplied by the divisor's inverse in double precision. That holds 32-bit
integers exactly. Of 64-bit ones it gives most of the quotient, what is left of the numerator the rest of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...isa.types import BITS
from ..builder import suffix, vector
from ..machine.target import converts_wide
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
    if b.uniform and a.type == "i32":
        return _by_constant(lanes, operation, a, b)
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


def _by_constant(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    """Of 32-bit integers, by multiplications: of one word if bounds show that the product fits it."""
    assert b.constant is not None
    numerator, divisor = lanes.vectors(a, b)
    natural = a.low is not None and a.low >= 0 and signed(b.constant, BITS[b.type]) > 0
    short = _short_inverse(b.constant, a.high or 0) if natural else None
    if short is None:
        quotient = lanes.emit(f"{operation[0]}div", numerator, divisor)
    else:
        factor, shift = (lanes.as_vector(lanes.constant("i32", number)) for number in short)
        quotient = lanes.emit("lshr", lanes.emit("mul", numerator, factor), shift)
    if operation.endswith("div"):
        return quotient
    return lanes.emit("sub", numerator, lanes.emit("mul", quotient, divisor))


def _short_inverse(divisor: int, most: int) -> tuple[int, int] | None:
    """By what to multiply numerators up to `most`, and by how much to shift the product, which fits 32 bits.

    The product exceeds the quotient by less than the divisor's inverse.
    """
    for shift in range(divisor.bit_length(), 32):
        factor = -(-(1 << shift) // divisor)
        if factor * most >= 1 << 32:
            return None
        if (factor * divisor - (1 << shift)) * most < 1 << shift:
            return factor, shift
    return None


def _by_any(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    if a.type == "i64" and _is_natural(a) and _is_natural(b):
        a, b = (lanes.convert("trunc", value, "i32") for value in (a, b))
        return lanes.convert("sext", _by_any(lanes, operation, a, b), "i64")
    if a.type == "i64" and converts_wide():
        return _wide(lanes, operation, a, b)
    if a.type != "i32":
        return lanes.emit(operation, *lanes.vectors(a, b))
    quotient = _quotient(lanes, operation, a, b)
    if operation.endswith("div"):
        return quotient
    numerator, divisor = lanes.vectors(a, b)
    return lanes.emit("sub", numerator, lanes.emit("mul", quotient, divisor))


def _is_natural(a: Value) -> bool:
    """Whether a value is known to be a 32-bit integer that is not negative."""
    return a.low is not None and a.high is not None and a.low >= 0 and a.high < 1 << 31


def _quotient(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    """Of 32-bit integers. Half is added to the numerator, so that no error can carry it over an integer."""
    to_double, back = _CONVERSIONS[operation[0]]
    x = lanes.emit(to_double, lanes.as_vector(a), type_="double")
    halves = lanes.as_vector(Value("double", "0.5", lanes.same))
    if operation[0] == "s" and (a.low is None or a.low < 0):
        halves = lanes.emit("llvm.copysign", halves, x)
    by = lanes.as_vector(_inverse(lanes, to_double, b, "1.0", _TERMS_OF_WORDS))
    return lanes.emit(back, lanes.emit("fmul", lanes.emit("fadd", x, halves), by), type_="i32")


def _wide(lanes: FastArithmetic, operation: str, a: Value, b: Value) -> Value:
    """Of 64-bit integers, by their magnitudes."""
    signed_, remainder = operation[0] == "s", operation.endswith("rem")
    x, y = lanes.as_vector(a), b if b.uniform else lanes.as_vector(b)
    if signed_:
        x, y = lanes.as_vector(_magnitude(lanes, x)), _magnitude(lanes, y)
    divisor = lanes.as_vector(y)
    inverse = lanes.as_vector(_inverse(lanes, "uitofp", y, _LESS_THAN_ONE, _TERMS_OF_DOUBLES))

    def step(rest: Value) -> tuple[Value, Value]:
        """Some of the quotient of what is left of the numerator, never too much, and what is then left."""
        product = lanes.emit("fmul", lanes.emit("uitofp", rest, type_="double"), inverse)
        part = lanes.emit("fptoui", product, type_="i64")
        return part, lanes.emit("sub", rest, lanes.emit("mul", part, divisor))

    quotient, rest = step(x)
    if not _is_short(a, signed_):
        more, rest = step(rest)
        quotient = lanes.emit("add", quotient, more)
    # The quotient is right or one too small.
    if remainder:
        found = lanes.emit("llvm.umin", rest, lanes.emit("sub", rest, divisor))
    else:
        one, zero = (lanes.as_vector(lanes.constant("i64", number)) for number in (1, 0))
        enough = lanes.compare("uge", rest, divisor)
        found = lanes.emit("add", quotient, lanes.emit("select", enough, one, zero))
    if not signed_:
        return found
    negative = lanes.as_vector(a) if remainder else lanes.emit("xor", *lanes.vectors(a, b))
    signs = lanes.emit("ashr", negative, lanes.as_vector(lanes.constant("i64", 63)))
    return lanes.emit("sub", lanes.emit("xor", found, signs), signs)


def _is_short(a: Value, signed_: bool) -> bool:
    """Whether a numerator is known to be so little that one step leaves less than twice the divisor."""
    if a.low is None or a.high is None or (a.low < 0 and not signed_):
        return False
    return max(-a.low, a.high) < 1 << 49


def _magnitude(lanes: FastArithmetic, a: Value) -> Value:
    if a.low is not None and a.low >= 0:
        return a
    return lanes.apply("llvm.smax", a, lanes.neg(a))


# The terms of 1 / (1 - e) = 1 + e + e^2 ... that are needed where e is at most 2^-14: for an error of 2^-42,
# far less than half of the inverse of 2^32, and for one of 2^-56, less than rounding's.
_TERMS_OF_WORDS, _TERMS_OF_DOUBLES = 2, 3
# 1 - 2^-50: operands, inverse and product are each rounded by 2^-53 of themselves, so with this no quotient
# is too large, and it lacks at most one, and 2^-49 of itself.
_LESS_THAN_ONE = "0x3FEFFFFFFFFFFFF8"
_CONVERSIONS = {"s": ("sitofp", "fptosi"), "u": ("uitofp", "fptoui")}
_REGISTER = 8  # lanes of double precision


def _inverse(lanes: FastArithmetic, to_double: str, divisor: Value, numerator: str, terms: int) -> Value:
    """`numerator`, which is 1 or nearly so, divided by integers: a scalar if they are one."""
    b, one = lanes.builder, Value("double", numerator, lanes.same)
    if divisor.uniform:
        y = lanes.emit(to_double, divisor, type_="double", lanes=1)
        return replace(lanes.emit("fdiv", one, y, lanes=1), offsets=lanes.same)
    y, ones = lanes.emit(to_double, lanes.as_vector(divisor), type_="double"), lanes.as_vector(one)
    if not converts_wide() or b.width % _REGISTER:
        return lanes.emit("fdiv", ones, y)
    # A third of a division's time: a first approximation whose error is then multiplied away.
    others = (vector("double", _REGISTER), "zeroinitializer"), ("i8", "-1")
    text = b.by_registers("double", _REGISTER, "llvm.x86.avx512.rcp14.pd.512", [y.ir], *others)
    rough = Value("double", text)
    error = lanes.emit("llvm.fma", lanes.emit("fneg", y), rough, ones)
    series = error
    for _ in range(terms - 1):
        series = lanes.emit("llvm.fma", series, error, error)
    return lanes.emit("llvm.fma", series, rough, rough)
