"""Clusters: their registers, their barrier and the shared memory of their blocks."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.errors import KernelFault, KernelTimeout, LaunchError

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
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
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


EXCHANGES = r"""
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define ALONE(which) [] { unsigned r; asm("mov.u32 %0, %%" which ";" : "=r"(r)); return r; }()
#define NAMED(which, axis) ALONE(which "." axis)
#define THREE(which) NAMED(which, "x"), NAMED(which, "y"), NAMED(which, "z")

extern "C" __global__ void registers(unsigned *out)
{
    const unsigned found[] = {THREE("clusterid"), THREE("nclusterid"), THREE("cluster_ctaid"),
                              THREE("cluster_nctaid"), ALONE("cluster_ctarank"), ALONE("cluster_nctarank")};
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    for (int k = 0; k < 14; k++) out[14 * block + k] = found[k];
}

// Every block sums what all of its cluster have, and adds to a counter in the next one's memory.
extern "C" __global__ void sums(const int *x, int *out)
{
    __shared__ int own[100], came;
    auto cluster = cg::this_cluster();
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned rank = cluster.block_rank(), ranks = cluster.num_blocks(), t = threadIdx.x;
    own[t] = x[100 * block + t];
    if (t == 0) came = 0;
    cluster.sync();
    int sum = 0;
    for (int k = 0; k < ranks; k++) sum += cluster.map_shared_rank(own, k)[99 - t];
    int *next = cluster.map_shared_rank(&came, (rank + 1) % ranks);
    atomicAdd(next, sum);
    if (cluster.query_shared_rank(next) != (rank + 1) % ranks) sum = -1;
    cluster.sync();
    out[101 * block + t] = sum;
    if (t == 0) out[101 * block + 100] = came;
}

// Blocks hand on a number from one to the next, by turns of the barrier; halves of it are apart.
extern "C" __global__ void handed_on(int *out)
{
    __shared__ int held;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), ranks = cluster.num_blocks();
    if (threadIdx.x == 0) held = rank;
    for (int turn = 0; turn < 7; turn++) {
        cluster.sync();
        const int other = *cluster.map_shared_rank(&held, (rank + 1) % ranks);
        auto token = cluster.barrier_arrive();
        out[64 * blockIdx.x + threadIdx.x] = other;
        cluster.barrier_wait(std::move(token));
        if (threadIdx.x == 0) held = 3 * other + 1;
    }
    cluster.sync();
}

