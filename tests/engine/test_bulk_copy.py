"""Bulk copies: every form against NumPy, and kernels of CUDA's headers that copy so."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.errors import KernelFault
from warpglass.lab.check import check

from .devices import device  # noqa: F401

_PARAMETERS = "u64 out, u64 x, u32 n"
_ROOM = ".align 16 .b8 s[1024], .align 16 .b8 t[1024], .align 8 .b64 barrier"
_START = "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [x]; ld.param.u32 %r1, [n];"
_IN = "cp.async.bulk.{}.global.mbarrier::complete_tx::bytes{} [s+16], [%rd2], %r1, [barrier]{};"
_OUT = "cp.async.bulk.global.shared::cta.bulk_group{} [%rd1], [{}], %r1{};"
_WAIT = "w{0}: mbarrier.try_wait.parity.shared.b64 %p1, [barrier], {0}; @!%p1 bra w{0};"
_EXPECT = "mbarrier.arrive.expect_tx.shared.b64 %rd3, [barrier], %r1;"
_DONE = "cp.async.bulk.commit_group; cp.async.bulk.wait_group{} 0;"


def _body(into: str, hint: str, first: bool) -> str:
    """Global memory to shared memory and back."""
    policy = ", %rd4" if hint else ""
    fetch = _IN.format(into, hint, policy)
    return "\n".join(
        [
            _START,
            "createpolicy.fractional.L2::evict_first.b64 %rd4, 1.0; mbarrier.init.shared.b64 [barrier], 1;",
            "fence.proxy.async.shared::cta;",
            f"cp.async.bulk.prefetch.L2.global{hint} [%rd2], %r1{policy};",
            *((_EXPECT, fetch) if first else (fetch, _EXPECT)),
            _WAIT.format(0),
            "mov.u32 %r2, s; setp.eq.u32 %p2, %r1, 0;",
            "@%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd1+512], [%r2], 16;",
            f"@!%p2 {_OUT.format(hint, '%r2+16', policy)}",
            _DONE.format(".read" if first else ""),
            "ret;",
        ]
    )


def _there_and_back(body: str, size: int, engine: str) -> None:
    x = np.random.default_rng(size).integers(0, 255, size, np.uint8)
    out = np.zeros(1024, np.uint8)
    run_ptx(kernel(body, _PARAMETERS, shared=_ROOM), 1, 1, [out, x, np.uint32(size)], engine=engine)
    assert (out[:size] == x).all()
    assert not out[size:].any()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("size", [16, 48, 1008])
@pytest.mark.parametrize(("hint", "first"), [("", True), (".L2::cache_hint", False)])
def test_there_and_back(hint: str, first: bool, size: int, engine: str) -> None:
    _there_and_back(_body("shared::cluster", hint, first), size, engine)


def test_the_target_may_be_written_shared_cta() -> None:
    _there_and_back(_body("shared::cta", "", first=True), 64, "kinds")


@pytest.mark.parametrize("engine", CPU_ENGINES)  # hardware takes it in launches of clusters only
def test_from_shared_to_shared_memory(engine: str) -> None:
    body = [
        _START,
        "mbarrier.init.shared.b64 [barrier], 1; mov.u32 %r2, t; mov.u32 %r3, s; mov.u32 %r4, barrier;",
        _EXPECT,
        _IN.format("shared::cluster", "", ""),
        _WAIT.format(0),
        _EXPECT,
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2], [%r3+16], %r1, [%r4];",
        _WAIT.format(1),
        _OUT.format("", "%r2", ""),
        _DONE.format(""),
        "ret;",
    ]
    _there_and_back("\n".join(body), 64, engine)


_OPERATIONS = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: a + b,
    "min": np.minimum,
    "max": np.maximum,
    "inc": lambda a, b: np.where(a >= b, 0, a + 1).astype(a.dtype),
    "dec": lambda a, b: np.where((a == 0) | (a > b), b, a - 1).astype(a.dtype),
}
_TYPES = {"b": "u", "u": "u", "s": "i", "f": "f"}


def _sums(words: str, *types: str) -> list[tuple[str, str]]:
    return [(op, type_) for op in words.split() for type_ in types]


@pytest.mark.sampled(quick=8, ci=10)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("op", "type_"),
    [
        *_sums("and or xor", "b32", "b64"),
        *_sums("add", "u32", "s32", "u64", "f32", "f64", "noftz.f16"),
        *_sums("inc dec", "u32"),
        *_sums("min max", "u32", "s32", "u64", "s64"),
    ],
)
def test_reductions_into_global_memory(op: str, type_: str, engine: str) -> None:
    word = type_.removeprefix("noftz.")
    element = np.dtype(f"{_TYPES[word[0]]}{int(word[1:]) // 8}")
    rng = np.random.default_rng(len(op))
    x, out = (rng.integers(0, 90, 64).astype(element) for _ in range(2))
    if element.kind == "i":
        x, out = x - 45, out - 45
    want = _OPERATIONS[op](out, x)
    body = [
        _START,
        "mbarrier.init.shared.b64 [barrier], 1;",
        _EXPECT,
        _IN.format("shared::cluster", "", ""),
        _WAIT.format(0),
        f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{type_} [%rd1], [s+16], %r1;",
        _DONE.format(""),
        "ret;",
    ]
    text = kernel("\n".join(body), _PARAMETERS, shared=_ROOM)
    run_ptx(text, 1, 1, [out, x, np.uint32(x.nbytes)], engine=engine)
    assert (out == want).all()


@pytest.mark.parametrize("engine", CPU_ENGINES)  # as above
def test_a_reduction_into_shared_memory(engine: str) -> None:
    x, out = np.arange(16, dtype=np.uint32), np.zeros(16, np.uint32)
    body = [
        _START,
        "mbarrier.init.shared.b64 [barrier], 1;",
        _EXPECT,
        _IN.format("shared::cluster", "", ""),
        _WAIT.format(0),
        _EXPECT,
        "mov.u32 %r2, s;",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"
        " [%r2+16], [s+16], %r1, [barrier];",
        _WAIT.format(1),
        _OUT.format("", "%r2+16", ""),
        _DONE.format(""),
        "ret;",
    ]
    text = kernel("\n".join(body), _PARAMETERS, shared=_ROOM)
    run_ptx(text, 1, 1, [out, x, np.uint32(x.nbytes)], engine=engine)
    assert (out == 2 * x).all()


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(
    ("n", "skew", "message"), [(64, 0, "16-byte read of x"), (32, 4, "no multiple of 16")]
)
def test_faults(n: int, skew: int, message: str, engine: str) -> None:
    body = [_START, f"add.u64 %rd2, %rd2, {skew};", _IN.format("shared::cluster", "", ""), "ret;"]
    text = kernel("\n".join(body), _PARAMETERS, shared=_ROOM)
    with pytest.raises(KernelFault, match=message):
        run_ptx(text, 1, 1, [np.zeros(1), np.zeros(48, np.uint8), np.uint32(n)], engine=engine)


# ---------------------------------------------------------------------------------------- CUDA C++
SOURCE = r"""
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

