"""Arrays that a kernel only adds to: each thread of a launch may have its own, and nobody can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass.codegen.context import GLOBAL_BASE
from warpglass.engine.cpu import launch_plan, replay, tiers
from warpglass.engine.cpu.address_space import GUARD
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.source.compiled import Compiled

cuda: Any = pytest.importorskip("numba_cuda_mlir.cuda")  # installed wherever CUDA C++ compiles, too

BLOCKS, THREADS = 37, 96
N = BLOCKS * THREADS - 5  # the last block is partial
CUDA = """
extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i]], 1u);
}
extern "C" __global__ void extremes(const int* x, int* least, unsigned* most, long long* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicMin(&least[i % 3], x[i]);
    atomicMax(&most[i & 1], (unsigned)x[i]);
    atomicAdd((unsigned long long*)sum, (long long)x[i]);
  }
}
extern "C" __global__ void mixed(const int* x, int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&a[x[i] & 7], x[i]); atomicXor(&b[x[i] & 7], x[i]); }
}
extern "C" __global__ void looks(const int* x, int* a, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&a[i & 3], 1); if (a[i & 3] == 0) out[0] = 1; }
}
extern "C" __global__ void tickets(int* a, int* seen, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) seen[atomicAdd(a, 1)] = 1;
}
extern "C" __global__ void floats(const int* x, int* a, float* f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(a, 1); atomicAdd(f, 0.1f * (x[i] & 255)); }
}
__device__ int counter;
extern "C" __global__ void variable(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&counter, 1); atomicAdd(&a[i % 5], 1); }
}
extern "C" __global__ void behind(int* const* to, int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&a[i % 5], 1); atomicAdd(*to, 1); }
}
extern "C" __global__ void noted(const int* x, int* a, int* error, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (x[i] == 7) atomicCAS(error, 0, 3);
    atomicAdd(&a[x[i] & 3], 1);
  }
}
extern "C" __global__ void often(unsigned* a, int n, int each) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) for (int k = 0; k < each; k++) atomicAdd(&a[(i * 2654435761u + k * 40503) >> 8 & 32767], 1u);
}
struct __attribute__((packed)) Packed { char kind; int* to; };
extern "C" __global__ void bytes(const unsigned char* x, const Packed* packed, int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&a[x[i] & 3], 1); packed->to[4] = 1; }
}
extern "C" __global__ void other(int* const* to, int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { atomicAdd(&a[1], 1); atomicMax(*to, i); }
}
"""


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "_SHORT", 0)  # else one thread would do
    monkeypatch.setenv("WARPGLASS_THREADS", "3")
    monkeypatch.setenv(tiers.VARIABLE, tiers.QUICK)


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], bool]]:
    """The operations on arrays that workers had of their own, and whether atomic operations were plain."""
    found: list[tuple[list[str], bool]] = []
    choose = launch_plan.choose_private

    def noting(*args: Any) -> Any:
        tallies, alone = choose(*args)
        found.append(([f"{one.operation} {one.dtype}" for one in tallies], alone))
        return tallies, alone

    monkeypatch.setattr(launch_plan, "choose_private", noting)
    return found


@pytest.fixture(params=["kinds", "reference"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_ENGINE", request.param)


def run(name: str, *args: object) -> None:
    wg.run(wg.compile(CUDA, name), BLOCKS, THREADS, args, device="cpu")


def numbers(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-(1 << 31), 1 << 31, N).astype(np.int32)


@pytest.mark.usefixtures("engine")
def test_a_histogram(chosen: list[Any]) -> None:
    x = np.random.default_rng(1).integers(0, 256, N).astype(np.uint8)
    bins = np.full(256, 0xFFFFFFF0, np.uint32)  # most wrap around
    kernel = wg.compile(CUDA, "histogram")
    for times in (1, 2, 3):  # the later ones by a plan
        wg.run(kernel, BLOCKS, THREADS, (x, bins, N), device="cpu")
        want = np.uint32(0xFFFFFFF0) + times * np.bincount(x, minlength=256).astype(np.uint32)
        np.testing.assert_array_equal(bins, want)
    assert chosen == [(["add uint32"], True)]


@pytest.mark.usefixtures("engine")
def test_every_operation_and_type(chosen: list[Any]) -> None:
    x = numbers()
    least, greatest, total = np.zeros(3, np.int32), np.ones(2, np.uint32), np.array([7], np.uint64)
    run("extremes", x, least, greatest, total, N)
    assert least.tolist() == [min(0, x[k::3].min()) for k in range(3)]
    assert greatest.tolist() == [max(1, x[k::2].view(np.uint32).max()) for k in range(2)]
    assert total.view(np.int64)[0] == 7 + x.astype(np.int64).sum()
    a, b = np.arange(8, dtype=np.int32), np.arange(8, dtype=np.int32)
    run("mixed", x, a, b, N)
    for k in range(8):
        mine = x[(x & 7) == k]
        assert a[k] == np.int64(k + mine.astype(np.int64).sum()).astype(np.int32)
        assert b[k] == np.bitwise_xor.reduce(mine, initial=k)
    every = [("min int32", "max uint32", "add uint64"), ("add uint32", "xor uint32")]
    assert [(tuple(operations), alone) for operations, alone in chosen] == [(one, True) for one in every]


def test_how_often_threads_share_is_found_by_launches(chosen: list[Any]) -> None:
    """An array that is large for a kernel of so few threads is kept apart once it has been changed often."""
    a, kernel = np.zeros(1 << 15, np.uint32), wg.compile(CUDA, "often")
    for times in range(1, 5):
        wg.run(kernel, BLOCKS, THREADS, (a, N, 64), device="cpu")
        assert a.sum() == times * 64 * N
    assert chosen == [([], False), (["add uint32"], True)]
    i = np.arange(N, dtype=np.uint32) * np.uint32(2654435761)
    places = [(i + np.uint32(k * 40503)) >> np.uint32(8) & np.uint32(32767) for k in range(64)]
    assert a.tolist() == (4 * np.bincount(np.concatenate(places), minlength=1 << 15)).tolist()


def test_bits(chosen: list[Any]) -> None:
    """`and` and `or` of 64 bits, from PTX that asks for results and drops them."""
    ptx = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<6>; .reg .b64 %rd<8>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 96, %r1; and.b32 %r4, %r3, 63;
    mov.u64 %rd1, 1; shl.b64 %rd1, %rd1, %r4; not.b64 %rd2, %rd1;
    ld.param.u64 %rd3, [x]; ld.param.u64 %rd4, [y];
    atom.global.and.b64 %rd5, [%rd3], %rd2;
    atom.or.b64 %rd6, [%rd4+8], %rd1;
    ret;
}"""
    x, y = np.full(1, (1 << 64) - 1, np.uint64), np.zeros(2, np.uint64)
    CpuBackend().run(Launch(Compiled(ptx, "k", "k", "ptx"), (4, 1, 1), (96, 1, 1), (x, y)))
    assert x[0] == 0
    assert y.tolist() == [0, (1 << 64) - 1]
    assert chosen == [(["and uint64", "or uint64"], True)]


