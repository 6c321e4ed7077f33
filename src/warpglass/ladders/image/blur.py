"""One pixel a thread: the mean of 11 x 11 pixels around it, as far as the picture goes.

Every thread goes over its neighbourhood, skips what lies beyond the borders, and counts what it adds, so that
a pixel in a corner is the mean of 36 pixels rather than a dark one. Sums are whole numbers, and so is the
quotient.

Look at the loads: 363 bytes for each pixel, three at a time, nearly all of which the neighbours read as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.image.problem import one_thread_each
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


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


def program(run: Run) -> None:
    """Launch a thread for every pixel."""
    run.launch("blur", one_thread_each(run.case, run.block), "out", "rgb", "width", "height")


RUNG = Rung(
    name="blur",
    table="blur",
    explanation=__doc__ or "",
    follows=None,
    kernels=(Kernel(name="blur", file=Path(__file__).with_suffix(".cu"), cuda="blur", python=blur),),
    program=program,
    shape=one_thread_each,
)
