"""What the engine refuses: clearly, all of it at once, and only in the kernel that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, run_ptx
from warpglass.errors import UnsupportedError

# An instruction, and what its message must say.
_REFUSED = [
    ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex0, samp0, {%f5, %f6}];", "texture and surface objects"),
    ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex0, {%r1}];", "no texture, sampler or surface references"),
    ("tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r3, %r4}];", "known forms: tex"),
    ("txq.width.b32 %r1, [tex0];", "references"),
    ("txq.num_samples.b32 %r1, [%rd1];", "known forms: txq"),
    ("suld.b.2d.b32.trap %r1, [surf0, {%r2, %r3}];", "references"),
    ("sust.b.2d.b32.trap [surf0, {%r2, %r3}], %r4;", "references"),
    ("suq.width.b32 %r1, [surf0];", "references"),
    ("wgmma.fence.sync.aligned;", "mma.sync"),
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, 1, 1, 1, 0, 0;",
        "wmma",
    ),
    ("wgmma.commit_group.sync.aligned;", "warp groups"),
    ("wgmma.wait_group.sync.aligned 0;", "warp groups"),
    ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;", "tensor memory"),
    (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%r1], [%rd1], 16, [%r2], %rs1;",
        "each block",
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%r1], [%rd1, {%r2, %r3}], [%r4];",
        "TMA",
    ),
    ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 16, %rs1;", "known forms: cp"),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%rd1], [%r1], 16;", "min max"),
    ("tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;", "TMA"),
    ("prefetch.tensormap [%rd1];", "TMA"),
    ("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;", "TMA"),
    ("st.bulk.weak.shared::cta [%rd1], 64, 0;", "use st"),
    ("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r3, [%r4];", "other blocks"),
    (
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r4];",
        "red",
    ),
    ("multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd1];", "one GPU"),
    ("multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;", "multicast"),
    (
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r1], [%r2];",
        "cluster of its own",
    ),
    ("vadd4.u32.u32.u32.max %r1, %r2, %r3, %r4;", "known forms: vadd4.dtype.atype.btype"),
    ("brkpt;", "debugger"),
    ("pmevent 3;", "profiler"),
    ("atom.min.f64 %fd1, [%rd1], %fd2;", "op: min max; type: u32 s32 u64 s64"),
    ("atom.add.s64 %rd3, [%rd1], %rd2;", "type: u32 s32 u64)"),
    ("atom.global.cas.L2::cache_hint.b32 %r1, [%rd1], %r2, %r3, %rd2;", "known forms: atom"),
    ("mbarrier.try_wait.shared::cluster.b64 %p1, [%r1], %rd2;", "test_wait try_wait"),
]

_HEADER = """.version 8.8
.target sm_90a
.address_size 64
.global .texref tex0;
.global .samplerref samp0;
.global .surfref surf0;
.visible .entry good(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r1; ret;
}
.visible .entry bad(.param .u64 out) {
    .reg .pred %p<2>; .reg .b16 %rs<2>; .reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .f32 %f<7>; .reg .f64 %fd<3>;
"""
_TEXT = _HEADER + "\n".join(line for line, _ in _REFUSED) + "\nret;\n}\n"


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_all_are_named_at_once_with_what_is_supported(engine: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        run_ptx(_TEXT, 1, 32, [np.zeros(32, np.uint32)], engine=engine, name="bad")
    assert f"kernel bad uses {len(_REFUSED)} instructions" in caught.value.summary
    assert len(caught.value.diagnostics) == len(_REFUSED)
    first = _HEADER.count("\n") + 1
    for number, ((line, words), found) in enumerate(zip(_REFUSED, caught.value.diagnostics, strict=True)):
        opcode = line.partition(" ")[0].rstrip(";")
        assert found.message.startswith(f"{opcode} is not supported (PTX line {first + number})")
        assert words in found.message


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_other_kernels_of_the_file_run(engine: str) -> None:
    out = np.zeros(32, np.uint32)
    run_ptx(_TEXT, 1, 32, [out], engine=engine, name="good")
    assert out.tolist() == list(range(32))
