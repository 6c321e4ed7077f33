"""Conversion from and to floating types (PTX manual, "cvt").

Sources become floats or doubles of the same value; what is lost on the way to the destination is lost in one
rounding. Integer rounding gives integers, or floats with integral values. Out-of-range integers are clamped.
"""

from __future__ import annotations

from typing import TypeVar

from .directed import step
from .half import pack, relu, unpack
from .lanes import Lanes
from .rounding import (
    FORMATS,
    Format,
    flush,
    is_nan,
    narrow,
    saturate,
    settle,
    to_odd,
    two_sum,
    unless_smallest,
    widen,
)
from .table import Match, Meaning, row
from .types import LLVM_TYPE, bits, is_signed

V = TypeVar("V")

_WHOLE = "u8 u16 u32 u64 s8 s16 s32 s64"
_FLOATS = "f16 bf16 f32 f64"
_MODES = "rn rz rm rp"
_INTEGRAL = {"rni": "llvm.roundeven", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}
_BOTH_SIGNS = 1 << 63


def _read(lanes: Lanes[V], type_: str, a: V, ftz: bool) -> V:
    """A source as a float, or a double if it is one; `.ftz` is for single precision only."""
    if type_ in ("f16", "bf16"):
        return unpack(lanes, a, FORMATS[type_])
    return flush(lanes, a) if ftz and type_ == "f32" else a


def _double(lanes: Lanes[V], a: V) -> V:
    return a if lanes.type_of(a) == "double" else lanes.convert("fpext", a, "double")


def _write(lanes: Lanes[V], type_: str, value: V, mode: str, *, ftz: bool = False, sat: bool = False) -> V:
    """A float or double rounded to a type in a mode."""
    value = saturate(lanes, value) if sat else value
    have = lanes.type_of(value)
    if type_ == "f64":
        return _double(lanes, value)
    if type_ == "f32":
        if have == "double":
            value = _to_single(lanes, value, mode, ftz)
        return flush(lanes, value) if ftz else value
    f = FORMATS[type_]
    if mode == "rn" and have == "float":
        return pack(lanes, value, f)
    return narrow(lanes, _double(lanes, value), f, mode)


def _to_single(lanes: Lanes[V], value: V, mode: str, ftz: bool) -> V:
    narrowed = lambda: lanes.bitcast(narrow(lanes, value, FORMATS["f32"], mode, flush=ftz), "float")  # noqa: E731
    if mode != "rn":
        return narrowed()
    near = lanes.convert("fptrunc", value, "float")
    return unless_smallest(lanes, near, narrowed) if ftz else near


# ---------------------------------------------------------------------------------------- integers
@row(
    "cvt.rnd{.ftz}{.sat}.dtype.atype  d:dtype, a:atype",
    unit="conversion",
    rnd=_MODES,
    dtype=_FLOATS,
    atype=_WHOLE,
)
def cvt_from_integer(lanes: Lanes[V], m: Match, a: V) -> V:
    type_, mode, signed = m.values["dtype"], m.values["rnd"], is_signed(m.values["atype"])
    convert = "sitofp" if signed else "uitofp"
    if mode == "rn" and type_ in ("f32", "f64"):
        value = lanes.convert(convert, a, LLVM_TYPE[type_])
    elif bits(lanes.type_of(a)) < 64:
        value = _write(lanes, type_, lanes.convert(convert, a, "double"), mode)
    else:
        low = lanes.convert("uitofp", lanes.extend(a, "i32", signed=False), "double")
        high = lanes.apply("ashr" if signed else "lshr", a, lanes.constant("i64", 32))
        scale = lanes.constant("double", (1023 + 32) << 52)
        near, rest = two_sum(lanes, lanes.mul(lanes.convert(convert, high, "double"), scale), low)
        if type_ == "f64":
            value = step(lanes, mode, near, rest, ())
        else:
            value = _write(lanes, type_, to_odd(lanes, near, rest), mode)
    if not m.sat:
        return value
    return _write(lanes, type_, _read(lanes, type_, value, ftz=False), "rn", sat=True)


