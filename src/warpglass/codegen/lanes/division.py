"""Division of integers in lanes, where hosts lack instructions for it, as x86 does.

One divisor for all lanes is often a power of two, which no compiler could know: one test at run time finds
that. Otherwise 32-bit integers are divided in double precision, which holds both operands exactly.
"""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import suffix
from .values import Value, no_offsets, replace
from .vector import VectorLanes


class DividingLanes(VectorLanes):
    """Adds division by divisors that are known not to be 0, nor -1 of signed operations."""

    def _divide_by_power(self, operation: str, a: Value, b: Value) -> Value:
        """Division by one number for all lanes, which is often a power of two at run time."""
        builder, type_ = self.builder, a.type
        numerator = self.as_vector(a)
        ones = builder.call(type_, f"llvm.ctpop.{suffix(type_, 1)}", [(type_, b.ir)])
        is_power = builder.value(f"icmp eq {type_} {ones}, 1")
        if operation[0] == "s":  # the least integer has one bit too
            is_power = builder.value(f"and i1 {is_power}, {builder.value(f'icmp sgt {type_} {b.ir}, 0')}")
        power, other, join = builder.label("power"), builder.label("other"), builder.label("divided")
        builder.branch(is_power, power, other)
        builder.place(power)
        quick = self._by_power(operation, numerator, b)
        last = builder.label("powered")
        builder.jump(last)
        builder.place(last)
        builder.jump(join)
        builder.place(other)
        general = self._divide_vectors(operation, numerator, b)
        builder.jump(join)
        builder.place(join)
        return Value(type_, builder.phi(builder.vector(type_), (quick, last), (general.ir, other)))

    def _by_power(self, operation: str, a: Value, b: Value) -> str:
        """The result where the divisor is a power of two, and positive if signed."""
        builder, type_ = self.builder, a.type
        below = self.as_vector(Value(type_, builder.value(f"sub {type_} {b.ir}, 1"), no_offsets(self.width)))
        raised, raise_ = a, None
        if operation[0] == "s" and (a.low is None or a.low < 0):
            # Towards zero: negative numerators are first raised by one less than the divisor.
            shift = self.as_vector(self.constant(type_, BITS[type_] - 1))
            raise_ = self._emit("and", (self._emit("ashr", (a, shift)), below))
            raised = self._emit("add", (a, raise_))
        if operation.endswith("div"):
            shift = builder.call(type_, f"llvm.cttz.{suffix(type_, 1)}", [(type_, b.ir), ("i1", "false")])
            amount = self.as_vector(Value(type_, shift, no_offsets(self.width)))
            return self._emit("ashr" if operation[0] == "s" else "lshr", (raised, amount)).ir
        rest = self._emit("and", (raised, below))
        return rest.ir if raise_ is None else self._emit("sub", (rest, raise_)).ir

    def _divide_vectors(self, operation: str, a: Value, b: Value) -> Value:
        if a.type != "i32":
            if a.type == "i64" and self._fits_word(a) and self._fits_word(b):
                a, b = (self.convert("trunc", value, "i32") for value in (a, b))
                return self.convert("sext", self._divide_vectors(operation, a, b), "i64")
            return self._emit(operation, (self.as_vector(a), self.as_vector(b)))
        numerator, divisor = self.as_vector(a), self.as_vector(b)
        quotient = self._quotient_by_one(operation, a, b) if b.uniform else self._quotient(operation, a, b)
        if operation.endswith("div"):
            return quotient
        return self._emit("sub", (numerator, self._emit("mul", (quotient, divisor))))

    @staticmethod
    def _fits_word(a: Value) -> bool:
        """Whether a value is known to be a 32-bit integer that is not negative."""
        return a.low is not None and a.high is not None and a.low >= 0 and a.high < 1 << 31

    def _quotient(self, operation: str, a: Value, b: Value) -> Value:
        # It is too far from the next integer for rounding to reach it.
        to_double, back = _CONVERSIONS[operation[0]]
        x, y = (self._convert(to_double, self.as_vector(v), "double") for v in (a, b))
        return self._convert(back, self._emit("fdiv", (x, y)), "i32")

    def _quotient_by_one(self, operation: str, a: Value, b: Value) -> Value:
        """The same by a multiplication: half is added, so that no error can carry it over an integer."""
        to_double, back = _CONVERSIONS[operation[0]]
        x = self._convert(to_double, self.as_vector(a), "double")
        one, half = (Value("double", text, no_offsets(self.width)) for text in ("1.0", "0.5"))
        inverse = self._emit("fdiv", (one, self._convert(to_double, b, "double", lanes=1)), lanes=1)
        halves = self.as_vector(half)
        if operation[0] == "s" and (a.low is None or a.low < 0):
            halves = self._emit("llvm.copysign", (halves, x))
        by = self.as_vector(replace(inverse, offsets=no_offsets(self.width)))
        product = self._emit("fmul", (self._emit("fadd", (x, halves)), by))
        return self._convert(back, product, "i32")


_CONVERSIONS = {"s": ("sitofp", "fptosi"), "u": ("uitofp", "fptoui")}
