"""Minima and maxima of floats: NaNs of all kinds, signed zeros, and what was computed or loaded."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.kernel import generate
from warpglass.codegen.machine import target
from warpglass.engine.cpu.prepared import prepare
from warpglass.source.compiled import Compiled

# Zeros, the least numbers, one, infinities, and quiet and signalling NaNs, of either sign.
WORDS = {
    "f32": [0, 1, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x7F800001],
    "f64": [0, 1, 1 << 52, 1023 << 52, 2047 << 52, 0x7FF8 << 48, (2047 << 52) + 1, (1 << 63) - 1],
}
REGISTERS = {"f32": ("%f", np.uint32), "f64": ("%fd", np.uint64)}
# What is done to the operands first: nothing, or an addition that makes a NaN quiet, to one or to both.
COMPUTED = {"loaded": (), "one": (1,), "both": (1, 2)}


def _text(operation: str, computed: tuple[int, ...]) -> str:
    type_ = operation.rpartition(".")[2]
    register, dtype = REGISTERS[type_]
    size = np.dtype(dtype).itemsize
    zero = "0f80000000" if type_ == "f32" else "0d8000000000000000"
    added = "\n".join(f"add.{type_} {register}{k}, {register}{k}, {zero};" for k in computed)
    return kernel(
        f"""
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [out];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
        mul.wide.u32 %rd4, %r1, {size};
        add.u64 %rd1, %rd1, %rd4; add.u64 %rd2, %rd2, %rd4; add.u64 %rd3, %rd3, %rd4;
        ld.global.{type_} {register}1, [%rd1]; ld.global.{type_} {register}2, [%rd2];
        {added}
        {operation} {register}3, {register}1, {register}2;
        st.global.{type_} [%rd3], {register}3;
        ret;
        """,
        "u64 a, u64 b, u64 out",
    )


def _pairs(type_: str) -> tuple[np.ndarray, np.ndarray]:
    dtype = REGISTERS[type_][1]
    sign = 1 << 8 * np.dtype(dtype).itemsize - 1
    words = np.array([word | extra for word in WORDS[type_] for extra in (0, sign)], dtype)
    one, other = (whole.ravel() for whole in np.meshgrid(words, words))
    fill = -one.size % 64
    return np.pad(one, (0, fill)), np.pad(other, (0, fill))


@pytest.mark.parametrize(
    "operation", ["min.f32", "max.f32", "min.NaN.f32", "max.ftz.f32", "min.f64", "max.f64"]
)
@pytest.mark.parametrize("computed", COMPUTED)
def test_all_kinds_of_numbers(operation: str, computed: str) -> None:
    a, b = _pairs(operation[-3:])
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        results.append(np.zeros_like(a))
        text = _text(operation, COMPUTED[computed])
        run_ptx(text, a.size // 64, 64, (a, b, results[-1]), engine=engine)
    np.testing.assert_array_equal(results[1], results[0])


@pytest.mark.parametrize("operation", ["min.f32", "max.f64"])
def test_they_are_one_instruction(operation: str) -> None:
    prepared = prepare(Compiled(_text(operation, ()), "k", "k", "ptx"))
    shape, promises = BlockShape((64, 1, 1)), Promises((4, 1, 1))
    code = generate(prepared.program, shape, prepared.symbols, (), promises).ir
    assert ("avx512.mask.range" in code) == target.finds_extremes()
