"""Arithmetic and comparison of f16, bf16 and their pairs, against exact fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from tests.engines import CPU_ENGINES, ENGINES
from warpglass.codegen.lanes import reference

from . import floats
from .float_harness import ALL_FORMATS, NAN, Case, check
from .floats import Format
from .test_float_arithmetic import extreme, extreme_options

_TYPES = ("f16", "f16x2", "bf16", "bf16x2")
Half = Callable[..., int]


def by_half(one: Half, type_: str) -> Half:
    """An operation on halves, for a type that may be a pair of them."""
    if not type_.endswith("x2"):
        return one
    return lambda *pairs: one(*(x & 0xFFFF for x in pairs)) | one(*(x >> 16 for x in pairs)) << 16


def _modified(operation: Half, type_: str, options: tuple[str, ...]) -> Half:
    base = type_.removesuffix("x2")
    f = ALL_FORMATS[base]

    def one(*operands: int) -> int:
        given = tuple(f.flush(x) for x in operands) if "ftz" in options else operands
        result = operation(f.flushing if "ftz" in options else f, *given)
        if f.is_nan(result):
            return 0 if "sat" in options else NAN[base]
        result = f.flush(result) if "ftz" in options else result
        if "relu" in options and result & f.sign:
            return 0
        return floats.saturate(f, result) if "sat" in options else result

    return by_half(one, type_)


def _subtract(f: Format, a: int, b: int) -> int:
    return f.nan if f.is_nan(b) else floats.add(f, a, b ^ f.sign)


_OPERATIONS = {
    "add": (floats.add, 2),
    "sub": (_subtract, 2),
    "mul": (floats.multiply, 2),
    "fma.rn": (floats.fused, 3),
    "neg": (lambda f, a: a ^ f.sign, 1),
    "abs": (lambda f, a: a & ~f.sign, 1),
}


def _options(opcode: str, type_: str) -> list[tuple[str, ...]]:
    if opcode in ("neg", "abs"):
        return [(), ("ftz",)] if type_[0] == "f" else [()]
    if type_[0] == "b":
        return [(), ("relu",)] if opcode == "fma.rn" else [()]
    last = ((), ("sat",), ("relu",)) if opcode == "fma.rn" else ((), ("sat",))
    return [tuple(itertools.chain(*chosen)) for chosen in itertools.product(((), ("ftz",)), last)]


@pytest.mark.sampled(quick=8, ci=4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", _TYPES)
@pytest.mark.parametrize("opcode", _OPERATIONS)
def test_halves_are_rounded_once(opcode: str, type_: str, engine: str):
    operation, count = _OPERATIONS[opcode]
    spelled = [opcode] if "." in opcode or count == 1 else [opcode, f"{opcode}.rn"]
    cases = [
        Case(".".join([word, *options, type_]), type_, (type_,) * count, _modified(operation, type_, options))
        for word in spelled
        for options in _options(opcode, type_)
    ]
    check(cases, engine)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("opcode", ["add", "fma.rn"])
def test_hosts_without_conversion_of_halves(opcode: str, engine: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reference, "converts_half", lambda: False)
    operation, count = _OPERATIONS[opcode]
    check([Case(f"{opcode}.f16x2", "f16x2", ("f16x2",) * count, _modified(operation, "f16x2", ()))], engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", _TYPES)
def test_min_and_max_of_halves(type_: str, engine: str):
    base = type_.removesuffix("x2")
    f = ALL_FORMATS[base]

    def one(opcode: str, options: tuple[str, ...]) -> Half:
        def compute(*operands: int) -> int:
            given = tuple(f.flush(x) for x in operands) if "ftz" in options else operands
            return extreme(f, opcode, options, NAN[base], given)

        return by_half(compute, type_)

    cases = [
        Case(".".join([opcode, *options, type_]), type_, (type_, type_), one(opcode, options))
        for opcode in ("min", "max")
        for options in extreme_options(ftz=base == "f16")
    ]
    check(cases, engine)


# ---------------------------------------------------------------------------------------- comparison
_ORDERED = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}
_OPERATORS = (*_ORDERED, *(f"{name}u" for name in _ORDERED), "num", "nan")


def _holds(f: Format, operator: str, ftz: bool, a: int, b: int) -> bool:
    a, b = (f.flush(a), f.flush(b)) if ftz else (a, b)
    unordered = f.is_nan(a) or f.is_nan(b)
    if operator in ("num", "nan"):
        return unordered == (operator == "nan")
    if unordered:
        return operator.endswith("u")
    return _ORDERED[operator.removesuffix("u")](f.decode(a), f.decode(b))


_COMBINE = {"and": lambda t, c: t and c, "or": lambda t, c: t or c, "xor": lambda t, c: t != c}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_comparison_of_halves(type_: str, engine: str):
    f = ALL_FORMATS[type_]
    one = {"f16": 0x3C00, "bf16": 0x3F80}[type_]
    plain: list[Case] = []
    combined: list[Case] = []
    for operator, ftz in itertools.product(_OPERATORS, (False, True) if type_ == "f16" else (False,)):
        words = f"{operator}{'.ftz' if ftz else ''}"

        def holds(a: int, b: int, operator: str = operator, ftz: bool = ftz) -> bool:
            return _holds(f, operator, ftz, a, b)

        plain.append(Case(f"setp.{words}.{type_}", "pred", (type_, type_), holds))
        for dtype, yes in (("u16", 0xFFFF), ("s32", 0xFFFFFFFF), (type_, one)):
            value = lambda a, b, holds=holds, yes=yes: yes if holds(a, b) else 0  # noqa: E731
            plain.append(Case(f"set.{words}.{dtype}.{type_}", dtype, (type_, type_), value))
        for name, combine in _COMBINE.items():
            both = lambda a, b, c, holds=holds, combine=combine: combine(holds(a, b), bool(c))  # noqa: E731
            opcode = f"setp.{operator}.{name}{'.ftz' if ftz else ''}.{type_}"
            combined.append(Case(opcode, "pred", (type_, type_, "pred"), both))
    check(plain, engine)
    check(combined, engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["f16x2", "bf16x2"])
def test_comparison_of_pairs(type_: str, engine: str):
    base = type_.removesuffix("x2")
    f = ALL_FORMATS[base]
    one = {"f16": 0x3C00, "bf16": 0x3F80}[base]
    cases: list[Case] = []
    for operator in _OPERATORS:
        for dtype, yes in (("u32", 0xFFFF), (type_, one)):

            def half(a: int, b: int, operator: str = operator, yes: int = yes) -> int:
                return yes if _holds(f, operator, False, a, b) else 0

            cases.append(Case(f"set.{operator}.{dtype}.{type_}", dtype, (type_, type_), by_half(half, type_)))
    check(cases, engine)
