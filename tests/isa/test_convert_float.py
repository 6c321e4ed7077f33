"""Conversions from and to every floating type, against exact fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import pytest

from tests.engines import ENGINES

from . import floats
from .float_harness import ALL_FORMATS, NAN, Case, check, width

_WHOLE = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
_FLOATS = ("f16", "bf16", "f32", "f64")
_MODES = ("rn", "rz", "rm", "rp")
_INTEGRAL: dict[str, Callable[[Fraction], int]] = {
    "rni": round,
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}


def _words(*words: str | None) -> str:
    return ".".join(word for word in words if word)


def _signed(type_: str, pattern: int) -> int:
    bits = width(type_)
    return pattern - (1 << bits) if type_[0] == "s" and pattern >> (bits - 1) else pattern


# ---------------------------------------------------------------------------------------- integers
def _from_integer(dtype: str, atype: str, mode: str, sat: bool) -> Callable[[int], int]:
    f = ALL_FORMATS[dtype]

    def compute(a: int) -> int:
        result = f.encode(Fraction(_signed(atype, a)), mode=mode)
        return floats.saturate(f, result) if sat else result

    return compute


@pytest.mark.sampled(quick=5, ci=4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("atype", _WHOLE)
def test_integers_are_rounded_once(atype: str, engine: str):
    # PTX has no saturating conversion to bf16, and bf16 wants registers of exact size: none has 8 bits here.
    choices = itertools.product(_FLOATS, _MODES, (False, True))
    cases = [
        Case(
            _words("cvt", mode, "sat" if sat else None, dtype, atype),
            dtype,
            (atype,),
            _from_integer(dtype, atype, mode, sat),
        )
        for dtype, mode, sat in choices
        if not (dtype == "bf16" and (sat or width(atype) == 8))
    ]
    check(cases, engine)


def _to_integer(dtype: str, atype: str, rounding: str, ftz: bool) -> Callable[[int], int]:
    f = ALL_FORMATS[atype]
    bits = width(dtype)
    low = -(1 << (bits - 1)) if dtype[0] == "s" else 0
    high = (1 << (bits - (dtype[0] == "s"))) - 1

    def compute(a: int) -> int:
        value = f.decode(f.flush(a) if ftz else a)
        if value != value:
            result = 1 << (bits - 1) if atype == "f64" or bits == 64 else 0
        elif isinstance(value, float):
            result = high if value > 0 else low
        else:
            result = max(low, min(high, _INTEGRAL[rounding](Fraction(value))))
        return result & ((1 << bits) - 1)

    return compute


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("atype", _FLOATS)
def test_floats_become_integers_within_range(atype: str, engine: str):
    # A register takes 16 bits at least; conversion to 8 bits is tested on the low byte by the store.
    flushes = (False, True) if atype == "f32" else (False,)
    cases = [
        Case(
            _words("cvt", rounding, "ftz" if ftz else None, dtype, atype),
            dtype,
            (atype,),
            _to_integer(dtype, atype, rounding, ftz),
        )
        for dtype, rounding, ftz in itertools.product(_WHOLE, _INTEGRAL, flushes)
        if not (atype == "bf16" and width(dtype) == 8)
    ]
    check(cases, engine)


# ---------------------------------------------------------------------------------------- floats
def _nan(dtype: str, atype: str, a: int, ftz: bool) -> int:
    """What NaN becomes: to and from f64 it keeps its sign and, from the top, its payload."""
    if ftz and atype != "f64":
        return 0x7FFFFFFFE0000000 if dtype == "f64" else NAN[dtype]
    if "f64" in (dtype, atype):
        source, target = ALL_FORMATS[atype], ALL_FORMATS[dtype]
        payload = (a & ((1 << source.fraction) - 1)) << 52 >> source.fraction >> (52 - target.fraction)
        return (target.sign if a & source.sign else 0) | target.nan | payload
    return a << 16 if (dtype, atype) == ("f32", "bf16") else NAN[dtype]


def _between(dtype: str, atype: str, mode: str, ftz: bool, sat: bool) -> Callable[[int], int]:
    source, target = ALL_FORMATS[atype], ALL_FORMATS[dtype]
    target = target.flushing if ftz and dtype == "f32" else target

    def compute(a: int) -> int:
        # The hardware ignores .ftz where a single becomes f16.
        a = source.flush(a) if ftz and atype == "f32" and dtype != "f16" else a
        if source.is_nan(a):
            return 0 if sat else _nan(dtype, atype, a, ftz)
        value = source.decode(a)
        if mode in _INTEGRAL and isinstance(value, Fraction):
            value = Fraction(_INTEGRAL[mode](value))
        # A value that is saturated is so before it is rounded.
        if sat:
            value = max(Fraction(0), min(Fraction(1), value)) if not isinstance(value, float) else value
            value = value if isinstance(value, Fraction) else Fraction(int(value > 0))
        negative = bool(a & source.sign) and not sat
        rounding = mode if mode in _MODES else "rn"
        result = target.encode(value, negative_zero=negative, mode=rounding)
        return target.flush(result) if ftz and dtype == "f32" else result

    return compute


_WIDENING = (("f64", "f32"), ("f32", "f16"), ("f32", "bf16"), ("f64", "f16"), ("f64", "bf16"))
_NARROWING = (("f32", "f64"), ("f16", "f32"), ("bf16", "f32"), ("f16", "f64"), ("bf16", "f64"))
_NARROWING += (("f16", "bf16"), ("bf16", "f16"))


def _float_cases(dtype: str, atype: str, modes: tuple[str, ...]) -> list[Case]:
    cases = []
    for mode, ftz, sat in itertools.product(modes, (False, True), (False, True)):
        if (ftz and "f32" not in (dtype, atype)) or (sat and "bf16" in (dtype, atype)):
            continue
        opcode = _words("cvt", mode, "ftz" if ftz else None, "sat" if sat else None, dtype, atype)
        cases.append(Case(opcode, dtype, (atype,), _between(dtype, atype, mode, ftz, sat)))
    return cases


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pair", _WIDENING, ids=".".join)
def test_widening_is_exact(pair: tuple[str, str], engine: str):
    check(_float_cases(*pair, modes=("",)), engine)


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pair", _NARROWING, ids=".".join)
def test_narrowing_rounds_once(pair: tuple[str, str], engine: str):
    check(_float_cases(*pair, modes=_MODES), engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", _FLOATS)
def test_integral_values_keep_their_sign(type_: str, engine: str):
    check(_float_cases(type_, type_, modes=tuple(_INTEGRAL)), engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_conversion_to_the_same_type_may_flush_and_saturate(engine: str):
    cases = [case for case in _float_cases("f32", "f32", modes=("",)) if case.opcode != "cvt.f32.f32"]
    check(cases, engine)


# ---------------------------------------------------------------------------------------- packed and narrow
_LARGEST = {"f16": 0x7BFF, "bf16": 0x7F7F, "tf32": 0x3FBFF, "e5m2": 0x7B}


def _finite(type_: str, mode: str, relu: bool, satfinite: bool) -> Callable[[int], int]:
    """A single rounded to a narrow type."""
    source = ALL_FORMATS["f32"]
    nan = {"tf32": 0x3FFFF, "e4m3": 0x7F, "e5m2": 0x7F}.get(type_) or NAN[type_]

    def compute(a: int) -> int:
        if source.is_nan(a):
            return nan
        value, negative = source.decode(a), bool(a & source.sign)
        if type_ == "e4m3":
            result = _encode_e4m3(value, negative)
        else:
            target = ALL_FORMATS[type_]
            result = target.encode(value, negative_zero=negative, mode=mode)
            if satfinite and result & ~target.sign == target.infinity:
                result = (result & target.sign) | _LARGEST[type_]
        return 0 if relu and negative else result

    return compute


@cache
def _encode_e4m3(value: floats.Number, negative: bool) -> int:
    """The nearest of the format's numbers, of which the even pattern at a tie."""
    size = abs(value)
    sign = 0x80 if negative else 0
    if isinstance(size, float) or size > 448:
        return sign | 0x7E
    return sign | min(range(0x7F), key=lambda pattern: (abs(_decode_e4m3(pattern) - size), pattern % 2))


