"""Loads in loops that stride by the grid ask for what other warps load soon; others do not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.codegen import Promises, Shape, Symbols, generate
from warpglass.program import build_program, find_grid_strides

# out[i] = sum of x[i + k * stride] for i + k * stride < n; {amount} puts the stride into %r6.
TEXT = """
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [x];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r6, [stride];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd1, %rd1, %rd3;
    mov.f32 %f1, 0f00000000;
    {amount}
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra done;
again:
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    add.rn.f32 %f1, %f1, %f2;
    {inner}
    add.s32 %r5, %r5, %r6;
    setp.lt.s32 %p1, %r5, %r1;
    @%p1 bra again;
done:
    st.global.f32 [%rd1], %f1;
    ret;
"""
BY_GRID = "mov.u32 %r7, %nctaid.x; mul.lo.s32 %r6, %r7, %r3;"
# Rows of as many elements as the grid has threads, from the loop's own element on.
INNER = """
    mov.u32 %r8, 0;
further:
    mad.lo.s32 %r9, %r8, %r6, %r5;
    mul.wide.s32 %rd5, %r9, 4;
    add.s64 %rd6, %rd2, %rd5;
    ld.global.f32 %f3, [%rd6];
    add.s32 %r8, %r8, 1;
    setp.lt.s32 %p2, %r8, 2;
    @%p2 bra further;
"""
PARAMETERS = "u64 out, u64 x, u32 n, u32 stride"


def text(amount: str = "", inner: str = "") -> str:
    return kernel(TEXT.format(amount=amount, inner=inner), PARAMETERS)


@pytest.mark.parametrize(
    ("amount", "inner", "expected"),
    [
        (BY_GRID, "", [0]),
        ("", "", []),  # by a parameter
        ("mov.u32 %r6, %ntid.x;", "", []),  # by the block
        (
            "mov.u32 %r7, %nctaid.x; add.s32 %r8, %r7, %r6;",
            "",
            [],
        ),  # read for another purpose
        (BY_GRID, INNER, [0]),  # the inner loop goes on by one row
    ],
)
def test_which_loads_stride_by_the_grid(amount: str, inner: str, expected: list[int]) -> None:
    program = build_program(ptx.parse(text(amount, inner)), "k")
    steps = [step for block in program.blocks for step in block.steps]
    loads = [step.number for step in steps if step.instruction.modifiers[0] == "global" and step.writes]
    found = find_grid_strides(program.blocks, program.live)
    assert [loads.index(number) for number in sorted(found)] == expected
    symbols = Symbols({"out": 0, "x": 8, "n": 16, "stride": 20}, {})
    code = generate(program, Shape((64, 1, 1)), symbols, (), Promises((4, 1, 1)))
    assert ("llvm.prefetch" in code.ir) == bool(expected)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("n", [1, 63, 64, 1000, 4096])
def test_sums(engine: str, n: int) -> None:
    rng = np.random.default_rng()
    x = rng.integers(-9, 9, n).astype(np.float32)
    out = np.full(192, 7, np.float32)
    run_ptx(text(BY_GRID), 3, 64, [out, x, np.uint32(n), np.uint32(0)], engine=engine)
    whole = np.zeros(-(-n // 192) * 192, np.float32)
    whole[:n] = x
    np.testing.assert_array_equal(out, whole.reshape(-1, 192).sum(axis=0))
