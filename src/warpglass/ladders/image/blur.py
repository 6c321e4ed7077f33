"""One pixel a thread: the mean of 11 x 11 pixels around it, as far as the picture goes.

Every thread goes over its neighbourhood, skips what lies beyond the borders, and counts what it adds, so that
a pixel in a corner is the mean of 36 pixels rather than a dark one. Sums are whole numbers, and so is the
quotient.

Look at the loads: 363 bytes for each pixel, three at a time, nearly all of which the neighbours read as well.
"""

from typing import Any

from warpglass.ladders.rung import Rung, RungKernel, cuda


def blur(out: Any, rgb: Any, width: Any, height: Any) -> None:
    """Blur one pixel."""
    column = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if column < width and row < height:
        red = 0
        green = 0
        blue = 0
        pixels = 0
        for i in range(row - 5, row + 6):
            for j in range(column - 5, column + 6):
                if i >= 0 and i < height and j >= 0 and j < width:
                    red += rgb[i, j, 0]
                    green += rgb[i, j, 1]
                    blue += rgb[i, j, 2]
                    pixels += 1
        out[row, column, 0] = red // pixels
        out[row, column, 1] = green // pixels
        out[row, column, 2] = blue // pixels


RUNG = Rung(table="blur", kernels=(RungKernel(cuda="blur"),))
