"""Calls, indexed branches and the stack as PTX spells them, beyond what NVRTC emits today."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import run_ptx
from warpglass.errors import CompileError, KernelFault, UnsupportedError

HEADER = ".version 8.3\n.target sm_90\n.address_size 64\n"
# Every kernel here stores %r9 of each thread to out, having %r1 as its thread index.
FRAME = """
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %%p<8>; .reg .b16 %%rs<8>; .reg .b32 %%r<32>; .reg .b64 %%rd<32>; .reg .f32 %%f<8>;
    mov.u32 %%r1, %%tid.x;
    ld.param.u32 %%r2, [n];
%s
    ld.param.u64 %%rd30, [out];
    cvta.to.global.u64 %%rd30, %%rd30;
    mul.wide.u32 %%rd31, %%r1, 4;
    add.s64 %%rd30, %%rd30, %%rd31;
    st.global.u32 [%%rd30], %%r9;
    ret;
}
"""
TWICE = """
.func (.param .b32 result) twice(.param .b32 x)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [x];
    shl.b32 %r2, %r1, 1;
    st.param.b32 [result], %r2;
    ret;
}
.func (.param .b32 result) negated(.param .b32 x)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [x];
    neg.s32 %r2, %r1;
    st.param.b32 [result], %r2;
    ret;
}
"""


def results(body: str, functions: str = "", n: int = 5, threads: int = 64) -> list[int]:
    """What a kernel of the frame stores; both engines must agree."""
    found: list[list[int]] = []
    for engine in ("kinds", "reference"):
        out = np.zeros(threads, np.int32)
        run_ptx(HEADER + functions + FRAME % body, 1, threads, (out, np.uint32(n)), engine=engine)
        found.append(out.tolist())
    assert found[0] == found[1]
    return found[0]


# ---------------------------------------------------------------------------------------- branches
SWITCH = """
    table: .branchtargets L0, L1, L2, L1;
    {index}
    brx.idx %r3, table;
    L0: mov.u32 %r9, 10; bra DONE;
    L1: add.u32 %r9, %r1, 100; bra DONE;
    L2: mov.u32 %r9, 30;
    DONE:
