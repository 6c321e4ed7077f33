"""What fused products and sums compute: rounded once, with signs and flushing, against exact fractions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.engines import ENGINES, run_ptx
from tests.isa import floats
from tests.isa.float_harness import ALL_FORMATS, BLOCK, GRID, NAN, THREADS, Case, columns, width
from tests.ptx_text import kernel

_QUIET = 1 << 51
Fused = Callable[..., int]

# What a body makes of a, b and c (registers 1 to 3): signs of the product and of the addend in %v9.
BODIES = {
    "a * b + c": ("mul{m}.T %v4, %v1, %v2; add{m}{s}.T %v9, %v4, %v3;", 1, 1),
    "c + a * b": ("mul{m}.T %v4, %v1, %v2; add{m}{s}.T %v9, %v3, %v4;", 1, 1),
    "a * b - c": ("mul{m}.T %v4, %v1, %v2; sub{m}{s}.T %v9, %v4, %v3;", 1, -1),
    "c - a * b": ("mul{m}.T %v4, %v1, %v2; sub{m}{s}.T %v9, %v3, %v4;", -1, 1),
    "c + -(a * b)": ("mul{m}.T %v4, %v1, %v2; neg.T %v5, %v4; add{m}{s}.T %v9, %v3, %v5;", -1, 1),
    "c - -(a * b)": ("mul{m}.T %v4, %v1, %v2; neg.T %v5, %v4; sub{m}{s}.T %v9, %v3, %v5;", 1, 1),
    "a overwritten": ("mul{m}.T %v4, %v1, %v2; MOV %v1, %v3; add{m}{s}.T %v9, %v4, %v1;", 1, 1),
    "b overwritten": ("mul{m}.T %v4, %v1, %v2; MOV %v2, %v3; sub{m}{s}.T %v9, %v2, %v4;", -1, 1),
    "across a barrier": ("mul{m}.T %v4, %v1, %v2; bar.sync 0; add{m}{s}.T %v9, %v4, %v3;", 1, 1),
    "a rounded product between": (
        "mul{m}.T %v4, %v1, %v2; mul.rn{m}.T %v5, %v1, %v3; add{m}{s}.T %v9, %v4, %v3; abs{m}.T %v6, %v5;",
        1,
        1,
    ),
}
TYPES = [("f32", ""), ("f32", ".ftz"), ("f32", ".sat"), ("f64", ""), ("f16", ""), ("f16", ".ftz")]
TYPES += [("bf16", ""), ("f16x2", ""), ("f16x2", ".sat"), ("bf16x2", "")]


def fused(type_: str, modifier: str, product: int, addend: int) -> Fused:
    """The pattern that a * b + c has with these signs, as the hardware gives it."""
    f = ALL_FORMATS[type_]
    target = f.flushing if modifier == ".ftz" else f

    def compute(a: int, b: int, c: int) -> int:
        given = [f.flush(x) if modifier == ".ftz" else x for x in (a, b, c)]
        nans = [given[k] for k in (1, 2, 0) if f.is_nan(given[k])]
        if nans:
            found = nans[0] | _QUIET if type_ == "f64" else NAN[type_]
        else:
            x, y, z = given
            found = floats.fused(
                target, x ^ (f.sign if product < 0 else 0), y, z ^ (f.sign if addend < 0 else 0), "rn"
            )
        if f.is_nan(found):
            return 0 if modifier == ".sat" else found if nans else NAN[type_]
        found = f.flush(found) if modifier == ".ftz" else found
        return floats.saturate(f, found) if modifier == ".sat" else found

    return compute


def run(type_: str, modifier: str, engine: str) -> tuple[list[tuple[int, ...]], dict[str, list[int]]]:
    """Operands of every thread, and the results of every body."""
    bits = width(type_)
    bank = {"f32": "%f", "f64": "%fd"}.get(type_, {16: "%rs", 32: "%r", 64: "%rd"}[bits])
    sources = columns(
        [
            Case(
                f"fused{modifier}.{type_}",
                type_,
                (type_,) * 3,
                fused(type_.removesuffix("x2"), modifier, 1, 1),
            )
        ]
    )
    lines = [
        "mov.u32 %r90, %tid.x; mov.u32 %r91, %ctaid.x;",
        f"mad.lo.u32 %r93, %r91, {BLOCK}, %r90; ld.param.u64 %rd90, [out];",
    ]
    flush, saturate = (modifier, "") if modifier == ".ftz" else ("", modifier)
    for number, (body, _, _) in enumerate(BODIES.values()):
        first = 10 * number + 100
        names = {f"%v{k}": f"{bank}{first + k}" for k in range(1, 10)}
        for k in range(3):
            lines.append(f"ld.param.u64 %rd91, [s{k}]; mad.wide.u32 %rd91, %r93, {bits // 8}, %rd91;")
            lines.append(f"ld.global.b{bits} %v{k + 1}, [%rd91];")
        lines.append(
            body.format(m=flush, s=saturate).replace(".T", f".{type_}").replace("MOV", f"mov.b{bits}")
        )
        lines.append(f"mad.wide.u32 %rd91, %r93, {bits // 8}, %rd90;")
        lines.append(f"st.global.b{bits} [%rd91+{number * THREADS * bits // 8}], %v9;")
        for name, register in names.items():
            lines = [line.replace(name, register) for line in lines]
    arrays = [np.array(one, dtype=f"u{bits // 8}") for one in sources]
    out = np.zeros(THREADS * len(BODIES), f"u{bits // 8}")
    text = kernel("\n".join([*lines, "ret;"]), "u64 s0, u64 s1, u64 s2, u64 out")
    run_ptx(text, GRID, BLOCK, [*arrays, out], engine=engine)
    results = out.reshape(len(BODIES), THREADS).tolist()
    return list(zip(*sources, strict=True)), dict(zip(BODIES, results, strict=True))


def by_half(one: Fused, type_: str) -> Fused:
    """The same for each half of a pair."""
    if not type_.endswith("x2"):
        return one
    return lambda *pairs: one(*(x & 0xFFFF for x in pairs)) | one(*(x >> 16 for x in pairs)) << 16


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("type_", "modifier"), TYPES)
def test_products_and_sums_are_rounded_once(type_: str, modifier: str, engine: str):
    operands, results = run(type_, modifier, engine)
    base = type_.removesuffix("x2")
    for name, (body, product, addend) in BODIES.items():
        if "neg" in body and type_ == "bf16x2":
            continue  # negating a pair of bf16 is an operation on bits, to ptxas too
        oracle = by_half(fused(base, modifier, product, addend), type_)
        for given, got in zip(operands, results[name], strict=True):
            want = oracle(*given)
            shown = ", ".join(f"{x:#x}" for x in given)
            assert got == want, f"{name} of {shown} is {got:#x}, wanted {want:#x}"


@pytest.mark.parametrize("engine", ENGINES)
def test_rounding_once_differs_from_rounding_twice(engine: str):
    """(1 + 2**-12)**2 - (1 + 2**-11) is 2**-24, and 0 if the square is rounded."""
    body = """
    ld.param.u64 %rd1, [out]; ld.param.f32 %f1, [x]; ld.param.f32 %f2, [y];
    mul.f32 %f3, %f1, %f1; sub.f32 %f4, %f3, %f2; st.global.f32 [%rd1], %f4;
    mul.rn.f32 %f5, %f1, %f1; sub.f32 %f6, %f5, %f2; st.global.f32 [%rd1+4], %f6;
    mul.f32 %f7, %f1, %f1; sub.rn.f32 %f8, %f7, %f2; st.global.f32 [%rd1+8], %f8; ret;
    """
    out = np.ones(3, np.float32)
    x, y = np.float32(1 + 2**-12), np.float32(1 + 2**-11)
    run_ptx(kernel(body, "u64 out, f32 x, f32 y"), 1, 1, [out, x, y], engine=engine)
    assert out.tolist() == [2**-24, 0, 0]
