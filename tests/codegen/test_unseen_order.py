"""Kernels whose warps run together though they have atomic operations: where nobody sees in which order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from warpglass.codegen import BlockShape, Promises, generate, grid_class, warp_fusion
from warpglass.codegen.unseen_order import is_unseen, reads_early
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault
from warpglass.program import Program

HEAD = """
extern "C" __global__ void k(const int* x, unsigned* y, unsigned* z, unsigned long long* w, float* f) {
  __shared__ unsigned part[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
"""


def _program(body: str) -> Program:
    return prepare(wg.compile(f"{HEAD}{body} }}", "k").compile()).program


@pytest.mark.parametrize(
    ("body", "unseen"),
    [
        ("atomicAdd(&y[x[i]], 1u);", True),
        ("atomicMin(&y[x[i]], (unsigned)i); atomicMax(&z[x[i]], (unsigned)i);", True),
        ("atomicXor(&w[x[i]], (unsigned long long)i);", True),
        ("z[i] = atomicAdd(&y[x[i]], 1u);", False),
        ("atomicExch(&y[x[i]], 1u);", False),
        ("atomicAdd(&f[x[i]], 1.5f);", False),
        ("atomicAdd(&y[x[i]], 1u); atomicMax(&y[x[i + 1]], 5u);", False),
        ("atomicAdd(&y[x[i]], 1u); z[i] = y[i];", False),
        ("y[i] = 3; atomicAdd(&y[x[i]], 1u);", False),
        ("if (y[x[i]] > i) atomicMin(&y[x[i]], (unsigned)i);", False),
        ("atomicAdd((unsigned*)w[i], 1u);", False),
    ],
)
def test_changes_are_unseen(body: str, unseen: bool):
    assert is_unseen(_program(body)) == unseen


@pytest.mark.parametrize(
    ("body", "early"),
    [
        ("part[t & 63] = 0; BARRIER atomicAdd(&part[x[i]], 1u); BARRIER z[i] = part[t & 63];", False),
        ("part[t & 63] = 0; atomicAdd(&part[x[i]], 1u); BARRIER z[i] = part[t & 63];", True),
        ("part[t & 63] = 0; BARRIER atomicAdd(&part[x[i]], 1u); z[i] = part[t & 63];", True),
        ("atomicAdd(&part[x[i]], 1u); part[t & 63] = 0; BARRIER z[i] = part[t & 63];", True),
        ("atomicAdd(&part[x[i]], 1u); atomicOr(&part[x[i]], 4u); BARRIER z[i] = part[t & 63];", True),
        ("atomicAdd(&part[x[i]], 1u); atomicAdd(&part[t & 63], 4u); BARRIER z[i] = part[t & 63];", False),
    ],
)
def test_shared_memory_that_is_changed_is_read_early(body: str, early: bool):
    program = _program(body.replace("BARRIER", "__syncthreads();"))
    assert is_unseen(program)
    assert reads_early(program) == early


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run as many lanes together as may be, with nothing from the disk."""
    monkeypatch.setattr(warp_fusion, "pays", lambda *_: True)
    monkeypatch.setattr(warp_fusion, "vector_bytes", lambda: 64)
    monkeypatch.setenv("WARPGLASS_CACHE", str(tmp_path))
    prepare.cache_clear()
    yield
    prepare.cache_clear()


# One address, addresses in an array, elements of 64 bits, and addresses in two arrays, which a helper serves.
SUMS = """
  atomicAdd(&y[0], (unsigned)t);
  atomicAdd(&y[8 + x[i]], (unsigned)i);
  atomicAdd(&w[x[i]], 1ull << x[i]);
  unsigned* to = x[i] & 1 ? z : y + 64;
  atomicAdd(to + x[i], (unsigned)i);
"""


@pytest.mark.usefixtures("together")
@pytest.mark.parametrize("threads", [8, 16, 64, 128])
def test_atomic_operations_of_any_number_of_lanes(threads: int):
    prepared = prepare(wg.compile(f"{HEAD}{SUMS} }}", "k").compile())
    shape, promises = (
        BlockShape((threads, 1, 1), prepared.program.shared.static),
        Promises(grid_class((3, 1, 1))),
    )
    assert generate(prepared.program, shape, prepared.symbols, (), promises).shape.width == threads
    want, found = (_sums(threads, engine) for engine in CPU_ENGINES)
    for one, other in zip(want, found, strict=True):
        np.testing.assert_array_equal(one, other)


def _sums(threads: int, engine: str) -> tuple[np.ndarray, ...]:
    """The arrays behind a launch of three blocks."""
    x = np.random.default_rng(7).integers(0, 40, 3 * threads).astype(np.int32)
    y, z, w, f = (
        np.zeros(128, np.uint32),
        np.zeros(64, np.uint32),
        np.zeros(40, np.uint64),
        np.zeros(1, np.float32),
    )
    with engine_mode(engine), worker_threads(1):
        wg.run(wg.compile(f"{HEAD}{SUMS} }}", "k"), 3, threads, (x, y, z, w, f), device="cpu")
    return y, z, w


@pytest.mark.usefixtures("together")
@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_a_second_look_at_a_fault_changes_nothing_twice(engine: str):
    """Both warps have counted before the second has come to its fault."""
    body = "atomicAdd(&y[t / 32], 1u); z[t / 32] = 1; if (t == 40) z[x[0]] = 1;"
    y, z = np.zeros(2, np.uint32), np.zeros(2, np.uint32)
    others = np.zeros(1, np.uint64), np.zeros(1, np.float32)
    kernel = wg.compile(f"{HEAD}{body} }}", "k")
    with engine_mode(engine), worker_threads(1), pytest.raises(KernelFault, match=r"thread \(40, 0, 0\)"):
        wg.run(kernel, 1, 64, (np.full(1, 1 << 20, np.int32), y, z, *others), device="cpu")
    wg.reset("cpu")
    assert (y.tolist(), z.tolist()) == ([32, 32], [1, 1])
