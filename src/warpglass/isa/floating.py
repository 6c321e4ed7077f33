"""Floating-point arithmetic in single and double precision (PTX manual, "Floating Point Instructions").

Only round-to-nearest-even forms stand here; `.ftz` flushes subnormal inputs and results to zero of the same
sign, `.sat` clamps to [0, 1] and turns NaN into 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .lanes import Lanes
from .table import Match, add_row

V = TypeVar("V")

_SMALLEST_NORMAL = {"float": 0x00800000, "double": 0x0010000000000000}
_ONE = {"float": 0x3F800000, "double": 0x3FF0000000000000}


def flush(lanes: Lanes[V], a: V) -> V:
    """Subnormal numbers as zeros of the same sign."""
    type_ = lanes.type_of(a)
    tiny = lanes.compare("olt", lanes.apply("llvm.fabs", a), lanes.constant(type_, _SMALLEST_NORMAL[type_]))
    zero = lanes.apply("llvm.copysign", lanes.constant(type_, 0), a)
    return lanes.select(tiny, zero, a)


def _saturate(lanes: Lanes[V], a: V) -> V:
    type_ = lanes.type_of(a)
    zero, one = lanes.constant(type_, 0), lanes.constant(type_, _ONE[type_])
    below_one = lanes.select(lanes.compare("olt", a, one), a, one)
    # An unordered comparison is false, so NaN becomes one above and must be tested on `a` itself.
    return lanes.select(lanes.compare("ogt", a, zero), below_one, zero)


def _with_modifiers(compute: Callable[..., V]) -> Callable[..., V]:
    """Wrap an operation so that `.ftz` and `.sat` act on its inputs and result."""

    def meaning(lanes: Lanes[V], m: Match, *operands: V) -> V:
        inputs = tuple(flush(lanes, x) for x in operands) if m.ftz else operands
        result = compute(lanes, *inputs)
        if m.ftz:
            result = flush(lanes, result)
        return _saturate(lanes, result) if m.sat else result

    return meaning


def _operation(name: str) -> Callable[..., V]:
    return lambda lanes, *operands: lanes.apply(name, *operands)


def _minmax(name: str) -> Callable[..., V]:
    """The number if one operand is NaN; -0 counts as smaller than +0 (manual, "min", "max")."""
    return lambda lanes, a, b: lanes.apply(name, a, b)


# opcode, operands, flops, operation, whether `.rn` must be written (it is for fma, div, sqrt)
_ROWS = (
    ("add{.rnd}", "d, a, b", 1, _operation("fadd")),
    ("sub{.rnd}", "d, a, b", 1, _operation("fsub")),
    ("mul{.rnd}", "d, a, b", 1, _operation("fmul")),
    ("fma.rnd", "d, a, b, c", 2, _operation("llvm.fma")),
    ("div.rnd", "d, a, b", 0, _operation("fdiv")),
    ("sqrt.rnd", "d, a", 0, _operation("llvm.sqrt")),
    ("neg", "d, a", 0, _operation("fneg")),
    ("abs", "d, a", 0, _operation("llvm.fabs")),
    ("min", "d, a, b", 0, _minmax("llvm.minimumnum")),
    ("max", "d, a, b", 0, _minmax("llvm.maximumnum")),
)
_SATURATING = ("add", "sub", "mul", "fma")

for _head, _operands, _flops, _compute in _ROWS:
    _sat = "{.sat}" if _head.startswith(_SATURATING) else ""
    _meaning = _with_modifiers(_compute)
    add_row(f"{_head}{{.ftz}}{_sat}.f32  {_operands}", rnd="rn", unit="fp32", flops=_flops, meaning=_meaning)
    add_row(f"{_head}.f64  {_operands}", rnd="rn", unit="fp64", flops=_flops, meaning=_meaning)
