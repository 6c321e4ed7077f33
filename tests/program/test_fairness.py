"""Which loops wait for other threads, and so let a warp's lanes take turns."""

from __future__ import annotations

import pytest

from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.program import build_program
from warpglass.program.fairness import find_block_waits

# An atomic operation's result in %r3, with what follows from it in the rest of a loop of %r2 rounds.
LOOP = """
    ld.param.u64 %rd1, [lock];
    ld.param.u64 %rd2, [done];
    ld.param.u64 %rd3, [other];
    mov.u32 %r1, 0;
    mov.u32 %r2, 9;
    mov.u32 %r4, 0;
loop:
    atom.global.cas.b32 %r3, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r3, 0;
    {rest}
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p2, %r1, %r2;
    @%p2 bra loop;
    st.global.u32 [%rd3], %r4;
    ret;
"""
PARAMETERS = "u64 lock, u64 done, u64 other"
WAITS = {
    "branch": "@%p1 bra loop;",
    "computed": "and.b32 %r2, %r2, %r3;",
    "chosen": "selp.u32 %r2, %r2, 0, %p1;",
    "guarded": "@%p1 mov.u32 %r2, 0;",
    "written on one side": "@%p1 bra on; mov.u32 %r2, 0; on:",
    "written on an inner side": "@%p1 bra on; setp.eq.u32 %p3, %r1, 4; @%p3 bra on; mov.u32 %r2, 0; on:",
    "stored": "@%p1 bra on; st.global.u32 [%rd2], 1; on: ld.global.u32 %r2, [%rd2];",
    "stored as it is": "st.global.u32 [%rd2], %r3; ld.global.u32 %r2, [%rd2+4];",
    "counted": "@%p1 bra on; red.global.add.u32 [%rd2], 1; on: ld.global.u32 %r2, [%rd2];",
    "loaded from somewhere": "@%p1 bra on; st.global.u32 [%rd2], 1; on: ld.global.u64 %rd4, [%rd3];"
    "ld.global.u32 %r2, [%rd4];",
}
ENDS = {
    "unused": "",
    "counted": "@%p1 bra on; add.u32 %r4, %r4, 1; on:",
    "stored elsewhere": "@%p1 bra on; st.global.u32 [%rd2], 1; on: ld.global.u32 %r2, [%rd3];",
    "behind both sides": "@%p1 bra on; add.u32 %r4, %r4, 1; on: add.u32 %r2, %r2, -1;",
    "loaded": "ld.global.u32 %r4, [%rd3]; @%p1 bra on; st.global.u32 [%rd2], 1; on:",
    "inner loop": "mov.u32 %r5, 0; @%p1 bra on; inner: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 5;"
    "@%p3 bra inner; on:",
}


@pytest.mark.parametrize("rest", WAITS.values(), ids=WAITS)
def test_loops_that_an_answer_ends_are_fair(rest: str) -> None:
    program = build_program(ptx.parse(kernel(LOOP.format(rest=rest), PARAMETERS), "test"), "k")
    assert len(program.fair) == 1
    assert find_block_waits(program.blocks, program.registers, program.live) == program.fair


@pytest.mark.parametrize("rest", ENDS.values(), ids=ENDS)
def test_loops_that_end_by_themselves_are_not(rest: str) -> None:
    program = build_program(ptx.parse(kernel(LOOP.format(rest=rest), PARAMETERS), "test"), "k")
    assert not program.fair
    assert not find_block_waits(program.blocks, program.registers, program.live)


def test_only_the_inner_loop_waits() -> None:
    """A lock for each of a number of rounds: the outer loop ends whenever the inner one does."""
    rest = "inner: atom.global.cas.b32 %r5, [%rd2], 0, 1; setp.ne.u32 %p3, %r5, 0; @%p3 bra inner;"
    program = build_program(ptx.parse(kernel(LOOP.format(rest=rest), PARAMETERS), "test"), "k")
    (header,) = program.fair
    assert program.blocks[header].steps[0].instruction.opcode == "atom"
    assert header > 1
