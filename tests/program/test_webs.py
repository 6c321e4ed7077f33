"""Names for what one write alone has put into a register."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import Program, build_program, split_registers

# %r1 is the thread's number, then a loop's variable, then what the loop leaves, or what was there before it.
LOOP = kernel(
    """
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra done;
again:
    add.u32 %r3, %r1, 7;
    add.u32 %r1, %r3, %r3;
    add.u32 %r4, %r1, 1;
    setp.lt.u32 %p1, %r4, %r2;
    @%p1 bra again;
done:
    st.global.u32 [%rd1], %r1;
    mov.u32 %r1, 5;
    @%p1 mov.u32 %r3, 1;
    add.u32 %r5, %r1, %r3;
    st.global.u32 [%rd1+128], %r5;
    ret;
""",
    "u64 out, u32 n",
)


def split() -> tuple[Program, Program]:
    program = build_program(ptx.parse(LOOP), "k")
    return program, split_registers(program)


def test_reads_of_one_write_have_names() -> None:
    before, after = split()
    # `mul` and `setp` read what `mov` wrote, the loop's last `add` what its second one did; the loop's first
    # `add` and the first store may read either. %r3 is written under a guard as well.
    readers = [step for block in after.blocks for step in block.steps if "%r1" in step.names]
    assert [step.instruction.opcode for step in readers] == ["mul", "setp", "add", "add"]
    names = {name for name in after.registers if name.startswith("%r1.")}
    assert {step.names["%r1"] for step in readers} == names
    assert len(names) == 3
    assert not any(name.startswith("%r3.") for name in after.registers)
    for old, new in zip(before.blocks, after.blocks, strict=True):
        assert [step.number for step in old.steps] == [step.number for step in new.steps]


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_results_stay(engine: str) -> None:
    out = np.zeros(64, np.uint32)
    run_ptx(LOOP, 1, 32, (out, np.uint32(20)), engine=engine)
    for lane in range(32):
        value = lane
        third = 0
        while value < 20:
            third = value + 7
            value = 2 * third
            if value + 1 >= 20:
                break
        assert out[lane] == value
        assert out[32 + lane] == 5 + (1 if lane >= 20 else third)
