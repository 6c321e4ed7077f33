"""One pixel a thread, in blocks of 16 x 16 that cover the picture.

Columns go with x, rows with y, and a guard idles the threads beyond the edges: 76 x 62 pixels take 5 x 4
blocks, 5120 threads for 4712 pixels. In memory the picture is one row after the other, row * width + column,
and in the colour picture each of these is three bytes. The weights are the notes'; they add up to 0.99, so
white becomes 252.

Look at the loads: a thread's three bytes come by three instructions, and lanes are three bytes apart in each.
So a warp touches the same 96 bytes three times, and uses a third of what each load brings.
"""

from typing import Any

import numpy as np

from warpglass.ladders.rung import Claim, Rung, RungKernel, cuda


def grey(out: Any, rgb: Any, width: Any, height: Any) -> None:
    """Make one pixel grey."""
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if column < width and row < height:
        red = np.float32(0.21) * np.float32(rgb[row, column, 0])
        green = np.float32(0.71) * np.float32(rgb[row, column, 1])
        blue = np.float32(0.07) * np.float32(rgb[row, column, 2])
        out[row, column] = np.uint8(red + green + blue)


RUNG = Rung(table="grey", kernels=(RungKernel(cuda="grey"),), claims=(Claim("gld_efficiency", "<", 40.0),))
