"""Loads that go on far away in each round of a loop, or before barriers, ask for what others load soon."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.codegen import BlockShape, Promises, Symbols, generate
from warpglass.codegen.memory import prefetch
from warpglass.codegen.memory.prefetch import Prefetch, find_prefetches
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


@pytest.fixture(autouse=True)
def any_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetch, "misses_pages", lambda: True)


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


@pytest.mark.parametrize("here", [True, False])
@pytest.mark.parametrize(
    ("amount", "stride", "expected"),
    [
        ("", "%r6", True),
        ("", "1024", True),
        ("", "-1024", True),
        ("", "1023", False),  # within a page
        ("mov.u32 %r7, %ctaid.y;", "%r6", False),  # other blocks load the same
    ],
)
def test_which_loads_go_down_columns(
    amount: str, stride: str, expected: bool, here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On any processor."""
    monkeypatch.setattr(prefetch, "misses_pages", lambda: here)
    program = build_program(ptx.parse(text(amount).replace("%r5, %r5, %r6", f"%r5, %r5, {stride}")), "k")
    symbols = Symbols({"out": 0, "x": 8, "n": 16, "stride": 20}, {})
    code = generate(program, BlockShape((64, 1, 1)), symbols, (), Promises((4, 1, 1)))
    assert ("llvm.prefetch" in code.ir) == expected


# part[t] += part[t + s] in memory, for s = half of the block, a quarter, ...; {end} is a barrier, or not.
HALVES = """
    ld.param.u64 %rd1, [x];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    mul.wide.s32 %rd2, %r5, 4;
    add.s64 %rd1, %rd1, %rd2;
    shr.u32 %r6, %r3, 1;
again:
    setp.ge.u32 %p1, %r4, %r6;
    @%p1 bra on;
    mul.wide.u32 %rd3, %r6, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd4];
    add.rn.f32 %f1, %f1, %f2;
    st.global.f32 [%rd1], %f1;
on:
    {end}
    shr.u32 %r6, %r6, 1;
    setp.ne.u32 %p2, %r6, 0;
    @%p2 bra again;
    {behind}
    ret;
"""
LOAD = "ld.global.f32 %f3, [%rd1]; st.global.f32 [%rd1+4096], %f3;"


@pytest.mark.parametrize(
    ("end", "behind", "expected"),
    [
        ("bar.sync 0;", "", [Prefetch(256, once=True)] * 2),
        ("bar.sync 0;", LOAD, [Prefetch(256, once=True)] * 2 + [Prefetch(256, once=False)]),
        # The loop does not wait.
        ("", "bar.sync 0;" + LOAD, [Prefetch(64, once=False), Prefetch(256, once=False)]),
        ("", LOAD, [Prefetch(64, once=False)]),
    ],
)
def test_which_loads_ask_for_the_next_block(end: str, behind: str, expected: list[Prefetch]) -> None:
    program = build_program(ptx.parse(kernel(HALVES.format(end=end, behind=behind), "u64 x")), "k")
    found = find_prefetches(program, BlockShape((256, 1, 1)))
    assert [found[number] for number in sorted(found)] == expected


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("block", [32, 96, 256])
def test_halves(engine: str, block: int) -> None:
    x = np.random.default_rng().integers(-9, 9, (5, block)).astype(np.float32)
    expected = x.copy()
    stride = block // 2
    while stride:
        expected[:, :stride] += expected[:, stride : 2 * stride]
        stride //= 2
    run_ptx(kernel(HALVES.format(end="bar.sync 0;", behind=""), "u64 x"), 5, block, [x], engine=engine)
    np.testing.assert_array_equal(x, expected)


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


def test_processors_that_fetch_by_themselves_are_asked_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    program = build_program(ptx.parse(text(BY_GRID)), "k")
    assert find_prefetches(program, BlockShape((256, 1, 1)))
    monkeypatch.setattr(prefetch, "misses_pages", lambda: False)
    assert not find_prefetches(program, BlockShape((256, 1, 1)))
