"""Warps' frames: what registers hold behind barriers, and which share a place."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx, worker_threads
from tests.ptx_text import kernel
from warpglass.codegen import BlockShape, Promises, generate
from warpglass.engine.cpu.prepared import prepare
from warpglass.source.compiled import Compiled

THREADS, BLOCKS = 96, 5
HEAD = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 96, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    ld.global.u32 %r4, [%rd4];
"""


def _run(engine: str, body: str) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(3).integers(0, 1000, THREADS * BLOCKS).astype(np.uint32)
    y = np.zeros_like(x)
    with worker_threads(1):
        run_ptx(kernel(HEAD + body, "u64 x, u64 y"), BLOCKS, THREADS, (x, y), engine=engine)
    return x, y


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("guard", ["", "@%p1 "])
def test_what_nobody_has_written_is_zero_in_every_block(engine: str, guard: str) -> None:
    """Whatever the block before has left there."""
    x, y = _run(
        engine,
        f"""
    setp.lt.u32 %p1, %r4, 500;
    bar.sync 0;
    mov.u32 %r6, %r5;
    {guard}add.u32 %r5, %r4, 7;
    bar.sync 0;
    mad.lo.u32 %r7, %r6, 1000, %r5;
    st.global.u32 [%rd5], %r7;
    ret;
    """,
    )
    np.testing.assert_array_equal(y, np.where((x < 500) | (not guard), x + 7, 0))


def _rounds(count: int) -> str:
    """Each round hands a value of its own to the next one, and all have another from the start."""
    lines = ["add.u32 %r10, %r4, 1;"]
    for k in range(count):
        lines += ["bar.sync 0;", f"mad.lo.u32 %r{11 + k}, %r{10 + k}, 3, %r4;"]
    return "\n".join([*lines, f"st.global.u32 [%rd5], %r{10 + count};", "ret;"])


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_registers_of_other_rounds_do_not_meet(engine: str) -> None:
    x, y = _run(engine, _rounds(12))
    expected = x + 1
    for _ in range(12):
        expected = expected * 3 + x
    np.testing.assert_array_equal(y, expected)


def test_they_share_a_place() -> None:
    strides: list[int] = []
    for count in (2, 20):
        made = prepare(Compiled(kernel(HEAD + _rounds(count), "u64 x, u64 y"), "k", "k", "ptx"))
        code = generate(made.program, BlockShape((96, 1, 1), 0), made.symbols, (), Promises((1, 1, 1)))
        strides.append(code.frame_stride)
    masks = -(-4 * 20 // 64) * 64
    assert strides[1] <= strides[0] + masks
