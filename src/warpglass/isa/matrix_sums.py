"""How tensor cores multiply and add: the arithmetic of one element of a matrix product, for every type.

Integers are exact. Double precision is a chain of fused operations in the order of k. For narrower floating
types the hardware's way is not documented; this is the model of Xie et al., "MMA-Sim: Bit-Accurate Reference
Model of Tensor Cores and Matrix Cores" (arXiv 2511.10909), for Hopper, and gives an H200's bits on all of
a million random elements. Products are exact; they and the accumulator are cut, toward zero, to a multiple
of 2**(e - 25), where e is the largest exponent among them; the sum of these is exact, and cut to single
precision or rounded to the nearest half. The exponent of a product is the sum of its factors' exponents,
those of subnormal numbers count as the smallest normal one's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .directed import directed
from .half import pack, unpack
from .lanes import AnyLanes, Lanes
from .rounding import BF16, F16, F32, TF32, Format, is_nan, odd_single, settle
from .types import bits

V = TypeVar("V")

_FRACTION = 25  # bits below the largest exponent that take part in a sum
_LEAST = -126  # no exponent counts as smaller
_ABSENT, _SPECIAL = -(1 << 12), 1 << 14  # exponents for zero, and for infinities and NaN

# A row of A and a column of B, element by element.
Factors = Sequence[tuple[tuple[Any, ...], tuple[Any, ...]]]


class Arithmetic(ABC):
    """What the elements of A, B and C are, and how an element of the product comes about.

    An element is a tuple of lane values: whatever is wanted of it for many products. `name` tells the
    arithmetic from all others.
    """

    name: str
    width: int  # bits of an element of A and B
    sum_width: int  # of C

    @property
    def result_width(self) -> int:
        """Bits of an element of D."""
        return self.sum_width

    @abstractmethod
    def unpack(self, lanes: AnyLanes, word: Any, operand: str) -> Sequence[tuple[Any, ...]]:
        """The elements in a register of A or B, the lowest first."""

    def prepare(self, lanes: AnyLanes, element: tuple[Any, ...]) -> tuple[Any, ...]:
        """An element once it has come to the lanes that need it."""
        return element

    @abstractmethod
    def dot(self, lanes: AnyLanes, factors: Factors, c: Any) -> Any:
        """c and all products: an integer, or a double, as wide as c."""

    @property
    def swapped(self) -> Arithmetic:
        """The same with A and B exchanged."""
        return self


@dataclass(frozen=True)
class Integers(Arithmetic):
    """Integers of 4 or 8 bits; sums of 32 bits wrap, or are clamped at the end."""

    width: int
    signed_a: bool
    signed_b: bool
    saturate: bool
    sum_width: int = 32

    @property
    def name(self) -> str:  # type: ignore[override]
        signs = "".join("us"[signed] for signed in (self.signed_a, self.signed_b))
        return f"{signs}{self.width}{'_sat' if self.saturate else ''}"

    def unpack(self, lanes: AnyLanes, word: Any, operand: str) -> Sequence[tuple[Any, ...]]:
        signed = self.signed_a if operand == "a" else self.signed_b
        down = lanes.constant("i32", 32 - self.width)
        found: list[tuple[Any, ...]] = []
        for position in range(0, 32, self.width):
            up = lanes.constant("i32", 32 - self.width - position)
            found.append((lanes.apply("ashr" if signed else "lshr", lanes.apply("shl", word, up), down),))
        return found

    def dot(self, lanes: AnyLanes, factors: Factors, c: Any) -> Any:
        total = lanes.constant("i32", 0)
        for (x,), (y,) in factors:
            total = lanes.add(total, lanes.mul(x, y))
        return lanes.apply("llvm.sadd.sat" if self.saturate else "add", total, c)

    @property
    def swapped(self) -> Arithmetic:
        return replace(self, signed_a=self.signed_b, signed_b=self.signed_a)


@dataclass(frozen=True)
class Bits(Arithmetic):
    """Single bits, 32 to an element: how many are set after an operation on both."""

    operation: str
    width: int = 32
    sum_width: int = 32

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"b1_{self.operation}"

    def unpack(self, lanes: AnyLanes, word: Any, operand: str) -> Sequence[tuple[Any, ...]]:
        return [(word,)]

    def dot(self, lanes: AnyLanes, factors: Factors, c: Any) -> Any:
        for (x,), (y,) in factors:
            c = lanes.add(c, lanes.apply("llvm.ctpop", lanes.apply(self.operation, x, y)))
        return c


@dataclass(frozen=True)
class Doubles(Arithmetic):
    """Double precision."""

    mode: str
    width: int = 64
    sum_width: int = 64

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"f64_{self.mode}"

    def unpack(self, lanes: AnyLanes, word: Any, operand: str) -> Sequence[tuple[Any, ...]]:
        return [(word,)]

    def dot(self, lanes: AnyLanes, factors: Factors, c: Any) -> Any:
        for (x,), (y,) in factors:
            if self.mode == "rn":
                c = settle(lanes, lanes.apply("llvm.fma", x, y, c), y, c, x)
            else:
                c = directed(lanes, "fma", self.mode, x, y, c)
        return c


@dataclass(frozen=True)
class Floats(Arithmetic):
    """Formats of up to 19 bits, with sums in single or half precision."""

    format: Format
    sums: Format

    @property
    def name(self) -> str:  # type: ignore[override]
        return "_".join(f"e{f.exponent}m{f.fraction}" for f in (self.format, self.sums))

    @property
    def width(self) -> int:  # type: ignore[override]
        return 32 if self.format is TF32 else self.format.width

    @property
    def sum_width(self) -> int:  # type: ignore[override]
        return self.sums.width

    @property
    def _type(self) -> str:
        """Where products are exact and do not overflow."""
        return "float" if self.format is F16 else "double"

    def unpack(self, lanes: AnyLanes, word: Any, operand: str) -> Sequence[tuple[Any, ...]]:
        f = self.format
        if f is TF32:  # the lowest bits of the register are not looked at
            patterns = [lanes.apply("lshr", word, lanes.constant("i32", 32 - f.width))]
        else:
            patterns = lanes.split(word, 32 // f.width)
        return [(_value(lanes, pattern, f), _exponent(lanes, pattern, f)) for pattern in patterns]

    def prepare(self, lanes: AnyLanes, element: tuple[Any, ...]) -> tuple[Any, ...]:
        value, exponent = element
        return value if self._type == "float" else _double(lanes, value), exponent

    def dot(self, lanes: AnyLanes, factors: Factors, c: Any) -> Any:
        exponents = [lanes.add(x[1], y[1]) for x, y in factors]
        largest = lanes.constant("i32", _LEAST)
        for exponent in (*exponents, _exponent(lanes, c, self.sums)):
            largest = lanes.apply("llvm.smax", largest, exponent)
        products = [lanes.mul(x[0], y[0]) for x, y in factors]
        own = _double(lanes, _value(lanes, c, self.sums))
        usual = self._cut_sum(lanes, largest, products, own)
        special = lanes.compare("sgt", largest, lanes.constant("i32", _SPECIAL // 2))
        total = lanes.unless(special, usual, lambda: _plain_sum(lanes, products, own))
        if self.sums is F32:
            return _cut_to_single(lanes, total)
        pattern = pack(lanes, odd_single(lanes, total), F16)
        # A sum that comes to nothing is +0.
        none = lanes.compare("eq", pattern, lanes.constant("i16", F16.sign))
        return lanes.select(none, lanes.constant("i16", 0), pattern)

    def _cut_sum(self, lanes: AnyLanes, largest: Any, products: Sequence[Any], c: Any) -> Any:
        up = lanes.sub(lanes.constant("i32", _FRACTION), largest)
        # A float has no power for the smallest exponents, which come about only if all products are zero.
        bounded = up if self._type == "double" else lanes.apply("llvm.smin", up, lanes.constant("i32", 100))
        scale = _power(lanes, bounded, self._type)
        total = lanes.constant("i32", 0)
        for product in products:  # cut ones are below 4 * 2**25: 16 of them add up in 32 bits
            total = lanes.add(total, lanes.convert("fptosi", lanes.mul(product, scale), "i32"))
        own = lanes.apply("llvm.trunc", lanes.mul(c, _power(lanes, up, "double")))
        total = lanes.add(lanes.convert("sitofp", total, "double"), own)
        return lanes.mul(total, _power(lanes, lanes.neg(up), "double"))


@dataclass(frozen=True)
class Chains(Arithmetic):
    """Four products of halves in single precision, as ptxas makes them of ordinary instructions."""

    sums: Format
    results: Format
    width: int = 16

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"chain{self.sums.width}_{self.results.width}"

    @property
    def sum_width(self) -> int:  # type: ignore[override]
        return self.sums.width

    @property
    def result_width(self) -> int:
        return self.results.width

    def unpack(self, lanes: AnyLanes, word: Any, operand: str) -> Sequence[tuple[Any, ...]]:
        return [(unpack(lanes, pattern, F16),) for pattern in lanes.split(word, 2)]

    def dot(self, lanes: AnyLanes, factors: Factors, c: Any) -> Any:
        own = _value(lanes, c, self.sums)
        if self.results is F32:
            total = lanes.constant("float", 0)
            for (x,), (y,) in factors:
                total = lanes.apply("llvm.fma", x, y, total)
            return lanes.bitcast(settle(lanes, lanes.add(total, own)), "i32")
        halves: list[Any] = []
        for k in (0, 2):
            ((x,), (y,)), ((z,), (w,)) = factors[k : k + 2]
            halves.append(lanes.apply("llvm.fma", z, w, lanes.mul(x, y)))
        return pack(lanes, lanes.add(lanes.add(halves[0], own), halves[1]), F16)


def _value(lanes: Lanes[V], pattern: V, f: Format) -> V:
    """A pattern as a float."""
    if f in (F16, BF16):
        return unpack(lanes, pattern, f)
    dropped = lanes.constant("i32", 32 - f.width)
    return lanes.bitcast(lanes.apply("shl", pattern, dropped) if f is TF32 else pattern, "float")


def _exponent(lanes: Lanes[V], pattern: V, f: Format) -> V:
    """The exponent of a pattern's number."""
    k = lambda value: lanes.constant("i32", value)  # noqa: E731
    size = lanes.and_(lanes.extend(pattern, "i32", signed=False), k(f.sign - 1))
    field = lanes.apply("llvm.umax", lanes.apply("lshr", size, k(f.fraction)), k(1))
    exponent = lanes.sub(field, k(f.bias))
    exponent = lanes.select(lanes.compare("eq", size, k(0)), k(_ABSENT), exponent)
    return lanes.select(lanes.compare("uge", size, k(f.infinity)), k(_SPECIAL), exponent)


