"""Clusters: every block is one of its own, and kernels that want larger ones are refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.errors import KernelFault, UnsupportedError

from .devices import device  # noqa: F401


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("arrive", "wait"),
    [
        ("barrier.cluster.arrive", "barrier.cluster.wait"),
        ("barrier.cluster.arrive.release", "barrier.cluster.wait.acquire"),
        ("barrier.cluster.arrive.aligned", "barrier.cluster.wait.aligned"),
        ("barrier.cluster.arrive.relaxed.aligned", "barrier.cluster.wait.acquire.aligned"),
    ],
)
def test_own_memory_is_the_clusters(arrive: str, wait: str, engine: str) -> None:
    """Threads exchange values through addresses that mapa makes; dependent launches change nothing."""
    body = [
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, room; cvt.u64.u32 %rd2, %r2;",
        "cvta.shared.u64 %rd2, %rd2; griddepcontrol.wait;",
        "mapa.shared::cluster.u32 %r3, %r2, 0; mov.u32 %r9, %cluster_ctarank; mapa.u64 %rd3, %rd2, %r9;",
        "mad.lo.u32 %r4, %r1, 4, %r3; st.shared::cluster.u32 [%r4], %r1;",
        f"{arrive}; {wait};",
        "sub.u32 %r5, 95, %r1; mul.wide.u32 %rd4, %r5, 4; add.u64 %rd3, %rd3, %rd4; ld.u32 %r6, [%rd3];",
        "getctarank.shared::cluster.u32 %r7, %r4; getctarank.u64 %r8, %rd3; add.u32 %r6, %r6, %r7;",
        "add.u32 %r6, %r6, %r8; atom.shared::cluster.add.u32 %r5, [%r3+384], 1;",
        "griddepcontrol.launch_dependents; mad.wide.u32 %rd1, %r1, 4, %rd1; st.global.u32 [%rd1], %r6; ret;",
    ]
    out = np.zeros(96, np.uint32)
    text = kernel("\n".join(body), "u64 out", shared=".align 16 .b8 room[512]")
    run_ptx(text, 1, 96, [out], engine=engine)
    assert out.tolist() == [95 - t for t in range(96)]


@pytest.mark.parametrize("engine", CPU_ENGINES)  # setmaxnreg is for sm_90a alone
def test_registers_can_be_given_back(engine: str) -> None:
    body = (
        "setmaxnreg.dec.sync.aligned.u32 40; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;"
        "setmaxnreg.inc.sync.aligned.u32 232; mad.wide.u32 %rd1, %r1, 4, %rd1;"
        "st.global.u32 [%rd1], %r1; ret;"
    )
    out = np.zeros(128, np.uint32)
    run_ptx(kernel(body, "u64 out"), 1, 128, [out], engine=engine)
    assert out.tolist() == list(range(128))


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_memory_of_a_block_that_does_not_exist(engine: str) -> None:
    body = "mov.u32 %r1, room; mapa.shared::cluster.u32 %r1, %r1, 1; st.shared::cluster.u32 [%r1], %r1; ret;"
    with pytest.raises(KernelFault):
        run_ptx(kernel(body, shared=".align 4 .b8 room[64]"), 1, 1, [], engine=engine)


SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void sums(const int *x, int *out) {
    __shared__ int s[128];
    auto cluster = cg::this_cluster();
    s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    cluster.sync();
    int *other = cluster.map_shared_rank(s, cluster.block_rank());
    int sum = 0;
    for (int k = 0; k <= threadIdx.x; k++) sum += other[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum * (int)cluster.num_blocks();
    cluster.sync();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) pairs(int *out) { out[blockIdx.x] = 1; }
extern "C" __global__ void __cluster_dims__(1, 1, 1) alone(int *out) { out[blockIdx.x] = 1; }
"""


def test_groups_of_a_cluster(device: str) -> None:  # noqa: F811
    x = np.random.default_rng(1).integers(0, 9, (3, 128)).astype(np.int32)
    out = np.zeros_like(x)
    lab.run(lab.compile(SOURCE, "sums"), 3, 128, (x, out), device=device, timeout=30)
    assert (out == x.cumsum(axis=1)).all()


@pytest.mark.usefixtures("mode")
def test_larger_clusters_are_refused() -> None:
    out = np.zeros(4, np.int32)
    with pytest.raises(UnsupportedError, match="kernel pairs wants clusters of 2 blocks"):
        lab.run(lab.compile(SOURCE, "pairs"), 4, 32, (out,), device="cpu")
    lab.run(lab.compile(SOURCE, "alone"), 4, 32, (out,), device="cpu")
    assert out.tolist() == [1, 1, 1, 1]