// Threads that have returned are not waited for.
extern "C" __global__ void __cluster_dims__(2, 1, 1) returned(int *out, int n)
{
    __shared__ int own[64];
    const int t = threadIdx.x;
    own[t] = 64 * blockIdx.x + t;
    if (t >= n) return;
    auto cluster = cg::this_cluster();
    cluster.sync();
    out[64 * blockIdx.x + t] = cluster.map_shared_rank(own, cluster.block_rank() ^ 1)[t];
    cluster.sync();
}
"""
EXPLICIT = """
__device__ void tell(unsigned *out)
{
    unsigned found;
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(found));
    out[blockIdx.x] = found;
}
extern "C" __global__ void plain(unsigned *out) { tell(out); }
extern "C" __global__ void __cluster_dims__(1, 1, 1) one(unsigned *out) { tell(out); }
"""
_compiled = cache(lab.compile)
CLUSTERS = ((1, 1, 1), (2, 1, 1), (8, 1, 1), (2, 2, 1), (1, 3, 2))


def _ranks(grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> np.ndarray:
    """Of each block, by z, y and x, its cluster's number."""
    z, y, x = np.indices(grid[::-1])
    counts = [extent // step for extent, step in zip(grid, cluster, strict=True)]
    return x // cluster[0] + counts[0] * (y // cluster[1] + counts[1] * (z // cluster[2]))


@pytest.mark.sampled(quick=5, ci=4)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_special_registers(device: str, cluster: tuple[int, int, int]) -> None:  # noqa: F811
    grid = (8, 6, 4)
    out = np.zeros((4, 6, 8, 14), np.uint32)
    lab.run(_compiled(EXCHANGES, "registers"), grid, 1, (out,), device=device, cluster=cluster)
    place = np.stack(list(np.indices(grid[::-1]))[::-1], axis=-1)
    inside = place % cluster
    rank = inside[..., 0] + cluster[0] * (inside[..., 1] + cluster[1] * inside[..., 2])
    assert (out[..., :3] == place // cluster).all()
    assert (out[..., 3:6] == np.array(grid) // cluster).all()
    assert (out[..., 6:9] == inside).all()
    assert (out[..., 9:12] == cluster).all()
    assert (out[..., 12] == rank).all()
    assert (out[..., 13] == np.prod(cluster)).all()


@pytest.mark.sampled(quick=4, ci=4)
@pytest.mark.parametrize(
    ("name", "cluster", "explicit"), [("plain", None, 0), ("plain", 1, 1), ("plain", 2, 1), ("one", None, 1)]
)
def test_clusters_that_somebody_asked_for(name: str, cluster: int | None, explicit: int, device: str) -> None:  # noqa: F811
    out = np.zeros(4, np.uint32)
    lab.run(_compiled(EXPLICIT, name), 4, 1, (out,), device=device, cluster=cluster)
    assert out.tolist() == [explicit] * 4


@pytest.mark.sampled(quick=5, ci=4)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_memory_of_other_blocks(device: str, cluster: tuple[int, int, int]) -> None:  # noqa: F811
    grid = (8, 6, 4)
    x = np.random.default_rng(3).integers(0, 99, (4, 6, 8, 100)).astype(np.int32)
    out = np.zeros((4, 6, 8, 101), np.int32)
    lab.run(_compiled(EXCHANGES, "sums"), grid, 100, (x, out), device=device, cluster=cluster)
    numbers = _ranks(grid, cluster)
    for number in range(numbers.max() + 1):
        inside = numbers == number
        total = x[inside].sum(axis=0)[::-1]
        assert (out[inside][:, :100] == total).all()
        assert (out[inside][:, 100] == total.sum()).all()


@pytest.mark.sampled(quick=5, ci=4)
@pytest.mark.parametrize("cluster", [1, 2, 4, 8])
def test_phases_of_the_barrier(device: str, cluster: int) -> None:  # noqa: F811
    out = np.zeros((16, 64), np.int32)
    lab.run(_compiled(EXCHANGES, "handed_on"), 16, 64, (out,), device=device, cluster=cluster)
    held = np.arange(16) % cluster
    for turn in range(7):
        other = np.roll(held.reshape(-1, cluster), -1, axis=1).ravel()
        held = 3 * other + 1
        assert turn < 6 or (out == other[:, None]).all()


@pytest.mark.sampled(quick=5, ci=4)
@pytest.mark.parametrize("n", [64, 40, 32])
def test_threads_that_have_returned(device: str, n: int) -> None:  # noqa: F811
    out = np.zeros((6, 64), np.int32)
    lab.run(_compiled(EXCHANGES, "returned"), 6, 64, (out, n), device=device)
    blocks = np.arange(6) ^ 1
    expected = 64 * blocks[:, None] + np.arange(64)
    assert (out[:, :n] == expected[:, :n]).all()
    assert not out[:, n:].any()


SPLIT = r"""
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(2, 1, 1) busy(int *out)
{
    __shared__ volatile int flag;
    auto cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) flag = 0;
    cluster.sync();
    auto token = cluster.barrier_arrive();
    if (blockIdx.x % 2) {
        cluster.barrier_wait(std::move(token));
        if (threadIdx.x == 0) *(volatile int *)cluster.map_shared_rank((int *)&flag, 0) = 5;
    } else {
        while (flag == 0) {}
        cluster.barrier_wait(std::move(token));
        out[threadIdx.x] = flag;
    }
    cluster.sync();
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) stuck(int *out)
{
    if (threadIdx.x < 32) __syncthreads();
    else cooperative_groups::this_cluster().sync();
    out[threadIdx.x] = 1;
}
"""


def test_work_between_arriving_and_waiting(device: str) -> None:  # noqa: F811
    """A block that has arrived waits for a flag that another sets behind the barrier."""
    out = np.zeros(64, np.int32)
    lab.run(_compiled(SPLIT, "busy"), 2, 64, (out,), device=device, timeout=20)
    assert (out == 5).all()


@pytest.mark.usefixtures("mode")
def test_who_waits_in_vain() -> None:
    with pytest.raises(
        KernelTimeout, match=r"blocks \(0, 0, 0\), \(1, 0, 0\) wait at the barrier of the whole"
    ):
        lab.run(_compiled(SPLIT, "stuck"), 2, 64, (np.zeros(64, np.int32),), device="cpu", timeout=20)


@pytest.mark.parametrize(
    ("kernel_name", "grid", "cluster", "message"),
    [
        ("sums", 5, 2, r"InvalidClusterSize: the grid \(5, 1, 1\) is no multiple of the cluster \(2, 1, 1\)"),
        ("sums", 16, 16, r"InvalidClusterSize: a cluster of \(16, 1, 1\) has 16 blocks; it may have 1 to 8"),
        (
            "pairs",
            4,
            4,
            r"InvalidClusterSize: clusters of \(4, 1, 1\) blocks, but the kernel requires \(2, 1, 1\)",
        ),
    ],
)
def test_refused_clusters(kernel_name: str, grid: int, cluster: int, message: str) -> None:
    text, values = (SOURCE, 1) if kernel_name == "pairs" else (EXCHANGES, 2)
    given = tuple(np.zeros(2048, np.int32) for _ in range(values))
    with pytest.raises(LaunchError, match=message):
        lab.run(_compiled(text, kernel_name), grid, 32, given, device="cpu", cluster=cluster)


def test_gpus_without_clusters() -> None:
    given = np.zeros(64, np.int32), np.zeros(64, np.int32)
    with pytest.raises(LaunchError, match="NotSupported: clusters of 2 blocks: NVIDIA A100.* has none"):
        lab.run(_compiled(EXCHANGES, "sums"), 2, 32, given, device="cpu", cluster=2, model="a100")


@pytest.mark.usefixtures("mode")
def test_a_rank_that_the_cluster_has_not() -> None:
    body = "mov.u32 %r1, room; mapa.shared::cluster.u32 %r1, %r1, 2; st.shared::cluster.u32 [%r1], %r1; ret;"
    launch = lab.compile(kernel(body, shared=".align 4 .b8 room[64]"), language="ptx"), 2, 1, ()
    with pytest.raises(KernelFault, match="write to shared memory of rank 2, but the cluster has 2 blocks"):
        lab.run(*launch, device="cpu", cluster=2)


OBJECTS = """
    .reg .b32 %a, %o; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; ld.param.u64 %rd1, [out];
    mov.u32 %o, object; mov.u32 %a, room; setp.ne.u32 %p1, %r1, 0; @%p1 bra made;
    mbarrier.init.shared.b64 [%o], 64; fence.mbarrier_init.release.cluster;
    made: barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r3, %r2, 1; mapa.shared::cluster.u32 %r4, %a, %r3; mad.lo.u32 %r4, %r1, 4, %r4;
    mad.lo.u32 %r5, %r2, 1000, %r1; st.shared::cluster.u32 [%r4], %r5; mapa.shared::cluster.u32 %r6, %o, %r3;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
    again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%o], 0; @!%p2 bra again;
    mad.lo.u32 %r7, %r1, 4, %a; ld.shared.u32 %r8, [%r7]; mov.u32 %r9, %ctaid.x;
    mad.lo.u32 %r9, %r9, 64, %r1; mad.wide.u32 %rd1, %r9, 4, %rd1; st.global.u32 [%rd1], %r8;
    barrier.cluster.arrive; barrier.cluster.wait; ret;
"""


def test_barrier_objects_of_other_blocks(device: str) -> None:  # noqa: F811
    text = kernel(OBJECTS, "u64 out", shared=".align 8 .b8 object[8], .align 4 .b8 room[256]")
    out = np.zeros((4, 64), np.uint32)
    lab.run(lab.compile(text, language="ptx"), 4, 64, (out,), device=device, cluster=2, timeout=20)
    assert (out == 1000 * (1 - np.arange(4)[:, None] % 2) + np.arange(64)).all()