"""


def test_indexed_branch_of_each_thread() -> None:
    got = results(SWITCH.format(index="and.b32 %r3, %r1, 3;"))
    assert got == [[10, i + 100, 30, i + 100][i % 4] for i in range(64)]


@pytest.mark.parametrize("n", range(4))
def test_indexed_branch_of_a_warp(n: int) -> None:
    got = results(SWITCH.format(index="mov.u32 %r3, %r2;"), n=n)
    assert got == [[10, i + 100, 30, i + 100][n] for i in range(64)]


def test_guarded_indexed_branch() -> None:
    body = "mov.u32 %r9, 7; and.b32 %r3, %r1, 3; setp.lt.u32 %p1, %r1, 20;" + SWITCH.replace(
        "brx.idx %r3, table;", "@%p1 brx.idx %r3, table; bra DONE;"
    ).format(index="")
    got = results(body)
    assert got == [[10, i + 100, 30, i + 100][i % 4] if i < 20 else 7 for i in range(64)]


def test_indexed_branch_in_a_loop() -> None:
    body = """
    mov.u32 %r9, 0; mov.u32 %r4, 0;
    table: .branchtargets L0, L1, L2;
    LOOP: add.u32 %r5, %r1, %r4; rem.u32 %r3, %r5, 3;
    brx.idx %r3, table;
    L0: add.u32 %r9, %r9, 1; bra NEXT;
    L1: mul.lo.u32 %r9, %r9, 3; bra NEXT;
    L2: setp.gt.u32 %p2, %r4, 8; @%p2 bra OUT; add.u32 %r9, %r9, 7;
    NEXT: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 12; @%p1 bra LOOP;
    OUT:
    """

    def expected(i: int) -> int:
        total = 0
        for step in range(12):
            case = (i + step) % 3
            if case == 2 and step > 8:
                break
            total = [total + 1, total * 3, total + 7][case]
        return total

    assert results(body) == [expected(i) for i in range(64)]


def test_index_beyond_the_targets() -> None:
    with pytest.raises(KernelFault, match="index beyond its list of targets") as caught:
        results(SWITCH.format(index="mov.u32 %r3, %r1;"))
    assert caught.value.place.thread == (4, 0, 0)


# ---------------------------------------------------------------------------------------- calls
def test_guarded_call() -> None:
    body = """
    .param .b32 a; .param .b32 b;
    mov.u32 %r9, 1; setp.lt.u32 %p1, %r1, 9;
    st.param.b32 [a], %r1;
    @%p1 call (b), twice, (a);
    @%p1 ld.param.b32 %r9, [b];
    """
    assert results(body, TWICE) == [2 * i if i < 9 else 1 for i in range(64)]


@pytest.mark.parametrize(
    "signature",
    ["P: .callprototype (.param .b32 _) _ (.param .b32 _);", "P: .calltargets twice, negated;"],
)
def test_indirect_call(signature: str) -> None:
    body = f"""
    .param .b32 a; .param .b32 b;
    {signature}
    mov.u64 %rd1, twice; mov.u64 %rd2, negated;
    setp.lt.u32 %p1, %r1, 40;
    selp.b64 %rd3, %rd1, %rd2, %p1;
    st.param.b32 [a], %r1;
    call (b), %rd3, (a), P;
    ld.param.b32 %r9, [b];
    """
    assert results(body, TWICE) == [2 * i if i < 40 else -i for i in range(64)]


def test_parameters_in_registers() -> None:
    function = """
    .func (.reg .b32 r) weighted(.reg .b32 a, .reg .b32 b) { mad.lo.s32 r, a, 10, b; ret; }
    """
    body = "call (%r9), weighted, (%r1, 3); call (%r9), weighted, (%r9, %r2);"
    assert results(body, function) == [10 * (10 * i + 3) + 5 for i in range(64)]


def test_address_of_a_parameter() -> None:
    function = """
    .func (.param .b32 r) chosen(.param .align 4 .b8 x[16], .param .b32 at)
    {
        .reg .b32 %r<4>; .reg .b64 %rd<4>;
        ld.param.u32 %r1, [at];
        mul.wide.u32 %rd1, %r1, 4;
        mov.b64 %rd2, x;
        add.s64 %rd3, %rd2, %rd1;
        ld.param.u32 %r2, [%rd3];
        st.param.b32 [r], %r2;
        ret;
    }
    """
    body = """
    .param .align 4 .b8 x[16]; .param .b32 at; .param .b32 r;
    and.b32 %r3, %r1, 3;
    st.param.v2.b32 [x], {%r1, 11}; st.param.b32 [x+8], %r2; st.param.b32 [x+12], 44;
    st.param.b32 [at], %r3;
    call (r), chosen, (x, at);
    ld.param.b32 %r9, [r];
    """
    assert results(body, function) == [[i, 11, 5, 44][i % 4] for i in range(64)]


def test_narrow_parameters() -> None:
    function = """
    .func (.param .b32 r) widened(.param .b32 c)
    { .reg .b16 %rs<2>; .reg .b32 %r<2>; ld.param.s8 %rs1, [c]; cvt.s32.s16 %r1, %rs1;
      st.param.b32 [r], %r1; ret; }
    """
    body = """
    .param .b32 c; .param .b32 r;
    add.u32 %r3, %r1, 100; st.param.b32 [c], %r3;
    call (r), widened, (c);
    ld.param.b32 %r9, [r];
    """
    assert results(body, function) == [(i + 100 + 128) % 256 - 128 for i in range(64)]


def test_exit_within_a_function() -> None:
    function = """
    .func leave(.param .b32 x)
    { .reg .pred %p<2>; .reg .b32 %r<2>; ld.param.u32 %r1, [x]; setp.gt.u32 %p1, %r1, 50;
      @%p1 exit; ret; }
    """
    body = ".param .b32 x; st.param.b32 [x], %r1; call leave, (x); mov.u32 %r9, 1;"
    assert results(body, function) == [1] * 51 + [0] * 13


@pytest.mark.parametrize("calls", [3, 300])
def test_many_calls_share_a_copy(calls: int) -> None:
    """So many that they cannot all have copies of their own; every other one diverges."""
    long = "\n".join(f"    add.u32 %r1, %r1, {k}; xor.b32 %r1, %r1, 1;" for k in range(12))
    function = f"""
    .func (.param .b32 r) mixed(.param .b32 x)
    {{ .reg .pred %p<2>; .reg .b32 %r<2>; ld.param.u32 %r1, [x]; setp.lt.u32 %p1, %r1, 300; @%p1 bra SMALL;
{long}
      SMALL: add.u32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }}
    """
    one = "{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r9; "
    one += "call (r), mixed, (x); ld.param.b32 %r9, [r]; }\n"
    other = "setp.lt.u32 %p1, %r1, 33; @%p1 bra SKIP{0};\n" + one + "SKIP{0}:\n"
    body = "mov.u32 %r9, %r1;\n" + "".join(
        other.replace("{0}", str(k)) if k % 2 else one for k in range(calls)
    )

    def mixed(x: int) -> int:
        if x >= 300:
            for k in range(12):
                x = x + k ^ 1
        return x + 1

    def expected(i: int) -> int:
        value = i
        for k in range(calls):
            if k % 2 == 0 or i >= 33:
                value = mixed(value)
        return value

    assert results(body, function) == [expected(i) for i in range(64)]


# ---------------------------------------------------------------------------------------- the stack
def test_alloca() -> None:
    body = """
    and.b32 %r3, %r1, 7; add.u32 %r3, %r3, 1; mul.wide.u32 %rd1, %r3, 4;
    stacksave.u64 %rd9;
    alloca.u64 %rd2, %rd1, 8;
    mov.u32 %r4, 0; mov.u64 %rd3, %rd2;
    FILL: mul.lo.u32 %r5, %r4, %r1; st.local.u32 [%rd3], %r5; add.s64 %rd3, %rd3, 4; add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, %r3; @%p1 bra FILL;
    alloca.u64 %rd4, 16; st.local.u32 [%rd4], 1000;
    mov.u32 %r9, 0;
    SUM: add.s64 %rd3, %rd3, -4; ld.local.u32 %r5, [%rd3]; add.u32 %r9, %r9, %r5; add.u32 %r4, %r4, -1;
    setp.gt.u32 %p1, %r4, 0; @%p1 bra SUM;
    stackrestore.u64 %rd9;
    alloca.u64 %rd5, 16; setp.eq.u64 %p2, %rd5, %rd2; selp.u32 %r6, 10000, 0, %p2; add.u32 %r9, %r9, %r6;
    """
    assert results(body) == [10000 + sum(k * i for k in range(i % 8 + 1)) for i in range(64)]


def test_alloca_beyond_the_stack() -> None:
    body = "mov.u64 %rd1, 100000; alloca.u64 %rd2, %rd1, 8; st.local.u32 [%rd2+99996], %r1;"
    with pytest.raises(KernelFault, match="local"):
        results(body)


# ---------------------------------------------------------------------------------------- refusals
def test_unknown_system_function_is_refused() -> None:
    function = ".extern .func (.param .b32 r) cudaDeviceSynchronize;\n"
    with pytest.raises(UnsupportedError, match="cudaDeviceSynchronize is not in the module"):
        results(".param .b32 r; call (r), cudaDeviceSynchronize; ld.param.b32 %r9, [r];", function)


def test_unknown_instructions_of_functions_count() -> None:
    function = ".func f() { .reg .b32 %r<2>; tcgen05.wait.ld.sync.aligned; ret; }\n"
    with pytest.raises(UnsupportedError, match="tcgen05"):
        results("call f;", function)


def test_branch_without_targets_is_refused() -> None:
    with pytest.raises(CompileError):
        results("mov.u32 %r3, 0; brx.idx %r3, nowhere;")
