"""The interleaved reduction on the engine and on PoCL, alternating in one run.

Needs an OpenCL CPU driver and pyopencl: `apt-get install pocl-opencl-icd` and `pip install pyopencl`. Both
run the same algorithm on 2^24 doubles in blocks of 512, results checked against NumPy; the restoring of the
input between launches is not timed. Prints medians and their ratio.

    python bench/pocl.py [--log2-size 24] [--repeat 9] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

import warpglass as wg

BLOCK = 512

CUDA = """
extern "C" __global__ void interleaved(double *x, double *out, unsigned n) {
  unsigned t = threadIdx.x;
  double *part = x + blockIdx.x * blockDim.x;
  if (blockIdx.x * blockDim.x + t >= n) return;
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}
"""

OPENCL = """
__kernel void interleaved(__global double *x, __global double *out, unsigned n) {
  unsigned t = get_local_id(0);
  __global double *part = x + get_group_id(0) * get_local_size(0);
  if (get_global_id(0) >= n) return;
  for (unsigned s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = part[0];
}
"""


class Engine:
    """The kernel on warpglass's engine."""

    def __init__(self, source: np.ndarray[Any, Any]):
        self.kernel = wg.compile(CUDA, "interleaved")
        self.x, self.out = source.copy(), np.zeros(source.size // BLOCK)

    def launch(self, source: np.ndarray[Any, Any]) -> float:
        """Seconds of one launch on a fresh copy of the input."""
        self.x[:] = source
        args = (self.x, self.out, np.uint32(source.size))
        started = time.perf_counter()
        wg.run(self.kernel, self.out.size, BLOCK, args, device="cpu")
        return time.perf_counter() - started


class Pocl:
    """The kernel on PoCL, on host memory."""

    def __init__(self, source: np.ndarray[Any, Any]):
        import pyopencl as cl  # pyright: ignore[reportMissingImports]  # optional, see above

        self.cl = cl
        self.context = cl.create_some_context(interactive=False)
        self.queue = cl.CommandQueue(self.context)
        self.kernel = cl.Kernel(cl.Program(self.context, OPENCL).build(), "interleaved")
        self.out = np.zeros(source.size // BLOCK)
        flags = cl.mem_flags.READ_WRITE
        self.x_buffer = cl.Buffer(self.context, flags, source.nbytes)
        self.out_buffer = cl.Buffer(self.context, flags, self.out.nbytes)

    def launch(self, source: np.ndarray[Any, Any]) -> float:
        """Seconds of one launch on a fresh copy of the input."""
        self.cl.enqueue_copy(self.queue, self.x_buffer, source)
        self.queue.finish()
        self.kernel.set_args(self.x_buffer, self.out_buffer, np.uint32(source.size))
        started = time.perf_counter()
        self.cl.enqueue_nd_range_kernel(self.queue, self.kernel, (source.size,), (BLOCK,))
        self.queue.finish()
        seconds = time.perf_counter() - started
        self.cl.enqueue_copy(self.queue, self.out, self.out_buffer)
        return seconds


def main() -> None:
    """Run both, alternating, and print the medians."""
    os.environ["WARPGLASS_TIER"] = "optimised"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--log2-size", type=int, default=24)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    source = np.random.default_rng(0).random(1 << options.log2_size)
    expected = source.reshape(-1, BLOCK).sum(1)
    contestants: dict[str, Any] = {"warpglass": Engine(source), "PoCL": Pocl(source)}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for repeat in range(options.repeat + 1):
        for name, one in contestants.items():
            seconds = one.launch(source)
            np.testing.assert_allclose(one.out, expected, rtol=1e-12, err_msg=name)
            if repeat:  # the first launch compiles
                times[name].append(seconds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        print(f"{name:10} median {median * 1e3:8.2f} ms  best {min(times[name]) * 1e3:8.2f} ms")
    print(f"PoCL / warpglass: {medians['PoCL'] / medians['warpglass']:.1f}")
    if options.json:
        options.json.write_text(json.dumps({"seconds": times, "medians": medians}, indent=1))


if __name__ == "__main__":
    main()
