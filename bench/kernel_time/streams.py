"""Model streams of few warps, beside what others have measured on five GPUs.

    python bench/kernel_time/streams.py GPU_BENCHES

GPU_BENCHES is a checkout of github.com/te42kyfo/gpu-benches, whose gpu-stream/*.txt have the bandwidths: two
blocks of each size on a multiprocessor, 2^27 doubles. Streams are counted for fewer elements, and what they
ask of a GPU is multiplied.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.kernel_time import figures
from bench.kernel_time.page import load_of
from bench.kernel_time.validate import predicted
from warpglass import devices, lab
from warpglass.models.kernel_time import Load, predict

_FILES = {"v100": "v100", "a100": "a100_40", "a100-80gb": "a100_80", "h100-pcie": "h100_pcie", "h200": "h200"}
_KERNELS = {"init": 1, "read": 1, "scale": 2, "triad": 3}  # arrays that each moves, in the files' order
_THREADS = (32, 64, 128, 256, 512, 1024)
_ROW = re.compile(r"\s*(\d+)\s+\d+\s+[\d.]+ %\s+\|\s+GB/s:((?:\s+\d+)+)")
_COUNTED, _ELEMENTS = 1 << 20, 1 << 27
_SCALED = (
    *("instructions", "shared_passes", "requests", "lines", "bytes", "l2_reads", "l2_writes"),
    *("l2_read_lines", "l2_write_lines", "l2_stored", "l2_met", "barriers"),
)


def pairs(folder: Path, gpu: str) -> Iterator[tuple[str, int, figures.Pair]]:
    """Kernel, threads of a block, and its measured and modelled seconds."""
    for line in (folder / "gpu-stream" / f"{_FILES[gpu]}.txt").read_text("utf-8").splitlines():
        row = _ROW.match(line)
        if row is None or int(row[1]) not in _THREADS:
            continue
        for (kernel, arrays), speed in zip(_KERNELS.items(), map(float, row[2].split()), strict=False):
            found = predict(_whole(kernel, int(row[1]), gpu), devices.get(gpu)).seconds
            yield kernel, int(row[1]), (8e-9 * arrays * _ELEMENTS / speed, found)


def _whole(kernel: str, threads: int, gpu: str) -> Load:
    """What the launch of all elements asks for, two blocks of it at a time; no cache keeps any of it."""
    times, arrays = _ELEMENTS / _COUNTED, [np.zeros(_COUNTED) for _ in range(3)]
    one = lab.load(Path(__file__).with_suffix(".cu"), kernel)
    args = (*arrays, np.uint64(_COUNTED))
    launch = lab.make_launch(one, _COUNTED // threads, threads, args, 0, 60, lab.backend("cpu", gpu))
    counted = load_of(predicted(launch, gpu)["load"])
    more = {name: times * getattr(counted, name) for name in _SCALED}
    return replace(
        counted,
        blocks=_ELEMENTS // threads,
        resident=2,
        pipes={name: times * number for name, number in counted.pipes.items()},
        dram_reads=more["l2_reads"],
        dram_writes=more["l2_writes"],
        **more,
    )


def main() -> None:
    """Print every stream, and the mean errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    every: list[figures.Pair] = []
    for gpu in _FILES:
        found = list(pairs(given.folder, gpu))
        for kernel, threads, (right, here) in found:
            times = f"{1e3 * right:8.3f} ms {1e3 * here:8.3f} ms {here / right:.2f}"
            print(f"{gpu:10} {kernel:6} {threads:5} {times}")
        every += [pair for _, _, pair in found]
        print(figures.sentence(gpu, [pair for _, _, pair in found]), flush=True)
    print(figures.sentence("All", every))


if __name__ == "__main__":
    main()
