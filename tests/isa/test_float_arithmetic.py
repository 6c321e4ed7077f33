"""Arithmetic in single and double precision, in every rounding mode, against exact fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from tests.engines import ENGINES

from . import floats
from .float_harness import NAN, Case, check
from .floats import FORMATS, Format

_MODES = ("rn", "rz", "rm", "rp")
_QUIET = 1 << 51


# Of several NaNs in double precision which operand's passes: the first of these.
_NAN_ORDER = {1: (0,), 2: (1, 0), 3: (1, 2, 0)}


def nan_of(type_: str, operands: tuple[int, ...]) -> int:
    """The NaN that the hardware gives, with the operands in the order in which it looks for NaN."""
    f = FORMATS[type_]
    if type_ == "f64":
        for operand in operands:
            if f.is_nan(operand):
                return operand | _QUIET
    return NAN[type_]


def with_modifiers(
    operation: Callable[..., int], type_: str, ftz: bool, sat: bool, order: tuple[int, ...]
) -> Callable[..., int]:
    """An operation on patterns with flushing, saturation and the hardware's NaN around it."""
    f = FORMATS[type_]

    def compute(*operands: int) -> int:
        given = tuple(f.flush(x) for x in operands) if ftz else operands
        result = operation(f.flushing if ftz else f, *given)
        if f.is_nan(result):
            return 0 if sat else nan_of(type_, tuple(given[k] for k in order))
        result = f.flush(result) if ftz else result
        return floats.saturate(f, result) if sat else result

    return compute


def _rounded(operation: Callable[..., int], mode: str) -> Callable[..., int]:
    return lambda f, *operands: operation(f, *operands, mode)


def _subtract(f: Format, a: int, b: int, mode: str) -> int:
    return f.nan if f.is_nan(b) else floats.add(f, a, b ^ f.sign, mode)


def _reciprocal(f: Format, a: int, mode: str) -> int:
    return floats.divide(f, f.encode(floats.Fraction(1)), a, mode)


_OPERATIONS = {
    "add": (floats.add, 2, True),
    "sub": (_subtract, 2, True),
    "mul": (floats.multiply, 2, True),
    "fma": (floats.fused, 3, True),
    "mad": (floats.fused, 3, True),
    "div": (floats.divide, 2, False),
    "rcp": (_reciprocal, 1, False),
    "sqrt": (floats.square_root, 1, False),
}


def _cases(opcode: str, type_: str, mode: str) -> list[Case]:
    operation, count, saturates = _OPERATIONS[opcode]
    found = []
    for ftz, sat in itertools.product((False, True), repeat=2):
        if (type_ == "f64" and (ftz or sat)) or (sat and not saturates):
            continue
        words = [opcode, mode, *(["ftz"] if ftz else []), *(["sat"] if sat else []), type_]
        order = (0, 1) if opcode == "div" else _NAN_ORDER[count]
        oracle = with_modifiers(_rounded(operation, mode), type_, ftz, sat, order)
        found.append(Case(".".join(words), type_, (type_,) * count, oracle))
    return found


@pytest.mark.sampled(quick=12, ci=4)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("type_", ["f32", "f64"])
@pytest.mark.parametrize("opcode", _OPERATIONS)
def test_rounds_as_ieee_says(opcode: str, type_: str, mode: str, engine: str):
    check(_cases(opcode, type_, mode), engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("opcode", ["add", "sub", "mul"])
def test_rounds_to_nearest_if_no_mode_is_written(opcode: str, engine: str):
    for type_ in ("f32", "f64"):
        case = _cases(opcode, type_, "rn")[0]
        check([Case(f"{opcode}.{type_}", type_, case.sources, case.oracle)], engine)


# ---------------------------------------------------------------------------------------- signs and bits
def _sign_cases(type_: str) -> list[Case]:
    f = FORMATS[type_]

    def settled(change: Callable[[int], int], ftz: bool) -> Callable[[int], int]:
        def compute(a: int) -> int:
            return nan_of(type_, (a,)) if f.is_nan(a) else change(f.flush(a) if ftz else a)

        return compute

    changes: dict[str, Callable[[int], int]] = {"neg": lambda a: a ^ f.sign, "abs": lambda a: a & ~f.sign}
    return [
        Case(f"{opcode}{'.ftz' if ftz else ''}.{type_}", type_, (type_,), settled(change, ftz))
        for opcode, change in changes.items()
        for ftz in ((False, True) if type_ == "f32" else (False,))
    ]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_neg_and_abs_change_the_sign(type_: str, engine: str):
    check(_sign_cases(type_), engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_copysign_takes_the_sign_of_its_first_operand(type_: str, engine: str):
    f = FORMATS[type_]
    oracle = lambda a, b: b & ~f.sign | a & f.sign  # noqa: E731
    check([Case(f"copysign.{type_}", type_, (type_, type_), oracle)], engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_testp_tells_classes_apart(type_: str, engine: str):
    f = FORMATS[type_]
    size = lambda a: a & ~f.sign  # noqa: E731
    classes = {
        "finite": lambda a: size(a) < f.infinity,
        "infinite": lambda a: size(a) == f.infinity,
        "number": lambda a: not f.is_nan(a),
        "notanumber": f.is_nan,
        "normal": lambda a: size(a) == 0 or 1 << f.fraction <= size(a) < f.infinity,
        "subnormal": lambda a: 0 < size(a) < 1 << f.fraction,
    }
    check([Case(f"testp.{name}.{type_}", "pred", (type_,), holds) for name, holds in classes.items()], engine)


# ---------------------------------------------------------------------------------------- min, max
def extreme(f: Format, opcode: str, options: tuple[str, ...], nan: int, operands: tuple[int, ...]) -> int:
    """min or max of patterns, with `.NaN`, `.abs` and `.xorsign.abs`."""
    choose = floats.smaller if opcode == "min" else floats.larger
    sizes = [x & ~f.sign for x in operands] if "abs" in options else list(operands)
    if "NaN" in options and any(f.is_nan(x) for x in sizes):
        return nan
    result = sizes[0]
    for other in sizes[1:]:
        result = choose(f, result, other)
    if f.is_nan(result):
        return nan
    return result ^ ((operands[0] ^ operands[1]) & f.sign) if "xorsign" in options else result


def extreme_options(ftz: bool) -> list[tuple[str, ...]]:
    """Every combination of modifiers that min and max of two operands have."""
    groups = [((), ("ftz",)) if ftz else ((),), ((), ("NaN",)), ((), ("xorsign", "abs"))]
    return [tuple(itertools.chain(*chosen)) for chosen in itertools.product(*groups)]


def _extreme_case(opcode: str, type_: str, options: tuple[str, ...]) -> Case:
    f = FORMATS[type_]

    def compute(*operands: int) -> int:
        given = tuple(f.flush(x) for x in operands) if "ftz" in options else operands
        return extreme(f, opcode, options, nan_of(type_, given[::-1]), given)

    return Case(".".join([opcode, *options, type_]), type_, (type_, type_), compute)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("opcode", ["min", "max"])
def test_min_and_max_order_zeros_and_skip_nan(opcode: str, engine: str):
    check([_extreme_case(opcode, "f32", options) for options in extreme_options(ftz=True)], engine)
    check([_extreme_case(opcode, "f64", ())], engine)