@row(
    "cvt.rnd{.ftz}{.sat}.dtype.atype  d:dtype, a:atype",
    unit="conversion",
    rnd=" ".join(_INTEGRAL),
    dtype=_WHOLE,
    atype=_FLOATS,
)
def cvt_to_integer(lanes: Lanes[V], m: Match, a: V) -> V:
    source, target, mode = m.values["atype"], m.values["dtype"], m.values["rnd"]
    if mode == "rzi":  # what LLVM's conversion does by itself, and a subnormal number becomes zero
        value = _read(lanes, source, a, ftz=False)
    else:
        value = lanes.apply(_INTEGRAL[mode], _read(lanes, source, a, m.ftz is not None))
    type_ = LLVM_TYPE[target]
    whole = lanes.convert("llvm.fptosi.sat" if is_signed(target) else "llvm.fptoui.sat", value, type_)
    if source != "f64" and bits(type_) < 64:
        return whole  # NaN gives zero
    return lanes.select(is_nan(lanes, value), lanes.constant(type_, 1 << (bits(type_) - 1)), whole)


# ---------------------------------------------------------------------------------------- floats
def _add_same_size(type_: str, options: str) -> None:
    @row(f"cvt.rnd{options}{{.sat}}.{type_}.{type_}  d, a", rnd=" ".join(_INTEGRAL), unit="conversion")
    def cvt_integral(lanes: Lanes[V], m: Match, a: V) -> V:
        value = _read(lanes, type_, a, m.ftz is not None)
        integral = settle(lanes, lanes.apply(_INTEGRAL[m.values["rnd"]], value), value)
        return _write(lanes, type_, integral, "rn", sat=m.sat is not None)

    @row(f"cvt{options}{{.sat}}.{type_}.{type_}  d, a", unit="conversion")
    def cvt_same(lanes: Lanes[V], m: Match, a: V) -> V:
        if m.sat is None and m.ftz is None and type_[0] == "f" and type_ != "f16":
            return a  # halves come out with the NaN of results
        value = settle(lanes, _read(lanes, type_, a, m.ftz is not None), a)
        return _write(lanes, type_, value, "rn", sat=m.sat is not None)


for _type, _options in (("f16", ""), ("bf16", ""), ("f32", "{.ftz}"), ("f64", "")):
    _add_same_size(_type, _options)


def _add_rows(pairs: str, head: str, modes: str) -> None:
    """Rows for conversions between types, written dtype.atype."""
    for pair in pairs.split():
        notation = f"{head}.{pair}  d:{pair.partition('.')[0]}, a:{pair.partition('.')[2]}"
        row(notation, unit="conversion", rnd=modes)(_between(*pair.split(".")))


def _between(target: str, source: str) -> Meaning:
    def cvt_float(lanes: Lanes[V], m: Match, a: V) -> V:
        ftz, mode = m.ftz is not None, m.rnd or "rn"
        value = _read(lanes, source, a, ftz and target != "f16")  # the hardware ignores `.ftz.f16.f32`
        if m.values.get("relu") or m.values.get("satfinite"):
            return _finite(lanes, m, value, FORMATS[target])
        # Other NaNs that become wider only move to their places.
        if (source, target) == ("f16", "f32") or (ftz and source != "f64"):
            value = settle(lanes, value)
        result = _write(lanes, target, value, mode, ftz=ftz, sat=m.sat is not None)
        # To the nearest single the host lets NaN pass as well.
        if source != "f64" or m.sat or (target, mode) == ("f32", "rn"):
            return result
        return lanes.select(is_nan(lanes, a), _cut_nan(lanes, a, FORMATS[target], result), result)

    return cvt_float


def _cut_nan(lanes: Lanes[V], a: V, f: Format, like: V) -> V:
    """A double's NaN, made quiet, with as much of its payload as a format has room for."""
    k = lambda value: lanes.constant("i64", value)  # noqa: E731
    whole = lanes.bitcast(a, "i64")
    payload = lanes.and_(lanes.apply("lshr", whole, k(52 - f.fraction)), k((1 << f.fraction) - 1))
    sign = lanes.and_(lanes.apply("lshr", whole, k(64 - f.width)), k(f.sign))
    nan = lanes.or_(lanes.or_(payload, sign), k(f.infinity | 1 << (f.fraction - 1)))
    return lanes.bitcast(lanes.extend(nan, f"i{f.width}", signed=False), lanes.type_of(like))


def _finite(lanes: Lanes[V], m: Match, value: V, f: Format) -> V:
    """Rounding with `.relu` and `.satfinite`, which pairs and narrow formats have."""
    finite = m.satfinite is not None
    if m.values["rnd"] == "rn" and not finite and f.width == 16:
        pattern = pack(lanes, value, f)
    else:
        pattern = narrow(lanes, _double(lanes, value), f, m.values["rnd"], finite=finite)
    return relu(lanes, pattern) if m.relu else pattern


