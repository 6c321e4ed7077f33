"""Stores past the caches: where they are made, and that arrays hold what was stored."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import run_ptx
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.codegen import BlockShape, Promises, Symbols, generate
from warpglass.codegen.machine.target import vector_bytes
from warpglass.engine.cpu import worker
from warpglass.program import build_program, find_streaming

# out[i] = x[i] + 1 for i below n, from element `first` of both on.
TEXT = """
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd1, %rd1, %rd3;
    add.s64 %rd2, %rd2, %rd3;
    ld.global.f32 %f1, [%rd2];
    add.rn.f32 %f1, %f1, 0f3F800000;
    st.global.f32 [%rd1], %f1;
done:
    ret;
"""
LOOP = """
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 0;
again:
    st.global.u32 [%rd1], %r1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 4;
    @%p1 bra again;
    st.global.u32 [%rd1+4], %r1;
    {more}
    ret;
"""


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array is as if it were larger than the caches."""
    monkeypatch.setattr(worker, "stream_bytes", lambda: 0)


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("first", [0, 16, 3])  # lines, half a warp's run, no lines
def test_arrays_hold_what_went_past_the_caches(first: int) -> None:
    text = kernel(TEXT, "u64 out, u64 x, u32 n", directives=f"// {first}")  # a kernel of its own
    x = np.arange(1024, dtype=np.float32)
    out = np.zeros(1024, np.float32)
    n = 1000 - first
    run_ptx(text, 4, 256, (out[first:], x[first:], np.uint32(n)), engine="kinds")
    expected = np.zeros_like(x)
    expected[first : first + n] = x[first : first + n] + 1
    np.testing.assert_array_equal(out, expected)


# out[i] = x[i] + y[i] for i below n, of elements that are vectors of {count} numbers.
SUM = """
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [x];
    ld.param.u64 %rd3, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.s32 %rd4, %r5, {bytes};
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    {body}
done:
    ret;
"""


def _sum_text(type_: str, count: int) -> str:
    """The kernel of a type and so many numbers of it in each element."""
    register, several = {"f32": "%f", "f64": "%fd"}[type_], {1: "", 2: ".v2", 4: ".v4"}[count]

    def names(first: int) -> str:
        listed = ", ".join(f"{register}{first + k}" for k in range(count))
        return f"{{{listed}}}" if count > 1 else listed

    numbers = (f"{register}{k}, {register}{k}, {register}{count + k}" for k in range(count))
    lines = [
        f"ld.global{several}.{type_} {names(0)}, [%rd6];",
        f"ld.global{several}.{type_} {names(count)}, [%rd7];",
        *(f"add.rn.{type_} {three};" for three in numbers),
        f"st.global{several}.{type_} [%rd5], {names(0)};",
    ]
    body = SUM.format(bytes=count * int(type_[1:]) // 8, body="\n    ".join(lines))
    return kernel(body, "u64 out, u64 x, u64 y, u32 n")


@pytest.mark.usefixtures("all_large")
@pytest.mark.parametrize("behind", [0, 16, 32, 48, 8])  # bytes behind a line
@pytest.mark.parametrize(("type_", "count"), [("f32", 1), ("f64", 1), ("f32", 2), ("f32", 4)])
def test_long_runs_begin_anywhere_in_a_line(type_: str, count: int, behind: int) -> None:
    if behind % (count * int(type_[1:]) // 8):
        pytest.skip("elements would not be aligned")
    n, slack = 1000 * count, 64
    dtype = np.dtype(type_.replace("f32", "f4").replace("f64", "f8"))
    raw = np.zeros((n + 2 * slack) * dtype.itemsize + 64, np.uint8)
    start = -raw.ctypes.data % 64 + behind
    out = raw[start : start + (n + slack) * dtype.itemsize].view(dtype)
    x, y = np.arange(n, dtype=dtype), np.arange(n, dtype=dtype)[::-1].copy()
    y *= y
    run_ptx(_sum_text(type_, count), 4, 256, (out[:n], x, y, np.uint32(n // count)), engine="kinds")
    np.testing.assert_array_equal(out[:n], x + y)
    assert not out[n:].any()
    assert not raw[:start].any()


def test_a_long_run_has_a_store_of_lines_for_each_place() -> None:
    text = _sum_text("f32", 1)
    program = build_program(ptx.parse(text, "k"), "k")
    symbols = Symbols({"out": 0, "x": 8, "y": 16, "n": 24}, {})
    shape, promises = BlockShape((256, 1, 1)), Promises((1 << 10, 1, 1))
    lines = generate(program, shape, symbols, (), promises).ir.splitlines()
    stores = [line for line in lines if "store <16 x float>" in line and "!nontemporal" in line]
    assert len(stores) == (3 * 7 if vector_bytes() == 64 else 0)


@pytest.mark.usefixtures("all_large")
def test_an_array_in_place() -> None:
    x = np.arange(512, dtype=np.float32)
    run_ptx(kernel(TEXT, "u64 out, u64 x, u32 n"), 2, 256, (x, x, np.uint32(512)), engine="kinds")
    np.testing.assert_array_equal(x, np.arange(1, 513, dtype=np.float32))


def _streams(text: str) -> list[str]:
    """The stores of a kernel that may go past the caches, as they stand in PTX."""
    program = build_program(ptx.parse(text, "k"), "k")
    streaming = find_streaming(program.blocks)
    steps = [step for block in program.blocks for step in block.steps if step.number in streaming]
    return [str(step.instruction.operands[1]) for step in steps if step.instruction.opcode == "st"]


def test_what_may_go_past_the_caches() -> None:
    assert len(_streams(kernel(TEXT, "u64 out, u64 x, u32 n"))) == 1
    assert len(_streams(kernel(LOOP.format(more=""), "u64 out"))) == 1  # not the one in the loop
    moving = LOOP.replace("again:", "again:\n    add.u64 %rd1, %rd1, 8;").format(more="")
    assert len(_streams(kernel(moving, "u64 out"))) == 2
    waiting = moving.replace("again:", "again:\n    bar.sync 0;")
    assert len(_streams(kernel(waiting, "u64 out"))) == 1
    for ordered in ("membar.gl;", "red.global.add.u32 [%rd1], 1;", "st.volatile.global.u32 [%rd1], %r1;"):
        assert _streams(kernel(LOOP.format(more=ordered), "u64 out")) == []


def test_only_whole_lines() -> None:
    assert "!nontemporal" in _code(TEXT)
    assert "!nontemporal" not in _code(TEXT.replace("st.global.f32 [%rd1], %f1", "st.global.u8 [%rd1], %r4"))


def _code(body: str) -> str:
    program = build_program(ptx.parse(kernel(body, "u64 out, u64 x, u32 n"), "k"), "k")
    parameters = {"out": 0, "x": 8, "n": 16}
    return generate(
        program, BlockShape((256, 1, 1)), Symbols(parameters, {}), (), Promises((1 << 10, 1, 1))
    ).ir