// A tile is copied in, changed by all threads and copied out.
extern "C" __global__ void add_one(int *data) {
    __shared__ alignas(16) int tile[256];
    __shared__ barrier b;
    int *mine = data + blockIdx.x * 256;
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, mine, cuda::aligned_size_t<16>(sizeof(tile)), b);
        token = cuda::device::barrier_arrive_tx(b, 1, sizeof(tile));
    } else {
        token = b.arrive();
    }
    b.wait(cuda::std::move(token));
    for (int i = threadIdx.x; i < 256; i += blockDim.x) tile[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, mine, tile, sizeof(tile));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
// The same without a wait for the tile.
extern "C" __global__ void too_early(int *data) {
    __shared__ alignas(16) int tile[256];
    __shared__ barrier b;
    if (threadIdx.x == 0) init(&b, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, data, cuda::aligned_size_t<16>(sizeof(tile)), b);
        (void)cuda::device::barrier_arrive_tx(b, 1, sizeof(tile));
    }
    data[256 + threadIdx.x] = tile[threadIdx.x];
}
// Rows by turns, each copied by whoever the group chooses while the other is summed.
extern "C" __global__ void row_sums(const int *rows, int *out, int n) {
    __shared__ alignas(16) int tile[2][128];
    __shared__ barrier full[2];
    auto block = cg::this_thread_block();
    if (threadIdx.x < 2) init(&full[threadIdx.x], blockDim.x);
    block.sync();
    barrier::arrival_token tokens[2];
    auto fetch = [&](int k) {
        cuda::memcpy_async(block, tile[k & 1], rows + k * 128, cuda::aligned_size_t<16>(512), full[k & 1]);
        tokens[k & 1] = full[k & 1].arrive();
    };
    fetch(0);
    int sum = 0;
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) fetch(k + 1);
        full[k & 1].wait(cuda::std::move(tokens[k & 1]));
        sum = 3 * sum + tile[k & 1][127 - threadIdx.x];
        block.sync();
    }
    out[threadIdx.x] = sum;
}
"""


def test_a_tile_copied_in_and_out(device: str) -> None:  # noqa: F811
    data = np.arange(1024, dtype=np.int32)
    lab.run(lab.compile(SOURCE, "add_one", target="sm_90"), 4, 64, (data,), device=device, timeout=30)
    assert (data == np.arange(1, 1025)).all()


def test_double_buffering(device: str) -> None:  # noqa: F811
    rows = np.random.default_rng(5).integers(0, 99, (5, 128)).astype(np.int32)
    out = np.zeros(128, np.int32)
    summing = lab.compile(SOURCE, "row_sums", target="sm_90")
    lab.run(summing, 1, 128, (rows, out, 5), device=device, timeout=30)
    want = np.zeros(128, np.int32)
    for row in rows:
        want = 3 * want + row[::-1]
    assert (out == want).all()


def test_what_the_checker_says() -> None:
    copying = lab.compile(SOURCE, "add_one", target="sm_90")
    assert not check(copying, 2, 64, (np.zeros(512, np.int32),)).findings
    early = lab.compile(SOURCE, "too_early", target="sm_90")
    found = check(early, 1, 64, (np.zeros(512, np.int32),)).findings
    assert "shared-race" in {one.kind for one in found}
