"""Tests of two words at once, which code generation takes apart."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import build_program, split_tests

# A thread's number less a shift, beside another number that is the same for all threads.
TEXT = """
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [shift];
    ld.param.u32 %r3, [other];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    sub.s32 %r4, %r1, %r2;
    {operation}.b32 %r5, %r4, %r3;
    {between}
    setp.{comparison}.s32 %p1, %r5, 0;
    mov.u32 %r6, 1;
    @%p1 bra yes;
    mov.u32 %r6, 2;
yes:
    st.global.u32 [%rd1], %r6;
    ret;
"""
TESTS = [("or", "lt"), ("or", "ge"), ("and", "lt"), ("and", "ge"), ("xor", "lt")]
OTHERS = [("xor", "ge"), ("or", "gt"), ("or", "eq")]


def text(operation: str, comparison: str, between: str = "") -> str:
    body = TEXT.format(operation=operation, comparison=comparison, between=between)
    return kernel(body, "u64 out, u32 shift, u32 other")


def comparisons(source: str) -> int:
    program = split_tests(build_program(ptx.parse(source), "k"))
    return sum(step.instruction.opcode == "setp" for block in program.blocks for step in block.steps)


def masks(source: str) -> int:
    program = split_tests(build_program(ptx.parse(source), "k"))
    return sum(step.instruction.opcode == "and" for block in program.blocks for step in block.steps)


def test_which_are_taken_apart() -> None:
    assert [comparisons(text(*test)) for test in TESTS] == [2] * len(TESTS)
    assert [comparisons(text(*test)) for test in OTHERS] == [1] * len(OTHERS)
    assert comparisons(text("or", "lt", "mov.u32 %r4, 3;")) == 1  # an operand that is another by then
    assert comparisons(text("or", "lt", "mov.u32 %r5, 3;")) == 1
    assert comparisons(text("or", "lt", "mov.u32 %r6, 3;")) == 2


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("test", [*TESTS, OTHERS[0]], ids=".".join)
def test_both_signs_count(engine: str, test: tuple[str, str]) -> None:
    operate = {"or": np.bitwise_or, "and": np.bitwise_and, "xor": np.bitwise_xor}[test[0]]
    for shift in (0, 7, 40, 64):  # no lane is negative, some are, all of a warp are, all of both
        for other in (3, -3):
            out = np.zeros(64, np.uint32)
            run_ptx(text(*test), 1, 64, (out, np.int32(shift), np.int32(other)), engine=engine)
            negative = operate(np.arange(64) - shift, other) < 0
            holds = negative if test[1] == "lt" else ~negative
            np.testing.assert_array_equal(out, np.where(holds, 1, 2))


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_bits_of_both_count(engine: str) -> None:
    source = text("or", "eq", "and.b32 %r5, %r5, -16;")
    assert masks(source) == 2
    for shift in (0, 20, 48):
        for other in (3, 64):
            out = np.zeros(64, np.uint32)
            run_ptx(source, 1, 64, (out, np.int32(shift), np.int32(other)), engine=engine)
            none = ((np.arange(64) - shift) | other) & -16 == 0
            np.testing.assert_array_equal(out, np.where(none, 1, 2))