def _power(lanes: Lanes[V], exponent: V, type_: str) -> V:
    """2 to a power that is a normal number's."""
    fraction, bias = (23, 127) if type_ == "float" else (52, 1023)
    whole = f"i{bits(type_)}"
    field = lanes.extend(lanes.add(exponent, lanes.constant("i32", bias)), whole, signed=True)
    return lanes.bitcast(lanes.apply("shl", field, lanes.constant(whole, fraction)), type_)


def _plain_sum(lanes: Lanes[V], products: Sequence[V], c: V) -> V:
    """The infinity or NaN that comes of operands of which one is not finite."""
    for product in products:
        c = lanes.add(c, _double(lanes, product))
    return c


def _double(lanes: Lanes[V], a: V) -> V:
    return a if lanes.type_of(a) == "double" else lanes.convert("fpext", a, "double")


def _cut_to_single(lanes: Lanes[V], a: V) -> V:
    """A double cut toward zero to single precision, as a pattern; too large numbers become infinite.

    What is cut to nothing is +0.
    """
    k = lambda value: lanes.constant("i32", value)  # noqa: E731
    near = lanes.convert("fptrunc", a, "float")
    size = lanes.apply("llvm.fabs", a)
    outward = lanes.compare("ogt", _double(lanes, lanes.apply("llvm.fabs", near)), size)
    inward = lanes.sub(lanes.bitcast(near, "i32"), lanes.extend(outward, "i32", signed=False))
    too_large = lanes.compare("oge", size, lanes.constant("double", (1023 + 128) << 52))
    pattern = lanes.select(too_large, lanes.bitcast(near, "i32"), inward)
    pattern = lanes.select(lanes.compare("eq", pattern, k(F32.sign)), k(0), pattern)
    return lanes.select(is_nan(lanes, a), k(F32.nan), pattern)
