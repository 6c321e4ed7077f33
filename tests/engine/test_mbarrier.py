"""Barriers in shared memory: every form against a model, and kernels of CUDA's headers that wait at them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, ENGINES, run_ptx
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.errors import KernelFault, KernelTimeout

from .devices import device  # noqa: F401

pytestmark = pytest.mark.turns(2)


# ---------------------------------------------------------------------------------------- instructions
@dataclass
class Model:
    """What the manual says a barrier holds."""

    expected: int
    pending: int = 0
    bytes: int = 0
    phase: int = 0

    def __post_init__(self) -> None:
        self.pending = self.expected

    def arrive(self, count: int, dropped: bool = False) -> None:
        """Threads arrive; those that drop out are not expected again."""
        self.pending -= count
        self.expected -= count * dropped
        self.settle()

    def settle(self) -> None:
        """Begin the next phase once nothing is pending."""
        if self.pending == self.bytes == 0:
            self.pending, self.phase = self.expected, self.phase + 1


_PLACES = ((".shared", "%r1"), (".shared::cta", "%r1"), ("", "%rd2"))
_ORDERS = ("", ".release.cta", ".release.cluster")


@dataclass
class Script:
    """Operations on one barrier by one thread; after each it asks whether phases are over."""

    rng: random.Random
    model: Model
    lines: list[str] = field(default_factory=list)
    want: list[int] = field(default_factory=list)
    state_phase: int | None = None

    def run(self, steps: int) -> None:
        """Add random operations that the manual allows."""
        for _ in range(steps):
            operations = [self.arrive, self.arrive, self.drop, self.expect, self.complete]
            # If all have arrived, only bytes are missing.
            (self.rng.choice(operations) if self.model.pending else self.complete)()
            self.ask()

    def _at(self) -> tuple[str, str]:
        place, address = self.rng.choice(_PLACES)
        return place, address

    def arrive(self) -> None:
        """One or more arrivals, that may also expect bytes."""
        model, (place, address) = self.model, self._at()
        order = self.rng.choice(_ORDERS) if place != ".shared" else ""
        phase, count = model.phase, self.rng.randint(1, model.pending)
        target = self.rng.choice(["%rd10", "%rd10", "_"])
        if self.rng.random() < 0.3:
            amount = self.rng.randint(0, 500)
            self.lines.append(f"mbarrier.arrive.expect_tx{order}{place}.b64 {target}, [{address}], {amount};")
            model.bytes += amount
            model.arrive(1)
        elif count < model.pending and self.rng.random() < 0.5:
            target = "%rd10"
            self.lines.append(f"mbarrier.arrive.noComplete{place}.b64 {target}, [{address}], {count};")
            model.arrive(count)
        elif count == 1:
            self.lines.append(f"mbarrier.arrive{order}{place}.b64 {target}, [{address}];")
            model.arrive(1)
        else:
            self.lines.append(f"mbarrier.arrive{order}{place}.b64 {target}, [{address}], {count};")
            model.arrive(count)
        if target != "_":
            self.state_phase = phase

    def drop(self) -> None:
        """Arrivals of threads that leave the barrier, if some stay."""
        model, (place, address) = self.model, self._at()
        most = min(model.pending, model.expected - 1)
        if most < 1:
            return
        phase, count = model.phase, self.rng.randint(1, most)
        kind = self.rng.choice(["plain", "expect_tx", "noComplete"])
        if kind == "expect_tx":
            self.lines.append(f"mbarrier.arrive_drop.expect_tx{place}.b64 %rd10, [{address}], 16;")
            model.bytes += 16
            model.arrive(1, dropped=True)
        elif kind == "noComplete" and count < model.pending:
            self.lines.append(f"mbarrier.arrive_drop.noComplete{place}.b64 %rd10, [{address}], {count};")
            model.arrive(count, dropped=True)
        else:
            self.lines.append(f"mbarrier.arrive_drop{place}.b64 %rd10, [{address}], {count};")
            model.arrive(count, dropped=True)
        self.state_phase = phase

    def expect(self) -> None:
        """More bytes are to come."""
        amount = self.rng.randint(0, 3000)
        order = self.rng.choice(("", ".relaxed.cta", ".relaxed.cluster"))
        self.lines.append(f"mbarrier.expect_tx{order}.shared::cta.b64 [%r1], {amount};")
        self.model.bytes += amount

    def complete(self) -> None:
        """Bytes come, often all that are missing."""
        amount = self.rng.choice([self.model.bytes, self.rng.randint(0, self.model.bytes)])
        order = self.rng.choice(("", ".relaxed.cta", ".relaxed.cluster"))
        self.lines.append(f"mbarrier.complete_tx{order}.shared::cta.b64 [%r1], {amount};")
        self.model.bytes -= amount
        self.model.settle()

    def ask(self) -> None:
        """Whether the phases of either parity, and that of the latest state, are over."""
        place, address = self._at()
        order = self.rng.choice(("", ".acquire.cta", ".acquire.cluster")) if place != ".shared" else ""
        asked = [(f".parity{order}{place}.b64", str(parity)) for parity in (0, 1)]
        answers = [self.model.phase % 2 != parity for parity in (0, 1)]
        if self.state_phase is not None and self.model.phase - self.state_phase <= 1:
            asked.append((f"{order}{place}.b64", "%rd10"))
            answers.append(self.model.phase != self.state_phase)
        for (form, operand), answer in zip(asked, answers, strict=True):
            # Where it would wait, the answer may come late on hardware but is the same.
            word = self.rng.choice(["test_wait", "try_wait"]) if answer else "test_wait"
            hint = ", 100" if word == "try_wait" and self.rng.random() < 0.5 else ""
            self.lines.append(f"mbarrier.{word}{form} %p1, [{address}], {operand}{hint};")
            self.lines.append(f"selp.u32 %r2, 1, 0, %p1; st.global.u32 [%rd1+{4 * len(self.want)}], %r2;")
            self.want.append(int(answer))


_START = (
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, barrier; cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd2, %rd2;"
    "mov.u64 %rd10, 0;"
)
_ROOM = ".align 8 .b64 barrier[4]"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(8))
def test_random_scripts(seed: int, engine: str) -> None:
    rng = random.Random(seed)
    count = rng.choice([1, 2, 5, 100, (1 << 20) - 1])
    script = Script(rng, Model(count))
    script.run(40)
    place, address = rng.choice(_PLACES)
    body = [
        _START,
        f"mbarrier.init{place}.b64 [{address}], {count};",
        *script.lines,
        f"mbarrier.inval{place}.b64 [{address}]; ret;",
    ]
    out = np.zeros(len(script.want), np.uint32)
    run_ptx(kernel("\n".join(body), "u64 out", shared=_ROOM), 1, 1, [out], engine=engine)
    for k, (have, want) in enumerate(zip(out.tolist(), script.want, strict=True)):
        assert have == want, "\n".join([*script.lines[:12], f"... answer {k}: {have}, should be {want}"])


@pytest.mark.parametrize("engine", ENGINES)
def test_pending_count_of_a_state(engine: str) -> None:
    body = [
        _START,
        "mbarrier.init.shared.b64 [%r1], 10;",
        "mbarrier.arrive.noComplete.shared.b64 %rd10, [%r1], 3; mbarrier.pending_count.b64 %r2, %rd10;",
        "mbarrier.arrive_drop.noComplete.shared.b64 %rd10, [%r1], 5; mbarrier.pending_count.b64 %r3, %rd10;",
        "st.global.v2.u32 [%rd1], {%r2, %r3}; ret;",
    ]
    out = np.zeros(2, np.uint32)
    run_ptx(kernel("\n".join(body), "u64 out", shared=_ROOM), 1, 1, [out], engine=engine)
    assert out.tolist() == [10, 7]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("noinc", "count"), [(".noinc", 65), ("", 1)])
def test_arrival_after_copies(noinc: str, count: int, engine: str) -> None:
    """With .noinc each of 64 threads' arrivals counts; without, the barrier waits for them on its own."""
    body = [
        _START,
        "mov.u32 %r3, %tid.x; setp.eq.u32 %p2, %r3, 0; mov.u32 %r4, room;",
        "mad.lo.u32 %r4, %r3, 4, %r4; ld.param.u64 %rd3, [x]; mad.wide.u32 %rd4, %r3, 4, %rd3;",
        f"@%p2 mbarrier.init.shared.b64 [%r1], {count}; bar.sync 0;",
        f"cp.async.ca.shared.global [%r4], [%rd4], 4; cp.async.mbarrier.arrive{noinc}.shared.b64 [%r1];",
        "bar.sync 0; @%p2 mbarrier.arrive.shared.b64 %rd10, [%r1];",
        "wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra wait;",
        "xor.b32 %r5, %r3, 33; mov.u32 %r6, room; mad.lo.u32 %r6, %r5, 4, %r6; ld.shared.u32 %r7, [%r6];",
        "mad.wide.u32 %rd4, %r3, 4, %rd1; st.global.u32 [%rd4], %r7; ret;",
    ]
    x, out = np.arange(100, 164, dtype=np.uint32), np.zeros(64, np.uint32)
    text = kernel("\n".join(body), "u64 out, u64 x", shared=f"{_ROOM}, .align 4 .b8 room[256]")
    run_ptx(text, 1, 64, [out, x], engine=engine)
    assert out.tolist() == [int(x[k ^ 33]) for k in range(64)]


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mbarrier.arrive.shared.b64 %rd10, [%r1+32];", "shared memory"),
        ("mbarrier.init.shared.b64 [%r1+4], 1;", "no multiple of 8"),
        ("mbarrier.test_wait.shared.b64 %p1, [%r1+100], %rd10;", "shared memory"),
        ("mbarrier.complete_tx.shared::cta.b64 [%r1+7], 1;", "no multiple of 8"),
        ("cp.async.mbarrier.arrive.b64 [%rd2+40];", "8-byte write"),
    ],
)
def test_faults(line: str, message: str, engine: str) -> None:
    text = kernel(f"{_START} {line} ret;", "u64 out", shared=_ROOM)
    with pytest.raises(KernelFault, match=message):
        run_ptx(text, 1, 1, [np.zeros(1)], engine=engine)


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_phase_that_nobody_ends_is_a_timeout(engine: str) -> None:
    body = (
        "mbarrier.init.shared.b64 [%r1], 2;"
        "wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra wait; ret;"
    )
    with pytest.raises(KernelTimeout):
        run_ptx(
            kernel(_START + body, "u64 out", shared=_ROOM), 1, 64, [np.zeros(1)], engine=engine, timeout=1
        )


