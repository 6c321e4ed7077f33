"""Special registers on both engines, and on a GPU where it must hold the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass.isa.specials import SPECIALS

_LANE = np.arange(96) % 32
# What each of 96 threads in blocks of (8, 4, 3) reads, in block (1, 0, 2) of a grid of (2, 1, 3).
_MACHINE = {
    "tid.x": np.arange(96) % 8,
    "tid.y": np.arange(96) // 8 % 4,
    "tid.z": np.arange(96) // 32,
    "tid.w": 0,
    "ntid.x": 8,
    "ntid.y": 4,
    "ntid.z": 3,
    "ctaid.x": 1,
    "ctaid.y": 0,
    "ctaid.z": 2,
    "ctaid.w": 0,
    "nctaid.x": 2,
    "nctaid.y": 1,
    "nctaid.z": 3,
    "laneid": _LANE,
    "lanemask_eq": 1 << _LANE,
    "lanemask_lt": (1 << _LANE) - 1,
    "lanemask_le": (2 << _LANE) - 1,
    "lanemask_gt": -(2 << _LANE) & 0xFFFFFFFF,
    "lanemask_ge": -(1 << _LANE) & 0xFFFFFFFF,
    "dynamic_smem_size": 96,
    "cluster_ctarank": 0,
    "cluster_nctarank": 1,
    "cluster_nctaid.y": 1,
    "cluster_ctaid.x": 0,
    "clusterid.x": 1,
    "nclusterid.z": 3,
}
_ENGINE = {  # what a GPU is free to choose
    "warpid": np.arange(96) // 32,
    "nwarpid": 3,
    "smid": 5,
    "nsmid": 132,
    "gridid": 1,
    "total_smem_size": 256,
    "aggr_smem_size": 256,
    "envreg3": 0,
    "pm0": 0,
    "pm7_64": 0,
    "current_graph_exec": 0,
}


def _read(name: str, engine: str) -> np.ndarray:
    """What every thread of the last block reads."""
    bits = 64 if SPECIALS[name] == "i64" else 32
    register = {32: "%r", 64: "%rd"}[bits]
    body = f"""
    .shared .align 4 .b8 some[100];
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.z;
    setp.ne.u32 %p1, %r1, 1; setp.ne.or.u32 %p1, %r2, 2, %p1;
    @%p1 bra DONE;
    mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z;
    mad.lo.u32 %r6, %r5, 4, %r4; mad.lo.u32 %r6, %r6, 8, %r3;
    mov.u{bits} {register}9, %{name};
    cvt.u64.u{bits} %rd9, {register}9;
    ld.param.u64 %rd1, [out]; mad.wide.u32 %rd2, %r6, 8, %rd1;
    st.global.u64 [%rd2], %rd9;
    mov.u32 %r7, some; mov.u32 %r8, more;
    st.shared.u8 [%r7], 0;
    DONE: ret;
    """
    out = np.full(96, 77, np.uint64)
    text = kernel(body, "u64 out").replace(".visible", ".extern .shared .align 4 .b8 more[];\n.visible", 1)
    run_ptx(text, (2, 1, 3), (8, 4, 3), [out], engine=engine, shared=96)
    return out


@pytest.mark.parametrize("name", _MACHINE)
@pytest.mark.parametrize("engine", ENGINES)
def test_special_register_of_the_machine(name: str, engine: str):
    assert np.array_equal(_read(name, engine), np.broadcast_to(_MACHINE[name], 96).astype(np.uint64))


@pytest.mark.parametrize("name", _ENGINE)
@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_special_register_of_the_engine(name: str, engine: str):
    assert np.array_equal(_read(name, engine), np.broadcast_to(_ENGINE[name], 96).astype(np.uint64))


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_every_special_register_can_be_read(engine: str):
    lines = [
        f"mov.{'u64 %rd1' if type_ == 'i64' else 'u32 %r1'}, %{name};" for name, type_ in SPECIALS.items()
    ]
    run_ptx(kernel("\n".join([*lines, "ret;"])), 1, 32, [], engine=engine)


@pytest.mark.parametrize("clock", ["clock64", "globaltimer"])
@pytest.mark.parametrize("engine", ENGINES)
def test_waiting_for_the_clock_ends(clock: str, engine: str):
    body = f"""
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, %{clock};
    AGAIN: mov.u64 %rd3, %{clock};
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p1, %rd4, 100000;
    @%p1 bra AGAIN;
    st.global.u64 [%rd1], %rd4;
    ret;
    """
    out = np.zeros(1, np.uint64)
    run_ptx(kernel(body, "u64 out"), 1, 1, [out], engine=engine)
    assert out[0] >= 100000


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_clock_counts_the_instructions_of_the_block_from_its_start(engine: str):
    body = """
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd1, %r1, 24, %rd1;
    mov.u32 %r2, %clock;
    add.u32 %r3, %r2, 1; add.u32 %r3, %r3, 1;
    mov.u32 %r4, %clock;
    mov.u32 %r5, 0;
    LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 10; @%p1 bra LOOP;
    mov.u64 %rd2, %clock64;
    cvt.u64.u32 %rd3, %r2; cvt.u64.u32 %rd4, %r4;
    st.global.u64 [%rd1], %rd3; st.global.u64 [%rd1+8], %rd4; st.global.u64 [%rd1+16], %rd2;
    ret;
    """
    out = np.zeros((5, 3), np.uint64)
    run_ptx(kernel(body, "u64 out"), 5, 1, [out], engine=engine)
    assert out.tolist() == [[4, 7, 39]] * 5


def test_a_vector_of_special_registers_is_refused_as_a_whole():
    with pytest.raises(Exception, match=r"%tid is not supported.*only its parts"):
        run_ptx(kernel("mov.u32 %r1, %tid; ret;"), 1, 1, [], engine="kinds")
