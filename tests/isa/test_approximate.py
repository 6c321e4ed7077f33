"""Approximate functions: the manual's error bounds, and exact results where the manual fixes them.

On a GPU the same bounds hold; where a result is fixed, it must be that one there too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest

from tests.engines import ENGINES

from .float_harness import ALL_FORMATS, NAN, Case, check
from .test_half import by_half


@dataclass(frozen=True)
class Bound:
    """How far a result may be from the exact one: relative, absolute, or in units of the last place."""

    relative: float = 0.0
    absolute: float = 0.0
    ulps: float = 0.0


def _accepts(type_: str, bound: Bound, ftz: bool) -> Callable[[int, int], bool]:
    f = ALL_FORMATS[type_]

    def near(have: int, want: int) -> bool:
        if have == want:
            return True
        if f.is_nan(want) or f.is_nan(have) or want & ~f.sign == f.infinity:
            return False
        x, y = f.decode(have), f.decode(want)
        assert isinstance(y, Fraction)
        if isinstance(x, float):
            # Infinity stands for the number that would follow the largest.
            x = Fraction(2) ** (f.bias + 1) * (-1 if x < 0 else 1)
        unit = Fraction(2) ** (max((want & ~f.sign) >> f.fraction, 1) - f.bias - f.fraction)
        room = abs(y) * Fraction(bound.relative) + Fraction(bound.absolute) + unit * Fraction(bound.ulps)
        # Results near the smallest normal number may be flushed on either side of it.
        smallest = Fraction(2) ** (1 - f.bias)
        return abs(x - y) <= room or (ftz and x == 0 and abs(y) <= smallest * (1 + Fraction(bound.relative)))

    return near


def exact(type_: str, function: Callable[[float], float], ftz: bool = False) -> Callable[[int], int]:
    """A function of doubles on patterns: evaluated far more precisely than the format, then rounded."""
    f = ALL_FORMATS[type_]

    def compute(a: int) -> int:
        a = f.flush(a) if ftz else a
        if f.is_nan(a):
            return NAN[type_]
        x = math.copysign(float(f.decode(a)), -1.0 if a & f.sign else 1.0)
        value = function(x)
        if math.isnan(value):
            return NAN[type_]
        number = value if math.isinf(value) else Fraction(value)
        result = f.encode(number, negative_zero=math.copysign(1.0, value) < 0)
        return f.flush(result) if ftz else result

    return compute


def _reciprocal(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else 1 / x


def _root(x: float) -> float:
    return math.nan if x < 0 else math.sqrt(x)


def _log2(x: float) -> float:
    return -math.inf if x == 0 else math.nan if x < 0 else math.log2(x)


def _exp2(x: float) -> float:
    return math.inf if x > 1024 else math.exp2(max(x, -1000.0))


def _of_finite(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: math.nan if math.isinf(x) else function(x)


# Bounds from the PTX manual; sin and cos of large arguments have none, and are tested apart.
_SINGLE: dict[str, tuple[Callable[[float], float], Bound]] = {
    "rcp": (_reciprocal, Bound(ulps=1)),
    "sqrt": (_root, Bound(relative=2**-23)),
    "rsqrt": (
        lambda x: _reciprocal(_root(x)) if x != 0 else math.copysign(math.inf, x),
        Bound(relative=2**-22.9),
    ),
    "ex2": (_exp2, Bound(relative=2**-22)),
    "lg2": (_log2, Bound(absolute=2**-22, relative=2**-22)),
    "tanh": (math.tanh, Bound(relative=2**-11)),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("opcode", _SINGLE)
def test_single_precision_is_within_the_bound(opcode: str, engine: str):
    function, bound = _SINGLE[opcode]
    cases = [
        Case(
            f"{opcode}.approx{'.ftz' if ftz else ''}.f32",
            "f32",
            ("f32",),
            exact("f32", function, ftz),
            _accepts("f32", bound, ftz),
        )
        for ftz in ((False, True) if opcode != "tanh" else (False,))
    ]
    check(cases, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("opcode", ["sin", "cos"])
def test_sin_and_cos_are_within_the_bound(opcode: str, engine: str):
    function = _of_finite(math.sin if opcode == "sin" else math.cos)
    f = ALL_FORMATS["f32"]

    def accepts(have: int, want: int) -> bool:
        return have == want or near(have, want)

    def oracle(a: int, ftz: bool) -> int:
        return exact("f32", function, ftz)(a) if not _is_large(a) else _LARGE

    def _is_large(a: int) -> bool:
        value = f.decode(a)
        return value == value and abs(value) != math.inf and abs(value) > 100 * math.pi

    near = _accepts("f32", Bound(absolute=2**-14.7), ftz=True)
    large = lambda have: not f.is_nan(have) and abs(f.decode(have)) <= 1  # noqa: E731
    cases = [
        Case(
            f"{opcode}.approx{'.ftz' if ftz else ''}.f32",
            "f32",
            ("f32",),
            lambda a, ftz=ftz: oracle(a, ftz),
            lambda have, want: large(have) if want == _LARGE else accepts(have, want),
        )
        for ftz in (False, True)
    ]
    check(cases, engine)


_LARGE = 1 << 40  # what an oracle says where any number from -1 to 1 will do


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("opcode", ["div.full", "div.approx"])
def test_quotients_are_within_two_units(opcode: str, engine: str):
    f = ALL_FORMATS["f32"]

    def quotient(ftz: bool) -> Callable[[int, int], int]:
        def compute(a: int, b: int) -> int:
            a, b = (f.flush(a), f.flush(b)) if ftz else (a, b)
            x, y = f.decode(a), f.decode(b)
            negative = bool((a ^ b) & f.sign)
            large = opcode == "div.approx" and y == y and abs(y) > 2**126
            if x != x or y != y or (x == 0 == y) or (abs(x) == math.inf and (abs(y) == math.inf or large)):
                return NAN["f32"]
            sign = f.sign if negative else 0
            if abs(x) == math.inf or y == 0:
                return sign | f.infinity
            if abs(y) == math.inf or large:
                return sign
            assert isinstance(x, Fraction) and isinstance(y, Fraction)  # noqa: PT018
            result = f.encode(x / y, negative)
            return f.flush(result) if ftz else result

        return compute

    near = {ftz: _accepts("f32", Bound(ulps=2), ftz) for ftz in (False, True)}
    cases = [
        Case(f"{opcode}{'.ftz' if ftz else ''}.f32", "f32", ("f32", "f32"), quotient(ftz), near[ftz])
        for ftz in (False, True)
    ]
    check(cases, engine)


def _cut_exp2(x: float) -> float:
    """The hardware cuts subnormal results of f16."""
    value = _exp2(x)
    return math.floor(value * 2**24) / 2**24 if value < 2**-14 else value


_HALF = {"ex2": (_exp2, {"f16": Bound(relative=2**-9.9), "bf16": Bound(relative=2**-7)})}
_HALF |= {"tanh": (math.tanh, {"f16": Bound(absolute=2**-10.987), "bf16": Bound(absolute=2**-8)})}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["f16", "f16x2", "bf16", "bf16x2"])
@pytest.mark.parametrize("opcode", _HALF)
def test_halves_are_within_the_bound(opcode: str, type_: str, engine: str):
    function, bounds = _HALF[opcode]
    base = type_.removesuffix("x2")
    one = _accepts(base, bounds[base], ftz=False)

    def near(have: int, want: int) -> bool:
        if base == type_:
            return one(have, want)
        return one(have & 0xFFFF, want & 0xFFFF) and one(have >> 16, want >> 16)

    ftz = ".ftz" if opcode == "ex2" and base == "bf16" else ""
    function = _cut_exp2 if (opcode, base) == ("ex2", "f16") else function
    oracle = by_half(exact(base, function, ftz=bool(ftz)), type_)
    check([Case(f"{opcode}.approx{ftz}.{type_}", type_, (type_,), oracle, near)], engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("opcode", ["rcp", "rsqrt"])
def test_gross_double_functions_have_nothing_in_the_lower_half(opcode: str, engine: str):
    f = ALL_FORMATS["f64"]
    upper = 0xFFFFFFFF00000000

    def oracle(a: int) -> int:
        a = f.flush(a & upper)
        x = f.decode(a)
        if x != x or (opcode == "rsqrt" and x < 0):
            return 0x7FFFFFFF00000000
        sign = a & f.sign
        if x == 0:
            return sign | f.infinity
        if abs(x) == math.inf:
            return sign
        result = _reciprocal(float(x)) if opcode == "rcp" else 1 / math.sqrt(x)
        return f.flush(f.encode(result if math.isinf(result) else Fraction(result)))

    near = _accepts("f64", Bound(relative=2**-19), ftz=True)
    accepts = lambda have, want: have & ~upper == 0 and near(have, want)  # noqa: E731
    check([Case(f"{opcode}.approx.ftz.f64", "f64", ("f64",), oracle, accepts)], engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_rsqrt_in_double_precision(engine: str):
    f = ALL_FORMATS["f64"]

    def oracle(a: int) -> int:
        x = f.decode(a)
        if x != x:
            return a | 1 << 51
        if x < 0:
            return NAN["f64"]
        if x == 0:
            return a | f.infinity
        return 0 if x == math.inf else f.encode(Fraction(1 / math.sqrt(x)))

    check(
        [Case("rsqrt.approx.f64", "f64", ("f64",), oracle, _accepts("f64", Bound(ulps=2), ftz=False))], engine
    )
