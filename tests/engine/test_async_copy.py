"""Asynchronous copies: every size, cut or ignored sources, faults, and kernels of CUDA's headers.

On the engine a copy is done when it is issued, but nothing here looks before it has waited.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.codegen import Emission, Probe, WorkerWords
from warpglass.codegen.memory.sites import Site
from warpglass.codegen.values.value import Value
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.errors import KernelFault
from warpglass.program import Program
from warpglass.source.compiled import Compiled

from .devices import device  # noqa: F401

pytestmark = pytest.mark.turns(2)

BLOCK, GRID = 40, 3
THREADS = BLOCK * GRID
_FILL = 0xEE


# ---------------------------------------------------------------------------------------- instructions
@dataclass(frozen=True)
class Copy:
    """One form: its text up to the operands, what follows the size, and how many bytes a thread takes."""

    head: str
    size: int
    rest: str = ""
    taken: str = "size"  # or "given" (a number for each thread), "cut" (a constant), "flag"
    cut: int = 0

    def takes(self, given: int, flag: bool) -> int:
        """Bytes taken of a thread's source."""
        chosen = {"size": self.size, "given": given % (self.size + 1), "cut": self.cut}
        return (0 if flag else self.size) if self.taken == "flag" else chosen[self.taken]


def _forms() -> list[Copy]:
    forms = [
        Copy("cp.async.cg.shared.global", 16),
        Copy("cp.async.cg.shared::cta.global.L2::128B", 16),
        Copy("cp.async.cg.shared.global.L2::cache_hint", 16, ", %rd60"),
        Copy("cp.async.cg.shared.global.L2::cache_hint.L2::256B", 16, ", %r{given}, %rd60", "given"),
        Copy("cp.async.ca.shared.global.L2::cache_hint", 8, ", %p1, %rd60", "flag"),
    ]
    for size in (4, 8, 16):
        head = "cp.async.ca.shared.global"
        forms += [
            Copy(head, size),
            Copy(head, size, f", {size}"),
            Copy(head, size, ", 0", "cut", 0),
            Copy(head, size, f", {size - 1}", "cut", size - 1),
            Copy(head, size, ", %r{given}", "given"),
            Copy(head, size, ", %p1", "flag"),
            Copy(head, size, ", !%p2", "flag"),
        ]
    return forms


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("wait", ["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"])
def test_copies(wait: str, engine: str) -> None:
    forms = _forms()
    lines = [
        "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [given]; mov.u32 %r1, %tid.x;",
        "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;",
        "mad.wide.u32 %rd3, %r4, 4, %rd3; ld.global.u32 %r5, [%rd3];",
        "and.b32 %r6, %r5, 64; setp.ne.u32 %p1, %r6, 0; not.pred %p2, %p1;",
        f"mul.lo.u32 %r7, %r4, 7; rem.u32 %r7, %r7, {THREADS};",
        "mov.u32 %r8, room; mad.lo.u32 %r8, %r1, 16, %r8;",
        "createpolicy.fractional.L2::evict_first.b64 %rd60;",
    ]
    for k, form in enumerate(forms):
        fill = " ".join(f"st.shared.u32 [%r8+{at}], {_FILL * 0x1010101};" for at in (0, 4, 8, 12))
        rest = form.rest.format(given=30)
        lines += [
            f"{fill} rem.u32 %r30, %r5, {form.size + 1}; mad.wide.u32 %rd4, %r7, {form.size}, %rd1;",
            f"{form.head} [%r8], [%rd4], {form.size}{rest}; {wait}",
            "mad.wide.u32 %rd5, %r4, 16, %rd2; ld.shared.v4.u32 {%r40, %r41, %r42, %r43}, [%r8];",
            f"st.global.v4.u32 [%rd5+{k * THREADS * 16}], {{%r40, %r41, %r42, %r43}};",
        ]
    text = kernel(
        "\n".join([*lines, "ret;"]), "u64 x, u64 out, u64 given", shared=f".align 16 .b8 room[{BLOCK * 16}]"
    )
    rng = np.random.default_rng(1)
    x, given = rng.integers(0, 256, THREADS * 16).astype(np.uint8), rng.integers(0, 1 << 20, THREADS)
    out = np.zeros((len(forms), THREADS, 16), np.uint8)
    run_ptx(text, GRID, BLOCK, [x, out, given.astype(np.uint32)], engine=engine)
    for form, have in zip(forms, out, strict=True):
        for thread in range(THREADS):
            source = thread * 7 % THREADS * form.size
            count = form.takes(int(given[thread]), bool(given[thread] & 64))
            want = [
                *x[source : source + count].tolist(),
                *[0] * (form.size - count),
                *[_FILL] * (16 - form.size),
            ]
            assert have[thread].tolist() == want, f"{form}, thread {thread}, {count} bytes"


