"""A grid-stride launch over an array that is larger than the memory: a file that NumPy maps.

    python bench/big_file.py [--gib 16] [--folder DIRECTORY]

The file is a hole but for a few elements, so the disk needs no room for it. Prints how long the launch takes
and what it needs beside the file's own pages, which the system takes back as it likes: the most memory of the
process' own (RssAnon) while it runs, less what there was before. Exits with 1 if the count is wrong or more
than a few MiB were needed. Linux only.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import warpglass as wg

SOURCE = """
extern "C" __global__ void grid_stride(unsigned long long *count, const float *x, long long n) {
  unsigned long long own = 0;
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    own += x[i] != 0;
  atomicAdd(count, own);
}
"""
_GRID, _BLOCK, _TIMEOUT = 64, 256, 600.0
_MOST = 8 << 20  # bytes of memory that a launch may need, whatever the array's size
_PAUSE = 1e-3  # seconds between two looks


def own_memory() -> int:
    """Bytes of memory that this process has to itself, pages of files aside."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None, "Linux 4.5 and later say so"
    return int(found[1]) << 10


class Peak:
    """The most memory that the process has while the block runs."""

    def __enter__(self) -> Peak:
        self.most = own_memory()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(_PAUSE):
            self.most = max(self.most, own_memory())


def count_nonzero(kernel: wg.Kernel, x: np.ndarray) -> tuple[int, float, int]:
    """What the kernel counts, the seconds of its launch and the bytes that it needed."""
    count = np.zeros(1, np.uint64)
    before = own_memory()
    with Peak() as peak:
        started = time.perf_counter()
        wg.run(kernel, _GRID, _BLOCK, (count, x, x.size), device="cpu", timeout=_TIMEOUT)
        seconds = time.perf_counter() - started
    return int(count[0]), seconds, peak.most - before


def main() -> None:
    """Make the file, launch, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gib", type=int, default=16)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    kernel = wg.compile(SOURCE, "grid_stride")
    count_nonzero(kernel, np.ones(1 << 20, np.float32))  # compiles
    needed: list[int] = []
    for gib in (1, options.gib):
        n = gib << 28
        marked = [0, n // 3, n // 2, n - 1]
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = Path(folder) / "x.npy"
            made = np.lib.format.open_memmap(path, "w+", np.float32, (n,))
            made[marked] = 1
            made.flush()
            del made
            found, seconds, more = count_nonzero(kernel, np.load(path, mmap_mode="r"))
        print(
            f"{gib:4} GiB: {seconds:7.2f} s, {gib / seconds:5.1f} GiB/s, {more / 2**20:6.2f} MiB more memory"
        )
        if found != len(marked):
            raise SystemExit(f"the kernel counted {found} elements, not {len(marked)}")
        needed.append(more)
    if max(needed) > _MOST:
        raise SystemExit(f"a launch needed more than {_MOST >> 20} MiB beside the file's pages")


if __name__ == "__main__":
    main()