@cache
def _decode_e4m3(pattern: int) -> Fraction:
    exponent, fraction = pattern >> 3 & 15, pattern & 7
    return Fraction(fraction + (8 if exponent else 0)) * Fraction(2) ** (max(exponent, 1) - 10)


def _join(low: Callable[[int], int], bits: int) -> Callable[[int, int], int]:
    return lambda a, b: low(a) << bits | low(b)


def _relu(relu: bool) -> str | None:
    return "relu" if relu else None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_pairs_of_halves_take_their_upper_half_first(type_: str, engine: str):
    singles: list[Case] = []
    pairs: list[Case] = []
    for mode, relu, finite in itertools.product(("rn", "rz"), (False, True), (False, True)):
        one = _finite(type_, mode, relu, finite)
        words = _words("cvt", mode, _relu(relu), "satfinite" if finite else None)
        singles.append(Case(f"{words}.{type_}.f32", type_, ("f32",), one))
        pairs.append(Case(f"{words}.{type_}x2.f32", f"{type_}x2", ("f32", "f32"), _join(one, 16)))
    check(singles, engine)
    check(pairs, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_tf32_keeps_ten_bits(engine: str):
    def shifted(mode: str, relu: bool, finite: bool) -> Callable[[int], int]:
        one = _finite("tf32", mode, relu, finite)
        return lambda a: one(a) << 13

    def away(finite: bool) -> Callable[[int], int]:
        """ptxas has integer instructions for this one: NaN loses bits like any other pattern."""
        single, one = ALL_FORMATS["f32"], shifted("rna", False, finite)

        def compute(a: int) -> int:
            kept = a & ~0x1FFF
            if not single.is_nan(a):
                return one(a)
            return kept - 0x2000 if finite else kept

        return compute

    cases = [Case("cvt.rna.tf32.f32", "tf32", ("f32",), away(False))]
    cases.append(Case("cvt.rna.satfinite.tf32.f32", "tf32", ("f32",), away(True)))
    for mode, relu in itertools.product(("rn", "rz"), (False, True)):
        opcode = _words("cvt", mode, _relu(relu), "tf32.f32")
        cases.append(Case(opcode, "tf32", ("f32",), shifted(mode, relu, False)))
    check(cases, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["e4m3", "e5m2"])
def test_bytes_take_the_nearest_number(type_: str, engine: str):
    singles: list[Case] = []
    halves: list[Case] = []
    half = ALL_FORMATS["f16"]
    for relu in (False, True):
        one = _finite(type_, "rn", relu, True)

        def of_half(a: int, one: Callable[[int], int] = one) -> int:
            # A half is a single of the same value, and so is its NaN.
            return one(_as_single(half, a))

        words = _words("cvt.rn.satfinite", _relu(relu), f"{type_}x2")
        singles.append(Case(f"{words}.f32", f"{type_}x2", ("f32", "f32"), _join(one, 8)))
        both = lambda pair, of_half=of_half: of_half(pair >> 16) << 8 | of_half(pair & 0xFFFF)  # noqa: E731
        halves.append(Case(f"{words}.f16x2", f"{type_}x2", ("f16x2",), both))
    check(singles, engine)
    check(halves, engine)


def _as_single(f: floats.Format, a: int) -> int:
    single = ALL_FORMATS["f32"]
    return single.nan if f.is_nan(a) else single.encode(f.decode(a), negative_zero=bool(a & f.sign))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["e4m3", "e5m2"])
def test_bytes_become_halves_exactly(type_: str, engine: str):
    half = ALL_FORMATS["f16"]

    def one(byte: int, relu: bool) -> int:
        sign = bool(byte & 0x80)
        if type_ == "e5m2":
            result = NAN["f16"] if (byte & 0x7F) > 0x7C else byte << 8
        elif byte & 0x7F == 0x7F:
            result = NAN["f16"]
        else:
            result = half.encode(_decode_e4m3(byte & 0x7F)) | (half.sign if sign else 0)
        return 0 if relu and result & half.sign else result

    def both(relu: bool) -> Callable[[int], int]:
        return lambda pair: one(pair >> 8, relu) << 16 | one(pair & 0xFF, relu)

    cases = [
        Case(_words("cvt.rn", _relu(relu), f"f16x2.{type_}x2"), "f16x2", (f"{type_}x2",), both(relu))
        for relu in (False, True)
    ]
    check(cases, engine)
