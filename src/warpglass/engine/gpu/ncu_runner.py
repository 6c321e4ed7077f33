"""What runs under Nsight Compute: one launch, read from a file, made once on a GPU.

`python -m warpglass.engine.gpu.ncu_runner LAUNCH DEVICE`; ncu.py writes the file and starts this under ncu.
DEVICE is "gpu" or "gpu:1". Nothing else may launch a kernel here: ncu measures the first one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from .backend import GpuBackend
from .ncu import load_launch


def main(path: str, device: str) -> None:
    """Make the launch of a file."""
    ordinal = device.partition(":")[2]
    GpuBackend(int(ordinal) if ordinal else None).run(load_launch(Path(path)))


if __name__ == "__main__":
    main(*sys.argv[1:])
