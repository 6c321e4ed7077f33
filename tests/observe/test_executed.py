"""How often instructions ran, held to counts made by hand: each instruction counts once, however it runs.

Counts are those of the PTX, without unconditional `bra`, `ret` and `exit`, which machine code mostly lacks.
"""

from __future__ import annotations

import pytest

import warpglass as wg
from tests.ptx_text import HEADER, function, kernel
from warpglass.records.profile import Profile

WARPS = "smsp__inst_executed.sum"
THREADS = "smsp__thread_inst_executed.sum"
ACTING = "smsp__thread_inst_executed_pred_on.sum"
LOCAL = "l1tex__t_requests_pipe_lsu_mem_local_op_{}.sum"


def profile_of(text: str) -> Profile:
    """One warp's profile at the level of PTX: the assembler does not know this GPU's machine code."""
    return wg.profile(wg.compile(text, "k", language="ptx"), 1, 32, (), model="v100", caches=False)


# Body, warp instructions, thread instructions, and those whose predicate held.
COUNTS = [
    pytest.param(
        """
        mov.u32 %r1, %tid.x;
        setp.ge.u32 %p1, %r1, 16;
        @%p1 bra JOIN;
        shfl.sync.down.b32 %r2, %r1, 8, 31, 0xffff;
        shfl.sync.down.b32 %r2, %r2, 4, 31, 0xffff;
        shfl.sync.down.b32 %r2, %r2, 2, 31, 0xffff;
        JOIN: add.u32 %r2, %r2, %r1;
        ret;
        """,
        (3 + 3 + 1, 3 * 32 + 3 * 16 + 32, 3 * 32 + 3 * 16 + 32),
        id="shuffles-where-lanes-are-apart",
    ),
    pytest.param(
        """
        mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 16;
        setp.lt.u32 %p2, %r1, 8;
        @%p1 bar.warp.sync 0xffff;
        @%p2 shfl.sync.down.b32 %r2, %r1, 4, 31, 0xff;
        ret;
        """,
        (3 + 2, 3 * 32 + 2 * 32, 3 * 32 + 16 + 8),
        id="guarded-instructions-of-the-warp",
    ),
    pytest.param(
        """
        mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 32;
        @%p1 bar.sync 0;
        @%p1 bar.sync 1;
        bar.red.popc.u32 %r3, 1, %p1;
        @%p1 bar.red.popc.u32 %r3, 1, %p1;
        ret;
        """,
        (2 + 4, 6 * 32, 6 * 32),
        id="guarded-barriers-and-their-results",
    ),
    pytest.param(
        """
        .local .align 4 .b8 a[4];
        mov.u64 %rd1, a;
        cvta.local.u64 %rd2, %rd1;
        st.u32 [%rd2], 7;
        ld.u32 %r1, [%rd2];
        ret;
        """,
        (4, 4 * 32, 4 * 32),
        id="local-memory-through-generic-pointers",
    ),
]


@pytest.mark.parametrize(("body", "expected"), COUNTS)
def test_every_instruction_counts_once(body: str, expected: tuple[int, int, int]):
    counters = profile_of(kernel(body)).counters
    assert (counters[WARPS], counters[THREADS], counters[ACTING]) == expected


def test_lines_of_shuffles_where_lanes_are_apart():
    lines = """
        .loc 1 1 0
        mov.u32 %r1, %tid.x;
        setp.ge.u32 %p1, %r1, 16;
        .loc 1 2 0
        @%p1 bra JOIN;
        .loc 1 3 0
        shfl.sync.down.b32 %r2, %r1, 8, 31, 0xffff;
        shfl.sync.down.b32 %r2, %r2, 4, 31, 0xffff;
        .loc 1 4 0
        @!%p1 shfl.sync.down.b32 %r2, %r2, 2, 31, 0xffff;
        .loc 1 5 0
        JOIN: add.u32 %r2, %r2, %r1;
        ret;
    """
    profile = profile_of(kernel(lines) + '.file 1 "apart.cu"\n')
    found = {one.line: (one.counters[WARPS], one.counters[ACTING]) for one in profile.lines}
    assert found == {1: (2, 64), 2: (1, 32), 3: (2, 32), 4: (1, 16), 5: (1, 32)}


def test_local_accesses_through_generic_pointers_count_once():
    body = COUNTS[-1].values[0]
    assert isinstance(body, str)
    counters = profile_of(kernel(body)).counters
    assert (counters[LOCAL.format("st")], counters[LOCAL.format("ld")]) == (1, 1)


def test_registers_saved_around_a_call_count_once():
    """Each call of a function that calls itself saves what is read behind it: n and where to return to."""
    calls = 3
    itself = """
        ld.param.u32 %r1, [n];
        setp.eq.u32 %p1, %r1, 0;
        @%p1 bra LAST;
        sub.u32 %r2, %r1, 1;
        { .param .b32 a; .param .b32 b;
        st.param.b32 [a], %r2;
        call (b), f, (a);
        ld.param.b32 %r3, [b]; }
        add.u32 %r4, %r3, %r1;
        st.param.b32 [r], %r4;
        ret;
        LAST: st.param.b32 [r], 0;
        ret;
    """
    first = f"""
        {{ .param .b32 a; .param .b32 b;
        st.param.b32 [a], {calls};
        call (b), f, (a);
        ld.param.b32 %r1, [b]; }}
        ret;
    """
    declared = ".func (.param .b32 r) f(.param .b32 n);\n"
    made = function("f", ".param .b32 r", ".param .b32 n", itself) + kernel(first).removeprefix(HEADER)
    counters = profile_of(HEADER + declared + made).counters
    assert (counters[LOCAL.format("st")], counters[LOCAL.format("ld")]) == (2 * calls, 2 * calls)
