"""A launch takes memory for its workers, not for its grid, and none for its arrays: they are never copied."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg

resource = pytest.importorskip("resource")  # Windows has none
STATUS = Path("/proc/self/status")
pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="memory in use is read from /proc")

SOURCE = """
extern "C" __global__ void grid_stride(unsigned long long *sum, const float *x, long long n) {
  unsigned long long own = 0;
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    own += x[i] != 0;
  atomicAdd(sum, own);
}

extern "C" __global__ void own_memory(int *out, int n) {
  __shared__ int part[64];
  int own[32];
  for (int k = 0; k < 32; k++) own[(k * n) % 32] = k + threadIdx.x;
  part[threadIdx.x] = own[n % 32];
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1) out[threadIdx.x] = part[63 - threadIdx.x];
}
"""


@contextmanager
def little_more_memory() -> Iterator[None]:
    """Let this process have 24 MiB more of its own, mapped files aside, than it has."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmData"))
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, ((int(line.split()[1]) << 10) + (24 << 20), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def test_the_limit_holds():
    with pytest.raises(MemoryError), little_more_memory():
        np.ones(1 << 25, np.float32)


@pytest.mark.turns(3)
def test_a_mapped_file_larger_than_the_limit_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WARPGLASS_MEMORY", "16M")
    path, n = tmp_path / "x.npy", 1 << 25
    made = np.lib.format.open_memmap(path, "w+", np.float32, (n,))  # 128 MiB, nearly all of them a hole
    made[[0, n // 2, n - 1]] = 1
    made.flush()
    del made
    kernel, total = wg.compile(SOURCE, "grid_stride"), np.zeros(1, np.uint64)
    wg.run(kernel, 8, 256, (total, np.zeros(8, np.float32), 8), device="cpu")  # compiles
    with little_more_memory():
        wg.run(kernel, 8, 256, (total, np.load(path, mmap_mode="r"), n), device="cpu")
    assert total[0] == 3


def test_memory_does_not_grow_with_the_grid():
    kernel, out = wg.compile(SOURCE, "own_memory"), np.zeros(64, np.int32)
    wg.run(kernel, 8, 64, (out, 5), device="cpu")
    expected = out.copy()
    with little_more_memory():
        wg.run(kernel, 100_000, 64, (out, 5), device="cpu")  # local memory of all blocks would be 800 MiB
    assert np.array_equal(out, expected)