def _one_copy(rest: str, size: int = 16, word: str = "ca") -> str:
    """A kernel in which thread t copies element t from `at` bytes into x to `to` bytes into its room."""
    body = (
        "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [at]; ld.param.u32 %r2, [to]; mov.u32 %r3, %tid.x;"
        f"mul.wide.u32 %rd2, %r3, {size}; add.u64 %rd1, %rd1, %rd2;"
        "cvt.s64.s32 %rd2, %r1; add.u64 %rd1, %rd1, %rd2; setp.ge.u32 %p1, %r3, 2;"
        f"mad.lo.u32 %r2, %r3, {size}, %r2; mov.u32 %r4, room; add.u32 %r4, %r4, %r2;"
        f"cp.async.{word}.shared.global [%r4], [%rd1], {size}{rest}; cp.async.wait_all; ret;"
    )
    return kernel(body, "u64 x, s32 at, u32 to", shared=f".align 16 .b8 room[{4 * size}]")


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("rest", ["", ", 16", ", %p1", ", 13"])
@pytest.mark.parametrize(
    ("at", "to", "thread", "message"),
    [
        (32, 0, 2, "x[64.."),
        (-16, 0, 0, "x[-16.."),
        (0, 48, 1, "shared memory"),
        (8, 0, 0, "no multiple of 16"),
        (0, 8, 0, "no multiple of 16"),
    ],
)
def test_faults(at: int, to: int, thread: int, message: str, rest: str, engine: str) -> None:
    """Four threads copy 16 bytes each, of 64 from `at` on, to 64 bytes of shared memory from `to` on."""
    x = np.zeros(64, np.uint8)
    arguments = [x, np.int32(at), np.uint32(to)]
    if rest == ", %p1" and at == 32:  # the threads past the end ignore their sources
        run_ptx(_one_copy(rest), 1, 4, arguments, engine=engine)
        return
    with pytest.raises(KernelFault) as caught:
        run_ptx(_one_copy(rest), 1, 4, arguments, engine=engine)
    assert caught.value.place.thread == (thread, 0, 0)
    assert message in str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("count", [0, 3, 6, 12])
def test_what_is_behind_the_bytes_taken_is_not_touched(count: int, engine: str) -> None:
    """The last thread's source ends with the array, or lies nowhere if it takes nothing."""
    if engine == "gpu" and count == 0:
        pytest.skip("whether hardware looks at an address that it takes nothing from is left open")
    x = np.zeros(48 + count, np.uint8) if count else np.zeros(1, np.uint8)
    run_ptx(_one_copy(f", {count}"), 1, 4, [x, np.int32(0 if count else 4096), np.uint32(0)], engine=engine)