# ---------------------------------------------------------------------------------------- CUDA C++
SOURCE = r"""
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

// Each phase reads what other warps wrote in the one before.
extern "C" __global__ void phases(int *out, int n) {
    __shared__ barrier b;
    __shared__ int s[2][256];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    s[0][threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        s[(k + 1) & 1][threadIdx.x] = s[k & 1][(threadIdx.x + 37) % blockDim.x] + 1;
        auto token = b.arrive();
        b.wait(cuda::std::move(token));
    }
    out[threadIdx.x] = s[n & 1][threadIdx.x];
}
// Warp 0 fills two buffers in turn, all others use them.
extern "C" __global__ void producer_consumer(const int *x, int *out, int n) {
    __shared__ barrier full[2], empty[2];
    __shared__ int s[2][32];
    if (threadIdx.x < 2) { init(&full[threadIdx.x], blockDim.x); init(&empty[threadIdx.x], blockDim.x); }
    __syncthreads();
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (warp == 0) {
        for (int k = 0; k < n; k++) {
            empty[k & 1].arrive_and_wait();
            s[k & 1][lane] = x[k * 32 + lane];
            (void)full[k & 1].arrive();
        }
    } else {
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        int sum = 0;
        for (int k = 0; k < n; k++) {
            full[k & 1].arrive_and_wait();
            sum = 3 * sum + s[k & 1][(lane + warp) % 32];
            (void)empty[k & 1].arrive();
        }
        out[threadIdx.x - 32] = sum;
    }
}
// Warps leave one after another; those that stay wait for each other only.
extern "C" __global__ void dropping(int *out) {
    __shared__ barrier b;
    __shared__ int left;
    if (threadIdx.x == 0) { init(&b, blockDim.x); left = blockDim.x / 32; }
    __syncthreads();
    int warp = threadIdx.x / 32;
    for (int k = 0; k < blockDim.x / 32; k++) {
        if (k == warp) { if (threadIdx.x % 32 == 0) left -= 1; b.arrive_and_drop(); break; }
        b.arrive_and_wait();
        if (threadIdx.x % 32 == 0) out[warp] = 100 * k + left;
        b.arrive_and_wait();
    }
}
extern "C" __global__ void block_pipeline(const int *x, int *out, int n) {
    __shared__ int s[2][256];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    auto fetch = [&](int k) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, s[k & 1], x + k * 256, cuda::aligned_size_t<16>(1024), pipe);
        pipe.producer_commit();
    };
    fetch(0);
    int sum = 0;
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) fetch(k + 1);
        pipe.consumer_wait();
        sum = 3 * sum + s[k & 1][255 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
// The first 32 threads copy, the others compute.
extern "C" __global__ void split_pipeline(const int *x, int *out, int n) {
    __shared__ int s[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    bool copies = threadIdx.x < 32;
    auto role = copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (copies) {
        for (int k = 0; k < n; k++) {
            pipe.producer_acquire();
            for (int i = threadIdx.x; i < 64; i += 32)
                cuda::memcpy_async(&s[k & 1][i], x + k * 64 + i, 4, pipe);
            pipe.producer_commit();
        }
    } else {
        int sum = 0;
        for (int k = 0; k < n; k++) {
            pipe.consumer_wait();
            sum = 3 * sum + s[k & 1][95 - threadIdx.x];
            pipe.consumer_release();
        }
        out[threadIdx.x - 32] = sum;
    }
}
// A copy that a barrier waits for.
extern "C" __global__ void copy_with_barrier(const int4 *x, int4 *out) {
    __shared__ barrier b;
    __shared__ int4 s[64];
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&b, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, s, x, sizeof(s), b);
    b.arrive_and_wait();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def _chained(rows: np.ndarray) -> np.ndarray:
    """3 * (3 * (...) + row) + row, as the kernels sum."""
    total = np.zeros(rows.shape[1], np.int32)
    for row in rows:
        total = 3 * total + row
    return total


@pytest.mark.parametrize("threads", [32, 96, 256])
def test_phases_of_a_barrier(threads: int, device: str) -> None:  # noqa: F811
    out = np.zeros(threads, np.int32)
    lab.run(lab.compile(SOURCE, "phases"), 1, threads, (out, 9), device=device, timeout=30)
    assert out.tolist() == [(t + 9 * 37) % threads + 9 for t in range(threads)]


@pytest.mark.parametrize("warps", [2, 5])
def test_producer_and_consumers(warps: int, device: str) -> None:  # noqa: F811
    x = np.random.default_rng(warps).integers(0, 99, (7, 32)).astype(np.int32)
    out = np.zeros((warps - 1, 32), np.int32)
    lab.run(lab.compile(SOURCE, "producer_consumer"), 1, 32 * warps, (x, out, 7), device=device, timeout=30)
    want = _chained(x)
    for warp in range(1, warps):
        assert (out[warp - 1] == np.roll(want, -warp)).all()


@pytest.mark.sampled(quick=6, ci=5)
@pytest.mark.parametrize("name", ["block_pipeline", "split_pipeline"])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_two_stage_pipelines(name: str, n: int, device: str) -> None:  # noqa: F811
    width, threads = (256, 256) if name == "block_pipeline" else (64, 96)
    x = np.random.default_rng(n).integers(0, 99, (n, width)).astype(np.int32)
    out = np.zeros(width, np.int32)
    lab.run(lab.compile(SOURCE, name), 1, threads, (x, out, n), device=device, timeout=30)
    assert (out == _chained(x)[::-1]).all()


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])  # the later one copies in bulk
def test_a_copy_that_a_barrier_waits_for(target: str, device: str) -> None:  # noqa: F811
    x = np.arange(256, dtype=np.int32).reshape(64, 4)
    out = np.zeros_like(x)
    copying = lab.compile(SOURCE, "copy_with_barrier", target=target)
    lab.run(copying, 1, 64, (x, out), device=device, timeout=30)
    assert (out == x[::-1]).all()


def test_warps_that_drop_out(device: str) -> None:  # noqa: F811
    out = np.full(4, -1, np.int32)
    lab.run(lab.compile(SOURCE, "dropping"), 1, 128, (out,), device=device, timeout=30)
    assert out.tolist() == [-1, 3, 102, 201]
