"""One pixel a thread, in blocks of 16 x 16 that cover the picture.

Columns go with x, rows with y, and a guard idles the threads beyond the edges: 76 x 62 pixels take 5 x 4
blocks, 5120 threads for 4712 pixels. In memory the picture is one row after the other, row * width + column,
and in the colour picture each of these is three bytes. The weights are the notes'; they add up to 0.99, so
white becomes 252.

Look at the loads: a thread's three bytes come by three instructions, and lanes are three bytes apart in each.
So a warp touches the same 96 bytes three times, and uses a third of what each load brings.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpglass.ladders.image.problem import one_thread_each
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def grey(out: Any, rgb: Any, width: Any, height: Any) -> None:
    """Make one pixel grey."""
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if column < width and row < height:
        red = np.float32(0.21) * np.float32(rgb[row, column, 0])
        green = np.float32(0.71) * np.float32(rgb[row, column, 1])
        blue = np.float32(0.07) * np.float32(rgb[row, column, 2])
        out[row, column] = np.uint8(red + green + blue)


def program(run: Run) -> None:
    """Launch a thread for every pixel."""
    run.launch("grey", one_thread_each(run.case, run.block), "out", "rgb", "width", "height")


RUNG = Rung(
    name="grey",
    table="grey",
    explanation=__doc__ or "",
    follows=None,
    kernels=(Kernel(name="grey", file=Path(__file__).with_suffix(".cu"), cuda="grey", python=grey),),
    program=program,
    shape=one_thread_each,
    claims=(Claim("gld_efficiency", "<", 40.0),),
)
