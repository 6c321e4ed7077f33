"""Instructions of one form: steps as if each had been matched alone, and each with its own types."""

from __future__ import annotations

import pytest

from tests.ptx_text import kernel
from warpglass import isa, ptx
from warpglass.errors import CompileError
from warpglass.program.decode import Step, decode, make_step

BODY = """
    add.f32 %f1, %f2, %f3;
    add.f32 %f4, %f1, %f1;
    add.f32 %f4, %f1, 0f3F800000;
    add.f32 %f5, %f2, 0f40000000;
    @%p1 add.s32 %r1, %r2, 5;
    @!%p2 add.s32 %r3, %r1, %r1;
    add.s32 %r3, %r1, -7;
    add.cc.u32 %r1, %r2, %r3;
    addc.u32 %r4, %r5, %r6;
    addc.u32 %r7, %r8, %r9;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.y;
    ld.global.f32 %f1, [%rd1+8];
    ld.global.f32 %f2, [%rd2];
    ld.global.v2.f32 {%f1, %f2}, [%rd1];
    ld.global.v2.f32 {%f3, %f4}, [%rd2+16];
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd2+4], 3;
    setp.lt.s32 %p1, %r1, %r2;
    setp.lt.s32 %p3, %r3, 9;
    bar.sync 0;
    bar.sync 1;
    bar.sync 1, 64;
"""


def test_each_step_is_as_if_it_were_matched_alone() -> None:
    function = ptx.parse(kernel(BODY + "ret;")).functions[0]
    for step in decode(function):
        assert isinstance(step, Step)
        found = isa.match(step.instruction)
        assert found is not None
        alone = make_step(step.number, found)
        assert (step.reads, step.writes) == (alone.reads, alone.writes)
        assert (step.match.row, step.match.values) == (found.row, found.values)
        assert step.match.forms() == found.forms()


@pytest.mark.parametrize("wrong", ["add.f32 %f4, %rd1, %f3", "add.f32 %f1, %f2, 3", "add.f32 %fd1, %f2, %f3"])
def test_what_is_like_a_right_instruction_may_be_wrong(wrong: str) -> None:
    function = ptx.parse(kernel(f"{BODY}{wrong};\nret;")).functions[0]
    with pytest.raises(CompileError, match="has an operand of a wrong type"):
        decode(function)