class _Sites(Probe):
    """Keeps what the accesses of a kernel are."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bool, int]] = []

    def prepare(self, program: Program, words: WorkerWords) -> None:
        pass

    def access(self, at: Emission, site: Site, address: Value) -> None:
        self.seen.append((site.space, site.write, site.size))


@dataclass(frozen=True)
class _Watch:
    probe: _Sites = field(default_factory=_Sites)

    def probes(self, program: Program) -> tuple[Probe, ...]:
        return (self.probe,)


@pytest.mark.parametrize("size", [4, 8, 16])
def test_observers_see_a_load_and_a_store(size: int) -> None:
    watch = _Watch()
    text = _one_copy(f", {size}", size)
    launch = Launch(
        Compiled(text, "k", "k", "ptx"),
        (1, 1, 1),
        (4, 1, 1),
        (np.zeros(4 * size), np.int32(0), np.uint32(0)),
        0,
        20,
    )
    CpuBackend().observe(launch, watch)
    assert watch.probe.seen == [("global", False, size), ("shared", True, size)]


# ---------------------------------------------------------------------------------------- CUDA C++
SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
constexpr int TILE = 16;
// Two buffers of tiles: the next is under way while this one is used. Borders are filled with zeros.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float s[2][2][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    auto fetch = [&](int tile, int buffer) {
        int inner = tile * TILE;
        bool in_a = row < n && inner + x < n, in_b = column < n && inner + y < n;
        const float *from_a = in_a ? &a[row * n + inner + x] : a;
        const float *from_b = in_b ? &b[(inner + y) * n + column] : b;
        __pipeline_memcpy_async(&s[buffer][0][y][x], from_a, 4, in_a ? 0 : 4);
        __pipeline_memcpy_async(&s[buffer][1][y][x], from_b, 4, in_b ? 0 : 4);
        __pipeline_commit();
    };
    int tiles = (n + TILE - 1) / TILE;
    float sum = 0;
    fetch(0, 0);
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles) fetch(tile + 1, (tile + 1) & 1);
        __pipeline_wait_prior(tile + 1 < tiles);
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += s[tile & 1][0][y][k] * s[tile & 1][1][k][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
// Vectors of 16 bytes, the last of them cut.
extern "C" __global__ void vectors(const float *x, float *out, int n) {
    __shared__ float4 s[64];
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x), left = min(max(n - first, 0), 4);
    __pipeline_memcpy_async(&s[threadIdx.x], left ? x + first : x, 16, 16 - 4 * left);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const float *all = (const float *)s;
    for (int k = 0; k < 4; k++) out[first + k] = all[4 * (blockDim.x - 1 - threadIdx.x) + 3 - k];
}
extern "C" __global__ void group(const int *x, int *out, int n) {
    extern __shared__ int s[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, x, n / 2 * 4);
    cg::memcpy_async(block, s + n / 2, x + n / 2, (n - n / 2) * 4);
    cg::wait_prior<1>(block);
    int sum = 0;
    for (int i = threadIdx.x; i < n / 2; i += blockDim.x) sum += s[n / 2 - 1 - i];
    cg::wait(block);
    for (int i = n / 2 + threadIdx.x; i < n; i += blockDim.x) sum += s[i];
    atomicAdd(out, sum);
}
// Each thread has a pipeline of its own over four buffers.
extern "C" __global__ void own_pipeline(const int *x, int *out, int n) {
    __shared__ int s[4][128];
    auto pipe = cuda::make_pipeline();
    int sum = 0, issued = 0;
    for (int used = 0; used < n; used++) {
        for (; issued < n && issued < used + 4; issued++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[issued % 4][threadIdx.x], x + issued * 128 + threadIdx.x, 4, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum = 3 * sum + s[used % 4][threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("n", [16, 50, 64])
def test_double_buffered_matmul(n: int, device: str) -> None:  # noqa: F811
    rng = np.random.default_rng(n)
    a, b = rng.integers(-8, 8, (2, n, n)).astype(np.float32)
    c = np.zeros((n, n), np.float32)
    tiles = -(-n // 16)
    lab.run(lab.compile(SOURCE, "matmul"), (tiles, tiles), (16, 16), (a, b, c, n), device=device, timeout=30)
    assert (c == a @ b).all()


def test_vectors_with_a_cut_end(device: str) -> None:  # noqa: F811
    x = np.arange(1, 600, dtype=np.float32)
    out = np.full((3, 256), -1, np.float32)
    lab.run(lab.compile(SOURCE, "vectors"), 3, 64, (x, out, x.size), device=device, timeout=30)
    padded = np.concatenate([x, np.zeros(out.size - x.size, np.float32)]).reshape(3, 256)
    assert (out == padded[:, ::-1]).all()


@pytest.mark.parametrize("n", [64, 257, 1000])
def test_copies_of_a_group(n: int, device: str) -> None:  # noqa: F811
    x, out = np.arange(n, dtype=np.int32), np.zeros(1, np.int32)
    lab.run(lab.compile(SOURCE, "group"), 1, 96, (x, out, n), shared=4 * n, device=device, timeout=30)
    assert out[0] == x.sum()


def test_a_pipeline_for_each_thread(device: str) -> None:  # noqa: F811
    x, out = np.random.default_rng(2).integers(0, 99, (9, 128)).astype(np.int32), np.zeros(128, np.int32)
    lab.run(lab.compile(SOURCE, "own_pipeline"), 1, 128, (x, out, len(x)), device=device, timeout=30)
    want = np.zeros(128, np.int32)
    for row in x:
        want = 3 * want + row
    assert (out == want).all()
