"""Branches that only choose values, and loads from addresses of which each lane chooses one of several."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import ptx
from warpglass.errors import KernelFault
from warpglass.program import build_program, select_values

N = 64
# Element i of `out` is the neighbour of x[i] that way[i] names: 0 the left one, 1 the right one, 2 the one
# `width` behind, else x[i] itself.
NESTED = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [way];
    ld.param.u64 %rd3, [out];
    ld.param.u32 %r9, [width];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd2, %rd2, %rd4;
    ld.global.u32 %r2, [%rd2];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra left;
    setp.eq.u32 %p2, %r2, 1;
    @%p2 bra right;
    setp.ne.u32 %p3, %r2, 2;
    mov.u32 %r3, %r1;
    @%p3 bra found;
    add.s32 %r3, %r1, %r9;
    bra.uni found;
right:
    add.s32 %r3, %r1, 1;
    bra.uni found;
left:
    add.s32 %r3, %r1, -1;
found:
    mul.wide.s32 %rd5, %r3, {size};
    add.s64 %rd6, %rd1, %rd5;
    ld.global.{type} {value}, [%rd6];
    mul.wide.u32 %rd7, %r1, {size};
    add.u64 %rd8, %rd3, %rd7;
    st.global.{type} [%rd8], {value};
    ret;
"""
# The same of two ways without branches.
SELECTED = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [way];
    ld.param.u64 %rd3, [out];
    ld.param.u32 %r9, [width];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd2, %rd2, %rd4;
    ld.global.u32 %r2, [%rd2];
    setp.eq.u32 %p1, %r2, 0;
    setp.eq.u32 %p2, %r2, 1;
    add.s32 %r3, %r1, -1;
    add.s32 %r4, %r1, 1;
    cvt.s64.s32 %rd4, %r3;
    cvt.s64.s32 %rd5, %r4;
    cvt.s64.s32 %rd6, %r1;
    selp.b64 %rd5, %rd5, %rd6, %p2;
    selp.b64 %rd4, %rd4, %rd5, %p1;
    mul.lo.s64 %rd4, %rd4, {size};
    add.s64 %rd6, %rd1, %rd4;
    ld.global.{type} {value}, [%rd6];
    mul.wide.u32 %rd7, %r1, {size};
    add.u64 %rd8, %rd3, %rd7;
    st.global.{type} [%rd8], {value};
    ret;
"""
TYPES = {
    "u8": ("%rs1", np.uint8),
    "u32": ("%r8", np.uint32),
    "f64": ("%fd1", np.float64),
}
PARAMETERS = "u64 x, u64 way, u64 out, u32 width"


def _text(body: str, type_: str) -> str:
    value, dtype = TYPES[type_]
    return kernel(body.format(type=type_, value=value, size=np.dtype(dtype).itemsize), PARAMETERS)


def _expected(x: np.ndarray, way: np.ndarray, threads: int, width: int) -> np.ndarray:
    moves = np.array([-1, 1, width, 0])
    return x[np.arange(threads) + moves[np.minimum(way[:threads], 3)]]


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("body", [NESTED, SELECTED], ids=["nested", "selected"])
@pytest.mark.parametrize("threads", [N, 45, 1])
def test_neighbours_that_lanes_choose(engine: str, type_: str, body: str, threads: int) -> None:
    rng, width = np.random.default_rng(threads), 17
    x = rng.integers(1, 200, N + width).astype(TYPES[type_][1])
    ways = 4 if body is NESTED else 2
    for low in (0, ways - 1):  # all ways, and all lanes alike
        way = rng.integers(low, ways, N).astype(np.uint32)
        way[0] = max(way[0], 1)  # nothing is left of the first
        out = np.zeros(N, x.dtype)
        run_ptx(_text(body, type_), 1, threads, (x, way, out, np.uint32(width)), engine=engine)
        np.testing.assert_array_equal(out[:threads], _expected(x, way, threads, width))
        assert not out[threads:].any()


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("body", [NESTED, SELECTED], ids=["nested", "selected"])
def test_only_what_is_chosen_can_be_outside(engine: str, body: str) -> None:
    """The first element has no left neighbour and the last no right one; lanes that want them are named."""
    x = np.arange(N, dtype=np.uint32)
    way = np.full(N, 3, np.uint32)
    way[1:-1] = np.arange(N - 2) % 2
    out = np.zeros(N, np.uint32)
    run_ptx(_text(body, "u32"), 1, N, (x, way, out, np.uint32(1)), engine=engine)
    np.testing.assert_array_equal(out, _expected(x, way, N, 1))
    for lane, wanted in ((0, 0), (N - 1, 1)):
        bad = way.copy()
        bad[lane] = wanted
        with pytest.raises(KernelFault) as caught:
            run_ptx(_text(body, "u32"), 1, N, (x, bad, out, np.uint32(1)), engine=engine)
        assert caught.value.place.thread == (lane, 0, 0)


# Element i of `out` is x[scale * i - 1], or x[width] where way[i] is 0: alternatives of other patterns.
SPREAD = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [way];
    ld.param.u64 %rd3, [out];
    ld.param.u32 %r9, [width];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd2, %rd2, %rd4;
    ld.global.u32 %r2, [%rd2];
    setp.eq.u32 %p1, %r2, 0;
    mul.lo.u32 %r5, %r1, {scale};
    add.s32 %r3, %r5, -1;
    selp.b32 %r3, %r9, %r3, %p1;
    mul.wide.s32 %rd5, %r3, 4;
    add.s64 %rd6, %rd1, %rd5;
    ld.global.u32 %r4, [%rd6];
    add.u64 %rd8, %rd3, %rd4;
    st.global.u32 [%rd8], %r4;
    ret;
"""


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("scale", [1, 2, 0])
def test_alternatives_of_other_patterns(engine: str, scale: int) -> None:
    x = np.arange(2 * N, dtype=np.uint32) * 7
    way = np.arange(N, dtype=np.uint32) % 3
    out = np.zeros(N, np.uint32)
    if scale == 0:
        way[:] = 0
    run_ptx(kernel(SPREAD.format(scale=scale), PARAMETERS), 1, N, (x, way, out, np.uint32(5)), engine=engine)
    np.testing.assert_array_equal(out, x[np.where(way == 0, 5, scale * np.arange(N) - 1)])