_add_rows("f64.f32 f32.f16 f32.bf16", "cvt{.ftz}{.sat}", "")
_add_rows("f64.f16 f64.bf16", "cvt{.sat}", "")
_add_rows("f32.f64 f16.f32 bf16.f32", "cvt.rnd{.ftz}{.sat}", _MODES)
_add_rows("f16.f64 bf16.f64 f16.bf16 bf16.f16", "cvt.rnd{.sat}", _MODES)
_add_rows("f16.f32 bf16.f32", "cvt.rnd{.relu}{.satfinite}", "rn rz")


# ---------------------------------------------------------------------------------------- packed and narrow
_TF32_DROPPED = 13  # bits of a single that tf32 does not have


@row(
    "cvt.rnd{.relu}{.satfinite}.type.f32  d, a:f32, b:f32",
    rnd="rn rz",
    type="f16x2 bf16x2",
    unit="conversion",
)
def cvt_pair(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """a becomes the upper half, b the lower."""
    f = FORMATS[m.values["type"].removesuffix("x2")]
    return lanes.join((_finite(lanes, m, b, f), _finite(lanes, m, a, f)))


@row("cvt.rna{.satfinite}.tf32.f32  d:tf32, a:f32", unit="conversion")
def cvt_tf32_away(lanes: Lanes[V], m: Match, a: V) -> V:
    """As ptxas makes it of integer instructions: NaN only loses its last bits, and may become infinite."""
    kept = lanes.constant("i32", -1 << _TF32_DROPPED)
    pattern = lanes.bitcast(a, "i32")
    raised = lanes.add(pattern, lanes.constant("i32", 1 << (_TF32_DROPPED - 1)))
    rounded = lanes.and_(lanes.select(_is_finite(lanes, pattern), raised, pattern), kept)
    if not m.satfinite:
        return rounded
    return lanes.select(_is_finite(lanes, rounded), rounded, lanes.add(rounded, kept))


def _is_finite(lanes: Lanes[V], pattern: V) -> V:
    size = lanes.and_(pattern, lanes.constant("i32", FORMATS["f32"].sign - 1))
    return lanes.compare("ult", size, lanes.constant("i32", FORMATS["f32"].infinity))


@row("cvt.rnd{.satfinite}{.relu}.tf32.f32  d:tf32, a:f32", rnd="rn rz", unit="conversion")
def cvt_tf32(lanes: Lanes[V], m: Match, a: V) -> V:
    """tf32 is a single whose last 13 bits do not count; they are zero here."""
    f = FORMATS["tf32"]
    pattern = narrow(lanes, _double(lanes, a), f, m.values["rnd"], finite=m.satfinite is not None)
    single = lanes.apply("shl", pattern, lanes.constant("i32", _TF32_DROPPED))
    return relu(lanes, single) if m.relu else single


_NARROW = "e4m3x2 e5m2x2"


@row("cvt.rnd.satfinite{.relu}.type.f32  d, a:f32, b:f32", rnd="rn", type=_NARROW, unit="conversion")
def cvt_pair_of_bytes(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    f = FORMATS[m.values["type"].removesuffix("x2")]
    return lanes.join((_finite(lanes, m, b, f), _finite(lanes, m, a, f)))


@row("cvt.rnd.satfinite{.relu}.type.f16x2  d, a:f16x2", rnd="rn", type=_NARROW, unit="conversion")
def cvt_halves_to_bytes(lanes: Lanes[V], m: Match, a: V) -> V:
    low, high = (unpack(lanes, half, FORMATS["f16"]) for half in lanes.split(a, 2))
    return cvt_pair_of_bytes(lanes, m, high, low)


@row("cvt.rnd{.relu}.f16x2.type  d:f16x2, a", rnd="rn", type=_NARROW, unit="conversion")
def cvt_bytes_to_halves(lanes: Lanes[V], m: Match, a: V) -> V:
    f = FORMATS[m.values["type"].removesuffix("x2")]
    singles = (lanes.convert("fptrunc", widen(lanes, byte, f), "float") for byte in lanes.split(a, 2))
    halves = [pack(lanes, single, FORMATS["f16"]) for single in singles]
    return lanes.join(tuple(relu(lanes, half) for half in halves) if m.relu else tuple(halves))