@pytest.mark.parametrize("engine_mode", ["kinds", "reference"])
def test_arrays_that_are_one(engine_mode: str, chosen: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two operations on one array do not commute with each other; one operation by two names does."""
    monkeypatch.setenv("WARPGLASS_ENGINE", engine_mode)
    x = numbers() & 0xFFFF | 1 << 16
    both = np.zeros(16, np.int32)
    run("mixed", x, both[:8], both[8:], N)
    assert chosen[-1] == ([], False)
    for k in range(8):
        mine = x[(x & 7) == k]
        assert both[k] == mine.astype(np.int64).sum().astype(np.int32)
        assert both[8 + k] == np.bitwise_xor.reduce(mine, initial=0)
    bytes_ = np.zeros(1024, np.uint8)
    run("histogram", bytes_, bytes_.view(np.uint32), 1000)  # reads what it counts in
    assert chosen[-1] == ([], False)


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("looks", []),
        ("tickets", []),
        ("variable", ["add uint32"]),
        ("behind", ["add uint32"]),
        ("other", []),
    ],
)
def test_whoever_looks_sees_the_array(name: str, operations: list[str], chosen: list[Any]) -> None:
    """What is read, used, or perhaps reached otherwise stays one; what is a module's stays atomic."""
    a, seen, x = np.zeros(5, np.int32), np.zeros(N, np.int32), numbers()
    to = np.array([GLOBAL_BASE + 512 + GUARD], np.uint64)  # where the second array lies
    arguments = {"looks": (x, a, seen), "tickets": (a, seen), "variable": (a,)}.get(name, (to, a))
    run(name, *arguments, N)
    assert chosen == [(operations, False)]
    match name:
        case "looks":
            assert (a[:4].sum(), seen[0]) == (N, 0)
        case "tickets":
            assert (a[0], seen.all()) == (N, True)
        case "variable":
            assert a.sum() == N
        case "behind":
            assert (a[0], a.sum()) == (N + -(-N // 5), 2 * N)
        case _:
            assert a.tolist() == [N - 1, N, 0, 0, 0]


@pytest.mark.usefixtures("engine")
def test_comparing_exchanges_stay_atomic(chosen: list[Any]) -> None:
    """One elsewhere, as Python's kernels note an error by, is no reason for the others to be so."""
    x, a, error = numbers() & 7, np.zeros(4, np.int32), np.zeros(1, np.int32)
    run("noted", x, a, error, N)
    assert a.tolist() == np.bincount(x & 3, minlength=4).tolist()
    assert error[0] == 3
    assert chosen in ([], [(["add uint32"], True)])  # who waits for a turn does not compete for a core


def test_a_pointer_in_bytes(chosen: list[Any]) -> None:
    """Bytes are indices, but a pointer may be put together of them."""
    x, a = np.arange(N, dtype=np.uint8), np.zeros(5, np.int32)
    place = GLOBAL_BASE + 2 * (512 + GUARD) + -(-N // 512) * 512 - 512  # where `a` lies
    packed = np.frombuffer(b"\0" + place.to_bytes(8, "little"), np.uint8).copy()
    run("bytes", x, packed, a, N)
    assert (a[4], chosen) == (1, [([], False)])


@pytest.mark.usefixtures("engine")
def test_a_histogram_in_python(chosen: list[Any]) -> None:
    """Its bytes come in registers as wide as a pointer."""

    def histogram(x: Any, bins: Any, n: int) -> None:
        i = cuda.grid(1)
        if i < n:
            cuda.atomic.add(bins, np.int32(x[i]), 1)

    x, bins = np.random.default_rng(2).integers(0, 256, N).astype(np.uint8), np.ones(256, np.uint32)
    wg.run(wg.from_numba(histogram), BLOCKS, THREADS, (x, bins, N), device="cpu")
    assert bins.tolist() == (1 + np.bincount(x, minlength=256)).tolist()
    assert chosen == [(["add uint32"], True)]


def test_sums_in_order_stay_in_order(chosen: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    x, one, three = numbers(), np.zeros(1, np.float32), np.zeros(1, np.float32)
    count = np.zeros(1, np.int32)
    run("floats", x, count, three, N)
    monkeypatch.setenv("WARPGLASS_THREADS", "1")
    run("floats", x, count, one, N)
    assert (count[0], three[0]) == (2 * N, one[0])
    assert chosen in ([], [(["add uint32"], True)])


def test_a_fault_is_the_threads_own(chosen: list[Any]) -> None:
    x, bins = np.zeros(N, np.uint8), np.zeros(200, np.uint32)
    x[[1234, 3000]] = 200
    with pytest.raises(wg.KernelFault, match=r"bins\[200\].*block \(12, 0, 0\) thread \(82, 0, 0\)"):
        run("histogram", x, bins, N)
    wg.reset("cpu")
    assert chosen == [(["add uint32"], True)]
    bins.flags.writeable = False
    x[:] = 0
    with pytest.raises(wg.KernelFault, match=r"bins.*read-only"):
        run("histogram", x, bins, N)
    wg.reset("cpu")
    assert not chosen[1][0]


def test_arrays_of_a_size_that_nothing_contends_for(chosen: list[Any]) -> None:
    x = np.zeros(N, np.uint8)
    large = np.zeros(1 << 20, np.uint32)
    run("histogram", x, large, N)
    assert (large[0], chosen) == (N, [([], False)])