def test_nested_choices_are_one_block() -> None:
    program = build_program(ptx.parse(_text(NESTED, "u32")), "k")
    assert len(program.blocks) > 4
    (block,) = [one for one in select_values(program).blocks if one.steps]
    assert [step.instruction.opcode for step in block.steps].count("selp") == 3


@pytest.mark.parametrize(
    "side",
    [
        "st.global.u32 [%rd2], %r2;",  # another effect
        "div.u32 %r3, %r1, %r2;",  # slow
        "bar.warp.sync -1;",
        "setp.eq.u32 %p1, %r1, 3;\n not.pred %p2, %p1;",  # a predicate that is read behind
    ],
)
def test_other_branches_stay(side: str) -> None:
    text = kernel(
        f"""
        ld.param.u64 %rd2, [way];
        mov.u32 %r1, %tid.x;
        mov.u32 %r2, 7;
        mov.u32 %r3, 0;
        setp.eq.u32 %p2, %r1, 0;
        setp.eq.u32 %p1, %r1, 1;
        @%p1 bra on;
        {side}
    on:
        selp.b32 %r4, %r1, %r3, %p2;
        st.global.u32 [%rd2], %r4;
        ret;
        """,
        "u64 way",
    )
    program = build_program(ptx.parse(text), "k")
    assert select_values(program) is program


# Lanes that have nothing to add are at the loop's header first, and go on without the others.
ROUNDS = """
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [out];
    ld.param.u64 %rd3, [count];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd5, %rd1, %rd4;
    add.u64 %rd6, %rd2, %rd4;
    ld.global.u32 %r2, [%rd5];
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
head:
    atom.global.add.u32 %r5, [%rd3], %r2;
    mad.lo.u32 %r4, %r4, 31, %r5;
    add.u32 %r3, %r3, 1;
    setp.gt.u32 %p1, %r3, 6;
    @%p1 bra done;
    shr.u32 %r6, %r2, %r3;
    and.b32 %r6, %r6, 1;
    setp.eq.u32 %p2, %r6, 0;
    @%p2 bra head;
    add.u32 %r2, %r2, 5;
    bra head;
done:
    st.global.u32 [%rd6], %r4;
    ret;
"""


def test_sides_that_meet_at_a_loops_header_stay_apart() -> None:
    x = np.random.default_rng(1).integers(0, 100, N, np.uint32)
    found: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        out, count = np.zeros(N, np.uint32), np.zeros(1, np.uint32)
        run_ptx(kernel(ROUNDS, "u64 x, u64 out, u64 count"), 1, N, (x, out, count), engine=engine)
        found.append(out)
    np.testing.assert_array_equal(found[0], found[1])
